//! Tests a pull request of an untrusted author: its files are only text, and neither git nor links nor unread modules
//! change the verdict. `docs/security.md` names these tests.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::sandbox::{Files, GIT_ENVIRONMENT, Sandbox, git, write};
use super::{Run, Situation};

fn machine(name: &str, kind: &str) -> String {
    format!("resource \"aws_instance\" \"{name}\" {{\n  ami           = \"ami-1\"\n  instance_type = \"{kind}\"\n}}\n")
}

fn small() -> String {
    machine("train", "g4dn.xlarge")
}

fn large() -> String {
    machine("train", "p5.48xlarge") + &machine("two", "p5.48xlarge")
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelector: {node.kubernetes.io/instance-type: \
                   p5.48xlarge}\n  containers:\n  - {name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}\n";

/// Runs the Action on a change to three folders of machines.
fn run(more: Files, change: Files, inputs: &[(&str, &str)]) -> (Situation, Run) {
    let (small, large) = (small(), large());
    let base =
        [&[("search/main.tf", &*small), ("big/main.tf", &*large), ("safe/main.tf", "variable \"a\" {}\n")], more]
            .concat();
    let situation = Situation::new(&base, change, &[]);
    let situation = inputs.iter().fold(situation, |situation, (name, value)| situation.with(name, value));
    let run = situation.run();
    (situation, run)
}

/// Returns a folder that git would treat as a repository without a work tree.
fn bare(command: &str) -> Vec<(String, String)> {
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = \"{command}\"\n\tsshCommand = \"{command}\"\n\
         [remote \"origin\"]\n\turl = .\n\tuploadpack = \"{command}; git-upload-pack\"\n"
    );
    [("objects/x", "x\n"), ("refs/x", "x\n"), ("HEAD", "ref: refs/heads/main\n"), ("config", &config)]
        .map(|(path, text)| (format!("search/{path}"), text.to_owned()))
        .into()
}

#[test]
fn a_repository_inside_of_the_checkout_starts_nothing() {
    let marker = Sandbox::new("started");
    let files = bare(&format!("touch {}", marker.path("it").display()));
    let large = machine("train", "p5.48xlarge");
    let mut change: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    change.push(("search/main.tf", &large));
    for input in ["working-directory", "paths"] {
        let (_situation, run) = run(&[], &change, &[(input, "search")]);
        assert_eq!((run.failed.as_deref(), run.outputs["verdict"].as_str()), (Some("Decide"), "fail"), "{}", run.log);
        assert_eq!(run.outputs["total-delta"], "39795.22");
        assert!(!marker.path("it").exists(), "{input}: a program of the change was started");
    }
}

#[test]
fn replaced_objects_and_grafts_change_no_answer() {
    let large = machine("train", "p5.48xlarge");
    let (situation, _) = run(&[], &[("search/main.tf", &large)], &[]);
    let workspace = &situation.runner.workspace;
    let change = &situation.change;
    git(workspace, &["fetch", "--quiet", "origin", &change.event_base, &change.head]);
    // The base replaces the head, in two ways.
    git(workspace, &["replace", &change.event_base, &change.head]);
    fs::create_dir_all(workspace.join(".git/info")).unwrap();
    let graft = format!("{} {}\n", change.merge, change.head);
    fs::write(workspace.join(".git/info/grafts"), graft).unwrap();
    let run = situation.run();
    assert_eq!(
        (run.failed.as_deref(), run.outputs["total-delta"].as_str()),
        (Some("Decide"), "39795.22"),
        "{}",
        run.log
    );
}

#[test]
fn links_to_directories_hide_nothing() {
    let live: Files = &[("live", "-> search")];
    let chart = |of: &str, pods: &str| {
        [
            (format!("charts/{of}/Chart.yaml"), "apiVersion: v2\nname: x\nversion: 1.0.0\n".to_owned()),
            (
                format!("charts/{of}/templates/p.yaml"),
                POD.replace("nvidia.com/gpu: 8", &format!("nvidia.com/gpu: {pods}")),
            ),
        ]
    };
    let charts = [chart("a", "1"), chart("b", "8")].concat();
    let mut with_charts: Vec<(&str, &str)> = charts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    with_charts.push(("deploy/x", "-> ../charts/a"));
    for (what, base, change, inputs) in [
        ("another target", live, &[("live", "-> big")][..], &[][..]),
        ("a new link", &[][..], &[("live", "-> big")][..], &[][..]),
        ("a link behind a link", &[("mid", "-> search"), ("live", "-> mid")][..], &[("mid", "-> big")][..], &[][..]),
        ("in the place of a folder", &[][..], &[("search/main.tf", ""), ("search", "-> big")][..], &[][..]),
        ("a chart", &with_charts[..], &[("deploy/x", "-> ../charts/b")][..], &[][..]),
    ] {
        let (_situation, run) = run(base, change, inputs);
        let verdict = run.outputs["verdict"].as_str();
        assert_eq!((run.failed.as_deref(), verdict), (Some("Decide"), "not judged"), "{what}: {}", run.log);
        assert!(run.summary.contains("this link leads to"), "{what}: {}", run.summary);
    }
    // A link to an irrelevant place blocks no change.
    for change in [&[("docs", "-> safe")][..], &[("live", "-> search"), ("README.md", "x")][..]] {
        let (_situation, run) = run(live, change, &[]);
        assert_eq!((run.failed.as_deref(), run.outputs["verdict"].as_str()), (None, "pass"), "{change:?}: {}", run.log);
    }
}

#[test]
fn a_path_of_the_workflow_is_no_link_that_the_change_made() {
    let moved: Files = &[("search/main.tf", ""), ("search", "-> big")];
    let to_safe: Files = &[("search/main.tf", ""), ("search", "-> safe")];
    for change in [moved, to_safe] {
        for input in ["working-directory", "paths"] {
            let (_situation, run) = run(&[], change, &[(input, "search")]);
            assert_eq!(
                (run.failed.as_deref(), run.outputs["exit-code"].as_str()),
                (Some("Decide"), "2"),
                "{}",
                run.log
            );
            assert!(run.log.contains("and a given path leads through the link"), "{}", run.log);
        }
    }
    // A link that existed before is followed.
    let large = machine("train", "p5.48xlarge");
    let (_situation, run) =
        run(&[("live", "-> search")], &[("search/main.tf", &large)], &[("working-directory", "live")]);
    assert_eq!(run.outputs["total-delta"], "39795.22", "{}", run.log);
}

#[test]
fn a_named_file_that_becomes_a_link_is_compared_at_its_place() {
    let change: Files = &[("search/main.tf", "-> ../big/main.tf")];
    for inputs in [&[("paths", "search/main.tf")][..], &[("paths", "search")], &[("working-directory", "search")]] {
        let (_situation, run) = run(&[], change, inputs);
        assert_eq!(
            (run.failed.as_deref(), run.outputs["verdict"].as_str()),
            (Some("Decide"), "fail"),
            "{inputs:?} {}",
            run.log
        );
    }
}

#[test]
fn cost_that_moves_into_code_that_is_not_read_is_not_saved() {
    let module =
        |rest: &str| format!("module \"app\" {{\n  source  = \"acme/ec2/aws\"\n  version = \"1.0.0\"\n{rest}}}\n");
    let (plain, with_moved) = (
        module(""),
        format!(
            "moved {{\n  from = aws_instance.two\n  to = module.app.aws_instance.two\n}}\n{}",
            machine("train", "p5.48xlarge")
        ),
    );
    let git_source =
        plain.replace("acme/ec2/aws", "git::https://example.com/x.git").replace("  version = \"1.0.0\"\n", "");
    let with_module = format!("{plain}{}", large());
    let bumped = format!("{}{}", module("").replace("1.0.0", "2.0.0"), machine("train", "p5.48xlarge"));
    let release = "resource \"helm_release\" \"a\" {\n  name       = \"a\"\n  repository = \"https://charts.example.com\"\n  chart      = \"llm\"\n}\n";
    let kustomization = "resources:\n- https://github.com/acme/x//y?ref=v1\n";
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source: {repoURL: \
                       https://charts.example.com, chart: x, targetRevision: 1.0.0}\n  destination: {server: \
                       https://kubernetes.default.svc, namespace: d}\n";
    let flux = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  chart:\n    spec: {chart: \
                llm, sourceRef: {kind: HelmRepository, name: x}}\n";
    let pod: Files = &[("apps/pod.yaml", POD)];
    for (what, base, change) in [
        ("a module of a registry", &[][..], &[("big/main.tf", &*plain)][..]),
        ("a module of another repository", &[][..], &[("big/main.tf", &*git_source)][..]),
        ("in another folder", &[][..], &[("big/main.tf", ""), ("new/main.tf", &*plain)][..]),
        ("another version of a module", &[("big/main.tf", &*with_module)][..], &[("big/main.tf", &*bumped)][..]),
        ("a moved block", &[("big/app.tf", &*plain)][..], &[("big/main.tf", &*with_moved)][..]),
        ("a release", &[][..], &[("big/main.tf", release)][..]),
        ("a kustomization", pod, &[("apps/pod.yaml", ""), ("apps/kustomization.yaml", kustomization)][..]),
        ("an Application", pod, &[("apps/pod.yaml", ""), ("argo/app.yaml", application)][..]),
        ("a HelmRelease", pod, &[("apps/pod.yaml", ""), ("flux/app.yaml", flux)][..]),
    ] {
        let (_situation, run) = run(base, change, &[]);
        let verdict = run.outputs["verdict"].as_str();
        assert_eq!((run.failed.as_deref(), verdict), (Some("Decide"), "not judged"), "{what}: {}", run.log);
        assert_eq!(run.outputs["total-delta"], "0.00", "{what}: {}", run.summary);
        assert!(run.summary.contains("may run there") && !run.summary.contains("fixed"), "{what}: {}", run.summary);
    }
    // A pure deletion counts as saved, even if other parts of the tree are not read.
    for (base, change) in [
        (&[("big/app.tf", &*plain)][..], &[("big/main.tf", "")][..]),
        (&[("argo/app.yaml", application), ("apps/pod.yaml", POD)][..], &[("apps/pod.yaml", "")][..]),
    ] {
        let (_situation, run) = run(base, change, &[]);
        assert_eq!((run.failed.as_deref(), run.outputs["verdict"].as_str()), (None, "pass"), "{change:?} {}", run.log);
        assert!(run.outputs["total-delta"].starts_with('-'), "{}", run.summary);
    }
}

#[test]
fn a_document_that_a_pipeline_reads_is_not_beside_it() {
    let steps = |run: &str| {
        format!(
            "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - run: |\n        {}\n",
            run.replace('\n', "\n        ")
        )
    };
    let machines = "variable \"n\" {\n  default = 1\n}\nresource \"aws_instance\" \"a\" {\n  count = var.n\n  ami = \
                    \"ami-1\"\n  instance_type = \"p5.48xlarge\"\n}\n";
    for (command, path, is_read) in [
        ("cd big && terraform apply $(cat ../args.txt)", "args.txt", true),
        ("terraform apply -var n=`head -1 NOTES.md`", "NOTES.md", true),
        (". ./settings.csv\nterraform apply", "settings.csv", true),
        ("notes=$(cat CHANGELOG.md)\nterraform apply", "CHANGELOG.md", false),
    ] {
        let workflow = steps(command);
        let base = [("big/main.tf", machines), (".github/workflows/deploy.yml", &*workflow), (path, "-var n=1\n")];
        let (_situation, run) = run(&base, &[(path, "-var n=8\n")], &[]);
        let verdict = if is_read { "not judged" } else { "pass" };
        assert_eq!(run.outputs["verdict"], verdict, "{command}: {}", run.summary);
    }
}

#[test]
fn a_file_that_terraform_writes_itself_is_not_missing() {
    for (condition, is_open) in [
        ("fileexists(\".terraform.lock.hcl\")", true),
        ("fileexists(\"${path.module}/.terraform/modules/modules.json\")", true),
        ("length(fileset(path.module, \"*.hcl\")) > 0", true),
        ("length(fileset(\".terraform\", \"**\")) > 0", true),
        ("length(fileset(path.module, \"**/*.yaml\")) > 0", false),
        ("fileexists(\"files/.terraform.lock.hcl\")", false),
    ] {
        let machine = format!(
            "resource \"aws_instance\" \"hidden\" {{\n  count = {condition} ? 8 : 0\n  ami = \"ami-1\"\n  instance_type = \
             \"p5.48xlarge\"\n}}\n"
        );
        let (_situation, run) = run(&[], &[("search/more.tf", &machine)], &[]);
        let verdict = run.outputs["verdict"].as_str();
        assert_eq!(verdict != "pass", is_open, "{condition}: {}", run.summary);
    }
}

#[test]
fn the_policy_is_that_of_the_target_branch_whatever_is_checked_out() {
    let lax = "fail-on = \"error\"\n";
    let strict = "fail-on = \"error\"\n[approvals]\nabove_monthly_usd = 10\nlabel = \"gpu-approved\"\n";
    let large = machine("train", "p5.48xlarge");
    let (small, now) = (small(), strict.to_owned());
    let situation = Situation::new(
        &[("search/main.tf", &small), ("gpulint.toml", lax)],
        &[("search/main.tf", &large)],
        &[("gpulint.toml", &now)],
    );
    let author = situation.sandbox.path("author");
    let tip = git(&author, &["rev-parse", "main"]);
    // As with `ref: ${{ github.event.pull_request.head.sha }}`.
    let workspace = situation.runner.workspace.clone();
    git(&workspace, &["fetch", "--quiet", "--depth=2", "origin", &situation.change.head]);
    git(&workspace, &["checkout", "--quiet", "--detach", &situation.change.head]);
    let mut situation = situation;
    let environment = &mut situation.runner.environment;
    environment.insert("GITHUB_BASE_REF".to_owned(), "main".to_owned());
    let run = situation.run();
    assert_eq!((run.failed.as_deref(), run.outputs["verdict"].as_str()), (Some("Decide"), "fail"), "{}", run.log);
    assert!(run.summary.contains("needs-approval"), "{}", run.summary);
    // Even if the head is declared as the merge, the policy of the target branch applies.
    situation.runner.environment.insert("GITHUB_SHA".to_owned(), situation.change.head.clone());
    assert_eq!(situation.run().outputs["verdict"], "fail");
    // Without the branch, the event contains its tip.
    situation.runner.environment.remove("GITHUB_BASE_REF");
    situation.runner.event["pull_request"]["base"] = json!({ "sha": tip });
    assert_eq!(situation.run().outputs["verdict"], "fail");
    // If the target branch cannot be downloaded, this is an error, and no other policy applies.
    situation.runner.environment.insert("GITHUB_BASE_REF".to_owned(), "gone".to_owned());
    let run = situation.run();
    assert_eq!((run.failed.as_deref(), run.outputs["exit-code"].as_str()), (Some("Decide"), "2"), "{}", run.log);
    assert!(run.log.contains("git cannot fetch the target branch `gone` from origin"), "{}", run.log);
}

/// Git settings of a repository that start programs, or contact a server.
const HOSTILE: [&str; 30] = [
    "core.fsmonitor=PROGRAM",
    "core.sshCommand=PROGRAM",
    "core.pager=PROGRAM",
    "core.editor=PROGRAM",
    "core.askPass=PROGRAM",
    "core.gitProxy=PROGRAM",
    "core.hooksPath=HOOKS",
    "core.alternateRefsCommand=PROGRAM",
    "core.worktree=..",
    "credential.helper=!PROGRAM",
    "credential.https://127.0.0.1.helper=!PROGRAM",
    "diff.external=PROGRAM",
    "diff.a.command=PROGRAM",
    "diff.a.textconv=PROGRAM",
    "filter.a.clean=PROGRAM",
    "filter.a.smudge=PROGRAM",
    "filter.a.process=PROGRAM",
    "filter.a.required=true",
    "merge.a.driver=PROGRAM",
    "gpg.program=PROGRAM",
    "gpg.ssh.program=PROGRAM",
    "log.showSignature=true",
    "pager.log=PROGRAM",
    "pager.diff=PROGRAM",
    "remote.origin.uploadpack=PROGRAM",
    "remote.origin.promisor=true",
    "remote.origin.partialCloneFilter=blob:none",
    "sequence.editor=PROGRAM",
    "submodule.recurse=true",
    "uploadpack.packObjectsHook=PROGRAM",
];

#[test]
fn no_setting_of_a_repository_starts_a_program() {
    let sandbox = Sandbox::new("settings");
    let (small, large) = (small(), machine("train", "p5.48xlarge"));
    let attributes = "* filter=a diff=a merge=a\n";
    let change = sandbox.pull_request(
        &[("a.tf", &small), (".gitattributes", attributes)],
        &[("a.tf", &large), ("rules/x.md", "x")],
        &[],
    );
    let workspace = sandbox.checkout("refs/pull/7/merge");
    let (program, marker) = (sandbox.path("program"), sandbox.path("started"));
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $*\" >>{}\ncat\n", marker.display())).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let hooks = sandbox.path("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for name in [
        "post-checkout",
        "pre-auto-gc",
        "reference-transaction",
        "post-index-change",
        "fsmonitor-watchman",
        "post-rewrite",
    ] {
        for folder in [hooks.clone(), workspace.join(".git/hooks")] {
            fs::create_dir_all(&folder).unwrap();
            fs::copy(&program, folder.join(name)).unwrap();
        }
    }
    fs::create_dir_all(workspace.join(".git/objects/info")).unwrap();
    fs::write(
        workspace.join(".git/objects/info/alternates"),
        format!("{}\n", sandbox.path("author/.git/objects").display()),
    )
    .unwrap();
    let mut config = String::new();
    for setting in HOSTILE {
        let value =
            setting.replace("PROGRAM", &program.display().to_string()).replace("HOOKS", &hooks.display().to_string());
        let (key, value) = value.split_once('=').unwrap();
        let (section, name) = key.rsplit_once('.').unwrap();
        let head = match section.split_once('.') {
            Some((section, part)) => format!("[{section} \"{part}\"]"),
            None => format!("[{section}]"),
        };
        config.push_str(&format!("{head}\n\t{name} = \"{value}\"\n"));
    }
    let path = workspace.join(".git/config");
    fs::write(&path, fs::read_to_string(&path).unwrap() + &config).unwrap();
    fs::write(workspace.join("plan.json"), "{}").unwrap();
    let base = change.event_base.as_str();
    let verbs: [&[&str]; 20] = [
        &["base"],
        &["base", "main"],
        &["base", "--policy"],
        &["base", base],
        &["check", "--format", "json"],
        &["check", "--policy-ref", base],
        &["check", "--fix", "--unsafe-fixes"],
        &["diff", "--base", base],
        &["diff", "--staged"],
        &["diff", "main"],
        &["cost"],
        &["files"],
        &["inspect"],
        &["plan"],
        &["history", "--format", "json"],
        &["blame"],
        &["report", "--all"],
        &["suppressions", "list"],
        &["baseline", "create"],
        &["init"],
    ];
    for verb in verbs {
        let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
            .args(verb)
            .current_dir(&workspace)
            .envs(GIT_ENVIRONMENT)
            .env("HOME", &sandbox.directory)
            .env("GITHUB_REF", "refs/pull/7/merge")
            .env("GITHUB_SHA", &change.merge)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!marker.exists(), "{verb:?} starts {}\n{said}", fs::read_to_string(&marker).unwrap());
        assert!(!said.contains("panicked"), "{verb:?}: {said}");
    }
    demand_that_git_would(&workspace, &marker);
}

/// Checks that these settings are effective: git itself starts the program.
fn demand_that_git_would(workspace: &Path, marker: &Path) {
    let _ = Command::new("git").args(["status"]).current_dir(workspace).envs(GIT_ENVIRONMENT).output().unwrap();
    assert!(marker.exists());
}

#[test]
fn a_name_of_the_base_is_a_commit_of_the_origin() {
    let sandbox = Sandbox::new("base");
    let small = small();
    let change = sandbox.pull_request(&[("a.tf", &small)], &[("b.tf", &small.replace("train", "b"))], &[]);
    let workspace = sandbox.checkout("refs/pull/7/merge");
    write(&workspace, &[("below/x", "x")]);
    let base = |arguments: &[&str], environment: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_gpulint"))
            .arg("base")
            .args(arguments)
            .current_dir(workspace.join("below"))
            .envs(GIT_ENVIRONMENT)
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), said.trim().to_owned())
    };
    let known = (Some(0), change.event_base.clone());
    assert_eq!(base(&["main"], &[]), known);
    assert_eq!(base(&["refs/heads/main"], &[]), known);
    assert_eq!(base(&[&change.event_base], &[]), known);
    for name in ["CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "BITBUCKET_PR_DESTINATION_BRANCH", "GITHUB_BASE_REF"] {
        assert_eq!(base(&["--policy"], &[(name, "main")]), known, "{name}");
    }
    assert_eq!(base(&[], &[("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")]), known);
    assert_eq!(base(&[], &[]).0, Some(3));
    for odd in
        ["--upload-pack=touch x", "ext::sh -c touch", "../..", "main\nx", ":/", "gone", "refs/heads/gone", "HEAD:a.tf"]
    {
        let (code, said) = base(&["--", odd], &[]);
        assert_eq!(code, Some(2), "{odd}: {said}");
    }
}
