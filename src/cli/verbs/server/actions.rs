//! Code actions for findings: fixes, and suppression comments. Edits are calculated on request, and
//! verified by a check in memory, like those of `check --fix`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gen_lsp_types::{
    Code, CodeAction, CodeActionKind, Diagnostic, DocumentChange, Edit, OptionalVersionedTextDocumentIdentifier, Range,
    TextDocumentEdit, TextDocumentIdentifier, TextEdit, WorkspaceEdit,
};
use serde::{Deserialize, Serialize};

use super::diagnostics::{EditorRanges, FolderDiagnostics};
use super::documents::OpenTexts;
use super::place::uri_of;
use super::position::{Encoding, TextLines};
use crate::cli::Failure;
use crate::cli::edits::fixes::{Fixes, Fixing};
use crate::cli::edits::ignores::{Acceptance, Ignores, is_acceptable};
use crate::cli::io::file_tree::below;
use crate::cli::session::judged::{Identity, JudgedTree, Texts};
use crate::cli::workspace::Workspace;
use crate::report::one_line;
use crate::rules::{Finding, Safety};
use crate::source::{FileId, changes};

/// The placeholder for the reason of a suppression.
const REASON: &str = "TODO: add a reason";

const QUICK_FIX: &str = "quickfix";

/// The kind of the action that applies all safe fixes of a document.
const FIX_ALL: &str = "source.fixAll.gpulint";

/// An action that gpulint offers.
struct EditorAction {
    /// The name in the data of an action.
    name: &'static str,
    /// The kind in the protocol.
    kind: &'static str,
    scope: ActionScope,
    is_preferred: bool,
    /// Returns the title for a finding in a file; `None` if gpulint does not offer the action.
    title: fn(&Finding, &str) -> Option<String>,
    edit: fn(&mut EditContext<'_>) -> Result<Texts, Failure>,
}

/// The findings that an action changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ActionScope {
    Finding,
    /// All findings of a file. The first one with a title offers the action.
    File,
}

/// All actions, in the order in which gpulint offers them.
static ACTIONS: &[EditorAction] = &[
    EditorAction {
        name: "fix",
        kind: QUICK_FIX,
        scope: ActionScope::Finding,
        is_preferred: true,
        title: |finding, _| has_safe_fix(finding).then(|| format!("Fix: {}", describe_fix(finding))),
        edit: |context| context.fix(Safety::Safe),
    },
    EditorAction {
        name: "fix-unsafely",
        kind: QUICK_FIX,
        scope: ActionScope::Finding,
        is_preferred: false,
        title: |finding, _| {
            let is_unsafe = finding.safety().is_some_and(|it| it != Safety::Safe) && !finding.edits.is_empty();
            is_unsafe.then(|| format!("Change how the workload runs: {}", describe_fix(finding)))
        },
        edit: |context| context.fix(Safety::Unsafe),
    },
    EditorAction {
        name: "accept",
        kind: QUICK_FIX,
        scope: ActionScope::Finding,
        is_preferred: false,
        title: |finding, path| {
            let rule = &finding.rule;
            is_acceptable(rule, path).then(|| format!("Suppress {rule} here, with a reason"))
        },
        edit: |context| {
            let acceptance = Acceptance { reason: REASON, until: None };
            Ok(Ignores::make(context.before, &acceptance, context.is_wanted, context.judge)?.texts)
        },
    },
    EditorAction {
        name: "fix-all",
        kind: FIX_ALL,
        scope: ActionScope::File,
        is_preferred: false,
        title: |finding, _| has_safe_fix(finding).then(|| "Apply all safe fixes in this file (gpulint)".to_owned()),
        edit: |context| context.fix(Safety::Safe),
    },
];

/// Returns the kinds of all actions.
pub(super) fn action_kinds() -> BTreeSet<&'static str> {
    ACTIONS.iter().map(|it| it.kind).collect()
}

fn with_scope(scope: ActionScope) -> impl Iterator<Item = &'static EditorAction> {
    ACTIONS.iter().filter(move |it| it.scope == scope)
}

impl EditorAction {
    fn offer(&self, title: String, chosen: &ChosenAction) -> CodeAction {
        CodeAction {
            title,
            kind: Some(CodeActionKind::from(self.kind.to_owned())),
            is_preferred: self.is_preferred.then_some(true),
            data: serde_json::to_value(chosen).ok(),
            ..CodeAction::default()
        }
    }
}

fn has_safe_fix(finding: &Finding) -> bool {
    finding.safety() == Some(Safety::Safe) && !finding.edits.is_empty()
}

fn describe_fix(finding: &Finding) -> String {
    finding.help.as_deref().map_or_else(|| finding.rule.clone(), |help| short(&one_line(help)))
}

/// The state before an action, the findings that it changes, and the function that repeats the check.
struct EditContext<'a> {
    before: &'a Arc<JudgedTree>,
    is_wanted: &'a dyn Fn(&Identity) -> bool,
    is_writable: &'a dyn Fn(&JudgedTree, FileId) -> bool,
    judge: &'a mut dyn FnMut(&Texts) -> Result<Arc<JudgedTree>, Failure>,
}

impl EditContext<'_> {
    fn fix(&mut self, limit: Safety) -> Result<Texts, Failure> {
        let (is_wanted, is_writable) = (self.is_wanted, self.is_writable);
        let mut fixing = Fixing { limit, is_wanted, is_writable, judge: self.judge };
        Ok(Fixes::make(&mut fixing, self.before.clone())?.0.texts)
    }
}

/// A code action that the user can select. Its JSON is in the data of the action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ChosenAction {
    pub(super) folder: PathBuf,
    /// The name of the action.
    what: String,
    /// The file of the action, as a path of the tree.
    path: String,
    /// The rule of the finding, which identifies the finding together with the file and the address.
    #[serde(default)]
    rule: String,
    #[serde(default)]
    address: Option<String>,
}

impl ChosenAction {
    pub(super) fn of(action: &CodeAction) -> Option<ChosenAction> {
        let chosen: ChosenAction = serde_json::from_value(action.data.clone()?).ok()?;
        chosen.action().is_some().then_some(chosen)
    }

    fn action(&self) -> Option<&'static EditorAction> {
        ACTIONS.iter().find(|it| it.name == self.what)
    }
}

/// An action with its edits by file, and the versions of open documents.
pub(super) struct Edited {
    pub(super) action: CodeAction,
    pub(super) edits: Vec<FileEdits>,
}

pub(super) struct FileEdits {
    file: PathBuf,
    version: Option<i32>,
    edits: Vec<TextEdit>,
}

/// Returns the actions for a position in a file.
pub(super) fn actions_at(
    told: &FolderDiagnostics,
    folder: &Path,
    file: &Path,
    range: Range,
    (wanted, shown): (Option<&[CodeActionKind]>, &[Diagnostic]),
    encoding: Encoding,
) -> Vec<CodeAction> {
    let judged = &told.judged;
    let mut places = EditorRanges::new(&judged.session.sources, encoding);
    let ranges = judged.counting().map(|finding| (finding, places.range(finding.span)));
    let in_file: Vec<_> = ranges.filter(|(_, (path, _))| below(&judged.session.scope.root, path) == file).collect();
    let is_in_range = |at: &Range| at.start.line <= range.end.line && at.end.line >= range.start.line;
    let in_range = in_file.iter().filter(|(_, (_, at))| is_in_range(at));
    let of_findings = in_range.flat_map(|(finding, at)| of_finding(judged, folder, finding, at, shown));
    let for_file = |action: &EditorAction| {
        in_file.iter().find_map(|(finding, (path, _))| {
            let (folder, path) = (folder.to_owned(), path.clone());
            let title = (action.title)(finding, &path)?;
            let what = action.name.to_owned();
            Some(action.offer(title, &ChosenAction { folder, what, path, rule: String::new(), address: None }))
        })
    };
    let for_file = with_scope(ActionScope::File).filter_map(for_file);
    of_findings.chain(for_file).filter(|action| is_wanted(action.kind.as_ref(), wanted)).collect()
}

/// Whether the editor requested this kind of action, by its name or by a more general kind. Without a request, source
/// actions are left out.
fn is_wanted(kind: Option<&CodeActionKind>, wanted: Option<&[CodeActionKind]>) -> bool {
    let Some(kind) = kind.map(|it| String::from(it.clone())) else { return false };
    match wanted {
        None => !kind.starts_with("source."),
        Some(wanted) => wanted.iter().any(|it| {
            let it = String::from(it.clone());
            it.is_empty() && !kind.starts_with("source.")
                || kind == it
                || kind.strip_prefix(&it).is_some_and(|rest| rest.starts_with('.'))
        }),
    }
}

fn of_finding(
    judged: &JudgedTree,
    folder: &Path,
    finding: &Finding,
    (path, at): &(String, Range),
    shown: &[Diagnostic],
) -> Vec<CodeAction> {
    let is_about = |it: &&Diagnostic| it.range == *at && it.code == Some(Code::String(finding.rule.clone()));
    let diagnostics: Vec<Diagnostic> = shown.iter().filter(is_about).cloned().collect();
    let address = finding.address(&judged.analysis.inventory);
    let offer = |action: &EditorAction| {
        let (folder, what, path) = (folder.to_owned(), action.name.to_owned(), path.clone());
        let title = (action.title)(finding, &path)?;
        let (rule, address) = (finding.rule.clone(), address.map(str::to_owned));
        let offered = action.offer(title, &ChosenAction { folder, what, path, rule, address });
        Some(CodeAction { diagnostics: (!diagnostics.is_empty()).then(|| diagnostics.clone()), ..offered })
    };
    with_scope(ActionScope::Finding).filter_map(offer).collect()
}

fn short(text: &str) -> String {
    const LONGEST: usize = 90;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let cut: String = text.chars().take(LONGEST).collect();
    // The title is cut at a part of the sentence, not inside a word.
    let part = [" (", ", ", "; ", ": ", " "].into_iter().filter_map(|end| cut.rfind(end)).find(|at| *at > LONGEST / 3);
    format!("{}…", cut.get(..part.unwrap_or(cut.len())).unwrap_or_default().trim_end())
}

/// Returns the edits of an action after a verifying check, or `None` if they have another effect than intended.
pub(super) fn edits_of(
    chosen: &ChosenAction,
    workspace: &mut Workspace,
    versions: &BTreeMap<String, i32>,
    encoding: Encoding,
) -> Result<Vec<FileEdits>, Failure> {
    let before = workspace.judge()?;
    let texts = build_edit(chosen, &before, workspace)?;
    let sources = &before.session.sources;
    let root = workspace.root();
    let of_file = |(path, new): (&String, &Vec<u8>)| {
        let old = sources.text(sources.open(path).ok()?);
        let edits = line_edits(&old, &String::from_utf8_lossy(new), encoding);
        let version = versions.get(path).copied();
        (!edits.is_empty()).then(|| FileEdits { file: below(root, path), version, edits })
    };
    Ok(texts.iter().filter_map(of_file).collect())
}

fn build_edit(chosen: &ChosenAction, before: &Arc<JudgedTree>, workspace: &mut Workspace) -> Result<Texts, Failure> {
    let Some(action) = chosen.action() else { return Ok(Texts::new()) };
    let is_wanted = |it: &Identity| {
        it.1 == chosen.path && (action.scope == ActionScope::File || it.0 == chosen.rule && it.2 == chosen.address)
    };
    let open = workspace.texts();
    let is_writable = |judged: &JudgedTree, file| {
        let sources = &judged.session.sources;
        judged.is_writable(file) || open.contains(&sources.path(file)) && !sources.text(file).contains('\u{fffd}')
    };
    let mut judge = |texts: &Texts| workspace.imagine(texts);
    (action.edit)(&mut EditContext { before, is_wanted: &is_wanted, is_writable: &is_writable, judge: &mut judge })
}

/// Returns the changed lines as edits.
fn line_edits(old: &str, new: &str, encoding: Encoding) -> Vec<TextEdit> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let mut starts = vec![0];
    starts.extend(before.iter().scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    }));
    let lines = TextLines::of(old, encoding);
    let at = |line: usize| starts.get(line).copied().unwrap_or(old.len());
    let hunks = changes(&before, &after).into_iter();
    let edit = |(gone, come): (std::ops::Range<usize>, std::ops::Range<usize>)| {
        let (place, new_text) = (at(gone.start)..at(gone.end), after.get(come).unwrap_or_default().concat());
        // Some editors have an empty line after the last line end.
        let last = old.strip_suffix('\n').map(|it| it.strip_suffix('\r').unwrap_or(it));
        match (last, new_text.strip_suffix('\n').map(|it| it.strip_suffix('\r').unwrap_or(it))) {
            (Some(last), Some(new)) if place == (old.len()..old.len()) => {
                let end = old.get(last.len()..).unwrap_or_default();
                TextEdit { range: lines.range(last.len()..last.len()), new_text: format!("{end}{new}") }
            }
            _ => TextEdit { range: lines.range(place), new_text },
        }
    };
    hunks.map(edit).collect()
}

/// Converts edits for the editor.
pub(super) fn workspace_edit(edits: &[FileEdits], documents: &OpenTexts, takes_versions: bool) -> WorkspaceEdit {
    let uri = |file: &Path| documents.uri_of(file).map(str::to_owned).or_else(|| uri_of(file));
    if !takes_versions {
        let all = edits.iter().filter_map(|it| Some((uri(&it.file)?.into(), it.edits.clone())));
        return WorkspaceEdit { changes: Some(all.collect()), ..WorkspaceEdit::default() };
    }
    let change = |it: &FileEdits| {
        let text_document_identifier = TextDocumentIdentifier { uri: uri(&it.file)?.into() };
        Some(DocumentChange::TextDocumentEdit(TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier { version: it.version, text_document_identifier },
            edits: it.edits.iter().cloned().map(Edit::TextEdit).collect(),
        }))
    };
    let changes = edits.iter().filter_map(change).collect();
    WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_of_lines_make_the_new_text() {
        for (old, new) in [
            ("a\nb\nc\n", "a\nB\nc\n"),
            ("a\nb", "a\nb\nc"),
            ("", "x\n"),
            ("é𝛼\r\nb\r\n", "# c\r\né𝛼\r\n"),
            ("same", "same"),
            ("a\nb\n", "a\nb\nc\nd\n"),
            ("a\r\n", "a\r\nb\r\n"),
            ("\n", "\n\n"),
        ] {
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let mut text = old.to_owned();
                for edit in line_edits(old, new, encoding).iter().rev() {
                    let lines = TextLines::of(&text, encoding);
                    let place = lines.offset(edit.range.start)..lines.offset(edit.range.end);
                    text.replace_range(place, &edit.new_text);
                }
                assert_eq!(text, new);
            }
        }
    }

    #[test]
    fn source_actions_are_made_only_where_they_are_asked_for() {
        let kind = |name: &str| CodeActionKind::from(name.to_owned());
        let (quick, all) = (kind("quickfix"), kind(FIX_ALL));
        assert!(is_wanted(Some(&quick), None) && !is_wanted(Some(&all), None));
        assert!(is_wanted(Some(&all), Some(&[kind("source.fixAll")])));
        assert!(is_wanted(Some(&all), Some(&[kind("source")])));
        assert!(!is_wanted(Some(&all), Some(&[kind("source.fix")])));
        assert!(!is_wanted(Some(&quick), Some(&[kind("refactor")])));
    }
}
