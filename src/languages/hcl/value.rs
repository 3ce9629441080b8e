//! Values as Terraform knows them, with unknown ones that say why.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::diagnostic::shortened;
use crate::source::Span;

pub use super::number::Number;

/// A value as Terraform knows it. Cloning is cheap: collections are shared.
#[derive(Debug, Clone)]
pub struct Value {
    pub data: Data,
    /// Where the value was written: the literal, not the reference that led to it.
    pub span: Span,
    pub sensitive: bool,
    /// Levels of collections below this one.
    depth: u8,
    /// Values in it, itself included, each counted as often as it can be reached.
    weight: u32,
    /// Something in it is not known, or sensitive: what walks through large values again and again looks here first.
    open: bool,
    secret: bool,
}

/// Collections are shared, so that a few lines can build values that are larger or deeper than any memory or stack if
/// they are walked. Those beyond these bounds become unknown.
const DEEPEST: u8 = 200;
const HEAVIEST: u32 = 1_000_000;

#[derive(Debug, Clone)]
pub enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(Arc<str>),
    List(Arc<Vec<Value>>),
    Set(Arc<Vec<Value>>),
    Tuple(Arc<Vec<Value>>),
    Map(Arc<Entries>),
    Object(Arc<Entries>),
    /// Not known, and why. Collections may hold unknown members; a whole that is unknown may have known bounds.
    Unknown(Arc<Cause>),
}

/// The members of a map or an object.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    pub known: BTreeMap<Arc<str>, Value>,
    /// There may be more than the known ones, and why: attributes that a provider computes, `merge` with an unknown.
    pub rest: Option<Arc<Cause>>,
}

/// Why something is not known.
#[derive(Debug, Clone)]
pub struct Cause {
    /// Lower-case, without a full stop: "variable `size` has no value".
    pub why: String,
    pub span: Span,
    /// The values it can only be one of, such as both arms of a conditional whose condition is unknown.
    pub candidates: Vec<Value>,
    /// What would tell: the address of a resource or data source, and the attribute of it.
    pub computed_by: Option<Computed>,
    /// Terraform would refuse the expression, so that `try` goes on to its next argument.
    pub refused: bool,
    /// The known lines of a text, with `${…}` where it is not known. Only who looks for manifests in texts may read it.
    pub outline: Option<Arc<str>>,
}

/// An attribute that only the provider knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Computed {
    /// `module.a.aws_launch_template.gpu[0]`
    pub address: Arc<str>,
    /// `id`; empty where the resource as a whole is meant.
    pub attribute: Arc<str>,
}

/// What a path in a value leads to.
#[derive(Debug, Clone)]
pub enum PathTarget<'v> {
    Value(&'v Value),
    Unknown(Arc<Cause>),
    Absent,
}

impl Entries {
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.known.get(key)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Value)> {
        self.known.iter()
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.rest.is_none()
    }

    fn composed(mut self) -> Self {
        if !self.known.keys().all(|key| key.is_ascii()) {
            self.known = self.known.into_iter().map(|(key, value)| (composed(key), value)).collect();
        }
        self
    }
}

impl FromIterator<(Arc<str>, Value)> for Entries {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Value)>>(entries: I) -> Self {
        Entries { known: entries.into_iter().collect(), rest: None }
    }
}

/// Text in Unicode's normal form C, as Terraform keeps all strings: letters that look the same are the same.
pub(crate) fn composed(text: Arc<str>) -> Arc<str> {
    if text.is_ascii() {
        return text;
    }
    match ComposingNormalizerBorrowed::new_nfc().normalize(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(other) => other.into(),
    }
}

impl Cause {
    pub fn new(why: impl Into<String>, span: Span) -> Self {
        Cause {
            why: shortened(why.into()),
            span,
            candidates: Vec::new(),
            computed_by: None,
            refused: false,
            outline: None,
        }
    }
}

impl Value {
    pub fn new(data: Data, span: Span) -> Self {
        let size = match &data {
            Data::List(items) | Data::Set(items) | Data::Tuple(items) => Size::of(items.iter(), false),
            Data::Map(entries) | Data::Object(entries) => Size::of(entries.known.values(), entries.rest.is_some()),
            Data::Unknown(_) => Size { depth: 0, weight: 1, open: true, secret: false },
            _ => Size { depth: 0, weight: 1, open: false, secret: false },
        };
        let Size { depth, weight, open, secret } = size;
        if depth > DEEPEST || weight > HEAVIEST {
            let limit = if depth > DEEPEST { format!("{DEEPEST} levels deep") } else { format!("{HEAVIEST} values") };
            return Self::unknown(format!("this value is larger than {limit}"), span);
        }
        Value { data, span, sensitive: false, depth, weight, open, secret }
    }

    /// Other data at the same place, with the same marks.
    #[must_use]
    pub fn with(&self, data: Data) -> Self {
        Value::new(data, self.span).marked(self.sensitive)
    }

    /// How many values it consists of.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    pub fn null(span: Span) -> Self {
        Self::new(Data::Null, span)
    }

    pub fn bool(flag: bool, span: Span) -> Self {
        Self::new(Data::Bool(flag), span)
    }

    pub fn number(number: Number, span: Span) -> Self {
        Self::new(Data::Number(number), span)
    }

    pub fn text(text: impl Into<Arc<str>>, span: Span) -> Self {
        Self::new(Data::Text(composed(text.into())), span)
    }

    pub fn tuple(items: Vec<Value>, span: Span) -> Self {
        Self::new(Data::Tuple(Arc::new(items)), span)
    }

    pub fn list(items: Vec<Value>, span: Span) -> Self {
        Self::new(Data::List(Arc::new(items)), span)
    }

    pub fn object(entries: Entries, span: Span) -> Self {
        Self::new(Data::Object(Arc::new(entries.composed())), span)
    }

    pub fn map(entries: Entries, span: Span) -> Self {
        Self::new(Data::Map(Arc::new(entries.composed())), span)
    }

    pub fn unknown(why: impl Into<String>, span: Span) -> Self {
        Self::new(Data::Unknown(Arc::new(Cause::new(why, span))), span)
    }

    /// The result of an expression that Terraform would refuse.
    pub fn refused(why: impl Into<String>, span: Span) -> Self {
        Self::new(Data::Unknown(Arc::new(Cause { refused: true, ..Cause::new(why, span) })), span)
    }

    pub fn because(cause: &Arc<Cause>, span: Span) -> Self {
        Self::new(Data::Unknown(cause.clone()), span)
    }

    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = span;
        self
    }

    #[must_use]
    pub fn marked(mut self, sensitive: bool) -> Self {
        self.sensitive |= sensitive;
        self
    }

    #[must_use]
    pub fn unmarked(mut self) -> Self {
        self.sensitive = false;
        self
    }

    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null)
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self.data, Data::Unknown(_))
    }

    /// Why it is not known; for a collection this is about the whole, not about members.
    pub fn cause(&self) -> Option<&Arc<Cause>> {
        match &self.data {
            Data::Unknown(cause) => Some(cause),
            _ => None,
        }
    }

    /// The first cause in it or in a member, however deep.
    pub fn any_cause(&self) -> Option<&Arc<Cause>> {
        if !self.open {
            return None;
        }
        match &self.data {
            Data::Unknown(cause) => Some(cause),
            Data::List(items) | Data::Set(items) | Data::Tuple(items) => items.iter().find_map(Value::any_cause),
            Data::Map(entries) | Data::Object(entries) => {
                entries.known.values().find_map(Value::any_cause).or(entries.rest.as_ref())
            }
            _ => None,
        }
    }

    /// It or a member is something that Terraform would refuse.
    pub fn any_refused(&self) -> bool {
        if !self.open {
            return false;
        }
        match &self.data {
            Data::Unknown(cause) => cause.refused,
            Data::List(items) | Data::Set(items) | Data::Tuple(items) => items.iter().any(Value::any_refused),
            Data::Map(entries) | Data::Object(entries) => {
                entries.rest.as_ref().is_some_and(|cause| cause.refused)
                    || entries.known.values().any(Value::any_refused)
            }
            _ => false,
        }
    }

    /// Nothing in it is unknown, however deep.
    pub fn is_wholly_known(&self) -> bool {
        self.any_cause().is_none()
    }

    /// It or a member is sensitive.
    pub fn any_sensitive(&self) -> bool {
        self.sensitive || self.secret
    }

    /// As a string; numbers and booleans are converted as Terraform does.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match &self.data {
            Data::Text(text) => Some(Cow::Borrowed(text)),
            Data::Number(number) => Some(Cow::Owned(number.to_string())),
            Data::Bool(flag) => Some(Cow::Borrowed(if *flag { "true" } else { "false" })),
            _ => None,
        }
    }

    /// As a number; a string that holds one is converted.
    pub fn as_number(&self) -> Option<Number> {
        match &self.data {
            Data::Number(number) => Some(number.clone()),
            Data::Text(text) => Number::parse(text),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(|number| number.as_f64())
    }

    /// As a boolean; `"true"` and `"false"` are converted.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.data {
            Data::Bool(flag) => Some(*flag),
            Data::Text(text) => match &**text {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// The members of a list, set or tuple; none for anything else.
    pub fn items(&self) -> &[Value] {
        match &self.data {
            Data::List(items) | Data::Set(items) | Data::Tuple(items) => items,
            _ => &[],
        }
    }

    /// How many members it has; none where it is no collection.
    pub fn members(&self) -> usize {
        self.entries().map_or(self.items().len(), Entries::len)
    }

    /// The members of a map or object.
    pub fn entries(&self) -> Option<&Entries> {
        match &self.data {
            Data::Map(entries) | Data::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// A member by key, of lists by number.
    pub fn member(&self, key: &str) -> PathTarget<'_> {
        match &self.data {
            Data::Unknown(cause) => PathTarget::Unknown(cause.clone()),
            Data::Map(entries) | Data::Object(entries) => match (entries.get(key), &entries.rest) {
                (Some(value), _) => PathTarget::from(value),
                (None, Some(cause)) => PathTarget::Unknown(cause.clone()),
                (None, None) => PathTarget::Absent,
            },
            Data::List(items) | Data::Tuple(items) => {
                key.parse().ok().and_then(|index: usize| items.get(index)).map_or(PathTarget::Absent, PathTarget::from)
            }
            _ => PathTarget::Absent,
        }
    }

    /// What keys, one after the other, lead to.
    pub fn find<'v>(&'v self, path: &[&str]) -> PathTarget<'v> {
        let mut here = self;
        for key in path {
            match here.member(key) {
                PathTarget::Value(value) => here = value,
                other => return other,
            }
        }
        PathTarget::from(here)
    }
}

/// What is known of a value from its members alone.
struct Size {
    depth: u8,
    weight: u32,
    open: bool,
    secret: bool,
}

impl Size {
    fn of<'v>(members: impl Iterator<Item = &'v Value>, open: bool) -> Self {
        let mut size = Size { depth: 0, weight: 1, open, secret: false };
        for member in members {
            size.depth = size.depth.max(member.depth);
            size.weight = size.weight.saturating_add(member.weight);
            size.open |= member.open;
            size.secret |= member.any_sensitive();
        }
        size.depth = size.depth.saturating_add(1);
        size
    }
}

impl<'v> From<&'v Value> for PathTarget<'v> {
    /// Unknown values are `Unknown`, null is `Absent`.
    fn from(value: &'v Value) -> Self {
        match &value.data {
            Data::Unknown(cause) => PathTarget::Unknown(cause.clone()),
            Data::Null => PathTarget::Absent,
            _ => PathTarget::Value(value),
        }
    }
}

impl<'v> PathTarget<'v> {
    pub fn value(&self) -> Option<&'v Value> {
        match self {
            PathTarget::Value(value) => Some(value),
            _ => None,
        }
    }
}
