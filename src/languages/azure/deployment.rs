//! Evaluates a template with its parameters: its resources, its outputs and its nested deployments.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::document::{
    DocData, DocLibrary, DocResource, DocValue, EvaluatedOnce, EvaluationState, NestingProblem, Presence,
};
use crate::languages::hcl::value::{Cause, HclData, HclValue};
use crate::source::Span;

use super::evaluate::AzureNames;
use super::model::{AzureTemplate, NestedDeployment};
use super::placed::LoopedResource;
use super::syntax::{AzureExpr, AzureKind};

/// One template with one set of parameter values.
pub(crate) struct AzureDeployment<'l> {
    pub(super) template: Arc<AzureTemplate>,
    pub(super) given: BTreeMap<Arc<str>, HclValue>,
    pub(super) library: &'l dyn DocLibrary<AzureTemplate>,
    pub(super) state: EvaluationState,
    /// Values by kind and name.
    pub(super) known: EvaluatedOnce<(&'static str, Arc<str>), HclValue>,
    pub(super) placed: OnceCell<Rc<Vec<LoopedResource>>>,
    pub(super) is_placing: Cell<bool>,
    nested: RefCell<HashMap<Arc<str>, Option<Rc<AzureDeployment<'l>>>>>,
    /// The depth of function calls.
    pub(super) calls: Cell<usize>,
}

impl<'l> AzureDeployment<'l> {
    pub(crate) fn new(
        template: Arc<AzureTemplate>,
        given: BTreeMap<Arc<str>, HclValue>,
        library: &'l dyn DocLibrary<AzureTemplate>,
        state: EvaluationState,
    ) -> Self {
        let (known, placed, is_placing, nested, calls) = Default::default();
        AzureDeployment { template, given, library, state, known, placed, is_placing, nested, calls }
    }

    /// Returns the resources of this deployment and of nested ones. A nested deployment without an available template
    /// stays a resource.
    pub(crate) fn resources(&self) -> Vec<DocResource> {
        let placed = self.placed();
        let mut all = Vec::new();
        for it in placed.iter().filter(|it| !it.declared.is_existing) {
            let presence = self.presence(it);
            match self.nested(it) {
                Some(inner) => all.extend(inner.resources().into_iter().map(|it| it.within(&presence))),
                None if matches!(it.declared.deployed, Some(NestedDeployment::AsPart(_))) => {}
                None => {
                    let resource = self.resource(it, presence);
                    if !self.state.pay_resource(&resource.properties) {
                        break;
                    }
                    all.push(resource);
                }
            }
        }
        all
    }

    /// Returns the nested deployments that were not evaluated.
    pub(crate) fn problems(&self) -> Vec<NestingProblem> {
        self.state.problems()
    }

    fn resource(&self, placed: &LoopedResource, presence: Presence) -> DocResource {
        self.state.take_references();
        let declared = &placed.declared;
        let mut properties = self.doc(&declared.body, &placed.names);
        let mut remarks = Vec::new();
        if let DocData::Map(members, _) = &mut properties.data {
            let said = members.iter().position(|(key, _)| key.eq_ignore_ascii_case("metadata"));
            if let Some(DocData::Map(said, _)) = said.map(|at| members.remove(at).1.data) {
                remarks = said;
            }
            members.retain(|(key, _)| !key.eq_ignore_ascii_case("dependsOn"));
            if let Some(place) = self.location_of(declared.deployed.as_ref(), &placed.names) {
                members.push(("deployed".into(), place));
            }
        }
        if let (DocData::Map(members, _), Some(parent)) = (&mut properties.data, self.parent(placed)) {
            let own = |(key, value): &mut (Arc<str>, DocValue)| {
                if key.eq_ignore_ascii_case("name") {
                    *value = last_of_name(value);
                }
            };
            members.iter_mut().for_each(own);
            members.retain(|(key, _)| !key.eq_ignore_ascii_case("parent"));
            members.push(("parent".into(), DocValue::generated(parent, declared.head)));
        }
        DocResource {
            name: placed.shown.clone(),
            address: placed.address.clone(),
            kind: declared.kind.clone(),
            head: declared.head,
            body: declared.span,
            presence,
            properties,
            remarks,
            references: self.state.take_references(),
        }
    }

    /// Returns the location of a nested template that is not in the repository.
    fn location_of(&self, deployed: Option<&NestedDeployment>, names: &AzureNames) -> Option<DocValue> {
        match deployed? {
            NestedDeployment::Elsewhere(place) => Some(self.doc(place, names)),
            _ => None,
        }
    }

    fn presence(&self, placed: &LoopedResource) -> Presence {
        let unknown = |cause: &Cause, span| Presence::Unknown { why: cause.why.clone(), span };
        let mut sure = match &placed.names.doubt {
            Some(cause) => unknown(cause, cause.span),
            None => Presence::Sure,
        };
        for condition in &placed.conditions {
            let holds = self.value(condition, &placed.names);
            match (holds.as_bool(), holds.cause()) {
                (Some(true), _) => {}
                (Some(false), _) => return Presence::Never(condition.span),
                (None, Some(cause)) => sure = unknown(cause, condition.span),
                (None, None) => {}
            }
        }
        sure
    }

    /// Returns the nested deployment of a resource; `None` if it is another resource or if its template is missing.
    pub(super) fn nested(&self, placed: &LoopedResource) -> Option<Rc<AzureDeployment<'l>>> {
        let deployed = placed.declared.deployed.as_ref()?;
        if let Some(known) = self.nested.borrow().get(&placed.address) {
            return known.clone();
        }
        let template = match deployed {
            NestedDeployment::AsPart(_) => None,
            NestedDeployment::Apart(template) => Some(template.clone()),
            NestedDeployment::Elsewhere(place) => self.library.document(&self.value(place, &placed.names)),
        };
        let inner = template.and_then(|template| {
            let state = self.state.nested(&format!("{}.", placed.address), template.span(), placed.declared.head)?;
            Some(Rc::new(Self::new(template, self.given_to(placed), self.library, state)))
        });
        self.nested.borrow_mut().insert(placed.address.clone(), inner.clone());
        inner
    }

    /// Returns the parameters of a nested deployment: Bicep's `params`, or `value` of each entry in a template.
    fn given_to(&self, placed: &LoopedResource) -> BTreeMap<Arc<str>, HclValue> {
        let body = &placed.declared.body;
        let of_bicep = body.get("params");
        let of_template = || body.get("properties").and_then(|it| it.get("parameters"));
        let written = of_bicep.or_else(of_template);
        let value = self.state.without_references(|| written.map(|it| self.value(it, &placed.names)));
        let is_wrapped = of_bicep.is_none();
        let entries = value.as_ref().and_then(HclValue::entries);
        let each = entries.into_iter().flat_map(|it| it.iter()).map(|(name, value)| {
            let value = match value.entries().filter(|_| is_wrapped) {
                Some(wrapped) => wrapped
                    .get("value")
                    .cloned()
                    .unwrap_or_else(|| HclValue::unknown("the value is a secret in a key vault", value.span)),
                None => value.clone(),
            };
            (name.clone(), value)
        });
        each.collect()
    }

    /// Returns an output of a nested deployment; `None` if its template is missing.
    pub(super) fn output(&self, placed: &LoopedResource, output: &str, at: Span) -> Option<HclValue> {
        let value = || match &placed.declared.deployed {
            Some(NestedDeployment::AsPart(template)) => {
                output_of(template, output).map(|it| self.value(it, &placed.names))
            }
            _ => self
                .nested(placed)
                .and_then(|inner| output_of(&inner.template, output).map(|it| inner.value(it, &AzureNames::default()))),
        };
        let in_circle = || HclValue::refused(format!("`{}` depends on itself", placed.address), at);
        self.state.output_of(&placed.address, value).unwrap_or_else(|| Some(in_circle()))
    }

    /// Returns a value that is unknown before the resource is created.
    pub(super) fn computed(&self, address: &Arc<str>, attribute: &str, at: Span) -> HclValue {
        self.state.computed(address, attribute, "deployment", at)
    }

    /// Returns the expression of an output.
    #[cfg(test)]
    pub(super) fn output_value(&self, output: &str) -> HclValue {
        let found = output_of(&self.template, output);
        found.map_or_else(|| HclValue::null(self.template.span), |it| self.value(it, &AzureNames::default()))
    }

    /// Returns a variable of another file, or all of them as one object if no name is given.
    pub(super) fn imported(&self, location: &HclValue, name: &str, at: Span) -> HclValue {
        let Some(template) = self.library.document(location) else {
            return HclValue::unknown("the value comes from a file that is not in this repository", at);
        };
        let Some(state) = self.state.imported(template.span(), at) else {
            return HclValue::unknown("gpulint does not evaluate the file that contains the value", at);
        };
        let names: Vec<Arc<str>> = template.variables.iter().map(|it| it.name.clone()).collect();
        let other = Self::new(template, BTreeMap::new(), self.library, state);
        let absent = || HclValue::unknown("the name is a function or type from another file", at);
        if !name.is_empty() {
            return other.variable(name, at).unwrap_or_else(absent);
        }
        let all = names.into_iter().filter_map(|name| Some((name.clone(), other.variable(&name, at)?)));
        HclValue::object(all.collect(), at)
    }

    pub(super) fn variable(&self, name: &str, at: Span) -> Option<HclValue> {
        if let Err(unknown) = self.state.pay_search(self.template.variables.len(), at) {
            return Some(unknown);
        }
        let declared = self.template.variables.iter().find(|it| it.name.eq_ignore_ascii_case(name))?;
        let value = || self.value(&declared.value, &AzureNames::default());
        Some(self.once("variable", &declared.name, at, &value))
    }

    /// Evaluates a value at its first use and caches it.
    pub(super) fn once(&self, what: &'static str, name: &Arc<str>, at: Span, value: &dyn Fn() -> HclValue) -> HclValue {
        let in_circle = || HclValue::refused(format!("`{name}` depends on itself"), at);
        self.known.get((what, name.clone()), in_circle, value)
    }
}

fn output_of<'t>(template: &'t AzureTemplate, name: &str) -> Option<&'t AzureExpr> {
    let found = template.outputs.iter().find(|it| it.name.eq_ignore_ascii_case(name))?;
    (!matches!(found.value.kind, AzureKind::Null)).then_some(&found.value)
}

/// Returns `gpu` for `cluster/gpu`, if the parent is known from elsewhere.
fn last_of_name(name: &DocValue) -> DocValue {
    match &name.data {
        DocData::Value(value) => match &value.data {
            HclData::Text(text) if text.contains('/') => {
                let last = text.rsplit('/').next().unwrap_or_default();
                DocValue { data: DocData::Value(value.with(HclData::Text(last.into()))), ..name.clone() }
            }
            _ => name.clone(),
        },
        _ => name.clone(),
    }
}
