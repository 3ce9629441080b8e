//! Implements the functions of Terraform.
//!
//! Each function takes evaluated arguments and returns a value or the reason for a failure: invalid arguments, or an
//! unknown value in them. Functions that depend on time or chance are unknown. Only files inside the tree are read.

mod collections;
mod encoding;
mod files;
mod format;
mod hash;
mod network;
mod numbers;
mod patterns;
mod sets;
mod text;
mod time;
mod yaml;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, LazyLock};

pub(in crate::terraform) use files::is_identifier;

use crate::languages::hcl::number::HclNumber;
use crate::languages::hcl::syntax::{Call, Expression, HclKind, parse_template_at};
use crate::languages::hcl::types::HclType;
use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};
use crate::source::{FileId, Span};

use super::evaluate::{Dialect, EvaluationBudget, RootEvaluator, Scope};

/// The reason why a function has no result.
pub(super) enum FunctionFailure {
    /// Terraform would refuse the call.
    Refused(String),
    /// The result depends on an unknown value.
    Unknown(Arc<Cause>),
}

impl From<String> for FunctionFailure {
    fn from(why: String) -> Self {
        FunctionFailure::Refused(why)
    }
}

impl From<&str> for FunctionFailure {
    fn from(why: &str) -> Self {
        FunctionFailure::Refused(why.to_owned())
    }
}

impl From<Arc<Cause>> for FunctionFailure {
    fn from(cause: Arc<Cause>) -> Self {
        FunctionFailure::Unknown(cause)
    }
}

pub(super) type FunctionResult = Result<HclValue, FunctionFailure>;
type Function = fn(&CallArguments<'_>) -> FunctionResult;
/// The number of arguments of a function.
type Arity = RangeInclusive<usize>;
const MANY: usize = usize::MAX;

/// The arguments of a call.
pub(super) struct CallArguments<'a> {
    pub(super) values: Vec<HclValue>,
    pub(super) span: Span,
    pub(super) evaluator: &'a RootEvaluator<'a>,
}

const TABLES: [&[(&str, Arity, Function)]; 12] = [
    collections::TABLE,
    encoding::TABLE,
    files::TABLE,
    format::TABLE,
    hash::TABLE,
    network::TABLE,
    numbers::TABLE,
    patterns::TABLE,
    sets::TABLE,
    text::TABLE,
    time::TABLE,
    yaml::TABLE,
];

/// The results of these functions depend on when and where Terraform runs.
const IMPURE: [&str; 6] = ["timestamp", "plantimestamp", "uuid", "bcrypt", "rsadecrypt", "base64gzip"];

/// These functions read only a part of their arguments, so size does not matter.
const LIGHT: [&str; 5] = ["element", "length", "lookup", "one", "slice"];
/// These functions copy the members of their arguments unchanged.
const SHALLOW: [&str; 5] = ["keys", "merge", "reverse", "values", "zipmap"];
/// These functions find the common type of all members.
const TYPED: [&str; 13] = [
    "chunklist",
    "coalesce",
    "concat",
    "distinct",
    "matchkeys",
    "setintersection",
    "setproduct",
    "setsubtract",
    "setunion",
    "tolist",
    "tomap",
    "toset",
    "transpose",
];

/// Returns the cost of a call before it creates anything.
fn cost(name: &str, values: &[HclValue]) -> u64 {
    let of = |value: &HclValue| match name {
        _ if LIGHT.contains(&name) => 0,
        _ if SHALLOW.contains(&name) => value.members() as u64,
        _ if TYPED.contains(&name) => EvaluationBudget::typing(value),
        _ => EvaluationBudget::walking(value),
    };
    values.iter().map(of).sum()
}

/// The results of these functions are sensitive only if a whole argument is. A sensitive member stays sensitive
/// itself.
const PASSING: [&str; 16] = [
    "concat",
    "element",
    "flatten",
    "keys",
    "length",
    "lookup",
    "matchkeys",
    "merge",
    "one",
    "reverse",
    "slice",
    "tolist",
    "tomap",
    "transpose",
    "values",
    "zipmap",
];

static FUNCTIONS: LazyLock<HashMap<&str, (&Arity, Function)>> = LazyLock::new(|| {
    let all = TABLES.iter().flat_map(|table| table.iter());
    all.map(|(name, arity, function)| (*name, (arity, *function))).collect()
});

fn find(name: &str) -> Option<(&'static Arity, Function)> {
    FUNCTIONS.get(name).copied()
}

impl RootEvaluator<'_> {
    pub(super) fn call(&self, call: &Call, span: Span, scope: Scope<'_>) -> HclValue {
        let name = call.name.text.strip_prefix("core::").unwrap_or(&call.name.text);
        match name {
            "try" => return self.try_each(&call.arguments, span, scope),
            "can" => return self.can(&call.arguments, span, scope),
            "templatestring" => return self.template_string(&call.arguments, span, scope),
            _ => {}
        }
        let function = find(name);
        let speaks = |it: &&dyn Dialect| it.has_function(name);
        let dialect = self.dialect.filter(speaks);
        if function.is_none() && dialect.is_none() {
            let known = IMPURE.contains(&name) || name.contains("::");
            return match known {
                true => HclValue::unknown(format!("only Terraform knows the result of `{name}`"), span),
                false => HclValue::refused(format!("there is no function `{name}`"), span),
            };
        }
        let mut values: Vec<HclValue> = call.arguments.iter().map(|argument| self.evaluate(argument, scope)).collect();
        if call.expand
            && let Some(last) = values.pop()
        {
            match &last.data {
                HclData::List(items) | HclData::Tuple(items) | HclData::Set(items) => {
                    values.extend(items.iter().cloned())
                }
                HclData::Unknown(cause) => return HclValue::because(cause, span),
                _ => return HclValue::refused("`...` needs a list", span),
            }
        }
        match (dialect, function) {
            (Some(dialect), _) => dialect.call(name, &values, span),
            (None, Some(function)) => self.run(name, function, CallArguments { values, span, evaluator: self }),
            (None, None) => HclValue::refused(format!("there is no function `{name}`"), span),
        }
    }

    /// Calls a function of Terraform by name.
    pub(super) fn call_by_name(&self, name: &str, values: Vec<HclValue>, span: Span) -> HclValue {
        match find(name) {
            Some(function) => self.run(name, function, CallArguments { values, span, evaluator: self }),
            None => HclValue::refused(format!("there is no function `{name}`"), span),
        }
    }

    /// Returns the file that contains a string unchanged, like the result of `file`, and the offset.
    pub(super) fn stands_at(&self, value: &HclValue) -> Option<(FileId, usize)> {
        let HclData::Text(text) = &value.data else { return None };
        let file = self.sources.text(value.span.file);
        let start = value.span.start as usize;
        (file.get(start..start + text.len())? == &**text).then_some((value.span.file, start))
    }

    fn run(&self, name: &str, (arity, function): (&Arity, Function), arguments: CallArguments<'_>) -> HclValue {
        let span = arguments.span;
        if !arity.contains(&arguments.len()) {
            let (least, number) = (arity.start(), arguments.len());
            let takes = match *arity.end() {
                MANY => format!("{least} or more"),
                most if most == *least => format!("{least}"),
                most => format!("{least} to {most}"),
            };
            return HclValue::refused(format!("`{name}` takes {takes} arguments, not {number}"), span);
        }
        if let Err(cause) = self.budget.spend(cost(name, &arguments.values)) {
            return HclValue::because(&cause, span);
        }
        let sensitive = match name {
            "issensitive" | "nonsensitive" => false,
            _ if PASSING.contains(&name) => arguments.values.iter().any(|value| value.sensitive),
            _ => arguments.values.iter().any(HclValue::any_sensitive),
        };
        match function(&arguments) {
            Ok(value) => self.kept(value).marked(sensitive),
            Err(FunctionFailure::Refused(why)) => match arguments.values.iter().find_map(HclValue::any_cause) {
                // The cause of a failed argument explains more than the failure of the function.
                Some(cause) if cause.refused => HclValue::because(cause, span),
                _ => HclValue::refused(format!("`{name}`: {why}"), span),
            },
            Err(FunctionFailure::Unknown(cause)) => HclValue::because(&cause, span),
        }
    }

    /// Returns the first argument that Terraform would not refuse.
    fn try_each(&self, arguments: &[Expression], span: Span, scope: Scope<'_>) -> HclValue {
        for argument in arguments {
            let value = self.evaluate(argument, scope);
            if !value.any_refused() {
                return value;
            }
        }
        HclValue::refused("no argument of `try` can be evaluated", span)
    }

    fn can(&self, arguments: &[Expression], span: Span, scope: Scope<'_>) -> HclValue {
        let [argument] = arguments else { return HclValue::refused("`can` takes one argument", span) };
        let value = self.evaluate(argument, scope);
        match value.cause() {
            Some(cause) if !cause.refused => HclValue::because(cause, span),
            _ => HclValue::bool(!value.any_refused(), span),
        }
    }
}

impl RootEvaluator<'_> {
    /// Renders a template from a value, with variables.
    fn template_string(&self, arguments: &[Expression], span: Span, scope: Scope<'_>) -> HclValue {
        let [template, variables] = arguments else {
            return HclValue::refused("`templatestring` takes a template and its variables", span);
        };
        if !matches!(template.kind, HclKind::Name(_) | HclKind::Traversal(..)) {
            return HclValue::refused("the template of `templatestring` is not a reference", span);
        }
        self.render_text(&self.evaluate(template, scope), &self.evaluate(variables, scope), span)
    }

    /// Renders the string of a value as a template, with the members of another value as variables.
    pub(super) fn render_text(&self, template: &HclValue, variables: &HclValue, span: Span) -> HclValue {
        let text = match &template.data {
            HclData::Text(text) => text,
            HclData::Unknown(cause) => return HclValue::because(cause, span),
            _ => return HclValue::refused("a template is a string", span),
        };
        let entries = match &variables.data {
            HclData::Map(entries) | HclData::Object(entries) => entries,
            HclData::Unknown(cause) => return HclValue::because(cause, span),
            _ => return HclValue::refused("the variables of a template are not an object", span),
        };
        if let Err(cause) = self.budget.spend_reading(text.len()) {
            return HclValue::because(&cause, span);
        }
        match parse_template_at(template.span, text) {
            Ok(parsed) => {
                let scope = Scope { names: Some(&entries.known), ..Scope::CONSTANT };
                let marked = template.sensitive || variables.any_sensitive();
                HclType::Text.convert(&self.evaluate(&parsed, scope)).marked(marked)
            }
            Err(error) => HclValue::refused(error.message, span),
        }
    }
}

impl CallArguments<'_> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn get(&self, index: usize) -> Result<&HclValue, FunctionFailure> {
        self.values.get(index).ok_or_else(|| FunctionFailure::Refused(format!("argument {} is missing", index + 1)))
    }

    /// Returns an argument that is not null and is known, at least as a whole.
    fn known(&self, index: usize) -> Result<&HclValue, FunctionFailure> {
        known(self.get(index)?)
    }

    fn text(&self, index: usize) -> Result<Arc<str>, FunctionFailure> {
        text(self.get(index)?)
    }

    fn number(&self, index: usize) -> Result<HclNumber, FunctionFailure> {
        let value = self.known(index)?;
        value.as_number().ok_or_else(|| FunctionFailure::Refused(format!("argument {} is not a number", index + 1)))
    }

    fn whole_number(&self, index: usize) -> Result<i64, FunctionFailure> {
        let number = self.number(index)?;
        number.as_i64().ok_or_else(|| FunctionFailure::Refused(format!("argument {} is not an integer", index + 1)))
    }

    /// Returns the file that contains this argument unchanged, like the result of `file`.
    fn verbatim(&self, index: usize) -> Option<yaml::DecodedPlace> {
        let (file, start) = self.evaluator.stands_at(self.values.get(index)?)?;
        Some(yaml::DecodedPlace::Verbatim(file, start))
    }

    /// Returns the members of a list, set or tuple.
    fn items(&self, index: usize) -> Result<&[HclValue], FunctionFailure> {
        items(self.known(index)?)
    }

    fn entries(&self, index: usize) -> Result<&ObjectMembers, FunctionFailure> {
        let value = self.known(index)?;
        value.entries().ok_or_else(|| FunctionFailure::Refused(format!("argument {} is not a map", index + 1)))
    }

    /// Returns the members of a list of strings.
    fn texts(&self, index: usize) -> Result<Vec<Arc<str>>, FunctionFailure> {
        self.items(index)?.iter().map(text).collect()
    }

    /// Returns a string as the result, and counts its cost.
    fn answer(&self, text: impl Into<String>) -> FunctionResult {
        let text: String = text.into();
        self.evaluator.budget.spend_bytes(text.len())?;
        Ok(HclValue::text(text, self.span))
    }

    /// Counts the comparison of this many pairs, each with at most this many values.
    fn spend_comparisons(&self, some: usize, others: usize, weight: u32) -> Result<(), FunctionFailure> {
        const PER_STEP: u64 = 8;
        let pairs = (some as u64).saturating_mul(others as u64);
        self.evaluator.budget.spend(pairs.saturating_mul(u64::from(weight)) / PER_STEP)?;
        Ok(())
    }

    fn answer_number(&self, number: Option<HclNumber>) -> FunctionResult {
        match number {
            Some(number) => Ok(HclValue::number(number, self.span)),
            None => Err("the result is not a number, or too large".into()),
        }
    }

    fn answer_bool(&self, flag: bool) -> FunctionResult {
        Ok(HclValue::bool(flag, self.span))
    }

    fn answer_list(&self, items: Vec<HclValue>) -> FunctionResult {
        Ok(HclValue::list(items, self.span))
    }

    fn answer_tuple(&self, items: Vec<HclValue>) -> FunctionResult {
        Ok(HclValue::tuple(items, self.span))
    }
}

fn known(value: &HclValue) -> Result<&HclValue, FunctionFailure> {
    match &value.data {
        HclData::Unknown(cause) => Err(FunctionFailure::Unknown(cause.clone())),
        HclData::Null => Err("an argument is null".into()),
        _ => Ok(value),
    }
}

fn text(value: &HclValue) -> Result<Arc<str>, FunctionFailure> {
    let value = known(value)?;
    match &value.data {
        HclData::Text(text) => Ok(text.clone()),
        _ => value
            .as_text()
            .map(Into::into)
            .ok_or_else(|| FunctionFailure::Refused("an argument is not a string".into())),
    }
}

fn items(value: &HclValue) -> Result<&[HclValue], FunctionFailure> {
    match &value.data {
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => Ok(items),
        _ => Err("an argument is not a list".into()),
    }
}

/// Returns the highest number of values in one of these items.
fn heaviest(items: &[HclValue]) -> u32 {
    items.iter().map(HclValue::weight).max().unwrap_or(1)
}

/// Converts the members of lists to their common type, if they have one.
fn unified(values: Vec<HclValue>) -> Vec<HclValue> {
    match HclType::common(values.iter().map(HclType::of)) {
        Some(HclType::Any) | None => values,
        Some(common) => values.iter().map(|value| common.convert(value)).collect(),
    }
}
