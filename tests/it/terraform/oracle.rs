//! Calls the `terraform` on the path, if there is one.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;

use crate::skipped::skip;

/// Returns Terraform or else OpenTofu. If neither is installed, the test is reported as skipped.
pub(super) fn program() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&'static str>> = OnceLock::new();
    let works = |program: &&str| Command::new(program).arg("version").output().is_ok_and(|it| it.status.success());
    let found = *FOUND.get_or_init(|| ["terraform", "tofu"].into_iter().find(works));
    if found.is_none() {
        skip("neither terraform nor tofu is installed, nothing is compared with it");
    }
    found
}

/// Returns `terraform show -json` of a plan for these files; `Err` has Terraform's errors.
pub(super) fn plan(files: &[(String, String)]) -> Option<Result<Json, String>> {
    run(files, false)
}

/// Returns the same for the state after the plan was applied.
pub(super) fn apply(files: &[(String, String)]) -> Option<Result<Json, String>> {
    run(files, true)
}

/// Returns the names of its functions.
pub(super) fn functions() -> Option<Vec<String>> {
    let program = program()?;
    let directory = Scratch::new();
    let mut command = Command::new(program);
    command.current_dir(&directory.0).args(["metadata", "functions", "-json"]);
    std::fs::write(directory.0.join("none.tfrc"), "").unwrap();
    command.env("TF_CLI_CONFIG_FILE", directory.0.join("none.tfrc")).env("CHECKPOINT_DISABLE", "1");
    let output = command.output().unwrap().stdout;
    let json: Json = serde_json::from_slice(&output).unwrap();
    Some(json["function_signatures"].as_object().unwrap().keys().cloned().collect())
}

fn run(files: &[(String, String)], apply: bool) -> Option<Result<Json, String>> {
    let program = program()?;
    let directory = Scratch::new();
    for (path, text) in files {
        let path = directory.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.current_dir(&directory.0).args(arguments);
        command.env("TF_CLI_CONFIG_FILE", directory.0.join("none.tfrc")).env("CHECKPOINT_DISABLE", "1");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned();
        if output.status.success() { Ok(output.stdout) } else { Err(said) }
    };
    std::fs::write(directory.0.join("none.tfrc"), "").unwrap();
    let nested = files.iter().any(|(path, text)| path.contains(".tf") && text.contains("\nmodule \""));
    let planned = if nested { run(&["init", "-input=false", "-no-color"]) } else { Ok(Vec::new()) };
    let planned =
        planned.and_then(|_| run(&["plan", "-input=false", "-no-color", "-refresh=false", "-lock=false", "-out=plan"]));
    let shown = match apply {
        true => planned
            .and_then(|_| run(&["apply", "-input=false", "-no-color", "-lock=false", "plan"]))
            .and_then(|_| run(&["show", "-json"])),
        false => planned.and_then(|_| run(&["show", "-json", "plan"])),
    };
    Some(shown.map(|json| serde_json::from_slice(&json).unwrap()))
}

/// A temporary directory.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("gpulint-terraform-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
