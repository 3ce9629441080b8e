//! Tests a year of generated bills for the examples of this repository. The test calculates the expected totals itself,
//! in whole trillionths.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::paid::{heading, line};

/// One resource of the examples, and how it was paid for.
struct Thing {
    address: &'static str,
    provider: &'static str,
    machine: &'static str,
    region: &'static str,
    tags: &'static str,
    id: &'static str,
    name: &'static str,
    /// The list price in cents per hour; for Google, of one accelerator.
    list: i128,
    /// The accelerators of a machine, if the bill counts accelerator hours.
    chips: i128,
    /// Machines that ran all the time, each with the percentage of the list price that was paid: on demand, spot,
    /// committed.
    ran: [(i128, i128); 3],
    /// Machine hours of the month, as a percentage of all its hours.
    hours: i128,
    /// The number of machines that the configuration expects all the time.
    expected: f64,
    /// Each is the start of an expected cause.
    causes: &'static [&'static str],
}

const THINGS: [Thing; 5] = [
    Thing {
        address: "module.training.aws_eks_node_group.this",
        provider: "AWS",
        machine: "p4d.24xlarge",
        region: "us-east-1",
        tags: r#"{"eks:nodegroup-name":"training","aws:eks:cluster-name":"research"}"#,
        id: "i-0aaaa11112222",
        name: "",
        list: 2196,
        chips: 0,
        ran: [(2, 88), (1, 30), (1, 55)],
        hours: 100,
        expected: 2.0,
        causes: &[
            "scaled: 4 ran on average, minimum 0, maximum 4",
            "spot: 25% of the hours",
            "commitment: 25% of the hours",
            "discount: 12.0% below the on-demand list price",
        ],
    },
    Thing {
        address: "google_container_node_pool.training",
        provider: "Google Cloud",
        machine: "a2-highgpu-2g",
        region: "us-central1",
        tags: r#"{"goog-k8s-node-pool-name":"training","goog-k8s-cluster-name":"ml"}"#,
        id: "//compute.googleapis.com/projects/ml-7/instances/gke-ml-training-1",
        name: "gke-ml-training-1",
        list: 300,
        chips: 2,
        ran: [(1, 100), (0, 0), (0, 0)],
        hours: 100,
        expected: 1.0,
        causes: &[],
    },
    Thing {
        address: "google_container_node_pool.l4",
        provider: "Google Cloud",
        machine: "g2-standard-8",
        region: "us-central1",
        tags: r#"{"goog-k8s-node-pool-name":"l4","goog-k8s-cluster-name":"ml"}"#,
        id: "//compute.googleapis.com/projects/ml-7/instances/gke-ml-l4-1",
        name: "gke-ml-l4-1",
        list: 56,
        chips: 1,
        ran: [(3, 100), (0, 0), (0, 0)],
        hours: 50,
        expected: 1.0,
        causes: &["scaled: 1.5 ran on average, minimum 1, maximum 6"],
    },
    Thing {
        address: "google_compute_instance.scratch",
        provider: "Google Cloud",
        machine: "a2-highgpu-1g",
        region: "us-central1",
        tags: r#"{"team":"data-science"}"#,
        id: "//compute.googleapis.com/projects/ml-7/zones/us-central1-a/instances/scratch-notebook",
        name: "scratch-notebook",
        list: 300,
        chips: 1,
        ran: [(1, 100), (0, 0), (0, 0)],
        hours: 25,
        expected: 1.0,
        causes: &["stopped: 0.3 of 1 ran on average"],
    },
    // This machine is in no file.
    Thing {
        address: "",
        provider: "AWS",
        machine: "g5.xlarge",
        region: "us-east-1",
        tags: r#"{"Name":"old-lab"}"#,
        id: "i-0bbbb11112222",
        name: "",
        list: 101,
        chips: 0,
        ran: [(1, 100), (0, 0), (0, 0)],
        hours: 100,
        expected: 0.0,
        causes: &[],
    },
];

const TRILLION: i128 = 1_000_000_000_000;
const MONTHS: [(i32, u32, i128); 12] = [
    (2025, 11, 30),
    (2025, 12, 31),
    (2026, 1, 31),
    (2026, 2, 28),
    (2026, 3, 31),
    (2026, 4, 30),
    (2026, 5, 31),
    (2026, 6, 30),
    (2026, 7, 31),
    (2026, 8, 31),
    (2026, 9, 30),
    (2026, 10, 31),
];

fn decimal(trillionths: i128) -> String {
    let sign = if trillionths < 0 { "-" } else { "" };
    format!("{sign}{}.{:012}", trillionths.abs() / TRILLION, trillionths.abs() % TRILLION)
}

fn trillionths(text: &str) -> i128 {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    sign * (whole.parse::<i128>().unwrap() * TRILLION + format!("{fraction:0<12}").parse::<i128>().unwrap())
}

/// The expected results of one month, in trillionths.
#[derive(Default)]
struct Oracle {
    paid: BTreeMap<&'static str, i128>,
    hours: BTreeMap<&'static str, i128>,
    /// The total for each currency.
    all: BTreeMap<&'static str, i128>,
    accelerators: i128,
}

/// Returns the rows of one month, one for each day and way of buying.
fn month(year: i32, month: u32, days: i128, oracle: &mut Oracle) -> Vec<String> {
    let mut lines = Vec::new();
    for day in 1..=days {
        let start = format!("{year}-{month:02}-{day:02}T00:00:00Z");
        let end = match (day == days, month) {
            (false, _) => format!("{year}-{month:02}-{:02}T00:00:00Z", day + 1),
            (true, 12) => format!("{}-01-01T00:00:00Z", year + 1),
            (true, _) => format!("{year}-{:02}-01T00:00:00Z", month + 1),
        };
        let at = [("ChargePeriodStart", start.as_str()), ("ChargePeriodEnd", end.as_str())];
        for thing in &THINGS {
            for (way, (machines, percent)) in thing.ran.iter().enumerate().filter(|(_, (machines, _))| *machines > 0) {
                let hours = machines * 24 * TRILLION * thing.hours / 100;
                let list = hours * thing.list / 100 * thing.chips.max(1);
                let cost = list * percent / 100;
                *oracle.paid.entry(thing.address).or_default() += cost;
                *oracle.hours.entry(thing.address).or_default() += hours;
                lines.extend(rows(thing, way, hours, list, cost, at));
                *oracle.all.entry("USD").or_default() += cost;
                oracle.accelerators += cost;
            }
        }
        // Rows without accelerators, and rows in another currency.
        lines.push(line(&[
            at[0],
            at[1],
            ("SkuPriceDetails", r#"{"InstanceType":"m5.large"}"#),
            ("EffectiveCost", "2.304000000001"),
            ("Tags", ""),
        ]));
        *oracle.all.entry("USD").or_default() += 2_304_000_000_001;
        lines.push(line(&[
            at[0],
            at[1],
            ("BillingCurrency", "EUR"),
            ("EffectiveCost", "10"),
            ("Tags", r#"{"Name":"berlin"}"#),
        ]));
        *oracle.all.entry("EUR").or_default() += 10 * TRILLION;
    }
    let start = format!("{year}-{month:02}-01T00:00:00Z");
    let at = ("ChargePeriodStart", start.as_str());
    let end = format!("{year}-{month:02}-02T00:00:00Z");
    let end = ("ChargePeriodEnd", end.as_str());
    for (category, cost, tags) in
        [("Purchase", 1_000, ""), ("Tax", 190, ""), ("Credit", -25, THINGS[0].tags), ("Refund", -7, "")]
    {
        let cost = i128::from(cost) * TRILLION;
        let details = if tags.is_empty() { "" } else { r#"{"InstanceType":"p4d.24xlarge"}"# };
        let cost_text = decimal(cost);
        let cells = [
            at,
            end,
            ("ChargeCategory", category),
            ("EffectiveCost", &cost_text),
            ("Tags", tags),
            ("SkuPriceDetails", details),
            ("ChargeDescription", category),
        ];
        lines.push(line(&cells));
        *oracle.all.entry("USD").or_default() += cost;
    }
    let unused = [
        at,
        end,
        ("CommitmentDiscountStatus", "Unused"),
        ("PricingCategory", "Committed"),
        ("EffectiveCost", "300.5"),
        ("Tags", ""),
        ("ResourceId", ""),
        ("SkuPriceDetails", r#"{"InstanceType":"p4d.24xlarge"}"#),
    ];
    lines.push(line(&unused));
    *oracle.all.entry("USD").or_default() += 300_500_000_000_000;
    lines
}

/// Returns one row of a machine; for Google, the rows of its accelerators, processors and memory.
fn rows(thing: &Thing, way: usize, hours: i128, list: i128, cost: i128, at: [(&str, &str); 2]) -> Vec<String> {
    let details = format!(r#"{{"InstanceType":"{}"}}"#, thing.machine);
    let category = ["Standard", "Dynamic", "Committed"][way];
    let status = if way == 2 { "Used" } else { "" };
    let row = |description: &str, quantity: i128, unit: &str, list: i128, cost: i128| {
        let (quantity, list, cost) = (decimal(quantity), decimal(list), decimal(cost));
        line(&[
            at[0],
            at[1],
            ("ProviderName", thing.provider),
            ("ChargeDescription", description),
            ("SkuPriceDetails", &details),
            ("PricingCategory", category),
            ("CommitmentDiscountStatus", status),
            ("PricingQuantity", &quantity),
            ("PricingUnit", unit),
            ("ConsumedQuantity", ""),
            ("ConsumedUnit", ""),
            ("ListCost", &list),
            ("EffectiveCost", &cost),
            ("BilledCost", if way == 2 { "0" } else { &cost }),
            ("Tags", thing.tags),
            ("ResourceId", thing.id),
            ("ResourceName", thing.name),
            ("RegionId", thing.region),
            ("SubAccountId", "210987654321"),
        ])
    };
    match thing.chips {
        0 => vec![row("instance hours", hours, "Hours", list, cost)],
        chips => {
            let (part, half) = (cost / 10, list / 10);
            vec![
                row("Nvidia Tesla A100 GPU running in Iowa", hours * chips, "hour", list - 2 * half, cost - 2 * part),
                row("A2 Instance Core running in Iowa", hours * 12, "hour", half, part),
                row("A2 Instance Ram running in Iowa", hours * 85, "gibibyte hour", half, part),
            ]
        }
    }
}

fn gpulint(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(directory).output().unwrap()
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copied(&path, &target) } else { _ = fs::copy(&path, &target).unwrap() }
    }
}

fn directory(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&directory);
    copied(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), &directory);
    directory
}

/// Returns a year of rows as a file, with the expected results of each month.
pub(crate) fn year() -> (String, BTreeMap<String, MonthOracle>) {
    let mut text = format!("{}\n", heading());
    let mut oracles = BTreeMap::new();
    for (year, number, days) in MONTHS {
        let mut oracle = Oracle::default();
        for line in month(year, number, days, &mut oracle) {
            text.push_str(&line);
            text.push('\n');
        }
        oracles.insert(format!("{year}-{number:02}"), MonthOracle(oracle, days));
    }
    (text, oracles)
}

pub(crate) struct MonthOracle(Oracle, i128);

#[test]
fn a_year_of_bills_adds_up_and_both_factors_are_exact() {
    let place = directory("paid-oracle");
    let (text, oracles) = year();
    fs::write(place.join("focus.csv"), text).unwrap();
    fs::write(place.join("gpulint.toml"), "[paid]\ncomplete = [\"aws\"]\n").unwrap();
    let made = gpulint(&place, &["usage", "bill", "focus.csv", "-o", "gpulint-paid.csv", "--today", "2026-11-26"]);
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{said}");
    fs::remove_file(place.join("focus.csv")).unwrap();
    let told = gpulint(
        &place,
        &["reconcile", "--all-months", "--format", "json", "--today", "2026-11-26", "--prices", "embedded", "."],
    );
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    crate::schema::validate("reconcile", &told);
    let months = told["months"].as_array().unwrap();
    assert_eq!(months.len(), 12);
    for month in months {
        let name = month["month"].as_str().unwrap();
        let MonthOracle(oracle, days) = &oracles[name];
        assert_eq!(month["open"], false, "{name}");
        for thing in THINGS.iter().filter(|it| !it.address.is_empty()) {
            let found = month["resources"].as_array().unwrap().iter().find(|it| it["address"] == thing.address);
            let found = found.unwrap_or_else(|| panic!("{name} {}: {month}", thing.address));
            let number = |pointer: &str| {
                found.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {found}"))
            };
            let near = |a: f64, b: f64| {
                assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{name} {}: {a}, {b}: {found}", thing.address)
            };
            let (paid, hours) = (oracle.paid[thing.address] as f64 / 1e12, oracle.hours[thing.address] as f64 / 1e12);
            near(number("/paid/usd"), paid);
            near(number("/paid/hours"), hours);
            let expected_hours = thing.expected * *days as f64 * 24.0;
            near(number("/expected_hours"), expected_hours);
            near(number("/hours_factor"), hours / expected_hours);
            near(number("/rate_factor"), paid / hours / (number("/expected_usd") / expected_hours));
            near(number("/hours_factor") * number("/rate_factor") * number("/expected_usd"), paid);
            let causes = found["causes"].to_string();
            for cause in thing.causes {
                assert!(causes.contains(cause), "{name} {}: {cause} in {causes}", thing.address);
            }
        }
        sums(month, oracle);
    }
    refused_words(&place);
    discounts(&place);
    orphans(&place);
}

/// The three lists together contain the exact billed amount.
fn sums(month: &Value, oracle: &Oracle) {
    let usd = month["sums"].as_array().unwrap().iter().find(|it| it["currency"] == "USD").unwrap();
    let of = |name: &str| trillionths(usd[name].as_str().unwrap());
    let here: i128 = oracle.paid.iter().filter(|(address, _)| !address.is_empty()).map(|(_, paid)| paid).sum();
    assert_eq!(of("matched"), here, "{usd}");
    assert_eq!(of("beside"), -25 * TRILLION);
    assert_eq!(of("unmatched"), oracle.paid[""] + 300_500_000_000_000);
    assert_eq!(of("billed"), of("matched") + of("beside") + of("unmatched"));
    let shown: i128 = month["unmatched"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["currency"] == "USD")
        .map(|it| trillionths(it["paid"].as_str().unwrap()))
        .sum();
    assert_eq!(shown, of("unmatched"));
    // 97% of the accelerator cost matched a resource.
    assert!(here as f64 / oracle.accelerators as f64 > 0.97);
    let euros = month["sums"].as_array().unwrap().iter().find(|it| it["currency"] == "EUR").unwrap();
    assert_eq!(trillionths(euros["unmatched"].as_str().unwrap()), oracle.all["EUR"]);
}

/// The file contains neither accounts nor ids.
fn refused_words(place: &Path) {
    let text = fs::read_to_string(place.join("gpulint-paid.csv")).unwrap();
    for word in ["210987654321", "123456789012", "i-0aaaa", "ml-7"] {
        assert!(!text.contains(word), "{word}");
    }
}

fn discounts(place: &Path) {
    let told = gpulint(place, &["reconcile", "--print-discounts", "."]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    // Of two machines with 12 % and one with none.
    assert!(
        told.contains("[prices.discount]\n") && told.contains("# the discount differs by machine, from 0.0% to 12.0%"),
        "{told}"
    );
    assert!(told.contains("\naws = 0.1173\n") && told.contains("# gcp: no discount"), "{told}");
}

fn orphans(place: &Path) {
    let told = gpulint(place, &["check", "--format", "json", "--today", "2026-11-26", "."]);
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let found = told["findings"].as_array().unwrap().iter().find(|it| it["rule"] == "paid-not-in-text");
    let message = found.unwrap()["message"].as_str().unwrap();
    assert!(message.contains("was billed in 2026-10") && message.contains("aws name old-lab g5.xlarge"), "{message}");
}

#[test]
fn what_may_be_two_things_is_nobodys_and_both_are_told() {
    let place = directory("paid-twice").join("two");
    fs::create_dir_all(&place).unwrap();
    let block = |name: &str| {
        format!(
            "resource \"aws_instance\" \"{name}\" {{\n  instance_type = \"g5.xlarge\"\n  tags = {{ Name = \"lab\" }}\n}}\n"
        )
    };
    fs::write(place.join("main.tf"), format!("{}{}", block("a"), block("b"))).unwrap();
    let rows = "# gpulint paid 1\nprovider,key_kind,key,region,machine,month,currency,charge,paid,hours\n\
                aws,name,lab,us-east-1,g5.xlarge,2026-10,USD,usage,12.34,744\naws,name,lab2,us-east-1,g5.xlarge,2026-10,EUR,usage,1,1\n";
    fs::write(place.join("gpulint-paid.csv"), rows).unwrap();
    let told = gpulint(&place, &["reconcile", "--format", "json", "--today", "2026-11-26", "."]);
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let why = "2 resources here match it: aws_instance.a, aws_instance.b";
    let month = &told["months"][0];
    assert_eq!(month["unmatched"][0]["reason"], why);
    assert_eq!(month["resources"].as_array().unwrap().len(), 2);
    for resource in month["resources"].as_array().unwrap() {
        assert!(resource["reason"].as_str().unwrap().ends_with(why), "{resource}");
    }
    let facts = gpulint(&place, &["inspect", "--format", "json", "--today", "2026-11-26", "."]);
    assert!(String::from_utf8_lossy(&facts.stdout).contains(why));
}

/// The DuckDB query creates the same rows as the importer, for a year of everything in the test data.
#[test]
fn duckdb_makes_the_same_rows() {
    const COMPARE: &str = r#"
import csv, subprocess, sys
from decimal import Decimal
import duckdb
gpulint, bill = sys.argv[1:]
con = duckdb.connect()
con.execute(f"""COPY (SELECT * REPLACE (CAST(EffectiveCost AS DECIMAL(38, 12)) AS EffectiveCost, CAST(ListCost AS DECIMAL(38, 12)) AS ListCost,
  CAST(replace(ChargePeriodStart, 'Z', '') AS TIMESTAMP) AS ChargePeriodStart, CAST(replace(ChargePeriodEnd, 'Z', '') AS TIMESTAMP) AS ChargePeriodEnd)
  FROM read_csv('{bill}', all_varchar = true)) TO '{bill}.parquet' (FORMAT parquet)""")
query = subprocess.run([gpulint, "usage", "bill", "--sql", "duckdb"], capture_output=True, text=True, check=True).stdout
told = con.execute(query.replace("focus/*.parquet", bill + ".parquet"))
names = [it[0] for it in told.description]
theirs = [dict(zip(names, row)) for row in told.fetchall()]
ours = subprocess.run([gpulint, "usage", "bill", bill], capture_output=True, text=True, check=True).stdout
ours = list(csv.DictReader(ours.splitlines()[1:]))
TEXTS = ["provider", "key_kind", "key", "region", "machine", "accelerator", "month", "currency", "charge", "open"]
NUMBERS = ["gpus", "paid", "list", "hours", "on_demand", "spot", "committed", "on_demand_paid", "on_demand_list", "corrected"]
def plain(row):
    numbers = [Decimal(str(row[it])) if row[it] not in ("", None) else None for it in NUMBERS]
    return tuple("" if row[it] is None else str(row[it]) for it in TEXTS), tuple(numbers)
ours, theirs = dict(map(plain, ours)), dict(map(plain, theirs))
assert len(ours) > 80, len(ours)
for key in sorted(set(ours) | set(theirs)):
    assert ours.get(key) == theirs.get(key), (key, ours.get(key), theirs.get(key))
"#;
    let has_it = Command::new("python3").args(["-c", "import duckdb"]).output().is_ok_and(|it| it.status.success());
    if !has_it {
        return crate::skipped::skip("DuckDB is not there: pip install duckdb==2.0.0");
    }
    let place = directory("paid-duckdb");
    let bill = place.join("focus.csv");
    fs::write(&bill, year().0).unwrap();
    let compared =
        Command::new("python3").args(["-c", COMPARE, env!("CARGO_BIN_EXE_gpulint")]).arg(&bill).output().unwrap();
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&compared.stderr));
}
