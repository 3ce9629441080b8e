//! Errors of requests. Their messages contain no secrets.

use std::fmt;

/// Why there is no usable answer. The message holds no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub kind: HttpErrorKind,
    /// A lower-case statement.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpErrorKind {
    /// What was asked for cannot be asked: an address or a name that is none.
    Unusable,
    /// Nothing was sent: no such host, connection refused, no trust.
    Unreachable,
    /// Something was sent and no whole answer came back: whether it took effect is unknown.
    Interrupted,
    /// The server answered with a status that is no success.
    Status(u16),
    /// The server asks to wait longer than we are willing to.
    RateLimited,
    /// The server points to somewhere that must not see the credential.
    Redirected,
    TooLarge,
    /// The answer is not what the interface promises.
    Malformed,
}

impl Error {
    pub fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into() }
    }

    pub fn status(&self) -> Option<u16> {
        match self.kind {
            HttpErrorKind::Status(status) => Some(status),
            _ => None,
        }
    }

    /// The request may or may not have taken effect, so that whoever sent it has to look before sending it again.
    pub fn is_ambiguous(&self) -> bool {
        match self.kind {
            HttpErrorKind::Interrupted => true,
            HttpErrorKind::Status(status) => status >= 500,
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
