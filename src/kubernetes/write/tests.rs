//! Tests the edits of manifests.

use super::*;
use crate::kubernetes::{self, KubernetesOptions};
use crate::source::MemoryTree;

/// Returns the text after an edit for its first resource, or why it was not edited.
fn after(text: &str, part: &str, value: FactValue) -> std::result::Result<String, String> {
    let name = part;
    let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", text));
    let paths = ["a.yaml".to_owned()];
    let reading = kubernetes::read(&sources, &paths, &[], &KubernetesOptions::default());
    let resource = reading.inventory.resources.first().ok_or("nothing is there")?;
    let part = match part.strip_prefix("label ") {
        Some(key) => Part::Label(key.into()),
        None => Part::from_name(part.trim_start_matches("no ")).ok_or("no such part")?,
    };
    let wish = FactEdit { part, value: Some(value).filter(|_| !name.starts_with("no ")) };
    let mut edits = write(resource, &wish, &sources).map_err(|declined| declined.why().to_owned())?;
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.span.range(), &edit.replacement);
    }
    Ok(text)
}

/// Returns a model server with these arguments.
fn server(args: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n      \
         - name: c\n        image: vllm/vllm-openai:v0.6.3\n        {args}\n        resources: {{limits: {{nvidia.com/gpu: 1}}}}\n"
    )
}

/// Returns the changes for two labels.
fn labelled(text: &str) -> String {
    let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", text));
    let reading = kubernetes::read(&sources, &["a.yaml".to_owned()], &[], &KubernetesOptions::default());
    let labels = [("team".into(), FactValue::text("ml")), ("cost".into(), FactValue::text("4711"))];
    let mut edits = label(&reading.inventory.resources[0], &labels, &sources).unwrap();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
    let new = edits.into_iter().fold(text.to_owned(), |mut text, edit| {
        text.replace_range(edit.span.range(), &edit.replacement);
        text
    });
    lines_between(text, &new)
}

/// Returns the changed lines: `+` for added ones, `-` for removed ones.
pub(super) fn difference(text: &str, part: &str, value: FactValue) -> String {
    match after(text, part, value) {
        Err(why) => why,
        Ok(new) => lines_between(text, &new),
    }
}

pub(super) fn lines_between(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[same..].iter().rev().zip(new[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    let gone = old[same..old.len() - tail].iter().map(|line| format!("-{line}"));
    gone.chain(new[same..new.len() - tail].iter().map(|line| format!("+{line}"))).collect::<Vec<_>>().join("\n")
}

fn job(spec: &str, container: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a # mine\nspec:\n{spec}  template:\n    spec:\n      \
         containers:\n        - name: c\n          image: x\n{container}          resources:\n            limits:\n              \
         nvidia.com/gpu: \"4\" # four\n            requests:\n              nvidia.com/gpu: '4'\n---\nkind: Other\n"
    )
}

#[test]
fn facts_are_written_where_their_row_reads_them() {
    let plain = job("  backoffLimit: 6 # default\n", "");
    assert_eq!(
        difference(&plain, "retries", FactValue::Integer(2)),
        "-  backoffLimit: 6 # default\n+  backoffLimit: 2 # default"
    );
    let added = after(&plain, "time_limit_seconds", FactValue::Number(3600.0)).unwrap();
    assert!(added.ends_with("nvidia.com/gpu: '4'\n  activeDeadlineSeconds: 3600\n---\nkind: Other\n"), "{added}");
    let cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: '0 0 * * *'\n  jobTemplate:\n    \
                spec:\n      template:\n        spec:\n          containers:\n          - name: c\n            resources: {limits: {nvidia.com/gpu: 1}}\n";
    assert_eq!(difference(cron, "ttl_seconds", FactValue::Integer(60)), "+      ttlSecondsAfterFinished: 60");
}

#[test]
fn labels_join_their_neighbours_or_begin_a_mapping() {
    let plain = job("", "");
    let team = || FactValue::text("ml");
    assert_eq!(difference(&plain, "label team", team()), "+  labels:\n+    team: ml");
    assert_eq!(labelled(&plain), "+  labels:\n+    team: ml\n+    cost: \"4711\"");
    let braced = plain.replace("metadata:\n  name: a # mine\n", "metadata: { name: a }\n");
    assert_eq!(labelled(&braced), "-metadata: { name: a }\n+metadata: { name: a, labels: {team: ml, cost: \"4711\"} }");
    assert_eq!(
        labelled(&plain.replace("name: a # mine\n", "name: a\n  labels:\n    team: x\n")),
        "-    team: x\n+    team: ml\n+    cost: \"4711\""
    );
    let there = plain.replace("name: a # mine\n", "labels:\n    app: x # app\n  name: a\n");
    assert_eq!(difference(&there, "label team", team()), "+    team: ml");
    assert_eq!(difference(&there, "label app", team()), "-    app: x # app\n+    app: ml # app");
    assert_eq!(difference(&there, "label cost", FactValue::text("0123")), "+    cost: \"0123\"");
    assert_eq!(difference(&there, "label live", FactValue::text("true")), "+    live: \"true\"");
    let empty = plain.replace("name: a # mine\n", "name: a\n  labels:\n");
    assert_eq!(difference(&empty, "label team", team()), "+    team: ml");
    let braces = plain.replace("metadata:\n  name: a # mine\n", "metadata: { name: a, labels: {} }\n");
    let expected = "-metadata: { name: a, labels: {} }\n+metadata: { name: a, labels: {team: ml} }";
    assert_eq!(difference(&braces, "label team", team()), expected);
}

#[test]
fn line_ends_and_the_end_of_the_file_stay() {
    let windows = job("", "").replace('\n', "\r\n");
    let new = after(&windows, "label team", FactValue::text("ml")).unwrap();
    assert!(new.contains("name: a # mine\r\n  labels:\r\n    team: ml\r\nspec:"), "{new}");
    let both = job("", "").replacen('\n', "\r\n", 3);
    let new = after(&both, "retries", FactValue::Integer(0)).unwrap();
    assert!(new.contains("'4'\n  backoffLimit: 0\n---\n"), "{new}");
    let kept = job("", "").replace("image: x", "image: x\n          args:\n          - |+\n            text\n\n\n");
    let kept = format!(
        "{}\n          command:\n          - |+\n            text\n\n\n---\na: 1\n",
        kept.split("\n---").next().unwrap()
    );
    assert_eq!(difference(&kept, "retries", FactValue::Integer(0)), "+  backoffLimit: 0");
    let new = after(&kept, "retries", FactValue::Integer(0)).unwrap();
    assert!(new.ends_with("            text\n\n\n  backoffLimit: 0\n---\na: 1\n"), "{new}");
    let open = job("", "").replace("\n---\nkind: Other\n", "");
    let new = after(&open, "retries", FactValue::Integer(0)).unwrap();
    assert!(new.ends_with("nvidia.com/gpu: '4'\n  backoffLimit: 0"), "{new}");
}

#[test]
fn limits_and_requests_change_together() {
    let expected = "-              nvidia.com/gpu: \"4\" # four\n-            requests:\n-              nvidia.com/gpu: '4'\n\
                    +              nvidia.com/gpu: \"1\" # four\n+            requests:\n+              nvidia.com/gpu: '1'";
    assert_eq!(difference(&job("", ""), "accelerator_count", FactValue::Number(1.0)), expected);
}

#[test]
fn shared_memory_is_a_volume_and_a_mount() {
    // Container and pod end at the same position.
    let text = server("args: [--model=Qwen/Qwen2.5-7B-Instruct]");
    let mount = "        volumeMounts:\n        - name: dshm\n          mountPath: /dev/shm\n";
    let volume = "      volumes:\n      - name: dshm\n        emptyDir:\n          medium: Memory\n";
    let new = after(&text, "shared_memory", FactValue::Flag(true)).unwrap();
    assert!(new.ends_with(&format!("{mount}{volume}")), "{new}");
    let text = job("", "          volumeMounts:\n          - {name: data, mountPath: /data}\n");
    let new = after(&text, "shared_memory", FactValue::Flag(true)).unwrap();
    assert!(new.contains("/data}\n          - name: dshm\n            mountPath: /dev/shm\n"), "{new}");
    assert!(
        new.contains("      volumes:\n        - name: dshm\n          emptyDir:\n            medium: Memory\n---"),
        "{new}"
    );
    let read = after(&new, "shared_memory", FactValue::Flag(true));
    assert_eq!(read.unwrap_err(), "`/dev/shm` already has a mount");
}

#[test]
fn spot_is_a_label_of_nodes_and_a_taint() {
    let text = job("", "").replace(
        "      containers:",
        "      nodeSelector:\n        cloud.google.com/gke-accelerator: nvidia-l4\n      containers:",
    );
    let new = after(&text, "purchase", FactValue::text("spot")).unwrap();
    assert!(new.contains("nvidia-l4\n        cloud.google.com/gke-spot: \"true\"\n"), "{new}");
    let toleration = "      tolerations:\n        - key: cloud.google.com/gke-spot\n          operator: Equal\n          value: \"true\"\n          effect: NoSchedule\n---";
    assert!(new.contains(toleration), "{new}");
    assert_eq!(difference(&job("", ""), "purchase", FactValue::text("spot")), "the label of its spot nodes is unknown");
}

#[test]
fn arguments_change_in_place() {
    let text = server("args: [\"--model\", \"Qwen/Qwen2.5-7B-Instruct\", \"--dtype=float32\"]");
    assert!(after(&text, "precision", FactValue::text("bf16")).unwrap().contains("\"--dtype=bfloat16\"]"));
    let text = server("args:\n        - --model=Qwen/Qwen2.5-7B-Instruct\n        - --no-enable-prefix-caching # why");
    let expected = "-        - --no-enable-prefix-caching # why\n+        - --enable-prefix-caching # why";
    assert_eq!(difference(&text, "prefix_cache", FactValue::Flag(true)), expected);
    assert_eq!(difference(&text, "floor", FactValue::Integer(1)), "-  replicas: 3\n+  replicas: 1");
    assert_eq!(
        difference(&text, "floor", FactValue::Integer(0)),
        "without an autoscaler, nothing would start it again"
    );
}

#[test]
fn arguments_are_taken_away_where_the_program_chooses_itself() {
    let none = || FactValue::Flag(false);
    let gone = |args: &str, part: &str| difference(&server(args), part, none());
    let list = "args:\n        - --model=Qwen/Qwen2.5-7B-Instruct\n        # all of it\n        - --dtype=float32 # why\n        - --port=1";
    assert_eq!(gone(list, "no precision"), "-        - --dtype=float32 # why");
    let two = "args:\n        - --model\n        - Qwen/Qwen2.5-7B-Instruct\n        - --dtype\n        - float32";
    assert_eq!(gone(two, "no precision"), "-        - --dtype\n-        - float32");
    let apart = two.replace("- --dtype\n", "- --dtype\n        # the slow one\n");
    assert_eq!(
        gone(&apart, "no precision"),
        "-        - --dtype\n-        # the slow one\n-        - float32\n+        # the slow one"
    );
    let brackets = "args: [\"--max-num-seqs\", \"1\", \"--model\", Qwen/Qwen2.5-7B-Instruct, '--dtype=float32']";
    let removed = after(&server(brackets), "no precision", none()).unwrap();
    assert!(
        removed.contains("args: [\"--max-num-seqs\", \"1\", \"--model\", Qwen/Qwen2.5-7B-Instruct]\n"),
        "{removed}"
    );
    let removed = after(&server(brackets), "no batch_size", none()).unwrap();
    assert!(removed.contains("args: [\"--model\", Qwen/Qwen2.5-7B-Instruct, '--dtype=float32']\n"), "{removed}");
    let shell = "command: [sh, -c, \"exec vllm serve Qwen/Qwen2.5-7B-Instruct --dtype float32 --port 1\"]";
    let removed = after(&server(shell), "no precision", none()).unwrap();
    assert!(removed.contains("\"exec vllm serve Qwen/Qwen2.5-7B-Instruct --port 1\"]"), "{removed}");
    let script = "command:\n        - bash\n        - -c\n        - |\n          set -e\n          vllm serve Qwen/Qwen2.5-7B-Instruct \\\n            --dtype float32 \\\n            --port 1";
    assert_eq!(gone(script, "no precision"), "-            --dtype float32 \\");
    let last = script.replace("--dtype float32 \\\n            --port 1", "--port 1 \\\n            --dtype=float32");
    assert_eq!(
        gone(&last, "no precision"),
        "-            --port 1 \\\n-            --dtype=float32\n+            --port 1"
    );
    assert_eq!(gone("args: [--dtype=float32]", "no precision"), "it is the only argument");
    let twice = shell.replace("--port 1", "--dtype float32");
    assert_eq!(gone(&twice, "no precision"), "it is set more than once");
    let compiled = server("args: [--model=Qwen/Qwen2.5-7B-Instruct, --max-num-seqs=1]")
        .replace("nvidia.com/gpu", "aws.amazon.com/neuron");
    assert_eq!(
        difference(&compiled, "no batch_size", none()),
        "the model is compiled with this value for these accelerators"
    );
}

#[test]
fn arguments_are_added_as_the_model_is_written() {
    let context = |args: &str| difference(&server(args), "context", FactValue::Integer(8192));
    let joined = "args:\n        - --model=Qwen/Qwen2.5-7B-Instruct";
    assert_eq!(context(joined), "+        - --max-model-len=8192");
    let apart = "args:\n        - --model\n        - Qwen/Qwen2.5-7B-Instruct";
    assert_eq!(context(apart), "+        - --max-model-len\n+        - \"8192\"");
    let brackets =
        after(&server("args: [\"--model\", \"Qwen/Qwen2.5-7B-Instruct\"]"), "context", FactValue::Integer(8192))
            .unwrap();
    assert!(
        brackets.contains("args: [\"--model\", \"Qwen/Qwen2.5-7B-Instruct\", \"--max-model-len\", \"8192\"]"),
        "{brackets}"
    );
    let script = "command: [sh, -c, \"vllm serve Qwen/Qwen2.5-7B-Instruct\"]";
    assert_eq!(context(script), "the place of its arguments is unknown");
}

const KARPENTER: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: gpus\nspec:\n  template:\n    spec:\n      requirements:\n      - key: \
                         node.kubernetes.io/instance-type\n        operator: In\n        values: [g5.12xlarge]\n";

#[test]
fn pools_of_karpenter_say_it_in_their_requirements() {
    let spot = |text: &str| difference(text, "purchase", FactValue::text("spot"));
    let added = "+      - key: karpenter.sh/capacity-type\n+        operator: In\n+        values:\n+        - spot";
    assert_eq!(spot(KARPENTER), added);
    let said = |values: &str| {
        format!("{KARPENTER}      - key: karpenter.sh/capacity-type\n        operator: In\n        values: {values}\n")
    };
    let expected = "-        values: [\"on-demand\"] # why\n+        values: [\"spot\"] # why";
    assert_eq!(spot(&said("[\"on-demand\"] # why")), expected);
    assert_eq!(spot(&said("[on-demand, reserved]")), "it allows several ways to buy machines");
    assert_eq!(
        spot(
            &said("[spot]").replace("operator: In\n        values: [spot]", "operator: NotIn\n        values: [spot]")
        ),
        "it only excludes ways to buy machines"
    );
    let old = "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec:\n  requirements:\n  - {key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}\n";
    assert_eq!(spot(old), "+  - key: karpenter.sh/capacity-type\n+    operator: In\n+    values:\n+    - spot");
}

#[test]
fn pods_ask_for_spot_as_their_cloud_calls_it() {
    let asking = |label: &str| {
        job("", "").replace("      containers:", &format!("      nodeSelector:\n        {label}\n      containers:"))
    };
    let spot = |label: &str| difference(&asking(label), "purchase", FactValue::text("spot"));
    assert_eq!(
        spot("eks.amazonaws.com/capacityType: ON_DEMAND"),
        "-        eks.amazonaws.com/capacityType: ON_DEMAND\n+        eks.amazonaws.com/capacityType: SPOT"
    );
    assert_eq!(
        spot("karpenter.sh/capacity-type: on-demand"),
        "-        karpenter.sh/capacity-type: on-demand\n+        karpenter.sh/capacity-type: spot"
    );
    let azure =
        after(&asking("kubernetes.azure.com/scalesetpriority: regular"), "purchase", FactValue::text("spot")).unwrap();
    assert!(azure.contains("kubernetes.azure.com/scalesetpriority: spot\n"), "{azure}");
    assert_eq!(spot("cloud.google.com/gke-nodepool: gpus"), "it selects a pool by name: change the pool");
    assert_eq!(spot("node.kubernetes.io/instance-type: p4d.24xlarge"), "the label of its spot nodes is unknown");
}

/// In a kind with several pod templates, additions go to the pod that requests the accelerators.
#[test]
fn kinds_of_operators_are_written_where_their_rows_read() {
    let pod = "spec:\n            containers:\n            - name: c\n              image: x\n              resources: {limits: {nvidia.com/gpu: 4}}\n";
    let jobset = format!(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {{name: a}}\nspec:\n  replicatedJobs:\n  - name: w\n    template:\n      spec:\n        template:\n          {pod}"
    );
    assert_eq!(difference(&jobset, "ttl_seconds", FactValue::Number(60.0)), "+  ttlSecondsAfterFinished: 60");
    assert_eq!(
        difference(&jobset, "time_limit_seconds", FactValue::Number(60.0)),
        "+        activeDeadlineSeconds: 60"
    );
    assert_eq!(difference(&jobset, "accelerator_count", FactValue::Number(1.0)).lines().count(), 2);
    let group = format!(
        "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {{name: a}}\nspec:\n  replicas: 2\n  leaderWorkerTemplate:\n    size: 2\n    workerTemplate:\n          {pod}"
    );
    let memory = after(&group, "shared_memory", FactValue::Flag(true)).unwrap();
    assert!(memory.ends_with("              volumeMounts:\n              - name: dshm\n                mountPath: /dev/shm\n            volumes:\n            - name: dshm\n              emptyDir:\n                medium: Memory\n"), "{memory}");
    assert_eq!(
        difference(&group, "time_limit_seconds", FactValue::Number(60.0)),
        "a LeaderWorkerSet has no field for time_limit_seconds"
    );
    let ray = format!(
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {{name: a}}\nspec:\n  workerGroupSpecs:\n  - groupName: g\n    replicas: 1\n    minReplicas: 1\n    maxReplicas: 3\n    template:\n          {pod}"
    );
    assert_eq!(
        difference(&ray, "time_limit_seconds", FactValue::Number(60.0)),
        "a RayCluster has no field for time_limit_seconds"
    );
    assert_eq!(difference(&ray, "retries", FactValue::Integer(1)), "a RayCluster has no field for retries");
    let kserve = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a}\nspec:\n  predictor:\n    minReplicas: 2 # warm\n    model:\n      modelFormat: {name: huggingface}\n      resources: {limits: {nvidia.com/gpu: 1}}\n";
    assert_eq!(
        difference(kserve, "floor", FactValue::Integer(0)),
        "-    minReplicas: 2 # warm\n+    minReplicas: 0 # warm"
    );
    assert_eq!(
        difference(kserve, "shared_memory", FactValue::Flag(true)),
        "its accelerator request is not in the usual form of containers"
    );
}

#[test]
fn an_autoscaler_keeps_the_floor() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        \
                resources: {limits: {nvidia.com/gpu: 1}}\n---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: s}\nspec:\n  \
                scaleTargetRef: {name: a}\n  minReplicaCount: 2 # warm\n  maxReplicaCount: 4\n  triggers: []\n";
    let expected = "-  minReplicaCount: 2 # warm\n+  minReplicaCount: 0 # warm";
    assert_eq!(difference(text, "floor", FactValue::Integer(0)), expected);
}

#[test]
fn json_stays_json() {
    let text = "{\n  \"apiVersion\": \"batch/v1\",\n  \"kind\": \"Job\",\n  \"metadata\": {\n    \"name\": \"a\"\n  },\n  \"spec\": {\"template\": {\"spec\": \
                {\"containers\": [{\"name\": \"c\", \"resources\": {\"limits\": {\"nvidia.com/gpu\": 1}}}]}}}\n}\n";
    let new = after(text, "label team", FactValue::text("ml")).unwrap();
    assert!(new.contains("\"name\": \"a\",\n    \"labels\": {\"team\": \"ml\"}\n  },"), "{new}");
    let new = after(text, "retries", FactValue::Integer(1)).unwrap();
    assert!(new.contains("]}}, \"backoffLimit\": 1}\n}"), "{new}");
}

#[test]
fn what_others_share_or_make_is_left_alone() {
    let plain = job("", "");
    for (text, part, why) in [
        (plain.replace("metadata:\n", "metadata: &m\n"), "label team", "a YAML anchor uses it in other places too"),
        (
            plain.replace("spec:\n  template", "spec: &s\n  template"),
            "retries",
            "a YAML anchor uses it in other places too",
        ),
        (
            plain.replace("          image: x", "          {{- if x }}\n          image: x"),
            "retries",
            "it is a template",
        ),
        (
            plain.replace("kind: Job", "kind: Deployment").replace("batch/v1", "apps/v1"),
            "ttl_seconds",
            "a Deployment has no field for ttl_seconds",
        ),
    ] {
        assert_eq!(after(&text, part, FactValue::Integer(3)).unwrap_err(), why, "{text}");
    }
}

/// Applies every possible edit to every manifest of the test files. The edited fact must be read back, other facts must
/// stay the same, and a second run must have no edits.
#[test]
fn what_is_written_is_read_again_and_nothing_else_changes() {
    let wishes = [
        ("label cost-center", FactValue::text("4711")),
        ("time_limit_seconds", FactValue::Number(7200.0)),
        ("ttl_seconds", FactValue::Number(600.0)),
        ("retries", FactValue::Integer(3)),
        ("accelerator_count", FactValue::Number(2.0)),
        ("shared_memory", FactValue::Flag(true)),
        ("priority", FactValue::text("low")),
    ];
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut written, mut wrong) = (0, Vec::new());
    for file in files {
        let cases = std::fs::read_to_string(&file).unwrap();
        for text in cases.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("\n```").map(|(text, _)| text)) {
            for text in [text.to_owned(), text.replace('\n', "\r\n")] {
                for (part, value) in &wishes {
                    let Ok(new) = after(&text, part, value.clone()) else { continue };
                    written += 1;
                    if let Some(problem) = compared(&text, &new, part, value) {
                        wrong.push(format!("{}: {part}: {problem}\n{new}", file.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {written}\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(written > 150, "only {written} were written");
}

/// Checks that resources of one object, and those that borrow its pods, change together and only in the edited fact.
fn compared(old: &str, new: &str, part: &str, value: &FactValue) -> Option<String> {
    let (before, now) = (described(old), described(new));
    let wished = format!("{part} = {value}");
    if !now.first()?.contains(&wished) {
        return Some(format!("`{wished}` is not read again"));
    }
    let others = |all: &[Vec<String>]| -> Vec<Vec<String>> {
        let is_other = |it: &&String| !it.starts_with(&format!("{part} ="));
        all.iter().map(|facts| facts.iter().filter(is_other).cloned().collect()).collect()
    };
    let (was, is) = (others(&before), others(&now));
    (was != is).then(|| format!("{was:?} became {is:?}"))
}

/// Returns the facts of each resource, without positions.
fn described(text: &str) -> Vec<Vec<String>> {
    let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", text));
    let reading = kubernetes::read(&sources, &["a.yaml".to_owned()], &[], &KubernetesOptions::default());
    let describe = |resource: &Resource| {
        let facts = resource.facts().filter_map(|(key, fact)| Some(format!("{} = {}", key.name(), fact.value()?)));
        let labels = resource.labels.entries.iter();
        let labels = labels.filter_map(|(key, fact)| Some(format!("label {key} = {}", fact.value()?)));
        let head = format!("{} {:?}", resource.address, resource.count.value());
        [head].into_iter().chain(facts).chain(labels).collect()
    };
    reading.inventory.resources.iter().map(describe).collect()
}

#[test]
fn a_file_of_many_documents_is_cut_once() {
    // Splitting the file for each document would visit more than ten billion lines.
    let documents = 20_000;
    let document = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n    - name: c\n      resources:\n        \
                    limits:\n          nvidia.com/gpu: 1\n";
    let sources = SourceFiles::new(MemoryTree::new().with("a.yaml", vec![document; documents].join("---\n")));
    let file = sources.open("a.yaml").unwrap();
    let length = document.len() + "---\n".len();
    let found = (0..documents).filter(|at| {
        let start = at * length + document.len() - 1;
        Document::around(Span::new(file, start, start), &sources).is_ok_and(|it| it.range.contains(&start))
    });
    assert_eq!(found.count(), documents);
}
