//! Tests malicious answers: they try to fill memory, to never end, to control a terminal, or to set a false price.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;

use gpulint::http::HttpErrorKind;
use gpulint::refresh::{PriceRow, PriceVendor, Rejected, Update};
use serde_json::json;

use crate::forge::gzip::gzipped;
use crate::forge::server::{Answer, Received, Server};
use crate::refresh::{KEY, KNOWN, answered, catalog_of, empty_directory, good, program, refreshed_over};
use crate::refresh_faults::{most_memory_mib, with};

#[test]
fn a_redirect_to_itself_ends() {
    for vendor in PriceVendor::ALL {
        let server = Server::start(|asked| Answer::new(307, "").with("location", &asked.path));
        let error = refreshed_over(&catalog_of(KNOWN), vendor, "", &server, false).unwrap_err();
        assert_eq!(error.kind, HttpErrorKind::Redirected, "{}", vendor.name());
        assert_eq!(error.message, "127.0.0.1 redirects too often", "{}", vendor.name());
        assert!(server.asked().len() < 10, "{}: {:?}", vendor.name(), server.asked());
    }
}

#[test]
fn a_nest_of_a_hundred_thousand_brackets_is_no_answer() {
    for vendor in PriceVendor::ALL {
        for body in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
            let error = answered(vendor, move |_| Answer::new(200, body.clone())).unwrap_err();
            assert_eq!(error.kind, HttpErrorKind::Malformed, "{}", vendor.name());
            assert!(error.message.contains("recursion limit"), "{}: {}", vendor.name(), error.message);
        }
    }
}

/// A text of one answer, with its replacement.
type Case = (PriceVendor, &'static str, &'static str, &'static str, &'static str);

/// The machine of each case, with the message. With an empty message, the whole answer is refused.
const NO_PRICES: &[(Case, &str)] = &[
    ((PriceVendor::Aws, "index.csv", "\"21.9576420000\"", "\"NaN\"", "p4d.24xlarge"), "`NaN` is not a valid price"),
    ((PriceVendor::Aws, "index.csv", "\"21.9576420000\"", "\"inf\"", "p4d.24xlarge"), "`inf` is not a valid price"),
    (
        (PriceVendor::Aws, "index.csv", "\"21.9576420000\"", "\"-21.957642\"", "p4d.24xlarge"),
        "on demand costs $-21.9576, which is impossible",
    ),
    (
        (PriceVendor::Aws, "index.csv", "\"21.9576420000\"", "\"1e308\"", "p4d.24xlarge"),
        "$9223372036854.7754 an hour for one accelerator is impossible",
    ),
    (
        (PriceVendor::Aws, "spot.js", "\"0.4125\"", "\"1e308\"", "g5.xlarge"),
        "spot costs $9223372036854.7754, more than $1.0060 on demand",
    ),
    ((PriceVendor::Azure, "prices", "3.673,", "NaN,", ""), ""),
    (
        (PriceVendor::Azure, "prices", "\"retailPrice\": 98.32", "\"retailPrice\": 1e308", "Standard_ND96isr_H100_v5"),
        "$9223372036854.7754 an hour for one accelerator is impossible",
    ),
    (
        (
            PriceVendor::Azure,
            "prices",
            "\"retailPrice\": 0.67877",
            "\"retailPrice\": -0.67877",
            "Standard_NC24ads_A100_v4",
        ),
        "spot costs $-0.6788, which is impossible",
    ),
    (
        (
            PriceVendor::Gcp,
            "skus",
            "\"units\": \"9\"",
            "\"units\": \"170141183460469231731687303715884105727\"",
            "Nvidia H100 80GB GPU",
        ),
        "Nvidia H100 80GB GPU running in Americas has an impossible price",
    ),
    (
        (PriceVendor::Gcp, "skus", "\"nanos\": 31611000", "\"nanos\": -31611000", "A2 Instance Core"),
        "A2 Instance Core running in Americas has an impossible price",
    ),
    (
        (
            PriceVendor::Lambda,
            "types",
            "\"price_cents_per_hour\": 429",
            "\"price_cents_per_hour\": -429",
            "gpu_1x_h100_sxm5",
        ),
        "on demand costs $-4.2900, which is impossible",
    ),
    (
        (
            PriceVendor::Lambda,
            "types",
            "\"price_cents_per_hour\": 429",
            "\"price_cents_per_hour\": 9223372036854775807",
            "gpu_1x_h100_sxm5",
        ),
        "$9223372036854.7754 an hour for one accelerator is impossible",
    ),
    ((PriceVendor::Lambda, "types", "429", "NaN", ""), ""),
    ((PriceVendor::Runpod, "graphql", "\"securePrice\": 3.99", "\"securePrice\": 1e309", ""), ""),
    (
        (PriceVendor::Runpod, "graphql", "\"securePrice\": 3.99", "\"securePrice\": -3.99", "secure/8xH100-80GB"),
        "on demand costs $-31.9200, which is impossible",
    ),
    (
        (PriceVendor::Runpod, "graphql", "\"securePrice\": 3.99", "\"securePrice\": 1e308", "secure/H100-80GB"),
        "$9223372036854.7754 an hour for one accelerator is impossible",
    ),
];

fn machine_of_part(part: &str) -> String {
    if part.contains("H100") { "a3-".to_owned() } else { "a2-".to_owned() }
}

#[test]
fn what_is_no_price_is_never_taken_for_one() {
    let is_sound = |update: &Update| {
        update.rows.iter().all(|row| {
            let prices = [row.on_demand, row.spot, row.reserved_1y, row.reserved_3y].into_iter().flatten();
            prices.into_iter().all(|price| price.usd() > 0.0 && price.usd() < 500.0)
        })
    };
    for ((vendor, path, before, after, machine), why) in NO_PRICES {
        let sound = answered(*vendor, good).unwrap();
        match answered(*vendor, with(path, before, after)) {
            Err(error) => {
                assert_eq!((*why, error.kind), ("", HttpErrorKind::Malformed), "{after}: {}", error.message);
                assert!(error.message.starts_with("the answer is not the expected JSON"), "{}", error.message);
            }
            Ok(update) => {
                let is_told = update.rejected.iter().any(|it| it.machine == *machine && it.why == *why);
                assert!(is_told, "{after}: {:#?}", update.rejected);
                assert!(is_sound(&update), "{after}: {:#?}", update.rows);
                // An absurd value does not affect other rows: rows without the value are accepted as before.
                let carries = |row: &PriceRow| update.rejected.iter().any(|it| it.machine == row.machine);
                // For Google, a part is refused, and so are the machines that contain it.
                let has_part =
                    |row: &PriceRow| *vendor == PriceVendor::Gcp && row.machine.starts_with(&machine_of_part(machine));
                let kept = sound.rows.iter().filter(|row| !carries(row) && !has_part(row));
                assert!(kept.clone().all(|row| update.rows.iter().any(|it| it.machine == row.machine)), "{after}");
                let is_neighbour = |it: &Rejected| it.why.contains("the median of");
                assert!(!update.rejected.iter().any(is_neighbour), "{after}: {:#?}", update.rejected);
            }
        }
    }
    // A marketplace has many sellers. An invalid offer is skipped, and the others are valid.
    for price in ["-1.89", "0", "1e308"] {
        let update =
            answered(PriceVendor::Vast, with("bundles", "\"dph_total\": 1.89", &format!("\"dph_total\": {price}")));
        let update = update.unwrap();
        assert!(is_sound(&update) && update.arrived == 1, "{price}: {update:#?}");
    }
}

#[test]
fn names_steer_nothing() {
    let place = empty_directory("names");
    let hostile = [
        "gpu\u{1b}[2J\u{1b}]0;owned\u{7}_1x_h100",
        "gpu\u{202e}001h_x1",
        "::error::gpu_1x_h100",
        "gpu_1x\n##[error]h100,*,H100-80GB,1",
        "=cmd|'/c calc'!A1",
        "../../../../etc/cron.d/x",
    ];
    let long = "x".repeat(1 << 20);
    let server = Server::start(move |asked| {
        let mut reply: serde_json::Value = serde_json::from_slice(&good(asked).body).unwrap();
        let kind = reply["data"]["gpu_1x_h100_sxm5"]["instance_type"].clone();
        for (at, name) in hostile.into_iter().chain([long.as_str(), ""]).enumerate() {
            let mut kind = kind.clone();
            kind["price_cents_per_hour"] = (430 + at).into();
            reply["data"][name] = json!({ "instance_type": kind });
        }
        // As many machines as the catalog has, under unknown names.
        for at in 0..20 {
            let mut kind = kind.clone();
            kind["price_cents_per_hour"] = (300 + at).into();
            reply["data"][format!("gpu_1x_h100_v{at}")] = json!({ "instance_type": kind });
        }
        Answer::json(200, &reply)
    });
    let (out, err, code) = program(&place, &["catalog", "update", "lambda", "--mirror", &server.url()]);
    assert_eq!(code, 0, "{err}");
    let said = out.matches(": the name is not a valid machine or region").count();
    // A path is one of letters that names have; it is a machine like any other and no file.
    assert_eq!(said, 7, "{out}");
    assert!(out.chars().all(|letter| letter == '\n' || !letter.is_control() && letter != '\u{202e}'), "{out:?}");
    assert!(out.lines().all(|line| line.len() < 300 && !line.trim_start().starts_with("::")), "{out}");
    let written = fs::read_to_string(place.join("cache/prices/lambda.csv")).unwrap();
    assert!(written.lines().skip(1).all(|line| line.split(',').count() == 18), "{written}");
    assert!(!written.contains("cmd|") && !written.contains('\u{1b}') && !written.contains("::error"), "{written}");
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn a_list_of_endless_machines_is_refused() {
    let entry =
        r#"{"instance_type":{"gpu_description":"H100 (80 GB SXM5)","price_cents_per_hour":429,"specs":{"gpus":1}}}"#;
    let types: Vec<String> = (0..50_001).map(|at| format!("\"g{at}\":{entry}")).collect();
    let body = format!("{{\"data\":{{{}}}}}", types.join(","));
    let place = empty_directory("machines");
    let server = Server::start(move |_| Answer::new(200, body.clone()));
    let (_, err, code) = program(&place, &["catalog", "update", "lambda", "--mirror", &server.url()]);
    assert!(
        code == 2 && err.starts_with("error: lambda: lambda lists more than 50000 machines and regions; "),
        "{err}"
    );
    fs::remove_dir_all(place).unwrap();
}

#[test]
fn a_list_of_a_day_that_is_none_is_refused() {
    for (day, told) in
        [("9999-12-31", "is marked as the list of 9999-12-31"), ("2026-02-31", "is marked as the list of 2026-02-31")]
    {
        let text = format!("\"Publication Date\",\"{day}");
        let error =
            answered(PriceVendor::Aws, with("index.csv", "\"Publication Date\",\"2026-07-28", &text)).unwrap_err();
        assert!(error.kind == HttpErrorKind::Malformed && error.message.ends_with(told), "{}", error.message);
    }
}

/// AWS sends a list of one gigabyte, which is parsed while it arrives. The list is one line, or consists of empty
/// lines.
#[cfg(target_os = "linux")]
#[test]
fn a_list_of_a_gigabyte_fills_no_memory() {
    for (letter, told) in [(b' ', "a line of the list is too long"), (b'\n', "the list is too long")] {
        let place = empty_directory(&format!("gigabyte-{letter}"));
        let bomb = Arc::new(gzipped(letter, 1 << 30));
        let server = Server::start(move |asked: &Received| match asked.path.ends_with("index.csv") {
            true => Answer::new(200, bomb.to_vec()).with("content-encoding", "gzip"),
            false => good(asked),
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.args(["catalog", "update", "aws", "--mirror", &server.url()]).env("LAMBDA_API_KEY", KEY);
        command.current_dir(&place).env("GPULINT_CACHE_DIR", place.join("cache")).env_remove("http_proxy");
        let (memory, said) = most_memory_mib(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        assert!(said.contains(told), "{said}");
        assert!((1..256).contains(&memory), "{memory} MiB");
        fs::remove_dir_all(place).unwrap();
    }
}
