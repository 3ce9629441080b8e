//! `gpulint explain`: the documentation of a rule, or the calculation of a price.

use crate::cli::args::{Explain, Selection};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::session::undeclared_variables::demand_declared;
use crate::cli::{ExitStatus, Failure};
use crate::diagnostic::nearest;
use crate::rules::{self, Profile, Rules};

/// Prints the documentation of a rule, or the calculation of a resource's price.
pub(in crate::cli) fn run(arguments: &Explain) -> Result<ExitStatus, Failure> {
    let what = arguments.what.as_str();
    let settings = rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() };
    let (rules, _) = Rules::load(&[], settings);
    if let Some(page) = rules.page(what) {
        let published = rules::link(what).map_or(String::new(), |link| format!("\nThis page: {link}\n"));
        output::print_markdown(&format!("{}\n{published}", rules::body_with_fix(page).trim()))?;
        return Ok(ExitStatus::Passed);
    }
    // A custom rule, or a rule of a pack.
    if rules::is_name(what) {
        let session = Session::rules_only(&arguments.input, &Selection::default())?;
        if let Some(page) = session.settings.rules.page(what) {
            output::print_markdown(&format!("{}\n", rules::body_with_fix(page).trim()))?;
            return Ok(ExitStatus::Passed);
        }
    }
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    demand_declared(&[(&session, &analysis)])?;
    let all = &analysis.inventory.resources;
    let found = analysis.inventory.with_address(what);
    if found.is_empty() {
        let mut open = analysis.inventory.unjudged.iter().filter(|it| it.address.as_deref() == Some(what));
        if let Some(open) = open.next() {
            let failure = Failure::new(format!("the cost of `{what}` is unknown: {}", open.reason));
            return Err(failure.with_help("pass the missing value with --var or --var-file, or check a Terraform plan"));
        }
        let failure = Failure::new(format!("no rule or resource is named `{what}`"));
        let names = all.iter().map(|it| it.address.as_str()).chain(rules.pages().iter().map(|page| page.name.as_str()));
        return Err(match nearest(what, names) {
            Some(near) => failure.with_help(format!("did you mean `{near}`?")),
            None => failure.with_help("run `gpulint cost` to list resources, or `gpulint rules list` to list rules"),
        });
    }
    let told: Vec<String> = found.into_iter().map(|id| session.explain(&analysis, id)).collect();
    output::print_lines(&told.join("\n"))?;
    Ok(ExitStatus::Passed)
}
