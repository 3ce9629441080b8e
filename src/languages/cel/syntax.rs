//! Defines the expression tree.

use std::ops::Range;
use std::sync::Arc;

/// An expression as written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) at: Range<usize>,
    /// The depth of the tree, which limits recursion.
    pub(super) depth: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExprKind {
    Null,
    Flag(bool),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(Arc<str>),
    Bytes(Arc<[u8]>),
    /// A name. `rooted` is true if it has a leading dot, so that no local name hides it.
    Name {
        name: Arc<str>,
        rooted: bool,
    },
    Field {
        of: Box<Expr>,
        field: ExprName,
        /// True for `a.?b`, which allows a missing field.
        optional: bool,
    },
    Index {
        of: Box<Expr>,
        key: Box<Expr>,
        /// True for `a[?b]`, which allows a missing key.
        optional: bool,
    },
    /// A call: `f(x)` or `of.f(x)`.
    Call {
        of: Option<Box<Expr>>,
        name: ExprName,
        arguments: Vec<Expr>,
    },
    List(Vec<ExprItem>),
    Map(Vec<(ExprItem, Expr)>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// A member of a list or a key of a map; `?` omits it if the optional is empty.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExprItem {
    pub(super) value: Expr,
    pub(super) optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExprName {
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

    /// Returns true if it compares the order of two values.
    pub(super) fn is_order(self) -> bool {
        matches!(self, Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual)
    }

    /// Returns the same comparison with its sides exchanged.
    pub(super) fn mirrored(self) -> Operator {
        match self {
            Operator::Less => Operator::Greater,
            Operator::LessOrEqual => Operator::GreaterOrEqual,
            Operator::Greater => Operator::Less,
            Operator::GreaterOrEqual => Operator::LessOrEqual,
            other => other,
        }
    }

    pub(super) fn is_comparison(self) -> bool {
        !matches!(
            self,
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder
        )
    }
}

impl ExprKind {
    /// Returns the direct subexpressions.
    pub(super) fn parts(&self) -> Vec<&Expr> {
        match self {
            ExprKind::Field { of, .. } | ExprKind::Not(of) | ExprKind::Negative(of) => vec![of],
            ExprKind::Index { of, key, .. } => vec![of, key],
            ExprKind::Call { of, arguments, .. } => of.iter().map(|of| &**of).chain(arguments).collect(),
            ExprKind::List(items) => items.iter().map(|item| &item.value).collect(),
            ExprKind::Map(entries) => entries.iter().flat_map(|(key, value)| [&key.value, value]).collect(),
            ExprKind::Binary(_, left, right) => vec![left, right],
            ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter().collect(),
            ExprKind::Conditional(test, yes, no) => vec![test, yes, no],
            _ => Vec::new(),
        }
    }
}

/// Returns `a.b['c'][0]` as names; `None` if the expression is not a path.
pub(super) fn path(expression: &Expr) -> Option<Vec<Arc<str>>> {
    match &expression.kind {
        ExprKind::Name { name, .. } => Some(vec![name.clone()]),
        ExprKind::Field { of, field, .. } => {
            let mut names = path(of)?;
            names.push(field.text.clone());
            Some(names)
        }
        ExprKind::Index { of, key, .. } => {
            let key = match &key.kind {
                ExprKind::Text(text) => text.clone(),
                ExprKind::Integer(n) => n.to_string().into(),
                _ => return None,
            };
            let mut names = path(of)?;
            names.push(key);
            Some(names)
        }
        _ => None,
    }
}

/// Returns the operands of every `&&` and `||`, with the value that has the same effect as removing them.
pub(super) fn operands(expression: &Expr, into: &mut Vec<(Range<usize>, bool)>) {
    match &expression.kind {
        ExprKind::And(parts) => into.extend(parts.iter().map(|part| (part.at.clone(), true))),
        ExprKind::Or(parts) => into.extend(parts.iter().map(|part| (part.at.clone(), false))),
        _ => {}
    }
    for part in expression.kind.parts() {
        operands(part, into);
    }
}

/// Returns every path in an expression, each in full length.
pub(super) fn names(expression: &Expr, into: &mut Vec<Vec<Arc<str>>>) {
    match path(expression) {
        Some(names) => into.push(names),
        None => {
            // A call is recorded as a name, because a function may read more than its arguments.
            if let ExprKind::Call { of: None, name, .. } = &expression.kind {
                into.push(vec![format!("{}()", name.text).into()]);
            }
            for part in expression.kind.parts() {
                names(part, into);
            }
        }
    }
}
