use super::cover::Target;
use super::gather::Suppression;
use super::{Complaints, Decided, Grounds, Listed, Suppressed};
use crate::rules::{Finding, LooksAt};

/// Finds for each finding the suppression that covers it, and the suppressions that nothing needs any more.
pub(super) fn judge(
    findings: Vec<Finding>,
    suppressions: Vec<Suppression>,
    grounds: &Grounds,
    complaints: &mut Complaints,
) -> (Vec<Decided>, Vec<Listed>) {
    let mut silences: Vec<Vec<usize>> = suppressions.iter().map(|it| vec![0; it.rules.len()]).collect();
    let mut decided = Vec::with_capacity(findings.len());
    for finding in findings {
        let mut suppressed = None;
        for (suppression, counts) in suppressions.iter().zip(&mut silences) {
            let named = suppression.rules.iter().position(|(rule, _)| *rule == finding.rule);
            let Some(named) = named.filter(|_| suppression.target.covers(&finding, grounds)) else { continue };
            if let Some(count) = counts.get_mut(named) {
                *count += 1;
            }
            if !suppression.has_expired(grounds) && suppressed.is_none() {
                let (reason, until) = (suppression.reason.clone(), suppression.until);
                suppressed = Some(Suppressed { reason, until, span: suppression.span });
            }
        }
        decided.push(Decided { finding, suppressed, baselined: None });
    }
    let mut listed = Vec::new();
    for (suppression, counts) in suppressions.into_iter().zip(silences) {
        tell(&suppression, &counts, grounds, complaints);
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

/// Says what has expired and what was not needed.
fn tell(suppression: &Suppression, counts: &[usize], grounds: &Grounds, complaints: &mut Complaints) {
    if let Some(until) = suppression.until.filter(|_| suppression.has_expired(grounds)) {
        let message = format!("this suppression ended on {until}");
        complaints.stale(message, "act on the findings, or give it a new date and say why", suppression.span);
        return;
    }
    for ((rule, span), count) in suppression.rules.iter().zip(counts) {
        if *count == 0 && grounds.rules.is_on(rule) && !waits_for_a_change(grounds, rule) {
            let message = format!("nothing here needs `{rule}` to be ignored");
            let span = if matches!(suppression.target, Target::Annotated { .. }) { suppression.span } else { *span };
            complaints.stale(message, "remove it", span);
        }
    }
}

/// A rule about a change is silent where nothing is compared; that says nothing about what silences it.
fn waits_for_a_change(grounds: &Grounds, rule: &str) -> bool {
    grounds.rules.page(rule).is_some_and(|page| page.looks_at == LooksAt::Change)
}

impl Suppression {
    fn has_expired(&self, grounds: &Grounds) -> bool {
        self.until.is_some_and(|until| until < grounds.today)
    }
}
