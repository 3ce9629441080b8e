//! Writes one line per finding, for grep and editors. Instances of one block share a line, with their number.

use std::collections::HashMap;
use std::fmt::Write;

use super::text;
use crate::report::Report;
use crate::report::escape::{one_line, shortened};

pub(in crate::report) fn check(report: &Report) -> String {
    let mut lines: Vec<(String, usize)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for decided in report.findings.iter().filter(|decided| decided.counts()) {
        let finding = &decided.finding;
        let at = report.paths.locate(report.sources, finding.span);
        let message = shortened(&one_line(&finding.message), 1_000);
        let start =
            format!("{}:{}:{}: {}[{}] ", one_line(&at.path), at.line, at.column, finding.level.name(), finding.rule);
        let saves = report.currency.saved(finding).map(|saved| format!(", saves {saved}")).unwrap_or_default();
        let address = finding.address(report.inventory).filter(|it| !finding.message.starts_with(it));
        let address = address.map(|it| format!("{}: ", shortened(&one_line(it), 200))).unwrap_or_default();
        let at = *known.entry(format!("{start}{message}{saves}")).or_insert(lines.len());
        match lines.get_mut(at) {
            Some((_, times)) => *times += 1,
            None => lines.push((format!("{start}{address}{message}{saves}"), 1)),
        }
    }
    let mut said = String::new();
    for (line, times) in lines {
        let times = if times > 1 { format!(" (×{times})") } else { String::new() };
        let _ = writeln!(said, "{line}{times}");
    }
    let _ = writeln!(said, "{}", text::headline(report));
    said
}
