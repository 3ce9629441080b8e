//! Applies the patches of promises to 20 deployments, and reads the files again: the machines must surely hold the promise.

use serde_json::Value;

use crate::cli::Place;

const MISTRAL: &str = "mistralai/Mistral-7B-Instruct-v0.3";
const QWEN_3: &str = "Qwen/Qwen2.5-3B-Instruct";
const QWEN_7: &str = "Qwen/Qwen2.5-7B-Instruct";
const LLAMA_8: &str = "meta-llama/Llama-3.1-8B-Instruct";

/// A deployment: kind, replicas, machine or accelerator of GKE, requests per second, milliseconds per token, milliseconds
/// to the first token (0 for none), model, and accelerators of a replica.
type Deployed = (&'static str, u32, &'static str, f64, u32, u32, &'static str, u32);

const MANIFESTS: [Deployed; 17] = [
    ("Deployment", 6, "p5.4xlarge", 2.0, 60, 1000, MISTRAL, 1),
    ("Deployment", 4, "p5.48xlarge", 2.0, 60, 0, QWEN_7, 8),
    ("Deployment", 1, "g6.xlarge", 40.0, 60, 0, MISTRAL, 1),
    ("Deployment", 3, "p4d.24xlarge", 4.0, 80, 1500, LLAMA_8, 8),
    ("StatefulSet", 5, "p5.4xlarge", 1.0, 80, 0, QWEN_3, 1),
    ("Deployment", 8, "g6e.12xlarge", 2.0, 100, 2000, "Qwen/Qwen2.5-14B-Instruct", 4),
    ("Deployment", 2, "p5.48xlarge", 1.0, 60, 2000, "meta-llama/Llama-3.3-70B-Instruct", 8),
    ("Deployment", 1, "g5.xlarge", 60.0, 50, 500, QWEN_7, 1),
    ("Deployment", 6, "nvidia-h100-80gb", 2.0, 60, 1000, MISTRAL, 1),
    ("Deployment", 10, "nvidia-l4", 1.0, 200, 0, QWEN_3, 1),
    ("Deployment", 3, "Standard_NC40ads_H100_v5", 1.0, 60, 1000, QWEN_3, 1),
    ("Deployment", 4, "Standard_ND96isr_H100_v5", 2.0, 60, 1000, LLAMA_8, 8),
    ("Deployment", 12, "g6e.xlarge", 1.0, 120, 0, QWEN_3, 1),
    ("Deployment", 6, "p5.4xlarge", 0.5, 80, 2000, QWEN_7, 1),
    ("StatefulSet", 1, "g6.xlarge", 30.0, 80, 0, QWEN_3, 1),
    ("Deployment", 6, "p5.4xlarge", 2.0, 60, 0, MISTRAL, 1),
    ("Deployment", 2, "p5.48xlarge", 3.0, 60, 1000, QWEN_7, 8),
];

fn manifest(at: usize, deployed: Deployed) -> String {
    let (kind, replicas, machine, rate, token, first, model, gpus) = deployed;
    let key = if machine.starts_with("nvidia-") {
        "cloud.google.com/gke-accelerator"
    } else {
        "node.kubernetes.io/instance-type"
    };
    let first = if first > 0 { format!("\n        gpulint.dev/ttft-ms: \"{first}\"") } else { String::new() };
    format!(
        "apiVersion: apps/v1
kind: {kind}
metadata:
  name: chat-{at}
spec:
  replicas: {replicas}
  selector: {{ matchLabels: {{ app: chat-{at} }} }}
  template:
    metadata:
      labels:
        app: chat-{at}
        gpulint.dev/requests-per-second: \"{rate}\"
        gpulint.dev/ms-per-token: \"{token}\"{first}
    spec:
      nodeSelector:
        {key}: {machine}
      containers:
        - name: server
          image: vllm/vllm-openai:v0.11.0
          args: [--model={model}, --max-model-len=8192, --tensor-parallel-size={gpus}]
          resources: {{ limits: {{ nvidia.com/gpu: {gpus} }} }}
          volumeMounts: [{{ name: shm, mountPath: /dev/shm }}]
      volumes: [{{ name: shm, emptyDir: {{ medium: Memory, sizeLimit: 8Gi }} }}]
"
    )
}

const KSERVE: &str = "apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: chat-17
  labels: { gpulint.dev/requests-per-second: \"2\", gpulint.dev/ms-per-token: \"60\" }
spec:
  predictor:
    minReplicas: 5
    maxReplicas: 5
    nodeSelector: { node.kubernetes.io/instance-type: p5.4xlarge }
    containers:
      - name: kserve-container
        image: vllm/vllm-openai:v0.11.0
        args: [--model=mistralai/Mistral-7B-Instruct-v0.3, --max-model-len=8192, --tensor-parallel-size=1]
        resources: { limits: { nvidia.com/gpu: 1 } }
";

const TERRAFORM: &str = r#"resource "kubernetes_deployment" "chat" {
  metadata {
    name = "chat-18"
  }
  spec {
    replicas = 6
    selector {
      match_labels = { app = "chat" }
    }
    template {
      metadata {
        labels = {
          app                               = "chat"
          "gpulint.dev/requests-per-second" = "2"
          "gpulint.dev/ms-per-token"        = "60"
        }
      }
      spec {
        node_selector = { "node.kubernetes.io/instance-type" = "p5.4xlarge" }
        container {
          name  = "server"
          image = "vllm/vllm-openai:v0.11.0"
          args  = ["--model=mistralai/Mistral-7B-Instruct-v0.3", "--max-model-len=8192", "--tensor-parallel-size=1"]
          resources {
            limits = { "nvidia.com/gpu" = 1 }
          }
        }
      }
    }
  }
}
"#;

/// The engine answers one request after another, so gpulint judges nothing.
const NO_ESTIMATE: &str = "apiVersion: apps/v1
kind: Deployment
metadata: { name: chat-19 }
spec:
  replicas: 6
  selector: { matchLabels: { app: chat-19 } }
  template:
    metadata: { labels: { app: chat-19, gpulint.dev/requests-per-second: \"2\" } }
    spec:
      nodeSelector: { node.kubernetes.io/instance-type: p5.4xlarge }
      containers:
        - name: server
          image: ghcr.io/ggml-org/llama.cpp:server-cuda
          args: [--hf-repo, Qwen/Qwen2.5-7B-Instruct-GGUF, --ctx-size, \"8192\"]
          resources: { limits: { nvidia.com/gpu: 1 } }
";

const HELD: &str = "---
name: held-promise
group: own
layer: efficiency
level: note
risk: low
since: 0.1.0
untested: true
when: has(fit.promise) && fit.promise == \"holds\"
at: [machine]
message: \"{fit.model} holds {fit.promised}\"
---
# held-promise

The server surely holds its promise.
";

const OPTIONS: [&str; 4] = ["--prices", "embedded", "--today", "2026-11-21"];

/// Returns the addresses of the findings of a rule.
fn found(place: &Place, rule: &str) -> Vec<String> {
    let checked = place.stdout(&[&["check", "--format", "json", "."][..], &OPTIONS].concat());
    let report: Value = serde_json::from_str(&checked).unwrap();
    let findings = report["findings"].as_array().unwrap().iter().filter(|it| it["rule"] == rule);
    findings.map(|it| it["address"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn patched_servers_hold_their_promise() {
    let place = Place::new();
    for (at, deployed) in MANIFESTS.into_iter().enumerate() {
        place.write(&format!("{at}.yaml"), &manifest(at, deployed));
    }
    place.write("17.yaml", KSERVE);
    place.write("18/main.tf", TERRAFORM);
    place.write("19.yaml", NO_ESTIMATE);
    let both = |place: &Place| [found(place, "promise-overpaid"), found(place, "promise-missed")].concat();
    let reported = both(&place);
    assert_eq!(reported.len(), 19, "{reported:?}");
    let fix = ["check", "--fix", "--unsafe-fixes", "--only", "promise-overpaid", "--only", "promise-missed", "."];
    place.stdout(&[&fix[..], &OPTIONS].concat());
    // gpulint does not write the accelerator label of GKE, or manifests inside Terraform.
    let left = both(&place);
    assert_eq!(left, ["Deployment/chat-18", "Deployment/chat-8", "Deployment/chat-9"], "{left:?}");
    place.write("rules/held-promise.md", HELD);
    place.write("gpulint.toml", "rules-dir = [\"rules\"]\n");
    let held = found(&place, "held-promise");
    let wrong: Vec<&String> = reported.iter().filter(|it| !left.contains(it) && !held.contains(it)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
