//! The answer of a server.

use serde_json::Value;

use super::error::{Error, HttpErrorKind};

/// The largest page of Google's SKUs has about 300,000 values. A value needs about 80 bytes of memory, but an answer of
/// brackets and commas sends only two bytes for each.
const MOST_JSON_VALUES: usize = 1_000_000;

/// A complete answer of a server.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.header(name)?.trim().parse().ok()
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Result<Value, Error> {
        if has_more_values(&self.body, MOST_JSON_VALUES) {
            let message = format!("the answer has more than {MOST_JSON_VALUES} values");
            return Err(Error::new(HttpErrorKind::TooLarge, message));
        }
        serde_json::from_slice(&self.body).map_err(|cause| {
            Error::new(HttpErrorKind::Malformed, format!("the answer is not the expected JSON: {cause}"))
        })
    }

    /// Whether a `link` header contains a next page.
    pub fn has_next_page(&self) -> bool {
        self.header("link").is_some_and(|links| links.split(',').any(|link| link.contains("rel=\"next\"")))
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Whether a JSON text has more values than `most`, counted by its separators.
pub(crate) fn has_more_values(text: &[u8], most: usize) -> bool {
    let (mut values, mut in_text, mut escaped) = (0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    values > most
}
