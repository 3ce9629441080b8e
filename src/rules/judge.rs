//! Evaluates all rules for all resources: findings, and checks with an unknown result.

use std::cmp::Reverse;

use crate::catalog::{Money, MoneyRange};
use crate::diagnostic::Level;
use crate::fit::Market;
use crate::inventory::{BillingRole, CountedAs, Fact, FactOrigin, Inventory, Key, Resource, ResourceId};
use crate::languages::cel::{CelBudget, CelValue, MapKey, Read, UnknownValue};
use crate::pricing::{BillItem, HOURS_PER_MONTH, Period};
use crate::source::Span;

use super::combine::combine;
use super::evaluate::{self, ConditionOutcome, EvaluationContext, evaluate};
use super::facts::{self, End, FactContext, NeededMachines, RuleContext, Stand, Subject};
use super::page::{Grouping, LooksAt, PageExpression, PointAt, RuleFile};
use super::settings::RuleSettings;
use super::template::{self, MessageTemplate};
use super::{Confidence, ExaminedBlock, FactEvidence, FailedRule, Finding, Fix, Judgement, RuleTotal, Undetermined};

/// A rule that fails this often has a mistake itself, so further evaluations would only take time.
const MOST_FAILURES: usize = 100;

/// Evaluates the rules. `is_meant` limits the resources that rules about one resource evaluate.
pub(super) fn judge(
    pages: &[&RuleFile],
    world: &RuleContext<'_>,
    settings: &RuleSettings,
    is_meant: &dyn Fn(Subject, usize) -> bool,
) -> Judgement {
    let mut judgement = Judgement::default();
    let resources = &world.inventory.resources;
    let market = Market::new(world.catalog, world.pricing);
    let ground = EvaluationContext::new(world, settings, &market);
    for page in pages {
        let judge = Judge { page, world, ground: &ground };
        let (subject, count) = match page.looks_at {
            LooksAt::Resource => (Subject::Resource, resources.len()),
            LooksAt::Object => (Subject::Object, world.inventory.objects.len()),
            LooksAt::Block => (Subject::Block, world.inventory.blocks.len()),
            LooksAt::Repository | LooksAt::Change | LooksAt::Text => (Subject::Resource, 0),
        };
        let mut failed = 0;
        for place in (0..count).filter(|place| is_meant(subject, *place)) {
            failed += usize::from(!judge.look_at(Some((subject, place)), &mut judgement));
            if failed == MOST_FAILURES {
                judgement.fail(
                    page,
                    format!("the rule cannot be evaluated for {MOST_FAILURES} of them, so the rest is skipped"),
                );
                break;
            }
        }
        let looks = match page.looks_at {
            LooksAt::Repository => !resources.is_empty() || page.raw.everything(),
            LooksAt::Change => world.delta.is_some(),
            _ => false,
        };
        if looks {
            judge.look_at_all(&mut judgement);
        }
    }
    combine(pages, &settings.forced, &mut judgement.findings);
    judgement.findings.retain(|it| is_judged(world.inventory, it.resource));
    judgement.undetermined.retain(|it| is_judged(world.inventory, it.resource));
    judgement.failures.sort();
    judgement.failures.dedup();
    judgement
}

/// Returns true if rules evaluate a resource. They skip bases that other deployments replace, excluded and unlisted
/// files, copies, and pods with a count of zero. Reports list these separately.
fn is_judged(inventory: &Inventory, resource: Option<ResourceId>) -> bool {
    let resource = resource.and_then(|id| inventory.resources.get(id.0));
    let is_none = |it: &Resource| {
        it.role == BillingRole::Requested
            && it.shifts.is_empty()
            && it.count.value().is_some_and(|it| it.ceiling == 0.0)
    };
    let is_aside = |it: &Resource| {
        matches!(it.counted, CountedAs::Base | CountedAs::Excluded | CountedAs::Unlisted | CountedAs::Copy)
    };
    resource.is_none_or(|it| !is_none(it) && !is_aside(it))
}

/// The limit on related members of a group in a finding. Its message can count the others.
const MOST_RELATED: usize = 100;

struct Judge<'a> {
    page: &'a RuleFile,
    world: &'a RuleContext<'a>,
    ground: &'a EvaluationContext<'a>,
}

/// A resource, object or block; `None` for a rule about everything.
type About = Option<(Subject, usize)>;

impl Judge<'_> {
    /// Evaluates a rule about everything, once or for each member of its list.
    fn look_at_all(&self, into: &mut Judgement) {
        let Some(grouping) = self.page.grouping() else {
            self.look_at(None, into);
            return;
        };
        let asking = self.ground.asking(Subject::Resource, 0);
        let all = match self.value(&grouping.each, &asking) {
            Ok(CelValue::List(all)) => all,
            Ok(CelValue::Absent | CelValue::Null) => return,
            Ok(CelValue::Unknown(unknown)) => return self.undecided(&asking, None, &unknown, into),
            Ok(_) => return self.cannot_judge(&asking, None, "the value of `each` is not a list".to_owned(), into),
            Err(message) => return self.cannot_judge(&asking, None, message, into),
        };
        for each in all.iter() {
            let mut asking = self.ground.asking(Subject::Resource, 0);
            let (each, doubt) = each.if_there();
            asking.one.each = each.clone();
            if let Some(doubt) = doubt {
                self.undecided(&asking, None, doubt, into);
                continue;
            }
            if let Err(message) = self.fill(grouping, &mut asking) {
                self.cannot_judge(&asking, None, message, into);
                continue;
            }
            let size = grouping.size.as_ref().and_then(|size| self.value(size, &asking).ok()?.as_number());
            let total = RuleTotal { size, ..total_of(&asking) };
            let undetermined = into.undetermined.len();
            self.judge(asking, None, Some(&total), into);
            // If the result is unknown, the amount contains only the known part, so no decision may use it.
            if total.amount.is_some() && into.undetermined.len() == undetermined {
                into.totals.push((self.page.name.clone(), total));
            }
        }
    }

    /// Evaluates the rule's expressions for one member of `each`.
    fn fill(&self, grouping: &Grouping, asking: &mut FactContext<'_>) -> Result<(), String> {
        if let Some(members) = &grouping.members {
            asking.one.members = self.value(members, asking)?;
        }
        if let Some(amount) = &grouping.amount {
            asking.asked_this_month.set(false);
            asking.one.amount = self.value(amount, asking)?;
        }
        if let Some(limit) = &grouping.limit {
            asking.one.limit = self.value(limit, asking)?;
        }
        Ok(())
    }

    fn value(&self, expression: &PageExpression, asking: &FactContext<'_>) -> Result<CelValue, String> {
        let result = expression.program.evaluate(asking, &mut evaluate::budget(self.page, asking)).result;
        result.map_err(|failure| evaluate::place(self.page, expression.start + failure.at.start, &failure.message))
    }

    fn look_at(&self, about: About, into: &mut Judgement) -> bool {
        let (subject, place) = about.unwrap_or((Subject::Resource, 0));
        self.judge(self.ground.asking(subject, place), about, None, into)
    }

    /// Reports that a rule failed for one resource. Other resources are not affected. The finding fails the run,
    /// because the result of the rule is unknown.
    fn cannot_judge(&self, asking: &FactContext<'_>, about: About, why: String, into: &mut Judgement) {
        let Some(span) = self.span(asking, about, &[]) else { return into.fail(self.page, why) };
        into.undetermined.push(Undetermined {
            rule: self.page.name.clone(),
            resource: resource_of(about),
            piece: self.piece(about),
            span,
            cause: why.clone(),
        });
        let message = format!("the rule cannot be evaluated: {why}");
        let help = "correct the type of the value that the rule reads, or test the value in the rule file first";
        into.findings.push(self.without_result(about, span, Level::Error, (message, help)));
    }

    /// Returns the finding that a rule has no result.
    fn without_result(&self, about: About, span: Span, level: Level, (message, help): (String, &str)) -> Finding {
        Finding {
            level,
            resource: resource_of(about),
            piece: self.piece(about),
            ..self.page.finding(message, Some(help.to_owned()), span)
        }
    }

    /// Lists a skipped check. It is also a finding if the settings demand a result.
    fn undecided(&self, asking: &FactContext<'_>, about: About, unknown: &UnknownValue, into: &mut Judgement) {
        let Some(span) = self.span(asking, about, &[]) else { return };
        let span = unknown.span.filter(|_| about.is_none()).unwrap_or(span);
        into.undetermined.push(Undetermined {
            rule: self.page.name.clone(),
            resource: resource_of(about),
            piece: self.piece(about),
            span,
            cause: unknown.why.to_string(),
        });
        if let Some(level) = self.page.undetermined {
            let message = format!("this rule demands a known value: {}", unknown.why);
            let help = "set the value in the files, or pass it to gpulint as the deployment does";
            into.findings.push(self.without_result(about, span, level, (message, help)));
        }
    }

    /// Evaluates the rule for one subject. Returns false if the rule failed.
    fn judge(
        &self,
        mut asking: FactContext<'_>,
        about: About,
        total: Option<&RuleTotal>,
        into: &mut Judgement,
    ) -> bool {
        let reads = match evaluate(self.page, &asking) {
            ConditionOutcome::No => return true,
            ConditionOutcome::Unknown(unknown) => {
                self.undecided(&asking, about, &unknown, into);
                return true;
            }
            ConditionOutcome::Failed(message) => {
                self.cannot_judge(&asking, about, message, into);
                return false;
            }
            ConditionOutcome::Yes(reads) => reads,
        };
        let found = self.saves(&asking, about).and_then(|saves| {
            asking.saves = saves;
            self.finding(&asking, about, &reads)
        });
        match found {
            Ok(finding) => into.findings.extend(finding.map(|it| Finding { total: total.cloned(), ..it })),
            Err(message) => {
                self.cannot_judge(&asking, about, message, into);
                return false;
            }
        }
        true
    }

    /// Computes `saves` at each end; `None` if a price is missing. Commitments are paid in any case, so their part is
    /// not a saving.
    fn saves(&self, asking: &FactContext<'_>, about: About) -> Result<Option<MoneyRange>, String> {
        let Some(saves) = &self.page.speech().saves else { return Ok(None) };
        asking.asked_spot.set(false);
        asking.asked_measured.set(false);
        asking.asked_machines.set(false);
        asking.asked_base.set(false);
        // The number of machines that an alternative needs does not depend on the end of the current cost.
        let needed = [NeededMachines::Expected, NeededMachines::Most];
        let ways = needed.into_iter().flat_map(|it| [End::Floor, End::Expected, End::Ceiling].map(|end| (it, end)));
        let mut amounts = [0.0; 6];
        for ((needed, end), amount) in ways.zip(&mut amounts) {
            asking.end.set(end);
            asking.needed.set(Some(needed));
            let result = saves.program.evaluate(asking, &mut CelBudget::standard()).result;
            asking.end.set(End::Expected);
            asking.needed.set(None);
            match result {
                Ok(value) => match value.as_number().filter(|n| n.is_finite()) {
                    // If the other option costs more, the saving is zero.
                    Some(usd) => *amount = usd.max(0.0),
                    None => return Ok(None),
                },
                Err(failure) => {
                    return Err(evaluate::place(self.page, saves.start + failure.at.start, &failure.message));
                }
            }
        }
        // The largest saving may occur at the lowest cost, so the amounts are sorted. Only the expected amount keeps its
        // place.
        let expected = Money::from_usd(amounts[1]);
        amounts.sort_by(f64::total_cmp);
        let [floor, .., ceiling] = amounts.map(Money::from_usd);
        let all = MoneyRange { floor, expected, ceiling };
        let saves = match self.covered(asking, about) {
            Ok(share) => all.times(1.0 - share),
            Err(_) => MoneyRange { floor: Money::ZERO, ..all },
        };
        // A zero amount is not a saving, and the finding is reported without one.
        Ok(Some(saves).filter(|it| it.ceiling > Money::ZERO))
    }

    /// Returns the share of a machine saving that commitments already pay for, by the bill; or the reason why it is
    /// unknown.
    fn covered(&self, asking: &FactContext<'_>, about: About) -> Result<f64, String> {
        let is_whole = asking.asked_machines.get() && !asking.asked_base.get();
        let resources = &self.world.inventory.resources;
        let Some(resource) = resource_of(about).and_then(|id| resources.get(id.0)).filter(|_| is_whole) else {
            return Ok(0.0);
        };
        let own = resource.fact(Key::PaidCommittedShare);
        let pools = resource.pools().filter(|_| own.is_absent());
        let pools = pools.filter_map(|pool| resources.iter().find(|it| it.address == pool));
        let shares: Vec<_> = pools.map(|pool| pool.fact(Key::PaidCommittedShare)).collect();
        if shares.len() > 1 && shares.iter().any(|share| !share.is_absent()) {
            return Err("the share that commitments cover is unknown: the pod can run on several pools".into());
        }
        match shares.first().copied().unwrap_or(own) {
            Fact::Known(known) => Ok(known.value.as_number().unwrap_or(0.0).clamp(0.0, 1.0)),
            Fact::Unknown(unknown) => Err(format!("the share that commitments cover is unknown: {}", unknown.why)),
            Fact::Absent => Ok(0.0),
        }
    }

    fn finding(&self, asking: &FactContext<'_>, about: About, reads: &[Read]) -> Result<Option<Finding>, String> {
        let stands: Vec<(Stand, Read)> =
            reads.iter().filter_map(|read| Some((facts::stand(self.world, *read)?, *read))).collect();
        let Some(span) = self.span(asking, about, &stands) else { return Ok(None) };
        let page = self.page;
        let item = resource_of(about).and_then(|id| self.world.bill.items.get(id.0));
        // This uncertainty is about the saving only: the price of the resource itself may be current.
        let doubt = item.filter(|_| asking.saves.is_some() && asking.asked_spot.get());
        let doubt = doubt.and_then(|it| it.spot_in_doubt.clone());
        let doubt = doubt.or_else(|| self.covered(asking, about).err().filter(|_| asking.saves.is_some()));
        let saves = asking.saves.map(|it| if doubt.is_some() { MoneyRange { floor: Money::ZERO, ..it } } else { it });
        let is_estimated = doubt.is_some() || asking.saves.is_some() && item.is_some_and(BillItem::is_estimated);
        let of_month = asking.saves.is_some() && asking.asked_measured.get();
        let message = self.first_known(&page.speech().messages, asking)?.unwrap_or_default();
        Ok(Some(Finding {
            rule: page.name.clone(),
            group: page.group.clone(),
            layer: page.layer.name().to_owned(),
            level: page.level,
            confidence: confidence(&stands).min(page.confidence).min(if is_estimated {
                Confidence::Medium
            } else {
                Confidence::High
            }),
            risk: page.risk,
            resource: resource_of(about),
            piece: self.piece(about),
            total: None,
            span,
            message,
            help: self.help(asking, doubt.as_deref())?,
            saves,
            is_estimated,
            per: item.filter(|_| !of_month).map_or(Period::Month, |it| it.per),
            also: Vec::new(),
            related: self.related(asking, span).into_iter().chain(self.beside(asking, about, span)).collect(),
            edits: Vec::new(),
            fix: self.fix(asking),
            evidence: self.evidence(asking, &stands),
        }))
    }

    fn help(&self, asking: &FactContext<'_>, doubt: Option<&str>) -> Result<Option<String>, String> {
        let help = self.first_known(&self.page.speech().help, asking)?;
        Ok(help.map(|help| match doubt {
            Some(why) => format!("{help} ({why})"),
            None => help,
        }))
    }

    /// Returns the edit that the rule requests here.
    fn fix(&self, asking: &FactContext<'_>) -> Option<Fix> {
        let remedy = self.page.speech().fix.as_ref()?;
        let (wishes, declined) = match remedy.wishes(asking) {
            Ok(wishes) => (wishes, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let (otherwise, follows) = (remedy.otherwise(asking), remedy.follows(asking));
        Some(Fix { safety: remedy.safety, wishes, otherwise, follows, declined, unjudged: None })
    }

    /// Returns the first message whose facts are all known, or else the last one.
    fn first_known(&self, templates: &[MessageTemplate], asking: &FactContext<'_>) -> Result<Option<String>, String> {
        let mut last = None;
        let budget = evaluate::budget(self.page, asking);
        for template in templates {
            let rendered = template.render(asking, &budget, asking.world.pricing.currency);
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

    /// Returns the place of the first fact in `at` that the files set, or else the start of the resource. A rule about
    /// everything points at the first resource that it read. A rule about a change points at the largest cost increase.
    fn span(&self, asking: &FactContext<'_>, about: About, stands: &[(Stand, Read)]) -> Option<Span> {
        let inventory = self.world.inventory;
        let Some((subject, place)) = about else {
            if let Some(dearest) = self.dearest_member(asking) {
                return inventory.resources.get(dearest).map(|it| it.span);
            }
            if let Some(changed) = self.changed_most(asking) {
                return inventory.resources.get(changed).map(|it| it.span);
            }
            if let Some(dearest) = self.world.delta.and_then(|delta| delta.dearest()) {
                return inventory.resources.get(dearest.0).map(|it| it.span);
            }
            let first = stands.iter().find_map(|(_, read)| facts::span_of(self.world, read.record));
            let any = inventory.resources.first().map(|it| it.span);
            let raw = inventory.objects.first().or(inventory.blocks.first()).map(|it| it.span);
            return first.or(any).or(raw);
        };
        let mut stated = self.page.speech().at.iter().filter_map(|at| match at {
            PointAt::Fact(field) => facts::stand(self.world, asking.read(*field))?.span,
            PointAt::Part(path) => facts::part(asking, path).map(|tree| tree.span),
        });
        // A pod's facts about its pool have places in the pool's files, which another team may own. The pod's own
        // lines are a better place.
        let own = (subject == Subject::Resource).then(|| inventory.resources.get(place)).flatten();
        let own = own.filter(|it| it.role == BillingRole::Requested).map(|it| it.span.file);
        let first = stated.next();
        let near = first.filter(|it| own.is_none_or(|file| it.file == file));
        let stated = near.or_else(|| stated.find(|it| own == Some(it.file))).or(first);
        stated.or_else(|| match subject {
            Subject::Resource => inventory.resources.get(place).map(|it| it.span),
            Subject::Object => inventory.objects.get(place).map(|it| it.span),
            Subject::Block => inventory.blocks.get(place).map(|it| it.span),
        })
    }

    /// Returns the resource with the largest cost increase, or else the first added, moved or changed one.
    fn changed_most(&self, asking: &FactContext<'_>) -> Option<usize> {
        let changes = self.world.delta?.visible().filter(|it| it.after.is_some());
        let is_counted = |id: Option<ResourceId>| id.is_some_and(|id| self.is_counted(id.0));
        let first = changes.max_by_key(|it| (is_counted(it.after), it.increase, Reverse(it.after)))?.after?;
        asking.world.inventory.resources.get(first.0).map(|_| first.0)
    }

    /// Whether a total contains a resource. A finding about several resources points at one of these, because a
    /// finding in an example fails no run.
    fn is_counted(&self, id: usize) -> bool {
        self.world.inventory.resources.get(id).is_some_and(Resource::is_added)
    }

    /// Returns the member with the largest cost increase, or else the most expensive one.
    fn dearest_member(&self, asking: &FactContext<'_>) -> Option<usize> {
        let members = self.members(asking);
        let increase = |id: usize| {
            let changes = &self.world.delta?.changes;
            changes.iter().find(|it| it.after == Some(ResourceId(id))).map(|it| it.increase)
        };
        let cost = |id: usize| self.world.bill.items.get(id).and_then(|it| it.monthly).map(|it| it.expected);
        members.into_iter().max_by_key(|id| (self.is_counted(*id), increase(*id), cost(*id), Reverse(*id)))
    }

    /// Returns the resources of the finding: the result of `members`, or the changed resources if the member of `each`
    /// is one or lists them under `resources`.
    fn members(&self, asking: &FactContext<'_>) -> Vec<usize> {
        let listed = |value: &CelValue| match value {
            CelValue::List(items) => items.to_vec(),
            CelValue::Record(_) => vec![value.clone()],
            _ => Vec::new(),
        };
        let of_each = || match asking.one.each.if_there().0 {
            CelValue::Map(map) => map.get(&MapKey::Text("resources".into())).map(listed).unwrap_or_default(),
            each => listed(each),
        };
        let all = match &asking.one.members {
            members @ CelValue::List(_) => listed(members),
            _ => of_each(),
        };
        let changes = self.world.delta.map_or(&[][..], |delta| &delta.changes);
        let now = all.iter().filter_map(|it| match it.if_there().0 {
            CelValue::Record(record) => facts::changed_resource(*record, changes),
            _ => None,
        });
        now.map(|id| id.0).filter(|id| *id < self.world.inventory.resources.len()).collect()
    }

    /// Returns the object or block of a finding.
    fn piece(&self, about: About) -> Option<ExaminedBlock> {
        let (subject, place) = about?;
        let raw = match subject {
            Subject::Resource => return None,
            Subject::Object => self.world.inventory.objects.get(place)?,
            Subject::Block => self.world.inventory.blocks.get(place)?,
        };
        let kind = if raw.kind.is_empty() { &raw.keyword } else { &raw.kind };
        Some(ExaminedBlock { address: raw.address.clone(), kind: kind.clone(), span: raw.span, body: raw.body })
    }

    /// Returns the other members of a group.
    fn beside(&self, asking: &FactContext<'_>, about: About, span: Span) -> Vec<(Span, String)> {
        if about.is_some() {
            return Vec::new();
        }
        let resources = self.members(asking).into_iter().filter_map(|id| self.world.inventory.resources.get(id));
        let others = resources.filter(|it| it.span != span).take(MOST_RELATED);
        others.map(|it| (it.span, it.address.clone())).collect()
    }

    fn related(&self, asking: &FactContext<'_>, span: Span) -> Vec<(Span, String)> {
        let mut related = Vec::new();
        for field in &self.page.speech().related {
            let read = asking.read(*field);
            let Some(stand) = facts::stand(self.world, read) else { continue };
            let value = facts::shown(asking, read);
            for place in [stand.span, stand.defined.filter(|it| Some(*it) != stand.span)].into_iter().flatten() {
                if place != span && !related.iter().any(|(known, _)| *known == place) {
                    related.push((place, format!("{} is {value}", stand.name.replace('_', " "))));
                }
            }
        }
        related
    }

    fn evidence(&self, asking: &FactContext<'_>, stands: &[(Stand, Read)]) -> Vec<FactEvidence> {
        let mut evidence: Vec<FactEvidence> = stands
            .iter()
            .map(|(stand, read)| FactEvidence {
                fact: stand.name.to_owned(),
                span: stand.span,
                defined: stand.defined,
                value: facts::shown(asking, *read),
            })
            .collect();
        evidence.extend(self.page.speech().paths.iter().map(|path| {
            let part = facts::part(asking, path);
            let span = part.map(|tree| tree.span);
            FactEvidence { fact: path.name(), span, defined: span, value: facts::written(part) }
        }));
        evidence.sort_by(|a, b| (&a.fact, a.span, &a.value).cmp(&(&b.fact, b.span, &b.value)));
        evidence.dedup();
        evidence
    }
}

impl Judgement {
    fn fail(&mut self, page: &RuleFile, message: String) {
        self.failures.push(FailedRule { rule: page.name.clone(), message });
    }
}

/// Returns the name and the amount of one member.
fn total_of(asking: &FactContext<'_>) -> RuleTotal {
    let it = &asking.one;
    let part = |name: &str| match &it.each {
        CelValue::Map(map) => map.get(&MapKey::Text(name.into())),
        _ => None,
    };
    let name = match &it.each {
        CelValue::Map(_) => part("name").map(template::plain),
        other => Some(template::plain(other)),
    };
    let money = |value: &CelValue| value.as_number().filter(|usd| usd.is_finite()).map(Money::from_usd);
    let this_month = asking.world.today.filter(|_| asking.asked_this_month.get());
    RuleTotal {
        name: name.unwrap_or_default().into(),
        amount: money(&it.amount),
        limit: money(&it.limit),
        size: None,
        elsewhere: part("elsewhere").and_then(money).unwrap_or_default(),
        hours: this_month.map_or(HOURS_PER_MONTH, facts::hours_of),
    }
}

fn resource_of(about: About) -> Option<ResourceId> {
    about.filter(|(subject, _)| *subject == Subject::Resource).map(|(_, place)| ResourceId(place))
}

/// Returns the confidence of the weakest fact.
fn confidence(stands: &[(Stand, Read)]) -> Confidence {
    let weakest = |stand: &Stand| match &stand.origin {
        Some(FactOrigin::Inferred(_) | FactOrigin::ServedName) => Confidence::Medium,
        Some(FactOrigin::Assumed(_)) => Confidence::Low,
        _ => Confidence::High,
    };
    stands.iter().map(|(stand, _)| weakest(stand)).min().unwrap_or(Confidence::High)
}
