//! Tests each kind of waste with a minimal example, the expected finding, and a twin without a finding.
//!
//! `tests/levers/open.txt` lists the examples that do not work yet. `GPULINT_BLESS=1` removes an example that works,
//! and never adds one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use serde_json::Value;

use crate::cli::Place;
use crate::fences::{self, Fence};

const OPEN: &str = "tests/levers/open.txt";
/// Messages that are not findings, by the word before the colon.
const TOLD: [&str; 3] = ["told", "unpriced", "not judged"];

struct Lever {
    waste: Vec<Fence>,
    twin: Vec<Fence>,
    reports: Vec<String>,
    silent: Vec<String>,
}

impl Lever {
    fn read(case: &str) -> Lever {
        let part = |title: &str| {
            let start = case.find(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("no `## {title}`: {case}"));
            let rest = &case[start + 4..];
            rest[..rest.find("\n## ").map_or(rest.len(), |end| end + 1)].to_owned()
        };
        let list = |title: &str| {
            part(title).lines().filter_map(|line| line.strip_prefix("- ").map(str::to_owned)).collect::<Vec<_>>()
        };
        Lever {
            waste: fences::read(&part("The waste")),
            twin: fences::read(&part("Its twin")),
            reports: list("Reports"),
            silent: list("Silent"),
        }
    }

    /// Returns the differences from the case.
    fn wrong(&self) -> Vec<String> {
        let (waste, twin) = (Said::of(&self.waste), Said::of(&self.twin));
        let mut wrong: Vec<String> = self
            .reports
            .iter()
            .filter(|report| match told(report) {
                Some(words) => !waste.text.contains(&words),
                None => !waste.findings.contains(*report),
            })
            .map(|report| format!("{report} is missing among {:?}", waste.findings))
            .collect();
        wrong.extend(self.silent.iter().filter_map(|silent| match told(silent) {
            Some(words) => twin.text.contains(&words).then(|| format!("the twin is told: {words}")),
            None => {
                let own = twin.findings.iter().find(|it| it.split(" at ").next() == Some(silent))?;
                Some(format!("the twin has {own}"))
            }
        }));
        if twin.findings.iter().any(|it| it.starts_with("unreadable ")) {
            wrong.push("the twin cannot be read".to_owned());
        }
        wrong
    }
}

/// Returns the text of a message that is not a finding.
fn told(line: &str) -> Option<String> {
    let (kind, words) = line.split_once(':')?;
    TOLD.contains(&kind).then(|| words.trim().to_lowercase())
}

/// The messages about an example.
struct Said {
    /// `rule at path:line`
    findings: BTreeSet<String>,
    text: String,
}

impl Said {
    fn of(files: &[Fence]) -> Said {
        let place = Place::new();
        for it in files {
            place.write(it.file.as_deref().expect("a fence has `file=`"), &it.text);
        }
        let run = |arguments: &[&str]| {
            let shared =
                ["check", ".", "--profile", "all", "--today", "2026-11-25", "--prices", "embedded", "--allow-empty"];
            place.stdout(&[&shared, arguments].concat())
        };
        let json: Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
        let mut findings = BTreeSet::new();
        for it in json["findings"].as_array().unwrap() {
            let at = |it: &Value| format!("{}:{}", it["path"].as_str().unwrap(), it["line"]);
            findings.insert(format!("{} at {}", it["rule"].as_str().unwrap(), at(it)));
            for related in it["related"].as_array().into_iter().flatten() {
                let rule = related["message"].as_str().and_then(|it| it.strip_prefix("also ")?.split_once(':'));
                findings.extend(rule.map(|(rule, _)| format!("{rule} at {}", at(related))));
            }
        }
        Said { findings, text: run(&["--all", "--plain", "-v"]).to_lowercase() }
    }
}

#[test]
fn every_lever_speaks_and_its_twin_is_silent() {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join(OPEN);
    let open = fs::read_to_string(&list).unwrap();
    let open: BTreeSet<&str> = open.lines().collect();
    let cases = fences::cases("tests/levers");
    let judged: Vec<(String, Vec<String>)> = cases
        .par_iter()
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (name, Lever::read(&fs::read_to_string(file).unwrap()).wrong())
        })
        .collect();
    let still: Vec<&str> =
        judged.iter().filter(|(_, wrong)| !wrong.is_empty()).map(|(name, _)| name.as_str()).collect();
    let broken: Vec<_> =
        judged.iter().filter(|(name, wrong)| !wrong.is_empty() && !open.contains(name.as_str())).collect();
    assert!(broken.is_empty(), "{broken:#?}");
    let mended: Vec<&&str> = open.iter().filter(|name| !still.contains(*name)).collect();
    if fences::blessing() {
        fs::write(&list, still.iter().map(|name| format!("{name}\n")).collect::<String>()).unwrap();
    } else {
        assert!(mended.is_empty(), "these work now, or are gone: take them out of {OPEN}: {mended:?}");
    }
}
