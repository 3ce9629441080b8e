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
    /// Bytes of an element of the KV cache.
    pub cache_bytes: f64,
    /// The maximum tokens of a sequence.
    pub context: f64,
    /// The sequences at a time, or for training the samples per device.
    pub batch: f64,
    /// The configured requests at a time, or 1 if the server must only start.
    pub concurrent: f64,
    /// Devices of one copy of the model.
    pub devices: f64,
    pub tensor_parallel: f64,
    pub pipeline_parallel: f64,
    /// Devices over which experts are spread beyond the tensor-parallel group; 1 where they are not.
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
    /// Tokens of a training sequence.
    pub sequence: bool,
    /// Samples that a device works on at a time.
    pub batch: bool,
    pub recompute: bool,
    pub optimizer: bool,
    pub sharding: bool,
    /// Whether there is a 32-bit copy of weights that are trained in 16 bits.
    pub copy: bool,
    /// Whether the loss is computed in pieces.
    pub loss: bool,
    /// Tokens that a server must hold.
    pub context: bool,
    /// Bits of the weights.
    pub precision: bool,
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
        ];
        parts.into_iter().filter_map(|(is_open, name)| is_open.then_some(name)).collect()
    }
}

/// How an engine manages memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Takes a share of the device at start, fills it with weights and a pool for the cache, and refuses to start where
    /// one full sequence does not fit: vLLM, SGLang, TGI, TensorRT-LLM.
    Pooled { has_utilization: bool },
    /// Allocates on demand: Transformers, one-shot scripts.
    Eager,
    /// llama.cpp and what is built on it: moves layers to the host where the device is full, computes in small steps.
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
    /// Ranks that share one long sequence.
    pub sequence_parallel: f64,
    /// The loss is computed in pieces and never holds the logits of all tokens.
    pub chunked_loss: bool,
    /// Weights are loaded in sixteen bits and trained so, without a copy in 32.
    pub pure_half: bool,
    /// The trainer prepares quantized models as Transformers does: what is not quantized goes to 32 bits.
    pub upcasts_embeddings: bool,
    /// Trained parameters of adapters for each layer and unit of width: 600 for rank 16 on every linear layer.
    pub adapter_params: f64,
    /// Shards hold gradients of frozen weights too, because they are flattened together with trained ones.
    pub flat_gradients: bool,
    /// The loss is computed for tokens with labels only.
    pub labelled_loss: bool,
    /// Norms are fused into kernels that keep their input in sixteen bits.
    pub fused_norms: bool,
    /// The trainer keeps logits in sixteen bits and splits them over ranks.
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
    /// Pages of its states move to the host when the device is full.
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

    /// Bytes of its states for each parameter, with states in 32 bits.
    pub(super) fn state_bytes(self) -> f64 {
        match self {
            Optimizer::AdamW => 8.0,
            Optimizer::AdamW8bit => 2.0,
            Optimizer::Paged => 0.0,
            Optimizer::Lion => 4.0,
            Optimizer::Lion8bit => 1.0,
            // Rows and columns instead of matrices.
            Optimizer::Adafactor => 0.1,
            Optimizer::Sgd => 0.0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharding {
    /// One device, or data parallel: each rank holds everything.
    None,
    /// Optimizer states are spread over ranks.
    Optimizer,
    /// Gradients as well.
    Gradients,
    /// Weights as well: ZeRO-3, FSDP.
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
            // Layers one after another on several devices.
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
