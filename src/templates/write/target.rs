//! Finds the name that a language has for a property of a resource definition.
//!
//! The tables of `schema/targets` list the properties of each type. The same conversion that reads a template gives
//! each of them its name in definitions. A property that no table lists is not written.

use crate::inventory::Declined;
use crate::targets::{self, ListedProperty};
use crate::templates::blocks;
use crate::templates::names::{AZURE, CLOUDFORMATION, TypeNames};
use crate::templates::pulumi::names::{self as pulumi, NativePackage};

/// A property as its language names it.
#[derive(Debug, Clone)]
pub(super) struct TargetProperty {
    pub(super) steps: Vec<TargetStep>,
    /// The kind of its value: `string`, `number`, `list(object)`.
    pub(super) kind: String,
    /// True if its parent needs it.
    is_required: bool,
    /// True if a change replaces the resource.
    pub(super) is_fixed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TargetStep {
    pub(super) name: String,
    /// True if the value is a list, and the next step is in its items.
    pub(super) is_list: bool,
}

/// The properties of one type, with its names in definitions.
pub(super) struct TargetType {
    kind: String,
    names: TypeNames,
    properties: Vec<TargetProperty>,
}

/// Returns the listed properties of the first type whose name satisfies a condition.
fn listed(is_it: impl Fn(&str) -> bool) -> Vec<TargetProperty> {
    let property = |it: ListedProperty| TargetProperty {
        steps: steps(it.path),
        kind: it.kind.to_owned(),
        is_required: it.is_required,
        is_fixed: it.is_fixed,
    };
    targets::listed(is_it).into_iter().map(property).collect()
}

fn steps(path: &str) -> Vec<TargetStep> {
    let step = |name: &str| match name.strip_suffix("[]") {
        Some(name) => TargetStep { name: name.to_owned(), is_list: true },
        None => TargetStep { name: name.to_owned(), is_list: false },
    };
    path.split('.').map(step).collect()
}

impl TargetType {
    /// Returns the properties of a type. `is` is its type in definitions, which distinguishes variants.
    pub(super) fn of(kind: &str, is: &str) -> TargetType {
        if kind.contains("::") {
            let names = CLOUDFORMATION.variant(kind, is);
            return TargetType { kind: kind.to_owned(), names, properties: listed(|it| it == kind) };
        }
        if kind.contains(':') {
            return TargetType::of_pulumi(kind);
        }
        let properties = listed(|it| it.eq_ignore_ascii_case(kind));
        TargetType { kind: kind.to_owned(), names: AZURE.variant(kind, is), properties }
    }

    fn of_pulumi(kind: &str) -> TargetType {
        if let Some((package, kind, names)) = pulumi::native(kind) {
            let kind = kind.split('#').next().unwrap_or(kind);
            let mut properties = match package {
                NativePackage::Azure => listed(|it| it.eq_ignore_ascii_case(kind)),
                NativePackage::Aws => listed(|it| it == kind),
            };
            properties.iter_mut().for_each(TargetProperty::lift);
            return TargetType { kind: kind.to_owned(), names, properties };
        }
        let token = pulumi::short(kind);
        TargetType {
            kind: kind.to_owned(),
            names: pulumi::of_kind(kind),
            properties: listed(|it| it.contains(':') && pulumi::short(it) == token),
        }
    }

    /// Returns the property with this path in definitions, or an error that names the type.
    pub(super) fn demand(&self, path: &[String]) -> Result<TargetProperty, Declined> {
        let unknown = || format!("gpulint knows no property of {} for `{}`", self.kind, path.join("."));
        self.property(path).ok_or_else(|| Declined::LeftAlone(unknown()))
    }

    /// Returns the only property with this path in definitions, or the key of a map.
    fn property(&self, path: &[String]) -> Option<TargetProperty> {
        let mut found = self.properties.iter().filter(|it| self.is_named(it, path));
        match (found.next(), found.next()) {
            (Some(property), None) => Some(property.clone()),
            (None, _) => self.key_of_map(path),
            _ => None,
        }
    }

    fn key_of_map(&self, path: &[String]) -> Option<TargetProperty> {
        let (key, above) = path.split_last()?;
        let map = self.properties.iter().find(|it| self.is_named(it, above))?;
        let is_open = self.members(&map.steps).next().is_none();
        if !is_open || !matches!(map.kind.as_str(), "map(string)" | "object") {
            return None;
        }
        let key = TargetStep { name: key.clone(), is_list: false };
        let steps = map.steps.iter().cloned().chain([key]).collect();
        Some(TargetProperty { steps, kind: "string".to_owned(), is_required: false, is_fixed: map.is_fixed })
    }

    /// Returns the properties of an object, or of the items of a list.
    pub(super) fn members<'t>(&'t self, of: &'t [TargetStep]) -> impl Iterator<Item = &'t TargetProperty> {
        self.properties.iter().filter(move |it| it.steps.len() == of.len() + 1 && it.steps.starts_with(of))
    }

    /// Returns a property that an object needs and that no other added property is.
    pub(super) fn missing_member<'t>(
        &'t self,
        of: &'t [TargetStep],
        added: &[TargetProperty],
    ) -> Option<&'t TargetProperty> {
        let is_added = |it: &TargetProperty| added.iter().any(|added| added.steps.starts_with(&it.steps));
        self.members(of).find(|it| it.is_required && !is_added(it))
    }

    fn is_named(&self, property: &TargetProperty, path: &[String]) -> bool {
        let mut at = String::new();
        let mut rest = path;
        for step in &property.steps {
            at = blocks::below(&at, &step.name);
            let name = self.names.name(&at);
            if name.is_empty() {
                continue;
            }
            let Some((first, after)) = rest.split_first() else { return false };
            let singular = || blocks::singular(&at).map(|one| self.names.name(&one));
            let is_it = *first == name || self.names.plural && step.is_list && singular().as_ref() == Some(first);
            if !is_it {
                return false;
            }
            rest = after;
        }
        let ends_in_name = !self.names.name(&at).is_empty();
        rest.is_empty() && ends_in_name
    }
}

impl TargetProperty {
    /// Names a property as Pulumi's native packages do: without `properties`, and with a small first letter.
    fn lift(&mut self) {
        if self.steps.first().is_some_and(|it| it.name == "properties") {
            self.steps.remove(0);
        }
        for step in &mut self.steps {
            let first: String = step.name.chars().take(1).collect::<String>().to_ascii_lowercase();
            step.name = first + step.name.get(1..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every listed property has a name in definitions, and the name leads back to the property.
    #[test]
    fn names_are_converted_there_and_back() {
        let mut count = 0;
        let of_templates = targets::names().filter(|name| name.contains(':') || name.starts_with("microsoft."));
        for kind in of_templates {
            {
                let target = TargetType::of(kind, "");
                for property in &listed(|it| it == kind) {
                    let mut at = String::new();
                    let mut path = Vec::new();
                    for step in &property.steps {
                        at = blocks::below(&at, &step.name);
                        path.extend(Some(target.names.name(&at)).filter(|it| !it.is_empty()));
                    }
                    if target.names.name(&at).is_empty() {
                        continue;
                    }
                    if let Some(found) = target.property(&path) {
                        assert_eq!(found.steps, property.steps, "{kind} {path:?}");
                        count += 1;
                    }
                }
            }
        }
        assert!(count > 1000, "{count}");
    }

    fn spelled(kind: &str, is: &str, path: &str) -> Option<String> {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        let steps = TargetType::of(kind, is).property(&path)?.steps;
        Some(steps.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join("."))
    }

    #[test]
    fn properties_are_spelled_as_their_language_does() {
        let cases = "\
            AWS::EC2::LaunchTemplate aws_launch_template instance_market_options.market_type LaunchTemplateData.InstanceMarketOptions.MarketType
            AWS::Batch::ComputeEnvironment aws_batch_compute_environment compute_resources.min_vcpus ComputeResources.MinvCpus
            Microsoft.Compute/virtualMachines azurerm_linux_virtual_machine eviction_policy properties.evictionPolicy
            Microsoft.Compute/virtualMachines azurerm_linux_virtual_machine max_bid_price properties.billingProfile.maxPrice
            azure-native:compute:VirtualMachine azurerm_linux_virtual_machine eviction_policy evictionPolicy
            aws-native:batch:ComputeEnvironment aws_batch_compute_environment compute_resources.type computeResources.type
            aws:batch:ComputeEnvironment aws_batch_compute_environment compute_resources.type computeResources.type
            gcp:container:NodePool google_container_node_pool node_config.guest_accelerator.gpu_partition_size nodeConfig.guestAccelerators.gpuPartitionSize";
        for case in cases.lines() {
            let words: Vec<&str> = case.split_whitespace().collect();
            let [kind, is, path, name] = words.as_slice() else { panic!("{case}") };
            assert_eq!(spelled(kind, is, path).as_deref(), Some(*name), "{case}");
        }
        // A machine has no market in CloudFormation: its launch template has.
        assert_eq!(spelled("AWS::EC2::Instance", "aws_instance", "instance_market_options.market_type"), None);
    }
}
