//! `gpulint inspect`: every fact of every resource.

use std::fmt::Write;
use std::path::PathBuf;

use super::blocks;
use crate::cli::args::{InputArguments, Inspect};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::session::undeclared_variables::demand_declared;
use crate::cli::{ExitStatus, Failure};
use crate::diagnostic::nearest;
use crate::inventory::{WantedObjects, WantedRaw};
use crate::report::{self, Format};
use crate::rules::{self, VisibleField};

pub(in crate::cli) fn run(arguments: &Inspect) -> Result<ExitStatus, Failure> {
    let is_address = |path: &&PathBuf| path.as_os_str() != "-" && !path.exists();
    if let Some(address) = arguments.input.paths.iter().find(is_address) {
        return seen(arguments, &address.to_string_lossy());
    }
    let session = Session::open(&arguments.input)?;
    let analysis = session.analyze();
    demand_declared(&[(&session, &analysis)])?;
    let report = session.report(&analysis, &[]);
    output::write(&arguments.output, Format::Json, |format, _style| {
        (format == Format::Json).then(|| match (arguments.all, arguments.roots) {
            (true, _) => blocks::all(&session, &analysis.blocks),
            (_, true) => blocks::roots(&session, &analysis.roots),
            _ => report::inspect(&report),
        })
    })?;
    Ok(session.outcome(&analysis))
}

/// Prints the facts of one resource, object or block as rules see them, with their lines.
fn seen(arguments: &Inspect, address: &str) -> Result<ExitStatus, Failure> {
    let paths = arguments.input.paths.iter().filter(|path| path.as_os_str() != address).cloned().collect();
    let mut session = Session::open(&InputArguments { paths, ..arguments.input.clone() })?;
    session.settings.raw = WantedRaw { blocks: true, objects: WantedObjects::All, pods: true };
    let analysis = session.analyze();
    demand_declared(&[(&session, &analysis)])?;
    let inventory = &analysis.inventory;
    let world = analysis.world(&session.settings);
    let found = rules::seen(address, &world, &rules::RuleSettings::default());
    if found.is_empty() {
        let failure = Failure::new(format!("no path or resource is named `{}`", address.escape_debug()));
        let raws = inventory.objects.iter().chain(&inventory.blocks).map(|it| &*it.address);
        let known = inventory.resources.iter().map(|it| it.address.as_str()).chain(raws);
        return Err(match nearest(address, known) {
            Some(near) => failure.with_help(format!("did you mean `{near}`?")),
            None => failure.with_help("run `gpulint cost` to list resources"),
        });
    }
    output::write(&arguments.output, Format::Text, |format, _style| match format {
        Format::Text => Some(shown(&session, &found)),
        Format::Json => Some(as_json(&session, &found)),
        _ => None,
    })?;
    Ok(session.outcome(&analysis))
}

fn place(session: &Session, it: &VisibleField) -> Option<(String, usize)> {
    let at = session.scope.paths.locate(&session.sources, it.span?);
    Some((at.path, at.line))
}

fn shown(session: &Session, found: &[VisibleField]) -> String {
    let mut text = String::new();
    for it in found {
        let at = place(session, it).map(|(path, line)| {
            format!("  # {}{path}:{line}", it.origin.map_or(String::new(), |it| format!("{it}, ")))
        });
        let value = match &it.unknown {
            Some(why) => format!("unknown: {why}"),
            None => it.value.clone(),
        };
        let line = report::one_line(&format!("{} = {value}{}", it.name, at.unwrap_or_default()));
        let _ = writeln!(text, "{line}");
    }
    text
}

fn as_json(session: &Session, found: &[VisibleField]) -> String {
    let facts: Vec<serde_json::Value> = found
        .iter()
        .map(|it| {
            let (path, line) = place(session, it).unzip();
            let value = it.unknown.is_none().then_some(&it.value);
            serde_json::json!({
                "name": it.name, "value": value, "unknown": it.unknown, "origin": it.origin, "path": path, "line": line,
            })
        })
        .collect();
    let document = serde_json::json!({ "version": 1, "facts": facts });
    report::json(&document)
}
