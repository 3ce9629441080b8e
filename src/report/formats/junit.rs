//! Writes JUnit XML: one suite per file, one failed case per finding.

use std::fmt::Write;

use super::text;
use crate::diagnostic::Level;
use crate::inventory::Unjudged;
use crate::report::Report;
use crate::report::escape::{harmless, shortened, without_commands};
use crate::report::views::entries::by_file;
use crate::report::views::judged;

pub(in crate::report) fn check(report: &Report) -> String {
    let files = by_file(report);
    let all: usize = files.values().map(Vec::len).sum();
    let unjudged = judged::listed(report);
    let skipped = unjudged.len();
    let failed = files.values().flatten().filter(|decided| decided.finding.level != Level::Note).count();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // A run without findings is one passed case, because a report without cases is an error.
    let _ = writeln!(xml, "<testsuites name=\"gpulint\" tests=\"{}\" failures=\"{failed}\">", (all + skipped).max(1));
    if files.is_empty() && unjudged.is_empty() {
        xml.push_str("  <testsuite name=\"gpulint\" tests=\"1\" failures=\"0\">\n");
        let _ = writeln!(xml, "    <testcase classname=\"gpulint\" name=\"{}\"/>", escaped(&text::headline(report)));
        xml.push_str("  </testsuite>\n");
    }
    for (path, findings) in &files {
        let failed = findings.iter().filter(|decided| decided.finding.level != Level::Note).count();
        let (name, tests) = (escaped(path), findings.len());
        let _ = writeln!(xml, "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failed}\">");
        for decided in findings {
            let finding = &decided.finding;
            let at = report.paths.locate(report.sources, finding.span);
            let about = finding.address(report.inventory).map(|it| format!(" {it}")).unwrap_or_default();
            let case = escaped(&shortened(&format!("{}{about}", finding.rule), 300));
            let saves = report.currency.saved(finding).map(|saved| format!("saves {saved}\n")).unwrap_or_default();
            let help = finding.help.as_deref().unwrap_or_default();
            let body = format!("{}:{}\n{saves}{help}", at.path, at.line);
            let [body, message] = [(body.as_str(), 4_000), (&finding.message, 1_000)]
                .map(|(text, most)| escaped(&without_commands(&shortened(text, most))));
            let _ =
                write!(xml, "    <testcase classname=\"{name}\" name=\"{case}\" file=\"{name}\" line=\"{}\">", at.line);
            // A note is listed, but does not fail.
            let _ = match finding.level {
                Level::Note => write!(xml, "<system-out>{message}\n{body}</system-out>"),
                level => write!(xml, "<failure type=\"{}\" message=\"{message}\">{body}</failure>", level.name()),
            };
            xml.push_str("</testcase>\n");
        }
        xml.push_str("  </testsuite>\n");
    }
    not_judged(&mut xml, report, &unjudged);
    xml.push_str("</testsuites>\n");
    xml
}

/// Writes unevaluated entries as skipped cases.
fn not_judged(xml: &mut String, report: &Report, all: &[&Unjudged]) {
    if all.is_empty() {
        return;
    }
    let n = all.len();
    let _ = writeln!(xml, "  <testsuite name=\"not evaluated\" tests=\"{n}\" failures=\"0\" skipped=\"{n}\">");
    for it in all {
        let path = escaped(&shortened(&judged::place(report, it), 300));
        let message = escaped(&shortened(&format!("not evaluated: {}", it.reason), 1_000));
        let _ = writeln!(
            xml,
            "    <testcase classname=\"not evaluated\" name=\"{path}\"><skipped message=\"{message}\"/></testcase>"
        );
    }
    xml.push_str("  </testsuite>\n");
}

/// Escapes the content of an element or attribute; XML allows fewer characters than other text.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in harmless(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            '\n' => safe.push_str("&#10;"),
            '\t' => safe.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_an_element_early() {
        assert_eq!(escaped("</failure>\"'&\u{1b}\u{0}"), "&lt;/failure&gt;&quot;&apos;&amp;??");
    }
}
