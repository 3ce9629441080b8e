use std::fmt::Write;

use super::{Report, Style};

pub(super) fn check(report: &Report, style: Style) -> String {
    let mut text = String::new();
    for decided in report.findings.iter().filter(|decided| decided.counts()) {
        let finding = &decided.finding;
        let at = report.paths.locate(report.sources, finding.span);
        let level = match (style.color, finding.level) {
            (false, level) => level.name().to_owned(),
            (true, level) => format!("\u{1b}[1m{}\u{1b}[0m", level.name()),
        };
        let _ = writeln!(text, "{}:{}:{}: {level}[{}] {}", at.path, at.line, at.column, finding.rule, finding.message);
    }
    text
}
