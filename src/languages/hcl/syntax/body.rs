//! Parses bodies: attributes and blocks. After a syntax error, it continues with the next item.

use std::collections::HashSet;

use super::cursor::{Failed, Parse, Parser};
use super::{Attribute, BlockNode, Body, Expression, HclKind, HclName, ParsedFile};

impl Parser<'_> {
    pub(super) fn parse_file(mut self) -> ParsedFile {
        let body = self.parse_items(None);
        ParsedFile { body, errors: self.errors, notes: self.notes, comments: self.comments }
    }

    /// Parses items up to the end of the file, or to the closing brace of the block that opened at `open`.
    fn parse_items(&mut self, open: Option<usize>) -> Body {
        let start = open.unwrap_or(self.at);
        let mut body = Body::empty(self.span(start));
        self.skip_blank();
        // `{ a = 1 }` on one line contains exactly one argument.
        let one_line = open.is_some() && !matches!(self.peek(), b'\n' | b'\r' | b'}');
        loop {
            self.skip_lines();
            if self.at_end() {
                if open.is_some() {
                    let _: Parse<()> = self.fail_at("this block has no closing `}`", start, start + 1);
                    body.incomplete = true;
                }
                break;
            }
            if self.peek() == b'}' && open.is_some() {
                self.at += 1;
                break;
            }
            self.resume = self.at;
            self.one_line = one_line;
            if self.parse_item(&mut body).is_err() {
                body.incomplete = true;
                if !self.recover(open.is_some()) {
                    break;
                }
            }
        }
        note_repeated(self, &mut body);
        body.span = self.span(start);
        body
    }

    fn parse_item(&mut self, body: &mut Body) -> Parse<()> {
        self.count()?;
        let quoted = self.peek() == b'"';
        let name = if quoted { self.parse_label()? } else { self.parse_item_name()? };
        self.skip_blank();
        if self.peek() == b'=' && self.byte(1) != b'=' {
            self.at += 1;
            if quoted {
                self.report(format!("an argument name must not be quoted: write `{}`", name.text), name.span);
            }
            return self.parse_attribute(name, body);
        }
        if quoted {
            return self.fail(format!("expected `=` after an argument name, found {}", self.seen()));
        }
        let block = self.parse_block(name)?;
        body.blocks.push(block);
        self.end_of_item("block")
    }

    fn parse_item_name(&mut self) -> Parse<HclName> {
        match self.identifier() {
            Some(name) => Ok(name),
            None => self.fail(format!("expected an argument or a block, found {}", self.seen())),
        }
    }

    fn parse_attribute(&mut self, name: HclName, body: &mut Body) -> Parse<()> {
        self.skip_blank();
        let start = self.at;
        let expression = match self.parse_expression() {
            Ok(expression) => expression,
            Err(Failed) => {
                let span = self.span(start);
                body.attributes.push(Attribute { name, expression: Expression { kind: HclKind::Invalid, span } });
                return Err(Failed);
            }
        };
        body.attributes.push(Attribute { name, expression });
        self.end_of_item("argument")
    }

    fn end_of_item(&mut self, what: &str) -> Parse<()> {
        self.skip_blank();
        let one_line = self.one_line && what == "argument";
        let closes = self.peek() == b'}';
        if self.at_end() || (closes && one_line) || (!one_line && self.eat_newline()) {
            return Ok(());
        }
        let wanted = if one_line { "`}`" } else { "a new line" };
        let message = format!("expected {wanted} after this {what}, found {}", self.seen());
        if closes || (one_line && self.eat_newline()) {
            // Terraform refuses this syntax, but its meaning is clear, so parsing continues.
            self.report(message, self.span(self.at));
            return Ok(());
        }
        self.resume = self.at;
        self.fail(message)
    }

    fn parse_block(&mut self, keyword: HclName) -> Parse<BlockNode> {
        let mut labels = Vec::new();
        let mut header = keyword.span;
        loop {
            self.skip_blank();
            self.count()?;
            match self.peek() {
                b'{' => break,
                b'"' => labels.push(self.parse_label()?),
                _ => match self.identifier() {
                    Some(label) => labels.push(label),
                    None => {
                        let what = if labels.is_empty() { "`=` or `{`" } else { "`{`" };
                        return self.fail(format!("expected {what} after `{}`, found {}", keyword.text, self.seen()));
                    }
                },
            }
            if let Some(label) = labels.last() {
                header = header.to(label.span);
            }
        }
        let body = self.parse_block_body()?;
        Ok(BlockNode { keyword, labels, body, header })
    }

    fn parse_block_body(&mut self) -> Parse<Body> {
        let open = self.at;
        self.at += 1;
        self.nested(|parser| parser.with_newlines(true, |parser| Ok(parser.parse_items(Some(open)))))
    }

    /// Parses a quoted block label: a string without a template.
    fn parse_label(&mut self) -> Parse<HclName> {
        let start = self.at;
        let text = self.parse_plain_string()?;
        Ok(HclName { text, span: self.span(start) })
    }

    /// Moves to the next item after a syntax error; returns `false` at the end of this body.
    fn recover(&mut self, in_block: bool) -> bool {
        let from = self.at;
        self.at = self.resume;
        let mut depth = 0usize;
        while !self.at_end() {
            let line_start = self.at == 0 || self.bytes[self.at - 1] == b'\n';
            if line_start && self.at > from && self.at_top_level_block() {
                return !in_block;
            }
            match self.peek() {
                b'"' => self.skip_string(),
                b'#' | b'/' => self.skip_comment_or_slash(),
                b'<' if self.byte(1) == b'<' => self.skip_heredoc(),
                b'{' | b'[' | b'(' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' if depth == 0 && in_block => return true,
                b'}' | b']' | b')' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b'\n' => {
                    self.at += 1;
                    if depth == 0 && self.at > from {
                        return true;
                    }
                }
                _ => self.at += 1,
            }
        }
        !in_block
    }

    /// Returns true if a Terraform block begins on this line without indentation, which is a safe place to continue.
    fn at_top_level_block(&self) -> bool {
        const KEYWORDS: [&str; 9] =
            ["resource", "data", "module", "variable", "locals", "output", "provider", "terraform", "moved"];
        KEYWORDS.iter().any(|keyword| {
            let rest = self.rest();
            rest.starts_with(keyword.as_bytes())
                && rest.get(keyword.len()).is_some_and(|b| matches!(b, b' ' | b'\t' | b'{' | b'"'))
                && memchr::memchr(b'\n', rest).is_some_and(|end| rest[..end].trim_ascii_end().ends_with(b"{"))
        })
    }

    fn skip_comment_or_slash(&mut self) {
        let before = self.at;
        let newlines = std::mem::replace(&mut self.newlines, true);
        let comments = self.comments.len();
        let errors = self.errors.len();
        self.skip_blank();
        self.comments.truncate(comments);
        self.errors.truncate(errors);
        self.newlines = newlines;
        if self.at == before {
            self.at += 1;
        }
    }

    /// Skips a quoted string with its templates. Without a closing quote, it stops at the end of the line.
    fn skip_string(&mut self) {
        self.at += 1;
        let mut depth = 0usize;
        while !self.at_end() {
            match self.peek() {
                b'\\' => self.at += 1,
                b'"' if depth == 0 => {
                    self.at += 1;
                    return;
                }
                b'\n' if depth == 0 => return,
                b'{' if matches!(self.bytes[self.at - 1], b'$' | b'%') || depth > 0 => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips a heredoc, or two characters that do not begin one.
    fn skip_heredoc(&mut self) {
        let start = self.at;
        if let Some(heredoc) = self.heredoc() {
            self.at = heredoc.after;
        } else {
            self.at = start + 2;
        }
    }
}

/// Reports duplicate arguments; the first one stays.
fn note_repeated(parser: &mut Parser<'_>, body: &mut Body) {
    if body.attributes.len() < 2 {
        return;
    }
    let mut seen = HashSet::with_capacity(body.attributes.len());
    let repeated: Vec<HclName> =
        body.attributes.iter().filter(|a| !seen.insert(a.name.text.clone())).map(|a| a.name.clone()).collect();
    for name in &repeated {
        parser.report(format!("the argument `{}` is set twice", name.text), name.span);
    }
    if !repeated.is_empty() {
        let mut seen = HashSet::new();
        body.attributes.retain(|attribute| seen.insert(attribute.name.text.clone()));
    }
}
