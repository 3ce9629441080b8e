//! Types of plain scalars in YAML 1.1, as in the YAML library of Kubernetes. Quoted scalars are strings and not handled
//! here.

pub(crate) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

pub(crate) fn boolean(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// Parses integers (decimal, `0x`, `0b`, `0o` and leading-zero octal, with underscores), then floats.
pub(crate) fn number(text: &str) -> Option<f64> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    if let Some(integer) = integer(&plain) {
        return Some(integer as f64);
    }
    let shape = plain.trim_start_matches(['+', '-']);
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !shape.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !shape.chars().all(digits) {
        return None;
    }
    plain.parse().ok().filter(|n: &f64| n.is_finite())
}

/// Parses an integer of 64 bits with or without a sign, as Go's libraries do. The text has no underscores.
pub(crate) fn integer(plain: &str) -> Option<i128> {
    let (negative, digits) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.strip_prefix('+').unwrap_or(plain)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let lower = digits.to_ascii_lowercase();
    let radix = [("0x", 16), ("0b", 2), ("0o", 8)];
    let magnitude = match radix.into_iter().find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, radix))) {
        Some((rest, radix)) => u64::from_str_radix(rest, radix).ok()?,
        None if lower.len() > 1 && lower.starts_with('0') => u64::from_str_radix(&lower, 8).ok()?,
        None => lower.parse::<u64>().ok()?,
    };
    Some(if negative { -i128::from(magnitude) } else { magnitude.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of `gopkg.in/yaml.v2`, which `sigs.k8s.io/yaml` uses.
    #[test]
    fn plain_scalars_are_read_as_yaml_1_1() {
        for (text, value) in [
            ("017", 15.0),
            ("1_000", 1000.0),
            ("0b11", 3.0),
            ("0x1F", 31.0),
            ("0o17", 15.0),
            ("-3", -3.0),
            ("+3", 3.0),
            ("08", 8.0),
            ("1.5", 1.5),
            (".5", 0.5),
            ("1e3", 1000.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in ["1:30", "2024-01-01", "8Gi", "abc", "", "-", ".", "1.2.3", "e3", "--1", "inf", "-inf"] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!((boolean("on"), boolean("NO"), boolean("oN")), (Some(true), Some(false), None));
    }
}
