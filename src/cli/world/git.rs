//! Trees and commits, read by the user's own git without touching anything.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::file_tree::{DiskTree, below, read_limited};
use super::git_changes::Changed;
use super::git_index::{Indexed, makes_other_text};
use super::git_objects::GitObjects;
use super::git_program::{ask, first_line, index_of_hook, is_commit, run, run_on};
use super::{git_files, git_index, reference};
use crate::cli::Failure;
use crate::source::{Entry, Limits, ReadError, Tree, join, named, parent};

/// Links that lead to links that lead to links: more than this is a ring.
const MOST_LINKS: usize = 16;

/// Longer than any list of attributes.
const LONGEST_ATTRIBUTES: u64 = 1 << 20;

/// A tree of git objects, read without touching the work tree, the index or the network.
pub(in crate::cli) struct GitTree {
    entries: BTreeMap<String, Object>,
    /// Objects that a partial clone does not hold.
    missing: Arc<Mutex<Vec<String>>>,
    objects: Arc<GitObjects>,
    largest_file: u64,
    laid_under: Option<Laid>,
    /// git's own list of the work tree that it was laid over, where that can be read.
    tracked: Option<Vec<Indexed>>,
}

/// The work tree, where its files are as the commit has them: a change touches few, and git unpacks each one by one.
struct Laid {
    same: Arc<HashSet<String>>,
    disk: DiskTree,
}

#[derive(Debug, Clone)]
struct Object {
    kind: ObjectKind,
    id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectKind {
    File,
    Link,
    Submodule,
}

/// The commit that a change started from.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Base {
    pub(in crate::cli) repository: PathBuf,
    pub(in crate::cli) commit: String,
    /// What a reader of the comparison must know about it.
    pub(in crate::cli) note: Option<String>,
}

impl Base {
    /// Where the work at hand left `reference`, or `reference` itself where the clone cannot tell.
    pub(in crate::cli) fn find(repository: &Path, reference: &str) -> Result<Base, Failure> {
        if reference == "HEAD"
            && let Some(commit) = before_the_first(repository)?
        {
            let note = Some("there is no commit yet: everything is new".to_owned());
            return Ok(Base { repository: repository.to_owned(), commit, note });
        }
        let Base { commit: tip, .. } = Self::tip(repository, reference)?;
        let merge_base = ask(repository, &["merge-base", &tip, "HEAD"])?;
        let note = merge_base.is_none().then(|| {
            format!("the histories of `{reference}` and HEAD do not meet in this clone: compared with the tip of `{reference}`")
        });
        Ok(Base { repository: repository.to_owned(), commit: merge_base.unwrap_or(tip), note })
    }

    /// `reference` itself.
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
        let entries = Entries::of(&self.repository, &self.commit)?;
        GitTree::with_entries(&self.repository, entries)
    }
}

/// Every path of a tree with what stands there.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Entries(BTreeMap<String, Object>);

impl Entries {
    /// Those of a commit or a tree.
    pub(in crate::cli) fn of(repository: &Path, tree: &str) -> Result<Entries, Failure> {
        let listed = run(repository, &["ls-tree", "-r", "-z", "--full-tree", tree])?;
        if !listed.status.success() {
            return Err(Failure::new(format!("git cannot list the base: {}", first_line(&listed.stderr))));
        }
        Self::listed(&listed.stdout)
    }

    /// What `git ls-tree -r -z` printed.
    fn listed(lines: &[u8]) -> Result<Entries, Failure> {
        let mut entries = BTreeMap::new();
        for line in lines.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let line = named(line);
            let (path, object) = entry(&line).ok_or_else(|| not_understood(&line))?;
            entries.insert(path, object);
        }
        Ok(Entries(entries))
    }

    /// Makes it the tree after a change.
    pub(in crate::cli) fn apply(&mut self, changes: &[Changed]) {
        for change in changes {
            match &change.now {
                Some((mode, id)) => {
                    self.0.insert(change.path.clone(), Object { kind: kind_of(mode), id: id.clone() });
                }
                None => drop(self.0.remove(&change.path)),
            }
        }
    }

    /// Something lies below a directory.
    pub(in crate::cli) fn has_directory(&self, directory: &str) -> bool {
        let prefix = format!("{directory}/");
        self.0.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }

    pub(in crate::cli) fn has_links(&self) -> bool {
        self.0.values().any(|it| it.kind == ObjectKind::Link)
    }
}

impl GitTree {
    /// What `git ls-tree -r -z` printed.
    pub(in crate::cli) fn listed(repository: &Path, lines: &[u8]) -> Result<GitTree, Failure> {
        Self::with_entries(repository, Entries::listed(lines)?)
    }

    /// What the next commit will hold.
    pub(in crate::cli) fn staged(repository: &Path) -> Result<GitTree, Failure> {
        let listed = run_on(repository, &["ls-files", "--stage", "-z", "--full-name"], index_of_hook(repository))?;
        if !listed.status.success() {
            return Err(Failure::new(format!("git cannot list the index: {}", first_line(&listed.stderr))));
        }
        let mut entries = BTreeMap::new();
        for line in listed.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let line = named(line);
            let (path, object) = staged_entry(&line).ok_or_else(|| not_understood(&line))?;
            entries.insert(path, object);
        }
        Self::with_entries(repository, Entries(entries))
    }

    fn with_entries(repository: &Path, entries: Entries) -> Result<GitTree, Failure> {
        Ok(Self::reading(entries, Arc::new(GitObjects::start(repository, 0)?)))
    }

    /// A tree whose texts are read by a process that others use too.
    pub(in crate::cli) fn reading(entries: Entries, objects: Arc<GitObjects>) -> GitTree {
        GitTree {
            entries: entries.0,
            missing: Arc::default(),
            objects,
            largest_file: Limits::DEFAULT.file_bytes,
            laid_under: None,
            tracked: None,
        }
    }
}

/// The tree without files, where HEAD is a branch that has no commit yet.
fn before_the_first(repository: &Path) -> Result<Option<String>, Failure> {
    let is_there = ask(repository, &["rev-parse", "--verify", "--quiet", "HEAD"])?.is_some();
    if is_there || ask(repository, &["symbolic-ref", "--quiet", "HEAD"])?.is_none() {
        return Ok(None);
    }
    ask(repository, &["hash-object", "-t", "tree", "/dev/null"])
}

/// A base of which nothing can be understood would make everything look new.
fn not_understood(line: &str) -> Failure {
    let line: String = line.chars().take(80).collect();
    Failure::new(format!("git answered something else than a list of files: `{}`", line.escape_debug()))
}

fn commit_of(reference: &str) -> String {
    format!("{reference}^{{commit}}")
}

fn unknown_base(repository: &Path, reference: &str) -> Result<Failure, Failure> {
    let shallow = ask(repository, &["rev-parse", "--is-shallow-repository"])?.as_deref() == Some("true");
    let branch = reference.rsplit('/').next().unwrap_or(reference);
    Ok(if shallow {
        Failure::new(format!("the base `{reference}` is not in this shallow clone"))
            .with_help(format!("fetch it first: git fetch --depth=1 origin {branch}"))
    } else {
        Failure::new(format!("git knows no commit `{reference}`"))
            .with_help(format!("name a branch, a tag or a commit; perhaps: git fetch origin {branch}"))
    })
}

/// A line of `git ls-tree`: mode, type, id, a tab, the path.
fn entry(line: &str) -> Option<(String, Object)> {
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split(' ');
    let (mode, _, id) = (words.next()?, words.next()?, words.next()?);
    Some((path.to_owned(), Object { kind: kind_of(mode), id: id.to_owned() }))
}

/// A line of `git ls-files --stage`: mode, id, stage, a tab, the path. Of a conflict, the last of its versions.
fn staged_entry(line: &str) -> Option<(String, Object)> {
    let (about, path) = line.split_once('\t')?;
    let mut words = about.split(' ');
    let (mode, id) = (words.next()?, words.next()?);
    is_commit(id).then(|| (path.to_owned(), Object { kind: kind_of(mode), id: id.to_owned() }))
}

fn kind_of(mode: &str) -> ObjectKind {
    match mode {
        "120000" => ObjectKind::Link,
        "160000" => ObjectKind::Submodule,
        _ => ObjectKind::File,
    }
}

impl GitTree {
    /// Smaller or larger files than usual are read.
    #[must_use]
    pub(in crate::cli) fn up_to(self, bytes: u64) -> Self {
        GitTree { largest_file: bytes, ..self }
    }

    /// Reads from the work tree what lies there as the commit has it.
    #[must_use]
    pub(in crate::cli) fn over(self, work_tree: &Path) -> Self {
        let tracked = git_index::tracked(work_tree);
        let same = Arc::new(self.same(work_tree, tracked.as_deref().unwrap_or_default()));
        let disk = DiskTree::new(work_tree.to_owned(), vec![work_tree.to_owned()]).up_to(self.largest_file);
        GitTree { laid_under: Some(Laid { same, disk }).filter(|it| !it.same.is_empty()), tracked, ..self }
    }

    fn same(&self, work_tree: &Path, tracked: &[Indexed]) -> HashSet<String> {
        let is_attributes = |path: &str| path.rsplit('/').next() == Some(".gitattributes");
        let before = self.entries.keys().filter(|path| is_attributes(path)).filter_map(|path| self.read(path).ok());
        let now = tracked.iter().filter(|it| is_attributes(&it.path));
        let now = now.filter_map(|it| read_limited(&below(work_tree, &it.path), LONGEST_ATTRIBUTES).ok());
        if before.chain(now).chain([git_files::own_attributes(work_tree)]).any(|it| makes_other_text(&it)) {
            return HashSet::new();
        }
        git_index::same(work_tree, tracked, |path| {
            self.entries.get(path).filter(|it| it.kind == ObjectKind::File).map(|it| it.id.as_str())
        })
    }

    /// The files that lie in the work tree as the commit has them.
    pub(in crate::cli) fn same_files(&self) -> Arc<HashSet<String>> {
        self.laid_under.as_ref().map(|it| it.same.clone()).unwrap_or_default()
    }

    pub(in crate::cli) fn files(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter(|(_, object)| object.kind != ObjectKind::Submodule).map(|(path, _)| path.as_str())
    }

    /// All files; what is no plain file is named.
    pub(in crate::cli) fn plain_files(&self) -> Result<Vec<&str>, String> {
        let plain = |(path, object): (&'_ String, &Object)| match object.kind {
            ObjectKind::File => Ok(()),
            ObjectKind::Link => Err(format!("`{}` is a symbolic link", path.escape_debug())),
            ObjectKind::Submodule => Err(format!("`{}` is a submodule", path.escape_debug())),
        };
        self.entries.iter().try_for_each(plain)?;
        Ok(self.entries.keys().map(String::as_str).collect())
    }

    /// What git tracks in the work tree, each path with what git calls its text.
    pub(in crate::cli) fn tracked(&self) -> Option<impl Iterator<Item = (&str, &str)>> {
        self.tracked.as_ref().map(|all| all.iter().map(|it| (it.path.as_str(), it.id.as_str())))
    }

    /// What git calls what stands at a path.
    pub(in crate::cli) fn id(&self, path: &str) -> Option<&str> {
        self.entries.get(path).map(|object| object.id.as_str())
    }

    /// Each path with what git calls what stands there.
    pub(in crate::cli) fn ids(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(path, object)| (path.as_str(), object.id.as_str()))
    }

    /// Links that lead to nothing of the tree.
    pub(in crate::cli) fn links_to_nothing(&self) -> Vec<String> {
        let links = self.entries.iter().filter(|(_, object)| object.kind == ObjectKind::Link).map(|(path, _)| path);
        let is_there = |path: &String| {
            self.resolve(path).is_ok_and(|target| self.entries.contains_key(&target)) || self.leads_to_directory(path)
        };
        links.filter(|path| !is_there(path)).cloned().collect()
    }

    pub(in crate::cli) fn submodules(&self) -> Vec<String> {
        let all = self.entries.iter();
        all.filter(|(_, object)| object.kind == ObjectKind::Submodule).map(|(path, _)| path.clone()).collect()
    }

    /// Filled while the tree is read: what a partial clone does not hold.
    pub(in crate::cli) fn missing(&self) -> Arc<Mutex<Vec<String>>> {
        self.missing.clone()
    }

    /// The path behind links, whether the last part or a directory on the way is one.
    pub(in crate::cli) fn resolve(&self, path: &str) -> Result<String, ReadError> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let Some((link, object)) = self.first_link(&path) else { return Ok(path) };
            let target = String::from_utf8_lossy(&self.object(&link, &object)?).into_owned();
            if target.starts_with('/') {
                return Err(ReadError::Outside);
            }
            let rest = path.get(link.len()..).unwrap_or_default();
            path = join(parent(&link), &format!("{target}{rest}")).ok_or(ReadError::Outside)?;
        }
        Err(ReadError::Other("its links lead in a ring".to_owned()))
    }

    fn first_link(&self, path: &str) -> Option<(String, Object)> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).find_map(|part| {
            let object = self.entries.get(part)?;
            (object.kind == ObjectKind::Link).then(|| (part.to_owned(), object.clone()))
        })
    }

    fn object(&self, path: &str, object: &Object) -> Result<Vec<u8>, ReadError> {
        let read = self.objects.read(&object.id, self.largest_file);
        if matches!(read, Err(ReadError::Missing)) {
            self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        }
        read
    }
}

impl Tree for GitTree {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let path = self.resolve(path)?;
        if let Some(read) = self.laid_under.as_ref().filter(|it| it.same.contains(&path)).map(|it| it.disk.read(&path))
            && (read.is_ok() || matches!(read, Err(ReadError::TooLarge { .. } | ReadError::Pointer(_))))
        {
            return read;
        }
        match self.entries.get(&path) {
            Some(object) if object.kind == ObjectKind::File => self.object(&path, object),
            _ => Err(ReadError::Missing),
        }
    }

    fn list(&self, directory: &str) -> Vec<Entry> {
        let Ok(directory) = self.resolve(directory) else { return Vec::new() };
        let prefix = if directory.is_empty() { directory } else { format!("{directory}/") };
        let below = self.entries.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        let mut entries: Vec<Entry> = below
            .filter_map(|(path, object)| match path.get(prefix.len()..)?.split_once('/') {
                Some((name, _)) => Some(Entry { name: name.to_owned(), is_directory: true }),
                None if object.kind == ObjectKind::Submodule => None,
                None => Some(Entry {
                    name: path.get(prefix.len()..)?.to_owned(),
                    is_directory: object.kind == ObjectKind::Link && self.leads_to_directory(path),
                }),
            })
            .collect();
        entries.sort();
        entries.dedup();
        entries
    }
}

impl GitTree {
    fn leads_to_directory(&self, path: &str) -> bool {
        let Ok(target) = self.resolve(path) else { return false };
        let prefix = format!("{target}/");
        self.entries.range(prefix.clone()..).next().is_some_and(|(path, _)| path.starts_with(&prefix))
    }
}
