//! The name that was probably meant.

use crate::diagnostic::distance;

/// Letters that are compared.
const LONGEST: usize = 64;

/// The nearest of some names, if one is near enough to be a slip.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    let folded = |text: &str| text.to_lowercase().chars().take(LONGEST).collect::<String>();
    let wanted = folded(name);
    known
        .into_iter()
        .map(|candidate| (distance(&wanted, &folded(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= limit || shares_a_word(name, candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// `model_name` for `model`: one is the other with something before or behind.
fn shares_a_word(name: &str, candidate: &str) -> bool {
    let (long, short) = if name.len() > candidate.len() { (name, candidate) } else { (candidate, name) };
    short.len() >= 4 && (long.starts_with(short) || long.ends_with(short))
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
