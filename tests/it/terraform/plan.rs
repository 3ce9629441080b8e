//! Tests the conversion of JSON plans to resources.
//!
//! `tests/terraform/plans/*.md` contain plans with the expected resources before and after them. If a case also has the
//! configuration of the plan, both must give the same resources. The `terraform` on the path creates one more plan.

use std::collections::BTreeMap;
use std::fmt::Write;

use gpulint::inventory::Resource;
use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::terraform::{
    EvaluatedAttribute, EvaluatedBlock, HclData, HclValue, PlanSide, TerraformOptions, TerraformReading, read,
};
use serde_json::{Value as Json, json};

use super::oracle;
use crate::fences;
use crate::terraform_resources::render;

fn plans(tree: MemoryTree, side: PlanSide) -> (SourceFiles, TerraformReading) {
    let paths: Vec<String> = tree.paths().filter(|path| path.ends_with(".json")).map(str::to_owned).collect();
    let sources = SourceFiles::new(tree);
    let options = TerraformOptions { named_plans: paths.clone(), plan_side: side, ..TerraformOptions::default() };
    let reading = read(&sources, &paths, &options);
    (sources, reading)
}

#[test]
fn plans_become_the_resources_that_the_cases_expect() {
    fences::hold("tests/terraform/plans", check);
}

/// Returns the text of a case file with the actual results.
fn check(text: &str) -> String {
    let mut out = String::new();
    let mut files: Vec<(String, String)> = Vec::new();
    let mut fence: Option<(String, String)> = None;
    for line in text.lines() {
        match (&mut fence, line.strip_prefix("```")) {
            (None, Some(info)) => fence = Some((info.trim().to_owned(), String::new())),
            (Some(_), Some("")) => {
                let (info, body) = fence.take().unwrap();
                match info.split_once(' ') {
                    Some(("text", side)) => out.push_str(&found(&files, side)),
                    _ => {
                        let path = info.split_whitespace().nth(1).unwrap_or("main.tf").to_owned();
                        out.push_str(&body);
                        files.push((path, body));
                    }
                }
            }
            (Some((_, body)), _) => {
                body.push_str(line);
                body.push('\n');
                continue;
            }
            (None, None) => {
                if line.starts_with("## ") {
                    files.clear();
                }
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn tree(files: &[(String, String)]) -> MemoryTree {
    files.iter().fold(MemoryTree::new(), |tree, (path, text)| tree.with(path, text.as_str()))
}

fn found(files: &[(String, String)], side: &str) -> String {
    let side = if side == "before" { PlanSide::Before } else { PlanSide::After };
    let (sources, reading) = plans(tree(files), side);
    let mut out = String::new();
    for resource in &reading.inventory.resources {
        assert_eq!(resource.front_end.name(), "plan");
        render(&sources, resource, &mut out);
    }
    for diagnostic in &reading.inventory.diagnostics {
        writeln!(out, "{}: {}", diagnostic.level.name(), diagnostic.message).unwrap();
    }
    assert!(!out.contains("hunter2"), "{out}");
    if files.iter().any(|(path, _)| path == "main.tf") && side == PlanSide::After {
        let sources = SourceFiles::new(tree(files));
        let text = read(&sources, &["main.tf".to_owned()], &TerraformOptions::default());
        assert_eq!(rows(&reading.inventory.resources), rows(&text.inventory.resources));
    }
    if out.is_empty() {
        out.push_str("nothing\n");
    }
    out
}

/// Returns the facts of each resource, without places and origins.
fn rows(resources: &[Resource]) -> BTreeMap<String, Vec<String>> {
    let row = |resource: &Resource| {
        let mut row = vec![format!("{} {:?}", resource.kind, resource.count.value())];
        row.extend(resource.facts().map(|(key, fact)| format!("{} = {:?}", key.name(), fact.value())));
        let labels = &resource.labels.entries;
        row.extend(labels.iter().map(|(key, fact)| format!("label {key} = {:?}", fact.value())));
        row.extend(resource.links.iter().map(|link| format!("{} → {}", link.kind.name(), link.to)));
        (resource.address.clone(), row)
    };
    resources.iter().map(row).collect()
}

const CONFIGURATION: &str = r#"
variable "password" {
  default   = "hunter2-hunter2"
  sensitive = true
}

resource "terraform_data" "a" {
  count = 2
  input = { size = "g5.xlarge", n = count.index, ratio = 0.5, secret = var.password, text = "a\n\"b\" é\u0007" }
}

resource "terraform_data" "b" {
  for_each         = toset(["x", "y z"])
  input            = { from = terraform_data.a[0].id, list = [each.key, 1, true, null], nested = { deep = { deeper = [[]] } } }
  triggers_replace = ["v"]
}

module "m" {
  source = "./m"
  id     = terraform_data.a[0].id
}
"#;

const MODULE: &str = r#"
variable "id" {}

resource "terraform_data" "inside" {
  input = { id = var.id, size = "p4d.24xlarge" }
}
"#;

#[test]
fn a_plan_that_terraform_made_is_read_as_its_text_is() {
    let files = [("main.tf".to_owned(), CONFIGURATION.to_owned()), ("m/main.tf".to_owned(), MODULE.to_owned())];
    let Some(plan) = oracle::plan(&files) else { return };
    let plan = plan.unwrap();
    for plan in [plan.to_string(), format!("{plan:#}")] {
        let (_, planned) = plans(MemoryTree::new().with("plan.json", plan.as_str()), PlanSide::After);
        let written = read(&SourceFiles::new(tree(&files)), &["main.tf".to_owned()], &TerraformOptions::default());
        let of_type = |reading: &TerraformReading| -> BTreeMap<String, Json> {
            let blocks = reading.blocks.iter().filter(|it| it.keyword == "resource");
            blocks.map(|it| (it.address.clone(), members(it))).collect()
        };
        assert_eq!(of_type(&planned), of_type(&written));
        assert_eq!(of_type(&planned).len(), 5);
        let (_, before) = plans(MemoryTree::new().with("plan.json", plan.as_str()), PlanSide::Before);
        assert!(before.blocks.is_empty());
    }
}

/// Returns the members of a block. Empty and null members are left out in both forms.
fn members(block: &EvaluatedBlock) -> Json {
    let known = |(name, attribute): (&String, &EvaluatedAttribute)| Some((name.clone(), shown(&attribute.value)?));
    block.attributes.iter().filter_map(known).collect()
}

fn shown(value: &HclValue) -> Option<Json> {
    if value.sensitive {
        return Some(json!("sensitive"));
    }
    Some(match &value.data {
        HclData::Unknown(_) => json!("unknown"),
        HclData::Null => Json::Null,
        HclData::Bool(flag) => json!(flag),
        HclData::Number(number) => serde_json::from_str(&number.to_string()).unwrap(),
        HclData::Text(text) => json!(&**text),
        HclData::List(items) | HclData::Set(items) | HclData::Tuple(items) => {
            let items: Vec<Json> = items.iter().map(|it| shown(it).unwrap_or_default()).collect();
            (!items.is_empty()).then_some(json!(items))?
        }
        HclData::Map(entries) | HclData::Object(entries) => {
            let known = entries.iter().filter_map(|(key, it)| Some((key.to_string(), shown(it)?)));
            let known: serde_json::Map<String, Json> = known.collect();
            (!known.is_empty()).then_some(json!(known))?
        }
    })
}
