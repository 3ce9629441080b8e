//! The base of a comparison: a commit, a directory, or a file.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::PoisonError;

use super::alone::may_have_separate_files;
use super::remembered::StagedFiles;
use super::{discover, links, missing_files, touched, tracked};
use crate::cli::Failure;
use crate::cli::args::Diff;
use crate::cli::io::file_tree::{DiskTree, below, read_limited};
use crate::cli::io::git::{Base, GitTree, TreeEntries};
use crate::cli::io::place;
use crate::cli::io::place::names_of;
use crate::cli::session::Session;
use crate::compare::Touched;
use crate::diagnostic::SkipKind;
use crate::front_ends::files;
use crate::inventory::SkippedFile;
use crate::kubernetes::ScanCache;
use crate::source::{ReadError, Tree, TreeEntry, is_below};
use crate::terraform::{self, SharedTerraform};

const NOT_IN_BASE: &str = "the base commit does not contain the file, because it belongs to a submodule";

/// The error of a hook that runs on all files without a change: it must not look as if nothing was found.
const NOTHING_STAGED: &str = "no changes are staged: run `gpulint check` to check the files as they are";

/// Returns the state before the change, and the files that can differ. It uses the settings of `head`, so the change
/// cannot affect them. Adds `notes` for readers of the comparison.
pub(in crate::cli) fn earlier(
    arguments: &Diff,
    head: &mut Session,
    staged: Option<&StagedFiles>,
    notes: &mut Vec<String>,
) -> Result<(Session, Touched), Failure> {
    let named = BaseNamed {
        base: arguments.base.as_deref(),
        staged,
        base_dir: arguments.base_dir.as_deref(),
        base_file: arguments.base_file.as_deref(),
    };
    earlier_named(&named, head, notes)
}

/// The options that choose the base.
#[derive(Default)]
pub(in crate::cli) struct BaseNamed<'a> {
    pub(in crate::cli) base: Option<&'a str>,
    pub(in crate::cli) staged: Option<&'a StagedFiles>,
    pub(in crate::cli) base_dir: Option<&'a Path>,
    pub(in crate::cli) base_file: Option<&'a Path>,
}

/// Returns the state before the change, for a subcommand that has only some of these options.
pub(in crate::cli) fn earlier_named(
    named: &BaseNamed<'_>,
    head: &mut Session,
    notes: &mut Vec<String>,
) -> Result<(Session, Touched), Failure> {
    let base = named.base.or(named.staged.map(|_| "HEAD"));
    match (base, named.base_dir, named.base_file) {
        (Some(reference), ..) => {
            commit(reference, named.staged, head, notes).map_err(|failure| other_option(reference, failure))
        }
        (_, Some(path), _) if path.is_file() => Err(Failure::new(format!("`{}` is not a directory", path.display()))
            .with_help(format!("write --base-file {}", path.display()))),
        (_, Some(path), _) => directory(path, head),
        (_, _, Some(path)) if path.is_dir() => Err(Failure::new(format!("`{}` is not a file", path.display()))
            .with_help(format!("write --base-dir {}", path.display()))),
        (_, _, Some(path)) => file(path, head),
        _ => before_plan(head),
    }
}

/// Returns the name of the base for reports.
pub(in crate::cli) fn name(arguments: &Diff) -> Option<String> {
    let path = arguments.base_dir.as_ref().or(arguments.base_file.as_ref());
    let head = || arguments.staged.then(|| "HEAD".to_owned());
    arguments.base.clone().or_else(|| path.map(|it| it.display().to_string())).or_else(head)
}

/// Adds a help text if a path was passed instead of a commit.
fn other_option(reference: &str, failure: Failure) -> Failure {
    let path = Path::new(reference);
    let option = match path.metadata() {
        Ok(it) if it.is_dir() => "--base-dir",
        Ok(_) => "--base-file",
        Err(_) => return failure,
    };
    failure.with_help(format!("--base takes a commit; to compare with this path, write {option} {reference}"))
}

/// Returns a session of the index, which the next commit will contain, and the index itself.
pub(in crate::cli) fn staged(settings: &Session) -> Result<(Session, StagedFiles), Failure> {
    let repository = settings.scope.root.clone();
    demand_repository(&repository, "HEAD")?;
    let staged = StagedFiles::of(settings, TreeEntries::of_index(&repository)?);
    let tree = GitTree::with_entries(&repository, staged.index.clone()).up_to(settings.sources.limits().file_bytes);
    let tree = tree.proven_by(&repository, None).remembering(&staged.memory);
    let wanted = |file: &&str| files::is_candidate(Path::new(file)) && is_wanted(settings, file);
    let files: Vec<String> = tree.files().filter(wanted).map(str::to_owned).collect();
    Ok((settings.at(tree, files), staged))
}

fn demand_repository(root: &Path, reference: &str) -> Result<(), Failure> {
    if place::repository(root) == Some(root) {
        return Ok(());
    }
    Err(Failure::new(format!("`{reference}` cannot be resolved: this is not a git repository"))
        .with_help("run the command in a git repository, or compare with a directory: --base-dir DIR"))
}

fn commit(
    reference: &str,
    staged: Option<&StagedFiles>,
    head: &mut Session,
    notes: &mut Vec<String>,
) -> Result<(Session, Touched), Failure> {
    let repository = head.scope.root.clone();
    demand_repository(&repository, reference)?;
    let base = Base::find(&repository, reference)?;
    notes.extend(base.note.clone());
    let is_staged = staged.is_some();
    let largest = head.sources.limits().file_bytes;
    let tree = match staged {
        Some(StagedFiles { index, memory, .. }) => {
            base.tree_beside(index)?.up_to(largest).proven_by(&repository, Some(index)).remembering(memory)
        }
        None => base.tree()?.up_to(largest).over(&repository),
    };
    links::demand_old(&head.scope.written, &repository, &tree)?;
    if !is_staged {
        let mut tracked = tracked::left_out(&repository, &head.files)?;
        tracked.retain(|file| is_wanted(head, file));
        head.add_files(tracked);
    }
    let submodules = tree.submodules();
    let inside = |file: &str| submodules.iter().any(|it| is_below(file, it));
    if head.files.iter().any(|file| inside(file)) {
        notes.push(format!("gpulint does not compare submodules: {}", submodules.join(", ")));
        head.leave_out(NOT_IN_BASE, inside);
    }
    // The index contains the files that a sparse checkout leaves out.
    let mut unlisted = if is_staged { Vec::new() } else { missing_files::unlisted(&repository) };
    unlisted.retain(|it| !submodules.contains(&it.path) && is_wanted(head, &it.path));
    head.add_skipped(unlisted);
    let present: BTreeSet<&str> = head.files.iter().map(String::as_str).collect();
    let wanted = |file: &&str| {
        files::is_candidate(Path::new(file))
            && is_wanted(head, file)
            // A file on disk that was not found and is not tracked is ignored by git.
            && (is_staged || present.contains(file) || !below(&repository, file).exists())
    };
    let left_out = if is_staged { Ok(Vec::new()) } else { missing_files::left_out(&repository) };
    let left_out: BTreeSet<String> = left_out.unwrap_or_default().into_iter().collect();
    let of_base: BTreeSet<String> = tree.files().filter(|file| left_out.contains(*file)).map(str::to_owned).collect();
    let files: Vec<String> =
        tree.files().filter(wanted).filter(|file| !left_out.contains(*file)).map(str::to_owned).collect();
    let touched = touched::since(&tree, &repository, staged.map(|it| &it.index), |file| is_wanted(head, file))?;
    if is_staged && touched.files.is_empty() && touched.submodules.is_empty() {
        notes.push(NOTHING_STAGED.to_owned());
    }
    let missing = tree.missing();
    let same = tree.same_files();
    let differing = staged.and_then(|it| tree.differing(&it.index));
    if may_have_separate_files(&touched) {
        head.cache.terraform = SharedTerraform::lasting();
    } else if differing.is_some() {
        head.cache.terraform = SharedTerraform::kept();
    }
    head.cache.looks = staged.map_or_else(ScanCache::kept, |it| it.looks(&head.files));
    let list = tree.read(missing_files::LIST).unwrap_or_default();
    let mut unread = missing_files::not_here(&repository, &list, &|file| of_base.contains(file));
    unread.extend(submodules.into_iter().map(|path| SkippedFile::new(SkipKind::NotInBase, path, NOT_IN_BASE)));
    let links = tree.links_to_nothing().into_iter().filter(|path| files::is_candidate(Path::new(path)));
    unread.extend(links.map(|path| SkippedFile::new(SkipKind::Link, path, discover::LEADS_NOWHERE)));
    unread.retain(|it| is_wanted(head, &it.path));
    let mut base = head
        .at(tree, files)
        .with_missing(move || missing.lock().unwrap_or_else(PoisonError::into_inner).first().cloned());
    base.cache.looks = head.cache.looks.for_same(same.clone());
    base.cache.terraform = head.cache.terraform.for_other(differing);
    base.same = same;
    base.add_skipped(unread);
    Ok((base, touched))
}

/// Whether a file is read. If the user named files, the whole repository is read, or else only the named directories.
fn is_wanted(head: &Session, file: &str) -> bool {
    head.reads_all() || head.scope.named.iter().any(|it| file == it || is_below(file, it))
}

/// Returns another directory as the base, in place of the named or the current directory, so that paths, settings and
/// patterns mean the same in both states.
fn directory(path: &Path, head: &mut Session) -> Result<(Session, Touched), Failure> {
    let there = place::canonical(path)?;
    // Without git, a .gitignore can be part of the change.
    let is_tracked = [head.scope.root.as_path(), &there].into_iter().all(|it| place::repository(it).is_some());
    let find = if is_tracked { discover::below } else { discover::whole };
    if !is_tracked {
        head.add_ignored_files();
    }
    let here = match head.scope.named.as_slice() {
        [named] if !head.reads_all() => named.clone(),
        _ => head.scope.here.clone(),
    };
    let in_tree = |found: &Path| {
        let inside = names_of(found.strip_prefix(&there).ok()?);
        let file = if here.is_empty() { inside } else { format!("{here}/{inside}") };
        Some(file).filter(|file| is_wanted(head, file))
    };
    let mut files: Vec<String> = find(&there).files.iter().filter_map(|found| in_tree(found)).collect();
    files.sort();
    let touched = touched::between(head, &there, in_tree);
    let boundary = place::repository(&there).unwrap_or(&there).to_owned();
    let there = DiskTree::new(there, vec![boundary]).up_to(head.sources.limits().file_bytes);
    Ok((head.at(Shifted { here, there }, files), touched))
}

/// Compares two files: two plans, or two manifests.
fn file(path: &Path, head: &Session) -> Result<(Session, Touched), Failure> {
    let named = match (head.scope.named.as_slice(), head.files.as_slice()) {
        ([named], _) if head.reads_all() && head.scope.root.join(named).is_file() => named,
        // The named file is standard input.
        ([], [piped]) => piped,
        _ => return Err(one_file(path)),
    };
    let text = read_limited(path, head.sources.limits().file_bytes)
        .map_err(|error| Failure::new(format!("gpulint cannot read the base `{}`: {error}", path.display())))?;
    let tree = disk(head).with_given(named.clone(), text);
    Ok((head.at(tree, head.files.clone()), Touched { files: [named.clone()].into(), ..Touched::default() }))
}

/// Returns the state before a plan, which the plan contains.
fn before_plan(head: &Session) -> Result<(Session, Touched), Failure> {
    let plan = head.files.iter().find_map(|file| {
        let text = head.sources.tree().read(file).ok()?;
        terraform::is_plan(&text).then_some((file, text))
    });
    let (Some((file, text)), 1) = (plan, head.files.len()) else {
        return Err(Failure::new("no base is given").with_help(
            "pass a base: `gpulint diff --base main`. A Terraform plan contains its own base: `gpulint diff plan.json`",
        ));
    };
    let tree = disk(head).with_given(file.clone(), text);
    let mut base = head.at(tree, head.files.clone());
    base.settings.terraform.plan_side = terraform::PlanSide::Before;
    Ok((base, Touched::default()))
}

fn disk(head: &Session) -> DiskTree {
    DiskTree::new(head.scope.root.clone(), head.scope.allowed.clone()).up_to(head.sources.limits().file_bytes)
}

fn one_file(path: &Path) -> Failure {
    Failure::new(format!("the base `{}` is a file, so gpulint can compare it only with a file", path.display()))
        .with_help("pass one file: `gpulint diff --base-file OLD NEW`")
}

/// A tree that shows another directory in place of a directory: paths relative to one mean the same paths in the
/// other.
struct Shifted {
    /// The replaced directory, as a path of the tree.
    here: String,
    there: DiskTree,
}

impl Shifted {
    fn relative(&self, path: &str) -> String {
        let (mut here, mut path) = (parts(&self.here).peekable(), parts(path).peekable());
        while here.peek().is_some() && here.peek() == path.peek() {
            here.next();
            path.next();
        }
        // The function avoids the system's paths, because a backslash is a normal character on Unix.
        here.map(|_| "..").chain(path).collect::<Vec<_>>().join("/")
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

impl Tree for Shifted {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.there.read(&self.relative(path))
    }

    fn mentions(&self, path: &str, wanted: &[u8]) -> bool {
        self.there.mentions(&self.relative(path), wanted)
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        self.there.list(&self.relative(directory))
    }

    fn link(&self, path: &str) -> Option<String> {
        self.there.link(&self.relative(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_from_the_one_directory_as_from_the_other() {
        let shifted =
            |here: &str| Shifted { here: here.to_owned(), there: DiskTree::new(std::path::PathBuf::new(), Vec::new()) };
        assert_eq!(shifted("").relative("a/main.tf"), "a/main.tf");
        assert_eq!(shifted("infra").relative("infra/main.tf"), "main.tf");
        assert_eq!(shifted("infra").relative("modules/x"), "../modules/x");
        assert_eq!(shifted("infra/prod").relative("infra/modules/x"), "../modules/x");
        assert_eq!(shifted("infra").relative("infra"), "");
    }
}
