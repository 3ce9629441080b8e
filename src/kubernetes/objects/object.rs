//! Defines one Kubernetes object, with its kind, its name and its place.

use std::sync::Arc;

use crate::inventory::{CostLabels, Declaration, Fact, FactValue, MeterName};
use crate::source::Span;

use crate::kubernetes::rows::amount::placeholder;
use crate::languages::yaml::Node;

/// Longer annotations contain data and are not labels for cost attribution.
pub(crate) const LONGEST_ANNOTATION: usize = 256;

#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct KubernetesObject<'t> {
    pub root: &'t Node,
    /// The API group without version; empty for the core group.
    pub group: &'t str,
    pub kind: &'t str,
    pub name: Option<Arc<str>>,
    /// True if the cluster completes the name.
    pub generated: bool,
    pub namespace: Option<Arc<str>>,
    /// The position of the first key.
    pub head: Span,
}

impl<'t> KubernetesObject<'t> {
    /// Creates an object that declares its kind.
    pub(in crate::kubernetes) fn new(root: &'t Node) -> Option<Self> {
        let kind = root.text_at("kind")?;
        let version = root.text_at("apiVersion").map_or("", |version| version);
        Some(Self::of(root, version.split_once('/').map_or("", |(group, _)| group), kind))
    }

    /// Creates an object whose kind follows from its place.
    pub(in crate::kubernetes) fn of(root: &'t Node, group: &'t str, kind: &'t str) -> Self {
        let name = ["metadata.name", "metadata.generateName"].iter().find_map(|path| root.text_at(path));
        KubernetesObject {
            root,
            group,
            kind,
            name: name.cloned(),
            generated: root.text_at("metadata.name").is_none(),
            namespace: root.text_at("metadata.namespace").cloned(),
            head: root.entries().first().map_or(root.span, |entry| entry.key_span),
        }
    }

    /// Returns `Kind/name` or `Kind/namespace/name`. A missing name is `-`.
    pub(in crate::kubernetes) fn address(&self) -> String {
        let name = self.name.as_deref().unwrap_or("-");
        match &self.namespace {
            Some(namespace) => format!("{}/{namespace}/{name}", self.kind),
            None => format!("{}/{name}", self.kind),
        }
    }

    /// Returns the declaration of an object. `part` is one of its groups of pods or machines.
    pub(in crate::kubernetes) fn declaration(&self, part: &str) -> Declaration {
        let name = self.name.as_deref().unwrap_or("-");
        let address: Arc<str> = self.address().into();
        let namespace = self.root.at("metadata.namespace").and_then(|node| Some((node.text()?, node.span)));
        let namespace = namespace.map_or(Fact::Absent, |(text, span)| match placeholder(text) {
            Some(why) => Fact::unknown(why, span),
            None => Fact::written(FactValue::text(&**text), span),
        });
        let (name, part) = (name.into(), part.into());
        Declaration { block: address.clone(), address, name, namespace, part, references: Vec::new() }
    }
}

impl KubernetesObject<'_> {
    /// Returns the name that usage metrics use for another object of its namespace.
    pub(in crate::kubernetes) fn metered_as(&self, kind: &str, name: &str) -> MeterName {
        let namespace = self.namespace.as_deref().map(Into::into);
        MeterName { kind: Some(kind.into()), namespace, name: name.to_owned(), is_own: false }
    }

    /// Returns the names that usage metrics may use for the object: its own name, or the names of objects that its
    /// controller creates.
    pub(in crate::kubernetes) fn metered(&self, owns: &[String]) -> Vec<MeterName> {
        let Some(name) = self.name.as_deref() else { return Vec::new() };
        let namespace: Option<Arc<str>> = self.namespace.as_deref().map(Into::into);
        let named = |kind: &str, name: String, is_own| MeterName {
            kind: Some(kind.into()),
            namespace: namespace.clone(),
            name,
            is_own,
        };
        let own = if self.generated { format!("{name}*") } else { name.to_owned() };
        let made = owns.iter().filter_map(|it| it.split_once('/'));
        let made = made.map(|(kind, form)| named(kind, form.replace("{name}", name), false));
        std::iter::once(named(self.kind, own, !self.generated)).chain(made).collect()
    }
}

/// Returns labels and annotations. The outer frames override the inner ones, which come last.
pub(in crate::kubernetes) fn labels<'t>(frames: impl IntoIterator<Item = &'t Node>) -> CostLabels {
    let mut labels = CostLabels::default();
    for frame in frames {
        for part in ["metadata.labels", "metadata.annotations"] {
            let Some(map) = frame.at(part) else { continue };
            labels.span = labels.span.or(Some(map.span));
            for entry in map.entries() {
                let Some(text) = entry.value.text() else { continue };
                if part.ends_with("annotations") && text.len() > LONGEST_ANNOTATION {
                    continue;
                }
                let span = entry.value.span;
                let fact = match placeholder(text) {
                    Some(why) => Fact::unknown(why, span),
                    None => Fact::written(text.clone(), span),
                };
                labels.entries.entry(entry.key.to_string()).or_insert(fact);
            }
        }
    }
    labels
}
