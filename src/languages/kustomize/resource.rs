//! Defines the objects of a kustomization, with their former names.

use crate::source::Span;

use super::KustomizeError;
use super::id::{Gvk, Id};
use super::value::{ObjectData, ObjectValue};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Behavior {
    #[default]
    Create,
    Replace,
    Merge,
}

#[derive(Debug, Clone)]
pub(super) struct KustomizeResource {
    pub value: ObjectValue,
    /// The place of the first key of the document.
    pub head: Span,
    /// Former kinds, names and namespaces, the oldest first.
    pub earlier: Vec<(String, String, String)>,
    pub prefixes: Vec<String>,
    pub suffixes: Vec<String>,
    pub behavior: Behavior,
    /// Whether its name gets a hash of its content.
    pub is_hashed: bool,
    /// Variables whose values come from it.
    pub variables: Vec<String>,
    /// Whether the object is a patch that may change the name or kind of its target.
    pub renames: bool,
    pub changes_kind: bool,
    /// Whether a chart created it, which knows its namespace.
    pub of_chart: bool,
}

impl KustomizeResource {
    pub(super) fn new(value: ObjectValue) -> KustomizeResource {
        let head = value.fields().first().map_or(value.at, |field| field.key_at);
        KustomizeResource {
            value,
            head,
            earlier: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            behavior: Behavior::Create,
            is_hashed: false,
            variables: Vec::new(),
            renames: false,
            changes_kind: false,
            of_chart: false,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.metadata("name")
    }

    pub(super) fn namespace(&self) -> &str {
        self.metadata("namespace")
    }

    fn metadata(&self, key: &str) -> &str {
        self.value.at_path(&["metadata", key]).and_then(ObjectValue::text).unwrap_or_default()
    }

    pub(super) fn set_metadata(&mut self, key: &str, text: &str, at: Span) {
        let Some(metadata) = self.value.map_at("metadata", at) else { return };
        match text {
            "" => drop(metadata.remove(key)),
            text => metadata.set(key, ObjectValue::string(text, at)),
        }
    }

    pub(super) fn id(&self) -> Id {
        Id { gvk: Gvk::of(&self.value), name: self.name().into(), namespace: self.namespace().into() }
    }

    /// Returns its former identities in the current version.
    pub(super) fn earlier_ids(&self) -> impl Iterator<Item = Id> {
        let gvk = Gvk::of(&self.value);
        self.earlier.iter().map(move |(kind, name, namespace)| Id {
            gvk: Gvk { kind: kind.clone(), ..gvk.clone() },
            name: name.clone(),
            namespace: namespace.clone(),
        })
    }

    pub(super) fn original_id(&self) -> Id {
        self.earlier_ids().next().unwrap_or_else(|| self.id())
    }

    pub(super) fn any_id(&self, holds: impl Fn(&Id) -> bool) -> bool {
        self.earlier_ids().any(|id| holds(&id)) || holds(&self.id())
    }

    /// Records its identity before a change.
    pub(super) fn remember(&mut self) {
        let id = self.id();
        let namespace = id.effective_namespace().to_owned();
        self.earlier.push((id.gvk.kind, id.name, namespace));
    }

    /// Converts annotations to strings, and removes empty ones.
    pub(super) fn finish(&mut self) {
        let Some(metadata) = self.value.get_mut("metadata") else { return };
        let Some(annotations) = metadata.get_mut("annotations") else { return };
        match &mut annotations.data {
            ObjectData::Map(fields) if !fields.is_empty() => {
                for field in fields {
                    if let ObjectData::Scalar { plain, .. } = &mut field.value.data {
                        *plain = false;
                    }
                }
            }
            _ => drop(metadata.remove("annotations")),
        }
    }
}

/// All objects in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Resources {
    pub all: Vec<KustomizeResource>,
}

impl Resources {
    pub(super) fn append(&mut self, resource: KustomizeResource) -> Result<(), KustomizeError> {
        let id = resource.id();
        if let Some(known) = self.all.iter().find(|it| it.id().same(&id)) {
            let message = format!("{} already exists", id.describe_id());
            return Err(
                KustomizeError::refused(message, resource.head).with_note(known.head, "it is also defined here")
            );
        }
        self.all.push(resource);
        Ok(())
    }

    pub(super) fn append_all(&mut self, others: Vec<KustomizeResource>) -> Result<(), KustomizeError> {
        // A hash map makes the comparison of many objects fast.
        let mut known: std::collections::HashMap<(Gvk, String, String), Span> = std::collections::HashMap::new();
        let key = |resource: &KustomizeResource| {
            let id = resource.id();
            let namespace = id.effective_namespace().to_owned();
            (id.gvk, id.name, namespace)
        };
        known.extend(self.all.iter().map(|it| (key(it), it.head)));
        for resource in others {
            if let Some(first) = known.insert(key(&resource), resource.head) {
                let message = format!("{} already exists", resource.id().describe_id());
                return Err(KustomizeError::refused(message, resource.head).with_note(first, "it is also defined here"));
            }
            self.all.push(resource);
        }
        Ok(())
    }

    /// Returns the only object that has or had this identity.
    pub(super) fn one(&mut self, id: &Id) -> Result<usize, String> {
        let found: Vec<usize> = self.indices(|resource| resource.any_id(|it| it.same(id)));
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(format!("there is no {}", id.describe_id())),
            many => Err(format!("{} objects have or had the name {}", many.len(), id.describe_id())),
        }
    }

    pub(super) fn indices(&self, holds: impl Fn(&KustomizeResource) -> bool) -> Vec<usize> {
        self.all.iter().enumerate().filter(|(_, it)| holds(it)).map(|(place, _)| place).collect()
    }
}
