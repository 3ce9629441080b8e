//! Manifests → inventory.
//!
//! Reads YAML and JSON streams with spans and turns documents into resources by the rows of `kinds.toml`. Knows no
//! price and no rule, and no kind by name outside the table.

mod deploy;
mod gather;
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
use crate::inventory::{GivenRun, Inventory, Raw, RawTree, Resource, Skipped, Unknown, Unlisted, WantedObjects};
use crate::source::{FileId, Sources, Span, each, static_regex};

use crate::languages::yaml::{Node, Stream, YamlDocument};
use objects::index::ObjectIndex;
use objects::object::Object;
use pods::workload::{FoundResource, WorkloadReader};
use relations::holders::Relation;
use relations::scale::Scaler;
use relations::sharing::Sharing;
use rows::table::{KINDS, KindRow};

pub use crate::languages::helm::Cluster;
pub use gather::{Look, Looks};
pub use render::{Content, Input, Plan, RefusedRendering, Rendered, plan};
pub use rows::devices::{NodeLabel, node_label, word_of_label};
pub use rows::words::{FIELDS, METADATA, kinds};
pub use text::filter::is_manifest;
pub use text::trail::Renderer;
pub use write::{label, write};

/// What the command line gives beside the files.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which manifests are wanted as they are, for rules about any kind.
    pub objects: WantedObjects,
    /// Their pods are wanted too.
    pub pods: bool,
    /// What other programs made of charts and kustomizations; it is read instead of the files that it replaces.
    pub rendered: Vec<Rendered>,
    /// Files of values, by their names, with which charts are rendered; `*` stands for each of them once more.
    pub values: Vec<String>,
    /// What the settings say of runs.
    pub given_runs: Vec<GivenRun>,
    /// What charts are told of the cluster.
    pub cluster: Cluster,
    /// Files that the command line names.
    pub named_files: Vec<String>,
    /// What was found of files when they were looked through, for another state of the same tree.
    pub looks: Looks,
}

/// What was read.
#[derive(Debug, Default)]
pub struct KubernetesReading {
    pub inventory: Inventory,
    /// For each resource the text inside Terraform that its own text is made of, where it is not that itself.
    pub carriers: Vec<Option<FileId>>,
    /// Comments that speak to gpulint.
    pub comments: Vec<Span>,
    /// Files of which it is known that they have no word about what stands beside accelerators, sorted.
    pub plain: Vec<String>,
}

/// The documents of all charts among files, by their templates, and what has to be said of those that are not whole.
pub fn rendered_charts(
    sources: &Sources,
    paths: &[String],
    options: &Options,
) -> (Vec<(String, String)>, Vec<Skipped>) {
    render::all(sources, paths, &options.values, &options.cluster)
}

/// Reads manifests; `embedded` are manifests inside Terraform, with the address of the resource that carries them.
pub fn read(
    sources: &Sources,
    paths: &[String],
    embedded: &[(FileId, String)],
    options: &Options,
) -> KubernetesReading {
    let mut reading = KubernetesReading::default();
    let gathered = gather::gather(sources, paths, embedded, options, &mut reading.inventory.diagnostics);
    let gather::Gathered { files, plain, skipped, runs, kustomized, foreign } = gathered;
    reading.plain = plain;
    reading.inventory.foreign = foreign;
    reading.inventory.skipped.extend(skipped);
    let mut parsed: Vec<Parsed> = each(files, |file| Parsed::new(sources, file));
    let (used, left_out, skipped) = deploy::apply(sources, paths, &options.cluster, &mut parsed);
    reading.inventory.skipped.extend(skipped);
    let index = ObjectIndex::new(parsed.iter().map(|it| (it.file.id, it.place().clone(), it.roots().collect())));
    let index = index.with_tree(sources, paths);
    let mut found = read_all(sources, &parsed, &index);
    relations::terraform_loaded::leave_out(sources, embedded, &mut found);
    relations::chart::tell_once(sources, &mut found, &used);
    relate(sources, &parsed, &mut found);
    let granted =
        self::objects(&parsed).filter_map(|(_, object, row)| relations::grants::unjudged(sources, &object, row));
    reading.inventory.unjudged.extend(granted);
    reading.inventory.unlisted = unlisted(&parsed, &found);
    let mut deployed = relations::unfollowed::Deployed::default();
    let changed =
        self::objects(&parsed).flat_map(|(_, object, row)| deployed.tell(sources, &object, row, !found.is_empty()));
    reading.inventory.unjudged.extend(changed);
    let runs = runs::Runs::of(sources, &parsed, runs, (&kustomized, &left_out));
    runs.mark(&mut found);
    let elsewhere = comments_elsewhere(sources, &parsed, found.iter().map(|(_, found)| &found.resource));
    let reader = WorkloadReader { sources, index: &index };
    reading.inventory.objects = written_objects(&parsed, options, &runs, &reader);
    keep_the_rest(&mut parsed, &mut reading);
    reading.inventory.runs.extend(runs.finish());
    // Taking millions of nodes apart takes long, and nobody waits for it.
    rayon::spawn(|| drop(parsed));
    reading.carriers = found.iter().map(|(_, found)| found.carrier).collect();
    reading.inventory.resources = found.into_iter().map(|(_, found)| found.resource).collect();
    reading.comments.extend(elsewhere);
    reading
}

/// What objects say about those that other files hold.
fn relate(sources: &Sources, parsed: &[Parsed], found: &mut Vec<(Arc<str>, FoundResource)>) {
    relations::owned::leave_out(found);
    relations::scale::apply(&scalers(parsed), found);
    pods::claims::share(found);
    relations::holders::apply(&relations(parsed), found);
    relations::sharing::apply(&sharings(sources, parsed), found);
    relations::versions::mark(found);
}

/// Objects as they are written, where rules ask for them.
fn written_objects(
    parsed: &[Parsed],
    options: &Options,
    runs: &runs::Runs,
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

/// What files have beside resources: comments, and what was said while they were read.
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
        // A template that could not be rendered is listed with the cause already.
        let is_listed = |it: &Skipped| {
            reading.inventory.skipped.iter().any(|other| (other.kind, &other.path) == (it.kind, &it.path))
        };
        let skipped = file.skipped.take().filter(|it| !is_listed(it));
        reading.inventory.skipped.extend(skipped);
        // What was rendered repeats the comments of what people wrote, in another place.
        if file.file.rendered.is_none() {
            reading.comments.append(&mut file.stream.comments);
        }
    }
}

static_regex!(
    /// What opens a part of a template that may be there or not.
    static OPENING: Regex = r"\{\{-?\s*(?:if|with|range)\b"
);
static_regex!(static CLOSING: Regex = r"\{\{-?\s*end\b");

/// A file with what its text was found to be.
struct Parsed {
    file: text::file::File,
    stream: Stream,
    /// Its documents with other branches of a template taken.
    branches: Vec<Vec<YamlDocument>>,
    skipped: Option<Skipped>,
    /// Why what it says is only a conclusion.
    inferred: Option<Arc<str>>,
    /// So many of its documents are in the text; the others are made of them.
    written: usize,
    /// Documents, by their number, in whose place others are read.
    stood_for: BTreeSet<usize>,
    /// The file of the object that made it what it is; nothing where it is what is written.
    made_by: Option<Arc<str>>,
}

impl Parsed {
    fn new(sources: &Sources, file: text::file::File) -> Self {
        let text = sources.text(file.id);
        let mut template = text::template::read(&file, &text, sources.limits());
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
            Skipped::new(SkipKind::Rendering, &*file.path, reason)
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

    /// Why an object of it may not be there: it stands inside a condition that is not known, or in a template that was not
    /// rendered and has conditions before it.
    fn perhaps(&self, sources: &Sources, span: Span) -> Option<Arc<Unknown<RawTree>>> {
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
        Some(Arc::new(Unknown { span, why, candidates: Vec::new() }))
    }

    /// The same file as an object makes it.
    fn made(self, by: Arc<str>) -> Self {
        Parsed { skipped: None, made_by: Some(by), ..self }
    }

    fn is_made(&self) -> bool {
        self.made_by.is_some()
    }

    /// Where it stands in the tree: with what made it, if something did.
    fn place(&self) -> &Arc<str> {
        self.made_by.as_ref().unwrap_or(&self.file.path)
    }

    /// The documents that are read.
    fn current(&self) -> impl Iterator<Item = &YamlDocument> {
        let all = self.stream.documents.iter().enumerate();
        all.filter(|(number, _)| !self.stood_for.contains(number)).map(|(_, document)| document)
    }

    fn roots(&self) -> impl Iterator<Item = &Node> {
        self.current().map(|document| &document.root)
    }
}

/// Comments of the files that facts lead to and that were not read for themselves: values of charts, templates and parts
/// of kustomizations that were rendered.
fn comments_elsewhere<'r>(
    sources: &Sources,
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

fn read_all(sources: &Sources, parsed: &[Parsed], index: &ObjectIndex<'_>) -> Vec<(Arc<str>, FoundResource)> {
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
        // Of a file that others only take something from, what takes its own values from others.
        if parsed.file.joined_only && !gives_values(&document.root) {
            continue;
        }
        let before = found.len();
        reader.read(&document.root, document.span, &mut found);
        // What names no kind is mostly the values of a chart, whatever the file is called.
        if found.len() == before && pods::workload::identify(&document.root).is_none() {
            reader.read_values(&document.root, document.span, &mut found);
        }
    }
    found
}

fn gives_values(root: &Node) -> bool {
    Object::new(root).and_then(|object| KINDS.find(object.group, object.kind)).is_some_and(|row| !row.values.is_empty())
}

fn scalers(parsed: &[Parsed]) -> Vec<(Arc<str>, Scaler)> {
    let scaler = |(path, object, row): (&Arc<str>, Object<'_>, &'static KindRow)| {
        let paused = row.suspended.as_ref().and_then(|path| path.first(object.root)?.text());
        let rests = paused.is_some_and(|text| text.eq_ignore_ascii_case("true"));
        let scales = row.scales.as_ref().filter(|_| !rests)?;
        Some((path.clone(), Scaler::new(&object, scales)?))
    };
    objects(parsed).filter_map(scaler).collect()
}

fn sharings(sources: &Sources, parsed: &[Parsed]) -> Vec<Sharing> {
    let mut all = Vec::new();
    for file in parsed.iter().filter(|file| sources.text(file.file.id).contains("sharing")) {
        file.roots().for_each(|root| Sharing::find(file.place(), root, &mut all));
    }
    all
}

fn relations(parsed: &[Parsed]) -> Vec<Relation> {
    let relation = |(path, object, row): (&Arc<str>, Object<'_>, &'static KindRow)| {
        Relation::new(&object, row.relates.as_ref()?, path)
    };
    objects(parsed).filter_map(relation).collect()
}

/// Objects of kinds without a row in which no pods are found.
fn unlisted(parsed: &[Parsed], found: &[(Arc<str>, FoundResource)]) -> Vec<Unlisted> {
    let roots = parsed.iter().filter(|file| !file.is_made()).flat_map(Parsed::current);
    let of_unknown_kind = roots.filter_map(|document| match pods::workload::identify(&document.root) {
        Some((object, None)) if is_custom(object.group) => pods::unlisted::of(&object, document.span),
        _ => None,
    });
    let pods: BTreeSet<Span> = found.iter().map(|(_, found)| found.resource.span).collect();
    let has_pods = |it: &Unlisted| {
        pods.range(Span { end: it.body.start, ..it.body }..).next().is_some_and(|first| it.body.contains(*first))
    };
    of_unknown_kind.filter(|it| !has_pods(it)).collect()
}

/// Kinds of Kubernetes itself ask for machines by what pods ask for, and in no other way.
fn is_custom(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
}

/// Objects that have a row, and those that they carry.
fn objects(parsed: &[Parsed]) -> impl Iterator<Item = (&Arc<str>, Object<'_>, &'static KindRow)> {
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
