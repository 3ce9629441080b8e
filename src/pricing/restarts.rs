//! The expected restarts of a job on spot.

use super::HOURS_PER_MONTH;

/// How often a run is expected to start again because the provider took back one of its machines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Restarts {
    /// The run does not use spot, so it is never interrupted.
    NotSpot,
    /// The interruption rate of the machine is unknown.
    Unknown,
    Between {
        least: f64,
        /// The upper bound. `None` if the provider publishes only a lower bound.
        most: Option<f64>,
    },
}

impl Restarts {
    /// Calculates restarts from a band: the share of machines that the provider takes back in a month, such as `5-10%`.
    /// Losing any machine ends a run of machines that work together.
    pub(super) fn expected(band: &str, machines: f64, hours: f64) -> Restarts {
        let times = |share: f64| share / 100.0 * machines * hours / HOURS_PER_MONTH;
        match interruption_shares(band) {
            Some((least, most)) => Restarts::Between { least: times(least), most: most.map(times) },
            None => Restarts::Unknown,
        }
    }
}

/// Returns the lower and the upper end of a band, in percent. A band such as `>20%` has no upper end.
pub fn interruption_shares(band: &str) -> Option<(f64, Option<f64>)> {
    let band = band.trim().strip_suffix('%')?;
    let number =
        |text: &str| text.trim().trim_end_matches('%').parse::<f64>().ok().filter(|n| (0.0..=100.0).contains(n));
    if let Some(most) = band.strip_prefix('<') {
        return Some((0.0, Some(number(most)?)));
    }
    if let Some(least) = band.strip_prefix('>') {
        return Some((number(least)?, None));
    }
    let (least, most) = band.split_once('-')?;
    let (least, most) = (number(least)?, number(most)?);
    (least <= most).then_some((least, Some(most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_a_share_of_machines_a_month() {
        // The band takes 5% of two machines in a tenth of a month.
        assert_eq!(Restarts::expected("<5%", 2.0, 73.0), Restarts::Between { least: 0.0, most: Some(0.01) });
        assert_eq!(Restarts::expected("10-15%", 1.0, 730.0), Restarts::Between { least: 0.1, most: Some(0.15) });
        assert_eq!(Restarts::expected(">20%", 4.0, 1460.0), Restarts::Between { least: 1.6, most: None });
    }

    #[test]
    fn what_is_no_band_says_nothing() {
        for band in ["", "often", "20", "15-10%", "<x%", "-5%"] {
            assert_eq!(Restarts::expected(band, 1.0, 48.0), Restarts::Unknown, "{band}");
        }
    }

    #[test]
    fn every_band_of_the_catalog_is_read() {
        let catalog = crate::catalog::Catalog::embedded();
        let mut bands = std::collections::BTreeSet::new();
        for offer in catalog.offers().filter(|offer| !offer.quote.interruption.is_empty()) {
            bands.insert(offer.quote.interruption);
            assert_ne!(Restarts::expected(offer.quote.interruption, 1.0, 1.0), Restarts::Unknown, "{:?}", offer.quote);
        }
        assert!(bands.len() > 3, "{bands:?}");
    }
}
