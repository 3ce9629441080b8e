//! Implements versions and constraints, as the library `semver` of Masterminds reads them.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::failure::TemplateFailure;
use super::super::value::{GoKind, GoValue, Heap, TemplateObject};
use super::How::Plain;
use super::Row;

pub(super) const TABLE: &[Row] = &[
    ("semver", "s", Plain, |c| {
        let version = Version::parse(c.str(0)).ok_or("invalid semantic version")?;
        Ok(GoKind::Object(Rc::new(version)).into())
    }),
    ("semverCompare", "ss", Plain, |c| {
        let fits = fulfils(c.str(0), c.str(1))?;
        Ok(fits.into())
    }),
];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    numbers: [u64; 3],
    before: String,
    metadata: String,
    original: String,
}

impl Version {
    fn parse(text: &str) -> Option<Version> {
        let plain = text.strip_prefix('v').unwrap_or(text);
        let (plain, metadata) = plain.split_once('+').unwrap_or((plain, ""));
        let (core, before) = plain.split_once('-').unwrap_or((plain, ""));
        let is_word = |text: &str| {
            text.split('.')
                .all(|part| !part.is_empty() && part.chars().all(|it| it.is_ascii_alphanumeric() || it == '-'))
        };
        if plain.contains('-') && !is_word(before) || text.contains('+') && !is_word(metadata) {
            return None;
        }
        let mut numbers = [0; 3];
        let parts: Vec<&str> = core.split('.').collect();
        if parts.len() > 3 {
            return None;
        }
        for (slot, part) in numbers.iter_mut().zip(parts) {
            *slot = part.parse().ok().filter(|_| part.bytes().all(|digit| digit.is_ascii_digit()))?;
        }
        Some(Version { numbers, before: before.into(), metadata: metadata.into(), original: text.into() })
    }

    fn compare(&self, other: &Version) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| compare_before(&self.before, &other.before))
    }

    fn plain(&self) -> String {
        let [major, minor, patch] = self.numbers;
        let with = |sign: &str, text: &str| if text.is_empty() { String::new() } else { format!("{sign}{text}") };
        format!("{major}.{minor}.{patch}{}{}", with("-", &self.before), with("+", &self.metadata))
    }
}

/// Compares prereleases. A version with a prerelease comes before the same version without one.
fn compare_before(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut a, mut b) = (a.split('.'), b.split('.'));
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

impl TemplateObject for Version {
    fn type_name(&self) -> &str {
        "*semver.Version"
    }

    fn kind_name(&self) -> &'static str {
        "ptr"
    }

    fn is_method(&self, name: &str) -> bool {
        matches!(name, "Compare" | "Equal" | "LessThan" | "GreaterThan")
    }

    fn field(&self, name: &str, arguments: &[GoValue], _heap: &Heap) -> Option<Result<GoValue, TemplateFailure>> {
        let [major, minor, patch] = self.numbers.map(|number| GoValue::int64(i64::try_from(number).unwrap_or(0)));
        let other = || match arguments.first().map(|it| &it.kind) {
            Some(GoKind::Object(other)) => Version::parse(&other.shown()),
            _ => None,
        };
        let compared = |with: fn(Ordering) -> GoValue| match other() {
            Some(other) => Ok(with(self.compare(&other))),
            None => Err("expected *semver.Version".into()),
        };
        Some(match name {
            "Major" => Ok(major),
            "Minor" => Ok(minor),
            "Patch" => Ok(patch),
            "Prerelease" => Ok(self.before.as_str().into()),
            "Metadata" => Ok(self.metadata.as_str().into()),
            "Original" => Ok(self.original.as_str().into()),
            "String" => Ok(self.plain().into()),
            "Compare" => compared(|order| GoValue::int(order as i64)),
            "Equal" => compared(|order| (order == Ordering::Equal).into()),
            "LessThan" => compared(|order| (order == Ordering::Less).into()),
            "GreaterThan" => compared(|order| (order == Ordering::Greater).into()),
            _ => return None,
        })
    }

    fn shown(&self) -> String {
        self.plain()
    }

    fn plain(&self, _heap: &Heap) -> GoValue {
        self.plain().into()
    }
}

/// Returns whether a version meets a constraint.
pub(crate) fn fulfils(constraint: &str, version: &str) -> Result<bool, TemplateFailure> {
    let version = Version::parse(version).ok_or("invalid semantic version")?;
    let mut fits = false;
    for group in constraint.split("||") {
        let wanted = parse_group(group).ok_or_else(|| format!("improper constraint: {constraint}"))?;
        let with_before = wanted.iter().any(|it| !it.version.before.is_empty());
        fits |= wanted.iter().all(|it| it.fits(&version, with_before));
    }
    Ok(fits)
}

#[derive(Debug)]
struct Wanted {
    sign: String,
    version: Version,
    /// The number of parts that the version sets.
    known: usize,
}

fn parse_group(group: &str) -> Option<Vec<Wanted>> {
    let mut rest = group.trim();
    if let Some((from, to)) = rest.split_once(" - ") {
        rest = to.trim_start();
        let end = rest.find([' ', ',']).unwrap_or(rest.len());
        let (to, more) = rest.split_at(end);
        let mut all = vec![parse_one(&format!(">={}", from.trim()))?, parse_one(&format!("<={to}"))?];
        if !more.trim().is_empty() {
            all.extend(parse_group(more.trim_start_matches([' ', ',']))?);
        }
        return Some(all);
    }
    let mut all = Vec::new();
    while !rest.is_empty() {
        let signs = rest.find(|letter| !"=!<>~^ ".contains(letter)).unwrap_or(rest.len());
        let end = rest.get(signs..)?.find([' ', ',', '=', '!', '<', '>', '~', '^']).map_or(rest.len(), |at| at + signs);
        all.push(parse_one(rest.get(..end)?)?);
        rest = rest.get(end..)?.trim_start_matches([' ', ',']);
    }
    if all.is_empty() { parse_one("*").map(|any| vec![any]).filter(|_| false) } else { Some(all) }
}

fn parse_one(text: &str) -> Option<Wanted> {
    let text = text.trim();
    let signs = text.find(|letter| !"=!<>~^".contains(letter)).unwrap_or(text.len());
    let (sign, version) = text.split_at(signs);
    if !matches!(sign, "" | "=" | "!=" | ">" | "<" | ">=" | "=>" | "<=" | "=<" | "~" | "~>" | "^") {
        return None;
    }
    let version = version.trim();
    let plain = version.strip_prefix('v').unwrap_or(version);
    let core = plain.split(['-', '+']).next().unwrap_or_default();
    let is_any = |part: &&str| matches!(*part, "x" | "X" | "*");
    let parts: Vec<&str> = core.split('.').collect();
    let known = parts.iter().position(is_any).unwrap_or(parts.len());
    if parts.len() > 3 || core.is_empty() {
        return None;
    }
    let addition = plain.get(core.len()..).filter(|_| known == parts.len()).unwrap_or_default();
    let numbers: Vec<&str> = parts.iter().take(known).copied().collect();
    let written = if numbers.is_empty() { "0".to_owned() } else { numbers.join(".") };
    let version = Version::parse(&format!("{written}{addition}"))?;
    Some(Wanted { sign: sign.to_owned(), version, known })
}

impl Wanted {
    fn fits(&self, given: &Version, with_before: bool) -> bool {
        if !given.before.is_empty() && !with_before {
            return false;
        }
        let [major, minor, patch] = self.version.numbers;
        let order = given.compare(&self.version);
        let is_loose = self.known < 3;
        match self.sign.as_str() {
            "" | "=" if is_loose => self.is_near(given, order),
            "" | "=" => order == Ordering::Equal,
            "!=" if is_loose => given.numbers.get(..self.known) != self.version.numbers.get(..self.known),
            "!=" => order != Ordering::Equal,
            ">" if is_loose => given.numbers.get(..self.known) > self.version.numbers.get(..self.known),
            ">" => order == Ordering::Greater,
            "<" => order == Ordering::Less,
            ">=" | "=>" => order != Ordering::Less,
            "<=" | "=<" if is_loose => given.numbers.get(..self.known) <= self.version.numbers.get(..self.known),
            "<=" | "=<" => order != Ordering::Greater,
            "^" => {
                let same = match (major, minor) {
                    _ if self.known == 0 => return true,
                    (0, 0) if self.known > 2 => given.numbers == [0, 0, patch],
                    (0, _) if self.known > 1 => given.numbers.get(..2) == Some(&[0, minor]),
                    _ => given.numbers.first() == Some(&major),
                };
                order != Ordering::Less && same
            }
            _ => self.is_near(given, order),
        }
    }

    fn is_near(&self, given: &Version, order: Ordering) -> bool {
        let [major, minor, patch] = self.version.numbers;
        if order == Ordering::Less {
            return false;
        }
        if self.known == 0 || self.known == 3 && [major, minor, patch] == [0, 0, 0] {
            return true;
        }
        let parts = self.known.min(2);
        given.numbers.get(..parts) == self.version.numbers.get(..parts)
    }
}
