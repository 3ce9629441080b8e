//! Writes the summary below the findings: totals, causes, prices and their age.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::table::TextTable;
use crate::catalog::{Money, MoneyRange};
use crate::decide::Decided;
use crate::diagnostic::Level;
use crate::inventory::{BillingRole, CountedAs, FactValue, Key, Resource};
use crate::pricing::{BillItem, CostSum, NearbyVolume, Period, Status};
use crate::report::views::cost_line::{cost_line, cost_rows};
use crate::report::views::judged;
use crate::report::views::money::{mark, role_heading};
use crate::report::views::price_age::price_age;
use crate::report::views::scorecard::{Scorecard, best_at_full_scale, best_of, best_savings, saving};
use crate::report::views::{coverage, excluded};
use crate::report::{EntryDetail, Most, Report, ReportStyle, escape};
use crate::resolve::plain;
use crate::rules::{Finding, Safety};

/// The limit on causes that are listed. The rest is only counted.
const MOST_CAUSES: usize = 5;

/// The limit on reasons for unread files on the first screen.
const MOST_REASONS: usize = 2;

/// Writes the first lines: the cost, the possible savings, and what was not evaluated.
pub(super) fn top(text: &mut String, report: &Report, style: ReportStyle) {
    let _ = writeln!(text, "{}", bold(&cost_line(report), style));
    let open = judged::in_numbers(report).map(|it| format!("; {it}")).unwrap_or_default();
    let _ = writeln!(text, "{}", bold(&format!("{}{open}", found(report)), style));
    for row in cost_rows(report) {
        let _ = writeln!(text, "{row}");
    }
}

/// Returns the heading of a group: its name, how many findings, and what they save.
pub(super) fn heading(report: &Report, name: &str, findings: &[&Decided], style: ReportStyle) -> String {
    let best = best_of(report, findings.iter().map(|it| &it.finding).filter(|it| it.saves.is_some()));
    let saved: Money = best.values().filter_map(|it| it.saves).map(|saves| saves.expected).sum();
    let saved = match saved.is_zero() {
        true => String::new(),
        false => format!(", possible savings up to {}", report.currency.amount(saved)),
    };
    let name = escape::shortened(&escape::one_line(name), 120);
    format!("{}\n\n", bold(&format!("{name}: {}{saved}", counted(findings.len(), "finding")), style))
}

/// Counts the findings that the screen leaves out, and names the option that shows them.
pub(super) fn left_out(text: &mut String, report: &Report, left_out: &[&Decided], style: ReportStyle) {
    let hidden_notes = report.findings.iter().filter(|it| it.counts() && !style.choice.shows(it)).count();
    if hidden_notes > 0 {
        let _ = writeln!(text, "not shown: {}; -v shows them", counted(hidden_notes, "note"));
    }
    if left_out.is_empty() {
        return;
    }
    let of = |level| left_out.iter().filter(|it| it.finding.level == level).count();
    let levels = Level::ALL.into_iter().rev().filter(|level| of(*level) > 0);
    let levels: Vec<String> = levels.map(|level| counted(of(level), level.name())).collect();
    let _ = writeln!(text, "not shown: {}; --all shows everything, --top N shows the first N", levels.join(", "));
}

/// Lists what was not evaluated, so that a reader never takes a missing finding for a clean result. With `-v`, also
/// the details behind the totals.
pub(super) fn write(text: &mut String, report: &Report, style: ReportStyle) {
    judged::text(text, report);
    fixes(text, report);
    if style.choice.detail < EntryDetail::Verbose && style.choice.most != Most::All {
        in_short(text, report);
        return;
    }
    let undetermined = report.undetermined.iter().map(|it| format!("{}: {}", it.rule, it.cause));
    causes(text, undetermined.collect(), checks_skipped);
    write_bill(text, report, style);
    text.push_str(&Scorecard::new(report).text());
}

/// Lists what was not evaluated in a few lines: the counts, and the command or option that lists everything.
fn in_short(text: &mut String, report: &Report) {
    let mut parts = Vec::new();
    let mut part = |n: usize, words: fn(usize) -> String| {
        if n > 0 {
            parts.push(words(n));
        }
    };
    part(report.undetermined.len(), checks_skipped);
    part(unpriced(report).len(), without_price);
    part(estimated(report).count(), with_estimate);
    if !parts.is_empty() {
        let _ = writeln!(text, "{}; reasons: -v", parts.join("; "));
    }
    most_frequent(text, estimated(report).collect(), MOST_REASONS);
    for line in excluded::lines(report).into_iter().chain(coverage::line(report)) {
        let _ = writeln!(text, "{line}");
    }
    measured(text, report);
    most_frequent(text, report.inventory.skipped.iter().map(|it| it.reason.clone()).collect(), MOST_REASONS);
    if !report.catalog.as_of.is_empty() {
        let _ = writeln!(text, "{}; bill: `gpulint cost`; all details: -v", price_age(report));
    }
}

/// Writes how many findings `check --fix` can fix.
fn fixes(text: &mut String, report: &Report) {
    let ready = report.findings.iter().filter(|it| it.counts() && !it.finding.edits.is_empty());
    let count = |safety| ready.clone().filter(|it| it.finding.safety() == Some(safety)).count();
    let _ = match (count(Safety::Safe), count(Safety::Unsafe)) {
        (0, 0) => Ok(()),
        (0, more) => writeln!(text, "{more} of these findings can be fixed: gpulint check --fix --unsafe-fixes"),
        (n, 0) => writeln!(text, "{n} of these findings can be fixed: gpulint check --fix"),
        (n, more) => {
            writeln!(text, "{n} of these findings can be fixed: gpulint check --fix ({more} more with --unsafe-fixes)")
        }
    };
}

/// Writes the totals and the costs that they leave out.
pub(super) fn write_bill(text: &mut String, report: &Report, style: ReportStyle) {
    bill(text, report, style);
    if report.inventory.resources.iter().any(Resource::is_added) {
        text.push_str("minimum: always runs; expected: most likely; maximum: can run at most\n");
    }
    for line in excluded::lines(report).into_iter().chain(coverage::line(report)) {
        let _ = writeln!(text, "{line}");
    }
    measured(text, report);
    causes(text, versions(report), |n| {
        format!("{} not added, because another version of the same object is", counted(n, "resource"))
    });
    let open = report.inventory.resources.iter().filter(|it| it.is_added() && it.is_unlimited());
    let open = open.map(|it| escape::one_line(&it.address));
    causes(text, open.collect(), |n| {
        format!("{} without a limit, so that the maximum contains the expected cost", counted(n, "resource"))
    });
    causes(text, unpriced(report), without_price);
    causes(text, estimated(report).collect(), with_estimate);
    let machines = report.unknown_machines.iter().map(|it| it.why.to_string());
    causes(text, machines.collect(), |n| format!("{} that may have accelerators", counted(n, "resource")));
    let skipped = report.inventory.skipped.iter().map(|it| it.reason.clone());
    causes(text, skipped.collect(), |n| format!("{} skipped", counted(n, "file")));
    if !report.catalog.as_of.is_empty() {
        // The version of a saved report can contain anything.
        let version = escape::one_line(&report.catalog.version);
        let layers = version.split_once(' ').map(|(_, layers)| format!(" ({layers})")).unwrap_or_default();
        let _ = writeln!(text, "{}{layers}; a month is 730 hours", price_age(report));
        if let Some(line) = report.currency.rate() {
            let _ = writeln!(text, "{line}");
        }
        let _ = writeln!(text, "not included: {}", not_included(report).join(", "));
    }
}

fn measured(text: &mut String, report: &Report) {
    if let Some(line) = report.measured.in_short() {
        let _ = writeln!(text, "{line}; list: `gpulint usage show`");
    }
}

/// Returns lines about resources that the total does not count because it counts another version: the base of an
/// overlay, alternatives.
fn versions(report: &Report) -> Vec<String> {
    let place = |span| {
        let at = report.paths.locate(report.sources, span);
        format!("{}:{}", at.path, at.line)
    };
    let shown = |it: &Resource| {
        let counts = place(it.version_of?);
        Some(format!("{} in {}: the total counts {counts}", escape::one_line(&it.address), place(it.span)))
    };
    report.inventory.resources.iter().filter_map(shown).collect()
}

/// Returns lines about costs that the bill does not contain: costs that gpulint found and cannot price, then costs
/// that no file contains.
fn not_included(report: &Report) -> Vec<String> {
    let mut all = Vec::new();
    let items = || report.bill.items.iter();
    match items().filter(|it| it.attached.as_ref().is_some_and(|it| !it.not_known.is_empty())).count() {
        0 => {}
        n => all.push(format!("disks of unknown size or price ({n})")),
    }
    match items().filter(|it| it.licence.is_some()).count() {
        0 => {}
        n => all.push(format!("licenses ({n}{})", known_licences(report))),
    }
    all.extend(volumes(report));
    all.extend(nearby_volumes(report));
    all.extend(["transfer", "support", "tax"].map(str::to_owned));
    all
}

/// Returns the list price of the licenses of counted machines, as far as the catalog has it.
fn known_licences(report: &Report) -> String {
    let counted = report.inventory.resources.iter().zip(&report.bill.items).filter(|(it, _)| it.is_added());
    let sum = counted.filter_map(|(_, item)| item.licence_month).reduce(|sum, it| sum + it);
    sum.map(|sum| format!(", known list prices {}/month", report.currency.range(sum))).unwrap_or_default()
}

/// Returns the volumes and file systems that resources use and that are billed separately, the first ones by name.
fn volumes(report: &Report) -> Option<String> {
    const MOST_NAMED: usize = 3;
    let priced = report.bill.items.iter().filter_map(|item| item.attached.as_ref()).flat_map(|it| &it.named);
    let priced: BTreeSet<&str> = priced.map(|name| &**name).collect();
    let resources = report.inventory.resources.iter().filter(|it| it.is_added());
    let is_open = |named: &&str| !priced.contains(named.split(" (").next().unwrap_or_default());
    let named: BTreeSet<&str> = resources
        .filter_map(|it| match it.fact(Key::Volumes).value() {
            Some(FactValue::List(named)) => Some(named.iter().map(|name| &**name)),
            _ => None,
        })
        .flatten()
        .filter(is_open)
        .collect();
    let shown: Vec<String> = named.iter().take(MOST_NAMED).map(|name| escape::one_line(name)).collect();
    match named.len().saturating_sub(shown.len()) {
        _ if shown.is_empty() => None,
        0 => Some(shown.join(", ")),
        more => Some(format!("{} and {more} more volumes", shown.join(", "))),
    }
}

/// Returns the volumes, file systems and gateways next to machines, the most expensive first, with size and price if known.
fn nearby_volumes(report: &Report) -> Option<String> {
    const MOST_NAMED: usize = 3;
    let items = report.inventory.resources.iter().zip(&report.bill.items).filter(|(it, _)| it.is_added());
    let mut all: Vec<&NearbyVolume> =
        items.filter_map(|(_, item)| item.attached.as_ref()).flat_map(|it| &it.nearby).collect();
    all.sort_by_key(|it| (Reverse(it.monthly), it.name.clone()));
    let text = |it: &&NearbyVolume| {
        let size = it.gib.map(|gib| format!("{} GiB", plain(gib)));
        let price = it.monthly.map(|monthly| format!("~{}/month", report.currency.amount(monthly)));
        let unused = it.is_unused.then(|| "not attached".to_owned());
        let details: Vec<String> = size.into_iter().chain(price).chain(unused).collect();
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
        format!("{}{details}", escape::one_line(&it.name))
    };
    let shown: Vec<String> = all.iter().take(MOST_NAMED).map(text).collect();
    match all.len().saturating_sub(shown.len()) {
        _ if shown.is_empty() => None,
        0 => Some(format!("in the same root: {}", shown.join("; "))),
        more => Some(format!("in the same root: {} and {more} more", shown.join("; "))),
    }
}

/// Returns the number of findings of each level, the possible savings, and what was not evaluated.
pub(in crate::report) fn headline(report: &Report) -> String {
    let open = judged::in_short(report).map(|it| format!("; {it}")).unwrap_or_default();
    format!("{}{open}", found(report))
}

/// Returns the number of findings of each level, and the possible savings.
pub(in crate::report) fn found(report: &Report) -> String {
    let counting: Vec<_> = report.findings.iter().filter(|it| it.counts()).collect();
    let accepted = report.findings.len() - counting.len();
    let (counting, apart): (Vec<&Decided>, Vec<&Decided>) =
        counting.into_iter().partition(|it| it.counted == CountedAs::Deployed);
    let mut parts: Vec<String> = Vec::new();
    for level in Level::ALL.into_iter().rev() {
        match counting.iter().filter(|it| it.finding.level == level).count() {
            0 => {}
            n => parts.push(counted(n, level.name())),
        }
    }
    let found = match parts.as_slice() {
        [] if !apart.is_empty() => "no findings in the total".to_owned(),
        [] => "no findings".to_owned(),
        parts => parts.join(", "),
    };
    let accepted = match accepted {
        0 => String::new(),
        n => format!(", {n} accepted"),
    };
    let saved: Vec<String> = Period::ALL.into_iter().filter_map(|per| savings(report, per)).collect();
    let saved = match saved.as_slice() {
        [] => String::new(),
        saved => format!("; possible savings up to {}", saved.join(", ")),
    };
    let mut places: BTreeMap<CountedAs, usize> = BTreeMap::new();
    apart.iter().for_each(|it| *places.entry(it.counted).or_default() += 1);
    let apart: Vec<String> = places.iter().map(|(counted, n)| format!("; {n} {}", excluded::place(*counted))).collect();
    format!("{found}{accepted}{saved}{}", apart.concat())
}

/// Returns the saving if every finding is fixed: `~$386/month`, `$386/month ($1,003 if everything runs)`. The second
/// amount appears if a finding saves money only then.
fn savings(report: &Report, per: Period) -> Option<String> {
    let (now, full) = (best_savings(report), best_at_full_scale(report));
    let of_per = |best: &BTreeMap<_, &Finding>, amount: fn(MoneyRange) -> Money| -> Money {
        best.values().filter(|it| it.per == per).filter_map(|it| it.saves).map(amount).sum()
    };
    let (expected, most) = (of_per(&now, |it| it.expected), of_per(&full, |it| it.ceiling));
    let shown = |money: Money| report.currency.amount(money);
    let at_rest = saving(report).any(|it| it.per == per && it.saves.is_some_and(|saves| saves.expected.is_zero()));
    let has_more = at_rest && most > expected;
    match (expected.is_zero(), has_more) {
        (true, false) => None,
        (true, true) => Some(format!("{}/{} if everything runs", shown(most), per.name())),
        (false, true) => Some(format!("{}/{} ({} if everything runs)", shown(expected), per.name(), shown(most))),
        (false, false) => Some(format!("{}/{}", shown(expected), per.name())),
    }
}

fn bill(text: &mut String, report: &Report, style: ReportStyle) {
    let counts = |it: &&Resource| it.is_added();
    let endings = report.bill.endings(report.inventory);
    let ends = |role| endings.iter().filter(move |((of, _), _)| *of == role).map(|(_, it)| it.resources);
    let count = |role| {
        let all = report.inventory.resources.iter().filter(counts).filter(|it| it.role == role).count();
        all.saturating_sub(ends(role).sum())
    };
    let mut table = TextTable::new(&["", "", "minimum", "expected", "maximum"], 2..5);
    let at_least = |sum: &CostSum| if sum.is_whole() { "" } else { "at least" };
    let mut line = |name: &str, at_least: &str, count: usize, range: MoneyRange, mark: &str| {
        if count > 0 {
            let money = [range.floor, range.expected, range.ceiling].map(|money| report.currency.amount(money));
            let [floor, expected, ceiling] = money;
            let expected = if range.expected.is_zero() { expected } else { format!("{mark}{expected}") };
            table.row(vec![format!("{name} ({count})"), at_least.to_owned(), floor, expected, ceiling]);
        }
    };
    let mark = |role, per| mark(report.is_estimated(role, per));
    for role in [BillingRole::Rented, BillingRole::Requested] {
        let (sum, mark) = (report.bill.of_role(role), mark(role, Period::Month));
        line(&format!("{}, per month", role_heading(role)), at_least(sum), count(role), sum.minimum(), mark);
    }
    for ((role, per), ending) in &endings {
        let name = format!("{}, per {}", role_heading(*role), per.name());
        line(&name, "", ending.resources, ending.amount, mark(*role, *per));
    }
    let has_disks = |it: &&BillItem| it.attached.as_ref().is_some_and(|it| !it.monthly.ceiling.is_zero());
    let disks = &report.bill.attached;
    line("disks, per month", at_least(disks), report.bill.items.iter().filter(has_disks).count(), disks.minimum(), "");
    text.push_str(&table.print_within(style.columns));
}

/// Returns the reasons why the cost of counted resources is an estimate.
pub(in crate::report) fn estimated(report: &Report) -> impl Iterator<Item = String> {
    let items = report.inventory.resources.iter().zip(&report.bill.items).filter(|(it, _)| it.is_added());
    items.filter_map(|(_, item)| item.estimate().map(str::to_owned))
}

fn unpriced(report: &Report) -> Vec<String> {
    let reasons = report.bill.items.iter().filter_map(|item| match &item.status {
        Status::Unpriced(why) => Some(why.clone()),
        _ => None,
    });
    reasons.collect()
}

fn checks_skipped(n: usize) -> String {
    format!("{} skipped: value unknown", counted(n, "check"))
}

fn without_price(n: usize) -> String {
    format!("{} without a price", counted(n, "resource"))
}

fn with_estimate(n: usize) -> String {
    format!("{} with an estimated price (~)", counted(n, "resource"))
}

/// Returns a heading with the number of causes, then the most frequent ones.
fn causes(text: &mut String, causes: Vec<String>, heading: fn(usize) -> String) {
    if causes.is_empty() {
        return;
    }
    let _ = writeln!(text, "{}", heading(causes.len()));
    let left_out = most_frequent(text, causes, MOST_CAUSES);
    if left_out > 0 {
        let _ = writeln!(text, "  other causes: {left_out}; --format json lists them all");
    }
}

/// Writes the most frequent causes, one per line; returns the number of other causes.
fn most_frequent(text: &mut String, causes: Vec<String>, most: usize) -> usize {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cause in causes {
        *counts.entry(escape::shortened(&escape::one_line(&cause), 160)).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (cause, count) in counts.iter().take(most) {
        let _ = writeln!(text, "  {count} × {cause}");
    }
    counts.len().saturating_sub(most)
}

pub(super) fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn bold(text: &str, style: ReportStyle) -> String {
    if style.color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}
