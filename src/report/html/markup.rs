//! Builds HTML so that nothing from a repository can become markup.

use crate::report::escape;

/// The longest string from a repository in one piece.
const LONGEST: usize = 2_000;

/// A piece of HTML. Only this program's constants are markup; everything else is escaped.
#[derive(Debug, Default)]
pub(in crate::report) struct Html(String);

impl Html {
    pub(in crate::report) fn new() -> Html {
        Html::default()
    }

    /// Appends markup of this program. A string that was read is never `'static`, so it cannot get here.
    pub(in crate::report) fn raw(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Appends escaped text.
    pub(in crate::report) fn text(&mut self, text: &str) {
        push_escaped(&mut self.0, &escape::one_line(&escape::shortened(text, LONGEST)));
    }

    /// Appends escaped text. Text between backticks becomes code.
    pub(in crate::report) fn prose(&mut self, text: &str) {
        let text = escape::shortened(text, LONGEST);
        let mut rest = text.as_str();
        while let Some((before, (inside, after))) =
            rest.split_once('`').and_then(|(before, behind)| Some((before, behind.split_once('`')?)))
        {
            self.text(before);
            self.leaf("code", &[], inside);
            rest = after;
        }
        self.text(rest);
    }

    /// Appends several lines of escaped text with their line breaks.
    pub(in crate::report) fn lines(&mut self, text: &str) {
        push_escaped(&mut self.0, &escape::harmless(&escape::shortened(text, LONGEST)));
    }

    /// Writes an element without an end tag.
    pub(in crate::report) fn void(&mut self, name: &'static str, attributes: &[(&'static str, &str)]) {
        self.open(name, attributes);
    }

    /// Appends an element with its content.
    pub(in crate::report) fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, &str)],
        inside: impl FnOnce(&mut Html),
    ) {
        self.open(name, attributes);
        inside(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    /// Appends an element that contains text.
    pub(in crate::report) fn leaf(&mut self, name: &'static str, attributes: &[(&'static str, &str)], text: &str) {
        self.element(name, attributes, |it| it.text(text));
    }

    pub(in crate::report) fn append(&mut self, other: &Html) {
        self.0.push_str(&other.0);
    }

    pub(in crate::report) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::report) fn len(&self) -> usize {
        self.0.len()
    }

    pub(in crate::report) fn into_string(self) -> String {
        self.0
    }

    fn open(&mut self, name: &'static str, attributes: &[(&'static str, &str)]) {
        self.0.push('<');
        self.0.push_str(name);
        for (key, value) in attributes {
            self.0.push(' ');
            self.0.push_str(key);
            // An attribute without a value.
            if !value.is_empty() || *key == "value" {
                self.0.push_str("=\"");
                push_escaped(&mut self.0, &escape::one_line(value));
                self.0.push('"');
            }
        }
        self.0.push('>');
    }
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_never_markup() {
        let mut page = Html::new();
        let hostile = "</script><img src=x onerror='a()'>\"&\u{202e}\u{1b}[2J\n";
        page.element("p", &[("title", hostile), ("hidden", "")], |it| it.text(hostile));
        let inside = "&lt;/script&gt;&lt;img src=x onerror=&#39;a()&#39;&gt;&quot;&amp;\u{fffd}?[2J ";
        assert_eq!(page.into_string(), format!("<p title=\"{inside}\" hidden>{inside}</p>"));
        let mut page = Html::new();
        page.prose("set `<b>` in `a`, `");
        assert_eq!(page.into_string(), "set <code>&lt;b&gt;</code> in <code>a</code>, `");
    }
}
