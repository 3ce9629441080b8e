//! Removes everything that looks like a token from comments and other output.

use std::borrow::Cow;

use regex::Regex;

use crate::http::{Credential, Secret};
use crate::source::static_regex;

static_regex!(
    /// Tokens with a recognizable form: of code hosts, clouds, chats and model hubs, web tokens, private keys.
    static FORMS: Regex = r"(?x)
        \bgh[pousr]_[A-Za-z0-9]{30,} | \bgithub_pat_[A-Za-z0-9_]{40,} | \bglpat-[A-Za-z0-9_-]{20,}
        | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b | \bxox[abprs]-[A-Za-z0-9-]{10,} | \bhf_[A-Za-z0-9]{30,} | \bsk-[A-Za-z0-9_-]{32,}
        | \bAIza[0-9A-Za-z_-]{35} | \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+
        | -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----[^<\x22\\]*"
);

const HIDDEN: &str = "(hidden)";

/// Removes the token that posts the text, and everything that looks like a token.
pub(in crate::cli) fn hidden(text: String, credential: &Credential) -> String {
    let text = match credential.secret().map(Secret::expose) {
        // A short token would match ordinary words.
        Some(secret) if secret.len() >= 8 => text.replace(secret, HIDDEN),
        _ => text,
    };
    match without_forms(&text) {
        Cow::Owned(text) => text,
        Cow::Borrowed(_) => text,
    }
}

/// Removes everything that looks like a token from text that is mailed, uploaded or sent to a chat.
pub(in crate::cli) fn without_forms(text: &str) -> Cow<'_, str> {
    FORMS.replace_all(text, HIDDEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_hidden_and_words_are_not() {
        let ours = Credential::Bearer(Secret::new("0123456789abcdef"));
        let text = format!("a 0123456789abcdef b ghp_{} c AKIA{} d", "x".repeat(36), "A".repeat(16));
        assert_eq!(hidden(text, &ours), "a (hidden) b (hidden) c (hidden) d");
        let plain = "aws_instance.ghp_test, AKIA, g5.xlarge, eyJ and sk-learn cost $5";
        assert_eq!(hidden(plain.to_owned(), &ours), plain);
        assert_eq!(hidden("ab".to_owned(), &Credential::Bearer(Secret::new("a"))), "ab");
    }

    #[test]
    fn a_page_keeps_its_policy_and_loses_tokens() {
        let page = format!("'sha256-{}=' ghp_{}", "x".repeat(43), "y".repeat(36));
        assert_eq!(without_forms(&page), format!("'sha256-{}=' (hidden)", "x".repeat(43)));
    }
}
