//! Finds the files to read: the named paths, the files below and around them, and standard input.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::discover;
use super::missing_files;
use super::policy::PolicyTree;
use super::tracked;
use super::variables::VariableFiles;
use crate::cli::Failure;
use crate::cli::args::InputArguments;
use crate::cli::io::file_tree::{DiskTree, read_limited};
use crate::cli::io::largest::LargestFile;
use crate::cli::io::place::{self, WorkingTree};
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::SkippedFile;
use crate::source::{Limits, join};
use crate::terraform;

/// The input before any file is read.
pub(super) struct FoundInput {
    pub(super) place: WorkingTree,
    pub(super) found: Found,
    pub(super) tree: PolicyTree,
    pub(super) largest: LargestFile,
    pub(super) variable_files: VariableFiles,
    /// Standard input with its name.
    pub(super) piped: Option<(String, Vec<u8>)>,
}

pub(super) fn find_input(
    input: &InputArguments,
    add: impl Fn(&mut Found, &Path, &WorkingTree),
) -> Result<FoundInput, Failure> {
    let (given, mut paths): (Vec<_>, Vec<_>) = input.paths.iter().cloned().partition(|path| path.as_os_str() == "-");
    let piped = (!given.is_empty()).then(|| piped(input.stdin_filename.as_deref())).transpose()?;
    if paths.is_empty() && piped.is_none() {
        paths.push(PathBuf::from("."));
    }
    let beside = input.config.iter().chain(&input.modules_directory).chain(&input.not_checked).map(PathBuf::as_path);
    place::demand_settings(input.config.as_deref())?;
    let variable_files = VariableFiles::from_arguments(&input.variable_files)?;
    let beside: Vec<&Path> = beside.chain(variable_files.all()).collect();
    let place = WorkingTree::find(input.here.as_deref(), &paths, &beside)?;
    let mut found = Found::default();
    for path in &place.named {
        add(&mut found, path, &place);
    }
    found.skipped.extend(absent_from(&place));
    found.add_tracked(&place);
    let tree = DiskTree::new(place.root.clone(), place.allowed.clone());
    let largest = tree.largest();
    let tree = PolicyTree::open(input, &place, tree)?;
    let named = |(name, text): (String, Vec<u8>)| {
        let name = input.stdin_filename.as_ref().map_or(Ok(name), |path| place.stdin_name(path))?;
        Ok::<_, Failure>((name, text))
    };
    let piped = piped.map(named).transpose()?;
    if let Some((name, _)) = &piped {
        found.files.push(name.clone());
        found.only.insert(name.clone());
    }
    found.files.sort();
    found.files.dedup();
    Ok(FoundInput { place, found, tree, largest, variable_files, piped })
}

/// Adds standard input and the contents of the caller to the tree.
pub(super) fn with_given(mut tree: PolicyTree, input: &InputArguments, piped: Option<(String, Vec<u8>)>) -> PolicyTree {
    let given = piped.into_iter().chain(input.given.iter().map(|(path, text)| (path.clone(), text.clone())));
    for (path, text) in given {
        tree = tree.with_given(path, text);
    }
    tree
}

/// Files to read.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: Vec<String>,
    /// The named files, and the files below directories that were named together with files.
    pub(super) only: BTreeSet<String>,
    /// The repositories of named files, each walked only once. A hook can name hundreds of files.
    pub(super) around: BTreeSet<PathBuf>,
    pub(super) skipped: Vec<SkippedFile>,
    /// Whether files were searched. Subcommands that need only settings search none.
    pub(super) walked: bool,
}

impl Found {
    pub(super) fn add(&mut self, path: &Path, place: &WorkingTree) {
        if path.is_dir() {
            let below = self.below(path, place);
            self.only.extend(below.iter().cloned());
            self.files.extend(below);
            return;
        }
        let Some(file) = place.in_tree(path) else { return };
        self.only.extend(submodules(path, place));
        // For a chart, reports name the folder instead of its Chart.yaml.
        self.only.extend(file.strip_suffix("Chart.yaml").map(|folder| folder.trim_end_matches('/').to_owned()));
        // A file depends on others, which can be anywhere in its repository.
        let around = path.parent().map(|directory| place::repository(directory).unwrap_or(directory));
        if files::is_candidate(path)
            && !is_plan(path)
            && let Some(around) = around
            && self.around.insert(around.to_owned())
        {
            let below = self.below(around, place);
            self.files.extend(below);
        }
        self.files.push(file.clone());
        self.only.insert(file);
    }

    /// Adds tracked files that a walk leaves out.
    fn add_tracked(&mut self, place: &WorkingTree) {
        if !self.walked {
            return;
        }
        self.files.sort_unstable();
        self.files.dedup();
        let tracked = tracked::not_found(place, &self.files);
        let directories: Vec<String> =
            place.named.iter().filter(|it| it.is_dir()).filter_map(|it| place.in_tree(it)).collect();
        let inside = tracked.iter().filter(|file| directories.iter().any(|it| overlaps(it, file)));
        self.only.extend(inside.cloned());
        self.files.extend(tracked);
    }

    fn below(&mut self, directory: &Path, place: &WorkingTree) -> Vec<String> {
        self.walked = true;
        let mut files = Vec::new();
        let mut found = discover::below(directory);
        // A named directory is read even if git ignores it.
        let is_part = place::repository(directory).is_some_and(|it| it != directory);
        if found.files.is_empty() && is_part && place.named.iter().any(|it| it == directory) {
            found = discover::whole(directory);
        }
        let shown = |path: &Path| match path.strip_prefix(&place.root).unwrap_or(path).to_string_lossy().into_owned() {
            root if root.is_empty() => ".".to_owned(),
            below => below,
        };
        for (path, reason) in found.odd {
            self.skipped.push(SkippedFile::new(SkipKind::File, shown(&path), reason));
        }
        for path in found.files {
            match place.in_tree(&path) {
                Some(file) => files.push(file),
                None => {
                    self.skipped.push(SkippedFile::new(SkipKind::File, shown(&path), "its name is not UTF-8"));
                }
            }
        }
        files
    }
}

/// Returns the submodules of a named .gitmodules file.
fn submodules(path: &Path, place: &WorkingTree) -> Vec<String> {
    if path.file_name().is_none_or(|it| it != missing_files::LIST) {
        return Vec::new();
    }
    let list = read_limited(path, Limits::DEFAULT.file_bytes).unwrap_or_default();
    let directory = path.parent().and_then(|it| place.in_tree(it)).unwrap_or_default();
    missing_files::listed(&list).iter().filter_map(|it| join(&directory, it)).collect()
}

/// Returns the missing parts of the named repositories.
fn absent_from(place: &WorkingTree) -> Vec<SkippedFile> {
    let repositories = place.allowed.iter().filter(|it| place::repository(it) == Some(it));
    let in_tree = |repository: &PathBuf| {
        let above = place.in_tree(repository)?;
        let moved = move |it: SkippedFile| match above.as_str() {
            "" => it,
            above => SkippedFile { path: format!("{above}/{}", it.path), ..it },
        };
        Some(missing_files::not_checked_out(repository).into_iter().map(moved))
    };
    let named: Vec<String> = place.named.iter().filter_map(|path| place.in_tree(path)).collect();
    // A named file can depend on any file of its repository.
    let reads_all = place.named.iter().any(|path| path.is_file());
    let concerns = |it: &SkippedFile| reads_all || named.iter().any(|named| overlaps(named, &it.path));
    repositories.filter_map(in_tree).flatten().filter(concerns).collect()
}

/// Whether one of two paths contains the other or equals it.
fn overlaps(a: &str, b: &str) -> bool {
    let is_below = |path: &str, above: &str| {
        above.is_empty() || path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    b == "." || is_below(a, b) || is_below(b, a)
}

/// Returns standard input as a file, named after the language that it appears to have.
fn piped(named: Option<&Path>) -> Result<(String, Vec<u8>), Failure> {
    let largest = Limits::DEFAULT.file_bytes;
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .take(largest + 1)
        .read_to_end(&mut text)
        .map_err(|error| Failure::new(format!("standard input cannot be read: {error}")))?;
    if text.len() as u64 > largest {
        return Err(Failure::new(format!("standard input is longer than the limit of {largest} bytes")));
    }
    let start = text.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    let name = match start {
        Some(b'{') => "<stdin>.json",
        _ if named.is_none() && reads_as_terraform(&text) => "<stdin>/main.tf",
        _ => "<stdin>.yaml",
    };
    Ok((name.to_owned(), text))
}

/// Whether the first words after comments begin an HCL block.
fn reads_as_terraform(text: &[u8]) -> bool {
    const BLOCKS: [&str; 8] = ["resource", "module", "variable", "provider", "terraform", "locals", "data", "output"];
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '/', '*']));
    lines.next().is_some_and(|line| {
        let word = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let rest = line.get(word.len()..).unwrap_or_default().trim_start();
        BLOCKS.contains(&word) && rest.starts_with(['"', '{'])
    })
}

/// Whether the file is a Terraform plan, which needs no other file.
fn is_plan(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|it| it == "json");
    let text = || read_limited(path, Limits::DEFAULT.file_bytes);
    is_json && text().is_ok_and(|text| terraform::is_plan(&text))
}
