//! A session: a tree, its files, its settings, and the results.

pub(super) mod alone;
pub(super) mod base_revision;
pub(super) mod bounds;
pub(super) mod demand;
pub(super) mod discover;
mod entries;
pub(super) mod gate;
mod head;
pub(super) mod history;
mod in_force;
pub(super) mod in_memory_tree;
pub(super) mod judged;
pub(super) mod known;
pub(super) mod links;
mod look;
pub(super) mod missing_files;
mod names;
mod options;
mod organization;
pub(super) mod packs;
pub(super) mod policy;
pub(super) mod prices;
pub(super) mod remembered;
pub(super) mod settings;
pub(super) mod target;
pub(super) mod touched;
mod tracked;
pub(in crate::cli) mod undeclared_variables;
mod unmatched_budgets;
pub(super) mod variables;
pub(super) mod verdicts;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{InputArguments, Selection};
use super::io::failure::Failure;
use super::io::file_tree::{self};
use super::io::outcome::ExitStatus;
use super::io::progress::Progress;
use super::io::{clock, deadline, output};
use super::render;
use crate::cli::io::place::{WorkingTree, names_of};
use crate::compare::{TreeState, note_unjudged};
use crate::config::{Config, setting};
use crate::decide::{self, Baseline, Decided, Verdict};
use crate::diagnostic::{Diagnostic, SkipKind};
use crate::front_ends::files;
use crate::inventory::{RunKind, SkippedFile};
use crate::kubernetes;
use crate::languages::table::READ;
use crate::measured::paid;
use crate::measured::row::FILE_NAME;
use crate::report::{Report, ShownPaths};
use crate::rules::{self, Finding, PageText};
use crate::source::{Date, ReadError, SourceFiles, Span, Tree, is_below};
use crate::{Analysis, AnalysisCache, AnalysisSettings};
use look::{Found, FoundInput, find_input, with_given};
use packs::LoadedPack;

/// The input of a subcommand: the files to read, the settings in force, and the options.
pub(super) struct Session {
    pub(super) sources: SourceFiles,
    /// The files to read, sorted and without duplicates.
    pub(super) files: Vec<String>,
    pub(super) settings: AnalysisSettings,
    pub(super) cache: AnalysisCache,
    pub(super) policy: SessionPolicy,
    pub(super) scope: Arc<SessionScope>,
    skipped: Vec<SkippedFile>,
    /// Returns the name of a file that the tree should contain but lacks.
    missing: Option<Missing>,
    /// Files that are the same in the earlier state.
    same: Arc<HashSet<String>>,
}

/// The policy: settings, rules and suppressions. It is the same for every state of a tree.
#[derive(Clone)]
pub(super) struct SessionPolicy {
    pub(super) config: Config,
    /// The configured packs.
    pub(super) packs: Arc<Vec<LoadedPack>>,
    /// The custom rules.
    pub(super) own_pages: Vec<PageText>,
    /// The errors of rule files and of settings about rules.
    wrong_rules: Vec<Diagnostic>,
    /// The findings that the baseline accepts.
    pub(super) baseline: Baseline,
    /// The path of the baseline in the tree, whether or not the file exists.
    pub(super) baseline_path: String,
    /// Files that were read before the check: the settings and the files that they name.
    files_of_settings: usize,
    /// The date of the check.
    pub(super) today: Date,
}

/// The scope: the directories to read, and the files to report on.
#[derive(Clone)]
pub(super) struct SessionScope {
    /// If not empty, only findings in these files are reported. A hook names changed files, but whole roots are read.
    only: Option<BTreeSet<String>>,
    /// The named directories and files, as paths of the tree.
    pub(super) named: Vec<String>,
    /// The named directories and files, as absolute paths.
    pub(super) written: Vec<PathBuf>,
    pub(super) root: PathBuf,
    /// The current directory as a path of the tree, or the root if it is outside.
    pub(super) here: String,
    /// The directories that can be read.
    pub(super) allowed: Vec<PathBuf>,
    pub(super) paths: ShownPaths,
    /// Paths relative to the repository, if there is one.
    hosted_paths: ShownPaths,
    allow_empty: bool,
    /// Whether other programs render charts and kustomizations.
    render: Option<render::RenderArguments>,
}

type Missing = Box<dyn Fn() -> Option<String> + Send + Sync>;

impl Session {
    /// Opens a session for subcommands that need no rules.
    pub(super) fn open(input: &InputArguments) -> Result<Session, Failure> {
        Self::with(input, Found::add).map(|(session, _)| session)
    }

    /// Opens a session with the requested rules.
    pub(super) fn judging(input: &InputArguments, selection: &Selection) -> Result<Session, Failure> {
        Self::with_rules(input, selection, Found::add)
    }

    /// Opens a session of the index with the requested rules. It lists files with git instead of walking the
    /// directories.
    pub(super) fn of_index(input: &InputArguments, selection: &Selection) -> Result<Session, Failure> {
        // Named values files are searched in the work tree.
        let needs_walk = |place: &WorkingTree| !input.values.is_empty() || place.named.iter().any(|it| it.is_file());
        Self::with_rules(input, selection, |found, path, place| {
            if needs_walk(place) {
                found.add(path, place);
            }
        })
    }

    /// Opens a session with settings and rules only.
    pub(super) fn rules_only(input: &InputArguments, selection: &Selection) -> Result<Session, Failure> {
        Self::with_rules(input, selection, |_, _, _| {})
    }

    fn with_rules(
        input: &InputArguments,
        selection: &Selection,
        add: impl Fn(&mut Found, &Path, &WorkingTree),
    ) -> Result<Session, Failure> {
        let input = InputArguments { not_checked: selection.rules.clone(), ..input.clone() };
        let (mut session, place) = Self::with(&input, add)?;
        let names = || names_here(&session, input.no_config);
        let (rules, wrong, own) = in_force::rules(
            &session.sources,
            &session.policy.config,
            selection,
            &place,
            &session.policy.packs,
            session.policy.today,
            names,
        )?;
        session.settings.rules = Arc::new(rules);
        session.policy.wrong_rules = wrong;
        session.policy.own_pages = own;
        if !selection.no_baseline {
            session.policy.baseline = settings::baseline(&session.sources, &session.policy.baseline_path, &place)?;
        }
        session.policy.files_of_settings = session.sources.count();
        Ok(session)
    }

    /// Opens a session with settings only.
    pub(super) fn settings_only(input: &InputArguments) -> Result<Session, Failure> {
        Self::with(input, |_, _, _| {}).map(|(session, _)| session)
    }

    fn with(
        input: &InputArguments,
        add: impl Fn(&mut Found, &Path, &WorkingTree),
    ) -> Result<(Session, WorkingTree), Failure> {
        let FoundInput { place, mut found, tree, largest, variable_files, piped } = find_input(input, add)?;
        let settings_file = settings::find(input, &place, &tree)?;
        let beside = |name| settings::beside(name, settings_file.as_deref(), &place, &tree);
        let usual_baseline = beside(decide::BASELINE);
        let usual_rows =
            [FILE_NAME, paid::row::FILE_NAME].map(|name| settings::places_of_usage(name, beside(name), &place, &tree));
        let given = piped.as_ref().map(|(name, _)| name.clone());
        let tree = with_given(tree, input, piped);
        let sources = SourceFiles::new(tree);
        let config = settings::load(&sources, settings_file.as_deref(), &place)?;
        sources.limit(bounds::limits(&config));
        largest.set(sources.limits().file_bytes);
        deadline::start(bounds::time(&config));
        let today = input.today.map_or_else(clock::today, Ok)?;
        let packs = Arc::new(packs::load(&sources, &config, &place)?);
        entries::add(&sources, &config, &packs, &place)?;
        found.files.retain(|file| !packs.iter().any(|pack| pack.brings(file)));
        let measured = settings::measured(&sources, &config, usual_rows, &place)?;
        let values = options::chart_values(input, &config, &found.files)?;
        let session = Session {
            cache: AnalysisCache::default(),
            settings: AnalysisSettings {
                terraform: options::terraform_options(input, &config, &place, &variable_files, given.as_deref())?,
                runs: crate::runs::RunOptions {
                    named: options::named_directories(&place),
                    files: options::named_files(&place),
                    exclude: options::excluded(input, &config),
                },
                pricing: prices::settings(&config, today),
                limit: input.limit,
                measured,
                catalog: in_force::catalog(input, &sources, &config, &place, &packs)?,
                declaring_labels: settings::declaring_labels(&config),
                traffic: prices::traffic(&config),
                today: Some(today),
                kubernetes: kubernetes::KubernetesOptions {
                    named_files: options::named_files(&place),
                    ..options::kubernetes_options(&config, &values)
                },
                ..AnalysisSettings::default()
            },
            scope: Arc::new(SessionScope::new(
                input,
                &place,
                found.only,
                options::render_request(input, &config, &place, &values),
            )),
            policy: SessionPolicy {
                baseline: Baseline::default(),
                baseline_path: config.text(setting!("baseline")).map_or(usual_baseline, |(path, _)| path.to_owned()),
                files_of_settings: sources.count(),
                wrong_rules: Vec::new(),
                own_pages: Vec::new(),
                packs,
                today,
                config,
            },
            files: found.files,
            skipped: found.skipped,
            missing: None,
            same: Arc::default(),
            sources,
        };
        Ok((session, place))
    }

    /// Returns the rule settings of the repository and its packs.
    pub(super) fn rule_settings(&self) -> rules::RuleSettings {
        let mut chosen = settings::rule_settings(&self.policy.config);
        // Violations of a pack's `forbid` are reported when rules are loaded.
        let _ = packs::add(&self.policy.packs, &self.policy.config, &mut chosen);
        chosen
    }

    /// Returns the state for a comparison.
    pub(super) fn state(&self) -> TreeState<'_> {
        TreeState {
            sources: &self.sources,
            files: &self.files,
            settings: &self.settings,
            cache: &self.cache,
            same: &self.same,
            show: Box::new(|path| self.scope.paths.show(path)),
            amount: Box::new(|money| self.settings.pricing.currency.amount(money)),
        }
    }

    /// Returns a session with the same settings for another state of the tree.
    pub(super) fn at(&self, tree: impl Tree + 'static, files: Vec<String>) -> Session {
        Session {
            sources: self.sources_of(tree),
            files,
            settings: self.settings.clone(),
            cache: self.cache.clone(),
            policy: self.policy.clone(),
            scope: self.scope.clone(),
            skipped: Vec::new(),
            missing: None,
            same: Arc::default(),
        }
    }

    /// Returns a session with the same settings for the tree of a commit, where the named directories can contain
    /// other files.
    pub(super) fn at_commit(&self, tree: impl Tree + 'static, mut files: Vec<String>) -> Session {
        files.retain(|file| !self.policy.packs.iter().any(|pack| pack.brings(file)));
        let session = self.at(tree, files);
        if session.scope.only.is_none() {
            return session;
        }
        let is_named = |file: &&String| self.scope.named.iter().any(|it| *file == it || is_below(file, it));
        let named = session.files.iter().filter(is_named);
        // For a chart, reports name the folder instead of its Chart.yaml.
        let charts = named.clone().filter_map(|file| file.strip_suffix("Chart.yaml"));
        let charts = charts.map(|folder| folder.trim_end_matches('/').to_owned());
        let only = Some(named.cloned().chain(charts).collect());
        let scope = Arc::new(SessionScope { only, ..(*self.scope).clone() });
        Session { scope, ..session }
    }

    /// Returns the files of the tree from which settings, rules and prices were read.
    pub(super) fn texts_of_settings(&self) -> Vec<(String, Arc<str>)> {
        self.sources.first(self.policy.files_of_settings)
    }

    fn sources_of(&self, tree: impl Tree + 'static) -> SourceFiles {
        let sources = SourceFiles::new(tree).with_files_of(&self.sources, self.policy.files_of_settings);
        sources.limit(self.sources.limits());
        sources
    }

    #[must_use]
    pub(super) fn with_missing(self, missing: impl Fn() -> Option<String> + Send + Sync + 'static) -> Session {
        Session { missing: Some(Box::new(missing)), ..self }
    }

    pub(super) fn missing(&self) -> Option<String> {
        self.missing.as_ref().and_then(|missing| missing())
    }

    /// Whether other programs render charts and kustomizations.
    pub(super) fn renders(&self) -> bool {
        self.scope.render.is_some()
    }

    /// Whether files were named. Then the whole repository around them is read.
    pub(super) fn reads_all(&self) -> bool {
        self.scope.only.is_some()
    }

    /// Whether the user named this file.
    fn is_named_as_file(&self, path: &str) -> bool {
        self.scope.named.iter().any(|named| named == path)
    }

    /// Returns the parts of this state that cannot be read, in addition to those found while reading.
    pub(super) fn add_skipped(&mut self, unread: impl IntoIterator<Item = SkippedFile>) {
        self.skipped.extend(unread);
    }

    /// Whether the file is in the named paths, so that it can be changed.
    pub(super) fn is_named(&self, path: &str) -> bool {
        match &self.scope.only {
            Some(only) => only.contains(path),
            None => self.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok(),
        }
    }

    /// Adds files to those that were found.
    pub(super) fn add_files(&mut self, mut files: Vec<String>) {
        files.retain(|file| !self.policy.packs.iter().any(|pack| pack.brings(file)));
        self.files.extend(files);
        self.files.sort();
        self.files.dedup();
    }

    /// Adds the files of the named directories that .gitignore leaves out.
    pub(super) fn add_ignored_files(&mut self) {
        let directories: Vec<PathBuf> =
            self.scope.named.iter().map(|it| file_tree::below(&self.scope.root, it)).collect();
        let found = directories.iter().filter(|it| it.is_dir()).flat_map(|it| discover::whole(it).files);
        let files = found.filter_map(|path| Some(names_of(path.strip_prefix(&self.scope.root).ok()?))).collect();
        self.add_files(files);
    }

    /// Leaves files out, and records the reason.
    pub(super) fn leave_out(&mut self, reason: &str, is_out: impl Fn(&str) -> bool) {
        let (out, kept): (Vec<String>, Vec<String>) = self.files.drain(..).partition(|file| is_out(file));
        self.files = kept;
        self.skipped.extend(out.into_iter().map(|path| SkippedFile::new(SkipKind::NotInBase, path, reason)));
    }

    /// Analyzes the named files without rules.
    pub(super) fn analyze(&self) -> Analysis {
        let mut analysis = self.analyze_all();
        self.limit(&mut analysis, &mut Vec::new());
        analysis
    }

    /// Analyzes all files, before suppressions and scope are applied.
    pub(super) fn analyze_all(&self) -> Analysis {
        let mut analysis = self.analyze_resources();
        note_unjudged(&self.state(), &mut analysis);
        analysis
    }

    /// Analyzes all files, and does not list what was not evaluated.
    fn analyze_resources(&self) -> Analysis {
        let _progress = Progress::start(self.files.len());
        let mut analysis = match &self.scope.render {
            None => crate::analyze_with(&self.sources, &self.files, &self.settings, &self.cache),
            Some(request) => self.analyze_rendered(request),
        };
        analysis.inventory.skipped.extend(self.skipped.iter().cloned());
        let told: BTreeSet<String> = analysis.inventory.skipped.iter().map(|it| it.path.clone()).collect();
        analysis.inventory.skipped.extend(self.refused().filter(|it| !told.contains(&it.path)));
        analysis.inventory.skipped.sort();
        analysis.findings.extend(self.hidden());
        analysis
    }

    /// Reports files that cannot be read. Otherwise, a file that is too large would look clean.
    fn hidden(&self) -> Vec<Finding> {
        let refused = self.sources.refused();
        let is_asked = |path: &str| self.files.binary_search_by(|it| it.as_str().cmp(path)).is_ok();
        let counts = |(path, why): &&(String, ReadError)| match why {
            ReadError::Missing => false,
            ReadError::TooLarge { .. } => {
                files::is_terraform(path) || self.sources.tree().mentions(path, b"apiVersion")
            }
            _ => files::is_terraform(path),
        };
        let mut hidden: Vec<_> = refused.iter().filter(|(path, _)| is_asked(path)).filter(counts).collect();
        hidden.sort_by(|a, b| a.0.cmp(&b.0));
        let say = |(path, why): &(String, ReadError)| {
            let file = self.sources.derive(path, String::new(), Vec::new());
            let help = matches!(why, ReadError::TooLarge { .. })
                .then(|| "split the file, or raise `bounds.file-mib` in gpulint.toml".to_owned());
            self.settings.rules.report_text_finding(
                "unreadable",
                format!("gpulint did not read this file: {why}"),
                help,
                Span::new(file, 0, 0),
            )
        };
        hidden.into_iter().filter_map(say).collect()
    }

    /// Returns files that could not be read: pipes, links without a target, files that are too large or forbidden.
    fn refused(&self) -> impl Iterator<Item = SkippedFile> {
        let refused = self.sources.refused().into_iter();
        // A link to data often leads nowhere, and its name does not show whether it is a manifest.
        let is_data =
            |path: &str| path.ends_with(".json") && !files::is_terraform(path) && !self.is_named_as_file(path);
        let found = refused.filter(move |(path, why)| {
            self.files.binary_search(path).is_ok() && !(matches!(why, ReadError::Pointer(_)) && is_data(path))
        });
        found.map(|(path, why)| SkippedFile::new(SkipKind::File, path, why.to_string()))
    }

    fn analyze_rendered(&self, request: &render::RenderArguments) -> Analysis {
        let outcome = render::run(&self.sources, &self.files, request);
        let mut settings = self.settings.clone();
        settings.kubernetes.rendered = outcome.rendered;
        let mut analysis = crate::analyze_with(&self.sources, &self.files, &settings, &self.cache);
        analysis.inventory.skipped.extend(outcome.failed);
        analysis
    }

    /// If files were named, leaves out results of other files.
    fn limit(&self, analysis: &mut Analysis, findings: &mut Vec<Decided>) {
        let Some(only) = &self.scope.only else { return };
        let kept = analysis.keep(&self.sources, only);
        findings.retain_mut(|decided| {
            let finding = &mut decided.finding;
            let stands = || only.contains(&self.sources.path_of(finding.span));
            kept.keeps(&mut finding.resource, stands)
        });
    }

    pub(super) fn report<'a>(&'a self, analysis: &'a Analysis, findings: &'a [Decided]) -> Report<'a> {
        Report {
            sources: &self.sources,
            paths: &self.scope.paths,
            hosted_paths: &self.scope.hosted_paths,
            inventory: &analysis.inventory,
            bill: &analysis.bill,
            fits: &analysis.fits,
            findings,
            rules: &self.settings.rules,
            undetermined: &analysis.undetermined,
            totals: &analysis.totals,
            unknown_machines: &analysis.left_out.unknown_machines,
            measured: &analysis.measured,
            verdict: Verdict::new(false, &analysis.inventory.unjudged),
            currency: self.settings.pricing.currency,
            today: self.policy.today,
            market: Some(&self.settings.catalog),
            is_empty: !self.was_anything_checked(analysis),
            title: None,
            catalog: self.catalog_in_use(),
        }
    }

    /// Returns the prices in use.
    fn catalog_in_use(&self) -> crate::report::PriceSources {
        crate::report::PriceSources {
            version: format!("{} {}", env!("CARGO_PKG_VERSION"), self.settings.catalog.layers()),
            as_of: self.settings.catalog.as_of().to_owned(),
        }
    }

    /// Fails if a rule did not load or failed. The results of the other rules were reported, but nothing must look
    /// clean.
    pub(super) fn demand_whole_rules(&self, analysis: &Analysis) -> Result<(), Failure> {
        let failed = analysis.broken_rules.iter().cloned().map(Diagnostic::from);
        let wrong: Vec<Diagnostic> = self.policy.wrong_rules.iter().cloned().chain(failed).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(settings::refused(&self.sources, &self.scope.paths, &wrong, "some rules have errors"))
    }

    /// Fails if the settings name an unknown rule, or set it wrongly.
    pub(super) fn demand_rules(&self) -> Result<(), Failure> {
        if self.policy.wrong_rules.is_empty() {
            return Ok(());
        }
        Err(settings::refused(&self.sources, &self.scope.paths, &self.policy.wrong_rules, "some rules have errors"))
    }

    pub(super) fn outcome(&self, analysis: &Analysis) -> ExitStatus {
        if self.scope.allow_empty || self.was_anything_checked(analysis) {
            return ExitStatus::Passed;
        }
        output::complain(&format!(
            "nothing was checked: no files of {READ} found\n  help: run gpulint in their directory, or pass it, as in \
             `gpulint check infra/`; with --allow-empty, this exits with 0"
        ));
        ExitStatus::Empty
    }
}

impl Session {
    /// Whether anything was checked. Files without accelerators count, files in unsupported languages do not.
    pub(super) fn was_anything_checked(&self, analysis: &Analysis) -> bool {
        let named = |file: &&String| self.scope.only.as_ref().is_none_or(|only| only.contains(*file));
        let mut files = self.files.iter().filter(named);
        let inventory = &analysis.inventory;
        !inventory.resources.is_empty()
            || !analysis.plans.is_empty()
            || !inventory.diagnostics.is_empty()
            || !inventory.skipped.is_empty()
            || !inventory.unjudged.is_empty()
            || inventory.runs.iter().any(|it| it.kind == RunKind::Stack)
            || self.files.iter().filter(named).any(|file| files::is_terraform(file))
            || files.any(|file| self.is_terraform_or_kubernetes(file))
    }

    /// Whether a file is Terraform or Kubernetes.
    pub(super) fn is_terraform_or_kubernetes(&self, file: &str) -> bool {
        files::is_terraform(file) || self.sources.open(file).is_ok_and(|it| is_manifest(&self.sources.text(it)))
    }

    pub(super) fn allows_empty(&self) -> bool {
        self.scope.allow_empty
    }
}

impl SessionScope {
    fn new(
        input: &InputArguments,
        place: &WorkingTree,
        only: BTreeSet<String>,
        render: Option<render::RenderArguments>,
    ) -> SessionScope {
        let names_files = place.named.iter().any(|path| path.is_file());
        SessionScope {
            only: names_files.then_some(only),
            named: place.named.iter().filter_map(|path| place.in_tree(path)).collect(),
            written: links::written(&input.paths, place),
            root: place.root.clone(),
            here: place.in_tree(&place.here).unwrap_or_default(),
            allowed: place.allowed.clone(),
            paths: place.paths(),
            hosted_paths: place.hosted_paths(),
            allow_empty: input.allow_empty,
            render,
        }
    }
}

fn is_manifest(text: &str) -> bool {
    let is_key = |line: &str, key: &str| {
        let line = line.trim_start().trim_start_matches(['-', ' ', '{', '"', '\'']);
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    };
    text.contains("apiVersion") && text.contains("kind") && text.lines().any(|line| is_key(line, "apiVersion"))
}

/// Returns the names that rules can use. For rule files named on the command line, the names in the settings are
/// valid, too.
fn names_here(session: &Session, is_without_settings: bool) -> rules::KnownNames {
    let around = is_without_settings.then(|| Session::settings_only(&InputArguments::here()).ok()).flatten();
    let SessionPolicy { config, .. } = &around.as_ref().unwrap_or(session).policy;
    known::names(config, &around.as_ref().unwrap_or(session).settings.catalog)
}
