//! Tests `--policy-ref`: the settings come from another commit, whatever the present files contain.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};

fn show(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["config", "show"]).args(arguments).current_dir(directory).envs(GIT_ENVIRONMENT);
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

fn repository() -> Sandbox {
    let sandbox = Sandbox::new("policy");
    std::fs::create_dir_all(&sandbox.directory).unwrap();
    let here = &sandbox.directory;
    git(here, &["init", "--quiet", "--initial-branch=main"]);
    write(
        here,
        &[
            ("gpulint.toml", "extend = \"policy/shared.toml\"\nfail-on = \"note\"\n"),
            ("policy/shared.toml", "min-confidence = \"high\"\n"),
            ("infra/main.tf", "locals {}\n"),
        ],
    );
    git(here, &["add", "--all"]);
    git(here, &["commit", "--quiet", "--message", "strict"]);
    write(here, &[("gpulint.toml", "fail-on = \"error\"\n"), ("policy/shared.toml", "")]);
    write(here, &[("infra/gpulint.toml", "fail-on = \"error\"\n")]);
    sandbox
}

#[test]
fn settings_come_from_the_commit_and_say_so() {
    let sandbox = repository();
    let commit = git(&sandbox.directory, &["rev-parse", "HEAD"]);
    let (_, here) = show(&sandbox.directory, &[]);
    assert!(here.contains("fail-on = \"error\""), "{here}");
    for arguments in [&["--policy-ref", "main"][..], &["--policy-ref", "main", "infra"]] {
        let (code, there) = show(&sandbox.directory, arguments);
        assert_eq!(code, Some(0), "{there}");
        assert!(there.contains("fail-on = \"note\""), "{there}");
        assert!(there.contains("min-confidence = \"high\""), "a file that settings extend comes along:\n{there}");
        assert!(there.contains(&format!("{}:/policy/shared.toml:1", &commit[..12])), "{there}");
    }
}

#[test]
fn a_policy_that_is_not_there_ends_the_run() {
    let sandbox = repository();
    for reference in ["no-such-branch", "--output=x", "HEAD~7"] {
        let (code, said) = show(&sandbox.directory, &[&format!("--policy-ref={reference}")]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(reference), "{said}");
    }
}

/// Path patterns refer to the present tree, even if the settings are from another commit.
#[test]
fn paths_in_the_settings_of_a_commit_are_those_of_the_tree() {
    let sandbox = Sandbox::new("policy-paths");
    let here = &sandbox.directory;
    git(here, &["init", "--quiet", "--initial-branch=main"]);
    let settings = "[labels]\nrequired = [\"team\"]\n[[suppress]]\nrules = [\"missing-labels\"]\npath = \"legacy/*\"\nreason = \"old\"\n\
                    [[paths]]\nmatch = \"prod/**\"\n[paths.rules.missing-labels]\nlevel = \"error\"\n";
    let machine = "resource \"aws_instance\" \"a\" {\n  instance_type = \"g5.xlarge\"\n}\n";
    write(here, &[("gpulint.toml", settings), ("legacy/a.tf", machine), ("prod/a.tf", machine), ("dev/a.tf", machine)]);
    git(here, &["add", "--all"]);
    git(here, &["commit", "--quiet", "--message", "settings"]);
    write(here, &[("gpulint.toml", "ignore = [\"missing-labels\"]\n")]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["check", "--policy-ref", "main", "--select", "missing-labels", "--format", "concise"]);
    let output = command.current_dir(here).envs(GIT_ENVIRONMENT).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = told.lines().filter(|line| line.contains("[missing-labels]")).collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert!(lines[0].starts_with("dev/a.tf:1:1: warning") && lines[1].starts_with("prod/a.tf:1:1: error"), "{told}");
}
