//! CloudFormation: a template and parameters → the resources that CloudFormation would make, each value with its place.
//!
//! Follows AWS CloudFormation with the transforms `AWS::LanguageExtensions` (`Fn::ForEach`, `Fn::Length`, `Fn::ToJsonString`,
//! defaults of `Fn::FindInMap`) and SAM, as the user guide has them, 2026-11. What only an account or a region knows is not
//! known here and says so: exports of other stacks, parameters in the parameter store, zones, what a macro makes of the text.
//! A parameter without a value is what its default says, as for whoever creates the stack and says nothing else.
//!
//! Refused: nothing; a function that CloudFormation would refuse is a value that is not known. Evaluation has a budget, and
//! nested stacks have a depth.
//!
//! Judged by cfn-lint, which evaluates templates too: `tests/corpus/templates_of_aws.py`. No crate evaluates a template with
//! places and values that are not known.

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

pub(crate) use stack::{AccountAndRegion, Library, StackInstance};
pub(crate) use template::CloudTemplate;
