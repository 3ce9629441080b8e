//! Writes a Kubernetes ValidatingAdmissionPolicy with its binding.

use super::policy::ServerPolicy;

pub(super) fn write(policy: &ServerPolicy<'_>) -> String {
    let (name, enforcement) = (policy.name(), policy.options.enforcement);
    format!(
        "{}apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata:\n  name: {name}\n  \
         annotations:\n    gpulint.dev/rule: {}\nspec:\n  failurePolicy: {}\n  matchConstraints:\n    resourceRules:\n{}{}{}{}\
         ---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata:\n  \
         name: {name}\nspec:\n  policyName: {name}\n  validationActions: {}\n",
        policy.head(),
        policy.rule.name,
        enforcement.failure_policy(),
        policy.resource_rules("      "),
        policy.match_conditions("matchConditions", "  "),
        policy.variables("  "),
        policy.validations("  "),
        enforcement.actions()
    )
}
