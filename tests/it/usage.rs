//! Tests the conversion of saved metrics, cloud answers and other tools' files to `gpulint-usage.csv`, including
//! invalid data.

use gpulint::catalog::Catalog;
use gpulint::measured::row::{UsageRow, write};
use gpulint::usage::{ImportedAnswers, import};
use serde_json::{Value, json};

pub(crate) const DAY: &str = "2026-11-21";
/// The last millisecond of the day.
const AT: f64 = 1_795_305_599.999;

const ENGINE: &str = "DCGM_FI_PROF_GR_ENGINE_ACTIVE";

pub(crate) fn sample(statistic: &str, metric: &str, labels: &Value, value: &str, back: i64) -> Value {
    let mut labels = labels.clone();
    labels["gpulint"] = json!(format!("{statistic}:{metric}"));
    json!({ "metric": labels, "value": [AT - 86_400.0 * back as f64, value] })
}

/// Returns all statistics of a device that existed for this many five-minute points.
pub(crate) fn device(metric: &str, labels: &Value, busy: f64, points: f64, back: i64) -> Vec<Value> {
    let factor = if metric == "DCGM_FI_DEV_GPU_UTIL" { 100.0 } else { 1.0 };
    let of = |statistic: &str, value: f64| sample(statistic, metric, labels, &value.to_string(), back);
    let whole: serde_json::Map<String, Value> = labels
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| ["UUID", "GPU_I_ID", "gpu", "Hostname", "hostname", "cluster"].contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    vec![
        of("sum", busy * points * 10.0 * factor),
        of("n", points * 10.0),
        of("max", busy * factor),
        of("points", points),
        of("idle", if busy < 0.02 { points } else { 0.0 }),
        sample("device", metric, &Value::Object(whole), &points.to_string(), back),
    ]
}

pub(crate) fn answer(samples: Vec<Value>) -> Vec<u8> {
    json!({ "status": "success", "data": { "resultType": "vector", "result": samples } }).to_string().into_bytes()
}

fn series(all: Value) -> Vec<u8> {
    json!({ "status": "success", "data": all }).to_string().into_bytes()
}

fn day(back: i64) -> String {
    format!("2026-11-{:02}", 21 - back)
}

fn file(name: &str, back: i64, samples: Vec<Value>) -> (String, Vec<u8>) {
    (format!("{name}.{}.json", day(back)), answer(samples))
}

/// Returns the labels of a device that `pod` of `team` uses, at index `at` of node n.
fn labels(at: usize, pod: &str) -> Value {
    let mut labels = json!({ "UUID": format!("GPU-{at}"), "gpu": at.to_string(), "Hostname": "node-secret",
                             "modelName": "NVIDIA H100 80GB HBM3" });
    if !pod.is_empty() {
        labels["namespace"] = json!("team");
        labels["pod"] = json!(pod);
        labels["container"] = json!("trainer");
    }
    labels
}

fn asked(pod: &str, gpus: f64, points: f64, back: i64) -> Vec<Value> {
    let metric = "kube_pod_container_resource_requests";
    let labels = json!({ "namespace": "team", "pod": pod, "container": "trainer", "resource": "nvidia_com_gpu",
                         "uid": pod, "node": "node-secret" });
    vec![
        sample("max", metric, &labels, &gpus.to_string(), back),
        sample("points", metric, &labels, &points.to_string(), back),
        sample("sum", metric, &labels, &(gpus * points).to_string(), back),
        sample("points", "kube_node_info", &json!({ "node": "node-secret" }), "288", back),
    ]
}

fn owners() -> (String, Vec<u8>) {
    let all = json!([
        { "__name__": "kube_pod_owner", "namespace": "team", "pod": "pod-secret-0", "owner_kind": "StatefulSet",
          "owner_name": "run", "owner_is_controller": "true" },
        { "__name__": "kube_pod_owner", "namespace": "team", "pod": "pod-secret-1", "owner_kind": "StatefulSet",
          "owner_name": "other", "owner_is_controller": "true" },
    ]);
    ("owners.json".to_owned(), series(all))
}

fn taken(files: &[(String, Vec<u8>)], cluster: Option<&str>) -> Result<ImportedAnswers, String> {
    import(files, &Catalog::embedded(), cluster)
}

fn row<'i>(done: &'i ImportedAnswers, name: &str) -> &'i UsageRow {
    let found = done.report.rows.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("no row of {name}: {}", write(&done.report.rows)))
}

/// Returns four GPUs that are busy all day, and a fifth without a pod.
fn busy(metric: &str, rename: impl Fn(&mut Value)) -> Vec<(String, Vec<u8>)> {
    let mut samples = Vec::new();
    for at in 0..5 {
        let mut labels = labels(at, if at < 4 { "pod-secret-0" } else { "" });
        rename(&mut labels);
        samples.extend(device(metric, &labels, if at < 4 { 1.0 } else { 0.0 }, 288.0, 0));
    }
    vec![file("dcgm", 0, samples), file("kube", 0, asked("pod-secret-0", 4.0, 288.0, 0)), owners()]
}

#[test]
fn four_busy_devices_read_one_and_their_hours_add_up() {
    let done = taken(&busy(ENGINE, |_| {}), None).unwrap();
    let run = row(&done, "run");
    assert_eq!((&*run.kind, &*run.namespace, &*run.accelerator), ("StatefulSet", "team", "H100-80GB"));
    assert_eq!((run.busy, run.gpus, run.gpu_hours, run.coverage), (Some(1.0), Some(4.0), Some(96.0), Some(1.0)));
    assert_eq!(done.report.hours, [120.0, 96.0, 24.0]);
    let nodes = row(&done, "(pool not known)");
    assert_eq!((nodes.gpu_hours, nodes.unallocated), (Some(120.0), Some(0.2)));
    assert!(done.report.incomplete.is_empty(), "{:?}", done.report.incomplete);
}

#[test]
fn no_name_of_a_pod_or_a_node_is_written() {
    let text = write(&taken(&busy(ENGINE, |_| {}), None).unwrap().report.rows);
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn generations_of_an_exporter_say_the_same() {
    let rename = |labels: &mut Value| {
        let host = labels.as_object_mut().unwrap().remove("Hostname").unwrap();
        labels["hostname"] = host;
    };
    let old = write(&taken(&busy(ENGINE, |_| {}), None).unwrap().report.rows);
    assert_eq!(write(&taken(&busy(ENGINE, rename), None).unwrap().report.rows), old);
    assert_eq!(write(&taken(&busy("DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", rename), None).unwrap().report.rows), old);
    let util = write(&taken(&busy("DCGM_FI_DEV_GPU_UTIL", |_| {}), None).unwrap().report.rows);
    assert_eq!(util, old.replace("GR_ENGINE_ACTIVE", "GPU_UTIL"));
}

#[test]
fn labels_that_the_scrape_moved_are_found() {
    let plain = write(&taken(&busy(ENGINE, |_| {}), None).unwrap().report.rows);
    let exported = busy(ENGINE, |labels| {
        for name in ["namespace", "pod", "container"] {
            if let Some(value) = labels.as_object_mut().unwrap().remove(name) {
                labels[format!("exported_{name}")] = value;
            }
            labels[name] = json!("exporter-of-its-own");
        }
    });
    assert_eq!(write(&taken(&exported, None).unwrap().report.rows), plain);
}

#[test]
fn the_exporters_own_pod_is_no_workload() {
    let own = |labels: &mut Value| labels["pod"] = json!("nvidia-dcgm-exporter-x2x7k");
    let why = taken(&busy(ENGINE, own), None).unwrap_err();
    assert!(why.contains("contain the exporter's own pod"), "{why}");
    let unknown = |labels: &mut Value| labels["pod"] = json!("a-pod-that-asks-for-nothing");
    assert!(taken(&busy(ENGINE, unknown), None).unwrap_err().contains("own pod"));
}

#[test]
fn clusters_are_never_added() {
    let mut samples = Vec::new();
    for (at, cluster) in ["dev", "prod"].iter().enumerate() {
        let mut labels = labels(at, &format!("pod-secret-{at}"));
        labels["cluster"] = json!(cluster);
        samples.extend(device(ENGINE, &labels, 0.5, 288.0, 0));
    }
    let files = [file("dcgm", 0, samples), owners()];
    let why = taken(&files, None).unwrap_err();
    assert!(why.contains("several clusters") && why.contains("dev, prod") && why.contains("--cluster"), "{why}");
    let done = taken(&files, Some("prod")).unwrap();
    assert_eq!(done.report.hours[0], 24.0);
    assert!(done.report.rows.iter().all(|it| it.cluster == "prod" && it.name != "run"));
    assert!(taken(&files, Some("nowhere")).is_err());
}

#[test]
fn what_is_scraped_twice_counts_once() {
    let once = labels(0, "pod-secret-0");
    let mut twice = once.clone();
    twice["pod"] = json!("dcgm-exporter-a");
    twice["exported_pod"] = json!("pod-secret-0");
    twice["exported_namespace"] = json!("team");
    twice["exported_container"] = json!("trainer");
    let samples = [device(ENGINE, &once, 0.5, 288.0, 0), device(ENGINE, &twice, 0.5, 288.0, 0)].concat();
    let done = taken(&[file("dcgm", 0, samples), owners()], None).unwrap();
    let run = row(&done, "run");
    assert_eq!((run.gpu_hours, run.busy, run.shared), (Some(24.0), Some(0.5), None));
}

#[test]
fn a_device_that_several_share_is_said_to_be_shared_and_its_hours_are_divided() {
    let samples = [
        device(ENGINE, &labels(0, "pod-secret-0"), 0.9, 288.0, 0),
        device(ENGINE, &labels(0, "pod-secret-1"), 0.9, 288.0, 0),
    ]
    .concat();
    let done = taken(&[file("dcgm", 0, samples), owners()], None).unwrap();
    for name in ["run", "other"] {
        assert_eq!((row(&done, name).shared, row(&done, name).gpu_hours), (Some(1.0), Some(12.0)), "{name}");
    }
    assert_eq!(done.report.hours, [24.0, 24.0, 0.0]);
    // Consecutive use is not sharing.
    let half = |pod: &str| device(ENGINE, &labels(0, pod), 0.9, 144.0, 0);
    let mut samples = [half("pod-secret-0"), half("pod-secret-1")].concat();
    samples.retain(|it| it["metric"]["gpulint"] != format!("device:{ENGINE}"));
    samples.extend(device(ENGINE, &labels(0, "pod-secret-0"), 0.9, 288.0, 0).pop());
    let done = taken(&[file("dcgm", 0, samples), owners()], None).unwrap();
    assert_eq!((row(&done, "run").shared, row(&done, "run").gpu_hours), (None, Some(12.0)));
}

#[test]
fn parts_of_a_device_count_and_the_device_beside_them_does_not() {
    let mut part = labels(0, "pod-secret-0");
    part["modelName"] = json!("NVIDIA A100-SXM4-40GB");
    let mut whole = part.clone();
    for name in ["namespace", "pod", "container"] {
        whole.as_object_mut().unwrap().remove(name);
    }
    part["GPU_I_ID"] = json!("1");
    part["GPU_I_PROFILE"] = json!("1g.5gb");
    let util = device("DCGM_FI_DEV_GPU_UTIL", &part, 0.0, 288.0, 0);
    let samples = [device(ENGINE, &part, 0.75, 288.0, 0), device(ENGINE, &whole, 0.1, 288.0, 0), util].concat();
    let done = taken(&[file("dcgm", 0, samples), owners()], None).unwrap();
    let run = row(&done, "run");
    assert_eq!(
        (run.busy, run.gpus, &*run.source),
        (Some(0.75), Some(1.0), "dcgm:GR_ENGINE_ACTIVE (days only: no kube-state-metrics)")
    );
    assert!((run.gpu_hours.unwrap() - 24.0 / 7.0).abs() < 1e-9, "{:?}", run.gpu_hours);
    assert_eq!(run.note, "MIG 1g.5gb");
}

#[test]
fn a_percentage_under_the_name_of_a_ratio_is_one() {
    let util = "DCGM_FI_DEV_GPU_UTIL_RATIO";
    let percent = |busy: f64| device(util, &labels(0, "pod-secret-0"), busy, 288.0, 0);
    let done = taken(&[file("dcgm", 0, percent(40.0)), owners()], None).unwrap();
    let run = row(&done, "run");
    assert_eq!((run.busy, run.busy_max, run.idle), (Some(0.4), Some(0.4), None));
    assert!(done.report.notes[0].contains("contains percentages"), "{:?}", done.report.notes);
    // Whole percents of which none is above one look like a ratio of zeros and ones.
    let done = taken(&[file("dcgm", 0, percent(1.0)), owners()], None).unwrap();
    assert!(!done.report.has_measured(), "{}", write(&done.report.rows));
    let done = taken(&[file("dcgm", 0, percent(1e9)), owners()], None).unwrap();
    assert!(!done.report.has_measured() && !done.report.incomplete.is_empty());
}

#[test]
fn what_is_missing_is_empty_and_said() {
    let of = |back: i64| device(ENGINE, &labels(0, "pod-secret-0"), 0.5, 288.0, back);
    let kube = |back: i64| file("kube", back, asked("pod-secret-0", 1.0, 288.0, back));
    let none = file("dcgm", 1, Vec::new());
    let files = [file("dcgm", 0, of(0)), none, file("dcgm", 2, of(2)), kube(0), kube(1), kube(2), owners()];
    let done = taken(&files, None).unwrap();
    let run = row(&done, "run");
    assert_eq!((run.days, run.gpu_hours, run.memory_peak_gib), (Some(2.0), Some(48.0), None));
    assert!((run.coverage.unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(done.report.incomplete, ["dcgm: 1 of 3 days have no samples (2026-11-20)"]);
    // No pod requested GPUs on that day, and the metrics were available.
    let quiet = sample("points", "kube_node_info", &json!({}), "288", 1);
    let files = [file("dcgm", 0, of(0)), file("dcgm", 1, Vec::new()), kube(0), file("kube", 1, vec![quiet]), owners()];
    assert!(taken(&files, None).unwrap().report.incomplete.is_empty());
    // A file that was not saved is a missing day.
    let files = [file("dcgm", 0, of(0)), file("dcgm", 2, of(2)), owners()];
    assert_eq!(taken(&files, None).unwrap().report.incomplete.len(), 1);
}

#[test]
fn a_server_that_left_something_out_is_not_believed_as_a_whole() {
    for cut in [json!({ "warnings": ["some stores are down"] }), json!({ "isPartial": true })] {
        let mut files = busy(ENGINE, |_| {});
        let mut said: Value = serde_json::from_slice(&files[0].1).unwrap();
        said.as_object_mut().unwrap().extend(cut.as_object().unwrap().clone());
        files[0].1 = said.to_string().into_bytes();
        let done = taken(&files, None).unwrap();
        assert_eq!(done.report.incomplete, ["dcgm of 2026-11-21: the server's answer is incomplete"]);
    }
}

#[test]
fn values_that_no_meter_means_are_left_out_and_said() {
    for wrong in ["NaN", "+Inf", "-Inf", "-1", "1e400"] {
        let mut samples = device(ENGINE, &labels(0, "pod-secret-0"), 0.5, 288.0, 0);
        samples[0] = sample("sum", ENGINE, &labels(0, "pod-secret-0"), wrong, 0);
        let done = taken(&[file("dcgm", 0, samples), owners()], None).unwrap();
        let run = row(&done, "run");
        assert_eq!((run.busy, run.busy_max), (None, Some(0.5)), "{wrong}");
        assert!(done.report.incomplete[0].contains("1 impossible values"), "{:?}", done.report.incomplete);
    }
}

#[test]
fn a_file_whose_name_and_content_disagree_is_refused() {
    let good = busy(ENGINE, |_| {});
    let wrong = [("dcgm.2026-11-20.json".to_owned(), good[0].1.clone())];
    assert!(taken(&wrong, None).unwrap_err().contains("the file name contains dcgm of 2026-11-20"));
    let empty = [("answer.json".to_owned(), answer(Vec::new()))];
    assert!(taken(&empty, None).unwrap_err().contains("its name is not the name of a query"));
    for other in ["{}", "[1]", "<html>", "{\"status\":\"error\",\"errorType\":\"timeout\",\"error\":\"too slow\"}"] {
        assert!(taken(&[("x.json".to_owned(), other.as_bytes().to_vec())], None).is_err(), "{other}");
    }
}

#[test]
fn requests_of_a_server_are_those_of_its_workload() {
    let vllm = |pod: &str, statistic: &str, metric: &str, value: &str| {
        let labels = json!({ "namespace": "team", "pod": pod, "model_name": "m", "engine": "0" });
        sample(statistic, metric, &labels, value, 0)
    };
    let served = vec![
        vllm("pod-secret-0", "more", "vllm:request_success_total", "86400"),
        vllm("pod-secret-0", "more", "vllm:generation_tokens_total", "8640000"),
        vllm("pod-secret-0", "max", "vllm:num_requests_running", "6"),
        vllm("pod-secret-0", "max", "vllm:num_requests_waiting", "0"),
        vllm("pod-secret-0", "max", "vllm:gpu_cache_usage_perc", "0.11"),
    ];
    let mut files = busy(ENGINE, |_| {});
    files.push(file("vllm", 0, served));
    let done = taken(&files, None).unwrap();
    let run = row(&done, "run");
    assert_eq!((run.requests_per_s, run.tokens_per_s), (Some(1.0), Some(100.0)));
    assert_eq!(
        (run.running_max, run.waiting_max, run.kv_peak, run.preemptions),
        (Some(6.0), Some(0.0), Some(0.11), None)
    );
}

fn of_others(name: &str, value: &Value) -> Result<ImportedAnswers, String> {
    taken(&[(name.to_owned(), value.to_string().into_bytes())], Some("prod"))
}

#[test]
fn answers_of_cloudwatch_are_read() {
    let times = json!(["2026-11-21T00:00:00+00:00", "2026-11-21T01:00:00+00:00"]);
    let result = |label: &str, values: Value| json!({ "Label": label, "Timestamps": times, "Values": values, "StatusCode": "Complete" });
    let answer = json!({ "MetricDataResults": [
        result("kind=Endpoint name=llm metric=GPUUtilization stat=Average machine=ml.g5.12xlarge", json!([200.0, 100.0])),
        result("kind=NodeGroup name=gpu metric=nvidia_smi_utilization_gpu stat=Average gpus=8 accelerator=H100", json!([50.0, 0.0])),
    ]});
    let done = of_others("x.json", &answer).unwrap();
    let llm = row(&done, "llm");
    assert_eq!((llm.busy, llm.gpus, llm.gpu_hours, &*llm.accelerator), (Some(0.375), Some(4.0), Some(8.0), "A10G"));
    assert_eq!(
        (row(&done, "gpu").busy, row(&done, "gpu").gpu_hours, row(&done, "gpu").idle),
        (Some(0.25), Some(16.0), None)
    );
    let wrong = |label: &str| {
        of_others("x.json", &json!({ "MetricDataResults": [result(label, json!([1.0, 1.0]))] })).unwrap_err()
    };
    assert!(wrong("kind=Endpoint name=llm metric=GPUUtilization").contains("a sum over the accelerators"));
    assert!(wrong("GPUUtilization").contains("give each query a label"));
    assert!(!wrong("kind=Instance name=i-0123456789abcdef0 metric=nvidia_smi_utilization_gpu").contains("0123456789"));
    let points = json!([{ "Timestamp": "2026-11-21T00:00:00Z", "Average": 40.0, "Maximum": 90.0, "Unit": "Percent" },
                        { "Timestamp": "2026-11-21T01:00:00Z", "Average": 20.0, "Maximum": 30.0, "Unit": "Percent" }]);
    let done =
        of_others("kind=Endpoint name=llm gpus=1.json", &json!({ "Label": "GPUUtilization", "Datapoints": points }))
            .unwrap();
    assert_eq!((row(&done, "llm").busy, row(&done, "llm").busy_max), (Some(0.3), Some(0.9)));
}

#[test]
fn answers_of_google_and_azure_are_read() {
    let point = |hour: &str, value: i64| {
        json!({ "interval": { "endTime": format!("2026-11-21T{hour}:00:00Z") },
                                                 "value": { "int64Value": value.to_string() } })
    };
    let google = json!({ "timeSeries": [{
        "metric": { "type": "kubernetes.io/container/accelerator/duty_cycle",
                    "labels": { "model": "nvidia-l4", "accelerator_id": "a" } },
        "resource": { "type": "k8s_container", "labels": { "cluster_name": "prod", "namespace_name": "team",
                      "pod_name": "web-secret", "container_name": "server", "project_id": "project-secret" } },
        "metadata": { "systemLabels": { "top_level_controller_type": "Deployment", "top_level_controller_name": "web" } },
        "points": [point("02", 40), point("01", 20)] }] });
    let done = of_others("x.json", &google).unwrap();
    let web = row(&done, "web");
    assert_eq!((web.busy, web.gpus, web.gpu_hours, &*web.accelerator), (Some(0.3), Some(1.0), Some(2.0), "L4"));
    assert!(!write(&done.report.rows).contains("secret"));
    let azure = json!({ "interval": "PT1H", "value": [{ "name": { "value": "GpuUtilizationPercentage" },
        "id": "/subscriptions/account-secret/resourceGroups/r/providers/Microsoft.MachineLearningServices/workspaces/w/onlineEndpoints/llm/deployments/blue/providers/x",
        "timeseries": [{ "data": [{ "timeStamp": "2026-11-21T00:00:00Z", "average": 10.0, "maximum": 60.0 },
                                  { "timeStamp": "2026-11-21T01:00:00Z", "average": 30.0 }] }] }] });
    let done = of_others("x.json", &azure).unwrap();
    assert_eq!((row(&done, "llm").busy, row(&done, "llm").busy_max), (Some(0.2), Some(0.6)));
    assert!(!write(&done.report.rows).contains("secret"));
    let rows = json!([{ "ClusterName": "aks", "Namespace": "team", "ControllerKind": "Deployment", "ControllerName": "web",
                        "ContainerName": "server", "GpuModel": "Tesla T4", "Gpus": "1", "Average": "12.5", "Maximum": "50",
                        "TimeGenerated": "2026-11-21T00:00:00Z" }]);
    assert_eq!(row(&of_others("x.json", &rows).unwrap(), "web").busy, Some(0.125));
}

#[test]
fn what_other_tools_saved_is_read_and_no_more_is_made_of_it() {
    let scan = json!({ "timestamp": "2026-11-22T10:00:00Z", "account_id": "123456789012", "instances": [
        { "instance_id": "i-secret", "source": "sagemaker-endpoint", "name": "llm", "gpu_model": "A10G", "gpu_count": 4,
          "uptime_hours": 1000.0, "avg_gpu_utilization": 200.0 },
        { "instance_id": "i-secret", "source": "k8s-node", "name": "node-secret", "gpu_model": "H100", "gpu_count": 8,
          "cluster_name": "prod", "uptime_hours": 24.0, "tags": { "eks:nodegroup-name": "gpu" } },
        { "instance_id": "i-secret", "source": "k8s-node", "name": "node-secret", "gpu_model": "H100", "gpu_count": 8, "uptime_hours": 5.0 },
    ]});
    let done = of_others("x.json", &scan).unwrap();
    assert_eq!((row(&done, "llm").busy, row(&done, "llm").gpu_hours), (Some(0.5), Some(672.0)));
    assert_eq!((row(&done, "gpu").busy, row(&done, "gpu").gpu_hours), (None, Some(192.0)));
    let text = write(&done.report.rows);
    assert!(!text.contains("secret") && !text.contains("123456789012"), "{text}");

    let allocation = |name: &str, hours: f64, usage: f64| {
        json!({ "name": name, "minutes": 1440.0, "gpuHours": hours,
        "window": { "start": "2026-11-21T00:00:00Z", "end": "2026-11-22T00:00:00Z" },
        "properties": { "cluster": "prod", "namespace": "team", "controllerKind": "deployment", "controller": name },
        "gpuAllocation": { "gpuUsageAverage": usage } })
    };
    let opencost = json!({ "code": 200, "data": [{ "a": allocation("one", 24.0, 0.5), "b": allocation("four", 96.0, 0.25),
                                                   "c": allocation("__idle__", 24.0, 0.0) }] });
    let done = of_others("x.json", &opencost).unwrap();
    assert_eq!((row(&done, "one").busy, row(&done, "four").busy), (Some(0.5), None));
    assert_eq!((row(&done, "four").gpu_hours, done.report.rows.len()), (Some(96.0), 2));

    let slurm = json!({ "jobs": [{ "name": "train", "user": "person-secret", "account": "account-secret", "cluster": "hpc",
        "time": { "start": 1_795_219_200, "elapsed": 7200 },
        "tres": { "allocated": [{ "type": "gres", "name": "gpu", "count": 8 }, { "type": "gres", "name": "gpu:h100", "count": 8 }] } }] });
    let done = of_others("x.json", &slurm).unwrap();
    let train = row(&done, "train");
    assert_eq!(
        (train.gpu_hours, train.gpus, &*train.accelerator, train.busy),
        (Some(16.0), Some(8.0), "H100-80GB", None)
    );
    assert!(!write(&done.report.rows).contains("secret"));
}
