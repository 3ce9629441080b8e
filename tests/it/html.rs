//! Tests the HTML page: it contains everything in the JSON, no input becomes markup, and it makes no requests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::Place;
use crate::skipped::skip;

const TODAY: [&str; 2] = ["--today", "2026-11-21"];

/// All elements that a page may contain.
const ELEMENTS: [&str; 43] = [
    "html", "head", "meta", "title", "style", "body", "svg", "defs", "pattern", "rect", "path", "line", "circle",
    "text", "header", "h1", "h2", "h3", "p", "nav", "ul", "ol", "li", "a", "main", "div", "section", "figure", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "span", "code", "pre", "br", "article", "details", "summary",
    "strong",
];

/// The elements for choices.
const CONTROLS: [&str; 6] = ["fieldset", "legend", "label", "input", "script", "footer"];

fn page(place: &Place, arguments: &[&str]) -> String {
    place.stdout(&[arguments, &TODAY[..], &["--format", "html"]].concat())
}

fn json(place: &Place, arguments: &[&str]) -> Value {
    let text = place.stdout(&[arguments, &TODAY[..], &["--format", "json"]].concat());
    serde_json::from_str(&text).unwrap()
}

/// Returns the text between tags, as a browser would show it.
fn shown(page: &str) -> String {
    let body = page.split_once("<body>").unwrap().1;
    let body = body.rsplit_once("<script>").map_or(body, |(body, _)| body);
    let mut text = String::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = after.split_once('>').unwrap().1;
    }
    text.push_str(rest);
    ["&lt;", "&gt;", "&quot;", "&#39;", "&amp;"]
        .iter()
        .zip(["<", ">", "\"", "'", "&"])
        .fold(text, |text, (entity, letter)| text.replace(entity, letter))
}

/// Returns the names of all elements, read like a browser reads a page whose text contains no `<`.
fn elements(page: &str) -> BTreeSet<String> {
    let without = |page: &str, name: &str| {
        let (start, end) = (page.find(&format!("<{name}>")).unwrap(), page.rfind(&format!("</{name}>")).unwrap());
        format!("{}{}", &page[..start], &page[end..])
    };
    let page = without(&without(page, "style"), "script");
    let names = page.split('<').skip(1).map(|it| it.trim_start_matches('/')).filter(|it| !it.starts_with('!'));
    names.map(|it| it.chars().take_while(|c| c.is_ascii_alphanumeric()).collect()).collect()
}

/// Returns the sort keys of one table, row by row.
fn numbers(page: &str, table: &str) -> Vec<Vec<f64>> {
    let table = page.split_once(&format!("id=\"{table}\"")).unwrap().1.split_once("</table>").unwrap().0;
    let rows = table.split_once("<tbody>").unwrap().1.split("<tr>").skip(1);
    let cells = |row: &str| -> Vec<f64> {
        row.split("data-v=\"").skip(1).map(|it| it.split_once('"').unwrap().0.parse().unwrap()).collect()
    };
    rows.map(cells).collect()
}

pub(crate) fn example(name: &str) -> Place {
    let place = Place::new();
    crate::book::copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name), "", &place);
    place
}

const EXAMPLES: [&str; 4] = ["inference-service", "mixed", "notebooks-gcp", "training-platform-eks"];

#[test]
fn everything_that_json_tells_stands_on_the_page() {
    for name in EXAMPLES {
        let place = example(name);
        let text = shown(&page(&place, &["check"]));
        let found = json(&place, &["check"]);
        assert!(!found["findings"].as_array().unwrap().is_empty(), "{name}");
        for finding in found["findings"].as_array().unwrap() {
            let at = format!("{}:{}", finding["path"].as_str().unwrap(), finding["line"]);
            for part in [finding["rule"].as_str().unwrap(), &at, finding["address"].as_str().unwrap_or_default()] {
                assert!(text.contains(part), "{name}: {part} is not on the page");
            }
        }
        let bill = json(&place, &["cost"]);
        for resource in bill["resources"].as_array().unwrap() {
            let at = format!("{}:{}", resource["path"].as_str().unwrap(), resource["line"]);
            assert!(text.contains(resource["address"].as_str().unwrap()) && text.contains(&at), "{name}: {at}");
        }
    }
}

#[test]
fn each_cut_adds_up_to_the_bill() {
    for name in EXAMPLES {
        let place = example(name);
        let (page, bill) = (page(&place, &["cost"]), json(&place, &["cost"]));
        let expected = |role: &str| bill["bill"][role]["expected"].as_f64().unwrap();
        let roles: Vec<f64> = ["rented", "requested"].into_iter().map(expected).collect();
        let mut cuts = 0;
        for cut in ["team", "purpose", "environment", "project", "accelerator", "purchase", "region", "cloud", "kind"] {
            if !page.contains(&format!("id=\"by-{cut}\"")) {
                continue;
            }
            cuts += 1;
            let rows = numbers(&page, &format!("by-{cut}"));
            let columns = rows[0].len() - 1;
            let sums: Vec<f64> = (0..columns).map(|at| rows.iter().map(|row| row[at]).sum()).collect();
            let bills: Vec<f64> = if columns == 2 { roles.clone() } else { vec![roles[0].max(roles[1])] };
            for (sum, bill) in sums.iter().zip(&bills) {
                assert!((sum - bill).abs() < 0.01, "{name} by {cut}: {sums:?} and {bills:?}");
            }
        }
        assert!(cuts >= 2, "{name}");
    }
}

/// Names that try to become markup, styles, scripts and requests.
const HOSTILE: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</style><link rel=stylesheet href=//x>",
    "' onmouseover='alert(1)",
    "a\u{202e}b\u{2066}c<!--",
    "</title><iframe src=//x>",
];

#[test]
fn nothing_that_was_read_becomes_markup() {
    let place = Place::new();
    for (at, name) in HOSTILE.iter().enumerate() {
        let quoted = serde_json::to_string(name).unwrap();
        place.write(
            &format!("{at}/job.json"),
            &format!(
                "{{\"apiVersion\": \"batch/v1\", \"kind\": \"Job\", \"metadata\": {{\"name\": {quoted}, \"labels\": \
                 {{\"team\": {quoted}}}}}, \"spec\": {{\"template\": {{\"spec\": {{\"nodeSelector\": \
                 {{\"node.kubernetes.io/instance-type\": \"p3.2xlarge\"}}, \"containers\": [{{\"name\": {quoted}, \
                 \"command\": [\"torchrun\", {quoted}], \"resources\": {{\"limits\": {{\"nvidia.com/gpu\": 1}}}}}}]}}}}}}}}\n"
            ),
        );
    }
    for verb in ["check", "cost"] {
        let page = page(&place, &[verb]);
        let known: BTreeSet<&str> = ELEMENTS.into_iter().chain(CONTROLS).collect();
        let strange: Vec<String> = elements(&page).into_iter().filter(|it| !known.contains(it.as_str())).collect();
        assert!(strange.is_empty(), "{verb}: {strange:?}");
        assert!(page.matches("<script>").count() == 1 && page.matches("<style>").count() == 1, "{verb}");
        assert!(!page.contains(" onmouseover='") && !page.contains('\u{202e}'), "{verb}");
        assert!(shown(&page).contains("</script><script>alert(1)</script>"), "names are told as they are");
        // The only address is the page of a rule.
        let rules = gpulint::rules::in_the_book("rules/").replace(".html", "");
        for link in page.split("href=\"").skip(1) {
            assert!(link.starts_with('#') || link.starts_with(&rules), "{}", &link[..40]);
        }
        assert!(!page.contains(" src=\"") && !page.contains("@import") && !page.contains(" style=\""));
    }
}

#[test]
fn a_page_is_the_same_wherever_it_is_made() {
    let place = example("mixed");
    let made = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.current_dir(place.directory()).args(["check", "--format", "html"]).args(TODAY);
        command.envs(variables.iter().copied());
        command.output().unwrap().stdout
    };
    let first = made(&[]);
    assert!(first.len() > 10_000);
    assert_eq!(first, made(&[]));
    assert_eq!(first, made(&[("LC_ALL", "tr_TR.UTF-8"), ("TZ", "Asia/Tokyo"), ("COLUMNS", "40")]));
}

#[test]
fn a_page_about_ten_thousand_resources_can_be_mailed() {
    let place = Place::new();
    let jobs: String = (0..10_000)
        .map(|n| {
            format!(
                "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: job-{n} }}\nspec:\n  template:\n    spec:\n      \
                 nodeSelector: {{ node.kubernetes.io/instance-type: p3.2xlarge }}\n      containers:\n        - name: c\n          \
                 resources: {{ limits: {{ nvidia.com/gpu: 1 }} }}\n---\n"
            )
        })
        .collect();
    place.write("jobs.yaml", &jobs);
    let page = page(&place, &["check"]);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(page.contains("more resources; --format csv and json contain all"), "what is left out is told");
}

#[test]
fn a_page_about_nothing_says_so() {
    let place = Place::new();
    place.write("main.tf", "resource \"aws_s3_bucket\" \"a\" {}\n");
    let text = shown(&page(&place, &["check"]));
    assert!(text.contains("No accelerators found"), "{text}");
    assert!(text.contains("Every evaluated resource has a price"), "{text}");
}

#[test]
fn a_change_is_a_page_too() {
    let place = Place::new();
    let pool = |count: u32| {
        format!("resource \"aws_instance\" \"a\" {{\n  count = {count}\n  instance_type = \"p4d.24xlarge\"\n}}\n")
    };
    place.write("before/main.tf", &pool(1));
    place.write("after/main.tf", &pool(3));
    let page = page(&place, &["diff", "--base-dir", "before", "after"]);
    let text = shown(&page);
    let change = json(&place, &["diff", "--base-dir", "before", "after"]);
    let rows = numbers(&page, "changes-table");
    let moved: f64 = rows.iter().map(|row| row[2]).sum();
    let told = change["cost"]["rented"]["difference"]["expected"].as_f64().unwrap();
    assert!(told > 0.0 && (moved - told).abs() < 0.01, "{rows:?} and {told}");
    for finding in change["new"].as_array().unwrap().iter().chain(change["grown"].as_array().unwrap()) {
        assert!(text.contains(finding["rule"].as_str().unwrap()), "{finding}");
    }
}

/// Returns the colors of gpulint by their names, such as `light-ink`, as six digits.
fn palette() -> BTreeMap<String, String> {
    let text = file("src/report/html/colors.css");
    let named = text.split(';').filter_map(|it| it.rsplit_once("--").and_then(|(_, it)| it.split_once(":#")));
    named.map(|(name, digits)| (name.to_owned(), six(digits))).collect()
}

fn file(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn six(digits: &str) -> String {
    if digits.len() == 3 { digits.chars().flat_map(|it| [it, it]).collect() } else { digits.to_owned() }
}

/// Returns the contrast of two colors, from 1 to 21, as the accessibility guidelines of the W3C define it.
fn contrast(a: &str, b: &str) -> f64 {
    let light = |digits: &str| {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4) + 0.05
    };
    let (a, b) = (light(a), light(b));
    a.max(b) / a.min(b)
}

#[test]
fn every_color_can_be_read_in_both_schemes() {
    let colors = palette();
    let words = ["ink", "soft", "link", "error", "warning", "note"];
    let marks = ["blue", "green", "vermillion", "purple", "grey"];
    for scheme in ["light", "dark"] {
        let color = |name: &str| &colors[&format!("{scheme}-{name}")];
        for (paper, name) in
            ["paper", "card"].iter().flat_map(|paper| words.iter().chain(&marks).map(move |it| (paper, it)))
        {
            let least = if words.contains(name) { 4.5 } else { 3.0 };
            let found = contrast(color(name), color(paper));
            assert!(found >= least, "{scheme}: {name} on {paper} has a contrast of {found:.2}, not {least}");
        }
    }
    assert_eq!(colors.len(), 2 * (words.len() + marks.len() + "paper card edge".split(' ').count()));
}

/// Everything that draws uses the colors of one file. A file that a browser or another package reads alone repeats them.
#[test]
fn all_pages_and_pictures_share_their_colors() {
    let known: BTreeSet<String> = palette().into_values().collect();
    let repeats = [
        "src/report/html/bars.rs",
        "src/report/html/area.rs",
        "src/report/html/style.css",
        "src/report/history/html.rs",
        "fleet/gpulint_fleet/report.css",
        "docs/book.css",
        "packaging/terminal.py",
    ];
    for path in repeats {
        let text = file(path);
        for (at, _) in text.match_indices('#') {
            let digits: String = text[at + 1..].chars().take_while(char::is_ascii_alphanumeric).collect();
            let is_color = matches!(digits.len(), 3 | 6) && digits.chars().all(|it| it.is_ascii_hexdigit());
            assert!(
                !is_color || known.contains(&six(&digits)),
                "{path}: #{digits} is not in src/report/html/colors.css"
            );
        }
    }
}

/// Returns a browser, if one is installed.
fn browser() -> Option<PathBuf> {
    let places = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH")?;
    let found = |name: &str| std::env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file());
    places.into_iter().find_map(found)
}

/// A browser parses the page into the expected elements and runs its script, under the policy of the page.
#[test]
fn a_browser_reads_it_as_it_was_meant() {
    let Some(browser) = browser() else { return skip("no browser is installed") };
    let place = example("mixed");
    let page = page(&place, &["check"]);
    place.write("page.html", &page);
    let file = place.directory().join("page.html");
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]);
    let dom = command.arg(format!("file://{}", file.display())).output().unwrap();
    let dom = String::from_utf8(dom.stdout).unwrap();
    let (ours, theirs) = (elements(&page), elements(&dom));
    let added: Vec<&String> = theirs.difference(&ours).filter(|it| !["button"].contains(&it.as_str())).collect();
    assert!(added.is_empty(), "{added:?}");
    assert!(theirs.contains("button"), "the script of the page makes tables sortable:\n{dom}");
}

/// A file without resources was checked. An empty directory was not.
#[test]
fn nothing_to_check_is_told_from_nothing_found() {
    let place = Place::new();
    place.write("clean/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n");
    place.write("empty/", "");
    let said = |directory: &str, format: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulint"));
        command.current_dir(place.directory()).args(["check", directory, "--format", format]).args(TODAY);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    for format in ["html", "slack"] {
        assert!(said("empty", format).to_lowercase().contains("nothing was checked"), "{format}");
        assert!(!said("clean", format).to_lowercase().contains("nothing was checked"), "{format}");
    }
}

/// A workload that ends has no monthly cost, and the page never shows it as free.
#[test]
fn what_has_no_month_is_not_nothing() {
    let place = Place::new();
    let object = |kind: &str, numbers: &str| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{ name: {kind}, labels: {{ team: {kind} }} }}\nspec:\n  {numbers}\n  template:\n    spec:\n      \
             nodeSelector: {{ node.kubernetes.io/instance-type: g5.xlarge }}\n      containers:\n        - name: c\n          \
             resources: {{ limits: {{ nvidia.com/gpu: 1 }} }}\n---\n"
        )
    };
    let serving = object("search", "replicas: 1");
    let serving = serving.replace("batch/v1", "apps/v1").replace("kind: Job", "kind: Deployment");
    place.write("all.yaml", &format!("{}{serving}", object("train", "parallelism: 1\n  completions: 1")));
    let text = shown(&page(&place, &["check"]));
    assert!(text.contains("1 that end, billed per run or hour"), "{text}");
    assert!(text.contains("not per month"), "{text}");
}
