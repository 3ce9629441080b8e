//! Reads rows of workloads and writes the estimate of each, to evaluate the estimator in bulk.

use serde_json::json;

use super::case_rows::{CaseRow, answers};
use super::demand::FactReader;
use super::estimate::{budget, cache_bytes, estimate};
use super::memory::{GIB, weight_bytes};
use super::workload::{Recompute, Training, Workload};
use super::{FitVerdict, WorkloadDefaults, verdict};
use crate::catalog::{Catalog, Models, Precision, TableError};
use crate::inventory::{BillingRole, Fact, FactValue, Key, ReadBy, Resource, Task};
use crate::source::{MemoryTree, SourceFiles, Span};

/// Returns one line of JSON for each row of the table: `id`, `verdict`, and the numbers behind it.
pub fn run(path: &str, text: &str, catalog: &Catalog) -> Result<String, TableError> {
    let sources = SourceFiles::new(MemoryTree::new());
    let span = Span::new(sources.derive(path, String::new(), Vec::new()), 0, 0);
    answers(path, text, &["id", "model"], |row| answer(row, catalog, span))
}

impl CaseRow<'_> {
    /// Returns a number from the notes, such as `tp=2` or `sequence_parallel=8`.
    fn noted(&self, name: &str) -> Option<f64> {
        let mut words = self.text("notes").split(|c: char| !c.is_alphanumeric() && c != '=' && c != '_');
        words.find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
    }

    fn notes(&self, phrase: &str) -> bool {
        self.text("notes").contains(phrase)
    }
}

fn answer(row: &CaseRow<'_>, catalog: &Catalog, span: Span) -> serde_json::Value {
    let id = row.text("id");
    let resource = resource(row, span);
    let mut reader = FactReader::new(&resource);
    let Ok(demand) = reader.demand(catalog) else {
        return json!({ "id": id, "verdict": "unknown" });
    };
    let devices = row.number("gpu_count").unwrap_or(1.0);
    let workload = measured(row, demand.on(devices, demand.tensor_parallel, demand.pipeline_parallel));
    let estimate = estimate(&workload);
    let device = reader.devices(catalog).ok().map(|(device, _)| device);
    let budget = device.map(|device| budget(&workload, device.usable_gib));
    let verdict = device.and_then(|device| verdict(&workload, device.usable_gib)).map_or("unknown", FitVerdict::name);
    json!({
        "id": id,
        "verdict": verdict,
        "need_gib_per_gpu": round(estimate.need()),
        "budget_gib_per_gpu": budget.map(round),
        "weights_gib": round(weight_bytes(&demand.model, demand.precision) / GIB),
        "kv_gib": round(cache_bytes(&demand.model, workload.context, workload.cache_bytes) / GIB),
        "total_gib": round(estimate.total),
    })
}

fn round(gib: f64) -> f64 {
    (gib * 1000.0).round() / 1000.0
}

/// The context in tokens if the table has none.
const USUAL_WINDOW: f64 = 8192.0;

/// Returns the usual value, but not for training, where the row must contain it.
fn unless_training(task: Task, usual: f64) -> Option<f64> {
    (task != Task::Train).then_some(usual)
}

/// Returns a resource whose facts are the values of a row.
fn resource(row: &CaseRow<'_>, span: Span) -> Resource {
    let mut resource = Resource::new(ReadBy::Terraform, BillingRole::Requested, "case", row.text("id"), span, span);
    let task = Task::from_name(row.text("task")).unwrap_or(Task::Serve);
    let offload = if row.text("offload") == "model cpu offload" { "weights" } else { row.text("offload") };
    let texts = [
        (Key::Model, row.text("model")),
        (Key::Precision, Some(row.text("weights")).filter(|it| Precision::parse(it).is_some()).unwrap_or_default()),
        (Key::CachePrecision, if row.text("kv_dtype").is_empty() { "" } else { "fp8" }),
        (Key::Task, task.name()),
        (Key::Program, program(row.text("engine"))),
        (Key::Accelerator, row.text("gpu")),
        (Key::Method, row.text("method")),
        (Key::Optimizer, row.text("optimizer")),
        (Key::Sharding, row.text("sharding")),
        (Key::Offload, offload),
    ];
    for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        resource.set(key, Fact::written(FactValue::text(text), span));
    }
    let devices = row.number("gpu_count").unwrap_or(1.0);
    let pipeline = row.number("pp").or(row.noted("pp")).unwrap_or(1.0);
    let shares_layers = task != Task::Train || row.text("sharding") == "megatron";
    let tensor = if shares_layers { (devices / pipeline).max(1.0) } else { 1.0 };
    let numbers = [
        (Key::AcceleratorCount, Some(devices)),
        (Key::Context, row.number("context").or(unless_training(task, USUAL_WINDOW))),
        (Key::BatchSize, row.number("batch").or(unless_training(task, 1.0))),
        (Key::TensorParallel, row.number("tp").or(row.noted("tp")).or(Some(tensor))),
        (Key::PipelineParallel, Some(pipeline)),
        (Key::ExpertParallel, row.noted("ep")),
        (Key::MemoryUtilization, row.number("gpu_mem_util")),
    ];
    for (key, number) in numbers {
        resource.set(key, number.map_or(Fact::Absent, |number| Fact::written(FactValue::Number(number), span)));
    }
    if !row.text("grad_ckpt").is_empty() {
        resource.set(Key::Recompute, Fact::written(FactValue::Flag(row.text("grad_ckpt") != "no"), span));
    }
    resource
}

/// Returns gpulint's name of the program.
fn program(engine: &str) -> &str {
    match engine {
        "trt" => "trt-llm",
        "swift" => "ms-swift",
        other => other,
    }
}

/// Adds the properties of a measurement that no configuration contains.
fn measured<'m>(row: &CaseRow<'_>, workload: Workload<'m>) -> Workload<'m> {
    const SHORT_SAMPLE: f64 = 512.0;
    // The tables omit the context if it was not given. Only here, the window is limited to this usual value.
    let window = if workload.model.max_context > 0.0 { workload.model.max_context } else { USUAL_WINDOW };
    let usual = if workload.task == Task::Train { workload.context } else { window.min(USUAL_WINDOW) };
    let context = row.number("context").unwrap_or(usual);
    // The examples that come with axolotl use its plugin for the loss.
    let is_example = row.text("engine") == "axolotl" && row.notes("shipped example");
    let recompute = match row.text("grad_ckpt") {
        "selective" => Recompute::Selective,
        // If nothing is set, the training of a large model probably recomputes activations.
        "" => Recompute::Full,
        _ => workload.training.recompute,
    };
    Workload {
        // Short samples that are not packed leave most of a training sequence empty.
        context: if row.notes("short samples") { context.min(SHORT_SAMPLE) } else { context },
        batch: row.number("batch").unwrap_or(1.0),
        concurrent: 1.0,
        eager_attention: row.notes("no flash attention"),
        training: Training {
            recompute,
            sequence_parallel: row.noted("sequence_parallel").unwrap_or(1.0),
            chunked_loss: row.notes("fused loss") || row.notes("chunked") || is_example,
            fused_norms: workload.training.fused_norms || row.notes("fused loss"),
            ..workload.training
        },
        unsaid: WorkloadDefaults {
            context: row.number("context").is_none(),
            precision: row.text("weights").is_empty() && names_no_precision(row),
            ..workload.unsaid
        },
        ..workload
    }
}

/// Whether the model's name does not show the precision of its weights.
fn names_no_precision(row: &CaseRow<'_>) -> bool {
    Models::default().identify(row.text("model")).is_some_and(|found| found.precision.is_none() && !found.unclear)
}
