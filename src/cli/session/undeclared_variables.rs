//! Refuses `--var` with a name that no root declares. If the name is misspelled, the default would be used silently.

use std::collections::BTreeSet;

use regex::Regex;

use super::Session;
use crate::Analysis;
use crate::cli::Failure;
use crate::diagnostic::nearest;
use crate::front_ends::files;
use crate::source::{join, static_regex};

/// Demands that each variable of the command line is declared by a root of one of the states.
pub(in crate::cli) fn demand_declared(states: &[(&Session, &Analysis)]) -> Result<(), Failure> {
    let Some((session, _)) = states.first() else { return Ok(()) };
    let given = &session.settings.terraform.variables;
    if given.is_empty() || states.iter().all(|(_, analysis)| analysis.roots.is_empty()) {
        return Ok(());
    }
    let declared: BTreeSet<String> =
        states.iter().flat_map(|(session, analysis)| declared(session, analysis)).collect();
    let Some((name, _)) = given.iter().find(|(name, _)| !declared.contains(name)) else { return Ok(()) };
    let help = match nearest(name, declared.iter().map(String::as_str)) {
        Some(other) => format!("did you mean `{other}`?"),
        None => "correct the name, or leave out this `--var`".to_owned(),
    };
    Err(Failure::new(format!("`--var {name}`: no Terraform root here declares this variable")).with_help(help))
}

/// Returns the variables that the roots declare.
fn declared(session: &Session, analysis: &Analysis) -> BTreeSet<String> {
    let directories: BTreeSet<&str> = analysis.roots.iter().map(|root| root.directory.as_str()).collect();
    let mut all = BTreeSet::new();
    for directory in directories {
        let listed = session.sources.tree().list(directory).into_iter().filter(|it| !it.is_directory);
        for path in listed.filter_map(|it| join(directory, &it.name)).filter(|path| files::is_terraform(path)) {
            let text = session.sources.glance(&path, |text| String::from_utf8_lossy(text).into_owned());
            let text = text.unwrap_or_default();
            let names = if path.ends_with(".json") { &IN_JSON } else { &DECLARED };
            all.extend(names.captures_iter(&text).filter_map(|it| Some(it.get(1)?.as_str().to_owned())));
        }
    }
    all
}

static_regex!(static DECLARED: Regex = r#"(?m)^\s*variable\s+"?([\w-]+)"?"#);
static_regex!(
/// Any key of a JSON file may be a variable.
static IN_JSON: Regex = r#""([\w-]+)"\s*:"#);
