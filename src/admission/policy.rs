//! Describes a policy for any engine, and writes the parts that all engines share.

use crate::languages::cel::Kubernetes;
use crate::rules::RuleFile;

use super::kinds::ServerKind;

/// The engine that evaluates a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyTarget {
    /// The API server.
    Validating,
    Kyverno,
    Gatekeeper,
}

impl PolicyTarget {
    pub const NAMES: [&'static str; 3] = ["vap", "kyverno", "gatekeeper"];

    pub fn from_name(name: &str) -> Option<PolicyTarget> {
        match name {
            "vap" => Some(PolicyTarget::Validating),
            "kyverno" => Some(PolicyTarget::Kyverno),
            "gatekeeper" => Some(PolicyTarget::Gatekeeper),
            _ => None,
        }
    }

    /// Returns the name of a policy in a form that two policies of a cluster cannot share.
    pub fn key(self, rule: &str) -> String {
        match self {
            // The kind of a constraint has no dashes.
            PolicyTarget::Gatekeeper => rule.replace('-', ""),
            _ => rule.to_owned(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            PolicyTarget::Validating => "vap",
            PolicyTarget::Kyverno => "kyverno",
            PolicyTarget::Gatekeeper => "gatekeeper",
        }
    }
}

/// The effect of a policy on objects that the rule reports.
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

    pub(super) fn failure_policy(self) -> &'static str {
        match self {
            Enforcement::Audit => "Ignore",
            Enforcement::Deny => "Fail",
        }
    }

    pub(super) fn actions(self) -> &'static str {
        match self {
            Enforcement::Audit => "[Warn, Audit]",
            Enforcement::Deny => "[Deny, Audit]",
        }
    }
}

/// The options of an export.
#[derive(Debug, Clone, Copy)]
pub struct ExportOptions {
    pub target: PolicyTarget,
    pub version: Kubernetes,
    pub enforcement: Enforcement,
}

/// A policy for any engine.
pub(super) struct ServerPolicy<'r> {
    pub(super) rule: &'r RuleFile,
    pub(super) options: ExportOptions,
    pub(super) kinds: Vec<ServerKind>,
    /// Conditions, each with its name, that an object must meet before the policy judges it.
    pub(super) applies_if: Vec<(&'static str, String)>,
    pub(super) variables: Vec<(String, String)>,
    /// Is true for an object that the rule reports.
    pub(super) reported: String,
    pub(super) message: Option<String>,
}

impl ServerPolicy<'_> {
    pub(super) fn name(&self) -> String {
        format!("gpulint-{}", self.rule.name)
    }

    /// Returns the comment above the documents.
    pub(super) fn head(&self) -> String {
        let ExportOptions { target, version, enforcement } = self.options;
        let deny = if enforcement == Enforcement::Deny { " --enforce deny" } else { "" };
        format!(
            "---\n# {}: written by `gpulint rules export --to {} --kubernetes 1.{}{deny}`; change the rule file, not this file.\n",
            self.rule.name,
            target.name(),
            version.minor
        )
    }

    /// Returns the expression that is true for an object without a finding.
    fn passes(&self) -> String {
        format!("!({})", self.reported)
    }

    /// Returns the message for an API server that cannot evaluate the other one.
    fn plain_message(&self) -> String {
        let summary = self.rule.summary();
        format!(
            "{}: {}",
            self.rule.name,
            if summary.is_empty() { "this configuration is not allowed" } else { summary }
        )
    }

    /// Returns the rules that select objects by their API.
    pub(super) fn resource_rules(&self, indent: &str) -> String {
        let rule = |kind: &ServerKind| {
            let ServerKind { group, version, plural, .. } = kind;
            format!(
                "{indent}- apiGroups: [{group:?}]\n{indent}  apiVersions: [{version:?}]\n{indent}  operations: [CREATE, UPDATE]\n\
                 {indent}  resources: [{plural}]\n"
            )
        };
        self.kinds.iter().map(rule).collect()
    }

    /// Returns a list of named expressions under a key; nothing if the list is empty.
    fn named<'e>(&self, key: &str, indent: &str, all: impl Iterator<Item = (&'e str, &'e str)>) -> String {
        let entries: String = all
            .map(|(name, expression)| {
                format!("{indent}  - name: {name}\n{indent}    expression: {}\n", yaml(expression))
            })
            .collect();
        if entries.is_empty() { entries } else { format!("{indent}{key}:\n{entries}") }
    }

    pub(super) fn match_conditions(&self, key: &str, indent: &str) -> String {
        self.named(key, indent, self.applies_if.iter().map(|(name, expression)| (*name, expression.as_str())))
    }

    pub(super) fn variables(&self, indent: &str) -> String {
        self.named("variables", indent, self.variables.iter().map(|(name, it)| (name.as_str(), it.as_str())))
    }

    pub(super) fn validations(&self, indent: &str) -> String {
        let message = self
            .message
            .as_ref()
            .map_or_else(String::new, |message| format!("{indent}    messageExpression: {}\n", yaml(message)));
        format!(
            "{indent}validations:\n{indent}  - expression: {}\n{indent}    message: {}\n{message}",
            yaml(&self.passes()),
            yaml(&self.plain_message())
        )
    }
}

/// Formats a string as a double-quoted YAML scalar, which is also JSON.
fn yaml(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
