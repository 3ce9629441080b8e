//! Google's automatic sustained use discount for N1 machines and their accelerators.

use crate::catalog::CatalogMachine;
use crate::inventory::Range;

use super::HOURS_PER_MONTH;

/// The share of the list price that each quarter of a month costs.
const QUARTERS: [f64; 4] = [1.0, 0.8, 0.6, 0.4];

/// Whether the price of a machine falls while it runs. This applies to N1, to which Google attaches accelerators.
pub(super) fn sustains(machine: &CatalogMachine<'_>) -> bool {
    machine.has_guests()
}

/// Returns the share of the list price that is billed for this number of hours in a month.
fn share(hours: f64) -> f64 {
    let quarter = HOURS_PER_MONTH / 4.0;
    let paid = QUARTERS
        .iter()
        .zip(0u8..)
        .map(|(price, place)| price * (hours - quarter * f64::from(place)).clamp(0.0, quarter));
    if hours > 0.0 { paid.sum::<f64>() / hours } else { 1.0 }
}

/// Returns the share of the list price for each end of the range of hours.
pub(super) fn shares(hours: Range) -> Range {
    hours.map(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_month_is_thirty_percent_off_and_a_quarter_nothing() {
        for (hours, expected) in [(730.0, 0.7), (365.0, 0.9), (182.5, 1.0), (100.0, 1.0), (0.0, 1.0), (547.5, 0.8)] {
            assert!((share(hours) - expected).abs() < 1e-9, "{hours}: {}", share(hours));
        }
    }
}
