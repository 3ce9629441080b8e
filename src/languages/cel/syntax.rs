//! The tree of an expression.

use std::ops::Range;
use std::sync::Arc;

/// An expression as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub(super) kind: Kind,
    pub(super) at: Range<usize>,
    /// Levels of expressions in it, so that no walk over it can exhaust the stack.
    pub(super) depth: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Null,
    Flag(bool),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    /// `rooted`: written with a leading dot, which no local name can hide.
    Name {
        name: Arc<str>,
        rooted: bool,
    },
    Field {
        of: Box<Expr>,
        field: Name,
        /// `a.?b`
        optional: bool,
    },
    Index {
        of: Box<Expr>,
        key: Box<Expr>,
        /// `a[?b]`
        optional: bool,
    },
    /// `f(x)` or `of.f(x)`.
    Call {
        of: Option<Box<Expr>>,
        name: Name,
        arguments: Vec<Expr>,
    },
    List(Vec<Item>),
    Map(Vec<(Item, Expr)>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// A member of a list or the key of a map; `?` leaves it out where the optional is empty.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) value: Expr,
    pub(super) optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Name {
    pub(super) text: Arc<str>,
    pub(super) at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Operator {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::In => "in",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Remainder => "%",
        }
    }

    pub(super) fn is_comparison(self) -> bool {
        !matches!(
            self,
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder
        )
    }
}

impl Kind {
    /// The expressions directly inside.
    pub(super) fn parts(&self) -> Vec<&Expr> {
        match self {
            Kind::Field { of, .. } | Kind::Not(of) | Kind::Negative(of) => vec![of],
            Kind::Index { of, key, .. } => vec![of, key],
            Kind::Call { of, arguments, .. } => of.iter().map(|of| &**of).chain(arguments).collect(),
            Kind::List(items) => items.iter().map(|item| &item.value).collect(),
            Kind::Map(entries) => entries.iter().flat_map(|(key, value)| [&key.value, value]).collect(),
            Kind::Binary(_, left, right) => vec![left, right],
            Kind::And(parts) | Kind::Or(parts) => parts.iter().collect(),
            Kind::Conditional(test, yes, no) => vec![test, yes, no],
            _ => Vec::new(),
        }
    }
}

/// `a.b['c'][0]` as names; `None` where the expression is anything else.
pub(super) fn path(expression: &Expr) -> Option<Vec<Arc<str>>> {
    match &expression.kind {
        Kind::Name { name, .. } => Some(vec![name.clone()]),
        Kind::Field { of, field, .. } => {
            let mut names = path(of)?;
            names.push(field.text.clone());
            Some(names)
        }
        Kind::Index { of, key, .. } => {
            let key = match &key.kind {
                Kind::Text(text) => text.clone(),
                Kind::Integer(n) => n.to_string().into(),
                _ => return None,
            };
            let mut names = path(of)?;
            names.push(key);
            Some(names)
        }
        _ => None,
    }
}

/// Every path in an expression, each as long as it is.
pub(super) fn names(expression: &Expr, into: &mut Vec<Vec<Arc<str>>>) {
    match path(expression) {
        Some(names) => into.push(names),
        None => {
            for part in expression.kind.parts() {
                names(part, into);
            }
        }
    }
}
