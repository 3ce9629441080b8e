//! Every page of `rules/` loads, and its examples come out as they say.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use gpulint::catalog::Catalog;
use gpulint::rules::{self, BUILT_IN, Example, Expected, LooksAt, Marker, Profile, Rules, compare, examples};
use gpulint::source::{MemoryTree, Sources};
use gpulint::{Analysis, Settings, analyze};

#[test]
fn every_built_in_page_loads() {
    let (rules, wrong) = Rules::load(&[], rules::Settings::default());
    let wrong: Vec<String> =
        wrong.into_iter().map(|it| format!("{} ({})", it.message, it.help.unwrap_or_default())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(rules.pages().len(), BUILT_IN.len());
}

#[test]
fn every_example_comes_out_as_its_page_says() {
    let (rules, _) = Rules::load(&[], rules::Settings { profile: Profile::All, ..rules::Settings::default() });
    let rules = Arc::new(rules);
    let mut report = String::new();
    for page in rules.pages() {
        if std::env::var("PAGE").is_ok_and(|only| only != page.name) {
            continue;
        }
        let all = examples(&page.text);
        let mut shown: BTreeSet<Option<Marker>> = BTreeSet::new();
        for example in &all {
            let kinds: BTreeSet<Marker> = example.expected.iter().map(|it| it.marker).collect();
            match kinds.is_empty() {
                true => _ = shown.insert(None),
                false => shown.extend(kinds.into_iter().map(Some)),
            }
            run(&page.name, &rules, example, &mut report);
        }
        for wanted in [None, Some(Marker::Reported), Some(Marker::Undetermined)] {
            // text can be read or it cannot
            let is_possible = page.looks_at != LooksAt::Text || wanted != Some(Marker::Undetermined);
            if is_possible && !page.untested && !shown.contains(&wanted) {
                let what = wanted.map_or("clean", Marker::name);
                writeln!(report, "rules/{}.md: no example that is {what}", page.name).unwrap();
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[allow(clippy::print_stdout, reason = "one page at a time shows what it says")]
fn run(rule: &str, rules: &Arc<Rules>, example: &Example, report: &mut String) {
    let tree = example.files.iter().fold(MemoryTree::new(), |tree, file| tree.with(&file.path, file.text.as_str()));
    let paths: Vec<String> = example.files.iter().map(|file| file.path.clone()).collect();
    let sources = Sources::new(tree);
    let mut settings = Settings { catalog: Catalog::examples(), rules: rules.clone(), ..Settings::default() };
    if let Some(prices) = &example.prices {
        settings.catalog = settings.catalog.with_prices("prices.csv", prices).unwrap();
    }
    let analysis = analyze(&sources, &paths, &settings);
    for surprise in compare(example, &said(rule, &sources, &analysis)) {
        let file = example.files.iter().find(|file| file.path == surprise.at.path).unwrap();
        let line = file.text.lines().nth(surprise.at.line - 1).unwrap_or_default().trim();
        let verb = if surprise.is_missing { "is not" } else { "should not be" };
        let what = surprise.at.marker.name();
        writeln!(report, "rules/{rule}.md:{}: {verb} {what}: {line}", file.line + surprise.at.line).unwrap();
        for it in analysis.undetermined.iter().filter(|it| it.rule == rule) {
            writeln!(report, "    undetermined: {}", it.cause).unwrap();
        }
    }
    for broken in &analysis.broken_rules {
        writeln!(report, "rules/{}.md: {}", broken.rule, broken.message).unwrap();
    }
    if std::env::var("PAGE").is_ok() {
        for it in analysis.findings.iter().filter(|it| it.rule == rule) {
            println!(
                "{}: {}\n  {}\n  {:?} {:?}",
                example.line,
                it.message,
                it.help.clone().unwrap_or_default(),
                it.saves,
                it.confidence
            );
        }
    }
}

fn said(rule: &str, sources: &Sources, analysis: &Analysis) -> Vec<Expected> {
    let at = |span, marker| {
        let place = sources.locate(span);
        Expected { path: place.path, line: place.line, marker }
    };
    let findings = analysis.findings.iter().filter(|it| it.rule == rule).map(|it| at(it.span, Marker::Reported));
    let unknown = analysis.undetermined.iter().filter(|it| it.rule == rule).map(|it| at(it.span, Marker::Undetermined));
    findings.chain(unknown).collect()
}
