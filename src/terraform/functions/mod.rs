//! The functions of Terraform.
//!
//! Each takes evaluated arguments and gives a value, or says why there is none: the arguments are wrong, or something
//! in them is not known. Functions that depend on the moment or on chance are unknown; files are read inside the tree
//! only.

mod collections;
mod encoding;
mod files;
mod format;
mod go_pattern;
mod hash;
mod network;
mod numbers;
mod patterns;
mod text;
mod time;
mod yaml;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use crate::source::{FileId, Span};

use super::evaluate::{Evaluator, Scope};
use super::number::Number;
use super::syntax::{Call, Expression, Kind, parse_template_at};
use super::types::Type;
use super::value::{Cause, Data, Entries, Value};

/// Why a function gives no value.
pub(super) enum Failure {
    /// Terraform would refuse the call.
    Refused(String),
    /// It depends on something that is not known.
    Unknown(Arc<Cause>),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure::Refused(why)
    }
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Failure::Refused(why.to_owned())
    }
}

impl From<Arc<Cause>> for Failure {
    fn from(cause: Arc<Cause>) -> Self {
        Failure::Unknown(cause)
    }
}

pub(super) type Outcome = Result<Value, Failure>;
type Function = fn(&Arguments<'_>) -> Outcome;

/// The arguments of a call.
pub(super) struct Arguments<'a> {
    pub(super) values: Vec<Value>,
    pub(super) span: Span,
    pub(super) evaluator: &'a Evaluator<'a>,
}

const TABLES: [&[(&str, Function)]; 11] = [
    collections::TABLE,
    encoding::TABLE,
    files::TABLE,
    format::TABLE,
    hash::TABLE,
    network::TABLE,
    numbers::TABLE,
    patterns::TABLE,
    text::TABLE,
    time::TABLE,
    yaml::TABLE,
];

/// What these give depends on when and where Terraform runs.
const IMPURE: [&str; 6] = ["timestamp", "plantimestamp", "uuid", "bcrypt", "rsadecrypt", "base64gzip"];

/// These look at a part of their arguments only, however large the whole is.
const LIGHT: [&str; 6] = ["coalesce", "element", "length", "lookup", "one", "slice"];

static FUNCTIONS: LazyLock<HashMap<&str, Function>> =
    LazyLock::new(|| TABLES.iter().flat_map(|table| table.iter().copied()).collect());

fn find(name: &str) -> Option<Function> {
    FUNCTIONS.get(name).copied()
}

impl Evaluator<'_> {
    pub(super) fn call(&self, call: &Call, span: Span, scope: Scope<'_>) -> Value {
        let name = call.name.text.strip_prefix("core::").unwrap_or(&call.name.text);
        match name {
            "try" => return self.try_each(&call.arguments, span, scope),
            "can" => return self.can(&call.arguments, span, scope),
            "templatestring" => return self.template_string(&call.arguments, span, scope),
            _ => {}
        }
        let Some(function) = find(name) else {
            let known = IMPURE.contains(&name) || name.contains("::");
            return match known {
                true => Value::unknown(format!("`{name}` gives what only Terraform knows"), span),
                false => Value::refused(format!("there is no function `{name}`"), span),
            };
        };
        let mut values: Vec<Value> = call.arguments.iter().map(|argument| self.evaluate(argument, scope)).collect();
        if call.expand
            && let Some(last) = values.pop()
        {
            match &last.data {
                Data::List(items) | Data::Tuple(items) | Data::Set(items) => values.extend(items.iter().cloned()),
                Data::Unknown(cause) => return Value::because(cause, span),
                _ => return Value::refused("`...` needs a list", span),
            }
        }
        self.run(name, function, Arguments { values, span, evaluator: self })
    }

    /// A function of Terraform, for what behaves like one.
    pub(super) fn call_by_name(&self, name: &str, values: Vec<Value>, span: Span) -> Value {
        match find(name) {
            Some(function) => self.run(name, function, Arguments { values, span, evaluator: self }),
            None => Value::refused(format!("there is no function `{name}`"), span),
        }
    }

    /// The file in which a text stands byte for byte, as the result of `file` does, and where it begins there.
    pub(super) fn stands_at(&self, value: &Value) -> Option<(FileId, usize)> {
        let Data::Text(text) = &value.data else { return None };
        let file = self.sources.text(value.span.file);
        let start = value.span.start as usize;
        (file.get(start..start + text.len())? == &**text).then_some((value.span.file, start))
    }

    fn run(&self, name: &str, function: Function, arguments: Arguments<'_>) -> Value {
        let span = arguments.span;
        if !LIGHT.contains(&name) {
            for value in &arguments.values {
                if let Err(cause) = self.budget.spend_walk(value) {
                    return Value::because(&cause, span);
                }
            }
        }
        let sensitive = arguments.values.iter().any(Value::any_sensitive);
        match function(&arguments) {
            Ok(value) => {
                let marked = sensitive && !matches!(name, "nonsensitive" | "issensitive" | "length");
                value.marked(marked)
            }
            Err(Failure::Refused(why)) => match arguments.values.iter().find_map(Value::any_cause) {
                // An argument that could not be evaluated explains more than what the function makes of it.
                Some(cause) if cause.refused => Value::because(cause, span),
                _ => Value::refused(format!("`{name}`: {why}"), span),
            },
            Err(Failure::Unknown(cause)) => Value::because(&cause, span),
        }
    }

    /// The first argument that Terraform would not refuse.
    fn try_each(&self, arguments: &[Expression], span: Span, scope: Scope<'_>) -> Value {
        for argument in arguments {
            let value = self.evaluate(argument, scope);
            if !value.any_refused() {
                return value;
            }
        }
        Value::refused("`try`: no argument can be evaluated", span)
    }

    fn can(&self, arguments: &[Expression], span: Span, scope: Scope<'_>) -> Value {
        let [argument] = arguments else { return Value::refused("`can` takes one argument", span) };
        let value = self.evaluate(argument, scope);
        match value.cause() {
            Some(cause) if !cause.refused => Value::because(cause, span),
            _ => Value::bool(!value.any_refused(), span),
        }
    }
}

impl Evaluator<'_> {
    /// A template that a value holds, with variables.
    fn template_string(&self, arguments: &[Expression], span: Span, scope: Scope<'_>) -> Value {
        let [template, variables] = arguments else {
            return Value::refused("`templatestring` takes a template and its variables", span);
        };
        if !matches!(template.kind, Kind::Name(_) | Kind::Traversal(..)) {
            return Value::refused("the template of `templatestring` is no reference", span);
        }
        self.render_text(&self.evaluate(template, scope), &self.evaluate(variables, scope), span)
    }

    /// The text of a value as a template, with the members of another as its variables.
    pub(super) fn render_text(&self, template: &Value, variables: &Value, span: Span) -> Value {
        let text = match text(template) {
            Ok(text) => text,
            Err(Failure::Unknown(cause)) => return Value::because(&cause, span),
            Err(Failure::Refused(why)) => return Value::refused(why, span),
        };
        let entries = match &variables.data {
            Data::Map(entries) | Data::Object(entries) => entries,
            Data::Unknown(cause) => return Value::because(cause, span),
            _ => return Value::refused("the variables of a template are no object", span),
        };
        if let Err(cause) = self.budget.spend_reading(text.len()) {
            return Value::because(&cause, span);
        }
        match parse_template_at(template.span, &text) {
            Ok(parsed) => {
                let scope = Scope { names: Some(&entries.known), ..Scope::CONSTANT };
                self.evaluate(&parsed, scope).marked(template.sensitive || variables.any_sensitive())
            }
            Err(error) => Value::refused(error.message, span),
        }
    }
}

impl Arguments<'_> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn get(&self, index: usize) -> Result<&Value, Failure> {
        self.values.get(index).ok_or_else(|| Failure::Refused(format!("argument {} is missing", index + 1)))
    }

    fn exactly(&self, number: usize) -> Result<(), Failure> {
        self.between(number, number)
    }

    fn between(&self, least: usize, most: usize) -> Result<(), Failure> {
        if (least..=most).contains(&self.len()) {
            return Ok(());
        }
        Err(Failure::Refused(format!("takes {least} to {most} arguments, not {}", self.len())))
    }

    /// An argument that is known, at least as a whole, and not null.
    fn known(&self, index: usize) -> Result<&Value, Failure> {
        known(self.get(index)?)
    }

    fn text(&self, index: usize) -> Result<Arc<str>, Failure> {
        text(self.get(index)?)
    }

    fn number(&self, index: usize) -> Result<Number, Failure> {
        let value = self.known(index)?;
        value.as_number().ok_or_else(|| Failure::Refused(format!("argument {} is no number", index + 1)))
    }

    fn whole_number(&self, index: usize) -> Result<i64, Failure> {
        let number = self.number(index)?;
        number.as_i64().ok_or_else(|| Failure::Refused(format!("argument {} is no integer", index + 1)))
    }

    /// The file in which this argument stands byte for byte, as the result of `file` does.
    fn verbatim(&self, index: usize) -> Option<yaml::Place> {
        let (file, start) = self.evaluator.stands_at(self.values.get(index)?)?;
        Some(yaml::Place::Verbatim(file, start))
    }

    /// The members of a list, set or tuple.
    fn items(&self, index: usize) -> Result<&[Value], Failure> {
        items(self.known(index)?)
    }

    fn entries(&self, index: usize) -> Result<&Entries, Failure> {
        let value = self.known(index)?;
        value.entries().ok_or_else(|| Failure::Refused(format!("argument {} is no map", index + 1)))
    }

    /// The members of a list of strings.
    fn texts(&self, index: usize) -> Result<Vec<Arc<str>>, Failure> {
        self.items(index)?.iter().map(text).collect()
    }

    /// A string as a result; what it costs is counted.
    fn answer(&self, text: impl Into<String>) -> Outcome {
        let text: String = text.into();
        self.evaluator.budget.spend_bytes(text.len())?;
        Ok(Value::text(text, self.span))
    }

    /// Each of some values is compared with each of others; `like` is one of them, or all of them together.
    fn spend_comparisons(&self, some: usize, others: usize, like: &Value) -> Result<(), Failure> {
        const PER_STEP: u64 = 8;
        let members = like.items().len().max(1) as u64;
        let weight = (u64::from(like.weight()) / members).max(1);
        let pairs = (some as u64).saturating_mul(others as u64);
        self.evaluator.budget.spend(pairs.saturating_mul(weight) / PER_STEP)?;
        Ok(())
    }

    fn answer_number(&self, number: Option<Number>) -> Outcome {
        match number {
            Some(number) => Ok(Value::number(number, self.span)),
            None => Err("the result is no number, or too large".into()),
        }
    }

    fn answer_bool(&self, flag: bool) -> Outcome {
        Ok(Value::bool(flag, self.span))
    }

    fn answer_list(&self, items: Vec<Value>) -> Outcome {
        Ok(Value::list(items, self.span))
    }

    fn answer_tuple(&self, items: Vec<Value>) -> Outcome {
        Ok(Value::tuple(items, self.span))
    }
}

fn known(value: &Value) -> Result<&Value, Failure> {
    match &value.data {
        Data::Unknown(cause) => Err(Failure::Unknown(cause.clone())),
        Data::Null => Err("an argument is null".into()),
        _ => Ok(value),
    }
}

fn text(value: &Value) -> Result<Arc<str>, Failure> {
    let value = known(value)?;
    match &value.data {
        Data::Text(text) => Ok(text.clone()),
        _ => value.as_text().map(Into::into).ok_or_else(|| Failure::Refused("an argument is no string".into())),
    }
}

fn items(value: &Value) -> Result<&[Value], Failure> {
    match &value.data {
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => Ok(items),
        _ => Err("an argument is no list".into()),
    }
}

/// Members of lists in one type, as far as they have one.
fn unified(values: Vec<Value>) -> Vec<Value> {
    match Type::common(values.iter().map(Type::of)) {
        Some(Type::Any) | None => values,
        Some(common) => values.iter().map(|value| common.convert(value)).collect(),
    }
}
