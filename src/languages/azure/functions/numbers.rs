//! Implements functions of numbers, which are integers in templates.

use crate::languages::hcl::value::{HclData, HclNumber, HclValue};
use crate::source::Span;

use super::{Made, is_list};

/// The limit on the members of a range.
const MOST: i64 = 10_000;

pub(super) fn call_number(name: &str, arguments: &[HclValue], at: Span) -> Made {
    let number = |number: HclNumber| HclValue::number(number, at);
    let whole = |place: usize| arguments.get(place).and_then(whole);
    match name {
        "add" => whole(0)?.plus(&whole(1)?).map(number),
        "sub" => whole(0)?.minus(&whole(1)?).map(number),
        "mul" => whole(0)?.times(&whole(1)?).map(number),
        "div" => Some(number(whole(0)?.divided_by(&whole(1)?)?.truncated())),
        "mod" => whole(0)?.remainder(&whole(1)?).map(number),
        "int" => HclNumber::parse(arguments.first()?.as_text()?.trim()).map(|it| number(it.truncated())),
        "float" => HclNumber::parse(arguments.first()?.as_text()?.trim()).map(number),
        "min" | "max" => most(arguments, name == "max").map(number),
        "range" => {
            let (start, count) = (whole(0)?.as_i64()?, whole(1)?.as_i64()?);
            let numbers = (0..count).map(|it| number(HclNumber::integer(start.saturating_add(it))));
            (0..=MOST).contains(&count).then(|| HclValue::tuple(numbers.collect(), at))
        }
        "less" | "lessorequals" | "greater" | "greaterorequals" => {
            let order = order(arguments.first()?, arguments.get(1)?)?;
            let holds = match name {
                "less" => order.is_lt(),
                "lessorequals" => order.is_le(),
                "greater" => order.is_gt(),
                _ => order.is_ge(),
            };
            Some(HclValue::bool(holds, at))
        }
        _ => None,
    }
}

fn whole(value: &HclValue) -> Option<HclNumber> {
    match &value.data {
        HclData::Number(number) => Some(number.clone()),
        _ => None,
    }
}

fn order(one: &HclValue, other: &HclValue) -> Option<std::cmp::Ordering> {
    match (&one.data, &other.data) {
        (HclData::Text(a), HclData::Text(b)) => Some(a.cmp(b)),
        (HclData::Number(a), HclData::Number(b)) => a.as_f64().partial_cmp(&b.as_f64()),
        _ => None,
    }
}

/// Returns the largest or smallest number of the arguments or of a list.
fn most(arguments: &[HclValue], largest: bool) -> Option<HclNumber> {
    let all = match arguments {
        [only] if is_list(only) => only.items(),
        all => all,
    };
    let mut most: Option<HclNumber> = None;
    for value in all {
        let number = whole(value)?;
        let is_more = most.as_ref().is_none_or(|it| (number.as_f64() > it.as_f64()) == largest);
        most = if is_more { Some(number) } else { most };
    }
    most
}
