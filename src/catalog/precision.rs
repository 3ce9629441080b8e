//! The precision of stored weights, and its number of bits.

/// The storage format of a weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Precision {
    Fp32,
    Bf16,
    Fp16,
    Fp8,
    Int8,
    Gptq8,
    Awq,
    Gptq4,
    /// Four-bit integers from other methods.
    Int4,
    Nf4,
    Nvfp4,
    Mxfp4,
    /// Published weights with the experts in four bits and the rest in eight.
    Fp4Mix,
    /// Files of llama.cpp. The value is the bytes per parameter, everything included.
    Gguf(f32),
    /// Files of ExLlamaV2. The value is the bits per parameter.
    Exl2(f32),
}

impl Precision {
    pub fn parse(text: &str) -> Option<Precision> {
        let text = text.trim().to_ascii_lowercase();
        if let Some(kind) = text.strip_prefix("gguf:") {
            return gguf_bytes(kind).map(Precision::Gguf);
        }
        if let Some(bits) = text.strip_prefix("exl2:") {
            return bits.parse().ok().filter(|bits| (1.0..=16.0).contains(bits)).map(Precision::Exl2);
        }
        Some(match &*text {
            "fp32" | "float32" | "f32" => Precision::Fp32,
            "bf16" | "bfloat16" => Precision::Bf16,
            "fp16" | "float16" | "f16" => Precision::Fp16,
            "fp8" | "float8" => Precision::Fp8,
            "int8" | "w8a8" => Precision::Int8,
            "gptq8" | "gptq-int8" => Precision::Gptq8,
            "awq" => Precision::Awq,
            "gptq" | "gptq4" | "gptq-int4" => Precision::Gptq4,
            "int4" | "w4a16" => Precision::Int4,
            "nf4" => Precision::Nf4,
            "nvfp4" | "fp4" => Precision::Nvfp4,
            "mxfp4" => Precision::Mxfp4,
            "fp4mix" => Precision::Fp4Mix,
            kind => return gguf_bytes(kind).map(Precision::Gguf),
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Precision::Fp32 => "fp32",
            Precision::Bf16 => "bf16",
            Precision::Fp16 => "fp16",
            Precision::Fp8 => "fp8",
            Precision::Int8 => "int8",
            Precision::Gptq8 => "gptq8",
            Precision::Awq => "awq",
            Precision::Gptq4 => "gptq4",
            Precision::Int4 => "int4",
            Precision::Nf4 => "nf4",
            Precision::Nvfp4 => "nvfp4",
            Precision::Mxfp4 => "mxfp4",
            Precision::Fp4Mix => "fp4mix",
            Precision::Gguf(_) => "gguf",
            Precision::Exl2(_) => "exl2",
        }
    }

    /// Whether a weight has sixteen bits or more.
    pub fn is_full(self) -> bool {
        matches!(self, Precision::Fp32 | Precision::Bf16 | Precision::Fp16)
    }

    pub fn is_four_bit(self) -> bool {
        match self {
            Precision::Gguf(bytes) => bytes < 0.65,
            Precision::Exl2(bits) => bits < 5.0,
            _ => matches!(
                self,
                Precision::Awq
                    | Precision::Gptq4
                    | Precision::Int4
                    | Precision::Nf4
                    | Precision::Nvfp4
                    | Precision::Mxfp4
                    | Precision::Fp4Mix
            ),
        }
    }
}

/// Returns the bytes per parameter for a file type of llama.cpp: the block sizes of its quantization types, mixed as
/// `llama-quantize` mixes them for a dense model (read 2026-11).
fn gguf_bytes(kind: &str) -> Option<f32> {
    let kind = kind.trim_start_matches("ud_");
    Some(match kind {
        "f32" | "fp32" => 4.0,
        "f16" | "fp16" | "bf16" => 2.0,
        "q8_0" | "q8" | "q8_k" | "q8_k_xl" => 1.0625,
        "q6_k" | "q6" | "q6_k_l" | "q6_k_xl" => 0.82,
        "q5_k_m" | "q5_k" | "q5" | "q5_1" | "q5_k_l" | "q5_k_xl" => 0.711,
        "q5_k_s" | "q5_0" => 0.69,
        "q4_k_m" | "q4_k" | "q4" | "q4_k_l" | "q4_k_xl" | "q4_1" => 0.606,
        "q4_k_s" | "iq4_nl" => 0.58,
        "q4_0" => 0.57,
        "iq4_xs" => 0.54,
        "q3_k_l" | "q3_k_xl" => 0.53,
        "q3_k_m" | "q3_k" | "q3" | "iq3_m" => 0.49,
        "q3_k_s" | "iq3_s" | "iq3_xs" | "iq3_xxs" => 0.44,
        "q2_k" | "q2" | "q2_k_l" | "q2_k_xl" | "iq2_m" => 0.42,
        "iq2_s" | "iq2_xs" | "iq2_xxs" => 0.33,
        "iq1_m" | "iq1_s" => 0.24,
        _ => return None,
    })
}
