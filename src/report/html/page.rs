//! Writes a complete page: one file that loads nothing and can run only its own script.

use super::bars::PATTERNS;
use super::markup::Html;
use crate::report::escape::shortened;
use crate::source::{sha256, to_base64};

/// The colors, then the rules that use them.
const STYLE: &str = concat!(include_str!("colors.css"), include_str!("style.css"));
const SCRIPT: &str = include_str!("script.js");

/// A section, with a heading that the table of contents lists.
pub(in crate::report) struct PageSection {
    pub(in crate::report) id: &'static str,
    pub(in crate::report) title: &'static str,
    /// The answer of the section in one sentence.
    pub(in crate::report) answer: Option<String>,
    pub(in crate::report) body: Html,
}

/// The content of a page.
pub(in crate::report) struct HtmlPage {
    pub(in crate::report) title: String,
    /// The name of the repository or state that the page describes.
    pub(in crate::report) about: Option<String>,
    /// The answer, as the heading.
    pub(in crate::report) heading: String,
    /// Lines below the heading, one paragraph each.
    pub(in crate::report) lines: Vec<String>,
    pub(in crate::report) cards: Html,
    pub(in crate::report) sections: Vec<PageSection>,
    /// Lines about how the report was made.
    pub(in crate::report) footer: Vec<String>,
}

/// The maximum length of a title: a little more than a browser tab can show.
const LONGEST_TITLE: usize = 56;

/// Returns the title of the tab: the name, and the answer.
pub(in crate::report) fn title(about: Option<&str>, heading: &str) -> String {
    let whole = about.map_or_else(|| heading.to_owned(), |about| format!("{about}: {heading}"));
    format!("{} – gpulint", shortened(&whole, LONGEST_TITLE))
}

impl HtmlPage {
    pub(in crate::report) fn print(self) -> String {
        let mut page = Html::new();
        page.raw("<!DOCTYPE html>\n");
        page.element("html", &[("lang", "en")], |page| {
            page.element("head", &[], |page| head(page, &self.title));
            page.raw("\n");
            page.element("body", &[], |page| self.body(page));
        });
        page.raw("\n");
        page.into_string()
    }

    fn body(&self, page: &mut Html) {
        page.raw(PATTERNS);
        page.element("header", &[], |page| {
            if let Some(about) = &self.about {
                page.leaf("p", &[("class", "soft")], about);
            }
            page.leaf("h1", &[], &self.heading);
            for line in &self.lines {
                page.element("p", &[("class", "soft")], |page| page.prose(line));
            }
            page.element("nav", &[("aria-label", "Contents")], |page| {
                page.element("ul", &[], |page| {
                    for section in self.sections.iter() {
                        let target = format!("#{}", section.id);
                        page.element("li", &[], |page| page.leaf("a", &[("href", &target)], section.title));
                    }
                });
            });
        });
        page.raw("\n");
        page.element("main", &[], |page| {
            if !self.cards.is_empty() {
                page.element("div", &[("class", "cards")], |page| page.append(&self.cards));
            }
            for section in &self.sections {
                section.print(page);
            }
        });
        page.raw("\n");
        page.element("footer", &[], |page| {
            for line in &self.footer {
                page.leaf("p", &[], line);
            }
        });
        page.element("script", &[], |page| page.raw(SCRIPT));
    }
}

impl PageSection {
    fn print(&self, page: &mut Html) {
        let heading = format!("{}-heading", self.id);
        page.raw("\n");
        page.element("section", &[("id", self.id), ("aria-labelledby", &heading)], |page| {
            page.leaf("h2", &[("id", &heading)], self.title);
            if let Some(answer) = &self.answer {
                page.leaf("p", &[], answer);
            }
            page.append(&self.body);
        });
    }
}

/// Forbids all requests, and all scripts except the one in this file, whatever strings the page contains.
fn head(page: &mut Html, title: &str) {
    let hash = |text: &str| format!("'sha256-{}'", to_base64(&sha256(text.as_bytes())));
    let policy = format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    page.void("meta", &[("charset", "utf-8")]);
    page.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
    page.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    page.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
    page.leaf("title", &[], title);
    page.element("style", &[], |page| page.raw(STYLE));
}
