//! Evaluates expressions to values.

use std::sync::Arc;

use crate::languages::document::{DocData, DocValue, joined};
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue};
use crate::source::Span;

use super::deployment::AzureDeployment;
use super::functions;
use super::syntax::{AzureEntry, AzureExpr, AzureKind, AzureLoop};

/// Members in the order of the file.
type DocMembers = Vec<(Arc<str>, DocValue)>;

/// The meaning of names within loops and functions.
#[derive(Debug, Clone, Default)]
pub(super) struct AzureNames {
    bound: Vec<(Arc<str>, HclValue)>,
    /// The current index of each surrounding loop, with the loop's name.
    turns: Vec<(Option<Arc<str>>, HclValue)>,
    /// Whether this is a user-defined function, which sees only its parameters.
    pub(super) in_function: bool,
    /// The reason why this iteration may not exist.
    pub(super) doubt: Option<Arc<Cause>>,
}

impl AzureNames {
    pub(super) fn bind(&mut self, name: &Arc<str>, value: HclValue) {
        self.bound.push((name.clone(), value));
    }

    pub(super) fn get(&self, name: &str) -> Option<&HclValue> {
        self.bound.iter().rev().find(|(bound, _)| bound.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the current index of the named loop, or of the closest one.
    pub(super) fn turn(&self, name: Option<&str>) -> Option<&HclValue> {
        let is_it = |turn: &&(Option<Arc<str>>, HclValue)| {
            name.is_none_or(|name| turn.0.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(name)))
        };
        self.turns.iter().rev().find(is_it).map(|(_, number)| number)
    }
}

/// Minimum cost of an iteration, because nested lists can have any number of them.
const TURN: u64 = 20;

impl AzureDeployment<'_> {
    pub(super) fn value(&self, expr: &AzureExpr, names: &AzureNames) -> HclValue {
        self.doc(expr, names).value()
    }

    pub(super) fn doc(&self, expr: &AzureExpr, names: &AzureNames) -> DocValue {
        let at = expr.span;
        if let Err(unknown) = self.state.arrive(at) {
            return DocValue::generated(unknown, at);
        }
        let made = self.state.deeper(|| self.evaluate_expr(expr, names));
        made.unwrap_or_else(|| {
            DocValue::generated(HclValue::unknown("the values refer to each other without end", at), at)
        })
    }

    fn evaluate_expr(&self, expr: &AzureExpr, names: &AzureNames) -> DocValue {
        let at = expr.span;
        let whole = |data| DocValue { key: at, at, literal: true, data };
        match &expr.kind {
            AzureKind::Null => DocValue::known(HclValue::null(at), true),
            AzureKind::Bool(flag) => DocValue::known(HclValue::bool(*flag, at), true),
            AzureKind::Number(number) => DocValue::known(HclValue::number(number.clone(), at), true),
            AzureKind::Text(text) => DocValue::known(HclValue::text(text.clone(), at), true),
            AzureKind::List(items) => self.list(items, at, names),
            AzureKind::Object(entries) => {
                let (all, rest) = self.members(entries, names);
                whole(DocData::Map(all, rest))
            }
            AzureKind::Loop(header, body) => self.looped(header, body, at, names),
            AzureKind::Call(name, arguments) if &**name == "if" => self.choice(arguments, at, names),
            _ => {
                let value = self.computed_value(expr, names);
                match self.state.pay_members(&value, at) {
                    Ok(()) => DocValue::spread_out(value, at),
                    Err(unknown) => DocValue::generated(unknown, at),
                }
            }
        }
    }

    fn list(&self, items: &[AzureExpr], at: Span, names: &AzureNames) -> DocValue {
        let mut all = Vec::new();
        for item in items {
            let AzureKind::Spread(inner) = &item.kind else {
                all.push(self.doc(item, names));
                continue;
            };
            match self.doc(inner, names).data {
                DocData::List(items) => all.extend(items),
                DocData::Value(value) if value.is_unknown() => return DocValue::generated(value, at),
                _ => {}
            }
        }
        DocValue { key: at, at, literal: true, data: DocData::List(all) }
    }

    fn members(&self, entries: &[AzureEntry], names: &AzureNames) -> (DocMembers, Option<Arc<Cause>>) {
        let (mut all, mut rest) = (DocMembers::new(), None);
        for entry in entries {
            if let AzureKind::Spread(inner) = &entry.value.kind {
                match self.doc(inner, names).data {
                    DocData::Map(members, more) => {
                        let compared = all.len().saturating_mul(members.len()) as u64;
                        if let Err(unknown) = self.state.pay_steps(compared / 16, entry.value.span) {
                            return (all, rest.or(unknown.cause().cloned()));
                        }
                        all.retain(|(key, _)| !members.iter().any(|(other, _)| other == key));
                        all.extend(members);
                        rest = rest.or(more);
                    }
                    DocData::Value(value) => rest = rest.or(value.cause().cloned()),
                    DocData::List(_) => {}
                }
                continue;
            }
            let key = self.value(&entry.key, names);
            match key.as_text() {
                Some(key) => all.push(((*key).into(), self.doc(&entry.value, names).named(entry.key.span))),
                None => rest = rest.or(key.cause().cloned()),
            }
        }
        (all, rest)
    }

    /// Returns one of two values, or an unknown value with both as candidates.
    fn choice(&self, arguments: &[AzureExpr], at: Span, names: &AzureNames) -> DocValue {
        let [condition, yes, no] = arguments else {
            return DocValue::generated(HclValue::refused("`if` takes a condition and two values", at), at);
        };
        let holds = self.value(condition, names);
        match holds.as_bool() {
            Some(true) => self.doc(yes, names),
            Some(false) => self.doc(no, names),
            None => {
                let why = holds.cause().cloned().unwrap_or_else(|| Arc::new(Cause::new("this is not a condition", at)));
                let candidates = vec![self.value(yes, names), self.value(no, names)];
                DocValue::generated(HclValue::because(&Arc::new(Cause { candidates, ..Cause::clone(&why) }), at), at)
            }
        }
    }

    fn looped(&self, header: &Arc<AzureLoop>, body: &AzureExpr, at: Span, names: &AzureNames) -> DocValue {
        let mut all = Vec::new();
        for turn in self.turns(header, names) {
            if let Some(cause) = &turn.doubt {
                return DocValue::generated(HclValue::because(cause, at), at);
            }
            all.push(self.doc(body, &turn));
        }
        DocValue { key: at, at, literal: true, data: DocData::List(all) }
    }

    /// Returns the meaning of names in each iteration. If their number is unknown, returns one iteration that may not
    /// exist.
    pub(super) fn turns(&self, header: &AzureLoop, names: &AzureNames) -> Vec<AzureNames> {
        let over = self.value(&header.over, names);
        let (count, members) = match (&over.data, over.as_number().and_then(|it| it.as_usize())) {
            (HclData::Number(_) | HclData::Text(_), Some(count)) => (count, None),
            (HclData::List(items) | HclData::Set(items) | HclData::Tuple(items), _) => (items.len(), Some(items)),
            _ => {
                let why = || Arc::new(Cause::new("the number of iterations is unknown", header.over.span));
                return vec![self.doubtful(header, names, &over.cause().cloned().unwrap_or_else(why))];
            }
        };
        let mut all = Vec::new();
        for number in 0..count {
            if !self.state.spend(TURN) {
                break;
            }
            let at = header.over.span;
            let mut inner = names.clone();
            let place = HclValue::number(HclNumber::counted(number), at);
            if let Some(item) = &header.item {
                inner.bind(item, members.and_then(|it| it.get(number)).cloned().unwrap_or_else(|| place.clone()));
            }
            if let Some(index) = &header.index {
                inner.bind(index, place.clone());
            }
            inner.turns.push((header.name.clone(), place));
            if self.is_left_out(header, &mut inner) {
                continue;
            }
            all.push(inner);
        }
        all
    }

    fn is_left_out(&self, header: &AzureLoop, inner: &mut AzureNames) -> bool {
        let Some(filter) = &header.filter else { return false };
        let holds = self.value(filter, inner);
        match holds.as_bool() {
            Some(holds) => !holds,
            None => {
                inner.doubt = inner.doubt.take().or_else(|| holds.cause().cloned());
                false
            }
        }
    }

    fn doubtful(&self, header: &AzureLoop, names: &AzureNames, cause: &Arc<Cause>) -> AzureNames {
        let mut inner = names.clone();
        let unknown = HclValue::because(cause, header.over.span);
        header.item.iter().chain(&header.index).for_each(|name| inner.bind(name, unknown.clone()));
        inner.turns.push((header.name.clone(), unknown));
        inner.doubt = Some(cause.clone());
        inner
    }

    fn computed_value(&self, expr: &AzureExpr, names: &AzureNames) -> HclValue {
        let at = expr.span;
        match &expr.kind {
            AzureKind::Filled(parts) => {
                let parts: Vec<HclValue> =
                    parts.iter().map(|part| functions::shown(&self.state, self.value(part, names))).collect();
                joined(&self.state, &parts, "", at)
            }
            AzureKind::Name(name) => self.named(name, at, names),
            AzureKind::At(of, key, safe) => self.member(expr, of, key, *safe, names),
            AzureKind::Call(name, arguments) => self.call(name, arguments, at, names),
            AzureKind::Refused(why) => HclValue::refused(why.as_str(), at),
            AzureKind::Lambda(..) => HclValue::refused("a function is used as a value", at),
            _ => self.value(expr, names),
        }
    }

    /// Returns the value of a name in Bicep.
    fn named(&self, name: &str, at: Span, names: &AzureNames) -> HclValue {
        if let Some(bound) = names.get(name) {
            return bound.clone();
        }
        let known = self.parameter(name, at).or_else(|| self.variable(name, at));
        known
            .or_else(|| self.whole_resource(name, at))
            .unwrap_or_else(|| HclValue::refused(format!("`{name}` is not defined here"), at))
    }

    fn member(&self, whole: &AzureExpr, of: &AzureExpr, key: &AzureExpr, safe: bool, names: &AzureNames) -> HclValue {
        let at = whole.span;
        if let Some(known) = self.of_resource(whole, names) {
            return known;
        }
        let (of, key) = (self.value(of, names), self.value(key, names));
        if safe && of.is_null() {
            return of;
        }
        let absent = |what: String| if safe { HclValue::null(at) } else { HclValue::refused(what, at) };
        functions::member(&of, &key, at).unwrap_or_else(|| absent(format!("there is no member {}", shown(&key))))
    }

    /// Calls a user-defined function.
    pub(super) fn own_function(&self, name: &str, arguments: &[HclValue]) -> Option<HclValue> {
        let function = self.template.functions.iter().find(|it| &*it.name == name)?;
        let mut names = AzureNames { in_function: true, ..AzureNames::default() };
        for (name, value) in function.parameters.iter().zip(arguments) {
            names.bind(name, value.clone());
        }
        // A function must not call itself, but a file may contain such a call.
        let depth = self.calls.get();
        if depth >= DEEPEST_CALL {
            return Some(HclValue::refused(format!("`{name}` calls itself"), function.body.span));
        }
        self.calls.set(depth + 1);
        let value = self.value(&function.body, &names);
        self.calls.set(depth);
        Some(value)
    }

    /// Applies a lambda function to values.
    pub(super) fn apply(&self, lambda: &AzureExpr, arguments: &[HclValue], names: &AzureNames) -> HclValue {
        let AzureKind::Lambda(parameters, body) = &lambda.kind else {
            return HclValue::refused("this function takes a lambda function", lambda.span);
        };
        if let Err(unknown) = self.state.pay_steps(TURN, lambda.span) {
            return unknown;
        }
        let mut inner = names.clone();
        parameters.iter().zip(arguments).for_each(|(name, value)| inner.bind(name, value.clone()));
        self.value(body, &inner)
    }
}

/// The limit on nested function calls.
const DEEPEST_CALL: usize = 24;

fn shown(key: &HclValue) -> String {
    key.as_text().map_or_else(|| "the value is unknown".to_owned(), |it| format!("`{it}`"))
}
