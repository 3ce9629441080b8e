//! What a language calls otherwise than the rows do.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The types of CloudFormation that rows are about.
pub(super) static CLOUDFORMATION: LazyLock<NameTable> = LazyLock::new(|| table(include_str!("cloudformation.toml")));

/// The types of one language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NameTable {
    /// By the name that the language has for it.
    types: BTreeMap<String, TypeNames>,
}

/// A type, and what of it has another name. Paths are those of the language, in small letters: `launch_template_data.image_id`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TypeNames {
    /// The type of the rows.
    pub(super) is: String,
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
}

/// How a value at a path is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    Renamed,
    AsMap,
    AsPairs,
    AsJson,
}

impl NameTable {
    pub(super) fn get(&self, kind: &str) -> Option<&TypeNames> {
        self.types.get(kind)
    }
}

impl TypeNames {
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
    fn the_table_can_be_read_and_names_types_that_have_rows() {
        let table: NameTable = toml::from_str(include_str!("cloudformation.toml")).unwrap();
        assert!(table.types.len() > 40, "{}", table.types.len());
        let known: Vec<&str> = crate::terraform::types().collect();
        for (kind, names) in &table.types {
            if names.calls.is_some() {
                continue;
            }
            let is_linked = LINKED.contains(&&*names.is);
            assert!(is_linked || known.contains(&&*names.is), "{kind} is {}", names.is);
        }
    }

    /// Types without a row that rows lead to.
    const LINKED: [&str; 8] = [
        "aws_subnet",
        "aws_vpc",
        "aws_ebs_volume",
        "aws_volume_attachment",
        "aws_sagemaker_model",
        "aws_sagemaker_notebook_instance_lifecycle_configuration",
        "aws_placement_group",
        "aws_eks_cluster",
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
