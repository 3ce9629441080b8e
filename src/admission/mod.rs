//! Exports a rule as a policy of a cluster: for the API server, for Kyverno and for Gatekeeper.
//!
//! All targets use the same translation to CEL. It refuses a rule whose facts a cluster cannot know, because a policy
//! must not decide otherwise than `gpulint check` does for the same object alone. A fact that the policy cannot derive
//! from one object is unknown, as in gpulint, and an unknown condition reports nothing.

mod containers;
mod gatekeeper;
mod kinds;
mod kyverno;
mod labels;
mod names;
mod pods;
mod policy;
mod pools;
mod prices;
mod tables;
mod validating;
mod variables;

use std::cell::Cell;

use crate::AnalysisSettings;
use crate::rules::{LooksAt, RuleFile, ServerRule};

use kinds::{ServerKind, kind_named};
use names::PolicyNames;
use pods::KindPods;
use policy::ServerPolicy;
use variables::PolicyVariables;

pub use crate::languages::cel::Kubernetes;
pub use policy::{Enforcement, ExportOptions, PolicyTarget};

/// The kinds of resources with pods, if a rule does not limit its kinds.
const WORKLOADS: [&str; 7] = ["CronJob", "DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "StatefulSet"];

/// The limit on a policy. The database of a cluster refuses objects above 1 MiB, and Gatekeeper stores each template
/// twice.
const MAX_BYTES: usize = 400_000;

/// The limit on one expression, in characters, of the parser in the API server.
const MAX_EXPRESSION: usize = 100_000;

/// Returns the documents of a policy, or the reason why the rule cannot be exported.
pub fn export_rule(rule: &RuleFile, settings: &AnalysisSettings, options: ExportOptions) -> Result<String, String> {
    if let Some(why) = rule.needs_more_than_one_object() {
        return Err(why.to_owned());
    }
    let kinds = kinds_of(rule)?;
    let variables = PolicyVariables::default();
    let names = PolicyNames {
        looks_at: rule.looks_at,
        kinds: &kinds,
        settings,
        variables: &variables,
        reads_pod: Cell::default(),
    };
    if rule.looks_at == LooksAt::Resource && rule.excludes("role", names.role()) {
        return Err(match names.role() {
            "rented" => "the rule judges pods, and its kinds are pools: remove one of the two conditions",
            _ => {
                "the rule judges machines, and the policy pods: add `match: { kind: NodePool }` for pools of Karpenter"
            }
        }
        .to_owned());
    }
    let ServerRule { condition, message } = rule.for_server(options.version, &names)?;
    let reported = match rule.looks_at {
        LooksAt::Resource => format!("{} && ({condition})", names.is_resource()?),
        _ => condition,
    };
    let policy = ServerPolicy {
        rule,
        options,
        applies_if: applies_if(&kinds, options.target),
        kinds,
        variables: variables.into_list(),
        reported,
        message,
    };
    let text = match options.target {
        PolicyTarget::Validating => validating::write(&policy),
        PolicyTarget::Kyverno => kyverno::write(&policy),
        PolicyTarget::Gatekeeper => gatekeeper::write(&policy),
    };
    let longest = policy.variables.iter().map(|(_, expression)| expression.len()).max().unwrap_or_default();
    if text.len() > MAX_BYTES || longest.max(policy.reported.len()) > MAX_EXPRESSION {
        return Err("the policy is larger than an API server accepts: split the rule".to_owned());
    }
    Ok(text)
}

/// Returns the kinds that the policy judges.
fn kinds_of(rule: &RuleFile) -> Result<Vec<ServerKind>, String> {
    let mut named = rule.accepted_kinds();
    if named.is_empty() {
        match rule.looks_at {
            LooksAt::Resource => named.extend(WORKLOADS),
            _ => return Err("the rule does not limit its kinds: add `match: { kind: [...] }`".to_owned()),
        }
    }
    named.into_iter().map(|kind| kind_named(kind, rule.custom_api())).collect()
}

/// Returns the conditions under which a policy judges an object. Objects that a controller creates are judged once, in
/// their owner, as in the files. An object that is being deleted must not be kept by a policy.
fn applies_if(kinds: &[ServerKind], target: PolicyTarget) -> Vec<(&'static str, String)> {
    let mut all = vec![("not-deleted", "!has(object.metadata.deletionTimestamp)".to_owned())];
    if target == PolicyTarget::Gatekeeper {
        // Gatekeeper can also ask about a deletion, which has no new object.
        all.push(("has-object", "object != null".to_owned()));
    }
    let is_workload = |kind: &ServerKind| KindPods::of(std::slice::from_ref(kind)).is_ok_and(|pods| pods.has_any());
    if kinds.iter().any(is_workload) {
        let owned = "!object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))";
        all.push(("no-controller", owned.to_owned()));
    }
    all
}
