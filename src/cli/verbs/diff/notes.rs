//! The remarks of a report about a comparison, besides its results.

use std::collections::BTreeSet;

use crate::Analysis;
use crate::catalog::Money;
use crate::cli::session::Session;
use crate::compare::{self, Reconsidered, Touched, TreeState};
use crate::config::{self, Config};
use crate::measured::{paid, row};
use crate::pricing::Delta;
use crate::source::{SourceFiles, Span, file_name};

pub(super) struct Remarks {
    pub(super) notes: Vec<String>,
    pub(super) removed_limits: Vec<String>,
    /// The changed files that were not read, as paths for people.
    pub(super) not_read: Vec<String>,
}

impl Remarks {
    /// Returns the remarks about the changed files, added to `notes`.
    pub(super) fn of_files(
        (base, before): (&Session, &Analysis),
        (head, after): (&Session, &Analysis),
        touched: &Touched,
        mut notes: Vec<String>,
    ) -> Remarks {
        notes.extend(settings_in_change(base, head, touched));
        let (base_state, head_state) = (base.state(), head.state());
        let not_read = compare::not_read((&base_state, before), (&head_state, after), touched);
        let not_read = not_read.iter().filter(|path| !head.rests_on(path)).map(|path| head.scope.paths.show(path));
        let mut removed_limits = relaxed_settings(base, head, touched);
        let place = |state: &TreeState, span| place(head, state.sources, span);
        removed_limits.extend(compare::removed_limits(&base_state, &head_state, touched, place));
        Remarks { notes, removed_limits, not_read: not_read.collect() }
    }
}

/// Returns a note for each suppression that the change removes.
pub(super) fn removed_suppressions(base: &Session, reconsidered: &Reconsidered) -> BTreeSet<String> {
    let removed = reconsidered.removed.iter().map(|(rules, span)| {
        let at = base.scope.paths.locate(&base.sources, *span);
        format!("the change removes a suppression: {rules} at {}:{}", at.path, at.line)
    });
    removed.collect()
}

/// Returns a note if the change edits settings, rules or other files that decide the verdict.
fn settings_in_change(base: &Session, head: &Session, touched: &Touched) -> Option<String> {
    let is_measured = |path: &str| [row::FILE_NAME, paid::row::FILE_NAME].contains(&file_name(path));
    let differs = |path: &&String| {
        head.rests_on(path) && !is_measured(path) && base.sources.tree().read(path) != head.sources.tree().read(path)
    };
    let paths: Vec<String> = touched.files.iter().filter(differs).map(|path| head.scope.paths.show(path)).collect();
    (!paths.is_empty()).then(|| format!("the change edits files that decide the verdict: {}", paths.join(", ")))
}

/// Returns a note if the change adds cost and no setting limits how much.
pub(super) fn no_limit_on_growth(head: &Session, change: &Delta) -> Option<String> {
    let more = change.combined.difference;
    let is_more = more.expected > Money::ZERO || more.ceiling > Money::ZERO || change.combined.becomes_unlimited();
    let note = "no setting limits what a change may add: set `max_increase_usd` in `[rules.over-budget]`";
    (is_more && !head.settings.rules.limits_growth()).then(|| note.to_owned())
}

/// Returns a note if the change edits measurements: it changes no machine, but findings of many.
pub(super) fn measured_otherwise(head: &Session, touched: &Touched) -> Option<String> {
    let is_used = |path: &str| {
        let used = head.settings.measured.files.iter().chain(&head.settings.measured.paid.files);
        [row::FILE_NAME, paid::row::FILE_NAME].contains(&file_name(path))
            || used.map(String::as_str).any(|it| it == path || it.ends_with(&format!(":/{path}")))
    };
    let path = touched.files.iter().find(|path| is_used(path))?;
    Some(format!("the change edits usage metrics or a bill: {}", head.scope.paths.show(path)))
}

/// Returns a note for each setting that a changed settings file relaxes.
fn relaxed_settings(base: &Session, head: &Session, touched: &Touched) -> Vec<String> {
    let load = |session: &Session, path: &str| match session.sources.tree().read(path) {
        Ok(_) => config::load(&session.sources, path, env!("CARGO_PKG_VERSION")).0,
        Err(_) => Config::default(),
    };
    let files = touched.files.iter().filter(|path| file_name(path) == config::FILE_NAME);
    let relaxed = files.flat_map(|path| {
        let settings = config::relaxed(&load(base, path), &load(head, path));
        settings.into_iter().map(move |it| {
            let place = it.span.map_or_else(|| head.scope.paths.show(path), |span| place(head, &head.sources, span));
            format!("the change relaxes a limit: {}, {place}", it.what)
        })
    });
    relaxed.collect()
}

/// Returns a path and a line for people.
fn place(session: &Session, sources: &SourceFiles, span: Span) -> String {
    let at = session.scope.paths.locate(sources, span);
    format!("{}:{}", at.path, at.line)
}
