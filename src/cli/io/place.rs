//! The paths that the user named, and the tree around them that gpulint may read.

use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::cli::Failure;
use crate::cli::args::CliArguments;
use crate::cli::io::serving;
use crate::diagnostic::nearest;
use crate::report::ShownPaths;
use crate::source::named;

/// The paths that the user named, and the tree around them that gpulint may read.
#[derive(Debug)]
pub(in crate::cli) struct WorkingTree {
    /// The current directory.
    pub(in crate::cli) here: PathBuf,
    /// The files and directories to check, absolute and with links followed. A link to a file in the same repository
    /// keeps the link's path, because the file belongs to the link's directory, too.
    pub(in crate::cli) named: Vec<PathBuf>,
    /// The root of the tree: the nearest common ancestor of all allowed directories.
    pub(in crate::cli) root: PathBuf,
    /// The repositories of the named paths. gpulint reads nothing outside them.
    pub(in crate::cli) allowed: Vec<PathBuf>,
}

impl WorkingTree {
    /// `beside` are files that options name, such as settings and variable files: gpulint reads but does not check them. `here`
    /// replaces the current directory, if it is set.
    pub(in crate::cli) fn find(
        here: Option<&Path>,
        paths: &[PathBuf],
        beside: &[&Path],
    ) -> Result<WorkingTree, Failure> {
        let here = match here {
            Some(here) => canonical(here)?,
            None => std::env::current_dir()
                .and_then(|directory| directory.canonicalize())
                .map_err(|error| Failure::new(format!("the current directory cannot be read: {error}")))?,
        };
        let named = paths.iter().map(|path| at_its_place(path)).collect::<Result<Vec<_>, _>>()?;
        named.iter().try_for_each(|path| demand_inside(path))?;
        let mut allowed: Vec<PathBuf> = named.iter().map(|path| boundary(path, &here)).collect();
        for path in beside {
            let real = canonical(path)?;
            demand_inside(&real)?;
            if !allowed.iter().any(|directory| real.starts_with(directory)) {
                allowed.push(if real.is_dir() { real } else { real.parent().unwrap_or(&real).to_owned() });
            }
        }
        allowed.sort();
        allowed.dedup();
        let root = allowed.iter().cloned().reduce(|root, next| shared(&root, &next)).unwrap_or_else(|| here.clone());
        Ok(WorkingTree { here, named, root, allowed })
    }

    /// Returns the name of standard input as a path of the tree.
    pub(in crate::cli) fn stdin_name(&self, path: &Path) -> Result<String, Failure> {
        let inside = !path.components().any(|part| part == std::path::Component::ParentDir);
        let in_tree = inside.then(|| self.in_tree(&self.here.join(path))).flatten();
        in_tree.filter(|it| !it.is_empty()).ok_or_else(|| {
            Failure::new(format!("`{}` is not a file name below the current directory", path.display()))
                .with_help("pass --stdin-filename with a path below the current directory, such as infra/main.tf")
        })
    }

    /// Returns a path of the tree, or `None` for a path outside it.
    pub(in crate::cli) fn in_tree(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(&self.root).ok()?;
        let mut joined = String::with_capacity(inside.as_os_str().len());
        for part in inside.components() {
            if !joined.is_empty() {
                joined.push('/');
            }
            joined.push_str(&named(part.as_os_str().as_encoded_bytes()));
        }
        Some(joined)
    }

    /// Returns a named file as a path of the tree.
    pub(in crate::cli) fn named_file(&self, path: &Path) -> Result<String, Failure> {
        let real = canonical(path)?;
        self.in_tree(&real).ok_or_else(|| {
            Failure::new(format!("`{}` is outside the directories that gpulint may read", path.display()))
        })
    }

    /// Returns how reports show paths: relative to the current directory.
    pub(in crate::cli) fn paths(&self) -> ShownPaths {
        if let Some(directory) = self.in_tree(&self.here) {
            return ShownPaths::seen_from(&directory);
        }
        let common = shared(&self.here, &self.root);
        let up = self.here.strip_prefix(&common).map_or(0, |rest| rest.components().count());
        let down = names_of(self.root.strip_prefix(&common).unwrap_or(&self.root));
        let down = if down.is_empty() { down } else { format!("{down}/") };
        ShownPaths::through(&format!("{}{down}", "../".repeat(up)))
    }
}

impl WorkingTree {
    /// Returns how code hosts name files: relative to the root of the repository. Outside a repository, it returns
    /// `paths`.
    pub(in crate::cli) fn hosted_paths(&self) -> ShownPaths {
        if repository(&self.root) == Some(&self.root) { ShownPaths::default() } else { self.paths() }
    }
}

/// Returns the absolute path, with links followed.
pub(in crate::cli) fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    canonical_or(path, || match beside(path) {
        Some(other) => format!("did you mean `{}`?", other.display()),
        None => "pass an existing file or directory".to_owned(),
    })
}

/// Returns the absolute path, or an error with this help if the path does not exist.
fn canonical_or(path: &Path, help: impl FnOnce() -> String) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::new(format!("path `{}` does not exist", path.display())).with_help(help())
        }
        _ => Failure::new(format!("path `{}` cannot be read: {error}", path.display())),
    })
}

/// Demands that the file of --config exists.
pub(in crate::cli) fn demand_settings(config: Option<&Path>) -> Result<(), Failure> {
    let is_missing = |path: &&Path| path.metadata().is_err_and(|it| it.kind() == std::io::ErrorKind::NotFound);
    match config.filter(is_missing) {
        None => Ok(()),
        Some(path) => Err(Failure::new(format!("settings file `{}` does not exist", path.display()))
            .with_help("pass an existing file with --config, or leave out --config to use the nearest gpulint.toml")),
    }
}

/// Returns the absolute path of a file or directory to check.
fn at_its_place(path: &Path) -> Result<PathBuf, Failure> {
    let real = canonical_or(path, || help_for_missing(path))?;
    let own = || {
        let (directory, name) = (path.parent()?, path.file_name()?);
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        let directory = directory.canonicalize().ok()?;
        let is_inside = repository(&directory).is_some_and(|it| real.starts_with(it));
        Some(directory.join(name)).filter(|_| is_inside)
    };
    let is_link = real.is_file() && path.is_symlink();
    Ok(is_link.then(own).flatten().unwrap_or(real))
}

/// Returns the next step for a missing path. It may be a subcommand behind an option, or a misspelled one.
fn help_for_missing(path: &Path) -> String {
    let typed = path.to_str().unwrap_or_default();
    let command = CliArguments::command();
    let verbs = || command.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name);
    if let Some(help) = asked_elsewhere(typed) {
        return help.to_owned();
    }
    if verbs().any(|verb| verb == typed) {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        return format!("write the subcommand first: `{}`", subcommand_first(typed, &arguments));
    }
    match nearest(typed, verbs())
        .map(|verb| format!("gpulint {verb}"))
        .or_else(|| beside(path).map(|other| other.display().to_string()))
    {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "pass an existing file or directory, such as `gpulint check infra/`; `gpulint --help` lists the subcommands"
                .to_owned()
        }
    }
}

/// Returns the command line with the subcommand as its first word, as in `gpulint check -v .` for `gpulint -v check .`.
fn subcommand_first(verb: &str, arguments: &[String]) -> String {
    const MOST_WORDS: usize = 12;
    let is_plain =
        |word: &String| word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=,:@+%".contains(c)) && !word.is_empty();
    let at = arguments.iter().position(|word| word == verb);
    let Some(at) = at.filter(|_| arguments.len() <= MOST_WORDS && arguments.iter().all(is_plain)) else {
        return format!("gpulint {verb} [OPTIONS] [PATHS]");
    };
    let (before, after) = (&arguments[..at], &arguments[at + 1..]);
    let words: Vec<&str> =
        ["gpulint", verb].into_iter().chain(before.iter().chain(after).map(String::as_str)).collect();
    words.join(" ")
}

/// Returns the gpulint command for subcommands that other programs have.
fn asked_elsewhere(typed: &str) -> Option<&'static str> {
    match typed {
        "help" => Some("run `gpulint --help` for the subcommands, or `gpulint SUBCOMMAND --help` for one of them"),
        "version" => Some("run `gpulint --version`"),
        "lint" | "scan" | "run" => Some("run `gpulint`, or `gpulint check PATHS`"),
        _ => None,
    }
}

/// Returns the path that was probably meant: the same path with the slashes of this system, or a similar name next to
/// it.
fn beside(path: &Path) -> Option<PathBuf> {
    const MOST: usize = 10_000;
    let slashed = PathBuf::from(path.to_str()?.replace('\\', "/"));
    if slashed != path && slashed.exists() {
        return Some(slashed);
    }
    let directory = path.parent()?;
    let looked_at = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let names = looked_at.read_dir().ok()?.take(MOST).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(directory.join(near))
}

/// Refuses paths outside the folder that a server answers for. The clients of a server may pass any path.
fn demand_inside(real: &Path) -> Result<(), Failure> {
    if serving::holds(real) {
        return Ok(());
    }
    Err(Failure::new("gpulint does not read paths outside the served folder")
        .with_help("pass files and folders below the served folder, relative to it"))
}

/// Returns the directory that gpulint may read because of a named path: its repository, or else the current directory
/// around it.
fn boundary(path: &Path, here: &Path) -> PathBuf {
    let directory = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    match repository(directory) {
        Some(repository) => repository.to_owned(),
        None if directory.starts_with(here) => here.to_owned(),
        None => directory.to_owned(),
    }
}

/// Converts a path below the root into a path of the tree.
pub(in crate::cli) fn names_of(inside: &Path) -> String {
    let names: Vec<_> = inside.components().map(|part| named(part.as_os_str().as_encoded_bytes())).collect();
    names.join("/")
}

/// Returns the root of the git repository around a directory.
pub(in crate::cli) fn repository(directory: &Path) -> Option<&Path> {
    directory.ancestors().filter(|it| serving::holds(it)).find(|ancestor| ancestor.join(".git").exists())
}

/// Returns the nearest common ancestor of two paths.
pub(in crate::cli) fn shared(a: &Path, b: &Path) -> PathBuf {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(part, _)| part).collect()
}
