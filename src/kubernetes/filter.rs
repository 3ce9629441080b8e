//! A byte search that rules out, before anything is parsed, text that cannot matter.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::devices::DEVICES;
use super::table::KINDS;

/// Words of dynamic resource allocation, and of objects that other objects are joined with.
const CLAIMS: [&str; 2] = ["resourceClaimName", "resourceClaimTemplateName"];

/// Files that may hold manifests, by the end of their names. Terraform has JSON of its own.
pub(super) fn is_manifest(path: &str) -> bool {
    const ENDINGS: [&str; 10] =
        [".yaml", ".yml", ".json", ".tpl", ".tmpl", ".j2", ".jinja", ".jinja2", ".gotmpl", ".template"];
    const NOT: [&str; 2] = [".tf.json", ".tofu.json"];
    ENDINGS.iter().any(|ending| path.ends_with(ending)) && !NOT.iter().any(|ending| path.ends_with(ending))
}

/// Text that may ask for accelerators or rent machines.
pub(super) fn may_matter(text: &[u8]) -> bool {
    WORDS.as_ref().is_none_or(|words| words.is_match(text))
}

static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let machines = KINDS.rows().iter().filter(|row| !row.machines.is_empty()).map(|row| row.kind.as_str());
    let words: Vec<String> = DEVICES.words().chain(CLAIMS).chain(machines).map(regex::escape).collect();
    Regex::new(&words.join("|")).ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_with_a_telling_word_is_parsed() {
        assert!(may_matter(b"  limits:\n    nvidia.com/gpu: 1"));
        assert!(may_matter(b"nvidia.com/mig-1g.5gb: 1"));
        assert!(!may_matter(b"kind: Deployment\nspec: {}"));
    }
}
