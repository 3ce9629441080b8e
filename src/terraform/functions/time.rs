//! Moments that are written out; what the time is now, nobody knows here.

use crate::source::{civil_from_days, days_from_civil, days_in_month};

use super::{Arguments, Arity, Function, FunctionFailure, FunctionResult};

pub(super) const TABLE: &[(&str, Arity, Function)] =
    &[("formatdate", 2..=2, format_date), ("timeadd", 2..=2, add), ("timecmp", 2..=2, compare)];

/// A moment: seconds since 1970 in UTC, and how many seconds its zone is ahead.
#[derive(Clone, Copy)]
struct Moment {
    seconds: i64,
    nanoseconds: i64,
    ahead: i64,
}

struct Clock {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    /// 0 is Sunday.
    weekday: i64,
}

impl Moment {
    /// RFC 3339: `2018-05-13T07:44:12Z`.
    fn parse(text: &str) -> Result<Self, FunctionFailure> {
        Self::read(text).ok_or_else(|| FunctionFailure::Refused(format!("`{text}` is no RFC 3339 time")))
    }

    fn read(text: &str) -> Option<Self> {
        if !text.is_ascii() {
            return None;
        }
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = text.get(from..to)?;
            digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        let separators = [(4, '-'), (7, '-'), (10, 'T'), (13, ':'), (16, ':')];
        if separators.iter().any(|(at, c)| text.as_bytes().get(*at) != Some(&(*c as u8))) {
            return None;
        }
        if !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) || hour > 23 || minute > 59 {
            return None;
        }
        let mut rest = text.get(19..)?;
        let mut nanoseconds = 0;
        if let Some(fraction) = rest.strip_prefix('.') {
            let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let digits: String = fraction.get(..length)?.chars().chain("000000000".chars()).take(9).collect();
            nanoseconds = digits.parse().ok().filter(|_| length > 0)?;
            rest = fraction.get(length..)?;
        }
        let ahead = match rest {
            "Z" => 0,
            _ => {
                let sign = if rest.starts_with('-') { -1 } else { 1 };
                let (hours, minutes) = rest.strip_prefix(['+', '-'])?.split_once(':')?;
                if hours.len() != 2 || minutes.len() != 2 {
                    return None;
                }
                sign * (hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60)
            }
        };
        if second > 59 {
            return None;
        }
        let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - ahead;
        Some(Moment { seconds, nanoseconds, ahead })
    }

    fn clock(self) -> Clock {
        let local = self.seconds + self.ahead;
        let (days, seconds) = (local.div_euclid(86_400), local.rem_euclid(86_400));
        let (year, month, day) = civil_from_days(days);
        Clock {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            weekday: (days + 4).rem_euclid(7),
        }
    }

    fn zone(self, separator: &str) -> String {
        let sign = if self.ahead < 0 { '-' } else { '+' };
        let minutes = self.ahead.abs() / 60;
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }

    fn text(self) -> String {
        let c = self.clock();
        let zone = if self.ahead == 0 { "Z".to_owned() } else { self.zone(":") };
        format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{zone}", c.year, c.month, c.day, c.hour, c.minute, c.second)
    }
}

/// A time or a date as YAML has it, spelled as Terraform spells times; none where the text is neither.
pub(super) fn normalized(text: &str) -> Option<String> {
    let date = text.get(..10).filter(|_| text.is_char_boundary(10))?;
    if text.len() == 10 {
        return Moment::read(&format!("{date}T00:00:00Z")).map(Moment::text);
    }
    let separator = text.as_bytes().get(10)?;
    if !matches!(separator, b'T' | b't' | b' ') {
        return None;
    }
    let rest = text.get(11..)?.trim();
    let zoned = rest.ends_with(['Z', 'z']) || rest.get(8..).is_some_and(|rest| rest.contains(['+', '-']));
    let rest = rest.to_uppercase();
    Moment::read(&format!("{date}T{rest}{}", if zoned { "" } else { "Z" })).map(Moment::text)
}

fn add(a: &Arguments<'_>) -> FunctionResult {
    let moment = Moment::parse(&a.text(0)?)?;
    let duration = duration(&a.text(1)?).ok_or("the duration cannot be read")?;
    let nanoseconds = i128::from(moment.nanoseconds) + duration;
    let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).map_err(|_| "the duration is too long")?;
    let seconds = moment.seconds.checked_add(seconds).filter(|s| s.abs() < 250_000_000_000);
    a.answer(Moment { seconds: seconds.ok_or("the duration is too long")?, ..moment }.text())
}

/// Nanoseconds of `1h30m`, `-1.5h`, `10ms`.
fn duration(text: &str) -> Option<i128> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let unit: i128 = match unit {
            "h" => 3_600_000_000_000,
            "m" => 60_000_000_000,
            "s" => 1_000_000_000,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1_000,
            "ns" => 1,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.len() + fraction.len() == 0 || whole.len() > 18 {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let fraction = fraction.get(..fraction.len().min(15)).unwrap_or_default();
        let part: i128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
        total += whole * unit + part * unit / 10i128.pow(fraction.len() as u32);
        rest = after;
    }
    Some(if negative { -total } else { total })
}

fn compare(a: &Arguments<'_>) -> FunctionResult {
    let (first, second) = (Moment::parse(&a.text(0)?)?, Moment::parse(&a.text(1)?)?);
    let order = (first.seconds, first.nanoseconds).cmp(&(second.seconds, second.nanoseconds));
    a.answer_number(Some(crate::languages::hcl::value::Number::integer(order as i64)))
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Letters stand for parts of the moment, `'…'` for itself.
fn format_date(a: &Arguments<'_>) -> FunctionResult {
    let pattern = a.text(0)?;
    let moment = Moment::parse(&a.text(1)?)?;
    let clock = moment.clock();
    let mut result = String::new();
    let mut rest = &*pattern;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            rest = literal(&rest[1..], &mut result)?;
            continue;
        }
        let length = rest.chars().take_while(|c| *c == first).count() * first.len_utf8();
        let (token, after) = rest.split_at(length);
        if first.is_ascii_alphabetic() {
            result.push_str(&part(token, moment, &clock)?);
        } else {
            result.push_str(token);
        }
        rest = after;
    }
    a.answer(result)
}

/// What stands up to the next single quote; two of them are one.
fn literal<'p>(mut rest: &'p str, into: &mut String) -> Result<&'p str, FunctionFailure> {
    loop {
        let (text, after) = rest.split_once('\'').ok_or("a literal has no closing quote")?;
        into.push_str(text);
        match after.strip_prefix('\'') {
            Some(more) => {
                into.push('\'');
                rest = more;
            }
            None => return Ok(after),
        }
    }
}

fn part(token: &str, moment: Moment, clock: &Clock) -> Result<String, FunctionFailure> {
    let name =
        |names: &[&'static str], index: i64| names.get(usize::try_from(index).unwrap_or(0)).copied().unwrap_or("");
    let twelve = if clock.hour % 12 == 0 { 12 } else { clock.hour % 12 };
    Ok(match token {
        "YYYY" => format!("{:04}", clock.year),
        "YY" => format!("{:02}", clock.year % 100),
        "MMMM" => name(&MONTHS, clock.month - 1).to_owned(),
        "MMM" => name(&MONTHS, clock.month - 1).chars().take(3).collect(),
        "MM" => format!("{:02}", clock.month),
        "M" => clock.month.to_string(),
        "DD" => format!("{:02}", clock.day),
        "D" => clock.day.to_string(),
        "EEEE" => name(&WEEKDAYS, clock.weekday).to_owned(),
        "EEE" => name(&WEEKDAYS, clock.weekday).chars().take(3).collect(),
        "hh" => format!("{:02}", clock.hour),
        "h" => clock.hour.to_string(),
        "HH" => format!("{twelve:02}"),
        "H" => twelve.to_string(),
        "AA" => if clock.hour < 12 { "AM" } else { "PM" }.to_owned(),
        "aa" => if clock.hour < 12 { "am" } else { "pm" }.to_owned(),
        "mm" => format!("{:02}", clock.minute),
        "m" => clock.minute.to_string(),
        "ss" => format!("{:02}", clock.second),
        "s" => clock.second.to_string(),
        "ZZZZZ" => moment.zone(":"),
        "ZZZZ" => moment.zone(""),
        "ZZZ" if moment.ahead == 0 => "UTC".to_owned(),
        "ZZZ" => moment.zone(""),
        "Z" if moment.ahead == 0 => "Z".to_owned(),
        "Z" => moment.zone(":"),
        other => return Err(format!("`{other}` is no part of a date").into()),
    })
}
