//! Excludes irrelevant texts by a byte search before they are parsed.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use regex::bytes::{Regex, RegexBuilder};

use crate::inventory::WantedObjects;
use crate::languages::table::{Reader, is_of};
use crate::source::{Needles, broken, static_regex, unusual_breaks};

use crate::kubernetes::rows::devices::DEVICES;
use crate::kubernetes::rows::table::KINDS;

use super::normalized::{self, EscapedKey, GivenValue, NormalizedText, has_key_alias, unveil};

/// The beginning of the keys of dynamic resource allocation: `resourceClaimName`, `resourceClaims`.
const CLAIM: &str = "resourceClaim";
/// The key of a runtime class, which can give a pod the devices of its node.
const RUNTIME: &str = "runtimeClassName";
/// Keys by which unsupported kinds request machines and accelerators.
const CUSTOM_KEYS: [&str; 7] = ["gpu", "gpus", "gpuCount", "gpuType", "accelerator", "accelerators", "instanceType"];
/// A kind of two tools: an object of Flux, and the files of kustomize, which another reader reads.
const SUBSTITUTING: &[u8] = b"Kustomization";
const FILLED_IN: &[u8] = b"postBuild";
/// The characters that may follow a key.
const BEHIND_KEYS: [&str; 9] = [":", "\"", "'", " ", "\t", "\n", "\r", ",", "}"];
/// Every file whose documents are all idle contains this string.
const IDLE_MARK: &[u8] = b"kind: ";
static_regex!(
    /// Words before the name of a ConfigMap from which a pod takes values.
    static REFERENCES: Regex = r#"(?:configMap(?:Key)?Ref"?\s*:\s*\{?(?:[^\n]*\n?){0,3}?[^\n]*?|kind"?\s*:\s*["']?ConfigMap["']?\s*,?\s*["']?)name"?\s*:\s*["']?([^\s"',}]+)"#
);

/// The relevance of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kubernetes) enum Matter {
    /// The text may request accelerators or provision machines.
    Asks,
    /// The objects of the text may control the number of others, apply to others, or be claimed by others.
    Scales,
    /// The objects of the text may contain values that others take.
    Configures,
    Nothing,
}

impl Matter {
    /// All values, in the order of their numbers in the cache.
    pub(in crate::kubernetes) const ALL: [Matter; 4] =
        [Matter::Asks, Matter::Scales, Matter::Configures, Matter::Nothing];

    /// Returns the more relevant of the two.
    fn or(self, other: Matter) -> Matter {
        let order = |it: Matter| match it {
            Matter::Asks => 0,
            Matter::Scales => 1,
            Matter::Configures => 2,
            Matter::Nothing => 3,
        };
        if order(other) < order(self) { other } else { self }
    }
}

/// Returns whether a file may contain manifests, by the end of its name. Terraform has its own JSON files.
pub fn is_manifest(path: &str) -> bool {
    let small = path.to_ascii_lowercase();
    is_of(Reader::Kubernetes, &small) && !is_of(Reader::Terraform, path) && !is_template_of_page(&small)
}

/// Returns whether the file becomes a page, such as `README.md.gotmpl`.
fn is_template_of_page(path: &str) -> bool {
    const PAGES: [&str; 6] = ["md", "markdown", "rst", "adoc", "html", "css"];
    const DATA: [&str; 3] = ["yaml", "yml", "json"];
    let mut ends = path.rsplit('/').next().unwrap_or_default().rsplit('.');
    ends.next().is_some_and(|end| !DATA.contains(&end))
        && ends.next().is_some_and(|end| PAGES.contains(&end))
        && ends.next().is_some()
}

/// The kinds that rules read in full.
pub(in crate::kubernetes) enum WantedKinds<'a> {
    Nothing,
    Kinds(&'a BTreeSet<String>),
    All,
}

impl<'a> WantedKinds<'a> {
    pub(in crate::kubernetes) fn new(objects: &'a WantedObjects) -> Self {
        match objects {
            WantedObjects::None | WantedObjects::OfResources => WantedKinds::Nothing,
            WantedObjects::Kinds(kinds) => WantedKinds::Kinds(kinds),
            WantedObjects::All => WantedKinds::All,
        }
    }

    pub(in crate::kubernetes) fn look(&self, text: &[u8]) -> Matter {
        let asks = |text: &[u8]| kinds_in(text).any(|kind| self.has(kind));
        match look(text) {
            Matter::Asks => Matter::Asks,
            _ if self.is_any() && (asks(text) || matches!(unveil(text), NormalizedText::Text(seen) if asks(&seen))) => {
                Matter::Asks
            }
            other => other,
        }
    }

    fn is_any(&self) -> bool {
        !matches!(self, WantedKinds::Nothing)
    }

    fn has(&self, kind: &[u8]) -> bool {
        match self {
            WantedKinds::Nothing => false,
            // A list may contain any kind.
            WantedKinds::Kinds(kinds) => {
                kind.ends_with(b"List") || kinds.iter().any(|wanted| wanted.as_bytes() == kind)
            }
            WantedKinds::All => !kind.is_empty(),
        }
    }
}

pub(in crate::kubernetes) fn look(text: &[u8]) -> Matter {
    let lines = broken(text);
    let text = lines.as_deref().unwrap_or(text);
    match look_as_written(text) {
        Matter::Asks => Matter::Asks,
        found => match unveil(text) {
            NormalizedText::Text(Cow::Borrowed(_)) => found,
            NormalizedText::Text(Cow::Owned(letters)) => found.or(look_as_written(&letters)),
            NormalizedText::Nothing => Matter::Asks,
        },
    }
}

fn look_as_written(text: &[u8]) -> Matter {
    if WORDS.any_in(text) {
        return if is_idle(text) { Matter::Nothing } else { Matter::Asks };
    }
    let mut found = Matter::Nothing;
    for kind in kinds_in(text) {
        found = found.or(match_kind(kind, text));
        if found == Matter::Asks {
            break;
        }
    }
    found
}

fn match_kind(kind: &[u8], text: &[u8]) -> Matter {
    match TELLING_KINDS.get(kind) {
        Some(Matter::Scales) if kind == SUBSTITUTING && !is_of_flux(text) => Matter::Nothing,
        Some(Matter::Scales) if kind == SCHEDULING && !scales_at_times(text) => Matter::Nothing,
        Some(matter) => *matter,
        None => Matter::Nothing,
    }
}

/// The kind of objects that may scale others at fixed times.
const SCHEDULING: &[u8] = b"CronJob";

/// Returns whether a file has a command that scales workloads.
fn scales_at_times(text: &[u8]) -> bool {
    has(text, b"scale") && has(text, b"replicas") && (has(text, b"kubectl") || has(text, b"oc "))
}

/// Returns whether the text has a Kustomization of Flux, which a cluster applies.
fn is_of_flux(text: &[u8]) -> bool {
    has(text, b"toolkit.fluxcd.io") || has(text, FILLED_IN)
}

fn has(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

/// Returns whether the text contains a resource key of an accelerator.
pub(in crate::kubernetes) fn names_devices(text: &[u8]) -> bool {
    WORDS.needles.any(text, |which, _| which < WORDS.anywhere)
}

/// Returns whether other files may name its objects, or it has a comment for gpulint.
pub(in crate::kubernetes) fn may_be_joined(document: &[u8]) -> bool {
    look(document) != Matter::Nothing || memchr::memmem::find(document, b"gpulint").is_some()
}

/// Returns whether all its documents are of kinds that request nothing. Schemas of custom resources mention everything
/// that pods may have.
pub(in crate::kubernetes) fn is_idle(text: &[u8]) -> bool {
    if !has(text, IDLE_MARK) || has(text, b"gpulint") || unusual_breaks(text).next().is_some() {
        return false;
    }
    let mut document = Idleness::default();
    let mut any = false;
    for line in lines(text) {
        let opens = line.strip_prefix(b"---").filter(|rest| rest.first().is_none_or(u8::is_ascii_whitespace));
        if let Some(rest) = opens {
            if !document.is_sure() || !is_blank(rest) {
                return false;
            }
            any |= document.says_kind;
            document = Idleness::default();
        } else if !document.take(line) {
            return false;
        }
    }
    document.is_sure() && (any || document.says_kind)
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    ends.map(move |end| text.get(std::mem::replace(&mut start, end + 1)..end).unwrap_or_default())
}

/// Returns whether a line is blank or a comment.
fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii_start().first().is_none_or(|byte| *byte == b'#')
}

/// The state after some lines of a document in block style, whose keys start their lines. `kind` is certain if no
/// multi-line scalar can have started before it, and no line may be another form of a key.
#[derive(Default)]
struct Idleness {
    has_content: bool,
    says_kind: bool,
}

impl Idleness {
    fn is_sure(&self) -> bool {
        self.says_kind || !self.has_content
    }

    /// Returns whether the document may still be idle after this line.
    fn take(&mut self, line: &[u8]) -> bool {
        let first = match line.first() {
            None => return true,
            Some(b'#' | b'\r') => return true,
            // A directive of a template.
            Some(b'{') if line.starts_with(b"{{") && line.trim_ascii_end().ends_with(b"}}") => return true,
            Some(first) => *first,
        };
        if !self.has_content && first.is_ascii_whitespace() && is_blank(line) {
            return true;
        }
        let is_first = !std::mem::replace(&mut self.has_content, true);
        if !self.says_kind && line.iter().any(|byte| b"\"'{[|>".contains(byte)) {
            return false;
        }
        match first {
            b'k' if line.starts_with(b"kind") => {
                let EscapedKey::Of(value) = normalized::key(line.get(b"kind".len()..).unwrap_or_default()) else {
                    return true;
                };
                self.says_kind = true;
                matches!(normalized::given(value), GivenValue::Word(kind) if IDLE_KINDS.contains(kind))
            }
            b'-' | b' ' | b'\t' => !is_first,
            _ => first.is_ascii_alphabetic(),
        }
    }
}

/// Returns the values after each `kind:` of a text. If this string also occurs elsewhere, any word may be a kind.
fn kinds_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut words = None;
    let mut places = memchr::memmem::find_iter(text, b"kind");
    let mut alias = None;
    std::iter::from_fn(move || {
        loop {
            if let Some(word) = words.as_mut().and_then(Iterator::next) {
                return Some(word);
            }
            let behind = text.get(places.next()? + b"kind".len()..).unwrap_or_default();
            let elsewhere = match normalized::key(behind) {
                EscapedKey::No => false,
                EscapedKey::Alone => *alias.get_or_insert_with(|| has_key_alias(text)),
                EscapedKey::Of(value) => match normalized::given(value) {
                    GivenValue::Word(word) => return Some(word),
                    GivenValue::Elsewhere => true,
                    GivenValue::Other => false,
                },
            };
            if elsewhere && words.is_none() {
                words = Some(names_in(text));
            }
        }
    })
}

/// Returns words that may be names of kinds.
fn names_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| word.first().is_some_and(u8::is_ascii_uppercase))
}

/// Search words. Every file with a resource key of an accelerator contains at least one of them.
struct Words {
    needles: Needles,
    /// The number of words that count in any place. The others only count as keys.
    anywhere: usize,
    /// The keys that each other word can begin.
    keys: Vec<Vec<&'static str>>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let words: BTreeSet<&str> = DEVICES.words().chain([CLAIM, RUNTIME]).collect();
    // A word that contains another one is found by the shorter one. A search for few words is faster.
    let has_other = |word: &str| words.iter().any(|other| *other != word && word.contains(other));
    let mut needles: Vec<String> =
        words.iter().filter(|word| !has_other(word)).map(|word| (*word).to_owned()).collect();
    let mut words = Words { needles: Needles::Everywhere, anywhere: needles.len(), keys: Vec::new() };
    let kinds = KINDS.known().iter().filter(|it| it.has_shape() && !it.is_claimed() && it.describes_something());
    let keys = kinds.filter_map(|kind| kind.row().has.last()?.0.first()?.last_key());
    let keys: BTreeSet<&str> = keys.chain(CUSTOM_KEYS).collect();
    // Keys are extended by the next character, because words of four letters are found faster than shorter ones. A
    // longer key is found by its beginning, if this is a key, too.
    let is_short = |key: &str| key.len() < 4;
    let begins_with_other = |key: &str| keys.iter().any(|it| !is_short(it) && *it != key && key.starts_with(it));
    let own = keys.iter().filter(|key| !begins_with_other(key));
    for (key, behind) in own.flat_map(|key| BEHIND_KEYS.map(|behind| (*key, behind))) {
        let needle = if is_short(key) { format!("{key}{behind}") } else { key.to_owned() };
        if !needles.contains(&needle) {
            needles.push(needle);
            words.keys.push(keys.iter().filter(|it| it.starts_with(key)).copied().collect());
        }
    }
    Words { needles: Needles::new(&needles), ..words }
});

impl Words {
    fn any_in(&self, text: &[u8]) -> bool {
        let alias = OnceCell::new();
        let is_key = |word: &str, at: usize| match normalized::key(text.get(at + word.len()..).unwrap_or_default()) {
            EscapedKey::No => false,
            EscapedKey::Alone => *alias.get_or_init(|| has_key_alias(text)),
            EscapedKey::Of(_) => true,
        };
        let keys = |which: usize| self.keys.get(which.checked_sub(self.anywhere)?);
        let is_at = |word: &str, at: usize| text.get(at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        let counts = |word: &&str, at: usize| is_at(word, at) && is_key(word, at);
        self.needles.any(text, |which, at| keys(which).is_none_or(|words| words.iter().any(|word| counts(word, at))))
    }
}

/// The relevance of supported kinds that request accelerators without a resource key.
static TELLING_KINDS: LazyLock<HashMap<&'static [u8], Matter>> = LazyLock::new(|| {
    let mut kinds: HashMap<&[u8], Matter> = HashMap::new();
    for (kinds_of, matter) in [
        (&["ConfigMap", "List"][..], Matter::Configures),
        (&["CronJob"][..], Matter::Scales),
        (&["ResourceClaim", "ResourceClaimTemplate", "DeviceClass"][..], Matter::Scales),
        (&["LocalQueue", "ClusterQueue", "ResourceFlavor"][..], Matter::Scales),
        (&["PersistentVolumeClaim", "StorageClass", "EC2NodeClass"][..], Matter::Scales),
    ] {
        kinds.extend(kinds_of.iter().map(|kind| (kind.as_bytes(), matter)));
    }
    let known = || KINDS.known().iter();
    kinds.extend(known().filter(|it| it.is_joined()).map(|it| (it.kind.as_bytes(), Matter::Scales)));
    kinds.extend(known().filter(|it| it.asks_in_other_words()).map(|it| (it.kind.as_bytes(), Matter::Asks)));
    kinds
});

/// Kinds that only describe other kinds, so they request nothing.
static IDLE_KINDS: LazyLock<HashSet<&'static [u8]>> =
    LazyLock::new(|| KINDS.known().iter().filter(|it| it.is_schema()).map(|it| it.kind.as_bytes()).collect());

/// Names of ConfigMaps that texts use.
pub(in crate::kubernetes) struct ConfigMapNames {
    pattern: Option<Regex>,
}

impl ConfigMapNames {
    pub(in crate::kubernetes) fn used(texts: impl Iterator<Item = Arc<str>>) -> Self {
        const SIZE_LIMIT: usize = 64 << 20;
        let mut names = BTreeSet::new();
        for text in texts {
            for found in REFERENCES.captures_iter(text.as_bytes()) {
                let name = found.get(1).map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
                names.extend(name.map(|name| regex::escape(&name)));
            }
        }
        if names.is_empty() {
            return ConfigMapNames { pattern: None };
        }
        let pattern = names.into_iter().collect::<Vec<_>>().join("|");
        ConfigMapNames { pattern: RegexBuilder::new(&pattern).size_limit(SIZE_LIMIT).build().ok() }
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
        for word in DEVICES.words().chain([CLAIM, RUNTIME]).chain(CUSTOM_KEYS) {
            assert!(WORDS.any_in(format!("  {word}: 1").as_bytes()), "{word}");
        }
        assert!(!WORDS.any_in(b"  acceleratorsOff: 1, gpuless: 2"));
    }

    /// The search uses only the first of these keys, so all alternatives must end in the same key.
    #[test]
    fn the_last_alternatives_of_a_row_end_in_one_key() {
        for row in KINDS.rows().filter(|row| !row.claimed) {
            let keys: BTreeSet<_> = row.has.last().iter().flat_map(|has| &has.0).map(|path| path.last_key()).collect();
            assert!(keys.len() <= 1, "{}: {keys:?}", row.kind);
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
            ("kind: CustomResourceDefinition\n\"kind\": Pod\nnvidia.com/gpu: 1\n", Matter::Asks),
            ("kind: CustomResourceDefinition\n? kind\n: Pod\nnvidia.com/gpu: 1\n", Matter::Asks),
            ("kind: CustomResourceDefinition\nkind: &a Pod\nnvidia.com/gpu: 1\n", Matter::Asks),
            ("a: \"\nkind: CustomResourceDefinition\n\"\n\"kind\": Pod\nnvidia.com/gpu: 1\n", Matter::Asks),
            ("  'kind': Pod\n  a: '\nkind: CustomResourceDefinition\n'\n  nvidia.com/gpu: 1\n", Matter::Asks),
            ("kind: CustomResourceDefinition\nkind: CustomResourceDefinition\n---\nnvidia.com/gpu: 1", Matter::Asks),
            (
                "# a\n---\n# it's\napiVersion: a/v1\nkind: CustomResourceDefinition\nspec:\n- \"nvidia.com/gpu\"\n---\n",
                Matter::Nothing,
            ),
            ("\"nvidia.com\\x2fgpu\": 1", Matter::Asks),
            ("'requestGPU' : 1", Matter::Asks),
            ("? gpu\n: 1", Matter::Asks),
            ("a: &k gpu\n*k : 1", Matter::Asks),
            ("a gpu is fast", Matter::Nothing),
            ("'kind': NodePool\n", Matter::Asks),
            ("? kind\n: NodePool\n", Matter::Asks),
            ("kind:\n  # a\n  !!str &x >-\n  NodePool\n", Matter::Asks),
            ("a: &x NodePool\nkind: *x\n", Matter::Asks),
            ("a: &x kind\n*x : NodePool\n", Matter::Asks),
            ("\"\\u006bind\": \"N\\x6fdePool\"", Matter::Asks),
            ("kind: !!binary Tm9kZVBvb2w=", Matter::Asks),
            ("{\"kind\"\n: \"NodePool\"}", Matter::Asks),
            ("kind:\n  description: NodePool\n", Matter::Nothing),
        ] {
            assert_eq!(look(text.as_bytes()), matter, "{text}");
        }
    }

    #[test]
    fn names_of_configuration_maps_are_found_where_they_are_used() {
        let text = "envFrom:\n  - configMapRef:\n      name: agent\nx: {configMapKeyRef: {key: K, name: \"model\"}}\n";
        let names = ConfigMapNames::used([Arc::from(text)].into_iter());
        assert!(names.any_in(b"name: agent"));
        assert!(names.any_in(b"name: model"));
        assert!(!names.any_in(b"name: other"));
    }
}
