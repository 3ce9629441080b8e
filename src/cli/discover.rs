use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::{WalkBuilder, WalkState};

/// Files that may hold Terraform or Kubernetes, by the end of their names.
const ENDINGS: [&str; 13] = [
    ".tf",
    ".tofu",
    ".tfvars",
    ".json",
    ".yaml",
    ".yml",
    ".tpl",
    ".tmpl",
    ".j2",
    ".jinja",
    ".jinja2",
    ".gotmpl",
    ".template",
];

/// Directories that hold copies of other people's files or none at all.
const LEFT_OUT: [&str; 5] = [".git", ".terraform", ".terragrunt-cache", "node_modules", ".venv"];

/// What lies below a directory, in no order.
#[derive(Default)]
pub(super) struct Below {
    pub(super) files: Vec<PathBuf>,
    /// Named like files to read, and no files.
    pub(super) odd: Vec<(PathBuf, &'static str)>,
}

/// All candidate files below a directory. What `.gitignore` leaves out is left out.
pub(super) fn below(directory: &Path) -> Below {
    let found = Mutex::new(Below::default());
    let walk = WalkBuilder::new(directory)
        .hidden(false)
        // A file of another tool, which would hide what Terraform and kubectl read.
        .ignore(false)
        .require_git(false)
        .filter_entry(|entry| entry.depth() == 0 || !is_left_out(entry))
        .build_parallel();
    walk.run(|| {
        let mut mine = Gathered { found: &found, mine: Below::default() };
        Box::new(move |entry| {
            if let Ok(entry) = entry
                && !entry.file_type().is_some_and(|kind| kind.is_dir())
                && is_candidate(entry.path())
            {
                match oddity(&entry) {
                    None => mine.mine.files.push(entry.into_path()),
                    Some(Oddity::Told(why)) => mine.mine.odd.push((entry.into_path(), why)),
                    Some(Oddity::Directory) => {}
                }
            }
            WalkState::Continue
        })
    });
    found.into_inner().unwrap_or_default()
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
fn oddity(entry: &ignore::DirEntry) -> Option<Oddity> {
    let kind = entry.file_type()?;
    if kind.is_file() {
        return None;
    }
    if !kind.is_symlink() {
        return Some(Oddity::Told("it is no regular file"));
    }
    match entry.path().metadata() {
        Ok(it) if it.is_file() => None,
        Ok(it) if it.is_dir() => Some(Oddity::Directory),
        Ok(_) => Some(Oddity::Told("its link leads to no regular file")),
        Err(_) => Some(Oddity::Told("its link leads nowhere")),
    }
}

fn is_left_out(entry: &ignore::DirEntry) -> bool {
    LEFT_OUT.iter().any(|name| entry.file_name() == *name)
}

pub(super) fn is_candidate(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Terraform by its name; whether a JSON file is a plan, only its text can say.
pub(super) fn is_terraform(path: &str) -> bool {
    [".tf", ".tofu", ".tf.json", ".tofu.json", ".tfvars", ".tfvars.json"].iter().any(|ending| path.ends_with(ending))
}
