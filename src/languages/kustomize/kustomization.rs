//! Reads the kustomization file of a directory as kustomize does.

use std::sync::Arc;

use crate::languages::yaml;
use crate::source::{ReadError, SourceFiles, Span, TreeEntry, join};

use super::KustomizeError;
use super::value::ObjectValue;

pub(crate) const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

const FIELDS: [&str; 32] = [
    "apiVersion",
    "kind",
    "metadata",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "patchesStrategicMerge",
    "patchesJson6902",
    "patches",
    "images",
    "imageTags",
    "replacements",
    "replicas",
    "vars",
    "sortOptions",
    "resources",
    "components",
    "crds",
    "bases",
    "configMapGenerator",
    "secretGenerator",
    "helmGlobals",
    "helmCharts",
    "helmChartInflationGenerator",
    "generatorOptions",
    "configurations",
    "generators",
    "transformers",
    "validators",
];
const MORE_FIELDS: [&str; 2] = ["buildMetadata", "openapi"];

#[derive(Debug)]
pub(super) struct Kustomization {
    pub directory: String,
    pub path: String,
    pub root: ObjectValue,
    pub is_component: bool,
    /// The number of its values, for limits.
    pub weight: usize,
}

impl Kustomization {
    /// Reads the kustomization of a directory; returns `None` if there is none.
    pub(super) fn read(sources: &SourceFiles, directory: &str) -> Option<Result<Kustomization, KustomizeError>> {
        let listed = sources.tree().list(directory);
        let found: Vec<String> = NAMES.iter().filter_map(|name| file_in(sources, directory, &listed, name)).collect();
        let path = found.first()?.clone();
        let file = match sources.open(&path) {
            Ok(file) => file,
            Err(error) => return Some(Err(KustomizeError::beyond(format!("`{path}`: {error}")))),
        };
        let text = sources.text(file);
        let at = Span::new(file, 0, text.lines().next().map_or(0, str::len));
        let stream = yaml::read_within(file, &text, sources.limits());
        if let Some(broken) = stream.diagnostics.iter().find(|it| it.unreadable) {
            let at = broken.span.unwrap_or(at);
            return Some(Err(KustomizeError::refused(broken.message.clone(), at)));
        }
        let root = stream.documents.into_iter().next().map(|document| document.root);
        let weight = root.as_ref().map_or(1, |root| root.weight as usize);
        let root = root.map_or_else(|| ObjectValue::map(at), |root| ObjectValue::from_node(&root, sources));
        let more = found.len() > 1;
        Some(Kustomization::new(directory, path, (root, weight), at).and_then(|it| match more {
            true => Err(KustomizeError::refused("the directory has two kustomization files", at)),
            false => Ok(it),
        }))
    }

    fn new(
        directory: &str,
        path: String,
        (root, weight): (ObjectValue, usize),
        at: Span,
    ) -> Result<Kustomization, KustomizeError> {
        for field in root.fields() {
            if !FIELDS.iter().chain(&MORE_FIELDS).any(|known| known.eq_ignore_ascii_case(&field.key)) {
                let message = format!("`{}` is not a field of a kustomization", field.key);
                return Err(KustomizeError::refused(message, field.key_at));
            }
        }
        let kind = root.text_at("kind").unwrap_or_default();
        let is_component = kind == "Component";
        if !matches!(kind, "" | "Kustomization" | "Component") {
            return Err(KustomizeError::refused(format!("a file of kind `{kind}` is not a kustomization"), at));
        }
        let version = root.text_at("apiVersion").unwrap_or_default();
        let known = if is_component { "kustomize.config.k8s.io/v1alpha1" } else { "kustomize.config.k8s.io/v1beta1" };
        if !version.is_empty() && version != known {
            return Err(KustomizeError::refused(format!("`apiVersion` must be {known}"), at));
        }
        // As in kustomize, an empty list counts as content and an empty string does not.
        let says = |value: &ObjectValue| !value.is_null() && value.text() != Some("");
        let about = root.fields().iter().filter(|field| !matches!(&*field.key, "apiVersion" | "kind"));
        if !about.clone().any(|field| says(&field.value)) {
            return Err(KustomizeError::refused("the kustomization is empty", at));
        }
        Ok(Kustomization { directory: directory.to_owned(), path, root, is_component, weight })
    }

    pub(super) fn get(&self, field: &str) -> Option<&ObjectValue> {
        let fields = self.root.fields().iter();
        let mut found = fields.filter(|it| it.key.eq_ignore_ascii_case(field)).map(|it| &it.value);
        found.find(|value| !value.is_null())
    }

    pub(super) fn list(&self, field: &str) -> Vec<ObjectValue> {
        self.get(field).map(|value| value.items().to_vec()).unwrap_or_default()
    }

    pub(super) fn text(&self, field: &str) -> Option<(Arc<str>, Span)> {
        let value = self.get(field)?;
        value.text().filter(|text| !text.is_empty()).map(|text| (text.into(), value.at))
    }

    /// Returns pairs of strings: labels, annotations.
    pub(super) fn pairs(&self, field: &str) -> Vec<(Arc<str>, ObjectValue)> {
        pairs(self.get(field))
    }
}

/// Returns the fields of a mapping as strings, sorted by key.
pub(super) fn pairs(value: Option<&ObjectValue>) -> Vec<(Arc<str>, ObjectValue)> {
    let fields = value.map(ObjectValue::fields).unwrap_or_default().iter();
    let text = |value: &ObjectValue| ObjectValue::string(value.text().unwrap_or_default(), value.at);
    let mut all: Vec<_> = fields.map(|field| (field.key.clone(), text(&field.value))).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn file_in(sources: &SourceFiles, directory: &str, listed: &[TreeEntry], name: &str) -> Option<String> {
    let path = join(directory, name)?;
    let there = listed.iter().any(|entry| entry.name == name && !entry.is_directory);
    // Files from the command line can be read although their directory is not listed.
    let there = there || !matches!(sources.tree().read(&path), Err(ReadError::Missing | ReadError::Outside));
    there.then_some(path)
}

/// Returns true if kustomize treats this as a URL rather than a path, or probably does.
pub(crate) fn is_remote(text: &str) -> bool {
    const STARTS: [&str; 8] =
        ["git@", "git::", "gh:", "github.com", "gitlab.com", "bitbucket.org", "ssh:", "git.launchpad.net"];
    text.contains("://")
        || text.contains("?ref=")
        || text.contains(".git/")
        || text.ends_with(".git")
        || text.contains("_git/")
        || STARTS.iter().any(|start| text.starts_with(start))
}
