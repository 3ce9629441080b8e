//! `gpulint help`: the help of a subcommand, or a page about a topic.

use std::ffi::OsString;
use std::io::ErrorKind;

use clap::{Command, CommandFactory};

use crate::cli::args::{CliArguments, HELP_PAGES, HELP_TOPICS, help_page, subcommand_names};
use crate::cli::io::output;
use crate::cli::{ExitStatus, Failure};
use crate::diagnostic::nearest;

/// Prints the help that the words name: a page, or a subcommand. Without words, it prints the first screen.
pub(in crate::cli) fn run(words: &[String]) -> Result<ExitStatus, Failure> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let command = match words.as_slice() {
        ["options"] => &["check"],
        ["commands"] => return output::print_lines(&commands()).map(|()| ExitStatus::Passed),
        words => words,
    };
    if let [name] = command
        && let Some(page) = help_page(name)
    {
        return output::print(&page).map(|()| ExitStatus::Passed);
    }
    let names = subcommand_names(&command[..command.len().saturating_sub(1)]);
    if let Some(last) = command.last().filter(|last| !names.iter().any(|name| name == *last)) {
        let failure = Failure::new(format!("`{}` is neither a subcommand nor a topic", words.join(" ")));
        let known = names.iter().map(String::as_str).chain(HELP_PAGES);
        return Err(match nearest(last, known) {
            Some(near) => failure.with_help(format!("did you mean `{near}`?")),
            None => failure.with_help(format!("use a subcommand, or one of {}", HELP_PAGES.join(", "))),
        });
    }
    let line = ["gpulint"].iter().chain(command).chain(&["--help"]).map(OsString::from);
    match CliArguments::parse(line) {
        // clap hands out the help of a subcommand as an error. The reader of a pipe may stop reading.
        Err(help) => match help.print() {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::new(error.to_string())),
            _ => Ok(ExitStatus::Passed),
        },
        Ok(_) => Ok(ExitStatus::Passed),
    }
}

/// Returns each subcommand with its effect, by topic.
fn commands() -> String {
    let all = CliArguments::command();
    let about = |name: &&str| {
        let about = all.find_subcommand(name).and_then(Command::get_about);
        format!("  {name:<13} {}\n", about.map(ToString::to_string).unwrap_or_default())
    };
    let topic =
        |(topic, names): &(&str, &[&str])| format!("{topic}:\n{}\n", names.iter().map(about).collect::<String>());
    let topics: String = HELP_TOPICS.iter().map(topic).collect();
    format!("{topics}`gpulint help SUBCOMMAND` lists the options of one of them.\n")
}
