use std::collections::BTreeSet;

use super::args::Check;
use super::session::Session;
use super::{Failure, Outcome, clock, output};
use crate::Analysis;
use crate::decide::{self, Configured, Decided, Grounds};
use crate::diagnostic::Level;
use crate::report::{self, Format};
use crate::rules::Confidence;
use crate::source::Date;

pub(super) fn run(arguments: &Check) -> Result<Outcome, Failure> {
    let session = Session::open(&arguments.input)?;
    let mut analysis = session.analyze();
    let mut findings = decided(&session, &mut analysis, arguments.today.map_or_else(clock::today, Ok)?);
    let configured = |setting: &str| {
        let (name, _) = session.config.text(setting)?;
        Confidence::ALL.into_iter().find(|confidence| confidence.name() == name)
    };
    let gate = Gate {
        level: arguments.fail_on.or_else(|| session.config.fail_on()).unwrap_or(Level::Warning),
        confidence: arguments.fail_confidence.or_else(|| configured("fail-confidence")).unwrap_or(Confidence::Medium),
    };
    let failed = findings.iter().any(|decided| gate.stops(decided));
    let shown = arguments.min_confidence.or_else(|| configured("min-confidence")).unwrap_or(Confidence::Low);
    findings.retain(|decided| decided.finding.confidence >= shown);
    let report = session.report(&analysis, &findings);
    output::write(&arguments.output, Format::Text, |format, style| Some(report::render(format, &report, style)))?;
    Ok(if failed { Outcome::Failed } else { session.outcome(&analysis) })
}

/// What was decided about each finding, in the order of files and lines.
fn decided(session: &Session, analysis: &mut Analysis, today: Date) -> Vec<Decided> {
    let rules: BTreeSet<String> = analysis.findings.iter().map(|finding| finding.rule.clone()).collect();
    let configured = session.config.rules();
    let fixed = configured.iter().filter(|rule| rule.ignorable == Some(false));
    let fixed = fixed.map(|rule| (rule.name.to_owned(), rule.span)).collect();
    let modules = analysis.blocks.iter().filter(|block| block.keyword == "module");
    let calls: Vec<_> = modules.map(|block| (block.span, block.address.clone())).collect();
    let findings = std::mem::take(&mut analysis.findings);
    let grounds = Grounds {
        sources: &session.sources,
        inventory: &analysis.inventory,
        comments: &analysis.comments,
        calls: &calls,
        configured: session.config.suppressions().iter().map(configured_suppression).collect(),
        rules: &rules,
        ran: &rules,
        fixed: &fixed,
        require_reason: session.config.flag("require-reason").unwrap_or(false),
        today,
    };
    let mut decided = decide::decide(findings, &grounds).findings;
    decided.sort_by_cached_key(|it| {
        let address =
            it.finding.resource.and_then(|id| analysis.inventory.resources.get(id.0)).map(|it| it.address.clone());
        (session.sources.locate(it.finding.span), it.finding.rule.clone(), address)
    });
    decided
}

fn configured_suppression(it: &crate::config::Suppress) -> Configured {
    Configured {
        rules: it.rules.to_vec(),
        address: it.address.map(str::to_owned),
        path: it.path.map(str::to_owned),
        until: it.until,
        reason: it.reason.map(str::to_owned),
        span: it.span,
    }
}

/// What makes a run fail.
struct Gate {
    level: Level,
    confidence: Confidence,
}

impl Gate {
    /// A note never stops anything, whatever was asked for.
    fn stops(&self, decided: &Decided) -> bool {
        let finding = &decided.finding;
        decided.counts()
            && finding.level != Level::Note
            && finding.level >= self.level
            && finding.confidence >= self.confidence
    }
}
