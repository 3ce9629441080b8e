//! Writes workflow commands of GitHub Actions: annotations on the lines of a change.

use std::fmt::Write;

use super::text;
use crate::diagnostic::Level;
use crate::inventory::UnjudgedStatus;
use crate::report::escape::{one_line, shortened};
use crate::report::views::judged;
use crate::report::{EntryChoice, Report};

/// The number of characters of an annotation that GitHub shows.
const LONGEST_MESSAGE: usize = 4_000;

/// GitHub shows ten annotations per step, so findings come first.
const MOST_UNJUDGED: usize = 10;

pub(in crate::report) fn check(report: &Report) -> String {
    let mut commands = String::new();
    // GitHub shows the first ten annotations of a step, so the most expensive findings come first.
    for group in EntryChoice::default().groups(report) {
        for decided in group.findings {
            let finding = &decided.finding;
            let at = report.paths.locate(report.sources, finding.span);
            let command = match finding.level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Note => "notice",
            };
            let saves = report.currency.saved(finding).map(|saved| format!("\nsaves {saved}"));
            let help = finding.help.as_deref().map(|help| format!("\n{}", one_line(help)));
            let message =
                format!("{}{}{}", one_line(&finding.message), saves.unwrap_or_default(), help.unwrap_or_default());
            let _ = writeln!(
                commands,
                "::{command} file={},line={},endLine={},col={},title={}::{}",
                property(&at.path),
                at.line,
                at.end_line,
                at.column,
                property(&format!("gpulint: {}", finding.rule)),
                data(&shortened(&message, LONGEST_MESSAGE)),
            );
        }
    }
    for it in judged::listed(report).iter().filter(|it| it.standing != UnjudgedStatus::AsBefore).take(MOST_UNJUDGED) {
        let line = judged::line(report, it).map(|line| format!(",line={line}")).unwrap_or_default();
        let cure = it.cure.as_deref().map(|cure| format!("\n{}", one_line(cure))).unwrap_or_default();
        let heading = judged::heading(it);
        let message = shortened(&format!("{heading}: {}{cure}", one_line(&it.reason)), LONGEST_MESSAGE);
        let file = property(&report.paths.show(&it.path));
        let _ = writeln!(commands, "::warning file={file}{line},title=gpulint%3A {heading}::{}", data(&message));
    }
    let _ = writeln!(commands, "{}", text::headline(report));
    commands
}

/// Returns the value of a command, on one line: a line feed would begin another command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(&one_line(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_command_early() {
        assert_eq!(data("a\n::set-output name=x::y%\r"), "a%0A::set-output name=x::y%25%0D");
        assert_eq!(property("a,b:c\n"), "a%2Cb%3Ac ");
    }
}
