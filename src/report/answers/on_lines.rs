//! Computes the cost of the resources on each line of a file, for an editor.

use crate::catalog::MoneyRange;
use crate::inventory::{BillingRole, ResourceId};
use crate::pricing::{BillItem, Status};
use crate::report::Report;
use crate::report::escape::{one_line, shortened};
use crate::report::views::money::mark;
use crate::rules::Finding;
use crate::source::{FileId, Span};

/// The maximum length of a cause, because the editor shows it next to the line.
const LONGEST_CAUSE: usize = 60;
const LONGEST_MESSAGE: usize = 1_000;

/// The cost of the resources that begin on one line.
pub struct LinePrice {
    /// The header of their block.
    pub span: Span,
    /// `$752/month`, `3 × $752/month`, `? no price in this region`.
    pub label: String,
    pub resources: Vec<ResourceId>,
}

/// A module call, with its resources.
pub struct CallOnLine {
    pub span: Span,
    pub resources: Vec<ResourceId>,
}

/// Returns the prices to show in a file, in the order of places.
pub fn prices_on_lines(report: &Report, file: FileId, calls: Vec<CallOnLine>) -> Vec<LinePrice> {
    let called = calls.into_iter().filter_map(|call| {
        let label = sum(report, &call.resources)?;
        Some(LinePrice { span: call.span, label, resources: call.resources })
    });
    let mut all: Vec<LinePrice> = prices_of_resources(report, file).into_iter().chain(called).collect();
    all.sort_by_key(|it| it.span);
    all
}

/// Returns the monthly cost of these resources: of machines if there are any, otherwise of pods.
fn sum(report: &Report, resources: &[ResourceId]) -> Option<String> {
    let of = |role: BillingRole| {
        let all =
            resources.iter().filter(move |id| report.inventory.resources.get(id.0).is_some_and(|it| it.role == role));
        let items: Vec<&BillItem> = all.filter_map(|id| report.bill.items.get(id.0)).collect();
        (!items.is_empty()).then_some(items)
    };
    let items = of(BillingRole::Rented).or_else(|| of(BillingRole::Requested))?;
    if let [_] = items.as_slice() {
        return label(report, resources);
    }
    let monthly: Vec<MoneyRange> = items.iter().filter_map(|item| item.monthly).collect();
    let total = monthly.iter().fold(MoneyRange::ZERO, |sum, it| sum + *it);
    let unknown = items.len() - monthly.len();
    let about = mark(items.iter().any(|item| matches!(item.status, Status::Estimated(_))));
    let priced = format!("{about}{}/month for {}", report.currency.range(total), monthly.len());
    match (monthly.len(), unknown) {
        (0, _) => Some(format!("? {} resources", items.len())),
        (_, 0) => Some(priced),
        (_, unknown) => Some(format!("{priced} and {unknown} × ?")),
    }
}

fn prices_of_resources(report: &Report, file: FileId) -> Vec<LinePrice> {
    let mut headers: Vec<(Span, ResourceId)> = Vec::new();
    for (index, resource) in report.inventory.resources.iter().enumerate() {
        let header = report.sources.origin(resource.span);
        if header.file == file {
            headers.push((header, ResourceId(index)));
        }
    }
    headers.sort();
    let same_header = headers.chunk_by(|a, b| (a.0.start) == (b.0.start));
    let told = same_header.filter_map(|all| {
        let resources: Vec<ResourceId> = all.iter().map(|(_, id)| *id).collect();
        let label = label(report, &resources)?;
        Some(LinePrice { span: all.first()?.0, label, resources })
    });
    told.collect()
}

fn label(report: &Report, resources: &[ResourceId]) -> Option<String> {
    let items = resources.iter().filter_map(|id| report.bill.items.get(id.0));
    let told: Vec<&BillItem> = items.filter(|item| !matches!(item.status, Status::Unasked)).collect();
    let costs: Vec<String> = told.iter().filter_map(|item| cost(report, item)).collect();
    let cause = |item: &&&BillItem| matches!(item.status, Status::Unpriced(_));
    let unpriced = told.iter().filter(cause).count();
    let first = costs.first();
    let priced = match first {
        None => None,
        Some(first) if costs.len() == 1 => Some(first.clone()),
        Some(first) if costs.iter().all(|it| it == first) => Some(format!("{} × {first}", costs.len())),
        Some(_) => Some(spread(report, &told, costs.len())),
    };
    match (priced, unpriced) {
        (Some(priced), 0) => Some(priced),
        (Some(priced), n) => Some(format!("{priced} and {n} × ?")),
        (None, 0) => None,
        (None, _) => told.iter().find_map(|item| match &item.status {
            Status::Unpriced(why) => Some(format!("? {}", shortened(&one_line(why), LONGEST_CAUSE))),
            _ => None,
        }),
    }
}

/// Returns the text of a finding without its place: the problem, the cost and the help.
pub fn finding_in_place(report: &Report, finding: &Finding) -> String {
    let saves = report.currency.saved(finding).map(|saved| format!(", saves {saved}")).unwrap_or_default();
    let help = finding.help.as_deref().map(|help| format!("\n{}", one_line(help))).unwrap_or_default();
    format!("{}{saves}{help}", shortened(&one_line(&finding.message), LONGEST_MESSAGE))
}

/// Returns the cost of one resource; for a pod on machines that count elsewhere, a part of its pool.
fn cost(report: &Report, item: &BillItem) -> Option<String> {
    let costs = report.currency.costs(item)?;
    Some(if item.is_within { format!("{costs}, part of its pool") } else { costs })
}

/// Returns one cost, or the range from the cheapest to the most expensive resource.
fn spread(report: &Report, items: &[&BillItem], count: usize) -> String {
    let amounts = || items.iter().filter_map(|item| Some((item.amount?.expected, item.per)));
    let (Some(least), Some(most)) = (amounts().min(), amounts().max()) else { return format!("{count} × ?") };
    let is_one_period = amounts().all(|(_, per)| per == least.1);
    let range = MoneyRange { floor: least.0, expected: most.0, ceiling: most.0 };
    match is_one_period {
        true => format!("{count} × {}/{}", report.currency.range(range), least.1.name()),
        false => format!("{count} resources"),
    }
}
