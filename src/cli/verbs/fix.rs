//! `gpulint check --fix` writes the fixes of findings into files, and `--diff` prints them. Files are written once, at
//! the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use crate::Analysis;
use crate::catalog::{Currency, Money};
use crate::cli::args::CheckArguments;
use crate::cli::edits::fixes::{Fixes, Fixing};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::session::judged::{JudgedTree, Texts};
use crate::cli::{ExitStatus, Failure};
use crate::inventory::BillingRole;
use crate::report::{self, Format};
use crate::rules::Safety;
use crate::source::{normalize, unified};

pub(in crate::cli) fn run(arguments: &CheckArguments) -> Result<ExitStatus, Failure> {
    if arguments.input.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new("gpulint cannot fix standard input").with_help("pass files or directories"));
    }
    let asked = (&arguments.selection, &arguments.threshold);
    let mut judge = |texts: &Texts| JudgedTree::with_texts(&arguments.input, asked, texts).map(Arc::new);
    let first = judge(&Texts::new())?;
    first.session.demand_whole_rules(&first.analysis)?;
    let before = costs(&first);
    let mut fixing = Fixing {
        limit: if arguments.unsafe_fixes { Safety::Unsafe } else { Safety::Safe },
        is_wanted: &|_| true,
        is_writable: &JudgedTree::is_writable,
        judge: &mut judge,
    };
    let (work, state) = Fixes::make(&mut fixing, first)?;
    if arguments.diff {
        return show(&state, &work, &before);
    }
    let left_alone = work.save(&state.session)?;
    let report = state.session.report(&state.analysis, &state.findings);
    output::write(&arguments.output, Format::Text, |format, style| {
        report::render(format, &report, arguments.view.style(style))
    })?;
    work.report_fixes("fixed", &state, &before);
    for (path, why) in &left_alone {
        output::complain(&format!("`{}` was not fixed: {why}", state.session.scope.paths.show(path)));
    }
    let failed = !left_alone.is_empty() || state.findings.iter().any(|decided| state.gate.stops(decided));
    Ok(if failed { ExitStatus::Failed } else { state.session.outcome(&state.analysis) })
}

fn show(state: &JudgedTree, work: &Fixes, before: &Costs) -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for (path, new) in &work.texts {
        let old = work.originals.get(path).map(Vec::as_slice).unwrap_or_default();
        let shown = state.session.scope.paths.show(path);
        text.push_str(&unified(&shown, &String::from_utf8_lossy(old), &String::from_utf8_lossy(new)));
    }
    output::print_exact(&text)?;
    work.report_fixes("would be fixed", state, before);
    Ok(if work.texts.is_empty() { state.session.outcome(&state.analysis) } else { ExitStatus::Failed })
}

fn costs(state: &JudgedTree) -> Costs {
    Costs::new(&state.analysis, state.session.settings.pricing.currency)
}

/// The expected cost of each resource per month, by address.
struct Costs {
    by_address: BTreeMap<String, (BillingRole, Money)>,
    currency: Currency,
}

impl Costs {
    fn new(analysis: &Analysis, currency: Currency) -> Costs {
        let mut by_address = BTreeMap::new();
        for (resource, item) in analysis.inventory.resources.iter().zip(&analysis.bill.items) {
            let Some(monthly) = item.monthly else { continue };
            by_address.entry(resource.address.clone()).or_insert((resource.role, Money::ZERO)).1 += monthly.expected;
        }
        Costs { by_address, currency }
    }

    /// Returns the saving of these resources as the end of a sentence. The costs of machines and of the pods on them
    /// are never added, because they are the same dollars.
    fn saved(&self, after: &Costs, addresses: &BTreeSet<String>) -> String {
        let of = |role: BillingRole| -> f64 {
            let both = addresses
                .iter()
                .filter_map(|address| Some((self.by_address.get(address)?, after.by_address.get(address)?)));
            both.filter(|(before, _)| before.0 == role).map(|(before, after)| before.1.usd() - after.1.usd()).sum()
        };
        let all = [(of(BillingRole::Rented), "provisioned machines"), (of(BillingRole::Requested), "pods")];
        let told = all.into_iter().filter(|(saved, _)| *saved >= 0.5).map(|(saved, what)| {
            format!("{what} cost about {} less per month", self.currency.amount(Money::from_usd(saved)))
        });
        match told.collect::<Vec<_>>().join(", ") {
            told if told.is_empty() => told,
            told => format!("; {told}"),
        }
    }
}

impl Fixes {
    /// Writes the files, except read-only files and files that changed after they were read.
    fn save(&self, session: &Session) -> Result<Vec<(String, &'static str)>, Failure> {
        let mut left_alone = Vec::new();
        for (path, text) in &self.texts {
            if normalize(path).is_none() {
                return Err(Failure::new(format!(
                    "`{}` is outside the directories that gpulint may write",
                    session.scope.paths.show(path)
                )));
            }
            let place = session.scope.root.join(path);
            if fs::read(&place).ok().as_ref() != self.originals.get(path) {
                left_alone.push((path.clone(), "it changed while gpulint ran"));
                continue;
            }
            if fs::metadata(&place).is_ok_and(|it| it.permissions().readonly()) {
                left_alone.push((path.clone(), "it is read-only"));
                continue;
            }
            output::save(&place, &String::from_utf8_lossy(text))?;
        }
        Ok(left_alone)
    }

    fn report_fixes(&self, verb: &str, state: &JudgedTree, before: &Costs) {
        let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
        let left = state.findings.iter().filter(|decided| decided.counts()).count();
        let files = count(self.texts.len(), "file");
        let mut text = format!("{} {verb} in {files}, {left} left", count(self.fixed.len(), "finding"));
        text.push_str(&before.saved(&costs(state), &self.cheaper));
        output::complain(&text);
        for decided in state.findings.iter().filter(|decided| decided.counts()) {
            let finding = &decided.finding;
            let given_up = self.given_up.get(&state.identity(finding)).map(String::as_str);
            let declined = || finding.fix.as_ref().and_then(|fix| fix.declined.as_deref());
            if let Some(why) = given_up.or_else(declined) {
                let address = finding.address(&state.analysis.inventory).unwrap_or_default();
                output::complain(&report::one_line(&format!("  {} {address}: {why}", finding.rule)));
            }
        }
    }
}
