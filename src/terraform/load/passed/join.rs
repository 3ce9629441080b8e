//! Joins the commands of a root with the deployments that its variable files make.

use std::collections::BTreeMap;

use crate::languages::shell::HOLE;
use crate::source::{SourceFiles, Span, around, file_name, join as join_path, parent};

use super::values::{PassedCall, PassedFile, PassedValue};
use crate::terraform::load::variant::RootVariant;

/// Returns the deployments of variable files with the values of commands, and the deployments that only commands make.
pub(in crate::terraform::load) fn join(
    directory: &str,
    mut variants: Vec<RootVariant>,
    calls: &[&PassedCall],
    sources: &SourceFiles,
) -> Vec<RootVariant> {
    let of_files = variants.len();
    let mut by_variant: BTreeMap<usize, Vec<RootVariant>> = BTreeMap::new();
    let mut own: Vec<RootVariant> = Vec::new();
    for call in calls {
        let targets: Vec<usize> = (0..of_files).filter(|at| is_of(call, directory, &variants[*at])).collect();
        if targets.is_empty() {
            add(&mut own, alone(call, directory, sources));
        }
        for at in targets {
            let variant = RootVariant { workspace: variants[at].workspace.clone(), ..variants[at].clone() };
            add(by_variant.entry(at).or_default(), with_values(variant, call));
        }
    }
    for (at, mut all) in by_variant {
        let further = all.split_off(1);
        variants[at] = all.remove(0);
        let number = |(number, it): (usize, RootVariant)| named(it, directory, number + 2);
        variants.extend(further.into_iter().enumerate().map(number));
    }
    // The only command is the way in which the root is deployed.
    if let ([_], true) = (own.as_slice(), variants.is_empty()) {
        return own;
    }
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for it in own {
        let number = numbers.entry(it.callers.first().cloned().unwrap_or_default()).or_default();
        *number += 1;
        variants.push(named(it, directory, *number));
    }
    variants
}

/// Returns the deployment that one command makes.
fn alone(call: &PassedCall, directory: &str, sources: &SourceFiles) -> RootVariant {
    let mut variant = with_values(RootVariant::default(), call);
    for file in &call.files {
        let there = candidates(call, directory, file).into_iter().find(|path| sources.open(path).is_ok());
        match there {
            Some(path) => variant.files.push(path),
            None => variant.missing = Some(missing(call, file)),
        }
    }
    variant
}

fn missing(call: &PassedCall, file: &PassedFile) -> (String, Span) {
    let written = file.written.trim_start_matches('/').replace(HOLE, "…");
    (format!("{} passes the variable file `{written}`, which gpulint cannot find", call.path), file.at)
}

/// Returns the paths that a variable file of a command may have.
fn candidates(call: &PassedCall, directory: &str, file: &PassedFile) -> Vec<String> {
    let written = file.written.as_str();
    if written.contains(HOLE) {
        return Vec::new();
    }
    let bases = std::iter::once(directory).chain(around(parent(&call.path)));
    bases.filter_map(|base| join_path(base, written.trim_start_matches('/'))).collect()
}

/// Returns whether a command names the variable files of a deployment. An unknown part of a name matches each.
fn is_of(call: &PassedCall, directory: &str, variant: &RootVariant) -> bool {
    let is_named = |file: &PassedFile, path: &String| match file.written.contains(HOLE) {
        false => candidates(call, directory, file).contains(path),
        true => is_like(file_name(&file.written), file_name(path)) && file.written.len() > HOLE.len_utf8(),
    };
    variant.files.iter().any(|path| call.files.iter().any(|file| is_named(file, path)))
}

/// Returns whether a name matches a name with unknown parts.
fn is_like(pattern: &str, name: &str) -> bool {
    match pattern.split_once(HOLE) {
        Some((before, after)) => {
            let end = after.rsplit(HOLE).next().unwrap_or(after);
            name.len() >= before.len() + end.len() && name.starts_with(before) && name.ends_with(end)
        }
        None => pattern == name,
    }
}

fn with_values(variant: RootVariant, call: &PassedCall) -> RootVariant {
    let workspace = call.workspace.clone().or(variant.workspace);
    RootVariant { passed: call.values.clone(), callers: vec![call.path.clone()], workspace, ..variant }
}

/// Adds a deployment, unless a known one is the same: no variable has two different values.
fn add(all: &mut Vec<RootVariant>, new: RootVariant) {
    let same = all.iter_mut().find(|it| it.files == new.files && it.workspace == new.workspace && agree(it, &new));
    let Some(known) = same else { return all.push(new) };
    for value in new.passed {
        match known.passed.iter_mut().find(|it| it.name == value.name && it.is_environment == value.is_environment) {
            Some(first) if first.text.is_ok() && value.text.is_err() => *first = value,
            Some(_) => {}
            None => known.passed.push(value),
        }
    }
    known.callers.extend(new.callers);
    known.callers.sort();
    known.callers.dedup();
    known.missing = known.missing.take().or(new.missing);
}

/// Returns whether no variable has two different literal values.
fn agree(one: &RootVariant, other: &RootVariant) -> bool {
    let text = |of: &RootVariant, name: &str| {
        of.passed.iter().rev().find(|it: &&PassedValue| it.name == name).and_then(|it| it.text.clone().ok())
    };
    one.passed.iter().all(|it| {
        let (first, second) = (text(one, &it.name), text(other, &it.name));
        first.is_none() || second.is_none() || first == second
    })
}

/// Returns a deployment with the name of its file or workspace.
fn named(it: RootVariant, directory: &str, number: usize) -> RootVariant {
    let caller = it.callers.first().map_or("", String::as_str);
    let beside = caller.strip_prefix(directory).map_or(caller, |rest| rest.trim_start_matches('/'));
    let number = (number > 1).then(|| number.to_string());
    let last = it.workspace.clone().or(number);
    let own = std::iter::once(beside.to_owned()).chain(last).collect::<Vec<_>>().join(" ");
    let label = it.label.iter().cloned().chain([own]).collect::<Vec<_>>().join(", ");
    RootVariant { label: Some(label), ..it }
}
