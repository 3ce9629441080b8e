//! Converts the tables of front ends to JSON, because reading TOML took two thirds of a small run.

#[path = "../src/terraform/rows/like.rs"]
mod like;
#[path = "../src/kubernetes/rows/line.rs"]
mod line;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use like::TypeRows;

use crate::source::csv_records;

/// Tables that are one file each, with the name of the output.
const WHOLE: &[(&str, &str)] = &[
    ("devices", "src/kubernetes/rows/devices.toml"),
    ("programs", "src/inventory/programs.toml"),
    ("accelerators", "src/inventory/accelerators.toml"),
    ("embedded", "src/terraform/kubernetes.toml"),
];

/// Writes all tables.
pub fn write(root: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    for (name, path) in WHOLE {
        let mut table = read(&root.join(path))?;
        if let Some(toml::Value::Table(chips)) = table.get_mut("chips") {
            chips.insert("names".to_owned(), words_of_chips(&root.join("pricing/accelerators.csv"))?.into());
        }
        fs::write(out.join(format!("{name}.json")), serde_json::to_string(&table)?)?;
    }
    for name in ["kinds", "called"] {
        let table = read(&root.join(format!("src/kubernetes/rows/{name}.toml")))?;
        let kinds = table.get("kind").and_then(toml::Value::as_array).ok_or("a table of kinds has no kinds")?;
        write_kinds(kinds, &out.join(format!("{name}.rows")), &out.join(format!("{name}.names")))?;
    }
    let mut table = read_all(&root.join("src/terraform/resources"))?;
    let mut section = |name: &str| -> Result<TypeRows, Box<dyn Error>> {
        let value = table.remove(name).unwrap_or_else(|| toml::Table::new().into());
        Ok(like::resolved(&value.try_into()?).map_err(|why| format!("src/terraform/resources: {why}"))?)
    };
    let (types, modules) = (section("type")?, section("module")?);
    fs::write(out.join("clouds.rs"), clouds(&mut table))?;
    let mut code = format!("static PROVIDERS: &str = {:?};\n", serde_json::to_string(&table)?);
    write_section(&mut code, "TYPES", &types)?;
    write_section(&mut code, "MODULES", &modules)?;
    fs::write(out.join("resources.rs"), code)?;
    Ok(())
}

/// Writes a line for each kind: its name, the letters of its properties, the kinds that it borrows, and its definition. A
/// second file has sorted lines of `group/Kind` and the number of the line. A run parses only definitions that it needs.
fn write_kinds(kinds: &[toml::Value], rows: &Path, names: &Path) -> Result<(), Box<dyn Error>> {
    let (mut lines, mut known) = (String::new(), BTreeMap::new());
    for (place, row) in kinds.iter().enumerate() {
        let row = row.as_table().ok_or("a kind is not a table")?;
        let kind = row.get("kind").and_then(toml::Value::as_str).ok_or("a kind has no name")?;
        for group in line::texts(row.get("groups")) {
            if known.insert(format!("{group}/{kind}"), place).is_some() {
                return Err(format!("{group}/{kind} has two definitions").into());
            }
        }
        writeln!(lines, "{}", line::line(kind, row)?)?;
    }
    fs::write(rows, lines)?;
    fs::write(names, known.iter().map(|(name, place)| format!("{name}\t{place}\n")).collect::<String>())?;
    Ok(())
}

/// Returns the words by which files name accelerators, such as `h100`.
fn words_of_chips(path: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows: Vec<_> = csv_records(&text).map(|(_, cells)| cells).collect::<Result<_, _>>()?;
    let column = rows.first().and_then(|header| header.iter().position(|name| name == "word"));
    let cells = rows.into_iter().skip(1).filter_map(|mut row| Some(row.swap_remove(column?)));
    Ok(cells.filter(|word| !word.is_empty()).collect())
}

/// Returns the providers with cloud modules, with their names here, in Terraform, and in modules. It removes them from
/// the table.
fn clouds(table: &mut toml::Table) -> String {
    let mut code = "pub(in crate::terraform) static CLOUDS: &[Cloud] = &[\n".to_owned();
    let providers = table.get_mut("providers").and_then(toml::Value::as_table_mut);
    for (provider, row) in providers.into_iter().flatten() {
        let mut word = |word: &str| row.as_table_mut().and_then(|row| row.remove(word));
        let (terraform, modules) = (word("terraform"), word("modules"));
        if let Some(terraform) = terraform {
            let modules = modules.unwrap_or_else(|| toml::Value::Array(Vec::new()));
            code.push_str(&format!(
                "    Cloud {{ provider: {provider:?}, terraform: {terraform}, modules: &{modules} }},\n"
            ));
        }
    }
    code + "];\n"
}

/// Reads the files of a directory as one table. Two files may define one section, but not one name.
fn read_all(directory: &Path) -> Result<toml::Table, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut paths: Vec<_> = fs::read_dir(directory)?.collect::<Result<Vec<_>, _>>()?;
    paths.sort_by_key(fs::DirEntry::path);
    let mut all = toml::Table::new();
    for path in paths.iter().map(fs::DirEntry::path) {
        for (section, rows) in read(&path)? {
            let (toml::Value::Table(rows), toml::Value::Table(known)) =
                (rows, all.entry(section).or_insert_with(|| toml::Table::new().into()))
            else {
                return Err(format!("{}: resource definitions must be in sections", path.display()).into());
            };
            for (name, row) in rows {
                if known.insert(name.clone(), row).is_some() {
                    return Err(format!("{}: another file also defines `{name}`", path.display()).into());
                }
            }
        }
    }
    Ok(all)
}

fn read(path: &Path) -> Result<toml::Table, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Writes a list of names with the definitions of each, sorted by name.
fn write_section(code: &mut String, name: &str, section: &TypeRows) -> Result<(), Box<dyn Error>> {
    writeln!(code, "static {name}: &[(&str, &str)] = &[")?;
    for (kind, rows) in section {
        writeln!(code, "    ({kind:?}, {:?}),", serde_json::to_string(rows)?)?;
    }
    code.push_str("];\n");
    Ok(())
}
