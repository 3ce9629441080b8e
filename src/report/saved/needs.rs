//! The input of a purchase plan from saved reports: machines and their prices.

use serde::Deserialize;

use super::document::check;
use crate::catalog::Money;
use crate::inventory::{BillingRole, CountedAs};
use crate::pricing::{CommitmentEligibility, HourlyOffers, Need, Rung, SteadyDemand};
use crate::report::formats::json::{VERSION, WireDemand, WireNumber, WireOffer, WireResource, WireRung};

#[derive(Deserialize)]
struct Document<'a> {
    version: u32,
    resources: Vec<WireResource<'a>>,
    #[serde(default)]
    not_judged: Vec<serde::de::IgnoredAny>,
}

/// The limit on machines. It is more than any customer rents, so a larger number is an error.
const MOST_MACHINES: f64 = 1e7;

/// The error for a report that lacks values for a plan.
const NOT_TOLD: &str = "the report does not contain this value; create the report again with this version of gpulint";

/// Returns the machines in a report of `gpulint check --format json`, with the name of the report and its number of
/// unevaluated entries; none for another document.
pub fn saved_needs(text: &str, from: &str) -> Result<Option<(Vec<Need>, usize)>, String> {
    #[derive(Deserialize)]
    struct Kind {
        version: Option<u32>,
        findings: Option<serde::de::IgnoredAny>,
        resources: Option<serde::de::IgnoredAny>,
        scorecard: Option<serde::de::IgnoredAny>,
    }
    match serde_json::from_str::<Kind>(text) {
        Ok(Kind { version: Some(_), findings: Some(_), resources: Some(_), scorecard: Some(_) }) => {}
        _ => return Ok(None),
    }
    let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if document.version != VERSION {
        return Err(format!("its version is {}, and this gpulint reads version {VERSION}", document.version));
    }
    let is_planned = |it: &WireResource| {
        it.role == BillingRole::Rented.name()
            && it.counted.as_deref().is_none_or(|it| it == CountedAs::Deployed.name())
            && (it.demand.is_some() || it.accelerator.is_some())
    };
    let needs = document.resources.into_iter().filter(is_planned);
    let needs = needs.map(|it| it.read(from)).collect::<Result<Vec<_>, _>>()?;
    Ok(Some((needs, document.not_judged.len())))
}

impl WireResource<'_> {
    fn read(self, from: &str) -> Result<Need, String> {
        let words = [&self.provider, &self.region, &self.machine, &self.accelerator];
        let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
        words.iter().try_for_each(|word| is_name(word))?;
        let demand = match self.demand {
            Some(demand) => demand.read()?,
            None => unknown(NOT_TOLD),
        };
        Ok(Need {
            address: self.address.into_owned(),
            from: from.to_owned(),
            provider: self.provider.unwrap_or_default(),
            region: self.region.unwrap_or_default(),
            machine: self.machine.unwrap_or_default(),
            accelerator: self.accelerator.unwrap_or_default(),
            accelerators: self.accelerator_count.map_or(0.0, |it| it.0),
            demand,
            stale: self.price.stale,
            estimate: self.price.reason.filter(|_| self.price.status == "estimated"),
        })
    }
}

/// Checks a name of a machine or region, which may contain more characters than gpulint's own words.
fn is_name(word: &str) -> Result<(), String> {
    let plain: String = word.chars().filter(|letter| !matches!(letter, '.' | '/' | ':' | '+' | '*')).collect();
    check(&[&plain])
}

fn unknown(why: &str) -> SteadyDemand {
    SteadyDemand {
        standing: CommitmentEligibility::Unknown,
        why: Some(why.to_owned()),
        always: 0.0,
        average: None,
        covered: 0.0,
        most: None,
        rungs: Vec::new(),
        offered: HourlyOffers::default(),
    }
}

impl WireDemand {
    fn read(self) -> Result<SteadyDemand, String> {
        let standing = CommitmentEligibility::from_name(&self.standing);
        let standing =
            standing.ok_or_else(|| "its plan contains values that this version of gpulint does not know".to_owned())?;
        let number = |WireNumber(number)| match (0.0..=MOST_MACHINES).contains(&number) {
            true => Ok(number),
            false => Err(format!("{number} is not a valid number of machines")),
        };
        let rung = |it: &WireRung| Ok(Rung { machines: number(it.machines)?, share: it.share.0.clamp(0.0, 1.0) });
        Ok(SteadyDemand {
            standing,
            why: self.why,
            always: number(self.always)?,
            average: self.average.map(number).transpose()?,
            covered: number(self.covered)?,
            most: self.most.map(number).transpose()?,
            rungs: self.sure.iter().map(rung).collect::<Result<_, String>>()?,
            offered: self.usd_per_hour.read(),
        })
    }
}

impl WireOffer {
    fn read(&self) -> HourlyOffers {
        let money = |usd: Option<WireNumber>| usd.filter(|usd| usd.0 > 0.0 && usd.0 < 1e6).map(Money::from);
        HourlyOffers {
            on_demand: money(self.on_demand),
            spot: money(self.spot),
            one_year: money(self.one_year),
            three_years: money(self.three_years),
            block: money(self.block),
            flex: money(self.flex),
        }
    }
}
