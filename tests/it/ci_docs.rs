//! Tests the configuration in `docs/ci`: it can be parsed, and uses only existing inputs, outputs, hooks and options.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::fences;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn pages() -> Vec<(String, String)> {
    let directory = Path::new(ROOT).join("docs/ci");
    let mut pages: Vec<(String, String)> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    pages.sort();
    assert!(pages.len() > 5);
    pages
}

/// Returns all YAML of all pages. A part of a list of steps is indented, and counts as one document, too.
fn documents() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, text) in pages() {
        for fence in fences::read(&text).iter().filter(|fence| fence.language == "yaml") {
            let value =
                serde_saphyr::from_str(&fence.text).unwrap_or_else(|error| panic!("{name}: {error}\n{}", fence.text));
            found.push((name.clone(), value));
        }
    }
    found
}

fn yaml(file: &str) -> Value {
    serde_saphyr::from_str(&fs::read_to_string(Path::new(ROOT).join(file)).unwrap()).unwrap()
}

/// Returns all objects in a value that have this key.
fn with_key<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(object) => {
            if object.contains_key(key) {
                found.push(value);
            }
            object.values().for_each(|inner| with_key(inner, key, found));
        }
        Value::Array(items) => items.iter().for_each(|inner| with_key(inner, key, found)),
        _ => {}
    }
}

#[test]
fn workflows_use_inputs_that_the_action_has() {
    let action = yaml("action.yml");
    let mut count = 0;
    for (name, document) in documents() {
        let mut steps = Vec::new();
        with_key(&document, "uses", &mut steps);
        for step in steps.iter().filter(|step| step["uses"].as_str().unwrap().starts_with("gpulint/gpulint@")) {
            count += 1;
            for input in step["with"].as_object().into_iter().flat_map(|with| with.keys()) {
                assert!(action["inputs"].get(input).is_some(), "{name}: `{input}` is no input");
            }
        }
    }
    assert!(count >= 3);
}

/// The tables of inputs and outputs match `action.yml`.
#[test]
fn the_page_on_github_lists_every_input_and_output() {
    let action = yaml("action.yml");
    let path = Path::new(ROOT).join("docs/ci/github-inputs.md");
    let page = fs::read_to_string(&path).unwrap();
    let rows = |key: &str| {
        let all = action[key].as_object().unwrap().iter();
        all.map(|(name, it)| {
            (name.clone(), it["default"].as_str().map(code), it["description"].as_str().unwrap().to_owned())
        })
        .collect::<Vec<_>>()
    };
    let inputs: String = rows("inputs")
        .into_iter()
        .map(|(name, default, meaning)| {
            format!("| `{name}` | {} | {meaning} |\n", default.expect("every input has a default"))
        })
        .collect();
    let outputs: String =
        rows("outputs").into_iter().map(|(name, _, meaning)| format!("| `{name}` | {meaning} |\n")).collect();
    let mut should = String::new();
    for line in page.split_inclusive('\n').filter(|line| !line.starts_with("| `")) {
        should.push_str(line);
        match line.trim_end() {
            "|---|---|---|" => should.push_str(&inputs),
            "|---|---|" => should.push_str(&outputs),
            _ => {}
        }
    }
    assert!(should.contains(&inputs) && should.contains(&outputs), "the page has no place for the tables");
    if fences::blessing() {
        fs::write(path, should).unwrap();
        return;
    }
    assert!(page == should, "docs/ci/github-inputs.md is out of date: GPULINT_BLESS=1 cargo test writes it");
}

/// Returns a default as code, or an empty string.
fn code(default: &str) -> String {
    if default.is_empty() { String::new() } else { format!("`{default}`") }
}

/// A recipe names the version that it was written for.
#[test]
fn recipes_name_this_version() {
    let mut count = 0;
    for (name, text) in pages() {
        for (before, after) in [
            ("gpulint/gpulint@v", ' '),
            (" # frozen: v", '\n'),
            ("gpulint==", ' '),
            ("/releases/download/v", '/'),
            ("refs/tags/v", '\n'),
        ] {
            for named in text.split(before).skip(1) {
                let version = named.split([after, '\n', ']']).next().unwrap();
                assert_eq!(version, env!("CARGO_PKG_VERSION"), "{name}: {before}{version}");
                count += 1;
            }
        }
    }
    assert!(count > 12, "only {count} versions");
}

/// The placeholder for the commit of a release. `packaging/pin.sh` writes both.
const PLACEHOLDER: &str = "<commit of the release>";

/// Returns the text that readers see.
fn shown(text: &str) -> String {
    let mut parts = text.split("<!--");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |shown, part| shown + part.split_once("-->").expect("a comment ends").1)
}

/// A copied recipe runs bytes that cannot change: it names actions and hooks by commit, with the version after it.
#[test]
fn recipes_name_actions_and_hooks_by_commits() {
    let mut own = Vec::new();
    let mut others = 0;
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    for (name, text) in pages().into_iter().chain([("README.md".to_owned(), readme)]) {
        for line in shown(&text).lines() {
            let line = line.trim_start_matches([' ', '-']);
            let Some((key, value)) = line.split_once(": ").filter(|(key, _)| ["uses", "rev"].contains(key)) else {
                continue;
            };
            let (reference, comment) = value.split_once(" # ").unwrap_or_else(|| panic!("{name}: no version: {line}"));
            let commit = reference.rsplit('@').next().unwrap();
            let is_hash = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
            if key == "rev" || reference.starts_with("gpulint/gpulint@") {
                assert!(is_hash || commit == PLACEHOLDER, "{name}: {line}");
                assert_eq!(comment.trim_start_matches("frozen: v").trim_start_matches('v'), env!("CARGO_PKG_VERSION"));
                own.push(commit.to_owned());
            } else {
                assert!(is_hash && comment.starts_with('v'), "{name}: {line}");
                others += 1;
            }
        }
    }
    assert!(own.len() > 8 && others > 8, "{own:?}, {others} others");
    own.dedup();
    assert_eq!(own.len(), 1, "all recipes are of one release");
    for page in ["README.md", "github.md"] {
        let text = fs::read_to_string(Path::new(ROOT).join("docs/ci").join(page)).unwrap();
        assert!(text.contains(&format!("`{PLACEHOLDER}`")), "{page} says what the placeholder stands for");
    }
}

/// A program cannot contain the commit of its own release. Only in this, `gpulint init` differs from the recipe of the
/// page.
#[test]
fn init_writes_the_recipe_of_the_page_with_the_tag() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/ci/github.md")).unwrap();
    let fences = fences::read(&page);
    let [written, recipe] = &fences[..2] else { panic!("two recipes") };
    let differ: Vec<_> = written.text.lines().zip(recipe.text.lines()).filter(|(one, other)| one != other).collect();
    assert_eq!(written.text.lines().count(), recipe.text.lines().count());
    assert_eq!(differ.len(), 1, "{differ:?}");
    let (tag, commit) = differ[0];
    assert!(tag.contains("uses: gpulint/gpulint@v") && commit.contains("uses: gpulint/gpulint@"), "{differ:?}");
}

#[test]
fn hooks_exist_and_take_the_same_files() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let named = |id: &str| hooks.as_array().unwrap().iter().find(|hook| hook["id"] == id);
    for (name, document) in documents() {
        let mut repositories = Vec::new();
        with_key(&document, "hooks", &mut repositories);
        for hook in repositories.iter().flat_map(|repository| repository["hooks"].as_array().unwrap()) {
            let Some(known) = named(hook["id"].as_str().unwrap()) else { panic!("{name}: {}", hook["id"]) };
            for key in ["files", "entry"] {
                assert!(hook.get(key).is_none_or(|value| *value == known[key]), "{name}: `{key}` of the hook differs");
            }
        }
    }
}

#[test]
fn commands_have_options_that_exist() {
    let mut count = 0;
    for (name, text) in pages() {
        let fences = fences::read(&text);
        let lines = fences.iter().filter(|fence| ["sh", "yaml"].contains(&fence.language.as_str()));
        for line in lines.flat_map(|fence| fence.text.lines()) {
            let Some(command) = command(line) else { continue };
            count += 1;
            let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(&command).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {line}\n{said}");
        }
    }
    assert!(count > 10, "only {count} commands were found");
}

/// Returns the arguments of gpulint in a shell line, with `--help` at the end. Everything before is parsed first.
fn command(line: &str) -> Option<Vec<String>> {
    let (before, rest) = line.split_once("gpulint ")?;
    if !(before.trim_start_matches([' ', '-']).is_empty() || before.ends_with([' ', ';'])) || line.contains("install") {
        return None;
    }
    let rest = rest.split(" #").next()?.split(" ||").next()?.split(';').next()?;
    let mut words: Vec<String> = rest.split_whitespace().map(|word| word.trim_matches('"').to_owned()).collect();
    let verb = words.first()?;
    if !["check", "diff", "comment", "report", "history"].contains(&verb.as_str()) {
        return None;
    }
    words.retain(|word| word != "--");
    // The value of a shell variable is checked before the help is printed.
    for (option, value) in [("--month", "2026-10"), ("--url", "https://acme.example/page.html")] {
        if let Some(at) = words.iter().position(|word| word == option) {
            words[at + 1] = value.to_owned();
        }
    }
    words.push("--help".to_owned());
    Some(words)
}
