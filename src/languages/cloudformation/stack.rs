//! Evaluates a template with its parameters: its resources, its outputs and its nested stacks.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::document::{DocResource, DocValue, Presence};
use crate::languages::hcl::value::{Cause, HclValue};
use crate::languages::yaml::{Node, NodeEntry};
use crate::source::Span;

use super::evaluate::LoopNames;
use super::template::CloudTemplate;

/// The limit on nested stacks, far above what real templates nest.
const DEEPEST: usize = 12;

/// Types that are nested stacks, with the property for the location of their template.
const NESTED: [(&str, &str); 2] =
    [("AWS::CloudFormation::Stack", "TemplateURL"), ("AWS::Serverless::Application", "Location")];

/// Whether a condition holds, or why this is unknown.
pub(super) type ConditionResult = Result<bool, Arc<Cause>>;

/// The target of a stack, as far as it is set.
#[derive(Debug, Clone, Default)]
pub(crate) struct AccountAndRegion {
    pub(crate) region: Option<HclValue>,
    pub(crate) account: Option<HclValue>,
    pub(crate) stack_name: Option<HclValue>,
}

/// The source of nested templates.
pub(crate) trait NestedTemplates {
    /// Returns the template at a location, which may be partly known; `None` if it is not in the repository.
    fn nested(&self, location: &HclValue) -> Option<Arc<CloudTemplate>>;
}

/// One template with one set of parameter values.
pub(crate) struct StackInstance<'l> {
    pub(super) template: Arc<CloudTemplate>,
    pub(super) given: BTreeMap<Arc<str>, HclValue>,
    pub(super) place: AccountAndRegion,
    pub(super) library: &'l dyn NestedTemplates,
    /// Address prefix with a dot at the end, such as `Child.`; empty for the outermost stack.
    pub(super) prefix: Rc<str>,
    depth: usize,
    /// Shared budget of all stacks of one root.
    pub(super) budget: Rc<Cell<u64>>,
    /// Evaluated conditions. `None` marks a condition under evaluation: a second use means that it depends on itself.
    pub(super) conditions: RefCell<HashMap<Arc<str>, Option<ConditionResult>>>,
    nested: RefCell<HashMap<Arc<str>, Option<Rc<StackInstance<'l>>>>>,
    /// Stacks with an output that is being evaluated.
    asked: RefCell<HashSet<Arc<str>>>,
    /// Resources that were referenced since this was cleared.
    pub(super) referred: RefCell<Vec<(Arc<str>, Span)>>,
}

impl<'l> StackInstance<'l> {
    pub(crate) fn new(
        template: Arc<CloudTemplate>,
        given: BTreeMap<Arc<str>, HclValue>,
        place: AccountAndRegion,
        library: &'l dyn NestedTemplates,
        steps: u64,
    ) -> Self {
        Self::within(template, given, place, library, (Rc::from(""), 0, Rc::new(Cell::new(steps))))
    }

    fn within(
        template: Arc<CloudTemplate>,
        given: BTreeMap<Arc<str>, HclValue>,
        place: AccountAndRegion,
        library: &'l dyn NestedTemplates,
        (prefix, depth, budget): (Rc<str>, usize, Rc<Cell<u64>>),
    ) -> Self {
        StackInstance {
            template,
            given,
            place,
            library,
            prefix,
            depth,
            budget,
            conditions: RefCell::default(),
            nested: RefCell::default(),
            asked: RefCell::default(),
            referred: RefCell::default(),
        }
    }

    /// Returns the resources of this stack and of nested ones. A nested stack without an available template stays a
    /// resource.
    pub(crate) fn resources(&self) -> Vec<DocResource> {
        let mut all = Vec::new();
        for (entry, names) in self.declared("Resources") {
            let Some(found) = self.resource(&entry, &names) else { continue };
            match self.nested_stack(&entry, &found) {
                Some(inner) => all.extend(inner.resources().into_iter().map(|it| within(it, &found.presence))),
                None => all.push(found),
            }
        }
        all
    }

    pub(super) fn address(&self, name: &str) -> Arc<str> {
        format!("{}{name}", self.prefix).into()
    }

    /// Returns a resource by its name, which a loop may have created.
    pub(super) fn resource_named(&self, name: &str) -> Option<(NodeEntry, LoopNames)> {
        if let Some(entry) = self.template.entry("Resources", name) {
            return Some((entry.clone(), LoopNames::default()));
        }
        let has_loops = self.template.section("Resources").iter().any(|it| it.key.starts_with("Fn::ForEach"));
        has_loops.then(|| self.declared("Resources").into_iter().find(|(entry, _)| &*entry.key == name))?
    }

    fn resource(&self, entry: &NodeEntry, names: &LoopNames) -> Option<DocResource> {
        let kind = entry.value.text_at("Type")?.clone();
        self.referred.take();
        let none = Node::map(entry.value.span, Vec::new());
        let (key, written) = match entry.value.entry("Properties") {
            Some(entry) => (entry.key_span, &entry.value),
            None => (entry.key_span, &none),
        };
        let properties = self.doc(written, names).named(key);
        let mut references = self.referred.take();
        let depends = entry.value.get("DependsOn");
        let depends = depends.iter().flat_map(|it| std::iter::once(*it).chain(it.items()));
        references.extend(depends.filter_map(|it| Some((self.address(it.text()?), it.span))));
        let remarks = entry.value.get("Metadata").map(Node::entries).unwrap_or_default().iter();
        let remarks = remarks.map(|it| (it.key.clone(), self.doc(&it.value, names).named(it.key_span)));
        Some(DocResource {
            name: entry.key.clone(),
            address: self.address(&entry.key),
            kind,
            head: entry.key_span,
            body: entry.span(),
            presence: self.presence(entry, names),
            remarks: remarks.collect(),
            properties,
            references,
        })
    }

    fn presence(&self, entry: &NodeEntry, names: &LoopNames) -> Presence {
        let why_more = names.doubt.as_ref().map(|cause| (cause.why.clone(), cause.span));
        if let Some((why, span)) = why_more {
            return Presence::Unknown { why, span };
        }
        let Some(condition) = entry.value.get("Condition") else { return Presence::Sure };
        let Some(name) = condition.text() else { return Presence::Sure };
        match self.holds(name, condition.span) {
            Ok(true) => Presence::Sure,
            Ok(false) => Presence::Never(condition.span),
            Err(cause) => Presence::Unknown { why: cause.why.clone(), span: condition.span },
        }
    }

    /// Returns the nested stack of a resource; `None` if it is another resource or if its template is missing.
    fn nested_stack(&self, entry: &NodeEntry, found: &DocResource) -> Option<Rc<StackInstance<'l>>> {
        let (_, location) = NESTED.iter().find(|(kind, _)| **kind == *found.kind)?;
        if let Some(known) = self.nested.borrow().get(&entry.key) {
            return known.clone();
        }
        // Tools that upload templates record the path of the original.
        let asset = found.remarks.iter().find(|(key, _)| &**key == "aws:asset:path").map(|(_, path)| path);
        let location = asset.or_else(|| found.properties.get(location)).map(DocValue::value);
        let template = location.filter(|_| self.depth < DEEPEST).and_then(|it| self.library.nested(&it));
        let stack = template.map(|template| {
            let parameters = found.properties.get("Parameters").map(DocValue::value);
            let given = parameters.as_ref().and_then(HclValue::entries);
            let given = given.map(|all| all.iter().map(|(name, value)| (name.clone(), value.clone())).collect());
            let prefix = format!("{}{}.", self.prefix, found.name).into();
            let place = AccountAndRegion { stack_name: None, ..self.place.clone() };
            let rest = (prefix, self.depth + 1, self.budget.clone());
            Rc::new(StackInstance::within(template, given.unwrap_or_default(), place, self.library, rest))
        });
        self.nested.borrow_mut().insert(entry.key.clone(), stack.clone());
        stack
    }

    /// Returns an output of a nested stack; `None` if it is another resource or if its template is missing.
    pub(super) fn output(&self, stack: &str, output: &str, at: Span) -> Option<HclValue> {
        let (entry, names) = self.resource_named(stack)?;
        if !self.asked.borrow_mut().insert(entry.key.clone()) {
            return Some(HclValue::refused(format!("the stack `{stack}` depends on itself"), at));
        }
        // References in the nested stack's parameters do not belong to the resource that uses the output.
        let before = self.referred.take();
        let found = self.resource(&entry, &names);
        *self.referred.borrow_mut() = before;
        self.asked.borrow_mut().remove(&entry.key);
        let inner = self.nested_stack(&entry, &found?)?;
        let all = inner.declared("Outputs");
        let found = all.iter().find(|(entry, _)| &*entry.key == output);
        Some(match found.and_then(|(entry, names)| Some((entry.value.get("Value")?, names))) {
            Some((value, names)) => inner.value(value, names),
            None => HclValue::refused(format!("the stack `{stack}` has no output `{output}`"), at),
        })
    }
}

/// Returns a resource of a nested stack, which exists only if the stack does.
fn within(inner: DocResource, outer: &Presence) -> DocResource {
    let presence = match (&inner.presence, outer) {
        (Presence::Never(span), _) => Presence::Never(*span),
        (_, Presence::Never(span)) => Presence::Never(*span),
        (Presence::Sure, outer) => outer.clone(),
        (own, _) => own.clone(),
    };
    DocResource { presence, ..inner }
}
