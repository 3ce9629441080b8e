//! Reads trees and commits with the user's git, without changing anything.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::file_tree::{DiskTree, below, read_limited};
use super::git_changes;
use super::git_entries::{GitEntry, GitEntryKind, not_understood};
use super::git_index::{Indexed, makes_other_text};
use super::git_log::is_shallow;
use super::git_objects::{GitObjects, is_called};
use super::git_program::{ask, is_commit};
use super::memory::{Memory, id_of};
use super::{git_files, git_index, reference};
use crate::cli::Failure;
use crate::source::{Differing, Limits, ReadError, Tree, TreeEntry, demand_text, is_below, join, named, parent};

pub(in crate::cli) use super::git_entries::TreeEntries;

/// The longest chain of links. A longer one is treated as a loop.
const MOST_LINKS: usize = 16;

/// The character after the slash in byte order.
const BEHIND_SLASH: char = '0';
/// As many entries of one subdirectory are passed one by one, before the search for its end, which takes as long.
const MOST_PASSED: usize = 16;

/// The longest attributes file that is read.
const LONGEST_ATTRIBUTES: u64 = 1 << 20;

/// A tree of git objects. Reading it does not change the work tree or the index and uses no network.
pub(in crate::cli) struct GitTree {
    entries: TreeEntries,
    /// The links of the tree. Without links, no path is redirected.
    has_links: bool,
    /// The objects that a partial clone lacks.
    missing: Arc<Mutex<Vec<String>>>,
    objects: Arc<GitObjects>,
    largest_file: u64,
    laid_under: Option<Laid>,
    /// File contents that are cached from an earlier run.
    memory: Option<Arc<Memory>>,
    /// The index of the work tree, if it can be read.
    tracked: Option<Vec<Indexed>>,
}

/// The work tree, for files that equal those of the commit. Reading them there is faster than unpacking git objects.
struct Laid {
    same: Arc<HashSet<String>>,
    disk: DiskTree,
    proof: Proof,
}

/// The evidence that a file has the content of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// The file's time and size show that it is unchanged since git wrote it.
    Untouched,
    /// The digest of the file's content matches. gpulint calculates it only for files that it reads.
    Digest,
}

/// The base commit of a change.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Base {
    pub(in crate::cli) repository: PathBuf,
    pub(in crate::cli) commit: String,
    /// A note about the base for readers of the comparison.
    pub(in crate::cli) note: Option<String>,
}

impl Base {
    /// Returns the merge base of HEAD and `reference`, or `reference` itself if the clone lacks the merge base.
    pub(in crate::cli) fn find(repository: &Path, reference: &str) -> Result<Base, Failure> {
        if reference == "HEAD"
            && let Some(commit) = before_the_first(repository)?
        {
            let note = Some("the repository has no commit yet, so everything is new".to_owned());
            return Ok(Base { repository: repository.to_owned(), commit, note });
        }
        let Base { commit: tip, .. } = Self::tip(repository, reference)?;
        let merge_base = ask(repository, &["merge-base", &tip, "HEAD"])?;
        let note = merge_base.is_none().then(|| {
            format!(
                "this clone has no common ancestor of `{reference}` and HEAD: compared with the tip of `{reference}`"
            )
        });
        Ok(Base { repository: repository.to_owned(), commit: merge_base.unwrap_or(tip), note })
    }

    /// Returns the commit of `reference` itself.
    pub(in crate::cli) fn tip(repository: &Path, reference: &str) -> Result<Base, Failure> {
        let asked = |full: String| {
            ask(repository, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit_of(&full)])
        };
        match reference::in_full(repository, reference)?.map(asked).transpose()?.flatten() {
            Some(commit) if !is_commit(&commit) => Err(not_understood(&commit)),
            Some(commit) => Ok(Base { repository: repository.to_owned(), commit, note: None }),
            None => Err(unknown_base(repository, reference)?),
        }
    }

    pub(in crate::cli) fn tree(&self) -> Result<GitTree, Failure> {
        let entries = TreeEntries::of(&self.repository, &self.commit)?;
        Ok(GitTree::with_entries(&self.repository, entries))
    }

    /// Returns the tree by its differences from the known index.
    pub(in crate::cli) fn tree_beside(&self, index: &TreeEntries) -> Result<GitTree, Failure> {
        let entries = match git_changes::of_index(&self.repository, &self.commit)? {
            Some(changes) => {
                let mut entries = index.clone();
                entries.apply(&changes);
                entries
            }
            None => TreeEntries::of(&self.repository, &self.commit)?,
        };
        Ok(GitTree::with_entries(&self.repository, entries))
    }
}

impl GitTree {
    /// Parses the output of `git ls-tree -r -z`.
    pub(in crate::cli) fn listed(repository: &Path, lines: &[u8]) -> Result<GitTree, Failure> {
        Ok(Self::with_entries(repository, TreeEntries::listed(lines)?))
    }

    pub(in crate::cli) fn with_entries(repository: &Path, entries: TreeEntries) -> GitTree {
        Self::reading(entries, Arc::new(GitObjects::new(repository, 0)))
    }

    /// Returns a tree that shares its git process with others.
    pub(in crate::cli) fn reading(entries: TreeEntries, objects: Arc<GitObjects>) -> GitTree {
        GitTree {
            has_links: entries.has_links(),
            entries,
            missing: Arc::default(),
            objects,
            largest_file: Limits::DEFAULT.file_bytes,
            laid_under: None,
            memory: None,
            tracked: None,
        }
    }
}

/// Returns an empty tree, for a branch without commits.
fn before_the_first(repository: &Path) -> Result<Option<String>, Failure> {
    let is_there = ask(repository, &["rev-parse", "--verify", "--quiet", "HEAD"])?.is_some();
    if is_there || ask(repository, &["symbolic-ref", "--quiet", "HEAD"])?.is_none() {
        return Ok(None);
    }
    ask(repository, &["hash-object", "-t", "tree", "/dev/null"])
}

fn commit_of(reference: &str) -> String {
    format!("{reference}^{{commit}}")
}

fn unknown_base(repository: &Path, reference: &str) -> Result<Failure, Failure> {
    let shallow = is_shallow(repository)?;
    let branch = reference.rsplit('/').next().unwrap_or(reference);
    Ok(if shallow {
        Failure::new(format!("the base `{reference}` is not in this shallow clone"))
            .with_help(format!("run `git fetch --depth=1 origin {branch}`"))
    } else {
        Failure::new(format!("git does not know the commit `{reference}`")).with_help(format!(
            "pass a branch, a tag or a commit; if the clone lacks it, run `git fetch origin {branch}`"
        ))
    })
}

impl GitTree {
    /// Changes the size limit of files.
    #[must_use]
    pub(in crate::cli) fn up_to(self, bytes: u64) -> Self {
        GitTree { largest_file: bytes, ..self }
    }

    /// Reads unchanged files from the work tree.
    #[must_use]
    pub(in crate::cli) fn over(self, work_tree: &Path) -> Self {
        let tracked = git_index::tracked(work_tree);
        let same = Arc::new(self.same(work_tree, tracked.as_deref().unwrap_or_default()));
        let disk = DiskTree::new(work_tree.to_owned(), vec![work_tree.to_owned()]).up_to(self.largest_file);
        let laid = Laid { same, disk, proof: Proof::Untouched };
        GitTree { laid_under: Some(laid).filter(|it| !it.same.is_empty()), tracked, ..self }
    }

    /// Uses the contents of a cache.
    #[must_use]
    pub(in crate::cli) fn remembering(self, memory: &Arc<Memory>) -> Self {
        GitTree { memory: Some(memory.clone()), ..self }
    }

    /// Returns the cached content of an object.
    fn remembered(&self, object: &GitEntry) -> Option<Result<Vec<u8>, ReadError>> {
        let text = self.memory.as_ref()?.text(&id_of(&object.id)?)?;
        (text.len() as u64 <= self.largest_file).then(|| demand_text(text.to_vec()))
    }

    /// Reads files from the work tree if their digest matches the object. The files that `other` also contains count
    /// as identical.
    #[must_use]
    pub(in crate::cli) fn proven_by(self, work_tree: &Path, other: Option<&TreeEntries>) -> Self {
        let is_same = |(path, object): &(&String, &GitEntry)| {
            object.kind == GitEntryKind::File && other.is_some_and(|it| it.0.get(*path) == Some(*object))
        };
        let same = self.entries.0.iter().filter(is_same).map(|(path, _)| path.clone()).collect();
        let disk = DiskTree::new(work_tree.to_owned(), vec![work_tree.to_owned()]).up_to(self.largest_file);
        GitTree { laid_under: Some(Laid { same: Arc::new(same), disk, proof: Proof::Digest }), ..self }
    }

    /// Returns a file's content from the work tree, if it is known to be unchanged.
    fn laid(&self, path: &str, object: &GitEntry) -> Option<Result<Vec<u8>, ReadError>> {
        let Laid { same, disk, proof } = self.laid_under.as_ref()?;
        match proof {
            Proof::Untouched => same
                .contains(path)
                .then(|| disk.read(path))
                .filter(|read| read.is_ok() || matches!(read, Err(ReadError::TooLarge { .. } | ReadError::Pointer(_)))),
            Proof::Digest => disk.read(path).ok().filter(|text| is_called(text, &object.id)).map(Ok),
        }
    }

    fn same(&self, work_tree: &Path, tracked: &[Indexed]) -> HashSet<String> {
        let is_attributes = |path: &str| path.rsplit('/').next() == Some(".gitattributes");
        let before = self.entries.0.keys().filter(|path| is_attributes(path)).filter_map(|path| self.read(path).ok());
        let now = tracked.iter().filter(|it| is_attributes(&it.path));
        let now = now.filter_map(|it| read_limited(&below(work_tree, &it.path), LONGEST_ATTRIBUTES).ok());
        if before.chain(now).chain([git_files::own_attributes(work_tree)]).any(|it| makes_other_text(&it)) {
            return HashSet::new();
        }
        git_index::same(work_tree, tracked, |path| {
            self.entries.0.get(path).filter(|it| it.kind == GitEntryKind::File).map(|it| it.id.as_str())
        })
    }

    /// Returns the files of the work tree that equal those of the commit.
    pub(in crate::cli) fn same_files(&self) -> Arc<HashSet<String>> {
        self.laid_under.as_ref().map(|it| it.same.clone()).unwrap_or_default()
    }

    /// Returns the paths that differ in another state, or `None` if links could lead from unchanged to changed files.
    pub(in crate::cli) fn differing(&self, other: &TreeEntries) -> Option<Differing> {
        self.entries.differing(other)
    }

    /// Returns the paths that differ from an earlier state, also those that lead through links. Returns `None` if a link
    /// changed, or if too many paths lead to the same files.
    pub(in crate::cli) fn differing_since(&self, before: &TreeEntries) -> Option<Differing> {
        if !self.entries.links().eq(before.links()) {
            return None;
        }
        let Differing { files, lists } = before.differing_entries(&self.entries);
        let ends = self.entries.links().filter_map(|(link, _)| Some((link.as_str(), self.resolve(link).ok()?)));
        let links = LinkEnds(ends.collect());
        Some(Differing { files: links.with_aliases(files, false)?, lists: links.with_aliases(lists, true)? })
    }

    pub(in crate::cli) fn files(&self) -> impl Iterator<Item = &str> {
        self.entries
            .0
            .iter()
            .filter(|(_, object)| object.kind != GitEntryKind::Submodule)
            .map(|(path, _)| path.as_str())
    }

    /// Returns all files, and an error for an entry that is not a plain file.
    pub(in crate::cli) fn plain_files(&self) -> Result<Vec<&str>, String> {
        let plain = |(path, object): (&'_ String, &GitEntry)| match object.kind {
            GitEntryKind::File => Ok(()),
            GitEntryKind::Link => Err(format!("`{}` is a symbolic link", path.escape_debug())),
            GitEntryKind::Submodule => Err(format!("`{}` is a submodule", path.escape_debug())),
        };
        self.entries.0.iter().try_for_each(plain)?;
        Ok(self.entries.0.keys().map(String::as_str).collect())
    }

    /// Returns tracked files with their object ids.
    pub(in crate::cli) fn tracked(&self) -> Option<impl Iterator<Item = (&str, &str)>> {
        self.tracked.as_ref().map(|all| all.iter().map(|it| (it.path.as_str(), it.id.as_str())))
    }

    /// Returns the object id of a path.
    pub(in crate::cli) fn id(&self, path: &str) -> Option<&str> {
        self.entries.0.get(path).map(|object| object.id.as_str())
    }

    /// Returns each path with its object id.
    pub(in crate::cli) fn ids(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.ids()
    }

    /// Returns links whose targets are not in the tree.
    pub(in crate::cli) fn links_to_nothing(&self) -> Vec<String> {
        let links = self.entries.0.iter().filter(|(_, object)| object.kind == GitEntryKind::Link).map(|(path, _)| path);
        let is_there = |path: &String| {
            self.resolve(path).is_ok_and(|target| self.entries.0.contains_key(&target)) || self.leads_to_directory(path)
        };
        links.filter(|path| !is_there(path)).cloned().collect()
    }

    pub(in crate::cli) fn submodules(&self) -> Vec<String> {
        let all = self.entries.0.iter();
        all.filter(|(_, object)| object.kind == GitEntryKind::Submodule).map(|(path, _)| path.clone()).collect()
    }

    /// Returns the list of objects that a partial clone lacks. It grows while the tree is read.
    pub(in crate::cli) fn missing(&self) -> Arc<Mutex<Vec<String>>> {
        self.missing.clone()
    }

    /// Resolves links in a path, in directories and in the last part.
    pub(in crate::cli) fn resolve(&self, path: &str) -> Result<String, ReadError> {
        let mut path = path.to_owned();
        if !self.has_links {
            return Ok(path);
        }
        for _ in 0..MOST_LINKS {
            let Some((link, object)) = self.first_link(&path) else { return Ok(path) };
            let target = String::from_utf8_lossy(&self.object(&link, &object)?).into_owned();
            if target.starts_with('/') {
                return Err(ReadError::Outside);
            }
            let rest = path.get(link.len()..).unwrap_or_default();
            path = join(parent(&link), &format!("{target}{rest}")).ok_or(ReadError::Outside)?;
        }
        Err(ReadError::Other("its symbolic links form a loop".to_owned()))
    }

    fn first_link(&self, path: &str) -> Option<(String, GitEntry)> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).find_map(|part| {
            let object = self.entries.0.get(part)?;
            (object.kind == GitEntryKind::Link).then(|| (part.to_owned(), object.clone()))
        })
    }

    fn object(&self, path: &str, object: &GitEntry) -> Result<Vec<u8>, ReadError> {
        let read = self.objects.read(&object.id, self.largest_file);
        if matches!(read, Err(ReadError::Missing)) {
            self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        }
        read
    }
}

/// The links of a tree, each with the path to which it leads.
struct LinkEnds<'t>(Vec<(&'t str, String)>);

impl LinkEnds<'_> {
    /// The limit on paths, because links in a loop have any number of them.
    const MOST_PATHS: usize = 20_000;

    /// Adds each path that leads to one of these paths. With a directory, it also adds the directory of the link, whose
    /// list shows whether the link leads to a directory.
    fn with_aliases(&self, paths: HashSet<String>, are_directories: bool) -> Option<HashSet<String>> {
        let mut all = paths;
        let mut open: Vec<String> = if self.0.is_empty() { Vec::new() } else { all.iter().cloned().collect() };
        while let Some(path) = open.pop() {
            for (link, end) in &self.0 {
                if path != *end && !is_below(&path, end) {
                    continue;
                }
                let rest = path.get(end.len()..).unwrap_or_default().trim_start_matches('/');
                let around = (are_directories && rest.is_empty()).then(|| parent(link).to_owned());
                let alias = if rest.is_empty() { (*link).to_owned() } else { format!("{link}/{rest}") };
                for alias in around.into_iter().chain([alias]) {
                    if all.insert(alias.clone()) {
                        open.push(alias);
                    }
                }
            }
            if all.len() > Self::MOST_PATHS {
                return None;
            }
        }
        Some(all)
    }
}

impl Tree for GitTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let path = self.resolve(path)?;
        match self.entries.0.get(&path) {
            Some(object) if object.kind == GitEntryKind::File => {
                let known = self.remembered(object).or_else(|| self.laid(&path, object));
                known.unwrap_or_else(|| self.object(&path, object))
            }
            _ => Err(ReadError::Missing),
        }
    }

    fn list(&self, directory: &str) -> Vec<TreeEntry> {
        let Ok(directory) = self.resolve(directory) else { return Vec::new() };
        let prefix = if directory.is_empty() { directory } else { format!("{directory}/") };
        let mut entries: Vec<TreeEntry> = Vec::new();
        let mut paths = self.entries.0.range(prefix.clone()..);
        let mut passed = 0;
        while let Some((path, object)) = paths.next() {
            let Some(inside) = path.strip_prefix(&prefix) else { break };
            match inside.split_once('/') {
                Some((name, _)) if entries.last().is_some_and(|last| last.is_directory && last.name == name) => {
                    passed += 1;
                    if passed == MOST_PASSED {
                        paths = self.entries.0.range(format!("{prefix}{name}{BEHIND_SLASH}")..);
                    }
                }
                Some((name, _)) => {
                    entries.push(TreeEntry { name: name.to_owned(), is_directory: true });
                    passed = 0;
                }
                None if object.kind != GitEntryKind::Submodule => {
                    let is_directory = object.kind == GitEntryKind::Link && self.leads_to_directory(path);
                    entries.push(TreeEntry { name: inside.to_owned(), is_directory });
                }
                None => {}
            }
        }
        entries.sort();
        entries.dedup();
        entries
    }

    fn link(&self, path: &str) -> Option<String> {
        let path = match path.rsplit_once('/') {
            Some((directory, name)) => format!("{}/{name}", self.resolve(directory).ok()?),
            None => path.to_owned(),
        };
        let object = self.entries.0.get(&path).filter(|it| it.kind == GitEntryKind::Link)?;
        Some(named(&self.object(&path, object).ok()?).into_owned())
    }
}

impl GitTree {
    fn leads_to_directory(&self, path: &str) -> bool {
        let Ok(target) = self.resolve(path) else { return false };
        let prefix = format!("{target}/");
        self.entries.0.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }
}
