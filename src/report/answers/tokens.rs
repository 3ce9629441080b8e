//! Writes the cheapest machines per generated token, for `gpulint fit --by token`.

use std::fmt::Write;

use serde::Serialize;

use crate::catalog::Currency;
use crate::fit::speed::SpeedRange;
use crate::fit::tokens::{BreakEven, ByToken, TokenCost};
use crate::report::formats::json;
use crate::report::formats::json::{WireNumber, WireRange};
use crate::report::formats::text::TextTable;
use crate::report::{Format, ReportStyle, escape};

/// The limit on configurations that are shown.
const MOST: usize = 12;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    input_tokens: WireNumber,
    output_tokens: WireNumber,
    options: Vec<Row<'a>>,
    not_estimated: Vec<NotEstimated<'a>>,
    too_slow: usize,
    hosted: Option<Hosted<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    provider: &'a str,
    machine: &'a str,
    accelerator: &'a str,
    count: WireNumber,
    usd_per_hour: WireNumber,
    tokens_per_s: WireRange,
    ms_per_token: WireRange,
    usd_per_million_at_full_load: WireRange,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd_per_million_at_traffic: Option<WireNumber>,
    beside_cheapest: &'static str,
}

#[derive(Serialize)]
struct NotEstimated<'a> {
    configurations: usize,
    because: &'a str,
}

#[derive(Serialize)]
struct Hosted<'a> {
    host: &'a str,
    hosts: usize,
    as_of: &'a str,
    source: &'a str,
    usd_per_million: WireNumber,
    cheaper_below_million_tokens_per_day: WireNumber,
    machine_could_write_so_many: bool,
    confidence: &'static str,
}

/// Returns the answer in a format; `None` if the command does not support the format.
pub fn by_token(format: Format, found: &ByToken, hosted: Option<&BreakEven<'_>>, style: ReportStyle) -> Option<String> {
    match format {
        Format::Json => Some(as_json(found, hosted)),
        Format::Text => Some(as_text(found, hosted, style)),
        _ => None,
    }
}

fn as_json(found: &ByToken, hosted: Option<&BreakEven<'_>>) -> String {
    json::print(&Document {
        version: json::VERSION,
        input_tokens: WireNumber(found.lengths.0),
        output_tokens: WireNumber(found.lengths.1),
        options: found.priced.iter().map(row).collect(),
        not_estimated: found
            .without
            .iter()
            .map(|(configurations, because)| NotEstimated { configurations: *configurations, because })
            .collect(),
        too_slow: found.too_slow,
        hosted: hosted.map(|it| Hosted {
            host: it.host.host.host,
            hosts: it.host.hosts,
            as_of: it.host.host.as_of,
            source: it.host.host.source,
            usd_per_million: WireNumber::three_digits(it.host.per_million),
            cheaper_below_million_tokens_per_day: WireNumber::three_digits(it.millions_per_day),
            machine_could_write_so_many: it.in_reach,
            confidence: "low",
        }),
    })
}

fn row(it: &TokenCost) -> Row<'_> {
    Row {
        provider: &it.choice.provider,
        machine: &it.choice.machine,
        accelerator: &it.choice.accelerator,
        count: WireNumber(it.choice.count),
        usd_per_hour: it.choice.per_hour.into(),
        tokens_per_s: it.speed.tokens_per_second.into(),
        ms_per_token: it.speed.ms_per_token.into(),
        usd_per_million_at_full_load: it.at_load.into(),
        usd_per_million_at_traffic: it.at_traffic.map(WireNumber::three_digits),
        beside_cheapest: it.beside_cheapest.name(),
    }
}

fn as_text(found: &ByToken, hosted: Option<&BreakEven<'_>>, style: ReportStyle) -> String {
    let mut text = String::new();
    if found.priced.is_empty() {
        text.push_str("no machine in the catalog has enough memory, is fast enough and has an estimate\n");
    } else {
        text.push_str(&table(&found.priced, style));
        let hidden = found.priced.len().saturating_sub(MOST);
        if hidden > 0 {
            let _ = writeln!(text, "and {hidden} more with a higher cost per token");
        }
        let (prompt, answer) = found.lengths;
        let _ = writeln!(
            text,
            "\nestimates for prompts of {prompt} tokens and answers of {answer} tokens\nreal servers never reach full load: at half of it, a token costs twice as much"
        );
    }
    if found.too_slow > 0 {
        let load = if found.at_full_load {
            " at full load; with fewer parallel requests (--concurrency), answers are faster"
        } else {
            ""
        };
        let _ = writeln!(text, "other configurations that may be too slow{load}: {}", found.too_slow);
    }
    for (configurations, why) in &found.without {
        let noun = if *configurations == 1 { "configuration" } else { "configurations" };
        let _ = writeln!(text, "no estimate for {configurations} {noun}: {why}");
    }
    if let Some(it) = hosted {
        text.push_str(&note(it));
    }
    text
}

/// Returns a note about the low confidence of the comparison: prices of hosts change by a quarter within months, and
/// no two hosts serve exactly the same.
fn note(it: &BreakEven<'_>) -> String {
    let (host, as_of) = (escape::one_line(it.host.host.host), it.host.host.as_of);
    let reach = if it.in_reach { "" } else { ", which is more than the first machine above can generate" };
    format!(
        "\nnote (low confidence): below {} million generated tokens per day{reach}, the same model costs less at {host}, the \
         median of {} hosts ({as_of}): ${} per million, including the prompts; the host may use another precision\n",
        plain(it.millions_per_day),
        it.host.hosts,
        plain(it.host.per_million)
    )
}

fn plain(number: f64) -> String {
    let WireNumber(number) = WireNumber::three_digits(number);
    number.to_string()
}

fn span(range: SpeedRange) -> String {
    format!("{} to {}", plain(range.floor), plain(range.ceiling))
}

fn table(priced: &[TokenCost], style: ReportStyle) -> String {
    let with_traffic = priced.iter().any(|it| it.at_traffic.is_some());
    let mut heads = vec!["fits on", "accelerators", "per hour", "tokens/s", "ms per token", "$/M tokens at full load"];
    if with_traffic {
        heads.push("$/M tokens at your traffic");
    }
    heads.push("cost per token");
    let mut table = TextTable::new(&heads, 2..heads.len() - 1);
    for it in priced.iter().take(MOST) {
        let choice = &it.choice;
        let mut cells = vec![
            format!("{} {}", choice.provider, choice.machine),
            format!("{} × {}", choice.count, choice.accelerator),
            Currency::USD.per_hour(choice.per_hour),
            span(it.speed.tokens_per_second),
            span(it.speed.ms_per_token),
            span(it.at_load),
        ];
        if with_traffic {
            cells.push(it.at_traffic.map(plain).unwrap_or_default());
        }
        // Only JSON uses the word `dearer`.
        cells.push(it.beside_cheapest.name().replace("dearer", "more expensive"));
        table.row(cells);
    }
    table.print_within(style.columns)
}
