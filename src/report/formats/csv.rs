//! Writes rows for spreadsheets.

use crate::catalog::MoneyRange;
use crate::fit::speed::SpeedRange;
use crate::inventory::{Fact, Key, Range, Resource};
use crate::pricing::{BillItem, Period, Status};
use crate::report::Report;
use crate::report::escape::{begins_command, one_line, shortened};
use crate::report::formats::json::WireNumber;
use crate::report::views::judged;
use crate::report::views::unit_work::{self, UnitWork};

const FINDINGS: &str = "rule,group,level,confidence,risk,path,line,column,address,kind,message,help,\
                        saves_floor_usd_per_month,saves_expected_usd_per_month,saves_ceiling_usd_per_month,\
                        suppressed,suppressed_until,baseline_since,saves_usd,saves_per\n";

/// Writes findings, including accepted ones.
pub(in crate::report) fn check(report: &Report) -> String {
    let mut rows = FINDINGS.to_owned();
    for decided in report.findings {
        let finding = &decided.finding;
        let at = report.paths.locate(report.sources, finding.span);
        let about = finding.about(report.inventory);
        let suppressed = decided.suppressed.as_ref();
        let mut cells = vec![
            text(&finding.rule),
            text(&finding.group),
            text(finding.level.name()),
            text(finding.confidence.name()),
            text(finding.risk.name()),
            text(&at.path),
            at.line.to_string(),
            at.column.to_string(),
            text(about.map(|(address, _)| address).unwrap_or_default()),
            text(about.map(|(_, kind)| kind).unwrap_or_default()),
            text(&finding.message),
            text(finding.help.as_deref().unwrap_or_default()),
        ];
        cells.extend(dollars(finding.saves.filter(|_| finding.per == Period::Month)));
        cells.push(suppressed.map(|it| text(it.reason.as_deref().unwrap_or("no reason given"))).unwrap_or_default());
        cells.push(suppressed.and_then(|it| it.until).map(|date| date.to_string()).unwrap_or_default());
        cells.push(decided.baselined.map(|date| date.to_string()).unwrap_or_default());
        cells.push(finding.saves.map(|saves| saves.expected.usd().to_string()).unwrap_or_default());
        cells.push(finding.saves.map(|_| finding.per.name().to_owned()).unwrap_or_default());
        rows.push_str(&cells.join(","));
        rows.push('\n');
    }
    not_judged(&mut rows, report);
    rows
}

/// Writes one row for each unevaluated entry, so that a file without findings does not look clean.
fn not_judged(rows: &mut String, report: &Report) {
    for it in judged::listed(report) {
        let mut cells = vec![String::new(); FINDINGS.split(',').count()];
        let line = judged::line(report, it).map(|line| line.to_string()).unwrap_or_default();
        let cure = it.cure.as_deref().map(text).unwrap_or_default();
        let said = [
            (0, text("not-judged")),
            (5, text(&report.paths.show(&it.path))),
            (6, line),
            (10, text(&it.reason)),
            (11, cure),
        ];
        for (at, cell) in said {
            cells.get_mut(at).into_iter().for_each(|place| place.clone_from(&cell));
        }
        rows.push_str(&cells.join(","));
        rows.push('\n');
    }
}

const RESOURCES: &str = "address,path,line,kind,role,provider,region,machine,accelerator,accelerator_count,purchase,\
                         count_floor,count_expected,count_ceiling,status,usd_per_hour,\
                         floor_usd_per_month,expected_usd_per_month,ceiling_usd_per_month,disks_usd_per_month,hours_per_month,\
                         per,floor_usd,expected_usd,ceiling_usd,hours,\
                         model,tokens_per_s_floor,tokens_per_s_expected,tokens_per_s_ceiling,\
                         floor_usd_per_million_tokens_at_full_load,expected_usd_per_million_tokens_at_full_load,\
                         ceiling_usd_per_million_tokens_at_full_load,\
                         usd_per_million_tokens_at_traffic,usd_per_thousand_requests,usd_per_seat_and_month\n";

/// Writes the bill.
pub(in crate::report) fn cost(report: &Report) -> String {
    let mut rows = RESOURCES.to_owned();
    for (index, resource) in report.inventory.resources.iter().enumerate() {
        let at = report.paths.locate(report.sources, resource.span);
        let item = report.bill.items.get(index);
        let mut cells = vec![
            text(&resource.address),
            text(&at.path),
            at.line.to_string(),
            text(&resource.kind),
            text(resource.role.name()),
        ];
        cells.extend(KEYS.map(|key| fact_cell(resource, key)));
        cells.extend(count(&resource.count));
        cells.push(text(status(item)));
        let hourly = item.and_then(|item| item.per_hour).map(|range| range.expected.usd().to_string());
        cells.push(hourly.unwrap_or_default());
        cells.extend(dollars(item.and_then(|item| item.monthly)));
        let disks = item.and_then(|item| item.attached.as_ref()?.known()).map(|it| it.expected.usd().to_string());
        cells.push(disks.unwrap_or_default());
        let hours = item.map(|item| (item.per, item.hours.to_string()));
        let of_month = hours.clone().filter(|(per, _)| *per == Period::Month);
        cells.push(of_month.map(|(_, hours)| hours).unwrap_or_default());
        cells
            .push(item.filter(|item| item.amount.is_some()).map(|item| item.per.name().to_owned()).unwrap_or_default());
        cells.extend(dollars(item.and_then(|item| item.amount)));
        let known = hours.filter(|(per, _)| *per != Period::Hour);
        cells.push(known.map(|(_, hours)| hours).unwrap_or_default());
        cells.extend(units(unit_work::of(report, index)));
        rows.push_str(&cells.join(","));
        rows.push('\n');
    }
    rows
}

/// Returns a resource of a scenario, with its cost.
pub(in crate::report) fn resource(report: &Report, at: usize) -> Vec<String> {
    let Some(resource) = report.inventory.resources.get(at) else { return Vec::new() };
    let item = report.bill.items.get(at);
    let mut cells = vec![text(&resource.address), text(&resource.kind), text(resource.role.name())];
    cells.extend(KEYS.map(|key| fact_cell(resource, key)));
    cells.extend(count(&resource.count));
    cells.push(text(status(item)));
    let hourly = item.and_then(|item| item.per_hour).map(|range| range.expected.usd().to_string());
    cells.push(hourly.unwrap_or_default());
    cells.push(item.filter(|item| item.amount.is_some()).map(|item| item.per.name().to_owned()).unwrap_or_default());
    cells.extend(dollars(item.and_then(|item| item.amount)));
    cells
}

const KEYS: [Key; 6] =
    [Key::Provider, Key::Region, Key::Machine, Key::Accelerator, Key::AcceleratorCount, Key::Purchase];

fn status(item: Option<&BillItem>) -> &'static str {
    match item.map(|item| &item.status) {
        Some(Status::Priced) => "priced",
        Some(Status::Estimated(_)) => "estimated",
        _ => "unpriced",
    }
}

/// Returns unit costs, rounded to three digits because the estimates are not more precise.
fn units(work: Option<UnitWork<'_>>) -> Vec<String> {
    let number = |n: f64| WireNumber::three_digits(n).to_string();
    let ends = |range: Option<SpeedRange>| match range {
        Some(range) => [range.floor, range.expected, range.ceiling].map(number),
        None => [const { String::new() }; 3],
    };
    let middle = |range: Option<SpeedRange>| range.map(|range| number(range.expected)).unwrap_or_default();
    let costs = work.as_ref().map(|it| it.costs).unwrap_or_default();
    let mut cells = vec![text(work.as_ref().and_then(|it| it.model).unwrap_or_default())];
    cells.extend(ends(work.and_then(|it| it.tokens_per_second)));
    cells.extend(ends(costs.per_million_at_full_load));
    cells.extend([costs.per_million_at_traffic, costs.per_thousand_requests, costs.per_seat].map(middle));
    cells
}

fn fact_cell(resource: &Resource, key: Key) -> String {
    match resource.fact(key) {
        Fact::Known(known) => text(&known.value.to_string()),
        Fact::Unknown(_) => "?".to_owned(),
        Fact::Absent => String::new(),
    }
}

fn count(count: &Fact<Range>) -> [String; 3] {
    match count.value() {
        Some(range) => [range.floor, range.expected, range.ceiling].map(|n| n.to_string()),
        None => [const { String::new() }; 3],
    }
}

fn dollars(range: Option<MoneyRange>) -> [String; 3] {
    match range {
        Some(range) => [range.floor, range.expected, range.ceiling].map(|money| money.usd().to_string()),
        None => [const { String::new() }; 3],
    }
}

/// Spreadsheets cut cells at 32,767 characters.
const LONGEST_CELL: usize = 30_000;

/// Characters with which a formula can begin. Some programs convert full-width characters to normal ones.
const FORMULAS: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// Writes a cell so that a spreadsheet does not run it as a formula.
pub(in crate::report) fn text(text: &str) -> String {
    let text = shortened(&one_line(text), LONGEST_CELL);
    let begins = text.trim_start();
    let text = if begins.starts_with(FORMULAS) || begins_command(begins) { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_hold_commas_and_no_formulas() {
        assert_eq!(text("a,b"), "\"a,b\"");
        assert_eq!(text("say \"a\"\nb"), "\"say \"\"a\"\" b\"");
        assert_eq!(text("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!(text("-1+1"), "\"'-1+1\"");
        for cell in ["\t=1", "\r@a", "＝1", "＋1", "－1", "＠a", "::error::a"] {
            assert!(text(cell).starts_with("\"'"), "{cell}: {}", text(cell));
        }
    }
}
