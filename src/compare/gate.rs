//! Decides which findings fail a run, and which ones it shows.

use std::collections::BTreeSet;

use crate::decide::{Decided, Verdict, WorseThreshold};
use crate::diagnostic::{Level, SkipKind};
use crate::inventory::{CountedAs, Unjudged, UnjudgedStatus};
use crate::rules::Confidence;

/// The lowest level and confidence of findings that fail a run, and the lowest confidence of findings that reports
/// show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelThreshold {
    pub(crate) level: Level,
    pub(crate) confidence: Confidence,
    pub(crate) shown: Confidence,
}

/// The settings that decide which findings fail a run, and which ones reports show.
pub(crate) struct Gate {
    pub(crate) usual: LevelThreshold,
    /// Rules that a pack forbids to change. For them, `of_forced` applies instead of the settings of the repository.
    pub(crate) forced: BTreeSet<String>,
    pub(crate) of_forced: LevelThreshold,
    pub(crate) fails_on_unread: bool,
    /// True if findings in examples and tests fail the run, too.
    pub(crate) fails_on_examples: bool,
    /// True if a change with unknown cost effect fails a comparison.
    pub(crate) fails_on_unexplained: bool,
    /// The growth of cost from which a known finding counts as worse.
    pub(crate) growth: WorseThreshold,
    /// The settings that decide, as reports show them.
    pub(crate) setting: String,
}

impl Gate {
    /// Returns the settings that decided the verdict.
    pub(crate) fn decided_by(&self, verdict: Verdict, blocked: bool) -> String {
        match verdict {
            Verdict::NotJudged if blocked && self.fails_on_unexplained => {
                format!("{}, unexplained = \"fail\"", self.setting)
            }
            _ => self.setting.clone(),
        }
    }

    /// Returns true if the finding fails the run. A note fails it only if `fail-on` is `note`. A finding in an example
    /// fails it only if the settings request this.
    pub(crate) fn stops(&self, decided: &Decided) -> bool {
        let (finding, threshold) = (&decided.finding, self.threshold(decided));
        decided.counts()
            && (self.fails_on_examples || decided.counted != CountedAs::Example)
            && finding.level >= threshold.level
            && finding.confidence >= threshold.confidence
    }

    fn threshold(&self, decided: &Decided) -> LevelThreshold {
        if self.forced.contains(&decided.finding.rule) { self.of_forced } else { self.usual }
    }

    /// Returns the verdict, and whether the run fails. Cost that is no longer evaluated may have grown, so it fails
    /// the run.
    pub(crate) fn decide<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Decided>,
        unjudged: &[Unjudged],
    ) -> (Verdict, bool) {
        let is_hidden = unjudged.iter().any(|it| it.kind == SkipKind::HiddenGrowth);
        let verdict = Verdict::new(is_hidden || findings.into_iter().any(|it| self.stops(it)), unjudged);
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
