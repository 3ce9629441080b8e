//! Evaluates the roots of a tree in rounds, until no module that could be planned on its own is left out.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::budget::allowed_memory;
use crate::source::{SourceFiles, noting};

use super::options::TerraformOptions;
use super::parallel;
use super::reader::{RootReader, RootToRead};
use super::root::{self, EvaluatedRoot};
use super::roots::{Assigned, Candidates, RootEvidence};
use super::shared::SharedRoots;
use super::variant::RootVariant;
use super::variants;
use crate::terraform::border::CountedAs;
use crate::terraform::code::library::ModuleLibrary;
use crate::terraform::code::module::ModuleTool;

/// The limit on rounds. After this many, only a chain of calls without instances is left, which is then read at once.
const MOST_ROUNDS: usize = 20;

/// Each root may use this share of the memory that the previous roots left.
const PART: u64 = parallel::MOST_THREADS as u64;

/// Returns the memory that one more root may use.
pub(in crate::terraform) fn allowed(spent: u64) -> u64 {
    allowed_memory(spent, PART)
}

/// The inputs of the evaluation.
pub(in crate::terraform) struct Rounds<'a, R: RootReader> {
    pub(in crate::terraform) sources: &'a SourceFiles,
    pub(in crate::terraform) library: &'a ModuleLibrary<'a>,
    /// The same modules without the files that only OpenTofu reads, for roots that have such files.
    pub(in crate::terraform) other: OnceLock<ModuleLibrary<'a>>,
    assigned: &'a Assigned,
    options: &'a TerraformOptions,
    reader: &'a R,
    shared: &'a SharedRoots<R::Contents>,
}

impl<'a, R: RootReader> Rounds<'a, R> {
    pub(in crate::terraform) fn new(
        sources: &'a SourceFiles,
        library: &'a ModuleLibrary<'a>,
        assigned: &'a Assigned,
        options: &'a TerraformOptions,
        reader: &'a R,
        shared: &'a SharedRoots<R::Contents>,
    ) -> Self {
        Rounds { sources, library, other: OnceLock::new(), assigned, options, reader, shared }
    }

    /// Returns all roots, sorted by directory, and the modules that no root instantiates.
    pub(in crate::terraform) fn evaluate(
        &self,
        candidates: &Candidates<'_>,
    ) -> (Vec<EvaluatedRoot<R::Contents>>, Vec<String>) {
        let (mut all, mut made, mut spent) = (Vec::new(), BTreeSet::new(), 0);
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
    fn round(&self, roots: &[(String, RootEvidence)], spent: &mut u64) -> Vec<EvaluatedRoot<R::Contents>> {
        let of = |(directory, why): &(String, RootEvidence)| {
            let (variables, calls) = (self.assigned.of.get(directory), self.assigned.calls.of(directory));
            let files = variants::RootFiles { variables, calls };
            let module = self.library.module(directory);
            let mut variants = variants::of_root(&module, &files, self.sources, self.library, self.options);
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

    fn planned(&self, run: &(String, RootEvidence, RootVariant), memory: u64) -> EvaluatedRoot<R::Contents> {
        let (directory, why, variant) = run;
        if let Some((known, modules)) = self.shared.root(directory, variant, memory) {
            // Reads the modules, so that their diagnostics are reported with the others.
            modules.iter().for_each(|it| drop(self.library.module(it)));
            return EvaluatedRoot { why: *why, ..known };
        }
        if !self.shared.modules.is_recorded() {
            return self.work_out(run, memory);
        }
        let (mut planned, asked) = noting(|| self.work_out(run, memory));
        if self.reader.can_share() {
            self.shared.keep(&mut planned, asked, memory);
        }
        planned
    }

    fn work_out(&self, run: &(String, RootEvidence, RootVariant), memory: u64) -> EvaluatedRoot<R::Contents> {
        let mut planned = self.read(self.library, run, memory);
        if planned.root.has_files_of_one_tool {
            let other = self.other.get_or_init(|| ModuleLibrary::new(self.sources, ModuleTool::Terraform));
            let terraform = self.read(other, run, memory.saturating_sub(planned.root.memory));
            self.add_differences(&mut planned, terraform);
        }
        planned
    }

    fn read(
        &self,
        library: &ModuleLibrary<'_>,
        (directory, why, variant): &(String, RootEvidence, RootVariant),
        memory: u64,
    ) -> EvaluatedRoot<R::Contents> {
        let root = root::evaluate(self.sources, library, directory, variant, self.options, memory);
        let module = library.module(directory);
        let contents =
            self.reader.read(&RootToRead { directory, label: variant.label.as_deref(), root: &root, module: &module });
        let (directory, variant) = (directory.clone(), variant.clone());
        EvaluatedRoot { directory, variant, why: *why, root, contents, number: None }
    }

    /// Adds the results of Terraform, if a root also has files for OpenTofu. The tool that is used is unknown.
    fn add_differences(&self, own: &mut EvaluatedRoot<R::Contents>, terraform: EvaluatedRoot<R::Contents>) {
        if let Some(span) = self.reader.add_differences(&mut own.contents, terraform.contents) {
            let message = "OpenTofu and Terraform read different files of this root: gpulint evaluates both, and totals \
                           count the more expensive one";
            own.root.diagnostics.push(Diagnostic::note(message, span));
        }
        own.root.diagnostics.extend(terraform.root.diagnostics);
        own.root.memory += terraform.root.memory;
        own.root.files.extend(terraform.root.files);
    }
}
