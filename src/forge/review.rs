//! Posts notes on single lines, with a suggestion if a finding has a one-line fix.

use super::conversation::{CommentTarget, Conversation, LineNote, PlacedNote};
use super::diff::{ForgeHunk, ShownFile};
use super::host::CodeHost;
use super::marker::{self, Tag};
use crate::http::Error;

/// The result of posting notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reviewed {
    pub posted: usize,
    /// Notes that an earlier run already posted.
    pub standing: usize,
    /// Notes on lines that the pull request does not change.
    pub elsewhere: usize,
    /// Notes that were left out to keep the review readable; the comment contains them.
    pub beyond_limit: usize,
    /// The reason why the host or the token accepted no notes.
    pub refused: Option<String>,
}

/// The limit on notes. Reviewers do not read a review with more of them.
const MOST_NOTES: usize = 10;

pub(super) fn review(
    host: &dyn Conversation,
    target: &CommentTarget,
    tag: &Tag,
    notes: &[LineNote],
) -> Result<Reviewed, Error> {
    let mut reviewed = Reviewed::default();
    if notes.is_empty() {
        return Ok(reviewed);
    }
    let Some(files) = host.shown_lines()? else {
        reviewed.refused = Some(format!("notes on lines are not supported on {}", target.host.name()));
        return Ok(reviewed);
    };
    let mut standing = host.line_notes()?;
    if !standing.is_empty()
        && let Some(viewer) = host.viewer()?
    {
        // Only gpulint's own notes count: a note of another user with this marker must not suppress them.
        standing.retain(|posted| posted.author.as_ref() == Some(&viewer));
    }
    let mut placed = Vec::new();
    for note in notes {
        if standing.iter().any(|posted| marker::is_note(&posted.body, tag, &note.key)) {
            reviewed.standing += 1;
        } else if let Some((file, hunk)) = place(&files, note) {
            placed.push(PlacedNote { note, file, hunk, body: body(target.host, tag, note, hunk) });
        } else {
            reviewed.elsewhere += 1;
        }
    }
    let room = MOST_NOTES.saturating_sub(reviewed.standing);
    reviewed.beyond_limit = placed.len().saturating_sub(room);
    placed.truncate(room);
    if placed.is_empty() {
        return Ok(reviewed);
    }
    match host.post_line_notes(&placed) {
        Ok(posted) => reviewed.posted = posted,
        // The diff may have changed in the meantime and lack a line. The comment still contains every finding.
        Err(error) if matches!(error.status(), Some(400 | 422)) => reviewed.refused = Some(error.message),
        Err(error) => return Err(error),
    }
    Ok(reviewed)
}

fn place<'a>(files: &'a [ShownFile], note: &LineNote) -> Option<(&'a ShownFile, &'a ForgeHunk)> {
    let file = files.iter().find(|file| file.path == note.path)?;
    Some((file, file.hunk_with(note.first_line, note.last_line)?))
}

fn body(host: CodeHost, tag: &Tag, note: &LineNote, hunk: &ForgeHunk) -> String {
    let mut text = note.body.trim_end().to_owned();
    if let Some(replacement) = note.replacement.as_deref().filter(|it| is_exact(host, note, hunk, it)) {
        text.push_str(&suggestion(host, replacement, note.last_line.saturating_sub(note.first_line)));
    }
    marker::stamp_note(&text, tag, &note.key, host.hidden_style())
}

/// Returns true if a click on the suggestion changes the lines as the fix does.
fn is_exact(host: CodeHost, note: &LineNote, hunk: &ForgeHunk, replacement: &str) -> bool {
    // Bitbucket replaces only the line of the note.
    let has_room = host != CodeHost::Bitbucket || note.first_line == note.last_line;
    // A host would write these lines with other line ends than the rest of the file.
    let has_plain_ends = !hunk.has_carriage_returns && !replacement.contains('\r');
    // Without a line in it, the block would leave an empty line.
    host.has_suggestions() && has_room && has_plain_ends && !replacement.trim_end_matches('\n').is_empty()
}

/// Uses a longer fence than any run of backticks in the content, so that the content cannot end the code block.
fn suggestion(host: CodeHost, replacement: &str, lines_below: u32) -> String {
    let longest = replacement.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    // GitLab counts lines from the line of the note, which is the last one.
    let range = if host == CodeHost::Gitlab { format!(":-{lines_below}+0") } else { String::new() };
    let replacement = replacement.trim_end_matches('\n');
    format!("\n\n{fence}suggestion{range}\n{replacement}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_that_would_change_other_bytes_is_left_out() {
        let hunk = |has_carriage_returns| ForgeHunk { lines: 1..=9, added: vec![2, 3], has_carriage_returns };
        let note = |last_line: u32| LineNote {
            path: "main.tf".to_owned(),
            first_line: 2,
            last_line,
            body: "it runs on demand".to_owned(),
            replacement: Some("a = 1\nb = 2".to_owned()),
            key: "k".to_owned(),
        };
        let text = |host, last_line, dos, replacement: &str| {
            let note = LineNote { replacement: Some(replacement.to_owned()), ..note(last_line) };
            body(host, &Tag::default(), &note, &hunk(dos))
        };
        assert!(text(CodeHost::Github, 3, false, "a = 1\nb = 2").contains("```suggestion\na = 1\nb = 2\n```"));
        assert!(text(CodeHost::Gitlab, 3, false, "a = 1\nb = 2").contains("```suggestion:-1+0\n"));
        assert!(text(CodeHost::Bitbucket, 2, false, "a = 1").contains("```suggestion\n"));
        for (host, last_line, dos, replacement) in [
            (CodeHost::Bitbucket, 3, false, "a = 1\nb = 2"),
            (CodeHost::Github, 2, true, "a = 1"),
            (CodeHost::Github, 3, false, "a = 1\r\nb = 2"),
            (CodeHost::Github, 2, false, "\n"),
            (CodeHost::Gitea, 2, false, "a = 1"),
            (CodeHost::Azure, 2, false, "a = 1"),
        ] {
            let text = text(host, last_line, dos, replacement);
            assert!(!text.contains("suggestion") && text.contains("it runs on demand"), "{host:?}: {text}");
        }
    }

    #[test]
    fn text_cannot_end_its_fence() {
        let text = suggestion(CodeHost::Github, "a = \"````\"\n", 0);
        assert_eq!(text, "\n\n`````suggestion\na = \"````\"\n`````");
        assert_eq!(suggestion(CodeHost::Gitlab, "x", 2), "\n\n```suggestion:-2+0\nx\n```");
    }
}
