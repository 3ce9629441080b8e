//! Calculates the savings of findings again, from the output of `gpulint explain` and from published facts.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cli::Place;
use crate::measured_scores;

/// One finding, with the calculation that a reader would do.
struct Case {
    rule: &'static str,
    address: &'static str,
    text: String,
    sum: fn(&Told) -> f64,
    /// The recommended machine, if the calculation needs it and the help does not name it.
    instead: Option<&'static str>,
}

/// The output of `explain` for the resource, and for others that the calculation needs.
struct Told {
    /// The expected cost per month in dollars.
    month: f64,
    /// The same month with other ways of buying.
    bought: BTreeMap<String, f64>,
    /// The monthly cost of the resource `aws_instance.other`.
    other: Option<f64>,
    facts: BTreeMap<String, String>,
}

impl Told {
    fn fact(&self, name: &str) -> f64 {
        self.facts[name].parse().unwrap()
    }
}

fn instance(name: &str, machine: &str, rest: &str) -> String {
    format!(
        "resource \"aws_instance\" \"{name}\" {{\n  instance_type = \"{machine}\"\n  availability_zone = \"us-east-1a\"\n{rest}}}\n"
    )
}

fn gcp(machine: &str, labels: &str) -> String {
    format!(
        "resource \"google_compute_instance\" \"a\" {{\n  name = \"a\"\n  zone = \"us-central1-a\"\n  machine_type = \"{machine}\"\n  labels = {labels}\n}}\n"
    )
}

fn azure(machine: &str, tags: &str) -> String {
    format!(
        "resource \"azurerm_linux_virtual_machine\" \"a\" {{\n  name = \"a\"\n  location = \"eastus\"\n  size = \"{machine}\"\n  priority = \"Regular\"\n  tags = {tags}\n}}\n"
    )
}

fn deployment(namespace: &str, replicas: u32, machine: &str, gpus: u32, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: chat, namespace: {namespace} }}\nspec:\n  replicas: {replicas}\n  \
         template:\n    spec:\n      nodeSelector: {{ node.kubernetes.io/instance-type: {machine} }}\n      containers:\n        - name: server\n          \
         image: vllm/vllm-openai:v0.11.0\n          args: [--model=mistralai/Mistral-7B-Instruct-v0.3, --tensor-parallel-size=1]\n          \
         resources: {{ limits: {{ nvidia.com/gpu: {gpus}{more} }} }}\n"
    )
}

fn scaled(floor: u32) -> String {
    format!(
        "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {{ name: chat, namespace: staging }}\nspec:\n  scaleTargetRef: {{ name: chat }}\n  \
         minReplicaCount: {floor}\n  maxReplicaCount: {floor}\n  triggers: [{{ type: prometheus }}]\n"
    )
}

fn reservation(count: u32) -> String {
    format!(
        "resource \"aws_ec2_capacity_reservation\" \"r\" {{\n  instance_type = \"p4d.24xlarge\"\n  instance_platform = \"Linux/UNIX\"\n  \
         availability_zone = \"us-east-1a\"\n  instance_match_criteria = \"targeted\"\n  instance_count = {count}\n}}\n"
    )
}

const USES: &str = "  capacity_reservation_specification {\n    capacity_reservation_target {\n      capacity_reservation_id = aws_ec2_capacity_reservation.r.id\n    }\n  }\n";

const SEARCH: &str = "apiVersion: kubeflow.org/v1beta1\nkind: Experiment\nmetadata: { name: rates, namespace: serving }\nspec:\n  \
    parallelTrialCount: 4\n  maxTrialCount: 40\n  trialTemplate:\n    trialSpec:\n      apiVersion: batch/v1\n      kind: Job\n      spec:\n        \
    activeDeadlineSeconds: 3600\n        template:\n          spec:\n            restartPolicy: Never\n            nodeSelector: { \
    node.kubernetes.io/instance-type: g5.xlarge }\n            containers:\n              - name: train\n                image: pytorch/pytorch\n                \
    resources: { limits: { nvidia.com/gpu: 1 } }\n";

const POOL_OF_ONE_POD: &str = "resource \"aws_eks_node_group\" \"gpu\" {\n  cluster_name = \"prod\"\n  node_group_name = \"gpu\"\n  node_role_arn = \"arn:aws:iam::123456789012:role/nodes\"\n  \
    subnet_ids = [\"subnet-1\"]\n  instance_types = [\"g5.48xlarge\"]\n  labels = { pool = \"gpu\" }\n  scaling_config {\n    min_size = 1\n    max_size = 1\n    desired_size = 1\n  }\n}\n\
    resource \"kubernetes_deployment_v1\" \"chat\" {\n  metadata {\n    name = \"chat\"\n  }\n  spec {\n    replicas = 1\n    selector {\n      match_labels = { app = \"chat\" }\n    }\n    template {\n      metadata {\n        labels = { app = \"chat\" }\n      }\n      spec {\n        node_selector = { pool = \"gpu\" }\n        container {\n          name = \"server\"\n          image = \"vllm/vllm-openai:v0.11.0\"\n          args = [\"--model=mistralai/Mistral-7B-Instruct-v0.3\"]\n          resources {\n            limits = { \"nvidia.com/gpu\" = 1 }\n          }\n        }\n      }\n    }\n  }\n}\n";

/// Training that writes 14 bytes of each of 8.03 billion parameters every 5 minutes.
const CHECKPOINTS: &str = "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: train\n  labels: { gpulint.dev/method: full, gpulint.dev/checkpoint-minutes: \"5\" }\n\
    spec:\n  schedule: \"0 20 * * *\"\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds: 36000\n      backoffLimit: 3\n      template:\n        spec:\n          \
    restartPolicy: OnFailure\n          nodeSelector: { node.kubernetes.io/instance-type: p4d.24xlarge, karpenter.sh/capacity-type: spot }\n          containers:\n            \
    - name: train\n              image: acme.dev/train:1\n              command: [torchrun, --nproc_per_node=8, train.py, --output_dir=s3://runs/out, \
    --model_name_or_path=meta-llama/Llama-3.1-8B]\n              resources: { limits: { nvidia.com/gpu: 8 } }\n";

/// Returns the saving of writing only at the end of a run of 10 hours, at 1 GiB per second, if the provider takes back
/// 12.5% of the machines in a month.
fn fewer_checkpoints(told: &Told) -> f64 {
    let seconds = 8.03e9 * 14.0 / f64::from(1 << 30);
    let hours = 365.0 / 12.0 * 10.0;
    let writing = told.month * seconds * (1.0 / 300.0 - 1.0 / 36_000.0);
    let repeated = 0.125 * hours / 730.0 * (10.0 - 5.0 / 60.0) / 2.0;
    writing - told.month / hours * repeated
}

fn cases() -> Vec<Case> {
    let case = |rule, address, text: String, sum| Case { rule, address, text, sum, instead: None };
    let to_machine = |rule, machine: &'static str, text: String| {
        let sum: fn(&Told) -> f64 = |it| it.month - it.other.unwrap();
        Case { rule, address: "Deployment/serving/chat", text, sum, instead: Some(machine) }
    };
    let server = |machine: &str, args: &str| {
        let text = deployment("serving", 1, machine, 1, "");
        text.replace("--model=mistralai/Mistral-7B-Instruct-v0.3, --tensor-parallel-size=1", args)
    };
    let training = "{ workload = \"training\" }";
    let ci = "{ workload = \"ci\" }";
    let production = "{ environment = \"production\" }";
    let tags = |map: &str| format!("  tags = {map}\n");
    let to_spot: fn(&Told) -> f64 = |it| it.month - it.bought["spot"];
    let to_reserved: fn(&Told) -> f64 = |it| it.month - it.bought["reserved 1y"];
    let nights: fn(&Told) -> f64 = |it| it.month * (1.0 - 50.0 / 168.0);
    vec![
        case("missing-auto-shutdown", "aws_instance.a", instance("a", "g5.xlarge", ""), nights),
        case("missing-auto-shutdown", "google_compute_instance.a", gcp("g2-standard-4", "{}"), nights),
        case(
            "missing-auto-shutdown",
            "azurerm_linux_virtual_machine.a",
            azure("Standard_NC24ads_A100_v4", "{}"),
            nights,
        ),
        case("checkpoint-interval", "CronJob/train", CHECKPOINTS.to_owned(), fewer_checkpoints),
        case("on-demand-batch", "aws_instance.a", instance("a", "p4d.24xlarge", &tags(training)), to_spot),
        case("on-demand-batch", "google_compute_instance.a", gcp("a2-highgpu-1g", training), to_spot),
        case(
            "on-demand-batch",
            "azurerm_linux_virtual_machine.a",
            azure("Standard_NC24ads_A100_v4", training),
            to_spot,
        ),
        case("on-demand-dev", "aws_instance.a", instance("a", "g5.xlarge", &tags(ci)), to_spot),
        case("on-demand-dev", "google_compute_instance.a", gcp("g2-standard-4", ci), to_spot),
        case("steady-on-demand", "aws_instance.a", instance("a", "p4d.24xlarge", &tags(production)), to_reserved),
        case("steady-on-demand", "aws_instance.a", instance("a", "g5.2xlarge", &tags(production)), to_reserved),
        case("unused-reservation", "aws_ec2_capacity_reservation.r", reservation(2), |it| it.month),
        case(
            "overcommitted",
            "aws_ec2_capacity_reservation.r",
            reservation(3) + &instance("a", "p4d.24xlarge", USES),
            |it| it.month,
        ),
        case(
            "cheaper-region",
            "aws_instance.a",
            instance("a", "g5.xlarge", "").replace("us-east-1a", "eu-central-1a") + &instance("other", "g5.xlarge", ""),
            |it| it.month - it.other.unwrap(),
        ),
        // gp3 costs 8 cents per GiB and month in us-east-1.
        case(
            "oversized-disk",
            "aws_instance.a",
            instance(
                "a",
                "g5.xlarge",
                "  root_block_device {\n    volume_type = \"gp3\"\n    volume_size = 4000\n  }\n",
            ),
            |_| 3000.0 * 0.08,
        ),
        case(
            "unused-disk",
            "aws_instance.a",
            instance("a", "g5.xlarge", "")
                + "resource \"aws_ebs_volume\" \"old\" {\n  availability_zone = \"us-east-1a\"\n  type = \"gp3\"\n  size = 4000\n}\n",
            |_| 4000.0 * 0.08,
        ),
        case("static-replicas", "Deployment/serving/chat", deployment("serving", 4, "g5.xlarge", 1, ""), |it| {
            it.month * 2.0 / 4.0 * (1.0 - 50.0 / 168.0)
        }),
        case("static-replicas", "Deployment/serving/chat", deployment("serving", 2, "g6.xlarge", 1, ""), |it| {
            it.month / 2.0 * (1.0 - 50.0 / 168.0)
        }),
        case(
            "no-scale-to-zero",
            "Deployment/staging/chat",
            deployment("staging", 1, "g5.xlarge", 1, "") + &scaled(1),
            nights,
        ),
        // 120 of 192 CPUs are paid for, and one of eight accelerators would be a fair share.
        case(
            "stranded-gpus",
            "Deployment/serving/chat",
            deployment("serving", 1, "g5.48xlarge", 1, ", cpu: 120"),
            |it| it.month * (1.0 - (1.0 / 8.0) / (it.fact("cpus") / 192.0)),
        ),
        case("idle-gpus", "Deployment/serving/chat", deployment("serving", 1, "p4d.24xlarge", 8, ""), |it| {
            it.month * 7.0 / 8.0
        }),
        to_machine(
            "oversized-gpu",
            "g6.xlarge",
            server("p5.4xlarge", "--model=mistralai/Mistral-7B-Instruct-v0.3, --max-model-len=4096, --max-num-seqs=8"),
        ),
        to_machine(
            "fp32-inference",
            "g6.xlarge",
            server("g6e.xlarge", "--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=8192, --dtype=float32"),
        ),
        to_machine(
            "quantize-to-fit",
            "g6.xlarge",
            server("p5.4xlarge", "--model=mistralai/Mistral-Nemo-Instruct-2407, --max-model-len=16384"),
        ),
        to_machine(
            "premium-gpu-for-serving",
            "g6.xlarge",
            server("p5.4xlarge", "--model=meta-llama/Llama-3.1-8B-Instruct"),
        ),
        // An H100 can be divided into seven slices of 1g.10gb.
        case(
            "fraction-would-do",
            "Deployment/serving/chat",
            server("p5.4xlarge", "--model=Qwen/Qwen2.5-1.5B-Instruct, --max-model-len=4096"),
            |it| it.month * 6.0 / 7.0,
        ),
        // By the low end of the range, four of the other type generate as much as all eight, as the help states.
        Case {
            instead: Some("g6e.xlarge"),
            ..case(
                "dearer-per-token",
                "Deployment/serving/chat",
                deployment("serving", 8, "g5.16xlarge", 1, "")
                    .replace("parallel-size=1", "parallel-size=1, --max-model-len=8192"),
                |it| it.month - 4.0 * it.other.unwrap(),
            )
        },
        // Two of the other machines surely hold two requests per second.
        Case {
            instead: Some("g7e.2xlarge"),
            ..case(
                "promise-overpaid",
                "Deployment/serving/chat",
                deployment("serving", 8, "p5.4xlarge", 1, "")
                    .replace("parallel-size=1", "parallel-size=1, --max-model-len=8192")
                    .replace("    spec:\n      nodeS", "    metadata: { labels: { gpulint.dev/requests-per-second: \"2\", gpulint.dev/ms-per-token: \"60\" } }\n    spec:\n      nodeS"),
                |it| it.month - 2.0 * it.other.unwrap(),
            )
        },
        // The host charges 0.152 per million prompt tokens, which are four times as many, and 0.287 per million
        // generated ones.
        case(
            "hosted-would-do",
            "Deployment/serving/chat",
            server("g6e.xlarge", "--model=meta-llama/Llama-3.1-8B-Instruct, --max-model-len=8192")
                .replace("namespace: serving", "namespace: serving, labels: { gpulint.dev/tokens-per-day: 2M }"),
            |it| it.month - (4.0 * 0.152 + 0.287) * 2.0 * 730.0 / 24.0,
        ),
        // Three servers with the same tiny model fit on one accelerator.
        case(
            "consolidate-models",
            "Deployment/serving/chat",
            ["chat", "embed", "rerank"]
                .map(|name| {
                    server("g5.xlarge", "--model=BAAI/bge-small-en-v1.5")
                        .replace("name: chat, namespace", &format!("name: {name}, namespace"))
                })
                .join("---\n"),
            |it| it.month * 2.0,
        ),
        case("cpu-would-do", "Deployment/serving/chat", server("g5.xlarge", "--model=BAAI/bge-small-en-v1.5"), |it| {
            it.month - 0.40 * 730.0
        }),
        // A T4 has 320 of the 900 GB/s of a V100, so the same work takes 2.8125 times as long.
        Case {
            instead: Some("g4dn.xlarge"),
            ..case("old-generation", "aws_instance.a", instance("a", "p3.2xlarge", ""), |it| {
                it.month - it.other.unwrap() * 900.0 / 320.0
            })
        },
        case(
            "retired-machine",
            "azurerm_linux_virtual_machine.a",
            "resource \"azurerm_linux_virtual_machine\" \"a\" {\n  location = \"eastus\"\n  size = \"Standard_NC6s_v3\"\n}\n".to_owned(),
            |it| it.month - 0.526 * 730.0 * 900.0 / 320.0,
        ),
        Case {
            instead: Some("g6.xlarge"),
            ..case("premium-gpu-for-dev", "aws_instance.a", instance("a", "p5.4xlarge", &tags(ci)), |it| {
                it.month - it.other.unwrap()
            })
        },
        // 40 trials of one hour each; 25 to 45% of them are saved.
        case("search-without-early-stopping", "Experiment/serving/rates", SEARCH.to_owned(), |it| {
            it.month / 4.0 * 40.0 * 0.35
        }),
        Case {
            instead: Some("g5.xlarge"),
            ..case("oversized-node", "aws_eks_node_group.gpu", POOL_OF_ONE_POD.to_owned(), |it| {
                it.month - it.other.unwrap()
            })
        },
        Case {
            instead: Some("h100-ethernet-8x"),
            ..case("cheaper-provider", "aws_instance.a", instance("a", "p5.48xlarge", ""), |it| {
                it.month - it.other.unwrap()
            })
        },
    ]
}

fn dollars(text: &str) -> f64 {
    text.trim().trim_start_matches('$').replace(',', "").parse().unwrap()
}

fn explained(place: &Place, address: &str) -> Told {
    let text = place.stdout(&["explain", address]);
    let month = text.lines().rfind(|line| line.trim_start().starts_with("x ")).unwrap();
    let bought = text.lines().filter_map(|line| {
        let (way, usd) = line.trim().strip_prefix("bought ")?.split_once(": ")?;
        // `~$932 ($303–$1,392)/month`, or `$4,106–$5,178/month`
        let usd = usd.split_once("/month")?.0.trim_start_matches('~').split(" (").next()?;
        Some((way.to_owned(), dollars(usd.split('–').next_back()?)))
    });
    let facts = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    });
    Told {
        month: dollars(month.split("  [").next().unwrap().rsplit("  ").next().unwrap()),
        bought: bought.collect(),
        other: None,
        facts: facts.collect(),
    }
}

#[test]
fn more_than_twenty_savings_are_what_a_reader_works_out() {
    for case in cases() {
        let place = Place::new();
        let name = if case.text.starts_with("resource") { "main.tf" } else { "a.yaml" };
        place.write(name, &case.text);
        let check = ["check", "--format", "json", "--select", case.rule, "."];
        let report: Value = serde_json::from_str(&place.stdout(&check)).unwrap();
        let is_about = |it: &&Value| it["address"] == case.address || it["address"].is_null();
        let finding = report["findings"].as_array().unwrap().iter().find(is_about);
        let finding = finding.unwrap_or_else(|| panic!("{} does not speak of {}: {report}", case.rule, case.address));
        let said = finding["saves_usd"]["expected"].as_f64().unwrap_or_else(|| panic!("{finding}"));
        let mut told = explained(&place, case.address);
        if case.text.contains("\"other\"") {
            told.other = Some(explained(&place, "aws_instance.other").month);
        } else if let Some(machine) = case.instead {
            let help = finding["help"].as_str().unwrap();
            let named = help.split_whitespace().find(|word| word.starts_with('g') && word.contains('.'));
            told.other = Some(month_of(&place, named.unwrap_or(machine)));
        }
        let worked_out = (case.sum)(&told);
        let off = (said - worked_out).abs();
        assert!(worked_out > 0.0, "{}: {worked_out}", case.rule);
        assert!(off <= 1.0 + worked_out * 0.001, "{} says {said}, worked out {worked_out}\n{}", case.rule, case.text);
    }
}

/// Returns the lowest catalog price of a machine for a month of 730 hours; for AWS, in its base region.
fn month_of(place: &Place, machine: &str) -> f64 {
    let mut asked = vec!["price", machine, "--format", "json"];
    if machine.contains('.') {
        asked.extend(["--region", "us-east-1"]);
    }
    let prices: Value = serde_json::from_str(&place.stdout(&asked)).unwrap();
    let hours = prices.as_array().unwrap().iter().filter_map(|it| it["on_demand_usd_per_hour"].as_f64());
    hours.fold(f64::INFINITY, f64::min) * 730.0
}

/// Every rule with a saving is calculated at least once.
#[test]
fn every_saving_is_worked_out() {
    let cases = cases();
    let (rules, _) = gpulint::rules::Rules::load(&[], gpulint::rules::RuleSettings::default());
    let saving = rules.pages().iter().filter(|page| page.text.contains("\nsaves:"));
    let left: Vec<&str> =
        saving.map(|page| page.name.as_str()).filter(|name| !cases.iter().any(|it| it.rule == *name)).collect();
    // Savings from measured hours are calculated in the tests of measured use.
    let measured = |name: &str| measured_scores::WORKED_OUT.iter().any(|(rule, ..)| *rule == name);
    let left: Vec<&str> = left.into_iter().filter(|name| !measured(name)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(cases.len() >= 20);
}
