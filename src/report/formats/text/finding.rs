//! Writes one finding for a terminal, with its lines.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write};

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode, ThemeStyles};

use super::snippet::Snippet;
use crate::decide::Decided;
use crate::diagnostic::{self, Level};
use crate::inventory::ResourceId;
use crate::report::views::money::mark;
use crate::report::views::repeats::also;
use crate::report::{Report, ReportStyle, ShownPaths, escape};
use crate::rules::{Finding, Safety};
use crate::source::{self, FileId, SourceFiles};

/// The maximum number of related lines of one finding.
const MOST_RELATED: usize = 5;

/// The parts that a report has already printed and does not repeat.
#[derive(Default)]
pub(in crate::report) struct AlreadyPrinted {
    /// Resources whose cost is printed.
    resources: HashSet<ResourceId>,
    /// Lines that are printed.
    places: HashSet<(FileId, usize)>,
    help: HashSet<String>,
}

impl AlreadyPrinted {
    /// Returns true if an earlier finding already printed this finding's line and named its resource.
    fn has_shown(&self, report: &Report, finding: &Finding) -> bool {
        let place = report.sources.origin(finding.span);
        self.places.contains(&(place.file, report.sources.line(place)))
            && finding.resource.is_some_and(|id| self.resources.contains(&id))
    }

    pub(in crate::report) fn add(&mut self, report: &Report, decided: &Decided) {
        let place = report.sources.origin(decided.finding.span);
        self.places.insert((place.file, report.sources.line(place)));
        self.resources.extend(decided.finding.resource);
        self.help.extend(decided.finding.help.clone());
    }
}

pub(in crate::report) struct FindingRenderer {
    handler: GraphicalReportHandler,
    style: ReportStyle,
}

impl FindingRenderer {
    pub(in crate::report) fn new(style: ReportStyle) -> Self {
        let mut theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        if style.color {
            // Only the sign has the color of its level: other colors of terminals are often hard to read. Money is bold.
            let plain = ThemeStyles::none();
            theme.styles.highlights = vec![plain.error.bold()];
            theme.styles.link = plain.link.underline();
        }
        let handler =
            GraphicalReportHandler::new_themed(theme).with_width(style.width).with_links(false).with_context_lines(1);
        FindingRenderer { handler: handler.without_syntax_highlighting(), style }
    }

    /// Writes a finding. `others` contains its repeats in other places. The cost of a resource is printed once.
    pub(in crate::report) fn finding(
        &self,
        text: &mut String,
        report: &Report,
        decided: &Decided,
        others: &[&Decided],
        told: &AlreadyPrinted,
    ) {
        let finding = &decided.finding;
        let is_named = finding.resource.is_some_and(|id| told.resources.contains(&id));
        let help = finding.help.as_deref().filter(|help| !told.help.contains(*help));
        let message = format!("{}: {}", finding.rule, finding.message);
        let block = Block {
            level: finding.level,
            message: escape::shortened(&escape::one_line(&message), 1_000),
            snippet: Snippet::new(report.sources, report.paths, finding.span),
            label: money(report, finding, !is_named),
            help: help.map(shown_help),
        };
        let mut facts: Vec<String> = Vec::new();
        match told.has_shown(report, finding) {
            true => {
                brief(text, &block, self.style);
                facts.extend(block.label);
            }
            false => self.block(text, &block),
        }
        if let Some(address) = finding.address(report.inventory) {
            let resource = report.resource(finding.resource).filter(|it| it.address == address);
            let address = resource.map_or(Cow::Borrowed(address), |it| report.called(it));
            facts.push(escape::shortened(&escape::one_line(&address), 200));
        }
        facts.extend(root_elsewhere(report, decided));
        facts.push(format!("confidence {}", finding.confidence.name()));
        facts.push(format!("risk {}", finding.risk.name()));
        facts.extend(report.rules.pack(&finding.rule).map(|pack| format!("pack {}", escape::one_line(&pack.name))));
        match finding.safety().filter(|_| !finding.edits.is_empty()) {
            Some(Safety::Safe) => facts.push("fix: --fix".to_owned()),
            Some(Safety::Unsafe) => {
                let unjudged = finding.fix.as_ref().and_then(|fix| fix.unjudged.as_deref());
                let why = unjudged.map(|why| format!(" ({})", escape::one_line(why))).unwrap_or_default();
                facts.push(format!("fix: --fix --unsafe-fixes{why}"));
            }
            Some(Safety::Display) | None => {}
        }
        let _ = writeln!(text, "  {}", facts.join(" · "));
        for (span, message) in finding.related.iter().take(MOST_RELATED) {
            let at = report.paths.locate(report.sources, *span);
            let _ = writeln!(text, "  {}:{}: {}", escape::one_line(&at.path), at.line, escape::one_line(message));
        }
        if !others.is_empty() {
            let _ = writeln!(text, "  {}", also(report, decided, others).text());
        }
        text.push('\n');
    }

    /// Writes a message about the input or the configuration.
    pub(in crate::report) fn diagnostic(
        &self,
        text: &mut String,
        sources: &SourceFiles,
        paths: &ShownPaths,
        it: &diagnostic::Diagnostic,
    ) {
        let message = escape::shortened(&escape::one_line(&it.message), 1_000);
        match it.span {
            Some(span) => {
                let snippet = Snippet::new(sources, paths, span);
                let help = it.help.as_deref().map(shown_help);
                self.block(text, &Block { level: it.level, message, snippet, label: None, help });
            }
            None => {
                let _ = writeln!(text, "{}: {message}", it.level.name());
                if let Some(help) = &it.help {
                    let _ = writeln!(text, "  help: {}", shown_help(help));
                }
            }
        }
        for (span, note) in &it.notes {
            let place = span.map(|span| paths.locate(sources, span));
            let place = place.map(|at| format!("{}:{}: ", escape::one_line(&at.path), at.line)).unwrap_or_default();
            let _ = writeln!(text, "  {place}{}", escape::one_line(note));
        }
        text.push('\n');
    }

    fn block(&self, text: &mut String, block: &Block) {
        if self.style.plain {
            let _ =
                writeln!(text, "{}: {}\n  at {}", block.level.name(), block.message, block.snippet.place_and_line());
            if let Some(label) = &block.label {
                let _ = writeln!(text, "  {label}");
            }
            if let Some(help) = &block.help {
                let _ = writeln!(text, "  help: {help}");
            }
            return;
        }
        if let Some(place) = block.snippet.place_of_unknown_text() {
            let _ = writeln!(text, "{}: {}\n  at {place}", block.level.name(), block.message);
            for line in [&block.label, &block.help].into_iter().flatten() {
                let _ = writeln!(text, "  {line}");
            }
            return;
        }
        // Writing to memory fails only if miette cannot read a snippet. The message must not be lost then.
        if self.handler.render_report(text, block).is_err() {
            let _ = writeln!(text, "{}: {}", block.level.name(), block.message);
        }
    }
}

/// Writes a finding about a line that is already printed above.
fn brief(text: &mut String, block: &Block, style: ReportStyle) {
    let in_color = |text: &str, code: u8| match style.color {
        true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        false => text.to_owned(),
    };
    let mark = match style.plain {
        true => format!("{}:", block.level.name()),
        false => format!("  {}", in_color(block.level.sign(), ansi(block.level))),
    };
    let _ = writeln!(text, "{mark} {}", block.message);
    if let Some(help) = &block.help {
        let _ = writeln!(text, "  {} {help}", in_color("help:", ansi(Level::Note)));
    }
}

/// Returns the terminal's color of a level, as in miette's theme.
const fn ansi(level: Level) -> u8 {
    match level {
        Level::Error => 31,
        Level::Warning => 33,
        Level::Note => 36,
    }
}

/// Returns the Terraform root, if it is not the directory of the finding: several roots can call a module.
fn root_elsewhere(report: &Report, decided: &Decided) -> Option<String> {
    let resource = report.inventory.resources.get(decided.finding.resource?.0)?;
    let root = resource.root.as_deref()?;
    let path = report.sources.path(decided.finding.span.file);
    (source::parent(&path) != root).then(|| format!("in {}", escape::one_line(&report.paths.show_directory(root))))
}

fn shown_help(help: &str) -> String {
    escape::shortened(&escape::harmless(help), 2_000)
}

/// Returns the cost of the resource, and the saving of the finding.
fn money(report: &Report, finding: &Finding, with_cost: bool) -> Option<String> {
    let costs =
        finding.resource.filter(|_| with_cost).and_then(|id| report.currency.costs(report.bill.items.get(id.0)?));
    let saves =
        finding.saves.map(|range| format!("saves {}", report.currency.saving(range, mark(finding.is_estimated))));
    match (costs, saves) {
        (Some(costs), Some(saves)) => Some(format!("{costs}, {saves}")),
        (one, other) => one.or(other),
    }
}

#[derive(Debug)]
struct Block {
    level: Level,
    message: String,
    snippet: Snippet,
    label: Option<String>,
    help: Option<String>,
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Block {}

impl Diagnostic for Block {
    fn severity(&self) -> Option<Severity> {
        Some(match self.level {
            Level::Note => Severity::Advice,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.snippet)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = &self.snippet.place;
        let label = LabeledSpan::new_primary_with_span(self.label.clone(), (place.start, place.len()));
        Some(Box::new(std::iter::once(label)))
    }
}
