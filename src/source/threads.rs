//! Runs work in parallel and keeps its order.

use rayon::prelude::*;

/// The number of items that one thread processes before other threads would have started.
const FEW: usize = 16;

/// Applies a function to items in parallel, and returns the results in order.
pub fn each<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Send + Sync) -> Vec<T> {
    match items.len() {
        0..FEW => items.into_iter().map(work).collect(),
        _ => items.into_par_iter().map(work).collect(),
    }
}

/// Returns the items for which a condition holds, checked in parallel.
pub fn those<I: Send + Sync>(items: Vec<I>, is_wanted: impl Fn(&I) -> bool + Send + Sync) -> Vec<I> {
    match items.len() {
        0..FEW => items.into_iter().filter(is_wanted).collect(),
        _ => items.into_par_iter().filter(is_wanted).collect(),
    }
}
