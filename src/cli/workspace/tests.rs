//! Tests that results after any edits, in any order, equal those of a full check, byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::report::{self, Format, ReportStyle};

/// A temporary directory that is deleted when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("gpulint-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path.canonicalize().unwrap())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn asked(directory: &Path) -> WorkspaceOptions {
    let today = Some("2026-11-21".parse().unwrap());
    let prices = Some("embedded".into());
    let input = InputArguments {
        paths: vec![directory.to_owned()],
        today,
        prices,
        allow_empty: true,
        ..InputArguments::default()
    };
    WorkspaceOptions { input, ..WorkspaceOptions::default() }
}

/// Returns all results: the JSON report, and the cost of each resource with its reasons.
fn full_report(judged: &JudgedTree) -> String {
    let report = judged.session.report(&judged.analysis, &judged.findings);
    let told = report::render(Format::Json, &report, ReportStyle::default()).unwrap_or_default();
    let costs = report::cost(Format::Json, &report, ReportStyle::default()).unwrap_or_default();
    format!("{told}\n{costs}")
}

fn files(of: &Scratch) {
    let pool = "variable \"machine\" { default = \"g5.2xlarge\" }\nvariable \"n\" { default = 2 }\n\
                module \"pool\" {\n  source = \"../modules/pool\"\n  machine = var.machine\n  n = var.n\n}\n";
    let module = "variable \"machine\" {}\nvariable \"n\" {}\nresource \"aws_instance\" \"a\" {\n  count = var.n\n  \
                  instance_type = var.machine\n  tags = { team = \"vision\" }\n  user_data = file(\"${path.module}/start.sh\")\n}\n";
    for root in ["one", "two", "three"] {
        of.write(&format!("{root}/main.tf"), pool);
        of.write(&format!("{root}/terraform.tfvars"), "n = 3\n");
    }
    of.write("modules/pool/main.tf", module);
    of.write("modules/pool/start.sh", "#!/bin/sh\nvllm serve meta-llama/Llama-3.1-8B-Instruct\n");
    let pod = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: serve\nspec:\n  replicas: 2\n  template:\n    spec:\n      \
               nodeSelector:\n        node.kubernetes.io/instance-type: g5.2xlarge\n      containers:\n        - name: a\n          \
               image: vllm/vllm-openai:v0.6\n          args: [\"--model\", \"meta-llama/Llama-3.1-8B-Instruct\"]\n          \
               resources:\n            limits:\n              nvidia.com/gpu: 1\n";
    of.write("apps/serve.yaml", pod);
    of.write("apps/kustomization.yaml", "resources: [serve.yaml]\nnamespace: prod\n");
    of.write("chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 0.1.0\n");
    of.write("chart/values.yaml", "gpus: 2\n");
    of.write("chart/templates/job.yaml", &pod.replace("nvidia.com/gpu: 1", "nvidia.com/gpu: {{ .Values.gpus }}"));
    let stack = "AWSTemplateFormatVersion: '2010-09-09'\nParameters:\n  Machine:\n    Type: String\n    Default: g5.2xlarge\nResources:\n  \
                 Box:\n    Type: AWS::EC2::Instance\n    Properties:\n      InstanceType: !Ref Machine\n";
    of.write("stacks/box.yaml", stack);
    of.write("gpulint.toml", "[rules.missing-labels]\nlevel = \"error\"\n");
    of.write("README.md", "# nothing\n");
}

const EDITED: [&str; 13] = [
    "stacks/box.yaml",
    "one/main.tf",
    "two/main.tf",
    "one/terraform.tfvars",
    "modules/pool/main.tf",
    "modules/pool/start.sh",
    "apps/serve.yaml",
    "apps/kustomization.yaml",
    "chart/values.yaml",
    "chart/templates/job.yaml",
    "gpulint.toml",
    "one/new.tf",
    "apps/new.yaml",
];

const PIECES: [&str; 16] = [
    "g5.2xlarge",
    "p5.48xlarge",
    "g4dn.xlarge",
    "\n",
    "}",
    "{",
    "3",
    "0",
    "resource \"aws_instance\" \"b\" {\n  instance_type = \"p4d.24xlarge\"\n}\n",
    "# gpulint: ignore[missing-labels] -- known\n",
    "nvidia.com/gpu: 8\n",
    "  ",
    "team",
    "level = \"warning\"\n",
    "---\n",
    "é",
];

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most.max(1) as u64).unwrap_or_default()
    }

    /// Returns a text after a random edit: a piece is inserted, deleted or replaced.
    fn edit(&mut self, text: &str) -> String {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let start = self.below(places.len());
        let end = (start + self.below(12)).min(places.len() - 1);
        let piece = PIECES[self.below(PIECES.len())];
        let (start, end) = (places[start], places[end]);
        match self.below(3) {
            0 => format!("{}{piece}{}", &text[..start], &text[start..]),
            1 => format!("{}{}", &text[..start], &text[end..]),
            _ => format!("{}{piece}{}", &text[..start], &text[end..]),
        }
    }
}

/// Returns a number from a variable: `GPULINT_EDITS` is the number of edits, and `GPULINT_SEED` starts the random
/// numbers.
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

#[test]
fn after_any_edits_the_same_is_said_as_by_a_run_from_nothing() {
    let scratch = Scratch::new("edits");
    files(&scratch);
    let mut random = Random(number("GPULINT_SEED", 7) * 2_654_435_769 + 1);
    let mut workspace = Workspace::new(asked(&scratch.0)).unwrap();
    let mut taken = 0;
    for round in 0..number("GPULINT_EDITS", 120) {
        let path = EDITED[random.below(EDITED.len())];
        let on_disk = fs::read_to_string(scratch.0.join(path)).ok();
        let now = workspace.texts.get(path).map(|it| String::from_utf8(it.clone()).unwrap());
        let text = random.edit(&now.or(on_disk.clone()).unwrap_or_default());
        match random.below(12) {
            0 => workspace.set(path, None),
            1 => {
                // In this case, the editor saves the file.
                workspace.set(path, Some(text.clone().into_bytes()));
                scratch.write(path, &text);
                workspace.refresh();
            }
            2 if path.contains("new") => {
                workspace.set(path, None);
                let _ = fs::remove_file(scratch.0.join(path));
                workspace.refresh();
            }
            3 => {
                // In this case, another program changes the file, with another modification time.
                scratch.write(path, &text);
                let file = fs::File::options().write(true).open(scratch.0.join(path)).unwrap();
                let later = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + round);
                file.set_modified(later).unwrap();
                workspace.refresh();
            }
            4 => files(&scratch),
            _ => workspace.set(path, Some(text.into_bytes())),
        }
        if random.below(5) == 0 {
            workspace.refresh();
        }
        if random.below(9) == 0 && workspace.has_drifted() {
            let _ = workspace.keep_as_base();
        }
        if random.below(12) == 0 {
            // The original files are restored now and then. Otherwise, every file would become noise.
            workspace.texts.clear();
            files(&scratch);
        }
        workspace.refresh();
        let was_base = workspace.base.as_ref().map(|it| Arc::as_ptr(&it.judged));
        let now = workspace.judge();
        let mut fresh = Workspace::new(asked(&scratch.0)).unwrap();
        fresh.texts.clone_from(&workspace.texts);
        let wanted = fresh.judge();
        match (now, wanted) {
            (Ok(now), Ok(wanted)) => {
                taken += usize::from(was_base == workspace.base.as_ref().map(|it| Arc::as_ptr(&it.judged)));
                assert_eq!(full_report(&now), full_report(&wanted), "round {round}, {path}");
            }
            (Err(_), Err(_)) => {}
            (now, _) => {
                panic!("round {round}, {path}: only one of both can be judged, the edited one: {}", now.is_ok())
            }
        }
    }
    // Some rounds must reuse the base, or the test would compare only full checks.
    assert!(taken > 0);
}

#[test]
fn a_keystroke_evaluates_only_the_roots_that_see_it() {
    let scratch = Scratch::new("roots");
    files(&scratch);
    let mut workspace = Workspace::new(asked(&scratch.0)).unwrap();
    let before = workspace.judge().unwrap();
    let text = fs::read_to_string(scratch.0.join("one/main.tf")).unwrap().replace("g5.2xlarge", "p5.48xlarge");
    workspace.set("one/main.tf", Some(text.into_bytes()));
    let after = workspace.judge().unwrap();
    let shared = &before.session.cache.terraform;
    assert_eq!(shared.times_taken(), 2);
    assert_ne!(full_report(&before), full_report(&after));
    assert!(Arc::ptr_eq(&workspace.base.as_ref().unwrap().judged, &before));
    // The earlier content is not evaluated again.
    workspace.set("one/main.tf", None);
    assert!(Arc::ptr_eq(&workspace.judge().unwrap(), &before));
}

#[test]
fn what_nobody_reads_is_not_read_because_an_editor_has_it() {
    let scratch = Scratch::new("ignored");
    files(&scratch);
    scratch.write(".gitignore", "left/\n");
    fs::create_dir_all(scratch.0.join(".git")).unwrap();
    let text = "resource \"aws_instance\" \"x\" {\n  instance_type = \"p5.48xlarge\"\n}\n";
    scratch.write("left/main.tf", text);
    let mut workspace = Workspace::new(asked(&scratch.0)).unwrap();
    let before = full_report(&workspace.judge().unwrap());
    workspace.set("left/main.tf", Some(text.into()));
    assert_eq!(full_report(&workspace.judge().unwrap()), before);
    workspace.set("fresh/main.tf", Some(text.into()));
    assert!(full_report(&workspace.judge().unwrap()).contains("fresh/main.tf"));
}

/// The Terraform function `fileset` finds this file, although gpulint does not read it.
#[test]
fn what_comes_beside_the_texts_is_seen() {
    let scratch = Scratch::new("beside");
    scratch.write(
        "main.tf",
        "resource \"aws_instance\" \"a\" {\n  instance_type = \"p5.48xlarge\"\n  count = length(fileset(path.module, \"*.flag\"))\n}\n",
    );
    let mut workspace = Workspace::new(asked(&scratch.0)).unwrap();
    let before = full_report(&workspace.judge().unwrap());
    scratch.write("one.flag", "");
    assert!(workspace.refresh());
    let after = full_report(&workspace.judge().unwrap());
    assert_ne!(before, after);
    // The results of an edited state depend on the file, too.
    let text = fs::read_to_string(scratch.0.join("main.tf")).unwrap() + "# edited\n";
    workspace.set("main.tf", Some(text.into_bytes()));
    workspace.judge().unwrap();
    scratch.write("two.flag", "");
    workspace.refresh();
    let mut fresh = Workspace::new(asked(&scratch.0)).unwrap();
    fresh.texts.clone_from(&workspace.texts);
    assert_eq!(full_report(&workspace.judge().unwrap()), full_report(&fresh.judge().unwrap()));
}

#[test]
fn each_change_of_a_file_counts_and_new_times_alone_do_not() {
    let scratch = Scratch::new("changes");
    files(&scratch);
    let mut workspace = Workspace::new(asked(&scratch.0)).unwrap();
    workspace.judge().unwrap();
    // A file of Terraform, a file with values, a file that a function reads, and settings.
    for path in ["one/main.tf", "one/terraform.tfvars", "modules/pool/start.sh", "gpulint.toml"] {
        let text = fs::read_to_string(scratch.0.join(path)).unwrap();
        for round in 0..3 {
            scratch.write(path, &format!("{text}# {round}\n"));
            assert!(workspace.refresh(), "{path}, change {round}");
            workspace.judge().unwrap();
            assert!(!workspace.refresh(), "{path}, after change {round}");
            scratch.write(path, &format!("{text}# {round}\n"));
            assert!(!workspace.refresh(), "{path}: the content is the same");
        }
    }
    // A new base contains the latest change, and `keep_as_base` returns true.
    scratch.write("two/main.tf", "# nothing\n");
    assert!(workspace.keep_as_base().unwrap());
    assert!(!workspace.refresh());
    assert!(!workspace.keep_as_base().unwrap());
}
