//! Evaluates YAML programs.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::document::{
    DocData, DocResource, DocValue, EvaluatedOnce, EvaluationState, PART_BYTES, Presence, as_json_text, joined,
    longest, pay_for_arguments,
};
use crate::languages::hcl::budget::EvaluationBudget;
use crate::languages::hcl::value::{HclNumber, HclValue, PathTarget};
use crate::languages::yaml::{Node, NodeData, NodeEntry};
use crate::source::{Span, from_base64, to_base64};

/// A YAML program as written.
#[derive(Debug, Clone)]
pub(crate) struct PulumiProgram {
    root: Node,
    /// The prefix of its own configuration keys.
    pub(crate) project: Arc<str>,
}

/// The configuration of one stack.
#[derive(Debug, Clone, Default)]
pub(crate) struct PulumiStack {
    pub(crate) name: Option<HclValue>,
    /// Values by `project:key`.
    pub(crate) values: BTreeMap<Arc<str>, HclValue>,
}

impl PulumiProgram {
    /// Returns a project whose program is YAML, in the project file or in the file `main`; `None` for other files.
    pub(crate) fn of(root: &Node, main: Option<&Node>) -> Option<Self> {
        let project = root.text_at("name")?.clone();
        let runtime = root.get("runtime")?;
        let language = runtime.text().or_else(|| runtime.text_at("name"))?;
        (&**language == "yaml").then(|| PulumiProgram { root: main.unwrap_or(root).clone(), project })
    }

    pub(crate) fn span(&self) -> Span {
        self.root.span
    }

    /// Returns the resources of the program with the configuration of a stack.
    pub(crate) fn resources(&self, stack: &PulumiStack, budget: &Rc<EvaluationBudget>) -> Vec<DocResource> {
        let (state, known) = (EvaluationState::new(budget, self.span()), EvaluatedOnce::default());
        let run = ProgramRun { program: self, stack, state, known };
        let declared = self.root.get("resources").map(Node::entries).unwrap_or_default();
        let all = declared.iter().filter_map(|entry| run.resource(entry));
        all.take_while(|it| run.state.pay_resource(&it.properties)).collect()
    }
}

struct ProgramRun<'p> {
    program: &'p PulumiProgram,
    stack: &'p PulumiStack,
    state: EvaluationState,
    /// Values by name and the place that uses them.
    known: EvaluatedOnce<(Arc<str>, u32), HclValue>,
}

impl ProgramRun<'_> {
    fn resource(&self, entry: &NodeEntry) -> Option<DocResource> {
        let kind = entry.value.text_at("type")?.clone();
        // The resource already exists and is not created here.
        if entry.value.get("get").is_some() {
            return None;
        }
        self.state.take_references();
        let none = Node::map(entry.value.span, Vec::new());
        let written = entry.value.get("properties").unwrap_or(&none);
        let properties = self.doc(written);
        for key in ["dependsOn", "parent", "provider"] {
            let named = entry.value.at("options").and_then(|it| it.get(key));
            named.iter().for_each(|it| drop(self.doc(it)));
        }
        Some(DocResource {
            name: entry.key.clone(),
            address: entry.key.clone(),
            kind,
            head: entry.key_span,
            body: entry.span(),
            presence: Presence::Sure,
            properties,
            remarks: Vec::new(),
            references: self.state.take_references(),
        })
    }

    fn doc(&self, node: &Node) -> DocValue {
        let at = node.span;
        if let Err(unknown) = self.state.arrive(at) {
            return DocValue::generated(unknown, at);
        }
        let made = self.state.deeper(|| self.evaluate_node(node));
        made.unwrap_or_else(|| DocValue::generated(HclValue::unknown("the values nest too deeply", at), at))
    }

    fn evaluate_node(&self, node: &Node) -> DocValue {
        let at = node.span;
        let whole = |data| DocValue { key: at, at, literal: true, data };
        match &node.data {
            NodeData::Scalar { text, plain } => self.scalar(node, text, *plain),
            NodeData::List(items) => whole(DocData::List(items.iter().map(|it| self.doc(it)).collect())),
            NodeData::Map(entries) => match &**entries {
                [only] if is_function(&only.key) => self.spread_out(self.function(only), at),
                entries => {
                    let members = entries.iter();
                    let members = members.map(|it| (it.key.clone(), self.doc(&it.value).named(it.key_span)));
                    whole(DocData::Map(members.collect(), None))
                }
            },
        }
    }

    fn spread_out(&self, value: HclValue, at: Span) -> DocValue {
        match self.state.pay_members(&value, at) {
            Ok(()) => DocValue::spread_out(value, at),
            Err(unknown) => DocValue::generated(unknown, at),
        }
    }

    fn value(&self, node: &Node) -> HclValue {
        self.doc(node).value()
    }

    fn scalar(&self, node: &Node, text: &Arc<str>, plain: bool) -> DocValue {
        let at = node.span;
        let value = match (node.text(), node.flag()) {
            (None, _) => HclValue::null(at),
            (_, Some(flag)) => HclValue::bool(flag, at),
            _ => match HclNumber::parse(text).filter(|_| plain) {
                Some(number) => HclValue::number(number, at),
                None if text.contains("${") => return self.spread_out(self.filled(text, at), at),
                None => HclValue::text(text.replace("$$", "$"), at),
            },
        };
        DocValue::known(value, true)
    }

    /// Evaluates a string with `${name.property[0]}`. A string with only a reference has the referenced value.
    fn filled(&self, text: &str, at: Span) -> HclValue {
        let (mut parts, mut rest, mut literal) = (Vec::new(), text, String::new());
        while let Some(place) = rest.find('$') {
            literal.push_str(rest.get(..place).unwrap_or_default());
            let behind = rest.get(place + 1..).unwrap_or_default();
            if let Some(after) = behind.strip_prefix('$') {
                literal.push('$');
                rest = after;
            } else if let Some((name, after)) = behind.strip_prefix('{').and_then(|it| it.split_once('}')) {
                if !literal.is_empty() {
                    parts.push(HclValue::text(std::mem::take(&mut literal), at));
                }
                parts.push(self.access(name.trim(), at));
                rest = after;
            } else {
                literal.push('$');
                rest = behind;
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(HclValue::text(literal, at));
        }
        match parts.as_slice() {
            [only] => only.clone(),
            parts => joined(&self.state, parts, "", at),
        }
    }

    /// Evaluates `name.property["key"][0]`.
    fn access(&self, path: &str, at: Span) -> HclValue {
        let steps = path.split(['.', '[', ']']).map(|it| it.trim_matches('"')).filter(|it| !it.is_empty());
        let steps: Vec<&str> = steps.collect();
        let Some((name, rest)) = steps.split_first() else {
            return HclValue::refused("`${}` does not refer to a value", at);
        };
        let count = |section: &str| self.program.root.get(section).map_or(0, |it| it.entries().len());
        if let Err(unknown) = self.state.pay_search(count("resources") + count("variables") + steps.len(), at) {
            return unknown;
        }
        let resource = self.program.root.get("resources").and_then(|it| it.entry(name));
        if let Some(entry) = resource {
            return self.of_resource(entry, rest, at);
        }
        match (*name, rest) {
            ("pulumi", ["stack"]) => {
                self.stack.name.clone().unwrap_or_else(|| HclValue::unknown("the name of the stack is unknown", at))
            }
            ("pulumi", ["project"]) => HclValue::text(self.program.project.clone(), at),
            ("pulumi", _) => HclValue::unknown("the value is unknown before the program runs", at),
            _ => match self.named(name, at).find(rest) {
                PathTarget::Value(value) => value.clone(),
                PathTarget::Unknown(cause) => HclValue::because(&cause, at),
                PathTarget::Absent => HclValue::null(at),
            },
        }
    }

    /// Returns a property of a resource. Its inputs are known; only the provider knows the other properties.
    fn of_resource(&self, entry: &NodeEntry, path: &[&str], at: Span) -> HclValue {
        let given = path.iter().try_fold(entry.value.get("properties"), |of, key| Some(of?.get(key)));
        if let Some(node) = given.flatten().filter(|_| !path.is_empty() && path != ["id"]) {
            self.state.refer(&entry.key, at);
            return self.once(&entry.key, at, &|| self.value(node));
        }
        self.state.computed(&entry.key, &path.join("."), "the program runs", at)
    }

    /// Returns a variable of the program, or a configuration value.
    fn named(&self, name: &str, at: Span) -> HclValue {
        let project = &self.program.project;
        let variable = self.program.root.get("variables").and_then(|it| it.entry(name));
        if let Some(entry) = variable {
            return self.once(&entry.key, at, &|| self.value(&entry.value));
        }
        let given = [format!("{project}:{name}"), name.to_owned()];
        if let Some(given) = given.iter().find_map(|it| self.stack.values.get(&**it)) {
            return given.clone();
        }
        let sections = ["config", "configuration"].iter().filter_map(|it| self.program.root.get(it));
        let declared = sections.filter_map(|it| it.get(name).or_else(|| it.get(&format!("{project}:{name}")))).next();
        match declared {
            Some(node) if !node.is_map() && node.text().is_some() => self.value(node),
            Some(node) => match node.get("default").or_else(|| node.get("value")) {
                Some(default) => self.value(default),
                None => HclValue::unknown(format!("the configuration value `{name}` is not set"), at),
            },
            None => HclValue::refused(format!("`{name}` is not defined here"), at),
        }
    }

    fn once(&self, name: &Arc<str>, at: Span, value: &dyn Fn() -> HclValue) -> HclValue {
        let in_circle = || HclValue::refused(format!("`{name}` depends on itself"), at);
        self.known.get((name.clone(), at.start), in_circle, value)
    }

    fn function(&self, entry: &NodeEntry) -> HclValue {
        let (name, at) = (entry.key.trim_start_matches("fn::").to_ascii_lowercase(), entry.span());
        if matches!(
            name.as_str(),
            "invoke" | "stackreference" | "readfile" | "remoteasset" | "fileasset" | "filearchive"
        ) {
            return HclValue::unknown("the value is unknown before the program runs", at);
        }
        let given = self.value(&entry.value);
        if let Some(cause) = given.cause() {
            return HclValue::because(cause, at);
        }
        let paid = pay_for_arguments(&self.state, std::slice::from_ref(&given), at)
            .and_then(|()| pay_for_arguments(&self.state, given.items(), at));
        if let Err(unknown) = paid.and_then(|()| self.pay_result(&name, &given, at)) {
            return unknown;
        }
        let made = match (name.as_str(), given.items()) {
            ("join", [between, list]) => between.as_text().map(|it| joined(&self.state, list.items(), &it, at)),
            ("select", [place, list]) => {
                place.as_number().and_then(|it| it.as_usize()).and_then(|it| list.items().get(it)).cloned()
            }
            ("split", [by, text]) => {
                by.as_text().zip(text.as_text()).filter(|(by, _)| !by.is_empty()).map(|(by, text)| {
                    HclValue::tuple(text.split(&*by).map(|part| HclValue::text(part, at)).collect(), at)
                })
            }
            ("tojson", _) => match as_json_text(&self.state, &given, at) {
                Ok(text) => text.map(|it| HclValue::text(it, at)),
                Err(unknown) => return unknown,
            },
            ("tobase64", _) => given.as_text().map(|it| HclValue::text(to_base64(it.as_bytes()), at)),
            ("frombase64", _) => {
                let bytes = given.as_text().and_then(|it| from_base64(it.bytes()));
                bytes.and_then(|it| String::from_utf8(it).ok()).map(|it| HclValue::text(it, at))
            }
            ("secret", _) => Some(given.clone().marked(true)),
            ("stringasset", _) => Some(given.clone()),
            _ => Some(HclValue::unknown("a provider sets this value when the program runs", at)),
        };
        made.unwrap_or_else(|| match given.any_cause() {
            Some(cause) => HclValue::because(cause, at),
            None => HclValue::refused(format!("the arguments of `fn::{name}` are invalid"), at),
        })
    }

    /// Pays for the strings that a function creates from its arguments.
    fn pay_result(&self, name: &str, given: &HclValue, at: Span) -> Result<(), HclValue> {
        match (name, given.items()) {
            ("split", [by, text]) => {
                let (by, text) = (by.as_text().unwrap_or_default(), text.as_text().unwrap_or_default());
                let parts = if by.is_empty() { 0 } else { text.matches(&*by).count() };
                self.state.pay_text(parts.saturating_mul(PART_BYTES).saturating_add(text.len()), at)
            }
            ("tobase64" | "frombase64", _) => self.state.pay_text(longest(given).saturating_mul(2), at),
            _ => Ok(()),
        }
    }
}

fn is_function(key: &str) -> bool {
    key.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("fn::"))
}
