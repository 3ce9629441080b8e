//! Evaluates references, and the dots and brackets after an expression.

use std::rc::Rc;
use std::sync::Arc;

use crate::languages::hcl::convert::set_of;
use crate::languages::hcl::syntax::{Expression, HclKind, TraversalStep, TraversalStepKind};
use crate::languages::hcl::value::{Cause, HclData, HclValue, ProviderComputed, composed};
use crate::source::Span;

use super::operators::forget_candidates;
use super::{Instance, Repetition, RootEvaluator, Scope};

/// The maximum number of candidates of a collection with an unknown index.
const CANDIDATES: usize = 32;

impl RootEvaluator<'_> {
    /// Evaluates a reference, or the dots and brackets after an expression.
    pub(super) fn traverse(&self, base: &Expression, steps: &[TraversalStep], scope: Scope<'_>) -> HclValue {
        let (value, rest) = match &base.kind {
            HclKind::Name(name) => match scope.variable(name) {
                Some(value) => (value.clone(), steps),
                None => {
                    let (value, used) = self.reference(name, base.span, steps, scope);
                    (value, steps.get(used..).unwrap_or_default())
                }
            },
            _ => (self.evaluate(base, scope), steps),
        };
        self.apply(value, rest, scope)
    }

    fn apply(&self, mut value: HclValue, steps: &[TraversalStep], scope: Scope<'_>) -> HclValue {
        for step in steps {
            value = match &step.kind {
                TraversalStepKind::Attribute(name) => attribute(&value, &composed(name.clone()), step.span),
                TraversalStepKind::Index(index) => {
                    let index = self.evaluate(index, scope);
                    self.of_some_workspace(&value, &index, step.span)
                        .unwrap_or_else(|| element(&value, &index, step.span))
                }
                TraversalStepKind::Splat(each) => self.splat(&value, each, step.span, scope),
            };
        }
        value
    }

    /// Looks up a member by the workspace name, if no workspace is set and there is no member for `default`. The
    /// configuration is then for other workspaces.
    pub(in crate::terraform) fn of_some_workspace(
        &self,
        value: &HclValue,
        key: &HclValue,
        span: Span,
    ) -> Option<HclValue> {
        const NOBODYS: &str = "default";
        let HclData::Text(name) = &key.data else { return None };
        let entries = value.entries().filter(|entries| entries.rest.is_none() && !entries.is_empty())?;
        if &**name != NOBODYS || self.workspace.is_some() || entries.get(name).is_some() {
            return None;
        }
        if !["terraform.workspace", "tofu.workspace"].contains(&self.sources.snippet(key.span).as_str()) {
            return None;
        }
        let cause = Cause::new("the value depends on the workspace: name it with --workspace", key.span);
        Some(one_of(value, &Arc::new(cause), span).marked(value.sensitive))
    }

    fn splat(&self, value: &HclValue, each: &[TraversalStep], span: Span, scope: Scope<'_>) -> HclValue {
        let result = match &value.data {
            HclData::Null => HclValue::tuple(Vec::new(), value.span),
            HclData::Unknown(cause) => HclValue::because(&forget_candidates(cause), span),
            HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
                if let Err(unknown) = self.spend(items.len() as u64, span) {
                    return unknown;
                }
                let results = items.iter().map(|item| self.apply(item.clone(), each, scope)).collect();
                match &value.data {
                    HclData::Tuple(_) => HclValue::tuple(results, value.span),
                    _ => HclValue::list(results, value.span),
                }
            }
            _ => HclValue::tuple(vec![self.apply(value.clone(), each, scope)], value.span),
        };
        result.marked(value.sensitive)
    }

    /// Returns the target of a name with its first steps, and the number of these steps.
    fn reference(&self, name: &str, span: Span, steps: &[TraversalStep], scope: Scope<'_>) -> (HclValue, usize) {
        let Some(module) = scope.module else {
            return (HclValue::refused(format!("`{name}` cannot be used here"), span), steps.len());
        };
        let labels: Vec<&str> = steps.iter().take(2).map_while(step_name).collect();
        let whole = steps.first().map_or(span, |step| span.to(step.span));
        if let Some(found) = self.dialect.and_then(|dialect| dialect.reference(name, &labels, whole)) {
            return found;
        }
        match (name, labels.as_slice()) {
            ("var", [first, ..]) => (self.variable(module, first, whole), 1),
            ("local", [first, ..]) => (self.local(module, first, whole), 1),
            ("each", [first, ..]) => (each(first, scope.repetition, whole), 1),
            ("count", ["index", ..]) => (count_index(scope.repetition, whole), 1),
            ("path", [first, ..]) => (self.path(first, module, whole), 1),
            ("terraform" | "tofu", ["workspace", ..]) => {
                (HclValue::text(self.workspace.as_deref().unwrap_or("default"), whole), 1)
            }
            ("terraform" | "tofu", ["applying", ..]) => {
                (HclValue::unknown("the value is known only after apply", whole), 1)
            }
            ("module", [first, ..]) => self.module_reference(module, first, steps, whole, scope),
            ("data" | "ephemeral", [kind, label]) => {
                (self.resource_value(module, &format!("{name}.{kind}.{label}"), whole), 2)
            }
            // The long form of `kind.label`.
            ("resource", [kind, label]) => (self.resource_value(module, &format!("{kind}.{label}"), whole), 2),
            ("self", _) => (HclValue::unknown("`self` is known only after apply", span), steps.len()),
            (kind, [label, ..]) if !is_reserved(kind) => {
                (self.resource_value(module, &format!("{kind}.{label}"), whole), 1)
            }
            _ => (HclValue::refused(format!("`{name}` is not declared"), span), steps.len()),
        }
    }

    fn path(&self, which: &str, module: &Instance, span: Span) -> HclValue {
        match which {
            "root" => HclValue::text(".", span),
            "module" => HclValue::text(relative(&self.root, &module.code.directory), span),
            "cwd" => HclValue::unknown("`path.cwd` depends on the directory in which Terraform runs", span),
            _ => HclValue::refused(format!("`path.{which}` does not exist"), span),
        }
    }

    /// Evaluates `module.name`, with its instance and its output if they are written.
    fn module_reference(
        &self,
        module: &Rc<Instance>,
        name: &str,
        steps: &[TraversalStep],
        span: Span,
        scope: Scope<'_>,
    ) -> (HclValue, usize) {
        let Some(index) = module.code.calls.index(name) else {
            return (self.undeclared(module, &format!("module `{name}`"), span), steps.len());
        };
        let Some(called) = self.called(module, index) else {
            return (self.cycle(&format!("module `{name}`"), span), steps.len());
        };
        match (&steps.get(1).map(|step| &step.kind), steps.get(2).and_then(step_name)) {
            (Some(TraversalStepKind::Attribute(output)), _) => {
                if let Some(value) = self.output_of(&called, None, output, span) {
                    return (value, 2);
                }
            }
            (Some(TraversalStepKind::Index(index)), Some(output)) => {
                let key = self.evaluate(index, scope);
                if let Some(value) = self.output_of(&called, Some(&key), output, span) {
                    return (value, 3);
                }
            }
            _ => {}
        }
        (self.outputs(&called), 1)
    }
}

fn step_name(step: &TraversalStep) -> Option<&str> {
    match &step.kind {
        TraversalStepKind::Attribute(name) => Some(name),
        _ => None,
    }
}

/// Returns whether a name starts a reference to something other than a resource.
pub(super) fn is_reserved(name: &str) -> bool {
    matches!(
        name,
        "var" | "local" | "each" | "count" | "path" | "terraform" | "tofu" | "module" | "data" | "self" | "ephemeral"
    )
}

fn each(which: &str, repetition: &Repetition, span: Span) -> HclValue {
    match (repetition, which) {
        (Repetition::Each { key, .. }, "key") => key.clone(),
        (Repetition::Each { value, .. }, "value") => value.clone(),
        (Repetition::UnknownEach { cause, .. }, "key") => HclValue::because(cause, span),
        (Repetition::UnknownEach { value, .. }, "value") => value.clone(),
        _ => HclValue::refused("`each` exists only in a block with `for_each`", span),
    }
}

fn count_index(repetition: &Repetition, span: Span) -> HclValue {
    match repetition {
        Repetition::Count(index) => index.clone(),
        Repetition::UnknownCount(cause) => HclValue::because(cause, span),
        _ => HclValue::refused("`count.index` exists only in a block with `count`", span),
    }
}

/// Returns the relative path between two directories of the tree.
pub(in crate::terraform) fn relative(from: &str, to: &str) -> String {
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (from, to) = (parts(from), parts(to));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let ups = vec!["..".to_owned(); from.len() - common];
    let path = [&ups, to.get(common..).unwrap_or_default()].concat().join("/");
    if path.is_empty() { ".".into() } else { path }
}

/// Evaluates `value.name`.
pub(super) fn attribute(value: &HclValue, name: &str, span: Span) -> HclValue {
    let result = match &value.data {
        HclData::Map(entries) | HclData::Object(entries) => match (entries.get(name), &entries.rest) {
            (Some(member), _) => member.clone(),
            (None, Some(cause)) => member_of_rest(cause, name, span),
            (None, None) => HclValue::refused(format!("there is no attribute `{name}`"), span),
        },
        HclData::Unknown(cause) => {
            let cause = member_candidates(cause, name);
            // All candidates are equal.
            match set_of(cause.candidates.clone()).as_slice() {
                [only] => only.clone(),
                _ => member_of_rest(&cause, name, span),
            }
        }
        HclData::Null => HclValue::refused(format!("null has no attribute `{name}`"), span),
        _ => HclValue::refused(format!("there is no attribute `{name}`"), span),
    };
    result.marked(value.sensitive)
}

/// Returns the members of the candidates as candidates of the member.
fn member_candidates(cause: &Arc<Cause>, name: &str) -> Arc<Cause> {
    if cause.candidates.is_empty() {
        return cause.clone();
    }
    let members = cause.candidates.iter().map(|value| value.entries().and_then(|entries| entries.get(name)).cloned());
    let candidates = members.collect::<Option<Vec<HclValue>>>().unwrap_or_default();
    Arc::new(Cause { candidates, ..Cause::clone(cause) })
}

fn member_of_rest(cause: &Arc<Cause>, name: &str, span: Span) -> HclValue {
    match &cause.computed_by {
        Some(computed) if computed.attribute.is_empty() => {
            let address = computed.address.clone();
            let why = format!("`{address}.{name}` {}", cause.why.split_once("` ").map_or("is unknown", |(_, why)| why));
            let computed_by = Some(ProviderComputed { address, attribute: name.into() });
            let cause = Cause { why, computed_by, ..Cause::clone(cause) };
            HclValue::new(HclData::Unknown(Arc::new(cause)), span)
        }
        _ => HclValue::because(cause, span),
    }
}

/// Evaluates `value[key]`.
pub(in crate::terraform) fn element(value: &HclValue, key: &HclValue, span: Span) -> HclValue {
    let result = match (&value.data, &key.data) {
        (HclData::Unknown(cause), _) => HclValue::because(&forget_candidates(cause), span),
        (HclData::Null, _) => HclValue::refused("null has no elements", span),
        (_, HclData::Null) => HclValue::refused("the index is null", span),
        (HclData::Map(_) | HclData::Object(_), HclData::Text(name)) => attribute(value, name, span),
        (_, HclData::Unknown(cause)) => one_of(value, cause, span),
        (HclData::Map(_) | HclData::Object(_), _) => match key.as_text() {
            Some(name) => attribute(value, &name, span),
            None => HclValue::refused("this cannot be the key of a map", span),
        },
        (HclData::List(items) | HclData::Tuple(items), _) => match key.as_number().and_then(|number| number.as_usize())
        {
            Some(index) => match items.get(index) {
                Some(item) => item.clone(),
                None => HclValue::refused(format!("there is no element {index}: the list has {}", items.len()), span),
            },
            None => HclValue::refused("this cannot be the index of a list", span),
        },
        (HclData::Set(_), _) => HclValue::refused("the elements of a set have no index", span),
        _ => HclValue::refused("this value has no elements", span),
    };
    result.marked(value.sensitive || key.sensitive)
}

/// Returns an unknown element of a collection, with the elements as candidates.
fn one_of(value: &HclValue, cause: &Arc<Cause>, span: Span) -> HclValue {
    let members: Vec<&HclValue> = match value.entries() {
        Some(entries) if entries.rest.is_some() => Vec::new(),
        Some(entries) => entries.known.values().take(CANDIDATES + 1).collect(),
        None => value.items().iter().take(CANDIDATES + 1).collect(),
    };
    let mut candidates = Vec::new();
    if members.len() <= CANDIDATES && members.iter().all(|it| it.is_wholly_known()) {
        candidates = set_of(members.into_iter().cloned().collect());
    }
    let cause = Cause { candidates, ..Cause::clone(cause) };
    HclValue::new(HclData::Unknown(Arc::new(cause)), span)
}
