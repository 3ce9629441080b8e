//! Reads one settings file: its values with their positions, and its errors.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::entry::{ConfigEntry, SettingValue};
use super::table::{self, Next, SettingKind};
use crate::diagnostic::{Diagnostic, Level, nearest};
use crate::source::{self, Date, FileId, SourceFiles, Span};

/// The deepest nesting of tables that is read. The settings need three.
const DEEPEST: usize = 8;

/// Returns the values that one file sets, and its errors.
pub(super) fn read(sources: &SourceFiles, file: FileId) -> (BTreeMap<Vec<String>, ConfigEntry>, Vec<Diagnostic>) {
    let text = sources.text(file);
    let directory = source::parent(&sources.path(file)).to_owned();
    let plain = text.trim_start_matches('\u{feff}');
    let start = text.len() - plain.len();
    let mut reader = Reader { file, start, directory, entries: BTreeMap::new(), wrong: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(plain);
    for error in errors {
        let span = reader.span(error.span().unwrap_or(0..0));
        reader.wrong.push(Diagnostic::new(
            Level::Error,
            format!("this file is not valid TOML: {}", error.message()),
            Some(span),
        ));
    }
    if reader.wrong.is_empty() {
        reader.table(table.get_ref(), &mut Vec::new());
    }
    (reader.entries, reader.wrong)
}

struct Reader {
    file: FileId,
    /// The position after a byte-order mark.
    start: usize,
    directory: String,
    entries: BTreeMap<Vec<String>, ConfigEntry>,
    wrong: Vec<Diagnostic>,
}

impl Reader {
    fn table(&mut self, table: &DeTable, keys: &mut Vec<String>) {
        for (key, value) in table {
            keys.push(key.get_ref().to_string());
            let span = self.span(key.span());
            self.item(value, span, keys);
            keys.pop();
        }
    }

    fn item(&mut self, value: &Spanned<DeValue>, key: Span, keys: &mut Vec<String>) {
        let path: Vec<&str> = keys.iter().map(String::as_str).collect();
        match (table::next(&path), value.get_ref()) {
            (Next::Value(setting), _) => self.value(setting.kind, value, key, keys),
            (Next::Table(_), DeValue::Table(inner)) if keys.len() < DEEPEST => self.table(inner, keys),
            (Next::Tables, DeValue::Array(tables)) => {
                for (index, inner) in tables.iter().enumerate() {
                    let DeValue::Table(table) = inner.get_ref() else {
                        self.refuse(inner, &format!("`{}` must be a list of tables", keys.join(".")));
                        continue;
                    };
                    keys.push(index_key(index));
                    self.table(table, keys);
                    keys.pop();
                }
            }
            (Next::Table(_), other) => {
                self.refuse(value, &format!("`{}` must be a table, not {}", keys.join("."), kind_of(other)));
            }
            (Next::Tables, other) => {
                let name = keys.join(".");
                self.refuse(value, &format!("write `{name}` as [[{name}]], not as {}", kind_of(other)));
            }
            (Next::Nothing, _) => self.unknown(key, &path),
        }
    }

    fn unknown(&mut self, key: Span, path: &[&str]) {
        let Some((typed, above)) = path.split_last() else { return };
        let names = match table::next(above) {
            Next::Table(names) => names,
            _ => Vec::new(),
        };
        let section = above.iter().filter(|key| !is_index(key)).copied().collect::<Vec<_>>().join(".");
        let message = match section.as_str() {
            "" => format!("unknown setting `{typed}`"),
            section => format!("unknown setting `{typed}` in [{section}]"),
        };
        let help = match nearest(typed, names.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use one of {}", names.join(", ")),
        };
        self.wrong.push(Diagnostic::new(Level::Error, message, Some(key)).with_help(help));
    }

    fn value(&mut self, kind: SettingKind, value: &Spanned<DeValue>, key: Span, keys: &[String]) {
        let span = self.span(value.span());
        match self.converted(kind, value.get_ref(), span) {
            Ok(value) => {
                self.entries.insert(keys.to_vec(), ConfigEntry { value, span, key });
            }
            Err(why) => {
                let why = why.unwrap_or_else(|| format!("{}, not {}", kind.name(), kind_of(value.get_ref())));
                self.refuse(value, &format!("`{}` must be {why}", display(keys)));
            }
        }
    }

    /// Converts a value. An error of `None` means that the value has the wrong type.
    fn converted(&self, kind: SettingKind, value: &DeValue, span: Span) -> Result<SettingValue, Option<String>> {
        let kind = match (kind, value) {
            (SettingKind::RuleParameter, DeValue::Table(table)) => {
                let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue>)| {
                    let key: &str = AsRef::<str>::as_ref(key.get_ref());
                    let converted = self.converted(kind, value.get_ref(), self.span(value.span()));
                    let takes = "a table of strings, numbers, true, false and lists of strings";
                    let what = || format!("{takes}, but `{key}` is {}", kind_of(value.get_ref()));
                    Ok((key.to_owned(), converted.map_err(|why| Some(why.unwrap_or_else(what)))?))
                };
                return Ok(SettingValue::Map(table.iter().map(entry).collect::<Result<_, Option<String>>>()?));
            }
            (SettingKind::RuleParameter, _) => SettingKind::Parameter,
            _ => kind,
        };
        Ok(match (kind, value) {
            (SettingKind::OneOf(names), DeValue::String(text)) => match names.iter().find(|name| *name == text) {
                Some(name) => SettingValue::Text((*name).to_owned()),
                None => return Err(Some(format!("{}, not \"{text}\"", kind.name()))),
            },
            (SettingKind::Path, DeValue::String(text)) => SettingValue::Text(self.path(text)?),
            (SettingKind::Paths, DeValue::Array(items)) => self.texts(items, |text| self.path(text))?,
            (SettingKind::Text | SettingKind::Parameter, DeValue::String(text)) => SettingValue::Text(text.to_string()),
            (SettingKind::Pattern, DeValue::String(text)) => SettingValue::Text(self.pattern(text)?),
            (SettingKind::Patterns, DeValue::String(text)) => SettingValue::Texts(vec![(self.pattern(text)?, span)]),
            (SettingKind::Patterns, DeValue::Array(items)) => self.texts(items, |text| self.pattern(text))?,
            (SettingKind::Texts | SettingKind::Parameter, DeValue::Array(items)) => {
                self.texts(items, |text| Ok(text.to_owned()))?
            }
            (SettingKind::Number | SettingKind::Parameter, DeValue::Integer(number)) => {
                let digits = number.as_str().replace('_', "");
                SettingValue::Integer(i64::from_str_radix(&digits, number.radix()).map_err(|_| None)?)
            }
            (SettingKind::Number | SettingKind::Parameter, DeValue::Float(number)) => {
                let number: f64 = number.as_str().replace('_', "").parse().map_err(|_| None)?;
                if !number.is_finite() {
                    return Err(Some("a finite number".to_owned()));
                }
                SettingValue::Number(number)
            }
            (SettingKind::Flag | SettingKind::Parameter, DeValue::Boolean(flag)) => SettingValue::Flag(*flag),
            (SettingKind::Date, DeValue::Datetime(date)) => {
                SettingValue::Date(date.to_string().parse::<Date>().map_err(|_| None)?)
            }
            (SettingKind::Date, DeValue::String(text)) => SettingValue::Date(text.parse::<Date>().map_err(|_| None)?),
            _ => return Err(None),
        })
    }

    fn texts(
        &self,
        items: &[Spanned<DeValue>],
        change: impl Fn(&str) -> Result<String, Option<String>>,
    ) -> Result<SettingValue, Option<String>> {
        let text = |item: &Spanned<DeValue>| match item.get_ref() {
            DeValue::String(text) => Ok((change(text)?, self.span(item.span()))),
            _ => Err(None),
        };
        Ok(SettingValue::Texts(items.iter().map(text).collect::<Result<_, _>>()?))
    }

    /// Treats a backslash as a slash, so that a path means the same on every system.
    fn path(&self, written: &str) -> Result<String, Option<String>> {
        let path = written.replace('\\', "/");
        let inside = if is_absolute(&path) { None } else { source::join(&self.directory, &path) };
        inside.ok_or_else(|| Some(format!("a path inside the repository, and `{written}` leads out of it")))
    }

    /// Resolves a pattern in the work tree, even if the settings come from another commit.
    fn pattern(&self, written: &str) -> Result<String, Option<String>> {
        let path = self.path(written)?;
        let inside =
            path.split_once(":/").filter(|(commit, _)| self.directory.split('/').next() == Some(&format!("{commit}:")));
        Ok(inside.map_or_else(|| path.clone(), |(_, inside)| inside.to_owned()))
    }

    fn refuse(&mut self, value: &Spanned<DeValue>, message: &str) {
        let span = self.span(value.span());
        self.wrong.push(Diagnostic::new(Level::Error, message, Some(span)));
    }

    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.file, self.start + range.start, self.start + range.end)
    }
}

/// Returns true if the path starts at the root of a file system, also on Windows.
fn is_absolute(path: &str) -> bool {
    let drive = path.split_once(":/").map(|(drive, _)| drive);
    path.starts_with('/') || drive.is_some_and(|it| it.len() == 1 && it.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Returns a key that sorts in the order of the numbers.
pub(super) fn index_key(index: usize) -> String {
    format!("{index:06}")
}

fn is_index(key: &str) -> bool {
    key.len() == 6 && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// Formats keys as in `suppress[0].rules`.
pub(super) fn display(keys: &[String]) -> String {
    let mut text = String::new();
    for key in keys {
        if is_index(key) {
            text.push_str(&format!("[{}]", key.trim_start_matches('0').parse::<usize>().unwrap_or(0)));
        } else {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(key);
        }
    }
    text
}

fn kind_of(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
