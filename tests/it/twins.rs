//! Tests that names in a repository never become markup. Each tree has a twin with harmless names, and both create the
//! same elements in every report. Independent parsers read the reports: comrak as GitHub reads Markdown, html5gum as
//! browsers read HTML. `docs/security.md` names these tests.

use std::collections::BTreeMap;

use comrak::nodes::NodeValue;
use comrak::{Arena, Options, parse_document};
use html5gum::{Token, Tokenizer};
use serde_json::Value;

use crate::cli::Place;

const TODAY: &str = "2026-11-21";

/// Names that an attacker might choose.
const HOSTILE: [&str; 33] = [
    "[Approve](http:/evil.example/x)",
    "[Approve][1]",
    "![i](http:/evil.example/p.png)",
    "<img src=x onerror=alert(1)>",
    "<h2>APPROVED</h2>",
    "</details></summary></code><script>alert(1)</script>",
    "<!-- ",
    "-->",
    "**security team: approved**",
    "_a_ ~~b~~ __c__",
    "`code` ``two`` ```three",
    "@octocat #1 GH-1 a/b#2 a@b",
    "@here <!channel> <@U123> <https://evil.example|x>",
    "https://evil.example/a",
    "www.evil.example",
    "mailto:a@evil.example",
    "javascript:alert(1)",
    "| a | b |",
    "$\\color{red}{x}$",
    "$$x$$ $`x`$",
    "[^1]: note",
    "[x]: http://evil.example",
    "- [x] done",
    "# heading",
    "> [!WARNING]",
    ":shipit: :warning:",
    "&lt;b&gt; &#60;b&#62;",
    "\\` \\[x\\](y)",
    "\"><b onmouseover=alert(1)>",
    "'><b>",
    "]]><!CDATA[",
    "\u{202e}drawkcab\u{2066}",
    "=cmd|' /C calc'!A1",
];

/// A name with placeholders is read differently, so it has a twin with placeholders.
const FILLED_IN: (&str, &str) = ("{{7*7}} ${7*7} <b>[a](b)", "{{7*7}} ${7*7} b a b");

/// Returns a tree with a name in every place that a repository can name.
fn tree(name: &str) -> Place {
    let place = Place::new();
    let quoted = serde_json::to_string(name).unwrap();
    let inner = quoted.trim_matches('"').replace("${", "$${").replace("%{", "%%{");
    let folder = name.replace('/', "\u{2215}");
    let machine = |resource: &str| {
        format!(
            "resource \"aws_instance\" \"{resource}\" {{\n  instance_type = \"p4d.24xlarge\"\n  tags = {{ team = \"{inner}\", \"{inner}\" = \"{inner}\", Name = \"{inner}\" }}\n}}\n"
        )
    };
    for side in ["before", "after"] {
        let count = if side == "before" { 1 } else { 2 };
        for at in 0..count {
            place.write(&format!("{side}/{at}{folder}/{folder}.tf"), &machine("a"));
        }
        place.write(
            &format!("{side}/each/main.tf"),
            &format!("module \"m\" {{\n  source = \"./m\"\n  for_each = toset([\"{inner}\"])\n}}\n"),
        );
        place.write(
            &format!("{side}/each/m/main.tf"),
            &machine("b").replace("p4d.24xlarge", if count == 1 { "p3.2xlarge" } else { "p3.8xlarge" }),
        );
        place.write(
            &format!("{side}/unknown/main.tf"),
            &format!("module \"gpu\" {{\n  source = \"example.org/{inner}/aws\"\n  gpu_type = \"p4d.24xlarge\"\n}}\nvariable \"v\" {{}}\nresource \"aws_instance\" \"c\" {{\n  instance_type = var.v\n  tags = {{ team = \"{inner}\" }}\n}}\n"),
        );
        let object = |kind: &str, replicas: usize| {
            format!(
                "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{ name: {quoted}, namespace: {quoted}, labels: {{ team: {quoted} }}, annotations: {{ \"gpulint.dev/ignore.missing-labels\": {quoted} }} }}\n\
                 spec:\n  replicas: {replicas}\n  template:\n    spec:\n      priorityClassName: {quoted}\n      nodeSelector: {{ node.kubernetes.io/instance-type: p4d.24xlarge }}\n      \
                 containers:\n        - name: {quoted}\n          image: {quoted}\n          command: [vllm, serve, {quoted}]\n          \
                 resources: {{ limits: {{ nvidia.com/gpu: 8 }} }}\n"
            )
        };
        place.write(&format!("{side}/k/{folder}.yaml"), &object("Deployment", count));
        place.write(&format!("{side}/broken/{folder}.tf"), "resource \"aws_instance\" {{{\n");
        place.write(
            &format!("{side}/broken/{folder}.yaml"),
            &format!("kind: Pod\napiVersion: v1\nmetadata: {{name: {quoted}\nnvidia.com/gpu: 8\n  x\n"),
        );
    }
    place.write(
        "gpulint.toml",
        &format!("profile = \"all\"\n[[budgets]]\nteam = {quoted}\nmonthly_usd = 5\n[[suppress]]\nrules = [\"old-generation\"]\naddress = \"*\"\nreason = {quoted}\n"),
    );
    place
}

/// The elements of a text, in order.
type Elements = Vec<String>;

/// Parses Markdown like GitHub. Mentions and links in the remaining text are elements, too.
fn of_markdown(text: &str) -> Elements {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.table = true;
    extension.strikethrough = true;
    extension.autolink = true;
    extension.tasklist = true;
    extension.footnotes = true;
    extension.alerts = true;
    extension.math_dollars = true;
    extension.math_code = true;
    let arena = Arena::new();
    let root = parse_document(&arena, text, &options);
    let mut found: Elements = Vec::new();
    for node in root.descendants() {
        // A long address is on several lines.
        if let [.., code, line] = found.as_slice()
            && code == "code"
            && line == "<br>"
            && matches!(node.data.borrow().value, NodeValue::Code(_))
        {
            found.pop();
            continue;
        }
        let data = node.data.borrow();
        found.push(match &data.value {
            NodeValue::Text(text) => {
                assert!(!mentions(text), "a mention in {text:?}");
                continue;
            }
            NodeValue::SoftBreak | NodeValue::LineBreak => continue,
            NodeValue::Code(_) => "code".to_owned(),
            NodeValue::Link(link) => {
                let (host, _) =
                    link.url.split_once("//").map_or(("", ""), |(_, rest)| rest.split_once('/').unwrap_or((rest, "")));
                format!("link to {host}")
            }
            NodeValue::HtmlInline(html) => html.clone(),
            NodeValue::HtmlBlock(html) => format!("{:?}", of_html(&html.literal)),
            other => {
                let name = format!("{other:?}");
                name.split(['(', ' ', '{']).next().unwrap().to_owned()
            }
        });
    }
    found
}

/// Returns whether a host would notify a user, or link an issue.
fn mentions(text: &str) -> bool {
    let after = |mark: char, is_next: fn(char) -> bool| {
        text.match_indices(mark).any(|(at, _)| text[at + 1..].chars().next().is_some_and(is_next))
    };
    after('@', |c| c.is_ascii_alphanumeric()) || after('#', |c| c.is_ascii_digit())
}

/// Parses HTML like a browser: each tag with the names of its attributes, and the target of its address.
fn of_html(text: &str) -> Elements {
    let mut found = Vec::new();
    for token in Tokenizer::new(text) {
        match token.unwrap() {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name).into_owned();
                let attributes: Vec<String> = tag
                    .attributes
                    .iter()
                    .map(|(key, value)| {
                        let (key, value) =
                            (String::from_utf8_lossy(key).into_owned(), String::from_utf8_lossy(value).into_owned());
                        let host = value.split('/').take(3).collect::<Vec<_>>().join("/");
                        if ["href", "src", "action"].contains(&key.as_str()) { format!("{key}={host}") } else { key }
                    })
                    .collect();
                found.push(format!("<{name} {}>", attributes.join(" ")));
            }
            Token::EndTag(tag) => found.push(format!("</{}>", String::from_utf8_lossy(&tag.name))),
            Token::Comment(_) => found.push("comment".to_owned()),
            _ => {}
        }
    }
    found
}

/// Returns the structure of JSON, with the targets of addresses, and the elements of Markdown strings.
fn of_json(value: &Value, key: &str, found: &mut Elements) {
    match value {
        Value::Object(entries) => entries.iter().for_each(|(key, value)| {
            found.push(format!("key {}", if key.len() > 40 { "long" } else { key }));
            of_json(value, key, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| of_json(item, key, found)),
        Value::String(text) if key == "markdown" => found.extend(of_markdown(text)),
        _ => {}
    }
}

const COMMON: [&str; 4] = ["--today", TODAY, "--prices", "embedded"];
const FORMATS: [&str; 7] = ["markdown", "html", "slack", "teams", "sarif", "junit", "json"];

/// Returns every report with markup, with its elements.
fn reports(place: &Place) -> BTreeMap<String, (String, Elements)> {
    let mut reports = BTreeMap::new();
    let verbs: [&[&str]; 2] = [&["check", "after"], &["diff", "--base-dir", "before", "after"]];
    for verb in verbs {
        let outputs: Vec<String> = FORMATS.iter().map(|format| format!("report.{format}")).collect();
        let each = FORMATS.iter().zip(&outputs).flat_map(|(format, output)| ["--format", format, "--output", output]);
        place.stdout(&[verb, &COMMON, &each.collect::<Vec<_>>()].concat());
        for format in FORMATS.iter().filter(|it| **it != "json") {
            let text = place.read(&format!("report.{format}"));
            let elements = match *format {
                "markdown" => of_markdown(&text),
                "html" | "junit" => of_html(&text),
                _ => {
                    let mut found = Vec::new();
                    of_json(&serde_json::from_str(&text).unwrap(), "", &mut found);
                    found
                }
            };
            reports.insert(format!("{} as {format}", verb[0]), (text, elements));
        }
    }
    let costs = place.stdout(&[&["cost", "after", "--format", "html"], &COMMON[..]].concat());
    reports.insert("cost as html".to_owned(), (costs.clone(), of_html(&costs)));
    place.write("token", "x");
    for host in ["github", "gitlab", "bitbucket", "azure", "gitea"] {
        let of = ["--repo", "o/r", "--pull-request", "1", "--api", "https://host.example/api", "--token-file", "token"];
        let text = place.stdout(&[&["comment", host, "--report", "report.json", "--dry-run"], &of[..]].concat());
        reports.insert(format!("comment on {host}"), (text.clone(), of_markdown(&text)));
    }
    reports
}

#[test]
fn no_name_makes_an_element_in_any_report() {
    // Both names start alike, so that lists have the same order.
    let twin = reports(&tree("name harmless"));
    assert!(
        twin["diff as markdown"].0.contains("name harmless") && twin["comment on gitlab"].0.contains("name harmless")
    );
    let filled_in = reports(&tree(&format!("name {}", FILLED_IN.1)));
    let all = HOSTILE.iter().map(|hostile| (*hostile, &twin)).chain([(FILLED_IN.0, &filled_in)]);
    for (hostile, twin) in all {
        let found = reports(&tree(&format!("name {hostile}")));
        for (what, (text, elements)) in &found {
            let expected = &twin[what].1;
            // Text between backticks is code, even in a name.
            let is_code = |it: &String| ["code", "<code >", "</code>"].contains(&it.as_str());
            let without_code = |all: &Elements| all.iter().filter(|it| !is_code(it)).cloned().collect::<Elements>();
            let is_same = match hostile.contains('`') {
                true => without_code(elements) == without_code(expected),
                false => elements == expected,
            };
            if !is_same {
                let at = elements
                    .iter()
                    .zip(expected)
                    .position(|(a, b)| a != b)
                    .unwrap_or(elements.len().min(expected.len()));
                let around =
                    |all: &Elements| all.iter().skip(at.saturating_sub(3)).take(8).cloned().collect::<Vec<_>>();
                panic!("{what} of {hostile:?}:\n{:?}\n{:?}\n{text}", around(elements), around(expected));
            }
        }
    }
}

#[test]
fn the_parsers_see_what_is_there() {
    assert_eq!(
        of_markdown("a [b](https://h/x) <b>").iter().filter(|it| it.starts_with("link") || *it == "<b>").count(),
        2
    );
    assert!(of_markdown("$x$ ~~a~~ `c`").iter().any(|it| it == "Math"));
    assert!(mentions("a @octocat") && mentions("#1") && !mentions("a @ b"));
    assert_eq!(of_html("<a href='https://evil/x'>b</a>"), ["<a href=https://evil>", "</a>"]);
}
