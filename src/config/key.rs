//! Names of settings that the compiler checks against the table. A misspelled name or a wrong kind of value does not
//! compile.

use std::marker::PhantomData;

use super::table::{SETTINGS, SettingKind};

/// The name of an existing setting with a value of kind `T`. [`setting!`](crate::config::setting) creates it.
#[derive(Debug)]
pub struct SettingKey<T> {
    path: &'static str,
    takes: PhantomData<fn() -> T>,
}

/// The kind of value of a key.
pub trait KeyType {
    const GROUP: ValueShape;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueShape {
    Text,
    Texts,
    Number,
    Flag,
    Date,
    /// Any kind of value.
    Any,
    /// A table with free names, such as `tiers`.
    Names,
    /// A list of tables, such as `[[suppress]]`.
    Tables,
}

macro_rules! takes {
    ($($name:ident)+) => {
        $(
            #[derive(Debug)]
            pub struct $name;
            impl KeyType for $name {
                const GROUP: ValueShape = ValueShape::$name;
            }
        )+
    };
}

takes! { Text Texts Number Flag Date Any Names Tables }

impl<T> Clone for SettingKey<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SettingKey<T> {}

impl<T: KeyType> SettingKey<T> {
    /// Checks a name at compile time: an unknown name or a wrong kind stops the build.
    pub const fn of(path: &'static str) -> Self {
        let mut at = 0;
        while at < SETTINGS.len() {
            if leads_to(path.as_bytes(), SETTINGS[at].path.as_bytes(), SETTINGS[at].kind, T::GROUP) {
                return SettingKey { path, takes: PhantomData };
            }
            at += 1;
        }
        panic!("no setting has this name and takes this kind of value")
    }
}

impl<T> SettingKey<T> {
    pub fn path(self) -> &'static str {
        self.path
    }

    /// Returns the name inside its table: `machines` for `limits[].machines`.
    pub(super) fn name(self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }
}

const fn leads_to(asked: &[u8], written: &[u8], kind: SettingKind, group: ValueShape) -> bool {
    match group {
        ValueShape::Names => is_followed_by(asked, written, b".*"),
        ValueShape::Tables => is_followed_by(asked, written, b"[]."),
        _ => asked.len() == written.len() && starts_with(written, asked, 0) && is_of(kind, group),
    }
}

const fn is_followed_by(asked: &[u8], written: &[u8], end: &[u8]) -> bool {
    starts_with(written, asked, 0) && starts_with(written, end, asked.len())
}

const fn starts_with(text: &[u8], part: &[u8], from: usize) -> bool {
    if text.len() < from + part.len() {
        return false;
    }
    let mut at = 0;
    while at < part.len() {
        if text[from + at] != part[at] {
            return false;
        }
        at += 1;
    }
    true
}

const fn is_of(kind: SettingKind, group: ValueShape) -> bool {
    matches!(
        (kind, group),
        (_, ValueShape::Any)
            | (SettingKind::Text | SettingKind::Path | SettingKind::Pattern | SettingKind::OneOf(_), ValueShape::Text)
            | (SettingKind::Texts | SettingKind::Paths | SettingKind::Patterns, ValueShape::Texts)
            | (SettingKind::Number, ValueShape::Number)
            | (SettingKind::Flag, ValueShape::Flag)
            | (SettingKind::Date, ValueShape::Date)
    )
}

/// Returns the key of a setting. The caller determines the kind of its value.
///
/// ```
/// gpulint::config::Config::default().number(gpulint::setting!("bounds.seconds"));
/// ```
/// ```compile_fail,E0080
/// gpulint::config::Config::default().number(gpulint::setting!("bounds.second"));
/// ```
/// ```compile_fail,E0080
/// gpulint::config::Config::default().flag(gpulint::setting!("bounds.seconds"));
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! setting {
    ($path:literal) => {
        const { $crate::config::SettingKey::of($path) }
    };
}
