//! A page: the text of a rule, read and checked.

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
use crate::languages::cel::{self, CelValue, ExpressionScope, Program, ScopeVariable, Type, VariableMeaning};

pub use super::facts::LooksAt;
use super::facts::{self, SCOPES, SeenBy};
use super::names::{KnownNames, Unknown};
use super::settings::{Parameter, Profile};
use super::template::MessageTemplate;
use super::yaml::{self, PageName, PageNode};
use super::{Confidence, Layer, Risk};
use fields::Fields;
pub(super) use fix::Remedy;
pub(super) use matching::Match;

/// A rule as its page defines it.
#[derive(Debug)]
pub struct Page {
    pub name: String,
    pub group: String,
    pub layer: Layer,
    pub level: Level,
    pub risk: Risk,
    /// As sure as it may be at most, however sure the facts are.
    pub confidence: Confidence,
    pub since: String,
    pub profile: Profile,
    pub looks_at: LooksAt,
    /// The built-in rule that this one is made of.
    pub extends: Option<String>,
    pub parameters: Vec<Declared>,
    /// The page has no examples on purpose.
    pub untested: bool,
    /// The whole page.
    pub text: Cow<'static, str>,
    /// Where the prose starts.
    pub prose: usize,
    pub(super) matches: Vec<Match>,
    pub(super) raw: RawUse,
    constants: cel::Map,
    /// Rules that tell what to do instead of the same thing, and that come first.
    pub(super) yields_to: Vec<String>,
    /// Where a cluster keeps the custom resources that it is about: `gpu.acme.example/v1/gpuleases`.
    pub(super) api: Option<String>,
    /// What it was called before: settings and suppressions may go on calling it so.
    pub(super) replaces: Vec<String>,
    /// A rule about everything speaks of each of these by itself.
    grouping: OnceLock<Option<Grouping>>,
    when: OnceLock<Vec<PageExpression>>,
    speech: OnceLock<Speech>,
    /// Where to read both from when they are first needed.
    front: Option<&'static Front>,
}

/// What a rule about everything speaks of one by one.
#[derive(Debug)]
pub(super) struct Grouping {
    /// The list of them.
    pub(super) each: PageExpression,
    /// The resources of one of them.
    pub(super) members: Option<PageExpression>,
    /// What it comes to, and what it may come to at most.
    pub(super) amount: Option<PageExpression>,
    pub(super) limit: Option<PageExpression>,
}

impl Grouping {
    fn expressions(&self) -> impl Iterator<Item = &PageExpression> {
        [Some(&self.each), self.members.as_ref(), self.amount.as_ref(), self.limit.as_ref()].into_iter().flatten()
    }
}

/// What a rule says: needed only once its condition holds for something.
#[derive(Debug, Default)]
pub(super) struct Speech {
    /// What to point at: the first that stands in the text.
    pub(super) at: Vec<At>,
    pub(super) related: Vec<usize>,
    pub(super) messages: Vec<MessageTemplate>,
    pub(super) help: Vec<MessageTemplate>,
    pub(super) saves: Option<PageExpression>,
    pub(super) fix: Option<Remedy>,
    /// The parts of objects and blocks that it names.
    pub(super) paths: Vec<facts::RawPath>,
}

/// The front matter of a built-in page, read when the program was built.
#[derive(Debug)]
pub(super) struct Front {
    /// The whole page.
    pub(super) text: &'static str,
    pub(super) node: PageNode,
    /// Its bytes in the page.
    pub(super) at: Range<usize>,
    /// It speaks of objects or blocks in some word.
    pub(super) may_look_at_raw: bool,
}

/// Small letters, digits and dashes.
pub fn is_name(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    text.split('-').all(is_word) && text.len() <= 64
}

/// A place to point at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum At {
    /// Of the facts of what the rule looks at.
    Fact(usize),
    Part(facts::RawPath),
}

/// What a page looks at beside facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RawUse {
    /// The manifests of resources.
    pub(super) object: bool,
    pub(super) block: bool,
    pub(super) objects: bool,
    pub(super) blocks: bool,
    /// What objects make of pods.
    pub(super) pods: bool,
    /// All resources, in a rule about one thing.
    pub(super) resources: bool,
}

impl RawUse {
    /// What must be read for it; `kinds` are those that a rule about objects matches.
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

    /// It may look at each of them for each of them.
    pub(super) fn everything(self) -> bool {
        self.objects || self.blocks || self.resources
    }
}

/// A parameter of a page.
#[derive(Debug, Clone)]
pub struct Declared {
    pub name: String,
    pub meaning: String,
    pub(super) value: CelValue,
}

impl Declared {
    /// The value, where it is a number.
    pub fn number(&self) -> Option<f64> {
        self.value.as_number()
    }

    pub fn is_whole(&self) -> bool {
        matches!(self.value, CelValue::Integer(_))
    }

    /// The value as a configuration would give it.
    pub fn as_parameter(&self) -> Option<Parameter> {
        as_parameter(&self.value)
    }

    /// The value as a message shows it.
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

/// A value as a configuration would give it.
fn as_parameter(value: &CelValue) -> Option<Parameter> {
    Some(match value {
        CelValue::Flag(flag) => Parameter::Flag(*flag),
        CelValue::Integer(number) => Parameter::Integer(*number),
        CelValue::Double(number) => Parameter::Number(*number),
        CelValue::Text(text) => Parameter::Text(text.to_string()),
        CelValue::List(items) => Parameter::Texts(items.iter().map(super::template::plain).collect()),
        CelValue::Map(map) => {
            let entries =
                map.iter().filter_map(|(key, value)| Some((super::template::plain(key), as_parameter(value)?)));
            Parameter::Map(entries.collect())
        }
        _ => return None,
    })
}

#[derive(Debug)]
pub(super) struct PageExpression {
    pub(super) program: Program,
    /// Where it starts in the page, to tell where it failed.
    pub(super) start: usize,
    /// Its text, and where that stands in the page; nothing where it is that of the page that this one extends.
    pub(super) written: Option<(String, Range<usize>)>,
    /// Where each conjunct that compares a fact with plain values stands in the page.
    compares: Vec<(cel::Comparison, Range<usize>)>,
    /// Names and paths that it writes out, with their places in the page.
    named: Vec<(Named, Range<usize>)>,
}

/// What an expression calls something.
#[derive(Debug)]
enum Named {
    Said(cel::SaidTo, Arc<str>),
    Path(Vec<Arc<str>>),
}

/// A part of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    pub text: String,
    /// Of the page, counted from 1.
    pub line: usize,
    /// Bytes of the page.
    pub at: Range<usize>,
    /// The value in its place that leaves the rest as it is.
    neutral: bool,
}

impl Operand {
    /// The page without it.
    pub fn dropped(&self, page: &str) -> String {
        let (before, behind) = (page.get(..self.at.start), page.get(self.at.end..));
        format!("{}{}{}", before.unwrap_or_default(), self.neutral, behind.unwrap_or_default())
    }
}

/// A text of several lines on one.
pub(super) fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is wrong with a page, and where: bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub at: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

impl Mistake {
    pub(super) fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Mistake { at, message: message.into(), help: None }
    }

    #[must_use]
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The largest page that is read.
const MAX_BYTES: usize = 256 << 10;

/// The line that opens and closes front matter.
const FENCE: &str = "---";

impl Page {
    /// Reads a page; `parameters` replace its defaults.
    pub fn read(text: &str, parameters: &[(&str, &Parameter)]) -> Result<Page, Vec<Mistake>> {
        let front = front_matter(text).map_err(|mistake| vec![mistake])?;
        let node = yaml::parse(&text[front.clone()])
            .map_err(|broken| vec![Mistake::new(shifted(broken.at, front.start), broken.message)])?;
        let mut fields = Fields::new(node, text, front.clone());
        extends::inherit(&mut fields);
        match build(&mut fields, front.end, parameters, None) {
            Some(page) if fields.mistakes.is_empty() => Ok(Page { text: text.to_owned().into(), ..page }),
            _ => Err(fields.mistakes),
        }
    }

    /// Reads a built-in page. A test holds that all of them load, so what it says is read when it is first needed.
    pub(super) fn built_in(front: &'static Front, parameters: &[(&str, &Parameter)]) -> Result<Page, Vec<Mistake>> {
        let mut fields = Fields::new(front.node.clone(), front.text, front.at.clone());
        // Parameters that were given may be wrong, and what it looks at must be known before anything is read.
        let later = (parameters.is_empty() && !front.may_look_at_raw).then_some(front);
        match build(&mut fields, front.at.end, parameters, later) {
            Some(page) if fields.mistakes.is_empty() => Ok(Page { text: front.text.into(), ..page }),
            _ => Err(fields.mistakes),
        }
    }

    /// Names in `match` and in conditions that nothing has.
    pub fn unknown_names(&self, names: &KnownNames) -> Vec<Mistake> {
        let mistake = |unknown: Unknown, at: &Range<usize>| Mistake {
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
                let unknown = names.unknown(cel::SaidTo::Fact(fact.0, fact.1), text);
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

    /// The parts of its condition that could be left out: each operand of `&&` and `||`, else all of it.
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

    /// The line of the page where a part of an expression stands.
    pub(super) fn line_of(&self, when: &PageExpression, offset: usize) -> usize {
        let place = when.written.as_ref().map(|(text, at)| expression::place_in(&self.text, at, text, offset));
        self.text.get(..place.unwrap_or(when.start)).unwrap_or_default().matches('\n').count() + 1
    }

    /// It says what to write instead.
    pub fn has_fix(&self) -> bool {
        self.speech().fix.is_some()
    }

    /// Whether what it says, or when, depends on this variable.
    pub fn names(&self, variable: &str) -> bool {
        let (speech, grouping) = (self.speech(), self.grouping());
        let conditions = grouping.into_iter().flat_map(Grouping::expressions).chain(self.when()).chain(&speech.saves);
        let told = speech.messages.iter().chain(&speech.help).flat_map(MessageTemplate::programs);
        let mut named = conditions.map(|it| &it.program).chain(told).flat_map(|program| &program.names);
        named.any(|names| names.first().is_some_and(|first| &**first == variable))
    }

    pub(super) fn grouping(&self) -> Option<&Grouping> {
        self.grouping.get_or_init(|| self.read_later(grouping)).as_ref()
    }

    /// All of them must hold. Needed only once `match` holds for something.
    pub(super) fn when(&self) -> &[PageExpression] {
        self.when.get_or_init(|| self.read_later(when))
    }

    pub(super) fn speech(&self) -> &Speech {
        self.speech.get_or_init(|| {
            let conditions: Vec<&PageExpression> = self.when().iter().collect();
            self.read_later(|fields, looks_at, parameters| speech(fields, looks_at, parameters, &conditions).0)
        })
    }

    /// Reads a part of a built-in page that was left for later.
    fn read_later<T: Default>(&self, read: impl FnOnce(&mut Fields<'_>, LooksAt, &[Declared]) -> T) -> T {
        let Some(front) = self.front else { return T::default() };
        let mut fields = Fields::new(front.node.clone(), &self.text, front.at.clone());
        fields.proven = true;
        let part = read(&mut fields, self.looks_at, &self.parameters);
        if let Some(mistake) = fields.mistakes.first() {
            unreachable!("the embedded page `{}`: {}", self.name, mistake.message);
        }
        part
    }

    /// The parameters and their values.
    pub(super) fn constants(&self) -> &cel::Map {
        &self.constants
    }

    /// The prose and the examples.
    pub fn body(&self) -> &str {
        self.text.get(self.prose..).unwrap_or_default()
    }

    /// What it looks at beside facts.
    pub(super) fn wanted_raw(&self) -> WantedRaw {
        let kinds =
            self.matches.iter().find(|it| self.looks_at == LooksAt::Object && Some(it.fact) == facts::kind_of_object());
        let named = kinds.map(|it| it.accepts.iter().filter_map(CelValue::as_text).map(str::to_owned).collect());
        self.raw.wanted(self.looks_at, named)
    }

    /// The first sentence of the prose.
    pub fn summary(&self) -> &str {
        let mut lines = self.body().lines().map(str::trim);
        lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default()
    }
}

/// The bytes between the two lines of dashes.
fn front_matter(text: &str) -> Result<Range<usize>, Mistake> {
    let help = "a page starts with `---`, its front matter, and `---` again";
    if text.len() > MAX_BYTES {
        return Err(Mistake::new(
            0..0,
            format!("the page has {} bytes, more than the limit of {MAX_BYTES}", text.len()),
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
            return Err(Mistake::new(at..at + line.trim_end().len(), "the page has no front matter").with_help(help));
        }
        at += line.len();
    }
    let what = if start.is_some() { "the front matter does not end" } else { "the page has no front matter" };
    Err(Mistake::new(0..0, what).with_help(help))
}

fn shifted(at: Range<usize>, by: usize) -> Range<usize> {
    at.start + by..at.end + by
}

/// Builds what can be built, and notes everything that is wrong. What the rule says and when may be left for later.
fn build(
    fields: &mut Fields,
    prose: usize,
    given: &[(&str, &Parameter)],
    later: Option<&'static Front>,
) -> Option<Page> {
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
    // what uses it may be what is wrong
    if later.is_none() && fields.mistakes.is_empty() {
        fields.refuse_unused_parameters();
    }
    Some(Page {
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

/// What the rule says and when, with what of objects and blocks these look at.
fn expressions(fields: &mut Fields, looks_at: LooksAt, parameters: &[Declared]) -> Expressions {
    let grouping = grouping(fields, looks_at, parameters);
    let when = when(fields, looks_at, parameters);
    let conditions = grouping.iter().flat_map(Grouping::expressions).chain(&when);
    let (speech, raw) = speech(fields, looks_at, parameters, &conditions.collect::<Vec<_>>());
    (OnceLock::from(grouping), OnceLock::from(when), OnceLock::from(speech), raw)
}

/// What is said about the text itself is said by whoever reads it.
fn demand_words(fields: &mut Fields, looks_at: LooksAt, matches_nothing: bool) {
    let speaks = looks_at != LooksAt::Text;
    if speaks && !fields.has("message") {
        fields.missing("message");
    }
    if speaks && matches_nothing && !fields.has("when") && !fields.has("match") {
        fields.missing("when");
    }
}

/// What it speaks of one by one.
fn grouping(fields: &mut Fields, looks_at: LooksAt, parameters: &[Declared]) -> Option<Grouping> {
    if !fields.has("each") {
        for field in ["members", "amount", "limit"] {
            if fields.has(field) {
                let at = fields.place(field);
                fields.take(field);
                fields.wrong(&at, format!("`{field}` is said of one of those that `each` lists"), None);
            }
        }
        return None;
    }
    if !matches!(looks_at, LooksAt::Repository | LooksAt::Change) {
        let at = fields.place("each");
        fields.wrong(&at, "`each` is for rules `for: repository` or `for: change`", None);
    }
    let scope =
        ExpressionScope { proven: fields.proven, ..scope(looks_at, parameters, Words { grouped: true, told: false }) };
    Some(Grouping {
        each: fields.expression("each", &scope, None)?,
        members: fields.expression("members", &scope, None),
        amount: fields.expression("amount", &scope, Some(&Type::Double)),
        limit: fields.expression("limit", &scope, Some(&Type::Double)),
    })
}

/// When the rule speaks.
fn when(fields: &mut Fields, looks_at: LooksAt, parameters: &[Declared]) -> Vec<PageExpression> {
    let words = Words { grouped: fields.has("each"), told: false };
    fields.conditions(&ExpressionScope { proven: fields.proven, ..scope(looks_at, parameters, words) })
}

/// What the rule says, and what it looks at for that and for its condition.
fn speech(
    fields: &mut Fields,
    looks_at: LooksAt,
    parameters: &[Declared],
    conditions: &[&PageExpression],
) -> (Speech, RawUse) {
    let grouped = fields.has("each");
    let scope =
        ExpressionScope { proven: fields.proven, ..scope(looks_at, parameters, Words { grouped, told: false }) };
    let told =
        ExpressionScope { proven: fields.proven, ..self::scope(looks_at, parameters, Words { grouped, told: true }) };
    let saves = fields.expression("saves", &scope, Some(&Type::Double));
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

/// Conjuncts that `match` rules out: the condition can never be true.
fn never_true(when: &PageExpression, matches: &[Match], looks_at: LooksAt) -> Vec<Mistake> {
    let Some((_, schema)) = facts::implied(looks_at) else { return Vec::new() };
    let refused = |(compare, at): &(cel::Comparison, Range<usize>)| {
        let place = schema.field(&compare.fact)?;
        let wanted = matches.iter().find(|it| it.fact == place)?;
        // one member of a list may be this and another that
        if matches!(schema.fields.get(place)?.holds, Type::List(_)) || wanted.accepts.iter().any(|it| compare.holds(it))
        {
            return None;
        }
        let values: Vec<String> = wanted.accepts.iter().map(super::template::plain).collect();
        let message =
            format!("`when` can never be true: `match` says that `{}` is {}", compare.fact, values.join(" or "));
        Some(Mistake::new(at.clone(), message).with_help("change one of the two"))
    };
    when.compares.iter().filter_map(refused).collect()
}

/// What programs look at beside facts, and which parts of it.
pub(super) fn raw_use(programs: &[&Program], looks_at: LooksAt, at: &[At]) -> (RawUse, Vec<facts::RawPath>) {
    let mut used =
        RawUse { object: looks_at == LooksAt::Object, block: looks_at == LooksAt::Block, ..RawUse::default() };
    let mut paths = Vec::new();
    let pointed = at.iter().filter_map(|at| match at {
        At::Part(path) => Some(if path.is_object { "object" } else { "block" }),
        At::Fact(_) => None,
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
    for names in programs.iter().flat_map(|program| &program.names) {
        // `resource.object` and `it.block` name the same as `object` and `block`
        names.iter().take(2).for_each(|name| note(name));
        let names = if names.first().is_some_and(|name| &**name == "resource") { &names[1..] } else { names };
        paths.extend(facts::RawPath::of(names));
    }
    paths.sort();
    paths.dedup();
    (used, paths)
}

fn constants(parameters: &[Declared]) -> cel::Map {
    let mut values = cel::Map::default();
    for parameter in parameters {
        values.set(&parameter.name, parameter.value.clone());
    }
    values
}

/// Which words an expression of a page may use beside the usual ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Words {
    /// The page says `each`.
    grouped: bool,
    /// It stands in a message.
    told: bool,
}

/// What the expressions of a page may name.
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
    variables.push(ScopeVariable { name: "params", holds: Type::Any, stands_for: VariableMeaning::Constant(params) });
    ExpressionScope {
        variables,
        implied: facts::implied(looks_at),
        functions: facts::functions_for(facts::implied(looks_at).is_some()),
        ..ExpressionScope::default()
    }
}

/// The parameters of the page, with what is given for them.
fn parameters(fields: &mut Fields, given: &[(&str, &Parameter)]) -> Vec<Declared> {
    let mut declared = Vec::new();
    for (name, node) in fields.map("params") {
        let (meaning, node) = fields.described(node);
        let Some(default) = constant(&node) else {
            fields.wrong(&node.at, "a parameter is a bool, a number, a text, a list of texts or a map of these", None);
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
            let mut map = cel::Map::lenient(None);
            for (name, node) in entries.iter() {
                map.set(&name.text, constant(node)?);
            }
            CelValue::Map(map.into())
        }
        yaml::PageValue::Null => return None,
    })
}

/// What is given, as the type of the default; `None` where it does not have that type.
pub(super) fn conform(given: &Parameter, default: &CelValue) -> Option<CelValue> {
    Some(match (given, default) {
        (Parameter::Flag(flag), CelValue::Flag(_)) => CelValue::Flag(*flag),
        (Parameter::Integer(n), CelValue::Integer(_)) => CelValue::Integer(*n),
        (Parameter::Integer(n), CelValue::Double(_)) => CelValue::Double(*n as f64),
        (Parameter::Number(n), CelValue::Double(_)) => CelValue::Double(*n),
        (Parameter::Number(n), CelValue::Integer(_)) if n.fract() == 0.0 && n.abs() < 9e15 => {
            CelValue::Integer(*n as i64)
        }
        (Parameter::Text(text), CelValue::Text(_)) => CelValue::text(text.as_str()),
        (Parameter::Texts(texts), CelValue::List(_)) => {
            CelValue::list(texts.iter().map(|text| CelValue::text(text.as_str())))
        }
        (Parameter::Map(entries), CelValue::Map(default)) => {
            let mut all = cel::Map::clone(default);
            for (key, given) in entries {
                all.set(key, conform_entry(given, key, default)?);
            }
            CelValue::Map(all.into())
        }
        _ => return None,
    })
}

/// An entry of a map is what the default has under its name, or what the others of it are: of maps, with the names that any
/// of these has.
fn conform_entry(given: &Parameter, key: &str, default: &cel::Map) -> Option<CelValue> {
    let own = default.get(&cel::MapKey::Text(key.into()));
    let members = || default.iter().map(|(_, value)| value);
    if default.len() == 0 {
        return Some(free(given));
    }
    match (given, own.or_else(|| members().next())?) {
        (Parameter::Map(entries), CelValue::Map(_)) => {
            let mut all = match own {
                Some(CelValue::Map(own)) => cel::Map::clone(own),
                _ => cel::Map::lenient(None),
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

/// A value of which the page says nothing.
fn free(given: &Parameter) -> CelValue {
    match given {
        Parameter::Flag(flag) => CelValue::Flag(*flag),
        Parameter::Integer(n) => CelValue::Integer(*n),
        Parameter::Number(n) => CelValue::Double(*n),
        Parameter::Text(text) => CelValue::text(text.as_str()),
        Parameter::Texts(texts) => CelValue::list(texts.iter().map(|text| CelValue::text(text.as_str()))),
        Parameter::Map(entries) => {
            let mut map = cel::Map::lenient(None);
            entries.iter().for_each(|(key, value)| map.set(key, free(value)));
            CelValue::Map(map.into())
        }
    }
}

/// The type of a parameter as a message names it.
pub(super) fn kind_of(value: &CelValue) -> String {
    match value {
        CelValue::Integer(_) => "a whole number".to_owned(),
        CelValue::Double(_) => "a number".to_owned(),
        CelValue::Flag(_) => "true or false".to_owned(),
        CelValue::Text(_) => "a text".to_owned(),
        CelValue::Map(_) => "a map with such entries as the page has".to_owned(),
        _ => "a list of texts".to_owned(),
    }
}

/// The nearest of the names, as help.
fn meant<'a>(name: &PageName, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(&name.text, known).map(|near| format!("did you mean `{near}`?"))
}
