//! Finds out how often the templates of a chart use a value.

use crate::source::{SourceFiles, Span};

use super::declining::{Result, left_alone};

/// The files of a chart that are searched, and their size.
const MOST_FILES: usize = 400;
const MOST_BYTES: usize = 8 << 20;
const TEMPLATES: &str = "/templates/";

/// Returns whether a place is in a template of a chart.
pub(super) fn is_template(sources: &SourceFiles, place: Span) -> bool {
    sources.path(place.file).contains(TEMPLATES)
}

/// Declines a value of a chart that templates use in more than one place. `made` is its position in the built
/// document, `keys` are the keys above the value in its file.
pub(super) fn demand_single_use(sources: &SourceFiles, made: Span, place: Span, keys: &[&str]) -> Result<()> {
    let template = sources.origin(Span { start: 0, end: 0, ..made });
    let template = sources.path(template.file);
    let Some((chart, _)) = template.split_once(TEMPLATES) else { return Ok(()) };
    if sources.path(place.file) == template {
        return Ok(());
    }
    let keys: Vec<&str> = match keys.iter().position(|key| matches!(*key, "values" | "valuesObject")) {
        Some(at) => keys.get(at + 1..).unwrap_or_default().to_vec(),
        None => keys.to_vec(),
    };
    let inside = |path: &str| path.strip_prefix(chart).is_some_and(|rest| rest.contains(TEMPLATES));
    let files: Vec<String> = sources.asked().into_iter().filter(|path| inside(path)).collect();
    let too_many = || left_alone("its chart has too many templates");
    if files.len() > MOST_FILES {
        return too_many();
    }
    let (mut uses, mut bytes) = (0, 0);
    for path in &files {
        let Ok(file) = sources.open(path) else { continue };
        let text = sources.text(file);
        bytes += text.len();
        if bytes > MOST_BYTES {
            return too_many();
        }
        uses += number_of_uses(&text, &keys);
    }
    match uses {
        1 => Ok(()),
        0 => left_alone("the chart's templates compute its value"),
        _ => left_alone("the chart's templates use its value in several places"),
    }
}

/// Returns the number of directives that use a value or a mapping around it.
fn number_of_uses(text: &str, keys: &[&str]) -> usize {
    let last = keys.iter().rev().find(|key| !key.is_empty()).copied().unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let named = text.match_indices(last).filter(|(at, word)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|after| after.chars().next());
        before.is_some_and(|c| matches!(c, '.' | '"')) && !after.is_some_and(is_word)
    });
    let is_named = named.count() > 0;
    let mut uses = 0;
    for directive in text.split("{{").skip(1) {
        let inner = directive.split("}}").next().unwrap_or_default().trim_start_matches(['-', ' ']);
        let word = inner.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let frames = matches!(word, "with" | "range");
        if word == "if" || inner.starts_with("else if") || inner.starts_with("/*") {
            continue;
        }
        for (at, start) in inner.match_indices(".Values") {
            let rest = inner.get(at + start.len()..).unwrap_or_default();
            let end = rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len());
            let path: Vec<&str> =
                rest.get(..end).unwrap_or_default().split('.').filter(|key| !key.is_empty()).collect();
            let above = keys.iter().filter(|key| !key.is_empty()).zip(&path).all(|(key, used)| key == used);
            let is_around = above && path.len() <= keys.len();
            let is_whole = path.len() == keys.len() || !frames;
            uses += usize::from(is_around && (is_whole || is_named));
        }
    }
    uses
}
