//! How long training takes and what it costs, with every term, so that the sum can be redone by hand.

use std::fmt::Write;

use crate::catalog::{Currency, Money};
use crate::complete::plain;
use crate::fit::speed::SpeedRange;
use crate::fit::{TrainingRun, by_tokens};
use crate::pricing::BillItem;

/// How long the run of declared tokens takes, or why that is not said; empty where none are declared.
pub(in crate::report) fn section(training: Option<&Result<TrainingRun, &'static str>>, item: &BillItem) -> String {
    match training {
        None => String::new(),
        Some(Err(why)) => format!("\nhow long training takes is not said: {why}\n"),
        Some(Ok(run)) => {
            format!("\ntraining {} tokens, estimated\n{}{}", tokens(run.tokens), lines(run, item), cut_off(run, item))
        }
    }
}

/// That what ends the run comes before its tokens are read.
fn cut_off(run: &TrainingRun, item: &BillItem) -> String {
    match &item.run {
        Some(limit) if limit.hours.ceiling < run.days.floor * 24.0 => {
            format!("  {}: too few for these tokens, even at the best rate that was measured\n", limit.because)
        }
        Some(limit) if limit.hours.ceiling < run.days.ceiling * 24.0 => {
            format!("  {}: perhaps too few for these tokens\n", limit.because)
        }
        _ => String::new(),
    }
}

/// Days and dollars, from the least to the most: never the middle alone.
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
        "  {} {} x {} teraflops in {} = {peak:.3e} operations a second at peak: {:.2} days",
        plain(run.accelerators),
        run.accelerator,
        plain(run.peak_tflops),
        run.precision,
        operations / peak / 86_400.0
    );
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    let _ = writeln!(
        text,
        "  of the peak {} to {} is reached, {} in the middle: {} measurements of dense models with tuned recipes, {} ({}, {})",
        percent(run.share.floor),
        percent(run.share.ceiling),
        percent(run.share.expected),
        plain(run.rows),
        if run.sources == 1.0 { "one source".to_owned() } else { format!("{} sources", plain(run.sources)) },
        run.source,
        run.as_of
    );
    let _ = writeln!(text, "  {} days, without what stops and repeats", between(run.days));
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
        None => text.push_str("  what an hour of them costs is not known\n"),
    }
    text
}

/// `1.9 to 4.3`
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

/// `15 billion`
fn tokens(tokens: f64) -> String {
    let units = [(1e12, " trillion"), (1e9, " billion"), (1e6, " million")];
    match units.into_iter().find(|(unit, _)| tokens >= *unit) {
        Some((unit, name)) => format!("{}{name}", plain(tokens / unit)),
        None => plain(tokens),
    }
}
