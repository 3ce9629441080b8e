//! Rows applied to objects: an object becomes groups of pods and groups of machines, each with its facts.

use crate::inventory::{Fact, FrontEnd, Key, Origin, Range, Resource, Role, Value};
use crate::source::Span;

use crate::inventory::programs;

use super::containers;
use super::count;
use super::generic;
use super::machines;
use super::nodes::{Facts, fill};
use super::object::{self, Object};
use super::path::{Match, Path};
use super::pod::{self, Pod, Request};
use super::sources;
use super::table::{Holds, KINDS, Pods, Row};
use super::tree::Node;

/// Objects inside objects: a CronJob holds a Job, a List a Katib experiment that holds a Job.
const DEEPEST: usize = 6;

/// Pods of one description in one object.
pub(super) struct Group<'t> {
    pub role: Vec<String>,
    pub pod: Pod<'t>,
    /// The frame around the pod specification, for its labels.
    pub frame: Option<&'t Node>,
    pub count: Fact<Range>,
    pub facts: Facts,
}

/// What surrounds an object: the product of numbers above it, what it is called there, and what is said above.
#[derive(Clone)]
pub(super) struct Above {
    pub count: Fact<Range>,
    pub role: Vec<String>,
    pub facts: Facts,
    pub depth: usize,
}

/// The resources of an object and of all objects inside it that stand for themselves.
pub(super) fn resources(root: &Node, body: Span, out: &mut Vec<Resource>) {
    read_apart(root, body, 0, false, out);
}

fn read_apart(root: &Node, body: Span, depth: usize, idle: bool, out: &mut Vec<Resource>) {
    let Some(object) = Object::new(root) else { return };
    let row = KINDS.find(object.group, object.kind);
    let idle = idle || row.is_some_and(|row| row.template);
    for holds in row.iter().flat_map(|row| &row.holds).filter(|holds| holds.apart) {
        let Some(path) = &holds.at else { continue };
        for found in path.all(root) {
            if depth < DEEPEST {
                read_apart(found.node, found.node.span, depth + 1, idle, out);
            }
        }
    }
    for machines in row.iter().flat_map(|row| &row.machines) {
        machines::resources(&object, machines, body, idle, out);
    }
    let exactly = Range::exactly(if idle { 0.0 } else { 1.0 });
    let above = Above {
        count: Fact::known(exactly, object.head, Origin::Default),
        role: Vec::new(),
        facts: Facts::new(),
        depth: 0,
    };
    let mut groups = Vec::new();
    collect(&object, row, &above, &mut groups);
    finish(&object, body, groups, out);
}

/// All groups of pods of an object.
fn collect<'t>(object: &Object<'t>, row: Option<&'t Row>, above: &Above, out: &mut Vec<Group<'t>>) {
    let Some(row) = row else {
        generic::collect(object, above, out);
        return;
    };
    let mut above = above.clone();
    for (key, fact) in own_facts(row, object) {
        fill(&mut above.facts, key, fact);
    }
    if row.template {
        above.count = Fact::known(Range::exactly(0.0), object.head, Origin::Resolved);
    }
    if let Some(suspended) = row.suspended.as_ref().and_then(|path| path.first(object.root)) {
        above.count = suspend(object, suspended, above.count);
    }
    for pods in &row.pods {
        pods_of(object, pods, &above, out);
    }
    for holds in row.holds.iter().filter(|holds| !holds.apart) {
        held(object, holds, &above, out);
    }
}

fn own_facts(row: &Row, object: &Object<'_>) -> Facts {
    let root = Match::root(object.root);
    sources::facts(&row.facts, object.root, &Path::default(), &root, object.head)
}

/// Suspended work does not run, unless a queue is in charge of starting it.
fn suspend(object: &Object<'_>, suspended: &Node, count: Fact<Range>) -> Fact<Range> {
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

fn pods_of<'t>(object: &Object<'t>, pods: &'t Pods, above: &Above, out: &mut Vec<Group<'t>>) {
    let Some(path) = pods.template.as_ref().or(pods.spec.as_ref()) else { return };
    for at in path.all(object.root) {
        let (frame, spec) =
            if pods.template.is_some() { (Some(at.node), at.node.get("spec")) } else { (None, Some(at.node)) };
        let Some(spec) = spec else { continue };
        let mut role = above.role.clone();
        role.extend(at.names.iter().map(|name| (*name).to_owned()));
        role.extend(pods.role.clone());
        role.extend(
            pods.name
                .as_ref()
                .and_then(|name| name.beside(object.root, path, &at).first()?.text().map(|t| t.to_string())),
        );
        let mut facts = sources::facts(&pods.facts, object.root, path, &at, object.head);
        for (key, fact) in &above.facts {
            fill(&mut facts, *key, fact.clone());
        }
        if !pods.group.is_empty() {
            let one = Fact::known(Range::exactly(1.0), object.head, Origin::Default);
            let size = count::product(&pods.group, object.root, path, &at, one);
            fill(&mut facts, Key::GroupSize, size.map(|range| Value::Number(range.expected)));
        }
        let count = count::product(&pods.count, object.root, path, &at, above.count.clone());
        out.push(Group { role, pod: Pod::new(spec, &pods.containers), frame, count, facts });
    }
}

/// Objects inside this one that are part of it.
fn held<'t>(object: &Object<'t>, holds: &'t Holds, above: &Above, out: &mut Vec<Group<'t>>) {
    let Some(path) = holds.at.as_ref().or(holds.spec.as_ref()) else { return };
    if above.depth >= DEEPEST {
        return;
    }
    for at in path.all(object.root) {
        let mut inside = above.clone();
        inside.depth += 1;
        inside.count = count::product(&holds.count, object.root, path, &at, above.count.clone());
        inside.role.extend(at.names.iter().map(|name| (*name).to_owned()));
        let name = holds.name.as_ref().and_then(|name| name.beside(object.root, path, &at).first()?.text());
        inside.role.extend(name.map(|name| name.to_string()));
        let (held, row) = match &holds.kind {
            Some(kind) => {
                let (group, name) = kind.rsplit_once('/').unwrap_or(("", kind));
                (Some(Object::of(at.node, group, name)), KINDS.named(kind))
            }
            None => {
                let held = Object::new(at.node);
                let row = held.as_ref().and_then(|held| KINDS.find(held.group, held.kind));
                (held, row)
            }
        };
        if let Some(mut held) = held {
            held.head = object.head;
            collect(&held, row, &inside, out);
        }
    }
}

/// Groups with accelerators become resources.
fn finish(object: &Object<'_>, body: Span, groups: Vec<Group<'_>>, out: &mut Vec<Resource>) {
    let asking: Vec<(Group<'_>, Request)> =
        groups.into_iter().filter_map(|group| group.pod.request().map(|request| (group, request))).collect();
    let several = asking.len() > 1;
    let mut addresses: Vec<String> = Vec::new();
    for (group, request) in asking {
        let mut address = object.address();
        if several && !group.role.is_empty() {
            address = format!("{address}:{}", group.role.join(":"));
        }
        let twins = addresses.iter().filter(|known| **known == address).count();
        addresses.push(address.clone());
        if twins > 0 {
            address = format!("{address}#{}", twins + 1);
        }
        out.push(resource(object, body, address, group, &request));
    }
}

fn resource(object: &Object<'_>, body: Span, address: String, group: Group<'_>, request: &Request) -> Resource {
    let front_end = FrontEnd::Kubernetes;
    let mut resource = Resource::new(front_end, Role::Requested, object.kind, address, object.head, body);
    let conditions = group.pod.conditions();
    resource.selector = group.pod.selector(&conditions);
    resource.labels = object::labels([object.root].into_iter().chain(group.frame));
    resource.count = group.count;
    let mut facts = group.facts;
    for (key, fact) in programs(&group.pod).into_iter().chain(group.pod.facts(request, &conditions)) {
        fill(&mut facts, key, fact);
    }
    for (key, fact) in facts {
        resource.set(key, fact);
    }
    resource
}

/// What runs in the containers; those that ask for accelerators speak first.
fn programs(pod: &Pod<'_>) -> Facts {
    let mut containers = pod.containers.clone();
    containers.sort_by_key(|container| !pod::asks(container));
    let mut facts = Facts::new();
    for container in containers {
        for (key, fact) in programs::recognize(&containers::container(container)) {
            fill(&mut facts, key, fact);
        }
    }
    facts
}
