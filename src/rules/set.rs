//! Loads the rules of a run: built-in and custom rules, and which of them are on.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Level};
use crate::inventory::{Inventory, WantedRaw};
use crate::languages::cel::nearest;
use crate::pricing::{NewLimit, Period};
use crate::source::{SourceFiles, Span};

use super::facts::RuleContext;
use super::fences::examples;
use super::judge::judge;
use super::layers::{self, LayersInForce};
use super::page::{self, Front, LooksAt, PageMistake, RuleFile};
use super::settings::{Override, PackName, PageText, ParameterValue, RuleSettings};
use super::why::{self, Reason};
use super::{Confidence, FailedRule, Finding, Fix, Judgement, Safety};

/// The built-in rule files as parsed by the build script.
mod embedded {
    use std::borrow::Cow;

    use crate::rules::page::Front;
    use crate::rules::yaml::{PageName, PageNode, PageValue};

    include!(concat!(env!("OUT_DIR"), "/pages.rs"));
}

pub use embedded::BUILT_IN;
use embedded::FRONTS;

/// Returns names and texts of the built-in rule files.
pub(super) fn built_in() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILT_IN.iter().map(|(path, text)| (path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md"), *text))
}

/// Maps former names of rules to current ones. A name that a rule has now is not a former name.
fn former_names(own: &[PageText]) -> BTreeMap<String, String> {
    let may_replace = own.iter().filter(|page| page.text.contains("replaces"));
    let pages: Vec<RuleFile> = may_replace.filter_map(|page| RuleFile::read(&page.text, &[]).ok()).collect();
    let is_there = |name: &str| {
        let file = format!("{name}.md");
        built_in().any(|(known, _)| known == name) || own.iter().any(|page| page.path.rsplit('/').next() == Some(&file))
    };
    let names = pages.iter().flat_map(|page| page.replaces.iter().map(|old| (old.clone(), page.name.clone())));
    names.filter(|(old, _)| !is_there(old)).collect()
}

/// A rule file to add.
struct Source<'a> {
    path: &'a str,
    text: &'a str,
    own: Option<&'a PageText>,
    /// The parsed front matter of a built-in rule.
    front: Option<&'static Front>,
}

impl Source<'_> {
    fn read(&self, given: &[(&str, &ParameterValue)]) -> Result<RuleFile, Vec<PageMistake>> {
        match self.front {
            Some(front) => RuleFile::built_in(front, given),
            None => RuleFile::read(self.text, given),
        }
    }
}

/// The rules of a run.
#[derive(Debug, Default)]
pub struct Rules {
    pages: Vec<RuleFile>,
    on: Vec<bool>,
    settings: RuleSettings,
    /// The custom rule files, to read them again with the settings of some paths.
    own: Vec<PageText>,
    /// The pack that contains a rule.
    packs: BTreeMap<String, PackName>,
    /// Rules that settings of some paths turn on.
    on_somewhere: BTreeSet<String>,
}

impl Rules {
    /// Loads built-in and custom rules. A rule file that does not load is reported and skipped.
    pub fn load(own: &[PageText], mut settings: RuleSettings) -> (Rules, Vec<Diagnostic>) {
        settings.rename(&former_names(own));
        let (mut rules, mut wrong) = Self::read(own, &settings);
        rules.check_names(&settings, &mut wrong);
        for number in 0..settings.layers.len() {
            let there = settings.with_layers(&[number]);
            let (of_layer, mut also) = Self::read(own, &there);
            of_layer.check_names(&there, &mut also);
            wrong.extend(also.into_iter().filter(|it| !wrong.contains(it)).collect::<Vec<_>>());
            let on = of_layer.pages.iter().zip(&of_layer.on).filter(|(_, on)| **on);
            rules.on_somewhere.extend(on.map(|(page, _)| page.name.clone()));
        }
        wrong.extend(layers::check(&settings.layers, &rules));
        if !settings.layers.is_empty() {
            rules.own = own.to_vec();
        }
        rules.settings = settings;
        (rules, wrong)
    }

    /// Returns the rules under some layers of settings.
    fn with_layers(&self, key: &[usize]) -> Rules {
        let settings = self.settings.with_layers(key);
        let (mut rules, _) = Self::read(&self.own, &settings);
        rules.settings = settings;
        rules
    }

    /// Returns only these rules, all turned on; for tests of rule files.
    pub fn of(pages: &[(&str, &str)], settings: RuleSettings) -> Rules {
        let (mut rules, mut wrong) = (Rules::default(), Vec::new());
        for (path, text) in pages {
            rules.add(&Source { path, text, own: None, front: None }, &settings, &mut wrong);
        }
        rules.add_own(&[], &settings, &mut wrong);
        rules.on.fill(true);
        rules.settings = settings;
        rules
    }

    /// Reads built-in and custom rules.
    fn read(own: &[PageText], settings: &RuleSettings) -> (Rules, Vec<Diagnostic>) {
        let (mut rules, mut wrong) = (Rules::default(), Vec::new());
        rules.pages.reserve(BUILT_IN.len() + own.len());
        for ((path, text), front) in BUILT_IN.iter().zip(FRONTS) {
            rules.add(&Source { path, text, own: None, front: Some(front) }, settings, &mut wrong);
        }
        rules.add_own(own, settings, &mut wrong);
        (rules, wrong)
    }

    /// Adds the custom rules. This must come last, because it sorts all rules.
    fn add_own(&mut self, own: &[PageText], settings: &RuleSettings, wrong: &mut Vec<Diagnostic>) {
        for own in own {
            self.add(&Source { path: &own.path, text: &own.text, own: Some(own), front: None }, settings, wrong);
        }
        self.pages.sort_by(|a, b| a.name.cmp(&b.name));
        self.on = self.pages.iter().map(|page| is_on(page, settings)).collect();
    }

    fn add(&mut self, source: &Source<'_>, settings: &RuleSettings, wrong: &mut Vec<Diagnostic>) {
        let Source { path, text, own, .. } = *source;
        // Settings of a rule are found by its file name, before the file is read.
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
        let set = settings.rules.get(stem);
        let given: Vec<(&str, &ParameterValue)> =
            set.iter().flat_map(|set| &set.parameters).map(|(name, value, _)| (name.as_str(), value)).collect();
        let mut page = match source.read(&given) {
            Ok(page) => page,
            Err(mistakes) => {
                wrong.extend(mistakes.into_iter().map(|mistake| diagnostic(mistake, path, text, own)));
                return;
            }
        };
        if page.name != stem {
            let mistake =
                PageMistake::new(0..0, format!("the rule has the name `{}`, and its file is `{stem}.md`", page.name));
            wrong.push(diagnostic(mistake.with_help("give both the same name"), path, text, own));
            return;
        }
        if own.is_some() && page.looks_at == LooksAt::Text {
            let mistake = PageMistake::new(0..0, "`for: text` is reserved for gpulint's own messages");
            wrong.push(diagnostic(
                mistake.with_help("use `for: resource`, `for: repository` or `for: change`"),
                path,
                text,
                own,
            ));
            return;
        }
        if own.is_some() && !page.untested && examples(page.body()).is_empty() {
            let start = text.find("untested").unwrap_or(page.prose).min(text.len());
            let mistake = PageMistake::new(start..start, "the rule file has no examples that test the rule");
            let help = "write one under `## Examples`, or set `untested: true`";
            wrong.push(diagnostic(mistake.with_help(help), path, text, own));
            return;
        }
        if self.pages.iter().any(|known| known.name == page.name) {
            let mistake = PageMistake::new(0..0, format!("a rule `{}` already exists", page.name));
            wrong.push(diagnostic(mistake.with_help("choose another name"), path, text, own));
            return;
        }
        let slips = match &settings.names {
            Some(names) if own.is_some() => page.unknown_names(names),
            _ => Vec::new(),
        };
        if !slips.is_empty() {
            wrong.extend(slips.into_iter().map(|mistake| diagnostic(mistake, path, text, own)));
            return;
        }
        page.undetermined = own.and_then(|own| own.undetermined);
        if let Some(set) = set {
            check_override(&page, set, wrong);
            page.level = set.level.unwrap_or(page.level);
            page.undetermined = set.undetermined.unwrap_or(page.undetermined);
        }
        if let Some(pack) = own.and_then(|own| own.pack.clone()) {
            self.packs.insert(page.name.clone(), pack);
        }
        self.pages.push(page);
    }

    /// Returns the pack that contains a rule.
    pub fn pack(&self, rule: &str) -> Option<&PackName> {
        self.packs.get(rule)
    }

    /// Returns all rules by name.
    pub fn pages(&self) -> &[RuleFile] {
        &self.pages
    }

    pub fn page(&self, name: &str) -> Option<&RuleFile> {
        self.pages.iter().find(|page| page.name == name)
    }

    /// Returns the current name of a rule that may have had another one.
    pub fn current<'a>(&'a self, name: &'a str) -> &'a str {
        let replacing = || self.pages.iter().find(|page| page.replaces.iter().any(|it| it == name));
        match self.page(name) {
            Some(_) => name,
            None => replacing().map_or(name, |page| &page.name),
        }
    }

    /// Returns true if a pack declares that it removed the rule with this name.
    pub fn is_removed(&self, name: &str) -> bool {
        self.settings.removed.contains(name)
    }

    /// Returns true if the rule is on, at least for some paths.
    pub fn is_on(&self, name: &str) -> bool {
        self.on_somewhere.contains(name) || self.pages.iter().zip(&self.on).any(|(page, on)| page.name == name && *on)
    }

    /// Returns true if a setting limits what a change may add.
    pub fn limits_growth(&self) -> bool {
        self.settings.limits_growth()
    }

    /// Returns the raw data that the active rules use in addition to facts.
    pub fn raw(&self) -> WantedRaw {
        let mut wanted = WantedRaw::default();
        let may_speak = |on: bool| on || !self.settings.layers.is_empty();
        for page in self.pages.iter().zip(&self.on).filter(|(_, on)| may_speak(**on)).map(|(page, _)| page) {
            wanted.add(&page.wanted_raw());
        }
        wanted
    }

    /// Evaluates the active rules.
    pub fn judge(&self, world: &RuleContext<'_>, sources: &SourceFiles) -> Judgement {
        let pages = self.pages_that_are_on(|_| true);
        if self.settings.layers.is_empty() {
            return judge(&pages, world, &self.settings, &|_, _| true);
        }
        let held = LayersInForce::of(world, sources, &self.settings.layers);
        let mut judgement =
            judge(&pages, world, &self.settings, &|about, place| held.of_place(about, place).is_empty());
        for key in held.keys() {
            let there = self.with_layers(key);
            let is_about_one =
                |page: &RuleFile| matches!(page.looks_at, LooksAt::Resource | LooksAt::Object | LooksAt::Block);
            let pages = there.pages_that_are_on(is_about_one);
            let of_key = judge(&pages, world, &there.settings, &|about, place| held.of_place(about, place) == key);
            judgement.findings.extend(of_key.findings);
            judgement.undetermined.extend(of_key.undetermined);
            judgement.failures.extend(of_key.failures);
        }
        judgement.failures.sort();
        judgement.failures.dedup();
        judgement
    }

    /// Returns the result of a rule for everything in its scope, and the part of its condition that decided.
    pub fn reasons(&self, name: &str, world: &RuleContext<'_>) -> Vec<Reason> {
        self.page(name).map(|page| why::reasons(page, world, &self.settings)).unwrap_or_default()
    }

    /// Evaluates the rules about a change; the world contains the change.
    pub fn judge_change(&self, world: &RuleContext<'_>) -> Judgement {
        judge(&self.pages_that_are_on(|page| page.looks_at == LooksAt::Change), world, &self.settings, &|_, _| true)
    }

    fn pages_that_are_on(&self, is_wanted: impl Fn(&RuleFile) -> bool) -> Vec<&RuleFile> {
        let pages = self.pages.iter().zip(&self.on).filter(|(_, on)| **on).map(|(page, _)| page);
        pages.filter(|page| is_wanted(page)).collect()
    }

    /// Returns findings for files that Terraform or kubectl would refuse, or that exceed a limit.
    pub fn unreadable(&self, diagnostics: &[Diagnostic]) -> Vec<Finding> {
        let refused = diagnostics.iter().filter(|it| it.unreadable);
        let say = |it: &Diagnostic| {
            let mut finding = self.report_text_finding("unreadable", it.message.clone(), it.help.clone(), it.span?)?;
            let notes = it.notes.iter().filter_map(|(span, note)| Some(((*span)?, note.clone())));
            finding.related.extend(notes);
            Some(finding)
        };
        refused.filter_map(say).collect()
    }

    /// Returns a message of gpulint as a finding of the rule that explains it; `None` if that rule is off.
    pub fn report_text_finding(
        &self,
        rule: &str,
        message: String,
        help: Option<String>,
        span: Span,
    ) -> Option<Finding> {
        let page = self.page(rule).filter(|page| self.is_on(&page.name))?;
        Some(page.finding(message, help, span))
    }

    /// Returns a finding with a fix for each limit that `gpulint limit` adds or lowers.
    pub fn limit_findings(&self, limits: &[NewLimit], inventory: &Inventory) -> Vec<Finding> {
        let Some(page) = self.page(MAXIMUM) else { return Vec::new() };
        let new = |it: &NewLimit| {
            let resource = inventory.resources.get(it.resource.0)?;
            let fix = Fix {
                safety: Safety::Safe,
                wishes: vec![it.edit.clone()],
                otherwise: Vec::new(),
                follows: Vec::new(),
                declined: None,
                unjudged: None,
            };
            let message = format!("the new limit is {}", it.edit);
            Some(Finding {
                resource: Some(it.resource),
                also: it.also.clone(),
                fix: Some(fix),
                ..page.finding(message, None, resource.span)
            })
        };
        limits.iter().filter_map(new).collect()
    }

    /// Returns the most similar rule or group for a message.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let groups = self.pages.iter().map(|page| page.group.as_str());
        nearest(name, self.pages.iter().map(|page| page.name.as_str()).chain(groups))
    }

    fn knows(&self, name: &str) -> bool {
        name == ALL || self.pages.iter().any(|page| page.name == name || page.group == name)
    }

    /// Reports names in settings that no rule and no group has.
    fn check_names(&self, settings: &RuleSettings, wrong: &mut Vec<Diagnostic>) {
        let selected = settings.select.iter().chain(&settings.ignore).map(|(name, span)| (name, *span));
        let set = settings.rules.iter().map(|(name, set)| (name, set.span));
        let unknown =
            selected.filter(|(name, _)| !self.knows(name)).chain(set.filter(|(name, _)| self.page(name).is_none()));
        for (name, span) in unknown.filter(|(name, _)| !settings.removed.contains(*name)) {
            let diagnostic = Diagnostic::new(Level::Error, format!("there is no rule `{}`", name.escape_debug()), span);
            wrong.push(match self.nearest(name) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None => diagnostic.with_help("`gpulint rules list` shows all rules"),
            });
        }
    }
}

/// Selects every rule.
const ALL: &str = "all";

fn is_on(page: &RuleFile, settings: &RuleSettings) -> bool {
    let named = |names: &[(String, Option<Span>)], exact: bool| {
        names.iter().any(|(name, _)| *name == page.name || !exact && (*name == page.group || name == ALL))
    };
    if settings.forced.contains(&page.name) {
        return true;
    }
    if named(&settings.ignore, true) {
        return false;
    }
    if named(&settings.select, true) {
        return true;
    }
    if named(&settings.ignore, false) {
        return false;
    }
    match settings.select.is_empty() {
        true => page.profile <= settings.profile,
        false => named(&settings.select, false),
    }
}

fn check_override(page: &RuleFile, set: &Override, wrong: &mut Vec<Diagnostic>) {
    for (name, given, span) in &set.parameters {
        let Some(declared) = page.parameters.iter().find(|declared| declared.name == *name) else {
            let message = format!("{} has no parameter `{}`", page.name, name.escape_debug());
            let diagnostic = Diagnostic::new(Level::Error, message, *span);
            wrong.push(match nearest(name, page.parameters.iter().map(|it| it.name.as_str())) {
                Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
                None if page.parameters.is_empty() => diagnostic.with_help("the rule has no parameters"),
                None => {
                    let names: Vec<&str> = page.parameters.iter().map(|it| it.name.as_str()).collect();
                    diagnostic.with_help(format!("its parameters are {}", names.join(", ")))
                }
            });
            continue;
        };
        if page::conform(given, &declared.value).is_none() {
            let message = format!("`{name}` of {} must be {}", page.name, page::kind_of(&declared.value));
            wrong.push(Diagnostic::new(Level::Error, message, *span));
        }
    }
}

/// Converts a mistake in a rule file to a diagnostic. Built-in rule files are not in the repository, so the message
/// contains their place.
fn diagnostic(mistake: PageMistake, path: &str, text: &str, own: Option<&PageText>) -> Diagnostic {
    let (message, span) = match own {
        Some(own) => (mistake.message, Some(Span::new(own.file, mistake.at.start, mistake.at.end))),
        None => {
            let line = text.get(..mistake.at.start).unwrap_or_default().matches('\n').count() + 1;
            (format!("{path}:{line}: {}", mistake.message), None)
        }
    };
    Diagnostic { help: mistake.help, ..Diagnostic::new(Level::Error, message, span) }
}

impl From<FailedRule> for Diagnostic {
    fn from(broken: FailedRule) -> Self {
        Diagnostic::new(Level::Error, format!("the rule {} cannot be evaluated: {}", broken.rule, broken.message), None)
    }
}

/// The rule about the most that a month can cost.
pub const MAXIMUM: &str = "exceeded-maximum";

impl RuleFile {
    /// Returns a finding of a rule about a place.
    pub(super) fn finding(&self, message: String, help: Option<String>, span: Span) -> Finding {
        Finding {
            rule: self.name.clone(),
            group: self.group.clone(),
            layer: self.layer.name().to_owned(),
            level: self.level,
            confidence: Confidence::High,
            is_estimated: false,
            risk: self.risk,
            resource: None,
            piece: None,
            total: None,
            span,
            message,
            help,
            saves: None,
            per: Period::Month,
            also: Vec::new(),
            related: Vec::new(),
            edits: Vec::new(),
            fix: None,
            evidence: Vec::new(),
        }
    }
}
