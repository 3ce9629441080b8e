//! `gpulint rules new`: writes a rule file with comments and passing examples.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::args::InputArguments;
use crate::cli::io::{output, replace};
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::config::setting;
use crate::rules;

/// The default directory of custom rules.
const DIRECTORY: &str = "policy";

pub(super) fn run(name: &str, scope: &str, directory: Option<&Path>) -> Result<ExitStatus, Failure> {
    if !rules::is_name(name) {
        return Err(Failure::new(format!("`{}` is not a valid rule name", name.escape_debug()))
            .with_help("use lower-case letters, digits and dashes, such as public-notebook"));
    }
    if rules::BUILT_IN.iter().any(|(path, _)| path.trim_start_matches("rules/") == format!("{name}.md")) {
        return Err(Failure::new(format!("`{name}` is a built-in rule")).with_help(format!(
            "choose another name; to tighten the built-in rule, add `extends: {name}` to the new rule file"
        )));
    }
    let configured = configured()?;
    let is_configured = configured.is_some();
    let directory = directory.map(Path::to_owned).or(configured).unwrap_or_else(|| PathBuf::from(DIRECTORY));
    let file = directory.join(format!("{name}.md"));
    let shown = file.display();
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::new(format!("`{shown}` already exists")),
        _ => Failure::new(format!("`{shown}` cannot be written: {error}")),
    };
    fs::create_dir_all(&directory).map_err(failed)?;
    let real = directory.canonicalize().map_err(failed)?;
    if let Some(there) = replace::leads_outside(&directory, &real) {
        let message = format!("gpulint does not write `{shown}`: a symbolic link leads out of the repository");
        return Err(Failure::new(message).with_help(format!("to write there, pass --dir {}", there.display())));
    }
    let mut out = OpenOptions::new().write(true).create_new(true).open(&file).map_err(failed)?;
    out.write_all(rules::template(name, scope).as_bytes()).map_err(failed)?;
    let mut said = format!("wrote {shown}\n");
    if !is_configured {
        said.push_str(&format!("add to gpulint.toml: rules-dir = [{:?}]\n", directory.display().to_string()));
    }
    said.push_str(&format!("test it with: gpulint rules test {}\n", directory.display()));
    output::print(&said)?;
    Ok(ExitStatus::Passed)
}

/// Returns the first configured directory of custom rules, relative to the current directory.
fn configured() -> Result<Option<PathBuf>, Failure> {
    let session = Session::settings_only(&InputArguments::here())?;
    Ok(session
        .policy
        .config
        .texts(setting!("rules-dir"))
        .first()
        .map(|(path, _)| PathBuf::from(session.scope.paths.show(path))))
}
