//! Copies of packs from git: checks that they match the settings, and renews them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::content::{Sums, shown};
use super::fetch::fetch;
use super::lock;
use super::lock::{Lock, Locked};
use crate::cli::Failure;
use crate::cli::io::abandoned;
use crate::config::{Config, PackCommit};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::{SourceFiles, Span, join, parent};

/// The default directory of copies.
const DIRECTORY: &str = ".gpulint";
const VENDOR: &str = "gpulint rules vendor";

/// A pack that comes from git.
pub(in crate::cli) struct Copied<'a> {
    pub(in crate::cli) origin: PackCommit<'a>,
    /// The pack's directory in the tree.
    pub(in crate::cli) path: String,
    /// The pack's directory, relative to the lock file.
    inside: String,
    /// The directory of the settings and of the lock file.
    directory: String,
    span: Span,
}

/// All copies, with their lock files.
#[derive(Default)]
pub(in crate::cli) struct Copies<'a> {
    pub(in crate::cli) all: Vec<Copied<'a>>,
    /// The lock files by directory, `None` if the file does not exist.
    locks: BTreeMap<String, Result<Option<Lock>, String>>,
}

impl<'a> Copies<'a> {
    pub(in crate::cli) fn configured(sources: &SourceFiles, config: &'a Config) -> Result<Copies<'a>, Diagnostic> {
        let mut copies = Copies::default();
        let mut taken = BTreeSet::new();
        for pack in config.packs() {
            let Some(origin) = pack.origin else { continue };
            let refuse = |message: String| Diagnostic::new(Level::Error, message, Some(pack.span));
            let directory = parent(&sources.path(pack.span.file)).to_owned();
            let path = match pack.path {
                Some(path) => path.to_owned(),
                None => default_path(&directory, origin.git)
                    .ok_or_else(|| refuse("the address contains no name for the pack: set `path`".to_owned()))?,
            };
            let above = if directory.is_empty() { String::new() } else { format!("{directory}/") };
            let inside = path.strip_prefix(&above).filter(|inside| !inside.is_empty()).map(str::to_owned);
            let inside = inside.filter(|inside| !inside.split('/').any(|part| part.eq_ignore_ascii_case(".git")));
            let Some(inside) = inside else {
                return Err(refuse("the `path` of a pack must be below the file that names it".to_owned()));
            };
            let overlaps = |known: &String| {
                format!("{known}/").starts_with(&format!("{path}/"))
                    || format!("{path}/").starts_with(&format!("{known}/"))
            };
            if taken.iter().any(overlaps) {
                return Err(refuse(format!("two packs have the path `{}`: give each its own `path`", shown(&inside))));
            }
            taken.insert(path.clone());
            let lock = || Lock::read(sources.tree(), &lock_path(&directory));
            copies.locks.entry(directory.clone()).or_insert_with(lock);
            copies.all.push(Copied { origin, path, inside, directory, span: pack.span });
        }
        Ok(copies)
    }

    /// Checks that a copy matches the settings. An error contains the command that fixes it.
    pub(in crate::cli) fn judge(&self, copy: &Copied<'_>, sources: &SourceFiles) -> Result<(), Diagnostic> {
        let wrong = |message: String, help: String| {
            Err(Diagnostic::new(Level::Error, message, Some(copy.span)).with_help(help))
        };
        let inside = shown(&copy.inside);
        let Some(sha256) = copy.origin.sha256 else {
            return wrong("the pack has no `sha256`".to_owned(), format!("run `{VENDOR}` to print the checksum"));
        };
        let locked = match self.locks.get(&copy.directory) {
            Some(Err(why)) => {
                let message = format!("`{}` is invalid: {}", lock::NAME, shown(why));
                return wrong(message, format!("remove the file, and run `{VENDOR} --force`"));
            }
            Some(Ok(Some(lock))) => lock.find(&copy.inside),
            _ => None,
        };
        let sums = match Sums::read(sources.tree(), &copy.path) {
            Ok(sums) => sums,
            Err(why) => {
                return wrong(
                    format!("the copy of the pack in `{inside}` is invalid: {why}"),
                    format!("run: {VENDOR} --force"),
                );
            }
        };
        if sums.0.is_empty() {
            return wrong(format!("the pack is not copied to `{inside}` yet"), format!("run `{VENDOR}`"));
        }
        let Some(locked) = locked else {
            let message = format!("`{}` has no commit for the copy in `{inside}`", lock::NAME);
            return wrong(message, format!("run: {VENDOR}"));
        };
        if locked.git != copy.origin.git
            || locked.commit != copy.origin.commit
            || locked.directory.as_deref() != copy.origin.directory
        {
            let message =
                format!("the copy in `{inside}` comes from {} at {}", shown(&locked.git), shown(&locked.commit));
            return wrong(message, format!("run: {VENDOR}"));
        }
        if sums.total() == sha256 {
            return Ok(());
        }
        match sums.first_difference(&locked.sums()) {
            Some(difference) => wrong(
                format!("the copy of the pack in `{inside}` does not match its `sha256`: {difference}"),
                format!("undo the change, or run `{VENDOR} --force`"),
            ),
            None => wrong(
                format!("the copy of the pack in `{inside}` does not match its `sha256`"),
                format!("run: {VENDOR}"),
            ),
        }
    }

    /// Fetches a pack and replaces its copy. Returns the number of its files.
    pub(in crate::cli) fn renew(
        &self,
        copy: &Copied<'_>,
        sources: &SourceFiles,
        root: &Path,
        force: bool,
    ) -> Result<usize, Failure> {
        let directory = root.join(&copy.directory);
        demand_free(self, copy, sources, &directory, force)?;
        let files = fetch(copy.origin)?;
        let sum = Sums::from_files(&files).total();
        let of = format!("{} at {}", shown(copy.origin.git), copy.origin.commit);
        match copy.origin.sha256 {
            Some(sha256) if sha256 == sum => {}
            Some(sha256) => {
                let message = format!("{of} has the SHA-256 {sum}, but gpulint.toml sets {sha256}");
                return Err(Failure::new(message)
                    .with_help("nothing was written: find the reason before you change the checksum"));
            }
            None => {
                return Err(Failure::new(format!("the pack has no `sha256`; {of} contains {} files", files.len()))
                    .with_help(format!("nothing was written: review the files, then add sha256 = \"{sum}\"")));
            }
        }
        place(&directory, &copy.inside, &files).map_err(|error| {
            Failure::new(format!("the pack cannot be written to `{}`: {error}", shown(&copy.inside)))
        })?;
        Ok(files.len())
    }

    /// Returns the content of the lock files by path, for copies that match the settings.
    pub(in crate::cli) fn locks(&self, sources: &SourceFiles) -> Result<BTreeMap<String, String>, String> {
        let mut locks: BTreeMap<&str, Vec<Locked>> = BTreeMap::new();
        for copy in &self.all {
            let sums = Sums::read(sources.tree(), &copy.path)?;
            let PackCommit { git, commit, directory, .. } = copy.origin;
            let locked = Locked::new(copy.inside.clone(), git, commit, directory, sums);
            locks.entry(&copy.directory).or_default().push(locked);
        }
        Ok(locks.into_iter().map(|(directory, packs)| (lock_path(directory), Lock::new(packs).written())).collect())
    }
}

fn lock_path(directory: &str) -> String {
    if directory.is_empty() { lock::NAME.to_owned() } else { format!("{directory}/{}", lock::NAME) }
}

/// Returns the default directory: `https://git.example.org/platform/gpu-rules.git` → `.gpulint/gpu-rules`
fn default_path(directory: &str, git: &str) -> Option<String> {
    let name = git.trim_end_matches('/').rsplit(['/', ':']).next()?.trim_end_matches(".git");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = !name.is_empty() && name.chars().all(is_plain) && !name.starts_with('.');
    is_name.then(|| join(directory, &format!("{DIRECTORY}/{name}")))?
}

/// Refuses to overwrite a directory that is not an unchanged copy of a pack.
fn demand_free(
    copies: &Copies<'_>,
    copy: &Copied<'_>,
    sources: &SourceFiles,
    directory: &Path,
    force: bool,
) -> Result<(), Failure> {
    let mut at = directory.to_owned();
    for part in copy.inside.split('/') {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Err(_) => return Ok(()),
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                return Err(Failure::new(format!("`{}` is not a directory", at.display()))
                    .with_help("set `path` to a directory that is not a symbolic link"));
            }
        }
    }
    if at.join(".git").exists() {
        return Err(Failure::new(format!("`{}` is a git repository, and gpulint does not replace it", at.display()))
            .with_help("move the repository, or give the pack another `path`"));
    }
    let lock = copies.locks.get(&copy.directory).and_then(|lock| lock.as_ref().ok()?.as_ref());
    let sums = Sums::read(sources.tree(), &copy.path).unwrap_or_default();
    let is_asked_for = copy.origin.sha256 == Some(&sums.total());
    let is_copy = lock.and_then(|lock| lock.find(&copy.inside)).is_some_and(|locked| locked.sums() == sums);
    let is_empty = fs::read_dir(&at).is_ok_and(|mut entries| entries.next().is_none());
    if force || is_asked_for || is_copy || is_empty {
        return Ok(());
    }
    Err(Failure::new(format!("`{}` is not an unchanged copy of a pack", shown(&copy.inside)))
        .with_help(format!("move the directory, or run `{VENDOR} --force` to replace it")))
}

/// Writes the files to a new directory, and swaps it with the old one.
fn place(directory: &Path, inside: &str, files: &BTreeMap<String, Vec<u8>>) -> std::io::Result<()> {
    let target = directory.join(inside);
    let above = target.parent().unwrap_or(directory);
    fs::create_dir_all(above)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let hidden = |what: &str| above.join(format!(".{name}.{what}.{}", std::process::id()));
    let (new, old) = (hidden("new"), hidden("old"));
    let write = || {
        fs::create_dir(&new)?;
        for (path, content) in files {
            let file = new.join(path);
            fs::create_dir_all(file.parent().unwrap_or(&new))?;
            fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&file)
                .and_then(|mut it| std::io::Write::write_all(&mut it, content))?;
        }
        let is_there = target.exists();
        if is_there {
            fs::rename(&target, &old)?;
        }
        fs::rename(&new, &target).inspect_err(|_| {
            let _ = fs::rename(&old, &target);
        })?;
        if is_there { fs::remove_dir_all(&old) } else { Ok(()) }
    };
    write().inspect_err(|_| {
        let _ = fs::remove_dir_all(&new);
    })?;
    abandoned::sweep(above, |found| {
        let rest = found.strip_prefix(format!(".{name}.").as_bytes())?;
        abandoned::digits(rest.strip_prefix(b"new.").or(rest.strip_prefix(b"old."))?)
    });
    Ok(())
}
