//! Determines the verdict of a run, and lists everything relevant that was not evaluated.

use std::collections::{BTreeSet, HashMap};

use crate::catalog::Catalog;
use crate::diagnostic::SkipKind;
use crate::inventory::{Inventory, Key, RunKind, SkippedFile, Unjudged, UnjudgedStatus};
use crate::languages::table::{Language, Reader, is_of};
use crate::pricing::{Bill, Status};
use crate::resolve::UnknownMachine;
use crate::rules::Finding;
use crate::source::{SourceFiles, Span, is_below, join, lines_with_offsets, parent};

use super::named::{NamedAccelerators, asked_for, names_accelerators};
use super::unsupported;

/// The result of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verdict {
    #[default]
    Pass,
    /// No finding fails the run, but something relevant was not evaluated.
    NotJudged,
    /// A finding at or above the failing level, or an exceeded budget.
    Fail,
}

impl Verdict {
    pub const ALL: [Verdict; 3] = [Verdict::Pass, Verdict::NotJudged, Verdict::Fail];

    pub fn new(fails: bool, unjudged: &[Unjudged]) -> Verdict {
        match (fails, unjudged.iter().any(|it| it.standing != UnjudgedStatus::AsBefore)) {
            (true, _) => Verdict::Fail,
            (false, true) => Verdict::NotJudged,
            (false, false) => Verdict::Pass,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::NotJudged => "not judged",
            Verdict::Fail => "fail",
        }
    }

    /// Returns the verdict in reports for people; programs read [`Verdict::name`].
    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::NotJudged => "incomplete",
            verdict => verdict.name(),
        }
    }
}

/// A call of a module that is not downloaded, with its arguments.
pub struct UnreadModuleCall {
    /// The address without instance keys.
    pub address: String,
    pub body: Span,
    /// The known values of its arguments.
    pub values: Vec<String>,
    /// The block of the call without comments and without arguments that affect no machine.
    pub text: String,
    /// True if the module is known to create no machines.
    pub is_harmless: bool,
}

/// The input of the search for things that were not evaluated.
pub struct CoverageInput<'a> {
    pub sources: &'a SourceFiles,
    pub inventory: &'a Inventory,
    pub bill: &'a Bill,
    pub findings: &'a [Finding],
    pub unknown_machines: &'a [UnknownMachine],
    /// Module calls by the places of their headers.
    pub calls: &'a HashMap<Span, UnreadModuleCall>,
    pub catalog: &'a Catalog,
}

/// Returns everything relevant that was not evaluated, in the order of files.
pub fn unjudged(seen: &CoverageInput) -> Vec<Unjudged> {
    let mut all = seen.inventory.unjudged.clone();
    all.extend(seen.left_out());
    all.extend(seen.skipped());
    all.extend(seen.unreadable());
    all.extend(seen.foreign());
    all.extend(
        seen.inventory
            .unlisted
            .iter()
            .filter_map(|it| unsupported::describe_unsupported(it, seen.path(it.span), seen.catalog)),
    );
    // A resource that cannot be read has no price either: it is listed once.
    let told: BTreeSet<Option<String>> = all.iter().map(|it| it.address.clone()).filter(Option::is_some).collect();
    let modules: Vec<Unjudged> = all.iter().filter(|it| it.kind == SkipKind::MissingModule).cloned().collect();
    // A resource from the arguments of a missing module is listed only with that module, for each of its instances.
    let is_of_module = |address: &String| modules.iter().any(|it| it.may_hide(address, ""));
    let is_told = |it: &Unjudged| told.contains(&it.address) || it.address.as_ref().is_some_and(is_of_module);
    all.extend(seen.without_price().filter(|it| !is_told(it)));
    all.extend(seen.machines().filter(|it| !is_told(it)));
    // The numbers of files depend on the order in which threads opened them.
    let start = |it: &Unjudged| it.span.map(|span| span.start);
    all.sort_by(|a, b| (&a.path, start(a), &a.reason).cmp(&(&b.path, start(b), &b.reason)));
    all.dedup();
    all
}

impl CoverageInput<'_> {
    fn path(&self, span: Span) -> String {
        self.sources.path_of(span)
    }

    /// Returns entries for everything that the readers report as skipped.
    fn left_out(&self) -> impl Iterator<Item = Unjudged> {
        let left_out = self.inventory.diagnostics.iter().filter_map(|it| Some((it, it.skips?.0)));
        left_out.filter_map(|(it, kind)| {
            let span = it.span?;
            let unjudged = Unjudged::new(kind, self.path(span), it.message.clone());
            let mut unjudged = Unjudged { cure: it.help.clone(), ..unjudged };
            let mut place = span;
            // A template that names no accelerators is not relevant.
            if kind == SkipKind::Template {
                let file = self.sources.origin(span).file;
                if !names_accelerators(&self.sources.text(file), self.catalog) {
                    return None;
                }
            }
            if kind == SkipKind::UndeclaredParameter && !self.has_resources(&unjudged.path) {
                return None;
            }
            // Most modules have nothing to do with accelerators. A module is relevant if its arguments name some.
            if let Some(call) = self.calls.get(&span) {
                let mut texts = std::iter::once(&call.text).chain(&call.values);
                if call.is_harmless || !texts.any(|text| names_accelerators(text, self.catalog)) {
                    return None;
                }
                place = span.to(call.body);
                unjudged.known = format!("{}\n{}", call.text, call.values.join("\n"));
                unjudged.address = Some(call.address.clone());
            }
            Some(unjudged.at(place))
        })
    }

    /// Returns files that were not read, except those that a diagnostic reports.
    fn skipped(&self) -> impl Iterator<Item = Unjudged> {
        let reported: BTreeSet<SkipKind> =
            self.inventory.diagnostics.iter().filter_map(|it| Some(it.skips?.0)).collect();
        let skipped = self.inventory.skipped.iter().filter(move |it| !reported.contains(&it.kind));
        let matters = |it: &&SkippedFile| match it.kind {
            _ if it.is_example => false,
            SkipKind::UncalledModule => self.names_accelerators_in(&it.path),
            _ => !it.is_known_elsewhere(),
        };
        let submodules: Vec<&str> = self.of_kind(SkipKind::Submodule).map(|it| it.path.as_str()).collect();
        // Everything in a submodule that is not checked out has one cause: the entry of the submodule.
        let is_in_submodule = move |it: &&SkippedFile| {
            let absent = it.absent.as_deref();
            let is_part = |it: &str, path: &str| it == path || is_below(it, path) || is_below(path, it);
            absent.is_some_and(|it| submodules.iter().any(|path| is_part(it, path)))
        };
        skipped
            .filter(matters)
            .filter(move |it| !is_in_submodule(it))
            .map(|it| Unjudged::new(it.kind, it.path.clone(), it.reason.clone()))
    }

    /// Returns true if a deployment that reads a file has resources.
    fn has_resources(&self, path: &str) -> bool {
        let mut runs = self.inventory.runs.iter().filter(|run| run.reads(path));
        runs.any(|run| self.inventory.resources.iter().any(|it| it.run.as_ref() == Some(&run.id)))
    }

    fn of_kind(&self, kind: SkipKind) -> impl Iterator<Item = &SkippedFile> {
        self.inventory.skipped.iter().filter(move |it| it.kind == kind)
    }

    /// Returns true if a file in a directory names accelerators.
    fn names_accelerators_in(&self, directory: &str) -> bool {
        let files = self.sources.tree().list(directory).into_iter().filter(|it| !it.is_directory);
        let paths = files.map(|it| if directory.is_empty() { it.name } else { format!("{directory}/{}", it.name) });
        let terraform = paths.filter(|path| is_of(Reader::Terraform, path));
        terraform
            .filter_map(|path| self.sources.open(&path).ok())
            .any(|file| names_accelerators(&self.sources.text(file), self.catalog))
    }

    /// Returns the entries for files that cannot be read, even if the finding is suppressed or the rule is off.
    fn unreadable(&self) -> impl Iterator<Item = Unjudged> {
        let found = || self.findings.iter().filter(|it| it.rule == "unreadable");
        let told: BTreeSet<_> = found().map(|it| it.span).collect();
        let refused = self.inventory.diagnostics.iter().filter(|it| it.unreadable);
        let refused = refused.filter_map(|it| Some((it.span?, &it.message, &it.help)));
        let others = refused.filter(move |(span, ..)| !told.contains(span));
        found().map(|it| (it.span, &it.message, &it.help)).chain(others).map(|(span, message, help)| {
            let reason = format!("unreadable: {message}");
            Unjudged { cure: help.clone(), ..Unjudged::new(SkipKind::File, self.path(span), reason) }
        })
    }

    /// Returns the entries for files in unsupported languages that name accelerators.
    fn foreign(&self) -> impl Iterator<Item = Unjudged> {
        let mut shown_in_examples: BTreeSet<&str> = BTreeSet::new();
        let read = self.read_lines();
        let none_read = BTreeSet::new();
        self.inventory.foreign.iter().filter_map(move |it| {
            // Examples are not deployed, so one entry for each language is enough.
            if it.is_example && shown_in_examples.contains(it.language.name) {
                return None;
            }
            // Terraform reads such a definition by `file` or `templatefile`.
            if it.language.is_definition()
                && self
                    .inventory
                    .runs
                    .iter()
                    .any(|run| matches!(run.kind, RunKind::Root | RunKind::Unit) && run.reads(&it.path))
            {
                return None;
            }
            let asks = |path: &str| {
                let read = read.get(path).unwrap_or(&none_read);
                let names = |text: &[u8]| asked_for(&String::from_utf8_lossy(text), it.language, read, self.catalog);
                self.sources.glance(path, names).ok().flatten().map(|asked| (path.to_owned(), asked))
            };
            let files = || std::iter::once(it.path.clone()).chain(companion_files(self.sources, &it.path, it.language));
            let named: Vec<(String, NamedAccelerators)> = files().filter_map(|path| asks(&path)).collect();
            let machine = named.iter().find(|(_, asked)| asked.is_known);
            let (place, asked) = machine.or(named.first())?;
            let within = if *place == it.path { String::new() } else { format!(" in {place}") };
            let names = if it.is_example { "an example names" } else { "this file names" };
            let is_read_in_part = it.language.is_read_by_shape() || read.contains_key(place);
            let how = if is_read_in_part { "is read only in part" } else { "is not supported" };
            let reason = format!("{} {how}, and {names} `{}`{within}", it.language.name, asked.words);
            if it.is_example {
                shown_in_examples.insert(it.language.name);
            }
            let shown_at = (*place == it.path).then(|| self.line(place, asked.line)).flatten();
            let kind = if it.language.is_program() { SkipKind::Program } else { SkipKind::Language };
            let told = Unjudged { shown_at, known: asked.all.clone(), ..Unjudged::new(kind, it.path.clone(), reason) };
            Some(told.with_cure(it.language.cure))
        })
    }

    /// Returns the lines of files in other languages that name the machine or the accelerator of a resource.
    fn read_lines(&self) -> HashMap<String, BTreeSet<usize>> {
        let mut lines: HashMap<String, BTreeSet<usize>> = HashMap::new();
        if self.inventory.foreign.is_empty() {
            return lines;
        }
        let foreign: BTreeSet<&str> = self.inventory.foreign.iter().map(|it| it.path.as_str()).collect();
        for it in &self.inventory.resources {
            let facts = [Key::Machine, Key::Accelerator].into_iter().filter_map(|key| it.fact(key).span());
            for span in facts.map(|span| self.sources.origin(span)) {
                let path = self.sources.path_of(span);
                if foreign.contains(&*path) {
                    let text = self.sources.snippet(span);
                    let first = self.sources.line(span).saturating_sub(1);
                    lines.entry(path).or_default().extend(first..=first + text.matches('\n').count());
                }
            }
        }
        lines
    }

    /// Returns the place of a line in a file, numbered from 0.
    fn line(&self, path: &str, number: usize) -> Option<Span> {
        let file = self.sources.open(path).ok()?;
        let text = self.sources.text(file);
        let (start, line) = lines_with_offsets(&text).nth(number)?;
        Some(Span::new(file, start, start + line.trim_end().len()))
    }

    fn without_price(&self) -> impl Iterator<Item = Unjudged> {
        let items = self.inventory.resources.iter().zip(&self.bill.items);
        items.filter(|(it, _)| it.is_added() && !it.takes_its_count()).filter_map(|(it, item)| {
            if item.amount.is_some() || it.is_switched_off() {
                return None;
            }
            let why = match (&item.status, it.count.why()) {
                (Status::Unpriced(why), _) => why.as_str(),
                (_, Some(why)) => why,
                (_, None) => "the number of instances is not set",
            };
            // If the value is defined in another file, use its line.
            let place = if it.body.file == it.span.file { it.body } else { it.span };
            let reason = format!("{} has no price: {why}", it.address);
            let machine = it.text(Key::Machine);
            let known = format!("{:?} {machine:?} {:?}", it.count.value(), it.number(Key::AcceleratorCount));
            Some(
                Unjudged { known, ..Unjudged::new(SkipKind::Price, self.path(it.span), reason) }
                    .about(&it.address)
                    .at(place),
            )
        })
    }

    fn machines(&self) -> impl Iterator<Item = Unjudged> {
        self.unknown_machines.iter().map(|it| {
            // Several deployments of one root may leave the same machine unknown: it is one entry.
            let address = it.address.strip_suffix(it.run.as_str()).unwrap_or(&it.address);
            let reason = format!("cannot tell whether {address} has accelerators: {}", it.why);
            Unjudged::new(SkipKind::Machine, self.path(it.span), reason).about(address).at(it.span)
        })
    }
}

/// The limits on companion files that are searched, and on folders that may contain some.
const MOST_BESIDE: usize = 200;
const MOST_FOLDERS: usize = 100;

/// Folders of a program that contain code of others, results, or tests.
const OTHER_FOLDERS: [&str; 10] =
    ["node_modules", "cdk.out", "cdktf.out", "dist", "build", "venv", "vendor", "__pycache__", "test", "tests"];

/// Returns the companion files of a program: in the same folder and in its subfolders, the nearest first.
fn companion_files(sources: &SourceFiles, path: &str, language: &Language) -> Vec<String> {
    if language.beside.is_empty() {
        return Vec::new();
    }
    let mut folders = vec![parent(path).to_owned()];
    let mut written = Vec::new();
    for at in 0..MOST_FOLDERS {
        let Some(folder) = folders.get(at).cloned().filter(|_| written.len() < MOST_BESIDE) else { break };
        for entry in sources.tree().list(&folder) {
            let Some(place) = join(&folder, &entry.name) else { continue };
            match entry.is_directory {
                true if entry.name.starts_with('.') || OTHER_FOLDERS.contains(&entry.name.as_str()) => {}
                true => folders.push(place),
                false if language.has_beside(&entry.name) => written.push(place),
                false => {}
            }
        }
    }
    written.truncate(MOST_BESIDE);
    written
}
