use std::sync::Arc;

use crate::inventory::{Fact, Range, Unknown};
use crate::source::Span;
use crate::terraform::syntax::Body;
use crate::terraform::value::{Cause, Data, Number, Value};

use super::operators::forget_candidates;
use super::{Evaluator, Repetition, Scope};

/// More instances than this of one block are one evaluated block with a number.
const INSTANCES: usize = 2_000;

/// The instances that `count` or `for_each` make of a block.
#[derive(Debug, Clone)]
pub(super) struct Expansion {
    pub(super) kind: ExpansionKind,
    pub(super) instances: Vec<Repeated>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ExpansionKind {
    Single,
    Count,
    Each,
}

#[derive(Debug, Clone)]
pub(super) struct Repeated {
    /// `[0]`, `["a"]` or nothing.
    pub(super) suffix: String,
    pub(super) repetition: Repetition,
    /// How many this one stands for.
    pub(super) number: Fact<Range>,
}

impl Repeated {
    /// The member of the collection that a reference sees; none where it is not known which one this is.
    pub(super) fn key(&self) -> Option<&Value> {
        match &self.repetition {
            Repetition::Count(key) | Repetition::Each { key, .. } if !self.suffix.is_empty() => Some(key),
            _ => None,
        }
    }

    fn unknown(cause: &Arc<Cause>, span: Span, repetition: Repetition) -> Self {
        let candidates = cause.candidates.iter().filter_map(number_of).map(|n| Range::exactly(n as f64)).collect();
        let number = Fact::Unknown(Unknown { span, why: cause.why.as_str().into(), candidates });
        Repeated { suffix: String::new(), repetition, number }
    }
}

/// How many instances a value of `count` or `for_each` makes.
fn number_of(value: &Value) -> Option<usize> {
    match &value.data {
        Data::Number(number) => number.as_usize(),
        Data::Map(entries) | Data::Object(entries) if entries.rest.is_none() => Some(entries.len()),
        Data::Set(_) | Data::List(_) | Data::Tuple(_) => Some(value.items().len()),
        _ => None,
    }
}

impl Evaluator<'_> {
    pub(super) fn expand(&self, body: &Body, header: Span, scope: Scope<'_>) -> Expansion {
        if let Some(count) = body.attribute("count") {
            let span = count.span();
            let value = self.evaluate(&count.expression, scope);
            return Expansion { kind: ExpansionKind::Count, instances: counted(&value, span) };
        }
        if let Some(for_each) = body.attribute("for_each") {
            let span = for_each.span();
            let value = self.evaluate(&for_each.expression, scope);
            return Expansion { kind: ExpansionKind::Each, instances: each(&value, span) };
        }
        let number = Fact::written(Range::exactly(1.0), header);
        let single = Repeated { suffix: String::new(), repetition: Repetition::Single, number };
        Expansion { kind: ExpansionKind::Single, instances: vec![single] }
    }
}

fn counted(value: &Value, span: Span) -> Vec<Repeated> {
    let number = match (&value.data, value.as_number()) {
        (Data::Unknown(cause), _) => {
            let index = Repetition::UnknownCount(forget_candidates(cause));
            return vec![Repeated::unknown(cause, span, index)];
        }
        (_, Some(number)) if number.is_integer() && !number.is_negative() => number,
        _ => {
            let cause = Arc::new(Cause { refused: true, ..Cause::new("`count` is no natural number", span) });
            return vec![Repeated::unknown(&cause, span, Repetition::UnknownCount(cause.clone()))];
        }
    };
    let one = |index: usize| Repeated {
        suffix: format!("[{index}]"),
        repetition: Repetition::Count(Value::number(Number::counted(index), value.span)),
        number: Fact::written(Range::exactly(1.0), span),
    };
    match number.as_usize() {
        Some(n) if n <= INSTANCES => (0..n).map(one).collect(),
        _ => {
            let cause = Arc::new(Cause::new(format!("{number} instances are evaluated as one"), span));
            vec![Repeated {
                suffix: String::new(),
                repetition: Repetition::UnknownCount(cause),
                number: Fact::written(Range::exactly(number.as_f64()), span),
            }]
        }
    }
}

fn each(value: &Value, span: Span) -> Vec<Repeated> {
    let one = |key: Value, value: Value| Repeated {
        suffix: format!("[{}]", quoted(&key.as_text().unwrap_or_default())),
        repetition: Repetition::Each { key, value },
        number: Fact::written(Range::exactly(1.0), span),
    };
    match &value.data {
        Data::Map(entries) | Data::Object(entries) => {
            let known = entries.iter().map(|(key, member)| one(Value::text(key.clone(), member.span), member.clone()));
            let mut result: Vec<Repeated> = known.take(INSTANCES).collect();
            if let Some(cause) = &entries.rest {
                result.push(Repeated::unknown(cause, span, Repetition::UnknownEach(cause.clone())));
            }
            result
        }
        Data::Set(items) if items.iter().all(|item| matches!(item.data, Data::Text(_))) => {
            items.iter().take(INSTANCES).map(|item| one(item.clone(), item.clone())).collect()
        }
        Data::Unknown(cause) => {
            vec![Repeated::unknown(cause, span, Repetition::UnknownEach(forget_candidates(cause)))]
        }
        _ => {
            let unknown_member = value.items().iter().find_map(Value::cause).cloned();
            let cause = unknown_member.unwrap_or_else(|| {
                let why = "`for_each` is neither a map nor a set of strings";
                Arc::new(Cause { refused: true, ..Cause::new(why, span) })
            });
            let mut unknown = Repeated::unknown(&cause, span, Repetition::UnknownEach(forget_candidates(&cause)));
            if let (Data::Set(items), Fact::Unknown(number)) = (&value.data, &mut unknown.number) {
                number.candidates = vec![Range::exactly(items.len() as f64)];
            }
            vec![unknown]
        }
    }
}

/// A key in an address, as Terraform prints it.
fn quoted(key: &str) -> String {
    let mut text = String::with_capacity(key.len() + 2);
    text.push('"');
    let mut chars = key.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '$' | '%' if chars.peek() == Some(&'{') => {
                text.push(c);
                text.push(c);
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
