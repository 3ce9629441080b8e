//! Handles `fix`: the facts to change, and how safe the change is.
//!
//! A value is a literal, a string with placeholders as in messages, or a single placeholder whose value is used.

use std::ops::Range;

use super::fields::PageFields;
use super::{LooksAt, meant};
use crate::inventory::{self, FactEdit, Part};
use crate::languages::cel::{CelBudget, CelValue, ExpressionScope, Program};
use crate::rules::Safety;
use crate::rules::facts::FactContext;
use crate::rules::template::MessageTemplate;
use crate::rules::yaml::{self, PageName, PageNode};

/// The edits that a rule requests.
#[derive(Debug)]
pub(in crate::rules) struct Remedy {
    changes: Vec<(Part, Source)>,
    /// The facts to change if `changes` cannot be written.
    otherwise: Vec<(Part, Source)>,
    labels: Vec<Label>,
    /// Related facts that must change too, if the files set them.
    follows: Vec<(Part, Source)>,
    /// Conditions under which no edit is written, each with its reason.
    unless: Vec<(String, Program)>,
    pub(in crate::rules) safety: Safety,
}

/// The source of a new value.
#[derive(Debug)]
enum Source {
    Nothing,
    Plain(inventory::FactValue),
    Computed(Box<Program>),
    Text(MessageTemplate),
}

#[derive(Debug)]
enum Label {
    One(String, Source),
    /// An expression that returns several labels.
    Several(Box<Program>),
}

pub(super) fn read(fields: &mut PageFields<'_>, looks_at: LooksAt, scope: &ExpressionScope<'_>) -> Option<Remedy> {
    if !fields.has("fix") {
        fields.take("fix");
        return None;
    }
    let at = fields.place("fix");
    let entries = fields.map("fix");
    if looks_at != LooksAt::Resource {
        let help = "remove `for`: only resources have facts that a fix can set".to_owned();
        fields.wrong(&at, "only a rule about resources can have a `fix`", Some(help));
        return None;
    }
    let mut remedy = Remedy {
        changes: Vec::new(),
        otherwise: Vec::new(),
        labels: Vec::new(),
        follows: Vec::new(),
        unless: Vec::new(),
        safety: Safety::Unsafe,
    };
    let mut safety = None;
    for (name, node) in entries {
        match &*name.text {
            "set" => remedy.changes.extend(assignments(fields, node, "set", scope)),
            "or" => remedy.otherwise.extend(assignments(fields, node, "or", scope)),
            "unset" => remedy.unset(fields, node),
            "add" => remedy.add(fields, node, scope),
            "follow" => remedy.follows.extend(assignments(fields, node, "follow", scope)),
            "unless" => remedy.unless(fields, node, scope),
            "safety" => safety = safety_of(fields, &node),
            _ => {
                let help = meant(&name, ["set", "unset", "or", "add", "follow", "unless", "safety"]);
                fields.wrong(&name.at, format!("a fix has no `{}`", name.text), help);
            }
        }
    }
    if remedy.changes.is_empty() && remedy.labels.is_empty() && fields.mistakes.is_empty() {
        fields.wrong(&at, "the fix changes nothing", Some("write `set: { FACT: VALUE }`".to_owned()));
    }
    match safety {
        Some(safety) => remedy.safety = safety,
        None if fields.mistakes.is_empty() => {
            fields.wrong(&at, "the fix sets no `safety`", Some("write `safety: unsafe`".to_owned()));
        }
        None => {}
    }
    Some(remedy)
}

fn safety_of(fields: &mut PageFields<'_>, node: &PageNode) -> Option<Safety> {
    let yaml::PageValue::Text(text) = &node.value else {
        fields.wrong(&node.at, "`safety` must be a string", None);
        return None;
    };
    let known = Safety::ALL.into_iter().find(|safety| safety.name() == text);
    if known.is_none() {
        let help = Some("valid values: safe, unsafe or display".to_owned());
        fields.wrong(&node.at, format!("`safety` cannot be `{}`", text.escape_debug()), help);
    }
    known
}

impl Remedy {
    fn unless(&mut self, fields: &mut PageFields<'_>, node: PageNode, scope: &ExpressionScope<'_>) {
        for (reason, condition) in entries(fields, node, "unless") {
            let yaml::PageValue::Text(text) = &condition.value else {
                fields.wrong(&condition.at, "`unless` must map reasons to conditions", None);
                continue;
            };
            match Program::compile(text, scope) {
                Ok(program) => self.unless.push((reason.text.into_owned(), program)),
                Err(problem) => fields.wrong(&condition.at, problem.message, problem.help),
            }
        }
    }

    fn unset(&mut self, fields: &mut PageFields<'_>, node: PageNode) {
        let items = match node.value {
            yaml::PageValue::List(items) => items,
            _ => vec![node].into(),
        };
        for item in items.into_owned() {
            let yaml::PageValue::Text(text) = item.value else {
                fields.wrong(&item.at, "`unset` must be a fact or a list of facts", None);
                continue;
            };
            if let Some(part) = part(fields, &PageName { text, at: item.at }) {
                self.changes.push((part, Source::Nothing));
            }
        }
    }

    fn add(&mut self, fields: &mut PageFields<'_>, node: PageNode, scope: &ExpressionScope<'_>) {
        for (name, value) in entries(fields, node, "add") {
            if name.text != "labels" {
                let help = Some("a fix can only add to `labels`; use `set` for other facts".to_owned());
                fields.wrong(&name.at, format!("a fix cannot add to `{}`", name.text), help);
                continue;
            }
            match &value.value {
                yaml::PageValue::Map(labels) => {
                    for (key, value) in labels.iter() {
                        let source = source(fields, value, scope, None);
                        self.labels.extend(source.map(|source| Label::One(key.text.clone().into_owned(), source)));
                    }
                }
                yaml::PageValue::Text(text) if is_placeholder(text) => {
                    self.labels.extend(program(fields, text, &value.at, scope).map(Label::Several));
                }
                _ => fields.wrong(&value.at, "`labels` must be a mapping, or `{an expression}` that returns one", None),
            }
        }
    }

    /// Returns the requested edits, or the reason why a value is unknown.
    pub(in crate::rules) fn wishes(&self, asking: &FactContext<'_>) -> Result<Vec<FactEdit>, String> {
        for (reason, condition) in &self.unless {
            match condition.evaluate(asking, &mut CelBudget::standard()).result {
                Ok(CelValue::Flag(false) | CelValue::Absent) => {}
                Ok(_) => return Err(reason.clone()),
                Err(failure) => return Err(failure.message),
            }
        }
        let mut wishes = computed(&self.changes, asking)?;
        for label in &self.labels {
            label.wishes(asking, &mut wishes)?;
        }
        if wishes.is_empty() { Err("the rule does not determine the value to write".to_owned()) } else { Ok(wishes) }
    }

    /// Returns the edits to write if those of `wishes` cannot be written. A value that is unknown gives none.
    pub(in crate::rules) fn otherwise(&self, asking: &FactContext<'_>) -> Vec<FactEdit> {
        let each = self.otherwise.iter().filter_map(|one| computed(std::slice::from_ref(one), asking).ok());
        each.flatten().filter(|wish| wish.value.is_some()).collect()
    }

    /// Returns the related edits, if the files set these facts. A value that is unknown gives none.
    pub(in crate::rules) fn follows(&self, asking: &FactContext<'_>) -> Vec<FactEdit> {
        computed(&self.follows, asking).unwrap_or_default()
    }
}

/// Returns the facts of a mapping with their new values.
fn assignments(
    fields: &mut PageFields<'_>,
    node: PageNode,
    what: &str,
    scope: &ExpressionScope<'_>,
) -> Vec<(Part, Source)> {
    let mut all = Vec::new();
    for (name, value) in entries(fields, node, what) {
        let Some(part) = part(fields, &name) else { continue };
        all.extend(source(fields, &value, scope, Some(&part)).map(|source| (part, source)));
    }
    all
}

fn computed(changes: &[(Part, Source)], asking: &FactContext<'_>) -> Result<Vec<FactEdit>, String> {
    let mut wishes = Vec::new();
    for (part, source) in changes {
        let value = source.value(asking).map_err(|why| format!("{part}: {why}"))?;
        let value = match (part, value) {
            (_, None) => None,
            (Part::Fact(key), Some(value)) => {
                let shown = value.to_string();
                let fits = value.conform(key.value_type());
                Some(fits.ok_or_else(|| format!("{part}: `{shown}` is not a {}", key.value_type().name()))?)
            }
            (_, value) => value,
        };
        wishes.push(FactEdit { part: part.clone(), value });
    }
    Ok(wishes)
}

impl Label {
    fn wishes(&self, asking: &FactContext<'_>, into: &mut Vec<FactEdit>) -> Result<(), String> {
        let mut add = |key: &str, value| into.push(FactEdit { part: Part::Label(key.into()), value: Some(value) });
        match self {
            Label::One(key, source) => {
                let value = source.value(asking).map_err(|why| format!("label `{key}`: {why}"))?;
                value.into_iter().for_each(|value| add(key, value));
            }
            Label::Several(program) => match program.evaluate(asking, &mut CelBudget::standard()).result {
                Ok(CelValue::Map(map)) => {
                    let known = map.iter().filter_map(|(key, value)| Some((key.as_text()?, plain(value).ok()?)));
                    known.for_each(|(key, value)| add(key, value));
                }
                Ok(other) => {
                    plain(&other)?;
                    return Err("the value of `labels` must be a map".to_owned());
                }
                Err(failure) => return Err(failure.message),
            },
        }
        Ok(())
    }
}

impl Source {
    fn value(&self, asking: &FactContext<'_>) -> Result<Option<inventory::FactValue>, String> {
        match self {
            Source::Nothing => Ok(None),
            Source::Plain(value) => Ok(Some(value.clone())),
            Source::Computed(program) => match program.evaluate(asking, &mut CelBudget::standard()).result {
                Ok(value) => plain(&value).map(Some),
                Err(failure) => Err(failure.message),
            },
            Source::Text(template) => {
                let rendered = template.render(asking, &CelBudget::standard(), asking.world.pricing.currency);
                match (rendered.failure, rendered.missing) {
                    (Some(why), _) => Err(why),
                    (None, Some(unknown)) => Err(unknown.why.to_string()),
                    (None, None) => Ok(Some(inventory::FactValue::text(rendered.text))),
                }
            }
        }
    }
}

/// Converts a value for the inventory, or returns the reason why this is impossible.
fn plain(value: &CelValue) -> Result<inventory::FactValue, String> {
    Ok(match value {
        CelValue::Text(text) => inventory::FactValue::Text(text.clone()),
        CelValue::Flag(flag) => inventory::FactValue::Flag(*flag),
        CelValue::Integer(n) => inventory::FactValue::Integer(*n),
        CelValue::Double(n) if n.is_finite() => inventory::FactValue::Number(*n),
        CelValue::Unknown(unknown) => return Err(unknown.why.to_string()),
        _ => return Err("no file sets the value".to_owned()),
    })
}

fn entries(fields: &mut PageFields<'_>, node: PageNode, what: &str) -> Vec<(PageName, PageNode)> {
    match node.value {
        yaml::PageValue::Map(entries) => entries.into_owned(),
        _ => {
            fields.wrong(&node.at, format!("`{what}` must be a mapping"), None);
            Vec::new()
        }
    }
}

fn part(fields: &mut PageFields<'_>, name: &PageName) -> Option<Part> {
    let short = name.text.strip_prefix("resource.").unwrap_or(&name.text);
    let found = Part::from_name(short);
    if found.is_none() {
        let help = meant(name, Part::names());
        fields.wrong(&name.at, format!("no fix can set a fact `{}`", name.text), help);
    }
    found
}

fn is_placeholder(text: &str) -> bool {
    text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(|inner| !inner.contains(['{', '}']))
}

fn program(
    fields: &mut PageFields<'_>,
    text: &str,
    at: &Range<usize>,
    scope: &ExpressionScope<'_>,
) -> Option<Box<Program>> {
    let inner = text.get(1..text.len() - 1)?;
    match Program::compile(inner, scope) {
        Ok(program) => Some(Box::new(program)),
        Err(problem) => {
            fields.wrong(at, problem.message, problem.help);
            None
        }
    }
}

fn source(
    fields: &mut PageFields<'_>,
    node: &PageNode,
    scope: &ExpressionScope<'_>,
    part: Option<&Part>,
) -> Option<Source> {
    let plain = match &node.value {
        yaml::PageValue::Flag(flag) => inventory::FactValue::Flag(*flag),
        yaml::PageValue::Integer(n) => inventory::FactValue::Integer(*n),
        yaml::PageValue::Number(n) => inventory::FactValue::Number(*n),
        yaml::PageValue::Text(text) if is_placeholder(text) => {
            return program(fields, text, &node.at, scope).map(Source::Computed);
        }
        yaml::PageValue::Text(text) if text.contains(['{', '}']) => {
            return match MessageTemplate::parse(text, scope) {
                Ok(template) => Some(Source::Text(template)),
                Err(problem) => {
                    fields.wrong(&node.at, problem.message, problem.help);
                    None
                }
            };
        }
        yaml::PageValue::Text(text) => inventory::FactValue::text(&**text),
        _ => {
            fields.wrong(&node.at, "a fix must write a string, a number, true or false", None);
            return None;
        }
    };
    if let Some(Part::Fact(key)) = part
        && plain.clone().conform(key.value_type()).is_none()
    {
        let message = format!("`{}` is {}, and this value is not", key.name(), key.value_type().name());
        fields.wrong(&node.at, message, None);
        return None;
    }
    Some(Source::Plain(plain))
}
