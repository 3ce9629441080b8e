//! Tests estimates of server speed: a table of cases with the answers, and malicious input.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use gpulint::catalog::{Catalog, Precision};
use gpulint::fit::speed::{Coefficients, EngineClass, Load, ModelServer, estimate_speed};
use gpulint::fit::speed_cases;
use gpulint::fit::tokens::CostComparison;
use serde_json::Value;

fn answers(text: &str) -> Vec<Value> {
    let lines = speed_cases::run("cases.csv", text, &Catalog::embedded()).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_case_is_answered_as_before() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fit");
    let text = fs::read_to_string(directory.join("speed.csv")).unwrap();
    let expected = directory.join("speed.jsonl");
    let lines = speed_cases::run("speed.csv", &text, &Catalog::embedded()).unwrap();
    if std::env::var_os("GPULINT_BLESS").is_some() {
        fs::write(&expected, &lines).unwrap();
    }
    assert_eq!(lines, fs::read_to_string(expected).unwrap());
    assert_eq!(lines.lines().count(), text.lines().count() - 1);
}

#[test]
fn a_row_s_own_result_is_not_read() {
    let with = |result: &str| {
        answers(&format!(
            "engine,model,accelerator,accelerators,input_tokens,output_tokens,scenario,output_tokens_per_s,total_tokens_per_s,ttft_ms,tpot_ms\n\
             vLLM,meta-llama/Llama-3.1-8B,L4,1,512,256,single-stream,{result},{result},{result},{result}\n"
        ))
    };
    assert!(with("")[0]["tokens_per_s"].is_object());
    assert_eq!(with(""), with("123456"));
}

#[test]
fn ranges_are_ranges() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fit/speed.csv")).unwrap();
    for answer in answers(&text) {
        assert!(!answer["because"].as_str().unwrap().is_empty());
        assert_eq!(answer["basis"].is_null(), answer["tokens_per_s"].is_null());
        if let Some(range) = answer["tokens_per_s"].as_object() {
            let [floor, expected, ceiling] = ["floor", "expected", "ceiling"].map(|end| range[end].as_f64().unwrap());
            assert!(0.0 < floor && 1.3 * floor <= expected && 1.2 * expected <= ceiling, "{answer}");
        }
    }
}

/// Malicious tables get an answer, or an error with its line, for each row. Each answer is one line.
#[test]
fn hostile_tables_are_answered() {
    let header = "engine,model,accelerator,accelerators,tensor_parallel,input_tokens,output_tokens,concurrency_or_batch,\
                  params_b,active_params_b,scenario\n";
    let long = "x".repeat(100_000);
    let rows = [
        "vLLM,llama-3.1-8b,H100-80GB,1e308,1,1e308,1e308,1e308,1e308,1,offline-max",
        "vLLM,llama-3.1-8b,H100-80GB,NaN,inf,-1,0,-0,nan,inf,offline-max",
        "vLLM,llama-3.1-8b,H100-80GB,0.000001,1,0.0000001,99,1e-300,1e-300,1e300,fixed-concurrency",
        "vLLM,llama-3.1-8b,H100-80GB,1,1e-9,512,256,1,8,,single-stream",
        "vLLM,llama-3.1-8b,H100-80GB,8,0.5,512,256,1,8,,single-stream",
        "vLLM,\u{2028}\u{85}\u{b}\u{202e},\u{1b}[31mH100,1,1,1,1,1,,,",
        "\"a\"\"b\",\"c,d\",e,1,1,1,1,1,,,",
        ",,,,,,,,,,",
        "vLLM",
        "=cmd|' /C calc'!A0,@x,+1,1,1,1,1,1,1,1,1,1,1,1,1,1",
        &format!("vLLM,{long},{long},1,1,1,1,1,,,"),
    ];
    for row in rows {
        let lines = speed_cases::run("cases.csv", &format!("{header}{row}\n"), &Catalog::embedded()).unwrap();
        assert_eq!(lines.chars().filter(|letter| letter.is_control() || *letter == '\u{2028}').count(), 1, "{lines:?}");
        assert!(lines.len() < 2_000, "{} bytes", lines.len());
        let answer: Value = serde_json::from_str(&lines).unwrap();
        if let Some(range) = answer["tokens_per_s"].as_object() {
            assert!(range.values().all(|end| end.as_f64().is_some_and(|end| end > 0.0)), "{answer}");
        }
    }
    for (text, line) in [("engine,model\nvLLM,x\n", 1), ("engine,model,accelerator\nvLLM,\"x,y\n", 2)] {
        let error = speed_cases::run("cases.csv", text, &Catalog::embedded()).unwrap_err();
        assert_eq!((error.path.as_str(), error.line), ("cases.csv", line));
    }
    assert_eq!(answers(""), Vec::<Value>::new());
}

#[test]
fn more_of_everything_moves_the_estimate_the_right_way() {
    let catalog = Catalog::embedded();
    let coefficients = Coefficients::of(&catalog).unwrap();
    let models = catalog.models();
    let small = models.identify("meta-llama/Llama-3.1-8B").unwrap().model.into_owned();
    let large = models.identify("Qwen/Qwen2.5-32B").unwrap().model.into_owned();
    let server = ModelServer {
        model: &small,
        engine: EngineClass::Default,
        precision: Precision::Bf16,
        small_cache: false,
        accelerator: catalog.peak("H100-80GB").unwrap(),
        accelerators: 1.0,
        of_replica: None,
        input_tokens: 1024.0,
        output_tokens: 256.0,
        load: Load::Given(8.0),
    };
    let rate = |server: ModelServer<'_>| estimate_speed(&server, &coefficients).unwrap().tokens_per_second.expected;
    let now = rate(server);
    assert!(rate(ModelServer { load: Load::Given(16.0), ..server }) > now);
    assert!(rate(ModelServer { input_tokens: 4096.0, ..server }) < now);
    assert!(rate(ModelServer { precision: Precision::Fp8, ..server }) > now);
    assert!(rate(ModelServer { accelerator: catalog.peak("L4").unwrap(), ..server }) < now);
    assert!(rate(ModelServer { model: &large, ..server }) < now);
    let two = rate(ModelServer { accelerators: 2.0, of_replica: Some(1.0), load: Load::Given(16.0), ..server });
    assert!((two / now - 2.0).abs() < 1e-9, "two replicas are twice one");
}

#[test]
fn numbers_have_a_day_and_a_source() {
    for file in ["throughput", "throughput_peaks", "measured_throughput"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pricing").join(format!("{file}.csv"));
        let text = fs::read_to_string(path).unwrap();
        let mut records = gpulint::source::csv_records(&text).map(|(_, record)| record.unwrap());
        let header = records.next().unwrap();
        let at = |name: &str| header.iter().position(|column| column == name).unwrap();
        let mut wrong = String::new();
        for record in records {
            if record[at("as_of")].len() != 10 || record[at("source")].is_empty() {
                let _ = writeln!(wrong, "{file}: {record:?}");
            }
        }
        assert_eq!(wrong, "");
    }
}

/// Statements about server speed that the data do not support. The test searches for each in the output.
#[test]
fn what_may_not_be_said_is_not_said() {
    let row = |engine: &str, model: &str, accelerator: &str, count: u32, load: &str| {
        let text = format!(
            "engine,model,accelerator,accelerators,precision,input_tokens,output_tokens,concurrency_or_batch,scenario\n\
             {engine},{model},{accelerator},{count},FP16,1024,256,{load}\n"
        );
        answers(&text).remove(0)
    };
    let is_null = |answer: &Value| answer["tokens_per_s"].is_null() && answer["basis"].is_null();
    let (dense, mixture) = ("meta-llama/Llama-3.1-8B", "mistralai/Mixtral-8x7B-v0.1");
    // For mixtures and other vendors, no estimate is within a factor of four, so none is given.
    for load in ["1,single-stream", "16,fixed-concurrency", ",offline-max"] {
        assert!(is_null(&row("vLLM", mixture, "H100-80GB", 2, load)));
        assert!(is_null(&row("TensorRT-LLM", mixture, "H200", 1, load)));
        for accelerator in ["MI300X", "MI325X", "TPU-v5e", "TPU-v6e", "Gaudi3", "INF2", "TRN2", "ASCEND910B"] {
            assert!(is_null(&row("vLLM", dense, accelerator, 1, load)), "{accelerator}");
        }
        for engine in ["llama.cpp", "ollama", "transformers", "ExLlamaV2", "", "something new"] {
            assert!(is_null(&row(engine, dense, "H100-80GB", 1, load)), "{engine}");
        }
    }
    assert!(is_null(&row("vLLM", dense, "H100-80GB", 1, "128,fixed-concurrency")));
    assert!(is_null(&row("vLLM", dense, "H100-80GB", 16, ",offline-max")));
    assert!(is_null(&row("vLLM", dense, "H100-80GB", 1, ",server-with-latency-limit")));
    // An estimate is never a single value, and numbers of a tuned engine are never used for a default one.
    let (default, tuned) =
        (row("vLLM", dense, "H100-80GB", 1, ",offline-max"), row("NIM", dense, "H100-80GB", 1, ",offline-max"));
    assert!(default["tokens_per_s"]["floor"].as_f64() < default["tokens_per_s"]["ceiling"].as_f64());
    assert!(default["tokens_per_s"]["expected"].as_f64() < tuned["tokens_per_s"]["expected"].as_f64());
    // At full load, requests wait for others, so there is no time to the first token.
    assert!(default["ttft_ms"].is_null() && default["ms_per_token"].is_object());
    let loads = [1, 8, 48].map(|load| row("vLLM", dense, "H100-80GB", 1, &format!("{load},fixed-concurrency")));
    for answer in &loads {
        let [least, middle, most] =
            ["floor", "expected", "ceiling"].map(|end| answer["ttft_ms"][end].as_f64().unwrap());
        assert!(1.9 * least <= middle && 1.9 * middle <= most, "{answer}");
    }
    let slowest = loads.map(|answer| answer["ttft_ms"]["ceiling"].as_f64().unwrap());
    assert!(slowest.is_sorted() && slowest[2] > 2.0 * slowest[0], "{slowest:?}");
    // A direction is only given if the gap is large enough.
    let said = [1.0, 1.24, 1.25, 1.49, 1.5, 9.0].map(|gap| CostComparison::of(gap).name());
    assert_eq!(said, ["about the same", "about the same", "probably dearer", "probably dearer", "dearer", "dearer"]);
}

#[test]
fn no_range_is_faster_than_memory_is_read() {
    let catalog = Catalog::embedded();
    let coefficients = Coefficients::of(&catalog).unwrap();
    for name in ["L4", "A100-80GB", "H100-80GB", "H200", "B200", "RTX-4090"] {
        let accelerator = catalog.peak(name).unwrap();
        for model in ["meta-llama/Llama-3.2-3B", "meta-llama/Llama-3.1-8B"] {
            let model = catalog.models().identify(model).unwrap().model.into_owned();
            let server = ModelServer {
                model: &model,
                engine: EngineClass::Tuned,
                precision: Precision::Bf16,
                small_cache: false,
                accelerator,
                accelerators: 1.0,
                of_replica: None,
                input_tokens: 16.0,
                output_tokens: 64.0,
                load: Load::Given(1.0),
            };
            let Ok(speed) = estimate_speed(&server, &coefficients) else { continue };
            let most = accelerator.gb_per_second / (2.0 * model.params_b);
            assert!(speed.tokens_per_second.ceiling <= most, "{name} {}", model.id);
        }
    }
}
