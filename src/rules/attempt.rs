//! Evaluates an expression without a rule file, for authors of rules.

use super::RuleSettings;
use super::evaluate::EvaluationContext;
use super::facts::RuleContext;
use super::page::{self, LooksAt, PageMistake};
use super::template;
use super::visible_fields::{self, VisibleField};
use crate::fit::Market;
use crate::inventory::WantedRaw;
use crate::languages::cel::{CelBudget, CelValue, Program};
use crate::source::Span;

/// An expression to evaluate.
#[derive(Debug)]
pub struct Attempt {
    program: Program,
    looks_at: LooksAt,
}

/// The result for one resource, object or block.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleAnswer {
    pub address: String,
    pub span: Option<Span>,
    /// The result: true, false, unknown, error, or a value.
    pub answer: String,
    pub cause: Option<String>,
    /// The facts that decided, with their lines.
    pub facts: Vec<VisibleField>,
}

impl Attempt {
    pub fn new(text: &str, looks_at: LooksAt) -> Result<Attempt, PageMistake> {
        let scope = page::scope(looks_at, &[], page::Words::default());
        match Program::compile(text, &scope) {
            Ok(program) => Ok(Attempt { program: program.into_number(), looks_at }),
            Err(problem) => Err(PageMistake { at: problem.at, message: problem.message, help: problem.help }),
        }
    }

    /// Returns the manifests and blocks that the expression needs.
    pub fn raw(&self) -> WantedRaw {
        page::raw_use(&[&self.program], self.looks_at, &[]).0.wanted(self.looks_at, None)
    }

    /// Evaluates the expression for every resource, object or block in its scope.
    pub fn answers(&self, world: &RuleContext<'_>, settings: &RuleSettings) -> Vec<RuleAnswer> {
        let market = Market::new(world.catalog, world.pricing);
        let ground = EvaluationContext::new(world, settings, &market);
        let inventory = world.inventory;
        let named: Vec<(String, Option<Span>)> = match self.looks_at {
            LooksAt::Resource => inventory.resources.iter().map(|it| (it.address.clone(), Some(it.span))).collect(),
            LooksAt::Object => inventory.objects.iter().map(|it| (it.address.to_string(), Some(it.span))).collect(),
            LooksAt::Block => inventory.blocks.iter().map(|it| (it.address.to_string(), Some(it.span))).collect(),
            LooksAt::Repository | LooksAt::Change | LooksAt::Text => vec![("repository".to_owned(), None)],
        };
        let many = inventory.resources.len() + inventory.objects.len() + inventory.blocks.len();
        let answer = |(place, (address, span)): (usize, (String, Option<Span>))| {
            let asking = ground.asking(self.looks_at.subject(), place);
            let evaluation = self.program.evaluate(&asking, &mut CelBudget::for_many(many));
            let facts = visible_fields::of_reads(&asking, world, &evaluation.reads);
            let (answer, cause) = match evaluation.result {
                Ok(CelValue::Unknown(unknown)) => ("unknown".to_owned(), Some(unknown.why.to_string())),
                Ok(CelValue::Absent) => ("absent".to_owned(), Some("no file sets the value".to_owned())),
                Ok(value) => (shown(&value), None),
                Err(failure) => ("error".to_owned(), Some(failure.message)),
            };
            RuleAnswer { address, span, answer, cause, facts }
        };
        named.into_iter().enumerate().map(answer).collect()
    }
}

fn shown(value: &CelValue) -> String {
    match value.as_number() {
        Some(number) => super::format::number(number),
        None => match template::plain(value) {
            text if text.is_empty() && !matches!(value, CelValue::Text(_)) => "a value".to_owned(),
            text => text,
        },
    }
}
