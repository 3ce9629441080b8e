//! Which charts of a tree are rendered: those of which some file may ask for accelerators, in whatever words its templates
//! put that together.

use std::collections::BTreeSet;

use regex::bytes::Regex;

use super::plan::{at, is_part};
use super::{Asked, names};
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::text::filter::{self, Matter};
use crate::languages::helm::{self, Chart};
use crate::source::{Sources, parent, static_regex};

/// How a chart speaks of one that stands elsewhere in the tree.
const BESIDE: &[u8] = b"file://";
/// How templates speak of the other files of their chart.
const FILES: &[u8] = b"Files";
/// Functions that make words of what does not look like them.
const DECODERS: [&str; 2] = ["b64dec", "b32dec"];
/// Shorter parts of names stand in every text.
const SHORTEST: usize = 3;

/// The directories of the charts that are no part of another one.
pub(super) fn charts<'p>(paths: impl Iterator<Item = &'p str>) -> Vec<&'p str> {
    let is_chart = |path: &&str| path.rsplit('/').next() == Some("Chart.yaml");
    let all: BTreeSet<&str> = paths.filter(is_chart).map(parent).collect();
    all.iter().copied().filter(|directory| !is_part(directory, &all)).collect()
}

/// A quick look, before anything of it is loaded.
pub(super) fn may_matter(sources: &Sources, directory: &str, asked: &Asked<'_>) -> bool {
    asked.asks_below(directory)
        || depends_on_others(sources, directory)
        || names::in_file(sources, &at(directory, "Chart.yaml"))
        || hints(sources, &helm::files(sources, directory))
}

/// Whether a chart that stands in the tree speaks of accelerators anywhere.
pub(in crate::kubernetes) fn chart_may_ask(sources: &Sources, directory: &str) -> bool {
    depends_on_others(sources, directory) || hints(sources, &helm::files(sources, directory))
}

/// One of the files that it is made of may ask for something.
pub(super) fn matters(sources: &Sources, chart: &Chart, asked: &Asked<'_>) -> bool {
    !depends_on_others(sources, &chart.directory)
        || asked.asks_below(&chart.directory)
        || chart.inputs.iter().any(|input| asked.asking.contains(input))
        || hints(sources, &chart.inputs)
}

fn depends_on_others(sources: &Sources, directory: &str) -> bool {
    let lists = ["Chart.yaml", "requirements.yaml"].map(|name| at(directory, name));
    lists.iter().any(|path| sources.tree().read(path).is_ok_and(|text| memchr::memmem::find(&text, BESIDE).is_some()))
}

/// Words in templates, in values, or in what templates may take from other files.
fn hints(sources: &Sources, files: &[String]) -> bool {
    // What is packed may ask for anything.
    if files.iter().any(|path| path.ends_with(".tgz")) {
        return true;
    }
    let is_read = |path: &&String| path.contains("templates/") || path.ends_with("values.yaml");
    let (read, others): (Vec<&String>, Vec<&String>) = files.iter().partition(is_read);
    // Keys may be written with escapes.
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
/// What stands in the names of accelerators before and behind the stroke.
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
