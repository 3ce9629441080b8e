//! `gpulint rules test --why`: which part of the condition decided in each example, and which part no example needs.

use super::bench::{Bench, Tried};
use super::proof;
use crate::rules::{Example, Operand, Reason, RuleContext};

/// Returns the result of the rule for each resource of an example, with its reasons.
pub(super) fn reasons(bench: &Bench<'_>, example: &Example, tried: &Tried) -> Vec<String> {
    let settings = &tried.session.settings;
    let world = RuleContext { delta: tried.delta.as_ref(), ..tried.analysis.world(settings) };
    let reasons = settings.rules.reasons(&bench.page.name, &world);
    reasons.iter().map(|reason| describe_reason(reason, example, tried)).collect()
}

fn describe_reason(reason: &Reason, example: &Example, tried: &Tried) -> String {
    let place = reason.span.map(|span| tried.session.sources.locate(span));
    let line = place.and_then(|at| {
        let file = example.files.iter().find(|file| file.path == at.path)?;
        Some(format!("line {}, ", file.line + at.line))
    });
    let because = match reason.parts.is_empty() {
        true => String::new(),
        false => format!(": {}", reason.parts.join("; ")),
    };
    format!("{}{} is {}{because}", line.unwrap_or_default(), reason.address, reason.outcome)
}

/// Returns the parts of the condition that can be removed without changing the result of any example.
pub(super) fn unneeded(bench: &Bench<'_>, examples: &[Example]) -> Vec<Operand> {
    let is_needed = |operand: &Operand| match bench.changed(&operand.dropped(&bench.page.text)) {
        Some(changed) => examples.iter().any(|example| !proof::execute(&changed, example).wrong.is_empty()),
        // Without this part, the rule file does not load, so the part is needed.
        None => true,
    };
    bench.page.operands().into_iter().filter(|operand| !is_needed(operand)).collect()
}
