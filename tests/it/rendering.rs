//! Tests charts and kustomizations with `--render`, in `tests/rendering`. A `helm` or `kustomize` block names the
//! rendered directory and has gpulint's output. The output of the program itself must give the same facts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::Place;
use crate::fences;
use crate::skipped::skip;

#[test]
fn rendered_text_leads_back_to_what_people_wrote() {
    let mut skipped = Vec::new();
    fences::hold("tests/rendering", |text| check(text, &mut skipped));
    if !skipped.is_empty() {
        let programs = BTreeSet::from_iter(&skipped).into_iter().map(String::as_str).collect::<Vec<_>>();
        skip(&format!("{} renderings: {} is not installed", skipped.len(), programs.join(", ")));
    }
}

fn check(case: &str, skipped: &mut Vec<String>) -> String {
    let all = fences::read(case);
    let place = Place::new();
    for fence in all.iter().filter(|fence| !is_rendering(fence)) {
        place.write(fence.file.as_deref().unwrap(), &fence.text);
    }
    let mut checked = case.to_owned();
    for fence in all.iter().filter(|fence| is_rendering(fence)).collect::<Vec<_>>().iter().rev() {
        let directory = fence.file.as_deref().unwrap();
        let (name, program) = match fence.language.as_str() {
            "helm" => ("helm", installed("helm")),
            _ => ("kubectl", installed("kubectl")),
        };
        let Some(program) = program else {
            skipped.push(name.to_owned());
            continue;
        };
        let path = format!("{}:/nowhere", program.parent().unwrap().display());
        let told = place.document(&["inspect", "--no-config", "--render", directory], &path, None);
        let printed = place.printed(&program, name, directory);
        let piped = place.document(&["inspect", "--no-config", "-"], &path, Some(&printed));
        assert_eq!(facts(&told), facts(&piped), "{directory} tells something else than {name} prints");
        checked = fences::replaced(&checked, fence, &places(&told));
    }
    checked
}

fn is_rendering(fence: &fences::Fence) -> bool {
    matches!(fence.language.as_str(), "helm" | "kustomize")
}

/// Returns the program on the search path, or where Go installs programs.
fn installed(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join("go/bin"));
    std::env::split_paths(&path).chain(home).map(|it| it.join(name)).find(|it| it.is_file())
}

impl Place {
    fn document(&self, arguments: &[&str], path: &str, input: Option<&str>) -> Value {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--allow-empty", "--prices", "embedded"]).collect();
        serde_json::from_str(&self.run_with(&arguments, path, input)).unwrap()
    }

    fn printed(&self, program: &Path, name: &str, directory: &str) -> String {
        if name == "helm" {
            self.pack(program, Path::new(directory));
        }
        let mut command = Command::new(program);
        match name {
            // Releases have the names of their charts.
            "helm" => {
                command.args(["template", &release(&self.directory().join(directory)), directory, "--skip-tests"])
            }
            _ => command.args(["kustomize", directory]),
        };
        let output = command.current_dir(self.directory()).env("KUBECONFIG", "/dev/null").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Packs charts into a chart where Helm looks for them, the innermost first.
    fn pack(&self, helm: &Path, chart: &Path) {
        let about = fs::read_to_string(self.directory().join(chart).join("Chart.yaml")).unwrap();
        let beside: Vec<&str> =
            about.lines().filter_map(|line| line.trim().strip_prefix("repository: file://")).collect();
        if beside.is_empty() {
            return;
        }
        beside.iter().for_each(|path| self.pack(helm, &chart.join(path)));
        let packed = Command::new(helm).args(["dependency", "build"]).arg(chart).current_dir(self.directory()).output();
        assert!(packed.unwrap().status.success());
    }
}

fn release(chart: &Path) -> String {
    let about = fs::read_to_string(chart.join("Chart.yaml")).unwrap();
    about.lines().find_map(|line| line.strip_prefix("name: ")).unwrap().to_owned()
}

/// Returns the reported facts without places: values and their names.
fn facts(document: &Value) -> Vec<String> {
    let mut all: Vec<String> = document["resources"].as_array().unwrap().iter().map(told).collect();
    all.sort();
    all
}

fn told(resource: &Value) -> String {
    let mut text = format!("{} {}", resource["address"], resource["count"]);
    for (name, fact) in named(resource) {
        write!(text, " {name}={}{}", fact["value"], fact["unknown"]).unwrap();
    }
    text
}

fn named(resource: &Value) -> impl Iterator<Item = (String, &Value)> {
    let own = ["accelerator", "accelerator_count", "model", "machine", "purchase"];
    let own = own.into_iter().map(|name| (name.to_owned(), &resource[name]));
    let others = resource["facts"].as_object().unwrap().iter().map(|(name, fact)| (name.clone(), fact));
    own.chain(others).filter(|(_, fact)| !fact.is_null())
}

/// Returns the place of each fact.
fn places(document: &Value) -> String {
    let mut text = String::new();
    let at = |it: &Value| format!("{}:{}", it["path"].as_str().unwrap(), it["line"]);
    for resource in document["resources"].as_array().unwrap() {
        let count = &resource["count"];
        let (address, count) = (resource["address"].as_str().unwrap(), &count["expected"]);
        writeln!(text, "{address} {} × {count}", at(resource)).unwrap();
        for (name, fact) in named(resource) {
            writeln!(text, "  {name} = {} {}", fact["value"], at(fact)).unwrap();
        }
        for link in resource["links"].as_array().unwrap() {
            writeln!(text, "  {} → {} {}", link["kind"].as_str().unwrap(), link["to"].as_str().unwrap(), at(link))
                .unwrap();
        }
    }
    for skipped in document["skipped"].as_array().unwrap() {
        writeln!(text, "{}: {}", skipped["path"].as_str().unwrap(), skipped["reason"].as_str().unwrap()).unwrap();
    }
    text
}

/// Charts with packed subcharts give the result of Helm, however the subcharts were packed.
#[test]
fn charts_in_archives_are_rendered_as_helm_renders_them() {
    let Some(helm) = installed("helm") else { return skip("helm is not installed") };
    let sandbox = crate::action::sandbox::Sandbox::new("packed");
    let here = sandbox.path("work");
    let template = "kind: Pod\nmetadata: { name: {{ .Release.Name }}-a }\nspec:\n  gpus: {{ .Values.gpus }}\n";
    crate::action::sandbox::write(
        &here,
        &[
            ("inner/Chart.yaml", "apiVersion: v2\nname: inner\nversion: 0.1.0\n"),
            ("inner/values.yaml", "gpus: 2\n"),
            ("inner/templates/pod.yaml", template),
            (
                "outer/Chart.yaml",
                "apiVersion: v2\nname: outer\nversion: 0.1.0\ndependencies: [{ name: inner, version: 0.1.0, repository: 'https://example.com' }]\n",
            ),
            ("outer/values.yaml", "inner: { gpus: 5 }\n"),
            ("outer/templates/pod.yaml", &template.replace(".Values.gpus", ".Values.inner.gpus")),
        ],
    );
    let ran = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(&here).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    ran(&helm, &["package", "inner", "--destination", "outer/charts"]);
    fs::remove_dir_all(here.join("inner")).unwrap();
    let documents = |text: String| {
        let mut documents: Vec<String> = text.split("---\n").map(|it| it.trim().to_owned()).collect();
        documents.sort();
        documents
    };
    let theirs = documents(ran(&helm, &["template", "outer", "outer"]));
    let ours = documents(ran(Path::new(env!("CARGO_BIN_EXE_gpulint")), &["template", "outer"]));
    assert_eq!(ours, theirs);
    assert!(theirs.iter().any(|it| it.contains("gpus: 5") && it.contains("charts/inner")), "{theirs:?}");
}
