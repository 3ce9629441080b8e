//! Finds what Flux and Argo CD objects deploy, before anything is rendered.

use super::row;
use crate::kubernetes::render::Deployers;
use crate::kubernetes::text::parsed_once::ParsedOnce;
use crate::languages::yaml::{self, Node};
use crate::source::{SourceFiles, each, has_mark, join, normalize};

/// Every object that may release a chart contains one of these strings.
const RELEASING: [&str; 2] = ["HelmRelease", "argoproj.io"];
/// Every object that deploys a directory contains one of these strings.
const DEPLOYING: [&str; 2] = ["toolkit.fluxcd.io", "argoproj.io"];

/// Returns what the objects in these files deploy, and the files that were parsed for this.
pub(in crate::kubernetes) fn deployers<'p>(
    sources: &SourceFiles,
    paths: impl Iterator<Item = &'p str>,
) -> (Deployers, ParsedOnce) {
    let mut all = Deployers::default();
    let mut deploying = Vec::new();
    for path in paths {
        let Ok(file) = sources.open(path) else { continue };
        let text = sources.text(file);
        let has_any = |words: [&str; 2]| has_mark(text.as_bytes(), &words.map(str::as_bytes));
        if has_any(RELEASING) {
            all.releases.insert(path.to_owned());
        }
        if has_any(DEPLOYING) {
            deploying.push((file, text));
        }
    }
    let streams = each(deploying, |(file, text)| (file, yaml::read_within(file, &text, sources.limits())));
    for document in streams.iter().flat_map(|(_, stream)| &stream.documents) {
        add(&mut all, &document.root);
    }
    (all, ParsedOnce::new(streams))
}

fn add(all: &mut Deployers, root: &Node) {
    let Some((_, row)) = row(root) else { return };
    let text = |node: &Node| node.text().and_then(|path| normalize(path));
    for layers in row.values.iter().filter(|layers| layers.include.is_some()) {
        let paths = layers.places(root).into_iter().filter_map(|at| layers.chart.as_ref()?.first(at));
        all.directories.extend(paths.filter_map(text));
    }
    if let Some(words) = &row.substitutes
        && let Some(directory) = words.path.first(root).and_then(text)
    {
        let components = words.components.as_ref().and_then(|path| path.first(root)).map(Node::items);
        let components = components.unwrap_or_default().iter().filter_map(|it| join(&directory, it.text()?));
        all.components.extend(components);
        all.directories.insert(directory);
    }
}
