//! Converts manifests to an inventory.
//!
//! Reads YAML and JSON streams with positions, and creates resources according to `kinds.toml`. This module uses no
//! prices and no rules, and knows kinds only through the tables.

mod cluster;
mod deploy;
mod gather;
mod known_kinds;
mod limits;
mod objects;
mod pods;
mod relations;
mod render;
mod rows;
mod runs;
mod text;
mod write;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use regex::Regex;

use crate::diagnostic::SkipKind;
use crate::inventory::{
    GivenRun, Inventory, Raw, RawTree, Resource, SkippedFile, UnknownFact, UnsupportedResource, WantedObjects,
};
use crate::source::{FileId, SourceFiles, Span, drop_large, each, static_regex};

use crate::languages::yaml::{Node, YamlDocument, YamlStream};
use objects::index::ObjectIndex;
use objects::object::KubernetesObject;
pub(crate) use objects::object::LONGEST_ANNOTATION;
use pods::workload::{FoundResource, WorkloadReader};
use relations::clock::ClockScaler;
use relations::holders::Relation;
use relations::replaced::ReplacedWorkload;
use relations::scale::Scaler;
use relations::sharing::Sharing;
use rows::table::{KINDS, KindRow};
use text::parsed_once::ParsedOnce;

pub use crate::languages::helm::Cluster;
pub use cluster::{
    ClusterCount, ClusterDevices, ClusterLabel, ClusterPods, ClusterPool, cluster_devices, cluster_groups,
    cluster_labels, cluster_pods, cluster_pool, names_of_pools,
};
pub use gather::{Look, ScanCache};
pub use known_kinds::{is_encrypted, knows_all_objects};
pub use limits::{ObjectLimit, limits};
pub use render::{ChartInstallation, Content, RefusedRendering, RenderInput, RenderPlan, RenderedOutput, plan};
pub use rows::devices::{LabelMeaning, NodeLabel, node_label, word_of_label};
pub(crate) use rows::entries::add_kinds;
pub use rows::path::ManifestStep;
pub(crate) use rows::words::{CHART_COMMAND, calls, commands};
pub use rows::words::{FIELDS, METADATA, kinds};
pub use text::filter::is_manifest;
pub use text::trail::RendererKind;
pub use write::{label, write};

/// The options of the command line.
#[derive(Debug, Clone, Default)]
pub struct KubernetesOptions {
    /// The manifests that rules for any kind need in full.
    pub objects: WantedObjects,
    /// Whether rules need the pods of these manifests, too.
    pub pods: bool,
    /// The output of other programs for charts and kustomizations. It replaces the files that it was made from.
    pub rendered: Vec<RenderedOutput>,
    /// Names of values files with which charts are rendered. For `*`, each chart is rendered with each of its values
    /// files.
    pub values: Vec<String>,
    /// The deployments that the settings define.
    pub given_runs: Vec<GivenRun>,
    /// The commands that install charts of the tree.
    pub installations: Vec<ChartInstallation>,
    /// The cluster properties that charts can query.
    pub cluster: Cluster,
    /// The files that the command line names.
    pub named_files: Vec<String>,
    /// Scan results, for another state of the same tree.
    pub looks: ScanCache,
}

/// The result of reading the manifests.
#[derive(Debug, Default)]
pub struct KubernetesReading {
    pub inventory: Inventory,
    /// For each resource, the Terraform string that contains its manifest, if the derived manifest file is not that
    /// string itself.
    pub carriers: Vec<Option<FileId>>,
    /// The comments for gpulint.
    pub comments: Vec<Span>,
    /// The sorted files that contain no components related to accelerators.
    pub plain: Vec<String>,
}

/// Returns the documents of all charts among the files, by template, and the reasons for incomplete ones.
pub fn rendered_charts(
    sources: &SourceFiles,
    paths: &[String],
    options: &KubernetesOptions,
) -> (Vec<(String, String)>, Vec<SkippedFile>) {
    render::all(sources, paths, &options.values, &options.cluster)
}

/// Reads manifests. `embedded` contains the manifests inside Terraform, with the address of the resource that contains
/// them.
pub fn read(
    sources: &SourceFiles,
    paths: &[String],
    embedded: &[(FileId, String)],
    options: &KubernetesOptions,
) -> KubernetesReading {
    let mut reading = KubernetesReading::default();
    let gathered = gather::gather(sources, paths, embedded, options, &mut reading.inventory.diagnostics);
    let gather::GatheredFiles { files, plain, skipped, runs, kustomized, foreign, parsed: once } = gathered;
    reading.plain = plain;
    reading.inventory.foreign = foreign;
    reading.inventory.skipped.extend(skipped);
    let mut parsed: Vec<Parsed> = each(files, |file| Parsed::read(sources, file, &once));
    let (used, left_out, skipped) = deploy::apply(sources, paths, &options.cluster, &mut parsed);
    reading.inventory.skipped.extend(skipped);
    let index = ObjectIndex::new(parsed.iter().map(|it| (it.file.id, it.place().clone(), it.roots().collect())));
    let index = index.with_tree(sources, paths);
    let mut found = read_all(sources, &parsed, &index);
    relations::terraform_loaded::leave_out(sources, embedded, &mut found);
    relations::chart::drop_repeated_values(sources, &mut found, &used);
    relate(sources, &parsed, embedded, &mut found);
    let granted =
        self::objects(&parsed).filter_map(|(_, object, row)| relations::grants::unjudged(sources, &object, row));
    reading.inventory.unjudged.extend(granted);
    reading.inventory.unlisted = unlisted(&parsed, &found);
    let mut deployed = relations::unfollowed::DeployersByDirectory::default();
    let changed = self::objects(&parsed)
        .flat_map(|(_, object, row)| deployed.list_unfollowed(sources, &object, row, !found.is_empty()));
    reading.inventory.unjudged.extend(changed);
    let runs = runs::FileDeployments::of(sources, &parsed, runs, (&kustomized, &left_out));
    runs.mark(&mut found);
    let elsewhere = comments_elsewhere(sources, &parsed, found.iter().map(|(_, found)| &found.resource));
    let reader = WorkloadReader { sources, index: &index };
    reading.inventory.objects = written_objects(&parsed, options, &runs, &reader);
    keep_the_rest(&mut parsed, &mut reading);
    reading.inventory.runs.extend(runs.finish());
    let count = parsed.len();
    drop_large(parsed, count);
    reading.carriers = found.iter().map(|(_, found)| found.carrier).collect();
    reading.inventory.resources = found.into_iter().map(|(_, found)| found.resource).collect();
    reading.comments.extend(elsewhere);
    reading
}

/// Applies the facts that objects set for objects in other files.
fn relate(
    sources: &SourceFiles,
    parsed: &[Parsed],
    embedded: &[(FileId, String)],
    found: &mut Vec<(Arc<str>, FoundResource)>,
) {
    relations::owned::leave_out(found);
    let replaced = objects(parsed).filter_map(|(path, object, row)| ReplacedWorkload::new(path, &object, row));
    relations::replaced::apply(&replaced.collect::<Vec<_>>(), found);
    relations::scale::apply(&scalers(parsed), found);
    let clocks: Vec<ClockScaler> =
        objects(parsed).flat_map(|(path, object, _)| ClockScaler::find(path, &object)).collect();
    relations::clock::apply(&clocks, found);
    pods::claims::share(found);
    relations::holders::apply(&relations(parsed), found);
    relations::sharing::apply(&sharings(sources, parsed), found);
    relations::versions::mark(embedded, found);
}

/// Returns objects as they are written, if rules request them.
fn written_objects(
    parsed: &[Parsed],
    options: &KubernetesOptions,
    runs: &runs::FileDeployments,
    reader: &WorkloadReader<'_, '_>,
) -> Vec<Raw> {
    let mut all = Vec::new();
    if options.objects == WantedObjects::None {
        return all;
    }
    let pods = |root: &Node| if options.pods { reader.raw_pods(root) } else { Vec::new() };
    for file in parsed.iter().filter(|file| !file.is_made() && !file.file.joined_only) {
        let first = all.len();
        for document in file.stream.documents.iter().take(file.written) {
            objects::raw::add(&document.root, document.span, file.inferred.as_ref(), &pods, &mut all);
        }
        for object in all.iter_mut().skip(first) {
            object.run = runs.at(file.place()).cloned();
            object.perhaps = file.perhaps(reader.sources, object.span);
        }
    }
    all
}

/// Collects everything in files that is not a resource: comments and diagnostics.
fn keep_the_rest(parsed: &mut [Parsed], reading: &mut KubernetesReading) {
    let written: HashSet<FileId> = parsed.iter().filter(|it| !it.is_made()).map(|it| it.file.id).collect();
    for file in parsed {
        if file.is_made() {
            if !written.contains(&file.file.id) {
                reading.comments.append(&mut file.stream.comments);
            }
            continue;
        }
        reading.inventory.diagnostics.append(&mut file.stream.diagnostics);
        // A template that could not be rendered is already listed with its cause.
        let is_listed = |it: &SkippedFile| {
            reading.inventory.skipped.iter().any(|other| (other.kind, &other.path) == (it.kind, &it.path))
        };
        let skipped = file.skipped.take().filter(|it| !is_listed(it));
        reading.inventory.skipped.extend(skipped);
        // Rendered files repeat the comments of their sources, in another place.
        if file.file.rendered.is_none() {
            reading.comments.append(&mut file.stream.comments);
        }
    }
}

static_regex!(
    /// The start of a conditional part of a template.
    static OPENING: Regex = r"\{\{-?\s*(?:if|with|range)\b"
);
static_regex!(static CLOSING: Regex = r"\{\{-?\s*end\b");

/// A file with the result of parsing it.
struct Parsed {
    file: text::file::File,
    stream: YamlStream,
    /// The documents of other branches of a template.
    branches: Vec<Vec<YamlDocument>>,
    skipped: Option<SkippedFile>,
    /// The reason why facts of this file are only inferred.
    inferred: Option<Arc<str>>,
    /// The number of documents that the file itself contains. All later documents were generated from them.
    written: usize,
    /// The numbers of the documents that are replaced by others.
    stood_for: BTreeSet<usize>,
    /// The file of the object that generated this file, if any.
    made_by: Option<Arc<str>>,
}

impl Parsed {
    fn new(sources: &SourceFiles, file: text::file::File) -> Self {
        Parsed::read(sources, file, &ParsedOnce::default())
    }

    fn read(sources: &SourceFiles, file: text::file::File, once: &ParsedOnce) -> Self {
        let text = sources.text(file.id);
        let mut template = text::template::read(&file, &text, sources.limits(), once);
        if file.is_holed || file.doubt.is_some() {
            template.unread = template.unread.max(template.stream.broken());
            template.stream.diagnostics.clear();
        }
        template.inferred = template.inferred.or_else(|| file.doubt.clone());
        if file.joined_only {
            template.stream.diagnostics.clear();
            template.unread = 0;
        }
        let skipped = (template.unread > 0).then(|| {
            let reason = format!("{} of its documents cannot be read without rendering the template", template.unread);
            SkippedFile::new(SkipKind::Rendering, &*file.path, reason)
        });
        Parsed {
            made_by: file.rendered.as_ref().and_then(|trail| trail.place_of(&file.path)),
            written: template.stream.documents.len(),
            stream: template.stream,
            branches: template.branches,
            skipped,
            inferred: template.inferred,
            stood_for: BTreeSet::new(),
            file,
        }
    }

    /// Returns why an object of the file may not exist: its condition is unknown, or it is in an unrendered template
    /// after a condition.
    fn perhaps(&self, sources: &SourceFiles, span: Span) -> Option<Arc<UnknownFact<RawTree>>> {
        let unrendered = || {
            let text = sources.text(self.file.id);
            let before = text.get(..span.start as usize)?;
            let document = before.rsplit("\n---").next()?;
            let opens = OPENING.find_iter(document).count();
            let is_template = self.file.rendered.is_none() && self.file.of_chart && self.inferred.is_some();
            (is_template && opens > CLOSING.find_iter(document).count())
                .then(|| Arc::from("it is in a template, under a condition that gpulint did not evaluate"))
        };
        let why = self.file.perhaps.clone().or_else(unrendered)?;
        Some(Arc::new(UnknownFact { span, why, candidates: Vec::new() }))
    }

    /// Marks the file as generated by an object.
    fn generated_by(self, by: Arc<str>) -> Self {
        Parsed { skipped: None, made_by: Some(by), ..self }
    }

    fn is_made(&self) -> bool {
        self.made_by.is_some()
    }

    /// Returns the place of the file in the tree. For a generated file, this is the place of its generator.
    fn place(&self) -> &Arc<str> {
        self.made_by.as_ref().unwrap_or(&self.file.path)
    }

    /// Returns the documents that are not replaced.
    fn current(&self) -> impl Iterator<Item = &YamlDocument> {
        let all = self.stream.documents.iter().enumerate();
        all.filter(|(number, _)| !self.stood_for.contains(number)).map(|(_, document)| document)
    }

    fn roots(&self) -> impl Iterator<Item = &Node> {
        self.current().map(|document| &document.root)
    }
}

/// Returns the comments of files that facts refer to but that were not read as manifests: chart values, templates and
/// parts of kustomizations.
fn comments_elsewhere<'r>(
    sources: &SourceFiles,
    parsed: &[Parsed],
    resources: impl Iterator<Item = &'r Resource>,
) -> Vec<Span> {
    let read: HashSet<FileId> = parsed.iter().map(|file| file.file.id).collect();
    let spans = |resource: &'r Resource| {
        let facts = resource.facts().filter_map(|(_, fact)| fact.span());
        facts.chain(resource.count.span()).chain([resource.span])
    };
    let files = resources.flat_map(spans).map(|span| sources.origin(span).file);
    let files: BTreeSet<FileId> = files.filter(|file| !read.contains(file)).collect();
    let comments = files.into_iter().map(|file| text::template::comments(sources, file));
    comments.flatten().collect()
}

fn read_all(sources: &SourceFiles, parsed: &[Parsed], index: &ObjectIndex<'_>) -> Vec<(Arc<str>, FoundResource)> {
    let files: Vec<Vec<FoundResource>> =
        each(parsed.iter().collect(), |file| read_file(file, &WorkloadReader { sources, index }));
    let mut all = Vec::new();
    for (file, found) in parsed.iter().zip(files) {
        all.extend(found.into_iter().map(|found| (file.place().clone(), found)));
    }
    all
}

fn read_file(parsed: &Parsed, reader: &WorkloadReader<'_, '_>) -> Vec<FoundResource> {
    let path = &parsed.file.path;
    let mut found = read_documents(parsed, parsed.current(), reader);
    let branches = parsed.branches.iter().map(|documents| read_documents(parsed, documents.iter(), reader));
    relations::branches::merge(&mut found, branches.collect());
    relations::patch::mark(reader.sources, path, &mut found);
    for found in &mut found {
        found.carrier = parsed.file.carrier;
        if found.kind == objects::chart::VALUES {
            relations::chart::infer(&mut found.resource, &Arc::from(objects::chart::VALUES_ALONE), true);
        } else if let Some(why) = &parsed.inferred {
            relations::chart::infer(&mut found.resource, why, parsed.file.of_chart);
        }
        if let Some(release) = &parsed.file.release {
            release.mark(&mut found.resource);
        }
        if let Some(trail) = &parsed.file.rendered {
            relations::chart::rendered(reader.sources, &mut found.resource, trail);
        }
    }
    found
}

fn read_documents<'d>(
    parsed: &Parsed,
    documents: impl Iterator<Item = &'d YamlDocument>,
    reader: &WorkloadReader<'_, '_>,
) -> Vec<FoundResource> {
    let mut found = Vec::new();
    for document in documents {
        // If a file is read only for its values, only the documents that pass values to others stay.
        if parsed.file.joined_only && !gives_values(&document.root) {
            continue;
        }
        let before = found.len();
        reader.read(&document.root, document.span, &mut found);
        // A document without a kind mostly contains chart values, regardless of its file name.
        if found.len() == before && pods::workload::identify(&document.root).is_none() {
            reader.read_values(&document.root, document.span, &mut found);
        }
    }
    found
}

fn gives_values(root: &Node) -> bool {
    KubernetesObject::new(root)
        .and_then(|object| KINDS.find(object.group, object.kind))
        .is_some_and(|row| !row.values.is_empty())
}

fn scalers(parsed: &[Parsed]) -> Vec<(Arc<str>, Scaler)> {
    let scaler = |(path, object, row): (&Arc<str>, KubernetesObject<'_>, &'static KindRow)| {
        let paused = row.suspended.as_ref().and_then(|path| path.first(object.root)?.text());
        let rests = paused.is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let scales = row.scales.as_ref().filter(|_| !rests)?;
        Some((path.clone(), Scaler::new(&object, scales)?))
    };
    objects(parsed).filter_map(scaler).collect()
}

fn sharings(sources: &SourceFiles, parsed: &[Parsed]) -> Vec<Sharing> {
    let mut all = Vec::new();
    for file in parsed.iter().filter(|file| sources.text(file.file.id).contains("sharing")) {
        file.roots().for_each(|root| Sharing::find(file.place(), root, &mut all));
    }
    all
}

fn relations(parsed: &[Parsed]) -> Vec<Relation> {
    let relation = |(path, object, row): (&Arc<str>, KubernetesObject<'_>, &'static KindRow)| {
        Relation::new(&object, row.relates.as_ref()?, path)
    };
    objects(parsed).filter_map(relation).collect()
}

/// Returns objects of unsupported kinds in which no pods were found.
fn unlisted(parsed: &[Parsed], found: &[(Arc<str>, FoundResource)]) -> Vec<UnsupportedResource> {
    let roots = parsed.iter().filter(|file| !file.is_made()).flat_map(Parsed::current);
    let of_unknown_kind = roots.filter_map(|document| match pods::workload::identify(&document.root) {
        Some((object, None)) if is_custom(object.group) => pods::unsupported::of(&object, document.span),
        _ => None,
    });
    let pods: BTreeSet<Span> = found.iter().map(|(_, found)| found.resource.span).collect();
    let has_pods = |it: &UnsupportedResource| {
        pods.range(Span { end: it.body.start, ..it.body }..).next().is_some_and(|first| it.body.contains(*first))
    };
    of_unknown_kind.filter(|it| !has_pods(it)).collect()
}

/// Returns whether the kind is not built into Kubernetes. Built-in kinds request machines only through pods.
fn is_custom(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
}

/// Returns the objects of supported kinds, and the objects that they contain.
fn objects(parsed: &[Parsed]) -> impl Iterator<Item = (&Arc<str>, KubernetesObject<'_>, &'static KindRow)> {
    let roots = parsed.iter().flat_map(|file| file.roots().map(move |root| (file.place(), root)));
    roots.flat_map(|(path, root)| {
        let own = pods::workload::identify(root).and_then(|(object, row)| Some((object, row?)));
        let carried = own.iter().flat_map(|(_, row)| row.carried()).flat_map(|at| at.all(root));
        let carried =
            carried.filter_map(|at| pods::workload::identify(at.node)).filter_map(|(object, row)| Some((object, row?)));
        let all: Vec<_> = carried.collect();
        all.into_iter().chain(own).map(move |(object, row)| (path, object, row))
    })
}
