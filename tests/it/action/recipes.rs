//! Runs every step of the workflows in `docs/ci/github-examples.md`, each in a suitable repository.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::expression::expand;
use super::runner::{Run, action};
use super::sandbox::{Files, Sandbox};
use super::{CLEAN, Situation, wasteful};
use crate::fences;
use crate::skipped::skip;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ci/github-examples.md");

/// Returns the code blocks of this language below a heading of the page.
fn below(heading: &str, language: &str) -> String {
    let page = fs::read_to_string(PAGE).unwrap();
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("there is no {heading}"));
    let section = section.split("\n## ").next().unwrap();
    let mut fences = fences::read(section);
    fences.retain(|fence| fence.language == language);
    assert_eq!(fences.len(), 1, "{heading}: {language}");
    fences.remove(0).text
}

/// One use of the Action in a workflow, for each cell of its matrix.
struct Asked {
    step: Value,
    /// The matrix cell of this run.
    cell: Value,
}

fn asked(workflow: &Value) -> Vec<Asked> {
    let mut all = Vec::new();
    for (_, job) in workflow["jobs"].as_object().unwrap() {
        let matrix = &job["strategy"]["matrix"];
        let cells: Vec<Value> = match matrix.as_object() {
            None => vec![json!({})],
            Some(matrix) if matrix.contains_key("include") => matrix["include"].as_array().unwrap().clone(),
            Some(matrix) => {
                let (name, values) = matrix.iter().next().unwrap();
                values.as_array().unwrap().iter().map(|value| json!({ name: value })).collect()
            }
        };
        for step in job["steps"].as_array().unwrap() {
            if step["uses"].as_str().is_some_and(|uses| uses.starts_with("gpulint/gpulint@")) {
                all.extend(cells.iter().map(|cell| Asked { step: step.clone(), cell: cell.clone() }));
            }
        }
    }
    assert!(!all.is_empty());
    all
}

impl Asked {
    /// Runs the Action with the inputs of this run.
    fn run(&self, situation: &mut Situation) -> Run {
        let context = json!({ "matrix": self.cell });
        situation.runner.inputs.clear();
        for (name, value) in self.step["with"].as_object().into_iter().flatten() {
            situation.runner.inputs.insert(name.clone(), expand(value.as_str().unwrap(), &context));
        }
        situation.run()
    }
}

fn workflow(heading: &str) -> Value {
    serde_saphyr::from_str(&below(heading, "yaml")).unwrap()
}

/// Runs all jobs of a workflow on a pull request.
fn runs(heading: &str, base: Files, change: Files) -> (Vec<Run>, Situation) {
    let mut situation = Situation::new(base, change, &[]);
    let runs = asked(&workflow(heading)).iter().map(|asked| asked.run(&mut situation)).collect();
    (runs, situation)
}

fn failed(runs: &[Run]) -> Vec<bool> {
    runs.iter()
        .map(|run| {
            assert!(run.failed.is_none() || run.failed.as_deref() == Some("Decide"), "{}", run.log);
            run.failed.is_some()
        })
        .collect()
}

#[test]
fn each_project_of_a_monorepo_speaks_for_itself() {
    let base = [("search/a.tf", CLEAN), ("ranking/a.tf", CLEAN)];
    let (runs, situation) = runs("A monorepo", &base, &[("search/a.tf", &wasteful())]);
    assert_eq!(failed(&runs), [true, false], "{}", runs[1].log);
    let bodies = situation.github.bodies();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert!(bodies[0].contains("tag=search"), "{bodies:?}");
    assert!(runs[0].outputs["report-html"].ends_with("gpulint-search.html"));
}

#[test]
fn each_environment_may_fail_at_a_level_of_its_own() {
    let (dev, prod) = ("live/development/a.tf", "live/production/a.tf");
    let module = "variable \"name\" {}\n";
    let base = [(dev, CLEAN), (prod, CLEAN), ("modules/pool/variables.tf", module)];
    let (runs, situation) = runs("Several environments", &base, &[(dev, &wasteful()), (prod, &wasteful())]);
    assert_eq!(failed(&runs), [false, true], "{} {}", runs[0].log, runs[1].log);
    assert_ne!(runs[0].outputs["new-findings"], "0", "it is told, and does not fail");
    assert_eq!(situation.github.bodies().len(), 2, "a comment for each");
}

#[test]
fn code_scanning_gets_its_file_and_lines_their_notes() {
    let (runs, situation) = runs("A comment, and code scanning", &[("a.tf", CLEAN)], &[("a.tf", &wasteful())]);
    assert_eq!(failed(&runs), [true]);
    assert!(runs[0].steps.contains(&"Upload to code scanning".to_owned()), "{:?}", runs[0].steps);
    assert_eq!(situation.github.bodies().len(), 1);
    assert!(
        situation.github.server.asked().iter().any(|asked| asked.contains("/pulls/7/comments")),
        "lines are asked for"
    );
    let workflow = workflow("A comment, and code scanning");
    assert!(workflow["on"]["push"]["branches"].is_array(), "code scanning compares with the branch");
}

#[test]
fn a_label_approves_in_the_workflow_that_the_page_gives() {
    let heading = "Approval by a label";
    let settings = format!("select = [\"needs-approval\"]\n{}", below(heading, "toml"));
    let machine = "resource \"aws_instance\" \"big\" {\n  instance_type = \"p4d.24xlarge\"\n}\n";
    let base = [("gpulint.toml", settings.as_str()), ("a.tf", CLEAN)];
    let mut situation = Situation::new(&base, &[("b.tf", machine)], &[]);
    let workflow = workflow(heading);
    let types = workflow["on"]["pull_request"]["types"].as_array().unwrap();
    assert!(["labeled", "unlabeled", "synchronize"].iter().all(|it| types.contains(&json!(it))), "{types:?}");
    let all = asked(&workflow);
    assert_eq!(failed(&[all[0].run(&mut situation)]), [true]);
    situation.runner.event["pull_request"]["labels"] = json!([{ "name": "gpu-approved" }]);
    assert_eq!(failed(&[all[0].run(&mut situation)]), [false]);
}

#[test]
fn a_trial_tells_and_stops_nobody() {
    let heading = "Comment only, never fail";
    let (runs, situation) = runs(heading, &[("a.tf", CLEAN)], &[("a.tf", &wasteful())]);
    assert_eq!(failed(&runs), [true], "the step has failed,");
    assert!(asked(&workflow(heading)).iter().all(|it| it.step["continue-on-error"] == true), "and the job goes on");
    assert_eq!(situation.github.bodies().len(), 1);
}

/// Every workflow on every page uses existing inputs, and has the permissions that they need.
#[test]
fn workflows_have_the_permissions_that_their_inputs_need() {
    let mut count = 0;
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ci");
    let all: Vec<_> = fs::read_dir(directory).unwrap().map(|it| it.unwrap().path()).collect();
    for page in all.iter().filter(|path| path.extension().is_some_and(|it| it == "md")) {
        for fence in fences::read(&fs::read_to_string(page).unwrap()).iter().filter(|it| it.language == "yaml") {
            let workflow: Value = serde_saphyr::from_str(&fence.text).unwrap();
            if !workflow["jobs"].is_object() || !fence.text.contains("gpulint/gpulint@") {
                continue;
            }
            count += 1;
            let may_write = |what: &str| workflow["permissions"][what] == "write";
            assert_eq!(workflow["permissions"]["contents"], "read", "{}", page.display());
            for Asked { step, .. } in asked(&workflow) {
                let given = |name: &str| {
                    let default = &action()["inputs"][name]["default"];
                    step["with"].get(name).unwrap_or(default).as_str().unwrap().to_owned()
                };
                assert_eq!(given("comment") == "true", may_write("pull-requests"), "{}", page.display());
                assert_eq!(given("upload-sarif") == "true", may_write("security-events"), "{}", page.display());
            }
        }
    }
    assert!(count >= 7, "only {count} workflows");
}

/// Checks the workflows of the pages with actionlint, if it is installed.
#[test]
fn actionlint_has_nothing_to_say_of_the_examples() {
    if Command::new("actionlint").arg("-version").output().is_err() {
        return skip("actionlint is not there");
    }
    let sandbox = Sandbox::new("actionlint");
    for heading in fs::read_to_string(PAGE).unwrap().lines().filter_map(|line| line.strip_prefix("## ")) {
        let file = sandbox.path("workflow.yml");
        fs::write(&file, below(heading, "yaml")).unwrap();
        let said = Command::new("actionlint").arg("-no-color").arg(&file).output().unwrap();
        assert!(said.status.success(), "{heading}: {}", String::from_utf8_lossy(&said.stdout));
    }
}
