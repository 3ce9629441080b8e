//! Selects the charts to render: those with a file that may request accelerators. Templates may assemble the words, so
//! parts of words count, too.

use std::collections::BTreeSet;

use regex::bytes::Regex;

use super::plan::{at, is_part};
use super::{RenderRequest, names};
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::text::filter::{self, Matter};
use crate::languages::helm::{self, Chart};
use crate::source::{SourceFiles, parent, static_regex};

/// The start of a reference from a chart to a local one.
const BESIDE: &[u8] = b"file://";
/// The name by which templates refer to the other files of their chart.
const FILES: &[u8] = b"Files";
/// Functions that decode strings to words.
const DECODERS: [&str; 2] = ["b64dec", "b32dec"];
/// Shorter parts of names occur in almost every file.
const SHORTEST: usize = 3;

/// Returns the directories of the charts that are not part of another one.
pub(super) fn charts<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    let is_chart = |path: &&str| path.rsplit('/').next() == Some("Chart.yaml");
    let all: BTreeSet<&str> = paths.filter(is_chart).map(parent).collect();
    all.iter().copied().filter(|directory| !is_part(directory, &all)).collect()
}

/// Returns whether a chart may be relevant, by a quick check before it is loaded.
pub(super) fn may_matter(sources: &SourceFiles, directory: &str, asked: &RenderRequest<'_>) -> bool {
    asked.asks_below(directory)
        || depends_on_others(sources, directory)
        || names::in_file(sources, &at(directory, "Chart.yaml"))
        || hints(sources, &helm::files(sources, directory))
}

/// Returns whether any part of a chart in the tree mentions accelerators.
pub(in crate::kubernetes) fn chart_may_ask(sources: &SourceFiles, directory: &str) -> bool {
    depends_on_others(sources, directory) || hints(sources, &helm::files(sources, directory))
}

/// Returns whether one of the chart's files may request accelerators.
pub(super) fn matters(sources: &SourceFiles, chart: &Chart, asked: &RenderRequest<'_>) -> bool {
    !depends_on_others(sources, &chart.directory)
        || asked.asks_below(&chart.directory)
        || chart.inputs.iter().any(|input| asked.asking.contains(input))
        || hints(sources, &chart.inputs)
}

fn depends_on_others(sources: &SourceFiles, directory: &str) -> bool {
    let lists = ["Chart.yaml", "requirements.yaml"].map(|name| at(directory, name));
    lists.iter().any(|path| sources.tree().read(path).is_ok_and(|text| memchr::memmem::find(&text, BESIDE).is_some()))
}

/// Returns whether templates, values, or other files that templates may read contain a relevant word.
fn hints(sources: &SourceFiles, files: &[String]) -> bool {
    // A packed chart may request anything.
    if files.iter().any(|path| path.ends_with(".tgz")) {
        return true;
    }
    let is_read = |path: &&String| path.contains("templates/") || path.ends_with("values.yaml");
    let (read, others): (Vec<&String>, Vec<&String>) = files.iter().partition(is_read);
    // Keys may contain escapes.
    let asks = |text: &[u8]| WORDS.is_match(text) || filter::look(text) == Matter::Asks;
    let mut takes_files = false;
    for path in read {
        let Ok(text) = sources.tree().read(path) else { return true };
        if asks(&text) {
            return true;
        }
        takes_files |= memchr::memmem::find(&text, FILES).is_some();
    }
    takes_files && others.iter().any(|path| sources.tree().read(path).is_ok_and(|text| asks(&text)))
}

static_regex!(
/// The parts of accelerator keys before and after the slash.
static WORDS: Regex = {
    let mut words: BTreeSet<String> = DECODERS.iter().map(|it| (*it).to_owned()).collect();
    for (domain, name) in DEVICES.words().map(|word| word.split_once('/').unwrap_or(("", word))) {
        words.extend([domain].iter().filter(|it| !it.is_empty()).map(|it| (*it).to_owned()));
        let parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.extend(parts.filter(|part| part.len() >= SHORTEST).map(str::to_owned));
    }
    let words: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
    format!("(?i){}", words.join("|"))
});
