//! Work on several threads that have room for deep evaluation.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, available_parallelism, scope};

/// Evaluation follows references and modules on the stack; this is what its limits need, with a margin for builds without
/// optimization. Memory is only taken as it is used.
const STACK_BYTES: usize = 256 << 20;
const MOST_THREADS: usize = 8;

/// The results of `work` for 0, 1, … in this order.
pub(in crate::terraform) fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    // Asking reads files of the system.
    let threads =
        if count > 1 { available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(count) } else { 1 };
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return done;
            }
            done.push((index, work(index)));
        }
    };
    let mut results = scope(|scope| {
        let start = |_| Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run).ok();
        let started: Vec<_> = (0..threads).filter_map(start).collect();
        // Where no thread can be started, this one does what is left.
        let mut results = if started.is_empty() { run() } else { Vec::new() };
        for thread in started {
            results.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
