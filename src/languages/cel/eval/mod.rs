//! Evaluates what was checked: three-valued, bounded by a budget, and with the facts that decided.

mod call;
mod lookup;
mod walk;

use std::ops::Range;
use std::sync::Arc;

use super::budget::Budget;
use super::map::{Key, Map};
use super::operators::{self, Fault};
use super::program::{Lookup, Node, What};
use super::syntax::Operator;
use super::value::{Handle, Unknown, Value};
use lookup::wrap;

/// What an expression is evaluated against.
pub(crate) trait Host {
    fn variable(&self, number: usize) -> Value;
    fn field(&self, record: Handle, field: usize) -> Value;

    /// A function of the host, which knows it by its name.
    fn ask(&self, function: &str, given: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
        let _ = (function, given, budget);
        Ok(Value::Absent)
    }
}

/// A fact that an evaluation depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Read {
    pub(crate) record: Handle,
    pub(crate) field: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
    /// The budget is used up.
    pub(crate) is_exhausted: bool,
}

#[derive(Debug)]
pub(crate) struct Evaluation {
    pub(crate) result: Result<Value, Failure>,
    /// The facts that decided: of `a || b`, where only `b` is true, those of `b`.
    pub(crate) reads: Vec<Read>,
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
            What::And(parts) => self.connected("&&", parts, false),
            What::Or(parts) => self.connected("||", parts, true),
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

    /// Asks for each item until one decides; it makes up for others that are unknown or fail. `open` is why there may be
    /// more items, and `complaint` is about a value that is no truth.
    fn decide<T>(
        &mut self,
        items: &[T],
        open: Option<Arc<Unknown>>,
        decisive: bool,
        ask: impl Fn(&mut Self, &T) -> Evaluated,
        complaint: impl Fn(&T, Value) -> Failure,
    ) -> Evaluated {
        let start = self.reads.len();
        let mut unknown = open;
        let mut failure: Option<Failure> = None;
        for item in items {
            let before = self.reads.len();
            match ask(self, item) {
                Ok(Value::Flag(flag)) if flag == decisive => return Ok(self.decided(start, before, decisive)),
                Ok(Value::Absent) if !decisive => return Ok(self.decided(start, before, decisive)),
                Ok(Value::Flag(_) | Value::Absent) => {}
                Ok(Value::Unknown(why)) => unknown = Some(Unknown::or_weightier(unknown, why)),
                Ok(other) => {
                    failure.get_or_insert_with(|| complaint(item, other));
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

    /// `&&` and `||`, whose operands may stand in any order.
    fn connected(&mut self, sign: &str, operands: &[Node], decisive: bool) -> Evaluated {
        let complaint =
            |operand: &Node, value: Value| failed(operand, format!("no matching overload: {sign} {}", value.kind()));
        self.decide(operands, None, decisive, |run, operand| run.eval(operand), complaint)
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
