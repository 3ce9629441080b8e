//! Lists the usage metrics of each resource. Rows without a resource are listed, too, so that they are visible.

use serde::Serialize;

use crate::inventory::{Key, Resource, ResourceId};
use crate::measured::MeasuredRow;
use crate::report::Report;

/// The metrics in JSON; missing if there is no metrics file.
#[derive(Serialize)]
pub(in crate::report) struct MeasuredUse<'a> {
    rows: usize,
    matched: Vec<Matched<'a>>,
    /// Rows that match no resource.
    unmatched: Vec<UnmatchedRow<'a>>,
    /// Resources without a usable measurement.
    unmeasured: Vec<Unmeasured<'a>>,
}

#[derive(Serialize)]
struct Matched<'a> {
    address: &'a str,
    run: Option<&'a str>,
    /// The measurement window, such as `14 days to 2026-11-21, 98% of the hours measured`; missing if the metrics are
    /// not usable.
    window: Option<&'a str>,
    rows: Vec<Place>,
}

#[derive(Serialize)]
struct Place {
    path: String,
    line: usize,
}

#[derive(Serialize)]
struct UnmatchedRow<'a> {
    path: String,
    line: usize,
    cluster: &'a str,
    namespace: &'a str,
    kind: &'a str,
    name: &'a str,
    gpu_hours: Option<f64>,
    reason: &'a str,
}

#[derive(Serialize)]
struct Unmeasured<'a> {
    address: &'a str,
    run: Option<&'a str>,
    reason: &'a str,
}

fn run_of(resource: &Resource) -> Option<&str> {
    resource.run.as_ref().map(|run| run.as_str())
}

pub(in crate::report) fn wire<'a>(report: &'a Report) -> Option<MeasuredUse<'a>> {
    let measured = report.measured;
    if measured.is_empty() {
        return None;
    }
    let place = |it: &MeasuredRow| {
        let at = report.paths.locate(report.sources, it.span);
        Place { path: at.path, line: at.line }
    };
    let matched = measured.matched.iter().filter_map(|(id, rows)| {
        let resource = report.resource(Some(*id))?;
        let rows = rows.iter().filter_map(|at| measured.rows.get(*at)).map(place).collect();
        let window = resource.text(Key::MeasuredWindow);
        Some(Matched { address: &resource.address, run: run_of(resource), window, rows })
    });
    let unmatched = measured.unmatched.iter().filter_map(|(at, reason)| {
        let it = measured.rows.get(*at)?;
        let Place { path, line } = place(it);
        let row = &it.row;
        let (cluster, namespace, kind, name) = (&row.cluster, &row.namespace, &row.kind, &row.name);
        Some(UnmatchedRow { path, line, cluster, namespace, kind, name, gpu_hours: row.gpu_hours, reason })
    });
    let unmeasured = measured.unmeasured.iter().filter_map(|(id, reason)| {
        let resource = report.resource(Some(*id))?;
        Some(Unmeasured { address: &resource.address, run: run_of(resource), reason })
    });
    Some(MeasuredUse {
        rows: measured.rows.len(),
        matched: matched.collect(),
        unmatched: unmatched.collect(),
        unmeasured: unmeasured.collect(),
    })
}

/// Returns the name of a resource in lists for people, and the rows that are used.
pub(in crate::report) fn listed<'a>(report: &'a Report) -> Vec<(&'a Resource, Option<&'a str>, Vec<&'a MeasuredRow>)> {
    let rows = |id: &ResourceId| {
        let places = report.measured.matched.get(id).into_iter().flatten();
        places.filter_map(|at| report.measured.rows.get(*at)).collect::<Vec<_>>()
    };
    let why = |id: &ResourceId| {
        let open = report.measured.unmeasured.iter();
        open.filter(|(other, _)| other == id).map(|(_, why)| why.as_str()).next()
    };
    let ids = report.measured.matched.keys().chain(report.measured.unmeasured.iter().map(|(id, _)| id));
    let mut ids: Vec<&ResourceId> = ids.collect();
    ids.sort();
    ids.dedup();
    ids.into_iter().filter_map(|id| Some((report.resource(Some(*id))?, why(id), rows(id)))).collect()
}
