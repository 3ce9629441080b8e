//! Tests rules that use more than one resource: places, references, pods, changes, groups. Each file of `tests/own` is
//! one question, and its examples are the answers.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cli::Place;

#[test]
fn pages_that_ask_further_come_out_as_they_say() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/own");
    let pages = std::fs::read_dir(&own).unwrap().count();
    let output =
        Command::new(env!("CARGO_BIN_EXE_gpulint")).args(["rules", "test", "--require"]).arg(&own).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains(&format!("{pages} rule files")), "{said}");
}

#[test]
fn a_change_of_which_nobody_knows_whose_it_is_is_told_as_not_known() {
    let place = Place::new();
    let page = "---\nname: team-grows\nfor: change\neach: delta.by('team')\nwhen: each.accelerators > 2.0\n\
                message: \"{each.name} gets {each.accelerators} GPUs more\"\nuntested: true\n---\n# team-grows\n\nA team grows slowly.\n";
    place.write("policy/team-grows.md", page);
    place.write("gpulint.toml", "rules-dir = [\"policy\"]\nselect = [\"team-grows\"]\n");
    place.write("before/main.tf", "locals {}\n");
    let machine = |tag: &str| {
        format!(
            "variable \"team\" {{}}\nresource \"aws_instance\" \"a\" {{\n  instance_type = \"p4d.24xlarge\"\n  tags = {{ team = {tag} }}\n}}\n"
        )
    };
    let told = |tag: &str| -> Value {
        place.write("after/main.tf", &machine(tag));
        let diff = ["diff", "--base-dir", "before", "after", "--format", "json", "--today", "2026-11-21"];
        serde_json::from_str(&place.stdout(&diff)).unwrap()
    };
    let known = told("\"ads\"");
    assert_eq!(known["new"][0]["message"], "ads gets 8 GPUs more");
    assert_eq!(known["undetermined"].as_array().map(Vec::len), Some(0));
    let unknown = told("var.team");
    assert_eq!(unknown["new"].as_array().map(Vec::len), Some(0));
    assert_eq!(unknown["undetermined"][0]["rule"], "team-grows");
    assert_eq!(unknown["undetermined"][0]["cause"], "variable `team` has no value");
}
