//! What is said to a room in which people talk.

/// What is said, without any markup: names of a repository stand in it.
#[derive(Debug, Default)]
pub(in crate::report) struct Message {
    pub(in crate::report) title: String,
    pub(in crate::report) lines: Vec<String>,
    /// Each with a heading.
    pub(in crate::report) lists: Vec<(String, Vec<String>)>,
    /// Where the whole report is.
    pub(in crate::report) url: Option<String>,
    /// How old the prices are.
    pub(in crate::report) footer: String,
}
