//! Reads and writes the hidden line that identifies gpulint's comments.

use std::fmt;

use super::host::HiddenStyle;
use crate::report::without_page_link;

/// A tag that distinguishes the comments of several configurations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag(String);

const LONGEST_TAG: usize = 100;

impl Tag {
    /// Rejects characters that could end the hidden line early or change its meaning.
    pub fn new(text: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-');
        if text.is_empty() || text.len() > LONGEST_TAG || !text.chars().all(plain) || text.contains("--") {
            return Err(format!("a tag must have 1 to {LONGEST_TAG} letters, digits, `.`, `_`, `/` or single `-`"));
        }
        Ok(Tag(text.to_owned()))
    }
}

impl Default for Tag {
    fn default() -> Self {
        Tag("default".to_owned())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HiddenStyle {
    fn hide(self, text: &str) -> String {
        match self {
            HiddenStyle::HtmlComment => format!("<!-- {text} -->"),
            HiddenStyle::LinkDefinition => format!("[//]: # ({text})"),
        }
    }
}

const NAME: &str = "gpulint:comment";
const NOTE_NAME: &str = "gpulint:note";
/// A comment that a newer one replaced and that gpulint no longer updates.
const RETIRED_NAME: &str = "gpulint:retired";
const SCHEMA: u32 = 1;

/// The data in the first line of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommentMarker {
    pub(super) tag: String,
    pub(super) head: Option<String>,
}

/// Reads the first line of a comment; any other line may come from a repository.
pub(super) fn read(body: &str) -> Option<CommentMarker> {
    let text = hidden_text(body.lines().next()?)?;
    let fields = text.strip_prefix(NAME)?.split_ascii_whitespace();
    let (mut tag, mut head) = (None, None);
    for field in fields {
        match field.split_once('=') {
            Some(("tag", value)) => tag = Some(value.to_owned()),
            Some(("head", value)) => head = Some(value.to_owned()),
            // A later version may write more fields.
            _ => {}
        }
    }
    Some(CommentMarker { tag: tag?, head })
}

/// Returns the body with gpulint's hidden line first. This line replaces a marker in the body.
pub(super) fn stamp(body: &str, tag: &Tag, head: Option<&str>, style: HiddenStyle) -> String {
    let mut fields = format!("{NAME} schema={SCHEMA} tag={tag}");
    if let Some(head) = head.filter(|head| is_commit(head)) {
        fields.push_str(&format!(" head={head}"));
    }
    format!("{}\n\n{}\n", style.hide(&fields), content(body))
}

/// Returns the body without its marker, normalized for comparison.
pub(super) fn content(body: &str) -> String {
    let body = body.replace("\r\n", "\n");
    let rest = match body.split_once('\n') {
        Some((first, rest)) if is_marker(first) => rest,
        None if is_marker(&body) => "",
        _ => body.as_str(),
    };
    rest.trim_matches('\n').trim_end().to_owned()
}

/// Returns true if two bodies differ only in their page link: such a difference is not news.
pub(super) fn has_same_content(one: &str, other: &str) -> bool {
    let (one, other) = (content(one), content(other));
    without_page_link(&one) == without_page_link(&other)
}

/// Returns the body with a marker that later runs ignore.
pub(super) fn retire(body: &str, style: HiddenStyle) -> String {
    format!("{}\n\n{}\n", style.hide(RETIRED_NAME), content(body))
}

/// Returns the hidden line of a note on a line of code: `key` identifies the finding.
pub(super) fn stamp_note(body: &str, tag: &Tag, key: &str, style: HiddenStyle) -> String {
    format!("{}\n\n{}\n", style.hide(&format!("{NOTE_NAME} tag={tag} key={}", plain_key(key))), content(body))
}

pub(super) fn is_note(body: &str, tag: &Tag, key: &str) -> bool {
    let line = body.lines().next().and_then(hidden_text);
    line == Some(format!("{NOTE_NAME} tag={tag} key={}", plain_key(key)).as_str())
}

/// Returns a key without characters that could end the hidden line, because it can contain an address from a
/// repository.
fn plain_key(key: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':') { c } else { '_' };
    key.chars().take(200).map(plain).collect()
}

/// Returns true if a comment begins with one of gpulint's hidden lines, with any tag. Other comments are dropped while
/// a list is read.
pub(super) fn is_ours(body: &str) -> bool {
    body.lines().next().is_some_and(is_marker)
}

fn is_marker(line: &str) -> bool {
    hidden_text(line).is_some_and(|text| text.starts_with("gpulint:"))
}

fn hidden_text(line: &str) -> Option<&str> {
    let line = line.trim();
    let html = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
    let definition = || line.strip_prefix("[//]: # (").and_then(|rest| rest.strip_suffix(')'));
    html.or_else(definition).map(str::trim)
}

fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns true if two names identify the same commit; some hosts shorten them.
pub(super) fn same_commit(a: &str, b: &str) -> bool {
    let length = a.len().min(b.len());
    length >= 7 && a.get(..length).zip(b.get(..length)).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ReviewCommit, page_link};

    const HEAD: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn what_is_stamped_is_found_again() {
        for style in [HiddenStyle::HtmlComment, HiddenStyle::LinkDefinition] {
            let body = stamp("GPU cost +$10/month", &Tag::new("team/a").unwrap(), Some(HEAD), style);
            let expected = CommentMarker { tag: "team/a".to_owned(), head: Some(HEAD.to_owned()) };
            assert_eq!(read(&body), Some(expected));
            assert_eq!(content(&body), "GPU cost +$10/month");
        }
    }

    #[test]
    fn a_marker_below_the_first_line_is_text() {
        assert_eq!(read("hello\n<!-- gpulint:comment schema=1 tag=default -->"), None);
    }

    #[test]
    fn a_body_that_brings_a_marker_keeps_only_ours() {
        let brought = "<!-- gpulint:comment schema=1 tag=other head=ffffffff -->\nbody";
        let body = stamp(brought, &Tag::default(), None, HiddenStyle::HtmlComment);
        assert_eq!(body.matches("gpulint:comment").count(), 1);
        assert_eq!(read(&body).map(|marker| marker.tag), Some("default".to_owned()));
    }

    #[test]
    fn a_tag_cannot_end_the_hidden_line() {
        for hostile in ["", "a b", "a-->", "a\n", "a)", "é", "a--b"] {
            assert!(Tag::new(hostile).is_err(), "{hostile:?} was taken");
        }
    }

    #[test]
    fn a_head_that_is_no_commit_is_left_out() {
        let body = stamp("x", &Tag::default(), Some("main --> <script>"), HiddenStyle::HtmlComment);
        assert!(!body.contains("script"));
    }

    #[test]
    fn another_page_is_no_news() {
        let page =
            |run: u32| format!("x\n\n{}", page_link(&ReviewCommit::new(&format!("https://a.example/{run}")).unwrap()));
        let stamped = |body: &str| stamp(body, &Tag::default(), Some(HEAD), HiddenStyle::HtmlComment);
        let (one, other) = (stamped(&page(1)), stamped(&page(2)));
        assert!(
            has_same_content(&one, &other) && has_same_content(&one, &stamped("x")) && content(&one) != content(&other)
        );
        assert!(!has_same_content(&one, &stamped("y")));
    }

    #[test]
    fn line_ends_do_not_make_a_difference() {
        assert_eq!(content("<!-- gpulint:comment tag=a -->\r\n\r\nx\r\ny\r\n"), "x\ny");
    }

    #[test]
    fn a_retired_comment_is_nobodys() {
        let body = stamp("x", &Tag::default(), None, HiddenStyle::HtmlComment);
        let retired = retire(&body, HiddenStyle::HtmlComment);
        assert_eq!(read(&retired), None);
        assert_eq!(content(&retired), "x");
    }

    #[test]
    fn shortened_commits_are_recognized() {
        assert!(same_commit(HEAD, &HEAD[..12]));
        assert!(!same_commit(HEAD, "0123456fffff"));
        assert!(!same_commit(HEAD, ""));
    }
}
