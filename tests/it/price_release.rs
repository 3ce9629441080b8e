//! The weekly update of prices, by hand: vendors that are replayed, the table for reviewers, the signed file, and what takes
//! it in.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gpulint::refresh::Vendor;

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

/// Programs that the workflow finds on its machine.
fn are_there(programs: &[&str]) -> bool {
    let there = programs.iter().all(|it| Command::new(it).arg("--help").output().is_ok());
    if !there {
        skip(&format!("not all of {programs:?} are installed"));
    }
    there
}

/// The tables of the project as they were before: what every vendor's machines cost, as `KNOWN` has it.
fn tables(sandbox: &Sandbox) -> PathBuf {
    let pricing = sandbox.path("pricing");
    fs::create_dir_all(&pricing).unwrap();
    let header = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing/lambda.csv")).unwrap();
    let header = header.lines().next().unwrap().to_owned();
    for vendor in Vendor::ALL {
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
    let mut said = String::from("error: gcp: nothing can be asked without a key: set GCP_API_KEY\n");
    for vendor in Vendor::ALL {
        let update = refreshed_over(&known, vendor, "", &server, false).unwrap();
        fs::write(cache.join(format!("{}.csv", vendor.name())), update.text()).unwrap();
        for it in &update.rejected {
            said += &format!("  refused {} {}: {} `@everyone`\n", it.machine, it.region, it.why);
        }
    }
    // As it stood in the tables before.
    let lambda = pricing.join("lambda.csv");
    fs::write(&lambda, fs::read_to_string(&lambda).unwrap().replace(",4.29,", ",4,")).unwrap();
    fs::write(sandbox.path("said"), said).unwrap();
    let paths = [&cache, &pricing, &table, &sandbox.path("said")].map(|it| it.to_str().unwrap().to_owned());
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    done(&script("prices.py", &[&["merge"], &paths[..]].concat(), &[]));

    let moved = fs::read_to_string(&table).unwrap();
    let line = moved.lines().find(|line| line.contains("gpu\\_1x\\_h100\\_sxm5")).unwrap_or_else(|| panic!("{moved}"));
    assert_eq!(line, "| lambda | gpu\\_1x\\_h100\\_sxm5 | \\* | on demand | $4.0000 | $4.2900 | +7.3% |");
    assert!(moved.contains("| aws | p5.48xlarge | us-east-1 | one year |  | $"), "{moved}");
    assert!(moved.contains("### Not believed") && moved.contains("secure/H100-80GB"), "{moved}");
    assert!(moved.contains("### Not asked or not answered") && !moved.contains(" @everyone"), "{moved}");
    // What was written is what the cache says, and a table that gpulint reads.
    let rows = fs::read_to_string(&lambda).unwrap();
    assert!(rows.contains("gpu_1x_h100_sxm5,*,H100-80GB,1,26,225,4.29,"), "{rows}");
    let refused = fs::read_to_string(pricing.join("runpod.csv")).unwrap();
    assert!(refused.contains("secure/H100-80GB,*,H100-80GB,1,20,125,3.99,,,,2026-01-01"), "{refused}");

    // A second time nothing moves.
    done(&script("prices.py", &[&["merge"], &paths[..]].concat(), &[]));
    assert!(fs::read_to_string(&table).unwrap().starts_with("0 prices moved, "));
}

/// A key pair as `sign.sh` describes it: the secret as text, the public one as a file.
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

/// The project's own tables as one file, with H100 machines of Lambda at another price and date, signed.
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
    let sandbox = Sandbox::new("signed");
    let place = sandbox.path(".");
    let (secret, public) = key(&sandbox, "ours");
    let before = price(&place);
    let newer = format!("{:.2}", before * 1.5);
    let file = release(&sandbox, &secret, &newer, "2099-01-01");
    let take = |from: &str| program(&place, &["catalog", "update", "--from", from, "--key", public.to_str().unwrap()]);
    let (out, error, code) = take(file.to_str().unwrap());
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("lambda: 1 rows arrived") && out.contains("rows say nothing newer"), "{out}");
    assert_eq!(format!("{:.2}", price(&place)), newer);

    // The same from a server, where the signature lies beside it. It is no news by now.
    let (bytes, signature) = (fs::read(&file).unwrap(), fs::read(sandbox.path("prices.csv.sig")).unwrap());
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/data/prices.csv" => Answer::new(200, bytes.clone()),
        "/data/prices.csv.sig" => Answer::new(200, signature.clone()),
        _ => Answer::new(404, ""),
    });
    let (out, error, code) = take(&format!("{}/data/prices.csv", server.url()));
    assert_eq!((code, out.contains("arrived")), (0, false), "{out}{error}");

    // An earlier file was signed as well, and brings no earlier price back; nor is a leap believed.
    release(&sandbox, &secret, "0.5", "2026-11-01");
    assert_eq!(take(file.to_str().unwrap()).2, 0);
    assert_eq!(format!("{:.2}", price(&place)), newer);
    release(&sandbox, &secret, "25", "2099-02-01");
    let (out, _, code) = take(file.to_str().unwrap());
    assert!(code == 0 && out.contains("refused gpu_1x_h100_sxm5 *: on demand went from"), "{out}");
    assert_eq!(format!("{:.2}", price(&place)), newer);
}

#[test]
fn prices_that_nobody_trusted_signed_are_not_taken_in() {
    if !are_there(&["python3", "openssl"]) {
        return;
    }
    let sandbox = Sandbox::new("unsigned");
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
    let file = release(&sandbox, &strange, &newer, "2099-01-01");
    assert!(take(&file, &ours).contains("not signed by the holder of this key"));
    let file = release(&sandbox, &secret, &newer, "2099-01-01");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace(&newer, "1.23")).unwrap();
    assert!(take(&file, &ours).contains("not signed by the holder of this key"));
    fs::write(&file, &text).unwrap();
    assert!(take(&file, &[]).contains("nothing says whose signature to trust"));
    fs::write(sandbox.path("prices.csv.sig"), "00").unwrap();
    assert!(take(&file, &ours).contains("the signature is not one of 128 hexadecimal digits"));
    fs::remove_file(sandbox.path("prices.csv.sig")).unwrap();
    assert!(take(&file, &ours).contains("prices.csv.sig` cannot be read"));
}
