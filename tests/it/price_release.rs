//! Tests the weekly price update without network: recorded vendors, the review table, the signed file, and its readers.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gpulint::refresh::PriceVendor;
use gpulint::source::Date;

use crate::action::sandbox::Sandbox;
use crate::forge::server::{Answer, Server};
use crate::refresh::{KNOWN, catalog_of, good, program, refreshed_over};
use crate::skipped::skip;

fn script(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging").join(name);
    let mut command = Command::new(if name.ends_with(".py") { "python3" } else { "bash" });
    command.arg(path).args(arguments).envs(environment.iter().copied()).output().unwrap()
}

fn done(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns whether the programs that the workflow needs are installed.
fn are_there(programs: &[&str]) -> bool {
    let there = programs.iter().all(|it| Command::new(it).arg("--help").output().is_ok());
    if !there {
        skip(&format!("not all of {programs:?} are installed"));
    }
    there
}

/// Creates the price tables before the update, with the prices of `KNOWN` for all vendors.
fn tables(sandbox: &Sandbox) -> PathBuf {
    let pricing = sandbox.path("pricing");
    fs::create_dir_all(&pricing).unwrap();
    let header = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing/lambda.csv")).unwrap();
    let header = header.lines().next().unwrap().to_owned();
    for vendor in PriceVendor::ALL {
        let mut text = header.clone() + "\n";
        let own = format!("{},", vendor.name());
        for line in KNOWN.lines().filter_map(|line| line.strip_prefix(&own)) {
            let cells: Vec<&str> = line.split(',').collect();
            let [machine, region, accelerator, count, cpus, memory, price, date, source, confidence] = cells[..] else {
                panic!("{line}");
            };
            text += &format!(
                "{machine},{region},{accelerator},{count},{cpus},{memory},{price},,,,{date},,,,,{source},{confidence},\n"
            );
        }
        fs::write(pricing.join(format!("{}.csv", vendor.name())), text).unwrap();
    }
    pricing
}

#[test]
fn what_the_vendors_say_becomes_rows_and_a_table_for_reviewers() {
    if !are_there(&["python3"]) {
        return;
    }
    let sandbox = Sandbox::new("prices");
    let (pricing, cache, table) = (tables(&sandbox), sandbox.path("cache"), sandbox.path("moved.md"));
    fs::create_dir_all(&cache).unwrap();
    let known = catalog_of(&KNOWN.replace(",4.29,", ",4.00,").replace(",3.99,", ",30.99,"));
    let server = Server::start(good);
    let mut said = String::from("error: gcp: the provider requires a key: set GCP_API_KEY\n");
    for vendor in PriceVendor::ALL {
        let update = refreshed_over(&known, vendor, "", &server, false).unwrap();
        fs::write(cache.join(format!("{}.csv", vendor.name())), update.text()).unwrap();
        said += &format!("{}: {} rows arrived, in a file\n", vendor.name(), update.arrived);
        for it in &update.rejected {
            said += &format!("  refused {} {}: {} `@everyone`\n", it.machine, it.region, it.why);
        }
    }
    // The content of the tables before.
    let lambda = pricing.join("lambda.csv");
    fs::write(&lambda, fs::read_to_string(&lambda).unwrap().replace(",4.29,", ",4,")).unwrap();
    fs::write(sandbox.path("said"), said).unwrap();
    let paths = [&cache, &pricing, &table, &sandbox.path("said")].map(|it| it.to_str().unwrap().to_owned());
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    done(&script("prices.py", &[&["merge"], &paths[..]].concat(), &[]));

    let moved = fs::read_to_string(&table).unwrap();
    let line = moved.lines().find(|line| line.contains("gpu\\_1x\\_h100\\_sxm5")).unwrap_or_else(|| panic!("{moved}"));
    assert_eq!(line, "| gpu\\_1x\\_h100\\_sxm5, \\* | on demand | $4.0000 | $4.2900 | +7.3% |");
    assert!(moved.contains("| p5.48xlarge, us-east-1 | one year |  | $34.6752 | new |"), "{moved}");
    assert!(moved.contains("Not believed, the earlier rows stay:") && moved.contains("- secure/H100-80GB"), "{moved}");
    assert!(moved.contains("\n- gcp: the provider requires a key") && !moved.contains(" @everyone"), "{moved}");
    // The written rows match the cache, and gpulint can read the table.
    let rows = fs::read_to_string(&lambda).unwrap();
    assert!(rows.contains("gpu_1x_h100_sxm5,*,H100-80GB,1,26,225,4.29,"), "{rows}");
    let refused = fs::read_to_string(pricing.join("runpod.csv")).unwrap();
    assert!(refused.contains("secure/H100-80GB,*,H100-80GB,1,20,125,3.99,,,,2026-01-01"), "{refused}");

    // A second update changes nothing.
    done(&script("prices.py", &[&["merge"], &paths[..]].concat(), &[]));
    assert!(fs::read_to_string(&table).unwrap().starts_with("0 prices moved, "));
}

#[test]
fn a_long_list_of_moves_is_read_in_a_minute() {
    if !are_there(&["python3"]) {
        return;
    }
    let sandbox = Sandbox::new("moves");
    let (pricing, cache) = (sandbox.path("pricing"), sandbox.path("cache"));
    let header = "machine,region,accelerator,on_demand_usd_per_hour,spot_usd_per_hour,reserved_1y_usd_per_hour,\
                  reserved_3y_usd_per_hour,reserved_basis,as_of\n";
    let table = |row: &dyn Fn(usize, usize) -> Option<String>| {
        let rows = (0..20).flat_map(|machine| (0..30).filter_map(move |region| row(machine, region)));
        rows.fold(header.to_owned(), |text, row| text + &row + "\n")
    };
    let price = |machine: usize| 10.0 + machine as f64;
    let before = table(&|machine, region| {
        Some(format!("m{machine:02},r{region:02},A{machine:02},{},,,,,2026-01-01", price(machine)))
    });
    // All prices of m00 halve, and each other price moves by a separate share. m19 is not listed any more, and r29 has
    // a new machine.
    let after = table(&|machine, region| match machine {
        0 => Some(format!("m00,r{region:02},A00,5,,,,,2026-02-01")),
        19 if region == 29 => Some("new,r29,A19,7,,,,,2026-02-01".to_owned()),
        19 => None,
        _ => Some(format!(
            "m{machine:02},r{region:02},A{machine:02},{},,,,,2026-02-01",
            price(machine) * (1.0 + machine as f64 / 100.0)
        )),
    });
    for (directory, text) in [(&pricing, &before), (&cache, &after)] {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join("aws.csv"), text).unwrap();
    }
    let refused =
        (0..40).map(|at| format!("  refused x{at} r01: spot costs ${at}.5000, more than $1.0000 on demand\n"));
    let said = "aws: 541 rows arrived, 541 in aws.csv\n".to_owned()
        + &refused.collect::<String>()
        + "  prices of savings plans are missing: gone\nerror: one provider was not refreshed\n";
    fs::write(sandbox.path("said"), said).unwrap();
    let paths =
        [&cache, &pricing, &sandbox.path("moved.md"), &sandbox.path("said")].map(|it| it.to_str().unwrap().to_owned());
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    done(&script("prices.py", &[&["merge"], &paths[..]].concat(), &[]));
    let expected = "\
570 prices moved, 1 row is new, 40 not believed; 0 rows say what they said.

| provider | moved | up | down | new or gone | most | rows new | not believed | not listed |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
| aws | 570 | 540 | 30 | 0 | -50.0% | 1 | 40 | 30 |

- aws: prices of savings plans are missing: gone

### aws

| machines | | before | now | moved |
|---|---|---:|---:|---:|
| m00, 30 regions | on demand | $10.0000 | $5.0000 | -50.0% |
| m18, 30 regions | on demand | $28.0000 | $33.0400 | +18.0% |
| m17, 30 regions | on demand | $27.0000 | $31.5900 | +17.0% |
| m16, 30 regions | on demand | $26.0000 | $30.1600 | +16.0% |
| m15, 30 regions | on demand | $25.0000 | $28.7500 | +15.0% |
| m14, 30 regions | on demand | $24.0000 | $27.3600 | +14.0% |

390 more prices, none by more than 13.0%.

New: new.

Not listed any more, and kept as it was: m19.

Not believed, the earlier rows stay:

- x0 r01: spot costs $0.5000, more than $1.0000 on demand
- x1 r01: spot costs $1.5000, more than $1.0000 on demand
- x2 r01: spot costs $2.5000, more than $1.0000 on demand
- x3 r01: spot costs $3.5000, more than $1.0000 on demand
- x4 r01: spot costs $4.5000, more than $1.0000 on demand
- 35 more: 35 × spot costs …, more than … on demand
";
    assert_eq!(fs::read_to_string(sandbox.path("moved.md")).unwrap(), expected);

    // What cannot be true of the tables afterwards stands before all that.
    fs::write(sandbox.path("doubts"), "aws m00 r00: costs `$5`\n1 prices checked, 1 cannot be correct\n").unwrap();
    done(&script("prices.py", &["doubt", paths[2], sandbox.path("doubts").to_str().unwrap()], &[]));
    let doubted = "### Doubted: not to be merged before this is explained\n\n- aws m00 r00: costs \\`$5\\`\n\
                   - 1 prices checked, 1 cannot be correct\n\n";
    assert_eq!(fs::read_to_string(sandbox.path("moved.md")).unwrap(), doubted.to_owned() + expected);
}

/// Creates a key pair as `sign.sh` describes it: the secret key as text, the public key as a file.
fn key(sandbox: &Sandbox, name: &str) -> (String, PathBuf) {
    let (secret, public) = (sandbox.path(&format!("{name}.pem")), sandbox.path(&format!("{name}.key")));
    let (secret_path, public_path) = (secret.display(), public.display());
    let make = format!(
        "set -e; openssl genpkey -algorithm ed25519 -out '{secret_path}'; openssl pkey -in '{secret_path}' -pubout \
         -outform DER | tail -c 32 | od -An -v -tx1 | tr -d ' \\n' >'{public_path}'"
    );
    done(&Command::new("bash").args(["-c", &make]).output().unwrap());
    (fs::read_to_string(secret).unwrap(), public)
}

/// Creates the project's tables as one signed file, with another price and date for H100 machines of Lambda.
fn release(sandbox: &Sandbox, secret: &str, price: &str, date: &str) -> PathBuf {
    let pricing = sandbox.path("newer");
    let _ = fs::remove_dir_all(&pricing);
    fs::create_dir_all(&pricing).unwrap();
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing/lambda.csv")).unwrap();
    let lines = text.lines().map(|line| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if cells[0] == "gpu_1x_h100_sxm5" {
            (cells[6], cells[10]) = (price, date);
        }
        cells.join(",") + "\n"
    });
    fs::write(pricing.join("lambda.csv"), lines.collect::<String>()).unwrap();
    let out = sandbox.path("prices.csv");
    done(&script("prices.py", &["release", pricing.to_str().unwrap(), date, out.to_str().unwrap()], &[]));
    done(&script("sign.sh", &[out.to_str().unwrap()], &[("PRICES_SIGNING_KEY", secret)]));
    out
}

/// Returns the date this many days before today.
fn day(before: i64) -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Date::from_unix_days(since.as_secs() as i64 / 86_400 - before).unwrap().to_string()
}

fn price(place: &Path) -> f64 {
    let (out, error, _) = program(place, &["price", "gpu_1x_h100_sxm5", "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out} {error}"));
    rows[0]["on_demand_usd_per_hour"].as_f64().unwrap()
}

#[test]
fn a_signed_file_of_prices_is_taken_in() {
    if !are_there(&["python3", "openssl"]) {
        return;
    }
    let sandbox = Sandbox::outside("signed");
    let place = sandbox.path(".");
    let (secret, public) = key(&sandbox, "ours");
    let before = price(&place);
    let newer = format!("{:.2}", before * 1.5);
    let file = release(&sandbox, &secret, &newer, &day(2));
    let take = |from: &str| program(&place, &["catalog", "update", "--from", from, "--key", public.to_str().unwrap()]);
    let (out, error, code) = take(file.to_str().unwrap());
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with(&format!("signed prices of {} (2 days old); newer rows: machines 1; ", day(2))), "{out}");
    assert_eq!(format!("{:.2}", price(&place)), newer);

    // The same from a server, with the signature at the same address. It is not new any more.
    let (bytes, signature) = (fs::read(&file).unwrap(), fs::read(sandbox.path("prices.csv.sig")).unwrap());
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/data/prices.csv" => Answer::new(200, bytes.clone()),
        "/data/prices.csv.sig" => Answer::new(200, signature.clone()),
        _ => Answer::new(404, ""),
    });
    let (out, error, code) = take(&format!("{}/data/prices.csv", server.url()));
    assert!(code == 0 && out.contains("newer rows: machines 0; "), "{out}{error}");

    // A large jump is refused, even if it is signed.
    release(&sandbox, &secret, "25", &day(1));
    let (out, _, code) = take(file.to_str().unwrap());
    assert!(code == 0 && out.contains("refused lambda gpu_1x_h100_sxm5 *: the on demand price changed from"), "{out}");
    assert_eq!(format!("{:.2}", price(&place)), newer);
}

#[test]
fn an_earlier_signed_file_brings_nothing_back() {
    if !are_there(&["python3", "openssl"]) {
        return;
    }
    let sandbox = Sandbox::outside("replayed");
    let place = sandbox.path(".");
    let ((secret, public), (other, other_public)) = (key(&sandbox, "ours"), key(&sandbox, "other"));
    let before = price(&place);
    let (first, second) = (format!("{:.2}", before * 1.5), format!("{:.2}", before * 1.2));
    let take = |public: &Path| {
        let from = sandbox.path("prices.csv");
        let arguments = ["catalog", "update", "--from", from.to_str().unwrap(), "--key", public.to_str().unwrap()];
        let (out, error, code) = program(&place, &arguments);
        (out + &error, code, format!("{:.2}", price(&place)))
    };
    release(&sandbox, &secret, &first, &day(3));
    assert_eq!(take(&public).1, 0);
    release(&sandbox, &secret, &second, &day(1));
    assert_eq!((take(&public).1, take(&public).2), (0, second.clone()));
    // The first file again, from an old copy.
    release(&sandbox, &secret, &first, &day(3));
    let older = format!(
        "error: the prices are of {}, and the cache already has prices of {}: nothing was updated\n",
        day(3),
        day(1)
    );
    assert_eq!(take(&public), (older, 2, second.clone()));
    // The date of another key's file does not count. The date of each row decides.
    release(&sandbox, &other, &first, &day(3));
    let (said, code, now) = take(&other_public);
    assert_eq!((code, now), (0, second.clone()), "{said}");

    // A file from the future, rows that are newer than their file, and a file without a date are refused.
    release(&sandbox, &secret, &first, "2099-01-01");
    let still = "error: the prices are of 2099-01-01, which is in the future: no prices were updated\n".to_owned();
    assert_eq!(take(&public), (still, 2, second.clone()));
    let file = release(&sandbox, &secret, &first, &day(1));
    let sign = |text: String| {
        fs::write(&file, text).unwrap();
        done(&script("sign.sh", &[file.to_str().unwrap()], &[("PRICES_SIGNING_KEY", &secret)]));
    };
    let text = fs::read_to_string(&file).unwrap();
    sign(text.replacen(&format!("{},,,", day(1)), &format!("{},,,", day(0)), 1));
    let (said, code, now) = take(&public);
    assert_eq!((code, now), (0, second.clone()), "{said}");
    let late = format!(
        "refused lambda gpu_1x_h100_sxm5 *: its date {} is invalid, or later than the date of the file",
        day(0)
    );
    assert!(said.contains(&late), "{said}");
    sign(text.lines().skip(1).map(|line| format!("{line}\n")).collect());
    let hidden = "error: the file has no date of its prices: no prices were updated\n".to_owned();
    assert_eq!(take(&public), (hidden, 2, second));
}

#[test]
fn prices_that_nobody_trusted_signed_are_not_taken_in() {
    if !are_there(&["python3", "openssl"]) {
        return;
    }
    let sandbox = Sandbox::outside("unsigned");
    let place = sandbox.path(".");
    let (secret, public) = key(&sandbox, "ours");
    let (strange, _) = key(&sandbox, "strange");
    let before = price(&place);
    let newer = format!("{:.2}", before * 1.5);
    let take = |file: &Path, more: &[&str]| {
        let (_, error, code) =
            program(&place, &[&["catalog", "update", "--from", file.to_str().unwrap()], more].concat());
        assert_eq!((code, price(&place)), (2, before), "{error}");
        error
    };
    let ours = ["--key", public.to_str().unwrap()];
    let file = release(&sandbox, &strange, &newer, &day(1));
    assert!(take(&file, &ours).contains("another key signed the prices"));
    let file = release(&sandbox, &secret, &newer, &day(1));
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(&newer, "1.23")).unwrap();
    assert!(take(&file, &ours).contains("another key signed the prices"));
    // Cut in the middle of a row, and after a whole one.
    for length in [text.len() / 2, text.trim_end().rfind('\n').unwrap() + 1] {
        fs::write(&file, &text[..length]).unwrap();
        assert!(take(&file, &ours).contains("or the file was changed; no prices were updated"));
    }
    fs::write(&file, &text).unwrap();
    // Without a key, only the key of the daily prices counts.
    assert!(take(&file, &[]).contains("another key signed the prices"));
    fs::write(sandbox.path("prices.csv.sig"), "00").unwrap();
    assert!(take(&file, &ours).contains("a signature must have 128 hexadecimal digits"));
    fs::remove_file(sandbox.path("prices.csv.sig")).unwrap();
    assert!(take(&file, &ours).contains("prices.csv.sig` cannot be read"));
}

#[test]
fn keys_can_change_without_a_gap() {
    if !are_there(&["python3", "openssl"]) {
        return;
    }
    let sandbox = Sandbox::outside("rotated");
    let place = sandbox.path(".");
    let ((old_secret, old), (new_secret, new)) = (key(&sandbox, "old"), key(&sandbox, "new"));
    let before = price(&place);
    let take = |keys: &str| {
        fs::write(sandbox.path("keys"), keys).unwrap();
        let (from, keys) = (sandbox.path("prices.csv"), sandbox.path("keys"));
        let arguments = ["--from", from.to_str().unwrap(), "--key", keys.to_str().unwrap()];
        let (out, error, code) = program(&place, &[&["catalog", "update"], &arguments[..]].concat());
        (code, out + &error)
    };
    let line = |path: &Path| fs::read_to_string(path).unwrap().trim().to_owned() + "\n";
    let (old, new) = (line(&old), line(&new));
    let both = format!("# two\n{old}{new}");
    // Signed with both keys: programs that know the old key, the new one or both accept the file.
    release(&sandbox, &format!("{old_secret}\n{new_secret}"), &format!("{:.2}", before * 1.2), &day(3));
    assert_eq!(fs::read_to_string(sandbox.path("prices.csv.sig")).unwrap().lines().count(), 2);
    for keys in [&old, &both, &new] {
        assert_eq!(take(keys).0, 0, "{keys}");
    }
    // Signed with the new key only.
    release(&sandbox, &new_secret, &format!("{:.2}", before * 1.3), &day(2));
    assert!(take(&old).1.contains("another key signed the prices"));
    assert_eq!(take(&both).0, 0);
    // An older file stays refused if one of its keys is no longer known.
    release(&sandbox, &format!("{old_secret}\n{new_secret}"), &format!("{:.2}", before * 1.2), &day(3));
    assert!(take(&new).1.contains("the cache already has prices of"), "{}", take(&new).1);
    assert!(take("").1.contains("a key must have 64 hexadecimal digits"));
}

/// Creates a signed file of tables in which these rows replace others, and returns its path.
fn published(sandbox: &Sandbox, secret: &str, date: &str, rows: &[(&str, &str)]) -> String {
    let pricing = sandbox.path("tables");
    let _ = fs::remove_dir_all(&pricing);
    fs::create_dir_all(&pricing).unwrap();
    for (table, rows) in rows {
        let text =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("pricing/{table}.csv"))).unwrap();
        let changed = |line: &&str| !rows.lines().any(|row| row.split(',').take(4).eq(line.split(',').take(4)));
        let kept: String = text.lines().filter(changed).map(|line| format!("{line}\n")).collect();
        fs::write(pricing.join(format!("{table}.csv")), format!("{kept}{rows}")).unwrap();
    }
    let out = sandbox.path("prices.csv");
    done(&script("prices.py", &["release", pricing.to_str().unwrap(), date, out.to_str().unwrap()], &[]));
    done(&script("sign.sh", &[out.to_str().unwrap()], &[("PRICES_SIGNING_KEY", secret)]));
    out.to_str().unwrap().to_owned()
}

#[test]
fn disks_commitments_and_models_come_with_the_prices() {
    if !are_there(&["python3", "openssl"]) {
        return;
    }
    let sandbox = Sandbox::outside("tables");
    let place = sandbox.path(".");
    let (secret, public) = key(&sandbox, "ours");
    let take = |date: &str, rows: &[(&str, &str)]| {
        let from = published(&sandbox, &secret, date, rows);
        let arguments = ["catalog", "update", "--from", &from, "--key", public.to_str().unwrap()];
        let (out, error, code) = program(&place, &arguments);
        assert_eq!(code, 0, "{out}{error}");
        out
    };
    let disk = |usd: &str, date: &str| format!("aws,gp3,us-east-1,,{usd},,{date},a test,high\n");
    let model = |id: &str, params: &str, date: &str| {
        format!("{id},,llm,{params},,36,4096,32,8,128,151936,bf16,17,131072,gqa,147456,,,,,{date},a test\n")
    };
    fs::write(
        sandbox.path("main.tf"),
        "provider \"aws\" {\n  region = \"us-east-1\"\n}\nresource \"aws_instance\" \"a\" {\n  instance_type = \"g5.xlarge\"\n  \
         root_block_device {\n    volume_type = \"gp3\"\n    volume_size = 1000\n  }\n}\n",
    )
    .unwrap();
    let cost = || program(&place, &["cost", "main.tf", "--format", "json"]).0;
    let fit = |model: &str| program(&place, &["fit", model]).0;
    let before = cost();
    assert!(fit("acme/Brand-New-9B").contains("does not list"));

    // A price that tripled, a model of another size, a row of tomorrow and an unknown table change nothing.
    let llama = model("meta-llama/Llama-3.1-8B", "80", &day(1));
    let strange = [("disks", disk("0.5", &day(1))), ("models", llama + &model("acme/Later-9B", "9", &day(-1)))];
    let strange: Vec<(&str, &str)> = strange.iter().map(|(table, rows)| (*table, rows.as_str())).collect();
    let out = take(&day(2), &strange);
    for why in ["disks aws gp3 us-east-1", "models meta-llama/Llama-3.1-8B", "models acme/Later-9B: its date"] {
        assert!(out.contains(&format!("refused {why}")), "{out}");
    }
    assert_eq!(cost(), before);

    let newer = [("disks", disk("0.1", &day(1))), ("models", model("acme/Brand-New-9B", "9", &day(1)))];
    let newer: Vec<(&str, &str)> = newer.iter().map(|(table, rows)| (*table, rows.as_str())).collect();
    for _twice in 0..2 {
        let out = take(&day(1), &newer);
        assert!(out.contains(", models 1;"), "{out}");
        assert_ne!(cost(), before);
        assert!(
            fit("acme/Brand-New-9B").contains("a context of 131072 tokens")
                && !fit("acme/Brand-New-9B").contains("does not list")
        );
    }
}

#[test]
fn encoded_tables_count_only_while_their_files_are_unchanged() {
    if !are_there(&["python3", "openssl"]) {
        return;
    }
    let sandbox = Sandbox::outside("encoded");
    let place = sandbox.path(".");
    let (secret, public) = key(&sandbox, "ours");
    let before = price(&place);
    let newer = format!("{:.2}", before * 1.5);
    let from = release(&sandbox, &secret, &newer, &day(2));
    let arguments = ["--from", from.to_str().unwrap(), "--key", public.to_str().unwrap()];
    assert_eq!(program(&place, &[&["catalog", "update"], &arguments[..]].concat()).2, 0);
    let (table, encoded) = (sandbox.path("cache/prices/lambda.csv"), sandbox.path("cache/prices/tables.bin"));
    let bytes = fs::read(&encoded).unwrap();
    assert_eq!(format!("{:.2}", price(&place)), newer);
    // Damaged behind its first bytes, empty, and of other files: never a crash, and a price that is in a table.
    for at in (40..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        fs::write(&encoded, &damaged).unwrap();
        let (_, error, code) = program(&place, &["price", "gpu_1x_h100_sxm5"]);
        assert!((0..=2).contains(&code), "{at}: {code} {error}");
    }
    fs::write(&encoded, "").unwrap();
    assert_eq!(format!("{:.2}", price(&place)), newer);
    fs::write(&encoded, &bytes).unwrap();
    fs::write(&table, fs::read_to_string(&table).unwrap().replace(&newer, "4.5678")).unwrap();
    assert_eq!(price(&place), 4.5678);
}
