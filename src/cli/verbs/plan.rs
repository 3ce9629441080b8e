//! `gpulint plan`: recommends commitments for one repository, or for the saved reports of several.

use std::collections::HashMap;
use std::path::PathBuf;

use ring::digest::{SHA256, digest};

use crate::cli::args::{InputArguments, Purchases};
use crate::cli::io::file_tree::read_limited;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::pricing::{self, Need};
use crate::report::{self, Format, PlannedPurchases};

/// The longest report that is read. A report with tens of thousands of resources fits.
const LONGEST_REPORT_BYTES: u64 = 256 << 20;

pub(in crate::cli) fn run(arguments: &Purchases) -> Result<ExitStatus, Failure> {
    let SavedReports { mut needs, unjudged, repeated, paths } = of_reports(&arguments.input.paths)?;
    let reads_no_tree = paths.is_empty() && !arguments.input.paths.is_empty();
    let input = InputArguments { paths, ..arguments.input.clone() };
    let session = if reads_no_tree {
        Session::settings_only(&InputArguments { allow_empty: true, ..input })?
    } else {
        Session::open(&input)?
    };
    let analysis = (!reads_no_tree).then(|| session.analyze());
    if let Some(analysis) = &analysis {
        needs.extend(pricing::needs(&analysis.inventory, &analysis.bill).into_iter().map(|(_, need)| need));
    }
    let plan = pricing::purchase_plan(&needs, arguments.years);
    let planned = PlannedPurchases { plan: &plan, currency: session.settings.pricing.currency };
    output::write(&arguments.output, Format::Text, |format, style| report::plan(format, &planned, style))?;
    if let Some(analysis) = &analysis {
        let of_tree = session.report(analysis, &[]);
        output::complain_of_unjudged(&of_tree);
        report::plan_notes(&of_tree).iter().for_each(|note| output::complain(note));
    }
    for (report, first) in repeated {
        output::complain(&format!("`{report}` is the same report as `{first}`, and counts once"));
    }
    for (report, count) in unjudged {
        output::complain(&format!("not evaluated in {report}: {count}; the report has the list"));
    }
    Ok(analysis.map_or(ExitStatus::Passed, |analysis| session.outcome(&analysis)))
}

/// The saved reports among the given paths.
#[derive(Default)]
struct SavedReports {
    needs: Vec<Need>,
    /// Reports with entries that were not evaluated, and the number of these entries.
    unjudged: Vec<(String, usize)>,
    /// Repeated reports, each with the name of its first copy.
    repeated: Vec<(String, String)>,
    /// The paths that are not reports.
    paths: Vec<PathBuf>,
}

fn of_reports(paths: &[PathBuf]) -> Result<SavedReports, Failure> {
    let mut all = SavedReports::default();
    let mut known: HashMap<Vec<u8>, String> = HashMap::new();
    for path in paths {
        let is_json = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("json")) && path.is_file();
        let shown = path.display().to_string();
        let failed = |why: String| Failure::new(format!("the report `{shown}` cannot be used: {why}"));
        let found = match is_json {
            true => {
                let text = read_limited(path, LONGEST_REPORT_BYTES).map_err(|why| failed(why.to_string()))?;
                let sum = digest(&SHA256, &text).as_ref().to_vec();
                if let Some(first) = known.get(&sum) {
                    all.repeated.push((shown, first.clone()));
                    continue;
                }
                known.insert(sum, shown.clone());
                report::saved_needs(&String::from_utf8_lossy(&text), &shown).map_err(failed)?
            }
            false => None,
        };
        match found {
            Some((needs, unjudged)) => {
                all.needs.extend(needs);
                all.unjudged.extend((unjudged > 0).then_some((shown, unjudged)));
            }
            None => all.paths.push(path.clone()),
        }
    }
    Ok(all)
}
