//! CloudFormation: evaluates a template with its parameters to the resources that CloudFormation would create, each
//! value with its place.
//!
//! Follows AWS CloudFormation with the transforms `AWS::LanguageExtensions` (`Fn::ForEach`, `Fn::Length`,
//! `Fn::ToJsonString`, defaults of `Fn::FindInMap`) and SAM, by the user guide of 2026-11. Values that only an account
//! or a region knows are unknown, with a cause: exports of other stacks, the parameter store, zones, the output of
//! macros. A parameter without a value has its default.
//!
//! Nothing is refused: an expression that CloudFormation would refuse is an unknown value. Evaluation has a budget, and
//! nested stacks have a depth limit.
//!
//! Tested against moto, which evaluates templates too: `tests/corpus/templates_of_aws.py`. No crate evaluates a
//! template with places and unknown values.

mod conditions;
mod evaluate;
mod functions;
mod loops;
mod parameters;
mod stack;
mod substitute;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use stack::{AccountAndRegion, StackInstance};
pub(crate) use template::CloudTemplate;
