//! Writes the ways to buy machines for one planned run, for `gpulint price --hours`.

use std::fmt::Write;

use serde::Serialize;

use crate::catalog::Currency;
use crate::pricing::{Against, HOURS_PER_MONTH, OwnMachine, PurchaseOption, Restarts};
use crate::report::formats::json;
use crate::report::formats::json::WireNumber;
use crate::report::formats::text::TextTable;
use crate::report::views::own_hardware;
use crate::report::views::table::{Cell, Columns, ConstColumns, columns, csv};
use crate::report::{Format, ReportStyle, one_line};

/// The request and the answer.
pub struct PurchaseOptions<'a> {
    pub ways: &'a [PurchaseOption],
    pub hours: f64,
}

#[derive(Serialize)]
struct Row<'a> {
    provider: &'a str,
    machine: &'a str,
    region: &'a str,
    accelerator: &'a str,
    accelerators: WireNumber,
    machines: WireNumber,
    purchase: &'a str,
    usd_per_hour: WireNumber,
    total_usd: WireNumber,
    /// The expected number of restarts. Null if the provider never takes the machines back, or if no rate is known for
    /// spot.
    restarts: Option<RestartRange>,
    needs: &'a str,
    as_of: &'a str,
    stale: bool,
    estimate: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    own: Option<Own<'a>>,
}

#[derive(Serialize)]
struct RestartRange {
    least: WireNumber,
    most: Option<WireNumber>,
}

#[derive(Serialize)]
struct Own<'a> {
    how: &'a str,
    accelerators: Option<WireNumber>,
    fixed_usd_per_month: Option<WireNumber>,
    power_usd_per_hour: Option<WireNumber>,
    cheaper: Vec<Cheaper<'a>>,
}

#[derive(Serialize)]
struct Cheaper<'a> {
    than: &'a str,
    bought: &'static str,
    rent_usd_per_hour: WireNumber,
    /// The side of the limit on which the option is cheaper: `above`, `below`, `always` or `never`.
    when: &'static str,
    hours_per_month: Option<WireNumber>,
}

/// Returns the ways in a format; `None` if the command does not support the format.
pub fn purchase_options(format: Format, options: &PurchaseOptions<'_>, style: ReportStyle) -> Option<String> {
    match format {
        Format::Json => Some(json::print(&options.ways.iter().map(row).collect::<Vec<_>>())),
        Format::Csv => Some(csv(COLUMNS, options.ways)),
        Format::Text => Some(text(options, style)),
        _ => None,
    }
}

fn row(way: &PurchaseOption) -> Row<'_> {
    Row {
        provider: &way.provider,
        machine: &way.machine,
        region: &way.region,
        accelerator: &way.accelerator,
        accelerators: WireNumber(way.accelerators),
        machines: WireNumber(way.machines),
        purchase: way.purchase,
        usd_per_hour: way.per_hour.into(),
        total_usd: way.total.into(),
        restarts: match way.restarts {
            Restarts::Between { least, most } => {
                Some(RestartRange { least: rounded_share(least), most: most.map(rounded_share) })
            }
            Restarts::NotSpot | Restarts::Unknown => None,
        },
        needs: &way.needs,
        as_of: &way.as_of,
        stale: way.is_stale,
        estimate: way.is_estimate,
        own: way.own.as_ref().map(own),
    }
}

fn own(own: &OwnMachine) -> Own<'_> {
    let rounded = |usd: f64| WireNumber((usd * 1e6).round() / 1e6);
    Own {
        how: &own.how,
        accelerators: own.purchased.map(|it| WireNumber(it.accelerators)),
        fixed_usd_per_month: own.purchased.map(|it| rounded(it.fixed_per_month())),
        power_usd_per_hour: own.purchased.map(|it| rounded(it.power_per_hour())),
        cheaper: own.against.iter().map(than).collect(),
    }
}

fn than(it: &Against) -> Cheaper<'_> {
    Cheaper {
        than: &it.of,
        bought: own_hardware::bought(it.scenario),
        rent_usd_per_hour: it.rent_per_hour.into(),
        when: it.crossing.name(),
        hours_per_month: it.crossing.hours().map(|hours| WireNumber((hours * 10.0).round() / 10.0)),
    }
}

/// Rounds to four decimals: the interruption bands are not more precise.
fn rounded_share(number: f64) -> WireNumber {
    WireNumber((number * 1e4).round() / 1e4)
}

fn restarts(way: &PurchaseOption) -> String {
    match way.restarts {
        Restarts::NotSpot => String::new(),
        Restarts::Unknown => "unknown".to_owned(),
        Restarts::Between { least, most: Some(most) } => format!("{} to {}", rounded_share(least), rounded_share(most)),
        Restarts::Between { least, most: None } => format!("{} or more", rounded_share(least)),
    }
}

const COLUMNS: &ConstColumns<dyn Fn(&&PurchaseOption) -> Cell> = &columns![
    "provider" => |it| &it.provider,
    "machine" => |it| &it.machine,
    "region" => |it| &it.region,
    "accelerator" => |it| &it.accelerator,
    "accelerators" => |it| it.accelerators,
    "machines" => |it| it.machines,
    "purchase" => |it| it.purchase,
    "usd_per_hour" => |it| it.per_hour,
    "total_usd" => |it| it.total,
    "restarts_least" => |it| match it.restarts {
        Restarts::NotSpot => Cell::Blank,
        Restarts::Unknown => "?".into(),
        Restarts::Between { least, .. } => rounded_share(least).0.into(),
    },
    "restarts_most" => |it| match it.restarts {
        Restarts::NotSpot => Cell::Blank,
        Restarts::Unknown | Restarts::Between { most: None, .. } => "?".into(),
        Restarts::Between { most: Some(most), .. } => rounded_share(most).0.into(),
    },
    "needs" => |it| &it.needs,
    "as_of" => |it| &it.as_of,
    "stale" => |it| it.is_stale,
    "estimate" => |it| it.is_estimate,
];

fn text(options: &PurchaseOptions<'_>, style: ReportStyle) -> String {
    let columns: &Columns<'_, &PurchaseOption> = &columns![
        "machines" => |it| format!("{} × {} {}", WireNumber(it.machines), it.provider, it.machine),
        "accelerator" => |it| &it.accelerator,
        "purchase" => |it| it.purchase,
        "per hour" => |it| Currency::USD.per_hour(it.per_hour),
        "total" => |it| it.total,
        "restarts" => |it| restarts(it),
        "as of" => |it| format!("{}{}", it.as_of, if it.is_stale { " outdated" } else { "" }),
        "requires" => |it| &it.needs,
    ];
    let table = TextTable::of(columns, 3..5, options.ways, &Currency::USD);
    let mut text = table.print_within(style.columns);
    let is_known = |way: &PurchaseOption| matches!(way.restarts, Restarts::Between { .. });
    if options.ways.iter().any(is_known) {
        let _ = writeln!(
            text,
            "restarts: machines × share of spot machines taken back per month × {} / {HOURS_PER_MONTH} hours",
            WireNumber(options.hours)
        );
    }
    if options.ways.iter().any(|way| way.is_stale) {
        text.push_str("some prices are outdated; update: `gpulint catalog update`\n");
    }
    for own in options.ways.iter().filter_map(|way| Some((way, way.own.as_ref()?))) {
        let (way, own) = own;
        let _ = writeln!(text, "\nyour own {}", one_line(&way.accelerator));
        text.push_str(&own_hardware::lines(own));
    }
    text
}
