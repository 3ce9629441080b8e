//! Terraform text → evaluated blocks.

mod corpus;
mod evaluation;
