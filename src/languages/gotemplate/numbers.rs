//! Parses and formats numbers as Go does.

use crate::languages::yaml::scalar;

/// Returns an integer in any of Go's spellings, as `strconv.ParseInt` reads it with base 0.
pub(super) fn parse_int(text: &str) -> Option<i64> {
    i64::try_from(scalar::integer(&text.replace('_', ""))?).ok()
}

/// Returns the fewest digits of a number, and the position of the decimal point: 0.0125 is 125 and -1.
fn digits(number: f64) -> (String, i32) {
    let shown = format!("{:e}", number.abs());
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    (digits, exponent.parse::<i32>().unwrap_or(0) + 1)
}

fn special(number: f64) -> Option<&'static str> {
    match number {
        _ if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("+Inf"),
        f64::NEG_INFINITY => Some("-Inf"),
        _ => None,
    }
}

/// Formats like `%v`: a million has an exponent.
pub(super) fn shown(number: f64) -> String {
    general(number, 6)
}

/// Formats with the fewest digits, and with an exponent from this many digits on.
pub(super) fn general(number: f64, limit: i32) -> String {
    if let Some(special) = special(number) {
        return special.to_owned();
    }
    let (digits, point) = digits(number);
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let exponent = point - 1;
    if number != 0.0 && (exponent < -4 || exponent >= limit) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign_of_exponent = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{sign_of_exponent}{:02}", exponent.abs());
    }
    format!("{sign}{}", number.abs())
}

/// Formats like `encoding/json`.
pub(super) fn json(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return format!("{number}");
    }
    let text = general(number, 1);
    let text = if text.contains('e') { text } else { format!("{text}e+00") };
    // `1e-07` is written as `1e-7`.
    text.replace("e-0", "e-")
}

/// Converts to a whole number as Go does: toward zero, within the range.
pub(super) fn truncated(number: f64) -> i64 {
    if number.is_finite() && number.abs() < 9.3e18 { number as i64 } else { i64::MIN }
}
