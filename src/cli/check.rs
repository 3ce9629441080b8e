use super::args::Check;
use super::session::Session;
use super::{Failure, Outcome, output};
use crate::decide::{Decided, decide};
use crate::diagnostic::Level;
use crate::report::{self, Format};
use crate::rules::Confidence;

pub(super) fn run(arguments: &Check) -> Result<Outcome, Failure> {
    let session = Session::open(&arguments.input)?;
    let mut analysis = session.analyze();
    let mut findings = decide(std::mem::take(&mut analysis.findings));
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
