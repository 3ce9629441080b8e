use std::fmt::Write;

use crate::source::Span;
use crate::terraform::syntax::json::{Json, JsonKind, parse_json};
use crate::terraform::value::{Data, Entries, Value};

use super::{Arguments, Failure, Function, Outcome};

pub(super) const TABLE: &[(&str, Function)] = &[("jsondecode", json_decode), ("jsonencode", json_encode)];

fn json_encode(a: &Arguments<'_>) -> Outcome {
    a.exactly(1)?;
    let mut text = String::new();
    write_json(a.get(0)?, &mut text)?;
    a.answer(text)
}

/// JSON as Go writes it: keys sorted, `<`, `>` and `&` escaped.
pub(super) fn write_json(value: &Value, into: &mut String) -> Result<(), Failure> {
    match &value.data {
        Data::Unknown(cause) => return Err(cause.clone().into()),
        Data::Null => into.push_str("null"),
        Data::Bool(flag) => into.push_str(if *flag { "true" } else { "false" }),
        Data::Number(number) => {
            let _ = write!(into, "{number}");
        }
        Data::Text(text) => write_json_string(text, into),
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
            into.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                write_json(item, into)?;
            }
            into.push(']');
        }
        Data::Map(entries) | Data::Object(entries) => {
            if let Some(cause) = &entries.rest {
                return Err(cause.clone().into());
            }
            into.push('{');
            for (index, (key, member)) in entries.iter().enumerate() {
                if index > 0 {
                    into.push(',');
                }
                write_json_string(key, into);
                into.push(':');
                write_json(member, into)?;
            }
            into.push('}');
        }
    }
    Ok(())
}

fn write_json_string(text: &str, into: &mut String) {
    into.push('"');
    for c in text.chars() {
        match c {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            '\u{8}' => into.push_str("\\b"),
            '\u{c}' => into.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(into, "\\u{:04x}", u32::from(c));
            }
            c => into.push(c),
        }
    }
    into.push('"');
}

fn json_decode(a: &Arguments<'_>) -> Outcome {
    a.exactly(1)?;
    let text = a.text(0)?;
    a.evaluator.budget.spend(text.len() as u64)?;
    let json = parse_json(a.span.file, &text).map_err(|error| Failure::Refused(error.message))?;
    Ok(decoded(&json, a.span))
}

fn decoded(json: &Json, span: Span) -> Value {
    match &json.kind {
        JsonKind::Null => Value::null(span),
        JsonKind::Bool(flag) => Value::bool(*flag, span),
        JsonKind::Number(number) => Value::number(number.clone(), span),
        JsonKind::Text(text, _) => Value::text(text.clone(), span),
        JsonKind::List(items) => Value::tuple(items.iter().map(|item| decoded(item, span)).collect(), span),
        JsonKind::Object(entries) => {
            let entries: Entries =
                entries.iter().map(|(name, value)| (name.text.clone(), decoded(value, span))).collect();
            Value::object(entries, span)
        }
    }
}
