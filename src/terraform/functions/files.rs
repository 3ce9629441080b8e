use std::sync::Arc;

use crate::source::{FileId, join};
use crate::terraform::evaluate::Scope;
use crate::terraform::value::{Data, Value};

use super::{Arguments, Failure, Function, Outcome, known};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("abspath", |a| {
        Err(Failure::Unknown(Arc::new(crate::terraform::value::Cause::new(
            "`abspath` depends on where Terraform runs",
            a.span,
        ))))
    }),
    ("basename", |a| {
        let text = a.text(0)?;
        a.answer(text.trim_end_matches('/').rsplit('/').next().unwrap_or("."))
    }),
    ("dirname", dirname),
    ("file", |a| {
        let text = read(a, 0)?;
        Ok(Value::text(text, a.span))
    }),
    ("fileexists", |a| a.answer_bool(open(a, 0).is_ok())),
    ("templatefile", template_file),
];

fn dirname(a: &Arguments<'_>) -> Outcome {
    let path = a.text(0)?;
    match path.rsplit_once('/') {
        Some(("", _)) => a.answer("/"),
        Some((directory, _)) => a.answer(directory),
        None => a.answer("."),
    }
}

/// The file of a path that is relative to the root, as far as it lies in the tree.
fn open(a: &Arguments<'_>, index: usize) -> Result<FileId, Failure> {
    let path = a.text(index)?;
    if path.starts_with('/') || path.starts_with('~') {
        return Err(outside(a, &path));
    }
    let Some(full) = join(&a.evaluator.root, &path) else { return Err(outside(a, &path)) };
    a.evaluator.sources.open(&full).map_err(|error| Failure::Refused(format!("{path}: {error}")))
}

fn outside(a: &Arguments<'_>, path: &str) -> Failure {
    let why = format!("{path} does not lie in the tree that is read");
    Failure::Unknown(Arc::new(crate::terraform::value::Cause::new(why, a.span)))
}

fn read(a: &Arguments<'_>, index: usize) -> Result<Arc<str>, Failure> {
    let file = open(a, index)?;
    let text = a.evaluator.sources.text(file);
    a.evaluator.budget.spend_bytes(text.len())?;
    Ok(text)
}

fn template_file(a: &Arguments<'_>) -> Outcome {
    a.exactly(2)?;
    let file = open(a, 0)?;
    a.evaluator.budget.spend_bytes(a.evaluator.sources.text(file).len())?;
    let given = known(a.get(1)?)?;
    let entries = given.entries().ok_or("the second argument is no object")?;
    let template = a.evaluator.library.template(file);
    let template = Result::as_ref(&*template).map_err(|error| Failure::Refused(error.message.clone()))?;
    let scope = Scope { names: Some(&entries.known), ..Scope::CONSTANT };
    let result = a.evaluator.evaluate(template, scope);
    match &result.data {
        Data::Unknown(cause) => Err(cause.clone().into()),
        Data::Text(_) => Ok(result.at(a.span)),
        _ => match result.as_text() {
            Some(text) => Ok(Value::text(&*text, a.span)),
            None => Ok(result.at(a.span)),
        },
    }
}
