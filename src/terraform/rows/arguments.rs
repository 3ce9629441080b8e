//! Reads the arguments of an unsupported module: values that look like machine types, and accelerators near them.

use std::collections::HashSet;

use crate::inventory::accelerators;
use crate::languages::hcl::value::{HclData, HclValue};

use super::super::block::EvaluatedBlock;
use super::node::PlacedValue;

/// The maximum depth of the search in arguments.
const DEEPEST: usize = 8;

/// Argument names for the number of accelerators of a machine.
const COUNTS: [&str; 7] =
    ["accelerator_count", "guest_accelerator_count", "gpu_count", "gpus_per_instance", "node_gpus", "gpus", "count"];

/// Argument names for the number of machines, its minimum and its maximum.
const NUMBERS: [&str; 13] = [
    "desired_size",
    "desired_capacity",
    "desired_count",
    "node_count",
    "instance_count",
    "machine_count",
    "vm_count",
    "num_nodes",
    "num_instances",
    "worker_count",
    "replicas",
    "count",
    "target_size",
];
const LEAST: [&str; 7] =
    ["min_size", "min_count", "min_nodes", "min_node_count", "min_capacity", "min_replicas", "minimum"];
const MOST: [&str; 7] =
    ["max_size", "max_count", "max_nodes", "max_node_count", "max_capacity", "max_replicas", "maximum"];

/// Argument names for a mapping of such numbers.
const SCALES: [&str; 6] = ["fixed_scale", "auto_scale", "autoscaling", "scaling", "scaling_config", "scale_policy"];

/// The number of machines, from the mapping that names the machine type.
#[derive(Clone, Default)]
pub(super) struct Sizes {
    pub(super) number: Option<PlacedValue>,
    pub(super) least: Option<PlacedValue>,
    pub(super) most: Option<PlacedValue>,
}

impl Sizes {
    fn of(members: &[(String, PlacedValue)]) -> Self {
        let sizes =
            Sizes { number: named(members, &NUMBERS), least: named(members, &LEAST), most: named(members, &MOST) };
        if sizes.number.is_some() || sizes.least.is_some() || sizes.most.is_some() {
            return sizes;
        }
        // Numbers in a nested mapping: `fixed_scale = { size = 2 }`.
        let apart = members.iter().find(|(name, _)| SCALES.contains(&bare(name)));
        let apart = apart.map(|(_, held)| inner(held)).unwrap_or_default();
        Sizes {
            number: named(&apart, &NUMBERS).or_else(|| named(&apart, &["size", "desired", "initial"])),
            least: named(&apart, &LEAST).or_else(|| named(&apart, &["min"])),
            most: named(&apart, &MOST).or_else(|| named(&apart, &["max"])),
        }
    }
}

fn named(members: &[(String, PlacedValue)], keys: &[&str]) -> Option<PlacedValue> {
    let find = |key: &&str| members.iter().find(|(name, _)| bare(name) == *key).map(|(_, held)| held.clone());
    keys.iter().find_map(find)
}

/// Returns the members of a mapping.
fn inner(held: &PlacedValue) -> Vec<(String, PlacedValue)> {
    match &held.value.data {
        HclData::Map(items) | HclData::Object(items) => {
            items.iter().map(|(key, item)| (format!("[{key:?}]"), held.holding(item.clone()))).collect()
        }
        _ => Vec::new(),
    }
}

/// A machine in the arguments of a call, with its path.
pub(super) struct MachineArguments {
    pub(super) path: String,
    /// The value that names the machine.
    pub(super) told: PlacedValue,
    pub(super) machine: Option<PlacedValue>,
    /// The accelerators that are named separately from the machine, with their number.
    pub(super) accelerator: Option<(PlacedValue, Option<PlacedValue>)>,
    pub(super) sizes: Sizes,
}

/// Returns each distinct value that looks like a machine type, and each accelerator with the nearest machine.
pub(super) fn machines(call: &EvaluatedBlock) -> Vec<MachineArguments> {
    let members =
        call.attributes.iter().map(|(name, attribute)| (format!(".{name}"), PlacedValue::of(attribute))).collect();
    let mut found = Found::default();
    below("", members, Around::default(), 0, &mut found);
    found.all
}

#[derive(Default)]
struct Found {
    all: Vec<MachineArguments>,
    /// Machine types that were already found.
    names: HashSet<String>,
}

impl Found {
    fn add(&mut self, machine: MachineArguments) {
        self.names.extend(machine.machine.as_ref().and_then(text).map(str::to_owned));
        self.all.push(machine);
    }
}

fn text(held: &PlacedValue) -> Option<&str> {
    match &held.value.data {
        HclData::Text(text) if !held.value.sensitive => Some(text),
        _ => None,
    }
}

/// The nearest machine, with its number.
#[derive(Clone, Default)]
struct Around {
    machine: Option<PlacedValue>,
    sizes: Sizes,
}

/// Searches the members of one mapping. One of them may be the machine to which nested accelerators belong.
fn below(path: &str, members: Vec<(String, PlacedValue)>, around: Around, depth: usize, found: &mut Found) {
    let own = members.iter().find_map(|(_, held)| machine_in(held));
    let counted = count_beside(&members, own.is_none() && depth > 0);
    let accelerator = members.iter().find_map(|(name, held)| {
        let written = text(held)?;
        if is_accelerator(written) || names_accelerator(bare(name)) && is_chip(written) {
            return Some((name, held.clone()));
        }
        let has_some = counted.as_ref().is_some_and(|held| held.value.as_f64() != Some(0.0));
        let chip = platform(written).filter(|_| has_some)?;
        Some((name, held.holding(HclValue::text(chip, held.said))))
    });
    // A mapping without machines, such as one for accelerators only, belongs to the machines around it.
    let mut sizes = Sizes::of(&members);
    if accelerator.is_some() && own.is_none() && around.machine.is_some() {
        sizes = around.sizes.clone();
    }
    let near = Around { machine: own.or(around.machine), sizes: sizes.clone() };
    let before = found.all.len();
    // A label for accelerators adds nothing to a machine with built-in accelerators.
    let is_label =
        counted.is_none() && near.machine.as_ref().and_then(text).is_some_and(|machine| machine.contains('.'));
    if let Some((name, accelerator)) = accelerator.filter(|_| !is_label) {
        let (path, machine) = (format!("{path}{name}"), near.machine.clone());
        let told = accelerator.clone();
        found.add(MachineArguments {
            path,
            told,
            machine,
            accelerator: Some((accelerator, counted)),
            sizes: sizes.clone(),
        });
    }
    for (name, held) in &members {
        inside(&format!("{path}{name}"), held, &near, depth + 1, found);
    }
    let told = found.all.iter().skip(before).any(|machine| machine.accelerator.is_some());
    for (name, held) in members.iter().filter(|_| !told) {
        plain(&|| format!("{path}{name}"), held, &sizes, found);
    }
}

/// Returns a machine type, or the first of a list.
fn machine_in(held: &PlacedValue) -> Option<PlacedValue> {
    let first = match &held.value.data {
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            items.first().map(|item| held.holding(item.clone()))
        }
        _ => Some(held.clone()),
    };
    first.filter(|held| text(held).is_some_and(looks_like_a_machine))
}

/// Returns the number of accelerators in a mapping. With `alone`, a single number counts accelerators, because the
/// machine is named elsewhere.
fn count_beside(members: &[(String, PlacedValue)], alone: bool) -> Option<PlacedValue> {
    let counts = COUNTS.iter().filter(|key| **key != "count" || alone);
    let of_key = |key: &&str| {
        let is_it = |(name, held): &&(String, PlacedValue)| bare(name) == *key && held.value.as_number().is_some();
        members.iter().find(is_it).map(|(_, held)| held.clone())
    };
    counts.into_iter().find_map(of_key)
}

fn inside(path: &str, held: &PlacedValue, near: &Around, depth: usize, found: &mut Found) {
    if depth > DEEPEST || held.value.sensitive {
        return;
    }
    let member = |key: String, value: &HclValue| (key, held.holding(value.clone()));
    match &held.value.data {
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            for (at, item) in items.iter().enumerate() {
                let (key, item) = member(format!("[{at}]"), item);
                let path = format!("{path}{key}");
                inside(&path, &item, near, depth + 1, found);
                plain(&|| path.clone(), &item, &near.sizes, found);
            }
        }
        HclData::Map(_) | HclData::Object(_) => below(path, inner(held), near.clone(), depth, found),
        _ => {}
    }
}

/// Adds a string that is a machine type, unless it is already known.
fn plain(path: &dyn Fn() -> String, held: &PlacedValue, sizes: &Sizes, found: &mut Found) {
    let Some(name) = text(held).filter(|text| looks_like_a_machine(text)) else { return };
    if !found.names.contains(name) {
        let sizes = sizes.clone();
        found.add(MachineArguments {
            path: path(),
            told: held.clone(),
            machine: Some(held.clone()),
            accelerator: None,
            sizes,
        });
    }
}

/// Returns `gpus` for `["gpus"]` and `.gpus`.
fn bare(name: &str) -> &str {
    name.trim_matches(['.', '[', ']', '"'])
}

/// Returns whether a string has the form of an attached accelerator: `nvidia-tesla-t4`, `nvidia-h100-80gb`.
fn is_accelerator(text: &str) -> bool {
    let lower = text.to_ascii_lowercase().replace('_', "-");
    let Some(name) = lower.strip_prefix("nvidia-") else { return false };
    let name = name.strip_prefix("tesla-").unwrap_or(name);
    name.len() < 32 && accelerators::is_chip_or_series(name.split('-').next().unwrap_or_default())
}

/// Returns whether a string is the name of a chip, for arguments that name chips: `gpu_class = "t4"`.
fn is_chip(text: &str) -> bool {
    let lower = text.to_ascii_lowercase().replace('_', "-");
    let (chip, memory) = lower.split_once('-').unwrap_or((&lower, ""));
    let is_memory = memory.strip_suffix("gb").unwrap_or(memory).bytes().all(|c| c.is_ascii_digit());
    accelerators::is_chip(chip) && is_memory
}

/// Returns the chip of a platform. Some clouds use platforms for machines with a separate number of accelerators:
/// `gpu-h100`, `gpu-h100-c`.
fn platform(text: &str) -> Option<&str> {
    let mut parts = text.strip_prefix("gpu-")?.split('-');
    let chip = parts.next().filter(|chip| accelerators::is_chip_or_series(chip))?;
    parts.all(|part| part.bytes().all(|c| c.is_ascii_alphabetic())).then_some(chip)
}

/// Returns whether an argument names an accelerator: `gpu_class`, `accelerator_type`, `gpu_model`, but not `gpu_count`.
fn names_accelerator(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut words = lower.split('_');
    let about = words.any(accelerators::are_in_name);
    about
        && words
            .next()
            .is_none_or(|last| matches!(last, "class" | "type" | "model" | "kind" | "name" | "family" | "sku"))
}

/// Returns whether a string has the form of a machine type: `g5.xlarge`, `ml.p4d.24xlarge`, `a2-highgpu-1g`,
/// `Standard_NC24ads_A100_v4`, `VM.GPU.A10.1`, `gpu-h100x8-640gb`. The catalog later decides whether the type exists
/// and has accelerators.
fn looks_like_a_machine(text: &str) -> bool {
    if text.len() > 48 || !text.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c)) {
        return false;
    }
    if platform(text).is_some() {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let has_digit = lower.bytes().any(|c| c.is_ascii_digit());
    if lower.starts_with("standard_n") || lower.starts_with("vm.gpu") || lower.starts_with("bm.gpu") {
        return has_digit;
    }
    if let Some((family, size)) = lower.strip_prefix("ml.").unwrap_or(&lower).split_once('.') {
        let is_size = size.ends_with("xlarge") || size.starts_with("metal") || ["large", "medium"].contains(&size);
        return is_size && family.bytes().any(|c| c.is_ascii_digit());
    }
    let parts: Vec<&str> = lower.split('-').collect();
    match parts.as_slice() {
        ["gpu", rest @ ..] => !rest.is_empty() && has_digit,
        [family, class, size] => {
            let shaped = family.bytes().any(|c| c.is_ascii_digit()) && size.bytes().any(|c| c.is_ascii_digit());
            shaped && !class.is_empty() && class.bytes().all(|c| c.is_ascii_alphabetic())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_told_by_the_names_of_arguments() {
        for name in ["gpu_class", "accelerator_type", "gpu", "node_gpu_model"] {
            assert!(names_accelerator(name), "{name}");
        }
        for name in ["gpu_count", "gpu_node_pools", "class", "instance_type"] {
            assert!(!names_accelerator(name), "{name}");
        }
        for chip in ["t4", "A100-80GB", "a100_40gb", "h100"] {
            assert!(is_chip(chip), "{chip}");
        }
        for other in ["true", "none", "t4-pool", "rtx", "g5"] {
            assert!(!is_chip(other), "{other}");
        }
    }

    #[test]
    fn platforms_name_a_chip_and_no_number() {
        assert_eq!(
            [platform("gpu-h100"), platform("gpu-h100-c"), platform("gpu-l40s-a")],
            [Some("h100"), Some("h100"), Some("l40s")]
        );
        for other in ["gpu-h100x8-640gb", "gpu-pool", "gpu-h100-8", "h100"] {
            assert_eq!(platform(other), None, "{other}");
        }
    }

    #[test]
    fn machine_types_are_told_from_other_texts() {
        for machine in [
            "g5.xlarge",
            "ml.p4d.24xlarge",
            "a2-highgpu-1g",
            "Standard_NC24ads_A100_v4",
            "standard_nv6ads_a10_v5",
            "VM.GPU.A10.1",
            "BM.GPU.H100.8",
            "gpu-h100x8-640gb",
            "gpu-h100-sxm_8gpu-128vcpu-1600gb",
            "u-6tb1.metal",
        ] {
            assert!(looks_like_a_machine(machine), "{machine}");
        }
        for other in
            ["10.0.0.0/16", "us-central1-a", "my-gpu-pool", "v1.2.3", "example.com", "1.31", "gpu", "eu-west-1"]
        {
            assert!(!looks_like_a_machine(other), "{other}");
        }
    }
}
