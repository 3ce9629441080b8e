//! Converts the facts of a resource into the input of a memory estimate, or returns why this is impossible.

use std::borrow::Cow;
use std::sync::Arc;

use super::readings::usual_sequence;
use super::speed::{Coefficients, EngineClass, Load, ModelServer, ServerSpeed, estimate_speed};
use super::workload::{Engine, Optimizer, Recompute, Sharding, Training, TuningMethod, Workload, WorkloadDefaults};
use crate::catalog::{
    AcceleratorHardware, AcceleratorSlice, Catalog, Identification, Identified, Modality, Model, Precision,
};
use crate::inventory::{Fact, FactOrigin, FactValue, Key, KnownFact, Purpose, ReadBy, Resource, Task};

/// The demand of a workload, independent of its accelerators.
#[derive(Debug, Clone)]
pub struct FitDemand<'m> {
    pub model: Cow<'m, Model>,
    pub task: Task,
    pub engine: Engine,
    /// The class of its engine, if there are enough measurements of it.
    pub class: Option<EngineClass>,
    pub precision: Precision,
    /// Whether the weights may be quantized, because the known name is only the one for clients.
    pub may_be_quantized: bool,
    pub cache_bytes: f64,
    pub context: f64,
    /// Whether the context is the model's whole window, because nothing limits it.
    pub whole_window: bool,
    /// Whether the number of context tokens is unknown.
    pub window_assumed: bool,
    pub batch: f64,
    /// The configured number of requests at a time.
    pub concurrent: Option<f64>,
    /// Whether only the size of the model is known. It may not even generate tokens.
    pub known_by_size: bool,
    /// The declared tokens of a usual prompt and a usual answer.
    pub prompt: Option<f64>,
    pub answer: Option<f64>,
    /// The declared tensor parallelism, or 0 if all devices of a pod share each layer.
    pub tensor_parallel: f64,
    pub pipeline_parallel: f64,
    pub data_parallel: f64,
    pub expert_parallel: f64,
    pub utilization: Option<f64>,
    pub draft_b: f64,
    pub offloaded: bool,
    pub training: Training,
    pub unsaid: WorkloadDefaults,
}

/// Why a demand is unknown, and the missing fact. `None` means that no model is configured at all.
pub(super) type MissingFact = Option<(Arc<str>, Key)>;

/// Reads facts, and tracks the lowest confidence among them.
pub(super) struct FactReader<'r> {
    resource: &'r Resource,
    pub(super) origin: FactOrigin,
    pub(super) model_taken_for: Option<String>,
}

/// Trainers that compute the loss as the estimate assumes. Others compute it in pieces if an option is set.
const KNOWN_LOSS: &[&str] =
    &["litgpt", "composer", "megatron", "nemo", "ms-swift", "ms-swift-megatron", "torchtitan", "deepspeed-chat"];

/// The assumed context window of a model of which only the size is known.
const UNKNOWN_WINDOW: f64 = 8192.0;

impl<'r> FactReader<'r> {
    pub(super) fn new(resource: &'r Resource) -> Self {
        FactReader { resource, origin: FactOrigin::Written, model_taken_for: None }
    }

    /// Records why the model was not found by its exact name.
    fn takes_for(&mut self, why: String) {
        self.weaken(FactOrigin::Inferred(why.as_str().into()));
        self.model_taken_for = Some(why);
    }

    fn weaken(&mut self, by: FactOrigin) {
        self.origin = std::mem::replace(&mut self.origin, FactOrigin::Written).weakest(by);
    }

    fn known(&mut self, key: Key) -> Result<Option<&'r KnownFact<FactValue>>, MissingFact> {
        match self.resource.fact(key) {
            Fact::Known(known) => {
                self.weaken(known.origin.clone());
                Ok(Some(known))
            }
            Fact::Unknown(unknown) => Err(Some((format!("{} is unknown: {}", key.name(), unknown.why).into(), key))),
            Fact::Absent => Ok(None),
        }
    }

    fn text(&mut self, key: Key) -> Result<Option<&'r str>, MissingFact> {
        Ok(self.known(key)?.and_then(|known| known.value.as_text()))
    }

    fn number(&mut self, key: Key) -> Result<Option<f64>, MissingFact> {
        Ok(self.known(key)?.and_then(|known| known.value.as_number()).filter(|n| *n > 0.0))
    }

    fn missing<T>(why: impl Into<Arc<str>>, at: Key) -> Result<T, MissingFact> {
        Err(Some((why.into(), at)))
    }

    /// Returns the model of a resource, and its demand.
    pub(super) fn demand<'c>(&mut self, catalog: &'c Catalog) -> Result<FitDemand<'c>, MissingFact> {
        let found = self.model(catalog)?;
        let program = self.resource.text(Key::Program).unwrap_or_default();
        let task = self.task(&found.model)?;
        let precision = self.precision(&found, task)?;
        let is_served_name = self.resource.fact(Key::Model).origin() == Some(&FactOrigin::ServedName);
        let may_be_quantized = is_served_name && precision.is_full() && self.resource.fact(Key::Precision).is_absent();
        let model = found.model;
        let known_by_size = model.shapes_assumed;
        if known_by_size && found.by != Identification::Size {
            self.takes_for("no source has the layers of this model: the size of its cache is unknown".to_owned());
        }
        let context = self.context(&model, task, program)?;
        // An unknown program may not reserve memory at its start, so gpulint does not report that it refuses to
        // start.
        let is_assumed = program.is_empty() && matches!(self.origin, FactOrigin::Assumed(_));
        let engine = if is_assumed { Engine::Eager } else { engine(program) };
        let training = if task == Task::Train { self.training(precision)? } else { Training::default() };
        // By default, QLoRA trains on weights with 4 bits.
        let quantizes = training.method == TuningMethod::Qlora && task == Task::Train && precision.is_full();
        let precision = if quantizes { Precision::Nf4 } else { precision };
        let unsaid = if task == Task::Train { 1.0 } else { 0.0 };
        let tensor_parallel = self.number(Key::TensorParallel)?.unwrap_or(unsaid);
        Ok(FitDemand {
            task,
            engine,
            class: EngineClass::of(program),
            precision,
            may_be_quantized,
            cache_bytes: self.text(Key::CachePrecision)?.and_then(bytes_of_cached_value).unwrap_or(2.0),
            whole_window: self.resource.fact(Key::Context).is_absent(),
            window_assumed: task == Task::Serve
                && self.resource.fact(Key::Context).is_absent()
                && (model.max_context <= 0.0 || program.is_empty()),
            context,
            batch: self.batch(task, engine)?,
            concurrent: self.concurrent(task, engine)?,
            known_by_size,
            prompt: self.resource.number(Key::PromptTokens).filter(|it| *it >= 1.0),
            answer: self.resource.number(Key::AnswerTokens).filter(|it| *it >= 1.0),
            tensor_parallel,
            pipeline_parallel: self.number(Key::PipelineParallel)?.unwrap_or(1.0),
            data_parallel: self.number(Key::DataParallel)?.unwrap_or(1.0),
            expert_parallel: self.number(Key::ExpertParallel)?.unwrap_or(self.usual_experts(&model, &training)),
            utilization: self.number(Key::MemoryUtilization)?,
            draft_b: self.draft(catalog)?,
            offloaded: self.text(Key::Offload)?.is_some_and(|what| what != "optimizer"),
            training,
            unsaid: self.unsaid(task, precision, may_be_quantized, known_by_size),
            model,
        })
    }

    /// The values that are not set, so that usual values are assumed.
    fn unsaid(&self, task: Task, precision: Precision, may_be_quantized: bool, cache: bool) -> WorkloadDefaults {
        let absent = |key| self.resource.fact(key).is_absent();
        if task != Task::Train {
            return WorkloadDefaults { precision: may_be_quantized, cache, ..WorkloadDefaults::default() };
        }
        let program = self.resource.text(Key::Program).unwrap_or_default();
        let sharding = self.resource.text(Key::Sharding).unwrap_or_default();
        WorkloadDefaults {
            sequence: absent(Key::Context),
            batch: absent(Key::BatchSize),
            recompute: absent(Key::Recompute),
            optimizer: absent(Key::Optimizer),
            sharding: absent(Key::Sharding) && self.accelerators() > 1.0,
            // DeepSpeed and Megatron keep a 32-bit copy. With other libraries, the training script decides.
            copy: precision != Precision::Fp32 && matches!(sharding, "" | "fsdp" | "none" | "ddp"),
            loss: !KNOWN_LOSS.contains(&program),
            ..WorkloadDefaults::default()
        }
    }

    /// The default number of devices over which experts are distributed. Megatron distributes them over all.
    fn usual_experts(&self, model: &Model, training: &Training) -> f64 {
        let spreads = model.is_mixture() && training.sharding == Sharding::Megatron;
        if spreads { self.accelerators() } else { 1.0 }
    }

    /// The devices of all machines or pods that train together.
    fn accelerators(&self) -> f64 {
        let number = |key| self.resource.number(key).unwrap_or(1.0).max(1.0);
        number(Key::AcceleratorCount) * number(Key::GroupSize)
    }

    fn model<'c>(&mut self, catalog: &'c Catalog) -> Result<Identified<'c>, MissingFact> {
        let said = self.text(Key::Model);
        if said.is_err()
            && let Some(found) = self.named_after(catalog)
        {
            return Ok(found);
        }
        let name = said?;
        let size = self.number(Key::Parameters)?;
        let found = name.and_then(|name| self.identified(catalog, name));
        // A declared size completes an unknown name.
        if let Some(found) = found.filter(|found| found.by != Identification::Size || size.is_none()) {
            let name = name.unwrap_or_default();
            match found.by {
                Identification::Listed => {}
                Identification::Derived => {
                    self.takes_for(format!("`{name}` is named after {}", found.model.id));
                }
                Identification::Size => {
                    self.takes_for(format!(
                        "gpulint does not list the model `{name}`: it uses the size in the name, and the size of its cache is unknown"
                    ));
                }
            }
            return Ok(found);
        }
        if let Some(size) = size {
            return self.sized(catalog, name, size);
        }
        // A path identifies a model no better than a missing name does.
        if name.is_none_or(|name| name.starts_with('/'))
            && let Some(found) = self.named_after(catalog)
        {
            return Ok(found);
        }
        match (name, self.resource.text(Key::Program)) {
            (Some(name), _) => {
                let near = catalog.models().nearest(name).join(", ");
                let near = if near.is_empty() { near } else { format!("; similar names: {near}") };
                Self::missing(format!("gpulint does not know the model `{name}`{near}"), Key::Model)
            }
            (None, Some(program)) => Self::missing(format!("no model is set for {program}"), Key::Program),
            (None, None) => Err(None),
        }
    }

    /// Identifies a model by its name. A name in Ollama's library can omit the usual size.
    fn identified<'c>(&self, catalog: &'c Catalog, name: &str) -> Option<Identified<'c>> {
        let listed = |found: &Identified<'_>| found.by == Identification::Listed;
        if self.resource.text(Key::Program) == Some("ollama")
            && let Some(found) = catalog.models().identify(&format!("ollama:{name}")).filter(listed)
        {
            return Some(found);
        }
        catalog.models().identify(name)
    }

    /// If a server sets no model, its own name can contain one. Only a listed name with a size in it
    /// counts.
    fn named_after<'c>(&mut self, catalog: &'c Catalog) -> Option<Identified<'c>> {
        self.resource.text(Key::Program)?;
        if !matches!(self.resource.front_end, ReadBy::Kubernetes | ReadBy::Chart) {
            return None;
        }
        let name = &*self.resource.declared.name;
        let found = catalog.models().identify(name).filter(|found| found.by == Identification::Listed)?;
        if !name.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.takes_for(format!("its name is that of {}", found.model.id));
        Some(found)
    }

    fn sized<'c>(
        &mut self,
        catalog: &'c Catalog,
        name: Option<&str>,
        size: f64,
    ) -> Result<Identified<'c>, MissingFact> {
        self.takes_for("only the size of the model is known, not the size of its cache".to_owned());
        match catalog.models().of_size(size) {
            Some(model) => {
                let called = name.map_or_else(|| format!("a model of {size} billion parameters"), str::to_owned);
                let model = Model { id: called.into(), ..model };
                Ok(Identified { model: Cow::Owned(model), precision: None, unclear: false, by: Identification::Size })
            }
            None => Self::missing(format!("{size} billion parameters is not a valid model size"), Key::Parameters),
        }
    }

    /// Returns the task. Some models have only one; for others, the configuration must set it.
    fn task(&mut self, model: &Model) -> Result<Task, MissingFact> {
        let said = match (self.text(Key::Task)?.and_then(Task::from_name), self.resource.purpose()) {
            (None, Some(purpose @ (Purpose::Inference | Purpose::Training))) => {
                self.weaken(FactOrigin::Inferred(format!("it is for {}", purpose.name()).into()));
                Some(if purpose == Purpose::Training { Task::Train } else { Task::Serve })
            }
            // A program that does not end by itself keeps the weights in memory, whatever it uses them for.
            (None, None) if self.resource.flag(Key::EndsByItself) != Some(true) => {
                self.weaken(FactOrigin::Assumed("it is unknown what the model is used for".into()));
                Some(Task::Serve)
            }
            (said, _) => said,
        };
        match (said, model.modality) {
            (Some(Task::Train), _) => Ok(Task::Train),
            (_, Modality::Diffusion) => Ok(Task::Diffusion),
            // Models for audio and images process their input once.
            (_, Modality::Speech | Modality::Audio) => Ok(Task::Speech),
            (_, Modality::Embedding | Modality::Image) => Ok(Task::Embed),
            (Some(task), _) => Ok(task),
            (None, _) => Self::missing("it is unknown what the model is used for", Key::Model),
        }
    }

    fn precision(&mut self, found: &Identified<'_>, task: Task) -> Result<Precision, MissingFact> {
        let declared = self.known(Key::Precision)?;
        let is_default = declared.is_some_and(|known| known.origin == FactOrigin::Default);
        let text = declared.and_then(|known| known.value.as_text());
        let said = text.and_then(Precision::parse);
        if let (Some(text), None) = (text, said) {
            return Self::missing(format!("gpulint does not know the precision `{text}`"), Key::Precision);
        }
        let published = found.model.published;
        let quantized = |precision: &Precision| !precision.is_full();
        // A quantized checkpoint stays quantized, whatever type it computes in.
        let stored = found.precision.filter(quantized).or(Some(published).filter(quantized));
        if found.unclear && stored.is_none() && said.filter(quantized).is_none() {
            let why = "the model's name marks it as quantized, but does not contain the number of bits";
            return Self::missing(why, Key::Model);
        }
        let settled = match (said.filter(quantized), stored) {
            (Some(_), Some(stored)) if is_default => stored,
            (Some(Precision::Gptq4), Some(Precision::Int8 | Precision::Gptq8)) => Precision::Gptq8,
            (Some(said), _) => said,
            (None, Some(stored)) => stored,
            (None, None) => said.or(found.precision).unwrap_or(published),
        };
        // By default, engines compute with 16 bits, whatever type the checkpoint has.
        let widest = said != Some(Precision::Fp32) && matches!(task, Task::Serve | Task::Train);
        Ok(if settled == Precision::Fp32 && widest { Precision::Fp16 } else { settled })
    }

    fn context(&mut self, model: &Model, task: Task, program: &str) -> Result<f64, MissingFact> {
        if let Some(context) = self.number(Key::Context)? {
            return Ok(context);
        }
        match task {
            Task::Embed | Task::Diffusion | Task::Speech => Ok(512.0),
            Task::Train => Ok(usual_sequence(self.number(Key::BatchSize)?.unwrap_or(1.0))),
            // Without a limit, Ollama uses at least the context that it chooses on the smallest cards.
            Task::Serve if program == "ollama" => Ok(model.max_context.clamp(512.0, 4096.0)),
            Task::Serve if model.max_context > 0.0 && !program.is_empty() => {
                self.weaken(FactOrigin::Default);
                Ok(model.max_context)
            }
            Task::Serve => {
                let whose = if program.is_empty() { "the context length" } else { "the context window of the model" };
                self.weaken(FactOrigin::Assumed(
                    format!("{whose} is unknown: {UNKNOWN_WINDOW} tokens are assumed").into(),
                ));
                Ok(if model.max_context > 0.0 { model.max_context.min(UNKNOWN_WINDOW) } else { UNKNOWN_WINDOW })
            }
        }
    }

    fn batch(&mut self, task: Task, engine: Engine) -> Result<f64, MissingFact> {
        match (task, engine) {
            // In a pooled engine, all sequences share one cache. In other engines, each has its own.
            (Task::Serve, Engine::Pooled { .. }) => Ok(1.0),
            _ => Ok(self.number(Key::BatchSize)?.unwrap_or(1.0)),
        }
    }

    /// Returns the number of sequences that must fit into the shared cache of a server.
    fn concurrent(&mut self, task: Task, engine: Engine) -> Result<Option<f64>, MissingFact> {
        match (task, engine) {
            (Task::Serve, Engine::Pooled { .. }) => self.number(Key::BatchSize),
            _ => Ok(None),
        }
    }

    fn draft(&mut self, catalog: &Catalog) -> Result<f64, MissingFact> {
        let Some(name) = self.text(Key::DraftModel)? else { return Ok(0.0) };
        Ok(catalog.models().identify(name).map_or(0.0, |found| found.model.params_b))
    }

    fn training(&mut self, precision: Precision) -> Result<Training, MissingFact> {
        let program = self.resource.text(Key::Program).unwrap_or_default();
        let method = match self.text(Key::Method)?.and_then(TuningMethod::from_name) {
            Some(method) => method,
            None => return Self::missing("no training method is set (all weights or adapters)", Key::Task),
        };
        let said = self.text(Key::Sharding)?.and_then(Sharding::from_name);
        // By default, full training on several devices distributes all states.
        let spreads = method == TuningMethod::Full && self.accelerators() > 1.0;
        let sharding = said.unwrap_or(if spreads { Sharding::Everything } else { Sharding::None });
        let optimizer = match self.text(Key::Optimizer)? {
            None => Optimizer::AdamW,
            Some(name) => match Optimizer::from_name(name) {
                Some(optimizer) => optimizer,
                None => {
                    return Self::missing(
                        format!("gpulint does not know the memory use of the optimizer `{name}`"),
                        Key::Optimizer,
                    );
                }
            },
        };
        if let Some(what @ ("activations" | "gradients")) = self.text(Key::Offload)? {
            return Self::missing(
                format!("gpulint does not know how much memory it saves to offload {what}"),
                Key::Offload,
            );
        }
        let recompute = match self.known(Key::Recompute)?.and_then(|known| known.value.as_flag()) {
            Some(true) => Recompute::Full,
            _ => Recompute::No,
        };
        Ok(Training {
            method,
            optimizer,
            sharding,
            recompute,
            optimizer_offloaded: self.text(Key::Offload)? == Some("optimizer"),
            pure_half: precision != Precision::Fp32 && sharding == Sharding::None && program != "composer",
            upcasts_embeddings: !matches!(program, "litgpt" | "axolotl"),
            adapter_params: if program == "litgpt" { 100.0 } else { 600.0 },
            flat_gradients: program == "litgpt" && method == TuningMethod::Lora && sharding == Sharding::Everything,
            labelled_loss: program == "ms-swift",
            fused_norms: matches!(program, "megatron" | "ms-swift-megatron" | "nemo" | "torchtitan" | "composer"),
            parallel_loss: matches!(program, "megatron" | "ms-swift-megatron" | "nemo" | "torchtitan" | "composer"),
            ..Training::default()
        })
    }

    /// Returns the accelerators of one replica: their kind, and their number in one pod or machine.
    pub(super) fn devices<'c>(&mut self, catalog: &'c Catalog) -> Result<(AcceleratorHardware<'c>, f64), MissingFact> {
        let Some(name) = self.text(Key::Accelerator)? else {
            return Self::missing("the accelerator is unknown", Key::AcceleratorCount);
        };
        let Some(mut device) = catalog.hardware(name) else {
            return Self::missing(
                format!("gpulint does not know how much memory of {name} a program can use"),
                Key::Accelerator,
            );
        };
        let count = self.number(Key::AcceleratorCount)?.unwrap_or(1.0);
        if let Some(profile) = self.text(Key::Slice)? {
            match catalog.mig(name, profile) {
                Some(slice) => device.usable_gib = slice_gib(&slice),
                None => return Self::missing(format!("{name} does not support the slice {profile}"), Key::Slice),
            }
        } else if count < 1.0 {
            // Other programs may use the same device, and nothing enforces how they divide its memory.
            device.usable_gib *= count;
        }
        Ok((device, count.max(1.0)))
    }
}

/// Returns the memory of a slice that a program can use.
pub(super) fn slice_gib(slice: &AcceleratorSlice<'_>) -> f64 {
    slice.memory_gib * 0.97
}

/// Returns how a program manages memory.
fn engine(program: &str) -> Engine {
    match program {
        "vllm" | "kserve-huggingface" | "aphrodite" | "ray-serve" | "" => Engine::Pooled { has_utilization: true },
        // NIM selects a profile, and with it a context, that fits the card.
        "nim" | "sglang" | "tgi" | "lorax" | "trt-llm" | "triton" | "lmdeploy" | "djl" | "mlc-llm" => {
            Engine::Pooled { has_utilization: false }
        }
        "ollama" | "llama.cpp" | "localai" | "tabby" => Engine::Layered,
        _ => Engine::Eager,
    }
}

/// The assumed tokens of a prompt and an answer.
pub const ASSUMED_PROMPT: f64 = 1024.0;
pub const ASSUMED_ANSWER: f64 = 256.0;

impl FitDemand<'_> {
    /// Returns the speed at a load, or why there is no reliable number.
    pub fn speed(
        &self,
        (catalog, coefficients): (&Catalog, Option<&Coefficients>),
        accelerator: &str,
        accelerators: f64,
        of_copy: f64,
        load: Load,
    ) -> Result<ServerSpeed, &'static str> {
        if self.task != Task::Serve {
            return Err("gpulint estimates only servers of language models");
        }
        if self.known_by_size {
            return Err("gpulint knows only the size of this model");
        }
        if self.draft_b > 0.0 || self.offloaded {
            return Err("gpulint does not estimate draft models or weights in host memory");
        }
        let engine = self.class.ok_or("there are too few measurements of this engine")?;
        let coefficients = coefficients.ok_or("gpulint's tables lack numbers for this")?;
        let (input_tokens, output_tokens) = self.lengths();
        let server = ModelServer {
            model: &self.model,
            engine,
            precision: self.precision,
            small_cache: self.cache_bytes < 2.0,
            accelerator: catalog.peak(accelerator).ok_or("gpulint does not know the speed of this accelerator")?,
            accelerators,
            of_replica: Some(of_copy),
            input_tokens,
            output_tokens,
            load,
        };
        estimate_speed(&server, coefficients)
    }

    /// Returns the declared or assumed tokens of a prompt and an answer, limited by the context.
    pub fn lengths(&self) -> (f64, f64) {
        let answer = self.answer.unwrap_or(ASSUMED_ANSWER.min(self.context / 2.0)).min(self.context).max(1.0);
        let prompt = self.prompt.unwrap_or(ASSUMED_PROMPT);
        (prompt.min(self.context - answer).max(1.0), answer)
    }

    /// Returns the number of devices of one model copy.
    pub fn devices_of_copy(&self, given: f64) -> f64 {
        match self.task {
            Task::Train => given,
            _ if self.tensor_parallel <= 0.0 => given / self.data_parallel.max(1.0),
            _ => self.tensor_parallel * self.pipeline_parallel,
        }
    }

    /// Returns the workload on this many devices.
    pub fn on(&self, devices: f64, tensor_parallel: f64, pipeline_parallel: f64) -> Workload<'_> {
        Workload {
            model: &self.model,
            task: self.task,
            engine: self.engine,
            precision: self.precision,
            cache_bytes: self.cache_bytes,
            context: self.context,
            batch: self.batch,
            concurrent: self.concurrent.unwrap_or(1.0),
            devices,
            tensor_parallel,
            pipeline_parallel,
            expert_parallel: self.expert_parallel,
            utilization: self.utilization,
            draft_b: self.draft_b,
            weights_offloaded: self.offloaded,
            eager_attention: false,
            training: self.training,
            unsaid: self.unsaid,
        }
    }

    /// Returns why the memory of training is unknown, or `None` if all required values are set.
    pub(super) fn guessed(&self) -> Option<(Arc<str>, Key)> {
        let why = match self.unsaid {
            WorkloadDefaults { sequence: true, .. } => "no length of the training sequences is set",
            WorkloadDefaults { batch: true, .. } => "no batch size per device is set",
            _ => return None,
        };
        Some((why.into(), Key::Task))
    }

    /// Whether the engine refuses to start if the whole context does not fit.
    pub fn needs_whole_context(&self) -> bool {
        matches!(self.engine, Engine::Pooled { has_utilization: true }) || !self.whole_window
    }
}
/// Returns the bytes of a value in the KV cache with this precision; none if the precision is not one of a cache.
pub fn bytes_of_cached_value(precision: &str) -> Option<f64> {
    match precision {
        "fp8" | "int8" => Some(1.0),
        "int4" => Some(0.5),
        _ => None,
    }
}
