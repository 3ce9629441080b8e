//! The diagnostics and prices of a folder, with positions as the editor counts them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, Message, Position,
    Range,
};

use super::client::Preferences;
use super::pages::wrong_examples;
use super::place::uri_of;
use super::position::{Encoding, TextLines};
use crate::cli::io::failure::FailurePlace;
use crate::cli::io::file_tree::below;
use crate::cli::session::judged::JudgedTree;
use crate::diagnostic::Level;
use crate::inventory::{Resource, ResourceId, UnjudgedStatus};
use crate::report::{self, one_line};
use crate::rules::{self, Finding};
use crate::source::{FileId, SourceFiles, Span};

const SOURCE: &str = "gpulint";

/// The most related positions of a diagnostic.
const MOST_RELATED: usize = 20;

/// The results of one state of a folder.
pub(super) struct FolderDiagnostics {
    pub(super) judged: Arc<JudgedTree>,
    /// The versions of the open documents that these results describe, by path in the tree.
    pub(super) versions: BTreeMap<String, i32>,
    pub(super) diagnostics: BTreeMap<PathBuf, Vec<Diagnostic>>,
}

/// A requested document with its results.
pub(super) struct KnownText {
    pub(super) told: Arc<FolderDiagnostics>,
    pub(super) folder: PathBuf,
    pub(super) file: PathBuf,
    /// The document, as a path of the tree.
    pub(super) path: String,
}

/// A price next to a line.
pub(super) struct LineCost {
    /// The position after the last character of the line.
    pub(super) at: Position,
    pub(super) label: String,
    pub(super) resources: Vec<ResourceId>,
}

impl FolderDiagnostics {
    pub(super) fn of(
        judged: Arc<JudgedTree>,
        versions: BTreeMap<String, i32>,
        preferences: &Preferences,
        encoding: Encoding,
    ) -> FolderDiagnostics {
        let mut teller = Teller::new(&judged, encoding);
        teller.findings(preferences.lowest());
        teller.unjudged(preferences.lowest());
        teller.wrong_rules();
        versions.keys().for_each(|path| teller.examples(path));
        let diagnostics = teller.done();
        FolderDiagnostics { judged, versions, diagnostics }
    }

    /// Returns the version of an open document that these results describe.
    pub(super) fn version_of(&self, file: &Path) -> Option<i32> {
        let path = file.strip_prefix(&self.judged.session.scope.root).ok()?.to_str()?;
        self.versions.get(path).copied()
    }

    /// Returns the module calls in a file, with the resources that they create.
    fn calls(&self, file: FileId) -> Vec<report::CallOnLine> {
        let (sources, analysis) = (&self.judged.session.sources, &self.judged.analysis);
        let all = &analysis.inventory.resources;
        let made = |root: &str, address: &str| -> Vec<ResourceId> {
            let is_below = |it: &str| it.strip_prefix(address).is_some_and(|rest| rest.starts_with(['.', '[']));
            let is_made = |(_, it): &(usize, &Resource)| it.root.as_deref() == Some(root) && is_below(&it.address);
            all.iter().enumerate().filter(is_made).map(|(index, _)| ResourceId(index)).collect()
        };
        let mut calls: Vec<report::CallOnLine> = Vec::new();
        for root in &analysis.roots {
            let blocks = analysis.blocks.get(root.blocks.clone()).unwrap_or_default();
            for block in blocks.iter().filter(|it| it.keyword == "module" && sources.origin(it.span).file == file) {
                let (span, resources) = (sources.origin(block.span), made(&root.directory, &block.address));
                match calls.iter_mut().find(|it| it.span == span) {
                    Some(known) => known.resources.extend(resources),
                    None => calls.push(report::CallOnLine { span, resources }),
                }
            }
        }
        calls
    }

    /// Returns the prices next to the lines of a file, by its path in the tree.
    pub(super) fn prices(&self, path: &str, encoding: Encoding) -> Vec<LineCost> {
        let session = &self.judged.session;
        let known = session.sources.has(path).then(|| session.sources.open(path).ok()).flatten();
        let Some(file) = known else { return Vec::new() };
        let report = session.report(&self.judged.analysis, &self.judged.findings);
        let mut places = EditorRanges::new(&session.sources, encoding);
        let all = report::prices_on_lines(&report, file, self.calls(file)).into_iter();
        all.map(|price| LineCost { at: places.end_of_line(price.span), label: price.label, resources: price.resources })
            .collect()
    }
}

/// Converts positions for the editor. The lines of each file are indexed once.
pub(super) struct EditorRanges<'j> {
    sources: &'j SourceFiles,
    encoding: Encoding,
    texts: HashMap<FileId, (Arc<str>, Arc<[usize]>)>,
}

impl<'j> EditorRanges<'j> {
    pub(super) fn new(sources: &'j SourceFiles, encoding: Encoding) -> EditorRanges<'j> {
        EditorRanges { sources, encoding, texts: HashMap::new() }
    }

    /// Returns the path of the source file, and the position in it.
    pub(super) fn range(&mut self, span: Span) -> (String, Range) {
        let origin = self.sources.origin(span);
        let range = self.with_lines(origin.file, |lines| lines.range(origin.range()));
        (self.sources.path(origin.file), range)
    }

    fn end_of_line(&mut self, span: Span) -> Position {
        let origin = self.sources.origin(span);
        self.with_lines(origin.file, |lines| lines.end_of_line(origin.start as usize))
    }

    fn end_of_line_at(&mut self, file: FileId, start: Position) -> Position {
        self.with_lines(file, |lines| lines.end_of_line(lines.offset(start)))
    }

    fn with_lines<T>(&mut self, file: FileId, work: impl FnOnce(&TextLines<'_>) -> T) -> T {
        let read = || {
            let text = self.sources.text(file);
            let starts = TextLines::starts(&text);
            (text, starts)
        };
        let (text, starts) = self.texts.entry(file).or_insert_with(read).clone();
        work(&TextLines::with(&text, starts, self.encoding))
    }
}

struct Teller<'j> {
    judged: &'j JudgedTree,
    places: EditorRanges<'j>,
    all: BTreeMap<String, Vec<Diagnostic>>,
}

impl<'j> Teller<'j> {
    fn new(judged: &'j JudgedTree, encoding: Encoding) -> Teller<'j> {
        Teller { judged, places: EditorRanges::new(&judged.session.sources, encoding), all: BTreeMap::new() }
    }

    fn findings(&mut self, lowest: Level) {
        let judged = self.judged;
        let report = judged.session.report(&judged.analysis, &judged.findings);
        // If one place creates many resources, the diagnostic is shown once, with their number.
        let mut told: Vec<(&Finding, String, usize)> = Vec::new();
        let mut known: HashMap<(&str, Span, String), usize> = HashMap::new();
        for finding in judged.counting().filter(|it| it.level >= lowest) {
            let text = report::finding_in_place(&report, finding);
            let span = judged.session.sources.origin(finding.span);
            let at = *known.entry((&finding.rule, span, text.clone())).or_insert(told.len());
            match told.get_mut(at) {
                Some((_, _, times)) => *times += 1,
                None => told.push((finding, text, 1)),
            }
        }
        for (finding, text, times) in told {
            let text = if times > 1 { format!("{text} (×{times})") } else { text };
            self.finding(finding, text);
        }
    }

    fn finding(&mut self, finding: &Finding, text: String) {
        let related = finding.related.iter().take(MOST_RELATED).filter_map(|(span, why)| {
            let (path, range) = self.places.range(*span);
            let uri = uri_of(&below(&self.judged.session.scope.root, &path))?.into();
            Some(DiagnosticRelatedInformation { location: Location { uri, range }, message: one_line(why) })
        });
        let related: Vec<_> = related.collect();
        let href = rules::link(&finding.rule).map(|link| CodeDescription { href: link.into() });
        self.add(
            finding.span,
            Diagnostic {
                severity: Some(severity(finding.level)),
                code: Some(Code::String(finding.rule.clone())),
                code_description: href,
                message: Message::String(text),
                related_information: (!related.is_empty()).then_some(related),
                ..Diagnostic::default()
            },
        );
    }

    /// Adds relevant entries that were not evaluated.
    fn unjudged(&mut self, lowest: Level) {
        if lowest > Level::Note {
            return;
        }
        let all = self.judged.analysis.inventory.unjudged.iter();
        for it in all.filter(|it| it.standing != UnjudgedStatus::AsBefore) {
            let cure = it.cure.as_deref().map(|cure| format!("\n{}", one_line(cure))).unwrap_or_default();
            let diagnostic = Diagnostic {
                severity: Some(DiagnosticSeverity::Information),
                code: Some(Code::String("not-judged".to_owned())),
                message: Message::String(format!("not evaluated: {}{cure}", one_line(&it.reason))),
                ..Diagnostic::default()
            };
            match it.span.or(it.shown_at) {
                Some(span) => self.add(span, diagnostic),
                None => self.add_at(it.path.clone(), Range::default(), diagnostic),
            }
        }
    }

    /// Adds rule files that do not load, rules that failed, and settings about unknown rules.
    fn wrong_rules(&mut self) {
        let broken = self.judged.analysis.broken_rules.iter().cloned().map(crate::diagnostic::Diagnostic::from);
        for wrong in self.judged.session.wrong_rules().iter().cloned().chain(broken) {
            let Some(span) = wrong.span else { continue };
            let help = wrong.help.as_deref().map(|help| format!("\n{}", one_line(help))).unwrap_or_default();
            let diagnostic = Diagnostic {
                severity: Some(severity(wrong.level)),
                message: Message::String(format!("{}{help}", one_line(&wrong.message))),
                ..Diagnostic::default()
            };
            self.add(span, diagnostic);
        }
    }

    /// Adds the results of the examples in an open rule file.
    fn examples(&mut self, path: &str) {
        for proof in wrong_examples(self.judged, path) {
            let line = u32::try_from(proof.line.saturating_sub(1)).unwrap_or_default();
            let start = Position { line, character: 0 };
            let sources = &self.judged.session.sources;
            let end = sources.open(path).map_or(start, |file| self.places.end_of_line_at(file, start));
            let text: Vec<String> = proof.wrong.iter().map(|it| one_line(it)).collect();
            let diagnostic = Diagnostic {
                severity: Some(DiagnosticSeverity::Error),
                message: Message::String(format!("{}: {}", one_line(&proof.title), text.join("\n"))),
                ..Diagnostic::default()
            };
            self.add_at(path.to_owned(), Range { start, end }, diagnostic);
        }
    }

    fn add(&mut self, span: Span, diagnostic: Diagnostic) {
        let (path, range) = self.places.range(span);
        self.add_at(path, range, diagnostic);
    }

    fn add_at(&mut self, path: String, range: Range, diagnostic: Diagnostic) {
        let diagnostic = Diagnostic { range, source: Some(SOURCE.to_owned()), ..diagnostic };
        self.all.entry(path).or_default().push(diagnostic);
    }

    fn done(self) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
        let root = &self.judged.session.scope.root;
        self.all.into_iter().map(|(path, all)| (below(root, &path), all)).collect()
    }
}

/// Returns the diagnostic of an error that prevents the check of a folder.
pub(super) fn wrong_at(wrong: &FailurePlace, encoding: Encoding) -> Diagnostic {
    Diagnostic {
        range: TextLines::of(&wrong.text, encoding).range(wrong.range.clone()),
        severity: Some(DiagnosticSeverity::Error),
        source: Some(SOURCE.to_owned()),
        message: Message::String(one_line(&wrong.message)),
        ..Diagnostic::default()
    }
}

fn severity(level: Level) -> DiagnosticSeverity {
    match level {
        Level::Error => DiagnosticSeverity::Error,
        Level::Warning => DiagnosticSeverity::Warning,
        Level::Note => DiagnosticSeverity::Information,
    }
}
