//! Evaluates the roots of a tree in rounds, until no module that could be planned on its own is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use crate::diagnostic::Diagnostic;
use crate::inventory::{
    CountedAs, FactValue, Key, ReadBy, RepeatedBlock, Resource, RunId, RunKind, UnsupportedResource,
};
use crate::source::{SourceFiles, noting};

use super::parallel;
use super::root::{self, LoadedRoot};
use super::roots::{Candidates, RootEvidence};
use super::variants::{self, Assigned, RootVariant};
use crate::terraform::code::library::ModuleLibrary;
use crate::terraform::code::module::{ModuleCode, ModuleTool};
use crate::terraform::{Embedded, TerraformOptions, embedded, rows, unsupported};

/// The limit on rounds. After this many, only a chain of calls without instances is left, which is then read at once.
const MOST_ROUNDS: usize = 20;

/// The names of the two tools, which may read different files of a root.
const OPENTOFU: &str = "OpenTofu";
const TERRAFORM: &str = "Terraform";

/// The memory that all roots together may use. Each root may use this share of what the previous roots left.
const MEMORY_BYTES: u64 = 1 << 30;
const PART: u64 = parallel::MOST_THREADS as u64;

/// Returns the memory that one more root may use.
pub(in crate::terraform) fn allowed(spent: u64) -> u64 {
    MEMORY_BYTES.saturating_sub(spent) / PART
}

/// A root, evaluated with one set of variable files.
#[derive(Debug, Clone)]
pub(in crate::terraform) struct EvaluatedRoot {
    pub(in crate::terraform) directory: String,
    pub(in crate::terraform) variant: RootVariant,
    pub(in crate::terraform) why: RootEvidence,
    pub(in crate::terraform) root: LoadedRoot,
    pub(in crate::terraform) resources: Vec<Resource>,
    pub(in crate::terraform) embedded: Vec<Embedded>,
    /// The root's resources of unsupported types.
    pub(in crate::terraform) unlisted: Vec<UnsupportedResource>,
    /// The number under which another state of the tree finds it.
    pub(in crate::terraform) number: Option<usize>,
}

/// The inputs of the evaluation.
pub(in crate::terraform) struct Rounds<'a> {
    pub(in crate::terraform) sources: &'a SourceFiles,
    pub(in crate::terraform) library: &'a ModuleLibrary<'a>,
    /// The same modules without the files that only OpenTofu reads, for roots that have such files.
    pub(in crate::terraform) other: OnceLock<ModuleLibrary<'a>>,
    assigned: &'a Assigned,
    options: &'a TerraformOptions,
}

impl<'a> Rounds<'a> {
    pub(in crate::terraform) fn new(
        sources: &'a SourceFiles,
        library: &'a ModuleLibrary<'a>,
        assigned: &'a Assigned,
        options: &'a TerraformOptions,
    ) -> Self {
        Rounds { sources, library, other: OnceLock::new(), assigned, options }
    }

    /// Returns all roots, sorted by directory, and the modules that no root instantiates.
    pub(in crate::terraform) fn evaluate(&self, candidates: &Candidates<'_>) -> (Vec<EvaluatedRoot>, Vec<String>) {
        let (mut all, mut made, mut spent): (Vec<EvaluatedRoot>, BTreeSet<String>, u64) = Default::default();
        for round in 0.. {
            let next = match round {
                0 => candidates.by_evidence(),
                _ => candidates.not_made(&made, round > MOST_ROUNDS),
            };
            if next.is_empty() && round > 0 {
                break;
            }
            made.extend(next.iter().map(|(directory, _)| directory.clone()));
            for planned in self.round(&next, &mut spent) {
                made.extend(planned.root.made.iter().cloned());
                all.push(planned);
            }
        }
        let mut left_out = candidates.left_out(&made);
        if all.is_empty() {
            let alone: Vec<(String, RootEvidence)> =
                left_out.drain(..).map(|directory| (directory, RootEvidence::Alone)).collect();
            all = self.round(&alone, &mut spent);
        }
        all.sort_by(|a, b| a.directory.cmp(&b.directory));
        (all, left_out)
    }

    /// Evaluates each of these roots in each variant.
    fn round(&self, roots: &[(String, RootEvidence)], spent: &mut u64) -> Vec<EvaluatedRoot> {
        let of = |(directory, why): &(String, RootEvidence)| {
            let files = self.assigned.of.get(directory);
            let module = self.library.module(directory);
            let mut variants = variants::of_root(&module, files, self.sources, self.library, self.options);
            if module.is_of_alternatives && !module.is_picked && *why != RootEvidence::Named {
                variants.iter_mut().for_each(|variant| variant.counted = CountedAs::Example);
            }
            let (directory, why) = (directory.clone(), *why);
            variants.into_iter().map(move |variant| (directory.clone(), why, variant))
        };
        let runs: Vec<(String, RootEvidence, RootVariant)> = roots.iter().flat_map(of).collect();
        parallel::map_sharing(runs.len(), spent, |index, spent| {
            let planned = self.planned(&runs[index], allowed(spent));
            let cost = planned.root.memory;
            (planned, cost)
        })
    }

    fn planned(&self, run: &(String, RootEvidence, RootVariant), memory: u64) -> EvaluatedRoot {
        let (directory, why, variant) = run;
        if let Some((known, modules)) = self.options.shared.root(directory, variant, memory) {
            // Reads the modules, so that their diagnostics are reported with the others.
            modules.iter().for_each(|it| drop(self.library.module(it)));
            return EvaluatedRoot { why: *why, number: None, ..known };
        }
        if !self.options.shared.modules.is_first() {
            return self.work_out(run, memory);
        }
        let (mut planned, asked) = noting(|| self.work_out(run, memory));
        self.options.shared.keep(&mut planned, asked, memory, self.options);
        planned
    }

    fn work_out(&self, run: &(String, RootEvidence, RootVariant), memory: u64) -> EvaluatedRoot {
        let mut planned = self.read(self.library, run, memory);
        if planned.root.has_files_of_one_tool {
            let other = self.other.get_or_init(|| ModuleLibrary::new(self.sources, ModuleTool::Terraform));
            let terraform = self.read(other, run, memory.saturating_sub(planned.root.memory));
            planned.add_what_differs(self.sources, terraform);
        }
        planned
    }

    fn read(
        &self,
        library: &ModuleLibrary<'_>,
        (directory, why, variant): &(String, RootEvidence, RootVariant),
        memory: u64,
    ) -> EvaluatedRoot {
        let root = root::evaluate(self.sources, library, directory, variant, self.options, memory);
        let id = RunId::of(RunKind::Root, directory, variant.label.as_deref());
        let mut resources = rows::resources(
            (&root.blocks, &root.switched_off),
            &root.default_maps,
            ReadBy::Terraform,
            self.options.adjust_in(&id),
        );
        let module = library.module(directory);
        if module.is_of_alternatives {
            mark_alternatives(self.sources, &module, &mut resources);
        }
        let embedded = embedded::manifests(self.sources, &root.blocks, &root.switched_off, Some(directory), &id);
        let unlisted = unsupported::of_run(&root.blocks);
        let (directory, variant) = (directory.clone(), variant.clone());
        EvaluatedRoot { directory, variant, why: *why, root, resources, embedded, unlisted, number: None }
    }
}

impl EvaluatedRoot {
    /// Adds the resources that Terraform creates, if a root also has files for OpenTofu and the results differ. The
    /// tool that is used is unknown.
    fn add_what_differs(&mut self, sources: &SourceFiles, terraform: EvaluatedRoot) {
        let same: BTreeSet<String> = {
            let other: BTreeMap<&str, &Resource> =
                terraform.resources.iter().map(|it| (it.address.as_str(), it)).collect();
            let is_same = |it: &&Resource| {
                other.get(it.address.as_str()).is_some_and(|other| resource_signature(other) == resource_signature(it))
            };
            self.resources.iter().filter(is_same).map(|it| it.address.clone()).collect()
        };
        for resource in self.resources.iter_mut().filter(|it| !same.contains(&it.address)) {
            resource.only_by = Some(OPENTOFU);
        }
        let mut resources: Vec<Resource> =
            terraform.resources.into_iter().filter(|it| !same.contains(&it.address)).collect();
        let text = |it: &Embedded| (it.address.clone(), sources.text(it.file));
        let texts: BTreeSet<(String, Arc<str>)> = self.embedded.iter().map(text).collect();
        let embedded: Vec<Embedded> = terraform.embedded.into_iter().filter(|it| !texts.contains(&text(it))).collect();
        if let Some(span) = resources.first().map(|it| it.span).or(embedded.first().map(|it| it.span)) {
            let message = "OpenTofu and Terraform read different files of this root: gpulint evaluates both, and totals \
                           count the more expensive one";
            self.root.diagnostics.push(Diagnostic::note(message, span));
        }
        for resource in &mut resources {
            resource.address.push_str(" (Terraform)");
            resource.only_by = Some(TERRAFORM);
        }
        self.resources.extend(resources);
        self.embedded.extend(embedded);
        self.root.diagnostics.extend(terraform.root.diagnostics);
        self.root.memory += terraform.root.memory;
        self.root.files.extend(terraform.root.files);
    }
}

/// Marks each resource of alternative files with its file.
fn mark_alternatives(sources: &SourceFiles, module: &ModuleCode, resources: &mut [Resource]) {
    for resource in resources {
        let path = module.alternative_of(&resource.declared.block).map(|file| sources.path(file));
        let number = path.and_then(|path| module.files.iter().position(|it| **it == path));
        resource.repeated = number.map(|number| RepeatedBlock { address: "".into(), number: number + 1 });
    }
}

/// Returns the properties of a resource without their positions.
fn resource_signature(resource: &Resource) -> (Option<String>, BTreeMap<Key, Option<&FactValue>>) {
    let count = resource.count.value().map(|range| format!("{range:?}"));
    (count, resource.facts().map(|(key, fact)| (key, fact.value())).collect())
}
