//! `gpulint rules vendor`: copies packs from git into the repository. No other subcommand about rules fetches with git.

use std::path::Path;

use crate::cli::args::InputArguments;
use crate::cli::io::file_tree::DiskTree;
use crate::cli::io::output;
use crate::cli::io::place::{self, WorkingTree};
use crate::cli::session::packs::Copies;
use crate::cli::session::policy::PolicyTree;
use crate::cli::session::settings;
use crate::cli::session::settings::refused;
use crate::cli::{ExitStatus, Failure};
use crate::diagnostic::Diagnostic;
use crate::source::SourceFiles;

pub(super) fn run(check: bool, force: bool, config: Option<&Path>) -> Result<ExitStatus, Failure> {
    place::demand_settings(config)?;
    let input = InputArguments { config: config.map(Path::to_owned), ..InputArguments::here() };
    let beside: Vec<&Path> = config.into_iter().collect();
    let place = WorkingTree::find(None, &[".".into()], &beside)?;
    let sources = || -> Result<SourceFiles, Failure> {
        Ok(SourceFiles::new(PolicyTree::open(
            &input,
            &place,
            DiskTree::new(place.root.clone(), place.allowed.clone()),
        )?))
    };
    let before = sources()?;
    let file = settings::find(
        &input,
        &place,
        &PolicyTree::open(&input, &place, DiskTree::new(place.root.clone(), place.allowed.clone()))?,
    )?;
    let config = settings::load(&before, file.as_deref(), &place)?;
    let refuse = |sources: &SourceFiles, wrong: &[Diagnostic]| {
        refused(sources, &place.paths(), wrong, "the packs cannot be used")
    };
    let copies = Copies::configured(&before, &config).map_err(|wrong| refuse(&before, &[wrong]))?;
    if copies.all.is_empty() {
        output::print("no pack in gpulint.toml comes from git\n")?;
        return Ok(ExitStatus::Passed);
    }
    if check {
        let wrong: Vec<Diagnostic> = copies.all.iter().filter_map(|copy| copies.judge(copy, &before).err()).collect();
        if !wrong.is_empty() {
            output::complain_of(&refuse(&before, &wrong));
            return Ok(ExitStatus::Failed);
        }
        output::print(&format!("all copies match gpulint.toml: {}\n", counted(copies.all.len(), "pack")))?;
        return Ok(ExitStatus::Passed);
    }
    for copy in &copies.all {
        let shown = place.paths().show(&copy.path);
        if copies.judge(copy, &before).is_ok() {
            output::print(&format!("{shown} is up to date\n"))?;
            continue;
        }
        let files = copies.renew(copy, &before, &place.root, force)?;
        output::print(&format!("copied {} to {shown}\n", counted(files, "file")))?;
    }
    // The written files are read again, so that the lock file describes the actual content.
    let after = sources()?;
    for (path, text) in copies.locks(&after).map_err(Failure::new)? {
        if place.root.join(&path).is_symlink() {
            let shown = place.paths().show(&path);
            return Err(Failure::new(format!("gpulint does not write through the symbolic link `{shown}`"))
                .with_help(format!("remove the link, and run the command again: rm {shown}")));
        }
        output::save(&place.root.join(&path), &text)?;
        output::print(&format!("wrote {}\n", place.paths().show(&path)))?;
    }
    Ok(ExitStatus::Passed)
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
