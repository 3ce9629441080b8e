//! Formats numbers for messages.

pub(super) use crate::catalog::rounded;
use crate::catalog::{Currency, Money, grouped};

/// Formats dollars in the reader's currency: whole numbers above ten, with cents below. An amount above zero is never
/// shown as zero.
pub(super) fn amount(amount: f64, currency: Currency) -> String {
    if !amount.is_finite() {
        return "an unknown amount".to_owned();
    }
    let (symbol, shown) = (currency.symbol(), currency.exchanged(Money::from_usd(amount)));
    let sign = if amount < 0.0 { "-" } else { "" };
    let amount = shown.usd().abs();
    if amount >= 10.0 {
        return format!("{sign}{symbol}{}", grouped(amount.round() as u64));
    }
    if amount > 0.0 && amount < 0.005 {
        return format!("{sign}under {symbol}0.01");
    }
    format!("{sign}{symbol}{amount:.2}")
}

/// Formats a number with at most two decimals and without trailing zeros.
pub(super) fn number(n: f64) -> String {
    if !n.is_finite() {
        return "no limit".to_owned();
    }
    let text = format!("{n:.2}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Formats seconds in the largest unit that gives a whole number.
pub(super) fn time(seconds: f64) -> String {
    let units = [(86_400.0, "day", "days"), (3600.0, "hour", "hours"), (60.0, "minute", "minutes")];
    for (length, one, many) in units {
        let amount = seconds / length;
        if amount >= 1.0 && (amount * 10.0).fract().abs() < 1e-6 {
            return format!("{} {}", number(amount), if amount == 1.0 { one } else { many });
        }
    }
    format!("{} seconds", number(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_rounded_for_people() {
        for (amount, text) in [
            (0.0, "$0.00"),
            (0.001, "under $0.01"),
            (1.006, "$1.01"),
            (12.5, "$13"),
            (1_234_567.4, "$1,234,567"),
            (-40.0, "-$40"),
        ] {
            assert_eq!(super::amount(amount, Currency::USD), text);
        }
        assert_eq!(
            (time(86_400.0).as_str(), time(5400.0).as_str(), time(90.0).as_str()),
            ("1 day", "1.5 hours", "1.5 minutes")
        );
        let shown = [5_312_000.0, 1234.0, 99.6, 0.4123, 7.25e9, 0.0].map(rounded);
        assert_eq!(shown, ["5.3 million", "1,200", "100", "0.41", "7.3 billion", "0"]);
        assert_eq!((number(8.0).as_str(), number(0.5).as_str(), number(1.239).as_str()), ("8", "0.5", "1.24"));
    }
}
