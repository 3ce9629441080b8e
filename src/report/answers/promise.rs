//! Writes the machines that hold a promise, for `gpulint fit --ttft --tpot --load`.

use std::fmt::Write;

use serde::Serialize;

use crate::catalog::{Currency, Money, Quote};
use crate::fit::promise::{ByPromise, PromiseChoice};
use crate::fit::published::Quotation;
use crate::fit::speed::SpeedRange;
use crate::fit::{ServerGoal, format_rate};
use crate::pricing::HOURS_PER_MONTH;
use crate::report::formats::json;
use crate::report::formats::json::{WireNumber, WireRange};
use crate::report::formats::text::TextTable;
use crate::report::views::table::{Columns, columns};
use crate::report::{Format, ReportStyle, escape};

/// The cheaper configurations that are shown.
const MOST: usize = 3;

/// The promise and the machines that hold it.
pub struct PromiseAnswer<'a> {
    pub model: &'a str,
    pub goal: &'a ServerGoal,
    pub found: &'a ByPromise,
    /// The prices of the first machine.
    pub quote: Option<&'a Quote<'a>>,
    /// A published measurement of the first machine under nearly the same load.
    pub measured: Option<&'a Quotation<'a>>,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    input_tokens: WireNumber,
    output_tokens: WireNumber,
    promise: Promise,
    /// What surely holds the promise, the cheapest first.
    options: Vec<Row<'a>>,
    /// What holds it with weights of fewer bits, and costs less.
    quantized: Vec<Row<'a>>,
    /// What holds it as expected, but not at the slow end of the range, and costs less.
    unproved: Vec<Row<'a>>,
    purchases: Vec<Purchase<'a>>,
    measured: Option<String>,
    missing: usize,
    not_estimated: Vec<NotEstimated<'a>>,
}

#[derive(Serialize)]
struct Promise {
    ttft_ms: Option<WireNumber>,
    ms_per_token: Option<WireNumber>,
    requests_per_s: Option<WireNumber>,
}

#[derive(Serialize)]
struct Row<'a> {
    provider: &'a str,
    machine: &'a str,
    region: &'a str,
    accelerator: &'a str,
    count: WireNumber,
    machines: WireNumber,
    replicas: WireNumber,
    tensor_parallel: WireNumber,
    precision: &'static str,
    usd_per_hour: WireNumber,
    usd_per_month: WireNumber,
    requests_at_a_time: WireNumber,
    ttft_ms: Option<WireRange>,
    ms_per_token: WireRange,
}

/// Another way to buy the first machines.
#[derive(Serialize)]
struct Purchase<'a> {
    purchase: &'static str,
    usd_per_month: WireNumber,
    note: &'a str,
}

#[derive(Serialize)]
struct NotEstimated<'a> {
    configurations: usize,
    because: &'a str,
}

/// Returns the answer in a format; `None` if the command does not support the format.
pub fn by_promise(format: Format, answer: &PromiseAnswer<'_>, style: ReportStyle) -> Option<String> {
    match format {
        Format::Json => Some(as_json(answer)),
        Format::Text => Some(as_text(answer, style)),
        _ => None,
    }
}

fn as_json(answer: &PromiseAnswer<'_>) -> String {
    let found = answer.found;
    json::print(&Document {
        version: json::VERSION,
        input_tokens: WireNumber(found.lengths.0),
        output_tokens: WireNumber(found.lengths.1),
        promise: Promise {
            ttft_ms: answer.goal.ms_to_first_token.map(WireNumber),
            ms_per_token: answer.goal.ms_per_token.map(WireNumber),
            requests_per_s: answer.goal.requests_per_second(found.lengths.1).map(WireNumber),
        },
        options: found.holding.iter().map(row).collect(),
        quantized: found.quantized.iter().take(MOST).map(row).collect(),
        unproved: found.unproved.iter().take(MOST).map(row).collect(),
        purchases: other_purchases(answer)
            .into_iter()
            .map(|(purchase, month, note)| Purchase { purchase, usd_per_month: month.into(), note })
            .collect(),
        measured: answer.measured.map(Quotation::format_quotation),
        missing: found.missing,
        not_estimated: found
            .without
            .iter()
            .map(|(configurations, because)| NotEstimated { configurations: *configurations, because })
            .collect(),
    })
}

fn row(it: &PromiseChoice) -> Row<'_> {
    Row {
        provider: &it.choice.provider,
        machine: &it.choice.machine,
        region: &it.region,
        accelerator: &it.choice.accelerator,
        count: WireNumber(it.choice.count),
        machines: WireNumber(it.machines),
        replicas: WireNumber(it.replicas),
        tensor_parallel: WireNumber(it.choice.devices),
        precision: it.precision.name(),
        usd_per_hour: it.per_hour.into(),
        usd_per_month: month(it).into(),
        requests_at_a_time: WireNumber(it.requests),
        ttft_ms: it.speed.ms_to_first_token.map(Into::into),
        ms_per_token: per_token(it).into(),
    }
}

fn month(it: &PromiseChoice) -> Money {
    it.per_hour.times(HOURS_PER_MONTH)
}

/// Returns the range of the time per token, up to the time that decides.
fn per_token(it: &PromiseChoice) -> SpeedRange {
    SpeedRange { ceiling: it.speed.slowest_ms_per_token(), ..it.speed.ms_per_token }
}

/// Returns the other ways to buy the first machines: the name, the price per month and a note.
fn other_purchases<'a>(answer: &PromiseAnswer<'a>) -> Vec<(&'static str, Money, &'a str)> {
    let (Some(first), Some(quote)) = (answer.found.holding.first(), answer.quote) else { return Vec::new() };
    let ways = [
        ("spot", quote.spot, quote.interruption),
        ("1-year commitment", quote.reserved_1y, ""),
        ("3-year commitment", quote.reserved_3y, ""),
    ];
    let of_all = |price: Money| price.times(first.machines * HOURS_PER_MONTH);
    ways.into_iter().filter_map(|(name, price, note)| Some((name, of_all(price?), note))).collect()
}

fn as_text(answer: &PromiseAnswer<'_>, style: ReportStyle) -> String {
    let (found, mut text) = (answer.found, String::new());
    match found.holding.first() {
        Some(first) => {
            text.push_str(&winner(answer, first));
            let _ = writeln!(text, "\n{}", table(&found.holding, style).trim_end());
        }
        None => {
            let promise = answer.goal.format_limits(found.lengths.1);
            let _ = writeln!(text, "no machine in the catalog surely holds {promise}");
        }
    }
    text.push_str(&cheaper("cheaper with 8-bit weights; evaluate the quality of the answers first", &found.quantized));
    text.push_str(&cheaper(
        "cheaper, but not proved: the promise is within the range of the estimate",
        &found.unproved,
    ));
    let (prompt, answer_tokens) = found.lengths;
    let _ = writeln!(text, "\nestimates for prompts of {prompt} tokens and answers of {answer_tokens} tokens");
    text.push_str(
        "the time to the first token is a mean, not a percentile; requests are spread evenly over the replicas\n",
    );
    if found.missing > 0 {
        let _ = writeln!(text, "not surely fast enough: {}", configurations(found.missing));
    }
    for (count, why) in &found.without {
        let _ = writeln!(text, "no estimate for {}: {why}", configurations(*count));
    }
    text
}

fn configurations(count: usize) -> String {
    let noun = if count == 1 { "configuration" } else { "configurations" };
    format!("{count} {noun}")
}

/// Returns the first line and the evidence for it.
fn winner(answer: &PromiseAnswer<'_>, first: &PromiseChoice) -> String {
    let mut text = String::new();
    let choice = &first.choice;
    let place = if first.region == "*" { String::new() } else { format!(" in {}", first.region) };
    let each = if first.machines == 1.0 { "" } else { " each" };
    let _ = writeln!(
        text,
        "cheapest: {} × {} {} ({} × {}{each}){place}, {}/month on demand; holds {}",
        first.machines,
        choice.provider,
        choice.machine,
        choice.count,
        choice.accelerator,
        Currency::USD.amount(month(first)),
        held(answer.goal, first, answer.found.lengths.1)
    );
    let copies = if first.replicas == 1.0 { "1 copy".to_owned() } else { format!("{} copies", first.replicas) };
    let devices =
        if choice.devices == 1.0 { "1 accelerator".to_owned() } else { format!("{} accelerators", choice.devices) };
    let _ = writeln!(
        text,
        "  serves    {copies} of {} in {}, each on {devices} with up to {} at a time",
        escape::one_line(answer.model),
        first.precision.name(),
        requests(first.requests)
    );
    let mut evidence = vec![format!("{} ms per token", span(per_token(first)))];
    evidence.extend(first.speed.ms_to_first_token.map(|range| format!("{} ms to the first token", span(range))));
    let _ = writeln!(text, "  estimate  {}; {}", evidence.join(", "), first.speed.group);
    match answer.measured {
        Some(found) => {
            let rate = plain(found.row.tokens_per_second);
            let _ = writeln!(text, "  measured  {rate} tokens/s, {}", escape::one_line(&found.format_quotation()));
        }
        None => text.push_str("  measured  no published measurement of this server in the tables\n"),
    }
    for (name, price, note) in other_purchases(answer) {
        let risk = match (name, note) {
            ("spot", "") => {
                "; the cloud can take spot machines back, so use spot only for a part of the replicas".to_owned()
            }
            ("spot", rate) => format!("; interrupted: {rate}, so use spot only for a part of the replicas"),
            _ => String::new(),
        };
        let _ = writeln!(text, "  {name}: {}/month{risk}", Currency::USD.amount(price));
    }
    text
}

/// Returns what the machines hold, at the slow end of the range.
fn held(goal: &ServerGoal, it: &PromiseChoice, answer: f64) -> String {
    let first = it.speed.ms_to_first_token.map(|range| format!("TTFT ≤ {} ms", up(range.ceiling)));
    let token = format!("TPOT ≤ {} ms", up(it.speed.slowest_ms_per_token()));
    let limits: Vec<String> = first.into_iter().chain([token]).collect();
    let limits = limits.join(" and ");
    match goal.requests_per_second(answer) {
        Some(rate) => format!("{} at {limits}", format_rate(rate)),
        None => format!("{} at a time at {limits}", requests(it.requests)),
    }
}

fn requests(count: f64) -> String {
    if count == 1.0 { "1 request".to_owned() } else { format!("{count} requests") }
}

fn cheaper(heading: &str, choices: &[PromiseChoice]) -> String {
    if choices.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{heading}:\n");
    for it in choices.iter().take(MOST) {
        let first = it.speed.ms_to_first_token.map_or(String::new(), |range| format!(", TTFT {} ms", span(range)));
        let _ = writeln!(
            text,
            "  {} × {} {} ({} × {}, {}), {}/month: TPOT {} ms{first}",
            it.machines,
            it.choice.provider,
            it.choice.machine,
            it.choice.count,
            it.choice.accelerator,
            it.precision.name(),
            Currency::USD.amount(month(it)),
            span(per_token(it)),
        );
    }
    text
}

fn table(choices: &[PromiseChoice], style: ReportStyle) -> String {
    let columns: &Columns<'_, &PromiseChoice> = &columns![
        "holds it" => |it| format!("{} × {} {}", it.machines, it.choice.provider, it.choice.machine),
        "accelerators" => |it| format!("{} × {}", it.choice.count, it.choice.accelerator),
        "region" => |it| if it.region == "*" { "any".to_owned() } else { it.region.clone() },
        "per month" => |it| month(it),
        "replicas" => |it| it.replicas.to_string(),
        "TTFT ms" => |it| it.speed.ms_to_first_token.map(span).unwrap_or_default(),
        "TPOT ms" => |it| span(per_token(it)),
    ];
    TextTable::of(columns, 3..7, choices, &Currency::USD).print_within(style.columns)
}

/// Rounds up to three digits, because the number is a limit.
fn up(ms: f64) -> String {
    let unit = 10_f64.powf((ms.log10().floor() - 2.0).max(-1.0));
    plain((ms / unit - 1e-9).ceil() * unit)
}

fn plain(number: f64) -> String {
    let WireNumber(number) = WireNumber::three_digits(number);
    number.to_string()
}

fn span(range: SpeedRange) -> String {
    format!("{} to {}", plain(range.floor), up(range.ceiling))
}
