//! Lists what limits the cost of a month and what does not, for `gpulint limit`.

use std::fmt::Write;

use serde::Serialize;

use crate::inventory::{Key, LinkKind, Resource, ResourceId};
use crate::pricing::{HOURS_PER_MONTH, LimitedBy, NoLimit, Unlimited, WorstPart};
use crate::report::escape::{one_line, shortened};
use crate::report::formats::json::{self, WireNumber, WireWorst};
use crate::report::formats::text::TextTable;
use crate::report::views::cost_line::cost_line;
use crate::report::views::worst;
use crate::report::{Format, Report, ReportStyle};
use crate::resolve::plain;

/// The most things without a limit that are listed as text.
const MOST: usize = 30;

/// Returns the limits in a format; `None` if the command does not support the format.
pub fn limits(format: Format, report: &Report, style: ReportStyle) -> Option<String> {
    match format {
        Format::Text => Some(text(report, style)),
        Format::Json => Some(json::print(&document(report))),
        _ => None,
    }
}

/// Returns the most that a month can cost, as a sentence; if nothing counts, where accelerators are or may be.
pub fn worst_month(report: &Report) -> String {
    worst::answer(report).unwrap_or_else(|| cost_line(report))
}

fn text(report: &Report, style: ReportStyle) -> String {
    let mut text = format!("{}\n", worst_month(report));
    let Some(worst) = &report.bill.worst else { return text };
    if !worst.unlimited.is_empty() {
        text.push_str("\nwithout a limit:\n");
        for it in worst.unlimited.iter().take(MOST) {
            let _ = writeln!(text, "  {}: {}", worst::cause(report, it), remedy(report, it));
        }
        let more = worst.unlimited.len().saturating_sub(MOST);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more; --format json lists all");
        }
    }
    let mut table = TextTable::new(&["with a limit", "most per month", "limit", "where"], 1..2);
    let mut inside = 0;
    for part in &worst.parts {
        inside += usize::from(part.by == LimitedBy::Pools);
        if part.most.is_zero() {
            continue;
        }
        let (names, place) = (names(report, part), part.resources.first().map(|id| place(report, *id)));
        table.row(vec![names, report.currency.amount(part.most), limit(report, part), place.unwrap_or_default()]);
    }
    let table = table.print_within(style.columns);
    if !table.is_empty() {
        let _ = write!(text, "\n{table}");
    }
    if inside > 0 {
        let (pods, add) = if inside == 1 { ("workload", "adds") } else { ("workloads", "add") };
        let _ = writeln!(text, "{inside} {pods} on these machines {add} nothing");
    }
    if worst.assumes_machines {
        text.push_str("assumed: the cluster rents no more machines than these pods request\n");
    }
    if worst.assumes_region {
        text.push_str("assumed: resources without a known region are in the region of the table of prices\n");
    }
    text.push_str("a month is 730 hours; spot machines count at the price on demand; schedules are not limits\n");
    text
}

/// Returns the addresses of a part, the first ones by name.
fn names(report: &Report, part: &WorstPart) -> String {
    let names = part.resources.iter().filter_map(|id| Some(report.called(report.inventory.resources.get(id.0)?)));
    let names: Vec<String> = names.take(2).map(|name| shortened(&one_line(&name), 60)).collect();
    match part.resources.len().saturating_sub(names.len()) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

fn place(report: &Report, id: ResourceId) -> String {
    let Some(resource) = report.inventory.resources.get(id.0) else { return String::new() };
    let at = report.paths.locate(report.sources, resource.count.span().unwrap_or(resource.span));
    format!("{}:{}", one_line(&at.path), at.line)
}

/// Returns the number and the price behind an amount, or the quota.
fn limit(report: &Report, part: &WorstPart) -> String {
    let found = part
        .resources
        .first()
        .and_then(|id| Some((report.inventory.resources.get(id.0)?, report.bill.items.get(id.0)?)));
    let Some((resource, item)) = found else { return String::new() };
    if let LimitedBy::Quota(kind) = part.by {
        let most = kind.limit().and_then(|key| resource.number(key)).unwrap_or_default();
        return format!("{} accelerators for the {}", plain(most), by(part.by));
    }
    let each = item.worst_per_hour.map(|it| report.currency.per_hour(it)).unwrap_or_default();
    match item.worst_per_hour.filter(|_| resource.limits.is_empty() && resource.cpus_together.is_none()) {
        Some(price) => {
            let all = part.most.usd() / price.usd();
            let is_always = (all / HOURS_PER_MONTH).fract() < 1e-6;
            let own = resource.count.value().map(|count| count.ceiling).filter(|it| *it > 0.0 && !is_always);
            let count = own.unwrap_or(all / HOURS_PER_MONTH);
            format!("{} × {each} × {} hours", plain(tenths(count)), plain(tenths(all / count)))
        }
        None => "limits of the pool".to_owned(),
    }
}

fn by(limit: LimitedBy) -> &'static str {
    match limit {
        LimitedBy::Itself => "number",
        LimitedBy::Pods => "pods",
        LimitedBy::Pools => "pools",
        LimitedBy::Quota(LinkKind::Queue) => "queue",
        LimitedBy::Quota(_) => "namespace",
    }
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Returns the setting that would limit the cost.
fn remedy(report: &Report, it: &Unlimited) -> String {
    let resource = it.resource.and_then(|id| report.inventory.resources.get(id.0));
    let has = |key: Key| resource.is_some_and(|it| !it.fact(key).is_absent());
    let setting = resource.and_then(|it: &Resource| it.text(Key::LimitSetting));
    match (&it.why, setting) {
        (NoLimit::Count(_), Some(setting)) => format!("set `{}`", one_line(setting)),
        (NoLimit::Count(_), None) if has(Key::Autoscaled) => "set its maximum number".to_owned(),
        (NoLimit::Count(why), None) => format!("{}; set its maximum number", one_line(why)),
        (NoLimit::Machine, _) => "select its nodes by the label of an accelerator or a machine type".to_owned(),
        (NoLimit::Runs, _) if has(Key::Cron) => "set `concurrencyPolicy: Forbid`, or a time limit".to_owned(),
        (NoLimit::Runs, _) => "limit its namespace by a ResourceQuota, or its queue".to_owned(),
        (NoLimit::Price(why) | NoLimit::Unread(why), _) => one_line(why),
    }
}

#[derive(Serialize)]
struct Document {
    version: u32,
    worst_month: Option<WireWorst>,
    limits: Vec<WireLimit>,
}

/// A part of the amount.
#[derive(Serialize)]
struct WireLimit {
    addresses: Vec<String>,
    most_usd: WireNumber,
    /// `number`, `pods`, `pools`, `namespace` or `queue`.
    by: &'static str,
    path: String,
    line: usize,
}

fn document(report: &Report) -> Document {
    let worst = report.bill.worst.as_ref();
    let part = |part: &WorstPart| {
        let resources = || part.resources.iter().filter_map(|id| report.inventory.resources.get(id.0));
        let first = resources().next()?;
        let at = report.paths.locate(report.sources, first.count.span().unwrap_or(first.span));
        let by = by(part.by);
        let addresses = resources().map(|it| report.called(it).into_owned()).collect();
        Some(WireLimit { addresses, most_usd: part.most.into(), by, path: at.path, line: at.line })
    };
    Document {
        version: json::VERSION,
        worst_month: worst.map(Into::into),
        limits: worst.into_iter().flat_map(|it| &it.parts).filter_map(part).collect(),
    }
}
