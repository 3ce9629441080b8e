//! Finds the new lines that a unified diff shows. Only these can have a note.

use std::ops::RangeInclusive;

/// One file of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownFile {
    pub(super) path: String,
    /// The path before the change, which one host requires.
    pub(super) old_path: String,
    pub(super) hunks: Vec<ForgeHunk>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForgeHunk {
    /// Lines of the new version, including unchanged ones.
    pub(super) lines: RangeInclusive<u32>,
    pub(super) added: Vec<u32>,
    /// Whether a line ends with a carriage return and a line feed.
    pub(super) has_carriage_returns: bool,
}

impl ShownFile {
    /// Returns the hunk that shows all of these lines and adds at least one of them.
    pub(super) fn hunk_with(&self, first: u32, last: u32) -> Option<&ForgeHunk> {
        self.hunks.iter().find(|hunk| {
            hunk.lines.contains(&first)
                && hunk.lines.contains(&last)
                && hunk.added.iter().any(|line| (first..=last).contains(line))
        })
    }
}

/// Reads the hunks of one file; skips everything before the first hunk header.
pub(super) fn hunks(patch: &str) -> Vec<ForgeHunk> {
    let mut found: Vec<ForgeHunk> = Vec::new();
    let mut at = None;
    for line in patch.split_terminator('\n') {
        let (line, ends_with_return) = line.strip_suffix('\r').map_or((line, false), |line| (line, true));
        if let Some(start) = hunk_start(line) {
            at = Some(start);
            found.push(ForgeHunk {
                lines: start..=start.saturating_sub(1),
                added: Vec::new(),
                has_carriage_returns: false,
            });
            continue;
        }
        let (Some(number), Some(hunk)) = (at, found.last_mut()) else { continue };
        match line.as_bytes().first() {
            Some(b'+') => hunk.added.push(number),
            Some(b'-' | b'\\') => continue,
            _ => {}
        }
        hunk.has_carriage_returns |= ends_with_return;
        hunk.lines = *hunk.lines.start()..=number;
        at = number.checked_add(1);
    }
    found.retain(|hunk| !hunk.lines.is_empty());
    found
}

/// Returns the first line of a hunk in the new version: `@@ -1,2 +3,4 @@`.
fn hunk_start(line: &str) -> Option<u32> {
    let ranges = line.strip_prefix("@@ -")?;
    let (_, new) = ranges.split_once(" +")?;
    let digits = new.split([',', ' ']).next()?;
    digits.parse().ok()
}

/// Reads a diff of many files in git's format.
pub(super) fn files(diff: &str) -> Vec<ShownFile> {
    let mut found = Vec::new();
    let mut starts: Vec<usize> = diff.match_indices("\ndiff --git ").map(|(at, _)| at + 1).collect();
    if diff.starts_with("diff --git ") {
        starts.insert(0, 0);
    }
    for (index, &start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(diff.len());
        let Some(text) = diff.get(start..end) else { continue };
        let (header, body) = text.split_once("\n@@ ").unwrap_or((text, ""));
        let Some(path) = path_after(header, "+++ ") else { continue };
        let old_path = path_after(header, "--- ").unwrap_or_else(|| path.clone());
        found.push(ShownFile { path, old_path, hunks: hunks(&format!("@@ {body}")) });
    }
    found
}

/// Returns the path in a header. Leaves out `/dev/null` and quoted names, which contain bytes that no note could name.
fn path_after(header: &str, mark: &str) -> Option<String> {
    let line = header.lines().find_map(|line| line.strip_prefix(mark))?;
    let line = line.trim_end_matches('\t');
    line.strip_prefix("b/").or_else(|| line.strip_prefix("a/")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str =
        "@@ -1,3 +1,4 @@ resource\n a\n-b\n+B\n+C\n c\n\\ No newline at end of file\n@@ -20 +21,2 @@\n x\n+y";

    #[test]
    fn lines_are_counted_in_the_new_text() {
        let hunks = hunks(PATCH);
        assert_eq!(hunks[0], ForgeHunk { lines: 1..=4, added: vec![2, 3], has_carriage_returns: false });
        assert_eq!(hunks[1], ForgeHunk { lines: 21..=22, added: vec![22], has_carriage_returns: false });
    }

    #[test]
    fn carriage_returns_are_noticed_in_shown_lines() {
        assert!(hunks("@@ -1 +1,2 @@\r\n a\r\n+b\r\n")[0].has_carriage_returns);
        assert!(!hunks("@@ -1 +1,2 @@\n-a\r\n+b\n c")[0].has_carriage_returns);
        assert_eq!(hunks("@@ -1 +1,2 @@\r\n a\r\n+b\r\n")[0].added, [2]);
    }

    #[test]
    fn a_note_needs_one_hunk_and_a_line_that_is_new() {
        let file = ShownFile { path: "a.tf".to_owned(), old_path: "a.tf".to_owned(), hunks: hunks(PATCH) };
        assert!(file.hunk_with(2, 3).is_some());
        assert!(file.hunk_with(1, 4).is_some());
        assert!(file.hunk_with(1, 1).is_none(), "an unchanged line is not this change's");
        assert!(file.hunk_with(3, 22).is_none(), "two hunks");
        assert!(file.hunk_with(10, 10).is_none());
    }

    #[test]
    fn a_diff_of_many_files_is_taken_apart() {
        let diff = "diff --git a/x.tf b/y.tf\nrename from x.tf\nrename to y.tf\n--- a/x.tf\n+++ b/y.tf\n@@ -1 +1 @@\n-a\n+b\n\
                    diff --git a/gone.tf b/gone.tf\n--- a/gone.tf\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n";
        let files = files(diff);
        assert_eq!(files.len(), 1);
        assert_eq!((files[0].old_path.as_str(), files[0].path.as_str()), ("x.tf", "y.tf"));
        assert_eq!(files[0].hunks, vec![ForgeHunk { lines: 1..=1, added: vec![1], has_carriage_returns: false }]);
    }

    #[test]
    fn hostile_numbers_do_no_harm() {
        assert!(hunks("@@ -0 +4294967295 @@\n+a\n+b").len() <= 1);
        assert!(hunks("@@ -0 +99999999999999 @@\n+a").is_empty());
        assert!(hunks("+a\n b").is_empty());
    }
}
