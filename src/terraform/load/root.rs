//! One root: what assigns its variables, and its evaluation.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Level};
use crate::source::{FileId, Sources, Span};

use super::library::Library;
use super::module::ModuleCode;
use super::modules::Modules;
use super::roots::automatic_files;
use crate::terraform::Options;
use crate::terraform::block::Block;
use crate::terraform::evaluate::{Assignment, Budget, Evaluator, Instance, Shadows};
use crate::terraform::syntax::json::{literal, parse_json, parse_json_within};
use crate::terraform::syntax::{Attribute, Kind, SyntaxError, parse_body};
use crate::terraform::value::Value;

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
    /// About so many bytes of values were made.
    pub(in crate::terraform) memory: u64,
    /// The directories of the modules of which it makes some.
    pub(in crate::terraform) made: BTreeSet<String>,
    /// OpenTofu reads other files of it, or of what it calls, than Terraform does.
    pub(in crate::terraform) has_files_of_one_tool: bool,
}

pub(in crate::terraform) fn evaluate(
    sources: &Sources,
    library: &Library<'_>,
    directory: &str,
    environment: Option<&str>,
    options: &Options,
    memory: u64,
) -> Root {
    let code = library.module(directory);
    let mut files = automatic_files(sources, directory);
    files.extend(options.variable_files.iter().cloned());
    files.extend(environment.map(str::to_owned));
    let given = files.into_iter().map(Given::File).collect();
    let shadows = Shadows::default();
    evaluate_with(
        sources,
        library,
        Configuration { code, given, environment: options, shadows, any: None },
        options,
        memory,
    )
}

/// The code of a root with what assigns its variables.
pub(in crate::terraform) struct Configuration<'o> {
    pub(in crate::terraform) code: Arc<ModuleCode>,
    /// The strongest last; what the command line gives is stronger.
    pub(in crate::terraform) given: Vec<Given>,
    /// Where the variables of the environment are, which are the weakest but for inputs.
    pub(in crate::terraform) environment: &'o Options,
    pub(in crate::terraform) shadows: Shadows,
    /// Variables that nothing assigns may be assigned by something that is not known.
    pub(in crate::terraform) any: Option<Value>,
}

/// What assigns variables.
#[derive(Debug, Clone)]
pub(in crate::terraform) enum Given {
    /// Weaker than the environment, wherever it stands.
    Input(String, Value),
    /// Null that is stronger than the environment.
    Null(String, Value),
    File(String),
    /// `-var name=value`
    Argument(String, Value),
}

pub(in crate::terraform) fn evaluate_with(
    sources: &Sources,
    library: &Library<'_>,
    configuration: Configuration<'_>,
    options: &Options,
    memory: u64,
) -> Root {
    let Configuration { code, given, environment, shadows, any } = configuration;
    let mut root = Root::default();
    let Some(anywhere) = code.anywhere else { return root };
    let directory = code.directory.clone();
    let mut assignments = Assignments { sources, by_name: HashMap::new(), diagnostics: Vec::new() };
    for it in &given {
        if let Given::Input(name, value) = it {
            assignments.value(name, value);
        }
    }
    for (name, value) in &environment.environment {
        assignments.text("environment", name, value);
    }
    for it in &given {
        match it {
            Given::Input(..) => {}
            Given::Null(name, value) | Given::Argument(name, value) => assignments.value(name, value),
            Given::File(path) => {
                assignments.file(path);
                root.variable_files.push(path.clone());
            }
        }
    }
    for (name, value) in &options.variables {
        assignments.text("--var", name, value);
    }
    root.diagnostics = assignments.diagnostics;
    let unassigned = code.variables.iter().filter(|it| !assignments.by_name.contains_key(it.label(0)));
    let defaults = unassigned.filter_map(|it| it.body.attribute("default")).map(|it| &it.expression);
    root.default_maps = defaults.filter(|it| matches!(it.kind, Kind::Object(_))).map(|it| it.span).collect();
    let variable_files = root.variable_files.iter().map(|it| Arc::from(it.as_str()));
    let touched = RefCell::new(code.files.iter().cloned().chain(variable_files).collect());
    let evaluator = Evaluator {
        sources,
        library,
        options,
        modules: Modules::read(sources, &directory, options.modules_directory.as_deref()),
        root: directory,
        assignments: assignments.by_name,
        assigned_to_any: any.map(Assignment::Given),
        budget: Rc::new(Budget::new(anywhere, sources.limits().evaluation_steps, memory)),
        patterns: RefCell::default(),
        diagnostics: RefCell::default(),
        dialect: None,
        shadows,
        made: RefCell::default(),
        has_files_of_one_tool: Cell::new(code.has_files_of_one_tool),
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
    root.memory = evaluator.budget.memory_spent();
    root.made = evaluator.made.into_inner();
    root.has_files_of_one_tool = evaluator.has_files_of_one_tool.get();
    root
}

/// What assigns values to the variables of a root, the strongest last.
struct Assignments<'s> {
    sources: &'s Sources,
    by_name: HashMap<String, Vec<Assignment>>,
    diagnostics: Vec<Diagnostic>,
}

impl Assignments<'_> {
    fn text(&mut self, origin: &str, name: &str, value: &str) {
        let file = self.sources.derive(&format!("{origin} {name}"), value.to_owned(), Vec::new());
        let span = Span::new(file, 0, value.len());
        self.by_name.entry(name.to_owned()).or_default().push(Assignment::Text(span));
    }

    fn value(&mut self, name: &str, value: &Value) {
        self.by_name.entry(name.to_owned()).or_default().push(Assignment::Given(value.clone()));
    }

    fn file(&mut self, path: &str) {
        let file = match self.sources.open(path) {
            Ok(file) => file,
            Err(error) => {
                let message = format!("{path} cannot be read: {error}");
                self.diagnostics.push(Diagnostic::new(Level::Error, message, None));
                return;
            }
        };
        let text = self.sources.text(file);
        let (attributes, error) = if path.ends_with(".json") {
            match parse_json_within(file, &text, self.sources.limits().nesting) {
                Ok(json) => {
                    let attribute =
                        |(name, value): &(crate::terraform::syntax::Name, crate::terraform::syntax::json::Json)| {
                            Attribute { name: name.clone(), expression: literal(value) }
                        };
                    (json.entries().iter().map(attribute).collect(), None)
                }
                Err(error) => (Vec::new(), Some(error)),
            }
        } else {
            let parsed = parse_body(file, &text, self.sources.limits().nesting);
            match parsed.errors.into_iter().next() {
                Some(error) => match other_language(file, &text) {
                    Some(what) => (Vec::new(), Some(SyntaxError { message: what.to_owned(), span: error.span })),
                    None => (parsed.body.attributes, Some(error)),
                },
                None => (parsed.body.attributes, None),
            }
        };
        if let Some(error) = error {
            let message = format!("not all variables of this file can be read: {}", error.message);
            self.diagnostics.push(Diagnostic::unreadable(message, error.span));
        }
        for attribute in attributes {
            let name = attribute.name.text.to_string();
            self.by_name.entry(name).or_default().push(Assignment::Written(Arc::new(attribute)));
        }
    }
}

/// What a `.tfvars` file that does not parse is instead, where that can be told: none of it is used.
fn other_language(file: FileId, text: &str) -> Option<&'static str> {
    if text.contains("{{") || text.contains("{%") {
        return Some("it is a template of another program, which fills in what stands in `{{` or `{%`");
    }
    let json = text.trim_start().starts_with('{') && parse_json(file, text).is_ok();
    json.then_some("it is JSON, which Terraform reads from files that end in `.tfvars.json` only")
}
