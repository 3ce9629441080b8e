//! Implements functions for control flow: defaults, choices, nested templates, and errors.

use super::super::compare::truth;
use super::super::failure::TemplateFailure;
use super::super::text::TemplateCause;
use super::super::value::{GoKind, GoValue};
use super::How::{Careful, Plain};
use super::{FunctionCall, FunctionOutcome, Row, unknown};

pub(super) const TABLE: &[Row] = &[
    ("default", "a*a", Careful, default),
    ("empty", "a", Careful, |c| Ok((!truth(&c.any(0))?).into())),
    ("coalesce", "*a", Careful, coalesce),
    ("all", "*a", Careful, |c| every(c, true)),
    ("any", "*a", Careful, |c| every(c, false)),
    ("ternary", "aab", Careful, |c| {
        let chosen = match c.any(2).kind {
            GoKind::Flag(flag) => flag,
            GoKind::Unknown(cause) => return Err(cause.into()),
            _ => return Err("expected bool".into()),
        };
        Ok(c.any(usize::from(!chosen)))
    }),
    ("include", "sa", Careful, |c| {
        let name = c.known(0)?.to_owned();
        let data = c.any(1).settled();
        c.evaluator.include(&name, &data).map(GoValue::from)
    }),
    ("tpl", "sa", Careful, |c| {
        let (text, data) = (c.text(0)?, c.any(1).settled());
        c.evaluator.evaluate_text(&text, &data).map(GoValue::from)
    }),
    ("required", "sa", Careful, required),
    ("fail", "s", Careful, |c| Err(TemplateFailure::Refused(c.str(0).to_owned()))),
    ("lookup", "ssss", Careful, |c| {
        let what = [c.str(1), c.str(3)].join(" ");
        unknown(&format!("lookup {}", what.trim()), "`lookup` reads from a cluster")
    }),
    ("hello", "", Plain, |_| Ok("Hello!".into())),
];

fn default(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let Some(given) = c.arguments.get(1) else { return Ok(c.any(0)) };
    match truth(given) {
        Ok(true) => Ok(given.clone()),
        Ok(false) => Ok(c.any(0)),
        Err(cause) => Err(cause.into()),
    }
}

fn coalesce(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    for value in c.arguments {
        if truth(value)? {
            return Ok(value.clone());
        }
    }
    Ok(GoValue::nil())
}

fn every(c: &mut FunctionCall<'_, '_>, wanted: bool) -> FunctionOutcome {
    let mut unknown: Option<TemplateCause> = None;
    for value in c.arguments {
        match truth(value) {
            Ok(is) if is != wanted => return Ok((!wanted).into()),
            Ok(_) => {}
            Err(cause) => unknown = Some(cause),
        }
    }
    unknown.map_or(Ok(wanted.into()), |cause| Err(cause.into()))
}

/// Implements `required`. Helm refuses to continue without the value. A value that only a release provides is unknown.
fn required(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let value = c.any(1);
    let is_missing = match &value.kind {
        GoKind::Text(text) => text.len() == 0,
        _ => value.is_nil(),
    };
    if !is_missing {
        return Ok(value);
    }
    let message = c.str(0).to_owned();
    if c.evaluator.doubt().is_none() {
        c.evaluator.wanted.push(message.clone());
    }
    let short: String =
        message.chars().filter(|letter| !letter.is_control() && !"{}$#:".contains(*letter)).take(40).collect();
    Ok(GoValue {
        kind: GoKind::Unknown(TemplateCause::new(&format!("required {}", short.trim()), message)),
        origin: value.origin,
    })
}
