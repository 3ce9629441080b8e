//! Languages that rent machines or ask for accelerators and that nobody here reads: that a file is in one of them is told.

use std::cell::Cell;
use std::sync::LazyLock;

use regex::Regex;

use crate::source::{Needles, static_regex};

/// A language that is not read.
#[derive(Debug)]
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
    /// The words of a line that ask for accelerators, where the language has its own: then nothing else counts.
    asks: Option<&'static LazyLock<Regex>>,
    /// What to do about it, where that is not to judge it elsewhere.
    pub cure: &'static str,
}

const PLAIN: Language = Language {
    name: "",
    names: &[],
    marks: &[],
    beside: &[],
    by_names_alone: false,
    asks: None,
    cure: "nothing is said of it here: judge it elsewhere, or leave it out with `exclude` in gpulint.toml",
};

/// Endings of programs that describe machines.
const PROGRAMS: &[&str] = &[".py", ".ts", ".js", ".go", ".cs", ".java"];

/// By their names, and, where these are those of data, by their words; 2026-11.
static LANGUAGES: &[Language] = &[
    Language {
        name: PULUMI,
        names: &["/Pulumi.yaml", "/Pulumi.yml"],
        beside: PROGRAMS,
        cure: "run `pulumi preview --json > preview.json`, and name what it wrote: `gpulint check preview.json`",
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
        name: CDK,
        names: &["/cdk.json"],
        beside: PROGRAMS,
        cure: "run `cdk synth`, and name what it wrote: `gpulint check cdk.out`",
        ..PLAIN
    },
    Language {
        name: "CDK for Terraform",
        names: &["/cdktf.json"],
        beside: PROGRAMS,
        cure: "run `cdktf synth`, and name what it wrote: `gpulint check cdktf.out`",
        ..PLAIN
    },
    Language { name: "Jsonnet", names: &[".jsonnet", ".libsonnet"], ..PLAIN },
    Language { name: "CUE", names: &[".cue"], ..PLAIN },
    Language { name: "KCL", names: &[".k"], ..PLAIN },
    Language { name: BICEP, names: &[".bicep", ".bicepparam"], ..PLAIN },
    Language { name: "Nomad", names: &[".nomad", ".nomad.hcl"], ..PLAIN },
    Language { name: "Terraform Stacks", names: &[".tfcomponent.hcl", ".tfstack.hcl", ".tfdeploy.hcl"], ..PLAIN },
    Language { name: "Packer", names: &[".pkr.hcl"], by_names_alone: true, ..PLAIN },
    Language { name: "Slurm", names: &["/gres.conf", "/slurm.conf"], asks: Some(&SLURM_NODES), ..PLAIN },
    Language { name: CALL_OF_SLURM, names: BATCH_SCRIPTS, marks: SLURM_COMMANDS, asks: Some(&SLURM), ..PLAIN },
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
    Language { name: CLOUDFORMATION, marks: &["AWSTemplateFormatVersion", "AWS::"], ..PLAIN },
    Language { name: WRITTEN_BY_PULUMI, marks: &["urn:pulumi:"], ..PLAIN },
    Language { name: AZURE_TEMPLATE, marks: &["/deploymentTemplate.json", "DeploymentTemplate.json"], ..PLAIN },
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
    Language {
        name: "a state of Terraform",
        names: &[".tfstate"],
        by_names_alone: true,
        cure: "a state is what runs and no source: check the configuration that it was made from",
        ..PLAIN
    },
    Language { name: "Cerebrium", names: &["/cerebrium.toml"], asks: Some(&CEREBRIUM), ..PLAIN },
    Language { name: "Cog", names: &["/cog.yaml"], asks: Some(&COG), ..PLAIN },
    Language { name: "GitLab CI", names: &["/.gitlab-ci.yml"], asks: Some(&GITLAB), ..PLAIN },
    Language { name: "GitHub Actions", marks: &["runs-on:"], asks: Some(&ACTIONS), ..PLAIN },
    Language { name: "Truss", marks: &["python_version: py3"], asks: Some(&TRUSS), ..PLAIN },
    Language { name: "Determined", marks: &["slots_per_trial:"], asks: Some(&DETERMINED), ..PLAIN },
    Language { name: "Modal", names: PYTHON, marks: &["import modal", "from modal "], asks: Some(&MODAL), ..PLAIN },
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
        name: "a pipeline of Kubeflow in Python",
        names: PYTHON,
        marks: &["import kfp", "from kfp"],
        asks: Some(&KUBEFLOW),
        ..PLAIN
    },
];

/// A template of CloudFormation that is not what is deployed.
pub static MADE_BY_MACRO: Language = Language {
    name: "what a macro makes of this template",
    cure: "check what it made: `aws cloudformation get-template --template-stage Processed`",
    ..PLAIN
};

/// Programs that write templates of CloudFormation.
pub const CDK: &str = "CDK";

/// Files that look like it are read where they are templates, and told where they are not.
pub const CLOUDFORMATION: &str = "CloudFormation";

/// The same of Pulumi: projects, and what it wrote of one.
pub const PULUMI: &str = "Pulumi";
pub const WRITTEN_BY_PULUMI: &str = "what Pulumi wrote";

/// The same of Azure, in JSON and in a language of their own.
pub const AZURE_TEMPLATE: &str = "a template of Azure";
pub const BICEP: &str = "Bicep";

/// What is told of scripts that are not read as the jobs that they are.
pub const CALL_OF_SLURM: &str = "a call of Slurm";

const PYTHON: &[&str] = &[".py"];
/// Of programs only so much is looked at for what they import: there are thousands of them.
pub const HEAD_OF_PROGRAM: usize = 8 << 10;

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
static_regex!(static MODAL: Regex = r#"\bgpu\s*=\s*(?:"[^"]+"|'[^']+'|\[[^\]]*\]|modal\.gpu\.\w+(?:\([^)]*\))?|[A-Z]\w+)"#);
static_regex!(static RUNPOD: Regex = r#"\bgpu_?[tT]ype_?[iI]ds?["']?\s*[=:]\s*(?:"[^"]+"|'[^']+'|\[[^\]]*\]|[A-Za-z_]\w*)|\bgpus?\s*=\s*\[?Gpu(?:Type|Group)\.\w+"#);
static_regex!(static BENTO: Regex = r#"["']?\bgpu_type\b["']?\s*[:=]\s*["'][^"']+["']|["']?\bgpu\b["']?\s*[:=]\s*["']?[1-9][0-9]*["']?"#);
static_regex!(static FLYTE: Regex = r#"\baccelerator\s*=\s*[\w.]+(?:\([^)]*\))?|\bgpu\s*=\s*["']?[1-9][0-9]*["']?"#);
static_regex!(static METAFLOW: Regex = r#"\bgpu\s*=\s*["']?[1-9][0-9]*["']?"#);
static_regex!(static KUBEFLOW: Regex =
    r"\.?(?:set_gpu_limit|set_accelerator_limit|set_accelerator_type)\([^)]*\)?");

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
    let called = called(path);
    if called.is_some_and(|it| it.asks.is_none()) {
        return called;
    }
    let head = text.get(..HEAD).unwrap_or(text);
    if !path.ends_with(".json") && ["apiVersion:", "kind:"].iter().all(|key| has_line(head, key.as_bytes())) {
        return None;
    }
    let (marks, languages) = &*MARKS;
    // Of several the first in the table: a pipeline that creates machines says more than that it is a pipeline.
    let first = Cell::new(usize::MAX);
    marks.any(text, |mark, _| {
        first.set(first.get().min(mark));
        false
    });
    languages.get(first.get()).copied().or(called)
}

/// What of the name of a file decides about the language of its text: two files of one text and one of these are in one
/// language.
pub fn class_of_data(path: &str) -> [u8; 2] {
    [called(path).map_or(0, Language::number), u8::from(path.ends_with(".json"))]
}

/// The languages of a file that is called as no data is.
pub fn languages_of_script(path: &str, text: &[u8]) -> Vec<&'static Language> {
    let is_marked = |it: &&Language| it.marks.is_empty() || it.marks.iter().any(|mark| has(text, mark.as_bytes()));
    all_called(path).filter(is_marked).collect()
}

/// Whether a few of many such files matter, by what stands at their heads.
pub fn is_program(path: &str) -> bool {
    PYTHON.iter().any(|name| is_called(path, name))
}

impl Language {
    /// Its place in the table, from 1.
    pub fn number(&self) -> u8 {
        let place = LANGUAGES.iter().position(|it| std::ptr::eq(it, self));
        place.and_then(|it| u8::try_from(it + 1).ok()).unwrap_or_default()
    }

    pub fn from_number(number: u8) -> Option<&'static Language> {
        LANGUAGES.get(usize::from(number).checked_sub(1)?)
    }

    /// A program in a general language describes the machines.
    pub fn is_program(&self) -> bool {
        !self.beside.is_empty()
    }

    /// It has words of its own that ask for accelerators: then nothing else counts.
    pub fn asks_in_own_words(&self) -> bool {
        self.asks.is_some()
    }

    /// These words in a line, all of them: how many there are may stand before what they are.
    pub fn asking(&self, line: &str) -> Option<String> {
        let words: Vec<&str> = self.asks?.find_iter(line).map(|found| found.as_str()).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

/// Whether the name of a file says that it is in a language that is not read, and is not the name of data.
pub fn is_script(path: &str) -> bool {
    called(path).is_some_and(|it| {
        const DATA: [&str; 4] = [".yaml", ".yml", ".json", ".gotmpl"];
        !it.names.iter().any(|name| DATA.iter().any(|ending| name.ends_with(ending)))
    })
}

fn called(path: &str) -> Option<&'static Language> {
    all_called(path).next()
}

fn all_called(path: &str) -> impl Iterator<Item = &'static Language> {
    LANGUAGES.iter().filter(move |it| it.names.iter().any(|name| is_called(path, name)))
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
        let script = |text: &str| languages_of_script("up.sh", text.as_bytes()).first().map(|it| it.name);
        assert_eq!(script("gcloud compute instances create a"), Some("a shell script"));
        assert_eq!(script("gcloud compute instances list # l4"), None);
        assert!(is_script("up.sh") && is_script("a.bicep") && is_script("a.nomad.hcl"));
        assert!(is_script("a/b.jsonnet") && !is_script("a/cdk.json"));
        assert!(!is_script("Pulumi.yaml") && !is_script("a.yaml") && !is_script("terragrunt.hcl"));
    }
}
