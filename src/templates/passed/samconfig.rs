//! Reads the environments of `samconfig.toml`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::languages::hcl::value::HclValue;
use crate::languages::pipeline::{PlacedWord, words};
use crate::source::{FileId, SourceFiles, Span};

use super::deployment::PassedDeployment;
use super::options::cloudformation_value;

pub(super) const NAME: &str = "samconfig.toml";

/// Returns a deployment for each environment of a file.
pub(super) fn deployments(sources: &SourceFiles, path: &str) -> Vec<PassedDeployment> {
    let Ok(file) = sources.open(path) else { return Vec::new() };
    let text = sources.text(file);
    let (root, errors) = DeTable::parse_recoverable(&text);
    if !errors.is_empty() {
        return Vec::new();
    }
    let environments = root.get_ref().iter().filter_map(|(name, value)| Some((name, table(value)?)));
    environments.filter_map(|(name, table)| environment(path, file, name, table)).collect()
}

fn table<'t, 'd>(value: &'t Spanned<DeValue<'d>>) -> Option<&'t DeTable<'d>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// Returns the deployment of an environment. The settings of its command override those of all commands.
fn environment(
    path: &str,
    file: FileId,
    name: &Spanned<DeString<'_>>,
    commands: &DeTable<'_>,
) -> Option<PassedDeployment> {
    let of = |command: &str| commands.get(command).and_then(table)?.get("parameters").and_then(table);
    let settings = [of("global"), of("deploy")];
    of("deploy")?;
    let mut it = PassedDeployment {
        name: Some(name.get_ref().to_string()),
        ..PassedDeployment::of(path, place(file, name.span()))
    };
    let find = |key: &str| settings.iter().rev().flatten().find_map(|table| table.get(key));
    let span = |value: &Spanned<DeValue<'_>>| place(file, value.span());
    it.template = ["template_file", "template"].iter().find_map(|key| text(find(key)?));
    it.region = find("region").and_then(|value| Some(HclValue::text(text(value)?, span(value))));
    match find("parameter_overrides").map(|value| (value, value.get_ref())) {
        Some((value, DeValue::String(all))) => {
            words(all, span(value)).iter().for_each(|word| cloudformation_value(&mut it, word));
        }
        Some((_, DeValue::Array(items))) => {
            for item in items {
                let parts = text(item).map(|text| words(&text, span(item))).unwrap_or_default();
                parts.iter().for_each(|word| cloudformation_value(&mut it, word));
            }
        }
        Some((_, DeValue::Table(map))) => {
            for (name, value) in map {
                let given = text(value).unwrap_or_else(|| crate::languages::shell::HOLE.to_string());
                cloudformation_value(
                    &mut it,
                    &PlacedWord { text: format!("{}={given}", name.get_ref()), at: span(value) },
                );
            }
        }
        _ => {}
    }
    Some(it)
}

fn place(file: FileId, range: Range<usize>) -> Span {
    Span::new(file, range.start, range.end)
}

fn text(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    }
}
