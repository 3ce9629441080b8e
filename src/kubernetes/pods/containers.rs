//! Converts containers for the program reader: image, command, arguments and environment, each with its place. Finds the
//! devices that a container uses without requesting them.

use std::sync::Arc;

use crate::inventory::programs::{Container, Word};
use crate::inventory::{Fact, FactOrigin, KnownFact, RawData, RawTree};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::named_files;
use super::pod::{Pod, PodContainer};
use super::request;
use crate::kubernetes::objects::index::{NamePlace, ObjectIndex};
use crate::kubernetes::rows::amount::placeholder;
use crate::kubernetes::rows::devices::{DEVICES, UnrequestedDevices};

/// The limit on variables from one ConfigMap, because thousands of pods may use the same one.
const MOST_FROM_A_MAP: usize = 500;

pub(in crate::kubernetes) fn container(part: &PodContainer, pod: &Pod, index: &ObjectIndex<'_>) -> Container {
    let node = &part.node;
    let (mut command, mut args) = (words(node, "command"), words(node, "args"));
    let called = command.iter().chain(&args).filter_map(Fact::value).filter(|path| !named_files::is_settings(path));
    let brought = called.into_iter().find_map(|path| script(path, part, pod, index));
    if let Some(brought) = brought {
        (command, args) = (shell(brought), Vec::new());
    }
    let mut container = Container {
        image: node.get("image").map_or(Fact::Absent, image),
        accelerated: request::asks(part),
        command,
        args,
        ..Container::default()
    };
    for variable in node.get("env").map(Node::items).unwrap_or_default() {
        let Some(name) = variable.text_at("name") else { continue };
        container.env.insert(name.to_string(), self::variable(variable, index));
    }
    for from in node.get("envFrom").map(Node::items).unwrap_or_default() {
        all_from(from, &mut container, index);
    }
    let below = |folder: &str, name: &str| mounted_below(folder, name, part, pod, index);
    container.files = named_files::of(&container, |path| script(path, part, pod, index), below, index);
    container
}

/// Returns a request of an unknown number of devices if a container gets the devices of its node without a request.
pub(super) fn unrequested(pod: &Pod, index: &ObjectIndex<'_>) -> Option<request::PodRequest> {
    DEVICES.unrequested.iter().find_map(|way| {
        let (span, why) = pod.containers.iter().find_map(|part| used(part, pod, way, index))?;
        let (device, _) = DEVICES.device(&way.device)?;
        Some(request::PodRequest::new(device, Fact::unknown(why, span), span))
    })
}

/// Returns where a container selects devices, and why their number is unknown.
fn used(part: &PodContainer, pod: &Pod, way: &UnrequestedDevices, index: &ObjectIndex<'_>) -> Option<(Span, Arc<str>)> {
    const WHY: &str = "it uses accelerators of its node without requesting them";
    let name = &way.variable;
    let variables = part.node.get("env").map(Node::items).unwrap_or_default();
    // The last variable of a name has precedence.
    let variable = variables.iter().rev().find(|it| it.text_at("name").is_some_and(|it| **it == **name));
    match variable {
        Some(variable) => match self::variable(variable, index) {
            Fact::Known(known) if way.none.iter().any(|none| *none == *known.value) => None,
            Fact::Known(_) => Some((variable.span, format!("{WHY} (`{name}`)").into())),
            Fact::Unknown(unknown) => Some((variable.span, format!("`{name}` decides: {}", unknown.why).into())),
            Fact::Absent => None,
        },
        None => {
            let class = pod.spec.get("runtimeClassName")?;
            let is_of_runtime = class.text()?.starts_with(way.runtime.as_str());
            let why = || format!("its runtime class gives it the accelerators that its image selects (`{name}`)");
            is_of_runtime.then(|| (class.span, why().into()))
        }
    }
}

/// Returns the value of a variable of `env`.
fn variable(variable: &Node, index: &ObjectIndex<'_>) -> Word {
    match (variable.get("value"), variable.get("valueFrom")) {
        (Some(value), _) => word(value),
        (None, Some(from)) => value_from(from, index),
        (None, None) => Fact::Absent,
    }
}

/// Returns the script or file at a path of a container, if a ConfigMap of this tree is mounted there.
pub(super) fn script<'t>(path: &str, part: &PodContainer, pod: &Pod, index: &ObjectIndex<'t>) -> Option<&'t Node> {
    let path = path.trim();
    if !path.starts_with('/') || path.contains(char::is_whitespace) {
        return None;
    }
    let mounts = part.node.get("volumeMounts").map(Node::items).unwrap_or_default();
    mounts.iter().find_map(|mount| {
        let below = path.strip_prefix(mount.text_at("mountPath")?.trim_end_matches('/'))?;
        let file = match (below.strip_prefix('/'), mount.text_at("subPath")) {
            (Some(file), None) => file,
            (None, Some(file)) if below.is_empty() => file,
            _ => return None,
        };
        let name = mount.text_at("name")?;
        let volumes = pod.spec.get("volumes").map(Node::items).unwrap_or_default();
        let volume = volumes.iter().find(|volume| volume.text_at("name") == Some(name))?;
        let map = volume.get("configMap")?;
        let items = map.get("items").map(Node::items).unwrap_or_default();
        let item = items.iter().find(|item| item.text_at("path").is_some_and(|path| &**path == file));
        let key = item.and_then(|item| item.text_at("key")).map_or(file, |key| key);
        config(map.text_at("name")?, map, index)?.get(key)
    })
}

/// Returns the files of a name that ConfigMaps of this tree mount below a folder of the container.
fn mounted_below<'t>(
    folder: &str,
    name: &str,
    part: &PodContainer,
    pod: &Pod,
    index: &ObjectIndex<'t>,
) -> Vec<&'t Node> {
    let mounts = part.node.get("volumeMounts").map(Node::items).unwrap_or_default();
    let paths = mounts.iter().filter_map(|mount| mount.text_at("mountPath")).filter_map(|path| {
        let path = path.trim_end_matches('/');
        let is_below = path.strip_prefix(folder.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'));
        is_below.then(|| if path.ends_with(name) { path.to_owned() } else { format!("{path}/{name}") })
    });
    paths.filter_map(|path| script(&path, part, pod, index)).collect()
}

/// Returns the command that runs a script.
fn shell(script: &Node) -> Vec<Word> {
    let shell = |word: &str| Fact::written(Arc::from(word), script.span);
    vec![shell("sh"), shell("-c"), word(script)]
}

/// Returns a container that runs a script.
pub(in crate::kubernetes) fn of_script(script: &Node, image_at: Option<&Node>, env: Option<&Node>) -> Container {
    let variables = env.map(Node::entries).unwrap_or_default();
    Container {
        image: image_at.map_or(Fact::Absent, image),
        command: shell(script),
        env: variables.iter().map(|entry| (entry.key.to_string(), word(&entry.value))).collect(),
        accelerated: true,
        ..Container::default()
    }
}

/// Adds every entry of a ConfigMap as a variable. Variables that the container sets itself have precedence.
fn all_from(from: &Node, container: &mut Container, index: &ObjectIndex<'_>) {
    let prefix = from.text_at("prefix").map_or("", |prefix| prefix);
    let map = from.text_at("configMapRef.name");
    let Some(data) = map.and_then(|name| config(name, from, index)) else {
        let name = map.or(from.text_at("secretRef.name")).map_or("?", |name| name);
        container.open_env = Some(format!("more variables come from `{name}`, which no file here defines").into());
        return;
    };
    for (number, entry) in data.entries().iter().enumerate() {
        if number == MOST_FROM_A_MAP {
            let name = map.map_or("?", |name| name);
            container.open_env = Some(format!("`{name}` has more than {MOST_FROM_A_MAP} variables").into());
            return;
        }
        container.env.entry(format!("{prefix}{}", entry.key)).or_insert_with(|| word(&entry.value));
    }
}

fn config<'t>(name: &Arc<str>, used: &Node, index: &ObjectIndex<'t>) -> Option<&'t Node> {
    index.find("/ConfigMap", name, NamePlace::of(used.span))?.root.get("data")
}

/// Reads an image. Custom resources often split it into several fields.
fn image(node: &Node) -> Word {
    let Some(repository) = node.text_at("repository") else { return word(node) };
    let whole = match node.text_at("tag") {
        Some(tag) => format!("{repository}:{tag}").into(),
        None => repository.clone(),
    };
    match placeholder(&whole) {
        Some(why) => Fact::unknown(why, node.span),
        None => Fact::written(whole, node.span),
    }
}

/// Returns the whole image as a string, with its place.
pub(super) fn whole_image(node: &Node) -> RawTree {
    match image(node) {
        Fact::Known(known) => RawTree::new(RawData::Text(known.value), node.span),
        Fact::Unknown(unknown) => RawTree::unknown(unknown.why, node.span),
        Fact::Absent => RawTree::new(RawData::Null, node.span),
    }
}

/// Returns a scalar as a word. A string with placeholders stays unchanged, because the program reader handles shells
/// and templates.
pub(in crate::kubernetes) fn word(node: &Node) -> Word {
    match node.text() {
        Some(text) if text.contains("${") || text.contains("{{") => Fact::written(text.clone(), node.span),
        Some(text) => match placeholder(text) {
            Some(why) => Fact::unknown(why, node.span),
            None => Fact::written(text.clone(), node.span),
        },
        None => Fact::Absent,
    }
}

/// Returns the words of `command` or `args`, which are lists. Some custom resources also allow a single string.
fn words(node: &Node, key: &str) -> Vec<Word> {
    match node.get(key) {
        Some(list) if list.text().is_none() => list.items().iter().map(word).collect(),
        Some(text) => text.text().map(|_| word(text)).into_iter().collect(),
        None => Vec::new(),
    }
}

fn value_from(from: &Node, index: &ObjectIndex<'_>) -> Word {
    let reference = |kind: &str| from.get(kind).and_then(|it| Some((it.text_at("name")?, it.text_at("key")?)));
    if let Some((name, key)) = reference("configMapKeyRef")
        && let Some(value) = config(name, from, index).and_then(|data| data.get(key))
    {
        return match word(value) {
            Fact::Known(known) => Fact::Known(KnownFact { origin: FactOrigin::Resolved, ..known }),
            other => other,
        };
    }
    let why: Arc<str> = if let Some((name, key)) = reference("configMapKeyRef") {
        format!("no file here defines `{key}` of the ConfigMap `{name}`").into()
    } else if let Some((name, key)) = reference("secretKeyRef") {
        format!("`{key}` comes from the Secret `{name}`").into()
    } else {
        "the cluster sets it".into()
    };
    Fact::unknown(why, from.span)
}
