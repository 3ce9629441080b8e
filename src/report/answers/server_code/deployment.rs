//! Writes a Kubernetes Deployment and its Service.

use super::server::{ServerCode, fill};

/// The labels of accelerators on GKE, by the beginning of the machine type. The first match applies. They are from
/// Google's page on GPUs in GKE, 2026-11.
const GKE_ACCELERATORS: [(&str, &str); 8] = [
    ("g2-", "nvidia-l4"),
    ("g4-", "nvidia-rtx-pro-6000"),
    ("a2-ultragpu-", "nvidia-a100-80gb"),
    ("a2-", "nvidia-tesla-a100"),
    ("a3-ultragpu-", "nvidia-h200-141gb"),
    ("a3-megagpu-", "nvidia-h100-mega-80gb"),
    ("a3-", "nvidia-h100-80gb"),
    ("a4-", "nvidia-b200"),
];

pub(super) fn write(code: &ServerCode<'_>, arguments: &[String]) -> String {
    let (model, name) = (code.model.0, code.model.of_server());
    let notes = [
        format!("The node needs about {} GiB of disk for the weights and the image.", code.disk_gib()),
        "If the model is gated, store your token of Hugging Face in the secret `hf-token`, under the key `token`."
            .to_owned(),
    ];
    let listed = |all: &[String]| all.iter().fold(String::new(), |text, it| format!("{text}            - \"{it}\"\n"));
    let arguments = listed(&[&["--model".to_owned(), model.to_owned()], arguments].concat());
    let selector =
        selector(code).iter().fold(String::new(), |text, (key, value)| format!("{text}        {key}: \"{value}\"\n"));
    let (mounts, volumes) = if code.devices() > 1.0 { (SHARED_MEMORY_MOUNT, SHARED_MEMORY) } else { ("", "") };
    let (header, devices) = (code.header(&notes), code.devices().to_string());
    let replicas = code.machines.to_string();
    let values = [
        ("header", header.as_str()),
        ("name", &name),
        ("selector", &selector),
        ("arguments", &arguments),
        ("devices", &devices),
        ("replicas", &replicas),
        ("mounts", mounts),
        ("volumes", volumes),
    ];
    fill(include_str!("deployment.yaml"), &values)
}

/// Processes of vLLM on several accelerators exchange data in shared memory.
const SHARED_MEMORY_MOUNT: &str = "          volumeMounts:
            - name: shared-memory
              mountPath: /dev/shm
";
const SHARED_MEMORY: &str = "      volumes:
        - name: shared-memory
          emptyDir:
            medium: Memory
            sizeLimit: 8Gi
";

/// Returns the labels of the node.
fn selector<'c>(code: &'c ServerCode<'_>) -> Vec<(&'static str, &'c str)> {
    let machine = code.choice.machine.as_str();
    let mut labels = vec![("node.kubernetes.io/instance-type", machine)];
    if code.choice.provider == "gcp"
        && let Some((_, accelerator)) = GKE_ACCELERATORS.iter().find(|(family, _)| machine.starts_with(family))
    {
        labels.insert(0, ("cloud.google.com/gke-accelerator", accelerator));
    }
    if code.region_asked {
        labels.push(("topology.kubernetes.io/region", code.region));
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::GKE_ACCELERATORS;
    use crate::catalog::Catalog;

    #[test]
    fn labels_of_gke_name_the_accelerators_of_the_catalog() {
        let catalog = Catalog::embedded();
        for machine in catalog.machines_of("gcp") {
            let Some((_, label)) = GKE_ACCELERATORS.iter().find(|(family, _)| machine.name.starts_with(family)) else {
                continue;
            };
            assert_eq!(catalog.accelerator(label).map(|it| it.name), Some(&*machine.accelerator), "{}", machine.name);
        }
    }
}
