//! Why a template does not become text.

use super::text::Cause;

#[derive(Debug, Clone)]
pub(crate) enum Failure {
    /// What Go or a function would say.
    Refused(String),
    /// It is not known what it would become.
    Unknown(Cause),
    /// It takes more than any honest template.
    Budget(&'static str),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure::Refused(why)
    }
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Failure::Refused(why.to_owned())
    }
}

impl From<Cause> for Failure {
    fn from(cause: Cause) -> Self {
        Failure::Unknown(cause)
    }
}
