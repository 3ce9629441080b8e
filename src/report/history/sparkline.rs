//! Writes a line of characters that shows an amount over time.

use crate::catalog::Money;
use crate::report::CostHistory;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The character for unknown cost.
const GAP: char = '·';

/// Returns one character for each period from the first point to the last, as high as the cost at the end of the
/// period. Unknown points are gaps.
pub(super) fn sparkline(
    history: &CostHistory,
    width: usize,
    unknown: &[bool],
    amount: impl Fn(&crate::report::Snapshot) -> Money,
) -> String {
    let (Some(first), Some(last)) = (history.points.first(), history.points.last()) else { return String::new() };
    let (begin, end) = (first.commit.time, last.commit.time);
    if end <= begin {
        return String::new();
    }
    let at = |column: usize| {
        let part = (column + 1) as f64 / width as f64;
        let time = begin + ((end - begin) as f64 * part).round() as i64;
        let place = history.points.partition_point(|point| point.commit.time <= time).saturating_sub(1);
        let is_known = unknown.get(place) == Some(&false);
        history.points.get(place).filter(|_| is_known)?.snapshot().map(|it| amount(it).usd())
    };
    let values: Vec<Option<f64>> = (0..width).map(at).collect();
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let level = |value: f64| {
        let steps = (LEVELS.len() - 1) as f64;
        let place = if most > 0.0 { (value / most * steps).round() as usize } else { 0 };
        LEVELS.get(place).copied().unwrap_or('█')
    };
    values.into_iter().map(|value| value.map_or(GAP, level)).collect()
}
