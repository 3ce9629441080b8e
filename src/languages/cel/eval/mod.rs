//! Evaluates a program: with three-valued logic, within a budget, and with the facts that decided.

mod call;
mod lookup;
mod walk;

use std::ops::Range;
use std::sync::Arc;

use super::budget::CelBudget;
use super::map::{CelMap, MapKey};
use super::operators::{self, Fault};
use super::program::{ExprNode, Lookup, ProgramNode};
use super::syntax::Operator;
use super::value::{CelValue, Handle, UnknownValue};
use lookup::wrap;

/// The source of facts for an evaluation.
pub(crate) trait CelHost {
    fn variable(&self, number: usize) -> CelValue;
    fn field(&self, record: Handle, field: usize) -> CelValue;

    /// Calls a function of the host by its name.
    fn ask(&self, function: &str, given: &[CelValue], budget: &mut CelBudget) -> Result<CelValue, Fault> {
        let _ = (function, given, budget);
        Ok(CelValue::Absent)
    }
}

/// A fact that the result depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Read {
    pub(crate) record: Handle,
    pub(crate) field: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EvaluationFailure {
    pub(crate) at: Range<usize>,
    pub(crate) message: String,
    /// Whether the budget is exhausted.
    pub(crate) is_exhausted: bool,
}

#[derive(Debug)]
pub(crate) struct Evaluation {
    pub(crate) result: Result<CelValue, EvaluationFailure>,
    /// The facts that decided. If only `b` of `a || b` is true, these are the facts of `b`.
    pub(crate) reads: Vec<Read>,
}

pub(super) fn evaluate(node: &ProgramNode, host: &dyn CelHost, budget: &mut CelBudget) -> Evaluation {
    let mut run = Evaluator { host, budget, locals: Vec::new(), reads: Vec::new() };
    let result = run.eval(node);
    Evaluation { result, reads: run.reads }
}

/// Returns each deciding leaf of `&&`, `||` and `!`, with its value.
pub(super) fn deciding(node: &ProgramNode, host: &dyn CelHost, budget: &CelBudget) -> Vec<(Range<usize>, CelValue)> {
    let value = |node: &ProgramNode| evaluate(node, host, &mut budget.clone()).result.ok();
    let is = |value: &CelValue, flag: bool| match value {
        CelValue::Flag(it) => *it == flag,
        // A test of a value that is not set is false.
        CelValue::Absent => !flag,
        _ => false,
    };
    let Some(whole) = value(node) else { return Vec::new() };
    let parts = |parts: &[ProgramNode], decisive: bool| -> Vec<(Range<usize>, CelValue)> {
        let all: Vec<(&ProgramNode, CelValue)> = parts.iter().filter_map(|part| Some((part, value(part)?))).collect();
        if is(&whole, decisive) {
            let first = all.iter().find(|(_, value)| is(value, decisive));
            return first.map_or_else(Vec::new, |(part, _)| deciding(part, host, budget));
        }
        // An unknown part makes the whole value unknown.
        let is_unknown = matches!(whole, CelValue::Unknown(_));
        let decide = all.iter().filter(|(_, value)| !is_unknown || matches!(value, CelValue::Unknown(_)));
        decide.flat_map(|(part, _)| deciding(part, host, budget)).collect()
    };
    match &node.what {
        ExprNode::And(operands) => parts(operands, false),
        ExprNode::Or(operands) => parts(operands, true),
        ExprNode::Not(of) => match &of.what {
            ExprNode::And(_) | ExprNode::Or(_) => deciding(of, host, budget),
            _ => vec![(node.at.clone(), whole)],
        },
        _ => vec![(node.at.clone(), whole)],
    }
}

struct Evaluator<'a> {
    host: &'a dyn CelHost,
    budget: &'a mut CelBudget,
    locals: Vec<CelValue>,
    reads: Vec<Read>,
}

type Evaluated = Result<CelValue, EvaluationFailure>;

impl Evaluator<'_> {
    fn eval(&mut self, node: &ProgramNode) -> Evaluated {
        self.budget.spend(1).map_err(|_| exhausted(node))?;
        match &node.what {
            ExprNode::Constant(value) => Ok(value.clone()),
            ExprNode::Variable(number) => Ok(self.host.variable(*number)),
            ExprNode::Local(place) => Ok(self.locals.get(*place).cloned().unwrap_or(CelValue::Null)),
            ExprNode::Field(of, field) => {
                let of = self.eval(of)?;
                self.field(node, of, *field)
            }
            ExprNode::Select(of, name, lookup) => {
                let of = self.eval(of)?;
                self.select(node, of, name, *lookup)
            }
            ExprNode::Index(of, key, lookup) => {
                let of = self.eval(of)?;
                let key = self.eval(key)?;
                self.index(node, of, &key, *lookup)
            }
            ExprNode::Call(candidates, arguments) => self.call(node, candidates, arguments),
            ExprNode::Matches(of, pattern) => {
                let of = self.eval(of)?;
                self.matches(node, &of, pattern)
            }
            ExprNode::List(items) => self.list(node, items),
            ExprNode::Map(entries) => self.map(node, entries),
            ExprNode::Not(of) => match self.eval(of)? {
                CelValue::Flag(flag) => Ok(CelValue::Flag(!flag)),
                CelValue::Absent => Ok(CelValue::Flag(true)),
                CelValue::Unknown(unknown) => Ok(CelValue::Unknown(unknown.derived())),
                other => Err(failed(node, format!("no matching overload: ! {}", other.kind()))),
            },
            ExprNode::Negative(of) => negative(node, self.eval(of)?),
            ExprNode::Binary(operator, sides) => self.binary(node, *operator, &sides.0, &sides.1),
            ExprNode::And(parts) => self.connected("&&", parts, false),
            ExprNode::Or(parts) => self.connected("||", parts, true),
            ExprNode::Conditional(parts) => self.conditional(node, &parts.0, &parts.1, &parts.2),
            ExprNode::Has(of) => self.has(of),
            ExprNode::Known(of) => Ok(CelValue::Flag(!matches!(self.eval(of)?, CelValue::Unknown(_)))),
            ExprNode::Possible(of) => Ok(match self.eval(of)? {
                CelValue::Unknown(unknown) if !unknown.candidates.is_empty() => {
                    CelValue::list(unknown.candidates.iter().cloned())
                }
                CelValue::Unknown(unknown) => CelValue::Unknown(unknown),
                CelValue::Absent => CelValue::list([]),
                value => CelValue::list([value]),
            }),
            ExprNode::Walk(walk) => self.walk(node, walk),
            ExprNode::OfOptional(parts, is_flat) => match self.eval(&parts.0)? {
                CelValue::Optional(Some(inner)) => {
                    self.locals.push(CelValue::clone(&inner));
                    let result = self.eval(&parts.1);
                    self.locals.pop();
                    Ok(if *is_flat { result? } else { wrap(result?, Lookup::May) })
                }
                other @ (CelValue::Optional(None) | CelValue::Unknown(_)) => Ok(other),
                CelValue::Absent => Ok(CelValue::Optional(None)),
                other => Err(failed(node, format!("no matching overload: {} is not an optional", other.kind()))),
            },
            ExprNode::Bind(parts) => {
                let value = self.eval(&parts.0)?;
                self.locals.push(value);
                let result = self.eval(&parts.1);
                self.locals.pop();
                result
            }
        }
    }

    fn list(&mut self, node: &ProgramNode, items: &[(ProgramNode, bool)]) -> Evaluated {
        self.budget.build(std::mem::size_of_val(items)).map_err(|_| exhausted(node))?;
        let mut values = Vec::with_capacity(items.len());
        for (item, optional) in items {
            match (self.eval(item)?, optional) {
                (CelValue::Optional(Some(inner)), true) => values.push(CelValue::clone(&inner)),
                (CelValue::Optional(None), true) => {}
                (other, true) => return Err(failed(item, format!("no matching overload: ?{}", other.kind()))),
                (value, false) => values.push(value),
            }
        }
        Ok(CelValue::List(values.into()))
    }

    fn map(&mut self, node: &ProgramNode, entries: &[(ProgramNode, ProgramNode, bool)]) -> Evaluated {
        self.budget.build(std::mem::size_of_val(entries)).map_err(|_| exhausted(node))?;
        let mut map = CelMap::default();
        for (key, value, optional) in entries {
            let sort = self.eval(key)?;
            if let CelValue::Unknown(unknown) = sort {
                return Ok(CelValue::Unknown(unknown.derived()));
            }
            let value = match (self.eval(value)?, optional) {
                (CelValue::Optional(Some(inner)), true) => CelValue::clone(&inner),
                (CelValue::Optional(None), true) => continue,
                (other, true) => return Err(failed(value, format!("no matching overload: ?{}", other.kind()))),
                (value, false) => value,
            };
            insert(key, &mut map, sort, value)?;
        }
        Ok(CelValue::Map(Arc::new(map)))
    }

    fn binary(&mut self, node: &ProgramNode, operator: Operator, left: &ProgramNode, right: &ProgramNode) -> Evaluated {
        let left = self.eval(left);
        let left = match left {
            Err(failure) if failure.is_exhausted => return Err(failure),
            other => other,
        };
        let right = self.eval(right);
        let (left, right) = match (left, right) {
            (Ok(left), Ok(right)) => (left, right),
            // An unknown operand takes precedence over a failed one.
            (Ok(CelValue::Unknown(unknown)), Err(failure)) | (Err(failure), Ok(CelValue::Unknown(unknown))) => {
                return if failure.is_exhausted { Err(failure) } else { Ok(CelValue::Unknown(unknown.derived())) };
            }
            (Err(failure), _) | (_, Err(failure)) => return Err(failure),
        };
        operators::binary(operator, &left, &right, self.budget).map_err(|fault| fail(node, fault))
    }

    /// Evaluates items until one decides the result, whatever the others are. `open` is the reason why there may be
    /// more items. `complaint` is the error for a value that is not a bool.
    fn decide<T>(
        &mut self,
        items: &[T],
        open: Option<Arc<UnknownValue>>,
        decisive: bool,
        ask: impl Fn(&mut Self, &T) -> Evaluated,
        complaint: impl Fn(&T, CelValue) -> EvaluationFailure,
    ) -> Evaluated {
        let start = self.reads.len();
        let mut unknown = open;
        let mut failure: Option<EvaluationFailure> = None;
        for item in items {
            let before = self.reads.len();
            match ask(self, item) {
                Ok(CelValue::Flag(flag)) if flag == decisive => return Ok(self.decided(start, before, decisive)),
                Ok(CelValue::Absent) if !decisive => return Ok(self.decided(start, before, decisive)),
                Ok(CelValue::Flag(_) | CelValue::Absent) => {}
                Ok(CelValue::Unknown(why)) => unknown = Some(UnknownValue::or_weightier(unknown, why)),
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
            (Some(unknown), _) => Ok(CelValue::Unknown(unknown.derived())),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(CelValue::Flag(!decisive)),
        }
    }

    /// Evaluates `&&` and `||`, whose operands may be in any order.
    fn connected(&mut self, sign: &str, operands: &[ProgramNode], decisive: bool) -> Evaluated {
        let complaint = |operand: &ProgramNode, value: CelValue| {
            failed(operand, format!("no matching overload: {sign} {}", value.kind()))
        };
        self.decide(operands, None, decisive, |run, operand| run.eval(operand), complaint)
    }

    /// Drops the facts between `start` and `before`, which did not decide.
    fn decided(&mut self, start: usize, before: usize, flag: bool) -> CelValue {
        self.reads.drain(start..before);
        CelValue::Flag(flag)
    }

    fn conditional(
        &mut self,
        node: &ProgramNode,
        test: &ProgramNode,
        yes: &ProgramNode,
        no: &ProgramNode,
    ) -> Evaluated {
        match self.eval(test)? {
            CelValue::Flag(true) => self.eval(yes),
            CelValue::Flag(false) | CelValue::Absent => self.eval(no),
            CelValue::Unknown(unknown) => Ok(CelValue::Unknown(unknown.derived())),
            other => Err(failed(node, format!("no matching overload: {} ? :", other.kind()))),
        }
    }
}

fn negative(node: &ProgramNode, value: CelValue) -> Evaluated {
    match value {
        CelValue::Integer(n) => {
            n.checked_neg().map(CelValue::Integer).ok_or(failed(node, "the result does not fit 64 bits"))
        }
        CelValue::Double(n) => Ok(CelValue::Double(-n)),
        CelValue::Absent => Ok(CelValue::Absent),
        CelValue::Unknown(unknown) => Ok(CelValue::Unknown(unknown.derived())),
        other => Err(failed(node, format!("no matching overload: -{}", other.kind()))),
    }
}

fn insert(node: &ProgramNode, map: &mut CelMap, key: CelValue, value: CelValue) -> Result<(), EvaluationFailure> {
    let Some(sort) = MapKey::of(&key).filter(|_| !matches!(key, CelValue::Double(_))) else {
        return Err(failed(node, format!("unsupported key type: {}", key.kind())));
    };
    match map.insert(key, value) {
        Some(()) => Ok(()),
        None => Err(failed(node, format!("repeated key: {}", text_of_key(&sort)))),
    }
}

fn text_of_key(key: &MapKey) -> String {
    match key {
        MapKey::Flag(flag) => flag.to_string(),
        MapKey::Number(n) => n.to_string(),
        MapKey::Text(text) => format!("'{text}'"),
    }
}

fn failed(node: &ProgramNode, message: impl Into<String>) -> EvaluationFailure {
    EvaluationFailure { at: node.at.clone(), message: message.into(), is_exhausted: false }
}

fn exhausted(node: &ProgramNode) -> EvaluationFailure {
    let message = "the expression exceeds the limit on steps or memory".to_owned();
    EvaluationFailure { at: node.at.clone(), message, is_exhausted: true }
}

fn fail(node: &ProgramNode, fault: Fault) -> EvaluationFailure {
    match fault {
        Fault::Exhausted => exhausted(node),
        Fault::Failed(message) => failed(node, message),
    }
}
