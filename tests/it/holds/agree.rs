//! Checks that all reports of one run agree: an amount that is in two of them is the same.

use gpulint::report::{self, Difference, Format, Report, ReportStyle};
use serde_json::Value;

/// The rounding of reports: one dollar in text for people, one cent in data.
const READ: f64 = 0.51;
const WRITTEN: f64 = 0.011;

/// Checks the reports of one state.
pub(super) fn report(report: &Report<'_>) {
    let render = |format| report::render(format, report, ReportStyle::default()).unwrap_or_default();
    let json = parsed(&render(Format::Json));
    let combined = bounds(&json["bill"]["combined"]);
    let (text, markdown) = (render(Format::Text), render(Format::Markdown));
    let answer = first_line(&text);
    assert_eq!(amounts(answer), amounts(&first_line(&markdown).replace('\\', "")), "{text}\n{markdown}");
    let page = render(Format::Html);
    if let Some(heading) = page.split_once("<h1>").and_then(|(_, rest)| Some(rest.split_once("</h1>")?.0)) {
        assert_eq!(amounts(answer), amounts(heading), "the page: {heading}");
    }
    let until_month = answer.split_once("/month").map(|(before, _)| amounts(before)).unwrap_or_default();
    // A line about what no sum counts names another amount, and a file.
    let is_apart = answer.starts_with("accelerators only");
    if let ([first, ..], false) = (until_month.as_slice(), answer.contains("unknown") || is_apart) {
        assert_near(*first, combined[1], READ, &format!("the first line and JSON: {answer}"));
    }
    assert!(is_apart || answer.split_whitespace().count() <= 20, "more than twenty words: {answer}");
    assert!(!(answer.contains("at least") && answer.contains("minimum")), "two words for one bound: {answer}");

    let outputs = outputs(&render(Format::Outputs));
    assert_near(outputs("monthly-total"), combined[1], WRITTEN, "outputs and JSON");
    assert_near(outputs("monthly-total-floor"), combined[0], WRITTEN, "outputs and JSON, floor");
    assert_near(outputs("monthly-cost"), bounds(&json["bill"]["rented"])[1], WRITTEN, "outputs and JSON, machines");
    assert_near(outputs("monthly-requested"), bounds(&json["bill"]["requested"])[1], WRITTEN, "outputs and JSON, pods");

    let rows = report::cost(Format::Ndjson, report, ReportStyle::default()).unwrap_or_default();
    let of_rows = |key: &str| rows.lines().map(|row| parsed(row)[key].as_f64().unwrap_or(0.0) / 1e6).sum::<f64>();
    assert_near(of_rows("in_sum_expected_micro_usd"), combined[1], WRITTEN, "rows and JSON");
    assert_near(of_rows("in_sum_floor_micro_usd"), combined[0], WRITTEN, "rows and JSON, floor");
    assert!(combined[0] <= combined[1] + WRITTEN && combined[1] <= combined[2] + WRITTEN, "no range: {combined:?}");

    no_finding_saves_more(&text, &json);
    for total in json["totals"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|it| it["rule"] == "exceeded-budget" && it["name"] == "all of it")
    {
        let budget = total["amount_usd"].as_f64().unwrap_or(0.0);
        assert_near(budget, combined[1], READ, &format!("the budget of all and the sum of all: {text}"));
    }
}

/// No finding saves more than the total savings in the second line.
fn no_finding_saves_more(text: &str, json: &Value) {
    let total = text.lines().nth(1).and_then(|line| amounts(line).first().copied());
    let counts = |it: &&Value| it["suppressed"].is_null() && it["baseline"].is_null() && it["counted"] == "deployed";
    let findings = json["findings"].as_array().into_iter().flatten().filter(counts);
    for it in findings.filter(|it| it["saves_per"] == "month") {
        let saves = it["saves_usd"]["expected"].as_f64().unwrap_or(0.0);
        assert!(
            total.is_none_or(|total| saves <= total + READ),
            "{} saves {saves}, all of them {total:?}\n{text}",
            it["rule"]
        );
    }
}

/// Checks the reports of two states and their difference.
pub(super) fn difference(it: &Difference<'_>) {
    let render = |format| report::difference(format, it, ReportStyle::default()).unwrap_or_default();
    let json = parsed(&render(Format::Json));
    let outputs = outputs(&render(Format::Outputs));
    for (of, output) in [("combined", "total-delta"), ("rented", "monthly-delta"), ("requested", "requested-delta")] {
        let change = &json["cost"][of];
        let [before, after, more] = ["before", "after", "difference"].map(|part| bounds(&change[part])[1]);
        let [known, lost] = ["became_known", "no_longer_known"].map(|part| bounds(&change[part])[1]);
        assert_near(before + more + known - lost, after, WRITTEN, &format!("{of}: {change}"));
        if !change.is_null() {
            assert_near(outputs(output), more, WRITTEN, &format!("{output} and JSON"));
        }
    }
    assert_near(outputs("monthly-total"), bounds(&json["cost"]["combined"]["after"])[1], WRITTEN, "the sum afterwards");
    let (text, markdown) = (render(Format::Text), render(Format::Markdown));
    let answer = first_line(&text);
    let heading = first_line(&markdown).replace('\\', "");
    // If nothing changed, the comment has one line without an amount.
    if !heading.starts_with("### GPU cost: nothing changed") {
        assert_eq!(amounts(answer), amounts(&heading), "{text}\n{markdown}");
    }
    assert!(answer.split_whitespace().count() <= 20, "more than twenty words: {answer}");
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Returns the dollar amounts of a line in order.
fn amounts(line: &str) -> Vec<f64> {
    let number = |it: &str| {
        let end = it.find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.')).unwrap_or(it.len());
        it.get(..end)?.trim_end_matches(['.', ',']).replace(',', "").parse().ok()
    };
    line.split('$').skip(1).filter_map(number).collect()
}

fn outputs(text: &str) -> impl Fn(&str) -> f64 + use<> {
    let all: Vec<(String, f64)> = text
        .lines()
        .filter_map(|line| Some((line.split_once('=')?.0.to_owned(), line.split_once('=')?.1.parse().ok()?)))
        .collect();
    move |name| all.iter().find(|(of, _)| of == name).map_or(0.0, |(_, value)| *value)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Returns minimum, expected and maximum. An unlimited maximum is written as null.
fn bounds(range: &Value) -> [f64; 3] {
    let ceiling = if range["ceiling"].is_null() { f64::INFINITY } else { 0.0 };
    [("floor", 0.0), ("expected", 0.0), ("ceiling", ceiling)].map(|(end, none)| range[end].as_f64().unwrap_or(none))
}

fn assert_near(one: f64, other: f64, within: f64, what: &str) {
    assert!((one - other).abs() <= within + other.abs() * 1e-9, "{what}: {one} and {other}");
}
