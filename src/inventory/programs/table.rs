//! Defines the entries of `programs.toml`: how to recognize programs, and what their flags mean.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use super::super::key::Key;
use super::super::snake_case::snake_case;
use super::super::terms::Task;

/// `programs.toml` as JSON, converted by the build script.
const TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/programs.json"));

/// The table, read once on first use.
pub(super) static TABLE: LazyLock<ProgramTable> = LazyLock::new(|| ProgramTable::read(TEXT));

/// The target of an argument, variable or setting: a fact, or a string that a special reader parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclaredTarget {
    Key(Key),
    Reader(TextReader),
}

/// String that contains more than one fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextReader {
    /// `tensorrt_llm-h100-fp8-tp4-pp1-throughput`
    Profile,
    /// Further arguments of the same program in one string.
    Arguments,
    /// `{"model": …, "num_speculative_tokens": …}`
    Speculation,
    /// The path of a DeepSpeed configuration: `ds_z3_offload.json`.
    Deepspeed,
    /// `full_shard auto_wrap offload`
    Fsdp,
    /// A key such as `optimizer_offload`: the path contains the key, and the value turns it on or off.
    OffloadOptimizer,
    OffloadWeights,
    OffloadActivations,
    /// The program applies and drops each gradient while it computes the next one.
    DropGradients,
    /// The path of a settings file for the same program.
    File,
    /// The path of a settings file whose name may show how training is sharded.
    ShardingFile,
    /// The name of a recipe or configuration: `llama3_1/70B_lora`, `full_finetune_distributed`.
    Recipe,
}

/// The rank of a place: a smaller number overrides a larger one.
pub(super) type Rank = u16;

#[derive(Debug, Default)]
pub(super) struct KnownProgram {
    pub(super) name: String,
    pub(super) task: Option<Task>,
    /// True if the path of the image names the model.
    pub(super) model_from_image: bool,
    pub(super) positional: Option<DeclaredTarget>,
    pub(super) flags: HashMap<String, (DeclaredTarget, Rank)>,
    pub(super) switches: HashMap<String, Vec<(Key, String)>>,
    /// Arguments without a value, so that the next word is separate.
    pub(super) bare: Vec<String>,
    pub(super) env: HashMap<String, (DeclaredTarget, Rank)>,
    /// Settings, by the last part of their path.
    pub(super) settings: HashMap<String, Vec<(String, DeclaredTarget, Rank)>>,
    pub(super) setting_switches: HashMap<String, Vec<(Key, String)>>,
    /// Facts that follow if a setting is off and nothing else sets them.
    pub(super) switched_off: HashMap<String, Vec<(Key, String)>>,
    pub(super) defaults: Vec<(Key, String)>,
    pub(super) values: BTreeMap<Key, BTreeMap<String, String>>,
    /// Whether the program launches another one and declares little itself.
    pub(super) launcher: bool,
    /// Images in which the command identifies this program. Its command alone does not.
    pub(super) inside: Vec<String>,
    /// Whether the command counts only in a container with accelerators, because it has many other uses.
    pub(super) only_accelerated: bool,
    /// Facts that the program chooses well itself.
    pub(super) chooses: Vec<Key>,
    /// The first long flag for each fact, in its original spelling.
    pub(super) spelled: BTreeMap<Key, String>,
}

#[derive(Debug, Default)]
pub(super) struct ProgramTable {
    pub(super) programs: Vec<KnownProgram>,
    /// Names that have the same meaning in every program.
    pub(super) generic: KnownProgram,
    pub(super) values: BTreeMap<Key, BTreeMap<String, String>>,
    /// Patterns of commands by their first word. Patterns that begin with a wildcard have an empty key.
    commands: HashMap<String, Vec<(Vec<String>, usize)>>,
    images: Vec<(String, usize)>,
    signatures: HashMap<String, usize>,
    not_images: Vec<String>,
    fetches: Vec<Vec<String>>,
    /// The variables of all programs.
    variables: HashSet<String>,
}

/// Facts that well-known labels declare. Separate from the programs, because nearly every run needs only the labels.
static LABELS: LazyLock<HashMap<String, Key>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct OnlyLabels {
        labels: BTreeMap<String, String>,
    }
    match serde_json::from_str::<OnlyLabels>(TEXT) {
        Ok(only) => labels(&only.labels),
        Err(why) => unreachable!("the embedded programs: {why}"),
    }
});

/// Returns the fact that a well-known label declares.
pub(super) fn label(name: &str) -> Option<Key> {
    LABELS.get(name).copied()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    not_images: String,
    fetches: Vec<String>,
    values: BTreeMap<String, BTreeMap<String, String>>,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test reads them"))]
    labels: BTreeMap<String, String>,
    generic: ProgramRow,
    program: Vec<ProgramRow>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ProgramRow {
    name: String,
    task: Option<Task>,
    like: Option<String>,
    images: String,
    inside: String,
    only_accelerated: bool,
    commands: Vec<String>,
    positional: Option<String>,
    model_from_image: bool,
    launcher: bool,
    chooses: String,
    signature: String,
    flags: BTreeMap<String, String>,
    switches: BTreeMap<String, String>,
    bare: String,
    env: BTreeMap<String, String>,
    settings: BTreeMap<String, String>,
    setting_switches: BTreeMap<String, String>,
    switched_off: BTreeMap<String, String>,
    defaults: BTreeMap<String, String>,
    values: BTreeMap<String, BTreeMap<String, String>>,
}

impl ProgramTable {
    /// Reads the built-in table. Invalid entries are skipped here, because a test checks all entries.
    fn read(text: &str) -> ProgramTable {
        let Ok(file) = serde_json::from_str::<TableFile>(text) else { return ProgramTable::default() };
        let rows: HashMap<&str, &ProgramRow> = file.program.iter().map(|row| (&*row.name, row)).collect();
        let mut table = ProgramTable {
            generic: KnownProgram::build(&file.generic, &rows),
            values: values(&file.values),
            fetches: file.fetches.iter().map(|it| it.split(' ').map(str::to_owned).collect()).collect(),
            not_images: file.not_images.split_whitespace().map(str::to_owned).collect(),
            ..ProgramTable::default()
        };
        for (index, row) in file.program.iter().enumerate() {
            table.programs.push(KnownProgram::build(row, &rows));
            table.images.extend(row.images.split_whitespace().map(|pattern| (pattern.to_owned(), index)));
            table.signatures.extend(row.signature.split_whitespace().map(|flag| (normalize_flag(flag), index)));
            for command in &row.commands {
                let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
                let first = words.first().filter(|word| !word.contains('*')).cloned().unwrap_or_default();
                table.commands.entry(first).or_default().push((words, index));
            }
        }
        for program in table.programs.iter().chain([&table.generic]) {
            table.variables.extend(program.env.keys().cloned());
            table.variables.extend(program.switches.keys().map(|name| normalize_variable(name)));
        }
        table
    }

    pub(super) fn program(&self, name: &str) -> Option<(usize, &KnownProgram)> {
        self.programs.iter().enumerate().find(|(_, program)| program.name == name)
    }

    /// Returns true if a program reads a variable with this name, in normalized spelling.
    pub(super) fn reads_variable(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    /// Returns the program of an image by the last parts of its path, unless the tag contradicts it.
    pub(super) fn by_image(&self, image: &str) -> Option<usize> {
        let (path, tag) = image_parts(image);
        if self.not_images.iter().any(|pattern| image_matches(pattern, path, tag)) {
            return None;
        }
        self.images.iter().find(|(pattern, _)| image_matches(pattern, path, tag)).map(|(_, index)| *index)
    }

    /// Returns the only program that has such a flag.
    pub(super) fn by_signature(&self, flag: &str) -> Option<usize> {
        let name = flag.split('=').next().unwrap_or_default();
        flag.starts_with("--").then(|| self.signatures.get(&normalize_flag(name)).copied()).flatten()
    }

    pub(super) fn needs_no_accelerator(&self, image: &str) -> bool {
        let (path, tag) = image_parts(image);
        self.not_images.iter().any(|pattern| image_matches(pattern, path, tag))
    }

    /// Returns true if a command that starts with these words only downloads a model.
    pub(super) fn only_fetches(&self, words: &[&str]) -> bool {
        self.fetches.iter().any(|fetch| words.len() >= fetch.len() && fetch.iter().zip(words).all(|(a, b)| a == b))
    }

    /// Returns programs whose pattern begins at this word, with the number of words that the pattern matches.
    pub(super) fn by_command<'a>(
        &'a self,
        words: &'a [&'a str],
    ) -> impl Iterator<Item = (usize, usize, bool)> + use<'a> {
        let first = words.first().copied().unwrap_or_default();
        let exact = self.commands.get(first).into_iter().flatten();
        let open = self.commands.get("").into_iter().flatten();
        exact.chain(open).filter_map(move |(pattern, program)| {
            let matches = pattern.len() <= words.len() && pattern.iter().zip(words).all(|(p, word)| glob(p, word));
            let plain = pattern.len() == 1 && pattern.iter().all(|p| p.chars().all(|c| c.is_ascii_alphanumeric()));
            matches.then_some((*program, pattern.len(), plain))
        })
    }
}

impl KnownProgram {
    fn build(row: &ProgramRow, rows: &HashMap<&str, &ProgramRow>) -> KnownProgram {
        let mut program = KnownProgram {
            name: row.name.clone(),
            task: row.task,
            model_from_image: row.model_from_image,
            launcher: row.launcher,
            inside: row.inside.split_whitespace().map(str::to_owned).collect(),
            only_accelerated: row.only_accelerated,
            ..KnownProgram::default()
        };
        let mut chain = vec![row];
        while let Some(next) = chain.last().and_then(|row| row.like.as_deref()).and_then(|name| rows.get(name)) {
            if chain.len() > 4 {
                break;
            }
            chain.push(next);
        }
        // The order is from general to specific, so that specific entries overwrite general ones.
        for row in chain.into_iter().rev() {
            program.add(row);
        }
        program
    }

    fn add(&mut self, row: &ProgramRow) {
        // A program may lack such a word of the program that it inherits from: `none` removes the fact.
        self.positional = row.positional.as_deref().map_or(self.positional, target);
        self.task = row.task.or(self.task);
        add_names(&mut self.flags, &row.flags, normalize_flag);
        for (key, names) in &row.flags {
            let long = names.split_whitespace().find(|name| name.starts_with("--"));
            self.spelled.extend(Key::named(key).zip(long.map(str::to_owned)));
        }
        self.chooses.extend(row.chooses.split_whitespace().filter_map(Key::named));
        add_names(&mut self.env, &row.env, normalize_variable);
        for (name, sets) in &row.switches {
            for name in name.split_whitespace() {
                self.switches.insert(normalize_flag(name), assignments(sets));
            }
        }
        for (name, sets) in &row.setting_switches {
            self.setting_switches.insert(normalize_path(name), assignments(sets));
        }
        for (name, sets) in &row.switched_off {
            self.switched_off.insert(normalize_path(name), assignments(sets));
        }
        self.bare.extend(row.bare.split_whitespace().map(normalize_flag));
        for (key, names) in &row.settings {
            let Some(target) = target(key) else { continue };
            for (rank, path) in names.split_whitespace().map(normalize_path).enumerate() {
                let last = path.rsplit('.').next().unwrap_or_default().to_owned();
                self.settings.entry(last).or_default().push((path, target, rank as Rank));
            }
        }
        for (key, value) in &row.defaults {
            let Some(key) = Key::named(key) else { continue };
            self.defaults.retain(|(known, _)| *known != key);
            self.defaults.push((key, value.clone()));
        }
        for (key, map) in values(&row.values) {
            self.values.entry(key).or_default().extend(map);
        }
    }

    /// Returns true if the command identifies this program in an image.
    pub(super) fn runs_in(&self, image: Option<&str>) -> bool {
        let matches = |image: &str| {
            let (path, tag) = image_parts(image);
            self.inside.iter().any(|pattern| image_matches(pattern, path, tag))
        };
        self.inside.is_empty() || image.is_some_and(matches)
    }

    pub(super) fn setting(&self, path: &str) -> Option<(DeclaredTarget, Rank)> {
        let last = path.rsplit('.').next().unwrap_or_default();
        let candidates = self.settings.get(last)?;
        candidates
            .iter()
            .filter(|(pattern, ..)| path == pattern || path.strip_suffix(&**pattern).is_some_and(|p| p.ends_with('.')))
            .max_by_key(|(pattern, ..)| pattern.len())
            .map(|(_, target, rank)| (*target, *rank))
    }
}

fn add_names(
    into: &mut HashMap<String, (DeclaredTarget, Rank)>,
    from: &BTreeMap<String, String>,
    normalize: fn(&str) -> String,
) {
    for (key, names) in from {
        let Some(target) = target(key) else { continue };
        for (rank, name) in names.split_whitespace().enumerate() {
            into.insert(normalize(name), (target, rank as Rank));
        }
    }
}

fn values(from: &BTreeMap<String, BTreeMap<String, String>>) -> BTreeMap<Key, BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for (key, map) in from {
        let Some(key) = Key::named(key) else { continue };
        let words: &mut BTreeMap<String, String> = all.entry(key).or_default();
        for (value, spellings) in map {
            // `nothing` lists values that set no fact, and `unclear` lists values for which the fact stays unknown.
            words.extend(spellings.split_whitespace().map(|word| (normalize_value(word), value.clone())));
        }
    }
    all
}

fn labels(from: &BTreeMap<String, String>) -> HashMap<String, Key> {
    let keys = from.iter().filter_map(|(key, names)| Some((Key::named(key)?, names)));
    keys.flat_map(|(key, names)| names.split_whitespace().map(move |name| (name.to_owned(), key))).collect()
}

fn target(name: &str) -> Option<DeclaredTarget> {
    Some(DeclaredTarget::Reader(match name {
        "profile" => TextReader::Profile,
        "arguments" => TextReader::Arguments,
        "speculation" => TextReader::Speculation,
        "deepspeed" => TextReader::Deepspeed,
        "fsdp" => TextReader::Fsdp,
        "offload_optimizer" => TextReader::OffloadOptimizer,
        "offload_weights" => TextReader::OffloadWeights,
        "offload_activations" => TextReader::OffloadActivations,
        "drop_gradients" => TextReader::DropGradients,
        "file" => TextReader::File,
        "sharding_file" => TextReader::ShardingFile,
        "recipe" => TextReader::Recipe,
        name => return Key::named(name).map(DeclaredTarget::Key),
    }))
}

/// Parses assignments of facts: `precision=nf4 method=qlora`.
fn assignments(text: &str) -> Vec<(Key, String)> {
    let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.filter_map(|(key, value)| Some((Key::named(key)?, value.to_owned()))).collect()
}

/// Returns the form in which flags are compared. `--a_b` and `--a-b` are one flag; short flags keep their case.
pub(super) fn normalize_flag(text: &str) -> String {
    if text.starts_with("--") || !text.starts_with('-') {
        text.trim_end_matches('=').replace('_', "-").to_ascii_lowercase()
    } else {
        text.to_owned()
    }
}

/// Returns the form in which variable names are compared. Case is ignored, and `_`, `-` and `.` are equal.
pub(super) fn normalize_variable(text: &str) -> String {
    text.replace(['-', '.'], "_").to_ascii_uppercase()
}

/// Returns the form in which paths are compared. `engineArgs.tensorParallelSize`, `engine_args.tensor-parallel-size`
/// and similar spellings are one path.
pub(super) fn normalize_path(text: &str) -> String {
    snake_case(text).replace('-', "_")
}

pub(super) fn normalize_value(text: &str) -> String {
    text.trim().replace('_', "-").to_ascii_lowercase()
}

/// Splits an image into its path without the registry host, and its tag.
pub(super) fn image_parts(image: &str) -> (&str, &str) {
    let image = image.split('@').next().unwrap_or_default();
    let last = image.rfind('/').map_or(0, |at| at + 1);
    match image[last..].find(':') {
        Some(at) => (&image[..last + at], &image[last + at + 1..]),
        None => (image, ""),
    }
}

/// Returns true if an image matches a pattern: `org/name` matches the last parts of the path, `org/name:tag*` also the
/// tag.
fn image_matches(pattern: &str, path: &str, tag: &str) -> bool {
    let (pattern, tag_pattern) = image_parts(pattern);
    if !tag_pattern.is_empty() && !glob(tag_pattern, tag) {
        return false;
    }
    let mut parts = path.rsplit('/');
    pattern.rsplit('/').all(|pattern| parts.next().is_some_and(|part| glob(pattern, part)))
}

/// Returns true if a string matches a pattern, in which wildcards match any characters.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern.eq_ignore_ascii_case(text) };
    let starts = text.get(..first.len()).is_some_and(|start| start.eq_ignore_ascii_case(first));
    let Some(mut text) = text.get(first.len()..).filter(|_| starts) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            let tail = text.len().checked_sub(piece.len()).and_then(|at| text.get(at..));
            return tail.is_some_and(|tail| tail.eq_ignore_ascii_case(piece));
        }
        match find_ignoring_case(text, piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    true
}

fn find_ignoring_case(text: &str, piece: &str) -> Option<usize> {
    let (text, piece) = (text.as_bytes(), piece.as_bytes());
    if piece.is_empty() {
        return Some(0);
    }
    text.windows(piece.len()).position(|window| window.eq_ignore_ascii_case(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_understood() {
        let file: TableFile = serde_json::from_str(TEXT).unwrap();
        let names: Vec<&str> = file.program.iter().map(|row| &*row.name).collect();
        for row in file.program.iter().chain([&file.generic]) {
            let keys = row.flags.keys().chain(row.env.keys()).chain(row.settings.keys());
            for key in keys {
                assert!(target(key).is_some(), "{}: no fact `{key}`", row.name);
            }
            for key in row.defaults.keys().chain(row.values.keys()) {
                assert!(Key::named(key).is_some(), "{}: no fact `{key}`", row.name);
            }
            for sets in row.switches.values().chain(row.setting_switches.values()).chain(row.switched_off.values()) {
                assert_eq!(assignments(sets).len(), sets.split_whitespace().count(), "{}: {sets}", row.name);
            }
            let positional = row.positional.as_deref().filter(|key| *key != "none");
            assert!(positional.is_none_or(|key| target(key).is_some()), "{}", row.name);
            assert!(row.like.as_deref().is_none_or(|name| names.contains(&name)), "{}", row.name);
        }
        for key in file.labels.keys() {
            assert!(Key::named(key).is_some(), "{key}");
        }
        for (key, map) in &file.values {
            assert!(Key::named(key).is_some() && !map.is_empty(), "{key}");
        }
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
    }

    #[test]
    fn wildcards() {
        assert!(glob("vllm*", "vllm-openai") && glob("*.py", "train.py") && glob("a*b*c", "a1b2c") && glob("*", ""));
        assert!(!glob("a*b*c", "acb") && !glob("vllm", "vllm2") && !glob("ab*b", "ab"));
    }

    #[test]
    fn images_match_by_their_last_parts() {
        let is = |image, pattern| {
            let (path, tag) = image_parts(image);
            image_matches(pattern, path, tag)
        };
        assert!(is("registry:5000/mirror/vllm/vllm-openai:v0.9@sha256:ab", "vllm/vllm-openai"));
        assert!(is("text-embeddings-inference:cpu-1.5", "text-embeddings-inference:cpu-*"));
        assert!(!is("text-embeddings-inference:89-1.5", "text-embeddings-inference:cpu-*"));
        assert!(!is("other/vllm", "rocm/vllm"));
    }
}
