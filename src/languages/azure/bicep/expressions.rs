//! Parses Bicep expressions.

use std::sync::Arc;

use crate::languages::azure::syntax::{AzureEntry, AzureExpr, AzureKind, AzureLoop};
use crate::languages::hcl::value::HclNumber;

use super::cursor::{BicepParsed, Cursor};

/// Binary operators from the weakest binding, each with its function. Longer marks come first.
const OPERATORS: [&[(&str, &str)]; 7] = [
    &[("??", "coalesce")],
    &[("||", "or")],
    &[("&&", "and")],
    &[("==", "equals"), ("!=", "!equals"), ("=~", "~equals"), ("!~", "!~equals")],
    &[("<=", "lessorequals"), (">=", "greaterorequals"), ("<", "less"), (">", "greater")],
    &[("+", "add"), ("-", "sub")],
    &[("*", "mul"), ("/", "div"), ("%", "mod")],
];

impl Cursor<'_> {
    pub(super) fn expression(&mut self) -> BicepParsed<AzureExpr> {
        self.deeper(Self::choice)
    }

    fn choice(&mut self) -> BicepParsed<AzureExpr> {
        self.skip(false);
        let start = self.at;
        let condition = self.operation(0)?;
        // The `?` may be on the next line, because no statement begins with it.
        if !self.eat_below("?") {
            return Ok(condition);
        }
        self.skip(true);
        let yes = self.expression()?;
        self.expect(":")?;
        self.skip(true);
        let no = self.expression()?;
        Ok(AzureExpr::call(self.span(start), "if", vec![condition, yes, no]))
    }

    fn operation(&mut self, level: usize) -> BicepParsed<AzureExpr> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        self.skip(false);
        let start = self.at;
        let mut left = self.operation(level + 1)?;
        while let Some(name) = self.operator(operators) {
            self.skip(true);
            let right = self.operation(level + 1)?;
            let span = self.span(start);
            let plain = name.trim_start_matches(['!', '~']);
            let lower = |side: AzureExpr| AzureExpr::call(side.span, "tolower", vec![side]);
            let sides = if name.contains('~') { vec![lower(left), lower(right)] } else { vec![left, right] };
            left = AzureExpr::call(span, plain, sides);
            if name.starts_with('!') {
                left = AzureExpr::call(span, "not", vec![left]);
            }
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[(&str, &'static str)]) -> Option<&'static str> {
        let before = self.at;
        self.skip(false);
        let on_this_line = !self.rest().starts_with('\n');
        self.skip(true);
        for (mark, name) in operators {
            // At the start of a line, a sign or a comparison may begin the next statement.
            let may_begin = *mark == "-";
            let is_there = self.rest().starts_with(mark) && (on_this_line || !may_begin);
            // The `?` of `a ? b : c` is not part of `??`, and `//` starts a comment.
            if is_there {
                self.at += mark.len();
                self.end = self.at;
                return Some(name);
            }
        }
        self.at = before;
        None
    }

    fn unary(&mut self) -> BicepParsed<AzureExpr> {
        self.skip(false);
        let start = self.at;
        if self.eat("!") {
            let inner = self.deeper(Self::unary)?;
            return Ok(AzureExpr::call(self.span(start), "not", vec![inner]));
        }
        if self.eat("-") {
            let inner = self.deeper(Self::unary)?;
            let span = self.span(start);
            return Ok(match inner.kind {
                AzureKind::Number(number) => AzureExpr::new(span, AzureKind::Number(number.negated())),
                _ => {
                    let zero = AzureExpr::new(span, AzureKind::Number(HclNumber::integer(0)));
                    AzureExpr::call(span, "sub", vec![zero, inner])
                }
            });
        }
        self.steps()
    }

    /// Parses a value with its accesses: `.name`, `[0]`, `.?name`, `::child`.
    fn steps(&mut self) -> BicepParsed<AzureExpr> {
        let start = self.at;
        let mut of = self.primary()?;
        loop {
            let (is_name, safe) = match () {
                () if self.eat("::") => {
                    let name = self.name();
                    of = AzureExpr::new(self.span(start), AzureKind::Name(name.into()));
                    continue;
                }
                () if self.eat(".?") => (true, true),
                () if !self.rest().starts_with("...") && self.eat(".") => (true, false),
                () if self.eat("[?") => (false, true),
                () if self.eat("[") => (false, false),
                // The non-null assertion `!` does not change the value.
                () if !self.rest().starts_with("!=") && !self.rest().starts_with("!~") && self.eat("!") => continue,
                () => return Ok(of),
            };
            of = if is_name { self.step(of, start, safe)? } else { self.index(of, start, safe)? };
        }
    }

    fn index(&mut self, of: AzureExpr, start: usize, safe: bool) -> BicepParsed<AzureExpr> {
        self.skip(true);
        // An index such as `[^1]` counts from the end.
        let from_end = self.eat("^");
        let key = self.expression()?;
        self.expect("]")?;
        let span = self.span(start);
        Ok(match from_end {
            true => AzureExpr::call(span, if safe { "tryindexfromend" } else { "indexfromend" }, vec![of, key]),
            false => AzureExpr::new(span, AzureKind::At(Box::new(of), Box::new(key), safe)),
        })
    }

    fn step(&mut self, of: AzureExpr, start: usize, safe: bool) -> BicepParsed<AzureExpr> {
        self.skip(false);
        let at = self.at;
        let name = self.name();
        if name.is_empty() {
            return self.broken("expected a name after the dot");
        }
        let key = AzureExpr::text(self.span(at), name);
        if !self.rest().starts_with('(') {
            return Ok(AzureExpr::new(self.span(start), AzureKind::At(Box::new(of), Box::new(key), safe)));
        }
        let arguments = self.arguments()?;
        let space = match &of.kind {
            AzureKind::Name(space) => space.clone(),
            _ => Arc::from(""),
        };
        let lower = name.to_ascii_lowercase();
        let called = match &*space {
            "az" | "sys" | "" => lower,
            // These functions of a resource have no meaning without the resource.
            _ if lower.starts_with("list") || lower == "getsecret" => lower,
            space => format!("{space}.{lower}"),
        };
        Ok(AzureExpr::call(self.span(start), &called, arguments))
    }

    fn arguments(&mut self) -> BicepParsed<Vec<AzureExpr>> {
        self.expect("(")?;
        let mut all = Vec::new();
        while !self.eat_below(")") {
            if !all.is_empty() {
                self.eat_below(",");
            }
            self.skip(true);
            all.push(self.expression()?);
        }
        Ok(all)
    }

    fn primary(&mut self) -> BicepParsed<AzureExpr> {
        self.skip(false);
        let start = self.at;
        let rest = self.rest();
        match rest.chars().next() {
            Some('\'') => self.string(),
            Some('$') if rest.trim_start_matches('$').starts_with("'''") => self.string(),
            Some('{') => self.object(),
            Some('[') => self.list(),
            Some('(') => match self.lambda_of_many()? {
                Some(lambda) => Ok(lambda),
                None => self.bracketed(),
            },
            Some(first) if first.is_ascii_digit() => {
                let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
                self.at += end;
                self.end = self.at;
                match rest.get(..end).and_then(HclNumber::parse) {
                    Some(number) => Ok(AzureExpr::new(self.span(start), AzureKind::Number(number))),
                    None => self.broken("this number is malformed"),
                }
            }
            Some(first) if first.is_alphabetic() || first == '_' => self.named(start),
            _ => self.broken("expected a value"),
        }
    }

    fn bracketed(&mut self) -> BicepParsed<AzureExpr> {
        self.expect("(")?;
        self.skip(true);
        let inside = self.expression()?;
        self.expect(")")?;
        Ok(inside)
    }

    fn named(&mut self, start: usize) -> BicepParsed<AzureExpr> {
        let name = self.name();
        self.skip(false);
        let kind = match name {
            "true" => AzureKind::Bool(true),
            "false" => AzureKind::Bool(false),
            "null" => AzureKind::Null,
            _ if self.rest().starts_with('(') => {
                let arguments = self.arguments()?;
                return Ok(AzureExpr::call(self.span(start), &name.to_ascii_lowercase(), arguments));
            }
            _ if self.eat("=>") => {
                self.skip(true);
                let body = self.expression()?;
                AzureKind::Lambda(vec![name.into()], Arc::new(body))
            }
            _ => AzureKind::Name(name.into()),
        };
        Ok(AzureExpr::new(self.span(start), kind))
    }

    /// Parses `(a, b) => …`; `None` if the brackets contain something else.
    fn lambda_of_many(&mut self) -> BicepParsed<Option<AzureExpr>> {
        let start = self.at;
        let inside = self.rest().get(1..).and_then(|it| it.split_once(')'));
        let Some((names, behind)) = inside.filter(|(_, it)| it.trim_start().starts_with("=>")) else { return Ok(None) };
        let names: Vec<Arc<str>> = names.split(',').map(str::trim).filter(|it| !it.is_empty()).map(Arc::from).collect();
        self.at = self.text.len() - behind.len();
        self.expect("=>")?;
        self.skip(true);
        let body = self.expression()?;
        Ok(Some(AzureExpr::new(self.span(start), AzureKind::Lambda(names, Arc::new(body)))))
    }

    fn list(&mut self) -> BicepParsed<AzureExpr> {
        let start = self.at;
        self.expect("[")?;
        self.skip(true);
        if self.peek_name() == "for" {
            return self.value_loop(start);
        }
        let mut items = Vec::new();
        while !self.eat_below("]") {
            self.eat_below(",");
            if self.eat_below("]") {
                break;
            }
            self.skip(true);
            items.push(self.item()?);
        }
        Ok(AzureExpr::new(self.span(start), AzureKind::List(items)))
    }

    /// Parses a member, or all members of another collection: `...others`.
    fn item(&mut self) -> BicepParsed<AzureExpr> {
        let start = self.at;
        if self.eat("...") {
            let inner = self.expression()?;
            return Ok(AzureExpr::new(self.span(start), AzureKind::Spread(Box::new(inner))));
        }
        self.expression()
    }

    fn value_loop(&mut self, start: usize) -> BicepParsed<AzureExpr> {
        let mut header = self.loop_header()?;
        self.skip(true);
        if self.word("if") {
            header.filter = Some(self.bracketed()?);
            self.skip(true);
        }
        let body = self.expression()?;
        self.expect("]")?;
        Ok(AzureExpr::new(self.span(start), AzureKind::Loop(Arc::new(header), Box::new(body))))
    }

    /// Parses `for item in list:` or `for (item, index) in list:`.
    pub(super) fn loop_header(&mut self) -> BicepParsed<AzureLoop> {
        self.word("for");
        let (item, index) = match self.eat("(") {
            true => {
                let item = self.name();
                self.expect(",")?;
                let index = self.name();
                self.expect(")")?;
                (item, Some(index.into()))
            }
            false => (self.name(), None),
        };
        if !self.word("in") {
            return self.broken("expected `in` in this loop");
        }
        let over = self.expression()?;
        self.expect(":")?;
        Ok(AzureLoop { name: None, item: Some(item.into()), index, over, filter: None })
    }

    fn object(&mut self) -> BicepParsed<AzureExpr> {
        let start = self.at;
        self.expect("{")?;
        let mut entries = Vec::new();
        while !self.eat_below("}") {
            if self.eat_below(",") {
                continue;
            }
            self.skip(true);
            entries.push(self.entry()?);
        }
        Ok(AzureExpr::new(self.span(start), AzureKind::Object(entries)))
    }

    pub(super) fn entry(&mut self) -> BicepParsed<AzureEntry> {
        let start = self.at;
        if self.rest().starts_with("...") {
            let value = self.item()?;
            return Ok(AzureEntry { key: AzureExpr::text(self.span(start), ""), value });
        }
        let key = match self.rest().starts_with('\'') {
            true => self.string()?,
            false => {
                let name = self.name();
                AzureExpr::text(self.span(start), name)
            }
        };
        if !self.eat(":") {
            return self.broken("expected `:` after the key");
        }
        self.skip(true);
        Ok(AzureEntry { key, value: self.expression()? })
    }
}
