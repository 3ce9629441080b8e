//! `gpulint baseline`: accepts the findings of today.

use std::collections::BTreeSet;

use crate::cli::args::{Accepting, BaselineVerb};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::session::verdicts::{paths_of_baseline, view};
use crate::cli::{ExitStatus, Failure};
use crate::decide::{Baseline, Decided};

pub(in crate::cli) fn run(verb: &BaselineVerb) -> Result<ExitStatus, Failure> {
    let (BaselineVerb::Create(asked) | BaselineVerb::Update(asked) | BaselineVerb::Prune(asked)) = verb;
    let session = open(asked)?;
    let shown = session.scope.paths.show(&session.policy.baseline_path);
    let path = session.scope.root.join(&session.policy.baseline_path);
    if matches!(verb, BaselineVerb::Create(_)) && path.exists() {
        return Err(Failure::new(format!("`{shown}` already exists")).with_help(
            "run `gpulint baseline update` to rewrite it, or `gpulint baseline prune` to remove fixed findings",
        ));
    }
    if matches!(verb, BaselineVerb::Prune(_)) && !path.exists() {
        return Err(Failure::new(format!("`{shown}` does not exist, so there is nothing to prune"))
            .with_help("run `gpulint baseline create` to accept the findings of today"));
    }
    let (analysis, findings) = session.judge();
    session.demand_whole_rules(&analysis)?;
    let show = paths_of_baseline(&session);
    let view = view(&session, &analysis, &show);
    let fixed = session.fixed_rules();
    let (refused, findings): (Vec<Decided>, Vec<Decided>) =
        findings.into_iter().partition(|it| fixed.contains_key(&it.finding.rule));
    let (baseline, gone) = match verb {
        BaselineVerb::Prune(_) => session.policy.baseline.pruned(&findings, &view),
        _ => (Baseline::from_findings(&findings, &view, &session.policy.baseline, session.policy.today), 0),
    };
    output::save(&path, &baseline.write())?;
    let gone = match gone {
        0 => String::new(),
        1 => ", 1 entry removed".to_owned(),
        n => format!(", {n} entries removed"),
    };
    let accepted = match baseline.len() {
        1 => "1 finding".to_owned(),
        n => format!("{n} findings"),
    };
    output::print(&format!("{accepted} accepted in {shown}{gone}\n"))?;
    if !refused.is_empty() {
        let rules: BTreeSet<&str> = refused.iter().map(|it| it.finding.rule.as_str()).collect();
        let rules = rules.into_iter().collect::<Vec<_>>().join(", ");
        output::complain(&format!("not accepted: {}; the settings set `ignorable = false` for {rules}", refused.len()));
    }
    Ok(session.outcome(&analysis))
}

/// Opens the session, and refuses single files: a baseline of some files would drop the findings of all others.
fn open(asked: &Accepting) -> Result<Session, Failure> {
    let session = Session::judging(&asked.input, &asked.selection)?;
    if session.reads_all() {
        return Err(Failure::new("a baseline cannot cover single files only")
            .with_help("pass directories: `gpulint baseline create infra/`"));
    }
    if asked.input.policy_ref.is_some() {
        return Err(Failure::new("a baseline is written to the work tree, not to another commit")
            .with_help("leave out --policy-ref"));
    }
    Ok(session)
}
