//! Measures the estimator on a table of cases: `GPULINT_FIT_CASES=cases.csv cargo test --test it fit_cases --
//! --nocapture`.
//!
//! `GPULINT_FIT_OUTPUT=lines.jsonl` stores the answer for each row. Rows with evidence `formula` and rows that their
//! note excludes are left out. A workload fits if its need is within the budget.

#![allow(clippy::print_stdout, reason = "a measurement is there to be read")]

use std::collections::{BTreeMap, HashMap};

use gpulint::catalog::Catalog;
use gpulint::fit::cases;
use gpulint::source::csv_records;
use serde_json::Value;

use crate::skipped::skip;

#[derive(Default)]
struct Score {
    right_yes: usize,
    wrong_yes: usize,
    right_no: usize,
    wrong_no: usize,
}

impl Score {
    fn add(&mut self, fits: bool, said: bool) {
        match (fits, said) {
            (true, true) => self.right_yes += 1,
            (true, false) => self.wrong_no += 1,
            (false, true) => self.wrong_yes += 1,
            (false, false) => self.right_no += 1,
        }
    }

    fn all(&self) -> usize {
        self.right_yes + self.wrong_yes + self.right_no + self.wrong_no
    }

    fn print(&self, name: &str) {
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let fits = share(self.right_yes, self.right_yes + self.wrong_no);
        let not = share(self.right_no, self.right_no + self.wrong_yes);
        println!(
            "{name:<28} n {:>4}  accuracy {:.3}  balanced {:.3}  fits {:.3}/{fits:.3}  does not fit {:.3}/{not:.3}  (precision/recall)",
            self.all(),
            share(self.right_yes + self.right_no, self.all()),
            (fits + not) / 2.0,
            share(self.right_yes, self.right_yes + self.wrong_yes),
            share(self.right_no, self.right_no + self.wrong_no),
        );
    }
}

fn rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut records = csv_records(text).map(|(_, record)| record.unwrap());
    let header = records.next().unwrap();
    records.map(|record| header.iter().cloned().zip(record).collect()).collect()
}

/// Returns the groups in which a row is counted: its task, combined with each deciding input that it sets.
fn groups(row: &HashMap<String, String>) -> Vec<String> {
    let task = &row["task"];
    let parts: &[&str] = match task.as_str() {
        "train" => &["context", "batch", "grad_ckpt", "optimizer"],
        "serve" => &["context", "weights"],
        _ => &[],
    };
    let said = |part: &str| if row[part].is_empty() { "not said" } else { "said" };
    let mut groups = vec![task.clone()];
    groups.extend(parts.iter().map(|part| format!("{task}, {part} {}", said(part))));
    if task == "train" {
        groups.push(format!("train, {}", row["method"]));
        let one = row["gpu_count"].parse::<f64>().unwrap_or(1.0) <= 1.0;
        let sharding = if one { "on one device" } else { said("sharding") };
        groups.push(format!("train, sharding {sharding}"));
    }
    groups
}

/// Returns the answer for the measured quantity.
fn estimated(row: &HashMap<String, String>, answer: &Value) -> Option<f64> {
    let number = |name: &str| answer[name].as_f64();
    let devices: f64 = row["gpu_count"].parse().unwrap_or(1.0);
    match row["mem_scope"].as_str() {
        "per_gpu" => number("need_gib_per_gpu"),
        "total" => number("total_gib"),
        "weights" => number("weights_gib"),
        "weights_per_gpu" => number("weights_gib").map(|gib| gib / devices),
        "kv" => number("kv_gib"),
        "kv_per_gpu" => number("kv_gib").map(|gib| gib / devices),
        _ => None,
    }
}

fn quantile(errors: &[f64], share: f64) -> f64 {
    let at = ((errors.len() as f64 - 1.0) * share).round() as usize;
    errors.get(at).copied().unwrap_or(f64::NAN)
}

#[test]
fn cases_of_the_environment() {
    let Ok(path) = std::env::var("GPULINT_FIT_CASES") else {
        return skip("GPULINT_FIT_CASES names no cases");
    };
    let text = std::fs::read_to_string(&path).unwrap();
    let lines = cases::run(&path, &text, &Catalog::embedded()).unwrap();
    if let Ok(output) = std::env::var("GPULINT_FIT_OUTPUT") {
        std::fs::write(output, &lines).unwrap();
    }
    let answers: HashMap<String, Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|answer| (answer["id"].as_str().unwrap().to_owned(), answer))
        .collect();
    let (mut all, mut serving, mut training, mut sure, mut sure_training) =
        (Score::default(), Score::default(), Score::default(), Score::default(), Score::default());
    let mut errors: Vec<(String, f64)> = Vec::new();
    let mut borderline = 0;
    // Counts right, wrong, borderline and unanswered rows, by the known inputs.
    let mut split: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for row in rows(&text) {
        let answer = &answers[&row["id"]];
        if row["evidence"] == "formula" || row["notes"].contains("excluded from scoring") {
            continue;
        }
        if let (Ok(measured), Some(estimate)) = (row["mem_gib"].parse::<f64>(), estimated(&row, answer)) {
            errors.push((row["task"].clone(), (estimate / measured - 1.0).abs()));
        }
        let (Some(need), Some(budget)) = (answer["need_gib_per_gpu"].as_f64(), answer["budget_gib_per_gpu"].as_f64())
        else {
            continue;
        };
        let fits = match row["fits"].as_str() {
            "yes" => true,
            "no" => false,
            _ => continue,
        };
        all.add(fits, need <= budget);
        let place = match answer["verdict"].as_str() {
            Some("borderline") => 2,
            Some(verdict @ ("fits" | "does-not-fit")) => usize::from((verdict == "fits") != fits),
            _ => 3,
        };
        for group in groups(&row) {
            if let Some(count) = split.entry(group).or_default().get_mut(place) {
                *count += 1;
            }
        }
        let is_serving = row["task"] == "serve";
        if is_serving {
            serving.add(fits, need <= budget)
        }
        if row["task"] == "train" {
            training.add(fits, need <= budget)
        }
        match answer["verdict"].as_str() {
            Some("borderline") => borderline += usize::from(is_serving),
            Some(verdict) if is_serving => sure.add(fits, verdict == "fits"),
            Some(verdict) if row["task"] == "train" => sure_training.add(fits, verdict == "fits"),
            _ => {}
        }
    }
    println!();
    all.print("all");
    serving.print("serving");
    training.print("training");
    sure.print("serving without borderline");
    sure_training.print("training without borderline");
    println!("serving borderline {borderline}");
    for (group, [right, wrong, borderline, nothing]) in &split {
        println!("{group:<40} right {right:>4}  wrong {wrong:>3}  borderline {borderline:>4}  nothing {nothing:>3}");
    }
    for task in ["", "serve", "train"] {
        let mut of_task: Vec<f64> =
            errors.iter().filter(|(of, _)| of.contains(task)).map(|(_, error)| *error).collect();
        of_task.sort_by(f64::total_cmp);
        println!(
            "memory error {task:<6} n {:>4}  median {:.3}  p75 {:.3}  p90 {:.3}",
            of_task.len(),
            quantile(&of_task, 0.5),
            quantile(&of_task, 0.75),
            quantile(&of_task, 0.9),
        );
    }
}
