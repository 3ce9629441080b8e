//! Defines maps of the expression language, sorted so that macros over them are reproducible.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::{CelValue, Handle, UnknownValue};

/// A map, sorted by key so that macros over it are reproducible.
#[derive(Debug, Clone, Default)]
pub(crate) struct CelMap {
    entries: BTreeMap<MapKey, (CelValue, CelValue)>,
    /// The reason why there may be more keys.
    pub(crate) open: Option<Arc<UnknownValue>>,
    /// Whether a missing key is absent instead of an error.
    pub(crate) lenient: bool,
    /// The identity of the map for the host.
    pub(crate) of: Option<Handle>,
    /// Whether the host has a value for a name that is not a key.
    pub(crate) has_facts: bool,
}

/// Comparable form of a key: `1`, `1u` and `1.0` are the same key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MapKey {
    Flag(bool),
    Number(i128),
    Text(Arc<str>),
}

impl MapKey {
    /// Returns `None` if the value cannot be a key.
    pub(super) fn of(value: &CelValue) -> Option<MapKey> {
        Some(match value {
            CelValue::Flag(flag) => MapKey::Flag(*flag),
            CelValue::Integer(n) => MapKey::Number(i128::from(*n)),
            CelValue::Unsigned(n) => MapKey::Number(i128::from(*n)),
            CelValue::Double(n) if n.fract() == 0.0 && n.abs() < 1e19 => MapKey::Number(*n as i128),
            CelValue::Text(text) => MapKey::Text(text.clone()),
            _ => return None,
        })
    }
}

impl CelMap {
    /// Returns a map in which a missing key is absent, or unknown if there may be more keys.
    pub(crate) fn lenient(open: Option<Arc<UnknownValue>>) -> CelMap {
        CelMap { open, lenient: true, ..CelMap::default() }
    }

    #[must_use]
    pub(crate) fn known_as(self, record: Handle) -> CelMap {
        CelMap { of: Some(record), ..self }
    }

    #[must_use]
    pub(crate) fn with_facts(self) -> CelMap {
        CelMap { has_facts: true, ..self }
    }

    /// Returns `None` if the key exists already or cannot be a key.
    pub(super) fn insert(&mut self, key: CelValue, value: CelValue) -> Option<()> {
        let sort = MapKey::of(&key).filter(|_| !matches!(key, CelValue::Double(_)))?;
        match self.entries.insert(sort, (key, value)) {
            None => Some(()),
            Some(_) => None,
        }
    }

    pub(crate) fn set(&mut self, key: &str, value: CelValue) {
        let key: Arc<str> = key.into();
        self.entries.insert(MapKey::Text(key.clone()), (CelValue::Text(key), value));
    }

    pub(crate) fn set_shared(&mut self, key: &Arc<str>, value: CelValue) {
        self.entries.insert(MapKey::Text(key.clone()), (CelValue::Text(key.clone()), value));
    }

    pub(crate) fn get(&self, key: &MapKey) -> Option<&CelValue> {
        self.entries.get(key).map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&CelValue, &CelValue)> {
        self.entries.values().map(|(key, value)| (key, value))
    }

    pub(super) fn entries(&self) -> &BTreeMap<MapKey, (CelValue, CelValue)> {
        &self.entries
    }
}
