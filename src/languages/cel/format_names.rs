//! Checks names against the formats of Kubernetes: `format.dns1123Label().validate(name)`.

use super::location::ExprLocation;
use super::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameFormat {
    place: usize,
}

type Check = fn(&str) -> Option<&'static str>;

/// Each format with its check, which returns the problem of a string or `None`.
const FORMATS: [(&str, Check); 13] = [
    ("dns1123Label", |text| dns(text, 63, false, false)),
    ("dns1123Subdomain", |text| dns(text, 253, true, false)),
    ("dns1035Label", |text| dns(text, 63, false, true)),
    ("dns1123LabelPrefix", |text| dns(unprefixed(text), 63, false, false)),
    ("dns1123SubdomainPrefix", |text| dns(unprefixed(text), 253, true, false)),
    ("dns1035LabelPrefix", |text| dns(unprefixed(text), 63, false, true)),
    ("qualifiedName", qualified),
    ("labelValue", |text| if text.is_empty() { None } else { label(text) }),
    ("uri", |text| ExprLocation::parse(text).is_none().then_some("the value is not a URI")),
    ("uuid", uuid),
    ("byte", base64),
    ("date", |text| (text.len() != 10 || Timestamp::parse(text).is_none()).then_some("the value is not a date")),
    ("datetime", |text| {
        (text.len() == 10 || Timestamp::parse(text).is_none()).then_some("the value is not a date and time")
    }),
];

impl NameFormat {
    pub(super) fn named(name: &str) -> Option<NameFormat> {
        FORMATS.iter().position(|(known, _)| *known == name).map(|place| NameFormat { place })
    }

    pub(super) fn name(self) -> &'static str {
        FORMATS.get(self.place).map_or("", |(name, _)| name)
    }

    pub(super) fn check(self, text: &str) -> Option<&'static str> {
        FORMATS.get(self.place).and_then(|(_, check)| check(text))
    }
}

/// Returns the prefix of a generated name without a dash at its end, which the generated part completes.
fn unprefixed(text: &str) -> &str {
    text.strip_suffix('-').unwrap_or(text)
}

fn dns(text: &str, longest: usize, dots: bool, letter_first: bool) -> Option<&'static str> {
    if text.len() > longest {
        return Some("the value is too long");
    }
    let part = |part: &str| {
        let starts_wrongly = letter_first && part.starts_with(|c: char| c.is_ascii_digit());
        let plain = part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        plain && !part.is_empty() && !part.starts_with('-') && !part.ends_with('-') && !starts_wrongly
    };
    let valid = if dots { text.split('.').all(part) } else { part(text) };
    (!valid).then_some(
        "the value must consist of lower-case letters, digits and dashes, and start and end with a letter or digit",
    )
}

fn label(text: &str) -> Option<&'static str> {
    if text.len() > 63 {
        return Some("the value is too long");
    }
    let plain = |b: u8| b.is_ascii_alphanumeric();
    let valid = text.bytes().all(|b| plain(b) || b"-_.".contains(&b))
        && text.bytes().next().is_some_and(plain)
        && text.bytes().next_back().is_some_and(plain);
    (!valid).then_some("the value must consist of letters, digits and `-_.`, and start and end with a letter or digit")
}

fn qualified(text: &str) -> Option<&'static str> {
    match text.split_once('/') {
        Some((prefix, name)) => dns(prefix, 253, true, false).or_else(|| label(name)),
        None => label(text),
    }
}

fn uuid(text: &str) -> Option<&'static str> {
    let plain: String = text.to_ascii_lowercase();
    let groups: Vec<&str> = plain.split('-').collect();
    let is_group = |group: &str, length: usize| group.len() == length && group.bytes().all(|b| b.is_ascii_hexdigit());
    let valid = match groups.as_slice() {
        [all] => is_group(all, 32),
        [a, b, c, d, e] => {
            [(a, 8), (b, 4), (c, 4), (d, 4), (e, 12)].iter().all(|(part, length)| is_group(part, *length))
        }
        _ => false,
    };
    (!valid).then_some("the value is not a UUID")
}

fn base64(text: &str) -> Option<&'static str> {
    let body = text.trim_end_matches('=');
    let plain = body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/');
    (!plain || text.len() - body.len() > 2 || !text.len().is_multiple_of(4)).then_some("the value is not base64")
}
