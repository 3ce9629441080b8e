//! Converts commands that create machines to manifests for the Kubernetes front end.
//!
//! A script, or a step of a pipeline, that runs `gcloud compute instances create` with a literal machine becomes an
//! object with the options of the command. `called.toml` has a kind for each command and knows the meaning of its
//! options. Each line of the object leads to the command in its file. This module knows how the command lines of
//! clouds write options, and nothing of machines. A command whose machine only a run determines is left out.

pub(crate) mod calls;
pub(crate) mod helm;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::languages::shell::{HOLE, RunsWhen, Step, cut_templates, steps};
use crate::languages::yaml::{self, Node, quoted};
use crate::source::{FileId, Segment, SourceFiles, Span, file_name, join, parent};

/// A command that creates machines, from a definition of a kind.
pub(crate) struct CommandForm<'f> {
    pub(crate) kind: &'f str,
    pub(crate) group: &'f str,
    /// The program and its subcommands.
    pub(crate) words: &'f str,
    /// Options that name a machine or an accelerator. The command must set one of them to a known value.
    pub(crate) needs: &'f [String],
    /// The option with the name of the machines, if no word without an option is their name.
    pub(crate) name: &'f str,
    /// Whether an option takes all words up to the next option.
    pub(crate) takes_lists: bool,
    /// Options with one letter, and their long names: `n=name`.
    pub(crate) short: &'f [String],
}

/// Words before a command that do not change it.
const PREFIXES: [&str; 6] = ["sudo", "exec", "nohup", "env", "time", "command"];
/// Words between a program and its subcommands.
const STAGES: [&str; 2] = ["alpha", "beta"];
/// Options without a value, by the start of their names.
const FLAGS: [&str; 12] = [
    "no-",
    "enable-",
    "disable-",
    "shielded-",
    "quiet",
    "async",
    "spot",
    "preemptible",
    "managed",
    "debug",
    "dry-run",
    "can-ip-forward",
];
/// The limit on commands inside commands.
const DEEPEST: usize = 3;
/// The limit on commands of a file; further ones are not read.
const MOST_COMMANDS: usize = 200;

/// Returns the objects of a script or of the steps of a pipeline as a derived file; `None` if there are none.
pub(crate) fn read(sources: &SourceFiles, path: &str, is_script: bool, forms: &[CommandForm<'_>]) -> Option<FileId> {
    let file = sources.open(path).ok()?;
    let text = sources.text(file);
    let mut objects = Objects { sources, surely_run: Vec::new(), path, forms, writer: ObjectWriter::default() };
    match is_script {
        true => {
            objects.note_surely_run(&text);
            objects.add_script(&text, &|place| Span::new(file, place.start, place.end));
        }
        false => {
            let documents = yaml::read(file, &text).documents;
            let mut scripts = Vec::new();
            documents.iter().for_each(|it| collect_scripts(&it.root, &mut scripts, 0));
            scripts.iter().for_each(|it| objects.note_surely_run(it.text().map_or("", |it| it)));
            scripts.iter().for_each(|it| objects.add_pipeline(it, &text));
        }
    }
    objects.writer.finish(sources, path)
}

/// The objects of a file while they are written.
struct Objects<'o> {
    sources: &'o SourceFiles,
    /// The commands that the file runs in any case, each with a space around its words.
    surely_run: Vec<String>,
    path: &'o str,
    forms: &'o [CommandForm<'o>],
    writer: ObjectWriter,
}

impl Objects<'_> {
    fn note_surely_run(&mut self, script: &str) {
        let surely = steps(script).into_iter().filter(|it| it.when == RunsWhen::Always);
        self.surely_run.extend(surely.map(|it| format!(" {} ", it.words.join(" "))));
    }

    /// Returns true if the file also deletes the machines that a command creates.
    fn deletes(&self, form: &CommandForm<'_>) -> bool {
        let words: Vec<&str> = form.words.split(' ').skip(1).collect();
        let opposite =
            |word: &&str| word.replace("run-", "terminate-").replace("create", "delete").replace("add", "delete");
        let opposite = format!(" {} ", words.iter().map(opposite).collect::<Vec<_>>().join(" "));
        self.surely_run.iter().any(|command| command.contains(&opposite))
    }

    /// Adds the commands of a string of a pipeline.
    fn add_pipeline(&mut self, node: &Node, text: &str) {
        let Some(script) = node.text() else { return };
        let script = cut_templates(script, false);
        let (file, first) = (node.span.file, node.span.start as usize);
        let source = text.get(first..node.span.end as usize).unwrap_or_default();
        // The string has other indentation than the file, so a command is found by its first line.
        let find = |place: Range<usize>| {
            let command = script.get(place).unwrap_or_default().trim();
            let line = command.lines().next().unwrap_or_default().trim();
            let Some(at) = source.find(line).filter(|_| !line.is_empty()) else { return node.span };
            let rest = source.get(at..).unwrap_or_default();
            let length = rest.lines().take(command.lines().count()).map(|it| it.len() + 1).sum::<usize>();
            Span::new(file, first + at, first + at + length.saturating_sub(1).min(rest.len()))
        };
        self.add_script(&script, &find);
    }

    fn add_script(&mut self, script: &str, find: &dyn Fn(Range<usize>) -> Span) {
        let all = steps(script);
        let variables = Variables::of(&all);
        for step in &all {
            self.add_step(script, step, &all, &variables, find, 0);
        }
    }

    fn add_step(
        &mut self,
        script: &str,
        step: &Step,
        all: &[Step],
        variables: &Variables,
        find: &dyn Fn(Range<usize>) -> Span,
        depth: usize,
    ) {
        if self.writer.names.len() >= MOST_COMMANDS {
            return;
        }
        for inside in step.substituted.iter().filter(|_| depth < DEEPEST) {
            let text = script.get(inside.clone()).unwrap_or_default();
            let place = |inner: Range<usize>| find(inside.start + inner.start..inside.start + inner.end);
            for inner in &steps(text) {
                let when = inner.when.max(step.when);
                let function = step.function.clone();
                let inner = Step { when, repeats: inner.repeats || step.repeats, function, ..inner.clone() };
                self.add_step(text, &inner, all, variables, &place, depth + 1);
            }
        }
        let Some(given) = Given::read(&step.words, variables) else { return };
        let form = self.forms.iter().find(|form| given.is_of(form));
        if let Some((form, given)) = form.and_then(|form| Some((form, given.finished(form, self.sources, self.path)?)))
        {
            self.add(form, &given, copies(step, all), find(step.place.clone()));
        }
    }

    /// Writes the object of a command.
    fn add(&mut self, form: &CommandForm<'_>, given: &CommandOptions, copies: Option<&str>, origin: Span) {
        let mut spec: Vec<(String, String)> = Vec::new();
        spec.extend(self.deletes(form).then(|| ("deleted".to_owned(), "true".to_owned())));
        spec.extend(copies.map(|copies| ("copies".to_owned(), copies.to_owned())));
        spec.extend((given.names > 0).then(|| ("names".to_owned(), given.names.to_string())));
        spec.extend(given.options.clone());
        self.writer.add(self.path, form.kind, form.group, given.name.as_deref(), &spec, origin);
    }
}

/// The objects of a derived file while they are written.
#[derive(Default)]
struct ObjectWriter {
    text: String,
    segments: Vec<Segment>,
    names: BTreeSet<String>,
}

impl ObjectWriter {
    /// Adds an object. Without a name, it has that of its file. No line equals its origin byte by byte, so that no fix
    /// writes there.
    fn add(
        &mut self,
        path: &str,
        kind: &str,
        group: &str,
        name: Option<&str>,
        spec: &[(String, String)],
        origin: Span,
    ) {
        let stem = file_name(path).split('.').find(|part| !part.is_empty()).unwrap_or_default();
        let name = name.unwrap_or(stem);
        let others = self.names.iter().filter(|it| it.split(':').next() == Some(name)).count();
        let name = if others == 0 { name.to_owned() } else { format!("{name}:{}", others + 1) };
        let mut lines = vec![
            "---".to_owned(),
            format!("apiVersion: {group}/v1"),
            format!("kind: {kind}"),
            format!("metadata: {{name: {}}}", quoted(&name)),
            "spec:".to_owned(),
        ];
        lines.extend(spec.iter().map(|(key, value)| format!("  {key}: {value}")));
        for line in lines {
            self.segments.push(Segment { start: self.text.len() as u32, origin, linear: false });
            self.text.push_str(&line);
            self.text.push('\n');
        }
        self.names.insert(name);
    }

    fn finish(self, sources: &SourceFiles, path: &str) -> Option<FileId> {
        (!self.text.is_empty()).then(|| sources.derive(path, self.text, self.segments))
    }
}

/// Collects the strings of a document that may contain commands which create machines.
fn collect_scripts<'n>(node: &'n Node, scripts: &mut Vec<&'n Node>, depth: usize) {
    const DEEPEST_NODE: usize = 40;
    const LONGEST: usize = 1000;
    if depth > DEEPEST_NODE || scripts.len() > LONGEST {
        return;
    }
    let is_command =
        |text: &str| [" create", " add ", "run-instances", "delete", "terminate-"].iter().any(|it| text.contains(it));
    scripts.extend(node.text().filter(|it| is_command(it)).map(|_| node));
    node.inner().for_each(|inner| collect_scripts(inner, scripts, depth + 1));
}

/// Returns how often a script runs a step, as a range; `None` if this is unknown. A step that runs on a failure
/// creates what an earlier step did not find, so it counts.
fn copies(step: &Step, all: &[Step]) -> Option<&'static str> {
    let calls: Vec<&Step> = match &step.function {
        Some(name) => all.iter().filter(|it| it.words.first() == Some(name)).collect(),
        None => Vec::new(),
    };
    match (step.when, calls.as_slice()) {
        _ if step.repeats || calls.len() > 1 || calls.iter().any(|it| it.repeats) => None,
        (RunsWhen::Perhaps, _) => Some("0..1"),
        (_, [call]) if call.when == RunsWhen::Perhaps => Some("0..1"),
        _ => Some("1..1"),
    }
}

/// The variables of a script that have one known value.
struct Variables(BTreeMap<String, Option<String>>);

impl Variables {
    fn of(all: &[Step]) -> Variables {
        let mut values: BTreeMap<String, Option<String>> = BTreeMap::new();
        for step in all {
            let declares = ["export", "readonly", "local", "declare", "typeset"];
            let is_option = |word: &&String| !declares.contains(&word.as_str()) && !word.starts_with('-');
            let assigned = step.words.iter().filter(is_option).map_while(|word| word.split_once('='));
            for (name, value) in assigned.filter(|(name, _)| is_variable(name)) {
                let is_sure = step.when == RunsWhen::Always && !step.repeats && is_literal(value);
                let value = Some(value.to_owned()).filter(|_| is_sure && !values.contains_key(name));
                values.insert(name.to_owned(), value);
            }
        }
        Variables(values)
    }

    /// Returns a word with the values of its variables. An unknown value remains as `$NAME`.
    fn fill(&self, word: &str) -> String {
        let mut parts = word.split('$');
        let mut filled = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            match self.0.get(name).and_then(Option::as_ref) {
                Some(value) => filled.push_str(value),
                None => filled.extend(["$", name]),
            }
            filled.push_str(rest);
        }
        filled
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// Returns true if a value contains no variable, no output of a command, and no pattern.
fn is_literal(value: &str) -> bool {
    !value.contains(['$', HOLE, '{', '*'])
}

/// The words of a command line, before its options have names.
struct Given {
    program: String,
    words: Vec<String>,
}

/// The options and names of a command line.
#[derive(Default)]
struct CommandOptions {
    name: Option<String>,
    /// How many words without an option follow the subcommands.
    names: usize,
    /// Values as YAML.
    options: BTreeMap<String, String>,
}

impl Given {
    fn read(words: &[String], variables: &Variables) -> Option<Given> {
        let is_before = |word: &&String| {
            PREFIXES.contains(&word.as_str()) || word.split_once('=').is_some_and(|(name, _)| is_variable(name))
        };
        let mut words = words.iter().skip_while(is_before);
        let program = file_name(words.next()?.trim_start_matches(['@', '-', '!'])).to_owned();
        Some(Given { program, words: words.map(|word| variables.fill(word)).collect() })
    }

    /// Returns true if the words without an option begin with the subcommands of a form.
    fn is_of(&self, form: &CommandForm<'_>) -> bool {
        let mut subcommands = form.words.split(' ');
        subcommands.next() == Some(&*self.program) && {
            let wanted: Vec<&str> = subcommands.collect();
            self.subcommands(wanted.len()).is_some_and(|found| found.iter().map(|at| &*self.words[*at]).eq(wanted))
        }
    }

    /// Returns the places of the first words that are neither options nor values of options before them.
    fn subcommands(&self, count: usize) -> Option<Vec<usize>> {
        let mut places = Vec::new();
        let mut at = 0;
        while places.len() < count {
            let word = self.words.get(at)?;
            match word.strip_prefix('-') {
                // A global option before the subcommands, with its value.
                Some(option) if !option.contains('=') && !is_flag(option.trim_start_matches('-')) => at += 1,
                Some(_) => {}
                None if STAGES.contains(&word.as_str()) => {}
                None => places.push(at),
            }
            at += 1;
        }
        Some(places)
    }

    /// Returns the options by their long names; `None` if no option has a known machine.
    fn finished(&self, form: &CommandForm<'_>, sources: &SourceFiles, path: &str) -> Option<CommandOptions> {
        let subcommands = self.subcommands(form.words.split(' ').count() - 1)?;
        let mut finished = CommandOptions::default();
        let mut plain: Vec<&str> = Vec::new();
        let mut words =
            self.words.iter().enumerate().filter(|(at, _)| !subcommands.contains(at)).map(|(_, it)| it).peekable();
        while let Some(word) = words.next() {
            let Some((option, value)) = option(word, form) else {
                plain.push(word);
                continue;
            };
            let mut values: Vec<String> = value.map(str::to_owned).into_iter().collect();
            if values.is_empty() && !is_flag(option) {
                values.extend(words.next_if(|next| !next.starts_with('-')).cloned());
                while let Some(more) = words.next_if(|next| form.takes_lists && !next.starts_with('-')) {
                    values.push(more.clone());
                }
            }
            match values.iter().find_map(|it| it.strip_prefix("file://")) {
                Some(file) => finished.add_file(option, file, sources, path),
                // Each occurrence adds something, so one of them is not the whole.
                None if finished.options.contains_key(option) => return None,
                None => finished.add(option, &values),
            }
        }
        let is_stage = |word: &&str| STAGES.contains(word);
        let named: Vec<&str> = plain.into_iter().filter(|word| !is_stage(word)).collect();
        finished.names = if named.iter().all(|it| !it.contains(HOLE) && *it != "$@") { named.len() } else { 0 };
        let of_option = finished.options.get(form.name).map(|it| it.trim_matches('"').to_owned());
        finished.name = of_option.or_else(|| named.first().map(|it| (*it).to_owned())).filter(|it| is_literal(it));
        let is_known = |option: &String| finished.options.get(option).is_some_and(|it| !it.contains(['$', HOLE]));
        form.needs.iter().any(is_known).then_some(finished)
    }
}

impl CommandOptions {
    fn add(&mut self, option: &str, values: &[String]) {
        let shown = |value: &String| quoted(&value.replace(HOLE, "$OUTPUT"));
        let value = match values {
            [] => "true".to_owned(),
            [value] if value.starts_with(['{', '[']) => value.replace('\n', " "),
            [value] if value.contains(['=', ',']) && is_shorthand(value) => {
                let members = members(value);
                self.options.insert(format!("{option}-count"), members.len().to_string());
                shorthand(&members)
            }
            [value] => {
                // A list with one member.
                if option.ends_with('s') {
                    self.options.insert(format!("{option}-count"), "1".to_owned());
                }
                shown(value)
            }
            several => format!("[{}]", several.iter().map(shown).collect::<Vec<_>>().join(", ")),
        };
        let is_name = option.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        if is_name && !option.is_empty() {
            self.options.insert(option.to_owned(), value);
        }
    }

    /// Adds the members of a JSON file, each as the option of the same name, or the file as the value of its option.
    fn add_file(&mut self, option: &str, file: &str, sources: &SourceFiles, path: &str) {
        const MOST_BYTES: usize = 64 << 10;
        let places = [parent(path), ""].into_iter().filter_map(|folder| join(folder, file));
        let Some(id) = places.filter_map(|it| sources.open(&it).ok()).next() else { return };
        let text = sources.text(id);
        let read = yaml::read(id, text.get(..MOST_BYTES).unwrap_or(&text));
        let Some(root) = read.documents.first().map(|it| &it.root).filter(|root| root.is_map()) else { return };
        let in_line =
            |node: &Node| text.get(node.span.start as usize..node.span.end as usize).map(|it| it.replace('\n', " "));
        if option != "cli-input-json" {
            self.options.extend(in_line(root).map(|value| (option.to_owned(), value)));
            return;
        }
        for entry in root.entries() {
            let name = kebab_case(&entry.key);
            if let Some(value) = in_line(&entry.value).filter(|_| !self.options.contains_key(&name)) {
                self.options.insert(name, value);
            }
        }
    }
}

/// Returns true for `type=nvidia-l4,count=2` and `us-east1-b,us-east1-c`.
fn is_shorthand(value: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=,-_./:[]$".contains(c);
    value.chars().all(is_plain) && !value.contains("://")
}

/// Returns the keys of a value in the short form of clouds with their values; members of a list have no key.
fn members(value: &str) -> Vec<(&str, Vec<&str>)> {
    let mut members: Vec<(&str, Vec<&str>)> = Vec::new();
    for part in value.split(',') {
        match (part.split_once('='), members.last_mut()) {
            (Some((key, value)), _) => members.push((key, vec![value.trim_matches(['[', ']'])])),
            (None, Some((key, values))) if !key.is_empty() => values.push(part.trim_matches(['[', ']'])),
            (None, _) => members.push(("", vec![part.trim_matches(['[', ']'])])),
        }
    }
    members
}

/// Writes members as YAML: a mapping if they have keys, otherwise a list.
fn shorthand(members: &[(&str, Vec<&str>)]) -> String {
    let list = |values: &[&str]| values.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ");
    let one = |values: &[&str]| if values.len() == 1 { list(values) } else { format!("[{}]", list(values)) };
    if members.iter().any(|(key, _)| key.is_empty()) {
        let values: Vec<&str> = members.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        return format!("[{}]", list(&values));
    }
    let entries = members.iter().map(|(key, values)| format!("{}: {}", quoted(key), one(values)));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// Returns the long name of an option, and its value if it follows `=`.
fn option<'w>(word: &'w str, form: &CommandForm<'w>) -> Option<(&'w str, Option<&'w str>)> {
    if let Some(long) = word.strip_prefix("--") {
        return Some(long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))));
    }
    let short = word.strip_prefix('-').filter(|it| !it.is_empty())?;
    let (letter, value) = short.split_once('=').map_or((short, None), |(letter, value)| (letter, Some(value)));
    let mut named = form.short.iter().filter_map(|it| it.split_once('='));
    Some((named.find(|(short, _)| *short == letter).map_or("", |(_, long)| long), value))
}

fn is_flag(option: &str) -> bool {
    FLAGS.iter().any(|flag| if flag.ends_with('-') { option.starts_with(flag) } else { option == *flag })
}

/// Converts `InstanceType` and `instanceType` to `instance-type`.
fn kebab_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemoryTree;

    fn objects(path: &str, text: &str) -> Option<String> {
        let tree =
            MemoryTree::new().with(path, text).with("run.json", "{\"InstanceType\": \"p5.48xlarge\", \"MinCount\": 2}");
        let sources = SourceFiles::new(tree);
        let needs = ["instance-type".to_owned()];
        let short = ["t=instance-type".to_owned()];
        let form = CommandForm {
            kind: "Machines",
            group: "a",
            words: "aws ec2 run-instances",
            needs: &needs,
            name: "",
            takes_lists: true,
            short: &short,
        };
        let found = read(&sources, path, !path.ends_with(".yml"), &[form])?;
        let lines = sources.text(found);
        let spec = lines.lines().filter(|line| line.starts_with("  ")).map(str::trim);
        Some(spec.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn options_are_read_in_every_form() {
        for (script, expected) in [
            ("aws ec2 run-instances --instance-type p5.48xlarge", "copies: 1..1; instance-type: \"p5.48xlarge\""),
            ("sudo aws --profile x ec2 run-instances -t=a", "copies: 1..1; instance-type: \"a\"; profile: \"x\""),
            ("T=a\nI=$(aws ec2 run-instances -t $T)", "copies: 1..1; instance-type: \"a\""),
            ("for i in 1 2; do aws ec2 run-instances -t a; done", "instance-type: \"a\""),
            ("[ -n \"$X\" ] && aws ec2 run-instances -t a", "copies: 0..1; instance-type: \"a\""),
            ("describe || aws ec2 run-instances -t a", "copies: 1..1; instance-type: \"a\""),
            ("f() { aws ec2 run-instances -t a; }\nf\nf", "instance-type: \"a\""),
            (
                "aws ec2 run-instances -t a\naws ec2 terminate-instances",
                "deleted: true; copies: 1..1; instance-type: \"a\"",
            ),
            (
                "aws ec2 run-instances -t a --o MarketType=spot,A=1,2",
                "copies: 1..1; instance-type: \"a\"; o: {\"MarketType\": \"spot\", \"A\": [\"1\", \"2\"]}; o-count: 2",
            ),
            (
                "aws ec2 run-instances --cli-input-json file://run.json",
                "copies: 1..1; instance-type: \"p5.48xlarge\"; min-count: 2",
            ),
        ] {
            assert_eq!(objects("up.sh", script).as_deref(), Some(expected), "{script}");
        }
        for script in [
            "aws ec2 run-instances --instance-type $TYPE",
            "aws ec2 run-instances --instance-type \"${TYPE:-p5.48xlarge}\"",
            "A=a\nA=b\naws ec2 run-instances -t $A",
            "aws ec2 run-instances -t a -t b",
            "echo aws ec2 run-instances -t a",
            "# aws ec2 run-instances -t a",
            "aws ec2 describe-instances -t a",
        ] {
            assert_eq!(objects("up.sh", script), None, "{script}");
        }
    }

    #[test]
    fn steps_of_pipelines_are_scripts() {
        let text = "steps:\n  - run: |\n      aws ec2 run-instances \\\n        -t a\n  - run: echo aws ec2 run-instances -t a\n";
        assert_eq!(objects("ci.yml", text).as_deref(), Some("copies: 1..1; instance-type: \"a\""));
    }

    #[test]
    fn hostile_commands_end() {
        for part in ["$(", "--", "-t ", "=", ",", "[", "{", "file://", "'"] {
            let script = format!("aws ec2 run-instances -t a {}", part.repeat(2000));
            objects("up.sh", &script);
            objects("up.sh", &format!("aws ec2 run-instances -t a --x {}", part.repeat(2000)));
        }
    }
}
