//! Tests changes whose cost effect is unknown: they are reported and fail, and similar harmless changes pass.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cli::Place;

const POOL: &str = "variable \"n\" {\n  default = 1\n}\nresource \"aws_instance\" \"a\" {\n  count         = var.n\n  \
                    instance_type = \"g5.xlarge\"\n}\n";
const PODS: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: llm\nspec:\n  replicas: 1\n  selector: {matchLabels: {a: b}}\n  \
                    template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers:\n        - name: a\n          image: vllm/vllm-openai:v0.9\n          \
                    resources:\n            limits:\n              nvidia.com/gpu: 1\n";

pub(crate) struct Case {
    name: &'static str,
    before: Vec<(&'static str, String)>,
    after: Vec<(&'static str, String)>,
    /// A part of the reason; `None` if the change passes.
    told: Option<&'static str>,
}

pub(crate) fn case(
    name: &'static str,
    before: &[(&'static str, &str)],
    after: &[(&'static str, &str)],
    told: Option<&'static str>,
) -> Case {
    let files = |files: &[(&'static str, &str)]| files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
    Case { name, before: files(before), after: files(after), told }
}

/// Both states also contain accelerators.
pub(crate) fn beside(path: &'static str, was: &str, is: &str, told: Option<&'static str>) -> Case {
    let common = [("infra/main.tf", POOL), ("k8s/llm.yaml", PODS)];
    case(path, &[&common[..], &[(path, was)]].concat(), &[&common[..], &[(path, is)]].concat(), told)
}

fn cases() -> Vec<Case> {
    let taken = PODS.replace("replicas: 1", "replicas: ${LLM_REPLICAS}");
    let external = "data \"external\" \"n\" {\n  program = [\"bash\", \"${path.module}/n.sh\"]\n}\nresource \"aws_instance\" \"a\" {\n  count         = \
                    data.external.n.result.n\n  instance_type = \"g5.xlarge\"\n}\n";
    let unknown =
        "apiVersion: acme.example/v1\nkind: Fleet\nmetadata: {name: a}\nspec:\n  size: 1\n  machine: p5.48xlarge\n";
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source:\n    repoURL: https://acme.example/x\n    \
                       targetRevision: v1\n    path: gpu-stack\n";
    let policy = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: a}\nspec:\n  rules:\n    - name: b\n      mutate:\n        \
                  patchStrategicMerge: {spec: {replicas: 1}}\n";
    let deploy = "#!/bin/sh\nkubectl apply -f - <<E\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - resources: {limits: {nvidia.com/gpu: 1}}\nE\n";
    let stack = "name: a\nruntime: python\n";
    let program = "import pulumi_aws as aws\naws.ec2.Instance('a', instance_type='p5.48xlarge')\n";
    vec![
        beside(".env", "TF_VAR_n=1\n", "TF_VAR_n=64\n", Some("the variable `n`")),
        beside("ci/run.groovy", "sh 'terraform apply'\n", "sh 'terraform apply -var n=64'\n", Some("the variable `n`")),
        beside(
            "package.json",
            "{\"scripts\": {\"up\": \"kubectl scale deploy/llm --replicas=1\"}}\n",
            "{\"scripts\": {\"up\": \"kubectl scale deploy/llm --replicas=64\"}}\n",
            Some("kubectl scale"),
        ),
        beside("Dockerfile", "FROM a\nENV TF_VAR_n=1\n", "FROM a\nENV TF_VAR_n=9\n", Some("the variable `n`")),
        beside(
            "bin/up",
            "#!/bin/sh\n",
            "#!/bin/sh\naws ec2 run-instances --instance-type p5.48xlarge --count 8\n",
            Some("p5.48xlarge"),
        ),
        beside("bin/up", deploy, &deploy.replace("gpu: 1", "gpu: 8"), Some("nvidia.com/gpu")),
        beside(
            "x/fleet-a.yaml",
            unknown,
            &unknown.replace("size: 1", "size: 64"),
            Some("a number changes near `p5.48xlarge`"),
        ),
        beside(
            "apps/a.yaml",
            application,
            &application.replace("v1\n    path", "v2\n    path"),
            Some("`targetRevision` deploys another version"),
        ),
        beside(
            "policies/a.yaml",
            policy,
            &policy.replace("replicas: 1", "replicas: 64"),
            Some("changes other objects"),
        ),
        case(
            "a placeholder's value",
            &[("llm.yaml", &taken), ("settings.env", "LLM_REPLICAS=1\n")],
            &[("llm.yaml", &taken), ("settings.env", "LLM_REPLICAS=64\n")],
            Some("LLM_REPLICAS"),
        ),
        case(
            "a program that Terraform runs",
            &[("main.tf", external), ("n.sh", "echo '{\"n\": \"1\"}'\n")],
            &[("main.tf", external), ("n.sh", "echo '{\"n\": \"64\"}'\n")],
            Some("main.tf uses this file"),
        ),
        case(
            "what that program takes",
            &[("main.tf", external), ("n.sh", "cat n.txt\n"), ("n.txt", "{\"n\": \"1\"}\n")],
            &[("main.tf", external), ("n.sh", "cat n.txt\n"), ("n.txt", "{\"n\": \"64\"}\n")],
            Some("n.sh uses this file"),
        ),
        case(
            "the settings of a program",
            &[("Pulumi.yaml", stack), ("__main__.py", program), ("Pulumi.prod.yaml", "config: {n: 1}\n")],
            &[("Pulumi.yaml", stack), ("__main__.py", program), ("Pulumi.prod.yaml", "config: {n: 64}\n")],
            Some("Pulumi is not supported"),
        ),
        beside(
            "hpc/go.py",
            "import submitit\nex.update_parameters(\n    nodes=1,\n    gpus_per_node=8,\n)\n",
            "import submitit\nex.update_parameters(\n    nodes=64,\n    gpus_per_node=8,\n)\n",
            Some("line 3 changes `nodes`"),
        ),
        beside(
            "ops/pool.sh",
            "gcloud dataproc clusters create a \\\n  --num-workers $N \\\n  --worker-accelerator type=nvidia-tesla-t4,count=1\n",
            "gcloud dataproc clusters create a \\\n  --num-workers 60$N \\\n  --worker-accelerator type=nvidia-tesla-t4,count=1\n",
            Some("`60$N` is not a number"),
        ),
        beside(
            "ops/up.sh",
            "terraform apply \\\n  -var \\\n  n=1\n",
            "terraform apply \\\n  -var \\\n  n=9\n",
            Some("line 3 passes"),
        ),
        beside("ops/up.sh", "terraform apply\n", "for i in 1 2 3; do\n  terraform apply && break\ndone\n", None),
        beside(
            "hpc/go.py",
            "import submitit\nf(nodes=1, gpus_per_node=8)\n",
            "import submitit\nf(\n    nodes=1,\n    gpus_per_node=8,\n)\n",
            None,
        ),
        beside("ui/machines.json", "[]\n", "[{\"name\": \"p5.48xlarge\", \"gpus\": 8}]\n", None),
        beside("README.md", "kubectl scale --replicas=1\n", "kubectl scale --replicas=64, p5.48xlarge\n", None),
        beside("src/app.py", "x = 1\n", "x = 64\n", None),
        beside("tests/test_it.py", "", "machine = \"p5.48xlarge\"\n", None),
        beside("web/package.json", "{\"version\": \"1.0.1\"}\n", "{\"version\": \"1.0.2\"}\n", None),
        beside("Dockerfile", "FROM a:1\n", "FROM a:2\nRUN pip install torch==2.1\n", None),
        beside(
            ".github/workflows/ci.yml",
            "on: push\njobs: {a: {timeout-minutes: 1}}\n",
            "on: push\njobs: {a: {timeout-minutes: 5}}\n",
            None,
        ),
        beside(
            "apps/cm.yaml",
            &application.replace("gpu-stack", "cert-manager"),
            &application.replace("gpu-stack", "cert-manager").replace("v1\n    path", "v2\n    path"),
            None,
        ),
        beside("Makefile", "test:\n\tgo test\n", "test:\n\tgo test -count 2\n", None),
        case(
            "a program's documents",
            &[("Pulumi.yaml", stack), ("__main__.py", program), ("docs/a.md", "1\n")],
            &[("Pulumi.yaml", stack), ("__main__.py", program), ("docs/a.md", "2\n")],
            None,
        ),
    ]
}

#[test]
fn each_changed_file_is_explained_beside_or_told() {
    assert_told(cases());
}

/// Compares both states of each case, and expects the reason of the case.
pub(crate) fn assert_told(cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for case in cases {
        let place = Place::new();
        for (side, files) in [("before", &case.before), ("after", &case.after)] {
            for (file, text) in files {
                place.write(&format!("{side}/{file}"), text);
            }
        }
        let arguments = ["diff", "--base-dir", "before", "after", "--no-config", "--format", "json"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        let output = command.args(arguments).current_dir(place.path()).stdin(Stdio::null()).output().unwrap();
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let open = said["not_judged"].as_array().unwrap().iter().filter(|it| it["standing"] != "as-before");
        let reasons: Vec<String> = open.map(|it| format!("{}: {}", it["path"], it["reason"])).collect();
        let is_right = match case.told {
            Some(part) => reasons.iter().any(|it| it.contains(part)) && output.status.code() == Some(1),
            None => reasons.is_empty() && output.status.code() == Some(0),
        };
        if !is_right {
            wrong.push(format!("{} wants {:?}, says {} {reasons:?}", case.name, case.told, output.status));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
