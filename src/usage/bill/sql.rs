//! Queries that create the rows of `gpulint-paid.csv` in the data warehouse that stores the bill.

use crate::catalog::{AWS, AZURE, Catalog, CatalogMachine, GCP};

/// The data warehouse of a bill, which decides the column names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warehouse {
    /// AWS Cost and Usage Report 2.0, in Athena.
    Aws,
    /// Google Cloud's detailed billing export, in BigQuery.
    Gcp,
    /// Azure's amortized cost export, with DuckDB.
    Azure,
    /// FOCUS in Parquet, with DuckDB.
    Duckdb,
}

/// The names of accelerators in Google's price list.
const CHIPS: [&str; 16] = [
    "tesla k80",
    "tesla p4",
    "tesla p100",
    "tesla t4",
    "tesla v100",
    "tesla a100",
    "tesla a100 80gb",
    "a100 80gb",
    "l4",
    "h100 80gb",
    "h200 141gb",
    "h200",
    "b200",
    "rtx pro 6000",
    "tpu v5e",
    "tpu v5p",
];

/// The pattern of strings that are not names: formulas, control characters, account numbers and machine ids.
const HIDDEN: &str = r"^[-=+@]|[[:cntrl:]]|[0-9]{12}|(^|[/=])i-[0-9a-z]{8,}|arn:";

/// Returns the query, which contains the list of GPU machine types.
pub fn bill_query(warehouse: Warehouse, catalog: &Catalog) -> String {
    let (text, providers): (&str, &[&str]) = match warehouse {
        Warehouse::Aws => (include_str!("sql/aws.sql"), &[AWS]),
        Warehouse::Gcp => (include_str!("sql/gcp.sql"), &[GCP]),
        Warehouse::Azure => (include_str!("sql/azure.sql"), &[AZURE]),
        Warehouse::Duckdb => (include_str!("sql/duckdb.sql"), &[AWS, AZURE, GCP]),
    };
    let mut machines: Vec<CatalogMachine<'_>> = providers.iter().flat_map(|it| catalog.machines_of(it)).collect();
    if providers.contains(&AWS) {
        let services = machines
            .iter()
            .filter(|it| it.provider == AWS)
            .filter_map(|it| catalog.machine(AWS, &format!("ml.{}", it.name)));
        let services: Vec<CatalogMachine<'_>> = services.collect();
        machines.extend(services);
    }
    let rows: Vec<String> = machines.iter().map(|it| row(warehouse, it)).collect();
    let chip = |words: &&str| Some(format!("  ({}, {})", quoted(words), quoted(catalog.accelerator(words)?.name)));
    let chips: Vec<String> = CHIPS.iter().filter_map(chip).collect();
    text.replace("{machines}", &rows.join(",\n"))
        .replace("{chips}", &chips.join(",\n"))
        .replace("{names}", &names(&machines))
        .replace("{hidden}", HIDDEN)
}

fn row(warehouse: Warehouse, machine: &CatalogMachine<'_>) -> String {
    let name = quoted(&machine.name.to_ascii_lowercase());
    let (written, accelerator) = (quoted(&machine.name), quoted(&machine.accelerator));
    let CatalogMachine { count, provider, .. } = machine;
    match warehouse {
        Warehouse::Aws | Warehouse::Gcp => format!("  ({name}, {accelerator}, {count})"),
        Warehouse::Azure => format!("  ({name}, {written}, {accelerator}, {count})"),
        Warehouse::Duckdb => format!("  ({}, {name}, {written}, {accelerator}, {count})", quoted(provider)),
    }
}

/// Returns a pattern that matches each name. In the free text of old bills, blanks enclose the name.
fn names(machines: &[CatalogMachine<'_>]) -> String {
    let names: Vec<String> = machines.iter().map(|it| it.name.to_ascii_lowercase().replace('.', "\\.")).collect();
    format!(r"(^|[\s,(])({})([\s,)]|$)", names.join("|"))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
