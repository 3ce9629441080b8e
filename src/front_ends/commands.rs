//! Front end for commands in scripts and pipelines, and for calls in programs, that create machines; they become
//! manifests.

use crate::commands::calls::{self, CallForm};
use crate::commands::{self, CommandForm};
use crate::inventory::{DeploymentRun, RunKind};
use crate::kubernetes;
use crate::languages::table::Language;
use crate::source::{FileId, parent};

use super::front_end::{FrontEnd, FrontEndInput, Reading};
use super::manifests;

pub(super) struct Commands;

impl FrontEnd for Commands {
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading) {
        let is_relevant = |language: &Language| language.runs_commands() || language.makes_calls();
        let foreign = out.inventory.foreign.iter().filter(|it| is_relevant(it.language));
        let called: Vec<(String, &Language)> = foreign.map(|it| (it.path.clone(), it.language)).collect();
        if called.is_empty() {
            return;
        }
        let (commands, calls) = (command_forms(), call_forms());
        let mut found: Vec<(FileId, String)> = Vec::new();
        for (path, language) in called {
            let objects = match language.makes_calls() {
                true => calls::read(input.sources, &path, &calls),
                false => commands::read(input.sources, &path, language.is_script, &commands),
            };
            let Some(objects) = objects else { continue };
            let run = DeploymentRun::new(RunKind::Manifests, parent(&path), Some("commands"));
            out.carry(objects, run, &path);
            found.push((objects, path));
        }
        if !found.is_empty() {
            manifests::add(input, out, &[], &found);
        }
    }
}

fn command_forms() -> Vec<CommandForm<'static>> {
    kubernetes::commands()
        .map(|(kind, group, command)| CommandForm {
            kind,
            group,
            words: &command.words,
            needs: &command.needs,
            name: &command.name,
            takes_lists: command.takes_lists,
            short: &command.short,
        })
        .collect()
}

fn call_forms() -> Vec<CallForm<'static>> {
    kubernetes::calls()
        .map(|(kind, group, call)| CallForm {
            kind,
            group,
            functions: &call.functions,
            needs: &call.needs,
            name: &call.name,
        })
        .collect()
}
