//! Finds the document that another one refers to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SkipKind};
use crate::languages::hcl::value::HclValue;
use crate::source::{file_name, has_mark, is_below, join, parent, those};

use super::reading::{ParameterValues, TemplateInput, TemplatesByPath};

/// Returns the document at a location: a path, or the end of a URL whose beginning only the cloud knows.
pub(super) fn meant<'m, T>(location: &HclValue, folder: &str, all: &'m BTreeMap<String, T>) -> Option<&'m str> {
    let known = location.as_text();
    let text = match (&known, location.cause()) {
        (Some(text), _) => text.as_ref(),
        (None, cause) => last_known(cause?.outline.as_deref()?)?,
    };
    let is_address = known.is_none() || text.contains("://");
    if !is_address {
        return at(&join(folder, text)?, all);
    }
    let path = text.split_once("://").map_or(text, |(_, rest)| rest).split('?').next()?;
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let ends = (0..steps.len()).filter_map(|first| Some(steps.get(first..)?.join("/")));
    ends.into_iter().find_map(|end| at(&join(folder, &end)?, all).or_else(|| only_with(&end, all)))
}

/// Returns the last known part of a location, before an unknown access token.
fn last_known(outline: &str) -> Option<&str> {
    let known = outline.split("${").map(|part| part.rsplit('}').next().unwrap_or_default());
    known.filter(|part| !part.is_empty()).last()
}

fn at<'m, T>(path: &str, all: &'m BTreeMap<String, T>) -> Option<&'m str> {
    all.get_key_value(path).map(|(path, _)| path.as_str())
}

/// Returns the only document whose path ends like this.
pub(super) fn only_with<'m, T>(end: &str, all: &'m BTreeMap<String, T>) -> Option<&'m str> {
    let is_one = |path: &&String| path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let mut all = all.keys().filter(is_one);
    all.next().filter(|_| all.next().is_none()).map(String::as_str)
}

/// Returns the files in the folders of templates and their parents that may be parameter files, sorted: those with the
/// ending `own`, and JSON files that contain one of the marks.
pub(super) fn parameter_files<'i, T>(
    input: TemplateInput<'i>,
    templates: &TemplatesByPath<T>,
    own: Option<&str>,
    marks: &[&[u8]],
) -> Vec<&'i String> {
    let folders: BTreeSet<&str> = templates.keys().map(|path| parent(parent(path))).collect();
    let is_near = |path: &str| folders.iter().any(|folder| folder.is_empty() || is_below(path, folder));
    let is_own = |path: &str| own.is_some_and(|own| path.ends_with(own));
    let is_named_so = |path: &str| is_own(path) || path.ends_with(".json");
    let files = input.paths.iter();
    let files = files.filter(|path| is_named_so(path) && !templates.contains_key(*path) && is_near(path));
    let files: BTreeSet<&String> = files.collect();
    let is_one =
        |path: &&String| is_own(path) || input.sources.glance(path, |text| has_mark(text, marks)).unwrap_or(false);
    those(files.into_iter().collect(), is_one)
}

/// The parameters of a document, with whether each has a default.
pub(super) type DeclaredParameters<'t> = BTreeMap<&'t str, bool>;

/// How well the parameters of a document match those of a parameter file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ParameterMatch {
    /// At least half of the given parameters are declared.
    Partial(usize),
    /// All given parameters are declared, and others have no value.
    Incomplete(usize),
    /// All given parameters are declared, and all others have a default.
    Complete,
}

impl ParameterMatch {
    fn of(given: &ParameterValues, declared: &DeclaredParameters<'_>) -> Option<ParameterMatch> {
        let known = given.keys().filter(|name| declared.contains_key(&***name)).count();
        let is_complete = declared.iter().all(|(name, has_default)| *has_default || given.contains_key(*name));
        match () {
            () if known == given.len() && is_complete => Some(ParameterMatch::Complete),
            () if known == 0 || known * 2 < given.len() => None,
            () if known == given.len() => Some(ParameterMatch::Incomplete(known)),
            () => Some(ParameterMatch::Partial(known)),
        }
    }
}

/// Returns the document of a parameter file, which does not name it: the document that matches best. Among several, it
/// is the one whose name the file repeats, or the one next to it. A document that does not match completely must be one
/// of these.
pub(super) fn parameters_of<'t, T>(
    path: &str,
    given: &ParameterValues,
    templates: &'t TemplatesByPath<T>,
    declared: impl Fn(&'t T) -> DeclaredParameters<'t>,
) -> Option<&'t str> {
    let folder = parent(path);
    let is_near =
        |at: &str| parent(at).is_empty() || is_below(path, parent(at)) || parent(parent(at)) == parent(folder);
    let near = templates.iter().filter(|(at, _)| is_near(at));
    let matching = near.filter_map(|(at, it)| Some((ParameterMatch::of(given, &declared(it))?, at.as_str())));
    let matching: Vec<(ParameterMatch, &str)> = matching.collect();
    let best = matching.iter().map(|(it, _)| *it).max()?;
    let all: Vec<&str> = matching.iter().filter(|(it, _)| *it == best).map(|(_, at)| *at).collect();
    let only = |is_it: &dyn Fn(&str) -> bool| {
        let mut those = all.iter().filter(|at| is_it(at));
        those.next().copied().filter(|_| those.next().is_none())
    };
    match all.as_slice() {
        [only] if best == ParameterMatch::Complete => Some(only),
        _ => only(&|at| names(path, stem(at)) && parent(at) == folder)
            .or_else(|| only(&|at| names(path, stem(at))))
            .or_else(|| only(&|at| parent(at) == folder)),
    }
}

/// The limit on messages about one file.
const MOST_UNDECLARED: usize = 20;

/// Returns a message about each parameter that a file sets and its template does not declare.
pub(super) fn undeclared(
    file: &str,
    template: &str,
    given: &ParameterValues,
    declared: &DeclaredParameters<'_>,
) -> Vec<Diagnostic> {
    let known: BTreeSet<String> = declared.keys().map(|name| name.to_ascii_lowercase()).collect();
    let extra = given.iter().filter(|(name, _)| !known.contains(&name.to_ascii_lowercase())).take(MOST_UNDECLARED);
    let message = |(name, value): (&Arc<str>, &HclValue)| {
        let message = format!("{file} sets the parameter `{name}`, which {template} does not declare");
        Diagnostic::warning(message, value.span)
            .skipping(SkipKind::UndeclaredParameter, "parameter that no template declares")
            .with_help("correct the name or remove the parameter: the cloud may refuse the deployment")
    };
    extra.map(message).collect()
}

/// Returns true if the name of a file or its folder repeats that of a template.
fn names(path: &str, template: &str) -> bool {
    let is_it = |name: &str| {
        name.strip_prefix(template).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            || name.strip_suffix(template).is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
    };
    is_it(stem(path)) || is_it(file_name(parent(path)))
}

/// Returns `gpu` for `a/gpu.template.yaml`.
fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.split('.').next().unwrap_or(name)
}

/// Returns a path relative to a folder.
pub(super) fn beside<'p>(path: &'p str, folder: &str) -> &'p str {
    path.strip_prefix(folder).map_or(path, |rest| rest.trim_start_matches('/'))
}
