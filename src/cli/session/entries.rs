//! Reads own entries: definitions of modules, Terraform types and custom resources that gpulint does not have.

use std::collections::BTreeMap;

use super::packs::LoadedPack;
use crate::cli::Failure;
use crate::cli::io::place::WorkingTree;
use crate::config::{Config, setting};
use crate::rules::in_the_book;
use crate::source::SourceFiles;
use crate::{kubernetes, terraform};

/// The name of the file in a pack.
const IN_PACK: &str = "entries.toml";
const LONGEST_BYTES: usize = 1 << 20;

/// The entries of all files.
#[derive(Default)]
struct OwnEntries {
    types: terraform::TypeRows,
    modules: terraform::TypeRows,
    kinds: Vec<toml::Table>,
}

/// Adds the entries of the settings and of the packs to the built-in ones. They stay for the rest of the program.
pub(in crate::cli) fn add(
    sources: &SourceFiles,
    config: &Config,
    packs: &[LoadedPack],
    place: &WorkingTree,
) -> Result<(), Failure> {
    let named = config.texts(setting!("entries")).iter().map(|(path, _)| path.clone());
    let of_packs = packs.iter().map(|pack| format!("{}/{IN_PACK}", pack.path()));
    let of_packs = of_packs.filter(|path| sources.open(path).is_ok());
    let paths: Vec<String> = named.chain(of_packs).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let mut all = OwnEntries::default();
    for path in &paths {
        let fail = |why: String| unusable(&place.paths().show(path), &why);
        let file = sources.open(path).map_err(|error| fail(error.to_string()))?;
        let text = sources.text(file);
        if text.len() > LONGEST_BYTES {
            return Err(fail("the file is larger than 1 MiB".to_owned()));
        }
        all.read(&text).map_err(fail)?;
    }
    let shown: Vec<String> = paths.iter().map(|path| place.paths().show(path)).collect();
    let fail = |why: String| unusable(&shown.join("`, `"), &why);
    let is_first = terraform::add_types(&all.types, &all.modules).map_err(fail)?
        && kubernetes::add_kinds(&all.kinds).map_err(fail)?;
    match is_first {
        true => Ok(()),
        false => Err(Failure::new("the entries changed while gpulint runs").with_help("start gpulint again")),
    }
}

fn unusable(shown: &str, why: &str) -> Failure {
    Failure::new(format!("the entries in `{shown}` cannot be used: {why}"))
        .with_help(format!("write them as this page shows: {}", in_the_book("own-entries")))
}

impl OwnEntries {
    fn read(&mut self, text: &str) -> Result<(), String> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        for (section, value) in table {
            match section.as_str() {
                "type" => add_rows(&mut self.types, &section, value)?,
                "module" => add_rows(&mut self.modules, &section, value)?,
                "kind" => {
                    self.kinds.extend(value.try_into::<Vec<toml::Table>>().map_err(|error| error.message().to_owned())?)
                }
                other => {
                    return Err(format!(
                        "unknown section `{}`: the sections are [[type.NAME]], [[module.\"NAME\"]] and [[kind]]",
                        other.escape_debug()
                    ));
                }
            }
        }
        Ok(())
    }
}

fn add_rows(into: &mut terraform::TypeRows, section: &str, value: toml::Value) -> Result<(), String> {
    let rows: BTreeMap<String, Vec<toml::Table>> =
        value.try_into().map_err(|_| format!("write [[{section}.NAME]], with two brackets"))?;
    for (name, rows) in rows {
        if into.insert(name.clone(), rows).is_some() {
            return Err(format!("`{}` has two entries", name.escape_debug()));
        }
    }
    Ok(())
}
