//! What was paid of the month that goes on.

use super::{BillMonth, Paid};
use crate::catalog::Money;
use crate::inventory::{Fact, Key, Origin, Resource, ResourceId, Value};
use crate::source::Date;

/// Known only where the bill has rows of this very month: a bill that comes later says nothing of it.
pub(super) fn tell_so_far(paid: &Paid, id: ResourceId, resource: &mut Resource, today: Option<Date>) {
    let Some(month) = today.map(BillMonth::of) else { return };
    let span = paid.of(id).find(|it| it.row.month == month).map(|it| it.span);
    let fact = match (paid.sums(id, month), span) {
        (Ok(Some(sums)), Some(span)) => Fact::known(Value::Number(Money::usd(sums.paid)), span, Origin::Resolved),
        (Err(why), Some(span)) => Fact::unknown(why, span),
        _ => return,
    };
    resource.set(Key::PaidSoFar, fact);
}
