//! Editor support for rule files: the meaning and completion of facts, and the results of examples.

use gen_lsp_types::{CompletionItem, CompletionItemKind, Documentation, MarkupContent, MarkupKind, Position};

use super::position::{Encoding, TextLines};
use crate::cli::session::judged::JudgedTree;
use crate::cli::verbs::rules::{Proof, prove_page};
use crate::rules::{self, VocabularyEntry};

/// Whether the file is a custom rule, or a rule of a pack.
pub(super) fn is_page(judged: &JudgedTree, path: &str) -> bool {
    judged.session.has_page(path)
}

/// The prefix of resource facts, which can be omitted.
const RESOURCE: &str = "resource.";

/// Returns the meaning of a fact or a function. For `labels.team`, it is that of `labels`.
pub(super) fn meaning(word: &str) -> Option<String> {
    let all: Vec<VocabularyEntry> = rules::vocabulary().into_iter().chain(rules::functions()).collect();
    let is_called = |entry: &VocabularyEntry, name: &str| {
        [entry.name.as_str(), entry.name.strip_prefix(RESOURCE).unwrap_or_default()].contains(&name)
            || entry.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('('))
    };
    let known = |name: &str| all.iter().find(|entry| is_called(entry, name));
    let mut name = word;
    let entry = loop {
        match known(name) {
            Some(entry) => break entry,
            None => name = name.rsplit_once('.')?.0,
        }
    };
    let holds = if entry.holds.is_empty() { String::new() } else { format!(": {}", entry.holds) };
    let values = match entry.values.is_empty() {
        true => String::new(),
        false => format!("\n\nOne of: {}", entry.values.join(", ")),
    };
    Some(format!("`{}`{holds}\n\n{}{values}", entry.name, entry.meaning))
}

/// Returns completions for a position in the front matter of a rule file.
pub(super) fn completion(
    (judged, path): (&JudgedTree, &str),
    text: &str,
    at: Position,
    encoding: Encoding,
) -> Vec<CompletionItem> {
    let lines = TextLines::of(text, encoding);
    if !is_page(judged, path) || !is_in_head(text, at.line as usize) {
        return Vec::new();
    }
    let start = lines.offset(Position { line: at.line, character: 0 });
    let before = text.get(start..lines.offset(at)).unwrap_or_default();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "._".contains(letter);
    let typed = before.rsplit(|letter| !is_part(letter)).next().unwrap_or_default();
    let above = typed.rsplit_once('.').map(|(above, _)| format!("{above}.")).unwrap_or_default();
    let facts = rules::vocabulary().into_iter().map(|it| (it, CompletionItemKind::Field));
    let functions = rules::functions().into_iter().map(|it| (it, CompletionItemKind::Function));
    let item = |(entry, kind): (VocabularyEntry, CompletionItemKind)| {
        let name = entry.name.strip_prefix(RESOURCE).filter(|_| !above.starts_with(RESOURCE)).unwrap_or(&entry.name);
        let rest = name.strip_prefix(&above)?;
        // Completes one part at a time. The next part follows after a dot.
        if rest.contains('.') {
            return None;
        }
        let documentation = MarkupContent { kind: MarkupKind::Markdown, value: entry.meaning.clone() };
        Some(CompletionItem {
            label: rest.to_owned(),
            kind: Some(kind),
            detail: (!entry.holds.is_empty()).then(|| entry.holds.clone()),
            documentation: Some(Documentation::MarkupContent(documentation)),
            ..CompletionItem::default()
        })
    };
    facts.chain(functions).filter_map(item).collect()
}

/// Whether a line is in the front matter, between two lines of dashes.
fn is_in_head(text: &str, line: usize) -> bool {
    let mut lines = text.lines();
    let begins = lines.next().is_some_and(|first| first.trim_end() == "---");
    let end = lines.position(|it| it.trim_end() == "---").map_or(usize::MAX, |at| at + 1);
    begins && line > 0 && line < end
}

/// Returns the errors in the examples of a rule file.
pub(super) fn wrong_examples(judged: &JudgedTree, path: &str) -> Vec<Proof> {
    let proofs = prove_page(&judged.session, path);
    proofs.into_iter().filter(|proof| !proof.wrong.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_ends_with_its_dashes() {
        let text = "---\nname: x\nwhen: count\n---\n# x\n";
        let inside: Vec<bool> = (0..5).map(|line| is_in_head(text, line)).collect();
        assert_eq!(inside, [false, true, true, false, false]);
        assert!(!is_in_head("# no head\n", 0));
    }

    #[test]
    fn a_fact_is_explained_by_itself_or_by_what_it_is_a_part_of() {
        assert!(meaning("machine").is_some_and(|it| it.starts_with("`resource.machine`")));
        assert!(meaning("resource.machine.x").is_some_and(|it| it.starts_with("`resource.machine`")));
        assert_eq!(meaning("no_such_fact"), None);
    }
}
