//! What the last release offered still exists: settings, options, rules, facts, inputs and outputs of the Action, and the
//! fields and version numbers of every JSON format.
//!
//! `tests/released.json` is the list of that release. `GPULINT_RELEASE=1 cargo test --test it promises` writes it for a
//! new one, and nothing else does.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/released.json");

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(std::env::temp_dir()).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

/// Returns the settings with the types of their values.
fn settings() -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(&printed(&["config", "schema"])).unwrap();
    let mut found = BTreeSet::new();
    fields(&schema, &schema, "", &mut found);
    found
}

/// Adds a line for each field below a schema: its path, and whether it is always there.
fn fields(whole: &Value, schema: &Value, path: &str, into: &mut BTreeSet<String>) {
    let schema = match schema["$ref"].as_str().and_then(|it| whole.pointer(it.trim_start_matches('#'))) {
        Some(target) => target,
        None => schema,
    };
    if path.matches('.').count() > 8 {
        return;
    }
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let always = if required.contains(&name.as_str()) { " always" } else { "" };
        into.insert(format!("{path}{always}"));
        fields(whole, field, &path, into);
    }
    for part in ["items", "additionalProperties"] {
        if schema[part].is_object() {
            fields(whole, &schema[part], &format!("{path}[]"), into);
        }
    }
    for part in ["oneOf", "anyOf", "allOf"] {
        for variant in schema[part].as_array().into_iter().flatten() {
            fields(whole, variant, path, into);
        }
    }
}

fn formats() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/schema")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".json") {
            let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let mut of_file = BTreeSet::new();
            fields(&schema, &schema, "", &mut of_file);
            found.extend(of_file.into_iter().map(|field| format!("{name} {field}")));
            found.extend(numbers(&schema).into_iter().map(|number| format!("{name} version {number}")));
        }
    }
    found
}

/// Returns the numbers of a format, which change only if a field changes its meaning. Tables have the number at their top, a line
/// of rows has the number of its row.
fn numbers(schema: &Value) -> BTreeSet<u64> {
    let rows = schema["$defs"].as_object().into_iter().flat_map(|rows| rows.values());
    let rows = rows.filter(|row| row["properties"]["row"].is_object());
    let fields = rows.chain([schema]).map(|it| &it["properties"]["version"]["const"]);
    fields.chain([&schema["version"]]).filter_map(Value::as_u64).collect()
}

/// Lists of values have no place for a number.
const WITHOUT_NUMBER: [&str; 2] = ["price-hours.json", "price.json"];

#[test]
fn every_format_has_a_number() {
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/schema")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".json") {
            let schema: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let expected = usize::from(!WITHOUT_NUMBER.contains(&name.as_str()));
            assert_eq!(numbers(&schema).len(), expected, "{name}: {:?}", numbers(&schema));
        }
    }
}

/// Returns the long options of every command.
fn options() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let verbs = printed(&["help", "commands"]);
    let verbs = verbs.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for verb in verbs {
        let help = printed(&[verb, "--help"]);
        let options = help.lines().filter_map(|line| {
            let line = line.trim_start();
            let option = line.split([' ', ',']).find(|word| word.starts_with("--"))?;
            line.starts_with('-').then_some(option)
        });
        found.insert(verb.to_owned());
        found.extend(options.map(|option| format!("{verb} {option}")));
    }
    found
}

/// Returns the names in the first column of the tables of a page.
fn column(page: &str) -> BTreeSet<String> {
    let path = format!("{}/docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next().map(str::to_owned));
    cells.filter(|cell| cell.starts_with('`')).map(|cell| cell.trim_matches('`').to_owned()).collect()
}

fn rules() -> BTreeSet<String> {
    let directory = format!("{}/rules", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = files.filter_map(|name| name.strip_suffix(".md").map(str::to_owned));
    let pages: Vec<String> = names.filter(|name| name != "README").collect();
    let former = pages.iter().flat_map(|name| {
        let text = std::fs::read_to_string(format!("{}/rules/{name}.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("replaces: [")).unwrap_or_default().to_owned();
        line.trim_end_matches(']')
            .split(',')
            .map(|it| it.trim().to_owned())
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
    });
    former.chain(pages.iter().cloned()).collect()
}

/// Returns the inputs and outputs of the Action.
fn action() -> BTreeSet<String> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/action.yml")).unwrap();
    let action: Value = serde_saphyr::from_str(&text).unwrap();
    let names = |part: &str| -> Vec<String> {
        action[part].as_object().unwrap().keys().map(|name| format!("{part} {name}")).collect()
    };
    names("inputs").into_iter().chain(names("outputs")).collect()
}

fn offered() -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "settings": settings(),
        "formats": formats(),
        "options": options(),
        "rules": rules(),
        "facts": column("facts.md"),
        "action": action(),
    })
}

#[test]
fn what_the_last_release_offered_still_exists() {
    let now = offered();
    if std::env::var_os("GPULINT_RELEASE").is_some() {
        std::fs::write(FILE, serde_json::to_string_pretty(&now).unwrap() + "\n").unwrap();
    }
    let before: Value = serde_json::from_str(&std::fs::read_to_string(FILE).unwrap()).unwrap();
    for part in ["settings", "formats", "options", "rules", "facts", "action"] {
        let list = |of: &Value| -> BTreeSet<String> {
            of[part].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
        };
        let (before, now) = (list(&before), list(&now));
        assert!(before.len() > 20, "{part}: {}", before.len());
        // A field that becomes certain breaks nobody.
        let is_gone = |it: &&String| !now.contains(*it) && !now.contains(&format!("{it} always"));
        let gone: Vec<&String> = before.iter().filter(is_gone).collect();
        assert!(
            gone.is_empty(),
            "{part} of {} that are gone: {gone:#?}\nkeep them, or change the version as docs/promises.md says",
            env!("CARGO_PKG_VERSION")
        );
    }
}
