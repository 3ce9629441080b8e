//! Defines the budget for evaluating an expression.

/// Limits the cost of an expression, for any expression and input.
#[derive(Debug, Clone)]
pub(crate) struct CelBudget {
    steps: u64,
    bytes: u64,
}

/// The error for an exhausted budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// The limit on visited nodes and on compared elements and bytes: a few milliseconds.
const STEPS: u64 = 1_000_000;

/// The limit on the size of all values of an evaluation.
const BYTES: u64 = 8 << 20;

impl CelBudget {
    /// Returns the budget for a condition about one resource.
    pub(crate) fn standard() -> Self {
        CelBudget { steps: STEPS, bytes: BYTES }
    }

    /// Returns the budget for a condition about everything, which may read each resource for each of a thousand budgets
    /// or limits.
    pub(crate) fn for_many(resources: usize) -> Self {
        let resources = resources as u64;
        CelBudget { steps: STEPS + 10_000 * resources, bytes: BYTES + 1024 * resources }
    }

    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.steps = self.steps.checked_sub(steps as u64).ok_or(Exhausted)?;
        Ok(())
    }

    pub(crate) fn build(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.bytes = self.bytes.checked_sub(bytes as u64).ok_or(Exhausted)?;
        self.spend(bytes / 32)
    }
}
