//! Evaluates expressions about a resource of the same deployment: its name, its ID, an output of a nested deployment.

use std::sync::Arc;

use crate::languages::hcl::value::HclValue;
use crate::source::Span;

use super::deployment::AzureDeployment;
use super::evaluate::AzureNames;
use super::functions;
use super::placed::LoopedResource;
use super::syntax::{AzureExpr, AzureKind};

impl AzureDeployment<'_> {
    /// Returns the value of a resource that an expression uses by its symbol alone.
    pub(super) fn whole_resource(&self, symbol: &str, at: Span) -> Option<HclValue> {
        let placed = self.symbol(symbol, None)?;
        Some(self.computed(&placed.address, "", at))
    }

    fn symbol(&self, symbol: &str, turn: Option<usize>) -> Option<LoopedResource> {
        let placed = self.looked_through(self.state.here())?;
        let is_it = |it: &&LoopedResource| {
            it.declared.symbol.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(symbol))
                && (turn.is_none() || it.turn.is_none() || it.turn == turn)
        };
        placed.iter().find(is_it).cloned()
    }

    /// Evaluates `vm.id`, `vms[0].name`, `network.outputs.subnet` and `reference('network').outputs.subnet.value`.
    /// `None` if the expression is not about a resource.
    pub(super) fn of_resource(&self, expr: &AzureExpr, names: &AzureNames) -> Option<HclValue> {
        let mut path: Vec<&AzureExpr> = Vec::new();
        let mut root = expr;
        while let AzureKind::At(of, key, _) = &root.kind {
            path.push(key);
            root = of;
        }
        path.reverse();
        let mut path = path.as_slice();
        let placed = match &root.kind {
            AzureKind::Name(name) if names.get(name).is_none() => {
                let first = self.symbol(name, None)?;
                match (first.declared.turns.is_some(), path.split_first()) {
                    (true, Some((turn, rest))) => {
                        path = rest;
                        let turn = self.value(turn, names).as_number().and_then(|it| it.as_usize());
                        self.symbol(name, turn)?
                    }
                    _ => first,
                }
            }
            AzureKind::Call(name, arguments) if &**name == "reference" => {
                self.meant(self.value(arguments.first()?, names))?
            }
            _ => return None,
        };
        let keys = path.iter().map(|key| self.value(key, names)).collect::<Vec<_>>();
        Some(self.resource_property(&placed, &keys, expr.span))
    }

    /// Returns the resource that an ID or a name refers to.
    pub(super) fn meant(&self, named: HclValue) -> Option<LoopedResource> {
        let placed = self.looked_through(self.state.here())?;
        if let Some(computed) = named.cause().and_then(|it| it.computed_by.as_ref()) {
            return placed.iter().find(|it| it.address == computed.address).cloned();
        }
        let name = super::placed::shape_of(&named);
        let is_it = |it: &&LoopedResource| {
            it.name.eq_ignore_ascii_case(&name)
                || it.declared.symbol.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(&name))
        };
        let mut found = placed.iter().filter(is_it);
        found.next().filter(|_| found.next().is_none()).cloned()
    }

    fn resource_property(&self, placed: &LoopedResource, keys: &[HclValue], at: Span) -> HclValue {
        let texts: Option<Vec<_>> = keys.iter().map(HclValue::as_text).collect();
        let texts = texts.unwrap_or_default();
        let path: Vec<&str> = texts.iter().map(|it| &**it).collect();
        match path.as_slice() {
            ["outputs", output, rest @ ..] => {
                let Some(value) = self.output(placed, output, at) else {
                    return self.computed(&placed.address, &path.join("."), at);
                };
                self.state.refer(&placed.address, at);
                let rest = if placed.declared.symbol.is_none() { rest.get(1..).unwrap_or_default() } else { rest };
                rest.iter().fold(value, |value, key| {
                    let key = HclValue::text(*key, at);
                    functions::member(&value, &key, at)
                        .unwrap_or_else(|| HclValue::refused("this object has no such member", at))
                })
            }
            [said @ ("name" | "location" | "tags" | "type" | "sku" | "kind"), rest @ ..] => {
                let known = match *said {
                    "type" => Some(HclValue::text(placed.declared.kind.clone(), at)),
                    said => placed.declared.body.get(said).map(|it| {
                        let what = format!("{}.{said}", placed.address).into();
                        self.once("said", &what, at, &|| self.value(it, &placed.names))
                    }),
                };
                let Some(value) = known.filter(|_| !placed.declared.is_existing || *said == "name") else {
                    return self.computed(&placed.address, &path.join("."), at);
                };
                self.state.refer(&placed.address, at);
                rest.iter().fold(value, |value, key| {
                    let key: Arc<str> = (*key).into();
                    functions::member(&value, &HclValue::text(key, at), at).unwrap_or_else(|| HclValue::null(at))
                })
            }
            path => self.computed(&placed.address, &path.join("."), at),
        }
    }
}
