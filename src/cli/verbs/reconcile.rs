//! `gpulint reconcile`: compares expected cost with the bill.

use crate::cli::args::Reconcile;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::report::{self, AskedMonths, Format, Report};

pub(in crate::cli) fn run(arguments: &Reconcile) -> Result<ExitStatus, Failure> {
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    let report = Report { title: arguments.output.title.as_deref(), ..session.report(&analysis, &[]) };
    if arguments.print_discounts {
        output::print_exact(&report::proposed_discounts(&report))?;
        return Ok(ExitStatus::Passed);
    }
    let asked = match (arguments.all_months, arguments.months.is_empty()) {
        (true, _) => AskedMonths::All,
        (false, true) => AskedMonths::Last,
        (false, false) => AskedMonths::These(arguments.months.clone()),
    };
    output::write(&arguments.output, Format::Text, |format, _| report::reconcile(format, &report, &asked))?;
    output::complain_of_unjudged(&report);
    Ok(session.outcome(&analysis))
}
