//! Defines all languages that gpulint knows in one table: names of their files, marks in them, their reader, and the
//! next step if there is none. Editors, hooks, documentation and help use these lists.

pub(crate) mod claim;

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::source::{Needles, SourceFiles, file_name, has_mark, static_regex, those};

/// The languages with a reader, for messages.
pub(crate) const READ: &str = "Terraform, Kubernetes, CloudFormation, ARM/Bicep and Pulumi";

/// The reader of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reader {
    Terraform,
    Kubernetes,
    CloudFormation,
    Azure,
    Pulumi,
    Slurm,
    /// gpulint does not read this language. It reports files that name accelerators.
    None,
    /// A file that other files use. It is never reported by itself.
    Companion,
}

/// A language.
#[derive(Debug)]
pub struct Language {
    /// The name for people.
    pub name: &'static str,
    /// Names of its files: an ending, or a whole name after a slash. Empty for data.
    pub names: &'static [&'static str],
    /// Keys at the root that identify this language.
    pub root_keys: &'static [&'static str],
    /// Every relevant file contains at least one of these marks. Empty if every file is relevant.
    pub marks: &'static [&'static str],
    pub reader: Reader,
    /// Endings of companion files with the rest of the content.
    pub beside: &'static [&'static str],
    /// The start of the names of companion files with settings in YAML; empty if there are none.
    settings: &'static str,
    /// The folder to which its program writes files that a reader reads; empty for its own folder.
    pub writes_into: Option<&'static str>,
    /// Whether such a file is run and may pass values to other programs.
    pub is_script: bool,
    /// Whether most of such a text provisions nothing, so that only names of machines and accelerators count.
    pub by_names_alone: bool,
    /// Pattern of the language's own requests for accelerators. If it exists, nothing else counts.
    asks: Option<&'static LazyLock<Regex>>,
    /// Next step, if it differs from the default.
    pub cure: &'static str,
}

const PLAIN: Language = Language {
    name: "",
    names: &[],
    root_keys: &[],
    marks: &[],
    reader: Reader::None,
    beside: &[],
    settings: "",
    writes_into: None,
    is_script: false,
    by_names_alone: false,
    asks: None,
    cure: "gpulint does not evaluate this file: check its cost another way, or list it under `exclude` in gpulint.toml",
};

/// File endings of programs that describe machines.
const PROGRAMS: &[&str] = &[".py", ".ts", ".js", ".go", ".cs", ".java"];

/// The keys of every manifest.
pub(super) const ROOT_OF_MANIFEST: &[&str] = &["apiVersion", "kind"];

/// All languages, by file name, or by marks if they are data; 2026-11.
pub(super) static LANGUAGES: &[Language] = &[
    Language {
        name: "Terraform",
        names: &[".tf", ".tofu", ".tf.json", ".tofu.json", ".tfvars", ".tfvars.json"],
        reader: Reader::Terraform,
        ..PLAIN
    },
    Language {
        name: "Terragrunt",
        names: &["/terragrunt.hcl", "/terragrunt.hcl.json", "/terragrunt.stack.hcl"],
        reader: Reader::Terraform,
        ..PLAIN
    },
    Language {
        name: "Kubernetes",
        names: &[".yaml", ".yml", ".json", ".tpl", ".tmpl", ".j2", ".jinja", ".jinja2", ".gotmpl", ".template"],
        root_keys: ROOT_OF_MANIFEST,
        reader: Reader::Kubernetes,
        ..PLAIN
    },
    Language {
        name: "a script or shared file",
        names: &[".mk", "/Makefile", "/makefile", "/GNUmakefile", "/justfile", "/Justfile", "/Jenkinsfile"],
        reader: Reader::Companion,
        is_script: true,
        ..PLAIN
    },
    Language { name: "deploy settings", names: &["/samconfig.toml"], reader: Reader::Companion, ..PLAIN },
    Language { name: "server settings", names: &["/config.pbtxt"], reader: Reader::Companion, ..PLAIN },
    Language {
        name: "Pulumi",
        names: &["/Pulumi.yaml", "/Pulumi.yml"],
        reader: Reader::Pulumi,
        beside: PROGRAMS,
        settings: "Pulumi.",
        writes_into: Some(""),
        cure: "run `pulumi preview --json > preview.json`, then `gpulint check preview.json`",
        ..PLAIN
    },
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
    Language {
        name: "Docker Compose",
        root_keys: &["services"],
        marks: &["runtime: nvidia", "driver: nvidia", "capabilities: [gpu", "gpus:", "generic_resources:"],
        ..PLAIN
    },
    Language {
        name: "CDK",
        names: &["/cdk.json"],
        beside: PROGRAMS,
        writes_into: Some("cdk.out"),
        cure: "run `cdk synth`, then `gpulint check cdk.out`",
        ..PLAIN
    },
    Language {
        name: "CDK for Terraform",
        names: &["/cdktf.json"],
        beside: PROGRAMS,
        cure: "run `cdktf synth`, then `gpulint check cdktf.out`",
        ..PLAIN
    },
    Language { name: "Jsonnet", names: &[".jsonnet", ".libsonnet"], ..PLAIN },
    Language { name: "CUE", names: &[".cue"], ..PLAIN },
    Language { name: "KCL", names: &[".k"], ..PLAIN },
    Language { name: "Bicep", names: &[".bicep", ".bicepparam"], reader: Reader::Azure, ..PLAIN },
    Language { name: "Nomad", names: &[".nomad", ".nomad.hcl"], ..PLAIN },
    Language { name: "Terraform Stacks", names: &[".tfcomponent.hcl", ".tfstack.hcl", ".tfdeploy.hcl"], ..PLAIN },
    Language { name: "Packer", names: &[".pkr.hcl"], by_names_alone: true, ..PLAIN },
    Language { name: "settings of Slurm", names: &["/gres.conf", "/slurm.conf"], asks: Some(&SLURM_NODES), ..PLAIN },
    Language {
        name: "a Slurm command",
        names: BATCH_SCRIPTS,
        marks: SLURM_COMMANDS,
        reader: Reader::Slurm,
        is_script: true,
        asks: Some(&SLURM),
        ..PLAIN
    },
    Language {
        name: "a shell script",
        names: &[
            ".sh",
            ".bash",
            ".mk",
            "/Makefile",
            "/makefile",
            "/GNUmakefile",
            "/justfile",
            "/Justfile",
            "/Jenkinsfile",
        ],
        marks: &[
            "instances create",
            "instance-templates create",
            "tpu-vm create",
            "queued-resources create",
            "node-pools create",
            "container clusters create",
            "dataproc clusters create",
            "custom-jobs create",
            "endpoints deploy-model",
            "run-instances",
            "request-spot",
            "create-nodegroup",
            "create-fleet",
            "create-compute-environment",
            "emr create-cluster",
            "sagemaker create",
            "eksctl create",
            "create machinepool",
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
            "instance-operations/launch",
            "api.digitalocean.com/v2/droplets",
            "api.vultr.com/v2/instances",
            "rest.runpod.io",
            "api.runpod.io",
            "console.vast.ai/api",
        ],
        is_script: true,
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a pipeline that creates machines",
        marks: &[
            "instances create",
            "node-pools create",
            "container clusters create",
            "dataproc clusters create",
            "custom-jobs create",
            "tpu-vm create",
            "run-instances",
            "create-nodegroup",
            "create-compute-environment",
            "sagemaker create-",
            "ec2-instance-type:",
            "az vm create",
            "az vmss create",
            "az ml compute create",
            "nodepool add",
            "eksctl create",
            "create machinepool",
        ],
        by_names_alone: true,
        ..PLAIN
    },
    Language { name: "a Helmfile template", names: &["/helmfile.yaml.gotmpl"], ..PLAIN },
    Language { name: "Nextflow", names: &[".nf", "/nextflow.config"], asks: Some(&NEXTFLOW), ..PLAIN },
    Language { name: "WDL", names: &[".wdl"], asks: Some(&WDL), ..PLAIN },
    Language { name: "Snakemake", names: &["/Snakefile", ".smk"], asks: Some(&SNAKEMAKE), ..PLAIN },
    Language { name: "Vagrant", names: &["/Vagrantfile"], by_names_alone: true, ..PLAIN },
    Language {
        name: "a notebook",
        names: NOTEBOOKS,
        marks: &[
            "import sagemaker",
            "from sagemaker",
            "import boto3",
            "google.cloud import aiplatform",
            "google.cloud.aiplatform",
            "azure.ai.ml",
            "azureml.",
            "import modal",
        ],
        asks: Some(&MACHINE_OF_NOTEBOOK),
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "CloudFormation",
        root_keys: &["Resources"],
        marks: &["AWSTemplateFormatVersion", "AWS::"],
        reader: Reader::CloudFormation,
        ..PLAIN
    },
    Language { name: "the output of Pulumi", marks: &["urn:pulumi:"], reader: Reader::Pulumi, ..PLAIN },
    Language {
        name: "an Azure template",
        root_keys: &["$schema"],
        marks: &["/deploymentTemplate.json", "DeploymentTemplate.json"],
        reader: Reader::Azure,
        ..PLAIN
    },
    Language {
        name: "Deployment Manager",
        marks: &["compute.v1.instance", "compute.beta.instance", "container.v1.cluster"],
        ..PLAIN
    },
    Language { name: "a Ray cluster", marks: &["available_node_types"], ..PLAIN },
    Language {
        name: "ParallelCluster",
        root_keys: &["Scheduling", "HeadNode"],
        marks: &["SlurmQueues", "AwsBatchQueues"],
        reader: Reader::Kubernetes,
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a Cluster Toolkit blueprint",
        marks: &["blueprint_name"],
        reader: Reader::Kubernetes,
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "Azure ML",
        marks: &["azuremlschemas", "type: amlcompute", "type: computeinstance"],
        reader: Reader::Kubernetes,
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "Vertex AI",
        marks: &["workerPoolSpecs", "worker_pool_specs"],
        reader: Reader::Kubernetes,
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "OpenShift's installer",
        root_keys: &["baseDomain", "compute"],
        marks: &["baseDomain"],
        reader: Reader::Kubernetes,
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a Databricks bundle",
        marks: &["node_type_id"],
        reader: Reader::Kubernetes,
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "Step Functions",
        marks: &["arn:aws:states:::"],
        reader: Reader::Kubernetes,
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a spot fleet",
        marks: &["LaunchSpecifications", "LaunchTemplateConfigs"],
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a definition of an ECS task or a Batch job",
        marks: &["\"resourceRequirements\""],
        asks: Some(&GPU_OF_CONTAINER),
        ..PLAIN
    },
    Language {
        name: "model serving of Databricks",
        marks: &["workload_type"],
        asks: Some(&DATABRICKS_SERVING),
        ..PLAIN
    },
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
    Language {
        name: "a Terraform state",
        names: &[".tfstate"],
        by_names_alone: true,
        cure: "check the configuration instead: a state records what runs and is not a source",
        ..PLAIN
    },
    Language {
        name: "Elastic Beanstalk",
        names: &[".config"],
        marks: &["aws:autoscaling:launchconfiguration", "aws:ec2:instances"],
        by_names_alone: true,
        ..PLAIN
    },
    Language { name: "Fly", names: &["/fly.toml"], asks: Some(&FLY), ..PLAIN },
    Language { name: "Cerebrium", names: &["/cerebrium.toml"], asks: Some(&CEREBRIUM), ..PLAIN },
    Language { name: "Cog", names: &["/cog.yaml"], asks: Some(&COG), ..PLAIN },
    Language { name: "GitLab CI", names: &["/.gitlab-ci.yml"], asks: Some(&GITLAB), ..PLAIN },
    Language { name: "GitHub Actions", marks: &["runs-on:"], asks: Some(&ACTIONS), ..PLAIN },
    Language { name: "CircleCI", marks: &["resource_class:"], asks: Some(&CIRCLE), ..PLAIN },
    Language { name: "BentoML", names: &["/bentofile.yaml"], asks: Some(&BENTO), ..PLAIN },
    Language {
        name: "MosaicML",
        root_keys: &["compute", "image"],
        marks: &["gpu_type:"],
        asks: Some(&MOSAIC),
        ..PLAIN
    },
    Language { name: "Truss", marks: &["python_version: py3"], asks: Some(&TRUSS), ..PLAIN },
    Language { name: "Determined", marks: &["slots_per_trial:"], asks: Some(&DETERMINED), ..PLAIN },
    Language {
        name: "SageMaker in Python",
        names: PYTHON,
        marks: &["import sagemaker", "from sagemaker"],
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "Vertex AI in Python",
        names: PYTHON,
        marks: &[
            "google.cloud import aiplatform",
            "google.cloud.aiplatform",
            "import vertexai",
            "from vertexai",
            "workerPoolSpecs",
            "worker_pool_specs",
        ],
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "Azure ML in Python",
        names: PYTHON,
        marks: &["from azure.ai.ml", "import azure.ai.ml", "from azureml.", "import azureml"],
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a Python program that calls AWS",
        names: PYTHON,
        marks: &["import boto3", "from boto3"],
        by_names_alone: true,
        asks: Some(&MACHINE_OF_CALL),
        ..PLAIN
    },
    Language {
        name: "a Python program that calls Google Cloud",
        names: PYTHON,
        marks: &[
            "google.cloud import compute",
            "google.cloud import container",
            "google.cloud import batch",
            "google.cloud import tpu",
            "google.cloud import dataproc",
            "import googleapiclient",
            "from googleapiclient",
        ],
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a Python program that calls Azure",
        names: PYTHON,
        marks: &["azure.mgmt.compute", "azure.mgmt.containerservice", "azure.batch", "azure.mgmt.batch"],
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "a Python program that schedules work",
        names: PYTHON,
        marks: &["from airflow", "import airflow", "clearml.automation"],
        by_names_alone: true,
        ..PLAIN
    },
    Language {
        name: "Kubernetes in Python",
        names: PYTHON,
        marks: &[
            "from kubernetes import",
            "from kubernetes.client",
            "import kubernetes",
            "from kubernetes_asyncio",
            "from prefect_kubernetes",
            "dagster-k8s",
            "dagster_k8s",
            "from kubeflow",
        ],
        asks: Some(&DEVICES_OF_PROGRAM),
        ..PLAIN
    },
    Language { name: "Modal", names: PYTHON, marks: &["import modal", "from modal "], asks: Some(&MODAL), ..PLAIN },
    Language { name: "Beam", names: PYTHON, marks: &["from beam import"], asks: Some(&MODAL), ..PLAIN },
    Language { name: "fal", names: PYTHON, marks: &["import fal", "from fal"], asks: Some(&FAL), ..PLAIN },
    Language {
        name: "SkyPilot in Python",
        names: PYTHON,
        marks: &["import sky\n", "from sky import", "sky.Task(", "sky.Resources("],
        asks: Some(&SKYPILOT),
        ..PLAIN
    },
    Language {
        name: "Lightning",
        names: PYTHON,
        marks: &["from lightning_sdk", "import lightning_sdk"],
        asks: Some(&LIGHTNING),
        ..PLAIN
    },
    Language {
        name: "a pipeline in Python",
        names: PYTHON,
        marks: &["from zenml", "import mlrun", "import kubetorch", "import runhouse"],
        asks: Some(&PIPELINE_IN_PYTHON),
        ..PLAIN
    },
    Language { name: "RunPod", names: PYTHON, marks: &["import runpod", "from runpod"], asks: Some(&RUNPOD), ..PLAIN },
    Language {
        name: "BentoML",
        names: PYTHON,
        marks: &["import bentoml", "from bentoml"],
        asks: Some(&BENTO),
        ..PLAIN
    },
    Language {
        name: "Flyte",
        names: PYTHON,
        marks: &["import flytekit", "from flytekit"],
        asks: Some(&FLYTE),
        ..PLAIN
    },
    Language {
        name: "Metaflow",
        names: PYTHON,
        marks: &["import metaflow", "from metaflow"],
        asks: Some(&METAFLOW),
        ..PLAIN
    },
    Language {
        name: "a Kubeflow pipeline in Python",
        names: PYTHON,
        marks: &["import kfp", "from kfp"],
        asks: Some(&KUBEFLOW),
        ..PLAIN
    },
];

/// A CloudFormation template that a macro changes before deployment.
pub(crate) static MADE_BY_MACRO: Language = Language {
    name: "the output of a macro for this template",
    cure: "check the processed template: `aws cloudformation get-template --template-stage Processed`",
    ..PLAIN
};

/// Only the first bytes of such programs are read, because repositories have thousands of them.
pub(super) const PYTHON: &[&str] = &[".py"];
pub(super) const NOTEBOOKS: &[&str] = &[".ipynb"];

const BATCH_SCRIPTS: &[&str] = &[".sh", ".bash", ".sbatch", ".slurm"];
const SLURM_COMMANDS: &[&str] = &["sbatch ", "srun ", "salloc ", "#SBATCH "];

static_regex!(static SLURM: Regex =
    r"--gres[= ]gpu[\w:.-]*|--gpus(?:-per-[a-z]+)?[= ](?:[\w.-]+:)?[0-9]+|#SBATCH\s+-G\s*(?:[\w.-]+:)?[0-9]+");
static_regex!(static SLURM_NODES: Regex = r"(?i)\bName=gpu\b(?:\s+Type=\S+)?|\bGres=\S*gpu:\S*");
static_regex!(static CEREBRIUM: Regex = r#"\bcompute\s*=\s*"[A-Z]+_[A-Z0-9_]+"|\bgpu\s*=\s*"[^"]+""#);
static_regex!(static COG: Regex = r"\bgpu:\s*true\b");
static_regex!(static GITLAB: Regex = r"\bsaas-linux-[a-z0-9-]*gpu[a-z0-9-]*|\btags:.*\bgpu\b[\w-]*\]?");
static_regex!(static ACTIONS: Regex = r"\bruns-on:.*[\s\[,'-](?:gpu|[tv]4|v100|[al]10g?|l40s?|[abh][12]00|h200)\b[\w.-]*\]?");
static_regex!(static TRUSS: Regex = r#"\baccelerator:\s*["']?[A-Z][A-Z0-9_]*[0-9][A-Z0-9_]*(?::[0-9]+)?|\buse_gpu:\s*true\b"#);
static_regex!(static DETERMINED: Regex = r"\bslots_per_trial:\s*[1-9][0-9]*");
static_regex!(static FLY: Regex = r#"\bgpu_kind["']?\s*=\s*["'][^"']+["']|\bgpus\s*=\s*[1-9]\d*|\bsize["']?\s*=\s*["'](?:a10|l40s|a100-[0-9a-z]+)["']"#);
static_regex!(static MACHINE_OF_CALL: Regex = r#"(?i)\binstance_?types?\w*["'\]]*\s*[:=,(].*"#);
static_regex!(static MODAL: Regex = r#"\bgpu\s*=\s*(?:"[^"]+"|'[^']+'|\[[^\]]*\]|(?:modal\.)?gpu\.\w+(?:\([^)]*\))?|[A-Z]\w+)"#);
static_regex!(static RUNPOD: Regex = r#"\bgpu_?[tT]ype_?[iI]ds?["']?\s*[=:]\s*(?:"[^"]+"|'[^']+'|\[[^\]]*\]|[A-Za-z_]\w*)|\bgpus?\s*=\s*\[?Gpu(?:Type|Group)\.\w+|["'](?:NVIDIA|AMD) [^"']+["']"#);
static_regex!(static BENTO: Regex = r#"["']?\bgpu_type\b["']?\s*[:=]\s*["'][^"']+["']|["']?\bgpu\b["']?\s*[:=]\s*["']?[1-9][0-9]*["']?"#);
static_regex!(static FLYTE: Regex = r#"\baccelerator\s*=\s*[\w.]+(?:\([^)]*\))?|\bgpu\s*=\s*["']?[1-9][0-9]*["']?"#);
static_regex!(static FAL: Regex = r#"\bmachine_type["']?\s*[:=]\s*\[?\s*["']GPU[^"']*["']|\bnum_gpus\s*=\s*[1-9][0-9]*"#);
static_regex!(static SKYPILOT: Regex = r#"\baccelerators["']?\s*[=:]\s*(?:"[^"]+"|'[^']+'|\{[^}]*\}|\[[^\]]*\])"#);
static_regex!(static LIGHTNING: Regex = r"\bMachine\.(?:T4|L4|L40S?|A10G?|V100|A100|H100|H200|B200)\w*");
static_regex!(static PIPELINE_IN_PYTHON: Regex = r#"\bgpu_count["']?\s*[=:]\s*[1-9][0-9]*|\bgpus\s*=\s*["']?[1-9][0-9]*["']?|\binstance_type\s*=\s*["'][A-Z][A-Z0-9-]*[0-9][\w-]*:[0-9]+["']|\bgpu_type\s*=\s*["'][^"']+["']"#);
static_regex!(static DEVICES_OF_PROGRAM: Regex = r#"["'](?:nvidia\.com/(?:gpu|mig-[\w.]+)|amd\.com/gpu|google\.com/tpu|aws\.amazon\.com/neuron\w*|habana\.ai/gaudi)["']\]?\s*[:=]\s*[^,})\]]+"#);
static_regex!(static MACHINE_OF_NOTEBOOK: Regex = r#"(?i)\b(?:instance_?type|machine_?type|accelerator_?type|vm_?size|compute_?type)\w*[\\"'\]]*\s*[:=,(].*"#);
static_regex!(static NEXTFLOW: Regex = r#"\baccelerator\s*=?\s*(?:\[[^\]]*\]|[1-9][0-9]*\b.*)"#);
static_regex!(static WDL: Regex = r#"\bgpu_?(?:Type|Count)\s*:\s*\S+|\bgpu\s*:\s*true|\bacceleratorType\s*:\s*\S+"#);
static_regex!(static SNAKEMAKE: Regex = r#"\b(?:nvidia_)?gpus?\s*=\s*["']?[1-9][0-9]*|--gres[= ]gpu[\w:.-]*|\bgres\s*=\s*["']gpu[^"']*["']"#);
static_regex!(static GPU_OF_CONTAINER: Regex = r#""type"\s*:\s*"GPU""#);
static_regex!(static DATABRICKS_SERVING: Regex = r#"\bworkload_type["']?\s*[:=]\s*["']?(?:MULTI)?GPU\w*"#);
static_regex!(static CIRCLE: Regex = r"\bresource_class:\s*\S*gpu\S*");
static_regex!(static MOSAIC: Regex = r"\bgpus:\s*[1-9][0-9]*|\bgpu_type:\s*\S+");
static_regex!(static METAFLOW: Regex = r#"\bgpu\s*=\s*["']?[1-9][0-9]*["']?"#);
static_regex!(static KUBEFLOW: Regex =
    r"\.?(?:set_gpu_limit|set_accelerator_limit|set_accelerator_type)\([^)]*\)?");

impl Language {
    /// Returns its position in the table, from 1.
    pub fn number(&self) -> u8 {
        let place = LANGUAGES.iter().position(|it| std::ptr::eq(it, self));
        place.and_then(|it| u8::try_from(it + 1).ok()).unwrap_or_default()
    }

    pub fn from_number(number: u8) -> Option<&'static Language> {
        LANGUAGES.get(usize::from(number).checked_sub(1)?)
    }

    /// Returns true if its comments begin with `//`.
    pub fn has_slash_comments(&self) -> bool {
        const ENDINGS: [&str; 4] = [".jsonnet", ".cue", ".bicep", ".go"];
        self.names.iter().chain(self.beside).any(|name| ENDINGS.contains(name))
    }

    /// Returns true if a file of this name contains a part of its program or its settings.
    pub fn has_beside(&self, name: &str) -> bool {
        let is_settings = || !self.settings.is_empty() && name.starts_with(self.settings) && is_yaml(name);
        self.beside.iter().any(|ending| name.ends_with(ending)) || is_settings()
    }

    /// Returns true if a program in a general language describes the machines.
    pub fn is_program(&self) -> bool {
        !self.beside.is_empty()
    }

    /// Returns true if a file without all of its root keys is in another language. A part of a cloud template is not.
    pub(super) fn needs_its_root_keys(&self) -> bool {
        matches!(self.reader, Reader::None | Reader::Kubernetes)
    }

    /// Returns true if its files run commands that create machines.
    pub fn runs_commands(&self) -> bool {
        self.by_names_alone && (self.is_script || self.is_pipeline())
    }

    /// Returns true if its files are Python programs that may create machines by calls.
    pub fn makes_calls(&self) -> bool {
        self.by_names_alone && self.names.iter().eq(PYTHON)
    }

    /// Returns true if it is data whose strings are scripts.
    pub fn is_pipeline(&self) -> bool {
        self.reader == Reader::None && self.names.is_empty() && self.marks.contains(&"run-instances")
    }

    /// Returns true if its files are data with one definition, which other programs deploy.
    pub fn is_definition(&self) -> bool {
        self.names.is_empty() && self.asks.is_some() && !self.by_names_alone
    }

    /// Returns true if the definitions of kinds read files of this language, which may contain other parts.
    pub fn is_read_by_shape(&self) -> bool {
        self.reader == Reader::Kubernetes && self.names.is_empty()
    }

    /// Returns true if it has its own pattern for requests of accelerators, so that nothing else counts.
    pub fn asks_in_own_words(&self) -> bool {
        self.asks.is_some()
    }

    /// Returns all matches of that pattern in a line, because the number may precede the kind.
    pub fn asking(&self, line: &str) -> Option<String> {
        let words: Vec<&str> = self.asks?.find_iter(line).map(|found| found.as_str()).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

pub(super) fn is_called(path: &str, name: &str) -> bool {
    match name.strip_prefix('/') {
        Some(whole) => path.strip_suffix(whole).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')),
        None => path.ends_with(name),
    }
}

/// Returns true if a file belongs to a reader by its name.
pub(crate) fn is_of(reader: Reader, path: &str) -> bool {
    languages_of_name(path).any(|it| it.reader == reader)
}

/// Returns true if it is a script that may run Terraform or helm with values that no file contains, and not data.
pub(crate) fn is_script_alone(path: &str) -> bool {
    !is_yaml(path) && (languages_of_name(path).any(|it| it.is_script) || file_name(path) == "package.json")
}

/// Returns true if a path belongs to a script or pipeline, which calls deploy tools.
pub(crate) fn may_call_deploy_tools(path: &str) -> bool {
    const WORDS: [&str; 11] = [
        "workflow",
        "pipeline",
        "gitlab-ci",
        "cloudbuild",
        "buildspec",
        "circleci",
        "task",
        "atlantis",
        "tekton",
        "play",
        "deploy",
    ];
    static NAMED: LazyLock<Needles> = LazyLock::new(|| Needles::new(&WORDS));
    is_script_alone(path) || is_yaml(path) && NAMED.any(path.to_ascii_lowercase().as_bytes(), |_, _| true)
}

/// Returns the scripts and pipelines that may call deploy tools and contain one of these marks.
pub(crate) fn scripts_with<'p>(sources: &SourceFiles, paths: &'p [String], marks: &[&[u8]]) -> Vec<&'p String> {
    let scripts = paths.iter().filter(|path| may_call_deploy_tools(path)).collect();
    those(scripts, |path| sources.glance(path, |text| has_mark(text, marks)).unwrap_or(false))
}

fn is_yaml(path: &str) -> bool {
    [".yml", ".yaml"].iter().any(|ending| path.ends_with(ending))
}

#[derive(Default)]
struct Names {
    /// Endings of names with positions of their languages in the table, by the last extension.
    ends: HashMap<&'static str, Vec<(&'static str, usize)>>,
    whole: HashMap<&'static str, Vec<usize>>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut names = Names::default();
    let all = LANGUAGES.iter().enumerate();
    for (language, name) in all.flat_map(|(at, it)| it.names.iter().map(move |name| (at, *name))) {
        match name.strip_prefix('/') {
            Some(whole) => names.whole.entry(whole).or_default().push(language),
            None => {
                let extension = name.rsplit('.').next().unwrap_or_default();
                names.ends.entry(extension).or_default().push((name, language));
            }
        }
    }
    names
});

/// Returns the languages to which the name of a file belongs, in the order of the table.
pub(super) fn languages_of_name(path: &str) -> impl Iterator<Item = &'static Language> {
    let name = file_name(path);
    let of_end = name.rsplit_once('.').and_then(|(_, extension)| NAMES.ends.get(extension));
    let of_end = of_end.into_iter().flatten().filter(|(end, _)| name.ends_with(end)).map(|(_, at)| at);
    let mut found: Vec<usize> = of_end.chain(NAMES.whole.get(name).into_iter().flatten()).copied().collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().filter_map(|at| LANGUAGES.get(at))
}

/// Returns true if a reader may read a file of this name, or the file may call one.
pub(crate) fn is_candidate(name: &[u8]) -> bool {
    let Ok(name) = std::str::from_utf8(name) else {
        return name.rsplit(|byte| *byte == b'.').next().is_some_and(|end| {
            std::str::from_utf8(end).is_ok_and(|end| NAMES.ends.contains_key(&*end.to_ascii_lowercase()))
        });
    };
    // kubectl reads any file that it gets, and `pod.YAML` creates a pod.
    let small = name.to_ascii_lowercase();
    let of_end = small.rsplit_once('.').and_then(|(_, end)| NAMES.ends.get(end));
    of_end.is_some_and(|ends| ends.iter().any(|(end, _)| small.ends_with(end))) || NAMES.whole.contains_key(name)
}

/// Returns the endings of files that have a reader, without duplicates, in the order of the table.
pub(crate) fn read_endings() -> Vec<&'static str> {
    let read = LANGUAGES.iter().filter(|it| !matches!(it.reader, Reader::None | Reader::Companion));
    let mut all: Vec<&str> = Vec::new();
    for name in read.flat_map(|it| it.names.iter().copied()) {
        let end = name.rfind('.').and_then(|at| name.get(at..)).unwrap_or(name);
        if !all.contains(&end) {
            all.push(end);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    fn text_of(path: &str) -> String {
        fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    #[test]
    fn the_index_of_names_agrees_with_the_table() {
        let paths = LANGUAGES.iter().flat_map(|it| it.names.iter()).flat_map(|name| {
            let bare = name.trim_start_matches('/');
            [bare.to_owned(), format!("a/{bare}"), format!("a/b{bare}"), format!("{bare}.x"), format!("a{bare}/b")]
        });
        for path in paths {
            let named: Vec<&str> = languages_of_name(&path).map(|it| it.name).collect();
            let in_table = LANGUAGES.iter().filter(|it| it.names.iter().any(|name| is_called(&path, name)));
            assert_eq!(named, in_table.map(|it| it.name).collect::<Vec<_>>(), "{path}");
        }
    }

    /// If an editor does not pass a language to the server, its files have no prices and fixes.
    #[test]
    fn editors_hand_over_every_file_that_is_read() {
        // Editors that select by file name.
        let named =
            ["editors/vscode/src/extension.ts", "editors/neovim/older.lua", "editors/jetbrains/gpulint/template.json"];
        // Editors that select by language, with their names for languages.
        let called = [
            (
                "editors/neovim/lsp/gpulint.lua",
                [
                    "terraform",
                    "terraform-vars",
                    "opentofu",
                    "hcl",
                    "yaml",
                    "json",
                    "helm",
                    "gotmpl",
                    "jinja",
                    "template",
                    "bicep",
                    "bicep-params",
                    "sh",
                ]
                .as_slice(),
            ),
            ("editors/helix/languages.toml", &["hcl", "tfvars", "yaml", "json", "helm", "bicep", "bash"]),
            ("editors/kakoune/gpulint.kak", &["terraform", "hcl", "yaml", "json", "bicep", "sh"]),
            (
                "editors/emacs/gpulint.el",
                &["terraform-mode", "hcl-mode", "yaml-mode", "json-mode", "bicep-mode", "sh-mode"],
            ),
            (
                "editors/zed/extension.toml",
                &["Terraform", "Terraform Vars", "HCL", "OpenTofu", "YAML", "JSON", "Helm", "Bicep", "Shell Script"],
            ),
        ];
        for editor in named {
            let text = text_of(editor);
            let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
            for ending in read_endings() {
                assert!(words.contains(&ending[1..]), "{editor} does not name {ending}");
            }
        }
        for (editor, names) in called {
            let text = text_of(editor);
            for name in names {
                let ends = ['"', '\'', '|', '(', ')', ':', '\n'];
                let is_named = text.split(ends).any(|part| part == *name || part.split(' ').any(|it| it == *name));
                assert!(is_named, "{editor} does not name {name}");
            }
        }
    }

    #[test]
    fn descriptions_name_what_is_read() {
        for path in [
            "Cargo.toml",
            "pyproject.toml",
            "action.yml",
            "packaging/gpulint.rb",
            "editors/vscode/package.json",
            "editors/zed/extension.toml",
            ".pre-commit-hooks.yaml",
        ] {
            assert!(text_of(path).contains(READ), "{path} does not say: {READ}");
        }
        let families = [Reader::Terraform, Reader::Kubernetes, Reader::CloudFormation, Reader::Azure, Reader::Pulumi];
        for family in families {
            let names = LANGUAGES.iter().filter(|it| it.reader == family);
            let is_named = |it: &Language| READ.contains(it.name) || it.name.contains("Azure") && READ.contains("ARM");
            assert!(names.clone().any(is_named), "{family:?}");
        }
    }

    /// The page names every language without a reader.
    #[test]
    fn the_page_names_what_is_not_read() {
        let mut names: Vec<&str> = Vec::new();
        for it in LANGUAGES.iter().filter(|it| it.reader == Reader::None) {
            if !names.contains(&it.name) {
                names.push(it.name);
            }
        }
        let list = names.join(", ");
        let page = text_of("docs/reads.md").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&list), "docs/reads.md does not say: {list}");
    }
}
