//! The ways to buy one planned run, for `gpulint price --run`.

use serde::Serialize;

use crate::catalog::Currency;
use crate::pricing::Way;
use crate::report::Format;
use crate::report::formats::json;
use crate::report::formats::json::Number;
use crate::report::formats::text::TextTable;

#[derive(Serialize)]
struct Row<'a> {
    provider: &'a str,
    machine: &'a str,
    region: &'a str,
    accelerator: &'a str,
    machines: Number,
    purchase: &'a str,
    usd_per_hour: Number,
    total_usd: Number,
    needs: &'a str,
    as_of: &'a str,
    estimate: bool,
}

/// The ways in a format; `None` where there is no such format for them.
pub fn purchase_options(format: Format, ways: &[Way]) -> Option<String> {
    match format {
        Format::Json => Some(json::print(&ways.iter().map(row).collect::<Vec<_>>())),
        Format::Text => Some(text(ways)),
        _ => None,
    }
}

fn row(way: &Way) -> Row<'_> {
    Row {
        provider: &way.provider,
        machine: &way.machine,
        region: &way.region,
        accelerator: &way.accelerator,
        machines: Number(way.machines),
        purchase: way.purchase,
        usd_per_hour: way.per_hour.into(),
        total_usd: way.total.into(),
        needs: &way.needs,
        as_of: &way.as_of,
        estimate: way.is_estimate,
    }
}

fn text(ways: &[Way]) -> String {
    let headings = ["machines", "accelerator", "purchase", "an hour", "the run", "as of", "needs"];
    let mut table = TextTable::new(&headings, 3..5);
    for way in ways {
        table.row(vec![
            format!("{} × {} {}", Number(way.machines), way.provider, way.machine),
            way.accelerator.clone(),
            way.purchase.to_owned(),
            Currency::USD.per_hour(way.per_hour),
            Currency::USD.amount(way.total),
            way.as_of.clone(),
            way.needs.clone(),
        ]);
    }
    table.print()
}
