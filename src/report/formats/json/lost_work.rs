//! Writes cold starts, interruptions and repeated work as JSON.

use serde::Serialize;

use super::wire::WireNumber;
use crate::fit::lost_work::{LostAmount, LostWork, LostWorkRemedy, MissingInput, Sensitivity, StartTerm};
use crate::inventory::Range;

#[derive(Serialize)]
pub(in crate::report) struct WireLostWork {
    per: &'static str,
    start_seconds: Option<WireOpenRange>,
    start: Vec<WireStartTerm>,
    parts: Vec<WirePart>,
    gpu_hours: Option<WireOpenRange>,
    usd: Option<WireOpenRange>,
    /// True if a part is unknown, so that the sum is a minimum.
    is_minimum: bool,
    best_checkpoint_minutes: Option<WireNumber>,
    sensitivity: Vec<WireSensitivity>,
    remedies: Vec<WireRemedy>,
}

/// A range whose upper end may be unknown.
#[derive(Serialize)]
struct WireOpenRange {
    floor: WireNumber,
    expected: WireNumber,
    ceiling: Option<WireNumber>,
}

#[derive(Serialize)]
struct WireStartTerm {
    name: &'static str,
    seconds: Option<WireOpenRange>,
    how: String,
    missing: Option<WireMissing>,
}

#[derive(Serialize)]
struct WirePart {
    part: &'static str,
    gpu_hours: Option<WireOpenRange>,
    usd: Option<WireOpenRange>,
    /// The calculation, or why there is no such part.
    how: Option<String>,
    missing: Option<WireMissing>,
}

/// An unknown input, and what declares it.
#[derive(Serialize)]
struct WireMissing {
    why: String,
    declare: &'static str,
}

/// The expected dollars, or GPU-hours without a price, if an assumption is half or twice as large.
#[derive(Serialize)]
struct WireSensitivity {
    assumption: &'static str,
    gpu_hours_if_half: WireNumber,
    gpu_hours_if_double: WireNumber,
    usd_if_half: Option<WireNumber>,
    usd_if_double: Option<WireNumber>,
}

#[derive(Serialize)]
struct WireRemedy {
    name: &'static str,
    action: String,
    condition: String,
    saves_gpu_hours: Option<WireOpenRange>,
    saves_usd: Option<WireOpenRange>,
    costs_usd: Option<WireNumber>,
}

impl From<Range> for WireOpenRange {
    fn from(it: Range) -> WireOpenRange {
        let digits = WireNumber::three_digits;
        let ceiling = it.ceiling.is_finite().then(|| digits(it.ceiling));
        WireOpenRange { floor: digits(it.floor), expected: digits(it.expected), ceiling }
    }
}

impl From<&MissingInput> for WireMissing {
    fn from(it: &MissingInput) -> WireMissing {
        WireMissing { why: it.why.clone(), declare: it.declare }
    }
}

impl WireLostWork {
    pub(super) fn new(work: &LostWork<'_>) -> WireLostWork {
        WireLostWork {
            per: work.per.name(),
            start_seconds: work.start_seconds.as_ref().ok().map(|seconds| (*seconds).into()),
            start: work.start.iter().map(term).collect(),
            parts: work.parts.iter().map(|(part, amount)| wire_part(work, part.name(), amount)).collect(),
            gpu_hours: work.gpu_hours.map(Into::into),
            usd: work.usd().map(Into::into),
            is_minimum: work.is_partial(),
            best_checkpoint_minutes: work.best_interval().map(|hours| WireNumber::three_digits(hours * 60.0)),
            sensitivity: work.sensitivity().iter().map(|it| sensitivity(work, it)).collect(),
            remedies: work.remedies().iter().map(remedy).collect(),
        }
    }
}

fn term(it: &StartTerm) -> WireStartTerm {
    WireStartTerm {
        name: it.name,
        seconds: it.seconds.as_ref().ok().map(|seconds| (*seconds).into()),
        how: it.how.clone(),
        missing: it.seconds.as_ref().err().map(Into::into),
    }
}

fn wire_part(work: &LostWork<'_>, part: &'static str, amount: &LostAmount) -> WirePart {
    let gpu_hours = amount.gpu_hours();
    let (how, missing) = match amount {
        LostAmount::Known { how, .. } => (Some(how.clone()), None),
        LostAmount::None(why) => (Some(why.clone()), None),
        LostAmount::Unknown(missing) => (None, Some(missing.into())),
    };
    let usd = gpu_hours.and_then(|hours| work.dollars(hours)).map(Into::into);
    WirePart { part, gpu_hours: gpu_hours.map(Into::into), usd, how, missing }
}

fn sensitivity(work: &LostWork<'_>, it: &Sensitivity) -> WireSensitivity {
    let usd = |hours: f64| Some(WireNumber::three_digits(work.usd_per_gpu_hour?.expected * hours));
    WireSensitivity {
        assumption: it.assumption.name(),
        gpu_hours_if_half: WireNumber::three_digits(it.half),
        gpu_hours_if_double: WireNumber::three_digits(it.double),
        usd_if_half: usd(it.half),
        usd_if_double: usd(it.double),
    }
}

fn remedy(it: &LostWorkRemedy) -> WireRemedy {
    WireRemedy {
        name: it.name,
        action: it.action.clone(),
        condition: it.condition.clone(),
        saves_gpu_hours: it.gpu_hours.map(Into::into),
        saves_usd: it.usd.map(Into::into),
        costs_usd: it.costs.map(WireNumber::three_digits),
    }
}
