//! Azure Resource Manager and Bicep: evaluates a template with its parameters to the resources that Azure would create,
//! each value with its place.
//!
//! Follows Azure Resource Manager (template functions, 2026-11) and Bicep. Both are parsed to the same declarations and
//! use one evaluator. Values that only a subscription knows are unknown, with a cause: names that Azure generates,
//! secrets, the location of a resource group. A parameter without a value has its default.
//!
//! Nothing is refused: an expression that Azure would refuse is an unknown value. Evaluation has a budget, and nested
//! deployments have a depth limit. User-defined types are skipped.
//!
//! Bicep is tested against the templates that its own compiler generates from the same files, evaluated by the same
//! evaluator: `tests/corpus/templates_of_azure.py`. The functions themselves have no external test yet. No crate
//! evaluates a template with places and unknown values.

mod bicep;
mod chains;
mod deployment;
mod evaluate;
mod expression;
mod functions;
mod json;
mod model;
mod parameters;
mod placed;
mod syntax;
mod template;
#[cfg(test)]
mod tests;
mod written;

pub(crate) use deployment::AzureDeployment;
pub(crate) use json::without_comments;
pub(crate) use model::AzureTemplate;
pub(crate) use parameters::{GivenByFile, given_by_bicep, given_by_json};
pub(crate) use written::written_resources;
