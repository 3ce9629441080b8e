//! Parses lists, objects and `for`.

use std::collections::HashSet;
use std::sync::Arc;

use crate::source::Span;

use super::cursor::{Parse, Parser};
use super::{For, HclKind, HclName, ObjectItem};

impl Parser<'_> {
    pub(super) fn parse_list(&mut self) -> Parse<HclKind> {
        let open = self.at;
        self.at += 1;
        self.with_newlines(false, |parser| {
            parser.skip_blank();
            if parser.at_word("for") {
                let result = parser.parse_for(false)?;
                parser.close("]", open, "this `for`")?;
                return Ok(HclKind::For(Box::new(result)));
            }
            let mut items = Vec::new();
            loop {
                parser.skip_blank();
                if parser.eat("]") {
                    break;
                }
                items.push(parser.parse_expression()?);
                parser.skip_blank();
                if !parser.eat(",") {
                    parser.close("]", open, "this list")?;
                    break;
                }
            }
            Ok(HclKind::List(items.into_boxed_slice()))
        })
    }

    pub(super) fn parse_object(&mut self) -> Parse<HclKind> {
        let open = self.at;
        self.at += 1;
        let before = self.at;
        self.skip_lines();
        if self.at_word("for") {
            return self.with_newlines(false, |parser| {
                let result = parser.parse_for(true)?;
                parser.close("}", open, "this `for`")?;
                Ok(HclKind::For(Box::new(result)))
            });
        }
        self.at = before;
        self.with_newlines(true, |parser| parser.parse_items_of_object(open))
    }

    fn parse_items_of_object(&mut self, open: usize) -> Parse<HclKind> {
        let mut items: Vec<ObjectItem> = Vec::new();
        loop {
            self.skip_lines();
            if self.eat("}") {
                break;
            }
            if self.at_end() {
                return self.fail_at("this object has no closing `}`", open, open + 1);
            }
            let key = self.parse_expression()?;
            self.skip_blank();
            if !(self.eat("=") || self.eat(":")) {
                return self.fail(format!("expected `=` after the key of an object, found {}", self.seen()));
            }
            let value = self.parse_expression()?;
            items.push(ObjectItem { key, value });
            self.skip_blank();
            if !(self.eat(",") || self.eat_newline() || self.peek() == b'}') {
                return self.fail(format!("expected `,` or a new line after a value, found {}", self.seen()));
            }
        }
        self.note_repeated_keys(&items);
        Ok(HclKind::Object(items.into_boxed_slice()))
    }

    fn note_repeated_keys(&mut self, items: &[ObjectItem]) {
        if items.len() < 2 {
            return;
        }
        let mut seen: HashSet<&str> = HashSet::with_capacity(items.len());
        let repeated: Vec<(Arc<str>, Span)> = items
            .iter()
            .filter_map(|item| match &item.key.kind {
                HclKind::Name(text) | HclKind::Text(text) => {
                    (!seen.insert(text)).then(|| (text.clone(), item.key.span))
                }
                _ => None,
            })
            .collect();
        for (text, span) in repeated {
            self.note(format!("the key `{text}` is set twice: the last one counts"), span);
        }
    }

    /// Parses `for` up to the closing bracket.
    pub(super) fn parse_for(&mut self, object: bool) -> Parse<For> {
        self.at += "for".len();
        let first = self.parse_for_name()?;
        self.skip_blank();
        let (key_name, value_name) = if self.eat(",") { (Some(first), self.parse_for_name()?) } else { (None, first) };
        self.skip_blank();
        if !self.at_word("in") {
            return self.fail(format!("expected `in` after the names of `for`, found {}", self.seen()));
        }
        self.at += "in".len();
        let collection = self.parse_expression()?;
        self.skip_blank();
        if !self.eat(":") {
            return self.fail(format!("expected `:` after the collection of `for`, found {}", self.seen()));
        }
        let first = self.parse_expression()?;
        self.skip_blank();
        let (key, value) = if self.eat("=>") { (Some(first), self.parse_expression()?) } else { (None, first) };
        if object != key.is_some() {
            let wants = if object { "needs `key => value`" } else { "makes a list and takes no `=>`" };
            self.report(format!("this `for` {wants}"), value.span);
        }
        self.skip_blank();
        let group = self.eat("...");
        self.skip_blank();
        let condition = if self.at_word("if") {
            self.at += "if".len();
            Some(self.parse_expression()?)
        } else {
            None
        };
        Ok(For { key_name, value_name, collection, key, value, condition, group })
    }

    pub(super) fn parse_for_name(&mut self) -> Parse<HclName> {
        self.skip_blank();
        match self.identifier() {
            Some(name) => Ok(name),
            None => self.fail(format!("expected a name after `for`, found {}", self.seen())),
        }
    }
}
