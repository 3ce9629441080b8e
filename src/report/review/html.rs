//! Writes the review as a page: the month first, then the full report.

use super::content::CostReview;
use super::paid::paid;
use crate::report::formats::text;
use crate::report::history::html as history;
use crate::report::html::markup::Html;
use crate::report::html::page::PageSection;
use crate::report::html::{Rest, page as whole};
use crate::report::views::cost_line::cost_line;
use crate::report::views::judged;
use crate::report::views::scorecard::Scorecard;
use crate::report::views::sentence::sentence;

pub(super) fn page(review: &CostReview) -> String {
    let moved = review.moved();
    let report = review.report;
    let open = judged::in_numbers(report).map(|it| format!("; {it}")).unwrap_or_default();
    let lines = vec![format!("Now: {}", cost_line(report)), format!("{}{open}.", sentence(&text::found(report)))];
    let first: Vec<PageSection> = month(review).into_iter().collect();
    let mut page = whole(report, &review.format_month(&moved), lines, first, Rest::Everything);
    // The sections about the month come after the savings and before the findings.
    let place = page.sections.iter().position(|it| it.id == "findings").unwrap_or(page.sections.len());
    let course = history::sections(review.history).into_iter().chain(scorecard(review)).chain(bill(review));
    page.sections.splice(place..place, course);
    page.print()
}

/// Returns the changes of cost in the month.
fn month(review: &CostReview) -> Option<PageSection> {
    const MOST: usize = 20;
    let moved = review.moved();
    if moved.steps.is_empty() {
        return None;
    }
    let mut body = Html::new();
    body.element("ol", &[("class", "dense")], |page| {
        for step in moved.steps.iter().take(MOST).filter_map(|step| review.format_step(step)) {
            page.leaf("li", &[], &step);
        }
    });
    crate::report::html::table::left_out(&mut body, moved.steps.len().saturating_sub(MOST), "of them");
    Some(PageSection {
        id: "month",
        title: "What changed the cost in the month?",
        answer: Some(review.format_month(&moved)),
        body,
    })
}

/// Returns the billed cost of the month.
fn bill(review: &CostReview) -> Option<PageSection> {
    let (sums, resources) = paid(review.report, review.month)?;
    let mut body = Html::new();
    sums.iter().for_each(|line| body.leaf("p", &[], line));
    body.element("ul", &[("class", "dense")], |page| resources.iter().for_each(|line| page.leaf("li", &[], line)));
    Some(PageSection { id: "paid", title: "What was billed in the month?", answer: None, body })
}

fn scorecard(review: &CostReview) -> Option<PageSection> {
    let card = Scorecard::new(review.report);
    let lines = card.lines();
    if lines.is_empty() {
        return None;
    }
    let mut body = Html::new();
    body.element("table", &[], |page| {
        page.leaf("caption", &[], "Resources that follow each practice");
        page.element("tbody", &[], |page| {
            for (name, value) in lines {
                page.element("tr", &[], |page| {
                    page.leaf("th", &[("scope", "row")], name);
                    page.leaf("td", &[], &value);
                });
            }
        });
    });
    Some(PageSection { id: "scorecard", title: "Scorecard", answer: None, body })
}
