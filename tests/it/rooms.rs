//! Tests reports for chat and the monthly review: the messages have the documented form of Slack and Teams, for any
//! names.

use std::process::{Command, Output};

use serde_json::Value;

use crate::cli::Place;

const TODAY: &str = "2026-11-21";

/// Returns names that try to be markup, notify everyone, link to other places, or exceed the length limit.
fn hostile() -> Vec<String> {
    let mut names: Vec<String> = [
        "<!channel>",
        "<https://evil.example|here>",
        "<at>everybody</at>",
        "*bold* _it_ `x`",
        "[x](https://evil.example)",
    ]
    .map(str::to_owned)
    .to_vec();
    names.extend(["\u{202e}\u{1b}[2Jx", "&lt;!here&gt; @here"].map(str::to_owned));
    names.extend(["語", "x", "🚫", "🚫a", "🚫b", "🚫c", "🚫d"].map(|letter| letter.repeat(4_000)));
    names
}

/// Creates a tree with these names, each on a resource with a possible saving.
fn named(place: &Place, names: &[String]) {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let pods: Vec<String> = names
        .iter()
        .map(|name| {
            let name = quoted(name);
            format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: {name}, namespace: {name}, labels: {{ team: {name} }} }}\n\
                 spec:\n  replicas: 2\n  template:\n    spec:\n      nodeSelector: {{ node.kubernetes.io/instance-type: p4d.24xlarge }}\n      \
                 containers:\n        - name: c\n          image: vllm/vllm-openai:v0.8.0\n          args: [--model, facebook/opt-125m]\n          \
                 resources: {{ limits: {{ nvidia.com/gpu: 8 }} }}\n"
            )
        })
        .collect();
    place.write("pods.yaml", &pods.join("---\n"));
    place.write("main.tf", &pool(1));
}

fn pool(count: u32) -> String {
    format!("resource \"aws_instance\" \"a\" {{\n  count = {count}\n  instance_type = \"p4d.24xlarge\"\n}}\n")
}

fn said(place: &Place, format: &str, arguments: &[&str]) -> Value {
    let text = place.stdout(&[arguments, &["--today", TODAY, "--format", format]].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    let mut keys: Vec<&str> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Checks that a string has one to `most` characters, and none that reverses a line or moves a cursor.
fn assert_plain(value: &Value, most: usize) {
    assert_eq!(keys(value), ["emoji", "text", "type"]);
    assert_eq!((&value["type"], &value["emoji"]), (&Value::from("plain_text"), &Value::from(false)));
    let text = value["text"].as_str().unwrap();
    // Slack counts UTF-16 units, so characters outside the basic plane count twice.
    let length = text.encode_utf16().count();
    assert!((1..=most).contains(&length), "{length} of {most}: {text}");
    assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
}

/// Checks a message against `docs.slack.dev/reference/block-kit/blocks`.
fn assert_slack(message: &Value) {
    assert_eq!(keys(message), ["blocks", "text"]);
    // Only the notification text is read as markup.
    let text = message["text"].as_str().unwrap();
    assert!(!text.is_empty() && text.chars().count() <= 4_000 && !text.contains(['<', '>']), "{text}");
    let blocks = message["blocks"].as_array().unwrap();
    assert!((1..=50).contains(&blocks.len()), "{} blocks", blocks.len());
    for block in blocks {
        match block["type"].as_str().unwrap() {
            "header" => assert_plain(&block["text"], 150),
            "section" => assert_plain(&block["text"], 3_000),
            "context" => {
                let elements = block["elements"].as_array().unwrap();
                assert!((1..=10).contains(&elements.len()));
                elements.iter().for_each(|it| assert_plain(it, 3_000));
            }
            "actions" => {
                for element in block["elements"].as_array().unwrap() {
                    assert_eq!(keys(element), ["text", "type", "url"]);
                    assert_eq!(element["type"], "button");
                    assert_plain(&element["text"], 75);
                    assert_link(&element["url"]);
                }
            }
            other => panic!("`{other}` is no block of a message of ours: {block}"),
        }
    }
}

fn assert_link(url: &Value) {
    let url = url.as_str().unwrap();
    assert!(url.starts_with("https://") && url.len() <= 3_000, "{url}");
}

/// Checks a message with one adaptive card against `learn.microsoft.com` for Teams webhooks; at most 28 kB.
fn assert_teams(message: &Value) {
    let bytes = serde_json::to_string_pretty(message).unwrap().len();
    assert!(bytes < 28_000, "{bytes} bytes");
    assert_eq!((keys(message), &message["type"]), (vec!["attachments", "type"], &Value::from("message")));
    let [attachment] = message["attachments"].as_array().unwrap().as_slice() else { panic!("one card: {message}") };
    assert_eq!(attachment["contentType"], "application/vnd.microsoft.card.adaptive");
    let card = &attachment["content"];
    assert_eq!((&card["type"], &card["version"]), (&Value::from("AdaptiveCard"), &Value::from("1.4")));
    let body = card["body"].as_array().unwrap();
    assert!(!body.is_empty());
    for element in body {
        // A text block would read Markdown. Runs do not.
        assert_eq!(element["type"], "RichTextBlock", "{element}");
        for run in element["inlines"].as_array().unwrap() {
            assert_eq!(run["type"], "TextRun");
            assert!(!run["text"].as_str().unwrap().is_empty());
            assert!(["", "Small", "Large"].contains(&run["size"].as_str().unwrap_or_default()), "{run}");
            assert!(["", "Bolder"].contains(&run["weight"].as_str().unwrap_or_default()), "{run}");
        }
    }
    for action in card["actions"].as_array().unwrap() {
        assert_eq!((keys(action), &action["type"]), (vec!["title", "type", "url"], &Value::from("Action.OpenUrl")));
        assert_link(&action["url"]);
    }
}

#[test]
fn messages_have_the_shapes_that_the_hosts_document() {
    for name in ["inference-service", "mixed", "notebooks-gcp", "training-platform-eks"] {
        let place = crate::html::example(name);
        assert_slack(&said(&place, "slack", &["check"]));
        assert_teams(&said(&place, "teams", &["check"]));
    }
    let nothing = Place::new();
    nothing.write("main.tf", "resource \"aws_s3_bucket\" \"a\" {}\n");
    assert_slack(&said(&nothing, "slack", &["check"]));
    assert_teams(&said(&nothing, "teams", &["check"]));
}

#[test]
fn no_name_is_markup_or_too_long() {
    let names = hostile();
    let place = Place::new();
    named(&place, &names);
    place.write("before/main.tf", "");
    let diff = ["diff", "--base-dir", "before", "."];
    for one in names.chunks(1).chain([&names[..]]) {
        named(&place, one);
        for arguments in [&["check"][..], &diff] {
            let (slack, teams) = (said(&place, "slack", arguments), said(&place, "teams", arguments));
            assert_slack(&slack);
            assert_teams(&teams);
        }
    }
    // The names are in the message at all.
    named(&place, &names[..1]);
    assert!(said(&place, "slack", &["check"]).to_string().contains("<!channel>"));
}

fn git(place: &Place, day: &str, author: &str, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(place.directory()).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), author).env(format!("GIT_{who}_EMAIL"), "a@example.org");
        command.env(format!("GIT_{who}_DATE"), format!("{day}T12:00:00Z"));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(place: &Place, day: &str, author: &str, subject: &str) {
    git(place, day, author, &["add", "--all"]);
    git(place, day, author, &["commit", "--quiet", "--message", subject]);
}

/// Creates a repository with one machine, three from October on, two from November on.
fn repository() -> Place {
    let place = Place::new();
    git(&place, "2026-08-03", "Ada", &["init", "--quiet", "--initial-branch=main"]);
    for (day, author, count, subject) in [
        ("2026-08-03", "Ada", 1, "Start"),
        ("2026-10-12", "Lin", 3, "Train the large model"),
        ("2026-11-02", "Ada", 2, "Give one back"),
    ] {
        place.write("main.tf", &pool(count));
        commit(&place, day, author, subject);
    }
    place
}

fn run(place: &Place, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
    command.current_dir(place.directory()).env("NO_COLOR", "1").args(arguments).args(["--today", TODAY]);
    command.output().unwrap()
}

const PAGE: &str = "https://acme.example/pages/2026-10.html";

#[test]
fn a_month_is_told_in_every_format() {
    let place = repository();
    let told = |format: &str, more: &[&str]| {
        place.stdout(&[&["report", "--today", TODAY, "--url", PAGE, "--format", format], more].concat())
    };
    let text = told("text", &[]);
    // Without a month, the last complete one is used.
    assert!(text.contains("In 2026-10: ") && text.contains(", 1 commit\n"), "{text}");
    assert!(text.contains("of 2026-10-12 by Lin: Train the large model"), "{text}");
    assert!(!text.contains("Give one back"), "another month: {text}");
    assert_eq!(text, told("text", &["--month", "2026-10"]));
    let november = told("text", &["--month", "2026-11"]);
    assert!(november.contains("In 2026-11: ") && november.contains("by Ada: Give one back"), "{november}");

    let markdown = told("markdown", &[]);
    assert!(
        markdown.starts_with("### In 2026-10") && markdown.contains(&format!("[Full report]({PAGE})")),
        "{markdown}"
    );
    let page = told("html", &[]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("What changed the cost in the month?"), "{page}");
    let (slack, teams) = (told("slack", &[]), told("teams", &[]));
    let (slack, teams): (Value, Value) = (serde_json::from_str(&slack).unwrap(), serde_json::from_str(&teams).unwrap());
    assert_slack(&slack);
    assert_teams(&teams);
    for message in [slack.to_string(), teams.to_string()] {
        assert!(message.contains("Train the large model") && message.contains(PAGE), "{message}");
    }
}

#[test]
fn the_sums_of_a_month_are_those_of_its_commits() {
    let place = repository();
    let cost = |commit: &str| {
        git(&place, "2026-11-21", "Ada", &["checkout", "--quiet", commit]);
        let bill: Value = serde_json::from_str(&place.stdout(&["cost", "--today", TODAY, "--format", "json"])).unwrap();
        git(&place, "2026-11-21", "Ada", &["checkout", "--quiet", "main"]);
        bill["bill"]["rented"]["expected"].as_f64().unwrap()
    };
    let (before, after) = (cost("main~2"), cost("main~1"));
    let text = place.stdout(&["report", "--month", "2026-10", "--today", TODAY]);
    let line = text.lines().find(|line| line.starts_with("In 2026-10: ")).unwrap();
    let amounts: Vec<f64> = line
        .split('$')
        .skip(1)
        .map(|it| it.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',').collect::<String>())
        .map(|it| it.parse().unwrap())
        .collect();
    let expected = [before, after, after - before];
    assert_eq!(amounts.len(), 3, "{line}");
    assert!(amounts.iter().zip(expected).all(|(it, wanted)| (it - wanted).abs() <= 1.0), "{line}: {expected:?}");
}

#[test]
fn a_month_that_cannot_be_told_is_a_clear_failure() {
    let place = repository();
    let fails = |place: &Place, arguments: &[&str], message: &str| {
        let output = run(place, &[&["report"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    };
    fails(&place, &["--month", "2026-12"], "2026-12 has not started yet");
    fails(&place, &["--month", "2026-13"], "is not a month; write it as 2027-01");
    fails(&place, &["--url", "https://x.example/a b"], "https://HOST/PATH");
    fails(&place, &["--format", "sarif"], "sarif");
    let nowhere = Place::new();
    nowhere.write("main.tf", &pool(1));
    fails(&nowhere, &[], "git repository");
    let empty = Place::new();
    git(&empty, "2026-08-03", "Ada", &["init", "--quiet"]);
    empty.write("main.tf", &pool(1));
    let output = run(&empty, &["report"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("the repository has no commit yet"), "{output:?}");
    // A month before the first commit has nothing to tell, and does not fail for it.
    let text = String::from_utf8(run(&place, &["report", "--month", "2026-07"]).stdout).unwrap();
    assert!(text.contains("In 2026-07: unknown, 0 commits"), "{text}");
}

#[test]
fn no_author_and_no_subject_is_markup_or_too_long() {
    let place = repository();
    for (at, name) in hostile().iter().enumerate() {
        place.write("main.tf", &pool(4 + u32::try_from(at).unwrap()));
        commit(&place, "2026-11-03", name, name);
    }
    let month = ["report", "--month", "2026-11"];
    let (slack, teams) = (said(&place, "slack", &month), said(&place, "teams", &month));
    assert_slack(&slack);
    assert_teams(&teams);
    let page = place.stdout(&[&month[..], &["--today", TODAY, "--format", "html"]].concat());
    assert!(!page.contains("<at>") && !page.contains("<https:"), "a subject became markup");
}
