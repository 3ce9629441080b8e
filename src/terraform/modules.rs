//! Where the code of a module call lies.

use std::collections::HashMap;

use crate::source::{Sources, join, normalize};

use super::syntax::json::parse_json;

/// The modules that `terraform init` downloaded for one root.
#[derive(Debug, Default)]
pub(super) struct Modules {
    /// By the names of the calls that lead there: `eks.node_groups`.
    downloaded: HashMap<String, String>,
}

/// A source that is a path: `./modules/gpu`.
pub(super) fn is_local(source: &str) -> bool {
    ["./", "../"].iter().any(|prefix| source.starts_with(prefix)) || matches!(source, "." | "..")
}

impl Modules {
    pub(super) fn read(sources: &Sources, root: &str, beside: Option<&str>) -> Self {
        let mut modules = Modules::default();
        let own = join(root, ".terraform/modules");
        let beside = beside.and_then(normalize);
        for (directory, base) in [(beside.clone(), beside), (own, Some(root.to_owned()))] {
            let (Some(directory), Some(base)) = (directory, base) else { continue };
            let Ok(file) = sources.open(&format!("{directory}/modules.json")) else { continue };
            let Ok(json) = parse_json(file, &sources.text(file)) else { continue };
            for module in json.get("Modules").map(|list| list.items()).unwrap_or_default() {
                let (Some(key), Some(path)) =
                    (module.get("Key").and_then(|k| k.text()), module.get("Dir").and_then(|d| d.text()))
                else {
                    continue;
                };
                if let Some(path) = join(&base, path) {
                    modules.downloaded.insert(key.to_owned(), path);
                }
            }
        }
        modules
    }

    /// The directory of a call; `path` are the names of the calls that lead there.
    pub(super) fn directory(&self, caller: &str, path: &str, source: &str) -> Option<String> {
        if is_local(source) {
            return join(caller, source);
        }
        self.downloaded.get(path).cloned()
    }
}
