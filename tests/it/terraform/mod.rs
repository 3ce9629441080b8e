//! Terraform text → evaluated blocks.

mod corpus;
mod evaluation;
mod expressions;
mod oracle;
mod plan;
mod random;
