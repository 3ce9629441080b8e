//! Finds the source document of each line of a built kustomization. An overlay overrides its base.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::kubernetes::objects::index::distance;
use crate::kubernetes::objects::object::KubernetesObject;
use crate::languages::yaml::{self, Node, NodeData};
use crate::source::{Segment, SourceFiles, Span};

use super::kustomization::NAMES;
use super::plan::{RenderInput, RenderPlan};

const DEEPEST: usize = 64;

/// Scalars by the keys above them. List positions are left out, and names of list members are included.
type Scalars = HashMap<String, Vec<(Arc<str>, Span)>>;

struct Part {
    group: String,
    kind: String,
    name: Arc<str>,
    head: Span,
    weight: u32,
    /// The shortest distance from the kustomization to the document. Overlays are nearer than bases.
    far: usize,
    scalars: Scalars,
}

/// All documents that one kustomization combines.
pub(super) struct Parts {
    parts: Vec<Part>,
    /// Scalars that the kustomization files set: image tags, replica counts, inline patches.
    said: Scalars,
}

impl Parts {
    pub(super) fn read(sources: &SourceFiles, plan: &RenderPlan) -> Parts {
        let mut all = Parts { parts: Vec::new(), said: Scalars::new() };
        for path in plan.inputs.iter().filter_map(RenderInput::file) {
            let Ok(file) = sources.open(path) else { continue };
            let name = path.rsplit('/').next().unwrap_or(path);
            for document in yaml::read(file, &sources.text(file)).documents {
                if NAMES.contains(&name) {
                    gather(&document.root, &mut Vec::new(), &mut all.said);
                } else {
                    all.add(&document.root, distance(&plan.directory, path), 0);
                }
            }
        }
        all.parts.sort_by_key(|part| part.far);
        all
    }

    fn add(&mut self, root: &Node, far: usize, depth: usize) {
        let Some(object) = KubernetesObject::new(root) else { return };
        if object.kind.ends_with("List") && depth == 0 {
            let items = root.get("items").map(Node::items).unwrap_or_default();
            items.iter().for_each(|item| self.add(item, far, depth + 1));
            return;
        }
        let mut scalars = Scalars::new();
        gather(root, &mut Vec::new(), &mut scalars);
        self.parts.push(Part {
            group: object.group.to_owned(),
            kind: object.kind.to_owned(),
            name: object.name.clone().unwrap_or_default(),
            head: object.head,
            weight: root.weight,
            far,
            scalars,
        });
    }

    /// Returns the origin of each line of a rendered document; `head` if it is unknown.
    pub(super) fn segments(&self, text: &str, head: Span) -> Vec<Segment> {
        let segment =
            |start: usize, origin| Segment { start: u32::try_from(start).unwrap_or(u32::MAX), origin, linear: false };
        // The result uses only offsets inside the text, so any file number is suitable.
        let stream = yaml::read(head.file, text);
        let Some(root) = stream.documents.first().map(|document| &document.root) else { return vec![segment(0, head)] };
        let parts = KubernetesObject::new(root).map(|object| self.parts_of(&object)).unwrap_or_default();
        let main = parts.iter().max_by_key(|part| part.weight);
        let mut rendered = Scalars::new();
        gather(root, &mut Vec::new(), &mut rendered);
        let mut origins: BTreeMap<u32, Span> = BTreeMap::new();
        // Each patch repeats the kind and the name of its object.
        const IDENTITY: [&str; 3] = ["apiVersion", "kind", "metadata\nname"];
        for (path, scalars) in rendered.iter().filter(|(path, _)| !IDENTITY.contains(&path.as_str())) {
            for (value, span) in scalars {
                let origin = self.origin(path, value, &parts);
                origins.extend(origin.map(|origin| (span.start, origin)));
            }
        }
        let main = main.map_or(head, |part| part.head);
        let mut segments = vec![segment(0, main)];
        segments.extend(origins.into_iter().map(|(start, origin)| segment(start as usize, origin)));
        segments
    }

    /// Returns the documents for a rendered object: with its kind, and its name or a part of the name.
    fn parts_of(&self, object: &KubernetesObject<'_>) -> Vec<&Part> {
        let Some(name) = &object.name else { return Vec::new() };
        let same = |part: &&Part| part.kind == object.kind && part.group == object.group;
        let longest = self.parts.iter().filter(same).filter(|part| !part.name.is_empty() && name.contains(&*part.name));
        let Some(known) = longest.map(|part| part.name.clone()).max_by_key(|name| name.len()) else {
            return Vec::new();
        };
        self.parts.iter().filter(same).filter(|part| part.name == known).collect()
    }

    fn origin(&self, path: &str, value: &str, parts: &[&Part]) -> Option<Span> {
        let equal = |scalars: &Scalars| {
            let found = scalars.get(path)?.iter().find(|(text, _)| **text == *value)?;
            Some(found.1)
        };
        let key = path.rsplit('\n').next().unwrap_or(path);
        let said = || {
            // `replicas: [{name, count}]`, `images: [{newTag}]`, and inline patches.
            let line = format!("{key}: {value}");
            let all = self.said.iter().flat_map(|(path, all)| all.iter().map(move |(text, span)| (path, text, *span)));
            let tells = |path: &str, text: &str| match key {
                "replicas" if path.ends_with("count") => text == value,
                "image" if path.starts_with("images") => text.len() > 1 && value.ends_with(text),
                _ => text.contains('\n') && text.contains(&line),
            };
            all.filter(|(path, text, _)| tells(path, text)).map(|(.., span)| span).min()
        };
        let changed = |part: &&Part| part.scalars.get(path).and_then(|all| all.first()).map(|(_, span)| *span);
        parts.iter().find_map(|part| equal(&part.scalars)).or_else(said).or_else(|| parts.iter().find_map(changed))
    }
}

fn gather(node: &Node, path: &mut Vec<Arc<str>>, out: &mut Scalars) {
    if path.len() > DEEPEST {
        return;
    }
    match &node.data {
        NodeData::Scalar { text, .. } => {
            out.entry(path.join("\n")).or_default().push((text.clone(), node.span));
        }
        NodeData::List(items) => {
            for item in items.iter() {
                path.push(item.text_at("name").cloned().unwrap_or_else(|| "[]".into()));
                gather(item, path, out);
                path.pop();
            }
        }
        NodeData::Map(entries) => {
            for entry in entries.iter() {
                path.push(entry.key.clone());
                match &entry.value.data {
                    NodeData::Scalar { text, .. } => {
                        out.entry(path.join("\n")).or_default().push((text.clone(), entry.span()));
                    }
                    _ => gather(&entry.value, path, out),
                }
                path.pop();
            }
        }
    }
}
