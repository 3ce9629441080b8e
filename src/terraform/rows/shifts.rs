//! Reads schedules: the times at which a resource starts, stops or changes its number.

use std::sync::Arc;

use crate::inventory::{Fact, FactValue, KnownFact, ScheduleEntry, ScheduledSize, Until, ValueType};

use super::fact::WantedType;
use super::language::{ShiftWord, Spec, Switch};
use super::scope::{RowScope, Truth};

/// Returns every entry of a schedule that the definition describes.
pub(super) fn shifts(scope: &RowScope<'_>, words: &[ShiftWord]) -> Vec<ScheduleEntry> {
    let mut shifts = Vec::new();
    for word in words {
        let parts = match &word.each {
            Some(path) => scope.find(path).into_iter().map(|part| scope.at(part)).collect(),
            None => vec![scope.clone()],
        };
        shifts.extend(parts.iter().filter_map(|part| shift(part, word)));
    }
    shifts
}

fn shift(scope: &RowScope<'_>, word: &ShiftWord) -> Option<ScheduleEntry> {
    let doubt = match scope.holds(&word.when) {
        Truth::No => return None,
        Truth::Yes(_) => None,
        Truth::Unknown { why, span } => Some(Fact::unknown(why, span)),
    };
    let at = match scope.fact(&word.at, WantedType::TEXT) {
        Fact::Absent => by_clock(scope, word),
        said => text(said),
    };
    let span = at.span()?;
    let number = |spec: &Spec| number(scope.fact(spec, WantedType::NUMBER));
    let change = match word.is {
        Some(Switch::Start) => ScheduledSize::Start,
        Some(Switch::Stop) => ScheduledSize::Stop,
        None if !word.lasts.0.is_empty() => {
            ScheduledSize::AtLeast { count: number(&word.at_least), until: Until::Seconds(number(&word.lasts)) }
        }
        None => ScheduledSize::Set { min: number(&word.min), desired: number(&word.desired), max: number(&word.max) },
    };
    Some(ScheduleEntry { at: doubt.unwrap_or(at), zone: text(scope.fact(&word.zone, WantedType::TEXT)), change, span })
}

/// Returns the cron expression for a time of day on some days: `1930` or `19:30`, or an hour and a minute.
fn by_clock(scope: &RowScope<'_>, word: &ShiftWord) -> Fact<Arc<str>> {
    let read = |spec: &Spec| text(scope.fact(spec, WantedType::TEXT));
    let days = match scope.fact(&word.days, WantedType::TEXTS) {
        Fact::Known(KnownFact { value: FactValue::List(days), .. }) => {
            days.iter().map(|day| short(day)).collect::<Vec<_>>().join(",")
        }
        Fact::Known(known) => short(&known.value.to_string()),
        Fact::Unknown(unknown) => return Fact::unknown(unknown.why, unknown.span),
        Fact::Absent => "*".to_owned(),
    };
    let clock = read(&word.clock);
    if !clock.is_absent() {
        return clock.map(|clock| {
            let digits: String = clock.chars().filter(char::is_ascii_digit).collect();
            let at = digits.len().saturating_sub(2);
            let (hour, minute) = digits.split_at_checked(at).unwrap_or_default();
            format!("{minute} {hour} * * {days}").into()
        });
    }
    let minute = match read(&word.minute) {
        Fact::Known(known) => known.value.to_string(),
        Fact::Unknown(unknown) => return Fact::Unknown(unknown),
        Fact::Absent => "0".to_owned(),
    };
    read(&word.hour).map(|hour| format!("{minute} {hour} * * {days}").into())
}

/// Returns MON for `Monday`.
fn short(day: &str) -> String {
    day.chars().take(3).collect::<String>().to_ascii_uppercase()
}

fn text(fact: Fact<FactValue>) -> Fact<Arc<str>> {
    fact.map(|value| value.to_string().into())
}

fn number(fact: Fact<FactValue>) -> Fact<f64> {
    match fact {
        Fact::Known(KnownFact { value, span, defined, origin }) => match value.conform(ValueType::Number) {
            Some(FactValue::Number(value)) if value >= 0.0 => Fact::Known(KnownFact { value, span, defined, origin }),
            Some(_) => Fact::Absent,
            None => Fact::unknown("the value is not a number", span),
        },
        Fact::Unknown(unknown) => Fact::unknown(unknown.why, unknown.span),
        Fact::Absent => Fact::Absent,
    }
}
