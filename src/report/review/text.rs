//! The review for a terminal, and for an issue.

use std::fmt::Write;

use super::content::Review;
use crate::report::Style;
use crate::report::escape::{one_line, shortened};
use crate::report::message::Message;
use crate::report::views::markup::plain;
use crate::report::views::scorecard::Scorecard;

/// Characters of one entry.
const LONGEST: usize = 400;

pub(super) fn text(review: &Review, style: Style) -> String {
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

pub(super) fn markdown(review: &Review) -> String {
    let Message { title, lines, lists, url, footer } = review.message();
    let mut text = format!("### {}\n\n", plain(&title));
    for line in lines {
        let _ = writeln!(text, "{}\n", plain(&line));
    }
    for (heading, lines) in lists {
        let _ = writeln!(text, "#### {heading}\n");
        for line in lines {
            let _ = writeln!(text, "- {}", plain(&shortened(&line, LONGEST)));
        }
        text.push('\n');
    }
    text.push_str(&Scorecard::new(review.report).markdown());
    if let Some(url) = url {
        let _ = write!(text, "\n[The whole report]({url})\n");
    }
    let _ = write!(text, "\n{}\n", plain(&footer));
    text
}
