//! `Fn::ForEach`: entries of a section that a loop makes, once for each member of a collection.

use std::sync::Arc;

use crate::languages::hcl::value::Value;
use crate::languages::yaml::{Node, NodeEntry};

use super::evaluate::LoopNames;
use super::stack::StackInstance;

pub(super) const LOOP: &str = "Fn::ForEach::";

/// What a turn of a loop costs: a stack has 500 resources at most, and loops in loops make any number.
const TURN: u64 = 200;

/// Loops inside loops, more than AWS allows.
const DEEPEST: usize = 6;

impl StackInstance<'_> {
    /// The entries of a section, those of loops among them, with what names mean in each.
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
                if !self.spend_many(TURN) {
                    break;
                }
                all.extend(self.turn(body, &inner, depth));
            }
        }
        all
    }

    /// What names mean in each turn of a loop; where its collection is not known, in one that may be there.
    fn turns(&self, name: &Arc<str>, collection: &Node, names: &LoopNames) -> Vec<LoopNames> {
        let members = self.value(collection, names);
        if let Some(cause) = members.cause() {
            let member = Value::because(cause, collection.span);
            return vec![names.with(name, member).doubted(cause)];
        }
        members.items().iter().map(|member| names.with(name, member.clone())).collect()
    }

    fn turn(&self, body: &Node, names: &LoopNames, depth: usize) -> Vec<(NodeEntry, LoopNames)> {
        let entries = body.entries().iter().map(|entry| NodeEntry { key: names.filled(&entry.key), ..entry.clone() });
        let entries: Vec<NodeEntry> = entries.collect();
        self.unrolled(&entries, names, depth + 1)
    }
}
