//! Front end for Slurm scripts, which become manifests, and for unsupported languages.

use crate::inventory::{DeploymentRun, RunKind, UnsupportedFile};
use crate::languages::table::claim::{HEAD_OF_PROGRAM, is_named_apart, is_program, languages_of_script};
use crate::languages::table::{Language, Reader};
use crate::slurm;
use crate::source::{SourceFiles, each, parent};

use super::front_end::{FrontEnd, FrontEndInput, Reading};

pub(super) struct Scripts;

impl FrontEnd for Scripts {
    fn read(&self, input: &FrontEndInput<'_>, out: &mut Reading) {
        let (sources, looks) = (input.sources, &input.cache.looks);
        let called = input.paths.iter().filter(|path| is_named_apart(path)).collect();
        let looked = each(called, |path: &String| {
            let languages = looks.languages(path, || languages_of(sources, path));
            (!languages.is_empty()).then_some((path, languages))
        });
        // Sequential, because file numbers must not depend on threads.
        for (path, languages) in looked.into_iter().flatten() {
            let may_be_job = languages.iter().any(|it| it.reader == Reader::Slurm)
                && sources.glance(path, |text| memchr::memmem::find(text, slurm::MARK).is_some()).unwrap_or(false);
            let job = may_be_job.then(|| slurm::read(sources, path)).flatten();
            let others = languages.into_iter().filter(|it| job.is_none() || it.reader != Reader::Slurm);
            out.inventory.foreign.extend(others.map(|language| UnsupportedFile::new(path, language)));
            let Some(job) = job else { continue };
            let run = DeploymentRun::new(RunKind::Manifests, parent(path), Some("Slurm"));
            out.carry(job, run, path);
            out.embedded.push((job, path.clone()));
        }
    }
}

fn languages_of(sources: &SourceFiles, path: &str) -> Vec<&'static Language> {
    let look = |text: &[u8]| languages_of_script(path, text);
    let found = match is_program(path) {
        true => sources.glance_at_head(path, HEAD_OF_PROGRAM, look),
        false => sources.glance(path, look),
    };
    found.unwrap_or_default()
}
