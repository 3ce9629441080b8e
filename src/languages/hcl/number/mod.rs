//! Terraform's numbers: binary floating point of 512 bits, so that integers of usual size and decimal fractions are
//! printed as written.

mod natural;
mod spelling;

use std::cmp::Ordering;
use std::sync::Arc;

use natural::Natural;

/// Terraform parses numbers with 512 bits. Lengths and indexes have 64 bits, and results of floating-point functions
/// 53.
const PARSED: u16 = 512;
const COUNTED: u16 = 64;
const FLOATING: u16 = 53;
/// The limit on powers of two. Terraform's limit is higher, but no real file needs more.
const LARGEST_EXPONENT: i64 = 20_000;
const LONGEST_LITERAL: usize = 4_000;

/// A Terraform number.
#[derive(Debug, Clone)]
pub struct HclNumber(Form);

#[derive(Debug, Clone)]
enum Form {
    /// An integer that fits into 64 bits.
    Small(i64, u16),
    Large(Arc<Large>),
}

/// `mantissa × 2^exponent` with an odd mantissa.
#[derive(Debug, Clone)]
struct Large {
    negative: bool,
    mantissa: Natural,
    exponent: i32,
    precision: u16,
}

impl HclNumber {
    /// Returns a length, an index or another count.
    pub fn counted(n: usize) -> Self {
        HclNumber(Form::Small(i64::try_from(n).unwrap_or(i64::MAX), COUNTED))
    }

    pub fn integer(n: i64) -> Self {
        HclNumber(Form::Small(n, PARSED))
    }

    /// Parses a number as Terraform does: digits, a fraction, an exponent.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if unsigned.len() <= 18 && !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
            let n: i64 = unsigned.parse().ok()?;
            return Some(HclNumber::integer(if negative { -n } else { n }));
        }
        let (digits, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i64>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let valid = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if !valid(whole) || !valid(fraction) || whole.len() + fraction.len() == 0 {
            return None;
        }
        let exponent = exponent.checked_sub(fraction.len() as i64)?;
        if exponent.unsigned_abs() as usize + digits.len() > LONGEST_LITERAL {
            return None;
        }
        let mantissa = natural::from_digits(whole.bytes().chain(fraction.bytes()).map(|b| b - b'0'));
        let power = natural::power(10, exponent.unsigned_abs() as u32);
        if exponent >= 0 {
            return build(negative, natural::multiply(&mantissa, &power), 0, false, PARSED);
        }
        quotient(negative, &mantissa, &power, 0, PARSED)
    }

    pub fn from_f64(n: f64) -> Option<Self> {
        if !n.is_finite() {
            return None;
        }
        let raw = n.to_bits();
        let biased = (raw >> 52 & 0x7ff) as i64;
        let fraction = raw & ((1 << 52) - 1);
        let (mantissa, exponent) = if biased == 0 { (fraction, -1074) } else { (fraction | 1 << 52, biased - 1075) };
        build(n < 0.0, natural::from_u64(mantissa), exponent, false, FLOATING)
    }

    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Form::Small(n, _) => *n as f64,
            Form::Large(_) => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// Returns the number if it is a 64-bit integer.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Form::Small(n, _) => Some(*n),
            Form::Large(_) => None,
        }
    }

    pub fn as_usize(&self) -> Option<usize> {
        usize::try_from(self.as_i64()?).ok()
    }

    pub fn is_zero(&self) -> bool {
        matches!(self.0, Form::Small(0, _))
    }

    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Form::Small(n, _) => *n < 0,
            Form::Large(large) => large.negative,
        }
    }

    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Form::Small(..) => true,
            Form::Large(large) => large.exponent >= 0,
        }
    }

    fn precision(&self) -> u16 {
        match &self.0 {
            Form::Small(_, precision) => *precision,
            Form::Large(large) => large.precision,
        }
    }

    /// Returns sign, mantissa and exponent.
    fn parts(&self) -> (bool, Natural, i64) {
        match &self.0 {
            Form::Small(n, _) => (*n < 0, natural::from_u64(n.unsigned_abs()), 0),
            Form::Large(large) => (large.negative, large.mantissa.clone(), i64::from(large.exponent)),
        }
    }

    #[must_use]
    pub fn negated(&self) -> Self {
        match &self.0 {
            Form::Small(n, precision) if *n != i64::MIN => HclNumber(Form::Small(-n, *precision)),
            _ => {
                let (negative, mantissa, exponent) = self.parts();
                build(!negative, mantissa, exponent, false, self.precision()).unwrap_or_else(|| self.clone())
            }
        }
    }

    /// Returns the sum; `None` if the result exceeds the limit. The functions below also return `None` in this case.
    pub fn plus(&self, other: &HclNumber) -> Option<HclNumber> {
        let precision = self.precision().max(other.precision());
        if let (Form::Small(a, _), Form::Small(b, _)) = (&self.0, &other.0)
            && let Some(sum) = a.checked_add(*b)
        {
            return Some(HclNumber(Form::Small(sum, precision)));
        }
        let (exponent, (a_negative, a), (b_negative, b)) = aligned(self, other);
        if a_negative == b_negative {
            return build(a_negative, natural::add(&a, &b), exponent, false, precision);
        }
        match natural::compare(&a, &b) {
            Ordering::Less => build(b_negative, natural::subtract(&b, &a), exponent, false, precision),
            _ => build(a_negative, natural::subtract(&a, &b), exponent, false, precision),
        }
    }

    pub fn minus(&self, other: &HclNumber) -> Option<HclNumber> {
        self.plus(&other.negated())
    }

    pub fn times(&self, other: &HclNumber) -> Option<HclNumber> {
        let precision = self.precision().max(other.precision());
        if let (Form::Small(a, _), Form::Small(b, _)) = (&self.0, &other.0)
            && let Some(product) = a.checked_mul(*b)
        {
            return Some(HclNumber(Form::Small(product, precision)));
        }
        let ((a_negative, a, a_exponent), (b_negative, b, b_exponent)) = (self.parts(), other.parts());
        build(a_negative != b_negative, natural::multiply(&a, &b), a_exponent + b_exponent, false, precision)
    }

    /// Returns the quotient; `None` for a division by zero, too.
    pub fn divided_by(&self, other: &HclNumber) -> Option<HclNumber> {
        if other.is_zero() {
            return None;
        }
        let precision = self.precision().max(other.precision());
        if let (Form::Small(a, _), Form::Small(b, _)) = (&self.0, &other.0)
            && a.checked_rem(*b) == Some(0)
        {
            return Some(HclNumber(Form::Small(a / b, precision)));
        }
        let ((a_negative, a, a_exponent), (b_negative, b, b_exponent)) = (self.parts(), other.parts());
        quotient(a_negative != b_negative, &a, &b, a_exponent - b_exponent, precision)
    }

    /// Returns the remainder, which has the sign of the dividend.
    pub fn remainder(&self, other: &HclNumber) -> Option<HclNumber> {
        let whole = self.divided_by(other)?.truncated();
        self.minus(&other.times(&whole)?)
    }

    /// Cuts off the fraction.
    #[must_use]
    pub fn truncated(&self) -> HclNumber {
        match &self.0 {
            Form::Large(large) if large.exponent < 0 => {
                let mantissa = natural::shift_right(&large.mantissa, large.exponent.unsigned_abs());
                build(large.negative, mantissa, 0, false, large.precision).unwrap_or(HclNumber::integer(0))
            }
            _ => self.clone(),
        }
    }

    #[must_use]
    pub fn floor(&self) -> HclNumber {
        let whole = self.truncated();
        let below = self.is_negative() && !self.is_integer();
        if below { whole.minus(&HclNumber::integer(1)).unwrap_or(whole) } else { whole }
    }

    #[must_use]
    pub fn ceil(&self) -> HclNumber {
        let whole = self.truncated();
        let above = !self.is_negative() && !self.is_integer();
        if above { whole.plus(&HclNumber::integer(1)).unwrap_or(whole) } else { whole }
    }
}

/// Returns both mantissas for the smaller exponent.
fn aligned(a: &HclNumber, b: &HclNumber) -> (i64, (bool, Natural), (bool, Natural)) {
    let ((a_negative, a, a_exponent), (b_negative, b, b_exponent)) = (a.parts(), b.parts());
    let exponent = a_exponent.min(b_exponent);
    let a = natural::shift_left(&a, (a_exponent - exponent) as u32);
    let b = natural::shift_left(&b, (b_exponent - exponent) as u32);
    (exponent, (a_negative, a), (b_negative, b))
}

fn quotient(negative: bool, a: &[u32], b: &[u32], exponent: i64, precision: u16) -> Option<HclNumber> {
    let shift = (u32::from(precision) + 2 + natural::bits(b)).saturating_sub(natural::bits(a));
    let (whole, rest) = natural::divide(&natural::shift_left(a, shift), b);
    build(negative, whole, exponent - i64::from(shift), !rest.is_empty(), precision)
}

/// Rounds to the precision, half to even. `inexact` means that further bits below the last one are not all zero.
fn build(negative: bool, mantissa: Natural, exponent: i64, inexact: bool, precision: u16) -> Option<HclNumber> {
    let surplus = natural::bits(&mantissa).saturating_sub(u32::from(precision));
    let (mut mantissa, mut exponent) = (mantissa, exponent);
    if surplus > 0 {
        let half = natural::trailing_zeros(&mantissa);
        let kept = natural::shift_right(&mantissa, surplus);
        let round_bit = natural::shift_right(&mantissa, surplus - 1).first().is_some_and(|limb| limb & 1 == 1);
        let below = inexact || half < surplus - 1;
        let odd = kept.first().is_some_and(|limb| limb & 1 == 1);
        mantissa = if round_bit && (below || odd) { natural::add(&kept, &[1]) } else { kept };
        exponent += i64::from(surplus);
    }
    if mantissa.is_empty() {
        return Some(HclNumber(Form::Small(0, precision)));
    }
    let zeros = natural::trailing_zeros(&mantissa);
    mantissa = natural::shift_right(&mantissa, zeros);
    exponent += i64::from(zeros);
    let bits = i64::from(natural::bits(&mantissa));
    if (0..63).contains(&exponent) && bits + exponent < 64 {
        let shifted = natural::shift_left(&mantissa, exponent as u32);
        let n = i64::try_from(natural::to_u64(&shifted)?).ok()?;
        return Some(HclNumber(Form::Small(if negative { -n } else { n }, precision)));
    }
    if exponent.abs() + bits > LARGEST_EXPONENT {
        return None;
    }
    let exponent = i32::try_from(exponent).ok()?;
    Some(HclNumber(Form::Large(Arc::new(Large { negative, mantissa, exponent, precision }))))
}

impl PartialEq for HclNumber {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for HclNumber {}

impl PartialOrd for HclNumber {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HclNumber {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Form::Small(a, _), Form::Small(b, _)) = (&self.0, &other.0) {
            return a.cmp(b);
        }
        let (_, (a_negative, a), (b_negative, b)) = aligned(self, other);
        match (a_negative, b_negative) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => natural::compare(&a, &b),
            (true, true) => natural::compare(&b, &a),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> HclNumber {
        HclNumber::parse(text).unwrap()
    }

    #[test]
    fn decimal_fractions_come_out_as_written() {
        for text in ["0.1", "-0.25", "3.14159", "1234567890.000000001", "0.000000000000000000001", "9007199254740993"] {
            assert_eq!(number(text).to_string(), text);
        }
        assert_eq!(number("1e3").to_string(), "1000");
        assert_eq!(number("5.50").to_string(), "5.5");
        assert_eq!(number("1e30").to_string(), "1000000000000000000000000000000");
        assert_eq!(number("123456789012345678901234567890").to_string(), "123456789012345678901234567890");
    }

    #[test]
    fn arithmetic_is_exact_where_terraform_is() {
        assert_eq!(number("0.1").plus(&number("0.2")).unwrap().to_string(), "0.3");
        // The result is not 1.21: Terraform itself shows the rounding error of 512 bits.
        let product = number("1.1").times(&number("1.1")).unwrap().to_string();
        assert_eq!(product, format!("1.21{}1", "0".repeat(151)));
        assert_eq!(number("9223372036854775807").plus(&number("1")).unwrap().to_string(), "9223372036854775808");
        assert_eq!(number("7").remainder(&number("-3")).unwrap().to_string(), "1");
        assert_eq!(number("-7").remainder(&number("3")).unwrap().to_string(), "-1");
        assert_eq!(number("-1.5").floor().to_string(), "-2");
        assert_eq!(number("1.5").ceil().to_string(), "2");
        assert!(number("1").divided_by(&number("0")).is_none());
    }

    #[test]
    fn quotients_are_as_long_as_their_precision() {
        let third = number("1").divided_by(&number("3")).unwrap().to_string();
        assert_eq!(third, format!("0.{}5", "3".repeat(154)));
        let counted = HclNumber::counted(1).divided_by(&HclNumber::counted(3)).unwrap();
        assert_eq!(counted.to_string(), "0.33333333333333333334");
        assert_eq!(HclNumber::from_f64(2f64.sqrt()).unwrap().to_string(), "1.4142135623730951");
    }

    #[test]
    fn numbers_beyond_reason_are_refused() {
        assert!(HclNumber::parse("1e100000").is_none());
        let mut n = number("1e1000");
        for _ in 0..10 {
            match n.times(&n) {
                Some(square) => n = square,
                None => return,
            }
        }
        panic!("grew to {} bits", n.parts().1.len() * 32);
    }

    #[test]
    fn division_agrees_with_multiplication() {
        let a = natural::from_digits((0..200u32).map(|i| ((i * 7 + 3) % 10) as u8));
        let b = natural::from_digits((0..90u32).map(|i| ((i * 3 + 1) % 10) as u8));
        let (quotient, rest) = natural::divide(&a, &b);
        assert_eq!(natural::add(&natural::multiply(&quotient, &b), &rest), a);
        assert_eq!(natural::compare(&rest, &b), Ordering::Less);
    }
}
