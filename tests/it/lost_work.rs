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

fn lost_work<T>(name: &str, settings: &AnalysisSettings, read: impl Fn(&LostWork<'_>) -> T) -> T {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let sources = SourceFiles::new(MemoryTree::new().with(name, text.as_str()));
    let analysis = analyze(&sources, &[name.to_owned()], settings);
    let resources = &analysis.inventory.resources;
    assert_eq!(resources.len(), 1, "{name}: {resources:?}");
    let (item, fit) = (&analysis.bill.items[0], &analysis.fits[0]);
    read(&LostWork::of(&resources[0], item, fit, &settings.catalog).unwrap_or_else(|| panic!("{name}")))
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
        let (per, parts, usd) =
            lost_work(name, &settings, |it| (it.per.name(), it.parts.clone(), it.usd().map(|usd| usd.expected)));
        if per != case["per"] {
            wrong.push(format!("{name}: per {per}, not {}", case["per"]));
        }
        for (part, amount) in &parts {
            if let Some(difference) = difference(amount, &case[part.name()]) {
                wrong.push(format!("{name}: {}: {difference}", part.name()));
            }
        }
        if let Ok(expected) = case["usd"].parse::<f64>()
            && usd.is_none_or(|usd| !is_close(usd, expected))
        {
            wrong.push(format!("{name}: {usd:?} dollars, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 20);
}

/// Half and twice an assumption change the sum, and the list names each assumption that does so.
#[test]
fn every_assumption_of_a_sum_is_listed() {
    let settings = settings();
    for case in cases() {
        let (sum, effects) = lost_work(&case["file"], &settings, |it| (it.gpu_hours, it.sensitivity()));
        let Some(sum) = sum else { continue };
        assert!(effects.iter().all(|it| it.half != sum.expected || it.double != sum.expected));
        // One change makes the sum larger and the other makes it smaller.
        assert!(effects.iter().all(|it| (it.half - sum.expected) * (it.double - sum.expected) <= 0.0));
    }
    let effects = lost_work("01-server-cache-lost.yaml", &settings, |it| it.sensitivity());
    let names: Vec<&str> = effects.iter().map(|it| it.assumption.name()).collect();
    assert_eq!(names, ["image-size", "image-pull", "weights-download", "weights-load", "server-start"]);
    // 60 starts x 15 GiB / 0.38 GiB per second more, if the download has half of the speed.
    let sum = lost_work("01-server-cache-lost.yaml", &settings, |it| it.gpu_hours.unwrap().expected);
    let more = 60.0 * (8.03e9 * 2.0 / 1_073_741_824.0) / 0.38 / 3600.0;
    assert!(is_close(effects[2].half - sum, more), "{effects:?}");
}

#[test]
fn the_interval_of_young_and_daly_ends_with_the_run() {
    // Without a limit it would be 23.8 hours, and a run takes 10.
    assert_eq!(lost_work("23-written-checkpoints.yaml", &settings(), |it| it.best_interval()), Some(10.0));
    let best = lost_work("17-instance.tf", &settings(), |it| it.best_interval()).unwrap();
    assert!((best - 23.793_942).abs() < 1e-3, "{best}");
}

#[test]
fn remedies_are_sorted_by_their_cost() {
    let settings = settings();
    let names = |file: &str| {
        let remedies = lost_work(file, &settings, |it| it.remedies());
        remedies.iter().map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(names("01-server-cache-lost.yaml"), ["image-streaming", "weights-cache"]);
    assert_eq!(names("02-server-cache-kept.yaml"), ["image-streaming"]);
    assert_eq!(names("17-instance.tf"), ["checkpoint-interval", "on-demand"]);
    assert_eq!(names("20-probe.yaml"), ["probe"]);
    assert_eq!(names("09-nightly-on-demand.yaml"), Vec::<&str>::new());
}
