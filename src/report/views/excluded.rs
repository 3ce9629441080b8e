//! Handles cost that is excluded from the total: examples, bases, and directories that the settings exclude.

use std::collections::BTreeSet;

use crate::catalog::{Currency, Money};
use crate::inventory::{CountedAs, Resource};
use crate::pricing::ExcludedTotal;
use crate::report::Report;

/// The limit on files that are named. The rest is only counted.
const MOST_NAMED: usize = 3;

/// Returns one line for each reason: `excluded from the total, in examples and tests: 2 resources, provisioned
/// machines $81,000/month`. Returns nothing if the total counts nothing: then [`only`] is the first line of the
/// report.
pub(in crate::report) fn lines(report: &Report) -> Vec<String> {
    let line = |(counted, sum): (&CountedAs, &ExcludedTotal)| {
        format!(
            "excluded from the total, {}: {}{}",
            place(*counted),
            shown(sum, report.currency),
            named(report, *counted)
        )
    };
    let is_alone = !report.inventory.resources.iter().any(Resource::is_added);
    report.bill.apart.iter().filter(|_| !is_alone).map(line).collect()
}

/// Returns the excluded cost if the total counts nothing: `accelerators only in examples and tests: 2 resources, …`.
pub(in crate::report) fn only(report: &Report) -> Option<String> {
    let part = |(counted, sum): (&CountedAs, &ExcludedTotal)| {
        format!("{}: {}{}", place(*counted), shown(sum, report.currency), named(report, *counted))
    };
    let parts: Vec<String> = report.bill.apart.iter().map(part).collect();
    (!parts.is_empty()).then(|| format!("accelerators only {}", parts.join("; ")))
}

/// Returns the names of the files that no deployment applies. gpulint checks such a file if the command line names it.
fn named(report: &Report, counted: CountedAs) -> String {
    if counted != CountedAs::Unlisted {
        return String::new();
    }
    let unlisted = report.inventory.resources.iter().filter(|it| it.counted == counted);
    let files: BTreeSet<String> = unlisted.map(|it| shown_path(report, it)).collect();
    let first: Vec<&str> = files.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = match files.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(" ({}{more}; name a file to check it)", first.join(", "))
}

fn shown_path(report: &Report, resource: &Resource) -> String {
    let file = report.sources.origin(resource.span).file;
    report.paths.show(&report.sources.path(file))
}

fn shown(sum: &ExcludedTotal, currency: Currency) -> String {
    let mut parts =
        vec![if sum.resources == 1 { "1 resource".to_owned() } else { format!("{} resources", sum.resources) }];
    for (range, role) in [(sum.rented.minimum(), "provisioned machines"), (sum.requested.minimum(), "pods")] {
        if range.expected > Money::ZERO {
            parts.push(format!("{role} {}/month", currency.amount(range.expected)));
        } else if range.ceiling > Money::ZERO {
            parts.push(format!("{role} maximum {}/month", currency.amount(range.ceiling)));
        }
    }
    match sum.unpriced() {
        0 => {}
        n if n == sum.resources => parts.push("without a price".to_owned()),
        n => parts.push(format!("{n} of them without a price")),
    }
    parts.join(", ")
}

pub(in crate::report) fn place(counted: CountedAs) -> &'static str {
    match counted {
        CountedAs::Deployed => "deployed",
        CountedAs::Base => "in bases that environments or overlays replace",
        CountedAs::Module => "in modules that no deployment here calls",
        CountedAs::Example => "in examples and tests",
        CountedAs::Excluded => "in directories that the settings exclude",
        CountedAs::Copy => "in copies that Terraform or Terragrunt stores",
        CountedAs::Unlisted => "in files that the kustomization or Application of their folder does not apply",
    }
}
