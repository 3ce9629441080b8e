//! For how long a price may be relied on, by how fast those who sell move it.

use crate::source::Date;

use super::Catalog;
use super::table::Block;

/// How fast a provider's prices move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Hyperscaler,
    GpuCloud,
    Marketplace,
    /// Spot prices of anybody.
    Spot,
}

impl Class {
    pub const ALL: [Class; 4] = [Class::Hyperscaler, Class::GpuCloud, Class::Marketplace, Class::Spot];

    pub fn name(self) -> &'static str {
        match self {
            Class::Hyperscaler => "hyperscaler",
            Class::GpuCloud => "gpu-cloud",
            Class::Marketplace => "marketplace",
            Class::Spot => "spot",
        }
    }

    /// For how many days a price may be relied on. Lists of the large clouds stood still from 2025-11 to 2026-07, those of
    /// GPU clouds moved several times in 2026.
    pub fn days(self) -> i64 {
        match self {
            Class::Hyperscaler => 180,
            Class::GpuCloud => 60,
            Class::Marketplace => 7,
            Class::Spot => 14,
        }
    }
}

/// The age of all prices of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ages {
    pub class: Class,
    pub prices: usize,
    /// Older than the class allows.
    pub stale: usize,
    pub oldest: String,
    pub newest: String,
}

impl Catalog {
    /// The clouds among which something lies whose text names no provider.
    pub fn assumed_clouds(&self) -> Vec<&str> {
        let rows = self.block.table("providers").rows().filter_map(|mut row| {
            let (provider, _class) = (row.text(), row.text());
            Some((row.number()?, provider))
        });
        let mut clouds: Vec<(f64, &str)> = rows.collect();
        clouds.sort_by(|one, two| one.0.total_cmp(&two.0));
        clouds.into_iter().map(|(_, provider)| provider).collect()
    }

    pub fn class(&self, provider: &str) -> Class {
        let class = self.block.table("providers").find(&[provider]).map(|mut row| {
            row.text();
            row.text()
        });
        // Nothing is known of how fast an unlisted provider moves: it is judged as the many small ones are.
        Class::ALL.into_iter().find(|known| Some(known.name()) == class).unwrap_or(Class::GpuCloud)
    }

    /// Date of the newest price.
    pub fn as_of(&self) -> &str {
        let blocks = [self.refreshed.as_ref(), Some(&self.block)].into_iter().flatten();
        blocks.map(Block::newest).max().unwrap_or_default()
    }

    /// For each provider how many prices on demand it has, and how many of them are too old.
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

    /// The ages of what lookups find, by class.
    pub fn ages(&self, today: Date) -> Vec<Ages> {
        let mut all: Vec<Ages> = Vec::new();
        let mut count = |class: Class, date: &str| {
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
                count(Class::Spot, offer.quote.spot_as_of);
            }
        }
        all.sort_by_key(|ages| ages.class);
        all
    }
}

/// Whether a price of that date is too old to be relied on.
pub fn is_stale(as_of: &str, class: Class, today: Date) -> bool {
    first_day(as_of).is_some_and(|day| today.since(day) > class.days())
}

/// For how many days a spot price is still a price of today, and not only one of the past.
pub const SPOT_IS_GOOD_FOR: i64 = 30;

/// Whether a spot price of that date says only what it was.
pub fn is_past_spot(as_of: &str, today: Date) -> bool {
    first_day(as_of).is_some_and(|day| today.since(day) > SPOT_IS_GOOD_FOR)
}

/// `2026` and `2026-07` are dated as if they were of the first day: the rest is not known.
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
        assert!(!is_stale("2026-05-25", Class::Hyperscaler, date("2026-11-21")));
        assert!(is_stale("2026-05-24", Class::Hyperscaler, date("2026-11-21")));
        assert!(is_stale("2026-09", Class::GpuCloud, date("2026-11-21")));
        assert!(!is_stale("", Class::Spot, date("2026-11-21")));
    }

    #[test]
    fn every_provider_has_a_class() {
        let catalog = Catalog::embedded();
        assert_eq!(catalog.class("aws"), Class::Hyperscaler);
        assert_eq!(catalog.class("vast"), Class::Marketplace);
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
