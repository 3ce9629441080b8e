//! Plans and states as JSON (`terraform show -json`) → evaluated blocks, which the rows read like those of the text.
//!
//! A plan holds a change twice: `before` is what is there, `after` what will be. What only the provider will know is
//! unknown and says so; what Terraform marks as sensitive stays marked. Places are byte ranges of the JSON. This reader
//! knows the format that Terraform publishes, from 0.12 on, and no type.

mod changes;
mod configuration;
mod merge;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::hcl::syntax::json::{Json, parse_json_within};
use crate::source::{FileId, Sources, Span};

use super::block::Block;

/// Which state of a plan is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PlanSide {
    /// What is there before the plan is applied.
    Before,
    #[default]
    After,
}

/// What a plan says.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) blocks: Vec<Block>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Places that hold secrets.
    pub(super) secrets: Vec<Span>,
}

/// Terraform promises that what is known stays where it is until the first number changes.
const NEWEST_MAJOR_VERSION: &str = "1";

/// Whether a text is a plan or a state, by its shape.
pub fn is_plan(text: &[u8]) -> bool {
    let holds = |key: &str| memchr::memmem::find(text, key.as_bytes()).is_some();
    let before = memchr::memchr(b'{', text).and_then(|at| std::str::from_utf8(text.get(..at)?).ok());
    before.is_some_and(|before| before.trim_start_matches('\u{feff}').trim_start().is_empty())
        && holds("\"format_version\"")
        && ["\"planned_values\"", "\"resource_changes\"", "\"root_module\""].into_iter().any(holds)
}

/// Reads one plan. A text that seemed to be one and is none gives nothing.
pub(super) fn read(sources: &Sources, file: FileId, side: PlanSide) -> Option<Plan> {
    let text = sources.text(file);
    let mut plan = Plan::default();
    let json = match parse_json_within(file, &text, sources.limits().nesting) {
        Ok(json) => json,
        // What does not start as Terraform starts it may be anything.
        Err(_) if !text.trim_start().starts_with("{\"format_version\":") => return None,
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

/// Says where a plan is not all that Terraform would do.
fn incomplete(json: &Json, plan: &mut Plan) {
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

/// The key and its value.
fn key_span(json: &Json, key: &str) -> Span {
    let entry = json.entries().iter().rev().find(|(name, _)| &*name.text == key);
    entry.map_or(json.span, |(name, value)| name.span.to(value.span))
}
