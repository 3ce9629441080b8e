//! Applies definitions to objects: an object becomes groups of pods and groups of machines, each with its facts.

use std::sync::Arc;

use crate::inventory::{Fact, FactOrigin, FactValue, Key, Range, Resource};
use crate::languages::yaml::Node;
use crate::source::{FileId, SourceFiles, Span};

use super::chart_objects::{self, MadeObject};
use super::machines;
use super::pod::Pod;
use super::resource;
use crate::kubernetes::objects::chart;
use crate::kubernetes::objects::index::{NamePlace, ObjectIndex};
use crate::kubernetes::objects::layers;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::objects::owners::Owner;
use crate::kubernetes::pods::generic;
use crate::kubernetes::rows::count;
use crate::kubernetes::rows::facts::{Facts, fill};
use crate::kubernetes::rows::path::{ManifestPath, PathMatch};
use crate::kubernetes::rows::settings;
use crate::kubernetes::rows::sources;
use crate::kubernetes::rows::table::{Borrows, InnerObjects, KINDS, KindRow, Pods, VALUES};

/// The maximum depth of objects: a CronJob contains a Job, a List an experiment with a Job.
const DEEPEST: usize = 6;

/// Pods with the same description in one object.
pub(in crate::kubernetes) struct PodGroup {
    pub role: Vec<String>,
    pub pod: Pod,
    pub count: Fact<Range>,
    pub facts: Facts,
    /// The reason why the pods were found by their shape and not by a definition.
    pub by_shape: Option<std::sync::Arc<str>>,
    /// True if the pods are from the values of a chart, read without its templates.
    pub of_values: bool,
    /// True if the object is a patch of another one.
    pub is_overlay: bool,
    /// True if the patched object also sets the number of pods.
    pub is_patch: bool,
    /// The kind and the name of the object that a chart makes for the pods.
    pub made: Option<MadeObject>,
}

/// Properties from the objects around an object: the product of their numbers, its names, and their facts.
#[derive(Clone)]
pub(in crate::kubernetes) struct Above {
    pub count: Fact<Range>,
    pub role: Vec<String>,
    pub facts: Facts,
    pub depth: usize,
    /// The release whose values contain the object.
    pub release: Option<Arc<str>>,
}

impl Above {
    fn new(count: f64, head: Span) -> Self {
        let count = Fact::known(Range::exactly(count), head, FactOrigin::Default);
        Above { count, role: Vec::new(), facts: Facts::new(), depth: 0, release: None }
    }
}

/// A resource with the properties by which other objects find it.
pub(in crate::kubernetes) struct FoundResource {
    pub resource: Resource,
    pub kind: String,
    pub name: Option<std::sync::Arc<str>>,
    pub namespace: Option<std::sync::Arc<str>>,
    /// True if the cluster generates the name.
    pub generated: bool,
    /// True if the object is a patch of another one.
    pub is_overlay: bool,
    /// True if its kustomization has no other patch of the same object.
    pub is_only_patch: bool,
    /// True if the resource is from the values of a chart whose templates were not read.
    pub from_values: bool,
    /// Claims that other pods may use, too.
    pub shared: Vec<String>,
    /// The resource key of the whole devices that it requests.
    pub device: Option<std::sync::Arc<str>>,
    /// True if a container with accelerators listens on a port that is not only for users.
    pub listens: bool,
    /// The string inside Terraform that its manifest was made from.
    pub carrier: Option<FileId>,
    /// The objects that created it.
    pub owners: Vec<Owner>,
    /// The object that a chart makes for it.
    pub made: Option<MadeObject>,
}

/// Converts objects to resources, with access to the other objects of the tree.
pub(in crate::kubernetes) struct WorkloadReader<'i, 't> {
    pub sources: &'i SourceFiles,
    pub index: &'i ObjectIndex<'t>,
}

impl WorkloadReader<'_, '_> {
    /// Adds the resources of an object and of all independent objects in it.
    pub(in crate::kubernetes) fn read(&self, root: &Node, body: Span, out: &mut Vec<FoundResource>) {
        self.read_carried(root, body, 0, false, out);
    }

    fn read_carried(&self, root: &Node, body: Span, depth: usize, idle: bool, out: &mut Vec<FoundResource>) {
        let Some((object, row)) = identify(root) else { return };
        let idle = idle || row.is_some_and(|row| row.template);
        for found in row.into_iter().flat_map(KindRow::carried).flat_map(|path| path.all(root)) {
            if depth < DEEPEST {
                self.read_carried(found.node, found.node.span, depth + 1, idle, out);
            }
        }
        let count = if idle { 0.0 } else { 1.0 };
        let first = out.len();
        for machines in row.iter().flat_map(|row| &row.machines) {
            machines::resources(&object, machines, body, &Above::new(count, object.head), out);
        }
        machines::use_reservations(&object, self.index, out.get_mut(first..).unwrap_or_default());
        let borrows = row.and_then(|row| row.borrows.as_ref());
        if let Some(borrows) = borrows.filter(|it| it.first)
            && self.borrow(&object, row, borrows, body, out)
        {
            return;
        }
        let mut groups = Vec::new();
        self.collect(&object, row, &Above::new(count, object.head), &mut groups);
        let before = out.len();
        resource::finish(&object, body, groups, self.index, out);
        if let (Some(borrows), true) = (borrows.filter(|it| !it.first), out.len() == before) {
            self.borrow(&object, row, borrows, body, out);
        }
    }

    /// Returns all groups of pods of an object and of the objects that it contains.
    pub(in crate::kubernetes) fn groups(&self, root: &Node) -> Vec<PodGroup> {
        let mut groups = Vec::new();
        self.carried_groups(root, 0, &mut groups);
        groups
    }

    fn carried_groups(&self, root: &Node, depth: usize, out: &mut Vec<PodGroup>) {
        let Some((object, row)) = identify(root) else { return };
        for found in row.into_iter().flat_map(KindRow::carried).flat_map(|path| path.all(root)) {
            if depth < DEEPEST {
                self.carried_groups(found.node, depth + 1, out);
            }
        }
        self.collect(&object, row, &Above::new(1.0, object.head), out);
    }

    /// Adds all groups of pods of an object.
    fn collect(
        &self,
        object: &KubernetesObject<'_>,
        row: Option<&'static KindRow>,
        above: &Above,
        out: &mut Vec<PodGroup>,
    ) {
        let Some(row) = row else {
            generic::collect(object, above, out);
            return;
        };
        generic::others(object.root, row, above, out);
        let above = around(object, row, above);
        for pods in &row.pods {
            pods_of(object, pods, &above, out);
        }
        for holds in row.holds.iter().filter(|holds| !holds.apart) {
            self.held(object, holds, &above, out);
        }
        for layers in &row.values {
            let mut above = above.clone();
            let root = PathMatch::root(object.root);
            above.count = count::product(&layers.count, object.root, &ManifestPath::default(), &root, above.count);
            for at in layers.places(object.root) {
                above.release = layers::release_name(object, layers, at);
                if let Some(values) = layers::given(layers, at, None, self.sources, self.index).values {
                    self.collect_values(object, &values, &above, out);
                }
            }
        }
    }

    /// Adds the pods of values in an object: by the definition of their chart, or by their shape.
    fn collect_values(&self, object: &KubernetesObject<'_>, values: &Node, above: &Above, out: &mut Vec<PodGroup>) {
        match KINDS.shaped(values).filter(|_| above.depth < DEEPEST) {
            Some(row) => {
                let mut inside = KubernetesObject::of(values, "", &row.kind);
                inside.head = object.head;
                let above = Above { depth: above.depth + 1, ..above.clone() };
                self.collect(&inside, Some(row), &above, out);
            }
            None => generic::collect_values(values, above, out),
        }
    }

    /// Adds the pods of a values file. Each place that requests accelerators is separate.
    pub(in crate::kubernetes) fn read_values(&self, root: &Node, body: Span, out: &mut Vec<FoundResource>) {
        let object = KubernetesObject::of(root, "", chart::VALUES);
        let mut groups = Vec::new();
        generic::collect_values(root, &Above::new(1.0, object.head), &mut groups);
        for mut group in groups {
            let mut object = object.clone();
            object.name = Some(group.role.join(".").into()).filter(|name: &std::sync::Arc<str>| !name.is_empty());
            group.role.clear();
            resource::finish(&object, body, vec![group], self.index, out);
        }
    }

    /// Adds the objects inside this one that are part of it.
    fn held(&self, object: &KubernetesObject<'_>, holds: &InnerObjects, above: &Above, out: &mut Vec<PodGroup>) {
        let Some(path) = holds.at.as_ref().or(holds.spec.as_ref()) else { return };
        if above.depth >= DEEPEST {
            return;
        }
        for at in path.all(object.root) {
            let mut inside = above.clone();
            inside.depth += 1;
            inside.count = count::product(&holds.count, object.root, path, &at, above.count.clone());
            if let Some(off) = disabled(holds.enabled.as_ref(), object.root, path, &at) {
                inside.count = off;
            }
            inside.role.extend(called(holds.name.as_ref(), object.root, path, &at));
            // Paths in a definition start at the whole object, so a part is wrapped in its frame.
            let whole = if holds.at.is_some() { at.node.clone() } else { Node::framed("spec", at.node) };
            let found = match &holds.kind {
                Some(kind) => {
                    let (group, name) = kind.rsplit_once('/').unwrap_or(("", kind));
                    Some((KubernetesObject::of(&whole, group, name), KINDS.named(kind)))
                }
                None => identify(&whole),
            };
            if let Some((mut held, row)) = found {
                held.head = object.head;
                self.collect(&held, row, &inside, out);
            }
        }
    }

    /// Adds the pods or machines of a template that an object names. Returns whether the template decides about them.
    fn borrow(
        &self,
        object: &KubernetesObject<'_>,
        row: Option<&'static KindRow>,
        borrows: &Borrows,
        body: Span,
        out: &mut Vec<FoundResource>,
    ) -> bool {
        let before = out.len();
        let Some((node, name)) = borrows.name.first(object.root).and_then(|node| Some((node, node.text()?))) else {
            return false;
        };
        let place = NamePlace::of(node.span);
        let lent =
            borrows.kinds.iter().find_map(|kind| Some((self.index.find(kind, name, place)?, KINDS.named(kind)?)));
        let Some((lender, lent)) = lent else { return false };
        let root = PathMatch::root(object.root);
        let mut above = Above::new(1.0, object.head);
        let start = ManifestPath::default();
        above.count = count::product(&borrows.count, object.root, &start, &root, above.count);
        if let Some(row) = row {
            above = around(object, row, &above);
        }
        fill(&mut above.facts, Key::Autoscaled, count::scales_itself(&borrows.count, object.root, &start, &root));
        let mut lender = lender.clone();
        lender.name.clone_from(&object.name);
        lender.namespace.clone_from(&object.namespace);
        (lender.kind, lender.group, lender.head) = (object.kind, object.group, object.head);
        for machines in &lent.machines {
            machines::resources(&lender, machines, body, &above, out);
        }
        let mut groups = Vec::new();
        let plain = Above { depth: 1, ..above };
        for pods in &lent.pods {
            pods_of(&lender, pods, &plain, &mut groups);
        }
        for holds in lent.holds.iter().filter(|holds| !holds.apart) {
            self.held(&lender, holds, &plain, &mut groups);
        }
        if borrows.alone {
            groups.iter_mut().for_each(|group| group.count = plain.count.clone());
        }
        resource::finish(&lender, body, groups, self.index, out);
        let is_excluded = |pods: &Pods| pods.unless.as_ref().is_some_and(|it| it.applies_to(lender.root));
        out.len() > before || lent.pods.iter().any(is_excluded)
    }
}

/// Adds the pods of chart values that are below other values.
pub(in crate::kubernetes) fn pods_of_values(
    values: &Node,
    row: &'static KindRow,
    above: &Above,
    out: &mut Vec<PodGroup>,
) {
    let object = KubernetesObject::of(values, VALUES, &row.kind);
    let above = around(&object, row, above);
    for pods in &row.pods {
        pods_of(&object, pods, &above, out);
    }
}

/// Returns the kind of an object as declared, or by the shape of a definition.
pub(in crate::kubernetes) fn identify(root: &Node) -> Option<(KubernetesObject<'_>, Option<&'static KindRow>)> {
    match KubernetesObject::new(root) {
        Some(object) => {
            let row = KINDS.find(object.group, object.kind);
            Some((object, row))
        }
        None => {
            let row = KINDS.shaped(root)?;
            let group = row.groups.first().map_or("", String::as_str);
            let mut object = KubernetesObject::of(root, group, &row.kind);
            object.name = row.name.as_ref().and_then(|path| path.first(root)?.text().cloned());
            Some((object, Some(row)))
        }
    }
}

/// Returns the properties of an object that apply to everything in it.
fn around(object: &KubernetesObject<'_>, row: &KindRow, above: &Above) -> Above {
    let mut above = above.clone();
    let root = PathMatch::root(object.root);
    for (key, fact) in sources::facts(&row.facts, object.root, &ManifestPath::default(), &root, object.head) {
        fill(&mut above.facts, key, fact);
    }
    for (key, fact) in settings::facts(&row.settings, object.root) {
        fill(&mut above.facts, key, fact);
    }
    if row.template && above.depth == 0 {
        above.count = Fact::known(Range::exactly(0.0), object.head, FactOrigin::Resolved);
    }
    if let Some(suspended) = row.suspended.as_ref().and_then(|path| path.first(object.root)) {
        above.count = suspend(object, suspended, above.count);
    }
    if let Some(stopped) = row.stopped.as_ref().and_then(|path| path.first(object.root)) {
        above.count = Fact::written(Range::exactly(0.0), stopped.span);
    }
    above
}

/// Returns zero for a suspended workload, unless a queue will start it. Otherwise, returns its number.
fn suspend(object: &KubernetesObject<'_>, suspended: &Node, count: Fact<Range>) -> Fact<Range> {
    if suspended.flag() != Some(true) {
        return count;
    }
    let labels = object.root.at("metadata.labels").map(Node::entries).unwrap_or_default();
    let queue = labels.iter().find(|entry| entry.key.ends_with("/queue-name"));
    match (queue, count) {
        (Some(_), Fact::Known(mut known)) => {
            known.value.floor = 0.0;
            Fact::Known(known)
        }
        (Some(_), other) => other,
        (None, _) => Fact::written(Range::exactly(0.0), suspended.span),
    }
}

fn pods_of(object: &KubernetesObject<'_>, pods: &'static Pods, above: &Above, out: &mut Vec<PodGroup>) {
    let Some(path) = pods.template.as_ref().or(pods.spec.as_ref()) else { return };
    if pods.unless.as_ref().is_some_and(|it| it.applies_to(object.root)) {
        return;
    }
    for at in path.all(object.root) {
        let frame = pods.template.is_some().then_some(at.node);
        let Some(spec) = frame.map_or(Some(at.node), |frame| frame.get("spec")) else { continue };
        let pod = Pod::new(&chart_objects::completed(spec, pods, object.root), frame, Some(pods));
        let mut role = above.role.clone();
        role.extend(pods.role.clone());
        role.extend(called(pods.name.as_ref(), object.root, path, &at));
        let made = chart_objects::made(pods, above.release.as_deref(), role.last(), object.root);
        let mut facts = sources::facts(&pods.facts, object.root, path, &at, object.head);
        for (key, fact) in &above.facts {
            fill(&mut facts, *key, fact.clone());
        }
        let one = Fact::known(Range::exactly(1.0), object.head, FactOrigin::Default);
        let size = count::product(&pods.group, object.root, path, &at, one);
        if size.origin() != Some(&FactOrigin::Default) {
            fill(&mut facts, Key::GroupSize, size.map(|range| FactValue::Number(range.expected)));
            let groups = count::product(&pods.groups, object.root, path, &at, above.count.clone());
            fill(&mut facts, Key::Groups, groups.map(|range| FactValue::Number(range.floor)));
        }
        fill(&mut facts, Key::Autoscaled, count::scales_itself(&pods.count, object.root, path, &at));
        let mut count = count::product(&pods.count, object.root, path, &at, above.count.clone());
        if let Some(off) = disabled(pods.enabled.as_ref(), object.root, path, &at) {
            count = off;
        }
        let open =
            matches!(&count, Fact::Known(known) if known.origin == FactOrigin::Default && known.value.ceiling > 0.0);
        let is_overlay = pod.is_overlay();
        let is_patch = open && is_overlay;
        if is_patch {
            count = Fact::unknown("it is a patch: the patched object sets the number", object.head);
        }
        out.push(PodGroup { role, pod, count, facts, by_shape: None, of_values: false, is_overlay, is_patch, made });
    }
}

/// Returns the names of an object's members: the keys above them, and a name inside.
fn called(name: Option<&ManifestPath>, root: &Node, path: &ManifestPath, at: &PathMatch<'_>) -> Vec<String> {
    let mut all: Vec<String> = at.names.iter().map(|name| (*name).to_owned()).collect();
    let inside = name.and_then(|name| name.relative_to(root, path, at).first()?.text().cloned());
    all.extend(inside.map(|name| name.to_string()));
    all
}

fn disabled(
    enabled: Option<&ManifestPath>,
    root: &Node,
    path: &ManifestPath,
    at: &PathMatch<'_>,
) -> Option<Fact<Range>> {
    let switch = *enabled?.relative_to(root, path, at).first()?;
    (switch.flag() == Some(false)).then(|| Fact::written(Range::exactly(0.0), switch.span))
}
