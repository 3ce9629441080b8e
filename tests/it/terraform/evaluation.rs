//! Tests the cases in `tests/terraform/evaluation/*.md`: code blocks with file paths, then the evaluated blocks.

use std::fmt::Write;
use std::path::Path;

use gpulint::inventory::Fact;
use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::terraform::{EvaluatedBlock, HclData, HclValue, TerraformOptions, read};

use crate::fences::{self, Fence};

/// One `##` section of a case file.
struct Case {
    name: String,
    files: Vec<(String, String)>,
    options: TerraformOptions,
    expected: Option<Fence>,
}

#[test]
fn blocks_are_evaluated_as_terraform_evaluates_them() {
    let mut failures = String::new();
    for path in fences::cases("tests/terraform/evaluation") {
        check_file(&path, &mut failures);
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Each configuration of `unknowns.md` has an unknown value with a cause, and no number.
#[test]
fn what_cannot_be_known_is_unknown_with_its_cause() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terraform/evaluation/unknowns.md");
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<Case> = sections(&text).into_iter().skip(1).map(parse).collect();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    for case in cases {
        let shown = evaluate(&case);
        let mut unknown = shown.lines().filter(|line| line.contains("unknown") || line.contains(" ? "));
        let cause = |line: &str| line.contains("unknown (") || line.contains("unknown: ") || line.contains(" ? ");
        assert!(unknown.next().is_some_and(cause), "{}: nothing is unknown in\n{shown}", case.name);
    }
}

fn check_file(path: &Path, failures: &mut String) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut blessed = String::new();
    for section in sections(&text) {
        let case = parse(section);
        let actual = evaluate(&case);
        match &case.expected {
            Some(expected) if expected.text == actual => blessed.push_str(section),
            Some(expected) if fences::blessing() => blessed.push_str(&fences::replaced(section, expected, &actual)),
            Some(expected) => {
                let place = path.display();
                let (name, expected) = (&case.name, &expected.text);
                let _ = writeln!(failures, "{place} `{name}`\n--- expected\n{expected}--- actual\n{actual}");
            }
            None => blessed.push_str(section),
        }
    }
    if fences::blessing() {
        std::fs::write(path, blessed).unwrap();
    }
}

/// Returns the text before the first `##` heading, then each heading with its section.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("\n## ").map(|(at, _)| at + 1).collect();
    starts.insert(0, 0);
    starts.push(text.len());
    starts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// Code blocks `hcl file=…` are files, an `options` block has lines such as `--var a=b`, and an `expected` block has
/// the result.
fn parse(section: &str) -> Case {
    let name = section.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
    let mut case = Case { name, files: Vec::new(), options: TerraformOptions::default(), expected: None };
    for fence in fences::read(section) {
        match (fence.language.as_str(), &fence.file) {
            (_, Some(path)) => case.files.push((path.clone(), fence.text)),
            ("options", None) => options(&fence.text, &mut case.options),
            ("expected", None) => case.expected = Some(fence),
            _ => {}
        }
    }
    case
}

fn options(text: &str, options: &mut TerraformOptions) {
    for line in text.lines() {
        let (flag, value) = line.split_once(' ').unwrap();
        let pair = || value.split_once('=').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        match flag {
            "--var" => options.variables.push(pair()),
            "--var-file" => options.variable_files.push(value.to_owned()),
            "--environment" => options.environment.push(pair()),
            "--workspace" => options.workspace = Some(value.to_owned()),
            "--root" => options.named_roots.push(value.to_owned()),
            "--modules-dir" => options.modules_directory = Some(value.to_owned()),
            other => panic!("unknown option {other}"),
        }
    }
}

fn evaluate(case: &Case) -> String {
    let mut tree = MemoryTree::new();
    for (path, text) in &case.files {
        tree = tree.with(path, text.as_str());
    }
    let sources = SourceFiles::new(tree);
    let seen = case.files.iter().map(|(path, _)| path).filter(|path| !path.starts_with('.'));
    let paths: Vec<String> = seen.cloned().collect();
    let reading = read(&sources, &paths, &case.options);
    let mut text = String::new();
    for block in &reading.blocks {
        write_block(&sources, block, "", &mut text);
    }
    for diagnostic in &reading.inventory.diagnostics {
        let place = diagnostic.span.map_or(String::new(), |span| {
            let at = sources.locate(span);
            format!("{}:{}:{}: ", at.path, at.line, at.column)
        });
        let _ = writeln!(text, "{place}{}: {}", diagnostic.level.name(), diagnostic.message);
    }
    text
}

fn write_block(sources: &SourceFiles, block: &EvaluatedBlock, indent: &str, into: &mut String) {
    let name = if block.address.is_empty() { &block.keyword } else { &block.address };
    let instances = match &block.instances {
        Fact::Unknown(unknown) => {
            let candidates: Vec<String> = unknown.candidates.iter().map(|range| range.expected.to_string()).collect();
            format!(" × unknown: {} [{}]", unknown.why, candidates.join(", "))
        }
        Fact::Known(known) if known.value.expected != 1.0 => format!(" × {}", known.value.expected),
        _ => String::new(),
    };
    let _ = writeln!(into, "{indent}{name}{instances}");
    let inner = format!("{indent}  ");
    for (name, attribute) in &block.attributes {
        let place = sources.locate(attribute.value.span);
        let value = show(&attribute.value);
        let _ = writeln!(into, "{inner}{name} = {value}  @{}:{}", place.path, place.line);
    }
    for (name, cause) in &block.open_blocks {
        let _ = writeln!(into, "{inner}{name} ? {}", cause.why);
    }
    for nested in &block.blocks {
        write_block(sources, nested, &inner, into);
    }
}

fn show(value: &HclValue) -> String {
    if value.sensitive {
        return "(sensitive)".into();
    }
    let list = |open: &str, items: &[HclValue], close: &str| {
        format!("{open}{}{close}", items.iter().map(show).collect::<Vec<_>>().join(", "))
    };
    match &value.data {
        HclData::Null => "null".into(),
        HclData::Bool(flag) => flag.to_string(),
        HclData::Number(number) => number.to_string(),
        HclData::Text(text) => format!("{text:?}"),
        HclData::List(items) | HclData::Tuple(items) => list("[", items, "]"),
        HclData::Set(items) => list("<", items, ">"),
        HclData::Map(entries) | HclData::Object(entries) => {
            let mut members: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key} = {}", show(value))).collect();
            members.extend(entries.rest.iter().map(|cause| format!("…({})", cause.why)));
            format!("{{{}}}", members.join(", "))
        }
        HclData::Unknown(cause) if cause.candidates.is_empty() => format!("unknown ({})", cause.why),
        HclData::Unknown(cause) => format!("unknown ({}) of {}", cause.why, list("[", &cause.candidates, "]")),
    }
}
