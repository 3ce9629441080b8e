//! Why a template does not become text.

use super::text::Cause;

#[derive(Debug, Clone)]
pub(crate) enum TemplateFailure {
    /// What Go or a function would say.
    Refused(String),
    /// It is not known what it would become.
    Unknown(Cause),
    /// It takes more than any honest template.
    Budget(&'static str),
}

impl From<String> for TemplateFailure {
    fn from(why: String) -> Self {
        TemplateFailure::Refused(why)
    }
}

impl From<&str> for TemplateFailure {
    fn from(why: &str) -> Self {
        TemplateFailure::Refused(why.to_owned())
    }
}

impl From<Cause> for TemplateFailure {
    fn from(cause: Cause) -> Self {
        TemplateFailure::Unknown(cause)
    }
}
