//! `gpulint report`: the review of one month.

use super::history::{empty, over_commits};
use crate::cli::args::{Commits, ReviewArguments, Since};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format, HistoryInterval, Month, Report};
use crate::source::Date;

/// The number of earlier months in the report's curve.
const MONTHS_BEFORE: usize = 12;

pub(in crate::cli) fn run(arguments: &ReviewArguments) -> Result<ExitStatus, Failure> {
    let session = Session::judging(&arguments.input, &arguments.selection)?;
    let today = session.policy.today;
    let month = arguments.month.unwrap_or_else(|| Month::of(today).before());
    if month.first() > today {
        return Err(Failure::new(format!("{month} has not started yet"))
            .with_help("pass an earlier month with --month, such as 2027-01"));
    }
    let commits =
        Commits { since: Some(Since::Day(a_year_before(month))), every: HistoryInterval::Commit, points: 500 };
    let Some(history) = over_commits(&arguments.input, &arguments.selection, &commits)? else {
        return Ok(empty(&arguments.input));
    };
    let (analysis, findings) = session.judge();
    let found = Report { title: arguments.output.title.as_deref(), ..session.report(&analysis, &findings) };
    let review = report::CostReview {
        month,
        report: &found,
        history: &history,
        url: arguments.url.clone(),
        files: arguments.files_url.clone(),
        is_summary: arguments.summary,
    };
    output::write(&arguments.output, Format::Text, |format, style| {
        report::review(format, &review, arguments.view.style(style))
    })?;
    session.demand_whole_rules(&analysis)?;
    Ok(session.outcome(&analysis))
}

fn a_year_before(month: Month) -> Date {
    (0..MONTHS_BEFORE).fold(month, |month, _| month.before()).first()
}
