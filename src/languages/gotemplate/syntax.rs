//! Defines the syntax tree of a template.

use std::ops::Range;
use std::rc::Rc;

use super::text::Text;

/// A named template.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) name: Rc<str>,
    /// The text that contains the ranges below.
    pub(crate) source: Text,
    pub(crate) nodes: Vec<TemplateNode>,
}

impl Template {
    /// Returns true if it contains only spaces and comments, so that it replaces no other template.
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
    /// Whether the pipeline assigns with `=` rather than `:=`.
    pub(crate) assigns: bool,
    pub(crate) variables: Vec<Rc<str>>,
    pub(crate) commands: Vec<PipelineCommand>,
}

#[derive(Debug)]
pub(crate) struct PipelineCommand {
    /// The words, at least one; the first may be a function.
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
