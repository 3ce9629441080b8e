//! Tests the hooks of `.pre-commit-hooks.yaml` with pre-commit itself, in separate repositories.
//!
//! `GPULINT_PRE_COMMIT=system` runs the hook for the built program, in seconds. `GPULINT_PRE_COMMIT=all` also lets
//! pre-commit build the hooks that it installs, in minutes. pre-commit must be on the path.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};
use crate::skipped::skip;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

const CLEAN: &str = r#"resource "aws_eks_node_group" "train" {
  cluster_name   = "main"
  instance_types = ["p4d.24xlarge"]
  capacity_type  = "SPOT"
  labels         = { workload = "training" }
  tags           = { team = "research" }
  scaling_config {
    min_size     = 0
    desired_size = 1
    max_size     = 1
  }
}
"#;

const VARIABLE: &str = "variable \"capacity\" {\n  type    = string\n  default = \"SPOT\"\n}\n";

const JOB: &str = "apiVersion: batch/v1
kind: Job
metadata: { name: finetune, labels: { team: research } }
spec:
  backoffLimit: 2
  activeDeadlineSeconds: 7200
  template:
    spec:
      restartPolicy: Never
      nodeSelector: { node.kubernetes.io/instance-type: p4d.24xlarge, karpenter.sh/capacity-type: on-demand }
      containers:
        - name: train
          image: pytorch/pytorch
          command: [torchrun, --nproc_per_node=8, train.py]
          resources: { limits: { nvidia.com/gpu: 8 } }
";

fn wasteful() -> String {
    CLEAN.replace("SPOT", "ON_DEMAND")
}

fn wanted(levels: &[&str]) -> bool {
    let level = std::env::var("GPULINT_PRE_COMMIT").unwrap_or_default();
    let wanted = levels.contains(&level.as_str());
    if !wanted {
        skip(&format!("GPULINT_PRE_COMMIT is not {}", levels.join(" or ")));
    }
    wanted
}

/// A repository with work in progress.
struct Work {
    sandbox: Sandbox,
    directory: PathBuf,
}

impl Work {
    fn new() -> Self {
        let sandbox = Sandbox::new("pre-commit");
        let directory = sandbox.path("work");
        let programs = sandbox.path("programs");
        fs::create_dir_all(&directory).unwrap();
        fs::create_dir_all(&programs).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gpulint"), programs.join("gpulint")).unwrap();
        git(&directory, &["init", "--quiet", "--initial-branch=main"]);
        Work { sandbox, directory }
    }

    fn commit(&self, files: &[(&str, &str)]) {
        self.stage(files);
        git(&self.directory, &["commit", "--quiet", "--no-verify", "--message", "before"]);
    }

    fn stage(&self, files: &[(&str, &str)]) {
        write(&self.directory, files);
        git(&self.directory, &["add", "--all"]);
    }

    fn pre_commit(&self, arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String) {
        let path = format!("{}:{}", self.sandbox.path("programs").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("pre-commit");
        command.args(arguments).current_dir(&self.directory);
        command.env("PATH", path).env("PRE_COMMIT_HOME", self.sandbox.path("cache")).envs(GIT_ENVIRONMENT);
        command.envs(environment.iter().copied());
        told(&command.output().expect("pre-commit is not on the path"))
    }

    fn try_hook(&self, arguments: &[&str]) -> (Option<i32>, String) {
        self.try_named("gpulint-files", arguments)
    }

    fn try_named(&self, hook: &str, arguments: &[&str]) -> (Option<i32>, String) {
        self.pre_commit(&[&["try-repo", ROOT, hook, "--verbose"], arguments].concat(), &[])
    }
}

fn told(output: &Output) -> (Option<i32>, String) {
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

#[test]
fn a_commit_is_held_back_by_the_waste_that_it_brings() {
    if !wanted(&["system", "all"]) {
        return;
    }
    let work = Work::new();
    work.stage(&[("infra/main.tf", CLEAN)]);
    let (code, said) = work.try_hook(&[]);
    assert_eq!(code, Some(0), "{said}");

    work.stage(&[("infra/main.tf", &wasteful())]);
    let (code, said) = work.try_hook(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("on-demand-batch") && said.contains("infra/main.tf"), "{said}");
}

#[test]
fn what_was_there_before_holds_no_commit_back() {
    if !wanted(&["system", "all"]) {
        return;
    }
    let work = Work::new();
    work.commit(&[("old/main.tf", &wasteful())]);
    work.stage(&[("old/main.tf", &format!("# known\n{}", wasteful()))]);
    write(&work.directory, &[("draft/main.tf", &wasteful())]);
    for hook in ["gpulint-system", "gpulint-diff"] {
        let (code, said) = work.try_named(hook, &[]);
        assert_eq!(code, Some(0), "{said}");
    }

    work.stage(&[]);
    for hook in ["gpulint-system", "gpulint-diff"] {
        let (code, said) = work.try_named(hook, &[]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("on-demand-batch") && said.contains("draft/main.tf"), "{said}");
        assert!(!said.contains("old/main.tf:"), "what nobody touched is told:\n{said}");
    }
    work.commit(&[]);
    // Where no changes are staged, that is said.
    let (code, said) = work.try_named("gpulint-system", &["--all-files"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("no changes are staged") && said.contains("gpulint check"), "{said}");
}

#[test]
fn a_commit_without_manifests_is_none_of_our_business() {
    if !wanted(&["system", "all"]) {
        return;
    }
    let work = Work::new();
    work.commit(&[("main.tf", &wasteful())]);
    work.stage(&[("README.md", "hello"), ("src/main.py", "print()")]);
    let (code, said) = work.try_hook(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Skipped"), "{said}");
}

#[test]
fn files_of_many_directories_are_checked_each_in_its_root() {
    if !wanted(&["system", "all"]) {
        return;
    }
    let work = Work::new();
    work.commit(&[("old/main.tf", &wasteful())]);
    let module = CLEAN.replace("\"SPOT\"", "var.capacity");
    let root = "module \"pool\" {\n  source   = \"../../modules/pool\"\n  capacity = \"ON_DEMAND\"\n}\n";
    work.stage(&[
        ("modules/pool/main.tf", &module),
        ("modules/pool/variables.tf", VARIABLE),
        ("envs/prod/main.tf", root),
        ("envs/test/main.tf", &root.replace("ON_DEMAND", "SPOT")),
        ("k8s/train/job.yaml", JOB),
        ("package.json", "{ \"name\": \"x\" }"),
    ]);
    let (code, said) = work.try_hook(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("job.yaml"), "{said}");
    assert!(said.contains("module.pool.aws_eks_node_group.train") || said.contains("envs/prod"), "{said}");
    assert!(!said.contains("old/main.tf"), "what nobody touched is told:\n{said}");

    let (code, said) = work.try_hook(&["--all-files"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("old/main.tf"), "{said}");
}

#[test]
fn a_changed_value_is_seen_where_its_machine_stands() {
    if !wanted(&["system", "all"]) {
        return;
    }
    let work = Work::new();
    let main = CLEAN.replace("\"SPOT\"", "var.capacity");
    work.commit(&[
        ("infra/main.tf", &main),
        ("infra/variables.tf", VARIABLE),
        ("infra/terraform.tfvars", "capacity = \"SPOT\"\n"),
    ]);
    work.stage(&[("infra/terraform.tfvars", "capacity = \"ON_DEMAND\"\n")]);
    let (code, said) = work.try_hook(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("on-demand-batch"), "{said}");
}

#[test]
fn installed_hooks_work_without_a_network() {
    if !wanted(&["all"]) {
        return;
    }
    let snapshot = Sandbox::new("snapshot");
    let commit = copy_of_this_repository(&snapshot);
    // A build that is fast to compile and slow to run is sufficient, because the test only runs it once.
    let target = format!("{ROOT}/target/pre-commit");
    let quickly = [
        ("CARGO_TARGET_DIR", target.as_str()),
        ("CARGO_PROFILE_RELEASE_LTO", "off"),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ];
    const NOWHERE: &str = "http://127.0.0.1:9";
    let offline = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"];
    let mut offline: Vec<(&str, &str)> = offline.iter().map(|name| (*name, NOWHERE)).collect();
    offline.extend([("CARGO_NET_OFFLINE", "true"), ("PIP_NO_INDEX", "1")]);
    for hook in ["gpulint", "gpulint-python"] {
        let work = Work::new();
        let config = format!(
            "repos:\n  - repo: file://{}\n    rev: {commit}\n    hooks: [{{ id: {hook} }}]\n",
            snapshot.path("repository").display()
        );
        work.commit(&[(".pre-commit-config.yaml", &config), ("main.tf", CLEAN)]);
        let (code, said) = work.pre_commit(&["install", "--install-hooks"], &quickly);
        assert_eq!(code, Some(0), "{hook}: {said}");
        let (code, said) = work.pre_commit(&["run", "--all-files"], &offline);
        assert_eq!(code, Some(0), "{hook}: {said}");
        work.stage(&[("main.tf", &wasteful())]);
        let (code, said) = work.pre_commit(&["run"], &offline);
        assert_eq!(code, Some(1), "{hook}: {said}");
        assert!(said.contains("on-demand-batch"), "{hook}: {said}");
    }
}

/// Returns a copy of the files that git tracks, in their present state.
fn copy_of_this_repository(sandbox: &Sandbox) -> String {
    let copy = sandbox.path("repository");
    for file in git(Path::new(ROOT), &["ls-files", "-z"]).split('\0').filter(|file| !file.is_empty()) {
        let (from, to) = (Path::new(ROOT).join(file), copy.join(file));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        if from.exists() {
            fs::copy(from, to).unwrap();
        }
    }
    git(&copy, &["init", "--quiet", "--initial-branch=main"]);
    git(&copy, &["add", "--all", "--force"]);
    git(&copy, &["commit", "--quiet", "--message", "copy"]);
    git(&copy, &["rev-parse", "HEAD"])
}

#[test]
fn hooks_take_the_files_that_the_program_looks_for() {
    let hooks: Value =
        serde_saphyr::from_str(&fs::read_to_string(format!("{ROOT}/.pre-commit-hooks.yaml")).unwrap()).unwrap();
    let source = fs::read_to_string(format!("{ROOT}/src/languages/table/mod.rs")).unwrap();
    let (_, table) = source.split_once("static LANGUAGES").unwrap();
    let (table, _) = table.split_once("\nimpl Language").unwrap();
    // Python programs are searched only if other files are relevant.
    let is_ending = |it: &&str| it.starts_with('.') && !it.contains(['\\', ' ', '*', '(', '[']) && *it != ".py";
    let endings: Vec<&str> = table.split('"').skip(1).step_by(2).filter(is_ending).collect();
    for known in [".tf", ".bicep", ".sbatch", ".j2"] {
        assert!(endings.contains(&known), "{endings:?}");
    }
    assert!(endings.len() > 5);
    for hook in hooks.as_array().unwrap() {
        let is_of_files = hook["id"] == "gpulint-files";
        assert_eq!(hook["always_run"] == true, !is_of_files, "a change of any file may be one that nobody explains");
        assert_eq!(hook["pass_filenames"] == false, !is_of_files);
        assert_eq!(hook["require_serial"], true);
        let Some(pattern) = hook["files"].as_str().map(|it| regex::Regex::new(it).unwrap()) else {
            assert_eq!((&hook["entry"], &hook["args"]), (&hooks[0]["entry"], &hooks[0]["args"]), "{}", hook["id"]);
            continue;
        };
        for ending in &endings {
            assert!(pattern.is_match(&format!("a/b{ending}")), "{} leaves out {ending}", hook["id"]);
        }
        for other in ["README.md", "main.tfx", "tf", "main.py"] {
            assert!(!pattern.is_match(other), "{} takes {other}", hook["id"]);
        }
        assert!(hook["entry"].as_str().unwrap().contains("--allow-empty"));
    }
}
