//! A kustomization and a tree of files → the objects that it makes, as text whose every line leads back to the line of a
//! base, of a patch or of the kustomization that a person would change.
//!
//! Follows kustomize 5.8: bases and components, generators, patches of both kinds, images, names, labels, replacements and
//! variables, charts by the engine beside this one, and the order and the form of what it prints. Which fields hold names,
//! labels and images, and by which keys lists merge, are tables that are made of kustomize's own
//! (`tests/corpus/kustomize_tables.py`).
//!
//! It starts no program. What would have to be fetched or run is not at hand, and said to be so; building goes on without it
//! where that is asked for. Steps, copies and depth are limited.
//!
//! Judged by kustomize: the overlays of `tests/overlays` hold what it printed, random ones are made by
//! `tests/corpus/overlays.py`, and kustomizations of checkouts are compared by `tests/corpus/kustomizations.py`.
//!
//! No crate does it. Kustomize as a program knows no places: its output leads back to no line.

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
use crate::source::{Segment, Sources, Span};

pub(crate) use inflate::directories as charts_of;
pub(crate) use kustomization::{NAMES, is_remote};

/// What a kustomization makes.
#[derive(Debug)]
pub(crate) struct Built {
    /// In the order in which kustomize prints them.
    pub documents: Vec<Document>,
    /// Every file that it was made of, sorted.
    pub files: BTreeSet<String>,
    /// Those of them that its objects stand for. What is only data of a ConfigMap, or a patch of something that is missing,
    /// still says what it says by itself.
    pub replaced: BTreeSet<String>,
    /// The directories of kustomizations that are part of it, its own left out.
    pub parts: BTreeSet<String>,
    /// The directories of the charts that it renders.
    pub charts: BTreeSet<String>,
    /// What it was built without.
    pub missing: Vec<Trouble>,
    /// What building it took.
    pub steps: u64,
}

#[derive(Debug)]
pub(crate) struct Document {
    value: value::ObjectValue,
    emitted: emit::Emitted,
}

impl Document {
    pub(crate) fn text(&self) -> &str {
        &self.emitted.text
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        emit::json(&self.value)
    }

    /// Where each piece of the text comes from.
    pub(crate) fn segments(&self, sources: &Sources) -> Vec<Segment> {
        self.emitted.segments(sources)
    }
}

/// Why a kustomization cannot be built.
#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    pub cause: TroubleCause,
    pub message: String,
    pub at: Option<Span>,
    pub note: Option<(Span, String)>,
    /// The kustomization in which it happens.
    pub directory: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TroubleCause {
    /// Kustomize would refuse it too.
    Refused,
    /// It names a file that is not there, and that something else may make before kustomize sees it.
    Absent,
    /// It takes something that is not in the tree, or runs a program.
    NotAtHand,
    /// It takes more than a person's text would.
    Beyond,
}

impl Trouble {
    fn refused(message: impl Into<String>, at: Span) -> Trouble {
        Trouble { cause: TroubleCause::Refused, message: message.into(), at: Some(at), note: None, directory: None }
    }

    fn absent(message: impl Into<String>, at: Span) -> Trouble {
        Trouble { cause: TroubleCause::Absent, ..Trouble::refused(message, at) }
    }

    fn not_at_hand(message: impl Into<String>, at: Span) -> Trouble {
        Trouble { cause: TroubleCause::NotAtHand, ..Trouble::refused(message, at) }
    }

    pub(crate) fn beyond(message: impl Into<String>) -> Trouble {
        Trouble { cause: TroubleCause::Beyond, message: message.into(), at: None, note: None, directory: None }
    }

    fn with_note(self, at: Span, note: impl Into<String>) -> Trouble {
        Trouble { note: Some((at, note.into())), ..self }
    }

    /// Said of this place, where nothing more exact is known.
    fn or_at(self, at: Span) -> Trouble {
        Trouble { at: self.at.or(Some(at)), ..self }
    }
}

/// What building may cost.
#[derive(Debug)]
pub(crate) struct BuildBudget {
    all: u64,
    steps: Cell<u64>,
    copies: Cell<u64>,
}

impl BuildBudget {
    /// About a second. The largest public kustomizations take a tenth of it.
    const STEPS: u64 = 30_000_000;
    /// Values that are copied from one place to others. Patches for hundreds of objects copy some ten thousand.
    const COPIES: u64 = 500_000;
    /// Documents nest less deep when they are read.
    const DEEPEST: usize = 256;

    fn of(steps: u64) -> Self {
        BuildBudget { all: steps, steps: Cell::new(steps), copies: Cell::new(Self::COPIES) }
    }

    fn spent(&self) -> u64 {
        self.all - self.steps.get()
    }

    fn spend(&self, steps: usize) -> Result<(), Trouble> {
        let rest = self.steps.get().checked_sub(steps as u64);
        self.steps.set(rest.unwrap_or(0));
        rest.map(|_| ())
            .ok_or_else(|| Trouble::beyond(format!("building the kustomization exceeds {} steps", self.all)))
    }
}

impl BuildBudget {
    /// Before a value is copied to a place that is so deep already.
    fn copy(&self, value: &value::ObjectValue, depth: usize) -> Result<(), Trouble> {
        if depth.saturating_add(value.depth()) > Self::DEEPEST {
            return Err(Trouble::beyond(format!("its objects are nested more than {} levels deep", Self::DEEPEST)));
        }
        let rest = self.copies.get().checked_sub(value.weight() as u64);
        self.copies.set(rest.unwrap_or(0));
        rest.map(|_| ()).ok_or_else(|| {
            Trouble::beyond(format!("building the kustomization copies more than {} values", Self::COPIES))
        })
    }
}

/// Whether what stands in a directory is only a part of others.
pub(crate) fn is_component(sources: &Sources, directory: &str) -> bool {
    let read = kustomization::Kustomization::read(sources, directory);
    read.and_then(Result::ok).is_some_and(|it| it.is_component)
}

/// Builds the kustomization in a directory.
pub(crate) fn build(sources: &Sources, directory: &str, cluster: &Cluster) -> Result<Built, Trouble> {
    let budget = BuildBudget::of(BuildBudget::STEPS);
    with(target::Maker::new(sources, &budget, cluster, false), directory)
}

/// The same as far as it goes: what is not at hand is left out, and told. It takes no more than so many steps.
pub(crate) fn build_as_far_as_possible(
    sources: &Sources,
    directory: &str,
    cluster: &Cluster,
    steps: u64,
) -> Result<Built, Trouble> {
    let budget = BuildBudget::of(steps.min(BuildBudget::STEPS));
    with(target::Maker::new(sources, &budget, cluster, true), directory)
}

fn with(mut maker: target::Maker<'_>, directory: &str) -> Result<Built, Trouble> {
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
            return Err(Trouble::beyond(format!("the build output exceeds {} bytes", sources.limits().file_bytes)));
        }
        documents.push(Document { value: resource.value, emitted });
    }
    maker.parts.remove(directory);
    let target::Maker { files: replaced, apart, parts, charts, missing, .. } = maker;
    let files = replaced.union(&apart).cloned().collect();
    Ok(Built { documents, files, replaced, parts, charts, missing, steps: budget.spent() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    fn built(files: &[(&str, &str)]) -> Result<String, Trouble> {
        let tree = files.iter().fold(MemoryTree::new(), |tree, (path, text)| tree.with(path, *text));
        let sources = Sources::new(tree);
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

    /// Copies that double with each operation, and patches of everything for everything, would take gigabytes.
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
