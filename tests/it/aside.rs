//! Tests changes that add accelerators outside all totals. None may pass without a message: each case lists what
//! Terraform, kubectl, helm or a deployer would do. `docs/security.md` names these tests.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::action::sandbox::Sandbox;

type Files = &'static [(&'static str, &'static str)];

struct Change {
    what: &'static str,
    base: Files,
    head: Files,
}

const POD: &str = "      containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]\n";
const MACHINE: &str =
    "resource \"aws_instance\" \"b\" {\n  ami = \"x\"\n  instance_type = \"p5.48xlarge\"\n  count = COUNT\n}\n";

/// Expands the short forms `POD`, `DEPLOYMENT n` and `MACHINE n`.
fn text(short: &str) -> String {
    let mut text = String::new();
    for line in short.split_inclusive('\n') {
        match line.trim_end().split_once(' ') {
            Some(("DEPLOYMENT", replicas)) => text.push_str(&format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: b}}\nspec:\n  replicas: {replicas}\n  selector: \
                 {{matchLabels: {{app: a}}}}\n  template:\n    metadata: {{labels: {{app: a}}}}\n    spec:\n{POD}"
            )),
            Some(("MACHINE", count)) => text.push_str(&MACHINE.replace("COUNT", count)),
            _ => text.push_str(line),
        }
    }
    text
}

fn git(here: &Path, arguments: &[&str]) -> String {
    let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let done = Command::new("git").args(who).args(arguments).current_dir(here).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

fn commit(here: &Path, files: &[(&str, &str)]) -> String {
    for entry in fs::read_dir(here).unwrap().map(|it| it.unwrap().path()).filter(|it| !it.ends_with(".git")) {
        if entry.is_dir() { fs::remove_dir_all(entry).unwrap() } else { fs::remove_file(entry).unwrap() }
    }
    for (path, short) in files.iter().chain(&[("other.tf", "provider \"aws\" { region = \"us-east-1\" }\n")]) {
        let path = here.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text(short)).unwrap();
    }
    git(here, &["add", "--all", "--force"]);
    git(here, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
    git(here, &["rev-parse", "HEAD"])
}

/// Returns the output of gpulint with fixed prices on a fixed day.
fn told(here: &Path, arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_gpulint"))
        .args(arguments)
        .args(["--prices", "embedded", "--today", "2026-11-22", "."])
        .current_dir(here)
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

/// Returns the output of a comparison with the base, and its last line except totals.
fn compared(sandbox: &Sandbox, number: usize, change: &Change) -> String {
    let here = sandbox.path(&format!("{number}"));
    fs::create_dir_all(&here).unwrap();
    git(&here, &["init", "--quiet", "--initial-branch", "main"]);
    let base = commit(&here, change.base);
    commit(&here, change.head);
    told(&here, &["diff", "--base", &base, "--policy-ref", &base])
}

const BASE: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [d.yaml]\n";
const NONE_OF_IT: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../base]\nreplicas: [{name: b, count: 0}]\n";
const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
const TEMPLATE: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b}\nspec:\n  replicas: {{ .Values.r }}\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec:\n      containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: {{ .Values.gpu }}}}}]\n";
const NUMBER: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: {{ min (.Values.g | int) 8 }}}}}]\n";
const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: NAME}\nspec:\n  source:\n    repoURL: https://example.com/r\n    path: m\n";

const ENDPOINTS: &str = "resource \"aws_sagemaker_endpoint_configuration\" \"c\" {\n  name = \"c\"\n  production_variants {\n    variant_name = \"a\"\n    model_name = \"m\"\n    instance_type = \"ml.g5.2xlarge\"\n    initial_instance_count = 1\n  }\n}\nresource \"aws_sagemaker_endpoint\" \"one\" {\n  name = \"e\"\n  endpoint_config_name = aws_sagemaker_endpoint_configuration.c.name\n}\n";

const ONE_CARD: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec:\n      containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]\n";
const THREE_CARDS: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b}\nspec:\n  replicas: 3\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec:\n      containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]\n";

const COUNTED: &str = "variable \"n\" { default = 1 }\nMACHINE var.n\n";

const GROWN: &[Change] = &[
    Change {
        what: "a script hands a variable to Terraform",
        base: &[("p/main.tf", COUNTED), ("up.sh", "terraform apply\n")],
        head: &[("p/main.tf", COUNTED), ("up.sh", "terraform apply -var n=64\n")],
    },
    Change {
        what: "so does a pipeline, by the environment",
        base: &[("p/main.tf", COUNTED), (".github/workflows/up.yml", "env:\n  TF_VAR_n: 1\n")],
        head: &[("p/main.tf", COUNTED), (".github/workflows/up.yml", "env:\n  TF_VAR_n: 64\n")],
    },
    Change {
        what: "a Makefile does not say any more that there is none",
        base: &[("p/main.tf", COUNTED), ("Makefile", "up:\n\tterraform apply -var n=0\n")],
        head: &[("p/main.tf", COUNTED), ("Makefile", "up:\n\tterraform apply\n")],
    },
    Change {
        what: "and helm is told more than stands in values",
        base: &[
            ("c/Chart.yaml", CHART),
            ("c/templates/d.yaml", TEMPLATE),
            ("c/values.yaml", "r: 1\ngpu: 1\n"),
            ("up.sh", "helm upgrade c ./c\n"),
        ],
        head: &[
            ("c/Chart.yaml", CHART),
            ("c/templates/d.yaml", TEMPLATE),
            ("c/values.yaml", "r: 1\ngpu: 1\n"),
            ("up.sh", "helm upgrade c ./c --set gpu=8\n"),
        ],
    },
    Change {
        what: "terraform.tfvars is loaded by itself, whatever else lies beside it",
        base: &[],
        head: &[
            ("p/main.tf", "variable \"n\" { default = 1 }\nMACHINE var.n\n"),
            ("p/terraform.tfvars", "n = 9\n"),
            ("p/dev.tfvars", "n = 0\n"),
        ],
    },
    Change {
        what: "there is always the workspace `default`",
        base: &[],
        head: &[("p/main.tf", "MACHINE terraform.workspace == \"dev\" ? 0 : 9\n")],
    },
    Change {
        what: "and others, which the text need not name",
        base: &[("p/main.tf", "MACHINE terraform.workspace == \"default\" ? 0 : 1\n")],
        head: &[("p/main.tf", "MACHINE terraform.workspace == \"default\" ? 0 : 90\n")],
    },
    Change {
        what: "somebody may apply a base as it stands",
        base: &[("k/base/kustomization.yaml", BASE), ("k/base/d.yaml", "DEPLOYMENT 0\n")],
        head: &[
            ("k/base/kustomization.yaml", BASE),
            ("k/base/d.yaml", "DEPLOYMENT 3\n"),
            ("k/dev/kustomization.yaml", NONE_OF_IT),
        ],
    },
    Change {
        what: "and a manifest that an example takes up",
        base: &[],
        head: &[
            ("m/d.yaml", "DEPLOYMENT 3\n"),
            ("examples/x/kustomization.yaml", "resources: [../../m/d.yaml]\nreplicas: [{name: b, count: 0}]\n"),
        ],
    },
    Change {
        what: "a chart may be installed with its own values",
        base: &[
            ("c/Chart.yaml", CHART),
            ("c/templates/d.yaml", TEMPLATE),
            ("c/values.yaml", "r: 1\ngpu: 1\n"),
            ("c/values-dev.yaml", "gpu: 0\n"),
        ],
        head: &[
            ("c/Chart.yaml", CHART),
            ("c/templates/d.yaml", TEMPLATE),
            ("c/values.yaml", "r: 3\ngpu: 8\n"),
            ("c/values-dev.yaml", "gpu: 0\n"),
        ],
    },
    Change {
        what: "a root with a state of its own is applied by itself",
        base: &[],
        head: &[
            (
                "p/main.tf",
                "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"k\"\n  }\n}\nvariable \"n\" { default = 9 }\nMACHINE var.n\n",
            ),
            ("u/terragrunt.hcl", "terraform { source = \"../p\" }\ninputs = { n = 0 }\n"),
        ],
    },
    Change {
        what: "of two texts of one object kubectl applies the last",
        base: &[("a.yaml", "DEPLOYMENT 1\n")],
        head: &[("a.yaml", "DEPLOYMENT 1\n"), ("b.yaml", "DEPLOYMENT 5\n")],
    },
    Change {
        what: "what two applications deploy is there twice",
        base: &[("m/d.yaml", "DEPLOYMENT 3\n"), ("one.yaml", APPLICATION)],
        head: &[
            ("m/d.yaml", "DEPLOYMENT 3\n"),
            ("one.yaml", APPLICATION),
            (
                "two.yaml",
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: two}\nspec:\n  source: {repoURL: https://example.com/r, path: m}\n  destination: {server: https://other}\n",
            ),
        ],
    },
    Change {
        what: "a deployer changes what it deploys",
        base: &[("m/d.yaml", "DEPLOYMENT 3\n"), ("one.yaml", APPLICATION)],
        head: &[
            ("m/d.yaml", "DEPLOYMENT 3\n"),
            (
                "one.yaml",
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: NAME}\nspec:\n  source:\n    repoURL: https://example.com/r\n    path: m\n    kustomize: {replicas: [{name: b, count: 50}]}\n",
            ),
        ],
    },
    Change {
        what: "so does Flux",
        base: &[("m/d.yaml", "DEPLOYMENT 3\n")],
        head: &[
            ("m/d.yaml", "DEPLOYMENT 3\n"),
            (
                "f.yaml",
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x}\nspec:\n  path: ./m\n  patches:\n  - patch: '[{op: replace, path: /spec/replicas, value: 50}]'\n",
            ),
        ],
    },
    Change {
        what: "machines are chosen by what they have",
        base: &[],
        head: &[(
            "b.tf",
            "resource \"aws_launch_template\" \"t\" {\n  instance_requirements {\n    accelerator_count { min = 8 }\n    accelerator_names = [\"h100\"]\n  }\n}\n",
        )],
    },
    Change {
        what: "a type that nobody knows names a machine",
        base: &[],
        head: &[("b.tf", "resource \"acme_pool\" \"t\" {\n  shape = \"p5.48xlarge\"\n  size = 50\n}\n")],
    },
    Change {
        what: "a kind that nobody knows names a machine",
        base: &[],
        head: &[(
            "b.yaml",
            "apiVersion: foo.io/v1\nkind: Thing\nmetadata: {name: g}\nspec: {pool: {instanceType: p5.48xlarge, size: 50}}\n",
        )],
    },
    Change {
        what: "a patch inside of text asks for devices",
        base: &[],
        head: &[(
            "b.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: b}\nspec:\n  entrypoint: t\n  podSpecPatch: '{\"containers\":[{\"name\":\"main\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}'\n  templates:\n  - name: t\n    container: {image: x}\n",
        )],
    },
    Change {
        what: "what Terraform forgets goes on running",
        base: &[("b.tf", "MACHINE 2\n")],
        head: &[("b.tf", "removed {\n  from = aws_instance.b\n  lifecycle {\n    destroy = false\n  }\n}\n")],
    },
    Change {
        what: "what Terraform forgets in a module goes on running",
        base: &[("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"), ("m/b.tf", "MACHINE 2\n")],
        head: &[
            ("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"),
            ("m/b.tf", "removed {\n  from = aws_instance.b\n  lifecycle {\n    destroy = false\n  }\n}\n"),
        ],
    },
    Change {
        what: "a chart asks where it is installed",
        base: &[],
        head: &[
            ("c/Chart.yaml", CHART),
            (
                "c/templates/d.yaml",
                "{{ if eq .Release.Namespace \"prod\" }}\napiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec:\n  containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]\n{{ end }}\n",
            ),
        ],
    },
    Change {
        what: "stacks of Terraform are no Terraform that is read",
        base: &[],
        head: &[(
            "x.tfcomponent.hcl",
            "component \"m\" {\n  source = \"./m\"\n  inputs = { t = \"p5.48xlarge\" }\n}\n",
        )],
    },
    Change {
        what: "a number that Terraform does not know is not none",
        base: &[],
        head: &[
            ("c/Chart.yaml", CHART),
            ("c/values.yaml", "g: 0\n"),
            ("c/templates/d.yaml", NUMBER),
            (
                "main.tf",
                "data \"terraform_remote_state\" \"a\" {\n  backend = \"local\"\n}\nresource \"helm_release\" \"x\" {\n  name = \"x\"\n  chart = \"./c\"\n  set {\n    name = \"g\"\n    value = data.terraform_remote_state.a.outputs.g\n  }\n}\n",
            ),
        ],
    },
    Change {
        what: "every endpoint rents what its configuration says",
        base: &[("b.tf", ENDPOINTS)],
        head: &[
            ("b.tf", ENDPOINTS),
            (
                "c.tf",
                "resource \"aws_sagemaker_endpoint\" \"more\" {\n  count = 9\n  name = \"m${count.index}\"\n  endpoint_config_name = aws_sagemaker_endpoint_configuration.c.name\n}\n",
            ),
        ],
    },
    Change {
        what: "a warm pool of a group of none runs",
        base: &[],
        head: &[(
            "b.tf",
            "resource \"aws_launch_template\" \"l\" {\n  instance_type = \"p5.48xlarge\"\n}\nresource \"aws_autoscaling_group\" \"g\" {\n  min_size = 0\n  max_size = 0\n  desired_capacity = 0\n  warm_pool {\n    pool_state = \"Running\"\n    min_size = 50\n    max_group_prepared_capacity = 50\n  }\n  launch_template {\n    id = aws_launch_template.l.id\n  }\n}\n",
        )],
    },
    Change {
        what: "a limit of three years is none",
        base: &[],
        head: &[(
            "b.tf",
            "resource \"google_compute_instance\" \"b\" {\n  name = \"b\"\n  zone = \"us-central1-a\"\n  machine_type = \"a3-highgpu-8g\"\n  scheduling {\n    max_run_duration {\n      seconds = 100000000\n    }\n    instance_termination_action = \"STOP\"\n  }\n}\n",
        )],
    },
    Change {
        what: "a hint of another cloud makes what is assumed cheaper",
        base: &[("a.yaml", ONE_CARD)],
        head: &[
            ("a.yaml", THREE_CARDS),
            (
                "b.yaml",
                "apiVersion: sagemaker.services.k8s.aws/v1alpha1\nkind: TrainingJob\nmetadata: {name: b}\nspec: {resourceConfig: {instanceType: ml.p5.48xlarge, instanceCount: 1}}\n",
            ),
        ],
    },
    Change {
        what: "a maker that nobody knows, inside of a kind that nobody knows",
        base: &[],
        head: &[(
            "b.yaml",
            "apiVersion: foo.io/v1\nkind: Thing\nmetadata: {name: g}\nspec:\n  template: |\n    limits:\n      cloud.example.com/h100: 8\n",
        )],
    },
    Change {
        what: "what moves among the tests was deployed before",
        base: &[("infra/main.tf", "MACHINE 2\n")],
        head: &[("test/infra/main.tf", "MACHINE 2\n")],
    },
];

#[test]
fn nothing_that_grows_aside_passes() {
    let sandbox = Sandbox::new("aside");
    let mut silent = Vec::new();
    for (number, change) in GROWN.iter().enumerate() {
        let said = compared(&sandbox, number, change);
        let is_told = ["verdict: incomplete", "verdict: fail", "(~+$", "(+$"].iter().any(|it| said.contains(it));
        if !is_told {
            silent.push(format!("{}:\n{said}", change.what));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// Files that a submodule replaces may still exist.
#[test]
fn a_directory_that_becomes_a_commit_of_another_repository_is_no_saving() {
    let sandbox = Sandbox::new("gitlink");
    let here = sandbox.path("work");
    fs::create_dir_all(&here).unwrap();
    git(&here, &["init", "--quiet", "--initial-branch", "main"]);
    let base = commit(&here, &[("s/main.tf", "MACHINE 2\n")]);
    fs::remove_file(here.join("s/main.tf")).unwrap();
    git(&here, &["add", "--all"]);
    git(&here, &["update-index", "--add", "--cacheinfo", &format!("160000,{base},s")]);
    git(&here, &["commit", "--quiet", "--message", "link"]);
    let said = told(&here, &["diff", "--base", &base]);
    assert!(!said.contains("verdict: pass") && said.contains("this is a submodule"), "{said}");
}

/// An example that uses a manifest leaves it in place.
#[test]
fn an_example_takes_nothing_out_of_the_sums() {
    let sandbox = Sandbox::new("example");
    let here = sandbox.path("work");
    fs::create_dir_all(&here).unwrap();
    git(&here, &["init", "--quiet"]);
    let overlay = "resources: [../../m/d.yaml]\nreplicas: [{name: b, count: 0}]\n";
    commit(&here, &[("m/d.yaml", "DEPLOYMENT 3\n"), ("examples/x/kustomization.yaml", overlay)]);
    let said = told(&here, &["cost"]);
    assert!(said.lines().any(|line| line.starts_with("Deployment/b ") && line.contains("  3  ")), "{said}");
}

/// Changes whose whole effect is in the totals.
const SEEN: &[Change] = &[
    Change {
        what: "what asks for more of something cheaper says so itself",
        base: &[("a.yaml", "DEPLOYMENT 1\n")],
        head: &[(
            "a.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: b}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: a}}\n  template:\n    metadata: {labels: {app: a}}\n    spec:\n      nodeSelector: {nvidia.com/gpu.product: Tesla-T4}\n      containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 8}}}]\n",
        )],
    },
    Change {
        what: "what grows in every environment is told of these",
        base: &[
            ("p/main.tf", "variable \"n\" {}\nMACHINE var.n\n"),
            ("p/dev.tfvars", "n = 1\n"),
            ("p/prod.tfvars", "n = 2\n"),
        ],
        head: &[
            ("p/main.tf", "variable \"n\" {}\nMACHINE 2 * var.n\n"),
            ("p/dev.tfvars", "n = 1\n"),
            ("p/prod.tfvars", "n = 2\n"),
        ],
    },
    Change {
        what: "a base that grows with its overlay",
        base: &[
            ("k/base/kustomization.yaml", BASE),
            ("k/base/d.yaml", "DEPLOYMENT 1\n"),
            ("k/dev/kustomization.yaml", "resources: [../base]\n"),
        ],
        head: &[
            ("k/base/kustomization.yaml", BASE),
            ("k/base/d.yaml", "DEPLOYMENT 3\n"),
            ("k/dev/kustomization.yaml", "resources: [../base]\n"),
        ],
    },
    Change {
        what: "requests and limits are one number",
        base: &[],
        head: &[(
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: c\n    image: x\n    resources:\n      requests:\n        nvidia.com/gpu: 1\n      limits:\n        nvidia.com/gpu: 1\n",
        )],
    },
    Change {
        what: "comments and descriptions ask for nothing",
        base: &[],
        head: &[(
            "b.tf",
            "# instance_type = \"p5.48xlarge\"\nvariable \"x\" {\n  description = \"such as p5.48xlarge\"\n}\n",
        )],
    },
    Change {
        what: "an alternative text of one object is none more",
        base: &[("a.yaml", "DEPLOYMENT 1\n")],
        head: &[("a.yaml", "DEPLOYMENT 1\n"), ("b.yaml", "DEPLOYMENT 1\n")],
    },
];

#[test]
fn what_sums_tell_is_not_told_as_unjudged() {
    let sandbox = Sandbox::new("seen");
    for (number, change) in SEEN.iter().enumerate() {
        let said = compared(&sandbox, number, change);
        assert!(!said.contains("not evaluated"), "{}:\n{said}", change.what);
    }
}
