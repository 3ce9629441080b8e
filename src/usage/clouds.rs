//! Reads saved answers of cloud monitoring services: CloudWatch, Google Cloud Monitoring, Azure Monitor.
//!
//! Each machine is identified by its own name or by its group's name. gpulint rejects an answer that has only an id,
//! or adds it up without a name.

use serde_json::Value;

use super::holder::Holder;
use super::owners::{self, Owners};
use super::points::{MetricSample, MetricTarget, Points, moment, number, period, text};
use crate::catalog::{AWS, Catalog};

/// The cloud metrics of utilization in percent. The flag marks metrics that add up all accelerators of a machine.
const BUSY: &[(&str, &str, bool)] = &[
    ("nvidia_smi_utilization_gpu", "cwagent:GPU_UTIL", false),
    // The maximum is 100 times the number of accelerators (re:Post and SageMaker's guide, 2026-11).
    ("GPUUtilization", "sagemaker:GPU_UTIL", true),
    ("container_gpu_utilization", "container-insights:GPU_UTIL", false),
    ("pod_gpu_utilization", "container-insights:GPU_UTIL", false),
    ("node_gpu_utilization", "container-insights:GPU_UTIL", false),
    ("container_neuroncore_utilization", "container-insights:NEURONCORE", false),
    ("kubernetes.io/container/accelerator/duty_cycle", "gke:DUTY_CYCLE", false),
    ("kubernetes.io/container/accelerator/tensorcore_utilization", "gke:TENSORCORE", false),
    // The agent multiplies a ratio by 100 (its receiver of NVML, 2026-11).
    ("agent.googleapis.com/gpu/utilization", "ops-agent:GPU_UTIL", false),
    ("GpuUtilizationPercentage", "azure-ml:GPU_UTIL", false),
    ("GpuUtilization", "azure-ml:GPU_UTIL", false),
    ("containerGpuDutyCycle", "aks:DUTY_CYCLE", false),
];

/// The cloud metrics of used memory, in bytes.
const MEMORY: &[&str] = &["kubernetes.io/container/accelerator/memory_used"];

/// Reads an answer of a cloud and returns what kind of answer it is. Returns `None` for any other file.
pub(super) fn read(
    file: &str,
    value: &Value,
    catalog: &Catalog,
    points: &mut Points,
) -> Option<Result<&'static str, String>> {
    if let Some(results) = value.get("MetricDataResults").and_then(Value::as_array) {
        let said = results.iter().try_for_each(|it| cloudwatch(it, value, catalog, points));
        return Some(said.map(|()| "answers of CloudWatch (get-metric-data)"));
    }
    if let (Some(label), Some(all)) = (value.get("Label").and_then(Value::as_str), value.get("Datapoints")) {
        let all = all.as_array().map_or(&[][..], Vec::as_slice);
        return Some(
            statistics(file, label, all, catalog, points).map(|()| "answers of CloudWatch (get-metric-statistics)"),
        );
    }
    if let Some(series) = value.get("timeSeries").and_then(Value::as_array) {
        if !text(value, "/nextPageToken").is_empty() {
            points.incomplete.insert("Google Cloud Monitoring: the next page of the answer is missing".to_owned());
        }
        let said = series.iter().try_for_each(|it| google(it, points));
        return Some(said.map(|()| "answers of Google Cloud Monitoring"));
    }
    if let Some(metrics) = value.get("value").and_then(Value::as_array).filter(|_| value.get("interval").is_some()) {
        let said = metrics.iter().try_for_each(|it| azure(it, points));
        return Some(said.map(|()| "answers of Azure Monitor (metrics list)"));
    }
    let rows = value.as_array()?;
    let is_row = |it: &Value| it.get("ControllerName").is_some() && it.get("Average").is_some();
    if rows.first().is_some_and(is_row) {
        let said = rows.iter().try_for_each(|it| insights(it, points));
        return Some(said.map(|()| "rows of Azure Log Analytics"));
    }
    None
}

/// The parts of a label such as `kind=Endpoint name=llm metric=GPUUtilization stat=Average gpus=4`.
#[derive(Debug, Default)]
struct Words {
    named: MetricTarget,
    metric: String,
    is_most: bool,
    accelerators: Option<f64>,
    period: Option<f64>,
}

impl Words {
    fn read(said: &str, catalog: &Catalog) -> Result<Words, String> {
        let mut words = Words::default();
        for word in said.split([' ', ',']) {
            let Some((key, value)) = word.split_once('=') else { continue };
            let value = value.to_owned();
            match key {
                "cluster" => words.named.cluster = value,
                "namespace" => words.named.namespace = value,
                "kind" => words.named.kind = value,
                "name" => words.named.name = value,
                "container" => words.named.container = value,
                "accelerator" => words.named.accelerator = value,
                "metric" => words.metric = value,
                "stat" => words.is_most = matches!(value.as_str(), "Maximum" | "max"),
                "gpus" => words.accelerators = value.parse().ok().filter(|it| (1.0..=1e4).contains(it)),
                "period" => words.period = value.parse().ok().filter(|it| (1.0..=86_400.0).contains(it)),
                "machine" => {
                    let machine = catalog.machine(AWS, &value);
                    let machine = machine.ok_or_else(|| format!("unknown machine type `{value}`"))?;
                    words.accelerators = Some(machine.count);
                    words.named.accelerator = machine.accelerator.into_owned();
                }
                _ => {}
            }
        }
        if words.named.kind.is_empty() || words.named.name.is_empty() {
            return Err("CloudWatch answers contain no resource name: give each query a label such as \
                        \"kind=NodeGroup name=gpu-h100 metric=nvidia_smi_utilization_gpu stat=Average gpus=8\""
                .to_owned());
        }
        is_no_id(&words.named.name)?;
        Ok(words)
    }
}

/// Rejects instance ids and account numbers: ids do not last, and account numbers are private.
fn is_no_id(name: &str) -> Result<(), String> {
    let is_instance =
        name.strip_prefix("i-").is_some_and(|it| it.len() >= 8 && it.bytes().all(|b| b.is_ascii_hexdigit()));
    let is_account = name.len() == 12 && name.bytes().all(|it| it.is_ascii_digit());
    match is_instance || is_account || name.starts_with("arn:") {
        true => Err("the name is an id: use the name of the machine or its group".to_owned()),
        false => Ok(()),
    }
}

fn metric(name: &str) -> Result<(&'static str, bool), String> {
    let found = BUSY.iter().find(|(known, ..)| *known == name);
    found.map(|(_, source, is_sum)| (*source, *is_sum)).ok_or_else(|| {
        let known: Vec<&str> = BUSY.iter().map(|(known, ..)| *known).collect();
        format!("unknown accelerator metric; use one of {}", known.join(", "))
    })
}

fn cloudwatch(result: &Value, whole: &Value, catalog: &Catalog, points: &mut Points) -> Result<(), String> {
    let words = Words::read(text(result, "/Label"), catalog)?;
    if text(result, "/StatusCode") == "PartialData" || !text(whole, "/NextToken").is_empty() {
        points.incomplete.insert("CloudWatch: an answer is incomplete".to_owned());
    }
    let list = |key: &str| result.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let moments: Vec<Option<f64>> = list("Timestamps").iter().map(moment).collect();
    let values: Vec<Option<f64>> = list("Values").iter().map(number).collect();
    let pairs: Vec<(f64, f64)> = moments.into_iter().zip(values).filter_map(|(at, value)| at.zip(value)).collect();
    percents(&words, &pairs, points)
}

fn statistics(file: &str, label: &str, all: &[Value], catalog: &Catalog, points: &mut Points) -> Result<(), String> {
    // The answer contains only the metric, so the file name must identify the resource.
    let file = file.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".json");
    let mut words = Words::read(file, catalog).map_err(|_| {
        "an answer of get-metric-statistics contains no resource name: save it with a file name such as \"kind=Endpoint name=llm gpus=4.json\""
            .to_owned()
    })?;
    if words.metric.is_empty() {
        label.clone_into(&mut words.metric);
    }
    for (key, is_most) in [("Average", false), ("Maximum", true)] {
        words.is_most = is_most;
        let pair = |it: &Value| moment(it.get("Timestamp")?).zip(number(it.get(key)?));
        let pairs: Vec<(f64, f64)> = all.iter().filter_map(pair).collect();
        percents(&words, &pairs, points)?;
    }
    Ok(())
}

fn percents(words: &Words, pairs: &[(f64, f64)], points: &mut Points) -> Result<(), String> {
    let (source, is_sum) = metric(&words.metric)?;
    let moments: Vec<f64> = pairs.iter().map(|(at, _)| *at).collect();
    let Some(seconds) = words.period.or_else(|| period(&moments)) else {
        return match pairs.is_empty() {
            true => Ok(()),
            false => Err("the period of a single point is unknown: add period=3600 to its label".to_owned()),
        };
    };
    if is_sum && words.accelerators.is_none() {
        return Err(
            "GPUUtilization is a sum over the accelerators of an instance: add gpus=4, or machine=ml.g5.12xlarge, to \
                    its label"
                .to_owned(),
        );
    }
    let accelerators = words.accelerators.unwrap_or(1.0);
    let divisor = if is_sum { 100.0 * accelerators } else { 100.0 };
    for (at, value) in pairs {
        let point =
            MetricSample { source, at: *at, seconds, accelerators, value: value / divisor, is_most: words.is_most };
        points.add(&words.named, point);
    }
    if let Some(count) = words.accelerators {
        points.accelerators(&words.named, count);
    }
    Ok(())
}

fn google(series: &Value, points: &mut Points) -> Result<(), String> {
    let label = |path: &str| text(series, path).to_owned();
    let name = text(series, "/metric/type");
    let model = label("/metric/labels/model");
    let resource = |key: &str| label(&format!("/resource/labels/{key}"));
    let system = |key: &str| label(&format!("/metadata/systemLabels/{key}"));
    let (namespace, pod) = (resource("namespace_name"), resource("pod_name"));
    let (kind, owner) = match (system("top_level_controller_type"), system("top_level_controller_name")) {
        (kind, owner) if !kind.is_empty() && !owner.is_empty() => (kind, owner),
        _ if !pod.is_empty() => Owners::default().of(&Holder { pod: pod.clone(), ..Holder::default() }),
        // If the query did not ask for machine names, the answer contains only the machine's id.
        _ => (
            "Instance".to_owned(),
            Some(system("name")).filter(|it| !it.is_empty()).unwrap_or_else(|| "(name not known)".to_owned()),
        ),
    };
    is_no_id(&owner)?;
    let container = resource("container_name");
    let named =
        MetricTarget { cluster: resource("cluster_name"), namespace, kind, name: owner, container, accelerator: model };
    let list = series.get("points").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let value = |it: &Value| ["doubleValue", "int64Value"].iter().find_map(|key| number(it.get("value")?.get(*key)?));
    let all: Vec<(f64, f64)> =
        list.iter().filter_map(|it| moment(it.pointer("/interval/endTime")?).zip(value(it))).collect();
    if MEMORY.contains(&name) {
        all.iter().for_each(|(_, bytes)| points.memory(&named, bytes / f64::from(1 << 30)));
        return Ok(());
    }
    let (source, _) = metric(name)?;
    let moments: Vec<f64> = all.iter().map(|(at, _)| *at).collect();
    let seconds = period(&moments).unwrap_or(60.0);
    let holder = if pod.is_empty() { resource("instance_id") } else { pod };
    let device =
        [label("/metric/labels/accelerator_id"), label("/metric/labels/uuid"), label("/metric/labels/gpu_number")];
    points.device(&named, &holder, &device.concat());
    for (at, value) in all {
        // An hour that ends at midnight belongs to the day before.
        let point = MetricSample {
            source,
            at: at - seconds.min(60.0),
            seconds,
            accelerators: 1.0,
            value: value / 100.0,
            is_most: false,
        };
        points.add(&named, point);
    }
    Ok(())
}

fn azure(of: &Value, points: &mut Points) -> Result<(), String> {
    let (source, _) = metric(text(of, "/name/value"))?;
    let parts: Vec<&str> = text(of, "/id").split('/').collect();
    let after = |kind: &str| {
        let at = parts.iter().position(|it| it.eq_ignore_ascii_case(kind))?;
        parts.get(at + 1).map(|it| (*it).to_owned())
    };
    let endpoint = after("onlineEndpoints").map(|name| ("Endpoint", name));
    let (kind, name) = endpoint
        .or_else(|| Some(("Machine", after("virtualMachines")?)))
        .or_else(|| Some(("Machine", after("workspaces")?)))
        .ok_or("gpulint cannot find the name of a metric's resource")?;
    for series in of.get("timeseries").and_then(Value::as_array).into_iter().flatten() {
        let named = MetricTarget { kind: kind.to_owned(), name: name.clone(), ..MetricTarget::default() };
        let data = series.get("data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let moments: Vec<f64> = data.iter().filter_map(|it| moment(it.get("timeStamp")?)).collect();
        let seconds = period(&moments).unwrap_or(3_600.0);
        for (key, is_most) in [("average", false), ("maximum", true)] {
            let pair = |it: &Value| moment(it.get("timeStamp")?).zip(number(it.get(key)?));
            for (at, value) in data.iter().filter_map(pair) {
                points.add(
                    &named,
                    MetricSample { source, at, seconds, accelerators: 1.0, value: value / 100.0, is_most },
                );
            }
        }
    }
    Ok(())
}

/// Reads one row of the query in gpulint's documentation: one hour of one container.
fn insights(row: &Value, points: &mut Points) -> Result<(), String> {
    let own = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (kind, name) = match (own("ControllerKind"), own("ControllerName")) {
        (kind, name) if !kind.is_empty() && !name.is_empty() => owners::above(kind, name),
        _ => ("Unknown".to_owned(), "(owner not known)".to_owned()),
    };
    let named = MetricTarget {
        cluster: own("ClusterName"),
        namespace: own("Namespace"),
        kind,
        name,
        container: own("ContainerName"),
        accelerator: own("GpuModel"),
    };
    let of = |key: &str| row.get(key).and_then(number);
    let at = row.get("TimeGenerated").and_then(moment).ok_or("a row has no TimeGenerated")?;
    let accelerators = of("Gpus").filter(|it| *it > 0.0).unwrap_or(1.0);
    let point = |value: f64, is_most| MetricSample {
        source: "aks:DUTY_CYCLE",
        at,
        seconds: 3_600.0,
        accelerators,
        value: value / 100.0,
        is_most,
    };
    let mean = of("Average").ok_or("a row has no Average")?;
    points.add(&named, point(mean, false));
    if let Some(most) = of("Maximum") {
        points.add(&named, point(most, true));
    }
    Ok(())
}
