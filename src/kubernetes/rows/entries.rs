//! Adds definitions of kinds that a user writes for own custom resources.

use std::collections::BTreeMap;

use super::line::{line, texts};
use super::table::{EMBEDDED, KindRow, Kinds, LINES};

/// Adds the definitions of a user, before the first use of the table. Returns false if it is in use with others.
pub(crate) fn add_kinds(own: &[toml::Table]) -> Result<bool, String> {
    let (rows, names) = EMBEDDED;
    let mut lines = rows.to_owned();
    let mut known: BTreeMap<String, usize> = names
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(name, at)| Some((name.to_owned(), at.parse().ok()?)))
        .collect();
    let first = rows.lines().count();
    for (place, row) in own.iter().enumerate() {
        let kind = row.get("kind").and_then(toml::Value::as_str).ok_or("an entry of `[[kind]]` needs `kind`")?;
        let is_name =
            |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
        let groups = texts(row.get("groups"));
        if !is_name(kind) || groups.is_empty() || !groups.iter().all(|group| is_name(group)) {
            return Err(format!("`{}` needs `groups`, a list of API groups without versions", kind.escape_debug()));
        }
        for group in groups {
            if known.insert(format!("{group}/{kind}"), first + place).is_some() {
                return Err(format!("{group}/{kind} already has an entry"));
            }
        }
        if row.contains_key("command") || row.contains_key("call") {
            return Err(format!("{kind}: `command` and `call` are for built-in entries only"));
        }
        let text = line(kind, row).map_err(|error| format!("{kind}: {error}"))?;
        let definition = text.splitn(4, '\t').nth(3).unwrap_or_default();
        serde_json::from_str::<KindRow>(definition).map_err(|error| format!("{kind}: {error}"))?;
        lines.push_str(&text);
        lines.push('\n');
    }
    let names: String = known.iter().map(|(name, place)| format!("{name}\t{place}\n")).collect();
    // The table lives as long as the program.
    let (rows, names): (&'static str, &'static str) = (lines.leak(), names.leak());
    Kinds::new(rows, names).verify(first)?;
    Ok(LINES.set((rows, names)).is_ok() || LINES.get().is_some_and(|known| known.0 == rows))
}
