//! A byte search that rules out, before anything is parsed, text that cannot matter.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use regex::bytes::{Regex, RegexBuilder};

use crate::inventory::WantedObjects;

use super::devices::DEVICES;
use super::table::KINDS;

/// Words of dynamic resource allocation.
const CLAIMS: [&str; 3] = ["resourceClaimName", "resourceClaimTemplateName", "resourceClaims"];
/// Words before the name of a configuration map that a pod takes values from.
const REFERENCES: &str = r#"configMap(?:Key)?Ref"?\s*:\s*\{?(?:[^\n]*\n?){0,3}?[^\n]*?name"?\s*:\s*["']?([^\s"',}]+)"#;

/// What a text is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matter {
    /// It may ask for accelerators or rent machines.
    Asks,
    /// Its objects may decide the number of others, or be claimed by others.
    Scales,
    /// Its objects may hold values that others take.
    Configures,
    Nothing,
}

/// Files that may hold manifests, by the end of their names. Terraform has JSON of its own.
pub(super) fn is_manifest(path: &str) -> bool {
    const ENDINGS: [&str; 10] =
        [".yaml", ".yml", ".json", ".tpl", ".tmpl", ".j2", ".jinja", ".jinja2", ".gotmpl", ".template"];
    const NOT: [&str; 2] = [".tf.json", ".tofu.json"];
    ENDINGS.iter().any(|ending| path.ends_with(ending)) && !NOT.iter().any(|ending| path.ends_with(ending))
}

/// The kinds that rules look at as they are written, whatever they ask for.
pub(super) struct Wanted {
    kinds: Option<Regex>,
}

impl Wanted {
    pub(super) fn new(objects: &WantedObjects) -> Self {
        let kinds = match objects {
            WantedObjects::None | WantedObjects::OfResources => None,
            // a list may hold any kind
            WantedObjects::Kinds(kinds) => {
                let names: Vec<String> = kinds.iter().map(|kind| regex::escape(kind)).collect();
                of_kinds(&names.iter().map(String::as_str).chain([r"\w*List"]).collect::<Vec<_>>())
            }
            WantedObjects::All => Regex::new(r#"(?m)^[ \t{-]*["']?kind["']?[ \t]*:"#).ok(),
        };
        Wanted { kinds }
    }

    pub(super) fn look(&self, text: &[u8]) -> Matter {
        match look(text) {
            Matter::Asks => Matter::Asks,
            _ if self.kinds.as_ref().is_some_and(|kinds| kinds.is_match(text)) => Matter::Asks,
            other => other,
        }
    }
}

pub(super) fn look(text: &[u8]) -> Matter {
    let found = |words: &Option<Regex>| words.as_ref().is_none_or(|words| words.is_match(text));
    if found(&WORDS) || found(&KIND_WORDS) {
        Matter::Asks
    } else if found(&SCALING) {
        Matter::Scales
    } else if found(&CONFIGURING) {
        Matter::Configures
    } else {
        Matter::Nothing
    }
}

/// Words of which one stands in every text with a resource key of an accelerator.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = KINDS.rows().iter().flat_map(|row| &row.has).filter_map(super::path::Path::last_key);
    let words: BTreeSet<String> = DEVICES.words().chain(CLAIMS).chain(shapes).map(regex::escape).collect();
    any(words)
});

/// Kinds that rent machines, that run the pods of others, or that have short names for accelerators.
static KIND_WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    kinds(|row| {
        let apart =
            row.pods.iter().any(|pods| pods.amount.is_some() || !pods.keys.is_empty() || !pods.devices.is_empty());
        !row.machines.is_empty() || row.borrows.is_some() || apart
    })
});

static SCALING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let claims = r#"ResourceClaim|ResourceClaimTemplate|DeviceClass"#;
    let scaling = KINDS.rows().iter().filter(|row| row.scales.is_some()).map(|row| row.kind.as_str());
    let names: Vec<&str> = scaling.chain([claims]).collect();
    of_kinds(&names)
});

static CONFIGURING: LazyLock<Option<Regex>> = LazyLock::new(|| of_kinds(&["ConfigMap", "List"]));

fn kinds(wanted: impl Fn(&super::table::Row) -> bool) -> Option<Regex> {
    let names: BTreeSet<&str> = KINDS.rows().iter().filter(|row| wanted(row)).map(|row| row.kind.as_str()).collect();
    of_kinds(&names.into_iter().collect::<Vec<_>>())
}

fn of_kinds(names: &[&str]) -> Option<Regex> {
    Regex::new(&format!(r#"kind"?[ \t]*:[ \t]*["']?(?:{})\b"#, names.join("|"))).ok()
}

fn any(words: BTreeSet<String>) -> Option<Regex> {
    Regex::new(&words.into_iter().collect::<Vec<_>>().join("|")).ok()
}

/// Names of configuration maps that texts use.
pub(super) struct Names {
    pattern: Option<Regex>,
}

impl Names {
    pub(super) fn used(texts: impl Iterator<Item = Arc<str>>) -> Self {
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

    pub(super) fn any_in(&self, text: &[u8]) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
