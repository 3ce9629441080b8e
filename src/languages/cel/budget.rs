//! What evaluating an expression may cost.

/// Bounds what an expression may cost, whatever it says and whatever it is given.
#[derive(Debug, Clone)]
pub(crate) struct CelBudget {
    steps: u64,
    bytes: u64,
}

/// The budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// Nodes visited, elements and bytes compared: a few milliseconds.
const STEPS: u64 = 1_000_000;

/// What the values that an evaluation makes may take together.
const BYTES: u64 = 8 << 20;

impl CelBudget {
    /// For a condition about one resource.
    pub(crate) fn standard() -> Self {
        CelBudget { steps: STEPS, bytes: BYTES }
    }

    /// For a condition about everything, which may look at each resource for each of a thousand budgets or limits.
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
