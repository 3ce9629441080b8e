//! Finds the model of a name: in the table, in custom models, or by the size in the name.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::Catalog;
use super::format::TableError;
use super::model::{self, Modality, Model};
use super::model_config;
use super::names::{ModelName, UNCLEAR};
use super::precision::Precision;
use crate::source::{csv_records, value_of};

/// The embedded table: its header and its rows.
static TABLE: LazyLock<EmbeddedTable> = LazyLock::new(|| {
    let text = include_str!(concat!(env!("OUT_DIR"), "/models.csv"));
    let (header, rows) = text.split_once('\n').unwrap_or_default();
    let header: Vec<String> = header.split(',').map(str::to_owned).collect();
    // A test reads all rows.
    EmbeddedTable { places: model::columns(&header).unwrap_or_default(), rows }
});
/// Sorted lines of a key and the positions of its rows.
static NAMES: &str = include_str!(concat!(env!("OUT_DIR"), "/models.names"));

/// The embedded models. A row is parsed when a name asks for it.
struct EmbeddedTable {
    places: Vec<usize>,
    rows: &'static str,
}

impl EmbeddedTable {
    fn at(&self, position: usize) -> Option<Model> {
        self.rows.get(position..).and_then(|rows| self.read(rows.lines().next()?))
    }

    fn read(&self, line: &str) -> Option<Model> {
        let (_, cells) = csv_records(line).next()?;
        model::read(&self.places, &cells.ok()?).ok().map(|(model, _)| model)
    }

    fn all(&self) -> impl Iterator<Item = Model> {
        self.rows.lines().filter_map(|line| self.read(line))
    }

    /// Returns the rows of a key, the most probable first.
    fn named(&self, key: &str) -> Vec<Model> {
        let rows = value_of(NAMES, key).map_or("", |rows| rows);
        rows.split(' ').filter_map(|position| self.at(position.parse().ok()?)).collect()
    }
}

/// The table of models. Custom models come first.
#[derive(Debug, Clone, Default)]
pub struct Models {
    own: Vec<Model>,
    own_keys: HashMap<String, usize>,
}

/// The model that a name means.
#[derive(Debug, Clone, PartialEq)]
pub struct Identified<'m> {
    /// The complete model. If the table lacks its shapes, they come from a similar model.
    pub model: Cow<'m, Model>,
    /// The precision of the weights, if the name contains it.
    pub precision: Option<Precision>,
    /// Whether the name says that the weights are quantized, but not how.
    pub unclear: bool,
    pub by: Identification,
}

/// How the name was matched to a model, from the most to the least certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identification {
    /// The name is a listed name or another spelling of it.
    Listed,
    /// The name contains the name of a listed model of the same size, from which it was tuned.
    Derived,
    /// Only the size is known. The shapes come from a typical model of this size.
    Size,
}

/// Typical dense models with grouped attention, one for each size. They provide the shapes that another model lacks.
const TYPICAL: &[&str] = &[
    "Qwen/Qwen2.5-0.5B",
    "Qwen/Qwen2.5-1.5B",
    "meta-llama/Llama-3.2-3B",
    "meta-llama/Llama-3.1-8B",
    "Qwen/Qwen2.5-14B",
    "Qwen/Qwen2.5-32B",
    "meta-llama/Llama-3.1-70B",
    "meta-llama/Llama-3.1-405B",
];

impl Catalog {
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Adds custom models. `path` is for messages.
    pub fn with_models(self, path: &str, text: &str) -> Result<Self, TableError> {
        Ok(Catalog { models: self.models.with_own(path, text)?, ..self })
    }

    /// Adds the models of a price file that are newer than the embedded ones. `path` is for messages.
    pub fn with_newer_models(mut self, path: &str, text: &str) -> Result<Self, TableError> {
        for row in read_models(path, text)?.rows {
            let ModelRow { model, aliases, .. } = row?;
            if Models::is_newer(&model) {
                self.models.add(model, &aliases);
            }
        }
        Ok(self)
    }

    /// Adds a custom model called `name` from its `config.json`. `path` is for messages.
    pub fn with_model_config(self, name: &str, path: &str, text: &str) -> Result<Self, TableError> {
        let model = model_config::read(name, path, text)?;
        let mut models = self.models;
        models.add(model, &[]);
        Ok(Catalog { models, ..self })
    }
}

/// A row of a table of models.
pub struct ModelRow {
    pub model: Model,
    pub aliases: Vec<String>,
    /// The row as it is in the table.
    pub cells: Vec<String>,
}

/// A table of models: its header and its rows.
#[derive(Default)]
pub struct ModelTable {
    pub header: Vec<String>,
    pub rows: Vec<Result<ModelRow, TableError>>,
}

/// Reads a table of models. An error in a row leaves the other rows valid.
pub fn read_models(path: &str, text: &str) -> Result<ModelTable, TableError> {
    let error = |line: usize, message: String| TableError { path: path.to_owned(), line, message };
    let mut records = csv_records(text);
    let Some((line, header)) = records.next() else { return Ok(ModelTable::default()) };
    let header = header.map_err(|message| error(line, message))?;
    let places = model::columns(&header).map_err(|message| error(line, message))?;
    let read = |(line, record): (usize, Result<Vec<String>, String>)| {
        let cells = record.map_err(|message| error(line, message))?;
        let (model, aliases) = model::read(&places, &cells).map_err(|message| error(line, message))?;
        Ok(ModelRow { model, aliases, cells })
    };
    let rows = records.map(read).collect();
    Ok(ModelTable { header, rows })
}

impl Models {
    fn add(&mut self, model: Model, aliases: &[String]) {
        for name in aliases.iter().map(String::as_str).chain([&*model.id]) {
            self.own_keys.insert(ModelName::parse(name).exact_key(), self.own.len());
        }
        self.own.push(model);
    }

    /// Adds custom models, which take precedence over the table. They use the columns of the table; only `model_id` and
    /// `params_b` are required.
    pub fn with_own(mut self, path: &str, text: &str) -> Result<Self, TableError> {
        for row in read_models(path, text)?.rows {
            let ModelRow { model, aliases, .. } = row?;
            self.add(model, &aliases);
        }
        Ok(self)
    }

    /// Returns the model of the embedded table with exactly this name.
    pub fn embedded(id: &str) -> Option<Model> {
        let rows = TABLE.named(&ModelName::parse(id).exact_key());
        rows.into_iter().find(|model| model.id == id)
    }

    /// Whether the program does not know the model, or only an older row of it.
    pub fn is_newer(model: &Model) -> bool {
        Self::embedded(&model.id).is_none_or(|known| known.as_of < model.as_of)
    }

    /// Returns the model that a name, path or address means. `None` if not even its size is known.
    pub fn identify(&self, text: &str) -> Option<Identified<'_>> {
        let name = ModelName::parse(text);
        if name.words.is_empty() {
            return None;
        }
        let precision = name.precision.as_deref().and_then(Precision::parse);
        let unclear = name.precision.as_deref() == Some(UNCLEAR);
        let known = |model, by| Identified { model: complete(model), precision, unclear, by };
        if let Some(model) = self.own_keys.get(&name.exact_key()).and_then(|row| self.own.get(*row)) {
            return Some(known(Cow::Borrowed(model), Identification::Listed));
        }
        for key in [name.exact_key(), name.base_key()] {
            if let Some(model) = listed(&key, precision) {
                return Some(known(Cow::Owned(model), Identification::Listed));
            }
        }
        let tuned_from = |key: String| listed(&key, precision).filter(|it| name.is_tuned_from(&key, it.modality));
        if let Some(model) = name.inner_keys().into_iter().find_map(tuned_from) {
            return Some(known(Cow::Owned(model), Identification::Derived));
        }
        let Some(params_b) = name.params_b else {
            let small = |key: String| small(&key).filter(|it| name.is_tuned_from(&key, it.modality));
            let model = name.keys_of_sized_families().into_iter().find_map(small)?;
            return Some(known(Cow::Owned(model), Identification::Derived));
        };
        let mut model = self.of_size(params_b)?;
        model.modality = name.modality().unwrap_or(model.modality);
        model.active_b = name.active_b;
        model.id = text.to_owned().into();
        Some(Identified { model: Cow::Owned(model), precision, unclear, by: Identification::Size })
    }

    /// Returns the names of all models.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.all().map(|model| model.id.into_owned())
    }

    /// Returns the listed models whose names share the most words with this name, the most similar first.
    pub fn nearest(&self, text: &str) -> Vec<String> {
        const MOST: usize = 3;
        let name = ModelName::parse(text);
        // If two share as many words, the one with fewer other words is more similar.
        let others = |id: &str| ModelName::parse(id).words.iter().filter(|word| !name.words.contains(word)).count();
        let shared = |model: &Model| {
            let other = ModelName::parse(&model.id);
            let first = other.words.first().is_some_and(|word| name.words.first() == Some(word));
            if first { other.words.iter().filter(|word| name.words.contains(word)).count() } else { 0 }
        };
        let mut near: Vec<(usize, String)> = self.all().map(|model| (shared(&model), model.id.into_owned())).collect();
        near.retain(|(words, _)| *words > 0);
        near.sort_by_cached_key(|(words, id)| (Reverse(*words), others(id), id.clone()));
        near.into_iter().take(MOST).map(|(_, id)| id).collect()
    }

    /// Returns a typical model of this many billion parameters.
    pub fn of_size(&self, params_b: f64) -> Option<Model> {
        if !(0.001..10_000.0).contains(&params_b) {
            return None;
        }
        let bare = Model {
            id: format!("{params_b}b").into(),
            modality: Modality::Text,
            params_b,
            active_b: None,
            layers: 0.0,
            hidden: 0.0,
            heads: 0.0,
            kv_heads: 0.0,
            head_dim: 0.0,
            vocab: 0.0,
            published: Precision::Bf16,
            checkpoint_gib: None,
            max_context: 0.0,
            kv_bytes_per_token: 0.0,
            window_bytes_per_token: 0.0,
            window: 0.0,
            state_mib: 0.0,
            latent: false,
            tied: false,
            plain: false,
            denoiser_b: 0.0,
            shapes_assumed: false,
            as_of: Cow::Borrowed(""),
            source: Cow::Borrowed("size in the name"),
        };
        Some(complete(Cow::Owned(bare)).into_owned())
    }

    /// Returns the custom models and all models of the table.
    pub fn all(&self) -> impl Iterator<Item = Model> {
        self.own.iter().cloned().chain(TABLE.all())
    }
}

/// Returns the row of a key. If several precisions of a model are listed, the order is: the precision in the name,
/// sixteen bits, the name without a precision.
fn listed(key: &str, precision: Option<Precision>) -> Option<Model> {
    let mut models = TABLE.named(key);
    let place = |is_wanted: &dyn Fn(&Model) -> bool| models.iter().position(is_wanted);
    let found = match precision.filter(|precision| !precision.is_full()) {
        Some(precision) => {
            place(&|model| model.published == precision).or_else(|| place(&|model| model.published.is_full()))
        }
        None => place(&|model| model.published.is_full()).or_else(|| place(&is_plain)),
    };
    (!models.is_empty()).then(|| models.swap_remove(found.unwrap_or(0)))
}

/// Whether the name contains no precision, so that these are the weights as published.
fn is_plain(model: &Model) -> bool {
    ModelName::parse(&model.id).precision.is_none()
}

/// Returns an encoder, speech or image model, whose size is a word. Models that are tuned from it keep this word.
fn small(key: &str) -> Option<Model> {
    listed(key, None).filter(|model| matches!(model.modality, Modality::Embedding | Modality::Speech | Modality::Image))
}

/// Fills unknown shapes with those of the typical model of the most similar size.
fn complete(model: Cow<'_, Model>) -> Cow<'_, Model> {
    let diffusion = matches!(model.modality, Modality::Diffusion | Modality::Audio | Modality::Image);
    if model.has_shapes() || diffusion {
        return model;
    }
    let distance = |other: &Model| (other.params_b / model.params_b).ln().abs();
    let typical = TYPICAL.iter().filter_map(|id| Models::embedded(id));
    let Some(typical) = typical.min_by(|one, two| distance(one).total_cmp(&distance(two))) else { return model };
    let mut model = model.into_owned();
    model.shapes_assumed = true;
    model.layers = typical.layers;
    model.hidden = typical.hidden;
    model.heads = typical.heads;
    model.kv_heads = typical.kv_heads;
    model.head_dim = typical.head_dim;
    model.kv_bytes_per_token = typical.kv_bytes_per_token;
    model.tied = typical.tied;
    if model.vocab <= 0.0 {
        model.vocab = typical.vocab;
    }
    Cow::Owned(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identify(name: &str) -> String {
        match Models::default().identify(name) {
            Some(found) => {
                let precision = found.precision.map_or("-", Precision::name);
                format!("{} {:.1} {precision} {:?}", found.model.id, found.model.params_b, found.by)
            }
            None => "nothing".to_owned(),
        }
    }

    #[test]
    fn names_in_all_their_forms() {
        let cases = [
            ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.1-8B 8.0 - Listed"),
            ("meta-llama/Meta-Llama-3.1-70B-Instruct", "meta-llama/Llama-3.1-70B 70.6 - Listed"),
            ("/models/llama-3.1-8b-instruct/", "meta-llama/Llama-3.1-8B 8.0 - Listed"),
            ("hf://Qwen/Qwen2.5-72B-Instruct-AWQ", "Qwen/Qwen2.5-72B-Instruct 72.7 awq Listed"),
            ("llama3.1:70b-instruct-q8_0", "meta-llama/Llama-3.1-70B 70.6 gguf Listed"),
            ("s3://bucket/models/Qwen3-8B-Q4_K_M.gguf", "Qwen/Qwen3-8B 8.2 gguf Listed"),
            ("models--meta-llama--Llama-3.1-8B", "meta-llama/Llama-3.1-8B 8.0 - Listed"),
            ("meta-llama-3-1-8b-instruct", "meta-llama/Llama-3.1-8B 8.0 - Listed"),
            ("meta/llama-3.1-70b-instruct", "meta-llama/Llama-3.1-70B 70.6 - Listed"),
            (
                "azureml://registries/azureml-meta/models/Meta-Llama-3-70B/versions/1",
                "meta-llama/Meta-Llama-3-70B 70.6 - Listed",
            ),
            ("publishers/google/models/gemma3@gemma-3-27b-it", "google/gemma-3-27b-it 27.4 - Listed"),
            ("NousResearch/Hermes-3-Llama-3.1-8B", "meta-llama/Llama-3.1-8B 8.0 - Derived"),
            ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistralai/Mixtral-8x7B-v0.1 46.7 - Listed"),
            ("/config/llama3_1_70B_pvc.toml", "meta-llama/Llama-3.1-70B 70.6 - Derived"),
            ("llama3_8b", "meta-llama/Meta-Llama-3-8B 8.0 - Listed"),
            ("nvidia/llama-3.1-nemoguard-8b-content-safety", "meta-llama/Llama-3.1-8B 8.0 - Derived"),
            ("acme/foo-13b-chat-GPTQ", "acme/foo-13b-chat-GPTQ 13.0 gptq4 Size"),
            ("deepseek-ai/DeepSeek-V3.7", "nothing"),
            ("acme/foo-30b-a3b", "acme/foo-30b-a3b 30.0 - Size"),
            ("acme/foo-1_8b", "acme/foo-1_8b 1.8 - Size"),
            ("acme/foo-06b", "acme/foo-06b 0.6 - Size"),
            ("distilbert-base-uncased-finetuned-sst-2-english", "distilbert/distilbert-base-uncased 0.1 - Derived"),
            ("bert-large-uncased-whole-word-masking-finetuned-squad", "google-bert/bert-large-uncased 0.3 - Derived"),
            ("dslim/bert-base-NER", "google-bert/bert-base-cased 0.1 - Listed"),
            ("cardiffnlp/twitter-xlm-roberta-base-sentiment", "FacebookAI/xlm-roberta-base 0.3 - Derived"),
            ("Systran/faster-whisper-small", "openai/whisper-small 0.2 - Derived"),
            ("google/vit-base-patch16-384", "google/vit-base-patch16-224 0.1 - Derived"),
            ("acme/text-large", "nothing"),
            ("google/flan-small", "nothing"),
            ("openai/gpt-oss-120b", "openai/gpt-oss-120b 116.8 - Listed"),
            ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w8a8", "meta-llama/Llama-3.1-8B 8.0 int8 Listed"),
            ("neuralmagic/Meta-Llama-3.1-8B-Instruct-FP8-KV", "meta-llama/Llama-3.1-8B 8.0 fp8 Listed"),
            ("casperhansen/llama-3-70b-instruct-awq", "meta-llama/Meta-Llama-3-70B 70.6 awq Listed"),
            ("zai-org/GLM-4.6", "zai-org/GLM-4.6 357.0 - Listed"),
            ("zai-org/GLM-4.8", "nothing"),
            ("deepseek-ai/DeepSeek-V3.1", "deepseek-ai/DeepSeek-V3 671.0 - Listed"),
            ("nvidia/DeepSeek-V3.1-NVFP4", "nvidia/DeepSeek-V3.1-NVFP4 671.0 nvfp4 Listed"),
            ("Qwen/Qwen3-VL-Embedding-8B", "Qwen/Qwen3-VL-Embedding-8B 8.8 - Listed"),
            ("acme/Qwen3-8B-legal", "Qwen/Qwen3-8B 8.2 - Derived"),
            ("acme/Qwen3-TTS-8B", "acme/Qwen3-TTS-8B 8.0 - Size"),
            ("acme/Qwen3-8B-Reranker", "acme/Qwen3-8B-Reranker 8.0 - Size"),
            ("acme/qwen3-vl-8b-legal", "Qwen/Qwen3-VL-8B-Instruct 8.8 - Derived"),
            ("acme/llava-onevision-qwen2-7b", "acme/llava-onevision-qwen2-7b 7.0 - Size"),
            ("acme/granite-4.0-h-1b-legal", "ibm-granite/granite-4.0-h-1b 1.5 - Derived"),
            ("acme/granite-4.1-h-8b", "acme/granite-4.1-h-8b 8.0 - Size"),
            ("acme/bert-base-cased-embedding", "google-bert/bert-base-cased 0.1 - Derived"),
            ("acme/whisper-base-tts", "nothing"),
            ("gpt-4", "nothing"),
            ("llama", "nothing"),
            ("acme/model-v2-128k", "nothing"),
            ("", "nothing"),
        ];
        let found: Vec<_> = cases.iter().map(|(name, _)| identify(name)).collect();
        assert_eq!(found, cases.map(|(_, expected)| expected));
    }

    #[test]
    fn an_older_row_of_a_price_file_replaces_no_embedded_model() {
        let text =
            |date: &str| format!("model_id,params_b,as_of\nmeta-llama/Llama-3.1-8B,9,{date}\nacme/New-3B,3,{date}\n");
        let params = |date: &str, name: &str| {
            let catalog = Catalog::embedded().with_newer_models("models.csv", &text(date)).unwrap();
            catalog.models().identify(name).unwrap().model.params_b
        };
        let known = Models::embedded("meta-llama/Llama-3.1-8B").unwrap();
        for date in ["2000-01-01", &*known.as_of] {
            assert_eq!(params(date, "meta-llama/Llama-3.1-8B"), known.params_b);
            assert_eq!(params(date, "acme/New-3B"), 3.0);
        }
        assert_eq!(params("2099-01-01", "meta-llama/Llama-3.1-8B"), 9.0);
    }

    #[test]
    fn a_name_of_another_kind_says_what_it_reads_or_makes() {
        let models = Models::default();
        let modality = |name: &str| models.identify(name).unwrap().model.modality;
        assert_eq!(modality("acme/Qwen3-VL-Embedding-5B"), Modality::Embedding);
        assert_eq!(modality("acme/llava-onevision-qwen2-7b"), Modality::Vision);
        assert_eq!(modality("acme/speaker-tts-2b"), Modality::Audio);
        assert_eq!(modality("acme/dream-t2v-14b"), Modality::Diffusion);
        assert_eq!(modality("acme/foo-14b"), Modality::Text);
    }

    /// The GiB that a sequence of the whole context window caches. Layers with a window, latent attention or a state
    /// cache less than all heads of all layers would.
    #[test]
    fn what_models_of_today_keep_of_their_context() {
        let kept = |name: &str, tokens: f64| {
            let models = Models::default();
            let model = models.identify(name).unwrap().model.into_owned();
            let windowed = model.window_bytes_per_token * tokens.min(model.window);
            (model.kv_bytes_per_token * tokens + windowed) / 1_073_741_824.0 + model.state_mib / 1024.0
        };
        let examples = [
            ("zai-org/GLM-4.6", 202_752.0, 71.16),
            ("allenai/Olmo-3-7B-Instruct", 65_536.0, 9.5),
            ("allenai/Olmo-3-32B-Think", 65_536.0, 4.75),
            ("ibm-granite/granite-4.0-h-small", 131_072.0, 2.14),
            ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", 131_072.0, 2.13),
            ("tiiuae/Falcon-H1-34B-Instruct", 262_144.0, 36.28),
            ("moonshotai/Kimi-K2-Instruct-0905", 262_144.0, 17.16),
            ("Qwen/Qwen3-Coder-Next", 262_144.0, 6.04),
            ("LiquidAI/LFM2-8B-A1B", 32_768.0, 0.375),
        ];
        for (name, tokens, expected) in examples {
            let gib: f64 = kept(name, tokens);
            assert_eq!(Models::default().identify(name).unwrap().model.max_context, tokens, "{name}");
            assert!((gib / expected - 1.0).abs() < 0.01, "{name}: {gib:.2}");
        }
    }

    #[test]
    fn every_name_of_the_table_leads_to_its_row_or_its_like() {
        let models = Models::default();
        for model in TABLE.all() {
            let found = models.identify(&model.id).unwrap();
            assert!((found.model.params_b / model.params_b - 1.0).abs() < 0.15, "{}: {}", model.id, found.model.id);
            assert_eq!(found.by, Identification::Listed, "{}", model.id);
        }
        let keys = || NAMES.lines().map(|line| line.split('\t').next().unwrap());
        assert!(keys().is_sorted_by(|one, two| one < two));
    }

    #[test]
    fn own_rows_come_first() {
        let own = "model_id,params_b,layers,hidden,kv_heads,kv_bytes_per_token\nacme/llama-3.1-8b,9,10,20,2,30\n";
        let models = Models::default().with_own("own.csv", own).unwrap();
        assert_eq!(models.identify("llama-3.1-8b").unwrap().model.params_b, 9.0);
        let wrong = Models::default().with_own("own.csv", "model_id,size\nx,1\n").unwrap_err();
        assert!(wrong.message.contains("column `size`"), "{wrong}");
    }
}
