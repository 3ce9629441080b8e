//! Finds the name that the author probably wanted.

use crate::diagnostic::distance;

/// The limit on the compared letters.
const LONGEST: usize = 64;

/// Returns the most similar name, if it is similar enough to be a typing error.
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

/// Returns the name that differs by one omitted, doubled, added or swapped letter. In an open list, only these are
/// certainly typing errors: `subnet_ids` is not one of `subnet_id`, nor `ipv6` of `ipv4`.
pub(crate) fn slip_of<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known.into_iter().find(|candidate| is_slip(name, candidate))
}

fn is_slip(name: &str, candidate: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (name.chars().collect(), candidate.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (rest_a, rest_b) = (a.get(same..).unwrap_or_default(), b.get(same..).unwrap_or_default());
    let (long, short) = if rest_a.len() > rest_b.len() { (rest_a, rest_b) } else { (rest_b, rest_a) };
    match (long, short) {
        ([extra, long @ ..], short) if long == short => {
            let is_plural = short.is_empty() && *extra == 's';
            extra.is_alphabetic() && !is_plural && name.len() > 3
        }
        ([a, b, long @ ..], [c, d, short @ ..]) => {
            a == d && b == c && long == short && a.is_alphabetic() && b.is_alphabetic()
        }
        _ => false,
    }
}

/// Returns true if one name is the other with a prefix or suffix: `model_name` for `model`.
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

    #[test]
    fn one_letter_is_a_slip_and_another_word_is_not() {
        let known = ["instance_type", "subnet_id", "ipv4", "max_size", "Deployment", "us-east1"];
        for (name, meant) in [
            ("instance_typ", Some("instance_type")),
            ("insatnce_type", Some("instance_type")),
            ("Deploymnt", Some("Deployment")),
            ("us-east1a", Some("us-east1")),
            ("subnet_ids", None),
            ("ipv6", None),
            ("min_size", None),
            ("instance_types", None),
            ("instance_type", None),
        ] {
            assert_eq!(slip_of(name, known), meant, "{name}");
        }
    }
}
