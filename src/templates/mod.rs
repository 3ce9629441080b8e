//! Adds the resources of cloud templates and similar documents to the inventory.
//!
//! The language modules evaluate a document and know no accelerator. This module converts the resources to the blocks
//! that Terraform's resource definitions read. A cloud's API has nearly the same names in every language:
//! `InstanceType` is `instance_type`. Therefore one definition covers all languages, and a table lists different
//! names. A rule cannot see where a resource came from. This module uses no price, no rule, and no type outside the
//! tables.

mod azure;
mod blocks;
mod cloudformation;
mod driver;
mod located;
mod names;
mod passed;
mod pulumi;
mod reading;
mod resources;
mod shares;
mod write;

pub use reading::{TemplateOptions, TemplateReading};
pub use write::{EditedTemplates, label, write};

use crate::source::SourceFiles;

/// Reads the templates of a language among the first list of paths. The second list contains all files.
pub type TemplateReader = fn(&SourceFiles, &[String], &[String], &TemplateOptions) -> TemplateReading;

pub const CLOUDFORMATION: TemplateReader = driver::read::<cloudformation::CloudFormationReader>;
pub const AZURE: TemplateReader = driver::read::<azure::AzureReader>;
pub const PULUMI: TemplateReader = driver::read::<pulumi::PulumiReader>;
