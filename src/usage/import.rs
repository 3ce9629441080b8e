//! Imports saved answers. The kind of each file follows from its content and its name.

use std::collections::BTreeMap;

use serde_json::Value;

use super::answer::{Answered, MeterAnswer, Sample};
use super::clouds;
use super::gather::{MeterDays, UsageReport};
use super::holder::label;
use super::peers;
use super::points::Points;
use super::request::STATISTIC;
use super::table;
use crate::catalog::Catalog;
use crate::measured::row::UsageRow;
use crate::source::Date;

/// The result of importing saved answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedAnswers {
    pub report: UsageReport,
    /// The number of files of each recognized kind.
    pub taken: BTreeMap<String, usize>,
}

/// Imports files by their names and bytes. `cluster` selects a cluster and is its name in the rows.
pub fn import(
    files: &[(String, Vec<u8>)],
    catalog: &Catalog,
    cluster: Option<&str>,
) -> Result<ImportedAnswers, String> {
    let (mut done, mut prometheus, mut points) = (ImportedAnswers::default(), Vec::new(), Points::default());
    let mut known: BTreeMap<&[u8], &str> = BTreeMap::new();
    let mut answered: BTreeMap<(String, Date), &str> = BTreeMap::new();
    for (name, text) in files {
        // The hours of a copied file must not count twice.
        if let Some(before) = known.insert(text, name) {
            done.report.notes.push(format!("skipped `{name}`: it has the same content as `{before}`"));
            continue;
        }
        let wrong = |why: String| format!("`{name}`: {why}");
        match MeterAnswer::read(text) {
            Ok(answer) if answer.is_of_prometheus() => {
                let (what, day) = what(name, &answer).map_err(wrong)?;
                let before = day.and_then(|day| answered.insert((what.clone(), day), name));
                if let Some(before) = before {
                    return Err(wrong(format!("`{before}` already contains {}", describe_import(&what, day))));
                }
                *done.taken.entry("answers of a Prometheus API".to_owned()).or_default() += 1;
                prometheus.push((what, day, answer));
            }
            Err(why) if why.is_final => return Err(wrong(why.message)),
            _ => {
                let taken = of_others(name, text, catalog, &mut points).map_err(wrong)?;
                *done.taken.entry(taken.to_owned()).or_default() += 1;
            }
        }
    }
    if !prometheus.is_empty() {
        let notes = std::mem::take(&mut done.report.notes);
        done.report = of_prometheus(prometheus, catalog, cluster)?;
        done.report.notes.extend(notes);
    }
    if points.refused > 0 {
        let what =
            format!("gpulint ignored {} values of clouds or tools that are not shares from 0 to 1", points.refused);
        done.report.incomplete.push(what);
    }
    done.report.incomplete.extend(std::mem::take(&mut points.incomplete));
    let others = points.rows(catalog).into_iter().map(|row| match cluster {
        Some(cluster) if row.cluster.is_empty() => UsageRow { cluster: cluster.to_owned(), ..row },
        _ => row,
    });
    done.report.rows.extend(others);
    Ok(done)
}

/// Imports a file of another tool, which gpulint recognizes by the shape of its content.
fn of_others(name: &str, text: &[u8], catalog: &Catalog, points: &mut Points) -> Result<&'static str, String> {
    let unknown = || {
        "gpulint does not recognize the format (known: Prometheus API, promtool, CloudWatch, Google Cloud Monitoring, Azure \
         Monitor, gpuaudit, OpenCost, sacct --json, kubectl get jobs -o json)"
            .to_owned()
    };
    let value: Value = serde_json::from_slice(text).map_err(|_| unknown())?;
    let read = clouds::read(name, &value, catalog, points).or_else(|| peers::read(&value, points));
    read.unwrap_or_else(|| Err(unknown()))
}

/// The name of the request that a file answers, and its day.
type Asked = (String, Option<Date>);

fn of_prometheus(
    mut answers: Vec<(String, Option<Date>, MeterAnswer)>,
    catalog: &Catalog,
    cluster: Option<&str>,
) -> Result<UsageReport, String> {
    let mut gathered = MeterDays::new(catalog, cluster.map(str::to_owned));
    let rank = |name: &str| table::EXPORTERS.iter().position(|it| it.name == name);
    answers.sort_by_key(|(name, day, _)| (rank(name), *day));
    for (name, _, answer) in &answers {
        let is_meter = table::exporter(name).is_some_and(table::Exporter::is_meter);
        if let (Answered::Samples(samples), true) = (&answer.said, is_meter) {
            gathered.see_clusters(samples);
        }
    }
    if let Some(why) = gathered.refusal() {
        return Err(format!("{why}; select one with --cluster"));
    }
    let days: Vec<Date> = answers.iter().filter_map(|(_, day, _)| *day).collect();
    let (Some(from), Some(last)) = (days.iter().min().copied(), days.iter().max().copied()) else {
        return Err("the files contain no answer for a day".to_owned());
    };
    for (name, day, answer) in &answers {
        if answer.is_partial {
            gathered.lacks(format!("{}: the server's answer is incomplete", describe_import(name, *day)));
        }
        gathered.take(name, *day, &answer.said)?;
    }
    if let Some(why) = gathered.refusal() {
        return Err(why);
    }
    let is_there =
        |name: &str, it: &MeterAnswer| name == "kube" && matches!(&it.said, Answered::Samples(all) if !all.is_empty());
    let has_pods = answers.iter().any(|(name, _, it)| is_there(name, it));
    let is_owner = |it: &MeterAnswer| match &it.said {
        Answered::Series(all) => all.iter().any(|labels| label(labels, "__name__") == "kube_pod_owner"),
        _ => false,
    };
    if has_pods && !answers.iter().any(|(.., it)| is_owner(it)) {
        gathered.lacks("owners of pods are missing, so the names of workloads are unknown".to_owned());
    }
    let to = Date::from_unix_days(last.unix_days() + 1).unwrap_or(last);
    Ok(gathered.report(from, to))
}

pub(super) fn describe_import(name: &str, day: Option<Date>) -> String {
    day.map_or_else(|| name.to_owned(), |day| format!("{name} of {day}"))
}

/// Returns the request that an answer belongs to. Samples identify it. For an empty answer, the file name does.
pub(super) fn what(file: &str, answer: &MeterAnswer) -> Result<Asked, String> {
    let named = named(file);
    match &answer.said {
        Answered::Samples(samples) => match (samples.first().and_then(exporter_and_day), named) {
            (Some((exporter, day)), Some((name, Some(named)))) if exporter != name || day != named => {
                Err(format!("the file name contains {name} of {named}, but the file contains {exporter} of {day}"))
            }
            (Some((exporter, day)), _) => Ok((exporter.to_owned(), Some(day))),
            (None, Some(named)) if samples.is_empty() => Ok(named),
            (None, _) if samples.is_empty() => {
                Err("it is empty, and its name is not the name of a query: save it as NAME.json, with a name that \
                     `gpulint usage queries` prints"
                    .to_owned())
            }
            (None, _) => Err("it does not answer any query of `gpulint usage queries`".to_owned()),
        },
        Answered::Series(_) => Ok(("owners".to_owned(), None)),
        Answered::Names(_) => Ok(("names".to_owned(), None)),
    }
}

/// Returns the exporter and the day of a sample.
fn exporter_and_day(sample: &Sample) -> Option<(&'static str, Date)> {
    let (_, metric) = label(&sample.labels, STATISTIC).split_once(':')?;
    let exporter = table::EXPORTERS.iter().find(|it| it.metric(metric).is_some())?;
    let days = (sample.at / 86_400.0).floor();
    let day = (0.0..4e6).contains(&days).then(|| Date::from_unix_days(days as i64))??;
    Some((exporter.name, day))
}

/// Reads a file name: `dcgm.2026-11-21.json` → dcgm, 2026-11-21
fn named(file: &str) -> Option<Asked> {
    let file = file.rsplit(['/', '\\']).next()?;
    let mut parts = file.split('.');
    let name = parts.next()?;
    if let Some(exporter) = table::exporter(name) {
        let day: Date = parts.next()?.parse().ok()?;
        return Some((exporter.name.to_owned(), Some(day)));
    }
    ["owners", "nodes", "names", "clusters"].contains(&name).then(|| (name.to_owned(), None))
}
