//! Reads rows of workloads and writes what the estimator says about each, for measuring it in bulk.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::json;

use super::estimate::{GIB, budget, cache_bytes, estimate, weight_bytes};
use super::hardware::device;
use super::workload::{Engine, Method, Optimizer, Recompute, Sharding, Training, Workload};
use super::{FitVerdict, verdict};
use crate::catalog::{Model, Models, Precision, TableError, records};
use crate::inventory::Task;

/// One JSON object a line for each row of the table: `id`, `verdict`, and the numbers behind it.
pub fn run(path: &str, text: &str, models: &Models) -> Result<String, TableError> {
    let error = |line: usize, message: String| TableError { path: path.to_owned(), line, message };
    let mut header: Option<Vec<String>> = None;
    let mut lines = String::new();
    for (line, record) in records(text) {
        let record = record.map_err(|message| error(line, message))?;
        let Some(header) = &header else {
            if let Some(missing) = ["id", "model"].iter().find(|name| !record.iter().any(|cell| cell == *name)) {
                return Err(error(line, format!("column `{missing}` is missing")));
            }
            header = Some(record);
            continue;
        };
        let cells = header.iter().map(String::as_str).zip(record.iter().map(String::as_str)).collect();
        let _ = writeln!(lines, "{}", answer(&Row { cells }, models));
    }
    Ok(lines)
}

struct Row<'t> {
    cells: HashMap<&'t str, &'t str>,
}

impl Row<'_> {
    fn text(&self, column: &str) -> &str {
        self.cells.get(column).copied().unwrap_or_default()
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0)
    }

    /// A number that the notes give: `tp=2`, `sequence_parallel=8`.
    fn noted(&self, name: &str) -> Option<f64> {
        let mut words = self.text("notes").split(|c: char| !c.is_alphanumeric() && c != '=' && c != '_');
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
    }

    fn notes(&self, phrase: &str) -> bool {
        self.text("notes").contains(phrase)
    }
}

fn answer(row: &Row<'_>, models: &Models) -> serde_json::Value {
    let id = row.text("id");
    let Some(found) = models.identify(row.text("model")) else {
        return json!({ "id": id, "verdict": "unknown" });
    };
    let model = &*found.model;
    let precision = Precision::parse(row.text("weights")).or(found.precision).unwrap_or(model.published);
    let workload = workload(row, model, precision);
    let estimate = estimate(&workload);
    let need = estimate.need();
    let device = device(row.text("gpu"));
    let budget = device.map(|device| budget(&workload, device.usable_gib));
    let verdict = device.and_then(|device| verdict(&workload, device.usable_gib)).map_or("unknown", FitVerdict::name);
    json!({
        "id": id,
        "verdict": verdict,
        "need_gib_per_gpu": round(need),
        "budget_gib_per_gpu": budget.map(round),
        "weights_gib": round(weight_bytes(model, precision) / GIB),
        "kv_gib": round(cache_bytes(model, workload.context, workload.cache_bytes) / GIB),
        "total_gib": round(estimate.total),
    })
}

fn round(gib: f64) -> f64 {
    (gib * 1000.0).round() / 1000.0
}

fn workload<'m>(row: &Row<'_>, model: &'m Model, precision: Precision) -> Workload<'m> {
    let task = Task::from_name(row.text("task")).unwrap_or(Task::Serve);
    let devices = row.number("gpu_count").unwrap_or(1.0);
    let pipeline_parallel = row.number("pp").or(row.noted("pp")).unwrap_or(1.0);
    let training = training(row, precision);
    let tensor_parallel = row.number("tp").or(row.noted("tp")).unwrap_or(match task {
        Task::Train if training.sharding != Sharding::Megatron => 1.0,
        _ => (devices / pipeline_parallel).max(1.0),
    });
    let window = if model.max_context > 0.0 { model.max_context } else { 8192.0 };
    let engine = match row.text("engine") {
        "vllm" | "nim" => Engine::Pooled { has_utilization: true },
        "sglang" | "tgi" | "trt-llm" | "trt" | "azureml" | "atom" | "lmdeploy" => {
            Engine::Pooled { has_utilization: false }
        }
        _ => Engine::Eager,
    };
    let full = precision.is_full() && task != Task::Train;
    Workload {
        model,
        task,
        engine,
        precision: if full && model.published == precision && precision == Precision::Fp32 {
            Precision::Fp32
        } else {
            precision
        },
        cache_bytes: match row.text("kv_dtype") {
            "" => 2.0,
            _ => 1.0,
        },
        // Tables leave the context out where nobody said it; nowhere else is a window cut so short.
        context: context(row, window),
        batch: row.number("batch").unwrap_or(1.0),
        concurrent: 1.0,
        devices,
        tensor_parallel,
        pipeline_parallel,
        expert_parallel: row.noted("ep").unwrap_or(1.0),
        utilization: row.number("gpu_mem_util"),
        draft_b: 0.0,
        weights_offloaded: matches!(row.text("offload"), "weights" | "model cpu offload"),
        eager_attention: row.notes("no flash attention"),
        training,
    }
}

/// Samples that are short and not packed leave most of a training sequence empty.
fn context(row: &Row<'_>, window: f64) -> f64 {
    const SHORT_SAMPLE: f64 = 512.0;
    let context = row.number("context").unwrap_or(window.min(8192.0));
    if row.notes("short samples") { context.min(SHORT_SAMPLE) } else { context }
}

fn training(row: &Row<'_>, precision: Precision) -> Training {
    let engine = row.text("engine");
    let sharding = Sharding::from_name(row.text("sharding")).unwrap_or(Sharding::None);
    let method = Method::from_name(row.text("method")).unwrap_or(Method::Full);
    let mixed =
        matches!(engine, "deepspeed" | "deepspeed-chat" | "composer" | "megatron" | "nemo" | "torchtitan" | "azureml");
    Training {
        method,
        optimizer: Optimizer::from_name(row.text("optimizer")).unwrap_or(Optimizer::AdamW),
        sharding,
        recompute: match row.text("grad_ckpt") {
            "no" => Recompute::No,
            "selective" => Recompute::Selective,
            // Who trains a large model without saying so recomputes.
            _ => Recompute::Full,
        },
        optimizer_offloaded: row.text("offload") == "optimizer",
        sequence_parallel: row.noted("sequence_parallel").unwrap_or(1.0),
        // The examples that a trainer ships use its plugin for the loss.
        chunked_loss: row.notes("fused loss")
            || row.notes("chunked")
            || (engine == "axolotl" && row.notes("shipped example")),
        fused_norms: matches!(engine, "megatron" | "nemo" | "torchtitan" | "composer") || row.notes("fused loss"),
        // Its defaults are rank 8 on queries and values, and sharding that flattens adapters with what they adapt.
        adapter_params: if engine == "litgpt" { 100.0 } else { 600.0 },
        flat_gradients: engine == "litgpt" && method == Method::Lora && sharding == Sharding::Everything,
        labelled_loss: engine == "swift",
        pure_half: precision != Precision::Fp32 && sharding == Sharding::None && !mixed,
        upcasts_embeddings: !matches!(engine, "litgpt" | "axolotl"),
        parallel_loss: matches!(engine, "megatron" | "nemo" | "torchtitan" | "composer"),
    }
}
