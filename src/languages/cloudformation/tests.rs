//! Prints the evaluated templates for a comparison: `CFN_TEMPLATES=DIRECTORY cargo test --lib cloudformation::tests --
//! --nocapture` prints one line of JSON for each resource. `tests/corpus/templates_of_aws.py` compares them.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::languages::document::{EmptyLibrary, EvaluationState, Presence};
use crate::languages::hcl::budget::EvaluationBudget;
use crate::languages::hcl::value::{HclData, HclValue};
use crate::languages::yaml;
use crate::source::{Limits, MemoryTree, SourceFiles};

use super::{AccountAndRegion, CloudTemplate, StackInstance};

/// Returns each resource of a template with default parameters: name, presence, properties.
fn evaluated(path: &str, text: &str) -> Vec<Json> {
    let sources = SourceFiles::new(MemoryTree::new().with(path, text));
    let file = sources.open(path).unwrap();
    let stream = yaml::read_tagged(file, &sources.text(file), Limits::DEFAULT);
    let Some(template) = stream.documents.first().and_then(|it| CloudTemplate::of(&it.root)) else {
        return Vec::new();
    };
    let given = Default::default();
    let (place, state) = (
        AccountAndRegion::default(),
        EvaluationState::new(&Rc::new(EvaluationBudget::for_tests(template.span())), template.span()),
    );
    let stack = StackInstance::new(Arc::new(template), given, place, &EmptyLibrary, state);
    let resources = stack.resources().into_iter().map(|it| {
        let there = match it.presence {
            Presence::Sure => json!(true),
            Presence::Never(_) => json!(false),
            Presence::Unknown { why, .. } => json!({ "?": why }),
        };
        json!({ "path": path, "name": &*it.name, "there": there, "properties": plain(&it.properties.value()) })
    });
    resources.collect()
}

fn plain(value: &HclValue) -> Json {
    let each = |items: &[HclValue]| Json::Array(items.iter().map(plain).collect());
    match &value.data {
        HclData::Null => Json::Null,
        HclData::Bool(flag) => json!(flag),
        HclData::Number(number) => json!(number.to_string()),
        HclData::Text(text) => json!(&**text),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => each(items),
        HclData::Map(entries) | HclData::Object(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.to_string(), plain(value))).collect())
        }
        HclData::Unknown(cause) => match &cause.computed_by {
            Some(computed) => json!({ "?": format!("{}.{}", computed.address, computed.attribute) }),
            None => json!({ "?": cause.why, "among": each(&cause.candidates) }),
        },
    }
}

#[test]
fn functions_are_worked_out() {
    let text = include_str!("functions.yaml");
    let all = evaluated("a.yaml", text);
    let found: Vec<&Json> = all.iter().map(|it| &it["properties"]).collect();
    let [known, expected] = found.as_slice() else { panic!("two resources: {}", all.len()) };
    let (known, expected) = (known.as_object().unwrap(), expected.as_object().unwrap());
    assert!(known.len() > 20 && known.len() == expected.len(), "{} and {}", known.len(), expected.len());
    for (name, value) in known {
        assert_eq!(Some(value), expected.get(name), "{name}");
    }
}

#[test]
fn what_depends_on_itself_ends() {
    let text = "Conditions:\n  A: !Condition B\n  B: !Not [!Condition A]\nResources:\n  X:\n    Type: AWS::A::B\n    \
                Condition: A\n    Properties: { P: !GetAtt X.Outputs.Y }\n";
    let all = evaluated("a.yaml", text);
    assert!(all[0]["there"]["?"].as_str().unwrap().contains("depends on itself"), "{all:?}");
}

#[test]
fn loops_in_loops_end() {
    let mut text = String::from("Transform: AWS::LanguageExtensions\nResources:\n");
    let list = vec!["a"; 200].join(", ");
    let mut indent = String::from("  ");
    for level in 0..6 {
        text.push_str(&format!(
            "{indent}Fn::ForEach::L{level}:\n{indent}  - N{level}\n{indent}  - [{list}]\n{indent}  -\n"
        ));
        indent.push_str("    ");
    }
    text.push_str(&format!("{indent}X${{N0}}: {{ Type: AWS::A::B }}\n"));
    let started = std::time::Instant::now();
    evaluated("a.yaml", &text);
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn templates_of_a_directory_are_printed() {
    let Some(directory) = std::env::var_os("CFN_TEMPLATES") else { return };
    let mut open = vec![Path::new(&directory).to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            evaluated(&path.to_string_lossy(), &text).iter().for_each(|line| println!("{line}"));
        }
    }
}
