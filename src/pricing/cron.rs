//! How often a schedule starts something: `0 3 * * 1-5` starts 21.7 times in a month.

/// Days of a month of 730 hours.
const DAYS_PER_MONTH: f64 = 730.0 / 24.0;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Starts in an average month, or `None` where the text is no schedule.
pub(super) fn starts_per_month(text: &str) -> Option<f64> {
    // A time zone may stand before the fields.
    let text = text.trim();
    let text = match text.split_once(' ') {
        Some((zone, rest)) if zone.starts_with("CRON_TZ=") || zone.starts_with("TZ=") => rest.trim(),
        _ => text,
    };
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
    let minutes = share(minute, 0, 59, &[])? * 60.0;
    let hours = share(hour, 0, 23, &[])? * 24.0;
    let months = share(month, 1, 12, &MONTHS)?;
    let (of_month, of_week) = (share(day, 1, 31, &[])?, share(weekday, 0, 6, &DAYS)?);
    // Cron starts on a day that either of the two names, unless one of them names all.
    let days = match (is_any(day), is_any(weekday)) {
        (false, false) => 1.0 - (1.0 - of_month) * (1.0 - of_week),
        _ => of_month * of_week,
    };
    Some(minutes * hours * days * DAYS_PER_MONTH * months)
}

fn is_any(field: &str) -> bool {
    field.starts_with(['*', '?'])
}

/// The share of all values of a field that it names.
fn share(field: &str, first: u32, last: u32, names: &[&str]) -> Option<f64> {
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
            // Sunday is 0 and 7.
            let value = if names.len() == DAYS.len() && value == 7 { 0 } else { value };
            (first..=last).contains(&value).then_some(value)
        };
        let (from, to) = match range.split_once('-') {
            _ if is_any(range) => (first, last),
            Some((from, to)) => (value(from)?, value(to)?),
            None if step > 1 => (value(range)?, last),
            None => (value(range)?, value(range)?),
        };
        for at in (from..=to).step_by(step) {
            *named.get_mut(at as usize)? = true;
        }
    }
    let count = named.iter().filter(|is_named| **is_named).count();
    (count > 0).then(|| count as f64 / f64::from(last - first + 1))
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
            ("30 4 1 * *", 0.9812),
            ("0 0 1 1 *", 0.0818),
            ("CRON_TZ=Europe/Berlin 0 3 * * *", 30.4167),
        ] {
            let starts = starts_per_month(schedule).unwrap_or_else(|| panic!("{schedule}"));
            assert!((starts - expected).abs() < 0.001, "{schedule}: {starts}");
        }
        for wrong in ["", "soon", "* * * *", "61 * * * *", "*/0 * * * *", "5-1 * * * *", "0 0 32 * *"] {
            assert_eq!(starts_per_month(wrong), None, "{wrong}");
        }
    }
}
