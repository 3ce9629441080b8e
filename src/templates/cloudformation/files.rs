//! Detects template files, and resolves locations of nested templates.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::languages::cloudformation::{CloudTemplate, NestedTemplates};
use crate::languages::hcl::value::HclValue;
use crate::languages::yaml::{self, Node};
use crate::source::{FileId, SourceFiles, Span, each, parent};

use crate::templates::located::meant;
use crate::templates::reading::TemplateReading;

use super::assembly::Assemblies;

/// Templates by path.
pub(super) type TemplatesByPath = BTreeMap<String, Arc<CloudTemplate>>;

/// Marks of other template languages. A file with one of them is not a template yet. Double braces alone may belong to
/// a Systems Manager document.
const FILLED_IN: [&str; 2] = ["{% ", "{%- "];

/// The first key of most YAML templates, and of nothing else.
const VERSION: &str = "AWSTemplateFormatVersion:";

/// Parses the templates among the candidates.
pub(super) fn parse(
    sources: &SourceFiles,
    candidates: &[String],
    assemblies: &mut Assemblies,
    reading: &mut TemplateReading,
) -> TemplatesByPath {
    let mut all = TemplatesByPath::new();
    let mut opened: Vec<(&String, FileId)> = Vec::new();
    for path in candidates {
        let Ok(file) = sources.open(path) else { continue };
        let synthesized = assemblies.of(sources, path);
        reading.comments.extend(synthesized.iter().flat_map(|it| it.comments(sources)));
        opened.push((path, synthesized.and_then(|it| it.traced(sources, file)).unwrap_or(file)));
    }
    for parsed in each(opened, |(path, file)| Parsed::read(sources, path, file)) {
        if let Some(template) = parsed.template {
            all.insert(parsed.path.to_owned(), Arc::new(template));
            reading.comments.extend(parsed.comments);
            reading.inventory.diagnostics.extend(parsed.diagnostics);
        } else if parsed.is_data {
            reading.taken.insert(parsed.path.to_owned());
        } else if parsed.is_refused {
            reading.inventory.diagnostics.extend(parsed.diagnostics);
            reading.taken.insert(parsed.path.to_owned());
        } else if assemblies.describes(sources, parsed.path) {
            reading.taken.insert(parsed.path.to_owned());
        }
    }
    all
}

struct Parsed<'p> {
    path: &'p str,
    template: Option<CloudTemplate>,
    /// Whether the file is certainly a template, and CloudFormation would refuse it.
    is_refused: bool,
    /// Whether the file is JSON without declarations, such as a service description, which names types and creates
    /// none.
    is_data: bool,
    comments: Vec<Span>,
    diagnostics: Vec<Diagnostic>,
}

impl<'p> Parsed<'p> {
    fn read(sources: &SourceFiles, path: &'p str, file: FileId) -> Self {
        let text = sources.text(file);
        let mut parsed = Parsed {
            path,
            template: None,
            is_refused: false,
            is_data: false,
            comments: Vec::new(),
            diagnostics: Vec::new(),
        };
        if FILLED_IN.iter().any(|mark| text.contains(mark)) {
            return parsed;
        }
        let stream = yaml::read_tagged(file, &text, sources.limits());
        if stream.has_directives {
            return parsed;
        }
        parsed.template = stream.documents.first().and_then(|it| CloudTemplate::of(&it.root));
        parsed.is_data = path.ends_with(".json")
            && parsed.template.is_none()
            && !stream.documents.is_empty()
            && !stream.documents.iter().any(|it| declares(&it.root));
        parsed.is_refused = stream.documents.is_empty() && text.starts_with(VERSION);
        (parsed.comments, parsed.diagnostics) = (stream.comments, stream.diagnostics);
        parsed
    }
}

/// Returns true if any part has a CloudFormation type: a fragment that other templates include has one.
fn declares(root: &Node) -> bool {
    let is_type = |node: &Node| node.text_at("Type").is_some_and(|it| it.starts_with("AWS::"));
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if is_type(node) {
            return true;
        }
        open.extend(node.inner());
    }
    false
}

/// Provides the templates of the tree to stacks that nest them.
pub(super) struct StackTemplates<'s> {
    pub(super) sources: &'s SourceFiles,
    pub(super) templates: &'s TemplatesByPath,
    /// The outermost template. It must not nest itself, because this would never end.
    pub(super) outermost: &'s str,
    /// Templates that were used.
    pub(super) taken: RefCell<BTreeSet<String>>,
}

impl NestedTemplates for StackTemplates<'_> {
    fn nested(&self, location: &HclValue) -> Option<Arc<CloudTemplate>> {
        let folder = parent(&self.sources.path(location.span.file)).to_owned();
        let path = meant(location, &folder, self.templates).filter(|path| *path != self.outermost)?;
        self.taken.borrow_mut().insert(path.to_owned());
        self.templates.get(path).cloned()
    }
}
