//! Recognizes types and modules that provision no machines, whatever their inputs are.

use std::collections::BTreeSet;

use crate::inventory::{UnsupportedResource, is_type_of_accelerators};
use crate::languages::hcl::syntax::{BlockNode, Body, HclKind};
use crate::source::join;

use super::code::library::ModuleLibrary;
use super::code::modules::{is_local, registry_name};
use super::{embedded, rows};

/// Providers whose resources exist only in the state, or on the machine that runs Terraform.
const WITHOUT_CLOUD: [&str; 9] =
    ["archive", "cloudinit", "external", "local", "null", "random", "template", "time", "tls"];

/// Returns whether no resource of a type costs anything, even if its arguments repeat machine types.
pub(super) fn rents_nothing(kind: &str) -> bool {
    kind == "terraform_data" || WITHOUT_CLOUD.contains(&kind.split('_').next().unwrap_or_default())
}

/// The publishers of the modules below.
const PUBLISHERS: [&str; 5] = ["terraform-aws-modules", "cloudposse", "terraform-google-modules", "Azure", "aws-ia"];

/// The modules of these publishers that create networks, permissions, names and storage, and never a machine with
/// accelerators.
const WITHOUT_MACHINES: [&str; 44] = [
    "acm",
    "alb",
    "api-gateway",
    "apigateway-v2",
    "address",
    "cloud-dns",
    "cloud-nat",
    "cloud-router",
    "cloud-storage",
    "cloudfront",
    "dynamodb-table",
    "dynamic-subnets",
    "ecr",
    "efs",
    "elasticache",
    "elb",
    "eventbridge",
    "iam",
    "key-pair",
    "kms",
    "kms-key",
    "label",
    "lambda",
    "log-export",
    "memory-db",
    "naming",
    "network",
    "notify-slack",
    "project-factory",
    "pubsub",
    "rds",
    "rds-aurora",
    "redshift",
    "route53",
    "s3-bucket",
    "secrets-manager",
    "security-group",
    "service-accounts",
    "sns",
    "sqs",
    "ssm-parameter",
    "transit-gateway",
    "vnet",
    "vpc",
];

/// Returns whether a source is a module of the public registry that creates no machine with accelerators.
pub(crate) fn rents_no_machines(source: &str) -> bool {
    if is_local(source) {
        return false;
    }
    let name = registry_name(source);
    let parts: Vec<&str> = name.split("//").next().unwrap_or_default().split('/').collect();
    matches!(parts.as_slice(), [publisher, module, provider] if PUBLISHERS.contains(publisher)
        && (rents_nothing(provider) || WITHOUT_MACHINES.contains(module)))
}

/// Returns whether a resource of a module, or of the modules that it calls, may provision or request accelerators.
pub(super) fn may_rent(library: &ModuleLibrary<'_>, directory: &str) -> bool {
    let mut next = vec![directory.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(directory) = next.pop() {
        if !seen.insert(directory.clone()) {
            continue;
        }
        let code = library.module(&directory);
        if code.anywhere.is_none() || code.incomplete || code.resources.iter().any(is_risky) {
            return true;
        }
        for call in code.calls.iter() {
            let source = call.body.attribute("source").map(|it| &it.expression.kind);
            match source {
                Some(HclKind::Text(source)) if is_local(source) => match join(&directory, source) {
                    Some(called) => next.push(called),
                    None => return true,
                },
                Some(HclKind::Text(source)) if rents_no_machines(source) => {}
                _ => return true,
            }
        }
    }
    false
}

fn is_risky(node: &BlockNode) -> bool {
    let kind = node.label(0);
    if &*node.keyword.text != "resource" {
        return false;
    }
    if rents_nothing(kind) {
        // A provisioner may run any program.
        return node.body.blocks.iter().any(|inner| &*inner.keyword.text == "provisioner");
    }
    rows::may_rent(kind)
        || embedded::carries_manifests(kind)
        || is_type_of_accelerators(kind)
        || (!rows::has_row(kind) && names_machine(&node.body, kind, node))
}

/// Returns whether the name of an argument refers to machines or accelerators.
fn names_machine(body: &Body, kind: &str, node: &BlockNode) -> bool {
    let mut fields = UnsupportedResource::new("", kind, node.header, node.header);
    body.attributes.iter().for_each(|attribute| fields.add(&attribute.name.text, None));
    !fields.fields.is_empty() || body.blocks.iter().any(|inner| names_machine(&inner.body, kind, node))
}
