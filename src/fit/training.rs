//! The memory of a training step on each device: optimizer states, gathered weights, activations and the loss.
//!
//! The terms follow from the tensors that automatic differentiation stores. If a coefficient was fitted to
//! measurements, its comment says so.

use super::memory::{Estimate, GIB, weight_bytes};
use super::workload::{Optimizer, Recompute, Sharding, Training, TuningMethod, Workload};
use crate::catalog::{Modality, Model, Precision};

/// The bytes on each device, by the states that can be sharded separately.
#[derive(Debug, Clone, Copy, Default)]
struct States {
    weights: f64,
    gradients: f64,
    optimizer: f64,
    /// The temporary memory of an optimizer step, after the activations are freed.
    step: f64,
}

pub(super) fn training(workload: &Workload<'_>) -> Estimate {
    let training = &workload.training;
    let model = workload.model;
    let mut states = sharded(workload, states(workload));
    if workload.weights_offloaded {
        // The shards, including the optimizer, are in host memory.
        states = States::default();
    }
    let gathered = gathered(workload);
    let tokens = workload.batch * workload.context / training.sequence_parallel.max(1.0);
    let activations = (activations(workload) + loss(workload)) * tokens / workload.tensor_parallel;
    // The allocator's loss grows with the memory that is repeatedly allocated and freed.
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

/// Returns the states of the whole model.
fn states(workload: &Workload<'_>) -> States {
    let training = &workload.training;
    let model = workload.model;
    let params = model.params_b * 1e9;
    match training.method {
        TuningMethod::Full => full_states(workload, params),
        TuningMethod::Lora | TuningMethod::Qlora => {
            // Each adapter parameter has a gradient and states with 32 bits.
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

/// Returns the bytes of a checkpoint: the trained weights and the states of the optimizer, without gradients.
pub(super) fn checkpoint_bytes(workload: &Workload<'_>) -> f64 {
    let states = states(workload);
    match workload.training.method {
        TuningMethod::Full => states.weights + states.optimizer,
        // Adapters have 16 bytes for each parameter, including 4 for gradients. The other weights do not change.
        TuningMethod::Lora | TuningMethod::Qlora => states.optimizer * 0.75,
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
        // Pure half-precision optimizers use the type of the weights. 8-bit optimizers keep no 32-bit copy, either.
        [2.0, 2.0, if eight_bit { of_states } else { of_states / 2.0 }]
    } else if training.sharding == Sharding::Megatron {
        // Megatron sums gradients with 32 bits, wherever the optimizer states are.
        [2.0, 4.0, if offloaded { 0.0 } else { of_states + 4.0 }]
    } else {
        [2.0, 2.0, if offloaded { 0.0 } else { of_states + 4.0 }]
    };
    // AdamW over lists of tensors allocates another tensor for each weight, unless a library fuses the step.
    let unfused = training.pure_half && training.optimizer == Optimizer::AdamW;
    let [weights, gradients, optimizer] = bytes.map(|bytes| bytes * params);
    States { weights, gradients, optimizer, step: if unfused { 2.0 * params } else { 0.0 } }
}

/// Returns the states of one device.
fn sharded(workload: &Workload<'_>, states: States) -> States {
    let training = &workload.training;
    let model_parallel = workload.tensor_parallel * workload.pipeline_parallel;
    let ranks = (workload.devices / model_parallel).max(1.0);
    let by = |sharded: bool| if sharded { ranks } else { 1.0 } * model_parallel;
    match training.sharding {
        Sharding::Megatron => {
            let model = workload.model;
            // Experts are distributed over their own group. The layers that all tokens use are not.
            let shared = if model.is_mixture() { model.shared_params() / (model.params_b * 1e9) } else { 1.0 };
            let experts = workload.expert_parallel.clamp(1.0, ranks * workload.tensor_parallel);
            let part = (shared + (1.0 - shared) / experts) / model_parallel;
            // Megatron distributes the optimizer over all ranks.
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

/// Returns the bytes of gathered layers: the current one, the next one, the embedding and the head.
fn gathered(workload: &Workload<'_>) -> f64 {
    let model = workload.model;
    if workload.training.sharding != Sharding::Everything || workload.devices <= workload.tensor_parallel {
        return 0.0;
    }
    let params = model.params_b * 1e9;
    let embedding = model.embedding_params().min(params * 0.9);
    // Quantized weights are gathered in their quantized form.
    let of_layers = weight_bytes(model, workload.precision).min(2.0 * params) - 2.0 * embedding;
    (2.5 * of_layers / model.layers.max(1.0) + 2.0 * embedding) / workload.tensor_parallel
}

/// Returns the bytes of activations for each token.
fn activations(workload: &Workload<'_>) -> f64 {
    let model = workload.model;
    let of_layer = layer_bytes(model, &workload.training);
    match workload.training.recompute {
        Recompute::No => model.layers * of_layer,
        Recompute::Selective => model.layers * of_layer * 0.5,
        // Memory holds the input of every layer, and for the current layer its stored values and its gradients.
        Recompute::Full => {
            2.0 * model.hidden * model.layers + of_layer + 4.0 * model.middle_width() + 4.0 * model.hidden
        }
    }
}

/// Returns the bytes per token that one layer stores for the backward pass: inputs of matrices, norms and the
/// activation function.
fn layer_bytes(model: &Model, training: &Training) -> f64 {
    let hidden = model.hidden;
    let middle = model.middle_width();
    let (all, cached) = model.attention_widths();
    // Queries, keys, values and the result of attention have two bytes.
    let attention = 4.0 * all + 4.0 * cached;
    // In models with a gate, norms compute with 32 bits, and most trainers do not fuse them.
    let norms = if model.plain || training.fused_norms { 8.0 } else { 16.0 };
    // Kernels for quantized weights (QLoRA) store their input nevertheless, so only LoRA saves it.
    let frozen = training.method == TuningMethod::Lora;
    let between = match (model.plain, frozen) {
        (false, false) => 8.0,
        // A frozen matrix needs no gradient, so its input is not stored.
        (false, true) => 6.0,
        (true, false) => 4.0,
        (true, true) => 2.0,
    };
    // Experts get about eight copies of each token, counted on the way in and out.
    let copies = if model.is_mixture() { 32.0 * hidden } else { 0.0 };
    norms * hidden + 3.0 * hidden + attention + between * middle + copies
}

/// Returns the bytes of logits and their gradients for each token, in 16 bits and after the conversion to 32 bits.
fn loss(workload: &Workload<'_>) -> f64 {
    let training = &workload.training;
    // This coefficient was fitted to measurements of large vocabularies with long sequences.
    const BYTES: f64 = 9.0;
    let share = if training.parallel_loss || training.labelled_loss { 0.5 } else { 1.0 };
    if training.chunked_loss {
        // The loss is computed in pieces, each about as large as the hidden states.
        return 8.0 * workload.model.hidden;
    }
    BYTES * workload.model.vocab * share
}
