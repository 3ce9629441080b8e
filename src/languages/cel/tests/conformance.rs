//! Runs the public conformance tests of the language on a checkout of google/cel-spec: `CEL_SPEC=<checkout> cargo test
//! cel::tests::conformance -- --nocapture`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::textproto::{self, ProtoField, TextprotoMessage};
use super::{Fixed, compile_unchecked};
use crate::languages::cel::time::{CelDuration, Timestamp};
use crate::languages::cel::{CelBudget, CelMap, CelValue, same};

/// Excluded tests, with the reason. An entry is a file, a section of it, or one test.
const LEFT_OUT: &[(&str, &str)] = &[
    ("block_ext", "`cel.block` is what an optimizer writes, not a person"),
    ("enums", "no enumerations of protocol buffers"),
    ("proto2", "no protocol buffers"),
    ("proto2_ext", "no protocol buffers"),
    ("proto3", "no protocol buffers"),
    ("wrappers", "no protocol buffers"),
    ("dynamic", "no protocol buffers"),
    ("parse/struct_field_names", "no protocol buffers"),
    ("namespace", "no containers: a page has no package"),
    ("parse/receiver_function_names", "names are checked when a page is loaded; these are unknown on purpose"),
    ("basic/variables/unbound_is_runtime_error", "names are checked when a page is loaded"),
    ("basic/functions/unbound_is_runtime_error", "names are checked when a page is loaded"),
    ("type_deduction/functions", "functions that a test declares"),
    ("type_deduction/flexible_type_parameter_assignment", "no protocol buffers"),
    ("type_deduction/wrappers", "no protocol buffers"),
    ("type_deduction/type_parameters", "functions that a test declares"),
    ("type_deduction/flexible_type_parameter_assignment/unconstrained_type_var_as_dyn", "only checked, never run"),
    ("timestamps/timestamp_selectors_tz/getDate", ZONES),
    ("timestamps/timestamp_selectors_tz/getDayOfMonth_name_pos", ZONES),
    ("timestamps/timestamp_selectors_tz/getDayOfMonth_name_neg", ZONES),
    ("timestamps/timestamp_selectors_tz/getDayOfYear", ZONES),
    ("timestamps/timestamp_selectors_tz/getMinutes", ZONES),
];

const ZONES: &str = "time zones are offsets; names of places would need a table that grows old";

/// Names of protocol buffer messages; tests that use one are excluded.
const MESSAGES: [&str; 8] = [
    "TestAllTypes",
    "NestedMessage",
    "google.protobuf.Any",
    "google.protobuf.Struct",
    "google.protobuf.Value",
    "google.protobuf.ListValue",
    "Value{",
    "Wrapper",
];

/// Returns why a test is excluded.
fn left_out(name: &str, test: &TextprotoMessage) -> Option<&'static str> {
    let listed = LEFT_OUT.iter().find(|(left_out, _)| name == *left_out || name.starts_with(&format!("{left_out}/")));
    // Tests in files about messages are still reported if they pass.
    let text = format!("{} {test:?}", test.text("expr").unwrap_or_default().split_whitespace().collect::<String>());
    let text = text.replace("//@", "");
    let speaks = MESSAGES.iter().any(|message| text.contains(message)).then_some("no protocol buffers");
    listed.map(|(_, why)| *why).or(speaks)
}

#[test]
fn the_conformance_tests_of_the_language_hold() {
    let Some(checkout) = std::env::var_os("CEL_SPEC") else { return };
    let directory = Path::new(&checkout).join("tests/simple/testdata");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|it| it == "textproto")) {
        let file = textproto::parse(&std::fs::read_to_string(path).unwrap());
        let file_name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for section in file.messages("section") {
            for test in section.messages("test") {
                let name = format!("{file_name}/{}/{}", section.text("name").unwrap(), test.text("name").unwrap());
                let count = counts.entry(file_name.clone()).or_default();
                match (run(test), left_out(&name, test)) {
                    (Ok(()), _) => count[0] += 1,
                    (Err(_), Some(why)) => {
                        count[2] += 1;
                        *reasons.entry(why).or_default() += 1;
                        continue;
                    }
                    (Err(why), None) => {
                        count[1] += 1;
                        wrong.push(format!("{name}: {} -> {why}", test.text("expr").unwrap_or_default()));
                    }
                }
            }
        }
    }
    for (file, [passed, failed, left_out]) in &counts {
        println!("{file:20} passed {passed:4}, failed {failed:4}, left out {left_out:4}");
    }
    let [passed, left_out] = [0, 2].map(|column| counts.values().map(|count| count[column]).sum::<usize>());
    println!("passed {passed}, left out {left_out}: {reasons:#?}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn run(test: &TextprotoMessage) -> Result<(), String> {
    let mut names = Vec::new();
    let mut values = Vec::new();
    for binding in test.messages("bindings") {
        let value = binding.messages("value").next().unwrap();
        match value.messages("value").next() {
            Some(value) => values.push(read(value)?),
            None => values.push(CelValue::Absent),
        }
        names.push(binding.text("key").unwrap());
    }
    let text = test.text("expr").unwrap();
    let result = compile_unchecked(&text, &names).map_err(|problem| problem.message).and_then(|program| {
        let host = Fixed { values };
        program.evaluate(&host, &mut CelBudget::standard()).result.map_err(|failure| failure.message)
    });
    let wants_error = test.all("eval_error").next().is_some();
    let wanted = match test.messages("value").next() {
        Some(value) => read(value)?,
        None => CelValue::Flag(true),
    };
    match result {
        Err(_) if wants_error => Ok(()),
        Err(why) => Err(why),
        Ok(value) if wants_error => Err(format!("{value:?} instead of an error")),
        Ok(_) if test.messages("typed_result").next().is_some() => Ok(()),
        Ok(value) if is(&value, &wanted) => Ok(()),
        Ok(value) => Err(format!("{value:?} instead of {wanted:?}")),
    }
}

/// Compares value and type.
fn is(found: &CelValue, wanted: &CelValue) -> bool {
    match (found, wanted) {
        (CelValue::Double(a), CelValue::Double(b)) => a == b || a.is_nan() && b.is_nan(),
        (CelValue::List(a), CelValue::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is(a, b)),
        (CelValue::Map(a), CelValue::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|((k, v), (l, w))| is(k, l) && is(v, w))
        }
        (a, b) => a.kind() == b.kind() && same(a, b),
    }
}

fn read(value: &TextprotoMessage) -> Result<CelValue, String> {
    let (name, field) = value.fields.first().ok_or("an empty value")?;
    let word = || match field {
        ProtoField::Word(word) => word.clone(),
        ProtoField::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        ProtoField::Message(_) => String::new(),
    };
    let inner = || match field {
        ProtoField::Message(message) => message.clone(),
        _ => TextprotoMessage::default(),
    };
    Ok(match name.as_str() {
        "null_value" => CelValue::Null,
        "bool_value" => CelValue::Flag(word() == "true"),
        "int64_value" => CelValue::Integer(word().parse().map_err(|_| "int")?),
        "uint64_value" => CelValue::Unsigned(word().parse().map_err(|_| "uint")?),
        "double_value" => CelValue::Double(match word().as_str() {
            "inf" | "infinity" | "Infinity" => f64::INFINITY,
            "-inf" | "-infinity" | "-Infinity" => f64::NEG_INFINITY,
            "nan" | "NaN" => f64::NAN,
            other => other.parse().map_err(|_| "double")?,
        }),
        "string_value" => CelValue::text(word()),
        "bytes_value" => match field {
            ProtoField::Bytes(bytes) => CelValue::Bytes(bytes.as_slice().into()),
            _ => return Err("bytes".into()),
        },
        "list_value" => {
            let items: Result<Vec<CelValue>, String> = inner().messages("values").map(read).collect();
            CelValue::list(items?)
        }
        "map_value" => {
            let mut map = CelMap::default();
            for entry in inner().messages("entries") {
                let part = |name: &str| read(entry.messages(name).next().unwrap());
                map.insert(part("key")?, part("value")?).ok_or("key")?;
            }
            CelValue::Map(Arc::new(map))
        }
        "type_value" => {
            let names = super::super::functions::TYPE_NAMES;
            CelValue::Kind(names.iter().find(|name| **name == word()).ok_or(format!("type {}", word()))?)
        }
        "object_value" => object(&inner())?,
        other => return Err(format!("a {other}")),
    })
}

fn object(any: &TextprotoMessage) -> Result<CelValue, String> {
    let (name, field) = any.fields.first().ok_or("an empty object")?;
    let ProtoField::Message(message) = field else { return Err("object".into()) };
    let number = |name: &str| message.text(name).map_or(0i128, |text| text.parse().unwrap());
    let nanos = number("seconds") * 1_000_000_000 + number("nanos");
    match name.as_str() {
        "[type.googleapis.com/google.protobuf.Duration]" => {
            CelDuration::from_nanos(nanos).map(CelValue::Duration).ok_or("range".into())
        }
        "[type.googleapis.com/google.protobuf.Timestamp]" => {
            Timestamp::from_nanos(nanos).map(CelValue::Timestamp).ok_or("range".into())
        }
        other => Err(format!("a message {other}")),
    }
}
