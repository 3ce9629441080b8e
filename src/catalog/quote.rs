//! The hourly prices of a machine in a region for each way of buying, with their sources.

use std::borrow::Cow;

use super::Catalog;
use super::clouds::{AWS, GCP};
use super::machine::{CatalogMachine, PriceKind};
use super::money::Money;
use super::own::OwnPrice;
use super::table::{CatalogBlock, Cells, FixedTable};

/// The hourly prices of a machine in a region for each way of buying, and their sources.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Quote<'c> {
    pub on_demand: Option<Money>,
    pub spot: Option<Money>,
    pub reserved_1y: Option<Money>,
    pub reserved_3y: Option<Money>,
    pub basis: Basis<'c>,
    /// The parts of the price, if it is a sum.
    pub parts: Vec<QuotePart<'c>>,
    /// The date of the on-demand price, such as `2026-07-20`. The day or the month may be missing.
    pub as_of: &'c str,
    pub spot_as_of: &'c str,
    /// How the spot price was found: list, composed, lowest-zone or advisor-saving.
    pub spot_basis: &'c str,
    /// How the reserved prices were found: list, list-no-upfront, whole-term, family-ratio, ...
    pub reserved_basis: &'c str,
    /// The share of spot machines that is interrupted, if the cloud publishes it, such as `<5%`.
    pub interruption: &'c str,
    pub source: Cow<'c, str>,
    /// The confidence: high, medium, low, derived, or `unverified` if no source of the row was checked.
    pub confidence: &'c str,
    pub notes: &'c str,
    /// The price of a row without a verified source. Reports show it, but totals do not contain it.
    pub unverified: Option<Money>,
}

/// The mark of a row without a verified source.
const UNVERIFIED: &str = "unverified";

impl Quote<'_> {
    /// Returns the newest date of its prices.
    pub fn latest(&self) -> &str {
        self.as_of.max(self.spot_as_of)
    }

    /// Removes the prices of a row without a verified source, so that no total contains them.
    fn believed(self) -> Self {
        if self.confidence != UNVERIFIED {
            return self;
        }
        let unverified = [self.on_demand, self.spot, self.reserved_1y, self.reserved_3y].into_iter().flatten().next();
        Quote { on_demand: None, spot: None, reserved_1y: None, reserved_3y: None, unverified, ..self }
    }
}

/// The source of a price.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Basis<'c> {
    /// A custom price, in this line of the user's file.
    Own {
        line: usize,
        /// Whether the line contains the price of one accelerator.
        per_accelerator: bool,
        /// The dollars per unit of the file's currency, in millionths.
        usd_per_unit: i64,
    },
    /// A row that `catalog update` added.
    Refreshed { region: &'c str },
    /// A row without a usable price.
    #[default]
    Unknown,
    /// A row of the catalog. The region `*` means one price everywhere.
    Listed { region: &'c str },
    /// The row of another region, times the price index of this region in millionths.
    Regional { from: &'c str, factor: i64 },
    /// The row of another region. The price difference between the regions is unknown.
    Elsewhere { from: &'c str },
}

impl Basis<'_> {
    pub fn is_estimate(&self) -> bool {
        matches!(self, Basis::Regional { .. } | Basis::Elsewhere { .. })
    }
}

/// A quantity at a unit price, as a part of a price.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotePart<'c> {
    pub what: &'c str,
    pub quantity: f64,
    /// The on-demand price of one unit.
    pub unit_price: Money,
    /// The spot price of one unit.
    pub spot_unit_price: Option<Money>,
    pub basis: Basis<'c>,
}

/// A machine in a region with its prices, as the catalog lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer<'c> {
    pub machine: CatalogMachine<'c>,
    pub region: &'c str,
    pub quote: Quote<'c>,
}

/// The price level of a region relative to its provider's base region, in millionths.
#[derive(Debug, Clone, Copy)]
pub struct RegionIndex<'c> {
    millionths: i64,
    low: Option<i64>,
    high: Option<i64>,
    pub as_of: &'c str,
    pub source: &'c str,
}

impl RegionIndex<'_> {
    /// Returns the lowest and the highest price of a machine in the region, as factors of the price by its index.
    pub fn range(&self) -> Option<(f64, f64)> {
        let of_index = |it: i64| it as f64 / self.millionths as f64;
        let (low, high) = (self.low?.min(self.millionths), self.high?.max(self.millionths));
        (self.millionths > 0).then(|| (of_index(low), of_index(high)))
    }
}

impl Catalog {
    /// Returns the prices of a machine in a region: from the row of that region, or a row for all regions, or else from
    /// the row of another region times the price index. `None` if no row matches.
    pub fn quote<'c>(&'c self, machine: &CatalogMachine<'c>, region: &str) -> Option<Quote<'c>> {
        let listed = match &machine.kind {
            PriceKind::Listed => self.listed_quote(&machine.provider, &machine.name, region),
            PriceKind::Service { below, factor, evidence } => self.service_quote(below, *factor, evidence, region),
            PriceKind::Tpu { variant } => self.tpu_quote(machine, variant, region),
            PriceKind::Equipped { parts } => self.equipped_quote(machine, parts, region),
        };
        match self.own.find(machine, region) {
            Some(own) => Some(overlay(listed.unwrap_or_default(), own, machine)),
            None => listed,
        }
    }

    /// Returns every machine in every region that a row contains.
    pub fn offers(&self) -> impl Iterator<Item = Offer<'_>> {
        self.machines().flat_map(move |machine| {
            let mut regions: Vec<&str> = Vec::new();
            for block in [Some(&self.block), self.refreshed.as_ref()].into_iter().flatten() {
                let table = block.table("prices");
                let rows = table.range(&[&*machine.provider, &*machine.name]);
                regions.extend(rows.map(|index| region_of(table.row(index))));
            }
            regions.extend(self.own.regions(&machine));
            regions.sort_unstable();
            regions.dedup();
            let offer = |region| Some(Offer { machine: machine.clone(), region, quote: self.quote(&machine, region)? });
            regions.into_iter().filter_map(offer).collect::<Vec<_>>()
        })
    }

    /// Returns the region's name in the catalog: zones lose their letter, and display names lose their blanks.
    pub fn region(&self, provider: &str, written: &str) -> Option<&str> {
        let written: String = written.trim().to_ascii_lowercase().split_whitespace().collect();
        match self.place_apart(provider, &written) {
            Some(_) => None,
            None => self.within(provider, &written),
        }
    }

    /// Returns the region of a place with separate prices: a Local Zone or a Wavelength Zone of AWS.
    pub fn place_apart<'c>(&'c self, provider: &str, written: &str) -> Option<&'c str> {
        // Examples are `us-west-2-lax-1a` and `us-east-1-wl1-bos-wlz-1`. The zone ID `use1-az1` is not such a place.
        let region = self.within(provider, written).filter(|_| provider == AWS)?;
        let rest = written.get(region.len()..)?.strip_prefix('-')?;
        rest.contains(|c: char| c.is_ascii_digit()).then_some(region)
    }

    fn within(&self, provider: &str, written: &str) -> Option<&str> {
        let mut candidate = written;
        loop {
            if let Some(found) = self.known_region(provider, candidate) {
                return Some(found);
            }
            candidate = shorter(candidate)?;
        }
    }

    /// Returns all known regions of a provider, sorted.
    pub fn regions(&self, provider: &str) -> Vec<&str> {
        let regions: std::collections::BTreeSet<&str> = self.region_names(provider).collect();
        regions.into_iter().collect()
    }

    /// Returns all known regions of a provider, some of them several times.
    pub fn region_names(&self, provider: &str) -> impl Iterator<Item = &str> {
        let table = self.block.table("regions");
        let indexed = table.range(&[provider]).map(move |index| {
            let mut row = table.row(index);
            row.text();
            row.text()
        });
        let prices = self.block.table("prices");
        let listed = prices.range(&[provider]).map(move |index| region_of(prices.row(index)));
        indexed.chain(listed).filter(|name| *name != "*")
    }

    /// Returns the region in which a provider's list is most complete, or `*` if it has one price everywhere.
    pub fn base_region(&self, provider: &str) -> &str {
        let regions = self.block.table("regions");
        let mut first = regions.row(regions.range(&[provider]).start);
        if first.text().eq_ignore_ascii_case(provider) {
            first.text();
            return first.text();
        }
        let prices = self.block.table("prices");
        let listed = prices.find(&[provider]).map(region_of);
        listed.or_else(|| self.own.regions_of(provider).next()).unwrap_or("*")
    }

    /// Returns the price of a commitment product for a machine, such as `ec2-capacity-block` or `dws-calendar`.
    pub fn commitment(&self, provider: &str, machine: &str, region: &str, product: &str) -> Option<Commitment<'_>> {
        let find = |region: &str| self.row_of_commitment(provider, machine, region, product);
        let row = find(region).or_else(|| find(self.base_region(provider))).or_else(|| find("*"))?;
        read_commitment(row)
    }

    /// Returns the price of a commitment product that this region lists.
    pub fn commitment_of_region(
        &self,
        provider: &str,
        machine: &str,
        region: &str,
        product: &str,
    ) -> Option<Commitment<'_>> {
        read_commitment(self.row_of_commitment(provider, machine, region, product)?)
    }

    fn row_of_commitment(&self, provider: &str, machine: &str, region: &str, product: &str) -> Option<Cells<'_>> {
        self.newest_rows("commitments", &[provider, machine, region, product]).next()
    }

    fn known_region(&self, provider: &str, region: &str) -> Option<&str> {
        if let Some(mut row) = self.block.table("regions").find(&[provider, region]) {
            row.text();
            return Some(row.text());
        }
        let prices = self.block.table("prices");
        let listed = prices.range(&[provider]).map(|index| region_of(prices.row(index)));
        let mut regions = listed.chain(self.own.regions_of(provider));
        regions.find(|known| known.eq_ignore_ascii_case(region))
    }

    /// Returns the price level of a region relative to its provider's base region.
    pub fn region_index(&self, provider: &str, region: &str) -> Option<RegionIndex<'_>> {
        let mut row = self.block.table("regions").find(&[provider, region])?;
        let _ = (row.text(), row.text(), row.text());
        let (millionths, low, high) = (row.millionths()?, row.millionths(), row.millionths());
        let (_types, as_of, source) = (row.millionths(), row.text(), row.text());
        Some(RegionIndex { millionths, low, high, as_of, source })
    }

    fn listed_quote<'c>(&'c self, provider: &str, machine: &str, region: &str) -> Option<Quote<'c>> {
        let table = self.block.table("prices");
        let embedded = exact(table, provider, machine, region);
        let of = |block: &'c CatalogBlock| exact(block.table("prices"), provider, machine, region);
        // A cache can be older than this version of the program.
        let is_newer = |quote: &Quote<'_>| embedded.as_ref().is_none_or(|known| known.latest() <= quote.latest());
        if let Some(quote) = self.refreshed.as_ref().and_then(of).filter(is_newer) {
            let basis = Basis::Refreshed { region: basis_region(&quote) };
            return Some(Quote { basis, ..quote });
        }
        if embedded.is_some() {
            return embedded;
        }
        let keys = [provider, machine];
        let estimate = self.estimate_from(table, &keys, provider, region, read_quote);
        // A row without prices still explains why there are none.
        estimate.or_else(|| table.find(&keys).map(|row| Quote { basis: Basis::Unknown, ..read_quote(row) }))
    }

    /// Estimates from the row of the base region, or else from the first region with a known index.
    fn estimate_from<'c>(
        &'c self,
        table: FixedTable<'c>,
        keys: &[&str],
        provider: &str,
        region: &str,
        read: impl Fn(Cells<'c>) -> Quote<'c>,
    ) -> Option<Quote<'c>> {
        let base = self.base_region(provider);
        let quotes = || table.range(keys).map(|index| read(table.row(index))).filter(has_price);
        let at_base = table.find(&[keys, &[base]].concat()).map(&read).filter(has_price);
        let quote = at_base.or_else(|| {
            quotes()
                .find(|quote| self.region_index(provider, basis_region(quote)).is_some())
                .or_else(|| quotes().next())
        })?;
        let from = basis_region(&quote);
        let index = |region: &str| self.region_index(provider, region).map(|it| it.millionths);
        match (index(region), index(from)) {
            (Some(here), Some(there)) if there > 0 => {
                let factor = (i128::from(here) * 1_000_000 + i128::from(there) / 2) / i128::from(there);
                let factor = i64::try_from(factor).ok()?;
                let times = |price: Option<Money>| price.map(|price| price.scaled(factor));
                Some(Quote {
                    on_demand: times(quote.on_demand),
                    spot: times(quote.spot),
                    reserved_1y: times(quote.reserved_1y),
                    reserved_3y: times(quote.reserved_3y),
                    basis: Basis::Regional { from, factor },
                    ..quote
                })
            }
            _ => Some(Quote { basis: Basis::Elsewhere { from }, ..quote }),
        }
    }

    fn service_quote<'c>(&'c self, below: &str, factor: i64, evidence: &'c str, region: &str) -> Option<Quote<'c>> {
        let quote = self.listed_quote(AWS, below, region)?;
        if quote.unverified.is_some() {
            return Some(quote);
        }
        let machine_price = quote.on_demand?;
        let times = |price: Option<Money>| price.map(|price| price.scaled(factor));
        Some(Quote {
            on_demand: times(quote.on_demand),
            // Managed spot training is billed at the service's spot price, which follows that of the machine.
            spot: times(quote.spot),
            // Reserved instances of the machine do not apply to the service.
            reserved_1y: None,
            reserved_3y: None,
            parts: vec![QuotePart {
                what: "times the machine (the factor of the managed service)",
                quantity: factor as f64 / 1e6,
                unit_price: machine_price,
                spot_unit_price: quote.spot,
                basis: quote.basis.clone(),
            }],
            notes: evidence,
            ..quote
        })
    }

    fn tpu_quote<'c>(&'c self, machine: &CatalogMachine<'c>, variant: &str, region: &str) -> Option<Quote<'c>> {
        let table = self.block.table("gcp_tpu");
        let keys = [&*machine.accelerator, variant];
        let listed = table.find(&[keys[0], keys[1], region]).map(read_chip);
        let believed = listed.clone().filter(has_price);
        let estimate = || self.estimate_from(table, &keys, GCP, region, read_chip);
        let chip = believed.or_else(estimate).or(listed)?;
        if chip.unverified.is_some() {
            return Some(chip);
        }
        let unit_price = chip.on_demand?;
        let times = |price: Option<Money>| price.map(|price| price.times(machine.count));
        Some(Quote {
            on_demand: times(chip.on_demand),
            spot: times(chip.spot),
            parts: vec![QuotePart {
                what: "chips",
                quantity: machine.count,
                unit_price,
                spot_unit_price: chip.spot,
                basis: chip.basis.clone(),
            }],
            ..chip
        })
    }

    fn equipped_quote<'c>(
        &'c self,
        machine: &CatalogMachine<'_>,
        names: &[Cow<'_, str>; 3],
        region: &str,
    ) -> Option<Quote<'c>> {
        let table = self.block.table("gcp_components");
        let price = |component: &str| {
            let listed = table.find(&[component, region]).map(read_component);
            let estimate = || self.estimate_from(table, &[component], GCP, region, read_component);
            listed.clone().filter(has_price).or_else(estimate).or(listed)
        };
        let [core, memory, guest] = names;
        let guest = table.find(&[guest])?.text();
        let parts = [
            ("vCPU", machine.cpus?, price(core)?),
            ("GiB of memory", machine.memory_gib?, price(memory)?),
            (guest, machine.count, price(guest)?),
        ];
        let sum = |of: fn(&Quote<'_>) -> Option<Money>| -> Option<Money> {
            parts.iter().map(|(_, quantity, quote)| of(quote).map(|price| price.times(*quantity))).sum()
        };
        let (on_demand, spot) = (sum(|quote| quote.on_demand), sum(|quote| quote.spot));
        let [core, _, guest] = &parts;
        // If one part is an estimate, the whole price is an estimate.
        let basis = if guest.2.basis.is_estimate() { guest.2.basis.clone() } else { core.2.basis.clone() };
        let (as_of, source) = (guest.2.as_of, guest.2.source.clone());
        let unverified = parts.iter().find_map(|(_, _, quote)| quote.unverified);
        let parts = parts
            .iter()
            .filter_map(|(what, quantity, quote)| {
                let (unit_price, spot_unit_price) = (quote.on_demand?, quote.spot);
                Some(QuotePart { what, quantity: *quantity, unit_price, spot_unit_price, basis: quote.basis.clone() })
            })
            .collect();
        Some(Quote {
            on_demand,
            spot,
            basis,
            parts,
            as_of,
            spot_as_of: as_of,
            source,
            confidence: "derived",
            unverified,
            ..Quote::default()
        })
    }
}

/// The hourly price of a machine that is booked or committed for a term.
#[derive(Debug, Clone, PartialEq)]
pub struct Commitment<'c> {
    pub region: &'c str,
    pub product: &'c str,
    pub per_hour: Money,
    pub as_of: &'c str,
    pub source: &'c str,
}

fn exact<'c>(table: FixedTable<'c>, provider: &str, machine: &str, region: &str) -> Option<Quote<'c>> {
    let row = table.find(&[provider, machine, region]).or_else(|| table.find(&[provider, machine, "*"]))?;
    Some(read_quote(row)).filter(has_price)
}

fn has_price(quote: &Quote<'_>) -> bool {
    [quote.on_demand, quote.spot, quote.reserved_1y, quote.reserved_3y].iter().any(Option::is_some)
}

fn basis_region<'c>(quote: &Quote<'c>) -> &'c str {
    match quote.basis {
        Basis::Listed { region } | Basis::Refreshed { region } => region,
        Basis::Regional { from, .. } | Basis::Elsewhere { from } => from,
        Basis::Own { .. } | Basis::Unknown => "",
    }
}

fn read_commitment(mut row: Cells<'_>) -> Option<Commitment<'_>> {
    let (_, _, region, product) = (row.text(), row.text(), row.text(), row.text());
    let (_, _, _, price, as_of, source) = (row.number(), row.number(), row.text(), row.money(), row.text(), row.text());
    let price = price.filter(|_| row.text() != UNVERIFIED);
    Some(Commitment { region, product, per_hour: price?, as_of, source })
}

fn region_of(mut row: Cells<'_>) -> &str {
    row.text();
    row.text();
    row.text()
}

fn read_quote(mut row: Cells<'_>) -> Quote<'_> {
    let (_provider, _machine, region, _accelerator) = (row.text(), row.text(), row.text(), row.text());
    let _shape = (row.millionths(), row.millionths(), row.millionths());
    let (on_demand, spot, reserved_1y, reserved_3y) = (row.money(), row.money(), row.money(), row.money());
    let (as_of, spot_as_of, spot_basis, interruption, reserved_basis) =
        (row.text(), row.text(), row.text(), row.text(), row.text());
    let (source, confidence, notes) = (row.text(), row.text(), row.text());
    Quote {
        on_demand,
        spot,
        reserved_1y,
        reserved_3y,
        basis: Basis::Listed { region },
        parts: Vec::new(),
        as_of,
        spot_as_of,
        spot_basis,
        reserved_basis,
        interruption,
        source: source.into(),
        confidence,
        notes,
        unverified: None,
    }
    .believed()
}

fn read_chip(mut row: Cells<'_>) -> Quote<'_> {
    let (_accelerator, _variant, region) = (row.text(), row.text(), row.text());
    let (on_demand, spot, as_of) = (row.money(), row.money(), row.text());
    let (source, confidence) = (row.text(), row.text());
    let basis = Basis::Listed { region };
    Quote { on_demand, spot, basis, as_of, spot_as_of: as_of, source: source.into(), confidence, ..Quote::default() }
        .believed()
}

fn read_component(mut row: Cells<'_>) -> Quote<'_> {
    let (_component, region, _unit) = (row.text(), row.text(), row.text());
    let (on_demand, spot, as_of) = (row.money(), row.money(), row.text());
    let (source, confidence) = (row.text(), row.text());
    let basis = Basis::Listed { region };
    Quote { on_demand, spot, basis, as_of, spot_as_of: as_of, source: source.into(), confidence, ..Quote::default() }
        .believed()
}

/// Returns the region without its zone: `us-east-1a` becomes `us-east-1`, and `us-central1-b` becomes `us-central1`.
fn shorter(region: &str) -> Option<&str> {
    let last = region.chars().next_back()?;
    if last.is_ascii_alphabetic() {
        let stem = region.strip_suffix(last)?;
        if let Some(without_zone) = stem.strip_suffix('-') {
            return Some(without_zone);
        }
        if stem.ends_with(|end: char| end.is_ascii_digit()) {
            return Some(stem);
        }
    }
    region.rsplit_once('-').map(|(before, _)| before).filter(|before| before.contains('-'))
}

fn overlay<'c>(listed: Quote<'c>, own: &OwnPrice, machine: &CatalogMachine<'_>) -> Quote<'c> {
    let of = |price: Option<Money>| {
        let price = price?.scaled(own.usd_per_unit);
        Some(if own.per_accelerator { price.times(machine.count) } else { price })
    };
    let own_on_demand = of(own.on_demand);
    // A commitment's list price above the negotiated on-demand price does not apply.
    let below_own = |price: &Money| own_on_demand.is_none_or(|own| *price <= own);
    Quote {
        on_demand: own_on_demand.or(listed.on_demand),
        spot: of(own.spot).or(listed.spot.filter(below_own)),
        reserved_1y: of(own.reserved_1y).or(listed.reserved_1y.filter(below_own)),
        reserved_3y: of(own.reserved_3y).or(listed.reserved_3y.filter(below_own)),
        basis: Basis::Own { line: own.line, per_accelerator: own.per_accelerator, usd_per_unit: own.usd_per_unit },
        parts: Vec::new(),
        source: "own prices".into(),
        confidence: "high",
        as_of: "",
        spot_as_of: if own.spot.is_some() { "" } else { listed.spot_as_of },
        ..listed
    }
}
