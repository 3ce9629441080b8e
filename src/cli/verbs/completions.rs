//! `gpulint completions`: scripts for shells, and the words that these scripts ask for.
//!
//! The script of a shell calls gpulint with a variable in the environment. The words then fit the version and the directory.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use crate::catalog::Catalog;
use crate::cli::args::{CliArguments, HELP_PAGES, InputArguments, subcommand_names};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::rules::{Profile, RuleSettings, Rules};

/// The variable that the scripts set.
const VARIABLE: &str = "GPULINT_COMPLETE";

/// How long a shell waits for the addresses of a directory.
const PATIENCE: Duration = Duration::from_secs(2);

/// The kinds of names that an argument accepts.
#[derive(Clone, Copy)]
enum Names {
    Addresses,
    Rules,
    RulesAndAddresses,
    Models,
    Machines,
    HelpTopics,
}

/// The arguments whose values gpulint knows: the subcommand, the name of the argument, and the names to offer.
const KNOWN: [(&str, &str, Names); 12] = [
    ("check", "select", Names::Rules),
    ("check", "ignore", Names::Rules),
    ("check", "only", Names::Rules),
    ("check", "address", Names::Addresses),
    ("diff", "select", Names::Rules),
    ("diff", "ignore", Names::Rules),
    ("explain", "what", Names::RulesAndAddresses),
    ("what-if", "on", Names::Addresses),
    ("fit", "model", Names::Models),
    ("fit", "machine", Names::Machines),
    ("price", "name", Names::Machines),
    ("help", "words", Names::HelpTopics),
];

/// Prints the completion script for a shell.
pub(in crate::cli) fn run(shell: clap_complete::Shell) -> Result<ExitStatus, Failure> {
    let mut text = Vec::new();
    let shells = Shells::builtins();
    let known = shells.completer(&shell.to_string()).ok_or_else(|| Failure::new(format!("unknown shell `{shell}`")))?;
    known
        .write_registration(VARIABLE, "gpulint", "gpulint", "gpulint", &mut text)
        .map_err(|it| Failure::new(it.to_string()))?;
    output::print_exact(&String::from_utf8_lossy(&text))?;
    Ok(ExitStatus::Passed)
}

/// Answers the script of a shell that asks for words. `None` if no shell asks.
pub(in crate::cli) fn answer_shell() -> Option<ExitCode> {
    std::env::var_os(VARIABLE)?;
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(command).var(VARIABLE).bin("gpulint").completer("gpulint");
    match asked.try_complete(std::env::args_os(), here.as_deref()) {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        Err(_) => Some(ExitCode::from(2)),
    }
}

/// Returns the command line with the names that its arguments accept.
fn command() -> Command {
    KNOWN.iter().fold(CliArguments::command(), |all, (verb, argument, names)| {
        let add = |it: Arg| {
            let completer = ArgValueCompleter::new(|typed: &OsStr| candidates(*names, typed));
            if it.get_id() == argument { it.add(completer) } else { it }
        };
        // `mut_arg` would move a positional argument behind the others.
        all.mut_subcommand(verb, |it| it.mut_args(add))
    })
}

/// Returns the names that start with what the user typed. Lists in one argument are separated by commas.
fn candidates(names: Names, typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let (before, last) = typed.rfind(',').map_or(("", typed), |comma| typed.split_at(comma + 1));
    let fit = names.all().into_iter().filter(|name| name.starts_with(last) && is_plain(name));
    fit.map(|name| CompletionCandidate::new(format!("{before}{name}"))).collect()
}

/// Returns true for a name that no shell treats as a command, a pattern or several words. A file of a stranger can contain others.
fn is_plain(name: &str) -> bool {
    let is_first = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    is_first && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-/:@".contains(c))
}

impl Names {
    fn all(self) -> Vec<String> {
        match self {
            Names::Addresses => addresses(),
            Names::Rules => rules(),
            Names::RulesAndAddresses => rules().into_iter().chain(addresses()).collect(),
            Names::Models => Catalog::embedded().models().names().collect(),
            Names::Machines => machines(),
            Names::HelpTopics => {
                subcommand_names(&[]).into_iter().chain(HELP_PAGES.iter().map(|it| (*it).to_owned())).collect()
            }
        }
    }
}

fn rules() -> Vec<String> {
    let settings = RuleSettings { profile: Profile::All, ..RuleSettings::default() };
    let (rules, _) = Rules::load(&[], settings);
    rules.pages().iter().map(|page| page.name.clone()).collect()
}

fn machines() -> Vec<String> {
    let catalog = Catalog::embedded();
    let names: BTreeSet<String> = catalog.machines().map(|it| it.name.to_string()).collect();
    names.into_iter().collect()
}

/// Returns the addresses of the resources in the current directory, or none if reading it takes too long.
fn addresses() -> Vec<String> {
    let (send, receive) = mpsc::channel();
    let read = move || {
        let Ok(session) = Session::open(&InputArguments::here()) else { return };
        let all = session.analyze().inventory.resources;
        drop(send.send(all.iter().map(|it| it.address.to_string()).collect::<BTreeSet<_>>()));
    };
    let is_started = std::thread::Builder::new().spawn(read).is_ok();
    let found = if is_started { receive.recv_timeout(PATIENCE).unwrap_or_default() } else { BTreeSet::new() };
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_shell_would_run_or_expand_are_not_offered() {
        for plain in ["aws_instance.train", "Deployment/default/api", "meta-llama/Llama-3.1-8B", "module.a.b.c"] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in
            ["$(touch x)", "`id`", "a b", "a;b", "a[0]", "a*", "-rf", "~", "a\nb", "a\u{1b}[2J", "", "a'b", "a\u{b}b"]
        {
            assert!(!is_plain(other), "{other}");
        }
    }

    #[test]
    fn the_arguments_with_known_names_exist() {
        let all = CliArguments::command();
        for (verb, argument, _) in KNOWN {
            let verb = all.find_subcommand(verb).unwrap();
            assert!(verb.get_arguments().any(|it| it.get_id() == argument), "{argument}");
        }
        command().debug_assert();
    }

    #[test]
    fn lists_are_completed_after_the_last_comma() {
        let found = candidates(Names::Rules, OsStr::new("missing-labels,on-demand-b"));
        let found: Vec<_> = found.iter().map(|it| it.get_value().to_str().unwrap()).collect();
        assert_eq!(found, ["missing-labels,on-demand-batch"]);
    }
}
