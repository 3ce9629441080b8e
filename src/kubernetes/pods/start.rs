//! Reads how a server starts: how long its probes wait, and whether its model cache outlives the pod.

use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact};
use crate::languages::yaml::Node;

use super::pod::{Pod, PodContainer};
use super::request;
use crate::kubernetes::rows::amount;
use crate::kubernetes::rows::facts::{Facts, fill};

/// The cache of Hugging Face libraries for the user root.
const DEFAULT_CACHE: &str = "/root/.cache/huggingface";

pub(in crate::kubernetes) fn facts(pod: &Pod, facts: &mut Facts) {
    for part in pod.containers.iter().filter(|part| request::asks(part)) {
        fill(facts, Key::StartupSeconds, seconds_to_start(part));
        fill(facts, Key::ModelCache, model_cache(part, pod));
    }
}

/// Returns the seconds after which Kubernetes restarts a container that does not answer HTTP requests. A startup probe
/// delays the liveness probe until it succeeds.
fn seconds_to_start(part: &PodContainer) -> Fact<FactValue> {
    let probe = ["startupProbe", "livenessProbe"].into_iter().find_map(|name| part.node.get(name));
    let Some(probe) = probe.filter(|probe| probe.get("httpGet").is_some()) else { return Fact::Absent };
    let mut place = probe.span;
    let mut seconds = [0.0; 3];
    // The defaults of Kubernetes (documentation of probes, 2026-11).
    let fields = [("initialDelaySeconds", 0.0), ("failureThreshold", 3.0), ("periodSeconds", 10.0)];
    for (value, (field, default)) in seconds.iter_mut().zip(fields) {
        let Some(node) = probe.get(field) else {
            *value = default;
            continue;
        };
        match amount::number(node) {
            Fact::Known(known) => (*value, place) = (known.value, known.span),
            Fact::Unknown(unknown) => return Fact::unknown(unknown.why, unknown.span),
            Fact::Absent => *value = default,
        }
    }
    let [delay, failures, period] = seconds;
    Fact::Known(KnownFact {
        value: FactValue::Number(delay + failures * period),
        span: place,
        defined: None,
        origin: FactOrigin::Resolved,
    })
}

/// Returns the kind of the volume that holds a model cache: one that Kubernetes deletes with the pod, a folder of the
/// node, or one that outlives both.
fn model_cache(part: &PodContainer, pod: &Pod) -> Fact<FactValue> {
    let mounts = part.node.get("volumeMounts").map(Node::items).unwrap_or_default();
    let cache = cache_folder(&part.node);
    let holds = |mount: &&Node| mount.text_at("mountPath").is_some_and(|path| is_below(&cache, path));
    let longest = |mount: &&Node| mount.text_at("mountPath").map_or(0, |path| path.len());
    let Some(mount) = mounts.iter().filter(holds).max_by_key(longest) else { return Fact::Absent };
    let volumes = pod.spec.get("volumes").map(Node::items).unwrap_or_default();
    let volume = volumes.iter().find(|volume| volume.text_at("name") == mount.text_at("name"));
    const KINDS: [(&str, &str); 6] = [
        ("emptyDir", "emptyDir"),
        ("hostPath", "node"),
        ("persistentVolumeClaim", "volume"),
        ("nfs", "volume"),
        ("azureFile", "volume"),
        ("csi", "volume"),
    ];
    let kind = |volume: &Node| {
        let (_, kind) = KINDS.into_iter().find(|(field, _)| volume.get(field).is_some())?;
        Some(Fact::written(FactValue::text(kind), volume.span))
    };
    volume.and_then(kind).unwrap_or(Fact::Absent)
}

/// Returns the folder into which a server downloads models: an argument, a variable, or the default.
fn cache_folder(container: &Node) -> String {
    const VARIABLES: [&str; 4] = ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "HF_HOME"];
    let lists = ["command", "args"].iter().filter_map(|key| container.get(key));
    let words: Vec<&str> = lists.flat_map(Node::items).filter_map(Node::text).map(|word| &**word).collect();
    let of_argument = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--download-dir")? {
        "" => words.get(at + 1).copied(),
        rest => rest.strip_prefix('='),
    });
    let variables = container.get("env").map(Node::items).unwrap_or_default();
    let of_variable = || {
        VARIABLES.iter().find_map(|name| {
            let variable = variables.iter().find(|it| it.text_at("name").is_some_and(|it| **it == **name))?;
            variable.text_at("value").map(|value| &**value)
        })
    };
    of_argument.or_else(of_variable).unwrap_or(DEFAULT_CACHE).to_owned()
}

/// Returns whether a folder is at a mount path or below it.
fn is_below(folder: &str, mount: &str) -> bool {
    let mount = mount.trim_end_matches('/');
    folder.strip_prefix(mount).is_some_and(|rest| !mount.is_empty() && (rest.is_empty() || rest.starts_with('/')))
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn a_cache_is_on_the_volume_around_it() {
        assert!(is_below("/root/.cache/huggingface", "/root/.cache"));
        assert!(is_below("/models", "/models/"));
        assert!(!is_below("/models-old", "/models"));
        assert!(!is_below("/models", "/"));
    }
}
