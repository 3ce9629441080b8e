//! Writes one line for each point, and one line for each resource of `gpulint blame`.

use super::moment::moment;
use crate::catalog::MoneyRange;
use crate::report::formats::csv::text;
use crate::report::views::history::Blame;
use crate::report::{CostHistory, HistoryPoint, PointState, Snapshot};

const POINTS: &str = "time,commit,author,subject,tags,passed_over,state,reason,\
                      rented_floor_usd_per_month,rented_expected_usd_per_month,rented_ceiling_usd_per_month,\
                      requested_floor_usd_per_month,requested_expected_usd_per_month,requested_ceiling_usd_per_month,\
                      combined_floor_usd_per_month,combined_expected_usd_per_month,combined_ceiling_usd_per_month,\
                      accelerators_rented,accelerators_requested,findings,saves_usd_per_month,unpriced,not_judged,\
                      at_least\n";

pub(super) fn history(history: &CostHistory) -> String {
    let mut rows = POINTS.to_owned();
    for point in &history.points {
        rows.push_str(&row(point).join(","));
        rows.push('\n');
    }
    rows
}

fn row(point: &HistoryPoint) -> Vec<String> {
    let commit = &point.commit;
    let mut cells = vec![
        moment(commit.time),
        commit.id.clone(),
        text(&commit.author),
        text(&commit.subject),
        text(&commit.tags.join(" ")),
        point.passed_over.to_string(),
    ];
    match &point.state {
        PointState::Gap(why) => {
            cells.extend(["gap".to_owned(), text(why)]);
            // An empty cell means unknown, because zero would be a number.
            let known = POINTS.split(',').count();
            cells.resize(known, String::new());
        }
        PointState::Known(snapshot) => {
            cells.extend(["known".to_owned(), String::new()]);
            cells.extend(known(snapshot));
        }
    }
    cells
}

fn known(it: &Snapshot) -> Vec<String> {
    let mut cells = Vec::new();
    for range in [it.rented(), it.requested(), it.combined()] {
        cells.extend(dollars(Some(range.minimum())));
    }
    cells.extend([it.accelerators_rented.to_string(), it.accelerators_requested.to_string()]);
    cells.extend([it.finding_count().to_string(), it.saves.expected.usd().to_string()]);
    cells.extend([it.unpriced.to_string(), it.not_judged.len().to_string()]);
    // Marks a minimum, so that it does not look like a decrease.
    cells.push((!it.combined().is_whole()).to_string());
    cells
}

fn dollars(range: Option<MoneyRange>) -> [String; 3] {
    match range {
        Some(range) => [range.floor, range.expected, range.ceiling].map(|money| money.usd().to_string()),
        None => [const { String::new() }; 3],
    }
}

const RESOURCES: &str = "address,run,kind,path,role,machine,accelerator,\
                         floor_usd_per_month,expected_usd_per_month,ceiling_usd_per_month,\
                         since_time,since_commit,since_author,since_subject,since_delta_usd_per_month,since_between,\
                         added_time,added_commit,added_author,added_subject,added_between,\
                         since_merged_commit,since_merged_author,since_merged_subject,\
                         added_merged_commit,added_merged_author,added_merged_subject\n";

pub(super) fn blame(told: &[Blame<'_>]) -> String {
    let mut rows = RESOURCES.to_owned();
    for it in told {
        let holding = it.holding;
        let optional = |value: &Option<String>| text(value.as_deref().unwrap_or_default());
        let mut cells = vec![
            text(&holding.address),
            optional(&holding.run),
            text(&holding.kind),
            text(&holding.path),
            if holding.is_rented { "rented" } else { "requested" }.to_owned(),
            optional(&holding.machine),
            optional(&holding.accelerator),
        ];
        cells.extend(dollars(holding.monthly.map(|it| *it)));
        for (blamed, with_delta) in [(&it.since, true), (&it.added, false)] {
            let commit = blamed.as_ref().map(|it| it.commit);
            cells.push(commit.map(|it| moment(it.time)).unwrap_or_default());
            cells.push(commit.map(|it| it.id.clone()).unwrap_or_default());
            cells.push(commit.map(|it| text(&it.author)).unwrap_or_default());
            cells.push(commit.map(|it| text(&it.subject)).unwrap_or_default());
            if with_delta {
                cells.push(blamed.and_then(|it| it.delta).map(|it| it.usd().to_string()).unwrap_or_default());
            }
            cells.push(blamed.as_ref().map(|it| it.between.to_string()).unwrap_or_default());
        }
        for by in [&it.since, &it.added].map(|it| it.and_then(|it| it.by)) {
            cells.push(by.map(|it| it.id.clone()).unwrap_or_default());
            cells.push(by.map(|it| text(&it.author)).unwrap_or_default());
            cells.push(by.map(|it| text(&it.subject)).unwrap_or_default());
        }
        rows.push_str(&cells.join(","));
        rows.push('\n');
    }
    rows
}
