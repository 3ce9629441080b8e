//! The properties of a model, and the parser of the table of models. The build script uses this module, too.

use std::borrow::Cow;

use super::precision::Precision;

/// The architecture of a model. Zero means an unknown value.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name that the publisher uses, such as `meta-llama/Llama-3.1-8B`.
    pub id: Cow<'static, str>,
    pub modality: Modality,
    /// Billions of parameters, including all experts. The memory depends on them.
    pub params_b: f64,
    /// Billions of parameters that one token uses, in a mixture of experts.
    pub active_b: Option<f64>,
    pub layers: f64,
    pub hidden: f64,
    pub heads: f64,
    pub kv_heads: f64,
    pub head_dim: f64,
    pub vocab: f64,
    /// The precision of the published weights.
    pub published: Precision,
    /// The size of the published weights, if a source lists it.
    pub checkpoint_gib: Option<f64>,
    /// The context length in tokens that an engine uses without a limit.
    pub max_context: f64,
    /// Cache bytes per token at two bytes per element, for the layers that cache the whole context.
    pub kv_bytes_per_token: f64,
    /// Cache bytes per token for the layers that cache only a window of tokens.
    pub window_bytes_per_token: f64,
    pub window: f64,
    /// The state of recurrent layers for each sequence.
    pub state_mib: f64,
    /// Whether attention is latent, so that each tensor-parallel rank stores the whole cache.
    pub latent: bool,
    /// Whether embedding and head share one matrix.
    pub tied: bool,
    /// Whether layers have no gate, and so two matrices in addition to attention instead of three.
    pub plain: bool,
    /// Billions of parameters in the diffusion network itself.
    pub denoiser_b: f64,
    /// Whether no source has the layers and widths, so that they are those of a usual model of that size.
    pub shapes_assumed: bool,
    pub as_of: Cow<'static, str>,
    pub source: Cow<'static, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modality {
    Text,
    Vision,
    Embedding,
    Diffusion,
    Speech,
    Audio,
    Image,
}

impl Model {
    /// Whether layers and widths are known, and not taken from a model of similar size.
    pub fn has_shapes(&self) -> bool {
        self.layers > 0.0 && self.hidden > 0.0
    }

    pub fn is_mixture(&self) -> bool {
        self.active_b.is_some()
    }

    /// Returns the number of parameters in embedding and head.
    pub fn embedding_params(&self) -> f64 {
        self.vocab * self.hidden * if self.tied { 1.0 } else { 2.0 }
    }
}

impl Modality {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "llm" => Modality::Text,
            "vlm" => Modality::Vision,
            "embedding" => Modality::Embedding,
            "diffusion" => Modality::Diffusion,
            "asr" => Modality::Speech,
            "audio" => Modality::Audio,
            "vision" => Modality::Image,
            _ => return None,
        })
    }
}

impl Model {
    /// Returns the width of all heads, and the width of the cached heads.
    pub fn attention_widths(&self) -> (f64, f64) {
        let all = self.heads * self.head_dim;
        // Some layers have no cache of their own. Queries are at least as wide as the cached part.
        let cached = if self.latent { all } else { self.kv_heads * self.head_dim };
        if all > 0.0 { (all, cached.min(all)) } else { (self.hidden, self.hidden) }
    }

    /// Returns the number of attention parameters in one layer.
    pub fn attention_params(&self) -> f64 {
        let (all, cached) = self.attention_widths();
        2.0 * self.hidden * (all + cached)
    }

    /// Returns the number of parameters that every rank of an expert-parallel group loads.
    pub fn shared_params(&self) -> f64 {
        let shared = self.embedding_params() + self.layers * self.attention_params();
        shared.min(self.params_b * 1e9)
    }

    /// Returns the inner width of the layers for one token, derived from the number of parameters.
    pub fn middle_width(&self) -> f64 {
        if !self.has_shapes() {
            return 0.0;
        }
        let active = self.active_b.unwrap_or(self.params_b) * 1e9;
        let of_layer = (active - self.embedding_params()) / self.layers - self.attention_params();
        let matrices = if self.plain { 2.0 } else { 3.0 };
        (of_layer / (matrices * self.hidden)).clamp(self.hidden, 10.0 * self.hidden)
    }
}

/// The columns of the table. In a custom file, all columns except `model_id` and `params_b` are optional.
const COLUMNS: &[&str] = &[
    "model_id",
    "aliases",
    "modality",
    "params_b",
    "active_b",
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "vocab",
    "dtype",
    "ckpt_gib",
    "max_context",
    "attention",
    "kv_bytes_per_token",
    "swa_bytes_per_token",
    "swa_window",
    "state_mib_per_seq",
    "special",
    "as_of",
    "source",
];

/// Reads the header, and returns the position of each known column.
pub(super) fn columns(header: &[String]) -> Result<Vec<usize>, String> {
    let mut places = Vec::new();
    for name in header {
        match COLUMNS.iter().position(|column| column == name) {
            Some(place) => places.push(place),
            None => return Err(format!("column `{name}` is not one of {}", COLUMNS.join(", "))),
        }
    }
    if !places.contains(&0) || !places.contains(&3) {
        return Err("the columns `model_id` and `params_b` are required".to_owned());
    }
    Ok(places)
}

/// Reads a row, and returns the model and its other names.
pub(super) fn read(places: &[usize], record: &[String]) -> Result<(Model, Vec<String>), String> {
    if record.len() != places.len() {
        return Err(format!("the line has {} cells, but the header has {}", record.len(), places.len()));
    }
    let cell = |name: &str| {
        let column = COLUMNS.iter().position(|column| *column == name);
        let place = places.iter().position(|place| Some(*place) == column);
        place.and_then(|place| record.get(place)).map_or("", String::as_str)
    };
    let number = |name: &str| match cell(name) {
        "" => Ok(0.0),
        text => match text.parse::<f64>() {
            Ok(n) if n.is_finite() && n >= 0.0 => Ok(n),
            _ => Err(format!("`{text}` is not a number for {name}")),
        },
    };
    let special = cell("special");
    let has = |word: &str| special.split_whitespace().any(|special| special.split(':').next() == Some(word));
    let denoiser = special.split_whitespace().find_map(|word| word.strip_prefix("denoiser:"));
    let modality = match cell("modality") {
        "" => Modality::Text,
        text => Modality::parse(text).ok_or_else(|| format!("`{text}` is not a modality"))?,
    };
    let published = match cell("dtype") {
        "" => Precision::Bf16,
        text => Precision::parse(text).ok_or_else(|| format!("`{text}` is not a precision"))?,
    };
    let optional = |n: f64| (n > 0.0).then_some(n);
    let model = Model {
        id: cell("model_id").to_owned().into(),
        modality,
        params_b: number("params_b")?,
        active_b: optional(number("active_b")?),
        layers: number("layers")?,
        hidden: number("hidden")?,
        heads: number("heads")?,
        kv_heads: number("kv_heads")?,
        head_dim: number("head_dim")?,
        vocab: number("vocab")?,
        published,
        checkpoint_gib: optional(number("ckpt_gib")?),
        max_context: number("max_context")?,
        kv_bytes_per_token: number("kv_bytes_per_token")?,
        window_bytes_per_token: number("swa_bytes_per_token")?,
        window: number("swa_window")?,
        state_mib: number("state_mib_per_seq")?,
        latent: has("mla"),
        tied: has("tied"),
        plain: has("plain"),
        denoiser_b: denoiser.and_then(|text| text.parse().ok()).unwrap_or(0.0),
        shapes_assumed: false,
        as_of: cell("as_of").to_owned().into(),
        source: cell("source").to_owned().into(),
    };
    if model.params_b <= 0.0 {
        return Err(format!("{}: `params_b` must be positive", model.id));
    }
    let aliases = cell("aliases").split(';').map(str::trim).filter(|alias| !alias.is_empty());
    Ok((model, aliases.map(str::to_owned).collect()))
}
