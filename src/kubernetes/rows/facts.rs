//! Collects the facts of one object.

use std::collections::BTreeMap;

use crate::inventory::{Fact, FactValue, Key};

pub(in crate::kubernetes) type Facts = BTreeMap<Key, Fact<FactValue>>;

pub(in crate::kubernetes) fn fill(facts: &mut Facts, key: Key, fact: Fact<FactValue>) {
    if !fact.is_absent() {
        facts.entry(key).or_insert(fact);
    }
}

/// Returns the region of a zone: `us-central1-a` → `us-central1`, `us-east-1a` → `us-east-1`, `eastus-1` → `eastus`.
pub(in crate::kubernetes) fn region_of(zone: &str) -> String {
    let bytes = zone.as_bytes();
    let region = match bytes {
        [rest @ .., b'-', letter] if letter.is_ascii_lowercase() => rest,
        [rest @ .., letter] if letter.is_ascii_lowercase() && rest.last().is_some_and(u8::is_ascii_digit) => rest,
        [rest @ .., b'-', digit] if digit.is_ascii_digit() && !rest.contains(&b'-') => rest,
        whole => whole,
    };
    String::from_utf8_lossy(region).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_tells_its_region() {
        for (zone, region) in [
            ("us-central1-a", "us-central1"),
            ("us-east-1a", "us-east-1"),
            ("eastus-1", "eastus"),
            ("eastus", "eastus"),
            ("us-east-1", "us-east-1"),
        ] {
            assert_eq!(region_of(zone), region);
        }
    }
}
