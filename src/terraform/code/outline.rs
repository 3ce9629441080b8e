//! Texts of which not everything is known: what manifests in them say all the same.
//!
//! A manifest in Terraform names clusters, roles and accounts that only `terraform apply` knows. Its other lines are known,
//! so that a text keeps them, with a placeholder as `envsubst` has them where a value is missing. A text that is read so is
//! never a known value: only who looks for manifests may ask for it.

use std::sync::Arc;

use crate::source::{Sources, Span};

use crate::languages::hcl::value::{Cause, Data, Entries, Value};

/// Larger values are not written a second time.
const HEAVIEST: u32 = 10_000;
/// A placeholder shows so much of the expression that it stands for.
const LONGEST: usize = 60;

/// What stands for an expression: its own text in `${…}`, in letters that every YAML scalar may hold.
pub(in crate::terraform) fn placeholder(sources: &Sources, span: Span) -> String {
    let text: String = sources.snippet(span).chars().filter(|c| !"${}\"\\\n".contains(*c)).take(LONGEST).collect();
    format!("${{{}}}", text.trim())
}

/// The value with a placeholder for everything in it that is not known, or secret. Nothing where that would be all of it.
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

/// The same cause, with what is known of the text.
pub(in crate::terraform) fn outlined(cause: &Arc<Cause>, text: String) -> Arc<Cause> {
    Arc::new(Cause { outline: Some(text.into()), ..Cause::clone(cause) })
}
