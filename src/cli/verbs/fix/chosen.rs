//! The findings that `--only` and `--address` choose.

use std::collections::BTreeSet;

use crate::cli::Failure;
use crate::cli::args::FixArguments;
use crate::cli::session::judged::{Identity, JudgedTree};
use crate::diagnostic::nearest;
use crate::report::one_line;

/// The rules and addresses of the findings to fix. Without any, gpulint fixes all findings.
pub(super) struct ChosenFindings {
    rules: BTreeSet<String>,
    addresses: BTreeSet<String>,
}

impl ChosenFindings {
    /// Refuses unknown rules and addresses, and rules that do not run.
    pub(super) fn new(asked: &FixArguments, state: &JudgedTree) -> Result<ChosenFindings, Failure> {
        let mut rules = BTreeSet::new();
        for name in &asked.only {
            rules.extend(rules_of(name, state)?);
        }
        for address in &asked.address {
            demand_known(address, state)?;
        }
        Ok(ChosenFindings { rules, addresses: asked.address.iter().cloned().collect() })
    }

    pub(super) fn wants(&self, (rule, _, address): &Identity) -> bool {
        (self.rules.is_empty() || self.rules.contains(rule))
            && (self.addresses.is_empty() || address.as_ref().is_some_and(|it| self.addresses.contains(it)))
    }

    /// Whether the user chose some findings.
    pub(super) fn are_some(&self) -> bool {
        !self.rules.is_empty() || !self.addresses.is_empty()
    }
}

/// Returns the running rules with this name, or in the group with this name.
fn rules_of(name: &str, state: &JudgedTree) -> Result<Vec<String>, Failure> {
    let rules = &state.session.settings.rules;
    let named = rules.current(name);
    let of_name = rules.pages().iter().filter(|page| page.name == named || page.group == name);
    let known: Vec<&str> = of_name.map(|page| page.name.as_str()).collect();
    let shown = one_line(name);
    if known.is_empty() {
        let failure = Failure::new(format!("there is no rule or group `{shown}`"));
        return Err(match rules.nearest(name) {
            Some(near) => failure.with_help(format!("did you mean `{near}`? `gpulint rules list` lists all rules")),
            None => failure.with_help("run `gpulint rules list` to list all rules"),
        });
    }
    let running: Vec<String> = known.into_iter().filter(|it| rules.is_on(it)).map(str::to_owned).collect();
    if running.is_empty() {
        return Err(Failure::new(format!("`{shown}` does not run in this check, so it has no findings"))
            .with_help(format!("add `--select {shown}` to run it")));
    }
    Ok(running)
}

fn demand_known(address: &str, state: &JudgedTree) -> Result<(), Failure> {
    let inventory = &state.analysis.inventory;
    let of_findings = || state.counting().filter_map(|finding| finding.address(inventory));
    let all = || of_findings().chain(inventory.resources.iter().map(|it| it.address.as_str()));
    if all().any(|known| known == address) {
        return Ok(());
    }
    let failure = Failure::new(format!("no resource has the address `{}`", one_line(address)));
    // The end of an address is often unique: `train` of `module.pool.aws_instance.train`.
    let ending = || {
        of_findings().find(|known| known.ends_with(&format!(".{address}")) || known.ends_with(&format!("/{address}")))
    };
    Err(match ending().or_else(|| nearest(address, all())) {
        Some(near) => {
            failure.with_help(format!("did you mean `{}`? `gpulint check` lists the findings", one_line(near)))
        }
        None => failure.with_help("pass an address that `gpulint check` or `gpulint cost` prints"),
    })
}
