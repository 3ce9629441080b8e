//! Compares the lost work of resources with amounts that `tests/lost_work/by_hand.py` calculates without gpulint.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gpulint::catalog::{Catalog, CsvFile};
use gpulint::fit::lost_work::{LostAmount, LostWork};
use gpulint::inventory::{Key, Range};
use gpulint::pricing::Usage;
use gpulint::resolve::{ResourceFilter, Traffic};
use gpulint::source::{MemoryTree, SourceFiles, csv_records};
use gpulint::{AnalysisSettings, analyze};

/// Rows with other interruption bands than the frozen catalog.
const BANDS: &str = "\
machine,region,accelerator,accelerator_count,vcpus,memory_gib,on_demand_usd_per_hour,spot_usd_per_hour,as_of,spot_as_of,spot_interruption,source,confidence
p4d.24xlarge,us-west-2,A100-40GB,8,96,1152,24,9.6,2026-01-01,2026-01-01,5-10%,round prices for tests,high
p5.48xlarge,us-west-2,H100-80GB,8,192,2048,80,32,2026-01-01,2026-01-01,>20%,round prices for tests,high
";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lost_work")
}

fn settings() -> AnalysisSettings {
    let bands = [CsvFile { path: "aws.csv", stem: "aws", text: BANDS }];
    let catalog = Catalog::examples().with_refreshed(&bands).unwrap();
    let mut settings = AnalysisSettings { catalog, ..AnalysisSettings::default() };
    let about = ResourceFilter { address: Some("Task/*".to_owned()), label: None };
    let said = vec![(Key::CheckpointMinutes, 30.0), (Key::ColdStartSeconds, 300.0)];
    settings.traffic = vec![Traffic { about: about.clone(), said, setting: "usage" }];
    settings.pricing.usage = vec![Usage { about, hours_per_run: Some(20.0), ..Usage::default() }];
    settings
}

fn lost_work(name: &str, settings: &AnalysisSettings) -> LostWork {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let sources = SourceFiles::new(MemoryTree::new().with(name, text.as_str()));
    let analysis = analyze(&sources, &[name.to_owned()], settings);
    let resources = &analysis.inventory.resources;
    assert_eq!(resources.len(), 1, "{name}: {resources:?}");
    let (item, fit) = (&analysis.bill.items[0], &analysis.fits[0]);
    LostWork::of(&resources[0], item, fit, &settings.catalog).unwrap_or_else(|| panic!("{name}"))
}

fn cases() -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder().join("cases.csv")).unwrap();
    let mut records = csv_records(&text).map(|(_, record)| record.unwrap());
    let header = records.next().unwrap();
    records.map(|record| header.iter().cloned().zip(record).collect()).collect()
}

fn is_close(one: f64, other: f64) -> bool {
    one == other || (one - other).abs() <= 1e-4 * one.abs().max(other.abs())
}

/// Compares an amount with a cell: `unknown`, `none`, or GPU-hours from minimum to maximum.
fn difference(amount: &LostAmount, cell: &str) -> Option<String> {
    match (amount, cell) {
        (LostAmount::Unknown(_), "unknown") | (LostAmount::None(_), "none") => None,
        (LostAmount::Known { gpu_hours: Range { floor, expected, ceiling }, .. }, cell) => {
            let ends: Vec<f64> = cell.split(' ').filter_map(|end| end.parse().ok()).collect();
            let is_same = ends.len() == 3
                && [*floor, *expected, *ceiling].into_iter().zip(&ends).all(|(one, other)| is_close(one, *other));
            (!is_same).then(|| format!("{amount:?}, not {cell}"))
        }
        (amount, cell) => Some(format!("{amount:?}, not {cell}")),
    }
}

#[test]
fn every_case_is_equal_to_the_calculation_by_hand() {
    let settings = settings();
    let mut wrong = Vec::new();
    let cases = cases();
    for case in &cases {
        let name = &case["file"];
        let found = lost_work(name, &settings);
        if found.per.name() != case["per"] {
            wrong.push(format!("{name}: per {}, not {}", found.per.name(), case["per"]));
        }
        for (part, amount) in &found.parts {
            if let Some(difference) = difference(amount, &case[part.name()]) {
                wrong.push(format!("{name}: {}: {difference}", part.name()));
            }
        }
        let usd = found.usd().map(|usd| usd.expected);
        if let Ok(expected) = case["usd"].parse::<f64>()
            && usd.is_none_or(|usd| !is_close(usd, expected))
        {
            wrong.push(format!("{name}: {usd:?} dollars, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 20);
}

/// Each known amount depends on an assumption, and the change of the assumption moves it.
#[test]
fn every_assumption_of_a_sum_is_listed() {
    let settings = settings();
    for case in cases() {
        let found = lost_work(&case["file"], &settings);
        let Some(sum) = found.gpu_hours else { continue };
        let lowest = found.sensitivity.iter().map(|it| it.half.min(it.double)).fold(f64::INFINITY, f64::min);
        assert!(found.sensitivity.iter().all(|it| it.half != sum.expected || it.double != sum.expected));
        let is_exact = sum.floor == sum.ceiling;
        assert!(is_exact || case["file"].contains("measured") || lowest < sum.expected || found.sensitivity.is_empty());
    }
    let found = lost_work("01-server-cache-lost.yaml", &settings);
    let names: Vec<&str> = found.sensitivity.iter().map(|it| it.assumption.name()).collect();
    assert_eq!(names, ["image-size", "image-pull", "weights-download", "weights-load", "server-start"]);
}

#[test]
fn the_interval_of_young_and_daly_ends_with_the_run() {
    let found = lost_work("23-written-checkpoints.yaml", &settings());
    // Without a limit it would be 23.8 hours, and a run takes 10.
    assert_eq!(found.best_interval, Some(10.0));
    let found = lost_work("17-instance.tf", &settings());
    let best = found.best_interval.unwrap();
    assert!((best - 23.793_942).abs() < 1e-3, "{best}");
}

#[test]
fn remedies_are_sorted_by_their_cost() {
    let settings = settings();
    let names = |file: &str| lost_work(file, &settings).remedies.iter().map(|it| it.name).collect::<Vec<_>>();
    assert_eq!(names("01-server-cache-lost.yaml"), ["image-streaming", "weights-cache"]);
    assert_eq!(names("02-server-cache-kept.yaml"), ["image-streaming"]);
    assert_eq!(names("17-instance.tf"), ["checkpoint-interval", "on-demand"]);
    assert_eq!(names("20-probe.yaml"), ["probe"]);
    assert_eq!(names("09-nightly-on-demand.yaml"), Vec::<&str>::new());
}
