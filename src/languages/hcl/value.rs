//! Defines Terraform's values, in which an unknown value has its cause.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::diagnostic::shortened;
use crate::source::Span;

pub use super::number::HclNumber;

/// A Terraform value. Cloning is cheap, because collections are shared.
#[derive(Debug, Clone)]
pub struct HclValue {
    pub data: HclData,
    /// The place of the value: the literal, not the reference to it.
    pub span: Span,
    pub sensitive: bool,
    /// Levels of collections below this one.
    depth: u8,
    /// The number of values in it, including itself; shared values count for each reference.
    weight: u32,
    /// Whether the value contains an unknown or sensitive value. The flag avoids walks through large values.
    open: bool,
    secret: bool,
}

/// Limits on depth and weight. Shared collections let a few lines build values that exceed any memory or stack when
/// they are walked. Values beyond the limits become unknown.
const DEEPEST: u8 = 200;
const HEAVIEST: u32 = 1_000_000;

#[derive(Debug, Clone)]
pub enum HclData {
    Null,
    Bool(bool),
    Number(HclNumber),
    Text(Arc<str>),
    List(Arc<Vec<HclValue>>),
    Set(Arc<Vec<HclValue>>),
    Tuple(Arc<Vec<HclValue>>),
    Map(Arc<ObjectMembers>),
    Object(Arc<ObjectMembers>),
    /// An unknown value, with its cause. Collections may have unknown members, and an unknown value may have known
    /// bounds.
    Unknown(Arc<Cause>),
}

/// The members of a map or an object.
#[derive(Debug, Clone, Default)]
pub struct ObjectMembers {
    pub known: BTreeMap<Arc<str>, HclValue>,
    /// The reason why there may be more members: attributes that a provider computes, or `merge` with an unknown value.
    pub rest: Option<Arc<Cause>>,
}

/// The reason why a value is unknown.
#[derive(Debug, Clone)]
pub struct Cause {
    /// The reason in lower case and without a period: "variable `size` has no value".
    pub why: String,
    pub span: Span,
    /// All values that it can have, such as both branches of an unknown condition.
    pub candidates: Vec<HclValue>,
    /// Resource or data source whose attribute determines the value.
    pub computed_by: Option<ProviderComputed>,
    /// Whether Terraform would refuse the expression, so that `try` uses its next argument.
    pub refused: bool,
    /// The known lines of a string, with `${…}` for unknown parts. Only the search for manifests in strings uses them.
    pub outline: Option<Arc<str>>,
}

/// An attribute that only the provider knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderComputed {
    /// Address: `module.a.aws_launch_template.gpu[0]`
    pub address: Arc<str>,
    /// Attribute: `id`; empty for the whole resource.
    pub attribute: Arc<str>,
}

/// The target of a path in a value.
#[derive(Debug, Clone)]
pub enum PathTarget<'v> {
    Value(&'v HclValue),
    Unknown(Arc<Cause>),
    Absent,
}

impl ObjectMembers {
    pub fn get(&self, key: &str) -> Option<&HclValue> {
        self.known.get(key)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &HclValue)> {
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

impl FromIterator<(Arc<str>, HclValue)> for ObjectMembers {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, HclValue)>>(entries: I) -> Self {
        ObjectMembers { known: entries.into_iter().collect(), rest: None }
    }
}

/// Converts a string to Unicode normal form C, in which Terraform stores all strings. Letters that look the same are
/// equal.
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

impl HclValue {
    pub fn new(data: HclData, span: Span) -> Self {
        let size = match &data {
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => Size::of(items.iter(), false),
            HclData::Map(entries) | HclData::Object(entries) => {
                Size::of(entries.known.values(), entries.rest.is_some())
            }
            HclData::Unknown(_) => Size { depth: 0, weight: 1, open: true, secret: false },
            _ => Size { depth: 0, weight: 1, open: false, secret: false },
        };
        let Size { depth, weight, open, secret } = size;
        if depth > DEEPEST || weight > HEAVIEST {
            let limit = if depth > DEEPEST { format!("{DEEPEST} levels deep") } else { format!("{HEAVIEST} values") };
            return Self::unknown(format!("this value is larger than {limit}"), span);
        }
        HclValue { data, span, sensitive: false, depth, weight, open, secret }
    }

    /// Returns other data with the same place and marks.
    #[must_use]
    pub fn with(&self, data: HclData) -> Self {
        HclValue::new(data, self.span).marked(self.sensitive)
    }

    /// Returns the number of values in it.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    pub fn null(span: Span) -> Self {
        Self::new(HclData::Null, span)
    }

    pub fn bool(flag: bool, span: Span) -> Self {
        Self::new(HclData::Bool(flag), span)
    }

    pub fn number(number: HclNumber, span: Span) -> Self {
        Self::new(HclData::Number(number), span)
    }

    pub fn text(text: impl Into<Arc<str>>, span: Span) -> Self {
        Self::new(HclData::Text(composed(text.into())), span)
    }

    pub fn tuple(items: Vec<HclValue>, span: Span) -> Self {
        Self::new(HclData::Tuple(Arc::new(items)), span)
    }

    pub fn list(items: Vec<HclValue>, span: Span) -> Self {
        Self::new(HclData::List(Arc::new(items)), span)
    }

    pub fn object(entries: ObjectMembers, span: Span) -> Self {
        Self::new(HclData::Object(Arc::new(entries.composed())), span)
    }

    pub fn map(entries: ObjectMembers, span: Span) -> Self {
        Self::new(HclData::Map(Arc::new(entries.composed())), span)
    }

    pub fn unknown(why: impl Into<String>, span: Span) -> Self {
        Self::new(HclData::Unknown(Arc::new(Cause::new(why, span))), span)
    }

    /// Returns the result of an expression that Terraform would refuse.
    pub fn refused(why: impl Into<String>, span: Span) -> Self {
        Self::new(HclData::Unknown(Arc::new(Cause { refused: true, ..Cause::new(why, span) })), span)
    }

    pub fn because(cause: &Arc<Cause>, span: Span) -> Self {
        Self::new(HclData::Unknown(cause.clone()), span)
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
        matches!(self.data, HclData::Null)
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self.data, HclData::Unknown(_))
    }

    /// Returns why it is unknown; for a collection, the cause of the whole, not of members.
    pub fn cause(&self) -> Option<&Arc<Cause>> {
        match &self.data {
            HclData::Unknown(cause) => Some(cause),
            _ => None,
        }
    }

    /// Returns the first cause in it or in a member at any depth.
    pub fn any_cause(&self) -> Option<&Arc<Cause>> {
        if !self.open {
            return None;
        }
        match &self.data {
            HclData::Unknown(cause) => Some(cause),
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
                items.iter().find_map(HclValue::any_cause)
            }
            HclData::Map(entries) | HclData::Object(entries) => {
                entries.known.values().find_map(HclValue::any_cause).or(entries.rest.as_ref())
            }
            _ => None,
        }
    }

    /// Returns true if it or a member is an expression that Terraform would refuse.
    pub fn any_refused(&self) -> bool {
        if !self.open {
            return false;
        }
        match &self.data {
            HclData::Unknown(cause) => cause.refused,
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
                items.iter().any(HclValue::any_refused)
            }
            HclData::Map(entries) | HclData::Object(entries) => {
                entries.rest.as_ref().is_some_and(|cause| cause.refused)
                    || entries.known.values().any(HclValue::any_refused)
            }
            _ => false,
        }
    }

    /// Returns true if no part of it is unknown at any depth.
    pub fn is_wholly_known(&self) -> bool {
        self.any_cause().is_none()
    }

    /// Returns true if it or a member is sensitive.
    pub fn any_sensitive(&self) -> bool {
        self.sensitive || self.secret
    }

    /// Returns a string; numbers and booleans are converted as in Terraform.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match &self.data {
            HclData::Text(text) => Some(Cow::Borrowed(text)),
            HclData::Number(number) => Some(Cow::Owned(number.to_string())),
            HclData::Bool(flag) => Some(Cow::Borrowed(if *flag { "true" } else { "false" })),
            _ => None,
        }
    }

    /// Returns a number; a numeric string is converted.
    pub fn as_number(&self) -> Option<HclNumber> {
        match &self.data {
            HclData::Number(number) => Some(number.clone()),
            HclData::Text(text) => HclNumber::parse(text),
            _ => None,
        }
    }

    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(|number| number.as_f64())
    }

    /// Returns a boolean; `"true"` and `"false"` are converted.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.data {
            HclData::Bool(flag) => Some(*flag),
            HclData::Text(text) => match &**text {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the members of a list, set or tuple; empty for other values.
    pub fn items(&self) -> &[HclValue] {
        match &self.data {
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => items,
            _ => &[],
        }
    }

    /// Returns the number of members; 0 for other values.
    pub fn members(&self) -> usize {
        self.entries().map_or(self.items().len(), ObjectMembers::len)
    }

    /// Returns the members of a map or object.
    pub fn entries(&self) -> Option<&ObjectMembers> {
        match &self.data {
            HclData::Map(entries) | HclData::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns a member by key, or of a list by index.
    pub fn member(&self, key: &str) -> PathTarget<'_> {
        match &self.data {
            HclData::Unknown(cause) => PathTarget::Unknown(cause.clone()),
            HclData::Map(entries) | HclData::Object(entries) => match (entries.get(key), &entries.rest) {
                (Some(value), _) => PathTarget::from(value),
                (None, Some(cause)) => PathTarget::Unknown(cause.clone()),
                (None, None) => PathTarget::Absent,
            },
            HclData::List(items) | HclData::Tuple(items) => {
                key.parse().ok().and_then(|index: usize| items.get(index)).map_or(PathTarget::Absent, PathTarget::from)
            }
            _ => PathTarget::Absent,
        }
    }

    /// Returns the target of a path of keys.
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

/// The properties of a collection that follow from its members.
struct Size {
    depth: u8,
    weight: u32,
    open: bool,
    secret: bool,
}

impl Size {
    fn of<'v>(members: impl Iterator<Item = &'v HclValue>, open: bool) -> Self {
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

impl<'v> From<&'v HclValue> for PathTarget<'v> {
    /// Converts a value: unknown values become `Unknown`, and null becomes `Absent`.
    fn from(value: &'v HclValue) -> Self {
        match &value.data {
            HclData::Unknown(cause) => PathTarget::Unknown(cause.clone()),
            HclData::Null => PathTarget::Absent,
            _ => PathTarget::Value(value),
        }
    }
}

impl<'v> PathTarget<'v> {
    pub fn value(&self) -> Option<&'v HclValue> {
        match self {
            PathTarget::Value(value) => Some(value),
            _ => None,
        }
    }
}
