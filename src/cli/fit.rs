use std::path::Path;

use super::args::Fit;
use super::disk::read_limited;
use super::{Failure, Outcome, output};
use crate::catalog::Catalog;
use crate::fit::{self, Market, Place, cases};
use crate::inventory::{FrontEnd, Inventory, Key, Resource, Role, Value};
use crate::report::{self, Format};
use crate::source::{MemoryTree, Sources, Span};
use crate::{inventory, pricing};

/// Alternatives that are shown.
const MOST: usize = 8;

/// Clouds in which an alternative is looked for where none is named.
const CLOUDS: [&str; 3] = ["aws", "azure", "gcp"];

pub(super) fn run(arguments: &Fit) -> Result<Outcome, Failure> {
    if let Some(file) = &arguments.cases {
        return run_cases(file);
    }
    let catalog = Catalog::embedded();
    let settings = pricing::Settings::default();
    let mut inventory = Inventory { resources: vec![question(arguments)], ..Inventory::default() };
    let asked = inventory.resources.clone();
    pricing::complete(&mut inventory, &catalog, &settings);
    let bill = pricing::bill(&inventory, &catalog, &settings);
    let market = Market::new(&catalog, &settings);
    // A machine without accelerators is left out as nothing to judge; here it is what was asked about.
    let resource = match (inventory.resources.first().or(asked.first()), &arguments.machine) {
        (Some(resource), Some(machine)) if inventory.resources.is_empty() => {
            let provider = resource.text(Key::Provider).unwrap_or("the cloud");
            return Err(Failure::new(format!("the catalog knows no accelerators of `{machine}` of {provider}"))
                .with_help("`gpulint price H100` lists machines by their accelerator"));
        }
        (Some(resource), _) => resource,
        (None, _) => return Err(Failure::new("there is nothing to judge")),
    };
    let item = bill.items.first().cloned().unwrap_or_default();
    let fact = fit::assess(resource, &item, &catalog, &market);
    let mut places = Vec::new();
    for provider in arguments.provider.as_deref().map_or(CLOUDS.to_vec(), |provider| vec![provider]) {
        let region = arguments.region.as_deref().and_then(|region| catalog.region(provider, region));
        let region = region.unwrap_or_else(|| catalog.base_region(provider));
        // Whoever asks here rents whole machines: nobody sells a part of one.
        places.push(Place { provider, region, ..Place::default() });
    }
    let mut options = fit::options(resource, &catalog, &market, &places);
    options.truncate(MOST);
    output::write(&arguments.output, Format::Text, |format, _style| report::fit(format, &fact, &options))?;
    Ok(Outcome::Passed)
}

/// A resource that says what was asked.
fn question(arguments: &Fit) -> Resource {
    let sources = Sources::new(MemoryTree::new());
    let file = sources.derive("the command line", String::new(), Vec::new());
    let span = Span::new(file, 0, 0);
    let role = if arguments.machine.is_some() { Role::Rented } else { Role::Requested };
    let mut resource = Resource::new(FrontEnd::Terraform, role, "question", "question", span, span);
    let provider = arguments.provider.clone().or_else(|| {
        let machine = arguments.machine.as_deref()?;
        Catalog::embedded().provider_of(machine).map(str::to_owned)
    });
    let texts = [
        (Key::Model, arguments.model.clone()),
        (Key::Accelerator, arguments.accelerator.clone()),
        (Key::Machine, arguments.machine.clone()),
        (Key::Provider, provider),
        (Key::Region, arguments.region.clone()),
        (Key::Task, Some(arguments.task.clone())),
        (Key::Precision, arguments.precision.clone()),
        (Key::Method, arguments.method.clone()),
        (Key::Optimizer, arguments.optimizer.clone()),
        (Key::Sharding, arguments.sharding.clone()),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            resource.set(key, inventory::Fact::written(Value::text(text), span));
        }
    }
    let count = arguments.count.or(arguments.accelerator.as_ref().map(|_| 1.0));
    let numbers = [
        (Key::AcceleratorCount, count.map(Value::Number)),
        (Key::Context, arguments.context.map(Value::Integer)),
        (Key::BatchSize, arguments.batch_size.map(Value::Integer)),
    ];
    for (key, number) in numbers {
        if let Some(number) = number {
            resource.set(key, inventory::Fact::written(number, span));
        }
    }
    resource
}

fn run_cases(file: &Path) -> Result<Outcome, Failure> {
    let shown = file.display().to_string();
    let bytes = read_limited(file).map_err(|error| Failure::new(format!("`{shown}` cannot be read: {error}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = cases::run(&shown, &text, Catalog::embedded().models())
        .map_err(|error| Failure::new(format!("{}:{}: {}", error.path, error.line, error.message)))?;
    output::print(&lines)?;
    Ok(Outcome::Passed)
}
