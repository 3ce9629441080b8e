//! Evaluates nodes of a template with CloudFormation's functions.

use std::sync::Arc;

use crate::languages::document::{DocData, DocValue, longest};
use crate::languages::hcl::value::{Cause, HclNumber, HclValue};
use crate::languages::yaml::{Node, NodeData, NodeEntry};
use crate::source::Span;

use super::stack::StackInstance;

/// The meaning of names within loops.
#[derive(Debug, Clone, Default)]
pub(super) struct LoopNames {
    bound: Vec<(Arc<str>, HclValue)>,
    /// The reason why the number of iterations is unknown.
    pub(super) doubt: Option<Arc<Cause>>,
}

impl LoopNames {
    pub(super) fn with(&self, name: &Arc<str>, value: HclValue) -> LoopNames {
        let mut inner = self.clone();
        inner.bound.push((name.clone(), value));
        inner
    }

    pub(super) fn doubted(self, cause: &Arc<Cause>) -> LoopNames {
        LoopNames { doubt: Some(cause.clone()), ..self }
    }

    pub(super) fn get(&self, name: &str) -> Option<&HclValue> {
        self.bound.iter().rev().find(|(bound, _)| &**bound == name).map(|(_, value)| value)
    }

    /// Returns about the bytes of a key with the names of loops replaced.
    fn filled_bytes(&self, key: &str) -> usize {
        let names = key.matches('{').count();
        self.bound.iter().map(|(_, value)| longest(value).saturating_mul(names)).fold(key.len(), usize::saturating_add)
    }

    /// Returns a key with the names of loops replaced; `&{name}` keeps only characters that are allowed in names.
    fn filled(&self, key: &Arc<str>) -> Arc<str> {
        if self.bound.is_empty() || !key.contains("{") {
            return key.clone();
        }
        let mut text = key.to_string();
        for (name, value) in &self.bound {
            let Some(value) = value.as_text() else { continue };
            let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
            text = text.replace(&format!("${{{name}}}"), &value).replace(&format!("&{{{name}}}"), &plain);
        }
        text.into()
    }
}

/// Returns the function name in a key: `Sub` for `Fn::Sub` and `!Sub`.
pub(super) fn function(key: &str) -> Option<&str> {
    match key.strip_prefix('!') {
        Some(short) => Some(short),
        None if key == "Ref" => Some(key),
        None => key.strip_prefix("Fn::").filter(|name| !name.starts_with("ForEach")),
    }
}

impl StackInstance<'_> {
    pub(super) fn value(&self, node: &Node, names: &LoopNames) -> HclValue {
        self.doc(node, names).value()
    }

    pub(super) fn doc(&self, node: &Node, names: &LoopNames) -> DocValue {
        if let Err(unknown) = self.state.arrive(node.span) {
            return DocValue::generated(unknown, node.span);
        }
        let made = self.state.deeper(|| self.evaluate_node(node, names));
        made.unwrap_or_else(|| {
            DocValue::generated(HclValue::unknown("the values nest too deeply", node.span), node.span)
        })
    }

    fn evaluate_node(&self, node: &Node, names: &LoopNames) -> DocValue {
        match &node.data {
            NodeData::Scalar { text, plain } => scalar(node, text, *plain),
            NodeData::List(items) => {
                let items = items.iter().map(|item| self.doc(item, names));
                let items = items.filter(|item| !item.is_null()).collect();
                DocValue { key: node.span, at: node.span, literal: true, data: DocData::List(items) }
            }
            NodeData::Map(entries) => match &**entries {
                [only] if function(&only.key).is_some() => self.call(node, only, names),
                entries => self.map(node, entries, names),
            },
        }
    }

    /// Returns a key with the names of loops replaced; the key as it is if the budget is exhausted.
    pub(super) fn filled(&self, key: &Arc<str>, at: Span, names: &LoopNames) -> Arc<str> {
        match self.state.pay_text(names.filled_bytes(key), at) {
            Ok(()) => names.filled(key),
            Err(_) => key.clone(),
        }
    }

    fn map(&self, node: &Node, entries: &[NodeEntry], names: &LoopNames) -> DocValue {
        let transformed = entries.iter().find(|entry| function(&entry.key) == Some("Transform"));
        let rest = transformed.map(|it| Arc::new(Cause::new("a macro changes this part of the template", it.span())));
        let plain = entries.iter().filter(|entry| function(&entry.key) != Some("Transform")).cloned();
        let mut all = Vec::new();
        for (entry, names) in self.unrolled(&plain.collect::<Vec<_>>(), names, 0) {
            let value = self.doc(&entry.value, &names).named(entry.key_span);
            if !value.is_null() {
                all.push((entry.key.clone(), value));
            }
        }
        DocValue { key: node.span, at: node.span, literal: true, data: DocData::Map(all, rest) }
    }

    fn call(&self, node: &Node, entry: &NodeEntry, names: &LoopNames) -> DocValue {
        let (at, argument) = (node.span.to(entry.value.span), &entry.value);
        let made = |value: HclValue| DocValue::generated(value, at);
        match function(&entry.key).unwrap_or_default() {
            "Ref" => made(self.reference(argument, at, names)),
            "If" => self.choice(argument, at, names),
            "Transform" => made(HclValue::unknown("the value comes from a macro or an included file", at)),
            name => made(self.function(name, argument, at, names)),
        }
    }

    fn choice(&self, argument: &Node, at: Span, names: &LoopNames) -> DocValue {
        let [condition, yes, no] = argument.items() else {
            return DocValue::generated(HclValue::refused("`Fn::If` takes a condition and two values", at), at);
        };
        let holds = match condition.text() {
            Some(name) => self.holds(name, condition.span),
            None => self.truth(condition, names),
        };
        match holds {
            Ok(true) => self.doc(yes, names),
            Ok(false) => self.doc(no, names),
            Err(cause) => {
                let candidates = vec![self.value(yes, names), self.value(no, names)];
                let cause = Cause { candidates, ..Cause::clone(&cause) };
                DocValue::generated(HclValue::because(&Arc::new(cause), at), at)
            }
        }
    }

    /// Returns the value of a name: a loop variable, a parameter, or a resource, whose physical name only AWS knows.
    pub(super) fn named(&self, name: &str, at: Span, names: &LoopNames) -> HclValue {
        if let Some(bound) = names.get(name) {
            return bound.clone();
        }
        if let Some(known) = self.pseudo(name, at).or_else(|| self.parameter(name, at)) {
            return known;
        }
        match self.resource_named(name) {
            Some((entry, _)) => self.computed(&entry.key, "", at),
            None => HclValue::refused(format!("this template has no parameter and no resource `{name}`"), at),
        }
    }

    fn reference(&self, argument: &Node, at: Span, names: &LoopNames) -> HclValue {
        match argument.text() {
            Some(name) => self.named(&self.filled(name, at, names), at, names),
            None => HclValue::refused("`Ref` takes a name", at),
        }
    }

    /// Returns a value that is unknown before the resource is created.
    pub(super) fn computed(&self, name: &str, attribute: &str, at: Span) -> HclValue {
        self.state.computed(&self.address(name), attribute, "the stack is created", at)
    }

    /// Returns pseudo parameters such as `AWS::Region`.
    fn pseudo(&self, name: &str, at: Span) -> Option<HclValue> {
        let given = |value: &Option<HclValue>, what: &str| {
            value
                .clone()
                .unwrap_or_else(|| HclValue::unknown(format!("{what} is unknown before the stack is created"), at))
        };
        Some(match name.strip_prefix("AWS::")? {
            "NoValue" => HclValue::null(at),
            "Region" => given(&self.place.region, "the region"),
            "AccountId" => given(&self.place.account, "the account"),
            "StackName" => given(&self.place.stack_name, "the name of the stack"),
            "Partition" => self.of_region(at, |region| match region.split('-').next() {
                Some("cn") => "aws-cn",
                Some("us") if region.starts_with("us-gov") => "aws-us-gov",
                _ => "aws",
            }),
            "URLSuffix" => self.of_region(at, |region| match region.starts_with("cn-") {
                true => "amazonaws.com.cn",
                false => "amazonaws.com",
            }),
            _ => HclValue::unknown(format!("`{name}` is unknown before the stack is created"), at),
        })
    }

    fn of_region(&self, at: Span, follows: impl Fn(&str) -> &'static str) -> HclValue {
        match self.place.region.as_ref().and_then(HclValue::as_text) {
            Some(region) => HclValue::text(follows(&region), at),
            None => HclValue::unknown("the region is unknown before the stack is created", at),
        }
    }
}

/// Returns a scalar. AWS resolves references to the parameter store or to a secret.
fn scalar(node: &Node, text: &Arc<str>, plain: bool) -> DocValue {
    let at = node.span;
    let value = match (node.text(), node.flag()) {
        (None, _) => HclValue::null(at),
        (_, Some(flag)) => HclValue::bool(flag, at),
        _ if text.contains("{{resolve:") => HclValue::unknown("AWS looks up this value when it creates the stack", at),
        _ => match HclNumber::parse(text).filter(|_| plain) {
            Some(number) => HclValue::number(number, at),
            None => HclValue::text(text.clone(), at),
        },
    };
    DocValue::known(value, true)
}
