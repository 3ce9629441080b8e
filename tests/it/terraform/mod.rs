//! Tests the evaluation of Terraform code to blocks.

mod corpus;
mod disk;
mod evaluation;
mod expressions;
mod hostile;
mod oracle;
mod plan;
mod random;
