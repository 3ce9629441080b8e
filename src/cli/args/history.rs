//! Arguments of the subcommands that read the commits of a repository.

use std::str::FromStr;

use clap::Args;

use super::input::InputArguments;
use super::judging::Selection;
use super::output::{Output, ViewArguments, page_url};
use crate::report::{HistoryInterval, Month, ReviewCommit};
use crate::source::{Date, days_from_civil, days_in_month};

#[derive(Debug, Args)]
pub(in crate::cli) struct HistoryArguments {
    #[command(flatten)]
    pub(in crate::cli) commits: Commits,
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
    #[command(flatten)]
    pub(in crate::cli) view: ViewArguments,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ReviewArguments {
    /// Report this month, such as 2027-01 [default: the last complete month]
    #[arg(long, value_name = "MONTH")]
    pub(in crate::cli) month: Option<Month>,
    /// Link the published page in the Slack or Teams message: https://HOST/PATH
    #[arg(long, value_name = "URL", value_parser = page_url)]
    pub(in crate::cli) url: Option<ReviewCommit>,
    /// Write only a few sentences, each with its evidence: the cost, the waste, the limit, the change, and what to do
    #[arg(long)]
    pub(in crate::cli) summary: bool,
    /// With --summary in Markdown: link to lines of the files at this address: https://HOST/OWNER/NAME/blob/COMMIT
    #[arg(long, value_name = "URL", value_parser = page_url, requires = "summary")]
    pub(in crate::cli) files_url: Option<ReviewCommit>,
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
    #[command(flatten)]
    pub(in crate::cli) view: ViewArguments,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct BlameArguments {
    /// Address of a resource, or a file or directory whose resources are reported [default: all resources]
    #[arg(value_name = "ADDRESS|FILE")]
    pub(in crate::cli) what: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) commits: Commits,
    #[command(flatten)]
    pub(in crate::cli) input: InputArguments,
    #[command(flatten)]
    pub(in crate::cli) selection: Selection,
    #[command(flatten)]
    pub(in crate::cli) view: ViewArguments,
    #[command(flatten)]
    pub(in crate::cli) output: Output,
}

/// The commits that a subcommand reads.
#[derive(Debug, Args)]
pub(in crate::cli) struct Commits {
    /// Start at this day or this long ago: 2027-01-31, 1y, 6mo, 2w or 30d [default: the first commit]
    #[arg(long, value_name = "DATE|AGE")]
    pub(in crate::cli) since: Option<Since>,
    /// Evaluate each commit, or the last commit of each day or week [default: commit]
    #[arg(long, value_name = "commit|day|week", value_parser = every, default_value = "commit", hide_default_value = true)]
    pub(in crate::cli) every: HistoryInterval,
    /// Evaluate at most about this many commits: first some over the whole period, then those between two that differ
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(2..))]
    pub(in crate::cli) points: u32,
}

fn every(name: &str) -> Result<HistoryInterval, String> {
    HistoryInterval::ALL
        .into_iter()
        .find(|it| it.name() == name)
        .ok_or_else(|| "expected commit, day or week".to_owned())
}

/// A day, given as a date or as an age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Since {
    Day(Date),
    Months(u32),
    Days(u32),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected a day such as 2027-01-31, or an age such as 1y, 6mo, 2w or 30d".to_owned();
        let end = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(end);
        if unit.starts_with('-') {
            return text.parse().map(Since::Day);
        }
        let number: u32 = number.parse().map_err(|_| wrong())?;
        let times = |by: u32| number.checked_mul(by).filter(|it| *it < 1_000_000).ok_or_else(wrong);
        match unit {
            "y" => times(12).map(Since::Months),
            "mo" => times(1).map(Since::Months),
            "w" => times(7).map(Since::Days),
            "d" => times(1).map(Since::Days),
            _ => Err(wrong()),
        }
    }
}

impl Since {
    /// Returns the day. If the age leads to a day that `Date` cannot hold, returns the first day that it can.
    pub(in crate::cli) fn day(self, today: Date) -> Date {
        let days = match self {
            Since::Day(day) => return day,
            Since::Days(days) => today.unix_days() - i64::from(days),
            Since::Months(months) => months_before(today, months),
        };
        Date::from_unix_days(days).unwrap_or_default()
    }
}

/// Returns the same day of an earlier month, or the last day of that month if it has no such day.
fn months_before(today: Date, months: u32) -> i64 {
    let (year, month, day) = crate::source::civil_from_days(today.unix_days());
    let all = year * 12 + month - 1 - i64::from(months);
    let (year, month) = (all.div_euclid(12), all.rem_euclid(12) + 1);
    days_from_civil(year, month, day.min(days_in_month(year, month)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_can_be_said_by_how_long_ago_it_was() {
        let today: Date = "2027-03-31".parse().unwrap();
        let day = |text: &str| text.parse::<Since>().map(|it| it.day(today).to_string());
        let said = ["1y", "1mo", "13mo", "2w", "31d", "2026-01-01", "0d"].map(|text| day(text).unwrap());
        let days = ["2026-03-31", "2027-02-28", "2026-02-28", "2027-03-17", "2027-02-28", "2026-01-01", "2027-03-31"];
        assert_eq!(said, days);
        for wrong in ["", "1", "y", "1x", "-1y", "99999999y", "2026-13-01", "1 y", "९d"] {
            assert!(day(wrong).is_err(), "{wrong}");
        }
    }
}
