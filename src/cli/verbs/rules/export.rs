//! `gpulint rules export`: converts custom rules for other policy engines.

use std::collections::BTreeSet;

use crate::admission::{Enforcement, ExportOptions, Kubernetes, PolicyTarget, export_rule};
use crate::cli::args::{InputArguments, Selection};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};

pub(super) fn run(
    names: &[String],
    (to, kubernetes, enforce): (&str, &str, &str),
    input: &InputArguments,
    selection: &Selection,
) -> Result<ExitStatus, Failure> {
    let version = Kubernetes::parse(kubernetes).map_err(Failure::new)?;
    let enforcement = Enforcement::from_name(enforce).unwrap_or(Enforcement::Audit);
    let target = PolicyTarget::from_name(to).unwrap_or(PolicyTarget::Validating);
    let options = ExportOptions { target, version, enforcement };
    let session = Session::rules_only(input, selection)?;
    session.demand_whole_rules(&crate::Analysis::default())?;
    let rules = &session.settings.rules;
    let own = |name: &str| {
        session.policy.own_pages.iter().any(|own| rules.page(name).is_some_and(|page| *page.text == *own.text))
    };
    let mut chosen = Vec::new();
    for name in names {
        let page = rules.page(name).ok_or_else(|| {
            let failure = Failure::new(format!("unknown rule `{}`", name.escape_debug()));
            match rules.nearest(name) {
                Some(near) => failure.with_help(format!("did you mean `{near}`?")),
                None => failure,
            }
        })?;
        chosen.push(page);
    }
    if names.is_empty() {
        chosen.extend(rules.pages().iter().filter(|page| own(&page.name)));
    }
    if chosen.is_empty() {
        return Err(Failure::new("no rules to export")
            .with_help("pass rule names with --rule, or the directory of custom rules with --rules"));
    }
    let mut text = String::new();
    let mut refused = 0;
    let mut keys = BTreeSet::new();
    for page in &chosen {
        let policy = match keys.insert(target.key(&page.name)) {
            true => export_rule(page, &session.settings, options),
            false => Err("another rule has the same name without dashes: rename one of them".to_owned()),
        };
        match policy {
            Ok(policy) => text.push_str(&policy),
            Err(why) => {
                refused += 1;
                output::complain(&format!("gpulint cannot export {}: {why}", page.name));
            }
        }
    }
    if refused == chosen.len() {
        return Err(Failure::new("gpulint exported no rule")
            .with_help("see the reasons above; `gpulint rules list` lists all rules"));
    }
    output::print_exact(&text)?;
    // Rules that cannot be exported are reported, and the exit code shows that the export is incomplete.
    Ok(if refused > 0 { ExitStatus::Failed } else { ExitStatus::Passed })
}
