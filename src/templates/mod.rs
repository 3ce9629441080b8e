//! Documents that declare resources (templates of clouds) → inventory.
//!
//! A language is evaluated by its room in `languages`, which knows no accelerator; here its resources become the blocks that
//! Terraform's rows read. The interfaces of a cloud call the same thing by nearly the same name in every language:
//! `InstanceType` is `instance_type`. So one row serves all of them, and a table says where a language calls something
//! otherwise. A rule cannot tell where a resource came from. Knows no price, no rule, and no type outside the tables.

mod azure;
mod blocks;
mod cloudformation;
mod located;
mod names;
mod pulumi;
mod reading;
mod resources;
mod write;

pub use azure::read as read_azure;
pub use cloudformation::read;
pub use pulumi::read as read_pulumi;
pub use reading::{TemplateOptions, TemplateReading};
pub use write::write;
