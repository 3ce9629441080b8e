//! Shows the costs that the total leaves out, the reasons, and the used prices.

use std::collections::BTreeMap;

use super::markup::Html;
use super::page::PageSection;
use crate::pricing::Status;
use crate::report::formats::text::estimated;
use crate::report::views::price_age::price_age;
use crate::report::views::{coverage, excluded, judged};
use crate::report::{Report, escape};

/// The maximum number of entries of one list.
const MOST: usize = 500;

pub(in crate::report) fn section(report: &Report) -> PageSection {
    let mut body = Html::new();
    let unpriced = report.inventory.resources.iter().zip(&report.bill.items).filter_map(|(it, item)| {
        let Status::Unpriced(why) = &item.status else { return None };
        Some(format!("{}: {why}", it.address))
    });
    list(&mut body, "Without a price", unpriced.collect());
    list(&mut body, "Not evaluated", judged::listed(report).into_iter().map(|it| unjudged(report, it)).collect());
    let machines = report.unknown_machines.iter().map(|it| format!("{}: {}", it.address, it.why));
    list(&mut body, "Accelerators unknown", machines.collect());
    list(&mut body, "Estimated prices (~)", counted(estimated(report)));
    let undetermined = report.undetermined.iter().map(|it| {
        let address = it.address(report.inventory).unwrap_or_default();
        format!("{} {address}: {}", it.rule, it.cause)
    });
    list(&mut body, "Checks skipped, value unknown", undetermined.collect());
    list(&mut body, "Assumed regions", counted(report.assumed().map(|(_, why)| why.to_owned())));
    list(&mut body, "Excluded from the total", excluded::lines(report));
    let skipped = report.inventory.skipped.iter().map(|it| format!("{}: {}", report.paths.show(&it.path), it.reason));
    list(&mut body, "Skipped files", skipped.collect());
    let answer = match body.is_empty() {
        true => "Every evaluated resource has a price, and nothing was assumed.".to_owned(),
        false => "These items are not in the total, or rest on an assumption.".to_owned(),
    };
    body.leaf("p", &[("class", "soft small")], NEVER);
    PageSection { id: "not-counted", title: "What is not in the total?", answer: Some(answer), body }
}

const NEVER: &str = "No total contains transfer, support or tax. A month is 730 hours.";

/// Returns the prices and their age.
pub(in crate::report) fn footer(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if !report.catalog.as_of.is_empty() {
        lines.push(format!("List {}. Made by gpulint {}.", price_age(report), report.catalog.version));
    }
    lines.extend(report.currency.rate());
    lines.extend(coverage::line(report));
    lines
}

fn unjudged(report: &Report, it: &crate::inventory::Unjudged) -> String {
    let line = judged::line(report, it).map(|line| format!(":{line}")).unwrap_or_default();
    let cure = it.cure.as_deref().map(|cure| format!(" – {cure}")).unwrap_or_default();
    format!("{}{line}: {}{cure}", report.paths.show(&it.path), it.reason)
}

/// Returns each cause once, with its number of occurrences.
fn counted(causes: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cause in causes {
        *counts.entry(cause).or_default() += 1;
    }
    counts.into_iter().map(|(cause, n)| if n == 1 { cause } else { format!("{n} × {cause}") }).collect()
}

fn list(page: &mut Html, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    // Short lists are open, long ones are folded.
    let is_short = lines.len() <= 10;
    let attributes: &[(&str, &str)] = if is_short { &[("open", "")] } else { &[] };
    page.element("details", attributes, |page| {
        page.leaf("summary", &[], &format!("{title}: {}", lines.len()));
        page.element("ul", &[("class", "dense small")], |page| {
            for line in lines.iter().take(MOST) {
                page.leaf("li", &[], &escape::shortened(line, 600));
            }
        });
        super::table::left_out(page, lines.len().saturating_sub(MOST), "of them");
    });
    page.raw("\n");
}
