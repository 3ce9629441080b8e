//! A scenario comes to what editing the text and reading it again comes to: money, fit and findings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use gpulint::Settings;
use gpulint::inventory::{Fact, FrontEnd, Key, LinkKind, Purchase, Range, Resource, Role};
use gpulint::source::Span;
use gpulint::what_if::{Changes, Scenario};

use crate::fixes::Random;
use crate::holds::{self, Run, SETTINGS};
use crate::properties::{Files, in_memory, trees};

/// What is edited, and what is asked instead.
struct Edited {
    about: BTreeSet<String>,
    key: &'static str,
    value: String,
    tree: Files,
}

const KINDS: [&str; 9] =
    ["machine", "region", "purchase", "count", "model", "precision", "context", "tensor-parallel", "accelerators"];

/// Texts that the other cases have few of: precisions, declared labels, variables, pods of a pool that other text describes.
const OWN: [(&str, &str); 4] = [
    (
        "server.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: llm, labels: { team: search } }\nspec:\n  replicas: 2\n  \
         selector: { matchLabels: { app: llm } }\n  template:\n    metadata: { labels: { app: llm } }\n    spec:\n      \
         nodeSelector: { node.kubernetes.io/instance-type: g6e.xlarge }\n      containers:\n        - name: server\n          \
         image: vllm/vllm-openai:v0.11.0\n          args: [--model=meta-llama/Llama-3.1-8B-Instruct, --quantization=fp8, \
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

/// The examples of the repository, each as a tree.
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

/// Where a fact stands, and the text there, if that is text of a file.
fn written(run: &Run, tree: &Files, span: Option<Span>) -> Option<(usize, Span, String)> {
    let span = span.filter(|span| run.sources.origin(*span) == *span)?;
    let path = run.sources.path(span.file);
    let at = tree.iter().position(|(known, _)| *known == path)?;
    let text = tree[at].1.get(span.range())?.to_owned();
    Some((at, span, text))
}

/// The only place of a word in a text, as a word of its own.
fn only(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let mut found = text.match_indices(word).filter(|(at, _)| {
        !is_part(text[..*at].chars().next_back()) && !is_part(text[at + word.len()..].chars().next())
    });
    let (at, _) = found.next()?;
    found.next().is_none().then_some(at)
}

/// The tree with another word at a place, and the resources of which that place says this fact.
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

/// What a pool says is said of its pods too, and by it.
fn without_pods(run: &Run, about: BTreeSet<String>) -> BTreeSet<String> {
    let of_pool = |address: &String| {
        let all = run.analysis.inventory.resources.iter().filter(|it| it.address == *address);
        all.flat_map(|it| &it.links).any(|link| link.kind == LinkKind::Pool && about.contains(&link.to))
    };
    about.iter().filter(|address| !of_pool(address)).cloned().collect()
}

fn places(fact: &Fact<gpulint::inventory::Value>) -> Vec<Option<Span>> {
    vec![fact.defined().or(fact.span())]
}

/// Another value for a fact that stands in the text as it is read.
fn of_fact(run: &Run, tree: &Files, it: &Resource, key: Key, new: &str) -> Option<(Files, BTreeSet<String>)> {
    let fact = it.fact(key);
    let old = fact.value()?.to_string();
    let (file, span, text) = written(run, tree, fact.defined().or(fact.span()))?;
    if old == new {
        return None;
    }
    replaced(run, tree, (file, span, &text), (&old, new), |it| places(it.fact(key)))
}

/// The text says nothing of the machine but its name.
fn only_names_it(it: &Resource) -> bool {
    let machine = it.fact(Key::Machine).span();
    let described = [Key::Accelerator, Key::AcceleratorCount, Key::Cpus, Key::Memory, Key::Vendor, Key::Topology];
    it.role == Role::Rented && described.iter().all(|key| it.fact(*key).is_absent() || it.fact(*key).span() == machine)
}

fn text_of(tree: &Files, file: usize) -> &str {
    &tree[file].1
}

/// Words for how something is bought, and what they mean.
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
    let now = Purchase::said_by(fact)?;
    let (file, span, text) = written(run, tree, fact.defined().or(fact.span()))?;
    let is_of_batch = text_of(tree, file).contains("compute_resources");
    let words = BOUGHT.into_iter().filter(|_| !is_of_batch);
    let (old, new, meant) = words.chain([("SPOT", "EC2", Purchase::OnDemand)]).find(|(old, _, meant)| {
        let is_plain = matches!(now, Purchase::Spot | Purchase::OnDemand);
        let is_of_azure = ["Regular", "Spot"].contains(old);
        is_plain
            && *meant != now
            && only(&text, old).is_some()
            && is_of_azure == text_of(tree, file).contains("priority")
    })?;
    let (tree, about) = replaced(run, tree, (file, span, &text), (old, new), |it| places(it.fact(Key::Purchase)))?;
    let about = without_pods(run, about);
    Some(Edited { about, key: "purchase", value: meant.name().to_owned(), tree })
}

/// How many pods, machines of a pool, or instances of a block.
fn of_count(run: &Run, tree: &Files, it: &Resource, random: &mut Random) -> Option<Edited> {
    let count = *it.count.value()?;
    let is_kubernetes = it.front_end == FrontEnd::Kubernetes;
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
    if it.count.value() == Some(&Range::exactly(1.0)) && it.declared.block != it.declared.address {
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
            let (_, _, body) = written(run, tree, Some(it.body))?;
            let old = it.fact(Key::Machine).value()?;
            let is_one_of = |other: &Resource| match other.fact(Key::Machine) {
                Fact::Unknown(unknown) => unknown.candidates.contains(old),
                _ => false,
            };
            // what says it of other variants, as one of several, says it there too
            if body.contains("accelerator") || resources.iter().any(is_one_of) {
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
            // a machine that brings its own has no count of them in the text
            it.role == Role::Requested || it.fact(Key::AcceleratorCount).span() != it.fact(Key::Machine).span()
        }),
    }
}

/// What the command refuses: a pod has the machines of its pool.
fn is_refused(run: &Run, edited: &Edited) -> bool {
    // of two texts of one object, only one was edited
    let all = run.analysis.inventory.resources.iter();
    let mut addresses: Vec<&str> = all.map(|it| it.address.as_str()).filter(|it| edited.about.contains(*it)).collect();
    addresses.sort_unstable();
    if addresses.windows(2).any(|pair| pair[0] == pair[1]) {
        return true;
    }
    let moves = matches!(edited.key, "machine" | "region" | "purchase");
    let all = run.analysis.inventory.resources.iter().filter(|it| edited.about.contains(&it.address));
    let pool =
        |it: &Resource| it.links.iter().any(|link| link.kind == LinkKind::Pool && !edited.about.contains(&link.to));
    moves && all.into_iter().any(|it| it.role == Role::Requested && pool(it))
}

/// Everything that a scenario tells, without places: those of edited text move.
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

fn scenario(run: &Run, edited: &Edited) -> Settings {
    let at = run.analysis.inventory.resources[0].span;
    let asked = [(edited.key.to_owned(), edited.value.clone())];
    let changes = Changes::read(&asked, &SETTINGS.catalog, at).unwrap_or_else(|wrong| panic!("{asked:?}: {wrong:?}"));
    let (today, own) = (&run.analysis.inventory, &SETTINGS.declaring_labels);
    let scenario = Scenario::new(edited.about.clone(), changes, today, &SETTINGS.catalog, own);
    Settings { scenario: Some(Arc::new(scenario)), ..SETTINGS.clone() }
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
    while done.values().sum::<usize>() < wanted {
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
    assert!(done.len() == KINDS.len(), "{done:?}");
}
