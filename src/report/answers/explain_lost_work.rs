//! Shows what starts, interruptions and repeated work cost, with every step, for `gpulint explain`.

use std::fmt::Write;

use crate::catalog::rounded;
use crate::fit::lost_work::{LostAmount, LostWork, LostWorkRemedy, MissingInput};
use crate::inventory::{Range, ResourceId};
use crate::pricing::Period;
use crate::report::Report;
use crate::report::escape::one_line;
use crate::report::formats::text::TextTable;
use crate::report::views::lost_work::{format_range, format_usd, of};

/// Returns the lost work of a resource; empty if neither its program nor its starts are known.
pub fn explain_lost_work(report: &Report, id: ResourceId) -> String {
    let Some(work) = of(report, id.0) else { return String::new() };
    let mut text = format!("\nstarts, interruptions and lost work, per {}\n", work.per.name());
    start(&mut text, &work);
    for (part, amount) in &work.parts {
        let amount = match amount {
            LostAmount::Known { gpu_hours, how } => {
                let usd = work.dollars(*gpu_hours).map(|usd| format!(", {}", format_usd(report.currency, usd)));
                format!("{} GPU-hours{}\n    {}", format_range(*gpu_hours), usd.unwrap_or_default(), one_line(how))
            }
            LostAmount::None(why) => format!("none: {}", one_line(why)),
            LostAmount::Unknown(missing) => unknown(missing),
        };
        let _ = writeln!(text, "  {}: {amount}", part.name());
    }
    if let Some(hours) = work.gpu_hours {
        let least = if work.is_partial() { "at least " } else { "" };
        let usd = work.usd().map(|usd| format!(", {}", format_usd(report.currency, usd))).unwrap_or_default();
        let _ = writeln!(text, "  together: {least}{} GPU-hours{usd}", format_range(hours));
    }
    sensitivity(&mut text, report, &work);
    remedies(&mut text, report, &work);
    text
}

fn unknown(missing: &MissingInput) -> String {
    format!("unknown: {}; set {}", one_line(&missing.why), missing.declare)
}

fn start(text: &mut String, work: &LostWork<'_>) {
    let sum = match &work.start_seconds {
        Ok(seconds) => format!("{} seconds", format_range(*seconds)),
        Err(missing) => unknown(missing),
    };
    let _ = writeln!(text, "  one cold start: {sum}");
    for term in &work.start {
        let how = if term.how.is_empty() { String::new() } else { format!(": {}", one_line(&term.how)) };
        let _ = match &term.seconds {
            Ok(seconds) => writeln!(text, "    {} {} s{how}", term.name, format_range(*seconds)),
            Err(missing) => writeln!(text, "    {} {}", term.name, unknown(missing)),
        };
    }
}

/// Writes the sum for half and twice each assumption.
fn sensitivity(text: &mut String, report: &Report, work: &LostWork<'_>) {
    let effects = work.sensitivity();
    let Some(now) = work.gpu_hours.filter(|_| !effects.is_empty()) else { return };
    let shown = |hours: f64| match work.usd_per_gpu_hour {
        Some(usd) => format_usd(report.currency, Range::exactly(hours * usd.expected)),
        None => format!("{} GPU-hours", rounded(hours)),
    };
    let mut table = TextTable::new(&["assumption", "if half", "now", "if double"], 1..4);
    for it in &effects {
        let cells = [it.half, now.expected, it.double].map(shown);
        table.row(std::iter::once(it.assumption.meaning().to_owned()).chain(cells).collect());
    }
    let _ = write!(text, "\n{}", table.print());
}

fn remedies(text: &mut String, report: &Report, work: &LostWork<'_>) {
    let remedies = work.remedies();
    if remedies.is_empty() {
        return;
    }
    let _ = writeln!(text, "\nwhat would lose less, the cheapest first");
    for (at, remedy) in remedies.iter().enumerate() {
        let per = work.per.name();
        let saves = match (remedy.usd, remedy.gpu_hours) {
            (Some(usd), _) => format!("saves {}/{per}", format_usd(report.currency, usd)),
            (None, Some(hours)) => format!("saves {} GPU-hours/{per}", format_range(hours)),
            (None, None) => "saves an unknown amount".to_owned(),
        };
        let costs = costs(report, remedy, work.per);
        let (action, condition) = (one_line(&remedy.action), one_line(&remedy.condition));
        let _ = writeln!(text, "  {}. {action}: {saves}, {costs}\n     {condition}", at + 1);
    }
}

fn costs(report: &Report, remedy: &LostWorkRemedy, per: Period) -> String {
    match remedy.costs {
        Some(0.0) => "no cost".to_owned(),
        Some(cost) => {
            let usd = format_usd(report.currency, Range::exactly(cost));
            let is_dearer = remedy.usd.is_some_and(|saves| saves.expected < cost);
            let more = if is_dearer { ", more than it saves" } else { "" };
            format!("costs {usd}/{}{more}", per.name())
        }
        None => "costs an unknown amount".to_owned(),
    }
}
