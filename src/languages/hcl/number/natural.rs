//! Defines natural numbers of any size: limbs of 32 bits, the lowest first, without leading zeros.

use std::cmp::Ordering;

pub(super) type Natural = Vec<u32>;

pub(super) fn from_u64(n: u64) -> Natural {
    trimmed(vec![n as u32, (n >> 32) as u32])
}

pub(super) fn to_u64(n: &[u32]) -> Option<u64> {
    match n {
        [] => Some(0),
        [low] => Some(u64::from(*low)),
        [low, high] => Some(u64::from(*low) | u64::from(*high) << 32),
        _ => None,
    }
}

fn trimmed(mut n: Natural) -> Natural {
    while n.last() == Some(&0) {
        n.pop();
    }
    n
}

pub(super) fn bits(n: &[u32]) -> u32 {
    n.last().map_or(0, |top| n.len() as u32 * 32 - top.leading_zeros())
}

pub(super) fn trailing_zeros(n: &[u32]) -> u32 {
    match n.iter().position(|limb| *limb != 0) {
        Some(index) => index as u32 * 32 + n[index].trailing_zeros(),
        None => 0,
    }
}

pub(super) fn compare(a: &[u32], b: &[u32]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

pub(super) fn shift_left(n: &[u32], by: u32) -> Natural {
    if n.is_empty() {
        return Natural::new();
    }
    let (limbs, rest) = ((by / 32) as usize, by % 32);
    let mut result = vec![0; limbs];
    let mut carry = 0u64;
    for limb in n {
        let wide = u64::from(*limb) << rest | carry;
        result.push(wide as u32);
        carry = wide >> 32;
    }
    result.push(carry as u32);
    trimmed(result)
}

pub(super) fn shift_right(n: &[u32], by: u32) -> Natural {
    let (limbs, rest) = ((by / 32) as usize, by % 32);
    let kept = n.get(limbs..).unwrap_or_default();
    let result = kept
        .iter()
        .enumerate()
        .map(|(index, limb)| {
            let above = kept.get(index + 1).copied().unwrap_or(0);
            ((u64::from(above) << 32 | u64::from(*limb)) >> rest) as u32
        })
        .collect();
    trimmed(result)
}

pub(super) fn add(a: &[u32], b: &[u32]) -> Natural {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut carry = 0u64;
    let mut result: Natural = long
        .iter()
        .enumerate()
        .map(|(index, limb)| {
            carry += u64::from(*limb) + u64::from(short.get(index).copied().unwrap_or(0));
            let low = carry as u32;
            carry >>= 32;
            low
        })
        .collect();
    result.push(carry as u32);
    trimmed(result)
}

/// Returns `a - b`, where `a` must not be smaller.
pub(super) fn subtract(a: &[u32], b: &[u32]) -> Natural {
    let mut borrow = 0i64;
    let result = a
        .iter()
        .enumerate()
        .map(|(index, limb)| {
            borrow += i64::from(*limb) - i64::from(b.get(index).copied().unwrap_or(0));
            let low = borrow as u32;
            borrow >>= 32;
            low
        })
        .collect();
    trimmed(result)
}

pub(super) fn multiply(a: &[u32], b: &[u32]) -> Natural {
    let mut result = vec![0u32; a.len() + b.len()];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0u64;
        for (j, y) in b.iter().enumerate() {
            carry += u64::from(*x) * u64::from(*y) + u64::from(result[i + j]);
            result[i + j] = carry as u32;
            carry >>= 32;
        }
        result[i + b.len()] = carry as u32;
    }
    trimmed(result)
}

/// Returns quotient and remainder for a divisor of one limb.
pub(super) fn divide_small(n: &[u32], by: u32) -> (Natural, u32) {
    let mut rest = 0u64;
    let mut quotient = vec![0; n.len()];
    for (index, limb) in n.iter().enumerate().rev() {
        rest = rest << 32 | u64::from(*limb);
        quotient[index] = (rest / u64::from(by)) as u32;
        rest %= u64::from(by);
    }
    (trimmed(quotient), rest as u32)
}

/// Returns quotient and remainder by Knuth's algorithm D; the divisor must not be zero.
pub(super) fn divide(n: &[u32], by: &[u32]) -> (Natural, Natural) {
    if compare(n, by) == Ordering::Less {
        return (Natural::new(), n.to_vec());
    }
    if let [one] = by {
        let (quotient, rest) = divide_small(n, *one);
        return (quotient, from_u64(u64::from(rest)));
    }
    let shift = by.last().map_or(0, |top| top.leading_zeros());
    let by = shift_left(by, shift);
    let mut n = shift_left(n, shift);
    n.push(0);
    let size = by.len();
    let (top, second) = (u64::from(by[size - 1]), u64::from(by[size - 2]));
    let mut quotient = vec![0; n.len() - size];
    for index in (0..quotient.len()).rev() {
        let Some(high) = n.get(index + size).copied() else { continue };
        let head = u64::from(high) << 32 | u64::from(n[index + size - 1]);
        let mut guess = head / top;
        let mut rest = head % top;
        while guess >> 32 != 0 || guess * second > (rest << 32 | u64::from(n[index + size - 2])) {
            guess -= 1;
            rest += top;
            if rest >> 32 != 0 {
                break;
            }
        }
        if subtract_multiple(&mut n[index..=index + size], &by, guess) {
            guess -= 1;
            add_back(&mut n[index..=index + size], &by);
        }
        quotient[index] = guess as u32;
    }
    (trimmed(quotient), shift_right(&trimmed(n), shift))
}

/// Computes `n -= by * guess`; returns `true` if the result is negative and wraps.
fn subtract_multiple(n: &mut [u32], by: &[u32], guess: u64) -> bool {
    let (mut carry, mut borrow) = (0u64, 0i64);
    for (index, limb) in n.iter_mut().enumerate() {
        carry += by.get(index).map_or(0, |b| u64::from(*b) * guess);
        borrow += i64::from(*limb) - i64::from(carry as u32);
        *limb = borrow as u32;
        borrow >>= 32;
        carry >>= 32;
    }
    borrow < 0
}

fn add_back(n: &mut [u32], by: &[u32]) {
    let mut carry = 0u64;
    for (index, limb) in n.iter_mut().enumerate() {
        carry += u64::from(*limb) + u64::from(by.get(index).copied().unwrap_or(0));
        *limb = carry as u32;
        carry >>= 32;
    }
}

pub(super) fn power(base: u32, exponent: u32) -> Natural {
    let mut result = from_u64(1);
    let mut square = from_u64(u64::from(base));
    let mut left = exponent;
    while left > 0 {
        if left & 1 == 1 {
            result = multiply(&result, &square);
        }
        left >>= 1;
        if left > 0 {
            square = multiply(&square, &square);
        }
    }
    result
}

/// Returns decimal digits without leading zeros; empty for zero.
pub(super) fn to_digits(n: &[u32]) -> Vec<u8> {
    const CHUNK: u32 = 1_000_000_000;
    let mut chunks = Vec::new();
    let mut left = n.to_vec();
    while !left.is_empty() {
        let (quotient, rest) = divide_small(&left, CHUNK);
        chunks.push(rest);
        left = quotient;
    }
    let text: String = chunks.iter().rev().map(|chunk| format!("{chunk:09}")).collect();
    text.trim_start_matches('0').bytes().map(|b| b - b'0').collect()
}

pub(super) fn from_digits(digits: impl Iterator<Item = u8>) -> Natural {
    let mut result = Natural::new();
    for digit in digits {
        let mut carry = u64::from(digit);
        for limb in &mut result {
            carry += u64::from(*limb) * 10;
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            result.push(carry as u32);
        }
    }
    result
}
