//! Every format: what it writes, whether it is what others read, and that nothing hostile escapes from it.

use std::fs;
use std::path::{Path, PathBuf};

use gpulint::report::Format;
use serde_json::Value;

use crate::cli::Place;
use crate::fences;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// The repository that `case.md` describes.
fn place() -> Place {
    let case = fs::read_to_string(directory().join("case.md")).unwrap();
    let place = Place::new();
    for fence in fences::read(&case) {
        place.write(&fence.file.unwrap(), &fence.text);
    }
    place
}

fn written(place: &Place, format: Format) -> String {
    place.stdout(&["check", "--today", "2026-11-21", "--format", format.name()])
}

#[test]
fn every_format_writes_what_its_file_says() {
    let place = place();
    let mut wrong = Vec::new();
    for format in Format::ALL {
        let path = directory().join(format!("expected.{}", format.name()));
        let actual = written(&place, *format);
        if fences::blessing() {
            fs::write(&path, actual).unwrap();
        } else if fs::read_to_string(&path).ok().as_deref() != Some(actual.as_str()) {
            wrong.push(format!("{} should be:\n{actual}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nGPULINT_BLESS=1 rewrites them", wrong.join("\n"));
}

#[test]
fn sarif_passes_the_schema_of_its_standard() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schema/sarif-2.1.0.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for place in [place(), hostile_place()] {
        let log: Value = serde_json::from_str(&written(&place, Format::Sarif)).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path)).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert!(results.len() > 2);
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
            let fingerprint = &result["partialFingerprints"]["gpulint/v1"];
            let same = results.iter().filter(|other| other["partialFingerprints"]["gpulint/v1"] == *fingerprint);
            assert_eq!(same.count(), 1, "two results share a fingerprint");
        }
    }
}

/// Names that want to leave the report: into a terminal, a comment, a workflow, a document, a spreadsheet.
const HOSTILE: [&str; 9] = [
    "@everyone",
    "</details><script>alert(1)</script>",
    "``` \n::set-output name=x::y",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "[x](javascript:alert(1))",
    "a\u{202e}b\u{2066}c",
    "=HYPERLINK(\"http://x\")",
    "]]><!--",
    "%0A::error::x",
];

fn hostile_place() -> Place {
    let place = Place::new();
    for (number, name) in HOSTILE.iter().enumerate() {
        let quoted = serde_json::to_string(name).unwrap();
        let manifest = format!(
            "{{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": {{\"name\": {quoted}}}, \"spec\": {{\
             \"template\": {{\"spec\": {{\"nodeSelector\": {{\"node.kubernetes.io/instance-type\": \"p4d.24xlarge\"}}, \
             \"containers\": [{{\"name\": {quoted}, \"command\": [\"torchrun\", \"train.py\"], \
             \"resources\": {{\"limits\": {{\"nvidia.com/gpu\": 8}}}}}}]}}}}}}}}\n"
        );
        place.write(&format!("{number}.json"), &manifest);
    }
    place
}

#[test]
fn nothing_hostile_escapes_from_any_format() {
    let place = hostile_place();
    for format in Format::ALL {
        let text = written(&place, *format);
        let hostile = |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{2066}".contains(c);
        let escaped = text.chars().find(|c| hostile(*c));
        assert_eq!(escaped, None, "{format} lets {escaped:?} out:\n{text}");
        assert!(!text.lines().any(|line| line.starts_with("::set-output")), "{format}: a command of the repository");
        match format {
            Format::Json | Format::Sarif | Format::Gitlab => {
                serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{format}: {error}"));
            }
            Format::Markdown => {
                let text = without_code(&text);
                assert!(!text.contains("<script") && !text.contains("</details><"), "{text}");
                assert!(!text.contains("](javascript") && !text.contains("@everyone"), "{text}");
            }
            Format::Junit => assert!(!text.contains("<script") && !text.contains("]]>"), "{text}"),
            Format::Csv => assert!(!text.contains(",=HYPER") && !text.contains(",\"=HYPER"), "{text}"),
            _ => {}
        }
    }
}

/// Markdown without its code spans, in which nothing means anything. A span ends at as many ticks as it began with.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let escaped = rest[..start].ends_with('\\');
        let inside = &rest[start + ticks..];
        let fence = "`".repeat(ticks);
        let ends = |at: &usize| !inside[..*at].ends_with('`') && !inside[at + ticks..].starts_with('`');
        let end = inside.match_indices(&fence).map(|(at, _)| at).find(ends);
        plain.push_str(&rest[..start]);
        rest = match end {
            Some(end) if !escaped => &inside[end + ticks..],
            _ => inside,
        };
    }
    plain + rest
}

#[test]
fn several_formats_are_written_in_one_run() {
    let place = place();
    let said =
        place.stdout(&["--format", "sarif", "-o", "a.sarif", "--format", "concise", "--format", "csv", "-o", "a.csv"]);
    assert!(said.lines().last().unwrap().contains("warning"), "{said}");
    assert!(place.read("a.sarif").contains("\"2.1.0\""));
    assert!(place.read("a.csv").starts_with("rule,"));
}
