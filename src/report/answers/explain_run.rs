//! Shows the duration and cost of one run, for `gpulint explain`.

use crate::catalog::Currency;
use crate::fit::Assessment;
use crate::inventory::{Fact, Key, Resource};
use crate::pricing::{BillItem, Period};
use crate::report::escape::one_line;
use crate::report::views::training_run;
use crate::resolve::plain;

/// Returns the cost of a run with a time limit, and the duration of training with declared tokens, or why it is
/// unknown; empty if neither is declared.
pub fn explain_run(resource: &Resource, fact: &Fact<Assessment>, item: Option<&BillItem>) -> String {
    let unpriced = BillItem::default();
    let item = item.unwrap_or(&unpriced);
    let placed = fact.value().map(|it| &it.placed);
    let training = placed.and_then(|it| it.value()).and_then(|placed| placed.training.as_ref());
    let is_declared = !resource.fact(Key::TrainTokens).is_absent();
    let unknown = fact.why().or_else(|| placed.and_then(|it| it.why()));
    let unknown = unknown.filter(|_| is_declared && training.is_none());
    let unknown = unknown.map(|why| format!("\ntraining time unknown: {}\n", one_line(why)));
    limited(item) + &training_run::section(training, item) + &unknown.unwrap_or_default()
}

/// Returns the cost of a run with a time limit; empty if the bill already contains the cost per run.
fn limited(item: &BillItem) -> String {
    let Some(run) = item.run.as_ref().filter(|_| item.per != Period::Run) else { return String::new() };
    let hour = item.per_hour.map(|hour| Currency::USD.per_hour(hour.expected)).unwrap_or_default();
    let count = item.count.map(|count| plain(count.expected)).unwrap_or_default();
    let up_to = if run.hours.floor < run.hours.expected { "up to " } else { "" };
    let amount = Currency::USD.amount(run.amount.expected);
    format!("\none run: {}, x {count} x {hour} = {up_to}{amount}\n", run.because)
}
