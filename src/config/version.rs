//! Checks the setting `required-version`, such as `>=0.1, <2`.

/// Returns whether a version meets a requirement, or the error of the requirement.
pub(super) fn meets(version: &str, requirement: &str) -> Result<bool, String> {
    let have = numbers(version).ok_or_else(|| format!("`{version}` is not a version"))?;
    let mut all = true;
    for part in requirement.split(',').map(str::trim) {
        let at = part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len());
        let (operator, wanted) = part.split_at(at);
        let want = numbers(wanted).ok_or_else(|| format!("`{part}` is not a version requirement such as \">=0.1\""))?;
        all &= match operator.trim() {
            ">=" => have >= want,
            ">" => have > want,
            "<=" => have <= want,
            "<" => have < want,
            "=" | "" => have == want,
            other => return Err(format!("`{other}` is not one of >=, >, <=, < and =")),
        };
    }
    Ok(all)
}

/// Returns the numbers of a version. Missing numbers are zero, and a suffix after `-` or `+` is ignored.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let core = version.trim().split(['-', '+']).next()?;
    let mut parts = core.split('.');
    for (place, part) in numbers.iter_mut().zip(parts.by_ref()) {
        *place = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, requirement, expected) in [
            ("0.1.0", ">=0.1", true),
            ("0.1.0", ">=0.2", false),
            ("0.10.0", ">=0.2", true),
            ("1.2.3", ">=1, <2", true),
            ("2.0.0", ">=1, <2", false),
            ("1.2.3-rc.1", "=1.2.3", true),
        ] {
            assert_eq!(meets(version, requirement), Ok(expected), "{version} {requirement}");
        }
        assert!(meets("0.1.0", "latest").is_err());
        assert!(meets("0.1.0", "~>1").is_err());
        assert!(meets("0.1.0", "").is_err());
    }
}
