//! Whether a model fits, for `gpulint fit`.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::json::{self, Number};
use super::money::{usd, usd_per_hour};
use super::text::Table;
use super::{Format, escape};
use crate::fit::{Assessment, Choice};
use crate::inventory::Fact;
use crate::pricing::HOURS_PER_MONTH;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    model: Option<&'a str>,
    precision: Option<&'a str>,
    devices: Option<Number>,
    need_gib_per_gpu: Option<Number>,
    budget_gib_per_gpu: Option<Number>,
    breakdown: BTreeMap<&'static str, Number>,
    options: Vec<Chosen<'a>>,
}

#[derive(Serialize)]
struct Chosen<'a> {
    provider: &'a str,
    machine: &'a str,
    accelerator: &'a str,
    count: Number,
    usd_per_hour: Number,
    need_gib_per_gpu: Number,
    budget_gib_per_gpu: Number,
}

/// The answer in a format; `None` where there is no such format for it.
pub fn fit(format: Format, fact: &Fact<Assessment>, options: &[Choice]) -> Option<String> {
    match format {
        Format::Json => Some(as_json(fact, options)),
        Format::Text => Some(as_text(fact, options)),
        _ => None,
    }
}

fn as_json(fact: &Fact<Assessment>, options: &[Choice]) -> String {
    let known = fact.value();
    json::print(&Document {
        version: json::VERSION,
        verdict: known.map_or("unknown", |it| it.verdict.name()),
        cause: fact.why(),
        model: known.map(|it| it.model.as_str()),
        precision: known.map(|it| it.precision),
        devices: known.map(|it| Number(it.devices)),
        need_gib_per_gpu: known.map(|it| rounded(it.need_gib)),
        budget_gib_per_gpu: known.map(|it| rounded(it.budget_gib)),
        breakdown: known.iter().flat_map(|it| &it.breakdown).map(|(name, gib)| (*name, rounded(*gib))).collect(),
        options: options.iter().map(chosen).collect(),
    })
}

fn chosen(choice: &Choice) -> Chosen<'_> {
    Chosen {
        provider: &choice.provider,
        machine: &choice.machine,
        accelerator: &choice.accelerator,
        count: Number(choice.count),
        usd_per_hour: choice.per_hour.into(),
        need_gib_per_gpu: rounded(choice.need_gib),
        budget_gib_per_gpu: rounded(choice.budget_gib),
    }
}

/// To a thousandth of a GiB: the formula is not that exact.
fn rounded(gib: f64) -> Number {
    Number((gib * 1e3).round() / 1e3)
}

fn as_text(fact: &Fact<Assessment>, options: &[Choice]) -> String {
    let mut text = String::new();
    match (fact.value(), fact.why()) {
        (Some(it), _) => {
            let (need, budget) = (it.need_gib, it.budget_gib);
            let _ = writeln!(text, "{}: {need:.1} GiB needed of {budget:.1} GiB on each GPU", it.verdict.name());
            let _ = writeln!(
                text,
                "{} in {} for {} tokens on {} GPUs",
                escape::one_line(&it.model),
                it.precision,
                it.context,
                it.devices
            );
            for (name, gib) in it.breakdown.iter().filter(|(_, gib)| **gib > 0.0) {
                let _ = writeln!(text, "  {name:<12} {gib:>8.1} GiB");
            }
        }
        (None, Some(why)) => {
            let _ = writeln!(text, "unknown: {}", escape::one_line(why));
        }
        (None, None) => text.push_str("unknown: no accelerator was named\n"),
    }
    if !options.is_empty() {
        let mut table = Table::new(&["it fits on", "", "an hour", "a month", "GiB of"], 2..5);
        for choice in options {
            table.row(vec![
                format!("{} {}", choice.provider, choice.machine),
                format!("{} × {}", choice.count, choice.accelerator),
                usd_per_hour(choice.per_hour),
                usd(choice.per_hour.times(HOURS_PER_MONTH)),
                format!("{:.1} of {:.1}", choice.need_gib, choice.budget_gib),
            ]);
        }
        let _ = write!(text, "\n{}", table.print());
    }
    text
}
