//! Writes the line at the end of a comment that links the page.

use super::review_commit::ReviewCommit;

const BEFORE: &str = "[Full report](";

/// Returns the line that links the page.
pub fn page_link(page: &ReviewCommit) -> String {
    format!("{BEFORE}{})\n", page.url())
}

/// Returns the comment without this line: each run has another page, and a new link is not news.
pub fn without_page_link(comment: &str) -> &str {
    let whole = comment.trim_end();
    let (before, last) = whole.rsplit_once('\n').unwrap_or(("", whole));
    if last.starts_with(BEFORE) { before.trim_end() } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found_again_and_nothing_else_is() {
        let line = page_link(&ReviewCommit::new("https://ci.example/runs/1/report.html").unwrap());
        assert_eq!(without_page_link(&format!("one\n\n{line}")), "one");
        assert_eq!(without_page_link(&format!("{line}\none\n")), format!("{line}\none"));
        assert_eq!(without_page_link(&line), "");
    }
}
