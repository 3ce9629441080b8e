//! One line a finding, for people who grep and for editors.

use std::fmt::Write;

use super::text;
use crate::report::Report;
use crate::report::escape::{one_line, shortened};
use crate::report::views::money::saved;

pub(in crate::report) fn check(report: &Report) -> String {
    let mut lines = String::new();
    for decided in report.findings.iter().filter(|decided| decided.counts()) {
        let finding = &decided.finding;
        let at = report.paths.locate(report.sources, finding.span);
        let saves = saved(finding).map(|saved| format!(", saves {saved}")).unwrap_or_default();
        let _ = writeln!(
            lines,
            "{}:{}:{}: {}[{}] {}{saves}",
            one_line(&at.path),
            at.line,
            at.column,
            finding.level.name(),
            finding.rule,
            shortened(&one_line(&finding.message), 1_000),
        );
    }
    let _ = writeln!(lines, "{}", text::headline(report));
    lines
}
