//! Runs the steps of `action.yml` like a GitHub runner: with its environment, files and order.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::expression::{expand, holds};

/// The place and the event of a run.
pub(super) struct Runner {
    pub(super) workspace: PathBuf,
    pub(super) temp: PathBuf,
    /// Variables for every step, in addition to those of the runner.
    pub(super) environment: BTreeMap<String, String>,
    pub(super) event: Value,
    pub(super) inputs: BTreeMap<String, String>,
    /// The address of an uploaded artifact; `None` if the upload is refused.
    pub(super) artifact: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Run {
    /// Names of the steps that ran, in order. Actions of other authors are only recorded.
    pub(super) steps: Vec<String>,
    pub(super) failed: Option<String>,
    pub(super) outputs: BTreeMap<String, String>,
    pub(super) log: String,
    pub(super) summary: String,
}

pub(super) fn action() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml");
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

impl Runner {
    pub(super) fn run(&self) -> Run {
        let action = action();
        let mut run = Run::default();
        let mut path = std::env::var("PATH").unwrap();
        let mut context = self.context(&action);
        fs::create_dir_all(&self.temp).unwrap();
        fs::write(self.temp.join("event.json"), self.event.to_string()).unwrap();
        for (index, step) in action["runs"]["steps"].as_array().unwrap().iter().enumerate() {
            let name = step["name"].as_str().unwrap();
            let wanted = step["if"].as_str().is_none_or(|condition| holds(condition, &context));
            // A condition that does not mention the status runs only if no step failed.
            if run.failed.is_some() || !wanted {
                continue;
            }
            run.steps.push(name.to_owned());
            if let Some(uses) = step["uses"].as_str() {
                let outputs = self.others(uses, &step["with"], &context);
                if let Some(id) = step["id"].as_str() {
                    context["steps"][id] = json!({ "outputs": outputs });
                }
                continue;
            }
            let files = Files::new(&self.temp, index);
            let (code, log) = self.step(step, &context, &path, &files);
            run.log.push_str(&log);
            run.summary.push_str(&files.read("summary"));
            for added in files.read("path").lines() {
                path = format!("{added}:{path}");
            }
            let set = files.outputs();
            if let Some(id) = step["id"].as_str() {
                context["steps"][id] = json!({ "outputs": set });
            }
            if code != 0 && step["continue-on-error"] != true {
                run.failed = Some(name.to_owned());
            }
        }
        let described = action["outputs"].as_object().unwrap();
        run.outputs = described
            .iter()
            .map(|(name, it)| (name.clone(), expand(it["value"].as_str().unwrap(), &context)))
            .collect();
        run
    }

    /// Returns the effect of another author's action with these inputs.
    fn others(&self, uses: &str, with: &Value, context: &Value) -> Value {
        let given = |name: &str| expand(with[name].as_str().unwrap(), context);
        let is_page = uses.starts_with("actions/upload-artifact@");
        let file = PathBuf::from(given(if is_page { "path" } else { "sarif_file" }));
        assert!(file.is_file(), "{uses} has nothing to upload");
        if !is_page {
            return json!({});
        }
        // Without an archive, the artifact has the name of its file. The artifact to replace is searched under the
        // other name.
        assert_eq!((given("archive"), given("overwrite")), ("false".to_owned(), "true".to_owned()));
        assert_eq!(file.file_name().unwrap().to_str().unwrap(), given("name"));
        json!({ "artifact-url": self.artifact })
    }

    fn context(&self, action: &Value) -> Value {
        let github = json!({
            "action_path": env!("CARGO_MANIFEST_DIR"),
            // The runner leaves this empty in the steps of an action, although the documentation differs.
            "action_repository": "",
            "token": self.environment["GITHUB_TOKEN_OF_JOB"],
            "event": self.event,
        });
        let mut context = json!({ "github": github, "steps": {}, "inputs": {} });
        for (name, input) in action["inputs"].as_object().unwrap() {
            let default = || expand(input["default"].as_str().unwrap(), &context);
            let value = self.inputs.get(name).cloned().unwrap_or_else(default);
            context["inputs"][name] = json!(value);
        }
        for name in self.inputs.keys() {
            assert!(action["inputs"].get(name).is_some(), "`{name}` is no input of the action");
        }
        context
    }

    fn step(&self, step: &Value, context: &Value, path: &str, files: &Files) -> (i32, String) {
        assert_eq!(step["shell"], "bash");
        fs::write(files.file("script.sh"), step["run"].as_str().unwrap()).unwrap();
        let directory = step["working-directory"].as_str().map_or(String::new(), |it| expand(it, context));
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(files.file("script.sh"));
        command.current_dir(self.workspace.join(directory)).env_clear().envs(&self.environment);
        command.env_remove("GITHUB_TOKEN_OF_JOB").env("PATH", path).env("RUNNER_TEMP", &self.temp);
        command.env("GITHUB_ACTIONS", "true").env("CI", "true").env("GITHUB_WORKSPACE", &self.workspace);
        command.env("GITHUB_EVENT_PATH", self.temp.join("event.json"));
        for (name, file) in [("OUTPUT", "output"), ("PATH", "path"), ("STEP_SUMMARY", "summary"), ("ENV", "env")] {
            command.env(format!("GITHUB_{name}"), files.file(file));
        }
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            command.env(name, expand(value.as_str().unwrap(), context));
        }
        let output = command.output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code().unwrap_or(-1), said)
    }
}

/// The files through which a step passes values to the runner.
struct Files {
    directory: PathBuf,
}

impl Files {
    fn new(temp: &Path, index: usize) -> Self {
        let directory = temp.join(format!("_runner_file_commands/{index}"));
        fs::create_dir_all(&directory).unwrap();
        for name in ["output", "path", "summary", "env"] {
            fs::write(directory.join(name), "").unwrap();
        }
        Files { directory }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    fn outputs(&self) -> BTreeMap<String, String> {
        let text = self.read("output");
        text.lines()
            .map(|line| line.split_once('=').unwrap())
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }
}
