//! Evaluates one root with the values of its variables.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::hcl::syntax::HclKind;
use crate::languages::hcl::value::{Cause, HclValue};
use crate::source::{Segment, SourceFiles, Span};

use super::options::TerraformOptions;
use super::passed::values::PassedValue;
use super::roots::{RootEvidence, automatic_files};
use super::variant::RootVariant;
use crate::terraform::block::{EvaluatedBlock, Provider};
use crate::terraform::code::library::ModuleLibrary;
use crate::terraform::code::module::ModuleCode;
use crate::terraform::code::modules::Modules;
use crate::terraform::evaluate::{EvaluationBudget, Instance, Reaches, RootEvaluator, Shadows, VariableAssignment};

/// A root after evaluation.
#[derive(Debug, Clone, Default)]
pub(in crate::terraform) struct LoadedRoot {
    pub(in crate::terraform) blocks: Vec<EvaluatedBlock>,
    /// Resources with a count of 0, as their first instance would be.
    pub(in crate::terraform) switched_off: Vec<EvaluatedBlock>,
    /// The root's own configurations of clouds.
    pub(in crate::terraform) clouds: Vec<Arc<Provider>>,
    /// Providers, variables, Terraform settings and module outputs, if they are requested.
    pub(in crate::terraform) others: Vec<EvaluatedBlock>,
    /// The references of its blocks, if they are requested.
    pub(in crate::terraform) reaches: Reaches,
    pub(in crate::terraform) diagnostics: Vec<Diagnostic>,
    pub(in crate::terraform) variable_files: Vec<String>,
    /// All files that it was read from.
    pub(in crate::terraform) files: BTreeSet<Arc<str>>,
    /// Maps that are the default of a variable which no file here assigns.
    pub(in crate::terraform) default_maps: Vec<Span>,
    /// The evaluation steps that it used.
    pub(in crate::terraform) steps: u64,
    /// The approximate number of bytes of its values.
    pub(in crate::terraform) memory: u64,
    /// The directories of the modules that it creates instances of.
    pub(in crate::terraform) made: BTreeSet<String>,
    /// True if OpenTofu and Terraform read different files of the root or of the modules that it calls.
    pub(in crate::terraform) has_files_of_one_tool: bool,
}

/// A root, evaluated with one set of variable files, and its contents.
#[derive(Debug, Clone)]
pub(in crate::terraform) struct EvaluatedRoot<C> {
    pub(in crate::terraform) directory: String,
    pub(in crate::terraform) variant: RootVariant,
    pub(in crate::terraform) why: RootEvidence,
    pub(in crate::terraform) root: LoadedRoot,
    /// The result of the `RootReader`.
    pub(in crate::terraform) contents: C,
    /// The number under which another state of the tree finds it.
    pub(in crate::terraform) number: Option<usize>,
}

pub(in crate::terraform) fn evaluate(
    sources: &SourceFiles,
    library: &ModuleLibrary<'_>,
    directory: &str,
    variant: &RootVariant,
    options: &TerraformOptions,
    memory: u64,
) -> LoadedRoot {
    let code = library.module(directory);
    let mut files = automatic_files(sources, directory);
    files.extend(options.variable_files.iter().cloned());
    files.extend(variant.files.iter().cloned());
    let of_environment = variant.passed.iter().filter(|it| it.is_environment).cloned().map(VariableInput::Passed);
    let arguments = variant.passed.iter().filter(|it| !it.is_environment).cloned().map(VariableInput::Passed);
    let undeclared = undeclared(&code, variant);
    let given = of_environment.chain(files.into_iter().map(VariableInput::File)).chain(arguments).collect();
    let any = variant.missing.as_ref().map(|(why, at)| VariableAssignment::Perhaps(Arc::new(Cause::new(why, *at))));
    let configuration =
        RootConfiguration { code, given, variant, environment: options, shadows: Shadows::default(), any };
    let mut root = evaluate_with(sources, library, configuration, options, memory);
    root.diagnostics.extend(undeclared);
    root.files.extend(variant.callers.iter().map(|path| Arc::from(path.as_str())));
    root
}

/// Returns a message about each argument of a command that the root does not declare.
fn undeclared(code: &ModuleCode, variant: &RootVariant) -> Vec<Diagnostic> {
    let is_extra = |it: &&PassedValue| !it.is_environment && !code.incomplete && code.variables.get(&it.name).is_none();
    let message = |it: &PassedValue| {
        let root = if code.directory.is_empty() { "the root module" } else { &code.directory };
        let message = format!("the command sets the variable `{}`, which {root} does not declare", it.name);
        Diagnostic::warning(message, it.at)
            .skipping(SkipKind::UndeclaredParameter, "variable that no root declares")
            .with_help("correct the name or remove the argument: Terraform refuses the command")
    };
    variant.passed.iter().filter(is_extra).map(message).collect()
}

/// The code of a root with the values of its variables.
pub(in crate::terraform) struct RootConfiguration<'o> {
    pub(in crate::terraform) code: Arc<ModuleCode>,
    /// The inputs, in order of precedence; those of the command line come last and override the others.
    pub(in crate::terraform) given: Vec<VariableInput>,
    pub(in crate::terraform) variant: &'o RootVariant,
    /// The options with the variables of the environment, which override only inputs.
    pub(in crate::terraform) environment: &'o TerraformOptions,
    pub(in crate::terraform) shadows: Shadows,
    /// An assignment to any variable without a value.
    pub(in crate::terraform) any: Option<VariableAssignment>,
}

/// A source of variable values.
#[derive(Debug, Clone)]
pub(in crate::terraform) enum VariableInput {
    /// An input. The environment overrides it, regardless of its position in the list.
    Input(String, HclValue),
    /// A null value that overrides the environment.
    Null(String, HclValue),
    File(String),
    /// An argument `-var name=value`.
    Argument(String, HclValue),
    /// A value that a command of the tree passes.
    Passed(PassedValue),
}

impl VariableInput {
    fn file(&self) -> Option<&str> {
        match self {
            VariableInput::File(path) => Some(path),
            _ => None,
        }
    }
}

pub(in crate::terraform) fn evaluate_with(
    sources: &SourceFiles,
    library: &ModuleLibrary<'_>,
    configuration: RootConfiguration<'_>,
    options: &TerraformOptions,
    memory: u64,
) -> LoadedRoot {
    let RootConfiguration { code, given, variant, environment, shadows, any } = configuration;
    let mut root = LoadedRoot::default();
    let Some(anywhere) = code.anywhere else { return root };
    let directory = code.directory.clone();
    let mut assignments = Assignments { sources, library, by_name: HashMap::new(), diagnostics: Vec::new() };
    assignments.take(&given, &environment.environment, variant.variables.iter().chain(&options.variables));
    root.variable_files = given.iter().filter_map(VariableInput::file).map(str::to_owned).collect();
    root.diagnostics = assignments.diagnostics;
    let unassigned = code.variables.iter().filter(|it| !assignments.by_name.contains_key(it.label(0)));
    let defaults = unassigned.filter_map(|it| it.body.attribute("default")).map(|it| &it.expression);
    root.default_maps = defaults.filter(|it| matches!(it.kind, HclKind::Object(_))).map(|it| it.span).collect();
    let variable_files = root.variable_files.iter().map(|it| Arc::from(it.as_str()));
    let touched = RefCell::new(code.files.iter().cloned().chain(variable_files).collect());
    let modules_directory = variant.modules_directory.as_deref().or(options.modules_directory.as_deref());
    let evaluator = RootEvaluator {
        sources,
        library,
        modules: Modules::read(sources, &directory, modules_directory),
        root: directory,
        workspace: variant.workspace.clone(),
        assignments: assignments.by_name,
        assigned_to_any: any,
        budget: Rc::new(EvaluationBudget::new(anywhere, sources.limits().evaluation_steps, memory)),
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
    root.clouds = evaluator.clouds(&instance);
    if options.raw {
        evaluator.other_blocks(&instance, &mut root.others);
        evaluator.reaches(&instance, &mut root.reaches);
    }
    instance.forget_calls();
    if let Some(cause) = evaluator.budget.exhausted() {
        let message = format!("some of this root is not read: {}", cause.why);
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

/// The values of a root's variables, in order of precedence.
struct Assignments<'l, 's> {
    sources: &'l SourceFiles,
    library: &'l ModuleLibrary<'s>,
    by_name: HashMap<String, Vec<VariableAssignment>>,
    diagnostics: Vec<Diagnostic>,
}

impl Assignments<'_, '_> {
    /// Adds the values in order of precedence, the highest last.
    fn take<'v>(
        &mut self,
        given: &[VariableInput],
        environment: &[(String, String)],
        command_line: impl Iterator<Item = &'v (String, String)>,
    ) {
        for it in given {
            match it {
                VariableInput::Input(name, value) => self.value(name, value),
                VariableInput::Passed(value) if value.is_environment => self.passed(value),
                _ => {}
            }
        }
        for (name, value) in environment {
            self.text("environment", name, value);
        }
        for it in given {
            match it {
                VariableInput::Input(..) => {}
                VariableInput::Null(name, value) | VariableInput::Argument(name, value) => self.value(name, value),
                VariableInput::File(path) => self.file(path),
                VariableInput::Passed(value) if !value.is_environment => self.passed(value),
                VariableInput::Passed(_) => {}
            }
        }
        for (name, value) in command_line {
            self.text("--var", name, value);
        }
    }

    fn text(&mut self, origin: &str, name: &str, value: &str) {
        let file = self.sources.derive(&format!("{origin} {name}"), value.to_owned(), Vec::new());
        let span = Span::new(file, 0, value.len());
        self.by_name.entry(name.to_owned()).or_default().push(VariableAssignment::Text(span));
    }

    /// Adds a value of a command. Its place is that of the command, and no fix writes there.
    fn passed(&mut self, PassedValue { name, text, at, .. }: &PassedValue) {
        let assignment = match text {
            Ok(text) => {
                let segments = vec![Segment { start: 0, origin: *at, linear: false }];
                let file = self.sources.derive(&self.sources.path_of(*at), text.clone(), segments);
                VariableAssignment::Text(Span::new(file, 0, text.len()))
            }
            Err(why) => VariableAssignment::Given(HclValue::unknown(why.as_str(), *at)),
        };
        self.by_name.entry(name.clone()).or_default().push(assignment);
    }

    fn value(&mut self, name: &str, value: &HclValue) {
        self.by_name.entry(name.to_owned()).or_default().push(VariableAssignment::Given(value.clone()));
    }

    fn file(&mut self, path: &str) {
        let read = self.library.variable_file(path);
        self.diagnostics.extend(read.wrong.clone());
        for attribute in &read.attributes {
            let name = attribute.name.text.to_string();
            self.by_name.entry(name).or_default().push(VariableAssignment::Written(attribute.clone()));
        }
    }
}
