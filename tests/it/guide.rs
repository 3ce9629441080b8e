//! Tests the guide to custom rules: its rule files pass their own tests, its outputs are correct, and its Rego policy
//! runs in OPA.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::Place;
use crate::fences;
use crate::skipped::skip;

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/own-rules")
}

fn gpulint(arguments: &[&str], directory: &Path) -> (String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(directory).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.success())
}

#[test]
fn the_pages_of_the_guide_pass_their_own_tests() {
    let text = std::fs::read_to_string(guide().join("examples.md")).unwrap();
    let place = Place::new();
    let mut names = Vec::new();
    for fence in fences::read(&text).iter().filter(|fence| fence.language == "md") {
        let name = fence.text.lines().find_map(|line| line.strip_prefix("name: ")).unwrap();
        place.write(&format!("policy/{name}.md"), &fence.text);
        names.push(name.to_owned());
    }
    let first = ["unknown-team", "h100-only-for-research", "h100-outside-training", "job-without-deadline"];
    let of_a_platform = ["serving-alone", "foreign-registry", "pod-without-own-pool", "checkpoint-on-scratch"];
    let further = ["pool-without-taint", "endpoint-without-target", "team-over-its-budget", "large-change"];
    assert_eq!(names, [&first[..], &of_a_platform, &further].concat());
    let (said, passed) = gpulint(&["rules", "test", "policy", "--require"], place.directory());
    assert!(passed, "{said}");
    assert!(said.contains("12 rule files"), "{said}");
}

#[test]
fn a_page_that_is_written_passes_its_own_test() {
    for scope in ["resource", "object", "block", "repository"] {
        let place = Place::new();
        let (said, passed) = gpulint(&["rules", "new", "my-rule", "--for", scope], place.directory());
        assert!(passed, "{said}");
        let (said, passed) = gpulint(&["rules", "test", "policy", "--require"], place.directory());
        assert!(passed, "--for {scope}: {said}");
    }
}

#[test]
fn the_policy_in_rego_runs_in_opa() {
    let Some(opa) = std::env::var_os("GPULINT_OPA") else {
        return skip("GPULINT_OPA names no opa, so the policy in docs/own-rules/rego was not run");
    };
    let place = Place::new();
    let tree = "resource \"aws_instance\" \"notebook\" {\n  instance_type = \"p5.48xlarge\"\n  tags = { purpose = \"notebook\" }\n}\n";
    place.write("main.tf", tree);
    let (facts, passed) = gpulint(&["inspect", "--format", "json", "--prices", "embedded", "."], place.directory());
    assert!(passed, "{facts}");
    place.write("gpus.json", &facts);
    let output = Command::new(opa)
        .args(["eval", "--format", "raw", "--input", "gpus.json", "data.main.deny", "--data"])
        .arg(guide().join("rego/gpu.rego"))
        .current_dir(place.directory())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("aws_instance.notebook: interactive work on H100"), "{said}");
}
