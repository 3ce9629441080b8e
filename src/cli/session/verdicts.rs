//! Applies the suppressions and the baseline of a session to findings.

use std::collections::BTreeMap;

use crate::Analysis;
use crate::cli::session::Session;
use crate::config::{Config, Suppress, setting};
use crate::decide::{
    self, BaselineView, Configured, Decided, Decision, Demands, FixedBy, SuppressionContext, WorseThreshold,
};
use crate::report::ShownPaths;
use crate::source;

impl Session {
    /// Returns the decision for each finding in the named files, in the order of files and lines.
    pub(in crate::cli) fn judge(&self) -> (Analysis, Vec<Decided>) {
        let (analysis, decision) = self.judge_all();
        (analysis, decision.findings)
    }

    /// Returns the decision for each finding, with the suppressions that were found.
    pub(in crate::cli) fn judge_all(&self) -> (Analysis, Decision) {
        self.decide(self.analyze_all())
    }

    /// Returns the rules that comments, annotations and the baseline cannot suppress.
    pub(in crate::cli) fn fixed_rules(&self) -> BTreeMap<String, FixedBy> {
        let own = self.policy.config.rules().into_iter().filter(|rule| rule.ignorable == Some(false));
        let mut fixed: BTreeMap<String, FixedBy> = own.map(|rule| (rule.name.to_owned(), FixedBy::Settings)).collect();
        for pack in self.policy.packs.iter() {
            fixed.extend(pack.fixed_rules().map(|rule| (rule.to_owned(), FixedBy::Pack(pack.path().to_owned()))));
        }
        fixed
    }

    /// Returns the decisions for the findings of an analysis.
    pub(in crate::cli) fn decide(&self, mut analysis: Analysis) -> (Analysis, Decision) {
        let mut decision = verdicts(self, &mut analysis);
        self.limit(&mut analysis, &mut decision.findings);
        if let Some(only) = &self.scope.only {
            decision.suppressions.retain(|it| only.contains(&self.sources.path(it.span.file)));
        }
        (analysis, decision)
    }
}

/// Returns the decision for each finding, in the order of files and lines.
fn verdicts(session: &Session, analysis: &mut Analysis) -> Decision {
    let fixed = session.fixed_rules();
    let modules = analysis.blocks.iter().filter(|block| block.keyword == "module");
    let calls: Vec<_> = modules.map(|block| (block.span, block.address.clone())).collect();
    let findings = std::mem::take(&mut analysis.findings);
    let grounds = SuppressionContext {
        sources: &session.sources,
        inventory: &analysis.inventory,
        comments: &analysis.comments,
        calls: &calls,
        configured: session.policy.config.suppressions().iter().map(configured_suppression).collect(),
        rules: &session.settings.rules,
        fixed: &fixed,
        demands: demands(session),
        today: session.policy.today,
    };
    let mut decision = decide::decide(findings, &grounds);
    let show = paths_of_baseline(session);
    let growth = growth(&session.policy.config);
    session.policy.baseline.renamed(&session.settings.rules).apply(
        &mut decision,
        &view(session, analysis, &show),
        growth,
        |rule| fixed.contains_key(rule),
    );
    decision.findings.sort_by_cached_key(|it| {
        let address = it.finding.address(&analysis.inventory).map(str::to_owned);
        (session.sources.locate(it.finding.span), it.finding.rule.clone(), address)
    });
    decision
}

/// Returns the strictest setting of the repository and its packs.
fn demands(session: &Session) -> Demands {
    let all = || std::iter::once(&session.policy.config).chain(session.policy.packs.iter().map(|pack| &pack.config));
    let days = all().filter_map(|config| config.number(setting!("longest-suppression-days")));
    Demands {
        reason: all().any(|config| config.flag(setting!("require-reason")) == Some(true)),
        until: all().any(|config| config.flag(setting!("require-until")) == Some(true)),
        longest_days: days.reduce(f64::min),
    }
}

/// Returns the settings for worse findings.
pub(in crate::cli) fn growth(config: &Config) -> WorseThreshold {
    config
        .number(setting!("min-delta-usd"))
        .map_or(WorseThreshold::default(), |min_delta_usd| WorseThreshold { min_delta_usd })
}

/// Returns paths as a baseline contains them: relative to its own directory.
pub(in crate::cli) fn paths_of_baseline(session: &Session) -> impl Fn(&str) -> String {
    let directory = source::parent(&session.policy.baseline_path);
    // The baseline of another commit is next to the tree, in a directory with the commit's name.
    let directory = directory.split_once(':').map_or(directory, |(_, inside)| inside.trim_start_matches('/'));
    let paths = ShownPaths::seen_from(directory);
    move |path| paths.show(path)
}

pub(in crate::cli) fn view<'a>(
    session: &'a Session,
    analysis: &'a Analysis,
    show: &'a dyn Fn(&str) -> String,
) -> BaselineView<'a> {
    BaselineView { sources: &session.sources, inventory: &analysis.inventory, bill: &analysis.bill, show }
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
