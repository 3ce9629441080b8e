//! Hover texts: the calculation of the price at the first line of a resource, the documentation of a rule at its name,
//! and the meaning of a fact in a rule file. Other positions have none, so that other servers can answer.

use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind, Position};

use super::diagnostics::KnownText;
use super::pages::{is_page, meaning};
use super::position::{Encoding, TextLines};
use crate::config;
use crate::inventory::ResourceId;
use crate::rules;
use crate::source::file_name;

/// The most resources that are shown for one line. A line can create many, for example through a module.
const MOST: usize = 3;

pub(super) fn hover(about: &KnownText, text: &str, at: Position, encoding: Encoding) -> Option<Hover> {
    let lines = TextLines::of(text, encoding);
    let line = lines.line(at.line as usize);
    let column = lines.offset(at) - lines.offset(Position { line: at.line, character: 0 });
    let is_page = is_page(&about.told.judged, &about.path);
    let named = || {
        let is_about_rules = is_page || file_name(&about.path) == config::FILE_NAME || line.contains("gpulint:");
        is_about_rules.then(|| of_rule(about, word_at(line, column, |letter| letter == '-')?)).flatten()
    };
    let fact = || is_page.then(|| meaning(word_at(line, column, |letter| "._".contains(letter))?)).flatten();
    let price = || {
        let prices = about.told.prices(&about.path, encoding);
        let here = prices.iter().find(|price| price.at.line == at.line)?;
        Some(explained(about, &here.resources))
    };
    let value = fact().or_else(named).map(markdown).or_else(price)?;
    Some(Hover { contents: Contents::MarkupContent(value), range: None })
}

/// Returns the calculation of the prices of these resources.
pub(super) fn explained(about: &KnownText, resources: &[ResourceId]) -> MarkupContent {
    let judged = &about.told.judged;
    let told = resources.iter().take(MOST).map(|id| judged.session.explain_price_first(&judged.analysis, *id));
    // Text from the repository must not close the code block.
    let told: Vec<String> =
        told.map(|text| format!("```text\n{}\n```", text.trim_end().replace("```", "'''"))).collect();
    let more = match resources.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("\n\nand {more} more that these lines create"),
    };
    markdown(format!("{}{more}", told.join("\n\n")))
}

/// Returns the beginning of a rule's documentation.
fn of_rule(about: &KnownText, name: &str) -> Option<String> {
    let page = about.told.judged.session.settings.rules.page(name)?;
    let body = page.body();
    let summary = body.split("\n## ").next().unwrap_or_default().trim();
    let link = rules::link(name).map(|link| format!("\n\n[Documentation of this rule]({link})")).unwrap_or_default();
    Some(format!("{summary}{link}"))
}

/// Returns the word that contains a byte of a line.
fn word_at(line: &str, column: usize, joins: impl Fn(char) -> bool) -> Option<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || joins(letter);
    let (before, after) = line.split_at_checked(column)?;
    let start = before
        .rfind(|letter| !is_part(letter))
        .map_or(0, |at| at + before.get(at..).and_then(|it| it.chars().next()).map_or(1, char::len_utf8));
    let end = column + after.find(|letter| !is_part(letter)).unwrap_or(after.len());
    line.get(start..end).filter(|word| !word.is_empty())
}

fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_from_any_place_in_it() {
        let line = "  # gpulint: ignore[missing-labels] -- é x";
        let of = |column| word_at(line, column, |letter| letter == '-');
        assert_eq!([of(20), of(27), of(34)], [Some("missing-labels"); 3]);
        assert_eq!(of(3), None);
        assert_eq!(of(99), None);
        assert_eq!(word_at("é-b", 3, |_| false), Some("b"));
    }
}
