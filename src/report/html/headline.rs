//! Writes the cards at the top of the page: cost, possible savings, accelerators, and what the total leaves out.

use std::collections::BTreeSet;

use super::bars::{MarkColor, Scale, interval, picture};
use super::markup::Html;
use crate::catalog::{Money, MoneyRange};
use crate::inventory::{BillingRole, Key, Range};
use crate::pricing::Period;
use crate::report::Report;
use crate::report::views::cuts::counted;
use crate::report::views::money::mark;

/// Returns a card for each of the most important numbers.
pub(in crate::report) fn cards(report: &Report, with_findings: bool) -> Html {
    let mut page = Html::new();
    for (role, title, color) in [
        (BillingRole::Rented, "Provisioned machines, per month", MarkColor::Blue),
        (BillingRole::Requested, "Requested by pods, per month", MarkColor::Green),
    ] {
        let count = counted(report).filter(|(it, item)| it.role == role && item.monthly.is_some()).count();
        if count > 0 {
            amount(&mut page, report, role, title, color);
        }
    }
    if with_findings {
        savings(&mut page, report);
    }
    accelerators(&mut page, report);
    not_counted(&mut page, report);
    page
}

fn card(page: &mut Html, title: &str, big: &str, inside: impl FnOnce(&mut Html)) {
    page.element("div", &[("class", "card")], |page| {
        page.leaf("h2", &[], title);
        page.leaf("p", &[("class", "big")], big);
        inside(page);
    });
    page.raw("\n");
}

fn amount(page: &mut Html, report: &Report, role: BillingRole, title: &str, color: MarkColor) {
    let sum = report.bill.of_role(role);
    let range = sum.minimum();
    let amount = |money| report.currency.amount(money);
    let mark = mark(report.is_estimated(role, Period::Month));
    let big = match range {
        range if range.expected.is_zero() && range.ceiling > Money::ZERO => {
            format!("{} to {mark}{}", amount(range.expected), amount(range.ceiling))
        }
        _ => report.currency.at_least(sum, mark),
    };
    card(page, title, &big, |page| {
        picture(page, 22, |page| interval(page, Scale::to(range.ceiling.max(range.expected)), range, 2, 18, color));
        page.element("p", &[("class", "ends")], |page| {
            page.leaf("span", &[], &format!("minimum {}", amount(range.floor)));
            page.raw(" ");
            let is_open = counted(report).any(|(it, _)| it.role == role && it.is_unlimited());
            let most = match (is_open, sum.is_whole()) {
                (true, _) => "no maximum".to_owned(),
                (false, false) => format!("maximum at least {}", amount(range.ceiling)),
                (false, true) => format!("maximum {}", amount(range.ceiling)),
            };
            page.leaf("span", &[], &most);
        });
    });
}

fn accelerators(page: &mut Html, report: &Report) {
    let mut sum = Range { floor: 0.0, expected: 0.0, ceiling: 0.0 };
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    let has_rented = counted(report).any(|(it, _)| it.role == BillingRole::Rented);
    let role = if has_rented { BillingRole::Rented } else { BillingRole::Requested };
    let mut unknown = 0;
    for (resource, _) in counted(report).filter(|(it, _)| it.role == role) {
        kinds.extend(resource.text(Key::Accelerator));
        match (resource.count.value(), resource.number(Key::AcceleratorCount)) {
            (Some(count), Some(each)) => {
                sum.floor += count.floor * each;
                sum.expected += count.expected * each;
                sum.ceiling += if count.ceiling.is_finite() { count.ceiling * each } else { count.expected * each };
            }
            _ => unknown += 1,
        }
    }
    if sum.ceiling <= 0.0 && unknown == 0 {
        return;
    }
    let whole = |n: f64| format!("{}", (n * 100.0).round() / 100.0);
    let at_least = if unknown > 0 { "at least " } else { "" };
    let title = if has_rented { "Provisioned accelerators" } else { "Requested accelerators" };
    card(page, title, &format!("{at_least}{}", whole(sum.expected)), |page| {
        let names: Vec<&str> = kinds.iter().copied().take(4).collect();
        let more = if kinds.len() > names.len() { ", …" } else { "" };
        page.leaf("p", &[("class", "soft small")], &format!("{}{more}", names.join(", ")));
        if sum.floor < sum.ceiling {
            let ends = format!("minimum {}, maximum {}", whole(sum.floor), whole(sum.ceiling));
            page.leaf("p", &[("class", "soft small")], &ends);
        }
        if unknown > 0 {
            page.leaf("p", &[("class", "soft small")], &format!("number unknown for {unknown} resources"));
        }
    });
}

fn savings(page: &mut Html, report: &Report) {
    let steps = super::waste::steps(report);
    let Some(all) = steps.last().filter(|it| it.saves > Money::ZERO) else { return };
    let mark = mark(super::waste::is_estimated(report));
    card(
        page,
        "Possible savings per month, at most",
        &format!("{mark}{}", report.currency.amount(all.saves)),
        |page| {
            let safe = steps.first().map_or(Money::ZERO, |it| it.saves);
            let scale = Scale::to(all.saves);
            picture(page, 22, |page| {
                let range = MoneyRange { floor: safe, expected: safe, ceiling: safe };
                interval(
                    page,
                    scale,
                    MoneyRange { floor: all.saves, expected: all.saves, ceiling: all.saves },
                    2,
                    18,
                    MarkColor::Grey,
                );
                interval(page, scale, range, 2, 18, MarkColor::Green);
            });
            let told = match safe.is_zero() {
                true => "none at low risk".to_owned(),
                false => format!("{} at low risk", report.currency.amount(safe)),
            };
            page.leaf("p", &[("class", "soft small")], &told);
        },
    );
}

/// Writes the card about costs that are not counted. It is as large as the totals, so that an incomplete total does
/// not look complete.
fn not_counted(page: &mut Html, report: &Report) {
    let unpriced = report.bill.unpriced();
    let (unjudged, undetermined) = (report.inventory.unjudged.len(), report.undetermined.len());
    let unknown = report.unknown_machines.len();
    let apart: usize = report.bill.apart.values().map(|it| it.resources).sum();
    let ends: usize = report.bill.endings(report.inventory).values().map(|it| it.resources).sum();
    let told = [
        (unpriced, "without a price"),
        (ends, "that end, billed per run or hour"),
        (unjudged, "not evaluated"),
        (unknown, "with unknown accelerators"),
        (undetermined, "skipped checks"),
        (apart, "excluded from the total"),
    ];
    // Counts only items that may cost money. Skipped checks and excluded resources are listed in other places.
    let total = unpriced + ends + unjudged + unknown;
    card(page, "Not in the total", &if total == 0 { "none known".to_owned() } else { total.to_string() }, |page| {
        let told: Vec<String> = told.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if told.is_empty() {
            page.leaf("p", &[("class", "soft small")], "Every evaluated resource has a price.");
        } else {
            page.element("p", &[("class", "soft small")], |page| {
                page.leaf("a", &[("href", "#not-counted")], &told.join(", "));
            });
        }
    });
}
