//! Files that a command names: settings of its program, in a configuration map that is mounted there, or in the tree.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::inventory::Fact;
use crate::inventory::programs::{Container, Setting, SettingsFiles};
use crate::languages::yaml::{self, Node};
use crate::source::FileId;

use super::containers;
use super::pod::{Pod, PodContainer};
use crate::kubernetes::objects::index::ObjectIndex;
use crate::kubernetes::objects::object::Object;
use crate::kubernetes::rows::settings;
use crate::kubernetes::text::nested;

/// Files of one container that are looked for, and bytes of one that are read.
const MOST: usize = 8;
const MOST_BYTES: usize = 256 << 10;

pub(super) fn of(container: &Container, part: &PodContainer, pod: &Pod, index: &ObjectIndex<'_>) -> Arc<SettingsFiles> {
    let texts = container.command.iter().chain(&container.args).chain(container.env.values()).filter_map(Fact::value);
    let mut paths = BTreeSet::new();
    for path in texts.flat_map(|text| paths_in(text)) {
        if paths.len() < MOST {
            paths.insert(path);
        }
    }
    let read = |path: &str| {
        let root = match containers::script(path, part, pod, index) {
            Some(mounted) => nested::read(index.sources()?, mounted)?,
            None => of_tree(index.file(path)?, index)?,
        };
        // An object of the cluster is no file of settings.
        Object::new(&root).is_none().then(|| settings::leaves(&root).into_iter().map(filled_in).collect())
    };
    Arc::new(paths.into_iter().filter_map(|path| Some((path.to_owned(), read(path)?))).collect())
}

/// Words that may be such paths, wherever they stand in an argument or a script.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    const LONGEST: usize = 512;
    let words = text.split(|c: char| c.is_whitespace() || "\"'=;&|()".contains(c));
    words.filter(|word| is_settings(word) && word.len() <= LONGEST && !word.contains(['$', '{']))
}

/// A file of settings by its name.
pub(super) fn is_settings(path: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|ending| path.len() > ending.len() && path.ends_with(ending))
}

fn of_tree(file: FileId, index: &ObjectIndex<'_>) -> Option<Node> {
    let text = index.sources()?.text(file);
    let read = || Some(yaml::read(file, &text).documents.into_iter().next()?.root);
    (text.len() <= MOST_BYTES).then(|| index.values(file, read)).flatten()
}

/// What a part of stands for something else is not known.
fn filled_in(setting: Setting) -> Setting {
    let value = match setting.value {
        Fact::Known(known) if known.value.contains("${") => Fact::unknown("it is filled in elsewhere", known.span),
        value => value,
    };
    Setting { value, ..setting }
}
