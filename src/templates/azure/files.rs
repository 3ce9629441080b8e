//! Detects template files, and resolves references between templates.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::languages::azure::{AzureLibrary, AzureTemplate, without_comments};
use crate::languages::hcl::value::HclValue;
use crate::languages::yaml;
use crate::source::{FileId, SourceFiles, Span, each, join, parent};

use crate::templates::located::meant;
use crate::templates::reading::TemplateReading;

/// Templates by path.
pub(super) type AzureTemplates = BTreeMap<String, Arc<AzureTemplate>>;

/// The ending of Bicep parameter files.
pub(super) const PARAMETERS: &str = ".bicepparam";

/// The ending of Bicep files.
const BICEP: &str = ".bicep";

/// Parses the templates among the candidates.
pub(super) fn parse(sources: &SourceFiles, candidates: &[String], reading: &mut TemplateReading) -> AzureTemplates {
    let mut all = AzureTemplates::new();
    let opened: Vec<(&String, FileId)> = candidates
        .iter()
        .filter(|it| !it.ends_with(PARAMETERS))
        .filter_map(|path| Some((path, sources.open(path).ok()?)))
        .collect();
    for parsed in each(opened, |(path, file)| Parsed::read(sources, path, file)) {
        let Some(template) = parsed.template else { continue };
        all.insert(parsed.path.to_owned(), Arc::new(template));
        reading.comments.extend(parsed.comments);
        reading.inventory.diagnostics.extend(parsed.diagnostics);
    }
    all
}

struct Parsed<'p> {
    path: &'p str,
    template: Option<AzureTemplate>,
    comments: Vec<Span>,
    diagnostics: Vec<Diagnostic>,
}

impl<'p> Parsed<'p> {
    fn read(sources: &SourceFiles, path: &'p str, file: FileId) -> Self {
        let text = sources.text(file);
        if path.ends_with(BICEP) {
            let (template, comments, diagnostics) = AzureTemplate::of_bicep(file, &text);
            return Parsed { path, template: Some(template), comments, diagnostics };
        }
        let (text, comments) = without_comments(file, &text);
        let stream = yaml::read_within(file, &text, sources.limits());
        let template = stream.documents.first().and_then(|it| AzureTemplate::of_json(&it.root));
        Parsed { path, template, comments, diagnostics: stream.diagnostics }
    }
}

/// Provides the templates of the tree to those that deploy them.
pub(super) struct DeploymentTemplates<'s> {
    pub(super) sources: &'s SourceFiles,
    pub(super) templates: &'s AzureTemplates,
    /// The outermost template. It must not deploy itself, because this would never end.
    pub(super) outermost: &'s str,
    /// Templates that were used.
    pub(super) taken: RefCell<BTreeSet<String>>,
}

impl AzureLibrary for DeploymentTemplates<'_> {
    fn template(&self, location: &HclValue) -> Option<Arc<AzureTemplate>> {
        let folder = parent(&self.sources.path(location.span.file)).to_owned();
        let path = meant(location, &folder, self.templates).filter(|path| *path != self.outermost)?;
        self.taken.borrow_mut().insert(path.to_owned());
        self.templates.get(path).cloned()
    }

    fn text(&self, location: &HclValue) -> Option<Arc<str>> {
        let folder = parent(&self.sources.path(location.span.file)).to_owned();
        let file = self.sources.open(&join(&folder, &location.as_text()?)?).ok()?;
        Some((*self.sources.text(file)).into())
    }
}
