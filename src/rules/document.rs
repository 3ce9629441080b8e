//! Pages as documentation: one Markdown file a rule, and one that lists them.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::page::Page;
use super::set::BUILT_IN;

/// Where `docs` is published as a book. Everything that sends people to a page takes its address from here.
const BOOK: &str = "https://gpulint.github.io/gpulint";

/// The address of a page, by its path below `docs` without its ending.
pub fn in_the_book(page: &str) -> String {
    format!("{BOOK}/{page}.html")
}

/// Where a built-in rule is explained; a team's own pages are not published.
pub fn link(rule: &str) -> Option<String> {
    let is_built_in =
        |(path, _): &(&str, &str)| path.strip_prefix("rules/").and_then(|it| it.strip_suffix(".md")) == Some(rule);
    BUILT_IN.iter().any(is_built_in).then(|| in_the_book(&format!("rules/{rule}")))
}

const EXAMPLES: &str = "\n## Examples\n";

/// How a file begins that nobody writes by hand.
pub const WRITTEN_FROM: &str = "<!-- written from ";

/// What readers need to know of the lines below.
const MARKS: &str = "A line that ends with `# <- reported` is found, one with `# <- undetermined` cannot be known, and all others are clean";

/// A built-in page for readers of the book.
pub fn document(page: &Page) -> String {
    written(page, &format!("rules/{}.md", page.name), "../own-rules/testing.md")
}

/// A team's own page for its readers; `from` is its file.
pub fn document_of(page: &Page, from: &str) -> String {
    written(page, from, &in_the_book("own-rules/testing"))
}

/// A page for readers: its prose and its examples, and in a table what the rule needs to know about itself.
fn written(page: &Page, from: &str, testing: &str) -> String {
    let body = page.body().trim();
    let (title, rest) = body.split_once('\n').unwrap_or((body, ""));
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
        let _ = writeln!(text, "\nThey are set in `gpulint.toml` under `[rules.{}]`.", page.name);
    }
    text
}

/// All built-in rules by group, with links to their documents.
pub fn contents(pages: &[Page]) -> String {
    let head = format!(
        "{WRITTEN_FROM}the files of rules/; change those -->\n\n# Rules\n\n\
         `essential` has the few that nobody argues with, `standard` is used unless another profile is named, and `all` adds \
         advice that is not right for everybody.\n"
    );
    listed(head, &pages.iter().collect::<Vec<_>>())
}

/// A team's own.
pub fn contents_of(pages: &[&Page]) -> String {
    listed(format!("{WRITTEN_FROM}the pages of these rules; change those -->\n\n# Rules\n"), pages)
}

fn listed(mut text: String, pages: &[&Page]) -> String {
    let mut groups: BTreeMap<&str, Vec<&Page>> = BTreeMap::new();
    for page in pages.iter().copied() {
        groups.entry(&page.group).or_default().push(page);
    }
    for (group, pages) in groups {
        let _ =
            writeln!(text, "\n## {group}\n\n| rule | level | risk | profile | what it finds |\n|---|---|---|---|---|");
        for page in pages {
            let (level, risk, profile) = (page.level.name(), page.risk.name(), page.profile.name());
            let _ =
                writeln!(text, "| [`{0}`]({0}.md) | {level} | {risk} | {profile} | {1} |", page.name, page.summary());
        }
    }
    text
}
