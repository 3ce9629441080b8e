//! Tests the terminal output: at most one screen, in any width, with and without colors and line drawing, and without
//! repetitions.

use std::collections::HashMap;
use std::process::Command;

use crate::cli::Place;

/// Creates many machines of several kinds, a block that creates many, and files that repeat each other.
fn many(place: &Place) {
    let machine = |name: &str, kind: &str, more: &str| {
        format!(
            "resource \"aws_instance\" \"{name}\" {{\n  ami           = \"ami-1\"\n  instance_type = \"{kind}\"\n{more}}}\n"
        )
    };
    place.write("block/main.tf", &machine("train", "p4d.24xlarge", "  count = 64\n"));
    for (number, kind) in ["g5.xlarge", "g5.12xlarge", "p5.48xlarge", "g6.xlarge"].iter().cycle().take(70).enumerate() {
        place.write(&format!("live/{number}/main.tf"), &machine(&format!("m{number}"), kind, ""));
    }
    for number in 0..70 {
        place.write(&format!("jobs/{number}.yaml"), &format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: job-{number} }}\nspec:\n  template:\n    spec:\n      containers:\n        - name: c\n          image: acme/job\n          resources: {{ limits: {{ nvidia.com/gpu: 1 }} }}\n"
        ));
    }
}

fn shown(place: &Place, columns: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).args(["--prices", "embedded", "--today", "2026-11-24", "--no-config"]);
    let done = command.current_dir(place.directory()).env("COLUMNS", columns).output().unwrap();
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Returns repeated lines, except lines of files and drawn lines.
fn repeated(text: &str) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for line in text.lines().map(str::trim) {
        let is_drawn = line.contains(['│', '·', '╭', '╰']);
        let is_code = line.split_once(' ').is_some_and(|(number, _)| number.parse::<usize>().is_ok());
        if !line.is_empty() && !is_drawn && !is_code {
            *times.entry(line).or_default() += 1;
        }
    }
    times.into_iter().filter(|(_, times)| *times > 1).map(|(line, _)| line.to_owned()).collect()
}

#[test]
fn a_screen_is_enough_and_says_what_it_does_not_show() {
    let place = Place::new();
    many(&place);
    // Without a number of columns, lines are not wrapped.
    for columns in ["60", "110", "200", ""] {
        let text = shown(&place, columns, &["check", "."]);
        assert!(text.lines().count() <= 50, "{columns}: {}\n{text}", text.lines().count());
        assert!(text.lines().next().is_some_and(|line| line.starts_with("GPU cost ")), "{text}");
        assert!(text.contains("--all shows everything"), "{text}");
        // Wrapped lines may start alike.
        let is_whole = columns == "200";
        assert!(!is_whole || repeated(&text).is_empty(), "{:?}\n{text}", repeated(&text));
        // One entry for sixty-four machines of one text.
        assert!(text.contains("the same 63 more times here"), "{text}");
        let all = shown(&place, columns, &["check", "--all", "."]);
        assert!(!is_whole || repeated(&all).is_empty(), "{:?}", repeated(&all));
        assert!(!all.contains("not shown") && all.lines().count() > 80, "{}", all.lines().count());
    }
}

#[test]
fn the_first_lines_hold_the_largest_savings() {
    let place = Place::new();
    many(&place);
    let top = shown(&place, "110", &["check", "--top", "1", "--plain", "."]);
    // The saving of sixty-four machines at $16,000 is larger than that of seventeen at $40,000.
    assert!(top.contains("  at block/main.tf:1: ") && top.contains("all 64 save ~$720,545/month"), "{top}");
    let by_path = shown(&place, "110", &["check", "--all", "--sort", "path", "--plain", "."]);
    let places: Vec<&str> = by_path.lines().filter_map(|line| line.strip_prefix("  at ")).collect();
    let files: Vec<&str> = places.iter().filter_map(|place| place.split(':').next()).collect();
    assert!(files.is_sorted(), "{files:?}");
    let grouped = shown(&place, "110", &["check", "--group-by", "rule", "--all", "."]);
    assert!(grouped.contains("missing-auto-shutdown: ") && grouped.contains("possible savings up to "), "{grouped}");
}

#[test]
fn plain_text_has_no_drawing_and_quiet_text_only_sums() {
    let place = Place::new();
    many(&place);
    let plain = shown(&place, "110", &["check", "--plain", "."]);
    assert!(plain.chars().all(|c| !('\u{2500}'..='\u{27bf}').contains(&c) && c != '\u{1b}'), "{plain}");
    assert!(plain.contains("warning: ") && plain.contains("  at block/main.tf:1: resource "), "{plain}");
    let colored = shown(&place, "110", &["check", "--color", "always", "."]);
    assert!(colored.contains("\u{1b}[1mGPU cost"), "{colored}");
    let quiet = shown(&place, "110", &["check", "--quiet", "."]);
    assert!(quiet.lines().count() <= 5 && quiet.contains("warnings"), "{quiet}");
}

/// Each failing finding is shown, or counted in the line about findings that are not shown.
#[test]
fn no_finding_that_fails_is_hidden_without_a_word() {
    let place = Place::new();
    many(&place);
    let json: serde_json::Value =
        serde_json::from_str(&shown(&place, "110", &["check", "--format", "json", "."])).unwrap();
    let failing = json["findings"].as_array().unwrap().iter().filter(|it| it["level"] != "note").count();
    for top in ["0", "1", "7"] {
        let text = shown(&place, "110", &["check", "--top", top, "--plain", "."]);
        let told = text.lines().filter(|line| line.starts_with("warning: ") || line.starts_with("error: ")).count();
        let more: usize = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("the same ").or(line.trim().strip_prefix("and ")))
            .filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok())
            .sum();
        let line = text.lines().find(|line| line.starts_with("not shown: ") && line.contains("--all"));
        let counts = line.into_iter().flat_map(|line| line.split([' ', ',', ';']));
        let hidden: usize = counts.filter_map(|word| word.parse::<usize>().ok()).sum();
        assert_eq!(told + more + hidden, failing, "{text}");
    }
}
