//! `gpulint check --add-ignore`: writes suppression comments into files.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cli::args::CheckArguments;
use crate::cli::edits::ignores::{Acceptance, CommentPlace, IgnoreComment, Ignores};
use crate::cli::io::{file_tree, output};
use crate::cli::session::judged::{JudgedTree, Texts};
use crate::cli::{ExitStatus, Failure};
use crate::decide::FixedBy;
use crate::source::Date;

pub(in crate::cli) fn run(arguments: &CheckArguments, reason: &str) -> Result<ExitStatus, Failure> {
    let (until, reason) = last_day(reason);
    let reason = reason.trim().trim_start_matches("--").trim();
    if reason.is_empty() || reason.chars().any(char::is_control) {
        return Err(Failure::new("--add-ignore needs a reason in one line")
            .with_help("pass one, such as --add-ignore 'until=2027-01-31 migration planned'"));
    }
    if arguments.input.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("--add-ignore cannot write to standard input").with_help("pass files or directories"));
    }
    let asked = (&arguments.selection, &arguments.threshold);
    let mut judge = |texts: &Texts| JudgedTree::with_texts(&arguments.input, asked, texts).map(Arc::new);
    let before = judge(&Texts::new())?;
    before.session.demand_whole_rules(&before.analysis)?;
    let made = Ignores::make(&before, &Acceptance { reason, until }, &|_| true, &mut judge)?;
    for (path, text) in &made.texts {
        output::save(&file_tree::below(&before.session.scope.root, path), &String::from_utf8_lossy(text))?;
    }
    report_comments(&made.wishes, made.texts.len())?;
    let after = made.after;
    let failed = after.findings.iter().any(|decided| after.gate.stops(decided));
    Ok(if failed { ExitStatus::Failed } else { after.session.outcome(&after.analysis) })
}

/// Splits off `until=2027-01-31`, wherever it is in the reason.
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

fn report_comments(wishes: &[IgnoreComment], files: usize) -> Result<(), Failure> {
    let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let left: Vec<&IgnoreComment> = wishes.iter().filter(|wish| wish.place == CommentPlace::Nowhere).collect();
    let silenced = count(wishes.len() - left.len(), "finding");
    output::print(&format!("{silenced} suppressed in {}\n", count(files, "file")))?;
    let mut by_cause: BTreeMap<String, usize> = BTreeMap::new();
    for wish in left {
        let cause = match &wish.fixed {
            Some(FixedBy::Pack(pack)) => {
                format!("cannot be suppressed: the pack `{pack}` forbids it\n  help: ask the owners of the pack")
            }
            Some(FixedBy::Settings) => {
                "cannot be suppressed by a comment or a baseline, because gpulint.toml sets `ignorable = false`\n  help: add a \
                 [[suppress]] table to gpulint.toml"
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
