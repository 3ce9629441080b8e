use super::args::RulesVerb;
use super::session::Session;
use super::{Failure, Outcome, output};
use crate::report::{self, Format};

pub(super) fn run(verb: &RulesVerb) -> Result<Outcome, Failure> {
    match verb {
        RulesVerb::List { input, selection, output } => {
            let session = Session::rules_only(input, selection)?;
            let rules = &session.settings.rules;
            output::write(output, Format::Text, |format, _style| report::rules(format, rules))?;
            session.demand_whole_rules(&crate::Analysis::default())?;
        }
    }
    Ok(Outcome::Passed)
}
