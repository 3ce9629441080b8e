//! The memory of a model and of a workload, with its units.

use crate::catalog::{Model, Precision};

pub(super) const GIB: f64 = 1_073_741_824.0;

/// The memory that a workload needs on each device, in GiB.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Estimate {
    pub weights: f64,
    /// The KV cache, and the state of recurrent layers.
    pub cache: f64,
    pub activations: f64,
    /// The gradients and optimizer states.
    pub optimizer: f64,
    pub overhead: f64,
    /// The memory of all devices together.
    pub total: f64,
}

impl Estimate {
    pub fn need(&self) -> f64 {
        self.weights + self.cache + self.activations + self.optimizer + self.overhead
    }
}

/// Returns the bytes of a model's weights in a precision, over all devices.
pub fn weight_bytes(model: &Model, precision: Precision) -> f64 {
    if let Some(checkpoint) = model.checkpoint_gib.filter(|_| model.published == precision) {
        return checkpoint * GIB;
    }
    let params = model.params_b * 1e9;
    let embedding = model.embedding_params().min(params * 0.9);
    // All 8-bit and 4-bit formats store the embedding and the head with 16 bits.
    let mixed = |bytes: f64| (params - embedding) * bytes + embedding * 2.0;
    if model.is_mixture() && precision.is_four_bit() && !matches!(precision, Precision::Gguf(_) | Precision::Exl2(_)) {
        // Attention and router have more bits.
        return params * 0.60;
    }
    match precision {
        Precision::Fp32 => params * 4.0,
        Precision::Bf16 | Precision::Fp16 => params * 2.0,
        Precision::Fp8 | Precision::Int8 => mixed(1.0),
        Precision::Gptq8 => mixed(1.03),
        Precision::Awq | Precision::Gptq4 | Precision::Int4 => mixed(0.53),
        Precision::Nf4 => mixed(0.54),
        Precision::Nvfp4 | Precision::Fp4Mix => mixed(0.5625),
        Precision::Mxfp4 => mixed(0.54),
        Precision::Gguf(bytes) => params * f64::from(bytes),
        Precision::Exl2(bits) => params * f64::from(bits) / 8.0 * 1.03,
    }
}
