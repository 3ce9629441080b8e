//! Estimates the tokens per second of a server: a range, and its terms.
//!
//! A step generates one token for each active sequence. It reads the weights and the caches, computes, starts its
//! kernels, and communicates between accelerators. The limits of the hardware are calculated. The distance of
//! an engine from these limits was fitted to published measurements. The range is the deviation of measurements from
//! the estimate, for sources that the fit did not use. All numbers are in `pricing/throughput.csv`. If the measurements
//! of a group are too few or differ too much, there is no estimate.

use crate::catalog::{Catalog, Model, Peak, Precision};

/// The class of an engine, as far as measurements distinguish engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineClass {
    /// Engines compiled for the accelerator: TensorRT-LLM and NIM, LMDeploy.
    Tuned,
    /// General engines: vLLM, SGLang, TGI.
    Default,
}

impl EngineClass {
    /// Returns `None` for engines with too few measurements, and for engines that do not batch sequences.
    pub fn of(engine: &str) -> Option<EngineClass> {
        let engine = engine.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| engine.contains(word));
        if says(&["tensorrt", "trt-llm", "nim", "lmdeploy", "turbomind"]) {
            Some(EngineClass::Tuned)
        } else if says(&["vllm", "sglang", "tgi", "text-generation-inference", "deepspeed-mii"]) || engine == "lorax" {
            Some(EngineClass::Default)
        } else {
            None
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            EngineClass::Tuned => "tuned",
            EngineClass::Default => "default",
        }
    }
}

/// The number of requests at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// A fixed number over all replicas.
    Given(f64),
    /// The server processes as many requests as the engine accepts, up to a limit if one is set.
    Full(Option<f64>),
}

/// The server to estimate.
#[derive(Debug, Clone, Copy)]
pub struct ModelServer<'m> {
    pub model: &'m Model,
    pub engine: EngineClass,
    pub precision: Precision,
    /// Whether the cache has one byte per element instead of two.
    pub small_cache: bool,
    pub accelerator: Peak<'m>,
    /// The accelerators of all replicas.
    pub accelerators: f64,
    /// The accelerators of one replica, by default all.
    pub of_replica: Option<f64>,
    pub input_tokens: f64,
    pub output_tokens: f64,
    pub load: Load,
}

/// The numbers of the estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    read: f64,
    exchange: f64,
    memory_filled: f64,
    memory_lost_gb: f64,
    tuned: OfClass,
    default: OfClass,
    one_given: Band,
    one_full: Band,
    several: Band,
    first_token: FirstTokenTerms,
}

/// The coefficients of the time to the first token.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FirstTokenTerms {
    /// The time of a request that depends on nothing else.
    fixed_ms: f64,
    arithmetic: f64,
    /// The share of the other active requests whose prompts the server computes first: as expected, and if all
    /// requests arrive at the same moment.
    waits_for: f64,
    waits_for_at_most: f64,
    band: Band,
}

/// The coefficients of an engine class.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OfClass {
    arithmetic: f64,
    launch_ms: f64,
    crossing_ms: f64,
    sequence_ms: f64,
    most_sequences: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Band {
    floor: f64,
    ceiling: f64,
}

/// Minimum, expected value, maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedRange {
    pub floor: f64,
    pub expected: f64,
    pub ceiling: f64,
}

impl ServerSpeed {
    /// Returns the time per token that the server surely keeps. The estimate of a time is right within a factor of two.
    pub fn slowest_ms_per_token(&self) -> f64 {
        self.ms_per_token.ceiling.max(2.0 * self.ms_per_token.expected)
    }
}

impl SpeedRange {
    pub fn times(self, factor: f64) -> SpeedRange {
        SpeedRange { floor: self.floor * factor, expected: self.expected * factor, ceiling: self.ceiling * factor }
    }
}

/// The parts of one step, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTimes {
    pub weights_read: f64,
    pub cache_read: f64,
    pub arithmetic: f64,
    pub launches: f64,
    pub crossing: f64,
    /// The work of the host for each sequence.
    pub sequences: f64,
}

impl StepTimes {
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("weights read", self.weights_read),
            ("cache read", self.cache_read),
            ("arithmetic", self.arithmetic),
            ("launches", self.launches),
            ("crossing", self.crossing),
            ("sequences", self.sequences),
        ]
    }

    pub fn step_ms(&self) -> f64 {
        self.named().iter().map(|(_, ms)| ms).sum()
    }

    /// Returns the longest part.
    pub fn longest(&self) -> &'static str {
        let longest = self.named().into_iter().max_by(|(_, one), (_, two)| one.total_cmp(two));
        longest.map_or("nothing", |(name, _)| name)
    }
}

/// The speed of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerSpeed {
    /// Tokens per second of all accelerators.
    pub tokens_per_second: SpeedRange,
    /// The time between two tokens of one answer. The minimum is the fastest. It contains the prompts of other requests,
    /// but not the request's own prompt.
    pub ms_per_token: SpeedRange,
    /// The mean time from a request to the first token of its answer. It is unknown at full load, because more requests
    /// wait the longer.
    pub ms_to_first_token: Option<SpeedRange>,
    pub terms: StepTimes,
    /// The sequences that one replica processes at a time.
    pub in_flight: f64,
    pub replicas: f64,
    /// The group of measurements behind the range.
    pub group: &'static str,
}

/// The number of requests at a time above which there are too few measurements.
pub(super) const MOST_REQUESTS: f64 = 64.0;
/// The number of accelerators above which there are too few measurements.
const MOST_ACCELERATORS: f64 = 8.0;

impl Coefficients {
    /// Returns `None` if the tables lack a number, which a test excludes.
    pub fn of(catalog: &Catalog) -> Option<Coefficients> {
        let all = |term| catalog.throughput(term, "*");
        let class = |class: &str| {
            Some(OfClass {
                arithmetic: catalog.throughput("arithmetic", class)?,
                launch_ms: catalog.throughput("launch", class)?,
                crossing_ms: catalog.throughput("crossing", class)?,
                sequence_ms: catalog.throughput("sequence", class)?,
                most_sequences: catalog.throughput("most-sequences", class)?,
            })
        };
        let band = |group: &str| {
            Some(Band { floor: catalog.throughput("floor", group)?, ceiling: catalog.throughput("ceiling", group)? })
        };
        Some(Coefficients {
            read: all("read")?,
            exchange: all("exchange")?,
            memory_filled: all("memory-filled")?,
            memory_lost_gb: all("memory-lost")?,
            tuned: class("tuned")?,
            default: class("default")?,
            one_given: band("one-given")?,
            one_full: band("one-full")?,
            several: band("several")?,
            first_token: FirstTokenTerms {
                fixed_ms: all("first-fixed")?,
                arithmetic: all("first-arithmetic")?,
                waits_for: all("first-wait")?,
                waits_for_at_most: all("first-wait-most")?,
                band: band("first-token")?,
            },
        })
    }

    fn class(&self, engine: EngineClass) -> &OfClass {
        match engine {
            EngineClass::Tuned => &self.tuned,
            EngineClass::Default => &self.default,
        }
    }
}

/// Returns the speed of a server, or why there is no reliable estimate.
pub fn estimate_speed(server: &ModelServer<'_>, coefficients: &Coefficients) -> Result<ServerSpeed, &'static str> {
    let (band, group) = group(server, coefficients)?;
    let shape = Shape::of(server, coefficients)?;
    let terms = terms(server, &shape, coefficients);
    let step_ms = terms.step_ms();
    // A step without prompts, which is the fastest step between two tokens of an answer.
    let answer_ms = step_terms(server, &shape, coefficients, 1.0).step_ms();
    let others = (shape.in_flight - 1.0) / shape.in_flight;
    let paced_ms = answer_ms + (step_ms - answer_ms) * others;
    let rate = shape.replicas * shape.in_flight / step_ms * 1e3;
    if !rate.is_finite() || rate <= 0.0 {
        return Err("the settings of this server contradict each other");
    }
    // The memory bandwidth limits the speed.
    let least_ms = (terms.weights_read + terms.cache_read) / coefficients.read;
    let fastest_ms = (step_ms / band.ceiling).max(least_ms);
    let of = |floor: f64, expected: f64, ceiling: f64| SpeedRange { floor, expected, ceiling };
    Ok(ServerSpeed {
        tokens_per_second: of(rate * band.floor, rate, rate * step_ms / fastest_ms),
        ms_per_token: of((answer_ms / band.ceiling).max(least_ms), paced_ms, paced_ms / band.floor),
        ms_to_first_token: ms_to_first_token(server, &shape, coefficients, answer_ms),
        terms,
        in_flight: shape.in_flight,
        replicas: shape.replicas,
        group,
    })
}

/// Returns the range of the server's group, or why the group has none.
fn group(server: &ModelServer<'_>, coefficients: &Coefficients) -> Result<(Band, &'static str), &'static str> {
    if server.accelerator.vendor != "nvidia" {
        return Err("for accelerators of this vendor, too few published measurements agree");
    }
    if server.model.is_mixture() {
        return Err("for mixture-of-experts models, published measurements differ too much from any estimate");
    }
    if server.accelerators > MOST_ACCELERATORS {
        return Err("there are too few measurements with more than 8 accelerators");
    }
    match (server.accelerators > 1.0, server.load) {
        (_, Load::Given(requests)) if requests > MOST_REQUESTS => {
            Err("there are too few measurements with a fixed number of more than 64 requests at a time")
        }
        (true, _) => Ok((coefficients.several, "dense models on 2 to 8 NVIDIA accelerators")),
        (false, Load::Given(_)) => {
            Ok((coefficients.one_given, "dense models on one NVIDIA accelerator, up to 64 requests at a time"))
        }
        (false, Load::Full(_)) => Ok((coefficients.one_full, "dense models on one NVIDIA accelerator at full load")),
    }
}

/// The layout of the server.
#[derive(Clone, Copy)]
struct Shape {
    weight_bytes: f64,
    cache_bytes: f64,
    /// The accelerators of one replica.
    devices: f64,
    replicas: f64,
    in_flight: f64,
}

impl Shape {
    fn of(server: &ModelServer<'_>, coefficients: &Coefficients) -> Result<Shape, &'static str> {
        let weight_bytes = server.model.params_b * 1e9 * bytes_per_weight(server.precision);
        let cache_bytes = cache_bytes_of(server);
        let room = |devices: f64| {
            let memory = coefficients.memory_filled * server.accelerator.memory_gb - coefficients.memory_lost_gb;
            devices * memory * 1e9 - weight_bytes
        };
        let all = server.accelerators;
        let mut devices = server.of_replica.map_or(all, |some| some.min(all));
        // If the model does not fit on the declared accelerators, the declaration means something else, such as
        // pipeline stages.
        while room(devices) <= cache_bytes && devices < all {
            devices = (2.0 * devices).min(all);
        }
        let held = room(devices) / cache_bytes;
        if held.is_nan() || held < 1.0 {
            return Err("the model and one request do not fit on these accelerators");
        }
        let replicas = (all / devices).max(1.0);
        let most = coefficients.class(server.engine).most_sequences;
        let in_flight = match server.load {
            Load::Given(requests) => (requests / replicas).min(held),
            Load::Full(limit) => limit.map_or(most, |limit| (limit / replicas).min(most)).min(held),
        };
        Ok(Shape { weight_bytes, cache_bytes, devices, replicas, in_flight: in_flight.max(1.0) })
    }
}

fn terms(server: &ModelServer<'_>, shape: &Shape, coefficients: &Coefficients) -> StepTimes {
    // The tokens processed per generated token, including the prompt.
    step_terms(server, shape, coefficients, 1.0 + server.input_tokens / server.output_tokens)
}

/// Returns the time of a step that processes this many tokens for each generated token.
fn step_terms(server: &ModelServer<'_>, shape: &Shape, coefficients: &Coefficients, passed: f64) -> StepTimes {
    let class = coefficients.class(server.engine);
    let (model, peak) = (server.model, &server.accelerator);
    let layers = layers(model);
    let active = model.active_b.unwrap_or(model.params_b) * 1e9;
    let read_ms = |bytes: f64| coefficients.read * bytes / (shape.devices * peak.gb_per_second * 1e9) * 1e3;
    let flops = 2.0 * active * shape.in_flight * passed;
    let at_most = shape.devices * tflops(peak, server.precision) * 1e12;
    let crossing = if shape.devices > 1.0 {
        // Each layer needs two sums over all accelerators, with two bytes for each unit of width.
        let bytes = 4.0 * layers * width(model) * shape.in_flight * passed;
        let share = (shape.devices - 1.0) / shape.devices;
        let exchange = bytes / (peak.link_gb_per_second * 1e9) * share * 1e3;
        class.crossing_ms * layers + coefficients.exchange * exchange
    } else {
        0.0
    };
    StepTimes {
        weights_read: read_ms(shape.weight_bytes),
        cache_read: read_ms(shape.in_flight * shape.cache_bytes),
        arithmetic: class.arithmetic * flops / at_most * 1e3,
        launches: class.launch_ms * layers,
        crossing,
        sequences: class.sequence_ms * shape.in_flight,
    }
}

/// Returns the mean time to the first token. At the minimum, no request waits for another. At the maximum, all active
/// requests arrive at the same moment, so that each waits for half of the others' prompts on average. The range also has
/// the deviation of measurements with one request at a time.
fn ms_to_first_token(
    server: &ModelServer<'_>,
    shape: &Shape,
    coefficients: &Coefficients,
    running_ms: f64,
) -> Option<SpeedRange> {
    let Load::Given(requests) = server.load else { return None };
    // Requests beyond the memory wait until others end.
    if requests / shape.replicas > shape.in_flight {
        return None;
    }
    let (model, peak, first) = (server.model, &server.accelerator, &coefficients.first_token);
    // One pass over the prompt: weights, launches and the link are those of a step.
    let alone = Shape { in_flight: 1.0, ..*shape };
    let pass = step_terms(server, &alone, coefficients, server.input_tokens);
    let rate = shape.devices * tflops(peak, server.precision) * 1e12;
    let active = model.active_b.unwrap_or(model.params_b) * 1e9;
    // Each token attends to half of the prompt on average, in two products of the width.
    let attention = 2.0 * layers(model) * width(model) * server.input_tokens;
    let prompt_ms = first.arithmetic * (2.0 * active + attention) * server.input_tokens / rate * 1e3;
    let one_ms = first.fixed_ms + pass.weights_read + pass.launches + pass.crossing + prompt_ms;
    let waiting = |share: f64| match shape.in_flight - 1.0 {
        others if others > 0.0 => running_ms + share * others * prompt_ms,
        _ => 0.0,
    };
    Some(SpeedRange {
        floor: first.band.floor * one_ms,
        expected: one_ms + waiting(first.waits_for),
        ceiling: first.band.ceiling * (one_ms + waiting(first.waits_for_at_most)),
    })
}

/// Returns the cache bytes of one sequence in the middle of its answer.
fn cache_bytes_of(server: &ModelServer<'_>) -> f64 {
    let model = server.model;
    let tokens = server.input_tokens + server.output_tokens / 2.0;
    let whole = if model.kv_bytes_per_token > 0.0 { model.kv_bytes_per_token } else { 4096.0 * layers(model) };
    let window = model.window_bytes_per_token * tokens.min(model.window);
    (whole * tokens + window) * if server.small_cache { 0.5 } else { 1.0 }
}

fn layers(model: &Model) -> f64 {
    if model.layers > 0.0 { model.layers } else { (13.5 * model.params_b.powf(0.415)).round().max(8.0) }
}

fn width(model: &Model) -> f64 {
    if model.hidden > 0.0 { model.hidden } else { 128.0 * layers(model) }
}

/// Returns the peak speed in this precision. 4-bit integer weights are multiplied with 16 bits.
fn tflops(peak: &Peak<'_>, precision: Precision) -> f64 {
    let eight = || peak.fp8_tflops.or(peak.int8_tops);
    let narrow = match precision {
        Precision::Fp8 => peak.fp8_tflops,
        Precision::Int8 => eight(),
        Precision::Nvfp4 | Precision::Mxfp4 => peak.fp4_tflops.or(peak.fp8_tflops),
        Precision::Fp4Mix => peak.fp8_tflops,
        _ => None,
    };
    narrow.unwrap_or(peak.bf16_tflops)
}

/// Returns the bytes of a weight, including its scales.
fn bytes_per_weight(precision: Precision) -> f64 {
    match precision {
        Precision::Fp32 => 4.0,
        Precision::Bf16 | Precision::Fp16 => 2.0,
        Precision::Fp8 | Precision::Int8 | Precision::Gptq8 => 1.0,
        Precision::Awq | Precision::Gptq4 | Precision::Int4 | Precision::Nf4 => 0.55,
        Precision::Nvfp4 => 0.5625,
        Precision::Mxfp4 => 0.53,
        Precision::Fp4Mix => 0.6,
        Precision::Gguf(bytes) => f64::from(bytes),
        Precision::Exl2(bits) => f64::from(bits) / 8.0,
    }
}
