//! Finds growth of cost that no total contains, in resources or files that others replace.
//!
//! A variant of a root replaces the root, an overlay its base, and one version of an object another. But a repository
//! cannot prove that the replaced one is never applied directly. So this module reports its growth, unless the counted
//! replacement grew by as much:
//!
//! 1. It compares the cost of resources that are listed but not in a total, before and after the change.
//! 2. It reads changed files again, each as if nothing replaced it.
//! 3. It reports a resource that requests more accelerators for less money, if its price is assumed: such a price
//!    falls when another file hints at another cloud.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::state::{ComparedStates, TreeState};
use crate::analysis::Analysis;
use crate::catalog::Money;
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::{CountedAs, Declaration, Fact, Key, Resource, ResourceId, Unjudged};
use crate::pricing::{Delta, Side};
use crate::resolve::plain;
use crate::source::{SourceFiles, parent};
use crate::{AnalysisCache, AnalysisSettings, analyze_with, kubernetes};

const CURE: &str = "in gpulint.toml, add it to `[[runs]]` if a deployment uses it, or to `exclude` if none does";

/// The weight of a resource: its maximum monthly cost as far as it is known, and its accelerators.
#[derive(Clone, Copy, Default)]
struct Weight {
    usd: f64,
    accelerators: f64,
}

impl Weight {
    fn of(side: &Side, id: ResourceId) -> Weight {
        let resource = side.resource(id);
        let at_most = |floor: f64, expected: f64, ceiling: f64| {
            if ceiling.is_finite() { ceiling.max(expected) } else { expected.max(floor) }
        };
        let usd = side.item(id).and_then(|item| item.amount).map_or(0.0, |it| {
            let ceiling = it.ceiling.usd();
            at_most(it.floor.usd(), it.expected.usd(), if ceiling < 1e12 { ceiling } else { f64::INFINITY })
        });
        let count = match &resource.count {
            Fact::Known(known) => at_most(known.value.floor, known.value.expected, known.value.ceiling),
            Fact::Unknown(_) | Fact::Absent => 1.0,
        };
        Weight { usd, accelerators: count * resource.number(Key::AcceleratorCount).unwrap_or(1.0) }
    }

    fn beyond(self, other: Weight) -> Weight {
        Weight { usd: self.usd - other.usd, accelerators: self.accelerators - other.accelerators }
    }

    /// Returns true if the difference is larger than a rounding error.
    fn is_more(self) -> bool {
        self.usd > 0.5 || self.accelerators > 0.01
    }

    /// Returns true if this growth is as large as the other one, except for rounding.
    fn explains(self, other: Weight) -> bool {
        self.usd * 1.001 + 0.5 >= other.usd && self.accelerators + 0.01 >= other.accelerators
    }

    fn most(self, other: Weight) -> Weight {
        Weight { usd: self.usd.max(other.usd), accelerators: self.accelerators.max(other.accelerators) }
    }

    fn spoken(self, amount: &dyn Fn(Money) -> String) -> String {
        let accelerators = self.accelerators.max(0.0);
        match self.usd > 0.5 {
            true => format!("up to {}/month", amount(Money::from_usd(self.usd))),
            false => format!("{accelerators} accelerators"),
        }
    }
}

/// Returns the identities by which two resources may be the same: kind and name, or kind and file.
fn identities(sources: &SourceFiles, resource: &Resource) -> [String; 2] {
    let Declaration { name, part, .. } = &resource.declared;
    let path = sources.path_of(resource.span);
    [format!("{} {name}{part}", resource.kind), format!("{} in {path}", resource.kind)]
}

/// How much the resources in the totals grew, and their weight after the change, by identity.
type Counts = HashMap<String, (Weight, Weight)>;

/// Returns by identity how much the resources in the totals grew, and their weight after the change.
fn counted(states: &ComparedStates, delta: &Delta) -> Counts {
    let (before, after) = (&states.earlier(), &states.later());
    let mut grown = Counts::new();
    for change in &delta.changes {
        let Some(id) = change.after.filter(|id| after.resource(*id).is_added()) else { continue };
        let now = Weight::of(after, id);
        let earlier = change.before.filter(|id| before.resource(*id).is_added());
        let by = now.beyond(earlier.map_or(Weight::default(), |id| Weight::of(before, id)));
        for identity in identities(after.sources, after.resource(id)) {
            let (most, all) = grown.entry(identity).or_default();
            *most = most.most(by);
            *all = all.most(now);
        }
    }
    grown
}

/// Returns all growth that no total contains.
pub(super) fn grown(states: &ComparedStates, delta: &Delta, unjudged: &[Unjudged]) -> Vec<Unjudged> {
    let counted = counted(states, delta);
    let mut told = not_added(states, delta, &counted);
    told.extend(more_for_less(states, delta));
    let said: HashSet<String> = told.iter().map(|it| it.path.clone()).collect();
    let alone = read_alone(states, &counted, unjudged);
    told.extend(alone.into_iter().filter(|it| !said.contains(&it.path)));
    told
}

/// Returns files that differ between both states, or that only one of them has.
fn changed<'f>(ComparedStates { base, head, .. }: &ComparedStates<'f>) -> BTreeSet<&'f String> {
    let differs = |path: &&String| {
        !base.same.contains(*path) && base.sources.tree().read(path).ok() != head.sources.tree().read(path).ok()
    };
    let gone = base.files.iter().filter(|path| head.files.binary_search(path).is_err());
    head.files.iter().chain(gone).filter(differs).collect()
}

/// Returns the largest growth and weight of any counted resource that may be the same thing.
fn stand_in(counted: &Counts, sources: &SourceFiles, resource: &Resource) -> (Weight, Weight) {
    let found = identities(sources, resource).into_iter().filter_map(|identity| counted.get(&identity));
    found
        .fold((Weight::default(), Weight::default()), |(grown, now), (other, all)| (grown.most(*other), now.most(*all)))
}

/// Returns the resources of a state by file and address, the first of several.
fn by_place<'a>(side: &Side<'a>) -> HashMap<(String, &'a str), ResourceId> {
    let all = side.inventory.resources.iter().enumerate().rev();
    all.map(|(at, it)| ((side.sources.path_of(it.span), it.address.as_str()), ResourceId(at))).collect()
}

/// Finds growth of resources that are listed, but not in the total.
fn not_added(states: &ComparedStates, delta: &Delta, counted: &Counts) -> Vec<Unjudged> {
    let (before, after, amount) = (&states.earlier(), &states.later(), &states.head.amount);
    let mut told = Vec::new();
    let earlier_by_place = LazyCell::new(|| by_place(before));
    for change in &delta.changes {
        let Some(id) = change.after else { continue };
        let resource = after.resource(id);
        let why = match (resource.counted, resource.version_of) {
            (CountedAs::Base, _) => "other deployments replace it",
            (CountedAs::Deployed, Some(_)) => "another version of the same object counts",
            (CountedAs::Unlisted, _) => "the tool that deploys its folder does not deploy this file",
            (CountedAs::Example | CountedAs::Module | CountedAs::Excluded | CountedAs::Copy, _) => {
                "no deployment here uses its directory"
            }
            _ => continue,
        };
        let now = Weight::of(after, id);
        let is_aside = matches!(
            resource.counted,
            CountedAs::Example | CountedAs::Module | CountedAs::Excluded | CountedAs::Unlisted | CountedAs::Copy
        );
        // The change pairs a deployment that becomes the base of an environment with the resource of the environment.
        let as_deployment = || earlier_by_place.get(&(after.path_of(id), resource.address.as_str())).copied();
        let is_base = resource.counted == CountedAs::Base;
        let earlier = change.before.or_else(|| is_base.then(as_deployment).flatten());
        let grew = now.beyond(earlier.map_or(Weight::default(), |id| Weight::of(before, id)));
        let (grown, all) = stand_in(counted, after.sources, resource);
        let was_counted = earlier.is_some_and(|id| before.resource(id).is_added());
        // A cluster contains one of several versions of an object, so the one with the largest weight counts.
        let is_held = resource.version_of.is_some() && all.explains(now);
        let reason = if !is_aside && !is_held && grew.is_more() && !grown.explains(grew) {
            format!("it grew by {}, and no total contains it: {why}", grew.spoken(amount))
        } else if was_counted && now.is_more() && !all.explains(now) {
            format!("the total contained it before the change ({}) and does not now: {why}", now.spoken(amount))
        } else {
            continue;
        };
        let span = after.sources.origin(resource.span);
        let path = after.sources.path(span.file);
        told.push(Unjudged::new(SkipKind::Change, path, reason).about(&resource.address).at(span).with_cure(CURE));
    }
    told
}

/// Returns resources in the totals with more accelerators of the same kind for no more money, if their price is
/// assumed.
fn more_for_less(states: &ComparedStates, delta: &Delta) -> Vec<Unjudged> {
    let (before, after) = (&states.earlier(), &states.later());
    let is_same = |now: &Resource, earlier: &Resource| {
        [Key::Machine, Key::Accelerator].iter().all(|key| match (now.fact(*key), earlier.fact(*key)) {
            (Fact::Known(now), Fact::Known(earlier)) => now.value == earlier.value,
            (Fact::Known(_), _) => false,
            _ => true,
        })
    };
    let told = delta.changes.iter().filter_map(|change| {
        let (id, earlier) = (change.after?, change.before?);
        let resource = after.resource(id);
        let is_assumed = after.item(id)?.is_estimated() && before.item(earlier)?.is_estimated();
        let (now, was) = (Weight::of(after, id), Weight::of(before, earlier));
        let cost = |side: &Side, id| side.item(id).and_then(|item| Some((item.amount?.expected, item.amount?.ceiling)));
        // A maximum that grows with the number is in the report.
        let is_cheaper = match (cost(after, id), cost(before, earlier)) {
            (Some(now), Some(was)) => now.0 <= was.0 && now.1 <= was.1,
            (now, was) => now.is_none() && was.is_none(),
        };
        if !resource.is_added()
            || !is_assumed
            || !is_cheaper
            || before.resource(earlier).is_unlimited()
            || now.beyond(was).accelerators <= 0.01
            || !is_same(resource, before.resource(earlier))
        {
            return None;
        }
        let (was, now) = (plain(was.accelerators), plain(now.accelerators));
        let reason = format!(
            "it requests up to {now} accelerators ({was} before) and costs no more, which only an assumed price explains"
        );
        let span = after.sources.origin(resource.span);
        let cure = "set the accelerator with a node selector or label, or in `[defaults]` in gpulint.toml";
        let told =
            Unjudged::new(SkipKind::Change, after.sources.path(span.file), reason).about(&resource.address).at(span);
        Some(told.with_cure(cure))
    });
    told.collect()
}

/// Reads changed manifests, and changed roots with a separate state, as if nothing replaced them.
fn read_alone(states: &ComparedStates, counted: &Counts, unjudged: &[Unjudged]) -> Vec<Unjudged> {
    let (base, head, changed) = (states.base, states.head, changed(states));
    let manifests: Vec<String> =
        changed.iter().filter(|path| is_plain_manifest(path)).map(|path| (*path).clone()).collect();
    let roots = roots(head, &changed);
    let is_told: HashSet<&str> = unjudged.iter().map(|it| it.path.as_str()).collect();
    let mut told = Vec::new();
    for paths in [manifests].into_iter().chain(roots) {
        if paths.is_empty() {
            continue;
        }
        let (now, earlier) = (alone(head, &paths), alone(base, &paths));
        let (now_side, earlier_side) = (now.side(head.sources), earlier.side(base.sources));
        let mut known: HashMap<(String, String), Weight> = HashMap::new();
        let key = |side: &Side, resource: &Resource| (side.sources.path_of(resource.span), resource.address.clone());
        for id in (0..earlier.inventory.resources.len()).map(ResourceId) {
            let of = known.entry(key(&earlier_side, earlier_side.resource(id))).or_default();
            *of = of.most(Weight::of(&earlier_side, id));
        }
        for id in (0..now.inventory.resources.len()).map(ResourceId) {
            let resource = now_side.resource(id);
            let (path, address) = key(&now_side, resource);
            let before = known.get(&(path.clone(), address.clone())).copied().unwrap_or_default();
            // A pod has another price without its pool, so only its accelerators count here.
            let alone = Weight { usd: 0.0, ..Weight::of(&now_side, id) };
            let grew = Weight { usd: 0.0, ..alone.beyond(before) };
            let (grown, all) = stand_in(counted, now_side.sources, resource);
            let is_seen = grown.explains(grew) || all.explains(alone);
            // Values without their chart, and patches without a target name, request nothing themselves.
            let is_part = resource.kind == "Values" || address.ends_with("/*");
            if resource.is_added() && !is_part && grew.is_more() && !is_seen && !is_told.contains(&*path) {
                let reason = format!(
                    "`{address}` in this file grew by {}, and the deployment that replaces it did not",
                    grew.spoken(&head.amount)
                );
                told.push(Unjudged::new(SkipKind::Change, path, reason).about(&address).with_cure(CURE));
            }
        }
    }
    told
}

/// Analyzes a few files without the other files that could replace them.
fn alone(state: &TreeState, paths: &[String]) -> Analysis {
    let there: Vec<String> = paths.iter().filter(|path| state.files.binary_search(path).is_ok()).cloned().collect();
    let settings = AnalysisSettings { rules: std::sync::Arc::default(), ..state.settings.clone() };
    // An analysis of a single file can have other results, so this cache is not shared.
    let cache = AnalysisCache { looks: kubernetes::ScanCache::default(), ..state.cache.clone() };
    analyze_with(state.sources, &there, &settings, &cache)
}

/// Returns all files of each root that has its own state and a changed file.
fn roots(head: &TreeState, changed: &BTreeSet<&String>) -> Vec<Vec<String>> {
    let directories = changed.iter().filter(|path| files::is_terraform(path)).map(|path| (parent(path), Vec::new()));
    let mut directories: BTreeMap<&str, Vec<String>> = directories.collect();
    if !directories.is_empty() {
        for path in head.files.iter().filter(|path| files::is_terraform(path) && !path.ends_with(".hcl")) {
            directories.get_mut(parent(path)).into_iter().for_each(|files| files.push(path.clone()));
        }
    }
    let roots = directories.into_values().filter_map(|files| {
        let keeps_state = |path: &String| {
            let text = head.stored_text(path).unwrap_or_default();
            text.lines().any(|line| {
                let line = line.trim_start();
                line.starts_with("backend \"") || line.starts_with("cloud {")
            })
        };
        files.iter().any(keeps_state).then_some(files)
    });
    roots.collect()
}

/// Returns true for a manifest that is neither a chart template nor a kustomization.
fn is_plain_manifest(path: &str) -> bool {
    let is_manifest = [".yaml", ".yml", ".json"].iter().any(|ending| path.ends_with(ending));
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    is_manifest
        && !path.contains("templates/")
        && !name.starts_with("kustomization.")
        && !name.contains("values")
        && !files::is_terraform(path)
        && name != "chart.yaml"
}
