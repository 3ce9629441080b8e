//! Options and subcommands on pages exist.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{ROOT, demand_none, pages, read, spans};

/// Options of other programs that pages show without their program.
const FOREIGN: [&str; 35] = [
    // cargo, docker, git, gh, pip, terraform, kubectl, helm, cdk, kube-state-metrics and the cluster autoscaler
    "--bench",
    "--bundle",
    "--cli-input-json",
    "--debug",
    "--filter",
    "--locked",
    "--metric-labels-allowlist",
    "--scale-down-enabled",
    "--timeout",
    "--upload-pack",
    "--wait",
    // servers and trainers
    "--context-length",
    "--continuous-batching",
    "--data-parallel-size",
    "--dataloader_num_workers",
    "--disable-radix-cache",
    "--dtype",
    "--enable-prefix-caching",
    "--gradient_checkpointing",
    "--max-model-len",
    "--max-num-seqs",
    "--mixed_precision",
    "--no-enable-prefix-caching",
    "--parallel",
    "--speculative-algorithm",
    "--speculative-config",
    "--speculative-draft-model-path",
    "--tensor-parallel-size",
    // scripts of this repository, which the column before names
    "--checkouts",
    "--count",
    "--helm",
    "--keep",
    "--trees",
    "--verbose",
    "--write",
];

/// Returns the output of gpulint.
pub(super) fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gpulint")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the subcommands that a help lists.
fn subcommands(help: &str) -> Vec<String> {
    let after = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = after.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").map(str::to_owned).collect()
}

/// Returns the subcommands of the program, which `gpulint help commands` lists by topic.
fn of_topics(help: &str) -> Vec<String> {
    let names = help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Adds the options of a command and of its subcommands. `words` is the command without the program.
fn collect(words: &[&str], options: &mut BTreeSet<String>, verbs: &mut BTreeSet<String>) {
    let help = printed(&[words, &["--help"]].concat());
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let named = help.split(|c| !is_part(c)).filter(|word| word.len() > 3 && word.starts_with("--"));
    options.extend(named.map(str::to_owned));
    let names = if words.is_empty() { of_topics(&printed(&["help", "commands"])) } else { subcommands(&help) };
    for name in names {
        verbs.insert(name.clone());
        collect(&[words, &[name.as_str()]].concat(), options, verbs);
    }
}

/// Returns the options of a Python program: all of its strings that begin with two dashes.
fn options_of_script(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    parts.filter(|word| word.len() > 2 && word.starts_with("--")).map(str::to_owned).collect()
}

/// Returns the options in a piece of code.
fn options(code: &str) -> impl Iterator<Item = &str> {
    let words = code.split_whitespace().filter(|word| word.starts_with("--"));
    let plain = words.map(|word| word.split(['=', ',', '…', '[', ']', ')', '\'', ':', ';']).next().unwrap_or_default());
    plain.filter(|word| word.len() > 2)
}

#[test]
fn every_option_exists() {
    let (mut known, mut verbs) = (BTreeSet::new(), BTreeSet::new());
    collect(&[], &mut known, &mut verbs);
    known.insert("--version".to_owned());
    assert!(known.len() > 100 && verbs.len() > 40, "{} options, {} subcommands", known.len(), verbs.len());
    let fleet = read("fleet/gpulint_fleet/__main__.py");
    known.extend(options_of_script(&fleet));
    let is_ours = |first: &str| {
        first.starts_with("--")
            || first.starts_with("gpulint")
            || verbs.contains(first)
            || fleet.contains(&format!("\"{first}\""))
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        for (line, code) in spans(&page.text) {
            if !code.split_whitespace().next().is_some_and(is_ours) {
                continue;
            }
            for option in options(&code) {
                count += 1;
                if !known.contains(option) && !FOREIGN.contains(&option) {
                    wrong.push(format!("{}:{line}: there is no {option}: `{code}`", page.path));
                }
            }
        }
    }
    assert!(count > 300, "only {count} options");
    demand_none(&wrong, "options that do not exist");
}

/// Scripts on pages have the options that a page passes to them.
#[test]
fn options_of_scripts_exist() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages() {
        for (line, code) in super::commands(&page.text) {
            let words: Vec<&str> = code.split_whitespace().collect();
            let script = words.iter().position(|it| (it.ends_with(".py") || it.ends_with(".sh")) && it.contains('/'));
            let Some(script) = script.filter(|at| Path::new(ROOT).join(words[*at]).is_file()) else { continue };
            let known = options_of_script(&read(words[script]));
            let own = words[script..].join(" ");
            for option in options(own.split('"').next().unwrap_or_default()) {
                count += 1;
                if !known.contains(option) {
                    wrong.push(format!("{}:{line}: {} has no {option}", page.path, words[script]));
                }
            }
        }
    }
    assert!(count > 8, "only {count} options");
    demand_none(&wrong, "options of scripts that do not exist");
}
