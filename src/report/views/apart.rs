//! What sums do not count, told beside them: examples, bases, what the settings exclude.

use crate::catalog::{Currency, Money};
use crate::inventory::{Counted, Resource};
use crate::pricing::Apart;
use crate::report::Report;

/// A line for each: `in examples and tests, not in the sums: 2 resources, $81,000 a month rented`. Where nothing else is
/// there, the first line says it.
pub(in crate::report) fn lines(report: &Report) -> Vec<String> {
    let line = |(counted, sum): (&Counted, &Apart)| {
        format!("{}, not in the sums: {}", place(*counted), shown(sum, report.currency))
    };
    let is_alone = !report.inventory.resources.iter().any(Resource::is_added);
    report.bill.apart.iter().filter(|_| !is_alone).map(line).collect()
}

/// Where sums count nothing, what stands apart: `accelerators only in examples and tests: 2 resources, …`.
pub(in crate::report) fn only(report: &Report) -> Option<String> {
    let parts =
        report.bill.apart.iter().map(|(counted, sum)| format!("{}: {}", place(*counted), shown(sum, report.currency)));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("accelerators only {}", parts.join("; ")))
}

fn shown(sum: &Apart, currency: Currency) -> String {
    let mut parts =
        vec![if sum.resources == 1 { "1 resource".to_owned() } else { format!("{} resources", sum.resources) }];
    for (range, role) in [(sum.rented.minimum(), "rented"), (sum.requested.minimum(), "requested by pods")] {
        if range.expected > Money::ZERO {
            parts.push(format!("{} a month {role}", currency.amount(range.expected)));
        } else if range.ceiling > Money::ZERO {
            parts.push(format!("up to {} a month {role}", currency.amount(range.ceiling)));
        }
    }
    match sum.unpriced() {
        0 => {}
        n if n == sum.resources => parts.push("without a price".to_owned()),
        n => parts.push(format!("{n} of them without a price")),
    }
    parts.join(", ")
}

pub(in crate::report) fn place(counted: Counted) -> &'static str {
    match counted {
        Counted::Deployed => "deployed",
        Counted::Base => "in bases that environments or overlays replace",
        Counted::Module => "in modules that nothing here calls",
        Counted::Example => "in examples and tests",
        Counted::Excluded => "left out by the settings",
        Counted::Copy => "in copies that Terraform or Terragrunt keep",
        Counted::Unlisted => "beside a kustomization that does not list them",
    }
}
