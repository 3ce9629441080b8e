//! Finds the files below a directory that can contain Terraform or Kubernetes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::cli::io::{git_files, git_index, serving};
use crate::front_ends::files::is_candidate;

/// Directories that contain only copies of other files, or no relevant files.
const LEFT_OUT: [&str; 5] = [".git", ".terraform", ".terragrunt-cache", "node_modules", ".venv"];

/// The reason for a link without a target.
pub(in crate::cli) const LEADS_NOWHERE: &str = "the symbolic link has no target";

/// The most files and directories that one thread walks through.
const FEW: usize = 1000;

/// The files below a directory, in no order.
#[derive(Default)]
pub(in crate::cli) struct Below {
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Entries with names of relevant files that are not regular files.
    pub(in crate::cli) odd: Vec<(PathBuf, &'static str)>,
}

/// Returns all candidate files below a directory, except those that `.gitignore` excludes.
pub(in crate::cli) fn below(directory: &Path) -> Below {
    let rules_can_be_read = !directory.ancestors().filter(|it| serving::holds(it)).any(git_files::has_odd_rules);
    if rules_can_be_read {
        let met = Arc::new(AtomicBool::new(false));
        let found = walked(directory, Some(met.clone()));
        if !met.load(Ordering::Relaxed) {
            return found;
        }
    }
    // If a .gitignore cannot be read, nothing is excluded, so that it hides nothing.
    walked(directory, None)
}

/// Returns all candidate files, even ignored ones.
pub(in crate::cli) fn whole(directory: &Path) -> Below {
    walked(directory, None)
}

/// Returns all files, whatever their names.
pub(in crate::cli) fn every_file(directory: &Path) -> Vec<PathBuf> {
    let is_out = |entry: &DirEntry| entry.depth() > 0 && is_left_out(entry);
    let walk = WalkBuilder::new(directory).standard_filters(false).filter_entry(move |entry| !is_out(entry)).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
    files.map(DirEntry::into_path).collect()
}

/// Walks a directory with or without git's ignore rules, and records ignore files that cannot be read.
fn walked(directory: &Path, odd_rules: Option<Arc<AtomicBool>>) -> Below {
    let by_rules = odd_rules.is_some();
    let is_odd = move |entry: &DirEntry| {
        let Some(met) = odd_rules.as_ref().filter(|_| entry.file_type().is_some_and(|it| it.is_dir())) else {
            return false;
        };
        let is_odd = git_files::has_odd_rules(entry.path());
        met.fetch_or(is_odd, Ordering::Relaxed);
        is_odd
    };
    // Ignore files above the served folder, or in the user's settings, must not be read.
    let is_served = serving::folder().is_some();
    let mut walk = WalkBuilder::new(directory);
    walk.hidden(false)
        // This ignore file belongs to another tool, and would hide files that Terraform and kubectl read.
        .ignore(false)
        .require_git(false)
        .parents(by_rules && !is_served)
        .git_ignore(by_rules)
        .git_exclude(by_rules && !is_served)
        .git_global(by_rules && !is_served && may_ignore_everywhere())
        .filter_entry(move |entry| entry.depth() == 0 || !(is_left_out(entry) || is_odd(entry)));
    // If git tracks many files, the walk on one thread would be in vain.
    let is_large = git_index::about_how_many(directory).is_some_and(|count| count > FEW as u64);
    let few = if is_large { None } else { few_below(&walk) };
    few.unwrap_or_else(|| all_below(&walk))
}

/// Whether this user's git may ignore files in every repository. The crate `ignore` would compile a pattern to find
/// this out, which takes a tenth of a small check.
fn may_ignore_everywhere() -> bool {
    let Some(home) = std::env::home_dir() else { return true };
    let settings = std::env::var_os("XDG_CONFIG_HOME").filter(|it| !it.is_empty());
    let settings = settings.map_or_else(|| home.join(".config"), PathBuf::from).join("git");
    let names_file = |path: &Path| {
        std::fs::read(path)
            .is_ok_and(|text| memchr::memmem::find(&text.to_ascii_lowercase(), b"excludesfile").is_some())
    };
    settings.join("ignore").exists()
        || [home.join(".gitconfig"), settings.join("config"), PathBuf::from("/etc/gitconfig")]
            .iter()
            .any(|it| names_file(it))
}

/// Walks a small tree on this thread. Returns `None` for a larger tree.
fn few_below(walk: &WalkBuilder) -> Option<Below> {
    let mut found = Below::default();
    for (place, entry) in walk.build().enumerate() {
        if place == FEW {
            return None;
        }
        found.add(entry);
    }
    Some(found)
}

fn all_below(walk: &WalkBuilder) -> Below {
    let found = Mutex::new(Below::default());
    walk.build_parallel().run(|| {
        let mut mine = Gathered { found: &found, mine: Below::default() };
        Box::new(move |entry| {
            mine.mine.add(entry);
            WalkState::Continue
        })
    });
    found.into_inner().unwrap_or_default()
}

impl Below {
    fn add(&mut self, entry: Result<DirEntry, ignore::Error>) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return self.odd.extend(closed(&error)),
        };
        if entry.file_type().is_some_and(|kind| kind.is_dir()) || !is_candidate(entry.path()) {
            return;
        }
        match oddity(&entry) {
            None => self.files.push(entry.into_path()),
            Some(Oddity::Told(why)) => self.odd.push((entry.into_path(), why)),
            Some(Oddity::Directory) => {}
        }
    }
}

/// Returns a directory that cannot be listed, with the reason. A directory that was just deleted is ignored.
fn closed(error: &ignore::Error) -> Option<(PathBuf, &'static str)> {
    let may_not = error.io_error().is_some_and(|it| it.kind() == io::ErrorKind::PermissionDenied);
    let mut at = error;
    loop {
        match at {
            ignore::Error::WithPath { path, .. } => {
                return Some((
                    path.clone(),
                    if may_not { "permission denied" } else { "the directory cannot be listed" },
                ))
                .filter(|_| !matches!(error.io_error(), Some(it) if it.kind() == io::ErrorKind::NotFound));
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => at = err,
            _ => return None,
        }
    }
}

/// The files that one thread found. The thread adds them to the others when it ends.
struct Gathered<'a> {
    found: &'a Mutex<Below>,
    mine: Below,
}

impl Drop for Gathered<'_> {
    fn drop(&mut self) {
        if let Ok(mut found) = self.found.lock() {
            found.files.append(&mut self.mine.files);
            found.odd.append(&mut self.mine.odd);
        }
    }
}

/// The reason why an entry is not a regular file.
enum Oddity {
    Told(&'static str),
    /// A link to a directory. gpulint finds the linked files at their own place.
    Directory,
}

/// Detects pipes and devices, also behind links, because reading them could block forever.
fn oddity(entry: &DirEntry) -> Option<Oddity> {
    let kind = entry.file_type()?;
    if kind.is_file() {
        return None;
    }
    if !kind.is_symlink() {
        return Some(Oddity::Told("it is not a regular file"));
    }
    match entry.path().metadata() {
        Ok(it) if it.is_file() => None,
        Ok(it) if it.is_dir() => Some(Oddity::Directory),
        Ok(_) => Some(Oddity::Told("the symbolic link does not lead to a regular file")),
        Err(_) => Some(Oddity::Told(LEADS_NOWHERE)),
    }
}

fn is_left_out(entry: &DirEntry) -> bool {
    LEFT_OUT.iter().any(|name| entry.file_name() == *name)
}
