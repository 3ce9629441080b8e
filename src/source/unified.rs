//! Formats the difference of two texts as a unified diff for `git apply` and `patch`.

use std::fmt::Write;
use std::ops::Range;

use super::names::bytes_of;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The limit on separate changes, beyond which the middle is one change.
const MOST: usize = 1_000;

/// A change: a range of old lines becomes a range of new lines.
pub(crate) type LineHunk = (Range<usize>, Range<usize>);

/// Returns the difference of a file with git's header: git then reads the path from the root of the repository, in
/// any directory.
pub(crate) fn git_patch(path: &str, old: &str, new: &str) -> String {
    format!("diff --git {} {}\n{}", patch_name("a/", path), patch_name("b/", path), unified(path, old, new))
}

/// Returns the difference of a file, with its path in two lines.
pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let changes = changes(&a, &b);
    // A tab ends a name with spaces, as in git's patches. Otherwise, `patch` would take the rest for a date.
    let end = if path.contains(' ') { "\t" } else { "" };
    let mut text = format!("--- {}{end}\n+++ {}{end}\n", patch_name("a/", path), patch_name("b/", path));
    let mut rest = changes.as_slice();
    while let Some((first, _)) = rest.split_first() {
        let mut last = first;
        let mut count = 1;
        while let Some(next) = rest.get(count).filter(|next| next.0.start <= last.0.end + 2 * CONTEXT) {
            last = next;
            count += 1;
        }
        let before = first.0.start.saturating_sub(CONTEXT);
        let after = (last.0.end + CONTEXT).min(a.len());
        let shift = first.1.start - first.0.start;
        let new_lines = after - before + last.1.end - last.0.end + first.0.start - first.1.start;
        let at = |start: usize, count: usize| if count == 0 { start } else { start + 1 };
        let old_lines = after - before;
        let (from, to) = (at(before, old_lines), at(before + shift, new_lines));
        let _ = writeln!(text, "@@ -{from},{old_lines} +{to},{new_lines} @@");
        let mut next = before;
        for (gone, come) in &rest[..count] {
            lines(&mut text, ' ', &a[next..gone.start]);
            lines(&mut text, '-', &a[gone.clone()]);
            lines(&mut text, '+', &b[come.clone()]);
            next = gone.end;
        }
        lines(&mut text, ' ', &a[next..after]);
        rest = &rest[count..];
    }
    text
}

/// Returns a path as git writes it in a patch: in quotes if it contains quotes, backslashes, control characters or
/// bytes that are not UTF-8.
fn patch_name(side: &str, path: &str) -> String {
    let bytes = bytes_of(path);
    let is_text = std::str::from_utf8(&bytes).is_ok();
    let is_quoted = |byte: u8| byte < b' ' || matches!(byte, b'"' | b'\\' | 0x7f) || !is_text && byte >= 0x80;
    if !bytes.iter().any(|byte| is_quoted(*byte)) {
        return format!("{side}{path}");
    }
    let mut name: Vec<u8> = format!("\"{side}").into_bytes();
    for byte in bytes.iter().copied() {
        match byte {
            b'"' | b'\\' => name.extend([b'\\', byte]),
            _ if is_quoted(byte) => name.extend(format!("\\{byte:03o}").bytes()),
            _ => name.push(byte),
        }
    }
    name.push(b'"');
    String::from_utf8_lossy(&name).into_owned()
}

fn lines(text: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Returns the differences of two texts by Myers' algorithm.
pub(crate) fn changes(a: &[&str], b: &[&str]) -> Vec<LineHunk> {
    let ahead = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let behind = a[ahead..].iter().rev().zip(b[ahead..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[ahead..a.len() - behind], &b[ahead..b.len() - behind]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    let whole = vec![(ahead..ahead + a.len(), ahead..ahead + b.len())];
    let Some(kept) = kept(a, b) else { return whole };
    let mut changes: Vec<LineHunk> = Vec::new();
    let (mut x, mut y) = (0, 0);
    for (i, j) in kept.into_iter().chain([(a.len(), b.len())]) {
        if i > x || j > y {
            changes.push((ahead + x..ahead + i, ahead + y..ahead + j));
        }
        (x, y) = (i + 1, j + 1);
    }
    changes
}

/// Returns the pairs of equal lines in order; `None` if the texts differ too much.
fn kept(a: &[&str], b: &[&str]) -> Option<Vec<(usize, usize)>> {
    let most = (a.len() + b.len()).min(MOST);
    let offset = most + 1;
    let mut furthest = vec![0usize; 2 * offset + 1];
    let mut trace: Vec<Vec<usize>> = Vec::new();
    for distance in 0..=most {
        trace.push(furthest.clone());
        for k in (offset - distance..=offset + distance).step_by(2) {
            let down = k == offset - distance || k != offset + distance && furthest[k - 1] < furthest[k + 1];
            let mut x = if down { furthest[k + 1] } else { furthest[k - 1] + 1 };
            let Some(mut y) = (x + offset).checked_sub(k) else { continue };
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[k] = x;
            if x >= a.len() && y >= b.len() {
                return Some(walked_back(&trace, offset, (a.len(), b.len())));
            }
        }
    }
    None
}

fn walked_back(trace: &[Vec<usize>], offset: usize, end: (usize, usize)) -> Vec<(usize, usize)> {
    let (mut x, mut y) = end;
    let mut kept = Vec::new();
    for (distance, furthest) in trace.iter().enumerate().rev() {
        let k = x + offset - y;
        let down = k == offset - distance || k != offset + distance && furthest[k - 1] < furthest[k + 1];
        let before = if down { k + 1 } else { k - 1 };
        let start_x = if distance == 0 { 0 } else { furthest[before] };
        let start_y = if distance == 0 { 0 } else { start_x + offset - before };
        while x > start_x
            && y > start_y
            && (distance == 0 || x > start_x + usize::from(!down) || y > start_y + usize::from(down))
        {
            (x, y) = (x - 1, y - 1);
            kept.push((x, y));
        }
        (x, y) = (start_x, start_y);
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_git_writes_them() {
        let first = |path: &str| git_patch(path, "a\n", "b\n").split("@@").next().unwrap().to_owned();
        assert_eq!(first("é/x.tf"), "diff --git a/é/x.tf b/é/x.tf\n--- a/é/x.tf\n+++ b/é/x.tf\n");
        assert_eq!(first("a b.tf"), "diff --git a/a b.tf b/a b.tf\n--- a/a b.tf\t\n+++ b/a b.tf\t\n");
        let quoted = first("a\"\\\n.tf");
        assert_eq!(quoted.lines().nth(1), Some("--- \"a/a\\\"\\\\\\012.tf\""));
        let bytes = first(&crate::source::named(b"\xff \xc3\xa9.tf"));
        assert_eq!(bytes.lines().nth(1), Some("--- \"a/\\377 \\303\\251.tf\"\t"));
    }

    #[test]
    fn changed_added_and_removed_lines_are_told() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl";
        let new = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nx\nk";
        let told = unified("f", old, new);
        assert_eq!(
            told,
            "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -8,5 +8,5 @@\n h\n i\n j\n-k\n-l\n\\ No newline at end of file\n+x\n+k\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("f", "a\n", "a\nb\n"), "--- a/f\n+++ b/f\n@@ -1,1 +1,2 @@\n a\n+b\n");
        assert_eq!(unified("f", "a\nb\n", "b\n"), "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n-a\n b\n");
    }
}
