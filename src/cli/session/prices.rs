//! What the configuration says about prices, as the pricing room takes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::catalog::{Catalog, Money};
use crate::cli::Failure;
use crate::cli::world::{cache, ci};
use crate::config::{Config, Entry};
use crate::pricing::{Contract, Owned, Purchased, Settings, Terms, Usage};
use crate::source::Date;

/// The catalog that `--prices` names, and whether it names a file of the user's own.
pub(in crate::cli) fn catalog(named: Option<&Path>) -> Result<(Catalog, bool), Failure> {
    let word = named.map(|path| path.to_string_lossy());
    match (word.as_deref(), named) {
        (Some("embedded"), _) => Ok((Catalog::embedded(), false)),
        (Some(word), Some(path)) if word != "cached" => {
            let text =
                fs::read_to_string(path).map_err(|error| Failure::new(format!("`{word}` cannot be read: {error}")))?;
            Ok((lay_over(Catalog::embedded(), word, &text, 1.0)?, true))
        }
        _ => {
            let directory = cache::directory(&ci::of_process);
            let files = directory.map_or(Ok(Vec::new()), |directory| cache::read(&directory))?;
            Ok((cache::lay_over(Catalog::embedded(), &files)?, false))
        }
    }
}

/// Lays prices of the user's own over a catalog.
pub(in crate::cli) fn lay_over(
    catalog: Catalog,
    shown: &str,
    text: &str,
    usd_per_unit: f64,
) -> Result<Catalog, Failure> {
    catalog.with_prices_at(shown, text, usd_per_unit).map_err(|error| {
        Failure::new(error.to_string()).with_help("the columns are those of the files in gpulint's `pricing` directory")
    })
}

type Table<'a> = BTreeMap<&'a str, &'a Entry>;

pub fn settings(config: &Config, today: Date) -> Settings {
    let text = |path| config.text(path).map(|(text, _)| text.to_owned());
    let discounts = config.below("prices.discount");
    Settings {
        default_provider: text("defaults.provider"),
        default_region: text("defaults.region"),
        default_accelerator: text("defaults.accelerator"),
        discounts: discounts.filter_map(|(provider, it)| Some((provider.to_owned(), it.value.number()?))).collect(),
        contracts: config.tables("contracts").filter_map(|(_, table)| contract(&table)).collect(),
        owned: config.tables("hardware").filter_map(|(_, table)| owned(&table)).collect(),
        usage: config.tables("usage").map(|(_, table)| usage(&table)).collect(),
        today: Some(today),
    }
}

fn text<'a>(table: &Table<'a>, key: &str) -> Option<&'a str> {
    table.get(key)?.value.text()
}

fn number(table: &Table<'_>, key: &str) -> Option<f64> {
    table.get(key)?.value.number()
}

fn contract(table: &Table<'_>) -> Option<Contract> {
    let pattern = |key| text(table, key).unwrap_or_default().to_owned();
    let rate = number(table, "usd_per_gpu_hour").map(|usd| Terms::Rate(Money::from_usd(usd)));
    Some(Contract {
        provider: pattern("provider"),
        machine: pattern("machine"),
        accelerator: pattern("accelerator"),
        region: pattern("region"),
        terms: rate
            .or_else(|| number(table, "discount").map(Terms::Discount))
            .or_else(|| number(table, "commitment_years").map(Terms::Committed))?,
    })
}

fn owned(table: &Table<'_>) -> Option<Owned> {
    let accelerator = text(table, "accelerator").unwrap_or("*");
    if let Some(rate) = number(table, "usd_per_gpu_hour") {
        return Some(Owned::at_rate(accelerator, Money::from_usd(rate)));
    }
    let purchased = Purchased {
        usd: number(table, "purchase_usd")?,
        accelerators: number(table, "gpus").unwrap_or(1.0),
        years: number(table, "years")?,
        watts: number(table, "watts").unwrap_or(0.0),
        usd_per_kwh: number(table, "usd_per_kwh").unwrap_or(0.0),
        utilization: number(table, "utilization").unwrap_or(1.0),
    };
    Owned::purchased(accelerator, purchased)
}

fn usage(table: &Table<'_>) -> Usage {
    let label = text(table, "label").and_then(|label| label.split_once('='));
    Usage {
        address: text(table, "address").map(str::to_owned),
        label: label.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())),
        hours_per_month: number(table, "hours_per_month"),
        runs_per_month: number(table, "runs_per_month"),
        hours_per_run: number(table, "hours_per_run"),
    }
}
