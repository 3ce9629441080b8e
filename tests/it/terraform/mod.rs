//! Terraform text → evaluated blocks.

mod corpus;
mod evaluation;
mod expressions;
mod hostile;
mod oracle;
mod random;
