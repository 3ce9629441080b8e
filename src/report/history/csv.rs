//! Writes one line for each point, and one line for each resource of `gpulint blame`.

use super::moment::moment;
use crate::report::views::history::Blame;
use crate::report::views::table::{Cell, ConstColumns, columns, csv};
use crate::report::{CostHistory, HistoryPoint, PointState};

const POINTS: &ConstColumns<dyn Fn(&&HistoryPoint) -> Cell> = &columns![
    "time" => |it| moment(it.commit.time),
    "commit" => |it| &it.commit.id,
    "author" => |it| &it.commit.author,
    "subject" => |it| &it.commit.subject,
    "tags" => |it| it.commit.tags.join(" "),
    "passed_over" => |it| it.passed_over,
    "state" => |it| if it.snapshot().is_some() { "known" } else { "gap" },
    "reason" => |it| match &it.state {
        PointState::Gap(why) => Some(why),
        PointState::Known(_) => None,
    },
    "rented_floor_usd_per_month" => |it| it.snapshot().map(|it| it.rented().minimum().floor),
    "rented_expected_usd_per_month" => |it| it.snapshot().map(|it| it.rented().minimum().expected),
    "rented_ceiling_usd_per_month" => |it| it.snapshot().map(|it| it.rented().minimum().ceiling),
    "requested_floor_usd_per_month" => |it| it.snapshot().map(|it| it.requested().minimum().floor),
    "requested_expected_usd_per_month" => |it| it.snapshot().map(|it| it.requested().minimum().expected),
    "requested_ceiling_usd_per_month" => |it| it.snapshot().map(|it| it.requested().minimum().ceiling),
    "combined_floor_usd_per_month" => |it| it.snapshot().map(|it| it.combined().minimum().floor),
    "combined_expected_usd_per_month" => |it| it.snapshot().map(|it| it.combined().minimum().expected),
    "combined_ceiling_usd_per_month" => |it| it.snapshot().map(|it| it.combined().minimum().ceiling),
    "accelerators_rented" => |it| it.snapshot().map(|it| it.accelerators_rented),
    "accelerators_requested" => |it| it.snapshot().map(|it| it.accelerators_requested),
    "findings" => |it| it.snapshot().map(|it| it.finding_count()),
    "saves_usd_per_month" => |it| it.snapshot().map(|it| it.saves.expected),
    "unpriced" => |it| it.snapshot().map(|it| it.unpriced),
    "not_judged" => |it| it.snapshot().map(|it| it.not_judged.len()),
    // Marks a minimum, so that it does not look like a decrease.
    "at_least" => |it| it.snapshot().map(|it| !it.combined().is_whole()),
];

pub(super) fn history(history: &CostHistory) -> String {
    csv(POINTS, &history.points)
}

const RESOURCES: &ConstColumns<dyn Fn(&&Blame<'_>) -> Cell> = &columns![
    "address" => |it| &it.holding.address,
    "run" => |it| it.holding.run.as_ref(),
    "kind" => |it| &it.holding.kind,
    "path" => |it| &it.holding.path,
    "role" => |it| if it.holding.is_rented { "rented" } else { "requested" },
    "machine" => |it| it.holding.machine.as_ref(),
    "accelerator" => |it| it.holding.accelerator.as_ref(),
    "floor_usd_per_month" => |it| it.holding.monthly.map(|it| it.floor),
    "expected_usd_per_month" => |it| it.holding.monthly.map(|it| it.expected),
    "ceiling_usd_per_month" => |it| it.holding.monthly.map(|it| it.ceiling),
    "since_time" => |it| it.since.map(|it| moment(it.commit.time)),
    "since_commit" => |it| it.since.map(|it| &it.commit.id),
    "since_author" => |it| it.since.map(|it| &it.commit.author),
    "since_subject" => |it| it.since.map(|it| &it.commit.subject),
    "since_delta_usd_per_month" => |it| it.since.and_then(|it| it.delta),
    "since_between" => |it| it.since.map(|it| it.between),
    "added_time" => |it| it.added.map(|it| moment(it.commit.time)),
    "added_commit" => |it| it.added.map(|it| &it.commit.id),
    "added_author" => |it| it.added.map(|it| &it.commit.author),
    "added_subject" => |it| it.added.map(|it| &it.commit.subject),
    "added_between" => |it| it.added.map(|it| it.between),
    "since_merged_commit" => |it| it.since.and_then(|it| it.by).map(|it| &it.id),
    "since_merged_author" => |it| it.since.and_then(|it| it.by).map(|it| &it.author),
    "since_merged_subject" => |it| it.since.and_then(|it| it.by).map(|it| &it.subject),
    "added_merged_commit" => |it| it.added.and_then(|it| it.by).map(|it| &it.id),
    "added_merged_author" => |it| it.added.and_then(|it| it.by).map(|it| &it.author),
    "added_merged_subject" => |it| it.added.and_then(|it| it.by).map(|it| &it.subject),
];

pub(super) fn blame(told: &[Blame<'_>]) -> String {
    csv(RESOURCES, told)
}
