//! Evaluates expressions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::languages::hcl::convert::set_of;
use crate::languages::hcl::syntax::{Conditional, Expression, For, HclKind, HclName, ObjectItem, TemplatePart};
use crate::languages::hcl::types::HclType;
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue, ObjectMembers};
use crate::source::Span;
use crate::terraform::code::outline;

use super::operators::{binary, boolean, either, forget_candidates, unary};
use super::{EvaluationBudget, RootEvaluator, Scope, Variable};

impl RootEvaluator<'_> {
    /// Evaluates an expression. The position of the result is the place of the literal.
    pub(in crate::terraform) fn evaluate(&self, expression: &Expression, scope: Scope<'_>) -> HclValue {
        let span = expression.span;
        if let Err(unknown) = self.spend(1, span) {
            return unknown;
        }
        match &expression.kind {
            HclKind::Text(text) => return HclValue::text(text.clone(), span),
            HclKind::Number(number) => return HclValue::number(number.clone(), span),
            HclKind::Bool(flag) => return HclValue::bool(*flag, span),
            HclKind::Null => return HclValue::null(span),
            _ => {}
        }
        match self.budget.deeper(|| self.evaluate_composed(expression, scope)) {
            Ok(value) => value,
            Err(cause) => HclValue::because(&cause, span),
        }
    }

    fn evaluate_composed(&self, expression: &Expression, scope: Scope<'_>) -> HclValue {
        let span = expression.span;
        match &expression.kind {
            HclKind::Template(parts) => self.template(parts, span, scope),
            HclKind::Name(_) => self.traverse(expression, &[], scope),
            HclKind::Traversal(base, steps) => self.traverse(base, steps, scope),
            HclKind::Call(call) => self.call(call, span, scope),
            HclKind::List(items) => {
                self.kept(HclValue::tuple(items.iter().map(|item| self.evaluate(item, scope)).collect(), span))
            }
            HclKind::Object(items) => self.object(items, span, scope),
            HclKind::For(comprehension) => self.comprehension(comprehension, span, scope),
            HclKind::Unary(operator, operand) => unary(*operator, &self.evaluate(operand, scope), span),
            HclKind::Binary(first, rest) => {
                let mut result = self.evaluate(first, scope);
                for (operator, operand) in rest {
                    let operand = self.evaluate(operand, scope);
                    if let Err(unknown) = self.spend(EvaluationBudget::walking(&operand), span) {
                        return unknown;
                    }
                    result = binary(*operator, &result, &operand, span);
                }
                result
            }
            HclKind::Conditional(conditional) => self.conditional(conditional, span, scope),
            HclKind::Parentheses(inner) => self.evaluate(inner, scope),
            HclKind::Invalid => HclValue::unknown("this expression cannot be parsed", span),
            HclKind::Text(_) | HclKind::Number(_) | HclKind::Bool(_) | HclKind::Null => HclValue::null(span),
        }
    }

    /// Returns a new collection, if there is memory for it.
    pub(in crate::terraform) fn kept(&self, value: HclValue) -> HclValue {
        match self.budget.spend_members(&value) {
            Ok(()) => value,
            Err(cause) => HclValue::because(&cause, value.span),
        }
    }

    /// Evaluates `condition ? a : b`. Both arms get their common type. An error in the arm that is not taken does not
    /// count.
    fn conditional(&self, conditional: &Conditional, span: Span, scope: Scope<'_>) -> HclValue {
        let condition = self.evaluate(&conditional.condition, scope);
        let yes = self.evaluate(&conditional.yes, scope);
        let no = self.evaluate(&conditional.no, scope);
        let chosen = boolean(&condition, span);
        let marked = condition.sensitive || yes.sensitive || no.sensitive;
        let open = |value: &HclValue| value.is_null() || value.is_unknown();
        let common = match open(&yes) || open(&no) {
            // If one arm has no type, the other one keeps its type.
            true => Some(HclType::Any),
            false => match self.spend(EvaluationBudget::typing(&yes) + EvaluationBudget::typing(&no), span) {
                Ok(()) => HclType::common([HclType::of(&yes), HclType::of(&no)]),
                Err(unknown) => return unknown,
            },
        };
        let (yes, no) = match common {
            Some(common) => (common.convert(&yes), common.convert(&no)),
            None if yes.any_refused() || no.any_refused() => (yes, no),
            None => {
                return HclValue::refused("the two values of this conditional expression have no common type", span);
            }
        };
        let result = match chosen {
            Ok(true) => yes,
            Ok(false) => no,
            Err(unknown) => either(&unknown, yes, no, span),
        };
        result.marked(marked)
    }

    fn object(&self, items: &[ObjectItem], span: Span, scope: Scope<'_>) -> HclValue {
        let mut entries = ObjectMembers::default();
        for item in items {
            let key = match &item.key.kind {
                HclKind::Name(name) => HclValue::text(name.clone(), item.key.span),
                _ => self.evaluate(&item.key, scope),
            };
            let value = self.evaluate(&item.value, scope);
            match self.key(&key) {
                Ok(key) => drop(entries.known.insert(key, value)),
                Err(cause) => entries.rest = Some(cause),
            }
        }
        self.kept(HclValue::object(entries, span))
    }

    /// Converts a value to the key of an object.
    fn key(&self, key: &HclValue) -> Result<Arc<str>, Arc<Cause>> {
        match (&key.data, key.as_text()) {
            (HclData::Text(text), _) => Ok(text.clone()),
            (_, Some(text)) => Ok(text.into()),
            (HclData::Unknown(cause), None) => Err(forget_candidates(cause)),
            _ => Err(Arc::new(Cause { refused: true, ..Cause::new("this cannot be the key of an object", key.span) })),
        }
    }

    fn comprehension(&self, comprehension: &For, span: Span, scope: Scope<'_>) -> HclValue {
        let collection = self.evaluate(&comprehension.collection, scope);
        let members = match self.members(&collection, span) {
            Ok(members) => members,
            Err(unknown) => return unknown,
        };
        let rest = collection.entries().and_then(|entries| entries.rest.clone());
        let marked = collection.sensitive;
        let mut gathered = Gathered { rest, ..Gathered::default() };
        for (key, value) in members {
            let names = [comprehension.key_name.as_ref(), Some(&comprehension.value_name)];
            self.in_loop(names, key, value, scope, |scope| self.gather(comprehension, scope, &mut gathered));
        }
        self.kept(gathered.finish(comprehension, span)).marked(marked)
    }

    /// Runs `work` with the variables of a loop.
    fn in_loop(
        &self,
        names: [Option<&HclName>; 2],
        key: HclValue,
        value: HclValue,
        scope: Scope<'_>,
        work: impl FnOnce(Scope<'_>),
    ) {
        let [key_name, value_name] = names.map(|name| name.map_or("", |name| &*name.text));
        let key = Variable { name: key_name, value: key, outer: scope.variables };
        let value = Variable { name: value_name, value, outer: Some(&key) };
        work(scope.with(&value));
    }

    fn gather(&self, comprehension: &For, scope: Scope<'_>, gathered: &mut Gathered) {
        if let Some(condition) = &comprehension.condition {
            match boolean(&self.evaluate(condition, scope), condition.span) {
                Ok(true) => {}
                Ok(false) => return,
                Err(unknown) => {
                    gathered.rest = unknown.cause().cloned();
                    return;
                }
            }
        }
        let value = self.evaluate(&comprehension.value, scope);
        let Some(key) = &comprehension.key else {
            gathered.list.push(value);
            return;
        };
        match self.key(&self.evaluate(key, scope)) {
            Err(cause) => gathered.rest = Some(cause),
            Ok(key) if comprehension.group => gathered.groups.entry(key).or_default().push(value),
            Ok(name) => {
                if gathered.entries.insert(name.clone(), value).is_some() {
                    gathered.twice = Some((name, key.span));
                }
            }
        }
    }

    fn template(&self, parts: &[TemplatePart], span: Span, scope: Scope<'_>) -> HclValue {
        if let [TemplatePart::Interpolation(only)] = parts {
            return self.evaluate(only, scope);
        }
        let lines = parts.iter().any(|part| matches!(part, TemplatePart::Literal(text) if text.contains('\n')));
        let json = matches!(parts, [TemplatePart::Literal(text), ..] if text.trim_start().starts_with(['{', '[']));
        let mut rendered = Rendered { outlined: lines || json, ..Rendered::default() };
        self.render(parts, scope, &mut rendered);
        let value = match rendered.unknown {
            Some(cause) => {
                let outline = rendered.outlined.then(|| rendered.text.into());
                let cause = Cause { candidates: Vec::new(), outline, ..Cause::clone(&cause) };
                HclValue::new(HclData::Unknown(Arc::new(cause)), span)
            }
            None => HclValue::text(rendered.text, span),
        };
        value.marked(rendered.sensitive)
    }

    /// Appends the results of the parts, and stops at the first unknown part, unless a placeholder can replace it in a
    /// multi-line string.
    fn render(&self, parts: &[TemplatePart], scope: Scope<'_>, into: &mut Rendered) {
        for part in parts {
            if into.unknown.is_some() && !into.outlined {
                return;
            }
            match part {
                TemplatePart::Literal(text) => self.append(text, into),
                TemplatePart::Interpolation(expression) => {
                    let value = self.evaluate(expression, scope);
                    into.sensitive |= value.sensitive;
                    match (&value.data, value.as_text()) {
                        (HclData::Unknown(cause), _) => self.leave_hole(cause, expression.span, into),
                        (_, Some(text)) => {
                            // An outline is not secret.
                            into.outlined &= !value.sensitive;
                            self.append(&text, into);
                        }
                        _ => into.refuse("a template cannot contain this value", expression.span),
                    }
                }
                TemplatePart::If { condition, yes, no } => {
                    let value = self.evaluate(condition, scope);
                    into.sensitive |= value.sensitive;
                    match boolean(&value, condition.span) {
                        Ok(true) => self.render(yes, scope, into),
                        Ok(false) => self.render(no, scope, into),
                        Err(unknown) => into.stop(unknown.cause().cloned()),
                    }
                }
                TemplatePart::For { key_name, value_name, collection, body } => {
                    let value = self.evaluate(collection, scope);
                    into.sensitive |= value.sensitive;
                    match self.members(&value, collection.span) {
                        Ok(members) => {
                            for (key, value) in members {
                                if into.unknown.is_some() && !into.outlined {
                                    return;
                                }
                                let names = [key_name.as_ref(), Some(value_name)];
                                self.in_loop(names, key, value, scope, |scope| self.render(body, scope, into));
                            }
                            if let Some(rest) = value.entries().and_then(|entries| entries.rest.clone()) {
                                into.stop(Some(rest));
                            }
                        }
                        Err(unknown) => into.stop(unknown.cause().cloned()),
                    }
                }
            }
        }
    }

    fn append(&self, text: &str, into: &mut Rendered) {
        match self.budget.spend_bytes(text.len()) {
            Ok(()) => into.text.push_str(text),
            Err(cause) => into.stop(Some(cause)),
        }
    }

    /// Adds a placeholder for an unknown part. The first cause is the one that is reported.
    fn leave_hole(&self, cause: &Arc<Cause>, span: Span, into: &mut Rendered) {
        if into.outlined {
            self.append(&outline::placeholder(self.sources, span), into);
        }
        into.unknown.get_or_insert_with(|| cause.clone());
    }
}

/// The result of a template's parts so far.
#[derive(Default)]
struct Rendered {
    text: String,
    sensitive: bool,
    unknown: Option<Arc<Cause>>,
    /// True if an outline is useful after an unknown part.
    outlined: bool,
}

impl Rendered {
    /// Stops the outline, because the rest of the lines is unknown.
    fn stop(&mut self, cause: Option<Arc<Cause>>) {
        self.outlined = false;
        if self.unknown.is_none() {
            self.unknown = cause;
        }
    }

    fn refuse(&mut self, why: &str, span: Span) {
        self.stop(Some(Arc::new(Cause { refused: true, ..Cause::new(why, span) })));
    }
}

/// The result of a `for` so far.
#[derive(Default)]
struct Gathered {
    list: Vec<HclValue>,
    entries: BTreeMap<Arc<str>, HclValue>,
    groups: BTreeMap<Arc<str>, Vec<HclValue>>,
    /// The reason why there may be more elements.
    rest: Option<Arc<Cause>>,
    twice: Option<(Arc<str>, Span)>,
}

impl Gathered {
    fn finish(self, comprehension: &For, span: Span) -> HclValue {
        if let Some((key, at)) = self.twice {
            return HclValue::refused(format!("two elements have the key `{key}`"), at);
        }
        match (&comprehension.key, self.rest) {
            (None, None) => HclValue::tuple(self.list, span),
            (None, Some(rest)) => HclValue::because(&rest, span),
            (Some(_), rest) => {
                let groups = self.groups.into_iter().map(|(key, values)| (key, HclValue::tuple(values, span)));
                let known = self.entries.into_iter().chain(groups).collect();
                HclValue::object(ObjectMembers { known, rest }, span)
            }
        }
    }
}

impl RootEvaluator<'_> {
    /// Returns keys and values as `for` and `dynamic` use them. Each member costs one step.
    pub(super) fn members(&self, collection: &HclValue, span: Span) -> Result<Vec<(HclValue, HclValue)>, HclValue> {
        self.spend(collection.members() as u64, span)?;
        members(collection, span)
    }
}

fn members(collection: &HclValue, span: Span) -> Result<Vec<(HclValue, HclValue)>, HclValue> {
    let marked = collection.sensitive;
    Ok(match &collection.data {
        HclData::List(items) | HclData::Tuple(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                (HclValue::number(HclNumber::counted(index), item.span).marked(marked), item.clone().marked(marked))
            })
            .collect(),
        HclData::Set(items) => items.iter().map(|item| (item.clone(), item.clone().marked(marked))).collect(),
        HclData::Map(entries) | HclData::Object(entries) => entries
            .iter()
            .map(|(key, item)| (HclValue::text(key.clone(), item.span).marked(marked), item.clone().marked(marked)))
            .collect(),
        HclData::Unknown(cause) => return Err(HclValue::because(&forget_candidates(cause), span)),
        HclData::Null => return Err(HclValue::refused("`for` cannot iterate over null", span)),
        _ => return Err(HclValue::refused("`for` can only iterate over a collection", span)),
    })
}

/// Returns a set of these items.
pub(in crate::terraform) fn set(items: Vec<HclValue>, span: Span) -> HclValue {
    HclValue::new(HclData::Set(Arc::new(set_of(items))), span)
}
