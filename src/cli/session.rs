use std::io::Read;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

use super::args::{Arguments, Input};
use super::disk::{DiskTree, LARGEST_FILE_BYTES};
use super::{Failure, Outcome, discover};
use crate::decide::Decided;
use crate::diagnostic::nearest;
use crate::report::{Paths, Report};
use crate::source::Sources;
use crate::{Analysis, Settings, terraform};

/// The input of one run: a tree, the files in it that were named or found, and the settings.
pub(super) struct Session {
    pub(super) sources: Sources,
    /// Sorted, each once.
    pub(super) files: Vec<String>,
    pub(super) settings: Settings,
    paths: Paths,
    allow_empty: bool,
}

impl Session {
    pub(super) fn open(input: &Input) -> Result<Session, Failure> {
        let (given, paths): (Vec<_>, Vec<_>) = input.paths.iter().cloned().partition(|path| path.as_os_str() == "-");
        let piped = (!given.is_empty()).then(piped).transpose()?;
        let place = Place::of(&paths, piped.is_some())?;
        let mut files: Vec<String> = Vec::new();
        for path in &place.named {
            if path.is_dir() {
                files.extend(discover::below(path).iter().filter_map(|found| place.in_tree(found)));
            } else {
                files.extend(place.in_tree(path));
            }
        }
        files.sort();
        files.dedup();
        let directories = place.named.iter().filter(|path| path.is_dir());
        let settings = Settings {
            terraform: terraform::Options {
                variables: input.variables.clone(),
                variable_files: variable_files(input, &place)?,
                environment: environment(),
                workspace: input.workspace.clone(),
                named_roots: directories.filter_map(|path| place.in_tree(path)).collect(),
                modules_directory: None,
            },
            ..Settings::default()
        };
        let paths = place.paths();
        let mut tree = DiskTree::new(place.root, place.allowed);
        if let Some((name, text)) = piped {
            files.push(name.clone());
            tree = tree.with_given(name, text);
        }
        Ok(Session { sources: Sources::new(tree), files, settings, paths, allow_empty: input.allow_empty })
    }

    pub(super) fn analyze(&self) -> Analysis {
        crate::analyze(&self.sources, &self.files, &self.settings)
    }

    pub(super) fn report<'a>(&'a self, analysis: &'a Analysis, findings: &'a [Decided]) -> Report<'a> {
        Report {
            sources: &self.sources,
            paths: &self.paths,
            inventory: &analysis.inventory,
            bill: &analysis.bill,
            findings,
            undetermined: &analysis.undetermined,
            catalog: crate::report::Catalog::default(),
        }
    }

    pub(super) fn outcome(&self, _analysis: &Analysis) -> Outcome {
        if self.files.is_empty() && !self.allow_empty { Outcome::Empty } else { Outcome::Passed }
    }
}

/// Where a run happens.
struct Place {
    /// The running directory.
    here: PathBuf,
    /// What was named, absolute and with links followed.
    named: Vec<PathBuf>,
    /// The root of the tree: what all allowed directories have in common.
    root: PathBuf,
    /// The repositories of what was named; nothing outside is read.
    allowed: Vec<PathBuf>,
}

impl Place {
    fn of(paths: &[PathBuf], piped: bool) -> Result<Place, Failure> {
        let here = std::env::current_dir()
            .and_then(|directory| directory.canonicalize())
            .map_err(|error| Failure::new(format!("the current directory cannot be read: {error}")))?;
        let mut named = Vec::new();
        for path in paths {
            named.push(canonical(path)?);
        }
        if named.is_empty() && !piped {
            named.push(here.clone());
        }
        let mut allowed: Vec<PathBuf> = named.iter().map(|path| boundary(path, &here)).collect();
        allowed.sort();
        allowed.dedup();
        let root = allowed.iter().cloned().reduce(|root, next| shared(&root, &next)).unwrap_or_else(|| here.clone());
        Ok(Place { here, named, root, allowed })
    }

    /// A path of the tree; none for names that are no text.
    fn in_tree(&self, path: &Path) -> Option<String> {
        let parts: Option<Vec<&str>> =
            path.strip_prefix(&self.root).ok()?.components().map(|part| part.as_os_str().to_str()).collect();
        Some(parts?.join("/"))
    }

    fn paths(&self) -> Paths {
        if let Some(directory) = self.in_tree(&self.here) {
            return Paths::seen_from(&directory);
        }
        let common = shared(&self.here, &self.root);
        let up = self.here.strip_prefix(&common).map_or(0, |rest| rest.components().count());
        let down = self.root.strip_prefix(&common).unwrap_or(&self.root).to_string_lossy().replace('\\', "/");
        let down = if down.is_empty() { down } else { format!("{down}/") };
        Paths::through(&format!("{}{down}", "../".repeat(up)))
    }
}

/// Standard input, as a file whose name says what it seems to be.
fn piped() -> Result<(String, Vec<u8>), Failure> {
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .take(LARGEST_FILE_BYTES + 1)
        .read_to_end(&mut text)
        .map_err(|error| Failure::new(format!("standard input cannot be read: {error}")))?;
    if text.len() as u64 > LARGEST_FILE_BYTES {
        return Err(Failure::new(format!("standard input is longer than the limit of {LARGEST_FILE_BYTES} bytes")));
    }
    let start = text.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    let name = if start == Some(b'{') { "<stdin>.json" } else { "<stdin>.yaml" };
    Ok((name.to_owned(), text))
}

fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| {
        let what = path.display();
        match error.kind() {
            std::io::ErrorKind::NotFound => missing(path),
            _ => Failure::new(format!("path `{what}` cannot be read: {error}")),
        }
    })
}

/// A path that is not there may be a verb that was misspelt.
fn missing(path: &Path) -> Failure {
    let failure = Failure::new(format!("path `{}` does not exist", path.display()));
    let typed = path.to_str().unwrap_or_default();
    let command = Arguments::command();
    match nearest(typed, command.get_subcommands().map(clap::Command::get_name)) {
        Some(verb) => failure.with_help(format!("the verb is `gpulint {verb}`")),
        None => failure.with_help("name a file or a directory; `gpulint --help` lists the verbs"),
    }
}

/// The directory that may be read because of a named path: its repository, else the running directory around it.
fn boundary(path: &Path, here: &Path) -> PathBuf {
    let directory = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    match directory.ancestors().find(|ancestor| ancestor.join(".git").exists()) {
        Some(repository) => repository.to_owned(),
        None if directory.starts_with(here) => here.to_owned(),
        None => directory.to_owned(),
    }
}

fn shared(a: &Path, b: &Path) -> PathBuf {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(part, _)| part).collect()
}

fn variable_files(input: &Input, place: &Place) -> Result<Vec<String>, Failure> {
    let tree_path = |file: &PathBuf| {
        let real = canonical(file)?;
        place.in_tree(&real).ok_or_else(|| {
            Failure::new(format!("variable file `{}` lies outside of the tree that is read", file.display()))
        })
    };
    input.variable_files.iter().map(tree_path).collect()
}

/// The variables that Terraform takes from the environment.
fn environment() -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.to_str()?.strip_prefix("TF_VAR_")?.to_owned();
            Some((name, value.into_string().ok()?))
        })
        .collect();
    variables.sort();
    variables
}
