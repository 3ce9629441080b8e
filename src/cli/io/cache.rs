//! The user's cache of refreshed prices: one file per provider, in the format of the files in `pricing`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::ci::CiVariables;
use super::place;
use super::replace::replace;
use crate::catalog::{Catalog, CsvFile};
use crate::cli::Failure;
use crate::source::Date;

/// The longest price list that is read.
const LONGEST_FILE_BYTES: u64 = 32 << 20;

/// A file name that cannot be a provider.
const TAKEN: &str = "signed.taken";

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

/// Returns the refreshed prices in a directory by provider. If the directory does not exist, there are none.
pub(in crate::cli) fn read(directory: &Path) -> Result<Vec<(String, String)>, Failure> {
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
        let length = fs::metadata(&path).map_err(|error| unreadable(&path, &error))?.len();
        if length > LONGEST_FILE_BYTES {
            return Err(Failure::new(format!(
                "`{}` has {length} bytes, more than a price list can have",
                path.display()
            )));
        }
        files.push((stem, fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?));
    }
    files.sort();
    Ok(files)
}

/// Overlays a catalog with refreshed prices.
pub(in crate::cli) fn lay_over(catalog: Catalog, files: &[(String, String)]) -> Result<Catalog, Failure> {
    if files.is_empty() {
        return Ok(catalog);
    }
    let files: Vec<CsvFile> = files.iter().map(|(stem, text)| CsvFile { path: stem, stem, text }).collect();
    catalog.with_refreshed(&files).map_err(|error| {
        Failure::new(format!("the price cache is damaged: {error}"))
            .with_help("run `gpulint catalog update` to rewrite the cache, or pass --prices embedded to ignore it")
    })
}

/// Replaces a file completely or not at all.
pub(in crate::cli) fn write(directory: &Path, provider: &str, text: &str) -> Result<PathBuf, Failure> {
    write_named(directory, &format!("{provider}.csv"), text)
}

/// Returns the date of the last signed price file of a key.
pub(in crate::cli) fn taken_day(directory: &Path, key: &str) -> Option<Date> {
    let path = directory.join(TAKEN);
    let is_short = fs::metadata(&path).is_ok_and(|file| file.len() < 1024);
    let text = is_short.then(|| fs::read_to_string(&path).ok()).flatten()?;
    let (day, of) = text.trim().split_once(' ')?;
    (of == key).then(|| day.parse().ok()).flatten()
}

pub(in crate::cli) fn keep_taken_day(directory: &Path, key: &str, day: Date) -> Result<(), Failure> {
    write_named(directory, TAKEN, &format!("{day} {key}\n")).map(drop)
}

fn write_named(directory: &Path, name: &str, text: &str) -> Result<PathBuf, Failure> {
    let path = directory.join(name);
    fs::create_dir_all(directory)
        .and_then(|()| replace(&path, text.as_bytes(), None))
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
