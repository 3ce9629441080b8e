//! Reads rows of servers and writes the estimated speed of each, to evaluate the estimate in bulk.

use serde_json::{Value, json};

use super::case_rows::{CaseRow, answers};
use super::published::{self, Question};
use super::speed::{Coefficients, EngineClass, Load, ModelServer, ServerSpeed, SpeedRange, estimate_speed};
use crate::catalog::{Catalog, Model, Precision, TableError};

/// Returns one line of JSON for each row of the table, in order. It never reads the measured result of a row.
pub fn run(path: &str, text: &str, catalog: &Catalog) -> Result<String, TableError> {
    let error = |message: &str| TableError { path: path.to_owned(), line: 1, message: message.to_owned() };
    let coefficients = Coefficients::of(catalog).ok_or_else(|| error("the tables lack numbers"))?;
    answers(path, text, &["engine", "model", "accelerator"], |row| answer(row, catalog, &coefficients))
}

fn answer(row: &CaseRow<'_>, catalog: &Catalog, coefficients: &Coefficients) -> Value {
    let estimate = estimated(row, catalog, coefficients);
    let times = estimate.as_ref().ok().map(|(speed, _)| (speed.ms_to_first_token, speed.ms_per_token));
    let mut value = match (quoted(row, catalog), estimate) {
        (Some((range, because)), _) => describe_rate(range, "measured", &because),
        (None, Ok((speed, because))) => describe_rate(speed.tokens_per_second, "estimate", &because),
        (None, Err(because)) => return json!({ "tokens_per_s": null, "basis": null, "because": because }),
    };
    if let Some((first, each)) = times {
        value["ttft_ms"] = first.map_or(Value::Null, describe_range);
        value["ms_per_token"] = describe_range(each);
    }
    value
}

fn describe_rate(range: SpeedRange, basis: &str, because: &str) -> Value {
    json!({ "tokens_per_s": describe_range(range), "basis": basis, "because": because })
}

fn describe_range(range: SpeedRange) -> Value {
    let SpeedRange { floor, expected, ceiling } = range;
    json!({ "floor": rounded(floor), "expected": rounded(expected), "ceiling": rounded(ceiling) })
}

/// Rounds to four digits, because no estimate is more accurate.
fn rounded(rate: f64) -> f64 {
    let unit = 10_f64.powf(rate.log10().floor() - 3.0);
    if unit.is_normal() { ((rate / unit).round() * unit * 1e9).round() / 1e9 } else { rate }
}

/// Makes a foreign name safe for a message.
fn shown(name: &str) -> String {
    const MOST: usize = 80;
    name.chars()
        .map(|letter| if letter.is_alphanumeric() || letter.is_ascii_graphic() { letter } else { ' ' })
        .take(MOST)
        .collect()
}

/// Returns a published measurement of the same server. Measurements from the source of the case itself are excluded,
/// because they would only confirm themselves.
fn quoted(row: &CaseRow<'_>, catalog: &Catalog) -> Option<(SpeedRange, String)> {
    let question = Question {
        engine: row.text("engine"),
        model: row.text("model"),
        accelerator: row.text("accelerator"),
        accelerators: row.number("accelerators")?,
        tensor_parallel: row.number("tensor_parallel"),
        precision: row.text("precision"),
        input_tokens: row.number("input_tokens")?,
        output_tokens: row.number("output_tokens")?,
        concurrency: row.number("concurrency_or_batch"),
        scenario: row.text("scenario"),
        not_by: row.text("source_id"),
    };
    if unusual(row.text("note")).is_some() {
        return None;
    }
    let found = published::matching(&question, catalog)?;
    Some((found.range(), found.format_quotation()))
}

fn estimated(
    row: &CaseRow<'_>,
    catalog: &Catalog,
    coefficients: &Coefficients,
) -> Result<(ServerSpeed, String), String> {
    if let Some(why) = unusual(row.text("note")) {
        return Err(why.to_owned());
    }
    let name = row.text("accelerator");
    let accelerator =
        catalog.peak(name).ok_or_else(|| format!("nothing is known of the accelerator `{}`", shown(name)))?;
    let engine = EngineClass::of(row.text("engine")).ok_or_else(|| {
        let engine = shown(row.text("engine"));
        format!("of the engine `{engine}` too little was measured, or it answers one request after another")
    })?;
    let model =
        model(row, catalog).ok_or_else(|| format!("nothing is known of the model `{}`", shown(row.text("model"))))?;
    let precision = precision(row, &model, catalog);
    let small_cache = match row.text("kv_precision") {
        "" => engine == EngineClass::Tuned && matches!(precision, Precision::Fp8 | Precision::Nvfp4),
        said => said.to_ascii_lowercase().starts_with("fp8"),
    };
    let server = ModelServer {
        model: &model,
        engine,
        precision,
        small_cache,
        accelerator,
        accelerators: row.number("accelerators").ok_or("the number of accelerators is missing")?,
        of_replica: row.number("tensor_parallel"),
        input_tokens: row.number("input_tokens").ok_or(NO_LENGTHS)?,
        output_tokens: row.number("output_tokens").ok_or(NO_LENGTHS)?,
        load: load(row)?,
    };
    if server.output_tokens < LEAST_OUTPUT {
        return Err("with so short answers it is the reading of prompts that was measured".to_owned());
    }
    let speed = estimate_speed(&server, coefficients)?;
    let flight = speed.in_flight;
    let because = format!(
        "{}; of {flight:.0} at a time, a step takes about {:.1} ms, most of it {}",
        speed.group,
        speed.terms.step_ms(),
        speed.terms.longest()
    );
    Ok((speed, because))
}

/// The speed depends so much on the lengths of prompts and answers that there is no estimate without them.
const NO_LENGTHS: &str = "how long prompts and answers are is not said, and most hangs on it";

/// The tokens of an answer below which generation hardly affects the time.
const LEAST_OUTPUT: f64 = 17.0;

/// Returns why a row is not a server that reads prompts and generates answers.
fn unusual(note: &str) -> Option<&'static str> {
    let note = note.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| note.contains(word));
    if says(&["speculative"]) && !says(&["no speculative"]) {
        Some("how much a draft model gains depends on what is asked")
    } else if says(&["prefix cach", "disaggregat", "prefill-decode"]) {
        Some("shared prompts and split servers are not estimated")
    } else if says(&["client limited"]) {
        Some("its clients were the limit")
    } else {
        None
    }
}

fn load(row: &CaseRow<'_>) -> Result<Load, &'static str> {
    let requests = row.number("concurrency_or_batch");
    match row.text("scenario") {
        "single-stream" => Ok(Load::Given(1.0)),
        "server-with-latency-limit" => Err("how much a limit of latency costs was published by one source only"),
        "offline-max" => Ok(Load::Full(requests)),
        _ => Ok(requests.map_or(Load::Full(None), Load::Given)),
    }
}

/// Returns the model of the row, with the sizes from the row.
fn model(row: &CaseRow<'_>, catalog: &Catalog) -> Option<Model> {
    let params = row.number("params_b");
    let active = row.number("active_params_b");
    let found = catalog.models().identify(row.text("model")).map(|found| found.model.into_owned());
    let near = |model: &Model| params.is_none_or(|params| (0.8..1.25).contains(&(model.params_b / params)));
    let mut model = found.filter(near).or_else(|| catalog.models().of_size(params?))?;
    model.params_b = params.unwrap_or(model.params_b);
    model.active_b = active.or(model.active_b).filter(|active| *active < 0.9 * model.params_b);
    Some(model)
}

fn precision(row: &CaseRow<'_>, model: &Model, catalog: &Catalog) -> Precision {
    let said = match &*row.text("precision").to_ascii_lowercase() {
        "w8a16" => Some(Precision::Gptq8),
        "int8_sq" => Some(Precision::Int8),
        "uint4" => Some(Precision::Int4),
        other => Precision::parse(other),
    };
    let named = || catalog.models().identify(row.text("model"))?.precision;
    said.or_else(named).unwrap_or(model.published)
}
