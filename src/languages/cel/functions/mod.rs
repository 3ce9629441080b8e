//! Implements the functions of the language: one table that checks calls, runs them and documents itself.

mod convert;
mod encoders;
mod format;
mod lists;
mod math;
mod optionals;
mod text;
mod things;
mod times;

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use super::budget::CelBudget;
use super::opaque::Opaque;
use super::operators::Fault;
use super::types::CelType;
use super::value::CelValue;

/// One signature of a function.
pub(crate) struct CelOverload {
    pub(crate) name: &'static str,
    /// Whether the function is called as `x.f(y)` instead of `f(x, y)`.
    pub(crate) is_method: bool,
    /// Types of the arguments, with the receiver first.
    pub(crate) takes: &'static [ArgumentForm],
    pub(crate) gives: Gives,
    pub(crate) meaning: &'static str,
    pub(super) run: FunctionBody,
}

impl CelOverload {
    /// Returns true if the host evaluates it.
    pub(super) fn is_of_host(&self) -> bool {
        matches!(self.run, FunctionBody::Host)
    }

    /// Returns why the function fails on these values, if this depends on nothing else.
    pub(super) fn fails_on(&self, given: &[CelValue]) -> Option<String> {
        let FunctionBody::Own(run) = self.run else { return None };
        match run(&mut CelBudget::standard(), given) {
            Err(Fault::Failed(why)) => Some(why),
            _ => None,
        }
    }
}

impl std::fmt::Debug for CelOverload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.signature())
    }
}

pub(crate) type Plain = fn(&mut CelBudget, &[CelValue]) -> Result<CelValue, Fault>;

/// The implementation of a function.
#[derive(Debug, Clone, Copy)]
pub(in crate::languages::cel) enum FunctionBody {
    Own(Plain),
    /// The host evaluates it by name.
    Host,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentForm {
    Any,
    Null,
    Flag,
    Integer,
    Unsigned,
    Double,
    Number,
    Text,
    Bytes,
    List,
    Texts,
    Map,
    Duration,
    Timestamp,
    Optional,
    Opaque(Opaque),
    Record,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Gives {
    Any,
    /// A type of the host.
    Host(fn() -> CelType),
    Flag,
    Integer,
    Unsigned,
    Double,
    Text,
    Bytes,
    Texts,
    Integers,
    Duration,
    Timestamp,
    Kind,
    Opaque(Opaque),
    /// The type of the first argument.
    Same,
    /// The type of a member of the first argument.
    Member,
    /// An optional of the first argument's type.
    OptionalSame,
    OptionalMember,
    OptionalAny,
}

/// The names of types, which are values too.
pub(super) const TYPE_NAMES: &[&str] = &[
    "int",
    "uint",
    "double",
    "bool",
    "string",
    "bytes",
    "list",
    "map",
    "null_type",
    "type",
    "optional_type",
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
    "net.IP",
    "net.CIDR",
    "kubernetes.Quantity",
    "kubernetes.URL",
    "kubernetes.Semver",
];

/// The macros, with their meanings.
pub(crate) const MACROS: &[(&str, &str)] = &[
    ("has", "has(a.b): true if the value is set"),
    ("known", "known(x): true if the value is not unknown"),
    ("possible", "possible(x): list of all values that x can have: one if x is known, none if x is not set"),
    ("all", "list.all(x, condition): true if the condition holds for every member; for a map, x is the key"),
    ("exists", "list.exists(x, condition): true if the condition holds for at least one member"),
    ("exists_one", "list.exists_one(x, condition): true if the condition holds for exactly one member"),
    ("filter", "list.filter(x, condition): members for which the condition holds"),
    (
        "map",
        "list.map(x, value): list with one computed value for each member; list.map(x, condition, value) uses only the members for \
     which the condition holds",
    ),
    ("transformList", "list.transformList(i, x, value): as map, where i is the index, or the key of a map"),
    ("transformMap", "map.transformMap(k, v, value): map with the same keys and computed values"),
    ("transformMapEntry", "map.transformMapEntry(k, v, {key: value}): map with computed keys and values"),
    ("optMap", "optional.optMap(x, value): optional with a computed value, or empty if the optional is empty"),
    ("optFlatMap", "optional.optFlatMap(x, optional): as optMap, where the computed value is an optional itself"),
    ("cel.bind", "cel.bind(x, value, expression): the expression, in which x names the value"),
];

pub(crate) static FUNCTIONS: LazyLock<Vec<CelOverload>> = LazyLock::new(|| {
    let mut all = Vec::with_capacity(160);
    all.extend(convert::functions());
    all.extend(text::functions());
    all.extend(lists::functions());
    all.extend(math::functions());
    all.extend(times::functions());
    all.extend(optionals::functions());
    all.extend(encoders::functions());
    all.extend(format::functions());
    all.extend(things::functions());
    all
});

/// Returns the functions of the language and those that a host adds.
pub(super) fn all(added: &'static [CelOverload]) -> impl Iterator<Item = &'static CelOverload> {
    FUNCTIONS.iter().chain(added)
}

pub(super) fn is_namespace(prefix: &str, added: &'static [CelOverload]) -> bool {
    all(added).any(|f| f.name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.')))
}

/// Defines an entry of the table.
pub(crate) const fn function(
    name: &'static str,
    takes: &'static [ArgumentForm],
    gives: Gives,
    run: Plain,
    meaning: &'static str,
) -> CelOverload {
    CelOverload { name, is_method: false, takes, gives, meaning, run: FunctionBody::Own(run) }
}

pub(crate) const fn method(
    name: &'static str,
    takes: &'static [ArgumentForm],
    gives: Gives,
    run: Plain,
    meaning: &'static str,
) -> CelOverload {
    CelOverload { name, is_method: true, takes, gives, meaning, run: FunctionBody::Own(run) }
}

/// Defines a function that only the host can evaluate.
pub(crate) const fn of_host(
    name: &'static str,
    takes: &'static [ArgumentForm],
    gives: Gives,
    meaning: &'static str,
) -> CelOverload {
    CelOverload { name, is_method: false, takes, gives, meaning, run: FunctionBody::Host }
}

/// Defines a method that only the host can evaluate: `x.f(y)`.
pub(crate) const fn method_of_host(
    name: &'static str,
    takes: &'static [ArgumentForm],
    gives: Gives,
    meaning: &'static str,
) -> CelOverload {
    CelOverload { name, is_method: true, takes, gives, meaning, run: FunctionBody::Host }
}

impl CelOverload {
    pub(super) fn accepts_types(&self, given: &[CelType]) -> bool {
        self.takes.len() == given.len() && self.takes.iter().zip(given).all(|(takes, given)| takes.accepts_type(given))
    }

    pub(super) fn accepts(&self, given: &[CelValue]) -> bool {
        self.takes.len() == given.len() && self.takes.iter().zip(given).all(|(takes, given)| takes.accepts(given))
    }

    pub(super) fn result(&self, given: &[CelType]) -> CelType {
        let first = given.first().cloned().unwrap_or(CelType::Any);
        let member = |of: &CelType| match of {
            CelType::List(member) | CelType::Optional(member) => (**member).clone(),
            _ => CelType::Any,
        };
        match self.gives {
            Gives::Any => CelType::Any,
            Gives::Host(of) => of(),
            Gives::Flag => CelType::Flag,
            Gives::Integer => CelType::Integer,
            Gives::Unsigned => CelType::Unsigned,
            Gives::Double => CelType::Double,
            Gives::Text => CelType::Text,
            Gives::Bytes => CelType::Bytes,
            Gives::Texts => CelType::list(CelType::Text),
            Gives::Integers => CelType::list(CelType::Integer),
            Gives::Duration => CelType::Duration,
            Gives::Timestamp => CelType::Timestamp,
            Gives::Kind => CelType::Kind,
            Gives::Opaque(opaque) => CelType::Opaque(opaque),
            Gives::Same => first,
            Gives::Member => member(&first),
            Gives::OptionalSame => CelType::Optional(Box::new(first)),
            Gives::OptionalAny => CelType::Optional(Box::new(CelType::Any)),
            Gives::OptionalMember => CelType::Optional(Box::new(member(&first))),
        }
    }

    /// Returns the result for an absent argument: false for a test, else absent.
    pub(super) fn when_absent(&self) -> CelValue {
        match self.gives {
            Gives::Flag => CelValue::Flag(false),
            Gives::Integer if self.name == "size" => CelValue::Integer(0),
            _ => CelValue::Absent,
        }
    }

    /// Returns true if members that may not exist stay in the result of the function.
    pub(super) fn keeps_members(&self) -> bool {
        matches!((self.run, self.gives), (FunctionBody::Host, Gives::Same))
    }

    pub(crate) fn signature(&self) -> String {
        let names: Vec<&str> = self.takes.iter().map(|takes| takes.name()).collect();
        match (self.is_method, names.as_slice()) {
            (true, [receiver, rest @ ..]) => format!("`{receiver}.{}({})`", self.name, rest.join(", ")),
            _ => format!("`{}({})`", self.name, names.join(", ")),
        }
    }
}

impl ArgumentForm {
    fn name(self) -> &'static str {
        match self {
            ArgumentForm::Any => "value",
            ArgumentForm::Null => "null",
            ArgumentForm::Flag => "bool",
            ArgumentForm::Integer => "int",
            ArgumentForm::Unsigned => "uint",
            ArgumentForm::Double => "double",
            ArgumentForm::Number => "number",
            ArgumentForm::Text => "string",
            ArgumentForm::Bytes => "bytes",
            ArgumentForm::List => "list",
            ArgumentForm::Texts => "list(string)",
            ArgumentForm::Map => "map",
            ArgumentForm::Duration => "duration",
            ArgumentForm::Timestamp => "timestamp",
            ArgumentForm::Optional => "optional",
            ArgumentForm::Opaque(opaque) => opaque.name(),
            ArgumentForm::Record => "resource",
        }
    }

    fn accepts_type(self, given: &CelType) -> bool {
        match (self, given) {
            (ArgumentForm::Any, _) | (_, CelType::Any) => true,
            (ArgumentForm::Number, given) => given.is_number(),
            (ArgumentForm::Texts, CelType::List(of)) => of.suits(&CelType::Text),
            (ArgumentForm::Opaque(takes), CelType::Opaque(given)) => takes == *given,
            (ArgumentForm::Record, CelType::Record(_)) => true,
            (ArgumentForm::List, CelType::List(_))
            | (ArgumentForm::Map, CelType::Map(..))
            | (ArgumentForm::Optional, CelType::Optional(_)) => true,
            (takes, given) => match given {
                CelType::Null => takes == ArgumentForm::Null,
                CelType::Flag => takes == ArgumentForm::Flag,
                CelType::Integer => takes == ArgumentForm::Integer,
                CelType::Unsigned => takes == ArgumentForm::Unsigned,
                CelType::Double => takes == ArgumentForm::Double,
                CelType::Text => takes == ArgumentForm::Text,
                CelType::Bytes => takes == ArgumentForm::Bytes,
                CelType::Duration => takes == ArgumentForm::Duration,
                CelType::Timestamp => takes == ArgumentForm::Timestamp,
                _ => false,
            },
        }
    }

    fn accepts(self, given: &CelValue) -> bool {
        match (self, given) {
            (ArgumentForm::Any, _) => true,
            (ArgumentForm::Number, given) => given.as_number().is_some(),
            (ArgumentForm::Opaque(takes), CelValue::Opaque(given)) => takes == given.kind(),
            (ArgumentForm::Texts, CelValue::List(items)) => items.iter().all(|item| matches!(item, CelValue::Text(_))),
            (takes, given) => matches!(
                (takes, given),
                (ArgumentForm::Null, CelValue::Null)
                    | (ArgumentForm::Flag, CelValue::Flag(_))
                    | (ArgumentForm::Integer, CelValue::Integer(_))
                    | (ArgumentForm::Unsigned, CelValue::Unsigned(_))
                    | (ArgumentForm::Double, CelValue::Double(_))
                    | (ArgumentForm::Text, CelValue::Text(_))
                    | (ArgumentForm::Bytes, CelValue::Bytes(_))
                    | (ArgumentForm::List, CelValue::List(_))
                    | (ArgumentForm::Map, CelValue::Map(_))
                    | (ArgumentForm::Duration, CelValue::Duration(_))
                    | (ArgumentForm::Timestamp, CelValue::Timestamp(_))
                    | (ArgumentForm::Optional, CelValue::Optional(_))
                    | (ArgumentForm::Record, CelValue::Record(_))
            ),
        }
    }
}

/// Compiles a regular expression of limited size; matching takes linear time.
pub(crate) fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).size_limit(1 << 20).nest_limit(64).build().map_err(|error| {
        let last = error.to_string();
        let why = last.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("the regular expression is invalid: {why}")
    })
}

/// Returns the error for arguments that the type check should have refused.
pub(crate) fn wrong() -> Fault {
    "no matching overload".into()
}
