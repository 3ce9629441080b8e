//! The tree that the text of a template becomes.

use std::ops::Range;
use std::rc::Rc;

use super::text::Text;

/// A template with a name.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) name: Rc<str>,
    /// The text of which the ranges below are parts.
    pub(crate) source: Text,
    pub(crate) nodes: Vec<TemplateNode>,
}

impl Template {
    /// Only blanks and comments: it does not take the place of another.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.iter().all(|node| match node {
            TemplateNode::Text(range) => {
                self.source.as_str().get(range.clone()).is_none_or(|text| text.trim().is_empty())
            }
            _ => false,
        })
    }
}

#[derive(Debug)]
pub(crate) enum TemplateNode {
    Text(Range<usize>),
    Action(Pipeline),
    If(Branch),
    With(Branch),
    Range(Branch),
    Template { name: Rc<str>, data: Option<Pipeline>, range: Range<usize> },
    Break,
    Continue,
}

#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) pipeline: Pipeline,
    pub(crate) then: Vec<TemplateNode>,
    pub(crate) otherwise: Vec<TemplateNode>,
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) range: Range<usize>,
    /// `=` rather than `:=`.
    pub(crate) assigns: bool,
    pub(crate) variables: Vec<Rc<str>>,
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug)]
pub(crate) struct Command {
    /// At least one; the first may be a function.
    pub(crate) words: Vec<TemplateExpression>,
}

#[derive(Debug)]
pub(crate) enum TemplateExpression {
    Dot,
    Nil,
    Flag(bool),
    Int(i64),
    Float(f64),
    Text(Text),
    Field(Vec<Rc<str>>),
    Variable(Rc<str>, Vec<Rc<str>>),
    Function(Rc<str>),
    Chain(Box<TemplateExpression>, Vec<Rc<str>>),
    Pipeline(Box<Pipeline>),
}
