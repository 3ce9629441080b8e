//! Defines the values of templates: Go values with their places.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

use crate::source::FileId;

use super::failure::TemplateFailure;
use super::text::{Cause, Text, TextOrigin};

/// The limit on nested lists, above any real chart.
const DEEPEST: u16 = 130;

#[derive(Debug, Clone)]
pub(crate) struct GoValue {
    pub(crate) kind: Kind,
    pub(crate) origin: Option<TextOrigin>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Nil,
    /// A nil in a mapping or a list. Unlike `Nil`, it has no fields.
    NilInside,
    Flag(bool),
    Int(i64),
    /// An `int64`, which Go distinguishes from `int`.
    Int64(i64),
    Float(f64),
    Text(Text),
    List(List),
    Map(Map),
    Object(Rc<dyn Object>),
    Unknown(Cause),
}

/// A value with methods: the files of a chart, the capabilities of a cluster.
pub(crate) trait Object: Debug {
    /// Returns its Go type.
    fn type_name(&self) -> &str;
    fn kind_name(&self) -> &'static str {
        "struct"
    }
    /// Returns a field or the result of a method; `None` if the name does not exist.
    fn field(&self, name: &str, arguments: &[GoValue], heap: &Heap) -> Option<Result<GoValue, TemplateFailure>>;
    /// Returns true if a field is a method, which takes arguments.
    fn is_method(&self, _name: &str) -> bool {
        false
    }
    /// Returns the entries for a range; `None` if a range is impossible.
    fn entries(&self) -> Option<Vec<(Arc<str>, GoValue)>> {
        None
    }
    /// Formats the value like `%v`.
    fn shown(&self) -> String {
        format!("{{{}}}", self.type_name())
    }
    /// Returns it as a mapping or a list, for output as YAML and JSON.
    fn plain(&self, _heap: &Heap) -> GoValue {
        GoValue::nil()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct List {
    items: Rc<[GoValue]>,
    depth: u16,
}

impl List {
    pub(crate) fn items(&self) -> &[GoValue] {
        &self.items
    }
}

#[derive(Debug, Clone)]
pub(crate) struct MapEntry {
    pub(crate) key: Option<TextOrigin>,
    pub(crate) value: GoValue,
}

impl From<GoValue> for MapEntry {
    fn from(value: GoValue) -> Self {
        MapEntry { key: None, value }
    }
}

pub(crate) type MapEntries = BTreeMap<Arc<str>, MapEntry>;

/// A mapping; as in Go, copies are the same mapping.
#[derive(Debug, Clone)]
pub(crate) struct Map(Rc<RefCell<MapEntries>>);

impl Map {
    pub(crate) fn borrow(&self) -> Ref<'_, MapEntries> {
        self.0.borrow()
    }

    pub(crate) fn get(&self, key: &str) -> Option<GoValue> {
        self.0.borrow().get(key).map(|entry| entry.value.clone())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub(crate) fn insert(&self, key: Arc<str>, entry: impl Into<MapEntry>) {
        self.0.borrow_mut().insert(key, entry.into());
    }

    pub(crate) fn remove(&self, key: &str) {
        self.0.borrow_mut().remove(key);
    }

    pub(crate) fn is_same(&self, other: &Map) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// All mappings of one rendering. They are dropped together, because a mapping may contain itself and chains may be
/// long.
#[derive(Debug)]
pub(crate) struct Heap {
    maps: RefCell<Vec<Map>>,
    left: Cell<usize>,
    file: FileId,
}

impl Drop for Heap {
    fn drop(&mut self) {
        // Each mapping is emptied while the heap still owns all others, so that no drop recurses.
        for map in self.maps.borrow().iter() {
            let entries = std::mem::take(&mut *map.0.borrow_mut());
            drop(entries);
        }
    }
}

impl Heap {
    /// Creates a heap with an approximate limit in bytes. Spans of parsed texts that are not files use the number
    /// `file`.
    pub(crate) fn new(bytes: usize, file: FileId) -> Self {
        Heap { maps: RefCell::default(), left: Cell::new(bytes), file }
    }

    pub(super) fn file(&self) -> FileId {
        self.file
    }

    /// Returns the remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.left.get()
    }

    /// Checks the limit before a value becomes larger than its input.
    pub(super) fn fits(&self, bytes: usize) -> Result<(), TemplateFailure> {
        if bytes <= self.left.get() { Ok(()) } else { self.spend(bytes) }
    }

    pub(crate) fn spend(&self, bytes: usize) -> Result<(), TemplateFailure> {
        match self.left.get().checked_sub(bytes) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(TemplateFailure::Budget("the output exceeds the size limit"))
            }
        }
    }

    pub(crate) fn map(&self, entries: MapEntries) -> GoValue {
        Kind::Map(self.new_map(entries)).into()
    }

    pub(crate) fn new_map(&self, entries: MapEntries) -> Map {
        const EACH: usize = 96;
        // The next step reports an exceeded limit.
        let _ = self.spend(EACH * (entries.len() + 1));
        let map = Map(Rc::new(RefCell::new(entries)));
        self.maps.borrow_mut().push(map.clone());
        map
    }

    pub(crate) fn list(&self, items: Vec<GoValue>) -> Result<GoValue, TemplateFailure> {
        const EACH: usize = 64;
        self.spend(EACH * (items.len() + 1))?;
        let inner = items.iter().map(|item| match &item.kind {
            Kind::List(list) => list.depth + 1,
            _ => 1,
        });
        let depth = inner.max().unwrap_or(1);
        if depth > DEEPEST {
            return Err(TemplateFailure::Budget("lists are nested too deeply"));
        }
        Ok(Kind::List(List { items: items.into(), depth }).into())
    }

    /// Creates a list of strings. The cost of each item is counted before the next one is created.
    pub(crate) fn texts(&self, items: impl IntoIterator<Item = impl Into<Text>>) -> Result<GoValue, TemplateFailure> {
        const EACH: usize = 64;
        let mut all = Vec::new();
        for item in items {
            let text: Text = item.into();
            self.spend(EACH + text.weight())?;
            all.push(GoValue::from(text));
        }
        self.list(all)
    }
}

impl From<Kind> for GoValue {
    fn from(kind: Kind) -> Self {
        GoValue { kind, origin: None }
    }
}

impl From<Text> for GoValue {
    fn from(text: Text) -> Self {
        Kind::Text(text).into()
    }
}

impl From<String> for GoValue {
    fn from(text: String) -> Self {
        Kind::Text(text.into()).into()
    }
}

impl From<&str> for GoValue {
    fn from(text: &str) -> Self {
        Kind::Text(text.into()).into()
    }
}

impl From<bool> for GoValue {
    fn from(flag: bool) -> Self {
        Kind::Flag(flag).into()
    }
}

impl From<f64> for GoValue {
    fn from(number: f64) -> Self {
        Kind::Float(number).into()
    }
}

impl GoValue {
    pub(crate) fn nil() -> Self {
        Kind::Nil.into()
    }

    pub(crate) fn int(number: i64) -> Self {
        Kind::Int(number).into()
    }

    pub(crate) fn int64(number: i64) -> Self {
        Kind::Int64(number).into()
    }

    pub(crate) fn unknown(cause: Cause) -> Self {
        Kind::Unknown(cause).into()
    }

    #[must_use]
    pub(crate) fn or_at(self, origin: Option<TextOrigin>) -> Self {
        GoValue { origin: self.origin.or(origin), ..self }
    }

    pub(crate) fn is_nil(&self) -> bool {
        matches!(self.kind, Kind::Nil | Kind::NilInside)
    }

    /// Converts a value to the result of a pipeline, in which all kinds of nil are equal.
    #[must_use]
    pub(crate) fn settled(self) -> Self {
        match self.kind {
            Kind::NilInside => GoValue { kind: Kind::Nil, ..self },
            _ => self,
        }
    }

    /// Returns the bytes of a value down to this many levels. A value with two references counts twice. The count stops
    /// above `most`.
    pub(super) fn weight(&self, levels: usize, most: usize) -> usize {
        const EACH: usize = 16;
        let mut sum = EACH;
        // The closure returns `None` above the limit.
        let mut add = |key: usize, item: &GoValue| {
            sum = sum.saturating_add(key);
            let left = most.checked_sub(sum)?;
            sum = sum.saturating_add(item.weight(levels - 1, left));
            (sum <= most).then_some(())
        };
        match &self.kind {
            Kind::Text(text) => sum += text.weight(),
            Kind::List(list) if levels > 0 => drop(list.items().iter().try_for_each(|item| add(0, item))),
            Kind::Map(map) if levels > 0 => {
                let entries = map.borrow();
                let _ = entries.iter().try_for_each(|(key, entry)| add(EACH + key.len(), &entry.value));
            }
            _ => {}
        }
        sum
    }

    /// Returns why the value or a part of its text is unknown.
    pub(crate) fn cause(&self) -> Option<&Cause> {
        match &self.kind {
            Kind::Unknown(cause) => Some(cause),
            Kind::Text(text) => text.hole().or_else(|| text.doubts().first().map(|doubt| &doubt.cause)),
            _ => None,
        }
    }

    pub(crate) fn map(&self) -> Option<&Map> {
        match &self.kind {
            Kind::Map(map) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the origin of the value or of a part of its text.
    pub(crate) fn place(&self) -> Option<TextOrigin> {
        match &self.kind {
            Kind::Text(text) => text.origin().or(self.origin),
            _ => self.origin,
        }
    }

    /// Returns the text of the value with its origin, as far as it is known.
    pub(crate) fn text(&self) -> Option<Text> {
        match &self.kind {
            Kind::Text(text) if text.origin().is_none() && self.origin.is_some() => {
                let mut writer = super::text::TextWriter::default();
                let exact = self.origin.filter(|it| it.linear && it.span.range().len() == text.len());
                match exact {
                    Some(origin) if text.holes().is_empty() && text.doubts().is_empty() => {
                        writer.push(text.as_str(), Some(origin));
                    }
                    _ => writer.push_text(text, self.origin),
                }
                Some(writer.finish())
            }
            Kind::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Returns its type in messages of Go's JSON library.
    pub(super) fn json_name(&self) -> &'static str {
        match &self.kind {
            Kind::Text(_) => "string",
            Kind::Flag(_) => "bool",
            Kind::List(_) => "array",
            Kind::Map(_) => "object",
            _ => "number",
        }
    }

    /// Returns its Go type.
    pub(crate) fn type_name(&self) -> String {
        match &self.kind {
            Kind::Nil => "<nil>".to_owned(),
            Kind::NilInside => "interface {}".to_owned(),
            Kind::Flag(_) => "bool".to_owned(),
            Kind::Int(_) => "int".to_owned(),
            Kind::Int64(_) => "int64".to_owned(),
            Kind::Float(_) => "float64".to_owned(),
            Kind::Text(_) => "string".to_owned(),
            Kind::List(_) => "[]interface {}".to_owned(),
            Kind::Map(_) => "map[string]interface {}".to_owned(),
            Kind::Object(object) => object.type_name().to_owned(),
            Kind::Unknown(_) => "unknown".to_owned(),
        }
    }

    pub(crate) fn kind_name(&self) -> &'static str {
        match &self.kind {
            Kind::Nil | Kind::NilInside => "invalid",
            Kind::Flag(_) => "bool",
            Kind::Int(_) => "int",
            Kind::Int64(_) => "int64",
            Kind::Float(_) => "float64",
            Kind::Text(_) => "string",
            Kind::List(_) => "slice",
            Kind::Map(_) => "map",
            Kind::Object(object) => object.kind_name(),
            Kind::Unknown(_) => "unknown",
        }
    }
}
