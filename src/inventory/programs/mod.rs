//! Recognizes serving and training programs: the model, its precision, its number of GPUs and its context.
//!
//! `programs.toml` defines how each program is recognized by image and command, and which arguments, variables and
//! settings declare facts. Front ends supply the words of a container, a script or a settings tree with their spans.
//! Words that are unknown there stay unknown here. This module knows no kind and no resource type.

mod argument;
mod checkpoints;
mod declared;
mod ending;
mod looking;
mod read;
mod scaling;
mod table;
mod values;
mod variables;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fact::{Fact, FactOrigin};
use super::key::{FactValue, Key};
use super::terms::Task;
use read::FoundFacts;
use table::{KnownProgram, TABLE};
use words::{CommandWord, ProgramCommand};

pub use crate::languages::shell::HOLE;
pub use argument::{DeclaringWords, chooses, declaring_words, flag};
pub use checkpoints::{copies_results, is_remote_or_open};
pub use declared::{declare, declared, declares};
pub use ending::{MachineEnd, machine_end};
pub use looking::{is_notebook_image, only_lists_devices};
pub use scaling::{ScaleCommand, scale_commands};

/// Facts that the files declare about a program. Each span points at the argument, variable or setting.
pub type ProgramFacts = BTreeMap<Key, Fact<FactValue>>;

/// A string with its place, or unknown if a front end could not resolve it. A known string contains `HOLE` for each
/// unknown part.
pub type Word = Fact<Arc<str>>;

/// The settings from files, by the paths under which commands name them.
pub type SettingsFiles = BTreeMap<String, Vec<ProgramSetting>>;

/// The command, image and environment that start a program, from a pod, a task definition or a model environment.
#[derive(Debug, Clone, Default)]
pub struct Container {
    pub image: Word,
    pub command: Vec<Word>,
    pub args: Vec<Word>,
    pub env: BTreeMap<String, Word>,
    /// The reason why further variables may exist: `envFrom` refers to a map outside the files.
    pub open_env: Option<Arc<str>>,
    /// Whether the container requests accelerators. If it does, variables such as `MODEL_ID` count even for an unknown
    /// program.
    pub accelerated: bool,
    /// Settings files that the command names, as far as they are in the repository.
    pub files: Arc<SettingsFiles>,
}

/// One leaf of a settings tree: `engine_kwargs.tensor_parallel_size`. Positions in lists are omitted.
#[derive(Debug, Clone)]
pub struct ProgramSetting {
    pub path: String,
    pub value: Word,
}

/// Returns the facts of a container. Empty if no program is recognized and no fact is declared.
pub fn recognize(container: &Container) -> ProgramFacts {
    let commands = words::of_container(container);
    let joins = container.open_env.is_some() || container.env.keys().any(|name| name.starts_with("RAY_"));
    let alone = !joins && !commands.iter().any(speaks_of_ray);
    let mut facts = best(commands, container.accelerated);
    // If no cluster is given, the server starts its own Ray cluster inside its container.
    if alone && facts.get(&Key::Spread).and_then(Fact::value).and_then(FactValue::as_text) == Some("ray") {
        facts.remove(&Key::Spread);
    }
    facts
}

/// Returns true if a command starts Ray, or a script that may start it. The argument by which a server uses Ray does
/// not count.
fn speaks_of_ray(command: &ProgramCommand) -> bool {
    const SWITCHES: [&str; 2] = ["--distributed-executor-backend", "--worker-use-ray"];
    let mut before = "";
    command.words.iter().any(|word| {
        let is_switch = |text: &str| SWITCHES.iter().any(|switch| text.starts_with(switch));
        let lower = word.text.to_ascii_lowercase();
        let speaks = ["ray", "multi-node", "multinode"].iter().any(|name| lower.contains(name));
        let is_its_own = is_switch(&word.text) || is_switch(before);
        before = &word.text;
        speaks && !is_its_own
    })
}

/// Returns the facts of a start-up script: `docker run … IMAGE args`, or a program that starts directly.
pub fn recognize_script(script: &Word) -> ProgramFacts {
    best(words::of_script(script), false)
}

/// Returns the facts of a settings tree: chart values, fields of a custom resource or a configuration file. If the
/// caller does not name the program, settings that several programs share count.
pub fn recognize_settings(program: Option<&str>, settings: &[ProgramSetting]) -> ProgramFacts {
    let named = program.and_then(|name| TABLE.program(name)).map(|(_, program)| program);
    let mut found = FoundFacts::default();
    let programs = [named.unwrap_or(&TABLE.generic)];
    found.settings(&programs, settings, 0);
    let facts = found.into_facts();
    let (Some(program), Some(span)) = (named, facts.values().find_map(Fact::span)) else { return facts };
    let mut found = FoundFacts::default();
    for (key, fact) in facts {
        found.put(key, 0, fact);
    }
    found.finish(&[program], span, FactOrigin::Written)
}

/// Returns the facts of the most specific command. A command that names its program ranks first, then a command with a
/// model.
fn best(commands: Vec<ProgramCommand>, accelerated: bool) -> ProgramFacts {
    let mut best = ProgramFacts::new();
    let mut is_best_named = false;
    let cluster = commands.iter().find_map(|command| match command.words.as_slice() {
        [name, verb, ..] if words::base_name(&name.text) == "ray" && verb.text == "start" => Some(name.clone()),
        _ => None,
    });
    for command in commands {
        let facts = recognize_command(&command, accelerated);
        let is_named = command.bare_arguments || !matching_programs(&command).is_empty();
        let score = |is_named: bool, facts: &ProgramFacts| {
            (is_named, facts.contains_key(&Key::Model), facts.contains_key(&Key::Program), facts.len() > 2)
        };
        if !facts.is_empty() && (best.is_empty() || score(is_named, &facts) > score(is_best_named, &best)) {
            best = facts;
            is_best_named = is_named;
        }
    }
    if let Some(ray) = cluster.filter(|_| best.contains_key(&Key::Program)) {
        best.entry(Key::Spread).or_insert_with(|| Fact::known(FactValue::text("ray"), ray.span, ray.origin));
    }
    best
}

fn recognize_command(command: &ProgramCommand, accelerated: bool) -> ProgramFacts {
    let names: Vec<&str> = command.words.iter().take(2).map(|word| words::base_name(&word.text)).collect();
    if TABLE.only_fetches(&names) {
        return ProgramFacts::new();
    }
    let accelerated = accelerated || command.accelerated;
    let mut matches = matching_programs(command);
    matches.retain(|found| accelerated || !TABLE.programs.get(found.program).is_some_and(|it| it.only_accelerated));
    let image = command.image.as_ref().filter(|image| !image.has_hole());
    if image.is_some_and(|image| TABLE.needs_no_accelerator(&image.text)) {
        return ProgramFacts::new();
    }
    let by_image = image.and_then(|image| TABLE.by_image(&image.text));
    let mut programs: Vec<&KnownProgram> = Vec::new();
    // A custom image does not identify the program, but its arguments may belong to only one program.
    let bare = accelerated && matches.is_empty() && by_image.is_none() && command.bare_arguments;
    let signature = bare.then(|| command.words.iter().find_map(|word| TABLE.by_signature(&word.text))).flatten();
    let indices = matches.iter().map(|found| found.program).chain(by_image).chain(signature);
    for index in indices {
        if let Some(program) = TABLE.programs.get(index).filter(|new| !programs.iter().any(|old| old.name == new.name))
        {
            programs.push(program);
        }
    }
    let mut found = FoundFacts::with_files(command.files.clone());
    let start = matches.first().map_or(0, |first| first.end);
    let positional = !matches.is_empty() || command.bare_arguments;
    if !programs.is_empty() {
        found.arguments(&programs, &command.words, start, positional);
    }
    if !programs.is_empty() || accelerated {
        found.environment(&programs, command, true);
    }
    if programs.is_empty() && accelerated {
        found.model_by_flag(&command.words);
    }
    if let Some(image) = image
        && programs.first().is_some_and(|program| program.model_from_image)
    {
        found.model_of_image(image);
    }
    let evidence: Option<&CommandWord> = matches.first().and_then(|first| command.words.get(first.at)).or(image);
    let mut facts = match evidence.or(command.words.first().filter(|_| signature.is_some())) {
        Some(token) if signature.is_some() => {
            let origin = FactOrigin::Inferred("only this program takes these arguments".into());
            found.finish(&programs, token.span, origin)
        }
        Some(token) if programs.first().is_some_and(|program| !program.inside.is_empty()) => {
            found.finish(&programs, token.span, FactOrigin::Inferred("no other server is known in its image".into()))
        }
        Some(token) => found.finish(&programs, token.span, token.origin.clone()),
        None => found.into_facts(),
    };
    let launched = command.words.get(start..).filter(|_| programs.first().is_some_and(|program| program.launcher));
    if let Some(script) = launched.and_then(script_that_serves) {
        let why = format!("it starts {}", words::base_name(&script.text));
        facts.insert(Key::Task, Fact::known(Task::Serve.into(), script.span, FactOrigin::Inferred(why.into())));
        // A single server process may spread its model over all accelerators.
        facts.remove(&Key::Processes);
        facts.extend(launched.and_then(pods_together).map(|size| (Key::GroupSize, size)));
    }
    if let Some(image) = image.filter(|_| facts.contains_key(&Key::Program)) {
        let name = FactValue::text(image.text.as_str());
        facts.insert(Key::Image, Fact::known(name, image.span, image.origin.clone()));
    }
    facts
}

/// Returns the number of pods over which a launcher spreads a program that answers as one.
fn pods_together(words: &[CommandWord]) -> Option<Fact<FactValue>> {
    const FLAGS: [&str; 4] = ["--nnodes", "--num_machines", "--num-machines", "--num_nodes"];
    let (place, flag) = words.iter().enumerate().find_map(|(place, word)| {
        let name = word.text.split_once('=').map_or(&*word.text, |(name, _)| name);
        FLAGS.contains(&name).then_some((place, word))
    })?;
    let (text, word) = match flag.text.split_once('=') {
        Some((_, text)) => (text, flag),
        None => words.get(place + 1).map(|next| (&*next.text, next))?,
    };
    let size = text.parse().ok().filter(|size| *size > 1)?;
    Some(Fact::known(FactValue::Integer(size), word.span, word.origin.clone()))
}

/// Returns the script that a launcher starts, if the script's name shows that it answers requests.
fn script_that_serves(words: &[CommandWord]) -> Option<&CommandWord> {
    const SERVES: [&str; 7] = ["api", "infer", "inference", "predict", "serve", "server", "serving"];
    let script = words.iter().find(|word| word.text.ends_with(".py"))?;
    let stem = words::base_name(&script.text).trim_end_matches(".py").to_ascii_lowercase();
    stem.split(['_', '-', '.']).any(|part| SERVES.contains(&part)).then_some(script)
}

/// A program that a command names, with its place.
struct Match {
    program: usize,
    at: usize,
    end: usize,
}

/// Returns matching programs in the order of the table: specific programs come before their launchers.
fn matching_programs(command: &ProgramCommand) -> Vec<Match> {
    /// A program's name is near the start of its command.
    const NAMED_WITHIN: usize = 48;
    let names: Vec<&str> = command.words.iter().take(NAMED_WITHIN).map(|word| words::base_name(&word.text)).collect();
    let mut matches: Vec<Match> = Vec::new();
    for at in 0..names.len() {
        let rest = names.get(at..).unwrap_or_default();
        for (program, length, plain) in TABLE.by_command(rest) {
            // A plain word counts as a command only in the position of a command.
            let before = at.checked_sub(1).and_then(|before| names.get(before));
            let heads = before.is_none_or(|word| matches!(*word, "--" | "-m"))
                || matches.last().is_some_and(|last| last.end == at);
            if !plain || heads {
                matches.push(Match { program, at, end: at + length });
            }
        }
    }
    let image = command.image.as_ref().map(|image| &*image.text);
    matches.retain(|found| TABLE.programs.get(found.program).is_some_and(|program| program.runs_in(image)));
    let launcher = |found: &Match| TABLE.programs.get(found.program).is_some_and(|program| program.launcher);
    matches.sort_by_key(|found| (launcher(found), found.program, found.at));
    matches.dedup_by_key(|found| found.program);
    matches
}

#[cfg(test)]
mod tests;
