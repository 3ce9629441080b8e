//! Handles `match`: plain values of facts, which are compared before any expression is evaluated.

use std::ops::Range;

use super::fields::PageFields;
use super::{LooksAt, constant, meant};
use crate::languages::cel::{self, CelType, CelValue};
use crate::rules::facts;
use crate::rules::yaml;

/// A fact and its accepted values.
#[derive(Debug)]
pub(in crate::rules) struct FactMatch {
    /// The index of the fact in the schema of a resource.
    pub(in crate::rules) fact: usize,
    pub(in crate::rules) accepts: Vec<CelValue>,
    /// Places of the values in the rule file.
    pub(super) places: Vec<Range<usize>>,
}

pub(super) fn read(fields: &mut PageFields, looks_at: LooksAt) -> Vec<FactMatch> {
    let mut matches = Vec::new();
    let entries = fields.map("match");
    let Some((_, schema)) = facts::implied(looks_at) else {
        let Some((name, _)) = entries.first().filter(|_| looks_at != LooksAt::Text) else { return matches };
        let help = "select resources in `when` instead: `resources.filter(…)`".to_owned();
        fields.wrong(&name.at, "a rule about all resources together cannot have a `match`", Some(help));
        return matches;
    };
    for (name, node) in entries {
        let short = name.text.strip_prefix("resource.").unwrap_or(&name.text);
        let Some(fact) = schema.field(short) else {
            let help = meant(&name, schema.fields.iter().map(|field| field.name));
            fields.wrong(&name.at, format!("there is no fact `{}`", name.text), help);
            continue;
        };
        let field = &schema.fields[fact];
        let items = match node.value {
            yaml::PageValue::List(items) => items,
            _ => vec![node].into(),
        };
        if items.is_empty() {
            let help = "remove the entry, or list the allowed values".to_owned();
            fields.wrong(
                &name.at,
                format!("this entry matches nothing: `{}` has no values here", name.text),
                Some(help),
            );
        }
        let mut accepts = Vec::with_capacity(items.len());
        let places = items.iter().map(|item| fields.in_page(&item.at)).collect();
        for item in items.iter() {
            match accepted(item, field) {
                Ok(value) => accepts.push(value),
                Err((message, help)) => fields.wrong(&item.at, message, help),
            }
        }
        matches.push(FactMatch { fact, accepts, places });
    }
    matches
}

type Refused = (String, Option<String>);

fn accepted(item: &yaml::PageNode, field: &cel::SchemaField) -> Result<CelValue, Refused> {
    let refused = || (format!("`{}` is {}, which this value cannot match", field.name, field.holds), None);
    let value = constant(item).ok_or_else(refused)?;
    let one = match &field.holds {
        CelType::List(of) => of,
        other => other,
    };
    match (&value, one) {
        (CelValue::Text(text), CelType::Text) if !field.values.is_empty() && !field.values.contains(&&**text) => {
            let problem = cel::never(field.name, text, field.values, 0..0);
            Err((problem.message, problem.help))
        }
        (CelValue::Text(_), CelType::Text)
        | (CelValue::Flag(_), CelType::Flag)
        | (CelValue::Integer(_) | CelValue::Double(_), CelType::Integer | CelType::Double) => Ok(value),
        _ => Err(refused()),
    }
}
