//! Where a run happens: what was named, and the tree around it that may be read.

use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::cli::Failure;
use crate::cli::args::Arguments;
use crate::cli::world::serving;
use crate::diagnostic::nearest;
use crate::report::Paths;
use crate::source::named;

/// Where a run happens: what was named, and the tree around it that may be read.
#[derive(Debug)]
pub(in crate::cli) struct Place {
    /// The running directory.
    pub(in crate::cli) here: PathBuf,
    /// The files and directories to check, absolute and with links followed. A file that is a link into its own repository stays
    /// at its own place: it is part of what lies there.
    pub(in crate::cli) named: Vec<PathBuf>,
    /// The root of the tree: what all allowed directories have in common.
    pub(in crate::cli) root: PathBuf,
    /// The repositories of what was named; nothing outside is read.
    pub(in crate::cli) allowed: Vec<PathBuf>,
}

impl Place {
    /// `beside` are files that were named for another reason than to be checked: settings, variables, prices. `here` stands
    /// for the running directory, if it is given.
    pub(in crate::cli) fn find(here: Option<&Path>, paths: &[PathBuf], beside: &[&Path]) -> Result<Place, Failure> {
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
        Ok(Place { here, named, root, allowed })
    }

    /// The name that standard input is given, as a path of the tree.
    pub(in crate::cli) fn stdin_name(&self, path: &Path) -> Result<String, Failure> {
        let inside = !path.components().any(|part| part == std::path::Component::ParentDir);
        let in_tree = inside.then(|| self.in_tree(&self.here.join(path))).flatten();
        in_tree.filter(|it| !it.is_empty()).ok_or_else(|| {
            Failure::new(format!("`{}` is no name of a file here", path.display()))
                .with_help("--stdin-filename names a file below the running directory")
        })
    }

    /// A path of the tree; none for what lies outside.
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

    /// A file that was named, as a path of the tree.
    pub(in crate::cli) fn named_file(&self, path: &Path) -> Result<String, Failure> {
        let real = canonical(path)?;
        self.in_tree(&real)
            .ok_or_else(|| Failure::new(format!("`{}` lies outside of what may be read", path.display())))
    }

    /// How paths are shown: relative to the running directory.
    pub(in crate::cli) fn paths(&self) -> Paths {
        if let Some(directory) = self.in_tree(&self.here) {
            return Paths::seen_from(&directory);
        }
        let common = shared(&self.here, &self.root);
        let up = self.here.strip_prefix(&common).map_or(0, |rest| rest.components().count());
        let down = names_of(self.root.strip_prefix(&common).unwrap_or(&self.root));
        let down = if down.is_empty() { down } else { format!("{down}/") };
        Paths::through(&format!("{}{down}", "../".repeat(up)))
    }
}

impl Place {
    /// How code hosts name files: from the root of the repository; elsewhere as they are shown.
    pub(in crate::cli) fn hosted_paths(&self) -> Paths {
        if repository(&self.root) == Some(&self.root) { Paths::default() } else { self.paths() }
    }
}

pub(in crate::cli) fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => missing(path),
        _ => Failure::new(format!("path `{}` cannot be read: {error}", path.display())),
    })
}

/// The place of what was named.
fn at_its_place(path: &Path) -> Result<PathBuf, Failure> {
    let real = canonical(path)?;
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

/// A path that is not there may be a verb that was misspelt.
fn missing(path: &Path) -> Failure {
    let failure = Failure::new(format!("path `{}` does not exist", path.display()));
    let typed = path.to_str().unwrap_or_default();
    let command = Arguments::command();
    let verbs = command.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name);
    failure.with_help(match asked_elsewhere(typed) {
        Some(help) => help.to_owned(),
        None => match nearest(typed, verbs) {
            Some(verb) => format!("the verb is `gpulint {verb}`"),
            None => match beside(path) {
                Some(other) => format!("did you mean `{}`?", other.display()),
                None => "name a file or a directory; `gpulint --help` lists the verbs".to_owned(),
            },
        },
    })
}

/// What other programs have verbs for.
fn asked_elsewhere(typed: &str) -> Option<&'static str> {
    match typed {
        "help" => Some("`gpulint --help` lists the verbs, `gpulint VERB --help` tells of one"),
        "version" => Some("it is `gpulint --version`"),
        "lint" | "scan" | "run" => Some("it is `gpulint`, or `gpulint check PATHS`"),
        _ => None,
    }
}

/// What was meant by a path that is not there: the same with the slashes of this system, or a name beside it that is near.
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

/// What answers for one folder is asked by others, who name what they like.
fn demand_inside(real: &Path) -> Result<(), Failure> {
    if serving::holds(real) {
        return Ok(());
    }
    Err(Failure::new("a path leads out of the folder that is served, and is not read")
        .with_help("name files and folders below it, relative to it"))
}

/// The directory that may be read because of a named path: its repository, else the running directory around it.
fn boundary(path: &Path, here: &Path) -> PathBuf {
    let directory = if path.is_dir() { path } else { path.parent().unwrap_or(path) };
    match repository(directory) {
        Some(repository) => repository.to_owned(),
        None if directory.starts_with(here) => here.to_owned(),
        None => directory.to_owned(),
    }
}

/// A path below the root as a path of the tree.
pub(in crate::cli) fn names_of(inside: &Path) -> String {
    let names: Vec<_> = inside.components().map(|part| named(part.as_os_str().as_encoded_bytes())).collect();
    names.join("/")
}

/// The nearest directory above that git keeps.
pub(in crate::cli) fn repository(directory: &Path) -> Option<&Path> {
    directory.ancestors().filter(|it| serving::holds(it)).find(|ancestor| ancestor.join(".git").exists())
}

pub(in crate::cli) fn shared(a: &Path, b: &Path) -> PathBuf {
    a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(part, _)| part).collect()
}
