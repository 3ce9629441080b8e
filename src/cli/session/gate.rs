//! The gate: which results fail the check, from the command line and the settings.

use crate::cli::args::FailOnChoice;
use crate::cli::session::SessionPolicy;
use crate::cli::session::packs::LoadedPack;
use crate::cli::session::settings::level_without_result;
use crate::cli::session::verdicts::growth;
use crate::compare::{self, Gate};
use crate::config::{Config, SettingKey, key, setting};
use crate::diagnostic::Level;
use crate::rules::Confidence;

pub(in crate::cli) fn gate(asked: &FailOnChoice, policy: &SessionPolicy) -> Gate {
    let config = &policy.config;
    let configured = |setting: SettingKey<key::Text>| {
        let (name, _) = config.text(setting)?;
        Confidence::ALL.into_iter().find(|confidence| confidence.name() == name)
    };
    let level = asked.fail_on.or_else(|| config.fail_on()).unwrap_or(Level::Warning);
    let confidence =
        asked.fail_confidence.or_else(|| configured(setting!("fail-confidence"))).unwrap_or(Confidence::Medium);
    let shown = asked.min_confidence.or_else(|| configured(setting!("min-confidence"))).unwrap_or(Confidence::Low);
    let configs = || std::iter::once(config).chain(policy.packs.iter().map(|pack| &pack.config));
    let demands_results = configs().filter_map(demanded).any(|demanded| demanded >= level);
    let fails_on_unread =
        asked.fail_on_unread || demands_results || config.flag(setting!("fail-on-unread")).unwrap_or(false);
    let fails_on_examples = configs().any(|it| it.flag(setting!("fail-on-examples")).unwrap_or(false));
    let unread = if fails_on_unread { ", fail-on-unread = true" } else { "" };
    let examples = if fails_on_examples { ", fail-on-examples = true" } else { "" };
    let setting =
        format!("fail-on = \"{}\", fail-confidence = \"{}\"{unread}{examples}", level.name(), confidence.name());
    let of_forced = compare::LevelThreshold {
        level: asked.fail_on.unwrap_or(Level::Warning),
        confidence: asked.fail_confidence.unwrap_or(Confidence::Medium),
        shown: asked.min_confidence.unwrap_or(Confidence::Low),
    };
    Gate {
        usual: compare::LevelThreshold { level, confidence, shown },
        forced: policy.packs.iter().flat_map(LoadedPack::fixed_rules).map(str::to_owned).collect(),
        of_forced,
        fails_on_unread,
        fails_on_examples,
        fails_on_unexplained: false,
        growth: growth(config),
        setting,
    }
}

/// Returns the highest level of a rule that must have a result. What gpulint cannot read has none.
fn demanded(config: &Config) -> Option<Level> {
    let of_rules = config.rules().into_iter().filter_map(|rule| rule.undetermined.flatten());
    of_rules.chain(level_without_result(config)).max()
}

/// Returns the gate of a comparison.
pub(in crate::cli) fn gate_of_change(asked: &FailOnChoice, policy: &SessionPolicy) -> Gate {
    let gate = gate(asked, policy);
    let tells = policy.config.text(setting!("unexplained")).is_some_and(|(name, _)| name == "tell");
    let setting = if tells { format!("{}, unexplained = \"tell\"", gate.setting) } else { gate.setting.clone() };
    Gate { fails_on_unexplained: !tells, setting, ..gate }
}
