//! Writes the duration and cost of training, with every term, so that readers can check the calculation.

use std::fmt::Write;

use crate::catalog::{Currency, Money};
use crate::fit::speed::SpeedRange;
use crate::fit::{TrainingRun, by_tokens};
use crate::pricing::BillItem;
use crate::resolve::plain;

/// Returns the duration of training with the declared tokens, or why it is unknown; empty if no tokens are declared.
pub(in crate::report) fn section(training: Option<&Result<TrainingRun, &'static str>>, item: &BillItem) -> String {
    match training {
        None => String::new(),
        Some(Err(why)) => format!("\ntraining time unknown: {why}\n"),
        Some(Ok(run)) => {
            format!("\nestimated training of {} tokens\n{}{}", tokens(run.tokens), lines(run, item), cut_off(run, item))
        }
    }
}

/// Returns a warning if the time limit ends the run before its tokens are processed.
fn cut_off(run: &TrainingRun, item: &BillItem) -> String {
    match &item.run {
        Some(limit) if limit.hours.ceiling < run.days.floor * 24.0 => {
            format!("  {}: too little time for these tokens, even at the best measured rate\n", limit.because)
        }
        Some(limit) if limit.hours.ceiling < run.days.ceiling * 24.0 => {
            format!("  {}: perhaps too little time for these tokens\n", limit.because)
        }
        _ => String::new(),
    }
}

/// Days and dollars, always as a range from minimum to maximum.
fn lines(run: &TrainingRun, item: &BillItem) -> String {
    let mut text = String::new();
    let operations = 6.0 * run.params_b * 1e9 * run.tokens;
    let peak = run.accelerators * run.peak_tflops * 1e12;
    let _ = writeln!(
        text,
        "  6 x {} billion parameters x {} tokens = {operations:.3e} operations",
        plain(run.params_b),
        tokens(run.tokens)
    );
    let _ = writeln!(
        text,
        "  {} {} x {} teraflops in {} = {peak:.3e} operations/s at peak: {:.2} days",
        plain(run.accelerators),
        run.accelerator,
        plain(run.peak_tflops),
        run.precision,
        operations / peak / 86_400.0
    );
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    let _ = writeln!(
        text,
        "  {} to {} of the peak is reached, {} in the middle: {} measurements of dense models with tuned recipes, {} ({}, {})",
        percent(run.share.floor),
        percent(run.share.ceiling),
        percent(run.share.expected),
        plain(run.rows),
        if run.sources == 1.0 { "one source".to_owned() } else { format!("{} sources", plain(run.sources)) },
        run.source,
        run.as_of
    );
    let _ = writeln!(text, "  {} days, without interruptions and repeated steps", between(run.days));
    match by_tokens(item, run) {
        Some(cost) => {
            let hour = item.per_hour.map(|hour| hour.expected).unwrap_or_default();
            let _ = writeln!(
                text,
                "  x 24 hours x {} x {} = {} to {}",
                plain(run.machines),
                Currency::USD.per_hour(hour),
                dollars(cost.floor),
                dollars(cost.ceiling)
            );
        }
        None => text.push_str("  the price per hour is unknown\n"),
    }
    text
}

/// Returns text such as `1.9 to 4.3`.
fn between(range: SpeedRange) -> String {
    let digits = |number: f64| match number {
        n if n >= 100.0 => format!("{n:.0}"),
        n if n >= 10.0 => format!("{n:.1}"),
        n => format!("{n:.2}"),
    };
    format!("{} to {}", digits(range.floor), digits(range.ceiling))
}

fn dollars(usd: f64) -> String {
    Currency::USD.amount(Money::from_usd(usd))
}

/// Returns text such as `15 billion`.
fn tokens(tokens: f64) -> String {
    let units = [(1e12, " trillion"), (1e9, " billion"), (1e6, " million")];
    match units.into_iter().find(|(unit, _)| tokens >= *unit) {
        Some((unit, name)) => format!("{}{name}", plain(tokens / unit)),
        None => plain(tokens),
    }
}
