//! Matches strings with patterns in which `*` matches anything.

/// Returns true if a text matches a pattern in which `*` matches anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, expected) in [
            ("*.tfvars", "dev.tfvars", true),
            ("*.tfvars", "dev.tfvars.json", false),
            ("env-*-eu.*", "env-prod-eu.tfvars", true),
            ("env-*-eu.*", "env-prod-us.tfvars", false),
            ("a*a", "a", false),
            ("*", "x", true),
            ("x", "xy", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn they_take_time_in_proportion_to_their_length() {
        assert!(matches("a*b*c", "a--b--c"));
        assert!(!matches("a*b*c", "a--b--"));
        assert!(matches("*", ""));
        assert!(!matches("", "x"));
        assert!(!matches(&"*a".repeat(1_000), &"b".repeat(100_000)));
    }
}
