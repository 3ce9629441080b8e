//! Checks the tables in `pricing/` after any change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gpulint::catalog::{Catalog, Money, Offer};

/// The date on which the last of these prices was read.
const PUBLISHED_ON: &str = "2026-11-25";

/// Published on-demand prices in US dollars per hour.
const PUBLISHED: &[(&str, &str, &str, f64)] = &[
    ("azure", "Standard_ND96isr_H100_v5", "eastus", 98.32),
    ("azure", "Standard_ND96amsr_A100_v4", "eastus", 32.77),
    ("azure", "Standard_ND96asr_v4", "eastus", 27.197),
    ("azure", "Standard_NC96ads_A100_v4", "eastus", 14.692),
    ("azure", "Standard_NC80adis_H100_v5", "eastus", 13.96),
    ("azure", "Standard_NC24ads_A100_v4", "eastus", 3.673),
    ("azure", "Standard_NC40ads_H100_v5", "eastus", 6.98),
    ("azure", "Standard_NV36ads_A10_v5", "eastus", 3.20),
    ("azure", "Standard_NC4as_T4_v3", "eastus", 0.526),
    ("azure", "Standard_NC64as_T4_v3", "eastus", 4.352),
    ("aws", "p5.48xlarge", "us-east-1", 55.04),
    ("aws", "p4d.24xlarge", "us-east-1", 21.957642),
    ("aws", "p4de.24xlarge", "us-east-1", 27.44705),
    ("aws", "p5en.48xlarge", "us-east-1", 63.296),
    ("aws", "p3.2xlarge", "us-east-1", 3.06),
    ("aws", "p3.8xlarge", "us-east-1", 12.24),
    ("aws", "p3.16xlarge", "us-east-1", 24.48),
    ("aws", "g4dn.xlarge", "us-east-1", 0.526),
    ("aws", "g4dn.12xlarge", "us-east-1", 3.912),
    ("aws", "g4dn.metal", "us-east-1", 7.824),
    ("aws", "g5.xlarge", "us-east-1", 1.006),
    ("aws", "g5.12xlarge", "us-east-1", 5.672),
    ("aws", "g5.48xlarge", "us-east-1", 16.288),
    ("aws", "g6.xlarge", "us-east-1", 0.8048),
    ("aws", "g6.48xlarge", "us-east-1", 13.3504),
    ("aws", "g6e.xlarge", "us-east-1", 1.861),
    ("aws", "g6e.48xlarge", "us-east-1", 30.13118),
    ("aws", "inf2.xlarge", "us-east-1", 0.7582),
    ("aws", "inf2.48xlarge", "us-east-1", 12.98127),
    ("aws", "trn1.2xlarge", "us-east-1", 1.34375),
    ("aws", "trn1.32xlarge", "us-east-1", 21.50),
    ("gcp", "g2-standard-4", "us-central1", 0.706832),
    ("gcp", "a2-highgpu-1g", "us-central1", 3.673385),
    ("gcp", "a2-highgpu-8g", "us-central1", 29.38708),
    ("gcp", "a3-highgpu-8g", "us-central1", 88.49),
    // SageMaker has separate prices: 1.4 times the machine for the smallest, 1.25 above, 1.15 for the largest.
    ("aws", "ml.g5.xlarge", "us-east-1", 1.4084),
    ("aws", "ml.g5.2xlarge", "us-east-1", 1.515),
    ("aws", "ml.p3.2xlarge", "us-east-1", 3.825),
    ("aws", "ml.p3.16xlarge", "us-east-1", 28.152),
];

/// Published disk prices in US dollars per month, for this number of GiB.
const PUBLISHED_DISKS: &[(&str, &str, &str, f64, f64)] = &[
    ("aws", "gp3", "us-east-1", 100.0, 8.0),
    ("aws", "gp3", "eu-central-1", 100.0, 9.52),
    ("aws", "gp2", "sa-east-1", 100.0, 19.0),
    ("aws", "io2", "us-east-1", 30.0, 3.75),
    ("aws", "sc1", "us-east-1", 50.0, 0.75),
    ("aws", "sagemaker", "eu-west-1", 5.0, 0.77),
    ("azure", "Premium_LRS", "eastus", 32.0, 5.2795),
    ("azure", "Premium_LRS", "eastus", 129.0, 38.012142),
    ("azure", "Premium_LRS", "eastus", 32_767.0, 3604.11),
    ("azure", "Premium_LRS", "eastus2", 1024.0, 122.88),
    ("azure", "Premium_LRS", "westeurope", 128.0, 21.68),
    ("azure", "StandardSSD_LRS", "eastus", 1000.0, 76.8),
    ("azure", "Standard_LRS", "eastus", 32_767.0, 953.55),
    ("gcp", "pd-ssd", "us-central1", 100.0, 17.0),
    ("gcp", "pd-balanced", "europe-west4", 100.0, 11.0),
    ("gcp", "pd-standard", "asia-northeast1", 100.0, 5.2),
    ("gcp", "hyperdisk-balanced", "us-east1", 100.0, 9.0),
    ("gcp", "local-ssd", "us-central1", 375.0, 30.0),
];

/// Sizes of one family with the same price per accelerator, with the number of accelerators.
const LINEAR: &[(&str, &[(&str, f64)])] = &[
    ("aws", &[("p3.2xlarge", 1.0), ("p3.8xlarge", 4.0), ("p3.16xlarge", 8.0)]),
    ("gcp", &[("a2-highgpu-1g", 1.0), ("a2-highgpu-2g", 2.0), ("a2-highgpu-4g", 4.0), ("a2-highgpu-8g", 8.0)]),
    ("gcp", &[("a3-highgpu-1g", 1.0), ("a3-highgpu-2g", 2.0), ("a3-highgpu-4g", 4.0), ("a3-highgpu-8g", 8.0)]),
    (
        "azure",
        &[("Standard_NC24ads_A100_v4", 1.0), ("Standard_NC48ads_A100_v4", 2.0), ("Standard_NC96ads_A100_v4", 4.0)],
    ),
    ("azure", &[("Standard_NC40ads_H100_v5", 1.0), ("Standard_NC80adis_H100_v5", 2.0)]),
];

fn offers(catalog: &Catalog) -> Vec<Offer<'_>> {
    catalog.offers().collect()
}

/// Returns each row of each table, by column name.
fn rows() -> Vec<(String, usize, BTreeMap<String, String>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing");
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".csv") || name == "models.csv" {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut lines = text.lines();
        let header: Vec<String> = split(lines.next().unwrap());
        for (index, line) in lines.enumerate() {
            let cells = split(line);
            assert_eq!(cells.len(), header.len(), "{name}:{}", index + 2);
            all.push((name.clone(), index + 2, header.iter().cloned().zip(cells).collect()));
        }
    }
    all
}

fn split(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    cells
}

#[test]
fn published_prices_are_exact() {
    let catalog = Catalog::embedded();
    for (provider, machine, region, usd) in PUBLISHED {
        let found = catalog.machine(provider, machine).unwrap_or_else(|| panic!("{machine} is missing"));
        let quote = catalog.quote(&found, region).unwrap();
        // If an update changed a row afterwards, its price is the present one, so only the identity is compared.
        let share = quote.on_demand.unwrap().usd() / usd;
        let is_held =
            if quote.as_of <= PUBLISHED_ON { (share - 1.0).abs() < 1e-9 } else { (0.3..3.0).contains(&share) };
        assert!(is_held, "{machine} in {region}: {:?}, not {usd}", quote.on_demand);
        assert!(!quote.basis.is_estimate(), "{machine} in {region}");
    }
    for (accelerator, usd) in [("nvidia-tesla-t4", 0.35), ("nvidia-tesla-v100", 2.48)] {
        let machine = catalog.equipped("n1-standard-4", accelerator, 1.0).unwrap();
        let quote = catalog.quote(&machine, "us-central1").unwrap();
        let part = quote.parts.iter().find(|part| part.what == accelerator).unwrap();
        assert_eq!(part.unit_price, Money::from_usd(usd), "{accelerator}");
    }
}

#[test]
fn published_prices_of_disks_are_exact() {
    let catalog = Catalog::embedded();
    for (provider, kind, region, gib, usd) in PUBLISHED_DISKS {
        let disk = catalog.disk(provider, Some(kind), region, *gib).unwrap();
        assert_eq!((disk.region, disk.per_month), (*region, Money::from_usd(*usd)), "{kind} in {region}");
    }
    assert!(catalog.disk("azure", Some("Premium_LRS"), "eastus", 32_768.0).is_none());
    let elsewhere = catalog.disk("azure", None, "chilecentral", 128.0).unwrap();
    assert_eq!((elsewhere.kind, elsewhere.region), ("Premium_LRS", "eastus"));
}

#[test]
fn disks_are_sold_for_a_gib_or_in_the_same_sizes_everywhere() {
    // A size that is missing in one region would get the price of the next larger one.
    let mut sizes: BTreeMap<String, BTreeMap<String, Vec<(f64, f64)>>> = BTreeMap::new();
    for (file, line, row) in rows().into_iter().filter(|(file, ..)| file == "disks.csv") {
        let number = |column: &str| row[column].parse::<f64>().ok();
        match (number("up_to_gib"), number("usd_per_gib_month"), number("usd_per_month")) {
            (None, Some(each), None) => assert!((0.001..1.0).contains(&each), "{file}:{line}: {each} for one GiB"),
            (Some(size), None, Some(whole)) => {
                let regions = sizes.entry(row["disk_type"].clone()).or_default();
                regions.entry(row["region"].clone()).or_default().push((size, whole));
            }
            // A gateway is sold by the piece.
            (None, None, Some(whole)) => assert!((1.0..100.0).contains(&whole), "{file}:{line}: {whole}"),
            other => panic!("{file}:{line}: {other:?}"),
        }
    }
    for (kind, regions) in sizes {
        let first: Vec<f64> = regions.values().next().unwrap().iter().map(|(size, _)| *size).collect();
        for (region, ladder) in regions {
            assert_eq!(ladder.iter().map(|(size, _)| *size).collect::<Vec<_>>(), first, "{kind} in {region}");
            assert!(ladder.is_sorted_by(|one, next| one.0 < next.0 && one.1 < next.1), "{kind} in {region}");
        }
    }
}

#[test]
fn tables_are_sorted_and_every_row_has_a_date_a_source_and_a_confidence() {
    let mut before: BTreeMap<String, (String, String)> = BTreeMap::new();
    for (file, line, row) in rows() {
        let place = format!("{file}:{line}");
        let date = |column: &str| {
            let cell = &row[column];
            let digits = cell.split('-').all(|part| part.len().is_multiple_of(2) && part.parse::<u16>().is_ok());
            assert!(digits && (cell.len() == 4 || cell.len() == 7 || cell.len() == 10), "{place}: {column} `{cell}`");
        };
        if file != "aliases.csv" {
            date("as_of");
            assert!(!row["source"].is_empty(), "{place}: no source");
            let confidence = row["confidence"].as_str();
            let known = ["high", "medium", "low", "derived", "unverified"].contains(&confidence);
            assert!(known, "{place}: confidence `{confidence}`");
        }
        let Some(spot) = row.get("spot_usd_per_hour") else { continue };
        if !spot.is_empty() {
            date("spot_as_of");
        }
        let key = (row["machine"].to_ascii_lowercase(), row["region"].to_ascii_lowercase());
        if let Some(last) = before.get(&file) {
            assert!(*last < key, "{place}: {key:?} stands after {last:?}");
        }
        before.insert(file, key);
    }
    assert!(before.len() > 30);
}

#[test]
fn prices_hold_together() {
    let catalog = Catalog::embedded();
    let all = offers(&catalog);
    assert!(all.len() > 3000, "{}", all.len());
    for Offer { machine, region, quote } in &all {
        let place = format!("{} {} {region}", machine.provider, machine.name);
        assert!(catalog.accelerator(&machine.accelerator).is_some_and(|it| it.name == machine.accelerator), "{place}");
        // An UltraServer is sold as one machine with 72 accelerators.
        assert!(machine.count > 0.0 && machine.count <= 72.0, "{place}: {} accelerators", machine.count);
        for price in [quote.on_demand, quote.spot, quote.reserved_1y, quote.reserved_3y].into_iter().flatten() {
            assert!(price > Money::ZERO, "{place}: {price:?}");
        }
        let Some(on_demand) = quote.on_demand else { continue };
        let each = on_demand.usd() / machine.count;
        assert!((0.02..=60.0).contains(&each), "{place}: {each} for one accelerator");
        for lower in [quote.spot, quote.reserved_1y, quote.reserved_3y].into_iter().flatten() {
            assert!(lower <= on_demand, "{place}: {lower:?} is above on demand, {on_demand:?}");
        }
        if let (Some(one), Some(three)) = (quote.reserved_1y, quote.reserved_3y) {
            assert!(three <= one, "{place}: three years cost more than one");
        }
    }
}

#[test]
fn a_machine_is_the_same_everywhere() {
    let mut shapes: BTreeMap<(String, String), String> = BTreeMap::new();
    for (file, line, row) in rows() {
        let Some(machine) = row.get("machine").filter(|_| row.contains_key("on_demand_usd_per_hour")) else { continue };
        let shape: Vec<_> =
            ["accelerator", "accelerator_count", "vcpus", "memory_gib"].map(|column| row[column].as_str()).to_vec();
        let shape = shape.join(" ");
        let first = shapes.entry((file.clone(), machine.clone())).or_insert_with(|| shape.clone());
        assert_eq!(*first, shape, "{file}:{line} {machine}");
    }
}

#[test]
fn linear_families_are_linear() {
    let catalog = Catalog::embedded();
    for (provider, sizes) in LINEAR {
        let machines: Vec<_> = sizes.iter().map(|(name, _)| catalog.machine(provider, name).unwrap()).collect();
        let regions: BTreeSet<_> =
            catalog.offers().filter(|it| it.machine.name == machines[0].name).map(|it| it.region).collect();
        for region in regions {
            let one = catalog.quote(&machines[0], region).unwrap();
            let (false, Some(one)) = (one.basis.is_estimate(), one.on_demand) else { continue };
            for (machine, (name, count)) in machines.iter().zip(*sizes) {
                let quote = catalog.quote(machine, region).unwrap();
                if quote.basis.is_estimate() {
                    continue;
                }
                // Azure publishes three decimals and others six, so a size may differ by half of the last digit per
                // GPU.
                let rounding = if *provider == "azure" { 500.0 } else { 0.5 };
                let off = (quote.on_demand.unwrap().micros() - one.times(*count).micros()).abs();
                assert!(off as f64 <= rounding * (count + 1.0), "{name} in {region}: {off} millionths off");
            }
        }
    }
}

#[test]
fn every_alias_and_slice_belongs_to_an_accelerator() {
    let catalog = Catalog::embedded();
    for (file, line, row) in rows() {
        // Only estimates of memory use unlisted rows.
        let is_listed = row.get("kind").is_none_or(|kind| kind != "unlisted");
        if let Some(accelerator) = row.get("accelerator").filter(|name| is_listed && !name.is_empty()) {
            let found = catalog.accelerator(accelerator).map(|it| it.name);
            assert_eq!(found, Some(accelerator.as_str()), "{file}:{line}");
        }
        if file == "aliases.csv" {
            assert_eq!(
                catalog.accelerator(&row["example"]).map(|it| it.name),
                Some(row["accelerator"].as_str()),
                "line {line}"
            );
        }
        if file == "mig.csv" {
            let slice = catalog.mig(&row["accelerator"], &row["profile"]).unwrap();
            let whole = catalog.accelerator(&row["accelerator"]).unwrap();
            assert!(slice.max_instances <= whole.mig_instances, "{file}:{line}");
            // The names of profiles round the memory.
            assert!(slice.memory_gib * f64::from(slice.max_instances) <= whole.memory_gib * 1.05, "{file}:{line}");
        }
    }
}

#[test]
fn one_machine_costs_the_same_in_all_regions_of_the_united_states_that_have_the_base_price() {
    // GCP sells a SKU at one price for `us-central1`, `us-east1` and `us-west1`.
    let catalog = Catalog::embedded();
    for machine in catalog.machines().filter(|machine| machine.provider == "gcp") {
        let prices: BTreeSet<_> = ["us-central1", "us-east1", "us-west1"]
            .into_iter()
            .filter_map(|region| catalog.quote(&machine, region).filter(|quote| !quote.basis.is_estimate()))
            .filter_map(|quote| quote.on_demand)
            .collect();
        let spread = prices.last().zip(prices.first()).map_or(1.0, |(high, low)| high.usd() / low.usd());
        assert!(spread < 1.01, "{}: {prices:?}", machine.name);
    }
}

/// The cells of a row by column, with its first line.
type Row = (usize, BTreeMap<String, String>);

/// Returns the columns of a table, and its rows as strings.
fn rows_of(path: &Path) -> (Vec<String>, Vec<Row>) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = gpulint::source::csv_records(&text);
    let header = lines.next().unwrap().1.unwrap();
    let rows = lines.map(|(line, cells)| (line, header.iter().cloned().zip(cells.unwrap()).collect()));
    let rows = rows.collect();
    (header, rows)
}

fn tables() -> Vec<(String, std::path::PathBuf)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing");
    let files = fs::read_dir(directory).unwrap().map(|it| it.unwrap().path());
    let tables = files.filter(|path| path.extension().is_some_and(|extension| extension == "csv"));
    let mut tables: Vec<_> =
        tables.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path)).collect();
    tables.sort();
    tables
}

/// Accelerators with usable memory for which the sources contain only the bandwidth, or only the speed of arithmetic.
const HALF_KNOWN: &[&str] = &[];

#[test]
fn the_hardware_of_an_accelerator_is_plausible() {
    let catalog = Catalog::embedded();
    let mut spellings = BTreeSet::new();
    let mut known = 0;
    for (_, line, row) in rows().into_iter().filter(|(file, ..)| file == "accelerators.csv") {
        let (name, number) = (row["accelerator"].as_str(), |column: &str| row[column].parse::<f64>().ok());
        let place = format!("accelerators.csv:{line}: {name}");
        let spelling: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        assert!(spellings.insert(spelling.to_lowercase().trim_end_matches("gb").to_owned()), "{place}: same spelling");
        let found = catalog.hardware(name);
        let formats: Vec<&str> = row["formats"].split_whitespace().collect();
        let Some(usable) = number("usable_gib") else {
            assert!(formats.is_empty() && found.is_none(), "{place}: formats without usable memory");
            continue;
        };
        known += 1;
        let found = found.unwrap();
        let read = [("bf16", found.bf16), ("int8", found.int8), ("fp8", found.fp8), ("fp4", found.fp4)];
        let read = read.iter().filter(|(_, multiplies)| *multiplies).map(|(format, _)| *format);
        assert_eq!(formats, ["fp32"].into_iter().chain(read).collect::<Vec<_>>(), "{place}");
        assert_eq!((found.name, found.usable_gib), (name, usable), "{place}");
        assert!((found.fp8 || !found.fp4) && (found.bf16 || !found.fp8) && (found.int8 || !found.bf16), "{place}");
        assert!(found.fp8 || row["fp8_dense_tflops"].is_empty(), "{place}: a speed of fp8, which it does not multiply");
        // A program sees one of the two chips of an MI250.
        let seen = number("memory_gib").unwrap() / if name.starts_with("MI250") { 2.0 } else { 1.0 };
        assert!(usable < seen && usable > 0.9 * seen, "{place}: {usable} of {seen} GiB");
        let computes = ["fp32_tflops", "bf16_dense_tflops", "fp8_dense_tflops"].iter().any(|it| number(it).is_some());
        let is_half_known = number("memory_bw_gbps").is_some() != computes;
        assert_eq!(is_half_known, HALF_KNOWN.contains(&name), "{place}: bandwidth or arithmetic is missing");
    }
    assert!(known >= 67, "{known}");
}

#[test]
fn every_row_has_a_source_that_was_read_and_a_date() {
    // Factors of whole regions, services and disks enter totals, so none of them may be unverified. Peak throughput
    // only limits speed, and enters no total.
    let told = ["accelerators", "families", "mig", "retired", "throughput_peaks"];
    let mut wrong = Vec::new();
    for (stem, path) in tables() {
        let (header, rows) = rows_of(&path);
        if stem == "aliases" {
            continue; // Other names of what has a row in accelerators.csv.
        }
        let has = |column: &str| header.iter().any(|name| name == column);
        let is_price = has("on_demand_usd_per_hour") || ["commitments", "gcp_tpu", "gcp_components"].contains(&&*stem);
        for (line, row) in rows {
            let mut tell = |what: String| wrong.push(format!("{stem}.csv:{line}: {what}"));
            let source = row["source"].to_lowercase();
            if source.trim().is_empty() || source.contains("from memory") {
                tell(format!("the source is `{source}`"));
            }
            for column in ["as_of", "spot_as_of", "retired_on"] {
                let Some(date) = row.get(column) else { continue };
                let is_date = date.len() == 10 && date.parse::<gpulint::source::Date>().is_ok();
                if !is_date && (column == "as_of" || !date.is_empty()) {
                    tell(format!("`{date}` in {column} is no date"));
                }
            }
            let confidence = row.get("confidence").map_or("high", String::as_str);
            if !["high", "medium", "low", "derived", "unverified"].contains(&confidence) {
                tell(format!("the confidence is `{confidence}`"));
            }
            if confidence == "unverified" && !is_price && !told.contains(&&*stem) {
                tell("nothing leaves an unverified row of this table out of sums".to_owned());
            }
            for column in row.get("unverified").into_iter().flat_map(|it| it.split_whitespace()) {
                if row.get(column).is_none_or(String::is_empty) || confidence == "high" {
                    tell(format!("`{column}` cannot be unverified here"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_page_about_the_tables_names_every_column_and_file() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing/README.md")).unwrap();
    for (stem, path) in tables() {
        let (header, _) = rows_of(&path);
        let is_provider = header.iter().any(|name| name == "on_demand_usd_per_hour");
        let file = if is_provider { "<provider>" } else { &stem };
        assert!(page.contains(&format!("`{file}.csv`")), "{file}.csv is not described");
        for column in header {
            assert!(page.contains(&format!("`{column}`")), "{stem}.csv: the column `{column}` is not described");
        }
    }
}
