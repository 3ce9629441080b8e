//! Parses expressions, from the weakest operator to the strongest.

use std::sync::Arc;

use crate::languages::hcl::number::HclNumber;

use super::cursor::{Parse, Parser};
use super::{
    BinaryOperator, Call, Conditional, Expression, HclKind, HclName, SyntaxError, TraversalStep, TraversalStepKind,
    UnaryOperator,
};

/// Operators from the weakest to the strongest binding; those of one level are parsed from left to right.
const LEVELS: [&[(&str, BinaryOperator)]; 6] = [
    &[("||", BinaryOperator::Or)],
    &[("&&", BinaryOperator::And)],
    &[("==", BinaryOperator::Equal), ("!=", BinaryOperator::NotEqual)],
    &[
        ("<=", BinaryOperator::LessOrEqual),
        (">=", BinaryOperator::GreaterOrEqual),
        ("<", BinaryOperator::Less),
        (">", BinaryOperator::Greater),
    ],
    &[("+", BinaryOperator::Add), ("-", BinaryOperator::Subtract)],
    &[("*", BinaryOperator::Multiply), ("/", BinaryOperator::Divide), ("%", BinaryOperator::Modulo)],
];

impl Parser<'_> {
    pub(super) fn parse_whole_expression(mut self) -> Result<Expression, SyntaxError> {
        self.newlines = false;
        let parsed = self.parse_expression();
        self.skip_blank();
        if parsed.is_ok() && !self.at_end() {
            let _: Parse<()> = self.fail(format!("expected the end of the expression, found {}", self.seen()));
        }
        match (parsed, self.errors.into_iter().next()) {
            (Ok(expression), None) => Ok(expression),
            (_, Some(error)) => Err(error),
            (Err(_), None) => {
                Err(SyntaxError { message: "this is not an expression".into(), span: self.place.span(0, 0) })
            }
        }
    }

    pub(super) fn parse_expression(&mut self) -> Parse<Expression> {
        self.nested(|parser| {
            let condition = parser.parse_binary(0)?;
            parser.skip_blank();
            if parser.peek() != b'?' {
                return Ok(condition);
            }
            parser.at += 1;
            let yes = parser.parse_expression()?;
            parser.skip_blank();
            if !parser.eat(":") {
                return parser.fail(format!("expected `:` and the other value after `?`, found {}", parser.seen()));
            }
            let no = parser.parse_expression()?;
            let span = condition.span.to(no.span);
            Ok(Expression { kind: HclKind::Conditional(Box::new(Conditional { condition, yes, no })), span })
        })
    }

    fn parse_binary(&mut self, level: usize) -> Parse<Expression> {
        let Some(operators) = LEVELS.get(level) else { return self.parse_term_with_steps() };
        let first = self.parse_binary(level + 1)?;
        let mut rest = Vec::new();
        while let Some(operator) = self.eat_operator(operators) {
            rest.push((operator, self.parse_binary(level + 1)?));
        }
        let Some((_, last)) = rest.last() else { return Ok(first) };
        let span = first.span.to(last.span);
        Ok(Expression { kind: HclKind::Binary(Box::new(first), rest.into_boxed_slice()), span })
    }

    fn eat_operator(&mut self, operators: &[(&str, BinaryOperator)]) -> Option<BinaryOperator> {
        self.skip_blank();
        let (token, operator) = *operators.iter().find(|(token, _)| self.starts_with(token))?;
        self.at += token.len();
        Some(operator)
    }

    fn parse_term_with_steps(&mut self) -> Parse<Expression> {
        let term = self.parse_term()?;
        let steps = self.parse_steps()?;
        let Some(last) = steps.last() else { return Ok(term) };
        let span = term.span.to(last.span);
        Ok(Expression { kind: HclKind::Traversal(Box::new(term), steps.into_boxed_slice()), span })
    }

    fn parse_steps(&mut self) -> Parse<Vec<TraversalStep>> {
        let mut steps = Vec::new();
        loop {
            let before = self.at;
            self.skip_blank();
            let start = self.at;
            match self.peek() {
                b'.' if self.starts_with("...") => break,
                b'.' => {
                    self.at += 1;
                    self.parse_dot(start, &mut steps)?;
                }
                b'[' => {
                    self.at += 1;
                    let kind = self.parse_bracket(start)?;
                    steps.push(TraversalStep { kind, span: self.span(start) });
                }
                _ => {
                    self.at = before;
                    break;
                }
            }
        }
        Ok(steps)
    }

    /// Parses the part after a dot: a name, an index in Terraform 0.11 syntax, or a star.
    fn parse_dot(&mut self, start: usize, steps: &mut Vec<TraversalStep>) -> Parse<()> {
        self.count()?;
        self.skip_blank();
        if self.eat("*") {
            let each = self.parse_names_of_splat()?;
            steps.push(TraversalStep {
                kind: TraversalStepKind::Splat(each.into_boxed_slice()),
                span: self.span(start),
            });
            return Ok(());
        }
        if self.peek().is_ascii_digit() {
            let digits_at = self.at;
            let digits = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
            self.at += digits;
            let Some(number) = HclNumber::parse(self.slice(digits_at, self.at)) else {
                return self.fail("this is not an index");
            };
            let span = self.span(digits_at);
            let index = Expression { kind: HclKind::Number(number), span };
            steps.push(TraversalStep { kind: TraversalStepKind::Index(Box::new(index)), span: self.span(start) });
            return Ok(());
        }
        match self.identifier() {
            Some(name) => {
                steps.push(TraversalStep { kind: TraversalStepKind::Attribute(name.text), span: self.span(start) });
                Ok(())
            }
            None => self.fail(format!("expected a name after `.`, found {}", self.seen())),
        }
    }

    /// Parses the names after `.*`, which apply to each element. A bracket after them applies to the whole list.
    fn parse_names_of_splat(&mut self) -> Parse<Vec<TraversalStep>> {
        let mut each = Vec::new();
        loop {
            let before = self.at;
            self.skip_blank();
            let start = self.at;
            if self.peek() != b'.' || self.starts_with("...") || self.byte(1) == b'*' {
                self.at = before;
                return Ok(each);
            }
            self.at += 1;
            self.parse_dot(start, &mut each)?;
        }
    }

    fn parse_bracket(&mut self, start: usize) -> Parse<TraversalStepKind> {
        self.nested(|parser| {
            let star = parser.with_newlines(false, |parser| {
                parser.skip_blank();
                let star = parser.eat("*");
                if star {
                    parser.skip_blank();
                }
                star
            });
            if star {
                if !parser.eat("]") {
                    return parser.fail(format!("expected `]` after `[*`, found {}", parser.seen()));
                }
                return Ok(TraversalStepKind::Splat(parser.parse_steps()?.into_boxed_slice()));
            }
            parser.with_newlines(false, |parser| {
                let index = parser.parse_expression()?;
                parser.close("]", start, "this index")?;
                Ok(TraversalStepKind::Index(Box::new(index)))
            })
        })
    }

    /// Parses the closing bracket for `open`.
    pub(super) fn close(&mut self, token: &str, open: usize, what: &str) -> Parse<()> {
        self.skip_blank();
        if self.eat(token) {
            return Ok(());
        }
        if self.at_end() {
            return self.fail_at(format!("{what} has no closing `{token}`"), open, open + 1);
        }
        self.fail(format!("expected `{token}` at the end of {what}, found {}", self.seen()))
    }

    fn parse_term(&mut self) -> Parse<Expression> {
        self.count()?;
        self.skip_blank();
        let start = self.at;
        let kind = match self.peek() {
            b'(' => {
                self.at += 1;
                let inner = self.with_newlines(false, |parser| {
                    let inner = parser.parse_expression()?;
                    parser.close(")", start, "this parenthesis")?;
                    Ok(inner)
                })?;
                HclKind::Parentheses(Box::new(inner))
            }
            b'0'..=b'9' => HclKind::Number(self.parse_number()?),
            b'"' => return self.parse_quoted(),
            b'<' if self.byte(1) == b'<' => return self.parse_heredoc(),
            b'-' => self.parse_unary(UnaryOperator::Minus)?,
            b'!' => self.parse_unary(UnaryOperator::Not)?,
            b'[' => self.parse_list()?,
            b'{' => self.parse_object()?,
            _ => return self.parse_name_or_call(),
        };
        Ok(Expression { kind, span: self.span(start) })
    }

    fn parse_unary(&mut self, operator: UnaryOperator) -> Parse<HclKind> {
        self.at += 1;
        let operand = self.nested(Self::parse_term_with_steps)?;
        Ok(HclKind::Unary(operator, Box::new(operand)))
    }

    fn parse_number(&mut self) -> Parse<HclNumber> {
        let start = self.at;
        let digits = |parser: &mut Self| {
            while parser.peek().is_ascii_digit() {
                parser.at += 1;
            }
        };
        digits(self);
        if self.peek() == b'.' && self.byte(1).is_ascii_digit() {
            self.at += 1;
            digits(self);
        }
        if matches!(self.peek(), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                self.at += 1 + sign;
                digits(self);
            }
        }
        match HclNumber::parse(self.slice(start, self.at)) {
            Some(number) => Ok(number),
            None => self.fail_at("this number is too large", start, self.at),
        }
    }

    fn parse_name_or_call(&mut self) -> Parse<Expression> {
        let start = self.at;
        let Some(mut name) = self.identifier() else {
            return self.fail(format!("expected an expression, found {}", self.seen()));
        };
        while self.starts_with("::") {
            self.at += 2;
            if self.identifier().is_none() {
                return self.fail(format!("expected a name after `::`, found {}", self.seen()));
            }
            name = HclName { text: Arc::from(self.slice(start, self.at)), span: self.span(start) };
        }
        let after_name = self.at;
        self.skip_blank();
        if self.peek() == b'(' {
            return self.parse_call(name);
        }
        self.at = after_name;
        let kind = match &*name.text {
            "true" => HclKind::Bool(true),
            "false" => HclKind::Bool(false),
            "null" => HclKind::Null,
            _ => HclKind::Name(name.text),
        };
        Ok(Expression { kind, span: self.span(start) })
    }

    fn parse_call(&mut self, name: HclName) -> Parse<Expression> {
        let open = self.at;
        self.at += 1;
        let (arguments, expand) = self.with_newlines(false, |parser| {
            let mut arguments = Vec::new();
            let mut expand = false;
            loop {
                parser.skip_blank();
                if parser.eat(")") {
                    break;
                }
                arguments.push(parser.parse_expression()?);
                parser.skip_blank();
                if parser.eat("...") {
                    expand = true;
                    parser.skip_blank();
                    parser.eat(",");
                    parser.close(")", open, "this call")?;
                    break;
                }
                if !parser.eat(",") {
                    parser.close(")", open, "this call")?;
                    break;
                }
            }
            Ok((arguments, expand))
        })?;
        let span = name.span.to(self.span(open));
        Ok(Expression { kind: HclKind::Call(Box::new(Call { name, arguments, expand })), span })
    }
}
