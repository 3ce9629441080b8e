//! Plausible values for the unset values of a workload, from the smallest memory
//! to the largest.
//!
//! There is a verdict only if it is the same for all these values. If some fit and others do not, the verdict is
//! unknown.

use super::workload::{Optimizer, Recompute, Sharding, Training, Workload, WorkloadDefaults};
use crate::catalog::Precision;
use crate::inventory::Task;

/// The default length of training sequences in trainers, in tokens.
const USUAL_SEQUENCE: f64 = 2048.0;
const SHORT_SEQUENCE: f64 = 512.0;
const LONG_SEQUENCE: f64 = 4096.0;
/// The maximum tokens that most trainings process at a time. A larger batch has shorter samples.
const MOST_TOKENS: f64 = 8192.0;
const LARGE_BATCH: f64 = 4.0;
/// The short context is enough for a question and its answer. The long one is the largest plausible if none is set.
const SHORT_CONTEXT: f64 = 2048.0;
const LONG_CONTEXT: f64 = 32_768.0;
/// A large cache per token, as a multiple of that of a usual model of the same size: every head has a cache of its own.
const LARGE_CACHE: f64 = 4.0;

/// Returns the assumed tokens of a training sequence for this batch size.
pub(super) fn usual_sequence(batch: f64) -> f64 {
    USUAL_SEQUENCE.min(MOST_TOKENS / batch).max(SHORT_SEQUENCE)
}

fn long_sequence(batch: f64) -> f64 {
    LONG_SEQUENCE.min(MOST_TOKENS / batch).max(SHORT_SEQUENCE)
}

impl<'m> Workload<'m> {
    /// Returns the workload with the smallest plausible value of each unset value.
    pub(super) fn lightest(&self) -> Workload<'m> {
        let unsaid = self.unsaid;
        match self.task {
            Task::Train => Workload {
                context: if unsaid.sequence { self.context.min(SHORT_SEQUENCE) } else { self.context },
                training: self.lightest_training(),
                ..*self
            },
            Task::Serve => Workload {
                context: if unsaid.context { self.context.min(SHORT_CONTEXT) } else { self.context },
                precision: if unsaid.precision { quantized(self.precision) } else { self.precision },
                ..*self
            },
            _ => *self,
        }
    }

    fn lightest_training(&self) -> Training {
        let (unsaid, said) = (self.unsaid, self.training);
        Training {
            recompute: if unsaid.recompute { Recompute::Full } else { said.recompute },
            optimizer: if unsaid.optimizer { Optimizer::Paged } else { said.optimizer },
            sharding: if unsaid.sharding { Sharding::Everything } else { said.sharding },
            pure_half: said.pure_half || unsaid.copy,
            chunked_loss: said.chunked_loss || unsaid.loss,
            ..said
        }
    }

    /// Returns workloads that need more memory than usual. In each, one unset value has its largest plausible value,
    /// because all of them are rarely large together.
    pub(super) fn heavier(&self) -> impl Iterator<Item = Workload<'m>> + use<'m> {
        let (unsaid, said) = (self.unsaid, self.training);
        let window = if self.model.max_context > 0.0 { self.model.max_context } else { LONG_CONTEXT };
        let context = self.context.max(window.min(LONG_CONTEXT));
        let known_cache = WorkloadDefaults { cache: false, ..unsaid };
        let readings = [
            (unsaid.sequence, Workload { context: self.context.max(long_sequence(self.batch)), ..*self }),
            (unsaid.batch, Workload { batch: self.batch.max(LARGE_BATCH), ..*self }),
            (unsaid.recompute, Workload { training: Training { recompute: Recompute::No, ..said }, ..*self }),
            (unsaid.sharding, Workload { training: Training { sharding: Sharding::None, ..said }, ..*self }),
            (unsaid.context, Workload { context, ..*self }),
            (unsaid.cache, Workload { cache_bytes: LARGE_CACHE * self.cache_bytes, unsaid: known_cache, ..*self }),
        ];
        readings.into_iter().filter_map(|(is_open, reading)| is_open.then_some(reading))
    }
}

/// Returns a precision of 4 bits, which most quantized weights have.
fn quantized(precision: Precision) -> Precision {
    if precision.is_full() { Precision::Int4 } else { precision }
}
