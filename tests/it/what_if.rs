//! Tests that a what-if scenario gives the same result as editing the configuration: cost, fit and findings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use gpulint::AnalysisSettings;
use gpulint::inventory::{BillingRole, Fact, Key, LinkKind, Purchase, Range, ReadBy, Resource};
use gpulint::source::Span;
use gpulint::what_if::{WhatIfChanges, WhatIfScenario};

use crate::cli::Place;
use crate::fixes::Random;
use crate::holds::{self, Run, SETTINGS};
use crate::properties::{Files, in_memory, trees};

/// The edited configuration, and the equivalent scenario.
struct Edited {
    about: BTreeSet<String>,
    key: &'static str,
    value: String,
    tree: Files,
}

const KINDS: [&str; 9] =
    ["machine", "region", "purchase", "count", "model", "precision", "context", "tensor-parallel", "accelerators"];

/// Configurations for cases that are rare elsewhere: precisions, declared labels, variables, pods of a pool in another
/// file.
const OWN: [(&str, &str); 4] = [
    (
        "server.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: llm, labels: { team: search } }\nspec:\n  replicas: 2\n  \
         selector: { matchLabels: { app: llm } }\n  template:\n    metadata: { labels: { app: llm } }\n    spec:\n      \
         nodeSelector: { node.kubernetes.io/instance-type: g6e.xlarge }\n      containers:\n        - name: server\n          \
         image: vllm/vllm-openai:v0.11.0\n          args: [--model=meta-llama/Llama-3.1-8B-Instruct, --quantization=fp8, --tensor-parallel-size=1, \
         --max-model-len=8192]\n          resources: { limits: { nvidia.com/gpu: 1 } }\n",
    ),
    (
        "declared.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: own\n  labels:\n    gpulint.dev/model: \
         meta-llama/Llama-3.1-8B-Instruct\n    gpulint.dev/precision: int8\n    gpulint.dev/task: serve\nspec:\n  replicas: 1\n  \
         selector: { matchLabels: { app: own } }\n  template:\n    metadata: { labels: { app: own } }\n    spec:\n      \
         containers:\n        - name: own\n          image: ghcr.io/acme/own:1\n          resources: { limits: { \
         nvidia.com/gpu: 1 } }\n      nodeSelector: { node.kubernetes.io/instance-type: g5.xlarge }\n",
    ),
    (
        "main.tf",
        "provider \"aws\" {\n  region = \"us-east-1\"\n}\n\nvariable \"size\" {\n  default = \"g5.12xlarge\"\n}\n\nresource \
         \"aws_instance\" \"a\" {\n  count         = 3\n  instance_type = var.size\n}\n\nresource \"aws_instance\" \"b\" {\n  \
         instance_type = var.size\n}\n",
    ),
    (
        "pool.tf",
        "provider \"aws\" {\n  region = \"eu-west-1\"\n}\n\nresource \"aws_eks_node_group\" \"gpu\" {\n  node_group_name = \
         \"gpu\"\n  cluster_name = \"c\"\n  instance_types = [\"g6.4xlarge\"]\n  capacity_type = \"ON_DEMAND\"\n  labels = { team \
         = \"a\" }\n  scaling_config {\n    min_size = 1\n    desired_size = 2\n    max_size = 4\n  }\n}\n\nresource \
         \"kubernetes_deployment\" \"llm\" {\n  metadata {\n    name = \"llm\"\n  }\n  spec {\n    replicas = 2\n    template {\n      \
         spec {\n        node_selector = { team = \"a\" }\n        container {\n          name  = \"s\"\n          image = \
         \"vllm/vllm-openai:v0.11.0\"\n          args  = [\"--model=Qwen/Qwen2.5-7B-Instruct\", \"--max-model-len=4096\"]\n          \
         resources {\n            limits = { \"nvidia.com/gpu\" = 1 }\n          }\n        }\n      }\n    }\n  }\n}\n",
    ),
];

/// Returns the examples of the repository, each as a tree.
fn examples() -> Vec<Files> {
    fn below(directory: &Path, root: &Path, files: &mut Files) {
        for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                below(&entry, root, files);
            } else if let Ok(text) = fs::read_to_string(&entry) {
                files.push((entry.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), text));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let directories = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut trees: Vec<Files> = directories
        .map(|directory| {
            let mut files = Files::new();
            below(&directory, &directory, &mut files);
            files.sort();
            files
        })
        .collect();
    trees.sort();
    trees
}

/// Returns the place of a fact with its text, if the text is in a file.
fn written(run: &Run, tree: &Files, span: Option<Span>) -> Option<(usize, Span, String)> {
    let span = span.filter(|span| run.sources.origin(*span) == *span)?;
    let path = run.sources.path(span.file);
    let at = tree.iter().position(|(known, _)| *known == path)?;
    let text = tree[at].1.get(span.range())?.to_owned();
    Some((at, span, text))
}

/// Returns the only occurrence of a whole word in a text.
fn only(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let mut found = text.match_indices(word).filter(|(at, _)| {
        !is_part(text[..*at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    });
    let (at, _) = found.next()?;
    found.next().is_none().then_some(at)
}

/// Returns the tree with another word at a place, and the resources whose fact is at that place.
fn replaced(
    run: &Run,
    tree: &Files,
    place: (usize, Span, &str),
    words: (&str, &str),
    says: impl Fn(&Resource) -> Vec<Option<Span>>,
) -> Option<(Files, BTreeSet<String>)> {
    let (file, span, text) = place;
    let start = span.range().start + only(text, words.0)?;
    let end = start + words.0.len();
    let mut edited = tree.clone();
    edited[file].1.replace_range(start..end, words.1);
    let is_there = |it: Option<Span>| {
        it.is_some_and(|it| it.file == span.file && it.range().start <= start && end <= it.range().end)
    };
    let all = run.analysis.inventory.resources.iter();
    let about: BTreeSet<String> =
        all.filter(|it| says(it).into_iter().any(is_there)).map(|it| it.address.clone()).collect();
    Some((edited, about))
}

/// Returns the addresses without pods, because a fact of a pool also applies to its pods.
fn without_pods(run: &Run, about: BTreeSet<String>) -> BTreeSet<String> {
    let of_pool = |address: &String| {
        let all = run.analysis.inventory.resources.iter().filter(|it| it.address == *address);
        all.flat_map(|it| &it.links).any(|link| link.kind == LinkKind::Pool && about.contains(&link.to))
    };
    about.iter().filter(|address| !of_pool(address)).cloned().collect()
}

fn places(fact: &Fact<gpulint::inventory::FactValue>) -> Vec<Option<Span>> {
    vec![fact.defined().or(fact.span())]
}

/// Replaces the value of a fact that is written in the form in which it is read.
fn of_fact(run: &Run, tree: &Files, it: &Resource, key: Key, new: &str) -> Option<(Files, BTreeSet<String>)> {
    let fact = it.fact(key);
    let old = fact.value()?.to_string();
    let (file, span, text) = written(run, tree, fact.defined().or(fact.span()))?;
    if old == new {
        return None;
    }
    replaced(run, tree, (file, span, &text), (&old, new), |it| places(it.fact(key)))
}

/// Returns whether the configuration names the machine type and sets nothing else about it.
fn only_names_it(it: &Resource) -> bool {
    let machine = it.fact(Key::Machine).span();
    let described = [Key::Accelerator, Key::AcceleratorCount, Key::Cpus, Key::Memory, Key::Vendor, Key::Topology];
    it.role == BillingRole::Rented
        && described.iter().all(|key| it.fact(*key).is_absent() || it.fact(*key).span() == machine)
}

fn text_of(tree: &Files, file: usize) -> &str {
    &tree[file].1
}

/// Words for ways of buying, with their meanings.
const BOUGHT: [(&str, &str, Purchase); 8] = [
    ("ON_DEMAND", "SPOT", Purchase::Spot),
    ("SPOT", "ON_DEMAND", Purchase::OnDemand),
    ("on-demand", "spot", Purchase::Spot),
    ("spot", "on-demand", Purchase::OnDemand),
    ("Regular", "Spot", Purchase::Spot),
    ("Spot", "Regular", Purchase::OnDemand),
    ("true", "false", Purchase::OnDemand),
    ("false", "true", Purchase::Spot),
];

fn of_purchase(run: &Run, tree: &Files, it: &Resource) -> Option<Edited> {
    let fact = it.fact(Key::Purchase);
    let now = Purchase::from_fact(fact)?;
    let (file, span, text) = written(run, tree, fact.defined().or(fact.span()))?;
    let is_of_batch = text_of(tree, file).contains("compute_resources");
    let words = BOUGHT.into_iter().filter(|_| !is_of_batch);
    let (old, new, _) = words.chain([("SPOT", "EC2", Purchase::OnDemand)]).find(|(old, _, meant)| {
        let is_plain = matches!(now, Purchase::Spot | Purchase::OnDemand);
        let is_of_azure = ["Regular", "Spot"].contains(old);
        is_plain
            && *meant != now
            && only(&text, old).is_some()
            && is_of_azure == text_of(tree, file).contains("priority")
    })?;
    let (tree, about) = replaced(run, tree, (file, span, &text), (old, new), |it| places(it.fact(Key::Purchase)))?;
    let about = without_pods(run, about);
    // The same word means more in some languages: `spot` with on-demand capacity as a fallback.
    let after = holds::run(in_memory(&tree), &SETTINGS);
    let edited = after.analysis.inventory.resources.iter().find(|other| other.address == it.address)?;
    // In other languages, the word has no meaning.
    let meant = Purchase::from_fact(edited.fact(Key::Purchase))?;
    Some(Edited { about, key: "purchase", value: meant.name().to_owned(), tree })
}

/// Changes the number of pods, machines of a pool, or instances of a block.
fn of_count(run: &Run, tree: &Files, it: &Resource, random: &mut Random) -> Option<Edited> {
    let count = *it.count.value()?;
    // A file with the objects that a cluster created repeats the number, and would need two edits.
    if it.links.iter().any(|link| link.kind == LinkKind::Settings && link.why.contains("part of its cost")) {
        return None;
    }
    let is_kubernetes = it.front_end == ReadBy::Kubernetes;
    let new = random.below(6);
    if is_kubernetes && count.floor == count.ceiling {
        let (file, span, text) = written(run, tree, it.count.defined().or(it.count.span()))?;
        let says = |it: &Resource| vec![it.count.defined().or(it.count.span())];
        let words = (count.expected.to_string(), new.to_string());
        let line = tree[file].1[..span.range().end].lines().next_back()?;
        let is_one_of_three = text_of(tree, file).contains("minReplicas");
        if is_one_of_three || !["replicas:", "parallelism:"].iter().any(|key| line.contains(key)) {
            return None;
        }
        let (tree, about) = replaced(run, tree, (file, span, &text), (&words.0, &words.1), says)?;
        return Some(Edited { about, key: "count", value: new.to_string(), tree });
    }
    let (file, span, body) = written(run, tree, Some(it.body))?;
    let number = |name: &str| {
        let line = body.lines().find(|line| line.trim_start().split([' ', '=']).next() == Some(name))?;
        let value = line.split_once('=')?.1.trim();
        value.parse::<u32>().ok().map(|value| (line.to_owned(), value))
    };
    let mut edited = tree.clone();
    let mut new_body = body.clone();
    let all = || run.analysis.inventory.resources.iter();
    let is_instance = it.count.span() == Some(it.span) && it.declared.block != it.declared.address;
    if is_instance && it.count.value() == Some(&Range::exactly(1.0)) {
        let (line, value) = number("count")?;
        new_body = new_body.replacen(&line, &line.replace(&value.to_string(), &new.to_string()), 1);
        edited[file].1.replace_range(span.range(), &new_body);
        let same = all().filter(|other| (&other.run, &other.declared.block) == (&it.run, &it.declared.block));
        let about = same.map(|other| other.address.clone()).collect();
        return Some(Edited { about, key: "count", value: new.to_string(), tree: edited });
    }
    if body.contains("weighted_capacity") {
        return None;
    }
    let pool = [["min_size", "desired_size", "max_size"], ["min_size", "desired_capacity", "max_size"]];
    let names = pool.into_iter().find(|names| names.iter().all(|name| number(name).is_some()))?;
    let (floor, expected) = (random.below(3), 3 + random.below(3));
    let ceiling = expected + random.below(4);
    for (name, value) in names.iter().zip([floor, expected, ceiling]) {
        let (line, _) = number(name)?;
        let before = line.split_once('=')?.0.to_owned();
        new_body = new_body.replacen(&line, &format!("{before}= {value}"), 1);
    }
    edited[file].1.replace_range(span.range(), &new_body);
    let about = all().filter(|other| other.body == it.body).map(|other| other.address.clone()).collect();
    Some(Edited { about, key: "count", value: format!("{floor}..{expected}..{ceiling}"), tree: edited })
}

fn edit(run: &Run, tree: &Files, random: &mut Random) -> Option<Edited> {
    let resources = &run.analysis.inventory.resources;
    let it = resources.get(random.below(resources.len().max(1)))?;
    let kind = random.of(&KINDS);
    let fact = |key: Key, value: String| {
        let (tree, about) = of_fact(run, tree, it, key, &value)?;
        let about = without_pods(run, about);
        Some(Edited { about, key: kind, value, tree })
    };
    let catalog = &SETTINGS.catalog;
    let provider = it.text(Key::Provider).unwrap_or_default();
    match kind {
        "machine" => {
            let (file, _, body) = written(run, tree, Some(it.body))?;
            let old = it.fact(Key::Machine).value()?;
            let is_one_of = |other: &Resource| match other.fact(Key::Machine) {
                Fact::Unknown(unknown) => unknown.candidates.contains(old),
                _ => false,
            };
            // A text that contains the number twice would need two edits.
            let says_it_twice = body.matches(&old.to_string()).count() > 1;
            // A text with several variants contains the number for each of them.
            if says_it_twice || text_of(tree, file).contains("accelerator") || resources.iter().any(is_one_of) {
                return None;
            }
            let names: Vec<String> = catalog.machines_of(provider).map(|it| it.name.into_owned()).collect();
            let new = random.of(Some(names).filter(|names| !names.is_empty() && only_names_it(it))?.as_slice());
            let service = if it.text(Key::Machine)?.starts_with("ml.") { "ml." } else { "" };
            fact(Key::Machine, format!("{service}{new}"))
        }
        "region" => {
            let names = catalog.regions(provider);
            let new = random.of(Some(names).filter(|names| !names.is_empty())?.as_slice());
            fact(Key::Region, new.to_owned())
        }
        "purchase" => of_purchase(run, tree, it),
        "count" => of_count(run, tree, it, random),
        "model" => fact(
            Key::Model,
            random
                .of(&["Qwen/Qwen2.5-7B-Instruct", "meta-llama/Llama-3.1-70B-Instruct", "google/gemma-2-9b-it"])
                .into(),
        ),
        "precision" => fact(Key::Precision, random.of(&["fp8", "int8", "bf16", "awq"]).into()),
        "context" => fact(Key::Context, random.of(&["4096", "16384", "32768"]).into()),
        "tensor-parallel" => fact(Key::TensorParallel, random.of(&["1", "2", "4", "8"]).into()),
        _ => fact(Key::AcceleratorCount, random.of(&["1", "2", "4", "8"]).into()).filter(|_| {
            // A machine with built-in accelerators has no number of accelerators in the configuration.
            it.role == BillingRole::Requested || it.fact(Key::AcceleratorCount).span() != it.fact(Key::Machine).span()
        }),
    }
}

/// Returns whether the command refuses the scenario, because a pod uses the machines of its pool.
fn is_refused(run: &Run, edited: &Edited) -> bool {
    // The settings of one workspace show which other workspaces exist.
    if edited.tree.iter().any(|(_, text)| text.contains("terraform.workspace")) {
        return true;
    }
    // Only one of two versions of an object was edited.
    let all = run.analysis.inventory.resources.iter();
    let mut addresses: Vec<&str> = all.map(|it| it.address.as_str()).filter(|it| edited.about.contains(*it)).collect();
    addresses.sort_unstable();
    if addresses.windows(2).any(|pair| pair[0] == pair[1]) {
        return true;
    }
    let mut all = run.analysis.inventory.resources.iter();
    if all.any(|it| it.only_by.is_some() && edited.about.contains(&it.address)) {
        return true;
    }
    let moves = matches!(edited.key, "machine" | "region" | "purchase");
    let all = run.analysis.inventory.resources.iter().filter(|it| edited.about.contains(&it.address));
    let pool =
        |it: &Resource| it.links.iter().any(|link| link.kind == LinkKind::Pool && !edited.about.contains(&link.to));
    moves && all.into_iter().any(|it| it.role == BillingRole::Requested && pool(it))
}

/// Returns everything that a scenario reports, without positions, because an edit moves them.
fn told(run: &Run) -> Vec<String> {
    let analysis = &run.analysis;
    let mut lines = Vec::new();
    for (at, it) in analysis.inventory.resources.iter().enumerate() {
        let item = &analysis.bill.items[at];
        let fit = analysis.fits[at].value().map(|fit| {
            let placed = fit.placed.value();
            let placed = placed.map(|it| (it.verdict.name(), it.devices, it.need_gib, it.budget_gib, it.speed));
            format!("{} {} {} {:?}", fit.model, fit.precision, fit.context, placed)
        });
        let facts = [Key::Provider, Key::Region, Key::Machine, Key::Accelerator, Key::AcceleratorCount, Key::Purchase];
        let facts: Vec<String> = facts.iter().map(|key| format!("{:?}", it.fact(*key).value())).collect();
        let pool = it.links.iter().find(|link| link.kind == LinkKind::Pool).map(|link| &link.to);
        lines.push(format!(
            "{} {} {facts:?} {pool:?} {:?} | {:?} {:?} {:?} {:?} {:?} {:?} | {fit:?}",
            it.address,
            it.counted.name(),
            it.count.value(),
            item.status,
            item.per_hour,
            item.per,
            item.amount,
            item.monthly,
            item.amount_if,
        ));
    }
    for decided in &run.findings {
        let it = &decided.finding;
        let address = it.address(&analysis.inventory);
        let counts = decided.counts();
        lines.push(format!("{} {address:?} {} {:?} {} {counts}", it.rule, it.level.name(), it.saves, it.message));
    }
    lines.push(format!("{:?} {:?} {:?}", analysis.bill.rented, analysis.bill.requested, analysis.bill.combined));
    lines.sort();
    lines
}

fn scenario(run: &Run, edited: &Edited) -> AnalysisSettings {
    let at = run.analysis.inventory.resources[0].span;
    let asked = [(edited.key.to_owned(), edited.value.clone())];
    let changes =
        WhatIfChanges::read(&asked, &SETTINGS.catalog, at).unwrap_or_else(|wrong| panic!("{asked:?}: {wrong:?}"));
    let (today, own) = (&run.analysis.inventory, &SETTINGS.declaring_labels);
    let scenario = WhatIfScenario::new(edited.about.clone(), changes, today, &SETTINGS.catalog, own);
    AnalysisSettings { scenario: Some(Arc::new(scenario)), ..SETTINGS.clone() }
}

#[test]
fn a_scenario_is_what_editing_the_text_comes_to() {
    let wanted: usize = std::env::var("GPULINT_WHAT_IF").ok().and_then(|it| it.parse().ok()).unwrap_or(100);
    let mut all = trees(&["tests/terraform", "tests/kubernetes", "tests/cli", "tests/levers", "rules"]);
    all.extend(examples());
    let own: Vec<Files> = OWN.iter().map(|(path, text)| vec![((*path).to_owned(), (*text).to_owned())]).collect();
    let mut random = Random(28);
    let (mut done, mut tried): (BTreeMap<&str, usize>, usize) = (BTreeMap::new(), 0);
    let mut wrong = Vec::new();
    while done.values().sum::<usize>() < wanted || done.len() < KINDS.len() {
        tried += 1;
        assert!(tried < wanted * 400, "only {done:?} of {tried} edits could be made");
        let tree = if random.below(8) == 0 { random.of(&own) } else { random.of(&all) };
        let today = holds::run(in_memory(&tree), &SETTINGS);
        let Some(edited) = edit(&today, &tree, &mut random).filter(|it| !is_refused(&today, it)) else { continue };
        let after = told(&holds::run(in_memory(&edited.tree), &SETTINGS));
        let what_if = told(&holds::run(in_memory(&tree), &scenario(&today, &edited)));
        *done.entry(edited.key).or_default() += 1;
        if after != what_if {
            let only = |one: &[String], other: &[String]| -> Vec<String> {
                one.iter().filter(|line| !other.contains(line)).cloned().collect()
            };
            let texts: Vec<String> = tree.iter().map(|(path, text)| format!("--- {path}\n{text}")).collect();
            wrong.push(format!(
                "{}={} on {:?}\nby editing: {:#?}\nby what-if: {:#?}\n{}",
                edited.key,
                edited.value,
                edited.about,
                only(&after, &what_if),
                only(&what_if, &after),
                texts.join("\n")
            ));
        }
    }
    println!("{done:?} of {tried}");
    assert!(wrong.is_empty(), "{} of {wanted}, {done:?}:\n{}", wrong.len(), wrong.join("\n==========\n"));
}

/// Returns the output and the errors of a command.
fn run(place: &Place, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.args(arguments).args(["--today", "2026-11-26", "--prices", "embedded"]).current_dir(place.directory());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn holding(text: &str) -> Place {
    let place = Place::new();
    place.write("main.tf", text);
    place
}

fn told_as_json(place: &Place, arguments: &[&str]) -> serde_json::Value {
    let (said, complaint, code) = run(place, &[&["what-if", "--format", "json"], arguments].concat());
    assert_eq!(code, Some(0), "{complaint}");
    serde_json::from_str(&said).unwrap()
}

const POOL: &str = r#"
provider "aws" { region = "us-east-1" }

resource "aws_eks_node_group" "gpu" {
  node_group_name = "gpu"
  cluster_name    = "c"
  instance_types  = ["g5.xlarge"]
  labels          = { team = "a" }
  scaling_config {
    min_size     = 1
    desired_size = 1
    max_size     = 2
  }
}
"#;

fn deployment(name: &str, selector: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: {name} }}\nspec:\n  selector: {{ matchLabels: {{ app: x }} }}\n  \
         template:\n    metadata: {{ labels: {{ app: x }} }}\n    spec:\n      nodeSelector: {{ {selector} }}\n      containers:\n        \
         - name: s\n          image: vllm/vllm-openai:v0.11.0\n          args: [--model=Qwen/Qwen2.5-7B-Instruct]\n          \
         resources: {{ limits: {{ nvidia.com/gpu: 1 }} }}\n"
    )
}

/// Pods follow their pool, except a pod whose own manifest requests the present machine.
#[test]
fn pods_follow_their_pool_and_are_refused_another_machine_than_its() {
    let place = Place::new();
    place.write("main.tf", POOL);
    place.write("a.yaml", &deployment("follows", "team: a"));
    place.write("b.yaml", &deployment("stays", "team: a, node.kubernetes.io/instance-type: g5.xlarge"));
    let pool = "aws_eks_node_group.gpu";
    let told = told_as_json(&place, &["--on", pool, "--set", "machine=g6e.xlarge", "--set", "purchase=spot"]);
    let case = &told["cases"][0];
    let of = |address: &str| {
        let all = case["resources"].as_array().unwrap().iter();
        all.filter(|it| it["address"] == address).cloned().collect::<Vec<_>>()
    };
    let follows = &of("Deployment/follows")[0];
    let said = (&follows["machine"], &follows["purchase"], &follows["changed"]);
    assert_eq!(said, (&"g6e.xlarge".into(), &"spot".into(), &false.into()));
    assert_eq!(follows["fit"], "fits");
    assert!(of("Deployment/stays").is_empty());
    let notes = case["notes"].to_string();
    assert!(notes.contains("Deployment/stays no longer matches aws_eks_node_group.gpu"), "{notes}");
    let (_, complaint, code) = run(&place, &["what-if", "--on", "Deployment/follows", "--set", "region=eu-west-1"]);
    assert_eq!(code, Some(2), "{complaint}");
    assert!(complaint.contains("Deployment/follows runs on aws_eks_node_group.gpu"), "{complaint}");
}

/// One machine has accelerators that are named separately, and the other has built-in ones.
#[test]
fn accelerators_that_are_named_beside_a_machine_go_with_it() {
    let text = |body: &str| {
        format!(
            "resource \"google_compute_instance\" \"a\" {{\n  name = \"a\"\n  zone = \"us-central1-a\"\n  boot_disk {{}}\n  \
             network_interface {{}}\n{body}}}\n"
        )
    };
    let before = text(
        "  machine_type = \"n1-standard-8\"\n  guest_accelerator {\n    type = \"nvidia-tesla-t4\"\n    count = 1\n  }\n",
    );
    let after = text("  machine_type = \"g2-standard-8\"\n");
    let (before, after) = (holding(&before), holding(&after));
    let address = "google_compute_instance.a";
    let what_if = told_as_json(&before, &["--on", address, "--set", "machine=g2-standard-8"]);
    let edited = told_as_json(&after, &["--on", address, "--set", "hours=730"]);
    let line = |told: &serde_json::Value| {
        let it = &told["resources"][0];
        [&it["machine"], &it["accelerator"], &it["accelerator_count"], &it["price"]["usd_per_month"]].map(Clone::clone)
    };
    assert_eq!(line(&what_if["cases"][0]), line(&edited["today"]));
}

/// 10,000 / 48 per month and 0.6 kW x $0.2 per hour for one machine with four accelerators. The machine runs all hours,
/// more than the half that is set.
#[test]
fn hardware_of_ones_own_is_a_provider_like_others() {
    let place = Place::new();
    place.write("main.tf", "provider \"aws\" { region = \"us-east-1\" }\nresource \"aws_instance\" \"a\" { instance_type = \"g6.12xlarge\" }\n");
    place.write(
        "gpulint.toml",
        "[[hardware]]\naccelerator = \"L4\"\npurchase_usd = 10000\ngpus = 4\nyears = 4\nwatts = 600\nusd_per_kwh = 0.2\nutilization = 0.5\n",
    );
    let told =
        told_as_json(&place, &["--config", "gpulint.toml", "--on", "aws_instance.a", "--set", "provider=on-prem"]);
    let it = &told["cases"][0]["resources"][0];
    assert_eq!(
        (&it["provider"], &it["purchase"], &it["accelerator"]),
        (&"on-prem".into(), &"on-prem".into(), &"L4".into())
    );
    let month = it["price"]["usd_per_month"]["expected"].as_f64().unwrap();
    assert!((month - (10_000.0 / 48.0 + 0.6 * 0.2 * 730.0)).abs() < 0.02, "{month}");
}

#[test]
fn hours_are_what_settings_say_of_usage() {
    let text = "provider \"aws\" { region = \"us-east-1\" }\nresource \"aws_instance\" \"a\" { instance_type = \"g6.12xlarge\" }\n";
    let place = holding(text);
    place.write("own.toml", "[[usage]]\naddress = \"aws_instance.a\"\nhours_per_month = 100\n");
    let what_if = told_as_json(&place, &["--no-config", "--on", "aws_instance.a", "--set", "hours=100"]);
    let set = told_as_json(&place, &["--config", "own.toml", "--on", "aws_instance.a", "--set", "count=1"]);
    let month = |told: &serde_json::Value| told["resources"][0]["price"]["usd_per_month"].clone();
    assert_eq!(month(&what_if["cases"][0]), month(&set["today"]));
    assert!(month(&what_if["today"]) != month(&what_if["cases"][0]));
}

/// Each error names the mistake and a probable correction.
#[test]
fn what_cannot_be_is_refused_with_what_was_meant() {
    let place = Place::new();
    place.write("main.tf", POOL);
    place.write(
        "own.tf",
        "resource \"aws_instance\" \"n\" {\n  count = 2\n  instance_type = \"g5.xlarge\"\n}\nresource \"aws_instance\" \"each\" {\n  \
         for_each = toset([\"x\", \"y\"])\n  instance_type = \"g5.xlarge\"\n}\n",
    );
    let pool = "aws_eks_node_group.gpu";
    for (on, set, why, help) in [
        ("aws_eks_node_group.gpus", "count=1", "no resource with accelerators has the address", pool),
        (pool, "machin=g5.xlarge", "`machin` cannot be set", "did you mean `machine`?"),
        (pool, "machine=g5.xlarg", "lists no machine type `g5.xlarg`", "g5.xlarge"),
        (pool, "machine=m5.large", "lists no machine type `m5.large`", "gpulint price"),
        (pool, "provider=gpc", "unknown provider `gpc`", "did you mean `gcp`?"),
        (pool, "region=us-eest-1", "lists no region `us-eest-1`", "did you mean `us-east-1`?"),
        (pool, "region=us-central1", "lists no region us-central1 of aws", "use one of"),
        (pool, "purchase=spott", "unknown way of buying `spott`", "did you mean `spot`?"),
        (pool, "count=4..1", "`4..1` is not a valid count", "1..2..4"),
        (pool, "count=-1", "`-1` is not a valid count", "1..2..4"),
        (pool, "hours=731", "`hours` must be a number from 0 to 730", "hours=8"),
        (pool, "model=nobody/Nothing-9000B", "does not know the model", "params=7b"),
        (pool, "context=plenty", "context", "gpulint.dev/context"),
        (pool, "machine=", "`machine` has no value", "machine="),
        ("aws_instance.n[0]", "count=3", "one of several machines of the same block", "--on 'aws_instance.n'"),
        ("aws_instance.each", "count=3", "uses `for_each`", "hours"),
    ] {
        let (said, complaint, code) = run(&place, &["what-if", "--on", on, "--set", set]);
        assert_eq!((code, said.as_str()), (Some(2), ""), "{set}: {complaint}");
        assert!(complaint.contains(why) && complaint.contains(help), "{set}: {complaint}");
    }
    let both = ["what-if", "--on", pool, "--set", "provider=gcp", "--set", "machine=g5.xlarge"];
    let (_, complaint, _) = run(&place, &both);
    assert!(
        complaint.contains("g5.xlarge is not a machine type of gcp")
            && complaint.contains("it is a machine type of aws"),
        "{complaint}"
    );
}

/// Several scenarios in one table, with common settings. No file is changed.
#[test]
fn several_cases_stand_in_a_table_and_nothing_is_written() {
    let place = Place::new();
    place.write("main.tf", POOL);
    let before = fs::read_dir(place.directory()).unwrap().count();
    let pool = "aws_eks_node_group.gpu";
    let cases = ["--case", "a:machine=g6.xlarge", "--case", "b:machine=p5.48xlarge,count=1", "--set", "count=2"];
    let (said, complaint, code) = run(&place, &[&["what-if", "--on", pool][..], &cases].concat());
    assert_eq!(code, Some(0), "{complaint}");
    let lines: Vec<Vec<&str>> = said.lines().map(|line| line.split_whitespace().collect()).collect();
    let line = |name: &str| lines.iter().find(|line| line.first() == Some(&name) && line.len() > 8).unwrap();
    assert!(line("today").contains(&"1–2") && line("today").contains(&"g5.xlarge"), "{said}");
    // The settings of a scenario override the common settings.
    assert!(line("a").contains(&"g6.xlarge") && line("a").contains(&"2"), "{said}");
    assert!(line("b").contains(&"p5.48xlarge") && line("b").contains(&"1"), "{said}");
    assert_eq!(fs::read_to_string(place.directory().join("main.tf")).unwrap(), POOL);
    assert_eq!(fs::read_dir(place.directory()).unwrap().count(), before);
    let (csv, ..) = run(&place, &[&["what-if", "--format", "csv", "--on", pool][..], &cases].concat());
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.len() == 4 && columns.iter().all(|count| *count == columns[0]), "{csv}");
}
