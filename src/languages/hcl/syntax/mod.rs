//! Parses HCL, as Terraform accepts it, to a tree with byte spans.
//!
//! The parser never gives up on a file: it records the first error of an item and continues with the next item of the
//! body. It does not know the meaning of blocks and expressions.

mod body;
mod collection;
mod cursor;
mod directives;
mod expression;
pub(crate) mod json;
mod template;
mod walk;

use std::sync::Arc;

use crate::source::{FileId, Limits, Span};

use super::number::HclNumber;

/// The limit on nested brackets, blocks and operators; the deepest of 5,709 public files has 21 levels.
pub(crate) const NESTING_LIMIT: u32 = Limits::DEEPEST;

/// A parsed file.
#[derive(Debug, Clone)]
pub(crate) struct ParsedFile {
    pub(crate) body: Body,
    /// Errors by which Terraform would refuse the file; the first is the one to report.
    pub(crate) errors: Vec<SyntaxError>,
    /// Notes on syntax that Terraform accepts but that is a mistake: a duplicate key.
    pub(crate) notes: Vec<SyntaxError>,
    pub(crate) comments: Vec<Span>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) message: String,
    pub(crate) span: Span,
}

/// Marks of other template languages, which Terraform has only in strings.
const OF_TEMPLATES: [(&str, &str); 3] = [("{{", "}}"), ("{%", "%}"), ("<%", "%>")];

impl SyntaxError {
    /// Returns true if another program fills in this file before Terraform reads it: the error is at a template mark.
    pub(crate) fn is_of_template(&self, text: &str) -> bool {
        let at = self.span.range().start.min(text.len());
        let before = text.get(..at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        let stands_in = |line: &str, (open, close): &(&str, &str)| {
            line.split_once(open).is_some_and(|(_, rest)| rest.contains(close))
        };
        OF_TEMPLATES.iter().any(|marks| stands_in(line, marks))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct HclName {
    pub(crate) text: Arc<str>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) blocks: Vec<BlockNode>,
    pub(crate) span: Span,
    /// Whether a part of this body has a syntax error, so that missing values are unknown.
    pub(crate) incomplete: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    pub(crate) name: HclName,
    pub(crate) expression: Expression,
}

impl Attribute {
    pub(crate) fn span(&self) -> Span {
        self.name.span.to(self.expression.span)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct BlockNode {
    pub(crate) keyword: HclName,
    pub(crate) labels: Vec<HclName>,
    pub(crate) body: Body,
    /// The place of keyword and labels.
    pub(crate) header: Span,
}

impl BlockNode {
    pub(crate) fn span(&self) -> Span {
        self.header.to(self.body.span)
    }

    pub(crate) fn label(&self, index: usize) -> &str {
        self.labels.get(index).map_or("", |label| &label.text)
    }
}

impl Body {
    pub(crate) fn empty(span: Span) -> Self {
        Body { attributes: Vec::new(), blocks: Vec::new(), span, incomplete: false }
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| &*attribute.name.text == name)
    }

    pub(crate) fn blocks<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'a BlockNode> {
        self.blocks.iter().filter(move |block| &*block.keyword.text == keyword)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) kind: HclKind,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum HclKind {
    Null,
    Bool(bool),
    Number(HclNumber),
    Text(Arc<str>),
    Template(Box<[TemplatePart]>),
    /// The first name of a reference: `var`, `local`, `aws_instance`, or a variable of a `for`.
    Name(Arc<str>),
    /// An expression followed by dots and brackets.
    Traversal(Box<Expression>, Box<[TraversalStep]>),
    Call(Box<Call>),
    List(Box<[Expression]>),
    Object(Box<[ObjectItem]>),
    For(Box<For>),
    Unary(UnaryOperator, Box<Expression>),
    /// Operators of one precedence, from left to right.
    Binary(Box<Expression>, Box<[(BinaryOperator, Expression)]>),
    Conditional(Box<Conditional>),
    Parentheses(Box<Expression>),
    /// A syntax error, which the body reports.
    Invalid,
}

#[derive(Debug, Clone)]
pub(crate) struct TraversalStep {
    pub(crate) kind: TraversalStepKind,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum TraversalStepKind {
    Attribute(Arc<str>),
    Index(Box<Expression>),
    /// `.*` or `[*]`, with the steps for each element.
    Splat(Box<[TraversalStep]>),
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Function name: `lookup`, or `provider::aws::arn_parse`.
    pub(crate) name: HclName,
    pub(crate) arguments: Vec<Expression>,
    /// Whether the last argument ends with `...`.
    pub(crate) expand: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct ObjectItem {
    pub(crate) key: Expression,
    pub(crate) value: Expression,
}

#[derive(Debug, Clone)]
pub(crate) struct For {
    pub(crate) key_name: Option<HclName>,
    pub(crate) value_name: HclName,
    pub(crate) collection: Expression,
    /// Key; with one, the result is an object.
    pub(crate) key: Option<Expression>,
    pub(crate) value: Expression,
    pub(crate) condition: Option<Expression>,
    /// Whether `...` follows the value, so that values with the same key form a list.
    pub(crate) group: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Conditional {
    pub(crate) condition: Expression,
    pub(crate) yes: Expression,
    pub(crate) no: Expression,
}

#[derive(Debug, Clone)]
pub(crate) enum TemplatePart {
    Literal(Arc<str>),
    Interpolation(Expression),
    If { condition: Expression, yes: Vec<TemplatePart>, no: Vec<TemplatePart> },
    For { key_name: Option<HclName>, value_name: HclName, collection: Expression, body: Vec<TemplatePart> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnaryOperator {
    Not,
    Minus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryOperator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

impl Expression {
    /// Returns true if it is a literal without references and functions.
    pub(crate) fn is_literal(&self) -> bool {
        match &self.kind {
            HclKind::Null | HclKind::Bool(_) | HclKind::Number(_) | HclKind::Text(_) => true,
            HclKind::Template(parts) => parts.iter().all(|part| matches!(part, TemplatePart::Literal(_))),
            HclKind::List(items) => items.iter().all(Expression::is_literal),
            HclKind::Object(items) => items.iter().all(|item| item.key.is_literal_key() && item.value.is_literal()),
            HclKind::Unary(_, operand) | HclKind::Parentheses(operand) => operand.is_literal(),
            _ => false,
        }
    }

    fn is_literal_key(&self) -> bool {
        matches!(self.kind, HclKind::Name(_)) || self.is_literal()
    }
}

/// Parses a file of blocks and attributes.
pub(crate) fn parse_body(file: FileId, text: &str, nesting: u32) -> ParsedFile {
    let parser = cursor::Parser::new(text, cursor::CursorPlace::file(file, 0));
    cursor::Parser { deepest: nesting.min(NESTING_LIMIT), ..parser }.parse_file()
}

/// Parses one expression that is the whole text, such as the value of `--var`.
pub(crate) fn parse_expression(file: FileId, text: &str) -> Result<Expression, SyntaxError> {
    cursor::Parser::new(text, cursor::CursorPlace::file(file, 0)).parse_whole_expression()
}

/// Parses one expression whose spans all are one place.
pub(crate) fn parse_expression_at(place: Span, text: &str) -> Result<Expression, SyntaxError> {
    cursor::Parser::new(text, cursor::CursorPlace::Whole(place)).parse_whole_expression()
}

/// Parses text as the content of a template: a file for `templatefile`.
pub(crate) fn parse_template(file: FileId, text: &str) -> Result<Expression, SyntaxError> {
    cursor::Parser::new(text, cursor::CursorPlace::file(file, 0)).parse_whole_template()
}

/// Parses a template whose spans all are one place.
pub(crate) fn parse_template_at(place: Span, text: &str) -> Result<Expression, SyntaxError> {
    cursor::Parser::new(text, cursor::CursorPlace::Whole(place)).parse_whole_template()
}
