//! Formats numbers with the fewest digits that parse to the same number.

use std::fmt;

use super::{Form, HclNumber, Large, natural};

/// Writes the shortest decimal that equals this number at its precision, without an exponent.
impl fmt::Display for HclNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Small(n, _) => write!(f, "{n}"),
            Form::Large(large) => f.write_str(&large.shortest()),
        }
    }
}

impl Large {
    fn shortest(&self) -> String {
        // One more bit than the precision, so that it is half a unit in the last place.
        let widen = (u32::from(self.precision) + 1).saturating_sub(natural::bits(&self.mantissa));
        let exact = natural::shift_left(&self.mantissa, widen);
        let exponent = i64::from(self.exponent) - i64::from(widen);
        let even = exact.first().is_none_or(|limb| limb & 2 == 0);
        let lower = natural::subtract(&exact, &[1]);
        let upper = natural::add(&exact, &[1]);
        let (scale, power) = if exponent < 0 {
            (exponent.unsigned_abs() as usize, natural::power(5, exponent.unsigned_abs() as u32))
        } else {
            (0, natural::shift_left(&[1], exponent as u32))
        };
        let [lower, exact, upper] = [lower, exact, upper].map(|n| natural::to_digits(&natural::multiply(&n, &power)));
        let width = upper.len();
        let pad = |digits: Vec<u8>| [vec![0; width - digits.len()], digits].concat();
        let digits = shortest_between(&pad(lower), &pad(exact), &upper, even);
        plain(self.negative, &digits, scale)
    }
}

/// Returns the fewest leading digits of `exact`, cut or rounded up, that are between the bounds. The other digits
/// become zero.
fn shortest_between(lower: &[u8], exact: &[u8], upper: &[u8], inclusive: bool) -> Vec<u8> {
    for kept in 1..=exact.len() {
        let cut: Vec<u8> = exact.iter().enumerate().map(|(i, d)| if i < kept { *d } else { 0 }).collect();
        let raised = raise(&cut, kept);
        let down = cut.as_slice() > lower || inclusive && cut.as_slice() == lower;
        let up = raised.as_deref().is_some_and(|r| r < upper || inclusive && r == upper);
        let next = exact.get(kept).copied().unwrap_or(0);
        let nearer_up = next > 5 || next == 5 && (exact[kept + 1..].iter().any(|d| *d > 0) || cut[kept - 1] % 2 == 1);
        match (down, up, raised) {
            (true, true, Some(raised)) => return if nearer_up { raised } else { cut },
            (true, ..) => return cut,
            (false, true, Some(raised)) => return raised,
            _ => {}
        }
    }
    exact.to_vec()
}

/// Increases the last remaining digit by one; `None` if this would add a digit.
fn raise(cut: &[u8], kept: usize) -> Option<Vec<u8>> {
    let mut raised = cut.to_vec();
    for digit in raised[..kept].iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return Some(raised);
        }
        *digit = 0;
    }
    None
}

/// Formats digits with this many decimals, without unnecessary zeros.
fn plain(negative: bool, digits: &[u8], scale: usize) -> String {
    let mut text: String = digits.iter().map(|d| char::from(d + b'0')).collect();
    if scale > 0 {
        if text.len() <= scale {
            text.insert_str(0, &"0".repeat(scale + 1 - text.len()));
        }
        text.insert(text.len() - scale, '.');
        let end = text.trim_end_matches('0').trim_end_matches('.').len();
        text.truncate(end);
    }
    let start = text.len() - text.trim_start_matches('0').len();
    let text = &text[start..];
    let zero = if text.is_empty() || text.starts_with('.') { "0" } else { "" };
    format!("{}{zero}{text}", if negative { "-" } else { "" })
}
