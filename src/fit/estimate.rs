//! Calculates the memory of a workload on each device. The function is pure and uses no tables.

use super::memory::{Estimate, GIB, weight_bytes};
use super::training::training;
use super::workload::{Engine, Workload};
use crate::catalog::{Modality, Model};
use crate::inventory::Task;

/// Returns the GiB of a device that the workload can use.
pub fn budget(workload: &Workload<'_>, usable_gib: f64) -> f64 {
    /// The memory of a process outside the framework's allocator.
    const CONTEXT: f64 = 0.6;
    match (workload.task, workload.engine) {
        (Task::Serve, Engine::Pooled { has_utilization }) => {
            let default = if has_utilization { 0.90 } else { 0.92 };
            usable_gib * workload.utilization.unwrap_or(default)
        }
        _ => usable_gib - CONTEXT,
    }
}

pub fn estimate(workload: &Workload<'_>) -> Estimate {
    let mut estimate = match workload.task {
        Task::Serve => serving(workload),
        Task::Embed => embedding(workload),
        Task::Diffusion => diffusion(workload),
        Task::Speech => speech(workload),
        Task::Train => training(workload),
    };
    estimate.total = estimate.need() * workload.devices.max(1.0);
    estimate
}

/// Returns the cache bytes of one sequence with this many tokens, over all devices.
pub fn cache_bytes(model: &Model, tokens: f64, element_bytes: f64) -> f64 {
    /// The tokens that an engine schedules at a time. They stay in the cache in addition to the window.
    const CHUNK: f64 = 2048.0;
    let scale = element_bytes / 2.0;
    let windowed = model.window_bytes_per_token * tokens.min(model.window + CHUNK);
    (model.kv_bytes_per_token * tokens + windowed) * scale + model.state_mib * 1_048_576.0
}

/// Returns the number of devices over which the cache is distributed.
fn cache_shards(workload: &Workload<'_>) -> f64 {
    let model = workload.model;
    let heads = if model.latent { 1.0 } else { workload.tensor_parallel.min(model.kv_heads.max(1.0)) };
    heads * workload.pipeline_parallel
}

/// The assumed tokens of a question and its answer if a server answers many requests at a time.
const USUAL_REQUEST: f64 = 2048.0;

fn serving(workload: &Workload<'_>) -> Estimate {
    let model = workload.model;
    let weights = weight_bytes(model, workload.precision) / GIB;
    let vision = matches!(model.modality, Modality::Vision);
    // An unknown cache is left out. Readings that need more memory have one.
    let element_bytes = if workload.unsaid.cache { 0.0 } else { workload.cache_bytes };
    match workload.engine {
        Engine::Pooled { .. } => {
            let weights = weights / (workload.tensor_parallel * workload.pipeline_parallel);
            let one = cache_bytes(model, workload.context, element_bytes);
            let usual = cache_bytes(model, workload.context.min(USUAL_REQUEST), element_bytes);
            let cache = one.max(usual * workload.concurrent) / cache_shards(workload) / GIB;
            Estimate {
                weights,
                cache,
                activations: if vision { 1.5 } else { 0.0 },
                overhead: 1.5 + weights * 0.02 + workload.draft_b * 2e9 / GIB,
                ..Estimate::default()
            }
        }
        Engine::Layered => {
            // The engine computes at most this many tokens at a time.
            const STEP: f64 = 512.0;
            let n = workload.devices.max(1.0);
            let cache = cache_bytes(model, workload.context, element_bytes) * workload.batch / n / GIB;
            let step = STEP * (model.vocab * 4.0 + model.hidden * 24.0) / GIB;
            Estimate { weights: weights / n, cache, activations: step, overhead: 0.5, ..Estimate::default() }
        }
        Engine::Eager => {
            let n = workload.devices.max(1.0);
            let tokens = workload.context * workload.batch;
            let cache = cache_bytes(model, workload.context, element_bytes) * workload.batch / n / GIB;
            // The engine processes the answer's part of the context one token at a time.
            let prompt = 0.75 * tokens;
            let scores = if workload.eager_attention { 6.0 * model.heads * workload.context * tokens } else { 0.0 };
            let activations = (prefill_bytes(model) * prompt + scores) / GIB / n;
            // The overhead contains the workspaces of libraries, and a few percent that the allocator loses between
            // blocks.
            let overhead = 0.05 + 0.03 * (cache + activations);
            Estimate { weights: weights / n, cache, activations, overhead, ..Estimate::default() }
        }
    }
}

/// Returns the activation bytes for each token of a prompt. The maximum is in the middle of a layer: gate, up and
/// their product are in memory with the residual and the normalized input, all with two bytes.
fn prefill_bytes(model: &Model) -> f64 {
    let wide = if model.plain { 4.0 } else { 6.0 };
    wide * model.middle_width() + 4.0 * model.hidden
}

fn embedding(workload: &Workload<'_>) -> Estimate {
    let weights = weight_bytes(workload.model, workload.precision) / GIB;
    Estimate { weights, overhead: 0.8 + weights * 0.06, ..Estimate::default() }
}

fn diffusion(workload: &Workload<'_>) -> Estimate {
    let model = workload.model;
    let denoiser = if model.denoiser_b > 0.0 { model.denoiser_b } else { model.params_b };
    let name = model.id.to_ascii_lowercase();
    let video = ["video", "mochi", "wan", "ltx", "svd"].iter().any(|word| name.contains(word));
    let bytes = weight_bytes(model, workload.precision) / GIB;
    let weights = if workload.weights_offloaded { bytes * denoiser / model.params_b } else { bytes };
    let activations = match (video, workload.weights_offloaded) {
        (false, _) => 1.5 + 0.25 * denoiser,
        (true, false) => 5.0 + 1.6 * denoiser,
        (true, true) => 3.0 + 0.2 * denoiser,
    };
    Estimate { weights, activations, ..Estimate::default() }
}

fn speech(workload: &Workload<'_>) -> Estimate {
    let weights = weight_bytes(workload.model, workload.precision) / GIB;
    Estimate { weights, activations: 0.18 * workload.batch, overhead: 0.9, ..Estimate::default() }
}
