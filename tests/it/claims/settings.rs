//! Settings on pages exist, and their values are accepted.

use std::collections::BTreeSet;

use gpulint::source::{MemoryTree, SourceFiles};

use super::{demand_none, pages, read, spans};
use crate::fences;

/// The first lines of TOML code blocks that are not a `gpulint.toml`.
const OTHER_FILES: [&str; 10] = [
    "[[type.",
    "[types.",
    "[[kind]]",
    "[[module.",
    "[[cluster]]",
    "[mcp_servers.gpulint]",
    "[language-server.gpulint]",
    "completions = ",
    "write.purchase.spot = ",
    "[package",
];

#[test]
fn settings_in_code_blocks_are_accepted() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        let blocks = fences::read(&page.text);
        for fence in blocks.iter().filter(|it| it.language == "toml") {
            if OTHER_FILES.iter().any(|it| fence.text.trim_start().starts_with(it)) {
                continue;
            }
            count += 1;
            let tree = MemoryTree::new().with("gpulint.toml", fence.text.as_str());
            let (_, refused) =
                gpulint::config::load(&SourceFiles::new(tree), "gpulint.toml", env!("CARGO_PKG_VERSION"));
            wrong.extend(refused.iter().map(|it| format!("{}: {}", page.path, it.message)));
        }
    }
    assert!(count > 25, "only {count} blocks");
    demand_none(&wrong, "settings that gpulint refuses");
}

/// The ends of file names, such as `prices.csv`, which look like settings.
const FILES: [&str; 4] = [".csv", ".yml", ".ts", ".sig"];

/// Tables whose keys are also facts of rules, so that `labels.team` may be one.
const ALSO_FACTS: [&str; 3] = ["labels", "rules", "usage"];

#[test]
fn settings_in_sentences_exist() {
    // A test compares this page with the table of the program.
    let text = read("docs/settings.md");
    let cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let known: BTreeSet<String> = cells.map(|it| it.replace("[]", "")).collect();
    let tables: BTreeSet<&str> = known.iter().filter_map(|it| Some(it.split_once('.')?.0)).collect();
    assert!(known.len() > 120 && tables.len() > 20, "{} settings", known.len());
    let exists = |name: &str| {
        let (table, key) = name.split_once('.').unwrap_or((name, ""));
        let is_table = known.iter().any(|it| it.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')));
        known.contains(name) || is_table || !key.is_empty() && known.contains(&format!("{table}.*"))
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        for (line, code) in spans(&page.text) {
            let list = code.strip_prefix("[[").and_then(|it| it.split("]]").next());
            let first = code.split([' ', '=', '(', '"']).next().unwrap_or_default().trim_end_matches('.');
            let is_key = first
                .split('.')
                .all(|it| !it.is_empty() && it.chars().all(|c| c.is_ascii_lowercase() || "_-".contains(c)));
            let dotted =
                first.split_once('.').filter(|(table, _)| tables.contains(table) && !ALSO_FACTS.contains(table));
            let name = list.or(dotted.filter(|_| is_key).map(|_| first));
            let is_entry = |it: &&str| ["module", "type", "kind", "device"].iter().any(|entry| it.starts_with(entry));
            let is_file = |it: &&str| FILES.iter().any(|end| it.ends_with(end));
            let Some(name) = name.filter(|it| !is_entry(it) && !is_file(it)) else { continue };
            count += 1;
            if !exists(name) && !is_fact(name) {
                wrong.push(format!("{}:{line}: there is no setting `{name}`: `{code}`", page.path));
            }
        }
    }
    assert!(count > 60, "only {count} settings");
    demand_none(&wrong, "settings that do not exist");
}

/// Returns whether a name is a fact for rules. A test compares this page with the program, too.
fn is_fact(name: &str) -> bool {
    read("docs/facts.md").contains(&format!("`{name}`"))
}
