//! Evaluates parameters: their values, else their defaults.

use std::sync::Arc;

use crate::languages::document::{PART_BYTES, among_allowed};
use crate::languages::hcl::value::{Cause, HclNumber, HclValue};
use crate::languages::yaml::Node;
use crate::source::Span;

use super::evaluate::LoopNames;
use super::stack::StackInstance;

impl StackInstance<'_> {
    /// Returns the value of a parameter; `None` if the template does not declare it.
    pub(super) fn parameter(&self, name: &str, at: Span) -> Option<HclValue> {
        let declared = &self.template.entry("Parameters", name)?.value;
        let kind = declared.text_at("Type").map_or("String", |it| &**it);
        let default = declared.get("Default").map(|it| self.value(it, &LoopNames::default()));
        let is_secret = declared.get("NoEcho").and_then(Node::flag).or_else(|| flag(declared)).unwrap_or(false);
        let given = self.given.get(name).filter(|it| !it.is_null());
        let value = match given.map(|it| among_allowed(it, || self.allowed(declared))).or(default) {
            Some(value) => match self.pay_typed(&value, kind, at) {
                Ok(()) => typed(value, kind),
                Err(unknown) => unknown,
            },
            None => self.without_value(name, declared, at),
        };
        Some(value.marked(is_secret))
    }

    /// Pays for the copy of a given string, and for its parts.
    fn pay_typed(&self, value: &HclValue, kind: &str, at: Span) -> Result<(), HclValue> {
        let text = value.as_text().unwrap_or_default();
        self.state.pay_text(text.len(), at)?;
        let parts = if is_list(kind) { memchr::memchr_iter(b',', text.as_bytes()).count() } else { 0 };
        self.state.pay_text(parts.saturating_mul(PART_BYTES), at)
    }

    fn allowed(&self, declared: &Node) -> Vec<HclValue> {
        let allowed = declared.get("AllowedValues").map(Node::items).unwrap_or_default();
        allowed.iter().map(|it| self.value(it, &LoopNames::default())).collect()
    }

    /// Returns an unknown value, with the allowed values as candidates if the template lists them.
    fn without_value(&self, name: &str, declared: &Node, at: Span) -> HclValue {
        let candidates = self.allowed(declared);
        let cause = Cause { candidates, ..Cause::new(format!("parameter `{name}` has no value"), at) };
        HclValue::because(&Arc::new(cause), at)
    }
}

/// Returns whether a parameter is secret: `NoEcho: "true"`.
fn flag(declared: &Node) -> Option<bool> {
    Some(declared.text_at("NoEcho")?.eq_ignore_ascii_case("true"))
}

/// Converts a value to the parameter's type, because given values are strings.
fn typed(value: HclValue, kind: &str) -> HclValue {
    if kind.starts_with("AWS::SSM::Parameter::Value") {
        let name = value.as_text().unwrap_or_default();
        return HclValue::unknown(format!("the value is in the parameter store under `{name}`"), value.span);
    }
    if value.is_unknown() {
        return value;
    }
    let Some(text) = value.as_text() else { return value };
    let meant = match HclNumber::parse(&text).filter(|_| kind == "Number") {
        _ if is_list(kind) => split_list(&text, value.span),
        Some(number) => HclValue::number(number, value.span),
        None => HclValue::text(&*text, value.span),
    };
    meant.marked(value.sensitive)
}

fn is_list(kind: &str) -> bool {
    kind == "CommaDelimitedList" || kind.starts_with("List<")
}

/// Splits a list that is written as one string.
fn split_list(text: &str, at: Span) -> HclValue {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    HclValue::tuple(parts.map(|part| HclValue::text(part, at)).collect(), at)
}
