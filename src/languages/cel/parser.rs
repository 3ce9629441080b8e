//! Parses tokens to an expression tree.

use std::ops::Range;
use std::sync::Arc;

use super::lexer::{self, TokenKind as Token};
use super::syntax::{Expr, ExprItem, ExprKind, ExprName, Operator};
use super::{MAX_BYTES, MAX_DEPTH, Problem};

/// Reserved words of the language, besides `true`, `false`, `null` and `in`.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

pub(super) fn parse(text: &str) -> Result<Expr, Problem> {
    if text.len() > MAX_BYTES {
        let message = format!("the expression has {} bytes, more than the limit of {MAX_BYTES}", text.len());
        return Err(Problem::new(0..text.len(), message));
    }
    let mut parser = Parser { tokens: lexer::tokens(text)?, next: 0, open: 0 };
    let expression = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expression),
        _ => Err(parser.unexpected("an operator or the end")),
    }
}

struct Parser {
    tokens: Vec<lexer::Token>,
    next: usize,
    /// Current nesting depth of `expression` and `unary`.
    open: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].kind
    }

    fn here(&self) -> Range<usize> {
        self.tokens[self.next].at.clone()
    }

    fn advance(&mut self) -> lexer::Token {
        let token = self.tokens[self.next].clone();
        // The last token is the end, and the parser never moves beyond it.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(found) if *found == sign);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), Problem> {
        match self.takes(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{sign}`"))),
        }
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let found = match self.peek() {
            Token::End => return Problem::new(self.here(), format!("the expression ends where {wanted} is expected")),
            Token::Sign(sign) => (*sign).to_owned(),
            Token::Name(name) | Token::Quoted(name) => name.to_string(),
            Token::Text(_) | Token::Bytes(_) => "text".to_owned(),
            Token::Integer(n) | Token::Unsigned(n) => n.to_string(),
            Token::Double(n) => n.to_string(),
        };
        Problem::new(self.here(), format!("found `{found}` where {wanted} is expected"))
    }

    /// Increases the nesting depth; each call is undone by `self.open -= 1`.
    fn descend(&mut self) -> Result<(), Problem> {
        self.open += 1;
        if self.open > MAX_DEPTH { Err(too_deep(self.here())) } else { Ok(()) }
    }

    fn expression(&mut self) -> Result<Expr, Problem> {
        self.descend()?;
        let test = self.binary(0)?;
        let whole = if self.takes("?") {
            let yes = self.binary(0)?;
            self.expect(":")?;
            let no = self.expression()?;
            let at = test.at.start..no.at.end;
            build(ExprKind::Conditional(Box::new(test), Box::new(yes), Box::new(no)), at)?
        } else {
            test
        };
        self.open -= 1;
        Ok(whole)
    }

    /// Parses operators by binding strength: `||`, `&&`, relations, sums, products. A single function for all of them
    /// needs less stack.
    fn binary(&mut self, weakest: usize) -> Result<Expr, Problem> {
        let mut left = self.unary()?;
        while let Some((strength, operator)) = self.operator().filter(|(strength, _)| *strength >= weakest) {
            self.advance();
            let right = self.binary(strength + 1)?;
            let at = left.at.start..right.at.end;
            // A chain of any length is one list.
            if let (None, 0, ExprKind::Or(parts)) | (None, 1, ExprKind::And(parts)) =
                (operator, strength, &mut left.kind)
            {
                left.depth = left.depth.max(right.depth + 1);
                left.at = at;
                parts.push(right);
                continue;
            }
            let kind = match operator {
                Some(operator) => ExprKind::Binary(operator, Box::new(left), Box::new(right)),
                None if strength == 0 => ExprKind::Or(vec![left, right]),
                None => ExprKind::And(vec![left, right]),
            };
            left = build(kind, at)?;
        }
        Ok(left)
    }

    /// Returns the next operator with its strength. `||` and `&&` are not binary operators here.
    fn operator(&self) -> Option<(usize, Option<Operator>)> {
        let sign = match self.peek() {
            Token::Sign(sign) => sign,
            Token::Name(name) if &**name == "in" => "in",
            _ => return None,
        };
        Some(match sign {
            "||" => (0, None),
            "&&" => (1, None),
            "==" => (2, Some(Operator::Equal)),
            "!=" => (2, Some(Operator::NotEqual)),
            "<" => (2, Some(Operator::Less)),
            "<=" => (2, Some(Operator::LessOrEqual)),
            ">" => (2, Some(Operator::Greater)),
            ">=" => (2, Some(Operator::GreaterOrEqual)),
            "in" => (2, Some(Operator::In)),
            "+" => (3, Some(Operator::Add)),
            "-" => (3, Some(Operator::Subtract)),
            "*" => (4, Some(Operator::Multiply)),
            "/" => (4, Some(Operator::Divide)),
            "%" => (4, Some(Operator::Remainder)),
            _ => return None,
        })
    }

    fn unary(&mut self) -> Result<Expr, Problem> {
        let start = self.here().start;
        if self.takes("!") {
            self.descend()?;
            let of = self.unary()?;
            self.open -= 1;
            let at = start..of.at.end;
            return build(ExprKind::Not(Box::new(of)), at);
        }
        if self.takes("-") {
            // The lowest integer exists only with its sign.
            if let Token::Integer(digits) = *self.peek()
                && !self.is_followed_by_member()
            {
                let end = self.advance().at.end;
                let Some(value) = 0i64.checked_sub_unsigned(digits) else {
                    return Err(Problem::new(start..end, "the number does not fit 64 bits"));
                };
                return build(ExprKind::Integer(value), start..end);
            }
            self.descend()?;
            let of = self.unary()?;
            self.open -= 1;
            let at = start..of.at.end;
            return build(ExprKind::Negative(Box::new(of)), at);
        }
        self.member()
    }

    fn is_followed_by_member(&self) -> bool {
        let after = self.tokens.get(self.next + 1).map(|token| &token.kind);
        matches!(after, Some(Token::Sign("." | "[" | ".?" | "[?")))
    }

    fn member(&mut self) -> Result<Expr, Problem> {
        let mut of = self.primary()?;
        loop {
            let start = of.at.start;
            let optional = matches!(self.peek(), Token::Sign(".?" | "[?"));
            if self.takes(".") || self.takes(".?") {
                let (field, is_quoted) = self.field()?;
                let kind = match !optional && !is_quoted && self.takes("(") {
                    true => ExprKind::Call { of: Some(Box::new(of)), name: field, arguments: self.arguments()? },
                    false => ExprKind::Field { of: Box::new(of), field, optional },
                };
                of = build(kind, start..self.last_end())?;
            } else if self.takes("[") || self.takes("[?") {
                let key = Box::new(self.expression()?);
                self.expect("]")?;
                of = build(ExprKind::Index { of: Box::new(of), key, optional }, start..self.last_end())?;
            } else if matches!(self.peek(), Token::Sign("{")) && is_type_name(&of) {
                return Err(no_messages(of.at));
            } else {
                return Ok(of);
            }
        }
    }

    fn last_end(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |last| self.tokens[last].at.end)
    }

    fn field(&mut self) -> Result<(ExprName, bool), Problem> {
        let at = self.here();
        match self.peek().clone() {
            Token::Name(text) if !matches!(&*text, "true" | "false" | "null" | "in") => {
                self.advance();
                Ok((ExprName { text, at }, false))
            }
            Token::Quoted(text) => {
                self.advance();
                Ok((ExprName { text, at }, true))
            }
            _ => Err(self.unexpected("the name of a field")),
        }
    }

    fn primary(&mut self) -> Result<Expr, Problem> {
        let at = self.here();
        let kind = match self.peek().clone() {
            Token::Sign("(") => {
                self.advance();
                let mut inner = self.expression()?;
                self.expect(")")?;
                inner.at = at.start..self.last_end();
                return Ok(inner);
            }
            Token::Sign("[") | Token::Sign("[?") => return self.list(),
            Token::Sign("{") => return self.map(),
            Token::Sign(".") => {
                self.advance();
                let (name, _) = self.field()?;
                return self.name(name, true);
            }
            Token::Name(text) => match &*text {
                "true" => ExprKind::Flag(true),
                "false" => ExprKind::Flag(false),
                "null" => ExprKind::Null,
                "in" => return Err(self.unexpected("a value")),
                word if RESERVED.contains(&word) => {
                    return Err(Problem::new(at, format!("`{word}` is a reserved word")));
                }
                _ => {
                    self.advance();
                    return self.name(ExprName { text, at }, false);
                }
            },
            Token::Integer(digits) => match i64::try_from(digits) {
                Ok(value) => ExprKind::Integer(value),
                Err(_) => return Err(Problem::new(at, "the number does not fit 64 bits")),
            },
            Token::Unsigned(value) => ExprKind::Unsigned(value),
            Token::Double(value) => ExprKind::Double(value),
            Token::Text(text) => ExprKind::Text(text),
            Token::Bytes(bytes) => ExprKind::Bytes(bytes),
            Token::Quoted(_) | Token::Sign(_) | Token::End => return Err(self.unexpected("a value")),
        };
        self.advance();
        build(kind, at)
    }

    fn name(&mut self, name: ExprName, rooted: bool) -> Result<Expr, Problem> {
        let start = name.at.start - usize::from(rooted);
        if self.takes("(") {
            let arguments = self.arguments()?;
            return build(ExprKind::Call { of: None, name, arguments }, start..self.last_end());
        }
        if matches!(self.peek(), Token::Sign("{")) {
            return Err(no_messages(name.at));
        }
        build(ExprKind::Name { name: name.text, rooted }, start..self.last_end())
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, Problem> {
        let mut arguments = Vec::new();
        if self.takes(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if self.takes(")") {
                return Ok(arguments);
            }
            if !self.takes(",") {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
    }

    fn list(&mut self) -> Result<Expr, Problem> {
        let start = self.here().start;
        let mut optional = self.takes("[?") || !self.takes("[");
        let mut items = Vec::new();
        while optional || !self.takes("]") {
            optional = optional || self.takes("?");
            items.push(ExprItem { value: self.expression()?, optional });
            optional = false;
            if !self.takes(",") {
                self.expect("]").map_err(|_| self.unexpected("`,` or `]`"))?;
                break;
            }
        }
        build(ExprKind::List(items), start..self.last_end())
    }

    fn map(&mut self) -> Result<Expr, Problem> {
        let start = self.here().start;
        self.expect("{")?;
        let mut entries = Vec::new();
        while !self.takes("}") {
            let optional = self.takes("?");
            let key = ExprItem { value: self.expression()?, optional };
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.takes(",") {
                self.expect("}").map_err(|_| self.unexpected("`,` or `}`"))?;
                break;
            }
        }
        build(ExprKind::Map(entries), start..self.last_end())
    }
}

/// Returns true for `a.B`, which before a brace can only be the name of a message.
fn is_type_name(of: &Expr) -> bool {
    match &of.kind {
        ExprKind::Name { .. } => true,
        ExprKind::Field { of, optional: false, .. } => is_type_name(of),
        _ => false,
    }
}

fn build(kind: ExprKind, at: Range<usize>) -> Result<Expr, Problem> {
    let depth = 1 + kind.parts().iter().map(|part| part.depth).max().unwrap_or(0);
    match depth > MAX_DEPTH {
        true => Err(too_deep(at)),
        false => Ok(Expr { kind, at, depth }),
    }
}

fn no_messages(at: Range<usize>) -> Problem {
    Problem::new(at, "an expression cannot create messages").with_help("write a map: `{\"key\": value}`")
}

fn too_deep(at: Range<usize>) -> Problem {
    Problem::new(at, format!("the expression is nested deeper than {MAX_DEPTH} levels"))
}

/// Returns a plain name, such as the variable of a macro.
pub(super) fn as_plain_name(expression: &Expr) -> Option<Arc<str>> {
    match &expression.kind {
        ExprKind::Name { name, rooted: false } => Some(name.clone()),
        _ => None,
    }
}
