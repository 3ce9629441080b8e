use super::cover::Target;
use super::gather::Suppression;
use super::{Decided, Grounds, Listed, STALE, Suppressed, complaint};
use crate::diagnostic::Level;
use crate::rules::Finding;

/// Finds for each finding the suppression that covers it, and the suppressions that nothing needs any more.
pub(super) fn judge(
    findings: Vec<Finding>,
    suppressions: Vec<Suppression>,
    grounds: &Grounds,
    complaints: &mut Vec<Finding>,
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
fn tell(suppression: &Suppression, counts: &[usize], grounds: &Grounds, complaints: &mut Vec<Finding>) {
    if let Some(until) = suppression.until.filter(|_| suppression.has_expired(grounds)) {
        let message = format!("this suppression ended on {until}");
        let help = Some("act on the findings, or give it a new date and say why".to_owned());
        complaints.push(complaint(STALE, Level::Warning, message, help, suppression.span));
        return;
    }
    for ((rule, span), count) in suppression.rules.iter().zip(counts) {
        if *count == 0 && grounds.ran.contains(rule) {
            let message = format!("nothing here needs `{rule}` to be ignored");
            let span = if matches!(suppression.target, Target::Resource(_)) { suppression.span } else { *span };
            complaints.push(complaint(STALE, Level::Note, message, Some("remove it".to_owned()), span));
        }
    }
}

impl Suppression {
    fn has_expired(&self, grounds: &Grounds) -> bool {
        self.until.is_some_and(|until| until < grounds.today)
    }
}
