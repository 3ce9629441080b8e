//! Adds suppression comments in memory, and verifies them by a check.
//!
//! A new check of the edited files verifies each comment. If a comment has no effect above the line of its
//! finding, it moves to the first line of the resource. If it has no effect there, it is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cli::Failure;
use crate::cli::session::judged::{Identity, JudgedTree, Texts};
use crate::decide::FixedBy;
use crate::source::{Date, Span, normalize};

/// The rules that each new comment names, by file and line.
type Comments = BTreeMap<String, BTreeMap<usize, BTreeSet<String>>>;

/// Rules about unreadable files and about suppressions. Suppressing these would hide an error.
const NEVER: [&str; 3] = ["broken-suppression", "stale-suppression", "unreadable"];

/// Whether the file can contain comments. JSON has none.
pub(in crate::cli) fn is_acceptable(rule: &str, path: &str) -> bool {
    !NEVER.contains(&rule) && !path.ends_with(".json")
}

/// The reason and the last day of a suppression.
pub(in crate::cli) struct Acceptance<'a> {
    pub(in crate::cli) reason: &'a str,
    pub(in crate::cli) until: Option<Date>,
}

/// The suppression comments that have the intended effect.
pub(in crate::cli) struct Ignores {
    pub(in crate::cli) wishes: Vec<IgnoreComment>,
    pub(in crate::cli) texts: Texts,
    /// The results with these comments.
    pub(in crate::cli) after: Arc<JudgedTree>,
}

impl Ignores {
    /// Adds comments for the selected findings. `judge` checks the tree with given file contents.
    pub(in crate::cli) fn make(
        before: &JudgedTree,
        acceptance: &Acceptance<'_>,
        is_wanted: &dyn Fn(&Identity) -> bool,
        judge: &mut dyn FnMut(&Texts) -> Result<Arc<JudgedTree>, Failure>,
    ) -> Result<Ignores, Failure> {
        let mut wishes = wishes(before, is_wanted);
        loop {
            let texts = written(before, &wishes, acceptance)?;
            let after = judge(&texts)?;
            // Each round moves a comment or leaves it out, so the loop ends.
            if !retreat(before, &mut wishes, &after) {
                return Ok(Ignores { wishes, texts, after });
            }
        }
    }
}

/// The position of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum CommentPlace {
    AboveFinding,
    AboveResource,
    Nowhere,
}

impl CommentPlace {
    fn next(self) -> CommentPlace {
        if self == CommentPlace::AboveFinding { CommentPlace::AboveResource } else { CommentPlace::Nowhere }
    }
}

/// A finding to suppress.
pub(in crate::cli) struct IgnoreComment {
    pub(in crate::cli) identity: Identity,
    finding: Span,
    resource: Option<Span>,
    pub(in crate::cli) place: CommentPlace,
    /// The pack or the settings that forbid its suppression, if any.
    pub(in crate::cli) fixed: Option<FixedBy>,
}

impl IgnoreComment {
    fn span(&self) -> Option<Span> {
        match self.place {
            CommentPlace::AboveFinding => Some(self.finding),
            CommentPlace::AboveResource => self.resource,
            CommentPlace::Nowhere => None,
        }
    }
}

fn identities(judged: &JudgedTree) -> BTreeMap<Identity, usize> {
    let mut counts = BTreeMap::new();
    for finding in judged.counting() {
        *counts.entry(judged.identity(finding)).or_default() += 1;
    }
    counts
}

fn wishes(judged: &JudgedTree, is_wanted: &dyn Fn(&Identity) -> bool) -> Vec<IgnoreComment> {
    let sources = &judged.session.sources;
    let fixed = judged.session.fixed_rules();
    let about = judged.counting().filter(|finding| !NEVER.contains(&finding.rule.as_str()));
    let all = about.map(|finding| {
        let at = sources.origin(finding.span);
        let resource = finding.resource.and_then(|id| judged.analysis.inventory.resources.get(id.0));
        let resource = resource.map(|it| sources.origin(it.span)).filter(|it| it.file == at.file);
        let identity = judged.identity(finding);
        let fixed = fixed.get(&finding.rule).cloned();
        let place = if !is_acceptable(&finding.rule, &identity.1) || fixed.is_some() {
            CommentPlace::Nowhere
        } else {
            CommentPlace::AboveFinding
        };
        IgnoreComment { identity, finding: at, resource, place, fixed }
    });
    all.filter(|wish| is_wanted(&wish.identity)).collect()
}

/// Withdraws comments without effect, or with a new finding in their file.
fn retreat(before: &JudgedTree, wishes: &mut [IgnoreComment], after: &JudgedTree) -> bool {
    let (before, after) = (identities(before), identities(after));
    let is_new = |(identity, count): &(&Identity, &usize)| before.get(*identity).is_none_or(|it| it < *count);
    let spoilt: BTreeSet<&str> = after.iter().filter(is_new).map(|(identity, _)| identity.1.as_str()).collect();
    let mut retreated = false;
    for wish in wishes.iter_mut().filter(|wish| wish.place != CommentPlace::Nowhere) {
        if after.contains_key(&wish.identity) || spoilt.contains(wish.identity.1.as_str()) {
            wish.place = wish.place.next();
            if wish.span().is_none() {
                wish.place = CommentPlace::Nowhere;
            }
            retreated = true;
        }
    }
    retreated
}

/// Returns the file contents with the comments.
fn written(judged: &JudgedTree, wishes: &[IgnoreComment], acceptance: &Acceptance<'_>) -> Result<Texts, Failure> {
    let session = &judged.session;
    let sources = &session.sources;
    let mut comments = Comments::new();
    for wish in wishes {
        let Some(span) = wish.span() else { continue };
        let lines = comments.entry(sources.path(span.file)).or_default();
        lines.entry(sources.line(span)).or_default().insert(wish.identity.0.clone());
    }
    let until = acceptance.until.map(|date| format!(" until={date}")).unwrap_or_default();
    let behind = format!("{until} -- {}", acceptance.reason);
    let mut texts = Texts::new();
    for (path, lines) in comments {
        let shown = session.scope.paths.show(&path);
        let failed = |why: String| Failure::new(format!("gpulint cannot write to `{shown}`: {why}"));
        if normalize(&path).is_none() {
            return Err(failed("it is outside the directories that gpulint may write".to_owned()));
        }
        let bytes = sources.tree().read(&path).map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8".to_owned()))?;
        texts.insert(path, commented(&text, &lines, &behind).into_bytes());
    }
    Ok(texts)
}

/// Adds a comment above each of the lines, with the same indentation.
fn commented(text: &str, lines: &BTreeMap<usize, BTreeSet<String>>, behind: &str) -> String {
    let mut changed = String::with_capacity(text.len() + lines.len() * 80);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if let Some(rules) = lines.get(&(index + 1)) {
            let (mark, rest) = match line.strip_prefix('\u{feff}') {
                Some(rest) => ("\u{feff}", rest),
                None => ("", line),
            };
            let indentation = &rest[..rest.len() - rest.trim_start().len()];
            let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            let rules = rules.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            changed.push_str(&format!("{mark}{indentation}# gpulint: ignore[{rules}]{behind}{end}{rest}"));
        } else {
            changed.push_str(line);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_indentation_and_marks_stay() {
        let lines = BTreeMap::from([
            (1, BTreeSet::from(["b".to_owned(), "a".to_owned()])),
            (2, BTreeSet::from(["c".to_owned()])),
        ]);
        let text = commented("\u{feff}x {\r\n\ty = 1\r\n}", &lines, " -- why");
        assert_eq!(
            text,
            "\u{feff}# gpulint: ignore[a, b] -- why\r\nx {\r\n\t# gpulint: ignore[c] -- why\r\n\ty = 1\r\n}"
        );
    }
}
