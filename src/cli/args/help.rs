//! The help of the program itself: one screen with the subcommands by topic, and the topics behind it.

use crate::languages::table::READ;
use crate::report::Format;
use crate::rules::in_the_book;

/// The subcommands by topic, in the order of the help. A test compares them with the definitions.
pub(in crate::cli) const TOPICS: [(&str, &[&str]); 7] = [
    ("Find waste", &["check", "explain", "fit", "what-if"]),
    ("Cost", &["cost", "limit", "plan", "price", "catalog"]),
    ("Changes", &["diff", "base", "comment", "history", "blame", "report"]),
    ("Use and bills", &["usage", "reconcile"]),
    ("Rules", &["rules", "facts", "baseline", "suppressions"]),
    ("Configure", &["init", "config", "completions"]),
    ("See more", &["files", "inspect", "render", "mcp", "server", "help"]),
];

/// The options of `gpulint check` that most people need first.
const FREQUENT: [(&str, &str); 4] = [
    ("--format FORMAT", "write JSON, SARIF, HTML, Markdown or another format"),
    ("--fix", "write safe fixes into the files"),
    ("--exclude PATTERN", "leave directories out of the total"),
    ("--quiet", "show only totals; --all shows everything"),
];

/// What `gpulint help` explains in addition to subcommands.
pub(in crate::cli) const PAGES: [&str; 4] = ["commands", "options", "formats", "exit-codes"];

/// Returns the help of the program. It fits on a screen of 80 columns.
pub(super) fn screen() -> String {
    let width = TOPICS.iter().map(|(topic, _)| topic.len()).max().unwrap_or_default();
    let topics: Vec<String> =
        TOPICS.iter().map(|(topic, names)| format!("  {topic:<width$}  {}", names.join(", "))).collect();
    let frequent: Vec<String> = FREQUENT.iter().map(|(option, effect)| format!("  {option:<19}{effect}")).collect();
    format!(
        "Finds wasted GPU money in infrastructure code before it is deployed.\n\
         Reads {READ}.\n\n\
         Usage: gpulint [PATHS]... [OPTIONS]  find GPU waste in these files, or here\n       \
         gpulint diff main             compare cost and findings with a branch\n       \
         gpulint explain NAME          explain a rule, or the price of a resource\n       \
         gpulint SUBCOMMAND [OPTIONS]\n\n\
         Subcommands:\n{}\n\n\
         Options of check:\n{}\n\n\
         More: gpulint help SUBCOMMAND|{}\n",
        topics.join("\n"),
        frequent.join("\n"),
        PAGES.join("|"),
    )
}

/// Returns a page of `gpulint help` about all subcommands, or `None` if there is no such page.
pub(in crate::cli) fn page(name: &str) -> Option<String> {
    match name {
        "formats" => Some(formats()),
        "exit-codes" => Some(exit_codes()),
        _ => None,
    }
}

fn formats() -> String {
    let rows = Format::ALL.iter().map(|it| it.row());
    let rows: String = rows.map(|it| format!("  {:<10}{}\n", it.name, it.meaning)).collect();
    format!(
        "Formats of --format:\n{rows}\nA subcommand names the formats that it supports if you ask for another one.\n"
    )
}

fn exit_codes() -> String {
    format!(
        "Exit codes:\n  \
         0  checked, and nothing fails the check\n  \
         1  findings at or above --fail-on, a change whose cost effect is unknown, or a model that does not fit\n  \
         2  wrong usage or settings\n  \
         3  nothing was found to check\n  \
         4  `gpulint usage`: measurements or rows of a bill are missing\n\n\
         {} lists what gives each code.\n",
        in_the_book("exit-codes")
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Command, CommandFactory};

    use super::*;
    use crate::cli::args::CliArguments;

    #[test]
    fn every_subcommand_has_one_topic() {
        let named: Vec<&str> = TOPICS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let known = CliArguments::command();
        let known: BTreeSet<&str> =
            known.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name).collect();
        assert_eq!(named.iter().copied().collect::<BTreeSet<_>>(), known);
        assert_eq!(named.len(), known.len());
    }

    #[test]
    fn frequent_options_are_options_of_check() {
        let all = CliArguments::command();
        let check = all.find_subcommand("check").unwrap();
        for (option, _) in FREQUENT {
            let name = option.split_once("--").unwrap().1.split(' ').next().unwrap();
            assert!(check.get_arguments().any(|it| it.get_long() == Some(name)), "{name}");
        }
    }

    #[test]
    fn the_help_fits_on_a_screen() {
        let screen = screen();
        assert!(screen.lines().count() <= 24, "{}", screen.lines().count());
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    }
}
