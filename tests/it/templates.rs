//! Tests the conversion of cloud templates to resources, with Markdown files in `tests/templates` like those for
//! Terraform in `tests/terraform/resources`.
//!
//! The word after a code block's language is the path, by default `template.yaml`.

use gpulint::inventory::{Reader, claim};
use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::templates::{self, TemplateOptions, TemplateReading};

use crate::fences;
use crate::terraform_resources::{cases, render};

#[test]
fn templates_become_the_resources_that_the_cases_expect() {
    fences::hold("tests/templates/cloudformation", |text| cases(text, "template.yaml", cloudformation));
    fences::hold("tests/templates/pulumi", |text| cases(text, "Pulumi.yaml", pulumi));
    fences::hold("tests/templates/azure", |text| cases(text, "template.json", azure));
}

fn cloudformation(tree: MemoryTree) -> String {
    found(tree, templates::CLOUDFORMATION)
}

fn pulumi(tree: MemoryTree) -> String {
    found(tree, templates::PULUMI)
}

fn azure(tree: MemoryTree) -> String {
    found(tree, templates::AZURE)
}

type Read = fn(&SourceFiles, &[String], &[String], &TemplateOptions) -> TemplateReading;

fn found(tree: MemoryTree, read: Read) -> String {
    let paths: Vec<String> = tree.paths().map(str::to_owned).collect();
    let sources = SourceFiles::new(tree);
    let is_candidate = |path: &&String| {
        let language = sources.glance(path, |text| claim(path, text)).unwrap();
        language.is_some_and(|it| [Reader::CloudFormation, Reader::Azure, Reader::Pulumi].contains(&it.reader))
    };
    let candidates: Vec<String> = paths.iter().filter(is_candidate).cloned().collect();
    let reading = read(&sources, &candidates, &paths, &TemplateOptions::default());
    let inventory = &reading.inventory;
    let mut out = String::new();
    for run in inventory.runs.iter().filter(|_| inventory.runs.len() > 1) {
        out.push_str(&format!("{}\n", run.id));
        let of_run = inventory.resources.iter().filter(|it| it.run.as_ref() == Some(&run.id));
        of_run.for_each(|resource| render(&sources, resource, &mut out));
    }
    if inventory.runs.len() == 1 {
        inventory.resources.iter().for_each(|resource| render(&sources, resource, &mut out));
    }
    for it in &inventory.unjudged {
        out.push_str(&format!("not judged: {}: {}\n", it.path, it.reason));
    }
    for it in &inventory.diagnostics {
        out.push_str(&format!("{}: {}\n", it.level.name(), it.message));
    }
    for path in candidates.iter().filter(|path| !reading.taken.contains(*path)) {
        out.push_str(&format!("{path} is no template\n"));
    }
    if out.is_empty() {
        out.push_str("nothing\n");
    }
    out
}
