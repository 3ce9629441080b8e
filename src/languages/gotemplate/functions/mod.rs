//! The functions that templates may call: those of Go, of sprig and of Helm, as tables.

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

use super::evaluate::{BYTES_PER_STEP, Evaluator};
use super::failure::TemplateFailure;
use super::print;
use super::text::{Cause, Text};
use super::value::{GoValue, Heap, Kind, Map};

pub(crate) type FunctionOutcome = Result<GoValue, TemplateFailure>;

/// What a function takes in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    Any,
    Text,
    Int,
    Float,
    Flag,
    Map,
}

/// How much of its arguments a function goes through. It pays for that, and for what it makes of it, where it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// It hands on what it is given, or looks at what kind of thing it is.
    Nothing,
    /// The items of a list or a mapping, which it hands on.
    Items,
    /// Everything.
    All,
}

/// All that are not named here read all that they are given, and make something new of it.
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

pub(super) struct Function {
    name: &'static str,
    parameters: Vec<Parameter>,
    /// The last parameter may be given any number of times.
    repeats: bool,
    /// It deals with values that are not known itself; what others make of these is not known.
    pub(super) takes_unknowns: bool,
    /// Text that is no number would be 0 to it.
    pub(super) makes_numbers: bool,
    /// What it gives counts as written where its last argument was.
    pub(super) keeps_origin: bool,
    pub(super) reads: Reads,
    pub(super) run: Run,
}

/// One row: the name, what it takes, how it treats what is not known, and what it does. What it takes are letters: `s` text,
/// `i` int, `f` float, `b` flag, `m` mapping, `a` anything; a star means that the next one may come any number of times.
type Row = (&'static str, &'static str, How, Run);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Gives something of its own.
    Plain,
    /// Gives another form of its last argument.
    Form,
    /// Deals with what is not known, and with origins.
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

static FUNCTIONS: LazyLock<HashMap<&'static str, Function>> = LazyLock::new(|| {
    let rows = TABLES.iter().flat_map(|table| table.iter());
    rows.map(|row| (row.0, Function::new(row))).collect()
});

pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.get(name)
}

pub(crate) fn is_known(name: &str) -> bool {
    matches!(name, "and" | "or") || FUNCTIONS.contains_key(name)
}

impl Function {
    fn new((name, parameters, how, run): &Row) -> Function {
        let letter = |letter: char| match letter {
            's' => Parameter::Text,
            'i' => Parameter::Int,
            'f' => Parameter::Float,
            'b' => Parameter::Flag,
            'm' => Parameter::Map,
            _ => Parameter::Any,
        };
        Function {
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

    pub(super) fn parameter(&self, number: usize) -> Option<Parameter> {
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
    pub(super) evaluator: &'c mut Evaluator<'e>,
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

    /// The text of an argument; an error where it is not known at all.
    fn text(&self, number: usize) -> Result<Text, TemplateFailure> {
        match self.arguments.get(number) {
            Some(GoValue { kind: Kind::Unknown(cause), .. }) => Err(cause.clone().into()),
            Some(value) => Ok(value.text().unwrap_or_else(|| "".into())),
            None => Ok("".into()),
        }
    }

    /// The same where all of it must be known.
    fn known(&self, number: usize) -> Result<&str, TemplateFailure> {
        match self.arguments.get(number).and_then(GoValue::cause) {
            Some(cause) => Err(cause.clone().into()),
            None => Ok(self.str(number)),
        }
    }

    fn int(&self, number: usize) -> i64 {
        match self.arguments.get(number).map(|value| &value.kind) {
            Some(Kind::Int(number) | Kind::Int64(number)) => *number,
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
            Some(Kind::Float(number)) => *number,
            _ => 0.0,
        }
    }

    /// A mapping; nothing where it is empty because there is none.
    fn map(&self, number: usize) -> Result<Option<Map>, TemplateFailure> {
        match self.arguments.get(number) {
            Some(GoValue { kind: Kind::Unknown(cause), .. }) => Err(cause.clone().into()),
            Some(value) => Ok(value.map().cloned()),
            None => Ok(None),
        }
    }

    /// The items of a list, of whatever Go takes for one.
    fn items(&self, number: usize, what: &str) -> Result<Vec<GoValue>, TemplateFailure> {
        match self.arguments.get(number) {
            Some(GoValue { kind: Kind::Unknown(cause), .. }) => Err(cause.clone().into()),
            Some(GoValue { kind: Kind::List(list), .. }) => {
                self.evaluator.step(list.items().len() as u64 / 4)?;
                Ok(list.items().to_vec())
            }
            // The interfaces of a cluster are a list with a name.
            Some(GoValue { kind: Kind::Object(object), .. }) if object.kind_name() == "slice" => {
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

    /// The texts of a list, or the text of one value.
    fn texts(&self, number: usize) -> Result<Vec<Text>, TemplateFailure> {
        let value = self.any(number);
        match &value.kind {
            Kind::List(list) => {
                self.evaluator.step(list.items().len() as u64 / 4)?;
                list.items().iter().filter(|item| !item.is_nil()).map(print::text).collect()
            }
            Kind::Unknown(cause) => Err(cause.clone().into()),
            _ if value.is_nil() => Ok(Vec::new()),
            _ => Ok(vec![print::text(&value)?]),
        }
    }

    fn spend(&self, bytes: usize) -> Result<(), TemplateFailure> {
        self.evaluator.step(bytes as u64 / BYTES_PER_STEP)?;
        self.heap().spend(bytes)
    }

    /// Asked before it makes so much, where that is more than it reads.
    fn may_make(&self, bytes: usize) -> Result<(), TemplateFailure> {
        self.evaluator.step(bytes as u64 / BYTES_PER_STEP)?;
        self.heap().fits(bytes)
    }

    fn made(&self, text: impl Into<Text>) -> FunctionOutcome {
        Ok(GoValue::from(text.into()))
    }
}

fn unknown(label: &str, why: &str) -> FunctionOutcome {
    Ok(GoValue::unknown(Cause::new(label, why)))
}
