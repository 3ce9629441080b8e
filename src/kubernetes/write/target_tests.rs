//! Tests that targets accept the edits, and that the edits have an effect.

use super::tests::{difference, lines_between};
use super::*;
use crate::kubernetes::{self, KubernetesOptions};
use crate::source::MemoryTree;

const POD: &str = "spec: {containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}";

fn sky(resources: &str) -> String {
    format!("name: train\nresources:\n  accelerators: H100:8\n{resources}run: torchrun --nproc_per_node=8 train.py\n")
}

fn spot(text: &str) -> String {
    difference(text, "purchase", FactValue::text("spot"))
}

#[test]
fn tasks_of_skypilot_set_spot_where_all_choices_take_it() {
    assert_eq!(spot(&sky("")), "+  use_spot: true");
    assert_eq!(spot(&sky("  any_of:\n    - infra: aws\n    - infra: gcp\n")), "+  use_spot: true");
    assert_eq!(spot(&sky("  ordered:\n    - infra: aws\n    - infra: gcp\n")), "+  use_spot: true");
    assert_eq!(
        spot(&sky("  ordered:\n    - {infra: aws, use_spot: false}\n    - infra: gcp\n")),
        "-    - {infra: aws, use_spot: false}\n+    - {infra: aws, use_spot: true}"
    );
    assert_eq!(
        spot(&sky("  any_of:\n    - {infra: aws, use_spot: false}\n    - infra: gcp\n")),
        "only some of its alternatives set purchase"
    );
    assert_eq!(spot(&sky("  infra: lambda\n")), "one of its clouds has no spot machines in SkyPilot");
}

#[test]
fn a_spot_task_is_taken_down_where_it_cannot_stop() {
    let own = |autostop: &str| spot(&sky(&format!("  infra: aws\n  use_spot: false\n  autostop: {autostop}\n")));
    let expected =
        "-  use_spot: false\n-  autostop: 30\n+  use_spot: true\n+  autostop: {idle_minutes: 30, down: true}";
    assert_eq!(own("30"), expected);
    assert_eq!(own("2h"), expected.replace("autostop: 30", "autostop: 2h").replace("minutes: 30", "minutes: 120"));
    assert_eq!(own("{idle_minutes: 30, down: true}"), "-  use_spot: false\n+  use_spot: true");
    let gcp = spot(&sky("  infra: gcp\n  use_spot: false\n  autostop: 30\n"));
    assert_eq!(gcp, "-  use_spot: false\n+  use_spot: true");
    let idle = |text: &str| difference(text, "idle_minutes", FactValue::Number(60.0));
    assert_eq!(idle(&sky("")), "+  autostop:\n+    idle_minutes: 60");
    let down = "+  autostop:\n+    idle_minutes: 60\n+    down: true";
    assert_eq!(idle(&sky("  use_spot: true\n")), down);
}

fn ray(spec: &str, group: &str) -> String {
    format!(
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata:\n  name: a\nspec:\n{spec}  workerGroupSpecs:\n  - groupName: g\n    replicas: 2\n{group}    template: {{{POD}}}\n"
    )
}

#[test]
fn an_idle_timeout_of_ray_needs_the_autoscaler_and_a_range() {
    let idle = |text: &str| difference(text, "idle_minutes", FactValue::Number(60.0));
    let both = "+    minReplicas: 0\n+    maxReplicas: 2\n+  autoscalerOptions:\n+    idleTimeoutSeconds: 3600\n+  enableInTreeAutoscaling: true";
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(idle(&ray("", ""))), sorted(both.to_owned()));
    let fixed = idle(&ray("  enableInTreeAutoscaling: true\n", "    minReplicas: 2\n    maxReplicas: 4\n"));
    assert!(fixed.contains("-    minReplicas: 2\n") && fixed.contains("+    minReplicas: 0\n"), "{fixed}");
    assert!(!fixed.contains("+  enableInTreeAutoscaling") && fixed.contains("+    maxReplicas: 4\n"), "{fixed}");
    let head = format!(
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata:\n  name: a\nspec:\n  headGroupSpec:\n    template: {{{POD}}}\n"
    );
    assert_eq!(idle(&head), "the head of a Ray cluster never scales down");
}

fn ray_job(spec: &str) -> String {
    format!(
        "apiVersion: ray.io/v1\nkind: RayJob\nmetadata:\n  name: a\nspec:\n{spec}  entrypoint: python a.py\n  rayClusterSpec:\n    workerGroupSpecs:\n    - groupName: g\n      replicas: 2\n      template: {{{POD}}}\n"
    )
}

#[test]
fn jobs_of_ray_get_what_belongs_together() {
    let ttl = |spec: &str| difference(&ray_job(spec), "ttl_seconds", FactValue::Number(600.0));
    assert!(
        ttl("").contains("+  ttlSecondsAfterFinished: 600") && ttl("").contains("+  shutdownAfterJobFinishes: true")
    );
    assert_eq!(ttl("  shutdownAfterJobFinishes: true\n"), "+  ttlSecondsAfterFinished: 600");
    let rules = "  deletionStrategy:\n    deletionRules:\n    - policy: DeleteCluster\n      condition: {jobStatus: FAILED, ttlSeconds: 9}\n";
    assert_eq!(ttl(rules), "its deletion strategy decides when the cluster is deleted");
    let retries = |spec: &str| difference(&ray_job(spec), "retries", FactValue::Integer(3));
    assert_eq!(retries(""), "+  backoffLimit: 3");
    let interactive = retries("  submissionMode: InteractiveMode\n");
    assert_eq!(interactive, "KubeRay refuses retries in the interactive mode");
}

fn scaled(triggers: &str, spec: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  template: {{{POD}}}\n---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {{name: s}}\nspec:\n  scaleTargetRef: {{name: a}}\n  minReplicaCount: 1\n  maxReplicaCount: 4\n{spec}  triggers:\n{triggers}"
    )
}

#[test]
fn zero_is_written_only_where_something_starts_it_again() {
    let zero = |text: &str| difference(text, "floor", FactValue::Integer(0));
    let kafka = "  - {type: kafka, metadata: {topic: x}}\n";
    assert_eq!(zero(&scaled(kafka, "")), "-  minReplicaCount: 1\n+  minReplicaCount: 0");
    let cpu = zero(&scaled("  - {type: cpu, metadata: {value: '50'}}\n", ""));
    assert!(cpu.starts_with("KEDA refuses 0 with cpu and memory triggers alone"), "{cpu}");
    let own = zero(&scaled("  - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting)'}}\n", ""));
    assert!(own.starts_with("its trigger reads a metric of the server"), "{own}");
    let hpa = scaled("    []\n", "").replace("keda.sh/v1alpha1", "autoscaling/v2");
    let hpa = hpa
        .replace("ReplicaCount", "Replicas")
        .replace("ScaledObject", "HorizontalPodAutoscaler")
        .replace("{name: a}\n  min", "{kind: Deployment, name: a}\n  min");
    assert!(zero(&hpa).contains("always runs at least one"), "{}", zero(&hpa));
    let kserve = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: a\n  annotations: {serving.kserve.io/deploymentMode: Standard}\nspec:\n  predictor:\n    minReplicas: 2\n    containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]\n";
    assert!(zero(kserve).starts_with("in this mode of KServe"), "{}", zero(kserve));
    let knative = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: a}\nspec:\n  template:\n    metadata:\n      annotations:\n        autoscaling.knative.dev/minScale: '1'\n    spec:\n      containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]\n";
    let expected = "-        autoscaling.knative.dev/minScale: '1'\n+        autoscaling.knative.dev/minScale: '0'";
    assert_eq!(zero(knative), expected);
}

#[test]
fn limits_of_training_jobs_are_in_the_run_policy() {
    let job = |spec: &str| {
        format!(
            "apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {{name: a}}\nspec:\n{spec}  tfReplicaSpecs:\n    Worker:\n      template: {{{POD}}}\n"
        )
    };
    let limit = |spec: &str| difference(&job(spec), "time_limit_seconds", FactValue::Number(60.0));
    assert_eq!(limit(""), "+  runPolicy:\n+    activeDeadlineSeconds: 60");
    assert_eq!(limit("  activeDeadlineSeconds: 9\n"), "+  runPolicy:\n+    activeDeadlineSeconds: 60");
    let ttl = difference(&job("  ttlSecondsAfterFinished: 9\n"), "ttl_seconds", FactValue::Number(60.0));
    assert_eq!(ttl, "+  runPolicy:\n+    ttlSecondsAfterFinished: 60");
}

#[test]
fn a_workflow_with_its_own_variables_is_no_template() {
    let workflow = |image: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata:\n  generateName: a-\nspec:\n  templates:\n  - name: t\n    container:\n      image: {image}\n      args: [\"{{{{inputs.parameters.x}}}}\"]\n      resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
        )
    };
    let limit = |text: &str| difference(text, "time_limit_seconds", FactValue::Number(60.0));
    assert_eq!(limit(&workflow("x")), "+  activeDeadlineSeconds: 60");
    let between = workflow("x").replace("    container:", "    {{- if a }}\n    container:");
    assert_eq!(limit(&between), "it is a template");
}

#[test]
fn shared_memory_stays_below_the_limit_of_the_container() {
    let sized = |memory: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers:\n  - name: c\n    resources:\n      limits: {{nvidia.com/gpu: 2, memory: {memory}}}\n"
        );
        let new = difference(&text, "shared_memory", FactValue::Flag(true));
        new.lines().find_map(|line| line.split_once("sizeLimit: ").map(|(_, size)| size.to_owned())).unwrap_or_default()
    };
    assert_eq!((sized("64Gi"), sized("1Gi"), sized("16G")), ("32Gi".to_owned(), "512Mi".to_owned(), "7Gi".to_owned()));
}

#[test]
fn pods_tolerate_spot_nodes_of_azure() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelector:\n    kubernetes.azure.com/scalesetpriority: regular\n  containers:\n  - name: c\n    resources: {limits: {nvidia.com/gpu: 1}}\n";
    let new = spot(text);
    assert!(new.contains("+    kubernetes.azure.com/scalesetpriority: spot\n"), "{new}");
    assert!(new.contains("+  - key: kubernetes.azure.com/scalesetpriority\n+    operator: Equal\n+    value: spot\n+    effect: NoSchedule"), "{new}");
}

#[test]
fn a_pool_that_never_shrinks_gets_a_delay() {
    let pool = |spec: &str| {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n{spec}  disruption:\n    consolidateAfter: Never # why\n  template:\n    spec:\n      requirements:\n      - {{key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}}\n"
        )
    };
    let idle = |text: &str| difference(text, "idle_minutes", FactValue::Number(5.0));
    assert_eq!(idle(&pool("")), "-    consolidateAfter: Never # why\n+    consolidateAfter: 5m # why");
    assert_eq!(idle(&pool("  replicas: 2\n")), "Karpenter never removes machines of a pool with a fixed size");
}

/// Returns the changed lines of each file for the first resource of a tree, or why it was not edited.
fn changed(files: &[(&str, &str)], part: &str, value: FactValue) -> String {
    let tree = files.iter().fold(MemoryTree::new(), |tree, (path, text)| tree.with(path, *text));
    let sources = SourceFiles::new(tree);
    let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    let reading = kubernetes::read(&sources, &paths, &[], &KubernetesOptions::default());
    let Some(resource) = reading.inventory.resources.first() else { return "nothing is there".to_owned() };
    let wish = FactEdit { part: Part::from_name(part).unwrap(), value: Some(value) };
    let mut edits = match write(resource, &wish, &sources) {
        Ok(edits) => edits,
        Err(declined) => return declined.why().to_owned(),
    };
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut all = String::new();
    for (path, old) in files {
        let mut new = (*old).to_owned();
        for edit in edits.iter().filter(|edit| sources.path(edit.span.file) == *path) {
            new.replace_range(edit.span.range(), &edit.replacement);
        }
        if new != *old {
            all.push_str(&format!("{path}\n{}\n", lines_between(old, &new)));
        }
    }
    all
}

const BASE: &str = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  backoffLimit: 9 # many\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: c\n        image: x\n        resources:\n          limits:\n            nvidia.com/gpu: \"2\"\n";

#[test]
fn a_kustomization_is_edited_where_its_parts_come_from() {
    let overlay = "resources: [../base]\npatches:\n- path: patch.yaml\n";
    let patch = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  backoffLimit: 12\n";
    let files = |patch| {
        [
            ("base/job.yaml", BASE),
            ("base/kustomization.yaml", "resources: [job.yaml]\n"),
            ("overlay/kustomization.yaml", overlay),
            ("overlay/patch.yaml", patch),
        ]
    };
    let retries = changed(&files(patch), "retries", FactValue::Integer(3));
    assert_eq!(retries, "overlay/patch.yaml\n-  backoffLimit: 12\n+  backoffLimit: 3\n");
    let other = patch.replace("backoffLimit: 12", "completions: 1");
    let retries = changed(&files(&other), "retries", FactValue::Integer(3));
    assert_eq!(retries, "base/job.yaml\n-  backoffLimit: 9 # many\n+  backoffLimit: 3 # many\n");
    let limit = changed(&files(patch), "time_limit_seconds", FactValue::Number(60.0));
    assert!(limit.contains("+  activeDeadlineSeconds: 60\n"), "{limit}");
    let count = changed(&files(patch), "accelerator_count", FactValue::Number(1.0));
    assert!(
        count.contains("base/job.yaml\n-            nvidia.com/gpu: \"2\"\n+            nvidia.com/gpu: \"1\"\n"),
        "{count}"
    );
}

#[test]
fn a_value_of_a_chart_is_edited_if_one_place_uses_it() {
    let template = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\nspec:\n  backoffLimit: {{ .Values.retries }}\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: c\n        image: x\n        resources: {{- toYaml .Values.resources | nindent 10 }}\n";
    let values = "retries: 9 # many\nresources:\n  limits:\n    nvidia.com/gpu: 2\n";
    let files = |template| {
        [
            ("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"),
            ("chart/values.yaml", values),
            ("chart/templates/job.yaml", template),
        ]
    };
    let retries = changed(&files(template), "retries", FactValue::Integer(3));
    assert_eq!(retries, "chart/values.yaml\n-retries: 9 # many\n+retries: 3 # many\n");
    let count = changed(&files(template), "accelerator_count", FactValue::Number(1.0));
    assert_eq!(count, "chart/values.yaml\n-    nvidia.com/gpu: 2\n+    nvidia.com/gpu: 1\n");
    let twice = format!(
        "{template}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: b}}\ndata: {{a: \"{{{{ .Values.retries }}}}\"}}\n"
    );
    let retries = changed(&files(&twice), "retries", FactValue::Integer(3));
    assert_eq!(retries, "the chart's templates use its value in several places");
    let computed = template.replace("{{ .Values.retries }}", "{{ add .Values.retries 1 }}");
    let retries = changed(&files(&computed), "retries", FactValue::Integer(3));
    assert_eq!(retries, "a template of its chart computes or sets the value");
    let limit = changed(&files(template), "time_limit_seconds", FactValue::Number(60.0));
    assert_eq!(limit, "chart/templates/job.yaml\n+  activeDeadlineSeconds: 60\n");
    let repeated = template.replace("apiVersion", "{{- range .Values.all }}\napiVersion") + "{{- end }}\n";
    let limit = changed(&files(&repeated), "time_limit_seconds", FactValue::Number(60.0));
    assert_eq!(limit, "nothing is there");
}
