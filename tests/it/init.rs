//! Tests `gpulint init` in repositories: what is written, what is kept, and which paths are refused.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::action::sandbox::Sandbox;

const MACHINE: &str =
    "resource \"aws_instance\" \"a\" {\n  ami           = \"ami-1\"\n  instance_type = \"g5.xlarge\"\n}\n";

fn repository(sandbox: &Sandbox, name: &str, address: &str) -> std::path::PathBuf {
    let here = sandbox.path(name);
    fs::create_dir_all(here.join("infra")).unwrap();
    fs::write(here.join("infra/main.tf"), MACHINE).unwrap();
    git(&here, &["init", "--quiet"]);
    git(&here, &["remote", "add", "origin", address]);
    here
}

fn git(here: &Path, arguments: &[&str]) {
    assert!(Command::new("git").args(arguments).current_dir(here).status().unwrap().success());
}

fn gpulint(here: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).current_dir(here).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8_lossy(&said).into_owned())
}

fn read(here: &Path, name: &str) -> String {
    fs::read_to_string(here.join(name)).unwrap_or_default()
}

#[test]
fn each_host_gets_its_workflow_and_every_repository_the_hook() {
    let sandbox = Sandbox::new("init");
    let hosts = [
        ("git@github.com:acme/infra.git", ".github/workflows/gpulint.yml", "uses: gpulint/gpulint@"),
        ("https://gitlab.example.org/acme/infra.git", ".gitlab-ci.yml", "gpulint comment gitlab"),
        ("git@bitbucket.org:acme/infra.git", "bitbucket-pipelines.yml", "gpulint comment bitbucket"),
        ("https://dev.azure.com/acme/x/_git/infra", "azure-pipelines.yml", "gpulint comment azure"),
        ("https://codeberg.org/acme/infra.git", ".forgejo/workflows/gpulint.yml", "gpulint comment gitea"),
        ("https://gitea.example.org/acme/infra.git", ".gitea/workflows/gpulint.yml", "gpulint comment gitea"),
    ];
    for (number, (address, workflow, runs)) in hosts.into_iter().enumerate() {
        let here = repository(&sandbox, &number.to_string(), address);
        let before = gpulint(&here, &["cost", "--prices", "embedded"]);
        let (code, said) = gpulint(&here, &["init"]);
        assert_eq!(code, Some(0), "{said}");
        assert!(read(&here, workflow).contains(runs), "{address}: {said}");
        assert!(read(&here, ".pre-commit-config.yaml").contains("- id: gpulint"), "{said}");
        assert!(read(&here, "gpulint.toml").contains("# run: root:infra\n"), "{said}");
        assert_eq!(gpulint(&here, &["init", "--check"]).0, Some(0));
        assert_eq!(before, gpulint(&here, &["cost", "--prices", "embedded"]), "{address}: settings change nothing");
    }
}

#[test]
fn what_is_there_is_kept_and_what_is_to_be_added_is_shown() {
    let sandbox = Sandbox::new("init-kept");
    let here = repository(&sandbox, "work", "git@gitlab.com:acme/infra.git");
    let own = "repos:\n  - repo: local\n    hooks: []\n";
    fs::write(here.join(".pre-commit-config.yaml"), own).unwrap();
    fs::write(here.join(".gitlab-ci.yml"), "build:\n  script: [make]\n").unwrap();
    let (_, said) = gpulint(&here, &["init"]);
    assert_eq!(read(&here, ".pre-commit-config.yaml"), own);
    assert_eq!(read(&here, ".gitlab-ci.yml"), "build:\n  script: [make]\n");
    for shown in ["- id: gpulint", "gpulint comment gitlab", "add this to `repos`"] {
        assert!(said.contains(shown), "{shown}: {said}");
    }
    // With a new root, the list is outdated.
    fs::create_dir_all(here.join("more")).unwrap();
    fs::write(here.join("more/main.tf"), MACHINE).unwrap();
    let (code, said) = gpulint(&here, &["init", "--check"]);
    assert!(code == Some(1) && said.contains("not listed: root:more"), "{said}");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_where_a_link_leads_out() {
    let sandbox = Sandbox::new("init-link");
    let here = repository(&sandbox, "work", "git@github.com:acme/infra.git");
    let outside = sandbox.path("outside");
    fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, here.join(".github")).unwrap();
    std::os::unix::fs::symlink(outside.join("stolen.toml"), here.join("gpulint.toml")).unwrap();
    let (_, said) = gpulint(&here, &["init"]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{said}");
}
