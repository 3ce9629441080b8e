//! Defines variables for the pods of an object, and for the accelerators that they request.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::kubernetes::{ClusterCount, ClusterPods, ManifestStep, cluster_devices, cluster_pods};
use crate::languages::cel::quoted;

use super::kinds::ServerKind;
use super::variables::{PolicyVariables, list, map};

/// The pods of the kinds of a rule.
#[derive(Debug)]
pub(super) struct KindPods {
    places: Vec<(String, Vec<ClusterPods>)>,
}

/// The resource key of network interfaces from which gpulint derives machine types.
const EFA: &str = "vpc.amazonaws.com/efa";

/// Keys of labels that limit the duration of a workload.
const LIMITING_KEYS: &str = "exec-time|[Rr]un-?[Dd]uration";

impl KindPods {
    pub(super) fn of(kinds: &[ServerKind]) -> Result<KindPods, String> {
        let place = |kind: &ServerKind| Ok((kind.kind.clone(), cluster_pods(&kind.group, &kind.kind)?));
        Ok(KindPods { places: kinds.iter().map(place).collect::<Result<_, String>>()? })
    }

    pub(super) fn has_any(&self) -> bool {
        self.places.iter().any(|(_, pods)| !pods.is_empty())
    }

    /// Returns the list of all pods, each with `metadata` and `spec`.
    pub(super) fn all(&self) -> Result<String, String> {
        self.by_kind(|pods| {
            let lists: Vec<String> = pods.iter().map(pods_at).collect::<Result<_, _>>()?;
            Ok(if lists.is_empty() { "[]".to_owned() } else { lists.join(" + ") })
        })
    }

    /// Returns the only pod of each object.
    pub(super) fn only(&self) -> Result<String, String> {
        self.by_kind(|pods| {
            let [ClusterPods { steps, is_template, .. }] = pods else { return Err(several()) };
            let Some(path) = optional(steps) else { return Err(several()) };
            let pod = if steps.is_empty() { "object".to_owned() } else { format!("{path}.orValue({{}})") };
            Ok(if *is_template { format!("dyn({pod})") } else { format!("dyn({{'spec': {pod}}})") })
        })
    }

    /// Returns the list of the possible numbers of pods.
    pub(super) fn count(&self) -> Result<String, String> {
        self.by_kind(|pods| match pods {
            [ClusterPods { count: ClusterCount::Unknown, .. }] => Ok("[]".to_owned()),
            [ClusterPods { count: ClusterCount::Field { at, most, suspended }, .. }] => {
                number(at.as_deref(), most.as_deref(), suspended).ok_or_else(several)
            }
            _ => Err("more than one field sets the number of pods, which the API server cannot evaluate".to_owned()),
        })
    }

    /// Returns an expression that depends on the kind. Kinds with the same expression share a case.
    fn by_kind(&self, define: impl Fn(&[ClusterPods]) -> Result<String, String>) -> Result<String, String> {
        let mut cases: Vec<(String, Vec<&str>)> = Vec::new();
        for (kind, pods) in &self.places {
            let expression = define(pods)?;
            match cases.iter_mut().find(|(known, _)| *known == expression) {
                Some((_, kinds)) => kinds.push(kind),
                None => cases.push((expression, vec![kind])),
            }
        }
        let Some((last, _)) = cases.pop() else { return Ok("[]".to_owned()) };
        let mut text = String::new();
        for (expression, kinds) in cases {
            let _ = write!(text, "object.kind in {} ? {expression} : ", list(kinds));
        }
        Ok(format!("({text}{last})"))
    }
}

fn several() -> String {
    "an object of this kind can have several groups of pods: write the rule `for: object`, with `pods.exists(…)`"
        .to_owned()
}

/// Returns a path as an optional: `object.?spec.?template`; `None` if it visits members.
pub(super) fn optional(steps: &[ManifestStep]) -> Option<String> {
    let mut path = "object".to_owned();
    for step in steps {
        let ManifestStep::Key(key) = step else { return None };
        push_key(&mut path, key);
    }
    Some(path)
}

pub(super) fn push_key(path: &mut String, key: &str) {
    let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let _ = if is_plain { write!(path, ".?{key}") } else { write!(path, "[?{}]", quoted(key)) };
}

/// Returns the list of the pods at one place.
fn pods_at(pods: &ClusterPods) -> Result<String, String> {
    let mut list = None;
    let mut path = "object".to_owned();
    for step in &pods.steps {
        match (step, &list) {
            (ManifestStep::Key(key), _) => push_key(&mut path, key),
            (_, Some(_)) => return Err("the pods are in lists of lists, which cannot be exported".to_owned()),
            (ManifestStep::Each, None) => list = Some(format!("{path}.orValue([])")),
            // With one variable, a macro over a map visits its keys.
            (ManifestStep::Any, None) => list = Some(format!("{path}.orValue({{}}).map(k, {path}.value()[k])")),
        }
        if list.is_some() && !matches!(step, ManifestStep::Key(_)) {
            "m".clone_into(&mut path);
        }
    }
    let framed = |pod: &str| if pods.is_template { format!("dyn({pod})") } else { format!("dyn({{'spec': {pod}}})") };
    Ok(match list {
        None if path == "object" => format!("[{}]", framed("object")),
        None => format!("[?{path}].map(t, {})", framed("t")),
        Some(list) if path == "m" => format!("{list}.map(m, {})", framed("m")),
        Some(list) => format!("{list}.map(m, {path}.hasValue(), {})", framed(&format!("{path}.value()"))),
    })
}

fn number(
    at: Option<&[ManifestStep]>,
    most: Option<&[ManifestStep]>,
    suspended: &[Vec<ManifestStep>],
) -> Option<String> {
    let at = match at {
        Some(at) => format!("double({}.orValue(dyn(1)))", optional(at)?),
        None => "1.0".to_owned(),
    };
    let number = match most {
        Some(most) => {
            let most = optional(most)?;
            format!("[{at}, {most}.hasValue() ? double({most}.value()) : {at}].min()")
        }
        None => at,
    };
    let stops: Vec<String> = suspended
        .iter()
        .map(|path| Some(format!("{}.orValue(false) == true", optional(path)?)))
        .collect::<Option<_>>()?;
    if stops.is_empty() {
        return Some(format!("[dyn({number})]"));
    }
    // A queue starts a suspended object, so the number depends on the queue.
    let queued = "object.?metadata.?labels.orValue({}).exists(k, k.endsWith('/queue-name'))";
    Some(format!("({} ? ({queued} ? [] : [dyn(0.0)]) : [dyn({number})])", stops.join(" || ")))
}

/// The variables of the only pod of an object.
pub(super) struct PodVariables<'a> {
    pub(super) variables: &'a PolicyVariables,
    pub(super) pods: &'a KindPods,
}

impl PodVariables<'_> {
    pub(super) fn pod(&self) -> Result<String, String> {
        let pod = self.pods.only()?;
        Ok(self.variables.get("pod", || pod))
    }

    pub(super) fn count(&self) -> Result<String, String> {
        let count = self.pods.count()?;
        Ok(self.variables.get("count", || count))
    }

    /// Returns all resource keys with a domain. Keys with an amount of zero are left out.
    pub(super) fn keys(&self) -> Result<String, String> {
        let pod = self.pod()?;
        Ok(self.variables.get("keys", || {
            let side = |side: &str| {
                let amounts = format!("c.?resources.?{side}.orValue({{}})");
                format!(
                    "{amounts}.filter(k, k.contains('/') && string({amounts}[k]) != '0').map(k, string(k)).join(' ')"
                )
            };
            format!(
                "({pod}.?spec.?containers.orValue([]) + {pod}.?spec.?initContainers.orValue([])).map(c, {} + ' ' + {})\
                 .join(' ').split(' ').filter(k, k != '')",
                side("limits"),
                side("requests")
            )
        }))
    }

    /// Returns the keys that can request an accelerator or a part of one. This first selection is cheap, because the
    /// server limits the cost of an expression.
    fn similar_keys(&self) -> Result<String, String> {
        let keys = self.keys()?;
        Ok(self.variables.get("similar_keys", || {
            let known = cluster_devices();
            let all = known.keys.iter().chain(&known.patterns).map(|(key, _)| key);
            let all: Vec<&str> =
                all.chain(&known.shares).chain(&known.partial).chain(&known.alone).map(String::as_str).collect();
            let (anywhere, owned): (Vec<&str>, Vec<&str>) = all.into_iter().partition(|key| key.starts_with('*'));
            let domains: BTreeSet<&str> = owned.iter().filter_map(|key| Some(key.split_once('/')?.0)).collect();
            format!(
                "{keys}.filter(k, k.split('/')[0] in {} || k.matches('{}'))",
                list(domains),
                regex(anywhere.into_iter().collect::<BTreeSet<_>>())
            )
        }))
    }

    /// Returns the keys that request accelerators.
    pub(super) fn devices(&self) -> Result<String, String> {
        let keys = self.similar_keys()?;
        Ok(self.variables.get("devices", || {
            let known = cluster_devices();
            let exact = known.keys.iter().map(|(key, _)| key.as_str()).chain(known.alone.iter().map(String::as_str));
            let patterns = known.patterns.iter().map(|(key, _)| key.as_str());
            let shares = known.shares.iter().map(String::as_str);
            format!(
                "{keys}.filter(k, k in {} || k.matches('{}') && !k.matches('{}'))",
                list(exact),
                regex(patterns),
                regex(shares)
            )
        }))
    }

    /// Returns whether the pod requests accelerators in a way that does not determine their number: by several keys, in
    /// parts, or in containers that run before others.
    pub(super) fn unclear(&self) -> Result<String, String> {
        let (pod, keys, devices) = (self.pod()?, self.similar_keys()?, self.devices()?);
        Ok(self.variables.get("unclear", || {
            let known = cluster_devices();
            format!(
                "{devices}.exists(k, k != {devices}[0]) || {keys}.exists(k, k.matches('{}')) || \
                 {pod}.?spec.?initContainers.orValue([]).exists(c, c.?restartPolicy.orValue('') == 'Always' && \
                 {devices}.exists(k, k in c.?resources.?limits.orValue({{}}) || k in c.?resources.?requests.orValue({{}})))",
                regex(known.shares.iter().chain(&known.partial).map(String::as_str))
            )
        }))
    }

    /// Returns the possible numbers of accelerators of one pod.
    pub(super) fn accelerator_count(&self) -> Result<String, String> {
        let (pod, devices, unclear) = (self.pod()?, self.devices()?, self.unclear()?);
        Ok(self.variables.get("accelerator_count", || {
            let amount = format!(
                "quantity(string(c.?resources.?limits[?{devices}[0]].or(c.?resources.?requests[?{devices}[0]])\
                 .orValue(dyn('0')))).asApproximateFloat()"
            );
            format!(
                "{devices}.size() == 0 || {unclear} ? [] : [dyn([{pod}.?spec.?containers.orValue([]).map(c, {amount}).sum(), \
                 ([0.0] + {pod}.?spec.?initContainers.orValue([]).map(c, {amount})).max()].max())]"
            )
        }))
    }

    /// Returns whether the pod uses accelerators, which makes it a resource of gpulint.
    pub(super) fn uses_accelerators(&self) -> Result<String, String> {
        let (pod, devices) = (self.pod()?, self.devices()?);
        Ok(self.variables.get("uses_accelerators", || {
            let unrequested: Vec<String> = cluster_devices()
                .variables
                .iter()
                .map(|(name, none, runtime)| {
                    let (name, none, runtime) = (quoted(name), list(none.iter().map(String::as_str)), quoted(runtime));
                    format!(
                        "{pod}.?spec.?containers.orValue([]).exists(c, [c.?env.orValue([]).filter(e, e.name == {name})]\
                         .exists(e, e.size() > 0 ? e[e.size() - 1].?valueFrom.hasValue() || \
                         e[e.size() - 1].?value.hasValue() && !(e[e.size() - 1].value in {none}) : \
                         {pod}.?spec.?runtimeClassName.orValue('').startsWith({runtime})))"
                    )
                })
                .collect();
            format!("({devices}.size() > 0 || object.kind != 'DaemonSet' && ({}))", unrequested.join(" || "))
        }))
    }

    /// Returns the possible vendors of the accelerators.
    pub(super) fn vendor(&self) -> Result<String, String> {
        let devices = self.devices()?;
        Ok(self.variables.get("vendor", || {
            let known = cluster_devices();
            let with_vendor = |(key, vendor): &&(String, String)| !vendor.is_empty() && !key.is_empty();
            let exact = known.keys.iter().filter(with_vendor).map(|(key, vendor)| (key.as_str(), quoted(vendor)));
            let mut vendors: Vec<&str> = known.patterns.iter().map(|(_, vendor)| vendor.as_str()).collect();
            vendors.sort_unstable();
            vendors.dedup();
            let mut rest = String::new();
            for vendor in vendors.into_iter().filter(|vendor| !vendor.is_empty()) {
                let patterns = known.patterns.iter().filter(|(_, it)| it == vendor).map(|(key, _)| key.as_str());
                let _ = write!(rest, "k.matches('{}') ? dyn({}) : ", regex(patterns), quoted(vendor));
            }
            format!(
                "{devices}.exists(k, k in {}) ? [] : [{devices}.map(k, {}[?k].hasValue() ? dyn({}[?k].value()) : {rest}\
                 dyn(null))].map(l, l.all(o, o == l[0]) && l.size() > 0 ? [l[0]] : [])[0]",
                list(known.alone.iter().map(String::as_str)),
                map(exact.clone()),
                map(exact)
            )
        }))
    }

    /// Returns the possible maximum durations in seconds: a field, or unknown if a label, an annotation or a command sets
    /// the duration.
    pub(super) fn time_limit_seconds(&self) -> Result<String, String> {
        let pod = self.pod()?;
        Ok(self.variables.get("time_limit_seconds", || {
            let labels = |frame: &str, part: &str| format!("{frame}.?metadata.?{part}.orValue({{}})");
            let limiting = format!("exists(k, k.matches('{LIMITING_KEYS}'))");
            let of_job = "(object.kind == 'Job' ? object.?spec.?activeDeadlineSeconds : object.kind == 'CronJob' ? \
                          object.?spec.?jobTemplate.?spec.?activeDeadlineSeconds : optional.none())";
            let field = format!("{of_job}.or({pod}.?spec.?activeDeadlineSeconds)");
            let sleeps = format!(
                "{pod}.?spec.?containers.orValue([]).exists(c, (c.?command.orValue([]) + c.?args.orValue([])).exists(w, string(w).contains('sleep')))"
            );
            format!(
                "{field}.hasValue() ? [dyn(double({field}.value()))] : {}.{limiting} || {}.{limiting} || {}.{limiting} || \
                 {}.{limiting} || {pod}.?spec.?nodeSelector.orValue({{}}).{limiting} || {sleeps} ? [] : [dyn(null)]",
                labels("object", "labels"),
                labels("object", "annotations"),
                labels(&pod, "labels"),
                labels(&pod, "annotations")
            )
        }))
    }

    /// Returns whether a key or a label beyond the labels of nodes determines the accelerator.
    pub(super) fn is_named_by_key(&self) -> Result<String, String> {
        let (keys, devices) = (self.keys()?, self.devices()?);
        let named = cluster_devices().named;
        Ok(format!(
            "{devices}.exists(k, k.matches('{}')) || '{EFA}' in {keys}",
            regex(named.iter().map(String::as_str))
        ))
    }
}

/// Returns a regular expression for keys, in which `*` stands for any part.
fn regex<'k>(keys: impl IntoIterator<Item = &'k str>) -> String {
    let key = |key: &str| {
        let (domain, rest) = match key.strip_prefix("*/") {
            Some(rest) => ("[^/]+/", rest),
            None => ("", key),
        };
        format!("{domain}{}", regex::escape(rest).replace("\\*", ".*"))
    };
    let keys: Vec<String> = keys.into_iter().map(key).collect();
    format!("^(?:{})$", keys.join("|").replace('\\', "\\\\"))
}
