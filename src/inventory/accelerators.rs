//! Reads `accelerators.toml`: words that suggest accelerators in files that gpulint does not parse, and node labels
//! for accelerators.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::source::Needles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    word: Vec<Word>,
    vendor: Vec<Vendor>,
    chips: Chips,
    labels: Labels,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Word {
    word: String,
    #[serde(default)]
    anywhere: bool,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    alone: bool,
    #[serde(default)]
    name: bool,
    #[serde(default)]
    card: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vendor {
    name: String,
    keys: Vec<String>,
    domains: Vec<String>,
    #[serde(default)]
    joined: bool,
    #[serde(default)]
    compiled: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chips {
    names: HashSet<String>,
    series: HashSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Labels {
    domains: Vec<String>,
    pools: Vec<String>,
    by_pool: Vec<String>,
}

/// The table is built in, and a test proves that it parses.
static TABLE: LazyLock<File> =
    LazyLock::new(|| match serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/accelerators.json"))) {
        Ok(table) => table,
        Err(why) => unreachable!("the embedded words for accelerators: {why}"),
    });

/// Search words, which also count within longer words.
struct Parts {
    words: Vec<&'static Word>,
    needles: Needles,
}

impl Parts {
    fn new(counts: fn(&Word) -> bool) -> Parts {
        let words: Vec<&Word> = TABLE.word.iter().filter(|it| counts(it)).collect();
        let needles = Needles::new(&words.iter().map(|it| it.word.as_str()).collect::<Vec<_>>());
        Parts { words, needles }
    }

    fn stand_in(&self, text: &str) -> bool {
        self.needles.any(text.as_bytes(), |which, at| self.words.get(which).is_none_or(|it| it.counts_at(text, at)))
    }
}

impl Word {
    /// Returns true if the word counts at this place. It does not inside a longer word with another meaning.
    fn counts_at(&self, text: &str, at: usize) -> bool {
        let is_part_of = |other: &String| {
            let start = other.find(&self.word).and_then(|offset| at.checked_sub(offset));
            start.and_then(|start| text.get(start..)).is_some_and(|rest| rest.starts_with(other))
        };
        !self.except.iter().any(is_part_of)
    }
}

/// Returns true if a lower-case text mentions accelerators anywhere.
pub fn are_mentioned(text: &str) -> bool {
    static ANYWHERE: LazyLock<Parts> = LazyLock::new(|| Parts::new(|it| it.anywhere));
    ANYWHERE.stand_in(text)
}

/// Returns true if a lower-case text makes clear that a short name in it is a GPU, such as `L4`.
pub fn card_is_meant(text: &str) -> bool {
    static BESIDE_CARDS: LazyLock<Parts> = LazyLock::new(|| Parts::new(|it| it.card));
    BESIDE_CARDS.stand_in(text)
}

/// Returns true if a word by itself requests accelerators, in any language.
pub fn is_asking(word: &str) -> bool {
    TABLE.word.iter().any(|it| it.alone && it.word.eq_ignore_ascii_case(word))
}

/// Returns true if a name contains a word for accelerators: true for `a-gpu-pool`, false for `gpunodes`.
pub fn are_in_name(name: &str) -> bool {
    let is_word = |word: &str| TABLE.word.iter().any(|it| it.name && it.word.eq_ignore_ascii_case(word));
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_word)
}

/// Prefixes of the resource keys by which containers request accelerators.
pub fn device_keys() -> impl Iterator<Item = &'static str> {
    TABLE.vendor.iter().flat_map(|it| it.keys.iter().map(String::as_str))
}

fn vendor(name: &str) -> Option<&'static Vendor> {
    TABLE.vendor.iter().find(|it| it.name == name)
}

/// Returns true if pods can see several devices of this vendor as one, or one device as several.
pub fn are_joined(vendor_name: &str) -> bool {
    vendor(vendor_name).is_some_and(|it| it.joined)
}

/// Returns true if devices of this vendor run only models that are compiled for them.
pub fn are_compiled_for(vendor_name: &str) -> bool {
    vendor(vendor_name).is_some_and(|it| it.compiled)
}

/// Returns true if a lower-case name is a chip or a series of chips.
pub fn is_chip_or_series(name: &str) -> bool {
    is_chip(name) || TABLE.chips.series.contains(name)
}

/// Returns true if a name is the chip at the start of an accelerator's name: `h100` of `h100-80gb`.
pub fn is_chip(name: &str) -> bool {
    TABLE.chips.names.contains(name)
}

/// Returns true if a label or taint key has a domain of Kubernetes, a cloud or an accelerator vendor.
pub fn is_put_by_cloud(key: &str) -> bool {
    let Some((domain, _)) = key.split_once('/') else { return false };
    // A kubelet cannot set the role of its own node, so the owner of the cluster sets this label.
    if domain == "node-role.kubernetes.io" {
        return false;
    }
    let mut domains = TABLE.labels.domains.iter().chain(TABLE.vendor.iter().flat_map(|it| &it.domains));
    let is_below =
        |known: &String| domain.strip_suffix(known.as_str()).is_some_and(|it| it.is_empty() || it.ends_with('.'));
    domains.any(is_below)
}

/// Returns true if a cloud names its pools and classes by this label key.
pub fn names_pools(key: &str) -> bool {
    TABLE.labels.pools.iter().any(|name| key.ends_with(name))
}

/// Returns true if each pool of a cloud has its own value for this label key.
pub fn identifies_pool(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    TABLE.labels.by_pool.iter().any(|part| key.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_as_parts_where_they_mean_nothing_else() {
        for (text, says) in [
            ("output", false),
            ("tpu_output", true),
            ("output = tpu", true),
            ("outputs output", false),
            ("smtpuser: a", false),
            ("gpu_nodes", true),
            ("repository", false),
        ] {
            assert_eq!(are_mentioned(text), says, "{text}");
        }
    }

    #[test]
    fn names_have_whole_words() {
        assert!(are_in_name("aws_instance.a-GPU-pool") && are_in_name("tpus"));
        assert!(!are_in_name("gpunodes") && !are_in_name("output"));
    }

    #[test]
    fn a_role_is_given_by_its_owner() {
        assert!(is_put_by_cloud("gpu.nvidia.com/class") && is_put_by_cloud("topology.kubernetes.io/zone"));
        assert!(!is_put_by_cloud("node-role.kubernetes.io/gpu") && !is_put_by_cloud("notnvidia.com/gpu"));
    }
}
