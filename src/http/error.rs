//! Errors of requests. Their messages contain no secrets.

use std::fmt;

/// The reason for a missing or unusable answer. The message contains no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub kind: HttpErrorKind,
    /// The message, as a lower-case statement.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpErrorKind {
    /// The request cannot be sent, because an address or a name is invalid.
    Unusable,
    /// The request was not sent: unknown host, refused connection or untrusted certificate.
    Unreachable,
    /// The request was sent, but no complete answer came back. Whether it took effect is unknown.
    Interrupted,
    /// The server answered with an error status.
    Status(u16),
    /// The server asks for a longer wait than the settings allow.
    RateLimited,
    /// The server redirects to a host that must not receive the credential.
    Redirected,
    TooLarge,
    /// The answer does not have the documented form.
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

    /// Whether the request may have taken effect. If so, the caller must check that before sending it again.
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
