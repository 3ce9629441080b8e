//! Implements built-in functions of Go templates. The evaluator handles `and` and `or`, because they stop early.

use crate::languages::go;

use super::super::compare::{equal, less, truth};
use super::super::failure::TemplateFailure;
use super::super::print;
use super::super::text::Text;
use super::super::value::{GoKind, GoValue};
use super::How::{Careful, Plain};
use super::{FunctionCall, FunctionOutcome, Row};

pub(super) const TABLE: &[Row] = &[
    ("not", "a", Careful, |c| Ok((!truth(&c.any(0))?).into())),
    ("eq", "a*a", Careful, |c| Ok(equal(&c.any(0), c.rest(1))?.into())),
    ("ne", "aa", Careful, |c| Ok((!equal(&c.any(0), c.rest(1))?).into())),
    ("lt", "aa", Careful, |c| Ok(less(&c.any(0), &c.any(1))?.into())),
    ("le", "aa", Careful, |c| Ok((less(&c.any(0), &c.any(1))? || equal(&c.any(0), c.rest(1))?).into())),
    ("gt", "aa", Careful, |c| Ok((!(less(&c.any(0), &c.any(1))? || equal(&c.any(0), c.rest(1))?)).into())),
    ("ge", "aa", Careful, |c| Ok((!less(&c.any(0), &c.any(1))?).into())),
    ("len", "a", Careful, length),
    ("index", "a*a", Careful, index),
    ("print", "*a", Careful, |c| spent(c, false)),
    ("println", "*a", Careful, |c| spent(c, true)),
    ("printf", "s*a", Careful, |c| {
        let verbs = c.str(0).matches('%').count();
        c.may_make(verbs.saturating_mul(go::WIDEST))?;
        let text = print::format(&c.text(0)?, c.rest(1))?;
        c.text_result(text)
    }),
    ("html", "*a", Plain, |c| {
        let text = print::print(c.arguments, false)?;
        c.text_result(escaped(
            text.as_str(),
            &[("&", "&amp;"), ("\"", "&#34;"), ("'", "&#39;"), ("<", "&lt;"), (">", "&gt;")],
        ))
    }),
    ("js", "*a", Plain, |c| {
        let text = print::print(c.arguments, false)?;
        let signs = [
            ("\\", "\\\\"),
            ("'", "\\'"),
            ("\"", "\\\""),
            ("<", "\\u003C"),
            (">", "\\u003E"),
            ("&", "\\u0026"),
            ("=", "\\u003D"),
            ("\n", "\\u000A"),
            ("\t", "\\u0009"),
            ("\r", "\\u000D"),
        ];
        c.text_result(escaped(text.as_str(), &signs))
    }),
    ("urlquery", "*a", Plain, |c| {
        let text = print::print(c.arguments, false)?;
        c.text_result(query(text.as_str()))
    }),
    ("call", "a*a", Plain, |_| Err("non-function".into())),
];

fn spent(c: &FunctionCall<'_, '_>, line: bool) -> FunctionOutcome {
    c.text_result(print::print(c.arguments, line)?)
}

fn escaped(text: &str, signs: &[(&str, &str)]) -> String {
    let mut out = text.to_owned();
    for (sign, instead) in signs {
        out = out.replace(sign, instead);
    }
    out
}

pub(super) fn query(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn length(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let value = c.any(0);
    let count = match &value.kind {
        GoKind::Unknown(cause) => return Err(cause.clone().into()),
        GoKind::Text(text) => match value.cause() {
            Some(cause) => return Err(cause.clone().into()),
            None => text.len(),
        },
        GoKind::List(list) => list.items().len(),
        GoKind::Map(map) => map.borrow().len(),
        GoKind::Object(object) => match object.entries() {
            Some(entries) => entries.len(),
            None => return Err(format!("len of type {}", value.type_name()).into()),
        },
        GoKind::Nil | GoKind::NilInside => return Err("len of nil pointer".into()),
        _ => return Err(format!("len of type {}", value.type_name()).into()),
    };
    Ok(GoValue::int(count as i64))
}

fn index(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let mut value = c.any(0);
    if value.is_nil() {
        return Err("index of untyped nil".into());
    }
    for at in c.rest(1) {
        value = step(&value, at)?;
    }
    Ok(value)
}

fn step(value: &GoValue, at: &GoValue) -> FunctionOutcome {
    if let GoKind::Unknown(cause) = &value.kind {
        return Err(cause.clone().into());
    }
    if let Some(cause) = at.cause() {
        return Err(cause.clone().into());
    }
    let place = || match at.kind {
        GoKind::Int(number) | GoKind::Int64(number) => Ok(number),
        GoKind::Nil | GoKind::NilInside => Err(TemplateFailure::from("cannot index slice/array with nil")),
        _ => Err(format!("cannot index slice/array with type {}", at.type_name()).into()),
    };
    match &value.kind {
        GoKind::Map(map) => match &at.kind {
            GoKind::Text(key) => {
                let found = map.borrow().get(key.as_str()).map(|entry| entry.value.clone());
                Ok(found.unwrap_or_else(|| GoKind::NilInside.into()))
            }
            _ if at.is_nil() => Err("value is nil; should be of type string".into()),
            _ => Err(format!("value has type {}; should be string", at.type_name()).into()),
        },
        GoKind::List(list) => {
            let number = place()?;
            let found = usize::try_from(number).ok().and_then(|number| list.items().get(number)).cloned();
            found.ok_or_else(|| format!("index out of range: {number}").into())
        }
        GoKind::Text(text) => {
            let number = place()?;
            let byte = usize::try_from(number).ok().and_then(|number| text.as_str().as_bytes().get(number).copied());
            byte.map(|byte| GoValue::int(i64::from(byte))).ok_or_else(|| format!("index out of range: {number}").into())
        }
        GoKind::Object(object) => {
            let key = at.as_str().unwrap_or_default();
            let found = object.entries().and_then(|all| all.into_iter().find(|(name, _)| **name == *key));
            match (found, object.entries()) {
                (Some((_, value)), _) => Ok(value),
                (None, Some(_)) => Ok(GoValue::from(Text::from(""))),
                (None, None) => Err(format!("can't index item of type {}", value.type_name()).into()),
            }
        }
        GoKind::NilInside | GoKind::Nil => Err("index of nil pointer".into()),
        _ => Err(format!("can't index item of type {}", value.type_name()).into()),
    }
}
