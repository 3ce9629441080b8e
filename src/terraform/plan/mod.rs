//! Converts plans and states in JSON (`terraform show -json`) to evaluated blocks, for the same definitions as the
//! code.
//!
//! A plan has two sides of a change: `before` is the present state, `after` the future one. A value that only the
//! provider will know is unknown, with its cause. Sensitive values stay marked. Positions are byte ranges of the JSON.
//! This reader knows Terraform's published format from 0.12 on, and no resource type.

mod changes;
mod configuration;
mod merge;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::hcl::syntax::json::{Json, parse_json_within};
use crate::source::{FileId, SourceFiles, Span};

use super::block::EvaluatedBlock;

/// The state of a plan that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanSide {
    /// The state before the plan is applied.
    Before,
    #[default]
    After,
}

/// The content of a plan.
#[derive(Debug, Default)]
pub(super) struct TerraformPlan {
    pub(super) blocks: Vec<EvaluatedBlock>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Positions of secrets.
    pub(super) secrets: Vec<Span>,
}

/// Terraform guarantees that existing fields keep their place until the major version changes.
const NEWEST_MAJOR_VERSION: &str = "1";

/// The start of each JSON output of Terraform.
const START: &str = "{\"format_version\":";

/// Returns whether a text has the form of a plan or a state. A truncated output counts, because it can be a plan.
pub fn is_plan(text: &[u8]) -> bool {
    if text.starts_with(START.as_bytes()) && !text.trim_ascii_end().ends_with(b"}") {
        return true;
    }
    let holds = |key: &str| memchr::memmem::find(text, key.as_bytes()).is_some();
    let before = memchr::memchr(b'{', text).and_then(|at| std::str::from_utf8(text.get(..at)?).ok());
    before.is_some_and(|before| before.trim_start_matches('\u{feff}').trim_start().is_empty())
        && holds("\"format_version\"")
        && ["\"planned_values\"", "\"resource_changes\"", "\"root_module\""].into_iter().any(holds)
}

/// Reads one plan; `None` if the text is not a plan after all.
pub(super) fn read(sources: &SourceFiles, file: FileId, side: PlanSide) -> Option<TerraformPlan> {
    let text = sources.text(file);
    let mut plan = TerraformPlan::default();
    let json = match parse_json_within(file, &text, sources.limits().nesting) {
        Ok(json) => json,
        // A file that does not start like Terraform's output may be anything.
        Err(_) if !text.trim_start().starts_with(START) => return None,
        Err(error) => {
            let message = format!("this plan cannot be read: {}", error.message);
            plan.diagnostics.push(Diagnostic::unreadable(message, error.span));
            return Some(plan);
        }
    };
    let has = |key: &str| json.get(key).is_some_and(|it| !it.entries().is_empty() || !it.items().is_empty());
    let version = json.get("format_version")?.text()?;
    if !["planned_values", "resource_changes", "values", "prior_state"].into_iter().any(has) {
        return None;
    }
    let major = version.split('.').next().unwrap_or_default();
    if !["0", NEWEST_MAJOR_VERSION].contains(&major) {
        let message = format!("this plan has format {version}; gpulint reads formats up to {NEWEST_MAJOR_VERSION}");
        plan.diagnostics.push(Diagnostic::unreadable(message, key_span(&json, "format_version")));
        return Some(plan);
    }
    incomplete(&json, &mut plan);
    changes::read(&json, side, &mut plan);
    Some(plan)
}

/// Reports where a plan does not contain everything that Terraform would do.
fn incomplete(json: &Json, plan: &mut TerraformPlan) {
    let is = |key: &str, wanted: bool| json.get(key).and_then(Json::flag) == Some(wanted);
    if is("errored", true) {
        let message = "Terraform stopped with an error while planning: a part of the plan is missing";
        plan.diagnostics
            .push(Diagnostic::warning(message, key_span(json, "errored")).skipping(SkipKind::IncompletePlan, message));
    } else if is("complete", false) {
        let message = "Terraform deferred a part of this plan: apply this plan, then create another one";
        plan.diagnostics
            .push(Diagnostic::note(message, key_span(json, "complete")).skipping(SkipKind::IncompletePlan, message));
    }
}

/// Returns the position of a key and its value.
fn key_span(json: &Json, key: &str) -> Span {
    let entry = json.entries().iter().rev().find(|(name, _)| &*name.text == key);
    entry.map_or(json.span, |(name, value)| name.span.to(value.span))
}
