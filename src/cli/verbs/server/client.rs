//! The capabilities of the editor, and the user's settings in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gen_lsp_types::{ClientCapabilities, InitializeParams, WorkspaceFolders};
use serde::Deserialize;
use serde_json::{Value, json};

use super::place::path_of;
use super::position::Encoding;
use crate::cli::args::InputArguments;
use crate::cli::workspace::WorkspaceOptions;
use crate::diagnostic::Level;

/// The capabilities of the editor.
#[derive(Debug, Clone, Copy)]
pub(super) struct EditorClient {
    pub(super) encoding: Encoding,
    /// Whether the editor requests the edits of an action when the user selects it.
    pub(super) resolves_edits: bool,
    /// Whether edits can contain the version of a document.
    pub(super) takes_versions: bool,
    pub(super) refreshes_hints: bool,
    pub(super) refreshes_lenses: bool,
    pub(super) draws_hints: bool,
    pub(super) draws_lenses: bool,
    pub(super) watches_files: bool,
    pub(super) shows_progress: bool,
    /// Whether the server can request settings.
    pub(super) has_settings: bool,
}

impl EditorClient {
    pub(super) fn of(capabilities: &ClientCapabilities) -> EditorClient {
        let general = capabilities.general.as_ref();
        let text = capabilities.text_document.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let resolve = text.and_then(|it| it.code_action.as_ref()?.resolve_support.as_ref());
        let window = capabilities.window.as_ref();
        EditorClient {
            encoding: Encoding::chosen(general.and_then(|it| it.position_encodings.as_deref())),
            resolves_edits: resolve.is_some_and(|it| it.properties.iter().any(|it| it == "edit")),
            takes_versions: workspace.and_then(|it| it.workspace_edit.as_ref()?.document_changes).unwrap_or_default(),
            refreshes_hints: workspace.and_then(|it| it.inlay_hint?.refresh_support).unwrap_or_default(),
            refreshes_lenses: workspace.and_then(|it| it.code_lens?.refresh_support).unwrap_or_default(),
            draws_hints: text.is_some_and(|it| it.inlay_hint.is_some()),
            draws_lenses: text.is_some_and(|it| it.code_lens.is_some()),
            watches_files: workspace
                .and_then(|it| it.did_change_watched_files?.dynamic_registration)
                .unwrap_or_default(),
            shows_progress: window.and_then(|it| it.work_done_progress).unwrap_or_default(),
            has_settings: workspace.and_then(|it| it.configuration).unwrap_or_default(),
        }
    }
}

/// The position of prices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PriceDisplay {
    /// gpulint shows prices at the end of the line.
    Hints,
    /// gpulint shows prices above the line.
    Lens,
    Off,
}

/// The user's own settings. All others are in gpulint.toml.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Preferences {
    /// The position of prices. By default, they are at the end of lines if the editor supports it, or else above
    /// them.
    pub(super) prices: Option<PriceDisplay>,
    /// The lowest level that is shown: error, warning or note.
    pub(super) level: Option<String>,
    /// The path of another settings file, relative to the folder.
    pub(super) config: Option<PathBuf>,
    /// A Terraform variable file, relative to the folder, which selects the environment.
    pub(super) environment: Option<PathBuf>,
    /// The Terraform workspace.
    pub(super) workspace: Option<String>,
    /// Whether helm and kustomize can be started, if the settings of the folder require them.
    pub(super) render: bool,
}

impl Preferences {
    /// Parses settings, with or without the program's name as a key.
    pub(super) fn read(value: Option<&Value>) -> Result<Preferences, String> {
        let Some(value) = value.filter(|it| !it.is_null()) else { return Ok(Preferences::default()) };
        let own = value.get("gpulint").unwrap_or(value);
        let read: Preferences = serde_json::from_value(own.clone()).map_err(|error| error.to_string())?;
        match read.level.as_deref() {
            Some(level) if level_of(level).is_none() => {
                Err(format!("unknown level `{level}`: use error, warning or note"))
            }
            _ => Ok(read),
        }
    }

    pub(super) fn lowest(&self) -> Level {
        self.level.as_deref().and_then(level_of).unwrap_or(Level::Note)
    }

    pub(super) fn shown_as(&self, client: &EditorClient) -> PriceDisplay {
        let usual = if client.draws_lenses && !client.draws_hints { PriceDisplay::Lens } else { PriceDisplay::Hints };
        self.prices.unwrap_or(usual)
    }

    /// Returns the options for the check of a folder.
    pub(super) fn asked(&self, directory: &Path) -> WorkspaceOptions {
        let inside = |path: &PathBuf| directory.join(path);
        WorkspaceOptions {
            input: InputArguments {
                paths: vec![directory.to_owned()],
                here: Some(directory.to_owned()),
                config: self.config.as_ref().filter(|it| !it.as_os_str().is_empty()).map(inside),
                variable_files: self.environment.iter().filter(|it| !it.as_os_str().is_empty()).map(inside).collect(),
                workspace: self.workspace.clone().filter(|it| !it.is_empty()),
                starts_nothing: !self.render,
                allow_empty: true,
                ..InputArguments::default()
            },
            ..WorkspaceOptions::default()
        }
    }
}

/// Returns the capabilities of this server, which offers these kinds of actions.
pub(super) fn capabilities(client: &EditorClient, prices: PriceDisplay, action_kinds: &BTreeSet<&str>) -> Value {
    let mut capabilities = json!({
        "positionEncoding": client.encoding.kind(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "hoverProvider": true,
        "inlayHintProvider": { "resolveProvider": false },
        "codeActionProvider": { "codeActionKinds": action_kinds, "resolveProvider": client.resolves_edits },
        "completionProvider": { "triggerCharacters": ["."], "resolveProvider": false },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
    });
    // An editor would show both if both were offered.
    if prices == PriceDisplay::Lens
        && let Some(all) = capabilities.as_object_mut()
    {
        all.remove("inlayHintProvider");
        all.insert("codeLensProvider".to_owned(), json!({ "resolveProvider": false }));
    }
    capabilities
}

/// Parses a level. Editors call notes "information".
fn level_of(name: &str) -> Option<Level> {
    if name == "info" || name == "information" { Some(Level::Note) } else { Level::from_name(name) }
}

/// Returns the open folders.
pub(super) fn folders(params: &InitializeParams) -> Vec<PathBuf> {
    let several = match &params.workspace_folders_initialize_params.workspace_folders {
        Some(WorkspaceFolders::WorkspaceFolderList(several)) => several.as_slice(),
        _ => &[],
    };
    let named: Vec<PathBuf> = several.iter().filter_map(|folder| path_of(folder.uri.as_ref())).collect();
    if !named.is_empty() {
        return named;
    }
    #[expect(deprecated, reason = "older editors say nothing else")]
    let root = params.root_uri.as_ref().and_then(|uri| path_of(uri.as_ref()));
    root.into_iter().collect()
}
