//! `[[runs]]`: what is applied in one go, where it cannot be found.

use std::collections::BTreeMap;

use super::{Config, Value};

/// An entry of `[[runs]]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Patterns of directories.
    pub paths: Vec<String>,
    pub name: Option<String>,
    pub variable_files: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub workspace: Option<String>,
    pub modules_directory: Option<String>,
    pub values: Vec<String>,
}

impl Config {
    pub fn runs(&self) -> Vec<Run> {
        let mut runs: BTreeMap<&str, Run> = BTreeMap::new();
        for (keys, entry) in &self.entries {
            let [section, index, rest @ ..] = keys.as_slice() else { continue };
            if section != "runs" {
                continue;
            }
            let run = runs.entry(index).or_default();
            match (rest, &entry.value) {
                ([key], value) => run.set(key, value),
                ([table, name], value) if table == "vars" => run.variables.push((name.clone(), assigned(value))),
                _ => {}
            }
        }
        runs.into_values().collect()
    }
}

impl Run {
    fn set(&mut self, key: &str, value: &Value) {
        match (key, value) {
            ("paths", Value::Texts(texts)) => self.paths = plain(texts),
            ("var-files", Value::Texts(texts)) => self.variable_files = plain(texts),
            ("values", Value::Texts(texts)) => self.values = plain(texts),
            ("name", Value::Text(text)) => self.name = Some(text.clone()),
            ("workspace", Value::Text(text)) => self.workspace = Some(text.clone()),
            ("modules-dir", Value::Text(text)) => self.modules_directory = Some(text.clone()),
            _ => {}
        }
    }
}

fn plain(texts: &[(String, crate::source::Span)]) -> Vec<String> {
    texts.iter().map(|(text, _)| text.clone()).collect()
}

/// As the command line would take it.
fn assigned(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Texts(texts) => {
            let quoted =
                texts.iter().map(|(text, _)| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")));
            format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
        }
    }
}
