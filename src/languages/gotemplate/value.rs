//! Defines the values of templates: Go values with their places.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

use crate::source::FileId;

use super::failure::TemplateFailure;
use super::text::{TemplateCause, Text, TextOrigin};

/// The limit on nested lists, above any real chart.
const DEEPEST: u16 = 130;

#[derive(Debug, Clone)]
pub(crate) struct GoValue {
    pub(crate) kind: GoKind,
    pub(crate) origin: Option<TextOrigin>,
}

#[derive(Debug, Clone)]
pub(crate) enum GoKind {
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
    Map(GoMap),
    Object(Rc<dyn TemplateObject>),
    Unknown(TemplateCause),
}

/// A value with methods: the files of a chart, the capabilities of a cluster.
pub(crate) trait TemplateObject: Debug {
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
pub(crate) struct GoMap(Rc<RefCell<MapEntries>>);

impl GoMap {
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

    pub(crate) fn is_same(&self, other: &GoMap) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// All mappings of one rendering. They are dropped together, because a mapping may contain itself and chains may be
/// long.
#[derive(Debug)]
pub(crate) struct Heap {
    maps: RefCell<Vec<GoMap>>,
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
        GoKind::Map(self.new_map(entries)).into()
    }

    pub(crate) fn new_map(&self, entries: MapEntries) -> GoMap {
        const EACH: usize = 96;
        // The next step reports an exceeded limit.
        let _ = self.spend(EACH * (entries.len() + 1));
        let map = GoMap(Rc::new(RefCell::new(entries)));
        self.maps.borrow_mut().push(map.clone());
        map
    }

    pub(crate) fn list(&self, items: Vec<GoValue>) -> Result<GoValue, TemplateFailure> {
        const EACH: usize = 64;
        self.spend(EACH * (items.len() + 1))?;
        let inner = items.iter().map(|item| match &item.kind {
            GoKind::List(list) => list.depth + 1,
            _ => 1,
        });
        let depth = inner.max().unwrap_or(1);
        if depth > DEEPEST {
            return Err(TemplateFailure::Budget("lists are nested too deeply"));
        }
        Ok(GoKind::List(List { items: items.into(), depth }).into())
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

impl From<GoKind> for GoValue {
    fn from(kind: GoKind) -> Self {
        GoValue { kind, origin: None }
    }
}

impl From<Text> for GoValue {
    fn from(text: Text) -> Self {
        GoKind::Text(text).into()
    }
}

impl From<String> for GoValue {
    fn from(text: String) -> Self {
        GoKind::Text(text.into()).into()
    }
}

impl From<&str> for GoValue {
    fn from(text: &str) -> Self {
        GoKind::Text(text.into()).into()
    }
}

impl From<bool> for GoValue {
    fn from(flag: bool) -> Self {
        GoKind::Flag(flag).into()
    }
}

impl From<f64> for GoValue {
    fn from(number: f64) -> Self {
        GoKind::Float(number).into()
    }
}

impl GoValue {
    pub(crate) fn nil() -> Self {
        GoKind::Nil.into()
    }

    pub(crate) fn int(number: i64) -> Self {
        GoKind::Int(number).into()
    }

    pub(crate) fn int64(number: i64) -> Self {
        GoKind::Int64(number).into()
    }

    pub(crate) fn unknown(cause: TemplateCause) -> Self {
        GoKind::Unknown(cause).into()
    }

    #[must_use]
    pub(crate) fn or_at(self, origin: Option<TextOrigin>) -> Self {
        GoValue { origin: self.origin.or(origin), ..self }
    }

    pub(crate) fn is_nil(&self) -> bool {
        matches!(self.kind, GoKind::Nil | GoKind::NilInside)
    }

    /// Converts a value to the result of a pipeline, in which all kinds of nil are equal.
    #[must_use]
    pub(crate) fn settled(self) -> Self {
        match self.kind {
            GoKind::NilInside => GoValue { kind: GoKind::Nil, ..self },
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
            GoKind::Text(text) => sum += text.weight(),
            GoKind::List(list) if levels > 0 => drop(list.items().iter().try_for_each(|item| add(0, item))),
            GoKind::Map(map) if levels > 0 => {
                let entries = map.borrow();
                let _ = entries.iter().try_for_each(|(key, entry)| add(EACH + key.len(), &entry.value));
            }
            _ => {}
        }
        sum
    }

    /// Returns why the value or a part of its text is unknown.
    pub(crate) fn cause(&self) -> Option<&TemplateCause> {
        match &self.kind {
            GoKind::Unknown(cause) => Some(cause),
            GoKind::Text(text) => text.hole().or_else(|| text.doubts().first().map(|doubt| &doubt.cause)),
            _ => None,
        }
    }

    pub(crate) fn map(&self) -> Option<&GoMap> {
        match &self.kind {
            GoKind::Map(map) => Some(map),
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match &self.kind {
            GoKind::Text(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns the origin of the value or of a part of its text.
    pub(crate) fn place(&self) -> Option<TextOrigin> {
        match &self.kind {
            GoKind::Text(text) => text.origin().or(self.origin),
            _ => self.origin,
        }
    }

    /// Returns the text of the value with its origin, as far as it is known.
    pub(crate) fn text(&self) -> Option<Text> {
        match &self.kind {
            GoKind::Text(text) if text.origin().is_none() && self.origin.is_some() => {
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
            GoKind::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Returns its type in messages of Go's JSON library.
    pub(super) fn json_name(&self) -> &'static str {
        match &self.kind {
            GoKind::Text(_) => "string",
            GoKind::Flag(_) => "bool",
            GoKind::List(_) => "array",
            GoKind::Map(_) => "object",
            _ => "number",
        }
    }

    /// Returns its Go type.
    pub(crate) fn type_name(&self) -> String {
        match &self.kind {
            GoKind::Nil => "<nil>".to_owned(),
            GoKind::NilInside => "interface {}".to_owned(),
            GoKind::Flag(_) => "bool".to_owned(),
            GoKind::Int(_) => "int".to_owned(),
            GoKind::Int64(_) => "int64".to_owned(),
            GoKind::Float(_) => "float64".to_owned(),
            GoKind::Text(_) => "string".to_owned(),
            GoKind::List(_) => "[]interface {}".to_owned(),
            GoKind::Map(_) => "map[string]interface {}".to_owned(),
            GoKind::Object(object) => object.type_name().to_owned(),
            GoKind::Unknown(_) => "unknown".to_owned(),
        }
    }

    pub(crate) fn kind_name(&self) -> &'static str {
        match &self.kind {
            GoKind::Nil | GoKind::NilInside => "invalid",
            GoKind::Flag(_) => "bool",
            GoKind::Int(_) => "int",
            GoKind::Int64(_) => "int64",
            GoKind::Float(_) => "float64",
            GoKind::Text(_) => "string",
            GoKind::List(_) => "slice",
            GoKind::Map(_) => "map",
            GoKind::Object(object) => object.kind_name(),
            GoKind::Unknown(_) => "unknown",
        }
    }
}
