//! `gpulint what-if`: compares changed resources with the current files. Writes no file.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Analysis;
use crate::catalog::{Catalog, covers};
use crate::cli::args::WhatIf;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::decide::Decided;
use crate::diagnostic::nearest;
use crate::inventory::{BillingRole, FactOverrides, ResourceId};
use crate::pricing::Usage;
use crate::report::{self, Case, Cases, Format};
use crate::resolve::ResourceFilter;
use crate::source::Span;
use crate::what_if::{WhatIfChanges, WhatIfScenario, Wrong, together};

/// A case with its results.
struct Judged {
    name: String,
    changes: WhatIfChanges,
    analysis: Analysis,
    findings: Vec<Decided>,
}

pub(in crate::cli) fn run(arguments: &WhatIf) -> Result<ExitStatus, Failure> {
    let mut session = Session::judging(&arguments.input, &arguments.selection)?;
    let (today, findings) = session.judge();
    session.demand_whole_rules(&today)?;
    let about = addresses(&today, &arguments.on)?;
    let usage = session.settings.pricing.usage.clone();
    let mut judged =
        vec![Judged { name: "today".to_owned(), changes: WhatIfChanges::default(), analysis: today, findings }];
    for (name, changes) in cases(arguments, &session)? {
        if let Some(today) = judged.first() {
            demand_possible(&today.analysis, &about, &changes, &session.settings.catalog)?;
        }
        session.settings.pricing.usage.clone_from(&usage);
        session.settings.pricing.usage.extend(hours(&about, &changes));
        session.settings.scenario = judged.first().map(|today| scenario(&session, &about, &changes, today));
        let (analysis, findings) = session.judge();
        judged.push(Judged { name, changes, analysis, findings });
    }
    let all = judged.iter().map(|it| Case {
        name: &it.name,
        set: &it.changes.asked,
        is_counted_anew: it.changes.count().is_some(),
        report: session.report(&it.analysis, &it.findings),
    });
    let cases = Cases { on: &arguments.on, about: &about, all: all.collect() };
    output::write(&arguments.output, Format::Text, |format, style| report::what_if(format, &cases, style))?;
    if let Some(today) = cases.all.first() {
        output::complain_of_unjudged(&today.report);
    }
    Ok(judged.first().map_or(ExitStatus::Passed, |today| session.outcome(&today.analysis)))
}

fn scenario(
    session: &Session,
    about: &BTreeSet<String>,
    changes: &WhatIfChanges,
    today: &Judged,
) -> Arc<dyn FactOverrides> {
    let (catalog, own) = (&session.settings.catalog, &session.settings.declaring_labels);
    Arc::new(WhatIfScenario::new(about.clone(), changes.clone(), &today.analysis.inventory, catalog, own))
}

/// Returns the requested cases by name. Without --case, the values of --set are one case.
fn cases(arguments: &WhatIf, session: &Session) -> Result<Vec<(String, WhatIfChanges)>, Failure> {
    let at = Span::new(session.sources.derive("the command line", String::new(), Vec::new()), 0, 0);
    let catalog = &session.settings.catalog;
    let read = |asked: &[(String, String)]| WhatIfChanges::read(asked, catalog, at).map_err(failure);
    if arguments.cases.is_empty() {
        return Ok(vec![("what if".to_owned(), read(&arguments.sets)?)]);
    }
    let mut names = BTreeSet::new();
    let mut cases = Vec::new();
    for case in &arguments.cases {
        if !names.insert(&case.name) {
            return Err(Failure::new(format!("two cases have the name `{}`", case.name)));
        }
        cases.push((case.name.clone(), read(&together(&arguments.sets, &case.sets))?));
    }
    Ok(cases)
}

fn failure(wrong: Wrong) -> Failure {
    Failure::new(wrong.why).with_help(wrong.help)
}

/// Returns the addresses that match: one address, all instances of a block, or all matches of a pattern.
fn addresses(today: &Analysis, on: &[String]) -> Result<BTreeSet<String>, Failure> {
    let all = || today.inventory.resources.iter().map(|it| it.address.as_str());
    let mut about = BTreeSet::new();
    for form in on {
        let of_block = |address: &str| address.strip_prefix(form.as_str()).is_some_and(|rest| rest.starts_with('['));
        let mut found = today.inventory.with_address(form);
        if found.is_empty() {
            let is_meant = |address: &str| of_block(address) || covers(form, address);
            let meant = all().enumerate().filter(|(_, address)| is_meant(address));
            found = today.inventory.prefer_counted(meant.map(|(index, _)| ResourceId(index)).collect());
        }
        if found.is_empty() {
            let failure = Failure::new(format!("no resource with accelerators has the address `{form}`"));
            return Err(match nearest(form, all()) {
                Some(near) => failure.with_help(format!("did you mean `{near}`?")),
                None => failure.with_help("run `gpulint cost` to list resources; `*` in an address matches anything"),
            });
        }
        about.extend(found.iter().filter_map(|id| today.inventory.resources.get(id.0)).map(|it| it.address.clone()));
    }
    Ok(about)
}

/// Refuses impossible changes: a pod runs on the machines of its pool, and a block has one count for all its machines.
fn demand_possible(
    today: &Analysis,
    about: &BTreeSet<String>,
    changes: &WhatIfChanges,
    catalog: &Catalog,
) -> Result<(), Failure> {
    let meant = || today.inventory.resources.iter().filter(|it| about.contains(&it.address));
    meant().try_for_each(|it| changes.demand_region(it, catalog)).map_err(failure)?;
    for it in meant().filter(|it| it.role == BillingRole::Requested && changes.moves()) {
        if let Some(pool) = it.pools().find(|pool| !about.contains(*pool)) {
            let why = format!("{} runs on {pool}, which decides its machine, region and purchase", it.address);
            return Err(Failure::new(why).with_help(format!("change the pool: --on '{pool}'; its pods follow")));
        }
    }
    if changes.count().is_none() {
        return Ok(());
    }
    for it in meant().filter(|it| it.declared.block != it.declared.address) {
        let siblings = today.inventory.resources.iter().filter(|other| {
            (&other.run, &other.declared.block) == (&it.run, &it.declared.block) && !about.contains(&other.address)
        });
        if siblings.count() > 0 {
            let why = format!("{} is one of several machines of the same block, which share one count", it.address);
            return Err(
                Failure::new(why).with_help(format!("change all machines of the block: --on '{}'", it.declared.block))
            );
        }
        let is_keyed = it.declared.address.ends_with("\"]");
        if is_keyed && meant().filter(|other| other.declared.block == it.declared.block).count() > 1 {
            let why = format!("{} uses `for_each`, which has no count", it.declared.block);
            return Err(Failure::new(why).with_help("change its machines one at a time, or set their hours"));
        }
    }
    Ok(())
}

/// Returns changed hours as `[[usage]]` settings.
fn hours(about: &BTreeSet<String>, changes: &WhatIfChanges) -> Vec<Usage> {
    let Some(hours) = changes.hours() else { return Vec::new() };
    // A changed count can create more instances of a block.
    let more = |address: &String| {
        let stem = address.rsplit_once('[').map_or(address.as_str(), |(stem, _)| stem);
        changes.count().is_some().then(|| format!("{stem}[*"))
    };
    let forms = about.iter().flat_map(|address| [Some(address.clone()), more(address)]).flatten();
    let about = |form: String| ResourceFilter { address: Some(form), label: None };
    forms.map(|form| Usage { about: about(form), hours_per_month: Some(hours), ..Usage::default() }).collect()
}
