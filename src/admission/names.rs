//! Defines the names of rules in a cluster: parts of the object, its pods, and facts of a resource.

use std::cell::Cell;

use crate::AnalysisSettings;
use crate::kubernetes::{LONGEST_ANNOTATION, LabelMeaning, cluster_pool};
use crate::languages::cel::{ServerNames, ServerRecord, ServerValue, quoted};
use crate::rules::{APPLICATION_LABELS, LooksAt, end_named, is_fact_of_resource};

use super::containers;
use super::kinds::ServerKind;
use super::labels::{NodeConditions, conditions_of_pod};
use super::pods::{KindPods, PodVariables};
use super::pools::PoolVariables;
use super::tables::CatalogTables;
use super::variables::PolicyVariables;

/// The names that a rule can use, for the kinds of the rule.
pub(super) struct PolicyNames<'a> {
    pub(super) looks_at: LooksAt,
    pub(super) kinds: &'a [ServerKind],
    pub(super) settings: &'a AnalysisSettings,
    pub(super) variables: &'a PolicyVariables,
    /// Whether the rule reads the pod of a resource. gpulint knows it only if the pod requests its accelerators.
    pub(super) reads_pod: Cell<bool>,
}

type Meaning = Result<ServerValue, String>;

fn optional(path: impl Into<String>) -> Meaning {
    Ok(ServerValue::Optional(path.into()))
}

fn record(kind: &'static str, of: &str, number: Option<&'static str>) -> ServerValue {
    ServerValue::Record(ServerRecord { kind, of: of.to_owned(), within: String::new(), number })
}

impl ServerNames for PolicyNames<'_> {
    fn name(&self, name: &str) -> Option<Meaning> {
        let is_object = self.looks_at == LooksAt::Object;
        Some(match name {
            "object" => Ok(ServerValue::Plain("object".to_owned())),
            "kind" => optional("object.?kind"),
            "name" if is_object => optional("object.?metadata.?name"),
            "in_namespace" => optional("object.?metadata.?namespace"),
            "address" => Ok(ServerValue::Plain(
                "(object.kind + '/' + (object.?metadata.?namespace.hasValue() ? object.metadata.namespace + '/' : '') + \
                 object.metadata.name)"
                    .to_owned(),
            )),
            "application" => optional(self.first_label(&APPLICATION_LABELS)),
            "pods" if is_object => self.pods(),
            "resource" if !is_object => Ok(record("resource", "object", None)),
            _ if !is_object => return missing(name).map(Err).or_else(|| self.fact(name)),
            _ => return missing(name).map(Err),
        })
    }

    fn field(&self, record: &ServerRecord, field: &str) -> Meaning {
        match record.kind {
            "resource" => self.name(field).unwrap_or_else(|| Err(format!("the API server does not know `{field}`"))),
            "pod" => containers::field_of_pod(record, field),
            "container" => containers::field_of_container(record, field),
            "security" => containers::field_of_security(record, field),
            "node_labels" => containers::field_of_node_labels(record, field),
            "labels" => optional(self.label(field)),
            "count" => Ok(ServerValue::Possible(record.of.clone())),
            "bill" if field == "hourly" => Ok(self::record("hourly", "object", Some("expected"))),
            "hourly" => self.hourly(field),
            _ => Err(format!("the API server does not know `{}.{field}`", record.kind)),
        }
    }
}

impl PolicyNames<'_> {
    /// Returns the condition that gpulint judges the object as a resource: its pods use accelerators, and their number is
    /// not zero.
    pub(super) fn is_resource(&self) -> Result<String, String> {
        if self.is_of_pools() {
            let tables = self.tables();
            return Ok(format!("{}.size() > 0", self.pool(&tables)?.rented()));
        }
        let pods = KindPods::of(self.kinds)?;
        let pod = PodVariables { variables: self.variables, pods: &pods };
        let uses = match self.reads_pod.get() {
            true => format!("{}.size() > 0", pod.devices()?),
            false => pod.uses_accelerators()?,
        };
        Ok(match pod.count() {
            Ok(count) => format!("{uses} && !{count}.exists(n, n == 0.0)"),
            Err(_) => uses,
        })
    }

    /// Returns the role of the objects that the policy judges as resources.
    pub(super) fn role(&self) -> &'static str {
        if self.is_of_pools() { "rented" } else { "requested" }
    }

    fn pods(&self) -> Meaning {
        let pods = KindPods::of(self.kinds)?.all()?;
        let of = self.variables.get("pods", || pods);
        Ok(ServerValue::Records(ServerRecord { kind: "pod", of, within: String::new(), number: None }))
    }

    /// Returns the meaning of a fact of a resource.
    fn fact(&self, name: &str) -> Option<Meaning> {
        Some(match name {
            "front_end" => Ok(ServerValue::Plain("'kubernetes'".to_owned())),
            "labels" => Ok(record("labels", "object", None)),
            "role" => Ok(ServerValue::Plain(format!("'{}'", self.role()))),
            _ if self.is_of_pools() => return self.fact_of_pool(name),
            "pod" | "count" | "accelerator_count" | "priority" | "time_limit_seconds" | "on_each_node" => {
                self.fact_of_pod(name)
            }
            "machine" | "accelerator" | "accelerator_memory_gib" | "purchase" | "vendor" => self.fact_of_node(name),
            _ => return unknown_fact(name).map(Err),
        })
    }

    fn tables(&self) -> CatalogTables<'_> {
        CatalogTables { catalog: &self.settings.catalog, variables: self.variables }
    }

    /// Returns true if the rule judges pools of machines, and no pods.
    fn is_of_pools(&self) -> bool {
        self.kinds.iter().all(|kind| cluster_pool(&kind.group, &kind.kind).is_some())
    }

    fn pool<'t>(&self, tables: &'t CatalogTables<'t>) -> Result<PoolVariables<'t>, String> {
        let [kind] = self.kinds else {
            return Err("the rule judges several kinds of pools: write one rule for each".to_owned());
        };
        let pool = cluster_pool(&kind.group, &kind.kind).and_then(|pool| PoolVariables::new(tables, &pool));
        pool.ok_or_else(|| format!("gpulint does not know how a cluster keeps the machines of {}", kind.kind))
    }

    /// Returns the meaning of a fact of a pool of machines; `None` if resources have no such fact.
    fn fact_of_pool(&self, name: &str) -> Option<Meaning> {
        let tables = self.tables();
        let pool = match self.pool(&tables) {
            Ok(pool) => pool,
            Err(why) => return Some(Err(why)),
        };
        Some(Ok(ServerValue::Possible(match name {
            "machine" => pool.machine(),
            "accelerator" => pool.accelerator(),
            "accelerator_count" => pool.accelerator_count(),
            "accelerator_memory_gib" => pool.accelerator_memory_gib(),
            "purchase" => pool.nodes.purchase(),
            "bill" => return Some(Ok(record("bill", "object", None))),
            _ => return unknown_fact(name).map(Err),
        })))
    }

    /// Returns the price of one machine of a pool per hour.
    fn hourly(&self, end: &str) -> Meaning {
        let tables = self.tables();
        let end = end_named(end).ok_or_else(|| format!("the API server does not know `bill.hourly.{end}`"))?;
        Ok(ServerValue::Possible(self.pool(&tables)?.hourly(end, self.settings)))
    }

    fn fact_of_pod(&self, name: &str) -> Meaning {
        let pods = KindPods::of(self.kinds)?;
        let pod = PodVariables { variables: self.variables, pods: &pods };
        match name {
            "pod" => {
                self.reads_pod.set(true);
                Ok(record("pod", &pod.pod()?, None))
            }
            "count" => Ok(record("count", &pod.count()?, Some("expected"))),
            "accelerator_count" => Ok(ServerValue::Possible(pod.accelerator_count()?)),
            "priority" => optional(format!("{}.?spec.?priorityClassName", pod.pod()?)),
            "on_each_node" => optional("(object.kind == 'DaemonSet' ? optional.of(dyn(true)) : optional.none())"),
            _ => Ok(ServerValue::Possible(pod.time_limit_seconds()?)),
        }
    }

    /// Returns the meaning of a fact that follows from the nodes on which a pod can run.
    fn fact_of_node(&self, name: &str) -> Meaning {
        let pods = KindPods::of(self.kinds)?;
        let of_pod = PodVariables { variables: self.variables, pods: &pods };
        let (pod, determined) = (of_pod.pod()?, of_pod.is_named_by_key()?);
        let tables = self.tables();
        let (conditions, others) = conditions_of_pod(&tables, &pod);
        let nodes = NodeConditions {
            tables: &tables,
            conditions,
            others,
            determined: Some(determined),
            usual_purchase: None,
            tolerations: format!("{pod}.?spec.?tolerations.orValue([])"),
        };
        Ok(ServerValue::Possible(match name {
            "machine" => nodes.machine(),
            "accelerator" => nodes.accelerator(),
            "purchase" => nodes.purchase(),
            "vendor" => {
                let (vendor, stated) = (of_pod.vendor()?, nodes.requires(&[LabelMeaning::Vendor]));
                self.variables.get("vendor_of_pod", || format!("{stated} ? [] : {vendor}"))
            }
            _ => nodes.accelerator_memory_gib(),
        }))
    }

    /// Returns the first of several labels as an optional.
    fn first_label(&self, keys: &[&str]) -> String {
        let mut labels = keys.iter().map(|key| self.label(key));
        let first = labels.next().unwrap_or_default();
        labels.fold(first, |all, label| format!("{all}.or({label})"))
    }

    /// Returns a label as an optional. The labels of a resource are those of its object and of its pod, and short
    /// annotations.
    fn label(&self, key: &str) -> String {
        let of_object = format!("object.?metadata.?labels[?{}]", quoted(key));
        if self.looks_at == LooksAt::Object {
            return of_object;
        }
        let of = |frame: &str| {
            let (label, key) = (format!("{frame}.?metadata.?labels"), quoted(key));
            format!(
                "{label}[?{key}].or([?{frame}.?metadata.?annotations[?{key}]]\
                 .filter(a, size(string(a)) <= {LONGEST_ANNOTATION})[?0])"
            )
        };
        let pods = KindPods::of(self.kinds);
        let only_pods = self.kinds.iter().all(|kind| kind.kind == "Pod");
        match pods.and_then(|pods| PodVariables { variables: self.variables, pods: &pods }.pod()) {
            Ok(pod) if !only_pods => format!("{}.or({})", of("object"), of(&pod)),
            _ => of("object"),
        }
    }
}

fn needs_files(name: &str) -> String {
    format!("the rule reads `{name}`, a place in the files, which a cluster does not have: remove it from the rule")
}

/// Returns why a cluster does not know a name of any rule; `None` if it may know the name.
fn missing(name: &str) -> Option<String> {
    let why = match name {
        "path" | "root" | "applied_in" | "superseded" => return Some(needs_files(name)),
        "resources" | "objects" | "blocks" | "tree" | "block" => "the API server judges one object at a time",
        "settings" => "they are the settings of a run: use `params`",
        "today" => "a policy has no date",
        _ => return None,
    };
    Some(format!("the rule reads `{name}`, and {why}"))
}

/// Returns why a cluster does not know a fact; `None` if resources have no such fact.
fn unknown_fact(name: &str) -> Option<String> {
    let why = match name {
        "links" | "twin" | "asked_accelerators" | "label_keys_beside" | "queue_here" | "priority_here" => {
            "other files decide it"
        }
        "bill" | "cost" | "hosted" | "market" | "run" | "is_paid" => {
            "the price of a pod depends on its machine, and only `bill.hourly` of a NodePool is exported"
        }
        "fit" | "speed" | "model" | "program" | "task" | "purpose" => "gpulint infers it from programs and images",
        _ if name.starts_with("measured") || name.starts_with("paid") => {
            "gpulint computes it from measurements or bills"
        }
        _ if is_fact_of_resource(name) => "gpulint computes it from more than one field",
        _ => return None,
    };
    Some(format!(
        "the rule reads `{name}`, which a cluster does not know, because {why}: check it with `gpulint check`"
    ))
}
