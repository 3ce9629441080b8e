//! Resources and objects of types that no row describes: what their text names of machines and accelerators, so that it is
//! told and never silent.

use crate::source::Span;

use super::accelerators;
use super::snake_case::snake_case;

/// Words of the names of fields that say which machine it is.
const MACHINE_WORDS: [&str; 17] = [
    "type", "types", "size", "flavor", "flavour", "shape", "plan", "machine", "instance", "sku", "class", "node",
    "hardware", "compute", "model", "profile", "card",
];
/// Words of the names of fields that say how many.
const NUMBER_WORDS: [&str; 8] = ["count", "number", "num", "total", "quantity", "amount", "units", "node"];
/// Maps whose keys are anybody's: what stands there is told to people, programs and selectors, and rents nothing.
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
/// What says more than these says it again.
const MOST_FIELDS: usize = 20;

/// A resource or an object of a type that no row describes.
#[derive(Debug, Clone)]
pub struct Unlisted {
    pub address: String,
    /// The type of Terraform, or the kind.
    pub kind: String,
    pub span: Span,
    pub body: Span,
    /// How many of it there are, where that is known.
    pub count: Option<f64>,
    /// Its type says that it is about accelerators, whatever its fields say.
    pub is_by_type: bool,
    /// The fields that may say which machine it is, or which accelerators it has.
    pub fields: Vec<UnlistedField>,
}

/// A field that may say which machine or which accelerators are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlistedField {
    pub name: String,
    /// Nothing where it is not known.
    pub value: Option<String>,
    pub says: FieldMeaning,
}

/// What a field says by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldMeaning {
    /// `instance_type`
    Machine,
    /// `gpu_model`
    Accelerator,
    /// `gpus`, `gpu_count`
    Number,
}

impl Unlisted {
    pub fn new(address: &str, kind: &str, span: Span, body: Span) -> Self {
        let (address, kind) = (address.to_owned(), kind.to_owned());
        Unlisted { address, kind, span, body, count: Some(1.0), is_by_type: false, fields: Vec::new() }
    }

    /// Keeps the field if its name may be that of a machine or of accelerators.
    pub fn add(&mut self, name: &str, value: Option<&str>) {
        if self.fields.len() < MOST_FIELDS
            && let Some(says) = FieldMeaning::by(&words(name))
        {
            self.fields.push(UnlistedField { name: name.to_owned(), value: value.map(str::to_owned), says });
        }
    }
}

/// Whether the name of a type says that it is about accelerators.
pub fn is_type_of_accelerators(name: &str) -> bool {
    words(name).split('_').any(accelerators::is_asking)
}

/// Whether people choose the keys below a field of that name.
pub fn is_open_map(name: &str) -> bool {
    OPEN_MAPS.contains(&words(name).as_str())
}

impl FieldMeaning {
    fn by(words: &str) -> Option<FieldMeaning> {
        if accelerators::are_in_name(words) {
            // `gpus_per_node` is a number of GPUs, `cpus_per_gpu` is none.
            let words = words.split("_per_").next().unwrap_or(words);
            let last = words.rsplit('_').next().unwrap_or(words);
            let is_number = NUMBER_WORDS.contains(&last) || accelerators::are_in_name(last);
            return Some(if is_number { FieldMeaning::Number } else { FieldMeaning::Accelerator });
        }
        words.split('_').any(|word| MACHINE_WORDS.contains(&word)).then_some(FieldMeaning::Machine)
    }
}

/// A name in small letters, with a stroke between its words: `gpuCount` and `gpu-count` are `gpu_count`.
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
            ("node_type", Some(FieldMeaning::Machine)),
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
