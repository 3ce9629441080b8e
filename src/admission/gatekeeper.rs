//! Writes a ConstraintTemplate of Gatekeeper in CEL, and its constraint.

use super::policy::{Enforcement, ServerPolicy};

/// The engine of Gatekeeper that evaluates CEL.
const ENGINE: &str = "K8sNativeValidation";

pub(super) fn write(policy: &ServerPolicy<'_>) -> String {
    let kind = kind_of(&policy.rule.name);
    let lower = kind.to_ascii_lowercase();
    let enforcement = policy.options.enforcement;
    let action = match enforcement {
        Enforcement::Audit => "warn",
        Enforcement::Deny => "deny",
    };
    let kinds: String = policy
        .kinds
        .iter()
        .map(|it| format!("      - apiGroups: [{:?}]\n        kinds: [{}]\n", it.group, it.kind))
        .collect();
    // Gatekeeper reads the key without its last letter.
    let conditions = policy.match_conditions("matchCondition", "            ");
    format!(
        "{}apiVersion: templates.gatekeeper.sh/v1\nkind: ConstraintTemplate\nmetadata:\n  name: {lower}\n  annotations:\n    \
         gpulint.dev/rule: {}\nspec:\n  crd:\n    spec:\n      names:\n        kind: {kind}\n  targets:\n    \
         - target: admission.k8s.gatekeeper.sh\n      code:\n        - engine: {ENGINE}\n          source:\n            \
         failurePolicy: {}\n{conditions}{}{}---\napiVersion: constraints.gatekeeper.sh/v1beta1\nkind: {kind}\nmetadata:\n  \
         name: {}\nspec:\n  enforcementAction: {action}\n  match:\n    kinds:\n{kinds}",
        policy.head(),
        policy.rule.name,
        enforcement.failure_policy(),
        policy.variables("            "),
        policy.validations("            "),
        policy.name(),
    )
}

/// Returns the kind of the constraint, without dashes.
fn kind_of(rule: &str) -> String {
    format!("Gpulint{}", rule.split('-').map(capitalized).collect::<String>())
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
