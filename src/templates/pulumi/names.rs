//! Maps Pulumi types to resource definitions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use crate::languages::document::DocResource;
use crate::templates::names::{AZURE, CLOUDFORMATION, TypeNames, TypeNaming, small};

/// The names of Pulumi, which are derived from those of resource definitions.
pub(super) struct Pulumi;

/// Packages whose types have another prefix in Terraform (Pulumi registry, 2026-11). All others have the same.
const PREFIXES: [(&str, &str); 5] = [
    ("gcp", "google"),
    ("azure", "azurerm"),
    ("azure-native", "azurerm"),
    ("aws-native", "aws"),
    ("google-native", "google"),
];

/// Types of resource definitions by their letters alone.
static TYPES: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| crate::terraform::types().map(|it| (letters(it), it)).collect());

fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Returns `aws` for `aws:ec2/instance:Instance`.
pub(super) fn package(kind: &str) -> &str {
    kind.split(':').next().unwrap_or(kind)
}

/// Returns Terraform's name of a provider. For packages without a definition, any name is fine.
pub(super) fn provider(package: &str) -> &'static str {
    let renamed = PREFIXES.iter().find(|(name, _)| *name == package).map(|(_, prefix)| *prefix);
    renamed.unwrap_or_else(|| {
        let start = format!("{package}_");
        let of_package = crate::terraform::types().find(|it| it.starts_with(&start));
        of_package.and_then(|it| it.split('_').next()).unwrap_or_default()
    })
}

impl TypeNaming for Pulumi {
    fn of<'n>(&'n self, resource: &DocResource) -> Cow<'n, TypeNames> {
        let variant = native(&resource.kind)
            .filter(|(package, _, names)| *package == NativePackage::Azure && names.has_variants())
            .and_then(|(_, kind, _)| AZURE.get(kind, &resource.properties));
        variant.map_or_else(|| Cow::Owned(of_kind(&resource.kind)), Cow::Borrowed)
    }
}

/// A package that Pulumi generates from the API of a cloud, not from a Terraform provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::templates) enum NativePackage {
    Azure,
    Aws,
}

/// Returns the parts of `aws:ec2/instance:Instance`: `aws`, `ec2` and `Instance`.
pub(in crate::templates) fn short(kind: &str) -> [&str; 3] {
    let mut parts = kind.split(':').map(|part| part.split('/').next().unwrap_or(part));
    [(); 3].map(|()| parts.next().unwrap_or_default())
}

/// Returns the type of the cloud's API that a native type of Pulumi is, with its names.
pub(in crate::templates) fn native(kind: &str) -> Option<(NativePackage, &'static str, TypeNames)> {
    let [package, module, name] = short(kind);
    match package {
        "azure-native" => {
            let (kind, names) = AZURE.type_of(&format!("Microsoft.{module}/{name}"), letters)?;
            Some((NativePackage::Azure, kind, names.lifted()))
        }
        "aws-native" => {
            let (kind, names) = CLOUDFORMATION.type_of(&format!("AWS::{module}::{name}"), letters)?;
            Some((NativePackage::Aws, kind, names.clone()))
        }
        _ => None,
    }
}

/// Returns the names of a type.
pub(in crate::templates) fn of_kind(kind: &str) -> TypeNames {
    if let Some((_, _, names)) = native(kind) {
        return names;
    }
    let [package, module, name] = short(kind);
    let prefix = provider(package);
    let candidates = [format!("{prefix}{module}{name}"), format!("{prefix}{name}")];
    let known = candidates.iter().find_map(|it| TYPES.get(&letters(it)).copied().map(str::to_owned));
    let is_outer = matches!(module, "ec2" | "index" | "core" | "compute" if prefix != "google");
    let guessed = || match is_outer {
        true => format!("{prefix}_{}", small(name)),
        false => format!("{prefix}_{}_{}", small(module), small(name)),
    };
    TypeNames::as_terraform(&known.unwrap_or_else(guessed))
}
