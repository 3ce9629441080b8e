//! Checks the JSON of every subcommand against `schema/`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(root().join("schema").join(format!("{name}.json"))).unwrap()).unwrap()
}

fn output(arguments: &[&str]) -> Value {
    let run = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(root()).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(matches!(run.status.code(), Some(0 | 1)), "{arguments:?}: {said}");
    serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

pub(crate) fn validate(name: &str, value: &Value) {
    let validator = jsonschema::validator_for(&schema(name)).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path)).take(10).collect();
    assert!(wrong.is_empty(), "{name}: {}", wrong.join("\n"));
}

#[test]
fn every_example_is_told_as_the_contract_says() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let example = format!("examples/{}", entry.unwrap().file_name().into_string().unwrap());
        if !root().join(&example).is_dir() {
            continue;
        }
        for verb in ["inspect", "check", "cost", "plan"] {
            let value = output(&[verb, "--format", "json", &example]);
            validate(verb, &value);
            let list = match verb {
                "check" => "findings",
                "plan" => "groups",
                _ => "resources",
            };
            seen += value[list].as_array().unwrap().len();
        }
    }
    assert!(seen > 20, "the examples show {seen} resources and findings only");
}

#[test]
fn a_change_is_told_as_the_contract_says() {
    let examples =
        ["training-platform-eks", "inference-service", "notebooks-gcp", "mixed"].map(|it| format!("examples/{it}"));
    for (before, after) in examples.iter().zip(examples.iter().cycle().skip(1)) {
        let value = output(&["diff", "--format", "json", "--base-dir", before, after]);
        validate("diff", &value);
        assert!(value["changes"].as_array().unwrap().len() > 1);
    }
}

#[test]
fn price_and_fit_speak_as_the_contract_says() {
    validate("price", &output(&["price", "--format", "json", "p5.48xlarge", "--region", "us-east-1"]));
    validate("price", &output(&["price", "--format", "json", "L4"]));
    for asked in [&["p5.48xlarge", "--hours", "48"][..], &["--run", "4xA10G", "--hours", "48"]] {
        let planned = output(&[&["price", "--format", "json"], asked].concat());
        validate("price-hours", &planned);
        assert!(planned.as_array().unwrap().iter().any(|way| way["restarts"]["least"].is_number()), "{planned}");
    }
    let model = "meta-llama/Llama-3.1-8B-Instruct";
    validate("fit", &output(&["fit", "--format", "json", model, "--accelerator", "L4", "--context", "8192"]));
    let promised = |limit| {
        let load = ["--ttft", limit, "--tpot", "60ms", "--load", "4rps", "--context", "8k", "--provider", "aws"];
        output(&[&["fit", "--format", "json", model][..], &load].concat())
    };
    for (limit, holds) in [("1s", true), ("1ms", false)] {
        let promised = promised(limit);
        validate("fit-promise", &promised);
        assert_eq!(promised["options"][0].is_object(), holds, "{promised}");
    }
    let trained = |model, tokens: &str| {
        let whole = ["--task", "train", "--method", "full", "--sequence", "4096", "--sharding", "fsdp"];
        let question =
            [&["fit", "--format", "json", model, "--machine", "p5.48xlarge", "--train-tokens", tokens][..], &whole];
        output(&question.concat())
    };
    for (model, is_said) in [("meta-llama/Llama-3.1-8B", true), ("mistralai/Mixtral-8x7B-v0.1", false)] {
        let trained = trained(model, "15B");
        validate("fit", &trained);
        assert_eq!(trained["training"]["days"]["floor"].is_number(), is_said, "{trained}");
        assert_eq!(trained["training"]["because"].is_string(), !is_said, "{trained}");
    }
    validate("fit", &output(&["fit", "--format", "json", "acme/Llama-3.1-8B-Instruct-GGUF", "--accelerator", "L4"]));
}

#[test]
fn scenarios_are_told_as_the_contract_says() {
    let pool = "google_container_node_pool.l4";
    let told = output(&[
        "what-if",
        "examples/mixed",
        "--format",
        "json",
        "--on",
        pool,
        "--case",
        "spot:purchase=spot",
        "--case",
        "own:provider=on-prem,count=2",
        "--case",
        "model:machine=a2-highgpu-1g,region=us-central1",
    ]);
    validate("what-if", &told);
    assert_eq!(told["cases"].as_array().unwrap().len(), 3);
    assert!(told["cases"][0]["new_findings"].as_array().unwrap().len() > 1, "{told}");
    assert_eq!(told["cases"][1]["resources"][0]["price"]["status"], "unpriced", "nobody said what own hardware costs");
}

#[test]
fn published_prices_come_out_of_the_catalog() {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing");
    for (provider, machine, region) in [
        ("aws", "p5.48xlarge", "us-east-1"),
        ("aws", "p4d.24xlarge", "us-east-1"),
        ("aws", "g5.xlarge", "us-east-1"),
        ("gcp", "a2-highgpu-1g", "us-central1"),
        ("azure", "Standard_NC24ads_A100_v4", "eastus"),
    ] {
        // This compares with the provider's table. Other tests compare the tables with published prices.
        let table = fs::read_to_string(tables.join(format!("{provider}.csv"))).unwrap();
        let line = table.lines().find(|line| line.starts_with(&format!("{machine},{region},"))).unwrap();
        let usd: f64 = line.split(',').nth(6).unwrap().parse().unwrap();
        let rows = output(&["price", "--format", "json", machine, "--region", region]);
        assert_eq!(rows[0]["on_demand_usd_per_hour"].as_f64(), Some(usd), "{machine}");
    }
}

#[test]
fn the_schemas_refuse_what_they_do_not_describe() {
    let mut value = output(&["check", "--format", "json", "examples"]);
    value["findings"][0]["level"] = "fatal".into();
    assert!(!jsonschema::is_valid(&schema("check"), &value));
    let mut value = output(&["inspect", "--format", "json", "examples"]);
    value["surprise"] = 1.into();
    assert!(!jsonschema::is_valid(&schema("inspect"), &value));
}
