//! Shows who pays, with one picture for each way to divide the bill.

use super::bars::{MarkColor, Scale, interval, picture};
use super::markup::Html;
use super::page::PageSection;
use super::table::{Column, HtmlTable, left_out, name, number};
use crate::catalog::MoneyRange;
use crate::inventory::BillingRole;
use crate::pricing::CostSum;
use crate::report::Report;
use crate::report::views::cuts::{CostSlice, Cut, counted, slices};

pub(in crate::report) fn section(report: &Report) -> Option<PageSection> {
    let roles: Vec<BillingRole> = [BillingRole::Rented, BillingRole::Requested]
        .into_iter()
        .filter(|role| counted(report).any(|(it, item)| it.role == *role && item.monthly.is_some()))
        .collect();
    if roles.is_empty() {
        return None;
    }
    let cuts: Vec<(Cut, Vec<CostSlice>)> = Cut::ALL.into_iter().map(|cut| (cut, slices(report, cut))).collect();
    // Cuts for which no resource has a value are left out.
    let cuts: Vec<(Cut, Vec<CostSlice>)> = cuts
        .into_iter()
        .filter(|(cut, slices)| matches!(cut, Cut::Team | Cut::Purpose) || slices.iter().any(|it| it.is_named))
        .collect();
    let mut body = Html::new();
    tabs(&mut body, &cuts);
    if roles.len() == 2 {
        body.leaf(
            "p",
            &[("class", "soft small")],
            "The cost of pods is another view of the machines that they run on: the two are never added.",
        );
    }
    for (cut, slices) in &cuts {
        panel(&mut body, report, *cut, slices, &roles);
    }
    let role = roles.iter().copied().find(|role| !total(report, *role).expected.is_zero());
    let answer = role.and_then(|role| cuts.iter().find_map(|(cut, slices)| most(report, *cut, slices, role)));
    Some(PageSection { id: "who-pays", title: "Who pays?", answer, body })
}

/// Returns text such as `Most is for team search: $12,000 of $30,000/month for provisioned machines.`.
fn most(report: &Report, cut: Cut, slices: &[CostSlice], role: BillingRole) -> Option<String> {
    let of = |slice: &CostSlice| amount(slice, role);
    let first = slices.iter().max_by_key(|it| of(it).expected).filter(|it| !of(it).expected.is_zero())?;
    let (part, all) =
        (report.currency.amount(of(first).expected), report.currency.amount(total(report, role).expected));
    let whose = if role == BillingRole::Rented { "provisioned machines" } else { "pods" };
    let all = if report.bill.of_role(role).is_whole() { all } else { format!("at least {all}") };
    let share = of(first).expected.usd() / total(report, role).expected.usd();
    let how_much = match share {
        share if share > 0.999 => "All cost".to_owned(),
        share if share > 0.5 => "Most cost".to_owned(),
        share => format!("The largest share, {:.0}%,", share * 100.0),
    };
    Some(match first.is_named {
        true => format!("{how_much} is for {} {}: {part} of {all}/month for {whose}.", cut.name(), first.name),
        false if cut == Cut::Team => {
            format!("{how_much} has no owner: {part} of {all}/month for {whose} has no team label.")
        }
        false => format!("{how_much} has {}: {part} of {all}/month for {whose}.", first.name),
    })
}

fn total(report: &Report, role: BillingRole) -> MoneyRange {
    report.bill.of_role(role).minimum()
}

fn amount(slice: &CostSlice, role: BillingRole) -> MoneyRange {
    if role == BillingRole::Rented { slice.rented.minimum() } else { slice.requested.minimum() }
}

/// Buttons that select a panel by style sheet; without styles, all panels are visible and the buttons are hidden.
fn tabs(page: &mut Html, cuts: &[(Cut, Vec<CostSlice>)]) {
    page.element("fieldset", &[("class", "tabs"), ("hidden", "")], |page| {
        page.leaf("legend", &[], "Group by");
        // The first selected cut: one with a named slice.
        let first = cuts.iter().position(|(_, slices)| slices.iter().any(|it| it.is_named)).unwrap_or_default();
        for (at, (cut, _)) in cuts.iter().enumerate() {
            page.element("label", &[], |page| {
                let mut attributes = vec![("type", "radio"), ("name", "cut"), ("value", cut.name())];
                if at == first {
                    attributes.push(("checked", ""));
                }
                page.void("input", &attributes);
                page.text(cut.name());
            });
        }
    });
}

fn panel(page: &mut Html, report: &Report, cut: Cut, slices: &[CostSlice], roles: &[BillingRole]) {
    let class = format!("panel cut-{}", cut.name());
    let id = format!("by-{}", cut.name());
    let caption = format!("By {}: bar = expected cost, line = minimum to maximum", cut.name());
    let mut columns = vec![(cut.name(), Column::Text), ("expected, with minimum and maximum", Column::Picture)];
    for role in roles {
        columns.push((if *role == BillingRole::Rented { "machines" } else { "pods" }, Column::Number));
    }
    columns.push(("resources", Column::Number));
    let all = slices.iter().flat_map(|it| roles.iter().map(|role| amount(it, *role)));
    let scale = Scale::of(all.collect::<Vec<_>>().into_iter());
    page.element("figure", &[("class", &class)], |page| {
        let table = HtmlTable { id: &id, caption: &caption, columns: &columns, is_searchable: false };
        let rest = table.print(page, slices, |page, slice| {
            name(page, &slice.name);
            page.element("td", &[("class", "bar")], |page| {
                let drawn: Vec<&BillingRole> =
                    roles.iter().filter(|it| amount(slice, **it) != MoneyRange::ZERO).collect();
                picture(page, 18 * drawn.len().max(1) as u32, |page| {
                    for (at, role) in drawn.into_iter().enumerate() {
                        let color = if *role == BillingRole::Rented { MarkColor::Blue } else { MarkColor::Green };
                        interval(page, scale, amount(slice, *role), 18 * at as u32 + 2, 14, color);
                    }
                });
            });
            for role in roles {
                let sum = if *role == BillingRole::Rented { &slice.rented } else { &slice.requested };
                number(page, &shown(report, slice, sum), sum.minimum().expected.usd());
            }
            let count = match slice.unpriced() {
                0 => slice.resources.to_string(),
                n => format!("{}, {n} unpriced", slice.resources),
            };
            number(page, &count, slice.resources as f64);
        });
        left_out(page, rest, "of them");
    });
}

/// Returns the amount of a slice. If no resource has an amount, it is zero only if all resources have a monthly cost.
fn shown(report: &Report, slice: &CostSlice, sum: &CostSum) -> String {
    let range = sum.minimum();
    match (range == MoneyRange::ZERO, slice.unpriced(), slice.beside) {
        (true, 1.., _) => return "unknown".to_owned(),
        (true, 0, 1..) => return "not per month".to_owned(),
        _ => {}
    }
    let at_least = if sum.is_whole() { "" } else { "at least " };
    let (expected, most) = (report.currency.amount(range.expected), report.currency.amount(range.ceiling));
    match (range.expected.is_zero(), range.ceiling > range.expected) {
        (true, true) => format!("maximum {most}"),
        (false, true) => format!("{at_least}{expected}, maximum {most}"),
        (_, false) => format!("{at_least}{expected}"),
    }
}
