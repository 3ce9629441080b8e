//! Reads files that a command names: settings of its program, in a mounted ConfigMap or in the tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::Fact;
use crate::inventory::programs::{Container, ProgramSetting, SettingsFiles};
use crate::languages::yaml::{self, Node};
use crate::source::FileId;

use super::model_repository;
use crate::kubernetes::objects::index::ObjectIndex;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::kubernetes::rows::settings;
use crate::kubernetes::text::nested;

/// The limit on files per container, and on the bytes of one file.
const MOST: usize = 8;
const MOST_BYTES: usize = 256 << 10;

/// Returns the settings in the files that a command names. `mounted` returns the file at a path of the container, and
/// `mounted_below` the files of a name below a path.
pub(super) fn of<'t>(
    container: &Container,
    mounted: impl Fn(&str) -> Option<&'t Node>,
    mounted_below: impl Fn(&str, &str) -> Vec<&'t Node>,
    index: &ObjectIndex<'t>,
) -> Arc<SettingsFiles> {
    let texts = container.command.iter().chain(&container.args).chain(container.env.values()).filter_map(Fact::value);
    let words: Vec<&str> = texts.flat_map(|text| words_in(text)).collect();
    let mut paths = BTreeSet::new();
    for path in words.iter().copied().filter(|word| is_settings(word)) {
        if paths.len() < MOST {
            paths.insert(path);
        }
    }
    let read = |path: &str| {
        let root = match mounted(path) {
            Some(text) if text.text()?.len() > MOST_BYTES => return None,
            Some(text) => nested::read(index.sources()?, text)?,
            None => of_tree(index.file(path)?, index)?,
        };
        // A Kubernetes object is not a settings file.
        KubernetesObject::new(&root).is_none().then(|| settings::leaves(&root).into_iter().map(filled_in).collect())
    };
    let files = paths.into_iter().filter_map(|path| Some((path.to_owned(), read(path)?)));
    let named = words.iter().zip(words.iter().skip(1));
    let named = named.filter(|(flag, _)| matches!(**flag, "--model-repository" | "--model-store")).take(MOST);
    let models = named.filter_map(|(_, folder)| {
        let all = index.files_below(folder, model_repository::CONFIGURATION, MOST);
        let small = all.into_iter().filter(|file| is_small(*file, index)).collect::<Vec<_>>();
        let entries = mounted_below(folder, model_repository::CONFIGURATION);
        Some(((*folder).to_owned(), model_repository::settings(&small, &entries, index)?))
    });
    Arc::new(files.chain(models).collect())
}

/// Returns words that may contain a path, anywhere in an argument or a script.
fn words_in(text: &str) -> impl Iterator<Item = &str> {
    const LONGEST: usize = 512;
    let words = text.split(|c: char| c.is_whitespace() || "\"'=;&|()".contains(c));
    words.filter(|word| !word.is_empty() && word.len() <= LONGEST && !word.contains(['$', '{']))
}

/// Returns whether the name of a file is that of a settings file.
pub(super) fn is_settings(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| path.len() > ending.len() && path.ends_with(ending))
}

fn of_tree(file: FileId, index: &ObjectIndex<'_>) -> Option<Node> {
    let read = || Some(yaml::read(file, &index.sources()?.text(file)).documents.into_iter().next()?.root);
    is_small(file, index).then(|| index.values(file, read)).flatten()
}

fn is_small(file: FileId, index: &ObjectIndex<'_>) -> bool {
    index.sources().is_some_and(|sources| sources.text(file).len() <= MOST_BYTES)
}

/// Marks values with placeholders as unknown.
fn filled_in(setting: ProgramSetting) -> ProgramSetting {
    let value = match setting.value {
        Fact::Known(known) if known.value.contains("${") => {
            Fact::unknown("another program fills in this value", known.span)
        }
        value => value,
    };
    ProgramSetting { value, ..setting }
}
