//! Reads a model from the `config.json` that is published with its weights: layers, context window, cache, and
//! its size, calculated from the layers.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::format::TableError;
use super::model::{Modality, Model};
use super::precision::Precision;

/// The maximum file size. All published files are smaller than a twentieth of it.
const MOST_BYTES: usize = 1 << 20;

/// Reads the model that a user calls `name` from the content of a file. `path` is for messages.
pub(super) fn read(name: &str, path: &str, text: &str) -> Result<Model, TableError> {
    let error = |line: usize, message: String| TableError { path: path.to_owned(), line, message };
    if text.len() > MOST_BYTES {
        return Err(error(1, format!("{} bytes are too many for a model configuration", text.len())));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|it| error(it.line(), format!("the file is not valid JSON: {it}")))?;
    let whole = value.as_object().ok_or_else(|| error(1, "a model configuration must be a JSON object".to_owned()))?;
    let inner = ["text_config", "llm_config", "language_config"].iter().find_map(|key| whole.get(*key)?.as_object());
    let fields = Fields { inner: inner.unwrap_or(whole), whole };
    model(name, path, &fields).map_err(|wrong| {
        let line = text.lines().position(|line| line.contains(&format!("\"{}\"", wrong.key)));
        error(line.map_or(1, |line| line + 1), wrong.message)
    })
}

/// An error, and the key that causes it.
struct Wrong {
    key: &'static str,
    message: String,
}

/// The fields of a configuration. A model that reads images has its text model's fields in an inner object.
struct Fields<'j> {
    inner: &'j Map<String, Value>,
    whole: &'j Map<String, Value>,
}

impl<'j> Fields<'j> {
    fn get(&self, key: &str) -> Option<&'j Value> {
        self.inner.get(key).or_else(|| self.whole.get(key)).filter(|value| !value.is_null())
    }

    fn text(&self, key: &str) -> &'j str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.get(key).and_then(Value::as_bool)
    }

    /// Returns the number under the first of these keys that exists, or 0 if none does.
    fn number(&self, keys: &[&'static str], most: f64) -> Result<f64, Wrong> {
        let Some((key, value)) = keys.iter().find_map(|key| Some((*key, self.get(key)?))) else { return Ok(0.0) };
        match value.as_f64() {
            Some(n) if (0.0..=most).contains(&n) => Ok(n),
            _ => Err(Wrong { key, message: format!("`{key}` must be a number from 0 to {most}") }),
        }
    }

    fn needed(&self, keys: &[&'static str], most: f64) -> Result<f64, Wrong> {
        let n = self.number(keys, most)?;
        let key = keys.first().copied().unwrap_or_default();
        if n > 0.0 { Ok(n) } else { Err(Wrong { key, message: format!("`{key}` is missing") }) }
    }
}

const WIDEST: f64 = 1e6;
const MOST_LAYERS: f64 = 1e4;

fn model(name: &str, path: &str, fields: &Fields<'_>) -> Result<Model, Wrong> {
    if fields.flag("is_encoder_decoder") == Some(true) {
        let message = "gpulint cannot read encoder-decoder models from their configuration".to_owned();
        return Err(Wrong { key: "is_encoder_decoder", message });
    }
    let shapes = Shapes::read(fields)?;
    let layers = Layers::read(fields, &shapes)?;
    let past = Past::read(fields, &shapes, &layers)?;
    let experts = Experts::read(fields, &shapes)?;
    let tied = fields.flag("tie_word_embeddings") == Some(true);
    let fixed = shapes.vocab * shapes.hidden * if tied { 1.0 } else { 2.0 }
        + (layers.full + layers.windowed) * attention_params(fields, &shapes)?
        + layers.recurrent * past.recurrent_params
        + eyes(fields);
    let total = fixed + layers.wide * experts.all(&shapes) + experts.dense_layers * experts.dense(&shapes);
    let active = fixed + layers.wide * experts.active(&shapes) + experts.dense_layers * experts.dense(&shapes);
    Ok(Model {
        id: name.to_owned().into(),
        modality: modality(fields),
        params_b: (total / 1e6).round() / 1e3,
        active_b: (experts.count > 1.0).then_some((active / 1e6).round() / 1e3),
        layers: shapes.layers,
        hidden: shapes.hidden,
        heads: shapes.heads,
        kv_heads: shapes.kv_heads,
        head_dim: shapes.head_dim,
        vocab: shapes.vocab,
        published: precision(fields)?,
        checkpoint_gib: None,
        max_context: fields.number(&["max_position_embeddings", "n_positions", "max_seq_len", "seq_length"], 1e9)?,
        kv_bytes_per_token: layers.full * past.bytes_of_layer,
        window_bytes_per_token: layers.windowed * past.bytes_of_layer,
        window: past.window,
        state_mib: layers.with_state * past.state_bytes / 1_048_576.0,
        latent: past.latent,
        tied,
        plain: shapes.matrices < 3.0,
        denoiser_b: 0.0,
        shapes_assumed: false,
        as_of: Cow::Borrowed(""),
        source: path.to_owned().into(),
    })
}

struct Shapes {
    layers: f64,
    hidden: f64,
    heads: f64,
    kv_heads: f64,
    head_dim: f64,
    vocab: f64,
    middle: f64,
    /// The number of matrices in addition to attention: three with a gate, else two.
    matrices: f64,
}

impl Shapes {
    fn read(fields: &Fields<'_>) -> Result<Self, Wrong> {
        /// Model families whose layers have no gate.
        const PLAIN: [&str; 11] = [
            "gpt2",
            "gpt_neox",
            "gptj",
            "gpt_bigcode",
            "opt",
            "bloom",
            "falcon",
            "mpt",
            "starcoder2",
            "phi",
            "nemotron_h",
        ];
        let hidden = fields.needed(&["hidden_size", "n_embd", "d_model"], WIDEST)?;
        let heads = fields.needed(&["num_attention_heads", "n_head", "n_heads"], WIDEST)?;
        let said = |n: f64, usual: f64| if n > 0.0 { n } else { usual };
        let kind = fields.text("model_type");
        let alone = fields.flag("multi_query") == Some(true);
        let plain = PLAIN.contains(&kind) || kind == "nemotron";
        let middle = fields.number(&["intermediate_size", "n_inner", "ffn_dim", "block_ff_dim"], WIDEST)?;
        Ok(Shapes {
            layers: fields.needed(&["num_hidden_layers", "n_layer", "n_layers", "num_layers"], MOST_LAYERS)?,
            hidden,
            heads,
            kv_heads: said(
                fields.number(&["num_key_value_heads", "num_kv_heads", "n_head_kv"], WIDEST)?,
                if alone { 1.0 } else { heads },
            ),
            head_dim: said(fields.number(&["head_dim", "attention_head_dim"], WIDEST)?, hidden / heads),
            vocab: fields.needed(&["vocab_size"], 1e8)?,
            middle: said(middle, 4.0 * hidden),
            matrices: if plain { 2.0 } else { 3.0 },
        })
    }
}

/// The number of layers of each kind.
struct Layers {
    full: f64,
    windowed: f64,
    recurrent: f64,
    /// Layers with a recurrent state, alone or in addition to attention.
    with_state: f64,
    /// Layers that have feed-forward matrices or experts.
    wide: f64,
}

impl Layers {
    fn read(fields: &Fields<'_>, shapes: &Shapes) -> Result<Self, Wrong> {
        let all = shapes.layers;
        let dense = fields.number(&["first_k_dense_replace", "num_dense_layers"], MOST_LAYERS)?.min(all);
        let mixed = |full: f64, windowed: f64, recurrent: f64| Layers {
            full,
            windowed,
            recurrent,
            with_state: recurrent,
            wide: all - dense,
        };
        if let Some(pattern) = fields.get("hybrid_override_pattern").and_then(Value::as_str) {
            let count = |signs: &[char]| pattern.chars().filter(|sign| signs.contains(sign)).count() as f64;
            return Ok(Layers { wide: count(&['-', 'E']), ..mixed(count(&['*']), 0.0, count(&['M'])) });
        }
        let named = ["layer_types", "layers_block_type"].iter().find_map(|key| fields.get(key)?.as_array());
        if let Some(kinds) = named {
            let count = |words: &[&str]| {
                let is = |kind: &str| words.iter().any(|word| kind.contains(word));
                kinds.iter().filter_map(Value::as_str).filter(|kind| is(kind)).count() as f64
            };
            let recurrent = count(&["linear", "mamba", "conv", "recurrent", "ssm"]);
            let windowed = count(&["sliding", "chunked", "local"]);
            return Ok(mixed((all - recurrent - windowed).max(0.0), windowed, recurrent));
        }
        let every = fields.number(&["full_attention_interval", "attn_layer_period"], MOST_LAYERS)?;
        if every >= 1.0 {
            let full = (all / every).floor();
            return Ok(mixed(full, 0.0, all - full));
        }
        let pattern = fields.number(&["sliding_window_pattern"], MOST_LAYERS)?;
        if pattern > 1.0 && fields.get("sliding_window").is_some() {
            let full = (all / pattern).floor();
            return Ok(mixed(full, all - full, 0.0));
        }
        let parallel = fields.text("model_type") == "falcon_h1";
        Ok(Layers { with_state: if parallel { all } else { 0.0 }, ..mixed(all, 0.0, 0.0) })
    }
}

/// The memory of the context in one layer.
struct Past {
    bytes_of_layer: f64,
    latent: bool,
    window: f64,
    state_bytes: f64,
    /// Parameters of the part of a layer with a state that mixes tokens.
    recurrent_params: f64,
}

impl Past {
    fn read(fields: &Fields<'_>, shapes: &Shapes, layers: &Layers) -> Result<Self, Wrong> {
        let rank = fields.number(&["kv_lora_rank"], WIDEST)?;
        let latent = rank > 0.0;
        let rope = fields.number(&["qk_rope_head_dim"], WIDEST)?;
        let kept = if latent { rank + rope } else { 2.0 * shapes.kv_heads * shapes.head_dim };
        let (state, recurrent_params) = state(fields, shapes, layers)?;
        Ok(Past {
            bytes_of_layer: kept * 2.0,
            latent,
            window: fields.number(&["sliding_window", "attention_chunk_size"], 1e9)?,
            state_bytes: state * 4.0,
            recurrent_params,
        })
    }
}

/// Returns the number of elements in the state of one layer, and the number of its parameters.
fn state(fields: &Fields<'_>, shapes: &Shapes, layers: &Layers) -> Result<(f64, f64), Wrong> {
    let hidden = shapes.hidden;
    if layers.with_state <= 0.0 {
        return Ok((0.0, 0.0));
    }
    let values = fields.number(&["linear_num_value_heads"], WIDEST)?;
    if values > 0.0 {
        let key = fields.number(&["linear_key_head_dim"], WIDEST)?;
        let value = fields.number(&["linear_value_head_dim"], WIDEST)?;
        let keys = fields.number(&["linear_num_key_heads"], WIDEST)?;
        let params = hidden * (2.0 * keys * key + 3.0 * values * value);
        return Ok((values * key * value, params));
    }
    let size = fields.number(&["mamba_d_state", "ssm_state_size", "state_size"], WIDEST)?;
    if size > 0.0 {
        let heads = fields.number(&["mamba_n_heads", "mamba_num_heads"], WIDEST)?;
        let each = fields.number(&["mamba_d_head", "mamba_head_dim"], WIDEST)?;
        let expand = fields.number(&["mamba_expand", "expand"], 64.0)?;
        let inner = if heads * each > 0.0 { heads * each } else { expand.max(1.0) * hidden };
        let groups = fields.number(&["mamba_n_groups", "n_groups", "mamba_num_groups"], WIDEST)?.max(1.0);
        return Ok((inner * size, hidden * (3.0 * inner + 2.0 * groups * size + heads)));
    }
    // Short convolutions store only a few tokens and have three input matrices and one output matrix.
    Ok((0.0, 4.0 * hidden * hidden))
}

fn attention_params(fields: &Fields<'_>, shapes: &Shapes) -> Result<f64, Wrong> {
    let hidden = shapes.hidden;
    let rank = fields.number(&["kv_lora_rank"], WIDEST)?;
    if rank <= 0.0 {
        return Ok(2.0 * hidden * shapes.head_dim * (shapes.heads + shapes.kv_heads));
    }
    let rope = fields.number(&["qk_rope_head_dim"], WIDEST)?;
    let plain = fields.number(&["qk_nope_head_dim"], WIDEST)?;
    let value = fields.number(&["v_head_dim"], WIDEST)?;
    let queries = fields.number(&["q_lora_rank"], WIDEST)?;
    let query = shapes.heads * (plain + rope);
    let asks = if queries > 0.0 { queries * (hidden + query) } else { hidden * query };
    Ok(asks + hidden * (rank + rope) + rank * shapes.heads * (plain + value) + shapes.heads * value * hidden)
}

/// The feed-forward matrices or experts of a layer.
struct Experts {
    count: f64,
    chosen: f64,
    middle: f64,
    shared: f64,
    dense_layers: f64,
}

impl Experts {
    fn read(fields: &Fields<'_>, shapes: &Shapes) -> Result<Self, Wrong> {
        let count = fields.number(&["num_local_experts", "n_routed_experts", "num_experts"], WIDEST)?;
        let chosen = fields.number(&["num_experts_per_tok", "moe_topk", "top_k_experts"], WIDEST)?;
        let each = fields.number(&["moe_intermediate_size", "expert_ffn_hidden_size"], WIDEST)?;
        let middle = if each > 0.0 { each } else { shapes.middle };
        let shared = fields.number(&["n_shared_experts", "num_shared_experts"], WIDEST)? * middle;
        let of_its_own = fields.number(
            &["shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"],
            WIDEST,
        )?;
        let dense_layers = fields.number(&["first_k_dense_replace", "num_dense_layers"], MOST_LAYERS)?;
        let dense_layers = dense_layers.min(shapes.layers);
        let shared = if of_its_own > 0.0 { of_its_own } else { shared };
        Ok(Experts { count, chosen, middle, shared: if count > 0.0 { shared } else { 0.0 }, dense_layers })
    }

    fn dense(&self, shapes: &Shapes) -> f64 {
        shapes.matrices * shapes.hidden * shapes.middle
    }

    fn of(&self, experts: f64, shapes: &Shapes) -> f64 {
        shapes.matrices * shapes.hidden * (experts * self.middle + self.shared) + shapes.hidden * self.count
    }

    fn all(&self, shapes: &Shapes) -> f64 {
        if self.count > 0.0 { self.of(self.count, shapes) } else { self.dense(shapes) }
    }

    fn active(&self, shapes: &Shapes) -> f64 {
        if self.count > 0.0 { self.of(self.chosen.min(self.count), shapes) } else { self.dense(shapes) }
    }
}

/// Returns the number of parameters of the image encoder, or 0 if there is none.
fn eyes(fields: &Fields<'_>) -> f64 {
    let Some(vision) = fields.whole.get("vision_config").and_then(Value::as_object) else { return 0.0 };
    let number = |keys: &[&str]| keys.iter().find_map(|key| vision.get(*key)?.as_f64()).unwrap_or(0.0);
    let bounded = |n: f64| n.clamp(0.0, WIDEST);
    let width = bounded(number(&["hidden_size", "width", "embed_dim"]));
    let middle = bounded(number(&["intermediate_size"]));
    let middle = if middle > 0.0 { middle } else { 4.0 * width };
    bounded(number(&["num_hidden_layers", "depth", "layers"])) * (4.0 * width * width + 2.0 * width * middle)
}

fn modality(fields: &Fields<'_>) -> Modality {
    let names = fields.whole.get("architectures").and_then(Value::as_array);
    let name = names.and_then(|names| names.first()?.as_str()).unwrap_or_default();
    let embeds = ["ForMaskedLM", "ForSequenceClassification", "ForRanking", "BertModel", "Embedding"];
    match () {
        () if embeds.iter().any(|word| name.contains(word)) => Modality::Embedding,
        () if fields.whole.contains_key("vision_config") => Modality::Vision,
        () => Modality::Text,
    }
}

fn precision(fields: &Fields<'_>) -> Result<Precision, Wrong> {
    let Some(said) = fields.get("quantization_config").and_then(Value::as_object) else {
        let dtype = ["dtype", "torch_dtype"].iter().find_map(|key| fields.get(key)?.as_str());
        return Ok(dtype.and_then(Precision::parse).unwrap_or(Precision::Bf16));
    };
    let text = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let method = text("quant_method");
    let bits = said.get("bits").and_then(Value::as_u64).or_else(|| found(said, "num_bits", 0)?.as_u64());
    let floats = found(said, "type", 0).and_then(Value::as_str) == Some("float");
    let four = said.get("load_in_4bit").and_then(Value::as_bool) == Some(true);
    Ok(match (&*method, bits) {
        ("awq", _) => Precision::Awq,
        ("gptq", Some(8)) => Precision::Gptq8,
        ("gptq", _) => Precision::Gptq4,
        ("fp8" | "fbgemm_fp8", _) => Precision::Fp8,
        ("mxfp4", _) => Precision::Mxfp4,
        ("bitsandbytes", _) => {
            if four {
                Precision::Nf4
            } else {
                Precision::Int8
            }
        }
        ("compressed-tensors", Some(8)) => {
            if floats {
                Precision::Fp8
            } else {
                Precision::Int8
            }
        }
        ("compressed-tensors", Some(4)) => {
            if floats {
                Precision::Nvfp4
            } else {
                Precision::Int4
            }
        }
        ("modelopt", _) if text("quant_algo").contains("fp4") => Precision::Nvfp4,
        ("modelopt", _) => Precision::Fp8,
        _ => {
            let message = format!("gpulint does not know weights quantized with `{method}`");
            return Err(Wrong { key: "quantization_config", message });
        }
    })
}

/// Returns the first value under a key, at any depth up to a limit.
fn found<'j>(object: &'j Map<String, Value>, key: &str, depth: usize) -> Option<&'j Value> {
    const DEEPEST: usize = 8;
    let here = object.get(key);
    let below = || object.values().filter_map(Value::as_object).find_map(|inner| found(inner, key, depth + 1));
    if depth > DEEPEST { None } else { here.or_else(below) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Model {
        read("acme/own", "config.json", json).unwrap()
    }

    /// Compares billions of parameters (all, active), KiB of cache per token (full, windowed layers), and MiB of state.
    #[track_caller]
    fn check(json: &str, expected: [f64; 5]) {
        let model = of(json);
        let active = model.active_b.unwrap_or(0.0);
        let kib = [model.kv_bytes_per_token, model.window_bytes_per_token].map(|bytes| bytes / 1024.0);
        let found = [model.params_b, active, kib[0], kib[1], model.state_mib];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 0.02 * expected, "{found} instead of {expected}: {model:?}");
        }
    }

    #[test]
    fn published_shapes_tell_size_and_cache() {
        // The first configuration is that of Llama 3.1 8B.
        check(
            r#"{"architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072}"#,
            [8.03, 0.0, 128.0, 0.0, 0.0],
        );
        // The configuration is that of Qwen3 30B A3B.
        check(
            r#"{"hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
            "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8,
            "vocab_size": 151936}"#,
            [30.53, 3.35, 96.0, 0.0, 0.0],
        );
        // The configuration is that of DeepSeek V3.
        check(
            r#"{"hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128,
            "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
            "num_experts_per_tok": 8, "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536,
            "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "vocab_size": 129280}"#,
            [671.0, 37.5, 68.6, 0.0, 0.0],
        );
        // The configuration is that of Granite 4.0 H Micro with only four layers.
        check(
            r#"{"hidden_size": 2048, "num_hidden_layers": 4, "num_attention_heads": 32, "num_key_value_heads": 8,
            "intermediate_size": 8192, "vocab_size": 100352, "tie_word_embeddings": true, "num_local_experts": 0,
            "layer_types": ["mamba", "attention", "mamba", "mamba"], "mamba_n_heads": 64, "mamba_d_head": 64,
            "mamba_d_state": 128, "mamba_n_groups": 1}"#,
            [0.495, 0.0, 2.0, 0.0, 6.0],
        );
        // The configuration is that of Olmo 3 7B with only four layers.
        check(
            r#"{"hidden_size": 4096, "num_hidden_layers": 4, "num_attention_heads": 32, "intermediate_size": 11008,
            "vocab_size": 100278, "sliding_window": 4096,
            "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]}"#,
            [1.63, 0.0, 16.0, 48.0, 0.0],
        );
        // The configuration is that of Nemotron Nano 9B v2.
        check(
            r#"{"model_type": "nemotron_h", "hidden_size": 4480, "num_hidden_layers": 56, "num_attention_heads": 40,
            "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 15680, "vocab_size": 131072,
            "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-",
            "ssm_state_size": 128, "mamba_num_heads": 128, "mamba_head_dim": 80, "n_groups": 8}"#,
            [8.89, 0.0, 16.0, 0.0, 135.0],
        );
    }

    #[test]
    fn precision_and_kind_are_read() {
        let base = r#""hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100"#;
        let stored = |more: &str| of(&format!("{{{base}, {more}}}")).published;
        assert_eq!(stored(r#""torch_dtype": "float32""#), Precision::Fp32);
        assert_eq!(stored(r#""quantization_config": {"quant_method": "gptq", "bits": 8}"#), Precision::Gptq8);
        let groups = r#"{"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 8, "type": "float"}}}}"#;
        assert_eq!(stored(&format!(r#""quantization_config": {groups}"#)), Precision::Fp8);
        let vision = of(&format!(r#"{{"vision_config": {{}}, "text_config": {{{base}}}}}"#));
        assert_eq!((vision.modality, vision.layers), (Modality::Vision, 2.0));
    }

    #[test]
    fn hostile_text_is_an_error_with_its_line() {
        let said = |text: &str| {
            let error = read("x", "config.json", text).unwrap_err();
            format!("{}: {}", error.line, error.message)
        };
        let base = "\"hidden_size\": 64,\n\"num_attention_heads\": 4, \"vocab_size\": 100";
        assert!(said("{\n\"hidden_size\": }").starts_with("2: the file is not valid JSON"));
        assert_eq!(said("[]"), "1: a model configuration must be a JSON object");
        assert_eq!(said(&format!("{{{base}}}")), "1: `num_hidden_layers` is missing");
        let many = format!("{{{base},\n\"num_hidden_layers\": 1e300}}");
        assert_eq!(said(&many), "3: `num_hidden_layers` must be a number from 0 to 10000");
        let odd =
            format!("{{{base}, \"num_hidden_layers\": 2,\n\"quantization_config\": {{\"quant_method\": \"magic\"}}}}");
        assert_eq!(said(&odd), "3: gpulint does not know weights quantized with `magic`");
        assert!(said(&"[".repeat(100_000)).contains("not valid JSON"));
        assert!(said(&" ".repeat(2_000_000)).contains("2000000 bytes"));
        let deep = format!("{{{base}, \"num_hidden_layers\": 2, \"is_encoder_decoder\": true}}");
        assert!(said(&deep).contains("encoder-decoder"));
    }
}
