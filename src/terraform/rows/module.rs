//! Calls of modules whose code is not at hand: the inputs of popular ones are read as the resources they become.

use crate::inventory::{Fact, Key, Known, Origin, Resource, Role, Unknown, Value};

use super::super::block::Block;
use super::super::modules::registry_name;
use super::super::value::{self, Data};
use super::build::{Builder, Built};
use super::node::Held;

/// Adds what a call rents: by the rows of its source, else whatever among its arguments looks like a machine type.
pub(super) fn add<'a>(builder: &mut Builder<'a>, block: &'a Block) {
    let Some(source) = block.source.as_deref() else { return };
    let name = registry_name(source);
    let kind = format!("module:{name}");
    let rows = builder.table.of_module(&name);
    match rows {
        Some(rows) => {
            for row in rows {
                builder.add(block, &kind, row, false);
            }
        }
        None => unknown_module(builder, block, &kind),
    }
}

/// Arguments are searched this deep.
const DEEPEST: usize = 8;

fn unknown_module(builder: &mut Builder<'_>, block: &Block, kind: &str) {
    let mut found: Vec<(String, Held)> = Vec::new();
    for (name, attribute) in &block.attributes {
        machines(&format!(".{name}"), Held::of(attribute), 0, &mut found);
    }
    let one = found.len() == 1;
    for (path, held) in found {
        let suffix = if one { String::new() } else { path };
        let (span, body) = if one { (block.span, block.body) } else { (held.said, held.said) };
        let address = format!("{}{suffix}", block.address);
        let mut resource = Resource::new(builder.front_end, Role::Rented, kind, address, span, body);
        resource.set(Key::Machine, machine(&held));
        let why = format!("the module `{}` is not at hand", block.source.as_deref().unwrap_or_default());
        resource.count = Fact::Unknown(Unknown { span: held.said, why: why.into(), candidates: Vec::new() });
        builder.resources.push(Built { resource, block: block.address.clone(), covered_by: Vec::new() });
    }
}

fn machine(held: &Held) -> Fact<Value> {
    match &held.value.data {
        Data::Text(text) => {
            let origin = if held.is_written_here() { Origin::Written } else { Origin::Resolved };
            let value = Value::Text(text.clone());
            Fact::Known(Known { value, span: held.said, defined: held.defined(), origin })
        }
        _ => Fact::Absent,
    }
}

/// Every text below a value that has the shape of a machine type, each once.
fn machines(path: &str, held: Held, depth: usize, found: &mut Vec<(String, Held)>) {
    if depth > DEEPEST || held.value.sensitive {
        return;
    }
    let below = |key: String, value: &value::Value, found: &mut Vec<_>| {
        machines(&format!("{path}{key}"), held.holding(value.clone()), depth + 1, found);
    };
    match &held.value.data {
        Data::Text(text) => {
            let known = |it: &(String, Held)| matches!(&it.1.value.data, Data::Text(other) if other == text);
            if looks_like_a_machine(text) && !found.iter().any(known) {
                found.push((path.to_owned(), held.clone()));
            }
        }
        Data::List(items) | Data::Set(items) | Data::Tuple(items) => {
            for (at, item) in items.iter().enumerate() {
                below(format!("[{at}]"), item, found);
            }
        }
        Data::Map(items) | Data::Object(items) => {
            for (key, item) in items.iter() {
                below(format!("[{key:?}]"), item, found);
            }
        }
        _ => {}
    }
}

/// The spellings of machine types: `g5.xlarge`, `ml.p4d.24xlarge`, `a2-highgpu-1g`, `Standard_NC24ads_A100_v4`,
/// `VM.GPU.A10.1`, `gpu-h100x8-640gb`. Whether there is such a machine, and whether it has an accelerator, the catalog
/// says later.
fn looks_like_a_machine(text: &str) -> bool {
    if text.len() > 48 || !text.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c)) {
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
