//! Explains the result of a rule to authors: the parts of its condition that decided.

use super::RuleSettings;
use super::evaluate::{self, ConditionOutcome, EvaluationContext, evaluate};
use super::facts::{self, FactContext, RuleContext};
use super::page::{self, LooksAt, RuleFile};
use super::template;
use crate::fit::Market;
use crate::languages::cel::{CelHost, CelValue};
use crate::source::Span;

/// The result of a rule for one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    pub address: String,
    pub span: Option<Span>,
    /// The outcome: reported, clean or undetermined.
    pub outcome: &'static str,
    /// Deciding parts of the condition, with line and value.
    pub parts: Vec<String>,
}

/// The limit on the explained resources.
const MOST: usize = 50;

pub(super) fn reasons(page: &RuleFile, world: &RuleContext<'_>, settings: &RuleSettings) -> Vec<Reason> {
    let market = Market::new(world.catalog, world.pricing);
    let ground = EvaluationContext::new(world, settings, &market);
    let inventory = world.inventory;
    let named: Vec<(String, Option<Span>)> = match page.looks_at {
        LooksAt::Resource => inventory.resources.iter().map(|it| (it.address.clone(), Some(it.span))).collect(),
        LooksAt::Object => inventory.objects.iter().map(|it| (it.address.to_string(), Some(it.span))).collect(),
        LooksAt::Block => inventory.blocks.iter().map(|it| (it.address.to_string(), Some(it.span))).collect(),
        // If a rule has `each`, its messages show the amounts of each member.
        LooksAt::Repository | LooksAt::Change if page.grouping().is_none() => vec![("all resources".to_owned(), None)],
        LooksAt::Repository | LooksAt::Change | LooksAt::Text => Vec::new(),
    };
    let reason = |(place, (address, span)): (usize, (String, Option<Span>))| {
        let asking = ground.asking(page.looks_at.subject(), place);
        let outcome = match evaluate(page, &asking) {
            ConditionOutcome::Yes(_) => "reported",
            ConditionOutcome::No => "clean",
            ConditionOutcome::Unknown(_) | ConditionOutcome::Failed(_) => "undetermined",
        };
        Reason { address, span, outcome, parts: parts(page, &asking) }
    };
    named.into_iter().enumerate().take(MOST).map(reason).collect()
}

/// Returns the entry of `match` that fails, or else the parts of the conditions that decide.
fn parts(page: &RuleFile, asking: &FactContext<'_>) -> Vec<String> {
    let refused = page.matches.iter().find_map(|wanted| {
        let name = facts::implied(page.looks_at)?.1.fields.get(wanted.fact)?.name;
        let read = asking.read(wanted.fact);
        let value = shown(&asking.field(read.record, read.field));
        (!evaluate::may_match(wanted, asking)).then(|| format!("`match` requires another {name}: here it is {value}"))
    });
    if let Some(refused) = refused {
        return vec![refused];
    }
    let budget = evaluate::budget(page, asking);
    let mut all = Vec::new();
    for when in page.when() {
        let Some((text, _)) = &when.written else { continue };
        for (at, value) in when.program.deciding(asking, &budget) {
            let part = page::one_blank(text.get(at.clone()).unwrap_or_default());
            let line = page.line_of(when, at.start);
            all.push(format!("`{part}` (line {line}) is {}", shown(&value)));
        }
    }
    all
}

fn shown(value: &CelValue) -> String {
    match value {
        CelValue::Unknown(unknown) => format!("unknown: {}", unknown.why),
        CelValue::Absent => "absent".to_owned(),
        value => value.as_number().map_or_else(|| template::plain(value), super::format::number),
    }
}
