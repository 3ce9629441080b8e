//! The memory of a training step on each device: optimizer states, gathered weights, activations and the loss.
//!
//! The terms follow from the tensors that automatic differentiation stores. If a coefficient was fitted to measurements, its
//! comment says so.

use super::memory::{Estimate, GIB, weight_bytes};
use super::workload::{Optimizer, Recompute, Sharding, Training, TuningMethod, Workload};
use crate::catalog::{Modality, Model, Precision};

/// Bytes on each device, by what can be sharded apart.
#[derive(Debug, Clone, Copy, Default)]
struct States {
    weights: f64,
    gradients: f64,
    optimizer: f64,
    /// What an optimizer step holds for a moment, when activations are gone.
    step: f64,
}

pub(super) fn training(workload: &Workload<'_>) -> Estimate {
    let training = &workload.training;
    let model = workload.model;
    let mut states = sharded(workload, states(workload));
    if workload.weights_offloaded {
        // Shards wait on the host, optimizer included.
        states = States::default();
    }
    let gathered = gathered(workload);
    let tokens = workload.batch * workload.context / training.sequence_parallel.max(1.0);
    let activations = (activations(workload) + loss(workload)) * tokens / workload.tensor_parallel;
    // What an allocator loses in blocks of changing size grows with what comes and goes.
    let moving = (activations + gathered).max(states.step);
    let vision = if model.modality == Modality::Vision { 2.0 } else { 0.0 };
    Estimate {
        weights: (states.weights + gathered) / GIB,
        activations: (moving - gathered) / GIB + vision,
        optimizer: (states.gradients + states.optimizer) / GIB,
        overhead: 1.3 + 0.06 * moving / GIB,
        ..Estimate::default()
    }
}

/// States of the whole model.
fn states(workload: &Workload<'_>) -> States {
    let training = &workload.training;
    let model = workload.model;
    let params = model.params_b * 1e9;
    match training.method {
        TuningMethod::Full => full_states(workload, params),
        TuningMethod::Lora | TuningMethod::Qlora => {
            // Each with gradient and states in 32 bits.
            let adapters = training.adapter_params * model.layers * model.hidden;
            let mut weights = weight_bytes(model, workload.precision);
            if training.method == TuningMethod::Qlora && training.upcasts_embeddings {
                weights += 2.0 * model.embedding_params();
            }
            let gradients = if training.flat_gradients { weights } else { 0.0 };
            States { weights, gradients, optimizer: adapters * 16.0, ..States::default() }
        }
    }
}

fn full_states(workload: &Workload<'_>, params: f64) -> States {
    let training = &workload.training;
    let offloaded = training.optimizer_offloaded;
    let of_states = if offloaded { 0.0 } else { training.optimizer.state_bytes() };
    let eight_bit = matches!(training.optimizer, Optimizer::AdamW8bit | Optimizer::Lion8bit | Optimizer::Paged);
    let bytes = if workload.precision == Precision::Fp32 {
        [4.0, 4.0, of_states]
    } else if training.pure_half || (eight_bit && training.sharding != Sharding::Megatron) {
        // States of plain optimizers take the type of the weights; those of eight bits keep no copy in 32 either.
        [2.0, 2.0, if eight_bit { of_states } else { of_states / 2.0 }]
    } else if training.sharding == Sharding::Megatron {
        // Gradients are summed in 32 bits, wherever the optimizer lives.
        [2.0, 4.0, if offloaded { 0.0 } else { of_states + 4.0 }]
    } else {
        [2.0, 2.0, if offloaded { 0.0 } else { of_states + 4.0 }]
    };
    // AdamW over lists of tensors makes one more tensor of every weight's size, unless a library fuses the step.
    let unfused = training.pure_half && training.optimizer == Optimizer::AdamW;
    let [weights, gradients, optimizer] = bytes.map(|bytes| bytes * params);
    States { weights, gradients, optimizer, step: if unfused { 2.0 * params } else { 0.0 } }
}

/// States of one device.
fn sharded(workload: &Workload<'_>, states: States) -> States {
    let training = &workload.training;
    let model_parallel = workload.tensor_parallel * workload.pipeline_parallel;
    let ranks = (workload.devices / model_parallel).max(1.0);
    let by = |sharded: bool| if sharded { ranks } else { 1.0 } * model_parallel;
    match training.sharding {
        Sharding::Megatron => {
            let model = workload.model;
            // Experts are spread over a group of their own; what all tokens pass is not.
            let shared = if model.is_mixture() { model.shared_params() / (model.params_b * 1e9) } else { 1.0 };
            let experts = workload.expert_parallel.clamp(1.0, ranks * workload.tensor_parallel);
            let part = (shared + (1.0 - shared) / experts) / model_parallel;
            // The optimizer is distributed over all ranks.
            let all = workload.devices.max(model_parallel);
            States {
                weights: states.weights * part,
                gradients: states.gradients * part,
                optimizer: states.optimizer / all,
                step: 0.0,
            }
        }
        sharding => States {
            weights: states.weights / by(sharding == Sharding::Everything),
            gradients: states.gradients / by(matches!(sharding, Sharding::Everything | Sharding::Gradients)),
            optimizer: states.optimizer / by(sharding != Sharding::None),
            step: states.step / by(sharding != Sharding::None),
        },
    }
}

/// Layers that are gathered while they are used, one ahead, and embedding and head, which are used first and last.
fn gathered(workload: &Workload<'_>) -> f64 {
    let model = workload.model;
    if workload.training.sharding != Sharding::Everything || workload.devices <= workload.tensor_parallel {
        return 0.0;
    }
    let params = model.params_b * 1e9;
    let embedding = model.embedding_params().min(params * 0.9);
    // Quantized weights travel quantized.
    let of_layers = weight_bytes(model, workload.precision).min(2.0 * params) - 2.0 * embedding;
    (2.5 * of_layers / model.layers.max(1.0) + 2.0 * embedding) / workload.tensor_parallel
}

/// Bytes of activations for each token.
fn activations(workload: &Workload<'_>) -> f64 {
    let model = workload.model;
    let of_layer = layer_bytes(model, &workload.training);
    match workload.training.recompute {
        Recompute::No => model.layers * of_layer,
        Recompute::Selective => model.layers * of_layer * 0.5,
        // The input of every layer, and one layer at work: what it keeps and the gradients that pass through its middle.
        Recompute::Full => {
            2.0 * model.hidden * model.layers + of_layer + 4.0 * model.middle_width() + 4.0 * model.hidden
        }
    }
}

/// Bytes that one layer keeps of each token for the way back: inputs of matrices, of norms and of the activation function.
fn layer_bytes(model: &Model, training: &Training) -> f64 {
    let hidden = model.hidden;
    let middle = model.middle_width();
    let (all, cached) = model.attention_widths();
    // Queries, keys, values and the result of attention, in two bytes.
    let attention = 4.0 * all + 4.0 * cached;
    // Norms of models with a gate work in 32 bits and are not fused in most trainers.
    let norms = if model.plain || training.fused_norms { 8.0 } else { 16.0 };
    // Kernels for quantized weights keep their input all the same.
    let frozen = training.method == TuningMethod::Lora;
    let between = match (model.plain, frozen) {
        (false, false) => 8.0,
        // Without gradients of the matrix itself its input need not be kept.
        (false, true) => 6.0,
        (true, false) => 4.0,
        (true, true) => 2.0,
    };
    // Experts get copies: about eight of each token, on the way in and out.
    let copies = if model.is_mixture() { 32.0 * hidden } else { 0.0 };
    norms * hidden + 3.0 * hidden + attention + between * middle + copies
}

/// Bytes of logits and their gradients for each token: two bytes, four after the conversion, and some of each kept.
fn loss(workload: &Workload<'_>) -> f64 {
    let training = &workload.training;
    // Fitted to measurements of large vocabularies at long sequences.
    const BYTES: f64 = 9.0;
    let share = if training.parallel_loss || training.labelled_loss { 0.5 } else { 1.0 };
    if training.chunked_loss {
        // A piece at a time, about as large as the hidden states.
        return 8.0 * workload.model.hidden;
    }
    BYTES * workload.model.vocab * share
}
