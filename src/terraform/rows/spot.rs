//! Finds the place in the code for a path of a definition, even if nothing is set there.

use crate::languages::hcl::value::HclData;
use crate::source::Span;

use super::node::{PlacedValue, ValueNode, scalar};
use super::site::Site;
use crate::inventory::row_path::{Into, PathStep, RowPath, Start, StepName};

/// The place that a fix writes to.
#[derive(Debug)]
pub(in crate::terraform) enum Spot<'a> {
    There(ValueNode<'a>),
    /// The value is not set: the names that are missing below the last existing node.
    Missing {
        container: ValueNode<'a>,
        rest: Vec<String>,
        path: String,
    },
    /// An element of a list of strings.
    Element {
        list: Box<Spot<'a>>,
        /// The element, if the list has it.
        at: Option<Span>,
    },
    /// The place is in a block that a link leads to.
    Linked(String),
    /// The place is unknown, for this reason.
    Unclear(String),
}

impl<'a> Site<'a> {
    /// Returns the place that a path leads to.
    pub(super) fn spot(&self, path: &RowPath) -> Spot<'a> {
        let start = match &path.start {
            Start::Part => self.scope.part.clone(),
            Start::Block => ValueNode::Block(self.scope.block),
            Start::Link(name) => return Spot::Linked(name.clone()),
            Start::Provider => return Spot::Unclear("the provider configuration sets it".to_owned()),
            Start::Key => return Spot::Unclear("the value is the key of a map".to_owned()),
        };
        let mut node = start;
        for (at, step) in path.steps.iter().enumerate() {
            let StepName::Written(name) = &step.name else {
                return Spot::Unclear("its place in the configuration depends on another value".to_owned());
            };
            if step.read.is_some() {
                return Spot::Unclear("the value is inside a string of another language".to_owned());
            }
            let found = node.clone().below(name);
            if found.is_empty() {
                let rest = names(&path.steps[at..]);
                return match (&rest, can_take(&node)) {
                    (Some(rest), true) => Spot::Missing { container: node, rest: rest.clone(), path: path.name() },
                    _ => Spot::Unclear("there is no block or object to write it into".to_owned()),
                };
            }
            node = match one(found, step, at + 1 == path.steps.len()) {
                Ok(node) => node,
                Err(why) => return Spot::Unclear(why),
            };
        }
        Spot::There(node)
    }
}

impl<'a> Site<'a> {
    /// Returns the place of an element in the list that a path leads to.
    pub(super) fn element_spot(&self, path: &RowPath, text: &str) -> Spot<'a> {
        let list = match self.scope.find(&path.whole()).into_iter().next() {
            None => self.spot(path),
            Some(ValueNode::Value(held)) if !held.value.is_unknown() => Spot::There(ValueNode::Value(held)),
            Some(_) => return Spot::Unclear(format!("`{}` is unknown", path.name())),
        };
        let at = match &list {
            Spot::There(ValueNode::Value(held)) => {
                let items = held.value.items();
                items.iter().find(|item| scalar(item).is_some_and(|it| it.eq_ignore_ascii_case(text))).map(|it| it.span)
            }
            Spot::Missing { .. } => None,
            _ => return list,
        };
        Spot::Element { list: Box::new(list), at }
    }
}

/// Returns the names of steps that a fix could create: blocks and attributes.
fn names(steps: &[PathStep]) -> Option<Vec<String>> {
    let name = |step: &PathStep| match (&step.name, &step.into) {
        (StepName::Written(name), Into::First | Into::Whole) if step.read.is_none() => Some(name.clone()),
        _ => None,
    };
    steps.iter().map(name).collect()
}

fn can_take(node: &ValueNode<'_>) -> bool {
    match node {
        ValueNode::Block(_) => true,
        ValueNode::Provider(_) => false,
        ValueNode::Value(held) => matches!(held.value.data, HclData::Object(_) | HclData::Map(_)),
    }
}

/// Returns the only matching node.
fn one<'a>(found: Vec<ValueNode<'a>>, step: &PathStep, last: bool) -> Result<ValueNode<'a>, String> {
    let all: Vec<ValueNode<'a>> = match &step.into {
        Into::First if last => found,
        Into::First | Into::Whole => found.into_iter().map(ValueNode::first).collect(),
        Into::All => found.into_iter().flat_map(ValueNode::elements).collect(),
        Into::Where(key, text) => {
            found.into_iter().flat_map(ValueNode::elements).filter(|it| it.has(key, text)).collect()
        }
    };
    let count = all.len();
    let mut all = all.into_iter();
    match (all.next(), count) {
        (Some(ValueNode::Value(PlacedValue { perhaps: true, value, .. })), _) => {
            Err(value.cause().map_or_else(|| "it may not exist".to_owned(), |cause| cause.why.clone()))
        }
        (Some(ValueNode::Value(held)), 1) if last => match only(held) {
            Some(held) => Ok(ValueNode::Value(held)),
            None => Err("there are several values".to_owned()),
        },
        (Some(node), 1) => Ok(node),
        (Some(_), n) => Err(format!("there are {n} values")),
        (None, _) => Err("there is no such value".to_owned()),
    }
}

/// Returns the only element if a path ends at a list of one.
fn only(held: PlacedValue) -> Option<PlacedValue> {
    let is_list = matches!(held.value.data, HclData::List(_) | HclData::Set(_) | HclData::Tuple(_));
    match (is_list, held.value.items()) {
        (false, _) => Some(held),
        (true, [item]) => Some(held.holding(item.clone())),
        (true, _) => None,
    }
}
