//! Finds growth that another file of the same change hides. A file is applied to the earlier state alone: what then
//! costs more than before must cost as much in the later state.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Money, MoneyRange};
use crate::diagnostic::SkipKind;
use crate::inventory::{Declaration, Fact, Key, Unjudged};
use crate::pricing::Side;

/// The growth per month that is too small to report.
const SMALL: f64 = 1.0;

/// A declaration that a changed file makes more expensive, and that the whole change does not.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HiddenGrowth {
    /// Its kind and name.
    pub(crate) name: String,
    /// The file of the declaration.
    pub(crate) file: String,
    /// The cost per month that is missing in the later state.
    pub(crate) missing: Money,
}

/// The cost per month of each declaration, with all of its instances: by file, and by name in any file.
#[derive(Default)]
struct DeclaredCosts {
    of_file: BTreeMap<(String, String), MoneyRange>,
    of_name: BTreeMap<String, MoneyRange>,
    /// The names of pods that run on known machines of pools of the files.
    on_pools: BTreeSet<String>,
    /// Declarations with the price of an assumed accelerator, by file.
    assumed: BTreeSet<(String, String)>,
}

impl DeclaredCosts {
    fn of(side: Side) -> Self {
        let mut costs = DeclaredCosts::default();
        for (resource, item) in side.inventory.resources.iter().zip(&side.bill.items) {
            let Some(cost) = item.monthly.or(item.amount).filter(|_| resource.is_added()) else { continue };
            let Declaration { name, part, .. } = &resource.declared;
            let name = format!("{} {name}{part}", resource.kind);
            let key = (side.sources.path_of(resource.span), name.clone());
            if item.is_unnamed {
                costs.assumed.insert(key.clone());
            }
            *costs.of_file.entry(key).or_default() += cost;
            if resource.pools().next().is_some() && matches!(resource.fact(Key::Machine), Fact::Known(_)) {
                costs.on_pools.insert(name.clone());
            }
            let sum = costs.of_name.entry(name).or_default();
            *sum += cost;
        }
        costs
    }

    fn of_file(&self, key: &(String, String)) -> MoneyRange {
        self.of_file.get(key).copied().unwrap_or_default()
    }

    fn of_name(&self, name: &str) -> MoneyRange {
        self.of_name.get(name).copied().unwrap_or_default()
    }
}

/// Returns the declaration with the most growth that `alone` has and `after` lacks.
pub(crate) fn hidden_growth(before: Side, alone: Side, after: Side) -> Option<HiddenGrowth> {
    let (before, alone, after) = (DeclaredCosts::of(before), DeclaredCosts::of(alone), DeclaredCosts::of(after));
    let hidden = alone.of_file.iter().filter_map(|(key, is)| {
        let (was, later) = (before.of_file(key), after.of_file(key));
        // The declaration may have moved to another file.
        let (name, of_name) = (&key.1, alone.of_name(&key.1));
        // A new part may get its number from a new caller; then the caller decides, if there is anything.
        let begins = |before: MoneyRange, after| before == MoneyRange::ZERO && exceeds(after, MoneyRange::ZERO);
        let is_composed = begins(was, later) || begins(before.of_name(name), after.of_name(name));
        let is_hidden = exceeds(*is, was) && exceeds(*is, later) && exceeds(of_name, after.of_name(name));
        let missing = (is.expected - was.expected).max(is.ceiling - was.ceiling);
        // With one file of a renaming or of a migration, the pool is missing; with one file of a new variable, its value.
        // The pods then have the price of an assumed machine, and so they have in the later state if the pool stays away.
        let loses_pool = before.on_pools.contains(name) && alone.assumed.contains(key);
        (is_hidden && !is_composed && !loses_pool).then(|| HiddenGrowth {
            name: name.clone(),
            file: key.0.clone(),
            missing,
        })
    });
    hidden.max_by_key(|it| (it.missing, std::cmp::Reverse(it.name.clone())))
}

fn exceeds(cost: MoneyRange, other: MoneyRange) -> bool {
    let is_above = |cost: Money, other: Money| (cost - other).usd() > SMALL;
    is_above(cost.expected, other.expected) || is_above(cost.ceiling, other.ceiling)
}

impl HiddenGrowth {
    /// Returns the entry of a report that fails the change. `hiding` are the files without which the growth shows.
    pub(crate) fn entry(&self, path: &str, hiding: &[String], amount: impl Fn(Money) -> String) -> Unjudged {
        let files = match hiding {
            [] => "the other files of this change".to_owned(),
            files => files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(" and "),
        };
        let reason = format!(
            "this file alone adds {}/month to {}, and {files} of the same change {} it from the total",
            amount(self.missing),
            self.name,
            if hiding.len() == 1 { "removes" } else { "remove" },
        );
        Unjudged::new(SkipKind::HiddenGrowth, path, reason).with_cure("make the changes in separate pull requests")
    }
}
