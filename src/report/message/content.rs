//! Defines the content of a chat message.

/// The content without markup: it can contain names from a repository.
#[derive(Debug, Default)]
pub(in crate::report) struct ChatMessage {
    pub(in crate::report) title: String,
    pub(in crate::report) lines: Vec<String>,
    /// Lists, each with a heading.
    pub(in crate::report) lists: Vec<(String, Vec<String>)>,
    /// The address of the full report.
    pub(in crate::report) url: Option<String>,
    /// The age of the prices.
    pub(in crate::report) footer: String,
}
