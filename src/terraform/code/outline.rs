//! Outlines strings that are only partly known, so that manifests in them can be read.
//!
//! A manifest in Terraform contains clusters, roles and accounts that are known only after `terraform apply`. Its other
//! lines are known. An outline has these lines, and a placeholder in the form of `envsubst` for each unknown value. An
//! outline is never a known value: only the search for manifests uses it.

use std::sync::Arc;

use crate::source::{Sources, Span};

use crate::languages::hcl::value::{Cause, Data, Entries, Value};

/// The limit on values with an outline. Larger values get none.
const HEAVIEST: u32 = 10_000;
/// The maximum length of the expression in a placeholder.
const LONGEST: usize = 60;

/// Returns the placeholder for an expression: its source in `${…}`, limited to characters that are valid in every YAML
/// scalar.
pub(in crate::terraform) fn placeholder(sources: &Sources, span: Span) -> String {
    let text: String = sources.snippet(span).chars().filter(|c| !"${}\"\\\n".contains(*c)).take(LONGEST).collect();
    format!("${{{}}}", text.trim())
}

/// Returns the value with a placeholder for each unknown or secret part, or `None` if nothing else is left.
pub(in crate::terraform) fn filled(sources: &Sources, value: &Value) -> Option<Value> {
    let whole = matches!(value.data, Data::Unknown(_)) || value.sensitive;
    (!whole && value.weight() <= HEAVIEST).then(|| fill(sources, value))
}

fn fill(sources: &Sources, value: &Value) -> Value {
    if value.sensitive {
        return Value::text("${sensitive}", value.span);
    }
    let items = |items: &[Value]| Arc::new(items.iter().map(|item| fill(sources, item)).collect());
    let data = match &value.data {
        Data::Unknown(cause) => Data::Text(placeholder(sources, cause.span).into()),
        Data::List(list) | Data::Set(list) | Data::Tuple(list) => Data::Tuple(items(list)),
        Data::Map(entries) | Data::Object(entries) => {
            let known = entries.known.iter().map(|(key, item)| (key.clone(), fill(sources, item))).collect();
            Data::Object(Arc::new(Entries { known, rest: None }))
        }
        other => other.clone(),
    };
    Value::new(data, value.span)
}

/// Returns the same cause with the outline of the string.
pub(in crate::terraform) fn outlined(cause: &Arc<Cause>, text: String) -> Arc<Cause> {
    Arc::new(Cause { outline: Some(text.into()), ..Cause::clone(cause) })
}
