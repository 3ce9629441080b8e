//! `gpulint suppressions`: lists suppressions with their reasons and last days.

use crate::cli::args::{Selection, SuppressionsVerb};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format};

pub(in crate::cli) fn run(verb: &SuppressionsVerb) -> Result<ExitStatus, Failure> {
    let SuppressionsVerb::List { input, within, output } = verb;
    let session = Session::judging(input, &Selection::default())?;
    let (analysis, mut decision) = session.judge_all();
    if let Some(days) = within {
        decision.suppressions.retain(|it| it.until.is_some_and(|until| until.since(session.policy.today) <= *days));
    }
    decision.suppressions.sort_by_cached_key(|it| session.sources.locate(it.span));
    output::write(output, Format::Text, |format, _style| {
        report::suppressions(format, &session.sources, &session.scope.paths, &decision.suppressions)
    })?;
    session.demand_whole_rules(&analysis)?;
    Ok(session.outcome(&analysis))
}
