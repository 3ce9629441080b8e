//! Renders charts of the tree with the values of each release that an object defines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::SkipKind;
use crate::inventory::SkippedFile;
use crate::languages::helm::{self, Chart};
use crate::languages::yaml::Node;
use crate::source::{FileId, SourceFiles, Span, is_example, join, parent};

use super::{MOST, Made, index, row};
use crate::kubernetes::objects::chart;
use crate::kubernetes::objects::index::ObjectIndex;
use crate::kubernetes::objects::layers;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::relations::chart::Used;
use crate::kubernetes::render;
use crate::kubernetes::rows::table::{KindRow, Layers};
use crate::kubernetes::text::file::{File, ReleaseNames};
use crate::kubernetes::text::filter::is_manifest;
use crate::kubernetes::text::trail::RendererKind;
use crate::kubernetes::{Cluster, Parsed};

pub(super) fn release_documents(
    sources: &SourceFiles,
    paths: &[String],
    cluster: &Cluster,
    parsed: &[Parsed],
    used: &mut Used,
) -> Made {
    if !parsed.iter().flat_map(Parsed::roots).any(|root| row(root).is_some_and(|(_, row)| row.takes_values())) {
        return Made::default();
    }
    let index = index(parsed);
    let mut releases = Releases::new((sources, paths, cluster), &index, used);
    for tries in [false, true] {
        for (place, file) in parsed.iter().enumerate() {
            for (object, row) in file.roots().filter_map(row) {
                if !releases.find_in(file, &object, row, tries) {
                    releases.made.too_much.insert(place);
                }
            }
        }
        releases.before.clone_from(&releases.deployed);
    }
    let Releases { mut charts, deployed, mut made, .. } = releases;
    charts.retain(|directory, _| deployed.contains(directory));
    made.instead = replaced(sources, parsed, &charts);
    made
}

struct Releases<'a, 't> {
    sources: &'a SourceFiles,
    paths: &'a [String],
    cluster: &'a Cluster,
    index: &'a ObjectIndex<'t>,
    /// Directories of charts, with their templates.
    charts: BTreeMap<String, Vec<&'a String>>,
    /// Charts with a release that is not an example.
    deployed: BTreeSet<String>,
    /// The released charts, before releases that only try out a chart are added.
    before: BTreeSet<String>,
    /// The loaded charts, or the reasons why they cannot be loaded.
    loaded: BTreeMap<String, Result<Chart, String>>,
    /// The default values of the charts.
    own: BTreeMap<String, Option<Node>>,
    /// The number of values that may still be merged before the limit is reached.
    left: u64,
    made: Made,
    used: &'a mut Used,
}

/// The limit on values that all releases together may merge.
const MOST_ENTRIES: u64 = 20_000_000;

impl<'a, 't> Releases<'a, 't> {
    fn new(
        (sources, paths, cluster): (&'a SourceFiles, &'a [String], &'a Cluster),
        index: &'a ObjectIndex<'t>,
        used: &'a mut Used,
    ) -> Self {
        let (charts, loaded, own) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (deployed, before) = (BTreeSet::new(), BTreeSet::new());
        let (left, made) = (MOST_ENTRIES, Made::default());
        Releases { sources, paths, cluster, index, charts, deployed, before, loaded, own, left, made, used }
    }

    /// Adds the releases of an object; returns whether the limit was not reached.
    fn find_in(&mut self, file: &Parsed, object: &KubernetesObject<'_>, row: &KindRow, tries: bool) -> bool {
        for layers in row.values.iter().filter(|layers| layers.chart.is_some() && layers.tries == tries) {
            let rests = row.suspended.as_ref().and_then(|path| path.first(object.root)?.flag()) == Some(true);
            let is_off = |at: &Node| {
                let said = layers.enabled.as_ref().and_then(|path| path.first(at)?.flag());
                rests || said == Some(false)
            };
            for at in layers.places(object.root) {
                if is_off(at) {
                    self.keep_off(file, layers, at);
                    continue;
                }
                if self.made.files.len() >= MOST || self.left == 0 {
                    return false;
                }
                self.one(file, object, layers, at);
            }
        }
        true
    }

    /// Marks the chart of a disabled release, so that it is not deployed with its default values either.
    fn keep_off(&mut self, file: &Parsed, layers: &Layers, at: &Node) {
        let directory = layers::directory(layers, at, self.sources).filter(|it| chart::is_at(self.sources, it));
        let Some(directory) = directory.filter(|it| !layers.tries && !shows(file.place(), it)) else { return };
        self.templates(&directory);
        self.deployed.insert(directory);
    }

    fn one(&mut self, file: &Parsed, object: &KubernetesObject<'_>, layers: &Layers, at: &Node) {
        let sources = self.sources;
        let chart = layers::directory(layers, at, sources).filter(|directory| chart::is_at(sources, directory));
        if chart.as_ref().is_some_and(|directory| layers.tries && self.before.contains(directory)) {
            return;
        }
        let known = chart.as_ref().map(|directory| {
            self.own.entry(directory.clone()).or_insert_with(|| chart::values(sources, directory)).clone()
        });
        let own = known.flatten();
        let each = own.as_ref().map_or(1, |values| u64::from(values.weight));
        self.left = self.left.saturating_sub(each.saturating_mul(layers::laid(layers, at)));
        let given = layers::given(layers, at, own, self.sources, self.index);
        let mut readers: BTreeSet<FileId> = BTreeSet::from([file.file.id]);
        let mut files = given.files;
        if let Some(directory) = chart {
            let release = ReleaseNames {
                name: layers::release_name(object, layers, at),
                namespace: layers.namespace.0.iter().find_map(|path| {
                    let said = path.first(at).or_else(|| path.first(object.root))?;
                    said.text().cloned()
                }),
                by: (object.address(), Some(object.head)),
            };
            files.extend(join(&directory, "values.yaml").and_then(|path| self.sources.open(&path).ok()));
            let templates = self.templates(&directory);
            if !shows(file.place(), &directory) {
                self.deployed.insert(directory.clone());
            }
            let loaded = self.loaded.entry(directory.clone()).or_insert_with(|| helm::load(sources, &directory));
            let made = loaded.as_ref().map_err(Clone::clone).and_then(|chart| {
                render::release(sources, chart, given.values.clone(), &release, self.cluster, &mut self.made.skipped)
            });
            match made {
                Ok(made) => {
                    if made.iter().any(|own| !own.joined_only) {
                        self.made.skipped.extend(given.missing.iter().map(|it| without(sources, object, it)));
                    }
                    for own in made {
                        readers.insert(own.id);
                        self.add(own, file);
                    }
                    readers.extend(templates.iter().filter_map(|template| sources.open(template).ok()));
                    return self.uses(files, &readers);
                }
                Err(why) => self.made.skipped.push(render::not_rendered(&directory, &why)),
            }
            for template in templates {
                let Ok(id) = self.sources.open(template) else { continue };
                readers.insert(id);
                if self.made.files.len() < MOST {
                    let own = File::of_release(id, Arc::from(template.as_str()), given.values.clone(), release.clone());
                    self.add(own, file);
                }
            }
        }
        self.uses(files, &readers);
    }

    /// Adds a generated file, which belongs to the deployment of its source.
    fn add(&mut self, own: File, by: &Parsed) {
        let embedded = by.file.embedded;
        let own = File { embedded, carrier: embedded.then_some(by.file.id), ..own };
        self.made.files.push(Parsed::new(self.sources, own).generated_by(by.place().clone()));
    }

    fn uses(&mut self, files: Vec<FileId>, readers: &BTreeSet<FileId>) {
        for values in files {
            self.used.entry(values).or_default().extend(readers);
        }
    }

    fn templates(&mut self, directory: &str) -> Vec<&'a String> {
        let paths = self.paths;
        self.charts.entry(directory.to_owned()).or_insert_with(|| templates(paths, directory)).clone()
    }
}

/// Returns the skipped entry for a values file that is not in this repository.
fn without(sources: &SourceFiles, object: &KubernetesObject<'_>, (name, at): &(Arc<str>, Span)) -> SkippedFile {
    let reason =
        format!("{} is rendered without its values file `{name}`, which is not in this repository", object.address());
    let path = sources.path_of(*at);
    SkippedFile::new(SkipKind::MissingValues, path, render::in_one_line(&reason))
}

/// Returns whether a release only demonstrates a chart: its examples folder is not in the chart's. Such a release does
/// not affect others.
fn shows(release: &str, chart: &str) -> bool {
    let folders = parent(release).split('/').zip(chart.split('/').map(Some).chain(std::iter::repeat(None)));
    let own = folders.skip_while(|(folder, of_chart)| Some(*folder) == *of_chart);
    own.into_iter().any(|(folder, _)| is_example(folder))
}

fn templates<'p>(paths: &'p [String], directory: &str) -> Vec<&'p String> {
    let start = if directory.is_empty() { "templates/".to_owned() } else { format!("{directory}/templates/") };
    let mut all: Vec<&String> = paths.iter().filter(|path| path.starts_with(&start) && is_manifest(path)).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns the documents that releases replace. A released chart uses the values of its releases, not only its own.
fn replaced(sources: &SourceFiles, parsed: &[Parsed], charts: &BTreeMap<String, Vec<&String>>) -> Vec<(usize, usize)> {
    let is_released = |file: &File| match &file.rendered {
        Some(trail) => trail.by == RendererKind::Helm && charts.contains_key(parent(&sources.path(trail.head.file))),
        None => charts.values().any(|templates| templates.binary_search_by(|it| (***it).cmp(&file.path)).is_ok()),
    };
    let all = parsed.iter().enumerate().filter(|(_, it)| is_released(&it.file));
    all.flat_map(|(at, it)| (0..it.stream.documents.len()).map(move |number| (at, number))).collect()
}
