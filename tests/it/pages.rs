//! Checks that every file of `rules/` loads, and that its examples have the stated results.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use gpulint::catalog::Catalog;
use gpulint::config::Config;
use gpulint::diagnostic::Level;
use gpulint::inventory::Key;
use gpulint::measured::paid::{self, PaidOptions};
use gpulint::measured::row;
use gpulint::rules::{
    self, BUILT_IN, Declared, Example, ExampleMarker, Expected, Fixed, LooksAt, Override, ParameterValue, Profile,
    Rules, examples, format_finding, unmarked,
};
use gpulint::source::{MemoryTree, SourceFiles};
use gpulint::{Analysis, AnalysisSettings, analyze, fix};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::fences;

#[test]
fn every_built_in_page_loads() {
    let (rules, wrong) = Rules::load(&[], rules::RuleSettings::default());
    let wrong: Vec<String> =
        wrong.into_iter().map(|it| format!("{} ({})", it.message, it.help.unwrap_or_default())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(rules.pages().len(), BUILT_IN.len());
}

/// Built-in rule files and custom ones are tested in the same way.
#[test]
fn every_example_comes_out_as_its_page_says() {
    let (rules, _) = Rules::load(&[], rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() });
    let rules = Arc::new(rules);
    let only = std::env::var("PAGE").ok();
    for page in rules.pages().iter().filter(|page| only.as_ref().is_none_or(|only| *only == page.name)) {
        for example in examples(&page.text).iter().filter(|_| fences::blessing()) {
            run(&page.name, &rules, example);
        }
    }
    let wrong = gpulint::cli::prove_built_in(only.as_deref()).unwrap();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Writes the messages of the rule, and the files after its fixes, into the code blocks that show them.
fn run(rule: &str, rules: &Arc<Rules>, example: &Example) {
    let configured = configured(example);
    let (sources, analysis) = analyzed(configured.as_ref().unwrap_or(rules), example);
    let words = words(rule, &sources, &analysis);
    if let Some(told) = example.told.as_ref().filter(|told| told.text != words) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("rules/{rule}.md"));
        let page = std::fs::read_to_string(&path).unwrap();
        let fence = |text: &str| format!("```text\n{text}```");
        std::fs::write(path, page.replacen(&fence(&told.text), &fence(&words), 1)).unwrap();
    }
    let changed = fix::of_rule(rule, &sources, &analysis.findings);
    for (path, fence) in example.fixes_of(&changed).into_iter().filter(|_| !example.fixed.is_empty()) {
        let text = changed.get(&path).map(|text| unmarked(text)).unwrap_or_default();
        if let Some(fence) = fence.filter(|fence| fence.text != text) {
            bless(rule, example, fence, &text);
        }
    }
}

/// Returns the rules with the configuration of an example.
fn configured(example: &Example) -> Option<Arc<Rules>> {
    example.config.as_deref().map(|text| {
        let settings = rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() };
        Arc::new(Rules::load(&[], with_config(settings, text)).0)
    })
}

/// Writes the result into the code block after the example.
fn bless(rule: &str, example: &Example, fence: &Fixed, text: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("rules/{rule}.md"));
    let old = std::fs::read_to_string(&page).unwrap();
    let info = fence.path.as_ref().map(|path| format!(" file={path}")).unwrap_or_default();
    let fenced = |text: &str| format!("```fixed{info}\n{text}```");
    let (before, rest) = old.split_at(old.find(&example.files[0].text).unwrap_or_default());
    std::fs::write(page, format!("{before}{}", rest.replacen(&fenced(&fence.text), &fenced(text), 1))).unwrap();
}

/// Every rule file shows a finding, a case without a finding and an unknown case in Terraform, for more than one cloud.
/// It also has examples for Kubernetes if the rule applies there.
#[test]
fn every_page_is_shown_in_each_language() {
    let (rules, _) = Rules::load(&[], rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() });
    let rules = Arc::new(rules);
    let mut report = String::new();
    for page in rules.pages().iter().filter(|page| !page.untested && page.looks_at != LooksAt::Text) {
        if std::env::var("PAGE").is_ok_and(|only| only != page.name) {
            continue;
        }
        let except = |what: &str| ELSEWHERE.iter().any(|(name, not, _)| *name == page.name && *not == what);
        let (mut shown, mut clouds): (BTreeSet<(&str, Option<ExampleMarker>)>, BTreeSet<String>) = Default::default();
        for example in &examples(&page.text) {
            let (_, analysis) = analyzed(&rules, example);
            let has = |end: &str| example.files.iter().any(|file| file.path.ends_with(end));
            let languages = [("terraform", has(".tf")), ("kubernetes", has(".yaml"))];
            for (language, _) in languages.iter().filter(|(_, is)| *is) {
                let markers: BTreeSet<Option<ExampleMarker>> =
                    example.expected.iter().map(|it| Some(it.marker)).collect();
                let none = markers.is_empty().then_some(None);
                shown.extend(markers.into_iter().chain(none).map(|marker| (*language, marker)));
            }
            let providers = analysis.inventory.resources.iter().filter_map(|it| it.text(Key::Provider));
            clouds.extend(providers.filter(|_| has(".tf")).map(str::to_owned));
        }
        let speaks_of_pods = shown.iter().any(|(language, marker)| *language == "kubernetes" && marker.is_some());
        for language in ["terraform", "kubernetes"].into_iter().filter(|it| *it == "terraform" || speaks_of_pods) {
            for wanted in [None, Some(ExampleMarker::Reported), Some(ExampleMarker::Undetermined)] {
                let what = wanted.map_or("clean", ExampleMarker::name);
                if !shown.contains(&(language, wanted)) && !except(&format!("{what} in {language}")) {
                    writeln!(report, "rules/{}.md: no example in {language} that is {what}", page.name).unwrap();
                }
            }
        }
        if clouds.len() < 2 && !except("two clouds") {
            writeln!(report, "rules/{}.md: its examples in Terraform are of {clouds:?} alone", page.name).unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

const RUNS: &str = "the records are of Slurm and Kubernetes";

/// Examples that a rule file cannot show, with the reason.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("exceeded-budget", "two clouds", "it is about a sum, of whatever cloud"),
    ("exceeded-limit", "two clouds", "it is about numbers, of whatever cloud"),
    ("exceeded-limit", "clean in kubernetes", "beside the one that is reported stands one that is not"),
    ("exceeded-limit", "undetermined in kubernetes", "labels of a manifest are all in it"),
    ("exceeded-total", "two clouds", "it is about a sum, of whatever cloud"),
    ("impossible-machine", "two clouds", "only Google attaches accelerators to machines of one's choice"),
    ("missing-efa", "two clouds", "EFA is a network of AWS"),
    ("failed-runs-by-measure", "reported in terraform", RUNS),
    ("failed-runs-by-measure", "clean in terraform", RUNS),
    ("failed-runs-by-measure", "undetermined in terraform", RUNS),
    ("failed-runs-by-measure", "two clouds", RUNS),
    ("missing-budget", "undetermined in kubernetes", "it is about a sum, of whatever text"),
    ("missing-budget", "clean in kubernetes", "it is about a sum, of whatever text"),
    ("no-scale-down", "undetermined in terraform", "an autoscaler is told so, or is not"),
    ("spot-no-interruption-queue", "two clouds", "the queue is one of AWS"),
    ("spot-no-retry", "two clouds", "the other pool is one of Karpenter, which is of several clouds"),
    ("spot-without-checkpoint", "two clouds", "the other pool is one of Karpenter, which is of several clouds"),
];

/// A rule file with a fix shows it in each front end whose examples the fix can change.
#[test]
fn every_fix_is_shown() {
    let (rules, _) = Rules::load(&[], rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() });
    let rules = Arc::new(rules);
    let mut report = String::new();
    for page in rules.pages().iter().filter(|page| page.text.contains("\nfix:")) {
        let (mut changes, mut shows): (BTreeSet<bool>, BTreeSet<bool>) = (BTreeSet::new(), BTreeSet::new());
        let mut declined: BTreeSet<String> = BTreeSet::new();
        for example in &examples(&page.text) {
            let (sources, analysis) = analyzed(configured(example).as_ref().unwrap_or(&rules), example);
            let about = analysis.findings.iter().filter(|it| it.rule == page.name);
            declined.extend(about.filter_map(|it| it.fix.as_ref()?.declined.clone()));
            let changed = fix::of_rule(&page.name, &sources, &analysis.findings);
            let kinds = changed.keys().map(|path| path.ends_with(".tf"));
            changes.extend(kinds.clone());
            if !example.fixed.is_empty() {
                shows.extend(kinds);
            }
        }
        if changes.is_empty() {
            writeln!(report, "rules/{}.md: none of its examples can be fixed: {declined:?}", page.name).unwrap();
        }
        for kind in changes.difference(&shows) {
            let what = if *kind { "Terraform" } else { "Kubernetes" };
            writeln!(report, "rules/{}.md: a fix of {what} is not shown", page.name).unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// Applies the fix of every rule to the examples of all rules. No new finding may appear, except for further savings.
#[test]
fn no_fix_makes_anything_worse() {
    let found = |analysis: &Analysis| -> BTreeSet<(String, String)> {
        let about = |it: &rules::Finding| it.address(&analysis.inventory).unwrap_or_default().to_owned();
        analysis.findings.iter().map(|it| (it.rule.clone(), about(it))).collect()
    };
    let (all, _) = Rules::load(&[], rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() });
    let shown: Vec<Example> = all.pages().iter().flat_map(|page| examples(&page.text)).collect();
    let with_fix: Vec<&str> =
        all.pages().iter().filter(|page| page.text.contains("\nfix:")).map(|it| it.name.as_str()).collect();
    let report: Vec<String> = with_fix
        .par_iter()
        .flat_map_iter(|rule| {
            let settings =
                rules::RuleSettings { forced: [(*rule).to_owned()].into(), ..rules::RuleSettings::default() };
            let rules = Arc::new(Rules::load(&[], settings).0);
            let worse = shown.iter().filter_map(move |example| {
                let (sources, analysis) = analyzed(&rules, example);
                let changed = fix::of_rule(rule, &sources, &analysis.findings);
                if changed.is_empty() {
                    return None;
                }
                let (_, after) = analyzed(&rules, &example.with(&changed));
                let (before, now) = (found(&analysis), found(&after));
                let news: Vec<String> = after
                    .findings
                    .iter()
                    .filter(|it| {
                        let key = (it.rule.clone(), it.address(&after.inventory).unwrap_or_default().to_owned());
                        let saves_more = it.saves.is_some() && it.level != Level::Error;
                        now.contains(&key) && !before.contains(&key) && !saves_more
                    })
                    .map(|it| format!("    {}: {}", it.rule, it.message))
                    .collect();
                let texts: String = changed.values().cloned().collect();
                (!news.is_empty()).then(|| format!("{rule} made of it\n{texts}\n{}", news.join("\n")))
            });
            worse.collect::<Vec<_>>()
        })
        .collect();
    assert!(report.is_empty(), "{} of the fixes:\n{}", report.len(), report.join("\n"));
}

fn analyzed(rules: &Arc<Rules>, example: &Example) -> (SourceFiles, Analysis) {
    let tree = example.files.iter().fold(MemoryTree::new(), |tree, file| tree.with(&file.path, file.text.as_str()));
    let paths: Vec<String> = example.files.iter().map(|file| file.path.clone()).collect();
    let tree = match &example.usage {
        Some(rows) => tree.with(row::FILE_NAME, row::of_rows(rows)),
        None => tree,
    };
    let tree = match &example.paid {
        Some(rows) => tree.with(paid::row::FILE_NAME, paid::row::of_rows(rows)),
        None => tree,
    };
    let sources = SourceFiles::new(tree);
    let mut settings =
        AnalysisSettings { catalog: Catalog::examples(), rules: rules.clone(), ..AnalysisSettings::default() };
    if let Some(prices) = &example.prices {
        settings.catalog = settings.catalog.with_prices("prices.csv", prices).unwrap();
    }
    if let Some(config) = &example.config {
        let files = settings.measured.paid.files;
        settings.measured.paid = PaidOptions { files, ..gpulint::cli::paid_options(&loaded(config)) };
    }
    settings.today = example.today.as_ref().map(|day| day.parse().unwrap());
    let analysis = analyze(&sources, &paths, &settings);
    (sources, analysis)
}

/// Returns the rule settings in the configuration of an example.
fn with_config(settings: rules::RuleSettings, text: &str) -> rules::RuleSettings {
    let rules::RuleSettings { profile, rules, .. } = settings;
    rules::RuleSettings { profile, rules, ..gpulint::cli::rule_settings(&loaded(text)) }
}

fn loaded(text: &str) -> Config {
    let sources = SourceFiles::new(MemoryTree::new().with("gpulint.toml", text));
    let (config, wrong) = gpulint::config::load(&sources, "gpulint.toml", "0.1.0");
    assert!(wrong.is_empty(), "{wrong:?}");
    config
}

/// Returns the messages of the rule, in the order of their lines.
fn words(rule: &str, sources: &SourceFiles, analysis: &Analysis) -> String {
    let mut findings: Vec<_> = analysis.findings.iter().filter(|it| it.rule == rule).collect();
    findings.sort_by_key(|it| sources.locate(it.span));
    findings.into_iter().map(format_finding).collect()
}

fn said(rule: &str, sources: &SourceFiles, analysis: &Analysis) -> Vec<Expected> {
    let at = |span, marker| {
        let place = sources.locate(span);
        Expected { path: place.path, line: place.line, marker }
    };
    let findings = analysis.findings.iter().filter(|it| it.rule == rule).map(|it| at(it.span, ExampleMarker::Reported));
    let unknown =
        analysis.undetermined.iter().filter(|it| it.rule == rule).map(|it| at(it.span, ExampleMarker::Undetermined));
    findings.chain(unknown).collect()
}

/// If a condition is negated or a parameter is changed, at least one example must fail.
#[test]
fn every_page_fails_when_it_says_something_else() {
    let mut unnoticed = String::new();
    for (path, text) in BUILT_IN {
        let name = path.trim_start_matches("rules/").trim_end_matches(".md");
        if std::env::var("PAGE").is_ok_and(|only| only != name) {
            continue;
        }
        // The file of a rule about changes states that its examples are elsewhere.
        if text.contains("\nuntested: true") {
            continue;
        }
        let all = examples(text);
        // Messages that gpulint gives while reading have no condition.
        let Some(start) = text.find("\nwhen:") else { continue };
        let (before, rest) = text.split_at(start + 1);
        let end = rest.match_indices('\n').map(|(at, _)| at + 1).find(|at| !rest[*at..].starts_with(' ')).unwrap();
        let (when, after) = rest.split_at(end);
        let condition = when.trim_start_matches("when:").trim().trim_start_matches(['>', '|', '-']).trim();
        let condition = condition.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(condition);
        let turned = format!("{before}when: |-\n  !({})\n{after}", condition.replace('\n', " "));
        if !notices(name, &turned, rules::RuleSettings::default(), &all) {
            writeln!(unnoticed, "{path}: nothing fails when its condition is turned round").unwrap();
        }
        let (rules, _) = Rules::load(&[], rules::RuleSettings::default());
        for declared in &rules.page(name).unwrap().parameters {
            for moved in moved(declared) {
                let mut settings = rules::RuleSettings { profile: Profile::All, ..rules::RuleSettings::default() };
                let what = format!("{moved:?}");
                let parameters = vec![(declared.name.clone(), moved, None)];
                settings.rules.insert(name.to_owned(), Override { parameters, ..Override::default() });
                if !notices(name, text, settings, &all) {
                    writeln!(unnoticed, "{path}: nothing fails when `{}` is {what}", declared.name).unwrap();
                }
            }
        }
    }
    assert!(unnoticed.is_empty(), "\n{unnoticed}");
}

/// Returns wrong values for a parameter: much higher and much lower numbers, an empty list, another list, a list
/// without one member, a pattern that matches nothing or everything, the negation.
fn moved(declared: &Declared) -> Vec<ParameterValue> {
    if let Some(default) = declared.number() {
        let number = |moved: f64| match declared.is_whole() {
            true => ParameterValue::Integer(moved.round() as i64),
            false => ParameterValue::Number(moved),
        };
        return [0.001, 1000.0].map(|factor| number(default * factor)).to_vec();
    }
    match declared.as_parameter() {
        Some(ParameterValue::Flag(flag)) => vec![ParameterValue::Flag(!flag)],
        Some(ParameterValue::Texts(all)) => {
            let without = |left_out: usize| {
                let kept = all.iter().enumerate().filter(|(at, _)| *at != left_out);
                kept.map(|(_, text)| text.clone()).collect::<Vec<_>>()
            };
            let each = (0..all.len()).map(without).filter(|kept| !kept.is_empty());
            [Vec::new(), vec!["else".to_owned()]].into_iter().chain(each).map(ParameterValue::Texts).collect()
        }
        Some(ParameterValue::Text(_)) => {
            ["nothing-is-called-so", ""].map(|it| ParameterValue::Text(it.to_owned())).to_vec()
        }
        _ => Vec::new(),
    }
}

/// Returns whether the result of an example changes with this rule text and these settings.
fn notices(name: &str, text: &str, settings: rules::RuleSettings, all: &[Example]) -> bool {
    let (_, as_it_is) = BUILT_IN.iter().find(|(path, _)| path.ends_with(&format!("/{name}.md"))).unwrap();
    let told = |text: &str, settings: &rules::RuleSettings, example: &Example| {
        let settings = match &example.config {
            Some(config) => with_config(settings.clone(), config),
            None => settings.clone(),
        };
        let (sources, analysis) = analyzed(&Arc::new(Rules::of(&[(name, text)], settings)), example);
        let said: BTreeSet<Expected> = said(name, &sources, &analysis).into_iter().collect();
        let words = example.told.as_ref().map(|_| words(name, &sources, &analysis));
        (said, words)
    };
    all.iter().any(|example| told(text, &settings, example) != told(as_it_is, &rules::RuleSettings::default(), example))
}

/// If a superseded rule and the other rule both match a resource, the first is a note of the other. Otherwise, the
/// first reports its own finding.
#[test]
fn a_rule_that_yields_is_a_note_of_the_other() {
    let page = |name: &str, when: &str, more: &str| {
        format!(
            "---\nname: {name}\ngroup: idle\nlayer: utilization\nlevel: note\nrisk: low\nsince: 0.1.0\n{more}when: {when}\n\
             message: it is {name}\nhelp: change it\n---\n# {name}\n\nText.\n"
        )
    };
    let first = page("first", "'machine == \"g5.xlarge\"'", "");
    let other = page("other", "has(machine)", "yields-to: [first]\n");
    let rules = Arc::new(Rules::of(&[("first", &first), ("other", &other)], rules::RuleSettings::default()));
    let text = "resource \"aws_instance\" \"a\" {\n  instance_type = \"g5.xlarge\"\n}\n\
                resource \"aws_instance\" \"b\" {\n  instance_type = \"g6.xlarge\"\n}\n";
    let example = &examples(&format!("# x\n\n```hcl\n{text}```\n"))[0];
    let (_, analysis) = analyzed(&rules, example);
    let said: Vec<(&str, Vec<&str>)> = analysis
        .findings
        .iter()
        .map(|it| (it.rule.as_str(), it.related.iter().map(|(_, note)| note.as_str()).collect()))
        .collect();
    assert_eq!(said, [("first", vec!["also other: it is other"]), ("other", vec![])], "{:?}", analysis.broken_rules);
}
