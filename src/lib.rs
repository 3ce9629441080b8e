//! Finds accelerators in Terraform and Kubernetes text, prices them and says what is wasteful.
//!
//! `ARCHITECTURE.md` draws the rooms and the arrows between them. This file is the spine that calls them in order.

pub mod catalog;
pub mod cli;
pub mod config;
pub mod decide;
pub mod diagnostic;
pub mod fit;
pub mod inventory;
pub mod kubernetes;
pub mod pricing;
pub mod report;
pub mod rules;
pub mod source;
pub mod terraform;

use inventory::Inventory;
use pricing::Bill;
use rules::{Finding, Undetermined};
use source::{FileId, Sources};

/// What the rooms are told beside the text.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub terraform: terraform::Options,
    pub kubernetes: kubernetes::Options,
    pub pricing: pricing::Settings,
}

/// What a tree of text says: its resources, their price, and what is wasteful about them.
#[derive(Debug, Default)]
pub struct Analysis {
    pub inventory: Inventory,
    /// Every evaluated Terraform block, whether or not it has to do with accelerators.
    pub blocks: Vec<terraform::Block>,
    pub bill: Bill,
    pub findings: Vec<Finding>,
    pub undetermined: Vec<Undetermined>,
}

/// Reads the files at `paths` and concludes everything that follows from them. A pure function of text and settings.
pub fn analyze(sources: &Sources, paths: &[String], settings: &Settings) -> Analysis {
    let (inventory, blocks) = read(sources, paths, settings);
    Analysis { inventory, blocks, ..Analysis::default() }
}

/// Both front ends, as one inventory.
fn read(sources: &Sources, paths: &[String], settings: &Settings) -> (Inventory, Vec<terraform::Block>) {
    let terraform::Reading { mut inventory, embedded, blocks } = terraform::read(sources, paths, &settings.terraform);
    let embedded: Vec<(FileId, String)> = embedded.into_iter().map(|it| (it.file, it.address)).collect();
    let kubernetes = kubernetes::read(sources, paths, &embedded, &settings.kubernetes).inventory;
    inventory.resources.extend(kubernetes.resources);
    inventory.diagnostics.extend(kubernetes.diagnostics);
    inventory.skipped.extend(kubernetes.skipped);
    inventory.skipped.sort();
    inventory.skipped.dedup();
    (inventory, blocks)
}
