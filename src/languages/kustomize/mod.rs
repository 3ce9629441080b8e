//! Builds a kustomization to text. Every line leads to the line of a base, a patch or the kustomization that a person
//! would edit.
//!
//! Follows kustomize 5.8: bases and components, generators, both kinds of patches, images, names, labels, replacements
//! and variables, charts (with gpulint's own engine), and the order and format of the output. The tables of fields for
//! names, labels and images, and of merge keys, are generated from kustomize's own
//! (`tests/corpus/kustomize_tables.py`).
//!
//! It starts no program. Parts that would have to be downloaded or run are reported as missing, and on request the
//! build continues without them. Steps, copies and depth are limited.
//!
//! Tested against kustomize: `tests/overlays` contains its output, `tests/corpus/overlays.py` generates random
//! overlays, and `tests/corpus/kustomizations.py` compares kustomizations of checkouts.
//!
//! No crate does this. The kustomize program has no places in its output.

mod emit;
mod fields;
mod generate;
mod id;
mod images;
mod inflate;
mod inline;
mod json_patch;
mod kustomization;
mod merge;
mod names;
mod patches;
mod plugins;
mod references;
mod replace;
mod resource;
mod schema;
mod select;
mod sort;
mod target;
mod transform;
mod value;
mod variables;

use std::cell::Cell;
use std::collections::BTreeSet;

use crate::languages::helm::Cluster;
use crate::source::{Segment, SourceFiles, Span};

pub(crate) use inflate::directories as charts_of;
pub(crate) use kustomization::{NAMES, is_remote};
pub(crate) use target::SharedDocuments;

/// The result of a build.
#[derive(Debug)]
pub(crate) struct KustomizeOutput {
    /// Documents in kustomize's order.
    pub documents: Vec<OutputDocument>,
    /// Every file that the build used, sorted.
    pub files: BTreeSet<String>,
    /// The used files whose content is only in the built objects. Data of a ConfigMap and patches for a missing object
    /// still count by themselves.
    pub replaced: BTreeSet<String>,
    /// Directories of included kustomizations, without its own.
    pub parts: BTreeSet<String>,
    /// Directories of the rendered charts.
    pub charts: BTreeSet<String>,
    /// Parts that are missing from the build.
    pub missing: Vec<KustomizeError>,
    /// The number of steps spent.
    pub steps: u64,
}

#[derive(Debug)]
pub(crate) struct OutputDocument {
    value: value::ObjectValue,
    emitted: emit::Emitted,
}

impl OutputDocument {
    pub(crate) fn text(&self) -> &str {
        &self.emitted.text
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        emit::json(&self.value)
    }

    /// Returns the origin of each piece of the text.
    pub(crate) fn segments(&self, sources: &SourceFiles) -> Vec<Segment> {
        self.emitted.segments(sources)
    }
}

/// The reason why a kustomization cannot be built.
#[derive(Debug, Clone)]
pub(crate) struct KustomizeError {
    pub cause: TroubleCause,
    pub message: String,
    pub at: Option<Span>,
    pub note: Option<(Span, String)>,
    /// The directory of the kustomization with the error.
    pub directory: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TroubleCause {
    /// Kustomize would also refuse the kustomization.
    Refused,
    /// The kustomization names a missing file that another program may create before kustomize runs.
    Absent,
    /// The kustomization uses something outside the repository, or runs a program.
    NotAtHand,
    /// The kustomization exceeds a limit. Real ones stay below it.
    Beyond,
}

impl KustomizeError {
    fn refused(message: impl Into<String>, at: Span) -> KustomizeError {
        KustomizeError {
            cause: TroubleCause::Refused,
            message: message.into(),
            at: Some(at),
            note: None,
            directory: None,
        }
    }

    fn absent(message: impl Into<String>, at: Span) -> KustomizeError {
        KustomizeError { cause: TroubleCause::Absent, ..KustomizeError::refused(message, at) }
    }

    fn not_at_hand(message: impl Into<String>, at: Span) -> KustomizeError {
        KustomizeError { cause: TroubleCause::NotAtHand, ..KustomizeError::refused(message, at) }
    }

    pub(crate) fn beyond(message: impl Into<String>) -> KustomizeError {
        KustomizeError { cause: TroubleCause::Beyond, message: message.into(), at: None, note: None, directory: None }
    }

    fn with_note(self, at: Span, note: impl Into<String>) -> KustomizeError {
        KustomizeError { note: Some((at, note.into())), ..self }
    }

    /// Sets the place, if no exact one is known.
    fn or_at(self, at: Span) -> KustomizeError {
        KustomizeError { at: self.at.or(Some(at)), ..self }
    }
}

/// The budget of a build.
#[derive(Debug)]
pub(crate) struct BuildBudget {
    all: u64,
    steps: Cell<u64>,
    copies: Cell<u64>,
}

impl BuildBudget {
    /// The limit on steps, about a second. The largest public kustomizations use 10% of it.
    const STEPS: u64 = 30_000_000;
    /// The limit on copied values. Patches for hundreds of objects copy some ten thousand.
    const COPIES: u64 = 500_000;
    /// The limit on depth; parsed documents are less deep.
    const DEEPEST: usize = 256;

    fn of(steps: u64) -> Self {
        BuildBudget { all: steps, steps: Cell::new(steps), copies: Cell::new(Self::COPIES) }
    }

    fn spent(&self) -> u64 {
        self.all - self.steps.get()
    }

    fn spend(&self, steps: usize) -> Result<(), KustomizeError> {
        let rest = self.steps.get().checked_sub(steps as u64);
        self.steps.set(rest.unwrap_or(0));
        rest.map(|_| ())
            .ok_or_else(|| KustomizeError::beyond(format!("building the kustomization exceeds {} steps", self.all)))
    }
}

impl BuildBudget {
    /// Checks the limits before a value is copied to a place at this depth.
    fn copy(&self, value: &value::ObjectValue, depth: usize) -> Result<(), KustomizeError> {
        if depth.saturating_add(value.depth()) > Self::DEEPEST {
            return Err(KustomizeError::beyond(format!(
                "its objects are nested more than {} levels deep",
                Self::DEEPEST
            )));
        }
        let rest = self.copies.get().checked_sub(value.weight() as u64);
        self.copies.set(rest.unwrap_or(0));
        rest.map(|_| ()).ok_or_else(|| {
            KustomizeError::beyond(format!("building the kustomization copies more than {} values", Self::COPIES))
        })
    }
}

/// Returns true if a directory is a component, which only other kustomizations include.
pub(crate) fn is_component(sources: &SourceFiles, directory: &str) -> bool {
    let read = kustomization::Kustomization::read(sources, directory);
    read.and_then(Result::ok).is_some_and(|it| it.is_component)
}

/// Builds the kustomization in a directory.
pub(crate) fn build(
    sources: &SourceFiles,
    directory: &str,
    cluster: &Cluster,
) -> Result<KustomizeOutput, KustomizeError> {
    let budget = BuildBudget::of(BuildBudget::STEPS);
    let shared = SharedDocuments::default();
    with(target::Maker::new(sources, &shared, &budget, cluster, false), directory)
}

/// Builds as far as possible within this many steps; missing parts are omitted and reported.
pub(crate) fn build_as_far_as_possible(
    sources: &SourceFiles,
    shared: &SharedDocuments,
    directory: &str,
    cluster: &Cluster,
    steps: u64,
) -> Result<KustomizeOutput, KustomizeError> {
    let budget = BuildBudget::of(steps.min(BuildBudget::STEPS));
    with(target::Maker::new(sources, shared, &budget, cluster, true), directory)
}

fn with(mut maker: target::Maker<'_>, directory: &str) -> Result<KustomizeOutput, KustomizeError> {
    let (sources, budget) = (maker.sources, maker.budget);
    let (mut resources, options) = maker.make(directory)?;
    sort::sort(&mut resources, &options)?;
    let mut documents = Vec::with_capacity(resources.all.len());
    let mut bytes = 0;
    for mut resource in resources.all {
        resource.finish();
        budget.spend(resource.value.weight())?;
        let emitted = emit::Emitted::of(&resource.value, resource.head);
        bytes += emitted.text.len() as u64;
        if bytes > sources.limits().file_bytes {
            return Err(KustomizeError::beyond(format!(
                "the build output exceeds {} bytes",
                sources.limits().file_bytes
            )));
        }
        documents.push(OutputDocument { value: resource.value, emitted });
    }
    maker.parts.remove(directory);
    let target::Maker { files: replaced, apart, parts, charts, missing, .. } = maker;
    let files = replaced.union(&apart).cloned().collect();
    Ok(KustomizeOutput { documents, files, replaced, parts, charts, missing, steps: budget.spent() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    fn built(files: &[(&str, &str)]) -> Result<String, KustomizeError> {
        let tree = files.iter().fold(MemoryTree::new(), |tree, (path, text)| tree.with(path, *text));
        let sources = SourceFiles::new(tree);
        build(&sources, "o", &Cluster::default())
            .map(|built| built.documents.iter().map(|it| it.text().to_owned()).collect())
    }

    #[test]
    fn what_is_missing_or_elsewhere_is_said() {
        for (text, cause) in [
            ("resources: [missing.yaml]", TroubleCause::Absent),
            ("resources: ['https://example.com/a.yaml']", TroubleCause::NotAtHand),
            ("resources: ['github.com/a/b?ref=v1']", TroubleCause::NotAtHand),
            ("resources: [../../up.yaml]", TroubleCause::NotAtHand),
            ("resources: [.]", TroubleCause::Refused),
            ("helmCharts: [{name: a}]", TroubleCause::NotAtHand),
            ("transformers: [\"apiVersion: x\\nkind: Mine\\nmetadata: {name: a}\\n\"]", TroubleCause::NotAtHand),
            ("resource: [a.yaml]", TroubleCause::Refused),
            ("replicas: [{name: a, count: 1}]", TroubleCause::Refused),
            ("{}", TroubleCause::Refused),
        ] {
            let trouble = built(&[("o/kustomization.yaml", text)]).unwrap_err();
            assert_eq!(trouble.cause, cause, "{text}: {}", trouble.message);
        }
    }

    #[test]
    fn a_patch_without_its_object_is_told_at_the_patch() {
        let patch = "patchesStrategicMerge: [\"kind: Pod\\napiVersion: v1\\nmetadata: {name: a}\\n\"]";
        let trouble = built(&[("o/kustomization.yaml", patch)]).unwrap_err();
        assert!(trouble.message.contains("there is no Pod a"), "{}", trouble.message);
        assert!(trouble.at.is_some() && trouble.note.is_some());
    }

    /// Copies that double with each operation, and patches for all objects, would take gigabytes.
    #[test]
    fn a_hostile_kustomization_ends() {
        let doubling: String =
            (0..60).map(|n| format!("    - {{op: copy, from: /spec, path: /spec/s{n}}}\n")).collect();
        let bomb = format!("resources: [a.yaml]\npatches:\n- target: {{kind: X}}\n  patch: |\n{doubling}");
        let object = "apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {a: b}\n";
        let trouble = built(&[("o/kustomization.yaml", &bomb), ("o/a.yaml", object)]).unwrap_err();
        assert_eq!(trouble.cause, TroubleCause::Beyond, "{}", trouble.message);
    }
}
