//! Runs work in parallel and keeps its order.

use rayon::prelude::*;

/// The number of items that one thread processes before other threads would have started.
const FEW: usize = 16;

/// The number of files that take longer to free than threads take to start.
const MANY: usize = 100;

/// Applies a function to items in parallel, and returns the results in order.
pub fn each<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Send + Sync) -> Vec<T> {
    match items.len() {
        0..FEW => items.into_iter().map(work).collect(),
        _ => items.into_par_iter().map(work).collect(),
    }
}

/// Does the same for items that take longer than threads take to start.
pub fn each_large<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Send + Sync) -> Vec<T> {
    match items.len() {
        0..2 => items.into_iter().map(work).collect(),
        _ => items.into_par_iter().with_max_len(1).map(work).collect(),
    }
}

/// Returns the items for which a condition holds, checked in parallel.
pub fn those<I: Send + Sync>(items: Vec<I>, is_wanted: impl Fn(&I) -> bool + Send + Sync) -> Vec<I> {
    match items.len() {
        0..FEW => items.into_iter().filter(is_wanted).collect(),
        _ => items.into_par_iter().filter(is_wanted).collect(),
    }
}

/// Frees parts in another thread, because millions of nodes take long and no result depends on it. To start threads for
/// a few parts would take longer.
pub fn drop_large<T: Send + 'static>(value: T, parts: usize) {
    match parts {
        0..MANY => drop(value),
        _ => rayon::spawn(|| drop(value)),
    }
}
