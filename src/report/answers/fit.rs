//! Answers whether a model fits, for `gpulint fit`.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::catalog::Currency;
use crate::fit::speed::SpeedRange;
use crate::fit::{Assessment, FitChoice, TrainingRun, by_tokens, cost_of_tokens};
use crate::inventory::{Fact, Task};
use crate::pricing::{BillItem, HOURS_PER_MONTH};
use crate::report::formats::json;
use crate::report::formats::json::{WireNumber, WireRange};
use crate::report::formats::text::TextTable;
use crate::report::views::table::{Columns, columns};
use crate::report::views::training_run;
use crate::report::{Format, ReportStyle, escape};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    /// The reason why gpulint chose this model for the given name.
    #[serde(skip_serializing_if = "Option::is_none")]
    inferred: Option<&'a str>,
    model: Option<&'a str>,
    precision: Option<&'a str>,
    context: Option<WireNumber>,
    devices: Option<WireNumber>,
    need_gib_per_gpu: Option<WireNumber>,
    budget_gib_per_gpu: Option<WireNumber>,
    breakdown: BTreeMap<&'static str, WireNumber>,
    #[serde(skip_serializing_if = "Option::is_none")]
    training: Option<Trained<'a>>,
    options: Vec<Chosen<'a>>,
}

/// The training run of the declared tokens; without numbers if it cannot be estimated.
#[derive(Serialize)]
struct Trained<'a> {
    because: Option<&'a str>,
    tokens: Option<WireNumber>,
    accelerators: Option<WireNumber>,
    peak_tflops: Option<WireNumber>,
    share_of_peak: Option<WireRange>,
    days: Option<WireRange>,
    usd: Option<WireRange>,
    as_of: Option<&'a str>,
    source: Option<&'a str>,
}

#[derive(Serialize)]
struct Chosen<'a> {
    provider: &'a str,
    machine: &'a str,
    accelerator: &'a str,
    count: WireNumber,
    usd_per_hour: WireNumber,
    usd_per_month: WireNumber,
    need_gib_per_gpu: WireNumber,
    budget_gib_per_gpu: WireNumber,
    /// The largest context that fits with a margin.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_context: Option<WireNumber>,
    /// At full load.
    #[serde(skip_serializing_if = "Option::is_none")]
    usd_per_million_tokens: Option<WireRange>,
}

/// Returns the answer in a format; `None` if the command does not support the format.
pub fn fit(
    format: Format,
    fact: &Fact<Assessment>,
    item: &BillItem,
    options: &[FitChoice],
    style: ReportStyle,
) -> Option<String> {
    match format {
        Format::Json => Some(as_json(fact, item, options)),
        Format::Text => Some(as_text(fact, item, options, style)),
        _ => None,
    }
}

fn as_json(fact: &Fact<Assessment>, item: &BillItem, options: &[FitChoice]) -> String {
    let known = fact.value();
    let placed = known.and_then(|it| it.placed.value());
    json::print(&Document {
        version: json::VERSION,
        verdict: placed.map_or("unknown", |it| it.verdict.name()),
        cause: cause(fact),
        inferred: known.and_then(|it| it.model_taken_for.as_deref()),
        model: known.map(|it| it.model.as_str()),
        precision: known.map(|it| it.precision),
        context: known.map(|it| WireNumber(it.context)),
        devices: placed.map(|it| WireNumber(it.devices)),
        need_gib_per_gpu: placed.map(|it| rounded(it.need_gib)),
        budget_gib_per_gpu: placed.map(|it| rounded(it.budget_gib)),
        breakdown: placed.iter().flat_map(|it| &it.breakdown).map(|(name, gib)| (*name, rounded(*gib))).collect(),
        training: placed.and_then(|it| it.training.as_ref()).map(|it| trained(it, item)),
        options: options.iter().map(chosen).collect(),
    })
}

fn trained<'a>(training: &'a Result<TrainingRun, &'static str>, item: &BillItem) -> Trained<'a> {
    let run = training.as_ref().ok();
    Trained {
        because: training.as_ref().err().copied(),
        tokens: run.map(|it| WireNumber(it.tokens)),
        accelerators: run.map(|it| WireNumber(it.accelerators)),
        peak_tflops: run.map(|it| WireNumber(it.peak_tflops)),
        share_of_peak: run.map(|it| ends(it.share, 1e-3)),
        days: run.map(|it| ends(it.days, 1e-3)),
        usd: run.and_then(|it| by_tokens(item, it)).map(|it| ends(it, 1e-2)),
        as_of: run.map(|it| it.as_of.as_str()),
        source: run.map(|it| it.source.as_str()),
    }
}

/// Rounds to whole units: the estimate is not more precise.
fn ends(range: SpeedRange, unit: f64) -> WireRange {
    let rounded = |number: f64| WireNumber((number / unit).round() / (1.0 / unit).round());
    WireRange { floor: rounded(range.floor), expected: rounded(range.expected), ceiling: rounded(range.ceiling) }
}

/// Returns why there is no verdict.
fn cause(fact: &Fact<Assessment>) -> Option<&str> {
    fact.why().or_else(|| fact.value()?.placed.why())
}

fn chosen(choice: &FitChoice) -> Chosen<'_> {
    Chosen {
        provider: &choice.provider,
        machine: &choice.machine,
        accelerator: &choice.accelerator,
        count: WireNumber(choice.count),
        usd_per_hour: choice.per_hour.into(),
        usd_per_month: choice.per_hour.times(HOURS_PER_MONTH).into(),
        need_gib_per_gpu: rounded(choice.need_gib),
        budget_gib_per_gpu: rounded(choice.budget_gib),
        largest_context: choice.largest_context.map(WireNumber),
        usd_per_million_tokens: per_million(choice).map(|it| ends(it, 1e-3)),
    }
}

/// Returns the dollars for a million generated tokens at full load.
pub(super) fn per_million(choice: &FitChoice) -> Option<SpeedRange> {
    let hour = choice.per_hour.usd();
    Some(cost_of_tokens(choice.speed.as_ref()?.tokens_per_second, hour, hour, hour))
}

/// Rounds to a thousandth of a GiB: the formula is not more precise.
fn rounded(gib: f64) -> WireNumber {
    WireNumber((gib * 1e3).round() / 1e3)
}

fn as_text(fact: &Fact<Assessment>, item: &BillItem, options: &[FitChoice], style: ReportStyle) -> String {
    let mut text = String::new();
    let Some(assessment) = fact.value() else {
        let why = fact.why().unwrap_or("the model is unknown");
        let _ = writeln!(text, "unknown: {}", escape::one_line(why));
        text.push_str(
            "  help: set what is missing: --params 7b for an unlisted model, --precision for a quantized one, --context\n",
        );
        return text;
    };
    let _ = write!(
        text,
        "{}: {} billion parameters in {}, ",
        escape::one_line(&assessment.model),
        (assessment.params_b * 1e3).round() / 1e3,
        assessment.precision
    );
    let _ = match assessment.task {
        Task::Serve => writeln!(text, "a context of {} tokens", assessment.context),
        Task::Train => writeln!(text, "sequences of {} tokens", assessment.context),
        task => writeln!(text, "for {}", task.name()),
    };
    if let Some(why) = &assessment.model_taken_for {
        let _ = writeln!(text, "{}", escape::one_line(why));
    }
    match (assessment.placed.value(), assessment.placed.why()) {
        (Some(placed), _) => {
            let gpus =
                if placed.devices == 1.0 { "one GPU".to_owned() } else { format!("each of {} GPUs", placed.devices) };
            let (need, budget) = (placed.need_gib, placed.budget_gib);
            let open = if placed.not_said.is_empty() {
                String::new()
            } else {
                format!("; not specified: {}", placed.not_said.join(", "))
            };
            let verdict = placed.verdict.name();
            let least = if placed.breakdown.contains_key("kv") { "" } else { "at least " };
            let _ = writeln!(text, "{verdict}: needs {least}{need:.1} GiB of the {budget:.1} GiB on {gpus}{open}");
            for name in PARTS {
                match placed.breakdown.get(name) {
                    Some(gib) if *gib > 0.0 => _ = writeln!(text, "  {name:<12} {gib:>8.1} GiB"),
                    Some(_) => {}
                    None => _ = writeln!(text, "  {name:<12}  unknown"),
                }
            }
        }
        (None, Some(why)) => _ = writeln!(text, "unknown: {}", escape::one_line(why)),
        (None, None) => {}
    }
    if let Some(first) = options.iter().min_by_key(|it| it.per_hour).filter(|_| assessment.placed.is_absent()) {
        let _ = writeln!(text, "{}", cheapest(first));
    }
    let training = assessment.placed.value().and_then(|it| it.training.as_ref());
    text.push_str(&training_run::section(training, item));
    text.push_str(&table(options, style));
    text
}

/// Returns the answer in one line: the cheapest machine, what it costs and how much it holds.
fn cheapest(choice: &FitChoice) -> String {
    let (provider, machine) = (&choice.provider, &choice.machine);
    let month = Currency::USD.amount(choice.per_hour.times(HOURS_PER_MONTH));
    let mut line = format!("cheapest of this list: {provider} {machine}, {month}/month");
    if let Some(cost) = per_million(choice) {
        let dollars = |number: f64| WireNumber::three_digits(number).0;
        let (least, most) = (dollars(cost.floor), dollars(cost.ceiling));
        let _ = write!(line, "; a million tokens cost ${least} to ${most} at full load");
    }
    if let Some(tokens) = choice.largest_context {
        let _ = write!(line, "; a context of up to {tokens} tokens");
    }
    line
}

/// The parts of the needed memory, in the order of the report.
const PARTS: [&str; 5] = ["weights", "kv", "activations", "optimizer", "overhead"];

/// Returns the table of configurations by provider, the cheapest first.
fn table(options: &[FitChoice], style: ReportStyle) -> String {
    if options.is_empty() {
        return "\nno machine in the catalog has enough memory with a safety margin\n".to_owned();
    }
    let columns: &Columns<'_, &FitChoice> = &columns![
        "fits on" => |it| format!("{} {}", it.provider, it.machine),
        "accelerators" => |it| {
            let devices = if it.devices < it.count { format!("{} of ", it.devices) } else { String::new() };
            format!("{devices}{} × {}", it.count, it.accelerator)
        },
        "per hour" => |it| Currency::USD.per_hour(it.per_hour),
        "per month" => |it| it.per_hour.times(HOURS_PER_MONTH),
        "GiB per GPU" => |it| format!("{:.1} of {:.1}", it.need_gib, it.budget_gib),
    ];
    let table = TextTable::of(columns, 2..5, options, &Currency::USD);
    format!("\n{}", table.print_within(style.columns))
}
