//! Fuzz targets, one function for each kind of input. Each accepts any bytes and fails on a violation;
//! `tests/it/holds.rs` defines violations for fuzzing and property tests.

#![allow(clippy::unwrap_used, reason = "a failed setup fails the run")]

#[allow(dead_code, reason = "property tests need all of it")]
#[path = "../tests/it/holds.rs"]
mod holds;

#[path = "../tests/it/disguise/mod.rs"]
mod disguise;

use std::sync::{Arc, LazyLock};

use gpulint::admission::{Enforcement, ExportOptions, Kubernetes, PolicyTarget, export_rule};
use gpulint::catalog::{Catalog, CsvFile};
use gpulint::decide::Baseline;
use gpulint::report::{self, Format, ShownPaths, Saved, ReportStyle};
use gpulint::rules::{self, Attempt, LooksAt, PageText, Rules};
use gpulint::source::{MemoryTree, SourceFiles, normalize};
use gpulint::{AnalysisSettings, config, fit, source};
use disguise::{Choice, Files, Pair};
use holds::{Run, SETTINGS};
use serde_json::json;

/// Heading of a part of the input that is another file: `=== modules/pool/main.tf`.
const HEADING: &[u8] = b"=== ";

/// Returns the files of an input; the text before the first heading is the file `first`.
fn tree(first: &str, data: &[u8]) -> MemoryTree {
    let mut tree = MemoryTree::new();
    let mut path = first.to_owned();
    let mut text: Vec<u8> = Vec::new();
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_prefix(HEADING) {
            Some(heading) => {
                tree = tree.with(&path, std::mem::take(&mut text));
                let heading = String::from_utf8_lossy(heading);
                path = normalize(heading.trim()).filter(|it| !it.is_empty()).unwrap_or_else(|| first.to_owned());
            }
            None => text.extend_from_slice(line),
        }
    }
    tree.with(&path, text)
}

pub fn terraform(data: &[u8]) {
    holds::everything(tree("main.tf", data));
}

pub fn tfvars(data: &[u8]) {
    let tree = tree("terraform.tfvars", data);
    holds::everything(tree.with("main.tf", include_str!("variables.tf")));
}

pub fn plan(data: &[u8]) {
    holds::everything(MemoryTree::new().with("plan.json", data));
}

pub fn kubernetes(data: &[u8]) {
    holds::everything(tree("all.yaml", data));
}

pub fn template(data: &[u8]) {
    for path in ["template.yaml", "template.json", "main.bicep", "Pulumi.yaml"] {
        holds::everything(tree(path, data));
    }
}

/// Returns a tree with typical content, for inputs of other kinds.
fn usual() -> MemoryTree {
    tree("main.tf", include_bytes!("usual.txt"))
}

static USUAL: LazyLock<Run> = LazyLock::new(|| holds::run(usual(), &SETTINGS));

/// A rule file: reads, documents and evaluates it, and shows its mistakes.
pub fn page(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let name = text.lines().find_map(|line| line.strip_prefix("name:")).map_or("page", str::trim);
    let path = format!("rules/{name}.md");
    rules::examples(&text);
    let alone = Rules::of(&[(path.as_str(), &text)], rules::RuleSettings::default());
    for page in alone.pages() {
        rules::document(page);
        for version in ["1.30", "1.34"] {
            for target in [PolicyTarget::Validating, PolicyTarget::Kyverno, PolicyTarget::Gatekeeper] {
                let version = Kubernetes::parse(version).unwrap();
                let options = ExportOptions { target, version, enforcement: Enforcement::Deny };
                let _ = export_rule(page, &SETTINGS, options);
            }
        }
    }
    let world = USUAL.analysis.world(&SETTINGS);
    for judgement in [alone.judge(&world, &USUAL.sources), alone.judge_change(&world)] {
        for finding in &judgement.findings {
            holds::assert_inside(&USUAL.sources, finding.span, &finding.rule);
        }
    }
    // Loads it as a custom rule next to the built-in ones, which reports its mistakes.
    if data.len() < 2_000 || text.contains("extends") {
        let sources = SourceFiles::new(MemoryTree::new().with(&path, text));
        let Ok(file) = sources.open(&path) else { return };
        let own = PageText { path: path.clone(), text: sources.text(file), file, pack: None, undetermined: None };
        let (_, wrong) = Rules::load(&[own], rules::RuleSettings::default());
        for it in &wrong {
            it.span.into_iter().for_each(|span| holds::assert_inside(&sources, span, &it.message));
        }
        let shown = report::diagnostics(&sources, &ShownPaths::default(), &wrong, ReportStyle::default());
        holds::assert_harmless("mistakes of a rule file", &shown);
    }
}

/// A CEL condition, for every scope.
pub fn condition(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let all = [LooksAt::Resource, LooksAt::Object, LooksAt::Block, LooksAt::Repository, LooksAt::Change];
    for looks_at in all {
        match Attempt::new(&text, looks_at) {
            Ok(attempt) => {
                attempt.raw();
                attempt.answers(&USUAL.analysis.world(&SETTINGS), &rules::RuleSettings::default());
            }
            Err(mistake) => assert!(text.get(mistake.at.clone()).is_some(), "{mistake:?}"),
        }
    }
}

/// A settings file, with its effect on rules and prices; other input is read as a baseline.
pub fn configuration(data: &[u8]) {
    let sources = SourceFiles::new(tree(config::FILE_NAME, data));
    let (config, wrong) = config::load(&sources, config::FILE_NAME, "0.1.0");
    for it in &wrong {
        it.span.into_iter().for_each(|span| holds::assert_inside(&sources, span, &it.message));
    }
    let shown = report::diagnostics(&sources, &ShownPaths::default(), &wrong, ReportStyle::default());
    holds::assert_harmless("mistakes of settings", &shown);
    if wrong.is_empty() {
        let (rules, wrong) = Rules::load(&[], gpulint::cli::rule_settings(&config));
        report::diagnostics(&sources, &ShownPaths::default(), &wrong, ReportStyle::default());
        let pricing = gpulint::cli::pricing_settings(&config, holds::today());
        let settings = AnalysisSettings { rules: Arc::new(rules), pricing, ..SETTINGS.clone() };
        let run = holds::run(usual(), &settings);
        run.spans_lie_inside();
        run.reports_are_whole(&settings.rules);
    }
    if let Ok(baseline) = Baseline::read(&String::from_utf8_lossy(data)) {
        let again = Baseline::read(&baseline.write()).unwrap();
        assert_eq!(again.write(), baseline.write(), "a baseline has another meaning when it is read again");
    }
}

/// Suppressions at every possible place, in both languages and in an annotation.
pub fn suppression(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.lines();
    let mut next = || lines.next().unwrap_or_default();
    let sources = SourceFiles::new(MemoryTree::new().with("comment", text.as_bytes()));
    if let Ok(file) = sources.open("comment") {
        let span = source::Span::new(file, 0, text.len());
        match source::directive(&text, span) {
            Some(Ok(it)) => it.rules.iter().for_each(|(name, span)| assert_eq!(sources.snippet(*span), *name)),
            Some(Err(mistake)) => holds::assert_inside(&sources, mistake.span, &mistake.message),
            None => {}
        }
    }
    let terraform = format!(
        "# {}\nresource \"aws_instance\" \"a\" {{ # {}\n  # {}\n  instance_type = \"p4d.24xlarge\" // {}\n  /* {} */\n}}\n",
        next(),
        next(),
        next(),
        next(),
        next()
    );
    let manifest = format!(
        "# {}\napiVersion: v1\nkind: Pod # {}\nmetadata:\n  name: a\n  annotations:\n    gpulint.dev/ignore.missing-labels: {}\n    {}: x\n\
         spec:\n  # {}\n  containers:\n    - name: a\n      resources: {{ limits: {{ nvidia.com/gpu: 1 }} }}\n",
        next(),
        next(),
        json!(next()),
        json!(format!("gpulint.dev/{}", next())),
        next()
    );
    holds::everything(MemoryTree::new().with("main.tf", terraform).with("a.yaml", manifest));
}

/// Custom prices, models and workloads.
pub fn prices(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let catalog = Catalog::embedded;
    if let Ok(catalog) = catalog().with_prices_at("own.csv", &text, Some(1.08)) {
        priced(catalog);
    }
    for stem in ["aws", "machines", "regions", "spot"] {
        if let Ok(catalog) = catalog().with_refreshed(&[CsvFile { path: "cache.csv", stem, text: &text }]) {
            catalog.verify();
            priced(catalog);
        }
    }
    if let Ok(catalog) = catalog().with_models("models.csv", &text) {
        priced(catalog);
    }
    if let Ok(lines) = fit::cases::run("cases.csv", &text, &catalog()) {
        lines.lines().for_each(|line| assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}"));
    }
}

fn priced(catalog: Catalog) {
    let settings = AnalysisSettings { catalog, ..SETTINGS.clone() };
    holds::run(usual(), &settings).reports_are_whole(&settings.rules);
}

/// Arbitrary names in a repository, in each output format: files, resources, labels, values.
pub fn names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let mut next = || lines.next().unwrap_or_default();
    let path = normalize(&format!("{}/main.tf.json", next())).unwrap_or_else(|| "main.tf.json".to_owned());
    let [name, key, value, machine, workload] = [next(), next(), next(), next(), next()];
    let terraform = json!({
        "resource": {
            "aws_instance": {
                name: { "instance_type": "p4d.24xlarge", "tags": { key: value, "Name": workload } },
                "other": { "instance_type": machine, "tags": { "team": value } },
            },
            "aws_eks_node_group": { name: { "instance_types": [machine], "labels": { "workload": workload } } },
        },
        "module": { key: { "source": value } },
    });
    let metadata = json!({ "name": name, "namespace": workload, "labels": { key: value }, "annotations": { value: key } });
    let container = json!({ "name": value, "image": machine, "args": [workload], "resources": { "limits": { "nvidia.com/gpu": 2 } } });
    let manifest = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
        "spec": { "template": { "spec": { "nodeSelector": { key: value }, "containers": [container] } } } });
    let yaml = format!("{}.yaml", path.trim_end_matches("main.tf.json"));
    holds::everything(MemoryTree::new().with(&path, terraform.to_string()).with(&yaml, manifest.to_string()));
}

/// A saved report, possibly modified.
pub fn saved(data: &[u8]) {
    let rules = &SETTINGS.rules;
    match report::saved(&String::from_utf8_lossy(data)) {
        Ok(Saved::Check(state)) => {
            let report = state.report(rules);
            for format in Format::ALL {
                let text = report::render(*format, &report, ReportStyle::default());
                holds::assert_written(*format, &text.unwrap_or_default());
            }
        }
        Ok(Saved::Difference(compared)) => {
            holds::assert_difference(&compared.difference(rules));
        }
        Err(why) => assert!(!why.is_empty()),
    }
}

/// Two states, separated by a line of `======`.
pub fn change(data: &[u8]) {
    const BETWEEN: &[u8] = b"======\n";
    let at = data.windows(BETWEEN.len()).position(|it| it == BETWEEN);
    let (before, after) = match at {
        Some(at) => (&data[..at], &data[at + BETWEEN.len()..]),
        None => (&b""[..], data),
    };
    holds::change(tree("main.tf", before), tree("main.tf", after));
}

/// A base, and a change that hides an addition: a report must show a part of it.
pub fn disguise(data: &[u8]) {
    let pair = Pair::choose(&mut Choice::of_bytes(data), "p");
    let tree = |files: &Files| files.iter().fold(MemoryTree::new(), |tree, (path, bytes)| tree.with(path, bytes.clone()));
    let sees = holds::sees_more(tree(&pair.base), tree(&pair.head));
    assert!(sees || pair.is_of_files(), "no report shows the addition: {}", pair.disguises.join("; "));
}
