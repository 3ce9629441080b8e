//! Splits the start of a container into commands and words, and resolves references, shells, `docker run` and prefixes.

use std::sync::Arc;

use super::super::fact::{Fact, FactOrigin};
use super::variables::Variables;
use super::{Container, SettingsFiles, Word};
use crate::languages::shell::{self, HOLE, ShellWord};
use crate::source::Span;

/// The limit for nested scripts, such as `docker run` in `sh -c`: real scripts do not nest deeper.
const DEEPEST: usize = 4;

/// The limit on the commands of one container.
const MOST_COMMANDS: usize = 2_000;

/// The limit on the bytes that variables add to one container.
const MOST_EXPANDED: usize = 4 << 20;

/// A word of a command, with the argument that contains it.
#[derive(Debug, Clone)]
pub(super) struct CommandWord {
    /// The word, which may contain holes.
    pub(super) text: String,
    pub(super) span: Span,
    /// The place of the value of a variable in the word.
    pub(super) defined: Option<Span>,
    pub(super) origin: FactOrigin,
    /// The cause of the holes, if known.
    pub(super) why: Option<Arc<str>>,
}

impl CommandWord {
    pub(super) fn has_hole(&self) -> bool {
        self.text.contains(HOLE)
    }

    /// Returns true if the whole word is unknown, so that it may be any number of arguments.
    pub(super) fn is_open(&self) -> bool {
        !self.text.is_empty() && self.text.chars().all(|c| c == HOLE)
    }

    pub(super) fn why(&self) -> Arc<str> {
        self.why.clone().unwrap_or_else(|| "part of an argument is unknown".into())
    }

    fn with_text(&self, text: &str) -> CommandWord {
        let CommandWord { span, defined, .. } = *self;
        CommandWord { text: text.to_owned(), span, defined, origin: self.origin.clone(), why: self.why.clone() }
    }
}

/// One command that a container or script runs.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgramCommand {
    pub(super) words: Vec<CommandWord>,
    /// Image and environment of the command, if known.
    pub(super) image: Option<CommandWord>,
    pub(super) env: Variables,
    pub(super) open_env: Option<Arc<str>>,
    /// Whether the words are arguments of the image's entry point.
    pub(super) bare_arguments: bool,
    /// Whether the command gets accelerators of the machine.
    pub(super) accelerated: bool,
    pub(super) files: Arc<SettingsFiles>,
}

pub(super) fn of_container(container: &Container) -> Vec<ProgramCommand> {
    let mut env = Variables::default();
    for (name, word) in &container.env {
        token(word).into_iter().for_each(|value| env.set(name, value));
    }
    let env = env.inside();
    let mut commands = Commands::default();
    let words = container.command.iter().chain(&container.args).filter_map(token);
    let words: Vec<CommandWord> = words.map(|word| commands.reference(word, &env)).collect();
    let shape = ProgramCommand {
        words: Vec::new(),
        image: token(&container.image),
        env,
        open_env: container.open_env.clone(),
        bare_arguments: container.command.is_empty(),
        files: container.files.clone(),
        ..ProgramCommand::default()
    };
    commands.expand(words, &shape, 0);
    if commands.found.is_empty() {
        commands.found.push(shape);
    }
    commands.found
}

pub(super) fn of_script(script: &Word) -> Vec<ProgramCommand> {
    let mut commands = Commands::default();
    if let Some(script) = token(script) {
        commands.run_script(&script, &[], &ProgramCommand::default(), 1);
    }
    commands.found
}

/// Splits arguments in one string, as variables like `VLLM_ARGS` contain them.
pub(super) fn of_arguments(text: &CommandWord) -> Vec<CommandWord> {
    let mut commands = Commands::default();
    commands.run_script(text, &[], &ProgramCommand::default(), DEEPEST);
    commands.found.into_iter().flat_map(|command| command.words).collect()
}

pub(super) fn token(word: &Word) -> Option<CommandWord> {
    match word {
        Fact::Known(known) => {
            let template = known.value.contains("{{");
            Some(CommandWord {
                text: if template { shell::cut_templates(&known.value, false) } else { known.value.to_string() },
                span: known.span,
                defined: known.defined,
                origin: known.origin.clone(),
                why: template.then(|| "a template sets this value".into()),
            })
        }
        Fact::Unknown(unknown) => Some(CommandWord {
            text: HOLE.to_string(),
            span: unknown.span,
            defined: None,
            origin: FactOrigin::Written,
            why: Some(unknown.why.clone()),
        }),
        Fact::Absent => None,
    }
}

/// Collects the commands that a container or a script starts.
struct Commands {
    found: Vec<ProgramCommand>,
    /// Remaining bytes for expanding variables and `"$@"`.
    room: usize,
}

impl Default for Commands {
    fn default() -> Self {
        Commands { found: Vec::new(), room: MOST_EXPANDED }
    }
}

impl Commands {
    /// Replaces `$(NAME)` by the variable's value.
    fn reference(&mut self, word: CommandWord, env: &Variables) -> CommandWord {
        if !word.text.contains("$(") {
            return word;
        }
        let (text, used) = shell::expand_references(
            &word.text,
            &|name| env.get(name).map(|value| value.text.as_str()),
            &mut self.room,
        );
        let Some(name) = used else { return CommandWord { text, ..word } };
        match env.get(&name) {
            Some(value) => CommandWord {
                text,
                defined: value.defined.or(Some(value.span)),
                origin: word.origin.weakest(value.origin.clone()).weakest(FactOrigin::Resolved),
                why: word.why.or(value.why.clone()),
                span: word.span,
            },
            None => CommandWord { text, why: Some(not_in_text(&name)), ..word },
        }
    }

    /// Finds the command inside shells, prefixes and container runtimes.
    fn expand(&mut self, mut words: Vec<CommandWord>, shape: &ProgramCommand, depth: usize) {
        split_joined(&mut words);
        let mut shape = shape.clone();
        let skipped = prefix(&words, &mut shape.env);
        words.drain(..skipped);
        if skipped > 0 {
            shape.bare_arguments = false;
        }
        let name = words.first().map(|word| base_name(&word.text).to_owned()).unwrap_or_default();
        if depth < DEEPEST {
            if is_shell(&name)
                && let Some(at) = words.iter().skip(1).take(6).position(|word| is_command_flag(&word.text))
                && let Some(script) = words.get(at + 2)
            {
                let inner = ProgramCommand { bare_arguments: false, ..shape };
                // The first word after a script is the script's own name.
                let arguments = words.get(at + 4..).unwrap_or_default();
                return self.run_script(script, arguments, &inner, depth + 1);
            }
            if matches!(&*name, "docker" | "podman" | "nerdctl")
                && let Some(at) = words.iter().take(6).position(|word| matches!(&*word.text, "run" | "create"))
            {
                return self.docker_run(&words[at + 1..], depth);
            }
        }
        if depth == 0 {
            words = words.into_iter().map(leftover).collect();
        }
        self.found.push(ProgramCommand { words, ..shape });
    }

    /// Expands the words of each command in a script.
    fn run_script(&mut self, script: &CommandWord, arguments: &[CommandWord], shape: &ProgramCommand, depth: usize) {
        let offset = text_offset(script);
        let shape = ProgramCommand { env: shape.env.inside(), ..shape.clone() };
        let lookup = |name: &str| shape.env.get(name).map(|value| value.text.as_str());
        let arguments_take: usize = arguments.iter().map(|it| size_of::<CommandWord>() + it.text.len()).sum();
        for pieces in shell::commands(&script.text, &lookup, &mut self.room) {
            if self.found.len() >= MOST_COMMANDS {
                return;
            }
            let mut words = Vec::with_capacity(pieces.len());
            for piece in pieces {
                if piece.arguments && shell::spend(&mut self.room, arguments_take) {
                    words.extend(arguments.iter().cloned());
                } else {
                    words.push(script_word(script, offset, &piece, &shape.env));
                }
            }
            self.expand(words, &shape, depth);
        }
    }

    /// Reads `docker run [options] IMAGE [arguments]`.
    fn docker_run(&mut self, words: &[CommandWord], depth: usize) {
        const ALONE: &[&str] = &[
            "--detach",
            "--rm",
            "--init",
            "--interactive",
            "--tty",
            "--privileged",
            "--read-only",
            "--publish-all",
            "--quiet",
            "--no-healthcheck",
            "--oom-kill-disable",
            "--sig-proxy",
        ];
        let mut shape = ProgramCommand { bare_arguments: true, ..ProgramCommand::default() };
        let mut entrypoint = None;
        let mut at = 0;
        while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
            at += 1;
            let (name, inline) = match word.text.split_once('=') {
                Some((name, value)) => (name, Some(word.with_text(value))),
                None => (&*word.text, None),
            };
            let short_flags = !name.starts_with("--") && name.chars().skip(1).all(|c| "ditPq".contains(c));
            if inline.is_none() && (short_flags || ALONE.contains(&name)) {
                continue;
            }
            let value = inline.or_else(|| {
                at += 1;
                words.get(at - 1).cloned()
            });
            match (name, value) {
                ("-e" | "--env", Some(value)) => {
                    if let Some((name, text)) = value.text.split_once('=') {
                        shape.env.set(name, value.with_text(text));
                    }
                }
                ("--env-file", Some(_)) => {
                    shape.open_env = Some("variables are read from a file on the machine".into())
                }
                ("--entrypoint", value) => entrypoint = value,
                ("--gpus", Some(_)) => shape.accelerated = true,
                _ => {}
            }
        }
        shape.image = words.get(at).cloned();
        shape.bare_arguments = entrypoint.is_none();
        let rest = words.get(at + 1..).unwrap_or_default().iter().cloned();
        self.expand(entrypoint.into_iter().chain(rest).collect(), &shape, depth + 1);
    }
}

fn not_in_text(name: &str) -> Arc<str> {
    format!("the value of variable `{name}` is unknown").into()
}

/// Marks `${NAME}` as unknown outside a shell, because a person or another tool fills it in.
fn leftover(word: CommandWord) -> CommandWord {
    if !word.text.contains("${") {
        return word;
    }
    CommandWord {
        text: shell::cut_templates(&word.text, true),
        why: Some("another program fills in this value".into()),
        ..word
    }
}

/// Returns a word of a script, at its place in the script.
fn script_word(script: &CommandWord, offset: Option<usize>, piece: &ShellWord, env: &Variables) -> CommandWord {
    let mut word = script.with_text(&piece.text);
    if let Some(offset) = offset {
        let start = script.span.start as usize + offset;
        word.span = Span::new(script.span.file, start + piece.start, start + piece.end);
    }
    let Some(name) = &piece.variable else { return word };
    word.origin = word.origin.weakest(FactOrigin::Resolved);
    if word.text.contains(HOLE) {
        word.why = Some(not_in_text(name));
    }
    if let Some(value) = env.get(name) {
        word.defined = value.defined.or(Some(value.span));
        word.origin = word.origin.clone().weakest(value.origin.clone());
        word.why = value.why.clone().or(word.why);
    }
    word
}

/// Returns where the string begins in its span, if the span is an exact copy: plain and quoted scalars without escapes.
fn text_offset(token: &CommandWord) -> Option<usize> {
    match (token.span.end - token.span.start) as usize {
        length if length == token.text.len() => Some(0),
        length if length == token.text.len() + 2 => Some(1),
        _ => None,
    }
}

/// Splits an item that contains a flag with its value, or a whole command.
fn split_joined(words: &mut Vec<CommandWord>) {
    let joined = |index: usize, word: &CommandWord| {
        let text = word.text.trim();
        let Some((first, _)) = text.split_once(char::is_whitespace) else { return false };
        if first.starts_with('-') { !first.contains(['=', '{']) } else { index == 0 && !first.contains('{') }
    };
    if !words.iter().enumerate().any(|(index, word)| joined(index, word)) {
        return;
    }
    let mut result = Vec::with_capacity(words.len() + 4);
    let mut after_command_flag = false;
    for (index, word) in words.drain(..).enumerate() {
        // The argument after `sh -c` is a script and stays whole.
        if after_command_flag || !joined(index, &word) {
            after_command_flag = is_command_flag(&word.text);
            result.push(word);
            continue;
        }
        let offset = text_offset(&word);
        for piece in shell::commands(&word.text, &|_| None, &mut 0).into_iter().flatten() {
            let mut part = word.with_text(&piece.text);
            if let Some(offset) = offset {
                let start = word.span.start as usize + offset;
                part.span = Span::new(word.span.file, start + piece.start, start + piece.end);
            }
            result.push(part);
        }
    }
    *words = result;
}

pub(super) fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "ash" | "dash" | "zsh")
}

/// Returns true if the text is a shell's command flag: `-c`, `-lc`, `-ec`, `-exc`.
pub(super) fn is_command_flag(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|flags| flags.ends_with('c') && flags.len() <= 6 && flags.chars().all(|c| c.is_ascii_lowercase()))
}

/// Words before the command that they start.
pub(super) const PREFIXES: &[&str] = &[
    "exec",
    "sudo",
    "env",
    "nohup",
    "time",
    "command",
    "if",
    "then",
    "else",
    "do",
    "while",
    "until",
    "!",
    "{",
    "tini",
    "dumb-init",
    "uv",
    "poetry",
    "pipenv",
    "conda",
    "catchsegv",
    "ionice",
    "nice",
    "stdbuf",
    "setsid",
    "entrypoint.sh",
    "docker-entrypoint.sh",
    "eval",
];

/// Returns the number of words before the command: `exec`, `sudo -E`, `env A=b`, `if`, `tini --`, assignments.
fn prefix(words: &[CommandWord], env: &mut Variables) -> usize {
    let mut at = 0;
    let mut after_prefix = false;
    while let Some(word) = words.get(at) {
        if let Some((name, value)) = shell::assignment(&word.text) {
            if name.starts_with("Exec") {
                // In a line of a systemd unit file, the command begins after the `=` in this word.
                return at;
            }
            env.set(name, word.with_text(value));
        } else if PREFIXES.contains(&base_name(&word.text)) {
            after_prefix = true;
        } else if after_prefix && (word.text.starts_with('-') || matches!(&*word.text, "run" | "-n")) {
            // Options of the prefix.
        } else {
            break;
        }
        at += 1;
    }
    at
}

pub(super) fn base_name(text: &str) -> &str {
    let text = text.strip_prefix("ExecStart=").unwrap_or(text);
    text.rsplit('/').next().unwrap_or(text)
}
