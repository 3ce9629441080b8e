//! Compares bills that were calculated by hand from vendors' prices and rules: `gpulint cost` must be equal to the
//! cent.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toml::Table;

/// One bill of a file in `tests/bills`.
struct Bill {
    name: String,
    files: Vec<(String, String)>,
    expected: Table,
}

fn bills() -> Vec<Bill> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bills");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    let is_case = |path: &&std::path::PathBuf| path.file_name().is_some_and(|name| name != "README.md");
    paths.iter().filter(is_case).flat_map(|path| parsed(&fs::read_to_string(path).unwrap())).collect()
}

fn parsed(text: &str) -> Vec<Bill> {
    let mut bills: Vec<Bill> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("## ") {
            bills.push(Bill { name: name.to_owned(), files: Vec::new(), expected: Table::new() });
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        let body = body.join("\n") + "\n";
        let bill = bills.last_mut().unwrap();
        match info.split_once("file=") {
            Some((_, name)) => bill.files.push((name.trim().to_owned(), body)),
            None if info == "toml bill" => bill.expected = body.parse().unwrap(),
            None => {}
        }
    }
    bills
}

/// Bills that differ, with the reason. A bill that is equal must not be in this list.
const OPEN: &[(&str, &str)] =
    &[("A commitment for a year", "the catalog has no price of accelerators for a year: it is listed and not added")];

/// Returns the differences between a bill and the output.
fn differences(bill: &Bill) -> Vec<String> {
    let name = bill.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let folder = std::env::temp_dir().join(format!("gpulint-bills-{}", std::process::id())).join(name);
    for (name, text) in &bill.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // On this day, none of the prices is outdated, so the bills match the price tables.
    let run = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(["cost", "--format", "json", "--prices", "embedded", "--today", "2026-06-01", "."])
        .current_dir(&folder)
        .output()
        .unwrap();
    let _ = fs::remove_dir_all(&folder);
    let printed: Value = match serde_json::from_slice(&run.stdout) {
        Ok(printed) => printed,
        Err(why) => return vec![format!("{why}: {}", String::from_utf8_lossy(&run.stderr))],
    };
    let text = |key: &str, otherwise: &str| {
        bill.expected.get(key).and_then(toml::Value::as_str).unwrap_or(otherwise).to_owned()
    };
    let (per, role) = (text("per", "month"), text("of", "rented"));
    let mine: Vec<&Value> =
        printed["resources"].as_array().unwrap().iter().filter(|it| it["role"] == role.as_str()).collect();
    let mut wrong = Vec::new();
    // If the run time is unknown, all hours of a month are the upper bound.
    let bounds_only = bill.expected.contains_key("at_most") && !bill.expected.contains_key("expected");
    let hours = |it: &Value| if it["price"]["per"] == "hour" && per == "month" { 730.0 } else { 1.0 };
    let sum =
        |end: &str| -> f64 { mine.iter().filter_map(|it| Some(it["price"]["usd"][end].as_f64()? * hours(it))).sum() };
    let disks: f64 = mine.iter().filter_map(|it| it["price"]["attached_usd_per_month"]["expected"].as_f64()).sum();
    for it in &mine {
        let (price, of) = (&it["price"], it["price"]["per"].as_str().unwrap());
        if price["usd"].is_null() {
            wrong.push(format!("{} has no price: {}", it["address"], price["reason"]));
        } else if of != per && !(of == "hour" && bounds_only) && price["usd"]["ceiling"].as_f64() != Some(0.0) {
            wrong.push(format!("{} is told for a {of}, not for a {per}", it["address"]));
        }
    }
    let held = |key: &str| bill.expected.get(key).and_then(toml::Value::as_float);
    let printed =
        [("expected", sum("expected")), ("floor", sum("floor")), ("ceiling", sum("ceiling")), ("disks", disks)];
    for (key, amount) in printed {
        if let Some(expected) = held(key)
            && (amount - expected).abs() >= 0.00501
        {
            wrong.push(format!("{key} is {amount:.2}, not {expected:.2}"));
        }
    }
    let ends = printed.get(..3).unwrap();
    if let Some(most) = held("at_most") {
        wrong.extend(
            ends.iter()
                .filter(|it| it.1 > most + 0.00501)
                .map(|it| format!("{} is {:.2}, above {most:.2}", it.0, it.1)),
        );
        let has_price = sum("expected") > 0.0 || held("floor").is_some() || sum("ceiling") > 0.0;
        wrong.extend((!has_price).then(|| "nothing is expected of it".to_owned()));
    }
    if let Some(least) = held("at_least") {
        wrong.extend(
            ends.iter()
                .filter(|it| it.1 + 0.00501 < least)
                .map(|it| format!("{} is {:.2}, below {least:.2}", it.0, it.1)),
        );
    }
    if let Some(lines) = bill.expected.get("lines").and_then(toml::Value::as_table) {
        for (address, expected) in lines {
            let amount = mine
                .iter()
                .find(|it| it["address"] == address.as_str())
                .and_then(|it| it["price"]["usd"]["expected"].as_f64());
            let expected = expected.as_float().unwrap();
            if amount.is_none_or(|amount| (amount - expected).abs() >= 0.00501) {
                wrong.push(format!("{address} is {amount:?}, not {expected:.2}"));
            }
        }
    }
    wrong
}

#[test]
fn every_bill_is_what_vendors_charge() {
    let bills = bills();
    assert!(bills.len() >= 60, "{}", bills.len());
    let mut told = Vec::new();
    for bill in &bills {
        let wrong = differences(bill);
        match (OPEN.iter().find(|(name, _)| *name == bill.name), wrong.is_empty()) {
            (Some(_), true) => told.push(format!("{}: it is equal now", bill.name)),
            (None, false) => told.push(format!("{}: {}", bill.name, wrong.join("; "))),
            _ => {}
        }
    }
    let gone = OPEN.iter().filter(|(name, _)| bills.iter().all(|bill| bill.name != *name));
    told.extend(gone.map(|(name, _)| format!("{name}: there is no such bill")));
    println!("{} of {} bills are equal", bills.len() - OPEN.len(), bills.len());
    assert!(told.is_empty(), "{}", told.join("\n"));
}
