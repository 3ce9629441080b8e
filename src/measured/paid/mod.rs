//! Turns bills, the rows of `gpulint-paid.csv`, into facts of the resources that they match.
//!
//! Charges without a resource are as relevant as those with one. So each row is in one of two lists, with or without a
//! resource.

mod amount;
mod join;
mod matched;
mod month;
mod options;
pub mod row;
mod so_far;
mod sums;

pub use amount::BilledAmount;
pub use matched::{NoPartner, Paid, PaidEntry};
pub use month::BillMonth;
pub use options::PaidOptions;
pub use row::{Charge, KeyKind, PaidRow, is_harmless};
pub use sums::PaidSums;

use so_far::SoFar;

use std::collections::HashMap;
use std::sync::Arc;

use super::lines::{spans_of_lines, wrong_rows};
use super::row::UsageError;
use crate::catalog::{Catalog, Money};
use crate::inventory::{Fact, FactOrigin, FactValue, Inventory, Key, Orphaned, Resource, ResourceId};
use crate::source::{Date, SourceFiles, Span};

/// The age in days from which a bill is outdated.
const OLDEST_DAYS: i64 = 100;

const ALL: [Key; 7] = [
    Key::PaidMonthly,
    Key::PaidListMonthly,
    Key::PaidHours,
    Key::PaidCommittedShare,
    Key::PaidCommitted,
    Key::PaidSpotShare,
    Key::PaidMonth,
];

/// Reads the available files, and sets the facts of matching resources.
pub(super) fn fill_billed_facts<'o>(
    inventory: &mut Inventory,
    sources: &SourceFiles,
    options: &PaidOptions,
    catalog: &Catalog,
    today: Option<Date>,
    cluster: impl Fn(&Resource) -> Option<&'o str>,
) -> Paid {
    let mut paid = Paid { options: options.clone(), ..Paid::default() };
    for path in &options.files {
        let Ok(file) = sources.open(path) else { continue };
        paid.files += 1;
        let text = sources.text(file);
        let lines = spans_of_lines(&text);
        let place = |line: usize| {
            let (start, end) = lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
            Span::new(file, start, end)
        };
        let wrong = match row::read(&text) {
            Ok((found, wrong)) => kept(found, wrong, &mut paid.rows, place),
            Err(error) => vec![error],
        };
        wrong_rows(inventory, wrong, place, "list the columns: `gpulint usage bill --columns`");
    }
    if paid.is_empty() {
        return paid;
    }
    // A bill of the current month is always incomplete.
    for it in &mut paid.rows {
        it.row.open |= today.is_some_and(|today| today.unix_days() < it.row.month.next().first_day());
    }
    {
        // Cluster names come from the settings, which live longer.
        let clusters: Vec<Option<String>> =
            inventory.resources.iter().map(|it| cluster(it).map(str::to_owned)).collect();
        let by_address: HashMap<usize, &str> =
            clusters.iter().enumerate().filter_map(|(at, it)| Some((at, it.as_deref()?))).collect();
        join::join(&mut paid, inventory, catalog, |at| by_address.get(&at).copied());
    }
    let ids: Vec<ResourceId> = paid.matched.keys().chain(paid.unpaid.keys()).copied().collect();
    let so_far = today.map(|today| SoFar::new(&paid, inventory, today));
    for id in ids {
        let Some(resource) = inventory.resources.get_mut(id.0) else { continue };
        set_billed_facts(&paid, id, resource, catalog, today);
        so_far.iter().for_each(|it| it.set_billed_so_far(&paid, id, resource));
    }
    inventory.orphaned = orphaned(&paid);
    paid
}

/// Keeps one row for each key and month, so that a file that was added twice counts once.
fn kept(
    found: Vec<PaidRow>,
    mut wrong: Vec<UsageError>,
    rows: &mut Vec<PaidEntry>,
    place: impl Fn(usize) -> Span,
) -> Vec<UsageError> {
    let mut known: HashMap<String, usize> = HashMap::new();
    for row in found {
        match known.insert(row.identity(), row.line) {
            None => rows.push(PaidEntry { span: place(row.line), row }),
            Some(before) => wrong.push(UsageError {
                line: row.line,
                message: format!("line {before} has the same key and month, so gpulint ignores this row"),
            }),
        }
    }
    wrong
}

fn set_billed_facts(paid: &Paid, id: ResourceId, resource: &mut Resource, catalog: &Catalog, today: Option<Date>) {
    let first = paid.of(id).next();
    let span = first.map_or(resource.span, |it| it.span);
    let last = first.and_then(|it| paid.last_month(&it.row.provider));
    let told = match (paid.unpaid.get(&id), last) {
        (Some(why), _) => Err(why.clone()),
        (None, None) => Err("no month of the bill has ended".to_owned()),
        (None, Some(month)) => reliable_sums(paid, id, resource, month, catalog, today).map(|sums| (month, sums)),
    };
    let (month, sums) = match told {
        Ok(told) => told,
        Err(why) => {
            let why: Arc<str> = why.into();
            ALL.into_iter().for_each(|key| resource.set(key, Fact::unknown(why.clone(), span)));
            return;
        }
    };
    let span = paid.of(id).find(|it| it.row.month == month).map_or(span, |it| it.span);
    let known = |value: FactValue| Fact::known(value, span, FactOrigin::Resolved);
    let number = |value: Option<f64>, column: &str| match value {
        Some(value) => known(FactValue::Number(value)),
        None => Fact::unknown(format!("unknown from the bill: a row has no `{column}`"), span),
    };
    resource.set(Key::PaidMonthly, known(FactValue::Number(sums.paid.usd())));
    resource.set(Key::PaidListMonthly, number(sums.list.map(Money::usd), "list"));
    resource.set(Key::PaidHours, number(sums.hours.map(BilledAmount::as_f64), "hours"));
    let hours = |is_told: bool, column: &'static str| if is_told { "hours" } else { column };
    let committed = sums.share(sums.committed).filter(|_| sums.is_committed_told);
    let spot = sums.share(sums.spot).filter(|_| sums.is_spot_told);
    let machines = paid.committed_machines(id, resource, month).filter(|_| committed.is_some());
    resource.set(Key::PaidCommittedShare, number(committed, hours(sums.is_committed_told, "committed")));
    resource.set(Key::PaidCommitted, number(machines, hours(sums.is_committed_told, "committed")));
    resource.set(Key::PaidSpotShare, number(spot, hours(sums.is_spot_told, "spot")));
    resource.set(Key::PaidMonth, known(FactValue::text(month.to_string())));
}

/// Returns the sums of a recent month, or why there are none.
fn reliable_sums(
    paid: &Paid,
    id: ResourceId,
    resource: &Resource,
    month: BillMonth,
    catalog: &Catalog,
    today: Option<Date>,
) -> Result<PaidSums, String> {
    let age = today.map(|today| today.unix_days() - month.next().first_day());
    if let Some(age) = age.filter(|age| *age > OLDEST_DAYS) {
        return Err(format!("the last billed month, {month}, ended {age} days ago"));
    }
    if let Some(other) = paid.other_machine(id, resource, month, catalog) {
        let asked = resource.text(Key::Machine).unwrap_or_default();
        return Err(format!("the bill of {month} has {other}, but the configuration now requests {asked}"));
    }
    paid.sums(id, month)?.ok_or_else(|| format!("the bill has charges for it before {month}, but none in {month}"))
}

/// Returns machines that were billed in the last closed month and that no file defines, for providers whose machines
/// should all be defined here.
fn orphaned(paid: &Paid) -> Option<Orphaned> {
    let mut orphaned = Orphaned::default();
    let mut names: Vec<(Money, String)> = Vec::new();
    let mut last_months: HashMap<&str, Option<BillMonth>> = HashMap::new();
    for (at, why) in &paid.unmatched {
        let Some(it) = paid.rows.get(*at) else { continue };
        let row = &it.row;
        let is_complete = paid.options.complete.contains(&row.provider);
        // A charge that matches several resources does have a resource.
        if !(is_complete && why.is_nowhere() && row.charge == Charge::Usage) {
            continue;
        }
        let last = last_months.entry(&row.provider).or_insert_with(|| paid.last_month(&row.provider));
        if *last != Some(row.month) {
            continue;
        }
        let dollars = match paid.options.dollars(row, row.paid) {
            Ok(dollars) => dollars,
            Err(why) => {
                orphaned.open = Some(why.into());
                continue;
            }
        };
        orphaned.usd += dollars.usd();
        orphaned.things += 1;
        orphaned.month = row.month.to_string().into();
        names.push((dollars, row.shown()));
    }
    names.sort_by(|a, b| b.cmp(a));
    let first: Vec<String> = names.into_iter().take(3).map(|(_, name)| name).collect();
    orphaned.named = first.join(", ").into();
    (orphaned.things > 0 || orphaned.open.is_some()).then_some(orphaned)
}
