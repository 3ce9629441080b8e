//! Where the code of a module call lies.

use std::collections::HashMap;

use crate::source::{Sources, join, normalize};

use super::module::has_configuration;
use crate::terraform::syntax::json::parse_json;

/// The modules that `terraform init` downloaded for one root.
#[derive(Debug, Default)]
pub(in crate::terraform) struct Modules {
    /// By the names of the calls that lead there: `eks.node_groups`.
    downloaded: HashMap<String, String>,
    /// The directory of `--modules-dir`.
    beside: Option<String>,
}

/// Where `terraform init` puts what it downloads.
const DOWNLOADED: &str = ".terraform/modules";

/// A source that is a path: `./modules/gpu`.
pub(in crate::terraform) fn is_local(source: &str) -> bool {
    ["./", "../"].iter().any(|prefix| source.starts_with(prefix)) || matches!(source, "." | "..")
}

/// The name in the public registry: `terraform-aws-modules/eks/aws//modules/x`, also of its git repository.
pub(in crate::terraform) fn registry_name(source: &str) -> String {
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

/// What modules call their provider where the provider calls itself otherwise.
const ALSO_CALLED: [(&str, &str); 3] = [("azure", "azurerm"), ("gcp", "google"), ("nb", "nebius")];

/// The provider whose resources a module of the registry makes, by its own name: `aws` of `terraform-aws-modules/eks/aws`.
pub(in crate::terraform) fn provider_of_source(source: &str) -> Option<String> {
    if is_local(source) {
        return None;
    }
    let name = registry_name(source);
    let (path, _) = name.split_once("//").unwrap_or((&name, ""));
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [_, _, called] => {
            let own = ALSO_CALLED.iter().find(|(other, _)| other == called).map_or(*called, |(_, own)| own);
            Some(own.to_owned())
        }
        _ => None,
    }
}

impl Modules {
    pub(in crate::terraform) fn read(sources: &Sources, root: &str, beside: Option<&str>) -> Self {
        let mut modules = Modules { downloaded: HashMap::new(), beside: beside.and_then(normalize) };
        if let Some(beside) = modules.beside.clone() {
            modules.add_list(sources, root, &beside);
        }
        if let Some(own) = join(root, DOWNLOADED) {
            modules.add_list(sources, root, &own);
        }
        modules
    }

    /// What the `modules.json` of a directory says. It names paths that are relative to the root; those of downloaded
    /// modules lie in the directory itself, wherever that was moved.
    fn add_list(&mut self, sources: &Sources, root: &str, directory: &str) {
        let Ok(file) = sources.open(&format!("{directory}/modules.json")) else { return };
        let Ok(json) = parse_json(file, &sources.text(file)) else { return };
        for module in json.get("Modules").map(|list| list.items()).unwrap_or_default() {
            let (Some(key), Some(path)) =
                (module.get("Key").and_then(|key| key.text()), module.get("Dir").and_then(|path| path.text()))
            else {
                continue;
            };
            let below = path.strip_prefix(DOWNLOADED).and_then(|below| below.strip_prefix('/'));
            let place = below.map_or_else(|| join(root, path), |below| join(directory, below));
            if let Some(place) = place {
                self.downloaded.insert(key.to_owned(), place);
            }
        }
    }

    /// The directory of a call; `path` are the names of the calls that lead there.
    pub(in crate::terraform) fn directory(
        &self,
        sources: &Sources,
        caller: &str,
        path: &str,
        source: &str,
    ) -> Option<String> {
        if is_local(source) {
            return join(caller, source);
        }
        self.downloaded.get(path).cloned().or_else(|| {
            let candidate = join(self.beside.as_deref()?, &format!("{path}/{}", below_source(source)))?;
            has_configuration(sources, &candidate).then_some(candidate)
        })
    }
}

/// The directory inside of what a source names: `modules/x` of `acme/eks/aws//modules/x?ref=1`.
fn below_source(source: &str) -> &str {
    let source = source.split('?').next().unwrap_or(source);
    let source = source.split_once("://").map_or(source, |(_, rest)| rest);
    source.split_once("//").map_or("", |(_, below)| below)
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
        assert_eq!(provider("Azure/aks/azure").as_deref(), Some("azurerm"));
        assert_eq!(provider("./modules/gpu"), None);
        assert_eq!(provider("github.com/acme/pools"), None);
    }
}
