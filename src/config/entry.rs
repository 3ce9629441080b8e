//! Defines a value of a settings file.

use crate::source::{Date, Span};

/// A value with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigEntry {
    pub value: SettingValue,
    pub span: Span,
    pub key: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SettingValue {
    Text(String),
    Texts(Vec<(String, Span)>),
    Integer(i64),
    Number(f64),
    Flag(bool),
    Date(Date),
    Map(Vec<(String, SettingValue)>),
}

impl SettingValue {
    pub fn text(&self) -> Option<&str> {
        match self {
            SettingValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn texts(&self) -> Vec<String> {
        match self {
            SettingValue::Texts(texts) => texts.iter().map(|(text, _)| text.clone()).collect(),
            _ => Vec::new(),
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            SettingValue::Integer(n) => Some(*n as f64),
            SettingValue::Number(n) => Some(*n),
            _ => None,
        }
    }

    /// Returns the strings of a list, each with its position.
    pub fn spanned_texts(&self) -> &[(String, Span)] {
        match self {
            SettingValue::Texts(texts) => texts,
            _ => &[],
        }
    }

    pub fn flag(&self) -> Option<bool> {
        match self {
            SettingValue::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    pub fn date(&self) -> Option<Date> {
        match self {
            SettingValue::Date(date) => Some(*date),
            _ => None,
        }
    }
}
