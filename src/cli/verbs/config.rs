//! `gpulint config`: the settings in force, their schema, and a first settings file.

use std::fmt::Write;
use std::fs::OpenOptions;

use crate::cli::args;
use crate::cli::args::InputArguments;
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::config::{self, SETTINGS, SettingValue};

pub(in crate::cli) fn run(verb: &args::ConfigCommand) -> Result<ExitStatus, Failure> {
    match verb {
        args::ConfigCommand::Show(input) => show(input)?,
        args::ConfigCommand::Schema => output::print(&config::schema())?,
        args::ConfigCommand::Init => init()?,
    }
    Ok(ExitStatus::Passed)
}

/// Prints each value with its origin: a line of a file, or the default.
fn show(input: &InputArguments) -> Result<(), Failure> {
    // Loads the rules, too, so that the same errors are reported as by `check`.
    let session = Session::rules_only(input, &args::Selection::default())?;
    session.demand_rules()?;
    let mut text = String::new();
    let set: Vec<_> = session.policy.config.entries().collect();
    let mut line = |path: &str, value: &str, origin: &str| {
        let _ = writeln!(text, "{:<48} # {origin}", format!("{path} = {value}"));
    };
    for setting in SETTINGS {
        if let Some(default) = setting.default
            && !setting.path.contains(['*', '['])
            && !set.iter().any(|(path, _)| path == setting.path)
        {
            line(setting.path, default, "default");
        }
    }
    for (path, entry) in set {
        let at = session.scope.paths.locate(&session.sources, entry.span);
        line(&path, &written(&entry.value), &format!("{}:{}", at.path, at.line));
    }
    // A pack's setting applies if the repository sets nothing, or if the pack forbids a change.
    for (path, entry) in session.policy.packs.iter().flat_map(|pack| pack.config.entries()) {
        let at = session.scope.paths.locate(&session.sources, entry.span);
        line(&path, &written(&entry.value), &format!("{}:{}, a pack", at.path, at.line));
    }
    output::print(&text)
}

/// Returns a value as TOML.
fn written(value: &SettingValue) -> String {
    match value {
        SettingValue::Text(text) => format!("{text:?}"),
        SettingValue::Texts(texts) => format!("{:?}", texts.iter().map(|(text, _)| text).collect::<Vec<_>>()),
        SettingValue::Integer(n) => n.to_string(),
        SettingValue::Number(n) => n.to_string(),
        SettingValue::Flag(flag) => flag.to_string(),
        SettingValue::Date(date) => date.to_string(),
        SettingValue::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key:?} = {}", written(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

fn init() -> Result<(), Failure> {
    let name = config::FILE_NAME;
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::new(format!("`{name}` already exists"))
            .with_help("run `gpulint config show` to print its settings"),
        _ => Failure::new(format!("`{name}` cannot be written: {error}")),
    };
    let mut file = OpenOptions::new().write(true).create_new(true).open(name).map_err(failed)?;
    std::io::Write::write_all(&mut file, config::example().as_bytes()).map_err(failed)?;
    output::print(&format!("wrote {name}\n"))
}
