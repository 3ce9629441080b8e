//! Languages that rent machines or ask for accelerators and that nobody here reads: that a file is in one of them is told.

use std::cell::Cell;
use std::sync::LazyLock;

use crate::source::Needles;

/// A language that is not read.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// As people call it.
    pub name: &'static str,
    /// How its files are called: an end of the name, or the whole name behind a slash. Data where there are none.
    names: &'static [&'static str],
    /// Words of which one stands in every text that counts; any text does where there are none.
    marks: &'static [&'static str],
    /// Ends of the files beside it in which the rest of it is written.
    pub beside: &'static [&'static str],
    /// Much of what stands in such a text rents nothing: it counts by the names of machines and accelerators alone.
    pub by_names_alone: bool,
}

const PLAIN: Language = Language { name: "", names: &[], marks: &[], beside: &[], by_names_alone: false };

/// Endings of programs that describe machines.
const PROGRAMS: &[&str] = &[".py", ".ts", ".js", ".go", ".cs", ".java"];

/// By their names, and, where these are those of data, by their words; 2026-11.
static LANGUAGES: [Language; 22] = [
    Language { name: "Pulumi", names: &["/Pulumi.yaml", "/Pulumi.yml"], beside: PROGRAMS, ..PLAIN },
    Language {
        name: "Docker Compose",
        names: &[
            "/compose.yaml",
            "/compose.yml",
            "/docker-compose.yaml",
            "/docker-compose.yml",
            ".compose.yaml",
            ".compose.yml",
        ],
        ..PLAIN
    },
    Language { name: "CDK", names: &["/cdk.json", "/cdktf.json"], beside: PROGRAMS, ..PLAIN },
    Language { name: "Jsonnet", names: &[".jsonnet", ".libsonnet"], ..PLAIN },
    Language { name: "CUE", names: &[".cue"], ..PLAIN },
    Language { name: "KCL", names: &[".k"], ..PLAIN },
    Language { name: "Bicep", names: &[".bicep", ".bicepparam"], ..PLAIN },
    Language { name: "Nomad", names: &[".nomad", ".nomad.hcl"], ..PLAIN },
    Language { name: "Terraform Stacks", names: &[".tfcomponent.hcl", ".tfstack.hcl", ".tfdeploy.hcl"], ..PLAIN },
    Language { name: "Packer", names: &[".pkr.hcl"], by_names_alone: true, ..PLAIN },
    Language {
        name: "a shell script",
        names: &[".sh", ".bash"],
        marks: &[
            "instances create",
            "instance-templates create",
            "tpu-vm create",
            "queued-resources create",
            "node-pools create",
            "container clusters create",
            "custom-jobs create",
            "endpoints deploy-model",
            "run-instances",
            "request-spot",
            "create-nodegroup",
            "create-fleet",
            "sagemaker create",
            "eksctl create",
            "vm create",
            "vmss create",
            "aks create",
            "nodepool add",
            "ml compute create",
            "ml online-deployment create",
            "instance launch",
            "droplet create",
            "instance-create",
            "runpodctl create",
            "vastai create",
        ],
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a pipeline that creates machines",
        marks: &["gcloud compute instances create", "aws ec2 run-instances", "az vm create"],
        by_names_alone: true,
        ..PLAIN
    },
    Language { name: "Helmfile", names: &["/helmfile.yaml.gotmpl"], ..PLAIN },
    Language { name: "CloudFormation", marks: &["AWSTemplateFormatVersion", "AWS::"], ..PLAIN },
    Language { name: "a template of Azure", marks: &["/deploymentTemplate.json"], ..PLAIN },
    Language {
        name: "Deployment Manager",
        marks: &["compute.v1.instance", "compute.beta.instance", "container.v1.cluster"],
        ..PLAIN
    },
    Language { name: "a cluster of Ray", marks: &["available_node_types"], ..PLAIN },
    Language { name: "ParallelCluster", marks: &["SlurmQueues", "AwsBatchQueues"], ..PLAIN },
    Language { name: "a blueprint of Cluster Toolkit", marks: &["blueprint_name"], ..PLAIN },
    Language { name: "Azure ML", marks: &["azuremlschemas"], by_names_alone: true, ..PLAIN },
    Language { name: "Vertex AI", marks: &["workerPoolSpecs", "worker_pool_specs"], ..PLAIN },
    Language {
        name: "Ansible",
        marks: &[
            "ec2_instance",
            "ec2_launch_template",
            "gcp_compute_",
            "azure_rm_",
            "oci_compute_instance",
            "os_server",
        ],
        by_names_alone: true,
        ..PLAIN
    },
];

/// The words of data, all at once.
static MARKS: LazyLock<(Needles, Vec<&'static Language>)> = LazyLock::new(|| {
    let data = LANGUAGES.iter().filter(|it| it.names.is_empty());
    let (marks, languages): (Vec<&str>, Vec<&Language>) =
        data.flat_map(|it| it.marks.iter().map(move |mark| (*mark, it))).unzip();
    (Needles::new(&marks), languages)
});

/// Where the keys of a manifest begin.
const HEAD: usize = 4096;

/// The language of data that may hold manifests and is none.
pub fn language_of_data(path: &str, text: &[u8]) -> Option<&'static Language> {
    if let Some(called) = called(path) {
        return Some(called);
    }
    let head = text.get(..HEAD).unwrap_or(text);
    if !path.ends_with(".json") && ["apiVersion:", "kind:"].iter().all(|key| has_line(head, key.as_bytes())) {
        return None;
    }
    let (marks, languages) = &*MARKS;
    let found = Cell::new(None);
    marks.any(text, |mark, _| {
        found.set(languages.get(mark).copied());
        true
    });
    found.get()
}

/// The language of a file that is called as no data is.
pub fn language_of_script(path: &str, text: &[u8]) -> Option<&'static Language> {
    called(path).filter(|it| it.marks.is_empty() || it.marks.iter().any(|mark| has(text, mark.as_bytes())))
}

/// Whether the name of a file says that it is in a language that is not read, and is not the name of data.
pub fn is_script(path: &str) -> bool {
    called(path).is_some_and(|it| {
        !it.names.iter().any(|name| name.ends_with("ml") || name.ends_with(".json") || name.ends_with(".gotmpl"))
    })
}

fn called(path: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|it| it.names.iter().any(|name| is_called(path, name)))
}

fn is_called(path: &str, name: &str) -> bool {
    match name.strip_prefix('/') {
        Some(whole) => path.strip_suffix(whole).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')),
        None => path.ends_with(name),
    }
}

fn has(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

fn has_line(text: &[u8], key: &[u8]) -> bool {
    memchr::memmem::find_iter(text, key).any(|at| at == 0 || text.get(at - 1) == Some(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(path: &str, text: &str) -> Option<&'static str> {
        language_of_data(path, text.as_bytes()).map(|it| it.name)
    }

    #[test]
    fn data_is_told_by_its_words_and_manifests_are_ours() {
        assert_eq!(data("a.yaml", "Resources:\n  A: { Type: AWS::EC2::Instance }\n"), Some("CloudFormation"));
        assert_eq!(data("a.yaml", "apiVersion: v1\nkind: ConfigMap\ndata: { a: AWS:: }\n"), None);
        assert_eq!(data("a.yaml", "text: |\n  apiVersion: v1\n  kind: A\nb: AWS::A\n"), Some("CloudFormation"));
        assert_eq!(data("values.yaml", "replicas: 1\n"), None);
        assert_eq!(data("x/docker-compose.yml", "services: {}\n"), Some("Docker Compose"));
        assert_eq!(data("x/my-docker-compose.yml", "services: {}\n"), None);
    }

    #[test]
    fn scripts_count_where_they_create_something() {
        let script = |text: &str| language_of_script("up.sh", text.as_bytes()).map(|it| it.name);
        assert_eq!(script("gcloud compute instances create a"), Some("a shell script"));
        assert_eq!(script("gcloud compute instances list # l4"), None);
        assert!(is_script("up.sh") && is_script("a.bicep") && is_script("a.nomad.hcl"));
        assert!(is_script("a/b.jsonnet") && !is_script("a/cdk.json"));
        assert!(!is_script("Pulumi.yaml") && !is_script("a.yaml") && !is_script("terragrunt.hcl"));
    }
}
