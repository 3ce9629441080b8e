//! Tests the code that `gpulint fit --emit` writes: gpulint reads the same machine and price from it, and reports nothing
//! about it.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::cli::Place;
use crate::skipped::skip;

/// Models with the options that make some of them hard to express: context, precision, cloud, region, cost per token.
const MODELS: [&str; 17] = [
    "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-3.1-8B-Instruct --precision fp8 --cache-precision fp8",
    "meta-llama/Llama-3.1-8B-Instruct --by token --concurrency 16",
    "meta-llama/Llama-3.1-70B-Instruct --context 16k",
    "meta-llama/Llama-3.1-70B-Instruct --provider azure",
    "meta-llama/Llama-3.1-405B-Instruct-FP8 --context 16k",
    "meta-llama/Llama-3.2-1B-Instruct --precision fp16",
    "Qwen/Qwen2.5-7B-Instruct --provider gcp --region europe-west4",
    "Qwen/Qwen2.5-72B-Instruct-AWQ --region eu-west-1",
    "Qwen/Qwen3-32B",
    "mistralai/Mistral-7B-Instruct-v0.3 --batch-size 32",
    "mistralai/Mixtral-8x7B-Instruct-v0.1 --provider gcp",
    "deepseek-ai/DeepSeek-R1",
    "openai/gpt-oss-120b",
    "google/gemma-3-27b-it --context 32k",
    "microsoft/phi-4",
    "meta-llama/Llama-3.1-8B-Instruct --provider azure --region westeurope --precision fp8 --context 8k",
];

const TARGETS: [(&str, &str); 3] = [("deployment", "server.yaml"), ("sky", "task.yaml"), ("tf", "main.tf")];

fn gpulint(place: &Place, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(place.directory()).output().unwrap()
}

fn emitted(place: &Place, question: &str, target: &str) -> String {
    let arguments: Vec<&str> = ["fit"].into_iter().chain(question.split(' ')).chain(["--emit", target]).collect();
    let output = gpulint(place, &arguments);
    assert!(output.status.success(), "{question} {target}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(place: &Place, arguments: &[&str]) -> Value {
    serde_json::from_slice(&gpulint(place, arguments).stdout).unwrap()
}

/// Returns the provider, the machine and the price per hour that the comment names.
fn named(code: &str) -> [&str; 3] {
    let line = |start: &str| code.lines().find_map(|line| line.strip_prefix(start)).unwrap();
    let machine = line("# Machine: ").split_once(',').unwrap().0;
    let (provider, machine) = machine.split_once(' ').unwrap();
    let hour = line("# Price: ").split_once("on demand, $").unwrap().1.split_once("/h").unwrap().0;
    [provider, machine, hour]
}

/// Returns the price of the named machine on the list of `gpulint fit`, rounded as in the comment.
fn listed(place: &Place, question: &str, provider: &str, machine: &str) -> Option<String> {
    let question = question.replace("--by token --concurrency 16", "");
    let mut arguments: Vec<&str> = ["fit"].into_iter().chain(question.split_whitespace()).collect();
    if !question.contains("--provider") {
        arguments.extend(["--provider", provider]);
    }
    let answer = json(place, &[&arguments[..], &["--format", "json"]].concat());
    let options = answer["options"].as_array().unwrap();
    let found = options.iter().find(|it| it["machine"] == machine)?;
    Some(in_hundredths_of_cents(found["usd_per_hour"].as_f64().unwrap()))
}

fn in_hundredths_of_cents(dollars: f64) -> String {
    format!("{dollars:.4}")
}

#[test]
fn the_code_has_the_named_machine_and_price_and_no_findings() {
    for question in MODELS {
        for (target, file) in TARGETS {
            let place = Place::new();
            let code = emitted(&place, question, target);
            fs::write(place.directory().join(file), &code).unwrap();
            let [provider, machine, hour] = named(&code);
            let hour = in_hundredths_of_cents(hour.parse().unwrap());
            if !question.contains("--by token") {
                assert_eq!(listed(&place, question, provider, machine).as_ref(), Some(&hour), "{question} {target}");
            }
            let bill = json(&place, &["cost", file, "--prices", "embedded", "--format", "json"]);
            let resources = bill["resources"].as_array().unwrap();
            assert_eq!(resources.len(), 1, "{question} {target}: {resources:?}");
            assert_eq!(resources[0]["machine"]["value"], machine, "{question} {target}");
            // The price of a pod is that of its part of the machine.
            let number =
                |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{question} {target}: {resources:#?}"));
            let part = number(&resources[0]["accelerator_count"]["value"]) / accelerators(&code);
            let read = number(&resources[0]["price"]["usd_per_hour"]) / part;
            assert_eq!(in_hundredths_of_cents(read), hour, "{question} {target}");
            let report = json(&place, &["check", file, "--prices", "embedded", "--format", "json"]);
            let all = report["findings"].as_array().unwrap().iter();
            let findings: Vec<&Value> = all.filter(|it| it["level"] != "note").collect();
            assert!(findings.is_empty(), "{question} {target}: {findings:#?}");
        }
    }
}

/// Returns the number of accelerators of the named machine.
fn accelerators(code: &str) -> f64 {
    let line = code.lines().find(|line| line.starts_with("# Machine: ")).unwrap();
    line.split_once(", ").unwrap().1.split_once(" × ").unwrap().0.parse().unwrap()
}

#[test]
fn no_name_escapes_its_quotes() {
    let place = Place::new();
    let config = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
        "max_position_embeddings": 131072, "torch_dtype": "bfloat16"}"#;
    fs::write(place.directory().join("config.json"), config).unwrap();
    for name in [
        "a/b\"",
        "a/b'",
        "a/b\nc: d",
        "a/${file(\"b\")}",
        "a/$(id)",
        "a/%{ if b }",
        "a/`id`",
        "a/b #",
        "a/b\\",
        "a/b;id",
        "--b",
    ] {
        for (target, _) in TARGETS {
            let output = gpulint(&place, &["fit", "--models", "config.json", "--emit", target, "--", name]);
            assert_eq!(output.status.code(), Some(2), "{name:?}");
            assert!(output.stdout.is_empty(), "{name:?}: {}", String::from_utf8_lossy(&output.stdout));
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(told.contains("is not a valid name of a model"), "{name:?}: {told}");
        }
    }
    let output = gpulint(&place, &["fit", "--models", "config.json", "--emit", "tf", "--", "acme/own-model"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("--model acme/own-model"));
}

/// Terraform itself accepts the code, if the provider is installed.
#[test]
fn terraform_validates_the_code() {
    if Command::new("terraform").arg("version").output().is_err() {
        skip("no terraform");
        return;
    }
    for cloud in ["aws", "azure", "gcp"] {
        let place = Place::new();
        let question = format!("mistralai/Mixtral-8x7B-Instruct-v0.1 --provider {cloud}");
        fs::write(place.directory().join("main.tf"), emitted(&place, &question, "tf")).unwrap();
        let terraform = |arguments: &[&str]| {
            Command::new("terraform").args(arguments).current_dir(place.directory()).output().unwrap()
        };
        let format = terraform(&["fmt", "-check", "-diff"]);
        assert!(format.status.success(), "{}", String::from_utf8_lossy(&format.stdout));
        // Development overrides of providers need no `init`, which fails for them.
        let _ = terraform(&["init", "-backend=false", "-input=false"]);
        if !terraform(&["providers", "schema", "-json"]).status.success() {
            skip("no provider of Terraform");
            continue;
        }
        let answer: Value = serde_json::from_slice(&terraform(&["validate", "-json"]).stdout).unwrap();
        let all = answer["diagnostics"].as_array().unwrap().iter();
        let errors: Vec<&Value> = all.filter(|it| it["severity"] == "error").collect();
        assert!(errors.is_empty(), "{cloud}: {errors:#?}");
    }
}
