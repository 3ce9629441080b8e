//! Evaluates a template with its parameters: its resources, its outputs and its nested stacks.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::document::{
    DocLibrary, DocResource, DocValue, EvaluatedOnce, EvaluationState, NestingProblem, Presence,
};
use crate::languages::hcl::value::{Cause, HclValue};
use crate::languages::yaml::{Node, NodeEntry};
use crate::source::Span;

use super::evaluate::LoopNames;
use super::template::CloudTemplate;

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

/// One template with one set of parameter values.
pub(crate) struct StackInstance<'l> {
    pub(super) template: Arc<CloudTemplate>,
    pub(super) given: BTreeMap<Arc<str>, HclValue>,
    pub(super) place: AccountAndRegion,
    library: &'l dyn DocLibrary<CloudTemplate>,
    pub(super) state: EvaluationState,
    pub(super) conditions: EvaluatedOnce<Arc<str>, ConditionResult>,
    nested: RefCell<HashMap<Arc<str>, Option<Rc<StackInstance<'l>>>>>,
    looped: OnceCell<Rc<LoopedResources>>,
    is_looping: Cell<bool>,
}

/// Resources by name, with the meaning of names.
type LoopedResources = HashMap<Arc<str>, (NodeEntry, LoopNames)>;

impl<'l> StackInstance<'l> {
    pub(crate) fn new(
        template: Arc<CloudTemplate>,
        given: BTreeMap<Arc<str>, HclValue>,
        place: AccountAndRegion,
        library: &'l dyn DocLibrary<CloudTemplate>,
        state: EvaluationState,
    ) -> Self {
        let (conditions, nested, looped, is_looping) = Default::default();
        StackInstance { template, given, place, library, state, conditions, nested, looped, is_looping }
    }

    /// Returns the resources of this stack and of nested ones. A nested stack without an available template stays a
    /// resource.
    pub(crate) fn resources(&self) -> Vec<DocResource> {
        let mut all = Vec::new();
        for (entry, names) in self.declared("Resources") {
            let Some(found) = self.resource(&entry, &names) else { continue };
            if !self.state.pay_resource(&found.properties) {
                break;
            }
            match self.nested_stack(&entry, &found) {
                Some(inner) => all.extend(inner.resources().into_iter().map(|it| it.within(&found.presence))),
                None => all.push(found),
            }
        }
        all
    }

    /// Returns the nested stacks that were not evaluated.
    pub(crate) fn problems(&self) -> Vec<NestingProblem> {
        self.state.problems()
    }

    pub(super) fn address(&self, name: &str) -> Arc<str> {
        format!("{}{name}", self.state.prefix).into()
    }

    /// Returns a resource by its name, which a loop may have created.
    pub(super) fn resource_named(&self, name: &str) -> Option<(NodeEntry, LoopNames)> {
        if let Some(entry) = self.template.entry("Resources", name) {
            return Some((entry.clone(), LoopNames::default()));
        }
        self.looped_resources().get(name).cloned()
    }

    /// Returns the resources that loops create, by name. If two have the same name, the first one counts.
    fn looped_resources(&self) -> Rc<LoopedResources> {
        if let Some(known) = self.looped.get() {
            return known.clone();
        }
        let has_loops = self.template.section("Resources").iter().any(|it| it.key.starts_with("Fn::ForEach"));
        // While the collections of the loops are evaluated, there are no resources of loops.
        if !has_loops || self.is_looping.replace(true) {
            return Rc::default();
        }
        let mut all = LoopedResources::new();
        for (entry, names) in self.declared("Resources") {
            all.entry(entry.key.clone()).or_insert((entry, names));
        }
        self.is_looping.set(false);
        self.looped.get_or_init(|| Rc::new(all)).clone()
    }

    fn resource(&self, entry: &NodeEntry, names: &LoopNames) -> Option<DocResource> {
        let kind = entry.value.text_at("Type")?.clone();
        self.state.take_references();
        let none = Node::map(entry.value.span, Vec::new());
        let (key, written) = match entry.value.entry("Properties") {
            Some(entry) => (entry.key_span, &entry.value),
            None => (entry.key_span, &none),
        };
        let properties = self.doc(written, names).named(key);
        let mut references = self.state.take_references();
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
        let stack = location.and_then(|location| {
            let template = self.library.document(&location)?;
            let prefix = format!("{}{}.", self.state.prefix, found.name);
            let state = self.state.nested(&prefix, template.span(), entry.key_span)?;
            let parameters = found.properties.get("Parameters").map(DocValue::value);
            let given = parameters.as_ref().and_then(HclValue::entries);
            let given = given.map(|all| all.iter().map(|(name, value)| (name.clone(), value.clone())).collect());
            let place = AccountAndRegion { stack_name: None, ..self.place.clone() };
            Some(Rc::new(StackInstance::new(template, given.unwrap_or_default(), place, self.library, state)))
        });
        self.nested.borrow_mut().insert(entry.key.clone(), stack.clone());
        stack
    }

    /// Returns an output of a nested stack; `None` if it is another resource or if its template is missing.
    pub(super) fn output(&self, stack: &str, output: &str, at: Span) -> Option<HclValue> {
        let (entry, names) = self.resource_named(stack)?;
        // References in the nested stack's parameters do not belong to the resource that uses the output.
        let resource = || self.state.without_references(|| self.resource(&entry, &names));
        let Some(found) = self.state.output_of(&entry.key, resource) else {
            return Some(HclValue::refused(format!("the stack `{stack}` depends on itself"), at));
        };
        let inner = self.nested_stack(&entry, &found?)?;
        let all = inner.declared("Outputs");
        if let Err(unknown) = self.state.pay_search(all.len(), at) {
            return Some(unknown);
        }
        let found = all.iter().find(|(entry, _)| &*entry.key == output);
        Some(match found.and_then(|(entry, names)| Some((entry.value.get("Value")?, names))) {
            Some((value, names)) => inner.value(value, names),
            None => HclValue::refused(format!("the stack `{stack}` has no output `{output}`"), at),
        })
    }
}
