//! Handles settings for some paths. The rules are evaluated again for each combination of path settings.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Level};
use crate::source::{FileId, SourceFiles, Span, matches};

use super::facts::{RuleContext, Subject};
use super::page::LooksAt;
use super::set::Rules;
use super::settings::{PathSettings, RuleSettings};

/// Indexes of the layers that apply.
pub(super) type LayerKey = Vec<usize>;

/// Layers that apply to each resource, object and block.
pub(super) struct LayersInForce {
    resources: Vec<LayerKey>,
    objects: Vec<LayerKey>,
    blocks: Vec<LayerKey>,
}

impl LayersInForce {
    /// Returns the layers for each resource, object and block. A resource depends on every file that sets something
    /// for it: the file of its module and the file that calls the module.
    pub(super) fn of(world: &RuleContext<'_>, sources: &SourceFiles, layers: &[PathSettings]) -> LayersInForce {
        let mut known: BTreeMap<FileId, BTreeSet<usize>> = BTreeMap::new();
        let mut of_span = |span: Span| {
            let file = sources.origin(span).file;
            let of_file = || {
                let path = sources.path(file);
                let holds = |layer: &PathSettings| layer.patterns.iter().any(|pattern| holds(pattern, &path));
                layers.iter().enumerate().filter(|(_, layer)| holds(layer)).map(|(number, _)| number).collect()
            };
            known.entry(file).or_insert_with(of_file).clone()
        };
        let inventory = world.inventory;
        let mut key = |spans: &mut dyn Iterator<Item = Span>| -> LayerKey {
            let all: BTreeSet<usize> = spans.flat_map(&mut of_span).collect();
            all.into_iter().collect()
        };
        LayersInForce {
            resources: inventory.resources.iter().map(|it| key(&mut it.places())).collect(),
            objects: inventory.objects.iter().map(|it| key(&mut [it.span].into_iter())).collect(),
            blocks: inventory.blocks.iter().map(|it| key(&mut [it.span].into_iter())).collect(),
        }
    }

    pub(super) fn of_place(&self, subject: Subject, place: usize) -> &[usize] {
        let keys = match subject {
            Subject::Resource => &self.resources,
            Subject::Object => &self.objects,
            Subject::Block => &self.blocks,
        };
        keys.get(place).map_or(&[], Vec::as_slice)
    }

    /// Returns all combinations of layers.
    pub(super) fn keys(&self) -> BTreeSet<&LayerKey> {
        let all = [&self.resources, &self.objects, &self.blocks];
        all.into_iter().flatten().filter(|key| !key.is_empty()).collect()
    }
}

/// Returns true if a pattern matches a path. A directory matches everything below it, and `**/` also matches no
/// directory.
fn holds(pattern: &str, path: &str) -> bool {
    let below = format!("{}/*", pattern.trim_end_matches('/'));
    [pattern, &below].into_iter().any(|form| matches(form, path) || matches(&form.replace("**/", ""), path))
}

impl RuleSettings {
    /// Returns the settings under some layers: the last layer that sets a value wins.
    pub(super) fn with_layers(&self, key: &[usize]) -> RuleSettings {
        let mut settings = RuleSettings { layers: Vec::new(), ..self.clone() };
        for layer in key.iter().filter_map(|number| self.layers.get(*number)) {
            settings.profile = layer.profile.unwrap_or(settings.profile);
            settings.select = layer.select.clone().unwrap_or(settings.select);
            settings.ignore = layer.ignore.clone().unwrap_or(settings.ignore);
            settings.required_labels = layer.required_labels.clone().unwrap_or(settings.required_labels);
            settings.label_values.extend(layer.label_values.clone());
            settings.tiers.extend(layer.tiers.clone());
            settings.approvals_above_usd = layer.approvals_above_usd.or(settings.approvals_above_usd);
            for (name, of_layer) in &layer.rules {
                let known = settings.rules.entry(name.clone()).or_default();
                known.span = of_layer.span;
                known.level = of_layer.level.or(known.level);
                known.undetermined = of_layer.undetermined.or(known.undetermined);
                known.parameters.retain(|(name, ..)| !of_layer.parameters.iter().any(|(other, ..)| name == other));
                known.parameters.extend(of_layer.parameters.iter().cloned());
            }
        }
        settings
    }
}

/// Refuses rules about everything in path settings, because they have no path.
pub(super) fn check(layers: &[PathSettings], rules: &Rules) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for layer in layers {
        let selected = [&layer.select, &layer.ignore].into_iter().flatten().flatten();
        let named = selected.map(|(name, span)| (name, *span));
        let set = layer.rules.iter().map(|(name, set)| (name, set.span));
        for (name, span) in named.chain(set) {
            let Some(page) = rules.page(name) else { continue };
            if matches!(page.looks_at, LooksAt::Resource | LooksAt::Object | LooksAt::Block) {
                continue;
            }
            let message = format!("`{name}` evaluates all files together and cannot be set for some paths");
            wrong.push(Diagnostic::new(Level::Error, message, span).with_help("set it at the top level of the file"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn a_form_of_paths_is_what_people_mean_by_it() {
        for (pattern, path, expected) in [
            ("envs/prod/**", "envs/prod/a/main.tf", true),
            ("envs/prod/**", "envs/production/main.tf", false),
            ("envs/prod", "envs/prod/main.tf", true),
            ("envs/prod/", "envs/prod/main.tf", true),
            ("envs/prod", "envs/prod-2/main.tf", false),
            ("**/prod", "prod/main.tf", true),
            ("**/prod/**", "a/b/prod/c/main.tf", true),
            ("a/**/prod", "a/prod/main.tf", true),
            ("*.tf.json", "a/b.tf.json", true),
            ("main.tf", "main.tf", true),
            ("main.tf", "a/main.tf", false),
        ] {
            assert_eq!(holds(pattern, path), expected, "{pattern} {path}");
        }
    }
}
