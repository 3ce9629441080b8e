//! Finds the directory with the code of a module call.

use std::collections::HashMap;

use crate::languages::hcl::syntax::json::parse_json;
use crate::source::{SourceFiles, join, normalize};

use super::clouds::Cloud;
use super::module::has_configuration;

/// The modules that `terraform init` downloaded for one root.
#[derive(Debug, Default)]
pub(in crate::terraform) struct Modules {
    /// The downloaded modules, by the names of the calls that lead to each: `eks.node_groups`.
    downloaded: HashMap<String, Downloaded>,
    /// The directory of `--modules-dir`.
    beside: Option<String>,
}

/// A module that `terraform init` downloaded.
#[derive(Debug, Clone, Default)]
struct Downloaded {
    directory: String,
    source: String,
    version: String,
}

impl Downloaded {
    /// Returns what was downloaded, if the call now requests something else.
    fn other_than(&self, source: &str, version: Option<&str>) -> Option<String> {
        let revision = |source: &str| source.split_once('?').map(|(_, query)| query.to_owned()).unwrap_or_default();
        if self.source.is_empty() || is_local(&self.source) {
            return None;
        }
        if registry_name(&self.source) != registry_name(source) || revision(&self.source) != revision(source) {
            return Some(self.source.clone());
        }
        let allowed = version.is_none_or(|wanted| allows(wanted, &self.version).unwrap_or(true));
        (!allowed).then(|| format!("version {}", self.version))
    }
}

/// Returns whether a constraint such as `~> 5.1, != 5.3.0` allows a version; `None` if one of the two has an unknown
/// form.
fn allows(constraints: &str, version: &str) -> Option<bool> {
    let numbers = |text: &str| text.trim().split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>();
    let full = |mut of: Vec<u64>| {
        of.resize(3, 0);
        of
    };
    let there = full(numbers(version)?);
    let mut all = true;
    for constraint in constraints.split(',').map(str::trim) {
        let at = constraint.find(|c: char| c.is_ascii_digit())?;
        let (sign, wanted) = constraint.split_at(at);
        let written = numbers(wanted)?;
        let wanted = full(written.clone());
        all &= match sign.trim() {
            "" | "=" => there == wanted,
            "!=" => there != wanted,
            ">" => there > wanted,
            ">=" => there >= wanted,
            "<" => there < wanted,
            "<=" => there <= wanted,
            // The operator `~>` allows only the last number to increase.
            "~>" => {
                let kept = written.len().saturating_sub(1);
                there >= wanted && there.iter().zip(&written).take(kept).all(|(there, wanted)| there == wanted)
            }
            _ => return None,
        };
    }
    Some(all)
}

/// The directory in which `terraform init` stores downloads.
const DOWNLOADED: &str = ".terraform/modules";

/// Returns whether a source is a path: `./modules/gpu`.
pub(in crate::terraform) fn is_local(source: &str) -> bool {
    ["./", "../"].iter().any(|prefix| source.starts_with(prefix)) || matches!(source, "." | "..")
}

/// Returns the name in the public registry: `terraform-aws-modules/eks/aws//modules/x`, also for its git repository.
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
    // The repository `terraform-PROVIDER-NAME` contains the module NAME/PROVIDER.
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

/// Returns the provider of a registry module by its own name: `aws` for `terraform-aws-modules/eks/aws`.
pub(in crate::terraform) fn provider_of_source(source: &str) -> Option<String> {
    if is_local(source) {
        return None;
    }
    let name = registry_name(source);
    let (path, _) = name.split_once("//").unwrap_or((&name, ""));
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [_, _, called] => Some(Cloud::of_modules(called).map_or(*called, |it| it.terraform).to_owned()),
        _ => None,
    }
}

impl Modules {
    pub(in crate::terraform) fn read(sources: &SourceFiles, root: &str, beside: Option<&str>) -> Self {
        let mut modules = Modules { downloaded: HashMap::new(), beside: beside.and_then(normalize) };
        if let Some(beside) = modules.beside.clone() {
            modules.add_list(sources, root, &beside);
        }
        if let Some(own) = join(root, DOWNLOADED) {
            modules.add_list(sources, root, &own);
        }
        modules
    }

    /// Reads the `modules.json` of a directory. Its paths are relative to the root. Downloaded modules are in the
    /// directory itself, even if the directory was moved.
    fn add_list(&mut self, sources: &SourceFiles, root: &str, directory: &str) {
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
                let said = |name: &str| module.get(name).and_then(|it| it.text()).unwrap_or_default().to_owned();
                let (source, version) = (said("Source"), said("Version"));
                self.downloaded.insert(key.to_owned(), Downloaded { directory: place, source, version });
            }
        }
    }

    /// Returns what was downloaded for a call, if the call now requests something else.
    pub(in crate::terraform) fn other(&self, path: &str, source: &str, version: Option<&str>) -> Option<String> {
        if is_local(source) {
            return None;
        }
        self.downloaded.get(path)?.other_than(source, version)
    }

    /// Returns the directory of a call. `path` has the names of the calls that lead to it.
    pub(in crate::terraform) fn directory(
        &self,
        sources: &SourceFiles,
        caller: &str,
        path: &str,
        source: &str,
    ) -> Option<String> {
        if is_local(source) {
            return join(caller, source);
        }
        self.downloaded.get(path).map(|it| it.directory.clone()).or_else(|| {
            let candidate = join(self.beside.as_deref()?, &format!("{path}/{}", below_source(source)))?;
            has_configuration(sources, &candidate).then_some(candidate)
        })
    }
}

/// Returns the subdirectory in a source: `modules/x` for `acme/eks/aws//modules/x?ref=1`.
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
    fn a_module_that_was_brought_is_that_of_its_version() {
        for (constraint, version, allowed) in [
            ("1.0.0", "1.0.0", Some(true)),
            ("2.0.0", "1.0.0", Some(false)),
            ("~> 1.0", "1.9.3", Some(true)),
            ("~> 1.0.2", "1.1.0", Some(false)),
            ("~> 2", "3.1.0", Some(true)),
            (">= 1.0, < 2.0", "1.4.0", Some(true)),
            (">= 1.0, != 1.4.0", "1.4.0", Some(false)),
            ("latest", "1.4.0", None),
        ] {
            assert_eq!(allows(constraint, version), allowed, "{constraint} {version}");
        }
        let brought = |source: &str, version: &str| Downloaded {
            directory: String::new(),
            source: source.to_owned(),
            version: version.to_owned(),
        };
        let registry = brought("registry.terraform.io/acme/gpu/aws", "1.0.0");
        assert_eq!(registry.other_than("acme/gpu/aws", Some("~> 1.0")), None);
        assert_eq!(registry.other_than("acme/gpu/aws", None), None);
        assert_eq!(registry.other_than("acme/gpu/aws", Some("2.0.0")).as_deref(), Some("version 1.0.0"));
        let git = brought("git::https://github.com/acme/gpu.git?ref=v1", "");
        assert_eq!(git.other_than("github.com/acme/gpu?ref=v1", None), None);
        assert!(git.other_than("github.com/acme/gpu?ref=v2", None).is_some());
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
