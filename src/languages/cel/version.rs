//! Defines semantic versions, ordered by their specification.

use std::cmp::Ordering;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SemanticVersion {
    pub(super) numbers: [i64; 3],
    before: Vec<String>,
    build: Vec<String>,
}

impl SemanticVersion {
    pub(super) fn parse(text: &str) -> Option<SemanticVersion> {
        let (rest, build) = match text.split_once('+') {
            Some((rest, build)) => (rest, identifiers(build, true)?),
            None => (text, Vec::new()),
        };
        let (core, before) = match rest.split_once('-') {
            Some((core, before)) => (core, identifiers(before, false)?),
            None => (rest, Vec::new()),
        };
        let mut numbers = [0; 3];
        let mut parts = core.split('.');
        for number in &mut numbers {
            *number = parts.next().filter(|part| is_number(part))?.parse().ok()?;
        }
        parts.next().is_none().then_some(SemanticVersion { numbers, before, build })
    }

    /// Parses a version, and also accepts `v1.2` and `01.02.3`.
    pub(super) fn parse_leniently(text: &str) -> Option<SemanticVersion> {
        let text = text.trim_start_matches('v');
        let end = text.find(['-', '+']).unwrap_or(text.len());
        let (core, rest) = text.split_at(end);
        let mut parts: Vec<&str> = core
            .split('.')
            .map(|part| match part.trim_start_matches('0') {
                "" if !part.is_empty() => "0",
                trimmed => trimmed,
            })
            .collect();
        while parts.len() < 3 {
            parts.push("0");
        }
        SemanticVersion::parse(&format!("{}{rest}", parts.join(".")))
    }
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
}

fn identifiers(text: &str, zeros: bool) -> Option<Vec<String>> {
    let parts = text.split('.').map(|part| {
        let known = !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let digits = part.bytes().all(|b| b.is_ascii_digit());
        (known && (zeros || !digits || is_number(part))).then(|| part.to_owned())
    });
    parts.collect()
}

impl PartialOrd for SemanticVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SemanticVersion {
    /// Build metadata after a `+` does not count.
    fn cmp(&self, other: &Self) -> Ordering {
        let identifier = |a: &String, b: &String| match (a.parse::<u64>(), b.parse::<u64>()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => a.cmp(b),
        };
        let before = match (self.before.is_empty(), other.before.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let pairs = self.before.iter().zip(&other.before);
                let first = pairs.map(|(a, b)| identifier(a, b)).find(|order| *order != Ordering::Equal);
                first.unwrap_or(self.before.len().cmp(&other.before.len()))
            }
        };
        self.numbers.cmp(&other.numbers).then(before)
    }
}

impl fmt::Display for SemanticVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        if !self.before.is_empty() {
            write!(f, "-{}", self.before.join("."))?;
        }
        match self.build.is_empty() {
            true => Ok(()),
            false => write!(f, "+{}", self.build.join(".")),
        }
    }
}
