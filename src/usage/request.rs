//! The queries for a metrics server: one request per exporter and day. Their statistics add up over days and pods.
//!
//! Every request contains its evaluation time, so that the same days give the same answers. A day is [00:00, 24:00) in
//! UTC. The time is one millisecond before the end of the day, because only Prometheus before version 3 includes the
//! start of a range. No query joins series on the server, because a join silently drops series without a partner.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::table::{EXPORTERS, Exporter, Fills, Metric, MetricUnit, RESOURCES};
use crate::source::Date;

/// The number of points at which a query evaluates one day.
pub(super) const POINTS_A_DAY: f64 = 288.0;
const STEP: &str = "5m";

/// The utilization below which an accelerator is idle.
const IDLE: f64 = 0.02;

/// The label that identifies the statistic and the metric of a value.
pub(super) const STATISTIC: &str = "gpulint";

/// The requests for the owners of pods and the pools of nodes. The answers are label sets without samples.
pub(super) const OWNERS: &str = "owners";
pub(super) const NODES: &str = "nodes";
/// The requests for the available metrics and clusters.
pub(super) const NAMES: &str = "names";
pub(super) const CLUSTERS: &str = "clusters";

/// The names of one label on different servers. The first that is not empty counts. If the labels of the scrape
/// override those of the exporter, the workload is in labels that start with `exported_`.
pub(super) const NAMESPACE: &[&str] = &["exported_namespace", "namespace", "namespace_name", "pod_namespace"];
pub(super) const POD: &[&str] = &["exported_pod", "pod", "pod_name"];
pub(super) const CONTAINER: &[&str] = &["exported_container", "container", "container_name"];

/// The days to query, and the label that selects the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageWindow {
    pub from: Date,
    /// The end date, exclusive.
    pub to: Date,
    /// The label and the value that select the cluster.
    pub cluster: Option<(String, String)>,
}

impl UsageWindow {
    pub fn days(&self) -> impl Iterator<Item = Date> + use<> {
        (self.from.unix_days()..self.to.unix_days()).filter_map(Date::from_unix_days)
    }

    pub(super) fn label(&self) -> &str {
        self.cluster.as_ref().map_or("cluster", |(label, _)| label)
    }

    fn selector(&self) -> Option<String> {
        self.cluster.as_ref().map(|(label, value)| format!("{label}={}", quoted(value)))
    }
}

/// One request to a metrics server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRequest {
    /// The file name of the saved answer, such as `dcgm.2026-11-21`.
    pub name: String,
    pub method: &'static str,
    /// The path below the address of the server.
    pub path: &'static str,
    pub parameters: Vec<(&'static str, String)>,
}

/// Returns the requests for the available metrics and clusters.
pub(super) fn probe(window: &UsageWindow) -> Vec<UsageRequest> {
    let names: Vec<&str> = EXPORTERS.iter().flat_map(|it| it.metrics).map(|it| it.name).collect();
    let own = window.selector().map(|it| format!(",{it}")).unwrap_or_default();
    let all = format!("{{__name__=~\"{}\"{own}}}", names.join("|"));
    let meters = EXPORTERS.iter().filter(|it| it.is_meter()).flat_map(|it| it.metrics);
    let meters: Vec<&str> = meters.filter(|it| it.fills == Fills::Busy).map(|it| it.name).collect();
    let clusters = format!("{{__name__=~\"{}\"}}", meters.join("|"));
    let request = |name: &str, path: &'static str, matcher: String| UsageRequest {
        name: name.to_owned(),
        method: "GET",
        path,
        parameters: [vec![("match[]", matcher)], range(window)].concat(),
    };
    let mut requests = vec![request(NAMES, "api/v1/label/__name__/values", all)];
    if window.cluster.is_none() {
        requests.push(request(CLUSTERS, "api/v1/label/cluster/values", clusters));
    }
    requests
}

/// Returns the requests for all days, for the named exporters or for all, and only for the available metrics.
pub(super) fn of_days(
    window: &UsageWindow,
    exporters: &[String],
    there: Option<&BTreeSet<String>>,
) -> Vec<UsageRequest> {
    let chosen = |it: &&Exporter| exporters.is_empty() || exporters.iter().any(|name| name == it.name);
    let mut requests = Vec::new();
    for exporter in EXPORTERS.iter().filter(chosen) {
        let is_there = |it: &&Metric| there.is_none_or(|names| names.contains(it.name));
        let metrics: Vec<&Metric> = exporter.metrics.iter().filter(is_there).collect();
        if metrics.is_empty() {
            continue;
        }
        let query = query(window, exporter, &metrics);
        requests.extend(window.days().map(|day| UsageRequest {
            name: format!("{}.{day}", exporter.name),
            method: "POST",
            path: "api/v1/query",
            parameters: vec![("query", query.clone()), ("time", moment(day))],
        }));
    }
    requests
}

/// Returns the requests for the owners of all pods and for all nodes. They need no earlier answer.
pub(super) fn of_owners(window: &UsageWindow) -> Vec<UsageRequest> {
    let own = window.selector().map(|it| format!("{{{it}}}")).unwrap_or_default();
    let all = ["kube_pod_owner", "kube_replicaset_owner", "kube_job_owner", "kube_replicationcontroller_owner"];
    let mut matchers: Vec<String> = all.iter().map(|name| format!("{name}{own}")).collect();
    // This recording rule of kube-prometheus contains the workload of each pod.
    matchers.push(format!("namespace_workload_pod:kube_pod_owner:relabel{own}"));
    vec![series(OWNERS, window, matchers), of_nodes(window)]
}

pub(super) fn of_nodes(window: &UsageWindow) -> UsageRequest {
    let own = window.selector().map(|it| format!("{{{it}}}")).unwrap_or_default();
    series(NODES, window, vec![format!("kube_node_labels{own}")])
}

/// The most names in a regular expression. Servers reject longer queries.
const NAMES_A_MATCHER: usize = 100;

/// Returns matchers for the owners of these objects only.
pub(super) fn of_owned(window: &UsageWindow, owned: &BTreeSet<(&'static str, String, String)>) -> Vec<String> {
    let own = window.selector().map(|it| format!(",{it}")).unwrap_or_default();
    let mut matchers = Vec::new();
    for (metric, label) in OWNER_METRICS {
        let namespaces: BTreeSet<&String> = owned.iter().filter(|it| it.0 == *metric).map(|it| &it.1).collect();
        for namespace in namespaces {
            let all = owned.iter().filter(|it| it.0 == *metric && it.1 == *namespace);
            let names: Vec<String> = all.map(|it| escaped(&it.2)).collect();
            for some in names.chunks(NAMES_A_MATCHER) {
                let (namespace, names) = (quoted(namespace), quoted(&some.join("|")));
                matchers.push(format!("{metric}{{namespace={namespace},{label}=~{names}{own}}}"));
            }
        }
    }
    matchers
}

/// The label of each owner metric that names the owned object.
pub(super) const OWNER_METRICS: &[(&str, &str)] = &[
    ("kube_pod_owner", "pod"),
    ("kube_replicaset_owner", "replicaset"),
    ("kube_job_owner", "job_name"),
    ("kube_replicationcontroller_owner", "replicationcontroller"),
];

pub(super) fn series(name: &str, window: &UsageWindow, matchers: Vec<String>) -> UsageRequest {
    let matchers = matchers.into_iter().map(|it| ("match[]", it)).collect();
    UsageRequest {
        name: name.to_owned(),
        method: "POST",
        path: "api/v1/series",
        parameters: [matchers, range(window)].concat(),
    }
}

fn range(window: &UsageWindow) -> Vec<(&'static str, String)> {
    let last = Date::from_unix_days(window.to.unix_days() - 1).unwrap_or(window.to);
    vec![("start", (window.from.unix_days() * 86_400).to_string()), ("end", moment(last))]
}

fn moment(day: Date) -> String {
    format!("{}.999", (day.unix_days() + 1) * 86_400 - 1)
}

/// Returns a query for all statistics of an exporter as one vector. Series that were scraped twice differ only in
/// labels that the query drops, so they count once.
fn query(window: &UsageWindow, exporter: &Exporter, metrics: &[&Metric]) -> String {
    let mut labels = vec![STATISTIC, window.label()];
    if window.label() != "cluster" {
        labels.push("cluster");
    }
    if exporter.name == "gke" {
        labels.push("cluster_name");
    }
    labels.extend([NAMESPACE, POD, CONTAINER].concat());
    labels.extend(exporter.devices);
    labels.extend(exporter.about);
    let parts: Vec<String> = metrics.iter().flat_map(|it| statistics(window, exporter, it)).collect();
    format!("max by ({}) ({})", labels.join(", "), parts.join(" or "))
}

fn statistics(window: &UsageWindow, exporter: &Exporter, metric: &Metric) -> Vec<String> {
    let only = metric.only.replace("{resources}", RESOURCES);
    let conditions: Vec<String> = [only, window.selector().unwrap_or_default()].into_iter().collect();
    let conditions: Vec<&str> = conditions.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
    let m = match conditions.as_slice() {
        [] => metric.name.to_owned(),
        all => format!("{}{{{}}}", metric.name, all.join(",")),
    };
    let idle = if metric.unit == MetricUnit::Percent { IDLE * 100.0 } else { IDLE };
    let devices = [exporter.devices, &["cluster"]].concat().join(", ");
    let (sum, n, max) = (over("sum", &m), over("count", &m), over("max", &m));
    let all: Vec<(&str, String)> = match metric.fills {
        Fills::Busy => vec![
            ("sum", sum),
            ("n", n),
            ("max", max),
            ("points", format!("count_over_time({m}[1d:{STEP}])")),
            ("idle", format!("sum_over_time(({m} < bool {idle})[1d:{STEP}])")),
            ("device", format!("count_over_time((max by ({devices}) ({m}))[1d:{STEP}])")),
        ],
        Fills::Units | Fills::Tensor => vec![("sum", sum), ("n", n)],
        Fills::Memory | Fills::Running | Fills::Waiting | Fills::Cache => vec![("max", max)],
        Fills::Requests | Fills::Tokens | Fills::Preemptions => vec![("more", format!("increase({m}[1d])"))],
        Fills::Held => vec![
            ("max", max),
            ("points", format!("count_over_time({m}[1d:{STEP}])")),
            ("sum", format!("sum_over_time({m}[1d:{STEP}])")),
        ],
        Fills::Observer => vec![("points", format!("count_over_time((max by (cluster) ({m}))[1d:{STEP}])"))],
    };
    let told = |(statistic, expression): (&str, String)| {
        format!("label_replace({expression}, \"{STATISTIC}\", \"{statistic}:{}\", \"\", \"\")", metric.name)
    };
    all.into_iter().map(told).collect()
}

fn over(what: &str, metric: &str) -> String {
    format!("{what}_over_time({metric}[1d])")
}

/// Returns a PromQL string literal.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Escapes a name for a regular expression.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for letter in name.chars() {
        if !letter.is_alphanumeric() && letter != '-' && letter != '_' {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Formats each request as one line for people and shell scripts: name, method, path and body, separated by tabs.
pub(super) fn as_text(requests: &[UsageRequest]) -> String {
    let mut text = String::new();
    for it in requests {
        let _ = writeln!(text, "{}\t{}\t{}\t{}", it.name, it.method, it.path, form(&it.parameters));
    }
    text
}

/// Encodes parameters as a form body.
pub(super) fn form(parameters: &[(&'static str, String)]) -> String {
    let pairs: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{}={}", coded(name), coded(value))).collect();
    pairs.join("&")
}

fn coded(text: &str) -> String {
    let mut coded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => coded.push(char::from(byte)),
            _ => {
                let _ = write!(coded, "%{byte:02X}");
            }
        }
    }
    coded
}

pub(super) fn as_json(requests: &[UsageRequest]) -> String {
    let all: Vec<serde_json::Value> = requests
        .iter()
        .map(|it| {
            let values = |name: &str| -> Vec<&str> {
                it.parameters.iter().filter(|(key, _)| *key == name).map(|(_, value)| value.as_str()).collect()
            };
            let mut names: Vec<&str> = it.parameters.iter().map(|(name, _)| *name).collect();
            names.dedup();
            let parameters = names.iter().map(|name| match values(name).as_slice() {
                [one] if *name != "match[]" => ((*name).to_owned(), serde_json::json!(one)),
                several => ((*name).to_owned(), serde_json::json!(several)),
            });
            let parameters: serde_json::Map<String, serde_json::Value> = parameters.collect();
            serde_json::json!({
                "name": it.name, "file": format!("{}.json", it.name), "method": it.method, "path": it.path,
                "parameters": parameters, "body": form(&it.parameters),
            })
        })
        .collect();
    let document = serde_json::json!({ "version": 1, "requests": all });
    format!("{}\n", serde_json::to_string_pretty(&document).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window() -> UsageWindow {
        UsageWindow { from: "2026-11-08".parse().unwrap(), to: "2026-11-22".parse().unwrap(), cluster: None }
    }

    #[test]
    fn a_day_is_asked_for_a_millisecond_before_its_end() {
        let all = of_days(&window(), &["dcgm".to_owned()], None);
        assert_eq!(all.len(), 14);
        assert_eq!(all[13].name, "dcgm.2026-11-21");
        // `date -u -d 2026-11-22 +%s` prints 1795305600.
        assert_eq!(all[13].parameters[1], ("time", "1795305599.999".to_owned()));
        assert!(all[0].parameters[0].1.len() < 8_000, "VictoriaMetrics refuses long queries");
    }

    #[test]
    fn a_cluster_and_names_cannot_leave_their_quotes() {
        let mut window = window();
        window.cluster = Some(("cluster".to_owned(), "a\"} or b".to_owned()));
        let all = of_days(&window, &["vllm".to_owned()], None);
        assert!(all[0].parameters[0].1.contains(r#"{cluster="a\"} or b"}"#));
        let owned = BTreeSet::from([("kube_pod_owner", "ns".to_owned(), "a.b|c".to_owned())]);
        let expected = r#"kube_pod_owner{namespace="ns",pod=~"a\\.b\\|c",cluster="a\"} or b"}"#;
        assert_eq!(of_owned(&window, &owned), [expected]);
    }
}
