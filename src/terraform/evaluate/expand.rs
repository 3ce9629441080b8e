//! Expands a block to the instances of `count` and `for_each`.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::languages::hcl::convert::equal;
use crate::languages::hcl::syntax::Body;
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue, ObjectMembers};
use crate::source::Span;
use crate::terraform::border::{Fact, Range, UnknownFact};

use super::operators::forget_candidates;
use super::{Repetition, RootEvaluator, Scope};

/// The maximum number of instances of one block that are evaluated separately. With `count`, a larger number becomes
/// one block with a number. With `for_each`, only the instances beyond the limit do.
const INSTANCES: usize = 2_000;

/// The instances of a block by `count` or `for_each`.
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
    /// The suffix of the address: `[0]`, `["a"]` or empty.
    pub(super) suffix: String,
    pub(super) repetition: Repetition,
    /// The number of instances that this one represents.
    pub(super) number: Fact<Range>,
}

impl Repeated {
    /// Returns the key of the instance in references; `None` if it is unknown.
    pub(super) fn key(&self) -> Option<&HclValue> {
        match &self.repetition {
            Repetition::Count(key) | Repetition::Each { key, .. } if !self.suffix.is_empty() => Some(key),
            _ => None,
        }
    }

    fn unknown(cause: &Arc<Cause>, span: Span, repetition: Repetition) -> Self {
        let candidates = cause.candidates.iter().filter_map(number_of).map(|n| Range::exactly(n as f64)).collect();
        let number = Fact::Unknown(UnknownFact { span, why: cause.why.as_str().into(), candidates });
        Repeated { suffix: String::new(), repetition, number }
    }
}

/// Returns the number of instances for a value of `count` or `for_each`.
fn number_of(value: &HclValue) -> Option<usize> {
    match &value.data {
        HclData::Number(number) => number.as_usize(),
        HclData::Map(entries) | HclData::Object(entries) if entries.rest.is_none() => Some(entries.len()),
        HclData::Set(_) | HclData::List(_) | HclData::Tuple(_) => Some(value.items().len()),
        _ => None,
    }
}

impl RootEvaluator<'_> {
    pub(super) fn expand(&self, body: &Body, header: Span, scope: Scope<'_>) -> Expansion {
        if let Some(count) = body.attribute("count") {
            let span = count.span();
            let value = self.evaluate(&count.expression, scope);
            let instances = counted(&value, span);
            if let [Repeated { number: Fact::Known(number), repetition: Repetition::UnknownCount(cause), .. }] =
                instances.as_slice()
                && number.value.expected > INSTANCES as f64
            {
                self.report(Diagnostic::note(cause.why.clone(), span));
            }
            return Expansion { kind: ExpansionKind::Count, instances };
        }
        if let Some(for_each) = body.attribute("for_each") {
            let span = for_each.span();
            let value = self.evaluate(&for_each.expression, scope);
            let instances = each(&value, span);
            if value.members() > INSTANCES
                && let Some(Repeated { number: Fact::Known(number), .. }) = instances.last()
            {
                let number = number.value.expected;
                let message = format!(
                    "gpulint evaluates the last {number} of these instances as one: the limit is {INSTANCES} separate instances"
                );
                self.report(Diagnostic::note(message, span));
            }
            return Expansion { kind: ExpansionKind::Each, instances };
        }
        let number = Fact::written(Range::exactly(1.0), header);
        let single = Repeated { suffix: String::new(), repetition: Repetition::Single, number };
        Expansion { kind: ExpansionKind::Single, instances: vec![single] }
    }
}

fn counted(value: &HclValue, span: Span) -> Vec<Repeated> {
    let number = match (&value.data, value.as_number()) {
        (HclData::Unknown(cause), _) => {
            let index = Repetition::UnknownCount(forget_candidates(cause));
            let mut unknown = Repeated::unknown(cause, span, index);
            // With `condition ? 1 : 0`, an existing instance has this index.
            let numbers: Vec<Option<usize>> = cause.candidates.iter().map(number_of).collect();
            if numbers.contains(&Some(1)) && numbers.iter().all(|number| matches!(number, Some(0 | 1))) {
                unknown.suffix = "[0]".to_owned();
            }
            return vec![unknown];
        }
        (_, Some(number)) if number.is_integer() && !number.is_negative() => number,
        _ => {
            let cause =
                Arc::new(Cause { refused: true, ..Cause::new("`count` is not a whole number of at least 0", span) });
            return vec![Repeated::unknown(&cause, span, Repetition::UnknownCount(cause.clone()))];
        }
    };
    let one = |index: usize| Repeated {
        suffix: format!("[{index}]"),
        repetition: Repetition::Count(HclValue::number(HclNumber::counted(index), value.span)),
        number: Fact::written(Range::exactly(1.0), span),
    };
    match number.as_usize() {
        Some(n) if n <= INSTANCES => (0..n).map(one).collect(),
        _ => {
            let cause = Arc::new(Cause::new(format!("gpulint evaluates {number} instances as one"), span));
            vec![Repeated {
                suffix: String::new(),
                repetition: Repetition::UnknownCount(cause),
                number: Fact::written(Range::exactly(number.as_f64()), span),
            }]
        }
    }
}

fn each(value: &HclValue, span: Span) -> Vec<Repeated> {
    let one = |key: HclValue, value: HclValue| Repeated {
        suffix: format!("[{}]", quoted(&key.as_text().unwrap_or_default())),
        repetition: Repetition::Each { key, value },
        number: Fact::written(Range::exactly(1.0), span),
    };
    match &value.data {
        HclData::Map(entries) | HclData::Object(entries) => {
            let known =
                entries.iter().map(|(key, member)| one(HclValue::text(key.clone(), member.span), member.clone()));
            let mut result: Vec<Repeated> = known.take(INSTANCES).collect();
            result.extend(beyond(entries.known.values().skip(INSTANCES), span));
            if let Some(cause) = &entries.rest {
                result.push(Repeated::unknown(cause, span, unknown_each(cause, span)));
            }
            result
        }
        HclData::Set(items) if items.iter().all(|item| matches!(item.data, HclData::Text(_))) => {
            let known = items.iter().take(INSTANCES).map(|item| one(item.clone(), item.clone()));
            known.chain(beyond(items.iter().skip(INSTANCES), span)).collect()
        }
        HclData::Unknown(cause) => {
            vec![Repeated::unknown(cause, span, unknown_each(&forget_candidates(cause), span))]
        }
        _ => {
            let unknown_member = value.items().iter().find_map(HclValue::cause).cloned();
            let cause = unknown_member.unwrap_or_else(|| {
                let why = "`for_each` is neither a map nor a set of strings";
                Arc::new(Cause { refused: true, ..Cause::new(why, span) })
            });
            let mut unknown = Repeated::unknown(&cause, span, unknown_each(&forget_candidates(&cause), span));
            if let (HclData::Set(items), Fact::Unknown(number)) = (&value.data, &mut unknown.number) {
                number.candidates = vec![Range::exactly(items.len() as f64)];
            }
            vec![unknown]
        }
    }
}

fn unknown_each(cause: &Arc<Cause>, span: Span) -> Repetition {
    Repetition::UnknownEach { cause: cause.clone(), value: HclValue::because(cause, span) }
}

/// Returns one instance for all members beyond the limit. Its number is exact, and it has the values that these members
/// share.
fn beyond<'v>(members: impl Iterator<Item = &'v HclValue>, span: Span) -> Option<Repeated> {
    let members: Vec<&HclValue> = members.collect();
    let (first, rest) = members.split_first()?;
    let cause = Arc::new(Cause::new(format!("gpulint evaluates {} instances as one", members.len()), span));
    let value = rest.iter().fold(HclValue::clone(first), |common, other| in_common(common, other, &cause, span));
    let repetition = Repetition::UnknownEach { cause, value };
    let number = Fact::written(Range::exactly(members.len() as f64), span);
    Some(Repeated { suffix: String::new(), repetition, number })
}

/// Combines two values: members of objects on which both agree are known.
fn in_common(a: HclValue, b: &HclValue, cause: &Arc<Cause>, span: Span) -> HclValue {
    if equal(&a, b) == Some(true) {
        return a;
    }
    match (&a.data, &b.data) {
        (HclData::Object(x), HclData::Object(y)) if x.known.keys().eq(y.known.keys()) => {
            let pairs = x.iter().zip(y.known.values());
            let known = pairs.map(|((key, x), y)| (key.clone(), in_common(x.clone(), y, cause, span))).collect();
            a.with(HclData::Object(Arc::new(ObjectMembers { known, rest: x.rest.clone().or_else(|| y.rest.clone()) })))
        }
        _ => HclValue::because(cause, span).marked(a.sensitive || b.sensitive),
    }
}

/// Quotes a key in an address like Terraform.
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
