//! The review as a page: the month first, then everything that a report holds.

use super::content::Review;
use crate::report::history::html as history;
use crate::report::html::markup::Html;
use crate::report::html::page::PageSection;
use crate::report::html::{Rest, page as whole};
use crate::report::views::cost_line::cost_line;
use crate::report::views::scorecard::Scorecard;

pub(super) fn page(review: &Review) -> String {
    let moved = review.moved();
    let lines = vec![review.said(&moved), super::super::formats::text::headline(review.report)];
    let mut first: Vec<PageSection> = month(review).into_iter().collect();
    first.extend(history::sections(review.history));
    first.extend(scorecard(review));
    whole(review.report, &cost_line(review.report), lines, first, Rest::Everything).print()
}

/// What moved the bill in the month.
fn month(review: &Review) -> Option<PageSection> {
    const MOST: usize = 20;
    let moved = review.moved();
    if moved.steps.is_empty() {
        return None;
    }
    let mut body = Html::new();
    body.element("ol", &[("class", "dense")], |page| {
        for step in moved.steps.iter().take(MOST).filter_map(|step| review.told(step)) {
            page.leaf("li", &[], &step);
        }
    });
    crate::report::html::table::left_out(&mut body, moved.steps.len().saturating_sub(MOST), "of them");
    Some(PageSection { id: "month", title: "What moved it in the month", answer: Some(review.said(&moved)), body })
}

fn scorecard(review: &Review) -> Option<PageSection> {
    let card = Scorecard::new(review.report);
    let lines = card.lines();
    if lines.is_empty() {
        return None;
    }
    let mut body = Html::new();
    body.element("table", &[], |page| {
        page.leaf("caption", &[], "Shares of what could be so");
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
