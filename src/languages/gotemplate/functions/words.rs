//! Implements rarely used functions for words, paths and URLs.

use super::super::evaluate::entries;
use super::super::value::{GoKind, GoValue};
use super::How::{Form, Plain};
use super::{FunctionCall, FunctionOutcome, Row};

pub(super) const TABLE: &[Row] = &[
    ("abbrev", "is", Form, |c| c.text_result(abbreviated(c.str(1), 0, c.int(0)))),
    ("abbrevboth", "iis", Form, |c| {
        let (left, right) = (c.int(0), c.int(1));
        match right < 4 || left > 0 && right < 7 {
            true => Ok(c.any(2)),
            false => c.text_result(abbreviated(c.str(2), left, right)),
        }
    }),
    ("initials", "s", Form, |c| {
        let words = c.str(0).split_whitespace();
        c.text_result(words.filter_map(|word| word.chars().next()).collect::<String>())
    }),
    ("swapcase", "s", Form, |c| c.text_result(swapped(c.str(0)))),
    ("snakecase", "s", Form, |c| c.text_result(joined_words(c.str(0), "_"))),
    ("kebabcase", "s", Form, |c| c.text_result(joined_words(c.str(0), "-"))),
    ("camelcase", "s", Form, |c| c.text_result(camel(c.str(0)))),
    ("wrap", "is", Form, |c| c.text_result(wrapped(c.str(1), c.int(0), "\n", false))),
    ("wrapWith", "iss", Form, |c| {
        c.may_make((c.str(2).len() + 1).saturating_mul(c.str(1).len()))?;
        c.text_result(wrapped(c.str(2), c.int(0), c.str(1), true))
    }),
    ("plural", "ssi", Plain, |c| Ok(c.any(usize::from(c.int(2) != 1)))),
    ("base", "s", Form, |c| c.text_result(base(c.str(0)))),
    ("osBase", "s", Form, |c| c.text_result(base(c.str(0)))),
    ("dir", "s", Form, |c| c.text_result(directory(c.str(0)))),
    ("osDir", "s", Form, |c| c.text_result(directory(c.str(0)))),
    ("clean", "s", Form, |c| c.text_result(clean(c.str(0)))),
    ("osClean", "s", Form, |c| c.text_result(clean(c.str(0)))),
    ("ext", "s", Form, |c| c.text_result(extension(c.str(0)))),
    ("osExt", "s", Form, |c| c.text_result(extension(c.str(0)))),
    ("isAbs", "s", Plain, |c| Ok(c.str(0).starts_with('/').into())),
    ("osIsAbs", "s", Plain, |c| Ok(c.str(0).starts_with('/').into())),
    ("urlParse", "s", Plain, url_parse),
    ("urlJoin", "m", Plain, url_join),
    ("duration", "a", Form, |c| {
        // The function does not accept Go's `int`.
        let seconds = match &c.any(0).kind {
            GoKind::Text(text) => text.as_str().parse().unwrap_or(0),
            GoKind::Int64(number) => *number,
            _ => 0,
        };
        c.text_result(duration(seconds))
    }),
    ("durationRound", "a", Form, |c| c.text_result(rounded_duration(&c.any(0)))),
];

fn abbreviated(text: &str, offset: i64, width: i64) -> String {
    let (Ok(offset), Ok(width)) = (usize::try_from(offset), usize::try_from(width)) else { return text.to_owned() };
    let letters: Vec<char> = text.chars().collect();
    if width < 4 || letters.len() <= width {
        return text.to_owned();
    }
    let part = |from: usize, to: usize| {
        letters.get(from..to.min(letters.len())).unwrap_or_default().iter().collect::<String>()
    };
    let mut offset = offset.min(letters.len());
    if letters.len() - offset < width - 3 {
        offset = letters.len() - (width - 3);
    }
    if offset <= 4 {
        return format!("{}...", part(0, width - 3));
    }
    if width < 7 {
        return String::new();
    }
    if offset + width - 3 < letters.len() {
        return format!("...{}", abbreviated(&part(offset, letters.len()), 0, (width - 3) as i64));
    }
    format!("...{}", part(letters.len() - (width - 3), letters.len()))
}

fn swapped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            _ if letter.is_uppercase() => out.extend(letter.to_lowercase()),
            _ if letter.is_lowercase() => out.extend(letter.to_uppercase()),
            _ => out.push(letter),
        }
    }
    out
}

fn is_connector(letter: char) -> bool {
    matches!(letter, '-' | '_') || letter.is_whitespace()
}

/// Splits a name into lower-case words. An upper-case letter begins a word if it follows a lower-case letter, or if it
/// is the last of several upper-case letters.
fn joined_words(text: &str, connector: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| letters.get(before)).copied();
        let after = letters.get(at + 1).copied();
        if is_connector(letter) {
            out.push_str(connector);
            continue;
        }
        let begins = match before {
            Some(before) if letter.is_uppercase() => {
                before.is_lowercase()
                    || before.is_numeric()
                    || before.is_uppercase() && after.is_some_and(char::is_lowercase)
            }
            Some(before) if letter.is_numeric() => {
                let word = letters.get(at..).unwrap_or_default().iter().find(|it| !it.is_numeric());
                before.is_alphabetic() && word.is_some_and(|it| it.is_lowercase())
            }
            _ => false,
        };
        if begins {
            out.push_str(connector);
        }
        out.extend(letter.to_lowercase());
    }
    out
}

fn camel(text: &str) -> String {
    let mut out = String::new();
    let start = text.len() - text.trim_start_matches(is_connector).len();
    out.push_str(text.get(..start).unwrap_or_default());
    let mut begins = true;
    let mut was_upper = false;
    for letter in text.get(start..).unwrap_or_default().chars() {
        if is_connector(letter) {
            if begins {
                out.push(letter);
            }
            begins = true;
            continue;
        }
        if begins {
            was_upper = letter.is_uppercase();
            out.extend(letter.to_uppercase());
        } else if was_upper && letter.is_uppercase() {
            out.extend(letter.to_lowercase());
        } else {
            was_upper = false;
            out.push(letter);
        }
        begins = false;
    }
    out
}

/// Words longer than a line are cut, or stay whole and exceed it.
fn wrapped(text: &str, width: i64, end: &str, cuts_words: bool) -> String {
    let width = usize::try_from(width).unwrap_or(1).max(1);
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    let part = |from: usize, to: usize| letters.get(from..to).unwrap_or_default().iter().collect::<String>();
    while letters.len() - at > width {
        if letters.get(at) == Some(&' ') {
            at += 1;
            continue;
        }
        let window = letters.get(at..at + width + 1).unwrap_or_default();
        let (to, next) = match window.iter().rposition(|letter| *letter == ' ') {
            Some(space) => (at + space, at + space + 1),
            None if cuts_words => (at + width, at + width),
            None => {
                let behind = letters.get(at + width..).unwrap_or_default();
                let Some(space) = behind.iter().position(|letter| *letter == ' ') else { break };
                (at + width + space, at + width + space + 1)
            }
        };
        out.push_str(&part(at, to));
        out.push_str(end);
        at = next;
    }
    out.push_str(&part(at, letters.len()));
    out
}

fn base(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    match (path.is_empty(), trimmed.is_empty()) {
        (true, _) => ".".to_owned(),
        (false, true) => "/".to_owned(),
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed).to_owned(),
    }
}

fn directory(path: &str) -> String {
    clean(path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default())
}

fn clean(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    match (is_absolute, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').and_then(|at| name.get(at..)).unwrap_or_default().to_owned()
}

fn url_parse(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let text = c.str(0).to_owned();
    let (rest, fragment) = text.split_once('#').unwrap_or((&text, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = match rest.split_once("://") {
        Some((scheme, rest)) => (scheme, Some(rest)),
        None => ("", rest.strip_prefix("//")),
    };
    let plain = text.split(['#', '?']).next().unwrap_or_default();
    let (authority, path) = match rest {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", plain),
    };
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let mut hostname = host
        .rsplit_once(':')
        .filter(|(_, port)| port.bytes().all(|it| it.is_ascii_digit()))
        .map_or(host, |(name, _)| name);
    hostname = hostname.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(hostname);
    let pairs = [
        ("scheme", scheme),
        ("host", host),
        ("hostname", hostname),
        ("path", path),
        ("query", query),
        ("opaque", ""),
        ("fragment", fragment),
        ("userinfo", user),
    ];
    Ok(c.heap().map(entries(pairs.map(|(key, value)| (key.to_owned(), GoValue::from(value))))))
}

fn url_join(c: &mut FunctionCall<'_, '_>) -> FunctionOutcome {
    let map = c.map(0)?;
    let part = |key: &str| {
        map.as_ref().and_then(|map| map.get(key)).and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let with =
        |before: &str, text: String, after: &str| if text.is_empty() { text } else { format!("{before}{text}{after}") };
    let (host, path) = (part("host"), part("path"));
    let user = with("", part("userinfo"), "@");
    let authority = if host.is_empty() && user.is_empty() { String::new() } else { format!("//{user}{host}") };
    let slash = if !authority.is_empty() && !path.is_empty() && !path.starts_with('/') { "/" } else { "" };
    let query = with("?", part("query"), "");
    let fragment = with("#", part("fragment"), "");
    c.text_result(format!("{}{authority}{slash}{path}{query}{fragment}", with("", part("scheme"), ":")))
}

fn duration(seconds: i64) -> String {
    let all = seconds.unsigned_abs();
    let sign = if seconds < 0 { "-" } else { "" };
    let (hours, minutes, rest) = (all / 3600, all / 60 % 60, all % 60);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{rest}s"),
        (0, _) => format!("{sign}{minutes}m{rest}s"),
        _ => format!("{sign}{hours}h{minutes}m{rest}s"),
    }
}

/// Returns the largest unit that fits into a Go duration.
fn rounded_duration(value: &GoValue) -> String {
    let seconds = match value.as_str() {
        Some(text) => seconds(text).unwrap_or(0.0),
        None => super::math::to_float(value) / 1e9,
    };
    let all = seconds.abs() as u64;
    const UNITS: [(u64, &str); 6] =
        [(31_536_000, "y"), (2_592_000, "mo"), (86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let unit = UNITS.iter().find(|(length, _)| all > *length);
    unit.map_or_else(|| "0s".to_owned(), |(length, name)| format!("{}{name}", all / length))
}

fn seconds(text: &str) -> Option<f64> {
    let mut sum = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (number, after) = rest.split_at(digits);
        let letters = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let scale = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * scale;
        rest = after;
    }
    Some(sum)
}
