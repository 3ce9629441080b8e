//! Finds the suppression that covers each finding, and suppressions without an effect.

use super::cover::CoverTarget;
use super::gather::Suppression;
use super::index::Index;
use super::{Complaints, Decided, Listed, Suppressed, SuppressionContext};
use crate::rules::{Finding, LooksAt};

/// Finds the suppression that covers each finding, and suppressions without an effect.
pub(super) fn judge(
    findings: Vec<Finding>,
    suppressions: Vec<Suppression>,
    grounds: &SuppressionContext,
    complaints: &mut Complaints,
) -> (Vec<Decided>, Vec<Listed>) {
    let index = Index::new(&suppressions);
    let valid = |at: usize| suppressions.get(at).filter(|suppression| !suppression.has_expired(grounds));
    let firsts: Vec<Option<usize>> = index
        .groups
        .iter()
        .map(|group| group.members.iter().map(|(at, _)| *at).find(|at| valid(*at).is_some()))
        .collect();
    let mut covered = vec![0; index.groups.len()];
    let mut decided = Vec::with_capacity(findings.len());
    for finding in findings {
        let mut first: Option<usize> = None;
        for at in index.near(&finding, grounds) {
            let one = index.groups.get(at).and_then(|group| suppressions.get(group.members.first()?.0));
            if one.is_some_and(|one| one.target.covers(&finding, grounds)) {
                covered.get_mut(at).into_iter().for_each(|count| *count += 1);
                first = firsts.get(at).copied().flatten().into_iter().chain(first).min();
            }
        }
        let suppressed =
            first.and_then(valid).map(|it| Suppressed { reason: it.reason.clone(), until: it.until, span: it.span });
        decided.push(Decided { suppressed, ..Decided::new(finding, grounds.sources, grounds.inventory) });
    }
    let mut silences: Vec<Vec<usize>> = suppressions.iter().map(|it| vec![0; it.rules.len()]).collect();
    for (group, count) in index.groups.iter().zip(covered) {
        for &(at, named) in &group.members {
            silences.get_mut(at).and_then(|counts| counts.get_mut(named)).into_iter().for_each(|it| *it = count);
        }
    }
    drop(index);
    let mut listed = Vec::new();
    for (suppression, counts) in suppressions.into_iter().zip(silences) {
        report_stale_suppression(&suppression, &counts, grounds, complaints);
        listed.push(Listed {
            silences: if suppression.has_expired(grounds) { 0 } else { counts.iter().sum() },
            rules: suppression.rules.into_iter().map(|(rule, _)| rule).collect(),
            until: suppression.until,
            reason: suppression.reason,
            span: suppression.span,
        });
    }
    (decided, listed)
}

/// Reports suppressions that have expired or have no effect.
fn report_stale_suppression(
    suppression: &Suppression,
    counts: &[usize],
    grounds: &SuppressionContext,
    complaints: &mut Complaints,
) {
    if let Some(until) = suppression.until.filter(|_| suppression.has_expired(grounds)) {
        let message = format!("this suppression ended on {until}");
        complaints.stale(message, "fix the findings, or set a new date with a reason", suppression.span);
        return;
    }
    for ((rule, span), count) in suppression.rules.iter().zip(counts) {
        if *count == 0 && grounds.rules.is_on(rule) && !waits_for_a_change(grounds, rule) {
            let message = format!("`{rule}` reports nothing here, so this suppression has no effect");
            let span =
                if matches!(suppression.target, CoverTarget::Annotated { .. }) { suppression.span } else { *span };
            complaints.stale(message, "remove the suppression", span);
        }
    }
}

/// Returns true if a suppression may still be needed, because a rule about changes reports nothing without a
/// comparison.
fn waits_for_a_change(grounds: &SuppressionContext, rule: &str) -> bool {
    grounds.rules.page(rule).is_some_and(|page| page.looks_at == LooksAt::Change)
}

impl Suppression {
    fn has_expired(&self, grounds: &SuppressionContext) -> bool {
        self.until.is_some_and(|until| until < grounds.today)
    }
}
