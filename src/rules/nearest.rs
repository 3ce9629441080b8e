//! The name that was probably meant.

/// The nearest of some names, if one is near enough to be a slip.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit || shares_a_word(name, candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// `model_name` for `model`: one is the other with something before or behind.
fn shares_a_word(name: &str, candidate: &str) -> bool {
    let (long, short) = if name.len() > candidate.len() { (name, candidate) } else { (candidate, name) };
    short.len() >= 4 && (long.starts_with(short) || long.ends_with(short))
}

/// Letters to insert, remove, change or swap with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.to_lowercase().chars().take(64).collect();
    let to: Vec<char> = to.to_lowercase().chars().take(64).collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut cost = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let known = ["purchase", "purpose", "region", "model", "tensor_parallel"];
        assert_eq!(nearest("purchse", known), Some("purchase"));
        assert_eq!(nearest("reigon", known), Some("region"));
        assert_eq!(nearest("model_name", known), Some("model"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("x", known), None);
    }
}
