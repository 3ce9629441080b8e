//! Compares two states of a tree: what a change did to resources, to findings and to what was not evaluated, and
//! whether it passes.
//!
//! 1. `compare` compares the states: changed resources (`Delta`), cost that the change hides (`lost`), growth outside
//!    of the totals (`uncounted`), and changed files whose cost effect is unknown (`unexplained`);
//! 2. each state gets its own decisions about suppressions and the baseline;
//! 3. `reconsider` reopens findings that suppressions no longer cover (`outgrown`);
//! 4. `findings` pairs the findings of both states and decides whether the change passes.

mod budgets;
mod elsewhere;
mod expanded_suppressions;
mod findings;
mod gate;
mod left_alone;
mod links;
mod lost;
mod state;
mod tokens;
mod uncounted;
mod unexplained;
mod unjudged;

use std::collections::HashSet;

use crate::analysis::Analysis;
use crate::inventory::UnjudgedStatus;
use crate::pricing::{Delta, Side, delta};
use crate::rules::{Earlier, RuleContext};

pub use budgets::{BudgetUsage, budgets};
pub(crate) use findings::{EvaluatedState, Reconsidered, findings, reconsider};
pub(crate) use gate::{Gate, LevelThreshold};
pub(crate) use lost::{classify_unevaluated_saved, mark_saved, text_of};
pub(crate) use state::{Touched, TreeState};
pub(crate) use unjudged::note as note_unjudged;

/// Compares the resources of both states. Adds to the later state the findings of rules about changes, and the changes
/// whose cost effect is unknown.
pub(crate) fn compare(
    base: &TreeState,
    before: &Analysis,
    head: &TreeState,
    after: &mut Analysis,
    touched: &Touched,
) -> Delta {
    lost::classify_unevaluated(base, before, head, after);
    let mut change = difference(before.side(base.sources), after.side(head.sources));
    let kept = left_alone::keep(before, after, &change);
    if !kept.is_empty() {
        change = difference(before.side(base.sources), after.side(head.sources));
        left_alone::keep_ignored_changes(&mut change, kept);
    }
    let elsewhere = elsewhere::lose((base, before), (head, after), &mut change, touched);
    let earlier = Earlier { inventory: &before.inventory, bill: &before.bill };
    let world = RuleContext { delta: Some(&change), before: Some(earlier), ..after.world(head.settings) };
    let judgement = head.settings.rules.judge_change(&world);
    after.findings.extend(judgement.findings);
    after.undetermined.extend(judgement.undetermined);
    after.broken_rules.extend(judgement.failures);
    let gone = lost::gone(&change, before.side(base.sources), after.side(head.sources));
    lost::mark(&mut after.inventory.unjudged, &gone, head.sources);
    let uncounted = uncounted::grown(base, before, head, after, &change);
    after.inventory.unjudged.extend(uncounted);
    after.inventory.unjudged.extend(elsewhere);
    let mut unjudged = std::mem::take(&mut after.inventory.unjudged);
    let states = unexplained::ChangedStates { base, before, head, after };
    let not_explained = unexplained::not_explained(&states, touched, &mut unjudged);
    let open = unjudged.iter().filter(|it| it.standing != UnjudgedStatus::AsBefore);
    let said: HashSet<String> = open.map(|it| it.path.clone()).collect();
    unjudged.extend(not_explained.into_iter().filter(|it| !said.contains(&it.path)));
    after.inventory.unjudged = unjudged;
    after.bill.set_unread(&after.inventory);
    change.sum_up(&before.side(base.sources), &after.side(head.sources));
    change
}

/// Returns the changed resources, those that became unknown, and those that became known.
pub(crate) fn difference(before: Side, after: Side) -> Delta {
    let mut delta = delta(before, after);
    lost::lose(&mut delta, before, after);
    lost::gain(&mut delta, before, after);
    delta
}
