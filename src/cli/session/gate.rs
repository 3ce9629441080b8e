//! What makes a run fail, and what it shows.

use crate::cli::args::Threshold;
use crate::cli::session::verdicts::growth;
use crate::config::{Config, Key, key, setting};
use crate::decide::{Decided, Growth, Verdict};
use crate::diagnostic::Level;
use crate::inventory::{Standing, Unjudged};
use crate::rules::Confidence;

/// What makes a run fail, and what it shows.
pub(in crate::cli) struct Gate {
    level: Level,
    confidence: Confidence,
    shown: Confidence,
    fails_on_unread: bool,
    /// Of a change: what is not explained fails as growth does.
    fails_on_unexplained: bool,
    /// What makes a finding worse.
    pub(in crate::cli) growth: Growth,
    /// The settings that decided, for people.
    pub(in crate::cli) setting: String,
}

impl Gate {
    pub(in crate::cli) fn of(asked: &Threshold, config: &Config) -> Gate {
        let configured = |setting: Key<key::Text>| {
            let (name, _) = config.text(setting)?;
            Confidence::ALL.into_iter().find(|confidence| confidence.name() == name)
        };
        let level = asked.fail_on.or_else(|| config.fail_on()).unwrap_or(Level::Warning);
        let confidence =
            asked.fail_confidence.or_else(|| configured(setting!("fail-confidence"))).unwrap_or(Confidence::Medium);
        let shown = asked.min_confidence.or_else(|| configured(setting!("min-confidence"))).unwrap_or(Confidence::Low);
        let fails_on_unread = asked.fail_on_unread || config.flag(setting!("fail-on-unread")).unwrap_or(false);
        let unread = if fails_on_unread { ", fail-on-unread = true" } else { "" };
        let setting = format!("fail-on = \"{}\", fail-confidence = \"{}\"{unread}", level.name(), confidence.name());
        Gate { level, confidence, shown, fails_on_unread, fails_on_unexplained: false, growth: growth(config), setting }
    }

    /// For a comparison.
    pub(in crate::cli) fn of_change(asked: &Threshold, config: &Config) -> Gate {
        let gate = Gate::of(asked, config);
        let tells = config.text(setting!("unexplained")).is_some_and(|(name, _)| name == "tell");
        let setting = if tells { format!("{}, unexplained = \"tell\"", gate.setting) } else { gate.setting.clone() };
        Gate { fails_on_unexplained: !tells, setting, ..gate }
    }

    /// The settings by which a verdict failed, or did not.
    pub(in crate::cli) fn decided_by(&self, verdict: Verdict, blocked: bool) -> String {
        match verdict {
            Verdict::NotJudged if blocked && self.fails_on_unexplained => {
                format!("{}, unexplained = \"fail\"", self.setting)
            }
            _ => self.setting.clone(),
        }
    }

    /// A note never stops anything, whatever was asked for.
    pub(in crate::cli) fn stops(&self, decided: &Decided) -> bool {
        let finding = &decided.finding;
        decided.counts()
            && finding.level != Level::Note
            && finding.level >= self.level
            && finding.confidence >= self.confidence
    }

    /// The verdict, and whether it ends the run with a failure. What was judged before a change and is not any more could
    /// have grown: it fails as growth does.
    pub(in crate::cli) fn decide<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Decided>,
        unjudged: &[Unjudged],
    ) -> (Verdict, bool) {
        let verdict = Verdict::of(findings.into_iter().any(|it| self.stops(it)), unjudged);
        let fails = match verdict {
            Verdict::Pass => false,
            Verdict::NotJudged => {
                let is_lost = |it: &Unjudged| it.standing == Standing::Lost;
                self.fails_on_unread || self.fails_on_unexplained || unjudged.iter().any(is_lost)
            }
            Verdict::Fail => true,
        };
        (verdict, fails)
    }

    pub(in crate::cli) fn shows(&self, decided: &Decided) -> bool {
        decided.finding.confidence >= self.shown
    }
}
