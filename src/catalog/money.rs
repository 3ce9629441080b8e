//! Money as an integer of billionths of a dollar, so that totals and parts are exact.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

/// The currency of amounts in reports, with the exchange rate in the settings. Totals are calculated in dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Currency {
    /// The code, such as `EUR`.
    code: [u8; 3],
    pub per_usd: f64,
}

impl Currency {
    pub const USD: Currency = Currency { code: *b"USD", per_usd: 1.0 };

    /// The plausible exchange rates for a dollar.
    pub const RATES: std::ops::RangeInclusive<f64> = 1e-4..=1e6;

    /// Returns dollars if the code or the rate is not plausible.
    pub fn new(code: &str, per_usd: f64) -> Currency {
        match <[u8; 3]>::try_from(code.as_bytes()) {
            Ok(code)
                if code != Self::USD.code
                    && code.iter().all(u8::is_ascii_uppercase)
                    && Self::RATES.contains(&per_usd) =>
            {
                Currency { code, per_usd }
            }
            _ => Self::USD,
        }
    }

    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.code).unwrap_or_default()
    }

    /// Returns the symbol in front of an amount.
    pub fn symbol(&self) -> String {
        match self.code() {
            "USD" => "$".to_owned(),
            "EUR" => "€".to_owned(),
            "GBP" => "£".to_owned(),
            "JPY" | "CNY" => "¥".to_owned(),
            "INR" => "₹".to_owned(),
            "KRW" => "₩".to_owned(),
            code => format!("{code} "),
        }
    }

    /// Converts dollars to this currency.
    pub fn exchanged(&self, money: Money) -> Money {
        if *self == Self::USD { money } else { money.times(self.per_usd) }
    }
}

impl Default for Currency {
    fn default() -> Self {
        Self::USD
    }
}

/// US dollars in billionths. Price lists use millionths; more digits keep seven sevenths of a month equal to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i128);

impl Money {
    pub const ZERO: Money = Money(0);

    pub fn from_micros(micros: i64) -> Self {
        Money(i128::from(micros) * 1000)
    }

    /// Converts an amount of a bill, rounded to the nearest billionth.
    pub fn from_trillionths(trillionths: i128) -> Self {
        let half = if trillionths < 0 { -500 } else { 500 };
        Money((trillionths + half) / 1000)
    }

    /// Converts a price, rounded to the nearest millionth.
    pub fn from_usd(usd: f64) -> Self {
        Money((usd * 1e6).round() as i128).thousandfold()
    }

    /// Returns millionths, rounded to the nearest.
    pub fn micros(self) -> i64 {
        let half = if self.0 < 0 { -500 } else { 500 };
        i64::try_from(self.0.saturating_add(half) / 1000).unwrap_or(if self.0 < 0 { i64::MIN } else { i64::MAX })
    }

    /// Returns dollars, rounded to the nearest millionth, as in reports.
    pub fn usd(self) -> f64 {
        self.micros() as f64 / 1e6
    }

    #[must_use]
    pub fn times(self, factor: f64) -> Money {
        Money((self.0 as f64 * factor).round() as i128)
    }

    /// Multiplies by a factor in millionths and rounds to the nearest millionth of a dollar. Price lists calculate
    /// their prices from each other this way.
    #[must_use]
    pub fn scaled(self, millionths: i64) -> Money {
        let product = self.0.saturating_mul(i128::from(millionths));
        let half = if product < 0 { -500_000_000 } else { 500_000_000 };
        Money((product.saturating_add(half)) / 1_000_000_000).thousandfold()
    }

    /// Returns the same share of this amount as `of` is of `all`. If `all` is zero, the share is zero.
    #[must_use]
    pub fn part(self, of: Money, all: Money) -> Money {
        if all.0 == 0 {
            return Money::ZERO;
        }
        match self.0.checked_mul(of.0) {
            Some(product) => Money(product / all.0),
            None => self.times(of.0 as f64 / all.0 as f64),
        }
    }

    fn thousandfold(self) -> Money {
        Money(self.0.saturating_mul(1000))
    }

    /// Returns the dollars as a decimal number without trailing zeros, such as `0.25`.
    pub fn decimal(self) -> String {
        let micros = self.micros();
        let sign = if micros < 0 { "-" } else { "" };
        let (whole, fraction) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
        format!("{sign}{whole}.{fraction:06}").trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add for Money {
    type Output = Money;
    fn add(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl Sub for Money {
    type Output = Money;
    fn sub(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }
}

impl Neg for Money {
    type Output = Money;
    fn neg(self) -> Money {
        Money(self.0.saturating_neg())
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(all: I) -> Money {
        all.fold(Money::ZERO, Add::add)
    }
}

/// The minimum, expected and maximum amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MoneyRange {
    pub floor: Money,
    pub expected: Money,
    pub ceiling: Money,
}

impl MoneyRange {
    pub const ZERO: MoneyRange = MoneyRange { floor: Money::ZERO, expected: Money::ZERO, ceiling: Money::ZERO };

    pub fn exactly(money: Money) -> Self {
        MoneyRange { floor: money, expected: money, ceiling: money }
    }

    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        self.map(|money| money.times(factor))
    }

    #[must_use]
    pub fn map(self, change: impl Fn(Money) -> Money) -> Self {
        MoneyRange { floor: change(self.floor), expected: change(self.expected), ceiling: change(self.ceiling) }
    }
}

/// Formats an estimate with two significant digits, such as `5.3 million`, `1,200` or `0.41`.
pub fn rounded(n: f64) -> String {
    if !n.is_finite() {
        return "no limit".to_owned();
    }
    if n <= 0.0 {
        return format!("{n}");
    }
    let unit = 10_f64.powf(n.log10().floor() - 1.0);
    let n = (n / unit).round() * unit;
    let short = |n: f64| format!("{n:.2}").trim_end_matches('0').trim_end_matches('.').to_owned();
    match n {
        n if n >= 1e9 => format!("{} billion", short(n / 1e9)),
        n if n >= 1e6 => format!("{} million", short(n / 1e6)),
        n if n >= 10.0 => grouped(n.round() as u64),
        n if n >= 0.01 => short(n),
        n => format!("{n:.1e}"),
    }
}

/// Formats digits in groups of three, such as `39,821`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Add for MoneyRange {
    type Output = MoneyRange;
    fn add(self, other: MoneyRange) -> MoneyRange {
        MoneyRange {
            floor: self.floor + other.floor,
            expected: self.expected + other.expected,
            ceiling: self.ceiling + other.ceiling,
        }
    }
}

impl Sub for MoneyRange {
    type Output = MoneyRange;
    fn sub(self, other: MoneyRange) -> MoneyRange {
        MoneyRange {
            floor: self.floor - other.floor,
            expected: self.expected - other.expected,
            ceiling: self.ceiling - other.ceiling,
        }
    }
}

impl AddAssign for MoneyRange {
    fn add_assign(&mut self, other: MoneyRange) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_all_numbers_stays_there() {
        let most = Money::from_usd(f64::MAX).times(f64::INFINITY);
        assert_eq!((most.micros(), (-most).micros()), (i64::MAX, i64::MIN));
        assert_eq!((most + most).scaled(2_000_000).micros(), i64::MAX);
    }
}
