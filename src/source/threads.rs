//! Works on many things side by side, in their order.

use rayon::prelude::*;

/// So few are done before other threads have started.
const FEW: usize = 16;

/// Works on many things side by side, in their order.
pub fn each<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Send + Sync) -> Vec<T> {
    match items.len() {
        0..FEW => items.into_iter().map(work).collect(),
        _ => items.into_par_iter().map(work).collect(),
    }
}

/// Those for which this holds, asked side by side.
pub fn those<I: Send + Sync>(items: Vec<I>, is_wanted: impl Fn(&I) -> bool + Send + Sync) -> Vec<I> {
    match items.len() {
        0..FEW => items.into_iter().filter(is_wanted).collect(),
        _ => items.into_par_iter().filter(is_wanted).collect(),
    }
}
