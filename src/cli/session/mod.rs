//! The input of one run: a tree, the files in it, the settings, and what is concluded from them.

pub(super) mod absent;
pub(super) mod base_revision;
pub(super) mod bounds;
pub(super) mod demand;
pub(super) mod discover;
pub(super) mod gate;
mod names;
pub(super) mod packs;
pub(super) mod policy;
pub(super) mod prices;
pub(super) mod settings;
pub(super) mod touched;
mod tracked;
pub(super) mod variables;
pub(super) mod verdicts;
use std::collections::{BTreeSet, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{Input, Selection};
use super::world::file_tree::{self, DiskTree, read_limited};
use super::world::largest::LargestFile;
use super::world::progress::Progress;
use super::world::{clock, deadline, output};
use super::{Failure, Outcome, render};
use crate::cli::world::place::{self, Place};
use crate::compare::{State, note_unjudged};
use crate::config::{Config, setting};
use crate::decide::{Baseline, Decided, Decision, Verdict};
use crate::diagnostic::Diagnostic;
use crate::front_ends::files;
use crate::inventory::{GivenRun, Skipped};
use crate::report::{Paths, Report};
use crate::rules::{Finding, PageText};
use crate::source::{Date, Limits, ReadError, Sources, Span, Tree, join, named};
use crate::{Analysis, Settings, kubernetes, terraform};
use packs::Pack;
use policy::PolicyTree;
use variables::VariableFiles;

/// The input of one run: what is read, what holds for it, and what was asked.
pub(super) struct Session {
    pub(super) sources: Sources,
    /// Sorted, each once.
    pub(super) files: Vec<String>,
    pub(super) settings: Settings,
    pub(super) policy: SessionPolicy,
    pub(super) scope: Arc<SessionScope>,
    skipped: Vec<Skipped>,
    /// Asks the tree for a file that it should hold and does not.
    missing: Option<Missing>,
    /// Files of an earlier state that are as they are now.
    same: Arc<HashSet<String>>,
}

/// What holds: settings, rules, and what was accepted. It is the same for every state of a tree.
#[derive(Clone)]
pub(super) struct SessionPolicy {
    pub(super) config: Config,
    /// The packs that are configured.
    pub(super) packs: Arc<Vec<Pack>>,
    /// The pages of the team's own.
    pub(super) own_pages: Vec<PageText>,
    /// What is wrong with pages of rules and with settings about them.
    wrong_rules: Vec<Diagnostic>,
    /// Findings that were accepted all at once.
    pub(super) baseline: Baseline,
    /// The place of that file in the tree, whether or not it is there.
    pub(super) baseline_path: String,
    /// Files that were read before anything was checked: the settings and what they name.
    files_of_settings: usize,
    /// The day that dates are compared with.
    pub(super) today: Date,
}

/// What was asked: where, and what of it is told.
pub(super) struct SessionScope {
    /// Only what stands in these is told, if any: a hook names the files that changed, and whole roots are read.
    only: Option<BTreeSet<String>>,
    /// The directories and files that were named, as paths of the tree.
    pub(super) named: Vec<String>,
    pub(super) root: PathBuf,
    /// The running directory, as a path of the tree; the root where it lies outside.
    pub(super) here: String,
    /// What may be read.
    pub(super) allowed: Vec<PathBuf>,
    pub(super) paths: Paths,
    /// Relative to the repository, where there is one.
    hosted_paths: Paths,
    allow_empty: bool,
    /// Charts and kustomizations are rendered.
    render: Option<render::Request>,
}

type Missing = Box<dyn Fn() -> Option<String>>;

impl Session {
    /// For verbs that judge nothing.
    pub(super) fn open(input: &Input) -> Result<Session, Failure> {
        Self::with(input, Found::add).map(|(session, _)| session)
    }

    /// With the rules that were asked for.
    pub(super) fn judging(input: &Input, selection: &Selection) -> Result<Session, Failure> {
        Self::with_rules(input, selection, Found::add)
    }

    /// Only the settings and the rules that hold for what was named.
    pub(super) fn rules_only(input: &Input, selection: &Selection) -> Result<Session, Failure> {
        Self::with_rules(input, selection, |_, _, _| {})
    }

    fn with_rules(
        input: &Input,
        selection: &Selection,
        add: impl Fn(&mut Found, &Path, &Place),
    ) -> Result<Session, Failure> {
        let input = Input { beside: selection.rules.clone(), ..input.clone() };
        let (mut session, place) = Self::with(&input, add)?;
        let (rules, wrong, own) =
            settings::rules(&session.sources, &session.policy.config, selection, &place, &session.policy.packs)?;
        session.settings.rules = Arc::new(rules);
        session.policy.wrong_rules = wrong;
        session.policy.own_pages = own;
        if !selection.no_baseline {
            session.policy.baseline = settings::baseline(&session.sources, &session.policy.baseline_path, &place)?;
        }
        session.policy.files_of_settings = session.sources.count();
        Ok(session)
    }

    /// Only the settings that hold for what was named; nothing else is read.
    pub(super) fn settings_only(input: &Input) -> Result<Session, Failure> {
        Self::with(input, |_, _, _| {}).map(|(session, _)| session)
    }

    fn with(input: &Input, add: impl Fn(&mut Found, &Path, &Place)) -> Result<(Session, Place), Failure> {
        let Looked { place, mut found, tree, largest, variable_files, piped } = look(input, add)?;
        let settings_file = settings::find(input, &place, &tree)?;
        let beside_settings = settings::baseline_path(settings_file.as_deref(), &place, &tree);
        let given = piped.as_ref().map(|(name, _)| name.clone());
        let tree = with_given(tree, input, piped);
        let sources = Sources::new(tree);
        let config = settings::load(&sources, settings_file.as_deref(), &place)?;
        sources.limit(bounds::of(&config));
        largest.set(sources.limits().file_bytes);
        deadline::start(bounds::time(&config));
        let today = input.today.map_or_else(clock::today, Ok)?;
        let packs = Arc::new(packs::load(&sources, &config, &place)?);
        found.files.retain(|file| !packs.iter().any(|pack| pack.brings(file)));
        let values = chart_values(input, &config, &found.files)?;
        let session = Session {
            settings: Settings {
                terraform: terraform::Options {
                    given_runs: config.runs().into_iter().map(given_run).collect(),
                    ..terraform_options(input, &place, &variable_files, given.as_deref())?
                },
                runs: crate::runs::RunOptions { named: named_directories(&place), exclude: excluded(input, &config) },
                pricing: prices::settings(&config, today),
                catalog: settings::catalog(input, &sources, &config, &place, &packs)?,
                declaring_labels: settings::declaring_labels(&config),
                today: Some(today),
                kubernetes: kubernetes::Options {
                    values: values.clone(),
                    cluster: cluster(&config),
                    given_runs: config.runs().into_iter().map(given_run).collect(),
                    ..kubernetes::Options::default()
                },
                ..Settings::default()
            },
            scope: Arc::new(SessionScope::of(
                input,
                &place,
                found.only,
                render_request(input, &config, &place, &values),
            )),
            policy: SessionPolicy {
                baseline: Baseline::default(),
                baseline_path: config.text(setting!("baseline")).map_or(beside_settings, |(path, _)| path.to_owned()),
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

    /// What is compared with another state.
    pub(super) fn state(&self) -> State<'_> {
        State {
            sources: &self.sources,
            files: &self.files,
            settings: &self.settings,
            same: &self.same,
            show: Box::new(|path| self.scope.paths.show(path)),
            amount: Box::new(|money| self.settings.pricing.currency.amount(money)),
        }
    }

    /// The same settings on another state of the same tree.
    pub(super) fn at(&self, tree: impl Tree + 'static, files: Vec<String>) -> Session {
        Session {
            sources: self.sources_of(tree),
            files,
            settings: self.settings.clone(),
            policy: self.policy.clone(),
            scope: self.scope.clone(),
            skipped: Vec::new(),
            missing: None,
            same: Arc::default(),
        }
    }

    fn sources_of(&self, tree: impl Tree + 'static) -> Sources {
        let sources = Sources::new(tree).with_files_of(&self.sources, self.policy.files_of_settings);
        sources.limit(self.sources.limits());
        sources
    }

    #[must_use]
    pub(super) fn with_missing(self, missing: impl Fn() -> Option<String> + 'static) -> Session {
        Session { missing: Some(Box::new(missing)), ..self }
    }

    /// Everything of this state, with what the later one has read of the files that are the same in both.
    pub(super) fn analyze_before(&self, later: &Session) -> Analysis {
        self.sources.share(&later.sources, self.policy.files_of_settings, |path| self.same.contains(path));
        self.analyze_all()
    }

    pub(super) fn missing(&self) -> Option<String> {
        self.missing.as_ref().and_then(|missing| missing())
    }

    /// Files were named, and the whole repository around them is read.
    pub(super) fn reads_all(&self) -> bool {
        self.scope.only.is_some()
    }

    /// The file was named as one.
    fn is_told_alone(&self, path: &str) -> bool {
        self.scope.named.iter().any(|named| named == path)
    }

    /// What is not read of this state, beside what is found when it is.
    pub(super) fn tell_unread(&mut self, unread: impl IntoIterator<Item = Skipped>) {
        self.skipped.extend(unread);
    }

    /// The file is among what was named, so that it may be changed.
    pub(super) fn is_named(&self, path: &str) -> bool {
        match &self.scope.only {
            Some(only) => only.contains(path),
            None => self.files.binary_search_by(|file| file.as_str().cmp(path)).is_ok(),
        }
    }

    /// More files, besides those that were found.
    pub(super) fn take_in(&mut self, mut files: Vec<String>) {
        files.retain(|file| !self.policy.packs.iter().any(|pack| pack.brings(file)));
        self.files.extend(files);
        self.files.sort();
        self.files.dedup();
    }

    /// What a list of ignored files leaves out of the directories that were named.
    pub(super) fn take_in_all(&mut self) {
        let directories: Vec<PathBuf> =
            self.scope.named.iter().map(|it| file_tree::below(&self.scope.root, it)).collect();
        let found = directories.iter().filter(|it| it.is_dir()).flat_map(|it| discover::whole(it).files);
        let files = found.filter_map(|path| Some(names_of(path.strip_prefix(&self.scope.root).ok()?))).collect();
        self.take_in(files);
    }

    /// Leaves files out, and says why.
    pub(super) fn leave_out(&mut self, reason: &str, is_out: impl Fn(&str) -> bool) {
        let (out, kept): (Vec<String>, Vec<String>) = self.files.drain(..).partition(|file| is_out(file));
        self.files = kept;
        self.skipped.extend(out.into_iter().map(|path| Skipped { path, reason: reason.to_owned() }));
    }

    /// For verbs that judge nothing: what stands in the files that were named.
    pub(super) fn analyze(&self) -> Analysis {
        let mut analysis = self.analyze_all();
        self.limit(&mut analysis, &mut Vec::new());
        analysis
    }

    /// What was decided about each finding in the files that were named, in the order of files and lines.
    pub(super) fn judge(&self) -> (Analysis, Vec<Decided>) {
        let (analysis, decision) = self.judge_all();
        (analysis, decision.findings)
    }

    /// The same, with the suppressions that were met.
    pub(super) fn judge_all(&self) -> (Analysis, Decision) {
        self.decide(self.analyze_all())
    }

    /// What is decided about the findings of an analysis.
    pub(super) fn decide(&self, mut analysis: Analysis) -> (Analysis, Decision) {
        let mut decision = verdicts::verdicts(self, &mut analysis);
        self.limit(&mut analysis, &mut decision.findings);
        if let Some(only) = &self.scope.only {
            decision.suppressions.retain(|it| only.contains(&self.sources.path(it.span.file)));
        }
        (analysis, decision)
    }

    /// Everything, before anything is decided about it and left out.
    pub(super) fn analyze_all(&self) -> Analysis {
        let _progress = Progress::start(self.files.len());
        let mut analysis = match &self.scope.render {
            None => crate::analyze(&self.sources, &self.files, &self.settings),
            Some(request) => self.analyze_rendered(request),
        };
        analysis.inventory.skipped.extend(self.skipped.iter().cloned());
        let told: BTreeSet<String> = analysis.inventory.skipped.iter().map(|it| it.path.clone()).collect();
        analysis.inventory.skipped.extend(self.refused().filter(|it| !told.contains(&it.path)));
        analysis.inventory.skipped.sort();
        analysis.findings.extend(self.hidden());
        note_unjudged(&self.state(), &mut analysis);
        analysis
    }

    /// Files that would be read if they could be: whoever makes a file too large must not be told that it is clean.
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
            self.settings.rules.say("unreadable", format!("this file is not read: {why}"), help, Span::new(file, 0, 0))
        };
        hidden.into_iter().filter_map(say).collect()
    }

    /// Files that were found and could not be read: pipes, links that lead nowhere, what is too large or may not be read.
    fn refused(&self) -> impl Iterator<Item = Skipped> {
        let refused = self.sources.refused().into_iter();
        // Data is often kept elsewhere; whether it is a manifest, nobody would know by its name.
        let is_data = |path: &str| path.ends_with(".json") && !files::is_terraform(path) && !self.is_told_alone(path);
        let found = refused.filter(move |(path, why)| {
            self.files.binary_search(path).is_ok() && !(matches!(why, ReadError::Pointer(_)) && is_data(path))
        });
        found.map(|(path, why)| Skipped { path, reason: why.to_string() })
    }

    fn analyze_rendered(&self, request: &render::Request) -> Analysis {
        let outcome = render::run(&self.sources, &self.files, request);
        let mut settings = self.settings.clone();
        settings.kubernetes.rendered = outcome.rendered;
        let mut analysis = crate::analyze(&self.sources, &self.files, &settings);
        analysis.inventory.skipped.extend(outcome.failed);
        analysis
    }

    /// Leaves out what does not stand in the files that were named, if files were.
    fn limit(&self, analysis: &mut Analysis, findings: &mut Vec<Decided>) {
        let Some(only) = &self.scope.only else { return };
        let kept = analysis.keep(&self.sources, only);
        findings.retain_mut(|decided| {
            let finding = &mut decided.finding;
            let stands = || only.contains(&self.sources.path(self.sources.origin(finding.span).file));
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
            findings,
            rules: &self.settings.rules,
            undetermined: &analysis.undetermined,
            totals: &analysis.totals,
            unknown_machines: &analysis.left_out.unknown_machines,
            verdict: Verdict::of(false, &analysis.inventory.unjudged),
            currency: self.settings.pricing.currency,
            catalog: crate::report::Catalog {
                version: format!("{} {}", env!("CARGO_PKG_VERSION"), self.settings.catalog.layers()),
                as_of: self.settings.catalog.as_of().to_owned(),
            },
        }
    }

    /// Rules that did not load, or failed: what the others said was told, but nothing may seem clean.
    pub(super) fn demand_whole_rules(&self, analysis: &Analysis) -> Result<(), Failure> {
        let failed = analysis.broken_rules.iter().cloned().map(Diagnostic::from);
        let wrong: Vec<Diagnostic> = self.policy.wrong_rules.iter().cloned().chain(failed).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(settings::refused(&self.sources, &self.scope.paths, &wrong, "some rules could not be used"))
    }

    /// Rules that are named and are not there, or cannot be used as the settings say.
    pub(super) fn demand_rules(&self) -> Result<(), Failure> {
        if self.policy.wrong_rules.is_empty() {
            return Ok(());
        }
        Err(settings::refused(
            &self.sources,
            &self.scope.paths,
            &self.policy.wrong_rules,
            "some rules could not be used",
        ))
    }

    pub(super) fn outcome(&self, analysis: &Analysis) -> Outcome {
        if self.scope.allow_empty || self.was_anything_checked(analysis) {
            return Outcome::Passed;
        }
        output::complain(
            "nothing was checked: no Terraform and no Kubernetes files here\n  help: run it where they are, or name them, as in \
             `gpulint check infra/`; --allow-empty makes this exit with 0",
        );
        Outcome::Empty
    }
}

impl Session {
    /// Text without accelerators was checked; text that is neither Terraform nor Kubernetes was not.
    pub(super) fn was_anything_checked(&self, analysis: &Analysis) -> bool {
        let named = |file: &&String| self.scope.only.as_ref().is_none_or(|only| only.contains(*file));
        let mut files = self.files.iter().filter(named);
        let inventory = &analysis.inventory;
        !inventory.resources.is_empty()
            || !analysis.plans.is_empty()
            || !inventory.diagnostics.is_empty()
            || !inventory.skipped.is_empty()
            || !inventory.unjudged.is_empty()
            || self.files.iter().filter(named).any(|file| files::is_terraform(file))
            || files.any(|file| self.speaks_to_us(file))
    }

    /// Whether a file is Terraform or Kubernetes.
    pub(super) fn speaks_to_us(&self, file: &str) -> bool {
        files::is_terraform(file) || self.sources.open(file).is_ok_and(|it| is_manifest(&self.sources.text(it)))
    }

    pub(super) fn allows_empty(&self) -> bool {
        self.scope.allow_empty
    }
}

impl SessionScope {
    fn of(input: &Input, place: &Place, only: BTreeSet<String>, render: Option<render::Request>) -> SessionScope {
        let names_files = place.named.iter().any(|path| path.is_file());
        SessionScope {
            only: names_files.then_some(only),
            named: place.named.iter().filter_map(|path| place.in_tree(path)).collect(),
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

/// What lies there, before anything of it is read.
struct Looked {
    place: Place,
    found: Found,
    tree: PolicyTree,
    largest: LargestFile,
    variable_files: VariableFiles,
    /// Standard input and the name that it has.
    piped: Option<(String, Vec<u8>)>,
}

fn look(input: &Input, add: impl Fn(&mut Found, &Path, &Place)) -> Result<Looked, Failure> {
    let (given, mut paths): (Vec<_>, Vec<_>) = input.paths.iter().cloned().partition(|path| path.as_os_str() == "-");
    let piped = (!given.is_empty()).then(|| piped(input.stdin_filename.as_deref())).transpose()?;
    if paths.is_empty() && piped.is_none() {
        paths.push(PathBuf::from("."));
    }
    let beside = input.config.iter().chain(&input.modules_directory).chain(&input.beside).map(PathBuf::as_path);
    let variable_files = VariableFiles::of(&input.variable_files)?;
    let beside: Vec<&Path> = beside.chain(variable_files.all()).collect();
    let place = Place::of(&paths, &beside)?;
    let mut found = Found::default();
    for path in &place.named {
        add(&mut found, path, &place);
    }
    found.skipped.extend(absent_from(&place));
    found.add_tracked(&place);
    let tree = DiskTree::new(place.root.clone(), place.allowed.clone());
    let largest = tree.largest();
    let tree = PolicyTree::of(input, &place, tree)?;
    let named = |(name, text): (String, Vec<u8>)| {
        let name = input.stdin_filename.as_ref().map_or(Ok(name), |path| place.named_beside(path))?;
        Ok::<_, Failure>((name, text))
    };
    let piped = piped.map(named).transpose()?;
    if let Some((name, _)) = &piped {
        found.files.push(name.clone());
        found.only.insert(name.clone());
    }
    found.files.sort();
    found.files.dedup();
    Ok(Looked { place, found, tree, largest, variable_files, piped })
}

/// The tree with what is given beside it: standard input, and text of the caller.
fn with_given(mut tree: PolicyTree, input: &Input, piped: Option<(String, Vec<u8>)>) -> PolicyTree {
    let given = piped.into_iter().chain(input.given.iter().map(|(path, text)| (path.clone(), text.clone())));
    for (path, text) in given {
        tree = tree.with_given(path, text);
    }
    tree
}

fn is_manifest(text: &str) -> bool {
    let is_key = |line: &str, key: &str| {
        let line = line.trim_start().trim_start_matches(['-', ' ', '{', '"', '\'']);
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    };
    text.contains("apiVersion") && text.contains("kind") && text.lines().any(|line| is_key(line, "apiVersion"))
}

/// Files to read.
#[derive(Default)]
struct Found {
    files: Vec<String>,
    /// What was named as a file, and what lies below a directory that was named beside files.
    only: BTreeSet<String>,
    /// Repositories of named files, which a hook may name by the hundred: each is walked through once.
    around: BTreeSet<PathBuf>,
    skipped: Vec<Skipped>,
    /// Something was looked for: verbs that only want settings read nothing.
    walked: bool,
}

impl Found {
    fn add(&mut self, path: &Path, place: &Place) {
        if path.is_dir() {
            let below = self.below(path, place);
            self.only.extend(below.iter().cloned());
            self.files.extend(below);
            return;
        }
        let Some(file) = place.in_tree(path) else { return };
        self.only.extend(submodules(path, place));
        // Of a chart the folder is told, not the file that makes it one.
        self.only.extend(file.strip_suffix("Chart.yaml").map(|folder| folder.trim_end_matches('/').to_owned()));
        // A file means nothing alone: what it belongs to may stand anywhere in its repository.
        let around = path.parent().map(|directory| place::repository(directory).unwrap_or(directory));
        if files::is_candidate(path)
            && !is_plan(path)
            && let Some(around) = around
            && self.around.insert(around.to_owned())
        {
            let below = self.below(around, place);
            self.files.extend(below);
        }
        self.files.push(file.clone());
        self.only.insert(file);
    }

    /// What git tracks and a walk leaves out.
    fn add_tracked(&mut self, place: &Place) {
        if !self.walked {
            return;
        }
        self.files.sort_unstable();
        self.files.dedup();
        let tracked = tracked::not_found(place, &self.files);
        let directories: Vec<String> =
            place.named.iter().filter(|it| it.is_dir()).filter_map(|it| place.in_tree(it)).collect();
        let inside = tracked.iter().filter(|file| directories.iter().any(|it| overlaps(it, file)));
        self.only.extend(inside.cloned());
        self.files.extend(tracked);
    }

    fn below(&mut self, directory: &Path, place: &Place) -> Vec<String> {
        self.walked = true;
        let mut files = Vec::new();
        let mut found = discover::below(directory);
        // Who names a directory of a repository means it, whatever git leaves out.
        let is_part = place::repository(directory).is_some_and(|it| it != directory);
        if found.files.is_empty() && is_part && place.named.iter().any(|it| it == directory) {
            found = discover::whole(directory);
        }
        let shown = |path: &Path| match path.strip_prefix(&place.root).unwrap_or(path).to_string_lossy().into_owned() {
            root if root.is_empty() => ".".to_owned(),
            below => below,
        };
        for (path, reason) in found.odd {
            self.skipped.push(Skipped { path: shown(&path), reason: reason.to_owned() });
        }
        for path in found.files {
            match place.in_tree(&path) {
                Some(file) => files.push(file),
                None => {
                    self.skipped.push(Skipped { path: shown(&path), reason: "its name is no UTF-8".to_owned() });
                }
            }
        }
        files
    }
}

/// A path below the root as a path of the tree.
fn names_of(inside: &Path) -> String {
    let names: Vec<_> = inside.components().map(|part| named(part.as_os_str().as_encoded_bytes())).collect();
    names.join("/")
}

/// The directories that a list of submodules names: whoever asks about the list asks about them.
fn submodules(path: &Path, place: &Place) -> Vec<String> {
    if path.file_name().is_none_or(|it| it != absent::LIST) {
        return Vec::new();
    }
    let list = read_limited(path, Limits::DEFAULT.file_bytes).unwrap_or_default();
    let directory = path.parent().and_then(|it| place.in_tree(it)).unwrap_or_default();
    absent::listed(&list).iter().filter_map(|it| join(&directory, it)).collect()
}

/// What the repositories of what was named have and the disk has not.
fn absent_from(place: &Place) -> Vec<Skipped> {
    let repositories = place.allowed.iter().filter(|it| place::repository(it) == Some(it));
    let in_tree = |repository: &PathBuf| {
        let above = place.in_tree(repository)?;
        let moved = move |it: Skipped| match above.as_str() {
            "" => it,
            above => Skipped { path: format!("{above}/{}", it.path), ..it },
        };
        Some(absent::of(repository).into_iter().map(moved))
    };
    let named: Vec<String> = place.named.iter().filter_map(|path| place.in_tree(path)).collect();
    // A file that was named may belong to what lies anywhere around it.
    let reads_all = place.named.iter().any(|path| path.is_file());
    let concerns = |it: &Skipped| reads_all || named.iter().any(|named| overlaps(named, &it.path));
    repositories.filter_map(in_tree).flatten().filter(concerns).collect()
}

/// One of two paths lies at or below the other.
fn overlaps(a: &str, b: &str) -> bool {
    let is_below = |path: &str, above: &str| {
        above.is_empty() || path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    b == "." || is_below(a, b) || is_below(b, a)
}

/// The names of files of values with which charts are rendered.
fn chart_values(input: &Input, config: &Config, files: &[String]) -> Result<Vec<String>, Failure> {
    if input.values.is_empty() {
        return Ok(config.texts(setting!("values")).iter().map(|(name, _)| name.clone()).collect());
    }
    let is_chart = |path: &&String| path.rsplit('/').next() == Some("Chart.yaml");
    let all: Vec<&str> = files.iter().filter(is_chart).map(|path| crate::source::parent(path)).collect();
    let is_inside =
        |chart: &str| all.iter().any(|other| chart.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')));
    let charts: Vec<&str> = all.iter().copied().filter(|chart| !is_inside(chart)).collect();
    for name in input.values.iter().filter(|name| *name != "*") {
        let wanted = name.trim_start_matches("./");
        let is_called =
            |file: &String| file.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let called: Vec<&String> = files.iter().filter(|file| is_called(file)).collect();
        if called.is_empty() {
            return Err(Failure::new(format!("no file of values is called `{name}`"))
                .with_help("name it as it is called within the directory of its chart"));
        }
        let in_chart =
            |file: &&&String| charts.iter().any(|chart| chart.is_empty() || file.starts_with(&format!("{chart}/")));
        if charts.len() != 1 && !called.iter().any(|file| in_chart(&file)) {
            return Err(Failure::new(format!(
                "`{name}` lies in no chart, and there are {} that it may be for",
                charts.len()
            ))
            .with_help("name the directory of the chart and the file, or say it in gpulint.toml under [[runs]]"));
        }
    }
    Ok(input.values.clone())
}

fn render_request(input: &Input, config: &Config, place: &Place, values: &[String]) -> Option<render::Request> {
    let configured = config.flag(setting!("render")).unwrap_or(false);
    (input.render || configured).then(|| render::Request {
        values: values.to_vec(),
        time: bounds::rendering_time(config),
        repository: place.root.clone(),
    })
}

/// Patterns of the settings and of the command line.
fn excluded(input: &Input, config: &Config) -> Vec<String> {
    let configured = config.texts(setting!("exclude")).iter().map(|(pattern, _)| pattern.clone());
    configured.chain(input.exclude.iter().cloned()).collect()
}

fn given_run(run: crate::config::RunSetting) -> GivenRun {
    GivenRun {
        paths: run.paths,
        name: run.name,
        variable_files: run.variable_files,
        variables: run.variables,
        workspace: run.workspace,
        modules_directory: run.modules_directory,
        values: run.values,
    }
}

fn named_directories(place: &Place) -> Vec<String> {
    place.named.iter().filter(|path| path.is_dir()).filter_map(|path| place.in_tree(path)).collect()
}

fn terraform_options(
    input: &Input,
    place: &Place,
    files: &VariableFiles,
    piped: Option<&str>,
) -> Result<terraform::Options, Failure> {
    let directories = place.named.iter().filter(|path| path.is_dir());
    let named = place.named.iter().filter(|path| path.is_file());
    let named_plans = named.filter_map(|path| place.in_tree(path)).chain(piped.map(str::to_owned)).collect();
    let in_tree = |files: &[PathBuf]| files.iter().map(|file| place.named_file(file)).collect::<Result<_, _>>();
    Ok(terraform::Options {
        variables: input.variables.clone(),
        variable_files: in_tree(&files.together)?,
        environments: in_tree(&files.each)?,
        given_runs: Vec::new(),
        environment: environment(),
        workspace: input.workspace.clone(),
        named_roots: directories.filter_map(|path| place.in_tree(path)).collect(),
        named_plans,
        plan_side: terraform::PlanSide::After,
        modules_directory: input.modules_directory.as_deref().map(|path| place.named_file(path)).transpose()?,
        raw: false,
    })
}

/// Standard input, as a file whose name says what it seems to be.
fn piped(named: Option<&Path>) -> Result<(String, Vec<u8>), Failure> {
    let largest = Limits::DEFAULT.file_bytes;
    let mut text = Vec::new();
    std::io::stdin()
        .lock()
        .take(largest + 1)
        .read_to_end(&mut text)
        .map_err(|error| Failure::new(format!("standard input cannot be read: {error}")))?;
    if text.len() as u64 > largest {
        return Err(Failure::new(format!("standard input is longer than the limit of {largest} bytes")));
    }
    let start = text.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    let name = match start {
        Some(b'{') => "<stdin>.json",
        _ if named.is_none() && reads_as_terraform(&text) => "<stdin>/main.tf",
        _ => "<stdin>.yaml",
    };
    Ok((name.to_owned(), text))
}

/// Its first words that are no comment begin a block.
fn reads_as_terraform(text: &[u8]) -> bool {
    const BLOCKS: [&str; 8] = ["resource", "module", "variable", "provider", "terraform", "locals", "data", "output"];
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '/', '*']));
    lines.next().is_some_and(|line| {
        let word = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let rest = line.get(word.len()..).unwrap_or_default().trim_start();
        BLOCKS.contains(&word) && rest.starts_with(['"', '{'])
    })
}

/// A plan says everything itself.
fn is_plan(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|it| it == "json");
    let text = || super::world::file_tree::read_limited(path, Limits::DEFAULT.file_bytes);
    is_json && text().is_ok_and(|text| terraform::is_plan(&text))
}

/// The variables that Terraform takes from the environment.
fn environment() -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.to_str()?.strip_prefix("TF_VAR_")?.to_owned();
            Some((name, value.into_string().ok()?))
        })
        .collect();
    variables.sort();
    variables
}

/// What charts are told of the cluster.
fn cluster(config: &Config) -> kubernetes::Cluster {
    let usual = kubernetes::Cluster::default();
    let whole = |(version, _): (&str, Span)| match version.trim_start_matches('v') {
        short if short.matches('.').count() < 2 => format!("v{short}.0"),
        whole => format!("v{whole}"),
    };
    kubernetes::Cluster {
        version: config.text(setting!("charts.kubernetes")).map_or(usual.version, whole),
        interfaces: config.texts(setting!("charts.api-versions")).iter().map(|(name, _)| name.clone()).collect(),
    }
}
