//! Tests the Action step by step, in a repository with a real base and a real change.
//!
//! The steps come from `action.yml` and run in bash with the environment that GitHub documents. The comment goes to a
//! GitHub test server.
#![cfg(unix)]

mod expression;
mod install;
mod recipes;
mod runner;
pub(crate) mod sandbox;
mod stranger;
mod supply;
mod workflows;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use self::runner::{Run, Runner, action};
use self::sandbox::{Change, Files, GIT_ENVIRONMENT, Sandbox};
use crate::forge::server::Answer;
use crate::forge::stand_in::{Github, TOKEN};

const CLEAN: &str = r#"resource "aws_eks_node_group" "train" {
  cluster_name   = "main"
  instance_types = ["p4d.24xlarge", "p4de.24xlarge"]
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

fn wasteful() -> String {
    CLEAN.replace("SPOT", "ON_DEMAND")
}

fn broken() -> String {
    CLEAN.replace("  scaling_config {", "  scaling_config {{{")
}

const ARTIFACT: &str = "https://github.com/acme/infra/actions/runs/5/artifacts/6";

/// A pull request on which the Action runs.
struct Situation {
    sandbox: Sandbox,
    change: Change,
    github: Github,
    runner: Runner,
}

impl Situation {
    fn new(base: Files, change: Files, later: Files) -> Self {
        let sandbox = Sandbox::new("action");
        let change = sandbox.pull_request(base, change, later);
        let workspace = sandbox.checkout("refs/pull/7/merge");
        let github = Github::with(Vec::new());
        release(&sandbox);
        fs::copy(sandbox.path("release/SHA256SUMS"), sandbox.path("checksums.txt")).unwrap();
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut environment: BTreeMap<String, String> = BTreeMap::from([
            set("GITHUB_EVENT_NAME", "pull_request"),
            set("GITHUB_REPOSITORY", "acme/infra"),
            set("GITHUB_REF", "refs/pull/7/merge"),
            set("GITHUB_SERVER_URL", "https://github.com"),
            set("GITHUB_SHA", &change.merge),
            set("GITHUB_API_URL", &github.server.url()),
            set("GITHUB_TOKEN_OF_JOB", TOKEN),
            set("GPULINT_DOWNLOAD", &format!("file://{}", sandbox.path("release").display())),
            set("GPULINT_CHECKSUMS", sandbox.path("checksums.txt").to_str().unwrap()),
            set("HOME", sandbox.directory.to_str().unwrap()),
        ]);
        environment.extend(GIT_ENVIRONMENT.map(|(name, value)| set(name, value)));
        let head = json!({ "sha": change.head, "repo": { "full_name": "acme/infra" } });
        let base = json!({ "sha": change.event_base });
        let event = json!({ "pull_request": { "number": 7, "head": head, "base": base } });
        let temp = sandbox.path("temp");
        let artifact = Some(ARTIFACT.to_owned());
        let runner = Runner { workspace, temp, environment, event, inputs: BTreeMap::new(), artifact };
        Situation { sandbox, change, github, runner }
    }

    fn with(mut self, input: &str, value: &str) -> Self {
        self.runner.inputs.insert(input.to_owned(), value.to_owned());
        self
    }

    fn run(&self) -> Run {
        let run = self.runner.run();
        assert!(!run.log.contains(TOKEN), "the token is in the log:\n{}", run.log);
        run
    }
}

/// Creates a release of the built program as the release workflow does.
fn release(sandbox: &Sandbox) {
    let program = env!("CARGO_BIN_EXE_gpulint");
    let script = format!("#!/bin/sh\nexec {program} \"$@\"\n");
    let binaries = sandbox.path("binaries").join(target());
    fs::create_dir_all(&binaries).unwrap();
    let built = binaries.join("gpulint");
    fs::write(&built, script).unwrap();
    fs::set_permissions(&built, fs::Permissions::from_mode(0o755)).unwrap();
    let licences = sandbox.path("licences");
    fs::create_dir_all(&licences).unwrap();
    for name in ["LICENCES.txt", "gpulint.cdx.json"] {
        fs::write(licences.join(name), format!("{name} of a test\n")).unwrap();
    }
    let mut pack = Command::new("bash");
    pack.arg(format!("{}/packaging/pack.sh", env!("CARGO_MANIFEST_DIR")));
    pack.args([sandbox.path("binaries"), sandbox.path("release"), built]).arg("acme/gpulint").arg(licences);
    let packed = pack.output().unwrap();
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
}

fn archive() -> String {
    format!("gpulint-{}-{}.tar.gz", env!("CARGO_PKG_VERSION"), target())
}

fn target() -> &'static str {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "x86_64-unknown-linux-musl",
        ("linux", _) => "aarch64-unknown-linux-musl",
        ("macos", "x86_64") => "x86_64-apple-darwin",
        _ => "aarch64-apple-darwin",
    }
}

/// The step "Reviews" runs only with `reviews: true`.
const STEPS: [&str; 7] =
    ["Install gpulint", "Reviews", "Scan", "Upload to code scanning", "Upload the page", "Comment", "Decide"];

#[test]
fn no_change_says_nothing() {
    let situation = Situation::new(&[("a.tf", &wasteful())], &[("README.md", "hello")], &[]);
    let run = situation.run();
    assert_eq!(run.failed, None, "{}", run.log);
    assert_eq!((run.outputs["exit-code"].as_str(), run.outputs["new-findings"].as_str()), ("0", "0"));
    assert_eq!(situation.github.bodies().len(), 0, "an old finding is not worth a first comment");
}

#[test]
fn new_waste_is_told_and_fails() {
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]).with("upload-sarif", "true");
    let run = situation.run();
    assert_eq!(run.steps, STEPS.into_iter().filter(|step| *step != "Reviews").collect::<Vec<_>>());
    assert_eq!(run.failed.as_deref(), Some("Decide"), "{}", run.log);
    assert_eq!(run.outputs["exit-code"], "1");
    assert_ne!(run.outputs["new-findings"], "0");
    assert!(run.outputs["monthly-delta"].parse::<f64>().unwrap() > 0.0);
    let bodies = situation.github.bodies();
    assert!(bodies[0].contains("on-demand-batch"), "{bodies:?}");
    assert!(
        bodies[0].contains(&format!("head={}", situation.change.head)),
        "the comment is about the head, not the merge"
    );
    let line = format!("](https://github.com/acme/infra/blob/{}/a.tf#L", situation.change.head);
    assert!(bodies[0].contains(&line), "no link to the line at the head:\n{}", bodies[0]);
    assert!(run.summary.contains("on-demand-batch"));
    assert!(run.log.contains("::error title=gpulint::"));
    for report in ["report-json", "report-markdown", "report-sarif", "report-html"] {
        assert!(Path::new(&run.outputs[report]).is_file(), "{report}");
    }
    situation.github.assert_as_described();

    let again = situation.run();
    assert_eq!(again.failed.as_deref(), Some("Decide"));
    assert_eq!(situation.github.server.writes(), 1, "an identical comment is not written again");
}

#[test]
fn the_comment_leads_to_the_page() {
    let link = format!("\n\n[Full report]({ARTIFACT})\n");
    let mut situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]).with("tag", "gpu/prod");
    let run = situation.run();
    let page = Path::new(&run.outputs["report-html"]);
    assert_eq!(page.file_name().unwrap(), "gpulint-gpu-prod.html", "several runs have a page each");
    let text = fs::read_to_string(page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("on-demand-batch"), "{text}");
    assert_eq!(run.outputs["page-url"], ARTIFACT);
    assert!(situation.github.bodies()[0].ends_with(&link), "{:?}", situation.github.bodies());

    // The upload was refused, and the comment exists anyway.
    situation.runner.artifact = None;
    let run = situation.run();
    assert_eq!((run.outputs["page-url"].as_str(), run.failed.as_deref()), ("", Some("Decide")), "{}", run.log);
    let body = situation.github.bodies().remove(0);
    assert!(body.contains("on-demand-batch") && !body.contains("as a page"), "{body}");

    let run = situation.with("page", "false").run();
    assert!(!run.steps.contains(&"Upload the page".to_owned()) && run.outputs["report-html"].is_empty());
}

#[test]
fn fixed_waste_passes() {
    let situation = Situation::new(&[("a.tf", &wasteful())], &[("a.tf", CLEAN)], &[]);
    let run = situation.run();
    assert_eq!(run.failed, None, "{}", run.log);
    assert!(run.outputs["monthly-delta"].parse::<f64>().unwrap() < 0.0);
    assert_eq!(situation.github.bodies().len(), 1, "less money is worth telling");
}

#[test]
fn a_fork_gets_its_report_in_the_summary() {
    let refusal = json!({ "message": "Resource not accessible by integration" });
    let mut situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]);
    situation.github = situation.github.first("POST", vec![Answer::json(403, &refusal)]);
    situation.runner.event["pull_request"]["head"]["repo"]["full_name"] = json!("someone/infra");
    let run = situation.run();
    assert_eq!(run.failed.as_deref(), Some("Decide"), "the waste fails, not the comment: {}", run.log);
    assert_eq!(situation.github.bodies().len(), 0);
    assert_eq!(run.summary.matches("on-demand-batch").count(), situation.expected_mentions(&run));
    assert!(!run.log.contains("::warning title=gpulint::"), "{}", run.log);
}

impl Situation {
    /// The summary has the report once.
    fn expected_mentions(&self, run: &Run) -> usize {
        fs::read_to_string(&run.outputs["report-markdown"]).unwrap().matches("on-demand-batch").count()
    }
}

#[test]
fn nothing_passes_without_a_verdict() {
    let (before, after) = ([("a.tf", CLEAN), ("env/a.tfvars", "n = 1")], [("env/a.tfvars", "n = 2")]);
    let told = [&before[..], &[("gpulint.toml", "unexplained = \"tell\"\n")]].concat();
    let run = Situation::new(&told, &after, &[]).run();
    assert_eq!((run.failed.clone(), run.outputs["verdict"].as_str()), (None, "not judged"), "{}", run.log);
    assert!(run.log.contains("::warning title=gpulint::not evaluated"), "{}", run.log);
    let strict = Situation::new(&told, &after, &[]).with("fail-on-unread", "true").run();
    assert_eq!(strict.failed.as_deref(), Some("Decide"), "{}", strict.log);
    let situation = Situation::new(&before, &after, &[]);
    let run = situation.run();
    assert_eq!((run.failed.as_deref(), run.outputs["verdict"].as_str()), (Some("Decide"), "not judged"), "{}", run.log);
    assert!(situation.github.bodies()[0].contains("incomplete"), "a comment is written");
    let decide = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/action/decide.sh");
    let decided = Command::new("bash").arg(decide).env("GPULINT_EXIT_CODE", "0").output().unwrap();
    assert_eq!(decided.status.code(), Some(70), "whoever says 0 and no verdict is not the scan");
}

#[test]
fn a_broken_file_fails() {
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &broken())], &[]);
    let run = situation.run();
    assert_eq!(run.failed.as_deref(), Some("Decide"), "{}", run.log);
    assert_eq!(run.outputs["exit-code"], "1");
    assert!(situation.github.bodies()[0].contains("unreadable"));
}

#[test]
fn a_change_cannot_relax_its_own_gate() {
    let relaxed = "ignore = [\"on-demand-batch\"]\n";
    let change = [("a.tf", wasteful()), ("gpulint.toml", relaxed.to_owned())];
    let change: Vec<(&str, &str)> = change.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let situation = Situation::new(&[("a.tf", CLEAN)], &change, &[]);
    assert_eq!(situation.run().failed.as_deref(), Some("Decide"));
    let trusting = situation.with("policy-ref", "head");
    assert_eq!(trusting.run().failed, None);
}

/// Users with triage permission set labels, and GitHub passes them with the event. Text in the pull request is not a
/// label.
#[test]
fn a_label_on_the_pull_request_approves_what_it_brings() {
    let settings = "select = [\"needs-approval\"]\n[approvals]\nabove_monthly_usd = 1000\nlabel = \"gpu-approved\"\n";
    let machine = "resource \"aws_instance\" \"big\" {\n  instance_type = \"p4d.24xlarge\"\n}\n";
    let base = [("gpulint.toml", settings), ("a.tf", CLEAN)];
    let change = [("b.tf", machine), (".github/labels.json", "[\"gpu-approved\"]")];
    let mut situation = Situation::new(&base, &change, &[]);
    assert_eq!(situation.run().failed.as_deref(), Some("Decide"));
    for (labels, failed) in [
        (json!([]), Some("Decide")),
        (
            json!([{ "name": "gpu-approved,x" }, { "name": "x\ngpu-approved" }, { "name": "'; touch pwned" }]),
            Some("Decide"),
        ),
        (json!([{ "name": "other" }, { "name": "gpu-approved" }]), None),
    ] {
        situation.runner.event["pull_request"]["labels"] = labels.clone();
        let run = situation.run();
        assert_eq!(run.failed.as_deref(), failed, "{labels}: {}", run.log);
    }
    assert!(!situation.runner.workspace.join("pwned").exists());
}

/// The author of a change can write a label of a machine, and cannot set a label of the pull request.
#[test]
fn a_label_in_the_change_approves_nothing() {
    let settings = "select = [\"needs-approval\"]\n[approvals]\nabove_monthly_usd = 1000\nlabel = \"gpu-approved\"\n";
    let machine =
        |tags: &str| format!("resource \"aws_instance\" \"big\" {{\n  instance_type = \"p4d.24xlarge\"\n{tags}}}\n");
    let tagged = machine("  tags = { gpulint-approved = \"me\" }\n");
    let base = [("gpulint.toml", settings), ("a.tf", CLEAN)];
    let mut situation = Situation::new(&base, &[("b.tf", &tagged)], &[]);
    let run = situation.run();
    assert_eq!(run.failed.as_deref(), Some("Decide"), "{}", run.log);
    assert!(run.summary.contains("`gpu-approved`"), "{}", run.summary);
    situation.runner.event["pull_request"]["labels"] = json!([{ "name": "gpu-approved" }]);
    assert_eq!(situation.run().failed, None);
    // Other files of a change do not question a machine that was merged earlier.
    let base = [("gpulint.toml", settings), ("b.tf", tagged.as_str())];
    let run = Situation::new(&base, &[("a.tf", "locals {}\n")], &[]).run();
    assert_eq!(run.failed, None, "{}", run.log);
}

/// The script asks GitHub by `gh`, which is replaced by one that reads files and has the same filters.
#[test]
fn only_a_review_of_the_newest_commit_by_another_person_approves() {
    let sandbox = Sandbox::new("reviews");
    let review = |user: &str, kind: &str, state: &str, commit: &str| json!({ "user": { "login": user, "type": kind }, "state": state, "commit_id": commit });
    let reviews = json!([
        review("alice", "User", "APPROVED", "new"),
        review("alice", "User", "COMMENTED", "new"),
        review("early", "User", "APPROVED", "old"),
        review("author", "User", "APPROVED", "new"),
        review("robot", "Bot", "APPROVED", "new"),
        review("unsure", "User", "APPROVED", "new"),
        review("unsure", "User", "CHANGES_REQUESTED", "new"),
        review("dismissed", "User", "DISMISSED", "new"),
        review("guest", "User", "APPROVED", "new"),
    ]);
    fs::create_dir_all(sandbox.path("answers")).unwrap();
    fs::write(sandbox.path("answers/reviews"), reviews.to_string()).unwrap();
    fs::write(sandbox.path("answers/alice"), r#"{"state": "active"}"#).unwrap();
    fs::write(sandbox.path("answers/guest"), r#"{"state": "pending"}"#).unwrap();
    let gh = "#!/bin/sh\nfor it do last=$it; case $it in repos/*/pulls/7/reviews*) file=reviews;; \
              orgs/acme/teams/gpu/memberships/*) file=${it##*/};; esac; done\n\
              exec jq -r \"$last\" \"$ANSWERS/$file\"\n";
    fs::create_dir_all(sandbox.path("bin")).unwrap();
    fs::write(sandbox.path("bin/gh"), gh).unwrap();
    fs::set_permissions(sandbox.path("bin/gh"), fs::Permissions::from_mode(0o755)).unwrap();
    let approved = || {
        let output = sandbox.path("output");
        let _ = fs::remove_file(&output);
        let script = format!("{}/packaging/action/reviews.sh", env!("CARGO_MANIFEST_DIR"));
        let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("bash");
        command.arg(script).env("PATH", path).env("ANSWERS", sandbox.path("answers"));
        command.env("RUNNER_TEMP", &sandbox.directory).env("GITHUB_OUTPUT", &output);
        command.env("GITHUB_REPOSITORY", "acme/infra").env("GPULINT_PULL_REQUEST", "7");
        command.env("GPULINT_HEAD", "new").env("GPULINT_AUTHOR", "author");
        command.env("GPULINT_APPROVER_TEAMS", "@acme/gpu\nnot a team\n");
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let text = fs::read_to_string(output).unwrap();
        let list = text.trim().strip_prefix("approved-by=").unwrap().to_owned();
        let mut names: Vec<String> = serde_json::from_str(&list).unwrap();
        names.sort();
        names
    };
    assert_eq!(approved(), ["@acme/gpu", "alice", "guest"]);
    fs::remove_file(sandbox.path("answers/reviews")).unwrap();
    assert_eq!(approved(), [""; 0]);
}

#[test]
fn a_change_is_not_blamed_for_what_others_did_meanwhile() {
    let (ours, theirs) = (CLEAN.replace("train\"", "ours\""), wasteful().replace("train\"", "theirs\""));
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("b.tf", &ours)], &[("c.tf", &theirs)]);
    let run = situation.run();
    assert_eq!((run.failed, run.outputs["new-findings"].as_str()), (None, "0"), "{}", run.log);
}

#[test]
fn links_lead_to_files_below_the_working_directory() {
    let situation = Situation::new(&[("infra/a.tf", CLEAN)], &[("infra/a.tf", &wasteful())], &[]);
    let situation = situation.with("working-directory", "infra");
    let run = situation.run();
    let report = fs::read_to_string(&run.outputs["report-markdown"]).unwrap();
    assert!(report.contains("/infra/a.tf#L"), "{report}");
}

#[test]
fn a_folder_that_is_called_like_the_base_is_not_the_base() {
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]);
    // The author of a change knows the commit that it will be compared with.
    let workspace = &situation.runner.workspace;
    sandbox::write(workspace, &[(&format!("{}/a.tf", situation.change.event_base), &wasteful())]);
    sandbox::write(workspace, &[("main/a.tf", &wasteful())]);
    let run = situation.run();
    assert_eq!((run.failed.as_deref(), run.outputs["exit-code"].as_str()), (Some("Decide"), "1"), "{}", run.log);
    let run = situation.with("base", "main").with("paths", "a.tf").run();
    assert_eq!((run.failed.as_deref(), run.outputs["exit-code"].as_str()), (Some("Decide"), "1"), "{}", run.log);
}

#[test]
fn a_tag_that_is_called_like_the_base_is_refused() {
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]).with("base", "main");
    let author = situation.sandbox.path("author");
    sandbox::git(&author, &["tag", "main", "change"]);
    let run = situation.run();
    assert_eq!((run.failed.as_deref(), run.outputs["exit-code"].as_str()), (Some("Decide"), "2"), "{}", run.log);
    assert!(run.log.contains("pass refs/heads/main or refs/tags/main"), "{}", run.log);
    // The clone has the tag only.
    sandbox::git(&situation.runner.workspace, &["fetch", "--quiet", "origin", "refs/tags/main:refs/tags/main"]);
    let run = situation.run();
    assert_eq!(run.outputs["exit-code"], "2", "{}", run.log);
    let whole = situation.with("base", "refs/heads/main");
    assert_eq!(whole.run().outputs["exit-code"], "1");
    let of_policy = whole.with("policy-ref", "main").run();
    assert_eq!(of_policy.outputs["exit-code"], "2", "{}", of_policy.log);
}

#[test]
fn a_base_that_is_not_there_is_a_clear_failure() {
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]).with("base", "no-such-branch");
    let run = situation.run();
    assert_eq!(run.failed.as_deref(), Some("Decide"));
    assert_eq!(run.outputs["exit-code"], "2");
    assert!(run.log.contains("no-such-branch"), "{}", run.log);
}

#[test]
fn without_the_prices_of_the_day_the_check_uses_its_own() {
    let mut situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]).with("prices", "daily");
    situation.runner.environment.insert("HTTPS_PROXY".to_owned(), "http://127.0.0.1:1".to_owned());
    let run = situation.run();
    assert_eq!(run.outputs["verdict"], "fail", "{}", run.log);
    assert!(run.log.contains("the prices of the day are missing"), "{}", run.log);
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]).with("prices", "fresh");
    let run = situation.run();
    assert!(run.log.contains("`prices` must be embedded or daily"), "{}", run.log);
}

#[test]
fn without_a_base_everything_counts() {
    let mut situation = Situation::new(&[("a.tf", &wasteful())], &[("README.md", "hello")], &[]);
    situation.runner.event = json!({ "ref": "refs/heads/main" });
    situation.runner.environment.insert("GITHUB_REF".to_owned(), "refs/heads/main".to_owned());
    let run = situation.run();
    assert_eq!(run.failed.as_deref(), Some("Decide"), "{}", run.log);
    assert!(!run.steps.contains(&"Comment".to_owned()), "there is no pull request to comment on");
}

#[test]
fn inputs_are_data() {
    let marks = "x'; touch pwned; $(touch pwned) `touch pwned` \" && touch pwned\n-rf\n";
    for input in ["paths", "base", "policy-ref", "prices", "fail-on", "tag", "comment-mode", "version"] {
        let situation = Situation::new(&[("a.tf", CLEAN)], &[("a.tf", &wasteful())], &[]).with(input, marks);
        let run = situation.run();
        assert!(!situation.runner.workspace.join("pwned").exists(), "{input}: {}", run.log);
        assert_ne!(run.failed, None, "{input} is nonsense and passed");
    }
}

#[test]
fn a_release_with_a_wrong_checksum_is_not_installed() {
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("b.tf", CLEAN)], &[]);
    let sums = situation.sandbox.path("checksums.txt");
    let text = fs::read_to_string(&sums).unwrap();
    fs::write(&sums, text.replace(|c: char| c.is_ascii_hexdigit() && c != 'a', "0")).unwrap();
    let run = situation.run();
    assert_eq!((run.failed.as_deref(), run.steps.len()), (Some("Install gpulint"), 1), "{}", run.log);
    assert!(!situation.runner.temp.join("gpulint/bin/gpulint").exists());
}

#[test]
fn a_release_has_all_that_a_package_needs() {
    let sandbox = Sandbox::new("release");
    release(&sandbox);
    let directory = sandbox.path("release");
    let sums = fs::read_to_string(directory.join("SHA256SUMS")).unwrap();
    let name = format!("gpulint-{}-{}", env!("CARGO_PKG_VERSION"), target());
    let sum = sums.lines().find_map(|line| line.strip_suffix(&format!("  {name}.tar.gz"))).unwrap();
    assert_eq!(sum.len(), 64);
    let list = Command::new("tar").arg("-tzf").arg(directory.join(format!("{name}.tar.gz"))).output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    for file in [
        "gpulint",
        "LICENSE-MIT",
        "LICENCES.txt",
        "gpulint.cdx.json",
        "completions/gpulint.zsh",
        "man/gpulint.1",
        "man/gpulint-comment.1",
    ] {
        assert!(list.lines().any(|line| line == format!("{name}/{file}")), "{file} is not in:\n{list}");
    }
    let targets =
        ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl", "x86_64-apple-darwin", "aarch64-apple-darwin"];
    for file in ["gpulint.rb", "Containerfile"] {
        let text = fs::read_to_string(directory.join(file)).unwrap();
        assert!(!text.contains("@VERSION@") && !text.contains("@REPOSITORY@") && text.contains("acme/gpulint"));
        let wanted = targets.iter().filter(|it| file == "gpulint.rb" || it.contains("linux"));
        for other in wanted {
            let filled = if *other == target() { sum.to_owned() } else { format!("@SHA256:{other}@") };
            assert!(text.contains(&filled), "{file} has no checksum for {other}");
        }
    }
}

#[test]
fn without_a_release_the_sources_are_built() {
    let situation = Situation::new(&[("a.tf", CLEAN)], &[("b.tf", CLEAN)], &[]);
    let release = situation.sandbox.path("release");
    fs::remove_file(release.join(archive())).unwrap();
    // A fake cargo that installs the built program.
    let tools = situation.sandbox.path("tools");
    fs::create_dir_all(&tools).unwrap();
    let program = situation.sandbox.path("binaries").join(target()).join("gpulint");
    let script =
        format!("#!/bin/sh\necho cargo \"$@\" >&2\nmkdir -p \"$7/bin\" && cp {} \"$7/bin/\"\n", program.display());
    fs::write(tools.join("cargo"), script).unwrap();
    fs::set_permissions(tools.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();
    let install = |version: &str| {
        let mut command = Command::new("bash");
        command.arg(format!("{}/packaging/install.sh", env!("CARGO_MANIFEST_DIR")));
        command.env("PATH", format!("{}:{}", tools.display(), std::env::var("PATH").unwrap()));
        command.env("RUNNER_TEMP", &situation.runner.temp).env("GPULINT_VERSION", version);
        command.env("GPULINT_DOWNLOAD", format!("file://{}", release.display()));
        command.output().unwrap()
    };
    let output = install("");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let expected = "cargo install --quiet --locked --path . --root";
    assert!(said.contains(expected), "{said}");
    assert!(situation.runner.temp.join("gpulint/bin/gpulint").is_file());
    // Sources of one version must not be installed as another version.
    assert_eq!(install("99.0.0").status.code(), Some(2));
}

#[test]
fn scripts_contain_no_expression_and_actions_are_pinned() {
    let action = action();
    for step in action["runs"]["steps"].as_array().unwrap() {
        assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{}", step["name"]);
        if let Some(uses) = step["uses"].as_str() {
            let (_, commit) = uses.split_once('@').unwrap();
            assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{uses}");
        }
    }
    let names: Vec<&Value> = action["runs"]["steps"].as_array().unwrap().iter().map(|step| &step["name"]).collect();
    assert_eq!(names, STEPS);
}
