//! Base64.

use super::Gives as G;
use super::Takes as T;
use super::{Function, function, wrong};
use crate::rules::cel::budget::Budget;
use crate::rules::cel::operators::Fault;
use crate::rules::cel::value::Value;

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn functions() -> Vec<Function> {
    vec![
        function("base64.encode", &[T::Bytes], G::Text, encode, "bytes as base64"),
        function("base64.decode", &[T::Text], G::Bytes, decode, "the bytes of base64"),
    ]
}

fn encode(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::Bytes(bytes)] = given else { return Err(wrong()) };
    budget.build(bytes.len() * 4 / 3 + 4)?;
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let number = group.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = LETTERS.get((number >> (18 - 6 * place)) as usize & 63).copied().unwrap_or(b'=');
            out.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
    }
    Ok(Value::text(out))
}

fn decode(budget: &mut Budget, given: &[Value]) -> Result<Value, Fault> {
    let [Value::Text(text)] = given else { return Err(wrong()) };
    budget.build(text.len())?;
    let body = text.trim_end_matches('=');
    if body.len() % 4 == 1 {
        return Err("this is no base64".into());
    }
    let (mut out, mut number, mut bits) = (Vec::with_capacity(body.len()), 0u32, 0);
    for byte in body.bytes() {
        let Some(value) = LETTERS.iter().position(|letter| *letter == byte) else {
            return Err("this is no base64".into());
        };
        number = (number << 6 | value as u32) & 0xfff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((number >> bits) as u8);
        }
    }
    Ok(Value::Bytes(out.into()))
}
