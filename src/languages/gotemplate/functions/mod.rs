//! Implements the functions that templates can call: tables of those of Go, sprig and Helm.

mod builtin;
mod codes;
mod dicts;
mod flow;
mod lists;
mod math;
mod patterns;
mod strings;
mod unknown;
mod versions;
mod words;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use dicts::copied;
pub(crate) use versions::fulfils;

use super::evaluate::{BYTES_PER_STEP, TemplateEvaluator};
use super::failure::TemplateFailure;
use super::print;
use super::text::{TemplateCause, Text};
use super::value::{GoKind, GoMap, GoValue, Heap};

pub(crate) type FunctionOutcome = Result<GoValue, TemplateFailure>;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterType {
    Any,
    Text,
    Int,
    Float,
    Flag,
    Map,
}

/// The part of its arguments that a function reads. The call spends steps for this part, and for a result of that size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// The function returns its argument unchanged, or reads only its kind.
    Nothing,
    /// The function reads the items of a list or a mapping and returns them unchanged.
    Items,
    /// The function reads the whole argument.
    All,
}

/// Functions that return their arguments unchanged. All others read all their arguments and create a new value.
const HANDING_ON: [&str; 33] = [
    "coalesce",
    "default",
    "dict",
    "dig",
    "empty",
    "fail",
    "get",
    "hasKey",
    "include",
    "index",
    "kindIs",
    "kindOf",
    "len",
    "list",
    "lookup",
    "not",
    "pluck",
    "plural",
    "required",
    "set",
    "ternary",
    "tuple",
    "typeIs",
    "typeIsLike",
    "typeOf",
    "unset",
    "and",
    "or",
    "all",
    "any",
    "tpl",
    "randInt",
    "genSignedCert",
];
const HANDING_ITEMS_ON: [&str; 30] = [
    "append",
    "chunk",
    "compact",
    "concat",
    "first",
    "initial",
    "last",
    "mustAppend",
    "mustChunk",
    "mustCompact",
    "mustFirst",
    "mustInitial",
    "mustLast",
    "mustPrepend",
    "mustPush",
    "mustRest",
    "mustReverse",
    "mustSlice",
    "omit",
    "pick",
    "prepend",
    "push",
    "rest",
    "reverse",
    "slice",
    "values",
    "without",
    "mustWithout",
    "uniq",
    "mustUniq",
];

type Run = fn(&mut FunctionCall<'_, '_>) -> FunctionOutcome;

pub(super) struct TemplateFunction {
    name: &'static str,
    parameters: Vec<ParameterType>,
    /// Whether the last parameter can be repeated.
    repeats: bool,
    /// Whether the function handles unknown values itself. The result of other functions is unknown if an argument is.
    pub(super) takes_unknowns: bool,
    /// Whether a string that is not a number counts as 0.
    pub(super) makes_numbers: bool,
    /// Whether the result has the origin of the last argument.
    pub(super) keeps_origin: bool,
    pub(super) reads: Reads,
    pub(super) run: Run,
}

/// One entry: name, parameters, handling of unknown values, and implementation. Parameters are letters: `s` string, `i`
/// int, `f` float, `b` bool, `m` mapping, `a` anything. A star allows repetition of the next one.
type Row = (&'static str, &'static str, How, Run);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// The function returns a new value.
    Plain,
    /// The function returns another form of its last argument.
    Form,
    /// The function handles unknown values and origins itself.
    Careful,
}

const TABLES: [&[Row]; 11] = [
    builtin::TABLE,
    codes::TABLE,
    dicts::TABLE,
    flow::TABLE,
    lists::TABLE,
    math::TABLE,
    patterns::TABLE,
    strings::TABLE,
    unknown::TABLE,
    versions::TABLE,
    words::TABLE,
];

static FUNCTIONS: LazyLock<HashMap<&'static str, TemplateFunction>> = LazyLock::new(|| {
    let rows = TABLES.iter().flat_map(|table| table.iter());
    rows.map(|row| (row.0, TemplateFunction::new(row))).collect()
});

pub(super) fn find(name: &str) -> Option<&'static TemplateFunction> {
    FUNCTIONS.get(name)
}

pub(crate) fn is_known(name: &str) -> bool {
    matches!(name, "and" | "or") || FUNCTIONS.contains_key(name)
}

impl TemplateFunction {
    fn new((name, parameters, how, run): &Row) -> TemplateFunction {
        let letter = |letter: char| match letter {
            's' => ParameterType::Text,
            'i' => ParameterType::Int,
            'f' => ParameterType::Float,
            'b' => ParameterType::Flag,
            'm' => ParameterType::Map,
            _ => ParameterType::Any,
        };
        TemplateFunction {
            name,
            parameters: parameters.chars().filter(|it| *it != '*').map(letter).collect(),
            repeats: parameters.contains('*'),
            takes_unknowns: *how == How::Careful,
            makes_numbers: *how != How::Careful && math::TABLE.iter().any(|row| row.0 == *name),
            keeps_origin: *how == How::Form,
            reads: match *name {
                name if HANDING_ON.contains(&name) => Reads::Nothing,
                name if HANDING_ITEMS_ON.contains(&name) => Reads::Items,
                _ => Reads::All,
            },
            run: *run,
        }
    }

    pub(super) fn parameter(&self, number: usize) -> Option<ParameterType> {
        self.parameters.get(number).or(self.parameters.last()).copied()
    }

    pub(super) fn check_count(&self, count: usize) -> Result<(), TemplateFailure> {
        let least = self.parameters.len() - usize::from(self.repeats);
        let fits = count >= least && (self.repeats || count == least);
        let at_least = if self.repeats { "at least " } else { "" };
        let say = || format!("wrong number of args for {}: want {at_least}{least} got {count}", self.name);
        if fits { Ok(()) } else { Err(say().into()) }
    }
}

/// One call of a function.
pub(super) struct FunctionCall<'c, 'e> {
    pub(super) evaluator: &'c mut TemplateEvaluator<'e>,
    pub(super) arguments: &'c [GoValue],
}

impl FunctionCall<'_, '_> {
    fn heap(&self) -> &Heap {
        &self.evaluator.heap
    }

    fn any(&self, number: usize) -> GoValue {
        self.arguments.get(number).cloned().unwrap_or_else(GoValue::nil)
    }

    fn rest(&self, from: usize) -> &[GoValue] {
        self.arguments.get(from..).unwrap_or_default()
    }

    fn str(&self, number: usize) -> &str {
        self.arguments.get(number).and_then(GoValue::as_str).unwrap_or_default()
    }

    /// Returns the string of an argument; an error if it is completely unknown.
    fn text(&self, number: usize) -> Result<Text, TemplateFailure> {
        match self.arguments.get(number) {
            Some(GoValue { kind: GoKind::Unknown(cause), .. }) => Err(cause.clone().into()),
            Some(value) => Ok(value.text().unwrap_or_else(|| "".into())),
            None => Ok("".into()),
        }
    }

    /// Returns the string of an argument; an error if a part of it is unknown.
    fn known(&self, number: usize) -> Result<&str, TemplateFailure> {
        match self.arguments.get(number).and_then(GoValue::cause) {
            Some(cause) => Err(cause.clone().into()),
            None => Ok(self.str(number)),
        }
    }

    fn int(&self, number: usize) -> i64 {
        match self.arguments.get(number).map(|value| &value.kind) {
            Some(GoKind::Int(number) | GoKind::Int64(number)) => *number,
            _ => 0,
        }
    }

    fn known_int(&self, number: usize) -> Result<i64, TemplateFailure> {
        match self.arguments.get(number).and_then(GoValue::cause) {
            Some(cause) => Err(cause.clone().into()),
            None => Ok(self.int(number)),
        }
    }

    fn float(&self, number: usize) -> f64 {
        match self.arguments.get(number).map(|value| &value.kind) {
            Some(GoKind::Float(number)) => *number,
            _ => 0.0,
        }
    }

    /// Returns a mapping; `None` if the argument is nil.
    fn map(&self, number: usize) -> Result<Option<GoMap>, TemplateFailure> {
        match self.arguments.get(number) {
            Some(GoValue { kind: GoKind::Unknown(cause), .. }) => Err(cause.clone().into()),
            Some(value) => Ok(value.map().cloned()),
            None => Ok(None),
        }
    }

    /// Returns the items of anything that Go accepts as a list.
    fn items(&self, number: usize, what: &str) -> Result<Vec<GoValue>, TemplateFailure> {
        match self.arguments.get(number) {
            Some(GoValue { kind: GoKind::Unknown(cause), .. }) => Err(cause.clone().into()),
            Some(GoValue { kind: GoKind::List(list), .. }) => {
                self.evaluator.step(list.items().len() as u64 / 4)?;
                Ok(list.items().to_vec())
            }
            // The API versions of a cluster are a list with its own type name.
            Some(GoValue { kind: GoKind::Object(object), .. }) if object.kind_name() == "slice" => {
                let items: Vec<GoValue> =
                    object.entries().unwrap_or_default().into_iter().map(|(_, item)| item).collect();
                self.evaluator.step(items.len() as u64 / 4)?;
                Ok(items)
            }
            Some(value) => Err(format!("Cannot {what} on type {}", value.kind_name()).into()),
            None => Err(format!("Cannot {what} on nothing").into()),
        }
    }

    fn list(&self, items: Vec<GoValue>) -> FunctionOutcome {
        self.heap().list(items)
    }

    /// Returns the strings of a list, or the string of one value.
    fn texts(&self, number: usize) -> Result<Vec<Text>, TemplateFailure> {
        let value = self.any(number);
        match &value.kind {
            GoKind::List(list) => {
                self.evaluator.step(list.items().len() as u64 / 4)?;
                list.items().iter().filter(|item| !item.is_nil()).map(print::text).collect()
            }
            GoKind::Unknown(cause) => Err(cause.clone().into()),
            _ if value.is_nil() => Ok(Vec::new()),
            _ => Ok(vec![print::text(&value)?]),
        }
    }

    fn spend(&self, bytes: usize) -> Result<(), TemplateFailure> {
        self.evaluator.step(bytes as u64 / BYTES_PER_STEP)?;
        self.heap().spend(bytes)
    }

    /// Checks the budget before a function creates more than it reads.
    fn may_make(&self, bytes: usize) -> Result<(), TemplateFailure> {
        self.evaluator.step(bytes as u64 / BYTES_PER_STEP)?;
        self.heap().fits(bytes)
    }

    fn text_result(&self, text: impl Into<Text>) -> FunctionOutcome {
        Ok(GoValue::from(text.into()))
    }
}

fn unknown(label: &str, why: &str) -> FunctionOutcome {
    Ok(GoValue::unknown(TemplateCause::new(label, why)))
}
