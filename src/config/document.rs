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
        let path = setting.path.replace("rules.*.*", "rules.on-demand-batch.min_monthly_usd");
        let path = path.replace("rules.*", "rules.on-demand-batch");
        let path = path
            .replace("tiers.*", "tiers.interactive")
            .replace("values.*", "values.environment")
            .replace("discount.*", "discount.aws")
            .replace("runs[].vars.*", "runs[].vars.replicas");
        let path = path.replace("declare.*", "declare.llm").replace("clusters.*", "clusters.\"overlays/prod/*\"");
        let path = path.replace("configs.*", "configs.\"acme/legal-9b\"");
        let (section, key) = path.rsplit_once('.').unwrap_or(("", &path));
        if section != before {
            text.push_str(&match section.strip_suffix("[]") {
                Some(list) => format!("\n# [[{list}]]\n"),
                None => format!("\n# [{}]\n", section.replace("[]", "")),
            });
            before = section.to_owned();
        }
        let value = setting.default.map_or_else(|| sample(&path, setting.kind), str::to_owned);
        text.push_str(&format!("# {key} = {value}{}# {}\n", " ".repeat(2), setting.meaning));
    }
    text
}

fn sample(path: &str, kind: SettingKind) -> String {
    match path {
        "required-version" => "\">=0.1\"".to_owned(),
        "defaults.provider" => "\"aws\"".to_owned(),
        "defaults.region" => "\"us-east-1\"".to_owned(),
        "defaults.accelerator" => "\"A100-80GB\"".to_owned(),
        "labels.values.environment" => "[\"production\", \"staging\", \"development\"]".to_owned(),
        "tiers.interactive" => "[\"T4\", \"L4\", \"A10G\"]".to_owned(),
        "models.file" => "\"models.csv\"".to_owned(),
        "models.configs.\"acme/legal-9b\"" => "\"models/legal/config.json\"".to_owned(),
        "prices.file" => "\"contract-prices.csv\"".to_owned(),
        "prices.currency" => "\"EUR\"".to_owned(),
        "prices.units_per_usd" => "0.92".to_owned(),
        "prices.discount.aws" => "0.12".to_owned(),
        "contracts[].provider" => "\"aws\"".to_owned(),
        "contracts[].machine" => "\"p5.*\"".to_owned(),
        "contracts[].accelerator" | "hardware[].accelerator" => "\"H100*\"".to_owned(),
        "contracts[].region" => "\"us-*\"".to_owned(),
        "contracts[].discount" => "0.12".to_owned(),
        "contracts[].commitment_years" => "1".to_owned(),
        "contracts[].usd_per_gpu_hour" | "hardware[].usd_per_gpu_hour" => "2.5".to_owned(),
        "hardware[].purchase_usd" => "250_000".to_owned(),
        "hardware[].gpus" => "8".to_owned(),
        "hardware[].years" => "4".to_owned(),
        "traffic[].address" => "\"Deployment/chat/*\"".to_owned(),
        "traffic[].label" => "\"app=chat\"".to_owned(),
        "traffic[].tokens_per_day" => "5_000_000".to_owned(),
        "traffic[].requests_per_day" => "20_000".to_owned(),
        "traffic[].input_tokens" => "1024".to_owned(),
        "traffic[].output_tokens" => "256".to_owned(),
        "traffic[].ms_per_token" => "40".to_owned(),
        "hardware[].staff_usd_per_year" => "12_000".to_owned(),
        "hardware[].usd_per_month" => "900".to_owned(),
        "usage[].address" => "\"Job/**\"".to_owned(),
        "usage[].label" => "\"schedule=office-hours\"".to_owned(),
        "usage[].hours_per_month" => "220".to_owned(),
        "usage[].runs_per_month" => "20".to_owned(),
        "usage[].hours_per_run" => "1.5".to_owned(),
        "measured.clusters.\"overlays/prod/*\"" => "\"prod\"".to_owned(),
        "runs[].paths" => "[\"infra\"]".to_owned(),
        "runs[].name" => "\"search in production\"".to_owned(),
        "runs[].var-files" => "[\"infra/projects/search.tfvars\"]".to_owned(),
        "runs[].modules-dir" => "\".terraform/modules\"".to_owned(),
        "runs[].workspace" => "\"prod\"".to_owned(),
        "suppress[].rules" => "[\"oversized-gpu\"]".to_owned(),
        "suppress[].address" => "'module.legacy.aws_instance.train[\"a\"]'".to_owned(),
        "suppress[].path" => "\"legacy/**\"".to_owned(),
        "suppress[].reason" => "\"reserved capacity\"".to_owned(),
        "paths[].match" => "\"envs/prod/**\"".to_owned(),
        "paths[].labels.values.environment" => "[\"production\"]".to_owned(),
        "paths[].tiers.interactive" => "[\"T4\"]".to_owned(),
        "approvals.label" => "\"gpu-approved\"".to_owned(),
        "limits[].label" => "\"cost-center=4711\"".to_owned(),
        "limits[].accelerators" => "64".to_owned(),
        "limits[].machines" => "16".to_owned(),
        "limits[].resource_accelerators" | "limits[].resource_machines" => "8".to_owned(),
        "packs[].path" => "\"platform\"".to_owned(),
        "packs[].git" => "\"https://git.example.org/platform/gpu-rules.git\"".to_owned(),
        "packs[].commit" => format!("\"{}\"", "0123456789".repeat(4)),
        "packs[].sha256" => format!("\"{}\"", "01234567".repeat(8)),
        "packs[].directory" => "\"rules\"".to_owned(),
        "budgets[].label" => "\"cost-center=4711\"".to_owned(),
        _ => match kind {
            SettingKind::Number => "10_000".to_owned(),
            SettingKind::Flag => "true".to_owned(),
            SettingKind::Date => "2027-03-31".to_owned(),
            SettingKind::Texts | SettingKind::Paths | SettingKind::Patterns => "[]".to_owned(),
            SettingKind::OneOf(names) => format!("\"{}\"", names.last().unwrap_or(&"")),
            SettingKind::Parameter | SettingKind::RuleParameter => "200".to_owned(),
            SettingKind::Text | SettingKind::Path | SettingKind::Pattern => "\"search\"".to_owned(),
        },
    }
}
