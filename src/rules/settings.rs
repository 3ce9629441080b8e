//! What a configuration says about rules. The rules are told; they never read a configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::KnownNames;
use crate::diagnostic::Level;
use crate::source::{Date, FileId, Span};

#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub profile: Profile,
    /// Rules, groups or `all`: these are on, whatever the profile says.
    pub select: Vec<(String, Option<Span>)>,
    /// Rules or groups: these are off.
    pub ignore: Vec<(String, Option<Span>)>,
    /// Rules that are on, whatever the profile and the others say.
    pub forced: BTreeSet<String>,
    /// Names that rules had once and none has any more: whoever says them says nothing wrong.
    pub removed: BTreeSet<String>,
    /// By the name of the rule.
    pub rules: BTreeMap<String, Override>,
    /// Label keys that everything must carry.
    pub required_labels: Vec<String>,
    /// The values that a label may have, by its key.
    pub label_values: BTreeMap<String, Vec<String>>,
    /// The accelerators that each purpose may use.
    pub tiers: BTreeMap<String, Vec<String>>,
    pub budgets: Vec<Budget>,
    pub limits: Vec<Limit>,
    /// Dollars a month above which a resource must carry a justification.
    pub approvals_above_usd: Option<f64>,
    /// The label on a pull request that is one.
    pub approving_label: Option<String>,
    /// The labels on the pull request, as the code host tells them.
    pub change_labels: Vec<String>,
    /// Settings for some paths, in the order in which they replace each other.
    pub layers: Vec<PathLayer>,
    /// What own pages may call things; none where nobody knows.
    pub names: Option<Arc<KnownNames>>,
}

impl Settings {
    /// Rules whose time has not come only note.
    pub fn stage(&mut self, today: Date) {
        let of_layers = self.layers.iter_mut().flat_map(|layer| layer.rules.values_mut());
        for set in self.rules.values_mut().chain(of_layers) {
            if set.note_until.is_some_and(|day| today <= day) {
                set.level = Some(Level::Note);
            }
        }
    }

    /// Calls rules as they are called now. What is set under the new name goes before.
    pub(super) fn rename(&mut self, former: &BTreeMap<String, String>) {
        rename(&mut self.rules, former);
        rename_all(&mut self.select, former);
        rename_all(&mut self.ignore, former);
        for layer in &mut self.layers {
            rename(&mut layer.rules, former);
            layer.select.iter_mut().chain(&mut layer.ignore).for_each(|names| rename_all(names, former));
        }
    }
}

fn rename(rules: &mut BTreeMap<String, Override>, former: &BTreeMap<String, String>) {
    for (old, new) in former {
        if let Some(set) = rules.remove(old) {
            rules.entry(new.clone()).or_insert(set);
        }
    }
}

fn rename_all(names: &mut [(String, Option<Span>)], former: &BTreeMap<String, String>) {
    for (name, _) in names {
        if let Some(new) = former.get(name) {
            name.clone_from(new);
        }
    }
}

/// What is set for some paths. What is none says nothing.
#[derive(Debug, Clone, Default)]
pub struct PathLayer {
    /// The forms of the paths, in which `*` stands for anything.
    pub patterns: Vec<String>,
    pub profile: Option<Profile>,
    pub select: Option<Vec<(String, Option<Span>)>>,
    pub ignore: Option<Vec<(String, Option<Span>)>>,
    pub rules: BTreeMap<String, Override>,
    pub required_labels: Option<Vec<String>>,
    pub label_values: BTreeMap<String, Vec<String>>,
    pub tiers: BTreeMap<String, Vec<String>>,
    pub approvals_above_usd: Option<f64>,
}

/// How many accelerators and machines there may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Whose they are, for messages: team search.
    pub name: String,
    /// The label that its resources carry, and the value; none: all of them.
    pub label: Option<(String, String)>,
    /// Of all of them together.
    pub accelerators: Option<f64>,
    pub machines: Option<f64>,
    /// Of each of them.
    pub resource_accelerators: Option<f64>,
    pub resource_machines: Option<f64>,
}

/// What some resources may cost together.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Whose it is, for messages: team search.
    pub name: String,
    /// The label that its resources carry, and the value; none: all of them.
    pub label: Option<(String, String)>,
    pub monthly_usd: f64,
}

/// How many rules are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Profile {
    /// What nobody argues with.
    Essential,
    #[default]
    Standard,
    All,
}

impl Profile {
    pub const ALL: [Profile; 3] = [Profile::Essential, Profile::Standard, Profile::All];

    pub fn name(self) -> &'static str {
        match self {
            Profile::Essential => "essential",
            Profile::Standard => "standard",
            Profile::All => "all",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }
}

/// What is set for one rule.
#[derive(Debug, Clone, Default)]
pub struct Override {
    /// Where the rule is named.
    pub span: Option<Span>,
    pub level: Option<Level>,
    /// Up to that day it only notes, whatever its level is then.
    pub note_until: Option<Date>,
    pub parameters: Vec<(String, Parameter, Option<Span>)>,
}

/// The value of a parameter as a configuration can write it.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Texts(Vec<String>),
    /// Laid over the map of the page, entry by entry.
    Map(Vec<(String, Parameter)>),
}

/// The text of a page that somebody wrote.
#[derive(Debug, Clone)]
pub struct PageText {
    pub path: String,
    pub text: std::sync::Arc<str>,
    pub file: FileId,
    /// The pack that ships it.
    pub pack: Option<PackName>,
}

/// A pack, as people call it, and where its pages stand for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackName {
    /// With its version: `platform 1.4.0`.
    pub name: String,
    /// An address in which `{rule}` is the name of the rule.
    pub pages: Option<String>,
}
