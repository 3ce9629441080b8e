//! Implements functions for base64.

use super::ArgumentForm as T;
use super::Gives as G;
use super::{CelOverload, function, wrong};
use crate::languages::cel::budget::CelBudget;
use crate::languages::cel::operators::Fault;
use crate::languages::cel::value::CelValue;
use crate::source::{from_base64, to_base64};

pub(super) fn functions() -> Vec<CelOverload> {
    vec![
        function("base64.encode", &[T::Bytes], G::Text, encode, "encodes bytes as base64"),
        function("base64.decode", &[T::Text], G::Bytes, decode, "decodes base64 to bytes"),
    ]
}

fn encode(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Bytes(bytes)] = given else { return Err(wrong()) };
    budget.build(bytes.len() * 4 / 3 + 4)?;
    Ok(CelValue::text(to_base64(bytes)))
}

fn decode(budget: &mut CelBudget, given: &[CelValue]) -> Result<CelValue, Fault> {
    let [CelValue::Text(text)] = given else { return Err(wrong()) };
    budget.build(text.len())?;
    let body = text.trim_end_matches('=');
    let bytes = (body.len() % 4 != 1).then(|| from_base64(body.bytes())).flatten();
    Ok(CelValue::Bytes(bytes.ok_or("the string is not valid base64")?.into()))
}
