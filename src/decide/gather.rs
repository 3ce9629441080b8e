//! Gathers suppressions from comments, annotations and settings.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::cover::{CoverTarget, CoveredLines, Layout};
use super::{Complaints, FixedBy, SuppressionContext};
use crate::inventory::{RawData, ReadBy, ResourceId};
use crate::source::{self, DIRECTIVE_EXAMPLE, Date, FileId, Span};

/// The prefix of annotations that suppress a rule. The name of the rule follows it.
const ANNOTATION: &str = "gpulint.dev/ignore.";

/// One suppression, from any source.
pub(super) struct Suppression {
    pub(super) rules: Vec<(String, Span)>,
    pub(super) target: CoverTarget,
    pub(super) until: Option<Date>,
    pub(super) reason: Option<String>,
    pub(super) span: Span,
}

/// Returns every valid suppression, and the errors of the others.
pub(super) fn gather(grounds: &SuppressionContext, complaints: &mut Complaints) -> Vec<Suppression> {
    let mut all = comments(grounds, complaints);
    all.extend(annotations(grounds, complaints));
    all.extend(grounds.configured.iter().map(|it| Suppression {
        rules: it.rules.clone(),
        target: CoverTarget::Pattern { address: it.address.clone(), path: it.path.clone() },
        until: it.until,
        reason: it.reason.clone(),
        span: it.span,
    }));
    all.retain_mut(|suppression| keep(suppression, grounds, complaints));
    all
}

fn comments(grounds: &SuppressionContext, complaints: &mut Complaints) -> Vec<Suppression> {
    // A block that makes several resources is read several times, with its comments.
    let places: BTreeSet<Span> = grounds.comments.iter().map(|span| grounds.sources.origin(*span)).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let begins = Starts::new(grounds);
    let mut layouts: HashMap<FileId, Layout> = HashMap::new();
    for span in places {
        let text = grounds.sources.snippet(span);
        let directive = match source::directive(&text, span) {
            None => continue,
            Some(Ok(directive)) => directive,
            Some(Err(mistake)) => {
                complaints.broken(mistake.message, format!("write it as `{DIRECTIVE_EXAMPLE}`"), mistake.span);
                continue;
            }
        };
        let layout = layouts.entry(span.file).or_insert_with(|| Layout::new(grounds.sources, span.file));
        let target = match directive.whole_file {
            false => begins.target(layout.lines(span)),
            true if layout.is_at_top(span) => CoverTarget::File(span.file),
            true => {
                let message = "`ignore-file` works only at the top of a file".to_owned();
                complaints.broken(
                    message,
                    "move it above the first line of the file, or use `ignore`".to_owned(),
                    span,
                );
                continue;
            }
        };
        let (rules, until, reason) = (directive.rules, directive.until, directive.reason);
        found.push(Suppression { rules, target, until, reason, span });
    }
    found
}

/// Returns the suppressions in annotations. An annotation applies to everything that its object creates: several
/// resources, or an object that rules check.
fn annotations(grounds: &SuppressionContext, complaints: &mut Complaints) -> Vec<Suppression> {
    // The key is the end of the value, because in a tree the place of a key contains its value.
    let mut found: BTreeMap<(FileId, u32), Suppression> = BTreeMap::new();
    let mut told = BTreeSet::new();
    let mut add = |key: &str, value: Option<&str>, span: Span, resource: Option<ResourceId>, body: Option<Span>| {
        let Some(rule) = key.strip_prefix(ANNOTATION) else { return };
        match annotation(value) {
            Ok((until, reason)) => {
                let rules = vec![(rule.to_owned(), span)];
                let target = CoverTarget::Annotated { resources: Vec::new(), bodies: Vec::new() };
                let known =
                    found.entry((span.file, span.end)).or_insert(Suppression { rules, target, until, reason, span });
                if let CoverTarget::Annotated { resources, bodies } = &mut known.target {
                    resources.extend(resource);
                    bodies.extend(body);
                }
            }
            Err(why) if told.insert((span.file, span.end)) => {
                complaints.broken(why, format!("write it as `{key}: \"until=2027-01-31; why\"`"), span);
            }
            Err(_) => {}
        }
    };
    for (index, resource) in grounds.inventory.resources.iter().enumerate() {
        if matches!(resource.front_end, ReadBy::Terraform | ReadBy::Plan) {
            continue;
        }
        for (key, value) in &resource.labels.entries {
            let span = value.span().unwrap_or(resource.span);
            add(key, value.value().map(|text| &**text), span, Some(ResourceId(index)), None);
        }
    }
    for object in &grounds.inventory.objects {
        let annotations = object.tree.find(["metadata", "annotations"]).map(|tree| &tree.data);
        let Some(RawData::Map(entries, _)) = annotations else { continue };
        for (key, value) in entries {
            let text = if let RawData::Text(text) = &value.data { Some(&**text) } else { None };
            add(key, text, value.span, None, Some(object.body));
        }
    }
    found.into_values().collect()
}

/// Parses the value of an annotation: `until=2027-01-31; reason`.
fn annotation(text: Option<&str>) -> Result<(Option<Date>, Option<String>), String> {
    let Some(text) = text else { return Err("the value of the annotation is unknown".to_owned()) };
    let mut until = None;
    let mut reason = text.trim();
    if let Some(rest) = reason.strip_prefix("until=") {
        let (date, after) = rest.split_once(';').unwrap_or((rest, ""));
        until = Some(date.trim().parse()?);
        reason = after.trim();
    }
    Ok((until, Some(reason.to_owned()).filter(|reason| !reason.is_empty())))
}

/// Returns the part that the settings require and that this suppression lacks, with the help.
fn lacks(suppression: &Suppression, grounds: &SuppressionContext) -> Option<(String, String)> {
    let demands = grounds.demands;
    if demands.reason && suppression.reason.is_none() {
        let help = "write the reason after `--`; the setting `require-reason` demands it".to_owned();
        return Some(("this suppression has no reason".to_owned(), help));
    }
    let Some(until) = suppression.until else {
        let help = "write `until=2027-01-31` before `--`; the setting `require-until` or `longest-suppression-days` demands it"
            .to_owned();
        let is_demanded = demands.until || demands.longest_days.is_some();
        return is_demanded.then(|| ("this suppression has no last day".to_owned(), help));
    };
    let (days, most) = (until.since(grounds.today), demands.longest_days?);
    (days as f64 > most).then(|| {
        let help = format!(
            "choose an earlier day, and renew the suppression if necessary; `longest-suppression-days` is {most}"
        );
        (format!("this suppression ends in {days} days, limit {most}"), help)
    })
}

/// Removes the rules that a suppression may not suppress, and reports the reason. Returns false if no rule is left.
fn keep(suppression: &mut Suppression, grounds: &SuppressionContext, complaints: &mut Complaints) -> bool {
    if let Some((message, help)) = lacks(suppression, grounds) {
        complaints.broken(message, help, suppression.span);
        return false;
    }
    let is_configured = matches!(suppression.target, CoverTarget::Pattern { .. });
    suppression.rules.retain_mut(|(rule, span)| {
        if grounds.rules.is_removed(rule) {
            return false;
        }
        *rule = grounds.rules.current(rule).to_owned();
        let wrong = if grounds.rules.page(rule).is_none() {
            let help = match grounds.rules.nearest(rule) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "list all rules: `gpulint rules list`".to_owned(),
            };
            Some((format!("there is no rule `{rule}`"), help))
        } else {
            let help = match grounds.fixed.get(rule) {
                Some(FixedBy::Settings) if !is_configured => {
                    Some("gpulint.toml sets `ignorable = false` for this rule".to_owned())
                }
                Some(FixedBy::Pack(pack)) => {
                    Some(format!("the pack `{pack}` forbids suppressions of this rule: ask its owners"))
                }
                _ => None,
            };
            help.map(|help| (format!("suppressing `{rule}` is not allowed"), help))
        };
        match wrong {
            None => true,
            Some((message, help)) => {
                complaints.broken(message, help, *span);
                false
            }
        }
    });
    !suppression.rules.is_empty()
}

/// Where resources, other blocks that rules check, and module calls begin.
struct Starts {
    bodies: BTreeMap<(FileId, u32), Vec<Span>>,
    calls: BTreeMap<(FileId, u32), Vec<String>>,
}

impl Starts {
    fn new(grounds: &SuppressionContext) -> Self {
        let place = |span: Span| {
            let span = grounds.sources.origin(span);
            (span.file, span.start)
        };
        let resources = grounds.inventory.resources.iter().map(|resource| (resource.span, resource.body));
        let raws = grounds.inventory.objects.iter().chain(&grounds.inventory.blocks).map(|raw| (raw.span, raw.body));
        let mut begins = Starts { bodies: BTreeMap::new(), calls: BTreeMap::new() };
        for (span, body) in resources.chain(raws) {
            begins.bodies.entry(place(span)).or_default().push(grounds.sources.origin(body));
        }
        for (header, address) in grounds.calls {
            begins.calls.entry(place(*header)).or_default().push(address.clone());
        }
        begins
    }

    /// Returns the target of a comment: the line that it ends, or the block that begins on the line below.
    fn target(&self, covered: CoveredLines) -> CoverTarget {
        let line = covered.first_line;
        let here = (line.file, line.start)..(line.file, line.end);
        let bodies = self.bodies.range(here.clone()).flat_map(|(_, bodies)| bodies);
        let whole = bodies.filter(|body| body.file == covered.all.file).fold(covered.all, |all, body| all.to(*body));
        let calls = self.calls.range(here).flat_map(|(_, calls)| calls).cloned();
        CoverTarget::Here { whole, calls: calls.collect() }
    }
}
