//! Compares two states of a tree: what a change did to resources, to findings and to what was not evaluated, and
//! whether it passes.
//!
//! 1. `compare` compares the states: changed resources (`Delta`), cost that the change hides (`lost`), growth outside
//!    of the totals (`uncounted`), and changed files whose cost effect is unknown (`unexplained`);
//! 2. each state gets its own decisions about suppressions and the baseline;
//! 3. `reconsider` reopens findings that suppressions no longer cover (`outgrown`);
//! 4. `findings` pairs the findings of both states and decides whether the change passes.

mod alone;
mod block_values;
mod budgets;
mod deciding_lines;
mod elsewhere;
mod expanded_suppressions;
mod findings;
mod gate;
mod left_alone;
mod links;
mod local_commands;
mod lost;
mod not_read;
mod own_runs;
mod removed_limits;
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

pub(crate) use alone::{HiddenGrowth, hidden_growth};
pub use budgets::{BudgetUsage, budgets};
pub(crate) use findings::{EvaluatedState, Reconsidered, findings, reconsider};
pub(crate) use gate::{Gate, LevelThreshold};
pub(crate) use lost::{classify_unevaluated_saved, mark as mark_lost, text_of};
pub(crate) use not_read::not_read;
pub(crate) use removed_limits::removed_limits;
use state::ComparedStates;
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
    let mut states = ComparedStates { base, before, head, after, touched };
    lost::classify_unevaluated(&mut states);
    let mut change = difference(states.earlier(), states.later());
    let kept = left_alone::keep(&mut states, &change);
    if !kept.is_empty() {
        change = difference(states.earlier(), states.later());
        left_alone::keep_ignored_changes(&mut change, kept);
    }
    let elsewhere = elsewhere::lose(&states, &mut change);
    judge_change(&mut states, &change);
    let mut unjudged = std::mem::take(&mut states.after.inventory.unjudged);
    lost::mark(&mut unjudged, &change, states.earlier(), states.later());
    let uncounted = uncounted::grown(&states, &change, &unjudged);
    unjudged.extend(uncounted);
    unjudged.extend(elsewhere);
    let not_explained = unexplained::not_explained(&states, &mut unjudged);
    let open = unjudged.iter().filter(|it| it.standing != UnjudgedStatus::AsBefore);
    let said: HashSet<String> = open.map(|it| it.path.clone()).collect();
    unjudged.extend(not_explained.into_iter().filter(|it| !said.contains(&it.path)));
    states.after.inventory.unjudged = unjudged;
    states.after.bill.set_unread(&states.after.inventory);
    change.sum_up(&states.earlier(), &states.later());
    change
}

/// Adds the findings of rules about changes to the later state.
fn judge_change(states: &mut ComparedStates, change: &Delta) {
    let settings = states.head.settings;
    let earlier = Earlier { inventory: &states.before.inventory, bill: &states.before.bill };
    let world = RuleContext { delta: Some(change), before: Some(earlier), ..states.after.world(settings) };
    let judgement = settings.rules.judge_change(&world);
    states.after.findings.extend(judgement.findings);
    states.after.undetermined.extend(judgement.undetermined);
    states.after.broken_rules.extend(judgement.failures);
}

/// Returns the changed resources, those that became unknown, and those that became known.
pub(crate) fn difference(before: Side, after: Side) -> Delta {
    let mut delta = delta(before, after);
    lost::lose(&mut delta, before, after);
    lost::gain(&mut delta, before, after);
    delta
}
