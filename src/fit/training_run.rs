//! Estimates the days of a training run: six operations for each weight and token, at the measured share of the
//! accelerators' peak speed. There is no estimate if measurements are too few or differ too much.

use super::demand::FitDemand;
use super::speed::SpeedRange;
use super::workload::TuningMethod;
use crate::catalog::{Catalog, Modality, Precision, TrainingShare};
use crate::inventory::{Fact, Key, Resource};
use crate::pricing::BillItem;

/// A training run, with the terms of its duration.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingRun {
    /// The training tokens.
    pub tokens: f64,
    pub params_b: f64,
    /// The machines or pods that train together.
    pub machines: f64,
    /// The accelerators of all machines.
    pub accelerators: f64,
    pub accelerator: String,
    pub precision: &'static str,
    pub peak_tflops: f64,
    /// The share of the peak speed.
    pub share: SpeedRange,
    pub rows: f64,
    pub sources: f64,
    pub as_of: String,
    pub source: String,
    pub days: SpeedRange,
}

/// The factor by which training speeds differ between recipes, up or down. No range is narrower. Source: a study of
/// 509 published measurements of training, 2026-11-22.
const NO_CLOSER: f64 = 1.5;

/// The longest sequence with an estimate. Longer sequences spend much time on attention, which six operations per
/// weight and token leave out. Their measured speed was as low as a tenth of that of shorter ones (2026-11-22).
const LONGEST_SEQUENCE: f64 = 8192.0;

/// The smallest model with measurements, in billions of parameters.
const SMALLEST_B: f64 = 1.0;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Returns the days of a declared training run, or `None` if no number of tokens is declared.
pub(super) fn training_run(
    resource: &Resource,
    demand: &FitDemand<'_>,
    catalog: &Catalog,
    accelerator: &str,
) -> Option<Result<TrainingRun, &'static str>> {
    match resource.fact(Key::TrainTokens) {
        Fact::Known(known) => {
            let tokens = known.value.as_number().filter(|tokens| *tokens > 0.0)?;
            Some(estimated(resource, demand, catalog, accelerator, tokens))
        }
        Fact::Unknown(_) => Some(Err("the number of training tokens is unknown")),
        Fact::Absent => None,
    }
}

fn estimated(
    resource: &Resource,
    demand: &FitDemand<'_>,
    catalog: &Catalog,
    accelerator: &str,
    tokens: f64,
) -> Result<TrainingRun, &'static str> {
    let precision = was_measured(demand)?;
    let share = catalog.training_share(accelerator, precision).ok_or(
        "for training on these accelerators in this precision, there are too few measurements, or they differ too much",
    )?;
    let (machines, each) = together(resource)?;
    let accelerators = machines * each;
    let (least, most) = share.accelerators;
    if accelerators < least || accelerators > most {
        return Err("there are no measurements with this number of accelerators");
    }
    let peak = catalog.peak(accelerator).ok_or("gpulint does not know the peak speed of these accelerators")?;
    let peak_tflops = if precision == "fp8" { peak.fp8_tflops } else { Some(peak.bf16_tflops) };
    let peak_tflops = peak_tflops
        .filter(|it| *it > 0.0)
        .ok_or("gpulint does not know the speed of these accelerators in this precision")?;
    let reached = reached(&share);
    let params_b = demand.model.params_b;
    let at_peak = days_at_peak(params_b, tokens, accelerators, peak_tflops);
    Ok(TrainingRun {
        tokens,
        params_b,
        machines,
        accelerators,
        accelerator: accelerator.to_owned(),
        precision,
        peak_tflops,
        share: reached,
        rows: share.rows,
        sources: share.sources,
        as_of: share.as_of.to_owned(),
        source: share.source.to_owned(),
        days: SpeedRange {
            floor: at_peak / reached.ceiling,
            expected: at_peak / reached.expected,
            ceiling: at_peak / reached.floor,
        },
    })
}

/// Returns the precision if there are measurements of such training: dense text models, fully trained, without
/// offloading.
fn was_measured(demand: &FitDemand<'_>) -> Result<&'static str, &'static str> {
    if demand.training.method != TuningMethod::Full {
        return Err("there are no measurements of adapter training");
    }
    if demand.model.is_mixture() {
        return Err("measurements of mixture-of-experts models differ too much");
    }
    if !matches!(demand.model.modality, Modality::Text) {
        return Err("there are only measurements of text models");
    }
    if demand.model.params_b < SMALLEST_B {
        return Err("there are no measurements of models with less than one billion parameters");
    }
    if demand.context > LONGEST_SEQUENCE {
        return Err(
            "gpulint does not estimate sequences of more than 8,192 tokens, because attention takes too much of the time",
        );
    }
    if demand.offloaded || demand.training.optimizer_offloaded {
        return Err("there are no measurements of training with offloading to the host");
    }
    match demand.precision {
        Precision::Bf16 => Ok("bf16"),
        Precision::Fp8 => Ok("fp8"),
        _ => Err("there are only measurements of training in bf16 and fp8"),
    }
}

/// Returns the machines or pods that train together, and the accelerators of each.
fn together(resource: &Resource) -> Result<(f64, f64), &'static str> {
    const UNKNOWN: &str = "the number of machines or pods that train together is unknown";
    let count = resource.count.value().filter(|count| count.floor == count.ceiling && count.expected >= 1.0);
    let each = resource.number(Key::AcceleratorCount).filter(|each| *each >= 1.0);
    let part = resource.fact(Key::Slice).value().is_some();
    // Each machine that a block creates by its count is a resource of its own with the same labels.
    let alike = resource.number(Key::Instances).filter(|alike| *alike >= 1.0).unwrap_or(1.0);
    match (count, each) {
        (Some(count), Some(each)) if !part => Ok((count.expected * alike, each)),
        (Some(_), _) => Err("gpulint does not estimate parts of accelerators"),
        (None, _) => Err(UNKNOWN),
    }
}

/// Returns the range from the 10th to the 90th percentile of the measurements, but no narrower than `NO_CLOSER`.
fn reached(share: &TrainingShare<'_>) -> SpeedRange {
    SpeedRange {
        floor: share.least.min(share.middle / NO_CLOSER),
        expected: share.middle,
        ceiling: share.most.max(share.middle * NO_CLOSER).min(1.0),
    }
}

/// Returns 6 x parameters x tokens / (accelerators x peak), in days.
fn days_at_peak(params_b: f64, tokens: f64, accelerators: f64, peak_tflops: f64) -> f64 {
    6.0 * params_b * 1e9 * tokens / (accelerators * peak_tflops * 1e12) / SECONDS_PER_DAY
}

/// Returns the cost of one run: by its time limit or the settings, or else by its training tokens.
pub fn cost_per_run(item: &BillItem, run: Option<&TrainingRun>) -> Option<SpeedRange> {
    if let Some(run) = &item.run {
        let usd = run.amount;
        return Some(SpeedRange { floor: usd.floor.usd(), expected: usd.expected.usd(), ceiling: usd.ceiling.usd() });
    }
    by_tokens(item, run?)
}

/// Returns the cost of a training run: days × 24 × the hourly cost of all machines.
pub fn by_tokens(item: &BillItem, run: &TrainingRun) -> Option<SpeedRange> {
    let hour = item.per_hour?;
    let hours = run.days.times(24.0 * run.machines);
    Some(SpeedRange {
        floor: hour.floor.usd() * hours.floor,
        expected: hour.expected.usd() * hours.expected,
        ceiling: hour.ceiling.usd() * hours.ceiling,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_operations_over_what_accelerators_do() {
        // 6 x 10e9 x 864e9 / (100 x 1000e12) = 518,400 seconds = 6 days.
        assert_eq!(days_at_peak(10.0, 864e9, 100.0, 1000.0), 6.0);
    }

    #[test]
    fn a_run_costs_its_hours_and_what_ends_it_comes_first() {
        use crate::catalog::{Money, MoneyRange};
        use crate::inventory::Range;
        use crate::pricing::PricedRun;
        let days = SpeedRange { floor: 1.0, expected: 1.5, ceiling: 3.0 };
        let run = TrainingRun {
            tokens: 1e9,
            params_b: 8.0,
            machines: 2.0,
            accelerators: 16.0,
            accelerator: "H100-80GB".to_owned(),
            precision: "bf16",
            peak_tflops: 989.0,
            share: days,
            rows: 1.0,
            sources: 1.0,
            as_of: String::new(),
            source: String::new(),
            days,
        };
        let hour = MoneyRange::exactly(Money::from_usd(10.0));
        let item = BillItem { per_hour: Some(hour), ..BillItem::default() };
        // The run takes 1 to 3 days of 24 hours on two machines for $10 per hour.
        let by_days = SpeedRange { floor: 480.0, expected: 720.0, ceiling: 1440.0 };
        assert_eq!(cost_per_run(&item, Some(&run)), Some(by_days));
        assert_eq!(cost_per_run(&item, None), None);
        assert_eq!(cost_per_run(&BillItem::default(), Some(&run)), None);
        let limit = PricedRun { hours: Range::exactly(3.0), because: String::new(), amount: hour };
        let limited = BillItem { run: Some(limit), ..item };
        let by_limit = SpeedRange { floor: 10.0, expected: 10.0, ceiling: 10.0 };
        assert_eq!(cost_per_run(&limited, Some(&run)), Some(by_limit));
    }

    #[test]
    fn nothing_closer_than_the_study_allows() {
        let catalog = Catalog::embedded();
        for (accelerator, precision) in
            [("A100-40GB", "bf16"), ("H100-80GB", "bf16"), ("GB200", "fp8"), ("GB300", "fp8")]
        {
            let share = catalog.training_share(accelerator, precision).unwrap();
            assert!(share.least <= share.middle && share.middle <= share.most, "{share:?}");
            let range = reached(&share);
            assert!(range.floor <= range.expected / 1.5 && range.floor <= share.least, "{range:?}");
            assert!(range.ceiling >= range.expected * 1.5 && range.ceiling >= share.most, "{range:?}");
        }
        let wide = TrainingShare { least: 0.1, most: 0.9, ..catalog.training_share("H100-80GB", "bf16").unwrap() };
        assert_eq!((reached(&wide).floor, reached(&wide).ceiling), (0.1, 0.9));
        // For one of these, three sources differ by up to 67%. For the others, there are only two rows.
        for (accelerator, precision) in
            [("H100-80GB", "fp8"), ("B200", "fp8"), ("H200", "fp8"), ("MI300X", "bf16"), ("TRN1", "bf16")]
        {
            assert_eq!(catalog.training_share(accelerator, precision), None, "{accelerator} {precision}");
        }
    }
}
