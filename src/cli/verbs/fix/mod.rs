//! `gpulint check --fix` writes the fixes of findings into files, and `--diff` prints them. Files are written once, at
//! the end.

mod chosen;
mod costs;
mod dialogue;
pub(in crate::cli) mod limit;
mod patch;

use std::fs;
use std::sync::Arc;

use crate::cli::args::CheckArguments;
use crate::cli::edits::fixes::{Fixes, Fixing};
use crate::cli::io::{file_tree, output};
use crate::cli::session::Session;
use crate::cli::session::judged::{JudgedTree, Texts};
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format};
use crate::rules::{Finding, Safety};
use crate::source::normalize;
use chosen::ChosenFindings;
use costs::Costs;
use patch::Patch;

pub(in crate::cli) fn run(arguments: &CheckArguments) -> Result<ExitStatus, Failure> {
    if arguments.input.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("gpulint cannot fix standard input").with_help("pass files or directories"));
    }
    let wanted = &arguments.fixing;
    if wanted.interactive {
        dialogue::demand_terminal()?;
    }
    let asked = (&arguments.selection, &arguments.threshold);
    let mut judge = |texts: &Texts| JudgedTree::with_texts(&arguments.input, asked, texts).map(Arc::new);
    let first = judge(&Texts::new())?;
    first.session.demand_whole_rules(&first.analysis)?;
    let chosen = ChosenFindings::new(wanted, &first)?;
    let before = Costs::of(&first);
    let limit = if wanted.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
    let mut fixing =
        Fixing { limit, is_wanted: &|it| chosen.wants(it), is_writable: &JudgedTree::is_writable, judge: &mut judge };
    let (work, state) = match wanted.interactive {
        true => dialogue::make(&mut fixing, first)?,
        false => Fixes::make(&mut fixing, first)?,
    };
    let summary = FixSummary { work: &work, state: &state, before: &before, chosen: &chosen, limit };
    if wanted.diff {
        Patch::of(&state, &work).print()?;
        summary.print("would be fixed");
        return Ok(if work.texts.is_empty() { state.session.outcome(&state.analysis) } else { ExitStatus::Failed });
    }
    let left_alone = work.save(&state.session)?;
    let report = state.session.report(&state.analysis, &state.findings);
    output::write(&arguments.output, Format::Text, |format, style| {
        report::render(format, &report, arguments.view.style(style))
    })?;
    summary.print("fixed");
    for (path, why) in &left_alone {
        output::complain(&format!("`{}` was not fixed: {why}", state.session.scope.paths.show(path)));
    }
    let failed = !left_alone.is_empty() || state.findings.iter().any(|decided| state.gate.stops(decided));
    Ok(if failed { ExitStatus::Failed } else { state.session.outcome(&state.analysis) })
}

impl Fixes {
    /// Writes the files, except read-only files and files that changed after they were read.
    fn save(&self, session: &Session) -> Result<Vec<(String, &'static str)>, Failure> {
        let mut left_alone = Vec::new();
        for (path, text) in &self.texts {
            if normalize(path).is_none() {
                return Err(Failure::new(format!(
                    "`{}` is outside the directories that gpulint may write",
                    session.scope.paths.show(path)
                )));
            }
            let place = file_tree::below(&session.scope.root, path);
            if fs::read(&place).ok().as_ref() != self.originals.get(path) {
                left_alone.push((path.clone(), "it changed while gpulint ran"));
                continue;
            }
            if fs::metadata(&place).is_ok_and(|it| it.permissions().readonly()) {
                left_alone.push((path.clone(), "it is read-only"));
                continue;
            }
            output::save(&place, &String::from_utf8_lossy(text))?;
        }
        Ok(left_alone)
    }
}

/// The fixes of a run, for the lines below the report.
struct FixSummary<'a> {
    work: &'a Fixes,
    state: &'a JudgedTree,
    before: &'a Costs,
    chosen: &'a ChosenFindings,
    limit: Safety,
}

impl FixSummary<'_> {
    /// Prints how many findings gpulint fixed, and why chosen ones are left.
    fn print(&self, verb: &str) {
        let (work, state) = (self.work, self.state);
        let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
        let left = state.findings.iter().filter(|decided| decided.counts()).count();
        let files = count(work.texts.len(), "file");
        let mut text = format!("{} {verb} in {files}, {left} left", count(work.fixed.len(), "finding"));
        text.push_str(&self.before.saved(&Costs::of(state), &work.cheaper));
        output::complain(&text);
        let mut has_chosen = false;
        for finding in state.counting().filter(|it| self.chosen.wants(&state.identity(it))) {
            has_chosen = true;
            if let Some(why) = self.why_left(finding) {
                let address = finding.address(&state.analysis.inventory).unwrap_or_default();
                output::complain(&report::one_line(&format!("  {} {address}: {why}", finding.rule)));
            }
        }
        if self.chosen.are_some() && !has_chosen && work.fixed.is_empty() {
            output::complain("  no finding matches --only and --address; `gpulint check` lists the findings");
        }
    }

    /// Returns the reason why a finding has no applied fix. Without a choice, findings whose rule has no fix, and unsafe
    /// fixes, get no reason: the report lists them.
    fn why_left<'f>(&'f self, finding: &'f Finding) -> Option<&'f str> {
        let given_up = self.work.given_up.get(&self.state.identity(finding)).map(String::as_str);
        let declined = finding.fix.as_ref().and_then(|fix| fix.declined.as_deref());
        let by_choice = || match finding.safety() {
            None => Some("the rule has no fix: follow the help of the finding"),
            Some(safety) if finding.edits.is_empty() || safety <= self.limit => None,
            Some(Safety::Display) => Some("gpulint only shows this fix, because only you know the right value"),
            Some(_) => Some("the fix changes how the workload runs: add --unsafe-fixes to apply it"),
        };
        given_up.or(declined).or_else(|| by_choice().filter(|_| self.chosen.are_some()))
    }
}
