//! Converts the table of settings into a JSON schema, a page of the book and an example file.

use serde_json::{Map, Value, json};

use super::table::{SETTINGS, SettingDescription, SettingKind, parts};

/// Returns a JSON schema of `gpulint.toml`.
pub fn schema() -> String {
    let mut root = table();
    root.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("title".to_owned(), json!("gpulint.toml"));
    for setting in SETTINGS {
        let path: Vec<&str> = parts(setting.path).collect();
        insert(&mut root, &path, described(setting));
    }
    let mut text = serde_json::to_string_pretty(&Value::Object(root)).unwrap_or_default();
    text.push('\n');
    text
}

fn table() -> Map<String, Value> {
    let table = json!({"type": "object", "properties": {}, "additionalProperties": false});
    table.as_object().cloned().unwrap_or_default()
}

fn insert(at: &mut Map<String, Value>, path: &[&str], leaf: Value) {
    let Some((name, rest)) = path.split_first() else { return };
    let is_list = rest.first() == Some(&"[]");
    let rest = if is_list { &rest[1..] } else { rest };
    let place = match *name {
        "*" => at.entry("additionalProperties").or_insert(Value::Bool(false)),
        name => {
            let properties = at.entry("properties").or_insert_with(|| json!({}));
            match properties.as_object_mut() {
                Some(properties) => properties.entry(name).or_insert(Value::Bool(false)),
                None => return,
            }
        }
    };
    if rest.is_empty() {
        *place = leaf;
        return;
    }
    if place.is_boolean() {
        *place = Value::Object(table());
        if is_list {
            *place = json!({"type": "array", "items": place.take()});
        }
    }
    let inner = if is_list { place.get_mut("items") } else { Some(place) };
    if let Some(Value::Object(inner)) = inner {
        insert(inner, rest, leaf);
    }
}

fn described(setting: &SettingDescription) -> Value {
    let texts = || json!({"type": "array", "items": {"type": "string"}});
    let mut schema = match setting.kind {
        SettingKind::Text | SettingKind::Path | SettingKind::Pattern => json!({"type": "string"}),
        SettingKind::Patterns => json!({"anyOf": [{"type": "string"}, texts()]}),
        SettingKind::Texts | SettingKind::Paths => texts(),
        SettingKind::Number => json!({"type": "number"}),
        SettingKind::Flag => json!({"type": "boolean"}),
        SettingKind::Date => json!({"type": "string", "format": "date"}),
        SettingKind::OneOf(names) => json!({"enum": names}),
        SettingKind::Parameter => json!({"anyOf": [{"type": ["string", "number", "boolean"]}, texts()]}),
        SettingKind::RuleParameter => {
            json!({"anyOf": [{"type": ["string", "number", "boolean", "object"]}, texts()]})
        }
    };
    schema["description"] = json!(setting.meaning);
    // Each default is valid both as TOML and as JSON.
    if let Some(default) = setting.default.and_then(|default| serde_json::from_str::<Value>(default).ok()) {
        schema["default"] = default;
    }
    schema
}

/// Returns a page of the book with every setting, grouped by table.
pub fn document() -> String {
    let mut text = String::from(
        "<!-- written from src/config/table.rs; change that file -->\n\n# Every setting\n\n\
         This page lists every setting of `gpulint.toml`. In a name, `[]` marks a list of tables (`[[budgets]]`), and `*` is any name. \
         [The page of each rule](rules/README.md) lists the rule's parameters.\n",
    );
    let mut before = None;
    for setting in SETTINGS {
        let section = setting.path.split(['.', '[']).next().filter(|it| *it != setting.path);
        if before != Some(section) {
            let heading = section.map_or("Top-level settings".to_owned(), |it| format!("`{it}`"));
            text.push_str(&format!("\n## {heading}\n\n| setting | value | default | meaning |\n|---|---|---|---|\n"));
            before = Some(section);
        }
        let default = setting.default.map_or(String::new(), |it| format!("`{it}`"));
        let row = [&format!("`{}`", setting.path), &setting.kind.name(), &default, setting.meaning].map(escaped);
        text.push_str(&format!("| {} |\n", row.join(" | ")));
    }
    text
}

/// Escapes a string for a table cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Returns an example file that lists every setting in a comment, with its meaning.
pub fn example() -> String {
    let mut text = String::from("# Settings of gpulint. Each commented line shows the default or an example.\n");
    let mut before = String::new();
    for setting in SETTINGS.iter().filter(|setting| setting.path != "extend") {
        let path = setting.path.replace("rules.*.", "rules.on-demand-batch.");
        let (section, key) = path.rsplit_once('.').unwrap_or(("", &path));
        if section != before {
            text.push_str(&match section.strip_suffix("[]") {
                Some(list) => format!("\n# [[{list}]]\n"),
                None => format!("\n# [{}]\n", section.replace("[]", "")),
            });
            before = section.to_owned();
        }
        let value = setting.default.or(setting.example).map_or_else(|| sample(setting.kind), str::to_owned);
        let name = if key == "*" { String::new() } else { format!("{key} = ") };
        text.push_str(&format!("# {name}{value}  # {}\n", setting.meaning));
    }
    text
}

fn sample(kind: SettingKind) -> String {
    match kind {
        SettingKind::Number => "10_000".to_owned(),
        SettingKind::Flag => "true".to_owned(),
        SettingKind::Date => "2027-03-31".to_owned(),
        SettingKind::Texts | SettingKind::Paths | SettingKind::Patterns => "[]".to_owned(),
        SettingKind::OneOf(names) => format!("\"{}\"", names.last().unwrap_or(&"")),
        SettingKind::Parameter | SettingKind::RuleParameter => "200".to_owned(),
        SettingKind::Text | SettingKind::Path | SettingKind::Pattern => "\"search\"".to_owned(),
    }
}
