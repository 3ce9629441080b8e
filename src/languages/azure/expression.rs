//! Parses template expressions: `[concat(parameters('name'), '-gpu')]`.

use std::sync::Arc;

use crate::languages::hcl::value::HclNumber;
use crate::source::Span;

use super::syntax::{AzureExpr, AzureKind};

/// The limit on nested brackets.
const DEEPEST: usize = 64;

/// Returns the meaning of a string in a template: an expression if it is in brackets, else the string.
pub(super) fn of_text(text: &Arc<str>, span: Span) -> AzureExpr {
    let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inside {
        Some(inside) if !inside.starts_with('[') => {
            let mut reader = Reader { text: inside, at: 0, span };
            let read = reader.expression(0).and_then(|read| match reader.rest().trim().is_empty() {
                true => Ok(read),
                false => Err("unexpected characters after the expression".to_owned()),
            });
            read.unwrap_or_else(|why| AzureExpr::new(span, AzureKind::Refused(why)))
        }
        // Two opening brackets, `[[`, are one escaped bracket.
        Some(_) => AzureExpr::text(span, text.get(1..).unwrap_or_default()),
        None => AzureExpr::text(span, text.clone()),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    span: Span,
}

type Read = Result<AzureExpr, String>;

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let space = self.rest().len() - self.rest().trim_start().len();
        self.at += space;
    }

    fn eat(&mut self, mark: &str) -> bool {
        self.skip_space();
        let is_there = self.rest().starts_with(mark);
        if is_there {
            self.at += mark.len();
        }
        is_there
    }

    fn expect(&mut self, mark: &str) -> Result<(), String> {
        if self.eat(mark) { Ok(()) } else { Err(format!("expected `{mark}` in this expression")) }
    }

    fn make(&self, kind: AzureKind) -> AzureExpr {
        AzureExpr::new(self.span, kind)
    }

    fn expression(&mut self, depth: usize) -> Read {
        if depth > DEEPEST {
            return Err(format!("brackets in an expression are nested more than {DEEPEST} levels deep"));
        }
        let mut read = self.primary(depth)?;
        loop {
            let (member, safe) = match () {
                () if self.eat(".?") => (true, true),
                () if self.eat(".") => (true, false),
                () if self.eat("[?") => (false, true),
                () if self.eat("[") => (false, false),
                () => return Ok(read),
            };
            let key = match member {
                true => {
                    let name = self.name();
                    self.make(AzureKind::Text(name.into()))
                }
                false => {
                    let key = self.expression(depth + 1)?;
                    self.expect("]")?;
                    key
                }
            };
            read = self.make(AzureKind::At(Box::new(read), Box::new(key), safe));
        }
    }

    fn primary(&mut self, depth: usize) -> Read {
        self.skip_space();
        match self.rest().chars().next() {
            Some('\'') => self.quoted(),
            Some(first) if first.is_ascii_digit() || first == '-' => {
                let rest = self.rest();
                let end = rest.find(|it: char| !(it.is_ascii_digit() || matches!(it, '-' | '.'))).unwrap_or(rest.len());
                let number = rest.get(..end).and_then(HclNumber::parse).ok_or("this number is malformed")?;
                self.at += end;
                Ok(self.make(AzureKind::Number(number)))
            }
            Some(first) if first.is_alphabetic() || first == '_' => self.call(depth),
            _ => Err("expected an expression".to_owned()),
        }
    }

    fn name(&mut self) -> String {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|it: char| !(it.is_alphanumeric() || it == '_' || it == '$')).unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default().to_owned();
        self.at += end;
        name
    }

    /// Parses `name(…)` or `namespace.name(…)`.
    fn call(&mut self, depth: usize) -> Read {
        let mut name = self.name();
        if self.eat(".") {
            name = format!("{name}.{}", self.name());
        }
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.eat(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.expression(depth + 1)?);
        }
        let name = name.to_ascii_lowercase();
        if name != "lambda" {
            return Ok(self.make(AzureKind::Call(name.into(), arguments)));
        }
        let body = arguments.pop().ok_or("`lambda` takes names and an expression")?;
        let names = arguments.iter().filter_map(|it| it.as_text().cloned()).collect();
        Ok(self.make(AzureKind::Lambda(names, Arc::new(body))))
    }

    /// Parses a string in single quotes, in which two quotes are one escaped quote.
    fn quoted(&mut self) -> Read {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(end) = rest.find('\'') else { return Err("the string has no closing quote".to_owned()) };
            text.push_str(rest.get(..end).unwrap_or_default());
            let doubled = rest.get(end + 1..).is_some_and(|behind| behind.starts_with('\''));
            self.at += end + 1 + usize::from(doubled);
            match doubled {
                true => text.push('\''),
                false => return Ok(self.make(AzureKind::Text(text.into()))),
            }
        }
    }
}
