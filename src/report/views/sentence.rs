//! Formats a statement as a sentence.

/// Capitalizes the first letter.
pub(in crate::report) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
