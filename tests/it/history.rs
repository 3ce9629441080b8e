//! Tests `gpulint history` and `gpulint blame` in all kinds of repositories: the cost of a point equals the cost of a
//! checkout.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox, git, write};

/// `p5.48xlarge` is the more expensive machine at any price.
fn pool(name: &str, machine: &str, count: usize) -> String {
    format!(
        "resource \"aws_eks_node_group\" \"{name}\" {{\n  cluster_name   = \"main\"\n  instance_types = [\"{machine}\"]\n  \
         tags           = {{ team = \"research\" }}\n  scaling_config {{\n    min_size     = {count}\n    \
         desired_size = {count}\n    max_size     = {count}\n  }}\n}}\n"
    )
}

struct Repository {
    sandbox: Sandbox,
    directory: PathBuf,
    clock: std::cell::Cell<i64>,
}

const DAY: i64 = 86_400;

impl Repository {
    fn new() -> Self {
        let sandbox = Sandbox::new("history");
        let directory = sandbox.path("work");
        fs::create_dir_all(&directory).unwrap();
        git(&directory, &["init", "--quiet", "--initial-branch=main"]);
        // 2026-01-01
        Repository { sandbox, directory, clock: std::cell::Cell::new(20_454 * DAY) }
    }

    /// Commits one day after the previous commit.
    fn commit(&self, files: &[(&str, &str)], message: &str) -> String {
        write(&self.directory, files);
        git(&self.directory, &["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        git(&self.directory, &["rev-parse", "HEAD"])
    }

    fn git(&self, arguments: &[&str]) {
        self.clock.set(self.clock.get() + DAY);
        let time = format!("{} +0000", self.clock.get());
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.directory).envs(GIT_ENVIRONMENT);
        let output = command.env("GIT_AUTHOR_DATE", &time).env("GIT_COMMITTER_DATE", &time).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn clone(&self, options: &[&str]) -> PathBuf {
        let copy = self.sandbox.path("copy");
        let from = format!("file://{}", self.directory.display());
        let mut arguments = vec!["-c", "protocol.file.allow=always", "clone", "--quiet"];
        arguments.extend(options);
        git(&self.directory, &[&arguments[..], &[&from, copy.to_str().unwrap()]].concat());
        copy
    }

    fn run(&self, directory: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.current_dir(directory).envs(GIT_ENVIRONMENT).env("NO_COLOR", "1");
        command.env("GPULINT_CACHE_DIR", self.sandbox.path("cache")).args(arguments);
        let output = command.args(["--prices", "embedded", "--today", "2026-11-22"]).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn told(&self, directory: &Path, arguments: &[&str]) -> String {
        let (code, told, said) = self.run(directory, arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        told
    }

    fn json(&self, directory: &Path, arguments: &[&str]) -> Value {
        let told = self.told(directory, &[arguments, &["--format", "json"]].concat());
        let value: Value = serde_json::from_str(&told).unwrap();
        let name = arguments[0];
        if ["history", "blame"].contains(&name) {
            let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(format!("{name}.json"));
            let schema = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
            let validator = jsonschema::validator_for(&schema).unwrap();
            let wrong: Vec<String> =
                validator.iter_errors(&value).map(|it| format!("{}: {it}", it.instance_path)).collect();
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
        value
    }

    fn history(&self, options: &[&str]) -> Value {
        self.json(&self.directory, &[&["history"], options].concat())
    }

    /// Checks that the cost of each point equals the cost of its checkout, and returns the number of comparisons.
    fn equals_checkouts(&self, history: &Value) -> usize {
        let place = self.sandbox.path("checkout");
        git(&self.directory, &["worktree", "add", "--quiet", "--force", "--detach", place.to_str().unwrap()]);
        let mut compared = 0;
        for point in history["points"].as_array().unwrap() {
            if point["bill"].is_null() {
                continue;
            }
            git(&place, &["checkout", "--quiet", "--detach", point["commit"].as_str().unwrap()]);
            let mut cost = self.json(&place, &["cost", "--allow-empty", "--no-config"]);
            // A point does not list the unknown parts.
            for sum in cost["bill"].as_object_mut().unwrap().values_mut().filter_map(Value::as_object_mut) {
                sum.remove("open");
            }
            for sum in ["rented", "requested", "combined", "attached", "unpriced"] {
                assert_eq!(point["bill"][sum], cost["bill"][sum], "{sum} of {}", point["subject"]);
            }
            let count = cost["not_judged"].as_array().unwrap().len();
            assert_eq!(point["bill"]["not_judged"]["count"], count, "{}", point["subject"]);
            compared += 1;
        }
        git(&self.directory, &["worktree", "remove", "--force", place.to_str().unwrap()]);
        compared
    }
}

fn rented(point: &Value) -> f64 {
    point["bill"]["rented"]["expected"].as_f64().unwrap()
}

/// Returns `(kind, address)` of all changes of a step.
fn changes(step: &Value) -> Vec<(String, String)> {
    let all = step["changes"].as_array().unwrap().iter();
    let address = |it: &Value| {
        let side = if it["after"].is_null() { &it["before"] } else { &it["after"] };
        side["address"].as_str().unwrap().to_owned()
    };
    all.map(|it| (it["kind"].as_str().unwrap().to_owned(), address(it))).collect()
}

fn kinds(history: &Value) -> Vec<Vec<(String, String)>> {
    history["steps"].as_array().unwrap().iter().map(changes).collect()
}

fn one(kind: &str, address: &str) -> Vec<(String, String)> {
    vec![(kind.to_owned(), address.to_owned())]
}

const TRAIN: &str = "aws_eks_node_group.train";
const SERVE: &str = "aws_eks_node_group.serve";

/// Creates a branch with a few events of each kind.
fn eventful() -> (Repository, Vec<String>) {
    let repository = Repository::new();
    let train = pool("train", "p4d.24xlarge", 1);
    let mut ids = vec![
        repository.commit(&[("README.md", "hello\n")], "begin"),
        repository.commit(&[("infra/main.tf", &train)], "add training"),
        repository.commit(&[("README.md", "hello again\n"), ("notes.txt", "nothing\n")], "write"),
        repository.commit(&[("infra/main.tf", &pool("train", "p4d.24xlarge", 2))], "double it"),
    ];
    repository.git(&["revert", "--no-edit", "HEAD"]);
    ids.push(git(&repository.directory, &["rev-parse", "HEAD"]));
    git(&repository.directory, &["checkout", "--quiet", "-b", "serving"]);
    repository.commit(&[("serve/main.tf", &pool("serve", "g5.xlarge", 1))], "try serving");
    repository.commit(&[("serve/main.tf", &pool("serve", "g5.xlarge", 3))], "serve more");
    git(&repository.directory, &["checkout", "--quiet", "main"]);
    repository.git(&["merge", "--quiet", "--no-ff", "--message", "Merge branch 'serving'", "serving"]);
    ids.push(git(&repository.directory, &["rev-parse", "HEAD"]));
    git(&repository.directory, &["mv", "infra", "platform"]);
    ids.push(repository.commit(&[], "rename the folder"));
    (repository, ids)
}

#[test]
fn every_point_is_what_a_checkout_of_it_costs() {
    let (repository, ids) = eventful();
    git(&repository.directory, &["tag", "v1", &ids[1]]);
    git(&repository.directory, &["tag", "-a", "-m", "second", "v2", &ids[1]]);
    let history = repository.history(&[]);
    let points = history["points"].as_array().unwrap();
    let commits: Vec<&str> = points.iter().map(|it| it["commit"].as_str().unwrap()).collect();
    assert_eq!(commits, ids, "first parents, the oldest first");
    assert_eq!(points[1]["tags"], serde_json::json!(["v1", "v2"]));
    assert_eq!(repository.equals_checkouts(&history), ids.len());
    let expected = vec![
        one("added", TRAIN),
        one("changed", TRAIN),
        one("changed", TRAIN),
        one("added", SERVE),
        one("moved", TRAIN),
    ];
    assert_eq!(kinds(&history), expected);
    let merge = &points[5];
    assert_eq!(merge["pull_request"], Value::Null);
    let by = &history["steps"][3]["changes"][0]["merged"];
    assert_eq!((by["author"].as_str(), by["subject"].as_str()), (Some("test"), Some("serve more")));
    assert_eq!(rented(&points[1]), rented(&points[2]));
    assert!(rented(&points[3]) > rented(&points[4]) && rented(&points[4]) > 0.0);
    assert_eq!(history["settings"], format!("those of {}", &ids[6][..10]));
}

/// A pod with accelerators.
fn pod(name: &str, count: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  nodeSelector: {{node.kubernetes.io/instance-type: \
         p4d.24xlarge}}\n  containers:\n    - name: main\n      image: x\n      resources: {{limits: {{nvidia.com/gpu: {count}}}}}\n"
    )
}

/// Each state takes from the one before what did not change: modules, roots, scans and parsed documents. A change can
/// reach a file through a module, an overlay, a variable file or a link.
#[test]
fn states_that_share_files_cost_what_their_checkouts_cost() {
    let repository = Repository::new();
    let module = |count: usize| format!("variable \"machine\" {{}}\n{}", pool("m", "${var.machine}", count));
    let call = "variable \"machine\" {\n  default = \"p4d.24xlarge\"\n}\nmodule \"m\" {\n  source  = \"../modules/m\"\n  \
                machine = var.machine\n}\n";
    let kustomization = "resources: [../base]\nreplicas: []\n";
    repository.commit(
        &[
            ("modules/m/main.tf", &module(1)),
            ("a/main.tf", call),
            ("b/main.tf", call),
            ("base/kustomization.yaml", "resources: [pod.yaml]\n"),
            ("base/pod.yaml", &pod("p", 1)),
            ("over/kustomization.yaml", kustomization),
        ],
        "begin",
    );
    std::os::unix::fs::symlink("base", repository.directory.join("linked")).unwrap();
    std::os::unix::fs::symlink("../shared.tfvars", repository.directory.join("a/x.auto.tfvars")).unwrap();
    repository.commit(&[], "add links");
    let steps: [(&str, &[(&str, &str)]); 9] = [
        ("change a module", &[("modules/m/main.tf", &module(2))]),
        ("change a base", &[("base/pod.yaml", &pod("p", 2))]),
        ("add behind a link", &[("shared.tfvars", "machine = \"g5.xlarge\"\n")]),
        ("change behind a link", &[("shared.tfvars", "machine = \"p5.48xlarge\"\n")]),
        ("add to a directory", &[("base/more.yaml", &pod("q", 1)), ("b/more.tf", &pool("n", "g5.xlarge", 1))]),
        ("use it", &[("base/kustomization.yaml", "resources: [pod.yaml, more.yaml]\n")]),
        ("break a file", &[("modules/m/main.tf", "resource \"")]),
        ("change another", &[("b/more.tf", &pool("n", "g5.xlarge", 4))]),
        ("mend it", &[("modules/m/main.tf", &module(3))]),
    ];
    for (message, files) in steps {
        repository.commit(files, message);
    }
    fs::remove_file(repository.directory.join("shared.tfvars")).unwrap();
    repository.commit(&[], "remove behind a link");
    repository.git(&["revert", "--no-edit", "HEAD"]);
    let history = repository.history(&[]);
    let count = history["points"].as_array().unwrap().len();
    assert_eq!(count, 13);
    assert!(repository.equals_checkouts(&history) >= count - 2, "all but the broken states");
    assert!(kinds(&history).len() >= 8, "{:?}", kinds(&history));
}

#[test]
fn what_is_kept_changes_nothing_and_what_was_torn_is_computed_again() {
    let (repository, _) = eventful();
    let cache = repository.sandbox.path("cache");
    let told = || repository.told(&repository.directory, &["history", "--format", "json"]);
    let first = told();
    assert_eq!(told(), first);
    let kept = || -> Vec<PathBuf> {
        let repositories = fs::read_dir(cache.join("history")).unwrap();
        repositories.flat_map(|it| fs::read_dir(it.unwrap().path()).unwrap()).map(|it| it.unwrap().path()).collect()
    };
    let before: Vec<PathBuf> = kept();
    assert!(before.len() >= 5, "{before:?}");
    for (place, path) in before.iter().enumerate() {
        let text = fs::read_to_string(path).unwrap();
        let hostile = match place % 5 {
            0 => text.get(..text.len() / 2).unwrap().to_owned(),
            1 => String::new(),
            2 => text.replace(char::is_numeric, "9"),
            3 => format!("{}\n{{\"As\":\"../../../etc/passwd\"}}", "0".repeat(64)),
            _ => "[".repeat(100_000),
        };
        fs::write(path, hostile).unwrap();
    }
    assert_eq!(told(), first, "after everything that is kept was spoilt");
    for path in kept() {
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
    }
    assert_eq!(told(), first, "where nothing can be kept");
    fs::remove_dir_all(&cache).unwrap();
    assert_eq!(told(), first);
}

#[test]
fn other_settings_and_another_day_are_other_points() {
    let (repository, _) = eventful();
    let before = repository.history(&[]);
    let discount = "[prices.discount]\naws = 0.5\n";
    repository.commit(&[("gpulint.toml", discount)], "agree on a discount");
    let after = repository.history(&[]);
    for (was, is) in before["points"].as_array().unwrap().iter().zip(after["points"].as_array().unwrap()) {
        assert!(
            (rented(was) / 2.0 - rented(is)).abs() < 0.01,
            "today's settings hold for all commits: {}",
            is["subject"]
        );
    }
    // Uncommitted settings have no effect.
    fs::write(repository.directory.join("gpulint.toml"), "[prices.discount]\naws = 0.9\n").unwrap();
    assert_eq!(repository.history(&[]), after);
    let own = repository.history(&["--no-config"]);
    assert_eq!(rented(&own["points"][1]), rented(&before["points"][1]));
}

#[test]
fn a_commit_that_cannot_be_read_is_a_gap_and_no_fall() {
    let repository = Repository::new();
    let train = pool("train", "p4d.24xlarge", 1);
    repository.commit(&[("main.tf", &train), ("other/main.tf", &pool("other", "g5.xlarge", 1))], "add");
    repository.commit(&[("main.tf", &train.replace("scaling_config {", "scaling_config {{"))], "break");
    repository.commit(&[("README.md", "still broken\n")], "write");
    repository.commit(&[("main.tf", &train)], "mend");
    let history = repository.history(&[]);
    let points = history["points"].as_array().unwrap();
    let gaps: Vec<&Value> = points.iter().map(|it| &it["gap"]).collect();
    assert_eq!(gaps[0], &Value::Null);
    assert_eq!(gaps[1], "`main.tf` cannot be read at this commit");
    assert_eq!(gaps[2], "`main.tf` cannot be read at this commit");
    assert!(points[1]["bill"].is_null() && points[2]["bill"].is_null());
    assert_eq!(rented(&points[3]), rented(&points[0]));
    assert_eq!(history["steps"].as_array().unwrap().len(), 1, "{}", history["steps"]);
    assert_eq!(repository.equals_checkouts(&history), 2);
    let text = repository.told(&repository.directory, &["history"]);
    assert!(text.contains("not readable: 2 commits"), "{text}");
    // The newest one is no zero either.
    repository.commit(&[("main.tf", "resource {{{\n")], "break again");
    let text = repository.told(&repository.directory, &["history"]);
    assert!(text.lines().next().unwrap().contains("the commits after it could not be read"), "{text}");
}

#[test]
fn a_file_that_stays_broken_hides_nothing_elsewhere() {
    let repository = Repository::new();
    repository.commit(&[("a/main.tf", &pool("a", "g5.xlarge", 1)), ("b/values.yaml", "a: b\n")], "add");
    repository.commit(&[("b/values.yaml", "a: [\n")], "break data");
    repository.commit(&[("a/main.tf", &pool("a", "g5.xlarge", 2))], "grow");
    let history = repository.history(&[]);
    assert!(history["points"].as_array().unwrap().iter().all(|it| it["gap"].is_null()), "{}", history["points"]);
    assert_eq!(kinds(&history).len(), 2);
}

#[test]
fn dates_never_go_back() {
    let repository = Repository::new();
    repository.commit(&[("main.tf", &pool("a", "g5.xlarge", 1))], "first");
    let later = repository.clock.get();
    repository.clock.set(later - 400 * DAY);
    repository.commit(&[("main.tf", &pool("a", "g5.xlarge", 2))], "by a clock that is wrong");
    repository.clock.set(later);
    repository.commit(&[("main.tf", &pool("a", "g5.xlarge", 3))], "third");
    let history = repository.history(&[]);
    let times: Vec<&str> =
        history["points"].as_array().unwrap().iter().map(|it| it["time"].as_str().unwrap()).collect();
    assert_eq!(times, ["2026-01-02T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]);
}

#[test]
fn days_and_ages_choose_the_points() {
    let repository = Repository::new();
    for count in 1..=20 {
        repository.commit(&[("main.tf", &pool("a", "g5.xlarge", count))], &format!("grow to {count}"));
    }
    let subjects = |options: &[&str]| -> Vec<String> {
        let history = repository.history(options);
        history["points"].as_array().unwrap().iter().map(|it| it["subject"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(subjects(&["--since", "2026-01-19"]), ["grow to 17", "grow to 18", "grow to 19", "grow to 20"]);
    // 2026-01-05 was a Monday: the first point, then the Sundays, then the newest.
    let weeks = ["grow to 1", "grow to 3", "grow to 10", "grow to 17", "grow to 20"];
    assert_eq!(subjects(&["--every", "week"]), weeks);
    assert_eq!(subjects(&["--every", "day"]).len(), 20);
    assert_eq!(subjects(&["--since", "30d"]), ["grow to 20"], "what there was before");
    assert_eq!(subjects(&["--since", "1y"]).len(), 20);
    let (code, _, said) = repository.run(&repository.directory, &["history", "--since", "yesterday"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("2w or 30d"), "{said}");
    let since = repository.history(&["--since", "2026-01-19"]);
    let before = repository.json(&repository.directory, &["blame", "--since", "2026-01-19"]);
    assert_eq!(since["from_the_first"], false);
    assert_eq!(before["resources"][0]["added"], Value::Null, "it was there before");
    assert_eq!(before["resources"][0]["since"]["subject"], "grow to 20");
}

#[test]
fn of_many_commits_those_that_changed_something_are_found() {
    let repository = Repository::new();
    let mut ids = Vec::new();
    for count in 0..40 {
        let machines = if count < 23 { 1 } else { 2 };
        let text = format!("# {count}\n{}", pool("a", "g5.xlarge", machines));
        ids.push(repository.commit(&[("main.tf", &text)], &format!("commit {count}")));
    }
    let history = repository.history(&["--points", "3"]);
    let points = history["points"].as_array().unwrap();
    assert!(points.len() < 12, "{}", points.len());
    assert_eq!(history["commits"], 40);
    let step = history["steps"].as_array().unwrap().last().unwrap();
    assert_eq!((step["commit"].as_str(), step["between"].as_u64()), (Some(&*ids[23]), Some(0)));
    let passed: u64 = points.iter().map(|it| it["passed_over"].as_u64().unwrap()).sum();
    assert_eq!(passed + points.len() as u64, 40);
    let blame = repository.json(&repository.directory, &["blame", "--points", "3"]);
    assert_eq!(blame["resources"][0]["since"]["commit"], ids[23].as_str());
    assert_eq!(blame["resources"][0]["added"]["commit"], ids[0].as_str());
}

#[test]
fn a_shallow_clone_says_where_it_begins() {
    let (repository, _) = eventful();
    let copy = repository.clone(&["--depth=2"]);
    let history = repository.json(&copy, &["history"]);
    assert_eq!(history["points"].as_array().unwrap().len(), 2);
    assert_eq!(history["from_the_first"], false);
    assert_eq!(kinds(&history), [one("moved", TRAIN)], "what was there at the beginning was brought by nobody");
    let note = history["notes"][0].as_str().unwrap();
    assert!(note.contains("shallow") && note.contains("--unshallow") && note.contains("fetch-depth: 0"), "{note}");
}

#[test]
fn a_partial_clone_has_gaps_and_says_what_to_do() {
    let (repository, _) = eventful();
    git(&repository.directory, &["config", "uploadpack.allowFilter", "true"]);
    repository.commit(&[("platform/main.tf", &pool("train", "p4d.24xlarge", 4))], "grow");
    let copy = repository.clone(&["--filter=blob:none"]);
    let history = repository.json(&copy, &["history"]);
    let points = history["points"].as_array().unwrap();
    assert!(points.last().unwrap()["gap"].is_null());
    assert_eq!(points[1]["gap"], "1 file is not in this clone");
    assert!(points.iter().all(|it| it["gap"].is_string() != it["bill"].is_object()));
    let note = history["notes"][0].as_str().unwrap();
    assert!(note.contains("git backfill") && note.contains("--refetch"), "{note}");
    // Nothing was fetched, so nothing is cached.
    let again = repository.json(&copy, &["history"]);
    assert_eq!(again, history);
    git(&copy, &["-c", "protocol.file.allow=always", "fetch", "--quiet", "--refetch", "--no-filter", "origin"]);
    let whole = repository.json(&copy, &["history"]);
    assert!(whole["points"].as_array().unwrap().iter().all(|it| it["gap"].is_null()));
}

#[test]
fn no_commit_and_no_repository_are_told() {
    let repository = Repository::new();
    let (code, _, said) = repository.run(&repository.directory, &["history"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("the repository has no commit yet"), "{said}");
    repository.commit(&[("README.md", "a\n")], "nothing of ours");
    let history = repository.history(&[]);
    assert_eq!(history["points"][0]["bill"]["rented"]["expected"], 0);
    assert!(repository.told(&repository.directory, &["history"]).starts_with("no accelerators found\n"));
    let outside = std::env::temp_dir();
    let (code, _, said) = repository.run(&outside, &["history"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("git repository"), "{said}");
}

#[test]
fn only_what_is_named_is_told() {
    let (repository, _) = eventful();
    let below = repository.history(&["serve"]);
    assert_eq!(kinds(&below), [one("added", SERVE)]);
    let file = repository.history(&["serve/main.tf"]);
    assert_eq!(kinds(&file), [one("added", SERVE)]);
    let inside = repository.json(&repository.directory.join("serve"), &["history"]);
    assert_eq!(kinds(&inside), [one("added", SERVE)]);
    assert_eq!(inside["resources"][0]["path"], "main.tf");
}

#[test]
fn each_dollar_is_blamed_on_the_commit_that_brought_it() {
    let (repository, ids) = eventful();
    let blame = repository.json(&repository.directory, &["blame"]);
    let told: Vec<(&str, &str, &str)> = blame["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let id = |key: &str| it[key]["commit"].as_str().unwrap();
            (it["address"].as_str().unwrap(), id("since"), id("added"))
        })
        .collect();
    // The number was doubled and halved again, and then the resource was only moved.
    assert_eq!(told, [(TRAIN, &*ids[4], &*ids[1]), (SERVE, &*ids[5], &*ids[5])]);
    let one = repository.json(&repository.directory, &["blame", SERVE]);
    assert_eq!(one["resources"].as_array().unwrap().len(), 1);
    let one = repository.json(&repository.directory, &["blame", "platform/main.tf"]);
    assert_eq!(one["resources"][0]["address"], TRAIN);
    let text = repository.told(&repository.directory, &["blame"]);
    assert!(text.contains("added by 2 commits"), "{text}");
    let (code, _, said) = repository.run(&repository.directory, &["blame", "aws_instance.nothing"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("run `gpulint cost` to list"), "{said}");
}

/// Returns a machine whose type is a variable, with or without a default.
fn machine(default: &str) -> String {
    let default = if default.is_empty() { String::new() } else { format!("  default = \"{default}\"\n") };
    format!("variable \"machine\" {{\n  type = string\n{default}}}\n")
}

const LAB: &str = "resource \"google_compute_instance\" \"lab\" {\n  name = \"lab\"\n  zone = \"us-central1-a\"\n  machine_type = var.machine\n}\n";

fn since_and_added(blame: &Value) -> (&str, &str) {
    let id = |key: &str| blame["resources"][0][key]["commit"].as_str().unwrap_or("before");
    (id("since"), id("added"))
}

#[test]
fn a_cost_that_is_unknown_for_some_time_was_neither_removed_nor_added() {
    let repository = Repository::new();
    let first = repository.commit(&[("lab.tf", LAB), ("variables.tf", &machine("a2-highgpu-2g"))], "Add a lab");
    repository.clock.set(repository.clock.get() + 31 * DAY);
    repository.commit(&[("variables.tf", &machine(""))], "Let each stage choose its machine");
    repository.commit(&[("README.md", "a lab\n")], "Describe it");
    repository.clock.set(repository.clock.get() + 31 * DAY);
    repository.commit(&[("variables.tf", &machine("a2-highgpu-2g"))], "Tidy up");
    let history = repository.history(&[]);
    let lab = "google_compute_instance.lab";
    assert_eq!(kinds(&history), [one("added", lab), one("no-longer-known", lab), one("became-known", lab)]);
    for step in history["steps"].as_array().unwrap().iter().skip(1) {
        assert_eq!((&step["combined"]["expected"], &step["accelerators"]), (&0.into(), &0.into()), "{step}");
    }
    let text = repository.told(&repository.directory, &["history"]);
    assert!(!text.contains("-$") && !text.contains(" -2 "), "{text}");
    let line = text.lines().find(|it| it.contains('█')).unwrap();
    assert!(line.contains("█·") && line.contains("·█") && !line.contains('▁'), "{line}");
    let page = repository.told(&repository.directory, &["history", "--format", "html"]);
    assert!(page.contains("stroke-dasharray") && page.contains("A dashed line is a minimum"));
    let blame = repository.json(&repository.directory, &["blame"]);
    assert_eq!(since_and_added(&blame), (&*first, &*first), "it costs what it cost before");
    assert_eq!(repository.equals_checkouts(&history), 4);

    repository.commit(&[("variables.tf", &machine(""))], "Choose again");
    let larger = repository.commit(&[("variables.tf", &machine("a2-highgpu-4g"))], "Tidy up again");
    let blame = repository.json(&repository.directory, &["blame"]);
    assert_eq!(since_and_added(&blame), (&*larger, &*first));
    let cost = |blame: &Value| blame["resources"][0]["usd_per_month"]["expected"].as_f64().unwrap();
    let delta = blame["resources"][0]["since"]["delta_usd_per_month"].as_f64().unwrap();
    assert!((delta * 2.0 - cost(&blame)).abs() < 0.01, "half of it was there before: {delta}");
}

#[test]
fn what_becomes_known_was_declared_before() {
    let repository = Repository::new();
    repository.commit(&[("README.md", "soon\n")], "begin");
    let first = repository.commit(&[("lab.tf", LAB), ("variables.tf", &machine(""))], "Declare a lab");
    repository.commit(&[("README.md", "a lab\n")], "Describe it");
    let known = repository.commit(&[("variables.tf", &machine("a2-highgpu-1g"))], "Fix the variables");
    let blame = repository.json(&repository.directory, &["blame"]);
    assert_eq!(since_and_added(&blame), (&*known, &*first));
    assert_eq!(blame["resources"][0]["since"]["delta_usd_per_month"], Value::Null);
    let line = repository.told(&repository.directory, &["history"]);
    let line = line.lines().find(|it| it.contains('█')).unwrap();
    assert!(line.contains('▁') && line.contains("·█"), "nothing, then not known, then all: {line}");
    let since = repository.json(&repository.directory, &["blame", "--since", "2026-01-04"]);
    assert_eq!(since_and_added(&since), (&*known, "before"));
    let whole = repository.told(&repository.directory, &["history", "--since", "2026-01-05", "--format", "html"]);
    assert!(whole.contains("A dashed line is a minimum"), "the point before is one");
}

impl Repository {
    fn commit_as(&self, author: &str, files: &[(&str, &str)], message: &str) -> String {
        write(&self.directory, files);
        git(&self.directory, &["add", "--all"]);
        let author = format!("--author={author} <{author}@example.org>");
        self.git(&["commit", "--quiet", &author, "--message", message]);
        git(&self.directory, &["rev-parse", "HEAD"])
    }

    fn switch(&self, arguments: &[&str]) {
        git(&self.directory, &[&["checkout", "--quiet"], arguments].concat());
    }

    fn merge(&self, branch: &str, message: &str) -> String {
        self.git(&["merge", "--quiet", "--no-ff", "--message", message, branch]);
        git(&self.directory, &["rev-parse", "HEAD"])
    }
}

#[test]
fn a_merge_is_its_pull_request_and_the_commit_that_changed_each_resource() {
    let repository = Repository::new();
    repository.commit(&[("README.md", "hello\n"), ("serve/main.tf", &pool("serve", "g5.xlarge", 1))], "begin");
    repository.switch(&["-b", "pools"]);
    repository.commit_as("Mia", &[("notes.txt", "plan\n")], "Plan");
    // An unreadable file already contains the pool.
    let broken = pool("train", "p4d.24xlarge", 2).replace("scaling_config {", "scaling_config {{");
    let train = repository.commit_as("Ida", &[("train/main.tf", &broken)], "Two pools of eight");
    repository.commit_as("Tom", &[("train/main.tf", &pool("train", "p4d.24xlarge", 2))], "Correct a brace");
    let serve = repository.commit_as("Uwe", &[("serve/main.tf", &pool("serve", "g5.xlarge", 2))], "Serve twice");
    repository.commit_as("Tom", &[("train/main.tf", &format!("# ours\n{}", pool("train", "p4d.24xlarge", 2)))], "Nit");
    repository.switch(&["main"]);
    repository.commit(&[("README.md", "hello again\n")], "write");
    let merge = repository.merge("pools", "Merge pull request #31 from lab/pools\n\nTrain on our own machines");
    let history = repository.history(&[]);
    assert_eq!(history["points"].as_array().unwrap().len(), 3);
    let request = serde_json::json!({"name": "#31", "title": "Train on our own machines"});
    assert_eq!(history["points"][2]["pull_request"], request);
    let by =
        |id: &str, author: &str, subject: &str| serde_json::json!({"commit": id, "author": author, "subject": subject});
    let changes = &history["steps"][1]["changes"];
    assert_eq!(changes[0]["merged"], by(&train, "Ida", "Two pools of eight"));
    assert_eq!(changes[1]["merged"], by(&serve, "Uwe", "Serve twice"));
    let blame = repository.json(&repository.directory, &["blame"]);
    for (resource, branch) in blame["resources"].as_array().unwrap().iter().zip([&train, &serve]) {
        assert_eq!(resource["since"]["commit"], merge.as_str());
        assert_eq!(resource["since"]["merged"]["commit"], branch.as_str());
    }
    let told = format!("(Ida): #31 Train on our own machines ({}: Two pools of eight), +$", &train[..10]);
    for verb in ["history", "blame"] {
        let text = repository.told(&repository.directory, &[verb]);
        assert!(!text.contains("Nit") && !text.contains("Tom"), "{text}");
        assert!(text.contains("Ida") && text.contains("#31 Train on our own"), "{text}");
    }
    let text = repository.told(&repository.directory, &["history"]);
    assert!(text.lines().next().unwrap().contains(&told), "{text}");
    let csv = repository.told(&repository.directory, &["blame", "--format", "csv"]);
    let columns = |line: usize| csv.lines().nth(line).unwrap().split(',').count();
    assert_eq!(
        (columns(0), csv.lines().nth(1).unwrap().contains(&format!("{train},Ida,"))),
        (columns(1), true),
        "{csv}"
    );
    let verbose = repository.told(&repository.directory, &["history", "-v"]);
    assert!(verbose.contains(&format!("changed {SERVE}, by {} (Uwe)", &serve[..10])), "{verbose}");
    assert_eq!(repository.history(&[]), history, "what is kept changes nothing");
    // The branch is not in a shallow clone, so it is not reported.
    let copy = repository.clone(&["--depth=1"]);
    let shallow = repository.json(&copy, &["history"]);
    assert_eq!((shallow["points"].as_array().unwrap().len(), &shallow["steps"]), (1, &serde_json::json!([])));
}

#[test]
fn a_merge_without_a_pull_request_is_itself_and_what_nobody_of_the_branch_changed_is_the_merges() {
    let repository = Repository::new();
    repository.commit(&[("main.tf", &pool("a", "g5.xlarge", 1)), ("n.tf", "# n\n")], "begin");
    repository.switch(&["-b", "docs"]);
    repository.commit_as("Mia", &[("n.tf", "# m\n")], "Docs");
    repository.switch(&["main"]);
    // The merge commit has another number than both parents.
    repository.git(&["merge", "--quiet", "--no-ff", "--no-commit", "docs"]);
    repository.commit_as("Kim", &[("main.tf", &pool("a", "g5.xlarge", 3))], "Merge branch 'docs'");
    repository.switch(&["-b", "more"]);
    let more = repository.commit_as("Lea", &[("main.tf", &pool("a", "g5.xlarge", 4))], "One more");
    repository.commit_as("Tom", &[("n.tf", "# o\n")], "Nit");
    repository.switch(&["main"]);
    repository.merge("more", "Merge branch 'more' into 'main'\n\nSee merge request ml/infra!8");
    let history = repository.history(&[]);
    assert_eq!(history["points"][1]["pull_request"], Value::Null);
    assert_eq!(history["steps"][1]["changes"][0]["merged"], Value::Null, "no commit of the branch did it");
    assert_eq!(history["points"][2]["pull_request"], serde_json::json!({"name": "!8", "title": null}));
    let text = repository.told(&repository.directory, &["history"]);
    assert!(text.contains("Kim     Merge branch 'docs'"), "{text}");
    assert!(text.contains(&format!("Lea     !8 ({}: One more)", &more[..10])), "{text}");
}

#[test]
fn names_and_subjects_are_somebody_elses_text() {
    let repository = Repository::new();
    repository.commit(&[("main.tf", &pool("a", "g5.xlarge", 1))], "first");
    write(&repository.directory, &[("main.tf", &pool("a", "g5.xlarge", 2))]);
    git(&repository.directory, &["add", "--all"]);
    let subject = format!("=cmd() \u{1b}[2J\u{202e} ::error::x ##[error]y <script> {}", "long ".repeat(200_000));
    let file = repository.sandbox.path("message");
    fs::write(&file, &subject).unwrap();
    let author = "--author==1+1 \u{1b}]0;owned\u{7} \"a\" <evil@example.org>";
    repository.git(&["commit", "--quiet", author, "--file", file.to_str().unwrap()]);
    // The same in a branch, and in the title of its pull request.
    repository.switch(&["-b", "branch"]);
    write(&repository.directory, &[("main.tf", &pool("a", "g5.xlarge", 3))]);
    git(&repository.directory, &["add", "--all"]);
    repository.git(&["commit", "--quiet", author, "--file", file.to_str().unwrap()]);
    repository.switch(&["main"]);
    repository.merge("branch", "to be replaced");
    fs::write(&file, format!("Merge pull request #1 from a/b\n\n{subject}")).unwrap();
    repository.git(&["commit", "--quiet", "--amend", author, "--file", file.to_str().unwrap()]);
    let title = repository.history(&[])["points"][2]["pull_request"]["title"].as_str().unwrap().to_owned();
    assert!(title.starts_with("=cmd()") && title.len() < 500, "{}", title.len());
    for format in ["text", "csv", "json", "html"] {
        for verb in ["history", "blame"] {
            if (verb, format) == ("blame", "html") {
                continue;
            }
            let told = repository.told(&repository.directory, &[verb, "--format", format]);
            let is_hostile = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!told.chars().any(is_hostile), "{verb} {format}");
            assert!(!told.lines().any(|it| it.trim_start().starts_with("::") || it.contains("##[error]")), "{told}");
            assert!(told.len() < 40_000, "{verb} {format}: {}", told.len());
            assert!(!told.contains("evil@example.org"), "no address of anybody");
        }
    }
    let csv = repository.told(&repository.directory, &["history", "--format", "csv"]);
    assert!(csv.lines().nth(2).unwrap().contains("\"'=cmd()"), "{csv}");
    assert_eq!(csv.lines().count(), 4);
}

#[test]
fn the_answer_comes_first_and_plain_text_has_no_drawing() {
    let (repository, ids) = eventful();
    let text = repository.told(&repository.directory, &["history"]);
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("GPU cost $") && first.contains(" more than on 2026-01-02"), "{text}");
    assert!(first.contains(&format!("largest change by {}", &ids[1][..10])), "{text}");
    assert!(text.contains('█'));
    let plain = repository.told(&repository.directory, &["history", "--plain"]);
    assert!(!plain.contains('█') && !plain.contains('≥'), "{plain}");
    let verbose = repository.told(&repository.directory, &["history", "-v", "--all"]);
    assert!(verbose.contains("  moved aws_eks_node_group.train"), "{verbose}");
}

#[test]
fn neither_the_work_tree_nor_the_index_is_touched() {
    let (repository, _) = eventful();
    let here = &repository.directory;
    write(here, &[("staged.tf", "locals {}\n"), ("untracked.tf", "locals {}\n")]);
    git(here, &["add", "staged.tf"]);
    git(here, &["status"]);
    let state = || {
        let read = |path: &str| fs::read(here.join(path)).unwrap();
        (read(".git/index"), read(".git/HEAD"), git(here, &["for-each-ref"]))
    };
    let before = state();
    repository.history(&[]);
    assert_eq!(state(), before);
}

/// Creates a branch with this many commits, each with another number of machines.
fn many(repository: &Repository, count: usize) {
    use std::fmt::Write;
    let mut stream = String::new();
    for nth in 1..=count {
        let message = format!("commit {nth}");
        let time = 1_767_225_600 + nth * 3_600;
        let _ = write!(
            stream,
            "commit refs/heads/main\ncommitter test <test@example.org> {time} +0000\ndata {}\n{message}\n",
            message.len()
        );
        let mut files = vec![("main.tf", pool("a", "g5.xlarge", nth))];
        if nth == 1 {
            files.push(("gpulint.toml", "[bounds]\nseconds = 2\n".to_owned()));
        }
        for (path, text) in files {
            let _ = write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len());
        }
    }
    let place = repository.sandbox.path("stream");
    fs::write(&place, stream).unwrap();
    let mut command = Command::new("git");
    command.args(["fast-import", "--quiet"]).current_dir(&repository.directory).envs(GIT_ENVIRONMENT);
    assert!(command.stdin(fs::File::open(place).unwrap()).status().unwrap().success());
}

#[test]
fn when_the_time_is_over_what_is_left_is_told_as_between() {
    let repository = Repository::new();
    many(&repository, 2_000);
    let history = repository.history(&[]);
    assert_eq!(history["commits"], 2_000);
    let points = history["points"].as_array().unwrap();
    let passed: u64 = points.iter().map(|it| it["passed_over"].as_u64().unwrap()).sum();
    assert_eq!(passed + points.len() as u64, 2_000);
    assert_eq!(points.last().unwrap()["subject"], "commit 2000", "what it costs now is known whatever happens");
    if passed > 0 {
        let notes = history["notes"].to_string();
        assert!(notes.contains(&format!("{passed} commits were not evaluated")), "{notes}");
        assert!(history["steps"].as_array().unwrap().iter().any(|it| it["between"].as_u64() > Some(0)));
    }
    // Results are cached, so that each run continues from the previous one.
    let again = repository.history(&[]);
    assert!(again["points"].as_array().unwrap().len() >= points.len());
}
