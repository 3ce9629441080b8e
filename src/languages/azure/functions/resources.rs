//! Implements functions of resources and their location.

use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclValue, ObjectMembers};
use crate::source::Span;

use super::super::deployment::AzureDeployment;
use super::super::placed::shape_of;

impl AzureDeployment<'_> {
    pub(super) fn of_azure(&self, name: &str, arguments: &[HclValue], at: Span) -> HclValue {
        match name {
            "resourcegroup" => self.group(at),
            "subscription" => known_later("the subscription", "${subscription}", at),
            "deployment" => known_later("the deployment", "${deployment}", at),
            "reference" => match arguments.first() {
                Some(named) => match self.meant(named.clone()) {
                    Some(placed) => self.computed(&placed.address, "", at),
                    None => HclValue::unknown("Azure sets this value during deployment", at),
                },
                None => HclValue::refused("`reference` takes a resource", at),
            },
            _ => self.id(arguments, at),
        }
    }

    fn group(&self, at: Span) -> HclValue {
        let location = HclValue::unknown("the location of the resource group is unknown before deployment", at);
        let cause = Arc::new(Cause {
            outline: Some("${resourceGroup}".into()),
            ..Cause::new("the resource group is unknown before deployment", at)
        });
        let known =
            [("location", location), ("id", HclValue::because(&cause, at)), ("name", HclValue::because(&cause, at))];
        let known = known.into_iter().map(|(name, value)| (Arc::from(name), value)).collect();
        HclValue::object(ObjectMembers { known, rest: Some(cause) }, at)
    }

    /// Returns the ID of a resource in this deployment, or the known part of another resource's ID.
    fn id(&self, arguments: &[HclValue], at: Span) -> HclValue {
        // A scope may precede the type. Only a type has a dot in its first part.
        let is_type =
            |it: &HclValue| it.as_text().is_some_and(|it| it.split_once('/').is_some_and(|(it, _)| it.contains('.')));
        let Some(place) = arguments.iter().position(is_type) else {
            return HclValue::unknown("the ID of a resource is unknown before deployment", at);
        };
        let (Some(kind), names) = (arguments.get(place), arguments.get(place + 1..).unwrap_or_default()) else {
            return HclValue::refused("a resource ID takes a type and names", at);
        };
        let kind = kind.as_text().unwrap_or_default();
        let names: Vec<String> = names.iter().map(shape_of).collect();
        if let Some(placed) = self.by_name(&kind, &names.join("/")) {
            return self.computed(&placed.address, "id", at);
        }
        let mut steps = kind.split('/');
        let provider = steps.next().unwrap_or_default();
        let pairs: Vec<String> = steps.zip(&names).map(|(kind, name)| format!("/{kind}/{name}")).collect();
        let outline = format!("${{resourceGroup}}/providers/{provider}{}", pairs.concat());
        let why = "the ID of a resource is unknown before deployment";
        HclValue::because(&Arc::new(Cause { outline: Some(outline.into()), ..Cause::new(why, at) }), at)
    }
}

fn known_later(what: &str, outline: &str, at: Span) -> HclValue {
    let cause =
        Cause { outline: Some(outline.into()), ..Cause::new(format!("{what} is unknown before deployment"), at) };
    HclValue::because(&Arc::new(cause), at)
}
