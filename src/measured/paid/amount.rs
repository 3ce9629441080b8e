//! Defines exact decimal numbers for bills: sums over a million rows equal those of any other program.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

/// Digits after the decimal point. Prices on bills have up to ten; further digits are rounded.
const PLACES: usize = 12;
const ONE: i128 = 1_000_000_000_000;

/// The maximum amount, which is more than any bill contains.
const MOST: i128 = 1_000_000_000_000_000 * ONE;

/// An amount of money or hours, in trillionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BilledAmount(i128);

impl BilledAmount {
    pub const ZERO: BilledAmount = BilledAmount(0);

    /// Parses `12.5`, `-0.000034` or `1.2E-05`; returns `None` if the string is not a number, or is larger than any
    /// bill.
    pub fn parse(text: &str) -> Option<BilledAmount> {
        let text = text.trim();
        let (is_negative, text) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok().filter(|it| it.abs() <= 40)?),
            None => (text, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.len() + fraction.len() == 0 || whole.len() > 40 || fraction.len() > 60 {
            return None;
        }
        let mut value: i128 = 0;
        // The place of the next digit, in trillionths: 10^place.
        let mut place = i32::try_from(PLACES + whole.len()).ok()? + exponent;
        for digit in whole.bytes().chain(fraction.bytes()) {
            let digit = i128::from(digit.checked_sub(b'0').filter(|it| *it <= 9)?);
            place -= 1;
            match place {
                // Half a trillionth is rounded up; further digits are ignored.
                -1 if digit >= 5 => value = value.checked_add(1)?,
                0..=30 => value = value.checked_add(digit.checked_mul(10i128.checked_pow(place.unsigned_abs())?)?)?,
                31.. if digit > 0 => return None,
                _ => {}
            }
        }
        (value <= MOST).then_some(BilledAmount(if is_negative { -value } else { value }))
    }

    /// Returns a number divided by another one, to the last stored digit.
    pub fn of_ratio(number: i64, over: i64) -> BilledAmount {
        BilledAmount(i128::from(number) * ONE / i128::from(over.max(1)))
    }

    pub fn trillionths(self) -> i128 {
        self.0
    }

    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// Returns a fraction of the amount, exactly if possible. For example, machine hours become accelerator hours.
    #[must_use]
    pub fn over(self, parts: f64) -> BilledAmount {
        match parts.fract() == 0.0 && (1.0..1e9).contains(&parts) {
            true => BilledAmount(self.0 / parts as i128),
            false if parts > 0.0 => BilledAmount((self.0 as f64 / parts) as i128),
            false => self,
        }
    }

    #[must_use]
    pub fn times(self, factor: f64) -> BilledAmount {
        match factor.fract() == 0.0 && factor.abs() < 1e9 {
            true => BilledAmount(self.0.saturating_mul(factor as i128)),
            false => BilledAmount((self.0 as f64 * factor) as i128),
        }
    }
}

impl Add for BilledAmount {
    type Output = BilledAmount;
    fn add(self, other: BilledAmount) -> BilledAmount {
        BilledAmount(self.0.saturating_add(other.0))
    }
}

impl AddAssign for BilledAmount {
    fn add_assign(&mut self, other: BilledAmount) {
        *self = *self + other;
    }
}

impl Sub for BilledAmount {
    type Output = BilledAmount;
    fn sub(self, other: BilledAmount) -> BilledAmount {
        BilledAmount(self.0.saturating_sub(other.0))
    }
}

impl Neg for BilledAmount {
    type Output = BilledAmount;
    fn neg(self) -> BilledAmount {
        BilledAmount(-self.0)
    }
}

impl Sum for BilledAmount {
    fn sum<I: Iterator<Item = BilledAmount>>(all: I) -> BilledAmount {
        all.fold(BilledAmount::ZERO, Add::add)
    }
}

impl fmt::Display for BilledAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (self.0.unsigned_abs() / ONE as u128, self.0.unsigned_abs() % ONE as u128);
        if rest == 0 {
            return write!(f, "{sign}{whole}");
        }
        let digits = format!("{rest:0PLACES$}");
        write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_come_back_as_they_were() {
        for text in ["0", "1", "-12.5", "0.000000000001", "98.32", "123456789012.123456789012"] {
            assert_eq!(BilledAmount::parse(text).unwrap().to_string(), text);
        }
        let same =
            [("1.2E-05", "0.000012"), ("+3", "3"), (" 4.50 ", "4.5"), (".5", "0.5"), ("1e3", "1000"), ("5.", "5")];
        for (text, shown) in same {
            assert_eq!(BilledAmount::parse(text).unwrap().to_string(), shown, "{text}");
        }
        assert_eq!(BilledAmount::parse("0.0000000000005").unwrap().to_string(), "0.000000000001");
        let tenths: BilledAmount = (0..1_000_000).map(|_| BilledAmount::parse("0.1").unwrap()).sum();
        assert_eq!(tenths.to_string(), "100000");
    }

    #[test]
    fn what_is_no_amount_is_none() {
        for text in ["", "-", ".", "1,5", "NaN", "inf", "0x1", "1e99", "1e", "--1", "1.2.3", "9999999999999999", "１"]
        {
            assert_eq!(BilledAmount::parse(text), None, "{text}");
        }
    }
}
