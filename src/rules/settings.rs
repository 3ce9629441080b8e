//! Defines settings for rules. The caller passes them; rules never read a settings file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::KnownNames;
use crate::diagnostic::Level;
use crate::source::{Date, FileId, Span};

#[derive(Debug, Clone, Default)]
pub struct RuleSettings {
    pub profile: Profile,
    /// Rules, groups or `all` that are on in every profile.
    pub select: Vec<(String, Option<Span>)>,
    /// Rules or groups that are off.
    pub ignore: Vec<(String, Option<Span>)>,
    /// Rules that are always on, regardless of the profile and of other settings.
    pub forced: BTreeSet<String>,
    /// Former names without a current rule; settings may still use them.
    pub removed: BTreeSet<String>,
    /// The settings by rule name.
    pub rules: BTreeMap<String, Override>,
    /// Label keys that every resource must have.
    pub required_labels: Vec<String>,
    /// Allowed values of each label, by its key.
    pub label_values: BTreeMap<String, Vec<String>>,
    /// Allowed accelerators for each purpose.
    pub tiers: BTreeMap<String, Vec<String>>,
    pub budgets: Vec<Budget>,
    pub limits: Vec<CountLimit>,
    /// Dollars per month above which a resource needs a justification.
    pub approvals_above_usd: Option<f64>,
    /// Accelerators above which a resource needs an approval.
    pub approvals_above_accelerators: Option<f64>,
    /// Accelerators that always need an approval.
    pub approvals_accelerators: Vec<String>,
    /// Who may approve, for messages.
    pub approvers: Option<String>,
    /// Approved resources.
    pub approved: Vec<ApprovedResource>,
    /// The label on a pull request that approves its cost.
    pub approving_label: Option<String>,
    /// Users and teams whose review approves a pull request.
    pub reviewers: Vec<String>,
    /// Those of them who approved the newest commit of the pull request, as the code host reports them.
    pub approved_by: Vec<String>,
    /// Dollars per month up to which a label or a review approves a resource.
    pub approves_up_to_usd: Option<f64>,
    /// Labels on the pull request, as the code host reports them.
    pub change_labels: Vec<String>,
    /// Whether the run compares a change whose labels or reviews the code host reports.
    pub is_pull_request: bool,
    /// The settings for some paths; a later layer overrides an earlier one.
    pub layers: Vec<PathSettings>,
    /// Names that custom rules can use; `None` if unknown.
    pub names: Option<Arc<KnownNames>>,
}

impl RuleSettings {
    /// Returns true if a budget, a limit, an approval or a parameter of `over-budget` limits what a change may add.
    pub(super) fn limits_growth(&self) -> bool {
        let amounts = self.rules.get("over-budget").into_iter().flat_map(|set| &set.parameters);
        let is_amount = |value: &ParameterValue| match value {
            ParameterValue::Integer(amount) => *amount > 0,
            ParameterValue::Number(amount) => *amount > 0.0,
            _ => false,
        };
        !self.budgets.is_empty()
            || !self.limits.is_empty()
            || self.approvals_above_usd.is_some()
            || self.approvals_above_accelerators.is_some()
            || !self.approvals_accelerators.is_empty()
            || amounts.into_iter().any(|(_, value, _)| is_amount(value))
    }

    /// Lowers rules whose start date is in the future to notes.
    pub fn stage(&mut self, today: Date) {
        let of_layers = self.layers.iter_mut().flat_map(|layer| layer.rules.values_mut());
        for set in self.rules.values_mut().chain(of_layers) {
            if set.note_until.is_some_and(|day| today <= day) {
                set.level = Some(Level::Note);
                set.undetermined = set.undetermined.map(|level| level.and(Some(Level::Note)));
            }
        }
    }

    /// Replaces former rule names by current ones. Settings under the current name win.
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

/// The settings for some paths. A value that is `None` changes nothing.
#[derive(Debug, Clone, Default)]
pub struct PathSettings {
    /// Patterns of the paths, in which `*` matches anything.
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

/// An approved resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovedResource {
    pub address: String,
    /// The pattern of its file.
    pub path: Option<String>,
    /// The approved dollars per month.
    pub usd: f64,
    pub until: Date,
}

/// A limit on accelerators and machines.
#[derive(Debug, Clone, PartialEq)]
pub struct CountLimit {
    /// The owner for messages: team search.
    pub name: String,
    /// Label and value of its resources; `None` for all resources.
    pub label: Option<(String, String)>,
    /// The limit for all resources together.
    pub accelerators: Option<f64>,
    pub machines: Option<f64>,
    /// The limit for each resource.
    pub resource_accelerators: Option<f64>,
    pub resource_machines: Option<f64>,
}

/// A limit on the cost of some resources together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Budget {
    /// The owner for messages: team search.
    pub name: String,
    /// Label and value of its resources; `None` for all resources.
    pub label: Option<(String, String)>,
    pub usd: f64,
    /// The months of its period: 1, 3 or 12.
    pub months: f64,
    pub until: Option<Date>,
    /// Who decides about it.
    pub owner: Option<String>,
    /// Whether it covers all repositories of the organization together.
    pub covers_organization: bool,
    /// What other repositories use of a budget of the organization.
    pub elsewhere: Option<UseElsewhere>,
    pub span: Option<Span>,
    /// The setting's file and line, for messages.
    pub place: Option<String>,
}

/// What other repositories use of a budget.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UseElsewhere {
    /// Dollars per month.
    pub usd: f64,
    pub repositories: usize,
    pub day: Option<Date>,
    /// The reason why it may be more.
    pub why_more: Option<String>,
}

impl UseElsewhere {
    pub fn unknown() -> Self {
        let why = "the use of other repositories is unknown: pass it with --organization";
        UseElsewhere { why_more: Some(why.to_owned()), ..UseElsewhere::default() }
    }
}

/// The number of rules that are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Profile {
    /// The profile turns on only rules that few teams dispute.
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

/// The settings of one rule.
#[derive(Debug, Clone, Default)]
pub struct Override {
    /// The place of the rule's name.
    pub span: Option<Span>,
    pub level: Option<Level>,
    /// The last day on which the rule reports only notes, regardless of its level.
    pub note_until: Option<Date>,
    /// The level of a finding if the rule cannot be evaluated. The outer `None` means that the setting is missing, the inner one means `off`.
    pub undetermined: Option<Option<Level>>,
    pub parameters: Vec<(String, ParameterValue, Option<Span>)>,
}

/// The value of a parameter in settings.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterValue {
    Flag(bool),
    Integer(i64),
    Number(f64),
    Text(String),
    Texts(Vec<String>),
    /// Entries that override those of the rule's map.
    Map(Vec<(String, ParameterValue)>),
}

/// The text of a custom rule file.
#[derive(Debug, Clone)]
pub struct PageText {
    pub path: String,
    pub text: std::sync::Arc<str>,
    pub file: FileId,
    /// The pack that contains it.
    pub pack: Option<PackName>,
    /// The level of a finding if the rule cannot be evaluated, unless the settings of the rule have one.
    pub undetermined: Option<Level>,
}

/// A pack, with the place of its published rule files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackName {
    /// The name with its version: `platform 1.4.0`.
    pub name: String,
    /// An address in which gpulint replaces `{rule}` by the name of the rule.
    pub pages: Option<String>,
}
