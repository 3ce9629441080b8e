//! `gpulint plan`: what to commit to, of one tree or of the reports of several.

use std::path::PathBuf;

use crate::cli::args::{Input, Purchases};
use crate::cli::session::Session;
use crate::cli::world::file_tree::read_limited;
use crate::cli::world::output;
use crate::cli::{Failure, Outcome};
use crate::pricing::{self, Need};
use crate::report::{self, Format, PlannedPurchases};

/// A report of tens of thousands of resources is as long.
const LONGEST_REPORT_BYTES: u64 = 256 << 20;

pub(in crate::cli) fn run(arguments: &Purchases) -> Result<Outcome, Failure> {
    let (mut needs, paths) = of_reports(&arguments.input.paths)?;
    let reads_no_tree = paths.is_empty() && !arguments.input.paths.is_empty();
    let input = Input { paths, ..arguments.input.clone() };
    let session = if reads_no_tree {
        Session::settings_only(&Input { allow_empty: true, ..input })?
    } else {
        Session::open(&input)?
    };
    let outcome = if reads_no_tree {
        Outcome::Passed
    } else {
        let analysis = session.analyze();
        needs.extend(pricing::needs(&analysis.inventory, &analysis.bill).into_iter().map(|(_, need)| need));
        session.outcome(&analysis)
    };
    let plan = pricing::purchase_plan(&needs, arguments.years);
    let planned = PlannedPurchases { plan: &plan, currency: session.settings.pricing.currency };
    output::write(&arguments.output, Format::Text, |format, _style| report::plan(format, &planned))?;
    Ok(outcome)
}

/// What reports among the paths need, and the paths that are none.
fn of_reports(paths: &[PathBuf]) -> Result<(Vec<Need>, Vec<PathBuf>), Failure> {
    let (mut needs, mut rest) = (Vec::new(), Vec::new());
    for path in paths {
        let is_json = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json")) && path.is_file();
        let shown = path.display().to_string();
        let failed = |why: String| Failure::new(format!("the report `{shown}` cannot be used: {why}"));
        let found = match is_json {
            true => {
                let text = read_limited(path, LONGEST_REPORT_BYTES).map_err(|why| failed(why.to_string()))?;
                report::saved_needs(&String::from_utf8_lossy(&text), &shown).map_err(failed)?
            }
            false => None,
        };
        match found {
            Some(found) => needs.extend(found),
            None => rest.push(path.clone()),
        }
    }
    Ok((needs, rest))
}
