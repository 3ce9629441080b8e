//! Defines the paths of definitions into documents: `spec.workerGroupSpecs[].template`,
//! `spec.mpiReplicaSpecs.*.template`.
//!
//! `[]` visits all members of a list, `0` the first one, `*` the values of a mapping. A key with dots is quoted
//! (`metadata.labels."ray.io/priority"`). A match records the members that it visited, so that another path with the
//! same beginning can follow the same members.

use std::fmt;

use serde::Deserialize;

use crate::inventory::row_path::{Into, RowPath, Start, StepName};
use crate::languages::yaml::Node;

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(in crate::kubernetes) struct ManifestPath {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(Box<str>),
    Each,
    Any,
}

/// One place that a path matches.
#[derive(Debug, Clone)]
pub(in crate::kubernetes) struct PathMatch<'t> {
    pub node: &'t Node,
    /// The member that each step visited.
    members: Vec<usize>,
    /// The keys of mappings that a `*` visited.
    pub names: Vec<&'t str>,
}

impl TryFrom<String> for ManifestPath {
    type Error = String;

    /// Parses a path. Syntax for blocks and for strings in other languages is not valid here.
    fn try_from(text: String) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(ManifestPath::default());
        }
        let path: RowPath = text.parse()?;
        let refused = || format!("`{text}` is not a path into a manifest");
        let mut steps = Vec::with_capacity(path.steps.len());
        for step in path.steps {
            match (step.name, step.read) {
                (StepName::Written(name), None) if name == "*" => steps.push(Step::Any),
                (StepName::Written(name), None) => steps.push(Step::Key(name.into())),
                _ => return Err(refused()),
            }
            match step.into {
                Into::First => {}
                Into::All => steps.push(Step::Each),
                Into::Whole | Into::Where(..) => return Err(refused()),
            }
        }
        if path.start == Start::Part { Ok(ManifestPath { steps }) } else { Err(refused()) }
    }
}

impl fmt::Display for ManifestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.steps.iter().enumerate() {
            let dot = if n == 0 { "" } else { "." };
            match step {
                Step::Key(key) => write!(f, "{dot}{key}")?,
                Step::Any => write!(f, "{dot}*")?,
                Step::Each => write!(f, "[]")?,
            }
        }
        Ok(())
    }
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManifestStep {
    Key(String),
    /// All members of a list.
    Each,
    /// All values of a mapping.
    Any,
}

impl ManifestPath {
    pub(in crate::kubernetes) fn steps(&self) -> Vec<ManifestStep> {
        let step = |step: &Step| match step {
            Step::Key(key) => ManifestStep::Key(key.to_string()),
            Step::Each => ManifestStep::Each,
            Step::Any => ManifestStep::Any,
        };
        self.steps.iter().map(step).collect()
    }

    pub(in crate::kubernetes) fn all<'t>(&self, root: &'t Node) -> Vec<PathMatch<'t>> {
        self.walk(&self.steps, PathMatch::root(root))
    }

    /// Returns the places that this path matches; if `framed`, the root is the `spec` of the object.
    pub(in crate::kubernetes) fn below_frame<'t>(&self, root: &'t Node, framed: bool) -> Vec<&'t Node> {
        let steps = match self.steps.split_first() {
            Some((Step::Key(key), rest)) if framed && &**key == "spec" => rest,
            _ => self.steps.as_slice(),
        };
        self.walk(steps, PathMatch::root(root)).into_iter().map(|found| found.node).collect()
    }

    /// Returns the path to the mapping that has the last key.
    pub(in crate::kubernetes) fn parent(&self) -> ManifestPath {
        let (_, steps) = self.steps.split_last().unwrap_or((&Step::Any, &[]));
        ManifestPath { steps: steps.to_vec() }
    }

    /// Returns whether the path visits members of lists or mappings.
    pub(in crate::kubernetes) fn visits_members(&self) -> bool {
        let is_place = |key: &str| key.chars().all(|c| c.is_ascii_digit());
        self.steps.iter().any(|step| match step {
            Step::Key(key) => is_place(key),
            Step::Each | Step::Any => true,
        })
    }

    pub(in crate::kubernetes) fn first<'t>(&self, root: &'t Node) -> Option<&'t Node> {
        self.all(root).first().map(|found| found.node)
    }

    /// Returns whether the path matches a place, without collecting the places.
    pub(in crate::kubernetes) fn is_in(&self, root: &Node) -> bool {
        is_below(root, &self.steps)
    }

    /// Returns the keys of a path that visits no members.
    pub(in crate::kubernetes) fn keys(&self) -> Option<Vec<&str>> {
        let keys = self.steps.iter().map(|step| match step {
            Step::Key(key) => Some(&**key),
            Step::Each | Step::Any => None,
        });
        keys.collect()
    }

    pub(in crate::kubernetes) fn first_key(&self) -> Option<&str> {
        match self.steps.first() {
            Some(Step::Key(key)) => Some(key),
            _ => None,
        }
    }

    /// Returns the last key, for text search.
    pub(in crate::kubernetes) fn last_key(&self) -> Option<&str> {
        self.steps.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(&**key),
            Step::Each | Step::Any => None,
        })
    }

    /// Returns the places that this path matches for one match of another path. Steps that both paths share visit the
    /// same members.
    pub(in crate::kubernetes) fn relative_to<'t>(
        &self,
        root: &'t Node,
        other: &ManifestPath,
        at: &PathMatch<'t>,
    ) -> Vec<&'t Node> {
        let mut node = root;
        let mut shared = 0;
        while let (Some(mine), Some(theirs)) = (self.steps.get(shared), other.steps.get(shared)) {
            let next = at.members.get(shared).and_then(|&member| child(node, member));
            let (true, Some(next)) = (mine == theirs, next) else { break };
            node = next;
            shared += 1;
        }
        self.walk(&self.steps[shared..], PathMatch::root(node)).into_iter().map(|found| found.node).collect()
    }

    fn walk<'t>(&self, steps: &[Step], start: PathMatch<'t>) -> Vec<PathMatch<'t>> {
        let mut matches = vec![start];
        for step in steps {
            matches = matches.into_iter().flat_map(|found| found.step(step)).collect();
        }
        matches
    }
}

/// A path, or a list of paths.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "PathsForm")]
pub(in crate::kubernetes) struct FieldPaths(pub Vec<ManifestPath>);

impl FieldPaths {
    pub(in crate::kubernetes) fn is_in(&self, root: &Node) -> bool {
        self.0.iter().any(|path| path.is_in(root))
    }
}

/// The forms of a path, or of a list of paths, in a table.
#[derive(Deserialize)]
#[serde(untagged)]
pub(in crate::kubernetes) enum PathsForm {
    One(ManifestPath),
    More(Vec<ManifestPath>),
}

impl From<PathsForm> for FieldPaths {
    fn from(form: PathsForm) -> Self {
        match form {
            PathsForm::One(path) => FieldPaths(vec![path]),
            PathsForm::More(paths) => FieldPaths(paths),
        }
    }
}

impl<'t> PathMatch<'t> {
    pub(in crate::kubernetes) fn root(node: &'t Node) -> Self {
        PathMatch { node, members: Vec::new(), names: Vec::new() }
    }

    fn step(self, step: &Step) -> Vec<PathMatch<'t>> {
        let node = self.node;
        match step {
            Step::Key(key) => {
                let place = node.entries().iter().position(|entry| *entry.key == **key);
                let first = (**key == *"0" && !node.items().is_empty()).then_some(0);
                place.or(first).into_iter().filter_map(|place| self.enter(place, false)).collect()
            }
            Step::Each => (0..node.items().len()).filter_map(|place| self.enter(place, false)).collect(),
            Step::Any => (0..node.entries().len()).filter_map(|place| self.enter(place, true)).collect(),
        }
    }

    fn enter(&self, place: usize, named: bool) -> Option<PathMatch<'t>> {
        let mut members = self.members.clone();
        members.push(place);
        let mut names = self.names.clone();
        if let (true, Some(entry)) = (named, self.node.entries().get(place)) {
            names.push(&entry.key);
        }
        Some(PathMatch { node: child(self.node, place)?, members, names })
    }
}

fn is_below(node: &Node, steps: &[Step]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    match step {
        Step::Key(key) => match node.get(key) {
            Some(value) => is_below(value, rest),
            None => **key == *"0" && node.items().first().is_some_and(|item| is_below(item, rest)),
        },
        Step::Each => node.items().iter().any(|item| is_below(item, rest)),
        Step::Any => node.entries().iter().any(|entry| is_below(&entry.value, rest)),
    }
}

fn child(node: &Node, place: usize) -> Option<&Node> {
    node.entries().get(place).map(|entry| &entry.value).or_else(|| node.items().get(place))
}
