//! Reads calls of modules that are not downloaded. The inputs of popular modules are read as the resources that they
//! create.

use crate::inventory::{BillingRole, Fact, FactOrigin, FactValue, Key, KnownFact, Range, Resource, UnknownFact};
use crate::languages::hcl::value::HclData;
use crate::source::Span;

use super::super::block::EvaluatedBlock;
use super::arguments;
use super::arguments::Sizes;
use super::build::{Builder, BuiltResource, note_stop_argument};
use super::count::times;
use super::declaration::block_declaration;
use super::language::RowTable;
use super::node::PlacedValue;
use super::place::region_of;
use crate::terraform::code::clouds::Cloud;
use crate::terraform::code::modules::{provider_of_source, registry_name};

/// Adds the resources of a call: by the definitions of its source, or else every argument that looks like a machine
/// type.
pub(super) fn add<'a>(builder: &mut Builder<'a>, block: &'a EvaluatedBlock) {
    let Some(source) = block.source.as_deref() else { return };
    let name = registry_name(source);
    let kind = format!("module:{name}");
    let rows = builder.table.of_module(&name);
    match rows {
        Some(rows) => {
            builder.parts_of_block.clear();
            for row in rows {
                builder.add(block, &kind, row, false);
            }
        }
        None => unknown_module(builder, block, &kind),
    }
}

fn unknown_module(builder: &mut Builder<'_>, block: &EvaluatedBlock, kind: &str) {
    let found = arguments::machines(block);
    let one = found.len() == 1;
    for machine in found {
        let suffix = if one { "" } else { machine.path.as_str() };
        let told = &machine.told;
        let (span, body) = if one { (block.span, block.body) } else { (told.said, told.said) };
        let address = format!("{}{suffix}", block.address);
        let mut resource = Resource::new(builder.front_end, BillingRole::Rented, kind, address, span, body);
        resource.declared = block_declaration(block);
        let why = format!("the module `{}` is not downloaded", block.source.as_deref().unwrap_or_default());
        let told_number = number(&machine.sizes, told.said, block.instances.clone());
        resource.count = match told_number {
            Fact::Absent => Fact::Unknown(UnknownFact { span: told.said, why: why.into(), candidates: Vec::new() }),
            number => number,
        };
        place(&mut resource, block, builder.table);
        note_stop_argument(&mut resource, &block.attributes);
        resource.set(Key::Machine, machine.machine.as_ref().map_or(Fact::Absent, fact));
        if let Some((accelerator, count)) = &machine.accelerator {
            resource.set(Key::Accelerator, fact(accelerator));
            resource.set(Key::AcceleratorCount, count.as_ref().map_or(Fact::Absent, fact));
        }
        builder.resources.push(BuiltResource {
            resource,
            block: block.address.clone(),
            covered_by: Vec::new(),
            place: None,
            units: None,
        });
    }
}

/// Returns the number of machines from arguments near the machine type. It is inferred, because the module may use them
/// differently.
fn number(sizes: &Sizes, span: Span, instances: Fact<Range>) -> Fact<Range> {
    let read = |held: &Option<PlacedValue>| match held {
        None => Ok(None),
        Some(held) => held.value.as_f64().filter(|number| *number >= 0.0).map(Some).ok_or(held.said),
    };
    let open = |span| Fact::unknown("the number next to the machine type is unknown", span);
    let (number, least, most) = match (read(&sizes.number), read(&sizes.least), read(&sizes.most)) {
        (Ok(number), Ok(least), Ok(most)) => (number, least, most),
        (Err(span), ..) | (_, Err(span), _) | (.., Err(span)) => return open(span),
    };
    let range = match (number, least, most) {
        (None, None, None) => return Fact::Absent,
        (Some(number), None, None) => Range::exactly(number),
        (_, least, most) => {
            let floor = least.unwrap_or(0.0);
            Range::between(floor, number, most.unwrap_or(f64::INFINITY))
        }
    };
    let origin = FactOrigin::Inferred("an argument of a module that is not downloaded".into());
    times(Fact::known(range, span, origin), instances)
}

/// Sets provider and region as far as known: from the provider of the source, from the call's arguments, and from the
/// provider configuration.
fn place(resource: &mut Resource, block: &EvaluatedBlock, table: &'static RowTable) {
    const REGIONS: [&str; 5] = ["region", "aws_region", "location", "zone", "availability_zone"];
    let source = block.source.as_deref().and_then(provider_of_source);
    let cloud = source.as_deref().and_then(Cloud::of_terraform).map(|it| it.provider);
    let row = cloud.and_then(|cloud| table.providers.get(cloud));
    if let Some(cloud) = cloud {
        let why = FactOrigin::Inferred("the module is for this provider".into());
        resource.set(Key::Provider, Fact::known(FactValue::text(cloud), block.span, why));
    }
    let given = block.provider.as_ref().map(|provider| &provider.attributes);
    let mut said = [Some(&block.attributes), given].into_iter().flatten();
    let region = said.find_map(|attributes| REGIONS.iter().find_map(|name| attributes.get(name)));
    let Some(held) = region.map(PlacedValue::of) else { return };
    let told = fact(&held).map(|text| FactValue::text(region_of(&text.to_string(), row)));
    resource.set(Key::Region, told);
}

fn fact(held: &PlacedValue) -> Fact<FactValue> {
    let value = match &held.value.data {
        HclData::Text(text) => FactValue::Text(text.clone()),
        _ => match held.value.as_f64() {
            Some(number) => FactValue::Number(number),
            None => return Fact::Absent,
        },
    };
    let origin = if held.is_written_here() { FactOrigin::Written } else { FactOrigin::Resolved };
    Fact::Known(KnownFact { value, span: held.said, defined: held.defined(), origin })
}
