//! Which files below a directory may hold Terraform or Kubernetes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::cli::world::{git_files, serving};
use crate::front_ends::files::is_candidate;

/// Directories that hold copies of other people's files or none at all.
const LEFT_OUT: [&str; 5] = [".git", ".terraform", ".terragrunt-cache", "node_modules", ".venv"];

/// Of a link whose end is not there.
pub(in crate::cli) const LEADS_NOWHERE: &str = "the symbolic link has no target";

/// The most files and directories that one thread walks through.
const FEW: usize = 500;

/// What lies below a directory, in no order.
#[derive(Default)]
pub(in crate::cli) struct Below {
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Named like files to read, and no files.
    pub(in crate::cli) odd: Vec<(PathBuf, &'static str)>,
}

/// All candidate files below a directory. What `.gitignore` leaves out is left out.
pub(in crate::cli) fn below(directory: &Path) -> Below {
    let rules_can_be_read = !directory.ancestors().filter(|it| serving::holds(it)).any(git_files::has_odd_rules);
    if rules_can_be_read {
        let met = Arc::new(AtomicBool::new(false));
        let found = walked(directory, Some(met.clone()));
        if !met.load(Ordering::Relaxed) {
            return found;
        }
    }
    // Then nothing is left out: a list that cannot be read must not hide anything.
    walked(directory, None)
}

/// All of them: no list leaves anything out.
pub(in crate::cli) fn whole(directory: &Path) -> Below {
    walked(directory, None)
}

/// All files, whatever they may hold.
pub(in crate::cli) fn every_file(directory: &Path) -> Vec<PathBuf> {
    let is_out = |entry: &DirEntry| entry.depth() > 0 && is_left_out(entry);
    let walk = WalkBuilder::new(directory).standard_filters(false).filter_entry(move |entry| !is_out(entry)).build();
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
    files.map(DirEntry::into_path).collect()
}

/// By the rules of what git ignores, or without them. It is told where rules are met that cannot be read.
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
    // Rules that stand above the folder, in another one or in the user's own settings are outside of what may be read.
    let is_served = serving::folder().is_some();
    let mut walk = WalkBuilder::new(directory);
    walk.hidden(false)
        // A file of another tool, which would hide what Terraform and kubectl read.
        .ignore(false)
        .require_git(false)
        .parents(by_rules && !is_served)
        .git_ignore(by_rules)
        .git_exclude(by_rules && !is_served)
        .git_global(by_rules && !is_served && may_ignore_everywhere())
        .filter_entry(move |entry| entry.depth() == 0 || !(is_left_out(entry) || is_odd(entry)));
    few_below(&walk).unwrap_or_else(|| all_below(&walk))
}

/// Whether this user has files that git ignores in every repository. `ignore` would compile a pattern to find that out,
/// which takes a tenth of a small run.
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

/// Small trees are walked before other threads have started; none where there is more.
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

/// A directory that may not be listed, with the reason. One that has just gone is none.
fn closed(error: &ignore::Error) -> Option<(PathBuf, &'static str)> {
    let may_not = error.io_error().is_some_and(|it| it.kind() == io::ErrorKind::PermissionDenied);
    let mut at = error;
    loop {
        match at {
            ignore::Error::WithPath { path, .. } => {
                return Some((path.clone(), if may_not { "permission denied" } else { "the directory cannot be listed" }))
                    .filter(|_| !matches!(error.io_error(), Some(it) if it.kind() == io::ErrorKind::NotFound));
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => at = err,
            _ => return None,
        }
    }
}

/// What one thread found, handed over once at its end.
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

/// Why something that is named like a file is none.
enum Oddity {
    Told(&'static str),
    /// A link to one; what it holds is found where it is.
    Directory,
}

/// A pipe or a device would block or never end, and a link may lead to one.
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
