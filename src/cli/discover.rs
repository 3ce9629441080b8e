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

/// All candidate files below a directory, in no order. What `.gitignore` leaves out is left out.
pub(super) fn below(directory: &Path) -> Vec<PathBuf> {
    let found = Mutex::new(Vec::new());
    let walk = WalkBuilder::new(directory)
        .hidden(false)
        .require_git(false)
        .filter_entry(|entry| entry.depth() == 0 || !is_left_out(entry))
        .build_parallel();
    walk.run(|| {
        let mut mine = Gathered { found: &found, files: Vec::new() };
        Box::new(move |entry| {
            if let Ok(entry) = entry
                && !entry.file_type().is_some_and(|kind| kind.is_dir())
                && is_candidate(entry.path())
            {
                mine.files.push(entry.into_path());
            }
            WalkState::Continue
        })
    });
    found.into_inner().unwrap_or_default()
}

/// What one thread found, handed over once at its end.
struct Gathered<'a> {
    found: &'a Mutex<Vec<PathBuf>>,
    files: Vec<PathBuf>,
}

impl Drop for Gathered<'_> {
    fn drop(&mut self) {
        if let Ok(mut found) = self.found.lock() {
            found.append(&mut self.files);
        }
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
