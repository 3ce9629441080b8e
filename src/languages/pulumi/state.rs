//! Reads output of Pulumi for a program in any language: `pulumi preview --json`, `pulumi stack export`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::languages::document::{DocData, DocResource, DocValue, Presence};
use crate::languages::hcl::value::{Cause, HclNumber, HclValue, ProviderComputed};
use crate::languages::yaml::{Node, NodeData};
use crate::source::Span;

/// Placeholders for values that are unknown before the program runs, one for each type
/// (`sdk/go/common/resource/plugin`, 2026-11).
const UNKNOWN: [&str; 7] = [
    "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
    "030794c1-ac77-496b-92df-f27374a8bd58",
    "e48ece36-62e2-4504-bad9-02848725956a",
    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
];

/// A resource in the file.
struct Stated<'n> {
    urn: &'n Arc<str>,
    kind: &'n Arc<str>,
    state: &'n Node,
    key: Span,
}

/// Returns the resources of a file and the name of their stack; `None` for other files.
pub(crate) fn state(root: &Node) -> Option<(Vec<DocResource>, Arc<str>)> {
    let exported = root.at("deployment.resources").map(Node::items);
    let steps = root.get("steps").map(Node::items).filter(|it| it.iter().any(|it| it.get("urn").is_some()));
    let nodes: Vec<&Node> = match (exported, steps) {
        (Some(exported), _) => exported.iter().collect(),
        (None, Some(steps)) => steps.iter().filter(|it| !is_removal(it)).filter_map(|it| it.get("newState")).collect(),
        (None, None) => return None,
    };
    let stated: Vec<Stated<'_>> = nodes.into_iter().filter_map(stated).collect();
    let stack = stated.first().and_then(|it| it.urn.split("::").next()?.rsplit(':').next()).unwrap_or_default();
    let mut reader = StateReader { by_id: HashMap::new(), referred: RefCell::default() };
    for it in &stated {
        let id = it.state.text_at("id").filter(|it| !it.is_empty() && !UNKNOWN.contains(&&***it));
        id.iter().for_each(|id| drop(reader.by_id.insert((*id).clone(), name_of(it.urn))));
    }
    Some((stated.iter().map(|it| reader.resource(it)).collect(), stack.into()))
}

fn is_removal(step: &Node) -> bool {
    step.text_at("op").is_some_and(|op| op.contains("delete") || op.contains("discard"))
}

fn stated(state: &Node) -> Option<Stated<'_>> {
    let (urn, kind) = (state.entry("urn")?, state.text_at("type")?);
    let is_made = state.get("custom").and_then(Node::flag) == Some(true)
        && state.get("external").and_then(Node::flag) != Some(true)
        && state.get("delete").and_then(Node::flag) != Some(true)
        && !kind.starts_with("pulumi:");
    is_made.then_some(Stated { urn: urn.value.text()?, kind, state, key: urn.value.span })
}

/// Returns the name in a URN: `train` in `urn:pulumi:prod::ml::aws:ec2/instance:Instance::train`.
fn name_of(urn: &str) -> Arc<str> {
    urn.rsplit("::").next().unwrap_or(urn).into()
}

struct StateReader {
    /// Resources by ID.
    by_id: HashMap<Arc<str>, Arc<str>>,
    referred: RefCell<Vec<(Arc<str>, Span)>>,
}

impl StateReader {
    fn resource(&self, it: &Stated<'_>) -> DocResource {
        self.referred.take();
        let none = Node::map(it.state.span, Vec::new());
        let properties = self.doc(it.state.get("inputs").unwrap_or(&none), true);
        for named in it.state.get("dependencies").map(Node::items).unwrap_or_default() {
            named.text().iter().for_each(|urn| self.referred.borrow_mut().push((name_of(urn), named.span)));
        }
        let name = name_of(it.urn);
        DocResource {
            address: name.clone(),
            name,
            kind: it.kind.clone(),
            head: it.key,
            body: it.state.span,
            presence: Presence::Sure,
            properties,
            remarks: Vec::new(),
            references: self.referred.take(),
        }
    }

    fn doc(&self, node: &Node, outermost: bool) -> DocValue {
        let at = node.span;
        let whole = |data| DocValue { key: at, at, literal: false, data };
        match &node.data {
            NodeData::Scalar { text, plain } => DocValue::generated(self.scalar(node, text, *plain), at),
            NodeData::List(items) => whole(DocData::List(items.iter().map(|it| self.doc(it, false)).collect())),
            // A secret or an asset: such a key is a special mark of Pulumi.
            NodeData::Map(entries)
                if !outermost && entries.iter().any(|it| &*it.key == "4dabf18193072939515e22adb298388d") =>
            {
                DocValue::generated(HclValue::unknown("the value is an encrypted secret", at), at)
            }
            NodeData::Map(entries) => {
                let members = entries.iter().filter(|it| !it.key.starts_with("__"));
                let members = members.map(|it| (it.key.clone(), self.doc(&it.value, false).named(it.key_span)));
                whole(DocData::Map(members.collect(), None))
            }
        }
    }

    fn scalar(&self, node: &Node, text: &Arc<str>, plain: bool) -> HclValue {
        let at = node.span;
        if UNKNOWN.contains(&&**text) {
            return HclValue::unknown("the value is unknown before the program runs", at);
        }
        if let Some(address) = self.by_id.get(text) {
            self.referred.borrow_mut().push((address.clone(), at));
            let computed_by = Some(ProviderComputed { address: address.clone(), attribute: "id".into() });
            let outline = Some(text.clone());
            return HclValue::because(
                &Arc::new(Cause { computed_by, outline, ..Cause::new("another resource", at) }),
                at,
            );
        }
        match (node.text(), node.flag()) {
            (None, _) => HclValue::null(at),
            (_, Some(flag)) => HclValue::bool(flag, at),
            _ => match HclNumber::parse(text).filter(|_| plain) {
                Some(number) => HclValue::number(number, at),
                None => HclValue::text(text.clone(), at),
            },
        }
    }
}
