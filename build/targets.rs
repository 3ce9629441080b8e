//! Embeds the tables of `schema/targets`: for each type, the schema of its properties and the effects that no schema
//! has. A run reads only the types of its fixes.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::source::csv_records;

/// Tables that are not schemas.
const OTHER: [&str; 2] = ["effects", "sources"];
/// The columns of a schema that the judge uses, in the order of `src/targets/table.rs`.
const COLUMNS: [&str; 13] = [
    "path",
    "kind",
    "need",
    "values",
    "min",
    "max",
    "pattern",
    "requires",
    "conflicts",
    "exactly_one",
    "at_least_one",
    "when",
    "flags",
];

/// Writes `TYPES`: the name of each type with its lines, one for each property and effect, sorted by name. Names of
/// Azure are in lower case and without the version, because the tables have one version of each.
pub fn write(tables: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", tables.display());
    let mut paths: Vec<_> = fs::read_dir(tables)?.map(|entry| entry.map(|it| it.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "csv"));
    paths.sort();
    let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in &paths {
        let stem = path.file_stem().and_then(|it| it.to_str()).unwrap_or_default();
        let text = fs::read_to_string(path)?;
        let at = |why: String| format!("{}: {why}", path.display());
        match stem {
            "effects" => effects(&text, &mut types).map_err(at)?,
            _ if OTHER.contains(&stem) => {}
            _ => schemas(&text, &mut types).map_err(at)?,
        }
    }
    let mut code = String::from("static TYPES: &[(&str, &str)] = &[\n");
    types.iter().try_for_each(|(name, lines)| writeln!(code, "    ({name:?}, {:?}),", lines.join("\n")))?;
    code.push_str("];\n");
    Ok(fs::write(to, code)?)
}

fn key(name: &str) -> String {
    let name = name.split('@').next().unwrap_or_default();
    if name.starts_with("Microsoft.") { name.to_ascii_lowercase() } else { name.to_owned() }
}

fn schemas(text: &str, types: &mut BTreeMap<String, Vec<String>>) -> Result<(), String> {
    let mut records = csv_records(text);
    let header = records.next().ok_or("the table is empty")?.1?;
    let place = |name: &str| header.iter().position(|it| it == name).ok_or(format!("no column `{name}`"));
    let places = COLUMNS.iter().map(|name| place(name)).collect::<Result<Vec<_>, _>>()?;
    let (kind, source) = (place("type")?, place("source")?);
    let mut above = String::new();
    for (_, record) in records {
        let record = record?;
        let cell = |at: usize| record.get(at).map_or("", String::as_str);
        if !cell(kind).is_empty() {
            above = cell(kind).to_owned();
        }
        let mut cells: Vec<String> = places.iter().map(|&at| cell(at).replace('\t', " ")).collect();
        // Conditions of other languages are for the programs that evaluate them.
        cells[11] = cells[11].split(" ;; ").filter(|it| is_ours(it)).collect::<Vec<_>>().join(" ;; ");
        if cells[0].is_empty() {
            cells.push(cell(source).split('@').next().unwrap_or_default().to_owned());
        }
        types.entry(key(&above)).or_default().push(cells.join("\t"));
    }
    Ok(())
}

fn is_ours(condition: &str) -> bool {
    !condition.contains("self") && !condition.contains(['{', '(', '\'']) && !condition.starts_with("requiredXor")
}

fn effects(text: &str, types: &mut BTreeMap<String, Vec<String>>) -> Result<(), String> {
    let mut records = csv_records(text);
    records.next().ok_or("the table is empty")?.1?;
    for (line, record) in records {
        let record = record?;
        let [kind, condition, verdict, effect, right, ..] = record.as_slice() else {
            return Err(format!("line {line}: too few cells"));
        };
        if !["refused", "useless", "told"].contains(&verdict.as_str()) {
            return Err(format!("line {line}: unknown verdict `{verdict}`"));
        }
        if verdict != "told" && !condition.is_empty() {
            types.entry(key(kind)).or_default().push(format!("!\t{condition}\t{verdict}\t{effect}\t{right}"));
        }
    }
    Ok(())
}
