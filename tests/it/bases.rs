//! Tests what `gpulint diff --base REF` reads in all kinds of repositories, with real git: never a false increase.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};

fn pool(name: &str) -> String {
    format!(
        "resource \"aws_eks_node_group\" \"{name}\" {{\n  cluster_name   = \"main\"\n  instance_types = [\"p4d.24xlarge\"]\n  \
         tags           = {{ team = \"research\" }}\n  scaling_config {{\n    min_size     = 1\n    desired_size = 1\n    \
         max_size     = 1\n  }}\n}}\n"
    )
}

struct Repository {
    sandbox: Sandbox,
    directory: PathBuf,
}

impl Repository {
    fn new() -> Self {
        let sandbox = Sandbox::new("bases");
        let directory = sandbox.path("work");
        fs::create_dir_all(&directory).unwrap();
        git(&directory, &["init", "--quiet", "--initial-branch=main"]);
        let repository = Repository { sandbox, directory };
        repository.commit(&[("infra/main.tf", &pool("train"))], "first");
        repository
    }

    fn commit(&self, files: &[(&str, &str)], message: &str) {
        write(&self.directory, files);
        git(&self.directory, &["add", "--all"]);
        git(&self.directory, &["commit", "--quiet", "--message", message]);
    }

    fn clone(&self, options: &[&str]) -> PathBuf {
        let copy = self.sandbox.path("copy");
        let from = format!("file://{}", self.directory.display());
        let mut arguments = vec!["-c", "protocol.file.allow=always", "clone", "--quiet"];
        arguments.extend(options);
        git(&self.directory, &[&arguments[..], &[&from, copy.to_str().unwrap()]].concat());
        copy
    }
}

fn run(directory: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(directory).envs(GIT_ENVIRONMENT).env("NO_COLOR", "1").args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Returns the kinds of changes, and the notes about the base.
fn changes(directory: &Path, base: &str) -> (Vec<String>, Vec<String>) {
    let (code, report, said) = run(directory, &["diff", "--base", base, "--format", "json"]);
    assert!(matches!(code, Some(0 | 1)), "{said}");
    let report: Value = serde_json::from_str(&report).unwrap();
    let texts = |list: &Value, key: Option<&str>| -> Vec<String> {
        let text = |it: &Value| key.map_or(it, |key| &it[key]).as_str().unwrap().to_owned();
        list.as_array().unwrap().iter().map(text).collect()
    };
    let mut notes = texts(&report["notes"], None);
    notes.retain(|note| !note.starts_with("no setting limits"));
    (texts(&report["changes"], Some("change")), notes)
}

const NOTHING: Vec<String> = Vec::new();

#[test]
fn neither_the_work_tree_nor_the_index_is_touched() {
    let repository = Repository::new();
    let here = &repository.directory;
    write(here, &[("infra/main.tf", &pool("renamed")), ("staged.tf", "locals {}\n"), ("untracked.tf", "locals {}\n")]);
    git(here, &["add", "staged.tf"]);
    let state = || {
        let index = fs::read(here.join(".git/index")).unwrap();
        let head = fs::read(here.join(".git/HEAD")).unwrap();
        (index, head, fs::read(here.join("infra/main.tf")).unwrap(), git(here, &["status", "--porcelain"]))
    };
    // `git status` may refresh the index, but gpulint must not.
    state();
    let before = state();
    assert_eq!(changes(here, "main").0, ["moved"]);
    assert_eq!(state(), before);
    assert!(!here.join(".git/index.lock").exists());
}

#[test]
fn files_and_directories_that_move_are_not_new() {
    let repository = Repository::new();
    let here = &repository.directory;
    git(here, &["mv", "infra", "platform"]);
    assert_eq!(changes(here, "main").0, ["moved"]);
    git(here, &["mv", "platform/main.tf", "pools.tf"]);
    assert_eq!(changes(here, "main").0, ["moved"]);
}

#[test]
fn a_submodule_is_named_and_not_compared() {
    let library = Repository::new();
    let repository = Repository::new();
    let here = &repository.directory;
    let from = format!("file://{}", library.directory.display());
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "vendor/pools"];
    git(here, &add);
    git(here, &["commit", "--quiet", "--message", "vendor"]);
    let (kinds, notes) = changes(here, "main");
    assert_eq!(kinds, NOTHING, "what git does not show in the base must not look new");
    assert_eq!(notes, ["gpulint does not compare submodules: vendor/pools"]);
}

#[test]
fn a_shallow_clone_without_the_base_says_so() {
    let repository = Repository::new();
    repository.commit(&[("more.tf", &pool("more"))], "second");
    let copy = repository.clone(&["--depth=1"]);
    let (code, _, said) = run(&copy, &["diff", "--base", "main~1"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("not in this shallow clone") && said.contains("git fetch --depth=1 origin"), "{said}");
    // The base was downloaded without the commits in between, so its tip is compared, with a note.
    let first = git(&repository.directory, &["rev-parse", "main~1"]);
    git(&copy, &["-c", "protocol.file.allow=always", "fetch", "--quiet", "--depth=1", "origin", &first]);
    let (kinds, notes) = changes(&copy, &first);
    assert_eq!(kinds, ["added"]);
    assert!(notes.iter().all(|note| note.contains("this clone has no common ancestor")), "{notes:?}");
}

#[test]
fn a_complete_clone_stays_complete() {
    let repository = Repository::new();
    let copy = repository.clone(&[]);
    let first = git(&copy, &["rev-parse", "HEAD"]);
    git(&copy, &["checkout", "--quiet", "-b", "change"]);
    write(&copy, &[("infra/own.tf", &pool("own"))]);
    git(&copy, &["add", "--all"]);
    git(&copy, &["commit", "--quiet", "--message", "change"]);
    repository.commit(&[("infra/colleague.tf", &pool("colleague"))], "second");
    let (code, tip, said) = run(&copy, &["base", "refs/heads/main"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(tip.trim(), git(&repository.directory, &["rev-parse", "HEAD"]).trim());
    assert_eq!(git(&copy, &["rev-parse", "--is-shallow-repository"]).trim(), "false");
    // The machine of the colleague is neither added nor removed by this change.
    assert_eq!(git(&copy, &["merge-base", tip.trim(), "HEAD"]), first);
    assert_eq!(changes(&copy, tip.trim()).0, ["added"]);
}

#[test]
fn a_partial_clone_that_lacks_the_base_says_so() {
    let repository = Repository::new();
    git(&repository.directory, &["config", "uploadpack.allowFilter", "true"]);
    let other = pool("train").replace("p4d.24xlarge", "p5.48xlarge");
    repository.commit(&[("infra/main.tf", &other)], "second");
    let copy = repository.clone(&["--filter=blob:none"]);
    let (code, told, said) = run(&copy, &["diff", "--base", "origin/main~1"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(said.contains("this partial clone does not contain `infra/main.tf` of the base"), "{said}");
    assert!(said.contains("git fetch --refetch"), "{said}");
    assert_eq!(changes(&copy, "origin/main").0, NOTHING);
}

#[test]
fn a_linked_work_tree_and_a_detached_head_are_repositories() {
    let repository = Repository::new();
    let here = &repository.directory;
    let linked = repository.sandbox.path("linked");
    git(here, &["worktree", "add", "--quiet", "--detach", linked.to_str().unwrap()]);
    write(&linked, &[("more.tf", &pool("more"))]);
    assert_eq!(changes(&linked, "main").0, ["added"]);
    assert_eq!(changes(&linked.join("infra"), "main").0, NOTHING, "only the directory that is asked for");
}

#[test]
fn links_inside_the_base_are_followed_and_others_are_not() {
    let repository = Repository::new();
    let here = &repository.directory;
    std::os::unix::fs::symlink("../infra/main.tf", here.join("link.tf")).unwrap();
    fs::create_dir_all(here.join("a")).unwrap();
    std::os::unix::fs::symlink("../infra", here.join("a/infra")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", here.join("outside.tf")).unwrap();
    git(here, &["add", "--all"]);
    git(here, &["commit", "--quiet", "--message", "links"]);
    let (kinds, _) = changes(here, "main");
    assert_eq!(kinds, NOTHING);
}

#[test]
fn a_hook_with_variables_of_git_compares_its_own_repository() {
    let repository = Repository::new();
    let here = &repository.directory;
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(here).envs(GIT_ENVIRONMENT).args(["diff", "--base", "main"]);
    command.env("GIT_DIR", here.join(".git")).env("GIT_INDEX_FILE", here.join(".git/index")).env("GIT_PREFIX", "");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns what `diff --staged` reports for each changed resource.
fn staged(directory: &Path, environment: &[(&str, &str)]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(directory).envs(GIT_ENVIRONMENT).envs(environment.iter().copied());
    let output = command.args(["diff", "--staged", "--format", "json"]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let changes = report["changes"].as_array().unwrap().iter();
    changes.map(|it| format!("{} {}", it["change"].as_str().unwrap(), it["address"].as_str().unwrap())).collect()
}

#[test]
fn what_is_staged_is_compared_and_nothing_else() {
    let repository = Repository::new();
    let here = &repository.directory;
    write(here, &[("draft.tf", &pool("draft"))]);
    assert_eq!(staged(here, &[]), NOTHING, "nobody added it");
    let (code, told, said) = run(here, &["diff", "--staged", "."]);
    assert_eq!(code, Some(0), "{said}");
    assert!(told.contains("no changes are staged") && told.contains("`gpulint check`"), "{told}");
    git(here, &["add", "draft.tf"]);
    write(here, &[("draft.tf", &pool("later"))]);
    assert_eq!(staged(here, &[]), ["added aws_eks_node_group.draft"], "the index, not the file as it lies there");

    // `git commit FILE` uses a separate index for this commit.
    fs::copy(here.join(".git/index"), here.join(".git/next-index")).unwrap();
    git(here, &["rm", "--quiet", "--cached", "--force", "draft.tf"]);
    assert_eq!(staged(here, &[]), NOTHING);
    assert_eq!(staged(here, &[("GIT_INDEX_FILE", ".git/next-index")]), ["added aws_eks_node_group.draft"]);

    let gone = here.join("infra/main.tf");
    git(here, &["rm", "--quiet", "--cached", "infra/main.tf"]);
    assert!(gone.exists());
    assert!(staged(here, &[]).iter().all(|it| it.starts_with("removed ")) && !staged(here, &[]).is_empty());
    git(here, &["reset", "--quiet"]);

    git(here, &["sparse-checkout", "set", "none"]);
    assert_eq!(staged(here, &[]), NOTHING, "what is not on the disk is in the index");
}

#[test]
fn before_the_first_commit_everything_is_new() {
    let sandbox = Sandbox::new("unborn");
    let here = sandbox.path("work");
    fs::create_dir_all(&here).unwrap();
    git(&here, &["init", "--quiet", "--initial-branch=main"]);
    write(&here, &[("main.tf", &pool("first"))]);
    git(&here, &["add", "--all"]);
    assert_eq!(staged(&here, &[]), ["added aws_eks_node_group.first"]);
}

#[test]
fn a_commit_may_be_the_first_word() {
    let repository = Repository::new();
    let here = &repository.directory;
    write(here, &[("more.tf", &pool("more"))]);
    let (code, told, said) = run(here, &["diff", "main", "."]);
    assert_eq!(code, Some(1), "{said}");
    assert!(told.starts_with("GPU cost vs main: fail"), "{told}");
    let (code, _, said) = run(here, &["diff", "trunk"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`trunk` is neither a path nor a commit of this clone"), "{said}");
}

/// Returns the unread files of `check`, and of both sides of a comparison.
fn unread(directory: &Path, arguments: &[&str]) -> Vec<(String, String)> {
    let (code, report, said) = run(directory, &[arguments, &["--format", "json"]].concat());
    assert!(matches!(code, Some(0..=3)), "{said}");
    let report: Value = serde_json::from_str(&report).unwrap();
    let text = |it: &Value, key: &str| it[key].as_str().unwrap().to_owned();
    let skipped = report["skipped"].as_array().unwrap();
    skipped.iter().map(|it| (text(it, "path"), text(it, "reason"))).collect()
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_told_and_not_removed() {
    let repository = Repository::new();
    repository.commit(&[("prod/gpu/a.tf", &pool("a")), ("prod/b.yaml", "a: 1\n"), ("prod/c.json", "{}")], "second");
    let here = &repository.directory;
    git(here, &["sparse-checkout", "set", "infra"]);
    assert!(!here.join("prod").exists());
    let told = [("prod".to_owned(), "2 files are left out by the sparse checkout".to_owned())];
    assert_eq!(unread(here, &["check"]), told);
    assert_eq!(unread(here, &["check", "infra"]), []);
    assert_eq!(changes(here, "main").0, NOTHING, "what is not on the disk was not removed by the change");
    git(here, &["sparse-checkout", "disable"]);
    assert_eq!(unread(here, &["check"]), []);
}

#[test]
fn a_submodule_that_is_not_checked_out_is_told() {
    let library = Repository::new();
    let repository = Repository::new();
    let here = &repository.directory;
    let from = format!("file://{}", library.directory.display());
    git(here, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "vendor/pools"]);
    git(here, &["commit", "--quiet", "--message", "vendor"]);
    assert_eq!(unread(here, &["check"]), []);
    let copy = repository.clone(&[]);
    let told = [("vendor/pools".to_owned(), "the submodule is not checked out".to_owned())];
    assert_eq!(unread(&copy, &["check"]), told);
    assert_eq!(unread(&copy, &["check", "infra"]), []);
}

#[test]
fn a_pointer_of_lfs_is_not_read_and_told() {
    let pointer = "version https://git-lfs.github.com/spec/v1\n\
                   oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
    let repository = Repository::new();
    let here = &repository.directory;
    write(here, &[("k/pod.yaml", pointer), ("data/tokens.json", pointer), ("infra/prod.auto.tfvars", pointer)]);
    let reason = "the file is a Git LFS pointer, and its content is not downloaded".to_owned();
    let told = [("infra/prod.auto.tfvars".to_owned(), reason.clone()), ("k/pod.yaml".to_owned(), reason.clone())];
    assert_eq!(unread(here, &["check"]), told);
    assert_eq!(
        unread(here, &["check", "--allow-empty", "data/tokens.json"]),
        [("data/tokens.json".to_owned(), reason)]
    );
    // A data file among others is not relevant. If it is the only argument, the result must not be a pass.
    let (code, _, said) = run(here, &["check", "--allow-empty", "data/tokens.json"]);
    assert_eq!(code, Some(2), "{said}");
    let (code, _, said) = run(here, &["check", "--allow-empty", "--no-config", "data/tokens.json", "infra/main.tf"]);
    assert_eq!(code, Some(1), "{said}");
    repository.commit(&[], "pointers");
    assert_eq!(changes(here, "main").0, NOTHING);
}

#[test]
fn what_git_tracks_is_read_whatever_a_list_of_ignored_files_says() {
    let repository = Repository::new();
    let here = &repository.directory;
    for folder in ["ignored", "node_modules/x", ".venv"] {
        write(here, &[(".gitignore", "*\n"), (&format!("{folder}/more.tf"), &pool("more"))]);
        git(here, &["add", "--all", "--force"]);
        assert_eq!(changes(here, "main").0, ["added"], "{folder}");
        git(here, &["rm", "-r", "--quiet", "--force", folder]);
    }
    // An untracked file is not part of a change.
    write(here, &[("untracked/more.tf", &pool("more"))]);
    assert_eq!(changes(here, "main").0, NOTHING);
}

/// Files that are equal in base and work tree are read from the work tree, unless attributes change their text.
#[test]
fn attributes_that_make_another_text_of_a_file_hide_nothing() {
    let repository = Repository::new();
    let directory = &repository.directory;
    fs::write(directory.join(".gitattributes"), "*.tf working-tree-encoding=UTF-16LE\n").unwrap();
    git(directory, &["add", ".gitattributes"]);
    git(directory, &["commit", "--quiet", "--message", "encoded"]);
    fs::remove_file(directory.join("infra/main.tf")).unwrap();
    git(directory, &["checkout", "--quiet", "infra/main.tf"]);
    assert!(fs::read(directory.join("infra/main.tf")).unwrap().contains(&0), "git wrote UTF-16");
    let (code, said, _) = run(directory, &["diff", "--base", "HEAD~1"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no longer evaluated: infra/main.tf"), "{said}");
}

/// Changes in the work tree are not part of the base, committed or not.
#[test]
fn a_base_is_as_it_was_committed_whatever_lies_in_the_work_tree() {
    let repository = Repository::new();
    let directory = &repository.directory;
    let larger = pool("train").replace("size = 1", "size = 9").replace("min_size     = 1", "min_size     = 9");
    fs::write(directory.join("infra/main.tf"), larger).unwrap();
    assert_eq!(changes(directory, "HEAD"), (vec!["changed".to_owned()], NOTHING));
    repository.commit(&[], "larger");
    assert_eq!(changes(directory, "HEAD~1"), (vec!["changed".to_owned()], NOTHING));
    assert_eq!(changes(directory, "HEAD"), (NOTHING, NOTHING));
}
