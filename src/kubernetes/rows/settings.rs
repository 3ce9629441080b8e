//! What a program is told beside its arguments: trees of settings in an object, or in a text that an object carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::inventory::programs::{self, Setting};
use crate::inventory::{Fact, Origin};
use crate::languages::yaml::{self, Node, NodeData};
use crate::source::Span;

use super::table::ProgramSettings;
use crate::kubernetes::rows::facts::Facts;

/// Settings inside of settings.
const DEEPEST: usize = 24;

/// Leaves of one tree that are read.
const MOST: usize = 4096;

/// What a row's settings say. What is said in several ways is not known.
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

/// What a mapping says that asks for accelerators itself: charts keep the model beside the resources.
pub(in crate::kubernetes) fn declared_in(node: &Node) -> Facts {
    let mut leaves = Leaves::default();
    leaves.tree(node);
    programs::recognize_settings(None, &leaves.settings())
}

/// The values of a tree by their paths. What is for validation or tests beside training says nothing of it.
pub(in crate::kubernetes) fn leaves(root: &Node) -> Vec<Setting> {
    const ASIDE: [&str; 5] = ["val", "valid", "eval", "test", "inference"];
    let mut leaves = Leaves::default();
    leaves.tree(root);
    let is_aside = |setting: &Setting| {
        let mut words = setting.path.split(['.', '_']);
        words.any(|word| ASIDE.iter().any(|aside| word.starts_with(aside)))
    };
    leaves.settings().into_iter().filter(|setting| !is_aside(setting)).collect()
}

/// Values by their paths; positions in lists are left out, so that items of a list share theirs.
#[derive(Default)]
struct Leaves {
    by_path: BTreeMap<String, Vec<(Arc<str>, Span)>>,
    count: usize,
}

impl Leaves {
    /// A mapping, or the text of one: then everything in it stands where the text stands.
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
            // One value of several words, such as arguments.
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

    fn settings(self) -> Vec<Setting> {
        let setting = |(path, said): (String, Vec<(Arc<str>, Span)>)| {
            let (text, span) = said.first()?;
            let value = if said.iter().all(|(other, _)| other == text) {
                Fact::known(text.clone(), *span, Origin::Written)
            } else {
                Fact::unknown(format!("`{path}` has several values"), *span)
            };
            Some(Setting { path, value })
        };
        self.by_path.into_iter().filter_map(setting).collect()
    }
}
