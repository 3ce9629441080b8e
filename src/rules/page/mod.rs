//! Reads and checks a rule file.

mod expression;
mod extends;
mod fields;
mod fix;
mod matching;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::diagnostic::Level;
use crate::inventory::{WantedObjects, WantedRaw};
use crate::languages::cel::nearest;
use crate::languages::cel::{self, CelType, CelValue, ExpressionScope, Program, ScopeVariable, VariableMeaning};

pub use super::facts::LooksAt;
use super::facts::{self, SCOPES, SeenBy};
use super::names::{KnownNames, UnknownName};
use super::settings::{ParameterValue, Profile};
use super::template::MessageTemplate;
use super::yaml::{self, PageName, PageNode};
use super::{Confidence, Layer, Risk};
use fields::PageFields;
pub(super) use fix::Remedy;
pub(super) use matching::FactMatch;

/// A rule as its file defines it.
#[derive(Debug)]
pub struct RuleFile {
    pub name: String,
    pub group: String,
    pub layer: Layer,
    pub level: Level,
    pub risk: Risk,
    /// Maximum confidence of its findings, even if the facts are more certain.
    pub confidence: Confidence,
    pub since: String,
    pub profile: Profile,
    pub looks_at: LooksAt,
    /// The built-in rule that this one extends.
    pub extends: Option<String>,
    pub parameters: Vec<Declared>,
    /// Whether the rule file has no examples on purpose.
    pub untested: bool,
    /// The level of a finding if the rule cannot be evaluated.
    pub undetermined: Option<Level>,
    /// The text of the rule file.
    pub text: Cow<'static, str>,
    /// Byte at which the prose starts.
    pub prose: usize,
    pub(super) matches: Vec<FactMatch>,
    pub(super) raw: RawUse,
    constants: cel::CelMap,
    /// Rules that offer alternatives to the same setting and rank higher.
    pub(super) yields_to: Vec<String>,
    /// API group, version and plural of the custom resources that the rule matches: `gpu.acme.example/v1/gpuleases`.
    pub(super) api: Option<String>,
    /// Former names of the rule, which settings and suppressions may still use.
    pub(super) replaces: Vec<String>,
    /// The list that a rule about everything evaluates one by one.
    grouping: OnceLock<Option<Grouping>>,
    when: OnceLock<Vec<PageExpression>>,
    speech: OnceLock<Speech>,
    /// The parsed front matter, from which output and condition are read when they are first needed.
    front: Option<&'static Front>,
}

/// The list that a rule about everything evaluates one by one.
#[derive(Debug)]
pub(super) struct Grouping {
    /// The list.
    pub(super) each: PageExpression,
    /// The resources of one member.
    pub(super) members: Option<PageExpression>,
    /// The amount of one member, and its limit.
    pub(super) amount: Option<PageExpression>,
    pub(super) limit: Option<PageExpression>,
    /// A number that makes the finding of a member worse if it grows.
    pub(super) size: Option<PageExpression>,
}

impl Grouping {
    fn expressions(&self) -> impl Iterator<Item = &PageExpression> {
        [Some(&self.each), self.members.as_ref(), self.amount.as_ref(), self.limit.as_ref(), self.size.as_ref()]
            .into_iter()
            .flatten()
    }
}

/// The output of a rule, needed only after its condition holds for something.
#[derive(Debug, Default)]
pub(super) struct Speech {
    /// The places that a finding may point at. The first one that the files set is used.
    pub(super) at: Vec<PointAt>,
    pub(super) related: Vec<usize>,
    pub(super) messages: Vec<MessageTemplate>,
    pub(super) help: Vec<MessageTemplate>,
    pub(super) saves: Option<PageExpression>,
    pub(super) fix: Option<Remedy>,
    /// The paths in objects and blocks that it uses.
    pub(super) paths: Vec<facts::RawPath>,
}

/// The front matter of a built-in rule, parsed at build time.
#[derive(Debug)]
pub(super) struct Front {
    /// The text of the rule file.
    pub(super) text: &'static str,
    pub(super) node: PageNode,
    /// The byte range in the rule file.
    pub(super) at: Range<usize>,
    /// Whether an expression uses objects or blocks.
    pub(super) may_look_at_raw: bool,
}

/// Returns true if the text is a name of lower-case letters, digits and dashes.
pub fn is_name(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.split('-').all(is_word) && text.len() <= 64
}

/// A place that a finding points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PointAt {
    /// The index of a fact in the rule's scope.
    Fact(usize),
    Part(facts::RawPath),
}

/// The raw data that a rule uses in addition to facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RawUse {
    /// Whether the rule uses manifests of resources.
    pub(super) object: bool,
    pub(super) block: bool,
    pub(super) objects: bool,
    pub(super) blocks: bool,
    /// Whether the rule uses the pods of objects.
    pub(super) pods: bool,
    /// Whether a rule about one resource uses all resources.
    pub(super) resources: bool,
}

impl RawUse {
    /// Returns the raw data that must be read; `kinds` are those that a rule about objects matches.
    pub(super) fn wanted(self, looks_at: LooksAt, kinds: Option<BTreeSet<String>>) -> WantedRaw {
        let objects = match (looks_at, kinds) {
            _ if self.objects => WantedObjects::All,
            (LooksAt::Object, Some(kinds)) => WantedObjects::Kinds(kinds),
            (LooksAt::Object, None) => WantedObjects::All,
            _ if self.object => WantedObjects::OfResources,
            _ => WantedObjects::None,
        };
        WantedRaw { blocks: self.block || self.blocks, objects, pods: self.pods }
    }

    /// Returns true if the rule may read all objects or blocks for each one of them.
    pub(super) fn everything(self) -> bool {
        self.objects || self.blocks || self.resources
    }
}

/// A parameter of a rule.
#[derive(Debug, Clone)]
pub struct Declared {
    pub name: String,
    pub meaning: String,
    pub(super) value: CelValue,
}

impl Declared {
    /// Returns the value if it is a number.
    pub fn number(&self) -> Option<f64> {
        self.value.as_number()
    }

    pub fn is_whole(&self) -> bool {
        matches!(self.value, CelValue::Integer(_))
    }

    /// Returns the value in the form of the settings.
    pub fn as_parameter(&self) -> Option<ParameterValue> {
        as_parameter(&self.value)
    }

    /// Formats the value for messages.
    pub fn text(&self) -> String {
        match &self.value {
            CelValue::Map(map) => {
                let entry = |(key, value): (&CelValue, &CelValue)| {
                    let (key, value) = (super::template::plain(key), value.clone());
                    let part = Declared { name: String::new(), meaning: String::new(), value };
                    format!("{key}: {}", part.text())
                };
                format!("{{ {} }}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
            value => super::template::plain(value),
        }
    }
}

/// Converts a value to the form of the settings.
fn as_parameter(value: &CelValue) -> Option<ParameterValue> {
    Some(match value {
        CelValue::Flag(flag) => ParameterValue::Flag(*flag),
        CelValue::Integer(number) => ParameterValue::Integer(*number),
        CelValue::Double(number) => ParameterValue::Number(*number),
        CelValue::Text(text) => ParameterValue::Text(text.to_string()),
        CelValue::List(items) => ParameterValue::Texts(items.iter().map(super::template::plain).collect()),
        CelValue::Map(map) => {
            let entries =
                map.iter().filter_map(|(key, value)| Some((super::template::plain(key), as_parameter(value)?)));
            ParameterValue::Map(entries.collect())
        }
        _ => return None,
    })
}

#[derive(Debug)]
pub(super) struct PageExpression {
    pub(super) program: Program,
    /// Start byte in the rule file, for error messages.
    pub(super) start: usize,
    /// Text and place of the expression; `None` if it is inherited from the extended rule.
    pub(super) written: Option<(String, Range<usize>)>,
    /// The place of each conjunct that compares a fact with literals.
    compares: Vec<(cel::Comparison, Range<usize>)>,
    /// Literal names and paths of the expression, with their places in the rule file.
    named: Vec<(Named, Range<usize>)>,
}

impl PageExpression {
    /// Returns the kinds that the expression requires, if it requires some.
    pub(super) fn accepted_kinds(&self) -> Option<&[CelValue]> {
        self.compares.iter().find(|(it, _)| &*it.fact == "kind").and_then(|(it, _)| it.accepted())
    }

    /// Returns whether a conjunct excludes this value of a fact.
    pub(super) fn excludes(&self, fact: &str, value: &CelValue) -> bool {
        self.compares.iter().any(|(it, _)| &*it.fact == fact && !it.holds(value))
    }
}

/// A literal name or path in an expression.
#[derive(Debug)]
enum Named {
    Said(cel::NameUse, Arc<str>),
    Path(Vec<Arc<str>>),
}

/// A part of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    pub text: String,
    /// The line of the rule file, from 1.
    pub line: usize,
    /// The byte range in the rule file.
    pub at: Range<usize>,
    /// The value of this operand that leaves the rest of the condition unchanged: true for `&&`, false for `||`.
    neutral: bool,
}

impl Operand {
    /// Returns the rule file without this operand.
    pub fn dropped(&self, page: &str) -> String {
        let (before, behind) = (page.get(..self.at.start), page.get(self.at.end..));
        format!("{}{}{}", before.unwrap_or_default(), self.neutral, behind.unwrap_or_default())
    }
}

/// Joins the lines of a text.
pub(super) fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A mistake in a rule file, with its byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageMistake {
    pub at: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

impl PageMistake {
    pub(super) fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        PageMistake { at, message: message.into(), help: None }
    }

    #[must_use]
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The size limit of a rule file.
const MAX_BYTES: usize = 256 << 10;

/// The line that opens and closes front matter.
const FENCE: &str = "---";

impl RuleFile {
    /// Reads a rule file; `parameters` replace its defaults.
    pub fn read(text: &str, parameters: &[(&str, &ParameterValue)]) -> Result<RuleFile, Vec<PageMistake>> {
        let front = front_matter(text).map_err(|mistake| vec![mistake])?;
        let node = yaml::parse(&text[front.clone()])
            .map_err(|broken| vec![PageMistake::new(shifted(broken.at, front.start), broken.message)])?;
        let mut fields = PageFields::new(node, text, front.clone());
        extends::inherit(&mut fields);
        match build(&mut fields, front.end, parameters, None) {
            Some(page) if fields.mistakes.is_empty() => Ok(RuleFile { text: text.to_owned().into(), ..page }),
            _ => Err(fields.mistakes),
        }
    }

    /// Reads a built-in rule file. A test proves that all of them load, so expressions are read when they are first
    /// needed.
    pub(super) fn built_in(
        front: &'static Front,
        parameters: &[(&str, &ParameterValue)],
    ) -> Result<RuleFile, Vec<PageMistake>> {
        let mut fields = PageFields::new(front.node.clone(), front.text, front.at.clone());
        // Parameters from settings may be wrong, and the required raw data must be known before files are read.
        let later = (parameters.is_empty() && !front.may_look_at_raw).then_some(front);
        match build(&mut fields, front.at.end, parameters, later) {
            Some(page) if fields.mistakes.is_empty() => Ok(RuleFile { text: front.text.into(), ..page }),
            _ => Err(fields.mistakes),
        }
    }

    /// Returns the names in `match` and conditions that do not exist.
    pub fn unknown_names(&self, names: &KnownNames) -> Vec<PageMistake> {
        let mistake = |unknown: UnknownName, at: &Range<usize>| PageMistake {
            at: at.clone(),
            message: unknown.message,
            help: unknown.help,
        };
        let mut all = Vec::new();
        let mut kinds: Vec<&str> = Vec::new();
        let schema = facts::implied(self.looks_at).map(|(_, schema)| schema);
        for wanted in &self.matches {
            let Some(fact) = schema.and_then(|schema| Some((schema.name, schema.fields.get(wanted.fact)?.name))) else {
                continue;
            };
            for (value, at) in wanted.accepts.iter().zip(&wanted.places) {
                let Some(text) = value.as_text() else { continue };
                if fact.1 == "kind" {
                    kinds.push(text);
                }
                let unknown = names.unknown(cel::NameUse::Fact(fact.0, fact.1), text);
                all.extend(unknown.map(|it| mistake(it, at)));
            }
        }
        let conditions = self.grouping().into_iter().flat_map(Grouping::expressions).chain(self.when());
        for (named, at) in conditions.chain(&self.speech().saves).flat_map(|it| &it.named) {
            let unknown = match named {
                Named::Said(to, text) => names.unknown(*to, text),
                Named::Path(path) => names.misspelt(path, &kinds).map(|(_, unknown)| unknown),
            };
            all.extend(unknown.map(|it| mistake(it, at)));
        }
        all
    }

    /// Returns the parts of the condition that could be removed: each operand of `&&` and `||`, else the whole
    /// condition.
    pub fn operands(&self) -> Vec<Operand> {
        let of = |when: &PageExpression| {
            let Some((text, at)) = &when.written else { return Vec::new() };
            let mut all = when.program.operands();
            if all.is_empty() {
                all.push((0..text.len(), true));
            }
            let operand = |(part, neutral): (Range<usize>, bool)| {
                let place = |offset| expression::place_in(&self.text, at, text, offset);
                let place = place(part.start)..place(part.end);
                let line = self.text.get(..place.start)?.matches('\n').count() + 1;
                Some(Operand { text: one_blank(text.get(part)?), line, at: place, neutral })
            };
            all.into_iter().filter_map(operand).collect::<Vec<Operand>>()
        };
        self.when().iter().flat_map(of).collect()
    }

    /// Returns the line of a part of an expression.
    pub(super) fn line_of(&self, when: &PageExpression, offset: usize) -> usize {
        let place = when.written.as_ref().map(|(text, at)| expression::place_in(&self.text, at, text, offset));
        self.text.get(..place.unwrap_or(when.start)).unwrap_or_default().matches('\n').count() + 1
    }

    /// Returns true if the rule has a fix.
    pub fn has_fix(&self) -> bool {
        self.speech().fix.is_some()
    }

    /// Returns true if the output or the condition of the rule uses this variable.
    pub fn names(&self, variable: &str) -> bool {
        let (speech, grouping) = (self.speech(), self.grouping());
        let conditions = grouping.into_iter().flat_map(Grouping::expressions).chain(self.when()).chain(&speech.saves);
        let told = speech.messages.iter().chain(&speech.help).flat_map(MessageTemplate::programs);
        let mut named = conditions.map(|it| &it.program).chain(told).flat_map(Program::names);
        named.any(|names| names.first().is_some_and(|first| &**first == variable))
    }

    pub(super) fn grouping(&self) -> Option<&Grouping> {
        self.grouping.get_or_init(|| self.read_later(grouping)).as_ref()
    }

    /// Returns the conditions, which must all hold. Read only after `match` holds for something.
    pub(super) fn when(&self) -> &[PageExpression] {
        self.when.get_or_init(|| self.read_later(when))
    }

    pub(super) fn speech(&self) -> &Speech {
        self.speech.get_or_init(|| {
            let conditions: Vec<&PageExpression> = self.when().iter().collect();
            self.read_later(|fields, looks_at, parameters| speech(fields, looks_at, parameters, &conditions).0)
        })
    }

    /// Reads a deferred part of a built-in rule file.
    fn read_later<T: Default>(&self, read: impl FnOnce(&mut PageFields<'_>, LooksAt, &[Declared]) -> T) -> T {
        let Some(front) = self.front else { return T::default() };
        let mut fields = PageFields::new(front.node.clone(), &self.text, front.at.clone());
        fields.proven = true;
        let part = read(&mut fields, self.looks_at, &self.parameters);
        if let Some(mistake) = fields.mistakes.first() {
            unreachable!("the built-in rule file `{}`: {}", self.name, mistake.message);
        }
        part
    }

    /// Returns the parameters with their values.
    pub(super) fn constants(&self) -> &cel::CelMap {
        &self.constants
    }

    /// Returns the prose and the examples.
    pub fn body(&self) -> &str {
        self.text.get(self.prose..).unwrap_or_default()
    }

    /// Returns the raw data that the rule uses in addition to facts.
    pub(super) fn wanted_raw(&self) -> WantedRaw {
        let kinds =
            self.matches.iter().find(|it| self.looks_at == LooksAt::Object && Some(it.fact) == facts::kind_of_object());
        let named = kinds.map(|it| it.accepts.iter().filter_map(CelValue::as_text).map(str::to_owned).collect());
        self.raw.wanted(self.looks_at, named)
    }

    /// Returns the first sentence of the prose; empty if code or another heading comes first.
    pub fn summary(&self) -> &str {
        let mut lines = self.body().lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# "));
        lines.next().filter(|line| !line.starts_with("```") && !line.starts_with('#')).unwrap_or_default()
    }
}

/// Returns the byte range between the two `---` lines.
fn front_matter(text: &str) -> Result<Range<usize>, PageMistake> {
    let help = "start the rule file with `---`, its front matter, and `---` again";
    if text.len() > MAX_BYTES {
        return Err(PageMistake::new(
            0..0,
            format!("the rule file has {} bytes, and the limit is {MAX_BYTES}", text.len()),
        ));
    }
    let mark = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut at = mark;
    let mut start = None;
    for line in text[mark..].split_inclusive('\n') {
        if line.trim_end() == FENCE {
            match start {
                None => start = Some(at + line.len()),
                Some(start) => return Ok(start..at),
            }
        } else if start.is_none() && !line.trim().is_empty() {
            return Err(
                PageMistake::new(at..at + line.trim_end().len(), "the rule file has no front matter").with_help(help)
            );
        }
        at += line.len();
    }
    let what =
        if start.is_some() { "the front matter has no closing `---`" } else { "the rule file has no front matter" };
    Err(PageMistake::new(0..0, what).with_help(help))
}

fn shifted(at: Range<usize>, by: usize) -> Range<usize> {
    at.start + by..at.end + by
}

/// Builds the rule as far as possible and records every mistake. Output and condition may be read later.
fn build(
    fields: &mut PageFields,
    prose: usize,
    given: &[(&str, &ParameterValue)],
    later: Option<&'static Front>,
) -> Option<RuleFile> {
    let name = fields.kebab("name");
    let group = if fields.has("group") { fields.kebab("group") } else { Some("governance".to_owned()) };
    let layer = fields.choice("layer", &Layer::ALL.map(|it| (it.name(), it)), Some(Layer::Procurement));
    let level = fields.choice("level", &Level::ALL.map(|it| (it.name(), it)), Some(Level::Warning));
    let risk = fields.choice("risk", &Risk::ALL.map(|it| (it.name(), it)), Some(Risk::Low));
    let confidence = fields.choice("confidence", &Confidence::ALL.map(|it| (it.name(), it)), Some(Confidence::High));
    let profile = fields.choice("profile", &Profile::ALL.map(|it| (it.name(), it)), Some(Profile::Standard));
    let looks_at = fields.choice("for", &SCOPES, Some(LooksAt::Resource));
    let since = fields.text("since").unwrap_or_default();
    let untested = fields.flag("untested").unwrap_or(false);
    let parameters = parameters(fields, given);
    let looks_at = looks_at?;
    let matches = matching::read(fields, looks_at);
    let (filled_grouping, filled_when, filled, raw) = match later {
        Some(_) => (OnceLock::new(), OnceLock::new(), OnceLock::new(), raw_use(&[], looks_at, &[]).0),
        None => expressions(fields, looks_at, &parameters),
    };
    demand_words(fields, looks_at, matches.is_empty());
    let yields_to = fields.texts("yields-to").into_iter().map(|(name, _)| name.into_owned()).collect();
    let api = fields.text("api");
    let replaces = fields.texts("replaces").into_iter().map(|(name, _)| name.into_owned()).collect();
    if later.is_none() {
        fields.refuse_others();
    }
    let conditions = filled_when.get().into_iter().flatten();
    fields.mistakes.extend(conditions.flat_map(|when| never_true(when, &matches, looks_at)));
    // Skipped after other errors, because these may cause an error here.
    if later.is_none() && fields.mistakes.is_empty() {
        fields.refuse_unused_parameters();
    }
    Some(RuleFile {
        name: name?,
        group: group?,
        layer: layer?,
        level: level?,
        risk: risk?,
        confidence: confidence?,
        since,
        profile: profile?,
        looks_at,
        extends: fields.extended(),
        constants: constants(&parameters),
        parameters,
        raw,
        untested,
        undetermined: None,
        text: Cow::Borrowed(""),
        prose: prose + FENCE.len(),
        matches,
        yields_to,
        api,
        replaces,
        grouping: filled_grouping,
        when: filled_when,
        speech: filled,
        front: later,
    })
}

type Expressions = (OnceLock<Option<Grouping>>, OnceLock<Vec<PageExpression>>, OnceLock<Speech>, RawUse);

/// Reads the output and the condition of the rule, with the paths in objects and blocks that they use.
fn expressions(fields: &mut PageFields, looks_at: LooksAt, parameters: &[Declared]) -> Expressions {
    let grouping = grouping(fields, looks_at, parameters);
    let when = when(fields, looks_at, parameters);
    let conditions = grouping.iter().flat_map(Grouping::expressions).chain(&when);
    let (speech, raw) = speech(fields, looks_at, parameters, &conditions.collect::<Vec<_>>());
    (OnceLock::from(grouping), OnceLock::from(when), OnceLock::from(speech), raw)
}

/// Requires a message and a condition, except for `for: text` rules, whose messages gpulint writes itself.
fn demand_words(fields: &mut PageFields, looks_at: LooksAt, matches_nothing: bool) {
    let speaks = looks_at != LooksAt::Text;
    if speaks && !fields.has("message") {
        fields.missing("message");
    }
    if speaks && matches_nothing && !fields.has("when") && !fields.has("match") {
        fields.missing("when");
    }
}

/// Reads the list that the rule evaluates one by one.
fn grouping(fields: &mut PageFields, looks_at: LooksAt, parameters: &[Declared]) -> Option<Grouping> {
    if !fields.has("each") {
        for field in ["members", "amount", "limit", "size"] {
            if fields.has(field) {
                let at = fields.place(field);
                fields.take(field);
                fields.wrong(&at, format!("`{field}` needs `each`: it describes one member of that list"), None);
            }
        }
        return None;
    }
    if !matches!(looks_at, LooksAt::Repository | LooksAt::Change) {
        let at = fields.place("each");
        fields.wrong(&at, "`each` needs `for: repository` or `for: change`", None);
    }
    let scope =
        ExpressionScope { proven: fields.proven, ..scope(looks_at, parameters, Words { grouped: true, told: false }) };
    Some(Grouping {
        each: fields.expression("each", &scope, None)?,
        members: fields.expression("members", &scope, None),
        amount: fields.expression("amount", &scope, Some(&CelType::Double)),
        limit: fields.expression("limit", &scope, Some(&CelType::Double)),
        size: fields.expression("size", &scope, Some(&CelType::Double)),
    })
}

/// Reads the conditions of the rule.
fn when(fields: &mut PageFields, looks_at: LooksAt, parameters: &[Declared]) -> Vec<PageExpression> {
    let words = Words { grouped: fields.has("each"), told: false };
    fields.conditions(&ExpressionScope { proven: fields.proven, ..scope(looks_at, parameters, words) })
}

/// Reads the output of the rule, with the raw data that it and the condition use.
fn speech(
    fields: &mut PageFields,
    looks_at: LooksAt,
    parameters: &[Declared],
    conditions: &[&PageExpression],
) -> (Speech, RawUse) {
    let grouped = fields.has("each");
    let scope =
        ExpressionScope { proven: fields.proven, ..scope(looks_at, parameters, Words { grouped, told: false }) };
    let told =
        ExpressionScope { proven: fields.proven, ..self::scope(looks_at, parameters, Words { grouped, told: true }) };
    let saves = fields.expression("saves", &scope, Some(&CelType::Double));
    let at = fields.places("at", looks_at);
    let related = fields.facts("related");
    let messages = fields.templates("message", &told);
    let help = fields.templates("help", &told);
    let fix = fix::read(fields, looks_at, &told);
    let expressions = conditions.iter().copied().chain(&saves).map(|it| &it.program);
    let programs: Vec<&Program> =
        expressions.chain(messages.iter().chain(&help).flat_map(MessageTemplate::programs)).collect();
    let (raw, paths) = raw_use(&programs, looks_at, &at);
    (Speech { at, related, messages, help, saves, fix, paths }, raw)
}

/// Returns conjuncts that contradict `match`, so that the condition can never be true.
fn never_true(when: &PageExpression, matches: &[FactMatch], looks_at: LooksAt) -> Vec<PageMistake> {
    let Some((_, schema)) = facts::implied(looks_at) else { return Vec::new() };
    let refused = |(compare, at): &(cel::Comparison, Range<usize>)| {
        let place = schema.field(&compare.fact)?;
        let wanted = matches.iter().find(|it| it.fact == place)?;
        // A list may contain several values, so two conditions on it do not contradict each other.
        if matches!(schema.fields.get(place)?.holds, CelType::List(_))
            || wanted.accepts.iter().any(|it| compare.holds(it))
        {
            return None;
        }
        let values: Vec<String> = wanted.accepts.iter().map(super::template::plain).collect();
        let message =
            format!("`when` can never be true: `match` requires that `{}` is {}", compare.fact, values.join(" or "));
        Some(PageMistake::new(at.clone(), message).with_help("change one of the two"))
    };
    when.compares.iter().filter_map(refused).collect()
}

/// Returns the raw data that programs use in addition to facts, with the paths in it.
pub(super) fn raw_use(programs: &[&Program], looks_at: LooksAt, at: &[PointAt]) -> (RawUse, Vec<facts::RawPath>) {
    let mut used =
        RawUse { object: looks_at == LooksAt::Object, block: looks_at == LooksAt::Block, ..RawUse::default() };
    let mut paths = Vec::new();
    let pointed = at.iter().filter_map(|at| match at {
        PointAt::Part(path) => Some(if path.is_object { "object" } else { "block" }),
        PointAt::Fact(_) => None,
    });
    let mut note = |name: &str| match name {
        "object" => used.object = true,
        "block" => used.block = true,
        "pod" | "pods" => (used.pods, used.object) = (true, true),
        "resources" => used.resources = true,
        "objects" => used.objects = true,
        "blocks" | "references()" | "referenced_by()" => used.blocks = true,
        _ => {}
    };
    pointed.for_each(&mut note);
    for names in programs.iter().flat_map(|program| program.names()) {
        // `resource.object` and `it.block` are the same as `object` and `block`.
        names.iter().take(2).for_each(|name| note(name));
        let names = if names.first().is_some_and(|name| &**name == "resource") { &names[1..] } else { &names };
        paths.extend(facts::RawPath::of(names));
    }
    paths.sort();
    paths.dedup();
    (used, paths)
}

fn constants(parameters: &[Declared]) -> cel::CelMap {
    let mut values = cel::CelMap::default();
    for parameter in parameters {
        values.set(&parameter.name, parameter.value.clone());
    }
    values
}

/// Additional names that an expression may use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words {
    /// Whether the rule has `each`.
    grouped: bool,
    /// Whether the expression is in a message.
    told: bool,
}

/// Returns the names that the expressions of a rule can use.
pub(super) fn scope(looks_at: LooksAt, parameters: &[Declared], words: Words) -> ExpressionScope<'static> {
    let values = constants(parameters);
    let seen = |by: SeenBy| match by {
        SeenBy::Any => true,
        SeenBy::Messages => words.told,
        SeenBy::Group => words.grouped,
        SeenBy::Resource => looks_at == LooksAt::Resource,
        SeenBy::Whole => matches!(looks_at, LooksAt::Repository | LooksAt::Change),
        SeenBy::Change => looks_at == LooksAt::Change,
    };
    let mut variables: Vec<ScopeVariable<'static>> = facts::named()
        .into_iter()
        .filter(|named| seen(named.seen_by))
        .map(|named| ScopeVariable {
            name: named.name,
            holds: named.holds,
            stands_for: VariableMeaning::Host(named.number),
        })
        .collect();
    let params = CelValue::Map(values.into());
    variables.push(ScopeVariable {
        name: "params",
        holds: CelType::Any,
        stands_for: VariableMeaning::Constant(params),
    });
    ExpressionScope {
        variables,
        implied: facts::implied(looks_at),
        functions: facts::functions_for(facts::implied(looks_at).is_some()),
        ..ExpressionScope::default()
    }
}

/// Reads the parameters of the rule, with the values from settings.
fn parameters(fields: &mut PageFields, given: &[(&str, &ParameterValue)]) -> Vec<Declared> {
    let mut declared = Vec::new();
    for (name, node) in fields.map("params") {
        let (meaning, node) = fields.described(node);
        let Some(default) = constant(&node) else {
            fields.wrong(
                &node.at,
                "a parameter must be a bool, a number, a string, a list of strings or a map of these",
                None,
            );
            continue;
        };
        let value = match given.iter().rev().find(|(given, _)| *given == name.text) {
            Some((_, given)) => conform(given, &default).unwrap_or(default),
            None => default,
        };
        declared.push(Declared { name: name.text.into_owned(), meaning, value });
    }
    declared
}

fn constant(node: &PageNode) -> Option<CelValue> {
    Some(match &node.value {
        yaml::PageValue::Flag(flag) => CelValue::Flag(*flag),
        yaml::PageValue::Integer(n) => CelValue::Integer(*n),
        yaml::PageValue::Number(n) => CelValue::Double(*n),
        yaml::PageValue::Text(text) => CelValue::text(&**text),
        yaml::PageValue::List(items) => CelValue::list(items.iter().map(constant).collect::<Option<Vec<CelValue>>>()?),
        yaml::PageValue::Map(entries) => {
            let mut map = cel::CelMap::lenient(None);
            for (name, node) in entries.iter() {
                map.set(&name.text, constant(node)?);
            }
            CelValue::Map(map.into())
        }
        yaml::PageValue::Null => return None,
    })
}

/// Converts a value from settings to the type of the default; `None` if it does not have that type.
pub(super) fn conform(given: &ParameterValue, default: &CelValue) -> Option<CelValue> {
    Some(match (given, default) {
        (ParameterValue::Flag(flag), CelValue::Flag(_)) => CelValue::Flag(*flag),
        (ParameterValue::Integer(n), CelValue::Integer(_)) => CelValue::Integer(*n),
        (ParameterValue::Integer(n), CelValue::Double(_)) => CelValue::Double(*n as f64),
        (ParameterValue::Number(n), CelValue::Double(_)) => CelValue::Double(*n),
        (ParameterValue::Number(n), CelValue::Integer(_)) if n.fract() == 0.0 && n.abs() < 9e15 => {
            CelValue::Integer(*n as i64)
        }
        (ParameterValue::Text(text), CelValue::Text(_)) => CelValue::text(text.as_str()),
        (ParameterValue::Texts(texts), CelValue::List(_)) => {
            CelValue::list(texts.iter().map(|text| CelValue::text(text.as_str())))
        }
        (ParameterValue::Map(entries), CelValue::Map(default)) => {
            let mut all = cel::CelMap::clone(default);
            for (key, given) in entries {
                all.set(key, conform_entry(given, key, default)?);
            }
            CelValue::Map(all.into())
        }
        _ => return None,
    })
}

/// Checks an entry of a map against the default's entry with the same name, or else against its other entries. For
/// maps, all their names count.
fn conform_entry(given: &ParameterValue, key: &str, default: &cel::CelMap) -> Option<CelValue> {
    let own = default.get(&cel::MapKey::Text(key.into()));
    let members = || default.iter().map(|(_, value)| value);
    if default.len() == 0 {
        return Some(free(given));
    }
    match (given, own.or_else(|| members().next())?) {
        (ParameterValue::Map(entries), CelValue::Map(_)) => {
            let mut all = match own {
                Some(CelValue::Map(own)) => cel::CelMap::clone(own),
                _ => cel::CelMap::lenient(None),
            };
            for (name, given) in entries {
                let known = |value: &CelValue| match value {
                    CelValue::Map(map) => map.get(&cel::MapKey::Text(name.as_str().into())).cloned(),
                    _ => None,
                };
                all.set(name, conform(given, &members().find_map(known)?)?);
            }
            Some(CelValue::Map(all.into()))
        }
        (given, like) => conform(given, like),
    }
}

/// Converts a value for which the rule file has no default.
fn free(given: &ParameterValue) -> CelValue {
    match given {
        ParameterValue::Flag(flag) => CelValue::Flag(*flag),
        ParameterValue::Integer(n) => CelValue::Integer(*n),
        ParameterValue::Number(n) => CelValue::Double(*n),
        ParameterValue::Text(text) => CelValue::text(text.as_str()),
        ParameterValue::Texts(texts) => CelValue::list(texts.iter().map(|text| CelValue::text(text.as_str()))),
        ParameterValue::Map(entries) => {
            let mut map = cel::CelMap::lenient(None);
            entries.iter().for_each(|(key, value)| map.set(key, free(value)));
            CelValue::Map(map.into())
        }
    }
}

/// Returns the type of a parameter for messages.
pub(super) fn kind_of(value: &CelValue) -> String {
    match value {
        CelValue::Integer(_) => "a whole number".to_owned(),
        CelValue::Double(_) => "a number".to_owned(),
        CelValue::Flag(_) => "true or false".to_owned(),
        CelValue::Text(_) => "a text".to_owned(),
        CelValue::Map(_) => "a map with the same types of values as the rule file has".to_owned(),
        _ => "a list of strings".to_owned(),
    }
}

/// Returns the most similar name as help.
fn meant<'a>(name: &PageName, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(&name.text, known).map(|near| format!("did you mean `{near}`?"))
}
