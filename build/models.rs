//! Converts `pricing/models.csv` to rows that are read when a name asks for them, and the names of these rows.

#[path = "../src/catalog/model.rs"]
mod model;
#[path = "../src/catalog/names.rs"]
mod names;
#[path = "../src/catalog/precision.rs"]
mod precision;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use model::Model;
use names::ModelName;

/// Writes the rows, and one line for each key: the key and the positions of its rows, the most probable first. Lines are
/// sorted by key. Constants of this size would be relocated at each start.
pub fn write(table: &Path, rows: &Path, names: &Path) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(table)?;
    let mut records = crate::source::csv_records(&text);
    let header = records.next().ok_or("pricing/models.csv is empty")?.1?;
    let places = model::columns(&header)?;
    let lines: Vec<&str> = text.lines().collect();
    let mut models: Vec<(usize, Model)> = Vec::new();
    let mut keys: BTreeMap<String, Vec<(u8, usize)>> = BTreeMap::new();
    let mut out = String::new();
    for (line, record) in records {
        let at = |message: String| format!("{}:{line}: {message}", table.display());
        let (model, aliases) = model::read(&places, &record.map_err(at)?).map_err(at)?;
        for (rank, name) in std::iter::once(&*model.id).chain(aliases.iter().map(|alias| &**alias)).enumerate() {
            let name = ModelName::parse(name);
            let rank = u8::from(rank > 0);
            keys.entry(name.exact_key()).or_default().push((rank, models.len()));
            keys.entry(name.base_key()).or_default().push((rank + 2, models.len()));
        }
        models.push((out.len(), model));
        writeln!(out, "{}", lines.get(line - 1).copied().unwrap_or_default())?;
    }
    let mut known = String::new();
    for (key, mut rows) in keys {
        // The simplest variant represents all variants under one base name.
        rows.sort_by_key(|(rank, row)| (*rank, models[*row].1.id.len(), *row));
        let mut seen = Vec::new();
        rows.retain(|(_, row)| {
            !seen.contains(row) && {
                seen.push(*row);
                true
            }
        });
        let places: Vec<String> = seen.iter().map(|row| models[*row].0.to_string()).collect();
        writeln!(known, "{key}\t{}", places.join(" "))?;
    }
    fs::write(rows, format!("{}\n{out}", header.join(",")))?;
    fs::write(names, known)?;
    Ok(())
}
