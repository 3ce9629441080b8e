//! Tests forms of manifests that a word search could miss. The expected results come from kubectl (`kubectl annotate
//! --local -o json`). `docs/security.md` names these tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::action::sandbox::Sandbox;

/// A pod with eight accelerators and a placeholder for the key.
const POD: &str = "apiVersion: v1
kind: Pod
metadata: {name: hidden}
spec:
  containers:
  - name: a
    image: x
    resources: {limits: {KEY: 8}}
";
/// A pool of machines with accelerators and a placeholder for the kind.
const POOL: &str = "apiVersion: karpenter.sh/v1
KIND
metadata: {name: hidden}
spec:
  template:
    spec:
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge]}
  limits: {cpu: 1000}
";

/// Returns the resources that gpulint finds in a folder.
fn inspect(here: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(["inspect", "."]).current_dir(here).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Checks that each text, in a separate folder, gives the expected result.
fn all_show(name: &str, texts: &[(String, &str)]) {
    let sandbox = Sandbox::new(name);
    for (number, (text, shown)) in texts.iter().enumerate() {
        let here = sandbox.path(&format!("{number}"));
        fs::create_dir_all(&here).unwrap();
        fs::write(here.join("a.yaml"), text).unwrap();
        let said = inspect(&here);
        assert!(said.contains(shown), "{text}\n{said}");
    }
}

#[test]
fn accelerators_behind_escapes_and_tags_are_found() {
    let keys = [
        r#""nvidia.com\x2fgpu""#,
        r#""\u006evidia.com/gpu""#,
        r#""nvidia.com/gp\U00000075""#,
        "? \"nvid\\\n  ia.com/gpu\"\n      ",
        "? !!binary bnZpZGlhLmNvbS9ncHU=\n      ",
        "? !<tag:yaml.org,2002:%62inary> bnZpZGlhLmNvbS9ncHU=\n      ",
    ];
    let json = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [
        {"name": "a", "image": "x", "resources": {"limits": {"nvidia.com\/gp\u0075": 8}}}]}}"#;
    let texts = keys.map(|key| POD.replace("KEY", key)).into_iter().chain([json.to_owned()]);
    let texts: Vec<(String, &str)> =
        texts.map(|text| (text, "\"accelerator_count\": {\n        \"value\": 8")).collect();
    all_show("hidden-keys", &texts);
}

#[test]
fn kinds_are_found_however_they_are_written() {
    let kinds = [
        "'kind': NodePool",
        "\"ki\\u006ed\": \"Node\\x50ool\"",
        "? kind\n: NodePool",
        "? >-\n  kind\n: |-\n  NodePool",
        "kind: >-\n  NodePool",
        "kind: &a NodePool",
        "kind: !!str NodePool",
        "kind: !!binary Tm9kZVBvb2w=",
        "kind: # why\n  NodePool",
        "x: &a NodePool\nkind: *a",
        "x: &a kind\n*a : NodePool",
        "<<: {kind: NodePool}",
        "kind: CustomResourceDefinition\n\"kind\": NodePool",
    ];
    all_show("hidden-kinds", &kinds.map(|kind| (POOL.replace("KIND", kind), "NodePool/hidden")));
}

#[test]
fn what_stands_twice_counts_as_kubectl_counts_it() {
    let eight = "\"accelerator_count\": {\n        \"value\": 8";
    let limits = [
        "{nvidia.com/gpu: 1, nvidia.com/gpu: 8}",
        "{nvidia.com/gpu: 1, \"nvidia.com\\x2fgpu\": 8}",
        // In kubectl, a merge key replaces the keys before it.
        "{nvidia.com/gpu: 1, <<: {nvidia.com/gpu: 8}}",
        "{<<: {nvidia.com/gpu: 1}, nvidia.com/gpu: 8}",
        "{<<: [{nvidia.com/gpu: 8}, {nvidia.com/gpu: 1}]}",
        "{<<: {<<: {nvidia.com/gpu: 1}, nvidia.com/gpu: 8}}",
        "{<<: {nvidia.com/gpu: 1}, <<: {nvidia.com/gpu: 8}}",
    ];
    all_show("twice", &limits.map(|limits| (POD.replace("{KEY: 8}", limits), eight)));
}

/// One line in an editor may be two lines in Go's YAML library. Each text has eight accelerators, and kustomize prints
/// eight, too.
#[test]
fn lines_that_no_editor_shows_are_lines() {
    let eight = "\"accelerator_count\": {\n        \"value\": 8";
    let mut texts = Vec::new();
    for line_break in ["\u{85}", "\u{2028}", "\u{2029}"] {
        let shown = POD.replace("KEY", "nvidia.com/gpu");
        let hidden = shown.replace("  - name: a\n    image: x\n", "  - name: a # the first\u{85}    image: x\u{85}");
        let quoted = shown.replace("image: x", "image: \"x\u{85}y\"");
        let apart = quoted.replace("name: hidden", "name: hidden, labels: {a: \"it's # \u{85}b\"}");
        let kind = shown.replace("\nkind: Pod\n", " # v1\u{85}kind:\u{85}  Pod\n");
        let block = shown.replace("image: x\n", "image: |\n      x\u{85}    env: []\u{85}");
        let all = [shown.replace('\n', "\u{85}"), hidden, quoted, apart, kind, block];
        texts.extend(all.map(|text| (text.replace('\u{85}', line_break), eight)));
        // Text after a marker that kubectl does not accept is not read, and the text before it is.
        texts.push((format!("{shown}# x{line_break}---{line_break}a: 1\n"), eight));
    }
    all_show("odd-lines", &texts);
    let copies = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: 1 # one\u{2028}  replicas: 64\n  template:\n    spec: \
                  {containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
    all_show("odd-copies", &[(copies.to_owned(), "\"expected\": 64")]);
}

#[test]
fn manifests_in_utf_16_are_read_and_those_in_utf_32_are_told() {
    let sandbox = Sandbox::new("utf-16");
    let pod = POD.replace("KEY", "nvidia.com/gpu");
    let units: Vec<u16> = std::iter::once(0xfeff).chain(pod.encode_utf16()).collect();
    let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
    let wide: Vec<u8> = "\u{feff}".chars().chain(pod.chars()).flat_map(|it| u32::from(it).to_le_bytes()).collect();
    for (name, bytes, shown) in
        [("le", little, "Pod/hidden"), ("be", big, "Pod/hidden"), ("wide", wide, "gpulint does not read UTF-32 text")]
    {
        let here = sandbox.path(name);
        fs::create_dir_all(&here).unwrap();
        fs::write(here.join("a.yaml"), bytes).unwrap();
        let said = inspect(&here);
        assert!(said.contains(shown), "{name}: {said}");
    }
}

/// A directory that the command line names is read, even if git ignores it.
#[test]
fn a_directory_that_is_named_is_read_though_git_ignores_it() {
    let sandbox = Sandbox::new("named-and-ignored");
    let here = sandbox.path("ignored");
    fs::create_dir_all(here.join("out")).unwrap();
    fs::create_dir_all(here.join(".git")).unwrap();
    fs::write(here.join(".gitignore"), "out\n").unwrap();
    fs::write(here.join("out/pod.yaml"), POD.replace("KEY", "nvidia.com/gpu")).unwrap();
    let checked = |path: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_gpulint")).args(["cost", path]).current_dir(&here).output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("Pod/hidden")
    };
    assert!(checked("out"));
    assert!(!checked("."));
}
