//! Writes suppressions into the files, where `check --add-ignore` asks for them.
//!
//! Whether a comment works is not guessed: the run is repeated on the changed text. What did not work above the line of its
//! finding is tried at the head of the resource, and what does not work there either is left out and told.

use std::collections::{BTreeMap, BTreeSet};

use crate::Analysis;
use crate::cli::args::{Check, Input};
use crate::cli::session::Session;
use crate::cli::session::gate::gate;
use crate::cli::world::{file_tree, output};
use crate::cli::{Failure, Outcome};
use crate::decide::{Decided, FixedBy};
use crate::source::{Date, Span, normalize};

/// Rule, file and address: what stays the same when lines move.
type Identity = (String, String, Option<String>);

/// By file and line, the rules that a comment above that line names.
type Comments = BTreeMap<String, BTreeMap<usize, BTreeSet<String>>>;

/// What gpulint says about the text or about suppressions themselves; to silence that would hide a mistake.
const NEVER: [&str; 3] = ["broken-suppression", "stale-suppression", "unreadable"];

pub(in crate::cli) fn run(arguments: &Check, reason: &str) -> Result<Outcome, Failure> {
    let (until, reason) = last_day(reason);
    let reason = reason.trim().trim_start_matches("--").trim();
    if reason.is_empty() || reason.chars().any(char::is_control) {
        return Err(Failure::new("--add-ignore takes a reason, in one line"));
    }
    if arguments.input.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("--add-ignore writes into files, and standard input is none"));
    }
    let before = State::judge(&arguments.input, arguments)?;
    before.session.demand_whole_rules(&before.analysis)?;
    let mut wishes = before.wishes();
    let (texts, after) = loop {
        let texts = before.written(&wishes, until, reason)?;
        let after = State::judge(&Input { given: texts.clone(), ..arguments.input.clone() }, arguments)?;
        // Each round moves a comment on or gives it up, so that this ends.
        if !before.retreat(&mut wishes, &after) {
            break (texts, after);
        }
    };
    for (path, text) in &texts {
        output::save(&file_tree::below(&before.session.scope.root, path), &String::from_utf8_lossy(text))?;
    }
    tell(&wishes, texts.len())?;
    let gate = gate(&arguments.threshold, &after.session.policy);
    let failed = after.findings.iter().any(|decided| gate.stops(decided));
    Ok(if failed { Outcome::Failed } else { after.session.outcome(&after.analysis) })
}

/// `until=2027-01-31` wherever it stands, and the rest.
fn last_day(reason: &str) -> (Option<Date>, String) {
    let mut until = None;
    let words = reason.split(' ').filter(|word| {
        let date = word.strip_prefix("until=").and_then(|date| date.trim_end_matches([';', ',']).parse().ok());
        let is_first = date.is_some() && until.is_none();
        if is_first {
            until = date;
        }
        !is_first
    });
    let rest: Vec<&str> = words.collect();
    (until, rest.join(" "))
}

fn tell(wishes: &[Wish], files: usize) -> Result<(), Failure> {
    let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let left: Vec<&Wish> = wishes.iter().filter(|wish| wish.place == Place::Nowhere).collect();
    let silenced = count(wishes.len() - left.len(), "finding");
    output::print(&format!("{silenced} suppressed in {}\n", count(files, "file")))?;
    let mut by_cause: BTreeMap<String, usize> = BTreeMap::new();
    for wish in left {
        let cause = match &wish.fixed {
            Some(FixedBy::Pack(pack)) => {
                format!("cannot be suppressed\n  help: the pack `{pack}` forbids it: ask its owners")
            }
            Some(FixedBy::Settings) => {
                "cannot be suppressed by a comment or a baseline\n  help: gpulint.toml says `ignorable = false`; an \
                 entry of [[suppress]] there holds"
                    .to_owned()
            }
            None => {
                "cannot be suppressed by a comment\n  help: use [[suppress]] in gpulint.toml, or a baseline".to_owned()
            }
        };
        *by_cause.entry(cause).or_default() += 1;
    }
    for (cause, findings) in by_cause {
        output::complain(&format!("{} {cause}", count(findings, "finding")));
    }
    Ok(())
}

/// Where the comment for a finding goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    AboveFinding,
    AboveResource,
    Nowhere,
}

impl Place {
    fn next(self) -> Place {
        if self == Place::AboveFinding { Place::AboveResource } else { Place::Nowhere }
    }
}

/// A finding to silence.
struct Wish {
    identity: Identity,
    finding: Span,
    resource: Option<Span>,
    place: Place,
    /// Who forbids to silence it, if somebody does.
    fixed: Option<FixedBy>,
}

impl Wish {
    fn span(&self) -> Option<Span> {
        match self.place {
            Place::AboveFinding => Some(self.finding),
            Place::AboveResource => self.resource,
            Place::Nowhere => None,
        }
    }
}

/// A run, before or after comments were written.
struct State {
    session: Session,
    analysis: Analysis,
    findings: Vec<Decided>,
}

impl State {
    fn judge(input: &Input, arguments: &Check) -> Result<State, Failure> {
        let session = Session::judging(input, &arguments.selection)?;
        let (analysis, mut findings) = session.judge();
        let gate = gate(&arguments.threshold, &session.policy);
        findings.retain(|decided| gate.shows(decided));
        Ok(State { session, analysis, findings })
    }

    fn identity(&self, decided: &Decided) -> Identity {
        let finding = &decided.finding;
        let path = self.session.sources.path(self.session.sources.origin(finding.span).file);
        let resource = finding.resource.and_then(|id| self.analysis.inventory.resources.get(id.0));
        (finding.rule.clone(), path, resource.map(|it| it.address.clone()))
    }

    fn identities(&self) -> BTreeMap<Identity, usize> {
        let mut counts = BTreeMap::new();
        for decided in self.findings.iter().filter(|decided| decided.counts()) {
            *counts.entry(self.identity(decided)).or_default() += 1;
        }
        counts
    }

    fn wishes(&self) -> Vec<Wish> {
        let counting = self.findings.iter().filter(|decided| decided.counts());
        let sources = &self.session.sources;
        let fixed = self.session.fixed_rules();
        counting
            .filter(|decided| !NEVER.contains(&decided.finding.rule.as_str()))
            .map(|decided| {
                let finding = sources.origin(decided.finding.span);
                let resource = decided.finding.resource.and_then(|id| self.analysis.inventory.resources.get(id.0));
                let resource = resource.map(|it| sources.origin(it.span)).filter(|it| it.file == finding.file);
                let identity = self.identity(decided);
                // JSON has no comments.
                let is_json = identity.1.ends_with(".json");
                let fixed = fixed.get(&decided.finding.rule).cloned();
                let place = if is_json || fixed.is_some() { Place::Nowhere } else { Place::AboveFinding };
                Wish { identity, finding, resource, place, fixed }
            })
            .collect()
    }

    /// Takes back what did not do what it should: the finding still counts, or its file says something new.
    fn retreat(&self, wishes: &mut [Wish], after: &State) -> bool {
        let (before, after) = (self.identities(), after.identities());
        let is_new = |(identity, count): &(&Identity, &usize)| before.get(*identity).is_none_or(|it| it < *count);
        let spoilt: BTreeSet<&str> = after.iter().filter(is_new).map(|(identity, _)| identity.1.as_str()).collect();
        let mut retreated = false;
        for wish in wishes.iter_mut().filter(|wish| wish.place != Place::Nowhere) {
            if after.contains_key(&wish.identity) || spoilt.contains(wish.identity.1.as_str()) {
                wish.place = wish.place.next();
                if wish.span().is_none() {
                    wish.place = Place::Nowhere;
                }
                retreated = true;
            }
        }
        retreated
    }

    /// The texts of the files with the comments in them.
    fn written(&self, wishes: &[Wish], until: Option<Date>, reason: &str) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let sources = &self.session.sources;
        let mut comments = Comments::new();
        for wish in wishes {
            let Some(span) = wish.span() else { continue };
            let lines = comments.entry(sources.path(span.file)).or_default();
            lines.entry(sources.line(span)).or_default().insert(wish.identity.0.clone());
        }
        let until = until.map(|date| format!(" until={date}")).unwrap_or_default();
        let behind = format!("{until} -- {reason}");
        let mut texts = Vec::new();
        for (path, lines) in comments {
            let shown = self.session.scope.paths.show(&path);
            let failed = |why: String| Failure::new(format!("`{shown}` cannot be changed: {why}"));
            if normalize(&path).is_none() {
                return Err(failed("it lies outside".to_owned()));
            }
            let bytes = sources.tree().read(&path).map_err(|error| failed(error.to_string()))?;
            let text = String::from_utf8(bytes).map_err(|_| failed("it is no UTF-8".to_owned()))?;
            texts.push((path, commented(&text, &lines, &behind).into_bytes()));
        }
        Ok(texts)
    }
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
