//! The shelf life of prices, from the typical price changes of each class of provider.

use crate::source::Date;

use super::Catalog;
use super::table::CatalogBlock;

/// The class of a provider, by how often it changes prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PriceClass {
    Hyperscaler,
    GpuCloud,
    Marketplace,
    /// Spot prices of all providers.
    Spot,
}

impl PriceClass {
    pub const ALL: [PriceClass; 4] =
        [PriceClass::Hyperscaler, PriceClass::GpuCloud, PriceClass::Marketplace, PriceClass::Spot];

    pub fn name(self) -> &'static str {
        match self {
            PriceClass::Hyperscaler => "hyperscaler",
            PriceClass::GpuCloud => "gpu-cloud",
            PriceClass::Marketplace => "marketplace",
            PriceClass::Spot => "spot",
        }
    }

    /// Returns the days for which a price is valid. Large clouds did not change their lists from 2025-11 to 2026-07;
    /// GPU clouds changed theirs several times in 2026.
    pub fn days(self) -> i64 {
        match self {
            PriceClass::Hyperscaler => 180,
            PriceClass::GpuCloud => 60,
            PriceClass::Marketplace => 7,
            PriceClass::Spot => 14,
        }
    }
}

/// The range of shares of itself that a price has after this many days, in nine of ten cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceMove {
    pub low: f64,
    pub high: f64,
    /// The age of the price in days.
    pub age_days: i64,
    /// The number of days over which such prices were observed. An older price may have moved further.
    pub watched_days: i64,
}

/// The age of all prices of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ages {
    pub class: PriceClass,
    pub prices: usize,
    /// The number of prices that are older than the class allows.
    pub stale: usize,
    pub oldest: String,
    pub newest: String,
}

impl Catalog {
    /// Returns the clouds that a resource without a provider is assumed to use.
    pub fn assumed_clouds(&self) -> Vec<&str> {
        let rows = self.block.table("providers").rows().filter_map(|mut row| {
            let (provider, _class) = (row.text(), row.text());
            Some((row.number()?, provider))
        });
        let mut clouds: Vec<(f64, &str)> = rows.collect();
        clouds.sort_by(|one, two| one.0.total_cmp(&two.0));
        clouds.into_iter().map(|(_, provider)| provider).collect()
    }

    pub fn class(&self, provider: &str) -> PriceClass {
        let class = self.block.table("providers").find(&[provider]).map(|mut row| {
            row.text();
            row.text()
        });
        // Unlisted providers count as GPU clouds, because nothing is known about how often they change prices.
        PriceClass::ALL.into_iter().find(|known| Some(known.name()) == class).unwrap_or(PriceClass::GpuCloud)
    }

    /// Returns how far an outdated price may have moved by today, from the price changes of the same seller or of
    /// similar sellers.
    pub fn price_move(&self, provider: &str, is_spot: bool, as_of: &str, today: Date) -> Option<PriceMove> {
        let class = if is_spot { PriceClass::Spot } else { self.class(provider) };
        if !is_stale(as_of, class, today) {
            return None;
        }
        let age_days = today.since(first_day(as_of)?);
        let market = if is_spot { "spot" } else { "on-demand" };
        let of_seller = self.price_moves(provider, market, age_days);
        let of_class = self.price_moves(class.name(), market, age_days);
        let reaches = |known: &PriceMove| known.watched_days >= age_days;
        [of_seller, of_class].into_iter().flatten().find(reaches).or(of_class).or(of_seller)
    }

    /// Returns the entry with the shortest time that is at least the price's age, or else the longest time.
    fn price_moves(&self, seller: &str, market: &str, age_days: i64) -> Option<PriceMove> {
        let table = self.block.table("price_moves");
        let moves = table.range(&[seller, market]).filter_map(|index| {
            let mut row = table.row(index);
            let (_seller, _market, days) = (row.text(), row.text(), row.text());
            let watched_days = days.parse().ok()?;
            Some(PriceMove { low: row.number()?, high: row.number()?, age_days, watched_days })
        });
        let mut moves: Vec<PriceMove> = moves.collect();
        let longest = moves.pop()?;
        Some(moves.into_iter().find(|it| it.watched_days >= age_days).unwrap_or(longest))
    }

    /// Returns the date of the newest price.
    pub fn as_of(&self) -> &str {
        let blocks = [self.refreshed.as_ref(), Some(&self.block)].into_iter().flatten();
        blocks.map(CatalogBlock::newest).max().unwrap_or_default()
    }

    /// Returns the number of on-demand prices of each provider, and how many of them are outdated.
    pub fn stale_of_providers(&self, today: Date) -> Vec<(&str, usize, usize)> {
        let mut all: Vec<(&str, usize, usize)> =
            self.providers().into_iter().map(|provider| (provider, 0, 0)).collect();
        for offer in self.offers().filter(|offer| offer.quote.on_demand.is_some() && !offer.quote.as_of.is_empty()) {
            let provider = &*offer.machine.provider;
            if let Some((name, prices, stale)) = all.iter_mut().find(|(name, ..)| *name == provider) {
                *prices += 1;
                *stale += usize::from(is_stale(offer.quote.as_of, self.class(name), today));
            }
        }
        all
    }

    /// Returns the ages of the prices that lookups can return, by class.
    pub fn ages(&self, today: Date) -> Vec<Ages> {
        let mut all: Vec<Ages> = Vec::new();
        let mut count = |class: PriceClass, date: &str| {
            if date.is_empty() {
                return;
            }
            let at = all.iter().position(|ages| ages.class == class).unwrap_or_else(|| {
                all.push(Ages { class, prices: 0, stale: 0, oldest: date.into(), newest: date.into() });
                all.len() - 1
            });
            let Some(ages) = all.get_mut(at) else { return };
            ages.prices += 1;
            ages.stale += usize::from(is_stale(date, class, today));
            if date < ages.oldest.as_str() {
                ages.oldest = date.to_owned();
            }
            if date > ages.newest.as_str() {
                ages.newest = date.to_owned();
            }
        };
        for offer in self.offers() {
            if offer.quote.on_demand.is_some() {
                count(self.class(&offer.machine.provider), offer.quote.as_of);
            }
            if offer.quote.spot.is_some() {
                count(PriceClass::Spot, offer.quote.spot_as_of);
            }
        }
        all.sort_by_key(|ages| ages.class);
        all
    }
}

/// Whether a price with this date is outdated.
pub fn is_stale(as_of: &str, class: PriceClass, today: Date) -> bool {
    first_day(as_of).is_some_and(|day| today.since(day) > class.days())
}

/// The number of days for which a spot price is valid.
pub const SPOT_IS_GOOD_FOR: i64 = 30;

/// Whether a spot price with this date is too old to be valid today.
pub fn is_past_spot(as_of: &str, today: Date) -> bool {
    first_day(as_of).is_some_and(|day| today.since(day) > SPOT_IS_GOOD_FOR)
}

/// Returns the first day of a date such as `2026` or `2026-07`, because the rest is unknown.
fn first_day(date: &str) -> Option<Date> {
    let mut parts = date.split('-');
    let year = parts.next()?.parse().ok()?;
    let month = parts.next().map_or(Some(1), |month| month.parse().ok())?;
    let day = parts.next().map_or(Some(1), |day| day.parse().ok())?;
    Date::new(year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn a_price_is_stale_after_the_days_of_its_class() {
        assert!(!is_stale("2026-05-25", PriceClass::Hyperscaler, date("2026-11-21")));
        assert!(is_stale("2026-05-24", PriceClass::Hyperscaler, date("2026-11-21")));
        assert!(is_stale("2026-09", PriceClass::GpuCloud, date("2026-11-21")));
        assert!(!is_stale("", PriceClass::Spot, date("2026-11-21")));
    }

    #[test]
    fn an_old_price_may_be_what_such_prices_became() {
        let catalog = Catalog::embedded();
        let moved = |provider, is_spot, as_of| catalog.price_move(provider, is_spot, as_of, date("2026-11-26"));
        assert_eq!(moved("aws", false, "2026-07-20"), None, "it is not old");
        let aws = moved("aws", false, "2025-11-03").unwrap();
        assert_eq!((aws.age_days, aws.watched_days), (388, 730));
        // Nine of ten prices of AWS stay for two years.
        assert!(aws.low == 1.0 && aws.high == 1.0, "{aws:?}");
        // Azure spot prices were observed for weeks. After a year, the changes of all spot prices apply.
        let (weeks, year) = (moved("azure", true, "2026-11-01"), moved("azure", true, "2025-11-26"));
        assert_eq!((weeks.unwrap().watched_days, year.unwrap().watched_days), (30, 365));
        assert!(weeks.unwrap().low > year.unwrap().low, "{weeks:?} {year:?}");
        // The price is older than the time over which prices were observed.
        assert_eq!(moved("nebius", false, "2024").unwrap().watched_days, 126);
        for provider in catalog.providers() {
            assert!(moved(provider, false, "2025-01-01").is_some(), "{provider}");
            assert!(moved(provider, true, "2025-01-01").is_some(), "{provider}");
        }
    }

    #[test]
    fn every_provider_has_a_class() {
        let catalog = Catalog::embedded();
        assert_eq!(catalog.class("aws"), PriceClass::Hyperscaler);
        assert_eq!(catalog.class("vast"), PriceClass::Marketplace);
        for provider in catalog.providers() {
            assert!(catalog.block.table("providers").find(&[provider]).is_some(), "{provider}");
        }
        assert!(catalog.as_of() > "2026-10", "{}", catalog.as_of());
        let ages = catalog.ages(date("2026-11-21"));
        assert_eq!(ages.len(), 4);
        assert!(ages.iter().any(|ages| ages.newest == catalog.as_of()));
        assert!(ages.iter().all(|ages| ages.oldest <= ages.newest && ages.stale <= ages.prices), "{ages:?}");
    }
}
