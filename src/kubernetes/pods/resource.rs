//! Converts groups of pods to resources of the inventory.

use crate::inventory::{
    BillingRole, CostLabels, Fact, FactOrigin, FactValue, Key, Link, LinkKind, Purpose, PurposeEvidence, ReadBy,
    Resource, Says, infer_purpose, production, programs, purpose_of_task,
};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::containers;
use super::pod::{Pod, PodContainer};
use super::queues;
use super::request;
use super::request::PodRequest;
use super::start;
use super::storage;
use super::together;
use super::waits;
use super::workload::{FoundResource, PodGroup};
use crate::kubernetes::objects::index::{NamePlace, ObjectIndex};
use crate::kubernetes::objects::object;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::objects::owners;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::facts::{Facts, fill};
use crate::kubernetes::rows::table::{KINDS, VALUES, is_called};

/// Converts groups that request accelerators to resources. Several groups are named by their roles.
pub(in crate::kubernetes) fn finish(
    object: &KubernetesObject<'_>,
    body: Span,
    groups: Vec<PodGroup>,
    index: &ObjectIndex<'_>,
    out: &mut Vec<FoundResource>,
) {
    let asking: Vec<(PodGroup, PodRequest)> = groups
        .into_iter()
        .filter_map(|group| {
            let request = request::accelerators(&group.pod, index).or_else(|| unrequested(&group, index))?;
            Some((group, request))
        })
        .collect();
    let parts = parts(&asking.iter().map(|(group, _)| group).collect::<Vec<_>>());
    for ((group, request), part) in asking.into_iter().zip(parts) {
        let (shared, device) = (request.shared.clone(), request.key.clone());
        let is_overlay = group.is_overlay;
        let listens = listens(&group.pod);
        let from_values = group.of_values;
        let made = group.made.clone();
        let resource = resource(object, body, &part, group, &request, index);
        out.push(FoundResource {
            resource,
            kind: object.kind.to_owned(),
            name: object.name.clone(),
            namespace: object.namespace.clone(),
            generated: object.generated,
            is_overlay,
            is_only_patch: false,
            from_values,
            shared,
            device,
            listens,
            carrier: None,
            owners: owners::owners(object.root),
            made,
        });
    }
}

/// Returns a request of an unknown number of devices that the pods use without requesting them. Pods on each node, such
/// as exporters and plugins, use devices that others request.
fn unrequested(group: &PodGroup, index: &ObjectIndex<'_>) -> Option<PodRequest> {
    let is_on_each_node = group.facts.get(&Key::OnEachNode).and_then(Fact::value) == Some(&FactValue::Flag(true));
    (!is_on_each_node && !group.is_overlay).then(|| containers::unrequested(&group.pod, index))?
}

/// Returns the names that distinguish the groups of an object that request accelerators.
pub(super) fn parts(asking: &[&PodGroup]) -> Vec<String> {
    let several = asking.len() > 1;
    let mut roles: Vec<String> = Vec::new();
    let mut part = |group: &&PodGroup| {
        let is_named = several && !group.role.is_empty();
        let role = if is_named { format!(":{}", group.role.join(":")) } else { String::new() };
        let twins = roles.iter().filter(|known| **known == role).count();
        roles.push(role.clone());
        if twins > 0 { format!("{role}#{}", twins + 1) } else { role }
    };
    asking.iter().map(&mut part).collect()
}

/// Returns the objects that a controller creates for an object of its kind.
fn owned(object: &KubernetesObject<'_>) -> &'static [String] {
    KINDS.find(object.group, object.kind).map_or(&[], |row| &row.owns)
}

fn resource(
    object: &KubernetesObject<'_>,
    body: Span,
    part: &str,
    group: PodGroup,
    request: &PodRequest,
    index: &ObjectIndex<'_>,
) -> Resource {
    // Values files are long, so reports point to the accelerator request.
    let is_at_request = KINDS.find(object.group, object.kind).is_some_and(|row| row.at_request);
    let head = if object.group == VALUES || is_at_request { request.span } else { object.head };
    let mut resource =
        Resource::new(ReadBy::Kubernetes, BillingRole::Requested, object.kind, object.address() + part, head, body);
    resource.is_patch = group.is_patch;
    resource.declared = object.declaration(part);
    resource.metered = object.metered(owned(object));
    resource.metered.extend(group.made.as_ref().map(|(kind, name)| object.metered_as(kind, name)));
    resource.labels = object::labels([object.root].into_iter().chain(group.pod.frame.as_ref()));
    let conditions = group.pod.conditions();
    let queued = queues::conditions(object, &resource.labels, request, &conditions, index);
    resource.selector = group.pod.selector(&[conditions.as_slice(), &queued].concat());
    resource.count = group.count;
    let mut facts = programs::declared(resource.labels.entries.iter().map(|(key, word)| (key.as_str(), word)));
    let asked = group.pod.facts(request, &conditions);
    let asked = asked.into_iter().chain(queues::facts(&queued));
    // If a command only sleeps, the program of its image does not run.
    let (asleep, awake): (Vec<&PodContainer>, Vec<&PodContainer>) =
        group.pod.containers.iter().partition(|part| waits::only_sleeps(part, &group.pod, index));
    for (key, fact) in group.facts.into_iter().chain(programs_of(&awake, &group.pod, index)).chain(asked) {
        fill(&mut facts, key, fact);
    }
    fill(&mut facts, Key::EfaInterfaces, efa(&group.pod));
    fill(&mut facts, Key::Queue, queue(&resource.labels));
    fill(&mut facts, Key::QueueAccelerators, queues::most_accelerators(object, &resource.labels, request, index));
    fill(&mut facts, Key::TimeLimit, limit_of_queue(&resource.labels));
    storage::facts(&group.pod, index, &mut facts);
    start::facts(&group.pod, &mut facts);
    together::facts(&group.pod, &resource.labels, &mut facts);
    let room = keeps_room(&group.pod, object, index);
    if room.is_none() {
        fill(&mut facts, Key::Kept, waits::kept(&group.pod, object, index));
        fill(&mut facts, Key::TimeLimit, waits::sleeps_for(&group.pod, object, index));
    }
    let sleeper = asleep.iter().find(|part| request::asks(part));
    if let Some(part) = sleeper.filter(|_| !awake.iter().any(|part| request::asks(part))) {
        fill(&mut facts, Key::OnlySleeps, Fact::written(FactValue::Flag(true), part.node.span));
    }
    set_purpose(&evidence(object, &resource.labels, &group.pod, &awake, room), &mut facts);
    if !facts.contains_key(&Key::Kept) {
        fill(&mut facts, Key::OnlyLooks, looks(&group.pod));
    }
    if object.kind == "Pod" && !facts.contains_key(&Key::Kept) {
        let ends = ends(&group.pod, &facts);
        fill(&mut facts, Key::EndsByItself, ends);
    }
    let repeats = repeats(object, &facts);
    fill(&mut facts, Key::Repeats, repeats);
    // A name that suggests serving does not apply to a sleeping container.
    let is_asleep = asleep.into_iter().any(request::asks);
    if is_asleep && serves(&facts) {
        facts.remove(&Key::Purpose);
    }
    // Facts of unsupported kinds are inferred from their shape.
    if let (Some(why), Some(Fact::Known(known))) = (&group.by_shape, facts.get_mut(&Key::AcceleratorCount)) {
        known.origin = known.origin.clone().weakest(FactOrigin::Inferred(why.clone()));
    }
    for (key, fact) in facts {
        resource.set(key, fact);
    }
    resource.volumes = storage::volumes(&group.pod, index);
    resource.disks = storage::disks(&group.pod, object.root, index);
    let claims = request.claims.iter().map(|(to, span)| Link::named(LinkKind::Claim, to.clone(), *span));
    resource.links.extend(claims);
    resource
}

/// Returns whether the object can exist any number of times: a job without a name of its own, the file of a tool that
/// starts jobs, or the options of a command without a name.
pub(super) fn repeats(object: &KubernetesObject<'_>, facts: &Facts) -> Fact<FactValue> {
    let is_true = |fact: &Fact<FactValue>| fact.value().and_then(FactValue::as_flag) == Some(true);
    let ends = facts.get(&Key::EndsByItself).is_some_and(is_true) && !facts.contains_key(&Key::Cron);
    let is_of_tool = || KINDS.find(object.group, object.kind).is_some_and(|row| row.claimed);
    let is_unnamed = object.name.is_none() || object.generated;
    match ends && (is_unnamed || is_of_tool()) || is_unnamed && is_called(object.group) {
        true => Fact::known(FactValue::Flag(true), object.head, FactOrigin::Inferred("it has no name".into())),
        false => Fact::Absent,
    }
}

/// Returns the EFA network interfaces that its containers request together.
fn efa(pod: &Pod) -> Fact<FactValue> {
    let asked = pod.containers.iter().filter_map(|part| {
        let sides = ["limits", "requests"].into_iter().filter_map(|side| part.resources.as_ref()?.get(side));
        sides.flat_map(Node::entries).find(|entry| &*entry.key == "vpc.amazonaws.com/efa")
    });
    let mut all = asked.map(|entry| amount::amount(&entry.value));
    let Some(first) = all.next() else { return Fact::Absent };
    all.fold(first, |sum, more| match more.value() {
        Some(more) => sum.map(|sum| sum + more),
        None => more,
    })
    .map(FactValue::Number)
}

/// Returns whether the pod ends by itself: because nothing restarts it after its commands and it answers no requests,
/// or because it only tests a device.
fn ends(pod: &Pod, facts: &Facts) -> Fact<FactValue> {
    let inferred = |why: &str, span| Fact::known(FactValue::Flag(true), span, FactOrigin::Inferred(why.into()));
    let sample = pod.containers.iter().filter(|part| request::asks(part)).find_map(tests_once);
    if let Some(span) = sample {
        return inferred("its image tests a device and ends", span);
    }
    let policy = pod
        .spec
        .get("restartPolicy")
        .filter(|policy| policy.text().is_some_and(|policy| matches!(&**policy, "Never" | "OnFailure")));
    match policy.filter(|_| !serves(facts) && !listens(pod)) {
        Some(policy) => inferred("nothing restarts it when its commands end", policy.span),
        None => Fact::Absent,
    }
}

/// Returns whether all containers with accelerators only list or test them.
fn looks(pod: &Pod) -> Fact<FactValue> {
    let mut asking = pod.containers.iter().filter(|part| request::asks(part)).peekable();
    let Some(first) = asking.peek().map(|part| part.node.span) else { return Fact::Absent };
    match asking.all(|part| only_looks(part) || tests_once(part).is_some()) {
        true => Fact::known(
            FactValue::Flag(true),
            first,
            FactOrigin::Inferred("its program only lists or tests a device".into()),
        ),
        false => Fact::Absent,
    }
}

/// Returns the place of a sample image, such as vector addition or n-body, which guides use to test a device.
fn tests_once(part: &PodContainer) -> Option<Span> {
    const SAMPLES: [&str; 4] = ["vectoradd", "vector-add", "cuda-sample", "nbody"];
    let image = part.node.get("image")?;
    let name = image.text()?.to_ascii_lowercase();
    SAMPLES.iter().any(|sample| name.contains(sample)).then_some(image.span)
}

/// Returns whether a container with accelerators listens on a port, except ports for notebooks, desktops, shells and
/// metrics.
fn listens(pod: &Pod) -> bool {
    const FOR_PEOPLE: [f64; 9] = [22.0, 3389.0, 5900.0, 5901.0, 6006.0, 6080.0, 8787.0, 8888.0, 32400.0];
    const NAMES: [&str; 6] = ["metrics", "ssh", "vnc", "rdp", "notebook", "jupyter"];
    let asking = pod.containers.iter().filter(|part| request::asks(part)).filter_map(|part| part.node.get("ports"));
    asking.flat_map(Node::items).any(|port| {
        let named = port.text_at("name").is_some_and(|name| NAMES.iter().any(|known| name.contains(known)));
        let number = port.get("containerPort").and_then(Node::number);
        number.is_some_and(|number| !FOR_PEOPLE.contains(&number)) && !named
    })
}

/// Returns the facts from the programs in the containers. Containers that request accelerators have precedence.
fn programs_of(awake: &[&PodContainer], pod: &Pod, index: &ObjectIndex<'_>) -> Facts {
    let mut parts = awake.to_vec();
    parts.sort_by_key(|part| !request::asks(part));
    let mut facts = Facts::new();
    for part in parts {
        for (key, fact) in programs::recognize(&containers::container(part, pod, index)) {
            fill(&mut facts, key, fact);
        }
    }
    facts
}

fn queue(labels: &CostLabels) -> Fact<FactValue> {
    const KEYS: [&str; 5] = [
        "kueue.x-k8s.io/queue-name",
        "scheduling.volcano.sh/queue-name",
        "volcano.sh/queue-name",
        "runai/queue",
        "kai.scheduler/queue",
    ];
    let found = KEYS.iter().find_map(|key| labels.entries.get(*key));
    found.map_or(Fact::Absent, |name| name.clone().map(FactValue::Text))
}

/// Returns the seconds after which a queue ends a workload, or after which its capacity is removed.
fn limit_of_queue(labels: &CostLabels) -> Fact<FactValue> {
    // Kueue's documentation, 2026-11: the first is its own limit, the second is that of a provisioning request.
    const KEYS: [&str; 2] = ["kueue.x-k8s.io/max-exec-time-seconds", "provreq.kueue.x-k8s.io/maxRunDurationSeconds"];
    let said = KEYS.iter().find_map(|key| labels.entries.get(*key)).cloned().unwrap_or_default();
    if said.value().is_some_and(|text| text.parse::<f64>().is_err()) {
        return Fact::Absent;
    }
    said.map(|text| FactValue::Number(text.parse().unwrap_or_default()))
}

/// Infers the purpose of an object. The kind counts only if it is mostly used for one purpose.
pub(in crate::kubernetes) fn set_purpose(evidence: &[PurposeEvidence<'_>], facts: &mut Facts) {
    fill(facts, Key::Production, production(evidence));
    let of_kind = facts.remove(&Key::Purpose).unwrap_or_default();
    let (by_kind, mostly) = match of_kind.origin() {
        Some(FactOrigin::Inferred(_) | FactOrigin::ServedName) => (Fact::Absent, of_kind),
        _ => (of_kind, Fact::Absent),
    };
    let by_task = facts.get(&Key::Task).map(purpose_of_task).unwrap_or_default();
    fill(facts, Key::Purpose, infer_purpose(by_kind, by_task, evidence, || mostly));
}

/// Returns whether the workload answers requests.
pub(in crate::kubernetes) fn serves(facts: &Facts) -> bool {
    facts.get(&Key::Purpose).and_then(Purpose::from_fact) == Some(Purpose::Inference)
}

/// Returns whether the container's command only lists the devices.
fn only_looks(part: &PodContainer) -> bool {
    const SHOWS: [&str; 3] = ["nvidia-smi", "vectorAdd", "rocm-smi"];
    let words = ["command", "args"].iter().filter_map(|key| part.node.get(key));
    let mut texts = words.flat_map(|list| list.items().iter().chain([list])).filter_map(Node::text);
    texts.any(|text| {
        SHOWS.iter().any(|program| text.trim_start().starts_with(program))
            || text.contains("-smi") && programs::only_lists_devices(text)
    })
}

/// Returns the place that shows that a pod only reserves space for others: its image, or a priority below that of
/// all other pods, so that others preempt it.
fn keeps_room(pod: &Pod, object: &KubernetesObject<'_>, index: &ObjectIndex<'_>) -> Option<Span> {
    let pauses = |part: &&PodContainer| {
        let image = part.node.get("image").and_then(Node::text);
        let name = image.and_then(|image| image.rsplit('/').next());
        request::asks(part) && name.is_some_and(|name| name.split([':', '@']).next() == Some("pause"))
    };
    let pause = pod.containers.iter().find(pauses).map(|part| part.node.span);
    pause.or_else(|| low_priority(pod, object, index))
}

/// Returns the place of a negative priority. If the class is not in the files, its name counts for a pod that sleeps.
fn low_priority(pod: &Pod, object: &KubernetesObject<'_>, index: &ObjectIndex<'_>) -> Option<Span> {
    const NAMES: [&str; 5] = ["overprovision", "over-provision", "headroom", "placeholder", "balloon"];
    let is_low = |node: &&Node| node.number().is_some_and(|value| value < 0.0);
    if let Some(priority) = pod.spec.get("priority").filter(is_low) {
        return Some(priority.span);
    }
    let class = pod.spec.get("priorityClassName")?;
    let name = class.text()?;
    let found = index.find("scheduling.k8s.io/PriorityClass", name, NamePlace::of(class.span));
    let is_placeholder = match found {
        Some(found) => found.root.get("value").as_ref().is_some_and(is_low),
        None => {
            let names = [Some(name), object.name.as_ref()];
            let sleeps = pod.containers.iter().any(|part| request::asks(part) && waits::only_sleeps(part, pod, index));
            sleeps && names.into_iter().flatten().any(|name| NAMES.iter().any(|part| name.contains(part)))
        }
    };
    is_placeholder.then_some(class.span)
}

fn evidence<'a>(
    object: &'a KubernetesObject<'_>,
    labels: &'a CostLabels,
    pod: &'a Pod,
    awake: &[&'a PodContainer],
    room: Option<Span>,
) -> Vec<PurposeEvidence<'a>> {
    let mut evidence = Vec::new();
    for (key, fact) in &labels.entries {
        if let Fact::Known(known) = fact {
            evidence.push(PurposeEvidence { says: Says::Label { key, value: &known.value }, span: known.span });
        }
    }
    if let Some(name) = &object.name {
        evidence.push(PurposeEvidence { says: Says::Name(name), span: object.head });
    }
    for part in awake {
        let image = part.node.get("image").and_then(|image| Some((image.text()?, image.span)));
        if let Some((image, span)) = image {
            let name = image.rsplit('/').next().unwrap_or(image);
            evidence.push(PurposeEvidence { says: Says::Image(name), span });
        }
    }
    evidence.extend(room.map(|span| PurposeEvidence { says: Says::Kind(Purpose::Infra), span }));
    for part in pod.containers.iter().filter(|part| only_looks(part)) {
        evidence.push(PurposeEvidence {
            says: Says::Does(Purpose::Test, "its command only lists the devices"),
            span: part.node.span,
        });
    }
    for span in pod.containers.iter().filter_map(waits::image_of_notebooks) {
        let what = "its image starts a notebook or an editor";
        evidence.push(PurposeEvidence { says: Says::Does(Purpose::Interactive, what), span });
    }
    if let Some(namespace) = &object.namespace {
        evidence.push(PurposeEvidence { says: Says::Around(namespace), span: object.head });
    }
    evidence
}
