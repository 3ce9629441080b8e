//! One root: what assigns its variables, and its evaluation.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::source::{Sources, Span};

use super::library::Library;
use super::modules::Modules;
use super::roots::automatic_files;
use super::variants::Variant;
use crate::terraform::Options;
use crate::terraform::block::Block;
use crate::terraform::evaluate::{Assignment, Budget, Evaluator, Instance};
use crate::terraform::syntax::Kind;

/// A root as it was read.
#[derive(Debug, Clone, Default)]
pub(in crate::terraform) struct Root {
    pub(in crate::terraform) blocks: Vec<Block>,
    /// Resources of which there is none, as they would be.
    pub(in crate::terraform) switched_off: Vec<Block>,
    pub(in crate::terraform) diagnostics: Vec<Diagnostic>,
    pub(in crate::terraform) variable_files: Vec<String>,
    /// Everything that it was read from.
    pub(in crate::terraform) files: BTreeSet<Arc<str>>,
    /// Maps that variables are by default, as nobody assigns them here.
    pub(in crate::terraform) default_maps: Vec<Span>,
    /// What evaluating it cost.
    pub(in crate::terraform) steps: u64,
}

pub(in crate::terraform) fn evaluate(
    sources: &Sources,
    library: &Library<'_>,
    directory: &str,
    variant: &Variant,
    options: &Options,
) -> Root {
    let code = library.module(directory);
    let mut root = Root::default();
    let Some(anywhere) = code.anywhere else { return root };
    let mut assignments = Assignments { sources, library, by_name: HashMap::new(), diagnostics: Vec::new() };
    for (name, value) in &options.environment {
        assignments.text("environment", name, value);
    }
    root.variable_files = automatic_files(sources, directory);
    root.variable_files.extend(options.variable_files.iter().cloned());
    root.variable_files.extend(variant.files.iter().cloned());
    for path in &root.variable_files {
        assignments.file(path);
    }
    for (name, value) in variant.variables.iter().chain(&options.variables) {
        assignments.text("--var", name, value);
    }
    root.diagnostics = assignments.diagnostics;
    let unassigned = code.variables.iter().filter(|it| !assignments.by_name.contains_key(it.label(0)));
    let defaults = unassigned.filter_map(|it| it.body.attribute("default")).map(|it| &it.expression);
    root.default_maps = defaults.filter(|it| matches!(it.kind, Kind::Object(_))).map(|it| it.span).collect();
    let variable_files = root.variable_files.iter().map(|it| Arc::from(it.as_str()));
    let touched = RefCell::new(code.files.iter().cloned().chain(variable_files).collect());
    let modules_directory = variant.modules_directory.as_deref().or(options.modules_directory.as_deref());
    let evaluator = Evaluator {
        sources,
        library,
        root: directory.to_owned(),
        workspace: variant.workspace.clone(),
        assignments: assignments.by_name,
        modules: Modules::read(sources, directory, modules_directory),
        budget: Budget::new(anywhere, sources.limits().evaluation_steps),
        patterns: RefCell::default(),
        diagnostics: RefCell::default(),
        touched,
    };
    let instance = Instance::root(code, anywhere);
    evaluator.all_blocks(&instance, &mut root.blocks);
    evaluator.switched_off(&instance, &mut root.switched_off);
    if let Some(cause) = evaluator.budget.exhausted() {
        let message = format!("not everything in this root is read: {}", cause.why);
        root.diagnostics.push(Diagnostic::unreadable(message, cause.span));
    }
    root.diagnostics.extend(evaluator.diagnostics.into_inner().finish(anywhere));
    root.files = evaluator.touched.into_inner();
    root.steps = evaluator.budget.spent();
    root
}

/// What assigns values to the variables of a root, the strongest last.
struct Assignments<'l, 's> {
    sources: &'l Sources,
    library: &'l Library<'s>,
    by_name: HashMap<String, Vec<Assignment>>,
    diagnostics: Vec<Diagnostic>,
}

impl Assignments<'_, '_> {
    fn text(&mut self, origin: &str, name: &str, value: &str) {
        let file = self.sources.derive(&format!("{origin} {name}"), value.to_owned(), Vec::new());
        let span = Span::new(file, 0, value.len());
        self.by_name.entry(name.to_owned()).or_default().push(Assignment::Text(span));
    }

    fn file(&mut self, path: &str) {
        let read = self.library.variable_file(path);
        self.diagnostics.extend(read.wrong.clone());
        for attribute in &read.attributes {
            let name = attribute.name.text.to_string();
            self.by_name.entry(name).or_default().push(Assignment::Written(attribute.clone()));
        }
    }
}
