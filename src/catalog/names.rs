//! Parses names of models into the architecture, the precision and the variant.
//!
//! The build script uses this module, too, so that names in the table and in files are parsed by the same rules.

use super::model::Modality;

/// The parts of a model name.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ModelName {
    /// The lower-case words without organization and precision, such as `llama 3.1 8b instruct`.
    pub(super) words: Vec<String>,
    /// The words that determine the architecture, such as `llama 3.1 8b`.
    pub(super) base: Vec<String>,
    /// The precision in the name, such as `awq`, `gguf:q4_k_m` or `exl2:4.0`.
    pub(super) precision: Option<String>,
    /// Billions of parameters according to the name, including all experts.
    pub(super) params_b: Option<f64>,
    /// Billions of parameters that one token uses.
    pub(super) active_b: Option<f64>,
}

/// Words for how a model was tuned, packaged or published.
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

/// Words for the size of a model whose family has no numbers for it.
const SIZES: &[&str] = &["nano", "tiny", "mini", "xsmall", "small", "medium", "base", "large", "xlarge", "huge"];

/// Words for the purpose or the structure of a model. Two names that differ in one of them are different models. Each
/// word has the modality that it implies, if any.
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

/// Last parts of a path that are not model names.
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
            // A name such as `17b-16e` contains the active parameters. The total is not in the name.
            name.active_b = name.params_b.take();
        }
        // Without a size, only the version distinguishes the models of a family.
        let has_size = name.params_b.is_some() || name.active_b.is_some();
        let version = |word: &str| has_size && is_version(word);
        let variant = |word: &&String| !VARIANTS.contains(&&***word) && !version(word) && !is_date(word);
        name.base = name.words.iter().filter(variant).cloned().collect();
        name
    }

    /// Returns the modality that the words imply.
    pub(super) fn modality(&self) -> Option<Modality> {
        let said = |word: &str| self.words.iter().any(|known| known == word);
        KINDS.iter().find_map(|(word, modality)| modality.filter(|_| said(word)))
    }

    /// Whether this name can be a model that was tuned from a listed model with fewer of these words. The other words
    /// must not imply another kind of model.
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

    /// Returns sequences of words with a size, the longest first: `hermes-3-llama-3.1-8b` contains `llama-3.1-8b`.
    pub(super) fn inner_keys(&self) -> Vec<String> {
        let words = &self.base;
        let mut keys = keys_of_runs(words, |run| run.iter().any(|word| matches!(size(word), Some(Size::Total(_)))));
        // In `llama-3.1-nemoguard-8b`, family and version come first, and the size comes later.
        let sizes = words.iter().filter(|word| matches!(size(word), Some(Size::Total(_))));
        if let (Some(family), Some(version)) = (words.first(), words.get(1))
            && version.starts_with(|c: char| c.is_ascii_digit())
        {
            keys.extend(sizes.map(|size| format!("{family}-{version}-{size}")));
        }
        keys
    }

    /// Returns sequences of words around a size word, the longest first: `distilbert-base-uncased-finetuned-sst-2`
    /// contains `distilbert-base-uncased` and `distilbert-base`.
    pub(super) fn keys_of_sized_families(&self) -> Vec<String> {
        keys_of_runs(&self.words, |run| run.iter().skip(1).any(|word| SIZES.contains(&&**word)))
    }
}

/// Returns sequences of words that begin with a name and have a size, the longest first. None ends before a version,
/// because `whisper-large-v4` is another release than `whisper-large`.
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

/// Returns the part of a path, address or reference that names the model.
pub(super) fn tail(text: &str) -> String {
    let text = text.trim().trim_matches(['"', '\'']);
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let cut = ["/versions/", "/labels/", "/resolve/", "/blob/", "/snapshots/", "/revisions/"];
    let text = cut.iter().fold(text, |text, mark| match text.split_once(mark) {
        // If a directory contains several models, the file name after the marker identifies the model.
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
    // The hub's cache uses `models--org--name`, and labels use `org--name`.
    part.rsplit("--").next().unwrap_or(part).to_ascii_lowercase()
}

/// Splits a name into words. A point between digits stays, and so does an underscore that means a point, as in `1_8b`.
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

/// Whether an underscore between digits means a point. It does in `1_8b` and `llama3_1`, but not in `q8_0`, in
/// `llama3_8b` or after `3_1`.
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

/// Splits `llama3.1` into `llama 3.1` and `qwen2` into `qwen 2`, but not `v0.1`, `a3b`, `q4`, `r1`, `int4` or `8x7b`.
fn splits_before(word: &str, c: char) -> bool {
    c.is_ascii_digit() && word.len() >= 3 && word.chars().all(|c| c.is_ascii_alphabetic()) && !is_precision_stem(word)
}

fn is_precision_stem(word: &str) -> bool {
    matches!(word, "int" | "fp" | "nvfp" | "mxfp" | "bf" | "exl" | "bnb" | "mxint" | "rank" | "tp" | "pruned")
}

/// Joins the versions of labels and resource names: `3-1-8b` becomes `3.1-8b`, and `v0-3` becomes `v0.3`.
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

/// Parses a size such as `70b`, `8x7b`, `1.5b`, `500m`, `a3b` or `e4b`.
fn size(word: &str) -> Option<Size> {
    if let Some(active) = word.strip_prefix('a').and_then(|rest| rest.strip_suffix('b')) {
        return number(active).map(Size::Active);
    }
    if let Some(effective) = word.strip_prefix('e').and_then(|rest| rest.strip_suffix('b')) {
        // Per-layer embeddings double the parameters that are loaded.
        return number(effective).map(|n| Size::Total(n * 2.0));
    }
    let (digits, factor) = match word.as_bytes().last() {
        Some(b'b') => (&word[..word.len() - 1], 1.0),
        // A word such as `1m` is a context length.
        Some(b'm') if word.len() >= 3 => (&word[..word.len() - 1], 1e-3),
        Some(b't') => (&word[..word.len() - 1], 1e3),
        _ => return None,
    };
    let total = match digits.split_once('x') {
        // The experts share attention and embeddings.
        Some((copies, each)) => number(copies)? * number(each)? * 0.83,
        None => number(digits)?,
    } * factor;
    (0.005..5000.0).contains(&total).then_some(Size::Total(total))
}

/// Parses a number. `06` means `0.6`, in names that must not contain a point.
fn number(text: &str) -> Option<f64> {
    if let Some(tenths) = text.strip_prefix('0').filter(|rest| !rest.is_empty() && !rest.contains('.')) {
        return format!("0.{tenths}").parse().ok();
    }
    text.starts_with(|c: char| c.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Whether the word is a number of experts, such as `16e` or `128e`.
fn is_expert_count(word: &str) -> bool {
    word.strip_suffix('e').is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()))
}

/// Whether the word is a version, such as `v0.3` or `v2`.
fn is_version(word: &str) -> bool {
    word.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether the word is a date: year and month, month and day, or a full date, such as `2407`, `0528` or `20241220`.
fn is_date(word: &str) -> bool {
    matches!(word.len(), 4 | 6 | 8) && word.chars().all(|c| c.is_ascii_digit())
}

/// Separates the words for the precision from the other words.
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
            // The words are ignored: `FP8-KV` also scales the cache, and `UD` is a way of choosing types.
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

/// Words for quantization methods that do not determine the number of bits.
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

/// Parses a number of bits, such as `4bit`, `2bits` or `4bitgs64`.
fn bits(word: &str) -> Option<u32> {
    let (number, rest) = word.split_at_checked(1)?;
    rest.starts_with("bit").then(|| number.parse().ok()).flatten()
}

/// The precision of a name that says it is quantized, but not how.
pub(super) const UNCLEAR: &str = "unclear";

/// Returns the precision that the words together mean.
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
