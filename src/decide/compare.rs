//! Decides which findings a change added, and which it removed.

use std::collections::HashMap;
use std::hash::Hash;

/// Indexes of findings in the lists of both states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatchedFindings {
    pub new: Vec<usize>,
    pub unchanged: Vec<usize>,
    pub fixed: Vec<usize>,
}

/// Pairs findings by identity; each earlier one matches one later one.
pub fn compare<K: Eq + Hash>(
    before: impl IntoIterator<Item = K>,
    after: impl IntoIterator<Item = K>,
) -> MatchedFindings {
    let mut open: HashMap<K, Vec<usize>> = HashMap::new();
    for (at, key) in before.into_iter().enumerate() {
        open.entry(key).or_default().push(at);
    }
    let mut compared = MatchedFindings::default();
    for (at, key) in after.into_iter().enumerate() {
        match open.get_mut(&key).and_then(Vec::pop) {
            Some(_) => compared.unchanged.push(at),
            None => compared.new.push(at),
        }
    }
    compared.fixed = open.into_values().flatten().collect();
    compared.fixed.sort_unstable();
    compared
}

/// The growth of a monthly cost from which a finding counts as worse or is open again: 10%, or an amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorseThreshold {
    pub min_delta_usd: f64,
}

impl WorseThreshold {
    const TOLERANCE: f64 = 1.1;
    /// Growth that always counts, whatever its percentage.
    pub const MIN_DELTA_USD: f64 = 1000.0;

    pub fn is_dearer(self, before: f64, after: f64) -> bool {
        after > before * Self::TOLERANCE || after - before >= self.min_delta_usd
    }
}

impl Default for WorseThreshold {
    fn default() -> Self {
        WorseThreshold { min_delta_usd: Self::MIN_DELTA_USD }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_earlier_finding_stands_for_one_later_one() {
        let compared = compare(["a", "b", "b"], ["b", "c", "a"]);
        assert_eq!(compared, MatchedFindings { new: vec![1], unchanged: vec![0, 2], fixed: vec![1] });
    }

    #[test]
    fn growth_is_a_share_or_an_amount() {
        let growth = WorseThreshold::default();
        assert!(growth.is_dearer(100.0, 111.0) && !growth.is_dearer(100.0, 109.0));
        assert!(growth.is_dearer(1_787_033.0, 1_947_866.0), "9% of a large amount is a lot");
        assert!(!WorseThreshold { min_delta_usd: 1e9 }.is_dearer(1_787_033.0, 1_947_866.0));
    }
}
