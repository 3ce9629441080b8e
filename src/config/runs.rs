//! Reads `[[runs]]`: deployments that gpulint cannot find by itself.

use std::collections::BTreeMap;

use super::{Config, SettingValue};

/// An entry of `[[runs]]`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunSetting {
    /// Patterns of the directories that belong to the deployment.
    pub paths: Vec<String>,
    pub name: Option<String>,
    pub variable_files: Vec<String>,
    pub variables: Vec<(String, String)>,
    pub workspace: Option<String>,
    pub modules_directory: Option<String>,
    pub values: Vec<String>,
}

impl Config {
    pub fn runs(&self) -> Vec<RunSetting> {
        let mut runs: BTreeMap<&str, RunSetting> = BTreeMap::new();
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

impl RunSetting {
    fn set(&mut self, key: &str, value: &SettingValue) {
        match (key, value) {
            ("paths", SettingValue::Texts(texts)) => self.paths = plain(texts),
            ("var-files", SettingValue::Texts(texts)) => self.variable_files = plain(texts),
            ("values", SettingValue::Texts(texts)) => self.values = plain(texts),
            ("name", SettingValue::Text(text)) => self.name = Some(text.clone()),
            ("workspace", SettingValue::Text(text)) => self.workspace = Some(text.clone()),
            ("modules-dir", SettingValue::Text(text)) => self.modules_directory = Some(text.clone()),
            _ => {}
        }
    }
}

fn plain(texts: &[(String, crate::source::Span)]) -> Vec<String> {
    texts.iter().map(|(text, _)| text.clone()).collect()
}

/// Returns a value as the command line would pass it.
fn assigned(value: &SettingValue) -> String {
    match value {
        SettingValue::Text(text) => text.clone(),
        SettingValue::Integer(number) => number.to_string(),
        SettingValue::Number(number) => number.to_string(),
        SettingValue::Flag(flag) => flag.to_string(),
        SettingValue::Date(date) => date.to_string(),
        // A variable cannot be a table.
        SettingValue::Map(_) => String::new(),
        SettingValue::Texts(texts) => {
            let quoted =
                texts.iter().map(|(text, _)| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")));
            format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
        }
    }
}
