//! Tests `gpulint comment` in a build: the environment sets the pull request, and no secret is printed.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::server::{Answer, Server};
use super::stand_in::{Github, HEAD, Remark, TOKEN, assert_no_secret};

/// The directory of a build with its event and its report.
struct Build {
    directory: PathBuf,
    environment: Vec<(String, String)>,
}

impl Build {
    fn new(api: &str, event: &Value) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("comment-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("event.json"), event.to_string()).unwrap();
        fs::write(directory.join("report.md"), "GPU cost +$10/month\n").unwrap();
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let file = |name: &str| directory.join(name).to_str().unwrap().to_owned();
        let environment = vec![
            set("GITHUB_API_URL", api),
            set("GITHUB_REPOSITORY", "acme/infra"),
            set("GITHUB_TOKEN", TOKEN),
            set("GITHUB_EVENT_PATH", &file("event.json")),
            set("GITHUB_STEP_SUMMARY", &file("summary.md")),
        ];
        Build { directory, environment }
    }

    fn without(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.args(["comment"]).args(arguments).current_dir(&self.directory);
        command.env_clear().envs(self.environment.iter().cloned());
        let output = command.output().unwrap();
        assert_no_secret(&told(&output));
        output
    }

    fn summary(&self) -> Option<String> {
        fs::read_to_string(self.directory.join("summary.md")).ok()
    }
}

impl Drop for Build {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn pull_request() -> Value {
    json!({ "pull_request": { "number": 7, "head": { "sha": HEAD, "repo": { "full_name": "acme/infra" } } } })
}

#[test]
fn what_a_host_says_is_cleaned_before_a_terminal_sees_it() {
    let url = "https://example.org/\u{1b}]0;owned\u{7}\u{202e}\u{9b}31m\r";
    let created = json!({ "id": 4, "node_id": "IC_4", "body": "x", "html_url": url, "user": { "login": "bot" } });
    let github = Github::with(Vec::new()).first("POST", vec![Answer::json(201, &created)]);
    let build = Build::new(&github.server.url(), &pull_request());
    let said = told(&build.run(COMMENT));
    assert!(said.starts_with("comment created: https://example.org/"), "{said:?}");
    assert!(!said.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{said:?}");
}

const COMMENT: &[&str] = &["github", "--body", "report.md"];

#[test]
fn the_environment_of_a_build_says_where() {
    let github = Github::with(vec![Remark::by_person(3, "hm")]);
    let build = Build::new(&github.server.url(), &pull_request());
    let output = build.run(COMMENT);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(told(&output), "comment created: https://github.com/acme/infra/pull/7#issuecomment-4\n");
    assert!(github.bodies()[1].contains(&format!("tag=default head={HEAD}")));
    assert_eq!(told(&build.run(COMMENT)), "comment unchanged: https://github.com/acme/infra/pull/7#issuecomment-4\n");
    assert_eq!(github.server.writes(), 1);
    github.assert_as_described();
}

#[test]
fn an_enterprise_server_has_its_interface_below_a_path() {
    let server = Server::start(|received| {
        let list = received.method == "GET" && received.path == "/api/v3/repos/acme/infra/issues/7/comments";
        Answer::json(if list { 200 } else { 404 }, &json!([]))
    });
    let build = Build::new(&format!("{}/api/v3", server.url()), &pull_request());
    assert_eq!(build.run(&[COMMENT, &["--only-if-present"]].concat()).status.code(), Some(0));
    assert_eq!(server.received().len(), 1);
}

#[test]
fn what_may_not_be_written_goes_to_the_summary() {
    let refusal = json!({ "message": "Resource not accessible by integration" });
    let github = Github::with(Vec::new()).first("POST", vec![Answer::json(403, &refusal)]);
    let build = Build::new(&github.server.url(), &pull_request());
    let output = build.run(COMMENT);
    assert_eq!(output.status.code(), Some(0));
    assert!(told(&output).contains("the job summary has the report"), "{}", told(&output));
    assert_eq!(build.summary().unwrap(), "GPU cost +$10/month\n");
}

#[test]
fn a_fork_without_a_token_is_no_failure_and_a_missing_token_is_one() {
    let mut event = pull_request();
    let ours = Build::new("http://127.0.0.1:9", &event).without("GITHUB_TOKEN");
    let output = ours.run(COMMENT);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("GITHUB_TOKEN"), "{}", told(&output));

    event["pull_request"]["head"]["repo"]["full_name"] = json!("someone/infra");
    let fork = Build::new("http://127.0.0.1:9", &event).without("GITHUB_TOKEN");
    assert_eq!(fork.run(COMMENT).status.code(), Some(0));
    assert_eq!(fork.summary().unwrap(), "GPU cost +$10/month\n");
}

#[test]
fn a_build_after_another_build_finds_its_pull_request() {
    let github = Github::with(Vec::new());
    let mut event = json!({ "workflow_run": { "head_sha": HEAD, "head_branch": "more-gpus",
                            "head_repository": { "owner": { "login": "someone" } }, "pull_requests": [] } });
    let build = Build::new(&github.server.url(), &event);
    assert_eq!(build.run(COMMENT).status.code(), Some(0));
    assert_eq!(github.bodies().len(), 1);
    github.assert_as_described();

    // The branch has moved on, so its pull request no longer contains this commit.
    event["workflow_run"]["head_sha"] = json!("1111111111111111111111111111111111111111");
    let late = Build::new(&github.server.url(), &event);
    let output = late.run(COMMENT);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("--pull-request"), "{}", told(&output));
    assert_eq!(github.bodies().len(), 1);
}

#[test]
fn a_dry_run_opens_no_socket() {
    let github = Github::with(Vec::new());
    let build = Build::new(&github.server.url(), &pull_request()).without("GITHUB_TOKEN");
    let output = build.run(&[COMMENT, &["--dry-run", "--tag", "gpu/prod"]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("<!-- gpulint:comment schema=1 tag=gpu/prod head="));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("would update the comment `gpu/prod` on github acme/infra #7")
    );
    assert!(github.server.received().is_empty());
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let server = Server::start(|_| Answer::json(401, &json!({ "message": format!("bad {TOKEN}") })));
    let build = Build::new(&server.url(), &json!({ "push": {} }));
    fs::write(build.directory.join("empty.md"), " \n").unwrap();
    fs::write(build.directory.join("token"), format!("{TOKEN}\nx")).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["github", "--body", "report.md"], "--pull-request NUMBER"),
        (&["github", "--body", "missing.md"], "missing.md"),
        (&["github", "--body", "empty.md"], "is empty"),
        (&["github", "--body", "report.md", "--page", "https://a.example/x) @all"], "https://HOST/PATH"),
        (&["github", "--body", "report.md", "--page", "javascript:alert(1)"], "https://HOST/PATH"),
        (&["githob", "--body", "report.md"], "github, gitlab, bitbucket, azure, gitea"),
        (&["github", "--body", "report.md", "--tag", "a --> b"], "a tag must have"),
        (&["github", "--body", "report.md", "--mode", "append"], "update, new, delete-and-new, hide-and-new"),
        (&["github", "--body", "report.md", "--pull-request", "7"], "bad ***"),
        (&["github", "--body", "report.md", "--pull-request", "7", "--token-file", "token"], "invalid character"),
        (
            &["github", "--body", "report.md", "--pull-request", "7", "--api", "http://example.org"],
            "without encryption",
        ),
        (&["github", "--body", "report.md", "--pull-request", "7", "--repo", "acme"], "owner/name"),
        (&["gitlab", "--body", "report.md", "--pull-request", "7"], "GITLAB_TOKEN"),
    ];
    for (arguments, expected) in cases {
        let output = build.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains(expected), "{arguments:?}: {}", told(&output));
    }
}

const SERVER: &str = "resource \"aws_instance\" \"chat\" {
  instance_type = \"TYPE\"
  tags          = { Owner = \"search\" }
}
";

impl Build {
    /// Adds the saved report of `gpulint diff`, with an edit for a fix.
    fn with_saved_report(self, fix: Option<&Value>) -> Self {
        for (side, machine) in [("before", "g5.xlarge"), ("after", "p3.2xlarge")] {
            fs::create_dir_all(self.directory.join(side)).unwrap();
            fs::write(self.directory.join(side).join("main.tf"), SERVER.replace("TYPE", machine)).unwrap();
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.args(["diff", "--base-dir", "../before", "--format", "json"]).current_dir(self.directory.join("after"));
        let output = command.output().unwrap();
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        if let Some(fix) = fix {
            let new = report["new"].as_array_mut().unwrap();
            let old = new.iter_mut().find(|it| it["rule"] == "old-generation").unwrap();
            old["fix"] = fix.clone();
        }
        fs::write(self.directory.join("report.json"), report.to_string()).unwrap();
        self
    }
}

#[test]
fn a_saved_report_becomes_a_comment_and_notes_with_a_button() {
    let github = Github::with(Vec::new());
    let fix =
        json!({ "path": "main.tf", "first_line": 2, "last_line": 2, "replacement": "  instance_type = \"g5.xlarge\"" });
    let build = Build::new(&github.server.url(), &pull_request()).with_saved_report(Some(&fix));
    let output = build.run(&["github", "--report", "report.json", "--review", "--directory="]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).ends_with("1 review notes posted\n"), "{}", told(&output));
    let body = &github.bodies()[0];
    assert!(body.contains("machine g5.xlarge → p3.2xlarge") && body.contains("old-generation"), "{body}");
    let notes = github.world.lock().unwrap().notes.clone();
    assert_eq!((notes.len(), &notes[0]["line"], &notes[0]["path"]), (1, &json!(2), &json!("main.tf")));
    let note = notes[0]["body"].as_str().unwrap();
    assert!(note.ends_with("\n\n```suggestion\n  instance_type = \"g5.xlarge\"\n```\n"), "{note}");
    assert!(note.contains("**old-generation**"), "{note}");

    let again = build.run(&["github", "--report", "report.json", "--review", "--directory="]);
    assert!(told(&again).contains("unchanged") && told(&again).contains("1 already exist"), "{}", told(&again));
    assert_eq!(github.server.writes(), 2, "one comment and one review");
    github.assert_as_described();

    // In another directory of the repository, the line is not part of the change.
    let other = Github::with(Vec::new());
    let build = Build::new(&other.server.url(), &pull_request()).with_saved_report(Some(&fix));
    let elsewhere = build.run(&["github", "--report", "report.json", "--review", "--directory", "infra/"]);
    assert!(told(&elsewhere).contains("1 are for lines outside the change"), "{}", told(&elsewhere));
}

#[test]
fn a_comment_is_made_for_its_host_and_holds_no_token() {
    let build = Build::new("http://127.0.0.1:9", &pull_request()).with_saved_report(None);
    let file = build.directory.join("report.json");
    let report = fs::read_to_string(&file).unwrap();
    let leaked = format!("ghp_{}", "x".repeat(36));
    fs::write(&file, report.replace("aws_instance.chat", &format!("aws_instance.{leaked}"))).unwrap();
    let run = |host: &str| {
        let place = ["--repo", "acme/infra", "--pull-request", "7", "--api", "https://example.org"];
        let output = build.run(&[&[host, "--report", "report.json", "--dry-run"], &place[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let github = run("github");
    assert!(github.contains("<details>") && github.contains("(hidden)") && !github.contains(&leaked), "{github}");
    let bitbucket = run("bitbucket");
    assert!(!bitbucket.contains("<details>") && bitbucket.contains("**Unknown and assumed values"), "{bitbucket}");
}

#[test]
fn a_comment_leads_to_the_page() {
    const PAGE: &str = "https://github.com/acme/infra/actions/runs/1/artifacts/2";
    let build = Build::new("http://127.0.0.1:9", &pull_request()).with_saved_report(None);
    fs::copy(build.directory.join("report.json"), build.directory.join("short.json")).unwrap();
    // More findings than any host accepts, each in a separate file.
    for n in 0..400 {
        let text = SERVER.replace("chat", &format!("chat-{n}-{}", "x".repeat(150))).replace("TYPE", "p3.2xlarge");
        fs::write(build.directory.join(format!("after/{n}.tf")), text).unwrap();
    }
    let build = build.with_saved_report(None);
    let place = ["--repo", "acme/infra", "--pull-request", "7", "--api", "https://example.org", "--dry-run"];
    for (host, longest) in [("github", 65_536), ("bitbucket", 32_768), ("azure", 150_000)] {
        for report in [["--report", "short.json"], ["--report", "report.json"], ["--body", "report.md"]] {
            let output = build.run(&[&[host, "--page", PAGE], &report[..], &place[..]].concat());
            assert_eq!(output.status.code(), Some(0), "{}", told(&output));
            let body = String::from_utf8(output.stdout).unwrap();
            assert!(body.ends_with(&format!("\n\n[Full report]({PAGE})\n")), "{report:?}: {body}");
            let characters = body.chars().count();
            assert!(characters <= longest, "{host} takes {longest}, not {characters}");
            assert!(
                report[1] != "long.json" || (body.contains("more; the full report") && characters > 25_000),
                "{body}"
            );
        }
    }
}

#[test]
fn a_quiet_report_writes_no_first_comment() {
    let github = Github::with(Vec::new());
    let build = Build::new(&github.server.url(), &pull_request()).with_saved_report(None);
    fs::copy(build.directory.join("after/main.tf"), build.directory.join("before/main.tf")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["diff", "--base-dir", "../before", "--format", "json"]).current_dir(build.directory.join("after"));
    fs::write(build.directory.join("report.json"), command.output().unwrap().stdout).unwrap();
    assert!(told(&build.run(&["github", "--report", "report.json"])).starts_with("no comment needed"));
    assert_eq!(github.bodies().len(), 0);
    let report = fs::read_to_string(build.directory.join("report.json")).unwrap();
    let hostile = report.replace("\"as_of\": \"", "\"as_of\": \"](https://evil)");
    assert_ne!(hostile, report);
    for (text, message) in [
        (hostile.as_str(), "gpulint does not know the value"),
        ("{}", "not a report of gpulint"),
        ("[", "not a report"),
        ("{\"version\": 2}", "its version is 2"),
    ] {
        fs::write(build.directory.join("report.json"), text).unwrap();
        let output = build.run(&["github", "--report", "report.json"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(told(&output).contains(message), "{}", told(&output));
    }
}

/// A click on a suggestion must not write a token, or characters that a reviewer does not see.
#[test]
fn a_suggestion_with_a_token_or_hidden_characters_is_left_out() {
    let token = format!("  key = \"ghp_{}\"", "x".repeat(36));
    for line in [token.as_str(), "  a = \"\u{202e}x\"", "  a = \"\u{1b}[2J\""] {
        let github = Github::with(Vec::new());
        let fix = json!({ "path": "main.tf", "first_line": 2, "last_line": 2, "replacement": line });
        let build = Build::new(&github.server.url(), &pull_request()).with_saved_report(Some(&fix));
        let output = build.run(&["github", "--report", "report.json", "--review", "--directory="]);
        assert!(told(&output).ends_with("1 review notes posted\n"), "{}", told(&output));
        let notes = github.world.lock().unwrap().notes.clone();
        let note = notes[0]["body"].as_str().unwrap();
        assert!(
            note.contains("**old-generation**") && !note.contains("suggestion") && !note.contains("ghp_"),
            "{note}"
        );
        assert!(note.contains("Unsafe fix: the change affects how the workload runs."), "{note}");
    }
}
