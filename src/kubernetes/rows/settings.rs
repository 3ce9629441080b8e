//! Reads the settings of a program besides its arguments: trees of settings in an object, or in a string of an object.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::programs::{self, ProgramSetting};
use crate::inventory::{Fact, FactOrigin};
use crate::languages::yaml::{self, Node, NodeData};
use crate::source::Span;

use super::table::ProgramSettings;
use crate::kubernetes::rows::facts::Facts;

/// The limit on nested settings.
const DEEPEST: usize = 24;

/// The limit on leaves that are read from one tree.
const MOST: usize = 4096;

/// Returns the facts from the settings. A fact with contradicting settings is unknown.
pub(in crate::kubernetes) fn facts(rows: &[ProgramSettings], root: &Node) -> Facts {
    let mut facts = Facts::new();
    for row in rows {
        for found in row.at.all(root) {
            let mut leaves = Leaves::default();
            leaves.tree(found.node);
            for (key, fact) in programs::recognize_settings(row.program.as_deref(), &leaves.settings()) {
                facts.entry(key).or_insert(fact);
            }
        }
    }
    facts
}

/// Returns the facts in a mapping that requests accelerators. Charts have the model next to the resources.
pub(in crate::kubernetes) fn declared_in(node: &Node) -> Facts {
    let mut leaves = Leaves::default();
    leaves.tree(node);
    programs::recognize_settings(None, &leaves.settings())
}

/// Returns the values of a tree by path. Settings for validation or tests are ignored for training.
pub(in crate::kubernetes) fn leaves(root: &Node) -> Vec<ProgramSetting> {
    const ASIDE: [&str; 5] = ["val", "valid", "eval", "test", "inference"];
    let mut leaves = Leaves::default();
    leaves.tree(root);
    let is_aside = |setting: &ProgramSetting| {
        let mut words = setting.path.split(['.', '_']);
        words.any(|word| ASIDE.iter().any(|aside| word.starts_with(aside)))
    };
    leaves.settings().into_iter().filter(|setting| !is_aside(setting)).collect()
}

/// Values by path. Paths contain no list positions, so that all items of a list share a path.
#[derive(Default)]
struct Leaves {
    by_path: BTreeMap<String, Vec<(Arc<str>, Span)>>,
    count: usize,
}

impl Leaves {
    /// Reads a mapping, or a string that contains one. Values from a string have the position of the string.
    fn tree(&mut self, node: &Node) {
        let NodeData::Scalar { text, .. } = &node.data else { return self.node(node, "", None, 0) };
        for document in yaml::read(node.span.file, text).documents {
            self.node(&document.root, "", Some(node.span), 0);
        }
    }

    fn node(&mut self, node: &Node, path: &str, at: Option<Span>, depth: usize) {
        if depth > DEEPEST || self.count >= MOST {
            return;
        }
        match &node.data {
            NodeData::Scalar { text, .. } => {
                self.count += 1;
                self.by_path.entry(path.to_owned()).or_default().push((text.clone(), at.unwrap_or(node.span)));
            }
            // One value that consists of several words, such as arguments.
            NodeData::List(items) if !items.is_empty() && items.iter().all(|item| item.text().is_some()) => {
                self.count += items.len();
                let words: Vec<&str> = items.iter().filter_map(Node::text).map(|text| &**text).collect();
                let text = words.join(" ").into();
                self.by_path.entry(path.to_owned()).or_default().push((text, at.unwrap_or(node.span)));
            }
            NodeData::List(items) => items.iter().for_each(|item| self.node(item, path, at, depth + 1)),
            NodeData::Map(entries) => {
                for entry in entries.iter() {
                    let path = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
                    self.node(&entry.value, &path, at, depth + 1);
                }
            }
        }
    }

    fn settings(self) -> Vec<ProgramSetting> {
        let setting = |(path, said): (String, Vec<(Arc<str>, Span)>)| {
            let (text, span) = said.first()?;
            let value = if said.iter().all(|(other, _)| other == text) {
                Fact::known(text.clone(), *span, FactOrigin::Written)
            } else {
                Fact::unknown(format!("`{path}` has several values"), *span)
            };
            Some(ProgramSetting { path, value })
        };
        self.by_path.into_iter().filter_map(setting).collect()
    }
}
