//! Parses names of models into the architecture, the precision and the variant.
//!
//! The build script uses this module, too, so that names in the table and in files are parsed by the same rules.

use super::model::Modality;

/// A name of a model taken apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ModelName {
    /// Lower-case words without organization and precision: `llama 3.1 8b instruct`.
    pub(super) words: Vec<String>,
    /// The same without words that do not change the architecture: `llama 3.1 8b`.
    pub(super) base: Vec<String>,
    /// Precision that the name says: `awq`, `gguf:q4_k_m`, `exl2:4.0`.
    pub(super) precision: Option<String>,
    /// Billions of parameters that the name says, all experts included.
    pub(super) params_b: Option<f64>,
    /// Billions of parameters that are active for a token.
    pub(super) active_b: Option<f64>,
}

/// Words that say how a model was tuned, packed or published.
const VARIANTS: &[&str] = &[
    "instruct",
    "chat",
    "it",
    "hf",
    "base",
    "sft",
    "dpo",
    "rlhf",
    "preview",
    "latest",
    "pt",
    "text",
    "mlx",
    "dynamic",
    "merged",
    "sharded",
    "uncensored",
    "abliterated",
    "model",
    "meta",
    "experimental",
    "exp",
    "stable",
    "release",
    "final",
    "en",
    "tgi",
    "vllm",
    "tensorrt",
    "trtllm",
    "onnx",
    "safetensors",
    "lora",
    "adapter",
    "mlc",
    "community",
    "turbo",
    "online",
    "offline",
    "default",
    "inference",
    "llm",
    "transformers",
    "diffusers",
];

/// Words that say which of a family's sizes is meant, where no number does.
const SIZES: &[&str] = &["nano", "tiny", "mini", "xsmall", "small", "medium", "base", "large", "xlarge", "huge"];

/// Words that say what a model is for or how it is built: a name with one of them is no other spelling of a name without.
/// What it reads or makes, where the word tells that, stands beside it.
const KINDS: &[(&str, Option<Modality>)] = &[
    ("embedding", Some(Modality::Embedding)),
    ("embeddings", Some(Modality::Embedding)),
    ("embed", Some(Modality::Embedding)),
    ("reranker", Some(Modality::Embedding)),
    ("rerank", Some(Modality::Embedding)),
    ("colbert", Some(Modality::Embedding)),
    ("vl", Some(Modality::Vision)),
    ("vlm", Some(Modality::Vision)),
    ("vision", Some(Modality::Vision)),
    ("multimodal", Some(Modality::Vision)),
    ("omni", Some(Modality::Vision)),
    ("ocr", Some(Modality::Vision)),
    ("llava", Some(Modality::Vision)),
    ("vla", Some(Modality::Vision)),
    ("asr", Some(Modality::Speech)),
    ("stt", Some(Modality::Speech)),
    ("tts", Some(Modality::Audio)),
    ("audio", Some(Modality::Audio)),
    ("speech", Some(Modality::Audio)),
    ("music", Some(Modality::Audio)),
    ("image", Some(Modality::Diffusion)),
    ("video", Some(Modality::Diffusion)),
    ("t2i", Some(Modality::Diffusion)),
    ("t2v", Some(Modality::Diffusion)),
    ("i2v", Some(Modality::Diffusion)),
    ("ti2v", Some(Modality::Diffusion)),
    ("s2v", Some(Modality::Diffusion)),
    ("diffusion", Some(Modality::Diffusion)),
    ("moe", None),
    ("mamba", None),
    ("hybrid", None),
    ("linear", None),
    ("h", None),
    ("next", None),
    ("eagle", None),
    ("eagle3", None),
    ("medusa", None),
    ("mtp", None),
];

/// Last parts of a path that name no model.
const EMPTY_NAMES: &[&str] = &[
    "model",
    "models",
    "main",
    "weights",
    "latest",
    "engine",
    "engines",
    "hf",
    "consolidated",
    "checkpoint",
    "checkpoints",
    "snapshots",
    "mnt",
    "data",
    "cache",
    "workspace",
    "repository",
    "model_repository",
    "1",
    "default",
    "v1",
    "gpu",
    "llm",
    "trt_engines",
    "model.gguf",
    "model.bin",
    "final",
    "output",
    "outputs",
    "tmp",
    "opt",
    "app",
    "root",
    "home",
    "mount",
    "base",
    "original",
    "config",
];

impl ModelName {
    pub(super) fn parse(text: &str) -> ModelName {
        let tail = tail(text);
        let mut name = ModelName::default();
        let raw = split(&tail);
        let (rest, precision) = take_precision(raw);
        name.precision = precision;
        name.words = join_versions(rest);
        if name.words.first().is_some_and(|word| word == "meta") {
            name.words.remove(0);
        }
        for word in &name.words {
            match size(word) {
                Some(Size::Total(n)) if name.params_b.is_none() => name.params_b = Some(n),
                Some(Size::Active(n)) if name.active_b.is_none() => name.active_b = Some(n),
                _ => {}
            }
        }
        if name.words.iter().any(|word| is_expert_count(word)) {
            // `17b-16e` counts what is active: the total is not in the name.
            name.active_b = name.params_b.take();
        }
        // Without a size, a version is what tells one model of a family from another.
        let has_size = name.params_b.is_some() || name.active_b.is_some();
        let version = |word: &str| has_size && is_version(word);
        let variant = |word: &&String| !VARIANTS.contains(&&***word) && !version(word) && !is_date(word);
        name.base = name.words.iter().filter(variant).cloned().collect();
        name
    }

    /// What the words say that it reads or makes.
    pub(super) fn modality(&self) -> Option<Modality> {
        let said = |word: &str| self.words.iter().any(|known| known == word);
        KINDS.iter().find_map(|(word, modality)| modality.filter(|_| said(word)))
    }

    /// A model that is listed under fewer of these words may be the one that this name was made from: what the other words
    /// say is how it was tuned, not that it is something else.
    pub(super) fn is_tuned_from(&self, key: &str, modality: Modality) -> bool {
        let listed = |word: &str| key.split('-').any(|known| known == word);
        let other = |(word, kind): &&(&str, Option<Modality>)| {
            self.words.iter().any(|known| known == word) && !listed(word) && *kind != Some(modality)
        };
        !KINDS.iter().any(|kind| other(&kind))
    }

    pub(super) fn exact_key(&self) -> String {
        self.words.join("-")
    }

    pub(super) fn base_key(&self) -> String {
        self.base.join("-")
    }

    /// Runs of words with a size in them, the longest first: `hermes-3-llama-3.1-8b` contains `llama-3.1-8b`.
    pub(super) fn inner_keys(&self) -> Vec<String> {
        let words = &self.base;
        let mut keys = keys_of_runs(words, |run| run.iter().any(|word| matches!(size(word), Some(Size::Total(_)))));
        // `llama-3.1-nemoguard-8b`: family and version in front, the size further on.
        let sizes = words.iter().filter(|word| matches!(size(word), Some(Size::Total(_))));
        if let (Some(family), Some(version)) = (words.first(), words.get(1))
            && version.starts_with(|c: char| c.is_ascii_digit())
        {
            keys.extend(sizes.map(|size| format!("{family}-{version}-{size}")));
        }
        keys
    }

    /// Runs of words around a size that is a word, the longest first: `distilbert-base-uncased-finetuned-sst-2` contains
    /// `distilbert-base-uncased` and `distilbert-base`.
    pub(super) fn keys_of_sized_families(&self) -> Vec<String> {
        keys_of_runs(&self.words, |run| run.iter().skip(1).any(|word| SIZES.contains(&&**word)))
    }
}

/// Runs of words that begin with a name and have a size, the longest first. None ends before a version: `whisper-large-v4`
/// is another release than the one that is called `whisper-large`.
fn keys_of_runs(words: &[String], is_sized: impl Fn(&[String]) -> bool) -> Vec<String> {
    let mut keys = Vec::new();
    for length in (2..words.len().min(8)).rev() {
        for (at, run) in words.windows(length).enumerate() {
            let named = run.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
            let is_cut = words.get(at + length).is_some_and(|next| is_version(next));
            if named && !is_cut && is_sized(run) {
                keys.push(run.join("-"));
            }
        }
    }
    keys
}

/// The part of a path, address or reference that names the model.
pub(super) fn tail(text: &str) -> String {
    let text = text.trim().trim_matches(['"', '\'']);
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let cut = ["/versions/", "/labels/", "/resolve/", "/blob/", "/snapshots/", "/revisions/"];
    let text = cut.iter().fold(text, |text, mark| match text.split_once(mark) {
        // The file behind a mark names the model where it is one of many in the same place.
        Some((_, file)) if file.to_ascii_lowercase().ends_with(".gguf") => file,
        Some((before, _)) => before,
        None => text,
    });
    let text = match text.split_once('@') {
        Some((_, after)) if split(after).iter().any(|word| size(word).is_some()) => after,
        Some((before, _)) => before,
        None => text,
    };
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty()).collect();
    let named = parts.iter().rev().find(|part| !EMPTY_NAMES.contains(&&*part.to_ascii_lowercase()));
    let part = named.copied().unwrap_or_default();
    // `models--org--name` of the hub's cache, `org--name` of labels.
    part.rsplit("--").next().unwrap_or(part).to_ascii_lowercase()
}

/// Words of a name; a point between digits stays, as does an underscore that stands for one: `1_8b`.
fn split(name: &str) -> Vec<String> {
    let name = name.strip_suffix(".gguf").map_or_else(|| name.to_owned(), |name| format!("{name}-gguf"));
    let name = name.strip_suffix(".safetensors").unwrap_or(&name).to_ascii_lowercase();
    let bytes = name.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let mut words = vec![String::new()];
    for (at, c) in name.char_indices() {
        let between_digits = digit(at.checked_sub(1)) && digit(Some(at + 1));
        let kept = match c {
            '.' => between_digits.then_some('.'),
            '_' if between_digits && is_point(&name, at) => Some('.'),
            c if c.is_alphanumeric() => Some(c),
            _ => None,
        };
        match (kept, words.last_mut()) {
            (Some(c), Some(word)) => {
                if splits_before(word, c) {
                    words.push(c.to_string());
                } else {
                    word.push(c);
                }
            }
            _ => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether an underscore between digits stands for a point: in `1_8b` and `llama3_1` it does, in `q8_0`, `llama3_8b` and
/// behind `3_1` it does not.
fn is_point(name: &str, at: usize) -> bool {
    let word =
        name[..at].rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').next().unwrap_or_default();
    let number = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let quantization = matches!(&word[..word.len() - number.len()], "q" | "iq");
    let rest = name[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
    let size_follows = rest.starts_with('b') && !rest[1..].starts_with(|c: char| c.is_ascii_alphanumeric());
    let attached = number.len() < word.len();
    !(quantization || number.contains(['_', '.']) || (attached && size_follows))
}

/// `llama3.1` is `llama 3.1` and `qwen2` is `qwen 2`, while `v0.1`, `a3b`, `q4`, `r1`, `int4` and `8x7b` stay together.
fn splits_before(word: &str, c: char) -> bool {
    c.is_ascii_digit() && word.len() >= 3 && word.chars().all(|c| c.is_ascii_alphabetic()) && !is_precision_stem(word)
}

fn is_precision_stem(word: &str) -> bool {
    matches!(word, "int" | "fp" | "nvfp" | "mxfp" | "bf" | "exl" | "bnb" | "mxint" | "rank" | "tp" | "pruned")
}

/// `3-1-8b` is `3.1-8b`, as labels and resource names write it, and `v0-3` is `v0.3`.
fn join_versions(words: Vec<String>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let single = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_digit());
        let previous = joined.last_mut().filter(|previous| {
            let number = previous.strip_prefix('v').unwrap_or(previous);
            number.len() == 1 && number.starts_with(|c: char| c.is_ascii_digit())
        });
        match previous {
            Some(previous) if single => {
                previous.push('.');
                previous.push_str(&word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

enum Size {
    Total(f64),
    Active(f64),
}

/// `70b`, `8x7b`, `1.5b`, `500m`, `a3b`, `e4b`.
fn size(word: &str) -> Option<Size> {
    if let Some(active) = word.strip_prefix('a').and_then(|rest| rest.strip_suffix('b')) {
        return number(active).map(Size::Active);
    }
    if let Some(effective) = word.strip_prefix('e').and_then(|rest| rest.strip_suffix('b')) {
        // Per-layer embeddings double what is loaded.
        return number(effective).map(|n| Size::Total(n * 2.0));
    }
    let (digits, factor) = match word.as_bytes().last() {
        Some(b'b') => (&word[..word.len() - 1], 1.0),
        // `1m` is a length of context.
        Some(b'm') if word.len() >= 3 => (&word[..word.len() - 1], 1e-3),
        Some(b't') => (&word[..word.len() - 1], 1e3),
        _ => return None,
    };
    let total = match digits.split_once('x') {
        // Experts share attention and embeddings.
        Some((copies, each)) => number(copies)? * number(each)? * 0.83,
        None => number(digits)?,
    } * factor;
    (0.005..5000.0).contains(&total).then_some(Size::Total(total))
}

/// `06` is what is left of `0.6` where a name may hold no point.
fn number(text: &str) -> Option<f64> {
    if let Some(tenths) = text.strip_prefix('0').filter(|rest| !rest.is_empty() && !rest.contains('.')) {
        return format!("0.{tenths}").parse().ok();
    }
    text.starts_with(|c: char| c.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// `16e`, `128e`: a number of experts.
fn is_expert_count(word: &str) -> bool {
    word.strip_suffix('e').is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
}

/// `v0.3`, `v2`.
fn is_version(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `2407`, `0528`, `20241220`: year and month, month and day, or a full date.
fn is_date(word: &str) -> bool {
    matches!(word.len(), 4 | 6 | 8) && word.chars().all(|c| c.is_ascii_digit())
}

/// Takes the words of precision out of a name.
fn take_precision(words: Vec<String>) -> (Vec<String>, Option<String>) {
    let mut rest = Vec::with_capacity(words.len());
    let mut found: Vec<String> = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if is_gguf_type(&word) {
            let mut kind = word;
            while let Some(next) =
                words.next_if(|next| matches!(&**next, "k" | "0" | "1" | "s" | "m" | "l" | "xl" | "xs" | "xxs" | "nl"))
            {
                kind = format!("{kind}_{next}");
            }
            found.push(format!("gguf:{kind}"));
        } else if is_precision(&word) {
            found.push(word);
        } else if word == "kv" && found.iter().any(|known| known == "fp8") || word == "ud" {
            // `FP8-KV` scales the cache as well; `UD` is a way of choosing types.
        } else {
            rest.push(word);
        }
    }
    (rest, combine(&found))
}

fn is_gguf_type(word: &str) -> bool {
    let digits = word.strip_prefix("iq").or_else(|| word.strip_prefix('q'));
    digits.is_some_and(|digits| digits.len() == 1 && digits.chars().all(|c| ('1'..='8').contains(&c)))
}

/// Words for ways to quantize that do not tell how many bits are left.
const UNTOLD: [&str; 14] = [
    "exl2",
    "hqq",
    "aqlm",
    "quip",
    "gguf",
    "ggml",
    "quantized",
    "quant",
    "quark",
    "torchao",
    "vptq",
    "bitnet",
    "spqr",
    "higgs",
];

fn is_precision(word: &str) -> bool {
    const WORDS: &[&str] = &[
        "awq",
        "gptq",
        "int4",
        "int8",
        "w4a16",
        "w8a8",
        "w8a16",
        "w4a8",
        "w4afp8",
        "bnb",
        "nf4",
        "fp8",
        "e4m3",
        "nvfp4",
        "fp4",
        "mxfp4",
        "modelopt",
        "eetq",
        "bf16",
        "fp16",
        "f16",
        "fp32",
        "f32",
        "bfloat16",
        "float16",
        "autoround",
        "marlin",
        "g128",
        "w4a4",
    ];
    WORDS.contains(&word)
        || UNTOLD.contains(&word)
        || bits(word).is_some()
        || word.ends_with("bpw")
        || (word.starts_with('q') && word.contains('f') && word.len() == 5)
}

/// `4bit`, `2bits`, `4bitgs64`.
fn bits(word: &str) -> Option<u32> {
    let (number, rest) = word.split_at_checked(1)?;
    rest.starts_with("bit").then(|| number.parse().ok()).flatten()
}

/// What a name says that is quantized in a way which it does not tell.
pub(super) const UNCLEAR: &str = "unclear";

/// The precision that the words of a name say together.
fn combine(found: &[String]) -> Option<String> {
    let has = |word: &str| found.iter().any(|known| known == word);
    let known = |name: &str| Some(name.to_owned());
    if let Some(gguf) = found.iter().find(|word| word.starts_with("gguf:")) {
        return Some(gguf.clone());
    }
    if let Some(bits) = found.iter().find_map(|word| word.strip_suffix("bpw")) {
        return Some(format!("exl2:{bits}"));
    }
    if let Some(mlc) = found.iter().find(|word| word.starts_with('q') && word.contains('f')) {
        return known(match mlc.as_bytes().get(1) {
            Some(b'0') => "fp16",
            Some(b'3') => "gguf:q3_k_m",
            _ => "int4",
        });
    }
    let bits = |number: u32| found.iter().any(|word| bits(word) == Some(number));
    let eight = has("int8") || bits(8) || has("w8a16");
    Some(
        match () {
            () if has("nvfp4") || has("fp4") || has("w4a4") => "nvfp4",
            () if has("mxfp4") => "mxfp4",
            () if has("gptq") && eight => "gptq8",
            () if has("gptq") => "gptq4",
            () if has("awq") => "awq",
            () if has("fp8") || has("e4m3") || has("modelopt") => "fp8",
            () if has("nf4") || (has("bnb") && !eight) || (bits(4) && has("bnb")) => "nf4",
            () if has("w8a8") || eight || has("eetq") => "int8",
            () if has("int4")
                || has("w4a16")
                || has("w4a8")
                || has("w4afp8")
                || bits(4)
                || has("autoround")
                || has("marlin") =>
            {
                "int4"
            }
            () if UNTOLD.iter().any(|word| has(word)) || found.iter().any(|word| self::bits(word).is_some()) => UNCLEAR,
            () if has("bf16") || has("bfloat16") => "bf16",
            () if has("fp16") || has("f16") || has("float16") => "fp16",
            () if has("fp32") || has("f32") => "fp32",
            () => return None,
        }
        .to_owned(),
    )
}
