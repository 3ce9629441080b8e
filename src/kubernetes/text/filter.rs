//! A byte search that rules out, before anything is parsed, text that cannot matter.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use regex::bytes::{Regex, RegexBuilder};

use crate::inventory::WantedObjects;
use crate::source::Needles;

use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::table::{KINDS, Row};

/// Words of dynamic resource allocation.
const CLAIMS: [&str; 3] = ["resourceClaimName", "resourceClaimTemplateName", "resourceClaims"];
/// A kind of which there are many that fill nothing in, and the word of those that do.
const SUBSTITUTING: &[u8] = b"Kustomization";
const FILLED_IN: &[u8] = b"postBuild";
/// Words before the name of a configuration map that a pod takes values from.
const REFERENCES: &str = r#"(?:configMap(?:Key)?Ref"?\s*:\s*\{?(?:[^\n]*\n?){0,3}?[^\n]*?|kind"?\s*:\s*["']?ConfigMap["']?\s*,?\s*["']?)name"?\s*:\s*["']?([^\s"',}]+)"#;

/// What a text is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kubernetes) enum Matter {
    /// It may ask for accelerators or rent machines.
    Asks,
    /// Its objects may decide the number of others, hold for others, or be claimed by others.
    Scales,
    /// Its objects may hold values that others take.
    Configures,
    Nothing,
}

/// Files that may hold manifests, by the end of their names. Terraform has JSON of its own.
pub(in crate::kubernetes) fn is_manifest(path: &str) -> bool {
    const ENDINGS: [&str; 10] =
        [".yaml", ".yml", ".json", ".tpl", ".tmpl", ".j2", ".jinja", ".jinja2", ".gotmpl", ".template"];
    const NOT: [&str; 2] = [".tf.json", ".tofu.json"];
    ENDINGS.iter().any(|ending| path.ends_with(ending)) && !NOT.iter().any(|ending| path.ends_with(ending))
}

/// The kinds that rules look at as they are written, whatever they ask for.
pub(in crate::kubernetes) enum Wanted<'a> {
    Nothing,
    Kinds(&'a BTreeSet<String>),
    All,
}

impl<'a> Wanted<'a> {
    pub(in crate::kubernetes) fn new(objects: &'a WantedObjects) -> Self {
        match objects {
            WantedObjects::None | WantedObjects::OfResources => Wanted::Nothing,
            WantedObjects::Kinds(kinds) => Wanted::Kinds(kinds),
            WantedObjects::All => Wanted::All,
        }
    }

    pub(in crate::kubernetes) fn look(&self, text: &[u8]) -> Matter {
        match look(text) {
            Matter::Asks => Matter::Asks,
            _ if kinds_in(text).any(|kind| self.has(kind)) => Matter::Asks,
            other => other,
        }
    }

    fn has(&self, kind: &[u8]) -> bool {
        match self {
            Wanted::Nothing => false,
            // a list may hold any kind
            Wanted::Kinds(kinds) => kind.ends_with(b"List") || kinds.iter().any(|wanted| wanted.as_bytes() == kind),
            Wanted::All => !kind.is_empty(),
        }
    }
}

pub(in crate::kubernetes) fn look(text: &[u8]) -> Matter {
    if WORDS.any_in(text) {
        return if is_idle(text) { Matter::Nothing } else { Matter::Asks };
    }
    let mut found = Matter::Nothing;
    for kind in kinds_in(text) {
        match TELLING_KINDS.get(kind) {
            Some(Matter::Asks) => return Matter::Asks,
            Some(Matter::Scales) if kind != SUBSTITUTING || has(text, FILLED_IN) => found = Matter::Scales,
            Some(Matter::Configures) if found == Matter::Nothing => found = Matter::Configures,
            _ => {}
        }
    }
    found
}

fn has(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

/// Other files may name its objects, or it has a comment that speaks to gpulint.
pub(in crate::kubernetes) fn may_be_joined(document: &[u8]) -> bool {
    look(document) != Matter::Nothing || memchr::memmem::find(document, b"gpulint").is_some()
}

/// All its documents are of kinds that ask for nothing whatever is in them: schemas of custom resources speak of everything
/// that pods may have.
pub(in crate::kubernetes) fn is_idle(text: &[u8]) -> bool {
    let at_start = |at: usize| at == 0 || text.get(at - 1) == Some(&b'\n');
    let mut kinds = 0;
    for at in memchr::memmem::find_iter(text, b"kind:").filter(|&at| at_start(at)) {
        if !kind_at(text, at).is_some_and(|kind| IDLE_KINDS.contains(kind)) {
            return false;
        }
        kinds += 1;
    }
    let speaks = || memchr::memmem::find(text, b"gpulint").is_some();
    let documents = || std::str::from_utf8(text).map(|text| crate::yaml::documents(text).len());
    kinds > 0 && !speaks() && documents().is_ok_and(|documents| documents <= kinds)
}

/// What stands behind each `kind:` of a text.
fn kinds_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memmem::find_iter(text, b"kind").filter_map(|at| kind_at(text, at))
}

/// The word behind `kind:`, `"kind": "`, …
fn kind_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = text.get(at + b"kind".len()..)?;
    let rest = rest.strip_prefix(b"\"").unwrap_or(rest);
    let rest = without_blanks(without_blanks(rest).strip_prefix(b":")?);
    let rest = rest.strip_prefix(b"\"").or(rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
    rest.get(..end)
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text.get(blanks..).unwrap_or_default()
}

/// Words of which one stands in every text with a resource key of an accelerator.
struct Words {
    needles: Needles,
    /// So many of them count anywhere. Behind them are keys, which only say so where they are keys.
    anywhere: usize,
    keys: Vec<&'static str>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let words: BTreeSet<&str> = DEVICES.words().chain(CLAIMS).collect();
    // What has another word in it is found by that one; few can be searched for many bytes at a time.
    let has_other = |word: &str| words.iter().any(|other| *other != word && word.contains(other));
    let mut needles: Vec<String> =
        words.iter().filter(|word| !has_other(word)).map(|word| (*word).to_owned()).collect();
    let mut words = Words { needles: Needles::Everywhere, anywhere: needles.len(), keys: Vec::new() };
    let keys: BTreeSet<&str> = KINDS.rows().iter().filter_map(|row| row.has.last()?.last_key()).collect();
    // What may stand behind a key, for words of four letters are found faster than shorter ones.
    for (key, behind) in keys.iter().flat_map(|key| [":", "\"", " ", "\t"].map(|behind| (*key, behind))) {
        let needle = if key.len() < 4 { format!("{key}{behind}") } else { key.to_owned() };
        if !needles.contains(&needle) {
            needles.push(needle);
            words.keys.push(key);
        }
    }
    Words { needles: Needles::new(&needles), ..words }
});

impl Words {
    fn any_in(&self, text: &[u8]) -> bool {
        let is_key = |word: &str, at: usize| {
            let rest = text.get(at + word.len()..).unwrap_or_default();
            without_blanks(rest.strip_prefix(b"\"").unwrap_or(rest)).starts_with(b":")
        };
        let key = |which: usize| self.keys.get(which.checked_sub(self.anywhere)?);
        self.needles.any(text, |which, at| key(which).is_none_or(|word| is_key(word, at)))
    }
}

/// What the kinds of which rows speak are good for, beside asking for accelerators in so many words.
static TELLING_KINDS: LazyLock<HashMap<&'static [u8], Matter>> = LazyLock::new(|| {
    let mut kinds: HashMap<&[u8], Matter> = HashMap::new();
    for (kinds_of, matter) in [
        (&["ConfigMap", "List"][..], Matter::Configures),
        (&["ResourceClaim", "ResourceClaimTemplate", "DeviceClass"][..], Matter::Scales),
    ] {
        kinds.extend(kinds_of.iter().map(|kind| (kind.as_bytes(), matter)));
    }
    let named = |row: &'static Row| row.kind.as_bytes();
    let rows = KINDS.rows();
    kinds.extend(rows.iter().filter(|row| row.is_joined()).map(|row| (named(row), Matter::Scales)));
    kinds.extend(rows.iter().filter(|row| asks_in_other_words(row)).map(|row| (named(row), Matter::Asks)));
    kinds
});

/// It rents machines, runs the pods of others, or has short names for accelerators.
fn asks_in_other_words(row: &Row) -> bool {
    let apart = row
        .pods
        .iter()
        .any(|it| it.amount.is_some() || !it.keys.is_empty() || !it.devices.is_empty() || !it.claims.is_empty());
    !row.machines.is_empty() || row.borrows.is_some() || apart
}

/// Kinds that only describe others.
static IDLE_KINDS: LazyLock<HashSet<&'static [u8]>> =
    LazyLock::new(|| KINDS.rows().iter().filter(|row| row.schema).map(|row| row.kind.as_bytes()).collect());

/// Names of configuration maps that texts use.
pub(in crate::kubernetes) struct Names {
    pattern: Option<Regex>,
}

impl Names {
    pub(in crate::kubernetes) fn used(texts: impl Iterator<Item = Arc<str>>) -> Self {
        const SIZE_LIMIT: usize = 64 << 20;
        let mut names = BTreeSet::new();
        if let Ok(references) = Regex::new(REFERENCES) {
            for text in texts {
                for found in references.captures_iter(text.as_bytes()) {
                    let name = found.get(1).map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
                    names.extend(name.map(|name| regex::escape(&name)));
                }
            }
        }
        if names.is_empty() {
            return Names { pattern: None };
        }
        let pattern = names.into_iter().collect::<Vec<_>>().join("|");
        Names { pattern: RegexBuilder::new(&pattern).size_limit(SIZE_LIMIT).build().ok() }
    }

    pub(in crate::kubernetes) fn is_empty(&self) -> bool {
        self.pattern.is_none()
    }

    pub(in crate::kubernetes) fn any_in(&self, text: &[u8]) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_searched_for_many_bytes_at_a_time() {
        assert!(cfg!(not(target_arch = "x86_64")) || matches!(WORDS.needles, Needles::Packed(_)));
        for word in DEVICES.words().chain(CLAIMS) {
            assert!(WORDS.any_in(format!("  {word}: 1").as_bytes()), "{word}");
        }
    }

    #[test]
    fn few_documents_are_read_for_those_who_name_them() {
        for document in
            ["kind: HorizontalPodAutoscaler\n", "kind: ConfigMap\n", "kind: List\n", "a: 1 # gpulint:ignore\n"]
        {
            assert!(may_be_joined(document.as_bytes()), "{document}");
        }
        for document in ["kind: Service\n", "a: [1", "kind: CustomResourceDefinition\n  nvidia.com/gpu: 1\n"] {
            assert!(!may_be_joined(document.as_bytes()), "{document}");
        }
    }

    #[test]
    fn only_text_with_a_telling_word_is_parsed() {
        for (text, matter) in [
            ("  limits:\n    nvidia.com/gpu: 1", Matter::Asks),
            ("nvidia.com/mig-1g.5gb: 1", Matter::Asks),
            ("kind: NodePool\n", Matter::Asks),
            (r#"{"kind": "HorizontalPodAutoscaler"}"#, Matter::Scales),
            ("kind: ConfigMap\n", Matter::Configures),
            ("kind: Deployment\nspec: {}", Matter::Nothing),
            ("kind: NodePoolish\n", Matter::Nothing),
            ("kind: PodDisruptionBudget\n", Matter::Scales),
            ("kind: Kustomization\nresources: [a]\n", Matter::Nothing),
            ("kind: Kustomization\nspec:\n  postBuild: {}\n", Matter::Scales),
            ("kind: HelmRelease\n", Matter::Scales),
            ("kind: CustomResourceDefinition\nspec:\n  nvidia.com/gpu: 1\n", Matter::Nothing),
            ("kind: CustomResourceDefinition\n---\nnvidia.com/gpu: 1\n", Matter::Asks),
            ("kind: CustomResourceDefinition\n---\nkind: Pod\nnvidia.com/gpu: 1\n", Matter::Asks),
        ] {
            assert_eq!(look(text.as_bytes()), matter, "{text}");
        }
    }

    #[test]
    fn names_of_configuration_maps_are_found_where_they_are_used() {
        let text = "envFrom:\n  - configMapRef:\n      name: agent\nx: {configMapKeyRef: {key: K, name: \"model\"}}\n";
        let names = Names::used([Arc::from(text)].into_iter());
        assert!(names.any_in(b"name: agent"));
        assert!(names.any_in(b"name: model"));
        assert!(!names.any_in(b"name: other"));
    }
}
