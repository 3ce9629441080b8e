//! Maps names that differ between a language and the resource definitions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::languages::document::{DocResource, DocValue};
use crate::languages::hcl::value::HclValue;

/// CloudFormation types with a resource definition.
pub(super) static CLOUDFORMATION: LazyLock<NameTable> = LazyLock::new(|| table(include_str!("cloudformation.toml")));

/// Azure types with a resource definition.
pub(super) static AZURE: LazyLock<NameTable> = LazyLock::new(|| table(include_str!("azure.toml")));

/// Maps a language's names of types and attributes to those of resource definitions.
pub(super) trait TypeNaming: Sync {
    fn of<'n>(&'n self, resource: &DocResource) -> Cow<'n, TypeNames>;
}

/// The types of one language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NameTable {
    /// Types by their name in the language.
    types: BTreeMap<String, TypeNames>,
}

/// A type, with its attributes of different name. Paths are those of the language in lower case:
/// `launch_template_data.image_id`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeNames {
    /// The type in the resource definitions.
    pub(super) is: String,
    /// The property that distinguishes variants: the definition of `type#kind` applies if it exists.
    by: Option<String>,
    /// The name of a path's last key in resource definitions. If empty, its members belong to the parent.
    #[serde(default)]
    names: BTreeMap<String, String>,
    /// Maps with arbitrary keys.
    #[serde(default)]
    maps: Vec<String>,
    /// Lists of name and value, which are maps in resource definitions. Tags always are.
    #[serde(default)]
    pairs: Vec<String>,
    /// Values that resource definitions parse as JSON, because another API has them as a string:
    /// `resourceRequirements`.
    #[serde(default)]
    json: Vec<String>,
    /// The property with the location of a nested document. Without the document, the resource is like a module call.
    pub(super) calls: Option<String>,
    /// True if lists with a plural name are blocks with a singular name in Terraform.
    #[serde(skip)]
    pub(super) plural: bool,
}

/// Endings of attribute names with arbitrary keys.
const MAPS: [&str; 5] = ["tags", "labels", "metadata", "variables", "parameters"];

/// The conversion of a value at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameMapping {
    Renamed,
    AsMap,
    AsPairs,
    AsJson,
}

impl TypeNaming for NameTable {
    /// Returns the names of a resource's type. A type that the table lacks keeps its own name, for which no definition
    /// exists.
    fn of<'n>(&'n self, resource: &DocResource) -> Cow<'n, TypeNames> {
        let named = self.get(&resource.kind, &resource.properties);
        named.map_or_else(|| Cow::Owned(TypeNames::of(&resource.kind)), Cow::Borrowed)
    }
}

impl NameTable {
    /// Returns the type whose name has the same letters, also with an additional `s`, as other languages derive it.
    pub(super) fn type_of(&self, kind: &str, letters: fn(&str) -> String) -> Option<(&str, &TypeNames)> {
        let kind = letters(kind);
        let last = |name: &str| {
            let mut parts = name.split('/');
            let (first, last) = (parts.next()?.to_owned(), parts.next_back()?);
            Some(letters(&format!("{first}/{last}")))
        };
        let is_it = |name: &str| {
            let whole = last(name).unwrap_or_else(|| letters(name));
            whole == kind || whole.strip_suffix('s') == Some(&kind)
        };
        self.types.iter().find(|(name, _)| is_it(name)).map(|(name, names)| (name.as_str(), names))
    }

    /// Returns the names of the variant of a type that has this type in definitions.
    pub(super) fn variant(&self, kind: &str, is: &str) -> TypeNames {
        let of_kind = |name: &str| name.split('#').next().is_some_and(|it| it.eq_ignore_ascii_case(kind));
        let variant = self.types.iter().find(|(name, names)| of_kind(name) && names.is == is);
        let names = variant.map(|(_, names)| names).or_else(|| self.named(kind));
        names.cloned().unwrap_or_else(|| TypeNames::of(kind))
    }

    /// Returns the names of a type, for its variant. Some languages ignore case.
    pub(super) fn get(&self, kind: &str, properties: &DocValue) -> Option<&TypeNames> {
        let names = self.named(kind)?;
        let Some(path) = &names.by else { return Some(names) };
        let said = path.split('.').try_fold(properties, |doc, key| doc.get(key)).map(DocValue::value);
        let said = said.as_ref().and_then(HclValue::as_text);
        Some(said.and_then(|said| self.named(&format!("{kind}#{said}"))).unwrap_or(names))
    }

    fn named(&self, kind: &str) -> Option<&TypeNames> {
        let in_any_letters = || self.types.iter().find(|(name, _)| name.eq_ignore_ascii_case(kind));
        self.types.get(kind).or_else(|| in_any_letters().map(|(_, names)| names))
    }
}

impl TypeNames {
    /// Returns the names of a Terraform type, whose attributes have the same names.
    pub(super) fn as_terraform(is: &str) -> Self {
        TypeNames { is: is.to_owned(), plural: true, ..TypeNames::default() }
    }

    /// Returns these names without `properties` as a step of the path, unless a member of it selects the variant.
    pub(super) fn lifted(&self) -> Self {
        if self.has_variants() {
            return self.clone();
        }
        let lift = |path: &String| path.strip_prefix("properties.").map_or_else(|| path.clone(), str::to_owned);
        let mut lifted = self.clone();
        lifted.names = self.names.iter().map(|(path, name)| (lift(path), name.clone())).collect();
        lifted.maps = self.maps.iter().map(lift).collect();
        lifted.pairs = self.pairs.iter().map(lift).collect();
        lifted
    }

    /// Returns true if a property of the resource selects among several entries.
    pub(super) fn has_variants(&self) -> bool {
        self.by.is_some()
    }

    /// Returns a type with its own name.
    pub(super) fn of(kind: &str) -> Self {
        TypeNames { is: kind.to_owned(), ..TypeNames::default() }
    }

    /// Returns the name in resource definitions for a name below a path; empty if they lack it.
    pub(super) fn name(&self, path: &str) -> String {
        let own = self.names.get(path).cloned();
        own.unwrap_or_else(|| path.rsplit('.').next().unwrap_or(path).to_owned())
    }

    pub(super) fn taken(&self, path: &str, name: &str) -> NameMapping {
        let has = |paths: &[String]| paths.iter().any(|it| it == path);
        match () {
            () if has(&self.json) => NameMapping::AsJson,
            () if has(&self.maps) => NameMapping::AsMap,
            () if self.plural && MAPS.iter().any(|end| name.ends_with(end)) => NameMapping::AsMap,
            () if has(&self.pairs) || name == "tags" => NameMapping::AsPairs,
            () => NameMapping::Renamed,
        }
    }
}

/// Converts `VPCZoneIdentifier` to `vpc_zone_identifier`.
pub(super) fn small(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let starts_word = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                let ends_capitals =
                    before.is_ascii_uppercase() && letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
                before.is_ascii_lowercase() || before.is_ascii_digit() || ends_capitals
            });
        if starts_word {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Parses a built-in table; a test proves that it is valid.
fn table(text: &str) -> NameTable {
    toml::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_can_be_read_and_name_types_that_have_rows() {
        let tables = [(include_str!("cloudformation.toml"), 40), (include_str!("azure.toml"), 20)];
        let tables = tables.map(|(text, least)| {
            let table: NameTable = toml::from_str(text).unwrap();
            assert!(table.types.len() > least, "{}", table.types.len());
            table
        });
        let known: Vec<&str> = crate::terraform::types().collect();
        for (kind, names) in tables.iter().flat_map(|it| &it.types) {
            if names.calls.is_some() {
                continue;
            }
            let is_linked = LINKED.contains(&&*names.is);
            assert!(is_linked || known.contains(&&*names.is), "{kind} is {}", names.is);
        }
    }

    /// Types without a definition that definitions refer to.
    const LINKED: [&str; 14] = [
        "aws_subnet",
        "aws_vpc",
        "aws_ebs_volume",
        "aws_volume_attachment",
        "aws_sagemaker_model",
        "aws_sagemaker_notebook_instance_lifecycle_configuration",
        "aws_placement_group",
        "aws_eks_cluster",
        "azurerm_managed_disk",
        "azurerm_machine_learning_workspace",
        "azurerm_machine_learning_inference_cluster",
        "azurerm_machine_learning_online_endpoint",
        "azurerm_batch_account",
        "azurerm_capacity_reservation_group",
    ];

    #[test]
    fn names_are_written_as_rows_have_them() {
        for (name, snake) in [
            ("InstanceType", "instance_type"),
            ("VPCZoneIdentifier", "vpc_zone_identifier"),
            ("EC2InstanceType", "ec2_instance_type"),
            ("MinvCpus", "minv_cpus"),
            ("VolumeSizeInGB", "volume_size_in_gb"),
            ("TemplateURL", "template_url"),
            ("JupyterLabAppSettings", "jupyter_lab_app_settings"),
            ("SubnetIds", "subnet_ids"),
        ] {
            assert_eq!(small(name), snake);
        }
    }
}
