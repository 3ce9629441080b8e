//! Provides the parts of a rule that a policy of a cluster needs: kinds, condition and message.

use crate::languages::cel::{self, CelValue, Kubernetes, ServerNames, ServerScope, ServerValue};

use super::facts;
use super::page::{FactMatch, LooksAt, RuleFile};

/// The condition and the message of a rule, as expressions of a Kubernetes API server.
pub(crate) struct ServerRule {
    /// Is true for an object that the rule reports.
    pub(crate) condition: String,
    /// The message and the help; `None` if the server cannot compute them.
    pub(crate) message: Option<String>,
}

impl RuleFile {
    /// Returns the kinds to which `match` or a condition limits the rule.
    pub(crate) fn accepted_kinds(&self) -> Vec<&str> {
        let kind = facts::implied(self.looks_at).and_then(|(_, schema)| schema.field("kind"));
        let listed = self.matches.iter().find(|it| Some(it.fact) == kind).map(|it| it.accepts.as_slice());
        let compared = || self.when().iter().find_map(super::page::PageExpression::accepted_kinds);
        let values = listed.or_else(compared).unwrap_or_default();
        values.iter().filter_map(CelValue::as_text).collect()
    }

    /// Returns whether `match` or a conjunct of the condition excludes this value of a fact.
    pub(crate) fn excludes(&self, fact: &str, value: &str) -> bool {
        let place = facts::implied(self.looks_at).and_then(|(_, schema)| schema.field(fact));
        let mut listed = self.matches.iter().filter(|it| Some(it.fact) == place);
        let is_listed = |it: &FactMatch| it.accepts.iter().any(|accepted| accepted.as_text() == Some(value));
        listed.any(|it| !is_listed(it)) || self.when().iter().any(|it| it.excludes(fact, &CelValue::text(value)))
    }

    /// Returns the API of the custom resources that the rule matches: `gpu.acme.example/v1/gpuleases`.
    pub(crate) fn custom_api(&self) -> Option<&str> {
        self.api.as_deref()
    }

    /// Returns why a cluster cannot evaluate rules with this scope.
    pub(crate) fn needs_more_than_one_object(&self) -> Option<&'static str> {
        match self.looks_at {
            LooksAt::Object | LooksAt::Resource => None,
            LooksAt::Block => Some("the rule evaluates Terraform, which a cluster does not have"),
            _ => Some("the rule evaluates more than one object: limit it to one with `for: object` or `for: resource`"),
        }
    }

    /// Returns condition and message for a server, or why it cannot evaluate the condition.
    pub(crate) fn for_server(&self, version: Kubernetes, names: &dyn ServerNames) -> Result<ServerRule, String> {
        let scope = ServerScope { parameters: self.constants(), version, names };
        let mut conditions = Vec::new();
        for condition in self.when() {
            conditions.push(condition.program.in_kubernetes(&scope)?);
        }
        let schema = facts::implied(self.looks_at).map(|(_, schema)| schema);
        for wanted in &self.matches {
            let fact = schema.and_then(|schema| schema.fields.get(wanted.fact)).map_or("", |field| field.name);
            if fact != "kind" {
                conditions.push(accepted(wanted, fact, names)?);
            }
        }
        let condition = match conditions.as_slice() {
            [] => return Err("the rule has no condition: add `when`".to_owned()),
            [one] => one.clone(),
            several => several.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" && "),
        };
        Ok(ServerRule { condition, message: self.server_message(&scope) })
    }

    /// Returns message and help as one expression; `None` if a server cannot compute them.
    fn server_message(&self, scope: &ServerScope<'_>) -> Option<String> {
        let message = self.speech().messages.first()?.in_kubernetes(scope)?;
        let mut parts = vec![cel::quoted(&format!("{}: ", self.name)), message];
        if let Some(help) = self.speech().help.first().and_then(|help| help.in_kubernetes(scope)) {
            parts.push("'; '".to_owned());
            parts.push(help);
        }
        Some(parts.join(" + "))
    }
}

/// Returns the condition that a fact has one of the values in `match`.
fn accepted(wanted: &FactMatch, fact: &str, names: &dyn ServerNames) -> Result<String, String> {
    let values: Vec<String> = wanted.accepts.iter().filter_map(cel::literal).collect();
    let values = values.join(", ");
    match names.name(fact).transpose()? {
        Some(ServerValue::Optional(path)) => Ok(format!("{path}.orValue('') in [{values}]")),
        Some(ServerValue::Plain(value)) => Ok(format!("{value} in [{values}]")),
        Some(ServerValue::Possible(facts)) => Ok(format!("({facts}.size() > 0 && {facts}.all(v, v in [{values}]))")),
        _ => Err(format!("`match` compares `{fact}`, which the API server does not know: remove it from `match`")),
    }
}
