//! Parses the value of a fact: `32k` of context, `90%` of memory, `bitsandbytes-nf4` as a precision.

use regex::Regex;

use crate::source::static_regex;

use super::super::key::{FactValue, Key, ValueType};
use super::table::{KnownProgram, TABLE, normalize_value};

/// The meaning of a word as the value of a fact.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueMeaning {
    Value(FactValue),
    /// The word does not set the fact: with `auto` as precision, the checkpoint decides.
    Nothing,
    /// The word leaves the fact open, for this reason.
    Unclear(String),
}

pub(super) fn meaning(program: Option<&KnownProgram>, key: Key, text: &str) -> ValueMeaning {
    let text = text.trim();
    let word = normalize_value(text);
    let own = program.and_then(|program| program.values.get(&key)).and_then(|map| map.get(&word));
    let mapped = own.or_else(|| TABLE.values.get(&key).and_then(|map| map.get(&word)));
    match mapped.map(String::as_str) {
        Some("nothing") => return ValueMeaning::Nothing,
        Some("unclear") => return ValueMeaning::Unclear(format!("`{text}` lets the program choose {}", key.name())),
        Some(value) => return typed(key, value),
        None => {}
    }
    if text.is_empty() {
        return ValueMeaning::Nothing;
    }
    match key {
        Key::Context => context(text),
        Key::TokensPerDay | Key::TrainTokens | Key::PromptTokens | Key::AnswerTokens | Key::RequestsPerDay => {
            amount(key, text)
        }
        Key::MsToFirstToken | Key::MsPerToken => milliseconds(key, text),
        Key::RequestsPerSecond
        | Key::Seats
        | Key::ImageGib
        | Key::ColdStartSeconds
        | Key::StartsPerMonth
        | Key::CheckpointMinutes
        | Key::InterruptionsPerMonth => positive(key, text),
        Key::PrivateData => ValueMeaning::Value(FactValue::Flag(!OPEN.contains(&&*word))),
        Key::MemoryUtilization => share(text),
        Key::Sharding => sharding(&word),
        Key::Precision | Key::CachePrecision => typed(key, &word.replace('-', "_")),
        Key::Offload => offload(&word),
        Key::Parameters => parameters(text),
        _ => typed(key, text),
    }
}

fn typed(key: Key, text: &str) -> ValueMeaning {
    if key.value_type() == ValueType::Integer {
        return match integer(text) {
            Some(n) => ValueMeaning::Value(FactValue::Integer(n)),
            None => ValueMeaning::Unclear(format!("`{text}` is not a number for {}", key.name())),
        };
    }
    match FactValue::text(text).conform(key.value_type()) {
        Some(value) => ValueMeaning::Value(value),
        None => {
            ValueMeaning::Unclear(format!("`{text}` is not a valid {} for {}", key.value_type().name(), key.name()))
        }
    }
}

fn integer(text: &str) -> Option<i64> {
    let digits = text.trim().trim_matches(['"', '\'']).replace('_', "");
    digits.parse().ok().or_else(|| digits.strip_suffix(".0").and_then(|whole| whole.parse().ok()))
}

/// Values that mark data as public; every other value marks it as private.
const OPEN: [&str; 7] = ["false", "no", "0", "off", "none", "public", "open"];

fn positive(key: Key, text: &str) -> ValueMeaning {
    match text.parse::<f64>() {
        Ok(n) if n > 0.0 && n < 1e9 => ValueMeaning::Value(FactValue::Number(n)),
        _ => ValueMeaning::Unclear(format!("`{text}` is not a positive number for {}", key.name())),
    }
}

/// Parses `40`, `40ms` or `0.5s` as milliseconds.
fn milliseconds(key: Key, text: &str) -> ValueMeaning {
    let word = text.to_ascii_lowercase();
    let (number, factor) = match (word.strip_suffix("ms"), word.strip_suffix('s')) {
        (Some(number), _) => (number, 1.0),
        (None, Some(number)) => (number, 1e3),
        (None, None) => (&*word, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(n) if n > 0.0 && n * factor < 1e9 => ValueMeaning::Value(FactValue::Number(n * factor)),
        _ => ValueMeaning::Unclear(format!("`{text}` is not a time for {}, such as 500ms or 0.5s", key.name())),
    }
}

/// Parses `5M` tokens or requests per day. 1.5 billion must be written as `1.5B` or `1.5G`.
fn amount(key: Key, text: &str) -> ValueMeaning {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match text.get(number.len()..).map(str::to_ascii_lowercase).as_deref() {
        Some("") => 1.0,
        Some("k") => 1e3,
        Some("m") => 1e6,
        Some("b" | "g") => 1e9,
        _ => 0.0,
    };
    match number.replace('_', "").parse::<f64>() {
        Ok(n) if (1.0..1e15).contains(&(n * factor)) => ValueMeaning::Value(FactValue::Number(n * factor)),
        _ => {
            let what = if key == Key::RequestsPerDay { "requests" } else { "tokens" };
            ValueMeaning::Unclear(format!("`{text}` is not a number of {what}"))
        }
    }
}

/// Parses a number of tokens. `32k` is 32,000 and `32K` is 32,768, because engines with suffixes distinguish them.
fn context(text: &str) -> ValueMeaning {
    let unclear = || ValueMeaning::Unclear(format!("`{text}` is not a number of tokens"));
    let (number, factor) = match text.as_bytes().last() {
        Some(b'k') => (&text[..text.len() - 1], 1000.0),
        Some(b'K') => (&text[..text.len() - 1], 1024.0),
        Some(b'm') => (&text[..text.len() - 1], 1e6),
        Some(b'M') => (&text[..text.len() - 1], 1_048_576.0),
        _ => (text, 1.0),
    };
    match number.replace('_', "").parse::<f64>() {
        Ok(-1.0) => ValueMeaning::Unclear("the program chooses the largest context that fits".to_owned()),
        // If a program accepts zero, zero means the model's own window.
        Ok(0.0) => ValueMeaning::Nothing,
        Ok(n) if (1.0..1e9).contains(&(n * factor)) => ValueMeaning::Value(FactValue::Integer((n * factor) as i64)),
        _ => unclear(),
    }
}

fn share(text: &str) -> ValueMeaning {
    let (number, factor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>() {
        Ok(n) if n * factor > 0.0 && n * factor <= 1.0 => ValueMeaning::Value(FactValue::Number(n * factor)),
        // Some wrappers use percent without a sign.
        Ok(n) if (2.0..=100.0).contains(&n) => ValueMeaning::Value(FactValue::Number(n / 100.0)),
        _ => ValueMeaning::Unclear(format!("`{text}` is not a share of memory")),
    }
}

static_regex!(static STAGE: Regex = r"(?:zero|stage|ds-z|[-_/]z|^z|^)[-_]?([0-3])(?:[^0-9]|$)");

/// Parses a kind of sharding: `configs/ds_z3_offload.json`, `zero3`, `full_shard auto_wrap`, `deepspeed_stage_2`, `3`.
pub(super) fn sharding(word: &str) -> ValueMeaning {
    let known = |name: &str| ValueMeaning::Value(FactValue::text(name));
    if let Some(stage) = STAGE.captures(word).and_then(|found| found.get(1)) {
        return known(match stage.as_str() {
            "0" => "ddp",
            "1" => "zero1",
            "2" => "zero2",
            _ => "zero3",
        });
    }
    match word {
        w if w.contains("no-shard") || w.contains("ddp") || w.contains("multi-gpu") => known("ddp"),
        w if w.contains("shard-grad-op") => known("zero2"),
        w if w.contains("fsdp") || w.contains("full-shard") || w.contains("hybrid-shard") => known("fsdp"),
        w if w.contains("megatron") => known("megatron"),
        "no" | "none" | "" | "false" => ValueMeaning::Nothing,
        "true" => known("fsdp"),
        _ => ValueMeaning::Unclear(format!("`{word}` does not specify how training is sharded")),
    }
}

fn offload(word: &str) -> ValueMeaning {
    match word {
        "" | "none" | "no" | "false" | "0" | "0.0" => ValueMeaning::Nothing,
        word => ValueMeaning::Value(FactValue::text(if word.parse::<f64>().is_ok() { "weights" } else { word })),
    }
}

/// Parses `7b`, `70B`, `500m`, `7` or a plain number of parameters, in billions.
pub(super) fn parameters(text: &str) -> ValueMeaning {
    let text = text.trim().to_ascii_lowercase().replace('_', ".");
    let (number, factor) = match text.as_bytes().last() {
        Some(b'b') => (&text[..text.len() - 1], 1.0),
        Some(b'm') => (&text[..text.len() - 1], 1e-3),
        Some(b't') => (&text[..text.len() - 1], 1e3),
        _ => (&*text, 1.0),
    };
    let (copies, number) = match number.split_once('x').or_else(|| number.split_once('×')) {
        // Experts share the attention layers: eight experts of 7B have fewer than 56B parameters.
        Some((copies, each)) => (copies.parse::<f64>().map(|n| n * 0.83).unwrap_or(f64::NAN), each),
        None => (1.0, number),
    };
    match number.parse::<f64>().map(|n| n * factor * copies) {
        Ok(n) if n > 1e6 && n < 1e13 => ValueMeaning::Value(FactValue::Number(n / 1e9)),
        Ok(n) if n > 0.0 && n <= 1e5 => ValueMeaning::Value(FactValue::Number(n)),
        _ => ValueMeaning::Unclear(format!("`{text}` is not a number of parameters")),
    }
}

pub(super) fn flag(text: &str) -> Option<bool> {
    match &*text.trim().to_ascii_lowercase() {
        "true" | "1" | "on" | "yes" | "enable" | "enabled" => Some(true),
        "false" | "0" | "off" | "no" | "disable" | "disabled" | "none" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(key: Key, text: &str) -> String {
        match meaning(None, key, text) {
            ValueMeaning::Value(value) => value.to_string(),
            ValueMeaning::Nothing => "nothing".to_owned(),
            ValueMeaning::Unclear(_) => "unclear".to_owned(),
        }
    }

    #[test]
    fn context_takes_suffixes() {
        let cases = ["32768", "32k", "32K", "1M", "auto", "-1", "0", "x", "8_192", "99999999999"];
        let expected =
            ["32768", "32000", "32768", "1048576", "unclear", "unclear", "nothing", "unclear", "8192", "unclear"];
        assert_eq!(cases.map(|text| read(Key::Context, text)), expected);
    }

    #[test]
    fn precision_words_have_one_name() {
        let cases = ["half", "bfloat16", "auto", "bitsandbytes-nf4", "AWQ_Marlin", "gguf", "w8a8_fp8"];
        let expected = ["fp16", "bf16", "nothing", "nf4", "awq", "nothing", "fp8"];
        assert_eq!(cases.map(|text| read(Key::Precision, text)), expected);
    }

    #[test]
    fn sharding_is_read_from_paths_too() {
        let cases = [
            "configs/ds_z3_offload_config.json",
            "deepspeed_configs/zero2.json",
            "full_shard auto_wrap",
            "deepspeed_stage_3",
            "3",
            "ds.json",
            "none",
        ];
        let expected = ["zero3", "zero2", "fsdp", "zero3", "zero3", "unclear", "nothing"];
        assert_eq!(cases.map(|text| read(Key::Sharding, text)), expected);
    }

    #[test]
    fn sizes_are_billions() {
        let cases = ["7b", "70B", "500m", "8x7b", "1_8b", "13", "7000000000", "big"];
        let expected = ["7", "70", "0.5", "46.48", "1.8", "13", "7", "unclear"];
        assert_eq!(cases.map(|text| read(Key::Parameters, text)), expected);
    }
}
