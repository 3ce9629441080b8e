//! Records resources and objects of unsupported types, with the fields that name machines or accelerators, so that
//! reports list them.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::source::Span;

use super::accelerators;
use super::snake_case::snake_case;

/// Words in names of fields that set a machine type.
const MACHINE_WORDS: [&str; 17] = [
    "type", "types", "size", "flavor", "flavour", "shape", "plan", "machine", "instance", "sku", "class", "node",
    "hardware", "compute", "model", "profile", "card",
];
/// Words in names of fields that set a number.
const NUMBER_WORDS: [&str; 8] = ["count", "number", "num", "total", "quantity", "amount", "units", "node"];
/// Maps with arbitrary keys. Their values are for people, programs and selectors, and do not provision anything.
const OPEN_MAPS: [&str; 19] = [
    "tags",
    "tag",
    "tags_all",
    "labels",
    "match_labels",
    "annotations",
    "metadata",
    "selector",
    "node_selector",
    "environment",
    "env",
    "variables",
    "triggers",
    "triggers_replace",
    "data",
    "string_data",
    "binary_data",
    "connection",
    "provisioner",
];
/// Names of fields that set a machine type in any API, unlike `type` or `node`.
const MACHINE_TYPES: [&str; 16] = [
    "machine_type",
    "instance_type",
    "instance_types",
    "server_type",
    "node_type",
    "vm_type",
    "vm_size",
    "node_size",
    "machine_size",
    "instance_size",
    "flavor",
    "flavour",
    "flavor_id",
    "flavor_name",
    "shape",
    "plan",
];
/// The limit on fields of each meaning: further fields only repeat the earlier ones.
const MOST_FIELDS: usize = 20;

/// A resource or an object of an unsupported type.
#[derive(Debug, Clone)]
pub struct UnsupportedResource {
    pub address: String,
    /// Terraform type or Kubernetes kind.
    pub kind: String,
    pub span: Span,
    pub body: Span,
    /// The number of instances, if known.
    pub count: Option<f64>,
    /// Whether the type's name alone shows that it is about accelerators.
    pub is_by_type: bool,
    /// Whether its own name contains a word for accelerators: `a-gpu-pool`.
    pub is_by_name: bool,
    /// Fields that may set its machine type or its accelerators.
    pub fields: Vec<UnlistedField>,
}

/// A field that may set a machine type or accelerators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlistedField {
    pub name: String,
    /// The value; `None` if it is unknown.
    pub value: Option<String>,
    pub says: FieldMeaning,
}

/// The kind of a field, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldMeaning {
    /// A property that may be a machine type: `model`.
    Machine,
    /// A machine type in any API: `instance_type`.
    MachineType,
    /// An accelerator: `gpu_model`.
    Accelerator,
    /// A number: `gpus`, `gpu_count`.
    Number,
    /// A template inside, which may name machines: `template_body`.
    Document,
}

impl UnsupportedResource {
    pub fn new(address: &str, kind: &str, span: Span, body: Span) -> Self {
        let (address, kind) = (address.to_owned(), kind.to_owned());
        UnsupportedResource {
            address,
            kind,
            span,
            body,
            count: Some(1.0),
            is_by_type: false,
            is_by_name: false,
            fields: Vec::new(),
        }
    }

    /// Returns the fields that set a machine type.
    pub fn machine_types(&self) -> impl Iterator<Item = &UnlistedField> {
        self.fields.iter().filter(|it| it.says == FieldMeaning::MachineType)
    }

    /// Records the field if its name suggests a machine or accelerators.
    pub fn add(&mut self, name: &str, value: Option<&str>) {
        let is_one_more = |says: &FieldMeaning| self.fields.iter().filter(|it| it.says == *says).count() < MOST_FIELDS;
        if let Some(says) = KnownName::of(name).says.filter(is_one_more) {
            self.fields.push(UnlistedField { name: name.to_owned(), value: value.map(str::to_owned), says });
        }
    }
}

/// Returns true if the name of a type shows that it is about accelerators.
pub fn is_type_of_accelerators(name: &str) -> bool {
    words(name).split('_').any(accelerators::is_asking)
}

/// Returns true if users choose the keys in a field of this name.
pub fn is_open_map(name: &str) -> bool {
    KnownName::of(name).is_open_map
}

/// The meaning of a field by its name.
#[derive(Clone, Copy)]
struct KnownName {
    says: Option<FieldMeaning>,
    is_open_map: bool,
}

impl KnownName {
    /// The limit on remembered names. Code repeats few names many times.
    const MOST: usize = 4096;

    fn of(name: &str) -> KnownName {
        thread_local! {
            static KNOWN: RefCell<HashMap<Box<str>, KnownName>> = RefCell::default();
        }
        KNOWN.with_borrow_mut(|known| {
            known.get(name).copied().unwrap_or_else(|| {
                let words = words(name);
                let is_open_map = OPEN_MAPS.contains(&words.as_str());
                let found = KnownName { says: FieldMeaning::by(&words), is_open_map };
                if known.len() < Self::MOST {
                    known.insert(name.into(), found);
                }
                found
            })
        })
    }
}

impl FieldMeaning {
    fn by(words: &str) -> Option<FieldMeaning> {
        if accelerators::are_in_name(words) {
            // `gpus_per_node` is a number of GPUs, and `cpus_per_gpu` is not.
            let words = words.split("_per_").next().unwrap_or(words);
            let last = words.rsplit('_').next().unwrap_or(words);
            let is_number = NUMBER_WORDS.contains(&last) || accelerators::are_in_name(last);
            return Some(if is_number { FieldMeaning::Number } else { FieldMeaning::Accelerator });
        }
        if MACHINE_TYPES.contains(&words) {
            return Some(FieldMeaning::MachineType);
        }
        if words.ends_with("template_body") {
            return Some(FieldMeaning::Document);
        }
        words.split('_').any(|word| MACHINE_WORDS.contains(&word)).then_some(FieldMeaning::Machine)
    }
}

/// Converts a name to lower case with underscores: `gpuCount` and `gpu-count` become `gpu_count`.
fn words(name: &str) -> String {
    snake_case(name).replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_by_their_words() {
        for (name, expected) in [
            ("gpuCount", "gpu_count"),
            ("instance-type", "instance_type"),
            ("GPU", "gpu"),
            ("vmSize2GPU", "vm_size2_gpu"),
        ] {
            assert_eq!(words(name), expected);
        }
    }

    #[test]
    fn fields_are_told_apart_by_their_names() {
        let all = [
            ("node_type", Some(FieldMeaning::MachineType)),
            ("flavorId", Some(FieldMeaning::MachineType)),
            ("modelClass", Some(FieldMeaning::Machine)),
            ("acceleratorType", Some(FieldMeaning::Accelerator)),
            ("gpus", Some(FieldMeaning::Number)),
            ("gpuCount", Some(FieldMeaning::Number)),
            ("gpus_per_node", Some(FieldMeaning::Number)),
            ("cpus_per_gpu", Some(FieldMeaning::Accelerator)),
            ("description", None),
            ("mygpus", None),
        ];
        for (name, expected) in all {
            assert_eq!(FieldMeaning::by(&words(name)), expected, "{name}");
        }
    }
}
