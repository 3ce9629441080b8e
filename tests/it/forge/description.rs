//! Validates requests, and answers of the test server, against GitHub's published API description.
//!
//! `tests/forge/github-openapi.json` is the part of the description that gpulint uses, without prose. If the whole
//! description is available (`GPULINT_GITHUB_OPENAPI` names the file), a test extracts the part again and compares.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::{Map, Value, json};

use crate::fences;
use crate::skipped::skip;

/// The operations that gpulint uses.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("/repos/{owner}/{repo}/issues/{issue_number}/comments", &["get", "post"]),
    ("/repos/{owner}/{repo}/issues/comments/{comment_id}", &["get", "patch", "delete"]),
    ("/repos/{owner}/{repo}/pulls", &["get"]),
    ("/repos/{owner}/{repo}/pulls/{pull_number}", &["get"]),
    ("/repos/{owner}/{repo}/pulls/{pull_number}/files", &["get"]),
    ("/repos/{owner}/{repo}/pulls/{pull_number}/comments", &["get"]),
    ("/repos/{owner}/{repo}/pulls/{pull_number}/reviews", &["post"]),
    ("/user", &["get"]),
];

const EXCERPT: &str = "tests/forge/github-openapi.json";

static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    let path = format!("{}/{EXCERPT}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
});

/// The components that schemas refer to, as JSON Schema.
static COMPONENTS: LazyLock<Value> = LazyLock::new(|| {
    let mut components = json!({ "schemas": DESCRIPTION["components"]["schemas"] });
    spell_out_null(&mut components);
    components
});

/// One operation with the values of the placeholders in its path.
pub(super) struct Operation {
    pub(super) path: &'static str,
    pub(super) method: String,
    pub(super) arguments: Vec<(String, String)>,
}

pub(super) fn operation(method: &str, path: &str) -> Option<Operation> {
    let method = method.to_ascii_lowercase();
    for (template, methods) in OPERATIONS {
        if let Some(arguments) = matched(template, path).filter(|_| methods.contains(&method.as_str())) {
            return Some(Operation { path: template, method, arguments });
        }
    }
    None
}

fn matched(template: &str, path: &str) -> Option<Vec<(String, String)>> {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    if template.len() != path.len() {
        return None;
    }
    let mut arguments = Vec::new();
    for (want, have) in template.iter().zip(path) {
        match want.strip_prefix('{').and_then(|want| want.strip_suffix('}')) {
            Some(name) => arguments.push((name.to_owned(), have.to_owned())),
            None if *want == have => {}
            None => return None,
        }
    }
    Some(arguments)
}

impl Operation {
    fn described(&self) -> &'static Value {
        &DESCRIPTION["paths"][self.path][&self.method]
    }

    /// Returns all violations of the description in a request.
    pub(super) fn violations(&self, query: &[(String, String)], body: Option<&Value>) -> Vec<String> {
        let mut found = Vec::new();
        let parameters: Vec<&Value> =
            self.described()["parameters"].as_array().into_iter().flatten().map(resolved).collect();
        let given = self.arguments.iter().map(|it| ("path", it)).chain(query.iter().map(|it| ("query", it)));
        for (place, (name, value)) in given {
            let known = parameters.iter().find(|it| it["name"] == name.as_str() && it["in"] == place);
            let Some(parameter) = known else {
                found.push(format!("{place} parameter `{name}` is not described"));
                continue;
            };
            let number = parameter["schema"]["type"] == "integer";
            let value = if number { value.parse::<i64>().map_or(json!(value), |it| json!(it)) } else { json!(value) };
            found.extend(mismatches(&parameter["schema"], &value).map(|it| format!("parameter `{name}`: {it}")));
            let most = if name == "per_page" { 100 } else { i64::MAX };
            if value.as_i64().is_some_and(|value| value < 1 || value > most) {
                found.push(format!("parameter `{name}` is {value}"));
            }
        }
        for required in parameters.iter().filter(|it| it["required"] == true) {
            let here = self.arguments.iter().chain(query).any(|(name, _)| required["name"] == name.as_str());
            if !here {
                found.push(format!("parameter {} is missing", required["name"]));
            }
        }
        let schema = &self.described()["requestBody"]["content"]["application/json"]["schema"];
        match (schema.is_null(), body) {
            (true, Some(_)) => found.push("a body was sent where none is described".to_owned()),
            (false, None) => found.push("no body was sent where one is described".to_owned()),
            (false, Some(body)) => {
                found.extend(mismatches(schema, body).map(|it| format!("body: {it}")));
                found.extend(unknown_keys(schema, body, "body"));
            }
            (true, None) => {}
        }
        found
    }

    /// Returns all violations of the description in an answer, so that the test server stays realistic.
    pub(super) fn answer_violations(&self, status: u16, body: Option<&Value>) -> Vec<String> {
        let answers = &self.described()["responses"];
        let Some(answer) = answers.get(status.to_string()).map(resolved) else {
            return Vec::new();
        };
        let schema = &answer["content"]["application/json"]["schema"];
        match body {
            Some(body) if !schema.is_null() => {
                mismatches(schema, body).map(|it| format!("the stand-in's answer {status}: {it}")).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns GitHub's example of an answer.
pub(super) fn example(method: &str, path: &str, status: &str) -> Value {
    let answer = &DESCRIPTION["paths"][path][method]["responses"][status];
    let examples = answer["content"]["application/json"]["examples"].as_object().unwrap();
    let first = resolved(examples.values().next().unwrap());
    first["value"].clone()
}

fn resolved(value: &'static Value) -> &'static Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => resolved(DESCRIPTION.pointer(reference.trim_start_matches('#')).unwrap()),
        None => value,
    }
}

fn mismatches(schema: &Value, value: &Value) -> impl Iterator<Item = String> {
    let judge = judge(schema);
    let found: Vec<String> =
        judge.iter_errors(value).map(|error| format!("{error} at `{}`", error.instance_path)).collect();
    found.into_iter()
}

/// Builds a validator once for each schema, because this takes longer than a whole test.
fn judge(schema: &Value) -> Arc<jsonschema::Validator> {
    static JUDGES: LazyLock<Mutex<HashMap<String, Arc<jsonschema::Validator>>>> = LazyLock::new(Mutex::default);
    let mut judges = JUDGES.lock().unwrap();
    let make = || {
        let mut schema = schema.clone();
        spell_out_null(&mut schema);
        let schema = json!({ "allOf": [schema], "components": *COMPONENTS });
        Arc::new(jsonschema::options().with_draft(jsonschema::Draft::Draft4).build(&schema).unwrap())
    };
    judges.entry(schema.to_string()).or_insert_with(make).clone()
}

/// Finds misspelled keys, because most schemas accept unknown keys.
fn unknown_keys(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object()) else {
        let items = value.as_array().into_iter().flatten();
        return items.flat_map(|item| unknown_keys(&schema["items"], item, &format!("{place}[]"))).collect();
    };
    let mut found = Vec::new();
    for (key, value) in object {
        match properties.get(key) {
            Some(schema) => found.extend(unknown_keys(schema, value, &format!("{place}.{key}"))),
            None => found.push(format!("`{place}.{key}` is not described")),
        }
    }
    found
}

/// Converts `nullable` of OpenAPI 3.0 to the list of types in JSON Schema.
fn spell_out_null(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(spell_out_null);
            if object.remove("nullable") == Some(Value::Bool(true)) {
                let inner = Value::Object(std::mem::take(object));
                object.insert("anyOf".to_owned(), json!([{ "type": "null" }, inner]));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(spell_out_null),
        _ => {}
    }
}

#[test]
fn the_excerpt_is_what_github_publishes() {
    let Some(path) = std::env::var_os("GPULINT_GITHUB_OPENAPI") else {
        return skip("GPULINT_GITHUB_OPENAPI does not name GitHub's description");
    };
    let whole: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let text = format!("{}\n", serde_json::to_string_pretty(&excerpt(&whole)).unwrap());
    let file = format!("{}/{EXCERPT}", env!("CARGO_MANIFEST_DIR"));
    if fences::blessing() {
        std::fs::write(&file, &text).unwrap();
    }
    assert!(std::fs::read_to_string(&file).unwrap() == text, "{EXCERPT} is not what the description says");
}

fn excerpt(whole: &Value) -> Value {
    let mut paths = Map::new();
    for (path, methods) in OPERATIONS {
        let described = methods.iter().map(|method| ((*method).to_owned(), plain(&whole["paths"][path][method])));
        paths.insert((*path).to_owned(), Value::Object(described.collect()));
    }
    let mut wanted = BTreeSet::new();
    let mut missing = references(&Value::Object(paths.clone()));
    while let Some(reference) = missing.pop_first() {
        let target = plain(whole.pointer(reference.trim_start_matches('#')).unwrap());
        wanted.insert(reference);
        missing.extend(references(&target).into_iter().filter(|it| !wanted.contains(it)));
    }
    let mut components = json!({});
    for reference in &wanted {
        let pointer = reference.trim_start_matches('#');
        let parts: Vec<&str> = pointer.trim_start_matches("/components/").splitn(2, '/').collect();
        components[parts[0]][parts[1]] = plain(whole.pointer(pointer).unwrap());
    }
    json!({
        "openapi": whole["openapi"],
        "info": { "title": "The operations of GitHub's REST interface that gpulint uses",
                  "version": whole["info"]["version"], "license": whole["info"]["license"],
                  "source": "npm package @octokit/openapi" },
        "paths": paths,
        "components": components,
    })
}

fn references(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(object) => {
            let own = object.get("$ref").and_then(Value::as_str).map(str::to_owned);
            object.values().flat_map(references).chain(own).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        _ => BTreeSet::new(),
    }
}

/// Removes prose, so that only the structure is left.
fn plain(value: &Value) -> Value {
    const PROSE: &[&str] =
        &["description", "summary", "tags", "externalDocs", "operationId", "title", "example", "x-github", "x-octokit"];
    match value {
        Value::Object(object) => {
            let shape = object.iter().filter(|(key, value)| {
                // A property may be named `description` or `title`. It is then a schema and not prose.
                !PROSE.contains(&key.as_str())
                    || (value.is_object() && !key.starts_with("x-") && *key != "externalDocs")
            });
            shape.map(|(key, value)| (key.clone(), if key == "value" { value.clone() } else { plain(value) })).collect()
        }
        Value::Array(items) => items.iter().map(plain).collect(),
        other => other.clone(),
    }
}
