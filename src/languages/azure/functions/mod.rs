//! Implements functions of templates and of Bicep.
//!
//! Most depend only on their arguments. If an argument is unknown, the result is unknown. If an argument has
//! candidates, the result has a candidate for each.

mod collections;
mod numbers;
mod resources;
mod texts;

use std::sync::Arc;

use crate::languages::document::{EvaluationState, as_json_text, joined, longest, pay_for_arguments};
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue};
use crate::source::Span;

use super::deployment::AzureDeployment;
use super::evaluate::AzureNames;
use super::syntax::{AzureExpr, AzureKind};

pub(super) use collections::member;

/// The limit on candidates, beyond which they are of no use.
const MOST_CANDIDATES: usize = 16;

/// The result of a function; `None` if the arguments are invalid.
type Made = Option<HclValue>;

impl AzureDeployment<'_> {
    pub(super) fn call(&self, name: &str, arguments: &[AzureExpr], at: Span, names: &AzureNames) -> HclValue {
        let value = |place: usize| arguments.get(place).map(|it| self.value(it, names));
        match name {
            "parameters" | "variables" | "lambdavariables" => self.looked_up(name, value(0), at, names),
            "copyindex" => self.turn_number(arguments, at, names),
            "and" | "or" => all(arguments.iter().map(|it| self.value(it, names)), name == "or", at),
            "coalesce" => self.coalesced(arguments, at, names),
            "map" | "filter" | "reduce" | "sort" | "toobject" | "mapvalues" | "groupby" => {
                self.of_function(name, arguments, at, names)
            }
            "loadtextcontent" | "loadjsoncontent" | "loadyamlcontent" | "loadfileasbase64" => {
                self.loaded(name, value(0), value(1), at)
            }
            "imported" => match (value(0), value(1).as_ref().and_then(HclValue::as_text)) {
                (Some(location), Some(name)) => self.imported(&location, &name, at),
                _ => unknown(&[], at),
            },
            "deployment"
            | "resourcegroup"
            | "subscription"
            | "reference"
            | "resourceid"
            | "subscriptionresourceid"
            | "tenantresourceid"
            | "extensionresourceid"
            | "managementgroupresourceid" => {
                let arguments: Vec<HclValue> = arguments.iter().map(|it| self.value(it, names)).collect();
                self.of_azure(name, &arguments, at)
            }
            _ => {
                let arguments: Vec<HclValue> = arguments.iter().map(|it| self.value(it, names)).collect();
                let own = self.own_function(name, &arguments);
                own.unwrap_or_else(|| of_values(&self.state, name, &arguments, at))
            }
        }
    }

    fn looked_up(&self, how: &str, name: Option<HclValue>, at: Span, names: &AzureNames) -> HclValue {
        let Some(name) = name else { return HclValue::refused(format!("`{how}` takes a name"), at) };
        let Some(text) = name.as_text() else { return unknown(std::slice::from_ref(&name), at) };
        let found = match how {
            "parameters" if names.in_function => names.get(&text).cloned(),
            "parameters" => self.parameter(&text, at),
            "variables" => self.variable(&text, at),
            _ => names.get(&text).cloned(),
        };
        found.unwrap_or_else(|| HclValue::refused(format!("`{how}` refers to `{text}`, which is not defined"), at))
    }

    /// Returns the index of the named or closest loop, plus an offset.
    fn turn_number(&self, arguments: &[AzureExpr], at: Span, names: &AzureNames) -> HclValue {
        let arguments: Vec<HclValue> = arguments.iter().map(|it| self.value(it, names)).collect();
        let (name, offset) = match arguments.as_slice() {
            [HclValue { data: HclData::Text(name), .. }, rest @ ..] => (Some(&**name), rest.first()),
            rest => (None, rest.first()),
        };
        let Some(number) = names.turn(name) else {
            return HclValue::refused("the function refers to a loop that does not contain it", at);
        };
        match (number.as_number(), offset.map_or(Some(HclNumber::integer(0)), HclValue::as_number)) {
            (Some(number), Some(offset)) => number
                .plus(&offset)
                .map_or_else(|| HclValue::refused("the number is too large", at), |it| HclValue::number(it, at)),
            _ => unknown(std::slice::from_ref(number), at),
        }
    }

    fn coalesced(&self, arguments: &[AzureExpr], at: Span, names: &AzureNames) -> HclValue {
        for (place, argument) in arguments.iter().enumerate() {
            let value = self.value(argument, names);
            if let Some(cause) = value.cause() {
                let rest = arguments.get(place..).unwrap_or_default().iter();
                let candidates =
                    if cause.candidates.is_empty() || rest.len() > 1 { Vec::new() } else { cause.candidates.clone() };
                return HclValue::because(&Arc::new(Cause { candidates, ..Cause::clone(cause) }), at);
            }
            if !value.is_null() {
                return value;
            }
        }
        HclValue::null(at)
    }
}

/// Evaluates functions that depend only on their arguments.
pub(super) fn of_values(state: &EvaluationState, name: &str, arguments: &[HclValue], at: Span) -> HclValue {
    if let Err(unknown) = pay(state, name, arguments, at) {
        return unknown;
    }
    if let Some(value) = in_part(state, name, arguments, at) {
        return value;
    }
    let Some(cause) = arguments.iter().find_map(HclValue::any_cause) else {
        let is_secret = arguments.iter().any(HclValue::any_sensitive);
        let made = call_function(state, name, arguments, at);
        return made.unwrap_or_else(|| refused(name, at)).marked(is_secret);
    };
    let mut open = arguments.iter().enumerate().filter(|(_, it)| !it.is_wholly_known());
    let only = open.next().filter(|_| open.next().is_none());
    let candidates = only.and_then(|(place, argument)| {
        let among = argument.cause().map(|it| &it.candidates).filter(|it| it.len() <= MOST_CANDIDATES)?;
        let each = among.iter().map(|candidate| {
            let mut arguments = arguments.to_vec();
            *arguments.get_mut(place)? = candidate.clone();
            candidate.is_wholly_known().then(|| call_function(state, name, &arguments, at))?
        });
        each.collect::<Option<Vec<_>>>()
    });
    let arguments: Vec<String> = arguments.iter().map(super::placed::shape_of).collect();
    let outline = Some(format!("${{{name}({})}}", arguments.join(", ")).into());
    let cause = Cause { candidates: candidates.unwrap_or_default(), outline, ..Cause::clone(cause) };
    HclValue::because(&Arc::new(cause), at)
}

/// Pays for the work and the strings of a function, except of those that pay themselves.
fn pay(state: &EvaluationState, name: &str, arguments: &[HclValue], at: Span) -> Result<(), HclValue> {
    /// The bytes of a result for each byte of an argument, at most: a URI escapes each byte.
    const GROWTH: usize = 3;
    const COMPARISONS_PER_STEP: u64 = 64;
    pay_for_arguments(state, arguments, at)?;
    match name {
        "union" | "shallowmerge" | "intersection" => {
            let weight: u64 = arguments.iter().map(|it| u64::from(it.weight())).sum();
            state.pay_steps(weight.saturating_mul(weight) / COMPARISONS_PER_STEP, at)
        }
        "concat" | "join" | "format" | "length" | "empty" | "equals" | "contains" | "startswith" | "endswith"
        | "indexof" | "lastindexof" | "replace" => Ok(()),
        _ => {
            let bytes = arguments.iter().map(longest).fold(0, usize::saturating_add);
            state.pay_text(bytes.saturating_mul(GROWTH), at)
        }
    }
}

/// Evaluates functions whose result is partly known although an argument is unknown.
fn in_part(state: &EvaluationState, name: &str, arguments: &[HclValue], at: Span) -> Option<HclValue> {
    match (name, arguments) {
        ("concat", [HclValue { data: HclData::List(_) | HclData::Tuple(_) | HclData::Set(_), .. }, ..]) => {
            collections::concatenated(arguments, at)
        }
        ("concat", _) => {
            Some(joined(state, &arguments.iter().cloned().map(|it| shown(state, it)).collect::<Vec<_>>(), "", at))
        }
        ("format", [pattern, values @ ..]) => texts::formatted(state, pattern, values, at),
        (
            "createarray" | "array" | "createobject" | "union" | "shallowmerge" | "length" | "first" | "last" | "skip"
            | "take" | "empty" | "items" | "objectkeys" | "flatten" | "tryget" | "tryindexfromend",
            _,
        ) => collections::in_part(name, arguments, at),
        ("join", [list, between]) if !list.is_unknown() => {
            let items: Vec<HclValue> = list.items().iter().cloned().map(|it| shown(state, it)).collect();
            Some(joined(state, &items, &between.as_text()?, at))
        }
        ("uri", [base, path]) if base.is_unknown() => {
            Some(joined(state, &[base.clone(), HclValue::text("/", at), path.clone()], "", at))
        }
        ("null", []) => Some(HclValue::null(at)),
        ("true", []) => Some(HclValue::bool(true, at)),
        ("false", []) => Some(HclValue::bool(false, at)),
        ("utcnow" | "newguid", _) => Some(HclValue::unknown("the value is unknown before deployment", at)),
        // Azure derives these names from the arguments. They are always the same, and users do not choose them.
        ("uniquestring" | "guid", _) => {
            let given: Vec<String> = arguments.iter().map(super::placed::shape_of).collect();
            let outline = Some(format!("${{{name}({})}}", given.join(", ")).into());
            let cause = Cause { outline, ..Cause::new("Azure generates this name during deployment", at) };
            Some(HclValue::because(&Arc::new(cause), at))
        }
        ("environment" | "tenant" | "managementgroup" | "deployer" | "pickzones" | "getsecret" | "providers", _) => {
            Some(HclValue::unknown("the value depends on where it is deployed", at))
        }
        (name, _) if name.starts_with("list") => Some(HclValue::unknown("Azure sets this value during deployment", at)),
        // The pipeline that deploys the file usually sets the variable, so its default does not apply.
        ("readenvironmentvariable", [_] | [_, _]) => {
            Some(HclValue::unknown("the value comes from an environment variable", at))
        }
        ("externalinput" | "readclioption", _) => {
            Some(HclValue::unknown("the identity that deploys it determines this value", at))
        }
        ("secure" | "any" | "nullable", [value]) => Some(value.clone()),
        _ => None,
    }
}

fn call_function(state: &EvaluationState, name: &str, arguments: &[HclValue], at: Span) -> Made {
    let (one, two) = (arguments.first(), arguments.get(1));
    match (name, one, two) {
        ("equals", Some(one), Some(two)) => Some(HclValue::bool(same(one, two), at)),
        ("not", Some(one), None) => Some(HclValue::bool(!one.as_bool()?, at)),
        ("bool", Some(one), None) => truth(one).map(|it| HclValue::bool(it, at)),
        ("if", Some(holds), _) => arguments.get(if holds.as_bool()? { 1 } else { 2 }).cloned(),
        _ => numbers::call_number(name, arguments, at)
            .or_else(|| texts::call_text(state, name, arguments, at))
            .or_else(|| collections::call_collection(name, arguments, at)),
    }
}

fn truth(value: &HclValue) -> Option<bool> {
    match &value.data {
        HclData::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        HclData::Number(number) => Some(!number.is_zero()),
        _ => value.as_bool(),
    }
}

/// Compares strings with case; a number never equals a string.
pub(super) fn same(one: &HclValue, other: &HclValue) -> bool {
    match (&one.data, &other.data) {
        (HclData::Null, HclData::Null) => true,
        (HclData::Bool(a), HclData::Bool(b)) => a == b,
        (HclData::Text(a), HclData::Text(b)) => a == b,
        (HclData::Number(a), HclData::Number(b)) => a.to_string() == b.to_string(),
        _ => match (one.entries(), other.entries()) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b))),
            (None, None) if is_list(one) && is_list(other) => {
                let (one, other) = (one.items(), other.items());
                one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b))
            }
            _ => false,
        },
    }
}

pub(super) fn is_list(value: &HclValue) -> bool {
    matches!(value.data, HclData::List(_) | HclData::Set(_) | HclData::Tuple(_))
}

/// Returns the deciding value if any operand has it, else unknown if any is unknown, else the other value.
fn all(each: impl Iterator<Item = HclValue>, deciding: bool, at: Span) -> HclValue {
    let mut doubt = None;
    for value in each {
        match (value.as_bool(), value.cause()) {
            (Some(holds), _) if holds == deciding => return HclValue::bool(deciding, at),
            (Some(_), _) => {}
            (None, Some(cause)) => doubt = doubt.or(Some(cause.clone())),
            (None, None) => return HclValue::refused("this is not a condition", at),
        }
    }
    doubt.map_or_else(
        || HclValue::bool(!deciding, at),
        |cause| HclValue::because(&Arc::new(Cause { candidates: Vec::new(), ..Cause::clone(&cause) }), at),
    )
}

/// Formats a value as .NET does.
pub(super) fn shown(state: &EvaluationState, value: HclValue) -> HclValue {
    match &value.data {
        HclData::Bool(flag) => value.with(HclData::Text(if *flag { "True" } else { "False" }.into())),
        HclData::Null => value.with(HclData::Text("".into())),
        HclData::List(_) | HclData::Set(_) | HclData::Tuple(_) | HclData::Map(_) | HclData::Object(_) => {
            match as_json_text(state, &value, value.span) {
                // Azure writes objects in strings with single quotes.
                Ok(Some(json)) => value.with(HclData::Text(json.replace('"', "'").into())),
                Err(unknown) => unknown,
                Ok(None) => unknown(std::slice::from_ref(&value), value.span),
            }
        }
        _ => value,
    }
}

/// Returns the cause that makes the result unknown.
fn unknown(values: &[HclValue], at: Span) -> HclValue {
    match values.iter().find_map(HclValue::any_cause) {
        Some(cause) => HclValue::because(&Arc::new(Cause { candidates: Vec::new(), ..Cause::clone(cause) }), at),
        None => HclValue::refused("the arguments of this function are invalid", at),
    }
}

fn refused(name: &str, at: Span) -> HclValue {
    HclValue::refused(format!("the function `{name}` is not supported, or its arguments are invalid"), at)
}

/// Returns true if an expression is a lambda function.
fn is_lambda(expr: &AzureExpr) -> bool {
    matches!(expr.kind, AzureKind::Lambda(..))
}
