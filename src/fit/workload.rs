//! The values that determine the memory of a workload: model, precision, context, batch and sharding.

use crate::catalog::{Model, Precision};
use crate::inventory::Task;

/// All values that determine the memory of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload<'m> {
    pub model: &'m Model,
    pub task: Task,
    pub engine: Engine,
    /// The precision of the weights on the device.
    pub precision: Precision,
    /// The bytes of an element of the KV cache.
    pub cache_bytes: f64,
    /// The maximum tokens of a sequence.
    pub context: f64,
    /// The sequences at a time, or for training the samples per device.
    pub batch: f64,
    /// The configured requests at a time, or 1 if the server must only start.
    pub concurrent: f64,
    /// The devices of one copy of the model.
    pub devices: f64,
    pub tensor_parallel: f64,
    pub pipeline_parallel: f64,
    /// The devices over which experts are distributed beyond the tensor-parallel group. 1 means that they are not.
    pub expert_parallel: f64,
    /// The share of the device memory that the program can fill. `None` is the program's default.
    pub utilization: Option<f64>,
    /// The billions of parameters of a draft model.
    pub draft_b: f64,
    /// Whether a part of the weights is in host memory.
    pub weights_offloaded: bool,
    /// Whether attention stores its scores instead of using a fused kernel.
    pub eager_attention: bool,
    pub training: Training,
    /// The values that are not set, so that usual values are assumed.
    pub unsaid: WorkloadDefaults,
}

/// The values of a workload that are not set, so that the estimate assumes usual ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkloadDefaults {
    /// Whether the tokens of a training sequence are not set.
    pub sequence: bool,
    /// Whether the samples that a device processes at a time are not set.
    pub batch: bool,
    pub recompute: bool,
    pub optimizer: bool,
    pub sharding: bool,
    /// Whether it is unknown if 16-bit training keeps a 32-bit copy of the weights.
    pub copy: bool,
    /// Whether it is unknown if the loss is computed in pieces.
    pub loss: bool,
    /// Whether the tokens that a server must hold are not set.
    pub context: bool,
    /// Whether the bits of the weights are not set.
    pub precision: bool,
    /// Whether the cache of a token is unknown, because no source has the layers of the model.
    pub cache: bool,
}

impl WorkloadDefaults {
    /// Returns the names of the unset values.
    pub fn names(&self) -> Vec<&'static str> {
        let parts = [
            (self.sequence, "sequence length"),
            (self.batch, "batch"),
            (self.recompute, "recomputation"),
            (self.optimizer, "optimizer"),
            (self.sharding, "sharding"),
            (self.copy, "a copy in 32 bits"),
            (self.context, "context"),
            (self.precision, "precision"),
            (self.cache, "cache of a token"),
        ];
        parts.into_iter().filter_map(|(is_open, name)| is_open.then_some(name)).collect()
    }
}

/// How an engine manages memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Reserves a share of the device at start, for weights and a cache pool, and refuses to start if one full
    /// sequence does not fit. Examples are vLLM, SGLang, TGI and TensorRT-LLM.
    Pooled { has_utilization: bool },
    /// Allocates on demand. Examples are Transformers and scripts that run once.
    Eager,
    /// Moves layers to the host if the device is full, and computes in small steps: llama.cpp and programs based on
    /// it.
    Layered,
}

/// The values that only training has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    pub method: TuningMethod,
    pub optimizer: Optimizer,
    pub sharding: Sharding,
    pub recompute: Recompute,
    /// Whether optimizer states are in host memory.
    pub optimizer_offloaded: bool,
    /// The ranks that share one long sequence.
    pub sequence_parallel: f64,
    /// Whether the loss is computed in pieces, so that the logits of all tokens are never in memory together.
    pub chunked_loss: bool,
    /// Whether weights are loaded and trained with 16 bits, without a 32-bit copy.
    pub pure_half: bool,
    /// Whether the trainer converts the unquantized parts of a quantized model to 32 bits, as Transformers does.
    pub upcasts_embeddings: bool,
    /// The trained parameters of adapters per layer and unit of width: 600 for rank 16 on every linear layer.
    pub adapter_params: f64,
    /// Whether shards contain gradients of frozen weights, because these are flattened together with trained weights.
    pub flat_gradients: bool,
    /// Whether the loss is computed only for tokens with labels.
    pub labelled_loss: bool,
    /// Whether fused norm kernels store their input with 16 bits.
    pub fused_norms: bool,
    /// Whether the trainer keeps logits with 16 bits and splits them over ranks.
    pub parallel_loss: bool,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            method: TuningMethod::Full,
            optimizer: Optimizer::AdamW,
            sharding: Sharding::None,
            recompute: Recompute::Full,
            optimizer_offloaded: false,
            sequence_parallel: 1.0,
            chunked_loss: false,
            pure_half: false,
            upcasts_embeddings: true,
            adapter_params: 600.0,
            flat_gradients: false,
            labelled_loss: false,
            fused_norms: false,
            parallel_loss: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TuningMethod {
    Full,
    Lora,
    Qlora,
}

impl TuningMethod {
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "full" => TuningMethod::Full,
            "lora" | "adapter" => TuningMethod::Lora,
            "qlora" => TuningMethod::Qlora,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimizer {
    AdamW,
    AdamW8bit,
    /// AdamW whose state pages move to the host if the device is full.
    Paged,
    Lion,
    Lion8bit,
    Adafactor,
    Sgd,
}

impl Optimizer {
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "adamw" | "adam" => Optimizer::AdamW,
            "adamw8bit" => Optimizer::AdamW8bit,
            "paged_adamw_8bit" | "paged_adamw_32bit" => Optimizer::Paged,
            "lion" => Optimizer::Lion,
            "lion8bit" => Optimizer::Lion8bit,
            "adafactor" => Optimizer::Adafactor,
            "sgd" => Optimizer::Sgd,
            _ => return None,
        })
    }

    /// Returns the optimizer's state bytes per parameter, if states have 32 bits.
    pub(super) fn state_bytes(self) -> f64 {
        match self {
            Optimizer::AdamW => 8.0,
            Optimizer::AdamW8bit => 2.0,
            Optimizer::Paged => 0.0,
            Optimizer::Lion => 4.0,
            Optimizer::Lion8bit => 1.0,
            // Adafactor stores one row and one column for each matrix.
            Optimizer::Adafactor => 0.1,
            Optimizer::Sgd => 0.0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharding {
    /// Each rank holds everything: one device, or data parallelism.
    None,
    /// Optimizer states are distributed over the ranks.
    Optimizer,
    /// Gradients are distributed, too.
    Gradients,
    /// Weights are distributed, too: ZeRO-3, FSDP.
    Everything,
    Megatron,
}

impl Sharding {
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ddp" | "none" | "" => Sharding::None,
            "zero1" => Sharding::Optimizer,
            "zero2" => Sharding::Gradients,
            "zero3" | "fsdp" => Sharding::Everything,
            "megatron" => Sharding::Megatron,
            // `device_map` places layers one after another on several devices.
            "device_map" => Sharding::Everything,
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recompute {
    No,
    Selective,
    Full,
}
