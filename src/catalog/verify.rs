use super::Catalog;
use super::money::Money;
use super::quote::{Basis, Offer};

/// What an hour of one accelerator costs anywhere, in dollars: less or more is another unit.
pub const PER_ACCELERATOR_USD: std::ops::RangeInclusive<f64> = 0.02..=60.0;

impl Catalog {
    /// What cannot be true of the prices, in the order of provider, machine and region.
    pub fn verify(&self) -> Vec<String> {
        self.offers().flat_map(|offer| self.doubts(&offer)).collect()
    }

    fn doubts(&self, offer: &Offer<'_>) -> Vec<String> {
        let Offer { machine, region, quote } = offer;
        let mut doubts = Vec::new();
        let mut doubt = |what: String| doubts.push(format!("{} {} {region}: {what}", machine.provider, machine.name));
        if self.accelerator(&machine.accelerator).is_none_or(|known| known.name != machine.accelerator) {
            doubt(format!("`{}` is no accelerator of the catalog", machine.accelerator));
        }
        if machine.count <= 0.0 {
            doubt("it carries no accelerator".to_owned());
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
        if let Some(on_demand) = quote.on_demand
            && machine.count > 0.0
            && !PER_ACCELERATOR_USD.contains(&(on_demand.usd() / machine.count))
        {
            doubt(format!("${} for {} accelerators cannot be", on_demand.usd(), machine.count));
        }
        doubts
    }
}
