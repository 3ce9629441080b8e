//! Tests changes that decide an unknown value or the number of other objects: they are named, and similar harmless changes
//! pass.

use crate::unexplained::{Case, assert_told, beside, case};

/// A case in which one file changes.
fn changed(
    name: &'static str,
    others: &[(&'static str, &str)],
    (path, was, is): (&'static str, &str, &str),
    told: Option<&'static str>,
) -> Case {
    case(name, &[others, &[(path, was)]].concat(), &[others, &[(path, is)]].concat(), told)
}

/// A case in which one word of a file changes.
fn one(
    name: &'static str,
    others: &[(&'static str, &str)],
    (path, text): (&'static str, &str),
    (was, is): (&str, &str),
    told: Option<&'static str>,
) -> Case {
    changed(name, others, (path, &text.replace("CHANGED", was), &text.replace("CHANGED", is)), told)
}

const POLICY: &str = "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: p}\nspec:\n  resourceSelectors: \
                      [{apiVersion: apps/v1, kind: Deployment, name: TARGET}]\n  placement:\n    clusterAffinity: {clusterNames: [CHANGED]}\n";
const JOB: &str = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: up}\nspec:\n  schedule: \"0 8 * * *\"\n  jobTemplate:\n    spec:\n      template:\n        \
                   spec:\n          containers:\n          - name: k\n            image: bitnami/kubectl:IMAGE\n            command:\n            - kubectl\n            - \
                   scale\n            - deployment/TARGET\n            - --replicas\n            - \"CHANGED\"\n";

#[test]
fn objects_that_decide_the_number_of_others_are_named() {
    let policy = |target: &str| POLICY.replace("TARGET", target);
    let job = |target: &str| JOB.replace("TARGET", target);
    let once = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: up}\nspec:\n  template:\n    spec:\n      containers:\n      - image: bitnami/kubectl\n        \
                command:\n        - kubectl\n        - scale\n        - --replicas=CHANGED\n        - deployment/llm\n";
    let in_one = |text: &str, was: &str, is: &str, told| {
        beside("k8s/x.yaml", &text.replace("CHANGED", was), &text.replace("CHANGED", is), told)
    };
    let kserve = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: big}\nspec:\n  predictor:\n    workerSpec:\n      \
                  tensorParallelSize: CHANGED\n      containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]\n";
    assert_told(vec![
        in_one(&policy("llm"), "a", "a, b", Some("line 7: it decides to how many clusters")),
        in_one(&policy("web"), "a", "a, b", None),
        // The numbers of a schedule count. A job that runs once changes the number until somebody changes it again.
        in_one(&job("llm"), "2", "20", None),
        in_one(once, "2", "20", Some("line 12: it changes other objects by `kubectl scale`")),
        in_one(&job("web"), "2", "20", None),
        in_one(&job("llm").replace("IMAGE", "CHANGED").replace("\"CHANGED\"", "\"2\""), "1", "2", None),
        in_one(kserve, "4", "8", Some("the accelerators of a pod")),
        // A new job that stops a workload saves its cost.
        beside("k8s/x.yaml", "", &job("llm").replace("CHANGED", "0"), None),
    ]);
}

const PODS: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: llm}\nspec:\n  replicas: ${REPLICAS}\n  template:\n    spec:\n      containers: \
                    [{name: a, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]\n";
const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  path: ./apps\n  postBuild:\n    substituteFrom: \
                    [{kind: Secret, name: sizes}]\n";

#[test]
fn objects_from_which_flux_takes_variables_are_named() {
    let others = [("apps/d.yaml", PODS), ("clusters/ks.yaml", FLUX)];
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: sizes}\nstringData:\n  REPLICAS: ENC[AES256_GCM,data:CHANGED]\n  TOKEN: a\nsops: {mac: CHANGED}\n";
    let generated = "configMapGenerator:\n- name: sizes\n  envs: [sizes.env]\n";
    let generator = [others.as_slice(), &[("clusters/kustomization.yaml", generated)]].concat();
    assert_told(vec![
        one("a Secret", &others, ("clusters/s.yaml", secret), ("a", "b"), Some("line 5")),
        changed(
            "another key of it",
            &others,
            ("clusters/s.yaml", secret, &secret.replace("TOKEN: a", "TOKEN: b")),
            None,
        ),
        one(
            "a generated object",
            &generator,
            ("clusters/sizes.env", "REPLICAS=CHANGED\n"),
            ("2", "9"),
            Some("REPLICAS"),
        ),
    ]);
}

const MACHINE: &str = "resource \"aws_instance\" \"i\" {\n  ami           = \"a\"\n  instance_type = \"p4d.24xlarge\"\n  count         = VALUE\n}\n";

#[test]
fn files_behind_data_sources_are_named() {
    let sops = |value: &str| {
        format!(
            "data \"sops_file\" \"s\" {{\n  source_file = \"${{path.module}}/s.enc.json\"\n}}\n{}",
            MACHINE.replace("VALUE", value)
        )
    };
    let (decides, is_known) = (sops("tonumber(data.sops_file.s.data[\"n\"])"), sops("1"));
    let sealed = "{\"n\": \"ENC[AES256_GCM,data:CHANGED]\"}\n";
    let reads = format!(
        "data \"aws_ssm_parameter\" \"p\" {{\n  name = \"/gpu/n\"\n}}\n{}",
        MACHINE.replace("VALUE", "data.aws_ssm_parameter.p.value")
    );
    let sets = "resource \"aws_ssm_parameter\" \"p\" {\n  name  = \"/gpu/n\"\n  type  = \"String\"\n  value = \"CHANGED\"\n}\n";
    assert_told(vec![
        one(
            "a sealed file",
            &[("r/main.tf", &decides)],
            ("r/s.enc.json", sealed),
            ("a", "b"),
            Some("`data.sops_file.s` in after/r/main.tf reads this file"),
        ),
        one("of another value", &[("r/main.tf", &is_known)], ("r/s.enc.json", sealed), ("a", "b"), None),
        one(
            "a parameter",
            &[("b/main.tf", &reads)],
            ("a/main.tf", sets),
            ("1", "20"),
            Some("line 4: `data.aws_ssm_parameter.p` decides"),
        ),
        one(
            "another parameter",
            &[("b/main.tf", &reads)],
            ("a/main.tf", &sets.replace("/gpu/n", "/web/n")),
            ("1", "20"),
            None,
        ),
    ]);
}

#[test]
fn commands_and_outputs_behind_units_are_named() {
    let module = format!("variable \"n\" {{}}\n{}", MACHINE.replace("VALUE", "var.n"));
    let module = ("m/main.tf", module.as_str());
    let unit = "terraform {\n  source = \"../m\"\n}\ninputs = {\n  n = run_cmd(\"python3\", \"../lib/n.py\")\n}\n";
    let taking = "terraform {\n  source = \"../m\"\n}\ndependency \"d\" {\n  config_path = \"../d\"\n  mock_outputs = { n = 1 }\n}\ninputs = {\n  n = dependency.d.outputs.n\n}\n";
    let others = [module, ("u/terragrunt.hcl", taking), ("d/terragrunt.hcl", "terraform {\n  source = \"../dm\"\n}\n")];
    let output = "output \"n\" {\n  value = CHANGED\n}\noutput \"id\" {\n  value = 3\n}\n";
    assert_told(vec![
        one(
            "a command",
            &[module, ("u/terragrunt.hcl", unit)],
            ("lib/n.py", "print(CHANGED)\n"),
            ("1", "20"),
            Some("u/terragrunt.hcl uses this file"),
        ),
        one("an output", &others, ("dm/main.tf", output), ("1", "20"), Some("line 2: an output of after/d decides")),
        changed("another output", &others, ("dm/main.tf", output, &output.replace("value = 3", "value = 4")), None),
    ]);
}

#[test]
fn local_commands_with_accelerators_are_named() {
    let run = |command: &str| {
        format!(
            "variable \"n\" {{\n  default = CHANGED\n}}\nresource \"null_resource\" \"a\" {{\n  provisioner \"local-exec\" {{\n    command = \"{command}\"\n    environment = {{ COUNT = var.n }}\n  }}\n}}\n"
        )
    };
    let eks = run("aws eks create-nodegroup --instance-types p4d.24xlarge --scaling-config desiredSize=${var.n}");
    let gcloud =
        run("gcloud container clusters create a --accelerator type=nvidia-tesla-a100,count=8 --num-nodes ${var.n}");
    let script = run("${path.module}/up.sh");
    let harmless = run("echo ${var.n}");
    let creates = ("r/up.sh", "aws ec2 run-instances --instance-type p4d.24xlarge --count $COUNT\n");
    let told = Some("null_resource.a runs");
    assert_told(vec![
        one("a command of AWS", &[], ("r/main.tf", &eks), ("1", "8"), told),
        one("a command of Google", &[], ("r/main.tf", &gcloud), ("1", "8"), told),
        one("the variables of a script", &[creates], ("r/main.tf", &script), ("1", "8"), told),
        one("another command", &[creates], ("r/main.tf", &harmless), ("1", "8"), None),
    ]);
}

#[test]
fn environment_variables_of_bicep_are_named() {
    let main = "param n int = 1\nresource vm 'Microsoft.Compute/virtualMachineScaleSets@2023-03-01' = {\n  name: 'x'\n  location: 'eastus'\n  sku: { name: 'Standard_ND96asr_v4', capacity: n }\n}\n";
    let given = "using 'main.bicep'\nparam n = int(readEnvironmentVariable('GPU_N', 'CHANGED'))\n";
    let others = [("main.bicep", main), ("prod.bicepparam", given)];
    assert_told(vec![
        one(
            "a default",
            &[("main.bicep", main)],
            ("prod.bicepparam", given),
            ("1", "20"),
            Some("line 2: the environment variable `GPU_N`"),
        ),
        one("a pipeline", &others, (".github/workflows/d.yml", "env:\n  GPU_N: CHANGED\n"), ("1", "20"), Some("GPU_N")),
        one("another variable", &others, (".github/workflows/d.yml", "env:\n  COLOR: CHANGED\n"), ("1", "20"), None),
    ]);
}

#[test]
fn machines_that_are_only_selected_or_refused_are_no_request() {
    let daemons = "apiVersion: apps/v1\nkind: KIND\nmetadata: {name: top}\nspec:\n  template:\n    spec:\n      affinity:\n        nodeAffinity:\n          \
                   requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n            - matchExpressions:\n              - key: \
                   node.kubernetes.io/instance-type\n                operator: In\n                values:\n                - t3.large\nCHANGED      containers: \
                   [{name: a, image: x}]\n";
    let node = "                - p5.48xlarge\n";
    let pool = "apiVersion: example.org/v1\nkind: Pool\nspec:\n  requirements:\n  - key: type\n    operator: OPERATOR\n    values:\n    - t3.large\nCHANGED";
    let check = "locals {\n  refused = contains([\"t3.large\"CHANGED], var.type)\n}\nresource \"null_resource\" \"a\" {\n  lifecycle {\n    \
                 precondition {\n      condition = !local.refused\n      error_message = \"no\"\n    }\n  }\n}\n";
    let in_one = |path: &'static str, text: &str, is: &str, told| {
        beside(path, &text.replace("CHANGED", ""), &text.replace("CHANGED", is), told)
    };
    let item = "    - p5.48xlarge\n";
    let machine = ", \"p5.48xlarge\"";
    assert_told(vec![
        in_one("k8s/top.yaml", &daemons.replace("KIND", "DaemonSet"), node, None),
        in_one("k8s/pool.yaml", &pool.replace("OPERATOR", "NotIn"), item, None),
        in_one("k8s/pool.yaml", &pool.replace("OPERATOR", "In"), item, Some("p5.48xlarge")),
        in_one("infra/check.tf", check, machine, None),
        in_one(
            "infra/check.tf",
            &format!("{check}resource \"x_y\" \"b\" {{\n  big = local.refused\n}}\n"),
            machine,
            Some("p5.48xlarge"),
        ),
    ]);
}

#[test]
fn files_that_only_move_change_nothing() {
    let ray =
        "cluster_name: a\navailable_node_types:\n  w: {node_config: {InstanceType: p5.48xlarge}, min_workers: 2}\n";
    let of = |name: &'static str, from: &'static str, to: &'static str, is: &str, told| {
        let beside = ("clusters/other.yaml", "a: 1\n");
        case(name, &[beside, (from, ray)], &[beside, (to, is)], told)
    };
    let more = &ray.replace("min_workers: 2", "min_workers: 64");
    assert_told(vec![
        of("to a new folder", "conf/ray.yaml", "archive/2024/ray.yaml", ray, None),
        of("to a new folder, with more", "conf/ray.yaml", "archive/2024/ray.yaml", more, Some("p5.48xlarge")),
        of("to an old folder", "conf/ray.yaml", "clusters/ray.yaml", ray, Some("p5.48xlarge")),
        of("out of an archive", "archive/2024/ray.yaml", "live/ray.yaml", ray, Some("p5.48xlarge")),
    ]);
}
