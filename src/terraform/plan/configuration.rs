//! Reads the configuration part of a plan: references between resources, and the arguments of providers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::languages::hcl::syntax::json::{Json, JsonKind};
use crate::languages::hcl::value::{Cause, HclData, HclValue, ObjectMembers};
use crate::terraform::address::{base, parts, split_call, without_key, without_keys};
use crate::terraform::block::{EvaluatedAttribute, Provider};

/// The limit on the variables and outputs that a reference passes through, and on the resources that it leads to.
const LONGEST_CHAIN: usize = 12;
const MOST_ENDS: usize = 64;

#[derive(Debug, Default)]
pub(super) struct PlanConfiguration<'j> {
    /// The modules, by the names of the calls that lead to each: `module.a.module.b`.
    modules: HashMap<String, Module<'j>>,
    /// The variables of the root.
    variables: HashMap<&'j str, Variable<'j>>,
    providers: HashMap<&'j str, &'j Json>,
    /// The instances of each module: `module.a["x"]` and `module.a["y"]` for `module.a`.
    instances: HashMap<String, BTreeSet<&'j str>>,
}

#[derive(Debug, Default)]
struct Module<'j> {
    resources: HashMap<&'j str, &'j Json>,
    calls: HashMap<&'j str, &'j Json>,
    outputs: HashMap<&'j str, &'j Json>,
}

#[derive(Debug)]
struct Variable<'j> {
    value: &'j Json,
    sensitive: bool,
}

fn named(json: Option<&Json>) -> HashMap<&str, &Json> {
    json.map(Json::entries).unwrap_or_default().iter().map(|(name, value)| (&*name.text, value)).collect()
}

impl<'j> PlanConfiguration<'j> {
    pub(super) fn read(plan: &'j Json) -> Self {
        let mut configuration = PlanConfiguration::default();
        let written = plan.get("configuration");
        configuration.providers = named(written.and_then(|it| it.get("provider_config")));
        let root = written.and_then(|it| it.get("root_module"));
        let declared = named(root.and_then(|it| it.get("variables")));
        for (name, variable) in named(plan.get("variables")) {
            let flag = |json: &&Json| json.get("sensitive").and_then(Json::flag) == Some(true);
            let sensitive = declared.get(name).is_some_and(flag);
            if let Some(value) = variable.get("value") {
                configuration.variables.insert(name, Variable { value, sensitive });
            }
        }
        if let Some(root) = root {
            configuration.add(String::new(), root);
        }
        for change in plan.get("resource_changes").map(Json::items).unwrap_or_default() {
            let mut module = change.get("module_address").and_then(Json::text);
            while let Some(address) = module {
                configuration.instances.entry(without_keys(address)).or_default().insert(address);
                module = split_call(address).map(|(parent, _)| parent).filter(|parent| !parent.is_empty());
            }
        }
        configuration
    }

    /// Returns the values of the sensitive variables.
    pub(super) fn secrets(&self) -> HashSet<&'j str> {
        let mut found = HashSet::new();
        for variable in self.variables.values().filter(|it| it.sensitive) {
            all_texts(variable.value, &mut found);
        }
        found
    }

    fn add(&mut self, path: String, json: &'j Json) {
        let mut module = Module { calls: named(json.get("module_calls")), ..Module::default() };
        module.outputs = named(json.get("outputs"));
        for resource in json.get("resources").map(Json::items).unwrap_or_default() {
            if let Some(address) = resource.get("address").and_then(Json::text) {
                module.resources.insert(address, resource);
            }
        }
        for (name, call) in &module.calls {
            if let Some(below) = call.get("module") {
                self.add(joined(&path, &format!("module.{name}")), below);
            }
        }
        self.modules.insert(path, module);
    }

    /// Returns the configuration of a resource, by its name in its module.
    pub(super) fn resource(&self, module: &str, name: &str) -> Option<&'j Json> {
        self.modules.get(&without_keys(module))?.resources.get(name).copied()
    }

    /// Returns the resources and data sources that an expression of a module references, directly or indirectly.
    pub(super) fn addresses(&self, expression: &'j Json, module: &str, for_each: Option<&'j Json>) -> Vec<String> {
        let mut walk = Walk { configuration: self, seen: BTreeSet::new(), found: Vec::new() };
        walk.expression(expression, module, for_each, 0);
        walk.found
    }

    /// Returns the configuration of a provider by its key: `aws`, `aws.west`, `module.a:aws`.
    pub(super) fn provider(&self, key: &str) -> Option<Provider> {
        let own = self.providers.get(key).copied();
        let json = own.or_else(|| self.providers.get(key.rsplit_once(':')?.1).copied())?;
        let mut attributes = BTreeMap::new();
        for (name, expression) in json.get("expressions").map(Json::entries).unwrap_or_default() {
            if let Some(value) = self.constant(expression) {
                let (span, at) = (name.span.to(expression.span), value.span);
                attributes.insert(
                    name.text.to_string(),
                    EvaluatedAttribute { value, span, expression: at, literal: true, beginning: None },
                );
            }
        }
        let text = |key: &str| json.get(key).and_then(Json::text).map(str::to_owned);
        Some(Provider {
            name: text("name").unwrap_or_default(),
            alias: text("alias"),
            span: json.span,
            attributes: attributes.into_iter().collect(),
            blocks: Vec::new(),
        })
    }

    /// Returns the value of an expression in the root module: a constant or a variable.
    fn constant(&self, expression: &'j Json) -> Option<HclValue> {
        if let Some(constant) = expression.get("constant_value") {
            return Some(plain(constant));
        }
        if let Some(references) = expression.get("references").map(Json::items) {
            let names = references.iter().filter_map(Json::text);
            let variables: BTreeSet<&str> =
                names.filter_map(|it| it.strip_prefix("var.")?.split(['.', '[']).next()).collect();
            // The plan does not distinguish a string that contains a variable from the variable itself.
            let only = (references.len() == 1 && variables.len() == 1).then(|| variables.first()).flatten();
            return Some(match only.and_then(|name| self.variables.get(name)) {
                Some(variable) => plain(variable.value).marked(variable.sensitive),
                None => HclValue::because(
                    &Arc::new(Cause::new("the plan does not contain the value", expression.span)),
                    expression.span,
                ),
            });
        }
        let data = match &expression.kind {
            JsonKind::List(items) => {
                HclData::Tuple(Arc::new(items.iter().filter_map(|it| self.constant(it)).collect()))
            }
            JsonKind::Object(entries) if !entries.is_empty() => {
                let below = entries.iter().filter_map(|(name, it)| Some((name.text.clone(), self.constant(it)?)));
                HclData::Object(Arc::new(below.collect::<ObjectMembers>()))
            }
            _ => return None,
        };
        Some(HclValue::new(data, expression.span))
    }
}

pub(super) fn all_texts<'j>(json: &'j Json, found: &mut HashSet<&'j str>) {
    let long_enough = |text: &&str| text.len() >= super::changes::SHORTEST_SECRET;
    found.extend(json.text().filter(long_enough));
    for below in json.items().iter().chain(json.entries().iter().map(|(_, value)| value)) {
        all_texts(below, found);
    }
}

/// Converts a JSON value that is fully known.
fn plain(json: &Json) -> HclValue {
    let data = match &json.kind {
        JsonKind::Null => HclData::Null,
        JsonKind::Bool(flag) => HclData::Bool(*flag),
        JsonKind::Number(number) => HclData::Number(number.clone()),
        JsonKind::Text(text, _) => HclData::Text(text.clone()),
        JsonKind::List(items) => HclData::Tuple(Arc::new(items.iter().map(plain).collect())),
        JsonKind::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| (name.text.clone(), plain(value)));
            HclData::Object(Arc::new(entries.collect::<ObjectMembers>()))
        }
    };
    HclValue::new(data, json.span)
}

/// A search through references.
struct Walk<'c, 'j> {
    configuration: &'c PlanConfiguration<'j>,
    seen: BTreeSet<(String, &'j str)>,
    found: Vec<String>,
}

impl<'j> Walk<'_, 'j> {
    fn expression(&mut self, json: &'j Json, module: &str, for_each: Option<&'j Json>, depth: usize) {
        if let Some(references) = json.get("references") {
            for reference in references.items().iter().filter_map(Json::text) {
                self.reference(reference, module, for_each, depth);
            }
            return;
        }
        for below in json.items().iter().chain(json.entries().iter().map(|(_, value)| value)) {
            self.expression(below, module, for_each, depth);
        }
    }

    fn reference(&mut self, reference: &'j str, module: &str, for_each: Option<&'j Json>, depth: usize) {
        if depth > LONGEST_CHAIN || self.found.len() >= MOST_ENDS || !self.seen.insert((module.to_owned(), reference)) {
            return;
        }
        let configuration = self.configuration;
        let parts = parts(reference);
        match parts.as_slice() {
            ["var", name, ..] => {
                let Some((parent, call)) = split_call(module) else { return };
                let calls = configuration.modules.get(&without_keys(parent)).map(|it| &it.calls);
                let Some(call) = calls.and_then(|it| it.get(without_key(call))) else { return };
                if let Some(given) = call.get("expressions").and_then(|it| it.get(name)) {
                    self.expression(given, parent, call.get("for_each_expression"), depth + 1);
                }
            }
            ["each", ..] => {
                if let Some(for_each) = for_each {
                    self.expression(for_each, module, None, depth + 1);
                }
            }
            ["module", call, output, ..] => {
                let below = joined(module, &format!("module.{call}"));
                let outputs = configuration.modules.get(&without_keys(&below)).map(|it| &it.outputs);
                let Some(expression) = outputs.and_then(|it| it.get(output)?.get("expression")) else { return };
                let instances = configuration.instances.get(&without_keys(&below)).into_iter().flatten();
                let meant = instances.copied().filter(|it| *it == below || base(it) == below);
                for instance in meant.take(MOST_ENDS) {
                    self.expression(expression, instance, None, depth + 1);
                }
            }
            ["data", kind, name, ..] => self.end(joined(module, &format!("data.{kind}.{name}"))),
            ["local" | "count" | "path" | "terraform" | "self" | "module", ..] => {}
            [kind, name, ..] => self.end(joined(module, &format!("{kind}.{name}"))),
            _ => {}
        }
    }

    fn end(&mut self, address: String) {
        if !self.found.contains(&address) {
            self.found.push(address);
        }
    }
}

fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}.{name}") }
}
