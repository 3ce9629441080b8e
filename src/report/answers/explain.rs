//! Shows how gpulint computed one price, for `gpulint explain`.

use std::fmt::Write;

use crate::inventory::{Fact, KnownFact, Resource, ResourceId};
use crate::pricing::{CostScenario, Status, SumStep};
use crate::report::escape::one_line;
use crate::report::formats::text::TextTable;
use crate::report::views::money::{exact, mark};
use crate::report::{Report, escape};

/// Returns a resource with its facts, the steps of its price, and its cost with other purchase options.
pub fn explain(report: &Report, id: ResourceId) -> String {
    let Some(resource) = report.inventory.resources.get(id.0) else { return String::new() };
    let at = report.paths.locate(report.sources, resource.span);
    let head = format!("{}\n{}:{}\n", one_line(&resource.address), one_line(&at.path), at.line);
    format!("{head}\n{}{}{}", facts(report, resource), links(report, resource), price(report, resource, id))
}

/// Returns the same report with the price first, for displays of a few lines.
pub fn explain_price_first(report: &Report, id: ResourceId) -> String {
    let Some(resource) = report.inventory.resources.get(id.0) else { return String::new() };
    let price = price(report, resource, id);
    format!("{}\n{price}\n{}{}", one_line(&resource.address), facts(report, resource), links(report, resource))
}

fn price(report: &Report, resource: &Resource, id: ResourceId) -> String {
    let Some(item) = report.bill.items.get(id.0) else { return String::new() };
    let mut text = "\n".to_owned();
    steps(&mut text, report, resource, &item.steps);
    let _ = match &item.status {
        Status::Priced => writeln!(text, "priced"),
        Status::Estimated(why) => writeln!(text, "estimated: {}", one_line(why)),
        Status::Unpriced(why) => writeln!(text, "unpriced: {}", one_line(why)),
        Status::Unasked => writeln!(text, "gpulint looked up no price"),
    };
    for note in [&item.licence, &item.stale].into_iter().flatten() {
        let _ = writeln!(text, "{}", one_line(note));
    }
    let currency = report.currency;
    if let Some(rate) = currency.rate() {
        let _ = writeln!(text, "{rate}");
    }
    if let Some(costs) = currency.costs(item) {
        let _ = writeln!(text, "{costs}");
    }
    let per = item.per.name();
    let others = CostScenario::ALL.iter().filter_map(|scenario| Some((scenario, item.amount_if.get(scenario)?)));
    for (scenario, range) in others {
        let doubt = item.spot_in_doubt.as_ref().filter(|_| *scenario == CostScenario::Spot);
        let why = doubt.map(|why| format!(", or more: {}", one_line(why))).unwrap_or_default();
        let (way, money) = (scenario.name().replace('_', " "), currency.range(*range));
        let _ = writeln!(text, "  bought {way}: {}{money}/{per}{why}", mark(doubt.is_some()));
    }
    if let Some(attached) = item.attached.as_ref().filter(|it| it.known().is_some() || !it.not_known.is_empty()) {
        let _ = writeln!(text, "\ndisks, billed separately");
        steps(&mut text, report, resource, &attached.steps);
        let _ = attached.estimated.as_ref().map(|why| writeln!(text, "estimated: {}", one_line(why)));
        let _ = match (attached.known(), attached.not_known.is_empty()) {
            (Some(monthly), true) => writeln!(text, "{}/month", currency.range(monthly)),
            (Some(monthly), false) => writeln!(text, "at least {}/month", currency.range(monthly)),
            (None, _) => writeln!(text, "unknown"),
        };
    }
    text.push_str("\nnot included: transfer, support, tax\n");
    text
}

/// Writes each step of a price, with its result and the place of its input.
fn steps(text: &mut String, report: &Report, resource: &Resource, steps: &[SumStep]) {
    for step in steps {
        let result = step.result.map(|money| format!("  {}", exact(money))).unwrap_or_default();
        let place = step.span(resource).map(|span| {
            let at = report.paths.locate(report.sources, span);
            format!("  [{}:{}]", one_line(&at.path), at.line)
        });
        let _ = writeln!(text, "  {}{result}{}", one_line(&step.text), place.unwrap_or_default());
    }
}

/// Returns the links to other resources, and their reasons.
fn links(report: &Report, resource: &Resource) -> String {
    if resource.links.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(&["link", "to", "where", "why"], 0..0);
    for link in &resource.links {
        let at = report.paths.locate(report.sources, link.span);
        table.row(vec![
            link.kind.name().to_owned(),
            escape::shortened(&one_line(&link.to), 60),
            format!("{}:{}", one_line(&at.path), at.line),
            one_line(&link.why),
        ]);
    }
    format!("\n{}", table.print())
}

/// Returns every fact with its source.
fn facts(report: &Report, resource: &Resource) -> String {
    let mut table = TextTable::new(&["fact", "value", "source", "where"], 0..0);
    let place = |span| {
        let at = report.paths.locate(report.sources, span);
        format!("{}:{}", one_line(&at.path), at.line)
    };
    let mut row = |name: &str, value: String, how: String, span| {
        table.row(vec![name.to_owned(), escape::shortened(&one_line(&value), 60), how, place(span)]);
    };
    match &resource.count {
        Fact::Known(KnownFact { value, span, origin, .. }) => {
            let count = if value.floor == value.ceiling {
                value.expected.to_string()
            } else {
                format!("{} to {}, expected {}", value.floor, value.ceiling, value.expected)
            };
            row("count", count, origin.name().to_owned(), *span);
        }
        Fact::Unknown(unknown) => row("count", "?".to_owned(), one_line(&unknown.why), unknown.span),
        Fact::Absent => {}
    }
    for (key, fact) in resource.facts() {
        match fact {
            Fact::Known(known) => row(key.name(), known.value.to_string(), known.origin.name().to_owned(), known.span),
            Fact::Unknown(unknown) => row(key.name(), "?".to_owned(), one_line(&unknown.why), unknown.span),
            Fact::Absent => {}
        }
    }
    table.print()
}
