//! Finds accelerators in Terraform and Kubernetes text, prices them and says what is wasteful.
//!
//! `ARCHITECTURE.md` draws the rooms and the arrows between them.

pub mod catalog;
pub mod diagnostic;
pub mod fit;
pub mod inventory;
pub mod kubernetes;
pub mod pricing;
pub mod rules;
pub mod source;
pub mod terraform;
