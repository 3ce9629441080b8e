//! A string that is never printed.

use std::fmt;

/// A string that must never be printed. Its `Debug` hides it, and it has no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The keys of an AWS account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsKeys {
    pub id: String,
    pub secret: Secret,
    /// The session token of temporary keys.
    pub session: Option<Secret>,
}

/// The way in which a request proves its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    Anonymous,
    /// The header `authorization: Bearer …`.
    Bearer(Secret),
    /// The header `authorization: token …`, for Gitea and Forgejo.
    Token(Secret),
    /// The header `authorization: Basic …`.
    Basic {
        user: String,
        password: Secret,
    },
    /// A header that is specific to the host, such as `private-token`.
    Header {
        name: &'static str,
        value: Secret,
    },
    /// A signature over each request, for AWS. The request does not contain the secret itself.
    Aws {
        keys: AwsKeys,
        region: String,
        service: &'static str,
    },
}

impl Credential {
    pub(crate) fn secret(&self) -> Option<&Secret> {
        match self {
            Credential::Anonymous => None,
            Credential::Bearer(secret) | Credential::Token(secret) => Some(secret),
            Credential::Basic { password, .. } => Some(password),
            Credential::Header { value, .. } => Some(value),
            Credential::Aws { keys, .. } => Some(&keys.secret),
        }
    }
}

/// Removes secrets and terminal control characters from text of other origin.
#[derive(Debug, Clone, Default)]
pub(super) struct Redactor {
    secrets: Vec<Secret>,
}

/// The maximum length of a quote from a server's answer.
const LONGEST_QUOTE: usize = 300;

impl Redactor {
    pub(super) fn learn(&mut self, secret: &str) {
        // Removing a secret of a few characters would hide half of a message and protect nothing.
        if secret.len() >= 4 && !self.secrets.iter().any(|known| known.expose() == secret) {
            self.secrets.push(Secret::new(secret));
            // The longest secrets come first, because one can contain another.
            self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose().len()));
        }
    }

    pub(super) fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret.expose(), "***");
        }
        let printable = text.chars().map(|c| if c.is_control() || is_directional(c) { ' ' } else { c });
        let mut short: String = printable.take(LONGEST_QUOTE + 1).collect();
        if short.chars().count() > LONGEST_QUOTE {
            short.pop();
            short.push('…');
        }
        short.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Whether the character changes the direction of the following text.
fn is_directional(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_inside_another_leaves_no_rest() {
        let mut redactor = Redactor::default();
        redactor.learn("abcd");
        redactor.learn("abcd-efgh");
        assert_eq!(redactor.clean("sent abcd-efgh and abcd"), "sent *** and ***");
    }

    #[test]
    fn what_a_terminal_obeys_is_taken_out() {
        assert_eq!(Redactor::default().clean("a\u{1b}[31m\r\nb \u{202e}c"), "a [31m b c");
    }

    #[test]
    fn a_long_answer_is_cut_after_the_secret_is_gone() {
        let mut redactor = Redactor::default();
        redactor.learn("s3cr3t-token");
        let text = format!("{}s3cr3t-token", "x".repeat(LONGEST_QUOTE - 4));
        assert!(!redactor.clean(&text).contains("s3"), "a cut must not leave the start of a secret");
    }

    #[test]
    fn debug_output_hides_it() {
        let credential = Credential::Basic { user: "bot".to_owned(), password: Secret::new("s3cr3t-token") };
        assert!(!format!("{credential:?}").contains("s3cr3t"));
    }
}
