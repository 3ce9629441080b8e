//! Handles message templates with facts: `{gpus} cost {bill.monthly.expected | usd}/month`.

use std::ops::Range;
use std::sync::Arc;

use crate::languages::cel::nearest;
use crate::languages::cel::{
    self, CelBudget, CelHost, CelType, CelValue, ExpressionScope, Problem, Program, ServerScope, UnknownSubject,
    UnknownValue,
};

use super::format;
use crate::catalog::Currency;

#[derive(Debug)]
pub(super) struct MessageTemplate {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Value(Box<Program>, Format),
    /// Money with an expected and a maximum amount.
    Range(Box<Program>, Box<Program>),
    /// Money that is written from its minimum to its maximum.
    Ends {
        expected: Box<Program>,
        least: Box<Program>,
        most: Box<Program>,
    },
}

/// The format of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// The format that suits the type of the value.
    Plain,
    Usd,
    /// Dollars from the minimum to the maximum.
    UsdRange,
    Gib,
    Percent,
    /// Seconds in a readable unit.
    Time,
    /// Rounded to two digits.
    Rounded,
}

/// Units that may follow an amount of money.
const UNITS: [&str; 7] = ["/month", "/hour", "/h", " a month", " an hour", " per month", " per hour"];

const FORMATS: [(&str, Format); 6] = [
    ("usd", Format::Usd),
    ("range", Format::UsdRange),
    ("gib", Format::Gib),
    ("percent", Format::Percent),
    ("time", Format::Time),
    ("rounded", Format::Rounded),
];

/// A rendered message, or the fact that is missing.
pub(super) struct RenderedMessage {
    pub(super) text: String,
    pub(super) missing: Option<Arc<UnknownValue>>,
    pub(super) failure: Option<String>,
}

impl MessageTemplate {
    pub(super) fn parse(text: &str, scope: &ExpressionScope<'_>) -> Result<MessageTemplate, Problem> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            if let Some(problem) = doubled(text, at, scope) {
                return Err(problem);
            }
            if rest.starts_with("{{") || rest.starts_with("}}") {
                plain.push(c);
                at += 2;
            } else if c == '}' {
                return Err(
                    Problem::new(at..at + 1, "`}` has no matching `{`").with_help("write `}}` to print a brace")
                );
            } else if c == '{' {
                let end = closing(text, at)?;
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(placeholder(text, at + 1..end, scope)?);
                at = end + 1;
            } else {
                plain.push(c);
                at += c.len_utf8();
            }
        }
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(MessageTemplate { parts })
    }

    /// Converts the message to an expression of a Kubernetes API server; `None` if the server cannot compute a part of
    /// it.
    pub(super) fn in_kubernetes(&self, scope: &ServerScope<'_>) -> Option<String> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => Some(cel::quoted(text)),
            Part::Value(program, Format::Plain) => program.text_in_kubernetes(scope).ok(),
            Part::Value(..) | Part::Range(..) | Part::Ends { .. } => None,
        });
        Some(parts.collect::<Option<Vec<_>>>()?.join(" + ")).filter(|text| !text.is_empty())
    }

    /// Returns the expressions in the message.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Program> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(program, _) | Part::Range(program, _) | Part::Ends { expected: program, .. } => {
                Some(&**program)
            }
            Part::Text(_) => None,
        })
    }

    /// Renders the message. Each expression may use the whole budget.
    pub(super) fn render(&self, host: &dyn CelHost, budget: &CelBudget, currency: Currency) -> RenderedMessage {
        let mut rendered = RenderedMessage { text: String::new(), missing: None, failure: None };
        let mut after_unknown_money = false;
        // Handles the unit in `{bill.cost | usd}/{bill.per}`.
        let mut after_unknown_unit = false;
        for part in &self.parts {
            let (program, format) = match part {
                Part::Text(text) if after_unknown_money && text == "/" => {
                    after_unknown_unit = true;
                    continue;
                }
                Part::Value(..) if std::mem::take(&mut after_unknown_unit) => {
                    after_unknown_money = false;
                    continue;
                }
                Part::Text(text) if after_unknown_money => {
                    // The unit after an unknown amount is dropped, because "an unknown price/month" would be wrong.
                    let rest = UNITS.iter().find_map(|unit| text.strip_prefix(unit));
                    let rest = rest.filter(|rest| !rest.starts_with(char::is_alphanumeric));
                    rendered.text.push_str(rest.unwrap_or(text));
                    after_unknown_money = false;
                    continue;
                }
                Part::Text(text) => {
                    rendered.text.push_str(text);
                    continue;
                }
                Part::Value(program, format) => (program, *format),
                Part::Range(program, _) | Part::Ends { expected: program, .. } => (program, Format::Usd),
            };
            match program.evaluate(host, &mut budget.clone()).result {
                Ok(CelValue::Unknown(unknown)) => {
                    after_unknown_money = format == Format::Usd || unknown.about == UnknownSubject::Price;
                    rendered.text.push_str(if after_unknown_money { "an unknown price" } else { "unknown" });
                    rendered.missing = Some(unknown);
                }
                Ok(CelValue::Absent) => {
                    rendered.text.push_str("none");
                    rendered.missing.get_or_insert_with(|| {
                        let why = "no file sets the value".into();
                        Arc::new(UnknownValue {
                            why,
                            span: None,
                            about: UnknownSubject::Fact,
                            candidates: Vec::new(),
                            beginning: None,
                        })
                    });
                }
                Ok(value) => match (part, value.as_number()) {
                    (Part::Range(_, most), Some(0.0)) => rendered.push_most(most, host, currency),
                    (Part::Ends { least, most, .. }, Some(_)) => rendered.push_ends(least, most, host, currency),
                    _ => rendered.text.push_str(&written(&value, format, currency)),
                },
                Err(failure) => rendered.failure = Some(failure.message),
            }
        }
        rendered
    }
}

impl RenderedMessage {
    /// Writes an amount from its minimum to its maximum. A minimum of zero is written as "up to".
    fn push_ends(&mut self, least: &Program, most: &Program, host: &dyn CelHost, currency: Currency) {
        let number = |end: &Program| {
            let result = end.evaluate(host, &mut CelBudget::standard()).result;
            result.ok().and_then(|it| it.as_number()).unwrap_or_default()
        };
        let (least, most) = (format::amount(number(least), currency), format::amount(number(most), currency));
        match () {
            () if least == most => self.text.push_str(&most),
            () if least == format::amount(0.0, currency) => {
                self.text.truncate(self.text.strip_suffix("about ").map_or(self.text.len(), str::len));
                self.text.push_str(&format!("up to {most}"));
            }
            () => self.text.push_str(&format!("{least} to {most}")),
        }
    }

    /// Writes an amount. An expected amount of zero may still have a maximum, which is written as "up to".
    fn push_most(&mut self, most: &Program, host: &dyn CelHost, currency: Currency) {
        let most = most.evaluate(host, &mut CelBudget::standard()).result.ok().and_then(|it| it.as_number());
        let most = most.filter(|it| *it > 0.0);
        if let (Some(_), Some(kept)) = (most, self.text.strip_suffix("about ")) {
            self.text.truncate(kept.len());
        }
        self.text.push_str(if most.is_some() { "up to " } else { "" });
        self.text.push_str(&format::amount(most.unwrap_or_default(), currency));
    }
}

/// Returns an error for doubled braces around an expression. Its author wants the value, and would get braces.
fn doubled(text: &str, at: usize, scope: &ExpressionScope<'_>) -> Option<Problem> {
    let inner = text.get(at..)?.strip_prefix("{{")?;
    let inner = inner.get(..inner.find("}}")?)?;
    let expression = split_format(inner).map_or(inner, |bar| &inner[..bar]).trim();
    let names = Program::compile(expression, scope).ok().filter(|_| !scope.proven)?.names();
    let end = at + inner.len() + 4;
    (!names.is_empty()).then(|| {
        Problem::new(at..end, format!("`{{{{{inner}}}}}` prints braces instead of the value"))
            .with_help(format!("write `{{{inner}}}`"))
    })
}

/// Returns the end of a placeholder: the closing brace outside quotes that matches.
fn closing(text: &str, open: usize) -> Result<usize, Problem> {
    let mut depth = 0usize;
    let mut quote = None;
    for (at, c) in text[open..].char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 1 => return Ok(open + at),
            (None, '}') => depth -= 1,
            _ => {}
        }
    }
    Err(Problem::new(open..open + 1, "`{` has no matching `}`").with_help("write `{{` to print a brace"))
}

fn named_format(name: &str, at: Range<usize>) -> Result<Format, Problem> {
    if let Some((_, format)) = FORMATS.iter().find(|(known, _)| *known == name) {
        return Ok(*format);
    }
    let problem = Problem::new(at, format!("there is no format `{name}`"));
    Err(match nearest(name, FORMATS.iter().map(|(known, _)| *known)) {
        Some(near) => problem.with_help(format!("did you mean `{near}`?")),
        None => problem.with_help("valid formats: usd, range, gib, percent, time or rounded"),
    })
}

fn placeholder(text: &str, inner: Range<usize>, scope: &ExpressionScope<'_>) -> Result<Part, Problem> {
    let body = &text[inner.clone()];
    let (expression, format) = match split_format(body) {
        Some(bar) => (&body[..bar], named_format(body[bar + 1..].trim(), inner.start + bar + 1..inner.end)?),
        None => (body, Format::Plain),
    };
    let moved = |mut problem: Problem| {
        problem.at = inner.start + problem.at.start..inner.start + problem.at.end;
        problem
    };
    let program = Program::compile(expression, scope).map_err(moved)?;
    let at = inner.start..inner.start + expression.len();
    let is_number = matches!(program.result, CelType::Integer | CelType::Unsigned | CelType::Double | CelType::Any)
        || matches!(program.result, CelType::Record(schema) if schema.number.is_some());
    match (&program.result, format) {
        (_, Format::Plain) | (CelType::Any, _) => {}
        _ if is_number => {}
        (other, _) => return Err(Problem::new(at, format!("expected a number, and this is {other}"))),
    }
    if matches!(program.result, CelType::Map(..) | CelType::Optional(_))
        || matches!(program.result, CelType::Record(schema) if schema.number.is_none())
    {
        return Err(Problem::new(at, format!("a {} cannot be printed", program.result)));
    }
    let is_range =
        matches!(program.result, CelType::Record(schema) if schema.fields.iter().any(|it| it.name == "ceiling"));
    let end = |name: &str| Program::compile(&format!("({expression}).{name}"), scope).map(Box::new).map_err(moved);
    match format {
        Format::Usd if is_range => Ok(Part::Range(Box::new(program.into_number()), end("ceiling")?)),
        Format::UsdRange if is_range => {
            let (least, most) = (end("floor")?, end("ceiling")?);
            Ok(Part::Ends { expected: Box::new(program.into_number()), least, most })
        }
        // A single number has no ends.
        Format::UsdRange => Ok(Part::Value(Box::new(program.into_number()), Format::Usd)),
        _ => Ok(Part::Value(Box::new(program.into_number()), format)),
    }
}

/// Returns the last `|` that is not part of `||` and not in quotes.
fn split_format(body: &str) -> Option<usize> {
    let bytes = body.as_bytes();
    let mut quote = None;
    let mut found = None;
    for (at, byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (Some(q), byte) if byte == q => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'|') => {
                let doubled = bytes.get(at + 1) == Some(&b'|') || at > 0 && bytes.get(at - 1) == Some(&b'|');
                found = if doubled { found } else { Some(at) };
            }
            _ => {}
        }
    }
    found
}

fn written(value: &CelValue, format: Format, currency: Currency) -> String {
    match (value.as_number(), format) {
        (Some(n), Format::Usd | Format::UsdRange) => format::amount(n, currency),
        (Some(n), Format::Gib) => format!("{} GiB", format::number((n * 10.0).round() / 10.0)),
        (Some(n), Format::Percent) => format!("{}%", format::number((n * 100.0).round())),
        (Some(n), Format::Time) => format::time(n),
        (Some(n), Format::Rounded) => format::rounded(n),
        (Some(n), Format::Plain) => format::number(n),
        (None, _) => plain(value),
    }
}

/// Formats a value as a string for evidence and related places.
pub(super) fn plain(value: &CelValue) -> String {
    match value {
        CelValue::Text(text) => text.to_string(),
        CelValue::Flag(flag) => flag.to_string(),
        CelValue::Integer(number) => number.to_string(),
        CelValue::Double(number) => format::number(*number),
        CelValue::List(items) => {
            let items: Vec<String> =
                items.iter().map(|item| item.as_number().map_or_else(|| plain(item), format::number)).collect();
            items.join(", ")
        }
        CelValue::Timestamp(time) => time.to_string(),
        CelValue::Duration(time) => format::time(time.seconds as f64),
        CelValue::Null | CelValue::Absent => "none".to_owned(),
        CelValue::Perhaps(perhaps) => plain(&perhaps.0),
        CelValue::Unknown(_) => "unknown".to_owned(),
        _ => String::new(),
    }
}
