use std::ops::Range;
use std::sync::Arc;

use super::budget::Budget;
use super::check::{Lookup, Node, What};
use super::functions::{Ask, Function, Run};
use super::macros::{Goal, Walk};
use super::map::{Key, Map};
use super::operators::{self, Fault};
use super::syntax::Operator;
use super::value::{Handle, Unknown, Value};
use crate::source::Expression;

/// What an expression is evaluated against.
pub(in crate::rules) trait Host {
    fn variable(&self, number: usize) -> Value;
    fn field(&self, record: Handle, field: usize) -> Value;

    /// What only the host can answer.
    fn ask(&self, what: Ask, given: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
        let _ = (what, given, budget);
        Ok(Value::Absent)
    }
}

/// A fact that an evaluation depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::rules) struct Read {
    pub(in crate::rules) record: Handle,
    pub(in crate::rules) field: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::rules) struct Failure {
    pub(in crate::rules) at: Range<usize>,
    pub(in crate::rules) message: String,
    /// The budget is used up.
    pub(in crate::rules) is_exhausted: bool,
}

#[derive(Debug)]
pub(in crate::rules) struct Evaluation {
    pub(in crate::rules) result: Result<Value, Failure>,
    /// The facts that decided: of `a || b`, where only `b` is true, those of `b`.
    pub(in crate::rules) reads: Vec<Read>,
}

pub(super) fn evaluate(node: &Node, host: &dyn Host, budget: &mut Budget) -> Evaluation {
    let mut run = Evaluator { host, budget, locals: Vec::new(), reads: Vec::new() };
    let result = run.eval(node);
    Evaluation { result, reads: run.reads }
}

struct Evaluator<'a> {
    host: &'a dyn Host,
    budget: &'a mut Budget,
    locals: Vec<Value>,
    reads: Vec<Read>,
}

type Evaluated = Result<Value, Failure>;

impl Evaluator<'_> {
    fn eval(&mut self, node: &Node) -> Evaluated {
        self.budget.spend(1).map_err(|_| exhausted(node))?;
        match &node.what {
            What::Constant(value) => Ok(value.clone()),
            What::Variable(number) => Ok(self.host.variable(*number)),
            What::Local(place) => Ok(self.locals.get(*place).cloned().unwrap_or(Value::Null)),
            What::Field(of, field) => {
                let of = self.eval(of)?;
                self.field(node, of, *field)
            }
            What::Select(of, name, lookup) => {
                let of = self.eval(of)?;
                self.select(node, of, name, *lookup)
            }
            What::Index(of, key, lookup) => {
                let of = self.eval(of)?;
                let key = self.eval(key)?;
                self.index(node, of, &key, *lookup)
            }
            What::Call(candidates, arguments) => self.call(node, candidates, arguments),
            What::Matches(of, pattern) => {
                let of = self.eval(of)?;
                self.matches(node, &of, pattern)
            }
            What::List(items) => self.list(node, items),
            What::Map(entries) => self.map(node, entries),
            What::Not(of) => match self.eval(of)? {
                Value::Flag(flag) => Ok(Value::Flag(!flag)),
                Value::Absent => Ok(Value::Flag(true)),
                Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
                other => Err(failed(node, format!("no matching overload: ! {}", other.kind()))),
            },
            What::Negative(of) => negative(node, self.eval(of)?),
            What::Binary(operator, sides) => self.binary(node, *operator, &sides.0, &sides.1),
            What::And(parts) => self.decide(parts.iter(), false),
            What::Or(parts) => self.decide(parts.iter(), true),
            What::Conditional(parts) => self.conditional(node, &parts.0, &parts.1, &parts.2),
            What::Has(of) => self.has(of),
            What::Known(of) => Ok(Value::Flag(!matches!(self.eval(of)?, Value::Unknown(_)))),
            What::Walk(walk) => self.walk(node, walk),
            What::OfOptional(parts, is_flat) => match self.eval(&parts.0)? {
                Value::Optional(Some(inner)) => {
                    self.locals.push(Value::clone(&inner));
                    let result = self.eval(&parts.1);
                    self.locals.pop();
                    Ok(if *is_flat { result? } else { wrap(result?, Lookup::May) })
                }
                other @ (Value::Optional(None) | Value::Unknown(_)) => Ok(other),
                Value::Absent => Ok(Value::Optional(None)),
                other => Err(failed(node, format!("no matching overload: {} is no optional", other.kind()))),
            },
            What::Bind(parts) => {
                let value = self.eval(&parts.0)?;
                self.locals.push(value);
                let result = self.eval(&parts.1);
                self.locals.pop();
                result
            }
        }
    }

    fn field(&mut self, node: &Node, of: Value, field: usize) -> Evaluated {
        match of {
            Value::Record(record) => {
                if record.schema.has_facts {
                    self.reads.push(Read { record, field });
                }
                Ok(self.host.field(record, field))
            }
            Value::Absent => Ok(Value::Absent),
            Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
            other => Err(failed(node, format!("{} has no fields", other.kind()))),
        }
    }

    fn select(&mut self, node: &Node, of: Value, name: &Arc<str>, lookup: Lookup) -> Evaluated {
        match of {
            Value::Optional(Some(inner)) => {
                let inner = self.select(node, Value::clone(&inner), name, Lookup::May)?;
                Ok(inner)
            }
            Value::Record(record) => match record.schema.field(name) {
                Some(field) => {
                    let value = self.field(node, of, field)?;
                    Ok(wrap(value, lookup))
                }
                None => Err(failed(node, format!("{} has no field `{name}`", record.schema.name))),
            },
            Value::Map(_) => self.index(node, of, &Value::Text(name.clone()), lookup),
            Value::Optional(None) => Ok(Value::Optional(None)),
            Value::Absent if lookup == Lookup::May => Ok(Value::Optional(None)),
            Value::Absent => Ok(Value::Absent),
            Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
            other => Err(failed(node, format!("no matching overload: {} has no field `{name}`", other.kind()))),
        }
    }

    fn index(&mut self, node: &Node, of: Value, key: &Value, lookup: Lookup) -> Evaluated {
        if let Value::Unknown(unknown) = key {
            return Ok(Value::Unknown(unknown.derived()));
        }
        let missing = |what: String| match lookup {
            Lookup::May => Ok(Value::Optional(None)),
            Lookup::Must => Err(failed(node, what)),
        };
        match of {
            Value::Map(map) => {
                let Some(sort) = Key::of(key) else { return missing(format!("no such key: {}", key.kind())) };
                match (map.get(&sort), &map.open) {
                    (Some(value), _) => Ok(wrap(value.clone(), lookup)),
                    (None, Some(open)) => Ok(Value::Unknown(open.clone())),
                    (None, None) if map.lenient && lookup == Lookup::Must => Ok(Value::Absent),
                    (None, None) => missing(format!("no such key: {}", text_of_key(&sort))),
                }
            }
            Value::List(items) => {
                let Some(Key::Number(place)) = Key::of(key) else {
                    return missing(format!("no matching overload: list[{}]", key.kind()));
                };
                match usize::try_from(place).ok().and_then(|place| items.get(place)) {
                    Some(value) => Ok(wrap(value.clone(), lookup)),
                    None => missing(format!("index out of bounds: {place} of {}", items.len())),
                }
            }
            Value::Optional(Some(inner)) => self.index(node, Value::clone(&inner), key, Lookup::May),
            Value::Optional(None) => Ok(Value::Optional(None)),
            Value::Absent if lookup == Lookup::May => Ok(Value::Optional(None)),
            Value::Absent => Ok(Value::Absent),
            Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
            other => Err(failed(node, format!("no matching overload: {} cannot be indexed", other.kind()))),
        }
    }

    fn has(&mut self, of: &Node) -> Evaluated {
        // whether a key is there does not depend on its value
        if let What::Select(inner, name, Lookup::Must) = &of.what {
            let container = self.eval(inner)?;
            if let Value::Map(map) = &container {
                let found = map.get(&Key::Text(name.clone()));
                return Ok(match (found, &map.open) {
                    (None, Some(open)) => Value::Unknown(open.clone()),
                    (found, _) => Value::Flag(found.is_some_and(|value| !matches!(value, Value::Absent))),
                });
            }
            let value = self.select(of, container, name, Lookup::Must)?;
            return Ok(is_there(value));
        }
        self.eval(of).map(is_there)
    }

    fn list(&mut self, node: &Node, items: &[(Node, bool)]) -> Evaluated {
        self.budget.build(std::mem::size_of_val(items)).map_err(|_| exhausted(node))?;
        let mut values = Vec::with_capacity(items.len());
        for (item, optional) in items {
            match (self.eval(item)?, optional) {
                (Value::Optional(Some(inner)), true) => values.push(Value::clone(&inner)),
                (Value::Optional(None), true) => {}
                (other, true) => return Err(failed(item, format!("no matching overload: ?{}", other.kind()))),
                (value, false) => values.push(value),
            }
        }
        Ok(Value::List(values.into()))
    }

    fn map(&mut self, node: &Node, entries: &[(Node, Node, bool)]) -> Evaluated {
        self.budget.build(std::mem::size_of_val(entries)).map_err(|_| exhausted(node))?;
        let mut map = Map::default();
        for (key, value, optional) in entries {
            let sort = self.eval(key)?;
            if let Value::Unknown(unknown) = sort {
                return Ok(Value::Unknown(unknown.derived()));
            }
            let value = match (self.eval(value)?, optional) {
                (Value::Optional(Some(inner)), true) => Value::clone(&inner),
                (Value::Optional(None), true) => continue,
                (other, true) => return Err(failed(value, format!("no matching overload: ?{}", other.kind()))),
                (value, false) => value,
            };
            insert(key, &mut map, sort, value)?;
        }
        Ok(Value::Map(Arc::new(map)))
    }

    fn binary(&mut self, node: &Node, operator: Operator, left: &Node, right: &Node) -> Evaluated {
        let left = self.eval(left);
        let left = match left {
            Err(failure) if failure.is_exhausted => return Err(failure),
            other => other,
        };
        let right = self.eval(right);
        let (left, right) = match (left, right) {
            (Ok(left), Ok(right)) => (left, right),
            // what is unknown weighs more than what fails beside it
            (Ok(Value::Unknown(unknown)), Err(failure)) | (Err(failure), Ok(Value::Unknown(unknown))) => {
                return if failure.is_exhausted { Err(failure) } else { Ok(Value::Unknown(unknown.derived())) };
            }
            (Err(failure), _) | (_, Err(failure)) => return Err(failure),
        };
        operators::binary(operator, &left, &right, self.budget).map_err(|fault| fail(node, fault))
    }

    /// `&&` and `||`, whose operands may stand in any order: one that decides makes up for others that are unknown or fail.
    fn decide<'n>(&mut self, parts: impl Iterator<Item = &'n Node>, decisive: bool) -> Evaluated {
        let start = self.reads.len();
        let mut unknown = None;
        let mut failure: Option<Failure> = None;
        for part in parts {
            let before = self.reads.len();
            match self.eval(part) {
                Ok(Value::Flag(flag)) if flag == decisive => return Ok(self.decided(start, before, decisive)),
                Ok(Value::Absent) if !decisive => return Ok(self.decided(start, before, decisive)),
                Ok(Value::Flag(_) | Value::Absent) => {}
                Ok(Value::Unknown(why)) => unknown = Some(Unknown::or_weightier(unknown, why)),
                Ok(other) => {
                    let sign = if decisive { "||" } else { "&&" };
                    failure.get_or_insert(failed(part, format!("no matching overload: {sign} {}", other.kind())));
                }
                Err(exhausted) if exhausted.is_exhausted => return Err(exhausted),
                Err(other) => {
                    failure.get_or_insert(other);
                }
            }
        }
        match (unknown, failure) {
            (Some(unknown), _) => Ok(Value::Unknown(unknown.derived())),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(Value::Flag(!decisive)),
        }
    }

    /// The facts read between `start` and `before` did not decide.
    fn decided(&mut self, start: usize, before: usize, flag: bool) -> Value {
        self.reads.drain(start..before);
        Value::Flag(flag)
    }

    fn conditional(&mut self, node: &Node, test: &Node, yes: &Node, no: &Node) -> Evaluated {
        match self.eval(test)? {
            Value::Flag(true) => self.eval(yes),
            Value::Flag(false) | Value::Absent => self.eval(no),
            Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
            other => Err(failed(node, format!("no matching overload: {} ? :", other.kind()))),
        }
    }

    fn call(&mut self, node: &Node, candidates: &[&'static Function], arguments: &[Node]) -> Evaluated {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.eval(argument)?);
        }
        let result = match self.call_with_candidates(candidates, &values) {
            Some(result) => result,
            None => self.run(candidates, &values),
        };
        result.map_err(|fault| fail(node, fault))
    }

    fn run(&mut self, candidates: &[&'static Function], values: &[Value]) -> Result<Value, Fault> {
        if let Some(first) = candidates.first()
            && values.iter().any(|value| matches!(value, Value::Absent))
        {
            return Ok(first.when_absent());
        }
        match candidates.iter().find(|function| function.accepts(values)) {
            Some(function) => match function.run {
                Run::Own(run) => run(self.budget, values),
                Run::Host(what) => self.host.ask(what, values, self.budget),
            },
            None => {
                let name = candidates.first().map_or("", |function| function.name);
                let kinds: Vec<&str> = values.iter().map(Value::kind).collect();
                Err(format!("no matching overload: {name}({})", kinds.join(", ")).into())
            }
        }
    }

    /// A test of something that can only be one of a few values.
    fn call_with_candidates(
        &mut self,
        candidates: &[&'static Function],
        values: &[Value],
    ) -> Option<Result<Value, Fault>> {
        let mut unknowns = values.iter().enumerate().filter_map(|(place, value)| match value {
            Value::Unknown(unknown) => Some((place, unknown)),
            _ => None,
        });
        let (place, unknown) = unknowns.next()?;
        let only_one = unknowns.next().is_none();
        let mut agreed = None;
        let possible = if only_one { unknown.candidates.as_slice() } else { &[] };
        for candidate in possible {
            let mut values = values.to_vec();
            values[place] = candidate.clone();
            match self.run(candidates, &values) {
                Ok(Value::Flag(flag)) if agreed.is_none_or(|agreed| agreed == flag) => agreed = Some(flag),
                Err(Fault::Exhausted) => return Some(Err(Fault::Exhausted)),
                _ => return Some(Ok(Value::Unknown(unknown.derived()))),
            }
        }
        Some(Ok(agreed.map_or_else(|| Value::Unknown(unknown.derived()), Value::Flag)))
    }

    fn matches(&mut self, node: &Node, of: &Value, regex: &Expression) -> Evaluated {
        match of {
            Value::Text(text) => {
                self.budget.spend(text.len() / 8).map_err(|_| exhausted(node))?;
                Ok(Value::Flag(regex.is_match(text)))
            }
            Value::Absent => Ok(Value::Flag(false)),
            Value::Unknown(unknown) => {
                let mut answers = unknown.candidates.iter().map(|candidate| match candidate {
                    Value::Text(text) => Some(regex.is_match(text)),
                    _ => None,
                });
                match answers.next().flatten() {
                    Some(first) if answers.all(|answer| answer == Some(first)) => Ok(Value::Flag(first)),
                    _ => Ok(Value::Unknown(unknown.derived())),
                }
            }
            other => Err(failed(node, format!("no matching overload: matches({}, string)", other.kind()))),
        }
    }

    fn walk(&mut self, node: &Node, walk: &Walk) -> Evaluated {
        let (members, open) = match self.eval(&walk.over)? {
            Value::List(items) => (list_members(&items), None),
            Value::Map(map) => (map_members(&map, walk.is_keyed), map.open.clone()),
            Value::Absent => (Vec::new(), None),
            Value::Unknown(unknown) => return Ok(Value::Unknown(unknown.derived())),
            other => return Err(failed(node, format!("no matching overload: {} has no members", other.kind()))),
        };
        self.budget.build(members.len() * size_of::<Value>()).map_err(|_| exhausted(node))?;
        match walk.goal {
            Goal::All => self.quantify(walk, &members, open, false),
            Goal::Exists => self.quantify(walk, &members, open, true),
            Goal::ExistsOne => self.exactly_one(walk, &members, open),
            _ => self.collect(walk, members, open),
        }
    }

    /// Evaluates a part of a walk for one member.
    fn with_member(&mut self, walk: &Walk, (key, value): &(Value, Value), part: &Node) -> Evaluated {
        let before = self.locals.len();
        if walk.is_keyed {
            self.locals.push(key.clone());
        }
        self.locals.push(value.clone());
        let result = self.eval(part);
        self.locals.truncate(before);
        result
    }

    fn quantify(
        &mut self,
        walk: &Walk,
        members: &[(Value, Value)],
        open: Option<Arc<Unknown>>,
        decisive: bool,
    ) -> Evaluated {
        let Some(test) = &walk.test else { return Ok(Value::Flag(!decisive)) };
        let start = self.reads.len();
        let mut unknown = open;
        let mut failure: Option<Failure> = None;
        for member in members {
            let before = self.reads.len();
            match self.with_member(walk, member, test) {
                Ok(Value::Flag(flag)) if flag == decisive => return Ok(self.decided(start, before, decisive)),
                Ok(Value::Absent) if !decisive => return Ok(self.decided(start, before, decisive)),
                Ok(Value::Flag(_) | Value::Absent) => {}
                Ok(Value::Unknown(why)) => unknown = Some(Unknown::or_weightier(unknown, why)),
                Ok(other) => {
                    failure.get_or_insert(failed(test, format!("no matching overload: {} is no bool", other.kind())));
                }
                Err(exhausted) if exhausted.is_exhausted => return Err(exhausted),
                Err(other) => {
                    failure.get_or_insert(other);
                }
            }
        }
        match (unknown, failure) {
            (Some(unknown), _) => Ok(Value::Unknown(unknown.derived())),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(Value::Flag(!decisive)),
        }
    }

    fn exactly_one(&mut self, walk: &Walk, members: &[(Value, Value)], open: Option<Arc<Unknown>>) -> Evaluated {
        let Some(test) = &walk.test else { return Ok(Value::Flag(false)) };
        let mut unknown = open;
        let mut found = 0;
        for member in members {
            match self.with_member(walk, member, test)? {
                Value::Flag(flag) => found += usize::from(flag),
                Value::Absent => {}
                Value::Unknown(why) => unknown = Some(Unknown::or_weightier(unknown, why)),
                other => return Err(failed(test, format!("no matching overload: {} is no bool", other.kind()))),
            }
        }
        Ok(match unknown {
            Some(unknown) if found < 2 => Value::Unknown(unknown.derived()),
            _ => Value::Flag(found == 1),
        })
    }

    fn collect(&mut self, walk: &Walk, members: Vec<(Value, Value)>, open: Option<Arc<Unknown>>) -> Evaluated {
        if let Some(open) = open {
            return Ok(Value::Unknown(open));
        }
        let mut list = Vec::new();
        let mut map = Map::default();
        for member in members {
            if let Some(test) = &walk.test {
                match self.with_member(walk, &member, test)? {
                    Value::Flag(true) => {}
                    Value::Flag(false) | Value::Absent => continue,
                    Value::Unknown(unknown) => return Ok(Value::Unknown(unknown.derived())),
                    other => return Err(failed(test, format!("no matching overload: {} is no bool", other.kind()))),
                }
            }
            let made = match &walk.gives {
                Some(gives) => self.with_member(walk, &member, gives)?,
                None => member.1.clone(),
            };
            let node = walk.gives.as_ref().unwrap_or(&walk.over);
            match (walk.goal, made) {
                (Goal::Map, made) => insert(node, &mut map, member.0, made)?,
                (Goal::Entries, Value::Map(made)) => {
                    for (key, value) in made.iter() {
                        insert(node, &mut map, key.clone(), value.clone())?;
                    }
                }
                (Goal::Entries, Value::Unknown(unknown)) => return Ok(Value::Unknown(unknown)),
                (Goal::Entries, other) => return Err(failed(node, format!("{} is no map", other.kind()))),
                (_, made) => list.push(made),
            }
        }
        Ok(match walk.goal {
            Goal::Map | Goal::Entries => Value::Map(Arc::new(map)),
            _ => Value::List(list.into()),
        })
    }
}

fn list_members(items: &[Value]) -> Vec<(Value, Value)> {
    items.iter().enumerate().map(|(place, value)| (Value::Integer(place as i64), value.clone())).collect()
}

/// The one variable of a walk over a map is the key.
fn map_members(map: &Map, is_keyed: bool) -> Vec<(Value, Value)> {
    map.iter().map(|(key, value)| (key.clone(), if is_keyed { value.clone() } else { key.clone() })).collect()
}

fn wrap(value: Value, lookup: Lookup) -> Value {
    match (lookup, value) {
        (Lookup::May, Value::Absent) => Value::Optional(None),
        (Lookup::May, value @ (Value::Unknown(_) | Value::Optional(_))) => value,
        (Lookup::May, value) => Value::Optional(Some(Arc::new(value))),
        (Lookup::Must, value) => value,
    }
}

fn is_there(value: Value) -> Value {
    match value {
        Value::Absent | Value::Optional(None) => Value::Flag(false),
        // whatever it is, the text says it
        Value::Unknown(unknown) if unknown.candidates.is_empty() => Value::Unknown(unknown),
        _ => Value::Flag(true),
    }
}

fn negative(node: &Node, value: Value) -> Evaluated {
    match value {
        Value::Integer(n) => n.checked_neg().map(Value::Integer).ok_or(failed(node, "the result does not fit 64 bits")),
        Value::Double(n) => Ok(Value::Double(-n)),
        Value::Absent => Ok(Value::Absent),
        Value::Unknown(unknown) => Ok(Value::Unknown(unknown.derived())),
        other => Err(failed(node, format!("no matching overload: -{}", other.kind()))),
    }
}

fn insert(node: &Node, map: &mut Map, key: Value, value: Value) -> Result<(), Failure> {
    let Some(sort) = Key::of(&key).filter(|_| !matches!(key, Value::Double(_))) else {
        return Err(failed(node, format!("unsupported key type: {}", key.kind())));
    };
    match map.insert(key, value) {
        Some(()) => Ok(()),
        None => Err(failed(node, format!("repeated key: {}", text_of_key(&sort)))),
    }
}

fn text_of_key(key: &Key) -> String {
    match key {
        Key::Flag(flag) => flag.to_string(),
        Key::Number(n) => n.to_string(),
        Key::Text(text) => format!("'{text}'"),
    }
}

fn failed(node: &Node, message: impl Into<String>) -> Failure {
    Failure { at: node.at.clone(), message: message.into(), is_exhausted: false }
}

fn exhausted(node: &Node) -> Failure {
    let message = "the expression takes more steps or memory than it may".to_owned();
    Failure { at: node.at.clone(), message, is_exhausted: true }
}

fn fail(node: &Node, fault: Fault) -> Failure {
    match fault {
        Fault::Exhausted => exhausted(node),
        Fault::Failed(message) => failed(node, message),
    }
}
