//! Converts the price settings for the module `pricing`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::catalog::{Catalog, Currency, Money};
use crate::cli::Failure;
use crate::cli::io::{cache, ci, serving};
use crate::config::{Config, ConfigTable, setting};
use crate::inventory::Key;
use crate::pricing::{Contract, ContractTerms, CostScenario, Owned, PricingSettings, Purchased, Usage};
use crate::resolve::{Defaults, ResourceFilter, Traffic};
use crate::rules::in_the_book;
use crate::source::Date;

/// Returns the catalog of `--prices`, and whether it is a custom file.
pub(in crate::cli) fn catalog(named: Option<&Path>) -> Result<(Catalog, bool), Failure> {
    let word = named.map(|path| path.to_string_lossy());
    match (word.as_deref(), named) {
        // Fetched prices are in the user's cache.
        (None, _) if serving::folder().is_some() => Ok((Catalog::embedded(), false)),
        (Some("embedded"), _) => Ok((Catalog::embedded(), false)),
        (Some(word), Some(path)) if word != "cached" => {
            let text =
                fs::read_to_string(path).map_err(|error| Failure::new(format!("`{word}` cannot be read: {error}")))?;
            Ok((lay_over(Catalog::embedded(), word, &text, None)?, true))
        }
        _ => {
            let directory = cache::directory(&ci::process_variable)?;
            let cached = |directory: PathBuf| cache::overlay(Catalog::embedded(), &directory);
            Ok((directory.map_or_else(|| Ok(Catalog::embedded()), cached)?, false))
        }
    }
}

/// Overlays a catalog with custom prices.
pub(in crate::cli) fn lay_over(
    catalog: Catalog,
    shown: &str,
    text: &str,
    usd_per_unit: Option<f64>,
) -> Result<Catalog, Failure> {
    catalog.with_prices_at(shown, text, usd_per_unit).map_err(|error| {
        let page = in_the_book("own-prices");
        Failure::new(error.to_string()).with_help(format!(
            "use the columns of gpulint's price tables, of FOCUS, or of the AWS Cost and Usage Report: {page}"
        ))
    })
}

pub(super) fn currency(config: &Config) -> Currency {
    let code = config.text(setting!("prices.currency")).map_or("USD", |(code, _)| code);
    Currency::new(code, config.number(setting!("prices.units_per_usd")).unwrap_or(1.0))
}

pub fn settings(config: &Config, today: Date) -> PricingSettings {
    let text = |key| config.text(key).map(|(text, _)| text.to_owned());
    let discounts = config.below(setting!("prices.discount"));
    PricingSettings {
        defaults: Defaults {
            provider: text(setting!("defaults.provider")),
            region: text(setting!("defaults.region")),
            accelerator: text(setting!("defaults.accelerator")),
        },
        discounts: discounts.filter_map(|(provider, it)| Some((provider.to_owned(), it.value.number()?))).collect(),
        contracts: config.tables(setting!("contracts")).filter_map(|table| contract(&table)).collect(),
        owned: config.tables(setting!("hardware")).filter_map(|table| owned(&table)).collect(),
        usage: config.tables(setting!("usage")).map(|table| usage(&table)).filter(Usage::sets_hours).collect(),
        today: Some(today),
        currency: currency(config),
    }
}

fn contract(table: &ConfigTable<'_>) -> Option<Contract> {
    let pattern = |key| table.text(key).unwrap_or_default().to_owned();
    let rate =
        table.number(setting!("contracts[].usd_per_gpu_hour")).map(|usd| ContractTerms::Rate(Money::from_usd(usd)));
    Some(Contract {
        provider: pattern(setting!("contracts[].provider")),
        machine: pattern(setting!("contracts[].machine")),
        accelerator: pattern(setting!("contracts[].accelerator")),
        region: pattern(setting!("contracts[].region")),
        way: way(table.text(setting!("contracts[].purchase")).unwrap_or_default()),
        terms: rate
            .or_else(|| table.number(setting!("contracts[].discount")).map(ContractTerms::Discount))
            .or_else(|| table.number(setting!("contracts[].commitment_years")).map(ContractTerms::Committed))?,
    })
}

fn way(name: &str) -> CostScenario {
    let named = |way: &CostScenario| way.name().replace('_', "-") == name;
    CostScenario::ALL.into_iter().find(named).unwrap_or(CostScenario::OnDemand)
}

fn owned(table: &ConfigTable<'_>) -> Option<Owned> {
    let accelerator = table.text(setting!("hardware[].accelerator")).unwrap_or("*");
    if let Some(rate) = table.number(setting!("hardware[].usd_per_gpu_hour")) {
        return Some(Owned::at_rate(accelerator, Money::from_usd(rate)));
    }
    let purchased = Purchased {
        usd: table.number(setting!("hardware[].purchase_usd"))?,
        accelerators: table.number(setting!("hardware[].gpus")).unwrap_or(1.0),
        years: table.number(setting!("hardware[].years"))?,
        watts: table.number(setting!("hardware[].watts")).unwrap_or(0.0),
        usd_per_kwh: table.number(setting!("hardware[].usd_per_kwh")).unwrap_or(0.0),
        staff_usd_per_year: table.number(setting!("hardware[].staff_usd_per_year")).unwrap_or(0.0),
        usd_per_month: table.number(setting!("hardware[].usd_per_month")).unwrap_or(0.0),
        utilization: table.number(setting!("hardware[].utilization")).unwrap_or(1.0),
    };
    Owned::purchased(accelerator, purchased)
}

fn usage(table: &ConfigTable<'_>) -> Usage {
    Usage {
        about: selector(table.text(setting!("usage[].address")), table.text(setting!("usage[].label"))),
        hours_per_month: table.number(setting!("usage[].hours_per_month")),
        runs_per_month: table.number(setting!("usage[].runs_per_month")),
        hours_per_run: table.number(setting!("usage[].hours_per_run")),
    }
}

/// Returns the traffic settings.
pub(in crate::cli) fn traffic(config: &Config) -> Vec<Traffic> {
    let traffic = config.tables(setting!("traffic")).map(|table| traffic_of(&table));
    traffic.chain(config.tables(setting!("usage")).map(|table| starts_of(&table))).collect()
}

/// Returns the declared starts and interruptions of an entry of `[[usage]]`.
fn starts_of(table: &ConfigTable<'_>) -> Traffic {
    let numbers = [
        (Key::StartsPerMonth, table.number(setting!("usage[].starts_per_month"))),
        (Key::ColdStartSeconds, table.number(setting!("usage[].cold_start_seconds"))),
        (Key::CheckpointMinutes, table.number(setting!("usage[].checkpoint_minutes"))),
        (Key::InterruptionsPerMonth, table.number(setting!("usage[].interruptions_per_month"))),
    ];
    Traffic {
        about: selector(table.text(setting!("usage[].address")), table.text(setting!("usage[].label"))),
        said: numbers.into_iter().filter_map(|(key, number)| Some((key, number?))).collect(),
        setting: "usage",
    }
}

fn traffic_of(table: &ConfigTable<'_>) -> Traffic {
    let numbers = [
        (Key::TokensPerDay, table.number(setting!("traffic[].tokens_per_day"))),
        (Key::RequestsPerDay, table.number(setting!("traffic[].requests_per_day"))),
        (Key::PromptTokens, table.number(setting!("traffic[].input_tokens"))),
        (Key::AnswerTokens, table.number(setting!("traffic[].output_tokens"))),
        (Key::MsToFirstToken, table.number(setting!("traffic[].ttft_ms"))),
        (Key::MsPerToken, table.number(setting!("traffic[].ms_per_token"))),
        (Key::RequestsPerSecond, table.number(setting!("traffic[].requests_per_second"))),
    ];
    Traffic {
        about: selector(table.text(setting!("traffic[].address")), table.text(setting!("traffic[].label"))),
        said: numbers.into_iter().filter_map(|(key, number)| Some((key, number?))).collect(),
        setting: "traffic",
    }
}

fn selector(address: Option<&str>, label: Option<&str>) -> ResourceFilter {
    let label = label.and_then(|label| label.split_once('='));
    ResourceFilter {
        address: address.map(str::to_owned),
        label: label.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())),
    }
}
