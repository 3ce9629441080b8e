//! `gpulint init`: writes first settings, a hook and a workflow that suit the repository. It asks no questions and
//! overwrites nothing.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::args::{Accepting, BaselineVerb, InputArguments, RulesInitArguments, Selection};
use crate::cli::io::{output, place};
use crate::cli::session::Session;
use crate::cli::verbs::baseline;
use crate::cli::{ExitStatus, Failure};
use crate::config;
use crate::inventory::CountedAs;
use crate::measured::paid::row::FILE_NAME;
use crate::report::one_line;
use crate::rules::in_the_book;

/// The prefix of a line in gpulint.toml that lists a deployment.
const RUN: &str = "# run: ";

/// The most deployments that are listed, so that the settings file stays readable.
const MOST_RUNS: usize = 500;

/// The settings that are not comments: without them, a change of any cost passes.
const LIMIT: &str = "\n# What one change may add per month. A change above these amounts fails.\n[rules.over-budget]\n\
                     max_increase_usd = 5_000            # expected cost\n\
                     max_possible_increase_usd = 50_000  # maximum cost, such as that of autoscaling\n";

const HOOKS: &str = ".pre-commit-config.yaml";

/// A code host: how its addresses and its pipeline files are recognized.
struct Host {
    name: &'static str,
    address: &'static [&'static str],
    /// The file or the directory of the host's pipelines.
    pipelines: &'static str,
    /// The file that runs gpulint. If the host has one file for all pipelines, this is that file.
    workflow: &'static str,
    /// The documentation page whose recipe is written.
    recipes: &'static str,
}

const HOSTS: [Host; 6] = [
    Host {
        name: "GitHub",
        address: &["github."],
        pipelines: ".github",
        workflow: ".github/workflows/gpulint.yml",
        recipes: include_str!("../../../docs/ci/github.md"),
    },
    Host {
        name: "GitLab",
        address: &["gitlab"],
        pipelines: ".gitlab-ci.yml",
        workflow: ".gitlab-ci.yml",
        recipes: include_str!("../../../docs/ci/gitlab.md"),
    },
    Host {
        name: "Bitbucket",
        address: &["bitbucket."],
        pipelines: "bitbucket-pipelines.yml",
        workflow: "bitbucket-pipelines.yml",
        recipes: include_str!("../../../docs/ci/bitbucket.md"),
    },
    Host {
        name: "Azure Repos",
        address: &["dev.azure.com", "visualstudio.com"],
        pipelines: "azure-pipelines.yml",
        workflow: "azure-pipelines.yml",
        recipes: include_str!("../../../docs/ci/azure.md"),
    },
    Host {
        name: "Forgejo",
        address: &["codeberg.org", "forgejo"],
        pipelines: ".forgejo",
        workflow: ".forgejo/workflows/gpulint.yml",
        recipes: include_str!("../../../docs/ci/gitea.md"),
    },
    Host {
        name: "Gitea",
        address: &["gitea"],
        pipelines: ".gitea",
        workflow: ".gitea/workflows/gpulint.yml",
        recipes: include_str!("../../../docs/ci/gitea.md"),
    },
];

pub(in crate::cli) fn run(asked: &RulesInitArguments) -> Result<ExitStatus, Failure> {
    let directory = asked.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    if !directory.is_dir() {
        return Err(Failure::new(format!("`{}` is not a directory", directory.display()))
            .with_help("pass an existing directory, such as `gpulint init .`"));
    }
    let input = InputArguments { paths: vec![directory.clone()], ..InputArguments::default() };
    let session = Session::open(&input)?;
    let analysis = session.analyze();
    // Only deployments with accelerators are listed, and no bases.
    let runs = analysis.inventory.resources.iter().filter(|it| it.counted != CountedAs::Base);
    let runs: BTreeSet<String> = runs.filter_map(|it| it.run.as_ref()).map(|id| one_line(id.as_str())).collect();
    if asked.check {
        return compare(&directory, &runs);
    }
    let mut told = String::new();
    settings(&mut told, &directory, &runs)?;
    let real = directory.canonicalize().unwrap_or(directory.clone());
    match place::repository(&real) {
        Some(repository) => {
            hook(&mut told, repository)?;
            workflow(&mut told, repository)?;
            ignored(&mut told, repository);
        }
        None => told.push_str("no hook and no workflow: this is not a git repository\n"),
    }
    output::print(&told)?;
    if asked.baseline {
        let accepting = Accepting { input, selection: Selection::default() };
        return baseline::run(&BaselineVerb::Create(Box::new(accepting))).map(|_| ExitStatus::Passed);
    }
    output::print(
        "\nnext: run `gpulint` to see the findings of today, or `gpulint init --baseline` to accept them, so that only new ones count\n",
    )?;
    Ok(ExitStatus::Passed)
}

/// Compares the deployments listed in gpulint.toml with those that exist.
fn compare(directory: &Path, found: &BTreeSet<String>) -> Result<ExitStatus, Failure> {
    let path = directory.join(config::FILE_NAME);
    let Ok(text) = fs::read_to_string(&path) else {
        output::print(&format!("{} does not exist: run `gpulint init` to write it\n", path.display()))?;
        return Ok(ExitStatus::Failed);
    };
    let listed: BTreeSet<String> = text.lines().filter_map(|line| line.strip_prefix(RUN)).map(str::to_owned).collect();
    let found: BTreeSet<String> = found.iter().take(MOST_RUNS).cloned().collect();
    let mut told = String::new();
    for new in found.difference(&listed) {
        let _ = writeln!(told, "not listed: {new}");
    }
    for gone in listed.difference(&found) {
        let _ = writeln!(told, "no longer found: {gone}");
    }
    let is_true = told.is_empty();
    match is_true {
        true => _ = writeln!(told, "{} is up to date: {}", config::FILE_NAME, counted(found.len())),
        false => told.push_str("correct these comments at the top of gpulint.toml; they do not affect the check\n"),
    }
    output::print(&told)?;
    Ok(if is_true { ExitStatus::Passed } else { ExitStatus::Failed })
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 deployment".to_owned() } else { format!("{runs} deployments") }
}

/// Adds a line that reports what was done with a file.
fn add_status_line(told: &mut String, done: &str, path: &str, what: &str) {
    let _ = writeln!(told, "{done:<6}  {path:<32}  {what}");
}

fn settings(told: &mut String, directory: &Path, runs: &BTreeSet<String>) -> Result<(), Failure> {
    let path = directory.join(config::FILE_NAME);
    if fs::symlink_metadata(&path).is_ok() {
        add_status_line(told, "kept", config::FILE_NAME, "already exists: `gpulint config show` prints its settings");
        return Ok(());
    }
    let mut text = String::from(
        "# Written by `gpulint init`. gpulint finds these deployments by itself, each time that it runs. If it cannot find one,\n\
         # describe it in `[[runs]]` below. `gpulint init --check` compares this list with the deployments that it finds.\n",
    );
    for run in runs.iter().take(MOST_RUNS) {
        let _ = writeln!(text, "{RUN}{run}");
    }
    if runs.is_empty() {
        text.push_str("# No deployment with accelerators was found.\n");
    }
    text.push('\n');
    text.push_str(&config::example());
    text.push_str(LIMIT);
    output::save(&path, &text)?;
    let what = match runs.len() {
        0 => "a limit for the cost of one change, and example settings in comments; no deployment with accelerators was found".to_owned(),
        1 => "a limit for the cost of one change, example settings in comments, and the deployment that was found".to_owned(),
        n => format!("a limit for the cost of one change, example settings in comments, and the {n} deployments that were found"),
    };
    add_status_line(told, "wrote", config::FILE_NAME, &what);
    Ok(())
}

fn hook(told: &mut String, repository: &Path) -> Result<(), Failure> {
    let recipe = recipe(include_str!("../../../docs/ci/pre-commit.md"), HOOKS).unwrap_or_default();
    let what = "the hook: run `pre-commit install` to check each commit";
    let help = "add this to `repos`:";
    // The user's file already has `repos:`, so only the recipe's part below it is needed.
    let piece = recipe.split_once("repos:\n").map_or(recipe.as_str(), |(_, piece)| piece).to_owned();
    place_file(told, repository, HOOKS, &recipe, what, (help, &piece))
}

fn workflow(told: &mut String, repository: &Path) -> Result<(), Failure> {
    let Some(host) = host(repository) else {
        let page = in_the_book("ci/README");
        add_status_line(told, "left", "the workflow", &format!("unknown code host: see {page} for a recipe"));
        return Ok(());
    };
    let Some(recipe) = recipe(host.recipes, host.workflow) else { return Ok(()) };
    let what = format!("{}: comments on each pull request, and fails if a finding counts", host.name);
    let help = "add this job:";
    place_file(told, repository, host.workflow, &recipe, &what, (help, &recipe))
}

/// Proposes a line of .gitignore for bills, which contain negotiated prices.
fn ignored(told: &mut String, repository: &Path) {
    let text = fs::read_to_string(repository.join(".gitignore")).unwrap_or_default();
    if !text.lines().any(|line| line.trim().trim_start_matches('/') == FILE_NAME) {
        add_status_line(
            told,
            "left",
            ".gitignore",
            &format!("add `{FILE_NAME}` if you store bills here: it contains negotiated prices"),
        );
    }
}

/// Writes a file that does not exist. If it exists and does not run gpulint, prints the lines to add.
fn place_file(
    told: &mut String,
    repository: &Path,
    name: &str,
    text: &str,
    what: &str,
    (help, piece): (&str, &str),
) -> Result<(), Failure> {
    let path = repository.join(name);
    if fs::symlink_metadata(&path).is_ok() {
        let runs_it = fs::read_to_string(&path).is_ok_and(|text| text.contains("gpulint"));
        if runs_it {
            add_status_line(told, "kept", name, "already runs gpulint");
        } else {
            add_status_line(told, "kept", name, &format!("exists and does not run gpulint; {help}"));
            for line in piece.lines() {
                let _ = writeln!(told, "        {line}");
            }
        }
        return Ok(());
    }
    let directory = path.parent().unwrap_or(repository);
    if !stays_inside(repository, directory) {
        add_status_line(told, "left", name, "a symbolic link in its path leads out of the repository");
        return Ok(());
    }
    fs::create_dir_all(directory)
        .map_err(|error| Failure::new(format!("directory `{}` cannot be created: {error}", directory.display())))?;
    output::save(&path, text)?;
    add_status_line(told, "wrote", name, what);
    Ok(())
}

/// Whether no symbolic link in the directory's path leads out of the repository.
fn stays_inside(repository: &Path, directory: &Path) -> bool {
    let there = directory.ancestors().find(|it| fs::symlink_metadata(it).is_ok());
    let real = there.and_then(|it| it.canonicalize().ok());
    real.zip(repository.canonicalize().ok()).is_some_and(|(real, repository)| real.starts_with(repository))
}

/// Returns the code host by the pipeline files in the repository, or else by the address of its remotes.
fn host(repository: &Path) -> Option<&'static Host> {
    let address = fs::read_to_string(repository.join(".git/config")).unwrap_or_default();
    let urls: Vec<&str> = address.lines().filter_map(|line| line.trim().strip_prefix("url = ")).collect();
    let is_of = |host: &&Host| urls.iter().any(|url| host.address.iter().any(|part| url.contains(part)));
    HOSTS.iter().find(|host| repository.join(host.pipelines).exists()).or_else(|| HOSTS.iter().find(is_of))
}

/// Returns the recipe for a file: the code block of a page whose first line is a comment with the file's name. The
/// rest of that line is for readers of the page.
fn recipe(page: &str, file: &str) -> Option<String> {
    let fences = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let named = fences.map(|(fence, _)| fence).find(|fence| {
        let first = fence.lines().next().unwrap_or_default();
        first.starts_with('#') && first.contains(file)
    })?;
    let (_, body) = named.split_once('\n')?;
    Some(format!("{body}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_its_recipe() {
        for host in &HOSTS {
            let recipe = recipe(host.recipes, host.workflow).unwrap_or_default();
            assert!(recipe.contains("gpulint"), "{}", host.name);
        }
        assert!(recipe(include_str!("../../../docs/ci/pre-commit.md"), HOOKS).is_some());
    }
}
