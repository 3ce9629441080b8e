//! What holds at the boundaries of the program. Cases are data: Markdown files with inputs and what must come out.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its own files is a failed test")]

mod action;
mod arrows;
mod attacks;
mod bases;
mod broken_pages;
mod changes;
mod charts;
mod ci_docs;
mod cli;
mod disguise;
mod docs;
mod examples;
mod explain;
mod faults;
mod fences;
mod fit;
mod fit_cases;
mod fixes;
mod forge;
mod formats;
mod growth;
mod guide;
mod hidden;
mod holds;
mod kubernetes;
mod kustomize;
mod manifest_fixes;
mod pages;
mod policy;
mod precommit;
mod price_release;
mod pricing_data;
mod properties;
mod readme;
mod references;
mod refresh;
mod refresh_faults;
mod rendering;
mod savings;
mod schema;
mod terraform;
mod terraform_resources;
mod terragrunt;
mod vendor;
