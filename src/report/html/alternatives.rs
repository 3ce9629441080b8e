//! Shows the cost of the most expensive resources with other purchase options, in other places, or after their
//! findings are fixed.

use std::cmp::Reverse;

use super::bars::{MarkColor, Scale, dot, picture};
use super::markup::Html;
use super::page::PageSection;
use super::table::{Column, HtmlTable, name, number};
use crate::catalog::{Catalog, Money};
use crate::inventory::{Resource, ResourceId};
use crate::pricing::{BillItem, CostScenario, Elsewhere, Period, cheaper_provider, cheaper_region};
use crate::report::Report;
use crate::report::views::money::mark_of;
use crate::report::views::scorecard::best_savings;

/// The limit on resources that are compared.
const MOST: usize = 10;

/// One resource and its cost with other choices, per month.
struct Choices<'a> {
    resource: &'a Resource,
    item: &'a BillItem,
    now: Money,
    scenarios: [Option<Money>; 3],
    /// The place and its cost.
    elsewhere: Option<(String, Money)>,
    /// The cost after its largest saving.
    after: Option<Money>,
}

const SCENARIOS: [CostScenario; 3] = [CostScenario::Spot, CostScenario::Reserved1y, CostScenario::Reserved3y];

/// A heading, and the cost with that choice.
type OtherChoice = (&'static str, fn(&Choices<'_>) -> Option<Money>);

const ELSEWHERE: &str = "elsewhere";

const OTHERS: [OtherChoice; 5] = [
    ("spot", |it| it.scenarios[0]),
    ("1 year", |it| it.scenarios[1]),
    ("3 years", |it| it.scenarios[2]),
    (ELSEWHERE, |it| it.elsewhere.as_ref().map(|(_, money)| *money)),
    ("after its best fix", |it| it.after),
];

pub(in crate::report) fn section(report: &Report) -> Option<PageSection> {
    let all = dearest(report);
    let has_choice = |it: &Choices| OTHERS.iter().any(|(_, read)| read(it).is_some());
    let all: Vec<Choices> = all.into_iter().filter(has_choice).collect();
    if all.is_empty() {
        return None;
    }
    let mut body = Html::new();
    let amounts = all.iter().flat_map(|it| OTHERS.iter().filter_map(|(_, read)| read(it)).chain([it.now]));
    let scale = Scale::to(amounts.max().unwrap_or_default());
    legend(&mut body);
    // Empty columns are left out.
    let others: Vec<_> = OTHERS.into_iter().filter(|(_, read)| all.iter().any(|it| read(it).is_some())).collect();
    let first = [("resource", Column::Text), ("comparison", Column::Picture), ("now", Column::Number)];
    let columns: Vec<_> = first.into_iter().chain(others.iter().map(|(name, _)| (*name, Column::Number))).collect();
    let caption = "Monthly cost of the most expensive resources with other purchase options: list prices, configured numbers and hours";
    let table = HtmlTable { id: "alternatives-table", caption, columns: &columns, is_searchable: false };
    table.print(&mut body, &all, |page, it| row(page, report, scale, it, &others));
    body.leaf("p", &[("class", "soft small")], CONDITIONS);
    let answer = format!(
        "The cost of the {} most expensive resources with other purchase options, regions or providers.",
        all.len()
    );
    Some(PageSection { id: "alternatives", title: "What would other choices cost?", answer: Some(answer), body })
}

const CONDITIONS: &str = "The provider can take spot machines back at any time, and spot prices change. Commitments are billed \
    whether or not they are used. Prices elsewhere contain neither transfer nor the cost of moving.";

fn dearest<'a>(report: &'a Report<'a>) -> Vec<Choices<'a>> {
    let all = report.inventory.resources.iter().zip(&report.bill.items).enumerate();
    let counted =
        all.filter(|(_, (resource, item))| resource.is_added() && item.per == Period::Month && !item.is_within);
    let mut priced: Vec<(ResourceId, &Resource, &BillItem, Money)> = counted
        .filter_map(|(at, (resource, item))| Some((ResourceId(at), resource, item, item.monthly?.expected)))
        .filter(|(.., now)| !now.is_zero())
        .collect();
    priced.sort_by_key(|(_, resource, _, now)| (Reverse(*now), resource.address.clone()));
    priced.truncate(MOST);
    let best = best_savings(report);
    let saved = |id| best.get(&Some(id)).filter(|it| it.per == Period::Month)?.saves;
    let choices = |(id, resource, item, now): (ResourceId, &'a Resource, &'a BillItem, Money)| Choices {
        resource,
        item,
        now,
        scenarios: SCENARIOS.map(|it| item.amount_if.get(&it).map(|range| range.expected)),
        elsewhere: report.market.and_then(|catalog| elsewhere(resource, item, now, catalog)),
        after: saved(id).map(|saves| now - saves.expected).filter(|left| *left >= Money::ZERO),
    };
    priced.into_iter().map(choices).collect()
}

/// Returns the cheapest other region or provider.
fn elsewhere(resource: &Resource, item: &BillItem, now: Money, catalog: &Catalog) -> Option<(String, Money)> {
    let here = item.per_hour?.expected;
    let places = [cheaper_region(resource, item, catalog), cheaper_provider(resource, item, catalog)];
    let best: Elsewhere = places.into_iter().flatten().min_by_key(|it| it.per_hour)?;
    let part = best.per_hour.usd() / here.usd();
    let place = format!("{} {} {}", best.provider, best.machine, best.region);
    part.is_finite().then(|| (place, now.times(part)))
}

fn row(page: &mut Html, report: &Report, scale: Scale, it: &Choices, others: &[OtherChoice]) {
    name(page, &report.called(it.resource));
    let marks = marks(it);
    page.element("td", &[("class", "bar")], |page| {
        picture(page, 20, |page| {
            for (money, color) in marks.iter().rev() {
                dot(page, scale, *money, 10, *color);
            }
        });
    });
    let amount = |money: Money| report.currency.amount(money);
    number(page, &format!("{}{}", mark_of(it.item), amount(it.now)), it.now.usd());
    for (heading, read) in others {
        let place = it.elsewhere.as_ref().filter(|_| *heading == ELSEWHERE);
        match (read(it), place) {
            (None, _) => number(page, "–", f64::MAX),
            (Some(money), None) => number(page, &amount(money), money.usd()),
            (Some(money), Some((place, _))) => {
                page.element("td", &[("class", "n"), ("data-v", &money.usd().to_string())], |page| {
                    page.text(&amount(money));
                    page.raw("<br>");
                    page.leaf("span", &[("class", "soft small")], place);
                });
            }
        }
    }
}

fn marks(it: &Choices) -> Vec<(Money, MarkColor)> {
    let [spot, one, three] = it.scenarios;
    let elsewhere = it.elsewhere.as_ref().map(|(_, money)| *money);
    let all = [
        (Some(it.now), MarkColor::Blue),
        (spot, MarkColor::Green),
        (one.or(three), MarkColor::Purple),
        (elsewhere, MarkColor::Vermillion),
        (it.after, MarkColor::Grey),
    ];
    all.into_iter().filter_map(|(money, color)| Some((money?, color))).collect()
}

fn legend(page: &mut Html) {
    let kinds = [
        ("now", MarkColor::Blue),
        ("spot", MarkColor::Green),
        ("committed", MarkColor::Purple),
        ("elsewhere", MarkColor::Vermillion),
        ("after its best fix", MarkColor::Grey),
    ];
    page.element("ul", &[("class", "legend")], |page| {
        for (what, color) in kinds {
            page.element("li", &[], |page| {
                let size = [("width", "14"), ("height", "14"), ("aria-hidden", "true"), ("focusable", "false")];
                page.element("svg", &size, |page| {
                    dot(page, Scale::to(Money::from_usd(2.0)), Money::from_usd(1.0), 7, color)
                });
                page.text(what);
            });
        }
    });
}
