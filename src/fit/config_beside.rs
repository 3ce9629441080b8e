//! Reads the `config.json` of an unlisted model, if it is next to the file that names the model.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalog::{Catalog, Identification};
use crate::inventory::{Inventory, Key, Resource};
use crate::source::SourceFiles;

const NAME: &str = "config.json";

/// Adds the models of such files to the catalog. If two folders contain different models with one name, the name
/// stays unknown.
pub fn with_configs_beside<'c>(catalog: &'c Catalog, inventory: &Inventory, sources: &SourceFiles) -> Cow<'c, Catalog> {
    let mut found: BTreeMap<&str, BTreeMap<Arc<str>, String>> = BTreeMap::new();
    for resource in &inventory.resources {
        let Some(name) = resource.text(Key::Model).filter(|name| needs_shapes(catalog, name)) else { continue };
        let files = places(resource, name, sources).into_iter().filter_map(|path| {
            let file = sources.open(&path).ok()?;
            Some((sources.text(file), path))
        });
        // Many programs have a file with that name. A file without a model is ignored.
        let is_of_model =
            |(text, path): &(Arc<str>, String)| catalog.clone().with_model_config(name, path, text).is_ok();
        found.entry(name).or_default().extend(files.into_iter().find(is_of_model));
    }
    found.retain(|_, configs| configs.len() == 1);
    let configs = found.into_iter().flat_map(|(name, configs)| configs.into_iter().map(move |config| (name, config)));
    configs.fold(Cow::Borrowed(catalog), |catalog, (name, (text, path))| {
        match catalog.clone().into_owned().with_model_config(name, &path, &text) {
            Ok(with) => Cow::Owned(with),
            Err(_) => catalog,
        }
    })
}

fn needs_shapes(catalog: &Catalog, name: &str) -> bool {
    catalog.models().identify(name).is_none_or(|found| found.by == Identification::Size)
}

/// Returns the possible paths: in a folder with the model's name, and next to the file.
fn places(resource: &Resource, name: &str, sources: &SourceFiles) -> Vec<String> {
    let path = sources.path_of(resource.span);
    let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let own = name.rsplit('/').find(|part| !part.is_empty() && !part.starts_with('.'));
    let of_own = own.map(|own| format!("{folder}{own}/{NAME}"));
    of_own.into_iter().chain([format!("{folder}{NAME}")]).collect()
}
