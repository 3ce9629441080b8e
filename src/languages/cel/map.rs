//! Maps of the expression language, sorted so that walks over them are reproducible.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::{Unknown, Value};

/// A map, sorted by key so that walks over it are reproducible.
#[derive(Debug, Clone, Default)]
pub(crate) struct Map {
    entries: BTreeMap<Key, (Value, Value)>,
    /// There may be more keys than these.
    pub(crate) open: Option<Arc<Unknown>>,
    /// A missing key is absent instead of an error.
    pub(crate) lenient: bool,
}

/// What a key is compared by: `1`, `1u` and `1.0` are the same key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Flag(bool),
    Number(i128),
    Text(Arc<str>),
}

impl Key {
    /// `None` where the value can be no key.
    pub(super) fn of(value: &Value) -> Option<Key> {
        Some(match value {
            Value::Flag(flag) => Key::Flag(*flag),
            Value::Integer(n) => Key::Number(i128::from(*n)),
            Value::Unsigned(n) => Key::Number(i128::from(*n)),
            Value::Double(n) if n.fract() == 0.0 && n.abs() < 1e19 => Key::Number(*n as i128),
            Value::Text(text) => Key::Text(text.clone()),
            _ => return None,
        })
    }
}

impl Map {
    /// A map in which a missing key is absent, or unknown where there may be more keys.
    pub(crate) fn lenient(open: Option<Arc<Unknown>>) -> Map {
        Map { open, lenient: true, ..Map::default() }
    }

    /// `None` where the key exists already, or can be none.
    pub(super) fn insert(&mut self, key: Value, value: Value) -> Option<()> {
        let sort = Key::of(&key).filter(|_| !matches!(key, Value::Double(_)))?;
        match self.entries.insert(sort, (key, value)) {
            None => Some(()),
            Some(_) => None,
        }
    }

    pub(crate) fn set(&mut self, key: &str, value: Value) {
        let key: Arc<str> = key.into();
        self.entries.insert(Key::Text(key.clone()), (Value::Text(key), value));
    }

    pub(crate) fn set_shared(&mut self, key: &Arc<str>, value: Value) {
        self.entries.insert(Key::Text(key.clone()), (Value::Text(key.clone()), value));
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Value> {
        self.entries.get(key).map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.entries.values().map(|(key, value)| (key, value))
    }

    pub(super) fn entries(&self) -> &BTreeMap<Key, (Value, Value)> {
        &self.entries
    }
}
