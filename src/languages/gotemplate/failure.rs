//! Defines reasons why a template cannot be rendered.

use super::text::TemplateCause;

#[derive(Debug, Clone)]
pub(crate) enum TemplateFailure {
    /// Go or a function refuses the template, with this error message.
    Refused(String),
    /// The result is unknown.
    Unknown(TemplateCause),
    /// A limit is exceeded, above the need of any real template.
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

impl From<TemplateCause> for TemplateFailure {
    fn from(cause: TemplateCause) -> Self {
        TemplateFailure::Unknown(cause)
    }
}
