//! Writes SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::json as contract;
use super::json::WireBounds;
use crate::decide::{Decided, fingerprints};
use crate::pricing::Period;
use crate::report::Report;
use crate::report::escape::{harmless, one_line, shortened};
use crate::report::views::judged;
use crate::rules::{PackName, RuleFile, Undetermined, link};
use crate::source::{FilePosition, Span};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'a> {
    rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Value,
    locations: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Value>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Value>,
    suppressions: Vec<Value>,
    baseline_state: &'static str,
    properties: Value,
}

pub(in crate::report) fn check(report: &Report) -> String {
    let pages: Vec<&RuleFile> = report.rules.pages().iter().filter(|page| report.rules.is_on(&page.name)).collect();
    let fingerprints = fingerprints(report.findings, report.sources, report.inventory);
    let results: Vec<Finding> = report
        .findings
        .iter()
        .zip(fingerprints)
        .map(|(decided, fingerprint)| finding(report, &pages, decided, fingerprint))
        .collect();
    let skipped = report.inventory.skipped.iter().map(|it| {
        let text = format!("{} was skipped: {}", one_line(&report.paths.show(&it.path)), one_line(&it.reason));
        json!({"level": "note", "message": {"text": text}, "descriptor": {"id": "not-read"}})
    });
    let unjudged = judged::listed(report).into_iter().map(|it| {
        let text =
            format!("{}: {}: {}", one_line(&judged::place(report, it)), judged::heading(it), one_line(&it.reason));
        json!({"level": "warning", "message": {"text": shortened(&text, 4_000)}, "descriptor": {"id": "not-judged"}})
    });
    let unknown = report.undetermined.iter().map(|it| undetermined(report, it));
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "gpulint",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": pages.iter().map(|page| rule(page, report.rules.pack(&page.name))).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": unjudged.chain(unknown).chain(skipped).collect::<Vec<_>>(),
            }],
            "results": results,
            "properties": {"verdict": report.verdict.name(), "not_judged": report.inventory.unjudged.len()},
        }],
    });
    contract::print(&log)
}

fn rule(page: &RuleFile, pack: Option<&PackName>) -> Value {
    let mut rule = json!({
        "id": page.name,
        "shortDescription": {"text": page.summary()},
        "fullDescription": {"text": page.summary()},
        "help": {"text": explained(page), "markdown": explained(page)},
        "defaultConfiguration": {"level": page.level.name()},
        "properties": {"tags": ["gpu", "cost", page.group, page.layer.name()], "risk": page.risk.name()},
    });
    let of_pack = pack.and_then(|pack| Some(pack.pages.as_deref()?.replace("{rule}", &page.name)));
    if let Some(link) = of_pack.or_else(|| link(&page.name)) {
        rule["helpUri"] = json!(link);
    }
    if let Some(pack) = pack {
        rule["properties"]["pack"] = json!(pack.name);
    }
    rule
}

/// Returns the reason and the help of a rule. The web page of the rule has the examples.
fn explained(page: &RuleFile) -> &str {
    let body = page.body().trim();
    body.split_once("\n## Examples").map_or(body, |(prose, _)| prose.trim())
}

fn finding<'a>(report: &Report, pages: &[&RuleFile], decided: &'a Decided, fingerprint: String) -> Finding<'a> {
    let it = &decided.finding;
    let saves = report.currency.saved(it).map(|saved| format!(" Saves {saved}.")).unwrap_or_default();
    let help = it.help.as_deref().map(|help| format!("\n{}", harmless(help))).unwrap_or_default();
    let text = shortened(&format!("{}.{saves}{help}", one_line(&it.message)), 4_000);
    let mut location = json!({"physicalLocation": physical(report, it.span)});
    if let Some(address) = it.address(report.inventory) {
        let name = shortened(&one_line(address), 1_000);
        location["logicalLocations"] = json!([{"fullyQualifiedName": name, "kind": "resource"}]);
    }
    let related = it.related.iter().map(|(span, message)| {
        json!({"physicalLocation": physical(report, *span), "message": {"text": shortened(&one_line(message), 1_000)}})
    });
    let suppressions = decided.suppressed.iter().map(|by| {
        // A suppression in the settings is not at the place of the finding.
        let at = report.paths.locate(report.sources, by.span);
        let kind = if at.path.ends_with(".toml") { "external" } else { "inSource" };
        json!({
            "kind": kind,
            "status": "accepted",
            "justification": one_line(by.reason.as_deref().unwrap_or("no reason given")),
            "location": {"physicalLocation": physical(report, by.span)},
        })
    });
    Finding {
        rule_id: &it.rule,
        rule_index: pages.iter().position(|page| page.name == it.rule),
        level: it.level.name(),
        message: json!({"text": text}),
        locations: vec![location],
        related_locations: related.collect(),
        partial_fingerprints: BTreeMap::from([("gpulint/v1", fingerprint)]),
        fixes: fix(report, it).into_iter().collect(),
        suppressions: suppressions.collect(),
        baseline_state: if decided.baselined.is_some() { "unchanged" } else { "new" },
        properties: json!({
            "confidence": it.confidence.name(),
            "risk": it.risk.name(),
            "group": it.group,
            "saves_usd_per_month": it.saves.filter(|_| it.per == Period::Month).map(WireBounds::from),
            "saves_usd": it.saves.map(WireBounds::from),
            "saves_per": it.saves.map(|_| it.per.name()),
        }),
    }
}

/// Returns the replacements, file by file.
fn fix(report: &Report, finding: &crate::rules::Finding) -> Option<Value> {
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for edit in &finding.edits {
        let place = physical(report, edit.span);
        let path = report.paths.locate(report.sources, edit.span).path;
        let replacement = json!({"deletedRegion": place["region"], "insertedContent": {"text": edit.replacement}});
        files.entry(path).or_default().push(replacement);
    }
    let changes = files
        .into_iter()
        .map(|(path, replacements)| json!({"artifactLocation": {"uri": uri(&path)}, "replacements": replacements}));
    let changes: Vec<Value> = changes.collect();
    let text = shortened(&harmless(finding.help.as_deref().unwrap_or(&finding.message)), 1_000);
    (!changes.is_empty()).then(|| json!({"description": {"text": text}, "artifactChanges": changes}))
}

fn undetermined(report: &Report, it: &Undetermined) -> Value {
    let text = format!("check {} skipped: value unknown: {}", it.rule, shortened(&one_line(&it.cause), 1_000));
    json!({
        "level": "note",
        "message": {"text": text},
        "associatedRule": {"id": it.rule},
        "descriptor": {"id": "undetermined"},
        "locations": [{"physicalLocation": physical(report, it.span)}],
    })
}

fn physical(report: &Report, span: Span) -> Value {
    let FilePosition { path, line, column, end_line, end_column } = report.paths.locate(report.sources, span);
    json!({
        "artifactLocation": {"uri": uri(&path)},
        "region": {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column},
    })
}

/// Returns a path as a relative reference: percent-encodes bytes with a special meaning.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("a b/c:d?é.tf"), "a%20b/c%3Ad%3F%C3%A9.tf");
    }
}
