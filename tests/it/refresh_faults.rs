//! Tests all failures between a price vendor and gpulint: no wrong data is accepted or left behind.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use gpulint::http::{HttpErrorKind, HttpSettings};
use gpulint::refresh::{PriceVendor, Update, update};
use serde_json::json;

use crate::forge::gzip::gzipped;
use crate::forge::server::{Answer, Received, Server};
use crate::refresh::{
    Impatient, KEY, KNOWN, access_to, answered, catalog_of, empty_directory, good, program, refreshed_over, row, usd,
};
use crate::skipped::skip;

/// Returns bytes in gzip form, without compression.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut zipped = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(0xffff).peekable();
    while let Some(block) = blocks.next() {
        let length = block.len() as u16;
        zipped.push(u8::from(blocks.peek().is_none()));
        zipped.extend(length.to_le_bytes());
        zipped.extend((!length).to_le_bytes());
        zipped.extend(block);
    }
    let mut check = u32::MAX;
    for byte in bytes {
        check ^= u32::from(*byte);
        for _ in 0..8 {
            check = if check & 1 == 1 { (check >> 1) ^ 0xedb8_8320 } else { check >> 1 };
        }
    }
    zipped.extend((!check).to_le_bytes());
    zipped.extend((bytes.len() as u32).to_le_bytes());
    zipped
}

#[test]
fn compressed_answers_are_read() {
    for vendor in PriceVendor::ALL {
        let zipped = |asked: &Received| {
            let plain = good(asked);
            Answer { body: gzip(&plain.body), ..plain }.with("content-encoding", "gzip")
        };
        let expected = answered(vendor, good).unwrap();
        assert_eq!(answered(vendor, zipped), Ok(expected), "{}", vendor.name());
    }
}

#[test]
fn a_compressed_answer_that_breaks_off_is_not_believed() {
    for vendor in PriceVendor::ALL {
        let cut = |asked: &Received| {
            let zipped = gzip(&good(asked).body);
            Answer::new(200, &zipped[..zipped.len() / 2]).with("content-encoding", "gzip")
        };
        assert!(answered(vendor, cut).is_err(), "{}", vendor.name());
    }
}

#[test]
fn a_hung_connection_is_given_up() {
    std::thread::scope(|scope| {
        for vendor in PriceVendor::ALL {
            scope.spawn(move || {
                // The server does not answer until the client has disconnected.
                let gone = Arc::new((Mutex::new(false), Condvar::new()));
                let waits = gone.clone();
                let hung = move |_: &Received| {
                    let (gone, rings) = &*waits;
                    let is_gone = gone.lock().unwrap();
                    drop(rings.wait_timeout_while(is_gone, Duration::from_secs(60), |is_gone| !*is_gone));
                    Answer::hang_up()
                };
                let error = answered(vendor, hung).unwrap_err();
                *gone.0.lock().unwrap() = true;
                gone.1.notify_all();
                assert_eq!(error.kind, HttpErrorKind::Interrupted, "{}", vendor.name());
                assert!(error.message.contains("did not answer in time"), "{}: {}", vendor.name(), error.message);
            });
        }
    });
}

/// Returns the known prices times a factor.
fn known_times(factor: f64) -> String {
    let mut table = String::new();
    for (at, line) in KNOWN.lines().enumerate() {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if at > 0 {
            cells[7] = format!("{:.6}", cells[7].parse::<f64>().unwrap() * factor);
        }
        table.push_str(&format!("{}\n", cells.join(",")));
    }
    table
}

#[test]
fn a_price_that_changed_by_more_than_three_times_is_not_believed() {
    for vendor in PriceVendor::ALL {
        for factor in [0.2, 5.0] {
            let known = catalog_of(&known_times(factor));
            let server = Server::start(good);
            let update = refreshed_over(&known, vendor, "", &server, false).unwrap();
            let wild =
                update.rejected.iter().filter(|it| it.why.starts_with("the on demand price changed from $")).count();
            let listed = KNOWN.lines().filter(|line| line.starts_with(&format!("{},", vendor.name()))).count();
            assert_eq!(wild, listed, "{} {factor}: {:#?}", vendor.name(), update.rejected);
            let accepted = refreshed_over(&known, vendor, "", &server, true).unwrap();
            // What is new stands out beside known prices that are all wrong.
            let beside = update.rejected.iter().filter(|it| it.why.contains("the median of")).count();
            assert_eq!(accepted.arrived, update.arrived + listed + beside, "{} {factor}", vendor.name());
        }
    }
}

#[test]
fn a_list_that_lost_half_of_its_machines_is_refused_as_a_whole() {
    for vendor in PriceVendor::ALL {
        let mut known = KNOWN.to_owned();
        let first = KNOWN.lines().find(|line| line.starts_with(&format!("{},", vendor.name()))).unwrap();
        let cells: Vec<&str> = first.split(',').collect();
        for at in 0..20 {
            known.push_str(&first.replacen(cells[1], &format!("lost-{at}"), 1));
            known.push('\n');
        }
        let server = Server::start(good);
        let error = refreshed_over(&catalog_of(&known), vendor, "", &server, false).unwrap_err();
        assert_eq!(error.kind, HttpErrorKind::Malformed, "{}", vendor.name());
        assert!(error.message.ends_with(": no prices were updated"), "{}", error.message);
    }
}

/// Returns the normal answers with one replacement in one answer.
pub(crate) fn with(
    path: &'static str,
    before: &'static str,
    after: &str,
) -> impl FnMut(&Received) -> Answer + Send + 'static {
    let after = after.to_owned();
    move |asked| {
        let answer = good(asked);
        if !asked.path.contains(path) {
            return answer;
        }
        let text = String::from_utf8(answer.body).unwrap();
        Answer { body: text.replace(before, &after).into_bytes(), ..answer }
    }
}

fn refused<'u>(update: &'u Update, machine: &str) -> &'u str {
    let found = update.rejected.iter().find(|it| it.machine == machine);
    found.map_or_else(|| panic!("{machine} was believed: {update:#?}"), |it| it.why.as_str())
}

#[test]
fn spot_above_on_demand_is_not_believed() {
    let cases = [
        (PriceVendor::Aws, "spot.js", r#""USD":"0.4125""#, r#""USD":"1.4125""#, "g5.xlarge", "spot costs $1.4125"),
        (PriceVendor::Azure, "prices", "0.67877", "3.67877", "Standard_NC24ads_A100_v4", "spot costs $3.6788"),
        (
            PriceVendor::Runpod,
            "graphql",
            r#""secureSpotPrice": 1.75"#,
            r#""secureSpotPrice": 4.75"#,
            "secure/H100-80GB",
            "spot costs $4.7500, more than $3.9900 on demand",
        ),
    ];
    for (vendor, path, before, after, machine, why) in cases {
        let update = answered(vendor, with(path, before, after)).unwrap();
        let told = refused(&update, machine);
        assert!(told.starts_with(why), "{}: {told}", vendor.name());
        assert!(update.rows.iter().all(|row| row.machine != machine), "{}", vendor.name());
    }
    // A bid above the price of the same offer is ignored. The other bids are valid.
    let vast = answered(PriceVendor::Vast, with("bundles", r#""min_bid": 1.1"#, r#""min_bid": 11"#)).unwrap();
    assert_eq!((usd(row(&vast, "H100-80GB").on_demand), usd(row(&vast, "H100-80GB").spot)), (1.89, 0.8));
}

#[test]
fn another_currency_or_unit_is_not_believed() {
    for (vendor, path, before, after, told) in [
        (PriceVendor::Aws, "index.csv", "\"USD\"", "\"CNY\"", "in CNY per Hrs"),
        (PriceVendor::Aws, "index.csv", "\"Hrs\"", "\"Days\"", "in USD per Days"),
        (PriceVendor::Azure, "prices", r#""unitOfMeasure": "1 Hour""#, r#""unitOfMeasure": "1 Month""#, "per 1 Month"),
        (PriceVendor::Gcp, "skus", r#""currencyCode": "USD""#, r#""currencyCode": "EUR""#, "in EUR per h"),
        (PriceVendor::Gcp, "skus", r#""usageUnit": "h""#, r#""usageUnit": "mo""#, "in USD per mo"),
    ] {
        match answered(vendor, with(path, before, after)) {
            // All rows are invalid, so the whole list is refused.
            Err(error) => assert_eq!(error.kind, HttpErrorKind::Malformed, "{}: {}", vendor.name(), error.message),
            Ok(update) => {
                assert!(update.rejected.iter().any(|it| it.why.contains(told)), "{told}: {:#?}", update.rejected);
                assert!(update.rows.iter().all(|row| row.on_demand.is_none()), "{told}: {:#?}", update.rows);
            }
        }
    }
}

#[test]
fn decoys_stand_in_the_answers_and_change_nothing() {
    // Each fixture contains meters of other products for the same machines. Their prices must have no effect.
    for (vendor, path, decoys) in [
        (PriceVendor::Azure, "prices", &["Windows", "Low Priority", "DevTestConsumption"][..]),
        (PriceVendor::Gcp, "skus", &["Commitment", "Reserved", "DWS"][..]),
        (PriceVendor::Aws, "index.csv", &["WINDECOY", "UNUSED", "BLOCK", "DEDICATED"][..]),
    ] {
        let seen = Arc::new(Mutex::new(String::new()));
        let kept = seen.clone();
        let update = answered(vendor, move |asked| {
            let answer = good(asked);
            if asked.path.contains(path) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&answer.body));
            }
            answer
        });
        assert!(update.is_ok());
        let text = seen.lock().unwrap().clone();
        let missing: Vec<_> = decoys.iter().filter(|decoy| !text.contains(**decoy)).collect();
        assert!(missing.is_empty(), "{}: the fixture has no {missing:?}", vendor.name());
    }
}

#[test]
fn keys_stand_in_nothing_that_the_verb_writes() {
    let place = empty_directory("keys");
    let repeats = |asked: &Received| {
        let sent: Vec<String> = asked.headers.iter().map(|(_, value)| value.clone()).collect();
        Answer::new(401, format!("{{\"error\": \"no access with {} {KEY}\"}}", sent.join(" ")))
    };
    let server = Server::start(repeats);
    let (out, err, code) = program(&place, &["catalog", "update", "lambda", "--mirror", &server.url()]);
    assert_eq!(code, 2);
    assert!(!server.received().is_empty() && err.contains("401"), "{err}");
    assert!(!out.contains(KEY) && !err.contains(KEY), "{out}{err}");
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn an_update_that_is_killed_leaves_whole_files_only() {
    let place = empty_directory("killed");
    // A file that a killed update left is not a file of the cache.
    fs::create_dir_all(place.join("cache/prices")).unwrap();
    fs::write(place.join("cache/prices/.vast.csv.1"), "machine,region,accel").unwrap();
    let asked_second = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let rings = asked_second.clone();
    let server = Server::start(move |asked| {
        if asked.path == "/graphql" {
            let (is_asked, lock, bell) = &*rings;
            is_asked.store(true, Ordering::SeqCst);
            drop(lock.lock());
            bell.notify_all();
            std::thread::sleep(Duration::from_secs(60));
        }
        lambda_list()
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(["catalog", "update", "lambda", "runpod", "--mirror", &server.url()])
        .current_dir(&place)
        .env("GPULINT_CACHE_DIR", place.join("cache"))
        .env("LAMBDA_API_KEY", KEY)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (is_asked, lock, bell) = &*asked_second;
    let guard = lock.lock().unwrap();
    let waits = |_: &mut ()| !is_asked.load(Ordering::SeqCst);
    let (_guard, result) = bell.wait_timeout_while(guard, Duration::from_secs(60), waits).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!result.timed_out(), "the second provider was never asked");
    let mut names: Vec<String> = fs::read_dir(place.join("cache/prices"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".vast.csv.1", "lambda.csv"]);
    let (out, err, code) = program(&place, &["catalog", "verify", "--prices", "cached"]);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    fs::remove_dir_all(place).unwrap();
}

/// Returns every machine of the embedded list, at its embedded price.
fn lambda_list() -> Answer {
    let catalog = gpulint::catalog::Catalog::embedded();
    let machines = catalog.machines().filter(|it| it.provider == "lambda");
    let types: serde_json::Map<_, _> = machines
        .filter_map(|machine| {
            let cents = (catalog.quote(&machine, "*")?.on_demand?.usd() * 100.0).round() as i64;
            let specs = serde_json::json!({ "vcpus": 26, "memory_gib": 225, "gpus": machine.count });
            let kind = serde_json::json!({ "name": machine.name, "price_cents_per_hour": cents, "specs": specs });
            Some((machine.name.to_string(), serde_json::json!({ "instance_type": kind })))
        })
        .collect();
    Answer::json(200, &serde_json::json!({ "data": types }))
}

#[test]
fn linting_is_the_same_without_a_network() {
    let cut = |arguments: &[&str]| Command::new("unshare").args(["-rn"]).args(arguments).output();
    if !cut(&["true"]).is_ok_and(|output| output.status.success()) {
        return skip("`unshare -rn` is not allowed here");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let gpulint = env!("CARGO_BIN_EXE_gpulint");
    let mut bytes = 0;
    for entry in fs::read_dir(root.join("examples")).unwrap() {
        let example = entry.unwrap().path();
        if !example.is_dir() {
            continue;
        }
        let verbs: [&[&str]; 5] = [
            &["check", "--format", "json"],
            &["check", "--format", "sarif"],
            &["check", "--format", "text"],
            &["cost", "--format", "json"],
            &["inspect", "--format", "json"],
        ];
        for verb in verbs {
            let arguments = [verb, &["--prices", "embedded", "--today", "2026-11-21"]].concat();
            let connected = Command::new(gpulint).args(&arguments).current_dir(&example).output().unwrap();
            let mut alone = Command::new("unshare");
            let alone = alone.args(["-rn", gpulint]).args(&arguments).current_dir(&example).output().unwrap();
            assert!(!connected.stdout.is_empty(), "{arguments:?} says nothing");
            assert!(connected.stdout == alone.stdout, "{}: {arguments:?} differs", example.display());
            assert!(connected.stderr == alone.stderr, "{}: {arguments:?} differs in its errors", example.display());
            assert_eq!(connected.status.code(), alone.status.code());
            bytes += connected.stdout.len();
        }
    }
    assert!(bytes > 10_000, "the examples say only {bytes} bytes");
}

/// Makes one attempt with a deadline, and otherwise uses the program's settings.
fn hurried(vendor: PriceVendor, server: &Server) -> Result<Update, gpulint::http::Error> {
    let clock = Impatient(RefCell::default());
    let settings = HttpSettings { timeout: Duration::from_millis(400), attempts: 1, ..HttpSettings::default() };
    update(vendor, &catalog_of(KNOWN), "", &access_to(server, vendor, settings, &clock))
}

#[test]
fn an_answer_that_trickles_ends_by_the_deadline() {
    for vendor in [PriceVendor::Azure, PriceVendor::Lambda, PriceVendor::Aws] {
        let server = Server::start(|_| Answer::new(200, vec![b' '; 1000]).slowly(Duration::from_millis(50)));
        let error = hurried(vendor, &server).unwrap_err();
        assert_eq!(error.kind, HttpErrorKind::Interrupted, "{}: {error}", vendor.name());
    }
}

#[test]
fn few_bytes_do_not_become_many_values() {
    let brackets = |_: &Received| Answer::new(200, format!("[{}0]", "0,".repeat(2_000_000)));
    for vendor in PriceVendor::ALL {
        let error = hurried(vendor, &Server::start(brackets)).unwrap_err();
        assert_eq!(error.kind, HttpErrorKind::TooLarge, "{}: {error}", vendor.name());
    }
}

/// Returns the peak memory of a program, as Linux reports it at run time.
#[cfg(target_os = "linux")]
pub(crate) fn most_memory_mib(mut child: std::process::Child) -> (u64, String) {
    let mut most = 0;
    let status = format!("/proc/{}/status", child.id());
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(peak.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    (most >> 10, String::from_utf8(output.stderr).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_bomb_is_not_unpacked() {
    // 1.5 GB of spaces in 10 MB, which took 3 GB.
    let bomb = Arc::new(gzipped(b' ', 1_500_000_000));
    for vendor in ["azure", "lambda", "aws"] {
        let place = empty_directory(&format!("bomb-{vendor}"));
        let bomb = bomb.clone();
        let server = Server::start(move |_| Answer::new(200, bomb.to_vec()).with("content-encoding", "gzip"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.args(["catalog", "update", vendor, "--mirror", &server.url()]).env("LAMBDA_API_KEY", KEY);
        command.current_dir(&place).env("GPULINT_CACHE_DIR", place.join("cache")).env_remove("http_proxy");
        let (memory, said) = most_memory_mib(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        assert!(said.contains("has more than 32 MiB"), "{vendor}: {said}");
        assert!((1..256).contains(&memory), "{vendor} took {memory} MiB");
        fs::remove_dir_all(place).unwrap();
    }
}

#[test]
fn a_list_of_endless_pages_ends() {
    // Each page leads to a new one.
    let padding = "x".repeat(4 << 20);
    let mut page = 0;
    let server = Server::start(move |asked| {
        page += 1;
        let next = format!("http://{}/api/retail/prices?$skip={page}", asked.header("host").unwrap());
        Answer::json(200, &json!({ "Items": [], "NextPageLink": next, "padding": padding }))
    });
    let clock = Impatient(RefCell::default());
    let settings = HttpSettings { max_total_bytes: 64 << 20, ..HttpSettings::default() };
    let access = access_to(&server, PriceVendor::Azure, settings, &clock);
    let error = update(PriceVendor::Azure, &catalog_of(KNOWN), "", &access).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::TooLarge, "{error}");
    assert!(error.message.contains("more than 64 MiB in all"), "{error}");
    assert_eq!(server.asked().len(), 16);
}

#[test]
fn a_plan_of_endless_texts_or_rates_is_refused() {
    let rate = r#"{"discountedUsageType":"BoxUsage:p","discountedRate":{"price":"1","currency":"USD"},"unit":"Hrs"}"#;
    let rates = vec![rate; 200_001].join(",");
    let bodies = [
        (format!(r#"{{"products":[],"terms":{{"savingsPlan":[{{"sku":"a","rates":[{rates}]}}]}}}}"#), "is too long"),
        (format!(r#"{{"products":[],"terms":"{}"}}"#, "x".repeat(4 << 20)), "a string of the list is too long"),
    ];
    for (body, why) in bodies {
        let server = Server::start(move |asked| match asked.path.as_str() {
            path if path.starts_with("/savingsPlan/") && !path.ends_with("region_index.json") => {
                Answer::new(200, body.clone())
            }
            _ => good(asked),
        });
        let clock = Impatient(RefCell::default());
        let access = access_to(&server, PriceVendor::Aws, HttpSettings::default(), &clock);
        let update = update(PriceVendor::Aws, &catalog_of(KNOWN), "", &access).unwrap();
        let told = update
            .notes
            .iter()
            .any(|note| note.starts_with("prices of savings plans are missing") && note.contains(why));
        assert!(told, "{why}: {:?}", update.notes);
    }
}
