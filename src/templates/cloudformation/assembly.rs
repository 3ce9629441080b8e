//! Reads the output of `cdk synth`. A manifest next to the templates contains the account and region of each, and the
//! line of the program for each resource.
//!
//! If that line is known, the facts of the resource point to it, because users do not edit the generated template. The
//! code follows the schema of cloud assemblies 48 (2026-11).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::languages::cloudformation::AccountAndRegion;
use crate::languages::hcl::value::HclValue;
use crate::languages::yaml::{self, Node};
use crate::source::{FileId, Segment, SourceFiles, Span, file_name, join, lines_with_offsets, parent};

pub(super) const MANIFEST: &str = "manifest.json";
/// The ending of templates, including nested ones.
const STACK: &str = ".template.json";
const NESTED: &str = ".nested.template.json";

/// A template in a manifest.
#[derive(Debug, Clone, Default)]
pub(super) struct Synthesized {
    pub(super) place: AccountAndRegion,
    pub(super) parameters: BTreeMap<Arc<str>, HclValue>,
    /// The line of the program for each resource.
    lines: HashMap<Arc<str>, Span>,
}

/// The manifests of the requested folders, each read once.
#[derive(Default)]
pub(super) struct Assemblies {
    folders: HashMap<String, HashMap<Arc<str>, Synthesized>>,
}

impl Assemblies {
    /// Returns the manifest's entry for a template, or for the parent stack whose name is its prefix.
    pub(super) fn of(&mut self, sources: &SourceFiles, path: &str) -> Option<&Synthesized> {
        let name = file_name(path);
        let stacks = self.stacks(sources, parent(path))?;
        let is_around = |file: &str| file.strip_suffix(STACK).is_some_and(|stack| name.starts_with(stack));
        let around = || stacks.iter().filter(|(file, _)| is_around(file)).max_by_key(|(file, _)| file.len());
        stacks.get(name).or_else(|| name.ends_with(NESTED).then(around).flatten().map(|(_, stack)| stack))
    }

    /// Returns true if a file only describes the templates next to it, in a folder whose manifest was read.
    pub(super) fn describes(&self, path: &str) -> bool {
        self.folders.get(parent(path)).is_some_and(|stacks| !stacks.is_empty())
    }

    fn stacks(&mut self, sources: &SourceFiles, folder: &str) -> Option<&HashMap<Arc<str>, Synthesized>> {
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), read(sources, folder).unwrap_or_default());
        }
        self.folders.get(folder)
    }
}

fn read(sources: &SourceFiles, folder: &str) -> Option<HashMap<Arc<str>, Synthesized>> {
    let manifest = root(sources, &join(folder, MANIFEST)?)?;
    let artifacts = manifest.get("artifacts")?.entries().iter().map(|entry| (&entry.key, &entry.value));
    let stacks = artifacts.filter(|(_, artifact)| is_of_type(artifact, "aws:cloudformation:stack"));
    let each = stacks.filter_map(|(name, artifact)| {
        let file = artifact.text_at("properties.templateFile")?.clone();
        Some((file, synthesized(sources, folder, name, artifact)))
    });
    Some(each.collect())
}

fn root(sources: &SourceFiles, path: &str) -> Option<Node> {
    let file = sources.open(path).ok()?;
    let stream = yaml::read_within(file, &sources.text(file), sources.limits());
    stream.documents.into_iter().next().map(|document| document.root)
}

fn synthesized(sources: &SourceFiles, folder: &str, name: &Arc<str>, artifact: &Node) -> Synthesized {
    let parameters = artifact.at("properties.parameters").map(Node::entries).unwrap_or_default().iter();
    let parameters =
        parameters.filter_map(|it| Some((it.key.clone(), HclValue::text(it.value.text()?.clone(), it.value.span))));
    let stack_name = artifact.get("properties").and_then(|it| it.get("stackName"));
    let stack_name = stack_name.and_then(|it| Some(HclValue::text(it.text()?.clone(), it.span)));
    let (account, region) = artifact.get("environment").map(environment).unwrap_or_default();
    let stack_name = stack_name.or_else(|| Some(HclValue::text(name.clone(), artifact.span)));
    Synthesized {
        place: AccountAndRegion { region, account, stack_name },
        parameters: parameters.collect(),
        lines: lines(sources, folder, artifact),
    }
}

/// Parses `aws://123456789012/us-east-1`. A value that is chosen at deployment has the name "unknown" there.
fn environment(node: &Node) -> (Option<HclValue>, Option<HclValue>) {
    let rest = node.text().and_then(|text| text.strip_prefix("aws://"));
    let Some((account, region)) = rest.and_then(|rest| rest.split_once('/')) else { return (None, None) };
    let known = |text: &str| (!text.starts_with("unknown-")).then(|| HclValue::text(text, node.span));
    (known(account), known(region))
}

/// Returns the lines of the program by resource, which `cdk synth --debug` writes. A name in several nested stacks is
/// ambiguous and omitted.
fn lines(sources: &SourceFiles, folder: &str, artifact: &Node) -> HashMap<Arc<str>, Span> {
    let apart = artifact.text_at("additionalMetadataFile").and_then(|name| root(sources, &join(folder, name)?));
    let metadata = artifact.get("metadata").into_iter().chain(apart.iter());
    let mut known = HashMap::new();
    let mut lines: HashMap<Arc<str>, Option<Span>> = HashMap::new();
    for entry in metadata.flat_map(Node::entries) {
        let Some(name) = entry.value.items().iter().find(|it| is_of_type(it, "aws:cdk:logicalId")) else { continue };
        let made = entry.value.items().iter().find(|it| is_of_type(it, "aws:cdk:creationStack"));
        let frames = made.and_then(|it| it.get("data")).or_else(|| name.get("trace")).map(Node::items);
        let frames = frames.unwrap_or_default().iter().filter_map(Node::text);
        let line = frames
            .into_iter()
            .find_map(|frame| *known.entry(frame.clone()).or_insert_with(|| line_of(sources, parent(folder), frame)));
        if let Some(name) = name.text_at("data") {
            lines
                .entry(name.clone())
                .and_modify(|before| *before = before.filter(|it| Some(*it) == line))
                .or_insert(line);
        }
    }
    lines.into_iter().filter_map(|(name, line)| Some((name, line?))).collect()
}

fn is_of_type(node: &Node, kind: &str) -> bool {
    node.text_at("type").is_some_and(|it| &**it == kind)
}

/// Parses `new GpuStack (/home/a/app/lib/gpu-stack.ts:14:5)`; returns the line if the file is in the tree.
fn line_of(sources: &SourceFiles, project: &str, frame: &str) -> Option<Span> {
    let place = frame.rsplit_once('(').map_or(frame, |(_, place)| place).trim_end_matches(')');
    let mut parts = place.rsplitn(3, ':');
    let (_, number, path) = (parts.next()?, parts.next()?.parse::<usize>().ok()?, parts.next()?);
    let steps: Vec<&str> = path.split(['/', '\\']).filter(|step| !step.is_empty()).collect();
    if steps.contains(&"node_modules") {
        return None;
    }
    let ends = (0..steps.len()).filter_map(|first| Some(steps.get(first..)?.join("/")));
    let paths = ends.flat_map(|end| [join(project, &end), join("", &end)]).flatten();
    let file = paths.into_iter().find_map(|path| sources.open(&path).ok())?;
    let text = sources.text(file);
    let (start, line) = lines_with_offsets(&text).nth(number.checked_sub(1)?)?;
    let indent = line.len() - line.trim_start().len();
    Some(Span::new(file, start + indent, start + line.trim_end().len()))
}

impl Synthesized {
    /// Returns comments for gpulint in the program.
    pub(super) fn comments(&self, sources: &SourceFiles) -> Vec<Span> {
        let files: BTreeSet<FileId> = self.lines.values().map(|line| line.file).collect();
        let of_file = |file: FileId| {
            let text = sources.text(file);
            let comment = |(start, line): (usize, &str)| {
                let at = line.find("gpulint:")?;
                let mark = ["//", "#"].iter().filter_map(|mark| line.get(..at)?.rfind(mark)).max()?;
                Some(Span::new(file, start + mark, start + line.trim_end().len()))
            };
            lines_with_offsets(&text).filter_map(comment).collect::<Vec<_>>()
        };
        files.into_iter().flat_map(of_file).collect()
    }

    /// Returns the template as text in which each resource leads to its line of the program; `None` if no line is
    /// known.
    pub(super) fn traced(&self, sources: &SourceFiles, file: FileId) -> Option<FileId> {
        if self.lines.is_empty() {
            return None;
        }
        let text = sources.text(file);
        let stream = yaml::read_tagged(file, &text, sources.limits());
        let resources = stream.documents.first()?.root.get("Resources")?.entries();
        let mut segments = vec![Segment { start: 0, origin: Span::new(file, 0, text.len()), linear: true }];
        for entry in resources {
            let Some(origin) = self.lines.get(&entry.key) else { continue };
            let (start, end) = (entry.span().start, entry.span().end);
            segments.push(Segment { start, origin: *origin, linear: false });
            segments.push(Segment { start: end, origin: Span::new(file, end as usize, text.len()), linear: true });
        }
        Some(sources.derive(&sources.path(file), text.to_string(), segments))
    }
}
