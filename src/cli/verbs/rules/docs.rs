//! `gpulint rules docs`: writes documentation of custom rules, one Markdown file per rule and one that lists them.

use std::fs;
use std::path::Path;

use crate::cli::args::{InputArguments, Selection};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::rules::{self, RuleFile};

const CONTENTS: &str = "README.md";

pub(super) fn run(directory: &Path, input: &InputArguments, selection: &Selection) -> Result<ExitStatus, Failure> {
    let session = Session::rules_only(input, selection)?;
    session.demand_whole_rules(&crate::Analysis::default())?;
    let rules = &session.settings.rules;
    let own = session.policy.own_pages.iter();
    let pages: Vec<(&RuleFile, String)> = own
        .filter_map(|own| {
            let page = rules.pages().iter().find(|page| *page.text == *own.text)?;
            Some((page, session.scope.paths.show(&own.path)))
        })
        .collect();
    if pages.is_empty() {
        return Err(Failure::new("no custom rules to document")
            .with_help("pass their directory with --rules, or add their pack to gpulint.toml"));
    }
    fs::create_dir_all(directory)
        .map_err(|error| Failure::new(format!("directory `{}` cannot be created: {error}", directory.display())))?;
    for (page, from) in &pages {
        write(&directory.join(format!("{}.md", page.name)), &rules::document_of(page, from))?;
    }
    let listed: Vec<&RuleFile> = pages.iter().map(|(page, _)| *page).collect();
    write(&directory.join(CONTENTS), &rules::contents_of(&listed))?;
    let count = if pages.len() == 1 { "1 rule".to_owned() } else { format!("{} rules", pages.len()) };
    output::print(&format!("wrote {count} and {CONTENTS} to {}\n", directory.display()))?;
    Ok(ExitStatus::Passed)
}

/// Writes a file, and refuses to overwrite a file that gpulint did not write.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let is_ours = |before: &str| before.starts_with(rules::WRITTEN_FROM);
    match fs::read_to_string(path) {
        Ok(before) if !is_ours(&before) => {
            Err(Failure::new(format!("gpulint did not write `{}`, and does not overwrite it", path.display()))
                .with_help("move the file, or choose another directory with --output"))
        }
        _ => output::save(path, text),
    }
}
