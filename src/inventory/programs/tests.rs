//! Tests the facts that command lines declare.

use super::super::resource::{BillingRole, ReadBy, Resource};
use super::*;
use crate::source::{MemoryTree, SourceFiles, Span};

type Words = &'static [&'static str];
type Env = &'static [(&'static str, &'static str)];
/// Image, command, arguments, variables and expected facts.
type Case = (&'static str, Words, Words, Env, &'static str);
/// Image, command, variables and expected facts.
type TrainingCase = (&'static str, Words, Env, &'static str);

/// Returns a container whose words are consecutive in one file.
fn container(image: &str, command: &[&str], args: &[&str], env: &[(&str, &str)]) -> Container {
    let sources = SourceFiles::new(MemoryTree::new().with("pod.yaml", ""));
    let file = sources.open("pod.yaml").unwrap();
    let mut at = 0;
    let mut word = |text: &str| {
        let span = Span::new(file, at, at + text.len());
        at += text.len() + 1;
        Fact::written(Arc::from(text), span)
    };
    Container {
        image: if image.is_empty() { Fact::Absent } else { word(image) },
        command: command.iter().map(|text| word(text)).collect(),
        args: args.iter().map(|text| word(text)).collect(),
        env: env.iter().map(|(name, text)| ((*name).to_owned(), word(text))).collect(),
        open_env: None,
        accelerated: true,
        ..Container::default()
    }
}

fn show(facts: &ProgramFacts) -> String {
    let mut shown = String::new();
    for (key, fact) in facts {
        let text = match fact {
            Fact::Known(known) => known.value.to_string(),
            Fact::Unknown(unknown) => format!("? {}", unknown.why),
            Fact::Absent => continue,
        };
        shown.push_str(&format!("{}={text} ", key.name()));
    }
    shown.trim_end().to_owned()
}

fn check(image: &str, command: &[&str], args: &[&str], env: &[(&str, &str)], expected: &str) {
    let facts = recognize(&container(image, command, args, env));
    let shown = show(&facts);
    for pair in expected.split(", ") {
        assert!(format!("{shown} ").contains(&format!("{pair} ")), "no `{pair}` in `{shown}`");
    }
}

#[test]
fn vllm_in_a_list_of_words() {
    check(
        "",
        &["vllm", "serve", "meta-llama/Llama-3.1-70B-Instruct"],
        &["--tensor-parallel-size", "8", "--dtype", "bfloat16", "--quantization", "fp8", "--max-model-len", "32768"],
        &[],
        "program=vllm, task=serve, model=meta-llama/Llama-3.1-70B-Instruct, precision=fp8, tensor_parallel=8, context=32768, \
         pipeline_parallel=1, memory_utilization=0.9",
    );
}

#[test]
fn variables_of_the_container_are_resolved_and_keep_their_place() {
    let container = container(
        "vllm/vllm-openai:latest",
        &[],
        &["--model=$(MODEL_ID)", "--max-model-len=$(MAX_MODEL_LEN)"],
        &[("MODEL_ID", "meta-llama/Llama-3.1-70B-Instruct"), ("MAX_MODEL_LEN", "32768")],
    );
    let facts = recognize(&container);
    assert!(show(&facts).contains("context=32768"), "{}", show(&facts));
    let model = &facts[&Key::Model];
    assert_eq!(model.value().and_then(FactValue::as_text), Some("meta-llama/Llama-3.1-70B-Instruct"));
    assert_eq!(model.span(), container.args[0].span());
    assert_eq!(model.defined(), container.env["MODEL_ID"].span());
    assert_eq!(model.origin(), Some(&FactOrigin::Resolved));
}

#[test]
fn shell_strings_are_split_and_words_keep_their_place() {
    let script = "set -e\nexec python3 -m sglang.launch_server \\\n  --model-path /models/Qwen3-32B-AWQ/ --tp 2 --context-length 16384";
    let container = container("", &["/bin/bash", "-lc"], &[script], &[]);
    let facts = recognize(&container);
    assert_eq!(
        show(&facts),
        "program=sglang model=/models/Qwen3-32B-AWQ/ task=serve context=16384 prefix_cache=true tensor_parallel=2 pipeline_parallel=1 data_parallel=1"
    );
    let (whole, part) = (container.args[0].span().unwrap(), facts[&Key::TensorParallel].span().unwrap());
    let at = (part.start - whole.start) as usize;
    assert_eq!(&script[at..at + (part.end - part.start) as usize], "--tp 2");
}

#[test]
fn a_flag_and_its_value_may_stand_in_one_item() {
    check(
        "vllm/vllm-openai",
        &[],
        &["--model a/b-7b", "--tp 4", "--enforce-eager"],
        &[],
        "model=a/b-7b, tensor_parallel=4",
    );
    check("vllm/vllm-openai", &["vllm serve a/b-7b --max_model_len 8k"], &[], &[], "model=a/b-7b, context=8000");
}

#[test]
fn what_is_not_known_stays_unknown() {
    check(
        "vllm/vllm-openai",
        &[],
        &["--model", "$(MODEL)"],
        &[],
        "program=vllm, model=? the value of variable `MODEL` is unknown",
    );
    check("vllm/vllm-openai", &[], &["--model={{ .Values.model }}"], &[], "model=? a template sets this value");
    check("vllm/vllm-openai", &[], &["--model=a/${NAME}"], &[], "model=? another program fills in this value");
    let script = "vllm serve $MODEL --tensor-parallel-size ${TP:-2} $EXTRA";
    check(
        "",
        &["sh", "-c", script],
        &[],
        &[],
        "model=? the value of variable `MODEL` is unknown, tensor_parallel=2, context=? the value of variable `MODEL` is unknown, \
         memory_utilization=? the value of variable `MODEL` is unknown",
    );
}

#[test]
fn arguments_of_a_script_are_its_own() {
    let args = ["--", "--model_name_or_path=google/gemma-2b", "--bf16"];
    check(
        "",
        &["/bin/bash", "-c", "mkdir x\nexec trl sft \"$@\""],
        &args,
        &[],
        "program=trl, model=google/gemma-2b, precision=bf16",
    );
}

#[test]
fn bare_arguments_tell_the_program_of_an_unknown_image() {
    let own = container("registry.example/serving:3", &[], &["--model=a/b-7b", "--max-model-len=4096"], &[]);
    let facts = recognize(&own);
    assert!(show(&facts).starts_with("program=vllm model=a/b-7b"), "{}", show(&facts));
    assert!(matches!(facts[&Key::Program].origin(), Some(FactOrigin::Inferred(_))));
}

#[test]
fn start_up_scripts_run_containers() {
    let sources = SourceFiles::new(MemoryTree::new().with("a", ""));
    let file = sources.open("a").unwrap();
    let script = "#!/bin/bash\napt-get update && apt-get install -y docker.io\ndocker run --gpus all -d -p 8000:8000 \\\n  \
                  -e HF_TOKEN=x --ipc=host vllm/vllm-openai:latest --model Qwen/Qwen2.5-72B-Instruct-AWQ --max-model-len 8192\n";
    let facts = recognize_script(&Fact::written(Arc::from(script), Span::new(file, 0, script.len())));
    let shown = show(&facts);
    assert!(shown.contains("program=vllm model=Qwen/Qwen2.5-72B-Instruct-AWQ"), "{shown}");
    assert!(shown.contains("context=8192 "), "{shown}");
    let unit = "cat > /etc/systemd/system/x.service <<EOF\n[Service]\nExecStart=/usr/bin/docker run --rm --gpus=all \
                -e MODEL_ID=a/b-7b -e NUM_SHARD=2 ghcr.io/huggingface/text-generation-inference:3.3\nEOF\n";
    let shown = show(&recognize_script(&Fact::written(Arc::from(unit), Span::new(file, 0, unit.len()))));
    assert!(shown.contains("program=tgi model=a/b-7b") && shown.contains("tensor_parallel=2"), "{shown}");
}

#[test]
fn every_serving_program_in_the_form_of_its_documentation() {
    let cases: &[Case] = &[
        (
            "ghcr.io/huggingface/text-generation-inference:3.3",
            &[],
            &[],
            &[("MODEL_ID", "mistralai/Mistral-7B-Instruct-v0.3"), ("QUANTIZE", "bitsandbytes-nf4"), ("NUM_SHARD", "1")],
            "program=tgi, model=mistralai/Mistral-7B-Instruct-v0.3, precision=nf4, tensor_parallel=1",
        ),
        (
            "nvcr.io/nim/meta/llama-3.1-70b-instruct:1.3.3",
            &[],
            &[],
            &[("NIM_MODEL_PROFILE", "tensorrt_llm-h100-fp8-tp4-pp1-throughput")],
            "program=nim, model=meta/llama-3.1-70b-instruct, precision=fp8, tensor_parallel=4, pipeline_parallel=1",
        ),
        (
            "ghcr.io/huggingface/text-embeddings-inference:89-1.7",
            &[],
            &["--model-id", "BAAI/bge-large-en-v1.5", "--dtype", "float16"],
            &[],
            "program=tei, task=embed, model=BAAI/bge-large-en-v1.5, precision=fp16, tensor_parallel=1",
        ),
        (
            "nvcr.io/nvidia/tensorrt-llm/release:1.0",
            &["trtllm-serve"],
            &["serve", "nvidia/Llama-3.3-70B-Instruct-FP8", "--tp_size", "2", "--max_seq_len=8192"],
            &[],
            "program=trt-llm, model=nvidia/Llama-3.3-70B-Instruct-FP8, tensor_parallel=2, context=8192",
        ),
        (
            "openmmlab/lmdeploy:latest",
            &["lmdeploy", "serve", "api_server", "internlm/internlm3-8b-instruct"],
            &["--tp", "1", "--session-len", "32768", "--quant-policy", "8"],
            &[],
            "program=lmdeploy, model=internlm/internlm3-8b-instruct, context=32768, cache_precision=int8",
        ),
        (
            "763104351884.dkr.ecr.us-east-1.amazonaws.com/djl-inference:0.32.0-lmi14.0.0-cu126",
            &[],
            &[],
            &[
                ("HF_MODEL_ID", "tiiuae/falcon-40b"),
                ("OPTION_TENSOR_PARALLEL_DEGREE", "max"),
                ("OPTION_QUANTIZE", "awq"),
            ],
            "program=djl, model=tiiuae/falcon-40b, precision=awq",
        ),
        (
            "ollama/ollama",
            &["sh", "-c", "ollama serve & sleep 5; ollama pull llama3.1:70b-instruct-q8_0; wait"],
            &[],
            &[("OLLAMA_NUM_PARALLEL", "4")],
            "program=ollama, model=llama3.1:70b-instruct-q8_0, batch_size=4",
        ),
        (
            "ghcr.io/ggml-org/llama.cpp:server-cuda",
            &[],
            &["-m", "/models/Qwen3-8B-Q4_K_M.gguf", "-c", "16384", "-ngl", "99", "-np", "4"],
            &[],
            "program=llama.cpp, model=/models/Qwen3-8B-Q4_K_M.gguf, context=16384, batch_size=4",
        ),
        (
            "kserve/huggingfaceserver:latest-gpu",
            &[],
            &["--model_name=llama3", "--model_id=meta-llama/Meta-Llama-3-8B-Instruct", "--max_model_len=4096"],
            &[],
            "program=kserve-huggingface, model=meta-llama/Meta-Llama-3-8B-Instruct, context=4096, tensor_parallel=1",
        ),
        (
            "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.4",
            &["python3", "-m", "dynamo.vllm"],
            &["--model", "Qwen/Qwen3-0.6B"],
            &[],
            "program=vllm, model=Qwen/Qwen3-0.6B",
        ),
        (
            "fedirz/faster-whisper-server:latest-cuda",
            &[],
            &[],
            &[("WHISPER__MODEL", "Systran/faster-whisper-large-v3")],
            "program=whisper, task=speech, model=Systran/faster-whisper-large-v3",
        ),
        (
            "lmsysorg/sglang:latest",
            &["python3", "-m", "sglang.launch_server"],
            &[
                "--model-path",
                "deepseek-ai/DeepSeek-R1",
                "--tp",
                "16",
                "--dp",
                "16",
                "--enable-dp-attention",
                "--nnodes=2",
            ],
            &[],
            "program=sglang, model=deepseek-ai/DeepSeek-R1, tensor_parallel=16, data_parallel=1",
        ),
        (
            "vllm/vllm-openai:v0.11",
            &[],
            &["deepseek-ai/DeepSeek-V3.1", "-dp", "8", "--enable-expert-parallel", "--kv-cache-dtype", "fp8"],
            &[],
            "model=deepseek-ai/DeepSeek-V3.1, data_parallel=8, expert_parallel=8, cache_precision=fp8",
        ),
        (
            "vllm/vllm-openai:v0.11",
            &[],
            &["--model", "a/b-70b", "--speculative-config", r#"{"model": "a/b-1b", "num_speculative_tokens": 3}"#],
            &[],
            "model=a/b-70b, draft_model=a/b-1b",
        ),
        (
            "xprobe/xinference:latest",
            &["xinference", "launch"],
            &["--model-name", "qwen2.5-instruct", "--size-in-billions", "14", "--model-format", "gptq", "--n-gpu", "2"],
            &[],
            "program=xinference, model=qwen2.5-instruct, parameters_b=14, precision=gptq, tensor_parallel=2",
        ),
    ];
    for (image, command, args, env, expected) in cases {
        check(image, command, args, env, expected);
    }
}

#[test]
fn every_training_program_in_the_form_of_its_documentation() {
    let cases: &[TrainingCase] = &[
        (
            "pytorch/pytorch:2.6",
            &[
                "torchrun",
                "--nproc_per_node=8",
                "run_clm.py",
                "--model_name_or_path",
                "a/b-7b",
                "--bf16",
                "--per_device_train_batch_size",
                "2",
                "--deepspeed",
                "ds_z3_config.json",
                "--gradient_checkpointing",
                "--output_dir",
                "/mnt/out",
                "--save_steps=500",
                "--dataloader_num_workers",
                "4",
            ],
            &[],
            "program=hf-trainer, task=train, model=a/b-7b, precision=bf16, batch_size=2, sharding=zero3, recompute=true, \
             checkpoint=/mnt/out, checkpoint_interval=500, data_workers=4, processes=8",
        ),
        (
            "",
            &[
                "accelerate",
                "launch",
                "--num_processes",
                "4",
                "--use_fsdp",
                "train.py",
                "--model_id",
                "a/b-7b",
                "--use_peft",
                "--load_in_4bit",
            ],
            &[],
            "program=accelerate, processes=4, sharding=fsdp, model=a/b-7b, method=qlora, precision=nf4",
        ),
        (
            "axolotlai/axolotl:main",
            &["axolotl", "train", "config.yaml", "--deepspeed", "zero2.json"],
            &[],
            "program=axolotl, sharding=zero2",
        ),
        (
            "",
            &[
                "tune",
                "run",
                "--nproc_per_node",
                "4",
                "lora_finetune_distributed",
                "--config",
                "llama3_1/70B_lora",
                "batch_size=2",
            ],
            &[],
            "program=torchtune, processes=4, method=lora, batch_size=2",
        ),
        (
            "nvcr.io/nvidia/pytorch:24.10-py3",
            &[
                "torchrun",
                "--nproc-per-node",
                "8",
                "pretrain_gpt.py",
                "--tensor-model-parallel-size",
                "4",
                "--pipeline-model-parallel-size",
                "2",
                "--micro-batch-size",
                "1",
                "--seq-length",
                "4096",
                "--bf16",
                "--recompute-granularity",
                "full",
                "--save",
                "/ckpt",
                "--save-interval",
                "1000",
            ],
            &[],
            "program=megatron, tensor_parallel=4, pipeline_parallel=2, batch_size=1, context=4096, recompute=true, \
             checkpoint=/ckpt, sharding=megatron, processes=8",
        ),
        (
            "modelscope/ms-swift",
            &["swift", "sft", "--model", "Qwen/Qwen2.5-7B-Instruct", "--train_type", "full", "--max_length", "2048"],
            &[],
            "program=ms-swift, model=Qwen/Qwen2.5-7B-Instruct, method=full, context=2048",
        ),
        (
            "",
            &["llamafactory-cli", "train", "x.yaml"],
            &[("BASE_MODEL", "a/b-7b")],
            "program=llama-factory, model=a/b-7b, method=lora",
        ),
        (
            "nvcr.io/nvidia/nemo:24.09",
            &[
                "python",
                "megatron_gpt_pretraining.py",
                "model.micro_batch_size=1",
                "++model.tensor_model_parallel_size=8",
                "trainer.precision=bf16",
            ],
            &[],
            "program=nemo, batch_size=1, tensor_parallel=8, precision=bf16",
        ),
        (
            "",
            &["litgpt", "finetune_lora", "meta-llama/Llama-3.2-1B", "--precision", "bf16-true"],
            &[],
            "program=litgpt, model=meta-llama/Llama-3.2-1B, precision=bf16",
        ),
        (
            "",
            &["composer", "train/train.py", "train/yamls/mpt-7b.yaml", "max_seq_len=4096", "save_folder=s3://b/c"],
            &[],
            "program=composer, context=4096, checkpoint=s3://b/c",
        ),
        (
            "",
            &["trl", "sft", "--model_name_or_path", "a/b-7b", "--use_peft"],
            &[],
            "program=trl, model=a/b-7b, method=lora",
        ),
        (
            "",
            &["deepspeed", "--num_gpus", "8", "train.py", "--model_name_or_path", "a/b-7b"],
            &[],
            "program=deepspeed, processes=8, model=a/b-7b",
        ),
    ];
    for (image, command, env, expected) in cases {
        check(image, command, &[], env, expected);
    }
}

#[test]
fn other_hardware_and_other_programs_say_nothing() {
    for image in [
        "vllm/vllm-cpu:nightly",
        "ghcr.io/huggingface/text-embeddings-inference:cpu-1.7",
        "nginx",
        "lmsysorg/sglang-router",
    ] {
        let mut container = container(image, &[], &["--model", "a/b"], &[]);
        container.accelerated = false;
        assert!(recognize(&container).is_empty(), "{image}");
    }
}

#[test]
fn names_of_variables_count_beside_an_accelerator() {
    let mut container =
        container("my/server", &["python", "app.py"], &[], &[("MODEL_ID", "a/b-7b"), ("DTYPE", "half")]);
    assert_eq!(show(&recognize(&container)), "model=a/b-7b precision=fp16");
    container.accelerated = false;
    assert!(recognize(&container).is_empty());
}

#[test]
fn settings_trees_are_read() {
    let sources = SourceFiles::new(MemoryTree::new().with("a", "xx"));
    let file = sources.open("a").unwrap();
    let settings = |pairs: &[(&str, &str)]| -> Vec<ProgramSetting> {
        let word = |text: &str| Fact::written(Arc::from(text), Span::new(file, 0, 1));
        pairs.iter().map(|(path, text)| ProgramSetting { path: (*path).to_owned(), value: word(text) }).collect()
    };
    let ray = settings(&[
        ("applications.args.llm_configs.model_loading_config.model_id", "llama"),
        ("applications.args.llm_configs.model_loading_config.model_source", "meta-llama/Llama-3.1-8B-Instruct"),
        ("applications.args.llm_configs.engine_kwargs.tensor_parallel_size", "2"),
        ("applications.args.llm_configs.engine_kwargs.max_model_len", "8192"),
    ]);
    let shown = show(&recognize_settings(None, &ray));
    assert_eq!(shown, "model=meta-llama/Llama-3.1-8B-Instruct context=8192 tensor_parallel=2");
    let stack = settings(&[
        ("modelURL", "mistralai/Mistral-7B-Instruct-v0.2"),
        ("vllmConfig.maxModelLen", "4096"),
        ("vllmConfig.tensorParallelSize", "2"),
        ("vllmConfig.extraArgs", "--gpu-memory-utilization 0.8"),
    ]);
    let shown = show(&recognize_settings(Some("vllm"), &stack));
    assert!(shown.contains("model=mistralai/Mistral-7B-Instruct-v0.2"), "{shown}");
    assert!(shown.contains("context=4096 ") && shown.contains("memory_utilization=0.8 tensor_parallel=2"), "{shown}");
    let axolotl =
        settings(&[("base_model", "a/b-8b"), ("adapter", "lora"), ("load_in_4bit", "true"), ("sequence_len", "4096")]);
    let shown = show(&recognize_settings(Some("axolotl"), &axolotl));
    assert!(shown.contains("model=a/b-8b") && shown.contains("method=qlora"), "{shown}");
}

#[test]
fn declarations_by_hand() {
    let sources = SourceFiles::new(MemoryTree::new().with("a", "xx"));
    let at = Span::new(sources.open("a").unwrap(), 0, 1);
    let mut resource = Resource::new(ReadBy::Kubernetes, BillingRole::Requested, "Pod", "Pod/a", at, at);
    let labels = [
        ("gpulint.dev/params", "7b"),
        ("gpulint.dev/context", "8192"),
        ("acme.example/llm", "a/b-7b"),
        ("hf.co/model", "google--gemma-2b"),
        ("model_size", "70b"),
        ("gpulint.dev/task", "serve"),
        ("team", "x"),
    ];
    for (label, text) in labels {
        resource.labels.entries.insert(label.to_owned(), Fact::written(Arc::from(text), at));
    }
    resource.set(Key::Context, Fact::written(FactValue::Integer(4096), at));
    declare(&mut resource, &BTreeMap::from([("acme.example/llm".to_owned(), "model".to_owned())]));
    assert_eq!(resource.text(Key::Model), Some("a/b-7b"));
    assert_eq!(resource.number(Key::Context), Some(8192.0));
    assert_eq!(resource.number(Key::Parameters), Some(7.0));
    assert_eq!(resource.text(Key::Purpose), Some("inference"));
    resource.set(Key::Model, Fact::Absent);
    declare(&mut resource, &BTreeMap::new());
    assert_eq!(resource.text(Key::Model), Some("google--gemma-2b"));
    assert!(matches!(resource.fact(Key::Model).origin(), Some(FactOrigin::Inferred(_))));
}

#[test]
fn hostile_arguments_end() {
    let long = "--model ".repeat(5000);
    check("vllm/vllm-openai", &["sh", "-c", &long], &[], &[], "program=vllm");
    let nested = "sh -c '".repeat(50);
    recognize(&container("", &["sh", "-c", &nested], &["="], &[("A", "$(A)")]));
    recognize(&container("", &["docker", "run", "-e"], &["--", "-", "=", "docker"], &[]));
}

/// Repeated uses of one variable must not blow up the expanded script.
#[test]
fn what_is_repeated_is_not_copied_without_end() {
    let (long, fields) = ("y".repeat(15_000), "y ".repeat(7_500));
    let all: Vec<String> = (0..5_000).map(|n| format!("a{n}")).collect();
    let assigned: String = (0..20_000).map(|n| format!("A{n}=$X\n")).collect();
    let scripts = [
        ("foo \"$@\"\n".repeat(5_000), ""),
        ("sh -c 'foo \"$@\" \"$@\"' sh \"$@\"\n".repeat(5_000), ""),
        ("foo $X $X $X\n".repeat(5_000), &*long),
        ("foo $X $X $X\n".repeat(5_000), &*fields),
        ("$X ".repeat(50_000), &*fields),
        (assigned + "foo $A1", &*long),
    ];
    let mut cases: Vec<(Vec<&str>, &str)> =
        scripts.iter().map(|(script, variable)| (vec!["sh", "-c", &**script], *variable)).collect();
    cases.push((vec!["$(X)"; 20_000], &long));
    let args: Vec<&str> = all.iter().map(String::as_str).collect();
    for (number, (command, variable)) in cases.iter().enumerate() {
        let commands = words::of_container(&container("", command, &args, &[("X", variable)]));
        let made: usize =
            commands.iter().flat_map(|it| &it.words).map(|word| size_of::<CommandWord>() + word.text.len()).sum();
        assert!(made < 24 << 20, "{number}: {made} bytes");
        assert!(commands.len() <= 2_000, "{number}: {} commands", commands.len());
    }
}

#[test]
fn variables_of_a_line_come_before_those_around_it() {
    let serve = "MODEL_ID=b/b sh -c 'exec text-generation-launcher --port 80'";
    let tgi = "ghcr.io/huggingface/text-generation-inference:3.0";
    check(tgi, &["sh", "-c", serve], &[], &[("MODEL_ID", "a/a")], "model=b/b");
    check(tgi, &["sh", "-c", "exec text-generation-launcher"], &[], &[("MODEL_ID", "a/a")], "model=a/a");
}

#[test]
fn a_command_that_fetches_a_model_serves_nothing() {
    let nim = "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.1.0";
    assert!(recognize(&container(nim, &[], &["download-to-cache"], &[])).is_empty());
    let vllm = "vllm/vllm-openai:v0.11.0";
    assert!(recognize(&container(vllm, &["/usr/bin/hf", "download"], &["Qwen/Qwen3-8B"], &[])).is_empty());
    assert!(recognize(&container(vllm, &["vllm", "serve"], &["Qwen/Qwen3-8B"], &[])).contains_key(&Key::Model));
}

#[test]
fn what_training_keeps_off_the_device_is_told() {
    for (says, expected) in [
        ("optimizer_in_bwd=True", Some("gradients")),
        ("enable_activation_offloading=True", Some("activations")),
        ("optimizer_in_bwd=False", None),
    ] {
        let command = ["tune", "run", "full_finetune_single_device", "--config", "llama3_1/8B_full", says];
        let facts = recognize(&container("", &command, &[], &[]));
        let offload = facts.get(&Key::Offload).and_then(Fact::value).map(ToString::to_string);
        assert_eq!(offload.as_deref(), expected, "{says}");
    }
}

#[test]
fn a_launcher_of_a_server_trains_nothing() {
    let serve = "accelerate launch --num_processes 1 --gpu_ids all /app/inference_api.py --torch_dtype bfloat16";
    let facts = recognize(&container("", &["/bin/sh", "-c", serve], &[], &[]));
    let text = |key: Key| facts.get(&key).and_then(Fact::value).map(ToString::to_string);
    assert_eq!((text(Key::Task).as_deref(), text(Key::Processes)), (Some("serve"), None));
    assert_eq!(text(Key::GroupSize), None);
    let spread = "torchrun --nproc_per_node=1 --nnodes=2 --node_rank=0 inference_api.py --ckpt_dir llama";
    let facts = recognize(&container("", &["/bin/sh", "-c", spread], &[], &[]));
    assert_eq!(facts.get(&Key::GroupSize).and_then(Fact::value).map(ToString::to_string).as_deref(), Some("2"));
    let train = "accelerate launch --num_processes 2 train.py";
    let facts = recognize(&container("", &["/bin/sh", "-c", train], &[], &[]));
    let text = |key: Key| facts.get(&key).and_then(Fact::value).map(ToString::to_string);
    assert_eq!((text(Key::Task).as_deref(), text(Key::Processes).as_deref()), (Some("train"), Some("2")));
}
