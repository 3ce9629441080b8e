//! Finds changed files that decide a value which gpulint does not know: the file or parameter behind a data source of
//! Terraform, a command or a dependency of Terragrunt, and a Secret from which Flux takes variables.

use std::collections::BTreeSet;

use regex::Regex;

use super::change::{ChangedLine, ChangedText, FileRole};
use super::objects::TextParts;
use super::program_inputs::{end_of, is_meant};
use crate::compare::state::TreeState;
use crate::front_ends::files;
use crate::inventory::Unjudged;
use crate::source::{file_name, is_below, join, parent, static_regex};

/// The largest number of values, and of files that are searched for their sources.
const MOST_VALUES: usize = 100;
const MOST_FILES: usize = 5_000;

static_regex!(static DATA: Regex = r"`data\.([\w-]+)\.([\w-]+)");
static_regex!(static OUTPUT: Regex = r"output of ([^:`\s]+): known only after apply");
static_regex!(static VARIABLE: Regex = r"`\$\{([A-Za-z_]\w*)");
static_regex!(
/// A string, without an expression at its beginning.
static LITERAL: Regex = r#""(?:\$\{[\w.]+\}/?)?([^"\n]*)""#);
/// Shorter strings occur everywhere.
const SHORTEST_LITERAL: usize = 3;
static_regex!(static TAKEN: Regex = r"\bdependency\.[\w-]+\.outputs\.([\w-]+)");
static_regex!(static SOURCE: Regex = r#"\bsource\s*=\s*"(?:\$\{[^}]*\}/?)?([^"?]+)"#);
static_regex!(static NAME: Regex = r#"\bname["']?\s*:\s*["']?([\w.-]+)"#);
static_regex!(static FROM_ENVIRONMENT: Regex = r#"readEnvironmentVariable\(\s*'([^']+)'"#);
static_regex!(static SECRET: Regex = r#"(?m)^["']?kind["']?\s*:\s*["']?\w*Secret\b"#);

/// Data sources whose files `program_inputs` finds.
const PROGRAMS: [&str; 2] = ["external", "terraform_remote_state"];

/// A data source whose result decides an unknown value.
struct DataSource {
    kind: String,
    name: String,
    path: String,
    /// The strings in its block: paths, and names of what it reads.
    literals: Vec<String>,
}

/// A unit of Terragrunt whose outputs decide an unknown value.
struct DependencyUnit {
    unit: String,
    /// The directories of the unit and of its module.
    directories: Vec<String>,
    /// The identifiers by which other lines decide its outputs.
    words: BTreeSet<String>,
}

/// Variables that Flux takes from objects outside of the deployed directory.
struct FluxVariables {
    path: String,
    /// The names of the objects.
    from: BTreeSet<String>,
    /// The files from which kustomizations generate these objects.
    files: BTreeSet<String>,
}

/// The sources of all values that gpulint does not know in the later state.
#[derive(Default)]
pub(super) struct UnknownValues {
    data: Vec<DataSource>,
    units: Vec<DependencyUnit>,
    variables: BTreeSet<String>,
    flux: Vec<FluxVariables>,
    /// The environment variables from which parameter files of Bicep take values.
    environment: BTreeSet<String>,
    /// True if the output of a command decides a value.
    pub(super) of_commands: bool,
}

impl UnknownValues {
    /// Returns the sources of the values for which something was not evaluated.
    pub(super) fn of(head: &TreeState, unjudged: &[Unjudged]) -> UnknownValues {
        let all = |pattern: &Regex| -> BTreeSet<Vec<String>> {
            let groups = |it: regex::Captures| it.iter().skip(1).flatten().map(|it| it.as_str().to_owned()).collect();
            let found = unjudged.iter().flat_map(|it| pattern.captures_iter(&it.reason).map(groups));
            found.take(MOST_VALUES).collect()
        };
        let (data, outputs) = (all(&DATA), all(&OUTPUT));
        let mut values = UnknownValues {
            variables: all(&VARIABLE).into_iter().flatten().collect(),
            of_commands: unjudged.iter().any(|it| it.reason.contains("output of a command")),
            ..UnknownValues::default()
        };
        if !data.is_empty() {
            values.data = data_sources(head, &data);
        }
        if !outputs.is_empty() {
            let taken = taken_outputs(head);
            values.units = outputs.iter().flatten().map(|unit| DependencyUnit::of(head, unit, &taken)).collect();
        }
        if !values.variables.is_empty() {
            values.flux = flux(head);
        }
        if unjudged.iter().any(|it| it.reason.contains("from an environment variable")) {
            values.environment = environment(head);
        }
        values
    }

    /// Returns the first changed line of a file that decides such a value, with the reason.
    pub(super) fn decided_in(&self, file: &ChangedText) -> Option<(usize, String)> {
        let of_data = || self.data.iter().find_map(|it| it.decided_in(file));
        let of_units = || self.units.iter().find_map(|it| it.decided_in(file));
        let command = |line: &ChangedLine| line.text.contains("run_cmd(");
        let of_commands = || {
            let is_open = self.of_commands && file.path.ends_with(".hcl");
            let line = file.new_lines().filter(|_| is_open).find(command)?;
            Some((line.number, "the output of another command decides the number or the type of machines".to_owned()))
        };
        let of_units = || of_units().or_else(of_commands);
        of_data().or_else(of_units).or_else(|| self.decided_for_flux(file)).or_else(|| self.set_for_bicep(file))
    }

    /// Returns the first changed line that sets an environment variable for Bicep, or reads another one.
    fn set_for_bicep(&self, file: &ChangedText) -> Option<(usize, String)> {
        let is_read = file.path.ends_with(".bicepparam");
        if self.environment.is_empty() || !(is_read || file.role == FileRole::Script || file.is_yaml()) {
            return None;
        }
        let mut named = file.new_lines().flat_map(|line| words(line.text).map(move |word| (line.number, word)));
        let (line, name) = named.find(|(_, word)| self.environment.contains(*word))?;
        Some((
            line,
            format!(
                "the environment variable `{name}` decides a parameter of Bicep, and gpulint does not know its value"
            ),
        ))
    }

    /// Returns the first changed line of an object from which Flux takes variables.
    fn decided_for_flux(&self, file: &ChangedText) -> Option<(usize, String)> {
        let is_of = |flux: &&FluxVariables| {
            let mut names = NAME.captures_iter(&file.is).filter_map(|it| Some(it.get(1)?.as_str()));
            file.is_yaml() && SECRET.is_match(&file.is) && names.any(|name| flux.from.contains(name))
                || flux.files.contains(file.path)
        };
        let flux = self.flux.iter().find(is_of)?;
        let sets = |text: &str, name: &str| words(text).any(|word| word == name);
        let is_shown = self.variables.iter().any(|name| sets(&file.is, name));
        // A file that names none of the variables may set each of them.
        let decides = |line: &ChangedLine| !is_shown || self.variables.iter().any(|name| sets(line.text, name));
        let line = file.new_lines().find(decides)?;
        Some((
            line.number,
            format!("{} takes variables from it that decide a number, and gpulint cannot read them", flux.path),
        ))
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c))).filter(|word| !word.is_empty())
}

fn data_sources(head: &TreeState, wanted: &BTreeSet<Vec<String>>) -> Vec<DataSource> {
    let mut found = Vec::new();
    let code = head.files.iter().filter(|path| files::is_terraform(path)).take(MOST_FILES);
    for path in code {
        let Some(text) = head.text(path) else { continue };
        for pair in wanted {
            let [kind, name] = pair.as_slice() else { continue };
            if PROGRAMS.contains(&kind.as_str()) {
                continue;
            }
            let Some(start) = text.find(&format!("data \"{kind}\" \"{name}\"")) else { continue };
            let rest = text.get(start..).unwrap_or_default();
            let block = rest.get(..end_of(rest)).unwrap_or(rest);
            let labels = [kind.as_str(), name.as_str()];
            let literals = LITERAL.captures_iter(block).filter_map(|it| Some(it.get(1)?.as_str().to_owned()));
            let is_meaning =
                |it: &String| it.len() >= SHORTEST_LITERAL && !it.contains('$') && !labels.contains(&it.as_str());
            let literals = literals.filter(is_meaning).take(MOST_VALUES).collect();
            found.push(DataSource { kind: kind.clone(), name: name.clone(), path: path.clone(), literals });
        }
    }
    found
}

impl DataSource {
    fn decided_in(&self, file: &ChangedText) -> Option<(usize, String)> {
        let address = format!("`data.{}.{}`", self.kind, self.name);
        let why = format!("{address} decides the number or the type of machines, and gpulint cannot read its value");
        if self.literals.iter().any(|it| file_name(it).len() > 2 && is_meant(it, file.path, &self.path)) {
            let line = file.new_lines().next().map_or(0, |line| line.number);
            return Some((line, format!("{address} in {} reads this file, and decides machines", self.path)));
        }
        if !files::is_terraform(file.path) {
            return None;
        }
        let parts = TextParts::of(&file.is, file.path);
        let header = format!("data \"{}\" \"{}\"", self.kind, self.name);
        let other = format!("resource \"{}\"", self.kind);
        let line = file.new_lines().find(|line| {
            let part = parts.text(&parts.around(line.number));
            file.path == self.path && part.contains(&header)
                || part.contains(&other) && self.literals.iter().any(|it| part.contains(it.as_str()))
        })?;
        Some((line.number, why))
    }
}

/// Returns the outputs that units of Terragrunt take from others.
fn taken_outputs(head: &TreeState) -> BTreeSet<String> {
    let units = head.files.iter().filter(|path| path.ends_with(".hcl")).take(MOST_FILES);
    let mut taken = BTreeSet::new();
    for text in units.filter_map(|path| head.text(path)) {
        taken.extend(TAKEN.captures_iter(&text).filter_map(|it| Some(it.get(1)?.as_str().to_owned())));
    }
    taken
}

impl DependencyUnit {
    fn of(head: &TreeState, unit: &str, taken: &BTreeSet<String>) -> DependencyUnit {
        let text = head.text(&format!("{unit}/terragrunt.hcl"));
        let source = text.as_deref().and_then(|text| Some(SOURCE.captures(text)?.get(1)?.as_str().replace("//", "/")));
        let module = source.and_then(|source| join(unit, &source));
        let directories: Vec<String> = [unit.to_owned()].into_iter().chain(module).collect();
        let mut deciding = BTreeSet::new();
        let is_code = |path: &&String| files::is_terraform(path) && directories.iter().any(|it| parent(path) == it);
        for text in head.files.iter().filter(is_code).filter_map(|path| head.text(path)) {
            for output in taken {
                let Some(start) = text.find(&format!("output \"{output}\"")) else { continue };
                let rest = text.get(start..).unwrap_or_default();
                deciding.extend(words(rest.get(..end_of(rest)).unwrap_or(rest)).map(str::to_owned));
            }
        }
        for plain in ["output", "value", "description", "var", "local", "module", "data", "sensitive", "true", "false"]
        {
            deciding.remove(plain);
        }
        DependencyUnit { unit: unit.to_owned(), directories, words: deciding }
    }

    fn decided_in(&self, file: &ChangedText) -> Option<(usize, String)> {
        let is_inside = self.directories.iter().any(|it| parent(file.path) == it || is_below(file.path, it));
        if !is_inside
            || !(files::is_terraform(file.path) || file.path.ends_with(".hcl") || file.path.contains(".tfvars"))
        {
            return None;
        }
        let parts = TextParts::of(&file.is, file.path);
        let decides = |line: &ChangedLine| {
            let part = parts.text(&parts.around(line.number));
            let is_output = part.trim_start().starts_with("output") && words(&part).any(|it| self.words.contains(it));
            let is_comment = ["#", "//"].iter().any(|mark| line.text.trim_start().starts_with(mark));
            !is_comment && (is_output || words(line.text).any(|it| self.words.contains(it)))
        };
        let line = file.new_lines().find(decides)?;
        let why = format!(
            "an output of {} decides the number or the type of machines, and gpulint cannot read it",
            self.unit
        );
        Some((line.number, why))
    }
}

/// Returns the objects of Flux that take variables from other objects.
fn flux(head: &TreeState) -> Vec<FluxVariables> {
    let manifests = head.files.iter().filter(|path| [".yaml", ".yml"].iter().any(|end| path.ends_with(end)));
    let takes = |path: &String| {
        let text = head.sources.glance(path, |text| memchr::memmem::find(text, b"substituteFrom").is_some());
        text.unwrap_or(false).then(|| head.text(path)).flatten()
    };
    let taken = |path: &String| {
        let text = takes(path)?;
        let from = text.split("substituteFrom").skip(1).flat_map(|rest| {
            NAME.captures_iter(rest).filter_map(|it| Some(it.get(1)?.as_str().to_owned())).take(MOST_VALUES)
        });
        let from: BTreeSet<String> = from.collect();
        let files = generating_files(head, &from);
        Some(FluxVariables { path: path.clone(), from, files })
    };
    manifests.filter_map(taken).take(MOST_VALUES).collect()
}

/// Returns the files from which kustomizations generate objects with these names.
fn generating_files(head: &TreeState, names: &BTreeSet<String>) -> BTreeSet<String> {
    let kustomizations = head.files.iter().filter(|path| file_name(path).starts_with("kustomization."));
    let mut files = BTreeSet::new();
    for path in kustomizations.take(MOST_FILES) {
        let Some(text) = head.text(path).filter(|text| text.contains("Generator")) else { continue };
        if !NAME.captures_iter(&text).any(|it| it.get(1).is_some_and(|name| names.contains(name.as_str()))) {
            continue;
        }
        let paths = text.split(|c: char| c.is_whitespace() || "[],=\"'".contains(c)).filter(|word| word.len() > 2);
        files.extend(paths.filter_map(|word| join(parent(path), word)));
    }
    files
}

/// Returns the environment variables from which parameter files of Bicep take values.
fn environment(head: &TreeState) -> BTreeSet<String> {
    let files = head.files.iter().filter(|path| path.ends_with(".bicepparam")).take(MOST_FILES);
    let mut names = BTreeSet::new();
    for text in files.filter_map(|path| head.text(path)) {
        names.extend(FROM_ENVIRONMENT.captures_iter(&text).filter_map(|it| Some(it.get(1)?.as_str().to_owned())));
    }
    names
}
