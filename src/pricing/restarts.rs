//! The expected restarts of a job on spot.

use super::HOURS_PER_MONTH;

/// How often a run is expected to start again because a machine of it was taken away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Restarts {
    /// It is never interrupted.
    NotSpot,
    /// The interruption rate is unknown.
    Unknown,
    Between {
        least: f64,
        /// None where the provider says only that it is more.
        most: Option<f64>,
    },
}

impl Restarts {
    /// A band is a share of all machines that is taken away in a month: `<5%`, `5-10%`, `>20%`. One machine after the other
    /// may be taken, and each of them ends a run of machines that work as one.
    pub(super) fn expected(band: &str, machines: f64, hours: f64) -> Restarts {
        let times = |share: f64| share / 100.0 * machines * hours / HOURS_PER_MONTH;
        match shares(band) {
            Some((least, most)) => Restarts::Between { least: times(least), most: most.map(times) },
            None => Restarts::Unknown,
        }
    }
}

/// The ends of a band, in percent.
fn shares(band: &str) -> Option<(f64, Option<f64>)> {
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
        // 5 % of two machines in a tenth of a month.
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
