//! Changes members of expressions: elements of lists, keys of objects, and arguments and blocks that go.

use crate::languages::hcl::syntax::{Expression, HclKind, parse_expression};
use crate::source::{FileId, Span};

use super::super::block::EvaluatedBlock;
use super::super::rows::{Literal, PlacedValue, Site, Spot, ValueNode};
use super::{Pending, Result, TerraformWriter, insert, left_alone, literal, remove};

impl<'a> TerraformWriter<'a> {
    pub(super) fn remove(&self, site: &Site<'a>, held: &PlacedValue, pending: &mut Pending) -> Result<()> {
        let file = held.said.file;
        self.demand_no_json(file)?;
        if !site.block().body.contains(held.said) {
            return left_alone("the argument is in another place");
        }
        // The place of a member is that of its value.
        if held.expression.contains(held.said) {
            return self.remove_member(site, held, held.value.span, pending);
        }
        let text = self.sources.text(file);
        // The variable that a plain reference names keeps its value for others.
        match expression_at(held.expression, &text).map(|it| it.kind) {
            Some(HclKind::Traversal(..)) => self.demand_one_caller(&self.directory_of(file))?,
            _ => self.may_change(site.block(), held.expression, held.value.span)?,
        }
        pending.change(file, remove::without(&text, held.said));
        Ok(())
    }

    /// Removes a key of an object, or an element of a list.
    pub(super) fn remove_member(
        &self,
        site: &Site<'a>,
        held: &PlacedValue,
        value: Span,
        pending: &mut Pending,
    ) -> Result<()> {
        let file = held.expression.file;
        self.demand_no_json(file)?;
        self.may_change(site.block(), held.expression, value)?;
        let text = self.sources.text(file);
        let expression = expression_at(held.expression, &text);
        let argument = if held.expression.contains(held.said) { None } else { Some(held.said) };
        let change = expression.filter(|it| it.span.contains(value)).and_then(|expression| {
            let argument = argument.or_else(|| argument_of(&text, held.expression));
            remove::without_member(&text, &expression, argument.unwrap_or(expression.span), value)
        });
        match change {
            Some(change) => pending.change(file, change),
            None => return left_alone("the value that has to be removed is defined in another place"),
        }
        Ok(())
    }

    pub(super) fn remove_block(&self, block: &EvaluatedBlock, pending: &mut Pending) -> Result<()> {
        self.demand_no_json(block.span.file)?;
        self.demand_one_caller(&self.directory_of(block.span.file))?;
        if self.body(block.body).is_none() {
            return left_alone("a `dynamic` block generates it, or it cannot be parsed");
        }
        let text = self.sources.text(block.span.file);
        let is_chosen =
            |span: Span| expression_at(span, &text).is_some_and(|it| matches!(it.kind, HclKind::Conditional(_)));
        if block.attributes.values().any(|it| is_chosen(it.expression)) {
            return left_alone("the value is chosen by a condition");
        }
        pending.change(block.span.file, remove::without(&text, block.span.to(block.body)));
        Ok(())
    }

    /// Adds an element to a list, or a list with this element.
    pub(super) fn put_element(
        &self,
        site: &Site<'a>,
        list: &Spot<'a>,
        element: &Literal,
        pending: &mut Pending,
    ) -> Result<()> {
        match list {
            Spot::Missing { container: ValueNode::Block(block), rest, path } => {
                self.demand_addition(site, block, rest, path)?;
                pending.addition(block.body).add_list(rest, element);
                Ok(())
            }
            Spot::There(ValueNode::Value(held)) => {
                self.demand_no_json(held.value.span.file)?;
                let text = self.sources.text(held.value.span.file);
                let found = expression_at(held.value.span, &text).and_then(list_in);
                let Some(found) = found.or_else(|| expression_at(held.expression, &text).and_then(list_in)) else {
                    return left_alone("the list that needs the new element is computed");
                };
                self.may_change(site.block(), held.expression, found.span)?;
                for change in insert::into_list(&text, &found, element) {
                    pending.change(found.span.file, change);
                }
                Ok(())
            }
            _ => left_alone("there is no list to write it into"),
        }
    }

    /// Checks that a file is not JSON, where commas and brackets around a member would have to change.
    fn demand_no_json(&self, file: FileId) -> Result<()> {
        match self.sources.path(file).ends_with(".json") {
            true => left_alone("gpulint adds and removes nothing in JSON"),
            false => Ok(()),
        }
    }

    /// Checks that an addition below a block may be written.
    pub(super) fn demand_addition(
        &self,
        site: &Site<'a>,
        block: &EvaluatedBlock,
        rest: &[String],
        path: &str,
    ) -> Result<()> {
        let above = path.strip_suffix(&rest.join(".")).unwrap_or_default().trim_end_matches('.');
        // A map may always be created, because it needs no other arguments.
        let is_key = rest.last().is_some_and(|last| !insert::is_argument(last));
        for length in 1..rest.len() - usize::from(is_key && rest.len() > 1) {
            let made = [above].into_iter().filter(|it| !it.is_empty()).chain(rest[..length].iter().map(String::as_str));
            let made = made.collect::<Vec<_>>().join(".");
            if !site.may_create(&made) {
                return left_alone(format!("it needs a `{made}` block with more arguments"));
            }
        }
        let file = block.body.file;
        if !self.sources.path(file).ends_with(".tf") && !self.sources.path(file).ends_with(".tofu") {
            return left_alone("gpulint adds no arguments to JSON");
        }
        self.demand_one_caller(&self.directory_of(file))
    }
}

/// Returns the expression at a position, with the positions of the file.
fn expression_at(span: Span, text: &str) -> Option<Expression> {
    let padded = format!("{}{}", " ".repeat(span.start as usize), text.get(span.range())?);
    parse_expression(span.file, &padded).ok()
}

/// Returns the object at a position; for `merge(…)`, the last literal object.
pub(super) fn object_in(span: Span, text: &str) -> Option<Expression> {
    literal_in(expression_at(span, text)?, "merge", |it| matches!(it.kind, HclKind::Object(_)))
}

/// Returns the list of an expression; for `concat(…)`, the last literal list.
fn list_in(expression: Expression) -> Option<Expression> {
    literal_in(expression, "concat", |it| matches!(it.kind, HclKind::List(_)))
}

fn literal_in(expression: Expression, joins: &str, is: impl Fn(&Expression) -> bool) -> Option<Expression> {
    if is(&expression) {
        return Some(expression);
    }
    match expression.kind {
        HclKind::Call(call) if &*call.name.text == joins => call.arguments.into_iter().rev().find(is),
        _ => None,
    }
}

/// Returns the argument with this expression, if its name is on the same line.
fn argument_of(text: &str, expression: Span) -> Option<Span> {
    let start = text.get(..expression.start as usize)?.rfind('\n').map_or(0, |newline| newline + 1);
    let name = text.get(start..expression.start as usize)?.trim_end().strip_suffix('=')?.trim();
    let is_alone = !name.is_empty() && literal::is_name(name);
    let indent = text.get(start..)?.find(name).filter(|_| is_alone)?;
    Some(Span { start: (start + indent) as u32, ..expression })
}
