//! Fetches a commit of another repository with the user's git into a temporary directory. Nothing of the fetched files
//! is executed, and only plain files are copied.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::content::{demand_plain, limit, shown};
use crate::cli::Failure;
use crate::cli::io::git::{Base, GitTree};
use crate::cli::io::git_program::fetching;
use crate::config::PackCommit;
use crate::source::{Tree, normalize};

/// The most bytes that git may write, including history.
const MOST_FETCHED_BYTES: u64 = 256 << 20;
/// The most bytes of all file names.
const MOST_LISTED_BYTES: u64 = 8 << 20;
const LONGEST: Duration = Duration::from_secs(600);
/// The pause between two checks of the written bytes.
const PAUSE: Duration = Duration::from_millis(50);

/// Returns the files of a pack, by their paths in its directory.
pub(super) fn fetch(origin: PackCommit<'_>) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let passing = Passing::new()?;
    let repository = passing.0.join("repository");
    let failed = |error: std::io::Error| {
        Failure::new(format!("directory `{}` cannot be created: {error}", repository.display()))
    };
    fs::create_dir(&repository).map_err(failed)?;
    passing.run(&repository, &["init", "--quiet", "--template=", "--object-format=sha1"])?.or_fail(origin)?;
    let one = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--"];
    let said = passing.run(&repository, &[&one[..], &[origin.git, origin.commit]].concat())?;
    if said.refuses_commits() {
        // Old servers send only whole branches and tags.
        let all =
            ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", origin.git];
        let references = ["+refs/heads/*:refs/heads/fetched/*", "+refs/tags/*:refs/tags/*"];
        passing.run(&repository, &[&all[..], &references].concat())?.or_fail(origin)?;
    } else {
        said.or_fail(origin)?;
    }
    let base = Base::tip(&repository, origin.commit)
        .ok()
        .filter(|base| base.commit == origin.commit)
        .ok_or_else(|| Failure::new(format!("{} has no commit {}", shown(origin.git), origin.commit)))?;
    let directory = normalize(origin.directory.unwrap_or_default()).unwrap_or_default();
    let tree = format!("{}:{directory}", base.commit);
    passing.run(&repository, &["ls-tree", "-r", "-z", "--full-tree", "--end-of-options", &tree])?.or_fail(origin)?;
    let listed = passing.printed()?;
    files(&GitTree::listed(&repository, &listed)?).map_err(|why| {
        Failure::new(format!("{} at {} is not a valid pack: {why}", shown(origin.git), origin.commit)).with_help(
            "a pack contains only plain files: rule files, a gpulint.toml, a prices.csv; set `directory` to the directory that contains them",
        )
    })
}

/// Returns the plain files of a git tree.
fn files(tree: &GitTree) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut files = BTreeMap::new();
    let mut folded = BTreeSet::new();
    let mut bytes = 0;
    let all = tree.plain_files()?;
    limit(all.len(), 0)?;
    for path in all {
        demand_plain(path)?;
        if !folded.insert(path.to_lowercase()) {
            return Err(format!("`{}` and another file differ only in upper and lower case", shown(path)));
        }
        let content = tree.read(path).map_err(|error| format!("`{}`: {error}", shown(path)))?;
        bytes += content.len();
        files.insert(path.to_owned(), content);
        limit(files.len(), bytes)?;
    }
    if files.is_empty() { Err("it contains no files".to_owned()) } else { Ok(files) }
}

/// A temporary directory that is deleted with this value.
struct Passing(PathBuf);

impl Passing {
    fn new() -> Result<Passing, Failure> {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        for attempt in 0..100 {
            let path = std::env::temp_dir().join(format!("gpulint-vendor-{}-{attempt}", std::process::id()));
            match builder.create(&path) {
                Ok(()) => return Ok(Passing(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(Failure::new(format!("directory `{}` cannot be created: {error}", path.display())));
                }
            }
        }
        Err(Failure::new("gpulint cannot create another temporary directory")
            .with_help("remove old `gpulint` directories from the temporary directory"))
    }

    /// Runs git, and stops it if it takes too long or writes too much.
    fn run(&self, repository: &Path, arguments: &[&str]) -> Result<GitAnswer, Failure> {
        let broken = |error: std::io::Error| {
            Failure::new(format!("git cannot be started: {error}")).with_help("install git, or copy the pack by hand")
        };
        let record = self.0.join("said");
        let said = File::create(&record).map_err(broken)?;
        let printed = File::create(self.0.join("printed")).map_err(broken)?;
        let mut command: Command = fetching(repository)?;
        command.args(arguments).stdin(Stdio::null()).stdout(printed).stderr(said);
        let mut process = command.spawn().map_err(broken)?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = process.try_wait().map_err(broken)? {
                break status;
            }
            let too_much = size(&self.0, 0) > MOST_FETCHED_BYTES;
            if too_much || start.elapsed() > LONGEST {
                let _ = process.kill();
                let _ = process.wait();
                let why = if too_much {
                    format!("it has more than {} MiB", MOST_FETCHED_BYTES >> 20)
                } else {
                    format!("it took more than {} seconds", LONGEST.as_secs())
                };
                return Err(Failure::new(format!("gpulint stopped the fetch: {why}")));
            }
            thread::sleep(PAUSE);
        };
        let mut bytes = Vec::new();
        File::open(&record).and_then(|file| file.take(1 << 16).read_to_end(&mut bytes)).map_err(broken)?;
        Ok(GitAnswer { succeeded: status.success(), text: String::from_utf8_lossy(&bytes).into_owned() })
    }
}

impl Passing {
    /// Reads the output of git up to a limit, because a malicious tree can list endless files.
    fn printed(&self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let read = File::open(self.0.join("printed"))
            .and_then(|file| file.take(MOST_LISTED_BYTES + 1).read_to_end(&mut bytes));
        match read {
            Ok(_) if bytes.len() as u64 <= MOST_LISTED_BYTES => Ok(bytes),
            Ok(_) => Err(Failure::new("the pack has too many files")
                .with_help("set `directory` to the directory of the pack's files")),
            Err(error) => Err(Failure::new(format!("gpulint cannot read the output of git: {error}"))),
        }
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the bytes in a directory. Files that disappear meanwhile do not count.
fn size(directory: &Path, depth: usize) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() && depth < 8 => size(&entry.path(), depth + 1),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}

/// The result of a git process.
struct GitAnswer {
    succeeded: bool,
    text: String,
}

impl GitAnswer {
    fn refuses_commits(&self) -> bool {
        !self.succeeded && (self.text.contains("unadvertised object") || self.text.contains("not our ref"))
    }

    fn or_fail(self, origin: PackCommit<'_>) -> Result<(), Failure> {
        if self.succeeded {
            return Ok(());
        }
        let fatal = self.text.lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
        let line = fatal.or_else(|| self.text.lines().next()).unwrap_or("git gave no reason");
        Err(Failure::new(format!("git cannot fetch {}: {}", shown(origin.git), shown(line))))
    }
}
