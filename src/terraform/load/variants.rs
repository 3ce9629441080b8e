//! Finds the environments of a root without settings: the same root with different values.
//!
//! Terraform loads only a few variable files automatically. The others belong to the root whose variables they assign.
//! Each such file or directory of files is a separate deployment, and so is each workspace that the code names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::languages::hcl::syntax::BlockNode;
use crate::source::{SourceFiles, matches, parent};
use crate::terraform::border::{CountedAs, GivenRun};

use super::options::TerraformOptions;
use super::passed;
use super::passed::values::PassedCall;
use super::roots::{Assigned, automatic_files, called, is_variable_file};
use super::variant::RootVariant;
use super::workspaces;
use crate::terraform::code::library::ModuleLibrary;
use crate::terraform::code::module::{ModuleCode, is_configuration};

/// The limit on deployments of one root. Real roots have fewer.
const MOST: usize = 1_000;
/// The limit on roots that one file is compared with.
const MOST_ROOTS: usize = 500;
/// Names of files whose values apply to all other files in the same directory and below.
const COMMON: [&str; 8] = ["common", "shared", "base", "default", "defaults", "global", "globals", "all"];
const EXAMPLES: [&str; 4] = ["example", "sample", "template", "dummy"];

/// Assigns variable files to directories of configuration, by the names of their variables.
pub(in crate::terraform) fn files(
    sources: &SourceFiles,
    library: &ModuleLibrary<'_>,
    codes: &[Arc<ModuleCode>],
    paths: &[String],
    options: &TerraformOptions,
) -> Assigned {
    let mut found = Assigned::default();
    let taken: BTreeSet<&String> = options.given_runs.iter().flat_map(|run| &run.variable_files).collect();
    let candidates = paths.iter().filter(|path| is_variable_file(path) && !taken.contains(path));
    let candidates: Vec<&String> = candidates.filter(|path| !is_automatic(path, sources)).collect();
    if candidates.is_empty() || options.choose_values() {
        return found;
    }
    let called = called(codes);
    let callers = codes.iter().filter(|code| !called.contains(&code.directory));
    let by_directory: BTreeMap<&str, &ModuleCode> = callers.map(|code| (&*code.directory, &**code)).collect();
    for path in candidates {
        let owners = owners(path, &by_directory, library);
        if owners.is_empty() {
            found.unused.push(path.clone());
        }
        for owner in owners {
            found.of.entry(owner).or_default().push(path.clone());
        }
    }
    found
}

/// Returns whether Terraform loads the file automatically.
fn is_automatic(path: &str, sources: &SourceFiles) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".json").unwrap_or(name);
    (stem == "terraform.tfvars" || stem.ends_with(".auto.tfvars"))
        && sources.tree().list(parent(path)).iter().any(|it| !it.is_directory && is_configuration(&it.name))
}

/// Returns the roots that a variable file is for: the nearest root above it, or else the nearest roots in sibling
/// directories.
fn owners(path: &str, codes: &BTreeMap<&str, &ModuleCode>, library: &ModuleLibrary<'_>) -> Vec<String> {
    let file = library.variable_file(path);
    let names: BTreeSet<&str> = file.names().collect();
    let mut around = Some(parent(path));
    while let Some(directory) = around {
        if codes.get(directory).is_some_and(|code| fits(&names, code) > 0) {
            return vec![directory.to_owned()];
        }
        around = above(directory);
    }
    let mut around = Some(parent(path));
    while let Some(directory) = around {
        let beside = best_below(path, directory, &names, codes);
        if !beside.is_empty() {
            return beside;
        }
        around = above(directory);
    }
    Vec::new()
}

fn above(directory: &str) -> Option<&str> {
    (!directory.is_empty()).then(|| parent(directory))
}

/// Returns how many of the names are variables of the module; 0 if most are not.
fn fits(names: &BTreeSet<&str>, code: &ModuleCode) -> usize {
    let known = names.iter().filter(|name| code.variables.get(name).is_some()).count();
    if known * 2 >= names.len() { known } else { 0 }
}

/// Returns the directories below that declare most of the names. If the path of the file names one of them, returns
/// only that one.
fn best_below(path: &str, around: &str, names: &BTreeSet<&str>, codes: &BTreeMap<&str, &ModuleCode>) -> Vec<String> {
    let prefix = if around.is_empty() { String::new() } else { format!("{around}/") };
    let below = codes.range(prefix.as_str()..).take_while(|(directory, _)| directory.starts_with(&prefix));
    let below = below.take(MOST_ROOTS);
    let is_named = |directory: &str| {
        let name = directory.rsplit('/').next().unwrap_or(directory);
        path.get(prefix.len()..).unwrap_or(path).split(['/', '.']).any(|part| part == name)
    };
    let scored = below.filter_map(|(directory, code)| {
        let known = fits(names, code);
        let waits = |it: &&BlockNode| it.body.attribute("default").is_none();
        let open = code.variables.iter().filter(waits).filter(|it| !names.contains(it.label(0))).count();
        (known > 0).then(|| ((is_named(directory), known, std::cmp::Reverse(open)), (*directory).to_owned()))
    });
    let mut best: Vec<(_, String)> = scored.collect();
    let Some(most) = best.iter().map(|(score, _)| *score).max() else { return Vec::new() };
    best.retain(|(score, _)| *score == most);
    best.into_iter().map(|(_, directory)| directory).collect()
}

/// The files that make the deployments of a root.
pub(in crate::terraform) struct RootFiles<'f> {
    /// The variable files that Terraform does not load automatically.
    pub(in crate::terraform) variables: Option<&'f Vec<String>>,
    /// The commands that deploy the root with values of their own.
    pub(in crate::terraform) calls: Vec<&'f PassedCall>,
}

/// Returns the deployments of one root.
pub(in crate::terraform) fn of_root(
    code: &ModuleCode,
    files: &RootFiles<'_>,
    sources: &SourceFiles,
    library: &ModuleLibrary<'_>,
    options: &TerraformOptions,
) -> Vec<RootVariant> {
    let given = options.given_runs.iter().filter(|run| run.paths.iter().any(|it| is_meant(it, &code.directory)));
    let given: Vec<RootVariant> = given.map(given_variant).collect();
    if !given.is_empty() {
        return given;
    }
    if !options.environments.is_empty() {
        return options.environments.iter().map(|file| of_files(&code.directory, vec![file.clone()])).collect();
    }
    if options.choose_values() {
        return vec![RootVariant { workspace: options.workspace.clone(), ..RootVariant::default() }];
    }
    let mut variants = files.variables.map_or_else(Vec::new, |files| grouped(&code.directory, files, library));
    variants = passed::join(&code.directory, variants, &files.calls, sources);
    if let [RootVariant { label: None, .. }] = variants.as_slice() {
        return variants;
    }
    with_workspaces(&mut variants, workspaces::named(code));
    if variants.is_empty() {
        return vec![RootVariant::default()];
    }
    variants.truncate(MOST);
    // If all variable files are examples, the automatically loaded files are applied.
    let is_applied = |it: &RootVariant| it.counted == CountedAs::Deployed;
    let is_base = variants.iter().any(is_applied)
        && !is_own_environment(&automatic_files(sources, &code.directory), &variants, library);
    let counted = if is_base { CountedAs::Base } else { CountedAs::Deployed };
    variants.insert(0, RootVariant { counted, ..RootVariant::default() });
    variants
}

/// Returns whether the automatically loaded files are a separate environment: the other files assign the same
/// variables, so the automatic ones apply if no other file is named.
fn is_own_environment(automatic: &[String], variants: &[RootVariant], library: &ModuleLibrary<'_>) -> bool {
    let files: Vec<_> = automatic.iter().map(|file| library.variable_file(file)).collect();
    let own: BTreeSet<&str> = files.iter().flat_map(|file| file.names()).collect();
    let others = variants.iter().flat_map(|variant| &variant.files);
    !own.is_empty() && others.into_iter().any(|file| library.variable_file(file).names().any(|name| own.contains(name)))
}

/// Returns whether a pattern in the settings matches a directory.
fn is_meant(pattern: &str, directory: &str) -> bool {
    let pattern = pattern.trim_end_matches("/**").trim_end_matches('/');
    matches(if pattern == "." { "" } else { pattern }, directory)
}

fn given_variant(run: &GivenRun) -> RootVariant {
    let told = run.variable_files.iter().cloned().chain(run.workspace.iter().map(|it| format!("workspace {it}")));
    let label: Vec<String> = run.name.iter().cloned().chain(told.filter(|_| run.name.is_none())).collect();
    RootVariant {
        label: Some(label.join(", ")).filter(|it| !it.is_empty()),
        given_name: run.name.as_deref().map(Into::into),
        files: run.variable_files.clone(),
        variables: run.variables.clone(),
        workspace: run.workspace.clone(),
        modules_directory: run.modules_directory.clone(),
        ..RootVariant::default()
    }
}

fn of_files(root: &str, files: Vec<String>) -> RootVariant {
    let label = files.iter().map(|file| seen_from(root, file)).collect::<Vec<_>>().join(", ");
    let shows = |file: &String| stem(file).split(['-', '_', '.']).any(|word| EXAMPLES.contains(&word));
    let counted = if files.iter().any(shows) { CountedAs::Example } else { CountedAs::Deployed };
    RootVariant { label: Some(label), files, counted, ..RootVariant::default() }
}

/// Returns a path relative to the directory of the root.
fn seen_from<'p>(root: &str, path: &'p str) -> &'p str {
    if root.is_empty() {
        return path;
    }
    path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.strip_suffix(".json").unwrap_or(name);
    name.strip_suffix(".tfvars").unwrap_or(name)
}

/// Groups the variable files of a root that belong together.
fn grouped(root: &str, files: &[String], library: &ModuleLibrary<'_>) -> Vec<RootVariant> {
    let (common, own): (Vec<&String>, Vec<&String>) = files.iter().partition(|file| COMMON.contains(&stem(file)));
    let (common, own) = if own.is_empty() { (own, common) } else { (common, own) };
    let mut by_directory: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for file in &own {
        by_directory.entry(parent(file)).or_default().push(file);
    }
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &own {
        *named.entry(file.rsplit('/').next().unwrap_or(file)).or_default() += 1;
    }
    let mut variants = Vec::new();
    for (directory, files) in by_directory {
        let repeats = files.iter().any(|it| named.get(it.rsplit('/').next().unwrap_or(it)).is_some_and(|n| *n > 1));
        let together = if repeats && are_apart(&files, library) { vec![files] } else { continued(files, library) };
        let is_one = together.len() == 1 && repeats && directory != root;
        for group in together {
            let holds = |file: &&&String| {
                let above = parent(file);
                above == root
                    || above == directory
                    || directory.strip_prefix(above).is_some_and(|it| it.starts_with('/'))
            };
            let mut all: Vec<String> = common.iter().filter(holds).map(|file| (*file).clone()).collect();
            let own: Vec<String> = group.iter().map(|file| (*file).clone()).collect();
            let mut variant = of_files(root, own.clone());
            if is_one {
                variant.label = Some(seen_from(root, directory).to_owned());
            }
            all.extend(own);
            variants.push(RootVariant { files: all, ..variant });
        }
    }
    variants
}

/// Returns whether no two files assign the same variable.
fn are_apart(files: &[&String], library: &ModuleLibrary<'_>) -> bool {
    let mut seen = BTreeSet::new();
    files.iter().all(|file| {
        let read = library.variable_file(file);
        read.names().all(|name| seen.insert(name.to_owned()))
    })
}

/// Groups files into environments; `prod.secrets.tfvars` belongs to `prod.tfvars`.
fn continued<'f>(files: Vec<&'f String>, library: &ModuleLibrary<'_>) -> Vec<Vec<&'f String>> {
    let mut groups: Vec<Vec<&'f String>> = Vec::new();
    let mut sorted = files;
    sorted.sort_by_key(|file| (stem(file).len(), file.as_str()));
    for file in sorted {
        let goes_on = |group: &Vec<&String>| {
            let first = group.first().map_or("", |it| stem(it));
            let rest = stem(file).strip_prefix(first);
            rest.is_some_and(|rest| rest.starts_with(['.', '-', '_']))
                && are_apart(&group.iter().copied().chain([file]).collect::<Vec<_>>(), library)
        };
        match groups.iter_mut().find(|group| goes_on(group)) {
            Some(group) => group.push(file),
            None => groups.push(vec![file]),
        }
    }
    groups.sort();
    groups
}

/// Adds each workspace to the files with its name. Other workspaces are separate deployments.
fn with_workspaces(variants: &mut Vec<RootVariant>, workspaces: BTreeSet<Arc<str>>) {
    for name in workspaces {
        let is_of = |variant: &&mut RootVariant| {
            let files = variant.files.iter();
            variant.workspace.is_none()
                && files.flat_map(|file| file.split(['/', '.'])).any(|part| part.eq_ignore_ascii_case(&name))
        };
        let mut found = false;
        for variant in variants.iter_mut().filter(is_of) {
            variant.workspace = Some(name.to_string());
            found = true;
        }
        if !found {
            let label = Some(format!("workspace {name}"));
            variants.push(RootVariant { label, workspace: Some(name.to_string()), ..RootVariant::default() });
        }
    }
}
