//! Writes tables that scroll separately on a small screen, also by keyboard.

use super::markup::Html;

/// The maximum number of rows of one table.
pub(in crate::report) const MOST_ROWS: usize = 2_000;

/// The maximum number of bytes of these rows, so that the page fits into a mail.
pub(in crate::report) const MOST_BYTES: usize = 600_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Column {
    Text,
    Number,
    Picture,
}

pub(in crate::report) struct HtmlTable<'a> {
    pub(in crate::report) id: &'a str,
    pub(in crate::report) caption: &'a str,
    pub(in crate::report) columns: &'a [(&'a str, Column)],
    /// True if the rows can be searched.
    pub(in crate::report) is_searchable: bool,
}

impl HtmlTable<'_> {
    /// Writes one row for each item until the limit; returns how many items are left out.
    pub(in crate::report) fn print<T>(
        &self,
        page: &mut Html,
        items: impl IntoIterator<Item = T>,
        mut row: impl FnMut(&mut Html, T),
    ) -> usize {
        let mut left_out = 0;
        let region = [("class", "wide"), ("tabindex", "0"), ("aria-label", self.caption)];
        page.element("section", &region, |page| {
            let mut attributes = vec![("class", "sortable"), ("id", self.id)];
            if self.is_searchable {
                attributes.push(("data-filter", ""));
            }
            page.element("table", &attributes, |page| {
                page.leaf("caption", &[], self.caption);
                page.element("thead", &[], |page| page.element("tr", &[], |page| self.headings(page)));
                page.raw("\n");
                page.element("tbody", &[], |page| {
                    let start = page.len();
                    for (at, item) in items.into_iter().enumerate() {
                        if at >= MOST_ROWS || page.len() - start > MOST_BYTES {
                            left_out += 1;
                            continue;
                        }
                        page.element("tr", &[], |page| row(page, item));
                        page.raw("\n");
                    }
                });
            });
        });
        page.raw("\n");
        left_out
    }

    fn headings(&self, page: &mut Html) {
        for (name, column) in self.columns {
            let class: &[(&str, &str)] = match column {
                Column::Number => &[("scope", "col"), ("class", "n")],
                Column::Picture => &[("scope", "col"), ("class", "bar")],
                Column::Text => &[("scope", "col")],
            };
            page.leaf("th", class, name);
        }
    }
}

/// Writes the cell with the name of a row.
pub(in crate::report) fn name(page: &mut Html, text: &str) {
    page.leaf("th", &[("scope", "row")], text);
}

/// Writes an amount with its sort value.
pub(in crate::report) fn number(page: &mut Html, shown: &str, value: f64) {
    page.leaf("td", &[("class", "n"), ("data-v", &value.to_string())], shown);
}

pub(in crate::report) fn left_out(page: &mut Html, count: usize, what: &str) {
    if count > 0 {
        page.leaf("p", &[("class", "soft")], &format!("and {count} more {what}; --format csv and json contain all"));
    }
}
