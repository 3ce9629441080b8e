//! `docs/rules` is written from the pages of `rules/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gpulint::rules::{self, Profile, Rules};

use crate::fences;

#[test]
fn the_documents_of_rules_are_current() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules");
    let (rules, _) = Rules::load(&[], rules::Settings { profile: Profile::All, ..rules::Settings::default() });
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
    let (rules, _) = Rules::load(&[], rules::Settings::default());
    for page in rules.pages() {
        let link = rules::link(&page.name).unwrap();
        assert!(link.ends_with(&format!("docs/rules/{}.md", page.name)), "{link}");
    }
    assert_eq!(rules::link("nobody-wrote-this"), None);
}
