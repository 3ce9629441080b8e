//! Runs the examples of a rule file like a check, with only this rule enabled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::readable;
use crate::Analysis;
use crate::catalog::Catalog;
use crate::cli::session::Session;
use crate::cli::session::in_memory_tree::{Imagined, describe_mistake};
use crate::cli::session::settings;
use crate::compare::{self, Touched};
use crate::config::{self, Config, setting};
use crate::diagnostic::Diagnostic;
use crate::inventory::UnjudgedStatus;
use crate::measured::paid;
use crate::measured::row;
use crate::pricing::Delta;
use crate::rules::{
    self, Example, ExampleFile, ExampleMarker, Expected, Finding, LooksAt, PageText, Profile, RuleFile, Rules,
};
use crate::source::{MemoryTree, SourceFiles, Span};

/// A rule under test, and its surroundings.
pub(in crate::cli) struct Bench<'a> {
    ground: &'a Session,
    pub(super) page: &'a RuleFile,
    /// All custom rules, which the settings of an example can name.
    own: Vec<PageText>,
    /// The rule alone, for examples without settings.
    alone: Arc<Rules>,
}

/// An example that was executed.
pub(super) struct Tried {
    pub(super) session: Session,
    pub(super) analysis: Analysis,
    /// The cost difference, for an example of a change.
    pub(super) delta: Option<Delta>,
    /// The findings that no suppression accepts, in the order of lines.
    pub(super) findings: Vec<Finding>,
    /// The lines that the rule could not evaluate, with the reasons.
    pub(super) unknown: Vec<(Expected, String)>,
}

impl<'a> Bench<'a> {
    pub(in crate::cli) fn new(ground: &'a Session, page: &'a RuleFile, own: &[PageText]) -> Bench<'a> {
        let only: Vec<PageText> = own.iter().filter(|own| *page.text == *own.text).cloned().collect();
        let (alone, _) = alone(page, &only);
        Bench { ground, page, own: own.to_vec(), alone: Arc::new(alone) }
    }

    /// Returns a bench with another content of the rule file, or `None` if that content does not load.
    pub(super) fn changed(&self, text: &str) -> Option<Bench<'a>> {
        let mut own = self.own.clone();
        let page = own.iter_mut().find(|own| *self.page.text == *own.text)?;
        page.text = text.into();
        let (alone, wrong) = alone(self.page, std::slice::from_ref(page));
        wrong.is_empty().then(|| Bench { ground: self.ground, page: self.page, own, alone: Arc::new(alone) })
    }

    pub(super) fn execute(&self, example: &Example) -> Result<Tried, String> {
        self.demand_what_it_needs(example)?;
        let session = self.session(example, &example.files)?;
        let mut analysis = session.analyze_all();
        let earlier = example.before.as_ref().map(|files| self.session(example, files)).transpose()?;
        let mut delta = None;
        if let Some(earlier) = &earlier {
            let before = earlier.analyze_all();
            demand_read(earlier, &before, self.page, example.before.as_deref().unwrap_or_default())?;
            let touched = Touched { files: touched(example), ..Touched::default() };
            delta = Some(compare::compare(&earlier.state(), &before, &session.state(), &mut analysis, &touched));
        }
        demand_read(&session, &analysis, self.page, &example.files)?;
        if let Some(broken) = analysis.broken_rules.first() {
            return Err(format!("the rule fails: {}", broken.message));
        }
        let (analysis, decision) = session.decide(analysis);
        let counts = decision.findings.into_iter().filter(|it| it.counts() && it.finding.rule == self.page.name);
        // A finding whose message cannot be evaluated counts as undetermined.
        let failed = |it: &Finding| {
            analysis
                .undetermined
                .iter()
                .any(|un| un.rule == it.rule && un.span == it.span && un.resource == it.resource)
        };
        let findings: Vec<Finding> = counts.map(|it| it.finding).filter(|it| !failed(it)).collect();
        let unknown = self.unknown(&session.sources, &analysis, &findings);
        Ok(Tried { session, analysis, delta, findings, unknown })
    }

    /// Refuses examples whose result could depend on the date or on missing parts.
    fn demand_what_it_needs(&self, example: &Example) -> Result<(), String> {
        let is_of_change = self.page.looks_at == LooksAt::Change;
        if is_of_change && example.before.is_none() {
            return Err("a rule with `for: change` needs code blocks `before` and `after`".to_owned());
        }
        if !is_of_change && example.before.is_some() {
            return Err("only rules with `for: change` can have code blocks `before` and `after`".to_owned());
        }
        if example.today.is_none() && self.page.names("today") {
            return Err("the rule uses `today`: add a code block `today` with a date, such as 2026-11-21".to_owned());
        }
        Ok(())
    }

    /// Returns a session with a repository of these files.
    fn session(&self, example: &Example, files: &[ExampleFile]) -> Result<Session, String> {
        let mut tree = MemoryTree::new();
        for file in files {
            tree = tree.with(&file.path, file.text.as_str());
        }
        if let Some(config) = &example.config {
            tree = tree.with(config::FILE_NAME, config.as_str());
        }
        if let Some(usage) = &example.usage {
            tree = tree.with(row::FILE_NAME, row::of_rows(usage));
        }
        if let Some(rows) = &example.paid {
            tree = tree.with(paid::row::FILE_NAME, paid::row::of_rows(rows));
        }
        let mut catalog = Catalog::examples();
        if let Some(prices) = &example.prices {
            catalog = catalog.with_prices("prices.csv", prices).map_err(|error| {
                format!("the code block `prices` has an error in line {}: {}", error.line, error.message)
            })?;
        }
        let today = match &example.today {
            Some(day) => Some(day.parse().map_err(|why| format!("the code block `today` has an error: {why}"))?),
            None => None,
        };
        let files = files.iter().map(|file| file.path.clone()).collect();
        let of_config = |why: String| format!("the code block `config` has an error: {why}");
        let mut session = self.ground.imagined(Imagined { tree, files, catalog, today }).map_err(of_config)?;
        session.settings.rules = match &example.config {
            Some(_) => Arc::new(self.configured(&session.policy.config).map_err(of_config)?),
            None => self.alone.clone(),
        };
        Ok(session)
    }

    /// Returns the rule with the settings of an example.
    fn configured(&self, config: &Config) -> Result<Rules, String> {
        let mut chosen = settings::rule_settings(config);
        if config.text(setting!("profile")).is_none() {
            chosen.profile = Profile::All;
        }
        let everywhere = rules::RuleSettings { layers: Vec::new(), ..chosen.clone() };
        let (all, wrong) = Rules::load(&self.own, everywhere);
        let (_, of_layers) = Rules::load(&self.own, chosen.clone());
        let (_, of_pages) = Rules::load(&self.own, rules::RuleSettings::default());
        let is_new = |it: &&Diagnostic| !of_pages.contains(it);
        if let Some(first) = wrong.iter().chain(&of_layers).find(is_new) {
            return Err(describe_mistake(first));
        }
        let name = if all.is_on(&self.page.name) { self.page.name.clone() } else { NOTHING.to_owned() };
        chosen.select = vec![(name, None)];
        Ok(Rules::load(&self.own, chosen).0)
    }

    /// Returns the lines that the rule could not evaluate, including resources that are unknown themselves.
    fn unknown(&self, sources: &SourceFiles, analysis: &Analysis, findings: &[Finding]) -> Vec<(Expected, String)> {
        let at = |span: Span| line_of(sources, span, ExampleMarker::Undetermined);
        let own = analysis.undetermined.iter().filter(|it| it.rule == self.page.name);
        let mut all: Vec<(Expected, String)> = own.map(|it| (at(it.span), it.cause.clone())).collect();
        if !matches!(self.page.looks_at, LooksAt::Resource | LooksAt::Repository | LooksAt::Change) {
            return all;
        }
        let spoken: BTreeSet<(String, usize)> = findings
            .iter()
            .map(|it| line_of(sources, it.span, ExampleMarker::Reported))
            .chain(all.iter().map(|(at, _)| at.clone()))
            .map(|at| (at.path, at.line))
            .collect();
        // Resources that only lack a price were evaluated.
        let is_resource = |address: &Option<String>| {
            analysis.inventory.resources.iter().any(|it| Some(&it.address) == address.as_ref())
        };
        let open = analysis.inventory.unjudged.iter().filter(|it| it.standing != UnjudgedStatus::AsBefore);
        for it in open.filter(|it| !is_resource(&it.address)) {
            let first = Expected { path: it.path.clone(), line: 1, marker: ExampleMarker::Undetermined };
            let at = it.span.or(it.shown_at).map_or(first, at);
            if !spoken.contains(&(at.path.clone(), at.line)) {
                all.push((at, it.reason.clone()));
            }
        }
        all
    }
}

/// Loads only this rule, without settings.
fn alone(page: &RuleFile, own: &[PageText]) -> (Rules, Vec<Diagnostic>) {
    let select = vec![(page.name.clone(), None)];
    Rules::load(own, rules::RuleSettings { select, ..rules::RuleSettings::default() })
}

/// A name that no rule can have, to select none.
const NOTHING: &str = "";

/// Returns the line of an example for a position.
pub(super) fn line_of(sources: &SourceFiles, span: Span, marker: ExampleMarker) -> Expected {
    let place = sources.locate(span);
    Expected { path: place.path, line: place.line, marker }
}

/// Refuses examples that cannot be read, except for rules about unreadable files.
fn demand_read(session: &Session, analysis: &Analysis, page: &RuleFile, files: &[ExampleFile]) -> Result<(), String> {
    let diagnostics = || analysis.inventory.diagnostics.iter();
    for (file, fence) in [(row::FILE_NAME, "usage"), (paid::row::FILE_NAME, "paid")] {
        let is_there = |span: Span| session.sources.path(span.file) == file;
        if let Some(wrong) = diagnostics().find(|it| it.span.is_some_and(is_there)) {
            return Err(format!("the code block `{fence}` has an error: {}", wrong.message));
        }
    }
    if page.looks_at == LooksAt::Text {
        return Ok(());
    }
    if let Some(wrong) = diagnostics().find(|it| it.unreadable) {
        let place = wrong.span.map(|span| session.sources.locate(span));
        let file = place.as_ref().and_then(|at| Some((files.iter().find(|file| file.path == at.path)?, at.line)));
        return Err(match file {
            Some((file, line)) => readable::refused(file, line, &describe_mistake(wrong)),
            None => format!("gpulint cannot read the example: {}", describe_mistake(wrong)),
        });
    }
    readable::demand(&session.sources, files)
}

/// Returns the files that a change adds, removes or changes.
fn touched(example: &Example) -> BTreeSet<String> {
    let texts = |files: &[ExampleFile]| -> BTreeMap<String, String> {
        files.iter().map(|file| (file.path.clone(), file.text.clone())).collect()
    };
    let (before, after) = (texts(example.before.as_deref().unwrap_or_default()), texts(&example.files));
    let differs = |path: &&String| before.get(*path) != after.get(*path);
    before.keys().chain(after.keys()).filter(differs).cloned().collect()
}
