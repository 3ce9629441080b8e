//! The user's cache of refreshed prices: one file per provider, in the format of the files in `pricing`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::ci::CiVariables;
use super::place;
use super::replace::replace;
use crate::catalog::{Catalog, CsvFile, encode_tables, schema_number};
use crate::cli::Failure;
use crate::refresh::MODELS;
use crate::source::Date;

/// The longest price list that is read.
const LONGEST_FILE_BYTES: u64 = 32 << 20;

/// A file name that cannot be a provider.
const TAKEN: &str = "signed.taken";
/// The tables in the form that needs no parsing.
const ENCODED: &str = "tables.bin";
/// The most keys whose last date is kept.
const MOST_SIGNERS: usize = 16;

/// Returns the directory of refreshed prices.
pub(in crate::cli) fn directory(environment: CiVariables) -> Result<Option<PathBuf>, Failure> {
    Ok(home(environment)?.map(|it| it.join("prices")))
}

/// Returns the directory of cached costs of earlier states.
pub(in crate::cli) fn history_directory(environment: CiVariables) -> Option<PathBuf> {
    Some(home(environment).ok()??.join("history"))
}

/// Returns the directory of cached results about files.
pub(in crate::cli) fn remembered_directory(environment: CiVariables) -> Option<PathBuf> {
    Some(home(environment).ok()??.join("texts"))
}

/// Returns `GPULINT_CACHE_DIR`, or the system's cache directory. A directory in the repository is refused: the author
/// of a change could write prices to it.
fn home(environment: CiVariables) -> Result<Option<PathBuf>, Failure> {
    if let Some(named) = environment("GPULINT_CACHE_DIR").map(PathBuf::from) {
        return match own_repository(&named) {
            None => Ok(Some(named)),
            Some(repository) => Err(Failure::new(format!(
                "the cache `{}` is inside the repository `{}`, where a change could replace its files",
                named.display(),
                repository.display()
            ))
            .with_help("set GPULINT_CACHE_DIR to a directory outside the checkout")),
        };
    }
    let home = || environment("HOME").map(PathBuf::from);
    let base = if cfg!(target_os = "windows") {
        environment("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library").join("Caches"))
    } else {
        absolute(environment, "XDG_CACHE_HOME").or_else(|| home().map(|home| home.join(".cache")))
    };
    Ok(base.map(|it| it.join("gpulint")).filter(|it| own_repository(it).is_none()))
}

/// Returns the system's directory for program state.
pub(in crate::cli) fn state_directory(environment: CiVariables) -> Option<PathBuf> {
    let home = || environment("HOME").map(PathBuf::from);
    let base = if cfg!(target_os = "windows") {
        environment("APPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library").join("Application Support"))
    } else {
        absolute(environment, "XDG_STATE_HOME").or_else(|| home().map(|home| home.join(".local").join("state")))
    };
    base.map(|it| it.join("gpulint")).filter(|it| own_repository(it).is_none())
}

/// Ignores a relative path, as the XDG specification requires.
fn absolute(environment: CiVariables, name: &str) -> Option<PathBuf> {
    environment(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Returns the repository of the current directory if it contains a directory, with links followed.
fn own_repository(directory: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let repository = place::repository(&here)?;
    let directory = here.join(directory);
    let real = directory.ancestors().find_map(|it| Some((it, it.canonicalize().ok()?)));
    let real = real.map(|(known, real)| real.join(directory.strip_prefix(known).unwrap_or(Path::new(""))))?;
    real.starts_with(repository).then(|| repository.to_owned())
}

/// A table in the cache.
struct CachedFile {
    stem: String,
    path: PathBuf,
    length: u64,
    modified: u64,
}

impl CachedFile {
    fn read(&self) -> Result<(String, String), Failure> {
        let text = fs::read_to_string(&self.path).map_err(|error| unreadable(&self.path, &error))?;
        Ok((self.stem.clone(), text))
    }
}

/// Returns the refreshed tables in a directory, by name. If the directory does not exist, there are none.
fn list(directory: &Path) -> Result<Vec<CachedFile>, Failure> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // If the path cannot be a directory, there are no prices.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        // The home directory belongs to another user, as in some containers: its content
        // is not this user's cache. An existing cache that cannot be listed is an error.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && fs::metadata(directory).is_err() => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(unreadable(directory, &error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(directory, &error))?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_none_or(|extension| extension != "csv") || stem.starts_with('.') {
            continue;
        }
        let metadata = fs::metadata(&path).map_err(|error| unreadable(&path, &error))?;
        let length = metadata.len();
        if length > LONGEST_FILE_BYTES {
            return Err(Failure::new(format!(
                "`{}` has {length} bytes, more than a price list can have",
                path.display()
            )));
        }
        let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since.map_or(0, |since| since.as_nanos() as u64);
        files.push(CachedFile { stem, path, length, modified });
    }
    files.sort_by(|one, two| one.stem.cmp(&two.stem));
    Ok(files)
}

/// Returns the refreshed tables in a directory: their names and texts.
pub(in crate::cli) fn read(directory: &Path) -> Result<Vec<(String, String)>, Failure> {
    list(directory)?.iter().map(CachedFile::read).collect()
}

/// Overlays a catalog with the refreshed tables in a directory. Reads them in encoded form if they did not change since.
pub(in crate::cli) fn overlay(catalog: Catalog, directory: &Path) -> Result<Catalog, Failure> {
    let files = list(directory)?;
    if files.is_empty() {
        return Ok(catalog);
    }
    let Some((encoded, begin)) = encoded(directory, &files) else { return lay_over(catalog, &read(directory)?) };
    let models =
        files.iter().filter(|file| file.stem == MODELS).map(CachedFile::read).collect::<Result<Vec<_>, _>>()?;
    lay_over(catalog.with_encoded(encoded, begin), &models)
}

/// Overlays a catalog with refreshed prices.
pub(in crate::cli) fn lay_over(catalog: Catalog, files: &[(String, String)]) -> Result<Catalog, Failure> {
    let (models, tables): (Vec<_>, Vec<_>) = files.iter().partition(|(stem, _)| stem == MODELS);
    let with_tables = if tables.is_empty() { Ok(catalog) } else { catalog.with_refreshed(&tables_of(&tables)) };
    let with_models = |catalog: Catalog, (path, text): &(String, String)| catalog.with_newer_models(path, text);
    with_tables.and_then(|catalog| models.into_iter().try_fold(catalog, with_models)).map_err(|error| {
        Failure::new(format!("the price cache is damaged: {error}"))
            .with_help("run `gpulint catalog update` to rewrite the cache, or pass --prices embedded to ignore it")
    })
}

fn tables_of<'f>(files: &[&'f (String, String)]) -> Vec<CsvFile<'f>> {
    files.iter().map(|(stem, text)| CsvFile { path: stem, stem, text }).collect()
}

/// Returns the first bytes of the encoded tables: which files they contain, and in which schema.
fn mark(files: &[CachedFile]) -> Vec<u8> {
    let mut mark = schema_number().to_le_bytes().to_vec();
    for file in files {
        mark.extend(file.length.to_le_bytes());
        mark.extend(file.modified.to_le_bytes());
        mark.extend(file.stem.as_bytes());
    }
    mark
}

/// Returns the encoded tables and where they begin, if they were made from these files.
fn encoded(directory: &Path, files: &[CachedFile]) -> Option<(Vec<u8>, usize)> {
    let path = directory.join(ENCODED);
    let is_short = fs::metadata(&path).is_ok_and(|file| file.len() <= LONGEST_FILE_BYTES);
    let bytes = is_short.then(|| fs::read(&path).ok()).flatten()?;
    let mark = mark(files);
    bytes.starts_with(&mark).then_some((bytes, mark.len()))
}

/// Writes the encoded tables, so that a run need not parse them.
pub(in crate::cli) fn encode(directory: &Path) -> Result<(), Failure> {
    let files = list(directory)?;
    let texts = files.iter().map(CachedFile::read).collect::<Result<Vec<_>, _>>()?;
    let tables: Vec<&(String, String)> = texts.iter().filter(|(stem, _)| stem != MODELS).collect();
    // Without the encoded form, the next run parses the tables, and reports their errors.
    let Ok(block) = encode_tables(&tables_of(&tables)) else { return Ok(()) };
    write_bytes(directory, ENCODED, &[mark(&files), block].concat()).map(drop)
}

/// Replaces a file completely or not at all.
pub(in crate::cli) fn write(directory: &Path, provider: &str, text: &str) -> Result<PathBuf, Failure> {
    write_named(directory, &format!("{provider}.csv"), text)
}

/// Returns the date of the last signed price file of one of these keys.
pub(in crate::cli) fn taken_day(directory: &Path, keys: &[&str]) -> Option<Date> {
    let path = directory.join(TAKEN);
    let is_short = fs::metadata(&path).is_ok_and(|file| file.len() < 4096);
    let text = is_short.then(|| fs::read_to_string(&path).ok()).flatten()?;
    let days = text.lines().filter_map(|line| line.split_once(' ')).filter(|(_, of)| keys.contains(of));
    days.filter_map(|(day, _)| day.parse().ok()).max()
}

pub(in crate::cli) fn keep_taken_day(directory: &Path, keys: &[&str], day: Date) -> Result<(), Failure> {
    let path = directory.join(TAKEN);
    let earlier = fs::read_to_string(path).unwrap_or_default();
    let is_other = |line: &&str| line.split_once(' ').is_some_and(|(_, of)| !keys.contains(&of));
    let others = earlier.lines().filter(is_other).take(MOST_SIGNERS).map(|line| format!("{line}\n"));
    let lines: String = keys.iter().map(|key| format!("{day} {key}\n")).chain(others).collect();
    write_named(directory, TAKEN, &lines).map(drop)
}

fn write_named(directory: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    write_bytes(directory, name, text.as_bytes())
}

fn write_bytes(directory: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
    let path = directory.join(name);
    fs::create_dir_all(directory)
        .and_then(|()| replace(&path, bytes, None))
        .map_err(|error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))?;
    Ok(path)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be read: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_can_be_named() {
        let environment = |name: &str| (name == "GPULINT_CACHE_DIR").then(|| "/somewhere".to_owned());
        assert_eq!(directory(&environment).ok().flatten(), Some(PathBuf::from("/somewhere/prices")));
        assert_eq!(directory(&|_: &str| None).ok().flatten(), None);
        let inside = |name: &str| (name == "GPULINT_CACHE_DIR").then(|| "target/../cache".to_owned());
        assert!(directory(&inside).is_err() && remembered_directory(&inside).is_none());
    }
}
