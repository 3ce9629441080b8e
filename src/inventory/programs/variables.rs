//! The variables of a command: those that its own line sets, and those around it, script by script.

use std::collections::BTreeMap;
use std::iter::successors;
use std::sync::Arc;

use super::table::{TABLE, normalize_variable};
use super::words::CommandWord;

/// A clone shares what is around: a script may have as many commands as its environment has variables.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    own: BTreeMap<String, CommandWord>,
    around: Option<Arc<Level>>,
}

#[derive(Debug)]
struct Level {
    all: BTreeMap<String, CommandWord>,
    /// Of these and of those around them, by their usual spelling.
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

    /// The variables of a command of a script that is run with these.
    pub(super) fn inside(&self) -> Variables {
        if self.own.is_empty() {
            return self.clone();
        }
        let telling = self.telling().into_iter().map(|(name, token)| (name, token.clone())).collect();
        let level = Level { all: self.own.clone(), telling, around: self.around.clone() };
        Variables { own: BTreeMap::new(), around: Some(Arc::new(level)) }
    }

    /// Those that some program reads, by their usual spelling.
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
