//! Implements the functions of times that are written in the configuration. The current time is unknown.

use crate::languages::go::{Civil, Moment, NANOS, duration};

use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult};

pub(super) const TABLE: &[(&str, Arity, Function)] =
    &[("formatdate", 2..=2, format_date), ("timeadd", 2..=2, add), ("timecmp", 2..=2, compare)];

/// The forms in which Terraform reads and writes a moment of Go.
trait TerraformTime: Sized {
    fn parse(text: &str) -> Result<Self, FunctionFailure>;

    /// Returns the offset from UTC: `+01:00` with the separator `:`.
    fn zone(self, separator: &str) -> String;

    fn text(self) -> String;
}

impl TerraformTime for Moment {
    fn parse(text: &str) -> Result<Self, FunctionFailure> {
        Self::read(text).ok_or_else(|| FunctionFailure::Refused(format!("`{text}` is not an RFC 3339 time")))
    }

    fn zone(self, separator: &str) -> String {
        let sign = if self.ahead < 0 { '-' } else { '+' };
        let minutes = self.ahead.abs() / 60;
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }

    fn text(self) -> String {
        let c = Civil::of(self.seconds, self.ahead);
        let zone = if self.ahead == 0 { "Z".to_owned() } else { self.zone(":") };
        format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{zone}", c.year, c.month, c.day, c.hour, c.minute, c.second)
    }
}

/// Returns a YAML time or date in the form of Terraform; `None` for other strings.
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

fn add(a: &CallArguments<'_>) -> FunctionResult {
    let moment = Moment::parse(&a.text(0)?)?;
    let duration = duration(&a.text(1)?).ok_or("the duration cannot be read")?;
    let nanoseconds = i128::from(moment.nanos) + duration;
    let seconds = i64::try_from(nanoseconds.div_euclid(NANOS)).map_err(|_| "the duration is too long")?;
    let seconds = moment.seconds.checked_add(seconds).filter(|s| s.abs() < 250_000_000_000);
    a.answer(Moment { seconds: seconds.ok_or("the duration is too long")?, ..moment }.text())
}

fn compare(a: &CallArguments<'_>) -> FunctionResult {
    let (first, second) = (Moment::parse(&a.text(0)?)?, Moment::parse(&a.text(1)?)?);
    let order = (first.seconds, first.nanos).cmp(&(second.seconds, second.nanos));
    a.answer_number(Some(crate::languages::hcl::value::HclNumber::integer(order as i64)))
}

const MONTHS: &str = "January February March April May June July August September October November December";
const WEEKDAYS: &str = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday";

/// Formats a time. Letters represent parts of the time, and `'…'` is literal text.
fn format_date(a: &CallArguments<'_>) -> FunctionResult {
    let pattern = a.text(0)?;
    let moment = Moment::parse(&a.text(1)?)?;
    let clock = Civil::of(moment.seconds, moment.ahead);
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

/// Reads up to the next single quote. Two quotes stand for one.
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

fn part(token: &str, moment: Moment, clock: &Civil) -> Result<String, FunctionFailure> {
    let name =
        |names: &'static str, index: i64| names.split(' ').nth(usize::try_from(index).unwrap_or(0)).unwrap_or("");
    let twelve = if clock.hour % 12 == 0 { 12 } else { clock.hour % 12 };
    Ok(match token {
        "YYYY" => format!("{:04}", clock.year),
        "YY" => format!("{:02}", clock.year % 100),
        "MMMM" => name(MONTHS, clock.month - 1).to_owned(),
        "MMM" => name(MONTHS, clock.month - 1).chars().take(3).collect(),
        "MM" => format!("{:02}", clock.month),
        "M" => clock.month.to_string(),
        "DD" => format!("{:02}", clock.day),
        "D" => clock.day.to_string(),
        "EEEE" => name(WEEKDAYS, clock.weekday).to_owned(),
        "EEE" => name(WEEKDAYS, clock.weekday).chars().take(3).collect(),
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
        other => return Err(format!("`{other}` is not a part of a date").into()),
    })
}
