//! Resolves definitions that inherit keys from other definitions. The build script includes this file, too.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// The definitions of one section of `resources/`, by type.
pub(crate) type TypeRows = BTreeMap<String, Vec<Table>>;

/// The maximum length of a chain of `like` references.
const LONGEST: usize = 8;

/// Returns every definition with its inherited keys.
pub(super) fn resolved(section: &TypeRows) -> Result<TypeRows, String> {
    let mut all = TypeRows::new();
    for (name, rows) in section {
        let rows: Result<_, _> = rows.iter().map(|row| like(row, section, 0)).collect();
        all.insert(name.clone(), rows.map_err(|why: String| format!("{name}: {why}"))?);
    }
    Ok(all)
}

fn like(own: &Table, all: &TypeRows, depth: usize) -> Result<Table, String> {
    let mut own = own.clone();
    let Some(other) = own.remove("like") else { return Ok(own) };
    let other = other.as_str().unwrap_or_default();
    let (name, at) = match other.split_once('#') {
        Some((name, at)) => (name, at.parse::<usize>().map_err(|_| format!("`{other}` is not a resource definition"))?),
        None => (other, 0),
    };
    let model = all.get(name).and_then(|rows| rows.get(at)).filter(|_| depth < LONGEST);
    let mut merged =
        like(model.ok_or_else(|| format!("there is no resource definition like `{other}`"))?, all, depth + 1)?;
    for (word, value) in own {
        match (merged.get_mut(&word), value) {
            // Its own links and labels are added to the inherited ones.
            (Some(Value::Table(before)), Value::Table(more)) if word == "links" => before.extend(more),
            (_, value) => {
                merged.insert(word, value);
            }
        }
    }
    Ok(merged)
}
