//! Checks that the page about resource definitions documents every key in use, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gpulint::inventory::Key;
use toml::Value;

/// Keys whose members are names and not keys: providers, labels, links, facts, and places to write.
const NAMES_BELOW: [&str; 12] = [
    "beside",
    "map",
    "write",
    "refuses",
    "gives",
    "when",
    "links",
    "facts",
    "node_labels",
    "implied_labels",
    "devices",
    "keys",
];

fn words(value: &Value, below: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) => {
            for (word, value) in table {
                let is_name = NAMES_BELOW.contains(&below) || Key::named(word).is_some();
                if !is_name {
                    found.insert(word.clone());
                }
                // Below the name of a link or of a fact, there are keys again.
                let goes_on = !is_name || below == "links" || below == "facts" || below.is_empty();
                if goes_on {
                    words(value, if is_name { "fact" } else { word }, found);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, below, found)),
        _ => {}
    }
}

#[test]
fn the_page_about_rows_teaches_their_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/rows.md")).unwrap();
    let taught: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let read = |path: &Path| -> toml::Table { toml::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let mut used = BTreeSet::new();
    for file in fs::read_dir(root.join("src/terraform/resources")).unwrap() {
        for rows in read(&file.unwrap().path()).values() {
            rows.as_table().unwrap().values().for_each(|row| words(row, "", &mut used));
        }
    }
    for file in ["kinds.toml", "called.toml"] {
        words(&read(&root.join("src/kubernetes/rows").join(file))["kind"], "", &mut used);
    }
    for file in ["src/templates/cloudformation.toml", "src/templates/azure.toml"] {
        for row in read(&root.join(file))["types"].as_table().unwrap().values() {
            used.extend(row.as_table().unwrap().keys().cloned());
        }
    }
    assert!(used.len() > 60, "{used:?}");
    let untaught: Vec<&String> = used.iter().filter(|word| !taught.contains(&***word)).collect();
    assert!(untaught.is_empty(), "docs/rows.md does not teach {untaught:?}");
}
