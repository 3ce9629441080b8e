//! `gpulint limit`: the most that a month can cost, the proof, and the limits that keep a month within an amount.

use std::sync::Arc;

use super::Fixes;
use super::patch::Patch;
use crate::catalog::Money;
use crate::cli::args::{FailOnChoice, InputArguments, LimitArguments, Selection};
use crate::cli::edits::fixes::Fixing;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::session::judged::{Identity, JudgedTree, Texts};
use crate::cli::{ExitStatus, Failure};
use crate::pricing::new_limits;
use crate::report::{self, Format, Report};
use crate::rules::{MAXIMUM, Safety};

pub(in crate::cli) fn run(arguments: &LimitArguments) -> Result<ExitStatus, Failure> {
    if let Some(most) = arguments.monthly {
        return write(arguments, most);
    }
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    let report = Report { title: arguments.output.title.as_deref(), ..session.report(&analysis, &[]) };
    output::write(&arguments.output, Format::Text, |format, style| report::limits(format, &report, style))?;
    Ok(session.outcome(&analysis))
}

fn write(arguments: &LimitArguments, most: Money) -> Result<ExitStatus, Failure> {
    if arguments.input.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("gpulint cannot limit standard input").with_help("pass files or directories"));
    }
    let input = InputArguments { limit: Some(most), ..arguments.input.clone() };
    let (selection, threshold) = (Selection::default(), FailOnChoice::default());
    let mut judge = |texts: &Texts| JudgedTree::with_texts(&input, (&selection, &threshold), texts).map(Arc::new);
    let first = judge(&Texts::new())?;
    demand_possible(&first, most)?;
    let is_limit = |(rule, ..): &Identity| rule == MAXIMUM;
    let mut fixing = Fixing {
        limit: Safety::Unsafe,
        is_wanted: &is_limit,
        is_writable: &JudgedTree::is_writable,
        judge: &mut judge,
    };
    let (fixes, state) = Fixes::make(&mut fixing, first)?;
    let mut left_alone = Vec::new();
    if arguments.fix {
        left_alone = fixes.save(&state.session)?;
    } else {
        Patch::of(&state, &fixes).print()?;
    }
    for (path, why) in &left_alone {
        output::complain(&format!("`{}` was not changed: {why}", state.session.scope.paths.show(path)));
    }
    for finding in state.counting().filter(|it| it.rule == MAXIMUM) {
        let given_up = fixes.given_up.get(&state.identity(finding)).map(String::as_str);
        let declined = finding.fix.as_ref().and_then(|fix| fix.declined.as_deref());
        if let (Some(address), Some(why)) = (finding.address(&state.analysis.inventory), given_up.or(declined)) {
            output::complain(&report::one_line(&format!("no limit for {address}: {why}")));
        }
    }
    let report = state.session.report(&state.analysis, &[]);
    let worst = state.analysis.bill.worst.as_ref().and_then(crate::pricing::WorstMonth::most);
    let verb = if arguments.fix { "now" } else { "with this patch" };
    output::complain(&format!("{verb}: {}", report::worst_month(&report)));
    let holds = worst.is_some_and(|worst| worst <= most) && left_alone.is_empty();
    Ok(if holds { state.session.outcome(&state.analysis) } else { ExitStatus::Failed })
}

/// Refuses an amount below the cost of everything at its expected number.
fn demand_possible(state: &JudgedTree, most: Money) -> Result<(), Failure> {
    let currency = state.session.settings.pricing.currency;
    let least = new_limits(&state.analysis.inventory, &state.analysis.bill, most).least;
    if least <= most {
        return Ok(());
    }
    let (least, asked) = (currency.amount(least), currency.amount(most));
    Err(Failure::new(format!("the files already need up to {least}/month, so no limit keeps them within {asked}"))
        .with_help(format!("use smaller or fewer machines first (`gpulint check`), or pass at least {least}")))
}
