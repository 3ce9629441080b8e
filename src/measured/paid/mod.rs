//! What a bill said: rows of `gpulint-paid.csv`.

mod amount;
mod month;
pub mod row;

pub use amount::BilledAmount;
pub use month::BillMonth;
pub use row::{Charge, KeyKind, PaidRow, is_harmless};
