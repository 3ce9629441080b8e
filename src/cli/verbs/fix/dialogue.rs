//! `gpulint check --fix --interactive`: shows each fix, and asks whether to apply it.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::sync::Arc;

use crate::cli::Failure;
use crate::cli::edits::fixes::{Fixes, Fixing};
use crate::cli::io::terminal::OutputStream;
use crate::cli::io::{deadline, output};
use crate::cli::session::judged::{Identity, JudgedTree};
use crate::fix;
use crate::report;
use crate::rules::{Finding, Safety};
use crate::source::unified;

/// The answer to the question about one fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    All,
    NoneOfFile,
    Quit,
}

const HELP: &str = "y - apply this fix
n - skip this fix
a - apply this fix and all the rest
d - skip this fix and all others that edit its file
q - skip this fix and all the rest
? - print this help
gpulint writes the accepted fixes after the last question. Ctrl+C ends it and writes nothing.
";

/// Fails if no user can answer.
pub(super) fn demand_terminal() -> Result<(), Failure> {
    if io::stdin().is_terminal() && OutputStream::Output.is_terminal() {
        // The time limit does not include the time in which the user reads.
        deadline::none();
        return Ok(());
    }
    Err(Failure::new("--interactive needs a terminal for its questions and your answers")
        .with_help("choose fixes by --only RULE and --address ADDRESS, or print all of them with --diff"))
}

/// Asks about each fix, and applies the accepted ones.
pub(super) fn make(fixing: &mut Fixing<'_>, first: Arc<JudgedTree>) -> Result<(Fixes, Arc<JudgedTree>), Failure> {
    let (limit, is_chosen, is_writable) = (fixing.limit, fixing.is_wanted, fixing.is_writable);
    let (mut fixes, mut state) = (Fixes::default(), first);
    let mut questions = Questions::default();
    loop {
        let open = fixes.fixable(fixing, &state);
        let Some((finding, place)) = questions.next(open, &state) else { break };
        let identity = state.identity(finding);
        let files = files_of(finding, &state);
        show(finding, &state)?;
        let answer = ask(&place)?;
        questions.asked.insert(identity.clone());
        match answer {
            Answer::No => {}
            Answer::Quit => break,
            Answer::NoneOfFile => questions.skipped_files.extend(files),
            Answer::Yes | Answer::All => {
                let is_wanted = |it: &Identity| {
                    let is_rest = answer == Answer::All && is_chosen(it) && !questions.asked.contains(it);
                    *it == identity || is_rest
                };
                let skipped = &questions.skipped_files;
                let is_open = |state: &JudgedTree, file| {
                    is_writable(state, file) && !skipped.contains(&state.session.sources.path(file))
                };
                let mut accepted =
                    Fixing { limit, is_wanted: &is_wanted, is_writable: &is_open, judge: &mut *fixing.judge };
                while let Some(after) = fixes.round(&mut accepted, &state)? {
                    state = after;
                    if answer == Answer::Yes {
                        break;
                    }
                }
                if let Some(why) = fixes.given_up.get(&identity) {
                    output::print(&format!("{}\n", report::one_line(why)))?;
                }
                if answer == Answer::All {
                    break;
                }
            }
        }
    }
    Ok((fixes, state))
}

/// The findings about which gpulint asked, and those that need no question.
#[derive(Default)]
struct Questions {
    asked: BTreeSet<Identity>,
    skipped_files: BTreeSet<String>,
}

impl Questions {
    /// Returns the next finding, the largest saving first, and which of all questions it is.
    fn next<'s>(&self, open: Vec<&'s Finding>, state: &JudgedTree) -> Option<(&'s Finding, String)> {
        let is_skipped = |finding: &Finding| !files_of(finding, state).is_disjoint(&self.skipped_files);
        let is_new = |finding: &&Finding| !self.asked.contains(&state.identity(finding)) && !is_skipped(finding);
        let mut open: Vec<&Finding> = open.into_iter().filter(|it| !it.edits.is_empty()).filter(is_new).collect();
        open.sort_by_key(|it| {
            (Reverse(it.saves.map(|saves| saves.expected)), state.session.sources.locate(it.span), it.rule.clone())
        });
        let first = *open.first()?;
        Some((first, format!("{}/{}", self.asked.len() + 1, self.asked.len() + open.len())))
    }
}

fn files_of(finding: &Finding, state: &JudgedTree) -> BTreeSet<String> {
    finding.edits.iter().map(|edit| state.session.sources.path(edit.span.file)).collect()
}

/// Prints the rule, the address, the place, the saving and the edits of a fix. The strings come from files, so
/// `output::print` replaces control characters.
fn show(finding: &Finding, state: &JudgedTree) -> Result<(), Failure> {
    let (session, sources) = (&state.session, &state.session.sources);
    let report = session.report(&state.analysis, &state.findings);
    let at = session.scope.paths.locate(sources, finding.span);
    let address = finding.address(&state.analysis.inventory).unwrap_or_default();
    let mut text = report::one_line(&format!("{} · {address} · {}:{}", finding.rule, at.path, at.line));
    text.push_str(&format!("\n{}\n", report::finding_in_place(&report, finding)));
    if finding.safety() != Some(Safety::Safe) {
        text.push_str("unsafe fix: it changes how the workload runs\n");
    }
    for (path, new) in fix::texts(sources, &[finding]) {
        let Ok(file) = sources.open(&path) else { continue };
        text.push_str(&unified(&session.scope.paths.show(&path), &sources.text(file), &new));
    }
    output::print(&format!("\n{text}"))
}

/// Asks until the answer is valid. The end of the input means `q`.
fn ask(place: &str) -> Result<Answer, Failure> {
    loop {
        output::print(&format!("({place}) Apply this fix [y,n,a,d,q,?]? "))?;
        let mut line = String::new();
        match io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => {
                output::print("\n")?;
                return Ok(Answer::Quit);
            }
            Ok(_) => {}
        }
        match answer(&line) {
            Some(answer) => return Ok(answer),
            None => output::print(HELP)?,
        }
    }
}

fn answer(line: &str) -> Option<Answer> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Yes),
        "n" | "no" => Some(Answer::No),
        "a" => Some(Answer::All),
        "d" => Some(Answer::NoneOfFile),
        "q" => Some(Answer::Quit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_answers_count() {
        assert_eq!(answer(" Y\n"), Some(Answer::Yes));
        assert_eq!(answer("no\r\n"), Some(Answer::No));
        assert_eq!(answer("d\n"), Some(Answer::NoneOfFile));
        assert_eq!((answer("?\n"), answer("\n"), answer("yn\n")), (None, None, None));
    }
}
