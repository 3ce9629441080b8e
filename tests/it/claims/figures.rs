//! Figures on pages are those of the tables and the code.

use std::collections::BTreeMap;
use std::path::Path;

use gpulint::source::csv_records;

use super::{ROOT, files, read};
use crate::fences;

/// Fails unless a page contains these words. Line breaks do not matter.
fn demand(page: &str, words: &str) {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&read(page)).contains(&flat(words)), "{page} should contain: {words}");
}

fn in_words(number: usize) -> &'static str {
    const WORDS: [&str; 13] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    WORDS[number]
}

/// Returns the rows of a table of the project, by the names of the columns.
fn rows(path: &str) -> Vec<BTreeMap<String, String>> {
    let text = read(path);
    let mut records = csv_records(&text).map(|(_, record)| record.unwrap());
    let header = records.next().unwrap();
    records.map(|record| header.iter().cloned().zip(record).collect()).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> Option<f64> {
    row[column].parse().ok()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len().is_multiple_of(2) { f64::midpoint(values[half - 1], values[half]) } else { values[half] }
}

/// Returns the value at a share of a list, when it is sorted.
fn at(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() as f64 * share) as usize]
}

fn percent(share: f64) -> i64 {
    (share * 100.0).round() as i64
}

#[test]
fn counts_are_those_of_lists() {
    let examples = read("docs/own-rules/examples.md");
    let rules = in_words(fences::read(&examples).iter().filter(|it| it.language == "md").count());
    demand("docs/own-rules/README.md", &format!("has {rules} rules to copy"));
    demand("docs/own-rules/examples.md", &format!("Copy one of these {rules} rules"));
    let hooks = in_words(read(".pre-commit-hooks.yaml").matches("- id: ").count());
    demand("docs/ci/pre-commit.md", &format!("This repository offers {hooks} hooks"));
    let hosts = in_words(read("docs/ci/month.md").matches("\n## ").count() - 1);
    demand("docs/report.md", &format!("has schedules for {hosts} code hosts"));
    let tools = read("src/cli/mcp/tools.rs").matches("    McpTool {").count();
    demand("ARCHITECTURE.md", &format!("{} tools need few messages", capital(in_words(tools))));
    let runs = read(".ci/instructions.txt").lines().count() - 1;
    demand("CONTRIBUTING.md", &format!("instructions of {} fixed runs", in_words(runs)));
    let cases = rows("tests/lost_work/cases.csv").len();
    demand("docs/lost-work.md", &format!("compares {cases} resources with amounts"));
}

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

#[test]
fn the_table_of_cloudformation_has_the_stated_size() {
    let table: toml::Table = read("src/templates/cloudformation.toml").parse().unwrap();
    let types = table["types"].as_table().unwrap();
    let names = types.values().filter_map(|it| it.get("names")?.as_table()).map(toml::Table::len).sum::<usize>();
    demand("ARCHITECTURE.md", &format!("A table of {} types and {names} different names", types.len()));
}

/// The parts of the code whose size a page states, with the words around the number.
const SIZES: [(&str, &[&str]); 3] = [
    (
        "`kubernetes/cluster.rs`; ",
        &[
            "src/admission",
            "src/languages/cel/admission.rs",
            "src/languages/cel/server.rs",
            "src/rules/server_rule.rs",
            "src/kubernetes/cluster.rs",
        ],
    ),
    ("(`cli/render`; ", &["src/cli/render"]),
    ("(`refresh`; ", &["src/refresh"]),
];

#[test]
fn sizes_of_code_are_about_right() {
    let page = read("ARCHITECTURE.md");
    for (before, parts) in SIZES {
        let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("ARCHITECTURE.md lacks {before}"));
        let stated: f64 = rest.split(' ').next().unwrap().replace(',', "").parse().unwrap();
        let lines = |part: &&str| -> usize {
            let path = Path::new(ROOT).join(part);
            let all = if path.is_dir() { files(part) } else { vec![path] };
            all.iter().map(|it| std::fs::read_to_string(it).unwrap().lines().count()).sum()
        };
        let lines = parts.iter().map(lines).sum::<usize>() as f64;
        assert!((stated / lines - 1.0).abs() < 0.12, "ARCHITECTURE.md: {before}{stated} lines, now {lines}");
    }
}

#[test]
fn limits_on_pages_are_those_of_the_code() {
    let table = include_str!("limits.tsv");
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let [page, words, file, code] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("four cells: {row}") };
        demand(page, words);
        assert!(read(file).contains(code), "{file} lacks `{code}`: correct {page} (\"{words}\"), then limits.tsv");
    }
}

/// Rules state how much regions and commitments differ. The tables of prices have the numbers.
#[test]
fn price_differences_in_rules_are_those_of_the_tables() {
    let regions = rows("pricing/regions.csv");
    let index = |provider: &str| -> Vec<f64> {
        regions.iter().filter(|row| row["provider"] == provider).filter_map(|row| number(row, "index")).collect()
    };
    let medians = ["aws", "azure", "gcp"].map(|it| percent(median(index(it)) - 1.0));
    let (least, most) = (medians.iter().min().unwrap(), medians.iter().max().unwrap());
    demand(
        "rules/cheaper-region.md",
        &format!("machines cost {least}% to {most}% more than in the provider's base region"),
    );
    let mut savings = Vec::new();
    for provider in ["aws", "azure", "gcp"] {
        for row in rows(&format!("pricing/{provider}.csv")) {
            let reserved = number(&row, "reserved_1y_usd_per_hour").zip(number(&row, "on_demand_usd_per_hour"));
            savings.extend(reserved.map(|(reserved, on_demand)| 1.0 - reserved / on_demand));
        }
    }
    let [least, most] = [0.05, 0.95].map(|share| percent(at(savings.clone(), share)));
    demand(
        "rules/steady-on-demand.md",
        &format!("nine of ten prices for a year are {least}% to {most}% below on demand"),
    );
}

#[test]
fn tables_of_assumptions_are_those_of_the_csv_files() {
    for row in rows("pricing/startup.csv") {
        demand("docs/lost-work.md", &format!("| {} | {} | {} |", row["least"], row["expected"], row["most"]));
    }
    let ratio = |row: &BTreeMap<String, String>| number(row, "most").unwrap() / number(row, "least").unwrap();
    let widest = rows("pricing/startup.csv").iter().map(ratio).filter(|it| it.is_finite()).fold(0.0, f64::max);
    demand("docs/lost-work.md", &format!("a maximum is up to {widest:.0} times its minimum"));
    let moves = rows("pricing/price_moves.csv");
    let range = |seller: &str, market: &str, days: f64| {
        let is_it = |row: &&BTreeMap<String, String>| row["seller"] == seller && row["market"] == market;
        let row = moves.iter().filter(is_it).find(|row| number(row, "days") == Some(days)).unwrap();
        [number(row, "low").unwrap(), number(row, "high").unwrap()].map(percent)
    };
    assert_eq!(range("aws", "on-demand", 730.0), [100, 100], "docs/prices.md: unchanged");
    let [low, high] = range("azure", "on-demand", 730.0);
    demand("docs/prices.md", &format!("| Azure | two years | {low}% and {high}% of the old price |"));
    let [low, high] = range("gpu-cloud", "on-demand", 126.0);
    demand("docs/prices.md", &format!("| GPU clouds | four months | {low}% and {high}% |"));
    let [low, high] = range("spot", "spot", 730.0);
    demand("docs/prices.md", &format!("| spot | two years | {low}% and {high}%"));
    for row in rows("pricing/training_shares.csv") {
        let [least, middle, most] =
            ["least_share", "middle_share", "most_share"].map(|it| percent(number(&row, it).unwrap()));
        let (name, kind) = (&row["accelerator"], &row["precision"]);
        let line =
            format!("| {name} | {kind} | {} | {} | {least}% | {middle}% | {most}% |", row["rows"], row["sources"]);
        demand("docs/speed.md", &line);
    }
}

#[test]
fn the_page_about_tables_names_every_table_and_column() {
    let page = read("pricing/README.md");
    let providers: Vec<String> = rows("pricing/providers.csv").into_iter().map(|row| row["provider"].clone()).collect();
    let tables: Vec<_> =
        files("pricing").into_iter().filter(|path| path.extension().is_some_and(|it| it == "csv")).collect();
    assert!(tables.len() > 60, "{} tables", tables.len());
    for table in tables {
        let name = table.file_name().unwrap().to_string_lossy().into_owned();
        let is_of_provider = providers.contains(&name.replace(".csv", ""));
        assert!(is_of_provider || page.contains(&format!("`{name}`")), "pricing/README.md does not name {name}");
        let text = std::fs::read_to_string(&table).unwrap();
        let (_, columns) = csv_records(&text).next().unwrap();
        for column in columns.unwrap() {
            assert!(page.contains(&format!("`{column}`")), "pricing/README.md does not explain {column} of {name}");
        }
    }
}

/// The page about editors shows what Neovim drew. Its words are those of the rules.
#[test]
fn the_page_about_editors_shows_current_words() {
    let page = read("docs/editors.md");
    let blocks = fences::read(&page);
    let drawn = blocks.iter().find(|it| it.text.contains("Code actions:")).unwrap();
    let place = crate::cli::Place::new();
    crate::book::copy(&Path::new(ROOT).join("examples/mixed"), "mixed/", &place);
    let arguments = [
        "check",
        "-v",
        "--all",
        "--plain",
        "--prices",
        "embedded",
        "--today",
        "2026-11-21",
        "--format",
        "json",
        "mixed",
    ];
    let mut said = place.stdout(&arguments);
    let file = "mixed/terraform/main.tf";
    let machine = "machine_type = \"a2-highgpu-2g\"\n";
    place.write(file, &place.read(file).replace(machine, &format!("{machine}    spot = true\n")));
    said += &place.stdout(&arguments);
    let mut count = 0;
    for part in drawn.text.split(['\n', ':', '…', '(', '─']) {
        let part = part.split(", saves").next().unwrap().trim_matches([' ', '│']);
        if part.contains("saves about")
            || ["nothing stops", "run it on", "training"].iter().any(|it| part.starts_with(it))
        {
            count += 1;
            assert!(said.contains(part), "docs/editors.md: no rule prints `{part}`");
        }
    }
    assert!(count > 6, "only {count} lines");
}
