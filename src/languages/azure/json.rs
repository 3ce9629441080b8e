//! Handles JSON with comments, which Azure accepts.

use std::borrow::Cow;

use crate::source::{FileId, Span};

/// Returns the text with spaces instead of comments, and the places of the comments.
pub(crate) fn without_comments(file: FileId, text: &str) -> (Cow<'_, str>, Vec<Span>) {
    if !text.contains("//") && !text.contains("/*") {
        return (Cow::Borrowed(text), Vec::new());
    }
    let bytes = text.as_bytes();
    let (mut at, mut in_text, mut comments) = (0, false, Vec::new());
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        let end = match (byte, next) {
            (b'\\', _) if in_text => at + 2,
            (b'"', _) => {
                in_text = !in_text;
                at + 1
            }
            (b'/', Some(b'/')) if !in_text => {
                text.get(at..).and_then(|it| it.find('\n')).map_or(text.len(), |it| at + it)
            }
            (b'/', Some(b'*')) if !in_text => {
                text.get(at..).and_then(|it| it.find("*/")).map_or(text.len(), |it| at + it + 2)
            }
            _ => at + 1,
        };
        if byte == b'/' && end > at + 1 {
            comments.push(Span::new(file, at, end));
        }
        at = end;
    }
    let mut plain = String::with_capacity(text.len());
    let mut done = 0;
    for comment in &comments {
        plain.push_str(text.get(done..comment.range().start).unwrap_or_default());
        let inside = text.get(comment.range()).unwrap_or_default();
        inside.bytes().for_each(|byte| plain.push(if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }));
        done = comment.range().end;
    }
    plain.push_str(text.get(done..).unwrap_or_default());
    (Cow::Owned(plain), comments)
}
