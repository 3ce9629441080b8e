//! Joins deployments of commands with parameter files and templates.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclValue};
use crate::languages::shell::HOLE;
use crate::source::{file_name, join as join_path, parent};
use crate::templates::driver::{DeploymentSettings, TemplateLanguage};
use crate::templates::located::{beside, only_with};
use crate::templates::reading::{ParameterValues, TemplatesByPath};

use super::deployment::PassedDeployment;

/// The limit on deployments that commands describe.
const MOST: usize = 500;

/// Names of the template that `sam` deploys by default.
const DEFAULTS: [&str; 3] = ["template.yaml", "template.yml", "template.json"];

/// Adds the deployments of commands to those of parameter files. A command with a parameter file adds its values to the
/// deployment of the file.
pub(in crate::templates) fn join<L: TemplateLanguage>(
    all: &mut Vec<DeploymentSettings<L::Place>>,
    passed: Vec<PassedDeployment>,
    templates: &TemplatesByPath<L::Template>,
    mut read: impl FnMut(&str) -> Option<ParameterValues>,
    place: impl Fn(&PassedDeployment) -> L::Place,
) {
    let of_files = all.len();
    let mut stacks: BTreeMap<(String, String), usize> = BTreeMap::new();
    for mut it in passed.into_iter().take(MOST) {
        let template = template_of(&it, templates).map(str::to_owned);
        if add_to_files(&it, template.as_deref(), all.get_mut(..of_files).unwrap_or_default()) {
            continue;
        }
        let Some(template) = template else { continue };
        add_values_of_files(&mut it, templates, &mut read);
        if let (Some(open), Some(declared)) = (&it.open, templates.get(&template).and_then(|it| L::declared(it))) {
            let open =
                Arc::new(open.any_cause().map_or_else(|| Cause::new("unknown", open.span), |it| Cause::clone(it)));
            let missing = declared.keys().filter(|name| !it.values.contains_key(**name)).copied();
            let missing: Vec<Arc<str>> = missing.map(Arc::from).collect();
            it.values.extend(missing.into_iter().map(|name| (name, HclValue::because(&open, open.span))));
        }
        let stack = it.name.clone().map(|name| (template.clone(), name));
        let same = stack.as_ref().and_then(|stack| stacks.get(stack)).copied();
        match same {
            Some(at) => all.get_mut(at).into_iter().for_each(|known| merge(&mut known.values, it.values.clone())),
            None if all.iter().any(|known| known.template == template && is_same(&known.values, &it.values)) => {}
            None => {
                stacks.extend(stack.map(|stack| (stack, all.len())));
                let variant = variant(&it, &template, all);
                let (values, place) = (it.values.clone(), place(&it));
                let file = Some(it.path);
                all.push(DeploymentSettings {
                    values,
                    place,
                    file,
                    variant,
                    ..DeploymentSettings::defaults(&template)
                });
            }
        }
    }
}

/// Returns the name of a deployment: `template.yaml, deploy.sh prod`.
fn variant<P>(it: &PassedDeployment, template: &str, all: &[DeploymentSettings<P>]) -> String {
    let name = it.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let variant = format!("{}, {}{name}", file_name(template), beside(&it.path, parent(template)));
    let is_start = |known: &&DeploymentSettings<P>| known.template == template && known.variant.starts_with(&variant);
    match all.iter().filter(is_start).count() {
        0 => variant,
        others => format!("{variant} {}", others + 1),
    }
}

/// Returns the template of a deployment.
fn template_of<'t, T>(it: &PassedDeployment, templates: &'t TemplatesByPath<T>) -> Option<&'t str> {
    let found = |path: &str| templates.get_key_value(path).map(|(path, _)| path.as_str());
    let folder = parent(&it.path);
    let Some(written) = &it.template else {
        return DEFAULTS.iter().find_map(|name| found(&join_path(folder, name)?));
    };
    let written = written.trim_start_matches("./").trim_start_matches(".aws-sam/build/");
    let at = |folder: &str| join_path(folder, written).and_then(|path| found(&path));
    at(folder).or_else(|| at("")).or_else(|| only_with(known_end(written)?, templates))
}

/// Returns the end of a path after an unknown folder.
fn known_end(written: &str) -> Option<&str> {
    let known = written.rsplit(HOLE).next()?;
    let known = if known.len() < written.len() { known.strip_prefix('/')? } else { known };
    Some(known.trim_start_matches("../")).filter(|end| !end.is_empty())
}

/// Adds the values of a command to the deployments of the parameter files that it names. Returns false without any.
fn add_to_files<P>(it: &PassedDeployment, template: Option<&str>, all: &mut [DeploymentSettings<P>]) -> bool {
    let mut found = false;
    for written in &it.files {
        for known in all.iter_mut().filter(|known| known.file.as_ref().is_some_and(|file| names(written, file))) {
            if template.is_some_and(|template| template != known.template) {
                continue;
            }
            found = true;
            known.values.extend(it.values.clone());
            known.also.push(it.path.clone());
        }
    }
    found
}

/// Returns true if a written path may be this file. Unknown parts match anything in one name.
fn names(written: &str, file: &str) -> bool {
    let written = written.trim_start_matches(['.', '/']);
    let (first, last) =
        (written.split(HOLE).next().unwrap_or_default(), written.rsplit(HOLE).next().unwrap_or_default());
    let is_whole = |end: &str| file.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    match written.contains(HOLE) {
        false => is_whole(written),
        true => file.ends_with(last) && last.len() > 1 && file.contains(file_name(first)),
    }
}

/// Adds the values of parameter files that no other deployment has. A missing file leaves all parameters open.
fn add_values_of_files<T>(
    it: &mut PassedDeployment,
    templates: &TemplatesByPath<T>,
    read: &mut impl FnMut(&str) -> Option<ParameterValues>,
) {
    for written in std::mem::take(&mut it.files) {
        let paths = [join_path(parent(&it.path), &written), join_path("", &written)];
        let found =
            paths.into_iter().flatten().filter(|path| !templates.contains_key(path)).find_map(|path| read(&path));
        match found {
            Some(values) => it.values = values.into_iter().chain(std::mem::take(&mut it.values)).collect(),
            None => it.open = Some(it.missing(&written)),
        }
    }
}

/// Returns whether two deployments have the same values.
fn is_same(one: &ParameterValues, other: &ParameterValues) -> bool {
    let key = |values: &ParameterValues| -> Vec<(Arc<str>, Option<String>)> {
        values.iter().map(|(name, value)| (name.clone(), value.as_text().map(Into::into))).collect()
    };
    key(one) == key(other)
}

/// Merges two calls for one stack. A value that differs is unknown, with both values as candidates.
fn merge(known: &mut ParameterValues, more: ParameterValues) {
    for (name, value) in more {
        match known.get_mut(&name) {
            Some(first) if first.as_text() != value.as_text() => {
                let of = |it: &HclValue| it.cause().map_or_else(|| vec![it.clone()], |cause| cause.candidates.clone());
                let candidates = of(first).into_iter().chain(of(&value)).collect();
                let candidates = if first.is_unknown() || value.is_unknown() { Vec::new() } else { candidates };
                let why = format!("commands for the same stack set `{name}` to different values");
                *first = HclValue::because(&Arc::new(Cause { candidates, ..Cause::new(why, value.span) }), value.span);
            }
            Some(_) => {}
            None => drop(known.insert(name, value)),
        }
    }
}
