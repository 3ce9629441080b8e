//! What-if scenarios: results with changed facts.
//!
//! A scenario changes facts directly after their resource is read, before anything is derived from them. The
//! pod-to-pool matches, prices, model fit and findings are therefore those of files with these values. It changes facts
//! and not files, because a count in a variable, a machine that three modules share, or the nodes of a chart have
//! no position that could be edited. If there is one, editing it has the same result, which a
//! test verifies.
//!
//! This module writes no files and uses no prices.

mod apply;
mod changes;
mod instances;
mod scenario;

pub use changes::{WhatIfChanges, Wrong, together};
pub use scenario::WhatIfScenario;
