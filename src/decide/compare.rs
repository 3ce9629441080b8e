//! Which findings a change brought, and which it removed.

use std::collections::HashMap;
use std::hash::Hash;

/// Positions of findings in the lists of both states.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    pub new: Vec<usize>,
    pub unchanged: Vec<usize>,
    pub fixed: Vec<usize>,
}

/// Pairs findings by what identifies them; each earlier one stands for one later one.
pub fn compare<K: Eq + Hash>(before: impl IntoIterator<Item = K>, after: impl IntoIterator<Item = K>) -> Compared {
    let mut open: HashMap<K, Vec<usize>> = HashMap::new();
    for (at, key) in before.into_iter().enumerate() {
        open.entry(key).or_default().push(at);
    }
    let mut compared = Compared::default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_earlier_finding_stands_for_one_later_one() {
        let compared = compare(["a", "b", "b"], ["b", "c", "a"]);
        assert_eq!(compared, Compared { new: vec![1], unchanged: vec![0, 2], fixed: vec![1] });
    }
}
