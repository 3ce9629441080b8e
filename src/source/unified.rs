//! Formats the difference of two texts as a unified diff for `git apply` and `patch`.

use std::fmt::Write;
use std::ops::Range;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The limit on separate changes, beyond which the middle is one change.
const MOST: usize = 1_000;

/// A change: a range of old lines becomes a range of new lines.
pub(crate) type LineHunk = (Range<usize>, Range<usize>);

pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let changes = changes(&a, &b);
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
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
