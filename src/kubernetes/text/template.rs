//! Reads a possible template to documents, as far as this is possible without rendering.

use std::sync::Arc;

use regex::Regex;

use super::expression::TemplateScope;
use super::file::File;
use super::filter;
use super::parsed_once::ParsedOnce;
use super::template_mask::{has_directives, mask, mask_readings};
use crate::languages::yaml::{self, YamlDocument, YamlStream};
use crate::source::{FileId, Limits, SourceFiles, Span, static_regex};

/// The limit on readings. Further branches of a text are not read.
const MOST_READINGS: usize = 8;

pub(in crate::kubernetes) struct ManifestTemplate {
    pub stream: YamlStream,
    /// The documents of the template with other branches of its conditions.
    pub branches: Vec<Vec<YamlDocument>>,
    /// The number of documents that could not be read.
    pub unread: usize,
    /// The reason why facts of the template are only inferred.
    pub inferred: Option<Arc<str>>,
}

/// Reads a file. Text without directives is parsed unchanged. So is text whose directives are inside strings, which
/// tools other than Helm use.
pub(in crate::kubernetes) fn read(file: &File, text: &str, limits: Limits, once: &ParsedOnce) -> ManifestTemplate {
    let directives = has_directives(text);
    if !(directives && file.of_chart) {
        let is_wanted = |document: &str| match file.joined_only {
            // Only documents that others may name are parsed, because there are few of them.
            true => filter::may_be_joined(document.as_bytes()),
            false => file.idle_too || !filter::is_idle(document.as_bytes()),
        };
        let wants_all = || yaml::documents(text).into_iter().all(|it| text.get(it).is_some_and(is_wanted));
        let known = once.take(file.id).filter(|_| wants_all());
        let mut stream = known.unwrap_or_else(|| yaml::read_those(file.id, text, limits, is_wanted));
        if stream.broken() > 0 && is_json(&file.path) {
            stream = yaml::read_json(file.id, text, limits, is_wanted).unwrap_or(stream);
            for diagnostic in &mut stream.diagnostics {
                diagnostic.message = diagnostic.message.replacen("YAML", "JSON", 1);
            }
        }
        if stream.broken() == 0 && !(directives && stream.has_directives) {
            return ManifestTemplate { stream, branches: Vec::new(), unread: 0, inferred: None };
        }
        if !directives {
            return without_placeholders(file, text, stream, limits);
        }
    }
    let release = file.release.clone().unwrap_or_default();
    let release = [release.name, release.namespace];
    let scope = TemplateScope { values: file.values.clone(), release, ..TemplateScope::default() };
    // Charts report their undecided conditions separately, so one reading is enough.
    let most = if file.of_chart { 1 } else { MOST_READINGS };
    let readings = mask_readings(text, &scope, most);
    let mut readings: Vec<YamlStream> =
        readings.iter().map(|masked| yaml::read_masked(file.id, text, masked, limits)).collect();
    // One branch alone may be invalid YAML, so its errors do not count as errors of the file.
    let unread = readings.iter().map(YamlStream::broken).min().unwrap_or_default();
    readings.retain(|stream| stream.broken() == unread);
    let mut readings = readings.into_iter();
    let mut stream = readings.next().unwrap_or_default();
    let branches = readings.map(|stream| stream.documents).collect();
    // An error in the masked text may not be an error in the template.
    stream.diagnostics.clear();
    ManifestTemplate { stream, branches, unread, inferred: Some("a template, read without rendering".into()) }
}

/// Returns comments for gpulint in a file that is only read for them. The file may be a template.
pub(in crate::kubernetes) fn comments(sources: &SourceFiles, file: FileId) -> Vec<Span> {
    let text = sources.text(file);
    if memchr::memmem::find(text.as_bytes(), b"gpulint").is_none() {
        return Vec::new();
    }
    match has_directives(&text) {
        true => yaml::read_masked(file, &text, &mask(&text, &TemplateScope::default()), sources.limits()).comments,
        false => yaml::read_within(file, &text, sources.limits()).comments,
    }
}

/// Reads a template without placeholders for whole lines, and without braces at the start of a string, because these
/// make some templates invalid YAML.
fn without_placeholders(file: &File, text: &str, plain: YamlStream, limits: Limits) -> ManifestTemplate {
    let blank = |found: &regex::Captures<'_>| " ".repeat(found.get(0).map_or(0, |all| all.len()));
    let filled = LINES.replace_all(text, blank);
    let bracketed = BRACES.replace_all(&filled, "$1<$2>$3");
    if *bracketed != *text {
        let stream = yaml::read_within(file.id, &bracketed, limits);
        if stream.broken() < plain.broken() {
            return ManifestTemplate {
                stream,
                branches: Vec::new(),
                unread: 0,
                inferred: Some("a template, read without filling in its placeholders".into()),
            };
        }
    }
    let mut stream = plain;
    let is_data = is_json(&file.path) && !filter::names_devices(text.as_bytes());
    let is_other = is_json(&file.path) && !file.is_named && !begins_like_json(text) && !has_root_kind(text);
    if is_other || (is_of_anything(&file.path) || is_data) && !names_a_kind(text) {
        // The file may be a template for a shell or Terraform, or a command in a file that is called JSON.
        stream.diagnostics.clear();
    }
    ManifestTemplate { stream, branches: Vec::new(), unread: 0, inferred: None }
}

/// Returns whether the name shows only that the file is a template, but not for which program.
fn is_of_anything(path: &str) -> bool {
    let end = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    ["template", "tpl", "tmpl", "gotmpl", "j2", "jinja", "jinja2"].contains(&&*end)
}

fn is_json(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("json"))
}

/// Returns whether the first text after comments is a JSON object or list.
fn begins_like_json(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let line = text.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with("//"));
    line.is_some_and(|line| line.starts_with(['{', '[', '"']) || line.starts_with("/*"))
}

/// Returns whether a line sets the kind of an object in YAML.
fn has_root_kind(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("kind:") || line.starts_with("apiVersion:"))
}

fn names_a_kind(text: &str) -> bool {
    let names = |line: &str, key: &str| line.trim_start_matches([' ', '-', '"', '\'', '{']).starts_with(key);
    text.lines().any(|line| names(line, "kind") || names(line, "apiVersion"))
}

static_regex!(static LINES: Regex = r"(?m)^[ \t]*\$\{[A-Za-z_][A-Za-z0-9_]*\}[ \t]*$");

static_regex!(
    /// `image: {user}/server:1`, which YAML reads as a mapping followed by text.
    static BRACES: Regex = r#"(?m)^([ \t]*(?:-[ \t]+)*(?:[\w./-]+:[ \t]+)?)\{([A-Za-z_][\w-]*)\}([^\s,}\]])"#
);
