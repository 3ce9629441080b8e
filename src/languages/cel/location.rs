//! Parses URLs as the Go standard library does for requests: a scheme and the rest, or only a path.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExprLocation {
    text: String,
    pub(super) scheme: String,
    /// Host with its port.
    pub(super) host: String,
    path: String,
    query: String,
}

impl ExprLocation {
    pub(super) fn parse(text: &str) -> Option<ExprLocation> {
        if text.is_empty() || text.chars().any(|c| c.is_ascii_control()) {
            return None;
        }
        let (scheme, rest) = scheme(text)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut location = ExprLocation {
            text: text.to_owned(),
            scheme: scheme.to_ascii_lowercase(),
            host: String::new(),
            path: rest.to_owned(),
            query: query.to_owned(),
        };
        if !rest.starts_with('/') {
            // `mailto:someone`
            location.path = String::new();
            return (!scheme.is_empty()).then_some(location);
        }
        if let Some(rest) = rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            let (name, port) = split_port(host)?;
            let is_name = |c: char| c.is_alphanumeric() || "!$&'()*+,;=:[]<>\"-._~%".contains(c);
            if !name.chars().all(is_name) || !port.chars().all(|c| c.is_ascii_digit()) {
                return None;
            }
            location.host = host.to_owned();
            location.path = path.to_owned();
        }
        unescaped(&location.path, false)?;
        Some(location)
    }

    pub(super) fn hostname(&self) -> &str {
        let name = split_port(&self.host).map_or("", |(name, _)| name);
        name.trim_start_matches('[').trim_end_matches(']')
    }

    pub(super) fn port(&self) -> &str {
        split_port(&self.host).map_or("", |(_, port)| port)
    }

    /// Returns the path with the necessary escapes.
    pub(super) fn escaped_path(&self) -> String {
        let mut out = String::new();
        for byte in self.path.bytes() {
            let plain = byte.is_ascii_alphanumeric() || b"-._~$&+,/:;=@%!'()*[]".contains(&byte);
            if plain {
                out.push(char::from(byte));
            } else {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
        out
    }

    pub(super) fn query(&self) -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Some(key), Some(value)) = (unescaped(key, true), unescaped(value, true)) {
                all.entry(key).or_default().push(value);
            }
        }
        all
    }
}

/// Returns the scheme and the rest; `None` if the scheme is required and missing.
fn scheme(text: &str) -> Option<(&str, &str)> {
    if text.starts_with('/') {
        return Some(("", text));
    }
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some((scheme, rest))
}

/// Returns the host and its port; `None` if a bracket is not closed.
fn split_port(host: &str) -> Option<(&str, &str)> {
    if host.starts_with('[') {
        let end = host.find(']')? + 1;
        let (name, rest) = host.split_at(end);
        return match rest.strip_prefix(':') {
            Some(port) => Some((name, port)),
            None => rest.is_empty().then_some((name, "")),
        };
    }
    Some(host.rsplit_once(':').unwrap_or((host, "")))
}

fn unescaped(text: &str, plus_is_blank: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                bytes.push((high * 16 + low) as u8);
            }
            b'+' if plus_is_blank => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

impl fmt::Display for ExprLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
