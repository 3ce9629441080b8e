//! Outlines strings that are only partly known, so that manifests in them can be read.
//!
//! A manifest in Terraform contains clusters, roles and accounts that are known only after `terraform apply`. Its other
//! lines are known. An outline has these lines, and a placeholder in the form of `envsubst` for each unknown value. An
//! outline is never a known value: only the search for manifests uses it.

use std::sync::Arc;

use crate::source::{SourceFiles, Span};

use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};

/// The limit on values with an outline. Larger values get none.
const HEAVIEST: u32 = 10_000;
/// The maximum length of the expression in a placeholder.
const LONGEST: usize = 60;

/// Returns the placeholder for an expression: its source in `${…}`, limited to characters that are valid in every YAML
/// scalar.
pub(in crate::terraform) fn placeholder(sources: &SourceFiles, span: Span) -> String {
    let text: String = sources.snippet(span).chars().filter(|c| !"${}\"\\\n".contains(*c)).take(LONGEST).collect();
    format!("${{{}}}", text.trim())
}

/// Returns the value with a placeholder for each unknown or secret part, or `None` if nothing else is left.
pub(in crate::terraform) fn filled(sources: &SourceFiles, value: &HclValue) -> Option<HclValue> {
    let whole = matches!(value.data, HclData::Unknown(_)) || value.sensitive;
    (!whole && value.weight() <= HEAVIEST).then(|| fill(sources, value))
}

fn fill(sources: &SourceFiles, value: &HclValue) -> HclValue {
    if value.sensitive {
        return HclValue::text("${sensitive}", value.span);
    }
    let items = |items: &[HclValue]| Arc::new(items.iter().map(|item| fill(sources, item)).collect());
    let data = match &value.data {
        HclData::Unknown(cause) => HclData::Text(placeholder(sources, cause.span).into()),
        HclData::List(list) | HclData::Set(list) | HclData::Tuple(list) => HclData::Tuple(items(list)),
        HclData::Map(entries) | HclData::Object(entries) => {
            let known = entries.known.iter().map(|(key, item)| (key.clone(), fill(sources, item))).collect();
            HclData::Object(Arc::new(ObjectMembers { known, rest: None }))
        }
        other => other.clone(),
    };
    HclValue::new(data, value.span)
}

/// Returns the same cause with the outline of the string.
pub(in crate::terraform) fn outlined(cause: &Arc<Cause>, text: String) -> Arc<Cause> {
    Arc::new(Cause { outline: Some(text.into()), ..Cause::clone(cause) })
}
