//! Calls of modules whose code is not at hand: the inputs of popular ones are read as the resources they become.

use crate::inventory::{Fact, Key, Known, Origin, Resource, Role, Unknown, Value};

use super::super::block::Block;
use super::super::value::Data;
use super::arguments;
use super::build::{Builder, Built};
use super::node::Held;
use crate::terraform::load::modules::registry_name;

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

fn unknown_module(builder: &mut Builder<'_>, block: &Block, kind: &str) {
    let found = arguments::machines(block);
    let one = found.len() == 1;
    for machine in found {
        let suffix = if one { "" } else { machine.path.as_str() };
        let told = &machine.told;
        let (span, body) = if one { (block.span, block.body) } else { (told.said, told.said) };
        let address = format!("{}{suffix}", block.address);
        let mut resource = Resource::new(builder.front_end, Role::Rented, kind, address, span, body);
        let why = format!("the module `{}` is not at hand", block.source.as_deref().unwrap_or_default());
        resource.count = Fact::Unknown(Unknown { span: told.said, why: why.into(), candidates: Vec::new() });
        resource.set(Key::Machine, machine.machine.as_ref().map_or(Fact::Absent, fact));
        if let Some((accelerator, count)) = &machine.accelerator {
            resource.set(Key::Accelerator, fact(accelerator));
            resource.set(Key::AcceleratorCount, count.as_ref().map_or(Fact::Absent, fact));
        }
        builder.resources.push(Built { resource, block: block.address.clone(), covered_by: Vec::new(), place: None });
    }
}

fn fact(held: &Held) -> Fact<Value> {
    let value = match &held.value.data {
        Data::Text(text) => Value::Text(text.clone()),
        _ => match held.value.as_f64() {
            Some(number) => Value::Number(number),
            None => return Fact::Absent,
        },
    };
    let origin = if held.is_written_here() { Origin::Written } else { Origin::Resolved };
    Fact::Known(Known { value, span: held.said, defined: held.defined(), origin })
}
