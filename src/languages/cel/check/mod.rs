//! Checks an expression against a vocabulary and lowers it to a program.

mod calls;
mod names;
mod operands;

use std::ops::Range;
use std::sync::Arc;

use super::Problem;
use super::operators;
use super::program::{ExprNode, Lookup, ProgramNode};
use super::syntax::{Expr, ExprItem, ExprKind};
use super::types::{CelType, RecordSchema};
use super::value::CelValue;
pub(crate) use names::{ExpressionScope, ScopeVariable, VariableMeaning};
pub(crate) use operands::never;

pub(super) fn lower(
    expression: &Expr,
    scope: &ExpressionScope<'_>,
    text: &str,
) -> Result<(ProgramNode, CelType, Vec<NameLiteral>), Problem> {
    let mut lowering = Lowering { scope, text, locals: Vec::new(), said: Vec::new() };
    let (node, holds) = lowering.lower(expression)?;
    Ok((node, holds, lowering.said))
}

/// A string literal that is compared with a list of names which only the host knows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NameLiteral {
    pub(crate) to: NameUse,
    pub(crate) text: Arc<str>,
    /// The byte range in the expression.
    pub(crate) at: Range<usize>,
}

/// The use of a string literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameUse {
    /// The string is compared with a field of a record, given by both names.
    Fact(&'static str, &'static str),
    /// The string is passed as this argument of a host function.
    Argument(&'static str, usize),
}

pub(super) struct Lowering<'a> {
    pub(super) scope: &'a ExpressionScope<'a>,
    text: &'a str,
    pub(super) locals: Vec<(Arc<str>, CelType)>,
    said: Vec<NameLiteral>,
}

type Lowered = Result<(ProgramNode, CelType), Problem>;

impl Lowering<'_> {
    pub(super) fn lower(&mut self, expression: &Expr) -> Lowered {
        let at = expression.at.clone();
        let constant = |value, holds| Ok((ExprNode::Constant(value), holds));
        let (what, holds) = match &expression.kind {
            ExprKind::Null => constant(CelValue::Null, CelType::Null),
            ExprKind::Flag(flag) => constant(CelValue::Flag(*flag), CelType::Flag),
            ExprKind::Integer(n) => constant(CelValue::Integer(*n), CelType::Integer),
            ExprKind::Unsigned(n) => constant(CelValue::Unsigned(*n), CelType::Unsigned),
            ExprKind::Double(n) => constant(CelValue::Double(*n), CelType::Double),
            ExprKind::Text(text) => constant(CelValue::Text(text.clone()), CelType::Text),
            ExprKind::Bytes(bytes) => constant(CelValue::Bytes(bytes.clone()), CelType::Bytes),
            ExprKind::Name { name, rooted } => return self.name(name, *rooted, at),
            ExprKind::Field { of, field, optional } => return self.field(expression, of, field, *optional),
            ExprKind::Index { of, key, optional } => self.index(of, key, *optional),
            ExprKind::Call { of, name, arguments } => return self.call(at, of.as_deref(), name, arguments),
            ExprKind::List(items) => self.list(items),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Not(of) => Ok((ExprNode::Not(Box::new(self.expect(of, &CelType::Flag, "`!`")?)), CelType::Flag)),
            ExprKind::Negative(of) => self.negative(of),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::And(parts) => Ok((ExprNode::And(self.flags(parts, "`&&`")?), CelType::Flag)),
            ExprKind::Or(parts) => Ok((ExprNode::Or(self.flags(parts, "`||`")?), CelType::Flag)),
            ExprKind::Conditional(test, yes, no) => self.conditional(test, yes, no),
        }?;
        let holds = if self.scope.unchecked { CelType::Any } else { holds };
        Ok((ProgramNode { what, at }, holds))
    }

    /// Lowers an expression that must have a type.
    pub(super) fn expect(&mut self, expression: &Expr, wanted: &CelType, by: &str) -> Result<ProgramNode, Problem> {
        let (node, holds) = self.lower(expression)?;
        let (node, holds) = if wanted.is_number() { as_number(node, holds) } else { (node, holds) };
        match holds.suits(wanted) {
            true => Ok(node),
            false => Err(Problem::new(
                expression.at.clone(),
                format!("{by} needs {}, and this is {}", with_article(wanted), with_article(&holds)),
            )),
        }
    }

    fn flags(&mut self, parts: &[Expr], by: &str) -> Result<Box<[ProgramNode]>, Problem> {
        parts.iter().map(|part| self.expect(part, &CelType::Flag, by)).collect()
    }

    fn index(&mut self, of: &Expr, key: &Expr, optional: bool) -> Result<(ExprNode, CelType), Problem> {
        let (node, holds) = self.lower(of)?;
        let (key_node, key_holds) = self.lower(key)?;
        let (inner, was_optional) = match holds {
            CelType::Optional(inner) => (*inner, true),
            other => (other, false),
        };
        let value = match inner {
            CelType::Map(wanted, value) if key_holds.may_equal(&wanted) => *value,
            CelType::List(value) if key_holds.suits(&CelType::Integer) || key_holds.is_number() => *value,
            CelType::Any => CelType::Any,
            CelType::Map(wanted, _) => {
                let message = format!("the keys of this map are {wanted}, and this is {}", with_article(&key_holds));
                return Err(Problem::new(key.at.clone(), message));
            }
            CelType::List(_) => {
                let message = format!("the index of a list is an int, and this is {}", with_article(&key_holds));
                return Err(Problem::new(key.at.clone(), message));
            }
            other => {
                return Err(Problem::new(of.at.clone(), format!("{} cannot be indexed", with_article(&other))));
            }
        };
        let lookup = if optional { Lookup::May } else { Lookup::Must };
        let holds = if optional || was_optional { CelType::Optional(Box::new(value)) } else { value };
        Ok((ExprNode::Index(Box::new(node), Box::new(key_node), lookup), holds))
    }

    fn list(&mut self, items: &[ExprItem]) -> Result<(ExprNode, CelType), Problem> {
        let mut of: Option<CelType> = None;
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            let (node, holds) = self.lower(&item.value)?;
            let holds = match (item.optional, holds) {
                (true, CelType::Optional(inner)) => *inner,
                (_, holds) => holds,
            };
            of = Some(of.map_or(holds.clone(), |of| of.join(holds)));
            nodes.push((node, item.optional));
        }
        Ok((ExprNode::List(nodes.into()), CelType::list(of.unwrap_or(CelType::Any))))
    }

    fn map(&mut self, entries: &[(ExprItem, Expr)]) -> Result<(ExprNode, CelType), Problem> {
        let mut of: Option<(CelType, CelType)> = None;
        let mut nodes = Vec::with_capacity(entries.len());
        for (item, value) in entries {
            let (key, key_holds) = self.lower(&item.value)?;
            let (value, holds) = self.lower(value)?;
            let holds = match (item.optional, holds) {
                (true, CelType::Optional(inner)) => *inner,
                (_, holds) => holds,
            };
            of = Some(match of {
                Some((k, v)) => (k.join(key_holds), v.join(holds)),
                None => (key_holds, holds),
            });
            nodes.push((key, value, item.optional));
        }
        let (key, value) = of.unwrap_or((CelType::Any, CelType::Any));
        Ok((ExprNode::Map(nodes.into()), CelType::map(key, value)))
    }

    fn negative(&mut self, of: &Expr) -> Result<(ExprNode, CelType), Problem> {
        let (node, holds) = self.lower(of)?;
        let (node, holds) = as_number(node, holds);
        match holds {
            CelType::Integer | CelType::Double | CelType::Any => Ok((ExprNode::Negative(Box::new(node)), holds)),
            other => {
                Err(Problem::new(of.at.clone(), format!("`-` needs a number, and this is {}", with_article(&other))))
            }
        }
    }

    fn conditional(&mut self, test: &Expr, yes: &Expr, no: &Expr) -> Result<(ExprNode, CelType), Problem> {
        let test = self.expect(test, &CelType::Flag, "a condition")?;
        let (yes_node, yes_holds) = self.lower(yes)?;
        let (no_node, no_holds) = self.lower(no)?;
        if !yes_holds.may_equal(&no_holds) {
            let message = format!(
                "the two branches have different types: {} and {}",
                with_article(&yes_holds),
                with_article(&no_holds)
            );
            return Err(Problem::new(no.at.clone(), message));
        }
        Ok((ExprNode::Conditional(Box::new((test, yes_node, no_node))), yes_holds.join(no_holds)))
    }
}

/// Replaces a record by its number, if it has one.
pub(super) fn as_number(node: ProgramNode, holds: CelType) -> (ProgramNode, CelType) {
    if let CelType::Record(RecordSchema { number: Some(field), fields, .. }) = holds {
        let at = node.at.clone();
        let holds = fields[*field].holds.clone();
        return (ProgramNode { what: ExprNode::Field(Box::new(node), *field), at }, holds);
    }
    (node, holds)
}

/// Returns the type of a known value.
pub(crate) fn type_of(value: &CelValue) -> CelType {
    match value {
        CelValue::Null | CelValue::Absent => CelType::Null,
        CelValue::Flag(_) => CelType::Flag,
        CelValue::Integer(_) => CelType::Integer,
        CelValue::Unsigned(_) => CelType::Unsigned,
        CelValue::Double(_) => CelType::Double,
        CelValue::Text(_) => CelType::Text,
        CelValue::Bytes(_) => CelType::Bytes,
        CelValue::Duration(_) => CelType::Duration,
        CelValue::Timestamp(_) => CelType::Timestamp,
        CelValue::Kind(_) => CelType::Kind,
        CelValue::Opaque(thing) => CelType::Opaque(thing.kind()),
        CelValue::Record(handle) => CelType::Record(handle.schema),
        CelValue::List(items) => CelType::list(items.iter().map(type_of).reduce(CelType::join).unwrap_or(CelType::Any)),
        CelValue::Perhaps(perhaps) => type_of(&perhaps.0),
        CelValue::Map(_) | CelValue::Optional(_) | CelValue::Unknown(_) => CelType::Any,
    }
}

pub(super) fn with_article(holds: &CelType) -> String {
    match holds {
        CelType::Any | CelType::Null | CelType::Bytes => holds.to_string(),
        CelType::Integer => format!("an {holds}"),
        CelType::Optional(_) => format!("an {holds}"),
        _ => format!("a {holds}"),
    }
}

/// Returns true if two literals can be equal; used by the rule-file loader.
pub(crate) fn same(left: &CelValue, right: &CelValue) -> bool {
    let mut budget = super::CelBudget::standard();
    matches!(operators::equal(left, right, &mut budget), Ok(CelValue::Flag(true)))
}
