//! What makes a run fail, and what it shows.

use std::collections::BTreeSet;

use crate::decide::{Decided, Growth, Verdict};
use crate::diagnostic::Level;
use crate::inventory::{Counted, Unjudged, UnjudgedStatus};
use crate::rules::Confidence;

/// From where on a finding stops, and is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threshold {
    pub(crate) level: Level,
    pub(crate) confidence: Confidence,
    pub(crate) shown: Confidence,
}

/// What makes a run fail, and what it shows.
pub(crate) struct Gate {
    pub(crate) usual: Threshold,
    /// Rules that a pack forbids to change, and what stops for them: nothing that the repository says of failing.
    pub(crate) forced: BTreeSet<String>,
    pub(crate) of_forced: Threshold,
    pub(crate) fails_on_unread: bool,
    /// Findings in examples and tests stop as others do.
    pub(crate) fails_on_examples: bool,
    /// Of a change: what is not explained fails as growth does.
    pub(crate) fails_on_unexplained: bool,
    /// What makes a finding worse.
    pub(crate) growth: Growth,
    /// The settings that decided, for people.
    pub(crate) setting: String,
}

impl Gate {
    /// The settings by which a verdict failed, or did not.
    pub(crate) fn decided_by(&self, verdict: Verdict, blocked: bool) -> String {
        match verdict {
            Verdict::NotJudged if blocked && self.fails_on_unexplained => {
                format!("{}, unexplained = \"fail\"", self.setting)
            }
            _ => self.setting.clone(),
        }
    }

    /// A note never stops anything, whatever was asked for, and what shows how something is used only where the settings say so.
    pub(crate) fn stops(&self, decided: &Decided) -> bool {
        let (finding, threshold) = (&decided.finding, self.threshold(decided));
        decided.counts()
            && (self.fails_on_examples || decided.counted != Counted::Example)
            && finding.level != Level::Note
            && finding.level >= threshold.level
            && finding.confidence >= threshold.confidence
    }

    fn threshold(&self, decided: &Decided) -> Threshold {
        if self.forced.contains(&decided.finding.rule) { self.of_forced } else { self.usual }
    }

    /// The verdict, and whether it ends the run with a failure. What was judged before a change and is not any more could
    /// have grown: it fails as growth does.
    pub(crate) fn decide<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Decided>,
        unjudged: &[Unjudged],
    ) -> (Verdict, bool) {
        let verdict = Verdict::new(findings.into_iter().any(|it| self.stops(it)), unjudged);
        let fails = match verdict {
            Verdict::Pass => false,
            Verdict::NotJudged => {
                let is_lost = |it: &Unjudged| it.standing == UnjudgedStatus::Lost;
                self.fails_on_unread || self.fails_on_unexplained || unjudged.iter().any(is_lost)
            }
            Verdict::Fail => true,
        };
        (verdict, fails)
    }

    pub(crate) fn shows(&self, decided: &Decided) -> bool {
        decided.finding.confidence >= self.threshold(decided).shown
    }
}
