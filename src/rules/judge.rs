//! All rules and all resources: findings, and what could not be determined.

use std::cell::Cell;

use crate::catalog::{Money, MoneyRange};
use crate::inventory::{Origin, Resource, ResourceId};
use crate::source::Span;

use super::cel::{Budget, Read};
use super::evaluate::{self, Verdict, evaluate};
use super::facts::{self, Asking, End, Stand, World};
use super::page::{LooksAt, Page};
use super::settings::Settings;
use super::template::Template;
use super::{Broken, Confidence, Evidence, Finding, Judgement, Undetermined};

pub(super) fn judge(pages: &[&Page], world: &World<'_>, settings: &Settings) -> Judgement {
    let mut judgement = Judgement::default();
    let resources = &world.inventory.resources;
    for page in pages {
        let judge = Judge { page, world, settings };
        match page.looks_at {
            LooksAt::Resource => {
                for place in 0..resources.len() {
                    if !judge.look_at(Some(ResourceId(place)), &mut judgement) {
                        break;
                    }
                }
            }
            LooksAt::Repository if !resources.is_empty() => {
                judge.look_at(None, &mut judgement);
            }
            LooksAt::Change if world.delta.is_some() => {
                judge.look_at(None, &mut judgement);
            }
            LooksAt::Repository | LooksAt::Change | LooksAt::Text => {}
        }
    }
    judgement.failures.sort();
    judgement.failures.dedup();
    judgement
}

struct Judge<'a> {
    page: &'a Page,
    world: &'a World<'a>,
    settings: &'a Settings,
}

impl Judge<'_> {
    /// False where the page fails, so that it is not asked again.
    fn look_at(&self, resource: Option<ResourceId>, into: &mut Judgement) -> bool {
        let mut asking = Asking {
            world: self.world,
            settings: self.settings,
            resource: resource.map_or(0, |id| id.0),
            end: Cell::new(End::Expected),
            saves: None,
        };
        match evaluate(self.page, &asking) {
            Verdict::No => {}
            Verdict::Unknown(unknown) => {
                if let Some(span) = self.span(resource, &[]) {
                    into.undetermined.push(Undetermined {
                        rule: self.page.name.clone(),
                        resource,
                        span: unknown.span.filter(|_| resource.is_none()).unwrap_or(span),
                        cause: unknown.why.to_string(),
                    });
                }
            }
            Verdict::Failed(message) => return self.fail(message, into),
            Verdict::Yes(reads) => {
                match self.saves(&asking) {
                    Ok(saves) => asking.saves = saves,
                    Err(message) => return self.fail(message, into),
                }
                match self.finding(&asking, resource, &reads) {
                    Ok(Some(finding)) => into.findings.push(finding),
                    Ok(None) => {}
                    Err(message) => return self.fail(message, into),
                }
            }
        }
        true
    }

    fn fail(&self, message: String, into: &mut Judgement) -> bool {
        into.failures.push(Broken { rule: self.page.name.clone(), message });
        false
    }

    /// `saves` at each end; nothing where a price is missing.
    fn saves(&self, asking: &Asking<'_>) -> Result<Option<MoneyRange>, String> {
        let Some(saves) = &self.page.saves else { return Ok(None) };
        let mut ends = [0.0; 3];
        for (end, amount) in [End::Floor, End::Expected, End::Ceiling].into_iter().zip(&mut ends) {
            asking.end.set(end);
            let result = saves.program.evaluate(asking, &mut Budget::standard()).result;
            asking.end.set(End::Expected);
            match result {
                Ok(value) => match value.as_number().filter(|n| n.is_finite()) {
                    // nothing is saved by spending more
                    Some(usd) => *amount = usd.max(0.0),
                    None => return Ok(None),
                },
                Err(failure) => {
                    return Err(evaluate::place(self.page, saves.start + failure.at.start, &failure.message));
                }
            }
        }
        ends.sort_by(f64::total_cmp);
        let [floor, expected, ceiling] = ends.map(Money::from_usd);
        Ok(Some(MoneyRange { floor, expected, ceiling }))
    }

    fn finding(
        &self,
        asking: &Asking<'_>,
        resource: Option<ResourceId>,
        reads: &[Read],
    ) -> Result<Option<Finding>, String> {
        let stands: Vec<(Stand, Read)> = reads
            .iter()
            .filter_map(|read| Some((facts::stand(self.world, read.record.id, read.field)?, *read)))
            .collect();
        let Some(span) = self.span(resource, &stands) else { return Ok(None) };
        let page = self.page;
        let message = self.first_known(&page.messages, asking)?.unwrap_or_default();
        Ok(Some(Finding {
            rule: page.name.clone(),
            group: page.group.clone(),
            layer: page.layer.name().to_owned(),
            level: page.level,
            confidence: confidence(&stands),
            risk: page.risk,
            resource,
            span,
            message,
            help: self.first_known(&page.help, asking)?,
            saves: asking.saves,
            related: self.related(asking, span),
            edits: Vec::new(),
            evidence: self.evidence(asking, &stands),
        }))
    }

    /// The first text of which every fact is known; the last where none is.
    fn first_known(&self, templates: &[Template], asking: &Asking<'_>) -> Result<Option<String>, String> {
        let mut last = None;
        for template in templates {
            let rendered = template.render(asking);
            if let Some(why) = rendered.failure {
                return Err(why);
            }
            if rendered.missing.is_none() {
                return Ok(Some(rendered.text));
            }
            last = Some(rendered.text);
        }
        Ok(last)
    }

    /// The first fact of `at` that stands in the text; else where the resource starts. About everything: the first
    /// resource that was decided on. About a change: what became dearer most.
    fn span(&self, resource: Option<ResourceId>, stands: &[(Stand, Read)]) -> Option<Span> {
        let Some(id) = resource else {
            if let Some(dearest) = self.world.delta.and_then(|delta| delta.dearest()) {
                return self.resource(dearest).map(|it| it.span);
            }
            let first = stands.iter().find_map(|(_, read)| facts::resource_of(read.record));
            let resources = &self.world.inventory.resources;
            return first.and_then(|id| resources.get(id.0)).or(resources.first()).map(|it| it.span);
        };
        let stated = self.page.at.iter().find_map(|field| facts::stand(self.world, id.0 as u32, *field)?.span);
        stated.or_else(|| self.resource(id).map(|it| it.span))
    }

    fn resource(&self, id: ResourceId) -> Option<&Resource> {
        self.world.inventory.resources.get(id.0)
    }

    fn related(&self, asking: &Asking<'_>, span: Span) -> Vec<(Span, String)> {
        let id = asking.resource as u32;
        let mut related = Vec::new();
        for field in &self.page.related {
            let Some(stand) = facts::stand(self.world, id, *field) else { continue };
            let value = facts::shown(asking, id, *field);
            for place in [stand.span, stand.defined.filter(|it| Some(*it) != stand.span)].into_iter().flatten() {
                if place != span && !related.iter().any(|(known, _)| *known == place) {
                    related.push((place, format!("{} is {value}", stand.name.replace('_', " "))));
                }
            }
        }
        related
    }

    fn evidence(&self, asking: &Asking<'_>, stands: &[(Stand, Read)]) -> Vec<Evidence> {
        let mut evidence: Vec<Evidence> = stands
            .iter()
            .map(|(stand, read)| Evidence {
                fact: stand.name.to_owned(),
                span: stand.span,
                defined: stand.defined,
                value: facts::shown(asking, read.record.id, read.field),
            })
            .collect();
        evidence.sort_by(|a, b| (&a.fact, a.span, &a.value).cmp(&(&b.fact, b.span, &b.value)));
        evidence.dedup();
        evidence
    }
}

/// That of the weakest fact.
fn confidence(stands: &[(Stand, Read)]) -> Confidence {
    let weakest = |stand: &Stand| match &stand.origin {
        Some(Origin::Inferred(_)) => Confidence::Medium,
        Some(Origin::Assumed(_)) => Confidence::Low,
        _ => Confidence::High,
    };
    stands.iter().map(|(stand, _)| weakest(stand)).min().unwrap_or(Confidence::High)
}
