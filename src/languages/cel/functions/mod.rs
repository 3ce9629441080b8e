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
use super::types::Type;
use super::value::CelValue;

/// One signature of a function.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Whether the function is called as `x.f(y)` instead of `f(x, y)`.
    pub(crate) is_method: bool,
    /// Types of the arguments, with the receiver first.
    pub(crate) takes: &'static [Takes],
    pub(crate) gives: Gives,
    pub(crate) meaning: &'static str,
    pub(super) run: FunctionBody,
}

impl Function {
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

impl std::fmt::Debug for Function {
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
pub(crate) enum Takes {
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
    Host(fn() -> Type),
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

pub(crate) static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
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
pub(super) fn all(added: &'static [Function]) -> impl Iterator<Item = &'static Function> {
    FUNCTIONS.iter().chain(added)
}

pub(super) fn is_namespace(prefix: &str, added: &'static [Function]) -> bool {
    all(added).any(|f| f.name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.')))
}

/// Defines an entry of the table.
pub(crate) const fn function(
    name: &'static str,
    takes: &'static [Takes],
    gives: Gives,
    run: Plain,
    meaning: &'static str,
) -> Function {
    Function { name, is_method: false, takes, gives, meaning, run: FunctionBody::Own(run) }
}

pub(crate) const fn method(
    name: &'static str,
    takes: &'static [Takes],
    gives: Gives,
    run: Plain,
    meaning: &'static str,
) -> Function {
    Function { name, is_method: true, takes, gives, meaning, run: FunctionBody::Own(run) }
}

/// Defines a function that only the host can evaluate.
pub(crate) const fn of_host(
    name: &'static str,
    takes: &'static [Takes],
    gives: Gives,
    meaning: &'static str,
) -> Function {
    Function { name, is_method: false, takes, gives, meaning, run: FunctionBody::Host }
}

/// Defines a method that only the host can evaluate: `x.f(y)`.
pub(crate) const fn method_of_host(
    name: &'static str,
    takes: &'static [Takes],
    gives: Gives,
    meaning: &'static str,
) -> Function {
    Function { name, is_method: true, takes, gives, meaning, run: FunctionBody::Host }
}

impl Function {
    pub(super) fn accepts_types(&self, given: &[Type]) -> bool {
        self.takes.len() == given.len() && self.takes.iter().zip(given).all(|(takes, given)| takes.accepts_type(given))
    }

    pub(super) fn accepts(&self, given: &[CelValue]) -> bool {
        self.takes.len() == given.len() && self.takes.iter().zip(given).all(|(takes, given)| takes.accepts(given))
    }

    pub(super) fn result(&self, given: &[Type]) -> Type {
        let first = given.first().cloned().unwrap_or(Type::Any);
        let member = |of: &Type| match of {
            Type::List(member) | Type::Optional(member) => (**member).clone(),
            _ => Type::Any,
        };
        match self.gives {
            Gives::Any => Type::Any,
            Gives::Host(of) => of(),
            Gives::Flag => Type::Flag,
            Gives::Integer => Type::Integer,
            Gives::Unsigned => Type::Unsigned,
            Gives::Double => Type::Double,
            Gives::Text => Type::Text,
            Gives::Bytes => Type::Bytes,
            Gives::Texts => Type::list(Type::Text),
            Gives::Integers => Type::list(Type::Integer),
            Gives::Duration => Type::Duration,
            Gives::Timestamp => Type::Timestamp,
            Gives::Kind => Type::Kind,
            Gives::Opaque(opaque) => Type::Opaque(opaque),
            Gives::Same => first,
            Gives::Member => member(&first),
            Gives::OptionalSame => Type::Optional(Box::new(first)),
            Gives::OptionalAny => Type::Optional(Box::new(Type::Any)),
            Gives::OptionalMember => Type::Optional(Box::new(member(&first))),
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

impl Takes {
    fn name(self) -> &'static str {
        match self {
            Takes::Any => "value",
            Takes::Null => "null",
            Takes::Flag => "bool",
            Takes::Integer => "int",
            Takes::Unsigned => "uint",
            Takes::Double => "double",
            Takes::Number => "number",
            Takes::Text => "string",
            Takes::Bytes => "bytes",
            Takes::List => "list",
            Takes::Texts => "list(string)",
            Takes::Map => "map",
            Takes::Duration => "duration",
            Takes::Timestamp => "timestamp",
            Takes::Optional => "optional",
            Takes::Opaque(opaque) => opaque.name(),
            Takes::Record => "resource",
        }
    }

    fn accepts_type(self, given: &Type) -> bool {
        match (self, given) {
            (Takes::Any, _) | (_, Type::Any) => true,
            (Takes::Number, given) => given.is_number(),
            (Takes::Texts, Type::List(of)) => of.suits(&Type::Text),
            (Takes::Opaque(takes), Type::Opaque(given)) => takes == *given,
            (Takes::Record, Type::Record(_)) => true,
            (Takes::List, Type::List(_)) | (Takes::Map, Type::Map(..)) | (Takes::Optional, Type::Optional(_)) => true,
            (takes, given) => match given {
                Type::Null => takes == Takes::Null,
                Type::Flag => takes == Takes::Flag,
                Type::Integer => takes == Takes::Integer,
                Type::Unsigned => takes == Takes::Unsigned,
                Type::Double => takes == Takes::Double,
                Type::Text => takes == Takes::Text,
                Type::Bytes => takes == Takes::Bytes,
                Type::Duration => takes == Takes::Duration,
                Type::Timestamp => takes == Takes::Timestamp,
                _ => false,
            },
        }
    }

    fn accepts(self, given: &CelValue) -> bool {
        match (self, given) {
            (Takes::Any, _) => true,
            (Takes::Number, given) => given.as_number().is_some(),
            (Takes::Opaque(takes), CelValue::Opaque(given)) => takes == given.kind(),
            (Takes::Texts, CelValue::List(items)) => items.iter().all(|item| matches!(item, CelValue::Text(_))),
            (takes, given) => matches!(
                (takes, given),
                (Takes::Null, CelValue::Null)
                    | (Takes::Flag, CelValue::Flag(_))
                    | (Takes::Integer, CelValue::Integer(_))
                    | (Takes::Unsigned, CelValue::Unsigned(_))
                    | (Takes::Double, CelValue::Double(_))
                    | (Takes::Text, CelValue::Text(_))
                    | (Takes::Bytes, CelValue::Bytes(_))
                    | (Takes::List, CelValue::List(_))
                    | (Takes::Map, CelValue::Map(_))
                    | (Takes::Duration, CelValue::Duration(_))
                    | (Takes::Timestamp, CelValue::Timestamp(_))
                    | (Takes::Optional, CelValue::Optional(_))
                    | (Takes::Record, CelValue::Record(_))
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
