//! What the editor can do, and what the person at it wants.

use std::path::{Path, PathBuf};

use gen_lsp_types::{ClientCapabilities, InitializeParams, WorkspaceFolders};
use serde::Deserialize;
use serde_json::{Value, json};

use super::place::path_of;
use super::position::Encoding;
use crate::cli::args::Input;
use crate::cli::workspace::WorkspaceOptions;
use crate::diagnostic::Level;

/// The kind of an action that makes all safe fixes of a text.
pub(super) const FIX_ALL: &str = "source.fixAll.gpulint";

/// What the editor can do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client {
    pub(super) encoding: Encoding,
    /// It asks for the edits of an action when somebody chooses it.
    pub(super) resolves_edits: bool,
    /// Edits may name the version of a text.
    pub(super) takes_versions: bool,
    pub(super) refreshes_hints: bool,
    pub(super) refreshes_lenses: bool,
    pub(super) draws_hints: bool,
    pub(super) draws_lenses: bool,
    pub(super) watches_files: bool,
    pub(super) shows_progress: bool,
    /// It can be asked for settings.
    pub(super) has_settings: bool,
}

impl Client {
    pub(super) fn of(capabilities: &ClientCapabilities) -> Client {
        let general = capabilities.general.as_ref();
        let text = capabilities.text_document.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let resolve = text.and_then(|it| it.code_action.as_ref()?.resolve_support.as_ref());
        let window = capabilities.window.as_ref();
        Client {
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

/// Where prices are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Prices {
    /// Behind the line.
    Hints,
    /// Above the line.
    Lens,
    Off,
}

/// What belongs to a person; everything else stands in gpulint.toml.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Preferences {
    /// Behind lines where the editor can draw that, else above them.
    pub(super) prices: Option<Prices>,
    /// The lowest level that is shown: error, warning or note.
    pub(super) level: Option<String>,
    /// Another file of settings, relative to the folder.
    pub(super) config: Option<PathBuf>,
    /// A file of Terraform variables, relative to the folder: the environment that is looked at.
    pub(super) environment: Option<PathBuf>,
    /// The Terraform workspace that is looked at.
    pub(super) workspace: Option<String>,
    /// helm and kustomize may be started, where the settings of the folder want them.
    pub(super) render: bool,
}

impl Preferences {
    /// As the editor sends them: alone, or under the name of the program.
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

    pub(super) fn shown_as(&self, client: &Client) -> Prices {
        let usual = if client.draws_lenses && !client.draws_hints { Prices::Lens } else { Prices::Hints };
        self.prices.unwrap_or(usual)
    }

    /// What is asked of a folder.
    pub(super) fn asked(&self, directory: &Path) -> WorkspaceOptions {
        let inside = |path: &PathBuf| directory.join(path);
        WorkspaceOptions {
            input: Input {
                paths: vec![directory.to_owned()],
                here: Some(directory.to_owned()),
                config: self.config.as_ref().filter(|it| !it.as_os_str().is_empty()).map(inside),
                variable_files: self.environment.iter().filter(|it| !it.as_os_str().is_empty()).map(inside).collect(),
                workspace: self.workspace.clone().filter(|it| !it.is_empty()),
                starts_nothing: !self.render,
                allow_empty: true,
                ..Input::default()
            },
            ..WorkspaceOptions::default()
        }
    }
}

/// What this server can do.
pub(super) fn capabilities(client: &Client, prices: Prices) -> Value {
    let mut capabilities = json!({
        "positionEncoding": client.encoding.kind(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "hoverProvider": true,
        "inlayHintProvider": { "resolveProvider": false },
        "codeActionProvider": { "codeActionKinds": ["quickfix", FIX_ALL], "resolveProvider": client.resolves_edits },
        "completionProvider": { "triggerCharacters": ["."], "resolveProvider": false },
        "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
    });
    // An editor draws both where both are offered.
    if prices == Prices::Lens
        && let Some(all) = capabilities.as_object_mut()
    {
        all.remove("inlayHintProvider");
        all.insert("codeLensProvider".to_owned(), json!({ "resolveProvider": false }));
    }
    capabilities
}

/// Editors speak of information where reports speak of notes.
fn level_of(name: &str) -> Option<Level> {
    if name == "info" || name == "information" { Some(Level::Note) } else { Level::from_name(name) }
}

/// The folders that are open: several, one, or none.
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
