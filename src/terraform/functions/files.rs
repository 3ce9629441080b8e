//! Implements the functions that read files of the tree.

use globset::GlobBuilder;

use crate::languages::hcl::value::{Cause, HclData, HclValue};
use crate::source::{FileId, Span, join, normalize};
use crate::terraform::evaluate::{Scope, outside_of_prefix, set};

use super::{Arity, CallArguments, Function, FunctionFailure, FunctionResult, known};

/// The maximum depth of directories. Deeper nesting is probably a link to a parent.
const DEEPEST: usize = 20;

/// The cost of listing a directory.
const LISTING_STEPS: u64 = 500;

pub(super) const TABLE: &[(&str, Arity, Function)] = &[
    ("abspath", 1..=1, |a| Err(elsewhere(a, "`abspath` depends on the directory in which Terraform runs".into()))),
    ("basename", 1..=1, basename),
    ("dirname", 1..=1, dirname),
    ("file", 1..=1, file),
    ("fileexists", 1..=1, file_exists),
    ("fileset", 2..=2, file_set),
    ("pathexpand", 1..=1, path_expand),
    ("templatefile", 2..=2, template_file),
];

fn elsewhere(a: &CallArguments<'_>, why: String) -> FunctionFailure {
    FunctionFailure::Unknown(Cause::new(why, a.span).into())
}

fn basename(a: &CallArguments<'_>) -> FunctionResult {
    let path = a.text(0)?;
    let trimmed = path.trim_end_matches('/');
    a.answer(match (&*path, trimmed) {
        ("", _) => ".",
        (_, "") => "/",
        (_, trimmed) => trimmed.rsplit('/').next().unwrap_or(trimmed),
    })
}

fn path_expand(a: &CallArguments<'_>) -> FunctionResult {
    let path = a.text(0)?;
    if path.starts_with('~') {
        return Err(elsewhere(a, "`~` depends on the user who runs Terraform".into()));
    }
    a.answer(&*path)
}

/// Returns the text of a file, with positions in that file.
fn file(a: &CallArguments<'_>) -> FunctionResult {
    let file = open(a, 0)?;
    let text = a.evaluator.sources.text(file);
    a.evaluator.budget.spend_bytes(text.len())?;
    let span = Span::new(file, 0, text.len());
    Ok(HclValue::text(text, span))
}

fn dirname(a: &CallArguments<'_>) -> FunctionResult {
    let path = a.text(0)?;
    let (rooted, directory) = match path.rsplit_once('/') {
        Some((directory, _)) => (directory.is_empty() || directory.starts_with('/'), directory),
        None => (false, ""),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if rooted => {}
            _ => parts.push(part),
        }
    }
    let cleaned = format!("{}{}", if rooted { "/" } else { "" }, parts.join("/"));
    a.answer(if cleaned.is_empty() { ".".into() } else { cleaned })
}

fn file_exists(a: &CallArguments<'_>) -> FunctionResult {
    let path = a.text(0)?;
    let full = place(a, &path);
    if full.as_ref().is_some_and(|full| !a.evaluator.sources.tree().list(full).is_empty()) {
        return Err(format!("{path} is a directory").into());
    }
    match open(a, 0) {
        Ok(_) => a.answer_bool(true),
        Err(FunctionFailure::Refused(_)) if full.is_some_and(|full| is_written_by_terraform(a, &full)) => {
            Err(elsewhere(a, format!("Terraform writes {path} before it evaluates this expression")))
        }
        Err(FunctionFailure::Refused(_)) => a.answer_bool(false),
        Err(unknown) => Err(unknown),
    }
}

/// Forms of paths below a root that Terraform writes before it evaluates anything.
const WRITTEN: [&str; 6] = [
    ".terraform.lock.hcl",
    ".terraform.tfstate.lock.info",
    "terraform.tfstate",
    ".terraform/terraform.tfstate",
    ".terraform/modules/modules.json",
    ".terraform/providers/registry.terraform.io/hashicorp/null/3.2.4/linux_amd64/terraform-provider-null_v3.2.4_x5",
];

fn is_written_by_terraform(a: &CallArguments<'_>, full: &str) -> bool {
    let root = a.evaluator.root.as_str();
    let inside = if root.is_empty() { Some(full) } else { full.strip_prefix(root).and_then(|it| it.strip_prefix('/')) };
    inside.is_some_and(|it| it.starts_with(".terraform/") || WRITTEN.contains(&it))
}

/// Opens a path relative to the root, if it is in the tree.
fn open(a: &CallArguments<'_>, index: usize) -> Result<FileId, FunctionFailure> {
    let path = a.text(index)?;
    let Some(full) = place(a, &path) else { return Err(outside(a, &path)) };
    let full = a.evaluator.shadows.file(a.evaluator.sources, full);
    a.evaluator.touched.borrow_mut().insert(full.as_str().into());
    a.evaluator.sources.open(&full).map_err(|error| FunctionFailure::Refused(format!("{path}: {error}")))
}

/// Returns the path in the tree. Relative paths start at the root, and absolute paths must name the tree.
fn place(a: &CallArguments<'_>, path: &str) -> Option<String> {
    match outside_of_prefix(path) {
        Some(inside) => normalize(inside),
        None if path.starts_with(['/', '~']) => None,
        None => join(&a.evaluator.root, path),
    }
}

fn outside(a: &CallArguments<'_>, path: &str) -> FunctionFailure {
    elsewhere(a, format!("{path} is outside the files that gpulint reads"))
}

/// Returns the files below a directory whose paths match a pattern.
fn file_set(a: &CallArguments<'_>) -> FunctionResult {
    let path = a.text(0)?;
    let Some(base) = place(a, &path) else { return Err(outside(a, &path)) };
    let base = a.evaluator.shadows.directory(a.evaluator.sources, base);
    let pattern = a.text(1)?;
    let glob = GlobBuilder::new(&pattern).literal_separator(true).build().map_err(|_| "this is not a valid pattern")?;
    let matcher = glob.compile_matcher();
    let written = WRITTEN.into_iter().find(|written| {
        let full = join(&a.evaluator.root, written).unwrap_or_default();
        let below = if base.is_empty() {
            Some(full.as_str())
        } else {
            full.strip_prefix(&base).and_then(|it| it.strip_prefix('/'))
        };
        below.is_some_and(|it| matcher.is_match(it)) && a.evaluator.sources.tree().read(&full).is_err()
    });
    if let Some(written) = written {
        return Err(elsewhere(
            a,
            format!("Terraform writes {written}, which matches {pattern}, before it evaluates this expression"),
        ));
    }
    let mut found = Vec::new();
    let mut left = vec![String::new()];
    while let Some(directory) = left.pop() {
        let Some(full) = join(&base, &directory) else { continue };
        a.evaluator.budget.spend(LISTING_STEPS)?;
        for entry in a.evaluator.sources.tree().list(&full) {
            a.evaluator.budget.spend(10)?;
            let name = if directory.is_empty() { entry.name } else { format!("{directory}/{}", entry.name) };
            let deep = pattern.contains("**") || pattern.matches('/').count() > directory.matches('/').count();
            match entry.is_directory {
                true if deep && name.matches('/').count() < DEEPEST => left.push(name),
                false if matcher.is_match(&name) => found.push(HclValue::text(name, a.span)),
                _ => {}
            }
        }
    }
    Ok(set(found, a.span))
}

/// Returns true if Terraform accepts a name in a reference.
pub(in crate::terraform) fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Renders a template file. The positions of the result are in the template, like those of `file` in its file.
fn template_file(a: &CallArguments<'_>) -> FunctionResult {
    let file = open(a, 0)?;
    let length = a.evaluator.sources.text(file).len();
    a.evaluator.budget.spend_bytes(length)?;
    let span = Span::new(file, 0, length);
    let given = known(a.get(1)?)?;
    let entries = given.entries().ok_or("the second argument is not an object")?;
    if let Some(name) = entries.known.keys().find(|name| !is_identifier(name)) {
        return Err(format!("`{name}` cannot be the name of a variable").into());
    }
    let template = a.evaluator.library.template(file);
    let template = Result::as_ref(&*template).map_err(|error| FunctionFailure::Refused(error.message.clone()))?;
    let scope = Scope { names: Some(&entries.known), ..Scope::CONSTANT };
    let result = a.evaluator.evaluate(template, scope);
    match &result.data {
        HclData::Unknown(cause) => Ok(HclValue::because(cause, span)),
        HclData::Text(_) => Ok(result.at(span)),
        _ => match result.as_text() {
            Some(text) => Ok(HclValue::text(&*text, span)),
            None => Ok(result.at(span)),
        },
    }
}
