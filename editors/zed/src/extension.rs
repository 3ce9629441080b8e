//! Starts `gpulint server` in Zed. The program is the one in the setting `lsp.gpulint.binary`, otherwise the one on the search path.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, serde_json, LanguageServerId, Result, Worktree};

const NAME: &str = "gpulint";

struct Gpulint;

impl zed::Extension for Gpulint {
    fn new() -> Self {
        Self
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(NAME, worktree).ok().and_then(|it| it.binary);
        let (path, arguments) = binary.map_or((None, None), |it| (it.path, it.arguments));
        let command = path
            .or_else(|| worktree.which(NAME))
            .ok_or("gpulint is not on the search path: run `pip install gpulint`, or set lsp.gpulint.binary.path")?;
        let args = arguments.unwrap_or_else(|| vec!["server".to_owned()]);
        Ok(zed::Command { command, args, env: worktree.shell_env() })
    }

    fn language_server_initialization_options(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(NAME, worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(NAME, worktree)?.settings;
        // The server requests the section with its own name.
        Ok(settings.map(|it| serde_json::json!({ NAME: it })))
    }
}

zed::register_extension!(Gpulint);
