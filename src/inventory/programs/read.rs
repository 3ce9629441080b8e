//! Applies the table of programs to words, variables and settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::fact::{Fact, FactOrigin};
use super::super::key::{FactValue, Key};
use super::super::terms::Task;
use super::table::{DeclaredTarget, KnownProgram, Rank, TABLE, TextReader, normalize_flag, normalize_path};
use super::values::{self, ValueMeaning, meaning};
use super::words::{self, CommandWord, ProgramCommand};
use super::{ProgramFacts, ProgramSetting, SettingsFiles};
use crate::languages::shell::HOLE;
use crate::source::Span;

/// The rank of settings files. Arguments rank before the files that they name, these before variables, and variables
/// before settings.
const FILES: Rank = 400;
/// The rank of conclusions from a switch that is off.
const SWITCHED_OFF: Rank = 900;
const VARIABLES: Rank = 1000;
const GENERIC: Rank = 2000;
/// The rank of conclusions from the name of a program or image.
const NAMES: Rank = 3000;

/// The facts found so far: for each fact, the place with the strongest rank.
#[derive(Default)]
pub(super) struct FoundFacts {
    facts: BTreeMap<Key, (Rank, Fact<FactValue>)>,
    /// The cause, if unknown arguments or variables exist: a missing fact may be among them.
    open: Option<(Arc<str>, Span)>,
    expert_parallel: Option<CommandWord>,
    files: Arc<SettingsFiles>,
}

impl FoundFacts {
    pub(super) fn with_files(files: Arc<SettingsFiles>) -> Self {
        FoundFacts { files, ..FoundFacts::default() }
    }

    pub(super) fn put(&mut self, key: Key, rank: Rank, fact: Fact<FactValue>) {
        if self.facts.get(&key).is_none_or(|(known, _)| rank <= *known) && !fact.is_absent() {
            self.facts.insert(key, (rank, fact));
        }
    }

    fn has(&self, key: Key) -> bool {
        self.facts.contains_key(&key)
    }

    fn text(&self, key: Key) -> Option<&str> {
        self.facts.get(&key).and_then(|(_, fact)| fact.value()).and_then(FactValue::as_text)
    }

    /// Records a fact from a word that declares it.
    fn word(&mut self, programs: &[&KnownProgram], key: Key, rank: Rank, token: &CommandWord) {
        if token.has_hole() {
            return self.put(key, rank, Fact::unknown(token.why(), token.span));
        }
        match meaning(programs.first().copied(), key, &token.text) {
            ValueMeaning::Value(value) => self.put(key, rank, known(value, token)),
            ValueMeaning::Unclear(why) => self.put(key, rank, Fact::unknown(why, token.span)),
            ValueMeaning::Nothing => {}
        }
    }

    /// Records a fixed value from the table, with the place of the word that implies it.
    fn fixed(&mut self, programs: &[&KnownProgram], key: Key, rank: Rank, value: &str, token: &CommandWord) {
        if key == Key::ExpertParallel && value == "group" {
            self.expert_parallel = Some(token.clone());
            return;
        }
        let token = CommandWord { text: value.to_owned(), why: None, ..token.clone() };
        self.word(programs, key, rank, &token);
    }

    fn apply(&mut self, programs: &[&KnownProgram], target: DeclaredTarget, rank: Rank, token: &CommandWord) {
        match target {
            DeclaredTarget::Key(key) => self.word(programs, key, rank, token),
            DeclaredTarget::Reader(_) if token.has_hole() => {
                if target == DeclaredTarget::Reader(TextReader::Arguments) {
                    self.open = Some((token.why(), token.span));
                }
            }
            DeclaredTarget::Reader(reader) => self.read(programs, reader, rank, token),
        }
    }

    fn read(&mut self, programs: &[&KnownProgram], reader: TextReader, rank: Rank, token: &CommandWord) {
        let lower = token.text.to_ascii_lowercase();
        match reader {
            TextReader::Arguments => {
                let words = words::of_arguments(token);
                self.arguments(programs, &words, 0, false);
            }
            TextReader::Profile => self.profile(programs, rank, token),
            TextReader::Speculation => {
                let said = serde_json::from_str::<serde_json::Value>(&token.text).unwrap_or_default();
                // Some methods draft without a separate model: from earlier tokens, or with heads of the main model.
                let model = said.get("model").or_else(|| said.get("method")).and_then(|model| model.as_str());
                if let Some(model) = model {
                    self.fixed(programs, Key::DraftModel, rank, model, token);
                }
            }
            TextReader::File => {
                self.file(programs, token);
            }
            TextReader::ShardingFile => {
                if !self.file(programs, token) {
                    self.word(programs, Key::Sharding, rank, token);
                }
            }
            TextReader::Deepspeed => {
                if let Some((_, deepspeed)) = TABLE.program("deepspeed")
                    && self.file(&[deepspeed], token)
                {
                    return;
                }
                self.word(programs, Key::Sharding, rank, token);
                if lower.contains("offload") {
                    self.fixed(programs, Key::Offload, rank, "optimizer", token);
                }
            }
            TextReader::Fsdp => {
                self.word(programs, Key::Sharding, rank, &CommandWord { text: fsdp(&token.text), ..token.clone() });
                if lower.split_whitespace().any(|word| word == "offload") {
                    self.fixed(programs, Key::Offload, rank, "weights", token);
                }
            }
            TextReader::OffloadOptimizer
            | TextReader::OffloadWeights
            | TextReader::OffloadActivations
            | TextReader::DropGradients => {
                let what = match reader {
                    TextReader::OffloadOptimizer => "optimizer",
                    TextReader::OffloadActivations => "activations",
                    TextReader::DropGradients => "gradients",
                    _ => "weights",
                };
                if values::flag(&lower) != Some(false) {
                    self.fixed(programs, Key::Offload, rank, what, token);
                }
            }
            TextReader::Recipe => {
                self.recipe(programs, rank, token);
                self.file(programs, token);
            }
        }
    }

    /// Reads precision and parallelism from a profile such as `tensorrt_llm-h100-fp8-tp4-pp1-throughput`. Other
    /// profiles are only identifiers.
    fn profile(&mut self, programs: &[&KnownProgram], rank: Rank, token: &CommandWord) {
        let number = |part: &str, prefix: &str| part.strip_prefix(prefix)?.parse::<u32>().ok();
        for part in token.text.to_ascii_lowercase().split('-') {
            if let Some(n) = number(part, "tp") {
                self.fixed(programs, Key::TensorParallel, rank, &n.to_string(), token);
            } else if let Some(n) = number(part, "pp") {
                self.fixed(programs, Key::PipelineParallel, rank, &n.to_string(), token);
            } else if matches!(part, "fp8" | "bf16" | "fp16" | "int8" | "int4" | "nvfp4" | "mxfp4" | "fp4") {
                self.fixed(programs, Key::Precision, rank, part, token);
            }
        }
    }

    /// Reads method and sharding from the name of a recipe: `llama3_1/70B_qlora_single_device`.
    fn recipe(&mut self, programs: &[&KnownProgram], rank: Rank, token: &CommandWord) {
        let lower = token.text.to_ascii_lowercase();
        let method = ["qlora", "lora", "full", "pretrain"].into_iter().find(|word| lower.contains(word));
        if let Some(method) = method {
            let method = if method == "pretrain" { "full" } else { method };
            self.fixed(programs, Key::Method, rank, method, token);
        }
        if lower.contains("single_device") {
            self.fixed(programs, Key::Sharding, rank, "ddp", token);
        } else if lower.contains("distributed") {
            self.fixed(programs, Key::Sharding, rank, "fsdp", token);
        }
    }

    /// Reads the arguments of a command. `start` is the first word after the program's name.
    pub(super) fn arguments(
        &mut self,
        programs: &[&KnownProgram],
        words: &[CommandWord],
        start: usize,
        positional: bool,
    ) {
        let mut positional = positional.then(|| programs.first().and_then(|program| program.positional)).flatten();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            if word.is_open() {
                if at > start {
                    self.open.get_or_insert((word.why(), word.span));
                }
                continue;
            }
            let (name, inline) = split_flag(word);
            let normalized = normalize_flag(name);
            if !name.starts_with('-') {
                if let Some(value) = &inline {
                    // Hydra and OmegaConf take arguments such as `model.micro_batch_size=4`.
                    let plain = normalized.trim_start_matches('+').to_owned();
                    self.flag(programs, &plain, Some(value), word);
                } else if at > start
                    && let Some(target) = positional.take()
                {
                    self.apply(programs, target, 1, word);
                }
                continue;
            }
            let next = words.get(at).filter(|next| inline.is_none() && is_value(next));
            let consumed = self.flag(programs, &normalized, inline.as_ref().or(next), word);
            if inline.is_none() && next.is_some() && consumed {
                at += 1;
            }
        }
    }

    /// Reads one flag, and returns whether the next word is its value.
    fn flag(
        &mut self,
        programs: &[&KnownProgram],
        name: &str,
        value: Option<&CommandWord>,
        word: &CommandWord,
    ) -> bool {
        let with_span = |value: &CommandWord| CommandWord { span: word.span.to(value.span), ..value.clone() };
        for program in programs {
            if let Some((target, rank)) = program.flags.get(name) {
                let origin = FactOrigin::ServedName;
                let served = value.filter(|_| name == "--served-model-name");
                let served = served.map(|it| CommandWord { origin: it.origin.clone().weakest(origin), ..it.clone() });
                match served.as_ref().or(value) {
                    Some(value) => self.apply(programs, *target, rank + 1, &with_span(value)),
                    None if matches!(target, DeclaredTarget::Key(key) if *key == Key::Recompute) => {
                        self.fixed(programs, Key::Recompute, rank + 1, "true", word);
                    }
                    None => {}
                }
                return true;
            }
            if let Some(sets) = program.switches.get(name) {
                let said = value.and_then(|value| values::flag(&value.text));
                let no = said == Some(false);
                for (key, text) in sets.iter().filter(|_| !no) {
                    self.fixed(programs, *key, 0, text, word);
                }
                return said.is_some();
            }
        }
        !programs.iter().any(|program| program.bare.iter().any(|bare| bare == name))
    }

    pub(super) fn environment(&mut self, programs: &[&KnownProgram], command: &ProgramCommand, generic: bool) {
        // If the command line names the model, unknown variables do not make other facts unknown.
        let told = self.has(Key::Model);
        let mut sets: Vec<(&KnownProgram, Rank)> = programs.iter().map(|program| (*program, VARIABLES)).collect();
        if generic {
            sets.push((&TABLE.generic, GENERIC));
        }
        for (name, token) in command.env.telling() {
            for (program, offset) in &sets {
                if let Some((target, rank)) = program.env.get(&name) {
                    self.apply(programs, *target, offset + rank, token);
                    break;
                }
                if let Some(flags) = program.switches.get(&name.to_ascii_lowercase().replace('_', "-"))
                    && values::flag(&token.text) == Some(true)
                {
                    flags.iter().for_each(|(key, text)| self.fixed(programs, *key, *offset, text, token));
                    break;
                }
            }
        }
        if let Some(why) = command.open_env.as_ref().filter(|_| !told)
            && let Some(span) = command.image.as_ref().map(|image| image.span)
        {
            self.open.get_or_insert((why.clone(), span));
        }
    }

    /// Reads the settings file that a word names, and returns whether the file is in the repository.
    fn file(&mut self, programs: &[&KnownProgram], token: &CommandWord) -> bool {
        let files = self.files.clone();
        let Some(settings) = files.get(&token.text) else { return false };
        self.settings(programs, settings, FILES);
        true
    }

    /// Finds the model in an argument of a custom program, if it has the form of a hub name: `--model
    /// Qwen/Qwen2.5-7B-Instruct`.
    pub(super) fn model_by_flag(&mut self, words: &[CommandWord]) {
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.text.starts_with("--")) {
            let (name, inline) = split_flag(word);
            let Some((target, rank)) = TABLE.generic.flags.get(&normalize_flag(name)) else { continue };
            let value = inline.as_ref().or_else(|| words.get(at + 1));
            if let Some(value) = value.filter(|value| is_name_of_hub(&value.text)) {
                let spanned = CommandWord { span: word.span.to(value.span), ..value.clone() };
                self.apply(&[], *target, GENERIC + rank, &spanned);
            }
        }
    }

    pub(super) fn settings(&mut self, programs: &[&KnownProgram], settings: &[ProgramSetting], offset: Rank) {
        for setting in settings {
            let path = normalize_path(&setting.path);
            let Some(token) = words::token(&setting.value) else { continue };
            for program in programs {
                if let Some((target, rank)) = program.setting(&path) {
                    self.apply(programs, target, offset + rank, &token);
                    break;
                }
                let last = path.rsplit('.').next().unwrap_or_default();
                let (switches, rank) = match values::flag(&token.text) {
                    Some(true) => (&program.setting_switches, offset + 1),
                    Some(false) => (&program.switched_off, SWITCHED_OFF),
                    None => continue,
                };
                if let Some(sets) = switches.get(&path).or_else(|| switches.get(last)) {
                    sets.iter().for_each(|(key, text)| self.fixed(programs, *key, rank, text, &token));
                    break;
                }
            }
        }
    }

    /// Finds the model in the path of an image: `nvcr.io/nim/meta/llama-3.1-8b-instruct:1.3`.
    pub(super) fn model_of_image(&mut self, image: &CommandWord) {
        let (path, _) = super::table::image_parts(&image.text);
        let mut parts: Vec<&str> = path.rsplit('/').take(2).collect();
        parts.reverse();
        let model = parts.join("/");
        if !model.contains(HOLE) && !model.ends_with("llm-nim") {
            let origin = image.origin.clone();
            self.put(Key::Model, NAMES, Fact::known(FactValue::text(model), image.span, origin));
        }
    }

    /// Returns all facts found, with the facts that follow from them.
    pub(super) fn finish(mut self, programs: &[&KnownProgram], span: Span, known_by: FactOrigin) -> ProgramFacts {
        let Some(program) = programs.first() else { return self.into_facts() };
        self.put(Key::Program, 0, Fact::known(FactValue::text(&*program.name), span, known_by.clone()));
        if let Some(task) = programs.iter().find_map(|program| program.task) {
            let origin = FactOrigin::Inferred(format!("it runs {}", program.name).into());
            let origin = if program.launcher { origin } else { known_by };
            self.put(Key::Task, GENERIC, Fact::known(task.into(), span, origin));
        }
        self.expert_group();
        self.quantized_adapters();
        // A server without a model argument gets its model and its number of devices elsewhere.
        let serves = !program.launcher && program.task != Some(Task::Train);
        let is_told_elsewhere = serves && !self.has(Key::Model) && self.open.is_none();
        for (key, value) in programs.iter().flat_map(|program| &program.defaults) {
            if self.has(*key) || is_told_elsewhere {
                continue;
            }
            match (&self.open, meaning(Some(program), *key, value)) {
                (Some((why, at)), _) => {
                    let fact = Fact::unknown(why.clone(), *at);
                    self.facts.insert(*key, (NAMES, fact));
                }
                (None, ValueMeaning::Value(value)) => {
                    self.facts.insert(*key, (NAMES, Fact::known(value, span, FactOrigin::Default)));
                }
                _ => {}
            }
        }
        if let Some((why, at)) = &self.open {
            let undecided = [Key::Model, Key::Context, Key::Precision];
            for key in undecided.into_iter().filter(|key| !self.facts.contains_key(key)).collect::<Vec<_>>() {
                self.facts.insert(key, (NAMES, Fact::unknown(why.clone(), *at)));
            }
        }
        self.into_facts()
    }

    /// Handles the switch that spreads experts over all GPUs of the tensor and data parallel groups.
    fn expert_group(&mut self) {
        let Some(token) = self.expert_parallel.take() else { return };
        let size = |key| match self.facts.get(&key) {
            Some((_, fact)) => fact.value().and_then(FactValue::as_number),
            None => Some(1.0),
        };
        if let (Some(tensor), Some(data)) = (size(Key::TensorParallel), size(Key::DataParallel)) {
            let value = FactValue::Integer((tensor * data) as i64);
            self.put(Key::ExpertParallel, 1, known(value, &token));
        }
    }

    /// Sets the method for adapters on four-bit weights, which has its own name.
    fn quantized_adapters(&mut self) {
        let four_bit = matches!(self.text(Key::Precision), Some("nf4" | "int4" | "fp4"));
        if four_bit
            && self.text(Key::Method) == Some("lora")
            && let Some((rank, Fact::Known(method))) = self.facts.get_mut(&Key::Method)
        {
            method.value = FactValue::text("qlora");
            *rank = 0;
        }
    }

    pub(super) fn into_facts(self) -> ProgramFacts {
        self.facts.into_iter().map(|(key, (_, fact))| (key, fact)).collect()
    }
}

fn known(value: FactValue, token: &CommandWord) -> Fact<FactValue> {
    let mut fact = Fact::known(value, token.span, token.origin.clone());
    if let Fact::Known(known) = &mut fact {
        known.defined = token.defined;
    }
    fact
}

/// Returns true if the text is a hub name, with owner and name: `Qwen/Qwen2.5-7B-Instruct`. A file path is not.
fn is_name_of_hub(text: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let has_ending = [".pt", ".pth", ".bin", ".onnx", ".gguf", ".safetensors", ".ckpt", ".yaml", ".json", ".py"];
    text.split_once('/').is_some_and(|(owner, name)| is_name(owner) && is_name(name))
        && !has_ending.iter().any(|ending| text.ends_with(ending))
}

/// Returns the sharding for a number in the launcher's configuration: 1 shards all weights, 3 none.
fn fsdp(text: &str) -> String {
    match text.trim() {
        "1" => "full_shard",
        "2" => "shard_grad_op",
        "3" => "no_shard",
        "4" | "5" => "hybrid_shard",
        text => text,
    }
    .to_owned()
}

/// Splits `--flag=value`.
fn split_flag(word: &CommandWord) -> (&str, Option<CommandWord>) {
    match word.text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !name.contains(char::is_whitespace) => {
            (name, Some(CommandWord { text: value.trim_matches(['"', '\'']).to_owned(), ..word.clone() }))
        }
        _ => (&word.text, None),
    }
}

/// Flags begin with a dash. Negative numbers do too, and they are values.
fn is_value(word: &CommandWord) -> bool {
    !word.text.starts_with('-') || word.text[1..].starts_with(|c: char| c.is_ascii_digit())
}
