//! The metric names of exporters, one entry per name. No other file of this module names exporters.
//!
//! Source: the exporters' code and release notes, November 2026. If an exporter renamed a metric, the table lists all
//! its names. Entries with the same `measure` have the same meaning.

/// The quantity that a metric measures, of an accelerator or of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fills {
    /// The share of the time in which the accelerator works.
    Busy,
    /// The share of its units that work.
    Units,
    /// The share of the time in which its matrix units work.
    Tensor,
    Memory,
    Requests,
    Tokens,
    Running,
    Waiting,
    Cache,
    Preemptions,
    /// The accelerators that a container requests.
    Held,
    /// The presence of kube-state-metrics.
    Observer,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MetricUnit {
    /// A value from 0 to 1.
    Ratio,
    /// A value from 0 to 100.
    Percent,
    /// The number of these units in one GiB.
    PerGib(f64),
    Count,
    /// A value that grows until its program restarts.
    Counter,
}

const BYTES: MetricUnit = MetricUnit::PerGib(1_073_741_824.0);
const MIB: MetricUnit = MetricUnit::PerGib(1_024.0);

#[derive(Debug, Clone, Copy)]
pub(super) struct Metric {
    pub(super) name: &'static str,
    pub(super) fills: Fills,
    pub(super) unit: MetricUnit,
    /// The name of the measure in the usage file. gpulint prefers the exporter's first entries.
    pub(super) measure: &'static str,
    /// The conditions on the metric's labels.
    pub(super) only: &'static str,
    /// Whether the metric also describes parts of a device (MIG).
    pub(super) parts: bool,
    /// Whether older versions used the same name for whole percentages.
    pub(super) doubtful: bool,
}

pub(super) struct Exporter {
    /// The name of the exporter and of its request.
    pub(super) name: &'static str,
    /// The labels that together identify a device, or a part of a server.
    pub(super) devices: &'static [&'static str],
    /// The labels that describe the device and its place.
    pub(super) about: &'static [&'static str],
    pub(super) metrics: &'static [Metric],
    /// Whether this exporter counts only for days on which no other exporter measured the devices.
    pub(super) is_second: bool,
}

impl Exporter {
    pub(super) fn metric(&self, name: &str) -> Option<(usize, &'static Metric)> {
        self.metrics.iter().enumerate().find(|(_, it)| it.name == name)
    }

    /// Whether the exporter measures devices, not the programs on them.
    pub(super) fn is_meter(&self) -> bool {
        self.metrics.iter().any(|it| it.fills == Fills::Busy)
    }
}

const fn row(name: &'static str, fills: Fills, unit: MetricUnit, measure: &'static str) -> Metric {
    Metric { name, fills, unit, measure, only: "", parts: false, doubtful: false }
}

impl Metric {
    const fn of_parts(self) -> Metric {
        Metric { parts: true, ..self }
    }

    const fn only(self, only: &'static str) -> Metric {
        Metric { only, ..self }
    }

    const fn doubtful(self) -> Metric {
        Metric { doubtful: true, ..self }
    }
}

/// The names of exporter pods. A device with such a pod counts as unused.
pub(super) const EXPORTER_PODS: &[&str] = &[
    "dcgm-exporter",
    "nvidia-dcgm",
    "gpu-exporter",
    "metrics-exporter",
    "habana-exporter",
    "gaudi-exporter",
    "neuron-monitor",
];

/// The names of accelerator resources, as kube-state-metrics writes them.
pub(super) const RESOURCES: &str = "nvidia_com_gpu.*|nvidia_com_mig_.*|amd_com_gpu.*|habana_ai_gaudi|gpu_intel_com_.*|\
     google_com_tpu|aws_amazon_com_neuron.*";

/// Returns true if a name of a resource in a manifest, such as `nvidia.com/gpu`, is an accelerator.
pub(super) fn is_accelerator(name: &str) -> bool {
    let name = name.replace(|it: char| !it.is_ascii_alphanumeric(), "_");
    RESOURCES.split('|').any(|known| known.strip_suffix(".*").map_or(known == name, |start| name.starts_with(start)))
}

/// The request for the metrics of kube-state-metrics.
pub(super) const OBSERVER: &str = "kube";

use Fills::{Busy, Cache, Held, Memory, Observer, Preemptions, Requests, Running, Tensor, Tokens, Units, Waiting};
use MetricUnit::{Count, Counter, Percent, Ratio};

pub(super) const EXPORTERS: &[Exporter] = &[
    Exporter {
        name: "dcgm",
        is_second: false,
        devices: &["UUID", "GPU_I_ID", "gpu", "Hostname", "hostname"],
        about: &["modelName", "GPU_I_PROFILE", "node"],
        metrics: &[
            row("DCGM_FI_PROF_GR_ENGINE_ACTIVE", Busy, Ratio, "GR_ENGINE_ACTIVE").of_parts(),
            // The name since version 4.9.0.
            row("DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO", Busy, Ratio, "GR_ENGINE_ACTIVE").of_parts(),
            row("DCGM_FI_DEV_GPU_UTIL", Busy, Percent, "GPU_UTIL"),
            // The value is a ratio since DCGM 4.7. In 4.6, the same name contains whole percentages.
            row("DCGM_FI_DEV_GPU_UTIL_RATIO", Busy, Ratio, "GPU_UTIL").doubtful(),
            row("DCGM_FI_PROF_SM_ACTIVE", Units, Ratio, "SM_ACTIVE").of_parts(),
            row("DCGM_FI_PROF_SM_UTIL_RATIO", Units, Ratio, "SM_ACTIVE").of_parts(),
            row("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", Tensor, Ratio, "TENSOR_ACTIVE").of_parts(),
            row("DCGM_FI_PROF_TENSOR_UTIL_RATIO", Tensor, Ratio, "TENSOR_ACTIVE").of_parts(),
            row("DCGM_FI_DEV_FB_USED", Memory, MIB, "FB_USED").of_parts(),
            row("DCGM_FI_DEV_FB_USED_BYTES", Memory, BYTES, "FB_USED").of_parts(),
        ],
    },
    Exporter {
        name: "amd",
        is_second: false,
        devices: &["gpu_uuid", "serial_number", "gpu_id", "gpu_partition_id", "hostname"],
        about: &["card_model", "card_series", "node"],
        metrics: &[
            row("gpu_gfx_activity", Busy, Percent, "GFX_ACTIVITY"),
            // The prefix is a setting of the exporter. Its own dashboards use this one.
            row("amd_gpu_gfx_activity", Busy, Percent, "GFX_ACTIVITY"),
            row("gpu_prof_sm_active", Units, Percent, "SM_ACTIVE"),
            row("gpu_prof_tensor_active_percent", Tensor, Percent, "TENSOR_ACTIVE"),
            row("gpu_used_vram", Memory, MIB, "USED_VRAM"),
            row("amd_gpu_used_vram", Memory, MIB, "USED_VRAM"),
        ],
    },
    Exporter {
        name: "gaudi",
        is_second: false,
        devices: &["UUID", "uuid", "device", "bus_id", "Hostname", "hostname", "instance_id"],
        about: &["modelName", "model", "node"],
        metrics: &[
            row("habanalabs_utilization", Busy, Percent, "UTILIZATION"),
            row("habanalabs_memory_used_bytes", Memory, BYTES, "MEMORY_USED"),
        ],
    },
    Exporter {
        name: "neuron",
        is_second: false,
        devices: &["instance_id", "neuroncore", "neuron_device"],
        about: &["instance_type", "node"],
        metrics: &[
            row("neuroncore_utilization_ratio", Busy, Ratio, "NEURONCORE"),
            row("neuron_runtime_memory_used_bytes", Memory, BYTES, "RUNTIME_MEMORY")
                .only(r#"memory_location="neuron_device""#),
        ],
    },
    Exporter {
        name: "tpu",
        is_second: false,
        devices: &["accelerator_id", "node"],
        about: &["model", "tpu_topology"],
        metrics: &[
            row("duty_cycle", Busy, Percent, "DUTY_CYCLE").only(r#"make="cloud-tpu""#),
            row("tensorcore_utilization", Busy, Percent, "TENSORCORE").only(r#"make="cloud-tpu""#),
            row("memory_used", Memory, BYTES, "MEMORY_USED").only(r#"make="cloud-tpu""#),
        ],
    },
    Exporter {
        name: "gke",
        is_second: true,
        devices: &["accelerator_id", "node_name"],
        about: &["model", "make"],
        metrics: &[
            row("kubernetes_io:container_accelerator_duty_cycle", Busy, Percent, "DUTY_CYCLE")
                .only(r#"monitored_resource="k8s_container""#),
            row("kubernetes_io:container_accelerator_memory_used", Memory, BYTES, "MEMORY_USED")
                .only(r#"monitored_resource="k8s_container""#),
        ],
    },
    Exporter {
        name: "vllm",
        is_second: false,
        devices: &["model_name", "engine", "finished_reason"],
        about: &[],
        metrics: &[
            row("vllm:request_success_total", Requests, Counter, ""),
            row("vllm:generation_tokens_total", Tokens, Counter, ""),
            row("vllm:num_requests_running", Running, Count, ""),
            row("vllm:num_requests_waiting", Waiting, Count, ""),
            row("vllm:kv_cache_usage_perc", Cache, Ratio, ""),
            // The name before version 0.9.
            row("vllm:gpu_cache_usage_perc", Cache, Ratio, ""),
            row("vllm:num_preemptions_total", Preemptions, Counter, ""),
        ],
    },
    Exporter {
        // All ranks of a tensor-parallel group report the same value. The query omits their label, so they count
        // once.
        name: "sglang",
        is_second: false,
        devices: &["model_name", "engine_type"],
        about: &[],
        metrics: &[
            row("sglang:num_requests_total", Requests, Counter, ""),
            row("sglang:generation_tokens_total", Tokens, Counter, ""),
            row("sglang:num_running_reqs", Running, Count, ""),
            row("sglang:num_queue_reqs", Waiting, Count, ""),
            row("sglang:token_usage", Cache, Ratio, ""),
        ],
    },
    Exporter {
        name: "tgi",
        is_second: false,
        devices: &[],
        about: &[],
        metrics: &[
            row("tgi_request_success", Requests, Counter, ""),
            row("tgi_request_generated_tokens_sum", Tokens, Counter, ""),
            row("tgi_batch_current_size", Running, Count, ""),
            row("tgi_queue_size", Waiting, Count, ""),
        ],
    },
    Exporter {
        name: "triton",
        is_second: false,
        devices: &["model", "version", "gpu_uuid"],
        about: &[],
        metrics: &[
            row("nv_inference_request_success", Requests, Counter, ""),
            row("nv_inference_pending_request_count", Waiting, Count, ""),
        ],
    },
    Exporter {
        name: OBSERVER,
        is_second: false,
        // Within a day, a pod of the same name can return on another node.
        devices: &["uid", "resource"],
        about: &["node"],
        metrics: &[
            row("kube_pod_container_resource_requests", Held, Count, "").only("resource=~\"{resources}\""),
            row("kube_node_info", Observer, Count, ""),
        ],
    },
];

pub(super) fn exporter(name: &str) -> Option<&'static Exporter> {
    EXPORTERS.iter().find(|it| it.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_once_and_those_of_one_measure_stand_together() {
        let mut seen = std::collections::BTreeSet::new();
        for metric in EXPORTERS.iter().flat_map(|it| it.metrics) {
            assert!(seen.insert(metric.name), "{}", metric.name);
        }
        for exporter in EXPORTERS {
            let measures: Vec<_> = exporter.metrics.iter().map(|it| (it.fills, it.measure)).collect();
            let mut once = measures.clone();
            once.dedup();
            let all: std::collections::BTreeSet<_> = measures.into_iter().collect();
            let is_server = !exporter.is_meter();
            assert!(is_server || once.len() == all.len(), "{}", exporter.name);
        }
    }
}
