//! Calculates the starts per month of a cron schedule (`0 3 * * 1-5` has 21.7), and its minutes in a week.

/// The days in a month of 730 hours.
const DAYS_PER_MONTH: f64 = 730.0 / 24.0;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Returns the starts in an average month, or `None` if the string is not a schedule.
pub(super) fn starts_per_month(text: &str) -> Option<f64> {
    if let Some(rate) = inside(text.trim(), "rate(") {
        return of_rate(rate);
    }
    let cron = Cron::parse(text)?;
    Some(cron.minutes.count() * cron.hours.count() * cron.days_of_a_month() * cron.months.share())
}

/// Returns the minutes of a week at which the schedule starts, from midnight before Sunday on. Returns `None` if weeks
/// differ or the string is not a schedule.
pub(super) fn minutes_of_week(text: &str) -> Option<Vec<usize>> {
    let cron = Cron::parse(text)?;
    if !(cron.days.is_any && cron.months.is_any) {
        return None;
    }
    let mut all = Vec::new();
    for day in cron.weekdays.named() {
        for hour in cron.hours.named() {
            all.extend(cron.minutes.named().map(|minute| (day * 24 + hour) * 60 + minute));
        }
    }
    Some(all)
}

/// Parses a rate such as `5 minutes` or `1 day`, and returns the starts per month.
fn of_rate(text: &str) -> Option<f64> {
    let (number, unit) = text.trim().split_once(' ')?;
    let number: f64 = number.parse().ok().filter(|number: &f64| *number >= 1.0)?;
    let per_day = match unit.trim().trim_end_matches('s') {
        "minute" => 1440.0,
        "hour" => 24.0,
        "day" => 1.0,
        _ => return None,
    };
    Some(per_day / number * DAYS_PER_MONTH)
}

fn inside<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    text.strip_prefix(start)?.strip_suffix(')')
}

struct Cron {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
}

impl Cron {
    fn parse(text: &str) -> Option<Cron> {
        // A time zone can come before the fields.
        let text = text.trim();
        let text = match text.split_once(' ') {
            Some((zone, rest)) if zone.starts_with("CRON_TZ=") || zone.starts_with("TZ=") => rest.trim(),
            _ => text,
        };
        if let Some(fields) = inside(text, "cron(") {
            // AWS counts weekdays from 1 for Sunday, and adds a field for years (User guide of EventBridge, 2026-11).
            let fields: Vec<&str> = fields.split_whitespace().collect();
            let [minute, hour, day, month, weekday, year] = fields.as_slice() else { return None };
            return if is_any(year) { Cron::from_fields([minute, hour, day, month, weekday], 1) } else { None };
        }
        let text = match text {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            fields => fields,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else { return None };
        Cron::from_fields([minute, hour, day, month, weekday], 0)
    }

    /// `sunday` is the number of Sunday in the weekday field.
    fn from_fields([minute, hour, day, month, weekday]: [&str; 5], sunday: u32) -> Option<Cron> {
        Some(Cron {
            minutes: Field::parse(minute, 0, 59, &[])?,
            hours: Field::parse(hour, 0, 23, &[])?,
            days: Field::parse(day, 1, 31, &[])?,
            months: Field::parse(month, 1, 12, &MONTHS)?,
            weekdays: Field::parse(weekday, sunday, sunday + 6, &DAYS)?,
        })
    }

    /// Cron starts on the days that either of the two fields names, unless one of them allows all days.
    fn days_of_a_month(&self) -> f64 {
        let (of_month, of_week) = (self.days.share(), self.weekdays.share());
        match (self.days.is_any, self.weekdays.is_any) {
            (false, false) => (1.0 - (1.0 - of_month) * (1.0 - of_week)) * DAYS_PER_MONTH,
            // Every month has exactly one first day.
            (false, true) => self.days.named().map(|day| months_with(day + 1)).sum(),
            _ => of_month * of_week * DAYS_PER_MONTH,
        }
    }
}

/// Returns the share of the months that have this day.
fn months_with(day: usize) -> f64 {
    match day {
        29 => 11.25 / 12.0,
        30 => 11.0 / 12.0,
        31 => 7.0 / 12.0,
        _ => 1.0,
    }
}

fn is_any(field: &str) -> bool {
    field.starts_with(['*', '?'])
}

/// The values that one field allows.
struct Field {
    named: [bool; 60],
    first: usize,
    last: usize,
    is_any: bool,
}

impl Field {
    fn parse(field: &str, first: u32, last: u32, names: &[&str]) -> Option<Field> {
        let mut named = [false; 60];
        for part in field.split(',') {
            let (range, step) = match part.split_once('/') {
                Some((range, step)) => (range, step.parse::<usize>().ok().filter(|step| *step > 0)?),
                None => (part, 1),
            };
            let value = |text: &str| -> Option<u32> {
                let lower = text.to_ascii_lowercase();
                let named = names.iter().position(|name| *name == lower).and_then(|at| u32::try_from(at).ok());
                let value = named.map(|at| at + first).or_else(|| text.parse().ok())?;
                // If Monday is 1, Sunday can be 0 or 7.
                let value = if names.len() == DAYS.len() && first == 0 && value == 7 { 0 } else { value };
                (first..=last).contains(&value).then_some(value)
            };
            let (from, to) = match range.split_once('-') {
                _ if is_any(range) => (first, last),
                Some((from, to)) => (value(from)?, value(to)?),
                None if step > 1 => (value(range)?, last),
                None => (value(range)?, value(range)?),
            };
            // The ranges `5-7` and `FRI-SUN` cross the end of the week.
            let around = names.len() == DAYS.len() && to < from;
            let to = if around { to + 7 } else { to };
            for at in (from..=to).step_by(step) {
                let at = if at > last && around { at - 7 } else { at };
                *named.get_mut(at as usize)? = true;
            }
        }
        named.iter().any(|it| *it).then_some(Field {
            named,
            first: first as usize,
            last: last as usize,
            is_any: is_any(field),
        })
    }

    fn count(&self) -> f64 {
        self.named().count() as f64
    }

    fn share(&self) -> f64 {
        self.count() / (self.last - self.first + 1) as f64
    }

    /// Returns each value as its distance from the first.
    fn named(&self) -> impl Iterator<Item = usize> {
        let values = self.named.iter().enumerate().filter(|(_, is_named)| **is_named);
        values.map(|(at, _)| at.saturating_sub(self.first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_start_so_often() {
        for (schedule, expected) in [
            ("0 3 * * *", 30.4167),
            ("@daily", 30.4167),
            ("*/15 * * * *", 2920.0),
            ("0 9 * * 1-5", 21.7262),
            ("0 9 * * MON-FRI", 21.7262),
            ("0 0,12 * * 0", 8.6905),
            ("0 0 * * 7", 4.3452),
            ("30 4 1 * *", 1.0),
            ("30 4 1,15,31 * *", 2.5833),
            ("0 0 1 1 *", 0.0833),
            ("CRON_TZ=Europe/Berlin 0 3 * * *", 30.4167),
            ("cron(0 9 ? * 2-6 *)", 21.7262),
            ("rate(12 hours)", 60.8333),
        ] {
            let starts = starts_per_month(schedule).unwrap_or_else(|| panic!("{schedule}"));
            assert!((starts - expected).abs() < 0.001, "{schedule}: {starts}");
        }
        for wrong in
            ["", "soon", "* * * *", "61 * * * *", "*/0 * * * *", "5-1 * * * *", "0 0 32 * *", "rate(0 days)", "cron(x)"]
        {
            assert_eq!(starts_per_month(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn weeks_have_their_minutes() {
        let day = 24 * 60;
        for (schedule, expected) in [
            ("0 0 * * 0", vec![0]),
            ("30 9 * * MON", vec![day + 570]),
            ("0 20 * * FRI-SUN", vec![1200, 5 * day + 1200, 6 * day + 1200]),
            ("0 8 * * 5-7", vec![480, 5 * day + 480, 6 * day + 480]),
            // In the schedules of AWS, Sunday is 1.
            ("cron(0 8 ? * 1 *)", vec![480]),
            ("cron(0 8 ? * MON *)", vec![day + 480]),
        ] {
            assert_eq!(minutes_of_week(schedule), Some(expected), "{schedule}");
        }
        for other in ["0 0 1 * *", "0 0 * 6 *", "rate(1 day)", "cron(0 8 ? * 2#1 *)", "at(2026-01-01T00:00:00)"] {
            assert_eq!(minutes_of_week(other), None, "{other}");
        }
    }
}
