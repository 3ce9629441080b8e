//! Checksums of the family SHA-2, and what older ones share with it.

use std::sync::LazyLock;

/// As two digits a byte.
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]).collect()
}

pub fn sha256(message: &[u8]) -> Vec<u8> {
    let constants: Vec<u32> = CONSTANTS.iter().map(|constant| (constant >> 32) as u32).collect();
    let mut state: Vec<u32> = INITIAL.iter().map(|part| (part >> 32) as u32).collect();
    for block in padded(message, 64, &(message.len() as u64 * 8).to_be_bytes()).chunks_exact(64) {
        let mut w = words32(block, u32::from_be_bytes);
        for i in 16..64 {
            let low = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ w[i - 15] >> 3;
            let high = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ w[i - 2] >> 10;
            w.push(w[i - 16].wrapping_add(low).wrapping_add(w[i - 7]).wrapping_add(high));
        }
        let mut v = state.clone();
        for i in 0..64 {
            let high = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = v[4] & v[5] ^ !v[4] & v[6];
            let first = v[7].wrapping_add(high).wrapping_add(choice).wrapping_add(constants[i]).wrapping_add(w[i]);
            let low = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2];
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(first);
            v[0] = first.wrapping_add(low.wrapping_add(majority));
        }
        state.iter_mut().zip(v).for_each(|(part, value)| *part = part.wrapping_add(value));
    }
    state.iter().flat_map(|part| part.to_be_bytes()).collect()
}

pub fn sha512(message: &[u8]) -> Vec<u8> {
    let constants = &*CONSTANTS;
    let mut state = INITIAL.clone();
    for block in padded(message, 128, &(message.len() as u128 * 8).to_be_bytes()).chunks_exact(128) {
        let word = |w: &[u8]| w.iter().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        let mut w: Vec<u64> = block.chunks_exact(8).map(word).collect();
        for i in 16..80 {
            let low = w[i - 15].rotate_right(1) ^ w[i - 15].rotate_right(8) ^ w[i - 15] >> 7;
            let high = w[i - 2].rotate_right(19) ^ w[i - 2].rotate_right(61) ^ w[i - 2] >> 6;
            w.push(w[i - 16].wrapping_add(low).wrapping_add(w[i - 7]).wrapping_add(high));
        }
        let mut v = state.clone();
        for i in 0..80 {
            let high = v[4].rotate_right(14) ^ v[4].rotate_right(18) ^ v[4].rotate_right(41);
            let choice = v[4] & v[5] ^ !v[4] & v[6];
            let first = v[7].wrapping_add(high).wrapping_add(choice).wrapping_add(constants[i]).wrapping_add(w[i]);
            let low = v[0].rotate_right(28) ^ v[0].rotate_right(34) ^ v[0].rotate_right(39);
            let majority = v[0] & v[1] ^ v[0] & v[2] ^ v[1] & v[2];
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(first);
            v[0] = first.wrapping_add(low.wrapping_add(majority));
        }
        state.iter_mut().zip(v).for_each(|(part, value)| *part = part.wrapping_add(value));
    }
    state.iter().flat_map(|part| part.to_be_bytes()).collect()
}

pub(crate) fn sha1(message: &[u8]) -> Vec<u8> {
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for block in padded(message, 64, &(message.len() as u64 * 8).to_be_bytes()).chunks_exact(64) {
        let mut words = words32(block, u32::from_be_bytes);
        for i in 16..80 {
            words.push((words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = state;
        for (i, word) in words.iter().enumerate() {
            let (mix, constant) = match i / 20 {
                0 => (b & c | !b & d, 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => (b & c | b & d | c & d, 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6u32),
            };
            let next = a.rotate_left(5).wrapping_add(mix).wrapping_add(e).wrapping_add(constant).wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (part, value) in state.iter_mut().zip([a, b, c, d, e]) {
            *part = part.wrapping_add(value);
        }
    }
    state.iter().flat_map(|part| part.to_be_bytes()).collect()
}

/// The message, a one bit, zeros, and its length in bits at the end of the last block.
pub(crate) fn padded(message: &[u8], block: usize, length: &[u8]) -> Vec<u8> {
    let mut padded = message.to_vec();
    padded.push(0x80);
    let wanted = block - length.len();
    let zeros = (wanted + block - padded.len() % block) % block;
    padded.resize(padded.len() + zeros, 0);
    padded.extend_from_slice(length);
    padded
}

pub(crate) fn words32(block: &[u8], read: fn([u8; 4]) -> u32) -> Vec<u32> {
    block.chunks_exact(4).map(|w| read([w[0], w[1], w[2], w[3]])).collect()
}

/// The constants of SHA-2: the fractions of the cube roots of the first primes. SHA-256 takes their upper halves.
static CONSTANTS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let primes = (2u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    primes.take(80).map(|prime| fraction_of_root(prime, 3)).collect()
});

/// Where SHA-2 begins: the fractions of the square roots of the first eight primes.
static INITIAL: LazyLock<Vec<u64>> =
    LazyLock::new(|| [2, 3, 5, 7, 11, 13, 17, 19].into_iter().map(|prime| fraction_of_root(prime, 2)).collect());

/// The first 64 bits after the point of a square (2) or cube (3) root.
fn fraction_of_root(prime: u64, degree: u32) -> u64 {
    // The largest r with r^degree <= prime × 2^(64 × degree), found bit by bit in numbers of 256 bits.
    let mut root: u128 = 0;
    for bit in (0..68).rev() {
        let candidate = root | 1 << bit;
        if power_is_at_most(candidate, degree, prime) {
            root = candidate;
        }
    }
    root as u64
}

/// candidate^degree <= prime × 2^(64 × degree)
fn power_is_at_most(candidate: u128, degree: u32, prime: u64) -> bool {
    let limbs = |n: u128| [(n & u128::from(u64::MAX)) as u64, (n >> 64) as u64];
    let mut product = vec![1u64];
    for _ in 0..degree {
        product = multiply(&product, &limbs(candidate));
    }
    let mut bound = vec![0u64; degree as usize];
    bound.push(prime);
    let size = product.len().max(bound.len());
    product.resize(size, 0);
    bound.resize(size, 0);
    product.iter().rev().le(bound.iter().rev())
}

fn multiply(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut result = vec![0u64; a.len() + b.len()];
    for (i, x) in a.iter().enumerate() {
        let mut carry = 0u128;
        for (j, y) in b.iter().enumerate() {
            carry += u128::from(*x) * u128::from(*y) + u128::from(result[i + j]);
            result[i + j] = carry as u64;
            carry >>= 64;
        }
        result[i + b.len()] = carry as u64;
    }
    result
}
