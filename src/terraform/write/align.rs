//! Aligns `=` and comments at the end of lines like `terraform fmt`.
//!
//! Neighboring lines are aligned with each other, so a changed line may move the others. Lines that are not aligned
//! before the change stay unchanged, because their author does not use the formatter.

use std::ops::Range;

use crate::source::{line_end, line_start};

/// Longer regions without a blank line are not aligned, because each change would visit the whole region.
const LONGEST_REGION: usize = 16 << 10;

/// A line of a body, in the parts that formatting moves.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line<'a> {
    indent: &'a str,
    /// The name of the argument, if its expression ends on this line; otherwise the whole line.
    lead: &'a str,
    assign: Option<&'a str>,
    comment: Option<&'a str>,
}

/// A replacement in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextChange {
    pub(super) at: Range<usize>,
    pub(super) text: String,
}

/// Adds the changes that keep the lines around each change aligned, if they are aligned before.
pub(super) fn aligned(text: &str, changes: Vec<TextChange>) -> Vec<TextChange> {
    let mut changes = changes;
    changes.sort_by_key(|change| (change.at.start, change.at.end));
    let mut all: Vec<TextChange> = Vec::new();
    let mut rest = changes.as_slice();
    while let Some(first) = rest.first() {
        let region = region(text, &first.at);
        let inside = rest.iter().take_while(|change| change.at.end <= region.end).count().max(1);
        let (here, later) = rest.split_at(inside);
        if region.len() > LONGEST_REGION {
            all.extend(here.iter().map(|change| like_its_neighbour(text, change)));
        } else {
            all.extend(one_region(text, region, here));
        }
        rest = later;
    }
    all
}

/// Returns the lines around a position, up to the next blank lines.
fn region(text: &str, at: &Range<usize>) -> Range<usize> {
    let is_blank = |line: &str| line.trim().is_empty();
    let mut start = line_start(text, at.start);
    while start > 0 && at.start - start <= LONGEST_REGION {
        let before = line_start(text, start - 1);
        if is_blank(&text[before..start]) {
            break;
        }
        start = before;
    }
    let mut end = line_end(text, at.end);
    while end < text.len() && end - at.start <= LONGEST_REGION {
        let next = line_end(text, end + 1);
        if is_blank(&text[end..next]) {
            break;
        }
        end = next;
    }
    start..end
}

fn one_region(text: &str, region: Range<usize>, changes: &[TextChange]) -> Vec<TextChange> {
    let before = &text[region.clone()];
    let after = applied(before, region.start, changes);
    if formatted(before) != before {
        return changes.iter().map(|change| like_its_neighbour(text, change)).collect();
    }
    let wanted = formatted(&after);
    if wanted == after {
        return changes.to_vec();
    }
    differences(before, &wanted, region.start)
}

/// Aligns the `=` of one new argument with that of the line above, if there is space.
fn like_its_neighbour(text: &str, change: &TextChange) -> TextChange {
    let before = text.get(line_start(text, change.at.start)..change.at.start).unwrap_or_default();
    let line = change.text.trim_start_matches(['\r', '\n']);
    let new = split(line);
    let (Line { assign: Some(_), lead, indent, .. }, Some(assign)) = (split(before), new.assign) else {
        return change.clone();
    };
    let column = before.find('=').map_or(0, |at| columns(&before[indent.len()..at]));
    if line.contains('\n') || columns(lead) >= column || columns(new.lead) >= column {
        return change.clone();
    }
    let blanks = " ".repeat(column - columns(new.lead));
    let breaks = &change.text[..change.text.len() - line.len()];
    TextChange { at: change.at.clone(), text: format!("{breaks}{}{}{blanks}{assign}", new.indent, new.lead) }
}

fn applied(text: &str, offset: usize, changes: &[TextChange]) -> String {
    let mut result = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for change in changes {
        result.push_str(text.get(at..change.at.start - offset).unwrap_or_default());
        result.push_str(&change.text);
        at = change.at.end - offset;
    }
    result.push_str(text.get(at..).unwrap_or_default());
    result
}

/// Returns the lines that differ as changes, without the equal parts at their ends.
fn differences(before: &str, after: &str, offset: usize) -> Vec<TextChange> {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let ahead = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let behind = old[ahead..].iter().rev().zip(new[ahead..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old[ahead..old.len() - behind], &new[ahead..new.len() - behind]);
    let mut at = offset + old[..ahead].iter().map(|line| line.len()).sum::<usize>();
    let mut changes = Vec::new();
    if old_middle.len() == new_middle.len() {
        for (a, b) in old_middle.iter().zip(new_middle) {
            changes.extend(difference(a, b, at));
            at += a.len();
        }
    } else {
        changes.extend(difference(&old_middle.concat(), &new_middle.concat(), at));
    }
    changes
}

/// Returns the part in which two strings differ.
fn difference(before: &str, after: &str, at: usize) -> Option<TextChange> {
    if before == after {
        return None;
    }
    let ahead: usize = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let tails = before[ahead..].chars().rev().zip(after[ahead..].chars().rev());
    let behind: usize = tails.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let range = at + ahead..at + before.len() - behind;
    Some(TextChange { at: range, text: after[ahead..after.len() - behind].to_owned() })
}

/// Returns the lines with the spacing of `terraform fmt`, and no other changes.
fn formatted(text: &str) -> String {
    let lines: Vec<(&str, &str)> = text
        .split_inclusive('\n')
        .map(|line| {
            let content = line.trim_end_matches('\n').trim_end_matches('\r');
            line.split_at(content.len())
        })
        .collect();
    let parts: Vec<Line<'_>> = lines.iter().map(|(line, _)| split(line)).collect();
    let mut texts: Vec<String> = parts.iter().map(|part| format!("{}{}", part.indent, part.lead)).collect();
    each_chain(
        &parts,
        |part| part.assign.is_some(),
        |chain| {
            let width = parts[chain.clone()].iter().map(|part| columns(part.lead)).max().unwrap_or_default();
            for at in chain {
                let blanks = width - columns(parts[at].lead) + 1;
                texts[at].push_str(&" ".repeat(blanks));
                texts[at].push_str(parts[at].assign.unwrap_or_default());
            }
        },
    );
    // A comment on its own line is not aligned.
    let has_cell = |part: &Line<'_>| part.comment.is_some() && !part.lead.is_empty();
    each_chain(&parts, has_cell, |chain| {
        let length = |at: usize| columns(&texts[at]) - columns(parts[at].indent);
        let width = chain.clone().map(length).max().unwrap_or_default();
        let blanks: Vec<usize> = chain.clone().map(|at| width - length(at) + 1).collect();
        for (at, blanks) in chain.zip(blanks) {
            texts[at].push_str(&" ".repeat(blanks));
        }
    });
    let mut result = String::with_capacity(text.len() + 64);
    for ((part, text), (_, end)) in parts.iter().zip(&texts).zip(&lines) {
        result.push_str(text);
        result.push_str(part.comment.unwrap_or_default());
        result.push_str(end);
    }
    result
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Visits groups of neighboring lines that have the property.
fn each_chain<'a>(lines: &[Line<'a>], has: impl Fn(&Line<'a>) -> bool, mut each: impl FnMut(Range<usize>)) {
    let mut start = None;
    for at in 0..=lines.len() {
        let is_in = lines.get(at).is_some_and(&has);
        match (start, is_in) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                each(from..at);
                start = None;
            }
            _ => {}
        }
    }
}

fn split(line: &str) -> Line<'_> {
    let body = line.trim_start();
    let indent = &line[..line.len() - body.len()];
    let Cells { equals, comment, open_after_equals } = cells(body);
    let code = &body[..comment.unwrap_or(body.len())];
    let comment = comment.map(|at| body[at..].trim_end());
    match equals {
        Some(at) if !open_after_equals => {
            Line { indent, lead: code[..at].trim_end(), assign: Some(code[at..].trim_end()), comment }
        }
        _ => Line { indent, lead: code.trim_end(), assign: None, comment },
    }
}

struct Cells {
    equals: Option<usize>,
    comment: Option<usize>,
    /// True if the expression continues after this line.
    open_after_equals: bool,
}

/// Returns the first `=` of a line and its comment, outside quotes and brackets.
fn cells(line: &str) -> Cells {
    let bytes = line.as_bytes();
    let mut cells = Cells { equals: None, comment: None, open_after_equals: false };
    let (mut at, mut quoted, mut depth, mut templates) = (0, false, 0i32, Vec::new());
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        match byte {
            b'\\' if quoted => at += 1,
            b'"' => quoted = !quoted,
            b'$' | b'%' if quoted && next == b'{' => {
                templates.push(depth);
                quoted = false;
                at += 1;
            }
            _ if quoted => {}
            b'}' if templates.last() == Some(&depth) => {
                templates.pop();
                quoted = true;
            }
            b'#' => {
                cells.comment = Some(at);
                break;
            }
            b'/' if next == b'/' => {
                cells.comment = Some(at);
                break;
            }
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth -= 1,
            b'=' if cells.equals.is_none() && depth == 0 && at > 0 && next != b'=' && next != b'>' => {
                if matches!(bytes[at - 1], b'!' | b'<' | b'>' | b'=') {
                    // This is a comparison in a line that continues the line before.
                    return Cells { equals: None, comment: None, open_after_equals: true };
                }
                cells.equals = Some(at);
            }
            _ => {}
        }
        at += 1;
    }
    cells.open_after_equals = depth > 0;
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_as_terraform_does() {
        let text = "a   = 1 # x\nbcd = \"${var.x}\" # y\ntags = {\n  e = 2\n}\nf = 3\n";
        assert_eq!(formatted(text), "a   = 1          # x\nbcd = \"${var.x}\" # y\ntags = {\n  e = 2\n}\nf = 3\n");
    }

    #[test]
    fn neighbours_of_a_longer_name_move_with_it() {
        let text = "{\n  ami  = 1\n  size = 2 # why\n}\n";
        let at = text.find("\n}").unwrap();
        let changes = aligned(text, vec![TextChange { at: at..at, text: "\n  priority = 3".into() }]);
        let after = applied(text, 0, &changes);
        assert_eq!(after, "{\n  ami      = 1\n  size     = 2 # why\n  priority = 3\n}\n");
    }

    #[test]
    fn lines_that_nobody_formats_stay() {
        let text = "{\n  ami= 1\n  size   = 2\n}\n";
        let at = text.find("\n}").unwrap();
        let changes = vec![TextChange { at: at..at, text: "\n  priority = 3".into() }];
        assert_eq!(aligned(text, changes), vec![TextChange { at: at..at, text: "\n  priority = 3".into() }]);
        let changes = vec![TextChange { at: at..at, text: "\n  b = 3".into() }];
        assert_eq!(aligned(text, changes)[0].text, "\n  b      = 3");
    }
}
