//! In-memory trees with their own settings: the examples of rule files. They are evaluated like a
//! tree on the disk.

use std::sync::Arc;

use super::{Session, SessionPolicy, SessionScope, bounds, names, options, prices, settings};
use crate::catalog::Catalog;
use crate::cli::args::InputArguments;
use crate::config::{self, Config, SettingKey, key, setting};
use crate::decide::Baseline;
use crate::diagnostic::Diagnostic;
use crate::pricing::PricingSettings;
use crate::runs::RunOptions;
use crate::source::{Date, MemoryTree, SourceFiles};
use crate::terraform;
use crate::{AnalysisCache, AnalysisSettings};

/// The files of an example, with its catalog and its date.
pub(in crate::cli) struct Imagined {
    /// The tree, which contains the settings under their usual name.
    pub(in crate::cli) tree: MemoryTree,
    pub(in crate::cli) files: Vec<String>,
    pub(in crate::cli) catalog: Catalog,
    /// The date of the example. Its prices never become outdated.
    pub(in crate::cli) today: Option<Date>,
}

impl Session {
    /// Returns a session for an example, or the error in its settings.
    pub(in crate::cli) fn imagined(&self, it: Imagined) -> Result<Session, String> {
        let Imagined { tree, mut files, catalog, today } = it;
        let has_settings = tree.paths().any(|path| path == config::FILE_NAME);
        let sources = SourceFiles::new(tree);
        let config = if has_settings { settings_of(&sources, &catalog)? } else { Config::default() };
        sources.limit(bounds::limits(&config));
        files.sort();
        let input = InputArguments::without_settings();
        let values = options::chart_values(&input, &config, &files).map_err(|failure| failure.to_string())?;
        let day = today.unwrap_or(self.policy.today);
        Ok(Session {
            cache: AnalysisCache::default(),
            settings: AnalysisSettings {
                terraform: terraform::TerraformOptions {
                    given_runs: options::given_runs(&config),
                    ..Default::default()
                },
                kubernetes: options::kubernetes_options(&config, &values),
                runs: RunOptions { exclude: options::excluded(&input, &config), ..RunOptions::default() },
                pricing: PricingSettings { today: None, ..prices::settings(&config, day) },
                measured: settings::usage_options(&config),
                declaring_labels: settings::declaring_labels(&config),
                traffic: prices::traffic(&config),
                catalog,
                today,
                ..AnalysisSettings::default()
            },
            policy: SessionPolicy {
                packs: Arc::default(),
                wrong_rules: Vec::new(),
                baseline: Baseline::default(),
                files_of_settings: 0,
                today: day,
                config,
                ..self.policy.clone()
            },
            scope: Arc::new(SessionScope { only: None, named: Vec::new(), render: None, ..(*self.scope).clone() }),
            files,
            skipped: Vec::new(),
            missing: None,
            same: Arc::default(),
            sources,
        })
    }
}

/// Checks the settings like those of a repository, and refuses settings that have no effect in an example.
fn settings_of(sources: &SourceFiles, catalog: &Catalog) -> Result<Config, String> {
    let (config, mut wrong) = config::load(sources, config::FILE_NAME, env!("CARGO_PKG_VERSION"));
    wrong.extend(names::unknown(&config, catalog));
    if let Some(first) = wrong.first() {
        return Err(describe_mistake(first));
    }
    let elsewhere: [(&str, SettingKey<key::Any>); 8] = [
        ("rules-dir", setting!("rules-dir")),
        ("baseline", setting!("baseline")),
        ("prices.file", setting!("prices.file")),
        ("models.file", setting!("models.file")),
        ("measured.files", setting!("measured.files")),
        ("paid.files", setting!("paid.files")),
        ("render", setting!("render")),
        ("extend", setting!("extend")),
    ];
    let named = elsewhere.iter().find(|(_, key)| config.get(*key).is_some()).map(|(name, _)| *name);
    let packs = || config.tables(setting!("packs")).next().map(|_| "packs");
    let configs = || config.below(setting!("models.configs")).next().map(|_| "models.configs");
    match named.or_else(packs).or_else(configs) {
        Some(name) => Err(format!("`{name}` refers to files, and an example has only its own files")),
        None => Ok(config),
    }
}

/// Formats an error in one line.
pub(in crate::cli) fn describe_mistake(wrong: &Diagnostic) -> String {
    match &wrong.help {
        Some(help) => format!("{} ({help})", wrong.message),
        None => wrong.message.clone(),
    }
}
