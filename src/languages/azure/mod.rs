//! Azure Resource Manager and Bicep: a template and its parameters → the resources that Azure would make, each value with its
//! place.
//!
//! Follows Azure Resource Manager (template functions, 2026-11) and Bicep, whose files declare the same in other words: both
//! become one kind of declaration and are worked out by one evaluator. What only a subscription knows is not known here and
//! says so: what resources are called by Azure, secrets, the place of a resource group. A parameter without a value is what
//! its default says, as for whoever deploys it and says nothing else.
//!
//! Refused: nothing; what Azure would refuse is a value that is not known. Evaluation has a budget, and deployments inside
//! each other have a depth. Types of one's own are read over.
//!
//! Bicep is judged by the templates that its own compiler made of the same files, which are worked out by the same evaluator:
//! `tests/corpus/templates_of_azure.py`. The functions themselves have no outside judge yet. No crate evaluates a template
//! with places and values that are not known.

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

pub(crate) use deployment::{AzureDeployment, AzureLibrary, AzurePlace};
pub(crate) use json::without_comments;
pub(crate) use model::AzureTemplate;
pub(crate) use parameters::{GivenByFile, given_by_bicep, given_by_json};
