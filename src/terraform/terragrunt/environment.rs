//! Finds the environment variables that commands of the tree give to Terragrunt.

use std::sync::Arc;

use crate::languages::hcl::value::{Cause, HclValue};
use crate::languages::pipeline::{self, CallContext, CalledTool, PipelineCall, PlacedWord, entered};
use crate::languages::shell::HOLE;
use crate::languages::table::scripts_with;
use crate::source::{Segment, SourceFiles, Span, around, file_name, is_below, join, parent};

/// Every file with such a command contains this string.
const MARKS: [&[u8]; 1] = [b"terragrunt"];
/// The limit on commands that are read.
const MOST: usize = 500;

/// A command that runs Terragrunt.
struct TerragruntCommand {
    path: String,
    context: CallContext,
}

/// The commands of a tree that run Terragrunt.
#[derive(Default)]
pub(super) struct TerragruntCommands(Vec<TerragruntCommand>);

impl TerragruntCommands {
    pub(super) fn find(sources: &SourceFiles, paths: &[String]) -> TerragruntCommands {
        let files = scripts_with(sources, paths, &MARKS);
        let of = |path: &String| -> Vec<TerragruntCommand> {
            let calls = pipeline::calls(sources, path, &MARKS).into_iter().filter_map(context);
            calls.map(|context| TerragruntCommand { path: path.clone(), context }).collect()
        };
        TerragruntCommands(files.into_iter().flat_map(of).take(MOST).collect())
    }

    /// Returns the value that commands give to a variable in the folder of a unit, and the files with these commands;
    /// `None` if no command sets it.
    pub(super) fn value(&self, sources: &SourceFiles, name: &str, unit: &str) -> Option<(HclValue, Vec<&str>)> {
        let all = self.0.iter().filter(|it| it.reaches(unit));
        let all: Vec<(&str, &PlacedWord)> =
            all.filter_map(|it| Some((it.path.as_str(), it.context.variables.get(name)?))).collect();
        let (path, word) = all.first()?;
        let files = all.iter().map(|(path, _)| *path).collect();
        let unknown = all.iter().find(|(_, word)| word.text.contains(HOLE));
        if let Some((path, word)) = unknown {
            let why = format!("{path} sets `{name}` to a value that is not in the file");
            return Some((HclValue::unknown(why, word.at), files));
        }
        let mut candidates: Vec<HclValue> = Vec::new();
        for (path, word) in &all {
            if !candidates.iter().any(|it| it.as_text().as_deref() == Some(&word.text)) {
                candidates.push(placed(sources, path, word));
            }
        }
        if candidates.len() > 1 {
            let why = format!("commands set `{name}` to different values");
            let cause = Cause { candidates, ..Cause::new(why, word.at) };
            return Some((HclValue::because(&Arc::new(cause), word.at), files));
        }
        Some((placed(sources, path, word), files))
    }
}

/// Returns the value of a command. No fix writes there.
fn placed(sources: &SourceFiles, path: &str, word: &PlacedWord) -> HclValue {
    let segments = vec![Segment { start: 0, origin: word.at, linear: false }];
    let file = sources.derive(path, word.text.clone(), segments);
    HclValue::text(word.text.as_str(), Span::new(file, 0, word.text.len()))
}

impl TerragruntCommand {
    /// Returns whether the command may run a unit: its folder is above the unit, or unknown.
    fn reaches(&self, unit: &str) -> bool {
        let folder = self.context.folder.as_str();
        if folder.contains(HOLE) || folder.starts_with('/') {
            return true;
        }
        let mut folders = around(parent(&self.path)).filter_map(|base| join(base, folder));
        folders.any(|it| it.is_empty() || it == unit || is_below(unit, &it))
    }
}

/// Returns the surroundings of a command that runs Terragrunt.
fn context(call: PipelineCall) -> Option<CallContext> {
    let CalledTool::Command(words) = &call.tool else { return None };
    let at = words.iter().take(6).position(|word| file_name(&word.text) == "terragrunt")?;
    let mut context = call.context;
    let mut rest = words.iter().skip(at + 1).map(|word| word.text.as_str());
    while let Some(word) = rest.next() {
        let option = word.trim_start_matches('-').split_once('=');
        match (word.ends_with("working-dir"), option) {
            (true, _) => context.folder = entered(&context.folder, rest.next()?),
            (false, Some((name, folder))) if name.ends_with("working-dir") => {
                context.folder = entered(&context.folder, folder);
            }
            _ => {}
        }
    }
    Some(context)
}
