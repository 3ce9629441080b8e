//! Which directories are roots, and which files assign their variables.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::source::{Sources, join, normalize, parent, those};

use super::module::{ModuleCode, is_configuration};
use super::modules::is_local;
use crate::terraform::syntax::Kind;

/// The directories of Terraform files that `paths` name or lie in, sorted.
pub(in crate::terraform) fn directories(sources: &Sources, paths: &[String]) -> BTreeSet<String> {
    let directory = |path: &String| {
        let path = normalize(path)?;
        if is_terraform_file(&path) {
            return Some(parent(&path).to_owned());
        }
        (!is_other_file(&path)).then_some(path)
    };
    let all: BTreeSet<String> = paths.iter().filter_map(directory).collect();
    // Those of variables alone may hold none, and the system is asked for each.
    those(all.into_iter().collect(), |directory| has_configuration(sources, directory)).into_iter().collect()
}

/// Files that are read for something else; what has none of these names may be a directory.
fn is_other_file(path: &str) -> bool {
    const OTHER: [&str; 10] =
        [".yaml", ".yml", ".json", ".tpl", ".tmpl", ".j2", ".jinja", ".jinja2", ".gotmpl", ".template"];
    OTHER.iter().any(|suffix| path.ends_with(suffix))
}

fn is_terraform_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    is_configuration(name) || is_variable_file(name)
}

pub(in crate::terraform) fn has_configuration(sources: &Sources, directory: &str) -> bool {
    sources.tree().list(directory).iter().any(|entry| !entry.is_directory && is_configuration(&entry.name))
}

pub(in crate::terraform) fn is_variable_file(name: &str) -> bool {
    name.ends_with(".tfvars") || name.ends_with(".tfvars.json")
}

/// The directories to evaluate.
#[derive(Debug, Default)]
pub(in crate::terraform) struct Chosen {
    pub(in crate::terraform) roots: Vec<String>,
    /// Modules that nothing calls: what they need is not known.
    pub(in crate::terraform) uncalled: Vec<String>,
}

/// The roots among these directories: those that nobody calls as a module, and those that are named.
pub(in crate::terraform) fn detect(sources: &Sources, codes: &[Arc<ModuleCode>], named: &[String]) -> Chosen {
    let named: BTreeSet<String> = named.iter().filter_map(|path| normalize(path)).collect();
    let called: BTreeSet<String> = codes.iter().flat_map(|code| local_calls(code)).collect();
    let mut chosen = Chosen::default();
    for code in codes {
        let directory = &code.directory;
        if named.contains(directory) {
            chosen.roots.push(directory.clone());
        } else if !called.contains(directory) {
            let module = is_made_to_be_called(sources, code);
            if module { &mut chosen.uncalled } else { &mut chosen.roots }.push(directory.clone());
        }
    }
    if chosen.roots.is_empty() {
        chosen.roots = std::mem::take(&mut chosen.uncalled);
    }
    chosen
}

/// It waits for values that no file assigns, and configures neither a provider nor where its state lies.
fn is_made_to_be_called(sources: &Sources, code: &ModuleCode) -> bool {
    let waits = code.variables.iter().any(|variable| variable.body.attribute("default").is_none());
    let backend = code.others.iter().any(|block| {
        &*block.keyword.text == "terraform"
            && block.body.blocks.iter().any(|inner| matches!(&*inner.keyword.text, "backend" | "cloud"))
    });
    waits && !backend && code.providers.iter().next().is_none() && !has_variable_files(sources, &code.directory)
}

fn has_variable_files(sources: &Sources, directory: &str) -> bool {
    sources.tree().list(directory).iter().any(|entry| is_variable_file(&entry.name))
}

/// The directories that a module calls by path.
fn local_calls(code: &ModuleCode) -> Vec<String> {
    let source = |call: &crate::terraform::syntax::BlockNode| match &call.body.attribute("source")?.expression.kind {
        Kind::Text(source) if is_local(source) => join(&code.directory, source),
        _ => None,
    };
    code.calls.iter().filter_map(source).filter(|called| *called != code.directory).collect()
}

/// The files that Terraform reads variables from by itself, in the order in which they count.
pub(in crate::terraform) fn automatic_files(sources: &Sources, directory: &str) -> Vec<String> {
    let entries = sources.tree().list(directory);
    let names: Vec<&str> = entries.iter().filter(|e| !e.is_directory).map(|e| e.name.as_str()).collect();
    let exact = ["terraform.tfvars", "terraform.tfvars.json"].into_iter().filter(|name| names.contains(name));
    let automatic =
        names.iter().copied().filter(|name| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json"));
    exact.chain(automatic).filter_map(|name| join(directory, name)).collect()
}
