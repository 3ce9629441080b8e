//! Finds the block and the definition from which a resource was created.

use crate::inventory::{Key, Resource};
use crate::source::Span;

use super::super::block::EvaluatedBlock;
use super::build::parts;
use super::language::{Companion, RowRole, TypeRow};
use super::links::{BlockIndex, Linked, follow_all};
use super::load;
use super::node::ValueNode;
use super::scope::{RowScope, Truth};
use crate::inventory::row_path::{PathStep, RowPath, Start, StepName};
use crate::terraform::code::modules::registry_name;

/// The place of a resource, with the definition of its type.
#[derive(Clone)]
pub(in crate::terraform) struct Site<'a> {
    pub(super) scope: RowScope<'a>,
    pub(super) row: &'static TypeRow,
}

impl<'a> Site<'a> {
    /// Returns the part of a block that is this resource.
    pub(in crate::terraform) fn of(
        block: &'a EvaluatedBlock,
        resource: &Resource,
        index: &BlockIndex<'a>,
    ) -> Option<Site<'a>> {
        for (at, row) in rows_of(block).iter().enumerate() {
            for scope in scopes(block, row, at == 0, &resource.address) {
                if let Some(site) = Site::with(scope, row, index) {
                    return Some(site);
                }
            }
        }
        None
    }

    fn with(mut scope: RowScope<'a>, row: &'static TypeRow, index: &BlockIndex<'a>) -> Option<Site<'a>> {
        follow_all(index, &mut scope, &row.links);
        (scope.holds(&row.when) != Truth::No).then_some(Site { scope, row })
    }

    /// Returns a block as a whole, such as a template or a control.
    pub(in crate::terraform) fn whole(block: &'a EvaluatedBlock, index: &BlockIndex<'a>) -> Option<Site<'a>> {
        rows_of(block).iter().find_map(|row| Site::with(RowScope::of(block), row, index))
    }

    pub(in crate::terraform) fn block(&self) -> &'a EvaluatedBlock {
        self.scope.block
    }

    /// Returns the code of the part of the block that is the resource.
    pub(in crate::terraform) fn part_extent(&self) -> Span {
        self.scope.part.place()
    }

    /// Returns the steps from the block to the part that is the resource.
    pub(in crate::terraform) fn part_steps(&self) -> &'static [PathStep] {
        self.row.each.as_ref().map_or(&[], |each| &each.steps)
    }

    /// Returns the argument that sets the machine type, because related arguments are near it.
    pub(in crate::terraform) fn machine_argument(&self) -> Option<Span> {
        let spec = self.row.keyed.iter().find(|(key, _)| *key == Key::Machine).map(|(_, spec)| spec)?;
        let paths = spec.0.iter().filter_map(|it| it.at.as_ref());
        paths.filter(|path| matches!(path.start, Start::Part | Start::Block)).find_map(|path| {
            let name = path.steps.last().map(|step| match &step.name {
                StepName::Written(name) => name.as_str(),
                StepName::At(_) => "",
            })?;
            let above = RowPath { start: path.start.clone(), steps: path.steps[..path.steps.len() - 1].to_vec() };
            let block = match above.steps.is_empty() {
                true => Some(self.scope.part.clone()),
                false => self.scope.find(&above).into_iter().next(),
            };
            match block? {
                ValueNode::Block(block) => block.attributes.get(name).map(|it| it.span),
                _ => None,
            }
        })
    }

    /// Returns whether the block only controls others.
    pub(in crate::terraform) fn is_control(&self) -> bool {
        self.row.role == RowRole::Control
    }

    /// Returns the only block that a link leads to.
    pub(in crate::terraform) fn linked(&self, link: &str) -> Option<&'a EvaluatedBlock> {
        match self.scope.links.get(link)? {
            Linked::Blocks(blocks) => match blocks.as_slice() {
                [(block, _)] => Some(block),
                _ => None,
            },
            Linked::Outside(_) => None,
        }
    }

    /// Returns the resources that set a fact of the block, or the reason why they cannot; `None` if the type has none.
    pub(in crate::terraform) fn companion(&self, key: Key) -> Option<Result<&'static Companion, String>> {
        let companion = self.row.companions.get(key.name())?;
        let refused = companion.unless.iter().find(|(_, conditions)| self.scope.holds(conditions) != Truth::No);
        Some(refused.map_or(Ok(companion), |(why, _)| Err(why.clone())))
    }

    /// Returns whether a fix may create a nested block, because it needs no other arguments.
    pub(in crate::terraform) fn may_create(&self, path: &str) -> bool {
        let written = self.row.write.values().flat_map(|by_value| by_value.values()).flat_map(|it| &it.0);
        let mut whole = written.map(|(path, _)| path.name());
        self.row.creates.0.iter().any(|it| it == path)
            || whole.any(|it| it.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }
}

fn rows_of(block: &EvaluatedBlock) -> &'static [TypeRow] {
    let table = load::table();
    match (block.keyword.as_str(), block.labels.first(), block.source.as_deref()) {
        ("module", _, Some(source)) => table.of_module(&registry_name(source)).unwrap_or_default(),
        ("resource", Some(kind), _) => table.of_type(kind),
        _ => &[],
    }
}

/// Returns the parts of a block that have this address according to a definition.
fn scopes<'a>(block: &'a EvaluatedBlock, row: &'static TypeRow, is_first: bool, address: &str) -> Vec<RowScope<'a>> {
    let Some(each) = &row.each else {
        return if is_at(address, &block.address, "") { vec![RowScope::of(block)] } else { Vec::new() };
    };
    let mut found = Vec::new();
    for (at, part) in parts(block, each).into_iter().enumerate() {
        let is_block_itself = is_first && at == 0 && block.keyword == "resource";
        let suffix = if is_block_itself { "" } else { part.suffix.as_str() };
        if is_at(address, &block.address, suffix) {
            found.push(RowScope { part: part.node, key: part.key, ..RowScope::of(block) });
        }
    }
    found
}

/// Returns whether an address is that of a part of a block. The name of the variant of its root may follow, as in
/// `a.b (dev.tfvars)`.
fn is_at(address: &str, block: &str, suffix: &str) -> bool {
    let rest = address.strip_prefix(block).and_then(|rest| rest.strip_prefix(suffix));
    rest.is_some_and(|variant| variant.is_empty() || variant.starts_with(" ("))
}
