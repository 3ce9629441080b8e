//! The output of `inspect --all` and `inspect --roots`: evaluated Terraform, before it becomes resources.

use serde_json::{Map, Value as Json, json};

use crate::cli::session::Session;
use crate::report;
use crate::terraform::{EvaluatedAttribute, EvaluatedBlock, HclData, HclValue, RootOverview};

/// The deepest nesting of a value that is printed. Hand-written configuration is never that deep.
const DEEPEST: usize = 200;

/// Returns every evaluated block as JSON.
pub(in crate::cli) fn all(session: &Session, blocks: &[EvaluatedBlock]) -> String {
    let blocks: Vec<Json> = blocks.iter().map(|it| block(session, it)).collect();
    report::json(&json!({ "version": 1, "blocks": blocks }))
}

/// Returns the Terraform roots with their variable files, as JSON.
pub(in crate::cli) fn roots(session: &Session, roots: &[RootOverview]) -> String {
    let shown = |path: &str| session.scope.paths.show(path);
    let roots: Vec<Json> = roots
        .iter()
        .map(|root| {
            let files: Vec<String> = root.variable_files.iter().map(|path| shown(path)).collect();
            let directory = match shown(&root.directory) {
                directory if directory.is_empty() => ".".to_owned(),
                directory => directory,
            };
            json!({ "directory": directory, "variable_files": files, "workspace": root.workspace,
                    "because": root.why.because() })
        })
        .collect();
    report::json(&json!({ "version": 1, "roots": roots }))
}

fn block(session: &Session, it: &EvaluatedBlock) -> Json {
    let place = session.scope.paths.locate(&session.sources, it.span);
    json!({
        "keyword": it.keyword,
        "labels": it.labels,
        "address": it.address,
        "path": place.path,
        "line": place.line,
        "attributes": attributes(&it.attributes),
        "blocks": it.blocks.iter().map(|inner| block(session, inner)).collect::<Vec<_>>(),
        "open_blocks": it.open_blocks.iter().map(|(name, cause)| json!({ "name": name, "unknown": cause.why }))
            .collect::<Vec<_>>(),
    })
}

fn attributes<'a>(all: impl IntoIterator<Item = (&'a String, &'a EvaluatedAttribute)>) -> Json {
    all.into_iter().map(|(name, attribute)| (name.clone(), value(&attribute.value, 0))).collect::<Map<_, _>>().into()
}

/// Returns a value as JSON. A sensitive or unknown value is replaced by an object that marks it.
fn value(it: &HclValue, depth: usize) -> Json {
    if it.sensitive {
        return json!({ "sensitive": true });
    }
    if depth > DEEPEST {
        return json!({ "unknown": "the value is nested too deeply" });
    }
    match &it.data {
        HclData::Null => Json::Null,
        HclData::Bool(flag) => (*flag).into(),
        HclData::Number(number) => {
            serde_json::from_str(&number.to_string()).unwrap_or_else(|_| number.to_string().into())
        }
        HclData::Text(text) => text.to_string().into(),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            items.iter().map(|item| value(item, depth + 1)).collect()
        }
        HclData::Map(entries) | HclData::Object(entries) => {
            entries.iter().map(|(key, item)| (key.to_string(), value(item, depth + 1))).collect::<Map<_, _>>().into()
        }
        HclData::Unknown(cause) => json!({ "unknown": cause.why }),
    }
}
