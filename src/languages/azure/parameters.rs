//! Evaluates parameters: their values, defaults and parameter files.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::document::{DocLibrary, EvaluationState, among_allowed, filled_in};
use crate::languages::hcl::budget::EvaluationBudget;
use crate::languages::hcl::value::{Cause, HclData, HclNumber, HclValue, ObjectMembers};
use crate::languages::yaml::{Node, NodeData};
use crate::source::{FileId, Span};

use super::bicep;
use super::deployment::AzureDeployment;
use super::evaluate::AzureNames;
use super::model::{AzureTemplate, DeclaredParameter};

/// Values that a file gives to the parameters of a template.
pub(crate) struct GivenByFile {
    pub(crate) values: BTreeMap<Arc<str>, HclValue>,
    /// The location of its template, if the file names it.
    pub(crate) template: Option<HclValue>,
    pub(crate) comments: Vec<Span>,
}

impl AzureDeployment<'_> {
    /// Returns the value of a parameter; `None` if the template does not declare it.
    pub(super) fn parameter(&self, name: &str, at: Span) -> Option<HclValue> {
        if let Err(unknown) = self.state.pay_search(self.template.parameters.len() + self.given.len(), at) {
            return Some(unknown);
        }
        let declared = self.template.parameters.iter().find(|it| it.name.eq_ignore_ascii_case(name))?;
        let given = self.given.iter().find(|(name, _)| name.eq_ignore_ascii_case(&declared.name));
        let value = match (given, &declared.default) {
            (Some((_, given)), _) => among_allowed(given, || self.allowed(declared)),
            (None, Some(default)) => {
                let value = || self.value(default, &AzureNames::default());
                self.once("parameter", &declared.name, at, &value)
            }
            (None, None) if declared.is_nullable => HclValue::null(at),
            (None, None) => self.without_value(declared, at),
        };
        Some(value.marked(declared.is_secret))
    }

    fn allowed(&self, declared: &DeclaredParameter) -> Vec<HclValue> {
        let allowed = declared.allowed.as_ref().map(|it| self.value(it, &AzureNames::default()));
        allowed.as_ref().map(HclValue::items).unwrap_or_default().to_vec()
    }

    /// Returns an unknown value, with the allowed values as candidates if the template lists them.
    fn without_value(&self, declared: &DeclaredParameter, at: Span) -> HclValue {
        let candidates = self.allowed(declared);
        let name = &declared.name;
        // The outline makes two strings equal if they contain the same parameter.
        let outline = Some(format!("${{{name}}}").into());
        let cause = Cause { candidates, outline, ..Cause::new(format!("parameter `{name}` has no value"), at) };
        HclValue::because(&Arc::new(cause), at)
    }
}

/// Parses a JSON parameter file; `None` if it is another file.
pub(crate) fn given_by_json(root: &Node) -> Option<GivenByFile> {
    let schema = root.text_at("$schema")?.to_ascii_lowercase();
    if !schema.trim_end_matches('#').ends_with("deploymentparameters.json") {
        return None;
    }
    let entries = root.get("parameters").map(Node::entries).unwrap_or_default();
    let values = entries.iter().map(|entry| {
        let value = match entry.value.get("value") {
            Some(value) => given(value),
            None => HclValue::unknown("the value is a secret in a key vault", entry.value.span),
        };
        (entry.key.clone(), value)
    });
    Some(GivenByFile { values: values.collect(), template: None, comments: Vec::new() })
}

/// Returns plain data without evaluation. A placeholder is unknown: `azd` or a pipeline replaces it.
fn given(node: &Node) -> HclValue {
    let at = node.span;
    match &node.data {
        NodeData::Scalar { text, plain } => match (plain, node.flag(), HclNumber::parse(text)) {
            (true, _, _) if node.is_null() => HclValue::null(at),
            (true, Some(flag), _) => HclValue::bool(flag, at),
            (true, None, Some(number)) => HclValue::number(number, at),
            _ => filled_in(text, at).unwrap_or_else(|| HclValue::text(text.clone(), at)),
        },
        NodeData::List(items) => HclValue::tuple(items.iter().map(given).collect(), at),
        NodeData::Map(entries) => {
            let known = entries.iter().map(|entry| (entry.key.clone(), given(&entry.value))).collect();
            HclValue::new(HclData::Object(Arc::new(ObjectMembers { known, rest: None })), at)
        }
    }
}

/// Parses a Bicep parameter file, whose values may be expressions.
pub(crate) fn given_by_bicep(
    file: FileId,
    text: &str,
    library: &dyn DocLibrary<AzureTemplate>,
    budget: &Rc<EvaluationBudget>,
) -> GivenByFile {
    let read = bicep::read(file, text);
    let template = Arc::new(read.template);
    let state = EvaluationState::new(budget, template.span());
    let deployment = AzureDeployment::new(template.clone(), BTreeMap::new(), library, state);
    let values = template.parameters.iter().filter(|it| it.default.is_some());
    let values = values.filter_map(|it| Some((it.name.clone(), deployment.parameter(&it.name, template.span())?)));
    GivenByFile { values: values.collect(), template: read.using, comments: read.comments }
}
