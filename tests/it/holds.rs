//! Properties that hold for any text, however malicious. Property tests and fuzz targets both include this file, so
//! that they share one definition.

#[path = "holds/agree.rs"]
mod agree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use gpulint::catalog::Catalog;
use gpulint::decide::{self, Decided, SuppressionContext};
use gpulint::inventory::{ResourceId, WantedObjects, WantedRaw};
use gpulint::pricing::{ChangeKind, Delta, ResourceCostChange, Side, delta};
use gpulint::report::{
    self, CommentLimits, Difference, Format, FormatSyntax, GateResult, Report, ReportStyle, Saved, ShownPaths,
};
use gpulint::rules::{self, Budget, Profile, RuleContext, Rules};
use gpulint::source::{Date, Edit, MemoryTree, SourceFiles, Span};
use gpulint::{Analysis, AnalysisSettings};
use serde_json::Value;

/// Every rule, with settings under which it reports.
pub(crate) static SETTINGS: LazyLock<AnalysisSettings> = LazyLock::new(|| settings(Catalog::embedded()));

pub(crate) fn settings(catalog: Catalog) -> AnalysisSettings {
    let of_rules = rules::RuleSettings {
        profile: Profile::All,
        required_labels: vec!["team".to_owned()],
        label_values: BTreeMap::from([("team".to_owned(), vec!["search".to_owned()])]),
        tiers: BTreeMap::from([("serving".to_owned(), vec!["T4".to_owned(), "L4".to_owned()])]),
        budgets: vec![
            Budget { name: "all of it".to_owned(), label: None, usd: 100.0, months: 1.0, ..Budget::default() },
            Budget {
                name: "team search".to_owned(),
                label: Some(("team".to_owned(), "search".to_owned())),
                usd: 0.0,
                months: 1.0,
                ..Budget::default()
            },
        ],
        approvals_above_usd: Some(1_000.0),
        ..rules::RuleSettings::default()
    };
    let (rules, wrong) = Rules::load(&[], of_rules);
    assert!(wrong.is_empty(), "{wrong:?}");
    AnalysisSettings {
        catalog,
        rules: Arc::new(rules),
        raw: WantedRaw { blocks: true, objects: WantedObjects::All, pods: true },
        today: Some(today()),
        ..AnalysisSettings::default()
    }
}

pub(crate) fn today() -> Date {
    "2026-11-21".parse().unwrap_or_default()
}

/// One state of a tree, fully evaluated.
pub(crate) struct Run {
    pub(crate) sources: SourceFiles,
    pub(crate) analysis: Analysis,
    pub(crate) findings: Vec<Decided>,
}

/// Evaluates text, inventory, bill, fits, findings and verdict.
pub(crate) fn run(tree: MemoryTree, settings: &AnalysisSettings) -> Run {
    let paths: Vec<String> = tree.paths().map(str::to_owned).collect();
    let sources = SourceFiles::new(tree);
    let mut analysis = gpulint::analyze(&sources, &paths, settings);
    assert!(analysis.broken_rules.is_empty(), "a built-in page failed: {:?}", analysis.broken_rules);
    let modules = analysis.blocks.iter().filter(|block| block.keyword == "module");
    let calls: Vec<_> = modules.map(|block| (block.span, block.address.clone())).collect();
    let fixed = BTreeMap::new();
    let findings = std::mem::take(&mut analysis.findings);
    let grounds = SuppressionContext {
        sources: &sources,
        inventory: &analysis.inventory,
        comments: &analysis.comments,
        calls: &calls,
        configured: Vec::new(),
        rules: &settings.rules,
        fixed: &fixed,
        demands: Default::default(),
        today: today(),
    };
    let decision = decide::decide(findings, &grounds);
    for suppression in &decision.suppressions {
        assert_inside(&sources, suppression.span, "a suppression");
    }
    Run { findings: decision.findings, sources, analysis }
}

/// Evaluates a tree and writes every report of it.
pub(crate) fn everything(tree: MemoryTree) {
    let run = run(tree.clone(), &SETTINGS);
    run.spans_lie_inside();
    run.reports_are_whole(&SETTINGS.rules);
    run.edits_apply(&tree);
}

impl Run {
    pub(crate) fn report<'a>(&'a self, paths: &'a ShownPaths, rules: &'a Rules) -> Report<'a> {
        Report {
            sources: &self.sources,
            paths,
            hosted_paths: paths,
            inventory: &self.analysis.inventory,
            bill: &self.analysis.bill,
            fits: &self.analysis.fits,
            findings: &self.findings,
            rules,
            totals: &self.analysis.totals,
            undetermined: &self.analysis.undetermined,
            unknown_machines: &self.analysis.left_out.unknown_machines,
            verdict: gpulint::decide::Verdict::new(false, &self.analysis.inventory.unjudged),
            currency: gpulint::catalog::Currency::USD,
            today: today(),
            market: None,
            is_empty: false,
            title: None,
            measured: &self.analysis.measured,
            catalog: report::PriceSources { version: "1".to_owned(), as_of: "2026-11-01".to_owned() },
        }
    }

    /// Every referenced position exists, and so does the position that an author would edit.
    pub(crate) fn spans_lie_inside(&self) {
        let inside = |span: Span, what: &str| assert_inside(&self.sources, span, what);
        let inventory = &self.analysis.inventory;
        for resource in &inventory.resources {
            inside(resource.span, "a resource");
            inside(resource.body, "the body of a resource");
            let facts = resource.facts().flat_map(|(_, fact)| [fact.span(), fact.defined()]);
            let labels = resource.labels.entries.values().flat_map(|fact| [fact.span(), fact.defined()]);
            let disks = resource.disks.iter().flat_map(|disk| disk.facts().map(|fact| fact.span()));
            let count = [resource.count.span(), resource.count.defined()];
            facts.chain(labels).chain(disks).chain(count).flatten().for_each(|span| inside(span, "a fact"));
            resource.links.iter().for_each(|link| inside(link.span, "a link"));
        }
        for raw in inventory.objects.iter().chain(&inventory.blocks) {
            inside(raw.span, "an object");
            inside(raw.body, "the body of an object");
        }
        for it in &inventory.diagnostics {
            let notes = it.notes.iter().filter_map(|(span, _)| *span);
            it.span.into_iter().chain(notes).for_each(|span| inside(span, &it.message));
        }
        for it in &self.findings {
            inside(it.finding.span, &it.finding.rule);
            it.finding.related.iter().for_each(|(span, _)| inside(*span, &it.finding.rule));
            it.finding.edits.iter().for_each(|edit| inside(edit.span, &it.finding.rule));
            let evidence = it.finding.evidence.iter().flat_map(|it| [it.span, it.defined]);
            evidence.flatten().for_each(|span| inside(span, &it.finding.rule));
        }
        self.analysis.undetermined.iter().for_each(|it| inside(it.span, &it.rule));
        self.analysis.comments.iter().for_each(|span| inside(*span, "a comment"));
        self.analysis.blocks.iter().for_each(|block| inside(block.span, "a block"));
    }

    /// The edits of a finding fit their places, and the result can still be read.
    pub(crate) fn edits_apply(&self, tree: &MemoryTree) {
        // Each of them needs another run.
        for it in self.findings.iter().filter(|it| !it.finding.edits.is_empty()).take(3) {
            let mut edits: Vec<&Edit> = it.finding.edits.iter().collect();
            edits.sort_by_key(|edit| edit.span);
            let mut texts: BTreeMap<String, String> = BTreeMap::new();
            let mut behind: Option<&Edit> = None;
            for edit in edits.into_iter().rev() {
                assert_eq!(self.sources.origin(edit.span), edit.span, "{}: an edit of derived text", it.finding.rule);
                let overlaps = behind.is_some_and(|it| it.span.file == edit.span.file && it.span.start < edit.span.end);
                assert!(!overlaps, "{}: two edits are in each other's way", it.finding.rule);
                let path = self.sources.path(edit.span.file);
                let text = texts.entry(path).or_insert_with(|| self.sources.text(edit.span.file).to_string());
                text.replace_range(edit.span.range(), &edit.replacement);
                behind = Some(edit);
            }
            let changed = texts.into_iter().fold(tree.clone(), |tree, (path, text)| tree.with(&path, text));
            let after = run(changed, &SETTINGS);
            assert_eq!(after.unreadable(), self.unreadable(), "{}: what it writes cannot be read", it.finding.rule);
        }
    }

    fn unreadable(&self) -> usize {
        self.findings.iter().filter(|it| it.finding.rule == "unreadable").count()
    }

    /// Every format is valid for its readers, contains nothing that a reader could execute, and can be read again if it
    /// was saved.
    pub(crate) fn reports_are_whole(&self, rules: &Rules) {
        let paths = ShownPaths::default();
        let report = self.report(&paths, rules);
        agree::report(&report);
        for format in Format::ALL {
            if let Some(text) = report::render(*format, &report, ReportStyle::default()) {
                assert_written(*format, &text);
            }
        }
        report::render(Format::Text, &report, ReportStyle { color: true, ..ReportStyle::default() });
        for format in Format::ALL {
            assert_harmless("the bill", &report::cost(*format, &report, ReportStyle::default()).unwrap_or_default());
        }
        assert_written(Format::Markdown, &report::comment(&report, CommentLimits::new(2_000, false)));
        for id in 0..self.analysis.inventory.resources.len().min(5) {
            assert_harmless("explain", &report::explain(&report, ResourceId(id)));
        }
        let inspected = report::inspect(&report);
        assert!(serde_json::from_str::<Value>(&inspected).is_ok(), "{inspected}");
        let told = &self.analysis.inventory.diagnostics;
        assert_harmless("diagnostics", &report::diagnostics(&self.sources, &paths, told, ReportStyle::default()));
        let json = report::render(Format::Json, &report, ReportStyle::default()).unwrap_or_default();
        let Ok(Saved::Check(state)) = report::saved(&json) else { panic!("our own report is not read again: {json}") };
        let again = report::render(Format::Json, &state.report(rules), ReportStyle::default()).unwrap_or_default();
        assert_same("", &told_by(&json), &told_by(&again));
        for format in [Format::Text, Format::Markdown] {
            assert_written(
                format,
                &report::render(format, &state.report(rules), ReportStyle::default()).unwrap_or_default(),
            );
        }
    }
}

/// Compares two states in every format, and writes the saved comparison as a comment.
pub(crate) fn change(before: MemoryTree, after: MemoryTree) {
    let (before, mut after) = (run(before, &SETTINGS), run(after, &SETTINGS));
    let delta = delta(side(&before), side(&after));
    assert_each_once(&delta, before.analysis.inventory.resources.len(), after.analysis.inventory.resources.len());
    let world = RuleContext { delta: Some(&delta), ..after.analysis.world(&SETTINGS) };
    let judgement = SETTINGS.rules.judge_change(&world);
    assert!(judgement.failures.is_empty(), "a built-in page failed: {:?}", judgement.failures);
    let new = judgement.findings.into_iter();
    let decided = |finding| Decided::new(finding, &after.sources, &after.analysis.inventory);
    let new: Vec<Decided> = new.map(decided).collect();
    after.findings.extend(new);
    after.spans_lie_inside();
    let paths = ShownPaths::default();
    let (earlier, later) = (before.report(&paths, &SETTINGS.rules), after.report(&paths, &SETTINGS.rules));
    let difference = Difference {
        teams: report::teams(&earlier, &later),
        budgets: report::budgets(earlier.totals, later.totals),
        new: after.findings.iter().collect(),
        grown: Vec::new(),
        unchanged: Vec::new(),
        fixed: before.findings.iter().collect(),
        accepted: Vec::new(),
        before: earlier,
        after: later,
        delta: &delta,
        base: "main".to_owned(),
        head: None,
        notes: Vec::new(),
        removed_limits: vec!["the change removes a limit: `a|b`\u{1b} (4)".to_owned()],
        not_read: vec!["`a|b`\u{1b}.sh".to_owned()],
        gate: GateResult { blocked: false, setting: String::new() },
    };
    let Some(json) = assert_difference(&difference) else { return };
    match report::saved(&json) {
        Ok(Saved::Difference(compared)) => {
            assert_difference(&compared.difference(&SETTINGS.rules));
        }
        Ok(Saved::Check(_)) => panic!("a comparison is read as something else: {json}"),
        Err(error) => panic!("our own comparison is not read again: {error}\n{json}"),
    }
}

/// Returns whether the report shows the addition in the later state: resources, money, errors, or unread text.
#[allow(dead_code, reason = "a fuzz target asks it; tests ask the program")]
pub(crate) fn sees_more(before: MemoryTree, after: MemoryTree) -> bool {
    let (before, after) = (run(before, &SETTINGS), run(after, &SETTINGS));
    let delta = delta(side(&before), side(&after));
    let is_more = |it: &ResourceCostChange| it.kind == ChangeKind::Added || it.increase.usd() > 0.0;
    let unread = |run: &Run| run.analysis.inventory.skipped.len() + run.analysis.undetermined.len();
    delta.changes.iter().any(is_more) || after.unreadable() > before.unreadable() || unread(&after) > unread(&before)
}

/// Writes a comparison in every format, and returns its JSON.
pub(crate) fn assert_difference(it: &Difference<'_>) -> Option<String> {
    agree::difference(it);
    for format in Format::ALL {
        if let Some(text) = report::difference(*format, it, ReportStyle::default()) {
            assert_written(*format, &text);
        }
    }
    assert_written(Format::Markdown, &report::comment_on_change(it, CommentLimits::new(2_000, true)));
    report::difference(Format::Json, it, ReportStyle::default())
}

fn side(run: &Run) -> Side<'_> {
    Side { sources: &run.sources, inventory: &run.analysis.inventory, bill: &run.analysis.bill }
}

/// Each resource of either side is in exactly one change.
fn assert_each_once(delta: &Delta, before: usize, after: usize) {
    for (count, pick) in
        [(before, (|it| it.before) as fn(&gpulint::pricing::ResourceCostChange) -> _), (after, |it| it.after)]
    {
        let mut ids: Vec<ResourceId> = delta.changes.iter().filter_map(pick).collect();
        assert_eq!(ids.len(), count, "a resource is in no change or in two");
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "a resource is in two changes");
    }
}

/// The position is inside the text of its file, and not inside a character.
pub(crate) fn assert_inside(sources: &SourceFiles, span: Span, what: &str) {
    for span in [span, sources.origin(span)] {
        let text = sources.text(span.file);
        assert!(text.get(span.range()).is_some(), "{what}: {span:?} lies outside the {} bytes of its file", text.len());
    }
    let location = sources.locate(span);
    assert!(location.line >= 1 && location.column >= 1, "{what}: {location:?}");
    assert!(
        (location.line, location.column) <= (location.end_line, location.end_column),
        "{what}: ends before it begins: {location:?}"
    );
}

/// Checks the properties that every reader of a format needs.
pub(crate) fn assert_written(format: Format, text: &str) {
    // An invisible mark prevents mentions and links in Markdown. No other format has it.
    let text = &if format == Format::Markdown {
        ["@", "#", "&#58;", "&#46;"]
            .iter()
            .fold(text.to_owned(), |text, before| text.replace(&format!("{before}\u{200b}"), before))
    } else {
        text.to_owned()
    };
    assert_harmless(format.name(), text);
    let documents: Vec<&str> = match format.row().syntax {
        FormatSyntax::Json => vec![text],
        FormatSyntax::JsonLines => text.lines().collect(),
        _ => Vec::new(),
    };
    assert!(documents.iter().all(|it| serde_json::from_str::<Value>(it).is_ok()), "{format} is no JSON: {text}");
    match format {
        Format::Github => {
            let is_command = |line: &str| {
                ["::error ", "::warning ", "::notice ", "::error::", "::warning::", "::notice::"]
                    .iter()
                    .any(|command| line.starts_with(command))
            };
            for line in text.lines().filter(|line| line.contains("::")) {
                assert!(is_command(line) || !line.starts_with("::"), "another command of workflows: {line}");
            }
        }
        Format::Outputs => {
            let mut names = BTreeSet::new();
            for line in text.lines() {
                let (name, _) = line.split_once('=').unwrap_or_else(|| panic!("no output: {line:?} of {text:?}"));
                assert!(names.insert(name), "{name} is set twice");
            }
        }
        _ => {}
    }
}

/// The text contains nothing that a terminal executes, reverses or hides.
pub(crate) fn assert_harmless(what: &str, text: &str) {
    let found = text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    });
    assert_eq!(found, None, "{what} holds it: {text:?}");
}

/// Returns the content that a saved report must keep after reading: everything except text that only the repository
/// has.
fn told_by(json: &str) -> Value {
    let mut report: Value = serde_json::from_str(json).unwrap_or_default();
    let kept = ["version", "findings", "undetermined", "unknown_machines", "skipped", "bill", "catalog"];
    if let Some(report) = report.as_object_mut() {
        report.retain(|key, _| kept.contains(&key.as_str()));
    }
    // For edits, it keeps the resulting lines (`fix`).
    for finding in report.get_mut("findings").and_then(Value::as_array_mut).into_iter().flatten() {
        finding.as_object_mut().and_then(|finding| finding.remove("edits"));
    }
    report
}

/// Reports the first difference.
fn assert_same(place: &str, one: &Value, other: &Value) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            assert!(one.keys().eq(other.keys()), "{place}: {:?} and {:?}", one.keys(), other.keys());
            for (key, value) in one {
                assert_same(&format!("{place}.{key}"), value, &other[key]);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len(), "{place}");
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                assert_same(&format!("{place}[{index}]"), one, other);
            }
        }
        _ => assert_eq!(one, other, "{place}: a saved report says something else"),
    }
}
