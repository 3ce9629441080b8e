//! Front end for commands in scripts and pipelines that create machines; they become manifests.

use crate::commands::{self, CommandForm};
use crate::inventory::{DeploymentRun, RunKind};
use crate::kubernetes;
use crate::source::{FileId, parent};

use super::front_end::{Carrier, FrontEnd, FrontEndInput, Reading};
use super::manifests;

pub(super) struct Commands;

impl FrontEnd for Commands {
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading) {
        let foreign = out.inventory.foreign.iter().filter(|it| it.language.runs_commands());
        let called: Vec<(String, bool)> = foreign.map(|it| (it.path.clone(), it.language.is_script)).collect();
        if called.is_empty() {
            return;
        }
        let forms: Vec<CommandForm<'_>> = kubernetes::commands()
            .map(|(kind, group, command)| CommandForm {
                kind,
                group,
                words: &command.words,
                needs: &command.needs,
                name: &command.name,
                takes_lists: command.takes_lists,
                short: &command.short,
            })
            .collect();
        let mut found: Vec<(FileId, String)> = Vec::new();
        for (path, is_script) in called {
            let Some(objects) = commands::read(input.sources, &path, is_script, &forms) else { continue };
            let run = DeploymentRun::new(RunKind::Manifests, parent(&path), Some("commands"));
            out.carriers.insert(objects, Carrier { root: None, run: run.id.clone(), none: None });
            match out.inventory.runs.iter_mut().find(|it| it.id == run.id) {
                Some(known) => known.inputs.push(path.as_str().into()),
                None => out.inventory.runs.push(run.reading([path.as_str()])),
            }
            found.push((objects, path));
        }
        if !found.is_empty() {
            manifests::add(input, out, &[], &found);
        }
    }
}
