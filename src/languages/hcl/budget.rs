//! Counts the cost of evaluation in every language whose values are `HclValue`s, so that a malicious file ends in a
//! message. One budget covers one root: a Terraform root, a stack, a deployment or a program.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclData, HclValue};
use crate::source::Span;

const TEXT_BYTES: u64 = 64 << 20;
/// Visiting a value, to compare or convert it, costs less than creating it.
const VALUES_PER_STEP: u32 = 4;
const STEPS_PER_TYPE: u64 = 2;
/// A map reserves memory for some entries; measured with lists of a million small objects, 2026-11.
const MAP_BYTES: usize = 500;
const ENTRY_BYTES: usize = 130;
/// The cost of reading text, as in `jsondecode`.
const BYTES_PER_STEP: usize = 8;
/// The memory that all roots of a front end may use. Each root may use a share of what the previous roots left.
const MEMORY_BYTES: u64 = 1 << 30;
/// The cost of finding the code of a nested module or document, which may have to be read.
pub(crate) const MODULE_STEPS: u64 = 2_000;
/// The maximum depth of nested expressions, references included.
const DEPTH: u32 = 1_500;

/// Returns the memory that one more of `parts` roots may use.
pub(crate) fn allowed_memory(spent: u64, parts: u64) -> u64 {
    MEMORY_BYTES.saturating_sub(spent) / parts
}

/// Counts the cost of evaluation, so that a malicious file ends in a message and does not exhaust memory.
pub(crate) struct EvaluationBudget {
    /// The initial number of steps.
    most: u64,
    steps: Cell<u64>,
    bytes: Cell<u64>,
    /// The bytes of memory that values may still use.
    memory: Cell<u64>,
    most_memory: u64,
    depth: Cell<u32>,
    exhausted: OnceCell<Arc<Cause>>,
    /// The expression that is being evaluated.
    here: Cell<Span>,
}

impl EvaluationBudget {
    pub(crate) fn new(anywhere: Span, steps: u64, memory: u64) -> Self {
        EvaluationBudget {
            most: steps,
            steps: Cell::new(steps),
            bytes: Cell::new(TEXT_BYTES),
            memory: Cell::new(memory),
            most_memory: memory,
            depth: Cell::new(0),
            exhausted: OnceCell::new(),
            here: Cell::new(anywhere),
        }
    }

    /// Returns the default budget.
    #[cfg(test)]
    pub(crate) fn for_tests(anywhere: Span) -> Self {
        EvaluationBudget::new(anywhere, crate::source::Limits::DEFAULT.evaluation_steps, MEMORY_BYTES)
    }

    /// Notes the expression that spends from now on. The message about an exhausted budget names it.
    pub(crate) fn arrive(&self, at: Span) {
        self.here.set(at);
    }

    pub(crate) fn here(&self) -> Span {
        self.here.get()
    }

    pub(crate) fn spent(&self) -> u64 {
        self.most - self.steps.get()
    }

    /// Returns true if no step is left, so that evaluation ends.
    pub(crate) fn is_over(&self) -> bool {
        self.steps.get() == 0
    }

    /// Returns the approximate bytes of memory that were used.
    pub(crate) fn memory_spent(&self) -> u64 {
        self.most_memory - self.memory.get()
    }

    /// Returns why evaluation stopped early, if it did.
    pub(crate) fn exhausted(&self) -> Option<&Arc<Cause>> {
        self.exhausted.get()
    }

    pub(crate) fn spend(&self, steps: u64) -> Result<(), Arc<Cause>> {
        match self.steps.get().checked_sub(steps) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => Err(self.give_up(format!(
                "the evaluation needs more than {} steps, the limit in `bounds.evaluation-steps`",
                self.most
            ))),
        }
    }

    /// Returns the cost of visiting a value, to compare or to write it.
    pub(crate) fn walking(value: &HclValue) -> u64 {
        u64::from(value.weight() / VALUES_PER_STEP)
    }

    /// Returns the cost of finding the type of a value and converting it.
    pub(crate) fn typing(value: &HclValue) -> u64 {
        match value.members() {
            0 => 0,
            _ => u64::from(value.weight()) * STEPS_PER_TYPE,
        }
    }

    /// Counts the reading of this many bytes.
    pub(crate) fn spend_reading(&self, bytes: usize) -> Result<(), Arc<Cause>> {
        self.spend((bytes / BYTES_PER_STEP) as u64)
    }

    /// Counts the approximate use of this many bytes of memory. Freed memory counts too, because this is a budget and
    /// not a measurement.
    pub(crate) fn spend_memory(&self, bytes: usize) -> Result<(), Arc<Cause>> {
        match self.memory.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.memory.set(left);
                Ok(())
            }
            None => {
                let most = self.most_memory >> 20;
                Err(self
                    .give_up(format!("the evaluation needs more than {most} MiB, the memory that other roots left")))
            }
        }
    }

    /// Counts the creation of a collection.
    pub(crate) fn spend_members(&self, value: &HclValue) -> Result<(), Arc<Cause>> {
        match &value.data {
            HclData::Map(entries) | HclData::Object(entries) => {
                self.spend_memory(MAP_BYTES + entries.len() * ENTRY_BYTES)
            }
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
                self.spend_memory(size_of::<HclValue>() * items.len())
            }
            _ => Ok(()),
        }
    }

    /// Counts the creation of a string with this many bytes.
    pub(crate) fn spend_bytes(&self, bytes: usize) -> Result<(), Arc<Cause>> {
        match self.bytes.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.bytes.set(left);
                self.spend_memory(bytes)
            }
            // Only this string is too long. Other values may need little text.
            None => Err(self.refuse(format!("the evaluation creates more than {} MiB of text", TEXT_BYTES >> 20))),
        }
    }

    pub(crate) fn deeper<T>(&self, work: impl FnOnce() -> T) -> Result<T, Arc<Cause>> {
        if self.depth.get() >= DEPTH {
            return Err(self.give_up(format!("references and expressions nest more than {DEPTH} levels deep")));
        }
        self.depth.set(self.depth.get() + 1);
        let result = work();
        self.depth.set(self.depth.get() - 1);
        Ok(result)
    }

    fn give_up(&self, why: String) -> Arc<Cause> {
        self.steps.set(0);
        self.refuse(why)
    }

    fn refuse(&self, why: String) -> Arc<Cause> {
        self.exhausted.get_or_init(|| Arc::new(Cause::new(why, self.here.get()))).clone()
    }
}
