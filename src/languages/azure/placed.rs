//! Evaluates the resources that a deployment declares, one for each loop iteration, with their names.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::languages::hcl::value::HclValue;
use crate::source::Span;

use super::deployment::AzureDeployment;
use super::evaluate::AzureNames;
use super::model::{DeclaredResource, NestedDeployment};
use super::syntax::{AzureExpr, AzureKind};

/// A declared resource in one iteration of its loop.
#[derive(Debug, Clone)]
pub(super) struct LoopedResource {
    pub(super) declared: Arc<DeclaredResource>,
    pub(super) names: AzureNames,
    /// Conditions that must all hold for the resource to exist.
    pub(super) conditions: Vec<AzureExpr>,
    /// The full name, with `${…}` for unknown parts.
    pub(super) name: Arc<str>,
    /// The name for reports.
    pub(super) shown: Arc<str>,
    pub(super) address: Arc<str>,
    /// The index of the loop iteration.
    pub(super) turn: Option<usize>,
}

/// The number of copies of a resource's name.
const NAME_COPIES: usize = 3;

/// The settings that apply to all nested resources.
#[derive(Clone, Default)]
struct Around {
    names: AzureNames,
    conditions: Vec<AzureExpr>,
    /// The address prefix, such as `deployment.` for resources of a nested template.
    prefix: String,
}

impl AzureDeployment<'_> {
    pub(super) fn placed(&self) -> Rc<Vec<LoopedResource>> {
        if let Some(placed) = self.placed.get() {
            return placed.clone();
        }
        // While names are computed, an expression cannot look up a resource by its name.
        if self.is_placing.replace(true) {
            return Rc::default();
        }
        let mut all = Vec::new();
        for declared in &self.template.resources {
            self.place(declared, &Around::default(), &mut all);
        }
        self.is_placing.set(false);
        // Values that were evaluated in the meantime could not use the resources, so they are dropped.
        self.known.clear();
        self.state.take_references();
        distinguish(&mut all);
        self.placed.get_or_init(|| Rc::new(all)).clone()
    }

    fn place(&self, declared: &Arc<DeclaredResource>, around: &Around, all: &mut Vec<LoopedResource>) {
        let turns = match &declared.turns {
            Some(header) => self.turns(header, &around.names),
            None => vec![around.names.clone()],
        };
        let is_loop = declared.turns.is_some();
        for (turn, names) in turns.into_iter().enumerate() {
            // A resource costs as many steps as a large expression.
            if !self.state.spend(100) {
                break;
            }
            let is_sure = names.doubt.is_none();
            let around = Around { names, ..around.clone() };
            self.place_one(declared, &around, Some(turn).filter(|_| is_loop && is_sure), all);
        }
    }

    fn place_one(
        &self,
        declared: &Arc<DeclaredResource>,
        around: &Around,
        turn: Option<usize>,
        all: &mut Vec<LoopedResource>,
    ) {
        let mut conditions = around.conditions.clone();
        conditions.extend(declared.condition.clone());
        let name = self.name_of(declared, &around.names);
        if self.state.pay_text(name.len().saturating_mul(NAME_COPIES), declared.head).is_err() {
            return;
        }
        let last: Arc<str> = name.rsplit('/').next().unwrap_or_default().into();
        let (shown, address): (Arc<str>, String) = match (&declared.symbol, turn) {
            (Some(symbol), Some(turn)) => (last, format!("{symbol}[{turn}]")),
            (Some(symbol), None) => (symbol.clone(), symbol.to_string()),
            (None, _) => {
                let kind = declared.kind.rsplit('/').next().unwrap_or_default();
                (last, format!("{kind}/{name}"))
            }
        };
        let address: Arc<str> = format!("{}{}{address}", self.state.prefix, around.prefix).into();
        let inside =
            Around { names: around.names.clone(), conditions: conditions.clone(), prefix: around.prefix.clone() };
        for inner in &declared.inner {
            self.place(inner, &inside, all);
        }
        if let Some(NestedDeployment::AsPart(template)) = &declared.deployed {
            let prefix = format!("{}{shown}.", around.prefix);
            let inside = Around { prefix, ..inside };
            template.resources.iter().for_each(|inner| self.place(inner, &inside, all));
        }
        let names = around.names.clone();
        all.push(LoopedResource { declared: declared.clone(), names, conditions, name, shown, address, turn });
    }

    fn name_of(&self, declared: &DeclaredResource, names: &AzureNames) -> Arc<str> {
        let own = declared.body.get("name").map(|it| self.shape(it, names)).unwrap_or_default();
        match &declared.parent {
            Some(parent) => {
                let parent = match &parent.kind {
                    AzureKind::Name(symbol) => self.declared_name(symbol, names),
                    _ => self.shape(parent, names),
                };
                format!("{parent}/{own}").into()
            }
            None => own.into(),
        }
    }

    /// Returns the declared name of a resource, which may be declared later in the file.
    fn declared_name(&self, symbol: &str, names: &AzureNames) -> String {
        let found = self.template.resources.iter().find(|it| it.symbol.as_deref() == Some(symbol));
        match found {
            Some(declared)
                if declared.parent.as_ref().is_none_or(|it| !is_name(it, symbol)) && self.state.spend(20) =>
            {
                let name = self.state.deeper(|| self.name_of(declared, names).to_string());
                name.unwrap_or_else(|| "${…}".to_owned())
            }
            _ => "${…}".to_owned(),
        }
    }

    /// Returns the known part of a string.
    fn shape(&self, expr: &AzureExpr, names: &AzureNames) -> String {
        shape_of(&self.value(expr, names))
    }

    /// Returns the resources for a search; `None` if the budget is exhausted.
    pub(super) fn looked_through(&self, at: Span) -> Option<Rc<Vec<LoopedResource>>> {
        let placed = self.placed();
        self.state.pay_search(placed.len(), at).ok().map(|()| placed)
    }

    /// Finds a resource by type and name, regardless of case.
    pub(super) fn by_name(&self, kind: &str, name: &str) -> Option<LoopedResource> {
        let placed = self.looked_through(self.state.here())?;
        let is_it =
            |it: &&LoopedResource| it.declared.kind.eq_ignore_ascii_case(kind) && it.name.eq_ignore_ascii_case(name);
        placed.iter().find(is_it).cloned()
    }

    /// Returns the parent resource as a reference.
    pub(super) fn parent(&self, placed: &LoopedResource) -> Option<HclValue> {
        let (kind, _) = placed.declared.kind.rsplit_once('/').filter(|(kind, _)| kind.contains('/'))?;
        let (name, _) = placed.name.rsplit_once('/')?;
        let at = placed.declared.head;
        let own = self.by_name(kind, name);
        Some(match own.filter(|it| !it.declared.is_existing) {
            Some(parent) => self.computed(&parent.address, "id", at),
            // Another file of the deployment may define a resource of this name.
            None if !name.contains("${") => HclValue::text(name.rsplit('/').next().unwrap_or(name), at),
            None => HclValue::unknown(format!("`{name}` is not defined in this file"), at),
        })
    }
}

fn is_name(expr: &AzureExpr, symbol: &str) -> bool {
    matches!(&expr.kind, AzureKind::Name(name) if &**name == symbol)
}

/// Returns a string with `${…}` for unknown parts.
pub(super) fn shape_of(value: &HclValue) -> String {
    let outline = || value.cause().and_then(|it| it.outline.as_deref()).unwrap_or("${…}").to_owned();
    value.as_text().map_or_else(outline, |it| it.into_owned())
}

/// Makes the addresses of resources unique.
fn distinguish(all: &mut [LoopedResource]) {
    let mut seen: HashMap<Arc<str>, usize> = HashMap::new();
    for placed in all {
        let count = seen.entry(placed.address.clone()).or_default();
        *count += 1;
        if *count > 1 {
            placed.address = format!("{}#{count}", placed.address).into();
        }
    }
}
