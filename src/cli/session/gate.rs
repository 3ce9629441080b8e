//! What makes a run fail, and what it shows.

use crate::cli::args::Threshold;
use crate::config::Config;
use crate::decide::Decided;
use crate::diagnostic::Level;
use crate::rules::Confidence;

/// What makes a run fail, and what it shows.
pub(in crate::cli) struct Gate {
    level: Level,
    confidence: Confidence,
    shown: Confidence,
    /// The settings that decided, for people.
    pub(in crate::cli) setting: String,
}

impl Gate {
    pub(in crate::cli) fn of(asked: &Threshold, config: &Config) -> Gate {
        let configured = |setting: &str| {
            let (name, _) = config.text(setting)?;
            Confidence::ALL.into_iter().find(|confidence| confidence.name() == name)
        };
        let level = asked.fail_on.or_else(|| config.fail_on()).unwrap_or(Level::Warning);
        let confidence = asked.fail_confidence.or_else(|| configured("fail-confidence")).unwrap_or(Confidence::Medium);
        let shown = asked.min_confidence.or_else(|| configured("min-confidence")).unwrap_or(Confidence::Low);
        let setting = format!("fail-on = \"{}\", fail-confidence = \"{}\"", level.name(), confidence.name());
        Gate { level, confidence, shown, setting }
    }

    /// A note never stops anything, whatever was asked for.
    pub(in crate::cli) fn stops(&self, decided: &Decided) -> bool {
        let finding = &decided.finding;
        decided.counts()
            && finding.level != Level::Note
            && finding.level >= self.level
            && finding.confidence >= self.confidence
    }

    pub(in crate::cli) fn shows(&self, decided: &Decided) -> bool {
        decided.finding.confidence >= self.shown
    }
}
