//! Comments that suppress findings, written into texts in memory and proved by a run.
//!
//! Whether a comment works is not guessed: the run is repeated on the changed text. What did not work above the line of its
//! finding is tried at the head of the resource, and what does not work there either is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cli::Failure;
use crate::cli::session::judged::{Identity, JudgedTree, Texts};
use crate::decide::FixedBy;
use crate::source::{Date, Span, normalize};

/// By file and line, the rules that a comment above that line names.
type Comments = BTreeMap<String, BTreeMap<usize, BTreeSet<String>>>;

/// What gpulint says about the text or about suppressions themselves; to silence that would hide a mistake.
const NEVER: [&str; 3] = ["broken-suppression", "stale-suppression", "unreadable"];

/// A comment may silence the rule in such a file: JSON has no comments.
pub(in crate::cli) fn is_acceptable(rule: &str, path: &str) -> bool {
    !NEVER.contains(&rule) && !path.ends_with(".json")
}

/// Why something is accepted, and until when.
pub(in crate::cli) struct Acceptance<'a> {
    pub(in crate::cli) reason: &'a str,
    pub(in crate::cli) until: Option<Date>,
}

/// Comments for findings, as far as they do what they should.
pub(in crate::cli) struct Ignores {
    pub(in crate::cli) wishes: Vec<Wish>,
    pub(in crate::cli) texts: Texts,
    /// What is said with them.
    pub(in crate::cli) after: Arc<JudgedTree>,
}

impl Ignores {
    /// Comments for the findings that are wanted; `judge` says what is said with such texts in the place of what is there.
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
            // Each round moves a comment on or gives it up, so that this ends.
            if !retreat(before, &mut wishes, &after) {
                return Ok(Ignores { wishes, texts, after });
            }
        }
    }
}

/// Where the comment for a finding goes.
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

/// A finding to silence.
pub(in crate::cli) struct Wish {
    pub(in crate::cli) identity: Identity,
    finding: Span,
    resource: Option<Span>,
    pub(in crate::cli) place: CommentPlace,
    /// Who forbids to silence it, if somebody does.
    pub(in crate::cli) fixed: Option<FixedBy>,
}

impl Wish {
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

fn wishes(judged: &JudgedTree, is_wanted: &dyn Fn(&Identity) -> bool) -> Vec<Wish> {
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
        Wish { identity, finding: at, resource, place, fixed }
    });
    all.filter(|wish| is_wanted(&wish.identity)).collect()
}

/// Takes back what did not do what it should: the finding still counts, or its file says something new.
fn retreat(before: &JudgedTree, wishes: &mut [Wish], after: &JudgedTree) -> bool {
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

/// The texts of the files with the comments in them.
fn written(judged: &JudgedTree, wishes: &[Wish], acceptance: &Acceptance<'_>) -> Result<Texts, Failure> {
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

/// A text with a comment above each of the lines, indented as they are.
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
