//! Names the changed files that no reader opened.

use super::markup::{Markdown, code, figures, markdown};
use crate::report::CommentLimits;
use crate::report::escape::{one_line, shortened};

/// The number of names that are always visible.
const NAMED: usize = 3;

/// The maximum number of names in the folded part.
const LISTED: usize = 100;

/// The maximum number of characters of a path.
const LONGEST: usize = 120;

/// Returns text such as `5 changed files were not read: a.sh, b.py, c.json and 2 more`; nothing if all were read.
pub(in crate::report) fn not_read_line(paths: &[String]) -> Option<String> {
    let names: Vec<String> = paths.iter().take(NAMED).map(|path| shortened(&one_line(path), LONGEST)).collect();
    let names = match paths.len() {
        0 => return None,
        n if n > NAMED => format!("{} and {} more", names.join(", "), n - NAMED),
        _ => names.join(", "),
    };
    Some(format!("{}: {names}", counted(paths.len())))
}

fn counted(files: usize) -> String {
    if files == 1 { "1 changed file was not read".to_owned() } else { format!("{files} changed files were not read") }
}

/// Writes the visible line of a comment, and the other names below a fold.
pub(in crate::report) fn not_read_markdown(text: &mut Markdown, paths: &[String], room: CommentLimits) {
    if paths.is_empty() {
        return;
    }
    let names = |text: &mut Markdown, paths: &[String]| {
        for (at, path) in paths.iter().enumerate() {
            markdown!(text, if at == 0 { "" } else { ", " }, code(path, LONGEST));
        }
    };
    let (named, rest) = paths.split_at(paths.len().min(NAMED));
    markdown!(text, figures(&counted(paths.len())), ": ");
    names(text, named);
    if rest.is_empty() {
        text.push("\n\n");
        return;
    }
    markdown!(text, " and ", rest.len(), " more\n\n");
    room.open_fold(text, figures("Changed files that were not read"));
    let listed = &rest[..rest.len().min(LISTED)];
    names(text, listed);
    if rest.len() > LISTED {
        markdown!(text, " and ", rest.len() - LISTED, " more");
    }
    text.push("\n\n");
    room.close_fold(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_three_names_are_visible() {
        let paths = |count: usize| ["a", "b", "c", "d", "e"].map(str::to_owned)[..count].to_vec();
        assert_eq!(not_read_line(&paths(0)), None);
        assert_eq!(not_read_line(&paths(1)).unwrap(), "1 changed file was not read: a");
        assert_eq!(not_read_line(&paths(3)).unwrap(), "3 changed files were not read: a, b, c");
        assert_eq!(not_read_line(&paths(5)).unwrap(), "5 changed files were not read: a, b, c and 2 more");
    }
}
