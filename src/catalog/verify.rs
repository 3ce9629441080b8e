//! Checks prices for errors: order, units, dates, and relations between columns.

use std::collections::BTreeSet;

use super::Catalog;
use super::clouds::{AWS, AZURE, GCP};
use super::money::Money;
use super::peers::{PeerPrice, Peers, PriceDoubt};
use super::quote::{Basis, Offer};
use super::table::{Cells, covers};

/// The plausible hourly prices of one accelerator, in dollars. A price outside the range has another unit.
pub const PER_ACCELERATOR_USD: std::ops::RangeInclusive<f64> = 0.02..=60.0;

/// Machine families whose sizes have the same price per accelerator, according to their vendors.
const LINEAR: [(&str, &str); 5] = [
    (AWS, "p3.*"),
    (AZURE, "Standard_NC#ads_A100_v4"),
    (AZURE, "Standard_NC#ad*_H100_v5"),
    (GCP, "a2-highgpu-*"),
    (GCP, "a3-highgpu-*"),
];

/// Regions in which Google's prices are equal.
const ONE_PRICE: [&str; 3] = ["us-central1", "us-east1", "us-west1"];

/// An implausible row, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubtedRow {
    /// The provider, the machine and the region, or the name of a table and its keys.
    pub place: Vec<String>,
    /// Whether the reason applies to the machine in all regions.
    pub everywhere: bool,
    pub why: String,
}

impl DoubtedRow {
    fn new(place: &[&str], why: String) -> Self {
        DoubtedRow { place: place.iter().map(|it| (*it).to_owned()).collect(), everywhere: false, why }
    }
}

impl std::fmt::Display for DoubtedRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place.join(" "), self.why)
    }
}

impl Catalog {
    /// Returns the implausible prices: first single rows by provider, machine and region, then rows that contradict
    /// each other, then the other tables.
    pub fn verify(&self) -> Vec<DoubtedRow> {
        let mut doubts: Vec<DoubtedRow> = self.offers().flat_map(|offer| self.doubts(&offer)).collect();
        doubts.extend(self.beside_others());
        for (provider, pattern) in LINEAR {
            doubts.extend(self.not_linear(provider, pattern));
        }
        doubts.extend(self.not_one_price());
        for (table, keys) in [("gcp_components", 2), ("gcp_tpu", 3)] {
            doubts.extend(self.spot_above(table, keys));
        }
        doubts
    }

    /// Returns the prices that differ too much from others, and the exceptions that match no row.
    fn beside_others(&self) -> Vec<DoubtedRow> {
        let offers: Vec<Offer<'_>> = self.offers().filter(is_listed).collect();
        let rows: Vec<PeerPrice<'_>> = offers.iter().map(PeerPrice::of).collect();
        let peers = Peers::of(&rows);
        let mut told: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut doubts: Vec<DoubtedRow> = Vec::new();
        for row in &rows {
            for doubt in peers.doubts(row).into_iter().filter(|doubt| !self.is_exception(doubt.check, row)) {
                // A machine that is cheap or expensive has this doubt in all its rows. It is reported once.
                let is_of_all = matches!(doubt.check, PriceDoubt::Cheap | PriceDoubt::Dear);
                if !is_of_all || told.insert((row.provider, row.machine)) {
                    let row = DoubtedRow::new(&[row.provider, row.machine, row.region], doubt.told);
                    doubts.push(DoubtedRow { everywhere: is_of_all, ..row });
                }
            }
        }
        let exceptions = self.block.table("exceptions").rows().map(read_exception);
        let idle = exceptions.filter(|exception| !rows.iter().any(|row| exception.covers(row)));
        doubts.extend(idle.map(|it| {
            DoubtedRow::new(&["exceptions", it.check, it.provider, it.pattern], "no price matches".to_owned())
        }));
        doubts
    }

    /// Whether `exceptions.csv` explains this doubt about a row.
    pub fn is_exception(&self, check: PriceDoubt, row: &PeerPrice<'_>) -> bool {
        let mut exceptions = self.block.table("exceptions").rows().map(read_exception);
        exceptions.any(|exception| exception.check == check.name() && exception.covers(row))
    }

    /// Returns the sizes of a family whose price per accelerator is not that of the smallest size in the region.
    fn not_linear(&self, provider: &str, pattern: &str) -> Vec<DoubtedRow> {
        let in_family = |it: &Offer<'_>| it.machine.provider == provider && covers(pattern, &it.machine.name);
        let offers: Vec<Offer<'_>> = self.offers().filter(in_family).filter(is_listed).collect();
        let mut regions: Vec<&str> = offers.iter().map(|offer| offer.region).collect();
        regions.sort_unstable();
        regions.dedup();
        // Azure publishes three decimals and others six, so prices can differ by half of the last one.
        let rounding = if provider == AZURE { 500.0 } else { 0.5 };
        let mut doubts = Vec::new();
        for region in regions {
            let sizes: Vec<&Offer<'_>> = offers.iter().filter(|offer| offer.region == region).collect();
            let smallest = sizes.iter().min_by(|one, other| one.machine.count.total_cmp(&other.machine.count));
            let Some((least, base)) = smallest.and_then(|it| Some((&it.machine, it.quote.on_demand?))) else {
                continue;
            };
            for Offer { machine, quote, .. } in sizes {
                let Some(price) = quote.on_demand else { continue };
                let times = machine.count / least.count;
                if ((price.micros() - base.times(times).micros()) as f64).abs() > rounding * (times + 1.0) {
                    let (price, base) = (price.usd(), base.usd());
                    let why = format!("costs ${price}, not {times} times the ${base} of {}", least.name);
                    doubts.push(DoubtedRow::new(&[provider, &machine.name, region], why));
                }
            }
        }
        doubts
    }

    /// Returns the machines of Google whose prices differ between regions with equal prices.
    fn not_one_price(&self) -> Vec<DoubtedRow> {
        let mut doubts = Vec::new();
        for machine in self.machines().filter(|machine| machine.provider == GCP) {
            let listed = |region| Some((region, self.quote(&machine, region)?));
            let quotes = ONE_PRICE.into_iter().filter_map(listed).filter(|(_, quote)| !quote.basis.is_estimate());
            let prices: Vec<(&str, Money)> = quotes.filter_map(|(region, it)| Some((region, it.on_demand?))).collect();
            let Some(((first, base), rest)) = prices.split_first() else { continue };
            // Sums of parts differ from published prices by less than one percent.
            let differs = |price: &Money| (price.usd() / base.usd() - 1.0).abs() > 0.01;
            doubts.extend(rest.iter().filter(|(_, price)| differs(price)).map(|(region, price)| {
                let (price, base) = (price.usd(), base.usd());
                let why = format!("costs ${price}, but ${base} in {first}, and both should have one price");
                DoubtedRow::new(&[GCP, &machine.name, region], why)
            }));
        }
        doubts
    }

    /// Returns the parts of machines that cost nothing, or whose spot price is above the on-demand price.
    fn spot_above(&self, table: &'static str, keys: usize) -> Vec<DoubtedRow> {
        let mut doubts = Vec::new();
        for mut row in self.block.table(table).rows() {
            let mut name: Vec<&str> = (0..keys).map(|_| row.text()).filter(|it| !it.is_empty()).collect();
            if table == "gcp_components" {
                name.push(row.text());
            }
            let (on_demand, spot) = (row.money(), row.money());
            name.insert(0, table);
            if on_demand.is_none_or(|price| price <= Money::ZERO) {
                doubts.push(DoubtedRow::new(&name, "it has no price".to_owned()));
            }
            if let (Some(on_demand), Some(spot)) = (on_demand, spot)
                && spot > on_demand
            {
                let (spot, on_demand) = (spot.usd(), on_demand.usd());
                let why = format!("spot costs ${spot}, more than ${on_demand} on demand");
                doubts.push(DoubtedRow::new(&name, why));
            }
        }
        doubts
    }

    fn doubts(&self, offer: &Offer<'_>) -> Vec<DoubtedRow> {
        let Offer { machine, region, quote } = offer;
        let mut doubts = Vec::new();
        let place = [&*machine.provider, &*machine.name, region];
        let mut doubt = |why: String| doubts.push(DoubtedRow::new(&place, why));
        if self.accelerator(&machine.accelerator).is_none_or(|known| known.name != machine.accelerator) {
            doubt(format!("`{}` is not an accelerator of the catalog", machine.accelerator));
        }
        if machine.count <= 0.0 {
            doubt("it has no accelerator".to_owned());
        }
        if quote.as_of.is_empty() && !matches!(quote.basis, Basis::Own { .. }) {
            doubt("its price has no date".to_owned());
        }
        let ways = [
            ("on demand", quote.on_demand),
            ("spot", quote.spot),
            ("one year", quote.reserved_1y),
            ("three years", quote.reserved_3y),
        ];
        for (way, price) in ways {
            let Some(price) = price else { continue };
            if price <= Money::ZERO {
                doubt(format!("{way} costs ${}", price.usd()));
            }
            if let Some(on_demand) = quote.on_demand
                && price > on_demand
            {
                doubt(format!("{way} costs ${}, more than ${} on demand", price.usd(), on_demand.usd()));
            }
        }
        if let (Some(one), Some(three)) = (quote.reserved_1y, quote.reserved_3y)
            && three > one
        {
            doubt(format!("three years cost ${}, more than ${} for one", three.usd(), one.usd()));
        }
        if let Some(on_demand) = quote.on_demand
            && machine.count > 0.0
            && !PER_ACCELERATOR_USD.contains(&(on_demand.usd() / machine.count))
        {
            doubt(format!("${} for {} accelerators is impossible", on_demand.usd(), machine.count));
        }
        doubts
    }
}

/// A row of `exceptions.csv`.
struct Exception<'c> {
    check: &'c str,
    provider: &'c str,
    pattern: &'c str,
    region: &'c str,
}

impl Exception<'_> {
    fn covers(&self, row: &PeerPrice<'_>) -> bool {
        self.provider.eq_ignore_ascii_case(row.provider)
            && covers(self.pattern, row.machine)
            && covers(self.region, row.region)
    }
}

fn read_exception(mut row: Cells<'_>) -> Exception<'_> {
    Exception { check: row.text(), provider: row.text(), pattern: row.text(), region: row.text() }
}

fn is_listed(offer: &Offer<'_>) -> bool {
    matches!(offer.quote.basis, Basis::Listed { .. } | Basis::Refreshed { .. })
}

#[cfg(test)]
mod tests {
    use super::super::format::CsvFile;
    use super::*;

    const HEADER: &str = "provider,machine,region,accelerator,accelerator_count,on_demand_usd_per_hour,spot_usd_per_hour,\
                          reserved_1y_usd_per_hour,reserved_3y_usd_per_hour,as_of,source,confidence\n";

    fn told(doubts: Vec<DoubtedRow>) -> Vec<String> {
        doubts.iter().map(ToString::to_string).collect()
    }

    fn doubts(rows: &str) -> Vec<String> {
        let prices = format!("{HEADER}{rows}");
        let accelerators = "accelerator,vendor,kind,memory_gib\nA100-40GB,nvidia,gpu,40\nV100,nvidia,gpu,16\n";
        let components = "component,region,unit,on_demand_usd,spot_usd\nn1-core,us-central1,h,0.03,0.04\n";
        let file = |stem, text| CsvFile { path: stem, stem, text };
        let files = [file("prices", &*prices), file("accelerators", accelerators), file("gcp_components", components)];
        told(Catalog::from_tables(&files).unwrap().verify())
    }

    #[test]
    fn what_cannot_be_true_is_told() {
        for (row, told) in [
            ("aws,p3.2xlarge,us-east-1,V100,1,3.06,4,,,2026-01-01,a,high", "spot costs $4, more than $3.06 on demand"),
            ("aws,p3.2xlarge,us-east-1,V100,1,3.06,,3.1,,2026-01-01,a,high", "one year costs $3.1, more than $3.06"),
            ("aws,p3.2xlarge,us-east-1,V100,1,3.06,,2,2.5,2026-01-01,a,high", "three years cost $2.5, more than $2"),
            ("aws,p3.2xlarge,us-east-1,V100,1,0,,,,2026-01-01,a,high", "on demand costs $0"),
            ("aws,p3.2xlarge,us-east-1,V100,1,700,,,,2026-01-01,a,high", "$700 for 1 accelerators is impossible"),
            ("aws,p3.2xlarge,us-east-1,V100,0,3.06,,,,2026-01-01,a,high", "it has no accelerator"),
            ("aws,p3.2xlarge,us-east-1,V1000,1,3.06,,,,2026-01-01,a,high", "`V1000` is not an accelerator"),
            ("aws,p3.2xlarge,us-east-1,V100,1,3.06,,,,,a,high", "its price has no date"),
        ] {
            let found = doubts(row);
            assert!(found.iter().any(|it| it.contains(told)), "{told}: {found:?}");
        }
    }

    #[test]
    fn rows_that_contradict_each_other_are_told() {
        let found = doubts(
            "aws,p3.2xlarge,us-east-1,V100,1,3.06,,,,2026-01-01,a,high\n\
             aws,p3.16xlarge,us-east-1,V100,8,25,,,,2026-01-01,a,high\n\
             gcp,a2-highgpu-1g,us-central1,A100-40GB,1,3.6,,,,2026-01-01,a,high\n\
             gcp,a2-highgpu-1g,us-east1,A100-40GB,1,3.7,,,,2026-01-01,a,high\n",
        );
        let expected = [
            "aws p3.16xlarge us-east-1: costs $25, not 8 times the $3.06 of p3.2xlarge",
            "gcp a2-highgpu-1g us-east1: costs $3.7, but $3.6 in us-central1, and both should have one price",
            "gcp_components n1-core us-central1 h: spot costs $0.04, more than $0.03 on demand",
        ];
        assert_eq!(found, expected);
    }

    /// Verifies the embedded tables with one additional row.
    fn doubts_with(row: &str) -> Vec<String> {
        let rows = format!("{HEADER}{row}");
        let new = CsvFile { path: "new", stem: "prices", text: &rows };
        told(Catalog::embedded().with_refreshed(&[new]).unwrap().verify())
    }

    #[test]
    fn a_poisoned_row_in_the_embedded_tables_is_told() {
        for (row, told) in [
            ("aws,p5.48xlarge,eu-west-3,H100-80GB,8,60,60,,,2026-01-01,a,high", "spot costs $60, not less than $60"),
            ("aws,p5.48xlarge,eu-west-3,H100-80GB,8,9,,,,2026-01-01,a,high", "on demand costs $9, but usually $"),
            ("new,box,*,H100-80GB,8,8,,,,2026-01-01,a,high", "one H100-80GB costs $1.000, but the median"),
        ] {
            let found = doubts_with(row);
            // The row may move the median, so prices near the limit can add doubts.
            assert_eq!(found.iter().filter(|it| it.contains(told)).count(), 1, "{told}: {found:?}");
        }
    }

    #[test]
    fn an_exception_that_covers_no_row_is_told() {
        let prices = format!("{HEADER}aws,p3.2xlarge,us-east-1,V100,1,3.06,,,,2026-01-01,a,high\n");
        let accelerators = "accelerator,vendor,kind,memory_gib\nV100,nvidia,gpu,16\n";
        let exceptions = "check,provider,pattern,region,reason\ndear,aws,p3.*,*,it is\ndear,aws,p2.*,*,it was\n";
        let file = |stem, text| CsvFile { path: stem, stem, text };
        let files = [file("prices", &*prices), file("accelerators", accelerators), file("exceptions", exceptions)];
        let doubts = Catalog::from_tables(&files).unwrap().verify();
        assert_eq!(told(doubts), ["exceptions dear aws p2.*: no price matches"]);
    }

    #[test]
    fn every_exception_names_a_check() {
        for mut row in Catalog::embedded().block.table("exceptions").rows() {
            let check = row.text();
            assert!(PriceDoubt::ALL.iter().any(|known| known.name() == check), "{check}");
        }
    }

    #[test]
    fn the_embedded_tables_are_beyond_doubt() {
        assert_eq!(told(Catalog::embedded().verify()), Vec::<String>::new());
    }
}
