//! The subcommands of `gpulint rules`: list, write, test, try, document, export and fetch rules.

mod attempt;
mod bench;
mod docs;
mod export;
mod new;
mod proof;
mod readable;
mod test;
mod vendor;
mod why;

use bench::Bench;
pub(in crate::cli) use proof::Proof;

use crate::cli::args::{InputArguments, RulesVerb, Selection};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, Format};

pub(in crate::cli) fn run(verb: &RulesVerb) -> Result<ExitStatus, Failure> {
    match verb {
        RulesVerb::List { input, selection, output } => {
            let session = Session::rules_only(input, selection)?;
            let rules = &session.settings.rules;
            output::write(output, Format::Text, |format, _style| report::rules(format, rules))?;
            session.demand_whole_rules(&crate::Analysis::default())?;
            Ok(ExitStatus::Passed)
        }
        RulesVerb::New { name, scope, dir } => new::run(name, scope, dir.as_deref()),
        RulesVerb::Test { dirs, require, why, watch, output } => {
            test::run(dirs, test::TestsAsked { require: *require, why: *why }, *watch, output)
        }
        RulesVerb::Try { expression, scope, base, base_dir, input } => {
            attempt::run(expression, scope, (base.clone(), base_dir.clone()), input)
        }
        RulesVerb::Docs { output, input, selection } => docs::run(output, input, selection),
        RulesVerb::Vendor { check, force, config } => vendor::run(*check, *force, config.as_deref()),
        RulesVerb::Export { names, to, kubernetes, enforce, input, selection } => {
            export::run(names, (to, kubernetes, enforce), input, selection)
        }
    }
}

/// Returns the results of a custom rule's examples, or nothing if the rule file does not load.
pub(in crate::cli) fn prove_page(session: &Session, path: &str) -> Vec<Proof> {
    let own = &session.policy.own_pages;
    let Some(text) = own.iter().find(|page| page.path == path) else { return Vec::new() };
    let page = session.settings.rules.pages().iter().find(|page| *page.text == *text.text);
    page.map(|page| proof::prove(&Bench::new(session, page, own), false)).unwrap_or_default()
}

/// Returns the errors in the examples of all built-in rules, or of one, one line each.
pub fn prove_built_in(only: Option<&str>) -> Result<Vec<String>, String> {
    let session = Session::rules_only(&InputArguments::without_settings(), &Selection::default());
    let session = session.map_err(|failure| failure.to_string())?;
    let pages = session.settings.rules.pages().iter().filter(|page| only.is_none_or(|only| only == page.name));
    let told = pages.flat_map(|page| {
        let proofs = proof::prove(&Bench::new(&session, page, &[]), !page.untested);
        let wrong = proofs.into_iter().filter(|proof| !proof.wrong.is_empty());
        wrong.map(|it| format!("rules/{}.md:{}: {}", page.name, it.line, it.wrong.join("\n  ")))
    });
    Ok(told.collect())
}
