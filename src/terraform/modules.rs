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

/// The name in the public registry: `terraform-aws-modules/eks/aws//modules/x`, also of its git repository.
pub(super) fn registry_name(source: &str) -> String {
    let source = source.split('?').next().unwrap_or(source);
    let source = source.strip_prefix("git::").unwrap_or(source);
    let mut source = source;
    for scheme in ["https://", "ssh://", "git@", "http://"] {
        source = source.strip_prefix(scheme).unwrap_or(source);
    }
    let source = source.rsplit_once('@').map_or(source, |(_, rest)| rest).replace(".git", "").replace(':', "/");
    let (path, below) = source.split_once("//").map_or((source.as_str(), None), |(path, below)| (path, Some(below)));
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if parts.first().is_some_and(|host| host.contains('.')) {
        parts.remove(0);
    }
    // A repository `terraform-PROVIDER-NAME` is the module NAME/PROVIDER.
    let name = match parts.as_slice() {
        [owner, repository] => match repository.strip_prefix("terraform-").and_then(|it| it.split_once('-')) {
            Some((provider, name)) => format!("{owner}/{name}/{provider}"),
            None => parts.join("/"),
        },
        _ => parts.join("/"),
    };
    match below {
        Some(below) => format!("{name}//{below}"),
        None => name,
    }
}

/// The provider whose resources a module of the registry makes: `aws` of `terraform-aws-modules/eks/aws`.
pub(super) fn provider_of_source(source: &str) -> Option<String> {
    if is_local(source) {
        return None;
    }
    let name = registry_name(source);
    let (path, _) = name.split_once("//").unwrap_or((&name, ""));
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [_, _, provider] => Some((*provider).to_owned()),
        _ => None,
    }
}

impl Modules {
    pub(super) fn read(sources: &Sources, root: &str, beside: Option<&str>) -> Self {
        let mut modules = Modules::default();
        let own = join(root, ".terraform/modules");
        let beside = beside.and_then(normalize);
        for (directory, base) in [(beside.clone(), beside.clone()), (own, Some(root.to_owned()))] {
            let (Some(directory), Some(base)) = (directory, base) else { continue };
            let Ok(file) = sources.open(&format!("{directory}/modules.json")) else { continue };
            let Ok(json) = parse_json(file, &sources.text(file)) else { continue };
            for module in json.get("Modules").map(|list| list.items()).unwrap_or_default() {
                let (Some(key), Some(path)) =
                    (module.get("Key").and_then(|k| k.text()), module.get("Dir").and_then(|d| d.text()))
                else {
                    continue;
                };
                // The list says where a module lay below its root; the directory may have been taken elsewhere.
                let moved = path.strip_prefix(".terraform/modules/").and_then(|path| join(&directory, path));
                if let Some(path) = moved.or_else(|| join(&base, path)) {
                    modules.downloaded.insert(key.to_owned(), path);
                }
            }
        }
        // Without a list, the names of the directories are those of the calls.
        for directory in beside.iter() {
            for entry in sources.tree().list(directory).into_iter().filter(|entry| entry.is_directory) {
                if let Some(path) = join(directory, &entry.name) {
                    modules.downloaded.entry(entry.name).or_insert(path);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_known_by_their_registry_name() {
        for (source, name) in [
            ("terraform-aws-modules/eks/aws", "terraform-aws-modules/eks/aws"),
            ("registry.terraform.io/terraform-aws-modules/eks/aws", "terraform-aws-modules/eks/aws"),
            (
                "git::https://github.com/terraform-aws-modules/terraform-aws-eks.git?ref=v19.0.0",
                "terraform-aws-modules/eks/aws",
            ),
            ("github.com/terraform-aws-modules/terraform-aws-batch", "terraform-aws-modules/batch/aws"),
            ("git@github.com:Azure/terraform-azurerm-aks.git", "Azure/aks/azurerm"),
            (
                "git::ssh://git@github.com/terraform-google-modules/terraform-google-vm.git//modules/mig?ref=1",
                "terraform-google-modules/vm/google//modules/mig",
            ),
            ("oracle-terraform-modules/oke/oci", "oracle-terraform-modules/oke/oci"),
        ] {
            assert_eq!(registry_name(source), name, "{source}");
        }
    }

    #[test]
    fn a_module_of_the_registry_tells_its_provider() {
        let provider = |source| provider_of_source(source);
        assert_eq!(provider("terraform-google-modules/kubernetes-engine/google//modules/x").as_deref(), Some("google"));
        assert_eq!(provider("./modules/gpu"), None);
        assert_eq!(provider("github.com/acme/pools"), None);
    }
}
