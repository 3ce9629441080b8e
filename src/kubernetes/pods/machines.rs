//! Reads machines that manifests provision: node pools of autoscalers, workspaces, cluster definitions.

use crate::inventory::{
    BillingRole, Fact, FactOrigin, FactValue, Key, KnownFact, Limited, NodeSelector, PoolLimit, Purchase,
    PurposeEvidence, Range, ReadBy, Resource, Says, UnknownFact, programs,
};
use crate::languages::yaml::{Node, NodeEntry};
use crate::source::Span;

use super::containers;
use super::nodes;
use super::nodes::Condition;
use super::pod::taints;
use super::resource::{repeats, serves, set_purpose};
use super::workload::{Above, FoundResource};
use crate::kubernetes::objects::index::{NamePlace, ObjectIndex};
use crate::kubernetes::objects::object;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::count;
use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::facts::{Facts, fill};
use crate::kubernetes::rows::path::{ManifestPath, PathMatch};
use crate::kubernetes::rows::sources;
use crate::kubernetes::rows::table::Machines;

/// Returns the resources for one entry of a definition.
pub(in crate::kubernetes) fn resources(
    object: &KubernetesObject<'_>,
    machines: &Machines,
    body: Span,
    above: &Above,
    out: &mut Vec<FoundResource>,
) {
    let whole = ManifestPath::default();
    let each = machines.each.as_ref().unwrap_or(&whole);
    let found = each.all(object.root);
    let several = found.len() > 1;
    for (place, at) in found.iter().enumerate() {
        let one = One { object, machines, each, at };
        let conditions = one.conditions();
        let mut facts = one.facts(&conditions);
        if !rents_accelerators(&facts) {
            continue;
        }
        one.programs(&mut facts);
        if let Some(limits) = machines.limits.as_ref() {
            let setting = FactValue::text(limits.to_string());
            fill(&mut facts, Key::LimitSetting, Fact::known(setting, one.head(), FactOrigin::Default));
        }
        let repeats = repeats(object, &facts);
        fill(&mut facts, Key::Repeats, repeats);
        let name = one.name().or(several.then(|| place.to_string()));
        let part = name.map_or(String::new(), |name| format!(":{name}"));
        let address = object.address() + &part;
        let head = one.head();
        let mut resource = Resource::new(ReadBy::Kubernetes, BillingRole::Rented, object.kind, address, head, body);
        resource.declared = object.declaration(&part);
        resource.metered = object.metered(&[]);
        (resource.count, resource.limits) = one.count(above.count.clone());
        resource.labels = object::labels([object.root]);
        resource.selector = one.selector(&conditions);
        for (key, fact) in facts {
            resource.set(key, fact);
        }
        out.push(FoundResource {
            resource,
            kind: object.kind.to_owned(),
            name: object.name.clone(),
            namespace: object.namespace.clone(),
            generated: object.generated,
            is_overlay: false,
            is_only_patch: false,
            from_values: false,
            shared: Vec::new(),
            device: None,
            listens: false,
            carrier: None,
            owners: Vec::new(),
            made: None,
        });
    }
}

/// Marks pools as reserved whose node class selects capacity reservations, unless the pool excludes reserved capacity.
/// Karpenter uses a selected reservation first (documentation of Karpenter, 2026-11).
pub(in crate::kubernetes) fn use_reservations(
    object: &KubernetesObject<'_>,
    index: &ObjectIndex<'_>,
    pools: &mut [FoundResource],
) {
    let class = object.root.at("spec.template.spec.nodeClassRef.name").filter(|_| !pools.is_empty());
    let class =
        class.and_then(|name| index.find("karpenter.k8s.aws/EC2NodeClass", name.text()?, NamePlace::of(name.span)));
    let terms = class.and_then(|class| class.root.at("spec.capacityReservationSelectorTerms"));
    let Some(terms) = terms.filter(|terms| !terms.items().is_empty()) else { return };
    let reserved = FactValue::from(Purchase::CapacityReservation);
    for pool in pools {
        let allows = match pool.resource.fact(Key::Purchase) {
            Fact::Known(known) => known.origin == FactOrigin::Default,
            Fact::Unknown(unknown) => unknown.candidates.contains(&reserved),
            Fact::Absent => true,
        };
        if allows {
            let because = FactOrigin::Inferred("its node class selects capacity reservations".into());
            pool.resource.set(Key::Purchase, Fact::known(reserved.clone(), terms.span, because));
        }
    }
}

/// Returns whether a pool names its machine types or accelerators. A pool that accepts any machine is not relevant.
fn rents_accelerators(facts: &Facts) -> bool {
    let names = |key: Key| facts.get(&key).is_some_and(Fact::is_narrowed);
    let any_of = [Key::AcceleratorCount, Key::Vendor].iter().any(|key| facts.contains_key(key));
    names(Key::Machine) || names(Key::Accelerator) || any_of || is_category(facts)
}

/// Returns whether the pool uses any machine of a category whose machines all have accelerators.
fn is_category(facts: &Facts) -> bool {
    matches!(facts.get(&Key::Machine), Some(Fact::Unknown(unknown)) if unknown.candidates.is_empty())
}

/// One group of machines of an object.
struct One<'o, 't> {
    object: &'o KubernetesObject<'t>,
    machines: &'o Machines,
    each: &'o ManifestPath,
    at: &'o PathMatch<'t>,
}

impl<'t> One<'_, 't> {
    fn nodes(&self, path: &ManifestPath) -> Vec<&'t Node> {
        path.relative_to(self.object.root, self.each, self.at)
    }

    fn name(&self) -> Option<String> {
        let named = self.machines.name.as_ref().and_then(|path| self.nodes(path).first()?.text());
        named.map(|name| name.to_string()).or(self.at.names.last().map(|name| (*name).to_owned()))
    }

    /// Returns the first key of the group, or of the whole object.
    fn head(&self) -> Span {
        if self.machines.each.is_none() {
            return self.object.head;
        }
        self.at.node.entries().first().map_or(self.at.node.span, |entry| entry.key_span)
    }

    fn conditions(&self) -> Vec<Condition> {
        let expressions = self.machines.requirements.iter().flat_map(|path| self.nodes(path));
        let mut all: Vec<Condition> = expressions.flat_map(|list| nodes::expressions(list, false)).collect();
        let maps = self.machines.labels.iter().flat_map(|path| self.nodes(path));
        all.extend(maps.flat_map(nodes::labels));
        all
    }

    fn facts(&self, conditions: &[Condition]) -> Facts {
        let head = self.head();
        let mut facts = sources::facts(&self.machines.facts, self.object.root, self.each, self.at, head);
        for (key, fact) in nodes::facts(conditions) {
            let weaker = matches!(facts.get(&key), Some(Fact::Known(KnownFact { origin: FactOrigin::Default, .. })));
            if weaker {
                facts.insert(key, fact);
            } else {
                fill(&mut facts, key, fact);
            }
        }
        if facts.contains_key(&Key::Machine) {
            // The machine determines the number of accelerators. A label on its nodes only describes them.
            facts.remove(&Key::AcceleratorMemory);
        }
        facts
    }

    /// Adds the facts from its programs, and the purpose from programs and name.
    fn programs(&self, facts: &mut Facts) {
        let Some(runs) = &self.machines.runs else { return };
        let first = |path: &Option<ManifestPath>| path.as_ref().and_then(|path| self.nodes(path).first().copied());
        let (image, env) = (first(&runs.image), first(&runs.env));
        let scripts = self.nodes(&runs.script).into_iter();
        for script in
            scripts.flat_map(|node| if node.text().is_some() { vec![node] } else { node.items().iter().collect() })
        {
            for (key, fact) in programs::recognize(&containers::of_script(script, image, env)) {
                fill(facts, key, fact);
            }
        }
        let name =
            self.object.name.as_deref().map(|name| PurposeEvidence { says: Says::Name(name), span: self.object.head });
        let scripts = self.nodes(&runs.script).into_iter();
        let lines = scripts.filter_map(|node| Some((node.text()?.lines(), node.span)));
        let programs = lines.flat_map(|(lines, span)| {
            let words = lines.filter(|line| !line.trim_start().starts_with('#')).flat_map(str::split_whitespace);
            let files =
                words.filter_map(|word| word.strip_suffix(".py")).map(|path| path.rsplit('/').next().unwrap_or(path));
            files.map(move |program| PurposeEvidence { says: Says::Image(program), span })
        });
        set_purpose(&name.into_iter().chain(programs).collect::<Vec<_>>(), facts);
        // A command ends at some time, but a server does not.
        if serves(facts)
            && matches!(
                facts.get(&Key::EndsByItself),
                Some(Fact::Known(KnownFact { origin: FactOrigin::Inferred(_), .. }))
            )
        {
            facts.remove(&Key::EndsByItself);
        }
    }

    fn count(&self, start: Fact<Range>) -> (Fact<Range>, Vec<PoolLimit>) {
        if start.value().is_some_and(|range| range.ceiling == 0.0) {
            return (start, Vec::new());
        }
        let count = count::product(&self.machines.count, self.object.root, self.each, self.at, start);
        let Some(limits) = self.machines.limits.as_ref() else { return (count, Vec::new()) };
        if count.origin() == Some(&FactOrigin::Written) {
            return (count, Vec::new());
        }
        let open = Range { floor: 0.0, expected: 0.0, ceiling: f64::INFINITY };
        let limits = self.nodes(limits).first().map(|limits| limited(limits)).unwrap_or_default();
        let span = limits.iter().find_map(|limit| limit.most.span()).unwrap_or(self.object.head);
        (Fact::known(open, span, FactOrigin::Default), limits)
    }

    fn selector(&self, conditions: &[Condition]) -> NodeSelector {
        let mut selector = NodeSelector::default();
        for condition in conditions {
            if let [(text, span)] = condition.values.as_slice() {
                let fact = Fact::written(text.clone(), *span);
                selector.labels.entry(condition.key.to_string()).or_insert(fact);
            }
        }
        for (key, path) in &self.machines.gives {
            if let Some(node) = self.nodes(path).first()
                && let Some(text) = node.text()
            {
                selector.labels.entry(key.clone()).or_insert_with(|| Fact::written(text.clone(), node.span));
            }
        }
        selector.taints = self.machines.taints.iter().flat_map(|path| self.nodes(path)).flat_map(taints).collect();
        let hole =
            self.machines.taints.iter().flat_map(|path| self.nodes(path)).find(|node| {
                amount::is_hole(node) || node.items().iter().any(amount::is_hole) || node.text().is_some()
            });
        let why = || "another program fills in some of its taints".into();
        selector.open = hole.map(|node| UnknownFact { span: node.span, why: why(), candidates: Vec::new() });
        selector
    }
}

/// Returns the limits for all machines together.
fn limited(limits: &Node) -> Vec<PoolLimit> {
    let limit = |entry: &NodeEntry| {
        let (of, most) = match &*entry.key {
            "cpu" => (Limited::Cpus, amount::number(&entry.value)),
            "nodes" => (Limited::Machines, amount::number(&entry.value)),
            "memory" => (Limited::MemoryGib, amount::gib(&entry.value)),
            key if DEVICES.device(key).is_some() => (Limited::Accelerators, amount::number(&entry.value)),
            _ => return None,
        };
        Some(PoolLimit { of, most })
    };
    limits.entries().iter().filter_map(limit).collect()
}
