//! Decides which findings a change adds, worsens, fixes or suppresses, and whether it passes.

use std::collections::{HashMap, HashSet};

use super::expanded_suppressions::{self, ExpandedSuppressions, SuppressionStates};
use super::lost::UndecidedSubject;
use super::state::TreeState;
use super::tokens::note_token_costs;
use super::{BudgetUsage, Gate, budgets, difference, lost};
use crate::analysis::Analysis;
use crate::catalog::Money;
use crate::decide::{self, Decided, Decision, Verdict, WorseThreshold};
use crate::inventory::{Inventory, ResourceId};
use crate::pricing::{Bill, ChangeKind, Delta, Period, Side};
use crate::rules::{Finding, RuleTotal, Undetermined};
use crate::source::{SourceFiles, Span};

/// One state of the tree, with the decisions about its findings.
#[derive(Clone, Copy)]
pub(crate) struct EvaluatedState<'a> {
    pub(crate) sources: &'a SourceFiles,
    pub(crate) inventory: &'a Inventory,
    pub(crate) bill: &'a Bill,
    pub(crate) findings: &'a [Decided],
    pub(crate) undetermined: &'a [Undetermined],
    pub(crate) totals: &'a [(String, RuleTotal)],
}

impl<'a> EvaluatedState<'a> {
    fn of(state: &TreeState<'a>, analysis: &'a Analysis, decision: &'a Decision) -> EvaluatedState<'a> {
        EvaluatedState {
            sources: state.sources,
            inventory: &analysis.inventory,
            bill: &analysis.bill,
            findings: &decision.findings,
            undetermined: &analysis.undetermined,
            totals: &analysis.totals,
        }
    }

    pub(crate) fn side(&self) -> Side<'a> {
        Side { sources: self.sources, inventory: self.inventory, bill: self.bill }
    }

    /// Returns the indexes of findings that are not suppressed.
    fn counting(&self, places: impl IntoIterator<Item = usize>) -> Vec<usize> {
        places.into_iter().filter(|at| self.findings.get(*at).is_some_and(Decided::counts)).collect()
    }
}

/// Two decided states, with their suppressions.
pub(crate) struct Reconsidered {
    delta: Delta,
    /// The earlier resource of each later one.
    selves: HashMap<ResourceId, ResourceId>,
    budgets: Vec<BudgetUsage>,
    /// Resources whose cost the change clearly raised.
    grown: HashSet<ResourceId>,
    outgrown: ExpandedSuppressions,
    /// Suppressions of the earlier state that the change removes: rules and places.
    pub(crate) removed: Vec<(String, Span)>,
}

impl Reconsidered {
    /// Creates the comparison of two saved reports. Their suppressions cannot be checked, because a report contains no
    /// files.
    pub(crate) fn without_text(gate: &Gate, before: &EvaluatedState, after: &EvaluatedState) -> Reconsidered {
        let delta = difference(before.side(), after.side());
        let grown = grown(&delta, gate.growth, before, after);
        let (selves, budgets) = (earlier_selves(&delta), budgets(before.totals, after.totals));
        Reconsidered { delta, selves, budgets, grown, outgrown: ExpandedSuppressions::default(), removed: Vec::new() }
    }
}

/// Compares the decisions of both states. Reopens findings that suppressions no longer cover, and lists checks that
/// can no longer be evaluated. Adds to each finding the cost of the change and the changed line.
pub(crate) fn reconsider(
    change: &Delta,
    gate: &Gate,
    (base, before, earlier): (&TreeState, &Analysis, &Decision),
    (head, after, later): (&TreeState, &mut Analysis, &mut Decision),
) -> Reconsidered {
    let stopped = earlier.findings.iter().filter(|it| gate.stops(it)).map(|it| &it.finding);
    let selves = earlier_selves(change);
    let undecided = lost::undecided(stopped, &selves, (base.sources, before), (head.sources, after, &later.findings));
    let has_more = !undecided.is_empty();
    after.inventory.unjudged.extend(undecided);
    after.bill.set_unread(&after.inventory);
    let (was, is) = (EvaluatedState::of(base, before, earlier), EvaluatedState::of(head, after, later));
    let mut delta = change.clone();
    if has_more {
        lost::lose(&mut delta, was.side(), is.side());
        delta.sum_up(&was.side(), &is.side());
    }
    let grown = grown(&delta, gate.growth, &was, &is);
    note_token_costs(&mut delta, before, after);
    let (old, new) = (&earlier.suppressions, &later.suppressions);
    let states =
        SuppressionStates { before: &was, earlier: old, after: &is, later: new, selves: &selves, grown: &grown };
    let (outgrown, removed) = (states.outgrown(), states.removed());
    for at in &outgrown.reopened {
        later.findings.get_mut(*at).into_iter().for_each(expanded_suppressions::reopen);
    }
    let budgets = budgets(&before.totals, &after.totals);
    for decided in &mut later.findings {
        if let Some(added) = added(&decided.finding, &budgets) {
            decided.finding.message.push_str(&format!("; this change adds {}/month", (head.amount)(added)));
        }
    }
    let visible: HashSet<ResourceId> = change.visible().filter_map(|change| change.after).collect();
    let touched = later.findings.iter_mut().filter(|it| it.finding.resource.is_some_and(|id| visible.contains(&id)));
    decide::point_at_change(touched, base.sources, head.sources);
    Reconsidered { delta, selves, budgets, grown, outgrown, removed }
}

/// Pairs of indexes of the findings that count, in both states.
pub(crate) struct Findings {
    pub(crate) delta: Delta,
    pub(crate) new: Vec<usize>,
    /// Findings that existed before and got worse: their cost clearly rose, or they cover more.
    pub(crate) grown: Vec<usize>,
    pub(crate) unchanged: Vec<usize>,
    /// Indexes in the earlier state.
    pub(crate) fixed: Vec<usize>,
    /// Findings that the change suppresses. A reviewer should see who accepts what.
    pub(crate) accepted: Vec<usize>,
    pub(crate) budgets: Vec<BudgetUsage>,
    pub(crate) verdict: Verdict,
    pub(crate) blocked: bool,
}

/// Pairs the findings of both states. `text` returns what a finding without a resource is about.
pub(crate) fn findings(
    gate: &Gate,
    before: &EvaluatedState,
    after: &EvaluatedState,
    reconsidered: Reconsidered,
    text: &dyn Fn(&SourceFiles, &Finding) -> String,
) -> Findings {
    let Reconsidered { delta, selves, budgets, grown, outgrown, .. } = reconsidered;
    let earlier = identities(before, text, Some);
    let later = identities(after, text, |id| selves.get(&id).copied());
    let accepted = newly_accepted(before, &earlier, after, &later, &outgrown.renewed);
    let compared = decide::compare(&earlier, &later);
    let is_worse = |at: &usize| {
        let Some(decided) = after.findings.get(*at) else { return false };
        outgrown.reopened.contains(at)
            || has_grown(&decided.finding, &budgets)
            || is_larger(&decided.finding, before)
            || decided.finding.resource.is_some_and(|id| grown.contains(&id))
    };
    let (worse, unchanged): (Vec<usize>, Vec<usize>) = compared.unchanged.iter().partition(|at| is_worse(at));
    let (new, more) = apart_from_known_text(after, compared.new, &compared.unchanged);
    let undecided: HashSet<(&str, UndecidedSubject)> = {
        let all = after.undetermined.iter();
        all.filter_map(|it| Some((it.rule.as_str(), UndecidedSubject::now(it, &selves, after.sources)?))).collect()
    };
    // A finding that can no longer be evaluated is not fixed.
    let lost: HashSet<ResourceId> = delta.changes.iter().filter(|it| it.is_lost()).filter_map(|it| it.before).collect();
    let is_undecided = |at: &usize| {
        let finding = before.findings.get(*at).map(|it| &it.finding);
        finding.is_some_and(|it| {
            it.resource.is_some_and(|id| lost.contains(&id))
                || undecided.contains(&(it.rule.as_str(), UndecidedSubject::of_finding(it, before.sources)))
        })
    };
    let (new, grown) = (after.counting(new), after.counting([worse, more].concat()));
    let counting = new.iter().chain(&grown).filter_map(|at| after.findings.get(*at));
    let (verdict, blocked) = gate.decide(counting, &after.inventory.unjudged);
    Findings {
        new,
        grown,
        unchanged: after.counting(unchanged),
        fixed: before.counting(compared.fixed.into_iter().filter(|at| !is_undecided(at))),
        accepted,
        budgets,
        verdict,
        blocked,
        delta,
    }
}

/// Splits new findings into those about new code, and those about more instances of a block that already had this
/// finding.
fn apart_from_known_text(state: &EvaluatedState, new: Vec<usize>, unchanged: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let text = |at: &usize| {
        let finding = &state.findings.get(*at)?.finding;
        let resource = finding.resource.and_then(|id| state.inventory.resources.get(id.0));
        let span = resource.map_or(finding.span, |it| it.span);
        Some((finding.rule.clone(), state.sources.origin(span)))
    };
    let known: HashSet<_> = unchanged.iter().filter_map(text).collect();
    new.into_iter().partition(|at| text(at).is_none_or(|text| !known.contains(&text)))
}

/// Returns the identity of a finding in both states: its rule and resource, or its file and content without a resource.
fn identities(
    state: &EvaluatedState,
    text: &dyn Fn(&SourceFiles, &Finding) -> String,
    resource: impl Fn(ResourceId) -> Option<ResourceId>,
) -> Vec<(String, String)> {
    let mut unpaired: HashMap<ResourceId, usize> = HashMap::new();
    let path = |finding: &Finding| state.sources.path(finding.span.file);
    let identity = |decided: &Decided| {
        let finding = &decided.finding;
        let about = match finding.resource {
            Some(id) => match resource(id) {
                Some(earlier) => format!("resource {}", earlier.0),
                None => {
                    let next = unpaired.len();
                    format!("new {}", unpaired.entry(id).or_insert(next))
                }
            },
            None => match (&finding.total, &finding.piece) {
                (Some(total), _) => format!("total {}", total.name),
                (None, Some(piece)) => format!("{} {}", path(finding), piece.address),
                (None, None) => format!("{} {}", path(finding), text(state.sources, finding)),
            },
        };
        (finding.rule.clone(), about)
    };
    state.findings.iter().map(identity).collect()
}

/// Returns the earlier resource of each later one.
fn earlier_selves(delta: &Delta) -> HashMap<ResourceId, ResourceId> {
    delta.changes.iter().filter_map(|change| change.after.zip(change.before)).collect()
}

fn budget_of<'b>(finding: &Finding, budgets: &'b [BudgetUsage]) -> Option<&'b BudgetUsage> {
    let total = finding.total.as_ref()?;
    budgets.iter().find(|it| it.is_of(&finding.rule, total))
}

/// Returns true if the cost of the finding's budget rises.
fn has_grown(finding: &Finding, budgets: &[BudgetUsage]) -> bool {
    budget_of(finding, budgets).is_some_and(|it| it.before.is_some_and(|before| it.after > before))
}

/// Returns true if the total of the finding has a size, and it was smaller before.
fn is_larger(finding: &Finding, before: &EvaluatedState) -> bool {
    let Some((total, size)) = finding.total.as_ref().and_then(|total| Some((total, total.size?))) else { return false };
    let of_rule = before.findings.iter().filter(|it| it.finding.rule == finding.rule);
    let earlier = of_rule.filter_map(|it| it.finding.total.as_ref()).find(|it| it.name == total.name);
    earlier.and_then(|it| it.size).is_some_and(|earlier| size > earlier)
}

/// Returns the cost that a change adds to the budget of a finding.
fn added(finding: &Finding, budgets: &[BudgetUsage]) -> Option<Money> {
    let spent = budget_of(finding, budgets)?;
    // Without an earlier amount, the part that the change adds is unknown.
    let added = spent.after - spent.before?;
    (added > Money::ZERO).then_some(added)
}

/// Returns resources whose cost the change clearly raised: earlier findings about them are worse now.
fn grown(
    delta: &Delta,
    growth: WorseThreshold,
    before: &EvaluatedState,
    after: &EvaluatedState,
) -> HashSet<ResourceId> {
    let cost = |state: &EvaluatedState, id: ResourceId| {
        let item = state.bill.items.get(id.0)?;
        Some((item.per, item.amount?, item.per_hour))
    };
    let changed = delta.changes.iter().filter(|change| change.kind == ChangeKind::Changed);
    let grown = changed.filter_map(|change| {
        let (earlier, later) = (change.before?, change.after?);
        let ((per, before, hour), (per_after, after, hour_after)) = (cost(before, earlier)?, cost(after, later)?);
        let (before, after) = match (per, per_after) {
            _ if per == per_after => (before, after),
            // A new limit on the duration does not raise the cost of an hour.
            (Period::Hour, Period::Run) => (hour?, hour_after?),
            _ => return Some(later),
        };
        let is_dearer = |before: Money, after: Money| growth.is_dearer(before.usd(), after.usd());
        (is_dearer(before.expected, after.expected) || is_dearer(before.ceiling, after.ceiling)).then_some(later)
    });
    grown.collect()
}

fn newly_accepted(
    before: &EvaluatedState,
    earlier: &[(String, String)],
    after: &EvaluatedState,
    later: &[(String, String)],
    renewed: &[usize],
) -> Vec<usize> {
    let suppressed = before.findings.iter().map(|decided| decided.suppressed.is_some());
    let known: HashSet<&(String, String)> =
        earlier.iter().zip(suppressed).filter(|(_, is)| *is).map(|(identity, _)| identity).collect();
    let is_news = |at: usize, identity| renewed.contains(&at) || !known.contains(identity);
    let of_after = after.findings.iter().zip(later).enumerate();
    let accepted = of_after.filter(|(at, (it, identity))| it.suppressed.is_some() && is_news(*at, *identity));
    accepted.map(|(at, _)| at).collect()
}
