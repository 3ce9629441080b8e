//! Finds all blocks that a block depends on through variables, locals, outputs and module arguments, even if their
//! values are unknown before Terraform runs.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use crate::languages::hcl::syntax::{BlockNode, Expression, HclKind, TraversalStep, TraversalStepKind};
use crate::terraform::block::EvaluatedBlock;

use super::blocks::resource_name;
use super::{Instance, Repetition, RootEvaluator, Scope};

/// The target of a reference: the address of a block without the key of its last part, and that key if it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::terraform) struct Reached {
    pub(in crate::terraform) block: String,
    pub(in crate::terraform) key: Option<String>,
}

/// The targets of each block, by its address without its key.
pub(in crate::terraform) type Reaches = BTreeMap<String, BTreeSet<Reached>>;

/// A search: its results, and the names of each module that were followed.
#[derive(Default)]
struct Search {
    found: BTreeSet<Reached>,
    seen: HashSet<(Rc<str>, String)>,
}

impl RootEvaluator<'_> {
    /// Adds the targets of all blocks of a module and of the modules that it calls. All blocks must be evaluated first,
    /// because this search evaluates nothing.
    pub(in crate::terraform) fn reaches(&self, module: &Rc<Instance>, into: &mut Reaches) {
        let code = &module.code;
        let resources = code.resources.iter().map(|node| (resource_name(node), node));
        let calls = code.calls.iter().map(|node| (format!("module.{}", node.label(0)), node));
        let outputs = code.outputs.iter().map(|node| (format!("output.{}", node.label(0)), node));
        let variables = code.variables.iter().map(|node| (format!("var.{}", node.label(0)), node));
        let providers = code.providers.iter().map(|node| (provider_name(node), node));
        for (name, node) in resources.chain(calls).chain(outputs).chain(variables).chain(providers) {
            if self.spend(1, node.header).is_err() {
                return;
            }
            let mut search = Search::default();
            search.seen.insert((module.address.clone(), name.clone()));
            node.body.each_reference(&mut |name, steps, _| self.follow(module, name, steps, &mut search));
            let address = format!("{}{name}", module.address);
            search.found.retain(|it| it.block != address);
            if !search.found.is_empty() {
                into.entry(address).or_default().extend(search.found);
            }
        }
        for index in 0..code.calls.len() {
            let Some(called) = self.called(module, index) else { continue };
            for instance in &called.instances {
                self.reaches(instance, into);
            }
        }
    }

    fn follow(&self, module: &Rc<Instance>, name: &str, steps: &[TraversalStep], search: &mut Search) {
        let Some(first) = attribute(steps.first()) else { return };
        let code = &module.code;
        match name {
            "var" => {
                let whole = format!("var.{first}");
                if code.variables.get(first).is_none() || !search.is_new(module, &whole) {
                    return;
                }
                search.note(module, whole, None);
                if let Some(call) = &module.call
                    && let Some(node) = call.node()
                    && let Some(argument) = node.body.attribute(first)
                {
                    self.follow_all(&call.parent, &argument.expression, search);
                    // `each.value` of the call refers to the collection of its `for_each`.
                    let repeats = node.body.attribute("for_each").filter(|_| mentions_each(&argument.expression));
                    repeats.into_iter().for_each(|it| self.follow_all(&call.parent, &it.expression, search));
                }
            }
            "local" => {
                if let Some(local) = code.locals.get(first).filter(|_| search.is_new(module, &format!("local.{first}")))
                {
                    self.follow_all(module, &local.expression, search);
                }
            }
            "module" => self.follow_call(module, first, steps, search),
            "data" | "ephemeral" => {
                if let Some(label) = attribute(steps.get(1)) {
                    self.end(module, format!("{name}.{first}.{label}"), steps.get(2), search);
                }
            }
            "resource" => {
                if let Some(label) = attribute(steps.get(1)) {
                    self.end(module, format!("{first}.{label}"), steps.get(2), search);
                }
            }
            kind => self.end(module, format!("{kind}.{first}"), steps.get(1), search),
        }
    }

    fn follow_all(&self, module: &Rc<Instance>, expression: &Expression, search: &mut Search) {
        expression.each_reference(&mut |name, steps, _| self.follow(module, name, steps, search));
    }

    /// Returns a resource, a data source or a provider configuration.
    fn end(&self, module: &Rc<Instance>, name: String, next: Option<&TraversalStep>, search: &mut Search) {
        let code = &module.code;
        if code.resources.get(&name).is_some() {
            search.note(module, name, key(next));
        } else if code.providers.get(&name).is_some() {
            search.note(module, format!("provider.{name}"), None);
        }
    }

    /// Follows `module.a.b` to the call and to the expression of its output.
    fn follow_call(&self, module: &Rc<Instance>, call: &str, steps: &[TraversalStep], search: &mut Search) {
        let Some(index) = module.code.calls.index(call) else { return };
        let key = key(steps.get(1));
        let output = steps.iter().skip(1).find_map(|step| attribute(Some(step)));
        let whole = format!("module.{call}{}.{}", key.as_deref().unwrap_or("[*]"), output.unwrap_or("*"));
        if !search.is_new(module, &whole) {
            return;
        }
        search.note(module, format!("module.{call}"), key.clone());
        let Some(called) = self.called(module, index) else { return };
        let is_meant = |it: &&Rc<Instance>| {
            key.as_ref()
                .is_none_or(|key| it.address.strip_suffix("].").is_none() || it.address.ends_with(&format!("{key}.")))
        };
        for instance in called.instances.iter().filter(is_meant) {
            for node in instance.code.outputs.iter().filter(|it| output.is_none_or(|name| name == it.label(0))) {
                if let Some(value) = node.body.attribute("value") {
                    self.follow_all(instance, &value.expression, search);
                }
            }
        }
    }

    /// Adds the blocks other than resources, data sources and calls: `provider`, `variable`, `terraform`, and the
    /// outputs of called modules.
    pub(in crate::terraform) fn other_blocks(&self, module: &Rc<Instance>, into: &mut Vec<EvaluatedBlock>) {
        let code = &module.code;
        let mut add = |node: &BlockNode, name: String| {
            if self.spend(super::blocks::INSTANCE_STEPS, node.header).is_err() {
                return;
            }
            let mut block = self.block(node, Scope::of(module, &Repetition::Single), module);
            block.address = format!("{}{name}", module.address);
            into.push(block);
        };
        code.providers.iter().for_each(|node| add(node, provider_name(node)));
        code.variables.iter().for_each(|node| add(node, format!("var.{}", node.label(0))));
        let settings = code.others.iter().filter(|node| &*node.keyword.text == "terraform");
        settings.for_each(|node| add(node, "terraform".to_owned()));
        if module.call.is_some() {
            code.outputs.iter().for_each(|node| add(node, format!("output.{}", node.label(0))));
        }
        for index in 0..code.calls.len() {
            let Some(called) = self.called(module, index) else { continue };
            called.instances.iter().for_each(|instance| self.other_blocks(instance, into));
        }
    }
}

impl Search {
    fn is_new(&mut self, module: &Rc<Instance>, name: &str) -> bool {
        self.seen.insert((module.address.clone(), name.to_owned()))
    }

    fn note(&mut self, module: &Rc<Instance>, name: String, key: Option<String>) {
        self.found.insert(Reached { block: format!("{}{name}", module.address), key });
    }
}

/// Returns the name of a provider block: `provider.aws`, `provider.aws.west`.
fn provider_name(node: &BlockNode) -> String {
    let alias = node.body.attribute("alias").map(|it| &it.expression.kind);
    match alias {
        Some(HclKind::Text(alias)) => format!("provider.{}.{alias}", node.label(0)),
        _ => format!("provider.{}", node.label(0)),
    }
}

fn attribute(step: Option<&TraversalStep>) -> Option<&str> {
    match &step?.kind {
        TraversalStepKind::Attribute(name) => Some(name),
        _ => None,
    }
}

/// Returns a written key in the form of an address.
fn key(step: Option<&TraversalStep>) -> Option<String> {
    let TraversalStepKind::Index(index) = &step?.kind else { return None };
    match &index.kind {
        HclKind::Text(text) => Some(format!("[\"{text}\"]")),
        HclKind::Number(number) => Some(format!("[{number}]")),
        _ => None,
    }
}

fn mentions_each(expression: &Expression) -> bool {
    let mut found = false;
    expression.each_reference(&mut |name, _, _| found |= name == "each");
    found
}
