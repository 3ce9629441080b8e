//! Creates disguises around a text: other encodings, other names, links, and files that configure other programs, git
//! or gpulint.

use super::{Choice, Pair, file};

/// A placeholder in file names for a byte that is not UTF-8.
pub(crate) const NO_UTF_8: char = '\u{f8ff}';

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
                       oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";

fn is_text(path: &str) -> bool {
    ["tf", "tofu", "yaml", "yml"].iter().any(|end| path.ends_with(&format!(".{end}")))
}

/// Returns whether other programs read a part of the path by its fixed name.
fn has_fixed_name(path: &str) -> bool {
    ["kustomization", "Kustomization", "Chart.yaml", "templates/", "override"].iter().any(|part| path.contains(part))
}

/// Encodes the same text in other bytes.
pub(super) fn in_other_bytes(pair: &mut Pair, choice: &mut Choice) {
    let (name, write): (&'static str, fn(&str) -> Vec<u8>) = match choice.below(9) {
        0 => ("lines end as on Windows", |text| text.replace('\n', "\r\n").into_bytes()),
        1 => ("a mark of byte order", |text| format!("\u{feff}{text}").into_bytes()),
        2 => ("empty lines before and after", |text| format!("\n\n\n{text}\n\n\n").into_bytes()),
        3 if pair.head.iter().all(|(path, _)| path.ends_with(".yaml") && !has_fixed_name(path)) => {
            ("UTF-16", |text| "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect())
        }
        _ => return,
    };
    for (path, bytes) in &mut pair.head {
        if let (true, Ok(text)) = (is_text(path), std::str::from_utf8(bytes)) {
            *bytes = write(text);
        }
    }
    pair.tell(name);
}

/// Moves the new text to another name, or behind a link.
pub(super) fn under_other_names(pair: &mut Pair, choice: &mut Choice) {
    let known: Vec<String> = pair.base.iter().map(|(path, _)| path.clone()).collect();
    let is_new = |path: &str| is_text(path) && !has_fixed_name(path);
    // Selects a new file that no other file names, in the directory of an existing one.
    let Some(at) = pair.head.iter().position(|(path, _)| is_new(path) && !known.contains(path)) else { return };
    let (path, bytes) = pair.head[at].clone();
    let is_named = path.contains('/') || pair.head.iter().any(|(other, _)| has_fixed_name(other));
    let name = path.rsplit('/').next().unwrap_or(&path);
    match choice.below(8) {
        0 if !is_named => {
            pair.head[at].0 = format!("{NO_UTF_8}{name}");
            pair.tell("a name that is no UTF-8");
        }
        1 => {
            let target = format!("{}.text", name.trim_start_matches('.'));
            let place = path.strip_suffix(name).unwrap_or_default();
            pair.head[at] = (format!("{place}{target}"), bytes);
            pair.links.push((path, target));
            pair.tell("a link to a file of another ending");
        }
        2 => {
            pair.head[at].1 = POINTER.into();
            pair.tell("a Git LFS pointer");
        }
        3 if !is_named => {
            pair.head[at].0 = format!("-\u{202e}\u{1b}[2K$(x);{name}");
            pair.tell("a name with marks for terminals and shells");
        }
        _ => {}
    }
}

/// Adds files that configure other programs, git or gpulint.
pub(super) fn beside_others(pair: &mut Pair, choice: &mut Choice) {
    let (name, file): (&'static str, _) = match choice.below(16) {
        0 => ("git ignores everything", file(".gitignore", "*\n")),
        1 => ("other tools ignore everything", file(".ignore", "*\n")),
        2 => (
            "git calls it binary and leaves it out of archives",
            file(".gitattributes", "* binary export-ignore linguist-generated\n"),
        ),
        3 => ("settings of the change", file("gpulint.toml", "ignore = [\"mine\"]\nexclude = [\"**\"]\n")),
        4 => (
            "a baseline of the change",
            file(".gpulint-baseline.json", "{\"version\": 1, \"entries\": [{\"rule\": \"mine\"}]}\n"),
        ),
        5 => ("Terraform's own list of ignored files", file(".terraformignore", "*\n")),
        6 => ("Helm's own list of ignored files", file(".helmignore", "*\n")),
        7 => ("a list of submodules", file(".gitmodules", "[submodule \"x\"]\n\tpath = .\n\turl = ./x\n")),
        _ => return,
    };
    pair.head.push(file);
    pair.tell(name);
}

/// Adds more below an accepted machine or number of pods. The addition is not accepted.
pub(super) fn below_a_suppression(pair: &mut Pair, choice: &mut Choice) {
    if choice.below(6) != 0 {
        return;
    }
    let accepted = |bytes: &[u8]| [b"# gpulint: ignore-file[mine] -- small\n", bytes].concat();
    let all: Vec<String> = pair.base.iter().filter(|(path, _)| is_text(path)).map(|(path, _)| path.clone()).collect();
    for (path, bytes) in pair.base.iter_mut().chain(&mut pair.head) {
        if all.contains(path) && !bytes.starts_with(b"%") {
            *bytes = accepted(bytes);
        }
    }
    pair.tell("below a suppression of the base");
}
