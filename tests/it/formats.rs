//! Tests every output format: its content, its validity for readers, and its escaping of malicious names.

use std::fs;
use std::path::{Path, PathBuf};

use gpulint::report::{Format, FormatSyntax};
use serde_json::Value;

use crate::cli::Place;
use crate::fences;
use crate::skipped::skip;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// Returns the repository that `case.md` describes.
fn place() -> Place {
    let case = fs::read_to_string(directory().join("case.md")).unwrap();
    let place = Place::new();
    for fence in fences::read(&case) {
        place.write(&fence.file.unwrap(), &fence.text);
    }
    place
}

/// Returns the formats that contain findings. The others contain bills.
fn formats() -> impl Iterator<Item = &'static Format> {
    Format::ALL.iter().filter(|format| format.row().has_findings())
}

fn written(place: &Place, format: Format) -> String {
    place.stdout(&["check", "--today", "2026-11-21", "--format", format.name()])
}

#[test]
fn every_format_writes_what_its_file_says() {
    let place = place();
    let mut wrong = Vec::new();
    for format in formats() {
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
fn the_documentation_names_every_format() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, after) = page.split_once("| format | for |\n|---|---|\n").expect("the table of formats");
    let (table, after) = after.split_once("\n\n").unwrap();
    let others = Format::ALL.iter().filter(|format| !matches!(format, Format::Text | Format::Json));
    let missing = others.map(|it| it.row()).filter(|it| !table.contains(&format!("`{}`", it.name)));
    let rows: Vec<String> = missing.map(|it| format!("\n| `{}` | {} |", it.name, it.meaning)).collect();
    if fences::blessing() && !rows.is_empty() {
        let table = format!("| format | for |\n|---|---|\n{table}{}", rows.concat());
        return fs::write(&path, format!("{before}{table}\n\n{after}")).unwrap();
    }
    assert!(rows.is_empty(), "docs/json.md needs these rows; GPULINT_BLESS=1 adds them: {}", rows.concat());
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

/// Names that try to inject into the report: into a terminal, a comment, a workflow, a document, a spreadsheet.
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

/// A change that adds thousands of findings with long malicious names. The comment stays below the limits of code
/// hosts.
#[test]
fn a_comment_about_thousands_of_findings_is_cut_in_the_stated_order() {
    let place = Place::new();
    let job = |n: usize| {
        let name = serde_json::to_string(&format!("{n}{}", HOSTILE[n % HOSTILE.len()].repeat(8))).unwrap();
        format!(
            "{{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": {{\"name\": {name}}}, \"spec\": {{\
             \"template\": {{\"spec\": {{ \
             \"containers\": [{{\"name\": \"c\", \"command\": [\"torchrun\", \"train.py\"], \
             \"resources\": {{\"limits\": {{\"nvidia.com/gpu\": {}}}}}}}]}}}}}}}}\n---\n",
            n + 1
        )
    };
    // Each requests another number, because equal messages would be merged.
    let write = |side: &str, numbers: std::ops::Range<usize>| {
        for n in numbers.step_by(2) {
            place.write(&format!("{side}/{n}.yaml"), &format!("{}{}", job(n), job(n + 1)));
        }
    };
    write("before", 0..100);
    write("before", 2_000..2_400);
    write("after", 0..1_600);
    let diff = ["diff", "--base-dir", "before", "after", "--today", "2026-11-21", "--format"];
    let comment = place.stdout(&[&diff[..], &["markdown"]].concat());
    let found: Value = serde_json::from_str(&place.stdout(&[&diff[..], &["json"]].concat())).unwrap();
    assert!(found["new"].as_array().unwrap().len() >= 3_000, "{}", found["new"].as_array().unwrap().len());
    let length = comment.chars().count();
    assert!(length < 60_000, "{length} characters");
    assert!(length > 50_000, "{length} characters: more was cut than had to be");
    // Fixed findings are removed first, then details, then new findings from the last one on. Headline, table and gate
    // stay.
    assert!(comment.starts_with("### GPU cost"));
    assert!(comment.contains("fixed; the full report lists them."), "{comment}");
    assert!(!comment.contains("<details>"), "details are cut before findings");
    assert!(comment.contains("more; the full report lists them"));
    assert!(comment.trim_end().ends_with("`fail-on = \"warning\", fail-confidence = \"medium\"`"), "{comment}");
    let plain = without_code(&comment);
    assert!(!plain.contains("<script") && !plain.contains("](javascript") && !plain.contains("@everyone"), "{plain}");
}

/// A value of one megabyte is repeated in no format.
#[test]
fn a_name_of_a_megabyte_does_not_drown_a_report() {
    let place = Place::new();
    let name = "x".repeat(1 << 20);
    place.write(
        "job.yaml",
        &format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: \"{name}\" }}\nspec:\n  template:\n    spec:\n      \
             nodeSelector: {{ node.kubernetes.io/instance-type: p3.2xlarge }}\n      containers:\n        - name: c\n          \
             resources: {{ limits: {{ nvidia.com/gpu: 1 }} }}\n"
        ),
    );
    for format in formats() {
        let text = written(&place, *format);
        // JSON is data and contains the full value.
        let limit = if matches!(format, Format::Json | Format::Ndjson) { usize::MAX } else { 1 << 20 };
        assert!(text.len() < limit, "{format} has {} bytes", text.len());
    }
}

/// A public validator (npm: `@microsoft/sarif-multitool-linux`) reports no errors, and only one warning.
#[test]
fn sarif_passes_a_public_validator() {
    let Some(tool) = std::env::var_os("GPULINT_SARIF_MULTITOOL") else {
        return skip("GPULINT_SARIF_MULTITOOL names no validator");
    };
    for place in [place(), hostile_place()] {
        place.write("gpulint.sarif", &written(&place, Format::Sarif));
        let mut command = std::process::Command::new(&tool);
        command.current_dir(place.directory()).env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
        command.args(["validate", "gpulint.sarif", "--rule-kind", "Sarif;Ghas"]);
        command.args(["--output", "validated.sarif", "--log", "ForceOverwrite"]);
        let run = command.output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(said.contains("Analysis completed successfully."), "{said}");
        // The validator cannot know the program's documentation page before publication.
        let wrong: Vec<&str> =
            said.lines().filter(|line| line.contains(": error ") || line.contains(": warning ")).collect();
        let wrong: Vec<&&str> = wrong.iter().filter(|line| !line.contains("SARIF2005")).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

fn hostile_place() -> Place {
    let place = Place::new();
    for (number, name) in HOSTILE.iter().enumerate() {
        let quoted = serde_json::to_string(name).unwrap();
        let manifest = format!(
            "{{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": {{\"name\": {quoted}}}, \"spec\": {{\
             \"template\": {{\"spec\": {{ \
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
    for format in formats() {
        let text = written(&place, *format);
        let hostile = |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{2066}".contains(c);
        let escaped = text.chars().find(|c| hostile(*c));
        assert_eq!(escaped, None, "{format} lets {escaped:?} out:\n{text}");
        assert!(!text.lines().any(|line| line.starts_with("::set-output")), "{format}: a command of the repository");
        match format.row().syntax {
            FormatSyntax::Json => {
                serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{format}: {error}"));
            }
            FormatSyntax::JsonLines => {
                let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
                lines.unwrap_or_else(|error| panic!("{format}: {error}"));
            }
            FormatSyntax::Markdown => {
                let text = without_code(&text);
                assert!(!text.contains("<script") && !text.contains("</details><"), "{text}");
                assert!(!text.contains("](javascript") && !text.contains("@everyone"), "{text}");
            }
            FormatSyntax::Xml => assert!(!text.contains("<script") && !text.contains("]]>"), "{text}"),
            FormatSyntax::Html => assert!(!text.contains("<script>alert"), "{text}"),
            FormatSyntax::Csv => assert!(!text.contains(",=HYPER") && !text.contains(",\"=HYPER"), "{text}"),
            FormatSyntax::Text | FormatSyntax::Commands => {}
        }
    }
}

#[test]
fn prices_of_a_repository_move_no_cursor() {
    let place = Place::new();
    place.write(
        "gpulint.toml",
        "[prices]\nfile = \"own.csv\"\n[[hardware]]\naccelerator = \"*\"\nusd_per_gpu_hour = 1\n",
    );
    let header = "provider,machine,accelerator,accelerator_count,region,on_demand_usd_per_hour,spot_usd_per_hour";
    place.write("own.csv", &format!("{header}\nmy\u{1b}[31mcloud\u{202e},m\u{7},H100-80GB,4,d\u{1b}]0;x,6.5,2\n"));
    for arguments in [&["price", "H100"][..], &["price", "H100", "--hours", "10"], &["price", "m\u{7}"]] {
        let said = place.stdout(arguments);
        assert!(said.contains("cloud"), "{arguments:?}: {said}");
        let is_hostile = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert_eq!(said.chars().find(|c| is_hostile(*c)), None, "{arguments:?}: {said:?}");
    }
}

/// Returns Markdown without its code spans, in which markup has no effect. A span ends with as many backticks as it
/// starts with.
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

#[test]
fn what_code_hosts_read_names_files_from_the_root_of_the_repository() {
    let place = place();
    place.write("infra/pool.tf", "resource \"aws_instance\" \"a\" {\n  instance_type = \"p3.2xlarge\"\n}\n");
    place.write(".git/", "");
    let hosts = Format::ALL.iter().filter(|format| format.row().has_host_paths);
    for format in hosts.chain([&Format::Concise]) {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.current_dir(place.directory().join("infra")).args(["check", "--format", format.name()]);
        let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert_eq!(text.contains("infra/pool.tf"), format.row().has_host_paths, "{format}: {text}");
    }
}

#[test]
fn sarif_of_a_change_says_what_was_there_before() {
    let place = Place::new();
    let machine =
        |name: &str| format!("resource \"aws_instance\" \"{name}\" {{\n  instance_type = \"p3.2xlarge\"\n}}\n");
    place.write("before/main.tf", &machine("old"));
    let accepted = machine("accepted").replace("{\n", "{ # gpulint: ignore[old-generation] -- certified\n");
    place.write("after/main.tf", &format!("{}{}{accepted}", machine("old"), machine("new")));
    let diff = ["diff", "--base-dir", "before", "after", "--select", "old-generation", "--format", "sarif"];
    let log: Value = serde_json::from_str(&place.stdout(&diff)).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let told: Vec<(&str, usize)> = results
        .iter()
        .map(|it| (it["baselineState"].as_str().unwrap(), it["suppressions"].as_array().unwrap().len()))
        .collect();
    assert_eq!(told, [("unchanged", 0), ("new", 0), ("new", 1)]);
}
