//! `gpulint render`: prints the objects that kustomizations build, to compare them with the output of kustomize.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::cli::args::{InputArguments, Render, Selection};
use crate::cli::io::output;
use crate::cli::session::Session;
use crate::cli::{ExitStatus, Failure};
use crate::languages::kustomize::{self, KustomizeError, KustomizeOutput, OutputDocument, TroubleCause};
use crate::source::{Span, join, parent};

/// Prints the objects of each kustomization that no other kustomization uses.
pub(in crate::cli) fn run(render: &Render) -> Result<ExitStatus, Failure> {
    let input = InputArguments { paths: render.paths.clone(), ..InputArguments::without_settings() };
    let session = Session::judging(&input, &Selection::default())?;
    let files = session.files.iter().filter(|path| kustomize::NAMES.iter().any(|name| is_called(path, name)));
    let found: BTreeSet<&str> = files.map(|path| parent(path)).collect();
    // If the user names a kustomization, only this one is printed, and none below it.
    let is_named = |directory: &&str| {
        let shown = PathBuf::from(shown(&session, directory));
        render.paths.iter().any(|path| path.components().eq(shown.components()))
    };
    let named: BTreeSet<&str> = found.iter().copied().filter(is_named).collect();
    let directories = if named.is_empty() { &found } else { &named };
    let cluster = &session.settings.kubernetes.cluster;
    let built: BTreeMap<&str, Result<KustomizeOutput, KustomizeError>> = directories
        .iter()
        .map(|directory| (*directory, kustomize::build(&session.sources, directory, cluster)))
        .collect();
    let used: BTreeSet<&String> = built.values().flatten().flat_map(|it| &it.parts).collect();
    let (mut any, mut failed) = (false, false);
    for (directory, made) in &built {
        let is_part = used.iter().any(|part| part == directory);
        if !named.contains(directory) && (is_part || kustomize::is_component(&session.sources, directory)) {
            continue;
        }
        any = true;
        match made {
            Ok(built) if render.json => {
                let lines: String = built.documents.iter().map(|it| format!("{}\n", it.json())).collect();
                output::print_exact(&lines)?;
            }
            Ok(built) => output::print_exact(&text(&session, directory, built, render.origins))?,
            Err(trouble) => {
                failed = true;
                output::complain(&describe_error(&session, directory, trouble));
            }
        }
    }
    Ok(match (any, failed) {
        (false, _) => ExitStatus::Empty,
        (true, true) => ExitStatus::Failed,
        (true, false) => ExitStatus::Passed,
    })
}

fn is_called(path: &str, name: &str) -> bool {
    join(parent(path), name).is_some_and(|own| own == path)
}

fn text(session: &Session, directory: &str, built: &KustomizeOutput, with_origins: bool) -> String {
    let mut text = format!("# {}, built from {} files\n", shown(session, directory), built.files.len());
    for document in &built.documents {
        text.push_str("---\n");
        match with_origins {
            true => write_origins(session, document, &mut text),
            false => text.push_str(document.text()),
        }
    }
    text
}

fn write_origins(session: &Session, document: &OutputDocument, out: &mut String) {
    let file = session.sources.derive("", document.text().to_owned(), document.segments(&session.sources));
    let mut at = 0;
    for line in document.text().split_inclusive('\n') {
        let bare = line.trim();
        // The key of a line follows the dashes of list items.
        let start = at + line.len() - line.trim_start_matches(['-', ' ']).len();
        let place = session.scope.paths.locate(&session.sources, Span::new(file, start, start + bare.len()));
        out.push_str(&format!("{} # {}:{}\n", line.trim_end(), place.path, place.line));
        at += line.len();
    }
}

fn describe_error(session: &Session, directory: &str, trouble: &KustomizeError) -> String {
    let place = |at| {
        let place = session.scope.paths.locate(&session.sources, at);
        format!("{}:{}", place.path, place.line)
    };
    let directory = trouble.directory.as_deref().unwrap_or(directory);
    let at = trouble.at.map_or_else(|| shown(session, directory), place);
    let why = match trouble.cause {
        TroubleCause::Refused | TroubleCause::Absent => "kustomize would reject it",
        TroubleCause::NotAtHand => "the file is not in the repository",
        TroubleCause::Beyond => "it exceeds gpulint's limits",
    };
    let note = trouble.note.as_ref().map(|(at, note)| format!(" ({}: {note})", place(*at))).unwrap_or_default();
    format!("{at}: {}{note}: {why}", trouble.message)
}

fn shown(session: &Session, directory: &str) -> String {
    let shown = session.scope.paths.show(directory);
    if shown.is_empty() { ".".to_owned() } else { shown }
}
