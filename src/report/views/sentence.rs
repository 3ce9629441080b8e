//! A statement as the beginning of a sentence.

/// With a capital.
pub(in crate::report) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
