//! Finds files that directories include through links.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::source::{SourceFiles, parent};
use crate::terraform::code::module::ModuleCode;

/// Returns, for each link target, the other directories that include it.
pub(in crate::terraform) fn of(
    sources: &SourceFiles,
    modules: &[Arc<ModuleCode>],
) -> HashMap<String, BTreeSet<String>> {
    let mut links: HashMap<String, BTreeSet<String>> = HashMap::new();
    for (module, file) in modules.iter().flat_map(|module| module.files.iter().map(move |file| (module, file))) {
        let real = sources.tree().link(file).and_then(|_| sources.real_path(file));
        if let Some(real) = real.filter(|it| parent(it) != module.directory) {
            links.entry(real).or_default().insert(module.directory.clone());
        }
    }
    links
}
