//! Detects the language of a file: first by its structure, and by words in it only if no structure decides.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::source::Needles;

use super::{LANGUAGES, Language, NOTEBOOKS, PYTHON, ROOT_OF_MANIFEST, Reader, is_called, languages_of_name};

/// The bytes of a program that are searched for imports, because repositories have thousands of programs.
pub(crate) const HEAD_OF_PROGRAM: usize = 8 << 10;

/// The marks of all data languages, for one search.
static MARKS: LazyLock<(Needles, Vec<&'static Language>)> = LazyLock::new(|| {
    let data = LANGUAGES.iter().filter(|it| it.names.is_empty());
    let (marks, languages): (Vec<&str>, Vec<&Language>) =
        data.flat_map(|it| it.marks.iter().map(move |mark| (*mark, it))).unzip();
    (Needles::new(&marks), languages)
});

/// The bytes in which the keys of a manifest begin.
const HEAD: usize = 4096;

/// Returns the language of data that is not a manifest.
pub fn claim(path: &str, text: &[u8]) -> Option<&'static Language> {
    let called = called(path);
    if called.is_some_and(|it| !it.asks_in_own_words()) {
        return called;
    }
    let head = text.get(..HEAD).unwrap_or(text);
    let is_json = path.ends_with(".json");
    if !is_json && ROOT_OF_MANIFEST.iter().all(|key| has_line(head, key.as_bytes())) {
        return None;
    }
    let marked = marked(text);
    if marked.is_empty() {
        return called;
    }
    let has_keys = |keys: &[&str]| keys.iter().all(|key| has_root_key(text, key.as_bytes()));
    if is_json && has_keys(ROOT_OF_MANIFEST) {
        return None;
    }
    // A template may contain any words, so the keys at its root count more.
    let read = marked.iter().find(|it| it.reader != Reader::None && has_keys(it.root_keys));
    // The first language in the table wins: a pipeline that creates machines ranks before any pipeline.
    let is_whole = |it: &&&Language| !it.needs_its_root_keys() || has_keys(it.root_keys);
    read.or(marked.iter().find(is_whole)).copied().or(called)
}

/// Returns true if the root of a text has the keys that identify its language.
pub(crate) fn has_root_keys(language: &Language, text: &[u8]) -> bool {
    language.root_keys.iter().all(|key| has_root_key(text, key.as_bytes()))
}

/// Returns the languages with a mark in a text, in the order of the table.
fn marked(text: &[u8]) -> Vec<&'static Language> {
    let (marks, languages) = &*MARKS;
    let found = RefCell::new(BTreeSet::new());
    marks.any(text, |mark, _| {
        found.borrow_mut().insert(mark);
        false
    });
    let mut all: Vec<&'static Language> = Vec::new();
    for language in found.into_inner().into_iter().filter_map(|mark| languages.get(mark)) {
        if all.last().is_none_or(|last| !std::ptr::eq(*last, *language)) {
            all.push(language);
        }
    }
    all
}

/// Returns the part of a file name that affects the language of its text. Two files with equal texts and equal parts
/// have the same language.
pub(crate) fn class_of_data(path: &str) -> [u8; 2] {
    [called(path).map_or(0, Language::number), u8::from(path.ends_with(".json"))]
}

/// The names of modules that mark Python programs, for one search.
static IMPORTS: LazyLock<Needles> = LazyLock::new(|| {
    let programs = LANGUAGES.iter().filter(|it| it.names == PYTHON);
    Needles::new(&programs.flat_map(|it| it.marks.iter().copied()).collect::<Vec<&str>>())
});

/// Returns the languages of a file whose name is not one of data.
pub(crate) fn languages_of_script(path: &str, text: &[u8]) -> Vec<&'static Language> {
    // Most Python programs have none of the marks.
    if path.ends_with(".py") && !IMPORTS.any(text, |_, _| true) {
        return Vec::new();
    }
    let is_marked = |it: &&Language| it.marks.is_empty() || it.marks.iter().any(|mark| has(text, mark.as_bytes()));
    all_called(path).filter(is_marked).collect()
}

/// Returns true if only few of many such files are relevant, which their first bytes show.
pub(crate) fn is_program(path: &str) -> bool {
    PYTHON.iter().chain(NOTEBOOKS).any(|name| is_called(path, name))
}

/// Returns true if the name of a file belongs to one language and not to data.
pub(crate) fn is_named_apart(path: &str) -> bool {
    called(path).is_some_and(|it| {
        const DATA: [&str; 4] = [".yaml", ".yml", ".json", ".gotmpl"];
        !it.names.iter().any(|name| DATA.iter().any(|ending| name.ends_with(ending)))
    })
}

fn called(path: &str) -> Option<&'static Language> {
    all_called(path).next()
}

fn all_called(path: &str) -> impl Iterator<Item = &'static Language> {
    let by_text = [Reader::Terraform, Reader::Kubernetes, Reader::Companion];
    languages_of_name(path).filter(move |it| !by_text.contains(&it.reader))
}

fn has(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

fn has_line(text: &[u8], key: &[u8]) -> bool {
    let is_key = |at: usize| (at == 0 || text.get(at - 1) == Some(&b'\n')) && text.get(at + key.len()) == Some(&b':');
    memchr::memmem::find_iter(text, key).any(is_key)
}

/// Returns true if the mapping at the root has a key: in block style at the start of a line, else between its braces.
fn has_root_key(text: &[u8], key: &[u8]) -> bool {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    match text.iter().position(|byte| !byte.is_ascii_whitespace()) {
        Some(at) if text.get(at) == Some(&b'{') => root_keys_of_json(text.get(at + 1..).unwrap_or_default(), key),
        _ => {
            let quoted = |quote: u8| [&[quote], key, &[quote]].concat();
            has_line(text, key) || [b'"', b'\''].iter().any(|quote| has_line(text, &quoted(*quote)))
        }
    }
}

/// Returns true if the root of JSON has a key; the search starts after the opening brace. Strings are skipped, so that
/// none of them looks like a key.
fn root_keys_of_json(text: &[u8], key: &[u8]) -> bool {
    let (mut depth, mut at, mut may_be_key) = (0_usize, 0, true);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' | b'\'' => {
                let start = at + 1;
                at = start;
                while let Some(inside) = text.get(at).filter(|inside| *inside != byte) {
                    at += if *inside == b'\\' { 2 } else { 1 };
                }
                if depth == 0 && may_be_key && text.get(start..at) == Some(key) {
                    return true;
                }
                may_be_key = false;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            b',' => may_be_key = true,
            byte if byte.is_ascii_whitespace() => {}
            _ if depth == 0 && may_be_key => {
                let rest = text.get(at..).unwrap_or_default();
                if rest.strip_prefix(key).is_some_and(|rest| rest.trim_ascii_start().first() == Some(&b':')) {
                    return true;
                }
                may_be_key = false;
            }
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(path: &str, text: &str) -> Option<&'static str> {
        claim(path, text.as_bytes()).map(|it| it.name)
    }

    #[test]
    fn data_is_told_by_its_words_and_manifests_are_ours() {
        assert_eq!(data("a.yaml", "Resources:\n  A: { Type: AWS::EC2::Instance }\n"), Some("CloudFormation"));
        assert_eq!(data("a.yaml", "apiVersion: v1\nkind: ConfigMap\ndata: { a: AWS:: }\n"), None);
        assert_eq!(data("a.yaml", "text: |\n  apiVersion: v1\n  kind: A\nb: AWS::A\n"), Some("CloudFormation"));
        assert_eq!(data("values.yaml", "replicas: 1\n"), None);
        assert_eq!(data("x/docker-compose.yml", "services: {}\n"), Some("Docker Compose"));
        assert_eq!(data("x/my-docker-compose.yml", "services: {}\n"), None);
    }

    #[test]
    fn a_root_says_more_than_words_in_a_text() {
        let template = "Resources:\n  A:\n    Type: AWS::EC2::Instance\n    # gcloud compute instances create\n";
        assert_eq!(data("a.yaml", template), Some("CloudFormation"));
        let json = r#"{"Description": "az vm create", "Resources": {"A": {"Type": "AWS::EC2::Instance"}}}"#;
        assert_eq!(data("a.json", json), Some("CloudFormation"));
        let arm = r#"{"$schema": "https://a/deploymentTemplate.json#", "metadata": {"note": "az vm create"}}"#;
        assert_eq!(data("a.json", arm), Some("an Azure template"));
        assert_eq!(data("ci.yaml", "steps:\n  - az vm create\n"), Some("a pipeline that creates machines"));
        let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {"a": "AWS::EC2"}}}"#;
        assert_eq!(data("pod.json", pod), None);
        let inside = r#"{"a": {"apiVersion": "v1", "kind": "Pod"}, "b": "AWS::EC2"}"#;
        assert_eq!(data("a.json", inside), Some("CloudFormation"));
    }

    #[test]
    fn keys_of_a_root_are_found_in_every_style() {
        let has = |text: &str| has_root_key(text.as_bytes(), b"kind");
        for text in
            ["kind: a", "a: 1\n\"kind\": a", "{kind: a}", "{\"a\": [1, {\"b\": 2}], 'kind' : a}", "\u{feff}kind: a"]
        {
            assert!(has(text), "{text}");
        }
        for text in [
            "  kind: a",
            "{\"a\": {\"kind\": 1}}",
            "{\"a\": \"kind\"}",
            "kinds: a",
            "{\"a\": \"\\\"kind\": 1\"}",
            "",
            "{",
        ] {
            assert!(!has(text), "{text}");
        }
    }

    #[test]
    fn scripts_count_where_they_create_something() {
        let script = |text: &str| languages_of_script("up.sh", text.as_bytes()).first().map(|it| it.name);
        assert_eq!(script("gcloud compute instances create a"), Some("a shell script"));
        assert_eq!(script("gcloud compute instances list # l4"), None);
        assert!(is_named_apart("up.sh") && is_named_apart("a.bicep") && is_named_apart("a.nomad.hcl"));
        assert!(is_named_apart("a/b.jsonnet") && !is_named_apart("a/cdk.json"));
        assert!(!is_named_apart("Pulumi.yaml") && !is_named_apart("a.yaml") && !is_named_apart("terragrunt.hcl"));
    }
}
