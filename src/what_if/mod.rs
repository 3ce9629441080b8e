//! What would be, if the text said otherwise.
//!
//! A scenario changes facts as soon as the text of their resource is read, and before anything is concluded from them: what
//! follows from a machine, which pods find which pool, prices, fit and findings are then those of a text that says so. Facts
//! and not text, because a count behind a variable, a machine that three modules share, or the nodes that a chart makes have
//! no place of their own that could be written; where they have one, editing it and reading again comes to the same, and a
//! test holds that.
//!
//! Nothing is written anywhere, and it asks no price.

mod apply;
mod changes;
mod instances;
mod scenario;

pub use changes::{Changes, Wrong, together};
pub use scenario::Scenario;
