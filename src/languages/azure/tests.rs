//! Prints the evaluated templates for a comparison: `AZURE_TEMPLATES=DIRECTORY cargo test --lib azure::tests --
//! --nocapture` prints one line of JSON for each file. `tests/corpus/templates_of_azure.py` compares them.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::languages::document::{EmptyLibrary, EvaluationState, Presence};
use crate::languages::hcl::budget::EvaluationBudget;
use crate::languages::hcl::value::{HclData, HclValue};
use crate::languages::yaml;
use crate::source::{Limits, MemoryTree, SourceFiles};

use super::{AzureDeployment, AzureTemplate, without_comments};

/// Returns the syntax errors of a file, its resources with default parameters, and its outputs.
fn evaluated(path: &str, text: &str) -> Option<Json> {
    let sources = SourceFiles::new(MemoryTree::new().with(path, text));
    let file = sources.open(path).unwrap();
    let text = sources.text(file);
    let (template, refusals) = if path.ends_with(".bicep") {
        let (template, _, diagnostics) = AzureTemplate::of_bicep(file, &text);
        let line = |at: usize| text[..at].lines().count();
        let each =
            diagnostics.iter().map(|it| format!("{}: {}", it.span.map_or(0, |it| line(it.range().start)), it.message));
        (template, each.collect::<Vec<_>>())
    } else {
        let (plain, _) = without_comments(file, &text);
        let stream = yaml::read_within(file, &plain, Limits::DEFAULT);
        let template = stream.documents.first().and_then(|it| AzureTemplate::of_json(&it.root))?;
        (template, stream.diagnostics.iter().map(|it| it.message.clone()).collect())
    };
    let outputs: Vec<String> = template.outputs.iter().map(|it| it.name.to_string()).collect();
    let state = EvaluationState::new(&Rc::new(EvaluationBudget::for_tests(template.span())), template.span());
    let deployment = AzureDeployment::new(Arc::new(template), BTreeMap::new(), &EmptyLibrary, state);
    let resources = deployment.resources().into_iter().map(|it| {
        let there = match it.presence {
            Presence::Sure => json!(true),
            Presence::Never(_) => json!(false),
            Presence::Unknown { why, .. } => json!({ "?": why }),
        };
        json!({ "address": &*it.address, "type": &*it.kind, "there": there, "properties": plain(&it.properties.value()) })
    });
    let resources: Vec<Json> = resources.collect();
    let outputs = outputs.iter().map(|name| (name.clone(), plain(&deployment.output_value(name))));
    let outputs: serde_json::Map<String, Json> = outputs.collect();
    Some(json!({ "path": path, "refused": refusals, "resources": resources, "outputs": outputs }))
}

fn plain(value: &HclValue) -> Json {
    let each = |items: &[HclValue]| Json::Array(items.iter().map(plain).collect());
    match &value.data {
        HclData::Null => Json::Null,
        HclData::Bool(flag) => json!(flag),
        HclData::Number(number) => number.as_i64().map_or_else(|| json!(number.to_string()), |it| json!(it)),
        HclData::Text(text) => json!(&**text),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => each(items),
        HclData::Map(entries) | HclData::Object(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.to_string(), plain(value))).collect())
        }
        HclData::Unknown(cause) => match &cause.computed_by {
            Some(computed) => json!({ "?": format!("{}.{}", computed.address, computed.attribute) }),
            None => json!({ "?": cause.why, "refused": cause.refused, "among": each(&cause.candidates) }),
        },
    }
}

#[test]
fn what_depends_on_itself_ends() {
    let text = "var a = b\nvar b = a\nfunc f(x int) int => f(x)\noutput o int = f(1)\noutput p string = a\n\
                resource r 'A.B/c@1' = { name: r2.name }\nresource r2 'A.B/c@1' = { name: r.name }\n";
    let all = evaluated("a.bicep", text).unwrap();
    assert_eq!(all["refused"], json!([]));
    assert!(all["outputs"]["o"]["?"].as_str().unwrap().contains("calls itself"), "{all}");
    assert!(all["outputs"]["p"]["?"].as_str().unwrap().contains("depends on itself"), "{all}");
}

#[test]
fn values_of_values_without_end_fit_the_stack() {
    let mut text = String::from("output o string = v0\n");
    (0..5_000).for_each(|it| text.push_str(&format!("var v{it} = toLower('${{v{}}}a')\n", it + 1)));
    text.push_str("var v5000 = 'A'\n");
    let all = evaluated("a.bicep", &text).unwrap();
    assert!(all["outputs"]["o"]["?"].as_str().unwrap().contains("without end"), "{all}");
}

#[test]
fn loops_in_loops_end() {
    let text = "var a = [for i in range(0, 9000): [for j in range(0, 9000): [for k in range(0, 9000): k]]]\n\
                output o array = a\n";
    let started = std::time::Instant::now();
    evaluated("a.bicep", text).unwrap();
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn templates_of_a_directory_are_printed() {
    let Some(directory) = std::env::var_os("AZURE_TEMPLATES") else { return };
    let mut open = vec![Path::new(&directory).to_owned()];
    while let Some(path) = open.pop() {
        let is_one = path.extension().is_some_and(|it| it == "bicep" || it == "json");
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(text) =
            std::fs::read_to_string(&path).map_err(drop).and_then(|it| is_one.then_some(it).ok_or(()))
        {
            evaluated(&path.to_string_lossy(), &text).iter().for_each(|line| println!("{line}"));
        }
    }
}
