//! Runs work on several threads whose stacks are large enough for deep evaluation.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, available_parallelism, scope};

/// Evaluation follows references and modules on the stack. The stack is large enough for all limits, with a margin for
/// unoptimized builds. The system assigns memory only when it is used.
const STACK_BYTES: usize = 256 << 20;
pub(in crate::terraform) const MOST_THREADS: usize = 8;

thread_local! {
    /// Whether the stack of this thread is large enough for evaluation.
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Does work on a thread with a large stack, so that single pieces in it need no further threads.
pub(in crate::terraform) fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let waiting = Mutex::new(Some(work));
    let take = || waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    let run = || {
        IS_DEEP.set(true);
        take().map(|work| work())
    };
    let done = scope(|scope| {
        let thread = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, run).ok()?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    // If no thread can be started, this thread does the work.
    done.or_else(|| take().map(|work| work())).unwrap_or_else(|| unreachable!("the work is done once"))
}

/// Returns the results of `work` for 0, 1, … in this order.
pub(in crate::terraform) fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if count == 0 || count == 1 && IS_DEEP.get() {
        return (0..count).map(work).collect();
    }
    // The number of CPUs comes from system files, so it is read once.
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
        // If no thread can be started, this thread does the remaining work.
        let mut results = if started.is_empty() { run() } else { Vec::new() };
        for thread in started {
            results.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Returns the results of work that has a cost. Each piece gets the cost of the pieces before it, except for the last
/// few, which may still be running. The result depends only on the order, not on timing.
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

/// The costs of the pieces of work.
struct Costs {
    /// The cost of the pieces up to the first unfinished one, and the cost of each piece.
    sums: Mutex<(Vec<u64>, Vec<Option<u64>>)>,
    told: Condvar,
}

impl Costs {
    /// Returns the cost of the first pieces. They finish soon, because threads take work in order.
    fn before(&self, index: usize) -> u64 {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(sum) = sums.0.get(index) {
                return *sum;
            }
            sums = self.told.wait(sums).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn record_cost(&self, index: usize, cost: u64) {
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

/// Records a result even if the work panics, so that no thread waits forever.
struct Entry<'c> {
    costs: &'c Costs,
    index: usize,
    cost: u64,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.costs.record_cost(self.index, self.cost);
    }
}
