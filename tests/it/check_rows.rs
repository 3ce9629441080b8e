//! Tests the lines of `check --format ndjson`: they match their schema and the JSON of a check, and their sums agree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::Place;
use crate::schema::validate;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn examples() -> Vec<PathBuf> {
    let all = fs::read_dir(root().join("examples")).unwrap().map(|it| it.unwrap().path());
    all.filter(|it| it.is_dir()).collect()
}

fn check(directory: &Path, format: &str) -> String {
    let arguments = ["check", ".", "--today", "2026-11-26", "--prices", "embedded", "--format", format];
    let run = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(directory).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(matches!(run.status.code(), Some(0 | 1 | 3)), "{}: {said}", directory.display());
    String::from_utf8(run.stdout).unwrap()
}

fn rows(directory: &Path) -> Vec<Value> {
    check(directory, "ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of<'a>(rows: &'a [Value], kind: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["row"] == kind).collect()
}

fn micros(usd: &Value) -> Option<i64> {
    usd.as_f64().map(|usd| (usd * 1e6).round() as i64)
}

#[test]
fn every_line_is_as_its_schema_says_and_the_last_one_is_the_summary() {
    let mut seen = [0; 2];
    for example in examples() {
        let rows = rows(&example);
        rows.iter().for_each(|row| validate("rows", row));
        assert_eq!(rows.last().unwrap()["row"], "summary");
        assert_eq!(of(&rows, "summary").len(), 1);
        seen = [seen[0] + of(&rows, "resource").len(), seen[1] + of(&rows, "finding").len()];
    }
    assert!(seen.iter().all(|seen| *seen > 8), "{seen:?}");
}

#[test]
fn rows_say_what_the_json_of_a_check_says() {
    let mut saved = 0;
    for example in examples() {
        let (rows, json): (_, Value) = (rows(&example), serde_json::from_str(&check(&example, "json")).unwrap());
        let (resources, findings) = (of(&rows, "resource"), of(&rows, "finding"));
        assert_eq!(resources.len(), json["resources"].as_array().unwrap().len());
        for (row, it) in resources.iter().zip(json["resources"].as_array().unwrap()) {
            assert_eq!([&row["address"], &row["path"], &row["line"]], [&it["address"], &it["path"], &it["line"]]);
            for end in ["floor", "expected", "ceiling"] {
                assert_eq!(row[format!("{end}_micro_usd")].as_i64(), micros(&it["price"]["usd"][end]), "{row} {it}");
            }
        }
        assert_eq!(findings.len(), json["findings"].as_array().unwrap().len());
        for (row, it) in findings.iter().zip(json["findings"].as_array().unwrap()) {
            for key in ["rule", "fingerprint", "path", "line", "column", "address", "root", "run", "message"] {
                assert_eq!(row[key], it[key], "{key}");
            }
            assert_eq!(row["saves_expected_micro_usd"].as_i64(), micros(&it["saves_usd"]["expected"]));
        }
        let summary = rows.last().unwrap();
        for sum in ["rented", "requested", "combined"] {
            let said = summary[format!("{sum}_expected_micro_usd")].as_i64();
            assert_eq!(said, micros(&json["bill"][sum]["expected"]), "{sum}");
        }
        let adding = findings.iter().filter(|it| it["adds_up"] == true && it["saves_per"] == "month");
        let waste: i64 = adding.filter_map(|it| it["saves_expected_micro_usd"].as_i64()).sum();
        assert_eq!(summary["waste_micro_usd"].as_i64(), Some(waste));
        saved += waste;
    }
    assert!(saved > 0);
}

#[test]
fn accepted_findings_add_nothing_and_say_until_when() {
    let place = Place::new();
    place.write(
        "main.tf",
        "# gpulint: ignore[old-generation] until=2027-01-31 -- the driver is certified\n\
         resource \"aws_instance\" \"kept\" {\n  instance_type = \"p3.2xlarge\"\n}\n",
    );
    let rows = rows(place.directory());
    let accepted = of(&rows, "finding").into_iter().find(|it| it["rule"] == "old-generation").unwrap();
    assert_eq!(accepted["suppressed"], true);
    assert_eq!(accepted["suppressed_until"], "2027-01-31");
    assert_eq!(accepted["suppressed_reason"], "the driver is certified");
    assert_eq!(accepted["adds_up"], false);
}

#[test]
fn an_empty_tree_has_a_summary_that_says_so() {
    let place = Place::new();
    place.write("notes.txt", "nothing\n");
    let rows = rows(place.directory());
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["is_empty"], true);
    validate("rows", &rows[0]);
}

#[test]
fn what_was_not_read_is_a_row_and_a_change_has_none() {
    let place = Place::new();
    place.write("a/main.tf", "resource \"aws_instance\" \"a\" {\n  instance_type = \"p3.2xlarge\"\n");
    place.write("b/main.tf", "");
    let rows = rows(place.directory());
    assert!(rows.iter().any(|row| row["row"] == "unjudged" && row["path"] == "a/main.tf"), "{rows:?}");
    rows.iter().for_each(|row| validate("rows", row));
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    let run = command.current_dir(place.directory()).args(["diff", "--base-dir", "b", "a", "--format", "ndjson"]);
    let run = run.output().unwrap();
    assert_eq!(run.status.code(), Some(2), "{}", String::from_utf8_lossy(&run.stdout));
}
