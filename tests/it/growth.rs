//! Checks that time grows linearly with the text and not quadratically. Each case took minutes when one item was
//! searched among all of them.

use std::fs;
use std::process::{Command, Stdio};

use crate::action::sandbox::{GIT_ENVIRONMENT, Sandbox};

const MANY: usize = 6_000;

fn many(one: impl Fn(usize) -> String) -> String {
    (0..MANY).map(one).collect()
}

/// Returns the JSON of `check` for one file.
fn checked(name: &str, file: &str, text: &str) -> serde_json::Value {
    let sandbox = Sandbox::new(name);
    fs::write(sandbox.path(file), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["inspect", "--prices", "embedded"]).current_dir(sandbox.path(".")).envs(GIT_ENVIRONMENT);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn resources(document: &serde_json::Value) -> &Vec<serde_json::Value> {
    document["resources"].as_array().unwrap()
}

#[test]
fn groups_find_their_templates_by_name() {
    let text = many(|n| {
        format!(
            "resource \"aws_launch_template\" \"t{n}\" {{\n  name          = \"n{n}\"\n  instance_type = \"g5.xlarge\"\n}}\n\
             resource \"aws_autoscaling_group\" \"g{n}\" {{\n  max_size = 2\n  launch_template {{\n    name = \"n{n}\"\n  }}\n}}\n"
        )
    });
    let found = checked("growth-templates", "main.tf", &text);
    let groups = resources(&found).iter().filter(|it| it["kind"] == "aws_autoscaling_group");
    assert_eq!(groups.filter(|it| it["machine"]["value"] == "g5.xlarge").count(), MANY);
}

#[test]
fn resources_find_their_provider_by_name() {
    let text = many(|n| {
        format!(
            "provider \"aws\" {{\n  alias  = \"p{n}\"\n  region = \"eu-west-1\"\n}}\n\
             resource \"aws_instance\" \"a{n}\" {{\n  provider      = aws.p{n}\n  instance_type = \"g5.xlarge\"\n}}\n"
        )
    });
    let found = checked("growth-providers", "main.tf", &text);
    let here = resources(&found).iter().filter(|it| it["region"]["value"] == "eu-west-1").count();
    assert_eq!(here, MANY);
}

#[test]
fn pods_find_their_class_of_priority_by_name() {
    let text = many(|n| {
        format!(
            "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: c{n}}}\nvalue: {n}\n---\n\
             apiVersion: v1\nkind: Pod\nmetadata: {{name: p{n}}}\nspec:\n  priorityClassName: c{n}\n  \
             containers: [{{name: a, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]\n---\n"
        )
    });
    let found = checked("growth-classes", "a.yaml", &text);
    let own = resources(&found).iter().filter(|pod| {
        let class = pod["facts"]["priority"]["value"].as_str().unwrap_or_default();
        let linked = pod["links"].as_array().unwrap().iter().map(|link| link["to"].as_str().unwrap_or_default());
        pod["address"] == format!("Pod/p{}", class.trim_start_matches('c'))
            && linked.collect::<Vec<_>>() == [format!("PriorityClass/{class}")]
    });
    assert_eq!(own.count(), MANY);
}

/// Returns the factor of processor time for four times as much input: 4 if each item is visited once, 16 if all are
/// compared with all. Waiting on a busy machine does not count.
#[cfg(unix)]
fn growth(take: impl Fn(usize) -> Command) -> f64 {
    let seconds = |things: usize| -> f64 {
        let measured = take(things);
        let mut shell = Command::new("bash");
        shell.args(["-c", "TIMEFORMAT='%U %S'; time \"$0\" \"$@\" >/dev/null 2>/dev/null"]).arg(measured.get_program());
        shell.args(measured.get_args()).current_dir(measured.get_current_dir().unwrap()).envs(GIT_ENVIRONMENT);
        let output = shell.env("LC_ALL", "C").stdin(Stdio::null()).output().unwrap();
        let times = String::from_utf8(output.stderr).unwrap();
        times.split_whitespace().map(|time| time.parse::<f64>().unwrap()).sum()
    };
    seconds(4 * MANY) / seconds(MANY).max(0.01)
}

/// Between 4 and 16: four times as much, plus a margin for other work on the machine.
const MOST_GROWTH: f64 = 9.0;

fn run_in(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).args(["--prices", "embedded"]).current_dir(sandbox.path("."));
    command
}

fn plan(changes: usize) -> String {
    let one = |n: usize| {
        format!(
            r#"{{"address":"aws_instance.a{n}","mode":"managed","type":"aws_instance","name":"a{n}","change":{{"actions":["create"],"before":null,"after":{{"instance_type":"g5.xlarge"}},"after_unknown":{{}}}}}}"#
        )
    };
    let changes: Vec<String> = (0..changes).map(one).collect();
    format!(
        r#"{{"format_version":"1.2","terraform_version":"1.11.4","planned_values":{{"root_module":{{}}}},"resource_changes":[{}],"configuration":{{"root_module":{{}}}}}}"#,
        changes.join(",")
    )
}

#[test]
fn a_plan_in_one_line_is_read_once() {
    let found = checked("growth-plan", "plan.json", &plan(MANY));
    let machines = resources(&found).iter().filter(|it| it["machine"]["value"] == "g5.xlarge").count();
    assert_eq!(machines, MANY);
    #[cfg(unix)]
    {
        let sandbox = Sandbox::new("growth-plans");
        let grown = growth(|changes| {
            let name = format!("{changes}.json");
            fs::write(sandbox.path(&name), plan(changes)).unwrap();
            run_in(&sandbox, &["inspect", &name])
        });
        assert!(grown < MOST_GROWTH, "a plan of four times the length takes {grown:.1} times as long");
    }
}

#[cfg(unix)]
#[test]
fn a_mapping_of_many_keys_is_read_in_time_that_grows_with_it() {
    let sandbox = Sandbox::new("growth-keys");
    let grown = growth(|keys| {
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}\ndata:\n";
        let name = format!("{keys}.yaml");
        let keys: String = (0..keys * 4).map(|n| format!("  k{n}: {n}\n")).collect();
        fs::write(sandbox.path(&name), format!("{pod}{keys}")).unwrap();
        run_in(&sandbox, &["inspect", &name])
    });
    assert!(grown < MOST_GROWTH, "a mapping of four times the keys takes {grown:.1} times as long");
}

#[test]
fn a_message_looks_at_as_much_as_its_condition() {
    let sandbox = Sandbox::new("growth-budgets");
    let (teams, machines) = (40, 4_000);
    let budgets: String = (0..teams).map(|n| format!("[[budgets]]\nteam = \"t{n}\"\nmonthly_usd = 1\n")).collect();
    fs::write(sandbox.path("gpulint.toml"), format!("select = [\"exceeded-budget\"]\n{budgets}")).unwrap();
    let text: String = (0..machines)
        .map(|n| format!("resource \"aws_instance\" \"a{n}\" {{\n  instance_type = \"g5.xlarge\"\n  tags = {{ team = \"t{}\" }}\n}}\n", n % teams))
        .collect();
    fs::write(sandbox.path("main.tf"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["--format", "concise", "--prices", "embedded"]).current_dir(sandbox.path(".")).envs(GIT_ENVIRONMENT);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        said.contains("error[exceeded-budget] team t0 costs $73,438/month, $73,437 over its budget of $1.00"),
        "{said:.300}"
    );
}

#[cfg(unix)]
#[test]
fn a_repository_is_walked_through_once_for_all_files_that_are_named() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}\n";
    let sandboxes = std::cell::RefCell::new(Vec::new());
    let grown = growth(|files| {
        let files = files / 16;
        let sandbox = Sandbox::new(&format!("growth-named-{files}"));
        fs::create_dir_all(sandbox.path(".git")).unwrap();
        let names: Vec<String> = (0..files).map(|n| format!("d{n}/a.yaml")).collect();
        for name in &names {
            fs::create_dir_all(sandbox.path(name).parent().unwrap()).unwrap();
            fs::write(sandbox.path(name), pod).unwrap();
        }
        let mut command = run_in(&sandbox, &["--format", "concise"]);
        command.args(&names);
        sandboxes.borrow_mut().push(sandbox);
        command
    });
    assert!(grown < MOST_GROWTH, "four times the files take {grown:.1} times as long");
}

/// Each edit reads its document, which is the whole file here.
#[test]
fn a_list_in_one_line_with_something_to_change_in_each_item_ends() {
    let sandbox = Sandbox::new("growth-list");
    let job = |n: usize| {
        format!(
            r#"{{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"t{n}"}},"spec":{{"template":{{"spec":{{"nodeSelector":{{"cloud.google.com/gke-accelerator":"nvidia-h100-80gb"}},"containers":[{{"name":"a","image":"pytorch/pytorch","command":["torchrun","--nproc_per_node=8","t.py"],"resources":{{"limits":{{"nvidia.com/gpu":8}}}}}}]}}}}}}}}"#
        )
    };
    let items: Vec<String> = (0..250).map(job).collect();
    fs::write(sandbox.path("a.json"), format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, items.join(",")))
        .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["--format", "json", "--prices", "embedded"]).current_dir(sandbox.path(".")).envs(GIT_ENVIRONMENT);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("too many changes: run the fix again for the rest"), "{said:.2000}");
}

#[test]
fn thousands_of_new_machines_are_compared_by_their_places() {
    let sandbox = Sandbox::new("new-machines");
    for side in ["before", "after"] {
        fs::create_dir_all(sandbox.path(side)).unwrap();
    }
    fs::write(sandbox.path("before/main.tf"), "locals {}\n").unwrap();
    let machines = many(|n| format!("resource \"aws_instance\" \"x{n}\" {{\n  instance_type = \"p5.48xlarge\"\n}}\n"));
    fs::write(sandbox.path("after/main.tf"), machines).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(["diff", "--prices", "embedded", "--base-dir", "before", "after", "--format", "outputs"]);
    let output = command.current_dir(sandbox.path(".")).envs(GIT_ENVIRONMENT).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("monthly-delta=241075200.00"), "{said}");
}
