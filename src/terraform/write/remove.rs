//! Removes arguments, blocks, keys and elements with their lines.

use crate::languages::hcl::syntax::{Expression, HclKind};
use crate::source::{Span, line_start};

use super::align::TextChange;

/// The maximum nesting of an expression that is searched for a member.
const DEEPEST: usize = 64;

/// Returns the change that removes whole lines, and a blank line that would be doubled.
pub(super) fn without(text: &str, span: Span) -> TextChange {
    let range = span.range();
    let start = line_start(text, range.start);
    let end =
        text.get(range.end..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| range.end + length + 1);
    let alone = text.get(start..range.start).is_some_and(|before| before.trim().is_empty());
    let tail = text.get(range.end..end).unwrap_or_default().trim();
    if !alone || !(tail.is_empty() || tail.starts_with('#') || tail.starts_with("//")) {
        return TextChange { at: range, text: String::new() };
    }
    let before = text.get(..start).unwrap_or_default();
    let last = before.trim_end_matches(['\n', '\r']).rfind('\n').map_or(0, |newline| newline + 1);
    let line_before = before.get(last..).unwrap_or_default();
    let line_after = text.get(end..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim();
    // The blank lines directly before the removed lines.
    let blank = line_before.len() - line_before.trim_end().len();
    let is_after_blank = line_before.trim_end().len() + 2 <= line_before.len() && line_before.matches('\n').count() > 1;
    if is_after_blank && (line_after.is_empty() || line_after.starts_with('}')) {
        let first = start - blank;
        let kept = text.get(first..start).and_then(|blanks| blanks.find('\n')).map_or(0, |newline| newline + 1);
        return TextChange { at: first + kept..end, text: String::new() };
    }
    TextChange { at: start..end, text: String::new() }
}

/// Returns the change that removes the member with this value from an object or a list, or the whole argument if it
/// has no other member. Returns `None` if the expression contains no such member.
pub(super) fn without_member(text: &str, expression: &Expression, argument: Span, value: Span) -> Option<TextChange> {
    let (container, members) = container_of(expression, value, 0)?;
    let at = members.iter().position(|(_, member)| *member == value)?;
    let whole = |(start, value): &(u32, Span)| Span { start: *start, ..*value };
    let member = whole(members.get(at)?);
    if members.len() == 1 {
        if container == expression.span {
            return Some(without(text, argument));
        }
        let empty = text.get(container.start as usize..=container.start as usize)?;
        let text = if empty == "{" { "{}" } else { "[]" };
        return Some(TextChange { at: container.range(), text: text.to_owned() });
    }
    let rest = text.get(member.end as usize..container.end as usize).unwrap_or_default();
    let comma = rest.find(|c: char| !c.is_whitespace()).filter(|at| rest.as_bytes().get(*at) == Some(&b','));
    let with_comma = Span { end: member.end + comma.map_or(0, |at| at as u32 + 1), ..member };
    let lines = without(text, with_comma);
    if lines.at != with_comma.range() {
        return Some(lines);
    }
    let (start, end) = match (members.get(at + 1), at.checked_sub(1).and_then(|before| members.get(before))) {
        (Some(next), _) => (member.start, whole(next).start),
        (None, Some(before)) => (before.1.end, member.end),
        (None, None) => return None,
    };
    Some(TextChange { at: start as usize..end as usize, text: String::new() })
}

/// Returns the object or list that has this value as a direct member, and the start and the value of each member.
fn container_of(node: &Expression, value: Span, depth: usize) -> Option<(Span, Vec<(u32, Span)>)> {
    if depth > DEEPEST || !node.span.contains(value) {
        return None;
    }
    let members: Vec<(u32, &Expression)> = match &node.kind {
        HclKind::Object(items) => items.iter().map(|item| (item.key.span.start, &item.value)).collect(),
        HclKind::List(items) => items.iter().map(|item| (item.span.start, item)).collect(),
        HclKind::Call(call) => return call.arguments.iter().find_map(|it| container_of(it, value, depth + 1)),
        HclKind::Parentheses(inner) => return container_of(inner, value, depth + 1),
        _ => return None,
    };
    if members.iter().any(|(_, member)| member.span == value) {
        return Some((node.span, members.into_iter().map(|(start, member)| (start, member.span)).collect()));
    }
    members.into_iter().find_map(|(_, member)| container_of(member, value, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages::hcl::syntax::parse_expression;
    use crate::source::{FileId, MemoryTree, SourceFiles};

    fn file() -> FileId {
        SourceFiles::new(MemoryTree::new().with("a.tf", "")).open("a.tf").unwrap()
    }

    fn applied(text: &str, change: TextChange) -> String {
        format!("{}{}{}", &text[..change.at.start], change.text, &text[change.at.end..])
    }

    #[test]
    fn a_removed_block_leaves_no_two_blank_lines() {
        let removed = |text: &str, part: &str| {
            let start = text.find(part).unwrap();
            applied(text, without(text, Span::new(file(), start, start + part.len())))
        };
        assert_eq!(removed("{\n  a = 1\n\n  b {\n  }\n}\n", "b {\n  }"), "{\n  a = 1\n}\n");
        assert_eq!(removed("{\n  a = 1\n\n  b = 2 # why\n\n  c = 3\n}\n", "b = 2"), "{\n  a = 1\n\n  c = 3\n}\n");
        assert_eq!(removed("{\r\n  a = 1\r\n\r\n  b = 2\r\n}\r\n", "b = 2"), "{\r\n  a = 1\r\n}\r\n");
        assert_eq!(removed("{\n  a = 1\n  b = 2\n}\n", "b = 2"), "{\n  a = 1\n}\n");
        assert_eq!(removed("{ a = 1 }", "a = 1"), "{  }");
        assert_eq!(removed("\n\n  b = 2\n", "b = 2"), "\n");
    }

    #[test]
    fn a_removed_member_leaves_a_list_or_an_object() {
        let removed = |text: &str, value: &str| {
            let argument = Span::new(file(), 0, text.trim_end().len());
            let at = text.find("= ").unwrap() + 2;
            let padded = format!("{}{}", " ".repeat(at), text[at..].trim_end());
            let expression = parse_expression(file(), &padded).unwrap();
            let start = text.find(value).unwrap();
            let value = Span::new(file(), start, start + value.len());
            without_member(text, &expression, argument, value).map(|change| applied(text, change))
        };
        let is = |text: &str, value: &str, wanted: &str| {
            assert_eq!(removed(text, value).as_deref(), Some(wanted), "{text}");
        };
        is("x = [\"a\", \"b\", \"c\"]\n", "\"a\"", "x = [\"b\", \"c\"]\n");
        is("x = [\"a\", \"b\"]\n", "\"b\"", "x = [\"a\"]\n");
        is("x = [\n  \"a\",\n  \"b\",\n]\n", "\"b\"", "x = [\n  \"a\",\n]\n");
        is("x = [\"a\"]\n", "\"a\"", "");
        is("x = { a = 1, b = 2 }\n", "2", "x = { a = 1 }\n");
        is("x = {\n  a = 1\n  b = 2\n}\n", "1", "x = {\n  b = 2\n}\n");
        is("x = merge(var.a, { b = 2 })\n", "2", "x = merge(var.a, {})\n");
        assert_eq!(removed("x = foo\n", "foo"), None);
    }
}
