//! Writes documentation of rules: one Markdown file for each rule, and one that lists them.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::fix_section::{EXAMPLES, body_with_fix};
use super::page::RuleFile;
use super::set::BUILT_IN;

/// The address at which `docs` is published as a book. All links to the book start with it.
const BOOK: &str = "https://gpulint.github.io/gpulint";

/// Returns the address of a page in the book, by its path in `docs` without the extension.
pub fn in_the_book(page: &str) -> String {
    format!("{BOOK}/{page}.html")
}

/// Returns the address of a built-in rule's documentation. Custom rules are not published.
pub fn link(rule: &str) -> Option<String> {
    let is_built_in =
        |(path, _): &(&str, &str)| path.strip_prefix("rules/").and_then(|it| it.strip_suffix(".md")) == Some(rule);
    BUILT_IN.iter().any(is_built_in).then(|| in_the_book(&format!("rules/{rule}")))
}

/// The first words of each generated file.
pub const WRITTEN_FROM: &str = "<!-- written from ";

/// Explains the marks in the examples to readers.
const MARKS: &str = "A line that ends with `# <- reported` has a finding, and a line that ends with `# <- undetermined` cannot be \
 evaluated. All other lines have no finding";

/// Returns the documentation of a built-in rule.
pub fn document(page: &RuleFile) -> String {
    written(page, &format!("rules/{}.md", page.name), "../own-rules/testing.md")
}

/// Returns the documentation of a custom rule; `from` is its file.
pub fn document_of(page: &RuleFile, from: &str) -> String {
    written(page, from, &in_the_book("own-rules/testing"))
}

/// Formats a rule file as documentation: its prose, its examples and a table of its properties.
fn written(page: &RuleFile, from: &str, testing: &str) -> String {
    let body = body_with_fix(page);
    let (title, rest) = body.split_once('\n').unwrap_or((&body, ""));
    let mut text = format!("{WRITTEN_FROM}{}; change that file -->\n\n{title}\n\n", from.replace("--", "- -"));
    let _ = writeln!(text, "| group | layer | level | risk | profile |\n|---|---|---|---|---|");
    let (layer, level, risk, profile) = (page.layer.name(), page.level.name(), page.risk.name(), page.profile.name());
    let _ = writeln!(text, "| {} | {layer} | {level} | {risk} | {profile} |", page.group);
    let _ = writeln!(
        text,
        "\n{}",
        rest.trim().replacen(EXAMPLES, &format!("{EXAMPLES}\n{MARKS} ([how examples are tested]({testing})).\n"), 1)
    );
    if !page.parameters.is_empty() {
        text.push_str("\n## Parameters\n\n| parameter | default | meaning |\n|---|---|---|\n");
        for parameter in &page.parameters {
            let default = parameter.text().replace('|', "\\|");
            let _ =
                writeln!(text, "| `{}` | `{default}` | {} |", parameter.name, parameter.meaning.replace('|', "\\|"));
        }
        let _ = writeln!(text, "\nSet them in `gpulint.toml` under `[rules.{}]`.", page.name);
    }
    text
}

/// Returns the list of all built-in rules by group, with links to their documentation.
pub fn contents(pages: &[RuleFile]) -> String {
    let head = format!(
        "{WRITTEN_FROM}the files of rules/; change those -->\n\n# Rules\n\nThe profile `standard` applies unless you set another one. \
         `essential` has only the rules that few teams dispute. `all` adds advice that does not suit every team.\n"
    );
    listed(head, &pages.iter().collect::<Vec<_>>())
}

/// Returns the list of a team's custom rules.
pub fn contents_of(pages: &[&RuleFile]) -> String {
    listed(format!("{WRITTEN_FROM}the files of these rules; change those -->\n\n# Rules\n"), pages)
}

fn listed(mut text: String, pages: &[&RuleFile]) -> String {
    let mut groups: BTreeMap<&str, Vec<&RuleFile>> = BTreeMap::new();
    for page in pages.iter().copied() {
        groups.entry(&page.group).or_default().push(page);
    }
    for (group, pages) in groups {
        let _ = writeln!(text, "\n## {group}\n\n| rule | level | risk | profile | problem |\n|---|---|---|---|---|");
        for page in pages {
            let (level, risk, profile) = (page.level.name(), page.risk.name(), page.profile.name());
            let _ =
                writeln!(text, "| [`{0}`]({0}.md) | {level} | {risk} | {profile} | {1} |", page.name, page.summary());
        }
    }
    text
}
