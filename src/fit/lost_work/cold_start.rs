//! The seconds of one cold start: machine, image, weights, program.

use crate::inventory::{Key, Range, Task};
use crate::resolve::plain;

use super::assumptions::range_of;
use super::inputs::{LostWorkInputs, SavedCheckpoints};
use super::{Assumption, Change, MissingInput};

/// One term of a cold start.
#[derive(Debug, Clone, PartialEq)]
pub struct StartTerm {
    pub name: &'static str,
    pub seconds: Result<Range, MissingInput>,
    /// The calculation of the term.
    pub how: String,
}

/// Why a pod or machine starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartCause {
    Planned,
    /// On a new machine, after the provider took the old one back.
    Interruption,
}

/// The names of terms that a remedy can reduce.
pub(super) const IMAGE: &str = "image";
pub(super) const DOWNLOAD: &str = "download of weights";

/// The programs that compile and capture graphs before they answer.
const SERVERS: [&str; 4] = ["vllm", "sglang", "tgi", "trt-llm"];

/// The values of `model_cache` for which the weights are downloaded again after each start, or only on a new machine.
const LOST_CACHE: &str = "emptyDir";
const NODE_CACHE: &str = "node";

impl LostWorkInputs<'_> {
    /// Returns the terms of a start that a schedule, a run or a person causes.
    pub(super) fn planned_start(&self) -> Vec<StartTerm> {
        let keeps_disks = self.is_rented() && self.item.replica_starts.is_some() && !self.item.takes_disks_away;
        let machine = self.assumed(Assumption::MachineStart);
        let machine = match self.is_rented() {
            true => StartTerm { name: "machine", seconds: machine, how: "a new machine".to_owned() },
            false => StartTerm {
                name: "machine",
                seconds: machine.map(|range| Range { floor: 0.0, expected: 0.0, ..range }),
                how: "0 if a machine is free".to_owned(),
            },
        };
        std::iter::once(machine).chain(self.container_start(keeps_disks, StartCause::Planned)).collect()
    }

    /// Returns the terms of a start after an interruption, on a new machine.
    pub(super) fn restart(&self) -> Vec<StartTerm> {
        let seconds = self.assumed(Assumption::MachineStart);
        let machine = StartTerm { name: "machine", seconds, how: "a new machine".to_owned() };
        std::iter::once(machine).chain(self.container_start(false, StartCause::Interruption)).collect()
    }

    /// Returns the sum of the terms, or the input that is missing.
    pub(super) fn seconds(&self, terms: &[StartTerm]) -> Result<Range, MissingInput> {
        if let Some(too_early) = self.probe_before_load(terms) {
            return Err(too_early);
        }
        terms.iter().try_fold(Range::exactly(0.0), |sum, term| Ok(sum.plus(term.seconds.clone()?)))
    }

    /// Returns an error if a probe restarts the container before it can have started.
    pub(super) fn probe_before_load(&self, terms: &[StartTerm]) -> Option<MissingInput> {
        let allowed = self.resource.number(Key::StartupSeconds)?;
        let own = terms.iter().filter(|term| !matches!(term.name, "machine" | IMAGE));
        let least: f64 = own.filter_map(|term| Some(term.seconds.as_ref().ok()?.floor)).sum();
        (allowed < least).then(|| {
            let why = format!(
                "a probe restarts the container after {} seconds, but its start takes at least {} seconds: it may start forever",
                plain(allowed),
                plain(least.round())
            );
            MissingInput::new(why, "a `startupProbe` that waits longer")
        })
    }

    fn container_start(&self, keeps_disks: bool, cause: StartCause) -> Vec<StartTerm> {
        if let Some(seconds) = self.resource.number(Key::ColdStartSeconds) {
            let seconds = Ok(Range::exactly(seconds));
            return vec![StartTerm { name: "declared start", seconds, how: "image, weights and program".to_owned() }];
        }
        let mut terms = Vec::new();
        if !keeps_disks {
            terms.extend(self.image());
            terms.extend(self.download(cause));
        }
        terms.push(self.load(cause));
        terms.push(self.program());
        terms
    }

    /// Returns the pull of the container image, if there is one.
    fn image(&self) -> Option<StartTerm> {
        let image = self.resource.text(Key::Image);
        if self.is_rented() && image.is_none() {
            return None;
        }
        let (size, how) = match (self.resource.number(Key::ImageGib), image.and_then(|it| self.catalog.image_size(it)))
        {
            (Some(gib), _) => (Ok(Range::exactly(gib)), format!("{} GiB, declared", plain(gib))),
            (None, Some(row)) => {
                let scale = self.scale(Assumption::ImageSize);
                let how = format!("{} to {} GiB, {}", plain(row.floor), plain(row.ceiling), row.source);
                (Ok(range_of(row).map(|gib| gib * scale)), how)
            }
            (None, None) => {
                let named = image.map(|image| format!(" of {image}")).unwrap_or_default();
                let why = format!("the size of the image{named} is unknown");
                (Err(MissingInput::new(why, "gpulint.dev/image-gib")), String::new())
            }
        };
        let seconds = size.and_then(|gib| self.seconds_to_move(gib, Assumption::ImagePull));
        let seconds = match self.change {
            Change::ImageStreamed => seconds.map(|seconds| self.streamed(seconds)),
            _ => seconds,
        };
        Some(StartTerm { name: IMAGE, seconds, how })
    }

    /// Returns what is left of a pull if the image is streamed.
    fn streamed(&self, pull: Range) -> Range {
        let Some(saved) = self.catalog.startup("image-streaming") else { return pull };
        Range {
            floor: pull.floor * (1.0 - saved.floor),
            expected: pull.expected * (1.0 - saved.expected),
            ceiling: pull.ceiling * (1.0 - saved.ceiling),
        }
    }

    /// Returns the download of the weights, if the model has a name on a hub and no volume keeps them.
    fn download(&self, cause: StartCause) -> Option<StartTerm> {
        let name = self.resource.text(Key::Model)?;
        let cache = self.resource.text(Key::ModelCache);
        let is_kept = match cache {
            Some(LOST_CACHE) => false,
            Some(NODE_CACHE) => cause == StartCause::Planned,
            Some(_) => true,
            None => false,
        };
        if !is_on_hub(name) || is_kept || self.change == Change::WeightsKept {
            return None;
        }
        let gib = self.weights_gib();
        let how = gib.as_ref().map_or(String::new(), |gib| format!("{gib:.1} GiB"));
        let seconds = gib.and_then(|gib| self.seconds_to_move(Range::exactly(gib), Assumption::WeightsDownload));
        Some(match cache {
            Some(_) => StartTerm { name: DOWNLOAD, seconds, how },
            None => StartTerm {
                name: DOWNLOAD,
                seconds: seconds.map(|range| Range { floor: 0.0, ..range }),
                how: format!("{how}, 0 if something outside the files keeps them"),
            },
        })
    }

    /// Returns the load of the weights from a disk. After an interruption, training loads its newest checkpoint.
    fn load(&self, cause: StartCause) -> StartTerm {
        let has_checkpoint =
            matches!(self.checkpoints(), SavedCheckpoints::EveryHours(_) | SavedCheckpoints::Sometimes(_));
        let continues = cause == StartCause::Interruption && self.is_training() && has_checkpoint;
        let gib = if continues { self.checkpoint_gib() } else { self.weights_gib() };
        let how = gib.as_ref().map_or(String::new(), |gib| format!("{gib:.1} GiB"));
        let seconds = gib.and_then(|gib| self.seconds_to_move(Range::exactly(gib), Assumption::WeightsLoad));
        StartTerm { name: "load from a disk", seconds, how }
    }

    fn program(&self) -> StartTerm {
        let program = self.resource.text(Key::Program).unwrap_or_default();
        let serves = SERVERS.contains(&program) && self.resource.task() != Some(Task::Train);
        let (assumption, how) = match serves {
            true => (Assumption::ServerStart, format!("{program}: imports, compilation, graphs")),
            false => (Assumption::ProgramStart, "imports and initialization".to_owned()),
        };
        StartTerm { name: "program", seconds: self.assumed(assumption), how }
    }
}

/// Whether a model is named as on a hub: `organization/name`, and not as a path.
fn is_on_hub(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    name.split_once('/').is_some_and(|(organization, model)| {
        is_plain(organization) && is_plain(model) && !organization.starts_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::is_on_hub;

    #[test]
    fn a_path_is_not_a_name_on_a_hub() {
        assert!(is_on_hub("meta-llama/Llama-3.1-8B"));
        assert!(!is_on_hub("/models/llama") && !is_on_hub("./models") && !is_on_hub("a/b/c") && !is_on_hub("llama"));
    }
}
