//! Exports a rule as a Kubernetes ValidatingAdmissionPolicy with its binding.

use std::fmt::Write;

use crate::languages::cel::{CelValue, Kubernetes};

use super::facts;
use super::page::{LooksAt, RuleFile};

/// API group, version and plural of known kinds.
const KINDS: [(&str, &str, &str, &str); 30] = [
    ("ConfigMap", "", "v1", "configmaps"),
    ("CronJob", "batch", "v1", "cronjobs"),
    ("DaemonSet", "apps", "v1", "daemonsets"),
    ("Deployment", "apps", "v1", "deployments"),
    ("HorizontalPodAutoscaler", "autoscaling", "v2", "horizontalpodautoscalers"),
    ("InferenceService", "serving.kserve.io", "v1beta1", "inferenceservices"),
    ("Ingress", "networking.k8s.io", "v1", "ingresses"),
    ("Job", "batch", "v1", "jobs"),
    ("JobSet", "jobset.x-k8s.io", "v1alpha2", "jobsets"),
    ("LeaderWorkerSet", "leaderworkerset.x-k8s.io", "v1", "leaderworkersets"),
    ("LimitRange", "", "v1", "limitranges"),
    ("MPIJob", "kubeflow.org", "v2beta1", "mpijobs"),
    ("Namespace", "", "v1", "namespaces"),
    ("NetworkPolicy", "networking.k8s.io", "v1", "networkpolicies"),
    ("NodePool", "karpenter.sh", "v1", "nodepools"),
    ("Notebook", "kubeflow.org", "v1", "notebooks"),
    ("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims"),
    ("Pod", "", "v1", "pods"),
    ("PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets"),
    ("PyTorchJob", "kubeflow.org", "v1", "pytorchjobs"),
    ("RayCluster", "ray.io", "v1", "rayclusters"),
    ("RayJob", "ray.io", "v1", "rayjobs"),
    ("RayService", "ray.io", "v1", "rayservices"),
    ("ReplicaSet", "apps", "v1", "replicasets"),
    ("ResourceQuota", "", "v1", "resourcequotas"),
    ("Service", "", "v1", "services"),
    ("ServiceAccount", "", "v1", "serviceaccounts"),
    ("StatefulSet", "apps", "v1", "statefulsets"),
    ("TFJob", "kubeflow.org", "v1", "tfjobs"),
    ("TrainJob", "trainer.kubeflow.org", "v1alpha1", "trainjobs"),
];

/// The action of the API server for objects that the rule reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforcement {
    /// Warns and audits. An error in the policy blocks nothing.
    Audit,
    /// Refuses the object, and also refuses it if the policy itself fails.
    Deny,
}

impl Enforcement {
    pub fn from_name(name: &str) -> Option<Enforcement> {
        match name {
            "audit" => Some(Enforcement::Audit),
            "deny" => Some(Enforcement::Deny),
            _ => None,
        }
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Enforcement::Audit => ("Ignore", "[Warn, Audit]"),
            Enforcement::Deny => ("Fail", "[Deny, Audit]"),
        }
    }
}

/// Returns the policy and its binding, or the reason why the rule cannot be exported.
pub fn admission_policy(page: &RuleFile, version: Kubernetes, enforcement: Enforcement) -> Result<String, String> {
    match page.looks_at {
        LooksAt::Object => {}
        LooksAt::Resource => {
            return Err("the rule reads facts of resources, which a cluster does not have: write it `for: object`, with a `match` of kinds"
                .to_owned());
        }
        LooksAt::Block => return Err("the rule evaluates Terraform, which a cluster does not have".to_owned()),
        _ => return Err("the rule evaluates more than one object".to_owned()),
    }
    if page.raw.everything() {
        return Err("the rule evaluates more than one object".to_owned());
    }
    let kinds = kinds(page)?;
    let mut conditions = Vec::new();
    for condition in page.when() {
        conditions.push(condition.program.in_kubernetes(page.constants(), version)?);
    }
    if let Some(names) = names(page) {
        conditions.push(format!("object.?metadata.?name.orValue('') in [{}]", names.join(", ")));
    }
    let reported = match conditions.as_slice() {
        [] => return Err("the rule has no condition".to_owned()),
        [one] => one.clone(),
        several => several.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" && "),
    };
    Ok(written(page, (version, enforcement), &kinds, &reported))
}

/// The API group, version and plural of a kind.
type Place<'p> = (&'p str, &'p str, &'p str);

fn kinds(page: &RuleFile) -> Result<Vec<Place<'_>>, String> {
    let named = page.matches.iter().find(|it| Some(it.fact) == facts::kind_of_object());
    let Some(named) = named else {
        return Err("the rule does not limit its kinds: add `match: { kind: [...] }`".to_owned());
    };
    let place = |kind: &CelValue| {
        let kind = kind.as_text().unwrap_or_default();
        let known = KINDS
            .iter()
            .find(|(known, ..)| *known == kind)
            .map(|(_, group, version, plural)| (*group, *version, *plural));
        known.or_else(|| page.api.as_deref().and_then(place_of)).ok_or_else(|| {
            format!(
                "the API group of kind `{}` is unknown: set `api: group/version/plural` in the rule file",
                kind.escape_debug()
            )
        })
    };
    named.accepts.iter().map(place).collect()
}

/// Splits the API of a kind: `gpu.acme.example/v1/gpuleases`.
fn place_of(api: &str) -> Option<Place<'_>> {
    let mut parts = api.split('/');
    let place = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(place)
}

/// Returns the object names in `match`, if it has any.
fn names(page: &RuleFile) -> Option<Vec<String>> {
    let place = facts::name_of_object();
    let named = page.matches.iter().find(|it| Some(it.fact) == place)?;
    Some(named.accepts.iter().filter_map(CelValue::as_text).map(crate::languages::cel::quoted).collect())
}

fn written(
    page: &RuleFile,
    (version, enforcement): (Kubernetes, Enforcement),
    kinds: &[Place<'_>],
    reported: &str,
) -> String {
    let (on_failure, actions) = enforcement.words();
    let deny = if enforcement == Enforcement::Deny { " --enforce deny" } else { "" };
    let name = format!("gpulint-{}", page.name);
    let mut text = String::new();
    let _ = write!(
        text,
        "---\n# {}: written by `gpulint rules export --to vap --kubernetes 1.{}{deny}`; change the rule file, not this file.\napiVersion: \
         admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: {name}\n  annotations:\n    \
         gpulint.dev/rule: {}\nspec:\n  failurePolicy: {on_failure}\n  matchConstraints:\n    resourceRules:\n",
        page.name, version.minor, page.name
    );
    for (group, of_version, plural) in kinds {
        let _ = write!(
            text,
            "      - apiGroups: [{group:?}]\n        apiVersions: [{of_version:?}]\n        \
             operations: [CREATE, UPDATE]\n        resources: [{plural}]\n"
        );
    }
    let summary = page.summary();
    let _ = write!(
        text,
        "  validations:\n    - expression: {}\n      message: {}\n",
        yaml(&format!("!({reported})")),
        yaml(&format!(
            "{}: {}",
            page.name,
            if summary.is_empty() { "this configuration is not allowed" } else { summary }
        ))
    );
    if let Some(message) = message(page, version) {
        let _ = writeln!(text, "      messageExpression: {}", yaml(&message));
    }
    let _ = write!(
        text,
        "---\napiVersion: admissionregistration.k8s.io/v1\n\
         kind: ValidatingAdmissionPolicyBinding\n\
         metadata:\n  name: {name}\nspec:\n  policyName: {name}\n  validationActions: {actions}\n"
    );
    text
}

/// Returns message and help as one expression; `None` if a cluster cannot compute them.
fn message(page: &RuleFile, version: Kubernetes) -> Option<String> {
    let message = page.speech().messages.first()?.in_kubernetes(page.constants(), version)?;
    let mut parts = vec![crate::languages::cel::quoted(&format!("{}: ", page.name)), message];
    if let Some(help) = page.speech().help.first().and_then(|help| help.in_kubernetes(page.constants(), version)) {
        parts.push("'; '".to_owned());
        parts.push(help);
    }
    Some(parts.join(" + "))
}

/// Formats a string as a double-quoted YAML scalar, which is also JSON.
fn yaml(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
