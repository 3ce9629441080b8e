//! Evaluates one rule for one resource.

use std::cell::Cell;
use std::sync::Arc;

use crate::fit::Market;
use crate::languages::cel::{self, CelBudget, CelHost, CelValue, Read, UnknownSubject, UnknownValue};

use super::facts::{End, FactContext, OneOf, Raws, RuleContext, Subject};
use super::page::{FactMatch, LooksAt, RuleFile};
use super::settings::RuleSettings;

/// The shared input of all evaluations: the world, the settings, and values computed from them.
pub(super) struct EvaluationContext<'a> {
    world: &'a RuleContext<'a>,
    settings: &'a RuleSettings,
    raws: Raws,
    market: &'a Market<'a>,
}

impl<'a> EvaluationContext<'a> {
    pub(super) fn new(world: &'a RuleContext<'a>, settings: &'a RuleSettings, market: &'a Market<'a>) -> Self {
        EvaluationContext { world, settings, raws: Raws::new(world), market }
    }

    /// Returns the context for one resource, object or block, by its index.
    pub(super) fn asking(&'a self, about: Subject, place: usize) -> FactContext<'a> {
        FactContext {
            world: self.world,
            settings: self.settings,
            raws: &self.raws,
            market: self.market,
            about,
            resource: place,
            end: Cell::new(End::Expected),
            needed: Cell::new(None),
            saves: None,
            asked_spot: Cell::new(false),
            asked_measured: Cell::new(false),
            asked_machines: Cell::new(false),
            asked_base: Cell::new(false),
            asked_this_month: Cell::new(false),
            one: OneOf::default(),
        }
    }
}

/// The result of a condition.
#[derive(Debug)]
pub(super) enum ConditionOutcome {
    No,
    /// The condition holds, and these facts decided.
    Yes(Vec<Read>),
    Unknown(Arc<UnknownValue>),
    Failed(String),
}

/// Evaluates `match` and `when`.
pub(super) fn evaluate(page: &RuleFile, asking: &FactContext<'_>) -> ConditionOutcome {
    let mut reads = Vec::new();
    let mut unknown = None;
    for wanted in &page.matches {
        match accepts(wanted, asking) {
            Answer::Yes => reads.push(asking.read(wanted.fact)),
            Answer::No => return ConditionOutcome::No,
            Answer::Unknown(why) => unknown = Some(UnknownValue::or_weightier(unknown, why)),
        }
    }
    for when in page.when() {
        let evaluation = when.program.evaluate(asking, &mut budget(page, asking));
        match evaluation.result {
            Ok(CelValue::Flag(true)) => reads.extend(evaluation.reads),
            Ok(CelValue::Flag(false) | CelValue::Absent | CelValue::Null) => return ConditionOutcome::No,
            // A missing price does not prevent a finding.
            Ok(CelValue::Unknown(why)) if why.about == UnknownSubject::Price => reads.extend(evaluation.reads),
            Ok(CelValue::Unknown(why)) => unknown = Some(UnknownValue::or_weightier(unknown, why)),
            Ok(_) => {
                return ConditionOutcome::Failed("the result of the condition is neither true nor false".to_owned());
            }
            Err(failure) => {
                return ConditionOutcome::Failed(place(page, when.start + failure.at.start, &failure.message));
            }
        }
    }
    match unknown {
        Some(unknown) => ConditionOutcome::Unknown(unknown),
        None => ConditionOutcome::Yes(reads),
    }
}

/// Returns the budget of an expression. A message may use as much of it as a condition.
pub(super) fn budget(page: &RuleFile, asking: &FactContext<'_>) -> CelBudget {
    let inventory = asking.world.inventory;
    let is_about_one = matches!(page.looks_at, LooksAt::Resource | LooksAt::Object | LooksAt::Block);
    match is_about_one && !page.raw.everything() {
        true => CelBudget::standard(),
        false => CelBudget::for_many(inventory.resources.len() + inventory.objects.len() + inventory.blocks.len()),
    }
}

/// Adds the line of the rule file to a message.
pub(super) fn place(page: &RuleFile, at: usize, message: &str) -> String {
    let line = page.text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    format!("line {line}: {message}")
}

/// Returns true if an entry of `match` is true, or may be true because a fact is unknown.
pub(super) fn may_match(wanted: &FactMatch, asking: &FactContext<'_>) -> bool {
    !matches!(accepts(wanted, asking), Answer::No)
}

enum Answer {
    Yes,
    No,
    Unknown(Arc<UnknownValue>),
}

fn accepts(wanted: &FactMatch, asking: &FactContext<'_>) -> Answer {
    let Read { record, field } = asking.read(wanted.fact);
    let is_accepted = |value: &CelValue| wanted.accepts.iter().any(|accepted| cel::same(accepted, value));
    match asking.field(record, field) {
        CelValue::Absent => Answer::No,
        CelValue::Unknown(unknown) => {
            let mut answers = unknown.candidates.iter().map(is_accepted);
            match answers.next() {
                Some(first) if answers.all(|answer| answer == first) => {
                    if first {
                        Answer::Yes
                    } else {
                        Answer::No
                    }
                }
                _ => Answer::Unknown(unknown),
            }
        }
        CelValue::List(items) if items.iter().any(is_accepted) => Answer::Yes,
        value if is_accepted(&value) => Answer::Yes,
        _ => Answer::No,
    }
}
