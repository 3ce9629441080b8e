//! HCL as Terraform accepts it: text → trees with places, and the values that expressions may have.

pub(crate) mod convert;
pub(crate) mod number;
pub(crate) mod syntax;
pub(crate) mod types;
pub(crate) mod value;
