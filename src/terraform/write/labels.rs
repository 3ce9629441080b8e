//! Adds labels that attribute cost: to a map, as blocks, or to those that the provider sets.

use std::sync::Arc;

use crate::inventory::{Declined, FactValue};
use crate::source::Edit;

use super::super::rows::{Literal, Site, Spot, ValueNode};
use super::insert::{self, Addition};
use super::literal::quoted;
use super::{Pending, Result, TerraformWriter, left_alone, object_in};

/// Returns labels as they are written.
fn shown(entries: &[(String, Literal)]) -> Vec<(String, String)> {
    entries.iter().map(|(key, value)| (key.clone(), quoted(value))).collect()
}

impl<'a> TerraformWriter<'a> {
    pub(super) fn label_in(&self, site: &Site<'a>, labels: &[(Arc<str>, FactValue)]) -> Result<Vec<Edit>> {
        let entries = labels.iter().map(|(key, value)| (key.to_string(), Literal::Text(value.to_string())));
        let entries: Vec<(String, Literal)> = entries.collect();
        let blocks = site.label_blocks(&entries);
        if !blocks.is_empty() {
            return self.label_blocks(site, blocks);
        }
        let maps = site.label_maps();
        let Some(spot) = maps.into_iter().next() else {
            let kind = site.block().labels.first().map_or("this", String::as_str);
            return Err(Declined::Inexpressible(format!("`{kind}` has no map of labels")));
        };
        let mut pending = Pending::default();
        match &spot {
            Spot::There(ValueNode::Value(held)) => {
                self.put_keys(site, held, &shown(&entries), &mut pending)?;
            }
            Spot::Missing { container: ValueNode::Block(block), rest, .. } => match rest.as_slice() {
                // In JSON, a comma would be necessary between this object and its neighbors.
                [_] if self.sources.path(block.body.file).ends_with(".json") => {
                    return left_alone("gpulint adds nothing to JSON blocks");
                }
                [name] => {
                    self.demand_one_caller(&self.directory_of(block.body.file))?;
                    pending.addition(block.body).maps.push((name.clone(), entries));
                }
                _ => return left_alone("it needs a block with more arguments"),
            },
            Spot::Missing { container: ValueNode::Value(_), .. } | Spot::There(_) => {
                return left_alone("its labels are not a map");
            }
            Spot::Missing { .. } | Spot::Linked(_) | Spot::Element { .. } => {
                return left_alone("its labels are in another place");
            }
            Spot::Unclear(why) => return left_alone(why.clone()),
        }
        self.finish(site, pending)
    }

    /// Returns the edits that add a block for each label.
    fn label_blocks(&self, site: &Site<'a>, blocks: Vec<(String, Vec<(String, Literal)>)>) -> Result<Vec<Edit>> {
        let body = site.block().body;
        if self.sources.path(body.file).ends_with(".json") {
            return left_alone("gpulint adds nothing to JSON blocks");
        }
        self.demand_one_caller(&self.directory_of(body.file))?;
        let mut pending = Pending::default();
        let blocks = blocks
            .into_iter()
            .map(|(name, arguments)| (name, Addition { arguments: shown(&arguments), ..Addition::default() }));
        pending.addition(body).blocks.extend(blocks);
        self.finish(site, pending)
    }

    /// Returns the edits that add labels to those that the provider sets on all of its resources; `None` if it sets none.
    pub(super) fn label_provider(
        &self,
        site: &Site<'a>,
        labels: &[(Arc<str>, FactValue)],
    ) -> Option<Result<Vec<Edit>>> {
        let provider = site.block().provider.as_ref()?;
        let tags =
            provider.blocks.iter().find(|it| it.keyword == "default_tags").and_then(|it| it.attributes.get("tags"));
        let map = tags.or_else(|| provider.attributes.get("default_labels"))?;
        let (file, here) = (map.expression.file, self.directory_of(site.block().span.file));
        if self.directory_of(file) != here || self.sources.path(file).ends_with(".json") {
            return Some(left_alone("the provider configuration of another directory sets its labels"));
        }
        let text = self.sources.text(file);
        let Some(object) = object_in(map.expression, &text) else {
            return Some(left_alone("the labels of the provider are computed"));
        };
        let entries: Vec<(String, Literal)> =
            labels.iter().map(|(key, value)| (key.to_string(), Literal::Text(value.to_string()))).collect();
        let mut pending = Pending::default();
        pending.change(file, insert::into_object(&text, &object, &shown(&entries))?);
        Some(self.demand_one_caller(&here).and_then(|()| self.finish(site, pending)))
    }
}
