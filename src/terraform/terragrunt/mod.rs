//! Reads Terragrunt units as deployments of their modules, with their inputs.
//!
//! This module reads a unit as Terragrunt does, without running anything: the files that it includes and reads, its
//! settings, the module that Terraform would run, and the values of its variables. If Terragrunt knows a value only at
//! run time, the value is unknown, with its cause.

mod environment;
mod frame;
mod functions;
mod inputs;
mod merge;
mod reader;
mod source;
mod stack;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::hcl::value::{Cause, HclValue};
use crate::source::{SourceFiles, Span, normalize, parent};
use crate::terraform::border::SkippedFile;

use super::code::library::ModuleLibrary;
use super::code::module::has_configuration;
use super::evaluate::{EvaluationBudget, Shadows, VariableAssignment};
use super::load::options::TerraformOptions;
use super::load::parallel;
use super::load::root::{LoadedRoot, RootConfiguration, evaluate_with};
use super::load::rounds::allowed;
use super::load::variant::RootVariant;

use frame::{Context, Frame};
use reader::{STACK, TerragruntReader, UNIT};
use source::ModuleSource;
use stack::{StackUnits, inside};

/// Returns whether a file is a Terragrunt file that is read on its own.
pub(crate) fn is_read_by_itself(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("terragrunt.hcl" | "terragrunt.hcl.json" | "terragrunt.stack.hcl"))
}

/// A unit to read.
pub(super) struct TerragruntUnit {
    /// The directory in which it is applied.
    pub(super) directory: String,
    /// The path of its file.
    real: String,
    shadows: Shadows,
    values: Option<HclValue>,
    /// The files that generated it.
    files: Vec<Arc<str>>,
}

impl TerragruntUnit {
    fn real_directory(&self) -> &str {
        parent(&self.real)
    }
}

/// A unit with the result of its module.
pub(super) struct UnitRun {
    pub(super) directory: String,
    pub(super) root: LoadedRoot,
    /// All files that were read for it, except those of the module.
    pub(super) files: BTreeSet<Arc<str>>,
}

impl UnitRun {
    /// Iterates over all files that it was read from.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        self.files.iter().chain(&self.root.files).map(|it| &**it)
    }
}

/// All units of a tree.
#[derive(Default)]
pub(super) struct TerragruntUnits {
    pub(super) runs: Vec<UnitRun>,
    pub(super) skipped: Vec<SkippedFile>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) comments: Vec<Span>,
    /// Directories that units use as modules, or that belong to units. They are not separate roots.
    pub(super) taken: BTreeSet<String>,
}

/// The result of one unit.
struct Outcome {
    run: Result<UnitRun, String>,
    included: Vec<String>,
    module: Option<String>,
    diagnostics: Vec<Diagnostic>,
    is_template: bool,
    says_inputs: bool,
}

pub(super) fn read(
    sources: &SourceFiles,
    library: &ModuleLibrary<'_>,
    paths: &[String],
    options: &TerraformOptions,
) -> TerragruntUnits {
    let files: BTreeSet<String> =
        paths.iter().filter(|it| is_read_by_itself(it)).filter_map(|it| normalize(it)).collect();
    if files.is_empty() {
        return TerragruntUnits::default();
    }
    let reader = TerragruntReader::new(sources, library, options, paths);
    let mut made = parallel::map(1, |_| stacks(&reader, &files)).pop().unwrap_or_default();
    let planned: BTreeSet<String> = made.units.iter().map(|it| it.directory.clone()).collect();
    let mut units = std::mem::take(&mut made.units);
    for path in files.iter().filter(|it| !it.ends_with(STACK)) {
        let directory = parent(path);
        let is_second = path.ends_with(UNIT) && files.contains(&format!("{path}.json"));
        if is_second || made.templates.contains(directory) || planned.contains(directory) {
            continue;
        }
        let (shadows, values, files) = Default::default();
        units.push(TerragruntUnit { directory: directory.to_owned(), real: path.clone(), shadows, values, files });
    }
    units.sort_by(|a, b| a.directory.cmp(&b.directory));
    let mut spent = 0;
    let outcomes = parallel::map_sharing(units.len(), &mut spent, |index, spent| {
        let outcome = units.get(index).map(|unit| outcome(&reader, unit, allowed(spent)));
        let cost = outcome.as_ref().and_then(|it| it.run.as_ref().ok()).map_or(0, |run| run.root.memory);
        (outcome, cost)
    });
    gathered(&reader, &units, outcomes.into_iter().flatten().collect(), made)
}

/// Returns the units of all stacks in a tree, except stacks that only other stacks use.
fn stacks(reader: &TerragruntReader<'_>, files: &BTreeSet<String>) -> StackUnits {
    let all: Vec<&String> = files.iter().filter(|it| it.ends_with(STACK)).collect();
    let each: Vec<(&String, StackUnits)> = all
        .into_iter()
        .map(|path| {
            let mut made = StackUnits::default();
            made.add(reader, &stack::of_file(path), 0);
            (path, made)
        })
        .collect();
    let templates: BTreeSet<String> = each.iter().flat_map(|(_, made)| made.templates.iter().cloned()).collect();
    let mut result = StackUnits::default();
    for (path, made) in each.into_iter().filter(|(path, _)| !templates.contains(parent(path))) {
        // If no stack passes the values, the stack that generates this one is in another repository.
        let is_template = made.skipped.iter().any(|it| it.path == *path && it.kind == SkipKind::MadeByStack);
        result.skipped.extend(made.skipped);
        if !is_template {
            result.units.extend(made.units);
        }
    }
    result.templates = templates;
    result
}

fn gathered(
    reader: &TerragruntReader<'_>,
    units: &[TerragruntUnit],
    outcomes: Vec<Outcome>,
    made: StackUnits,
) -> TerragruntUnits {
    let mut result = TerragruntUnits { skipped: made.skipped, ..TerragruntUnits::default() };
    let included: BTreeSet<&String> = outcomes.iter().flat_map(|it| &it.included).collect();
    for (unit, outcome) in units.iter().zip(&outcomes) {
        result.taken.insert(unit.real_directory().to_owned());
        result.taken.extend(outcome.module.clone());
        if included.contains(&unit.real) && outcome.run.is_err() {
            continue;
        }
        result.diagnostics.extend(outcome.diagnostics.iter().cloned());
        let (kind, reason) = match &outcome.run {
            _ if outcome.is_template => {
                let reason = "a stack generates this unit: the values from the stack are unknown".to_owned();
                (SkipKind::MadeByStack, reason)
            }
            Err(why) if outcome.says_inputs => (SkipKind::Terragrunt, format!("its inputs are not evaluated: {why}")),
            Err(why) => (SkipKind::Terragrunt, why.clone()),
            Ok(_) => continue,
        };
        result.skipped.push(SkippedFile::new(kind, &unit.real, reason));
    }
    let templates: BTreeSet<&str> =
        units.iter().zip(&outcomes).filter(|(_, it)| it.is_template).map(|(unit, _)| unit.directory.as_str()).collect();
    let dropped: BTreeSet<String> = templates.into_iter().map(str::to_owned).collect();
    let runs = outcomes.into_iter().filter_map(|it| it.run.ok());
    result.runs = runs.filter(|run| !dropped.contains(&run.directory)).collect();
    for module in reader.modules() {
        result.diagnostics.extend(module.diagnostics.iter().cloned());
        let speaks = |span: &&Span| reader.sources.snippet(**span).contains("gpulint");
        result.comments.extend(module.comments.iter().filter(speaks));
    }
    result.taken.extend(reader.library.modules().iter().map(|it| it.directory.clone()));
    result
}

/// Creates the context of a unit or a stack with the file `real`.
fn context<'r>(
    reader: &'r TerragruntReader<'r>,
    directory: &str,
    real: &str,
    shadows: &Shadows,
    values: Option<HclValue>,
) -> Result<Context<'r>, String> {
    let anywhere = reader.parse(real).map_err(|error| error.to_string())?.anywhere();
    Ok(Context {
        reader,
        budget: Rc::new(EvaluationBudget::new(anywhere, reader.sources.limits().evaluation_steps, allowed(0))),
        directory: directory.to_owned(),
        shadows: shadows.clone(),
        values,
        files: RefCell::default(),
        diagnostics: RefCell::default(),
        is_template: Cell::new(false),
        read: RefCell::default(),
        reading: RefCell::default(),
    })
}

fn outcome(reader: &TerragruntReader<'_>, unit: &TerragruntUnit, memory: u64) -> Outcome {
    let mut result = Outcome {
        run: Err(String::new()),
        included: Vec::new(),
        module: None,
        diagnostics: Vec::new(),
        is_template: false,
        says_inputs: false,
    };
    let context = match context(reader, &unit.directory, &unit.real, &unit.shadows, unit.values.clone()) {
        Ok(context) => context,
        Err(why) => return Outcome { run: Err(why), ..result },
    };
    context.files.borrow_mut().extend(unit.files.iter().cloned());
    let path = inside(&unit.directory, unit.real.rsplit('/').next().unwrap_or(UNIT));
    match Frame::open(&context, &path, &unit.real) {
        Ok(frame) => {
            let settings = frame.merged();
            result.says_inputs = settings.entries().is_some_and(|it| it.get("inputs").is_some());
            let files = frame.includes.iter().filter_map(|it| it.frame.as_ref().ok()).map(|it| it.parsed.file);
            result.included = files.map(|it| reader.sources.path(it)).collect();
            result.run = run(&context, unit, &frame, &settings, memory, &mut result.module);
        }
        Err(why) => result.run = Err(why),
    }
    result.is_template = context.is_template.get();
    result.diagnostics = context.diagnostics.into_inner();
    result
}

/// Evaluates the module of a unit with its inputs.
fn run(
    context: &Context<'_>,
    unit: &TerragruntUnit,
    frame: &Frame<'_>,
    settings: &HclValue,
    memory: u64,
    module: &mut Option<String>,
) -> Result<UnitRun, String> {
    let reader = context.reader;
    let own = unit.real_directory();
    let place = member(settings, "terraform").and_then(|it| member(it, "source"));
    let mut shadows = unit.shadows.clone();
    let code = match place {
        None if has_configuration(reader.sources, own) => source::effective(reader, Some(own), unit, settings),
        None => return Err("it names no module, and its directory has no Terraform files".to_owned()),
        Some(value) => {
            let Some(text) = value.as_text() else {
                let why = value.cause().map_or("it is not a string", |it| it.why.as_str());
                return Err(format!("its module is unknown: {why}"));
            };
            match source::source(reader, &unit.shadows, &unit.directory, &text) {
                ModuleSource::Here(directory) if has_configuration(reader.sources, &directory) => {
                    shadows.add(&directory, own);
                    let code = source::effective(reader, Some(&directory), unit, settings);
                    *module = Some(directory);
                    code
                }
                ModuleSource::Here(directory) => return Err(format!("its module {directory} has no Terraform files")),
                ModuleSource::Missing(path) => return Err(format!("its module {path} is not in this repository")),
                ModuleSource::Elsewhere(name) => source::call_of(reader, unit, &name, value.span, settings),
            }
        }
    };
    if let Some(why) = switched_off(settings) {
        return Err(why);
    }
    let given = inputs::given(context, unit.real_directory(), settings, module.as_deref());
    let inputs = member(settings, "inputs");
    let rest = inputs.and_then(|it| it.entries().map_or_else(|| it.cause().cloned(), |it| it.rest.clone()));
    let any = rest.map(|cause: Arc<Cause>| HclValue::because(&cause, frame.parsed.anywhere()));
    let any = any.map(VariableAssignment::Given);
    let variant = RootVariant { workspace: reader.options.workspace.clone(), ..RootVariant::default() };
    let configuration = RootConfiguration { code, given, variant: &variant, environment: reader.options, shadows, any };
    let root = evaluate_with(reader.sources, reader.library, configuration, reader.options, memory);
    Ok(UnitRun { directory: unit.directory.clone(), root, files: context.files.borrow().clone() })
}

/// Returns why a unit is excluded when all units are applied.
fn switched_off(settings: &HclValue) -> Option<String> {
    let exclude = member(settings, "exclude")?;
    let is_on = member(exclude, "if").and_then(HclValue::as_bool) == Some(true);
    let actions: Vec<String> = member(exclude, "actions")
        .map(|it| it.items().iter().filter_map(|it| Some(it.as_text()?.into_owned())).collect())?;
    let covers = actions.iter().any(|it| matches!(it.as_str(), "all" | "all_except_output" | "apply"));
    (is_on && covers).then(|| "it excludes itself with `exclude`".to_owned())
}

fn member<'v>(value: &'v HclValue, name: &str) -> Option<&'v HclValue> {
    value.entries()?.get(name)
}
