//! Writes the review for a terminal and for an issue.

use std::fmt::Write;

use super::content::CostReview;
use crate::report::ReportStyle;
use crate::report::escape::{one_line, shortened};
use crate::report::message::ChatMessage;
use crate::report::views::markup::{self, Address, Markdown, markdown};
use crate::report::views::scorecard::Scorecard;

/// The maximum number of characters of one entry.
const LONGEST: usize = 400;

/// The maximum number of characters of a sentence.
const LONGEST_LINE: usize = 2_000;

pub(super) fn text(review: &CostReview, style: ReportStyle) -> String {
    let message = review.message();
    let mut text = format!("{}\n", one_line(&message.title));
    for line in &message.lines {
        let _ = writeln!(text, "{}", one_line(line));
    }
    let bullet = if style.plain { "-" } else { "•" };
    for (heading, lines) in &message.lists {
        let _ = writeln!(text, "\n{heading}");
        for line in lines {
            let _ = writeln!(text, "  {bullet} {}", shortened(&one_line(line), LONGEST));
        }
    }
    let _ = write!(text, "\n{}", Scorecard::new(review.report).text());
    let _ = writeln!(text, "\n{}", one_line(&message.footer));
    text
}

pub(super) fn markdown(review: &CostReview) -> String {
    let ChatMessage { title, lines, lists, url, footer } = review.message();
    let mut text = Markdown::default();
    markdown!(text, "### ", markup::text(&title, LONGEST_LINE), "\n\n");
    for line in lines {
        markdown!(text, markup::text(&line, LONGEST_LINE), "\n\n");
    }
    for (heading, lines) in lists {
        markdown!(text, "#### ", markup::text(&heading, LONGEST_LINE), "\n\n");
        for line in lines {
            markdown!(text, "- ", markup::text(&line, LONGEST), "\n");
        }
        text.push("\n");
    }
    text.push(Scorecard::new(review.report).markdown());
    if let Some(url) = url {
        let page = markup::linked(markup::figures("Full report"), &Address::new(&url));
        markdown!(text, "\n", page, "\n");
    }
    markdown!(text, "\n", markup::text(&footer, LONGEST_LINE), "\n");
    text.into_string()
}
