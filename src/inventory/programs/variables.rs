//! Defines the variables of a command: those on its own line, and those of the surrounding scripts.

use std::collections::BTreeMap;
use std::iter::successors;
use std::sync::Arc;

use super::table::{TABLE, normalize_variable};
use super::words::CommandWord;

/// The variables of one level. Clones share the surrounding variables, because a script may have as many commands as
/// variables.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    own: BTreeMap<String, CommandWord>,
    around: Option<Arc<Level>>,
}

#[derive(Debug)]
struct Level {
    all: BTreeMap<String, CommandWord>,
    /// The relevant variables of this level and the surrounding ones, by normalized name.
    telling: BTreeMap<String, CommandWord>,
    around: Option<Arc<Level>>,
}

impl Variables {
    pub(super) fn get(&self, name: &str) -> Option<&CommandWord> {
        let levels = successors(self.around.as_deref(), |level| level.around.as_deref());
        self.own.get(name).or_else(|| levels.into_iter().find_map(|level| level.all.get(name)))
    }

    pub(super) fn set(&mut self, name: impl Into<String>, value: CommandWord) {
        self.own.insert(name.into(), value);
    }

    /// Returns the variables of a command in a script that runs with these variables.
    pub(super) fn inside(&self) -> Variables {
        if self.own.is_empty() {
            return self.clone();
        }
        let telling = self.telling().into_iter().map(|(name, token)| (name, token.clone())).collect();
        let level = Level { all: self.own.clone(), telling, around: self.around.clone() };
        Variables { own: BTreeMap::new(), around: Some(Arc::new(level)) }
    }

    /// Returns the variables that some program reads, by normalized name.
    pub(super) fn telling(&self) -> BTreeMap<String, &CommandWord> {
        let mut telling = BTreeMap::new();
        for (name, token) in &self.own {
            let name = normalize_variable(name);
            if TABLE.reads_variable(&name) {
                telling.entry(name).or_insert(token);
            }
        }
        for (name, token) in self.around.iter().flat_map(|level| &level.telling) {
            telling.entry(name.clone()).or_insert(token);
        }
        telling
    }
}
