//! Words of a repository inside Markdown: no mention, no link, no HTML, no broken fence, no table cell too many.

use crate::report::views::markup::{code, plain};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::catalog::MoneyRange;
use crate::decide::Decided;
use crate::pricing::Status;
use crate::report::formats::text::estimated;
use crate::report::views::cost_line::cost_line;
use crate::report::views::judged;
use crate::report::views::money::MARK;
use crate::report::views::price_age::price_age;
use crate::report::views::repeats::{also, grouped_repeats};
use crate::report::views::scorecard::Scorecard;
use crate::report::views::{apart, coverage};
use crate::report::{Head, Report, Room, escape};
use crate::rules::link;

/// The findings of one tree.
pub(in crate::report) fn check(report: &Report, room: Room) -> String {
    let counting: Vec<&Decided> = report.findings.iter().filter(|decided| decided.counts()).collect();
    let mut most = counting.len();
    loop {
        let text = compose(report, &counting, most, room);
        if most == 0 || text.chars().count() <= room.characters {
            return text;
        }
        most /= 2;
    }
}

fn compose(report: &Report, findings: &[&Decided], most: usize, room: Room) -> String {
    let bill = report.bill;
    let open = judged::in_numbers(report).map(|it| format!(" – {it}")).unwrap_or_default();
    let mut text = format!("### {}{open}\n\n", tildes(&cost_line(report)));
    if bill.rented != MoneyRange::ZERO && bill.requested != MoneyRange::ZERO {
        text.push_str(
            "What pods request is another view of the machines that they run on: the two are never added.\n\n",
        );
    }
    for line in apart::lines(report).into_iter().chain(coverage::line(report)).chain(report.measured.in_short()) {
        let _ = writeln!(text, "{}\n", tildes(&line));
    }
    let _ = writeln!(text, "#### {}\n", count_of(findings.len()));
    judged::in_markdown(&mut text, report, room, true);
    let left_out = told(&mut text, report, None, findings, most);
    if left_out > 0 {
        let _ = writeln!(text, "\nand {left_out} more; the full report lists them");
    }
    text.push_str(&Scorecard::new(report).markdown());
    text.push('\n');
    unknown(&mut text, report, room);
    text
}

pub(in crate::report) fn count_of(findings: usize) -> String {
    if findings == 1 { "1 finding".to_owned() } else { format!("{findings} findings") }
}

/// The first findings, those that say the same about one file as one; how many are left out.
pub(in crate::report) fn told(
    text: &mut String,
    report: &Report,
    head: Option<&Head>,
    findings: &[&Decided],
    most: usize,
) -> usize {
    let mut left_out = 0;
    for (at, (decided, others)) in grouped_repeats(report, findings).iter().enumerate() {
        if at >= most {
            left_out += 1 + others.len();
            continue;
        }
        finding(text, report, head, decided);
        if !others.is_empty() {
            text.truncate(text.trim_end().len());
            let _ = writeln!(text, "  \n  {}", also(report, decided, others));
        }
    }
    left_out
}

/// One finding: rule, place, resource, money, what to do.
fn finding(text: &mut String, report: &Report, head: Option<&Head>, decided: &Decided) {
    let finding = &decided.finding;
    let place = report.paths.locate(report.sources, finding.span);
    let shown = code(&format!("{}:{}", escape::shortened(&place.path, 200), place.line));
    let place = match head {
        Some(head) => format!("[{shown}]({}/{}#L{})", head.url(), linkable(&place.path), place.line),
        None => shown,
    };
    let saves =
        report.currency.saved(finding).map(|saved| format!(" – saves about {}", tildes(&saved))).unwrap_or_default();
    let resource = finding.address(report.inventory).map(|it| format!(" {}", code(&escape::shortened(it, 200))));
    let rule = match link(&finding.rule) {
        Some(link) => format!("[**{}**]({link})", finding.rule),
        None => format!("**{}**", finding.rule),
    };
    let _ = writeln!(
        text,
        "- {rule} {}{}{saves}  \n  {}",
        place,
        resource.unwrap_or_default(),
        plain(&escape::shortened(&finding.message, 1_000))
    );
    if let Some(help) = &finding.help {
        // A line of its own: two blanks end the one before.
        text.truncate(text.trim_end().len());
        let _ = writeln!(text, "  \n  _{}_", plain(&escape::shortened(help, 1_000)));
    }
}

/// A finding where its line is known already.
pub(in crate::report) fn remark(text: &mut String, report: &Report, decided: &Decided) {
    let finding = &decided.finding;
    let costs = finding.resource.and_then(|id| report.currency.costs(report.bill.items.get(id.0)?));
    let costs = costs.map(|costs| format!(" – costs {}", tildes(&costs))).unwrap_or_default();
    let saves =
        report.currency.saved(finding).map(|saved| format!(" – saves about {}", tildes(&saved))).unwrap_or_default();
    let message = plain(&escape::shortened(&finding.message, 1_000));
    let _ = writeln!(text, "**{}**{costs}{saves}  \n{message}", finding.rule);
    if let Some(help) = &finding.help {
        let _ = writeln!(text, "\n_{}_", plain(&escape::shortened(help, 1_000)));
    }
}

/// Two marks of what is estimated in one line would strike through what stands between them.
pub(in crate::report) fn tildes(money: &str) -> String {
    money.replace(MARK, "\\~")
}

/// A path for a link: what could end the link or begin something else is written as bytes.
pub(in crate::report) fn linkable(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => text.push(char::from(byte)),
            other => {
                let _ = write!(text, "%{other:02X}");
            }
        }
    }
    text
}

/// What could not be priced or known, with the reason for each, and what was assumed.
pub(in crate::report) fn unknown(text: &mut String, report: &Report, room: Room) {
    const MOST: usize = 50;
    let dated = if report.catalog.as_of.is_empty() {
        "List prices from the catalog in the binary".to_owned()
    } else {
        format!("List {}", price_age(report))
    };
    let currency = report.currency.rate().map(|it| format!(", {it}")).unwrap_or_default();
    let dated = format!("{dated}{}.", plain(&currency));
    let lines = unknowns(report);
    if lines.is_empty() && !report.inventory.unjudged.is_empty() {
        let _ = writeln!(text, "{dated}\n");
        return;
    }
    if lines.is_empty() {
        let _ = writeln!(text, "{dated} Everything has a price, and nothing was assumed.\n");
        return;
    }
    room.open_fold(text, "What is not known, and what was assumed");
    let _ = writeln!(text, "{dated}\n");
    for line in lines.iter().take(MOST) {
        let _ = writeln!(text, "- {line}");
    }
    if lines.len() > MOST {
        let _ = writeln!(text, "- and {} more", lines.len() - MOST);
    }
    room.close_fold(text);
}

fn unknowns(report: &Report) -> Vec<String> {
    let why = |cause: &str| plain(&escape::shortened(cause, 300));
    let name = |address: &str| code(&escape::shortened(address, 200));
    let mut lines: Vec<String> = Vec::new();
    for (resource, item) in report.inventory.resources.iter().zip(&report.bill.items) {
        if let Status::Unpriced(cause) = &item.status {
            lines.push(format!("{} has no price: {}", name(&resource.address), why(cause)));
        }
    }
    let mut counted: BTreeMap<String, usize> = BTreeMap::new();
    for cause in estimated(report) {
        *counted.entry(format!("estimated, marked \\~: {}", why(&cause))).or_default() += 1;
    }
    for it in report.unknown_machines {
        lines.push(format!("{} may or may not carry accelerators: {}", name(&it.address), why(&it.why)));
    }
    lines.sort();
    lines.dedup();
    for (_, cause) in report.assumed() {
        *counted.entry(format!("the region is assumed: {}", why(cause))).or_default() += 1;
    }
    for it in &report.inventory.skipped {
        *counted.entry(format!("not read: {}", why(&it.reason))).or_default() += 1;
    }
    lines.extend(counted.into_iter().map(|(what, count)| format!("{count} × {what}")));
    lines.extend(undetermined(report));
    lines
}

/// All that rules could not decide, as one line with the causes that stand most often.
fn undetermined(report: &Report) -> Option<String> {
    const MOST: usize = 3;
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    for it in report.undetermined {
        *causes.entry(&it.cause).or_default() += 1;
    }
    let mut causes: Vec<(&str, usize)> = causes.into_iter().collect();
    causes.sort_by_key(|(cause, count)| (Reverse(*count), *cause));
    let told = causes.iter().take(MOST);
    let told = told.map(|(cause, count)| format!("{count} × {}", plain(&escape::shortened(cause, 120))));
    let told = told.collect::<Vec<_>>().join("; ");
    let more = if causes.len() > MOST { "; …" } else { "" };
    match report.undetermined.len() {
        0 => None,
        n => Some(format!("{n} × a rule could not decide, because a fact is not known: {told}{more}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_a_repository_becomes_markup() {
        let shown =
            plain("@everyone </details> [x](javascript:alert(1)) www.evil.example https://evil ```\u{1b}[31m #1");
        for markup in ["@e", "<", "](", "www.", "://", "``", "\u{1b}", "#1"] {
            assert!(!shown.contains(markup), "{markup} in {shown}");
        }
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert_eq!(code("a|b\nc"), "`a¦b c`");
    }
}
