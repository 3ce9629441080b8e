//! Whether a model fits, for `gpulint fit`.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::catalog::Currency;
use crate::fit::{Assessment, Choice};
use crate::inventory::{Fact, Task};
use crate::pricing::HOURS_PER_MONTH;
use crate::report::formats::json;
use crate::report::formats::json::Number;
use crate::report::formats::text::TextTable;
use crate::report::{Format, escape};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    model: Option<&'a str>,
    precision: Option<&'a str>,
    context: Option<Number>,
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
    usd_per_month: Number,
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
    let placed = known.and_then(|it| it.placed.value());
    json::print(&Document {
        version: json::VERSION,
        verdict: placed.map_or("unknown", |it| it.verdict.name()),
        cause: cause(fact),
        model: known.map(|it| it.model.as_str()),
        precision: known.map(|it| it.precision),
        context: known.map(|it| Number(it.context)),
        devices: placed.map(|it| Number(it.devices)),
        need_gib_per_gpu: placed.map(|it| rounded(it.need_gib)),
        budget_gib_per_gpu: placed.map(|it| rounded(it.budget_gib)),
        breakdown: placed.iter().flat_map(|it| &it.breakdown).map(|(name, gib)| (*name, rounded(*gib))).collect(),
        options: options.iter().map(chosen).collect(),
    })
}

/// Why there is no verdict.
fn cause(fact: &Fact<Assessment>) -> Option<&str> {
    fact.why().or_else(|| fact.value()?.placed.why())
}

fn chosen(choice: &Choice) -> Chosen<'_> {
    Chosen {
        provider: &choice.provider,
        machine: &choice.machine,
        accelerator: &choice.accelerator,
        count: Number(choice.count),
        usd_per_hour: choice.per_hour.into(),
        usd_per_month: choice.per_hour.times(HOURS_PER_MONTH).into(),
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
    let Some(assessment) = fact.value() else {
        let why = fact.why().unwrap_or("nothing is known of the model");
        let _ = writeln!(text, "unknown: {}", escape::one_line(why));
        text.push_str("  help: --params 7b says the size of a model that is not listed, --context what it holds\n");
        return text;
    };
    let _ = write!(
        text,
        "{}: {} billion parameters in {}, ",
        escape::one_line(&assessment.model),
        assessment.params_b,
        assessment.precision
    );
    let _ = match assessment.task {
        Task::Serve => writeln!(text, "a context of {} tokens", assessment.context),
        Task::Train => writeln!(text, "sequences of {} tokens", assessment.context),
        task => writeln!(text, "for {}", task.name()),
    };
    match (assessment.placed.value(), assessment.placed.why()) {
        (Some(placed), _) => {
            let gpus =
                if placed.devices == 1.0 { "one GPU".to_owned() } else { format!("each of {} GPUs", placed.devices) };
            let (need, budget) = (placed.need_gib, placed.budget_gib);
            let open = if placed.not_said.is_empty() {
                String::new()
            } else {
                format!("; not said: {}", placed.not_said.join(", "))
            };
            let verdict = placed.verdict.name();
            let _ = writeln!(text, "{verdict}: {need:.1} GiB needed of {budget:.1} GiB on {gpus}{open}");
            for name in PARTS {
                if let Some(gib) = placed.breakdown.get(name).filter(|gib| **gib > 0.0) {
                    let _ = writeln!(text, "  {name:<12} {gib:>8.1} GiB");
                }
            }
        }
        (None, Some(why)) => _ = writeln!(text, "unknown: {}", escape::one_line(why)),
        (None, None) => {}
    }
    text.push_str(&table(options));
    text
}

/// In the order in which people think of them.
const PARTS: [&str; 5] = ["weights", "kv", "activations", "optimizer", "overhead"];

/// Configurations by provider, the cheapest first.
fn table(options: &[Choice]) -> String {
    if options.is_empty() {
        return "\nno machine in the catalog holds it with a margin\n".to_owned();
    }
    let mut table = TextTable::new(&["it fits on", "", "an hour", "a month", "GiB of each"], 2..5);
    for choice in options {
        table.row(vec![
            format!("{} {}", choice.provider, choice.machine),
            if choice.devices < choice.count {
                format!("{} of {} × {}", choice.devices, choice.count, choice.accelerator)
            } else {
                format!("{} × {}", choice.count, choice.accelerator)
            },
            Currency::USD.per_hour(choice.per_hour),
            Currency::USD.amount(choice.per_hour.times(HOURS_PER_MONTH)),
            format!("{:.1} of {:.1}", choice.need_gib, choice.budget_gib),
        ]);
    }
    format!("\n{}", table.print())
}
