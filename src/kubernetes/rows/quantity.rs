//! Defines Kubernetes quantities: `8`, `500m`, `1.5`, `64Gi`, `1e3`.

/// Parses a quantity into a plain number.
pub(in crate::kubernetes) fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let scale = match suffix {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1024.0f64.powi(2),
        "Gi" => 1024.0f64.powi(3),
        "Ti" => 1024.0f64.powi(4),
        "Pi" => 1024.0f64.powi(5),
        "Ei" => 1024.0f64.powi(6),
        exponent if exponent.starts_with(['e', 'E']) => {
            return text.parse().ok().filter(|n: &f64| n.is_finite());
        }
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    Some(number * scale).filter(|n| n.is_finite())
}

pub(in crate::kubernetes) fn gib(text: &str) -> Option<f64> {
    parse(text).map(|bytes| bytes / 1024.0f64.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_those_of_kubernetes() {
        assert_eq!(parse("500m"), Some(0.5));
        assert_eq!(parse("8"), Some(8.0));
        assert_eq!(parse("1e3"), Some(1000.0));
        assert_eq!(parse("2E"), Some(2e18));
        assert_eq!(gib("64Gi"), Some(64.0));
        assert_eq!(gib("512Mi"), Some(0.5));
        assert_eq!(parse("$GPUS"), None);
        assert_eq!(parse("8 GiB"), None);
        assert_eq!(parse(""), None);
    }
}
