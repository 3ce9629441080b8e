//! Tests that `docs/rules` is generated from the files of `rules/`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gpulint::rules::{self, Profile, Rules};

use crate::fences;

#[test]
fn the_documents_of_rules_are_current() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules");
    let (rules, _) = Rules::load(&[], rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() });
    let mut wanted: BTreeMap<String, String> =
        rules.pages().iter().map(|page| (format!("{}.md", page.name), rules::document(page))).collect();
    wanted.insert("README.md".to_owned(), rules::contents(rules.pages()));
    let entries = fs::read_dir(&directory).into_iter().flatten();
    let found: BTreeMap<String, String> = entries
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    if fences::blessing() {
        fs::create_dir_all(&directory).unwrap();
        found
            .keys()
            .filter(|name| !wanted.contains_key(*name))
            .for_each(|name| fs::remove_file(directory.join(name)).unwrap());
        wanted.iter().for_each(|(name, text)| fs::write(directory.join(name), text).unwrap());
        return;
    }
    for (name, text) in &wanted {
        assert!(
            found.get(name) == Some(text),
            "docs/rules/{name} is out of date: GPULINT_BLESS=1 cargo test writes it"
        );
    }
    assert_eq!(found.len(), wanted.len(), "docs/rules has a file that no rule has");
}

#[test]
fn every_rule_has_a_place_where_it_is_explained() {
    let (rules, _) = Rules::load(&[], rules::RuleSettings::default());
    for page in rules.pages() {
        let link = rules::link(&page.name).unwrap();
        assert_eq!(link, rules::in_the_book(&format!("rules/{}", page.name)));
    }
    assert_eq!(rules::link("nobody-wrote-this"), None);
}

/// Collects every test of the project by name, and every case file by path.
fn tests_below(directory: &Path, names: &mut BTreeSet<String>) {
    for path in fences::files_below(directory, ".rs") {
        let text = fs::read_to_string(&path).unwrap();
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            match line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
                Some(name) if is_test => {
                    names.insert(name.to_owned());
                    is_test = false;
                }
                _ => is_test |= line == "#[test]",
            }
        }
    }
}

#[test]
fn what_the_threat_model_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = BTreeSet::new();
    tests_below(&root.join("src"), &mut tests);
    tests_below(&root.join("tests"), &mut tests);
    assert!(tests.len() > 400, "{}", tests.len());
    let text = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut rows = 0;
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [_, _, shown] = cells.as_slice() else { panic!("no three cells: {line}") };
        if shown.trim() == "Shown by" || line.contains("What is beyond it") || !text.contains("## Limits") {
            continue;
        }
        // The table of limits is about settings.
        if text.find(line) > text.find("## Limits") {
            continue;
        }
        let named: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test shows it: {line}");
        for name in named {
            let is_there = if name.contains('/') { root.join(name).is_file() } else { tests.contains(name) };
            assert!(is_there, "there is no test `{name}`");
        }
        rows += 1;
    }
    assert!(rows > 30, "{rows} rows");
}
