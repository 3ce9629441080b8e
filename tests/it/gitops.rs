//! Tests links in trees for Flux, Argo CD and kustomize: each file counts once, at its own path.

#![cfg(unix)]

use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::cli::Place;

fn pod(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  nodeSelector: {{node.kubernetes.io/instance-type: \
         g6.2xlarge}}\n  containers:\n  - {{name: main, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}\n"
    )
}

/// Returns the sorted addresses that totals count.
fn counted(place: &Place) -> Vec<String> {
    let printed = place.stdout(&["cost", ".", "--format", "json", "--prices", "embedded"]);
    let report: Value = serde_json::from_str(&printed).unwrap();
    let resources = report["resources"].as_array().unwrap().iter();
    let deployed = resources.filter(|it| it["counted"] == "deployed");
    let mut all: Vec<String> = deployed.map(|it| it["address"].as_str().unwrap().to_owned()).collect();
    all.sort();
    all
}

#[test]
fn a_file_that_links_lead_to_counts_once() {
    let place = Place::new();
    place.write("common/probe.yaml", &pod("probe"));
    place.write("east/own.yaml", &pod("own"));
    symlink("../common/probe.yaml", place.directory().join("east/probe.yaml")).unwrap();
    symlink("east/own.yaml", place.directory().join("again.yaml")).unwrap();
    assert_eq!(counted(&place), ["Pod/own", "Pod/probe"]);
}

#[test]
fn what_a_kustomization_lists_through_a_link_is_listed() {
    let place = Place::new();
    place.write("app/kustomization.yaml", "namePrefix: a-\nresources: [linked.yaml]\n");
    place.write("app/real/side.yaml", &pod("side"));
    symlink("real/side.yaml", place.directory().join("app/linked.yaml")).unwrap();
    assert_eq!(counted(&place), ["Pod/a-side"]);
}

#[test]
fn paths_of_a_base_behind_a_link_start_where_the_link_leads() {
    let place = Place::new();
    place.write("base/core/kustomization.yaml", "resources: [core.yaml, ../more]\n");
    place.write("base/core/core.yaml", &pod("core"));
    place.write("base/more/kustomization.yaml", "resources: [more.yaml]\n");
    place.write("base/more/more.yaml", &pod("more"));
    place.write("prod/kustomization.yaml", "namePrefix: p-\nresources: [below]\n");
    symlink("../base/core", place.directory().join("prod/below")).unwrap();
    assert_eq!(counted(&place), ["Pod/p-core", "Pod/p-more"]);
}
