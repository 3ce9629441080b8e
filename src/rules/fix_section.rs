//! Describes the fix of a rule: how safe it is, what it sets, and an example with its difference.

use std::fmt::Write;

use super::Safety;
use super::example::{Example, unmarked};
use super::fences::examples;
use super::page::RuleFile;
use super::settings::Profile;
use super::yaml::{self, PageNode, PageValue};
use crate::inventory::Part;
use crate::source::unified;

/// The heading of the examples in a rule file, before which the section is inserted.
pub(super) const EXAMPLES: &str = "\n## Examples\n";

/// Returns the prose and the examples of a rule file, with the section about its fix.
pub fn body_with_fix(page: &RuleFile) -> String {
    let body = page.body().trim();
    let Some(section) = section(page) else { return body.to_owned() };
    match body.split_once(EXAMPLES) {
        Some((before, after)) => format!("{}\n\n{section}{EXAMPLES}{after}", before.trim_end()),
        None => format!("{body}\n\n{section}"),
    }
}

/// Returns the section, or `None` if the rule has no fix.
fn section(page: &RuleFile) -> Option<String> {
    let safety = page.speech().fix.as_ref()?.safety;
    let (meaning, options) = safety_in_words(safety);
    let mut text = format!("## Fix\n\n{meaning}\n");
    if let Some(options) = options {
        let profile = if page.profile == Profile::All { " --profile all" } else { "" };
        let _ = writeln!(text, "\n```sh\ngpulint check --fix{options} --only {}{profile}\n```", page.name);
    }
    let remedy = front(page).and_then(|front| entry(&front, "fix").cloned());
    if let Some(remedy) = remedy {
        let changes = changes(&remedy);
        if !changes.is_empty() {
            let _ = writeln!(text, "\nThe fix changes these facts:\n\n{}", changes.join("\n"));
        }
        let others: Vec<String> = pairs(&remedy, "or").into_iter().map(becomes).collect();
        if !others.is_empty() {
            let first = "If gpulint cannot write these, the fix changes the first of these that gpulint can write:";
            let _ = writeln!(text, "\n{first}\n\n{}", others.join("\n"));
        }
        let reasons =
            pairs(&remedy, "unless").iter().map(|(reason, _)| format!("- {}\n", one_line(reason))).collect::<String>();
        if !reasons.is_empty() {
            let _ = write!(text, "\ngpulint writes no fix in these cases:\n\n{reasons}");
        }
    }
    if let Some(difference) = examples(&page.text).iter().find_map(difference) {
        let fence = "`".repeat(longest_run(&difference).max(2) + 1);
        let _ = write!(text, "\nThe first example with a fix, before and after:\n\n{fence}diff\n{difference}{fence}\n");
    }
    Some(text)
}

/// Returns what the safety means, and the options that write the fix.
fn safety_in_words(safety: Safety) -> (&'static str, Option<&'static str>) {
    match safety {
        Safety::Safe => ("The fix of this rule is **safe**: it does not change how the workload runs.", Some("")),
        Safety::Unsafe => (
            "The fix of this rule is **unsafe**: it changes how the workload runs, so review it first.",
            Some(" --unsafe-fixes"),
        ),
        Safety::Display => (
            "gpulint only **shows** the fix of this rule, as a suggestion in reviews, SARIF and JSON. gpulint never writes the fix.",
            None,
        ),
    }
}

/// Returns the front matter of a rule file as a tree.
fn front(page: &RuleFile) -> Option<PageNode> {
    let (_, rest) = page.text.split_once("---")?;
    yaml::parse(rest.split("\n---").next()?).ok()
}

fn entry<'n>(node: &'n PageNode, name: &str) -> Option<&'n PageNode> {
    let PageValue::Map(entries) = &node.value else { return None };
    entries.iter().find(|(known, _)| known.text == name).map(|(_, node)| node)
}

/// Returns the entries of a mapping in a mapping.
fn pairs<'n>(node: &'n PageNode, name: &str) -> Vec<(&'n str, &'n PageNode)> {
    match entry(node, name).map(|node| &node.value) {
        Some(PageValue::Map(entries)) => entries.iter().map(|(name, node)| (&*name.text, node)).collect(),
        _ => Vec::new(),
    }
}

/// Returns one line of Markdown for each change that a fix requests.
fn changes(remedy: &PageNode) -> Vec<String> {
    let mut lines: Vec<String> = pairs(remedy, "set").into_iter().map(becomes).collect();
    let mut removed = Vec::new();
    if let Some(node) = entry(remedy, "unset") {
        node.texts(&mut removed);
    }
    lines.extend(removed.into_iter().map(|fact| format!("- {} is removed", fact_in_words(fact))));
    for (fact, value) in pairs(remedy, "follow") {
        lines.push(format!("- {} becomes {}, if the file sets it", fact_in_words(fact), value_in_words(value)));
    }
    if let Some(labels) = entry(remedy, "add").and_then(|added| entry(added, "labels")) {
        match &labels.value {
            PageValue::Map(labels) => lines.extend(labels.iter().map(|(name, value)| {
                format!("- the missing label {} becomes {}", code(&name.text), value_in_words(value))
            })),
            _ => lines.push("- the missing labels that the rule computes are added".to_owned()),
        }
    }
    lines
}

fn becomes((fact, value): (&str, &PageNode)) -> String {
    format!("- {} becomes {}", fact_in_words(fact), value_in_words(value))
}

fn fact_in_words(fact: &str) -> String {
    match Part::from_name(fact) {
        Some(Part::Floor) => "the minimum number".to_owned(),
        Some(Part::Ceiling) => "the maximum number".to_owned(),
        _ => code(fact),
    }
}

fn value_in_words(value: &PageNode) -> String {
    match &value.value {
        PageValue::Null => "nothing".to_owned(),
        PageValue::Flag(flag) => code(&flag.to_string()),
        PageValue::Integer(number) => code(&number.to_string()),
        PageValue::Number(number) => code(&number.to_string()),
        PageValue::Text(text) => match text.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            Some(expression) if !expression.contains(['{', '}']) => format!("the value of {}", code(expression)),
            _ => code(text),
        },
        PageValue::List(_) | PageValue::Map(_) => "the value in the rule file".to_owned(),
    }
}

/// Returns the difference that the fix makes in an example, without the names of the files.
fn difference(example: &Example) -> Option<String> {
    let fixed = example.fixed.first()?;
    let named = |path: &str| example.files.iter().find(|file| file.path == path);
    let file = match &fixed.path {
        Some(path) => named(path)?,
        None => example.files.first()?,
    };
    let difference = unified(&file.path, &unmarked(&file.text), &fixed.text);
    let hunks = difference.find("\n@@ ").and_then(|at| difference.get(at + 1..))?;
    Some(hunks.to_owned())
}

/// Returns a string as code in a line of Markdown.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{gap}{}{gap}{fence}", one_line(text))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}
