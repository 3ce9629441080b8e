//! What a language calls otherwise than the rows do.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::languages::document::{DocResource, DocValue};
use crate::languages::hcl::value::Value;

/// The types of CloudFormation that rows are about.
pub(super) static CLOUDFORMATION: LazyLock<NameTable> = LazyLock::new(|| table(include_str!("cloudformation.toml")));

/// The types of Azure that rows are about.
pub(super) static AZURE: LazyLock<NameTable> = LazyLock::new(|| table(include_str!("azure.toml")));

/// How a language calls the types and attributes of rows.
pub(super) trait TypeNaming: Sync {
    fn of<'n>(&'n self, resource: &DocResource) -> Cow<'n, TypeNames>;
}

/// The types of one language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NameTable {
    /// By the name that the language has for it.
    types: BTreeMap<String, TypeNames>,
}

/// A type, and what of it has another name. Paths are those of the language, in small letters: `launch_template_data.image_id`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeNames {
    /// The type of the rows.
    pub(super) is: String,
    /// Where it says what kind of it is meant: then the row is that of `type#kind`, where there is one.
    by: Option<String>,
    /// What the rows call the last key of a path. Nothing: what is below it stands where it stands.
    #[serde(default)]
    names: BTreeMap<String, String>,
    /// Maps whose keys are anybody's.
    #[serde(default)]
    maps: Vec<String>,
    /// Lists of a name and a value each, which are maps for the rows. Tags always are.
    #[serde(default)]
    pairs: Vec<String>,
    /// What the rows read as the JSON that another interface takes as text: `resourceRequirements`.
    #[serde(default)]
    json: Vec<String>,
    /// It is a document of its own, and this says where that lies. One that is not at hand is for rows what a call of a module
    /// is.
    pub(super) calls: Option<String>,
    /// What Terraform has as blocks of one name is a list of a plural.
    #[serde(skip)]
    pub(super) plural: bool,
}

/// Ends of the names of attributes whose keys are anybody's.
const MAPS: [&str; 5] = ["tags", "labels", "metadata", "variables", "parameters"];

/// How a value at a path is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Renamed,
    AsMap,
    AsPairs,
    AsJson,
}

impl TypeNaming for NameTable {
    /// A type that the table does not name keeps its own name, which no row has.
    fn of<'n>(&'n self, resource: &DocResource) -> Cow<'n, TypeNames> {
        let named = self.get(&resource.kind, &resource.properties);
        named.map_or_else(|| Cow::Owned(TypeNames::of(&resource.kind)), Cow::Borrowed)
    }
}

impl NameTable {
    /// The type whose name has the same letters, or the same and an `s`: what other languages make of it.
    pub(super) fn type_of(&self, kind: &str, letters: fn(&str) -> String) -> Option<&TypeNames> {
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
        self.types.iter().find(|(name, _)| is_it(name)).map(|(_, names)| names)
    }

    /// The names of a type, by what one of them says of itself. Some languages read names in any letters.
    fn get(&self, kind: &str, properties: &DocValue) -> Option<&TypeNames> {
        let names = self.named(kind)?;
        let Some(path) = &names.by else { return Some(names) };
        let said = path.split('.').try_fold(properties, |doc, key| doc.get(key)).map(DocValue::value);
        let said = said.as_ref().and_then(Value::as_text);
        Some(said.and_then(|said| self.named(&format!("{kind}#{said}"))).unwrap_or(names))
    }

    fn named(&self, kind: &str) -> Option<&TypeNames> {
        let in_any_letters = || self.types.iter().find(|(name, _)| name.eq_ignore_ascii_case(kind));
        self.types.get(kind).or_else(|| in_any_letters().map(|(_, names)| names))
    }
}

impl TypeNames {
    /// A type of Terraform, whose attributes are called alike.
    pub(super) fn as_terraform(is: &str) -> Self {
        TypeNames { is: is.to_owned(), plural: true, ..TypeNames::default() }
    }

    /// The same where `properties` are no step of their own.
    pub(super) fn lifted(&self) -> Self {
        let lift = |path: &String| path.strip_prefix("properties.").map_or_else(|| path.clone(), str::to_owned);
        let mut lifted = self.clone();
        lifted.names = self.names.iter().map(|(path, name)| (lift(path), name.clone())).collect();
        lifted.maps = self.maps.iter().map(lift).collect();
        lifted.pairs = self.pairs.iter().map(lift).collect();
        lifted
    }

    /// A type that is called as it is.
    pub(super) fn of(kind: &str) -> Self {
        TypeNames { is: kind.to_owned(), ..TypeNames::default() }
    }

    /// What the rows call what the language calls so below a path; empty where it is not there for them.
    pub(super) fn name(&self, path: &str) -> String {
        let own = self.names.get(path).cloned();
        own.unwrap_or_else(|| path.rsplit('.').next().unwrap_or(path).to_owned())
    }

    pub(super) fn taken(&self, path: &str, name: &str) -> Taken {
        let has = |paths: &[String]| paths.iter().any(|it| it == path);
        match () {
            () if has(&self.json) => Taken::AsJson,
            () if has(&self.maps) => Taken::AsMap,
            () if self.plural && MAPS.iter().any(|end| name.ends_with(end)) => Taken::AsMap,
            () if has(&self.pairs) || name == "tags" => Taken::AsPairs,
            () => Taken::Renamed,
        }
    }
}

/// `VPCZoneIdentifier` is `vpc_zone_identifier`.
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

/// A table of this program; a test says that it can be read.
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

    /// Types without a row that rows lead to.
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
