//! Tests names as people write them: spellings that lead to a model, similar names that lead to none, current machines.

use gpulint::catalog::{Catalog, Identification, Recognized};

/// Releases that the table does not contain, similar to those that it does. `true` means that nothing is known, so
/// similar names are suggested. Otherwise, only the size in the name is used.
const NEAR: &[(&str, bool)] = &[
    ("zai-org/GLM-4.8", true),
    ("zai-org/GLM-4.7V", true),
    ("zai-org/GLM-5V", true),
    ("Qwen/Qwen4-8B", false),
    ("Qwen/Qwen3-Embedding-12B", false),
    ("Qwen/Qwen3-8B-Reranker", false),
    ("Qwen/Qwen3-VL-72B-Instruct", false),
    ("Qwen/Qwen3-Next-160B-A6B", false),
    ("deepseek-ai/DeepSeek-V4", true),
    ("deepseek-ai/DeepSeek-OCR-3", true),
    ("moonshotai/Kimi-K4", true),
    ("MiniMaxAI/MiniMax-M4", true),
    ("google/gemma-5-27b-it", false),
    ("ibm-granite/granite-5.0-h-small", true),
    ("black-forest-labs/FLUX.3-dev", true),
    ("Lightricks/LTX-3", true),
    ("Wan-AI/Wan2.5-T2V-A14B", true),
    ("tencent/HunyuanVideo-2", true),
    ("jinaai/jina-reranker-v4", true),
    ("facebook/sam4", true),
    ("openai/whisper-large-v4", true),
    ("openai/gpt-oss-240b", false),
    ("LiquidAI/LFM3-8B-A1B", false),
    ("meta-llama/Llama-3.1-8B-Vision", false),
];

/// Other spellings of listed models: organizations, precisions, cases, files, registries.
const SPELLED: &[(&str, &str)] = &[
    ("zai-org/glm-4.7-fp8", "zai-org/GLM-4.7"),
    ("zai-org/glm-4-6", "zai-org/GLM-4.6"),
    ("models--zai-org--GLM-4.6V-Flash", "zai-org/GLM-4.6V-Flash"),
    ("unsloth/GLM-4.6-Q4_K_M.gguf", "zai-org/GLM-4.6"),
    ("cpatonn/Qwen3-30B-A3B-Instruct-2507-AWQ-4bit", "Qwen/Qwen3-30B-A3B-Instruct-2507"),
    ("qwen3-next-80b-a3b-instruct", "Qwen/Qwen3-Next-80B-A3B-Instruct"),
    ("Qwen3-Embedding-8B-Q8_0.gguf", "Qwen/Qwen3-Embedding-8B"),
    ("hf://Qwen/Qwen3.5-27B-FP8", "Qwen/Qwen3.5-27B-FP8"),
    ("lmstudio-community/gpt-oss-20b-GGUF", "openai/gpt-oss-20b"),
    ("openai/gpt-oss-safeguard-20b", "openai/gpt-oss-20b"),
    ("ollama/gemma4:31b", "google/gemma-4-31B-it"),
    ("mistralai/devstral-small-2-24b-instruct-2512", "mistralai/Devstral-Small-2-24B-Instruct-2512"),
    ("RedHatAI/DeepSeek-R1-0528-quantized.w4a16", "deepseek-ai/DeepSeek-R1"),
    ("deepseek-ai/deepseek-v3.1-terminus", "deepseek-ai/DeepSeek-V3"),
    ("cyankiwi/MiniMax-M2.5-AWQ-4bit", "MiniMaxAI/MiniMax-M2.5"),
    ("ibm-granite/granite-4.0-h-tiny-FP8", "ibm-granite/granite-4.0-h-tiny"),
    ("nvidia/nemotron-3-nano-30b-a3b", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"),
    ("diffusers/FLUX.2-dev-bnb-4bit", "black-forest-labs/FLUX.2-dev"),
    ("Comfy-Org/z_image_turbo", "Tongyi-MAI/Z-Image-Turbo"),
    ("jinaai/jina-embeddings-v4-vllm-retrieval", "jinaai/jina-embeddings-v4"),
    ("mlx-community/LongCat-Flash-Chat-4bit", "meituan-longcat/LongCat-Flash-Chat"),
    ("NousResearch/Hermes-4-405B-FP8", "meta-llama/Llama-3.1-405B"),
];

/// Machines of 2025 and 2026 with their accelerators, with or without a price.
const MACHINES: &[(&str, &str, &str, f64)] = &[
    ("aws", "p6e-gb300r.36xlarge", "GB300", 4.0),
    ("aws", "u-p6e-gb300x72", "GB300", 72.0),
    ("aws", "u-trn2x64", "Trainium2", 64.0),
    ("aws", "trn3pd98.3xlarge", "Trainium3", 1.0),
    ("aws", "ml.trn2.48xlarge", "Trainium2", 16.0),
    ("aws", "ml.p6e-gb200.36xlarge", "GB200", 4.0),
    ("gcp", "a4x-maxgpu-4g-metal", "GB300", 4.0),
    ("azure", "Standard_ND128isr_GB300_v6", "GB300", 4.0),
    ("oci", "BM.GPU.MI355X-v1.8", "MI355X", 8.0),
    ("digitalocean", "gpu-mi325x8-2048gb", "MI325X", 8.0),
    ("vultr", "vbm-256c-3072gb-8-mi325x-gpu", "MI325X", 8.0),
    ("alicloud", "ecs.ebmgn8v.48xlarge", "H20", 8.0),
    ("tencentcloud", "HCCPNV6.96XLARGE2304", "H20", 8.0),
];

/// Names of which only the family is known.
const FAMILIES: &[(&str, &str, &str)] = &[
    ("aws", "trn3.48xlarge", "Trainium3"),
    ("oci", "BM.GPU.GB300-v2.4", "GB300"),
    ("digitalocean", "gpu-mi325x8-2048gb-fabric-contracted", "MI325X"),
    ("crusoe", "mi355x-288gb-roce.8x", "MI355X"),
];

#[test]
fn a_name_that_is_near_is_offered_and_never_taken() {
    let catalog = Catalog::embedded();
    let models = catalog.models();
    for (name, is_nothing) in NEAR {
        match models.identify(name) {
            Some(found) => {
                assert_eq!((found.by, *is_nothing), (Identification::Size, false), "{name}: {}", found.model.id);
            }
            None => assert!(*is_nothing && !models.nearest(name).is_empty(), "{name}: nothing is offered"),
        }
    }
}

#[test]
fn other_spellings_lead_to_the_model() {
    let catalog = Catalog::embedded();
    for (name, model) in SPELLED {
        let found = catalog.models().identify(name);
        let found = found.map(|it| (it.model.id.to_string(), it.by));
        assert_eq!(found, Some(((*model).to_owned(), Identification::Listed)), "{name}");
    }
}

#[test]
fn machines_of_today_are_known_with_what_they_carry() {
    let catalog = Catalog::embedded();
    for (provider, name, accelerator, count) in MACHINES {
        let found = catalog.machine(provider, name).map(|it| (it.accelerator.into_owned(), it.count));
        assert_eq!(found, Some(((*accelerator).to_owned(), *count)), "{provider} {name}");
    }
    for (provider, name, accelerator) in FAMILIES {
        let found = catalog.recognize(provider, name);
        assert_eq!(found, Recognized::Family { provider, accelerator: Some(accelerator) }, "{name}");
    }
}
