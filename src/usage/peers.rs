//! Reads saved output of gpuaudit, OpenCost, Slurm accounting and kubectl, which contains less than usage metrics.

use std::collections::BTreeSet;

use serde_json::Value;

use super::points::{FinishedRun, MetricTarget, Points, day, moment, number, text};
use super::table;
use crate::source::Date;

/// Reads a file of another tool and returns its kind. Returns `None` for any other file.
pub(super) fn read(value: &Value, points: &mut Points) -> Option<Result<&'static str, String>> {
    if let Some(all) = value.get("instances").and_then(Value::as_array).filter(|_| value.get("timestamp").is_some()) {
        return Some(gpuaudit(value, all, points).map(|()| "a scan of gpuaudit"));
    }
    if let Some(all) = value.get("data").and_then(Value::as_array).filter(|_| value.get("code").is_some()) {
        return Some(opencost(all, points).map(|()| "allocations of OpenCost"));
    }
    if let Some(all) = value.get("items").and_then(Value::as_array).filter(|_| text(value, "/kind").ends_with("List")) {
        return Some(kubernetes_jobs(all, points).map(|()| "jobs of Kubernetes (kubectl get jobs -o json)"));
    }
    let jobs = value.get("jobs").and_then(Value::as_array)?;
    let is_slurm = jobs.first().is_none_or(|it| it.get("tres").is_some());
    is_slurm.then(|| slurm(jobs, points).map(|()| "jobs of Slurm (sacct --json)"))
}

/// The number of days that gpuaudit covers (its source, 2026-11).
const GPUAUDIT_DAYS: i64 = 7;

/// The tags that name the group of a machine.
const GROUPS: [&str; 4] =
    ["eks:nodegroup-name", "karpenter.sh/nodepool", "aws:autoscaling:groupName", "aws:eks:nodegroup-name"];

fn gpuaudit(scan: &Value, all: &[Value], points: &mut Points) -> Result<(), String> {
    let to = scan.get("timestamp").and_then(moment).and_then(day).ok_or("the scan has no timestamp")?;
    for it in all {
        let (kind, name) = gpuaudit_name(it);
        let named = MetricTarget {
            cluster: text(it, "/cluster_name").to_owned(),
            kind,
            name,
            accelerator: text(it, "/gpu_model").to_owned(),
            ..MetricTarget::default()
        };
        let of = |key: &str| it.get(key).and_then(number);
        let Some(count) = of("gpu_count").filter(|it| *it > 0.0) else { continue };
        let uptime = of("uptime_hours").unwrap_or_default().min(GPUAUDIT_DAYS as f64 * 24.0);
        if uptime <= 0.0 {
            continue;
        }
        let days = (uptime / 24.0).ceil() as i64;
        let from = Date::from_unix_days(to.unix_days() - days).unwrap_or(to);
        points.hold(&named, "gpuaudit", (from, to), uptime * count);
        points.accelerators(&named, count);
        // For an endpoint, CloudWatch adds up all accelerators, and gpuaudit copies that sum.
        let is_sum = text(it, "/source").starts_with("sagemaker");
        if let Some(percent) = of("avg_gpu_utilization") {
            points.mean(&named, percent / if is_sum { 100.0 * count } else { 100.0 }, uptime * count);
        }
    }
    Ok(())
}

/// Returns the kind and the name without node names and instance ids.
fn gpuaudit_name(it: &Value) -> (String, String) {
    let tag = |name: &str| it.get("tags").and_then(|tags| tags.get(name)).and_then(Value::as_str);
    if let Some(group) = GROUPS.iter().find_map(|name| tag(name)) {
        return ("NodeGroup".to_owned(), group.to_owned());
    }
    let name = text(it, "/name");
    let is_own = !name.is_empty() && name != text(it, "/instance_id") && name != text(it, "/k8s_node_name");
    match (text(it, "/source"), is_own) {
        ("sagemaker-endpoint", true) => ("Endpoint".to_owned(), name.to_owned()),
        ("sagemaker-training", true) => ("TrainingJob".to_owned(), name.to_owned()),
        ("ec2", true) => ("Instance".to_owned(), name.to_owned()),
        ("k8s-node" | "eks", _) => ("Nodes".to_owned(), "(pool not known)".to_owned()),
        _ => ("Instance".to_owned(), "(name not known)".to_owned()),
    }
}

fn opencost(sets: &[Value], points: &mut Points) -> Result<(), String> {
    let mut windows: BTreeSet<(i64, i64)> = BTreeSet::new();
    for set in sets.iter().filter_map(Value::as_object) {
        let mut own = None;
        for it in set.values() {
            if let Some((start, end)) = allocation(it, points) {
                own = Some((start as i64, end as i64));
            }
        }
        windows.extend(own);
    }
    let ends = windows.iter().map(|(_, end)| *end);
    let overlap = windows.iter().skip(1).zip(ends).any(|((start, _), end)| *start < end);
    match overlap {
        true => Err("the time windows overlap: query with accumulate=true, or by day".to_owned()),
        false => Ok(()),
    }
}

/// Reads one allocation. Returns its window if it uses accelerators.
fn allocation(it: &Value, points: &mut Points) -> Option<(f64, f64)> {
    let of = |key: &str| it.get(key).and_then(number);
    let hours = of("gpuHours").filter(|it| *it > 0.0)?;
    let (start, end) = (moment(it.pointer("/window/start")?)?, moment(it.pointer("/window/end")?)?);
    let property = |key: &str| text(it, &format!("/properties/{key}")).to_owned();
    // Idle and unallocated capacity is not a workload.
    if text(it, "/name").contains("__") || property("controller").is_empty() {
        return Some((start, end));
    }
    let named = MetricTarget {
        cluster: property("cluster"),
        namespace: property("namespace"),
        kind: kind_of(&property("controllerKind")),
        name: property("controller"),
        container: property("container"),
        ..MetricTarget::default()
    };
    let (from, to) = (day(start)?, day(end - 1.0)?);
    let to = Date::from_unix_days(to.unix_days() + 1)?;
    points.hold(&named, "opencost:requests", (from, to), hours);
    // Only some versions divide the mean over several accelerators by their number. With one accelerator, it is
    // unambiguous.
    let at_once = of("minutes").filter(|it| *it > 0.0).map(|minutes| hours * 60.0 / minutes);
    let usage = it.pointer("/gpuAllocation/gpuUsageAverage").and_then(number).filter(|it| *it > 0.0);
    if let (Some(usage), true) = (usage, at_once.is_some_and(|it| it <= 1.01)) {
        points.mean(&named, usage, hours);
    }
    Some((start, end))
}

/// Restores the capitals of a kind, because OpenCost writes kinds in lower case.
fn kind_of(text: &str) -> String {
    let known = ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicaSet", "Rollout"];
    known.iter().find(|it| it.eq_ignore_ascii_case(text)).map_or(text, |it| it).to_owned()
}

fn slurm(jobs: &[Value], points: &mut Points) -> Result<(), String> {
    for job in jobs {
        let held = job.pointer("/tres/allocated").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let gpus: Vec<&Value> =
            held.iter().filter(|it| text(it, "/type") == "gres" && is_gpu(text(it, "/name"))).collect();
        // The entry `gpu` counts all kinds. Without it, only the entry of a kind has a count.
        let all = gpus.iter().find(|it| text(it, "/name") == "gpu").or(gpus.first());
        let Some(count) = all.and_then(|it| it.get("count")).and_then(number).filter(|it| *it > 0.0) else { continue };
        let kinds: BTreeSet<&str> = gpus.iter().filter_map(|it| text(it, "/name").strip_prefix("gpu:")).collect();
        let time = |key: &str| job.pointer(&format!("/time/{key}")).and_then(number).filter(|it| *it > 0.0);
        let (Some(start), Some(elapsed)) = (time("start"), time("elapsed")) else { continue };
        let Some((from, last)) = day(start).zip(day(start + elapsed - 1.0)) else { continue };
        let named = MetricTarget {
            cluster: text(job, "/cluster").to_owned(),
            kind: "Job".to_owned(),
            name: Some(text(job, "/name")).filter(|it| !it.is_empty()).unwrap_or("(without a name)").to_owned(),
            accelerator: if kinds.len() == 1 { kinds.first().map(|it| (*it).to_owned()) } else { None }
                .unwrap_or_default(),
            ..MetricTarget::default()
        };
        let to = Date::from_unix_days(last.unix_days() + 1).unwrap_or(last);
        let hours = count * elapsed / 3_600.0;
        points.hold(&named, "slurm:allocated", (from, to), hours);
        points.accelerators(&named, count);
        let state = job.pointer("/state/current");
        let states: Vec<&str> = match state {
            Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
            other => other.and_then(Value::as_str).into_iter().collect(),
        };
        if states.iter().any(|it| SLURM_UNFINISHED.contains(it)) {
            continue;
        }
        let has_failed = states.iter().any(|it| SLURM_FAILED.contains(it));
        // A run that waits for another one is not yet eligible.
        let asked = time("eligible").or_else(|| time("submission"));
        points.run(&named, FinishedRun { hours, has_failed, waited: asked.map(|asked| (start - asked) / 3_600.0) });
    }
    Ok(())
}

/// The states of runs that have not ended.
const SLURM_UNFINISHED: [&str; 5] = ["PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "REQUEUED"];

/// The states of runs whose work was lost. A user can cancel a run on purpose, so that state is not among them.
const SLURM_FAILED: [&str; 6] = ["FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"];

fn kubernetes_jobs(all: &[Value], points: &mut Points) -> Result<(), String> {
    let is_job = |it: &&Value| text(it, "/kind") == "Job" && text(it, "/apiVersion").starts_with("batch/");
    let jobs: Vec<&Value> = all.iter().filter(is_job).collect();
    if jobs.is_empty() {
        return Err("the list contains no Jobs: save the output of `kubectl get jobs -A -o json`".to_owned());
    }
    for job in jobs {
        kubernetes_job(job, points);
    }
    Ok(())
}

/// Reads a Job that has ended. The hours before a failure count for each of its pods.
fn kubernetes_job(job: &Value, points: &mut Points) {
    let count = requested(job);
    let time = |path: &str| job.pointer(path).and_then(moment);
    let conditions = job.pointer("/status/conditions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let failure = conditions.iter().find(|it| text(it, "/type") == "Failed" && text(it, "/status") == "True");
    let failed_at = failure.and_then(|it| it.get("lastTransitionTime")).and_then(moment);
    let (Some(start), Some(end)) = (time("/status/startTime"), time("/status/completionTime").or(failed_at)) else {
        return;
    };
    let Some((from, last)) = day(start).zip(day((end - 1.0).max(start))).filter(|_| count > 0.0 && end > start) else {
        return;
    };
    let owner = job.pointer("/metadata/ownerReferences/0");
    let owned = owner.map(|it| (text(it, "/kind"), text(it, "/name"))).filter(|(kind, _)| *kind == "CronJob");
    let (kind, name) = owned.unwrap_or(("Job", text(job, "/metadata/name")));
    let named = MetricTarget {
        namespace: text(job, "/metadata/namespace").to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        ..MetricTarget::default()
    };
    let pods = job.pointer("/spec/parallelism").and_then(number).unwrap_or(1.0);
    let hours = count * pods * (end - start) / 3_600.0;
    let to = Date::from_unix_days(last.unix_days() + 1).unwrap_or(last);
    points.hold(&named, "kubernetes:jobs", (from, to), hours);
    points.accelerators(&named, count);
    let waited = time("/metadata/creationTimestamp").map(|asked| (start - asked) / 3_600.0);
    points.run(&named, FinishedRun { hours, has_failed: failure.is_some(), waited });
}

/// Returns the accelerators that one pod of a Job requests.
fn requested(job: &Value) -> f64 {
    let containers = job.pointer("/spec/template/spec/containers").and_then(Value::as_array);
    let limits = containers.into_iter().flatten().filter_map(|it| it.pointer("/resources/limits")?.as_object());
    limits.flatten().filter(|(name, _)| table::is_accelerator(name)).filter_map(|(_, count)| number(count)).sum()
}

fn is_gpu(name: &str) -> bool {
    name == "gpu" || name.starts_with("gpu:")
}
