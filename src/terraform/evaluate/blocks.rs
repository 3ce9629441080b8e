//! Evaluates the blocks of a module: resources, calls, nested and dynamic blocks.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::hcl::syntax::{BlockNode, Body, Expression, HclKind, HclName, TemplatePart};
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue, ObjectMembers, ProviderComputed};
use crate::source::Span;
use crate::terraform::address::declared_again;
use crate::terraform::block::{EvaluatedAttribute, EvaluatedAttributes, EvaluatedBlock};
use crate::terraform::border::{Fact, Range, UnknownFact};

use super::expand::{Expansion, ExpansionKind, Repeated};
use super::operators::one_of;
use super::{Instance, Repetition, RootEvaluator, Scope, Variable};

/// The cost of one instance of a block, or of a nested block, without its expressions.
pub(super) const INSTANCE_STEPS: u64 = 200;
const NESTED_STEPS: u64 = 100;
/// The memory of an argument and a block, without their values; measured with a million of them, 2026-11.
const ATTRIBUTE_BYTES: usize = 400;
const BLOCK_BYTES: usize = 600;

/// A resource with all its instances.
pub(in crate::terraform) struct Evaluated {
    expansion: Expansion,
    pub(super) blocks: Vec<EvaluatedBlock>,
    value: OnceCell<HclValue>,
}

/// Arguments that affect the block and not the resource.
const META_ARGUMENTS: [&str; 4] = ["count", "for_each", "provider", "depends_on"];

/// The position of a block's body.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// The block is not nested. It may have meta-arguments and provisioners.
    Top,
    Inside,
    /// The block is in a provisioner, which runs after its resource exists. It may reference that resource, which no
    /// other nested block may, so only references to variables, locals and paths are followed.
    Later,
}

impl Place {
    fn inside(self, keyword: &str) -> Place {
        match self {
            Place::Later => Place::Later,
            Place::Top if matches!(keyword, "provisioner" | "connection") => Place::Later,
            Place::Top | Place::Inside => Place::Inside,
        }
    }
}

impl RootEvaluator<'_> {
    /// Adds all blocks of a module and of the modules that it calls.
    pub(in crate::terraform) fn all_blocks(&self, module: &Rc<Instance>, into: &mut Vec<EvaluatedBlock>) {
        for index in 0..module.code.resources.len() {
            if self.budget.exhausted().is_some() {
                return;
            }
            if let Some(evaluated) = self.resource(module, index) {
                into.extend(evaluated.blocks.iter().cloned());
            }
        }
        for index in 0..module.code.calls.len() {
            let Some(called) = self.called(module, index) else { continue };
            if let Some(node) = module.code.calls.at(index) {
                for repeated in &called.expansion.instances {
                    into.push(self.call_block(module, node, repeated));
                }
            }
            for instance in &called.instances {
                if self.spend(INSTANCE_STEPS, called.span).is_err() {
                    return;
                }
                self.all_blocks(instance, into);
            }
        }
        if module.call.is_none() {
            let outputs: Vec<&BlockNode> = module.code.outputs.iter().collect();
            into.extend(outputs.into_iter().map(|node| self.output_block(module, node)));
        }
    }

    /// Adds the resources with a `count` of 0 in a module and in the modules that it calls, each evaluated as its first
    /// instance would be.
    pub(in crate::terraform) fn switched_off(&self, module: &Rc<Instance>, into: &mut Vec<EvaluatedBlock>) {
        for index in 0..module.code.resources.len() {
            if self.budget.exhausted().is_some() {
                return;
            }
            let (Some(node), Some(evaluated)) = (module.code.resources.at(index), self.resource(module, index)) else {
                continue;
            };
            let Some(count) = node.body.attribute("count").filter(|_| evaluated.blocks.is_empty()) else { continue };
            let first = Repetition::Count(HclValue::number(HclNumber::counted(0), count.span()));
            let mut block = self.block(node, Scope::of(module, &first), module);
            block.address = format!("{}{}[0]", module.address, resource_name(node));
            block.instances = Fact::written(Range::exactly(0.0), count.span());
            block.provider = self.provider_of(module, node);
            into.push(block);
        }
        for index in 0..module.code.calls.len() {
            if let Some(called) = self.called(module, index) {
                called.instances.iter().for_each(|instance| self.switched_off(instance, into));
            }
        }
    }

    fn output_block(&self, module: &Rc<Instance>, node: &BlockNode) -> EvaluatedBlock {
        let mut block = self.block(node, Scope::of(module, &Repetition::Single), module);
        block.address = format!("output.{}", node.label(0));
        if let Some(value) = block.attributes.get_mut("value") {
            value.value = self.output(module, node.label(0), node.header);
        }
        block
    }

    fn call_block(&self, module: &Rc<Instance>, node: &BlockNode, repeated: &Repeated) -> EvaluatedBlock {
        let mut block = self.block(node, Scope::of(module, &repeated.repetition), module);
        block.address = format!("{}module.{}{}", module.address, node.label(0), repeated.suffix);
        block.instances = multiplied(&module.multiplicity, &repeated.number);
        block.source = self.text_of(node, "source");
        block.provider = block.source.as_deref().and_then(|source| self.provider_of_call(module, node, source));
        block
    }

    pub(super) fn text_of(&self, node: &BlockNode, name: &str) -> Option<String> {
        let value = self.evaluate(&node.body.attribute(name)?.expression, Scope::CONSTANT);
        value.as_text().map(|text| text.into_owned())
    }

    /// Returns a resource or data source; `None` if it depends on itself.
    fn resource(&self, module: &Rc<Instance>, index: usize) -> Option<Rc<Evaluated>> {
        let node = module.code.resources.at(index)?;
        let key = resource_name(node);
        let result = module.resources.get(&key, || Rc::new(self.work_out_resource(module, node, &key)));
        result.ok()
    }

    fn work_out_resource(&self, module: &Rc<Instance>, node: &BlockNode, key: &str) -> Evaluated {
        let expansion = self.expand(&node.body, node.header, Scope::of(module, &Repetition::Single));
        let provider = self.provider_of(module, node);
        let affordable = expansion.instances.iter().take_while(|_| self.spend(INSTANCE_STEPS, node.header).is_ok());
        let made = affordable.map(|repeated| {
            let mut block = self.block(node, Scope::of(module, &repeated.repetition), module);
            block.address = format!("{}{key}{}", module.address, repeated.suffix);
            block.instances = multiplied(&module.multiplicity, &repeated.number);
            block.provider.clone_from(&provider);
            block
        });
        // Most resources have one instance, for which a list that grows would have room for four.
        let mut blocks = Vec::with_capacity(expansion.instances.len());
        blocks.extend(made);
        Evaluated { expansion, blocks, value: OnceCell::new() }
    }

    /// Returns the value of a reference such as `aws_instance.a`: its arguments are known, and the rest is computed.
    pub(super) fn resource_value(&self, module: &Rc<Instance>, key: &str, span: Span) -> HclValue {
        let Some(index) = module.code.resources.index(key) else {
            return self.undeclared(module, &format!("`{key}`"), span);
        };
        let Some(evaluated) = self.resource(module, index) else {
            return self.cycle(&format!("`{}{key}`", module.address), span);
        };
        let first = evaluated.value.get_or_init(|| self.value_of(&evaluated, span)).clone();
        let again = (2..).map_while(|number| module.code.resources.index(&declared_again(key, number)));
        let again = again.filter_map(|index| Some(self.value_of(&*self.resource(module, index)?, span)));
        one_of(&format!("`{key}`"), first, again)
    }

    fn value_of(&self, evaluated: &Evaluated, span: Span) -> HclValue {
        let one = |block: &EvaluatedBlock| {
            let value = block_value(block, Some(Arc::new(computed(block))));
            let results = self.data_results(block);
            match &value.data {
                HclData::Object(entries) if !results.is_empty() => {
                    let mut entries = ObjectMembers::clone(entries);
                    entries.known.extend(results.into_iter().map(|(name, result)| (Arc::from(name), result)));
                    HclValue::object(entries, value.span)
                }
                _ => value,
            }
        };
        let values = evaluated.blocks.iter().map(one).collect();
        collected(&evaluated.expansion, values, span)
    }

    /// Evaluates the arguments of a block.
    pub(super) fn block(&self, node: &BlockNode, scope: Scope<'_>, module: &Rc<Instance>) -> EvaluatedBlock {
        let mut block = empty_block(node, &node.keyword.text, &node.labels);
        self.fill(&mut block, &node.body, scope, module, Place::Top);
        block.references = self.references(node, module);
        // The error is ignored here, because the loops over blocks stop if the budget is exhausted.
        let _: Result<(), Arc<Cause>> = self.budget.spend(block.references.len() as u64);
        block
    }

    fn fill(&self, block: &mut EvaluatedBlock, body: &Body, scope: Scope<'_>, module: &Rc<Instance>, place: Place) {
        // The error is ignored here, because evaluation stops if the memory budget is exhausted.
        let _: Result<(), Arc<Cause>> = self.budget.spend_memory(BLOCK_BYTES + body.attributes.len() * ATTRIBUTE_BYTES);
        let mut attributes = Vec::with_capacity(body.attributes.len());
        for attribute in &body.attributes {
            let name = &*attribute.name.text;
            if place == Place::Top && META_ARGUMENTS.contains(&name) {
                continue;
            }
            let literal = attribute.expression.is_literal();
            let expression = attribute.expression.span;
            let value = match name {
                _ if place == Place::Later && !literal && !is_known_before(&attribute.expression) => {
                    HclValue::unknown("Terraform evaluates it after it creates the resource", expression)
                }
                "ignore_changes" | "replace_triggered_by" | "providers" => spelled(&attribute.expression),
                // These arguments are not expressions: a type is not a value, and aliases are names of configurations.
                "type" if place == Place::Top && block.keyword == "variable" => {
                    HclValue::text(self.sources.snippet(expression), expression)
                }
                _ if block.keyword == "required_providers" => spelled(&attribute.expression),
                _ => self.evaluate(&attribute.expression, scope),
            };
            let beginning = value.cause().and_then(|_| self.beginning(&attribute.expression, scope, place));
            let attribute = EvaluatedAttribute { value, span: attribute.span(), expression, literal, beginning };
            attributes.push((name.to_owned(), attribute));
        }
        block.attributes = attributes.into_iter().collect();
        for nested in &body.blocks {
            let keyword = &*nested.keyword.text;
            if keyword == "dynamic" && place != Place::Later {
                self.expand_dynamic(block, nested, scope, module);
                continue;
            }
            let mut inner = empty_block(nested, keyword, &nested.labels);
            self.fill(&mut inner, &nested.body, scope, module, place.inside(keyword));
            block.blocks.push(inner);
        }
        if body.incomplete {
            let cause = Arc::new(Cause::new("a part of this block cannot be parsed", body.span));
            block.open_blocks.push((String::new(), cause));
        }
    }

    /// Returns the known start of a string whose rest is unknown.
    fn beginning(&self, expression: &Expression, scope: Scope<'_>, place: Place) -> Option<Arc<str>> {
        let HclKind::Template(parts) = &expression.kind else { return None };
        let mut known = String::new();
        for part in parts {
            match part {
                TemplatePart::Literal(text) => known.push_str(text),
                TemplatePart::Interpolation(part) if place == Place::Later && !is_known_before(part) => break,
                TemplatePart::Interpolation(part) => match self.evaluate(part, scope) {
                    value if value.sensitive => break,
                    value => match value.as_text() {
                        Some(text) => known.push_str(&text),
                        None => break,
                    },
                },
                TemplatePart::If { .. } | TemplatePart::For { .. } => break,
            }
        }
        (!known.is_empty()).then(|| known.into())
    }

    /// Expands `dynamic "name" { for_each iterator content }` to blocks `name`.
    fn expand_dynamic(&self, block: &mut EvaluatedBlock, node: &BlockNode, scope: Scope<'_>, module: &Rc<Instance>) {
        let name = node.label(0);
        let (Some(for_each), Some(content)) = (node.body.attribute("for_each"), node.body.blocks("content").next())
        else {
            let cause = Arc::new(Cause::new("this `dynamic` has no `for_each` or no `content`", node.header));
            block.open_blocks.push((name.to_owned(), cause));
            return;
        };
        let iterator = match node.body.attribute("iterator").map(|attribute| &attribute.expression.kind) {
            Some(HclKind::Name(iterator) | HclKind::Text(iterator)) => iterator,
            _ => name,
        };
        let collection = self.evaluate(&for_each.expression, scope);
        let members = match self.members(&collection, for_each.expression.span) {
            Ok(members) => members,
            Err(unknown) => {
                if let Some(cause) = unknown.cause() {
                    block.open_blocks.push((name.to_owned(), cause.clone()));
                }
                return;
            }
        };
        for (key, value) in members {
            if self.spend(NESTED_STEPS, node.header).is_err() {
                break;
            }
            let entries = [(Arc::from("key"), key), (Arc::from("value"), value)].into_iter().collect::<ObjectMembers>();
            let value = HclValue::object(entries, node.header);
            let variable = Variable { name: iterator, value, outer: scope.variables };
            let mut made = empty_block(node, name, &[]);
            self.fill(&mut made, &content.body, scope.with(&variable), module, Place::Inside);
            block.blocks.push(made);
        }
        if let Some(cause) = collection.entries().and_then(|entries| entries.rest.clone()) {
            block.open_blocks.push((name.to_owned(), cause));
        }
    }
}

/// Returns true if an expression refers to no resource, so that its value is known before resources exist.
fn is_known_before(expression: &Expression) -> bool {
    let mut is_known = true;
    expression.each_reference(&mut |name, _, _| {
        is_known &= matches!(name, "var" | "local" | "each" | "count" | "path" | "terraform" | "tofu");
    });
    is_known
}

/// Returns a block without content.
fn empty_block(node: &BlockNode, keyword: &str, labels: &[HclName]) -> EvaluatedBlock {
    EvaluatedBlock {
        keyword: keyword.to_owned(),
        labels: labels.iter().map(|label| label.text.to_string()).collect(),
        address: String::new(),
        span: node.header,
        body: node.span(),
        attributes: EvaluatedAttributes::default(),
        blocks: Vec::new(),
        open_blocks: Vec::new(),
        instances: Fact::written(Range::exactly(1.0), node.header),
        provider: None,
        source: None,
        references: Vec::new(),
    }
}

/// Returns the cause of an unknown value that a provider computes.
fn computed(block: &EvaluatedBlock) -> Cause {
    let why = if block.keyword == "data" { "is read by Terraform" } else { "is known only after apply" };
    let computed_by = Some(ProviderComputed { address: block.address.as_str().into(), attribute: "".into() });
    Cause { computed_by, ..Cause::new(format!("`{}` {why}", block.address), block.span) }
}

/// Combines the values of all instances into the value of a reference to the block.
pub(super) fn collected(expansion: &Expansion, values: Vec<HclValue>, span: Span) -> HclValue {
    let not_known = expansion.instances.iter().find_map(|repeated| match &repeated.repetition {
        Repetition::UnknownCount(cause) | Repetition::UnknownEach { cause, .. } => Some(cause),
        _ => None,
    });
    match expansion.kind {
        ExpansionKind::Single => values.into_iter().next().unwrap_or_else(|| HclValue::null(span)),
        ExpansionKind::Count => match not_known {
            Some(cause) => HclValue::because(cause, span),
            None => HclValue::tuple(values, span),
        },
        ExpansionKind::Each => {
            let keys = expansion.instances.iter().map(|repeated| repeated.key().and_then(HclValue::as_text));
            let known = keys.zip(values).filter_map(|(key, value)| Some((Arc::from(key?.as_ref()), value))).collect();
            HclValue::object(ObjectMembers { known, rest: not_known.cloned() }, span)
        }
    }
}

/// Converts a block to an object, in which nested blocks are lists of objects.
pub(in crate::terraform) fn block_value(block: &EvaluatedBlock, rest: Option<Arc<Cause>>) -> HclValue {
    let mut nested: BTreeMap<&str, Vec<HclValue>> = BTreeMap::new();
    for inner in &block.blocks {
        let rest = rest.as_ref().map(|cause| {
            let computed_by = cause.computed_by.as_ref().map(|computed| ProviderComputed {
                address: computed.address.clone(),
                attribute: inner.keyword.as_str().into(),
            });
            Arc::new(Cause { computed_by, ..Cause::clone(cause) })
        });
        nested.entry(&inner.keyword).or_default().push(block_value(inner, rest));
    }
    let attributes = block.attributes.iter().filter(|(_, attribute)| rest.is_none() || !attribute.value.is_null());
    let mut known: BTreeMap<Arc<str>, HclValue> =
        nested.into_iter().map(|(keyword, values)| (Arc::from(keyword), HclValue::tuple(values, block.span))).collect();
    known.extend(attributes.map(|(name, attribute)| (Arc::from(name.as_str()), attribute.value.clone())));
    for (name, cause) in &block.open_blocks {
        known.insert(name.as_str().into(), HclValue::because(cause, block.span));
    }
    HclValue::object(ObjectMembers { known, rest }, block.span)
}

/// Returns names that Terraform does not evaluate: `ignore_changes = [desired_size]`.
fn spelled(expression: &Expression) -> HclValue {
    let span = expression.span;
    match &expression.kind {
        HclKind::Name(name) | HclKind::Text(name) => HclValue::text(name.clone(), span),
        HclKind::Traversal(base, steps) => {
            let mut text = spelled(base).as_text().unwrap_or_default().into_owned();
            for step in steps {
                if let crate::languages::hcl::syntax::TraversalStepKind::Attribute(name) = &step.kind {
                    text.push('.');
                    text.push_str(name);
                }
            }
            HclValue::text(text, span)
        }
        HclKind::List(items) => HclValue::tuple(items.iter().map(spelled).collect(), span),
        HclKind::Object(items) => {
            let entries = items.iter().map(|item| {
                let key: Arc<str> = spelled(&item.key).as_text().unwrap_or_default().as_ref().into();
                (key, spelled(&item.value))
            });
            HclValue::object(entries.collect(), span)
        }
        _ => HclValue::unknown("gpulint does not evaluate this expression", span),
    }
}

pub(super) fn resource_name(node: &BlockNode) -> String {
    match &*node.keyword.text {
        "resource" => format!("{}.{}", node.label(0), node.label(1)),
        other => format!("{other}.{}.{}", node.label(0), node.label(1)),
    }
}

/// Multiplies the number of instances with the number of their containers.
pub(super) fn multiplied(outer: &Fact<Range>, inner: &Fact<Range>) -> Fact<Range> {
    match (outer, inner) {
        (Fact::Known(a), Fact::Known(b)) if a.value == Range::exactly(1.0) => Fact::Known(b.clone()),
        (Fact::Known(a), Fact::Known(b)) => Fact::known(a.value.times(b.value), b.span, b.origin.clone()),
        (Fact::Known(a), Fact::Unknown(b)) => {
            let candidates = b.candidates.iter().map(|range| a.value.times(*range)).collect();
            Fact::Unknown(UnknownFact { candidates, ..b.clone() })
        }
        (Fact::Unknown(a), Fact::Known(b)) => {
            let candidates = a.candidates.iter().map(|range| range.times(b.value)).collect();
            Fact::Unknown(UnknownFact { candidates, ..a.clone() })
        }
        (Fact::Unknown(a), Fact::Unknown(b)) => {
            let pairs = a.candidates.iter().flat_map(|a| b.candidates.iter().map(|b| a.times(*b)));
            Fact::Unknown(UnknownFact { candidates: pairs.collect(), ..b.clone() })
        }
        (Fact::Absent, other) | (other, Fact::Absent) => other.clone(),
    }
}
