//! Lists the facts and functions for rule conditions, and the rules.

use std::fmt::Write;

use serde::Serialize;

use crate::report::Format;
use crate::report::formats::json;
use crate::report::formats::text::TextTable;
use crate::rules::{Rules, VocabularyEntry, link};

#[derive(Serialize)]
struct Words<'a> {
    version: u32,
    facts: Vec<Word<'a>>,
    functions: Vec<Word<'a>>,
}

#[derive(Serialize)]
struct Word<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    r#type: &'a str,
    meaning: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    values: &'a [&'static str],
}

/// Returns facts and functions in a format; `None` if the command does not support the format.
pub fn vocabulary(format: Format, facts: &[VocabularyEntry], functions: &[VocabularyEntry]) -> Option<String> {
    match format {
        Format::Text => Some(words_as_text(facts, functions)),
        Format::Json => {
            let (facts, functions) = (facts.iter().map(word).collect(), functions.iter().map(word).collect());
            Some(json::print(&Words { version: json::VERSION, facts, functions }))
        }
        Format::Markdown => Some(words_as_markdown(facts, functions)),
        _ => None,
    }
}

fn word(entry: &VocabularyEntry) -> Word<'_> {
    Word { name: &entry.name, r#type: &entry.holds, meaning: &entry.meaning, values: &entry.values }
}

/// Returns the meaning, with the values that it may have.
fn meaning(entry: &VocabularyEntry) -> String {
    match entry.values.as_slice() {
        [] => entry.meaning.clone(),
        values if values.iter().all(|value| entry.meaning.contains(value)) => entry.meaning.clone(),
        values => format!("{} ({})", entry.meaning, values.join(", ")),
    }
}

fn words_as_text(facts: &[VocabularyEntry], functions: &[VocabularyEntry]) -> String {
    let mut table = TextTable::new(&["fact", "type", "meaning"], 0..0);
    for entry in facts {
        table.row(vec![entry.name.clone(), entry.holds.clone(), meaning(entry)]);
    }
    let mut calls = TextTable::new(&["function", "meaning"], 0..0);
    for entry in functions {
        calls.row(vec![entry.name.clone(), meaning(entry)]);
    }
    format!("{}\n{}", table.print(), calls.print())
}

fn words_as_markdown(facts: &[VocabularyEntry], functions: &[VocabularyEntry]) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
    let mut text = String::from("| fact | type | meaning |\n|---|---|---|\n");
    for entry in facts {
        let _ = writeln!(text, "| `{}` | {} | {} |", cell(&entry.name), cell(&entry.holds), cell(&meaning(entry)));
    }
    text.push_str("\n| function | meaning |\n|---|---|\n");
    for entry in functions {
        let _ = writeln!(text, "| `{}` | {} |", cell(&entry.name), cell(&meaning(entry)));
    }
    text
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    group: &'a str,
    layer: &'static str,
    level: &'static str,
    risk: &'static str,
    profile: &'static str,
    on: bool,
    summary: &'a str,
}

/// Returns every rule, and whether it is on; `None` if the command does not support the format.
pub fn rules(format: Format, rules: &Rules) -> Option<String> {
    let listed: Vec<Listed> = rules
        .pages()
        .iter()
        .map(|page| Listed {
            name: &page.name,
            group: &page.group,
            layer: page.layer.name(),
            level: page.level.name(),
            risk: page.risk.name(),
            profile: page.profile.name(),
            on: rules.is_on(&page.name),
            summary: page.summary(),
        })
        .collect();
    match format {
        Format::Json => Some(json::print(&listed)),
        Format::Text => {
            let mut table =
                TextTable::new(&["rule", "group", "layer", "level", "risk", "profile", "", "what it finds"], 0..0);
            for it in &listed {
                let on = if it.on { "on" } else { "off" };
                let cells = [it.name, it.group, it.layer, it.level, it.risk, it.profile, on, it.summary];
                table.row(cells.map(str::to_owned).to_vec());
            }
            Some(table.print())
        }
        Format::Markdown => {
            let mut text = String::from(
                "| rule | group | layer | level | risk | profile | what it finds |\n|---|---|---|---|---|---|---|\n",
            );
            for it in &listed {
                let name = match link(it.name) {
                    Some(page) => format!("[`{}`]({page})", it.name),
                    None => format!("`{}`", it.name),
                };
                let columns = [it.group, it.layer, it.level, it.risk, it.profile, it.summary].join(" | ");
                let _ = writeln!(text, "| {name} | {columns} |");
            }
            Some(text)
        }
        _ => None,
    }
}
