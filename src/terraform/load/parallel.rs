//! Work on several threads that have room for deep evaluation.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, available_parallelism, scope};

/// Evaluation follows references and modules on the stack; this is what its limits need, with a margin for builds without
/// optimization. Memory is only taken as it is used.
const STACK_BYTES: usize = 256 << 20;
pub(in crate::terraform) const MOST_THREADS: usize = 8;

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

/// The same for work of which each piece costs something, and is told what those before it cost: all but the last few,
/// which may still be at work. That depends on the order alone, and on no clock.
pub(in crate::terraform) fn map_sharing<T: Send>(
    count: usize,
    spent: &mut u64,
    work: impl Fn(usize, u64) -> (T, u64) + Sync,
) -> Vec<T> {
    let costs = Costs { sums: Mutex::new((vec![*spent], vec![None; count])), told: Condvar::new() };
    let results = map(count, |index| {
        let mut entry = Entry { costs: &costs, index, cost: 0 };
        let (result, cost) = work(index, costs.before(index.saturating_sub(MOST_THREADS)));
        entry.cost = cost;
        result
    });
    *spent = costs.before(count);
    results
}

/// What pieces of work cost.
struct Costs {
    /// Of all up to one, for each of which all before are done; and of each.
    sums: Mutex<(Vec<u64>, Vec<Option<u64>>)>,
    told: Condvar,
}

impl Costs {
    /// What the first ones cost. They are done soon: threads take work in its order.
    fn before(&self, index: usize) -> u64 {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(sum) = sums.0.get(index) {
                return *sum;
            }
            sums = self.told.wait(sums).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn tell(&self, index: usize, cost: u64) {
        let mut guard = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let (sums, each) = &mut *guard;
        if let Some(place) = each.get_mut(index) {
            *place = Some(cost);
        }
        while let (Some(sum), Some(Some(cost))) = (sums.last().copied(), each.get(sums.len() - 1).copied()) {
            sums.push(sum + cost);
        }
        drop(guard);
        self.told.notify_all();
    }
}

/// Told even where the work panics: nobody waits for it in vain.
struct Entry<'c> {
    costs: &'c Costs,
    index: usize,
    cost: u64,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.costs.tell(self.index, self.cost);
    }
}
