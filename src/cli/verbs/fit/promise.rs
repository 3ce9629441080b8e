//! `gpulint fit --ttft --tpot --load`: the cheapest machines that hold a promise.

use super::market_places::{by_provider, places};
use crate::catalog::Catalog;
use crate::cli::args::Fit;
use crate::cli::io::output;
use crate::cli::{ExitStatus, Failure};
use crate::fit::promise::{self, PromiseChoice};
use crate::fit::{self, Market, MarketPlace, PromisedLoad, ServerGoal};
use crate::inventory::{Key, Resource};
use crate::report::{self, Format, PromiseAnswer};

/// Whether the user asks for a limit that depends on the requests at a time.
pub(super) fn is_asked(arguments: &Fit) -> bool {
    arguments.ttft.is_some()
        || arguments.load.is_some()
        || (arguments.ms_per_token.is_some() && arguments.by != "token")
}

/// Returns the promise that the user asks for, or `None` if there is none.
pub(super) fn asked(arguments: &Fit, resource: &Resource, catalog: &Catalog) -> Result<Option<ServerGoal>, Failure> {
    if !is_asked(arguments) {
        return Ok(None);
    }
    demand_server(arguments)?;
    goal(arguments, resource, catalog).map(Some)
}

/// Refuses options that contradict a promise.
fn demand_server(arguments: &Fit) -> Result<(), Failure> {
    if arguments.task != "serve" {
        return Err(Failure::new("--ttft, --tpot and --load need a model server").with_help("leave out --task"));
    }
    if arguments.by == "token" {
        return Err(Failure::new("--ttft and --load cannot be used with --by token")
            .with_help("leave out --by token: gpulint lists the machines that hold the promise for the least money"));
    }
    Ok(())
}

/// Answers with the machines that hold the promise. The exit code is 1 if none does.
pub(super) fn run(
    arguments: &Fit,
    resource: &Resource,
    catalog: &Catalog,
    market: &Market<'_>,
) -> Result<ExitStatus, Failure> {
    demand_server(arguments)?;
    let goal = goal(arguments, resource, catalog)?;
    let places = all_places(arguments, catalog)?;
    let may_quantize = arguments.precision.is_none();
    let mut found = promise::by_promise(resource, catalog, market, &places, &goal, may_quantize);
    let quote = found.holding.first().and_then(|first| {
        let machine = catalog.machine(&first.choice.provider, &first.choice.machine)?;
        catalog.quote(&machine, &first.region)
    });
    let measured = found.holding.first().and_then(|first| fit::measurement(resource, catalog, first));
    let holds = !found.holding.is_empty();
    let all = std::mem::take(&mut found.holding);
    found.holding = runners_up(all, &catalog.assumed_clouds(), arguments.provider.is_some());
    let model = resource.text(Key::Model).unwrap_or("the model");
    output::write(&arguments.output, Format::Text, |format, style| {
        let answer =
            PromiseAnswer { model, goal: &goal, found: &found, quote: quote.as_ref(), measured: measured.as_ref() };
        report::by_promise(format, &answer, style)
    })?;
    Ok(if holds { ExitStatus::Passed } else { ExitStatus::Failed })
}

/// Returns the cheapest first, and then the cheapest of each cloud.
fn runners_up(mut all: Vec<PromiseChoice>, clouds: &[&str], of_one: bool) -> Vec<PromiseChoice> {
    if all.is_empty() {
        return all;
    }
    let first = all.remove(0);
    let others = by_provider(all.into_iter(), |it| &it.choice, |it| it.per_hour, clouds, of_one);
    std::iter::once(first).chain(others).collect()
}

/// Returns the promise of the command line.
fn goal(arguments: &Fit, resource: &Resource, catalog: &Catalog) -> Result<ServerGoal, Failure> {
    let load = arguments.load.as_deref().map(parse_load).transpose()?;
    Ok(ServerGoal {
        ms_to_first_token: resource.number(Key::MsToFirstToken),
        ms_per_token: resource.number(Key::MsPerToken),
        load,
        concurrency: arguments.concurrency.map(f64::ceil),
        ..ServerGoal::new(catalog)
    })
}

/// Parses `20rps` or `4000tps`.
fn parse_load(text: &str) -> Result<PromisedLoad, Failure> {
    let word = text.trim().to_ascii_lowercase();
    let (number, load): (_, fn(f64) -> PromisedLoad) = match (word.strip_suffix("rps"), word.strip_suffix("tps")) {
        (Some(number), _) => (number, PromisedLoad::RequestsPerSecond),
        (None, Some(number)) => (number, PromisedLoad::TokensPerSecond),
        (None, None) => (&word, PromisedLoad::RequestsPerSecond),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number < 1e9 => Ok(load(number)),
        _ => Err(Failure::new(format!("--load: `{text}` is not a rate"))
            .with_help("pass requests per second, such as 20rps, or generated tokens per second, such as 4000tps")),
    }
}

/// Returns all regions of the clouds to search, or the region that the user names.
fn all_places<'c>(arguments: &'c Fit, catalog: &'c Catalog) -> Result<Vec<MarketPlace<'c>>, Failure> {
    let places = places(arguments, catalog)?;
    if arguments.region.is_some() {
        return Ok(places);
    }
    let everywhere = places.into_iter().flat_map(|place| {
        let mut regions = catalog.regions(place.provider);
        if !regions.contains(&place.region) {
            regions.push(place.region);
        }
        regions.into_iter().map(move |region| MarketPlace { region, ..place.clone() })
    });
    Ok(everywhere.collect())
}
