//! Tests bills for other tools: FOCUS rows and JSON lines are valid for their readers, and their sum equals the bill.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cli::Place;
use crate::skipped::skip;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the output of `cost` for all examples.
fn cost(format: &str) -> String {
    cost_of("2026-11-26", format)
}

fn cost_of(today: &str, format: &str) -> String {
    let arguments = ["cost", "examples", "--today", today, "--prices", "embedded", "--format", format];
    let run = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(root()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

/// The columns of FOCUS 1.2, each with whether it may be empty.
const FOCUS: [(&str, bool); 57] = [
    ("AvailabilityZone", true),
    ("BilledCost", false),
    ("BillingAccountId", false),
    ("BillingAccountName", true),
    ("BillingAccountType", true),
    ("BillingCurrency", false),
    ("BillingPeriodEnd", false),
    ("BillingPeriodStart", false),
    ("CapacityReservationId", true),
    ("CapacityReservationStatus", true),
    ("ChargeCategory", false),
    ("ChargeClass", true),
    ("ChargeDescription", true),
    ("ChargeFrequency", false),
    ("ChargePeriodEnd", false),
    ("ChargePeriodStart", false),
    ("CommitmentDiscountCategory", true),
    ("CommitmentDiscountId", true),
    ("CommitmentDiscountName", true),
    ("CommitmentDiscountQuantity", true),
    ("CommitmentDiscountStatus", true),
    ("CommitmentDiscountType", true),
    ("CommitmentDiscountUnit", true),
    ("ConsumedQuantity", true),
    ("ConsumedUnit", true),
    ("ContractedCost", false),
    ("ContractedUnitPrice", true),
    ("EffectiveCost", false),
    ("InvoiceId", true),
    ("InvoiceIssuerName", false),
    ("ListCost", false),
    ("ListUnitPrice", true),
    ("PricingCategory", true),
    ("PricingCurrency", true),
    ("PricingCurrencyContractedUnitPrice", true),
    ("PricingCurrencyEffectiveCost", true),
    ("PricingCurrencyListUnitPrice", true),
    ("PricingQuantity", true),
    ("PricingUnit", true),
    ("ProviderName", false),
    ("PublisherName", false),
    ("RegionId", true),
    ("RegionName", true),
    ("ResourceId", true),
    ("ResourceName", true),
    ("ResourceType", true),
    ("ServiceCategory", false),
    ("ServiceName", false),
    ("ServiceSubcategory", true),
    ("SkuId", true),
    ("SkuMeter", true),
    ("SkuPriceDetails", true),
    ("SkuPriceId", true),
    ("SubAccountId", true),
    ("SubAccountName", true),
    ("SubAccountType", true),
    ("Tags", true),
];

/// Returns the cells of a line as a spreadsheet reads them.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut signs = line.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '"' if quoted && signs.peek() == Some(&'"') => cell.extend(signs.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    cells
}

fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines();
    let names = cells(lines.next().unwrap());
    let row = |line: &str| {
        let cells = cells(line);
        assert_eq!(cells.len(), names.len(), "{line}");
        names.iter().cloned().zip(cells).collect()
    };
    lines.map(row).collect()
}

#[test]
fn rows_of_focus_hold_estimates_and_nothing_that_was_billed() {
    let text = cost("focus");
    let names = cells(text.lines().next().unwrap());
    let own: Vec<&String> = names.iter().filter(|name| FOCUS.iter().all(|(known, _)| known != name)).collect();
    assert!(own.iter().all(|name| name.starts_with("x_")), "{own:?}");
    for (column, _) in FOCUS {
        assert!(names.iter().any(|name| name == column), "{column} is missing");
    }
    let rows = rows(&text);
    assert!(rows.len() >= 8, "{}", rows.len());
    let number = |row: &BTreeMap<String, String>, column: &str| row[column].parse::<f64>().unwrap();
    let mut estimated = 0.0;
    for row in &rows {
        for (column, _) in FOCUS.iter().filter(|(_, may_be_empty)| !may_be_empty) {
            assert!(!row[*column].is_empty(), "{column} of {row:?}");
        }
        for column in ["BilledCost", "EffectiveCost", "ContractedCost", "PricingCurrencyEffectiveCost"] {
            assert_eq!(number(row, column), 0.0, "{column}: nothing was billed");
        }
        if !row["ListUnitPrice"].is_empty() {
            let product = number(row, "ListUnitPrice") * number(row, "PricingQuantity");
            assert!((product - number(row, "ListCost")).abs() < 0.01, "{row:?}");
        }
        assert!(serde_json::from_str::<Value>(&row["Tags"]).unwrap().is_object());
        assert_eq!(row["ChargePeriodStart"], "2026-11-01T00:00:00Z");
        assert_eq!(row["ChargePeriodEnd"], "2026-12-01T00:00:00Z");
        if row["ServiceCategory"] == "Compute" {
            estimated += number(row, "x_EstimatedCost");
        }
    }
    let bill: Value = serde_json::from_str(&cost("json")).unwrap();
    let combined = bill["bill"]["combined"]["expected"].as_f64().unwrap();
    let of_november = combined * 720.0 / 730.0;
    assert!((estimated - of_november).abs() < 0.01, "{estimated} {of_november}");
    let ids: std::collections::BTreeSet<&String> = rows.iter().map(|row| &row["ResourceId"]).collect();
    assert_eq!(ids.len(), rows.len(), "two rows are about one thing");
}

/// The rows of a month have the hours of that month, and the amounts are proportional.
#[test]
fn rows_of_focus_have_the_hours_of_their_month() {
    let of = |today: &str, column: &str| -> Vec<f64> {
        let machines = rows(&cost_of(today, "focus")).into_iter().filter(|row| row["ServiceCategory"] == "Compute");
        machines.map(|row| row[column].parse().unwrap()).collect()
    };
    let months = [("2027-02-11", 672.0), ("2027-04-30", 720.0), ("2027-05-01", 744.0), ("2028-02-29", 696.0)];
    let november = |column: &str| of("2026-11-26", column);
    for (today, hours) in months {
        assert!(of(today, "x_HoursPerMonth").iter().all(|it| *it == hours), "{today}");
        for column in ["PricingQuantity", "ListCost", "x_EstimatedCost"] {
            // Outdated prices have a wider range with the same middle.
            for (one, other) in of(today, column).into_iter().zip(november(column)) {
                assert!((one / hours - other / 720.0).abs() < 1e-6 * other.max(1.0), "{today} {column}: {one} {other}");
            }
        }
    }
}

/// The FinOps Foundation's validator (`pip install focus-validator "multimethod<2"`, 1.0.0 of November 2024) supports
/// FOCUS up to 1.0. Five of its rules require names from earlier drafts, so the test adds these names.
#[test]
fn rows_of_focus_pass_the_public_validator() {
    let Some(tool) = std::env::var_os("GPULINT_FOCUS_VALIDATOR") else {
        return skip("GPULINT_FOCUS_VALIDATOR names no validator");
    };
    let drafts = [
        ("Provider", "ProviderName"),
        ("Publisher", "PublisherName"),
        ("InvoiceIssuer", "InvoiceIssuerName"),
        ("ResourceID", "ResourceId"),
        ("ChargeType", "ChargeCategory"),
    ];
    let text = cost("focus");
    let names = cells(text.lines().next().unwrap());
    let mut handed = String::new();
    for (at, line) in text.lines().enumerate() {
        let cells = cells(line);
        let more = drafts.iter().map(|(draft, name)| {
            if at == 0 { (*draft).to_owned() } else { cells[names.iter().position(|it| it == name).unwrap()].clone() }
        });
        handed.push_str(line);
        more.for_each(|cell| handed.push_str(&format!(",\"{cell}\"")));
        handed.push('\n');
    }
    let place = Place::new();
    place.write("focus.csv", &handed);
    // The validator searches its list of currencies relative to the current directory.
    let installed = Path::new(&tool).parent().and_then(Path::parent).unwrap().join("lib");
    let python = fs::read_dir(&installed).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    let mut command = Command::new(&tool);
    command.current_dir(python.join("site-packages")).args(["--validate-version", "1.0", "--data-file"]);
    let run = command.arg(place.directory().join("focus.csv")).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(said.contains("Validation succeeded"), "{said}{}", String::from_utf8_lossy(&run.stderr));
}

fn lines() -> Vec<Value> {
    cost("ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_line_is_as_the_contract_says_and_all_add_up() {
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(root().join("schema/cost-row.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let lines = lines();
    for line in &lines {
        let wrong: Vec<String> = validator.iter_errors(line).map(|it| format!("{}: {it}", it.instance_path)).collect();
        assert!(wrong.is_empty(), "{line}: {wrong:?}");
    }
    let added: i64 = lines
        .iter()
        .filter(|line| line["adds_up"] == true && line["per"] == "month")
        .filter_map(|line| line["expected_micro_usd"].as_i64())
        .sum();
    let bill: Value = serde_json::from_str(&cost("json")).unwrap();
    let combined = bill["bill"]["combined"]["expected"].as_f64().unwrap();
    assert_eq!(added, (combined * 1e6).round() as i64);
    assert!(lines.iter().any(|line| line["labels"]["team"].is_string()));
}

/// DuckDB (`pip install duckdb`) reads the lines with the types of the schema, and gets the same total.
#[test]
fn duckdb_reads_each_line_with_the_schema() {
    let Some(python) = std::env::var_os("GPULINT_DUCKDB_PYTHON") else {
        return skip("GPULINT_DUCKDB_PYTHON names no Python with DuckDB");
    };
    const SCRIPT: &str = r#"
import duckdb, json, sys
schema = json.load(open(sys.argv[1]))
def column(it):
    kinds = it.get("type") or "string"
    kinds = [k for k in ([kinds] if isinstance(kinds, str) else kinds) if k != "null"]
    return {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN",
            "object": "MAP(VARCHAR, VARCHAR)"}[kinds[0]]
columns = {name: column(it) for name, it in schema["properties"].items()}
rows = duckdb.sql("select * from read_json(?, format='newline_delimited', columns=?)", params=[sys.argv[2], columns])
rows.create("bill")
print(json.dumps([
    duckdb.sql("select count(*) from bill").fetchall()[0][0],
    int(duckdb.sql("select sum(expected_micro_usd) from bill where adds_up and per = 'month'").fetchall()[0][0]),
    duckdb.sql("select count(*) from bill where labels['team'] = 'documents'").fetchall()[0][0],
]))
"#;
    let place = Place::new();
    let text = cost("ndjson");
    place.write("bill.ndjson", &text);
    place.write("read.py", SCRIPT);
    let schema = root().join("schema/cost-row.json");
    let mut command = Command::new(&python);
    let run = command.current_dir(place.directory()).arg("read.py").arg(schema).arg("bill.ndjson").output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let said: Value = serde_json::from_slice(&run.stdout).unwrap();
    let lines = lines();
    let added: i64 = lines
        .iter()
        .filter(|line| line["adds_up"] == true && line["per"] == "month")
        .filter_map(|line| line["expected_micro_usd"].as_i64())
        .sum();
    let documents = lines.iter().filter(|line| line["labels"]["team"] == "documents").count();
    assert_eq!(said, serde_json::json!([lines.len(), added, documents]));
    assert!(documents > 0);
}
