//! Tests typical changes, with the comment for each of them.
//!
//! A case of `tests/changes/` has the files `before/…` and `after/…` and the comment. If each side has its own prices,
//! two saved reports are compared.

use std::fs;

use crate::cli::Place;
use crate::fences;

const PRICES: &str = "provider,machine,on_demand_usd_per_hour,spot_usd_per_hour
aws,p4d.24xlarge,20,8
aws,p5.48xlarge,60,25
aws,g5.xlarge,1,0.4
";

#[test]
fn every_change_gets_the_comment_of_its_case() {
    let cases = fences::cases("tests/changes");
    assert!(cases.len() >= 10);
    let mut wrong = Vec::new();
    for path in cases {
        let case = fs::read_to_string(&path).unwrap();
        let all = fences::read(&case);
        let expected = all.iter().find(|fence| fence.language == "markdown").unwrap();
        let place = Place::new();
        place.write("prices.csv", PRICES);
        for fence in all.iter() {
            if let Some(file) = &fence.file {
                place.write(file, &fence.text);
            }
        }
        let has_own_prices = all.iter().any(|fence| fence.file.as_deref() == Some("after/prices.csv"));
        let comment = if has_own_prices { of_saved_reports(&place) } else { of_directories(&place) };
        if fences::blessing() {
            fs::write(&path, fences::replaced(&case, expected, &comment)).unwrap();
        } else if comment != expected.text {
            wrong.push(format!("{} should be:\n{comment}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nGPULINT_BLESS=1 rewrites them", wrong.join("\n"));
}

const TODAY: [&str; 3] = ["--today", "2026-11-21", "--no-config"];

fn of_directories(place: &Place) -> String {
    let url = "https://example.org/acme/infra/blob/0123abc";
    let diff = ["diff", "--base-dir", "before", "after", "--prices", "prices.csv", "--format", "markdown"];
    place.stdout(&[&diff[..], &["--files-url", url], &TODAY].concat())
}

fn of_saved_reports(place: &Place) -> String {
    for side in ["before", "after"] {
        let prices = format!("{side}/prices.csv");
        let report = format!("{side}.json");
        let check = ["check", "after", "--prices", &prices, "--format", "json", "--output", &report];
        place.stdout(&[&check[..], &TODAY].concat());
    }
    place.stdout(&[&["diff", "--base-file", "before.json", "after.json", "--format", "markdown"][..], &TODAY].concat())
}
