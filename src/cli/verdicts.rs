use super::session::Session;
use crate::Analysis;
use crate::config::Suppress;
use crate::decide::{self, Configured, Decided, Grounds};

/// What was decided about each finding, in the order of files and lines.
pub(super) fn verdicts(session: &Session, analysis: &mut Analysis) -> Vec<Decided> {
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
        rules: &session.settings.rules,
        fixed: &fixed,
        require_reason: session.config.flag("require-reason").unwrap_or(false),
        today: session.today,
    };
    let mut decided = decide::decide(findings, &grounds).findings;
    decided.sort_by_cached_key(|it| {
        let address = it.finding.address(&analysis.inventory).map(str::to_owned);
        (session.sources.locate(it.finding.span), it.finding.rule.clone(), address)
    });
    decided
}

fn configured_suppression(it: &Suppress) -> Configured {
    Configured {
        rules: it.rules.to_vec(),
        address: it.address.map(str::to_owned),
        path: it.path.map(str::to_owned),
        until: it.until,
        reason: it.reason.map(str::to_owned),
        span: it.span,
    }
}
