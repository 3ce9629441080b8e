//! Machines, accelerators, prices and models: tables that were built into the binary, and how to look things up.
//!
//! Knows nothing of resources. A lookup that finds nothing says so; nothing is ever guessed from a similar name.

mod money;

pub use money::{Money, MoneyRange};
