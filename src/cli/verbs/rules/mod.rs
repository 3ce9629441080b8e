//! The verbs about rules themselves: list, write, test, try, export and fetch them.

mod attempt;
mod export;
mod new;
mod proof;
mod test;
mod vendor;

use crate::cli::args::RulesVerb;
use crate::cli::session::Session;
use crate::cli::world::output;
use crate::cli::{Failure, Outcome};
use crate::report::{self, Format};

pub(in crate::cli) fn run(verb: &RulesVerb) -> Result<Outcome, Failure> {
    match verb {
        RulesVerb::List { input, selection, output } => {
            let session = Session::rules_only(input, selection)?;
            let rules = &session.settings.rules;
            output::write(output, Format::Text, |format, _style| report::rules(format, rules))?;
            session.demand_whole_rules(&crate::Analysis::default())?;
            Ok(Outcome::Passed)
        }
        RulesVerb::New { name, scope, dir } => new::run(name, scope, dir.as_deref()),
        RulesVerb::Test { dirs, require, watch, output } => test::run(dirs, *require, *watch, output),
        RulesVerb::Try { expression, scope, input } => attempt::run(expression, scope, input),
        RulesVerb::Vendor { check, force, config } => vendor::run(*check, *force, config.as_deref()),
        RulesVerb::Export { names, kubernetes, enforce, input, selection, .. } => {
            export::run(names, (kubernetes, enforce), input, selection)
        }
    }
}
