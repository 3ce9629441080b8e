//! `gpulint fit`: whether a model fits, and on which machine it is cheapest.

mod code;
mod market_places;
mod promise;

use std::collections::BTreeSet;
use std::path::Path;

use code::CodeRequest;
use market_places::{by_provider, places};

use crate::catalog::{Catalog, Precision, TableError};
use crate::cli::args::Fit;
use crate::cli::io::file_tree::read_limited;
use crate::cli::io::output;
use crate::cli::session::prices;
use crate::cli::session::settings::{MODEL_COLUMNS, MODEL_CONFIG};
use crate::cli::{ExitStatus, Failure};
use crate::fit::{self, Assessment, FitChoice, Market, MarketPlace, ServerGoal, cases, speed_cases, tokens};
use crate::inventory::programs::declared;
use crate::inventory::{BillingRole, Fact, FactValue, Inventory, Key, Range, ReadBy, Resource};
use crate::pricing;
use crate::report::{self, CodeTarget, Format};
use crate::resolve::complete_machines;
use crate::source::{Limits, MemoryTree, SourceFiles, Span};

pub(in crate::cli) fn run(arguments: &Fit) -> Result<ExitStatus, Failure> {
    let (mut catalog, _) = prices::catalog(None)?;
    if let Some(file) = &arguments.models {
        catalog = with_own(catalog, file, arguments.model.as_deref())?;
    }
    if let Some(file) = &arguments.cases {
        return run_cases(file, &catalog, cases::run);
    }
    if let Some(file) = &arguments.speed_cases {
        return run_cases(file, &catalog, speed_cases::run);
    }
    let settings = pricing::PricingSettings::default();
    let market = Market::new(&catalog, &settings);
    let places = places(arguments, &catalog)?;
    demand_known_machine(arguments, &catalog)?;
    let mut inventory = Inventory { resources: vec![question(arguments, &catalog)?], ..Inventory::default() };
    let asked = inventory.resources.clone();
    complete_machines(&mut inventory, &catalog, &settings.defaults);
    let bill = pricing::bill(&inventory, &catalog, &settings);
    // Other subcommands skip a machine without accelerators, but here the user asked about it.
    let resource = match (inventory.resources.first().or(asked.first()), &arguments.machine) {
        (Some(resource), Some(machine)) if inventory.resources.is_empty() => {
            let provider = resource.text(Key::Provider).unwrap_or("the cloud");
            return Err(Failure::new(format!(
                "the catalog lists no accelerators for the machine type `{machine}` of {provider}"
            ))
            .with_help(catalog.did_you_mean(machine)));
        }
        (Some(resource), _) => resource,
        (None, _) => {
            return Err(Failure::new("no model is given").with_help("pass a model name, or --params with its size"));
        }
    };
    let item = bill.items.first().cloned().unwrap_or_default();
    let mut fact = fit::assess(resource, &item, &catalog, &market);
    if resource.fact(Key::Accelerator).is_absent() && resource.fact(Key::Machine).is_absent() {
        nothing_to_hold_it(&mut fact);
    }
    if let Some(target) = arguments.emit.as_deref().and_then(CodeTarget::named) {
        let goal = (arguments.by == "token").then(|| goal(arguments, resource, &catalog));
        let promise = promise::asked(arguments, resource, &catalog)?;
        let (catalog, market) = (&catalog, &market);
        return CodeRequest { arguments, target, resource, catalog, market, goal, promise }.emit(&fact);
    }
    if promise::is_asked(arguments) {
        return promise::run(arguments, resource, &catalog, &market);
    }
    if arguments.by == "token" {
        return by_token(arguments, resource, &catalog, &market, &places);
    }
    let options = fit::options(resource, &catalog, &market, &places);
    let clouds = catalog.assumed_clouds();
    let mut options = by_provider(unlike(options), |it| it, |it| it.per_hour, &clouds, arguments.provider.is_some());
    fit::complete_options(resource, &catalog, &mut options);
    output::write(&arguments.output, Format::Text, |format, style| report::fit(format, &fact, &item, &options, style))?;
    let placed = fact.value().and_then(|it| it.placed.value());
    Ok(if placed.is_some_and(|it| it.verdict == fit::FitVerdict::DoesNotFit) {
        ExitStatus::Failed
    } else {
        ExitStatus::Passed
    })
}

/// Refuses a machine type that the catalog does not list: a similar name can mean another number of accelerators.
fn demand_known_machine(arguments: &Fit, catalog: &Catalog) -> Result<(), Failure> {
    match &arguments.machine {
        Some(machine) if arguments.accelerator.is_none() && catalog.machines_named(machine).is_empty() => {
            let failure = Failure::new(format!("the catalog lists no machine type `{machine}`"));
            Err(failure.with_help(catalog.did_you_mean(machine)))
        }
        _ => Ok(()),
    }
}

/// Answers `--by token`: the machines with the lowest price per token.
fn by_token(
    arguments: &Fit,
    resource: &Resource,
    catalog: &Catalog,
    market: &Market<'_>,
    places: &[MarketPlace<'_>],
) -> Result<ExitStatus, Failure> {
    if arguments.task != "serve" {
        return Err(Failure::new("--by token needs a model server").with_help("leave out --task"));
    }
    let wanted = goal(arguments, resource, catalog);
    let found = tokens::by_token(resource, catalog, market, places, &wanted);
    // Hosted models are compared by the requested name, because a derived model is not the model that hosts serve.
    let host = fit::host_of(resource, found.lengths, catalog);
    let hosted = host.zip(found.priced.first()).map(|(host, first)| tokens::break_even(host, first));
    output::write(&arguments.output, Format::Text, |format, style| {
        report::by_token(format, &found, hosted.as_ref(), style)
    })?;
    Ok(ExitStatus::Passed)
}

/// Returns the requirements of `--by token`.
fn goal(arguments: &Fit, resource: &Resource, catalog: &Catalog) -> ServerGoal {
    ServerGoal {
        ms_per_token: resource.number(Key::MsPerToken),
        tokens_per_day: resource.number(Key::TokensPerDay),
        concurrency: arguments.concurrency,
        ..ServerGoal::new(catalog)
    }
}

/// A function that answers every row of a CSV file.
type Cases = fn(&str, &str, &Catalog) -> Result<String, TableError>;

/// Refuses an unknown model name, which is more often a typing error than a new model.
fn demand_known(model: &str, catalog: &Catalog) -> Result<(), Failure> {
    if catalog.models().identify(model).is_some() {
        return Ok(());
    }
    let near = catalog.models().nearest(model);
    let near = if near.is_empty() { String::new() } else { format!("did you mean {}? ", near.join(", ")) };
    Err(Failure::new(format!("gpulint does not know the model `{model}`"))
        .with_help(format!("{near}pass the size of a model that gpulint does not list, such as --params 7b")))
}

/// Refuses a longer context than the model has: model servers refuse to start with it.
fn demand_possible_context(arguments: &Fit, resource: &Resource, catalog: &Catalog) -> Result<(), Failure> {
    let listed = arguments.model.as_deref().filter(|_| arguments.task == "serve" && arguments.params.is_none());
    let most = listed.and_then(|model| catalog.models().identify(model)).map(|found| found.model.max_context);
    match most.filter(|tokens| *tokens > 0.0).zip(resource.number(Key::Context)) {
        Some((most, asked)) if asked > most => {
            let failure = Failure::new(format!("--context: the model has a context of at most {most} tokens"));
            Err(failure.with_help(format!("pass --context {most}, or --params with the size of a variant")))
        }
        _ => Ok(()),
    }
}

/// Refuses a precision that the formulas do not know.
fn demand_known_precision(flag: &str, key: Key, fact: &Fact<FactValue>) -> Result<(), Failure> {
    let Some(name) = fact.value().and_then(FactValue::as_text) else { return Ok(()) };
    let (is_known, known) = match key {
        Key::Precision => (Precision::parse(name).is_some(), "bf16, fp8, int8, awq, gptq, int4, nf4, mxfp4 or q4_k_m"),
        Key::CachePrecision => (fit::bytes_of_cached_value(name).is_some(), "fp8, int8 or int4"),
        _ => return Ok(()),
    };
    if is_known {
        return Ok(());
    }
    Err(Failure::new(format!("{flag}: gpulint does not know the precision `{name}`"))
        .with_help(format!("use {known}, or leave out {flag} for the default")))
}

/// Returns the demand without an accelerator, so that nothing about it is unknown.
fn nothing_to_hold_it(fact: &mut Fact<Assessment>) {
    if let Fact::Known(known) = fact {
        known.value.placed = Fact::Absent;
    }
}

/// Returns the catalog with the models of --models: a table, or the `config.json` of the named model.
fn with_own(catalog: Catalog, file: &Path, model: Option<&str>) -> Result<Catalog, Failure> {
    let (path, text) = (file.display().to_string(), read(file)?);
    let failed = |help| move |error: TableError| Failure::new(error.to_string()).with_help(help);
    match model.filter(|_| file.extension().is_some_and(|extension| extension == "json")) {
        Some(name) => catalog.with_model_config(name, &path, &text).map_err(failed(MODEL_CONFIG)),
        None => catalog.with_models(&path, &text).map_err(failed(MODEL_COLUMNS)),
    }
}

/// Returns each machine once, with the fewest accelerators on which the model fits.
fn unlike(options: Vec<FitChoice>) -> impl Iterator<Item = FitChoice> {
    let mut seen = BTreeSet::new();
    options.into_iter().filter(move |choice| seen.insert((choice.provider.clone(), choice.machine.clone())))
}

/// Returns a resource with the requested values.
fn question(arguments: &Fit, catalog: &Catalog) -> Result<Resource, Failure> {
    let sources = SourceFiles::new(MemoryTree::new());
    let file = sources.derive("the command line", String::new(), Vec::new());
    let span = Span::new(file, 0, 0);
    let role = if arguments.machine.is_some() { BillingRole::Rented } else { BillingRole::Requested };
    let mut resource = Resource::new(ReadBy::Terraform, role, "question", "question", span, span);
    let trains = arguments.task == "train";
    if !trains && (arguments.train_tokens.is_some() || arguments.machines.is_some()) {
        return Err(Failure::new("--train-tokens and --machines need --task train").with_help("add --task train"));
    }
    if trains && (arguments.method.is_none() || arguments.context.is_none()) {
        return Err(Failure::new("--task train needs the training method and the sequence length")
            .with_help("pass --method full, lora or qlora, and --sequence TOKENS"));
    }
    if let Some(name) = &arguments.accelerator
        && catalog.hardware(name).is_none()
        && catalog.chips(name).is_empty()
    {
        return Err(
            Failure::new(format!("the catalog lists no accelerator `{name}`")).with_help(catalog.did_you_mean(name))
        );
    }
    if let Some(model) = arguments.model.as_deref().filter(|_| arguments.params.is_none()) {
        demand_known(model, catalog)?;
    }
    let provider = arguments.provider.clone().or_else(|| {
        let machine = arguments.machine.as_deref()?;
        catalog.provider_of(machine).map(str::to_owned)
    });
    let word = |text: &str| Fact::written(FactValue::text(text), span);
    let texts = [
        (Key::Model, &arguments.model),
        (Key::Accelerator, &arguments.accelerator),
        (Key::Machine, &arguments.machine),
        (Key::Provider, &provider),
        (Key::Region, &arguments.region),
        (Key::Task, &Some(arguments.task.clone())),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            resource.set(key, word(text));
        }
    }
    declare(&mut resource, arguments, span)?;
    demand_possible_context(arguments, &resource, catalog)?;
    if arguments.task == "serve" {
        resource.set(Key::Program, word("vllm"));
    }
    let count = arguments.count.or(arguments.accelerator.as_ref().map(|_| 1));
    if let Some(count) = count {
        resource.set(Key::AcceleratorCount, Fact::written(FactValue::Number(f64::from(count)), span));
    }
    if let Some(machines) = arguments.machines {
        let machines = f64::from(machines);
        resource.count = Fact::written(Range::exactly(machines), span);
        resource.set(Key::GroupSize, Fact::written(FactValue::Number(machines), span));
    }
    if trains {
        resource.set(Key::Recompute, Fact::written(FactValue::Flag(!arguments.keep_activations), span));
        if arguments.batch_size.is_none() {
            resource.set(Key::BatchSize, Fact::written(FactValue::Integer(1), span));
        }
    }
    Ok(resource)
}

/// Parses an option as the label of the same name is parsed.
fn declare(resource: &mut Resource, arguments: &Fit, span: Span) -> Result<(), Failure> {
    let said = [
        ("--params", "gpulint.dev/params", &arguments.params),
        ("--precision", "gpulint.dev/precision", &arguments.precision),
        ("--cache-precision", "gpulint.dev/cache-precision", &arguments.cache_precision),
        ("--context", "gpulint.dev/context", &arguments.context),
        ("--batch-size", "gpulint.dev/batch-size", &arguments.batch_size),
        ("--method", "gpulint.dev/method", &arguments.method),
        ("--ttft", "gpulint.dev/ttft-ms", &arguments.ttft),
        ("--ms-per-token", "gpulint.dev/ms-per-token", &arguments.ms_per_token),
        ("--tokens-per-day", "gpulint.dev/tokens-per-day", &arguments.tokens_per_day),
        ("--input-tokens", "gpulint.dev/input-tokens", &arguments.input_tokens),
        ("--output-tokens", "gpulint.dev/output-tokens", &arguments.output_tokens),
        ("--train-tokens", "gpulint.dev/train-tokens", &arguments.train_tokens),
        ("--optimizer", "gpulint.dev/optimizer", &arguments.optimizer),
        ("--sharding", "gpulint.dev/sharding", &arguments.sharding),
    ];
    for (flag, label, text) in said {
        let Some(text) = text else { continue };
        let word = Fact::written(text.as_str().into(), span);
        for (key, fact) in declared([(label, &word)]) {
            if let Some(why) = fact.why() {
                return Err(Failure::new(format!("{flag}: {why}")));
            }
            if fact.is_absent() {
                let failure = Failure::new(format!("{flag}: `{text}` is not a value"));
                return Err(failure.with_help(format!("leave out {flag} for the default")));
            }
            demand_known_precision(flag, key, &fact)?;
            resource.set(key, fact);
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<String, Failure> {
    let bytes = read_limited(file, Limits::DEFAULT.file_bytes)
        .map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", file.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn run_cases(file: &Path, catalog: &Catalog, run: Cases) -> Result<ExitStatus, Failure> {
    let lines = run(&file.display().to_string(), &read(file)?, catalog)
        .map_err(|error| Failure::new(format!("{}:{}: {}", error.path, error.line, error.message)))?;
    output::print(&lines)?;
    Ok(ExitStatus::Passed)
}
