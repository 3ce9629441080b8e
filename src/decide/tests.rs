//! Tests suppressions and the findings that they cover.

use super::*;
use crate::diagnostic::Level;
use crate::inventory::{BillingRole, Fact, ReadBy, Resource, ResourceId};
use crate::pricing::Period;
use crate::rules::{self, Confidence, PageText, Risk};
use crate::source::MemoryTree;

const TERRAFORM: &str = r#"# gpulint: ignore-file[whole] -- all of it

resource "aws_instance" "a" { # gpulint: ignore[header] -- the block
  # gpulint: ignore[above, unneeded] until=2027-01-31 -- the line
  instance_type = "p5.48xlarge"
  count         = 2 # gpulint: ignore[behind]
  # gpulint: ignore[old] until=2020-01-01 -- long ago
  nested {
    x = 1
  }
}

# gpulint: ignore[module] -- theirs
module "m" {
  source = "./m"
}
# gpulint: ignore[mispelt]
# gpulint: ignore everything
x = 1
"#;

struct Case {
    sources: SourceFiles,
    inventory: Inventory,
    comments: Vec<Span>,
    calls: Vec<(Span, String)>,
    findings: Vec<Finding>,
}

/// Returns the built-in rules, and some that never report anything.
fn rules(sources: &SourceFiles) -> Rules {
    let file = sources.open("main.tf").unwrap();
    let page = |name: &str| PageText {
        path: format!("{name}.md"),
        text: format!(
            "---\nname: {name}\ngroup: idle\nlayer: utilization\nlevel: note\nrisk: low\nwhen: 'false'\n\
             message: x\nuntested: true\n---\n# {name}\n"
        )
        .into(),
        file,
        pack: None,
        undetermined: None,
    };
    let names = ["whole", "header", "above", "unneeded", "behind", "old", "module", "free", "misspelt"];
    let (rules, wrong) = Rules::load(&names.map(page), rules::RuleSettings::default());
    assert!(wrong.is_empty(), "{wrong:?}");
    rules
}

fn blank(rule: &str, span: Span) -> Finding {
    Finding {
        rule: rule.to_owned(),
        group: "idle".to_owned(),
        layer: "utilization".to_owned(),
        level: Level::Warning,
        confidence: Confidence::High,
        is_estimated: false,
        risk: Risk::Low,
        resource: None,
        piece: None,
        total: None,
        span,
        message: String::new(),
        help: None,
        saves: None,
        per: Period::Month,
        also: Vec::new(),
        related: Vec::new(),
        edits: Vec::new(),
        fix: None,
        evidence: Vec::new(),
    }
}

fn span(sources: &SourceFiles, part: &str) -> Span {
    let file = sources.open("main.tf").unwrap();
    let start = sources.text(file).find(part).unwrap_or_else(|| panic!("{part}"));
    Span::new(file, start, start + part.len())
}

fn case() -> Case {
    let sources = SourceFiles::new(MemoryTree::new().with("main.tf", TERRAFORM));
    let header = span(&sources, "resource \"aws_instance\"");
    let body = Span::new(header.file, header.start as usize, TERRAFORM.find("# gpulint: ignore[module]").unwrap());
    let resource = |address: &str, span, body| {
        Resource::new(ReadBy::Terraform, BillingRole::Rented, "aws_instance", address, span, body)
    };
    let elsewhere = span(&sources, "x = 1\n");
    let mut inventory = Inventory::default();
    inventory.resources.push(resource("aws_instance.a", header, body));
    inventory.resources.push(resource("module.m[0].aws_instance.b", elsewhere, elsewhere));
    let mut at = 0;
    let mut comments = Vec::new();
    for line in TERRAFORM.split_inclusive('\n') {
        if let Some(start) = line.find('#') {
            comments.push(Span::new(header.file, at + start, at + line.trim_end().len()));
        }
        at += line.len();
    }
    let calls = vec![(span(&sources, "module \"m\""), "module.m".to_owned())];
    let finding = |rule: &str, resource, part: &str| Finding {
        resource: Some(ResourceId(resource)),
        ..blank(rule, span(&sources, part))
    };
    let findings = vec![
        finding("whole", 0, "count"),
        finding("header", 0, "p5.48xlarge"),
        finding("above", 0, "instance_type"),
        finding("above", 0, "count"),
        finding("behind", 0, "count"),
        finding("old", 0, "x = 1"),
        finding("module", 1, "x = 1\n"),
        finding("free", 0, "count"),
    ];
    Case { sources, inventory, comments, calls, findings }
}

fn decided(change: impl FnOnce(&mut SuppressionContext)) -> (Vec<(String, bool)>, Vec<String>) {
    let case = case();
    let rules = rules(&case.sources);
    let fixed = BTreeMap::new();
    let mut grounds = SuppressionContext {
        sources: &case.sources,
        inventory: &case.inventory,
        comments: &case.comments,
        calls: &case.calls,
        configured: Vec::new(),
        rules: &rules,
        fixed: &fixed,
        demands: Demands::default(),
        today: "2026-11-21".parse().unwrap(),
    };
    change(&mut grounds);
    let decision = decide(case.findings, &grounds);
    let (complaints, findings): (Vec<_>, Vec<_>) =
        decision.findings.into_iter().partition(|it| it.finding.rule.ends_with("-suppression"));
    let complaints = complaints
        .iter()
        .map(|it| format!("{}:{} {}", case.sources.line(it.finding.span), it.finding.rule, it.finding.message))
        .collect();
    (findings.into_iter().map(|it| (it.finding.rule.clone(), it.suppressed.is_some())).collect(), complaints)
}

#[test]
fn comments_cover_their_line_their_block_their_call_or_their_file() {
    let (findings, mut complaints) = decided(|_| {});
    let expected = [
        ("whole", true),
        ("header", true),
        ("above", true),
        ("above", false),
        ("behind", true),
        ("old", false),
        ("module", true),
        ("free", false),
    ];
    assert_eq!(findings, expected.map(|(rule, suppressed)| (rule.to_owned(), suppressed)));
    complaints.sort();
    assert_eq!(
        complaints,
        [
            "17:broken-suppression there is no rule `mispelt`",
            "18:broken-suppression name the rules in brackets: `# gpulint: ignore[RULE]`",
            "4:stale-suppression `unneeded` reports nothing here, so this suppression has no effect",
            "7:stale-suppression this suppression ended on 2020-01-01",
        ]
    );
}

#[test]
fn reasons_can_be_required_and_rules_can_be_fixed() {
    let (findings, complaints) = decided(|grounds| grounds.demands.reason = true);
    assert!(findings.contains(&("behind".to_owned(), false)));
    assert!(complaints.iter().any(|it| it == "6:broken-suppression this suppression has no reason"), "{complaints:?}");
    let fixed: &'static _ = Box::leak(Box::new(BTreeMap::from([("header".to_owned(), FixedBy::Settings)])));
    let (findings, complaints) = decided(|grounds| grounds.fixed = fixed);
    assert!(findings.contains(&("header".to_owned(), false)));
    assert!(
        complaints.iter().any(|it| it == "3:broken-suppression suppressing `header` is not allowed"),
        "{complaints:?}"
    );
}

#[test]
fn the_configuration_covers_addresses_and_paths() {
    let entry = |address: Option<&str>, path: Option<&str>| {
        let case = case();
        let span = case.comments[0];
        Configured {
            rules: vec![("free".to_owned(), span)],
            address: address.map(str::to_owned),
            path: path.map(str::to_owned),
            until: None,
            reason: None,
            span,
        }
    };
    let silenced =
        |entry: Configured| decided(|grounds| grounds.configured.push(entry)).0.contains(&("free".to_owned(), true));
    assert!(silenced(entry(Some("aws_instance.a"), None)));
    assert!(silenced(entry(Some("aws_*"), Some("*.tf"))));
    assert!(!silenced(entry(Some("aws_instance"), None)));
    assert!(!silenced(entry(Some("aws_instance.a"), Some("legacy/*"))));
}

#[test]
fn annotations_cover_their_resource() {
    let mut case = case();
    let place = case.comments[0];
    for (index, (key, value)) in [
        ("gpulint.dev/ignore.free", "until=2027-01-31; shared by three teams"),
        ("gpulint.dev/ignore.free", "until=soon"),
        ("gpulint.dev/ignore.free", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let mut resource = Resource::new(ReadBy::Kubernetes, BillingRole::Requested, "Job", "Job/x", place, place);
        resource.labels.entries.insert(key.to_owned(), Fact::written(value.into(), place));
        case.inventory.resources.push(resource);
        let free = Finding { resource: Some(ResourceId(2 + index)), ..case.findings[7].clone() };
        case.findings.push(free);
    }
    let rules = rules(&case.sources);
    let grounds = SuppressionContext {
        sources: &case.sources,
        inventory: &case.inventory,
        comments: &[],
        calls: &[],
        configured: Vec::new(),
        rules: &rules,
        fixed: &BTreeMap::new(),
        demands: Demands::default(),
        today: "2026-11-21".parse().unwrap(),
    };
    let decision = decide(case.findings, &grounds);
    let silenced: Vec<bool> = decision.findings[8..11].iter().map(|it| it.suppressed.is_some()).collect();
    assert_eq!(silenced, [true, false, true]);
    let first = decision.findings[8].suppressed.as_ref().unwrap();
    assert_eq!(first.reason.as_deref(), Some("shared by three teams"));
    assert!(decision.findings[11].finding.message.contains("`soon` is not a date"));
}

/// Many comments, stacked or one for each block, are looked up and not compared with every finding: 40,000 of each
/// would take minutes.
#[test]
fn thousands_of_comments_and_findings_are_joined_by_their_places() {
    const MANY: usize = 40_000;
    let stacked = format!("{}# end\n", "# gpulint: ignore[free] -- all of them\n".repeat(MANY));
    let blocks: String = (0..MANY)
        .map(|n| format!("# gpulint: ignore[above] -- {n}\nx{n} {{\n\n\n  y = 1 # gpulint: ignore[behind]\n}}\n"))
        .collect();
    let text = format!("{stacked}{blocks}");
    let sources = SourceFiles::new(MemoryTree::new().with("main.tf", &*text));
    let file = sources.open("main.tf").unwrap();
    let comments: Vec<Span> =
        text.match_indices('#').map(|(at, _)| Span::new(file, at, at + text[at..].find('\n').unwrap())).collect();
    let findings: Vec<Finding> = text
        .match_indices("y = 1")
        .flat_map(|(at, _)| ["above", "behind"].map(|rule| blank(rule, Span::new(file, at, at + 5))))
        .chain([blank("free", Span::new(file, stacked.len() + 70, stacked.len() + 71))])
        .collect();
    let (rules, inventory, fixed) = (rules(&sources), Inventory::default(), BTreeMap::new());
    let grounds = SuppressionContext {
        sources: &sources,
        inventory: &inventory,
        comments: &comments,
        calls: &[],
        configured: Vec::new(),
        rules: &rules,
        fixed: &fixed,
        demands: Demands::default(),
        today: "2026-11-21".parse().unwrap(),
    };
    let decision = decide(findings, &grounds);
    assert_eq!(decision.findings.len(), 2 * MANY + 1, "no suppression is called stale");
    assert!(decision.findings.iter().all(|it| it.suppressed.is_some()));
    assert_eq!(decision.suppressions.len(), 3 * MANY);
    assert!(decision.suppressions.iter().all(|it| it.silences == 1));
}
