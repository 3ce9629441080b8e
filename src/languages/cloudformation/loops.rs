//! Evaluates `Fn::ForEach`: a loop that creates entries of a section, one for each member of a collection.

use std::sync::Arc;

use crate::languages::hcl::value::HclValue;
use crate::languages::yaml::{Node, NodeEntry};

use super::evaluate::LoopNames;
use super::stack::StackInstance;

pub(super) const LOOP: &str = "Fn::ForEach::";

/// Steps of one iteration. A stack has at most 500 resources, but nested loops can create any number.
const TURN: u64 = 200;

/// The limit on nested loops, above that of AWS.
const DEEPEST: usize = 6;

impl StackInstance<'_> {
    /// Returns the entries of a section, including those of loops, each with the meaning of its names.
    pub(super) fn declared(&self, section: &str) -> Vec<(NodeEntry, LoopNames)> {
        self.unrolled(self.template.section(section), &LoopNames::default(), 0)
    }

    pub(super) fn unrolled(
        &self,
        entries: &[NodeEntry],
        names: &LoopNames,
        depth: usize,
    ) -> Vec<(NodeEntry, LoopNames)> {
        let mut all = Vec::new();
        for entry in entries {
            if !entry.key.starts_with(LOOP) || depth >= DEEPEST {
                all.push((entry.clone(), names.clone()));
                continue;
            }
            let [name, collection, body, ..] = entry.value.items() else { continue };
            let Some(name) = name.text() else { continue };
            for inner in self.turns(name, collection, names) {
                if !self.state.spend(TURN) {
                    break;
                }
                all.extend(self.turn(body, &inner, depth));
            }
        }
        all
    }

    /// Returns the meaning of names in each iteration. If the collection is unknown, returns one iteration that may not
    /// exist.
    fn turns(&self, name: &Arc<str>, collection: &Node, names: &LoopNames) -> Vec<LoopNames> {
        let members = self.value(collection, names);
        if let Some(cause) = members.cause() {
            let member = HclValue::because(cause, collection.span);
            return vec![names.with(name, member).doubted(cause)];
        }
        members.items().iter().map(|member| names.with(name, member.clone())).collect()
    }

    fn turn(&self, body: &Node, names: &LoopNames, depth: usize) -> Vec<(NodeEntry, LoopNames)> {
        let entries = body.entries().iter().map(|entry| {
            let key = self.filled(&entry.key, entry.key_span, names);
            NodeEntry { key, ..entry.clone() }
        });
        let entries: Vec<NodeEntry> = entries.collect();
        self.unrolled(&entries, names, depth + 1)
    }
}
