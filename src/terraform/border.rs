//! The border between Terraform's evaluator and this project: the only types of the inventory that the evaluator knows.
//!
//! The evaluator (`address`, `block`, `code`, `evaluate`, `functions`, `plan`, `load`, `terragrunt`) knows nothing of
//! accelerators, definitions and prices. It counts instances with the types below, and hands each evaluated root to a
//! `RootReader`, which this project implements in `contents`.

pub(super) use crate::inventory::{CountedAs, Fact, GivenRun, Range, SkippedFile, UnknownFact};
