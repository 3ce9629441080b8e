//! Measures how many estimates per second one core computes, because an editor requests one at each keystroke: `cargo
//! bench --bench fit`

#![allow(clippy::print_stdout, reason = "a benchmark prints its measurements")]

use std::hint::black_box;
use std::time::Instant;

use gpulint::catalog::{Catalog, Models, Precision};
use gpulint::fit::speed::{Coefficients, EngineClass, Load, ModelServer, estimate_speed};
use gpulint::fit::{Engine, Sharding, Training, TuningMethod, Workload, WorkloadDefaults, estimate, verdict};
use gpulint::inventory::Task;

const ROUNDS: u32 = 2_000_000;

fn main() {
    let models = Models::default();
    let names =
        ["meta-llama/Llama-3.1-8B", "Qwen/Qwen2.5-72B-Instruct", "deepseek-ai/DeepSeek-R1", "openai/gpt-oss-120b"];
    let found: Vec<_> = names.iter().filter_map(|name| models.identify(name)).collect();
    let serving = found.iter().map(|found| Workload {
        model: &found.model,
        task: Task::Serve,
        engine: Engine::Pooled { has_utilization: true },
        precision: Precision::Bf16,
        cache_bytes: 2.0,
        context: 8192.0,
        batch: 1.0,
        concurrent: 1.0,
        devices: 8.0,
        tensor_parallel: 8.0,
        pipeline_parallel: 1.0,
        expert_parallel: 1.0,
        utilization: None,
        draft_b: 0.0,
        weights_offloaded: false,
        eager_attention: false,
        training: Training::default(),
        unsaid: WorkloadDefaults::default(),
    });
    let serving: Vec<Workload<'_>> = serving.collect();
    let all: Vec<Workload<'_>> = serving.iter().copied().chain(serving.iter().map(trained)).collect();
    measure("estimates", &all, |workload| estimate(workload).need());
    measure("verdicts", &all, |workload| f64::from(u8::from(verdict(workload, 79.1).is_some())));
    measure_speed(&models);
}

/// Measures servers of one model with many loads and lengths.
fn measure_speed(models: &Models) {
    let catalog = Catalog::embedded();
    let parts = (Coefficients::of(&catalog), catalog.peak("H100-80GB"), models.identify("meta-llama/Llama-3.1-8B"));
    let (Some(coefficients), Some(accelerator), Some(found)) = parts else { return };
    let server = ModelServer {
        model: &found.model,
        engine: EngineClass::Default,
        precision: Precision::Bf16,
        small_cache: false,
        accelerator,
        accelerators: 2.0,
        of_replica: None,
        input_tokens: 1024.0,
        output_tokens: 256.0,
        load: Load::Full(None),
    };
    let start = Instant::now();
    let mut sum = 0.0;
    for round in 0..ROUNDS {
        let server = ModelServer { input_tokens: 16.0 + f64::from(round % 32_768), ..server };
        sum += estimate_speed(black_box(&server), &coefficients).map_or(0.0, |it| it.tokens_per_second.expected);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("speeds: {:.1} million per second on one core (sum {sum:.0})", f64::from(ROUNDS) / seconds / 1e6);
}

fn trained<'m>(workload: &Workload<'m>) -> Workload<'m> {
    let training = Training { method: TuningMethod::Full, sharding: Sharding::Everything, ..Training::default() };
    Workload { task: Task::Train, engine: Engine::Eager, tensor_parallel: 1.0, training, ..*workload }
}

fn measure(what: &str, all: &[Workload<'_>], ask: impl Fn(&Workload<'_>) -> f64) {
    let start = Instant::now();
    let mut sum = 0.0;
    for round in 0..ROUNDS {
        let Some(workload) = all.get(round as usize % all.len()) else { continue };
        // Each round has another context, so that no result can be cached.
        let workload = Workload { context: 1024.0 + f64::from(round % 32_768), ..*workload };
        sum += ask(black_box(&workload));
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{what}: {:.1} million per second on one core (sum {sum:.0})", f64::from(ROUNDS) / seconds / 1e6);
}
