//! Finds the module of a unit, and the files of it that Terraform reads.

use std::fmt::Write;
use std::sync::Arc;

use crate::languages::hcl::value::{HclValue, ObjectMembers};
use crate::source::{FileId, Segment, Span};
use crate::terraform::code::module::has_configuration;
use crate::terraform::code::module::{FileText, ModuleCode, ModuleFile, files_of};
use crate::terraform::evaluate::{Shadows, outside_of_prefix};

use super::TerragruntUnit;
use super::reader::{TerragruntReader, located};

/// The target of a source.
pub(super) enum ModuleSource {
    /// A directory of the tree.
    Here(String),
    /// A path that does not exist.
    Missing(String),
    /// A source that would have to be downloaded, in the form of a registry or git.
    Elsewhere(String),
}

pub(super) fn source(reader: &TerragruntReader<'_>, shadows: &Shadows, base: &str, text: &str) -> ModuleSource {
    if let Some(registry) = text.strip_prefix("tfr://") {
        let path = registry.split_once('/').map_or(registry, |(_, path)| path);
        return ModuleSource::Elsewhere(path.split('?').next().unwrap_or(path).to_owned());
    }
    let path = text.strip_prefix("file://").unwrap_or(text);
    let path = path.split('?').next().unwrap_or(path);
    let is_path = path.starts_with('.') || outside_of_prefix(path).is_some();
    let place = located(base, path).map(|it| {
        let places = shadows.candidates(&it);
        places.iter().find(|it| !reader.sources.tree().list(it).is_empty()).cloned()
    });
    match place {
        Some(Some(directory)) if is_path || !path.contains("://") => ModuleSource::Here(directory),
        _ if is_path => ModuleSource::Missing(path.to_owned()),
        _ => ModuleSource::Elsewhere(text.to_owned()),
    }
}

/// Returns the files that Terraform reads for a unit: those of the module, replaced by those of the unit, and those
/// that Terragrunt generates.
pub(super) fn effective(
    reader: &TerragruntReader<'_>,
    module: Option<&str>,
    unit: &TerragruntUnit,
    settings: &HclValue,
) -> Arc<ModuleCode> {
    let own = unit.real_directory();
    let mut files = module.map(|it| files_of(reader.sources, it)).unwrap_or_default();
    let mut is_plain = module.is_some();
    if module != Some(own) && has_configuration(reader.sources, own) {
        is_plain = false;
        for file in files_of(reader.sources, own) {
            files.retain(|it| it.name != file.name);
            files.push(file);
        }
    }
    for (name, text, wins) in generated(reader, settings) {
        let known = files.iter().position(|it| it.name == name);
        match known {
            Some(_) if !wins => continue,
            Some(at) => drop(files.remove(at)),
            None => {}
        }
        is_plain = false;
        files.push(ModuleFile { name, text: FileText::Made(text) });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    match module {
        Some(module) if is_plain => reader.library.module(module),
        _ => reader.module(module.unwrap_or(own), files),
    }
}

/// Returns the files of `generate`: name, text, and whether they replace others.
fn generated(reader: &TerragruntReader<'_>, settings: &HclValue) -> Vec<(String, FileId, bool)> {
    let blocks = settings.entries().and_then(|it| it.get("generate")).and_then(HclValue::entries);
    let mut files = Vec::new();
    for (_, block) in blocks.into_iter().flat_map(ObjectMembers::iter) {
        let member = |name: &str| block.entries().and_then(|it| it.get(name));
        let text = |name: &str| member(name).and_then(|it| it.as_text().map(|it| it.into_owned()));
        let (Some(path), Some(contents)) = (text("path"), member("contents")) else { continue };
        let path = path.strip_prefix("./").unwrap_or(&path).to_owned();
        let is_off = member("disable").and_then(HclValue::as_bool) == Some(true);
        if is_off || path.contains('/') || !crate::terraform::code::module::is_configuration(&path) {
            continue;
        }
        let Some(written) = known_text(contents) else { continue };
        let wins = text("if_exists").as_deref() != Some("skip");
        let file = reader.generated_file(contents.span, written, |text| derived(reader, text, contents.span));
        files.push((path, file, wins));
    }
    files
}

/// Returns a string, or its outline with placeholders.
fn known_text(value: &HclValue) -> Option<String> {
    match value.cause() {
        Some(cause) => cause.outline.as_deref().map(|outline| outline.replace("${", "$${")),
        None => value.as_text().map(|it| it.into_owned()),
    }
}

/// Returns generated text with one origin. Equal lines have the positions of the lines at the origin.
fn derived(reader: &TerragruntReader<'_>, text: String, origin: Span) -> FileId {
    let written = reader.sources.snippet(origin);
    let mut segments = vec![Segment { start: 0, origin, linear: false }];
    let (mut at, mut from) = (0u32, 0usize);
    for line in text.split_inclusive('\n') {
        let wanted = line.trim();
        let found = (!wanted.is_empty()).then(|| written.get(from..)?.find(wanted)).flatten();
        if let Some(found) = found {
            let indent = line.len() - line.trim_start().len();
            let start = origin.start + (from + found) as u32;
            let place = Span { file: origin.file, start, end: start + wanted.len() as u32 };
            segments.push(Segment { start: at + indent as u32, origin: place, linear: true });
            let end = at + (indent + wanted.len()) as u32;
            segments.push(Segment { start: end, origin, linear: false });
            from += found + wanted.len();
        }
        at += line.len() as u32;
    }
    let path = reader.sources.path(origin.file);
    reader.sources.derive(&path, text, segments)
}

/// Creates a root that only calls a module which is not in the tree. The arguments of the call are the inputs of the
/// unit.
pub(super) fn call_of(
    reader: &TerragruntReader<'_>,
    unit: &TerragruntUnit,
    module: &str,
    place: Span,
    settings: &HclValue,
) -> Arc<ModuleCode> {
    let inputs =
        settings.entries().and_then(|it| it.get("inputs")).and_then(HclValue::entries).cloned().unwrap_or_default();
    let name = unit.directory.rsplit('/').next().unwrap_or_default();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    let mut text = String::new();
    let mut segments = vec![Segment { start: 0, origin: place, linear: false }];
    let quoted: String = module.chars().filter(|c| !c.is_control() && !"\"\\$%{}".contains(*c)).collect();
    let _ = write!(text, "module \"{name}\" {{\n  source = \"{quoted}\"\n");
    for (name, value) in inputs.iter().filter(|(name, _)| is_name(name)) {
        segments.push(Segment { start: text.len() as u32, origin: value.span, linear: false });
        let _ = writeln!(text, "  {name} = var.{name}");
    }
    segments.push(Segment { start: text.len() as u32, origin: place, linear: false });
    text.push_str("}\n");
    for (name, _) in inputs.iter().filter(|(name, _)| is_name(name)) {
        let _ = write!(text, "variable \"{name}\" {{\n  type = any\n}}\n");
    }
    let path = reader.sources.path(place.file);
    let file = reader.sources.derive(&path, text, segments);
    let call = ModuleFile { name: "terragrunt.tf".into(), text: FileText::Made(file) };
    let mut files: Vec<ModuleFile> = files_of(reader.sources, unit.real_directory());
    files.push(call);
    for (name, text, _) in generated(reader, settings) {
        files.push(ModuleFile { name: format!("generated-{name}"), text: FileText::Made(text) });
    }
    reader.module(unit.real_directory(), files)
}

/// Returns whether an input can be an argument of the call. `source` and similar names cannot, because the call uses
/// them itself.
fn is_name(name: &str) -> bool {
    const OWN: [&str; 6] = ["source", "version", "count", "for_each", "providers", "depends_on"];
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_letter)
        && !OWN.contains(&name)
}
