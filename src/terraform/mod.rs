//! Converts Terraform code and plans to an inventory.
//!
//! This module reads roots, evaluates them as Terraform does, and turns evaluated blocks into resources by the
//! definitions of `resources/`. An unknown value stays unknown, with its cause. This module uses no prices and no
//! rules.

mod address;
mod block;
mod border;
mod code;
mod contents;
mod embedded;
mod evaluate;
mod functions;
mod harmless;
mod load;
mod plan;
mod raw;
mod rows;
mod terragrunt;
mod unsupported;
mod write;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::inventory::{
    DeploymentRun, FactOverrides, Inventory, ReadBy, Resource, RunId, RunKind, SkippedFile, UnsupportedResource,
};
use crate::source::{FileId, Limits, SourceFiles, Span, parent};

use code::library::ModuleLibrary;
use code::module::{ModuleCode, ModuleTool};
use contents::{ContentsReader, RootContents};
use load::root::EvaluatedRoot;
use load::variants;
use load::{links, parallel, passed, plans, roots, rounds};
use plan::TerraformPlan;

pub use crate::languages::hcl::value::{
    Cause, HclData, HclNumber, HclValue, ObjectMembers, PathTarget, ProviderComputed,
};
pub(crate) use address::without_keys;
pub use block::{EvaluatedAttribute, EvaluatedAttributes, EvaluatedBlock, Provider};
pub use contents::SharedTerraform;
pub use embedded::Embedded;
pub(crate) use embedded::installed;
pub(crate) use harmless::rents_no_machines;
pub use load::options::TerraformOptions;
pub use load::roots::{RootEvidence, RootOverview};
pub use plan::{PlanSide, is_plan};
pub(crate) use rows::{TypeRows, add_types, may_rent, providers, types, words};
pub use write::TerraformWriter;
pub(crate) use write::properties::{LabelPlace, PropertyChange, PropertyChanges};

/// The result of reading the Terraform files.
#[derive(Debug, Default)]
pub struct TerraformReading {
    pub inventory: Inventory,
    /// Manifests inside Terraform, for the Kubernetes front end.
    pub embedded: Vec<Embedded>,
    /// Every evaluated block, for `inspect --all` and rules about any type.
    pub blocks: Vec<EvaluatedBlock>,
    /// The directories that were read as roots, sorted.
    pub roots: Vec<RootOverview>,
    /// The paths of the plans and states, sorted.
    pub plans: Vec<String>,
    /// The comments for gpulint.
    pub comments: Vec<Span>,
}

/// Reads the roots among the directories of `paths`, which are directories or files.
pub fn read(sources: &SourceFiles, paths: &[String], options: &TerraformOptions) -> TerraformReading {
    read_sharing(sources, paths, options, None, &SharedTerraform::default())
}

/// Reads the roots with the what-if overrides of facts, and with the results that another state of the same tree shares
/// with this one.
pub(crate) fn read_sharing(
    sources: &SourceFiles,
    paths: &[String],
    options: &TerraformOptions,
    adjust: Option<&dyn FactOverrides>,
    shared: &SharedTerraform,
) -> TerraformReading {
    let library = ModuleLibrary::new(sources, ModuleTool::OpenTofu).sharing(&shared.modules);
    let reader = ContentsReader { sources, adjust };
    let reading = parallel::deep(|| read_with(&library, &reader, paths, options, shared));
    library.close();
    reading
}

/// Returns the resources of blocks that another language created with the types of these definitions. Resources that
/// are switched off with a count of 0 come last.
pub(crate) fn resources(
    blocks: (&[EvaluatedBlock], &[EvaluatedBlock]),
    front_end: ReadBy,
    adjust: Option<(&dyn FactOverrides, &RunId)>,
) -> Vec<Resource> {
    rows::resources(blocks, &[], front_end, adjust)
}

/// Returns the resources of unsupported types among such blocks, if they may have accelerators.
pub(crate) fn unlisted(blocks: &[EvaluatedBlock]) -> Vec<UnsupportedResource> {
    unsupported::of_run(blocks)
}

/// Returns the errors for which Terraform would refuse this single file.
pub fn syntax_errors(file: FileId, text: &str) -> Vec<Diagnostic> {
    let errors = crate::languages::hcl::syntax::parse_body(file, text, Limits::DEEPEST).errors;
    errors.into_iter().map(|error| Diagnostic::unreadable(error.message, error.span)).collect()
}

fn read_with(
    library: &ModuleLibrary<'_>,
    reader: &ContentsReader<'_>,
    paths: &[String],
    options: &TerraformOptions,
    shared: &SharedTerraform,
) -> TerraformReading {
    let sources = reader.sources;
    let plans = plans::find(sources, paths);
    let others: Vec<String> = paths.iter().filter(|path| plans.binary_search(path).is_err()).cloned().collect();
    // Downloaded modules are read only if a module calls them.
    let downloaded = options.modules_directory.as_deref().map(|it| format!("{it}/"));
    let is_downloaded = |it: &str| downloaded.as_ref().is_some_and(|modules| it.starts_with(modules.as_str()));
    let units = terragrunt::read(sources, library, &others, options);
    let others: Vec<String> = others.into_iter().filter(|it| !terragrunt::is_read_by_itself(it)).collect();
    let directories: Vec<String> = roots::directories(sources, &others)
        .into_iter()
        .filter(|it| !is_downloaded(it) && !units.taken.contains(it))
        .collect();
    let modules = parallel::map(directories.len(), |index| library.module(&directories[index]));
    let links = links::of(sources, &modules);
    let is_library = |it: &ModuleCode| !options.named_roots.contains(&it.directory) && it.is_library(sources, &links);
    let (libraries, modules): (Vec<_>, Vec<_>) = modules.into_iter().partition(|it| is_library(it));
    let mut variable_files = variants::files(sources, library, &modules, paths, options);
    variable_files.calls = passed::find(sources, &modules, paths, options);
    let candidates = roots::Candidates::new(sources, &modules, &variable_files, &options.named_roots);
    let rounds = rounds::Rounds::new(sources, library, &variable_files, options, reader, shared);
    let (planned, left_out) = rounds.evaluate(&candidates);
    let mut reading = TerraformReading::default();
    reading.blocks.reserve_exact(planned.iter().map(|it| it.root.blocks.len()).sum());
    let mut unlisted_ones = HashMap::new();
    for mut planned in planned {
        if !planned.root.blocks.is_empty() {
            unlisted_ones.insert(reading.blocks.len(), std::mem::take(&mut planned.contents.unlisted));
        }
        reading.add(planned, options);
    }
    let of_units: HashSet<&str> = units.runs.iter().flat_map(terragrunt::UnitRun::inputs).collect();
    reading.list_unused_files(variable_files.unused.iter().filter(|it| !of_units.contains(it.as_str())));
    add_units(reader, units, options, &mut reading);
    plans::read(sources, plans, options, |path, plan| reading.add_plan(path, plan, reader));
    for path in left_out.into_iter().filter(|it| harmless::may_rent(library, it)) {
        let reason = "no file here calls this module: its inputs are unknown";
        reading.inventory.skipped.push(SkippedFile::new(SkipKind::UncalledModule, path, reason));
    }
    let others = rounds.other.get().map(ModuleLibrary::modules).unwrap_or_default();
    for module in library.modules().into_iter().chain(others) {
        reading.add_messages(sources, &module, &libraries);
    }
    reading.inventory.unlisted = unsupported::of(&reading.blocks, &reading.roots, unlisted_ones);
    without_repetitions(&mut reading.inventory.diagnostics);
    reading
}

impl TerraformReading {
    /// Adds the diagnostics and the comments of a module.
    fn add_messages(&mut self, sources: &SourceFiles, module: &ModuleCode, libraries: &[Arc<ModuleCode>]) {
        let is_library = |directory: &str| libraries.iter().any(|library| library.directory == directory);
        if is_library(&module.directory) && !self.is_called(module) {
            // Terraform reads each linked file in the directories that link to it, and never two files with the same
            // declarations.
            let repeats = module.errors_of_repeats();
            let own = module.diagnostics.iter().filter(|it| !repeats.contains(it));
            self.inventory.diagnostics.extend(own.cloned());
            return;
        }
        let is_told = |it: &&Diagnostic| {
            let real = it.span.and_then(|span| sources.real_path(&sources.path(span.file)));
            !real.is_some_and(|path| is_library(parent(&path)))
        };
        self.inventory.diagnostics.extend(module.diagnostics.iter().filter(is_told).cloned());
        if module.is_of_alternatives && !module.is_picked && self.is_called(module) {
            self.inventory.diagnostics.extend(module.errors_of_repeats());
        } else if module.is_of_alternatives {
            let reason = match module.is_picked {
                true => {
                    "a script picks one of the files that declare the same addresses: the most expensive one counts"
                }
                false => {
                    "alternatives: these files declare the same addresses, with no backend, values or lock file; the most \
                     expensive one counts"
                }
            };
            let skipped = SkippedFile::new(SkipKind::Alternatives, &module.directory, reason);
            self.inventory.skipped.push(skipped);
        }
        let speaks = |span: &&Span| sources.snippet(**span).contains("gpulint");
        self.comments.extend(module.comments.iter().filter(speaks));
    }
}

/// Adds the Terragrunt units, each as a root in the directory of the unit.
fn add_units(
    reader: &ContentsReader<'_>,
    units: terragrunt::TerragruntUnits,
    options: &TerraformOptions,
    reading: &mut TerraformReading,
) {
    let id = |directory: &str| RunId::of(RunKind::Unit, directory, None);
    let made = parallel::map(units.runs.len(), |index| {
        let run = units.runs.get(index);
        run.map(|run| reader.of_run(&run.root, &run.directory, &id(&run.directory))).unwrap_or_default()
    });
    for (unit, (mut resources, embedded)) in units.runs.into_iter().zip(made) {
        let terragrunt::UnitRun { directory, root, files } = unit;
        for resource in &mut resources {
            resource.run = Some(id(&directory));
            resource.root = Some(directory.as_str().into());
        }
        let inputs = root.files.into_iter().chain(files);
        reading.inventory.runs.push(DeploymentRun::new(RunKind::Unit, &directory, None).reading(inputs));
        if options.raw {
            reading.inventory.blocks.extend(raw::blocks(
                (&root.blocks, &root.others),
                &root.reaches,
                ReadBy::Terraform,
                &id(&directory),
            ));
        }
        reading.inventory.diagnostics.extend(root.diagnostics);
        reading.inventory.resources.extend(resources);
        reading.embedded.extend(embedded);
        let first = reading.blocks.len();
        reading.blocks.extend(root.blocks);
        let workspace = options.workspace.clone().unwrap_or_else(|| "default".into());
        let (variable_files, steps, blocks) = (root.variable_files, root.steps, first..reading.blocks.len());
        let why = RootEvidence::Unit;
        let (variant, number) = (None, None);
        reading.roots.push(RootOverview { directory, why, variable_files, workspace, variant, steps, blocks, number });
    }
    reading.inventory.diagnostics.extend(units.diagnostics);
    reading.inventory.skipped.extend(units.skipped);
    reading.comments.extend(units.comments);
    reading.roots.sort_by(|a, b| a.directory.cmp(&b.directory));
}

impl TerraformReading {
    fn add(&mut self, planned: EvaluatedRoot<RootContents>, options: &TerraformOptions) {
        let EvaluatedRoot { directory, variant, why, root, contents, number } = planned;
        let RootContents { mut resources, embedded, .. } = contents;
        let mut run = DeploymentRun::new(RunKind::Root, &directory, variant.label.as_deref()).reading(root.files);
        run.counted = variant.counted;
        run.given_name = variant.given_name;
        for resource in &mut resources {
            resource.run = Some(run.id.clone());
            resource.root = Some(directory.as_str().into());
            resource.address.extend(variant.label.as_ref().map(|label| format!(" ({label})")));
        }
        if options.raw {
            self.inventory.blocks.extend(raw::blocks(
                (&root.blocks, &root.others),
                &root.reaches,
                ReadBy::Terraform,
                &run.id,
            ));
        }
        self.inventory.diagnostics.extend(root.diagnostics);
        self.inventory.resources.extend(resources);
        self.embedded.extend(embedded);
        self.inventory.runs.push(run);
        let first = self.blocks.len();
        self.blocks.extend(root.blocks);
        self.roots.push(RootOverview {
            directory,
            why,
            variable_files: root.variable_files,
            workspace: variant.workspace.unwrap_or_else(|| "default".into()),
            variant: variant.label,
            steps: root.steps,
            blocks: first..self.blocks.len(),
            number,
        });
    }

    /// Adds a plan, or skips it if it has no content, because the configuration is in the same directory.
    fn add_plan(&mut self, path: String, plan: Option<TerraformPlan>, reader: &ContentsReader<'_>) {
        let Some(TerraformPlan { blocks, diagnostics, .. }) = plan else {
            let reason =
                "gpulint reads the configuration in the same directory instead of this plan: name the plan to read it";
            self.inventory.skipped.push(SkippedFile::new(SkipKind::PlanBeside, &path, reason));
            self.plans.push(path);
            return;
        };
        let name = path.rsplit('/').next().unwrap_or(&path);
        let run = DeploymentRun::new(RunKind::Plan, parent(&path), Some(name)).reading([path.as_str()]);
        self.plans.push(path);
        self.inventory.diagnostics.extend(diagnostics);
        let adjust = reader.adjust.map(|adjust| (adjust, &run.id));
        let mut resources = rows::resources((&blocks, &[]), &[], ReadBy::Plan, adjust);
        resources.iter_mut().for_each(|it| it.run = Some(run.id.clone()));
        self.inventory.resources.extend(resources);
        let regions = rows::regions(blocks.iter().filter_map(|it| it.provider.as_deref()));
        self.embedded.extend(embedded::manifests(reader.sources, (&blocks, &[]), regions, None, &run.id));
        self.inventory.runs.push(run);
        self.blocks.extend(blocks);
    }

    /// Returns whether the deployment of another directory reads a module.
    fn is_called(&self, module: &ModuleCode) -> bool {
        let others = self.inventory.runs.iter().filter(|run| *run.folder != *module.directory);
        others.flat_map(|run| run.inputs.iter()).any(|input| module.files.iter().any(|file| **file == **input))
    }

    fn list_unused_files<'a>(&mut self, files: impl Iterator<Item = &'a String>) {
        let reason = "no deployment uses this variable file: name its root with --var-file or `[[runs]]`";
        let skipped = files.map(|path| SkippedFile::new(SkipKind::UnusedVariables, path, reason));
        self.inventory.skipped.extend(skipped);
    }
}

/// Removes repeated diagnostics, because several roots may call the same module.
fn without_repetitions(diagnostics: &mut Vec<Diagnostic>) {
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span, diagnostic.message.clone())));
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;
    use crate::source::MemoryTree;

    #[test]
    fn modules_that_many_roots_call_are_parsed_once() {
        let (roots, modules) = (200, 40);
        let mut tree = MemoryTree::new();
        let mut calls = String::new();
        for index in 0..modules {
            let _ = writeln!(calls, "module \"m{index}\" {{\n  source = \"../../modules/m{index}\"\n}}");
            let text = "resource \"terraform_data\" \"a\" {\n  input = path.module\n}\n";
            tree = tree.with(&format!("modules/m{index}/main.tf"), text);
        }
        let mut paths = Vec::new();
        for index in 0..roots {
            let path = format!("roots/r{index}/main.tf");
            tree = tree.with(&path, calls.as_str());
            paths.push(path);
        }
        let sources = SourceFiles::new(tree);
        let (options, shared) = (TerraformOptions::default(), SharedTerraform::default());
        let library = ModuleLibrary::new(&sources, ModuleTool::OpenTofu);
        let reader = ContentsReader { sources: &sources, adjust: None };
        let reading = read_with(&library, &reader, &paths, &options, &shared);
        assert_eq!(reading.roots.len(), roots);
        let resources = reading.blocks.iter().filter(|block| block.keyword == "resource").count();
        assert_eq!(resources, roots * modules);
        assert_eq!(library.times_parsed(), roots + modules);
    }

    /// Creates ten roots that each call one of three modules, with a file that each root reads.
    fn tree(changed: &[(&str, &str)]) -> (MemoryTree, Vec<String>) {
        let mut files = std::collections::BTreeMap::new();
        for index in 0..3 {
            let text = "variable \"n\" {}\nresource \"aws_instance\" \"a\" {\n  instance_type = \"g5.xlarge\"\n  count = var.n\n}\n";
            files.insert(format!("modules/m{index}/main.tf"), text.to_owned());
        }
        for index in 0..10 {
            let call = format!("module \"m\" {{\n  source = \"../../modules/m{}\"\n  n = local.n\n}}\n", index % 3);
            let local = "locals {\n  n = fileexists(\"${path.module}/n\") ? 2 : 1\n}\n";
            files.insert(format!("roots/r{index}/main.tf"), format!("{call}{local}"));
        }
        files.extend(changed.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())));
        let paths = files.keys().filter(|it| it.ends_with(".tf")).cloned().collect();
        (files.iter().fold(MemoryTree::new(), |tree, (path, text)| tree.with(path, text.as_str())), paths)
    }

    /// A sequence of states parses and evaluates only what changed since the state before.
    #[test]
    fn each_state_of_a_sequence_takes_what_is_the_same_from_the_one_before() {
        let more = "resource \"aws_instance\" \"b\" {\n  instance_type = \"p4d.24xlarge\"\n}\n";
        let (first, paths) = tree(&[]);
        let (mut sources, mut shared) = (SourceFiles::new(first), SharedTerraform::kept());
        let (mut before, _) = read_again(&sources, &paths, &shared);
        shared.take_blocks(&before.roots, std::mem::take(&mut before.blocks));
        let mut changes: Vec<(&str, &str)> = Vec::new();
        for (changed, listed, parsed, taken) in [
            (("roots/r4/more.tf", more), "roots/r4", 1, 9),
            (("unrelated", "1"), "", 0, 10),
            (("modules/m1/more.tf", more), "modules/m1", 1, 7),
            (("roots/r5/n", "2"), "roots/r5", 1, 9),
        ] {
            changes.push(changed);
            let differing =
                crate::source::Differing { files: [changed.0.to_owned()].into(), lists: [listed.to_owned()].into() };
            let (next, paths) = tree(&changes);
            let next = SourceFiles::new(next);
            let of_next = shared.for_next(Some(differing));
            assert!(next.share(&sources, 0, |path| path != changed.0));
            of_next.allow();
            let (mut reading, times) = read_again(&next, &paths, &of_next);
            assert_eq!((times, shared.times_taken()), (parsed, taken), "{}", changed.0);
            let blocks: Vec<String> = reading.blocks.iter().map(|it| it.address.clone()).collect();
            of_next.take_blocks(&reading.roots, std::mem::take(&mut reading.blocks));
            let alone = SourceFiles::new(tree(&changes).0);
            let (expected, _) = read_again(&alone, &paths, &SharedTerraform::default());
            let addresses = |reading: &TerraformReading| -> Vec<String> {
                reading.inventory.resources.iter().map(|it| format!("{} {:?}", it.address, it.run)).collect()
            };
            assert_eq!(addresses(&reading), addresses(&expected), "{}", changed.0);
            assert!(blocks.iter().eq(expected.blocks.iter().map(|it| &it.address)), "{}", changed.0);
            (sources, shared) = (next, of_next);
        }
    }

    /// Returns the reading of a tree, and the number of directories that it parsed.
    fn read_again(sources: &SourceFiles, paths: &[String], shared: &SharedTerraform) -> (TerraformReading, usize) {
        let library = ModuleLibrary::new(sources, ModuleTool::OpenTofu).sharing(&shared.modules);
        let reader = ContentsReader { sources, adjust: None };
        let reading = read_with(&library, &reader, paths, &TerraformOptions::default(), shared);
        (reading, library.times_parsed())
    }

    #[test]
    fn of_two_states_what_is_the_same_is_worked_out_once_and_says_the_same() {
        let new = "resource \"aws_instance\" \"b\" {\n  instance_type = \"p4d.24xlarge\"\n}\n";
        for (changed, listed, parsed, taken) in [
            (("roots/r4/more.tf", new), "roots/r4", 1, 9),
            (("roots/r4/n", "2"), "roots/r4", 1, 9),
            (("modules/m1/more.tf", new), "modules/m1", 1, 7),
            (("roots/r4/terraform.tfvars", "x = 1\n"), "roots/r4", 1, 9),
            (("other/a.tf", new), "other", 1, 10),
            (("unrelated", "1"), "", 0, 10),
        ] {
            let (first, paths) = tree(&[]);
            let (first, shared) = (SourceFiles::new(first), SharedTerraform::kept());
            let (mut before, all) = read_again(&first, &paths, &shared);
            assert_eq!(all, 13);
            let blocks = shared.take_blocks(&before.roots, std::mem::take(&mut before.blocks));
            assert_eq!(blocks.len(), 10, "the calls are left");

            let (second, paths) = tree(&[changed]);
            let second = SourceFiles::new(second);
            let differing =
                crate::source::Differing { files: [changed.0.to_owned()].into(), lists: [listed.to_owned()].into() };
            let other = shared.for_other(Some(differing));
            assert!(second.share(&first, 0, |path| path != changed.0));
            other.allow();
            let (reading, times) = read_again(&second, &paths, &other);
            assert_eq!((times, shared.times_taken()), (parsed, taken), "{}", changed.0);
            let (alone, paths) = tree(&[changed]);
            let alone = SourceFiles::new(alone);
            let (expected, _) = read_again(&alone, &paths, &SharedTerraform::default());
            let told = |sources: &SourceFiles, reading: &TerraformReading| {
                let of = |it: &crate::inventory::Resource| {
                    (
                        it.address.clone(),
                        it.run.clone(),
                        it.count.value().map(|it| format!("{it:?}")),
                        sources.locate(it.span),
                    )
                };
                let resources: Vec<_> = reading.inventory.resources.iter().map(of).collect();
                let blocks: Vec<_> =
                    reading.blocks.iter().map(|it| (it.address.clone(), sources.locate(it.span))).collect();
                (resources, blocks, format!("{:?}", reading.inventory.runs))
            };
            assert_eq!(told(&second, &reading), told(&alone, &expected), "{}", changed.0);
        }
    }
}
