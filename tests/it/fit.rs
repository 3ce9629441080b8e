//! Tests whether a model fits its accelerators: worked examples, and messages about a resource.

use std::sync::Arc;

use gpulint::catalog::{Catalog, Model, Models, MoneyRange, Precision};
use gpulint::fit::{
    Assessment, Engine, FitAlternative, FitVerdict, PlacedModel, Sharding, Training, TuningMethod, Workload,
    WorkloadDefaults, assess_all, budget, estimate, verdict,
};
use gpulint::inventory::{BillingRole, Fact, FactOrigin, FactValue, Inventory, Key, ReadBy, Resource, Task};
use gpulint::pricing::{self, PricingSettings};
use gpulint::resolve::complete_machines;
use gpulint::rules::{self, Rules};
use gpulint::source::{MemoryTree, SourceFiles, Span};

fn serving<'m>(model: &'m Model, precision: Precision, context: f64, devices: f64) -> Workload<'m> {
    Workload {
        model,
        task: Task::Serve,
        engine: Engine::Pooled { has_utilization: true },
        precision,
        cache_bytes: 2.0,
        context,
        batch: 1.0,
        concurrent: 1.0,
        devices,
        tensor_parallel: devices,
        pipeline_parallel: 1.0,
        expert_parallel: 1.0,
        utilization: None,
        draft_b: 0.0,
        weights_offloaded: false,
        eager_attention: false,
        training: Training::default(),
        unsaid: WorkloadDefaults::default(),
    }
}

/// Returns the memory of an accelerator that a program can use.
fn usable_gib(name: &str) -> f64 {
    Catalog::embedded().hardware(name).unwrap().usable_gib
}

/// Worked examples: model, precision, context, devices; weights, cache, need and budget in GiB on each device.
#[test]
fn worked_examples_of_serving() {
    let examples = [
        ("meta-llama/Llama-3.1-8B", Precision::Bf16, 32768.0, 1.0, "L4", [14.96, 4.00, 20.76, 19.80]),
        ("meta-llama/Llama-3.1-70B", Precision::Fp8, 32768.0, 8.0, "H100-80", [8.46, 1.25, 11.38, 71.19]),
        ("meta-llama/Llama-3.1-70B", Precision::Bf16, 32768.0, 4.0, "A100-80", [32.85, 2.50, 37.51, 71.28]),
        ("Qwen/Qwen2.5-72B-Instruct-AWQ", Precision::Awq, 8192.0, 1.0, "A100-80", [39.30, 2.50, 44.08, 71.28]),
        ("deepseek-ai/DeepSeek-R1", Precision::Fp8, 32768.0, 8.0, "H200", [78.33, 2.14, 83.54, 125.82]),
        ("openai/gpt-oss-120b", Precision::Mxfp4, 131_072.0, 1.0, "H100-80", [60.77, 4.57, 68.06, 71.19]),
    ];
    let models = Models::default();
    for (name, precision, context, devices, card, expected) in examples {
        let found = models.identify(name).unwrap();
        let workload = serving(&found.model, precision, context, devices);
        let estimate = estimate(&workload);
        let budget = budget(&workload, usable_gib(card));
        let numbers = [estimate.weights, estimate.cache, estimate.need(), budget];
        for (number, expected) in numbers.iter().zip(expected) {
            assert!((number / expected - 1.0).abs() < 0.05, "{name}: {numbers:.2?}");
        }
    }
}

struct Pod {
    resource: Resource,
    at: Span,
}

impl Pod {
    fn new() -> Pod {
        let sources = SourceFiles::new(MemoryTree::new().with("pod.yaml", "kind: Pod\n"));
        let at = Span::new(sources.open("pod.yaml").unwrap(), 0, 4);
        let resource = Resource::new(ReadBy::Kubernetes, BillingRole::Requested, "Pod", "Pod/llm", at, at);
        Pod { resource, at }.with(Key::Task, "serve").with(Key::Program, "vllm").number(Key::TensorParallel, 1.0)
    }

    fn set(mut self, key: Key, value: FactValue) -> Pod {
        self.resource.set(key, Fact::known(value, self.at, FactOrigin::Written));
        self
    }

    fn with(self, key: Key, text: &str) -> Pod {
        self.set(key, FactValue::text(text))
    }

    fn number(self, key: Key, n: f64) -> Pod {
        self.set(key, FactValue::Number(n))
    }

    /// Returns the model placed on its accelerators.
    fn placed(self) -> PlacedModel {
        self.assess().value().unwrap().placed.value().unwrap().clone()
    }

    fn assess(self) -> Fact<Assessment> {
        let (catalog, settings) = (Catalog::embedded(), PricingSettings::default());
        let mut inventory = Inventory { resources: vec![self.resource], ..Inventory::default() };
        complete_machines(&mut inventory, &catalog, &settings.defaults);
        let bill = pricing::bill(&inventory, &catalog, &settings);
        assess_all(&inventory, &bill, &catalog, &settings).remove(0)
    }
}

fn h100() -> Pod {
    Pod::new().with(Key::Accelerator, "H100-80GB").number(Key::AcceleratorCount, 1.0)
}

#[test]
fn a_small_model_on_a_large_card_names_the_small_card() {
    for provider in ["aws", "gcp", "azure"] {
        let pod = h100().with(Key::Provider, provider).with(Key::Model, "meta-llama/Llama-3.1-8B-Instruct");
        let placed = pod.number(Key::Context, 8192.0).placed();
        assert_eq!(placed.verdict, FitVerdict::Fits);
        let smallest = &placed.instead[&FitAlternative::Smallest];
        assert!(["L4", "A10G", "A10", "A100-80GB"].contains(&&*smallest.accelerator), "{smallest:?}");
        assert!(provider == "azure" || smallest.accelerator != "A100-80GB", "{smallest:?}");
    }
}

#[test]
fn without_a_limit_the_whole_window_counts() {
    let pod = h100().with(Key::Provider, "aws").with(Key::Model, "meta-llama/Llama-3.1-8B-Instruct");
    let fact = pod.assess();
    let assessment = fact.value().unwrap();
    assert_eq!(assessment.context, 131_072.0);
    let placed = assessment.placed.value().unwrap();
    assert!(placed.need_gib > 30.0, "{placed:?}");
    let smallest = &placed.instead[&FitAlternative::Smallest];
    assert!(!["L4", "A10G"].contains(&&*smallest.accelerator) || smallest.devices > 1.0, "{smallest:?}");
    assert_eq!(fact.origin(), Some(&FactOrigin::Default));
    let limited = &placed.instead[&FitAlternative::Limited];
    assert!(["L4", "A10G"].contains(&&*limited.accelerator) && limited.per_hour < smallest.per_hour, "{limited:?}");
}

#[test]
fn what_decides_and_is_not_known_is_named() {
    let cause = |pod: Pod| pod.assess().why().unwrap_or("none").to_owned();
    assert_eq!(
        cause(h100().with(Key::Model, "gpt-4")),
        "gpulint does not know the model `gpt-4`; similar names: openai-community/gpt2, EleutherAI/gpt-j-6b, \
         EleutherAI/gpt-neo-1.3B"
    );
    assert!(cause(h100()).contains("no model is set for vllm"));
    let mut pod = h100().with(Key::Model, "meta-llama/Llama-3.1-8B");
    pod.resource.set(Key::Context, Fact::unknown("variable `LEN` is not known", pod.at));
    assert_eq!(cause(pod), "context is unknown: variable `LEN` is not known");
    let bare = Pod::new().with(Key::Model, "meta-llama/Llama-3.1-8B").number(Key::AcceleratorCount, 1.0).assess();
    assert_eq!(bare.value().unwrap().placed.why(), Some("the accelerator is unknown"));
    assert_eq!(bare.value().unwrap().params_b, 8.03);
}

#[test]
fn a_server_that_cannot_hold_its_model_refuses_to_start() {
    let pod = Pod::new()
        .with(Key::Accelerator, "L4")
        .number(Key::AcceleratorCount, 1.0)
        .with(Key::Model, "Qwen/Qwen2.5-32B-Instruct");
    let placed = pod.placed();
    assert!(placed.refuses && placed.verdict == FitVerdict::DoesNotFit, "{placed:?}");
    assert!(!placed.fits_in_eight_bits, "{placed:?}");
    let ollama =
        Pod::new().with(Key::Program, "ollama").with(Key::Accelerator, "L4").number(Key::AcceleratorCount, 1.0);
    assert!(!ollama.with(Key::Model, "llama3.1:70b").placed().refuses);
    // NIM selects a profile for the card. vLLM reserves the model's whole window.
    let l4 = || Pod::new().with(Key::Accelerator, "L4").number(Key::AcceleratorCount, 1.0);
    let small = |pod: Pod| pod.with(Key::Model, "meta-llama/Llama-3.1-8B-Instruct").placed().refuses;
    assert!(!small(l4().with(Key::Program, "nim")) && small(l4()));
    let t4 = Pod::new().with(Key::Accelerator, "T4").number(Key::AcceleratorCount, 1.0).number(Key::Context, 8192.0);
    assert!(t4.with(Key::Model, "meta-llama/Llama-3.1-8B").placed().fits_in_eight_bits);
}

#[test]
fn declared_sizes_stand_in_for_unknown_models() {
    let pod = h100()
        .with(Key::Provider, "aws")
        .number(Key::Parameters, 7.0)
        .number(Key::Context, 4096.0)
        .with(Key::Precision, "bf16");
    let fact = pod.assess();
    assert_eq!(fact.value().unwrap().params_b, 7.0);
    assert!(matches!(fact.origin(), Some(FactOrigin::Inferred(_))));
}

/// Worked examples of training: need in GiB on each device, and the message.
#[test]
fn worked_examples_of_training() {
    let zero = |sharding| Training { sharding, ..Training::default() };
    let qlora = Training { method: TuningMethod::Qlora, ..Training::default() };
    let examples = [
        (
            "meta-llama/Llama-3.1-8B",
            Precision::Bf16,
            zero(Sharding::Everything),
            4.0,
            "A100-80",
            39.7,
            FitVerdict::Fits,
        ),
        ("meta-llama/Llama-3.1-70B", Precision::Nf4, qlora, 1.0, "A100-80", 58.6, FitVerdict::Fits),
        (
            "meta-llama/Llama-3.1-70B",
            Precision::Bf16,
            zero(Sharding::Everything),
            16.0,
            "H100-80",
            85.5,
            FitVerdict::Borderline,
        ),
    ];
    let models = Models::default();
    for (name, precision, training, devices, card, expected, said) in examples {
        let found = models.identify(name).unwrap();
        let serving = serving(&found.model, precision, 2048.0, devices);
        let workload = Workload { task: Task::Train, engine: Engine::Eager, tensor_parallel: 1.0, training, ..serving };
        let need = estimate(&workload).need();
        assert!((need / expected - 1.0).abs() < 0.15, "{name}: {need:.1} instead of {expected}");
        assert_eq!(verdict(&workload, usable_gib(card)), Some(said), "{name}");
    }
}

#[test]
fn names_of_a_library_and_of_resources_lead_to_models() {
    let l4 = || Pod::new().with(Key::Accelerator, "L4").number(Key::AcceleratorCount, 1.0);
    let model = |pod: Pod| pod.assess().value().map(|it| (it.model.clone(), it.precision)).unwrap();
    let ollama = |name| l4().with(Key::Program, "ollama").with(Key::Model, name);
    assert_eq!(model(ollama("llama3.1")), ("meta-llama/Llama-3.1-8B".into(), "bf16"));
    assert_eq!(model(ollama("deepseek-r1:70b")).0, "deepseek-ai/DeepSeek-R1-Distill-Llama-70B");
    assert_eq!(model(ollama("llama3.1:70b-instruct-q8_0")), ("meta-llama/Llama-3.1-70B".into(), "gguf"));
    let mut named = l4();
    named.resource.front_end = ReadBy::Kubernetes;
    named.resource.declared.name = "meta-llama-3-1-8b-instruct".into();
    let fact = named.number(Key::Context, 4096.0).assess();
    assert_eq!(fact.value().unwrap().model, "meta-llama/Llama-3.1-8B");
    assert!(matches!(fact.origin(), Some(FactOrigin::Inferred(_))));
}

#[test]
fn slices_and_eight_bits_are_alternatives_too() {
    let small = || {
        h100().with(Key::Provider, "aws").with(Key::Model, "Qwen/Qwen2.5-1.5B-Instruct").number(Key::Context, 4096.0)
    };
    let fraction = small().placed().fraction.unwrap();
    assert_eq!((&*fraction.profile, fraction.instances), ("1g.10gb", 7));
    let large =
        h100().with(Key::Provider, "aws").with(Key::Model, "meta-llama/Llama-3.1-8B").number(Key::Context, 32768.0);
    let instead = large.placed().instead;
    let (smallest, quantized) = (&instead[&FitAlternative::Smallest], &instead[&FitAlternative::Quantized]);
    assert!(quantized.per_hour < smallest.per_hour, "{smallest:?} {quantized:?}");
    let awq = small().with(Key::Precision, "awq").placed();
    assert!(!awq.instead.contains_key(&FitAlternative::Quantized));
}

#[test]
fn more_parallelism_than_accelerators_is_unknown() {
    let pod = h100().with(Key::Model, "meta-llama/Llama-3.1-8B").number(Key::TensorParallel, 2.0);
    let fact = pod.assess();
    assert_eq!(fact.value().unwrap().placed.why(), Some("it is set to run on 2 accelerators, but has 1"));
}

/// Returns the findings for a Deployment of vLLM on this many H100: rule, message, help, and monthly saving.
fn said(arguments: &str, gpus: u32) -> Vec<(String, String, String, f64)> {
    let manifest = format!(
        r#"
apiVersion: apps/v1
kind: Deployment
metadata: {{ name: llama }}
spec:
  replicas: 1
  selector: {{ matchLabels: {{ app: llama }} }}
  template:
    metadata: {{ labels: {{ app: llama }} }}
    spec:
      nodeSelector: {{ nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3 }}
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args: [{arguments}]
          resources: {{ limits: {{ nvidia.com/gpu: {gpus} }} }}
"#
    );
    let sources = SourceFiles::new(MemoryTree::new().with("llama.yaml", manifest.as_str()));
    let (rules, _) = Rules::load(&[], rules::RuleSettings::default());
    let settings = gpulint::AnalysisSettings {
        catalog: Catalog::embedded(),
        rules: Arc::new(rules),
        ..gpulint::AnalysisSettings::default()
    };
    let analysis = gpulint::analyze(&sources, &["llama.yaml".to_owned()], &settings);
    let saved = |saves: Option<MoneyRange>| saves.map_or(0.0, |saves| saves.expected.usd());
    let told = analysis.findings.into_iter();
    told.map(|it| (it.rule, it.message, it.help.unwrap_or_default(), saved(it.saves))).collect()
}

#[test]
fn a_declared_context_decides_what_is_proposed() {
    let model = "--model=meta-llama/Llama-3.1-8B-Instruct";
    let limited = said(&format!("{model}, --max-model-len=8192"), 1);
    let (_, _, help, saves) = limited.iter().find(|it| it.0 == "oversized-gpu").expect("it is oversized");
    assert!(help.contains("L4") || help.contains("A10G"), "{help}");
    assert!(help.contains("/month") && *saves > 1000.0, "{help} {saves}");
    let open = said(model, 1);
    let alternatives: Vec<&str> =
        open.iter().filter(|it| it.0 == "oversized-gpu").map(|(_, _, help, _)| help.as_str()).collect();
    assert!(!alternatives.is_empty() && alternatives.iter().all(|help| !help.contains(" 1 L4")), "{open:?}");
    let idle = said(&format!("{model}, --max-model-len=8192, --tensor-parallel-size=1"), 8);
    let (_, message, ..) = idle.iter().find(|it| it.0 == "idle-gpus").expect("seven are idle");
    assert!(message.starts_with("7 of 8 "), "{message}");
}

/// A finding needs agreement of all plausible readings. If the workload is declared, the declared values decide.
#[test]
fn what_is_not_said_widens_the_answer() {
    let models = Models::default();
    let found = models.identify("meta-llama/Llama-3.1-8B").unwrap();
    let said = |precision, training, unsaid, card: &str| {
        let serving = serving(&found.model, precision, 2048.0, 1.0);
        let workload = Workload { task: Task::Train, engine: Engine::Eager, training, unsaid, ..serving };
        verdict(&workload, usable_gib(card)).unwrap()
    };
    let none = WorkloadDefaults::default();
    let lora = Training { method: TuningMethod::Lora, ..Training::default() };
    let open = WorkloadDefaults { recompute: true, ..none };
    assert_eq!(said(Precision::Bf16, lora, none, "RTX5090"), FitVerdict::Fits);
    assert_eq!(said(Precision::Bf16, lora, open, "RTX5090"), FitVerdict::Borderline);
    assert_eq!(said(Precision::Bf16, lora, open, "H200"), FitVerdict::Fits);
    let full = Training::default();
    assert_eq!(said(Precision::Bf16, full, none, "A100-80"), FitVerdict::DoesNotFit);
    for unsaid in [WorkloadDefaults { optimizer: true, ..none }, WorkloadDefaults { copy: true, ..none }] {
        assert_eq!(said(Precision::Bf16, full, unsaid, "A100-80"), FitVerdict::Borderline, "{unsaid:?}");
        assert_eq!(said(Precision::Bf16, full, unsaid, "T4"), FitVerdict::DoesNotFit, "{unsaid:?}");
    }
    let long = Workload { context: 8192.0, ..serving(&found.model, Precision::Bf16, 8192.0, 1.0) };
    let open = Workload { unsaid: WorkloadDefaults { context: true, ..none }, ..long };
    let l4 = usable_gib("L4");
    assert_eq!(verdict(&long, l4), Some(FitVerdict::Fits));
    assert_eq!(verdict(&open, l4), Some(FitVerdict::Borderline));
    let bare = Workload { unsaid: WorkloadDefaults { precision: true, ..none }, ..long };
    let t4 = usable_gib("T4");
    assert_eq!((verdict(&long, t4), verdict(&bare, t4)), (Some(FitVerdict::DoesNotFit), Some(FitVerdict::Borderline)));
}

/// Training without a sequence length or a batch size is reported only if no reading fits.
#[test]
fn training_that_no_reading_holds_does_not_fit() {
    let pod = |model: &str, method: &str| {
        let pod = Pod::new().with(Key::Accelerator, "A100-80GB").number(Key::AcceleratorCount, 1.0);
        let pod = pod.with(Key::Program, "transformers").with(Key::Task, "train").with(Key::Method, method);
        pod.with(Key::Model, model)
    };
    let placed = pod("meta-llama/Llama-3.1-70B", "full").placed();
    assert_eq!(placed.verdict, FitVerdict::DoesNotFit);
    assert!(placed.need_gib > 250.0 && placed.instead.is_empty(), "{placed:?}");
    let unknown = pod("meta-llama/Llama-3.1-8B", "lora").assess();
    assert_eq!(unknown.why(), Some("no length of the training sequences is set"));
    let batch = pod("meta-llama/Llama-3.1-8B", "lora").number(Key::Context, 2048.0).assess();
    assert_eq!(batch.why(), Some("no batch size per device is set"));
    let told = pod("meta-llama/Llama-3.1-8B", "lora").number(Key::Context, 2048.0).number(Key::BatchSize, 1.0);
    assert_eq!(told.placed().verdict, FitVerdict::Fits);
}

/// Sequences of a script share no cache, so the declared number must fit.
#[test]
fn a_declared_batch_of_a_script_counts() {
    let need = |batch: f64| {
        let pod = h100().with(Key::Program, "transformers").with(Key::Model, "meta-llama/Llama-3.1-8B");
        pod.number(Key::Context, 4096.0).number(Key::BatchSize, batch).placed()
    };
    assert_eq!((need(1.0).verdict, need(512.0).verdict), (FitVerdict::Fits, FitVerdict::DoesNotFit));
    assert!(need(8.0).need_gib > need(1.0).need_gib + 3.5);
}
