//! Tests the commits that `--base` and `--policy-ref` accept: a change cannot substitute another commit.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};
use crate::fences;

const WASTE: &str = "resource \"aws_instance\" \"a\" {\n  instance_type = \"p3.2xlarge\"\n}\n";

/// Creates an empty branch, and a work tree that adds waste.
fn change(name: &str) -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new(name);
    let here = sandbox.path("work");
    fs::create_dir_all(&here).unwrap();
    git(&here, &["init", "--quiet", "--initial-branch=main"]);
    write(&here, &[("a.tf", "locals {}\n")]);
    commit(&here, "first");
    git(&here, &["update-ref", "refs/remotes/origin/main", "main"]);
    git(&here, &["checkout", "--quiet", "-b", "change"]);
    write(&here, &[("a.tf", WASTE)]);
    commit(&here, "waste");
    (sandbox, here)
}

fn commit(here: &Path, message: &str) {
    git(here, &["add", "--all"]);
    git(here, &["commit", "--quiet", "--message", message]);
}

fn diff(here: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.arg("diff").args(arguments).args(["--format", "concise"]).current_dir(here).envs(GIT_ENVIRONMENT);
    let output = command.env("NO_COLOR", "1").output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

#[test]
fn a_folder_in_the_place_of_a_commit_is_none() {
    let (_sandbox, here) = change("folders");
    let id = git(&here, &["rev-parse", "main"]);
    for name in ["main", "origin/main", "HEAD~1", "refs/heads/main", &id, &id[..12]] {
        write(&here, &[(&format!("{name}/a.tf"), WASTE)]);
        let (code, said) = diff(&here, &["--base", name, "a.tf"]);
        assert_eq!(code, Some(1), "{name}: {said}");
    }
    fs::remove_dir_all(here.join("main")).unwrap();
    std::os::unix::fs::symlink(".", here.join("main")).unwrap();
    let (code, said) = diff(&here, &["--base", "main", "a.tf"]);
    assert_eq!(code, Some(1), "by a link: {said}");
}

#[test]
fn a_directory_and_a_file_have_options_of_their_own() {
    let (_sandbox, here) = change("options");
    write(&here, &[("old/a.tf", "locals {}\n"), ("new/a.tf", WASTE)]);
    let (code, said) = diff(&here, &["--base-dir", "old", "new"]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = diff(&here, &["--base-dir", "new", "new"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = diff(&here, &["--base-file", "old/a.tf", "new/a.tf"]);
    assert_eq!(code, Some(1), "{said}");
    for (given, help) in [
        (["--base", "old"], "write --base-dir old"),
        (["--base", "old/a.tf"], "write --base-file old/a.tf"),
        (["--base-dir", "old/a.tf"], "write --base-file old/a.tf"),
        (["--base-file", "old"], "write --base-dir old"),
        (["--base-dir", "nowhere"], "pass an existing file or directory"),
    ] {
        let (code, said) = diff(&here, &[&given[..], &["new"]].concat());
        assert_eq!(code, Some(2), "{given:?}: {said}");
        assert!(said.contains(help), "{given:?}: {said}");
    }
}

#[test]
fn a_name_that_means_several_things_is_refused() {
    let (_sandbox, here) = change("names");
    git(&here, &["tag", "main", "change"]);
    git(&here, &["tag", "origin/main", "change"]);
    let id = git(&here, &["rev-parse", "main~0"]);
    git(&here, &["update-ref", &format!("refs/tags/{}", &id[..8]), "change"]);
    for (name, meaning) in [
        ("main", "refs/tags/main, refs/heads/main"),
        ("main~0", "refs/tags/main, refs/heads/main"),
        ("main@{0}", "refs/tags/main, refs/heads/main"),
        ("origin/main", "refs/tags/origin/main, refs/remotes/origin/main"),
        (&id[..8], &id),
    ] {
        for option in ["--base", "--policy-ref"] {
            let arguments = if option == "--base" { vec![option, name] } else { vec!["--base", "HEAD", option, name] };
            let (code, said) = diff(&here, &arguments);
            assert_eq!(code, Some(2), "{option} {name}: {said}");
            assert!(said.contains("is ambiguous") && said.contains(meaning), "{option} {name}: {said}");
        }
    }
    for name in ["refs/heads/main", "refs/remotes/origin/main", "heads/main", "refs/heads/main^0"] {
        let (code, said) = diff(&here, &["--base", name]);
        assert_eq!(code, Some(1), "{name}: {said}");
    }
    // The branch exists only as a remote branch, and the name would otherwise mean the tag.
    git(&here, &["tag", "--delete", "origin/main"]);
    git(&here, &["branch", "--quiet", "-D", "main"]);
    let (code, said) = diff(&here, &["--base", "main"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("refs/tags/main, refs/remotes/origin/main"), "{said}");
    // A tag whose name is the full name of a branch.
    git(&here, &["update-ref", "refs/tags/refs/heads/main", "change"]);
    let (code, said) = diff(&here, &["--base", "refs/heads/main"]);
    assert_eq!(code, Some(2), "{said}");
}

/// Returns the scripts of `docs/ci` that compare, by page and by the name of the target branch.
fn recipes() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for page in ["gitlab.md", "bitbucket.md", "azure.md", "gitea.md", "shell.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/ci").join(page);
        for fence in fences::read(&fs::read_to_string(path).unwrap()).iter() {
            let scripts = match fence.language.as_str() {
                "yaml" => {
                    let mut scripts = Vec::new();
                    scripts_of(&serde_saphyr::from_str(&fence.text).unwrap(), &mut scripts);
                    scripts
                }
                "sh" => vec![fence.text.clone()],
                _ => Vec::new(),
            };
            let whole = scripts.into_iter().filter(|it| it.contains("gpulint diff") && it.contains("exit"));
            found.extend(whole.map(|script| (page.to_owned(), script)));
        }
    }
    found
}

fn scripts_of(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                match (key.as_str(), inner) {
                    ("script" | "run", Value::String(script)) => found.push(script.clone()),
                    ("script", Value::Array(lines)) => {
                        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
                        found.push(lines.join("\n"));
                    }
                    _ => scripts_of(inner, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|inner| scripts_of(inner, found)),
        _ => {}
    }
}

#[test]
fn recipes_hold_against_settings_folders_and_tags_of_the_change() {
    let recipes = recipes();
    assert_eq!(recipes.len(), 5, "{recipes:?}");
    for (page, script) in recipes {
        let (sandbox, here) = change("recipes");
        let id = git(&here, &["rev-parse", "main"]);
        write(&here, &[("gpulint.toml", "ignore = [\"all\"]\n")]);
        for name in ["main", "origin/main", &id] {
            write(&here, &[(&format!("{name}/a.tf"), WASTE)]);
        }
        commit(&here, "disguise");
        git(&here, &["tag", "main"]);
        git(&here, &["tag", "origin/main"]);
        let copy = sandbox.path("copy");
        let from = format!("file://{}", here.display());
        git(&here, &["clone", "--quiet", "--branch", "change", &from, copy.to_str().unwrap()]);
        let tools = sandbox.path("tools");
        let gpulint =
            format!("#!/bin/sh\n[ \"$1\" = comment ] && exit 0\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_gpulint"));
        // The install commands do nothing, because the program is already installed.
        let installs = ["cargo", "curl", "pip", "pipx", "uv"];
        let scripts = installs.map(|tool| (tool, "#!/bin/sh\n"));
        write(&tools, &[&scripts[..], &[("gpulint", gpulint.as_str())]].concat());
        for tool in installs.into_iter().chain(["gpulint"]) {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(tools.join(tool), mode).unwrap();
        }
        let mut command = Command::new("bash");
        command.args(["-c", &script]).current_dir(&copy).envs(GIT_ENVIRONMENT);
        command.env("PATH", format!("{}:{}", tools.display(), std::env::var("PATH").unwrap()));
        command.env("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main").env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &id);
        command.env("BITBUCKET_PR_DESTINATION_BRANCH", "main").env("GITHUB_BASE_REF", "main");
        command.env("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main");
        command.env("SYSTEM_PULLREQUEST_TARGETBRANCHNAME", "main");
        let output = command.output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{page}:\n{script}\n{said}");
        assert!(said.contains("old-generation") || page == "shell.md", "{page}:\n{script}\n{said}");
    }
}
