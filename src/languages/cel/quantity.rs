//! Defines Kubernetes quantities: `1.5Gi`, `500m`, `2e3`. They are exact to a billionth, as in Kubernetes.

use std::fmt;

/// One, in billionths.
const ONE: i128 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity {
    billionths: i128,
}

impl Quantity {
    pub(super) fn whole(n: i64) -> Quantity {
        Quantity { billionths: i128::from(n) * ONE }
    }

    /// Parses a quantity; parts below a billionth are rounded away from zero.
    pub(super) fn parse(text: &str) -> Option<Quantity> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(digits);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || whole.len() > 30 || fraction.len() > 30
        {
            return None;
        }
        let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
        let (factor, exponent) = scale(suffix)?;
        let mut exponent = exponent - i32::try_from(fraction.len()).ok()? + 9;
        let mut value = mantissa.checked_mul(factor)?;
        while exponent > 0 {
            value = value.checked_mul(10)?;
            exponent -= 1;
        }
        let mut is_rounded = false;
        while exponent < 0 {
            is_rounded |= value % 10 != 0;
            value /= 10;
            exponent += 1;
        }
        value += i128::from(is_rounded);
        Some(Quantity { billionths: if negative { -value } else { value } })
    }

    pub(super) fn sign(self) -> i64 {
        self.billionths.signum() as i64
    }

    pub(super) fn as_integer(self) -> Option<i64> {
        (self.billionths % ONE == 0).then(|| i64::try_from(self.billionths / ONE).ok())?
    }

    pub(super) fn as_double(self) -> f64 {
        self.billionths as f64 / ONE as f64
    }

    pub(super) fn plus(self, other: Quantity, sign: i128) -> Option<Quantity> {
        Some(Quantity { billionths: self.billionths.checked_add(sign * other.billionths)? })
    }
}

/// Returns the factor and the power of ten of a suffix.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if let Some(place) = BINARY.iter().position(|it| *it == suffix) {
        return Some((1i128 << (10 * (place + 1)), 0));
    }
    Some((
        1,
        match suffix {
            "n" => -9,
            "u" => -6,
            "m" => -3,
            "" => 0,
            "k" => 3,
            "M" => 6,
            "G" => 9,
            "T" => 12,
            "P" => 15,
            "E" => 18,
            _ => suffix.strip_prefix(['e', 'E'])?.parse().ok().filter(|n: &i32| n.abs() <= 30)?,
        },
    ))
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.billionths < 0 { "-" } else { "" };
        let (whole, rest) =
            (self.billionths.unsigned_abs() / ONE as u128, self.billionths.unsigned_abs() % ONE as u128);
        match rest {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{}", format!("{rest:09}").trim_end_matches('0')),
        }
    }
}
