//! Converts the tables of `pricing/`, and the frozen ones for examples and tests, to sorted blocks. Also converts
//! resource definitions and rule files, so that start-up parses nothing.

#![allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]
#![allow(unreachable_pub, dead_code, reason = "the format is shared with the library")]

#[path = "src/catalog/format.rs"]
mod format;
#[path = "build/models.rs"]
mod models;
#[path = "build/pages.rs"]
mod pages;
#[path = "build/rows.rs"]
mod rows;
#[path = "src/source/csv.rs"]
mod source;
#[path = "build/targets.rs"]
mod targets;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Hardware tables, which the frozen catalog shares. It has its own prices and factors.
const SHARED: &[&str] = &[
    "accelerators",
    "aliases",
    "mig",
    "gcp_guests",
    "gcp_tpu_machines",
    "families",
    "retired",
    "providers",
    "efa",
    "licenses",
    "apis",
    "throughput",
    "throughput_peaks",
    "measured_throughput",
    "training_shares",
    "price_moves",
    "startup",
    "images",
];

/// Tables that another module reads.
const OTHER: &[&str] = &["models"];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let watched = "pricing tests/catalog src/catalog src/source/csv.rs src/terraform/rows/like.rs build build.rs";
    for watched in watched.split(' ') {
        println!("cargo::rerun-if-changed={watched}");
    }
    models::write(&root.join("pricing/models.csv"), &out.join("models.csv"), &out.join("models.names"))?;
    pages::write(&root.join("rules"), &out.join("pages.rs"))?;
    rows::write(&root, &out)?;
    targets::write(&root.join("schema/targets"), &out.join("targets.rs"))?;
    let tables = tables_of(&root.join("pricing"))?;
    write_block(&out.join("catalog.bin"), &tables)?;
    let mut frozen: Vec<_> = tables.into_iter().filter(|table| SHARED.contains(&table.stem.as_str())).collect();
    frozen.extend(tables_of(&root.join("tests/catalog"))?);
    write_block(&out.join("examples.bin"), &frozen)
}

struct Table {
    path: String,
    stem: String,
    text: String,
}

fn tables_of(directory: &Path) -> Result<Vec<Table>, Box<dyn Error>> {
    let mut tables = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_some_and(|extension| extension == "csv") && !OTHER.contains(&stem.as_str()) {
            tables.push(Table { text: fs::read_to_string(&path)?, path: path.display().to_string(), stem });
        }
    }
    tables.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(tables)
}

fn write_block(to: &Path, tables: &[Table]) -> Result<(), Box<dyn Error>> {
    let files: Vec<_> = tables
        .iter()
        .map(|table| format::CsvFile { path: &table.path, stem: &table.stem, text: &table.text })
        .collect();
    fs::write(to, format::encode(&files)?)?;
    Ok(())
}
