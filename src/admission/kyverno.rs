//! Writes a ValidatingPolicy of Kyverno, whose fields are those of a ValidatingAdmissionPolicy.

use super::policy::ServerPolicy;

/// Stops Kyverno from deriving policies for the owners of pods: the rule itself names its kinds. Kyverno derives them
/// only for policies about pods alone.
const NO_OTHER_KINDS: &str = "  autogen:\n    podControllers:\n      controllers: [none]\n";

pub(super) fn write(policy: &ServerPolicy<'_>) -> String {
    let enforcement = policy.options.enforcement;
    let is_for_pods = policy.kinds.iter().all(|kind| kind.kind == "Pod");
    format!(
        "{}apiVersion: policies.kyverno.io/v1\nkind: ValidatingPolicy\nmetadata:\n  name: {}\n  annotations:\n    \
         gpulint.dev/rule: {}\nspec:\n  validationActions: {}\n  failurePolicy: {}\n{}  matchConstraints:\n    \
         resourceRules:\n{}{}{}{}",
        policy.head(),
        policy.name(),
        policy.rule.name,
        enforcement.actions(),
        enforcement.failure_policy(),
        if is_for_pods { NO_OTHER_KINDS } else { "" },
        policy.resource_rules("      "),
        policy.match_conditions("matchConditions", "  "),
        policy.variables("  "),
        policy.validations("  "),
    )
}
